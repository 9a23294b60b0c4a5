//! Values of cat expressions.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::rc::Rc;

use super::algebra::Algebra;
use super::environment::Environment;
use super::primitives::Primitive;
use crate::syntax::ast::{Bindings, Function, Name, Procedure};

pub(crate) enum Value<'a, A: Algebra> {
    /// Empty, of whatever kind is wanted.
    Empty,
    /// Everything, of whatever kind is wanted.
    Universe,
    Set(A::Set),
    Relation(A::Relation),
    Event(usize),
    Pair(usize, usize),
    Tag(Name),
    /// A set of other things than events or pairs of events.
    Values(Rc<BTreeSet<Value<'a, A>>>),
    Tuple(Rc<[Value<'a, A>]>),
    Closure(Rc<Closure<'a, A>>),
    Primitive(Primitive),
    Procedure(&'a Procedure, Environment<'a, A>),
    /// Not known before there is an execution, or wrong and reported.
    Unknown,
}

pub(crate) struct Closure<'a, A: Algebra> {
    pub function: &'a Function,
    pub environment: Environment<'a, A>,
    /// The recursive definitions that the function is one of.
    pub siblings: Option<&'a Bindings>,
}

impl<A: Algebra> Clone for Value<'_, A> {
    fn clone(&self) -> Self {
        match self {
            Value::Empty => Value::Empty,
            Value::Universe => Value::Universe,
            Value::Set(set) => Value::Set(set.clone()),
            Value::Relation(relation) => Value::Relation(relation.clone()),
            Value::Event(event) => Value::Event(*event),
            Value::Pair(from, to) => Value::Pair(*from, *to),
            Value::Tag(tag) => Value::Tag(tag.clone()),
            Value::Values(values) => Value::Values(values.clone()),
            Value::Tuple(parts) => Value::Tuple(parts.clone()),
            Value::Closure(closure) => Value::Closure(closure.clone()),
            Value::Primitive(primitive) => Value::Primitive(*primitive),
            Value::Procedure(procedure, environment) => {
                Value::Procedure(procedure, environment.clone())
            }
            Value::Unknown => Value::Unknown,
        }
    }
}

impl<'a, A: Algebra> Value<'a, A> {
    /// What the value is, for messages.
    pub fn describe(&self) -> &'static str {
        match self {
            Value::Empty => "an empty set",
            Value::Universe => "the universe",
            Value::Set(_) => "a set of events",
            Value::Relation(_) => "a relation",
            Value::Event(_) => "an event",
            Value::Pair(..) => "a pair of events",
            Value::Tag(_) => "a tag",
            Value::Values(_) => "a set of other things than events",
            Value::Tuple(_) => "a tuple",
            Value::Closure(_) | Value::Primitive(_) => "a function",
            Value::Procedure(..) => "a procedure",
            Value::Unknown => "an unknown value",
        }
    }

    /// Position in the order of kinds; values of different kinds are never equal.
    fn rank(&self) -> u8 {
        match self {
            Value::Empty => 0,
            Value::Universe => 1,
            Value::Set(_) => 2,
            Value::Relation(_) => 3,
            Value::Event(_) => 4,
            Value::Pair(..) => 5,
            Value::Tag(_) => 6,
            Value::Values(_) => 7,
            Value::Tuple(_) => 8,
            Value::Closure(_) => 9,
            Value::Primitive(_) => 10,
            Value::Procedure(..) => 11,
            Value::Unknown => 12,
        }
    }

    /// Whether a set can hold the value.
    pub fn is_element(&self) -> bool {
        match self {
            Value::Tuple(parts) => parts.iter().all(Value::is_element),
            other => !matches!(other.rank(), 1 | 9..),
        }
    }

    /// Whether equality of the value is only known for a given execution.
    pub fn depends_on_events(&self) -> bool {
        match self {
            Value::Set(_) | Value::Relation(_) | Value::Event(_) | Value::Pair(..) => true,
            Value::Values(values) => values.iter().any(Value::depends_on_events),
            Value::Tuple(parts) => parts.iter().any(Value::depends_on_events),
            _ => false,
        }
    }

    pub fn values(elements: impl IntoIterator<Item = Value<'a, A>>) -> Value<'a, A> {
        Value::Values(Rc::new(elements.into_iter().collect()))
    }

    pub fn tuple(parts: Vec<Value<'a, A>>) -> Value<'a, A> {
        Value::Tuple(parts.into())
    }
}

impl<A: Algebra> Ord for Value<'_, A> {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Value::Set(a), Value::Set(b)) => a.cmp(b),
            (Value::Relation(a), Value::Relation(b)) => a.cmp(b),
            (Value::Event(a), Value::Event(b)) => a.cmp(b),
            (Value::Pair(a, b), Value::Pair(c, d)) => (a, b).cmp(&(c, d)),
            (Value::Tag(a), Value::Tag(b)) => a.cmp(b),
            (Value::Values(a), Value::Values(b)) => a.cmp(b),
            (Value::Tuple(a), Value::Tuple(b)) => a.cmp(b),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl<A: Algebra> PartialOrd for Value<'_, A> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<A: Algebra> PartialEq for Value<'_, A> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<A: Algebra> Eq for Value<'_, A> {}
