//! Concrete values that remember which reads they come from: what dependencies are, in the
//! plainest form.

use std::collections::BTreeSet;
use std::rc::Rc;

use parallax_machine::{Concrete, Domain, Truth};
use parallax_program::{BinaryOp, Bits, UnaryOp};

#[derive(Clone, Debug)]
pub struct Traced {
    pub bits: Bits,
    /// Event numbers of reads, and of the writes that a status depends on.
    pub reads: Rc<BTreeSet<u32>>,
    /// Those that only decided which value this is.
    pub picks: Rc<BTreeSet<u32>>,
}

impl Traced {
    pub fn plain(bits: Bits) -> Traced {
        Traced { bits, reads: Rc::default(), picks: Rc::default() }
    }

    fn map(&self, bits: Bits) -> Traced {
        Traced { bits, reads: self.reads.clone(), picks: self.picks.clone() }
    }
}

/// A value that comes from all of these.
pub fn join(bits: Bits, parts: &[&Traced]) -> Traced {
    let reads = union(parts.iter().map(|part| &part.reads));
    let picks = union(parts.iter().map(|part| &part.picks));
    Traced { bits, reads, picks }
}

/// All members of the sets; a copy is made only where two of them have some.
fn union<'a>(sets: impl Iterator<Item = &'a Rc<BTreeSet<u32>>>) -> Rc<BTreeSet<u32>> {
    let mut all: Rc<BTreeSet<u32>> = Rc::default();
    for set in sets.filter(|set| !set.is_empty()) {
        if all.is_empty() {
            all = set.clone();
        } else {
            Rc::make_mut(&mut all).extend(set.iter());
        }
    }
    all
}

/// The domain of traced values.
pub struct Tracing;

impl Domain for Tracing {
    type Value = Traced;

    fn constant(&mut self, bits: Bits) -> Traced {
        Traced::plain(bits)
    }

    fn unary(&mut self, op: UnaryOp, value: &Traced) -> Traced {
        value.map(Concrete.unary(op, &value.bits))
    }

    fn binary(&mut self, op: BinaryOp, left: &Traced, right: &Traced) -> Traced {
        join(Concrete.binary(op, &left.bits, &right.bits), &[left, right])
    }

    fn extract(&mut self, value: &Traced, low: u32, width: u32) -> Traced {
        value.map(value.bits.extract(low, width))
    }

    fn concat(&mut self, high: &Traced, low: &Traced) -> Traced {
        join(high.bits.concat(low.bits), &[high, low])
    }

    fn zero_extend(&mut self, value: &Traced, width: u32) -> Traced {
        value.map(value.bits.zero_extend(width))
    }

    fn sign_extend(&mut self, value: &Traced, width: u32) -> Traced {
        value.map(value.bits.sign_extend(width))
    }

    fn select(&mut self, condition: &Traced, then: &Traced, otherwise: &Traced) -> Traced {
        let taken = Concrete.select(&condition.bits, &then.bits, &otherwise.bits);
        join(taken, &[condition, then, otherwise])
    }

    fn picked(&mut self, mut value: Traced, condition: &Traced) -> Traced {
        if condition.reads.is_empty() && condition.picks.is_empty() {
            return value;
        }
        let picks = Rc::make_mut(&mut value.picks);
        picks.extend(condition.reads.iter());
        picks.extend(condition.picks.iter());
        value
    }

    fn adds_nothing(&self, condition: &Traced, other: Option<&Traced>) -> bool {
        let among = |set: &Rc<BTreeSet<u32>>, other: Option<&Rc<BTreeSet<u32>>>| {
            let is_among =
                |other: &Rc<BTreeSet<u32>>| Rc::ptr_eq(set, other) || set.is_subset(other);
            set.is_empty() || other.is_some_and(is_among)
        };
        among(&condition.reads, other.map(|other| &other.reads))
            && among(&condition.picks, other.map(|other| &other.picks))
    }

    fn truth(&self, value: &Traced) -> Truth {
        Concrete.truth(&value.bits)
    }

    fn known(&self, value: &Traced) -> Option<Bits> {
        Some(value.bits)
    }
}
