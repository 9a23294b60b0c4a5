//! Datalog: the text of the model as rules over pairs of events, evaluated from facts upwards, and a search for the order of
//! writes, which adds facts.
//!
//! Each relation of the model is a predicate, and each way to make one a rule; an axiom says which facts must not
//! follow. A fact is looked at once, with all rules that it is a part of (semi-naive evaluation: F. Bancilhon, R. Ramakrishnan, An
//! amateur's introduction to recursive query processing strategies, SIGMOD 1986). What is taken away from a relation has to be
//! known by then, so rules have levels. Those of the lower levels do not depend on the order of writes; then come those that grow with
//! it, and these may say early that an order is impossible; the others are evaluated where it is total.
//! (L. Bajczi, Application of CEGAR to concurrent programs, 2021, judges graphs this way inside of abstraction refinement.)

use parallax_control::Control as Limits;
use parallax_memory::{Base, BaseRelation, Formula, Model, Node, NodeId, TestKind};
use rustc_hash::FxHashSet;

use super::view::View;
use super::{Consistency, Judgement};
use crate::declarative::execution::Execution;

type Predicate = usize;
type Fact = (usize, usize);

/// How facts follow from others. A set is the relation of its members with themselves.
#[derive(Clone, Copy)]
enum Body {
    Copy(Predicate),
    Inverse(Predicate),
    Domain(Predicate),
    Range(Predicate),
    Sequence(Predicate, Predicate),
    Both(Predicate, Predicate),
    Without(Predicate, Predicate),
    Product(Predicate, Predicate),
}

impl Body {
    /// What facts are made from.
    fn grows_with(self) -> [Option<Predicate>; 2] {
        match self {
            Body::Copy(a) | Body::Inverse(a) | Body::Domain(a) | Body::Range(a) => [Some(a), None],
            Body::Without(a, _) => [Some(a), None],
            Body::Sequence(a, b) | Body::Both(a, b) | Body::Product(a, b) => [Some(a), Some(b)],
        }
    }
}

/// The model as rules.
struct Rules<'m> {
    formula: Formula<'m>,
    /// By rule: the predicate that it is for, and how its facts follow.
    rules: Vec<(Predicate, Body)>,
    /// By predicate: the rules whose facts grow with it.
    used: Vec<Vec<usize>>,
    levels: Vec<usize>,
    /// What must not follow: no fact of a predicate, or none of an event with itself.
    forbidden: Vec<Option<TestKind>>,
    coherence: Predicate,
}

pub struct Datalog<'m> {
    rules: Option<Rules<'m>>,
    limits: Limits<'m>,
}

impl<'m> Datalog<'m> {
    /// Orders that are tried for one execution.
    const MOST: u32 = 20_000;

    pub fn new(model: &'m Model, limits: Limits<'m>) -> Datalog<'m> {
        let rules = model.formula().ok().and_then(Rules::new);
        Datalog { rules, limits }
    }
}

impl<'m> Rules<'m> {
    /// The level of what grows with the order of writes; those above it are evaluated when that is total.
    const OPEN: usize = 1 << 16;

    /// None where something is taken away from a definition of its own, or an axiom is negated.
    fn new(formula: Formula<'m>) -> Option<Rules<'m>> {
        let count = formula.nodes().len();
        let coherence = count;
        let tests: Vec<_> = formula.tests().filter(|(axiom, _)| !axiom.is_flag()).collect();
        let mut all = Rules {
            formula,
            rules: vec![(coherence, Body::Sequence(coherence, coherence))],
            used: Vec::new(),
            levels: Vec::new(),
            forbidden: vec![None; count + 1 + tests.len()],
            coherence,
        };
        all.forbidden[coherence] = Some(TestKind::Irreflexive);
        for head in 0..count {
            all.define(head, NodeId(head as u32));
        }
        for (number, (axiom, subject)) in tests.iter().enumerate() {
            if axiom.negated {
                return None;
            }
            let (own, subject) = (count + 1 + number, subject.0 as usize);
            all.rules.push((own, Body::Copy(subject)));
            if axiom.kind == TestKind::Acyclic {
                all.rules.push((own, Body::Sequence(own, own)));
            }
            let is_empty = axiom.kind == TestKind::Empty;
            let kind = if is_empty { TestKind::Empty } else { TestKind::Irreflexive };
            all.forbidden[own] = Some(kind);
        }
        all.used = vec![Vec::new(); all.forbidden.len()];
        for (number, (_, body)) in all.rules.iter().enumerate() {
            let [one, other] = body.grows_with();
            let other = other.filter(|it| Some(*it) != one);
            one.into_iter().chain(other).for_each(|it| all.used[it].push(number));
        }
        all.level().then_some(all)
    }

    fn define(&mut self, head: Predicate, id: NodeId) {
        let of = |id: &NodeId| id.0 as usize;
        let mut add = |body: Body| self.rules.push((head, body));
        match self.formula.node(id) {
            Node::NoEvents | Node::NoPairs | Node::AllEvents => {}
            // Facts, but for the order of writes.
            Node::SetInput(input) | Node::RelationInput(input) => {
                let base = self.formula.inputs()[*input as usize].base();
                if base == Base::Relation(BaseRelation::Coherence) {
                    add(Body::Copy(self.coherence));
                }
            }
            Node::SetUnion(parts) | Node::Union(parts) => {
                parts.iter().for_each(|part| add(Body::Copy(of(part))));
            }
            Node::SetIntersection(a, b) | Node::Intersection(a, b) => add(Body::Both(of(a), of(b))),
            Node::SetDifference(a, b) | Node::Difference(a, b) => add(Body::Without(of(a), of(b))),
            Node::Domain(a) => add(Body::Domain(of(a))),
            Node::Range(a) => add(Body::Range(of(a))),
            Node::Identity(a) => add(Body::Copy(of(a))),
            Node::Product(a, b) => add(Body::Product(of(a), of(b))),
            Node::Sequence(a, b) | Node::StartingIn(a, b) | Node::EndingIn(a, b) => {
                add(Body::Sequence(of(a), of(b)));
            }
            Node::Inverse(a) => add(Body::Inverse(of(a))),
            Node::Plus(a) => {
                add(Body::Copy(of(a)));
                add(Body::Sequence(head, of(a)));
            }
            Node::Unknown(group, number) | Node::Solution(group, number) => {
                let definitions = self.formula.groups().get(*group as usize);
                let own = definitions.and_then(|it| it.definitions.get(*number as usize));
                own.into_iter().for_each(|own| add(Body::Copy(of(own))));
            }
        }
    }

    /// Finds the levels. False where there are none.
    fn level(&mut self) -> bool {
        self.levels = vec![0; self.forbidden.len()];
        self.levels[self.coherence] = Self::OPEN;
        loop {
            let mut changes = false;
            for (head, body) in &self.rules {
                let grows = body.grows_with().into_iter().flatten().map(|it| self.levels[it]).max();
                let after = match body {
                    Body::Without(_, b) => self.levels[*b] + 1,
                    _ => 0,
                };
                let level = grows.unwrap_or(0).max(after);
                if level > self.levels[*head] {
                    self.levels[*head] = level;
                    changes = true;
                }
            }
            let is_too_high = |level: &usize| *level > Self::OPEN + self.forbidden.len();
            if self.levels.iter().any(is_too_high) {
                return false;
            }
            if !changes {
                return true;
            }
        }
    }
}

impl Consistency for Datalog<'_> {
    fn judge(&mut self, execution: &Execution) -> Judgement {
        let Some(rules) = &self.rules else { return Judgement::Open };
        let view = View::new(execution);
        let mut search = Search { rules, view: &view, limits: &self.limits, tried: 0 };
        let mut facts = Facts::new(rules, view.count());
        let mut given = search.given();
        for (first, last) in &execution.ordered {
            let pair = view.number(*first).zip(view.number(*last));
            given.extend(pair.map(|pair| (rules.coherence, pair)));
        }
        let is_possible = facts.evaluate(rules, given, |level| level <= Rules::OPEN);
        if is_possible { search.order(facts) } else { Judgement::Forbidden }
    }
}

struct Search<'s, 'm> {
    rules: &'s Rules<'m>,
    view: &'s View<'s>,
    limits: &'s Limits<'m>,
    tried: u32,
}

impl Search<'_, '_> {
    /// What is known of an execution.
    fn given(&self) -> Vec<(Predicate, Fact)> {
        let mut given = Vec::new();
        for (number, node) in self.rules.formula.nodes().iter().enumerate() {
            match node {
                Node::AllEvents => {
                    given.extend((0..self.view.count()).map(|event| (number, (event, event))));
                }
                Node::SetInput(input) | Node::RelationInput(input) => {
                    match self.rules.formula.inputs()[*input as usize].base() {
                        Base::Relation(BaseRelation::Coherence) => {}
                        Base::Relation(base) => {
                            let pairs = self.view.relation(base);
                            given.extend(pairs.iter().map(|pair| (number, pair)));
                        }
                        base => {
                            let set = self.view.set(base);
                            given.extend(set.iter().map(|event| (number, (event, event))));
                        }
                    }
                }
                _ => {}
            }
        }
        for (initial, writes) in &self.view.writes {
            given.extend(writes.iter().map(|write| (self.rules.coherence, (*initial, *write))));
        }
        given
    }

    /// Tries both orders of two writes that have none.
    fn order(&mut self, facts: Facts) -> Judgement {
        self.tried += 1;
        if self.tried > Datalog::MOST || self.limits.reason().is_some() {
            return Judgement::Open;
        }
        let order = &facts.tables[self.rules.coherence];
        let is_open =
            |one: usize, other: usize| !order.has((one, other)) && !order.has((other, one));
        let open = self.view.writes.iter().find_map(|(_, writes)| {
            let pairs = writes.iter().enumerate().flat_map(|(place, one)| {
                writes[place + 1..].iter().map(move |other| (*one, *other))
            });
            pairs.into_iter().find(|(one, other)| is_open(*one, *other))
        });
        let Some((one, other)) = open else {
            let mut whole = facts.clone();
            return match whole.evaluate(self.rules, Vec::new(), |level| level > Rules::OPEN) {
                true => Judgement::Allowed(self.view.order(|one, other| order.has((one, other)))),
                false => Judgement::Forbidden,
            };
        };
        for pair in [(one, other), (other, one)] {
            let mut more = facts.clone();
            let given = vec![(self.rules.coherence, pair)];
            if !more.evaluate(self.rules, given, |level| level == Rules::OPEN) {
                continue;
            }
            match self.order(more) {
                Judgement::Forbidden => {}
                found => return found,
            }
        }
        Judgement::Forbidden
    }
}

/// The facts of one predicate, also by their first and by their second event.
#[derive(Clone)]
struct Table {
    all: FxHashSet<Fact>,
    after: Vec<Vec<usize>>,
    before: Vec<Vec<usize>>,
}

impl Table {
    fn has(&self, fact: Fact) -> bool {
        self.all.contains(&fact)
    }
}

#[derive(Clone)]
struct Facts {
    tables: Vec<Table>,
}

impl Facts {
    fn new(rules: &Rules<'_>, events: usize) -> Facts {
        let empty = Table {
            all: FxHashSet::default(),
            after: vec![Vec::new(); events],
            before: vec![Vec::new(); events],
        };
        Facts { tables: vec![empty; rules.forbidden.len()] }
    }

    /// All that follows on some levels, from the lowest one on. False if that is forbidden.
    fn evaluate(
        &mut self,
        rules: &Rules<'_>,
        given: Vec<(Predicate, Fact)>,
        is_asked: impl Fn(usize) -> bool,
    ) -> bool {
        let mut new = given;
        let mut levels: Vec<usize> =
            rules.levels.iter().copied().filter(|it| is_asked(*it)).collect();
        levels.sort_unstable();
        levels.dedup();
        // What is added to an order that was looked at already is all that is new.
        let goes_on = !self.tables[rules.coherence].all.is_empty() && levels == [Rules::OPEN];
        let mut kept: Vec<(Predicate, Fact)> = Vec::new();
        for level in levels {
            let mut open = Vec::new();
            for (predicate, fact) in std::mem::take(&mut new) {
                match rules.levels[predicate] <= level {
                    true => open.push((predicate, fact)),
                    false => kept.push((predicate, fact)),
                }
            }
            new = std::mem::take(&mut kept);
            if !goes_on {
                for (number, (head, body)) in rules.rules.iter().enumerate() {
                    if rules.levels[*head] == level {
                        self.seed(rules, number, *body, &mut open);
                    }
                }
            }
            while let Some((predicate, fact)) = open.pop() {
                if rules.levels[predicate] > level || !self.add(predicate, fact) {
                    continue;
                }
                match rules.forbidden[predicate] {
                    Some(TestKind::Empty) => return false,
                    Some(_) if fact.0 == fact.1 => return false,
                    _ => {}
                }
                for rule in &rules.used[predicate] {
                    self.apply(rules.rules[*rule], (predicate, fact), &mut open);
                }
            }
        }
        true
    }

    /// What follows by a rule from all facts of lower levels.
    fn seed(
        &self,
        rules: &Rules<'_>,
        number: usize,
        body: Body,
        open: &mut Vec<(Predicate, Fact)>,
    ) {
        if let [Some(from), _] = body.grows_with() {
            for fact in &self.tables[from].all {
                self.apply(rules.rules[number], (from, *fact), open);
            }
        }
    }

    fn add(&mut self, predicate: Predicate, fact: Fact) -> bool {
        let table = &mut self.tables[predicate];
        let is_new = table.all.insert(fact);
        if is_new {
            table.after[fact.0].push(fact.1);
            table.before[fact.1].push(fact.0);
        }
        is_new
    }

    /// What follows by a rule from a fact and others.
    fn apply(
        &self,
        (head, body): (Predicate, Body),
        (predicate, (from, to)): (Predicate, Fact),
        open: &mut Vec<(Predicate, Fact)>,
    ) {
        let mut found = |fact: Fact| open.push((head, fact));
        match body {
            Body::Copy(_) => found((from, to)),
            Body::Inverse(_) => found((to, from)),
            Body::Domain(_) => found((from, from)),
            Body::Range(_) => found((to, to)),
            Body::Both(a, b) => {
                if self.tables[a].has((from, to)) && self.tables[b].has((from, to)) {
                    found((from, to));
                }
            }
            Body::Without(_, b) => {
                if !self.tables[b].has((from, to)) {
                    found((from, to));
                }
            }
            Body::Sequence(a, b) => {
                if predicate == a {
                    self.tables[b].after[to].iter().for_each(|end| found((from, *end)));
                }
                if predicate == b {
                    self.tables[a].before[from].iter().for_each(|start| found((*start, to)));
                }
            }
            Body::Product(a, b) => {
                if predicate == a {
                    self.tables[b].all.iter().for_each(|(end, _)| found((from, *end)));
                }
                if predicate == b {
                    self.tables[a].all.iter().for_each(|(start, _)| found((*start, from)));
                }
            }
        }
    }
}
