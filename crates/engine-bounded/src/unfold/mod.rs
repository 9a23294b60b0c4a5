//! Unfolding: each thread is run once, with symbolic values, up to a bound on its loops.
//!
//! At an undecided branch both ways are followed; where they meet again they become one, so that
//! the result has one guarded event for each operation of the unfolded program, not one for each
//! path (E. Clarke, D. Kroening, F. Lerda, A tool for checking ANSI-C programs, TACAS 2004, unfold
//! programs with the same result). What a thread does is for the interpreter to say; this module
//! only decides which way to follow next, and notes the events.

mod access;
mod calls;
mod lives;
mod objects;
mod operations;
mod sections;
mod state;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use parallax_machine::{Code, Idle, Limits, Operation, Return, Site, Thread};
use parallax_program::{AllocKind, Bits, Diagnostic, FunctionId, Help, Property, Setting, VarId};
use parallax_solver::{Stop as Halt, Term};
use parallax_verdict::Reason;

use crate::arrangement::Arrangement;
use crate::event::Event;
use crate::guard::Guard;
use crate::options::Bound;
use crate::refusal::{as_reason, stopped};
use crate::sections::Sections;
use crate::value::{Value, Values};
use crate::watch::Watch;

use state::{Jump, Place, State};

/// How far to unfold, and how accesses are taken.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// How often loops are repeated.
    pub bound: Bound,
    /// Which values inputs may have, both ends included; None for any.
    pub nondet: Option<(i128, i128)>,
    /// Accesses are split into parts of so many bytes.
    pub granule: Option<u32>,
    /// Whether models ask where values come from.
    pub traces: bool,
    /// For each thread the variables whose last values are asked for.
    pub asked: Vec<Vec<VarId>>,
    /// Whether the start and the end of threads are events.
    pub lives: bool,
    /// Whether somebody asks which threads wait for ever.
    pub waits: bool,
    /// Whether values that nobody has given must not decide anything.
    pub asks_for_undefined: bool,
    /// How atomic sections are taken, if the model knows what they are.
    pub sections: Option<Sections>,
    /// Where accesses are cut into parts: offsets, by thread and number of the access.
    pub cuts: BTreeMap<(u32, u32), Vec<u32>>,
    /// Accesses that may go wrong.
    pub suspects: BTreeSet<(u32, u32)>,
    /// Accesses that read one value only.
    pub known: BTreeMap<(u32, u32), u128>,
    /// Accesses that are beyond the engine, and why.
    pub lost: BTreeMap<(u32, u32), &'static str>,
    /// What calls through pointers can call.
    pub callees: Callees,
    /// Places that one thread accesses and no other.
    pub private: Private,
    /// The bytes of objects that are written when they are freed: offsets and sizes.
    pub ends: Ends,
}

/// Bytes and first values of places that one thread accesses and no other, as a whole.
pub type Private = BTreeMap<u64, Bits>;

/// Offsets and sizes, by thread and number of the end of an object.
pub type Ends = BTreeMap<(u32, u32), Vec<(u32, u32)>>;

/// Addresses that may be called, by thread and number of the call through a pointer.
pub type Callees = BTreeMap<(u32, u32), BTreeSet<u128>>;

/// All that threads may do, up to the bound.
pub struct Unfolding {
    pub values: Values,
    pub events: Vec<Event>,
    pub threads: Vec<ThreadRun>,
    /// Ways that were cut at the bound.
    pub exceeded: Vec<Stop>,
    /// Ways that come to what the engine does not follow.
    pub obstacles: Vec<(Stop, String)>,
    /// Ways on which a value decides that nobody has given.
    pub undecided: Vec<(Stop, String)>,
    /// Writes of values that nobody has given, and which of their bits are such.
    pub open_writes: Vec<(u32, Term)>,
    /// Reads that only copy, and the variables that say which of the bits read nobody has given a
    /// value.
    pub copies: Vec<(u32, Term)>,
    /// Ways on which an assumption fails.
    pub discarded: Vec<Stop>,
    /// Those among them that end the program.
    pub ends: Vec<Stop>,
    /// Assertions that fail.
    pub failures: Vec<Failure>,
    /// Accesses that go on only where nothing is wrong with them.
    pub checked: Vec<Checked>,
    pub objects: Vec<Object>,
    pub frees: Vec<Free>,
    pub waits: Vec<Waiting>,
    pub calls: Vec<Call>,
    /// Whether the bytes of objects that are freed are gone, if that is asked.
    pub goes: Option<Term>,
    /// Whether a way may end inside an atomic section.
    pub stays_inside: bool,
    /// Whether a loop that counts was cut.
    pub cuts_counting: bool,
}

/// A call through a pointer.
#[derive(Clone, Debug)]
pub struct Call {
    /// Thread, and number of the call.
    pub key: (u32, u32),
    pub address: Term,
    pub guard: Term,
}

/// An access that happens only where `ok` holds, which has to be where its address is right.
#[derive(Clone, Debug)]
pub struct Checked {
    pub stop: Stop,
    pub ok: Term,
    pub address: Term,
    pub bytes: u32,
    pub writes: bool,
}

/// An object that a program makes.
#[derive(Clone, Debug)]
pub struct Object {
    pub address: u64,
    /// At most.
    pub size: u64,
    /// How many bytes it has, where that is not known beforehand.
    pub extent: Option<Term>,
    pub kind: AllocKind,
    pub zeroed: bool,
}

/// The end of an object, if it is one.
#[derive(Clone, Debug)]
pub struct Free {
    pub stop: Stop,
    /// The event, which happens only where `ok` holds.
    pub event: u32,
    pub ok: Term,
    pub address: Term,
    pub kind: AllocKind,
    /// Thread, and number of the end.
    pub key: (u32, u32),
    /// The events by which its bytes are gone, with their offsets.
    pub gone: Vec<(u32, u32)>,
}

/// A way on which a thread waits.
#[derive(Clone, Debug)]
pub struct Waiting {
    pub stop: Stop,
    pub kind: WaitKind,
    /// Reads that have to see something else for the thread to go on, where that holds.
    pub reads: Vec<(Term, u32)>,
    /// Writes of a loop that have to put what is there already for the thread to wait.
    pub writes: Vec<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WaitKind {
    /// At a wait whose condition does not hold.
    Wait,
    /// For the end of a thread; the event happens where that has ended.
    Join,
    /// In a loop that changes nothing.
    Spin,
}

/// Where and under which condition a way ends.
#[derive(Clone, Debug)]
pub struct Stop {
    pub thread: u32,
    pub guard: Term,
    pub site: Option<Site>,
    /// The event by which the atomic section begins that it ends in.
    pub section: Option<u32>,
}

/// A way on which an assertion fails.
#[derive(Clone, Debug)]
pub struct Failure {
    pub stop: Stop,
    pub property: Property,
    pub message: String,
}

#[derive(Clone, Debug, Default)]
pub struct ThreadRun {
    /// Ways that end, and the last values of the variables asked for.
    pub ends: Vec<(Term, Vec<Term>)>,
}

impl Obstruction {
    pub fn reason(self) -> Reason {
        match self {
            Obstruction::Stopped(stop) => stopped(stop),
            Obstruction::TooLarge(error) => as_reason(error),
        }
    }
}

/// Why there is no unfolding.
pub enum Obstruction {
    /// Time is up, or somebody has said so.
    Stopped(Halt),
    TooLarge(Diagnostic),
}

/// Unfolds all threads of a program.
pub fn unfold(code: &Code<'_>, plan: &Plan, watch: &Watch<'_>) -> Result<Unfolding, Obstruction> {
    let blocks: Vec<Arrangement> = code.program.functions.iter().map(Arrangement::of).collect();
    let mut unfolder = Unfolder {
        code,
        plan,
        blocks,
        watch,
        thread: 0,
        accesses: 0,
        calls: 0,
        ends: 0,
        is_alone: true,
        steps: 0,
        result: Unfolding {
            values: Values::new(plan.traces),
            events: Vec::new(),
            threads: Vec::new(),
            exceeded: Vec::new(),
            obstacles: Vec::new(),
            undecided: Vec::new(),
            open_writes: Vec::new(),
            copies: Vec::new(),
            discarded: Vec::new(),
            ends: Vec::new(),
            failures: Vec::new(),
            checked: Vec::new(),
            objects: Vec::new(),
            frees: Vec::new(),
            waits: Vec::new(),
            calls: Vec::new(),
            goes: None,
            stays_inside: false,
            cuts_counting: false,
        },
        spawned: VecDeque::new(),
        threads: code.program.threads.len() as u32,
    };
    for (number, start) in code.program.threads.iter().enumerate() {
        let values = &mut unfolder.result.values;
        let args = start.args.iter().map(|arg| code.evaluate(arg, &[], values)).collect();
        unfolder.thread(number as u32, start.function, args, Guard::default(), None)?;
    }
    while let Some(child) = unfolder.spawned.pop_front() {
        let Spawned { number, function, args, guard, site } = child;
        unfolder.thread(number, function, args, guard, Some(site))?;
    }
    Ok(unfolder.result)
}

struct Unfolder<'a, 'p, 'w> {
    code: &'a Code<'p>,
    plan: &'a Plan,
    blocks: Vec<Arrangement>,
    watch: &'a Watch<'w>,
    /// The thread that is being unfolded, its accesses, its calls through pointers and its ends of
    /// objects so far.
    thread: u32,
    accesses: u32,
    calls: u32,
    ends: u32,
    /// Whether no other way has come to the same place. What differs between ways that could not
    /// meet decides branches, but it does not count.
    is_alone: bool,
    steps: u64,
    result: Unfolding,
    /// Threads that are still to be unfolded, and how many there are in all.
    spawned: VecDeque<Spawned>,
    threads: u32,
}

/// A thread that another one starts.
struct Spawned {
    number: u32,
    function: FunctionId,
    args: Vec<Value>,
    guard: Guard,
    site: Option<Site>,
}

/// States that wait for their turn, by place.
type Open = BTreeMap<Place, Vec<State>>;

impl<'p> Unfolder<'_, 'p, '_> {
    /// So many events, and so many moves from block to block, are taken.
    const MOST_EVENTS: usize = 20_000;
    const MOST_STEPS: u64 = 20_000_000;

    const LIMITS: Limits = Limits {
        repeats: u32::MAX - 1,
        steps: 1_000_000,
        depth: 1_000,
        spins: true,
        idle: Idle::Busy,
    };

    fn thread(
        &mut self,
        number: u32,
        function: FunctionId,
        args: Vec<Value>,
        guard: Guard,
        spawned: Option<Option<Site>>,
    ) -> Result<(), Obstruction> {
        (self.thread, self.accesses, self.calls, self.ends) = (number, 0, 0, 0);
        self.result.threads.push(ThreadRun::default());
        let args = match spawned {
            Some(site) => self.begin(&guard, site, args),
            None => args,
        };
        let thread = Thread::start(self.code, function, args, &mut self.result.values);
        let mut open = Open::new();
        let first = State::new(thread, function, guard, &self.blocks);
        self.wait(first, &mut open);
        let mut last = None;
        while let Some(((position, _), states)) = open.pop_first() {
            let goes_on = open.first_key_value().is_some_and(|(next, _)| next.0 == position);
            self.is_alone = !goes_on && last.as_ref() != Some(&position);
            last = Some(position);
            if let Some(state) = self.meet(states) {
                self.run(state, &mut open)?;
            }
        }
        Ok(())
    }

    fn wait(&mut self, state: State, open: &mut Open) {
        open.entry(state.place(&self.blocks)).or_default().push(state);
    }

    /// Makes one state of all that stand at a place. Arms of the same branch go first, because
    /// nothing is left of it then. In order, the guards that have most in common are neighbours.
    fn meet(&mut self, mut states: Vec<State>) -> Option<State> {
        states.sort_by(|one, other| one.guard.cmp(&other.guard));
        let mut ranks: Vec<(bool, usize)> =
            states.windows(2).map(|pair| self.rank(&pair[0], &pair[1])).collect();
        while let Some((best, _)) = ranks.iter().enumerate().max_by_key(|(_, rank)| **rank) {
            let other = states.remove(best + 1);
            states[best].meet(&other, &self.plan.private, &mut self.result.values);
            ranks.remove(best);
            for at in [best.checked_sub(1), Some(best)].into_iter().flatten() {
                if at < ranks.len() {
                    ranks[at] = self.rank(&states[at], &states[at + 1]);
                }
            }
        }
        states.pop()
    }

    /// How much two states should meet: whether as the arms of a branch, and what their guards
    /// have in common.
    fn rank(&mut self, one: &State, other: &State) -> (bool, usize) {
        let arms = one.guard.are_two_arms(&other.guard, &mut self.result.values.terms);
        (arms, one.guard.common(&other.guard))
    }

    /// Follows a state until it jumps, forks or ends.
    fn run(&mut self, mut state: State, open: &mut Open) -> Result<(), Obstruction> {
        loop {
            self.look_out()?;
            match state.thread.advance(self.code, &Self::LIMITS, &mut self.result.values) {
                None => {
                    self.follow(state, self.is_alone, open);
                    return Ok(());
                }
                Some(operation) => match self.serve(state, operation, open)? {
                    Some(next) => state = next,
                    None => return Ok(()),
                },
            }
        }
    }

    /// A state that has jumped, called or returned.
    fn follow(&mut self, mut state: State, was_decided: bool, open: &mut Open) {
        let back = state.thread.take_return();
        let same = back.as_ref().map(|back| self.is_as_before(back));
        let truth = self.result.values.terms.truth();
        let is_as_before = same == Some(truth);
        if let Some((back, same)) = back.zip(same).filter(|_| self.plan.waits)
            && !self.goes_on(&mut state, same, back.has_only_looked)
        {
            return;
        }
        let how = Jump { was_decided, is_as_before };
        match state.follow(self.code, &self.blocks, how, self.plan.bound) {
            Ok(()) => self.wait(state, open),
            Err(exceeded) => {
                self.result.cuts_counting |= exceeded.counts;
                self.exceed(&state);
            }
        }
    }

    /// Whether all that matters to a thread that is back at the head of a loop is as it was.
    fn is_as_before(&mut self, back: &Return<Value>) -> Term {
        let terms = &mut self.result.values.terms;
        back.pairs.iter().fold(terms.truth(), |all, (then, now)| {
            let same = terms.equals(then.term, now.term);
            terms.and(all, same)
        })
    }

    /// A thread that is back at the head of a loop, and has only looked since it was there, waits
    /// where all that matters is as it was. Which loops those are does not always show: a loop
    /// that compilers have rotated keeps what it has read. One that has stored as well may wait, if
    /// its stores have changed nothing, or go on. False if it never goes on.
    fn goes_on(&mut self, state: &mut State, same: Term, has_only_looked: bool) -> bool {
        let terms = &mut self.result.values.terms;
        if terms.as_constant(same).is_some_and(|same| same.is_zero()) {
            return true;
        }
        let rests = match has_only_looked {
            true => same,
            false => {
                let stays = terms.variable(1);
                terms.and(same, stays)
            }
        };
        let goes_on = terms.not(rests);
        let mut waiting = state.clone();
        if waiting.guard.require(rests, terms) {
            self.spin(&waiting, !has_only_looked);
        }
        state.guard.require(goes_on, &mut self.result.values.terms)
    }

    fn exceed(&mut self, state: &State) {
        let stop = self.stop(state);
        self.result.exceeded.push(stop);
    }

    fn stop(&mut self, state: &State) -> Stop {
        let guard = state.guard.term(&mut self.result.values.terms);
        self.result.stays_inside |= state.section.is_some();
        let (thread, site, section) = (self.thread, state.thread.site(), state.section);
        Stop { thread, guard, site, section }
    }

    /// Both ways at an undecided branch.
    fn fork(&mut self, state: State, condition: Term, open: &mut Open) {
        let opposite = self.result.values.terms.not(condition);
        for (taken, condition) in [(true, condition), (false, opposite)] {
            let mut arm = state.clone();
            if !arm.guard.require(condition, &mut self.result.values.terms) {
                continue;
            }
            arm.has_forked();
            let values = &mut self.result.values;
            if !arm.thread.branch(self.code, &Self::LIMITS, taken, values) {
                self.exceed(&arm);
                continue;
            }
            // A loop that only waits need not be repeated, or once if its rounds do more.
            match arm.thread.after_branch(self.code, &Self::LIMITS, values) {
                Some(Operation::Spin { .. }) => self.spin(&arm, false),
                _ => self.follow(arm, false, open),
            }
        }
    }

    fn look_out(&mut self) -> Result<(), Obstruction> {
        self.steps += 1;
        if self.watch.is_over() {
            self.watch.check().map_err(Obstruction::Stopped)?;
        }
        let (events, steps) = (self.result.events.len(), self.steps);
        if events <= Self::MOST_EVENTS && steps <= Self::MOST_STEPS {
            return Ok(());
        }
        let message = format!("unfolded, the program has more than {} events", Self::MOST_EVENTS);
        let help = Help::Lower(Setting::Unroll);
        Err(Obstruction::TooLarge(Diagnostic::new(message).with_help(help)))
    }

    /// The constant as a value of the unfolding.
    fn bits(&mut self, bits: Bits) -> Value {
        self.result.values.bits(bits)
    }
}
