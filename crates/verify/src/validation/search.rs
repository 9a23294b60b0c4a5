//! A search that is led by a witness: all executions on the machine of `sc` that come by its places in
//! order, until one shows the violation where the witness has it.
//!
//! Threads run on their own where nobody notices, so that places at which nothing is shared are passed
//! as well. A place counts as passed from when a thread comes by until its next step that others may
//! notice. That lets more executions through than a witness may mean, and none that it means is lost.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use parallax_control::Control;
use parallax_frontend_c::Formula;
use parallax_machine::system::{Action, At, BadAccess, Log, Readiness, Setup, System};
use parallax_program::{AllocKind, InstKind, Property, Span};

use super::Guide;
use super::expression::{evaluate, numbers};
use crate::competition::formula_of;
use crate::witness::{Waypoint, What};

/// Steps that a thread takes on its own before it is taken not to end.
const LONGEST: u32 = 1 << 16;
/// States that are remembered at most.
const MOST_STATES: usize = 1 << 23;
/// So few values are all tried.
const FEW: u64 = 16;

/// What inputs may be: every value of 64 bits but one, as the machine counts them.
pub const INPUTS: (i128, i128) = (-(1 << 63), (1 << 63) - 2);

/// How a search ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum End {
    Found(String),
    /// There is nothing more to look at.
    Exhausted,
    Stopped(String),
    /// An object is shared that was taken to be of one thread; for the machine to know.
    Escaped(u64),
}

#[derive(Clone)]
struct Node<'s, 'p> {
    system: System<'s, 'p>,
    /// How many waypoints are passed.
    position: usize,
    /// For each thread the places that it has passed since others may have noticed it.
    passed: Vec<BTreeSet<usize>>,
    /// Which threads the witness means: by the numbers of its names.
    threads: Vec<(usize, u32)>,
    last: u32,
}

pub struct Search<'a, 's, 'p> {
    setup: &'s Setup<'p>,
    guide: &'a Guide<'a>,
    control: &'a Control<'a>,
    visited: HashSet<(u128, u64)>,
    places: RefCell<HashMap<Span, Option<usize>>>,
    /// Why something may have been missed.
    pub gap: Option<String>,
    /// A violation at another place.
    pub elsewhere: Option<String>,
    /// How many waypoints were passed at most.
    pub furthest: usize,
    end: Option<End>,
}

impl<'a, 's, 'p> Search<'a, 's, 'p> {
    pub fn new(
        setup: &'s Setup<'p>,
        guide: &'a Guide<'a>,
        control: &'a Control<'a>,
    ) -> Search<'a, 's, 'p> {
        Search {
            setup,
            guide,
            control,
            visited: HashSet::new(),
            places: RefCell::default(),
            gap: None,
            elsewhere: None,
            furthest: 0,
            end: None,
        }
    }

    pub fn run(&mut self) -> End {
        let system = System::start(self.setup, &mut Log::off());
        let start = Node { system, position: 0, passed: Vec::new(), threads: Vec::new(), last: 0 };
        let mut stack = self.arrive(start);
        let mut count: u32 = 0;
        while let Some(node) = stack.pop() {
            count = count.wrapping_add(1);
            if count.is_multiple_of(16) && self.is_stopped() {
                break;
            }
            if self.visited.len() >= MOST_STATES {
                return End::Stopped("too many states".to_string());
            }
            if !self.visited.insert((node.system.fingerprint(), digest(&node))) {
                continue;
            }
            self.furthest = self.furthest.max(node.position);
            let mut next = self.successors(&node);
            if let Some(end) = self.end.take() {
                return end;
            }
            next.sort_by_key(|next| std::cmp::Reverse(self.preference(&node, next)));
            stack.extend(next);
        }
        self.end.take().unwrap_or(End::Exhausted)
    }

    /// Whether a limit is reached, which then ends the search.
    fn is_stopped(&mut self) -> bool {
        if let Some(stop) = self.control.reason() {
            self.end.get_or_insert(End::Stopped(parallax_verdict::stopped(stop).message));
        }
        self.end.is_some()
    }

    /// The smaller, the sooner: what passes places, what the witness waits for, who went last.
    fn preference(&self, from: &Node<'s, 'p>, to: &Node<'s, 'p>) -> (usize, bool, bool, u32) {
        let wanted = self.guide.waypoints.get(from.position);
        let wanted = wanted.and_then(|(waypoint, _)| self.thread_of(from, waypoint)).flatten();
        let left = self.guide.waypoints.len() - to.position.min(self.guide.waypoints.len());
        (left, wanted.is_some_and(|thread| thread != to.last), from.last != to.last, to.last)
    }

    fn missed(&mut self, why: impl Into<String>) {
        self.gap.get_or_insert_with(|| why.into());
    }

    /// Lets threads run on their own, and passes what can be passed: in each way in which the names of
    /// threads can be meant.
    fn arrive(&mut self, mut node: Node<'s, 'p>) -> Vec<Node<'s, 'p>> {
        for thread in 0..node.system.thread_count() {
            node.passed.resize_with(node.system.thread_count() as usize, BTreeSet::new);
            for round in 0.. {
                let Some(local) = node.system.thread(thread) else { break };
                let is_alone = local.at == At::Local
                    && matches!(node.system.readiness(thread), Readiness::Ready { .. });
                let places = self.places_of(&node.system, thread);
                node.passed[thread as usize].extend(places);
                if !is_alone {
                    break;
                }
                if round > LONGEST {
                    self.missed("a loop, or recursion, that does not end");
                    break;
                }
                node.system.apply(Action::Step { thread, choice: 0 }, &mut Log::off());
                node.passed.resize_with(node.system.thread_count() as usize, BTreeSet::new);
            }
        }
        let mut done = Vec::new();
        let mut open = vec![node];
        let mut count: u32 = 0;
        while let Some(mut node) = open.pop() {
            // There may be very many ways.
            count = count.wrapping_add(1);
            if count.is_multiple_of(256) && self.is_stopped() {
                break;
            }
            let Some((waypoint, place)) = self.guide.waypoints.get(node.position) else {
                done.push(node);
                continue;
            };
            let fits = |thread: u32| {
                node.passed[thread as usize].contains(place) && self.holds(&node, waypoint)
            };
            if matches!(waypoint.what, What::Returns(_)) {
                done.push(node);
                continue;
            }
            match self.thread_of(&node, waypoint) {
                // Whoever it is.
                None if (0..node.system.thread_count()).any(fits) => {
                    node.position += 1;
                    open.push(node);
                }
                Some(Some(thread)) if fits(thread) => {
                    node.position += 1;
                    open.push(node);
                }
                Some(None) if self.guide.of_main.contains(place) => {
                    if fits(0) && self.free_threads(&node).contains(&0) {
                        node.threads.push((self.guide.name(waypoint), 0));
                        node.position += 1;
                        open.push(node);
                    } else {
                        done.push(node);
                    }
                }
                Some(None) => {
                    let free = self.free_threads(&node).into_iter().filter(|t| fits(*t));
                    let free: Vec<u32> = free.collect();
                    for thread in free {
                        let mut bound = node.clone();
                        bound.threads.push((self.guide.name(waypoint), thread));
                        bound.position += 1;
                        open.push(bound);
                    }
                    done.push(node);
                }
                _ => done.push(node),
            }
        }
        done
    }

    /// The thread that a waypoint is of: None for any, `Some(None)` where that is not decided yet.
    fn thread_of(&self, node: &Node<'s, 'p>, waypoint: &Waypoint) -> Option<Option<u32>> {
        waypoint.thread.as_ref()?;
        let name = self.guide.name(waypoint);
        let known = node.threads.iter().find(|(other, _)| *other == name);
        Some(known.map(|(_, thread)| *thread))
    }

    /// Those that no name stands for yet.
    fn free_threads(&self, node: &Node<'s, 'p>) -> Vec<u32> {
        let is_free = |thread: &u32| !node.threads.iter().any(|(_, other)| other == thread);
        (0..node.system.thread_count()).filter(is_free).collect()
    }

    /// Whether a thread may be the one of a waypoint.
    fn may_be(&self, node: &Node<'s, 'p>, waypoint: &Waypoint, thread: u32) -> bool {
        match self.thread_of(node, waypoint) {
            None => true,
            Some(Some(known)) => known == thread,
            Some(None) => self.free_threads(node).contains(&thread),
        }
    }

    /// The places of the witness that a thread stands at, in any of its calls.
    fn places_of(&self, system: &System<'s, 'p>, thread: u32) -> Vec<usize> {
        let Some(local) = system.thread(thread) else { return Vec::new() };
        let code = &self.setup.code;
        let mut cache = self.places.borrow_mut();
        let places = local.thread.stack().filter_map(|site| {
            let span = code.span(site);
            *cache
                .entry(span)
                .or_insert_with(|| self.guide.place(&code.program.source.origin(span)))
        });
        places.collect()
    }

    /// Whether what is assumed at a waypoint holds, as far as that can be decided.
    fn holds(&self, node: &Node<'s, 'p>, waypoint: &Waypoint) -> bool {
        let What::Assume(text) = &waypoint.what else { return true };
        self.truth(&node.system, text) != Some(false)
    }

    /// Whether an expression over globals is true. Where the sign of a value would decide, which is
    /// not known, nobody knows.
    fn truth(&self, system: &System<'s, 'p>, text: &str) -> Option<bool> {
        let value = |is_signed: bool| {
            let name = move |name: &str| self.guide.global(system, name, is_signed);
            evaluate(text, &name).map(|value| value != 0)
        };
        let (signed, unsigned) = (value(true)?, value(false)?);
        (signed == unsigned).then_some(signed)
    }

    /// What can come next. An end of the search is noted.
    fn successors(&mut self, node: &Node<'s, 'p>) -> Vec<Node<'s, 'p>> {
        let system = &node.system;
        self.look_for_races(node);
        for thread in 0..system.thread_count() {
            let Some(local) = system.thread(thread) else { continue };
            match (&local.at, system.readiness(thread)) {
                // It fails by itself, after whatever else the witness has others do.
                (At::Failed { property, message }, _) => {
                    self.failed(node, thread, *property, message, false);
                    if self.end.is_some() || node.position == self.guide.waypoints.len() {
                        return Vec::new();
                    }
                }
                (at, Readiness::Failed { property, wrong }) => {
                    let frees = matches!(at, At::Free { .. });
                    self.failed(node, thread, property, wrong.message(), frees);
                }
                (_, Readiness::Escaped { context }) => {
                    self.end.get_or_insert(End::Escaped(context));
                }
                (At::Fault(_), _) => {
                    self.missed("something that the machine cannot follow is reached");
                }
                (At::Cut | At::Forgotten, _) => self.missed("a limit of the machine is reached"),
                (At::Stopped, _) => return Vec::new(),
                _ => {}
            }
        }
        // The end of the first thread is nothing that others notice: they may have done before it what
        // they do now.
        let is_over = self.setup.code.program.daemons && system.has_ended(0);
        let mut next = Vec::new();
        for thread in 0..system.thread_count() {
            next.extend(self.steps(node, thread));
        }
        if next.is_empty() || is_over {
            self.look_for_leaks(node);
        }
        next
    }

    /// The next step of a thread, in all ways that are tried.
    fn steps(&mut self, node: &Node<'s, 'p>, thread: u32) -> Vec<Node<'s, 'p>> {
        let Readiness::Ready { choices } = node.system.readiness(thread) else {
            return Vec::new();
        };
        let Some(local) = node.system.thread(thread) else { return Vec::new() };
        let mut ways: Vec<(u64, bool)> = Vec::new();
        match local.at {
            At::Choice { first, below, .. } => ways = self.inputs(node, thread, first, below),
            _ => ways.extend((0..choices).map(|choice| (choice, false))),
        }
        let mut next = Vec::new();
        for (choice, is_led) in ways {
            let mut to = node.clone();
            if is_led {
                if let Some((waypoint, _)) = self.guide.waypoints.get(node.position)
                    && self.thread_of(node, waypoint) == Some(None)
                {
                    to.threads.push((self.guide.name(waypoint), thread));
                }
                to.position += 1;
            }
            to.passed[thread as usize].clear();
            to.system.apply(Action::Step { thread, choice }, &mut Log::off());
            to.last = thread;
            next.extend(self.arrive(to));
        }
        next
    }

    /// Values for an input, and whether the witness has asked for it there.
    fn inputs(
        &mut self,
        node: &Node<'s, 'p>,
        thread: u32,
        first: i128,
        below: u64,
    ) -> Vec<(u64, bool)> {
        let choice = |value: i128| {
            let choice = u64::try_from(value.checked_sub(first)?).ok()?;
            (choice < below).then_some(choice)
        };
        let asked = self.guide.waypoints.get(node.position).filter(|(waypoint, place)| {
            self.may_be(node, waypoint, thread) && node.passed[thread as usize].contains(place)
        });
        if let Some((Waypoint { what: What::Returns(text), .. }, _)) = asked {
            let mut values: Vec<u64> = Vec::new();
            for value in &numbers(text) {
                let result = |name: &str| (name == "\\result").then_some(*value);
                if evaluate(text, &result).is_some_and(|holds| holds != 0) {
                    values.extend(choice(wrapped(*value)));
                }
            }
            let is_exact = text.contains("==") && !text.contains("||");
            if values.is_empty() || !is_exact {
                self.missed(format!("which values '{text}' leaves"));
            }
            return values.into_iter().map(|choice| (choice, true)).collect();
        }
        if below <= FEW {
            return (0..below).map(|choice| (choice, false)).collect();
        }
        self.missed("an input that the witness does not give may have any value");
        let values = self.guide.values.iter().filter_map(|value| choice(wrapped(*value)));
        let values: BTreeSet<u64> = values.collect();
        values.into_iter().map(|choice| (choice, false)).collect()
    }

    /// A thread has failed. That is what was looked for, or another thing.
    fn failed(
        &mut self,
        node: &Node<'s, 'p>,
        thread: u32,
        property: Property,
        message: &str,
        frees: bool,
    ) {
        let is_late = frees && message == BadAccess::Freed.message();
        let formula = match formula_of(property, message, &self.guide.formulas.calls()) {
            Some(Formula::ValidDeref) if is_late => Some(Formula::ValidFree),
            formula => formula,
        };
        let Some(formula) = formula.filter(|found| self.guide.asks(found)) else {
            // Assertions that nobody asks about end the program; what is undefined leaves all open.
            if parallax_verdict::leaves_all_open(property) {
                self.missed(format!("{message}, and what follows is open"));
            }
            return;
        };
        let own = node.system.thread(thread).and_then(|local| local.site());
        let line = own.map(|site| self.setup.code.span(site));
        let line = line.map(|span| self.setup.code.program.source.origin(span).line);
        let places = self.places_of(&node.system, thread);
        let is_target = self
            .guide
            .targets
            .iter()
            .any(|(target, place)| places.contains(place) && self.may_be(node, target, thread));
        let at = line.map_or_else(String::new, |line| format!(" (line {line})"));
        let what = format!("{}: {message}{at}", formula.name());
        if is_target && node.position == self.guide.waypoints.len() {
            self.end = Some(End::Found(what));
        } else {
            self.elsewhere.get_or_insert(what);
        }
    }

    fn look_for_leaks(&mut self, node: &Node<'s, 'p>) {
        if !self.guide.asks(&Formula::ValidMemcleanup) {
            return;
        }
        let mut living = node.system.living().map(|(_, object)| object.kind);
        if living.any(|kind| kind == AllocKind::Heap) {
            let what = "valid-memcleanup: an object is never freed".to_string();
            match node.position == self.guide.waypoints.len() {
                true => self.end = Some(End::Found(what)),
                false => drop(self.elsewhere.get_or_insert(what)),
            }
        }
    }

    /// Two threads are about to make accesses that race.
    fn look_for_races(&mut self, node: &Node<'s, 'p>) {
        if !self.guide.asks(&Formula::NoRace) {
            return;
        }
        let count = node.system.thread_count();
        let pairs = (0..count).flat_map(|a| (a + 1..count).map(move |b| (a, b)));
        for (a, b) in pairs {
            if !self.is_race(node, a, b) {
                continue;
            }
            let what = "no-data-race: two accesses that nothing orders".to_string();
            let places = [a, b].map(|thread| (thread, self.places_of(&node.system, thread)));
            let is_at = |target: &(Waypoint, usize), number: usize| {
                let (thread, places) = &places[number];
                places.contains(&target.1) && self.may_be(node, &target.0, *thread)
            };
            let are_targets = match self.guide.targets.as_slice() {
                [one] => is_at(one, 0) || is_at(one, 1),
                [one, other] => {
                    is_at(one, 0) && is_at(other, 1) || is_at(one, 1) && is_at(other, 0)
                }
                _ => false,
            };
            if are_targets && node.position == self.guide.waypoints.len() {
                self.end = Some(End::Found(what));
                return;
            }
            self.elsewhere.get_or_insert(what);
        }
    }

    fn is_race(&self, node: &Node<'s, 'p>, a: u32, b: u32) -> bool {
        let (Some(a), Some(b)) = (self.access(node, a), self.access(node, b)) else { return false };
        let apart = a.address + a.bytes <= b.address || b.address + b.bytes <= a.address;
        !apart && (a.writes || b.writes) && !(a.is_atomic && b.is_atomic)
    }

    fn access(&self, node: &Node<'s, 'p>, thread: u32) -> Option<Access> {
        let local = node.system.thread(thread)?;
        if let At::Free { address, kind: AllocKind::Heap } = local.at {
            let mut living = node.system.living();
            let (_, object) = living.find(|(_, object)| object.address == address)?;
            let bytes = u128::from(object.size);
            return Some(Access { address: address.into(), bytes, writes: true, is_atomic: false });
        }
        let (address, bytes, writes) = local.at.access()?;
        let site = local.site()?;
        let block =
            self.setup.code.program.function(site.function).blocks.get(site.block.0 as usize)?;
        let is_plain = match &block.insts.get(site.index as usize)?.kind {
            InstKind::Load { tags, .. } | InstKind::Store { tags, .. } => tags.contains("NA"),
            _ => false,
        };
        let is_atomic = !is_plain || node.system.section() == Some(thread);
        let (address, bytes) = (u128::from(address), u128::from(bytes));
        Some(Access { address, bytes, writes, is_atomic })
    }
}

struct Access {
    address: u128,
    bytes: u128,
    writes: bool,
    is_atomic: bool,
}

/// Values of unsigned types of 64 bits, as the machine counts them.
fn wrapped(value: i128) -> i128 {
    let most = i128::from(i64::MAX);
    if value > most { value - (1 << 64) } else { value }
}

fn digest(node: &Node<'_, '_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    (node.position, &node.passed, &node.threads).hash(&mut hasher);
    hasher.finish()
}
