//! Whether a model allows an execution whose writes have no order yet: whether there is one.
//!
//! The order of the writes of each location is found in two steps. What must be so is added first: where
//! the model forbids one order of two writes, whatever else is decided, the other one holds. That settles
//! nearly all of them; the rest is tried. Relations are bit matrices, and those that do not depend
//! on what was added are not computed again ([`parallax_memory::Checker`]).

use std::sync::Arc;

use parallax_memory::{
    Base, BaseRelation, Checker, InputId, MemberKind, Members, Model, Native, Relation, Shape,
};
use rustc_hash::FxHashMap;

use crate::declarative::execution::{Event, Execution, Id, Kind, Location, Source};

/// The writes of each location in an order, the first one first.
pub type Order = Vec<(Location, Vec<Id>)>;

/// A way to find out whether an execution is allowed.
pub trait Consistency {
    fn judge(&mut self, execution: &Execution) -> Judgement;
}

pub enum Judgement {
    /// By such an order of writes.
    Allowed(Order),
    Forbidden,
    /// There are too many orders to try them all.
    Open,
}

/// Bit matrices, by the model's file.
pub struct Saturation<'m> {
    model: &'m Model,
    checker: Checker<'m>,
    keeps_program_order: bool,
    /// How many orders may still be tried.
    patience: u32,
}

impl<'m> Saturation<'m> {
    pub fn new(model: &'m Model) -> Saturation<'m> {
        let keeps_program_order = model.implies_coherence();
        Saturation { model, checker: Checker::new(model), keeps_program_order, patience: 0 }
    }

    fn fill(&mut self, view: &View<'_>) {
        self.checker.begin(view.seen.len());
        for (index, input) in self.model.inputs().iter().enumerate() {
            let id = InputId(index);
            match input.base() {
                Base::Relation(BaseRelation::ReadsFrom | BaseRelation::Coherence) => {}
                Base::Relation(BaseRelation::Pairs | BaseRelation::SinglePairs) => {
                    let relation = self.checker.relation_mut(id);
                    view.pairs().for_each(|(read, write)| relation.add(read, write));
                }
                Base::Relation(base) => {
                    if let Some(relation) = base.of_shape(view) {
                        self.checker.relation_mut(id).copy_from(&relation);
                    }
                }
                base => {
                    let set = self.checker.set_mut(id);
                    for event in 0..view.seen.len() {
                        let is_in = match base {
                            Base::Set(set) => set.has(&mut &*view, event),
                            Base::Tagged(tag) => (&*view).carries(event, tag),
                            _ => false,
                        };
                        if is_in {
                            set.insert(event);
                        }
                    }
                }
            }
        }
        let rf = self.checker.rf_mut();
        view.reads().for_each(|(write, read)| rf.add(write, read));
        self.checker.rf_changed();
        self.checker.structure_changed();
        self.checker.set_rf_complete(true);
    }

    /// Whether an order, of which more may be added, can be one that the model allows.
    fn may_be(&mut self, order: &Relation) -> bool {
        self.patience = self.patience.saturating_sub(1);
        self.checker.co_mut().copy_from(order);
        self.checker.co_changed();
        self.checker.may_be_allowed()
    }

    /// A total order that includes this one.
    fn complete(&mut self, mut order: Relation, mut open: Vec<(usize, usize)>) -> Option<Relation> {
        // What is decided by what is there.
        loop {
            if self.patience == 0 {
                return None;
            }
            open.retain(|(a, b)| !order.contains(*a, *b) && !order.contains(*b, *a));
            let mut is_same = true;
            for (a, b) in &open {
                if order.contains(*a, *b) || order.contains(*b, *a) {
                    continue;
                }
                let (one, other) = (with(&order, *a, *b), with(&order, *b, *a));
                match (self.may_be(&one), self.may_be(&other)) {
                    (false, false) => return None,
                    (true, false) => (order, is_same) = (one, false),
                    (false, true) => (order, is_same) = (other, false),
                    (true, true) => {}
                }
            }
            if is_same {
                break;
            }
        }
        let Some((a, b)) = open.pop() else {
            self.checker.co_mut().copy_from(&order);
            self.checker.co_changed();
            return self.checker.is_allowed().then_some(order);
        };
        let one = with(&order, a, b);
        if let Some(found) = self.complete(one, open.clone()) {
            return Some(found);
        }
        let other = with(&order, b, a);
        self.complete(other, open)
    }
}

/// A transitive order with one more pair.
fn with(order: &Relation, first: usize, last: usize) -> Relation {
    let mut order = order.clone();
    let mut before: Vec<usize> =
        (0..order.events()).filter(|it| order.contains(*it, first)).collect();
    before.push(first);
    let mut after: Vec<usize> = order.successors(last).collect();
    after.push(last);
    for one in before {
        after.iter().for_each(|other| order.add(one, *other));
    }
    order
}

impl Saturation<'_> {
    fn order(&mut self, execution: &Execution) -> Option<Order> {
        let view = View::new(execution);
        self.fill(&view);
        let mut order = Relation::new(view.seen.len());
        let mut open = Vec::new();
        for (initial, writes) in &view.writes {
            for (place, write) in writes.iter().enumerate() {
                order.add(*initial, *write);
                for later in &writes[place + 1..] {
                    // Writes are listed thread by thread.
                    let is_own = view.thread(*write) == view.thread(*later);
                    match is_own && self.keeps_program_order {
                        true => order.add(*write, *later),
                        false => open.push((*write, *later)),
                    }
                }
            }
        }
        // What happens before something else is written before it.
        let native = self.model.facts().native;
        if native.is_some_and(Native::by_happens_before)
            && let Some(before) = self.checker.happens_before()
        {
            for (first, last) in &open {
                if before.contains(*first, *last) {
                    order = with(&order, *first, *last);
                } else if before.contains(*last, *first) {
                    order = with(&order, *last, *first);
                }
            }
        }
        for (first, last) in &execution.ordered {
            if let (Some(first), Some(last)) = (view.number(*first), view.number(*last)) {
                order = with(&order, first, last);
            }
        }
        if !self.may_be(&order) {
            return None;
        }
        let found = self.complete(order, open)?;
        let line = |(_, writes): &(usize, Vec<usize>)| {
            let mut writes = writes.clone();
            writes.sort_by_key(|write| writes_before(&found, *write));
            let location = view.seen[writes[0]].event.and_then(|event| event.location)?;
            Some((location, writes.iter().filter_map(|it| view.seen[*it].id).collect()))
        };
        Some(view.writes.iter().filter(|(_, it)| !it.is_empty()).filter_map(line).collect())
    }
}

impl Consistency for Saturation<'_> {
    fn judge(&mut self, execution: &Execution) -> Judgement {
        const PATIENCE: u32 = 4_000;
        self.patience = PATIENCE;
        match self.order(execution) {
            Some(order) => Judgement::Allowed(order),
            None if self.patience == 0 => Judgement::Open,
            None => Judgement::Forbidden,
        }
    }
}

fn writes_before(order: &Relation, write: usize) -> usize {
    (0..order.events()).filter(|other| order.contains(*other, write)).count()
}

/// Answers that are known already.
pub struct Remembered<C> {
    inner: C,
    known: FxHashMap<Arc<Execution>, bool>,
    /// How often it was really asked.
    pub asked: u64,
}

impl<C: Consistency> Remembered<C> {
    const MOST: usize = 1 << 18;

    pub fn new(inner: C) -> Remembered<C> {
        Remembered { inner, known: FxHashMap::default(), asked: 0 }
    }

    pub fn allows(&mut self, execution: &Execution) -> bool {
        if let Some(known) = self.known.get(execution) {
            return *known;
        }
        self.asked += 1;
        // What is open may be allowed.
        let is_allowed = !matches!(self.inner.judge(execution), Judgement::Forbidden);
        if self.known.len() >= Self::MOST {
            self.known.clear();
        }
        self.known.insert(Arc::new(execution.clone()), is_allowed);
        is_allowed
    }

    /// An order of writes by which an execution is known to be allowed.
    pub fn order(&mut self, execution: &Execution) -> Option<Order> {
        match self.inner.judge(execution) {
            Judgement::Allowed(order) => Some(order),
            Judgement::Forbidden | Judgement::Open => None,
        }
    }
}

/// The events of an execution by number, as models see them: initial writes first.
struct View<'e> {
    seen: Vec<Seen<'e>>,
    /// Initial writes, each with the writes of threads to its location.
    writes: Vec<(usize, Vec<usize>)>,
    numbers: Vec<Vec<usize>>,
}

struct Seen<'e> {
    id: Option<Id>,
    location: Option<Location>,
    /// None for initial writes.
    event: Option<&'e Event>,
}

impl<'e> View<'e> {
    fn new(execution: &'e Execution) -> View<'e> {
        let mut locations: Vec<Location> =
            execution.ids().filter_map(|id| execution.event(id)?.location).collect();
        locations.sort_unstable();
        locations.dedup();
        let initial = locations.iter();
        let initial = initial.map(|it| Seen { id: None, location: Some(*it), event: None });
        let mut seen: Vec<Seen<'e>> = initial.collect();
        let mut writes: Vec<(usize, Vec<usize>)> =
            (0..locations.len()).map(|number| (number, Vec::new())).collect();
        let mut numbers = vec![Vec::new(); execution.threads.len()];
        for id in execution.ids() {
            let Some(event) = execution.event(id) else { continue };
            let number = seen.len();
            numbers[id.thread as usize].push(number);
            if event.kind == Kind::Write
                && let Some(place) = event.location.and_then(|it| locations.binary_search(&it).ok())
            {
                writes[place].1.push(number);
            }
            seen.push(Seen { id: Some(id), location: event.location, event: Some(event) });
        }
        View { seen, writes, numbers }
    }

    fn number(&self, id: Id) -> Option<usize> {
        self.numbers.get(id.thread as usize)?.get(id.index as usize).copied()
    }

    /// The halves of read-modify-writes.
    fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        let halves = self.seen.windows(2).enumerate().filter(|(_, pair)| {
            let [read, write] = pair else { return false };
            let same = read.id.map(|id| id.thread) == write.id.map(|id| id.thread);
            let is = |seen: &Seen<'_>, kind: Kind| {
                seen.event.is_some_and(|event| event.is_half && event.kind == kind)
            };
            same && is(read, Kind::Read) && is(write, Kind::Write)
        });
        halves.map(|(number, _)| (number, number + 1))
    }

    /// What reads read.
    fn reads(&self) -> impl Iterator<Item = (usize, usize)> {
        self.seen.iter().enumerate().filter_map(|(number, seen)| {
            let source = match seen.event?.source? {
                Source::Write(id) => self.number(id)?,
                Source::Initial => {
                    let is_it = |it: &Seen<'_>| it.event.is_none() && it.location == seen.location;
                    self.seen.iter().position(is_it)?
                }
            };
            Some((source, number))
        })
    }
}

impl Shape for View<'_> {
    type Access = usize;
    type Place = Location;

    fn events(&self) -> usize {
        self.seen.len()
    }

    fn thread(&self, event: usize) -> Option<u32> {
        self.seen[event].id.map(|id| id.thread)
    }

    fn access(&self, event: usize) -> usize {
        event
    }

    fn place(&self, event: usize) -> Option<Location> {
        self.seen[event].location
    }
}

impl Members for &View<'_> {
    type Event = usize;
    type Truth = bool;

    fn kind(&self, event: usize) -> MemberKind {
        match self.seen[event].event.map(|event| event.kind) {
            Some(Kind::Read) => MemberKind::Read,
            Some(Kind::Write) | None => MemberKind::Write,
            Some(Kind::Fence) => MemberKind::Fence,
        }
    }

    fn is_initial(&self, event: usize) -> bool {
        self.seen[event].event.is_none()
    }

    fn carries(&mut self, event: usize, tag: &str) -> bool {
        self.seen[event].event.is_some_and(|event| event.tags.contains(tag))
    }

    fn is_half(&mut self, event: usize) -> bool {
        self.seen[event].event.is_some_and(|event| event.is_half)
    }

    fn or(&mut self, one: bool, other: bool) -> bool {
        one || other
    }
}
