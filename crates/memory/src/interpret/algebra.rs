//! What the interpreter asks of sets and relations.

use super::Value;
use crate::event_set::EventSet;
use crate::model::InputKind;
use crate::place::Place;
use crate::relation::Relation;
use crate::syntax::ast::Test;

/// A set or a relation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Either<S, R> {
    Set(S),
    Relation(R),
}

/// What a test says.
pub(crate) enum Answer {
    Holds,
    Fails,
    /// Nothing yet; the test was noted down.
    Noted,
}

pub(crate) type Operand<A> = Either<<A as Algebra>::Set, <A as Algebra>::Relation>;

pub(crate) trait Algebra: Sized {
    type Set: Clone + Ord;
    type Relation: Clone + Ord;

    /// The base set or relation of that name.
    fn base<'a>(&mut self, name: &str, kind: InputKind) -> Value<'a, Self>;

    fn no_events(&mut self) -> Self::Set;
    fn all_events(&mut self) -> Self::Set;
    fn set_union(&mut self, parts: &[Self::Set]) -> Self::Set;
    fn set_intersection(&mut self, a: &Self::Set, b: &Self::Set) -> Self::Set;
    fn set_difference(&mut self, a: &Self::Set, b: &Self::Set) -> Self::Set;
    fn domain(&mut self, relation: &Self::Relation) -> Self::Set;
    fn range(&mut self, relation: &Self::Relation) -> Self::Set;

    fn no_pairs(&mut self) -> Self::Relation;
    fn product(&mut self, from: &Self::Set, to: &Self::Set) -> Self::Relation;
    fn identity(&mut self, on: &Self::Set) -> Self::Relation;
    fn union(&mut self, parts: &[Self::Relation]) -> Self::Relation;
    fn sequence(&mut self, parts: &[Self::Relation]) -> Self::Relation;
    fn intersection(&mut self, a: &Self::Relation, b: &Self::Relation) -> Self::Relation;
    fn difference(&mut self, a: &Self::Relation, b: &Self::Relation) -> Self::Relation;
    fn inverse(&mut self, relation: &Self::Relation) -> Self::Relation;
    fn plus(&mut self, relation: &Self::Relation) -> Self::Relation;

    /// Whether more was made than any model needs.
    fn is_too_large(&self) -> bool {
        false
    }

    fn all_pairs(&mut self) -> Self::Relation {
        let all = self.all_events();
        self.product(&all, &all)
    }

    /// `relation?`
    fn optional(&mut self, relation: &Self::Relation) -> Self::Relation {
        let all = self.all_events();
        let identity = self.identity(&all);
        self.union(&[identity, relation.clone()])
    }

    /// The bits, where there are any to look at.
    fn bits_of_set<'s>(&self, set: &'s Self::Set) -> Option<&'s EventSet>;
    fn bits_of_relation<'r>(&self, relation: &'r Self::Relation) -> Option<&'r Relation>;

    /// From bits back; only asked for where bits were given out.
    fn set_from_bits(&mut self, bits: EventSet) -> Self::Set;
    fn relation_from_bits(&mut self, bits: Relation) -> Self::Relation;

    /// How many events there are, where that is known.
    fn events(&self) -> Option<usize>;

    /// Stand-ins for the values of a recursive group, of the kinds of `start`; none where
    /// the group's values are to be computed by iteration.
    fn unknowns(&mut self, _start: &[Operand<Self>]) -> Option<Vec<Operand<Self>>> {
        None
    }

    /// The values of a recursive group, from its definitions in terms of its stand-ins.
    fn tie(
        &mut self,
        _unknowns: &[Operand<Self>],
        definitions: Vec<Operand<Self>>,
        _place: Place,
    ) -> Vec<Operand<Self>> {
        definitions
    }

    /// A test of a known value; none where the value depends on the execution.
    fn test(&mut self, test: &Test, label: Option<&str>, subject: Option<&Operand<Self>>)
    -> Answer;
}
