//! The relations of a model as conditions on the order of writes, for whoever can solve such.
//!
//! Each relation that the axioms look at is written out from those that it is made of, pair by pair: a pair is
//! there, or not, or there under a condition. All but the order of writes is known, and what depends on
//! that alone needs no conditions (J. Alglave, D. Kroening, M. Tautschnig, Partial orders for efficient bounded model
//! checking of concurrent software, CAV 2013, has executions as such formulas; L. Bajczi, Application of CEGAR to
//! concurrent programs, 2021, asks for them inside of abstraction refinement).

use std::collections::BTreeMap;

use parallax_memory::{Base, BaseRelation, Formula, Model, Node, NodeId, Shape, TestKind};
use rustc_hash::FxHashMap;

use super::view::View;
use super::{Consistency, Judgement};
use crate::declarative::execution::Execution;

/// Who makes conditions, and solves them.
pub trait Logic {
    /// A condition.
    type Truth: Copy + PartialEq;

    fn constant(is_true: bool) -> Self::Truth;
    fn all(&mut self, of: &[Self::Truth]) -> Self::Truth;
    fn any(&mut self, of: &[Self::Truth]) -> Self::Truth;
    fn opposite(&mut self, of: Self::Truth) -> Self::Truth;

    /// A pair of a relation of the model, by the condition under which it is there.
    fn pair(&mut self, _relation: NodeId, _pair: (usize, usize), when: Self::Truth) -> Self::Truth {
        when
    }

    /// For any two of some writes a condition by which the first one comes first, so that they have a total order.
    fn total_order(&mut self, writes: &[usize]) -> Pairs<Self::Truth>;

    fn require(&mut self, condition: Self::Truth);

    /// Requires that there is no cycle.
    fn acyclic(&mut self, events: usize, edges: &Pairs<Self::Truth>);

    /// Whether all that is required can be; None if that was not found out.
    fn solve(&mut self) -> Option<bool>;

    /// After that: whether one write comes before another of its location.
    fn is_first(&self, write: usize, other: usize) -> bool;
}

/// A relation: the pairs that may be there. A set is the relation of its members with themselves.
pub type Pairs<T> = BTreeMap<(usize, usize), T>;

/// A model, and a logic for each question.
pub struct Conditions<'m, M> {
    model: &'m Model,
    make: M,
}

impl<'m, L: Logic, M: Fn() -> L> Conditions<'m, M> {
    pub fn new(model: &'m Model, make: M) -> Conditions<'m, M> {
        Conditions { model, make }
    }
}

impl<L: Logic, M: Fn() -> L> Consistency for Conditions<'_, M> {
    fn judge(&mut self, execution: &Execution) -> Judgement {
        let view = View::new(execution);
        let Ok(formula) = self.model.formula() else { return Judgement::Open };
        let mut logic = (self.make)();
        let mut relations =
            Relations { formula, view: &view, logic: &mut logic, known: FxHashMap::default() };
        if relations.require(execution).is_none() {
            return Judgement::Open;
        }
        match logic.solve() {
            Some(true) => {
                Judgement::Allowed(view.order(|write, other| logic.is_first(write, other)))
            }
            Some(false) => Judgement::Forbidden,
            None => Judgement::Open,
        }
    }
}

struct Relations<'a, 'm, L: Logic> {
    formula: Formula<'m>,
    view: &'a View<'a>,
    logic: &'a mut L,
    known: FxHashMap<NodeId, Pairs<L::Truth>>,
}

impl<L: Logic> Relations<'_, '_, L> {
    /// How many rounds a recursive definition may take to come to its end.
    const MOST_ROUNDS: usize = 100;

    /// Requires all axioms. None if one cannot be said.
    fn require(&mut self, execution: &Execution) -> Option<()> {
        let tests: Vec<_> = self.formula.tests().filter(|(axiom, _)| !axiom.is_flag()).collect();
        self.know_order();
        for (first, last) in &execution.ordered {
            if let (Some(first), Some(last)) = (self.view.number(*first), self.view.number(*last)) {
                let is_so = self.coherence().get(&(first, last)).copied();
                self.logic.require(is_so.unwrap_or(L::constant(false)));
            }
        }
        for (axiom, subject) in tests {
            if axiom.negated {
                return None;
            }
            match axiom.kind {
                TestKind::Acyclic => {
                    let edges = self.edges(subject)?;
                    self.logic.acyclic(self.view.events(), &edges);
                }
                TestKind::Irreflexive => {
                    let pairs = self.of(subject)?;
                    let turned = pairs.into_iter().filter(|((from, to), _)| from == to);
                    self.forbid(turned.collect());
                }
                TestKind::Empty => {
                    let pairs = self.of(subject)?;
                    self.forbid(pairs);
                }
            }
        }
        Some(())
    }

    fn forbid(&mut self, pairs: Pairs<L::Truth>) {
        for (_, when) in pairs {
            let never = self.logic.opposite(when);
            self.logic.require(never);
        }
    }

    /// A relation that has a cycle where another one has: closures are not needed.
    fn edges(&mut self, id: NodeId) -> Option<Pairs<L::Truth>> {
        match self.formula.node(id) {
            Node::Plus(inner) => self.edges(*inner),
            Node::Union(parts) => {
                let parts: Option<Vec<_>> = parts.iter().map(|part| self.edges(*part)).collect();
                Some(self.union(parts?))
            }
            _ => self.of(id),
        }
    }

    /// The place of the order of writes among what is known: it is no node if the model does not name it.
    const COHERENCE: NodeId = NodeId(u32::MAX);

    fn know_order(&mut self) {
        let mut order = Pairs::new();
        for (initial, writes) in &self.view.writes {
            let after = writes.iter().map(|write| ((*initial, *write), L::constant(true)));
            order.extend(after);
            order.extend(self.logic.total_order(writes));
        }
        self.known.insert(Self::COHERENCE, order);
    }

    fn coherence(&self) -> &Pairs<L::Truth> {
        &self.known[&Self::COHERENCE]
    }

    fn of(&mut self, id: NodeId) -> Option<Pairs<L::Truth>> {
        if let Some(known) = self.known.get(&id) {
            return Some(known.clone());
        }
        let mut pairs = self.made(id)?;
        pairs.retain(|_, when| *when != L::constant(false));
        for (pair, when) in &mut pairs {
            if *when != L::constant(true) {
                *when = self.logic.pair(id, *pair, *when);
            }
        }
        self.known.insert(id, pairs.clone());
        Some(pairs)
    }

    fn made(&mut self, id: NodeId) -> Option<Pairs<L::Truth>> {
        let events = self.view.events();
        Some(match self.formula.node(id).clone() {
            Node::NoEvents | Node::NoPairs => Pairs::new(),
            Node::AllEvents => (0..events).map(|it| ((it, it), L::constant(true))).collect(),
            Node::SetInput(input) | Node::RelationInput(input) => self.input(input as usize),
            Node::SetUnion(parts) | Node::Union(parts) => {
                let parts: Option<Vec<_>> = parts.iter().map(|part| self.of(*part)).collect();
                self.union(parts?)
            }
            Node::SetIntersection(a, b) | Node::Intersection(a, b) => {
                let (a, b) = (self.of(a)?, self.of(b)?);
                let both =
                    a.into_iter().filter_map(|(pair, when)| Some((pair, [when, *b.get(&pair)?])));
                both.map(|(pair, both)| (pair, self.logic.all(&both))).collect()
            }
            Node::SetDifference(a, b) | Node::Difference(a, b) => {
                let (a, b) = (self.of(a)?, self.of(b)?);
                self.difference(a, &b)
            }
            Node::Domain(a) => {
                let a = self.of(a)?;
                self.gather(a.into_iter().map(|((from, _), when)| ((from, from), when)))
            }
            Node::Range(a) => {
                let a = self.of(a)?;
                self.gather(a.into_iter().map(|((_, to), when)| ((to, to), when)))
            }
            Node::Identity(a) => self.of(a)?,
            Node::Product(a, b) => {
                let (a, b) = (self.of(a)?, self.of(b)?);
                let mut all = Pairs::new();
                for ((from, _), first) in &a {
                    for ((to, _), last) in &b {
                        all.insert((*from, *to), self.logic.all(&[*first, *last]));
                    }
                }
                all
            }
            Node::Sequence(a, b) | Node::StartingIn(a, b) | Node::EndingIn(a, b) => {
                let (a, b) = (self.of(a)?, self.of(b)?);
                self.sequence(&a, &b)
            }
            Node::Inverse(a) => {
                let a = self.of(a)?;
                a.into_iter().map(|((from, to), when)| ((to, from), when)).collect()
            }
            Node::Plus(a) => {
                let a = self.of(a)?;
                self.closure(a)
            }
            // Those of a definition that is being solved are known.
            Node::Unknown(..) => return None,
            Node::Solution(group, number) => {
                self.solved(group as usize)?.into_iter().nth(number as usize)?
            }
        })
    }

    fn input(&mut self, input: usize) -> Pairs<L::Truth> {
        match self.formula.inputs()[input].base() {
            Base::Relation(BaseRelation::Coherence) => self.coherence().clone(),
            Base::Relation(base) => {
                let pairs = self.view.relation(base);
                pairs.iter().map(|pair| (pair, L::constant(true))).collect()
            }
            base => {
                let set = self.view.set(base);
                set.iter().map(|event| ((event, event), L::constant(true))).collect()
            }
        }
    }

    fn union(&mut self, parts: Vec<Pairs<L::Truth>>) -> Pairs<L::Truth> {
        self.gather(parts.into_iter().flatten())
    }

    /// Each pair under any of its conditions.
    fn gather(
        &mut self,
        pairs: impl Iterator<Item = ((usize, usize), L::Truth)>,
    ) -> Pairs<L::Truth> {
        let mut all: BTreeMap<(usize, usize), Vec<L::Truth>> = BTreeMap::new();
        pairs.for_each(|(pair, when)| all.entry(pair).or_default().push(when));
        all.into_iter().map(|(pair, ways)| (pair, self.logic.any(&ways))).collect()
    }

    fn difference(&mut self, a: Pairs<L::Truth>, b: &Pairs<L::Truth>) -> Pairs<L::Truth> {
        let mut left = Pairs::new();
        for (pair, when) in a {
            let when = match b.get(&pair) {
                Some(taken) => {
                    let stays = self.logic.opposite(*taken);
                    self.logic.all(&[when, stays])
                }
                None => when,
            };
            left.insert(pair, when);
        }
        left
    }

    fn sequence(&mut self, a: &Pairs<L::Truth>, b: &Pairs<L::Truth>) -> Pairs<L::Truth> {
        let mut ways: Vec<((usize, usize), L::Truth)> = Vec::new();
        for ((from, middle), first) in a {
            for ((_, to), last) in b.range((*middle, 0)..=(*middle, usize::MAX)) {
                ways.push(((*from, *to), self.logic.all(&[*first, *last])));
            }
        }
        self.gather(ways.into_iter())
    }

    /// By squares: after n of them all ways of up to 2^n steps are there.
    fn closure(&mut self, mut pairs: Pairs<L::Truth>) -> Pairs<L::Truth> {
        let mut longest = 1;
        while longest < self.view.events() {
            let longer = self.sequence(&pairs, &pairs);
            let all = self.union(vec![pairs.clone(), longer]);
            if all == pairs {
                break;
            }
            (pairs, longest) = (all, longest * 2);
        }
        pairs
    }

    /// The least solution of definitions that depend on each other, from nothing upwards. None if that does
    /// not end.
    fn solved(&mut self, group: usize) -> Option<Vec<Pairs<L::Truth>>> {
        let group = self.formula.groups().get(group)?;
        let outside = self.known.clone();
        let mut now: Vec<Pairs<L::Truth>> = vec![Pairs::new(); group.definitions.len()];
        for _ in 0..Self::MOST_ROUNDS {
            self.known.extend(group.unknowns.iter().copied().zip(now.iter().cloned()));
            let next: Option<Vec<_>> = group.definitions.iter().map(|id| self.of(*id)).collect();
            self.known.clone_from(&outside);
            match next? {
                next if next == now => return Some(now),
                next => now = next,
            }
        }
        None
    }
}
