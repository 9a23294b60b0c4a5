//! Iterations that are stood in for: what they read is anything, what they write is written.
//!
//! Whatever else holds in every execution up to the first violation is assumed: assertions, and what
//! was waited for. What cannot be followed is not followed: the last iteration, which is there as it
//! is, comes to it, too.

use parallax_program::{Expr, InstKind, RmwOp, VarId};

use crate::image::Writer;

impl Writer<'_> {
    /// An instruction of an iteration that is stood in for.
    pub fn silently(&mut self, kind: &InstKind) {
        match kind {
            InstKind::Load { dst, .. } | InstKind::LoadLinked { dst, .. } => self.anything(*dst),
            InstKind::Rmw { .. } => self.read_modify_write(kind),
            InstKind::Cas { .. } => self.compare_and_swap(kind),
            InstKind::StoreConditional { status, address, value, size, tags } => {
                let store = InstKind::Store {
                    address: address.clone(),
                    value: value.clone(),
                    size: *size,
                    tags: tags.clone(),
                };
                let fails = self.fresh(1);
                self.anything(fails);
                self.when(!Expr::Var(fails), store);
                self.emit(InstKind::Assign { dst: *status, value: Expr::Var(fails) });
            }
            InstKind::Assert { condition, .. } | InstKind::Wait { condition } => {
                self.emit(InstKind::Assume { condition: condition.clone() });
            }
            InstKind::Unsupported { .. } | InstKind::Call { .. } => {
                self.emit(InstKind::Assume { condition: Expr::constant(1, 0) });
            }
            _ => self.emit(kind.clone()),
        }
    }

    /// What was there is anything, so what is stored is, but for an exchange.
    fn read_modify_write(&mut self, kind: &InstKind) {
        let InstKind::Rmw { dst, address, op, operand, size, write_tags, .. } = kind else {
            return;
        };
        let value = match op {
            RmwOp::Swap => operand.clone(),
            _ => {
                let value = self.fresh(size.bits());
                self.anything(value);
                Expr::Var(value)
            }
        };
        let (address, tags) = (address.clone(), write_tags.clone());
        self.emit(InstKind::Store { address, value, size: *size, tags });
        dst.iter().for_each(|dst| self.anything(*dst));
    }

    fn compare_and_swap(&mut self, kind: &InstKind) {
        let InstKind::Cas { dst, ok, address, expected, desired, size, write_tags, weak, .. } =
            kind
        else {
            return;
        };
        let old = self.fresh(size.bits());
        self.anything(old);
        let mut succeeds = Expr::Var(old).eq(expected.clone());
        if *weak {
            let may = self.fresh(1);
            self.anything(may);
            succeeds = succeeds & Expr::Var(may);
        }
        let done = self.fresh(1);
        self.emit(InstKind::Assign { dst: done, value: succeeds });
        let store = InstKind::Store {
            address: address.clone(),
            value: desired.clone(),
            size: *size,
            tags: write_tags.clone(),
        };
        self.when(Expr::Var(done), store);
        let assign =
            |dst: &VarId, from: VarId| InstKind::Assign { dst: *dst, value: Expr::Var(from) };
        if let Some(dst) = dst {
            self.emit(assign(dst, old));
        }
        if let Some(ok) = ok {
            self.emit(assign(ok, done));
        }
    }
}
