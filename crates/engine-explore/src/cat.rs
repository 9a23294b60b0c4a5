//! Consistency by the model's `.cat` file, for models that the engine has no rules of its own
//! for: the whole graph is handed to the checker after each step.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use parallax_machine::{Code, Concrete};
use parallax_memory::{
    Base, BaseRelation, Checker, InputId, MemberKind, Members, Model, Relation, Shape,
};
use parallax_program::{Bits, FunctionId, Tags};
use parallax_verdict::{Dependencies, Done, dependencies};

use crate::buffering::{self, Pair, Pairs};
use crate::event::{Event, Id, Kind, Loc};
use crate::graph::{Graph, Place};
use crate::memory::Memory;
use crate::preserved;
use crate::standing::At;
use crate::watched::Watched;

pub struct CatJudge<'a> {
    code: &'a Code<'a>,
    model: &'a Model,
    checker: Checker<'a>,
    /// The axiom by which load buffering is watched for.
    watched: Option<usize>,
    /// Of each thread, where the model asks for them: what it was started with, and had done, when they
    /// were found.
    dependencies: Vec<(Past, Dependencies)>,
    release: Tags,
    acquire: Tags,
    none: Tags,
    /// Whether the model has flags, and others than those for the races of C.
    has_flags: bool,
    has_own_flags: bool,
}

/// What a thread was started with, if another one has started it, and what it has done.
type Past = (Option<(FunctionId, Arc<[Bits]>)>, Vec<Done>);

/// An event as the checker sees it.
struct Seen {
    id: Id,
    loc: SeenLoc,
    /// None for initial writes.
    thread: Option<usize>,
}

/// What two accesses must share to be of one location.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum SeenLoc {
    None,
    Cell(u32),
    /// The start of a thread, by the step that makes it, or its end.
    Life(Id),
}

/// Whether accesses of two threads to one place may race by the rules of C, in some order.
fn may_race(place: &Place) -> bool {
    let mut threads = place.co.iter().chain(&place.reads).map(|id| id.thread());
    let first = threads.next();
    !place.co.is_empty() && place.non_atomic > 0 && threads.any(|thread| Some(thread) != first)
}

impl<'a> CatJudge<'a> {
    pub fn new(code: &'a Code<'a>, model: &'a Model, watched: Option<usize>) -> CatJudge<'a> {
        let flags = || model.axioms().iter().filter(|axiom| axiom.is_flag());
        let is_own = |flag: &str| !model.is_builtin() || !flag.contains("race");
        CatJudge {
            has_flags: flags().next().is_some(),
            has_own_flags: flags().any(|axiom| is_own(&axiom.flag())),
            code,
            model,
            checker: Checker::new(model),
            watched,
            dependencies: Vec::new(),
            release: Tags::thread_release(),
            acquire: Tags::thread_acquire(),
            none: Tags::none(),
        }
    }

    /// Whether the model may raise a flag. One of a built-in model that is about races asks for two
    /// accesses of different threads to one place, of which one writes and one is not atomic.
    pub fn may_flag(&self, graph: &Graph<'_>) -> bool {
        self.has_flags && (self.has_own_flags || graph.places.iter().any(may_race))
    }

    /// The flags that the model raises, such as data races, and what they are about where that is
    /// known.
    pub fn flags(&mut self, graph: &Graph<'_>) -> Vec<(String, Vec<Id>)> {
        if !self.has_flags || !self.allows(graph) {
            return Vec::new();
        }
        let flags = self.checker.flags();
        let seen = self.events(graph);
        let race = self.checker.races().and_then(|races| races.iter().next());
        let pair: Vec<Id> = race.map_or(Vec::new(), |(a, b)| vec![seen[a].id, seen[b].id]);
        let involved = |flag: &str| if flag.contains("race") { pair.clone() } else { Vec::new() };
        flags.into_iter().map(|flag| (flag.clone(), involved(&flag))).collect()
    }

    pub fn allows(&mut self, graph: &Graph<'_>) -> bool {
        let seen = self.events(graph);
        self.follow_dependencies(graph);
        self.checker.begin(seen.len());
        let (model, view) = (self.model, View { graph, seen: &seen });
        for (index, input) in model.inputs().iter().enumerate() {
            match input.base() {
                Base::Relation(base) => self.fill_relation(&view, InputId(index), base),
                base => self.fill_set(&view, InputId(index), base),
            }
        }
        self.fill_communication(graph, &seen);
        self.checker.structure_changed();
        self.checker.set_rf_complete(true);
        self.checker.is_allowed()
    }

    fn events(&self, graph: &Graph<'_>) -> Vec<Seen> {
        let used = graph.places.iter().enumerate();
        let used = used.filter(|(_, place)| !place.co.is_empty() || !place.reads.is_empty());
        let mut seen: Vec<Seen> = used
            .map(|(loc, _)| Seen { id: Id::INIT, loc: SeenLoc::Cell(loc as u32), thread: None })
            .collect();
        for id in &graph.order {
            let event = graph.event(*id);
            let loc = match event.kind {
                Kind::Fence => SeenLoc::None,
                Kind::Read | Kind::Write if event.loc != Loc::NONE => SeenLoc::Cell(event.loc.0),
                Kind::Read => SeenLoc::Life(event.rf),
                Kind::Write => SeenLoc::Life(*id),
                _ => continue,
            };
            seen.push(Seen { id: *id, loc, thread: Some(id.thread()) });
        }
        seen
    }

    /// The tags of an event, as the program has them.
    fn tags<'s>(&'s self, graph: &Graph<'_>, id: Id, event: &Event) -> &'s Tags {
        if event.marks.is_life() {
            return if event.is_read() { &self.acquire } else { &self.release };
        }
        // The lock of atomic sections is none of the program's, and orders as any lock does.
        match &graph.standing(id).at {
            At::Enter => return &self.acquire,
            At::Leave => return &self.release,
            _ => {}
        }
        let site = graph.standing(id).site();
        let inst = site.and_then(|site| {
            let block = &self.code.program.function(site.function).blocks[site.block.0 as usize];
            block.insts.get(site.index as usize)
        });
        let Some([read, write, alone]) = inst.and_then(|inst| inst.kind.tags_of_events()) else {
            return &self.none;
        };
        match (event.is_read(), event.marks.is_rmw()) {
            (true, true) => read,
            (true, false) => alone,
            (false, _) => write,
        }
    }

    fn fill_set(&mut self, view: &View<'_, '_>, input: InputId, base: Base<'_>) {
        let members = base.members(view.seen.len(), &mut Tagged { judge: self, view });
        self.checker.set_mut(input).copy_from(&members);
    }

    fn fill_relation(&mut self, view: &View<'_, '_>, input: InputId, base: BaseRelation) {
        match base {
            // These are filled in together.
            BaseRelation::ReadsFrom | BaseRelation::Coherence => {}
            base if base.is_dependency() => self.fill_dependencies(view, input, base),
            // Programs have no load-linked and store-conditional here, so every pair is of one
            // instruction.
            BaseRelation::Pairs | BaseRelation::SinglePairs => self.fill_pairs(view, input),
            base => {
                if let Some(relation) = base.of_shape(view) {
                    self.checker.relation_mut(input).copy_from(&relation);
                }
            }
        }
    }

    fn fill_pairs(&mut self, view: &View<'_, '_>, input: InputId) {
        let numbers = view.numbers();
        let relation = self.checker.relation_mut(input);
        for (id, read) in &numbers {
            let write = Id::new(id.thread(), id.index() + 1);
            let is_pair = view.graph.event(*id).is_read()
                && numbers.contains_key(&write)
                && view.graph.event(write).is_write()
                && view.graph.event(write).marks.is_rmw();
            if is_pair {
                relation.add(*read, numbers[&write]);
            }
        }
    }

    /// Brings the dependencies up to date of the threads that have not done what they had.
    fn follow_dependencies(&mut self, graph: &Graph<'_>) {
        if self.model.asks_for_dependencies() {
            (0..graph.threads.len()).for_each(|number| {
                self.dependencies_of(graph, number);
            });
        }
    }

    /// The dependencies in a thread.
    fn dependencies_of(&mut self, graph: &Graph<'_>, number: usize) -> &Dependencies {
        if self.dependencies.len() < graph.threads.len() {
            self.dependencies.resize_with(graph.threads.len(), Default::default);
        }
        let known = &mut self.dependencies[number];
        let ids = (0..graph.threads[number].events.len()).map(|index| Id::new(number, index));
        let done: Vec<Done> = ids.map(|id| self.code.done(graph, id)).collect();
        let by = graph.threads[number].spawned_by;
        let start = match (by.is_init(), done.is_empty()) {
            (false, false) => match &graph.standing(by).at {
                At::Spawn { function, args } => Some((*function, args.clone())),
                _ => None,
            },
            _ => None,
        };
        let past = (start, done);
        if known.0 != past {
            let found = self.code.dependencies(graph, number, &past.1);
            *known = (past, found);
        }
        &known.1
    }

    /// Whether load buffering is watched for.
    pub fn is_watchful(&self) -> bool {
        self.watched.is_some()
    }

    /// What there is to see under IMM in a complete graph, beside what is known, by the engine's own rules.
    pub fn kept(
        &mut self,
        graph: &Graph<'_>,
        memory: &Memory,
        known: &buffering::Seen,
        watched: &mut Watched,
    ) -> buffering::Seen {
        let mut seen = buffering::Seen::default();
        preserved::add_races(graph, memory, watched, &mut seen.races);
        for number in 0..graph.threads.len() {
            if !watched.is_new(graph, number) {
                continue;
            }
            let found = &mut seen.pairs;
            preserved::add_pairs(graph, memory, number, known, found, || {
                self.dependencies_of(graph, number)
            });
        }
        seen
    }

    fn fill_dependencies(&mut self, view: &View<'_, '_>, input: InputId, base: BaseRelation) {
        let numbers = view.numbers();
        let relation = self.checker.relation_mut(input);
        for (thread, (_, found)) in self.dependencies.iter().enumerate() {
            let pairs = match base {
                BaseRelation::Address => &found.addr,
                BaseRelation::Data => &found.data,
                BaseRelation::Control => &found.ctrl,
                BaseRelation::PickedAddress => &found.pick_addr,
                BaseRelation::PickedData => &found.pick_data,
                _ => &found.pick_ctrl,
            };
            let number = |index: u32| numbers.get(&Id::new(thread, index as usize)).copied();
            for (from, to) in pairs {
                if let (Some(from), Some(to)) = (number(*from), number(*to)) {
                    relation.add(from, to);
                }
            }
        }
    }

    /// What there is to see in a complete graph.
    pub fn look(&mut self, graph: &Graph<'_>, memory: &Memory) -> Look {
        if self.watched.is_none() && !graph.has_frees() || !self.allows(graph) {
            return Look::default();
        }
        let events =
            Events { graph, memory, seen: self.events(graph), hb: self.checker.happens_before() };
        let order = self.watched.and_then(|axiom| self.checker.subject(axiom));
        let pairs = order.map_or(Pairs::new(), |order| events.pairs(order));
        let races = if self.watched.is_some() { events.races() } else { BTreeSet::new() };
        Look { seen: buffering::Seen { pairs, races }, late: events.late_users() }
    }

    fn fill_communication(&mut self, graph: &Graph<'_>, seen: &[Seen]) {
        let mut numbers: HashMap<Id, usize> = HashMap::new();
        let mut initial: HashMap<SeenLoc, usize> = HashMap::new();
        for (number, event) in seen.iter().enumerate() {
            match event.thread {
                Some(_) => numbers.insert(event.id, number),
                None => initial.insert(event.loc, number),
            };
        }
        let find = |id: Id, loc: SeenLoc| match id.is_init() {
            true => initial.get(&loc).copied(),
            false => numbers.get(&id).copied(),
        };
        let rf = self.checker.rf_mut();
        rf.clear();
        for (number, event) in seen.iter().enumerate().filter(|(_, event)| event.thread.is_some()) {
            let inner = graph.event(event.id);
            if inner.is_read()
                && let Some(source) = find(inner.rf, event.loc)
            {
                rf.add(source, number);
            }
        }
        let co = self.checker.co_mut();
        co.clear();
        for (loc, place) in graph.places.iter().enumerate() {
            let first = initial.get(&SeenLoc::Cell(loc as u32)).copied();
            let order: Vec<usize> = first
                .into_iter()
                .chain(place.co.iter().filter_map(|write| numbers.get(write).copied()))
                .collect();
            for (index, earlier) in order.iter().enumerate() {
                order[index + 1..].iter().for_each(|later| co.add(*earlier, *later));
            }
        }
        self.checker.rf_changed();
        self.checker.co_changed();
    }
}

/// What there is to see in a complete graph.
#[derive(Default)]
pub struct Look {
    pub seen: buffering::Seen,
    /// Accesses that do not happen before the end of their object, and that end.
    pub late: Vec<(Id, Id)>,
}

/// The events of a complete graph, by their numbers.
struct Events<'a, 'p> {
    graph: &'a Graph<'p>,
    memory: &'a Memory,
    seen: Vec<Seen>,
    /// What happens before what, where the model says so.
    hb: Option<Relation>,
}

impl Events<'_, '_> {
    /// Reads or writes of threads.
    fn accesses(&self, writes: bool) -> impl Iterator<Item = (usize, &Seen, u64)> {
        self.seen.iter().enumerate().filter_map(move |(number, event)| {
            let SeenLoc::Cell(loc) = event.loc else {
                return None;
            };
            event.thread?;
            let inner = self.graph.event(event.id);
            let fits = if writes { inner.is_write() } else { inner.is_read() };
            fits.then(|| (number, event, self.memory.table[loc as usize].0))
        })
    }

    /// The reads before writes, and whether the order keeps theirs.
    fn pairs(&self, mut order: Relation) -> Pairs {
        let is_in_order = |(number, event, _): (usize, &Seen, u64)| {
            let source = self.graph.event(event.id).rf;
            let found = |other: &Seen| other.id == source && other.loc == event.loc;
            let source = self.seen.iter().position(found);
            let foreign = source.filter(|source| self.seen[*source].thread != event.thread);
            foreign.is_none_or(|source| order.contains(source, number))
        };
        let is_right = self.accesses(false).all(is_in_order);
        for (from, to) in order.clone().iter() {
            if self.seen[from].thread.is_none() || self.seen[from].thread != self.seen[to].thread {
                order.remove(from, to);
            }
        }
        order.transitive_close();
        let mut pairs = Pairs::new();
        for (number, first, read) in self.accesses(false) {
            for (later, last, write) in self.accesses(true) {
                if first.thread == last.thread && first.id.index() < last.id.index() {
                    let is_ordered = is_right && order.contains(number, later);
                    let pair = Pair { thread: first.id.thread(), read, write, is_ordered };
                    let sites = [first.id, last.id].map(|id| self.graph.standing(id).site());
                    pairs.insert(pair, sites);
                }
            }
        }
        pairs
    }

    fn happens_before(&self, first: usize, last: usize) -> bool {
        self.hb.as_ref().is_some_and(|hb| hb.contains(first, last))
    }

    /// Writes and reads of several threads neither of which happens before the other.
    fn races(&self) -> BTreeSet<(u64, usize, usize)> {
        let mut races = BTreeSet::new();
        for (number, write, address) in self.accesses(true) {
            for (other, read, from) in self.accesses(false) {
                if from == address
                    && read.thread != write.thread
                    && !self.happens_before(number, other)
                    && !self.happens_before(other, number)
                {
                    races.insert((address, write.id.thread(), read.id.thread()));
                }
            }
        }
        races
    }

    /// Accesses that do not happen before the end of their object. Without happens-before the
    /// search itself looks for them.
    fn late_users(&self) -> Vec<(Id, Id)> {
        let objects = self.graph.threads.iter().flat_map(|thread| &thread.objects);
        let freed = objects.filter_map(|object| Some((object, object.freed?)));
        let mut late = Vec::new();
        for (object, end) in freed.filter(|_| self.hb.is_some()) {
            let before =
                |event: &Seen| event.thread == Some(end.thread()) && event.id.index() < end.index();
            let last = self.seen.iter().rposition(before);
            let is_late = |(number, user, address): (usize, &Seen, u64)| {
                let within =
                    (object.address..object.address.saturating_add(object.size)).contains(&address);
                let in_time = user.id.thread() == end.thread()
                    || last.is_some_and(|last| self.happens_before(number, last));
                let leaves = self.graph.event(user.id).marks.is_farewell();
                (within && !in_time && !leaves).then_some((user.id, end))
            };
            let mut users = self.accesses(true).chain(self.accesses(false));
            late.extend(users.find_map(is_late));
        }
        late
    }
}

/// Threads of a graph, as the replayer of dependencies sees them.
trait Replay {
    fn done(&self, graph: &Graph<'_>, id: Id) -> Done;
    fn dependencies(&self, graph: &Graph<'_>, number: usize, done: &[Done]) -> Dependencies;
}

impl Replay for Code<'_> {
    fn done(&self, graph: &Graph<'_>, id: Id) -> Done {
        let event = graph.event(id);
        match (&graph.standing(id).at, event.kind) {
            (At::Begin, _) => Done::Begin,
            (At::End, _) => Done::End,
            (At::Enter, Kind::Read) => Done::Look,
            (At::Enter | At::Leave | At::Join { .. }, _) => Done::Pass,
            (At::Spawn { .. }, _) => Done::Answer(event.value.extract(0, 32)),
            (At::Alloc { .. } | At::HeapSize { .. }, _) => {
                Done::Answer(event.value.extract(0, self.program.pointer_width))
            }
            (At::Choice { .. }, _) => Done::Answer(event.value),
            (_, Kind::Read) => Done::Read(event.value),
            (_, Kind::Write) => Done::Write { bytes: event.value.width() / 8 },
            _ => Done::Pass,
        }
    }

    fn dependencies(&self, graph: &Graph<'_>, number: usize, done: &[Done]) -> Dependencies {
        if done.is_empty() {
            return Dependencies::default();
        }
        let by = graph.threads[number].spawned_by;
        let (function, args) = match self.program.threads.get(number) {
            Some(thread) => {
                let args = thread.args.iter();
                let args = args.map(|arg| self.evaluate(arg, &[], &mut Concrete)).collect();
                (thread.function, args)
            }
            None if by.is_init() => return Dependencies::default(),
            None => match &graph.standing(by).at {
                At::Spawn { function, args } => (*function, args.to_vec()),
                _ => return Dependencies::default(),
            },
        };
        dependencies(self, number as u32, function, &args, done.iter().copied())
    }
}

/// The events of a graph, as models see them.
struct View<'v, 'p> {
    graph: &'v Graph<'p>,
    seen: &'v [Seen],
}

impl View<'_, '_> {
    /// The numbers of the events of threads.
    fn numbers(&self) -> HashMap<Id, usize> {
        let own = self.seen.iter().enumerate().filter(|(_, event)| event.thread.is_some());
        own.map(|(number, event)| (event.id, number)).collect()
    }
}

impl Shape for View<'_, '_> {
    /// The first event of the parts, and what they do: parts of an access continue one another, and
    /// so do the halves of a read-modify-write.
    type Access = (usize, bool);
    type Place = SeenLoc;

    fn events(&self) -> usize {
        self.seen.len()
    }

    fn thread(&self, event: usize) -> Option<u32> {
        self.seen[event].thread.map(|thread| thread as u32)
    }

    fn position(&self, event: usize) -> usize {
        self.seen[event].id.index()
    }

    fn access(&self, event: usize) -> (usize, bool) {
        let id = self.seen[event].id;
        let at = |index: usize| self.graph.event(Id::new(id.thread(), index));
        let first = (1..=id.index()).rev().find(|index| !at(*index).marks.continues());
        (first.unwrap_or(0), self.graph.event(id).is_write())
    }

    fn place(&self, event: usize) -> Option<SeenLoc> {
        Some(self.seen[event].loc).filter(|loc| *loc != SeenLoc::None)
    }
}

/// What the events of a view are.
struct Tagged<'t, 'v, 'm, 'p> {
    judge: &'t CatJudge<'m>,
    view: &'t View<'v, 'p>,
}

impl Tagged<'_, '_, '_, '_> {
    fn event(&self, event: usize) -> Option<&Event> {
        let seen = &self.view.seen[event];
        seen.thread.map(|_| self.view.graph.event(seen.id))
    }
}

impl Members for Tagged<'_, '_, '_, '_> {
    type Event = usize;
    type Truth = bool;

    fn kind(&self, event: usize) -> MemberKind {
        match self.event(event).map(|event| event.kind) {
            Some(Kind::Read) => MemberKind::Read,
            Some(Kind::Write) | None => MemberKind::Write,
            Some(Kind::Fence) => MemberKind::Fence,
            Some(_) => MemberKind::Other,
        }
    }

    fn is_initial(&self, event: usize) -> bool {
        self.view.seen[event].thread.is_none()
    }

    fn carries(&mut self, event: usize, tag: &str) -> bool {
        let id = self.view.seen[event].id;
        let own = self.event(event);
        own.is_some_and(|own| self.judge.tags(self.view.graph, id, own).contains(tag))
    }

    fn is_half(&mut self, event: usize) -> bool {
        self.event(event).is_some_and(|event| event.marks.is_rmw())
    }

    fn or(&mut self, one: bool, other: bool) -> bool {
        one || other
    }
}
