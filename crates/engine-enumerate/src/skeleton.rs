//! One choice of a path for each thread: a fixed set of events, with everything about them
//! that does not depend on which write each read takes its value from.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use parallax_memory::{Checker, InputId, InputKind, Model};
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
                    for (i, event) in self.events.iter().enumerate() {
                        if role.holds(event) {
                            set.insert(i);
                        }
                    }
                    if matches!(role, SetRole::Paired) {
                        for (r, w, _) in self.pairs() {
                            set.insert(r);
                            set.insert(w);
                        }
                    }
                }
                Role::Relation(role) => {
                    let relation = checker.relation_mut(input);
                    self.relate(*role, terms, locations, &mut |a, b| {
                        relation.add(a, b);
                    });
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

    fn relate(
        &self,
        role: RelationRole,
        terms: &Terms,
        locations: Option<&[Option<Footprint>]>,
        add: &mut dyn FnMut(usize, usize),
    ) {
        let n = self.events.len();
        let mut pairs = |holds: &dyn Fn(usize, usize) -> bool| {
            for a in 0..n {
                for b in (0..n).filter(|b| holds(a, *b)) {
                    add(a, b);
                }
            }
        };
        let internal = |a: usize, b: usize| {
            a == b
                || self.events[a].thread.is_some() && self.events[a].thread == self.events[b].thread
        };
        match role {
            RelationRole::Po => pairs(&|a, b| self.in_program_order(a as u32, b as u32)),
            RelationRole::Internal => pairs(&internal),
            RelationRole::External => pairs(&|a, b| !internal(a, b)),
            RelationRole::SameAccess => pairs(&|a, b| {
                let (x, y) = (&self.events[a], &self.events[b]);
                let access = |event: &Event<'_, '_>| event.source.map(|source| source.access);
                a == b || x.thread.is_some() && x.thread == y.thread && access(x) == access(y)
            }),
            RelationRole::SameLocation => {
                let at = |a: usize| match locations {
                    Some(locations) => locations[a],
                    None => self.events[a].footprint,
                };
                let accesses = |a: usize| self.events[a].kind != Kind::Fence;
                pairs(&|a, b| accesses(a) && accesses(b) && at(a).is_some() && at(a) == at(b));
            }
            RelationRole::Addr => self.addr(terms).for_each(|(a, b)| add(a, b)),
            RelationRole::Data => self.data(terms).for_each(|(a, b)| add(a, b)),
            RelationRole::Ctrl => self.ctrl(terms).for_each(|(a, b)| add(a, b)),
            RelationRole::PickAddr => {
                self.dependencies(terms, |event| event.pick_addr).for_each(|(a, b)| add(a, b))
            }
            RelationRole::PickData => {
                self.dependencies(terms, |event| event.pick_data).for_each(|(a, b)| add(a, b))
            }
            RelationRole::PickCtrl => {
                self.dependencies(terms, |event| event.pick_ctrl).for_each(|(a, b)| add(a, b))
            }
            RelationRole::Pairs => self.pairs().for_each(|(r, w, _)| add(r, w)),
            RelationRole::PairsOf(pairing) => {
                self.pairs().filter(|pair| pair.2 == pairing).for_each(|(r, w, _)| add(r, w));
            }
            RelationRole::None => {}
        }
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
    Set(SetRole),
    Relation(RelationRole),
    /// The events that carry the tag of that name.
    Tagged,
    /// rf and co: filled as the search goes.
    Chosen,
}

enum SetRole {
    All,
    Reads,
    Writes,
    Accesses,
    Fences,
    Initial,
    /// Events of atomic pairs, and reads of failed ones.
    Paired,
}

#[derive(Clone, Copy)]
enum RelationRole {
    Po,
    Internal,
    External,
    SameAccess,
    SameLocation,
    Addr,
    Data,
    Ctrl,
    PickAddr,
    PickData,
    PickCtrl,
    Pairs,
    PairsOf(Pairing),
    /// A relation that no litmus test has any pairs of.
    None,
}

impl SetRole {
    fn holds(&self, event: &Event<'_, '_>) -> bool {
        let read = matches!(event.kind, Kind::Read { .. });
        let write = matches!(event.kind, Kind::Write { .. });
        match self {
            SetRole::All => true,
            SetRole::Reads => read,
            SetRole::Writes => write,
            SetRole::Accesses => read || write,
            SetRole::Fences => event.kind == Kind::Fence,
            SetRole::Initial => event.thread.is_none(),
            SetRole::Paired => event.source.is_some_and(|source| source.tags.contains("RMW")),
        }
    }
}

/// What each input of a model stands for, by its name in cat.
pub fn roles(model: &Model) -> Roles {
    let role = |input: &parallax_memory::Input| match input.kind {
        InputKind::Set => Role::Set(match input.name.as_str() {
            "_" => SetRole::All,
            "R" => SetRole::Reads,
            "W" => SetRole::Writes,
            "M" => SetRole::Accesses,
            "F" => SetRole::Fences,
            "IW" => SetRole::Initial,
            "RMW" => SetRole::Paired,
            _ => return Role::Tagged,
        }),
        InputKind::Relation => Role::Relation(match input.name.as_str() {
            "rf" | "co" => return Role::Chosen,
            "po" => RelationRole::Po,
            "int" => RelationRole::Internal,
            "ext" => RelationRole::External,
            "si" | "sm" | "same-instance" | "same-instr" => RelationRole::SameAccess,
            "loc" => RelationRole::SameLocation,
            "addr" => RelationRole::Addr,
            "data" => RelationRole::Data,
            "ctrl" => RelationRole::Ctrl,
            "pick-addr" => RelationRole::PickAddr,
            "pick-data" => RelationRole::PickData,
            "pick-ctrl" => RelationRole::PickCtrl,
            "rmw" => RelationRole::Pairs,
            "amo" | "iico_data" => RelationRole::PairsOf(Pairing::Single),
            _ => RelationRole::None,
        }),
    };
    let list: Vec<Role> = model.inputs().iter().map(role).collect();
    let numbered = model.inputs().iter().zip(&list).enumerate();
    let tagged = numbered.filter(|(_, (_, role))| matches!(role, Role::Tagged));
    let by_tag = tagged.map(|(i, (input, _))| (input.name.clone(), InputId(i))).collect();
    Roles { list, by_tag }
}
