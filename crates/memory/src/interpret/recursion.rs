//! Definitions: `let`, and `let rec` by iteration from nothing.
//!
//! As in herd7, one round computes the definitions in order, each from the values that are
//! newest at that point, and the iteration ends when no value gains anything. For monotone
//! definitions that is the least fixpoint.

use super::algebra::{Algebra, Either, Operand};
use super::environment::Environment;
use super::value::Value;
use super::{Interpreter, Result, Stop};
use crate::place::{Place, Problem};
use crate::syntax::ast::*;

impl<'a, A: Algebra> Interpreter<'a, A> {
    /// The environment after some definitions.
    pub fn define(
        &mut self,
        environment: &Environment<'a, A>,
        bindings: &'a Bindings,
    ) -> Result<Environment<'a, A>> {
        let mut inner = environment.clone();
        if !bindings.recursive {
            for binding in &bindings.bindings {
                let value = self.evaluate(environment, &binding.value)?;
                self.bind(&mut inner, &binding.pattern, value, binding.place)?;
            }
            return Ok(inner);
        }
        self.bind_functions(&mut inner, bindings);
        let values: Vec<&'a Binding> = value_bindings(bindings).collect();
        if values.is_empty() {
            return Ok(inner);
        }
        self.solve(environment, bindings, &values)
    }

    /// Binds the functions among recursive definitions.
    pub fn bind_functions(&mut self, environment: &mut Environment<'a, A>, bindings: &'a Bindings) {
        let outer = environment.clone();
        for binding in &bindings.bindings {
            if let (Pattern::One(Some(name)), ExprKind::Function(function)) =
                (&binding.pattern, &binding.value.kind)
            {
                let closure = self.closure(&outer, function, Some(bindings));
                environment.bind(name, closure);
            }
        }
    }

    fn solve(
        &mut self,
        environment: &Environment<'a, A>,
        bindings: &'a Bindings,
        values: &[&'a Binding],
    ) -> Result<Environment<'a, A>> {
        let place = values.iter().map(|b| b.place).reduce(Place::to).unwrap_or_default();
        let nothing = vec![Value::Empty; values.len()];
        let solution = match self.algebra.events() {
            Some(events) => self.iterate(environment, bindings, values, nothing, events, place)?,
            None => {
                let start = self.kinds(environment, bindings, values, nothing)?;
                self.tie(environment, bindings, values, start, place)?
            }
        };
        self.with_values(environment, bindings, values, &solution)
    }

    /// One round. The values given are of the last round.
    fn round(
        &mut self,
        environment: &Environment<'a, A>,
        bindings: &'a Bindings,
        values: &[&'a Binding],
        last: &[Value<'a, A>],
    ) -> Result<Vec<Value<'a, A>>> {
        let mut newest = last.to_vec();
        for (index, binding) in values.iter().enumerate() {
            let inner = self.with_values(environment, bindings, values, &newest)?;
            let value = self.evaluate(&inner, &binding.value)?;
            if let Some(slot) = newest.get_mut(index) {
                *slot = value;
            }
        }
        Ok(newest)
    }

    fn with_values(
        &mut self,
        environment: &Environment<'a, A>,
        bindings: &'a Bindings,
        values: &[&'a Binding],
        newest: &[Value<'a, A>],
    ) -> Result<Environment<'a, A>> {
        let mut inner = environment.clone();
        for (binding, value) in values.iter().zip(newest) {
            match (&binding.pattern, value) {
                (Pattern::Tuple(slots), Value::Empty) => {
                    for name in slots.iter().flatten() {
                        inner.bind(name, Value::Empty);
                    }
                }
                (pattern, value) => self.bind(&mut inner, pattern, value.clone(), binding.place)?,
            }
        }
        self.bind_functions(&mut inner, bindings);
        Ok(inner)
    }

    /// Rounds until every value that is going to be a set or a relation has shown which;
    /// then empty values of these kinds.
    fn kinds(
        &mut self,
        environment: &Environment<'a, A>,
        bindings: &'a Bindings,
        values: &[&'a Binding],
        nothing: Vec<Value<'a, A>>,
    ) -> Result<Vec<Value<'a, A>>> {
        let mut start = nothing;
        for _ in 0..=values.len() {
            let next = self.round(environment, bindings, values, &start)?;
            let next: Vec<Value<'a, A>> = values
                .iter()
                .zip(&next)
                .map(|(binding, value)| self.nothing_like(value, binding.place))
                .collect::<Result<_>>()?;
            let changed = next
                .iter()
                .zip(&start)
                .any(|(new, old)| matches!(old, Value::Empty) && !matches!(new, Value::Empty));
            start = next;
            if !changed {
                break;
            }
        }
        Ok(start)
    }

    fn nothing_like(&mut self, value: &Value<'a, A>, place: Place) -> Result<Value<'a, A>> {
        Ok(match value {
            Value::Empty => Value::Empty,
            Value::Set(_) | Value::Event(_) => Value::Set(self.algebra.no_events()),
            Value::Relation(_) | Value::Pair(..) | Value::Universe => {
                Value::Relation(self.algebra.no_pairs())
            }
            Value::Values(_) | Value::Tag(_) => Value::values([]),
            Value::Tuple(parts) => {
                let parts = parts.iter().map(|part| self.nothing_like(part, place));
                Value::tuple(parts.collect::<Result<_>>()?)
            }
            Value::Unknown => return Err(Stop::Dynamic),
            other => {
                let message = format!("{} cannot be defined by recursion", other.describe());
                return Err(Problem::new(place, message).into());
            }
        })
    }

    fn iterate(
        &mut self,
        environment: &Environment<'a, A>,
        bindings: &'a Bindings,
        values: &[&'a Binding],
        start: Vec<Value<'a, A>>,
        events: usize,
        place: Place,
    ) -> Result<Vec<Value<'a, A>>> {
        let mut last = start;
        for _ in 0..round_limit(events, values.len()) {
            let next = self.round(environment, bindings, values, &last)?;
            let mut gained = false;
            for (new, old) in next.iter().zip(&last) {
                let pair = ((place, new.clone()), (place, old.clone()));
                gained |= self.gains(pair.0, pair.1, place)?;
            }
            last = next;
            if !gained {
                return Ok(last);
            }
        }
        Err(unstable(place).into())
    }

    /// Whether the first value has something that the second has not.
    fn gains(
        &mut self,
        new: (Place, Value<'a, A>),
        old: (Place, Value<'a, A>),
        place: Place,
    ) -> Result<bool> {
        if let (Value::Tuple(new), Value::Tuple(old)) = (&new.1, &old.1) {
            for (new, old) in new.iter().zip(old.iter()) {
                if self.gains((place, new.clone()), (place, old.clone()), place)? {
                    return Ok(true);
                }
            }
            return Ok(false);
        }
        let rest = self.binary(BinaryOp::Difference, new, old, place)?;
        Ok(!self.equal(rest, Value::Empty)?)
    }

    /// With a symbolic algebra: one round on stand-ins gives the definitions.
    fn tie(
        &mut self,
        environment: &Environment<'a, A>,
        bindings: &'a Bindings,
        values: &[&'a Binding],
        start: Vec<Value<'a, A>>,
        place: Place,
    ) -> Result<Vec<Value<'a, A>>> {
        let mut operands = Vec::new();
        for (binding, value) in values.iter().zip(&start) {
            operands.push(match value {
                Value::Set(_) | Value::Relation(_) => self.as_operand(value, binding.place)?,
                Value::Empty => Either::Relation(self.algebra.no_pairs()),
                _ => return Err(Stop::Dynamic),
            });
        }
        let unknowns = self.algebra.unknowns(&operands).ok_or(Stop::Dynamic)?;
        let stand_ins: Vec<Value<'a, A>> = unknowns.iter().cloned().map(as_value).collect();
        let definitions = self.round(environment, bindings, values, &stand_ins)?;
        let mut bodies: Vec<Operand<A>> = Vec::new();
        for ((binding, definition), unknown) in values.iter().zip(&definitions).zip(&unknowns) {
            bodies.push(match unknown {
                Either::Set(_) => Either::Set(self.as_set(definition, binding.place)?),
                Either::Relation(_) => {
                    Either::Relation(self.as_relation(definition, binding.place)?)
                }
            });
        }
        let solution = self.algebra.tie(&unknowns, bodies, place);
        Ok(solution.into_iter().map(as_value).collect())
    }
}

/// Rounds after which a group of definitions is said not to settle. Monotone ones gain at
/// least one pair a round.
pub(crate) fn round_limit(events: usize, definitions: usize) -> usize {
    events * events * definitions + 16
}

pub(crate) fn unstable(place: Place) -> Problem {
    Problem::new(place, "this recursive definition does not settle on a value")
}

fn as_value<'a, A: Algebra>(operand: Operand<A>) -> Value<'a, A> {
    match operand {
        Either::Set(set) => Value::Set(set),
        Either::Relation(relation) => Value::Relation(relation),
    }
}

fn value_bindings(bindings: &Bindings) -> impl Iterator<Item = &Binding> {
    let is_function = |b: &&Binding| matches!(b.value.kind, ExprKind::Function(_));
    bindings.bindings.iter().filter(move |b| !is_function(b))
}
