//! From the way to a state to a claim, which the replayer can check without trusting the engine.
//!
//! The steps are taken once more, and noted down. A claim speaks of reads and writes that are of
//! the same bytes or of none in common, so accesses are cut wherever another begins or ends inside
//! of them. Where a read got a part from follows from the buffers and from the order in which
//! writes took effect, which is also the order of writes that memory models ask for.

use std::collections::{BTreeSet, HashMap};

use parallax_machine::system::{Action, At, Log, Readiness, Record, Setup, System, Waits, What};
use parallax_verdict::{Claim, Source, Step, StepId, ThreadClaim, ThreadEnding};

/// The claim that the actions happened; `failed` is the thread that stands at a violation. The
/// steps that the violation is about: the one that made the object at `allocated`, the one that
/// freed what the thread uses, a store that comes too late and what it comes after, or else the reads that threads look at again for ever.
pub fn claim(
    setup: &Setup<'_>,
    path: &[Action],
    failed: Option<u32>,
    allocated: Option<u64>,
) -> (Claim, Vec<StepId>) {
    let mut log = Log::on();
    let mut system = System::start(setup, &mut log);
    for action in path {
        system.apply(*action, &mut log);
    }
    let count = system.thread_count();
    let endings: Vec<ThreadEnding> =
        (0..count).map(|thread| ending(&mut system, thread, failed, &mut log)).collect();
    let mut story = Story::new(log.records(), count as usize);
    log.records().iter().for_each(|record| story.tell(record, allocated));
    let too_late = story.too_late(&system);
    story.flush_all();
    let made = story.made;
    let freed = failed.and_then(|thread| freed_before(&system, thread));
    let freed = freed.and_then(|object| story.freed.get(&object).copied());
    let claim = story.into_claim(endings);
    let involved = match allocated {
        Some(_) => made.into_iter().collect(),
        None if failed.is_none() && too_late.is_some() => too_late.into_iter().flatten().collect(),
        None if failed.is_none() => looks(&claim),
        None => freed.into_iter().collect(),
    };
    (claim, involved)
}

/// The object, freed by now, that a thread is about to use or to free.
fn freed_before(system: &System<'_, '_>, thread: u32) -> Option<u64> {
    let at = &system.thread(thread)?.at;
    let address = match at {
        At::Free { address, .. } => *address,
        at => at.access()?.0,
    };
    system.freed_object(address)
}

/// The last reads of threads that wait for something else than the end of another.
fn looks(claim: &Claim) -> Vec<StepId> {
    let look = |(number, thread): (usize, &ThreadClaim)| {
        let index = thread.steps.iter().rposition(|step| matches!(step, Step::Read { .. }))?;
        let waits = match thread.ending {
            ThreadEnding::Waiting => index + 1 == thread.steps.len(),
            ThreadEnding::Spinning { .. } => true,
            _ => false,
        };
        waits.then_some(StepId { thread: number as u32, index: index as u32 })
    };
    claim.threads.iter().enumerate().filter_map(look).collect()
}

/// How often a loop is gone round to find that it is one.
const MOST_ROUNDS: usize = 4096;

/// Where a thread is in the end. What it looks at again and again it is made to look at.
fn ending(
    system: &mut System<'_, '_>,
    thread: u32,
    failed: Option<u32>,
    log: &mut Log,
) -> ThreadEnding {
    if failed == Some(thread) {
        return ThreadEnding::Failed;
    }
    let at = system.thread(thread).map(|local| &local.at);
    match at {
        None => return ThreadEnding::Stopped,
        Some(At::Ended) => return ThreadEnding::Ended,
        Some(At::Waiting) => return ThreadEnding::Waiting,
        _ if failed.is_some() => return ThreadEnding::Stopped,
        _ => {}
    }
    match system.readiness(thread) {
        Readiness::Blocked(Waits::Thread(_) | Waits::Section) => ThreadEnding::Waiting,
        Readiness::Blocked(Waits::Bytes { spins: false, .. }) => {
            system.apply(Action::Step { thread, choice: 0 }, log);
            ThreadEnding::Waiting
        }
        Readiness::Blocked(Waits::Bytes { spins: true, .. }) => {
            for _ in 0..3 {
                system.apply(Action::Step { thread, choice: 0 }, log);
            }
            ThreadEnding::Spinning { from: 0 }
        }
        Readiness::Ready { choices: 1 } => go_round(system, thread, log),
        _ => ThreadEnding::Stopped,
    }
}

/// A thread that goes round a loop of several steps, and changes nothing.
fn go_round(system: &mut System<'_, '_>, thread: u32, log: &mut Log) -> ThreadEnding {
    let Some(length) = round(system, thread) else {
        return ThreadEnding::Stopped;
    };
    for _ in 0..length * 3 {
        system.apply(Action::Step { thread, choice: 0 }, log);
    }
    ThreadEnding::Spinning { from: 0 }
}

/// After how many steps a thread is back where it is, if it is and none of them changes memory.
fn round(system: &System<'_, '_>, thread: u32) -> Option<usize> {
    let start = system.fingerprint();
    let mut probe = system.clone();
    for length in 1..=MOST_ROUNDS {
        if probe.readiness(thread) != (Readiness::Ready { choices: 1 }) {
            return None;
        }
        let mut log = Log::on();
        let before = probe.clone();
        probe.apply(Action::Step { thread, choice: 0 }, &mut log);
        let changes = |record: &Record| match record.what {
            What::Write { address, bytes, value, .. } => {
                before.bytes(None, address, u32::from(bytes)) != value
            }
            _ => false,
        };
        if log.records().iter().any(changes) {
            return None;
        }
        if probe.fingerprint() == start {
            return Some(length);
        }
    }
    None
}

/// Whether a thread of a state that others cannot lead out of has ended, or waits and changes
/// nothing.
pub fn is_settled(system: &System<'_, '_>, thread: u32) -> bool {
    let at = system.thread(thread).map(|local| &local.at);
    if matches!(at, None | Some(At::Ended | At::Waiting | At::Endless)) {
        return true;
    }
    match system.readiness(thread) {
        Readiness::Blocked(waits) => !matches!(waits, Waits::Buffer | Waits::Buffers),
        Readiness::Ready { .. } => round(system, thread).is_some(),
        _ => false,
    }
}

/// A write, as the parts that it was cut into.
type Parts = Vec<(u64, StepId)>;

struct Story {
    /// Where some access begins or ends.
    cuts: BTreeSet<u64>,
    threads: Vec<Vec<Step>>,
    schedule: Vec<u32>,
    /// What took effect last at each place, and all that ever did.
    last: HashMap<u64, StepId>,
    co: HashMap<u64, Vec<StepId>>,
    buffers: Vec<Vec<Parts>>,
    /// The steps by which threads were spawned and ended.
    spawned: HashMap<u32, StepId>,
    ended: HashMap<u32, StepId>,
    made: Option<StepId>,
    /// The steps by which objects were freed.
    freed: HashMap<u64, StepId>,
}

impl Story {
    fn new(records: &[Record], threads: usize) -> Story {
        let mut cuts = BTreeSet::new();
        for record in records {
            if let What::Read { address, bytes, .. } | What::Write { address, bytes, .. } =
                record.what
            {
                cuts.insert(address);
                cuts.insert(address.wrapping_add(u64::from(bytes)));
            }
        }
        let children = records.iter().filter_map(|record| match record.what {
            What::Spawn { child } => Some(child as usize + 1),
            _ => None,
        });
        let threads = children.max().unwrap_or(0).max(threads);
        Story {
            cuts,
            threads: vec![Vec::new(); threads],
            schedule: Vec::new(),
            last: HashMap::new(),
            co: HashMap::new(),
            buffers: vec![Vec::new(); threads],
            spawned: HashMap::new(),
            ended: HashMap::new(),
            made: None,
            freed: HashMap::new(),
        }
    }

    fn step(&mut self, thread: u32, step: Step) -> StepId {
        let steps = &mut self.threads[thread as usize];
        let id = StepId { thread, index: steps.len() as u32 };
        steps.push(step);
        self.schedule.push(thread);
        id
    }

    /// The parts of an access: where each begins, and its bytes where it is not the whole.
    fn parts(&self, address: u64, bytes: u8) -> Vec<(u64, Option<u8>)> {
        let end = address.wrapping_add(u64::from(bytes));
        let mut cuts: Vec<u64> = self.cuts.range(address..end).copied().collect();
        cuts.push(end);
        let parts = cuts.windows(2).map(|cut| (cut[0], (cut[1] - cut[0]) as u8));
        parts.map(|(start, size)| (start, (size != bytes).then_some(size))).collect()
    }

    fn tell(&mut self, record: &Record, allocated: Option<u64>) {
        let thread = record.thread;
        let step = match record.what {
            What::Read { address, bytes, .. } => return self.read(thread, address, bytes),
            What::Write { address, bytes, is_buffered, .. } => {
                return self.write(thread, address, bytes, is_buffered);
            }
            What::Flush { index } => {
                let parts = self.buffers[thread as usize].remove(index);
                return self.take_effect(parts);
            }
            What::Fence => Step::Fence,
            What::Spawn { child } => Step::Spawn { child },
            What::Begin => match self.spawned.get(&thread) {
                Some(by) => Step::Begin { by: *by },
                None => return,
            },
            What::Join { of } => match self.ended.get(&of) {
                Some(end) => Step::Join { of: *end },
                None => return,
            },
            What::Alloc { address } => Step::Alloc { address },
            What::Free { .. } => Step::Free,
            What::Choice { value } => Step::Choice { value },
            What::AtomicBegin => Step::AtomicBegin,
            What::AtomicEnd => Step::AtomicEnd,
            What::End => Step::End,
        };
        let id = self.step(thread, step);
        match record.what {
            What::Spawn { child } => {
                self.spawned.insert(child, id);
            }
            What::End => {
                self.ended.insert(thread, id);
            }
            What::Alloc { address } if allocated == Some(address) => self.made = Some(id),
            What::Free { address } => {
                self.freed.insert(address, id);
            }
            _ => {}
        }
    }

    fn read(&mut self, thread: u32, address: u64, bytes: u8) {
        for (start, part) in self.parts(address, bytes) {
            let own = self.buffers[thread as usize].iter().rev().flatten();
            let own = own.clone().find(|(place, _)| *place == start).map(|(_, id)| *id);
            let source = own.or_else(|| self.last.get(&start).copied());
            let source = source.map_or(Source::Initial, Source::Step);
            self.step(thread, Step::Read { source, bytes: part });
        }
    }

    fn write(&mut self, thread: u32, address: u64, bytes: u8, is_buffered: bool) {
        let parts = self.parts(address, bytes).into_iter();
        let parts =
            parts.map(|(start, part)| (start, self.step(thread, Step::Write { bytes: part })));
        let parts: Parts = parts.collect();
        match is_buffered {
            true => self.buffers[thread as usize].push(parts),
            false => self.take_effect(parts),
        }
    }

    fn take_effect(&mut self, parts: Parts) {
        for (start, id) in parts {
            self.last.insert(start, id);
            self.co.entry(start).or_default().push(id);
        }
    }

    /// A store in a buffer to an object that is gone, and the end of that object.
    fn too_late(&self, system: &System<'_, '_>) -> Option<[StepId; 2]> {
        let mut buffered = self.buffers.iter().flatten().flatten();
        buffered.find_map(|(address, store)| {
            let end = *self.freed.get(&system.freed_object(*address)?)?;
            (store.thread != end.thread).then_some([*store, end])
        })
    }

    /// What is still in a buffer takes effect some time.
    fn flush_all(&mut self) {
        for thread in 0..self.buffers.len() {
            for parts in std::mem::take(&mut self.buffers[thread]) {
                self.take_effect(parts);
            }
        }
    }

    fn into_claim(self, endings: Vec<ThreadEnding>) -> Claim {
        let endings = endings.into_iter().chain(std::iter::repeat(ThreadEnding::Stopped));
        let threads = self.threads.into_iter().zip(endings);
        let threads = threads.map(|(steps, ending)| ThreadClaim { steps, ending }).collect();
        let mut co: Vec<(u64, Vec<StepId>)> = self.co.into_iter().collect();
        co.sort_unstable_by_key(|(start, _)| *start);
        let co = co.into_iter().map(|(_, writes)| writes).collect();
        Claim { threads, co, schedule: self.schedule, ..Claim::default() }
    }
}
