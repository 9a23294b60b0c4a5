//! The base sets and relations of cat, as `models/README.md` describes them: the one dictionary.
//!
//! Whoever has executions and asks a model about them has to say what `R`, `po` or `si` are there. What
//! the names mean is written here, over [`Members`] and [`Shape`], which say what events are and where
//! they stand. What is special to an engine is left to it: which events there are, what reads read, and
//! how dependencies are found.

use crate::event_set::EventSet;
use crate::model::{Input, InputKind, Model};
use crate::relation::Relation;

/// What a model asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Base<'a> {
    Set(BaseSet),
    /// The events that carry a tag.
    Tagged(&'a str),
    Relation(BaseRelation),
    /// A relation that no execution has pairs of.
    Empty,
}

/// A set that events are in by what they are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BaseSet {
    All,
    Reads,
    Writes,
    /// Reads and writes.
    Accesses,
    Fences,
    /// Initial writes.
    Initial,
    /// Accesses of read-modify-writes, the read of a failed one included: it carries the tag.
    ReadModifyWrites,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum BaseRelation {
    /// Events of a thread in program order. The parts of one access are not ordered.
    ProgramOrder,
    /// A write and its readers.
    ReadsFrom,
    /// Writes of a location in their order.
    Coherence,
    SameLocation,
    /// Events of one thread. An initial write is alone.
    Internal,
    External,
    Address,
    Data,
    Control,
    PickedAddress,
    PickedData,
    PickedControl,
    /// The read and the write of a read-modify-write.
    Pairs,
    /// Those of one instruction.
    SinglePairs,
    /// The parts of one access.
    SameAccess,
    /// Accesses whose values differ. Known of complete executions only, so flags may look at it and
    /// axioms may not.
    UnequalValues,
}

impl BaseSet {
    const NAMES: [(&'static str, BaseSet); 7] = [
        ("_", BaseSet::All),
        ("R", BaseSet::Reads),
        ("W", BaseSet::Writes),
        ("M", BaseSet::Accesses),
        ("F", BaseSet::Fences),
        ("IW", BaseSet::Initial),
        ("RMW", BaseSet::ReadModifyWrites),
    ];
}

impl BaseRelation {
    const NAMES: [(&'static str, BaseRelation); 16] = [
        ("po", BaseRelation::ProgramOrder),
        ("rf", BaseRelation::ReadsFrom),
        ("co", BaseRelation::Coherence),
        ("loc", BaseRelation::SameLocation),
        ("int", BaseRelation::Internal),
        ("ext", BaseRelation::External),
        ("addr", BaseRelation::Address),
        ("data", BaseRelation::Data),
        ("ctrl", BaseRelation::Control),
        ("pick-addr", BaseRelation::PickedAddress),
        ("pick-data", BaseRelation::PickedData),
        ("pick-ctrl", BaseRelation::PickedControl),
        ("rmw", BaseRelation::Pairs),
        ("amo", BaseRelation::SinglePairs),
        ("si", BaseRelation::SameAccess),
        ("unequal-values", BaseRelation::UnequalValues),
    ];

    pub fn named(name: &str) -> Option<BaseRelation> {
        BaseRelation::NAMES.iter().find(|(known, _)| *known == name).map(|(_, base)| *base)
    }

    pub fn name(self) -> &'static str {
        BaseRelation::NAMES.iter().find(|(_, base)| *base == self).map_or("", |(name, _)| *name)
    }

    /// Whether it says how values flow from reads to later events of their thread.
    pub fn is_dependency(self) -> bool {
        use BaseRelation::{Address, Control, Data, PickedAddress, PickedControl, PickedData};
        matches!(self, Address | Data | Control | PickedAddress | PickedData | PickedControl)
    }
}

/// The names of all sets but that of all events, and of all relations.
pub(crate) fn names() -> impl Iterator<Item = (&'static str, InputKind)> {
    let sets = BaseSet::NAMES.iter().map(|(name, _)| (*name, InputKind::Set)).skip(1);
    sets.chain(BaseRelation::NAMES.iter().map(|(name, _)| (*name, InputKind::Relation)))
}

impl Input {
    /// What the name of the input means.
    pub fn base(&self) -> Base<'_> {
        let set = || BaseSet::NAMES.iter().find(|(name, _)| *name == self.name);
        match self.kind {
            InputKind::Set => set().map_or(Base::Tagged(&self.name), |(_, set)| Base::Set(*set)),
            InputKind::Relation => match BaseRelation::named(&self.name) {
                Some(relation) => Base::Relation(relation),
                None => Base::Empty,
            },
        }
    }
}

impl Model {
    /// Whether the model asks for a base relation.
    pub fn asks_for(&self, relation: BaseRelation) -> bool {
        self.input(relation.name()).is_some()
    }

    /// Whether the model describes accesses of which others use a part.
    pub fn knows_sizes(&self) -> bool {
        self.asks_for(BaseRelation::SameAccess)
    }

    /// Whether the model asks how values flow to later events.
    pub fn asks_for_dependencies(&self) -> bool {
        let is_one =
            |input: &Input| matches!(input.base(), Base::Relation(base) if base.is_dependency());
        self.inputs().iter().any(is_one)
    }
}

/// What an event is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MemberKind {
    Read,
    Write,
    Fence,
    /// Nothing that sets ask about.
    Other,
}

/// What events are. Tags and pairs may depend on something that a solver decides.
pub trait Members {
    type Event: Copy;
    /// Whether something is so: a `bool`, or a literal.
    type Truth: From<bool>;

    fn kind(&self, event: Self::Event) -> MemberKind;

    /// Whether it is an initial write.
    fn is_initial(&self, event: Self::Event) -> bool;

    fn carries(&mut self, event: Self::Event, tag: &str) -> Self::Truth;

    /// Whether it is the read or the write of a read-modify-write.
    fn is_half(&mut self, event: Self::Event) -> Self::Truth;

    fn or(&mut self, one: Self::Truth, other: Self::Truth) -> Self::Truth;
}

/// The tag of reads of read-modify-writes that fail.
const FAILED: &str = "RMW";

impl BaseSet {
    /// Whether an event is in the set.
    pub fn has<M: Members>(self, members: &mut M, event: M::Event) -> M::Truth {
        let kind = members.kind(event);
        let is_so = match self {
            BaseSet::All => true,
            BaseSet::Reads => kind == MemberKind::Read,
            BaseSet::Writes => kind == MemberKind::Write,
            BaseSet::Accesses => matches!(kind, MemberKind::Read | MemberKind::Write),
            BaseSet::Fences => kind == MemberKind::Fence,
            BaseSet::Initial => members.is_initial(event),
            BaseSet::ReadModifyWrites => {
                let (tagged, half) = (members.carries(event, FAILED), members.is_half(event));
                return members.or(tagged, half);
            }
        };
        is_so.into()
    }
}

impl Base<'_> {
    /// The events of a set, of so many.
    pub fn members<M>(self, events: usize, members: &mut M) -> EventSet
    where
        M: Members<Event = usize, Truth = bool>,
    {
        let mut set = EventSet::new(events);
        for event in 0..events {
            let is_in = match self {
                Base::Set(set) => set.has(members, event),
                Base::Tagged(tag) => members.carries(event, tag),
                Base::Relation(_) | Base::Empty => false,
            };
            if is_in {
                set.insert(event);
            }
        }
        set
    }
}

/// Where events stand. They are numbered from 0.
pub trait Shape {
    type Access: Ord;
    type Place: Ord;

    fn events(&self) -> usize;

    /// None for initial writes.
    fn thread(&self, event: usize) -> Option<u32>;

    /// Where in its thread it comes.
    fn position(&self, event: usize) -> usize {
        event
    }

    /// The access of its thread that it is a part of: a read and a write are never parts of one.
    fn access(&self, event: usize) -> Self::Access;

    /// What it accesses; None for fences.
    fn place(&self, event: usize) -> Option<Self::Place>;
}

impl BaseRelation {
    /// The relation, if it follows from where events stand.
    pub fn of_shape(self, shape: &impl Shape) -> Option<Relation> {
        Some(match self {
            BaseRelation::ProgramOrder => program_order(shape),
            BaseRelation::Internal => internal(shape),
            BaseRelation::External => {
                let all = EventSet::full(shape.events());
                let mut external = Relation::cross(&all, &all);
                external.minus_with(&internal(shape));
                external
            }
            BaseRelation::SameAccess => same_access(shape),
            BaseRelation::SameLocation => alike(shape.events(), |event| shape.place(event)),
            _ => return None,
        })
    }
}

/// An initial write is in no thread, which makes it a class of its own.
fn by_thread(shape: &impl Shape, event: usize) -> (Option<u32>, usize) {
    let thread = shape.thread(event);
    (thread, thread.map_or(event, |_| 0))
}

fn internal(shape: &impl Shape) -> Relation {
    alike(shape.events(), |event| Some(by_thread(shape, event)))
}

fn same_access(shape: &impl Shape) -> Relation {
    alike(shape.events(), |event| {
        let access = shape.thread(event).map(|_| shape.access(event));
        Some((by_thread(shape, event), access))
    })
}

/// What comes later in the thread and is not of the same access.
fn program_order(shape: &impl Shape) -> Relation {
    let events = shape.events();
    let mut order = Relation::new(events);
    for mut class in classes(events, |event| shape.thread(event)) {
        class.sort_by_key(|event| shape.position(*event));
        let mut later = EventSet::new(events);
        for event in class.into_iter().rev() {
            let mut own = EventSet::new(events);
            own.insert(event);
            order.add_cross(&own, &later);
            later.insert(event);
        }
    }
    order.minus_with(&same_access(shape));
    order
}

/// Relates the events that have the same of something.
fn alike<K: Ord>(events: usize, key: impl Fn(usize) -> Option<K>) -> Relation {
    let mut relation = Relation::new(events);
    for class in classes(events, key) {
        let mut members = EventSet::new(events);
        class.into_iter().for_each(|event| members.insert(event));
        relation.add_cross(&members, &members);
    }
    relation
}

/// The events that have the same of something, each class in order.
fn classes<K: Ord>(events: usize, key: impl Fn(usize) -> Option<K>) -> Vec<Vec<usize>> {
    let keyed = (0..events).filter_map(|event| Some((key(event)?, event)));
    let mut keyed: Vec<(K, usize)> = keyed.collect();
    keyed.sort();
    let classes = keyed.chunk_by(|one, other| one.0 == other.0);
    classes.map(|class| class.iter().map(|(_, event)| *event).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Initial write 0; a thread that reads in two parts (1, 2) and writes (3); a fence of another (4).
    struct Small;

    impl Shape for Small {
        type Access = u32;
        type Place = u32;

        fn events(&self) -> usize {
            5
        }

        fn thread(&self, event: usize) -> Option<u32> {
            [None, Some(0), Some(0), Some(0), Some(1)][event]
        }

        fn access(&self, event: usize) -> u32 {
            [0, 7, 7, 8, 7][event]
        }

        fn place(&self, event: usize) -> Option<u32> {
            [Some(1), Some(1), Some(2), Some(1), None][event]
        }
    }

    fn pairs(relation: BaseRelation) -> Vec<(usize, usize)> {
        relation.of_shape(&Small).expect("a relation of shape").iter().collect()
    }

    #[test]
    fn relations_follow_from_where_events_stand() {
        assert_eq!(pairs(BaseRelation::ProgramOrder), [(1, 3), (2, 3)]);
        assert!(pairs(BaseRelation::SameAccess).contains(&(2, 1)));
        assert_eq!(pairs(BaseRelation::SameAccess).len(), 7);
        assert_eq!(pairs(BaseRelation::Internal).len(), 1 + 9 + 1);
        assert_eq!(pairs(BaseRelation::External).len(), 25 - 11);
        let same = [(0, 0), (0, 1), (0, 3), (1, 0), (1, 1), (1, 3), (2, 2), (3, 0), (3, 1), (3, 3)];
        assert_eq!(pairs(BaseRelation::SameLocation), same);
        assert_eq!(BaseRelation::ReadsFrom.of_shape(&Small), None);
    }

    #[test]
    fn names_are_of_one_thing_each() {
        for (name, base) in BaseRelation::NAMES {
            assert_eq!((BaseRelation::named(name), base.name()), (Some(base), name));
        }
        let input = Input { name: "REL".to_string(), kind: InputKind::Set };
        assert_eq!(input.base(), Base::Tagged("REL"));
        let input = Input { name: "RMW".to_string(), kind: InputKind::Set };
        assert_eq!(input.base(), Base::Set(BaseSet::ReadModifyWrites));
    }
}
