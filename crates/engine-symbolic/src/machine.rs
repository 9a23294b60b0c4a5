//! Runs threads: from one operation that others may notice to the next.
//!
//! What a thread does alone is part of the step before it: computations, branches on inputs, accesses
//! to objects that only their maker uses. The last is an assumption for each place in the program
//! that makes objects; where it turns out wrong ([`Halt::Escaped`]) the search starts again without
//! it. `parallax_machine::system` says why that is sound.
//!
//! A step may have several outcomes, one for each side of a branch that inputs decide. They exclude
//! one another by the conditions on their paths.

use std::ops::Range;
use std::sync::Arc;

use parallax_machine::system::{Buffer, MemoryKind, Object, Record, What};
use parallax_machine::{Code, Globals, Idle, Limits, Live, Meter, Site, Thread};
use parallax_program::{Bits, FunctionId, InstKind, Location, Program, Property, Slots};
use parallax_solver::Stop;
use parallax_verdict::{Reason, stopped};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::memory::{Memory, Page};
use crate::options::Options;
use crate::oracle::{Oracle, Path, Unanswered};
use crate::plan::Depth;
use crate::shape::{Moment, Shape, Shaper};
use crate::state::{At, Facts, Local, Looks, State};
use crate::value::{Symbol, Value, Values};

/// Why a search cannot go on as it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Halt {
    /// A thread uses an object that only its maker was thought to use.
    Escaped {
        context: u64,
    },
    /// The solver does not answer.
    Unanswered(Stop),
    /// Nobody wants to know more.
    Enough,
    /// It takes longer than it may, or more memory.
    Long,
    Deep,
}

impl From<Unanswered> for Halt {
    fn from(Unanswered(stop): Unanswered) -> Halt {
        Halt::Unanswered(stop)
    }
}

/// Something that was noticed on the way.
pub enum Notice {
    /// A thread stands at something that fails, for the inputs of this path.
    Failure {
        thread: u32,
        property: Property,
        message: String,
        site: Option<Site>,
        place: Option<Location>,
        path: Path,
    },
    Gap(Reason),
}

/// An outcome of a step.
#[derive(Clone)]
pub struct Run<'p> {
    pub state: State<'p>,
    pub effects: Effects,
    /// Threads that run on before the step is over, the last one first.
    pub(crate) todo: Vec<u32>,
    /// How many operations the thread had done before the step.
    pub(crate) from: u32,
    /// Which step it is of, and whether inputs have decided something since it was last compared with
    /// others of the step.
    step: u64,
    has_forked: bool,
}

/// What others may notice of a step.
#[derive(Clone, Default, Debug)]
pub struct Effects {
    pub accesses: Vec<Touch>,
    /// Whether memory is another than before.
    pub changes: bool,
    pub spawned: Vec<u32>,
    /// Threads that waited for a change that the step has made.
    pub woken: Vec<u32>,
    pub joined: Option<u32>,
    /// Whether the step is, or begins, an atomic section, and whether it has not come to its end.
    pub in_section: bool,
    pub is_stuck_in_section: bool,
    /// Whether the step cannot be taken before the buffer of its thread is empty.
    pub is_held_up: bool,
}

/// One access of a step.
#[derive(Clone, Debug)]
pub struct Touch {
    /// Where it may be.
    pub range: Range<u64>,
    /// Where it is, and how much of it there is.
    pub address: Value,
    pub bytes: u32,
    pub reads: bool,
    pub writes: bool,
    pub is_atomic: bool,
    pub is_plain: bool,
    pub site: Option<Site>,
}

pub struct Machine<'a, 'p> {
    pub code: Code<'p>,
    pub options: &'a Options<'a>,
    pub memory: MemoryKind,
    pub values: Values,
    pub oracle: Oracle<'a>,
    pub notices: Vec<Notice>,
    /// What happens, where somebody wants to know.
    pub log: Option<Vec<Record>>,
    /// Where in the log each access is that others may notice.
    pub touched: Vec<usize>,
    /// Outcomes beyond the first.
    pub forks: u64,
    /// Whether a loop was cut off by the bound.
    pub is_cut: bool,
    /// Whether one was that may be left.
    pub may_leave: bool,
    /// Operations of threads so far, and questions to the solver that are accounted for.
    pub operations: u64,
    accounted: Work,
    pub(crate) limits: Limits,
    pub(crate) globals: Globals,
    pub(crate) slots: Slots,
    facts: Vec<Vec<Vec<[Facts; 3]>>>,
    shared: FxHashSet<u64>,
    children: FxHashMap<(u32, u32), u32>,
    /// Where states are matched: what that takes.
    matching: Option<Matched>,
    /// What threads compute between two operations.
    pub(crate) meter: Meter,
    steps: u64,
    /// Where one path is followed: threads that stop, and after how many operations.
    stopped: Vec<(u32, u32)>,
    /// Forks after which a search along paths gives up.
    most_forks: u64,
    /// How far a search along paths goes.
    depth: Option<Depth>,
}

/// Weight of the states that are kept on a path at most: one or two gigabytes.
pub const MOST_MEMORY: u64 = 12_000_000;

/// What was done so far: operations, terms that are new, and questions to the solver.
#[derive(Clone, Copy, Default)]
struct Work {
    operations: u64,
    terms: u64,
    questions: u64,
}

/// What was met inside of steps.
struct Matched {
    live: Live,
    seen: FxHashMap<(u64, u128), Vec<Box<[u128]>>>,
}

impl<'a, 'p> Machine<'a, 'p> {
    /// Forks between two looks at memory.
    const FORKS: u64 = 64;
    /// Operations and new terms between two looks at the clock.
    const PATIENCE: u64 = 256;
    const TERMS: u64 = 1 << 12;
    /// What an operation, a new term and a question to the solver cost, in nominal nanoseconds.
    const WORK: u64 = 2_000;
    const TERM: u64 = 1_000;
    const QUESTION: u64 = 300_000;

    /// None if the globals are too large.
    pub fn new(
        program: &'p Program,
        options: &'a Options<'a>,
        memory: MemoryKind,
    ) -> Option<Machine<'a, 'p>> {
        let code = Code::new(program);
        let globals = Globals::new(&code)?;
        let facts = program.functions.iter().map(|function| {
            let block = |block: &parallax_program::Block| {
                block.insts.iter().map(|inst| Facts::of(&inst.kind)).collect()
            };
            function.blocks.iter().map(block).collect()
        });
        let limits = Limits {
            repeats: options.unroll.unwrap_or(u32::MAX - 1),
            // Where loops are bounded, so is what a thread computes.
            steps: if options.unroll.is_some() { u32::MAX } else { 1 << 20 },
            depth: 1_000,
            spins: true,
            idle: Idle::None,
        };
        Some(Machine {
            options,
            memory,
            values: Values::default(),
            oracle: Oracle::new(options.control.clone()),
            notices: Vec::new(),
            log: None,
            touched: Vec::new(),
            forks: 0,
            is_cut: false,
            may_leave: false,
            operations: 0,
            accounted: Work::default(),
            depth: None,
            limits,
            globals,
            slots: Slots::of(program.pointer_width),
            facts: facts.collect(),
            shared: FxHashSet::default(),
            children: FxHashMap::default(),
            matching: None,
            meter: Meter::default(),
            steps: 0,
            stopped: Vec::new(),
            most_forks: u64::MAX,
            code,
        })
    }

    /// The same program, for one assignment of values to symbols, with all that happens written down.
    /// Threads that go round a loop for ever stop there.
    pub fn replica(
        &self,
        fixed: FxHashMap<Symbol, Bits>,
        stopped: &[(u32, u32)],
    ) -> Option<Machine<'a, 'p>> {
        let mut machine = Machine::new(self.code.program, self.options, self.memory)?;
        machine.values.fixed = Some(fixed);
        machine.log = Some(Vec::new());
        machine.shared = self.shared.clone();
        machine.stopped = stopped.to_vec();
        machine.limits = self.limits;
        machine.depth = self.depth;
        machine.children = self.children.clone();
        Some(machine)
    }

    /// A search along paths ends after so many forks more.
    pub fn end_after(&mut self, forks: u64) {
        self.most_forks = self.forks.saturating_add(forks);
    }

    /// From now on paths are followed to a depth, or to their ends.
    pub fn search_to(&mut self, depth: Option<Depth>) {
        self.depth = depth;
        self.is_cut = false;
    }

    /// Whether the depth has cut something off.
    pub fn is_shallow(&self) -> bool {
        self.depth.is_some() && self.is_cut
    }

    fn is_too_deep(&self, run: &Run<'p>, thread: u32) -> bool {
        let Some(depth) = &self.depth else { return false };
        run.state.thread(thread).is_some_and(|local| {
            local.children > depth.children
                || local.decisions > depth.decisions
                || local.thread.operations() > depth.operations
        })
    }

    /// From now on states are matched. So loops are seen to come back to where they were, and need not
    /// be watched for that.
    pub fn match_states(&mut self) {
        self.search_to(None);
        if self.matching.is_some() {
            return;
        }
        self.limits.spins = false;
        self.matching =
            Some(Matched { live: Live::of(self.code.program), seen: FxHashMap::default() });
    }

    /// What a state looks like to its future.
    pub fn shape(&mut self, moment: &Moment<'_, 'p>) -> Option<Shape> {
        let live = &self.matching.as_ref()?.live;
        let shaper = Shaper::new(&self.values, &mut self.oracle);
        Some(shaper.shape(&self.code, live, moment))
    }

    /// The thread that starts a thread, if that has ever happened.
    pub fn parent(&self, child: u32) -> Option<u32> {
        let mut all = self.children.iter();
        all.find(|(_, number)| **number == child).map(|((parent, _), _)| *parent)
    }

    /// The objects that were made in a context are used by several threads.
    pub fn share(&mut self, context: u64) {
        self.shared.insert(context);
    }

    pub(crate) fn is_shared(&self, context: u64) -> bool {
        self.shared.contains(&context)
    }

    /// The first states.
    pub fn start(&mut self) -> Result<Vec<Run<'p>>, Halt> {
        let state = State {
            threads: Vec::new(),
            memory: Memory::default(),
            freed: Arc::default(),
            section: None,
            path: Path::default(),
        };
        let mut run = self.run(state, Vec::new(), 0);
        for (number, thread) in self.code.program.threads.iter().enumerate() {
            let args = thread.args.iter().map(|arg| {
                let args = &mut self.values;
                self.code.evaluate(arg, &[], args)
            });
            let args: Vec<Value> = args.collect();
            self.begin(&mut run, number as u32, thread.function, args);
        }
        Ok(vec![run])
    }

    /// The beginning of a step.
    fn run(&mut self, state: State<'p>, todo: Vec<u32>, from: u32) -> Run<'p> {
        self.steps += 1;
        let (effects, step) = (Effects::default(), self.steps);
        Run { state, effects, todo, from, step, has_forked: false }
    }

    /// The beginning of a step that is none of a thread.
    pub(crate) fn begin_flush(&mut self, state: &State<'p>) -> Run<'p> {
        self.run(state.clone(), Vec::new(), 0)
    }

    /// All outcomes of the operation that a thread stands at.
    pub fn step(&mut self, state: &State<'p>, thread: u32) -> Result<Vec<Run<'p>>, Halt> {
        let open = self.begin_step(state, thread)?;
        self.all(open)
    }

    /// The outcomes of the operation that a thread stands at, before the thread has run on; see
    /// [`Machine::next`].
    pub fn begin_step(&mut self, state: &State<'p>, thread: u32) -> Result<Vec<Run<'p>>, Halt> {
        let from = state.thread(thread).map_or(0, |local| local.thread.operations());
        let mut run = self.run(state.clone(), vec![thread], from);
        if let Some(local) = run.state.local(thread) {
            local.watch = None;
        }
        let mut runs = self.act(run, thread)?;
        runs.reverse();
        Ok(runs)
    }

    /// A thread that has gone round a loop looks once more.
    pub fn resume(&mut self, state: &State<'p>, thread: u32) -> Result<Vec<Run<'p>>, Halt> {
        let from = state.thread(thread).map_or(0, |local| local.thread.operations());
        let mut run = self.run(state.clone(), vec![thread], from);
        self.put(&mut run, thread, At::Runs);
        self.all(vec![run])
    }

    pub fn all(&mut self, mut open: Vec<Run<'p>>) -> Result<Vec<Run<'p>>, Halt> {
        let mut done = Vec::new();
        while let Some(run) = self.next(&mut open)? {
            done.push(run);
        }
        Ok(done)
    }

    /// Lets the last of the open runs go on until each of its threads stands at something that others
    /// may notice, and leaves what else may become of it among them.
    pub fn next(&mut self, open: &mut Vec<Run<'p>>) -> Result<Option<Run<'p>>, Halt> {
        while let Some(mut run) = open.pop() {
            let Some(thread) = run.todo.last().copied() else {
                return Ok(Some(run));
            };
            let runs = run.state.thread(thread).is_some_and(|local| local.at == At::Runs);
            if !runs {
                self.stand(&mut run, thread);
                open.push(run);
                continue;
            }
            if self.is_too_deep(&run, thread) {
                self.is_cut = true;
                self.put(&mut run, thread, At::Cut);
                open.push(run);
                continue;
            }
            self.look_at_limits()?;
            let mut next = self.advance(run, thread)?;
            if next.len() > 1 {
                self.forks += next.len() as u64 - 1;
                if self.matching.is_none() {
                    self.look_at_forks(open)?;
                }
                for run in &mut next {
                    run.has_forked = true;
                    run.state.local(thread).into_iter().for_each(|local| local.decisions += 1);
                }
            }
            next.reverse();
            open.append(&mut next);
        }
        Ok(None)
    }

    /// A search along paths ends where there are too many forks, or what else may become of a step takes
    /// too much memory.
    fn look_at_forks(&self, open: &[Run<'p>]) -> Result<(), Halt> {
        if self.forks > self.most_forks {
            return Err(Halt::Long);
        }
        let weighs = self.forks.is_multiple_of(Self::FORKS);
        match weighs && open.iter().map(|run| run.state.weight()).sum::<u64>() > MOST_MEMORY {
            true => Err(Halt::Deep),
            false => Ok(()),
        }
    }

    /// Looks at the clock from time to time, and accounts for what was done.
    fn look_at_limits(&mut self) -> Result<(), Halt> {
        self.operations += 1;
        let computed = self.meter.take();
        let (operations, terms) = (self.operations, self.values.terms.len() as u64);
        let done = self.accounted;
        if computed == 0
            && operations - done.operations < Self::PATIENCE
            && terms - done.terms < Self::TERMS
        {
            return Ok(());
        }
        let control = &self.options.control;
        if let Some(stop) = control.reason() {
            self.notices.push(Notice::Gap(stopped(stop)));
            return Err(Halt::Enough);
        }
        let questions = self.oracle.counts.solved;
        self.accounted = Work { operations, terms, questions };
        control.spend(
            computed
                + (operations - done.operations) * Self::WORK
                + (terms - done.terms) * Self::TERM
                + (questions - done.questions) * Self::QUESTION,
        );
        Ok(())
    }

    /// The thread has come to something that others may notice.
    fn stand(&mut self, run: &mut Run<'p>, thread: u32) {
        run.todo.pop();
        if run.state.section == Some(thread) {
            run.effects.is_stuck_in_section = true;
        }
    }

    /// Runs a thread up to its next operation, and serves it if that is its own business.
    fn advance(&mut self, mut run: Run<'p>, thread: u32) -> Result<Vec<Run<'p>>, Halt> {
        let Some(local) = run.state.local(thread) else {
            run.todo.pop();
            return Ok(vec![run]);
        };
        let (operation, taken) =
            local.thread.run_counting(&self.code, &self.limits, &mut self.values);
        self.meter.add(taken);
        self.values.assumed = None;
        if std::mem::take(&mut self.values.met_undefined) {
            return Ok(vec![self.lose(run, thread, "a value that nobody has given")]);
        }
        let operations = local.thread.operations();
        if self.stopped.contains(&(thread, operations))
            || run.has_forked && self.is_known(&mut run, thread)
        {
            return Ok(vec![self.go_round(run, thread)]);
        }
        self.serve(run, thread, operation)
    }

    /// The thread is back where it was, for inputs that may come again and again. It goes no further, and
    /// others see what it has done so far.
    fn go_round(&mut self, mut run: Run<'p>, thread: u32) -> Run<'p> {
        if self.options.wants(Property::Liveness) {
            let place = self.place(&run.state, thread);
            let message = "a loop that takes inputs: whether it ends is not known".to_string();
            self.notices.push(Notice::Gap(Reason { message, place, help: None }));
        }
        let operations = run.state.thread(thread).map_or(0, |local| local.thread.operations());
        Arc::make_mut(&mut run.state.path.stopped).push((thread, operations));
        self.put(&mut run, thread, At::Vain);
        run
    }

    /// Whether the step has come to such a state before. It is asked where a thread stands at an
    /// operation in a loop: there it is known which variables matter.
    fn is_known(&mut self, run: &mut Run<'p>, thread: u32) -> bool {
        let Some(local) = run.state.thread(thread).filter(|_| self.matching.is_some()) else {
            return false;
        };
        let Some(site) = local.thread.site() else { return false };
        let block = &self.code.program.function(site.function).blocks[site.block.0 as usize];
        let stands = block.insts.get(site.index as usize);
        let stands = stands.is_some_and(|inst| !matches!(inst.kind, InstKind::Assign { .. }));
        if !stands || !local.thread.stack().any(|site| self.code.can_repeat(site)) {
            return false;
        }
        run.has_forked = false;
        let (state, todo, effects) = (&run.state, &run.todo[..], Some(&run.effects));
        let Some(shape) = self.shape(&Moment { state, todo, effects }) else { return false };
        let Some(matched) = &mut self.matching else { return false };
        let known = matched.seen.entry((run.step, shape.key)).or_default();
        let is_known = known.iter().any(|conditions| shape.is_covered_by(conditions));
        if !is_known {
            known.push(shape.conditions);
        }
        is_known
    }

    /// A thread that is there from now on.
    pub(crate) fn begin(
        &mut self,
        run: &mut Run<'p>,
        number: u32,
        function: FunctionId,
        args: Vec<Value>,
    ) {
        if number as usize >= self.code.program.threads.len() {
            self.record(number, What::Begin);
        }
        let thread = Thread::start(&self.code, function, args, &mut self.values);
        let local = Local {
            thread,
            at: At::Runs,
            objects: Arc::default(),
            children: 0,
            choices: 0,
            undefined: 0,
            decisions: 0,
            buffer: Buffer::default(),
            held: Vec::new(),
            in_section: false,
            looks: Looks::default(),
            watch: None,
            startled: None,
        };
        let threads = &mut run.state.threads;
        if threads.len() <= number as usize {
            threads.resize_with(number as usize + 1, || None);
        }
        threads[number as usize] = Some(Arc::new(local));
        run.todo.insert(0, number);
    }

    /// The number of a thread by its parent and its place among its children, the same on every way.
    pub(crate) fn child(&mut self, parent: u32, place: u32) -> u32 {
        let next = (self.code.program.threads.len() + self.children.len()) as u32;
        *self.children.entry((parent, place)).or_insert(next)
    }

    pub(crate) fn record(&mut self, thread: u32, what: What) {
        if let Some(log) = &mut self.log {
            log.push(Record { thread, what });
        }
    }

    pub(crate) fn facts(&self, site: Option<Site>) -> [Facts; 3] {
        let Some(Site { function, block, index }) = site else {
            return Default::default();
        };
        let block = &self.facts[function.0 as usize][block.0 as usize];
        block.get(index as usize).copied().unwrap_or_default()
    }

    /// Where people should look.
    pub(crate) fn place(&self, state: &State<'p>, thread: u32) -> Option<Location> {
        let local = state.thread(thread)?;
        self.code.own_place(local.thread.stack())
    }

    /// The engine cannot follow the thread any further.
    pub(crate) fn lose(&mut self, mut run: Run<'p>, thread: u32, what: &str) -> Run<'p> {
        let place = self.place(&run.state, thread);
        let message = format!("{what}: not supported by this engine");
        self.notices.push(Notice::Gap(Reason { message, place, help: None }));
        self.put(&mut run, thread, At::Lost);
        run
    }

    /// The thread stands at something that fails, for all inputs of the path.
    pub(crate) fn fail(
        &mut self,
        mut run: Run<'p>,
        thread: u32,
        property: Property,
        message: &'p str,
    ) -> Run<'p> {
        let site = run.state.thread(thread).and_then(|local| local.thread.site());
        let path = run.state.path.clone();
        let place = self.place(&run.state, thread);
        let message_text = message.to_string();
        let failure =
            Notice::Failure { thread, property, message: message_text, site, place, path };
        self.notices.push(failure);
        self.put(&mut run, thread, At::Failed { property, message });
        run
    }

    /// Has a thread stand at something.
    pub(crate) fn put(&mut self, run: &mut Run<'p>, thread: u32, at: At<'p>) {
        if let Some(local) = run.state.local(thread) {
            local.at = at;
        }
    }

    /// The object that a thread has made and that an address is in or behind.
    pub(crate) fn object<'s>(&self, state: &'s State<'p>, address: u64) -> Option<&'s Object> {
        let owner = state.thread(self.slots.owner(address)? as u32)?;
        Object::find(&owner.objects, address)
    }

    /// What a page holds at first.
    pub(crate) fn initial_page(
        slots: Slots,
        globals: &Globals,
        state: &State<'p>,
        number: u64,
    ) -> Page {
        let address = number.saturating_mul(Page::SIZE);
        match slots.owner(address).and_then(|owner| state.thread(owner as u32)) {
            Some(owner) => {
                let object = Object::find(&owner.objects, address);
                Page::zeroed(object.is_some_and(|object| object.zeroed))
            }
            None => {
                let mut page = Page::zeroed(true);
                globals.fill(address, &mut page.bytes);
                page
            }
        }
    }

    /// A value by the model of a path.
    pub fn sample(&self, path: &Path, value: Value) -> Bits {
        Oracle::sample(&self.values, path, value)
    }
}
