//! An execution as models see it: its events by number, initial writes first.

use parallax_memory::{Base, BaseRelation, EventSet, MemberKind, Members, Relation, Shape};

use super::Order;
use crate::declarative::execution::{Event, Execution, Id, Kind, Location, Source};

pub struct View<'e> {
    seen: Vec<Seen<'e>>,
    /// Initial writes, each with the writes of threads to its location.
    pub writes: Vec<(usize, Vec<usize>)>,
    numbers: Vec<Vec<usize>>,
}

struct Seen<'e> {
    id: Option<Id>,
    location: Option<Location>,
    /// None for initial writes.
    event: Option<&'e Event>,
}

impl<'e> View<'e> {
    pub fn new(execution: &'e Execution) -> View<'e> {
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

    /// How many events there are.
    pub fn count(&self) -> usize {
        self.seen.len()
    }

    pub fn number(&self, id: Id) -> Option<usize> {
        self.numbers.get(id.thread as usize)?.get(id.index as usize).copied()
    }

    /// The events of a base set.
    pub fn set(&self, base: Base<'_>) -> EventSet {
        base.members(self.seen.len(), &mut &*self)
    }

    /// The pairs of a base relation, but those of the order of writes, which is not known.
    pub fn relation(&self, base: BaseRelation) -> Relation {
        let listed = |pairs: &mut dyn Iterator<Item = (usize, usize)>| {
            let mut relation = Relation::new(self.seen.len());
            pairs.for_each(|(from, to)| relation.add(from, to));
            relation
        };
        match base {
            BaseRelation::ReadsFrom => listed(&mut self.reads()),
            BaseRelation::Pairs | BaseRelation::SinglePairs => listed(&mut self.pairs()),
            base => base.of_shape(self).unwrap_or_else(|| Relation::new(self.seen.len())),
        }
    }

    /// The order of writes, by what says which of two comes first.
    pub fn order(&self, is_first: impl Fn(usize, usize) -> bool) -> Order {
        let line = |(_, writes): &(usize, Vec<usize>)| {
            let before = |write: &usize| writes.iter().filter(|it| is_first(**it, *write)).count();
            let mut sorted = writes.clone();
            sorted.sort_by_key(before);
            let location = self.seen[*writes.first()?].location?;
            Some((location, sorted.iter().filter_map(|write| self.seen[*write].id).collect()))
        };
        self.writes.iter().filter_map(line).collect()
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
