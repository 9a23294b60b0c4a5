//! Single operations, and what is put together from them.
//!
//! Load-linked and store-conditional carry no tags: a pair that succeeds is in `rmw`, which is all
//! that the models of the machines look at, and one that fails orders nothing.

use parallax_program::{AccessSize, Expr, InstKind, Span, Tags, Terminator, VarId};

use super::{Lowering, WIDTH, parts};
use crate::syntax::{Condition, Ex, Op, OpKind, Place, Target};

impl Lowering<'_> {
    pub(super) fn ex(&mut self, ex: &Ex) {
        match ex {
            Ex::Nil => {}
            Ex::Op(op) => self.operation(op),
            Ex::Seq(_) | Ex::Atom(_) => self.sequence(parts(ex)),
            Ex::Par(parts) => self.in_any_order(parts),
            Ex::If(condition, body, mark) => {
                self.builder.at(mark.0);
                let condition = self.condition(condition);
                self.when(condition, ends_in_branch(body), |lowering| lowering.ex(body));
            }
        }
    }

    /// Parts in order, where atomic halves come in pairs.
    pub(super) fn sequence(&mut self, parts: &[Ex]) {
        let mut rest = parts;
        while let [first, after @ ..] = rest {
            match first {
                Ex::Atom(op) => rest = self.pair(op, after),
                _ => {
                    self.ex(first);
                    rest = after;
                }
            }
        }
    }

    pub(super) fn operation(&mut self, op: &Op) {
        let span = op.mark.0;
        self.builder.at(span);
        match &op.kind {
            OpKind::Read { dst, src: Place::Register(src) } => {
                let (dst, src) = (self.var(dst), self.var(src));
                self.builder.assign(dst, Expr::Var(src));
            }
            OpKind::Read { dst, src: Place::Memory(target) } => {
                let address = self.address(target, span);
                let (dst, tags) = (self.var(dst), Tags::none());
                self.builder.emit(InstKind::Load { dst, address, size: AccessSize::WORD, tags });
            }
            OpKind::Write { dst: Place::Register(dst), value } | OpKind::Compute { dst, value } => {
                let value = self.exp(value);
                let dst = self.var(dst);
                self.builder.assign(dst, value);
            }
            OpKind::Write { dst: Place::Memory(target), value } => {
                let address = self.address(target, span);
                let (value, tags) = (self.exp(value), Tags::none());
                self.builder.emit(InstKind::Store { address, value, size: AccessSize::WORD, tags });
            }
            OpKind::Anything { dst } => {
                let dst = self.var(dst);
                self.builder.emit(InstKind::Nondet { dst });
            }
            OpKind::Branch { condition: Condition::True, label } => {
                let target = self.builder.label_block(label);
                self.builder.terminate(Terminator::Jump(target));
            }
            OpKind::Branch { condition, label } => {
                let condition = self.condition(condition);
                let target = self.builder.label_block(label);
                self.builder.branch(condition, target);
            }
            OpKind::Fence(fence) => {
                let tags = Tags::new(fence.tags().iter().copied());
                self.builder.emit(InstKind::Fence { tags });
            }
            OpKind::LoadLinked { dst, location } => {
                let address = self.address(location, span);
                let dst = self.var(dst);
                self.load_linked(dst, address);
            }
            OpKind::StoreConditional { flag, location, value } => {
                let address = self.address(location, span);
                let value = self.exp(value);
                let status = self.store_conditional(address, value);
                let flag = self.var(flag);
                self.builder.assign(flag, status.zero_extend(WIDTH));
            }
        }
    }

    pub(super) fn load_linked(&mut self, dst: VarId, address: Expr) {
        let (size, tags) = (AccessSize::WORD, Tags::none());
        self.builder.emit(InstKind::LoadLinked { dst, address, size, tags });
    }

    /// The result is 0 where it succeeds.
    pub(super) fn store_conditional(&mut self, address: Expr, value: Expr) -> Expr {
        let status = self.builder.temp(1);
        let (size, tags) = (AccessSize::WORD, Tags::none());
        self.builder.emit(InstKind::StoreConditional { status, address, value, size, tags });
        Expr::Var(status)
    }

    /// Where a location lies. A computed one is looked up by its number.
    pub(super) fn address(&mut self, target: &Target, span: Span) -> Expr {
        match target {
            Target::Named(name) => match self.globals.get(name.as_str()) {
                Some(global) => Expr::Address(*global),
                None => Expr::constant(64, 0),
            },
            Target::Computed(temporary) => self.computed_address(temporary, span),
        }
    }

    fn computed_address(&mut self, temporary: &str, span: Span) -> Expr {
        let var = self.var(temporary);
        let number = Expr::Var(var);
        let mut known = Expr::constant(1, 0);
        let mut address = None;
        for location in self.structures.locations.iter().rev() {
            let digits = location.name.strip_prefix("0x");
            let Some(value) = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok()) else {
                continue;
            };
            let Some(global) = self.globals.get(location.name.as_str()) else {
                continue;
            };
            let here = number.clone().eq(Expr::constant(WIDTH, u128::from(value)));
            let place = Expr::Address(*global);
            known = here.clone() | known;
            address = Some(match address {
                Some(others) => here.select(place, others),
                None => place,
            });
        }
        let Some(address) = address else {
            let message = "there is no location whose name is a number";
            self.error(span, message);
            return Expr::constant(64, 0);
        };
        self.refuse_unless(known, "an access to a location that is not declared");
        address
    }

    /// Nothing can be said of executions in which the condition does not hold.
    fn refuse_unless(&mut self, condition: Expr, what: &str) {
        let (bad, good) = (self.builder.new_block("unknown"), self.builder.new_block("known"));
        self.branch_to(!condition, bad, good, Some(good));
        self.builder.enter(bad);
        self.builder.emit(InstKind::Unsupported { what: what.to_string() });
        self.builder.enter(good);
    }
}

fn ends_in_branch(ex: &Ex) -> bool {
    let mut found = false;
    ex.operations(&mut |op| found |= matches!(op.kind, OpKind::Branch { .. }));
    found
}
