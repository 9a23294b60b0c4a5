//! Small executions that are written down by hand, to ask models about them.

use crate::base::{Base, BaseRelation, MemberKind, Members, Shape};
use crate::event_set::EventSet;
use crate::model::Input;
use crate::relation::Relation;

/// An execution without read-modify-writes and dependencies.
pub struct Sketch<'a> {
    pub events: Vec<Drawn<'a>>,
    pub rf: Vec<(usize, usize)>,
    pub co: Vec<(usize, usize)>,
}

/// An event. Those of a thread are in program order.
#[derive(Clone)]
pub struct Drawn<'a> {
    thread: Option<u32>,
    kind: MemberKind,
    place: u32,
    tags: Vec<&'a str>,
}

impl<'a> Drawn<'a> {
    pub fn initial(place: u32) -> Drawn<'a> {
        Drawn { thread: None, kind: MemberKind::Write, place, tags: Vec::new() }
    }

    pub fn access(thread: u32, kind: MemberKind, place: u32) -> Drawn<'a> {
        Drawn { thread: Some(thread), kind, place, tags: Vec::new() }
    }

    pub fn tagged(self, tags: &[&'a str]) -> Drawn<'a> {
        Drawn { tags: tags.to_vec(), ..self }
    }
}

impl Sketch<'_> {
    /// The events of a base set.
    pub fn set(&self, input: &Input) -> EventSet {
        let mut set = EventSet::new(self.events.len());
        for event in 0..self.events.len() {
            let is_in = match input.base() {
                Base::Set(base) => base.has(&mut &*self, event),
                Base::Tagged(tag) => self.events[event].tags.contains(&tag),
                Base::Relation(_) | Base::Empty => false,
            };
            if is_in {
                set.insert(event);
            }
        }
        set
    }

    /// The pairs of a base relation.
    pub fn relation(&self, input: &Input) -> Relation {
        let listed = |pairs: &[(usize, usize)]| {
            let mut relation = Relation::new(self.events.len());
            pairs.iter().for_each(|(from, to)| relation.add(*from, *to));
            relation
        };
        match input.base() {
            Base::Relation(BaseRelation::ReadsFrom) => listed(&self.rf),
            Base::Relation(BaseRelation::Coherence) => listed(&self.co),
            Base::Relation(base) => base.of_shape(self).unwrap_or_else(|| listed(&[])),
            _ => listed(&[]),
        }
    }
}

impl Members for &Sketch<'_> {
    type Event = usize;
    type Truth = bool;

    fn kind(&self, event: usize) -> MemberKind {
        self.events[event].kind
    }

    fn is_initial(&self, event: usize) -> bool {
        self.events[event].thread.is_none()
    }

    fn carries(&mut self, event: usize, tag: &str) -> bool {
        self.events[event].tags.contains(&tag)
    }

    fn is_half(&mut self, _: usize) -> bool {
        false
    }

    fn or(&mut self, one: bool, other: bool) -> bool {
        one || other
    }
}

impl Shape for Sketch<'_> {
    type Access = usize;
    type Place = u32;

    fn events(&self) -> usize {
        self.events.len()
    }

    fn thread(&self, event: usize) -> Option<u32> {
        self.events[event].thread
    }

    fn access(&self, event: usize) -> usize {
        event
    }

    fn place(&self, event: usize) -> Option<u32> {
        let event = &self.events[event];
        (event.kind != MemberKind::Fence).then_some(event.place)
    }
}
