//! Execution of statements.
//!
//! What is left to do is kept as an explicit stack of frames, because `with … from` goes on
//! with the whole rest of the model once for each choice.

use std::rc::Rc;

use super::algebra::{Algebra, Answer, Either};
use super::environment::Environment;
use super::expressions::mismatch;
use super::sets::no_clause;
use super::value::Value;
use super::{Interpreter, Path, Result, Stop};
use crate::model::InputKind;
use crate::place::Problem;
use crate::syntax::ast::*;

/// Choices of one `with … from` inside another.
const MAX_CHOICES: usize = 64;

enum Frame<'a, A: Algebra> {
    Statements {
        rest: &'a [Stmt],
        /// The name under which a procedure's tests are known.
        label: Option<&'a Name>,
    },
    /// What a `forall` has not come to yet.
    Forall {
        name: &'a Name,
        left: Rc<Vec<Value<'a, A>>>,
        next: usize,
        body: &'a [Stmt],
        label: Option<&'a Name>,
    },
    /// The end of a procedure: its definitions are forgotten.
    Restore(Environment<'a, A>),
}

struct State<'a, A: Algebra> {
    path: Path<'a, A>,
    frames: Vec<Rc<Frame<'a, A>>>,
    label: Option<&'a Name>,
}

impl<'a, A: Algebra> State<'a, A> {
    fn push(&mut self, frame: Frame<'a, A>) {
        self.frames.push(Rc::new(frame));
    }

    fn copy(&self) -> Self {
        State {
            path: Path {
                environment: self.path.environment.clone(),
                flags: self.path.flags.clone(),
                failed: self.path.failed,
            },
            frames: self.frames.clone(),
            label: self.label,
        }
    }
}

impl<'a, A: Algebra> Interpreter<'a, A> {
    /// Runs a model and leaves its paths behind.
    pub fn run(&mut self, statements: &'a [Stmt]) -> Result<()> {
        let state = State {
            path: Path { environment: Environment::default(), flags: Vec::new(), failed: None },
            frames: vec![Rc::new(Frame::Statements { rest: statements, label: None })],
            label: None,
        };
        self.go_on(state, 0)
    }

    fn go_on(&mut self, mut state: State<'a, A>, choices: usize) -> Result<()> {
        while state.path.failed.is_none() {
            let Some(frame) = state.frames.pop() else {
                break;
            };
            let (statement, label) = match &*frame {
                Frame::Restore(environment) => {
                    state.path.environment = environment.clone();
                    continue;
                }
                Frame::Forall { name, left, next, body, label } => {
                    self.next_of_forall(&mut state, name, left.clone(), *next, body, *label);
                    continue;
                }
                Frame::Statements { rest, label } => match rest.split_first() {
                    None => continue,
                    Some((first, rest)) => {
                        let label = *label;
                        state.push(Frame::Statements { rest, label });
                        (first, label)
                    }
                },
            };
            state.label = label;
            self.spend(statement.place)?;
            if let StmtKind::WithFrom { name, set } = &statement.kind {
                match self.choices(&state, name, set) {
                    Ok(values) => return self.choose(state, name, values, choices),
                    Err(stop) => self.recover(&mut state, statement, stop)?,
                }
            } else if let Err(stop) = self.execute(&mut state, statement) {
                self.recover(&mut state, statement, stop)?;
            }
        }
        self.paths.push(state.path);
        Ok(())
    }

    /// Without an execution, goes on after something wrong or unknown: all that the statement
    /// defines is unknown from here on.
    fn recover(&mut self, state: &mut State<'a, A>, statement: &'a Stmt, stop: Stop) -> Result<()> {
        if self.algebra.events().is_some() {
            return Err(stop);
        }
        if let Stop::Problem(problem) = stop {
            self.report(*problem);
        }
        match &statement.kind {
            StmtKind::Let { bindings, .. } => {
                for binding in &bindings.bindings {
                    for name in binding.pattern.names() {
                        state.path.environment.bind(name, Value::Unknown);
                    }
                }
            }
            StmtKind::WithFrom { name, .. } => {
                state.path.environment.bind(name, Value::Unknown);
                self.incomplete = true;
            }
            StmtKind::Test(test) => self.note_unknown(state, test),
            StmtKind::Match { .. } | StmtKind::Forall { .. } | StmtKind::Call { .. } => {
                self.incomplete = true;
                self.note_skipped(state, statement);
            }
            _ => {}
        }
        Ok(())
    }

    /// Notes the tests inside a statement that cannot be run yet.
    fn note_skipped(&mut self, state: &State<'a, A>, statement: &'a Stmt) {
        let mut left = vec![statement];
        while let Some(statement) = left.pop() {
            match &statement.kind {
                StmtKind::Test(test) => self.note_unknown(state, test),
                StmtKind::Block(body) | StmtKind::Forall { body, .. } => {
                    left.extend(body.iter().rev());
                }
                StmtKind::Match { clauses, default, .. } => {
                    let bodies = clauses.iter().map(|(_, body)| body).chain(default);
                    left.extend(bodies.flatten());
                }
                _ => {}
            }
        }
    }

    fn note_unknown(&mut self, state: &State<'a, A>, test: &'a Test) {
        let label = state.label.map(|label| &**label);
        self.algebra.test(test, label, None);
    }

    fn execute(&mut self, state: &mut State<'a, A>, statement: &'a Stmt) -> Result<()> {
        match &statement.kind {
            StmtKind::Let { bindings, when } => self.definitions(state, bindings, when.as_ref()),
            StmtKind::Test(test) => self.test(state, test),
            StmtKind::Block(inner) => {
                let label = state.label;
                state.push(Frame::Statements { rest: inner, label });
                Ok(())
            }
            StmtKind::Procedure(procedure) => {
                self.procedure(state, procedure);
                Ok(())
            }
            StmtKind::Call { .. } => self.call(state, statement),
            StmtKind::Enum { name, tags } => {
                for tag in tags {
                    self.tags.insert(tag.clone(), name.clone());
                }
                let all = Value::values(tags.iter().cloned().map(Value::Tag));
                state.path.environment.bind(name, all);
                Ok(())
            }
            StmtKind::Forall { name, set, body } => {
                let value = self.evaluate(&state.path.environment, set)?;
                let left = Rc::new(self.elements(&value, set.place)?);
                let label = state.label;
                self.next_of_forall(state, name, left, 0, body, label);
                Ok(())
            }
            StmtKind::Match { subject, clauses, default } => {
                let value = self.evaluate(&state.path.environment, subject)?;
                let Value::Tag(tag) = &value else {
                    return mismatch(subject.place, "a tag", &value);
                };
                let clause = clauses.iter().find(|(name, _)| name == tag);
                let body = clause.map(|(_, body)| body).or(default.as_ref());
                let rest = body.ok_or_else(|| no_clause(tag, statement.place))?;
                let label = state.label;
                state.push(Frame::Statements { rest, label });
                Ok(())
            }
            StmtKind::Instructions(sets) => {
                for set in sets {
                    let value = self.evaluate(&state.path.environment, set)?;
                    if !matches!(value, Value::Tag(_) | Value::Values(_) | Value::Empty) {
                        return mismatch(set.place, "a set of tags", &value);
                    }
                }
                Ok(())
            }
            // Shown relations are for pictures; the rest was settled when the file was read.
            StmtKind::Show(_)
            | StmtKind::Unshow(_)
            | StmtKind::ShowAs(..)
            | StmtKind::Include(_)
            | StmtKind::If { .. }
            | StmtKind::WithFrom { .. } => Ok(()),
        }
    }

    fn definitions(
        &mut self,
        state: &mut State<'a, A>,
        bindings: &'a Bindings,
        when: Option<&'a Test>,
    ) -> Result<()> {
        if bindings.recursive {
            state.path.environment = self.define(&state.path.environment, bindings)?;
            // The test of a recursive definition stops it early; on the final value it says
            // the same of all that only grows.
            return when.map_or(Ok(()), |test| self.test(state, test));
        }
        let before = state.path.environment.clone();
        let mut result = Ok(());
        for binding in &bindings.bindings {
            let bound = self.evaluate(&before, &binding.value).and_then(|value| {
                let environment = &mut state.path.environment;
                self.bind(environment, &binding.pattern, value, binding.place)
            });
            if let Err(stop) = bound {
                result = Err(stop);
            }
        }
        result
    }

    fn test(&mut self, state: &mut State<'a, A>, test: &'a Test) -> Result<()> {
        let value = self.evaluate(&state.path.environment, &test.subject)?;
        let subject = self.as_operand(&value, test.subject.place)?;
        if let (Either::Set(_), TestKind::Acyclic | TestKind::Irreflexive) = (&subject, test.kind) {
            return mismatch(test.subject.place, "a relation", &value);
        }
        let label = state.label.map(|label| &**label);
        let holds = match self.algebra.test(test, label, Some(&subject)) {
            Answer::Noted => return Ok(()),
            Answer::Holds => !test.negated,
            Answer::Fails => test.negated,
        };
        let path = &mut state.path;
        match test.role {
            Role::Axiom if !holds => path.failed = Some(test.place),
            Role::Axiom => {}
            Role::Flag if holds => path.flags.push((Role::Flag, test.name.clone())),
            Role::Flag => {}
            role if !holds => path.flags.push((role, test.name.clone())),
            _ => {}
        }
        Ok(())
    }

    fn procedure(&mut self, state: &mut State<'a, A>, procedure: &'a Procedure) {
        let environment = &mut state.path.environment;
        if self.algebra.events().is_none() {
            let outer = environment.clone();
            self.check_procedure(&outer, procedure);
        }
        let value = Value::Procedure(procedure, environment.clone());
        environment.bind(&procedure.name, value);
    }

    fn call(&mut self, state: &mut State<'a, A>, statement: &'a Stmt) -> Result<()> {
        let StmtKind::Call { name, argument, label } = &statement.kind else {
            return Ok(());
        };
        let environment = state.path.environment.clone();
        let value = self.lookup(&environment, name, statement.place)?;
        let Value::Procedure(procedure, mut inner) = value.clone() else {
            return mismatch(statement.place, "a procedure", &value);
        };
        if state.frames.len() >= super::MAX_DEPTH as usize {
            let message = "procedures call each other without end";
            return Err(Problem::new(statement.place, message).into());
        }
        if procedure.recursive {
            inner.bind(&procedure.name, value);
        }
        let argument_value = self.evaluate(&environment, argument)?;
        self.bind(&mut inner, &procedure.parameters, argument_value, argument.place)?;
        state.push(Frame::Restore(environment));
        state.path.environment = inner;
        state.push(Frame::Statements {
            rest: &procedure.body,
            label: Some(label.as_ref().unwrap_or(name)),
        });
        Ok(())
    }

    fn next_of_forall(
        &mut self,
        state: &mut State<'a, A>,
        name: &'a Name,
        left: Rc<Vec<Value<'a, A>>>,
        next: usize,
        body: &'a [Stmt],
        label: Option<&'a Name>,
    ) {
        let Some(value) = left.get(next).cloned() else {
            return;
        };
        state.push(Frame::Forall { name, left, next: next + 1, body, label });
        state.push(Frame::Restore(state.path.environment.clone()));
        state.path.environment.bind(name, value);
        state.push(Frame::Statements { rest: body, label });
    }

    /// The values to go on with. Coherence is chosen outside the model: `with co from …`
    /// only asks whether the given one is among the choices.
    fn choices(
        &mut self,
        state: &State<'a, A>,
        name: &'a Name,
        set: &'a Expr,
    ) -> Result<Vec<Value<'a, A>>> {
        let value = self.evaluate(&state.path.environment, set)?;
        let mut choices = self.elements(&value, set.place)?;
        if self.algebra.events().is_none() {
            return Err(Stop::Dynamic);
        }
        if &**name == "co" {
            let given = self.algebra.base("co", InputKind::Relation);
            choices.retain(|choice| *choice == given);
        }
        Ok(choices)
    }

    fn choose(
        &mut self,
        state: State<'a, A>,
        name: &'a Name,
        values: Vec<Value<'a, A>>,
        choices: usize,
    ) -> Result<()> {
        if choices >= MAX_CHOICES {
            let place = state.path.failed.unwrap_or_default();
            return Err(Problem::new(place, "too many choices in one model").into());
        }
        for value in values {
            let mut branch = state.copy();
            branch.path.environment.bind(name, value);
            self.go_on(branch, choices + 1)?;
        }
        Ok(())
    }
}
