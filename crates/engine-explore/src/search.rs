//! The search: every consistent execution graph once, by steps forward and revisits.
//!
//! Truly stateless optimal dynamic partial-order reduction (M. Kokologiannakis, I. Marmanis,
//! V. Gladstein, V. Vafeiadis, Truly stateless, optimal dynamic partial order reduction, POPL
//! 2022). Events are added one at a time, always of the leftmost thread that can go on. A read is
//! tried with each write that the model lets it see; a write is tried at each place in coherence
//! order, and then *revisits* reads that are there already: what was added after such a read,
//! and does not lead to the write, is taken out, and the read reads the write. A revisit is
//! made from one graph only, the one in which all that it takes out was added in the default way
//! (see [`Search::is_default`]); so nothing is explored twice, and nothing has to be remembered
//! of what was.
//!
//! The stack of nodes is the path of the depth-first search; each node knows what it tried last
//! and how to undo it.

use parallax_program::Bits;

use crate::clocks::Clock;
use crate::crew::{Crew, Task};
use crate::event::{Event, Id, Kind, Loc, Marks};
use crate::graph::{Graph, Object, Restriction, ThreadGraph};
use crate::judge::Judge;
use crate::memory::{Memory, Parts};
use crate::observer::Observer;
use crate::options::Reduction;
use crate::standing::{At, Runner, SECTIONS, Standing};
use crate::threads::Numbers;

pub struct Search<'a, 'p> {
    pub runner: &'a Runner<'p>,
    pub memory: Memory,
    pub graph: Graph<'p>,
    pub judge: Judge<'a>,
    pub numbers: &'a Numbers,
    pub observer: Observer<'a, 'p>,
    crew: &'a Crew<'p>,
    path: Path,
    /// Steps back since work was given away last.
    since_handing_on: u32,
    /// Whether reads that would wait are added last.
    is_patient: bool,
}

/// Where a search is, apart from its graph.
#[derive(Clone, Default)]
pub struct Path {
    nodes: Vec<Level>,
    /// Reads that writes on the path are still to revisit.
    to_revisit: Vec<Id>,
}

#[derive(Clone)]
struct Level {
    node: Node,
    /// Someone else tries what is left.
    is_handed_on: bool,
}

/// A step on the path, with what is left to try in its place.
#[derive(Clone)]
enum Node {
    /// An event that there is only one way to add.
    Step { live: bool, thread: usize, event: Event },
    /// A read, which tries the writes at positions `next - 1` down to `low`.
    Read { live: bool, thread: usize, next: usize, low: usize },
    /// One of several values.
    Choice { live: bool, thread: usize, next: u64, below: u64 },
    /// A write, which tries positions `next - 1` down to `low`, and has `reads` to revisit after
    /// that, the last ones in the list.
    Write { live: bool, thread: usize, event: Event, next: usize, low: usize, reads: usize },
    /// A write that revisits reads.
    Revisit { thread: usize, event: Event, reads: usize, at: Option<Revisiting> },
}

/// A read being revisited.
#[derive(Clone)]
struct Revisiting {
    live: bool,
    read: Id,
    old: Event,
    restriction: Restriction,
    next: usize,
    low: usize,
}

impl Node {
    /// Whether there may be something left to try.
    fn may_have_more(&self) -> bool {
        match self {
            Node::Step { live, .. } => !live,
            Node::Read { next, low, .. } => next > low,
            Node::Choice { next, below, .. } => next < below,
            Node::Write { next, low, reads, .. } => next > low || *reads > 0,
            Node::Revisit { reads, at, .. } => {
                *reads > 0 || at.as_ref().is_some_and(|at| at.next > at.low)
            }
        }
    }
}

impl<'a, 'p> Search<'a, 'p> {
    /// Steps back between two gifts of work, so that there is something to give.
    const PATIENCE: u32 = 32;

    pub fn new(
        runner: &'a Runner<'p>,
        memory: Memory,
        graph: Graph<'p>,
        judge: Judge<'a>,
        numbers: &'a Numbers,
        observer: Observer<'a, 'p>,
        crew: &'a Crew<'p>,
    ) -> Search<'a, 'p> {
        let path = Path::default();
        let is_patient = observer.shared.options.reductions.contains(Reduction::Waits);
        Search {
            runner,
            memory,
            graph,
            judge,
            numbers,
            observer,
            crew,
            path,
            since_handing_on: 0,
            is_patient,
        }
    }

    /// One way down the tree, by random choices, and back: how many leaves there are if all of
    /// it looks like this way; 0 where it ends blocked. None where it ends for another reason.
    pub fn sample(&mut self, mut pick: impl FnMut(u64) -> u64) -> Option<f64> {
        let mut weight = 1.0;
        let mut is_open = true;
        while is_open {
            let Some(thread) = self.next_thread() else {
                break;
            };
            let ways = self.ways(thread);
            if ways == 0 || self.memory.is_stale {
                weight = 0.0;
                break;
            }
            weight *= ways as f64;
            let taken = pick(ways);
            is_open = self.node(thread).is_some_and(|node| self.advance(node));
            for _ in 0..taken {
                is_open = self.path.nodes.pop().is_some_and(|level| self.advance(level.node));
            }
        }
        let ended = |thread: &ThreadGraph<'_>| {
            thread.standings.last().is_none_or(|now| matches!(now.at, At::Ended))
        };
        if !self.graph.threads.iter().all(ended) {
            weight = 0.0;
        }
        while let Some(level) = self.path.nodes.pop() {
            self.undo(level.node);
        }
        (!self.memory.is_stale).then_some(weight)
    }

    /// In how many ways the next event of a thread can be added.
    fn ways(&mut self, thread: usize) -> u64 {
        let mut ways = 0;
        let mut node = self.node(thread);
        while let Some(next) = node.take() {
            if self.advance(next) {
                ways += 1;
                node = self.path.nodes.pop().map(|level| level.node);
            }
        }
        ways
    }

    /// Looks at the threads before their first steps.
    pub fn begin(&mut self) {
        for number in 0..self.graph.threads.len() {
            self.observer.stands(&self.graph, &self.memory, self.runner, number);
        }
    }

    /// An address for a new object of a thread, behind its older ones. The gap tells accesses
    /// out of bounds.
    fn fresh_address(&mut self, thread: usize, size: u128, align: u32) -> Option<u64> {
        let region = Object::region(thread);
        let objects = &self.graph.threads[thread].objects;
        let next = objects.last().map_or(region, |last| {
            last.address.saturating_add(last.size).saturating_add(Object::GAP)
        });
        let address = next.next_multiple_of(u64::from(align.max(16)).next_power_of_two());
        let fits = u64::try_from(size).is_ok_and(|size| {
            size <= Object::LARGEST && address.saturating_add(size) < region + Object::LARGEST
        });
        if !fits {
            let site = self.graph.now(thread).and_then(Standing::site);
            self.observer.unsupported("an object of that size", site, self.runner);
            return None;
        }
        Some(address)
    }

    /// Explores everything from the present graph on.
    pub fn run(&mut self) {
        self.forward();
        while self.back() {
            self.forward();
        }
    }

    /// Adds events as long as that is possible.
    fn forward(&mut self) {
        while self.extend() && !self.observer.is_over() {}
    }

    /// Explores what is left on a path that someone else began.
    pub fn take_over(&mut self, task: Task<'p>) {
        (self.graph, self.memory, self.path) = (task.graph, task.memory, task.path);
        while self.back() {
            self.forward();
        }
    }

    /// Goes back to the last node with something left to try, and tries it. False where there is
    /// none, or the search is over.
    fn back(&mut self) -> bool {
        loop {
            if self.observer.is_over() || self.memory.is_stale {
                return false;
            }
            self.since_handing_on += 1;
            if self.crew.is_hungry() && self.since_handing_on > Self::PATIENCE {
                self.since_handing_on = 0;
                self.hand_on();
            }
            let Some(Level { node, is_handed_on }) = self.path.nodes.pop() else {
                return false;
            };
            if is_handed_on {
                self.undo(node);
            } else if self.advance(node) {
                return true;
            }
        }
    }

    /// Gives away what is left to try at the first node that has something.
    fn hand_on(&mut self) {
        let open = |level: &Level| !level.is_handed_on && level.node.may_have_more();
        let Some(first) = self.path.nodes.iter().position(open) else {
            return;
        };
        let mut other = Search {
            runner: self.runner,
            memory: self.memory.clone(),
            graph: self.graph.clone(),
            judge: self.judge.idle(),
            numbers: self.numbers,
            observer: self.observer.silent(),
            crew: self.crew,
            path: self.path.clone(),
            since_handing_on: 0,
            is_patient: self.is_patient,
        };
        while other.path.nodes.len() > first + 1 {
            if let Some(level) = other.path.nodes.pop() {
                other.undo(level.node);
            }
        }
        other.path.nodes.drain(..first);
        self.path.nodes[first].is_handed_on = true;
        self.crew.give(Task { graph: other.graph, memory: other.memory, path: other.path });
    }

    /// Undoes what a node did last.
    fn undo(&mut self, node: Node) {
        match node {
            Node::Step { live, .. } | Node::Read { live, .. } | Node::Choice { live, .. } => {
                if live {
                    self.graph.pop();
                }
            }
            Node::Write { live, reads, .. } => {
                if live {
                    self.graph.pop();
                }
                self.forget_revisits(reads);
            }
            Node::Revisit { reads, at, .. } => {
                if let Some(revisiting) = at {
                    if revisiting.live {
                        self.undo_revisit(&revisiting);
                    }
                    self.graph.restore(revisiting.restriction);
                }
                self.forget_revisits(reads);
            }
        }
    }

    fn forget_revisits(&mut self, reads: usize) {
        let left = self.path.to_revisit.len() - reads;
        self.path.to_revisit.truncate(left);
    }

    fn push_node(&mut self, node: Node) {
        self.path.nodes.push(Level { node, is_handed_on: false });
    }

    /// Adds the next event in the first way that is left; false where there is none.
    fn extend(&mut self) -> bool {
        match self.next_thread() {
            Some(thread) if self.graph.threads[thread].events.len() >= Id::MAX_EVENTS => {
                let site = self.graph.now(thread).and_then(Standing::site);
                self.observer.unsupported("a thread of a million steps", site, self.runner);
                false
            }
            Some(thread) => match self.node(thread) {
                Some(node) => self.advance(node),
                None => false,
            },
            None => {
                for flag in self.judge.flags(&self.graph) {
                    self.observer.flag(&self.graph, &self.memory, &flag);
                }
                self.observer.complete(&self.graph, &self.memory);
                false
            }
        }
    }

    /// A thread in the middle of an operation, or else the first that can go on. One that would
    /// wait at once lets the others go first: perhaps they do what it waits for.
    fn next_thread(&mut self) -> Option<usize> {
        let halfway =
            |thread: &ThreadGraph<'_>| thread.standings.last().is_some_and(Standing::is_halfway);
        if let Some(thread) = self.graph.threads.iter().position(halfway) {
            return Some(thread);
        }
        let mut patient = None;
        for number in 0..self.graph.threads.len() {
            let Some(now) = self.graph.now(number) else {
                continue;
            };
            if !now.is_ready() || !self.can_go_on(now) {
                continue;
            }
            if !self.is_patient || !self.would_wait(number) {
                return Some(number);
            }
            patient = patient.or(Some(number));
        }
        patient
    }

    /// Whether a thread would be stuck if it read the newest value next.
    fn would_wait(&mut self, thread: usize) -> bool {
        let Some(now) = self.graph.now(thread) else {
            return false;
        };
        if !self.runner.may_wait(now) {
            return false;
        }
        let Some((address, bytes, _)) = now.at.access() else {
            return false;
        };
        let parts = self.memory.parts(address, bytes);
        let loc = parts.loc(0);
        self.graph.reserve_place(loc);
        if parts.count > 1 {
            return false;
        }
        let newest = self.graph.place(loc).co.len();
        let Some(event) = self.read_event(thread, newest) else {
            return false;
        };
        let now = self.graph.now(thread);
        now.is_some_and(|now| self.runner.would_wait(thread as u32, now, event.value))
    }

    fn can_go_on(&self, now: &Standing<'p>) -> bool {
        match &now.at {
            At::Join { thread } => self.end_of(*thread).is_some(),
            at => self.memory.wrong_with(&self.graph, at).is_none(),
        }
    }

    /// The last step of a thread, if it has ended.
    fn end_of(&self, thread: u64) -> Option<Id> {
        let number = usize::try_from(thread).ok()?;
        let graph = self.graph.threads.get(number)?;
        matches!(graph.standings.last()?.at, At::Ended)
            .then(|| Id::new(number, graph.events.len().saturating_sub(1)))
    }

    /// What there is to try for the next event of a thread; None where it is beyond the engine.
    fn node(&mut self, thread: usize) -> Option<Node> {
        let now = self.graph.threads[thread].standings.last()?.clone();
        let life = Marks::LIFE.with(Marks::ATOMIC);
        let acquire = life.with(Marks::ACQUIRE);
        let release = life.with(Marks::RELEASE).with(Marks::STORE_BARRIER);
        let step = |kind, marks, value| {
            Some(Node::Step {
                live: false,
                thread,
                event: Event::new(kind, marks, Loc::NONE, value),
            })
        };
        let word = |value: u64| Bits::new(64, u128::from(value));
        match &now.at {
            At::Load { address, bytes, marks } => {
                let parts = self.memory.parts(*address, *bytes);
                if marks.is_atomic() {
                    self.whole(thread, parts)?;
                }
                self.read_node(thread, parts.loc(now.done))
            }
            At::Rmw { .. } | At::Cas(_) | At::Enter if now.done > 0 => {
                self.write_half(thread, &now)
            }
            At::Enter => {
                let loc = self.memory.loc(SECTIONS, 4);
                self.read_node(thread, loc)
            }
            At::Leave => {
                let loc = self.memory.loc(SECTIONS, 4);
                let marks = release.without(Marks::LIFE).with(Marks::LEAVE);
                self.write_node(thread, Event::new(Kind::Write, marks, loc, Bits::zero(32)))
            }
            At::Rmw { address, bytes, .. } => {
                let parts = self.memory.parts(*address, *bytes);
                self.whole(thread, parts)?;
                self.read_node(thread, parts.loc(0))
            }
            At::Cas(cas) => {
                let parts = self.memory.parts(cas.address, cas.bytes);
                self.whole(thread, parts)?;
                self.read_node(thread, parts.loc(0))
            }
            At::Store { address, bytes, value, marks } => {
                let parts = self.memory.parts(*address, *bytes);
                if marks.is_atomic() {
                    self.whole(thread, parts)?;
                }
                let (below, width) = parts.bits(now.done);
                let marks = marks
                    .with(Marks::CONTINUES.when(now.done > 0))
                    .with(Marks::PART.when(parts.count > 1));
                let value = value.extract(below, width);
                let event = Event::new(Kind::Write, marks, parts.loc(now.done), value);
                self.write_node(thread, event)
            }
            At::Fence { marks } => step(Kind::Fence, *marks, Bits::zero(1)),
            At::Begin => {
                let by = self.graph.threads[thread].spawned_by;
                let event = Event::new(Kind::Read, acquire, Loc::NONE, Bits::zero(1));
                Some(Node::Step { live: false, thread, event: Event { rf: by, ..event } })
            }
            At::Join { thread: other } => {
                let end = self.end_of(*other)?;
                let event = Event::new(Kind::Read, acquire, Loc::NONE, Bits::zero(1));
                Some(Node::Step { live: false, thread, event: Event { rf: end, ..event } })
            }
            At::Spawn { .. } => {
                let child = self.number_of_child(thread)?;
                step(Kind::Write, release, word(child as u64))
            }
            At::End => step(Kind::Write, release, Bits::zero(1)),
            At::Alloc { size, align, .. } => {
                let address = self.fresh_address(thread, *size, *align)?;
                step(Kind::Alloc, Marks::default(), word(address))
            }
            At::Free { address, .. } => step(Kind::Free, Marks::default(), word(*address)),
            At::HeapSize { address } => {
                let object = self.graph.find_object(*address);
                let size = object
                    .map_or(0, |(owner, index)| self.graph.threads[owner].objects[index].size);
                step(Kind::Query, Marks::default(), word(size))
            }
            At::Choice { below, .. } => {
                Some(Node::Choice { live: false, thread, next: 0, below: *below })
            }
            _ => None,
        }
    }

    fn read_node(&mut self, thread: usize, loc: Loc) -> Option<Node> {
        self.graph.reserve_place(loc);
        let marks = match &self.graph.now(thread)?.at {
            At::Rmw { read, .. } => *read,
            // One that succeeds may have to know more: see `try_read`.
            At::Cas(cas) => cas.fail,
            At::Load { marks, .. } => *marks,
            _ => Marks::ATOMIC,
        };
        let probe = Event::new(Kind::Read, marks, loc, Bits::zero(1));
        let low = self.judge.must_know(&self.graph, thread, &probe);
        let next = self.graph.place(loc).co.len() + 1;
        Some(Node::Read { live: false, thread, next, low })
    }

    fn write_node(&mut self, thread: usize, event: Event) -> Option<Node> {
        self.graph.reserve_place(event.loc);
        let (low, high) = self.positions(thread, &event);
        let reads = self.collect_revisits(thread, event.loc);
        Some(Node::Write { live: false, thread, event, next: high + 1, low, reads })
    }

    /// The second half of a read-modify-write.
    fn write_half(&mut self, thread: usize, now: &Standing<'p>) -> Option<Node> {
        let (address, bytes, marks) = match &now.at {
            At::Rmw { address, bytes, write, .. } => (*address, *bytes, *write),
            At::Cas(cas) => (cas.address, cas.bytes, cas.write),
            At::Enter => (SECTIONS, 4, Marks::section_lock().with(Marks::ENTER)),
            _ => return None,
        };
        let old = Bits::new(u32::from(bytes) * 8, now.seen);
        let value = now.written(old)?;
        let loc = self.memory.parts(address, bytes).loc(0);
        self.write_node(thread, Event::new(Kind::Write, marks, loc, value))
    }

    /// Lowest and highest place in coherence order for a write that is next in its thread.
    fn positions(&mut self, thread: usize, event: &Event) -> (usize, usize) {
        let place = self.graph.place(event.loc);
        if event.marks.is_rmw()
            && let Some(read) = self.graph.threads[thread].events.last()
        {
            let position = place.position(read.rf);
            return (position, position);
        }
        let high = place.co.len();
        (self.judge.must_know(&self.graph, thread, event), high)
    }

    /// Atomic accesses of several cells are beyond the engine.
    fn whole(&mut self, thread: usize, parts: Parts) -> Option<()> {
        if parts.count == 1 {
            return Some(());
        }
        let site = self.graph.now(thread).and_then(Standing::site);
        self.observer.unsupported("an atomic access of mixed size", site, self.runner);
        None
    }

    /// Undoes what the node did last and does the next thing; false where nothing is left.
    fn advance(&mut self, node: Node) -> bool {
        match node {
            Node::Step { live, thread, event } => self.advance_step(live, thread, event),
            Node::Choice { live, thread, next, below } => {
                self.advance_choice(live, thread, next, below)
            }
            Node::Read { live, thread, next, low } => self.advance_read(live, thread, next, low),
            Node::Write { live, thread, event, next, low, reads } => {
                if live {
                    self.graph.pop();
                }
                self.advance_write(thread, event, next, low, reads)
            }
            Node::Revisit { thread, event, reads, at } => {
                self.advance_revisit(thread, event, reads, at)
            }
        }
    }

    fn advance_step(&mut self, live: bool, thread: usize, event: Event) -> bool {
        if live {
            self.graph.pop();
            return false;
        }
        let id = self.graph.push(thread, event, 0);
        self.go_on(id);
        self.push_node(Node::Step { live: true, thread, event });
        true
    }

    fn advance_choice(&mut self, live: bool, thread: usize, next: u64, below: u64) -> bool {
        if live {
            self.graph.pop();
        }
        let Some(At::Choice { first, width, .. }) = self.graph.now(thread).map(|now| &now.at)
        else {
            return false;
        };
        if next >= below {
            return false;
        }
        let value = Bits::signed(*width, *first + i128::from(next));
        let kind = Kind::Choice { is_default: next == 0 };
        let id = self.graph.push(thread, Event::new(kind, Marks::default(), Loc::NONE, value), 0);
        self.go_on(id);
        self.push_node(Node::Choice { live: true, thread, next: next + 1, below });
        true
    }

    fn advance_read(&mut self, live: bool, thread: usize, mut next: usize, low: usize) -> bool {
        if live {
            self.graph.pop();
        }
        while next > low {
            next -= 1;
            if self.try_read(thread, next) {
                self.push_node(Node::Read { live: true, thread, next, low });
                return true;
            }
        }
        false
    }

    /// Adds the read that is next in its thread, reading the write at that position.
    fn try_read(&mut self, thread: usize, position: usize) -> bool {
        let Some(event) = self.read_event(thread, position) else {
            return false;
        };
        let place = self.graph.place(event.loc);
        let is_latest = position == place.co.len();
        if event.marks.is_rmw()
            && (self.is_taken(thread, event.loc, position)
                || self.judge.must_know(&self.graph, thread, &event) > position)
        {
            return false;
        }
        // A read that its thread is stuck at, and not of the newest write, cannot be revisited:
        // nothing comes of it.
        let id = self.graph.push(thread, event, usize::MAX);
        if !self.judge.allows(&self.graph, &[id], is_latest) {
            self.graph.pop();
            return false;
        }
        self.go_on(id);
        if !is_latest && self.stuck_read(thread).is_some() {
            self.graph.pop();
            return false;
        }
        true
    }

    /// The read that is next in its thread, of the write at that position.
    fn read_event(&self, thread: usize, position: usize) -> Option<Event> {
        let now = self.graph.now(thread)?;
        let loc = self.loc_of(now)?;
        let source = self.graph.place(loc).at(position);
        let value = self.value_of(source, loc);
        let marks = match &now.at {
            At::Load { bytes, marks, .. } => {
                let (_, part) = self.memory.table[loc.0 as usize];
                marks
                    .with(Marks::CONTINUES.when(now.done > 0))
                    .with(Marks::PART.when(part != *bytes))
            }
            At::Rmw { read, .. } => *read,
            At::Cas(cas) if value == cas.expected => cas.read,
            At::Cas(cas) => cas.fail,
            At::Enter if value.is_zero() => Marks::section_lock(),
            At::Enter => Marks::ATOMIC,
            _ => return None,
        };
        Some(Event { rf: source, ..Event::new(Kind::Read, marks, loc, value) })
    }

    fn loc_of(&self, now: &Standing<'p>) -> Option<Loc> {
        let (address, bytes, _) = now.at.access()?;
        Some(self.memory.known_parts(address, bytes)?.loc(now.done))
    }

    fn value_of(&self, source: Id, loc: Loc) -> Bits {
        match source.is_init() {
            true => self.memory.initial(&self.graph, loc).unwrap_or_else(|| self.memory.zero(loc)),
            false => self.graph.event(source).value,
        }
    }

    /// Whether another read-modify-write, which comes before the next event of the thread, has
    /// read the write at that position.
    fn is_taken(&self, thread: usize, loc: Loc, position: usize) -> bool {
        let place = self.graph.place(loc);
        let length = self.graph.threads[thread].events.len();
        place.co.get(position).is_some_and(|next| {
            self.graph.event(*next).marks.is_rmw()
                && self.graph.clocks.before_next(Clock::Prefix, *next, thread, length)
        })
    }

    fn advance_write(
        &mut self,
        thread: usize,
        event: Event,
        mut next: usize,
        low: usize,
        reads: usize,
    ) -> bool {
        while next > low {
            next -= 1;
            if self.try_write(thread, event, next) {
                self.push_node(Node::Write { live: true, thread, event, next, low, reads });
                return true;
            }
        }
        self.advance_revisit(thread, event, reads, None)
    }

    fn try_write(&mut self, thread: usize, event: Event, position: usize) -> bool {
        let place = self.graph.place(event.loc);
        let is_latest = position == place.co.len();
        // No write comes between the halves of a read-modify-write.
        if place.co.get(position).is_some_and(|next| self.graph.event(*next).marks.is_rmw()) {
            return false;
        }
        let id = self.graph.push(thread, event, position);
        if !self.judge.allows(&self.graph, &[id], is_latest) {
            self.graph.pop();
            return false;
        }
        self.go_on(id);
        true
    }

    /// The last event of a thread, if it is a read that must see another write for the thread
    /// to go on.
    fn stuck_read(&self, thread: usize) -> Option<Id> {
        let thread_graph = &self.graph.threads[thread];
        let now = thread_graph.standings.last()?;
        let last = thread_graph.events.last().filter(|_| now.is_stuck_after_one())?;
        let is_read = last.is_read() && last.loc != Loc::NONE && !last.marks.continues();
        is_read.then(|| Id::new(thread, thread_graph.events.len() - 1))
    }

    /// Lists the reads that a write which is next in its thread revisits; how many they are. A
    /// read is revisited if everything that this would take out was added in the default way.
    fn collect_revisits(&mut self, thread: usize, loc: Loc) -> usize {
        let graph = &self.graph;
        let length = graph.threads[thread].events.len();
        let is_before = |id: Id| graph.clocks.before_next(Clock::Prefix, id, thread, length);
        let open = graph.place(loc).reads.iter().filter(|read| !is_before(**read));
        let Some(oldest) = open.map(|read| graph.event(*read).stamp).min() else {
            return 0;
        };
        let listed = self.path.to_revisit.len();
        for id in graph.order.iter().rev() {
            if is_before(*id) {
                continue;
            }
            let event = graph.event(*id);
            if event.stamp < oldest || !self.is_default(thread, length, *id) {
                break;
            }
            if event.loc == loc && event.is_read() {
                self.path.to_revisit.push(*id);
            }
        }
        self.path.to_revisit.len() - listed
    }

    /// Whether an event was added in the default way, as far as the write that is next in
    /// `thread` can tell: a read reads the last write, and a write is the last one, of those
    /// that were there or lead to the new write; and no older read was made to read it.
    fn is_default(&self, thread: usize, length: usize, id: Id) -> bool {
        let event = self.graph.event(id);
        let stamp = event.stamp;
        let was_there = |other: Id| {
            other.is_init()
                || self.graph.event(other).stamp <= stamp
                || self.graph.clocks.before_next(Clock::Prefix, other, thread, length)
        };
        match event.kind {
            Kind::Choice { is_default } => is_default,
            Kind::Read | Kind::Write if event.loc != Loc::NONE => {
                let place = self.graph.place(event.loc);
                let write = if event.is_read() { event.rf } else { id };
                let position = place.position(write);
                let revisited = |read: &Id| {
                    let read = self.graph.event(*read);
                    read.rf == id && read.stamp <= stamp
                };
                was_there(write)
                    && !place.co[position..].iter().any(|later| was_there(*later))
                    && !(event.marks.has_revisited() && place.reads.iter().any(revisited))
            }
            _ => true,
        }
    }

    fn advance_revisit(
        &mut self,
        thread: usize,
        event: Event,
        mut reads: usize,
        mut at: Option<Revisiting>,
    ) -> bool {
        loop {
            if let Some(mut revisiting) = at.take() {
                if revisiting.live {
                    self.undo_revisit(&revisiting);
                }
                while revisiting.next > revisiting.low {
                    revisiting.next -= 1;
                    if self.try_revisit(thread, event, &revisiting) {
                        revisiting.live = true;
                        let at = Some(revisiting);
                        self.push_node(Node::Revisit { thread, event, reads, at });
                        return true;
                    }
                }
                self.graph.restore(revisiting.restriction);
            }
            if reads == 0 {
                return false;
            }
            reads -= 1;
            if let Some(read) = self.path.to_revisit.pop() {
                at = Some(self.begin_revisit(thread, &event, read));
            }
        }
    }

    /// Takes out the read and what depends on it.
    fn begin_revisit(&mut self, thread: usize, event: &Event, read: Id) -> Revisiting {
        let old = *self.graph.event(read);
        let length = self.graph.threads[thread].events.len();
        let last = length.checked_sub(1).map(|index| Id::new(thread, index));
        let clock: Vec<u32> =
            last.map_or(Vec::new(), |last| self.graph.clocks.get(Clock::Prefix, last).to_vec());
        let from = self.graph.order.iter().rposition(|id| *id == read).unwrap_or(0);
        let keep = |id: Id| crate::clocks::Clocks::covers(&clock, id);
        let restriction = self.graph.restrict(from, keep);
        let (low, high) = self.positions(thread, event);
        Revisiting { live: false, read, old, restriction, next: high + 1, low }
    }

    /// Adds the write at a place in coherence order, and the read, which reads it.
    fn try_revisit(&mut self, thread: usize, event: Event, at: &Revisiting) -> bool {
        let position = at.next;
        let place = self.graph.place(event.loc);
        let is_latest = position == place.co.len();
        if place.co.get(position).is_some_and(|next| self.graph.event(*next).marks.is_rmw()) {
            return false;
        }
        let marks = event.marks.with(Marks::REVISITED);
        let stamp = at.old.stamp + 1;
        let write = self.graph.push(thread, Event { marks, stamp, ..event }, position);
        let reader = at.read.thread();
        let read = self
            .read_event(reader, position + 1)
            .filter(|read| self.judge.must_know(&self.graph, reader, read) <= position + 1);
        let Some(read) = read else {
            self.graph.pop();
            return false;
        };
        let read = Event { stamp: at.old.stamp, ..read };
        let read = self.graph.push_early(reader, read, at.restriction.from);
        if !self.judge.allows(&self.graph, &[write, read], is_latest) {
            self.graph.pop_early(read, at.restriction.from);
            self.graph.pop();
            return false;
        }
        self.go_on(write);
        self.go_on(read);
        if !is_latest && self.stuck_read(reader).is_some() {
            self.undo_revisit(at);
            return false;
        }
        true
    }

    fn undo_revisit(&mut self, at: &Revisiting) {
        self.graph.pop_early(at.read, at.restriction.from);
        self.graph.pop();
    }

    /// Where the thread stands after an event that was just added; what is wrong with it.
    fn go_on(&mut self, id: Id) {
        let next = self.after(id);
        self.graph.threads[id.thread()].standings.push(next);
        self.observer.added(&self.graph, &self.memory, self.runner, id);
    }

    fn after(&mut self, id: Id) -> Standing<'p> {
        let number = id.thread() as u32;
        let event = *self.graph.event(id);
        let standing = self.graph.standing(id);
        let runner = self.runner;
        match &standing.at {
            At::Begin => runner.enter(number, standing),
            At::Load { address, bytes, .. } => {
                let parts = self.memory.parts(*address, *bytes);
                let (below, _) = parts.bits(standing.done);
                let seen = standing.seen | event.value.unsigned() << below;
                match standing.done + 1 < parts.count {
                    true => runner.within(standing, seen),
                    false => {
                        let whole = Bits::new(u32::from(*bytes) * 8, seen);
                        runner.pass_with(number, standing, whole)
                    }
                }
            }
            At::Store { address, bytes, .. } => {
                match standing.done + 1 < self.memory.parts(*address, *bytes).count {
                    true => runner.within(standing, 0),
                    false => runner.pass(number, standing),
                }
            }
            At::Rmw { .. } if event.is_read() => runner.within(standing, event.value.unsigned()),
            At::Rmw { bytes, .. } => {
                let old = Bits::new(u32::from(*bytes) * 8, standing.seen);
                runner.pass_with(number, standing, old)
            }
            At::Enter if event.is_read() => match event.value.is_zero() {
                true => runner.within(standing, 0),
                false => runner.shut_out(standing),
            },
            At::Cas(cas) if event.is_read() => match event.value == cas.expected {
                true => runner.within(standing, event.value.unsigned()),
                false => runner.pass_cas(number, standing, event.value, false),
            },
            At::Cas(cas) => runner.pass_cas(number, standing, cas.expected, true),
            At::Spawn { function, args } => {
                let begin = runner.begin(*function, args);
                let next = runner.pass_with(number, standing, event.value.extract(0, 32));
                self.graph.spawn(id, event.value.unsigned() as usize, begin);
                next
            }
            At::Alloc { .. } | At::HeapSize { .. } => {
                let width = runner.code.program.pointer_width;
                runner.pass_with(number, standing, event.value.extract(0, width))
            }
            At::Choice { .. } => runner.pass_with(number, standing, event.value),
            At::End => runner.ended(standing),
            _ => runner.pass(number, standing),
        }
    }

    /// The number of the thread that a thread is about to spawn.
    fn number_of_child(&mut self, thread: usize) -> Option<usize> {
        let spawned = self.graph.threads[thread].spawns();
        match self.numbers.child(thread, spawned) {
            Some(child) => {
                self.graph.reserve(child);
                Some(child)
            }
            None => {
                let site = self.graph.now(thread).and_then(Standing::site);
                self.observer.unsupported("more than 2,000 threads", site, self.runner);
                None
            }
        }
    }
}
