//! The edges of the program: what a thread does from where it stands to where it stands next.
//!
//! An edge begins with one operation that others may notice, or at the head of a loop; the thread then
//! runs on through all that is its own business, and stops before the next of either (large blocks:
//! D. Beyer, A. Cimatti, A. Griggio, M. Keremoglu, R. Sebastiani, Software model checking via large-block
//! encoding, FMCAD 2009). Each way through is an edge of its own: conditions on the places before, and
//! what is in the places after. Instructions get their meaning from `machine`, which runs here on
//! terms ([`crate::value`]).
//!
//! An edge is identified by its decisions (its *trail*): sides of branches, and numbers where a term would not
//! do. The same edge can be followed again with other knowledge of the places.
//!
//! What a thread makes is its own until another thread uses it; then the analysis starts again
//! ([`Halt::Escaped`]). `parallax_machine::system` says why that is sound.

mod buffers;

use std::sync::Arc;

use parallax_machine::system::{BadAccess, Marks, MemoryKind, Record, What};
use parallax_machine::{
    Code, Fault, Globals, Idle, Limits, NESTED_SECTION, NO_SECTION, Operation, RESERVATIONS, Site,
    TOO_LARGE, Thread, modify,
};
use parallax_program::{
    AllocKind, BinaryOp, Bits, BlockId, FunctionId, InstKind, Location, Program, Property, RmwOp,
    Slots, Tags,
};
use parallax_solver::{Node, Term};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::control::{At, Control, Local, Object, Stores, process};
use crate::declarative::Memory;
use crate::declarative::execution::{Event, Execution, Growth, Id, Location as Spot};
use crate::live::Points;
use crate::oracle::{Oracle, Unanswered, evaluate};
use crate::places::{
    FIRST_ASKED, FORGOTTEN, FORGOTTEN_OPEN, Place, PlaceId, Places, asked, of_program,
};
use crate::value::Values;

/// What is in some places.
pub type Store = FxHashMap<PlaceId, Term>;

/// Why an analysis cannot go on as it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Halt {
    /// A thread uses an object that only its maker was thought to use.
    Escaped {
        context: u64,
    },
    Unanswered(Unanswered),
    /// A trail cannot be followed.
    Astray,
}

impl From<Unanswered> for Halt {
    fn from(stop: Unanswered) -> Halt {
        Halt::Unanswered(stop)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Decision {
    Side(u8),
    Number(u128),
    /// An address is somewhere in the object that starts there, or outside of it.
    Inside(u64),
    Outside(u64),
    /// Whether an object that has ended is remembered.
    Keeps(bool),
    /// What is at that place in a buffer takes effect.
    Flush(u32),
    /// A store to that address takes effect that is not kept apart from others.
    Again(u64),
    /// There are no such stores any more.
    Drained,
}

/// One edge.
#[derive(Clone, Debug)]
pub struct Edge {
    pub thread: u32,
    pub trail: Vec<Decision>,
    pub guard: Vec<Term>,
    pub writes: Vec<(PlaceId, Term)>,
    pub inputs: Vec<Term>,
    /// What is in places that are made without a value: as good as inputs.
    pub made: Vec<(PlaceId, Term)>,
    pub touches: Vec<Touch>,
    pub control: Control,
    pub ending: Ending,
    /// Whether a store is not kept apart from others from then on.
    pub is_blurred: bool,
    /// What is added to the execution, where that is a graph.
    pub growth: Option<Arc<Growth>>,
}

/// Some bytes that are used.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Touch {
    pub start: u64,
    pub end: u64,
    pub writes: bool,
}

impl Touch {
    /// In conflict with all that others do.
    pub const ALL: Touch = Touch { start: 0, end: u64::MAX, writes: true };
    /// In conflict with nothing.
    pub const NONE: Touch = Touch { start: 0, end: 0, writes: false };

    pub fn conflicts(&self, other: &Touch) -> bool {
        (self.writes || other.writes) && self.start < other.end && other.start < self.end
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Ending {
    Goes,
    /// The thread stands at something that fails.
    Fails {
        property: Property,
        message: String,
        site: Option<Site>,
    },
    /// The thread cannot be followed any further.
    Lost {
        message: String,
        site: Option<Site>,
    },
    /// It cannot be followed as long as these are not known.
    Needs(Vec<PlaceId>),
}

/// Where the values of inputs come from.
pub enum Inputs {
    /// Variables that are the same for every edge.
    Pooled,
    /// These, one after the other, with all that happens written down.
    Given(Given),
}

/// Values of inputs for one edge, and all that happened so far.
#[derive(Default)]
pub struct Given {
    pub values: Vec<Bits>,
    pub next: usize,
    /// What was in places when they were made, and what was there from the start.
    pub made: FxHashMap<PlaceId, Bits>,
    pub bytes: FxHashMap<Term, Bits>,
    pub story: Box<Recorded>,
}

impl Given {
    /// The values for the next edge.
    pub fn turn_to(&mut self, values: Vec<Bits>, made: FxHashMap<PlaceId, Bits>) {
        (self.values, self.made, self.next) = (values, made, 0);
    }
}

/// What happened, with the addresses that a machine has which never uses one again.
#[derive(Default)]
pub struct Recorded {
    pub log: Vec<Record>,
    pub undefined: Vec<(u32, Bits)>,
    pub unwritten: Vec<(u64, Bits)>,
    /// Which of the records are accesses of an execution that is a graph.
    pub shared: Vec<usize>,
    made: Vec<Renamed>,
}

struct Renamed {
    owner: u32,
    address: u64,
    size: u64,
    to: u64,
}

pub struct Blocks<'p> {
    pub code: Code<'p>,
    pub values: Values,
    pub places: Places,
    pub inputs: Inputs,
    pub shared: FxHashSet<u64>,
    /// Where assumptions held up a thread.
    pub held_up: Option<Option<Location>>,
    /// Whether a thread has ended the program.
    pub has_exited: bool,
    /// All that the last thread would have used on ways that it cannot go.
    pub tried: Vec<Touch>,
    /// Conditions by which the last thread cannot go on: each of these, all of it.
    pub held: Vec<Vec<Term>>,
    /// Whether the last thread waits for its stores to take effect, and for nothing else.
    pub waits_for_stores: bool,
    pub nondet: Option<(i128, i128)>,
    pub memory: MemoryKind,
    /// How many stores of a thread are kept apart while others do not see them.
    pub most_stores: u32,
    /// Whether there may be more; else threads wait, and not all that the program can do is there.
    pub blurs: bool,
    /// Whether each instruction is a step of its own.
    pub is_naive: bool,
    /// How many ways of the last thread wait for that.
    waiting: usize,
    /// What decides about executions, where they are graphs.
    pub graphs: Option<Memory<'p>>,
    live: Points,
    globals: Globals,
    slots: Slots,
    children: FxHashMap<(u32, u32), u32>,
    pool: FxHashMap<(u32, u32), Term>,
    contents: FxHashMap<(PlaceId, usize), Term>,
    limits: Limits,
}

/// How edges are distinguished.
#[derive(Clone, Copy)]
pub enum Way<'w> {
    /// All of them. What is known besides, and the places of which all is known that can be.
    All { facts: &'w [Term], tracked: &'w FxHashSet<PlaceId> },
    /// The one with these decisions.
    Trail(&'w [Decision]),
}

/// A way through a block, so far.
#[derive(Clone)]
pub(crate) struct Run {
    pub thread: Thread<Term>,
    pub control: Control,
    pub writes: FxHashMap<PlaceId, Term>,
    pub guard: Vec<Term>,
    pub trail: Vec<Decision>,
    inputs: Vec<Term>,
    made: Vec<(PlaceId, Term)>,
    touches: Vec<Touch>,
    is_blurred: bool,
    /// What is added to an execution that is a graph, and what its writes have written.
    pub growth: Vec<(u32, Event)>,
    pub values: FxHashMap<Id, Term>,
    /// Whether it has come to what others may notice, or needs to stop before that.
    pub(crate) has_acted: bool,
    /// Whether it has taken an instruction.
    has_stepped: bool,
    branches: u32,
    blocks: u32,
    pub ending: Option<Ending>,
}

/// What an access does.
#[derive(Clone)]
pub(crate) enum Kind {
    Load,
    Store(Term),
    Rmw(RmwOp, Term),
    Cas { expected: Term, desired: Term, is_weak: bool },
}

/// What an access writes, and whether it succeeds where it may fail.
pub(crate) type Effect = (Option<Term>, Option<bool>, Run);

/// Where an access is.
enum Target {
    At(u64),
    Within { start: u64, places: Vec<u64> },
}

impl<'p> Blocks<'p> {
    const MOST_THREADS: u32 = 24;
    const MOST_OBJECTS: usize = 256;
    /// Branches on the way through a block.
    const MOST_BRANCHES: u32 = 5;
    /// Places of an object where an access may be.
    const MOST_PLACES: u64 = 128;
    /// Values that are tried one by one where only a number will do.
    const MOST_NUMBERS: usize = 16;
    const DEPTH: u32 = 40;

    /// None if the globals are too large, or too far up.
    pub fn new(program: &'p Program, nondet: Option<(i128, i128)>) -> Option<Blocks<'p>> {
        let code = Code::new(program);
        let globals = Globals::new(&code)?;
        let ends = program.globals.iter().zip(code.addresses());
        let mut ends = ends.map(|(global, start)| start.saturating_add(global.size));
        if ends.any(|end| end > FIRST_ASKED) {
            return None;
        }
        let limits = Limits {
            repeats: u32::MAX - 1,
            steps: 1 << 20,
            depth: Self::DEPTH,
            spins: false,
            idle: Idle::None,
        };
        Some(Blocks {
            values: Values::default(),
            places: Places::default(),
            inputs: Inputs::Pooled,
            shared: FxHashSet::default(),
            held_up: None,
            has_exited: false,
            tried: Vec::new(),
            held: Vec::new(),
            waits_for_stores: false,
            nondet,
            memory: MemoryKind::Sc,
            most_stores: Self::FEW_STORES,
            blurs: true,
            is_naive: false,
            waiting: 0,
            graphs: None,
            live: Points::of(program),
            globals,
            slots: Slots::of(program.pointer_width),
            children: FxHashMap::default(),
            pool: FxHashMap::default(),
            contents: FxHashMap::default(),
            limits,
            code,
        })
    }

    /// Whether the program assumes anything of its own.
    pub fn assumes(&self) -> bool {
        let blocks = self.code.program.functions.iter().flat_map(|function| &function.blocks);
        let is_assumption = |kind: &InstKind| match kind {
            InstKind::Assume { condition } => {
                !matches!(condition, parallax_program::Expr::Const(_))
            }
            _ => false,
        };
        blocks.flat_map(|block| &block.insts).any(|inst| is_assumption(&inst.kind))
    }

    /// Where people should look.
    pub fn location(&self, control: &Control, thread: u32) -> Option<Location> {
        self.code.own_place(control.thread(thread)?.stack.iter().copied())
    }

    /// Whether a part of memory is of an object that may end.
    pub fn may_end(&self, address: u64) -> bool {
        self.slots.owner(address).is_some()
    }

    /// What is in a place at first, where that is known.
    pub fn initial(&mut self, id: PlaceId) -> Option<Term> {
        let Place::Memory { address, bytes } = self.places.place(id) else { return None };
        let (address, is_asked) = of_program(address);
        if is_asked {
            return Some(self.values.number(u32::from(bytes) * 8, 0));
        }
        if self.slots.owner(address).is_some() {
            return None;
        }
        let bits = self.globals.initial(address, bytes)?;
        Some(self.values.terms.constant(bits))
    }

    /// Where the program begins, and what its threads are given.
    pub fn start(&mut self) -> (Control, Vec<(PlaceId, Term)>) {
        let mut control = Control::default();
        if self.graphs.is_some() {
            control.execution = Some(Arc::new(Execution::default()));
        }
        let mut writes = Vec::new();
        for (number, thread) in self.code.program.threads.iter().enumerate() {
            let args = thread.args.iter();
            let args = args.map(|arg| self.code.evaluate(arg, &[], &mut self.values)).collect();
            self.begin(&mut control, number as u32, thread.function, args, &mut writes);
        }
        (control, writes)
    }

    fn begin(
        &mut self,
        control: &mut Control,
        number: u32,
        function: FunctionId,
        args: Vec<Term>,
        writes: &mut Vec<(PlaceId, Term)>,
    ) {
        let site = Site { function, block: BlockId(0), index: 0 };
        if control.threads.len() <= number as usize {
            control.threads.resize(number as usize + 1, None);
        }
        // What it does before its first operation goes with that.
        let (at, stores) = (At::Operation, Stores::default());
        let local = Local { stack: vec![site], at, children: 0, held: Vec::new(), stores };
        control.threads[number as usize] = Some(Arc::new(local));
        for var in self.live.at(site, true).to_vec() {
            let id = self.local(number, 0, function, var);
            let width = self.values.terms.width(self.places.term(id));
            let value = args.get(var as usize).copied();
            let value = value.unwrap_or_else(|| self.values.number(width, 0));
            writes.push((id, value));
        }
    }

    pub fn local(&mut self, thread: u32, depth: u32, function: FunctionId, var: u32) -> PlaceId {
        let program = self.code.program;
        self.places.local(&mut self.values.terms, program, (thread, depth), function, var)
    }

    /// Whether a place still means something.
    pub fn exists(&self, control: &Control, id: PlaceId) -> bool {
        match self.places.place(id) {
            Place::Local { thread, depth, function, var } => {
                let Some(stack) = control.thread(thread).map(|it| &it.stack) else { return false };
                stack.get(depth as usize).is_some_and(|site| {
                    let is_innermost = depth as usize + 1 == stack.len();
                    site.function == function && self.live.at(*site, is_innermost).contains(&var)
                })
            }
            Place::Written { thread, address, before, .. } => {
                let execution = control.execution.as_ref();
                execution.is_some_and(|it| match before {
                    FORGOTTEN => it.forgotten(thread, address, false).is_some(),
                    FORGOTTEN_OPEN => it.forgotten(thread, address, true).is_some(),
                    _ => it.count(thread, address) > before,
                })
            }
            Place::Memory { address, .. } => {
                let (address, _) = of_program(address);
                self.slots.owner(address).is_none()
                    || control.object(address).is_some_and(|object| !object.is_freed)
            }
            Place::Stored { thread, address, bytes, nth } => {
                let count = |local: &Local| local.stores.count((address, bytes), usize::MAX);
                control.thread(thread).is_some_and(|local| nth < count(local))
            }
        }
    }

    /// Whether a thread stands before an operation that reads memory.
    pub fn is_before_read(&self, control: &Control, thread: u32) -> bool {
        let local = control.thread(thread).filter(|local| local.at == At::Operation);
        let site = local.and_then(|local| local.stack.last());
        let inst = site.and_then(|site| self.code.instruction(*site));
        use InstKind::{Cas, Load, LoadLinked, Rmw};
        matches!(
            inst.map(|inst| &inst.kind),
            Some(Load { .. } | LoadLinked { .. } | Rmw { .. } | Cas { .. })
        )
    }

    /// Whether a thread, or its buffer, can take a step at all: only one in a section can.
    pub fn may_run(control: &Control, process: u32) -> bool {
        control.section.is_none_or(|owner| owner == process::thread(process))
    }

    /// The edges of a thread from where it stands, or of its buffer.
    pub fn edges(
        &mut self,
        oracle: &mut Oracle<'_>,
        control: &Control,
        base: &Store,
        thread: u32,
        way: Way<'_>,
    ) -> Result<Vec<Edge>, Halt> {
        self.tried.clear();
        self.held.clear();
        (self.waits_for_stores, self.waiting) = (false, 0);
        if process::is_buffer(thread) {
            return self.flushes(control, base, process::thread(thread), way);
        }
        let Some(local) = control.thread(thread).filter(|local| local.at != At::Ended) else {
            return Ok(Vec::new());
        };
        let mut vars = Vec::with_capacity(local.stack.len());
        for (depth, site) in local.stack.iter().enumerate() {
            let body = self.code.program.function(site.function);
            let widths: Vec<u32> = body.vars.iter().map(|var| var.width).collect();
            let mut frame: Vec<Term> =
                widths.into_iter().map(|width| self.values.number(width, 0)).collect();
            let is_innermost = depth + 1 == local.stack.len();
            for var in self.live.at(*site, is_innermost).to_vec() {
                let id = self.local(thread, depth as u32, site.function, var);
                frame[var as usize] = self.value(base, control, &FxHashMap::default(), id);
            }
            vars.push(frame);
        }
        let run = Run {
            thread: Thread::standing(&self.code, &local.stack, vars),
            control: control.clone(),
            writes: FxHashMap::default(),
            guard: Vec::new(),
            trail: Vec::new(),
            inputs: Vec::new(),
            made: Vec::new(),
            touches: Vec::new(),
            growth: Vec::new(),
            values: FxHashMap::default(),
            is_blurred: false,
            has_acted: local.at == At::Block && !self.is_naive,
            has_stepped: false,
            branches: 0,
            blocks: 0,
            ending: None,
        };
        let mut walk = Walk { blocks: self, oracle, base, number: thread, way };
        let mut open = vec![run];
        let mut edges = Vec::new();
        while let Some(run) = open.pop() {
            match run.ending.is_some() {
                true if !walk.is_allowed(&run) => {}
                true => edges.push(walk.finish(run)),
                false => walk.advance(run, &mut open)?,
            }
        }
        edges.reverse();
        self.waits_for_stores = self.waiting > 0 && self.waiting == self.held.len();
        Ok(edges)
    }

    /// What is in a place.
    pub(crate) fn value(
        &mut self,
        base: &Store,
        control: &Control,
        writes: &FxHashMap<PlaceId, Term>,
        id: PlaceId,
    ) -> Term {
        if let Some(term) = writes.get(&id).or_else(|| base.get(&id)) {
            return *term;
        }
        let place = self.places.place(id);
        let is_given = matches!(self.inputs, Inputs::Given(_));
        if let Place::Memory { address, .. } = place {
            let (address, is_asked) = of_program(address);
            let global = self.globals.at(address).filter(|_| self.slots.owner(address).is_none());
            let is_constant = global.is_some_and(|global| global.constant) && !is_asked;
            if (is_constant || is_given)
                && let Some(initial) = self.initial(id)
            {
                return initial;
            }
        }
        let term = self.places.term(id);
        let width = self.values.terms.width(term);
        let Inputs::Given(Given { bytes, story, .. }) = &mut self.inputs else { return term };
        let bits = bytes.get(&term).copied().unwrap_or(Bits::zero(width));
        if let Place::Memory { address, .. } = place {
            let is_zero = control.object(address).is_some_and(|object| object.zeroed);
            let bits = if is_zero { Bits::zero(width) } else { bits };
            if !is_zero {
                story.leave(address, bits);
            }
            return self.values.terms.constant(bits);
        }
        self.values.terms.constant(bits)
    }

    /// What memory holds after a write, and what those find there who ask whether there is something.
    fn write(
        &mut self,
        writes: &mut FxHashMap<PlaceId, Term>,
        address: u64,
        bytes: u64,
        value: Term,
    ) {
        self.put(writes, address, bytes, value);
        let start = asked(address);
        for (from, to) in self.places.parts(start, start.saturating_add(bytes)) {
            let (low, width) = ((from - start) as u32 * 8, (to - from) as u32 * 8);
            let part = self.values.terms.extract(value, low, width);
            self.put(writes, from, to - from, part);
        }
    }

    fn put(
        &mut self,
        writes: &mut FxHashMap<PlaceId, Term>,
        address: u64,
        bytes: u64,
        value: Term,
    ) {
        let mut low = 0;
        for id in self.places.pieces(&mut self.values.terms, address, bytes) {
            let width = self.values.terms.width(self.places.term(id));
            writes.insert(id, self.values.terms.extract(value, low, width));
            low += width;
        }
    }

    /// The threads that others have started, by number: who started them, and as which one.
    pub fn all_children(&self) -> Vec<(u32, u32, u32)> {
        let children = self.children.iter();
        let mut all: Vec<_> =
            children.map(|((parent, place), number)| (*parent, *place, *number)).collect();
        all.sort_unstable_by_key(|(_, _, number)| *number);
        all
    }

    /// The number of a thread that another one starts.
    pub fn child(&mut self, parent: u32, place: u32) -> u32 {
        let next = (self.code.program.threads.len() + self.children.len()) as u32;
        *self.children.entry((parent, place)).or_insert(next)
    }
}

impl Recorded {
    /// Notes what nobody has written.
    fn leave(&mut self, address: u64, bits: Bits) {
        let to = self.renamed(address);
        for byte in 0..bits.width() / 8 {
            self.unwritten.push((to + u64::from(byte), bits.extract(byte * 8, 8)));
        }
    }

    fn renamed(&self, address: u64) -> u64 {
        let within = |made: &&Renamed| (made.address..=made.address + made.size).contains(&address);
        // The last one made there.
        let found = self.made.iter().rev().find(within);
        found.map_or(address, |made| made.to + (address - made.address))
    }
}

/// One thread on its way through a block.
pub(crate) struct Walk<'w, 'o, 'p> {
    pub blocks: &'w mut Blocks<'p>,
    oracle: &'w mut Oracle<'o>,
    base: &'w Store,
    pub number: u32,
    pub way: Way<'w>,
}

impl<'p> Walk<'_, '_, 'p> {
    fn advance(&mut self, mut run: Run, open: &mut Vec<Run>) -> Result<(), Halt> {
        let blocks = &mut *self.blocks;
        let site = run.thread.site();
        let is_between = site.is_some_and(|site| blocks.code.instruction(site).is_some());
        if blocks.is_naive && run.has_stepped && is_between {
            self.stop(run, At::Block, open);
            return Ok(());
        }
        run.has_stepped |= is_between;
        let steps = if blocks.is_naive { 1 } else { blocks.limits.steps };
        let limits = Limits { steps, ..blocks.limits };
        let operation = run.thread.advance(&blocks.code, &limits, &mut blocks.values);
        let operation = operation.filter(|it| !blocks.is_naive || !matches!(it, Operation::Cut));
        if std::mem::take(&mut blocks.values.met_undefined) {
            return Self::lose(run, "a part of an expression that nobody has given", open);
        }
        let Some(operation) = operation else {
            run.blocks += 1;
            let site = run.thread.site();
            let is_head = site.is_some_and(|site| self.blocks.code.begins_round(site));
            let is_long = run.branches >= Blocks::MOST_BRANCHES || run.blocks > 4096;
            if is_head || is_long && (run.has_acted || self.blocks.is_naive) {
                self.stop(run, At::Block, open);
            } else {
                open.push(run);
            }
            return Ok(());
        };
        self.serve(run, operation, open)
    }

    /// The thread stays here for now.
    pub(crate) fn stop(&mut self, mut run: Run, at: At, open: &mut Vec<Run>) {
        let stack = run.thread.stack().collect();
        if let Some(local) = run.control.local(self.number) {
            local.stack = stack;
            local.at = at;
        }
        run.ending = Some(Ending::Goes);
        open.push(run);
    }

    pub(crate) fn lose(mut run: Run, what: &str, open: &mut Vec<Run>) -> Result<(), Halt> {
        let site = run.thread.site();
        run.ending = Some(Ending::Lost { message: what.to_string(), site });
        open.push(run);
        Ok(())
    }

    pub(crate) fn fail(mut run: Run, property: Property, message: &str, open: &mut Vec<Run>) {
        let site = run.thread.site();
        run.ending = Some(Ending::Fails { property, message: message.to_string(), site });
        open.push(run);
    }

    pub(crate) fn record(&mut self, what: What) {
        self.record_of(self.number, what);
    }

    fn record_of(&mut self, thread: u32, what: What) {
        if let Inputs::Given(Given { story, .. }) = &mut self.blocks.inputs {
            story.log.push(Record { thread, what });
        }
    }

    pub(crate) fn value(&mut self, run: &Run, id: PlaceId) -> Term {
        self.blocks.value(self.base, &run.control, &run.writes, id)
    }

    /// The edge that a way has been.
    fn finish(&mut self, mut run: Run) -> Edge {
        let goes = run.ending == Some(Ending::Goes);
        if goes {
            let stack: Vec<Site> = match run.control.has_ended(self.number) {
                true => Vec::new(),
                false => run.thread.stack().collect(),
            };
            for (depth, site) in stack.iter().enumerate() {
                let is_innermost = depth + 1 == stack.len();
                for var in self.blocks.live.at(*site, is_innermost).to_vec() {
                    let id = self.blocks.local(self.number, depth as u32, site.function, var);
                    let value = run.thread.value(depth, parallax_program::VarId(var)).copied();
                    let before = self.base.get(&id).copied();
                    let before = before.unwrap_or_else(|| self.blocks.places.term(id));
                    if let Some(value) = value.filter(|value| *value != before) {
                        run.writes.insert(id, value);
                    }
                }
            }
            if run.control.section == Some(self.number) {
                run.touches.push(Touch::ALL);
            }
        }
        let growth = self.settle(&mut run, goes);
        let mut writes: Vec<(PlaceId, Term)> = run.writes.into_iter().collect();
        writes.sort_unstable();
        run.touches.sort_unstable();
        run.touches.dedup();
        Edge {
            thread: self.number,
            trail: run.trail,
            guard: run.guard,
            writes,
            inputs: run.inputs,
            made: run.made,
            touches: run.touches,
            control: run.control,
            ending: run.ending.unwrap_or(Ending::Goes),
            is_blurred: run.is_blurred,
            growth,
        }
    }

    /// The decision that the trail has next.
    pub(crate) fn next_on_trail(&self, run: &Run) -> Result<Option<Decision>, Halt> {
        match self.way {
            Way::All { .. } => Ok(None),
            Way::Trail(trail) => trail.get(run.trail.len()).copied().map(Some).ok_or(Halt::Astray),
        }
    }

    /// The sides of a decision, each with its condition.
    pub(crate) fn sides(&mut self, run: Run, conditions: &[Term]) -> Result<Vec<(u8, Run)>, Halt> {
        let wanted = self.next_on_trail(&run)?;
        let mut all = Vec::new();
        for (side, condition) in conditions.iter().enumerate() {
            let decision = Decision::Side(side as u8);
            let values = &self.blocks.values;
            let is_wanted = match wanted {
                Some(wanted) => wanted == decision,
                None => !values.is_false(*condition),
            };
            if !is_wanted {
                continue;
            }
            let mut run = run.clone();
            run.trail.push(decision);
            if !values.is_true(*condition) {
                run.guard.push(*condition);
            }
            all.push((side as u8, run));
        }
        Ok(all)
    }

    /// A thread waits for a condition. False where it never holds.
    fn wait(&mut self, run: &mut Run, condition: Term) -> bool {
        if !self.blocks.values.is_true(condition) {
            let mut held = run.guard.clone();
            held.push(self.blocks.values.terms.not(condition));
            self.blocks.held.push(held);
        }
        self.demand(run, condition)
    }

    /// A thread goes on only where a condition holds. False where it never does.
    fn demand(&mut self, run: &mut Run, condition: Term) -> bool {
        let values = &self.blocks.values;
        if values.is_false(condition) && matches!(self.way, Way::All { .. }) {
            self.blocks.tried.append(&mut run.touches);
            return false;
        }
        if !values.is_true(condition) {
            run.guard.push(condition);
        }
        true
    }

    pub(crate) fn fresh(&mut self, run: &mut Run, width: u32) -> Term {
        let Blocks { values, inputs, pool, .. } = &mut *self.blocks;
        let term = match inputs {
            Inputs::Pooled => {
                let key = (run.inputs.len() as u32, width);
                *pool.entry(key).or_insert_with(|| values.terms.variable(width))
            }
            Inputs::Given(given) => {
                let bits =
                    given.values.get(given.next).filter(|bits| bits.width() == width).copied();
                given.next += 1;
                values.terms.constant(bits.unwrap_or(Bits::zero(width)))
            }
        };
        run.inputs.push(term);
        term
    }

    /// Goes on with each number that a term may be.
    fn numbers(
        &mut self,
        run: Run,
        term: Term,
        open: &mut Vec<Run>,
    ) -> Result<Vec<(Bits, Run)>, Halt> {
        let width = self.blocks.values.terms.width(term);
        let with = |mut run: Run, bits: Bits, condition: Option<Term>| {
            run.trail.push(Decision::Number(bits.unsigned()));
            run.guard.extend(condition);
            (bits, run)
        };
        if let Some(wanted) = self.next_on_trail(&run)? {
            let Decision::Number(number) = wanted else { return Err(Halt::Astray) };
            let bits = Bits::new(width, number);
            let constant = self.blocks.values.terms.constant(bits);
            let condition = self.blocks.values.terms.equals(term, constant);
            let is_true = self.blocks.values.is_true(condition);
            return Ok(vec![with(run, bits, (!is_true).then_some(condition))]);
        }
        let terms = &self.blocks.values.terms;
        if let Some(bits) = terms.as_constant(term) {
            return Ok(vec![with(run, bits, None)]);
        }
        let Way::All { facts, tracked } = self.way else { return Err(Halt::Astray) };
        let support = terms.support(term);
        let places: Vec<PlaceId> =
            support.iter().filter_map(|it| self.blocks.places.of(*it)).collect();
        if places.iter().any(|place| !tracked.contains(place)) {
            let mut run = run;
            run.ending = Some(Ending::Needs(places));
            open.push(run);
            return Ok(Vec::new());
        }
        let mut conditions: Vec<Term> = facts.iter().chain(&run.guard).copied().collect();
        let mut all = Vec::new();
        while let Some(model) = self.oracle.model(&self.blocks.values.terms, &conditions)? {
            if all.len() >= Blocks::MOST_NUMBERS {
                let mut run = run;
                run.ending = Some(Ending::Needs(places));
                open.push(run);
                return Ok(Vec::new());
            }
            let terms = &mut self.blocks.values.terms;
            let bits = evaluate(&model, terms, term);
            let constant = terms.constant(bits);
            let is_it = terms.equals(term, constant);
            conditions.push(terms.not(is_it));
            all.push(with(run.clone(), bits, Some(is_it)));
        }
        Ok(all)
    }

    pub(crate) fn pass(&mut self, run: &mut Run, value: Option<Term>) {
        match value {
            Some(value) => run.thread.result(&self.blocks.code, value),
            None => run.thread.done(),
        }
    }

    /// Whether the thread is to stop before an operation that others may notice.
    pub(crate) fn waits(&self, run: &Run) -> bool {
        if run.control.execution.is_some() {
            return run.has_acted;
        }
        let is_own = run.control.section == Some(self.number) || run.control.is_alone(self.number);
        run.has_acted && !is_own
    }

    fn serve(
        &mut self,
        mut run: Run,
        operation: Operation<'p, Term>,
        open: &mut Vec<Run>,
    ) -> Result<(), Halt> {
        match operation {
            Operation::Load { address, size, .. } | Operation::LoadLinked { address, size, .. } => {
                self.access(run, Kind::Load, address, size.bytes(), open)
            }
            Operation::Store { address, value, size, .. } => {
                self.access(run, Kind::Store(value), address, size.bytes(), open)
            }
            Operation::Rmw { address, op, operand, size, .. } => {
                self.access(run, Kind::Rmw(op, operand), address, size.bytes(), open)
            }
            Operation::Cas { address, expected, desired, size, weak, .. } => {
                let kind = Kind::Cas { expected, desired, is_weak: weak };
                self.access(run, kind, address, size.bytes(), open)
            }
            Operation::StoreConditional { .. } => Self::lose(run, RESERVATIONS, open),
            Operation::Fence { tags } => {
                if tags.contains(Tags::MEMBARRIER) && run.control.execution.is_some() {
                    return Self::lose(run, "a barrier in all threads", open);
                }
                let Some(mut run) = self.fence(run, open) else { return Ok(()) };
                if !tags.is_mark() {
                    self.record(What::Fence);
                    Self::add(&mut run, self.number, Event::fence(tags.clone()));
                }
                self.pass(&mut run, None);
                open.push(run);
                Ok(())
            }
            Operation::Spawn { function, args } => self.spawn(run, function, args, open),
            Operation::Join { thread } => self.join(run, thread, open),
            Operation::ThreadId => {
                let number = self.blocks.values.number(32, u128::from(self.number));
                self.pass(&mut run, Some(number));
                open.push(run);
                Ok(())
            }
            Operation::Alloc { size, align, kind, zeroed } => {
                for (size, run) in self.numbers(run, size, open)? {
                    self.alloc(run, size, align, kind, zeroed, open)?;
                }
                Ok(())
            }
            Operation::HeapSize { address } => self.heap_size(run, address, open),
            Operation::Free { address, kind } => self.free(run, address, kind, open),
            Operation::Wait { condition } => {
                if self.wait(&mut run, condition) {
                    self.pass(&mut run, None);
                    open.push(run);
                }
                Ok(())
            }
            Operation::Assume { condition } => {
                if self.wait(&mut run, condition) {
                    self.pass(&mut run, None);
                    open.push(run);
                } else if run.thread.site().is_some_and(|it| self.blocks.code.ends_program(it)) {
                    self.blocks.has_exited = true;
                } else if self.blocks.held_up.is_none() {
                    self.blocks.held_up = Some(self.blocks.code.own_place(run.thread.stack()));
                }
                Ok(())
            }
            Operation::Assert { condition, message, property } => {
                let fails = self.blocks.values.terms.not(condition);
                for (side, mut run) in self.sides(run, &[condition, fails])? {
                    if side == 1 {
                        Self::fail(run, property, message, open);
                    } else {
                        self.pass(&mut run, None);
                        open.push(run);
                    }
                }
                Ok(())
            }
            Operation::Nondet { width } => self.input(run, width, open),
            Operation::Undefined { width } => {
                let value = self.fresh(&mut run, width);
                let bits = self.blocks.values.constant_of(value);
                if let (Inputs::Given(Given { story, .. }), Some(bits)) =
                    (&mut self.blocks.inputs, bits)
                {
                    story.undefined.push((self.number, bits));
                }
                self.pass(&mut run, Some(value));
                open.push(run);
                Ok(())
            }
            Operation::Choose { below } => self.choose(run, below, open),
            Operation::AtomicBegin => {
                if run.control.execution.is_some() {
                    return self.enter(run, open);
                }
                if run.control.section == Some(self.number) {
                    return Self::lose(run, NESTED_SECTION, open);
                }
                if self.waits(&run) {
                    self.stop(run, At::Operation, open);
                    return Ok(());
                }
                if run.control.stores(self.number) {
                    self.wait_for_stores(run, Touch::ALL, open);
                    return Ok(());
                }
                run.has_acted = true;
                run.control.section = Some(self.number);
                self.record(What::AtomicBegin);
                self.pass(&mut run, None);
                open.push(run);
                Ok(())
            }
            Operation::AtomicEnd if run.control.execution.is_some() => self.leave(run, open),
            Operation::AtomicEnd => {
                if run.control.section != Some(self.number) {
                    return Self::lose(run, NO_SECTION, open);
                }
                run.control.section = None;
                self.record(What::AtomicEnd);
                self.pass(&mut run, None);
                open.push(run);
                Ok(())
            }
            Operation::Branch { condition } => {
                let no = self.blocks.values.terms.not(condition);
                for (side, mut run) in self.sides(run, &[condition, no])?.into_iter().rev() {
                    let blocks = &mut *self.blocks;
                    let (code, limits) = (&blocks.code, &blocks.limits);
                    run.thread.branch(code, limits, side == 0, &mut blocks.values);
                    run.branches += u32::from(blocks.values.constant_of(condition).is_none());
                    let site = run.thread.site();
                    let is_head = site.is_some_and(|site| blocks.code.begins_round(site));
                    let is_long = run.branches >= Blocks::MOST_BRANCHES;
                    if is_head || is_long && run.has_acted {
                        self.stop(run, At::Block, open);
                    } else {
                        open.push(run);
                    }
                }
                Ok(())
            }
            Operation::End if run.control.stores(self.number) => {
                self.wait_for_stores(run, Touch::NONE, open);
                Ok(())
            }
            Operation::End => {
                if self.number != 0 || !self.blocks.code.program.daemons {
                    self.record(What::End);
                }
                let end = Spot::End(self.number);
                Self::add(&mut run, self.number, Event::write(end, Tags::thread_release()));
                if let Some(local) = run.control.local(self.number) {
                    let (stack, held, stores) = (Vec::new(), Vec::new(), Stores::default());
                    *local = Local { stack, at: At::Ended, children: 0, held, stores };
                }
                if run.control.section == Some(self.number) || self.is_inside(&run) {
                    run.control.section = None;
                    return Self::lose(run, "a thread that ends in an atomic section", open);
                }
                run.ending = Some(Ending::Goes);
                open.push(run);
                Ok(())
            }
            Operation::Spin { .. } | Operation::Vain { .. } | Operation::Cut => {
                let is_deep = run.thread.stack().count() >= Blocks::DEPTH as usize;
                let what =
                    if is_deep { "recursion that does not end" } else { "a long computation" };
                Self::lose(run, what, open)
            }
            Operation::Fault(Fault::BadCallee) => self.call(run, open),
            Operation::Fault(fault) => Self::lose(run, &fault.message(), open),
        }
    }

    /// A call through a pointer.
    fn call(&mut self, run: Run, open: &mut Vec<Run>) -> Result<(), Halt> {
        let blocks = &mut *self.blocks;
        let Some(term) = run.thread.callee(&blocks.code, &mut blocks.values) else {
            return Err(Halt::Astray);
        };
        for (bits, mut run) in self.numbers(run, term, open)? {
            if self.blocks.code.program.function_at(bits).is_none() {
                Self::fail(run, Property::Memory, Fault::BAD_CALLEE, open);
                continue;
            }
            let blocks = &mut *self.blocks;
            blocks.values.assumed = Some((term, bits));
            let operation = run.thread.advance(&blocks.code, &blocks.limits, &mut blocks.values);
            blocks.values.assumed = None;
            match operation {
                Some(Operation::Fault(fault)) => Self::lose(run, &fault.message(), open)?,
                Some(operation) => self.serve(run, operation, open)?,
                None => open.push(run),
            }
        }
        Ok(())
    }

    fn input(&mut self, mut run: Run, width: u32, open: &mut Vec<Run>) -> Result<(), Halt> {
        let value = self.fresh(&mut run, width);
        if let Some((low, high)) = self.blocks.nondet.filter(|_| width > 1) {
            let span = high.wrapping_sub(low);
            if low <= high && (width >= 127 || span < (1i128 << width) - 1) {
                let terms = &mut self.blocks.values.terms;
                let (first, last) = (Bits::signed(width, low), Bits::signed(width, span));
                let (first, last) = (terms.constant(first), terms.constant(last));
                let offset = terms.binary(BinaryOp::Sub, value, first);
                let within = terms.binary(BinaryOp::Ule, offset, last);
                if !self.demand(&mut run, within) {
                    return Ok(());
                }
            }
        }
        self.record_choice(value);
        self.pass(&mut run, Some(value));
        open.push(run);
        Ok(())
    }

    fn record_choice(&mut self, value: Term) {
        if let Some(value) = self.blocks.values.constant_of(value) {
            self.record(What::Choice { value });
        }
    }

    fn choose(&mut self, mut run: Run, below: Term, open: &mut Vec<Run>) -> Result<(), Halt> {
        let width = self.blocks.values.terms.width(below);
        let value = self.fresh(&mut run, width);
        let less = self.blocks.values.terms.binary(BinaryOp::Ult, value, below);
        if !self.demand(&mut run, less) {
            return Ok(());
        }
        if self.blocks.values.constant_of(below).is_some_and(|below| below.unsigned() > 1) {
            self.record_choice(value);
        }
        self.pass(&mut run, Some(value));
        open.push(run);
        Ok(())
    }

    fn spawn(
        &mut self,
        mut run: Run,
        function: FunctionId,
        args: Vec<Term>,
        open: &mut Vec<Run>,
    ) -> Result<(), Halt> {
        let place = run.control.thread(self.number).map_or(0, |local| local.children);
        let child = self.blocks.child(self.number, place);
        if child >= Blocks::MOST_THREADS {
            let what = format!("more than {} threads", Blocks::MOST_THREADS);
            return Self::lose(run, &what, open);
        }
        if let Some(local) = run.control.local(self.number) {
            local.children += 1;
        }
        let mut writes = Vec::new();
        self.blocks.begin(&mut run.control, child, function, args, &mut writes);
        run.writes.extend(writes);
        self.connect(&mut run, child);
        self.record(What::Spawn { child });
        run.has_acted = true;
        if run.control.stores(self.number) {
            self.put_off(&mut run, child, function);
        } else {
            self.record_of(child, What::Begin);
        }
        let number = self.blocks.values.number(32, u128::from(child));
        self.pass(&mut run, Some(number));
        open.push(run);
        Ok(())
    }

    fn join(&mut self, run: Run, thread: Term, open: &mut Vec<Run>) -> Result<(), Halt> {
        for (of, mut run) in self.numbers(run, thread, open)? {
            let of = of.unsigned();
            let has_ended = u32::try_from(of).is_ok_and(|of| run.control.has_ended(of));
            if run.has_acted && !has_ended {
                self.stop(run, At::Operation, open);
                continue;
            }
            if has_ended {
                run.has_acted = true;
                self.meet(&mut run, of as u32);
                self.record(What::Join { of: of as u32 });
                self.pass(&mut run, None);
                open.push(run);
            } else {
                self.blocks.held.push(run.guard);
            }
        }
        Ok(())
    }

    fn alloc(
        &mut self,
        mut run: Run,
        size: Bits,
        align: u32,
        kind: AllocKind,
        zeroed: bool,
        open: &mut Vec<Run>,
    ) -> Result<(), Halt> {
        let last = run.control.last_object_of(self.number);
        let place = self.blocks.slots.next(self.number, last, size.unsigned(), align);
        let Some(address) = place else { return Self::lose(run, TOO_LARGE, open) };
        if run.control.objects.len() >= Blocks::MOST_OBJECTS {
            return Self::lose(run, "more than 256 objects at a time", open);
        }
        let context = context(run.thread.stack());
        let size = size.unsigned() as u64;
        run.control.add(Object {
            address,
            size,
            kind,
            zeroed,
            owner: self.number,
            context,
            is_private: !self.blocks.shared.contains(&context),
            is_freed: false,
        });
        self.rename(address, size, align);
        for id in self.blocks.places.known_pieces(address, address.saturating_add(size)) {
            let width = self.blocks.values.terms.width(self.blocks.places.term(id));
            let value = match zeroed {
                true => self.blocks.values.number(width, 0),
                false => self.content(&mut run, id, width),
            };
            run.writes.insert(id, value);
        }
        let (start, end) = (asked(address), asked(address.saturating_add(size)));
        for id in self.blocks.places.known_pieces(start, end) {
            let width = self.blocks.values.terms.width(self.blocks.places.term(id));
            run.writes.insert(id, self.blocks.values.number(width, 0));
        }
        let width = self.blocks.code.program.pointer_width;
        let address = self.blocks.values.number(width, u128::from(address));
        self.pass(&mut run, Some(address));
        open.push(run);
        Ok(())
    }

    /// What is in a place of an object that nobody has written.
    fn content(&mut self, run: &mut Run, id: PlaceId, width: u32) -> Term {
        let Blocks { values, inputs, contents, places, .. } = &mut *self.blocks;
        let Inputs::Given(given) = inputs else {
            // An object may be made twice at one place.
            let key = (id, run.made.iter().filter(|(made, _)| *made == id).count());
            let term = *contents.entry(key).or_insert_with(|| values.terms.variable(width));
            run.made.push((id, term));
            return term;
        };
        let bits = given.made.get(&id).copied().unwrap_or(Bits::zero(width));
        if let Place::Memory { address, .. } = places.place(id) {
            given.story.leave(address, bits);
        }
        values.terms.constant(bits)
    }

    /// Says which address a machine gives to a new object that never uses one again.
    fn rename(&mut self, address: u64, size: u64, align: u32) {
        let (slots, owner) = (self.blocks.slots, self.number);
        if let Inputs::Given(Given { story, .. }) = &mut self.blocks.inputs {
            let last = story.made.iter().rfind(|made| made.owner == owner);
            let last = last.map(|last| (last.to, last.size));
            let to = slots.next(owner, last, u128::from(size), align).unwrap_or(address);
            story.made.push(Renamed { owner, address, size, to });
            story.log.push(Record { thread: owner, what: What::Alloc { address: to } });
        }
    }

    fn heap_size(&mut self, run: Run, address: Term, open: &mut Vec<Run>) -> Result<(), Halt> {
        for (address, mut run) in self.numbers(run, address, open)? {
            let address = address.unsigned() as u64;
            let is_own = self.is_own(&run, address)?;
            if self.waits(&run) && !is_own {
                self.stop(run, At::Operation, open);
                continue;
            }
            run.has_acted |= !is_own;
            run.touches.push(Touch { start: address, end: address + 1, writes: false });
            if let Some(wrong) = run.control.wrong_end(address, AllocKind::Heap) {
                Self::fail(run, Property::Memory, wrong.message(), open);
                continue;
            }
            let size = run.control.object(address).map_or(0, |object| object.size);
            let width = self.blocks.code.program.pointer_width;
            let size = self.blocks.values.number(width, u128::from(size));
            self.pass(&mut run, Some(size));
            open.push(run);
        }
        Ok(())
    }

    fn free(
        &mut self,
        run: Run,
        address: Term,
        kind: AllocKind,
        open: &mut Vec<Run>,
    ) -> Result<(), Halt> {
        for (address, mut run) in self.numbers(run, address, open)? {
            let address = address.unsigned() as u64;
            let is_own = address == 0 || self.is_own(&run, address)?;
            if self.waits(&run) && !is_own {
                self.stop(run, At::Operation, open);
                continue;
            }
            run.has_acted |= !is_own;
            if !is_own && !self.is_last_user(&run) {
                let what = "the end of an object that other threads may use, under this model";
                Self::lose(run, what, open)?;
                continue;
            }
            if address != 0 {
                if let Some(wrong) = run.control.wrong_end(address, kind) {
                    Self::fail(run, Property::Memory, wrong.message(), open);
                    continue;
                }
                let size = run.control.object(address).map_or(1, |object| object.size.max(1));
                let range = address..address.saturating_add(size);
                run.touches.push(Touch { start: range.start, end: range.end, writes: true });
                if self.is_stored_to(&run, &range, |other| other != self.number) {
                    let what = "a store that waits in a buffer while its object is freed";
                    Self::lose(run, what, open)?;
                    continue;
                }
                let is_late = self.is_stored_to(&run, &range, |other| other == self.number);
                let keeps = match self.next_on_trail(&run)? {
                    Some(Decision::Keeps(keeps)) => keeps,
                    Some(_) => return Err(Halt::Astray),
                    // Addresses of the heap go anywhere, so they are not given out again.
                    None => kind == AllocKind::Heap || is_late || self.is_remembered(&run, range),
                };
                run.trail.push(Decision::Keeps(keeps));
                run.control.free(address, keeps);
            }
            if let Inputs::Given(Given { story, .. }) = &mut self.blocks.inputs {
                let address = story.renamed(address);
                story.log.push(Record { thread: self.number, what: What::Free { address } });
            }
            self.pass(&mut run, None);
            open.push(run);
        }
        Ok(())
    }

    /// Whether some place holds, or may hold, an address of an object. Places of which it matters are
    /// known: nobody follows an address that is not.
    fn is_remembered(&self, run: &Run, range: std::ops::Range<u64>) -> bool {
        let values = &self.blocks.values;
        let pointer = self.blocks.code.program.pointer_width;
        let holds = |term: &Term| match values.constant_of(*term) {
            Some(bits) => {
                bits.width() >= 32
                    && (u128::from(range.start)..=u128::from(range.end)).contains(&bits.unsigned())
            }
            None => values.terms.width(*term) == pointer,
        };
        let inside = |id: &PlaceId| match self.blocks.places.place(*id) {
            Place::Memory { address, .. } => range.contains(&of_program(address).0),
            Place::Written { address, .. } => range.contains(&address),
            Place::Local { thread, .. } => thread == self.number,
            Place::Stored { .. } => false,
        };
        let written = run.writes.iter();
        let known = self.base.iter().filter(|(id, _)| !run.writes.contains_key(id));
        let elsewhere = written.chain(known).any(|(id, term)| !inside(id) && holds(term));
        // The thread's own variables, as they are now.
        let stack: Vec<Site> = run.thread.stack().collect();
        let own = stack.iter().enumerate().any(|(depth, site)| {
            let is_top = depth + 1 == stack.len();
            self.blocks.live.at(*site, is_top).iter().any(|var| {
                let value = run.thread.value(depth, parallax_program::VarId(*var));
                value.is_some_and(holds) && !(is_top && self.is_freed_by(site, *var))
            })
        });
        elsewhere || own
    }

    /// Whether the instruction frees just what the variable holds.
    fn is_freed_by(&self, site: &Site, var: u32) -> bool {
        let kind = self.blocks.code.instruction(*site).map(|inst| &inst.kind);
        let is_it = |expr: &parallax_program::Expr| matches!(expr, parallax_program::Expr::Var(it) if it.0 == var);
        let after = Site { index: site.index + 1, ..*site };
        matches!(kind, Some(InstKind::Free { address, .. }) if is_it(address))
            && !self.blocks.live.at(after, true).contains(&var)
    }

    /// Whether only the thread itself uses what is at an address.
    fn is_own(&self, run: &Run, address: u64) -> Result<bool, Halt> {
        let object = run.control.object(address).filter(|object| object.is_private);
        match object {
            None => Ok(false),
            Some(object) if object.owner == self.number => Ok(true),
            Some(object) => Err(Halt::Escaped { context: object.context }),
        }
    }

    pub(crate) fn marks(&self, run: &Run) -> [Marks; 3] {
        let site = run.thread.site();
        let inst = site.and_then(|site| self.blocks.code.instruction(site));
        inst.map_or([Marks::default(); 3], |inst| Marks::of_events(&inst.kind))
    }

    /// The thread has come to an access.
    fn access(
        &mut self,
        run: Run,
        kind: Kind,
        address: Term,
        bytes: u32,
        open: &mut Vec<Run>,
    ) -> Result<(), Halt> {
        let bytes = u64::from(bytes);
        let marks = self.marks(&run);
        for (target, mut run) in self.targets(run, &kind, address, bytes, open)? {
            let place = match &target {
                Target::At(place) => *place,
                Target::Within { start, .. } => *start,
            };
            let is_own = self.is_own(&run, place)?;
            let constant =
                self.blocks.globals.at(place).filter(|_| {
                    self.blocks.slots.owner(place).is_none() && matches!(kind, Kind::Load)
                });
            let is_own = is_own || constant.is_some_and(|global| global.constant);
            if self.is_buffered(&run, &kind, marks[0]) && !is_own {
                let Target::At(place) = target else { return Err(Halt::Astray) };
                self.store_later(run, &kind, place, bytes, open)?;
                continue;
            }
            if self.waits(&run) && !is_own {
                self.stop(run, At::Operation, open);
                continue;
            }
            if self.must_drain(&run, &kind, marks, is_own) {
                let end = match &target {
                    Target::At(place) => place.saturating_add(bytes),
                    Target::Within { places, .. } => places.last().map_or(place, |it| it + bytes),
                };
                let writes = !matches!(kind, Kind::Load);
                self.wait_for_stores(run, Touch { start: place, end, writes }, open);
                continue;
            }
            let swaps = matches!(kind, Kind::Rmw(..) | Kind::Cas { .. });
            let has_buffers = self.blocks.memory != MemoryKind::Sc;
            run.has_acted |= !is_own || has_buffers && swaps;
            if has_buffers && matches!(kind, Kind::Cas { is_weak: true, .. }) {
                // Whether it can succeed depends on all that is on its way.
                run.touches.push(Touch::ALL);
            }
            let is_shared = run.control.execution.is_some() && !is_own;
            match target {
                Target::At(place) if is_shared => {
                    self.shared_access(run, &kind, place, bytes, open)?;
                }
                Target::Within { places, .. } if is_shared => {
                    for (place, run) in self.each_place(run, address, &places)? {
                        self.shared_access(run, &kind, place, bytes, open)?;
                    }
                }
                Target::At(place) => self.access_at(run, &kind, place, bytes, open)?,
                Target::Within { start, places } => {
                    self.access_within(run, &kind, (address, start), &places, bytes, open)?;
                }
            }
        }
        Ok(())
    }

    /// Where an access may be. A run that cannot go on is among the open ones then.
    fn targets(
        &mut self,
        run: Run,
        kind: &Kind,
        address: Term,
        bytes: u64,
        open: &mut Vec<Run>,
    ) -> Result<Vec<(Target, Run)>, Halt> {
        let wanted = self.next_on_trail(&run)?;
        let inside = match wanted {
            Some(Decision::Inside(start) | Decision::Outside(start)) => {
                let constant = self.blocks.values.constant_of(address);
                let found = self.extent(&run.control, start).filter(|_| constant.is_none());
                match (found, wanted) {
                    (None, Some(Decision::Inside(_))) => {
                        // By now it is known where.
                        let mut run = run;
                        run.trail.push(Decision::Inside(start));
                        let bits = constant.ok_or(Halt::Astray)?;
                        let place = bits.unsigned() as u64;
                        let is_wrong = self.wrong(&run.control, place, bytes, false).is_some();
                        if is_wrong {
                            let never = self.blocks.values.terms.falsity();
                            run.guard.push(never);
                        }
                        return Ok(vec![(Target::At(place), run)]);
                    }
                    (found, _) => found,
                }
            }
            Some(_) => None,
            None => self.object_of(&run.control, address),
        };
        let width = self.blocks.values.terms.width(address);
        if let Some((start, size)) = inside
            && width <= 64
            && let Some(places) = self.places_in(address, start, size, bytes)
        {
            let is_own = self.is_own(&run, start)?;
            let is_exact = !is_own && self.is_buffered(&run, kind, self.marks(&run)[0]);
            let all =
                self.inside_or_outside(run, address, (start, size), bytes, places, wanted, open)?;
            return match is_exact && wanted.is_none() {
                true => self.one_by_one(all, address, open),
                false => Ok(all),
            };
        }
        if let Some(Decision::Outside(_)) = wanted {
            // It is known to be inside, or to fail as an access at a number does.
            let mut run = run;
            let bits = self.blocks.values.constant_of(address).ok_or(Halt::Astray)?;
            run.trail.extend(wanted);
            let message = BadAccess::OutOfBounds.message();
            let place = bits.unsigned() as u64;
            if self.wrong(&run.control, place, bytes, false).is_none() {
                let never = self.blocks.values.terms.falsity();
                run.guard.push(never);
            }
            Self::fail(run, Property::Memory, message, open);
            return Ok(Vec::new());
        }
        let numbers = self.numbers(run, address, open)?;
        Ok(numbers.into_iter().map(|(it, run)| (Target::At(it.unsigned() as u64), run)).collect())
    }

    #[allow(clippy::too_many_arguments)]
    fn inside_or_outside(
        &mut self,
        run: Run,
        address: Term,
        (start, size): (u64, u64),
        bytes: u64,
        places: Vec<u64>,
        wanted: Option<Decision>,
        open: &mut Vec<Run>,
    ) -> Result<Vec<(Target, Run)>, Halt> {
        let terms = &mut self.blocks.values.terms;
        let width = terms.width(address);
        let base = terms.constant(Bits::new(width, u128::from(start)));
        let last = terms.constant(Bits::new(width, u128::from(size - bytes)));
        let offset = terms.binary(BinaryOp::Sub, address, base);
        let within = terms.binary(BinaryOp::Ule, offset, last);
        let beyond = terms.not(within);
        if wanted.is_none_or(|wanted| wanted == Decision::Outside(start)) {
            let mut run = run.clone();
            run.trail.push(Decision::Outside(start));
            run.guard.push(beyond);
            Self::fail(run, Property::Memory, BadAccess::OutOfBounds.message(), open);
        }
        let mut all = Vec::new();
        if wanted.is_none_or(|wanted| wanted == Decision::Inside(start)) {
            let mut run = run;
            run.trail.push(Decision::Inside(start));
            run.guard.push(within);
            all.push((Target::Within { start, places }, run));
        }
        Ok(all)
    }

    fn wrong(&self, control: &Control, place: u64, bytes: u64, writes: bool) -> Option<BadAccess> {
        control.wrong_access(&self.blocks.globals, self.blocks.slots, (place, bytes), writes)
    }

    /// Start and size of the object at an address.
    fn extent(&self, control: &Control, address: u64) -> Option<(u64, u64)> {
        if let Some(object) = control.object(address) {
            let is_in = !object.is_freed && address - object.address < object.size;
            return is_in.then_some((object.address, object.size));
        }
        let global = self.blocks.globals.at(address)?;
        (address - global.address < global.size).then_some((global.address, global.size))
    }

    /// The object that an address is made from, where it is a place in one that inputs decide: what is
    /// added to it in the end.
    fn object_of(&self, control: &Control, address: Term) -> Option<(u64, u64)> {
        let terms = &self.blocks.values.terms;
        let Node::Binary(BinaryOp::Add, _, constant) = terms.node(address) else { return None };
        let constant = terms.as_constant(constant)?.unsigned() as u64;
        let mut near = (0..=8).map(|step| constant.saturating_add(step * 8));
        near.find_map(|place| self.extent(control, place))
    }

    /// The places in an object where an access may be; none where they are too many, or it may lie
    /// across two of them.
    fn places_in(&mut self, address: Term, start: u64, size: u64, bytes: u64) -> Option<Vec<u64>> {
        let last = (start + size).checked_sub(bytes).filter(|last| *last >= start)?;
        let terms = &mut self.blocks.values.terms;
        // What is known of the lowest bits says how far the places are apart.
        let (index, offset) = match terms.node(address) {
            Node::Binary(BinaryOp::Add, index, constant) => (index, terms.as_constant(constant)),
            _ => (address, None),
        };
        let offset = offset.map_or(0, |bits| bits.unsigned() as u64);
        let known = (1..=4).rev().find_map(|bits| {
            let low = terms.extract(index, 0, bits);
            let low = terms.as_constant(low)?.unsigned() as u64;
            Some((1u64 << bits, low.wrapping_add(offset) % (1 << bits)))
        });
        let (stride, low) = known.unwrap_or((1, 0));
        if stride < bytes || size > 1 << 16 {
            return None;
        }
        let first = start + low.wrapping_sub(start) % stride;
        let count = (last.checked_sub(first)?) / stride + 1;
        let places = (first..=last).step_by(stride as usize).collect();
        (count <= Blocks::MOST_PLACES).then_some(places)
    }

    /// What the thread finds at some bytes.
    fn read(&mut self, run: &mut Run, place: u64, bytes: u64) -> Term {
        let held = self.held(run, place, bytes);
        self.found(run, (place, bytes), held)
    }

    /// The same, of those that ask whether something is there yet.
    fn read_asking(&mut self, run: &mut Run, place: u64, bytes: u64) -> Term {
        let object = run.control.object(place).filter(|_| self.blocks.slots.owner(place).is_some());
        if object.is_none_or(|object| object.zeroed) {
            return self.read(run, place, bytes);
        }
        let before = self.blocks.places.len();
        let held = self.held(run, asked(place), bytes);
        // Nobody has kept account of it so far.
        self.blocks.places.is_cut |= self.blocks.places.len() > before;
        self.found(run, (place, bytes), held)
    }

    /// What memory holds at some bytes.
    fn held(&mut self, run: &Run, place: u64, bytes: u64) -> Term {
        let Blocks { places, values, .. } = &mut *self.blocks;
        let pieces = places.pieces(&mut values.terms, place, bytes);
        let mut whole = None;
        for id in pieces {
            let piece = self.value(run, id);
            let terms = &mut self.blocks.values.terms;
            whole = Some(whole.map_or(piece, |low| terms.concat(piece, low)));
        }
        whole.unwrap_or_else(|| self.blocks.values.number(8, 0))
    }

    /// What the thread finds at bytes where memory holds that: its own stores come first.
    fn found(&mut self, run: &mut Run, at: (u64, u64), held: Term) -> Term {
        match run.control.stores(self.number) {
            true => self.with_stores(run, at, held),
            false => held,
        }
    }

    fn write(&mut self, run: &mut Run, place: u64, bytes: u64, value: Term) {
        self.blocks.write(&mut run.writes, place, bytes, value);
    }

    pub(crate) fn record_access(&mut self, is_read: bool, address: Term, bytes: u64, value: Term) {
        self.record_buffered(is_read, address, bytes, value, false);
    }

    fn record_buffered(
        &mut self,
        is_read: bool,
        address: Term,
        bytes: u64,
        value: Term,
        is_buffered: bool,
    ) {
        let values = &self.blocks.values;
        let (Some(address), Some(value)) = (values.constant_of(address), values.constant_of(value))
        else {
            return;
        };
        let thread = self.number;
        if let Inputs::Given(Given { story, .. }) = &mut self.blocks.inputs {
            let address = story.renamed(address.unsigned() as u64);
            let (bytes, value) = (bytes as u8, value.unsigned());
            let what = match is_read {
                true => What::Read { address, bytes, value },
                false => What::Write { address, bytes, value, is_buffered },
            };
            story.log.push(Record { thread, what });
        }
    }

    /// What is wrong with an access, if something is.
    pub(crate) fn is_wrong(
        &self,
        run: &Run,
        kind: &Kind,
        place: u64,
        bytes: u64,
    ) -> Option<(Property, &'static str)> {
        let [read, write, _] = self.marks(run);
        let is_read = !matches!(kind, Kind::Store(_));
        let writes = !matches!(kind, Kind::Load);
        if let Some(wrong) = self.wrong(&run.control, place, bytes, writes) {
            let is_farewell = read.is_farewell() || write.is_farewell();
            if !(is_farewell && wrong == BadAccess::Freed && is_read) {
                return Some((Property::Memory, wrong.message()));
            }
        }
        let gives_back = read.gives_lock_back() || write.gives_lock_back();
        let holds = run.control.thread(self.number).is_some_and(|it| it.held.contains(&place));
        let message = "unlock by a thread that does not hold the lock";
        (writes && gives_back && !holds).then_some((Property::Lock, message))
    }

    /// An access to one place.
    fn access_at(
        &mut self,
        mut run: Run,
        kind: &Kind,
        place: u64,
        bytes: u64,
        open: &mut Vec<Run>,
    ) -> Result<(), Halt> {
        let [read, write, _] = self.marks(&run);
        let is_read = !matches!(kind, Kind::Store(_));
        run.touches.push(Touch {
            start: place,
            end: place.saturating_add(bytes),
            writes: !matches!(kind, Kind::Load),
        });
        if let Some((property, message)) = self.is_wrong(&run, kind, place, bytes) {
            Self::fail(run, property, message, open);
            return Ok(());
        }
        let old = match is_read {
            true if read.is_fresh() => self.read_asking(&mut run, place, bytes),
            true => self.read(&mut run, place, bytes),
            false => self.blocks.values.number(8, 0),
        };
        let at = self.blocks.values.number(64, u128::from(place));
        for (new, ok, mut run) in self.effects(run, kind, old)? {
            if is_read {
                self.record_access(true, at, bytes, old);
            }
            if let Some(new) = new {
                self.write(&mut run, place, bytes, new);
                self.record_access(false, at, bytes, new);
                self.hold(&mut run, place, read.takes_lock() || write.takes_lock());
            }
            self.go_on(&mut run, is_read, old, ok);
            open.push(run);
        }
        Ok(())
    }

    /// Notes whether the last write of the thread to a place has taken a lock there.
    pub(crate) fn hold(&mut self, run: &mut Run, place: u64, takes: bool) {
        let holds = run.control.thread(self.number).is_some_and(|it| it.held.contains(&place));
        if holds == takes {
            return;
        }
        if let Some(local) = run.control.local(self.number) {
            local.held.retain(|held| *held != place);
            local.held.extend(takes.then_some(place));
            local.held.sort_unstable();
        }
    }

    pub(crate) fn go_on(&mut self, run: &mut Run, is_read: bool, old: Term, ok: Option<bool>) {
        let ok = ok.map(|ok| self.blocks.values.terms.bool(ok));
        match is_read {
            true => run.thread.results(&self.blocks.code, old, ok),
            false => run.thread.done(),
        }
    }

    /// What an access writes and whether it succeeds, for each way that it can go.
    pub(crate) fn effects(
        &mut self,
        run: Run,
        kind: &Kind,
        old: Term,
    ) -> Result<Vec<Effect>, Halt> {
        match kind {
            Kind::Load => Ok(vec![(None, None, run)]),
            Kind::Store(value) => Ok(vec![(Some(*value), None, run)]),
            Kind::Rmw(op, operand) => {
                let new = modify(*op, &old, operand, &mut self.blocks.values);
                Ok(vec![(Some(new), None, run)])
            }
            Kind::Cas { expected, desired, is_weak } => {
                let terms = &mut self.blocks.values.terms;
                let is_it = terms.equals(old, *expected);
                let differs = terms.not(is_it);
                let mut sides = vec![is_it, differs];
                sides.extend(is_weak.then_some(is_it));
                let mut all = Vec::new();
                // One that fails is a load.
                let is_held_up = run.control.stores(self.number);
                for (side, mut run) in self.sides(run, &sides)? {
                    if is_held_up && side == 0 {
                        if !*is_weak {
                            self.blocks.tried.append(&mut run.touches);
                            self.blocks.held.push(run.guard);
                        }
                        continue;
                    }
                    if *is_weak && side != 1 {
                        // Whether it fails for no reason is a choice.
                        let fails = self.fresh(&mut run, 1);
                        let chosen = match side {
                            2 => fails,
                            _ => self.blocks.values.terms.not(fails),
                        };
                        if !self.demand(&mut run, chosen) {
                            continue;
                        }
                        if side == 2 {
                            self.record(What::Choice { value: Bits::bool(true) });
                        }
                    }
                    let new = (side == 0).then_some(*desired);
                    all.push((new, Some(side == 0), run));
                }
                Ok(all)
            }
        }
    }

    /// An access to one of several places of an object.
    fn access_within(
        &mut self,
        mut run: Run,
        kind: &Kind,
        (address, start): (Term, u64),
        places: &[u64],
        bytes: u64,
        open: &mut Vec<Run>,
    ) -> Result<(), Halt> {
        let marks = self.marks(&run);
        if marks.iter().any(|it| it.takes_lock() || it.gives_lock_back()) {
            return Self::lose(run, "a lock at a place that inputs decide", open);
        }
        let is_read = !matches!(kind, Kind::Store(_));
        let writes = !matches!(kind, Kind::Load);
        let end = places.last().map_or(start, |last| last + bytes);
        run.touches.push(Touch { start, end, writes });
        if let Some(wrong) = self.wrong(&run.control, start, 1, writes) {
            Self::fail(run, Property::Memory, wrong.message(), open);
            return Ok(());
        }
        let width = self.blocks.values.terms.width(address);
        let mut old = None;
        let mut is_there = Vec::with_capacity(places.len());
        for place in places {
            let here = self.blocks.values.number(width, u128::from(*place));
            let is_here = self.blocks.values.terms.equals(address, here);
            let value = match marks[0].is_fresh() {
                true => self.read_asking(&mut run, *place, bytes),
                false => self.read(&mut run, *place, bytes),
            };
            let terms = &mut self.blocks.values.terms;
            old = Some(old.map_or(value, |rest| terms.select(is_here, value, rest)));
            is_there.push((*place, is_here, value));
        }
        let Some(old) = old else { return Err(Halt::Astray) };
        for (new, ok, mut run) in self.effects(run, kind, old)? {
            if is_read {
                self.record_access(true, address, bytes, old);
            }
            if let Some(new) = new {
                for (place, is_here, before) in &is_there {
                    let value = self.blocks.values.terms.select(*is_here, new, *before);
                    self.write(&mut run, *place, bytes, value);
                }
                self.record_access(false, address, bytes, new);
            }
            self.go_on(&mut run, is_read, old, ok);
            open.push(run);
        }
        Ok(())
    }
}

/// The calls that make an object, as a number.
fn context(stack: impl Iterator<Item = Site>) -> u64 {
    use std::hash::{Hash, Hasher};
    let mut hasher = rustc_hash::FxHasher::default();
    stack.for_each(|site| site.hash(&mut hasher));
    hasher.finish()
}
