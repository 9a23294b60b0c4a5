//! What is known of each relation before any choice is made: the pairs that may be in it, and
//! those that must be wherever both events happen.

use parallax_memory::{EventSet, Formula, Node, NodeId, Relation};

use crate::watch::Watch;

/// What is known of a set or a relation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Bound {
    Set { may: EventSet, must: EventSet },
    Relation { may: Relation, must: Relation },
}

/// What is known of the events.
pub struct Facts {
    pub events: usize,
    /// Those that models see.
    pub visible: EventSet,
    /// Pairs that may happen together.
    pub together: Relation,
    /// Pairs of which the second happens wherever the first does; and the same turned round.
    pub implies: Relation,
    pub implied: Relation,
}

/// Why there are no bounds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NotMonotone {
    pub place: parallax_memory::Place,
}

/// Bounds of all sets and relations that the model's tests look at.
pub struct Bounds<'m> {
    formula: Formula<'m>,
    bounds: Vec<Option<Bound>>,
}

impl<'m> Bounds<'m> {
    /// `inputs` has the bounds of the base sets and relations. Where the watch ends it, the bounds
    /// are not complete.
    pub fn new(
        formula: Formula<'m>,
        facts: &Facts,
        inputs: &[Bound],
        watch: &Watch<'_>,
    ) -> Result<Bounds<'m>, NotMonotone> {
        let roots: Vec<NodeId> = formula.tests().map(|(_, subject)| subject).collect();
        let needed = reachable(formula, &roots);
        let mut bounds = Bounds { formula, bounds: vec![None; formula.nodes().len()] };
        for id in needed {
            if watch.is_over() {
                return Ok(bounds);
            }
            if !bounds.is_open(id) {
                bounds.compute(id, facts, inputs, watch)?;
            }
        }
        Ok(bounds)
    }

    pub fn of(&self, id: NodeId) -> Option<&Bound> {
        self.bounds.get(id.index()).and_then(Option::as_ref)
    }

    pub fn may(&self, id: NodeId, from: usize, to: usize) -> bool {
        matches!(self.of(id), Some(Bound::Relation { may, .. }) if may.contains(from, to))
    }

    pub fn must(&self, id: NodeId, from: usize, to: usize) -> bool {
        matches!(self.of(id), Some(Bound::Relation { must, .. }) if must.contains(from, to))
    }

    pub fn relation(&self, id: NodeId) -> Option<(&Relation, &Relation)> {
        match self.of(id) {
            Some(Bound::Relation { may, must }) => Some((may, must)),
            _ => None,
        }
    }

    pub fn set(&self, id: NodeId) -> Option<(&EventSet, &EventSet)> {
        match self.of(id) {
            Some(Bound::Set { may, must }) => Some((may, must)),
            _ => None,
        }
    }

    /// Whether a node speaks of the unknowns of a group, so that it has no value by itself.
    fn is_open(&self, id: NodeId) -> bool {
        let inside = reachable(self.formula, &[id]);
        let mut groups: Vec<u32> = Vec::new();
        let mut closed: Vec<u32> = Vec::new();
        for id in inside {
            match self.formula.node(id) {
                Node::Unknown(group, _) => groups.push(*group),
                Node::Solution(group, _) => closed.push(*group),
                _ => {}
            }
        }
        groups.iter().any(|group| !closed.contains(group))
    }

    fn compute(
        &mut self,
        id: NodeId,
        facts: &Facts,
        inputs: &[Bound],
        watch: &Watch<'_>,
    ) -> Result<(), NotMonotone> {
        if let Node::Solution(group, index) = self.formula.node(id) {
            self.settle(*group, facts, inputs, watch)?;
            let definition = self.formula.groups()[*group as usize].definitions[*index as usize];
            self.bounds[id.index()] = self.bounds[definition.index()].clone();
            return Ok(());
        }
        let bound = self.evaluate(id, facts, inputs, watch);
        self.bounds[id.index()] = Some(bound);
        Ok(())
    }

    /// The nodes that speak of a group's unknowns, in order.
    fn inner(&self, group: u32) -> Vec<NodeId> {
        let definitions = &self.formula.groups()[group as usize].definitions;
        let mut all = reachable(self.formula, definitions);
        all.retain(|id| self.speaks_of(*id, group));
        all
    }

    /// Whether a node is computed from the unknowns of a group.
    pub fn speaks_of(&self, id: NodeId, group: u32) -> bool {
        let inside = reachable(self.formula, &[id]);
        inside.iter().any(|id| matches!(self.formula.node(*id), Node::Unknown(g, _) if *g == group))
    }

    /// Whether a group takes away from something what it defines itself.
    pub fn is_monotone(&self, group: u32) -> bool {
        self.inner(group).into_iter().all(|id| match self.formula.node(id) {
            Node::Difference(_, b) | Node::SetDifference(_, b) => !self.speaks_of(*b, group),
            _ => true,
        })
    }

    /// The least solution of a recursive group. One that is not monotone is followed round by
    /// round, which is possible only where everything about it is known.
    fn settle(
        &mut self,
        group: u32,
        facts: &Facts,
        inputs: &[Bound],
        watch: &Watch<'_>,
    ) -> Result<(), NotMonotone> {
        let definition = &self.formula.groups()[group as usize];
        let (unknowns, definitions) = (definition.unknowns.clone(), definition.definitions.clone());
        let monotone = self.is_monotone(group);
        let inner = self.inner(group);
        for unknown in &unknowns {
            self.bounds[unknown.index()] = Some(self.nothing(*unknown, facts));
        }
        let rounds = facts.events * facts.events * definitions.len() + 16;
        for _ in 0..rounds {
            for id in &inner {
                if watch.is_over() {
                    return Ok(());
                }
                if !matches!(self.formula.node(*id), Node::Unknown(..)) {
                    self.compute(*id, facts, inputs, watch)?;
                    let settled = self.bounds[id.index()].as_ref().is_some_and(Bound::is_exact);
                    if !monotone && !settled {
                        return Err(NotMonotone { place: definition.place });
                    }
                }
            }
            let mut gained = false;
            for (unknown, definition) in unknowns.iter().zip(&definitions) {
                let new = self.bounds[definition.index()].clone();
                let old = self.bounds[unknown.index()].as_ref();
                if let (Some(new), Some(old)) = (&new, old) {
                    gained |= new.exceeds(old);
                }
                self.bounds[unknown.index()] = new;
            }
            if !gained {
                return Ok(());
            }
        }
        Err(NotMonotone { place: definition.place })
    }

    fn nothing(&self, id: NodeId, facts: &Facts) -> Bound {
        match self.formula.is_set(id) {
            true => Bound::set(EventSet::new(facts.events)),
            false => Bound::relation(Relation::new(facts.events)),
        }
    }

    fn rel(&self, id: NodeId, facts: &Facts) -> (Relation, Relation) {
        match self.of(id) {
            Some(Bound::Relation { may, must }) => (may.clone(), must.clone()),
            _ => (Relation::new(facts.events), Relation::new(facts.events)),
        }
    }

    fn events(&self, id: NodeId, facts: &Facts) -> (EventSet, EventSet) {
        match self.of(id) {
            Some(Bound::Set { may, must }) => (may.clone(), must.clone()),
            _ => (EventSet::new(facts.events), EventSet::new(facts.events)),
        }
    }

    fn evaluate(&self, id: NodeId, facts: &Facts, inputs: &[Bound], watch: &Watch<'_>) -> Bound {
        let n = facts.events;
        let none = || Bound::relation(Relation::new(n));
        match self.formula.node(id) {
            Node::NoEvents => Bound::set(EventSet::new(n)),
            Node::AllEvents => Bound::set(facts.visible.clone()),
            Node::SetInput(input) | Node::RelationInput(input) => {
                inputs.get(*input as usize).cloned().unwrap_or_else(none)
            }
            Node::SetUnion(parts) => {
                let (mut may, mut must) = (EventSet::new(n), EventSet::new(n));
                for part in parts {
                    let (more, sure) = self.events(*part, facts);
                    may.union_with(&more);
                    must.union_with(&sure);
                }
                Bound::Set { may, must }
            }
            Node::SetIntersection(a, b) => {
                let ((mut may, mut must), (more, sure)) =
                    (self.events(*a, facts), self.events(*b, facts));
                may.intersect_with(&more);
                must.intersect_with(&sure);
                Bound::Set { may, must }
            }
            Node::SetDifference(a, b) => {
                let ((mut may, mut must), (more, sure)) =
                    (self.events(*a, facts), self.events(*b, facts));
                may.minus_with(&sure);
                must.minus_with(&more);
                Bound::Set { may, must }
            }
            Node::Domain(a) => {
                let (may, mut must) = self.rel(*a, facts);
                must.intersect_with(&facts.implies);
                let (mut all, mut sure) = (EventSet::new(n), EventSet::new(n));
                may.domain_into(&mut all);
                must.domain_into(&mut sure);
                Bound::Set { may: all, must: sure }
            }
            Node::Range(a) => {
                let (may, mut must) = self.rel(*a, facts);
                must.intersect_with(&facts.implied);
                let (mut all, mut sure) = (EventSet::new(n), EventSet::new(n));
                may.range_into(&mut all);
                must.range_into(&mut sure);
                Bound::Set { may: all, must: sure }
            }
            Node::NoPairs | Node::Unknown(..) | Node::Solution(..) => none(),
            Node::Identity(set) => {
                let (more, sure) = self.events(*set, facts);
                let (mut may, mut must) = (Relation::new(n), Relation::new(n));
                may.add_identity_on(&more);
                must.add_identity_on(&sure);
                Bound::Relation { may, must }
            }
            Node::Product(a, b) => {
                let ((may_a, must_a), (may_b, must_b)) =
                    (self.events(*a, facts), self.events(*b, facts));
                let mut may = Relation::cross(&may_a, &may_b);
                may.intersect_with(&facts.together);
                let mut must = Relation::cross(&must_a, &must_b);
                must.intersect_with(&facts.together);
                Bound::Relation { may, must }
            }
            Node::Union(parts) => {
                let (mut may, mut must) = (Relation::new(n), Relation::new(n));
                for part in parts {
                    let (more, sure) = self.rel(*part, facts);
                    may.union_with(&more);
                    must.union_with(&sure);
                }
                Bound::Relation { may, must }
            }
            Node::Intersection(a, b) => {
                let ((mut may, mut must), (more, sure)) =
                    (self.rel(*a, facts), self.rel(*b, facts));
                may.intersect_with(&more);
                must.intersect_with(&sure);
                Bound::Relation { may, must }
            }
            Node::Difference(a, b) => {
                let ((mut may, mut must), (more, sure)) =
                    (self.rel(*a, facts), self.rel(*b, facts));
                may.minus_with(&sure);
                must.minus_with(&more);
                Bound::Relation { may, must }
            }
            Node::Sequence(a, b) => {
                let (first, second) = (self.rel(*a, facts), self.rel(*b, facts));
                sequence(&first, &second, facts, watch)
            }
            Node::Inverse(a) => {
                let (more, sure) = self.rel(*a, facts);
                let (mut may, mut must) = (Relation::new(n), Relation::new(n));
                more.inverse_into(&mut may);
                sure.inverse_into(&mut must);
                Bound::Relation { may, must }
            }
            Node::Plus(a) => self.plus(*a, facts, watch),
            Node::StartingIn(set, a) => {
                let ((more, sure), (mut may, mut must)) =
                    (self.events(*set, facts), self.rel(*a, facts));
                may.restrict_domain(&more);
                must.restrict_domain(&sure);
                Bound::Relation { may, must }
            }
            Node::EndingIn(a, set) => {
                let ((more, sure), (mut may, mut must)) =
                    (self.events(*set, facts), self.rel(*a, facts));
                may.restrict_range(&more);
                must.restrict_range(&sure);
                Bound::Relation { may, must }
            }
        }
    }

    fn plus(&self, of: NodeId, facts: &Facts, watch: &Watch<'_>) -> Bound {
        let (base_may, base_must) = self.rel(of, facts);
        let mut bound = Bound::Relation { may: base_may.clone(), must: base_must.clone() };
        loop {
            let Bound::Relation { may, must } = &bound else {
                return bound;
            };
            let longer =
                sequence(&(may.clone(), must.clone()), &(may.clone(), must.clone()), facts, watch);
            let Bound::Relation { may: mut more, must: mut sure } = longer else {
                return bound;
            };
            more.union_with(may);
            sure.union_with(must);
            let next = Bound::Relation { may: more, must: sure };
            if next == bound || watch.is_over() {
                return bound;
            }
            bound = next;
        }
    }
}

impl Bound {
    pub fn set(exact: EventSet) -> Bound {
        Bound::Set { may: exact.clone(), must: exact }
    }

    pub fn relation(exact: Relation) -> Bound {
        Bound::Relation { may: exact.clone(), must: exact }
    }

    fn is_exact(&self) -> bool {
        match self {
            Bound::Set { may, must } => may == must,
            Bound::Relation { may, must } => may == must,
        }
    }

    /// Whether there is something here that is not in the other.
    fn exceeds(&self, other: &Bound) -> bool {
        match (self, other) {
            (Bound::Set { may, must }, Bound::Set { may: old, must: sure }) => {
                !may.is_subset_of(old) || !must.is_subset_of(sure)
            }
            (Bound::Relation { may, must }, Bound::Relation { may: old, must: sure }) => {
                !may.is_subset_of(old) || !must.is_subset_of(sure)
            }
            _ => true,
        }
    }
}

/// What is between must happen too, for a sequence to be sure.
fn sequence(
    first: &(Relation, Relation),
    second: &(Relation, Relation),
    facts: &Facts,
    watch: &Watch<'_>,
) -> Bound {
    let goes_on = || !watch.is_over();
    let n = facts.events;
    let (mut may, mut must) = (Relation::new(n), Relation::new(n));
    first.0.compose_while(&second.0, &mut may, goes_on);
    may.intersect_with(&facts.together);
    let mut brings = first.1.clone();
    brings.intersect_with(&facts.implies);
    brings.compose_while(&second.1, &mut must, goes_on);
    let mut brought = second.1.clone();
    brought.intersect_with(&facts.implied);
    let mut more = Relation::new(n);
    first.1.compose_while(&brought, &mut more, goes_on);
    must.union_with(&more);
    must.intersect_with(&facts.together);
    Bound::Relation { may, must }
}

/// The nodes that some are computed from, themselves included, operands first.
pub fn reachable(formula: Formula<'_>, roots: &[NodeId]) -> Vec<NodeId> {
    let mut seen = vec![false; formula.nodes().len()];
    let mut left = roots.to_vec();
    let mut all = Vec::new();
    while let Some(id) = left.pop() {
        if !std::mem::replace(&mut seen[id.index()], true) {
            all.push(id);
            left.extend(formula.operands(id));
        }
    }
    all.sort_unstable();
    all
}
