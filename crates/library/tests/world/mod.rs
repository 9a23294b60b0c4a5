//! A sequentially consistent computer for tests: threads of the machine crate over a map of
//! bytes. It runs one thread after the other, or all interleavings of them.

// Each test file uses its own part of this.
#![allow(dead_code)]

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use parallax_library::{Options, link};
use parallax_machine::{Code, Concrete, Fault, Limits, Operation, Thread, modify};
use parallax_program::{Bits, Program, Property, Tags, parse_program};

/// What is in memory that nobody has written.
const FILL: u8 = 0xa5;

/// How a run ends.
#[derive(Clone, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub enum End {
    /// All threads have ended.
    Done,
    /// Some thread waits for ever.
    Stuck,
    /// An assumption does not hold.
    Pruned,
    Failed(Property, String),
    Unknown(String),
    /// Memory was used wrongly.
    Wild,
}

pub fn program(text: &str) -> Program {
    program_with(text, &Options::default())
}

/// The program of a text, linked and checked. The first line is left out.
pub fn program_with(text: &str, options: &Options) -> Program {
    let text = format!("program test pointers 64\n{text}");
    let mut program = match parse_program("test.program", &text) {
        Ok(program) => program,
        Err(errors) => panic!("{}", errors[0]),
    };
    if let Err(errors) = link(&mut program, options) {
        panic!("{}", errors[0]);
    }
    if let Err(errors) = program.check() {
        panic!("{}\n{program}", errors[0]);
    }
    program
}

fn limits() -> Limits {
    Limits { repeats: 1_000_000, spins: true, ..Limits::default() }
}

#[derive(Clone)]
pub struct World<'p> {
    code: &'p Code<'p>,
    bytes: BTreeMap<u64, u8>,
    heap: BTreeMap<u64, u64>,
    next: u64,
    threads: Vec<Runner>,
    /// Counts the writes to memory.
    version: u64,
    /// The thread that nobody may interrupt.
    alone: Option<usize>,
}

#[derive(Clone)]
struct Runner {
    thread: Thread<Bits>,
    /// Stands for all that the thread was given so far, and so for its state.
    history: u64,
    ended: bool,
    /// The thread as it was before its last read, to go back to from a false wait.
    before: Thread<Bits>,
    before_history: u64,
    /// The version of memory that the last read saw.
    seen: u64,
    /// The version of memory in which it found a wait false.
    waits: Option<u64>,
}

/// What one step of a thread leads to.
enum Step {
    Taken,
    /// Any value less than that.
    Choice(Bits),
    Over(End),
}

impl Runner {
    /// Goes on with the results of an operation.
    fn give(&mut self, code: &Code<'_>, first: Option<Bits>, second: Option<Bits>) {
        let mut hasher = DefaultHasher::new();
        (self.history, first, second).hash(&mut hasher);
        self.history = hasher.finish();
        match first {
            Some(first) => self.thread.results(code, first, second),
            None => self.thread.done(),
        }
    }
}

impl<'p> World<'p> {
    /// Stands for everything that matters from here on.
    fn state(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (&self.bytes, &self.heap, self.alone).hash(&mut hasher);
        for (number, runner) in self.threads.iter().enumerate() {
            (runner.history, runner.ended, self.ready(number)).hash(&mut hasher);
        }
        hasher.finish()
    }

    pub fn new(code: &'p Code<'p>) -> World<'p> {
        let mut world = World {
            code,
            bytes: BTreeMap::new(),
            heap: BTreeMap::new(),
            next: 0x10_0000_0000,
            threads: Vec::new(),
            version: 0,
            alone: None,
        };
        for (global, address) in code.program.globals.iter().zip(code.addresses()) {
            for at in 0..global.size {
                world.bytes.insert(address + at, 0);
            }
            for cell in &global.init {
                let value = code.evaluate(&cell.value, &[], &mut Concrete);
                world.put(address + cell.offset, value);
            }
        }
        for start in &code.program.threads {
            let value = |arg| code.evaluate(arg, &[], &mut Concrete);
            let args = start.args.iter().map(value).collect();
            world.start(Thread::start(code, start.function, args, &mut Concrete));
        }
        world
    }

    fn start(&mut self, thread: Thread<Bits>) {
        let before = thread.clone();
        self.threads.push(Runner {
            thread,
            history: 0,
            ended: false,
            before,
            before_history: 0,
            seen: 0,
            waits: None,
        });
    }

    pub fn put(&mut self, address: u64, value: Bits) {
        for at in 0..value.width() / 8 {
            self.bytes.insert(address + u64::from(at), value.extract(at * 8, 8).unsigned() as u8);
        }
    }

    fn get(&self, address: u64, bytes: u32) -> Option<Bits> {
        let mut value = 0;
        for at in (0..u64::from(bytes)).rev() {
            value = value << 8 | u128::from(*self.bytes.get(&(address + at))?);
        }
        Some(Bits::new(bytes * 8, value))
    }

    /// The bytes of a global.
    pub fn global(&self, name: &str) -> Vec<u8> {
        let mut globals = self.code.program.globals.iter().zip(self.code.addresses());
        let (global, address) = globals.find(|(global, _)| global.name == name).unwrap();
        (0..global.size).map(|at| self.bytes[&(address + at)]).collect()
    }

    /// The first word of a global.
    pub fn word(&self, name: &str) -> u32 {
        let bytes = self.global(name);
        u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
    }

    fn store(&mut self, address: Bits, value: Bits) -> Option<()> {
        let address = address.unsigned() as u64;
        self.get(address, value.width() / 8)?;
        self.put(address, value);
        self.version += 1;
        Some(())
    }

    /// Runs the threads one after the other, each until it ends; choices are the first.
    pub fn run(&mut self) -> End {
        let mut number = 0;
        while number < self.threads.len() {
            match self.step(number) {
                Step::Taken => {}
                Step::Choice(_) => self.choose(number, 0),
                Step::Over(end) => return end,
            }
            if self.threads[number].ended {
                number += 1;
            } else if self.threads[number].waits.is_some() {
                return End::Stuck;
            }
        }
        End::Done
    }

    /// All ends of all interleavings, with what `observe` sees at those that are complete.
    pub fn explore<T: Ord>(self, observe: &dyn Fn(&World<'_>) -> T) -> BTreeSet<(End, Option<T>)> {
        let mut ends = BTreeSet::new();
        let mut open = vec![self];
        let mut known = BTreeSet::new();
        while let Some(world) = open.pop() {
            if !known.insert(world.state()) {
                continue;
            }
            let ready: Vec<_> = (0..world.threads.len()).filter(|n| world.ready(*n)).collect();
            if ready.is_empty() {
                let all = world.threads.iter().all(|thread| thread.ended);
                let end = if all { End::Done } else { End::Stuck };
                let seen = all.then(|| observe(&world));
                ends.insert((end, seen));
            }
            for number in ready {
                let mut next = world.clone();
                match next.step(number) {
                    Step::Taken => open.push(next),
                    Step::Choice(below) => {
                        for value in 0..below.unsigned() {
                            let mut next = next.clone();
                            next.choose(number, value);
                            open.push(next);
                        }
                    }
                    Step::Over(End::Pruned) => {}
                    Step::Over(end) => {
                        ends.insert((end, None));
                    }
                }
            }
        }
        ends
    }

    /// The tags of the first load of the first thread.
    pub fn first_load(&mut self) -> Option<Tags> {
        match self.threads[0].thread.run(self.code, &limits(), &mut Concrete) {
            Operation::Load { tags, .. } => Some(tags.clone()),
            _ => None,
        }
    }

    fn ready(&self, number: usize) -> bool {
        let runner = &self.threads[number];
        let free = self.alone.is_none_or(|alone| alone == number);
        free && !runner.ended && runner.waits.is_none_or(|version| version != self.version)
    }

    fn choose(&mut self, number: usize, value: u128) {
        let runner = &mut self.threads[number];
        let mut probe = runner.thread.clone();
        let width = match probe.run(self.code, &limits(), &mut Concrete) {
            Operation::Choose { below } => below.width(),
            Operation::Nondet { width } => width,
            other => panic!("no choice: {other:?}"),
        };
        runner.thread.run(self.code, &limits(), &mut Concrete);
        runner.give(self.code, Some(Bits::new(width, value)), None);
    }

    /// Takes one step, and those that follow and concern nobody else.
    fn step(&mut self, number: usize) -> Step {
        self.threads[number].waits = None;
        loop {
            let step = self.single_step(number);
            let runner = &self.threads[number];
            if !matches!(step, Step::Taken) || runner.ended || runner.waits.is_some() {
                return step;
            }
            let next = runner.thread.clone().run(self.code, &limits(), &mut Concrete);
            if !is_private(&next) {
                return step;
            }
        }
    }

    fn single_step(&mut self, number: usize) -> Step {
        let code = self.code;
        let mut operation = self.threads[number].thread.run(code, &limits(), &mut Concrete);
        while let Operation::Spin { .. } = operation {
            operation = self.threads[number].thread.run(code, &limits(), &mut Concrete);
        }
        let reads = matches!(operation, Operation::Load { .. } | Operation::Cas { .. });
        if reads || matches!(operation, Operation::Join { .. }) {
            self.threads[number].before = self.threads[number].thread.clone();
            self.threads[number].before_history = self.threads[number].history;
            self.threads[number].seen = self.version;
        }
        match self.perform(number, operation) {
            Some(step) => step,
            None => Step::Over(End::Wild),
        }
    }

    fn perform(&mut self, number: usize, operation: Operation<'p, Bits>) -> Option<Step> {
        let code = self.code;
        match operation {
            Operation::Load { address, size, tags } => {
                let value = self.get(address.unsigned() as u64, size.bytes())?;
                let fresh = Bits::new(value.width(), u128::from_le_bytes([FILL; 16]));
                let is_fresh = value == fresh && tags.contains("FRESH");
                let value = if is_fresh { Bits::zero(value.width()) } else { value };
                self.threads[number].give(code, Some(value), None);
            }
            Operation::Store { address, value, .. } => {
                self.store(address, value)?;
                self.threads[number].give(code, None, None);
            }
            Operation::Rmw { address, op, operand, size, .. } => {
                let old = self.get(address.unsigned() as u64, size.bytes())?;
                self.store(address, modify(op, &old, &operand, &mut Concrete))?;
                self.threads[number].give(code, Some(old), None);
            }
            Operation::Cas { address, expected, desired, size, .. } => {
                let old = self.get(address.unsigned() as u64, size.bytes())?;
                if old == expected {
                    self.store(address, desired)?;
                }
                self.threads[number].give(code, Some(old), Some(Bits::bool(old == expected)));
            }
            Operation::Fence { .. } => self.threads[number].give(code, None, None),
            Operation::Spawn { function, args } => {
                let child = self.threads.len() as u128;
                self.start(Thread::start(code, function, args, &mut Concrete));
                self.threads[number].give(code, Some(Bits::new(32, child)), None);
            }
            Operation::Join { thread } => match self.threads[thread.unsigned() as usize].ended {
                true => self.threads[number].give(code, None, None),
                false => self.threads[number].waits = Some(self.version),
            },
            Operation::ThreadId => {
                self.threads[number].give(code, Some(Bits::new(32, number as u128)), None)
            }
            Operation::Wait { .. } => {
                let runner = &mut self.threads[number];
                runner.thread = runner.before.clone();
                runner.history = runner.before_history;
                runner.waits = Some(runner.seen);
            }
            Operation::Alloc { size, align, zeroed, .. } => {
                let address = self.next.next_multiple_of(u64::from(align));
                let size = size.unsigned() as u64;
                self.next = address + size.max(1) + 64;
                self.heap.insert(address, size);
                let fill = if zeroed { 0 } else { FILL };
                self.bytes.extend((0..size).map(|at| (address + at, fill)));
                self.threads[number].give(code, Some(Bits::new(64, u128::from(address))), None);
            }
            Operation::HeapSize { address } => {
                let size = *self.heap.get(&(address.unsigned() as u64))?;
                self.threads[number].give(code, Some(Bits::new(64, u128::from(size))), None);
            }
            Operation::Free { address, .. } => {
                if !address.is_zero() {
                    let address = address.unsigned() as u64;
                    let size = self.heap.remove(&address)?;
                    self.bytes.retain(|at, _| !(address..address + size).contains(at));
                }
                self.threads[number].give(code, None, None);
            }
            Operation::Choose { below } => return Some(Step::Choice(below)),
            Operation::Nondet { width } => return Some(Step::Choice(Bits::new(width, 1))),
            Operation::AtomicBegin => {
                self.alone = Some(number);
                self.threads[number].give(code, None, None);
            }
            Operation::AtomicEnd => {
                self.alone = None;
                self.threads[number].give(code, None, None);
            }
            Operation::End => {
                self.threads[number].ended = true;
                self.version += 1;
            }
            Operation::Assume { .. } | Operation::Vain { .. } => {
                return Some(Step::Over(End::Pruned));
            }
            Operation::Assert { message, property, .. } => {
                return Some(Step::Over(End::Failed(property, message.to_string())));
            }
            Operation::Fault(Fault::External(name)) => {
                return Some(Step::Over(End::Unknown(name)));
            }
            Operation::Fault(Fault::Unsupported(what)) => {
                return Some(Step::Over(End::Unknown(what)));
            }
            other => panic!("{other:?}"),
        }
        Some(Step::Taken)
    }
}

fn is_private(operation: &Operation<'_, Bits>) -> bool {
    use Operation::*;
    matches!(
        operation,
        ThreadId | Wait { .. } | Assume { .. } | Assert { .. } | Spawn { .. } | End | Choose { .. }
    )
}

/// Runs a text whose only thread is `main`, and gives the word called `out`.
pub fn out(text: &str) -> Result<u32, End> {
    let text = format!("global out: 4\n{text}\nthread main = main()\n");
    let program = program(&text);
    let code = Code::new(&program);
    let mut world = World::new(&code);
    match world.run() {
        End::Done => Ok(world.word("out")),
        end => Err(end),
    }
}

/// How a program of one thread ends whose `main` has these lines, and variables `r` (32 bits)
/// and `p`, `q` (64 bits). Before it come globals and functions.
pub fn ends(before: &str, lines: &str) -> End {
    let program = program(&with_main(before, lines));
    let code = Code::new(&program);
    World::new(&code).run()
}

pub fn with_main(before: &str, lines: &str) -> String {
    format!(
        "{before}\nfn main() {{\n  var r: 32, p: 64, q: 64\n{lines}\n  return\n}}\n\
         thread main = main()\n"
    )
}

/// All ends of all interleavings of a program.
pub fn all_ends(text: &str) -> Vec<End> {
    all_ends_with(text, &Options::default())
}

pub fn all_ends_with(text: &str, options: &Options) -> Vec<End> {
    let program = program_with(text, options);
    let code = Code::new(&program);
    World::new(&code).explore(&|_| ()).into_iter().map(|(end, _)| end).collect()
}

/// All values that the words of those names have together at the ends of complete runs.
pub fn all_values(text: &str, names: &[&str]) -> Vec<Vec<u32>> {
    let program = program(text);
    let code = Code::new(&program);
    let see = |world: &World<'_>| names.iter().map(|name| world.word(name)).collect::<Vec<_>>();
    World::new(&code).explore(&see).into_iter().filter_map(|(_, values)| values).collect()
}
