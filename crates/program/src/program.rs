//! Whole programs: functions, globals, initial threads.

use crate::{Bits, Expr, Function, InstKind, Shape, Slots, SourceFile, Var};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct FunctionId(pub u32);

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct GlobalId(pub u32);

/// An object in memory that exists from the start.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Global {
    pub name: String,
    /// Bytes.
    pub size: u64,
    pub align: u32,
    /// What the object holds at first; bytes that no cell covers are zero.
    pub init: Vec<Cell>,
    /// How people call the parts.
    pub shape: Option<Shape>,
    /// A store to it is an error.
    pub constant: bool,
    /// Where it lies, if that is not for [`Program::layout`] to say.
    pub address: Option<u64>,
}

impl Global {
    /// An object of zeros.
    pub fn zeroed(name: &str, size: u64, align: u32) -> Global {
        let name = name.to_string();
        let init = Vec::new();
        Global { name, size, align, init, shape: None, constant: false, address: None }
    }
}

/// An initial value at an offset in a global. The value is a constant expression: constants,
/// addresses, and operators on them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cell {
    pub offset: u64,
    /// Width a multiple of 8.
    pub width: u32,
    pub value: Expr,
}

/// A thread that runs from the start.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ThreadStart {
    /// How people call it: `P0`, `main`.
    pub name: String,
    pub function: FunctionId,
    /// Constant expressions, one for each parameter.
    pub args: Vec<Expr>,
}

#[derive(Clone, Debug)]
pub struct Program {
    pub name: String,
    /// Width of addresses: 32 or 64.
    pub pointer_width: u32,
    /// Variables that each thread keeps across its calls, for the functions that see them. They
    /// start as zero.
    pub registers: Vec<Var>,
    pub globals: Vec<Global>,
    pub functions: Vec<Function>,
    pub threads: Vec<ThreadStart>,
    /// Whether the program is over when its first thread has ended, so that it is no error if
    /// others wait then.
    pub daemons: bool,
    /// What was assumed of parts that nobody has, in words, because that was asked for.
    pub assumptions: Vec<String>,
    /// What the spans in the program point into.
    pub source: SourceFile,
}

impl Program {
    pub fn new(name: &str, pointer_width: u32, source: SourceFile) -> Program {
        Program {
            name: name.to_string(),
            pointer_width,
            registers: Vec::new(),
            globals: Vec::new(),
            functions: Vec::new(),
            threads: Vec::new(),
            daemons: false,
            assumptions: Vec::new(),
            source,
        }
    }

    /// Where each global lies. Those that do not say so themselves get addresses from
    /// [`Program::FIRST_ADDRESS`] on, in order, far enough apart that small offsets never lead
    /// from one into the next, and (for programs of ordinary size) below 2^31, so that a 32-bit
    /// register holds them.
    pub fn layout(&self) -> Vec<u64> {
        let mut next = Self::FIRST_ADDRESS;
        let mut addresses = Vec::with_capacity(self.globals.len());
        for global in &self.globals {
            if let Some(address) = global.address {
                addresses.push(address);
                continue;
            }
            let align = u64::from(global.align.max(1)).next_power_of_two().max(Self::GAP);
            next = next.checked_next_multiple_of(align).unwrap_or(next);
            addresses.push(next);
            next = next.saturating_add(global.size.max(1)).saturating_add(Self::GAP);
        }
        addresses
    }

    /// Where objects lie that threads make.
    pub fn slots(&self) -> Slots {
        Slots::of(self.pointer_width)
    }

    /// Fits into 32 bits, and is no number that programs compute with by themselves.
    pub const FIRST_ADDRESS: u64 = 0x4b1d_5000;
    const GAP: u64 = 0x1000;

    /// What lies below is no object: an access there goes through a null pointer.
    pub const LEAST_FIXED_ADDRESS: u64 = 0x1000;

    /// Where the life of a thread shows to memory models: 8 bytes that its creator writes when
    /// it starts it, and 8 more that it writes itself when it ends. No object is there.
    pub fn thread_address(number: u32) -> u64 {
        0x1000_0000 + 16 * u64::from(number)
    }

    /// Where the lock is that all atomic sections share. No object is there.
    pub const SECTIONS: u64 = 0x0800_0000;

    /// There are never more.
    pub const MOST_THREADS: u32 = 1 << 16;

    /// The thread whose life shows at an address, and whether it is the end of it.
    pub fn thread_at(address: u64) -> Option<(u32, bool)> {
        let offset = address.checked_sub(Self::thread_address(0))?;
        let known = address < Self::thread_address(Self::MOST_THREADS);
        known.then_some(((offset / 16) as u32, offset % 16 >= 8))
    }

    /// The address of a function, as a value: functions are not in memory.
    pub fn function_address(&self, function: FunctionId) -> Bits {
        let fixed = self.functions.get(function.0 as usize).and_then(|function| function.address);
        let free = Self::FIRST_FUNCTION + u128::from(function.0) * 16;
        Bits::new(self.pointer_width, fixed.map_or(free, u128::from))
    }

    /// The function that a value is the address of.
    pub fn function_at(&self, address: Bits) -> Option<FunctionId> {
        let is_there =
            |function: &Function| function.address.map(u128::from) == Some(address.unsigned());
        if let Some(fixed) = self.functions.iter().position(is_there) {
            return Some(FunctionId(fixed as u32));
        }
        let number = address.unsigned().checked_sub(Self::FIRST_FUNCTION)?;
        let function = self.functions.get(usize::try_from(number / 16).ok()?)?;
        let exact = number % 16 == 0 && function.address.is_none();
        exact.then_some(FunctionId((number / 16) as u32))
    }

    const FIRST_FUNCTION: u128 = 0x7000_0000;

    /// Has weak compare-and-swaps fail only where they do not find what they expect.
    pub fn make_compare_and_swaps_strong(&mut self) {
        let blocks = self.functions.iter_mut().flat_map(|function| &mut function.blocks);
        for inst in blocks.flat_map(|block| &mut block.insts) {
            if let InstKind::Cas { weak, .. } = &mut inst.kind {
                *weak = false;
            }
        }
    }

    pub fn function(&self, id: FunctionId) -> &Function {
        &self.functions[id.0 as usize]
    }

    pub fn global(&self, id: GlobalId) -> &Global {
        &self.globals[id.0 as usize]
    }
}
