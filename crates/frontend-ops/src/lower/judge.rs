//! Assertions. One that counts only in complete executions is remembered by its thread; at its
//! end, the thread waits for all others and reports. Should several threads wait for one another in
//! this way, each may also end without a report: somebody reports in some execution.

use parallax_program::{
    Expr, InstKind, Observable, Operand, Place, Prop, Property, Quantifier, Question, Span,
    Terminator, VarId,
};

use super::{Assertion, Judging, Lowering, WIDTH};
use crate::syntax::Condition;

/// The assertions of a thread, and the variable that holds the number of the first that failed,
/// from 1.
pub struct Failures {
    thread: String,
    var: Option<VarId>,
    pub assertions: Vec<Assertion>,
}

impl Failures {
    pub fn new(thread: &str) -> Failures {
        Failures { thread: thread.to_string(), var: None, assertions: Vec::new() }
    }

    /// What is left when the thread is over.
    pub fn observable(&self, thread: u32, name: &str) -> Option<Observable> {
        let place = Place::Variable { thread, var: self.var?, width: WIDTH };
        Some(Observable { name: format!("{name}:failed"), place, signed: false })
    }
}

/// Asks whether some assertion has failed.
pub fn question(failed: Vec<Observable>) -> Question {
    let zero = || Operand::Value(Expr::constant(WIDTH, 0));
    let fails = |left| Prop::Compare { left, equal: false, right: zero() };
    Question {
        quantifier: Quantifier::NotExists,
        prop: Prop::Or(failed.into_iter().map(fails).collect()),
        text: "an assertion fails".to_string(),
        locations: Vec::new(),
        filter: None,
    }
}

impl Lowering<'_> {
    pub(super) fn assert(&mut self, condition: &Condition, span: Span) {
        let message = condition.to_string();
        let thread = self.failures.thread.clone();
        self.failures.assertions.push(Assertion { thread, message: message.clone(), span });
        let condition = self.condition(condition);
        if self.judging == Judging::AtOnce {
            let property = Property::Assert;
            self.builder.emit(InstKind::Assert { condition, message, property });
            return;
        }
        let var = *self.failures.var.get_or_insert_with(|| self.builder.temp(WIDTH));
        let number = Expr::constant(WIDTH, self.failures.assertions.len() as u128);
        let is_first = Expr::Var(var).eq(Expr::constant(WIDTH, 0));
        let value = (is_first & !condition).select(number, Expr::Var(var));
        self.builder.assign(var, value);
    }

    /// The end of the thread.
    pub(super) fn judge(&mut self) {
        let (Some(failed), Judging::AtEnd) = (self.failures.var, self.judging) else {
            return;
        };
        let is_fine = Expr::Var(failed).eq(Expr::constant(WIDTH, 0));
        let end = self.builder.new_block("over");
        self.builder.branch(is_fine, end);
        let is_silent = self.pick_bit();
        self.builder.branch(is_silent, end);
        for other in self.others.clone() {
            self.builder.emit(InstKind::Join { thread: Expr::constant(32, u128::from(other)) });
        }
        for (number, assertion) in self.failures.assertions.iter().enumerate() {
            self.builder.at(assertion.span);
            let number = Expr::constant(WIDTH, number as u128 + 1);
            self.builder.emit(InstKind::Assert {
                condition: Expr::Var(failed).ne(number),
                message: assertion.message.clone(),
                property: Property::Assert,
            });
        }
        self.builder.enter(end);
        self.builder.terminate(Terminator::Return(None));
    }

    /// A bit that nothing determines.
    pub(super) fn pick_bit(&mut self) -> Expr {
        if self.judging == Judging::ByQuestion {
            let dst = self.builder.temp(1);
            self.builder.emit(InstKind::Nondet { dst });
            return Expr::Var(dst);
        }
        let dst = self.builder.temp(2);
        self.builder.emit(InstKind::Choose { dst, below: Expr::constant(2, 2) });
        Expr::Var(dst).extract(0, 1)
    }
}
