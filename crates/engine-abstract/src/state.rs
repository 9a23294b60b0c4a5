//! Abstract states: what is known of the data at a point, and what follows after an edge.
//!
//! The domain is a product. Some places have a value that is known (explicit values); of some conditions
//! it is known whether they hold (Cartesian predicates: T. Ball, A. Podelski, S. Rajamani, Boolean and
//! Cartesian abstraction for model checking C programs, TACAS 2001). The [`Precision`] says which places
//! and which conditions. The two help one another: values are constants in the edges, so that a
//! predicate is asked about what is left.

use std::collections::BTreeMap;
use std::sync::Arc;

use parallax_program::{BinaryOp, Bits};
use parallax_solver::{Node as Operator, Term};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::block::{Blocks, Edge, Store};
use crate::control::Control;
use crate::graph::Node;
use crate::oracle::{Model, Oracle, Unanswered, evaluate};
use crate::places::PlaceId;

/// What abstract states track.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Precision {
    /// Places whose values are tracked.
    pub values: FxHashSet<PlaceId>,
    /// Conditions, none of which is the complement of another.
    pub predicates: Vec<Predicate>,
    /// How often a condition was added, or a position where one is tracked.
    pub changes: u32,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Predicate {
    pub term: Term,
    pub places: Vec<PlaceId>,
    /// Since which change it is tracked: by where threads stand, or everywhere.
    since: Since,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Since {
    Everywhere(u32),
    At(FxHashMap<u64, u32>),
}

impl Predicate {
    /// Since which change it is tracked where threads stand so, if it is.
    fn since(&self, position: u64) -> Option<u32> {
        match &self.since {
            Since::Everywhere(since) => Some(*since),
            Since::At(positions) => positions.get(&position).copied(),
        }
    }
}

impl Precision {
    /// Places whose sums or differences with this one are tracked in comparisons: where one of them has many values, so have
    /// the others, sooner or later.
    pub fn compared_with(&self, blocks: &Blocks<'_>, place: PlaceId) -> Vec<PlaceId> {
        use BinaryOp::{Add, Eq, Sle, Slt, Sub, Ule, Ult};
        let terms = &blocks.values.terms;
        let is_sum = |term: Term| matches!(terms.node(term), Operator::Binary(Add | Sub, ..));
        let compares = |term: Term| match terms.node(term) {
            Operator::Binary(Eq | Ult | Ule | Slt | Sle, left, right) => {
                is_sum(left) || is_sum(right)
            }
            _ => false,
        };
        let of = self
            .predicates
            .iter()
            .filter(|it| it.places.contains(&place) && it.places.len() <= 3 && compares(it.term));
        let mut all: Vec<PlaceId> =
            of.flat_map(|it| it.places.iter().copied()).filter(|it| *it != place).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    pub fn forget_predicates(&mut self) {
        self.predicates.clear();
    }

    /// Tracks a condition everywhere, or at one position alone. Returned is since which change it is tracked there;
    /// nothing if it cannot be.
    pub fn add(
        &mut self,
        blocks: &mut Blocks<'_>,
        term: Term,
        position: Option<u64>,
    ) -> Option<u32> {
        let terms = &mut blocks.values.terms;
        let no = terms.not(term);
        let next = self.changes + 1;
        let is_it = |it: &&mut Predicate| it.term == term || it.term == no;
        if let Some(known) = self.predicates.iter_mut().find(is_it) {
            let since = match (&mut known.since, position) {
                (Since::Everywhere(since), _) => *since,
                (Since::At(positions), Some(position)) => {
                    *positions.entry(position).or_insert(next)
                }
                (every, None) => {
                    *every = Since::Everywhere(next);
                    next
                }
            };
            self.changes = self.changes.max(since);
            return Some(since);
        }
        if terms.as_constant(term).is_some() {
            return None;
        }
        let support = terms.support(term);
        let places: Vec<PlaceId> = support.iter().filter_map(|it| blocks.places.of(*it)).collect();
        if places.len() != support.len() {
            return None;
        }
        let since = match position {
            None => Since::Everywhere(next),
            Some(position) => Since::At([(position, next)].into_iter().collect()),
        };
        self.predicates.push(Predicate { term, places, since });
        self.changes = next;
        Some(next)
    }
}

#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct State {
    pub values: Arc<BTreeMap<PlaceId, Bits>>,
    /// Predicates, by number, that are known to hold or not to hold.
    pub literals: Arc<Vec<Literal>>,
}

/// A predicate, by number, and whether it holds.
pub type Literal = (u32, bool);

impl State {
    /// Whether all that the other allows is all that this one allows, or more.
    pub fn includes(&self, other: &State) -> bool {
        let value = |(place, bits): (&PlaceId, &Bits)| other.values.get(place) == Some(bits);
        let literal = |it: &(u32, bool)| other.literals.binary_search(it).is_ok();
        self.values.iter().all(value) && self.literals.iter().all(literal)
    }

    /// The values as they are put into edges.
    pub fn store(&self, blocks: &mut Blocks<'_>) -> Store {
        let terms = &mut blocks.values.terms;
        self.values.iter().map(|(place, bits)| (*place, terms.constant(*bits))).collect()
    }

    /// What is known, as conditions on places.
    pub fn facts(&self, blocks: &mut Blocks<'_>, precision: &Precision) -> Vec<Term> {
        let mut facts = Vec::new();
        let mut known: FxHashMap<Term, Term> = FxHashMap::default();
        for (place, bits) in self.values.iter() {
            let constant = blocks.values.terms.constant(*bits);
            known.insert(blocks.places.term(*place), constant);
        }
        for (number, holds) in self.literals.iter() {
            let term = precision.predicates[*number as usize].term;
            let term = blocks.values.terms.substitute(term, &mut known);
            let term = if *holds { term } else { blocks.values.terms.not(term) };
            if !blocks.values.is_true(term) {
                facts.push(term);
            }
        }
        facts
    }
}

/// Predicates that are decided, and those that are not.
type Decided = (Vec<Literal>, Vec<(u32, Term)>);

/// What follows from states.
pub struct Transfer<'t, 'o, 'p> {
    pub blocks: &'t mut Blocks<'p>,
    pub oracle: &'t mut Oracle<'o>,
    pub precision: &'t Precision,
    pub most_values: u32,
    /// Whether states that differ in a predicate are apart.
    pub splits: bool,
}

/// Where an edge begins: the position of threads, and how often more was tracked before.
#[derive(Clone, Copy)]
struct Origin {
    position: u64,
    known: u32,
}

/// What is known before an edge, and the edge.
struct Before<'b> {
    state: &'b State,
    /// None at the beginning of the program.
    origin: Option<Origin>,
    control: &'b Control,
    /// All conditions: of the state, and of the edge.
    conditions: Vec<Term>,
    /// What is in the places that the edge writes, and values.
    after: FxHashMap<Term, Term>,
    written: FxHashSet<PlaceId>,
    /// The places that the conditions of the edge speak of.
    mentioned: FxHashSet<PlaceId>,
}

impl Transfer<'_, '_, '_> {
    /// The state that is known before the first step, given what threads start with.
    pub fn initial(
        &mut self,
        control: &Control,
        writes: &[(PlaceId, Term)],
    ) -> Result<Vec<State>, Unanswered> {
        let places: FxHashSet<PlaceId> = self
            .precision
            .values
            .iter()
            .copied()
            .chain(self.precision.predicates.iter().flat_map(|it| it.places.iter().copied()))
            .collect();
        let mut all: Vec<(PlaceId, Term)> = writes.to_vec();
        for place in places {
            if let Some(initial) = self.blocks.initial(place) {
                all.push((place, initial));
            }
        }
        let state = State::default();
        self.after((&state, None), control, &[], &[], &all)
    }

    /// The states after an edge.
    pub fn post(
        &mut self,
        from: &Node,
        facts: &[Term],
        edge: &Edge,
    ) -> Result<Vec<State>, Unanswered> {
        let origin = Origin { position: from.control.position(), known: from.known };
        self.after((&from.state, Some(origin)), &edge.control, facts, &edge.guard, &edge.writes)
    }

    fn after(
        &mut self,
        (state, origin): (&State, Option<Origin>),
        control: &Control,
        facts: &[Term],
        guard: &[Term],
        writes: &[(PlaceId, Term)],
    ) -> Result<Vec<State>, Unanswered> {
        let conditions: Vec<Term> = facts.iter().chain(guard).copied().collect();
        let Some(model) = self.oracle.model(&self.blocks.values.terms, &conditions)? else {
            return Ok(Vec::new());
        };
        let mut after: FxHashMap<Term, Term> = FxHashMap::default();
        for (place, bits) in state.values.iter() {
            let constant = self.blocks.values.terms.constant(*bits);
            after.insert(self.blocks.places.term(*place), constant);
        }
        for (place, term) in writes {
            after.insert(self.blocks.places.term(*place), *term);
        }
        let written = writes.iter().map(|(place, _)| *place).collect();
        let terms = &self.blocks.values.terms;
        let mentioned = guard.iter().flat_map(|term| terms.support(*term));
        let mentioned = mentioned.filter_map(|it| self.blocks.places.of(it)).collect();
        let before = Before { state, origin, control, conditions, after, written, mentioned };
        let mut models = vec![model];
        let mut states = Vec::new();
        for (values, more) in self.values(&before, &mut models)? {
            let mut conditions = before.conditions.clone();
            conditions.extend(&more);
            let known = (&conditions[..], more.is_empty());
            let (literals, open) = self.literals(&before, known, &values, &mut models)?;
            let values = Arc::new(values);
            for literals in self.apart(literals, open, conditions)? {
                states.push(State { values: values.clone(), literals: Arc::new(literals) });
            }
        }
        Ok(states)
    }

    /// The values after an edge: one combination, or several where places have few.
    #[allow(clippy::type_complexity)]
    fn values(
        &mut self,
        before: &Before<'_>,
        models: &mut Vec<Arc<Model>>,
    ) -> Result<Vec<(BTreeMap<PlaceId, Bits>, Vec<Term>)>, Unanswered> {
        let mut tracked: Vec<PlaceId> = self.precision.values.iter().copied().collect();
        tracked.sort_unstable();
        let mut all = vec![(BTreeMap::new(), Vec::new())];
        for place in tracked {
            if !self.blocks.exists(before.control, place) {
                continue;
            }
            let own = self.blocks.places.term(place);
            let term = before.after.get(&own).copied().unwrap_or(own);
            if let Some(bits) = self.blocks.values.constant_of(term) {
                all.iter_mut().for_each(|(values, _)| {
                    values.insert(place, bits);
                });
                continue;
            }
            let is_touched = before.written.contains(&place) || before.mentioned.contains(&place);
            if !is_touched {
                continue;
            }
            let mut next = Vec::new();
            for (values, more) in all {
                let found = self.few_values(before, &more, term, models)?;
                if found.is_empty() {
                    next.push((values, more));
                    continue;
                }
                for (bits, is_it) in found {
                    let (mut values, mut more) = (values.clone(), more.clone());
                    values.insert(place, bits);
                    more.push(is_it);
                    next.push((values, more));
                }
            }
            all = next;
        }
        Ok(all)
    }

    /// All values that a term may have, if they are few; else none.
    fn few_values(
        &mut self,
        before: &Before<'_>,
        more: &[Term],
        term: Term,
        models: &mut Vec<Arc<Model>>,
    ) -> Result<Vec<(Bits, Term)>, Unanswered> {
        let mut conditions = before.conditions.clone();
        conditions.extend(more);
        let mut found: Vec<(Bits, Term)> = Vec::new();
        if more.is_empty() && self.most_values == 1 {
            // Two models that differ say that there is more than one.
            let terms = &self.blocks.values.terms;
            let mut seen = models.iter().map(|model| evaluate(model, terms, term));
            let first = seen.next();
            if seen.any(|bits| Some(bits) != first) {
                return Ok(found);
            }
        }
        while let Some(model) = self.oracle.model(&self.blocks.values.terms, &conditions)? {
            if found.len() >= self.most_values as usize {
                models.push(model);
                return Ok(Vec::new());
            }
            let terms = &mut self.blocks.values.terms;
            let bits = evaluate(&model, terms, term);
            let constant = terms.constant(bits);
            let is_it = terms.equals(term, constant);
            let is_other = terms.not(is_it);
            conditions.push(is_other);
            found.push((bits, is_it));
        }
        Ok(found)
    }

    /// What is known of the predicates after an edge, and those that may hold or not, as they were before it.
    fn literals(
        &mut self,
        before: &Before<'_>,
        (conditions, models_fit): (&[Term], bool),
        values: &BTreeMap<PlaceId, Bits>,
        models: &mut Vec<Arc<Model>>,
    ) -> Result<Decided, Unanswered> {
        let (mut literals, mut open) = (Vec::new(), Vec::new());
        let mut after = before.after.clone();
        for (place, bits) in values {
            let constant = self.blocks.values.terms.constant(*bits);
            after.insert(self.blocks.places.term(*place), constant);
        }
        let position = before.control.position();
        for number in 0..self.precision.predicates.len() {
            let predicate = &self.precision.predicates[number];
            let exists = |place: &PlaceId| self.blocks.exists(before.control, *place);
            if !predicate.places.iter().all(exists) || predicate.since(position).is_none() {
                continue;
            }
            // It may follow from what else is known there.
            let was_tracked = before.origin.is_none_or(|origin| {
                predicate.since(origin.position).is_some_and(|since| since <= origin.known)
            });
            let number = number as u32;
            let is_written = predicate.places.iter().any(|it| before.written.contains(it));
            let is_mentioned = predicate.places.iter().any(|it| before.mentioned.contains(it));
            let known = before.state.literals.binary_search_by_key(&number, |it| it.0).ok();
            if let Some(known) = known.filter(|_| !is_written) {
                literals.push(before.state.literals[known]);
                continue;
            }
            let term = self.blocks.values.terms.substitute(predicate.term, &mut after);
            if let Some(bits) = self.blocks.values.constant_of(term) {
                literals.push((number, !bits.is_zero()));
                continue;
            }
            if was_tracked && !is_written && !is_mentioned {
                continue;
            }
            match self.decided(conditions, models_fit, term, models)? {
                Some(holds) => literals.push((number, holds)),
                None => open.push((number, term)),
            }
        }
        Ok((literals, open))
    }

    /// One state for each way in which the predicates that are open can hold together, where that is wanted and
    /// there are not too many; else one, which says nothing of them.
    fn apart(
        &mut self,
        literals: Vec<Literal>,
        open: Vec<(u32, Term)>,
        mut conditions: Vec<Term>,
    ) -> Result<Vec<Vec<Literal>>, Unanswered> {
        const MOST: usize = 64;
        if !self.splits || open.is_empty() {
            return Ok(vec![literals]);
        }
        let mut all = Vec::new();
        while let Some(model) = self.oracle.model(&self.blocks.values.terms, &conditions)? {
            if all.len() == MOST {
                return Ok(vec![literals]);
            }
            let mut together = literals.clone();
            let terms = &mut self.blocks.values.terms;
            let mut others = terms.falsity();
            for (number, term) in &open {
                let holds = !evaluate(&model, terms, *term).is_zero();
                together.push((*number, holds));
                let is_other = if holds { terms.not(*term) } else { *term };
                others = terms.or(others, is_other);
            }
            together.sort_unstable();
            all.push(together);
            conditions.push(others);
        }
        Ok(all)
    }

    /// Whether a condition follows from others, or its complement does.
    fn decided(
        &mut self,
        conditions: &[Term],
        models_fit: bool,
        term: Term,
        models: &mut Vec<Arc<Model>>,
    ) -> Result<Option<bool>, Unanswered> {
        let no = self.blocks.values.terms.not(term);
        let terms = &self.blocks.values.terms;
        let (mut may_hold, mut may_fail) = (false, false);
        for model in models.iter().filter(|_| models_fit) {
            match evaluate(model, terms, term).is_zero() {
                true => may_fail = true,
                false => may_hold = true,
            }
            if may_hold && may_fail {
                return Ok(None);
            }
        }
        for (is_known, side, answer) in [(may_fail, no, true), (may_hold, term, false)] {
            if is_known {
                continue;
            }
            let mut asked = conditions.to_vec();
            asked.push(side);
            match self.oracle.model(&self.blocks.values.terms, &asked)? {
                None => return Ok(Some(answer)),
                Some(model) if models_fit => models.push(model),
                Some(_) => {}
            }
        }
        Ok(None)
    }
}
