//! One thread alone with a memory of bytes.

use std::collections::HashMap;

use parallax_machine::{Code, Concrete, Limits, Operation, Thread, modify};
use parallax_program::{AccessSize, Bits, Program};

/// Runs the first thread to its end. What stops it before that is an error.
pub fn run(program: &Program) -> Result<(), String> {
    let code = Code::new(program);
    let (mut domain, mut memory) = (Concrete, Memory::new(&code));
    let limits = Limits { repeats: u32::MAX - 1, steps: 10_000_000, ..Limits::default() };
    let first = program.threads.first().ok_or("no thread")?;
    let arguments = first.args.iter().map(|arg| code.evaluate(arg, &[], &mut domain)).collect();
    let mut thread = Thread::start(&code, first.function, arguments, &mut domain);
    loop {
        match thread.run(&code, &limits, &mut domain) {
            Operation::End => return Ok(()),
            Operation::Fence { .. } => thread.done(),
            Operation::ThreadId => thread.result(&code, Bits::zero(32)),
            Operation::Load { address, size, .. } => {
                let value = memory.load(address, size);
                thread.result(&code, value);
            }
            Operation::Store { address, value, size, .. } => {
                memory.store(address, size, value);
                thread.done();
            }
            Operation::Rmw { address, op, operand, size, .. } => {
                let old = memory.load(address, size);
                memory.store(address, size, modify(op, &old, &operand, &mut domain));
                thread.result(&code, old);
            }
            Operation::Cas { address, expected, desired, size, .. } => {
                let old = memory.load(address, size);
                let ok = old == expected;
                memory.store(address, size, if ok { desired } else { old });
                thread.results(&code, old, Some(Bits::bool(ok)));
            }
            Operation::Alloc { size, align, .. } => {
                let address = memory.allocate(size, align);
                thread.result(&code, address);
            }
            Operation::Free { .. } => thread.done(),
            other => {
                let place = thread.site().map(|site| code.span(site));
                let place = place.map(|span| program.source.error(span, format!("{other:?}")));
                return Err(place.map_or(String::new(), |place| place.to_string()));
            }
        }
    }
}

struct Memory {
    bytes: HashMap<u64, u8>,
    /// Where the next object goes.
    next: u64,
}

impl Memory {
    fn new(code: &Code<'_>) -> Memory {
        let mut memory = Memory { bytes: HashMap::new(), next: 0x6_0000_0000 };
        for (global, address) in code.program.globals.iter().zip(code.addresses()) {
            for cell in &global.init {
                let value = code.evaluate(&cell.value, &[], &mut Concrete).unsigned();
                for byte in 0..u64::from(cell.width / 8) {
                    let at = address + cell.offset + byte;
                    memory.bytes.insert(at, (value >> (8 * byte)) as u8);
                }
            }
        }
        memory
    }

    fn allocate(&mut self, size: Bits, align: u32) -> Bits {
        let address = self.next.next_multiple_of(u64::from(align.max(16)));
        self.next = address + size.unsigned() as u64 + 0x1000;
        Bits::new(64, address.into())
    }

    fn load(&self, address: Bits, size: AccessSize) -> Bits {
        let byte = |at: u64| u128::from(self.bytes.get(&at).copied().unwrap_or(0));
        let address = address.unsigned() as u64;
        let parts = (0..u64::from(size.bytes())).map(|n| byte(address.wrapping_add(n)) << (8 * n));
        Bits::new(size.bits(), parts.sum())
    }

    fn store(&mut self, address: Bits, size: AccessSize, value: Bits) {
        for number in 0..u64::from(size.bytes()) {
            let at = (address.unsigned() as u64).wrapping_add(number);
            self.bytes.insert(at, (value.unsigned() >> (8 * number)) as u8);
        }
    }
}
