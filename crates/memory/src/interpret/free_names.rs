//! Names that a function or procedure uses without binding them, so that a misspelt one is
//! found where it is written and not only when the function is called.

use super::algebra::Algebra;
use super::environment::Environment;
use super::{Interpreter, Stop};
use crate::place::Place;
use crate::syntax::ast::*;

impl<'a, A: Algebra> Interpreter<'a, A> {
    /// Reports the unknown names in a function's body.
    pub(super) fn check_free_names(
        &mut self,
        environment: &Environment<'a, A>,
        function: &'a Function,
        siblings: Option<&'a Bindings>,
    ) {
        let mut free = FreeNames::default();
        for binding in siblings.iter().flat_map(|s| &s.bindings) {
            free.bound.extend(binding.pattern.names());
        }
        free.bound.extend(function.parameters.names());
        free.expression(&function.body);
        self.report_unknown(environment, free);
    }

    /// Reports the unknown names in a procedure's body.
    pub(super) fn check_procedure(
        &mut self,
        environment: &Environment<'a, A>,
        procedure: &'a Procedure,
    ) {
        let mut free = FreeNames::default();
        free.bound.push(&procedure.name);
        free.bound.extend(procedure.parameters.names());
        free.statements(&procedure.body);
        self.report_unknown(environment, free);
    }

    /// Looks up every name that statements mention, wherever it is, so that all base sets and
    /// relations they can come to use are known as inputs.
    pub fn mention_all(&mut self, statements: &'a [Stmt]) {
        let mut names = FreeNames { everything: true, ..FreeNames::default() };
        names.statements(statements);
        for (name, place) in names.found {
            // Names that the model defines itself, and unknown ones in dead branches.
            let _ = self.predefined(name, place);
        }
    }

    fn report_unknown(&mut self, environment: &Environment<'a, A>, free: FreeNames<'a>) {
        for (name, place) in free.found {
            if environment.get(name).is_none()
                && let Err(Stop::Problem(problem)) = self.lookup(environment, name, place)
            {
                self.report(*problem);
            }
        }
    }
}

#[derive(Default)]
struct FreeNames<'a> {
    /// Bound names count too, and so do branches that may not be taken.
    everything: bool,
    bound: Vec<&'a Name>,
    found: Vec<(&'a Name, Place)>,
}

impl<'a> FreeNames<'a> {
    fn scoped(&mut self, inner: impl FnOnce(&mut Self)) {
        let depth = self.bound.len();
        inner(self);
        self.bound.truncate(depth);
    }

    fn expression(&mut self, expression: &'a Expr) {
        match &expression.kind {
            ExprKind::Name(name) => {
                if self.everything || !self.bound.contains(&name) {
                    self.found.push((name, expression.place));
                }
            }
            ExprKind::Tag(_) | ExprKind::Zero | ExprKind::Universe => {}
            ExprKind::SetLiteral(parts)
            | ExprKind::Tuple(parts)
            | ExprKind::Union(parts)
            | ExprKind::Sequence(parts) => parts.iter().for_each(|part| self.expression(part)),
            ExprKind::Unary(_, operand) => self.expression(operand),
            ExprKind::Binary(_, left, right) | ExprKind::Apply(left, right) => {
                self.expression(left);
                self.expression(right);
            }
            ExprKind::Function(function) => self.scoped(|this| {
                this.bound.extend(function.parameters.names());
                this.expression(&function.body);
            }),
            ExprKind::Let { bindings, body } => self.scoped(|this| {
                this.bindings(bindings);
                this.expression(body);
            }),
            ExprKind::MatchTag { subject, clauses, default } => {
                self.expression(subject);
                clauses.iter().for_each(|(_, body)| self.expression(body));
                default.iter().for_each(|body| self.expression(body));
            }
            ExprKind::MatchSet { subject, empty, split, otherwise } => {
                self.expression(subject);
                self.expression(empty);
                self.scoped(|this| {
                    this.bound.extend(
                        match split {
                            Split::First { element, rest } => [element, rest, &None],
                            Split::Middle { before, element, after } => [before, element, after],
                        }
                        .into_iter()
                        .flatten(),
                    );
                    this.expression(otherwise);
                });
            }
            // What may fail on purpose, or is never reached, may use names that do not exist.
            ExprKind::Try(attempt, otherwise) => {
                if self.everything {
                    self.expression(attempt);
                }
                self.expression(otherwise);
            }
            ExprKind::If { condition, .. }
                if matches!(**condition, Condition::Variant(_)) && !self.everything => {}
            ExprKind::If { condition, then, otherwise } => {
                if let Condition::Equal(a, b) | Condition::Subset(a, b) | Condition::Member(a, b) =
                    &**condition
                {
                    self.expression(a);
                    self.expression(b);
                }
                self.expression(then);
                self.expression(otherwise);
            }
        }
    }

    /// Leaves the names bound.
    fn bindings(&mut self, bindings: &'a Bindings) {
        let names = bindings.bindings.iter().flat_map(|b| b.pattern.names());
        if bindings.recursive {
            self.bound.extend(names);
            bindings.bindings.iter().for_each(|b| self.expression(&b.value));
        } else {
            bindings.bindings.iter().for_each(|b| self.expression(&b.value));
            self.bound.extend(names);
        }
    }

    fn statements(&mut self, statements: &'a [Stmt]) {
        for statement in statements {
            match &statement.kind {
                StmtKind::Let { bindings, when } => {
                    self.bindings(bindings);
                    when.iter().for_each(|test| self.expression(&test.subject));
                }
                StmtKind::Test(test) => self.expression(&test.subject),
                StmtKind::Call { argument, .. } => self.expression(argument),
                StmtKind::Forall { name, set, body } => {
                    self.expression(set);
                    self.scoped(|this| {
                        this.bound.push(name);
                        this.statements(body);
                    });
                }
                StmtKind::WithFrom { name, set } => {
                    self.expression(set);
                    self.bound.push(name);
                }
                StmtKind::Block(inner) => self.statements(inner),
                StmtKind::Procedure(procedure) => {
                    self.scoped(|this| {
                        this.bound.extend(procedure.parameters.names());
                        this.statements(&procedure.body);
                    });
                    self.bound.push(&procedure.name);
                }
                StmtKind::Match { subject, clauses, default } => {
                    self.expression(subject);
                    clauses.iter().for_each(|(_, body)| self.statements(body));
                    default.iter().for_each(|body| self.statements(body));
                }
                _ => {}
            }
        }
    }
}
