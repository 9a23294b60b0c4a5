//! Functions that the language cannot express.

use super::algebra::Algebra;
use super::expressions::mismatch;
use super::value::Value;
use super::{Interpreter, Result, Stop};
use crate::event_set::EventSet;
use crate::model::InputKind;
use crate::names;
use crate::place::{Place, Problem};
use crate::relation::Relation;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Primitive {
    Domain,
    Range,
    /// A set of events, divided by location.
    ClassesLoc,
    /// The classes of an equivalence.
    Classes,
    /// All total orders on a set that extend a relation.
    Linearisations,
    /// The events that carry a tag.
    TagToEvents,
    /// The relation that a scope's tag names.
    TagToScope,
    /// A relation that is meant to be read as its own closure.
    AsTransitive,
    Fail,
}

/// Orders that one call of `linearisations` may give.
const MAX_ORDERS: usize = 50_000;

pub(super) fn named(name: &str) -> Option<Primitive> {
    Some(match name {
        "domain" => Primitive::Domain,
        "range" => Primitive::Range,
        "classes-loc" => Primitive::ClassesLoc,
        "classes" => Primitive::Classes,
        "linearisations" => Primitive::Linearisations,
        "tag2events" => Primitive::TagToEvents,
        "tag2scope" => Primitive::TagToScope,
        "as_transitive" => Primitive::AsTransitive,
        "fail" => Primitive::Fail,
        _ => return None,
    })
}

impl<'a, A: Algebra> Interpreter<'a, A> {
    /// Asks for the base sets and relations that a primitive may come to use.
    pub(super) fn mention_for(&mut self, primitive: Primitive) {
        match primitive {
            Primitive::ClassesLoc => {
                self.algebra.base("loc", InputKind::Relation);
            }
            Primitive::TagToEvents => {
                let sets: Vec<String> = self.tags.keys().map(|t| names::set_of_tag(t)).collect();
                for set in sets {
                    self.algebra.base(&set, InputKind::Set);
                }
            }
            _ => {}
        }
    }

    pub(super) fn primitive(
        &mut self,
        primitive: Primitive,
        argument: Value<'a, A>,
        place: Place,
    ) -> Result<Value<'a, A>> {
        match primitive {
            Primitive::Domain | Primitive::Range => {
                if let Value::Empty | Value::Universe = argument {
                    return Ok(argument);
                }
                let relation = self.as_relation(&argument, place)?;
                Ok(Value::Set(match primitive {
                    Primitive::Domain => self.algebra.domain(&relation),
                    _ => self.algebra.range(&relation),
                }))
            }
            Primitive::AsTransitive => {
                let relation = self.as_relation(&argument, place)?;
                Ok(Value::Relation(self.algebra.plus(&relation)))
            }
            Primitive::Fail => Err(Problem::new(place, "the model calls 'fail' here").into()),
            Primitive::TagToEvents => match &argument {
                Value::Tag(tag) => {
                    let set = names::set_of_tag(tag);
                    Ok(self.algebra.base(&set, InputKind::Set))
                }
                other => mismatch(place, "a tag", other),
            },
            Primitive::TagToScope => {
                let message = "'tag2scope' cannot be used: scopes are not supported";
                Err(Problem::new(place, message).into())
            }
            Primitive::ClassesLoc => {
                let set = self.as_set(&argument, place)?;
                let Value::Relation(same) = self.algebra.base("loc", InputKind::Relation) else {
                    return Err(Stop::Dynamic);
                };
                self.classes(&set, &same)
            }
            Primitive::Classes => {
                let relation = self.as_relation(&argument, place)?;
                let set = self.algebra.domain(&relation);
                self.classes(&set, &relation)
            }
            Primitive::Linearisations => {
                let Value::Tuple(parts) = &argument else {
                    return mismatch(place, "a set and a relation", &argument);
                };
                let [set, relation] = &**parts else {
                    return mismatch(place, "a set and a relation", &argument);
                };
                let set = self.as_set(set, place)?;
                let relation = self.as_relation(relation, place)?;
                self.linearisations(&set, &relation, place)
            }
        }
    }

    /// The members of `set`, those together that `same` relates.
    fn classes(&mut self, set: &A::Set, same: &A::Relation) -> Result<Value<'a, A>> {
        let bits = self.algebra.bits_of_set(set).ok_or(Stop::Dynamic)?;
        let same = self.algebra.bits_of_relation(same).ok_or(Stop::Dynamic)?;
        let mut left = bits.clone();
        let mut classes = Vec::new();
        loop {
            let Some(first) = left.iter().next() else {
                break;
            };
            let mut class = EventSet::new(left.capacity());
            class.insert(first);
            for event in same.successors(first) {
                if left.contains(event) {
                    class.insert(event);
                }
            }
            left.minus_with(&class);
            classes.push(class);
        }
        let sets = classes.into_iter().map(|class| Value::Set(self.algebra.set_from_bits(class)));
        Ok(Value::values(sets))
    }

    fn linearisations(
        &mut self,
        set: &A::Set,
        relation: &A::Relation,
        place: Place,
    ) -> Result<Value<'a, A>> {
        let members = self.algebra.bits_of_set(set).ok_or(Stop::Dynamic)?;
        let bits = self.algebra.bits_of_relation(relation);
        let mut before = bits.ok_or(Stop::Dynamic)?.clone();
        before.restrict_domain(members);
        before.restrict_range(members);
        let mut orders = Vec::new();
        let mut placed = Vec::new();
        if !extend(&before, &mut members.clone(), &mut placed, &mut orders) {
            let message = format!("more than {MAX_ORDERS} linearisations");
            return Err(Problem::new(place, message).into());
        }
        let relations =
            orders.into_iter().map(|order| Value::Relation(self.algebra.relation_from_bits(order)));
        Ok(Value::values(relations))
    }
}

/// Adds all total orders that start with `placed` and go on with `left`. False if there are
/// too many.
fn extend(
    before: &Relation,
    left: &mut EventSet,
    placed: &mut Vec<usize>,
    orders: &mut Vec<Relation>,
) -> bool {
    if left.is_empty() {
        let mut order = Relation::new(before.events());
        for (position, from) in placed.iter().enumerate() {
            for to in placed.iter().skip(position + 1) {
                order.add(*from, *to);
            }
        }
        orders.push(order);
        return orders.len() <= MAX_ORDERS;
    }
    let members: Vec<usize> = left.iter().collect();
    for next in &members {
        if members.iter().any(|other| before.contains(*other, *next)) {
            continue;
        }
        left.remove(*next);
        placed.push(*next);
        let go_on = extend(before, left, placed, orders);
        placed.pop();
        left.insert(*next);
        if !go_on {
            return false;
        }
    }
    true
}
