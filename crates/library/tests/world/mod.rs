//! A sequentially consistent computer for tests: threads of the machine crate over a map of
//! bytes. It runs one thread after the other, or all interleavings of them.

// Each test file uses its own part of this.
#![allow(dead_code)]

use std::collections::{BTreeMap, BTreeSet};

use parallax_library::{Options, link};
use parallax_machine::{Code, Concrete, Fault, Limits, Operation, Thread, modify};
use parallax_program::{Bits, Program, Property, parse_program};

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
    Limits { repeats: 1_000_000, ..Limits::default() }
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
    ended: bool,
    /// The thread as it was before its last read, to go back to from a false wait.
    before: Thread<Bits>,
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

impl<'p> World<'p> {
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
        self.threads.push(Runner { thread, ended: false, before, waits: None });
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
        let mut steps = 0;
        while let Some(world) = open.pop() {
            steps += 1;
            assert!(steps < 3_000_000, "too many interleavings");
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
        runner.thread.result(self.code, Bits::new(width, value));
    }

    fn step(&mut self, number: usize) -> Step {
        let code = self.code;
        self.threads[number].waits = None;
        let operation = self.threads[number].thread.run(code, &limits(), &mut Concrete);
        let reads = matches!(operation, Operation::Load { .. } | Operation::Cas { .. });
        if reads || matches!(operation, Operation::Join { .. }) {
            self.threads[number].before = self.threads[number].thread.clone();
        }
        match self.perform(number, operation) {
            Some(step) => step,
            None => Step::Over(End::Wild),
        }
    }

    fn perform(&mut self, number: usize, operation: Operation<'p, Bits>) -> Option<Step> {
        let code = self.code;
        macro_rules! thread {
            () => {
                self.threads[number].thread
            };
        }
        match operation {
            Operation::Load { address, size, .. } => {
                let value = self.get(address.unsigned() as u64, size.bytes())?;
                thread!().result(code, value);
            }
            Operation::Store { address, value, .. } => {
                self.store(address, value)?;
                thread!().done();
            }
            Operation::Rmw { address, op, operand, size, .. } => {
                let old = self.get(address.unsigned() as u64, size.bytes())?;
                self.store(address, modify(op, &old, &operand, &mut Concrete))?;
                thread!().result(code, old);
            }
            Operation::Cas { address, expected, desired, size, .. } => {
                let old = self.get(address.unsigned() as u64, size.bytes())?;
                if old == expected {
                    self.store(address, desired)?;
                }
                thread!().results(code, old, Some(Bits::bool(old == expected)));
            }
            Operation::Fence { .. } => thread!().done(),
            Operation::Spawn { function, args } => {
                let child = self.threads.len() as u128;
                self.start(Thread::start(code, function, args, &mut Concrete));
                thread!().result(code, Bits::new(32, child));
            }
            Operation::Join { thread } => match self.threads[thread.unsigned() as usize].ended {
                true => thread!().done(),
                false => self.threads[number].waits = Some(self.version),
            },
            Operation::ThreadId => thread!().result(code, Bits::new(32, number as u128)),
            Operation::Wait { .. } => {
                self.threads[number].thread = self.threads[number].before.clone();
                self.threads[number].waits = Some(self.version);
            }
            Operation::Alloc { size, align, zeroed, .. } => {
                let address = self.next.next_multiple_of(u64::from(align));
                let size = size.unsigned() as u64;
                self.next = address + size.max(1) + 64;
                self.heap.insert(address, size);
                let fill = if zeroed { 0 } else { 0xa5 };
                self.bytes.extend((0..size).map(|at| (address + at, fill)));
                thread!().result(code, Bits::new(64, u128::from(address)));
            }
            Operation::HeapSize { address } => {
                let size = *self.heap.get(&(address.unsigned() as u64))?;
                thread!().result(code, Bits::new(64, u128::from(size)));
            }
            Operation::Free { address, .. } => {
                if !address.is_zero() {
                    let address = address.unsigned() as u64;
                    let size = self.heap.remove(&address)?;
                    self.bytes.retain(|at, _| !(address..address + size).contains(at));
                }
                thread!().done();
            }
            Operation::Choose { below } => return Some(Step::Choice(below)),
            Operation::Nondet { width } => return Some(Step::Choice(Bits::new(width, 1))),
            Operation::AtomicBegin => {
                self.alone = Some(number);
                thread!().done();
            }
            Operation::AtomicEnd => {
                self.alone = None;
                thread!().done();
            }
            Operation::End => {
                self.threads[number].ended = true;
                self.version += 1;
            }
            Operation::Assume { .. } => return Some(Step::Over(End::Pruned)),
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
