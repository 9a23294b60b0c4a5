//! Where an access is: at an address that is known, or in one of the elements of an object.

use parallax_machine::system::BadAccess;
use parallax_program::{BinaryOp, Bits, Property};
use parallax_solver::{Node, Term};

use super::access::Kind;
use super::walk::{Run, Walk};
use super::{Blocks, Decision, Halt};
use crate::control::Control;

/// Where an access is.
pub(crate) enum Target {
    At(u64),
    Within { start: u64, places: Vec<u64> },
}

impl Walk<'_, '_, '_> {
    /// Where an access may be. A run that cannot go on is among the open ones then.
    pub(super) fn targets(
        &mut self,
        run: Run,
        kind: &Kind,
        address: Term,
        bytes: u64,
        open: &mut Vec<Run>,
    ) -> Result<Vec<(Target, Run)>, Halt> {
        let wanted = self.next_on_trail(&run)?;
        let inside = match wanted {
            Some(Decision::Inside(start) | Decision::Outside(start)) => {
                let constant = self.blocks.values.constant_of(address);
                let found = self.extent(&run.control, start).filter(|_| constant.is_none());
                match (found, wanted) {
                    (None, Some(Decision::Inside(_))) => {
                        // By now it is known where.
                        let mut run = run;
                        run.trail.push(Decision::Inside(start));
                        let bits = constant.ok_or(Halt::Astray)?;
                        let place = bits.unsigned() as u64;
                        let is_wrong = self.wrong(&run.control, place, bytes, false).is_some();
                        if is_wrong {
                            let never = self.blocks.values.terms.falsity();
                            run.guard.push(never);
                        }
                        return Ok(vec![(Target::At(place), run)]);
                    }
                    (found, _) => found,
                }
            }
            Some(_) => None,
            None => self.object_of(&run.control, address),
        };
        let width = self.blocks.values.terms.width(address);
        if let Some((start, size)) = inside
            && width <= 64
            && let Some(places) = self.places_in(address, start, size, bytes)
        {
            let is_own = self.is_own(&run, start)?;
            let is_exact = !is_own && self.is_buffered(&run, kind, self.marks(&run)[0]);
            let all =
                self.inside_or_outside(run, address, (start, size), bytes, places, wanted, open)?;
            return match is_exact && wanted.is_none() {
                true => self.one_by_one(all, address, open),
                false => Ok(all),
            };
        }
        if let Some(Decision::Outside(_)) = wanted {
            // It is known to be inside, or to fail as an access at a number does.
            let mut run = run;
            let bits = self.blocks.values.constant_of(address).ok_or(Halt::Astray)?;
            run.trail.extend(wanted);
            let message = BadAccess::OutOfBounds.message();
            let place = bits.unsigned() as u64;
            if self.wrong(&run.control, place, bytes, false).is_none() {
                let never = self.blocks.values.terms.falsity();
                run.guard.push(never);
            }
            Self::fail(run, Property::Memory, message, open);
            return Ok(Vec::new());
        }
        let numbers = self.numbers(run, address, open)?;
        Ok(numbers.into_iter().map(|(it, run)| (Target::At(it.unsigned() as u64), run)).collect())
    }

    #[allow(clippy::too_many_arguments)]
    fn inside_or_outside(
        &mut self,
        run: Run,
        address: Term,
        (start, size): (u64, u64),
        bytes: u64,
        places: Vec<u64>,
        wanted: Option<Decision>,
        open: &mut Vec<Run>,
    ) -> Result<Vec<(Target, Run)>, Halt> {
        let terms = &mut self.blocks.values.terms;
        let width = terms.width(address);
        let base = terms.constant(Bits::new(width, u128::from(start)));
        let last = terms.constant(Bits::new(width, u128::from(size - bytes)));
        let offset = terms.binary(BinaryOp::Sub, address, base);
        let within = terms.binary(BinaryOp::Ule, offset, last);
        let beyond = terms.not(within);
        if wanted.is_none_or(|wanted| wanted == Decision::Outside(start)) {
            let mut run = run.clone();
            run.trail.push(Decision::Outside(start));
            run.guard.push(beyond);
            Self::fail(run, Property::Memory, BadAccess::OutOfBounds.message(), open);
        }
        let mut all = Vec::new();
        if wanted.is_none_or(|wanted| wanted == Decision::Inside(start)) {
            let mut run = run;
            run.trail.push(Decision::Inside(start));
            run.guard.push(within);
            all.push((Target::Within { start, places }, run));
        }
        Ok(all)
    }

    pub(super) fn wrong(
        &self,
        control: &Control,
        place: u64,
        bytes: u64,
        writes: bool,
    ) -> Option<BadAccess> {
        control.wrong_access(&self.blocks.globals, self.blocks.slots, (place, bytes), writes)
    }

    /// Start and size of the object at an address.
    fn extent(&self, control: &Control, address: u64) -> Option<(u64, u64)> {
        if let Some(object) = control.object(address) {
            let is_in = !object.is_freed && address - object.address < object.size;
            return is_in.then_some((object.address, object.size));
        }
        let global = self.blocks.globals.at(address)?;
        (address - global.address < global.size).then_some((global.address, global.size))
    }

    /// The object that an address is made from, where it is a place in one that inputs decide: what is
    /// added to it in the end.
    fn object_of(&self, control: &Control, address: Term) -> Option<(u64, u64)> {
        let terms = &self.blocks.values.terms;
        let Node::Binary(BinaryOp::Add, _, constant) = terms.node(address) else { return None };
        let constant = terms.as_constant(constant)?.unsigned() as u64;
        let mut near = (0..=8).map(|step| constant.saturating_add(step * 8));
        near.find_map(|place| self.extent(control, place))
    }

    /// The places in an object where an access may be; none where they are too many, or it may lie
    /// across two of them.
    fn places_in(&mut self, address: Term, start: u64, size: u64, bytes: u64) -> Option<Vec<u64>> {
        let last = (start + size).checked_sub(bytes).filter(|last| *last >= start)?;
        let terms = &mut self.blocks.values.terms;
        // What is known of the lowest bits says how far the places are apart.
        let (index, offset) = match terms.node(address) {
            Node::Binary(BinaryOp::Add, index, constant) => (index, terms.as_constant(constant)),
            _ => (address, None),
        };
        let offset = offset.map_or(0, |bits| bits.unsigned() as u64);
        let known = (1..=4).rev().find_map(|bits| {
            let low = terms.extract(index, 0, bits);
            let low = terms.as_constant(low)?.unsigned() as u64;
            Some((1u64 << bits, low.wrapping_add(offset) % (1 << bits)))
        });
        let (stride, low) = known.unwrap_or((1, 0));
        if stride < bytes || size > 1 << 16 {
            return None;
        }
        let first = start + low.wrapping_sub(start) % stride;
        let count = (last.checked_sub(first)?) / stride + 1;
        let places = (first..=last).step_by(stride as usize).collect();
        (count <= Blocks::MOST_PLACES).then_some(places)
    }
}
