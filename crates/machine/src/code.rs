//! Programs made ready to run, and expressions.

use std::ops::Range;

use parallax_program::{
    Bits, BlockId, Callee, Expr, FunctionId, Global, Inst, InstKind, Location, Program, Span,
};

use crate::busy::busy;
use crate::live::Live;
use crate::loops::Loops;
use crate::{Domain, Fault, sleep};

/// A program made ready to run: globals have addresses.
pub struct Code<'p> {
    pub program: &'p Program,
    addresses: Vec<u64>,
    loops: Vec<Loops>,
    /// For each function and block, whether it is in a loop that does more than to look.
    pub(crate) busy: Vec<Vec<bool>>,
    /// Where there are waits that may end without a signal.
    live: Option<Live>,
}

/// An instruction, as a place in the program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Site {
    pub function: FunctionId,
    pub block: BlockId,
    /// Position in the block; its length stands for the terminator.
    pub index: u32,
}

/// When a thread's path is cut off.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How often a loop may be repeated. Loops whose every decision is known beforehand
    /// (counting loops) are not cut by it.
    pub repeats: u32,
    /// Instructions between two visible operations that are taken for endless.
    pub steps: u32,
    /// Calls in one another; more are not supported.
    pub depth: u32,
    /// Whether a loop that only waits is reported, rather than repeated.
    pub spins: bool,
    /// How many rounds that change nothing a thread goes before it is said to wait. One that has no
    /// more rounds left is said to wait in any case.
    pub idle: Idle,
}

/// Rounds of loops that wait and change nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Idle {
    None,
    /// One of each loop that does more than to look at one place.
    Busy,
    /// One of each loop.
    One,
    All,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { repeats: 2, steps: 1_000_000, depth: 1_000, spins: false, idle: Idle::None }
    }
}

impl<'p> Code<'p> {
    pub fn new(program: &'p Program) -> Code<'p> {
        let registers = program.registers.len();
        let loops: Vec<Loops> =
            program.functions.iter().map(|body| Loops::of(body, registers)).collect();
        let busy = busy(program, &loops);
        let live = sleep::is_in(program).then(|| Live::of(program));
        Code { program, addresses: program.layout(), loops, busy, live }
    }

    /// The variables that matter at each place, where there are waits that may end without a signal.
    pub(crate) fn live(&self) -> Option<&Live> {
        self.live.as_ref()
    }

    pub(crate) fn loops(&self, function: FunctionId) -> &Loops {
        &self.loops[function.0 as usize]
    }

    /// How many rounds that change nothing the loop at a block goes before its thread waits.
    pub(crate) fn idle(&self, function: FunctionId, block: BlockId, idle: Idle) -> u32 {
        match idle {
            Idle::None => 0,
            Idle::Busy => u32::from(self.busy[function.0 as usize][block.0 as usize]),
            Idle::One => 1,
            Idle::All => u32::MAX,
        }
    }

    /// Whether an instruction is in a loop of its function.
    pub fn can_repeat(&self, site: Site) -> bool {
        self.loops(site.function).repeating(site.block).is_some()
    }

    /// Whether a thread may come back to where it was: there are loops, or waits that may end without a
    /// signal.
    pub fn has_rounds(&self) -> bool {
        self.live.is_some() || self.loops.iter().any(|loops| loops.count() > 0)
    }

    /// Whether a way leads from an instruction to where its function returns.
    pub fn may_return(&self, site: Site) -> bool {
        self.loops(site.function).may_return(site.block)
    }

    /// Whether a thread that stands there is about to begin a round of a loop.
    pub fn begins_round(&self, site: Site) -> bool {
        site.index == 0 && self.loops(site.function).head(site.block).is_some()
    }

    /// The instruction at a place, if that is not the end of a block.
    pub fn instruction(&self, site: Site) -> Option<&'p Inst> {
        let block = &self.program.function(site.function).blocks[site.block.0 as usize];
        block.insts.get(site.index as usize)
    }

    /// Which variables of a function are the thread's registers, if it sees them.
    pub(crate) fn registers(&self, function: FunctionId) -> Option<Range<usize>> {
        let body = self.program.function(function);
        let first = body.params as usize;
        body.registers.then(|| first..first + self.program.registers.len())
    }

    /// Where each global lies.
    pub fn addresses(&self) -> &[u64] {
        &self.addresses
    }

    /// Where in the source an instruction stands.
    pub fn span(&self, site: Site) -> Span {
        let block = &self.program.function(site.function).blocks[site.block.0 as usize];
        block.insts.get(site.index as usize).map_or(block.terminator_span, |inst| inst.span)
    }

    /// Whether a thread that stops at an instruction has ended the program: by an assertion that fails,
    /// or as the library does it, where `exit` and `abort` go no further.
    pub fn ends_program(&self, site: Site) -> bool {
        let block = &self.program.function(site.function).blocks[site.block.0 as usize];
        match block.insts.get(site.index as usize).map(|inst| &inst.kind) {
            Some(InstKind::Assert { .. }) => true,
            Some(InstKind::Assume { condition: Expr::Const(never) }) if never.is_zero() => {
                self.program.daemons || self.program.source.location(self.span(site)).is_linked()
            }
            _ => false,
        }
    }

    /// Of a stack of calls, innermost last, the innermost that is in the program's own code, or else
    /// the innermost.
    pub fn own_site(&self, stack: impl IntoIterator<Item = Site>) -> Option<Site> {
        let stack: Vec<Site> = stack.into_iter().collect();
        let is_own = |site: &&Site| !self.program.source.location(self.span(**site)).is_linked();
        stack.iter().rfind(is_own).or(stack.last()).copied()
    }

    /// Where people should look for a stack of calls.
    pub fn own_place(&self, stack: impl IntoIterator<Item = Site>) -> Option<Location> {
        self.own_site(stack).map(|site| self.program.source.origin(self.span(site)))
    }

    /// The function that a call with so many arguments leads to.
    pub(crate) fn resolve<D: Domain>(
        &self,
        callee: &Callee,
        args: usize,
        vars: &[D::Value],
        domain: &mut D,
    ) -> Result<FunctionId, Fault> {
        let function = match callee {
            Callee::Direct(function) => *function,
            Callee::Indirect(address) => {
                let address = self.evaluate(address, vars, domain);
                let known = domain.known(&address).ok_or(Fault::BadCallee)?;
                self.program.function_at(known).ok_or_else(|| self.no_function(known))?
            }
            Callee::External(name) => return Err(Fault::External(name.clone())),
        };
        match self.program.function(function).params as usize == args {
            true => Ok(function),
            false => Err(Fault::BadArguments),
        }
    }

    /// What is wrong with calling an address that no function is known for. Where memory is
    /// that nobody writes to, such as that of machine code, there may be one nevertheless.
    fn no_function(&self, address: Bits) -> Fault {
        let number = address.unsigned();
        let holds = |global: &Global| {
            let start = global.address.map(u128::from);
            global.constant
                && start
                    .is_some_and(|start| (start..start + u128::from(global.size)).contains(&number))
        };
        match self.program.globals.iter().any(holds) {
            true => Fault::Unsupported(format!("code at {number:#x}, where no function is known")),
            false => Fault::BadCallee,
        }
    }

    /// The value of an expression, given those of the variables.
    pub fn evaluate<D: Domain>(&self, expr: &Expr, vars: &[D::Value], domain: &mut D) -> D::Value {
        let mut eval = |expr: &Expr| self.evaluate(expr, vars, domain);
        match expr {
            Expr::Const(bits) => domain.constant(*bits),
            Expr::Var(var) => vars[var.0 as usize].clone(),
            Expr::Address(global) => {
                let address = u128::from(self.addresses[global.0 as usize]);
                domain.constant(Bits::new(self.program.pointer_width, address))
            }
            Expr::FunctionAddress(function) => {
                domain.constant(self.program.function_address(*function))
            }
            Expr::Unary(op, value) => {
                let value = eval(value);
                domain.unary(*op, &value)
            }
            Expr::Binary(op, left, right) => {
                let (left, right) = (eval(left), eval(right));
                domain.binary(*op, &left, &right)
            }
            Expr::Extract { low, width, value } => {
                let value = eval(value);
                domain.extract(&value, *low, *width)
            }
            Expr::Concat { high, low } => {
                let (high, low) = (eval(high), eval(low));
                domain.concat(&high, &low)
            }
            Expr::ZeroExtend { width, value } => {
                let value = eval(value);
                domain.zero_extend(&value, *width)
            }
            Expr::SignExtend { width, value } => {
                let value = eval(value);
                domain.sign_extend(&value, *width)
            }
            Expr::Select { condition, then, otherwise } => {
                let (condition, then, otherwise) = (eval(condition), eval(then), eval(otherwise));
                domain.select(&condition, &then, &otherwise)
            }
        }
    }
}
