//! Relations between counters, guessed.
//!
//! Where refinement follows a loop round by round, weakest preconditions speak of one more round each time, and never of what
//! the rounds have in common. What counters have in common shows on the path, where they are numbers: sums and differences of two or three of them that
//! are the same wherever all of these are there (M. Ernst, J. Cockrell, W. Griswold, D. Notkin, Dynamically discovering likely program
//! invariants, ICSE 1999). Of a counter that is compared with a bound, the same is said of the bound, as it may be
//! there where the counter is no more; and of what equals the counter, what is asked of the counter. All of that
//! is tracked from then on. What is not so costs time, and nothing else.

use parallax_program::{BinaryOp, Bits};
use parallax_solver::{Node, Term};
use rustc_hash::FxHashMap;

use super::{Path, Refinement};
use crate::places::PlaceId;

/// Counters that are related, and conditions that are tracked because of them.
const MOST_COUNTERS: usize = 8;
const MOST_LEARNED: usize = 40;

/// A sum of places, some of them taken away, that is a number.
struct Relation {
    places: Vec<(PlaceId, bool)>,
    sum: Bits,
}

impl Refinement<'_, '_, '_> {
    /// Relations between counters of the path, as conditions, and these counters.
    pub fn relations_on(&mut self, path: &Path) -> (Vec<Term>, Vec<PlaceId>) {
        let counters = self.counters(path);
        let relations = self.relations(path, &counters);
        let bounds = self.bounds(&counters);
        let mut all: Vec<Term> = Vec::new();
        for relation in &relations {
            all.extend(self.condition(relation, &FxHashMap::default()));
        }
        let number: FxHashMap<Term, PlaceId> =
            counters.iter().map(|place| (self.blocks.places.term(*place), *place)).collect();
        for (condition, counter, bound) in bounds {
            all.push(condition);
            let reversed =
                self.blocks.values.terms.binary(condition_op(self, condition), bound, counter);
            all.push(reversed);
            for relation in &relations {
                let is_in = relation.places.iter().any(|(it, _)| number.get(&counter) == Some(it));
                if !is_in {
                    continue;
                }
                let instead: FxHashMap<Term, Term> = [(counter, bound)].into_iter().collect();
                all.extend(self.condition(relation, &instead));
                let Some(equal) = self.equal_to(relation, counter) else { continue };
                for condition in [condition, reversed] {
                    let mut instead: FxHashMap<Term, Term> =
                        [(counter, equal)].into_iter().collect();
                    all.push(self.blocks.values.terms.substitute(condition, &mut instead));
                }
            }
        }
        all.retain(|term| self.blocks.values.constant_of(*term).is_none());
        all.truncate(MOST_LEARNED);
        let is_related = |place: &PlaceId| {
            relations.iter().any(|it| it.places.iter().any(|(of, _)| of == place))
        };
        (all, counters.into_iter().filter(is_related).collect())
    }

    /// Places that conditions speak of and that have at least three numbers on the path.
    fn counters(&self, path: &Path) -> Vec<PlaceId> {
        let mut all: Vec<PlaceId> = Vec::new();
        for predicate in &self.precision.predicates {
            all.extend(predicate.places.iter().copied());
        }
        // Of those that the path counts, too, some may never be asked about.
        for step in &path.steps {
            all.extend(step.writes.iter().map(|(place, _)| *place));
        }
        let mut seen = rustc_hash::FxHashSet::default();
        all.retain(|place| seen.insert(*place));
        let is_counter = |place: &PlaceId| {
            let own = self.blocks.places.term(*place);
            let mut numbers: Vec<Bits> = Vec::new();
            for store in &path.stores {
                let value = store.get(&own).and_then(|it| self.blocks.values.constant_of(*it));
                numbers.extend(value.filter(|it| !numbers.contains(it)));
            }
            numbers.len() >= 3 && numbers[0].width() >= 8
        };
        all.into_iter().filter(is_counter).take(MOST_COUNTERS).collect()
    }

    /// The number of a place before each step, where it is there and is one.
    fn numbers(&self, path: &Path, place: PlaceId) -> Vec<Option<Bits>> {
        let own = self.blocks.places.term(place);
        let at = |number: usize| {
            let control = &path.edges.get(number.checked_sub(1)?)?.control;
            let is_there = self.blocks.exists(control, place);
            let value = path.stores[number].get(&own).filter(|_| is_there)?;
            self.blocks.values.constant_of(*value)
        };
        (0..path.stores.len()).map(at).collect()
    }

    /// Sums and differences of two or three counters that do not change.
    fn relations(&self, path: &Path, counters: &[PlaceId]) -> Vec<Relation> {
        let numbers: Vec<Vec<Option<Bits>>> =
            counters.iter().map(|place| self.numbers(path, *place)).collect();
        let mut all = Vec::new();
        let count = counters.len();
        for first in 0..count {
            for second in first + 1..count {
                for is_less in [true, false] {
                    all.extend(unchanged(counters, &numbers, &[(first, false), (second, is_less)]));
                }
            }
        }
        if !all.is_empty() {
            return all;
        }
        for first in 0..count {
            for second in first + 1..count {
                for third in second + 1..count {
                    for (one, other) in [(true, true), (true, false), (false, true), (false, false)]
                    {
                        let of = [(first, false), (second, one), (third, other)];
                        all.extend(unchanged(counters, &numbers, &of));
                    }
                }
            }
        }
        all
    }

    /// Conditions that compare a counter with something that is none: the condition, the counter and its bound.
    fn bounds(&self, counters: &[PlaceId]) -> Vec<(Term, Term, Term)> {
        let mut all = Vec::new();
        for predicate in &self.precision.predicates {
            let mut atoms = Vec::new();
            self.atoms(predicate.term, &mut atoms);
            for atom in atoms {
                use BinaryOp::{Sle, Slt, Ule, Ult};
                let Node::Binary(Ult | Ule | Slt | Sle, left, right) =
                    self.blocks.values.terms.node(atom)
                else {
                    continue;
                };
                let is_counter = |term: Term| {
                    self.blocks.places.of(term).is_some_and(|place| counters.contains(&place))
                };
                let found = match (is_counter(left), is_counter(right)) {
                    (true, false) => (atom, left, right),
                    (false, true) => (atom, right, left),
                    _ => continue,
                };
                if self.size(found.2) == 1 && !all.contains(&found) {
                    all.push(found);
                }
            }
        }
        all
    }

    /// That a relation holds, with other terms in the places of some.
    fn condition(&mut self, of: &Relation, instead: &FxHashMap<Term, Term>) -> Option<Term> {
        let mut left: Option<Term> = None;
        let terms = &mut self.blocks.values.terms;
        let mut right = terms.constant(of.sum);
        for (place, is_less) in &of.places {
            let own = self.blocks.places.term(*place);
            let term = instead.get(&own).copied().unwrap_or(own);
            if terms.width(term) != of.sum.width() {
                return None;
            }
            match (is_less, left) {
                (true, _) => right = terms.binary(BinaryOp::Add, right, term),
                (false, None) => left = Some(term),
                (false, Some(before)) => left = Some(terms.binary(BinaryOp::Add, before, term)),
            }
        }
        left.map(|left| terms.equals(left, right))
    }

    /// What a counter equals by a relation of two.
    fn equal_to(&mut self, of: &Relation, counter: Term) -> Option<Term> {
        let [(one, _), (other, true)] = of.places[..] else { return None };
        let terms = &mut self.blocks.values.terms;
        let (one, other) = (self.blocks.places.term(one), self.blocks.places.term(other));
        let sum = terms.constant(of.sum);
        match () {
            () if counter == one => Some(terms.binary(BinaryOp::Add, other, sum)),
            () if counter == other => Some(terms.binary(BinaryOp::Sub, one, sum)),
            () => None,
        }
    }
}

/// The comparison that a condition is.
fn condition_op(of: &Refinement<'_, '_, '_>, condition: Term) -> BinaryOp {
    match of.blocks.values.terms.node(condition) {
        Node::Binary(op, ..) => op,
        _ => BinaryOp::Ult,
    }
}

/// The sum of some counters, where it is the same wherever all of them are numbers, at three places or more.
fn unchanged(
    counters: &[PlaceId],
    numbers: &[Vec<Option<Bits>>],
    of: &[(usize, bool)],
) -> Option<Relation> {
    let width = numbers[of[0].0].iter().flatten().next()?.width();
    let mut found: Option<Bits> = None;
    let mut times = 0;
    let mut values: Vec<Vec<Bits>> = vec![Vec::new(); of.len()];
    for at in 0..numbers[of[0].0].len() {
        let here: Option<Vec<Bits>> = of.iter().map(|(counter, _)| numbers[*counter][at]).collect();
        let Some(here) = here else { continue };
        if here.iter().any(|bits| bits.width() != width) {
            return None;
        }
        let mut sum = 0_u128;
        for ((bits, (_, is_less)), values) in here.iter().zip(of).zip(&mut values) {
            let number = bits.unsigned();
            sum = if *is_less { sum.wrapping_sub(number) } else { sum.wrapping_add(number) };
            if !values.contains(bits) {
                values.push(*bits);
            }
        }
        let sum = Bits::new(width, sum);
        if found.is_some_and(|before| before != sum) {
            return None;
        }
        (found, times) = (Some(sum), times + 1);
    }
    // Each of them changes while the others are there.
    let is_enough = times >= 3 && values.iter().all(|values| values.len() >= 2);
    let places = of.iter().map(|(counter, is_less)| (counters[*counter], *is_less)).collect();
    found.filter(|_| is_enough).map(|sum| Relation { places, sum })
}
