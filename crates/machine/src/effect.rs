//! What operations come to, for all who serve them: which values a choice has, what is wrong with an
//! access and with the end of an object, which faults are violations, what is said of all that.
//!
//! Engines differ in how they keep objects, threads and values. They do not differ in these rules,
//! and the replayer asks for the same ones.

use parallax_program::{AllocKind, Bits, Callee, Property};

use crate::system::BadAccess;
use crate::{DECIDED_BY_UNDEFINED, Fault};

/// What is said where a program starts more threads than are followed.
pub const TOO_MANY_THREADS: &str = "more than 2,000 threads";

/// What is said of an object for which there is no room.
pub const TOO_LARGE: &str = "an object of that size";

/// Atomic sections do not nest, and end only where they have begun.
pub const NESTED_SECTION: &str = "an atomic section inside another";
pub const NO_SECTION: &str = "the end of an atomic section that has not begun";

/// What machines without reservations cannot do.
pub const RESERVATIONS: &str = "load-linked and store-conditional";

/// Any of `below` values from `first` on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Choice {
    pub first: i128,
    pub below: u64,
    pub width: u32,
}

impl Choice {
    /// An input, of which the values of a range are tried. A single bit may be both in any case.
    /// None where there is no end of values.
    pub fn of_input(width: u32, range: Option<(i128, i128)>) -> Option<Choice> {
        match range {
            _ if width == 1 => Some(Choice { first: 0, below: 2, width }),
            Some((low, high)) if low <= high => {
                let below = u64::try_from(high - low).unwrap_or(u64::MAX - 1) + 1;
                Some(Choice { first: low, below, width })
            }
            _ => None,
        }
    }
}

/// What comes of a choice of a value below another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Chosen {
    /// There is none to choose, as at an assumption that does not hold.
    Nothing,
    /// There is one, so nothing is chosen and nobody notices.
    Only(Bits),
    AnyOf(Choice),
}

impl Chosen {
    #[inline]
    pub fn below(below: Bits) -> Chosen {
        let width = below.width();
        match below.unsigned() {
            0 => Chosen::Nothing,
            1 => Chosen::Only(Bits::zero(width)),
            many => {
                let below = u64::try_from(many).unwrap_or(u64::MAX);
                Chosen::AnyOf(Choice { first: 0, below, width })
            }
        }
    }
}

impl Fault {
    /// What is said of it.
    pub fn message(&self) -> String {
        match self {
            Fault::External(name) => format!("call of '{name}', {}", Callee::WITHOUT_BODY),
            Fault::BadCallee => Fault::BAD_CALLEE.to_string(),
            Fault::BadArguments => "call with arguments that do not fit".to_string(),
            Fault::Unsupported(what) => what.clone(),
        }
    }

    /// What is said of a call that leads to no function.
    pub const BAD_CALLEE: &'static str = "call through a pointer to no function";

    /// The property that it violates. All other faults are beyond engines, and not wrong.
    pub fn violates(&self) -> Option<Property> {
        match self {
            Fault::BadCallee => Some(Property::Memory),
            Fault::Unsupported(what) if what == DECIDED_BY_UNDEFINED => Some(Property::Memory),
            _ => None,
        }
    }
}

/// The object that an address is in, or behind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Extent {
    pub start: u64,
    pub size: u64,
    pub is_freed: bool,
    pub is_constant: bool,
    /// Whether there is nothing else behind it, as with objects that a thread has allocated. Far
    /// behind a global, an address has nothing to do with it.
    pub is_alone: bool,
}

/// Below this, addresses are what null pointers and fields behind them have.
const LOWEST: u64 = 0x1000;

/// So far behind a global an address is still taken for one of it.
const NEAR: u64 = 0x1000;

/// What is wrong with an access of some bytes at an address, if something is. `at` is the last object
/// that starts there or before.
#[inline]
pub fn wrong_access(
    at: Option<Extent>,
    address: u64,
    bytes: u64,
    writes: bool,
) -> Option<BadAccess> {
    if address < LOWEST {
        return Some(BadAccess::Null);
    }
    let Some(object) = at else { return Some(BadAccess::Wild) };
    let offset = address.wrapping_sub(object.start);
    if offset > object.size || bytes > object.size - offset {
        let is_near = object.is_alone || offset < object.size.saturating_add(NEAR);
        return Some(if is_near { BadAccess::OutOfBounds } else { BadAccess::Wild });
    }
    match object.is_freed {
        true => Some(BadAccess::Freed),
        false => (writes && object.is_constant).then_some(BadAccess::Constant),
    }
}

/// What is wrong with the end of an object, or with asking for its size, if something is. `at` is the
/// object that the address is in: where it starts, of which kind it is, and whether it has ended.
/// To free the null pointer is right, and does nothing; see [`wrong_free`].
#[inline]
pub fn wrong_end(
    at: Option<(u64, AllocKind, bool)>,
    address: u64,
    kind: AllocKind,
) -> Option<BadAccess> {
    match at {
        Some((start, made, is_freed)) if start == address && made == kind => {
            is_freed.then_some(BadAccess::DoubleFree)
        }
        _ => Some(BadAccess::FreeOfNoObject),
    }
}

/// What is wrong with freeing what is at an address.
#[inline]
pub fn wrong_free(
    at: Option<(u64, AllocKind, bool)>,
    address: u64,
    kind: AllocKind,
) -> Option<BadAccess> {
    if address == 0 { None } else { wrong_end(at, address, kind) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_and_choices() {
        assert_eq!(Choice::of_input(1, None), Some(Choice { first: 0, below: 2, width: 1 }));
        assert_eq!(Choice::of_input(8, None), None);
        assert_eq!(Choice::of_input(8, Some((2, 1))), None);
        let three = Choice { first: -1, below: 3, width: 8 };
        assert_eq!(Choice::of_input(8, Some((-1, 1))), Some(three));
        let whole = Choice::of_input(64, Some((i128::MIN / 2, i128::MAX / 2)));
        assert_eq!(whole.map(|choice| choice.below), Some(u64::MAX));
        let below = |value| Chosen::below(Bits::new(8, value));
        assert_eq!(below(0), Chosen::Nothing);
        assert_eq!(below(1), Chosen::Only(Bits::zero(8)));
        assert_eq!(below(5), Chosen::AnyOf(Choice { first: 0, below: 5, width: 8 }));
    }

    #[test]
    fn accesses_stay_within_living_objects() {
        let object =
            Extent { start: 0x2000, size: 8, is_freed: false, is_constant: false, is_alone: false };
        let wrong =
            |at: Extent, address, bytes, writes| wrong_access(Some(at), address, bytes, writes);
        assert_eq!(wrong(object, 0x2000, 8, true), None);
        assert_eq!(wrong(object, 0x2007, 1, false), None);
        assert_eq!(wrong(object, 0x2007, 2, false), Some(BadAccess::OutOfBounds));
        assert_eq!(wrong(object, 0x2008, 1, false), Some(BadAccess::OutOfBounds));
        assert_eq!(wrong(object, 0x9000, 1, false), Some(BadAccess::Wild));
        let alone = Extent { is_alone: true, ..object };
        assert_eq!(wrong(alone, 0x9000, 1, false), Some(BadAccess::OutOfBounds));
        assert_eq!(wrong(object, 0, 1, false), Some(BadAccess::Null));
        assert_eq!(wrong_access(None, 0x3000, 1, false), Some(BadAccess::Wild));
        let freed = Extent { is_freed: true, ..object };
        assert_eq!(wrong(freed, 0x2000, 1, false), Some(BadAccess::Freed));
        assert_eq!(wrong(freed, 0x2000, 9, false), Some(BadAccess::OutOfBounds));
        let constant = Extent { is_constant: true, ..object };
        assert_eq!(wrong(constant, 0x2000, 1, true), Some(BadAccess::Constant));
        assert_eq!(wrong(constant, 0x2000, 1, false), None);
    }

    #[test]
    fn objects_end_once_and_as_they_were_made() {
        let (heap, stack) = (AllocKind::Heap, AllocKind::Stack);
        assert_eq!(wrong_free(None, 0, heap), None);
        assert_eq!(wrong_end(None, 0, heap), Some(BadAccess::FreeOfNoObject));
        let end = |at, address| wrong_free(Some(at), address, heap);
        assert_eq!(end((0x2000, heap, false), 0x2000), None);
        assert_eq!(end((0x2000, heap, true), 0x2000), Some(BadAccess::DoubleFree));
        assert_eq!(end((0x2000, heap, false), 0x2004), Some(BadAccess::FreeOfNoObject));
        assert_eq!(end((0x2000, stack, false), 0x2000), Some(BadAccess::FreeOfNoObject));
        assert_eq!(wrong_free(None, 0x2000, heap), Some(BadAccess::FreeOfNoObject));
    }
}
