//! A computer with one thread and strict memory: every access must lie in an object.

use std::collections::BTreeMap;

use parallax_machine::{Code, Concrete, Fault, Limits, Operation, Thread, modify};
use parallax_program::{
    AccessSize, Bits, Callee, Expr, FunctionBuilder, FunctionId, Global, GlobalId, InstKind,
    Program,
};

/// How a run ends, as the comments of the programs say it.
pub fn run(program: &Program) -> String {
    let program = with_result(program);
    let code = Code::new(&program);
    let mut world = World::new(&code);
    let start = &program.threads[0];
    let mut domain = Concrete;
    let mut thread = Thread::start(&code, start.function, Vec::new(), &mut domain);
    let limits = Limits { repeats: 1_000_000, ..Limits::default() };
    loop {
        let operation = thread.run(&code, &limits, &mut domain);
        match world.step(&code, &mut thread, operation) {
            Ok(()) => {}
            Err(end) => return end,
        }
    }
}

/// The program with a first function that keeps what the old one returns.
fn with_result(program: &Program) -> Program {
    let mut program = program.clone();
    let result = GlobalId(program.globals.len() as u32);
    program.globals.push(Global::zeroed("result of main", 4, 4));
    let start = program.threads[0].clone();
    let mut builder = FunctionBuilder::new("runs main");
    let dst = builder.temp(32);
    builder.emit(InstKind::Call {
        dst: program.function(start.function).result.map(|_| dst),
        callee: Callee::Direct(start.function),
        args: start.args,
    });
    builder.emit(InstKind::Store {
        address: Expr::Address(result),
        value: Expr::Var(dst),
        size: AccessSize::WORD,
        tags: Default::default(),
    });
    program.threads[0].function = FunctionId(program.functions.len() as u32);
    program.threads[0].args = Vec::new();
    program.functions.push(builder.finish());
    program
}

struct World {
    bytes: BTreeMap<u64, u8>,
    /// Sizes by first address.
    objects: BTreeMap<u64, u64>,
    next: u64,
    result: u64,
}

type Step = Result<(), String>;

impl World {
    fn new(code: &Code<'_>) -> World {
        let addresses = code.addresses();
        let result = addresses.last().copied().unwrap_or(0);
        let (bytes, objects) = Default::default();
        let next = if code.program.pointer_width == 32 { 0x9000_0000 } else { 0x10_0000_0000 };
        let mut world = World { bytes, objects, next, result };
        for (global, address) in code.program.globals.iter().zip(addresses) {
            world.objects.insert(*address, global.size);
            for cell in &global.init {
                let value = code.evaluate(&cell.value, &[], &mut Concrete);
                world.write(address + cell.offset, value).unwrap();
            }
        }
        world
    }

    fn check(&self, address: u64, bytes: u64) -> Step {
        let object = self.objects.range(..=address).next_back();
        match object {
            Some((start, size)) if address + bytes <= start + size => Ok(()),
            _ => Err(format!("wild access of {bytes} bytes at {address:#x}")),
        }
    }

    fn read(&self, address: u64, bytes: u32) -> Result<Bits, String> {
        self.check(address, u64::from(bytes))?;
        let byte = |at: u32| self.bytes.get(&(address + u64::from(at))).copied().unwrap_or(0);
        let value = (0..bytes).fold(0, |all, at| all | u128::from(byte(at)) << (8 * at));
        Ok(Bits::new(8 * bytes, value))
    }

    fn write(&mut self, address: u64, value: Bits) -> Step {
        let bytes = u64::from(value.width() / 8);
        self.check(address, bytes)?;
        for at in 0..bytes {
            self.bytes.insert(address + at, (value.unsigned() >> (8 * at)) as u8);
        }
        Ok(())
    }

    fn allocate(&mut self, size: Bits, align: u32) -> u64 {
        let address = self.next.next_multiple_of(u64::from(align).max(16));
        let size = size.unsigned() as u64;
        self.objects.insert(address, size);
        self.next = address + size + 64;
        address
    }

    /// Does what a thread asks for; the end of the run as an error.
    fn step(
        &mut self,
        code: &Code<'_>,
        thread: &mut Thread<Bits>,
        operation: Operation<'_, Bits>,
    ) -> Step {
        let at = |address: &Bits| address.unsigned() as u64;
        match operation {
            Operation::Load { address, size, .. } => {
                let value = self.read(at(&address), size.bytes())?;
                thread.result(code, value);
            }
            Operation::Store { address, value, .. } => {
                self.write(at(&address), value)?;
                thread.done();
            }
            Operation::Rmw { address, op, operand, size, .. } => {
                let old = self.read(at(&address), size.bytes())?;
                self.write(at(&address), modify(op, &old, &operand, &mut Concrete))?;
                thread.result(code, old);
            }
            Operation::Cas { address, expected, desired, size, .. } => {
                let old = self.read(at(&address), size.bytes())?;
                if old == expected {
                    self.write(at(&address), desired)?;
                }
                thread.results(code, old, Some(Bits::bool(old == expected)));
            }
            Operation::Fence { .. } | Operation::AtomicBegin | Operation::AtomicEnd => {
                thread.done();
            }
            Operation::ThreadId => thread.result(code, Bits::zero(32)),
            Operation::Alloc { size, align, .. } => {
                let address = self.allocate(size, align);
                thread.result(code, Bits::new(code.program.pointer_width, u128::from(address)));
            }
            Operation::HeapSize { address } => {
                let size = self.objects.get(&at(&address)).copied();
                let size = size.ok_or("the size of no object")?;
                thread.result(code, Bits::new(code.program.pointer_width, u128::from(size)));
            }
            Operation::Free { address, .. } => {
                if !address.is_zero() && self.objects.remove(&at(&address)).is_none() {
                    return Err("a wild free".to_string());
                }
                thread.done();
            }
            Operation::Assert { message, property, .. } => {
                return Err(format!("{property}: {message}"));
            }
            Operation::End => {
                let result = self.read(self.result, 4)?;
                return Err(result.to_signed().to_string());
            }
            Operation::Fault(Fault::Unsupported(what)) => return Err(format!("unknown: {what}")),
            Operation::Fault(fault) => return Err(format!("{fault:?}")),
            other => return Err(format!("{other:?}")),
        }
        Ok(())
    }
}
