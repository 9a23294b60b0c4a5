//! What if these fences were there, and those accesses had stronger orders? An execution that was
//! [retraced](crate::retrace()), judged by the compiled model under many such choices.
//!
//! Fences change neither values nor where they are read from. So the execution is one of the program
//! with the fences as well, if the model still allows it with the fences in their places.

use std::collections::{BTreeMap, HashMap};

use parallax_memory::{
    Base, BaseRelation, Checker, EventSet, Input, InputId, InputKind, MemberKind, Members, Model,
    Relation, Shape,
};
use parallax_program::Tags;

use crate::retrace::Retraced;
use crate::{EventKind, Execution};

/// What a model says of an execution under some choice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Judgement {
    Forbidden,
    Allowed {
        /// Whether the two events that the violation is about are ordered by `hb`, in a model that
        /// has it.
        is_ordered: bool,
    },
}

/// An execution to judge again and again.
pub struct Trial<'m> {
    model: &'m Model,
    checker: Checker<'m>,
    /// Initial writes first, then thread by thread in program order.
    items: Vec<Item>,
    relations: HashMap<BaseRelation, Vec<(usize, usize)>>,
    /// The events that a violation is about, which are wrong only as long as they are not ordered:
    /// one that the model sees, and those up to the other in its thread.
    unordered: Option<(usize, Vec<usize>)>,
}

/// An event that the model sees, or a fence that might be one.
struct Item {
    thread: Option<u32>,
    kind: Kind,
    /// The number of its location.
    location: Option<u32>,
    /// What it is a part of, by number; unique in its thread.
    access: u32,
    tags: Tags,
    is_paired: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Read,
    Write,
    Fence,
    Candidate(u32),
}

impl<'m> Trial<'m> {
    /// `unordered` are two events that may not be ordered for the execution to be wrong.
    pub fn new(retraced: &Retraced, unordered: Option<(u32, u32)>, model: &'m Model) -> Self {
        let Layout { items, places } = Layout::new(retraced);
        let derived = &retraced.derived;
        let pairs = |edges: &mut dyn Iterator<Item = (u32, u32)>| -> Vec<(usize, usize)> {
            let known = edges.filter_map(|(a, b)| Some((*places.get(&a)?, *places.get(&b)?)));
            known.collect()
        };
        let relations = HashMap::from([
            (BaseRelation::ReadsFrom, pairs(&mut retraced.execution.rf.iter().copied())),
            (BaseRelation::Coherence, pairs(&mut retraced.execution.co.iter().copied())),
            (BaseRelation::Address, pairs(&mut derived.addr.iter().copied())),
            (BaseRelation::Data, pairs(&mut derived.data.iter().copied())),
            (BaseRelation::Control, pairs(&mut derived.ctrl.iter().copied())),
            (BaseRelation::PickedAddress, pairs(&mut derived.pick_addr.iter().copied())),
            (BaseRelation::PickedData, pairs(&mut derived.pick_data.iter().copied())),
            (BaseRelation::PickedControl, pairs(&mut derived.pick_ctrl.iter().copied())),
            (BaseRelation::Pairs, pairs(&mut derived.rmw.iter().copied())),
            (BaseRelation::SinglePairs, pairs(&mut derived.amo.iter().copied())),
        ]);
        let unordered = unordered.and_then(|(a, b)| {
            let first = *places.get(&a)?;
            Some((first, up_to(&retraced.execution, b, &places)))
        });
        Trial { model, checker: Checker::new(model), items, relations, unordered }
    }

    /// Numbers of the candidates that the execution comes by, fences and accesses, each once.
    pub fn candidates(&self) -> Vec<u32> {
        let number = |item: &Item| match item.kind {
            Kind::Candidate(number) => Some(number),
            _ => item.tags.candidate(),
        };
        let mut numbers: Vec<u32> = self.items.iter().filter_map(number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }

    /// What the model says where each candidate, which has some tags now, gets these. A fence for
    /// which there are none is not there; an access keeps its own.
    pub fn judge(
        &mut self,
        choose: &dyn Fn(u32, &Tags) -> Option<Tags>,
    ) -> Result<Judgement, String> {
        let mut present: Vec<(usize, Tags)> = Vec::with_capacity(self.items.len());
        for (number, item) in self.items.iter().enumerate() {
            match (item.kind, item.tags.candidate()) {
                (Kind::Candidate(candidate), _) => {
                    present.extend(choose(candidate, &item.tags).map(|tags| (number, tags)));
                }
                (_, Some(candidate)) => {
                    let tags = choose(candidate, &item.tags);
                    let tags = tags.unwrap_or_else(|| item.tags.clone());
                    present.push((number, tags));
                }
                _ => present.push((number, item.tags.clone())),
            }
        }
        let view = View::new(self, present);
        let inputs = view.inputs();
        let numbers = view.numbers;
        self.checker.begin(inputs.events);
        for (input, value) in inputs.values {
            match value {
                Value::Set(set) => self.checker.set_mut(input).copy_from(&set),
                Value::Relation(relation) => {
                    self.checker.relation_mut(input).copy_from(&relation);
                }
            }
        }
        self.checker.structure_changed();
        self.checker.rf_changed();
        self.checker.co_changed();
        let allowed = self.checker.is_allowed();
        if let Some(failure) = self.checker.failure() {
            return Err(failure.to_string());
        }
        match allowed {
            false => Ok(Judgement::Forbidden),
            true => Ok(Judgement::Allowed { is_ordered: self.is_ordered(&numbers) }),
        }
    }

    fn is_ordered(&mut self, numbers: &HashMap<usize, usize>) -> bool {
        let Some((first, others)) = &self.unordered else {
            return false;
        };
        let Some(hb) = self.checker.happens_before() else {
            return false;
        };
        let Some(first) = numbers.get(first) else {
            return false;
        };
        let mut others = others.iter().filter_map(|other| numbers.get(other));
        others.any(|other| hb.contains(*first, *other) || hb.contains(*other, *first))
    }
}

/// The items of an execution, and where its events are among them.
struct Layout {
    items: Vec<Item>,
    places: BTreeMap<u32, usize>,
}

impl Layout {
    fn new(retraced: &Retraced) -> Layout {
        let events = &retraced.execution.events;
        let mut layout = Layout { items: Vec::new(), places: BTreeMap::new() };
        let mut locations: HashMap<(u64, u32), u32> = HashMap::new();
        let mut before: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (event, fence) in &retraced.passed {
            before.entry(*event).or_default().push(*fence);
        }
        for (number, event) in (0u32..).zip(events) {
            for fence in before.get(&number).into_iter().flatten() {
                layout.candidate(event.thread, *fence);
            }
            let next = events.get(number as usize + 1).map(|next| next.thread);
            layout.event(number, retraced, &mut locations);
            if next != Some(event.thread) {
                let own = retraced.last.iter().filter(|(thread, _)| Some(*thread) == event.thread);
                own.for_each(|(_, fence)| layout.candidate(event.thread, *fence));
            }
        }
        layout
    }

    fn candidate(&mut self, thread: Option<u32>, fence: u32) {
        let access = self.items.len() as u32;
        let kind = Kind::Candidate(fence);
        let tags = Tags::none();
        self.items.push(Item { thread, kind, location: None, access, tags, is_paired: false });
    }

    fn event(
        &mut self,
        number: u32,
        retraced: &Retraced,
        locations: &mut HashMap<(u64, u32), u32>,
    ) {
        let event = &retraced.execution.events[number as usize];
        let kind = match &event.kind {
            EventKind::Read { .. } => Kind::Read,
            EventKind::Write { .. } => Kind::Write,
            EventKind::Fence => Kind::Fence,
            _ => return,
        };
        let fresh = locations.len() as u32;
        let location = event.kind.footprint();
        let location = location.map(|at| *locations.entry(at).or_insert(fresh));
        // Parts of one access follow one another, so that the first can stand for all.
        let part_of = |before: &u32| {
            let access = &retraced.derived.access;
            let same = access.get(before).is_some() && access.get(before) == access.get(&number);
            same && retraced.execution.events[*before as usize].thread == event.thread
        };
        let before = number.checked_sub(1).filter(part_of);
        let before = before.and_then(|before| self.places.get(&before)).copied();
        let access = before.map_or(self.items.len() as u32, |before| self.items[before].access);
        let rmw = &retraced.derived.rmw;
        let is_paired = rmw.iter().any(|(read, write)| *read == number || *write == number);
        self.places.insert(number, self.items.len());
        let (thread, tags) = (event.thread, event.tags.clone());
        self.items.push(Item { thread, kind, location, access, tags, is_paired });
    }
}

/// An event, or where the model does not see it, those before it in its thread.
fn up_to(execution: &Execution, event: u32, places: &BTreeMap<u32, usize>) -> Vec<usize> {
    if let Some(place) = places.get(&event) {
        return vec![*place];
    }
    let thread = execution.events.get(event as usize).and_then(|event| event.thread);
    let own = |number: &u32| execution.events[*number as usize].thread == thread;
    let before = (0..event).filter(own).filter_map(|number| places.get(&number));
    before.copied().collect()
}

/// The items that are present, as the model sees them.
struct View<'a> {
    items: Vec<(&'a Item, Tags)>,
    relations: &'a HashMap<BaseRelation, Vec<(usize, usize)>>,
    model: &'a Model,
    /// From positions among all items.
    numbers: HashMap<usize, usize>,
}

struct Inputs {
    events: usize,
    values: Vec<(InputId, Value)>,
}

enum Value {
    Set(EventSet),
    Relation(Relation),
}

impl<'a> View<'a> {
    fn new(trial: &'a Trial<'_>, present: Vec<(usize, Tags)>) -> View<'a> {
        let numbers = present.iter().enumerate().map(|(here, (item, _))| (*item, here)).collect();
        let items = present.into_iter().map(|(item, tags)| (&trial.items[item], tags)).collect();
        View { items, relations: &trial.relations, model: trial.model, numbers }
    }

    fn inputs(&self) -> Inputs {
        let inputs = self.model.inputs().iter().enumerate();
        let values = inputs.map(|(number, input)| {
            let value = match input.kind {
                InputKind::Set => Value::Set(self.set(input)),
                InputKind::Relation => Value::Relation(self.relation(input)),
            };
            (InputId(number), value)
        });
        Inputs { events: self.items.len(), values: values.collect() }
    }

    fn set(&self, input: &Input) -> EventSet {
        let mut set = EventSet::new(self.items.len());
        for (number, (_, tags)) in self.items.iter().enumerate() {
            let is_in = match input.base() {
                Base::Set(base) => base.has(&mut &*self, number),
                Base::Tagged(tag) => tags.contains(tag),
                Base::Relation(_) | Base::Empty => false,
            };
            if is_in {
                set.insert(number);
            }
        }
        set
    }

    fn relation(&self, input: &Input) -> Relation {
        match input.base() {
            Base::Relation(base) => base.of_shape(self).unwrap_or_else(|| self.pairs(base)),
            _ => Relation::new(self.items.len()),
        }
    }

    fn pairs(&self, base: BaseRelation) -> Relation {
        let mut relation = Relation::new(self.items.len());
        for (from, to) in self.relations.get(&base).into_iter().flatten() {
            if let (Some(from), Some(to)) = (self.numbers.get(from), self.numbers.get(to)) {
                relation.add(*from, *to);
            }
        }
        relation
    }
}

impl Members for &View<'_> {
    type Event = usize;
    type Truth = bool;

    fn kind(&self, number: usize) -> MemberKind {
        match self.items[number].0.kind {
            Kind::Read => MemberKind::Read,
            Kind::Write => MemberKind::Write,
            Kind::Fence | Kind::Candidate(_) => MemberKind::Fence,
        }
    }

    fn is_initial(&self, number: usize) -> bool {
        self.items[number].0.thread.is_none()
    }

    fn carries(&mut self, number: usize, tag: &str) -> bool {
        self.items[number].1.contains(tag)
    }

    fn is_half(&mut self, number: usize) -> bool {
        self.items[number].0.is_paired
    }

    fn or(&mut self, one: bool, other: bool) -> bool {
        one || other
    }
}

impl Shape for View<'_> {
    type Access = u32;
    type Place = u32;

    fn events(&self) -> usize {
        self.items.len()
    }

    fn thread(&self, event: usize) -> Option<u32> {
        self.items[event].0.thread
    }

    fn access(&self, event: usize) -> u32 {
        self.items[event].0.access
    }

    fn place(&self, event: usize) -> Option<u32> {
        self.items[event].0.location
    }
}
