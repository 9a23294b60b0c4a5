//! One choice of a path for each thread: a fixed set of events, with everything about them
//! that does not depend on which write each read takes its value from.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use parallax_memory::{
    Base, BaseRelation, BaseSet, Checker, InputId, MemberKind, Members, Model, Shape,
};
use parallax_program::Bits;

use crate::dependency::Dependencies;
use crate::image::Image;
use crate::path::{Action, Constraint, Pairing, Path, PathEvent};
use crate::term::{ReadVar, TermId, Terms};

/// Some bytes of memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Footprint {
    pub address: u64,
    pub bytes: u32,
}

impl Footprint {
    pub fn overlaps(self, other: Footprint) -> bool {
        self.address < other.address.saturating_add(other.bytes.into())
            && other.address < self.address.saturating_add(self.bytes.into())
    }
}

/// An event of the skeleton: initial writes first, then thread by thread.
pub struct Event<'a, 'p> {
    /// None for initial writes.
    pub thread: Option<u32>,
    /// None for initial writes.
    pub source: Option<&'a PathEvent<'p>>,
    pub kind: Kind,
    /// None where the address depends on a read.
    pub footprint: Option<Footprint>,
    /// The read, for the write of an atomic pair.
    pub pair: Option<(u32, Pairing)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Read { var: ReadVar, term: TermId },
    Write { value: TermId },
    Fence,
}

pub struct Skeleton<'a, 'p> {
    pub events: Vec<Event<'a, 'p>>,
    pub reads: Vec<u32>,
    pub writes: Vec<u32>,
    /// Number of initial writes.
    pub initials: usize,
    pub constraints: Vec<&'a Constraint>,
    /// Whether every address is known.
    pub addresses_known: bool,
    /// Whether every address is known to lie in an object.
    pub addresses_in_objects: bool,
    /// For each thread, the number of its first event.
    pub starts: Vec<u32>,
}

impl<'a, 'p> Skeleton<'a, 'p> {
    pub fn new(
        paths: &[&'a Path<'p>],
        footprints: &BTreeSet<Footprint>,
        image: &Image,
        terms: &mut Terms,
    ) -> Skeleton<'a, 'p> {
        let mut events = Vec::new();
        for footprint in footprints {
            let value = terms.constant(image.value(footprint.address, footprint.bytes));
            events.push(Event {
                thread: None,
                source: None,
                kind: Kind::Write { value },
                footprint: Some(*footprint),
                pair: None,
            });
        }
        let initials = events.len();
        let mut starts = Vec::with_capacity(paths.len());
        for (thread, path) in paths.iter().enumerate() {
            let start = events.len() as u32;
            starts.push(start);
            for event in &path.events {
                let kind = match event.action {
                    Action::Read { var, value } => Kind::Read { var, term: value },
                    Action::Write { value } => Kind::Write { value },
                    Action::Fence => Kind::Fence,
                };
                events.push(Event {
                    thread: Some(thread as u32),
                    source: Some(event),
                    kind,
                    footprint: constant_footprint(event, terms),
                    pair: event.pair.map(|(read, how)| (start + read, how)),
                });
            }
        }
        let number = |wanted: fn(&Kind) -> bool| {
            let numbered = events.iter().enumerate().filter(|(_, event)| wanted(&event.kind));
            numbered.map(|(i, _)| i as u32).collect::<Vec<_>>()
        };
        let accesses = || events.iter().filter(|event| event.kind != Kind::Fence);
        Skeleton {
            reads: number(|kind| matches!(kind, Kind::Read { .. })),
            writes: number(|kind| matches!(kind, Kind::Write { .. })),
            initials,
            constraints: paths.iter().flat_map(|path| &path.constraints).collect(),
            addresses_known: accesses().all(|event| event.footprint.is_some()),
            addresses_in_objects: accesses()
                .all(|event| event.footprint.is_some_and(|at| image.locate(at.address).is_some())),
            starts,
            events,
        }
    }

    /// Whether an initial write gives these bytes their value.
    pub fn is_initialised(&self, bytes: Footprint) -> bool {
        // Initial writes are sorted by their bytes.
        let initials = &self.events[..self.initials];
        initials.binary_search_by(|event| event.footprint.cmp(&Some(bytes))).is_ok()
    }

    /// Whether `a` comes before `b` in program order. Parts of one access are unordered.
    pub fn in_program_order(&self, a: u32, b: u32) -> bool {
        let (x, y) = (&self.events[a as usize], &self.events[b as usize]);
        match (x.source, y.source) {
            (Some(s), Some(t)) => a < b && x.thread == y.thread && s.access != t.access,
            _ => false,
        }
    }

    fn dependencies<'s>(
        &'s self,
        terms: &'s Terms,
        choose: impl Fn(&PathEvent<'p>) -> Dependencies + 's,
    ) -> impl Iterator<Item = (usize, usize)> + 's {
        self.events.iter().enumerate().flat_map(move |(to, event)| {
            let start = event.thread.map_or(0, |thread| self.starts[thread as usize]);
            let sources = event.source.map_or(Dependencies::NONE, &choose);
            terms
                .dependencies
                .members(sources)
                .iter()
                .map(move |from| ((start + from) as usize, to))
        })
    }

    /// Atomic pairs, as read and write.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize, Pairing)> {
        let numbered = self.events.iter().enumerate();
        numbered.filter_map(|(w, event)| event.pair.map(|(r, how)| (r as usize, w, how)))
    }

    pub fn addr<'s>(&'s self, terms: &'s Terms) -> impl Iterator<Item = (usize, usize)> + 's {
        self.dependencies(terms, |event| event.addr)
    }

    pub fn data<'s>(&'s self, terms: &'s Terms) -> impl Iterator<Item = (usize, usize)> + 's {
        self.dependencies(terms, |event| event.data)
    }

    pub fn ctrl<'s>(&'s self, terms: &'s Terms) -> impl Iterator<Item = (usize, usize)> + 's {
        self.dependencies(terms, |event| event.ctrl)
    }

    /// Gives the checker everything but rf, co and, unless `locations` is given, loc.
    pub fn fill(
        &self,
        roles: &Roles,
        terms: &Terms,
        locations: Option<&[Option<Footprint>]>,
        checker: &mut Checker<'_>,
    ) {
        checker.begin(self.events.len());
        for (input, role) in roles.list.iter().enumerate() {
            let input = InputId(input);
            match role {
                Role::Set(role) => {
                    let set = checker.set_mut(input);
                    for event in 0..self.events.len() {
                        if role.has(&mut &*self, event) {
                            set.insert(event);
                        }
                    }
                }
                Role::Relation(role) => {
                    let relation = checker.relation_mut(input);
                    match role.of_shape(&Located { skeleton: self, locations }) {
                        Some(found) => relation.copy_from(&found),
                        None => self.relate(*role, terms, &mut |a, b| relation.add(a, b)),
                    }
                }
                Role::Tagged | Role::Chosen => {}
            }
        }
        for (i, event) in self.events.iter().enumerate() {
            let tags = event.source.iter().flat_map(|source| source.tags.iter());
            for input in tags.filter_map(|tag| roles.by_tag.get(tag.as_str())) {
                checker.set_mut(*input).insert(i);
            }
        }
        checker.structure_changed();
    }

    /// Relations that follow from what threads compute.
    fn relate(&self, role: BaseRelation, terms: &Terms, add: &mut dyn FnMut(usize, usize)) {
        let picked = |choose: fn(&PathEvent<'_>) -> Dependencies,
                      add: &mut dyn FnMut(usize, usize)| {
            self.dependencies(terms, choose).for_each(|(a, b)| add(a, b));
        };
        match role {
            BaseRelation::Address => self.addr(terms).for_each(|(a, b)| add(a, b)),
            BaseRelation::Data => self.data(terms).for_each(|(a, b)| add(a, b)),
            BaseRelation::Control => self.ctrl(terms).for_each(|(a, b)| add(a, b)),
            BaseRelation::PickedAddress => picked(|event| event.pick_addr, add),
            BaseRelation::PickedData => picked(|event| event.pick_data, add),
            BaseRelation::PickedControl => picked(|event| event.pick_ctrl, add),
            BaseRelation::Pairs => self.pairs().for_each(|(r, w, _)| add(r, w)),
            BaseRelation::SinglePairs => {
                let single = self.pairs().filter(|pair| pair.2 == Pairing::Single);
                single.for_each(|(r, w, _)| add(r, w));
            }
            // Those of shape were found before; values are compared when an execution is complete.
            _ => {}
        }
    }
}

impl Members for &Skeleton<'_, '_> {
    type Event = usize;
    type Truth = bool;

    fn kind(&self, event: usize) -> MemberKind {
        match self.events[event].kind {
            Kind::Read { .. } => MemberKind::Read,
            Kind::Write { .. } => MemberKind::Write,
            Kind::Fence => MemberKind::Fence,
        }
    }

    fn is_initial(&self, event: usize) -> bool {
        self.events[event].thread.is_none()
    }

    fn carries(&mut self, event: usize, tag: &str) -> bool {
        self.events[event].source.is_some_and(|source| source.tags.contains(tag))
    }

    fn is_half(&mut self, event: usize) -> bool {
        self.pairs().any(|(read, write, _)| event == read || event == write)
    }

    fn or(&mut self, one: bool, other: bool) -> bool {
        one || other
    }
}

/// A skeleton whose accesses are somewhere.
struct Located<'a, 's, 'p> {
    skeleton: &'a Skeleton<'s, 'p>,
    locations: Option<&'a [Option<Footprint>]>,
}

impl Shape for Located<'_, '_, '_> {
    type Access = Option<u32>;
    type Place = (u64, u32);

    fn events(&self) -> usize {
        self.skeleton.events.len()
    }

    fn thread(&self, event: usize) -> Option<u32> {
        self.skeleton.events[event].thread
    }

    fn access(&self, event: usize) -> Option<u32> {
        self.skeleton.events[event].source.map(|source| source.access)
    }

    fn place(&self, event: usize) -> Option<(u64, u32)> {
        let own = &self.skeleton.events[event];
        let place = match self.locations {
            Some(locations) => locations[event],
            None => own.footprint,
        };
        place.filter(|_| own.kind != Kind::Fence).map(|place| (place.address, place.bytes))
    }
}

fn constant_footprint(event: &PathEvent<'_>, terms: &Terms) -> Option<Footprint> {
    let address: Bits = terms.as_constant(event.address)?;
    let address = u64::try_from(address.unsigned()).ok()?;
    (event.bytes > 0).then_some(Footprint { address, bytes: event.bytes })
}

/// What the inputs of a model stand for.
pub struct Roles {
    list: Vec<Role>,
    /// Sets of the events that carry a tag.
    by_tag: FxHashMap<String, InputId>,
}

/// What an input of the model stands for.
enum Role {
    Set(BaseSet),
    Relation(BaseRelation),
    /// The events that carry the tag of that name.
    Tagged,
    /// rf and co: filled as the search goes.
    Chosen,
}

/// What each input of a model stands for.
pub fn roles(model: &Model) -> Roles {
    let role = |input: &parallax_memory::Input| match input.base() {
        Base::Set(set) => Role::Set(set),
        Base::Tagged(_) => Role::Tagged,
        Base::Relation(BaseRelation::ReadsFrom | BaseRelation::Coherence) => Role::Chosen,
        Base::Relation(relation) => Role::Relation(relation),
        Base::Empty => Role::Chosen,
    };
    let list: Vec<Role> = model.inputs().iter().map(role).collect();
    let numbered = model.inputs().iter().zip(&list).enumerate();
    let tagged = numbered.filter(|(_, (_, role))| matches!(role, Role::Tagged));
    let by_tag = tagged.map(|(i, (input, _))| (input.name.clone(), InputId(i))).collect();
    Roles { list, by_tag }
}
