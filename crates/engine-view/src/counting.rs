//! The views of a program in which threads take turns: a search through its states, from the last one back.
//!
//! The views that can follow a state depend on the state alone, not on the way there. Those of a final state are the one in
//! which nobody reads anything; those of any other state are put together of what each step reads and of the views
//! after that step. So each state is looked at once, however many executions go through it, and since what
//! was read need not be in a state any more, executions of different views meet in it. A [family](Families)
//! holds the views of a state, each once, and mostly in far less room than that.
//!
//! When a store takes effect is left open as long as nobody looks ([`Lazy`]), and not all orders of steps are tried. What a thread
//! does next is left for later as long as it does not depend on others, as in the [search through
//! states](parallax_machine::reduction), and here by value: to read what is there is in nobody's way who writes the same
//! once more. No execution is lost but for others in which all reads have the same values.

use parallax_control::Control;
use parallax_machine::reduction::Status;
use parallax_machine::reduction::quick::QuickMap;
use parallax_machine::reduction::summary::{Access, Kind, Process, SetId, Summaries};
use parallax_machine::system::{
    At, Log, MemoryKind, Position, Readiness, Setup, SystemOptions, What,
};
use parallax_program::{Bits, Program, Property};

use crate::family::{Families, Family, Letter};
use crate::lazy::{Lazy, Start, store_at};
use crate::turns::{Turn, Turns};

/// How many views there are.
pub struct Counted {
    /// None if there are more than fit into a word.
    pub views: Option<u64>,
    pub states: u64,
}

/// Why there is no number.
pub enum Uncounted {
    /// The limits were reached.
    Stopped,
    /// This way cannot take the program, or would take too long.
    Beyond,
    /// There is something wrong with an execution.
    Wrong,
}

/// A search that did not come to its end.
enum Ended {
    Escaped { context: u64 },
    Forgotten,
    Not(Uncounted),
}

/// Counts the views of a program in which nothing is wrong of what is looked for.
pub fn count(
    program: &Program,
    properties: &[Property],
    nondet: Option<(i128, i128)>,
    control: &Control<'_>,
) -> Result<Counted, Uncounted> {
    let memory = MemoryKind::Sc;
    let properties = properties.to_vec();
    let options = SystemOptions { memory, nondet, properties, ..SystemOptions::default() };
    let mut setup = Setup::new(program, options).ok_or(Uncounted::Beyond)?;
    loop {
        let mut search = Search::new(&setup, control);
        match search.run() {
            Ok(family) => {
                let states = search.known.len() as u64;
                return Ok(Counted { views: search.families.count(family), states });
            }
            Err(Ended::Escaped { context }) => setup.share(context),
            Err(Ended::Forgotten) => setup.keep_stacks(),
            Err(Ended::Not(why)) => return Err(why),
        }
    }
}

struct Search<'s, 'p, 'c> {
    setup: &'s Setup<'p>,
    control: &'c Control<'c>,
    families: Families,
    summaries: Summaries,
    /// Of each state that was seen, by its fingerprint; none for those of the path.
    known: QuickMap<(u64, u64), Option<Done>>,
    path: Vec<Frame<'s, 'p>>,
}

/// What is known of a state when all that follows was looked at.
#[derive(Clone, Copy)]
struct Done {
    family: Family,
    /// All accesses from there on.
    future: SetId,
}

struct Frame<'s, 'p> {
    state: Lazy<'s, 'p>,
    key: (u64, u64),
    turns: Turns<'p>,
    /// What the step that was taken last reads, and who.
    read: Vec<Letter>,
    reader: u32,
    done: Done,
}

impl<'s, 'p, 'c> Search<'s, 'p, 'c> {
    /// States between two looks at the limits.
    const PATIENCE: usize = 256;
    /// Steps of an execution that are followed.
    const LONGEST: usize = 100_000;
    /// States that are looked at: where there are more, a solver may find the few views that there are.
    const MOST_STATES: usize = 3_000_000;
    /// What a state costs, in nominal nanoseconds.
    const WORK: u64 = 4_000;

    fn new(setup: &'s Setup<'p>, control: &'c Control<'c>) -> Self {
        Search {
            setup,
            control,
            families: Families::new(),
            summaries: Summaries::default(),
            known: QuickMap::default(),
            path: Vec::new(),
        }
    }

    fn run(&mut self) -> Result<Family, Ended> {
        if let Some(done) = self.arrive(Lazy::start(self.setup))? {
            return Ok(done.family);
        }
        loop {
            let Some(top) = self.path.last_mut() else { return Err(Ended::Not(Uncounted::Beyond)) };
            let arrived = match top.turns.next_step() {
                Some((thread, start, choice)) => {
                    let state = self.take(thread, &start, choice);
                    self.arrive(state)?
                }
                None if self.grow() => None,
                None => match self.leave() {
                    (done, true) => return Ok(done.family),
                    (done, false) => Some(done),
                },
            };
            if let Some(done) = arrived {
                self.add(done);
            }
        }
    }

    /// Takes a step from the last state of the path.
    fn take(&mut self, thread: u32, start: &Start<'p>, choice: u64) -> Lazy<'s, 'p> {
        let Some(top) = self.path.last_mut() else { return Lazy::start(self.setup) };
        let mut state = top.state.clone();
        top.reader = thread;
        top.read.clear();
        let at = state.system.thread(thread).map(|local| local.at.clone());
        let at = at.filter(|_| matches!(start, Start::Front));
        let seen = at.as_ref().and_then(|at| at.access());
        let seen =
            seen.map(|(address, bytes, _)| state.system.bytes(Some(thread), address, bytes.into()));
        let is_whole = matches!(at, Some(At::Enter)) || state.system.section().is_some();
        let mut log = if is_whole { Log::on() } else { Log::off() };
        state.take(thread, start, choice, &mut log);
        let families = &mut self.families;
        match (&at, seen) {
            _ if is_whole => {
                let read = log.records().iter().filter_map(|record| match record.what {
                    What::Read { value, .. } => Some(families.letter(value, 0)),
                    What::Choice { value } => Some(families.letter(value.unsigned(), 1)),
                    _ => None,
                });
                top.read.extend(read);
            }
            (Some(At::Load { .. } | At::Rmw { .. }), Some(value)) => {
                top.read.push(families.letter(value, 0));
            }
            (Some(At::Cas { .. }), Some(value)) => {
                // One that fails for no reason is another one.
                top.read.push(families.letter(value, if choice == 0 { 0 } else { 2 }));
            }
            (Some(At::Choice { .. }), _) => top.read.push(families.letter(choice.into(), 1)),
            _ => {}
        }
        state
    }

    /// The last step has led to a state: what is known of it, or nothing if it is a new one.
    fn arrive(&mut self, state: Lazy<'s, 'p>) -> Result<Option<Done>, Ended> {
        let fingerprint = state.fingerprint();
        let key = (fingerprint as u64, (fingerprint >> 64) as u64);
        match self.known.get(&key) {
            Some(Some(done)) => Ok(Some(*done)),
            // Round and round: there is no end of views.
            Some(None) => Err(Ended::Not(Uncounted::Beyond)),
            None => self.enter(state, key).map(|()| None),
        }
    }

    fn enter(&mut self, state: Lazy<'s, 'p>, key: (u64, u64)) -> Result<(), Ended> {
        let is_long = self.path.len() >= Self::LONGEST || self.known.len() >= Self::MOST_STATES;
        if is_long || state.is_beyond() {
            return Err(Ended::Not(Uncounted::Beyond));
        }
        if self.known.len().is_multiple_of(Self::PATIENCE) {
            self.control.spend(Self::WORK * Self::PATIENCE as u64);
            if self.control.reason().is_some() {
                return Err(Ended::Not(Uncounted::Stopped));
            }
        }
        self.known.insert(key, None);
        let (mut turns, future) = self.turns(&state)?;
        let mut done = Done { family: Family::EMPTY, future };
        // What is pending when all have ended nobody reads any more.
        match is_end(&state)? {
            true => done.family = Family::NOTHING_READ,
            false => turns.choose_one(&self.summaries),
        }
        let (read, reader) = (Vec::new(), 0);
        self.path.push(Frame { state, key, turns, read, reader, done });
        Ok(())
    }

    /// What each thread can do, and all accesses that are due.
    fn turns(&mut self, state: &Lazy<'s, 'p>) -> Result<(Turns<'p>, SetId), Ended> {
        let system = &state.system;
        let mut turns = Vec::with_capacity(system.thread_count() as usize);
        let mut future = Vec::with_capacity(system.thread_count() as usize);
        let fronts = state.fronts();
        for thread in 0..system.thread_count() {
            let Some(local) = system.thread(thread) else {
                turns.push(Turn::ABSENT);
                continue;
            };
            let status = match system.readiness(thread) {
                Readiness::Ready { .. } if state.front_sleeps(thread) => Status::Ready(0),
                Readiness::Ready { choices } => {
                    Status::Ready(u32::try_from(choices).unwrap_or(u32::MAX))
                }
                Readiness::Blocked(waits) => Status::Waits(waits),
                Readiness::Over if is_sound(&local.at) => Status::Over,
                Readiness::Over => return Err(Ended::Not(broken(&local.at))),
                Readiness::Failed { .. } => return Err(Ended::Not(Uncounted::Wrong)),
                Readiness::Unsupported(_) => return Err(Ended::Not(Uncounted::Beyond)),
                Readiness::Escaped { context } => return Err(Ended::Escaped { context }),
                Readiness::Forgotten => return Err(Ended::Forgotten),
            };
            let starts = state.starts(thread, &fronts);
            let (now, seen) = self.accesses(state, thread, &starts);
            turns.push(Turn::new(now, status, starts, state.has_pending(thread)));
            future.push(seen);
        }
        Ok((Turns(turns), self.union(&future)))
    }

    /// In halves, as states mostly differ in few of the parts.
    fn union(&mut self, sets: &[SetId]) -> SetId {
        match sets {
            [] => SetId::EMPTY,
            [one] => *one,
            _ => {
                let (left, right) = sets.split_at(sets.len() / 2);
                let (left, right) = (self.union(left), self.union(right));
                self.summaries.union(left, right)
            }
        }
    }

    /// What a thread may access next: as others mind it, and as it is found wherever it comes to do it.
    fn accesses(
        &mut self,
        state: &Lazy<'s, 'p>,
        thread: u32,
        starts: &[Start<'p>],
    ) -> (SetId, SetId) {
        let summaries = &mut self.summaries;
        let (mut now, mut seen) = (SetId::EMPTY, SetId::EMPTY);
        let front = state.system.thread(thread);
        let front = front.and_then(|local| accesses(state, thread, &local.at));
        if let Some([front, as_seen]) = front {
            (now, seen) = (summaries.only(front), summaries.only(as_seen));
        }
        let process = Process::of_thread(thread);
        let mut add = |position: &Position<'p>, is_own: bool, last: &mut Option<Access>| {
            let Some(((start, size), value)) = store_at(position.at()) else { return };
            // Whoever waits for the end of a thread ends what that has pending.
            let kind = if is_own { Kind::Sets(value) } else { Kind::Read };
            let access = Access { process, start, size: size.into(), kind };
            if last.replace(access) == Some(access) {
                return;
            }
            let one = summaries.only(access);
            seen = summaries.union(seen, one);
            let kind = if is_own { Kind::Write } else { Kind::Read };
            let one = summaries.only(Access { kind, ..access });
            now = summaries.union(now, one);
        };
        let mut last = None;
        for position in state.pending(thread) {
            add(position, true, &mut last);
        }
        for start in starts {
            if let Start::Ahead(position) = start {
                add(position, true, &mut last);
            }
        }
        for other in state.ended_by(thread, state.pending(thread).len()) {
            for position in state.pending(other) {
                add(position, false, &mut last);
            }
        }
        (now, seen)
    }

    /// Adds threads to those whose turns of the last state of the path are looked at, if some are missing.
    fn grow(&mut self) -> bool {
        let Some(top) = self.path.last_mut() else { return false };
        let setup = self.setup;
        let parents = |thread| setup.parent(thread);
        let section = top.state.system.section();
        top.turns.close(&self.summaries, top.done.future, &parents, section)
    }

    /// What follows the step that was taken last is known.
    fn add(&mut self, after: Done) {
        let Some(top) = self.path.last_mut() else { return };
        let families = &mut self.families;
        let read = top.read.iter().rev();
        let family = read
            .fold(after.family, |family, letter| families.prefixed(family, top.reader, *letter));
        top.done.family = families.union(top.done.family, family);
        top.done.future = self.summaries.union(top.done.future, after.future);
    }

    /// All that is to be looked at from the last state of the path was; whether it was the first.
    fn leave(&mut self) -> (Done, bool) {
        let Some(Frame { key, done, .. }) = self.path.pop() else {
            return (Done { family: Family::EMPTY, future: SetId::EMPTY }, true);
        };
        self.known.insert(key, Some(done));
        (done, self.path.is_empty())
    }
}

/// Whether all threads have ended. One that is left behind when the program is over may be anywhere: what it has
/// read by then is no view.
fn is_end(state: &Lazy<'_, '_>) -> Result<bool, Ended> {
    let system = &state.system;
    let mut threads = 0..system.thread_count();
    let all = threads.all(|thread| system.thread(thread).is_none() || system.has_ended(thread));
    let is_over = system.setup().code.program.daemons && system.has_ended(0);
    if all || !is_over { Ok(all) } else { Err(Ended::Not(Uncounted::Beyond)) }
}

/// Whether a thread that takes no further step is at its end, waits, or was stopped by an assumption.
fn is_sound(at: &At<'_>) -> bool {
    matches!(at, At::Ended | At::Stopped | At::Waiting)
}

/// What a thread that is stuck elsewhere means.
fn broken(at: &At<'_>) -> Uncounted {
    match at {
        At::Failed { .. } => Uncounted::Wrong,
        _ => Uncounted::Beyond,
    }
}

/// What a thread accesses next: for others whose turn it may be before that, as far as is known where it stands; and
/// wherever it comes to do it.
fn accesses(state: &Lazy<'_, '_>, thread: u32, at: &At<'_>) -> Option<[Access; 2]> {
    let system = &state.system;
    let process = Process::of_thread(thread);
    let both = |start: u64, size: u64, now: Kind, seen: Kind| {
        let access = |kind| Access { process, start, size, kind };
        Some([access(now), access(seen)])
    };
    let there = |address: u64, bytes: u8| system.bytes(Some(thread), address, bytes.into());
    match at {
        At::Load { address, bytes, .. } => {
            let now = Kind::Confirms(there(*address, *bytes));
            both(*address, u64::from(*bytes), now, Kind::Read)
        }
        // Two stores of the same are not alike to whoever can pass a store after one of them.
        At::Store { address, bytes, value, .. } => {
            both(*address, u64::from(*bytes), Kind::Write, Kind::Sets(*value))
        }
        At::Rmw { address, bytes, .. } | At::Cas { address, bytes, .. } => {
            let old = there(*address, *bytes);
            let width = u32::from(*bytes) * 8;
            let new = at.written(Bits::new(width, old));
            let is_kept = new.is_none_or(|new| new == old);
            let now = if is_kept { Kind::Confirms(old) } else { Kind::ReadWrite };
            both(*address, u64::from(*bytes), now, Kind::ReadWrite)
        }
        At::Free { address, .. } => {
            let object = system.living().map(|(_, object)| object);
            let size = object.into_iter().find(|object| object.address == *address);
            let size = size.map_or(1, |object| object.size.max(1));
            both(*address, size, Kind::Free, Kind::Free)
        }
        At::HeapSize { address } => both(*address, 1, Kind::Touch, Kind::Touch),
        At::Enter | At::FenceOfAll => both(0, u64::MAX, Kind::All, Kind::All),
        _ => None,
    }
}
