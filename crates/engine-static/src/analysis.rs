//! The analysis: threads are run on sets of values, function by function, until nothing is new.
//!
//! What an object holds that others may know is the same everywhere: every value that somebody may
//! have stored there. So it does not matter in which order threads run, and what a memory model
//! lets them see. Everything else belongs to a thread, and is followed step by step.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use parallax_control::{Control, Stop};
use parallax_program::{
    BlockId, Expr, Function, FunctionId, InstKind, Program, Property, Span, Terminator,
};

use crate::contents::Contents;
use crate::eval::Scene;
use crate::guarded::Guards;
use crate::local::Local;
use crate::num::Num;
use crate::state::{Count, Key, Lock, Place, State};
use crate::value::{Base, ObjectId, Renamed, ThreadId, Value};
use crate::world::{Object, Obligation, Origin, World};

/// Why the analysis has ended without a result.
#[derive(Clone, Debug)]
pub enum Quit {
    Stopped(Stop),
    /// It is too much.
    TooLarge(&'static str),
    /// Something cannot be followed.
    Lost(&'static str, Span),
}

pub struct Analysis<'p, 'c> {
    pub program: &'p Program,
    control: &'c Control<'c>,
    pub world: World,
    /// The highest number that a thread may have.
    pub most: i128,
    /// What locks keep. Nothing is known of that where several threads are there from the start.
    pub guards: Guards,
    /// Whether words that are set in atomic sections are taken for locks.
    pub has_own_locks: bool,
    /// Which assertions hold by their own functions, where somebody asks.
    local: Option<&'c RefCell<Local<'p>>>,
    /// Constants of each function that values are compared with.
    landmarks: Vec<Vec<i128>>,
    /// The name of each global where there are several threads, and where there is one. Constants
    /// have one name.
    pub globals: Vec<(ObjectId, ObjectId)>,
    /// What globals hold at first, where there is one thread.
    first: BTreeMap<ObjectId, Contents>,
    /// What functions did that were called with the same state before.
    known: HashMap<(FunctionId, u32, ThreadId, State<'p>), Vec<State<'p>>>,
    stack: Vec<Active<'p>>,
    /// How often a function that has not ended was asked for what it does.
    guesses: u64,
    steps: u64,
}

/// A function that is being run.
struct Active<'p> {
    function: FunctionId,
    context: u32,
    entry: State<'p>,
    exits: Vec<State<'p>>,
    /// Whether it was called again by itself, in a state that is not in `entry` yet.
    is_open: bool,
    is_recursive: bool,
}

/// What runs, for whom.
#[derive(Clone, Copy)]
pub struct Frame {
    pub function: FunctionId,
    pub context: u32,
    pub thread: ThreadId,
}

/// An instruction, and where it is.
#[derive(Clone, Copy)]
pub struct Here {
    pub frame: Frame,
    pub place: Place,
    pub span: Span,
}

impl Here {
    pub fn span(&self) -> (u32, u32) {
        (self.span.start, self.span.end)
    }
}

const MOST_STEPS: u64 = 6_000_000;
const MOST_PASSES: u32 = 120;
/// Calls in calls.
const MOST_DEPTH: usize = 150;
/// States with different keys at one place.
const MOST_KEYS: usize = 40;
/// Of programs with more, all are taken for shared.
const MOST_GLOBALS: usize = 3000;
/// So often a block is run for each state apart, where there is one thread: loops that prepare things
/// are unrolled.
const MOST_APART: u32 = 48;
/// After so many visits, bounds are not moved by one.
const PATIENCE: u32 = 4;
/// What a step costs, in nominal nanoseconds.
const STEP: u64 = 400;

impl<'p, 'c> Analysis<'p, 'c> {
    pub fn new(
        program: &'p Program,
        control: &'c Control<'c>,
        most: i128,
        guards: Guards,
        has_own_locks: bool,
        local: Option<&'c RefCell<Local<'p>>>,
    ) -> Analysis<'p, 'c> {
        let landmarks = program.functions.iter().map(landmarks).collect();
        let mut analysis = Analysis {
            program,
            control,
            world: World::default(),
            most,
            guards,
            has_own_locks,
            local,
            landmarks,
            globals: Vec::new(),
            first: BTreeMap::new(),
            known: HashMap::new(),
            stack: Vec::new(),
            guesses: 0,
            steps: 0,
        };
        if !analysis.starts_alone() {
            analysis.guards.clear();
        }
        analysis.add_globals();
        analysis
    }

    /// Whether there is one thread at first.
    fn starts_alone(&self) -> bool {
        self.program.threads.len() == 1 && self.program.globals.len() <= MOST_GLOBALS
    }

    fn add_globals(&mut self) {
        let program = self.program;
        let is_alone = self.starts_alone();
        for (number, global) in program.globals.iter().enumerate() {
            let size = i128::from(global.size);
            let object = |origin: Origin| Object {
                origin,
                size: (size, size),
                align: i128::from(global.align.max(1)),
                kind: None,
                is_constant: global.constant,
                is_unique: true,
                span: Span::default(),
                changes: 0,
            };
            let number = number as u32;
            let shared = self.world.add_object(object(Origin::Global(number)), Contents::default());
            let early = match is_alone && !global.constant {
                true => self.world.add_object(object(Origin::Early(number)), Contents::default()),
                false => shared,
            };
            self.globals.push((shared, early));
        }
        let key = Key { is_alone, ..Key::default() };
        let state = State { key, ..State::default() };
        for (number, global) in program.globals.iter().enumerate() {
            let mut contents = Contents::of(Value::constant(0));
            for cell in &global.init {
                let value = self.scene(&[], |scene| scene.eval(&state, &cell.value));
                contents.set(i128::from(cell.offset), cell.width / 8, value);
            }
            let (shared, early) = self.globals[number];
            match shared == early {
                true => self.world.contents[shared.0 as usize] = contents,
                false => drop(self.first.insert(early, contents)),
            }
        }
    }

    /// Values as they are called in a state.
    pub fn normalise(&self, value: &mut Value, is_alone: bool) {
        let objects: Vec<ObjectId> = value.objects().collect();
        for object in objects {
            let number = match self.world.object(object).origin {
                Origin::Early(number) if !is_alone => number,
                Origin::Global(number) if is_alone => number,
                _ => continue,
            };
            let (shared, early) = self.globals[number as usize];
            let becomes = Some(if is_alone { early } else { shared });
            if becomes != Some(object) {
                *value = value.renamed(object, &Renamed { stays: false, becomes, dies: false });
            }
        }
    }

    /// Where all other threads have ended, what they share is the thread's own.
    pub fn reclaim(&self, thread: ThreadId, state: &mut State<'p>) {
        let all = (0..self.world.threads.len() as u32).map(ThreadId);
        let is_alone =
            all.filter(|other| *other != thread).all(|it| state.key.joined.contains(&it));
        if !is_alone || state.key.is_alone || !self.starts_alone() || thread != ThreadId(0) {
            return;
        }
        state.key.is_alone = true;
        for (shared, early) in self.globals.iter().filter(|(shared, early)| shared != early) {
            let contents = self.left_behind(state, *shared);
            state.private.insert(*early, contents);
            let locks = std::mem::take(&mut state.key.locks);
            let renamed = locks.into_iter().map(|(lock, hold)| match lock {
                Lock::At(object, offset) if object == *shared => (Lock::At(*early, offset), hold),
                _ => (lock, hold),
            });
            state.key.locks = renamed.collect();
        }
        state.for_each_value(|value| self.normalise(value, true));
    }

    /// Evaluates something in a function.
    pub fn scene<T>(
        &self,
        vars: &[parallax_program::Var],
        look: impl FnOnce(&Scene<'_>) -> T,
    ) -> T {
        let aligned = |object: ObjectId| self.world.object(object).align;
        let global = |number: u32, is_alone: bool| {
            let (shared, early) = self.globals[number as usize];
            if is_alone { early } else { shared }
        };
        look(&Scene {
            vars,
            pointer_width: self.program.pointer_width,
            most: self.most,
            aligned: &aligned,
            global: &global,
        })
    }

    pub fn eval(&self, frame: Frame, state: &State<'p>, expr: &Expr) -> Value {
        let function = self.program.function(frame.function);
        self.scene(&function.vars, |scene| scene.eval(state, expr))
    }

    pub fn refine(
        &self,
        frame: Frame,
        state: State<'p>,
        condition: &Expr,
        holds: bool,
    ) -> Option<State<'p>> {
        let function = self.program.function(frame.function);
        self.scene(&function.vars, |scene| scene.refine(state, condition, holds, 0))
    }

    /// Whether an assertion holds by what its own function does before it.
    pub fn holds_by_itself(&self, place: Place) -> bool {
        self.local.is_some_and(|local| local.borrow_mut().holds(place, self.control))
    }

    /// Runs all threads until there is nothing new.
    pub fn run(&mut self) -> Result<(), Quit> {
        for (number, start) in self.program.threads.iter().enumerate() {
            let nth = Count::Exactly(number as u16);
            let none = BTreeSet::new();
            let thread = self.world.add_thread(None, nth, &none);
            let args = start.args.iter();
            let key = Key { is_alone: self.starts_alone(), ..Key::default() };
            let state = State { key, ..State::default() };
            let args = args.map(|arg| self.scene(&[], |scene| scene.eval(&state, arg)));
            let args = args.collect();
            self.world.add_start(thread, start.function, args);
        }
        for _ in 0..MOST_PASSES {
            self.world.begin_pass();
            self.known.clear();
            let mut next = 0;
            while next < self.world.threads.len() {
                self.run_thread(ThreadId(next as u32))?;
                next += 1;
            }
            if !self.world.has_changed {
                return Ok(());
            }
        }
        Err(Quit::TooLarge("what the program stores does not settle"))
    }

    fn run_thread(&mut self, thread: ThreadId) -> Result<(), Quit> {
        let info = self.world.thread(thread);
        let joined = info.joined.clone();
        for (function, args) in info.starts.clone() {
            let is_alone = self.starts_alone() && thread == ThreadId(0);
            let private = if is_alone { self.first.clone() } else { BTreeMap::new() };
            let key = Key { joined: joined.clone(), is_alone, ..Key::default() };
            let entry = State { key, private, ..State::default() };
            let frame = Frame { function, context: 0, thread };
            for mut exit in self.call(frame, entry, args)? {
                self.leave_kept(&mut exit);
                self.world.add_end(thread, &exit.key.joined);
            }
        }
        Ok(())
    }

    fn tick(&mut self) -> Result<(), Quit> {
        self.steps += 1;
        if self.steps.is_multiple_of(1024) {
            self.control.spend(1024 * STEP);
            if let Some(stop) = self.control.reason() {
                return Err(Quit::Stopped(stop));
            }
        }
        match self.steps > MOST_STEPS {
            true => Err(Quit::TooLarge("there are too many ways through the program")),
            false => Ok(()),
        }
    }

    /// The states in which a function ends that is called in a state, with these arguments.
    pub fn call(
        &mut self,
        frame: Frame,
        mut entry: State<'p>,
        args: Vec<Value>,
    ) -> Result<Vec<State<'p>>, Quit> {
        let function = self.program.function(frame.function);
        if function.params as usize != args.len() {
            let span = function.blocks.first().map_or(Span::default(), |it| it.terminator_span);
            return Err(Quit::Lost("a call with other arguments than the function has", span));
        }
        let zeros = function.vars.iter().skip(args.len()).map(|_| Value::constant(0));
        entry.vars = args.into_iter().chain(zeros).collect();
        entry.facts = BTreeMap::new();
        entry.renamed = BTreeMap::new();
        entry.vouched = BTreeSet::new();
        entry.near = Vec::new();
        entry.mirrors = BTreeMap::new();
        self.forget_kept(&mut entry);
        entry.key.gave_others = false;
        entry.result = Value::none();
        if let Some(exits) = self.again(frame, &mut entry) {
            return Ok(exits);
        }
        if self.stack.len() >= MOST_DEPTH {
            return Err(Quit::TooLarge("calls are too deep"));
        }
        let asked = (frame.function, frame.context, frame.thread, entry);
        if let Some(exits) = self.known.get(&asked) {
            return Ok(exits.clone());
        }
        let guesses = self.guesses;
        let exits = self.settle(frame, asked.3.clone())?;
        if self.guesses == guesses {
            self.known.insert(asked, exits.clone());
        }
        Ok(exits)
    }

    /// What a function does that calls itself, as far as that is known by now.
    fn again(&mut self, frame: Frame, entry: &mut State<'p>) -> Option<Vec<State<'p>>> {
        let same = |active: &Active<'p>| active.function == frame.function;
        let deep = self.stack.iter().filter(|active| same(active)).count();
        if deep > 2 {
            entry.key = entry.key.coarse(deep < 8);
        }
        let index = self.stack.iter().rposition(|active| {
            same(active) && active.context == frame.context && active.entry.key == entry.key
        })?;
        let widths = self.widths(frame.function);
        let landmarks = self.landmarks[frame.function.0 as usize].clone();
        let merge = |old: &Value, new: &Value, width: u32| old.widen(new, width, &landmarks);
        let active = &mut self.stack[index];
        let merged = active.entry.merged(entry, &merge, &widths);
        active.is_recursive = true;
        if merged != active.entry {
            active.entry = merged;
            active.is_open = true;
        }
        self.guesses += 1;
        Some(active.exits.clone())
    }

    fn widths(&self, function: FunctionId) -> Vec<u32> {
        self.program.function(function).vars.iter().map(|var| var.width).collect()
    }

    /// Runs a function, again and again if it calls itself.
    fn settle(&mut self, frame: Frame, entry: State<'p>) -> Result<Vec<State<'p>>, Quit> {
        let Frame { function, context, .. } = frame;
        let (exits, is_open, is_recursive) = (Vec::new(), false, false);
        self.stack.push(Active { function, context, entry, exits, is_open, is_recursive });
        let top = self.stack.len() - 1;
        loop {
            self.stack[top].is_open = false;
            let entry = self.stack[top].entry.clone();
            let exits = self.run_function(frame, entry)?;
            let exits = self.widened(frame, &self.stack[top], exits);
            let active = &mut self.stack[top];
            let is_done = !active.is_recursive || !active.is_open && active.exits == exits;
            active.exits = exits;
            if is_done {
                break;
            }
        }
        let active = self.stack.pop();
        Ok(active.map(|active| active.exits).unwrap_or_default())
    }

    /// What a function that calls itself ends in, so that this is settled soon.
    fn widened(&self, frame: Frame, active: &Active<'p>, exits: Vec<State<'p>>) -> Vec<State<'p>> {
        if !active.is_recursive {
            return exits;
        }
        let landmarks = &self.landmarks[frame.function.0 as usize];
        let merge = |old: &Value, new: &Value, width: u32| old.widen(new, width, landmarks);
        let mut all: BTreeMap<Key, State<'p>> =
            active.exits.iter().map(|exit| (exit.key.clone(), exit.clone())).collect();
        for exit in exits {
            let merged = match all.get(&exit.key) {
                Some(known) => known.merged(&exit, &merge, &[]),
                None => exit,
            };
            all.insert(merged.key.clone(), merged);
        }
        all.into_values().collect()
    }

    /// The states in which a function ends.
    fn run_function(&mut self, frame: Frame, entry: State<'p>) -> Result<Vec<State<'p>>, Quit> {
        let function = self.program.function(frame.function);
        let mut flow = Flow::new(self.widths(frame.function), frame, self);
        flow.reach(0, entry);
        while let Some((block, mut state)) = flow.next() {
            self.forget_kept(&mut state);
            let body = &function.blocks[block];
            let mut live = vec![state];
            for (index, inst) in body.insts.iter().enumerate() {
                let place =
                    Place { function: frame.function.0, block: block as u32, index: index as u32 };
                let here = Here { frame, place, span: inst.span };
                let mut after = Vec::new();
                for state in live {
                    self.tick()?;
                    self.step(here, state, &inst.kind, &mut after)?;
                }
                live = after;
            }
            for state in live {
                self.leave_block(&mut flow, state, &body.terminator);
            }
        }
        Ok(flow.exits.into_values().collect())
    }

    fn leave_block(&mut self, flow: &mut Flow<'p>, mut state: State<'p>, end: &Terminator) {
        let frame = flow.frame;
        match end {
            Terminator::Jump(BlockId(target)) => flow.reach(*target as usize, state),
            Terminator::Branch { condition, then, otherwise, .. } => {
                if let Some(state) = self.refine(frame, state.clone(), condition, true) {
                    flow.reach(then.0 as usize, state);
                }
                if let Some(state) = self.refine(frame, state, condition, false) {
                    flow.reach(otherwise.0 as usize, state);
                }
            }
            Terminator::Return(value) => {
                if let Some(value) = value {
                    state.result = self.eval(frame, &state, value);
                }
                state.vars = Vec::new();
                state.facts = BTreeMap::new();
                state.vouched = BTreeSet::new();
                state.near = Vec::new();
                state.mirrors = BTreeMap::new();
                flow.exit(state);
            }
            Terminator::Exit => {
                self.leave_kept(&mut state);
                self.world.add_end(frame.thread, &state.key.joined);
            }
        }
    }

    /// Something has to hold that was not shown.
    pub fn owe(&mut self, here: Here, property: Property, message: &str) {
        self.owe_as(here, property, message, false);
    }

    /// Something has to hold that was not shown; where it does, the analysis is right about all that
    /// comes after, if that `is_followed`.
    pub fn owe_as(&mut self, here: Here, property: Property, message: &str, is_followed: bool) {
        let (span, place, message) = (here.span(), here.place, message.to_string());
        self.world.obligations.insert(Obligation { span, place, property, message, is_followed });
    }

    /// What comes after is not looked at.
    pub fn give_up(&mut self, here: Here, what: &str) {
        self.world.gaps.insert((here.span(), what.to_string()));
    }

    /// Calls a function, or one of several.
    pub fn step_call(
        &mut self,
        here: Here,
        state: State<'p>,
        kind: &'p InstKind,
        after: &mut Vec<State<'p>>,
    ) -> Result<(), Quit> {
        let InstKind::Call { dst, callee, args } = kind else { return Ok(()) };
        let targets = self.callees(here, &state, callee);
        let args: Vec<Value> = args.iter().map(|arg| self.eval(here.frame, &state, arg)).collect();
        if args.iter().any(Value::is_none) {
            return Ok(());
        }
        for target in targets {
            let active = self.stack.iter().rposition(|active| active.function == target);
            let context = match active {
                Some(active) => self.stack[active].context,
                None => self.world.context(here.frame.context, here.place),
            };
            let frame = Frame { function: target, context, thread: here.frame.thread };
            for exit in self.call(frame, state.clone(), args.clone())? {
                let mut back = state.clone();
                for (object, to) in &exit.renamed {
                    back.rename(*object, *to);
                }
                let State { key, private, kept, published, freed, below, result, .. } = exit;
                if key.gave_others {
                    back.near.clear();
                }
                let gave_others = key.gave_others || back.key.gave_others;
                let key = Key { gave_others, ..key };
                let mirrors = BTreeMap::new();
                back = State { key, private, kept, published, freed, mirrors, below, ..back };
                let is_alone = back.key.is_alone;
                back.vars.iter_mut().for_each(|value| self.normalise(value, is_alone));
                if let Some(dst) = dst {
                    let is_missing = result.is_none();
                    back.assign(*dst, if is_missing { Value::constant(0) } else { result });
                }
                after.push(back);
            }
        }
        Ok(())
    }
}

/// The ways through a function that are still to be followed.
struct Flow<'p> {
    frame: Frame,
    widths: Vec<u32>,
    landmarks: Vec<i128>,
    /// What is known where a block begins, by key, and how often it was reached.
    states: Vec<BTreeMap<Key, (State<'p>, u32)>>,
    open: BTreeSet<(usize, usize, Key)>,
    /// States that are not merged with others, and how often blocks were reached in such.
    apart: Vec<(usize, State<'p>)>,
    visits: Vec<u32>,
    /// Blocks in an order in which most come after those that lead to them.
    order: Vec<usize>,
    exits: BTreeMap<Key, State<'p>>,
}

impl<'p> Flow<'p> {
    fn new(widths: Vec<u32>, frame: Frame, analysis: &Analysis<'p, '_>) -> Flow<'p> {
        let function = analysis.program.function(frame.function);
        Flow {
            frame,
            widths,
            landmarks: analysis.landmarks[frame.function.0 as usize].clone(),
            states: vec![BTreeMap::new(); function.blocks.len()],
            open: BTreeSet::new(),
            apart: Vec::new(),
            visits: vec![0; function.blocks.len()],
            order: order(function),
            exits: BTreeMap::new(),
        }
    }

    fn next(&mut self) -> Option<(usize, State<'p>)> {
        if let Some(next) = self.apart.pop() {
            return Some(next);
        }
        let (_, block, key) = self.open.pop_first()?;
        let (state, _) = self.states[block].get(&key)?;
        Some((block, state.clone()))
    }

    /// A block is reached in a state.
    fn reach(&mut self, block: usize, mut state: State<'p>) {
        if state.key.is_alone && self.visits[block] < MOST_APART {
            self.visits[block] += 1;
            return self.apart.push((block, state));
        }
        let known = &self.states[block];
        if !known.contains_key(&state.key) && known.len() >= MOST_KEYS {
            state.key = state.key.coarse(known.len() < 2 * MOST_KEYS);
        }
        let key = state.key.clone();
        let rank = (self.order[block], block, key.clone());
        match self.states[block].get_mut(&key) {
            None => {
                self.states[block].insert(key, (state, 1));
                self.open.insert(rank);
            }
            Some((known, visits)) => {
                let landmarks = &self.landmarks;
                let widens = *visits > PATIENCE;
                let merge = |old: &Value, new: &Value, width: u32| match widens {
                    true => old.widen(new, width, landmarks),
                    false => old.join(new, width),
                };
                let merged = known.merged(&state, &merge, &self.widths);
                if merged != *known {
                    *known = merged;
                    *visits += 1;
                    self.open.insert(rank);
                }
            }
        }
    }

    fn exit(&mut self, state: State<'p>) {
        let join = |old: &Value, new: &Value, width: u32| old.join(new, width);
        let merged = match self.exits.get(&state.key) {
            Some(known) => known.merged(&state, &join, &[]),
            None => state,
        };
        self.exits.insert(merged.key.clone(), merged);
    }
}

/// For each block, its rank in reverse postorder.
fn order(function: &Function) -> Vec<usize> {
    let count = function.blocks.len();
    let (mut seen, mut post) = (vec![false; count], Vec::new());
    let mut open = vec![(0, 0)];
    if let Some(first) = seen.first_mut() {
        *first = true;
    }
    while let Some((block, next)) = open.pop() {
        let targets: Vec<usize> = match function.blocks.get(block).map(|it| &it.terminator) {
            Some(Terminator::Jump(target)) => vec![target.0 as usize],
            Some(Terminator::Branch { then, otherwise, .. }) => {
                vec![otherwise.0 as usize, then.0 as usize]
            }
            _ => Vec::new(),
        };
        match targets.get(next) {
            Some(target) => {
                open.push((block, next + 1));
                if !std::mem::replace(&mut seen[*target], true) {
                    open.push((*target, 0));
                }
            }
            None => post.push(block),
        }
    }
    let mut order = vec![count; count];
    for (rank, block) in post.into_iter().rev().enumerate() {
        order[block] = rank;
    }
    order
}

/// Numbers that a function compares values with, and their neighbours, in order.
fn landmarks(function: &Function) -> Vec<i128> {
    fn collect(expr: &Expr, found: &mut BTreeSet<i128>) {
        match expr {
            Expr::Const(bits) => {
                for value in [bits.unsigned() as i128, bits.to_signed()] {
                    found.extend((value - 1)..=(value + 1));
                }
            }
            Expr::Var(_) | Expr::Address(_) | Expr::FunctionAddress(_) => {}
            Expr::Unary(_, value)
            | Expr::Extract { value, .. }
            | Expr::ZeroExtend { value, .. }
            | Expr::SignExtend { value, .. } => collect(value, found),
            Expr::Binary(_, left, right) | Expr::Concat { high: left, low: right } => {
                collect(left, found);
                collect(right, found);
            }
            Expr::Select { condition, then, otherwise } => {
                collect(condition, found);
                collect(then, found);
                collect(otherwise, found);
            }
        }
    }
    let mut found = BTreeSet::from([0]);
    let is_comparison = |expr: &&Expr| matches!(expr, Expr::Binary(op, ..) if op.is_comparison());
    for block in &function.blocks {
        for inst in &block.insts {
            inst.kind.for_each_expr(&mut |expr| {
                if is_comparison(&expr) {
                    collect(expr, &mut found);
                }
            });
        }
        if let Terminator::Branch { condition, .. } = &block.terminator {
            collect(condition, &mut found);
        }
    }
    found.retain(|value| value.abs() < 1 << 62);
    found.into_iter().collect()
}

/// Whether a value may be a number that a thread has.
pub fn may_be_thread(value: &Value) -> bool {
    value.parts.iter().any(|(base, num)| match base {
        Base::Zero => {
            let (lo, hi) = num.signed(32, 1 << 16);
            hi >= 0 && lo < i128::from(Program::MOST_THREADS)
        }
        _ => false,
    })
}

/// All bytes of an object that an access may begin at.
pub fn within(num: Num, size: i128, bytes: i128, most: i128) -> (Option<Num>, bool) {
    let spread = num.spread(most);
    let is_inside = spread.lo >= 0 && spread.hi + bytes <= size;
    match is_inside {
        true => (Some(num), true),
        false if num.mine != 0 => (Some(num), false),
        false => (num.meet(0, size - bytes), false),
    }
}
