//! One execution of a program: its events and the relations between them.

use std::collections::HashMap;

use parallax_program::{Bits, Location, Program, Tags};

use crate::{StateValue, StepId, ThreadEnding};

/// Pairs of event numbers, in order.
pub type Edges = Vec<(u32, u32)>;

/// An execution as memory models see it, and more for people. Events are numbered: first the
/// initial writes, then thread by thread in program order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Execution {
    /// Names of the threads.
    pub threads: Vec<String>,
    pub events: Vec<Event>,
    /// Program order, transitively closed.
    pub po: Edges,
    /// From each write to the reads that take their value from it.
    pub rf: Edges,
    /// Coherence, transitively closed; total for each location where the engine decided it.
    pub co: Edges,
    /// Dependencies and pairing, from the program. Executions of whole programs have the
    /// dependencies only where the model asks for them.
    pub addr: Edges,
    pub data: Edges,
    pub ctrl: Edges,
    pub rmw: Edges,
    /// Relations of the memory model that are worth drawing, by name.
    pub model_relations: Vec<(String, Edges)>,
    /// The final value of everything that a litmus test observes.
    pub final_state: Vec<StateValue>,
    /// Numbers of the events other than initial writes in an order in which they can have
    /// happened: each read comes after the write it reads. Empty for litmus tests.
    pub schedule: Vec<u32>,
    /// For each event the calls that led to it. Empty for litmus tests.
    pub stacks: Vec<Vec<Call>>,
    /// For each thread where it is after its last event. Empty for litmus tests.
    pub standings: Vec<Standing>,
    /// See [`Claim::undefined`](crate::Claim).
    pub undefined: Vec<Vec<Bits>>,
    /// See [`Claim::unwritten`](crate::Claim).
    pub unwritten: Vec<(u64, Bits)>,
}

/// An instruction in a call that has not ended; innermost calls come last.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call {
    pub function: String,
    pub place: Location,
}

/// Where a thread is after its last event.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Standing {
    pub ending: ThreadEnding,
    /// For one that waits or failed: the instruction that it stands at, and how it got there.
    pub stack: Vec<Call>,
    /// The source line of that instruction.
    pub text: String,
    /// The thread whose end it waits for, if it does.
    pub awaits: Option<u32>,
}

impl Standing {
    /// Where in the program's own code that is, if it is called from there.
    pub fn place(&self) -> Option<&Location> {
        let own = self.stack.iter().rfind(|call| !call.place.is_linked());
        own.or(self.stack.last()).map(|call| &call.place)
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Event {
    /// None for initial writes.
    pub thread: Option<u32>,
    pub kind: EventKind,
    pub tags: Tags,
    /// Where in the source the instruction stands, or the call of the library that led to it;
    /// None for initial writes.
    pub place: Option<Location>,
    /// The instruction as the source has it.
    pub text: String,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EventKind {
    Read {
        location: String,
        address: u64,
        size: u32,
        value: Bits,
        shown: String,
    },
    Write {
        location: String,
        address: u64,
        size: u32,
        value: Bits,
        shown: String,
    },
    Fence,
    /// An object comes to life. This and what follows is nothing that memory models see.
    Alloc {
        address: u64,
        size: u64,
        name: String,
    },
    Free {
        address: u64,
        name: String,
    },
    /// A value was chosen for no reason.
    Choice {
        value: Bits,
    },
    AtomicBegin,
    AtomicEnd,
}

/// A step in the life of the thread of that number. Memory models see it as a write or a read
/// that nobody else can make.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Life {
    /// Its creator starts it.
    Start(u32),
    /// Its own first step.
    Begin(u32),
    /// Its own last step.
    End(u32),
    /// Somebody has waited for its end.
    Join(u32),
}

impl EventKind {
    /// Whether memory models see the event.
    pub fn is_visible(&self) -> bool {
        matches!(self, EventKind::Read { .. } | EventKind::Write { .. } | EventKind::Fence)
    }

    /// The bytes that the event accesses: address and size.
    pub fn footprint(&self) -> Option<(u64, u32)> {
        match self {
            EventKind::Read { address, size, .. } | EventKind::Write { address, size, .. } => {
                Some((*address, *size))
            }
            _ => None,
        }
    }

    /// What the event means for the life of a thread, if it is about that.
    pub fn life(&self) -> Option<Life> {
        let (address, _) = self.footprint()?;
        let (thread, ends) = Program::thread_at(address)?;
        Some(match (matches!(self, EventKind::Write { .. }), ends) {
            (true, false) => Life::Start(thread),
            (false, false) => Life::Begin(thread),
            (true, true) => Life::End(thread),
            (false, true) => Life::Join(thread),
        })
    }
}

impl AsRef<Execution> for Execution {
    fn as_ref(&self) -> &Execution {
        self
    }
}

impl Execution {
    /// The number of the event that a step of a claim became.
    pub fn event_of(&self, step: StepId) -> Option<u32> {
        let first = self.events.iter().position(|event| event.thread == Some(step.thread))?;
        let number = first + step.index as usize;
        let own = self.events.get(number).filter(|event| event.thread == Some(step.thread));
        own.map(|_| number as u32)
    }

    /// The step of a claim that an event of a thread comes from.
    pub fn step_of(&self, event: u32) -> Option<StepId> {
        let thread = self.events.get(event as usize)?.thread?;
        let first = self.events.iter().position(|event| event.thread == Some(thread))?;
        Some(StepId { thread, index: event - first as u32 })
    }

    /// The execution without some of its fences, and for each event its new number.
    pub fn without(&self, leaves: impl Fn(&Event) -> bool) -> (Execution, Vec<Option<u32>>) {
        let mut numbers = Vec::with_capacity(self.events.len());
        let mut next = 0;
        for event in &self.events {
            let stays = event.kind != EventKind::Fence || !leaves(event);
            numbers.push(stays.then_some(next));
            next += u32::from(stays);
        }
        let number = |event: &u32| numbers.get(*event as usize).copied().flatten();
        let edges = |edges: &Edges| -> Edges {
            edges.iter().filter_map(|(a, b)| Some((number(a)?, number(b)?))).collect()
        };
        let stays = |place: usize| numbers.get(place).is_some_and(Option::is_some);
        let events = self.events.iter().enumerate().filter(|(place, _)| stays(*place));
        let stacks = self.stacks.iter().enumerate().filter(|(place, _)| stays(*place));
        let model_relations = self.model_relations.iter();
        let execution = Execution {
            events: events.map(|(_, event)| event.clone()).collect(),
            po: edges(&self.po),
            rf: edges(&self.rf),
            co: edges(&self.co),
            addr: edges(&self.addr),
            data: edges(&self.data),
            ctrl: edges(&self.ctrl),
            rmw: edges(&self.rmw),
            model_relations: model_relations.map(|(name, e)| (name.clone(), edges(e))).collect(),
            schedule: self.schedule.iter().filter_map(number).collect(),
            stacks: stacks.map(|(_, stack)| stack.clone()).collect(),
            threads: self.threads.clone(),
            final_state: self.final_state.clone(),
            standings: self.standings.clone(),
            undefined: self.undefined.clone(),
            unwritten: self.unwritten.clone(),
        };
        (execution, numbers)
    }

    /// From-reads: from a read to every write that overwrites what it read.
    pub fn fr(&self) -> Edges {
        let mut overwriting: HashMap<u32, Vec<u32>> = HashMap::new();
        for (earlier, later) in &self.co {
            overwriting.entry(*earlier).or_default().push(*later);
        }
        let mut fr: Edges = Vec::new();
        for (write, read) in &self.rf {
            let later = overwriting.get(write).into_iter().flatten();
            fr.extend(later.map(|later| (*read, *later)).filter(|(r, w)| r != w));
        }
        fr.sort_unstable();
        fr
    }
}
