//! The views of a program in which threads take turns: a search through its states, from the last one back.
//!
//! The views that can follow a state depend on the state alone, not on the way there. Those of a final state are the one in
//! which nobody reads anything; those of any other state are put together of what each step reads and of the views
//! after that step. So each state is looked at once, however many executions go through it, and since what
//! was read need not be in a state any more, executions of different views meet in it. A [family](Families)
//! holds the views of a state, each once, and mostly in far less room than that.
//!
//! Not all orders of steps are tried. What a thread does next is left for later as long as it does not depend on others,
//! as in the [search through states](parallax_machine::reduction), and here by value: who writes what is there
//! already, or reads it, has no quarrel with those who write it once more. No execution is lost but for
//! others in which all reads have the same values.

use parallax_control::Control;
use parallax_machine::reduction::quick::QuickMap;
use parallax_machine::reduction::summary::{Access, Kind, Process, SetId, Summaries};
use parallax_machine::reduction::{Closure, Next, Status};
use parallax_machine::system::{
    Action, At, Log, MemoryKind, Readiness, Setup, System, SystemOptions, What,
};
use parallax_program::{Bits, Program, Property};

use crate::family::{Families, Family, Letter};

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
    system: System<'s, 'p>,
    key: (u64, u64),
    /// With what each process can do now, and whose way it may be in.
    nexts: Vec<Next>,
    /// The same accesses as others see them.
    own: Vec<SetId>,
    /// The process whose steps are being looked at, and how many of them were.
    current: Option<(usize, u32)>,
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
        let system = System::start(self.setup, &mut Log::off());
        if let Some(done) = self.arrive(system)? {
            return Ok(done.family);
        }
        loop {
            let Some(top) = self.path.last_mut() else { return Err(Ended::Not(Uncounted::Beyond)) };
            let arrived = match top.next_step() {
                Some(action) => {
                    let system = self.take(action);
                    self.arrive(system)?
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
    fn take(&mut self, action: Action) -> System<'s, 'p> {
        let Some(top) = self.path.last_mut() else {
            return System::start(self.setup, &mut Log::off());
        };
        let mut system = top.system.clone();
        let thread = action.thread();
        let at = system.thread(thread).map(|local| local.at.clone());
        let seen = at.as_ref().and_then(|at| at.access());
        let seen =
            seen.map(|(address, bytes, _)| system.bytes(Some(thread), address, bytes.into()));
        let is_whole = matches!(at, Some(At::Enter)) || system.section().is_some();
        let mut log = if is_whole { Log::on() } else { Log::off() };
        system.apply(action, &mut log);
        top.reader = thread;
        top.read.clear();
        let families = &mut self.families;
        let choice = match action {
            Action::Step { choice, .. } => choice,
            Action::Flush { .. } => 0,
        };
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
        system
    }

    /// The last step has led to a state: what is known of it, or nothing if it is a new one.
    fn arrive(&mut self, system: System<'s, 'p>) -> Result<Option<Done>, Ended> {
        let fingerprint = system.fingerprint();
        let key = (fingerprint as u64, (fingerprint >> 64) as u64);
        match self.known.get(&key) {
            Some(Some(done)) => Ok(Some(*done)),
            // Round and round: there is no end of views.
            Some(None) => Err(Ended::Not(Uncounted::Beyond)),
            None => self.enter(system, key).map(|()| None),
        }
    }

    fn enter(&mut self, system: System<'s, 'p>, key: (u64, u64)) -> Result<(), Ended> {
        if self.path.len() >= Self::LONGEST || self.known.len() >= Self::MOST_STATES {
            return Err(Ended::Not(Uncounted::Beyond));
        }
        if self.known.len().is_multiple_of(Self::PATIENCE) {
            self.control.spend(Self::WORK * Self::PATIENCE as u64);
            if self.control.reason().is_some() {
                return Err(Ended::Not(Uncounted::Stopped));
            }
        }
        self.known.insert(key, None);
        let (mut nexts, own) = self.nexts(&system)?;
        let is_final = !choose_one(&mut nexts, &self.summaries);
        let mut done = Done { family: Family::EMPTY, future: SetId::EMPTY };
        if is_final {
            done.future = own.iter().fold(done.future, |all, own| self.summaries.union(all, *own));
            if is_end(&system)? {
                done.family = Family::NOTHING_READ;
            }
        }
        let (current, read, reader) = (None, Vec::new(), 0);
        self.path.push(Frame { system, key, nexts, own, current, read, reader, done });
        Ok(())
    }

    /// What each process can do: as it is now, and as others see it.
    fn nexts(&mut self, system: &System<'s, 'p>) -> Result<(Vec<Next>, Vec<SetId>), Ended> {
        let count = system.thread_count() as usize * 2;
        let (mut nexts, mut own) = (Vec::with_capacity(count), Vec::with_capacity(count));
        for thread in 0..system.thread_count() {
            let Some(local) = system.thread(thread) else {
                nexts.extend([Next::ABSENT; 2]);
                own.extend([SetId::EMPTY; 2]);
                continue;
            };
            let status = match system.readiness(thread) {
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
            let (now, seen) = match accesses(system, thread, &local.at) {
                Some([now, seen]) => (self.summaries.only(now), self.summaries.only(seen)),
                None => (SetId::EMPTY, SetId::EMPTY),
            };
            nexts.extend([Next::new(now, status), Next::new(SetId::EMPTY, Status::Idle)]);
            own.extend([seen, SetId::EMPTY]);
        }
        Ok((nexts, own))
    }

    /// Adds processes to those of the last state of the path, if some are missing.
    fn grow(&mut self) -> bool {
        let Some(top) = self.path.last_mut() else { return false };
        let setup = self.setup;
        let closure = Closure {
            nexts: &mut top.nexts,
            summaries: &self.summaries,
            future: top.done.future,
            parents: &|thread| setup.parent(thread),
            section: top.system.section(),
            is_pso: false,
        };
        closure.close()
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
        let Some(Frame { key, nexts, own, mut done, .. }) = self.path.pop() else {
            return (Done { family: Family::EMPTY, future: SetId::EMPTY }, true);
        };
        for (next, own) in nexts.iter().zip(own) {
            if next.is_chosen {
                done.future = self.summaries.union(done.future, own);
            }
        }
        self.known.insert(key, Some(done));
        (done, self.path.is_empty())
    }
}

impl Frame<'_, '_> {
    /// The next step to look at.
    fn next_step(&mut self) -> Option<Action> {
        loop {
            if let Some((index, taken)) = self.current
                && let Status::Ready(ways) = self.nexts[index].status
                && taken < ways
            {
                self.current = Some((index, taken + 1));
                let thread = Process(index as u32).thread();
                return Some(Action::Step { thread, choice: u64::from(taken) });
            }
            let open = self.nexts.iter().position(|next| next.is_chosen && !next.is_done)?;
            self.nexts[open].is_done = true;
            self.current = Some((open, 0));
        }
    }
}

/// The process that is likely to need the fewest others. False if there is none.
fn choose_one(nexts: &mut [Next], summaries: &Summaries) -> bool {
    let ready = nexts.iter_mut().filter(|next| next.is_ready());
    let best = ready.min_by_key(|next| summaries.rivals(next.accesses));
    best.map(|next| next.is_chosen = true).is_some()
}

/// Whether all threads have ended. One that is left behind when the program is over may be anywhere: what it has
/// read by then is no view.
fn is_end(system: &System<'_, '_>) -> Result<bool, Ended> {
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
fn accesses(system: &System<'_, '_>, thread: u32, at: &At<'_>) -> Option<[Access; 2]> {
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
        At::Store { address, bytes, value, .. } => {
            let is_there = there(*address, *bytes) == *value;
            let now = if is_there { Kind::Confirms(*value) } else { Kind::Sets(*value) };
            both(*address, u64::from(*bytes), now, Kind::Sets(*value))
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
