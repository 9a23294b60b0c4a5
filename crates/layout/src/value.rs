//! What a variable may hold: numbers, and places in objects.

use std::collections::BTreeMap;

use parallax_program::{Field, Shape};

use crate::stride::{Stride, gcd};

/// An object that there may be many of: a global, a function, or what one instruction allocates.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Base {
    Global(u32),
    Function(u32),
    Made(u32),
}

/// Where in an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Offset {
    pub stride: Stride,
    /// The array, as bytes of the object, that it stays in.
    pub within: Option<(i64, i64)>,
}

impl Offset {
    pub fn exact(offset: i64) -> Offset {
        Offset { stride: Stride::exact(offset), within: None }
    }

    /// Anywhere in the object.
    pub const ANY: Offset = Offset { stride: Stride::ANY, within: None };

    /// The offset after a step. One through an array stays there.
    pub fn moved(self, by: Stride, shape: Option<&Shape>) -> Offset {
        let stride = self.stride.plus(by);
        let within = match (self.stride.known(), by.known()) {
            (Some(_), Some(_)) => None,
            (Some(offset), None) => array(shape, offset, by),
            (None, Some(step)) if !by.divides(self.stride.modulus) => {
                self.within.map(|(low, high)| (low.saturating_add(step), high.saturating_add(step)))
            }
            (None, Some(_)) => self.within,
            (None, None) if by.divides(self.stride.modulus) => self.within,
            (None, None) => None,
        };
        Offset { stride, within }
    }

    pub fn join(self, other: Offset, shape: Option<&Shape>) -> Offset {
        if self == other {
            return self;
        }
        let stride = self.stride.join(other.stride);
        let inside = |offset: i64, range: Option<(i64, i64)>| {
            range.filter(|(low, high)| (*low..=*high).contains(&offset))
        };
        let within = match (self.stride.known(), other.stride.known()) {
            (Some(one), Some(two)) => {
                let step = Stride::exact(one.wrapping_sub(two));
                inside(two, array(shape, one, step))
                    .or_else(|| inside(one, array(shape, two, step)))
            }
            (Some(one), None) => inside(one, other.within),
            (None, Some(two)) => inside(two, self.within),
            (None, None) => self.within.filter(|_| self.within == other.within),
        };
        Offset { stride, within }
    }

    /// The bytes of an access, as far as they have bounds.
    fn bytes(self, bytes: u64) -> Option<(i64, i64)> {
        let one = |offset: i64| (offset, offset.saturating_add_unsigned(bytes));
        self.stride.known().map(one).or(self.within)
    }

    /// Whether accesses of so many bytes may have a byte in common.
    pub fn meets(self, bytes: u64, other: Offset, others: u64) -> bool {
        if let (Some(a), Some(b)) = (self.bytes(bytes), other.bytes(others))
            && (a.1 <= b.0 || b.1 <= a.0)
        {
            return false;
        }
        let common = gcd(self.stride.modulus, other.stride.modulus);
        if common == 0 {
            return true;
        }
        let Ok(step) = i64::try_from(common) else {
            return true;
        };
        let ahead = self.stride.residue.wrapping_sub(other.stride.residue).rem_euclid(step) as u64;
        ahead < others || common - ahead < bytes
    }
}

/// The outermost array around an offset that goes in such steps.
fn array(shape: Option<&Shape>, offset: i64, by: Stride) -> Option<(i64, i64)> {
    let (mut shape, mut start) = (shape?, 0u64);
    let offset = u64::try_from(offset).ok()?;
    loop {
        let inner = offset.checked_sub(start)?;
        match shape {
            Shape::Array { element, stride, count } if *stride > 0 => {
                let end = start.checked_add(stride.checked_mul(*count)?)?;
                if by.divides(*stride) {
                    return Some((i64::try_from(start).ok()?, i64::try_from(end).ok()?));
                }
                start += inner / stride * stride;
                shape = element;
            }
            Shape::Struct { fields, .. } => {
                let is_here = |field: &&Field| {
                    field.offset <= inner && inner - field.offset < field.size.max(1)
                };
                let mut here = fields.iter().filter(is_here);
                // Of a union there are several.
                let (Some(field), None) = (here.next(), here.next()) else {
                    return None;
                };
                start += field.offset;
                shape = &field.shape;
            }
            _ => return None,
        }
    }
}

/// What a variable may hold.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Value {
    pub number: Option<Stride>,
    pub places: BTreeMap<Base, Offset>,
}

impl Value {
    pub fn number(stride: Stride) -> Value {
        Value { number: Some(stride), places: BTreeMap::new() }
    }

    pub fn any_number() -> Value {
        Value::number(Stride::ANY)
    }

    pub fn place(base: Base) -> Value {
        Value { number: None, places: BTreeMap::from([(base, Offset::exact(0))]) }
    }

    pub fn is_number(&self) -> bool {
        self.places.is_empty()
    }

    pub fn is_nothing(&self) -> bool {
        self.number.is_none() && self.places.is_empty()
    }

    /// The same places, at offsets that are not known.
    pub fn blurred(mut self) -> Value {
        self.places.values_mut().for_each(|offset| *offset = Offset::ANY);
        self.number = Some(Stride::ANY);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chars_and_a_pointer() -> Shape {
        let array = Shape::Array { element: Box::new(Shape::Scalar), stride: 1, count: 8 };
        let field =
            |name: &str, offset, size, shape| Field { name: name.into(), offset, size, shape };
        Shape::Struct {
            name: "node".into(),
            fields: vec![field("name", 0, 8, array), field("next", 8, 8, Shape::Scalar)],
        }
    }

    #[test]
    fn what_is_indexed_stays_in_its_array() {
        let shape = chars_and_a_pointer();
        let next = Offset::exact(8);
        let within = Offset::exact(0).moved(Stride::ANY, Some(&shape));
        assert!(!within.meets(1, next, 8));
        let beyond = next.moved(Stride::ANY, Some(&shape));
        assert!(beyond.meets(1, next, 8));
        assert!(Offset::exact(0).moved(Stride::ANY, None).meets(1, next, 8));
    }

    #[test]
    fn fields_of_elements_are_apart() {
        let element = Stride::ANY.times(Stride::exact(16));
        let value = Offset::exact(0).moved(element, None);
        let next = value.moved(Stride::exact(8), None);
        assert!(!value.meets(4, next, 8) && !value.meets(8, next, 8));
        assert!(value.meets(16, next, 8) && next.meets(8, next, 8));
    }

    #[test]
    fn pointers_that_are_counted_up_stay_in_their_array() {
        let shape = Shape::Array { element: Box::new(Shape::Scalar), stride: 4, count: 10 };
        let start = Offset::exact(0);
        let once = start.join(start.moved(Stride::exact(4), Some(&shape)), Some(&shape));
        assert_eq!(once.within, Some((0, 40)));
        let twice = once.join(once.moved(Stride::exact(4), Some(&shape)), Some(&shape));
        assert_eq!(twice, once);
    }
}
