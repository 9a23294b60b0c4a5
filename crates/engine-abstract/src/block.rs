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

mod access;
mod buffers;
mod objects;
mod operations;
mod record;
mod targets;
mod threads;
mod walk;

use std::sync::Arc;

use parallax_machine::system::MemoryKind;
use parallax_machine::{Code, Globals, Idle, Limits, Site, Thread};
use parallax_program::{Bits, BlockId, FunctionId, InstKind, Location, Program, Property, Slots};
use parallax_solver::Term;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::control::{At, Control, Local, Stores, process};
use crate::declarative::Memory;
use crate::declarative::execution::{Execution, Growth};
use crate::declarative::loose::Loose;
use crate::live::Points;
use crate::oracle::{Oracle, Unanswered};
use crate::places::{
    FIRST_ASKED, FORGOTTEN, FORGOTTEN_OPEN, Place, PlaceId, Places, asked, of_program,
};
use crate::value::Values;

pub(crate) use access::Kind;
pub use record::{Given, Inputs};
pub(crate) use targets::Target;
pub(crate) use walk::{Run, Walk};

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
    /// Whether the thread stops before something by which it may go no further.
    Stops(bool),
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
    /// Accesses to memory that is no part of it.
    pub loose: Vec<Loose>,
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
    /// Which failures are looked for; others end executions.
    pub properties: Vec<Property>,
    pub memory: MemoryKind,
    /// How many stores of a thread are kept apart while others do not see them.
    pub most_stores: u32,
    /// Whether there may be more; else threads wait, and not all that the program can do is there.
    pub blurs: bool,
    /// Whether the last thread has read memory that is no part of the execution.
    pub has_read_loosely: bool,
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
            properties: vec![Property::Assert],
            memory: MemoryKind::Sc,
            most_stores: Self::FEW_STORES,
            blurs: true,
            has_read_loosely: false,
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
        self.has_read_loosely = false;
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
            loose: Vec::new(),
            values: FxHashMap::default(),
            is_blurred: false,
            has_acted: local.at == At::Block && !self.is_naive,
            has_left: false,
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
