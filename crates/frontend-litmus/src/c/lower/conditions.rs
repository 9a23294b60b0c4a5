//! Conditions as jumps. `&&`, `||` and `!` whose operands touch memory become branches of
//! their own, so that what they guard depends on every operand that was looked at.

use parallax_program::{BlockId, Expr, Terminator};

use super::{Lowered, Lowering};
use crate::c::ast::{Expr as Tree, ExprKind, LogicalOp, UnaryOp};

impl<'a> Lowering<'a> {
    /// Goes to `then` or `otherwise`, as the expression is true or false.
    pub(super) fn branch_on(
        &mut self,
        tree: &'a Tree,
        then: BlockId,
        otherwise: BlockId,
    ) -> Lowered<()> {
        match &tree.kind {
            ExprKind::Unary(UnaryOp::Not, inner) => self.branch_on(inner, otherwise, then),
            ExprKind::Logical(op, left, right) if !tree.is_pure() => {
                let second = self.builder.new_block("second");
                match op {
                    LogicalOp::And => self.branch_on(left, second, otherwise)?,
                    LogicalOp::Or => self.branch_on(left, then, second)?,
                }
                self.builder.enter(second);
                self.branch_on(right, then, otherwise)
            }
            _ => {
                let condition = self.scalar(tree)?.condition();
                self.builder.at(tree.span);
                self.branch(condition, then, otherwise);
                Ok(())
            }
        }
    }

    /// Ends the current block. Where the branches meet again is found when the function is
    /// complete, see [`super::joins`].
    pub(super) fn branch(&mut self, condition: Expr, then: BlockId, otherwise: BlockId) {
        self.builder.terminate(Terminator::Branch { condition, then, otherwise, join: None });
    }

    /// Does one thing where the condition holds and another where not.
    pub fn either(
        &mut self,
        condition: Expr,
        then: impl FnOnce(&mut Self) -> Lowered<()>,
        otherwise: impl FnOnce(&mut Self) -> Lowered<()>,
    ) -> Lowered<()> {
        let yes = self.builder.new_block("then");
        let no = self.builder.new_block("else");
        let end = self.builder.new_block("end");
        self.branch(condition, yes, no);
        self.builder.enter(yes);
        then(self)?;
        self.builder.terminate(Terminator::Jump(end));
        self.builder.enter(no);
        otherwise(self)?;
        self.builder.enter(end);
        Ok(())
    }
}
