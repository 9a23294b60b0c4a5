//! Operations that work on sets of any kind: events, pairs of events, and other things.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::algebra::{Algebra, Either};
use super::environment::Environment;
use super::expressions::mismatch;
use super::value::Value;
use super::{Interpreter, Result, Stop};
use crate::event_set::EventSet;
use crate::place::{Place, Problem};
use crate::relation::Relation;
use crate::syntax::ast::*;

/// What kind of set an operation is on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    Events,
    Pairs,
    Others,
}

impl<'a, A: Algebra> Interpreter<'a, A> {
    pub fn set_of(&mut self, events: &[usize]) -> Result<A::Set> {
        let mut bits = EventSet::new(self.algebra.events().ok_or(Stop::Dynamic)?);
        events.iter().for_each(|event| bits.insert(*event));
        Ok(self.algebra.set_from_bits(bits))
    }

    pub fn relation_of(&mut self, pairs: &[(usize, usize)]) -> Result<A::Relation> {
        let mut bits = Relation::new(self.algebra.events().ok_or(Stop::Dynamic)?);
        pairs.iter().for_each(|(from, to)| bits.add(*from, *to));
        Ok(self.algebra.relation_from_bits(bits))
    }

    /// The kind of set that all values can be; none where each can be any.
    fn sort(&self, values: &[&(Place, Value<'a, A>)]) -> Result<Option<Sort>> {
        let mut sort = None;
        for (place, value) in values {
            let found = match value {
                Value::Empty | Value::Universe => continue,
                Value::Set(_) | Value::Event(_) => Sort::Events,
                Value::Relation(_) | Value::Pair(..) => Sort::Pairs,
                Value::Tag(_) | Value::Values(_) => Sort::Others,
                other => return mismatch(*place, "a set or a relation", other),
            };
            match sort {
                Some(Sort::Events) if found != Sort::Events => {
                    return mismatch(*place, "a set of events", value);
                }
                Some(Sort::Pairs) if found != Sort::Pairs => {
                    return mismatch(*place, "a relation", value);
                }
                Some(Sort::Others) if found != Sort::Others => {
                    return mismatch(*place, "a set of other things than events", value);
                }
                _ => sort = Some(found),
            }
        }
        Ok(sort)
    }

    /// A set of other things than events. Tags count as the sets that hold just them.
    fn as_values(
        &mut self,
        value: &Value<'a, A>,
        place: Place,
    ) -> Result<Rc<BTreeSet<Value<'a, A>>>> {
        match value {
            Value::Values(values) => Ok(values.clone()),
            Value::Tag(_) => Ok(Rc::new([value.clone()].into())),
            Value::Empty => Ok(Rc::default()),
            other => mismatch(place, "a set of other things than events", other),
        }
    }

    pub fn union(&mut self, parts: Vec<(Place, Value<'a, A>)>) -> Result<Value<'a, A>> {
        let sort = self.sort(&parts.iter().collect::<Vec<_>>())?;
        if parts.iter().any(|(_, value)| matches!(value, Value::Universe)) {
            return Ok(Value::Universe);
        }
        match sort {
            None => Ok(Value::Empty),
            Some(Sort::Events) => {
                let sets = parts.iter().map(|(place, value)| self.as_set(value, *place));
                let sets = sets.collect::<Result<Vec<_>>>()?;
                Ok(Value::Set(self.algebra.set_union(&sets)))
            }
            Some(Sort::Pairs) => {
                let parts = parts.iter().map(|(place, value)| self.as_relation(value, *place));
                let relations = parts.collect::<Result<Vec<_>>>()?;
                Ok(Value::Relation(self.algebra.union(&relations)))
            }
            Some(Sort::Others) => {
                let mut all = BTreeSet::new();
                for (place, value) in &parts {
                    all.extend(self.as_values(value, *place)?.iter().cloned());
                }
                Ok(Value::values(all))
            }
        }
    }

    pub fn binary(
        &mut self,
        op: BinaryOp,
        left: (Place, Value<'a, A>),
        right: (Place, Value<'a, A>),
        place: Place,
    ) -> Result<Value<'a, A>> {
        match op {
            BinaryOp::Intersection => self.intersection(left, right),
            BinaryOp::Difference => self.difference(left, right),
            BinaryOp::Insert => self.insert(left, right, place),
            BinaryOp::Product => {
                let from = self.as_set(&left.1, left.0)?;
                let to = self.as_set(&right.1, right.0)?;
                Ok(Value::Relation(self.algebra.product(&from, &to)))
            }
        }
    }

    fn intersection(
        &mut self,
        left: (Place, Value<'a, A>),
        right: (Place, Value<'a, A>),
    ) -> Result<Value<'a, A>> {
        let sort = self.sort(&[&left, &right])?;
        match (&left.1, &right.1) {
            (Value::Universe, _) => return Ok(right.1),
            (_, Value::Universe) => return Ok(left.1),
            (Value::Empty, _) | (_, Value::Empty) => return Ok(Value::Empty),
            _ => {}
        }
        match sort {
            Some(Sort::Events) => {
                let a = self.as_set(&left.1, left.0)?;
                let b = self.as_set(&right.1, right.0)?;
                Ok(Value::Set(self.algebra.set_intersection(&a, &b)))
            }
            Some(Sort::Pairs) => {
                let a = self.as_relation(&left.1, left.0)?;
                let b = self.as_relation(&right.1, right.0)?;
                Ok(Value::Relation(self.algebra.intersection(&a, &b)))
            }
            _ => {
                let a = self.as_values(&left.1, left.0)?;
                let b = self.as_values(&right.1, right.0)?;
                Ok(Value::values(a.intersection(&b).cloned()))
            }
        }
    }

    fn difference(
        &mut self,
        left: (Place, Value<'a, A>),
        right: (Place, Value<'a, A>),
    ) -> Result<Value<'a, A>> {
        let sort = self.sort(&[&left, &right])?;
        match (&left.1, &right.1) {
            (_, Value::Universe) | (Value::Empty, _) => return Ok(Value::Empty),
            (_, Value::Empty) => return Ok(left.1),
            _ => {}
        }
        match sort {
            Some(Sort::Events) => {
                let a = self.as_set(&left.1, left.0)?;
                let b = self.as_set(&right.1, right.0)?;
                Ok(Value::Set(self.algebra.set_difference(&a, &b)))
            }
            Some(Sort::Pairs) => {
                let a = self.as_relation(&left.1, left.0)?;
                let b = self.as_relation(&right.1, right.0)?;
                Ok(Value::Relation(self.algebra.difference(&a, &b)))
            }
            _ => {
                let b = self.as_values(&right.1, right.0)?;
                let a = match left.1 {
                    Value::Universe => self.all_tags_like(&b, left.0)?,
                    ref other => self.as_values(other, left.0)?,
                };
                Ok(Value::values(a.difference(&b).cloned()))
            }
        }
    }

    /// All tags of the enumeration that the given tags are from.
    fn all_tags_like(
        &self,
        tags: &BTreeSet<Value<'a, A>>,
        place: Place,
    ) -> Result<Rc<BTreeSet<Value<'a, A>>>> {
        let enumeration = tags.iter().find_map(|value| match value {
            Value::Tag(tag) => self.tags.get(tag),
            _ => None,
        });
        let Some(enumeration) = enumeration else {
            let message = "there is no universe of such things";
            return Err(Problem::new(place, message).into());
        };
        let same = self.tags.iter().filter(|(_, other)| *other == enumeration);
        Ok(Rc::new(same.map(|(tag, _)| Value::Tag(tag.clone())).collect()))
    }

    /// `e ++ s`
    fn insert(
        &mut self,
        left: (Place, Value<'a, A>),
        right: (Place, Value<'a, A>),
        place: Place,
    ) -> Result<Value<'a, A>> {
        match (&left.1, &right.1) {
            (_, Value::Universe) => Ok(Value::Universe),
            (Value::Event(_), Value::Empty | Value::Set(_)) => self.union(vec![left, right]),
            (_, Value::Set(_)) => mismatch(left.0, "an event", &left.1),
            (Value::Pair(..), Value::Empty | Value::Relation(_)) => self.union(vec![left, right]),
            (_, Value::Relation(_)) => {
                let Value::Tuple(_) = left.1 else {
                    return mismatch(left.0, "a pair of events", &left.1);
                };
                let pair = Value::Relation(self.as_relation(&left.1, left.0)?);
                self.union(vec![(left.0, pair), right])
            }
            (_, Value::Empty | Value::Values(_)) => {
                let mut values = (*self.as_values(&right.1, right.0)?).clone();
                values.insert(self.element(left.1, values.first(), left.0)?);
                Ok(Value::values(values))
            }
            (_, other) => mismatch(place, "a set", other),
        }
    }

    /// A value that is going to be in a set beside `other`.
    fn element(
        &mut self,
        value: Value<'a, A>,
        other: Option<&Value<'a, A>>,
        place: Place,
    ) -> Result<Value<'a, A>> {
        if !value.is_element() {
            return mismatch(place, "something that sets can hold", &value);
        }
        let value = match (&value, other) {
            (Value::Empty, Some(Value::Relation(_))) => Value::Relation(self.algebra.no_pairs()),
            (Value::Empty, Some(Value::Set(_))) => Value::Set(self.algebra.no_events()),
            _ => value,
        };
        if self.algebra.events().is_none() && value.depends_on_events() {
            return Err(Stop::Dynamic);
        }
        Ok(value)
    }

    pub fn set_literal(
        &mut self,
        environment: &Environment<'a, A>,
        items: &'a [Expr],
    ) -> Result<Value<'a, A>> {
        let mut set = Value::Empty;
        for item in items.iter().rev() {
            let value = self.evaluate(environment, item)?;
            let place = item.place;
            set = self.insert((place, value), (place, set), place)?;
        }
        Ok(set)
    }

    /// The elements of a set of any kind, in order.
    pub fn elements(&mut self, set: &Value<'a, A>, place: Place) -> Result<Vec<Value<'a, A>>> {
        match set {
            Value::Empty => Ok(Vec::new()),
            Value::Set(set) => {
                let bits = self.algebra.bits_of_set(set).ok_or(Stop::Dynamic)?;
                Ok(bits.iter().map(Value::Event).collect())
            }
            Value::Relation(relation) => {
                let bits = self.algebra.bits_of_relation(relation);
                let bits = bits.ok_or(Stop::Dynamic)?;
                Ok(bits.iter().map(|(from, to)| Value::Pair(from, to)).collect())
            }
            Value::Values(values) => Ok(values.iter().cloned().collect()),
            Value::Tag(_) => Ok(vec![set.clone()]),
            other => mismatch(place, "a set", other),
        }
    }

    /// The set of some elements of `like`, of its kind.
    fn subset(&mut self, like: &Value<'a, A>, elements: &[Value<'a, A>]) -> Result<Value<'a, A>> {
        match like {
            Value::Set(_) => {
                let events = elements.iter().filter_map(|element| match element {
                    Value::Event(event) => Some(*event),
                    _ => None,
                });
                let events: Vec<usize> = events.collect();
                self.set_of(&events).map(Value::Set)
            }
            Value::Relation(_) => {
                let pairs = elements.iter().filter_map(|element| match element {
                    Value::Pair(from, to) => Some((*from, *to)),
                    _ => None,
                });
                let pairs: Vec<(usize, usize)> = pairs.collect();
                self.relation_of(&pairs).map(Value::Relation)
            }
            _ => Ok(Value::values(elements.iter().cloned())),
        }
    }

    pub fn match_value(
        &mut self,
        environment: &Environment<'a, A>,
        expression: &'a Expr,
    ) -> Result<Value<'a, A>> {
        match &expression.kind {
            ExprKind::MatchTag { subject, clauses, default } => {
                let value = self.evaluate(environment, subject)?;
                let Value::Tag(tag) = &value else {
                    return mismatch(subject.place, "a tag", &value);
                };
                let clause = clauses.iter().find(|(name, _)| name == tag);
                match clause.map(|(_, body)| body).or(default.as_deref()) {
                    Some(body) => self.evaluate(environment, body),
                    None => Err(no_clause(tag, expression.place)),
                }
            }
            ExprKind::MatchSet { subject, empty, split, otherwise } => {
                let value = self.evaluate(environment, subject)?;
                let elements = self.elements(&value, subject.place)?;
                if elements.is_empty() {
                    return self.evaluate(environment, empty);
                }
                let inner = self.split(environment, &value, &elements, split)?;
                self.evaluate(&inner, otherwise)
            }
            _ => self.evaluate(environment, expression),
        }
    }

    fn split(
        &mut self,
        environment: &Environment<'a, A>,
        set: &Value<'a, A>,
        elements: &[Value<'a, A>],
        split: &Split,
    ) -> Result<Environment<'a, A>> {
        let (before, element, after, middle) = match split {
            Split::First { element, rest } => (&None, element, rest, 0),
            Split::Middle { before, element, after } => {
                (before, element, after, elements.len() / 2)
            }
        };
        let (head, tail) = elements.split_at(middle);
        let mut inner = environment.clone();
        if let (Some(name), Some(value)) = (element, tail.first()) {
            inner.bind(name, value.clone());
        }
        for (slot, part) in [(before, head), (after, tail.get(1..).unwrap_or(&[]))] {
            if let Some(name) = slot {
                inner.bind(name, self.subset(set, part)?);
            }
        }
        Ok(inner)
    }

    pub fn equal(&mut self, left: Value<'a, A>, right: Value<'a, A>) -> Result<bool> {
        if matches!(left, Value::Unknown) || matches!(right, Value::Unknown) {
            return Err(Stop::Dynamic);
        }
        let (left, right) = (self.comparable(left)?, self.comparable(right)?);
        if self.algebra.events().is_none()
            && (left.depends_on_events() || right.depends_on_events())
        {
            return Err(Stop::Dynamic);
        }
        Ok(left == right)
    }

    /// Empty sets of every kind are equal.
    fn comparable(&mut self, value: Value<'a, A>) -> Result<Value<'a, A>> {
        let empty = match &value {
            Value::Set(set) => self.algebra.bits_of_set(set).is_some_and(EventSet::is_empty),
            Value::Relation(relation) => {
                let bits = self.algebra.bits_of_relation(relation);
                bits.is_some_and(Relation::is_empty)
            }
            Value::Values(values) => values.is_empty(),
            _ => false,
        };
        Ok(if empty { Value::Empty } else { value })
    }

    pub fn is_member(
        &mut self,
        element: Value<'a, A>,
        set: Value<'a, A>,
        place: Place,
    ) -> Result<bool> {
        let element = match self.as_operand(&element, place) {
            Ok(Either::Relation(relation)) if matches!(element, Value::Tuple(_)) => {
                match self.elements(&Value::Relation(relation), place)?.pop() {
                    Some(pair) => pair,
                    None => return Ok(false),
                }
            }
            _ => element,
        };
        if matches!(set, Value::Universe) {
            return Ok(true);
        }
        Ok(self.elements(&set, place)?.contains(&element))
    }
}

pub(super) fn no_clause(tag: &str, place: Place) -> Stop {
    Problem::new(place, format!("no clause for the tag ''{tag}'")).into()
}
