//! Evaluation of expressions.

use std::rc::Rc;

use super::algebra::{Algebra, Either, Operand};
use super::environment::Environment;
use super::value::{Closure, Value};
use super::{Interpreter, Result, Stop};
use crate::place::{Place, Problem};
use crate::syntax::ast::*;

pub(super) fn mismatch<T, A: Algebra>(
    place: Place,
    wanted: &str,
    found: &Value<'_, A>,
) -> Result<T> {
    if matches!(found, Value::Unknown) {
        return Err(Stop::Dynamic);
    }
    let message = format!("expected {wanted}, found {}", found.describe());
    Err(Problem::new(place, message).into())
}

/// Whether two expressions are the names `R` and `W`, as the program's events define them.
fn reads_and_writes<A: Algebra>(
    environment: &Environment<'_, A>,
    left: &Expr,
    right: &Expr,
) -> bool {
    let is = |expression: &Expr, wanted: &str| match &expression.kind {
        ExprKind::Name(name) => &**name == wanted && environment.get(wanted).is_none(),
        _ => false,
    };
    is(left, "R") && is(right, "W") || is(left, "W") && is(right, "R")
}

/// For models of C in which one event does both.
fn no_reads_that_write(place: Place) -> Problem {
    let message = "no event is in both R and W: a read-modify-write is two events here";
    Problem::new(place, message).with_help("'rmw' relates the read and the write of each")
}

impl<'a, A: Algebra> Interpreter<'a, A> {
    pub fn evaluate(
        &mut self,
        environment: &Environment<'a, A>,
        expression: &'a Expr,
    ) -> Result<Value<'a, A>> {
        self.nested(expression.place, |this| this.evaluate_kind(environment, expression))
    }

    fn evaluate_kind(
        &mut self,
        environment: &Environment<'a, A>,
        expression: &'a Expr,
    ) -> Result<Value<'a, A>> {
        let place = expression.place;
        match &expression.kind {
            ExprKind::Name(name) => self.lookup(environment, name, place),
            ExprKind::Tag(tag) => self.tag(tag, place),
            ExprKind::Zero => Ok(Value::Relation(self.algebra.no_pairs())),
            ExprKind::Universe => Ok(Value::Universe),
            ExprKind::SetLiteral(items) => self.set_literal(environment, items),
            ExprKind::Tuple(parts) => {
                let parts = self.evaluate_all(environment, parts)?;
                Ok(Value::tuple(parts.into_iter().map(|(_, v)| v).collect()))
            }
            ExprKind::Unary(op, operand) => {
                let value = self.evaluate(environment, operand)?;
                self.unary(*op, value, operand.place)
            }
            ExprKind::Binary(op, left, right) => {
                if *op == BinaryOp::Intersection && reads_and_writes(environment, left, right) {
                    return Err(no_reads_that_write(place).into());
                }
                let left = (left.place, self.evaluate(environment, left)?);
                let right = (right.place, self.evaluate(environment, right)?);
                self.binary(*op, left, right, place)
            }
            ExprKind::Union(parts) => {
                let parts = self.evaluate_all(environment, parts)?;
                self.union(parts)
            }
            ExprKind::Sequence(parts) => {
                let parts = self.evaluate_all(environment, parts)?;
                self.sequence(parts)
            }
            ExprKind::Apply(function, argument) => {
                let function_value = self.evaluate(environment, function)?;
                let argument = self.evaluate(environment, argument)?;
                self.apply(function_value, argument, place)
            }
            ExprKind::Function(function) => Ok(self.closure(environment, function, None)),
            ExprKind::Let { bindings, body } => {
                let inner = self.define(environment, bindings)?;
                self.evaluate(&inner, body)
            }
            ExprKind::MatchTag { .. } | ExprKind::MatchSet { .. } => {
                self.match_value(environment, expression)
            }
            ExprKind::Try(attempt, otherwise) => match self.evaluate(environment, attempt) {
                Err(Stop::Problem(_)) => self.evaluate(environment, otherwise),
                result => result,
            },
            ExprKind::If { condition, then, otherwise } => {
                let holds = self.condition(environment, condition, place)?;
                self.evaluate(environment, if holds { then } else { otherwise })
            }
        }
    }

    fn evaluate_all(
        &mut self,
        environment: &Environment<'a, A>,
        parts: &'a [Expr],
    ) -> Result<Vec<(Place, Value<'a, A>)>> {
        let values = parts.iter().map(|part| Ok((part.place, self.evaluate(environment, part)?)));
        values.collect()
    }

    fn tag(&mut self, tag: &Name, place: Place) -> Result<Value<'a, A>> {
        if self.tags.contains_key(tag) {
            return Ok(Value::Tag(tag.clone()));
        }
        if self.incomplete {
            return Err(Stop::Dynamic);
        }
        Err(Problem::new(place, format!("no enumeration has the tag ''{tag}'")).into())
    }

    pub fn closure(
        &mut self,
        environment: &Environment<'a, A>,
        function: &'a Function,
        siblings: Option<&'a Bindings>,
    ) -> Value<'a, A> {
        if self.algebra.events().is_none() {
            self.check_free_names(environment, function, siblings);
        }
        Value::Closure(Rc::new(Closure { function, environment: environment.clone(), siblings }))
    }

    pub fn apply(
        &mut self,
        function: Value<'a, A>,
        argument: Value<'a, A>,
        place: Place,
    ) -> Result<Value<'a, A>> {
        match function {
            Value::Closure(closure) => {
                let mut environment = closure.environment.clone();
                if let Some(siblings) = closure.siblings {
                    self.bind_functions(&mut environment, siblings);
                }
                let function = closure.function;
                self.bind(&mut environment, &function.parameters, argument, place)?;
                self.evaluate(&environment, &function.body)
            }
            Value::Primitive(primitive) => self.primitive(primitive, argument, place),
            other => mismatch(place, "a function", &other),
        }
    }

    /// Binds a pattern to a value, taking tuples and pairs apart.
    pub fn bind(
        &mut self,
        environment: &mut Environment<'a, A>,
        pattern: &Pattern,
        value: Value<'a, A>,
        place: Place,
    ) -> Result<()> {
        let slots = match pattern {
            Pattern::One(slot) => {
                if let Some(name) = slot {
                    environment.bind(name, value);
                }
                return Ok(());
            }
            Pattern::Tuple(slots) => slots,
        };
        let parts: Vec<Value<'a, A>> = match &value {
            Value::Tuple(parts) => parts.to_vec(),
            Value::Pair(from, to) => vec![Value::Event(*from), Value::Event(*to)],
            _ => vec![value],
        };
        if parts.len() != slots.len() {
            let message = format!("expected {} values, found {}", slots.len(), parts.len());
            return Err(Problem::new(place, message).into());
        }
        for (slot, part) in slots.iter().zip(parts) {
            if let Some(name) = slot {
                environment.bind(name, part);
            }
        }
        Ok(())
    }

    fn condition(
        &mut self,
        environment: &Environment<'a, A>,
        condition: &'a Condition,
        place: Place,
    ) -> Result<bool> {
        match condition {
            Condition::Variant(variant) => Ok(variant.holds(self.variants)),
            Condition::Equal(left, right) => {
                let left = self.evaluate(environment, left)?;
                let right = self.evaluate(environment, right)?;
                self.equal(left, right)
            }
            Condition::Subset(left, right) => {
                let left = (left.place, self.evaluate(environment, left)?);
                let right = (right.place, self.evaluate(environment, right)?);
                let rest = self.binary(BinaryOp::Difference, left, right, place)?;
                self.equal(rest, Value::Empty)
            }
            Condition::Member(element, set) => {
                let element = self.evaluate(environment, element)?;
                let set_value = self.evaluate(environment, set)?;
                self.is_member(element, set_value, set.place)
            }
        }
    }

    /// A set of events, where the value can be one.
    pub fn as_set(&mut self, value: &Value<'a, A>, place: Place) -> Result<A::Set> {
        match value {
            Value::Set(set) => Ok(set.clone()),
            Value::Empty => Ok(self.algebra.no_events()),
            Value::Universe => Ok(self.algebra.all_events()),
            Value::Event(event) => self.set_of(&[*event]),
            other => mismatch(place, "a set of events", other),
        }
    }

    /// A relation, where the value can be one.
    pub fn as_relation(&mut self, value: &Value<'a, A>, place: Place) -> Result<A::Relation> {
        match value {
            Value::Relation(relation) => Ok(relation.clone()),
            Value::Empty => Ok(self.algebra.no_pairs()),
            Value::Universe => Ok(self.algebra.all_pairs()),
            Value::Pair(from, to) => self.relation_of(&[(*from, *to)]),
            Value::Tuple(parts) => match &**parts {
                [Value::Event(from), Value::Event(to)] => self.relation_of(&[(*from, *to)]),
                _ => mismatch(place, "a relation", value),
            },
            other => mismatch(place, "a relation", other),
        }
    }

    /// A set of events or a relation; what could be both is a relation.
    pub fn as_operand(&mut self, value: &Value<'a, A>, place: Place) -> Result<Operand<A>> {
        match value {
            Value::Set(_) | Value::Event(_) => self.as_set(value, place).map(Either::Set),
            Value::Relation(_) | Value::Pair(..) | Value::Empty | Value::Universe => {
                self.as_relation(value, place).map(Either::Relation)
            }
            other => mismatch(place, "a set of events or a relation", other),
        }
    }

    fn unary(&mut self, op: UnaryOp, value: Value<'a, A>, place: Place) -> Result<Value<'a, A>> {
        match (op, &value) {
            (UnaryOp::Complement, _) => {
                let everything = (place, Value::Universe);
                return self.binary(BinaryOp::Difference, everything, (place, value), place);
            }
            (UnaryOp::Identity, Value::Empty) => return Ok(Value::Empty),
            (UnaryOp::Identity, _) => {
                let set = self.as_set(&value, place)?;
                return Ok(Value::Relation(self.algebra.identity(&set)));
            }
            (UnaryOp::Plus | UnaryOp::Inverse, Value::Empty) => return Ok(Value::Empty),
            (_, Value::Universe) => return Ok(Value::Universe),
            (UnaryOp::Inverse, Value::Pair(from, to)) => return Ok(Value::Pair(*to, *from)),
            _ => {}
        }
        let relation = self.as_relation(&value, place)?;
        Ok(Value::Relation(match op {
            UnaryOp::Plus => self.algebra.plus(&relation),
            UnaryOp::Star => {
                let closed = self.algebra.plus(&relation);
                self.algebra.optional(&closed)
            }
            UnaryOp::Optional => self.algebra.optional(&relation),
            _ => self.algebra.inverse(&relation),
        }))
    }

    fn sequence(&mut self, parts: Vec<(Place, Value<'a, A>)>) -> Result<Value<'a, A>> {
        let relations = parts.iter().map(|(place, value)| self.as_relation(value, *place));
        let relations = relations.collect::<Result<Vec<_>>>()?;
        if parts.iter().any(|(_, value)| matches!(value, Value::Empty)) {
            return Ok(Value::Empty);
        }
        Ok(Value::Relation(self.algebra.sequence(&relations)))
    }
}
