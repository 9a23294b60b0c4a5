//! What has to hold of operands so that an operator gives the same in every layout, as an expression.
//!
//! A value that may be an address or a number is decided by what it is: objects lie far from zero, so
//! small numbers are none, nor are those right below zero. That two addresses are of one object shows in the
//! [slots](parallax_program::Slots) that they are in, or in the bounds of a global.

use parallax_program::{BinaryOp, Expr, GlobalId, Program, Slots};

use crate::flow::Flow;
use crate::reader::Operand;
use crate::stride::Stride;
use crate::value::{Base, Offset, Value};

/// Numbers that are no address in any layout: null, small numbers, error codes.
const NEVER: u64 = 4096;
/// Numbers below are no address here.
const SMALL: u64 = 1 << 28;
/// Of more globals, nobody finds out which one two addresses are of.
const MOST_COMPARED: usize = 64;

/// What is demanded of operands as wide as a pointer.
#[derive(Clone, Copy)]
pub struct Demand {
    /// The width of pointers.
    width: u32,
}

/// The number, if it is a constant.
fn known(operand: Operand<'_>) -> Option<u64> {
    match operand.expr {
        Expr::Const(bits) => u64::try_from(bits.unsigned()).ok(),
        _ => None,
    }
}

impl Demand {
    pub fn of(program: &Program) -> Demand {
        Demand { width: program.pointer_width }
    }

    fn slots(self) -> Slots {
        Slots::of(self.width)
    }

    fn number(self, value: u64) -> Expr {
        Expr::constant(self.width, u128::from(value))
    }

    fn at_most(self, value: Expr, most: u64) -> Expr {
        Expr::binary(BinaryOp::Ule, value, self.number(most))
    }

    /// A number of the width of pointers.
    fn wrapped(self, number: u64) -> u64 {
        number & (u64::MAX >> (64 - self.width))
    }

    /// Whether a value that may be an address is one.
    pub fn is_address(self, expr: &Expr, width: u32) -> Expr {
        if width > self.width {
            let high = expr.clone().extract(self.width, width - self.width);
            let low = expr.clone().extract(0, self.width);
            return self.is_address(&low, self.width) | self.is_address(&high, width - self.width);
        }
        let above = expr.clone().resize(width, self.width) - self.number(SMALL);
        self.at_most(above, self.slots().end() - SMALL)
    }

    fn is_pointer(self, operand: Operand<'_>) -> Expr {
        self.is_address(operand.expr, self.width)
    }

    /// Whether a value is no address in any layout.
    fn is_never(self, operand: Operand<'_>) -> Expr {
        self.at_most(operand.expr.clone() + self.number(NEVER), 2 * NEVER)
    }

    /// An address against a number; None where there is nothing to demand.
    fn against_number(self, address: Operand<'_>, other: Operand<'_>) -> Option<Expr> {
        match known(other) {
            Some(other) if self.wrapped(other.wrapping_add(NEVER)) <= 2 * NEVER => None,
            Some(_) => Some(!self.is_pointer(address)),
            None => Some(!self.is_pointer(address) | self.is_never(other)),
        }
    }

    /// Whether two addresses are of one object.
    fn same(self, flow: &Flow<'_>, a: Operand<'_>, b: Operand<'_>) -> Expr {
        let slot = |operand: Operand<'_>| {
            Expr::binary(
                BinaryOp::LShr,
                operand.expr.clone(),
                self.number(u64::from(self.slots().slot_bits())),
            )
        };
        let mut same = Expr::constant(1, 0);
        let is_made = |value: &Value| value.places.keys().any(|base| matches!(base, Base::Made(_)));
        if is_made(a.value) && is_made(b.value) {
            let is_made = !self.at_most(a.expr.clone(), self.slots().first() - 1);
            same = slot(a).eq(slot(b)) & is_made;
        }
        let common = a.value.places.keys().filter(|base| b.value.places.contains_key(base));
        for base in common.take(MOST_COMPARED) {
            if let (Base::Global(global), Some(size)) = (base, flow.size(*base)) {
                let within = |operand: Operand<'_>| {
                    self.at_most(operand.expr.clone() - Expr::Address(GlobalId(*global)), size)
                };
                same = same | within(a) & within(b);
            }
        }
        same
    }

    /// Whether both can only be addresses of the same global, or null.
    fn are_surely_same(a: Operand<'_>, b: Operand<'_>) -> bool {
        let is_null = |value: &Value| value.number.is_none_or(|number| number == Stride::exact(0));
        let global = |value: &Value| match value.places.keys().collect::<Vec<_>>()[..] {
            [Base::Global(global)] => Some(*global),
            _ => None,
        };
        let same = global(a.value).is_some_and(|one| global(b.value) == Some(one));
        same && is_null(a.value) && is_null(b.value)
    }

    pub fn ordered(self, flow: &Flow<'_>, a: Operand<'_>, b: Operand<'_>) -> Option<Expr> {
        match (a.value.is_number(), b.value.is_number()) {
            (true, true) => None,
            (false, true) => self.against_number(a, b),
            (true, false) => self.against_number(b, a),
            (false, false) if Self::are_surely_same(a, b) => None,
            (false, false) => {
                let numbers = !self.is_pointer(a) & !self.is_pointer(b);
                let never = self.is_never(a) | self.is_never(b);
                Some(numbers | never | self.same(flow, a, b))
            }
        }
    }

    /// Two addresses are equal in every layout or in none, unless the one is behind the end of its
    /// object and the other at the start of another.
    pub fn equal(self, flow: &Flow<'_>, a: Operand<'_>, b: Operand<'_>) -> Option<Expr> {
        match (a.value.is_number(), b.value.is_number()) {
            (true, true) => return None,
            (false, true) => return self.against_number(a, b),
            (true, false) => return self.against_number(b, a),
            (false, false) if Self::are_surely_same(a, b) => return None,
            (false, false) => {}
        }
        let adjoin = |a: Operand<'_>, b: Operand<'_>| {
            let end = self.is_at(flow, a, |base| flow.size(base).filter(|size| *size > 0))?;
            Some(end & self.is_at(flow, b, |_| Some(0))?)
        };
        let adjoin = match (adjoin(a, b), adjoin(b, a)) {
            (None, None) => return None,
            (Some(one), Some(two)) => one | two,
            (one, two) => one.or(two)?,
        };
        Some(!adjoin | self.same(flow, a, b))
    }

    /// Whether an address may be, and is, at some place of its object.
    fn is_at(
        self,
        flow: &Flow<'_>,
        operand: Operand<'_>,
        place: impl Fn(Base) -> Option<u64>,
    ) -> Option<Expr> {
        let is_here = operand.value.places.iter().filter_map(|(base, offset)| {
            let place = place(*base)?;
            let may_be = i64::try_from(place).is_ok_and(|place| offset.stride.has(place));
            let at = self.offset_in(*base, operand.expr).filter(|_| may_be)?;
            let within = self.is_in(flow, *base, operand.expr);
            Some(within & at.eq(self.number(place)))
        });
        is_here.reduce(|one, two| one | two)
    }

    /// Whether an address is in an object of that kind, or right behind it.
    fn is_in(self, flow: &Flow<'_>, base: Base, address: &Expr) -> Expr {
        match (base, flow.size(base)) {
            (Base::Global(global), Some(size)) => {
                self.at_most(address.clone() - Expr::Address(GlobalId(global)), size)
            }
            _ => !self.at_most(address.clone(), self.slots().first() - 1),
        }
    }

    pub fn sum(self, a: Operand<'_>, b: Operand<'_>) -> Option<Expr> {
        match (a.value.is_number(), b.value.is_number()) {
            (true, true) => None,
            (false, false) => Some(!(self.is_pointer(a) & self.is_pointer(b))),
            (false, true) => self.step(a, b),
            (true, false) => self.step(b, a),
        }
    }

    /// A step from an address that could lead to what looks like a number.
    fn step(self, address: Operand<'_>, step: Operand<'_>) -> Option<Expr> {
        let far =
            known(step).is_some_and(|step| self.wrapped(step.wrapping_add(SMALL)) > 2 * SMALL);
        far.then(|| !self.is_pointer(address))
    }

    pub fn difference(self, flow: &Flow<'_>, a: Operand<'_>, b: Operand<'_>) -> Option<Expr> {
        if b.value.is_number() {
            return self.step(a, b);
        }
        if Self::are_surely_same(a, b) {
            return None;
        }
        Some(!self.is_pointer(b) | self.same(flow, a, b))
    }

    pub fn low_bits(
        self,
        op: BinaryOp,
        address: Operand<'_>,
        mask: Operand<'_>,
        align: u64,
    ) -> Option<Expr> {
        let is_low = match op {
            BinaryOp::URem | BinaryOp::SRem => {
                let divides = |by: &u64| by.is_power_of_two() && *by <= align;
                known(mask).filter(divides).is_none().then(|| Expr::constant(1, 0))
            }
            _ => self.mask(mask, align, op == BinaryOp::And),
        };
        Some(!self.is_pointer(address) | is_low?)
    }

    /// That a mask has only bits below an alignment; one that is intersected with an address may have
    /// all others instead.
    pub fn mask(self, mask: Operand<'_>, align: u64, intersects: bool) -> Option<Expr> {
        let is_low = |mask: u64| mask < align || intersects && self.wrapped(!mask) < align;
        if let Some(mask) = known(mask) {
            return (!is_low(mask)).then(|| Expr::constant(1, 0));
        }
        let low = self.at_most(mask.expr.clone(), align - 1);
        match intersects {
            true => Some(low | self.at_most(!mask.expr.clone(), align - 1)),
            false => Some(low),
        }
    }

    /// That an access of few bytes touches no address that was stored.
    pub fn apart(self, flow: &Flow<'_>, address: Operand<'_>, bytes: u64) -> Option<Expr> {
        let mut touched = None;
        for (base, offset) in &address.value.places {
            let Some(at) = self.offset_in(*base, address.expr) else { continue };
            let within = self.is_in(flow, *base, address.expr);
            for stored in flow.stored_at(*base, *offset, bytes) {
                let here = within.clone() & self.touches(&at, bytes, stored.offset, stored.bytes);
                touched = Some(touched.map_or(here.clone(), |others: Expr| others | here));
            }
        }
        touched.map(|touched| !touched)
    }

    /// Where in its object an address is.
    fn offset_in(self, base: Base, address: &Expr) -> Option<Expr> {
        match base {
            Base::Global(global) => Some(address.clone() - Expr::Address(GlobalId(global))),
            Base::Made(_) => {
                Some(address.clone() & self.number((1 << self.slots().slot_bits()) - 1))
            }
            Base::Function(_) => None,
        }
    }

    /// Whether an access at an offset has a byte in common with another one.
    fn touches(self, at: &Expr, bytes: u64, stored: Offset, others: u64) -> Expr {
        let Stride { residue, modulus } = stored.stride;
        let both = bytes + others - 1;
        // As many bytes below the other one are touched as the access has, but for the first.
        let ahead =
            at.clone() + self.number(self.wrapped((bytes - 1).wrapping_sub(residue as u64)));
        let meets = match modulus {
            0 => self.at_most(ahead, both - 1),
            modulus if modulus <= both => Expr::constant(1, 1),
            modulus => {
                // Offsets are not negative: what is ahead of a residue may be, by less than a step.
                let ahead = ahead + self.number(modulus);
                self.at_most(Expr::binary(BinaryOp::URem, ahead, self.number(modulus)), both - 1)
            }
        };
        match stored.within {
            Some((low, high)) if modulus != 0 => {
                let low = low.saturating_sub_unsigned(bytes - 1);
                let range = high.saturating_sub(low).saturating_sub(1).max(0);
                meets
                    & self.at_most(at.clone() - self.number(self.wrapped(low as u64)), range as u64)
            }
            _ => meets,
        }
    }
}
