//! One lifted function: its blocks, and how they are connected.

use std::collections::BTreeMap;

use iced_x86::{FlowControl, Instruction};
use parallax_program::{
    AccessSize, BlockId, Callee, Expr, Function, InstKind, Property, Terminator, VarId,
};

use super::Builder;
use super::foreign::At;
use crate::code::{Block, Constants, FunctionCode};
use crate::elf::Slot;
use crate::lift::registers::RSP;
use crate::lift::{Flow, Sequence, Target, lift, remove_dead};

/// A function on its way.
pub struct Body<'b, 'a> {
    pub builder: &'b mut Builder<'a>,
    pub out: Sequence,
    code: &'b FunctionCode,
    blocks: BTreeMap<u64, BlockId>,
    /// Where this activation has to return to.
    return_address: VarId,
    pub constants: Constants,
}

impl Builder<'_> {
    pub fn function(&mut self, code: &FunctionCode) -> Function {
        let name = self.image.symbols.place(code.entry);
        let name = self.unused(&name);
        let heading = self.listing.heading(&format!("{name}:"));
        let mut out = Sequence::new(&name);
        out.builder().at(heading);
        let mut body = Body::new(self, out, code);
        body.begin();
        for (address, block) in &code.blocks {
            body.block(*address, block);
        }
        let mut function = body.out.finish();
        remove_dead(&mut function);
        function.address = Some(code.entry);
        function
    }
}

impl<'b, 'a> Body<'b, 'a> {
    pub fn new(
        builder: &'b mut Builder<'a>,
        mut out: Sequence,
        code: &'b FunctionCode,
    ) -> Body<'b, 'a> {
        let return_address = out.builder().var("return address", 64);
        let blocks = code.blocks.keys();
        let blocks = blocks.map(|at| (*at, out.builder().new_block(&format!("{at:x}")))).collect();
        let constants = Constants::new();
        Body { builder, out, code, blocks, return_address, constants }
    }

    pub fn emit(&mut self, kind: InstKind) {
        self.out.builder().emit(kind);
    }

    fn begin(&mut self) {
        let place = Expr::Var(RSP);
        let back = self.out.load(place, AccessSize::DOUBLE);
        self.out.assign(self.return_address, back);
        self.jump(self.code.entry);
    }

    fn block(&mut self, address: u64, block: &Block) {
        self.constants.forget();
        if let Some(id) = self.blocks.get(&address) {
            self.out.builder().enter(*id);
        }
        for instruction in &block.instructions {
            let span = self.builder.listing.instruction(instruction);
            self.out.builder().at(span);
            let ended = self.instruction(instruction);
            self.constants.step(instruction);
            if ended {
                return;
            }
        }
        match block.broken {
            Some(reason) => self.broken(block.next, reason),
            None => self.jump(block.next),
        }
    }

    fn broken(&mut self, address: u64, reason: &str) {
        let span = self.builder.listing.place(address, &format!("({reason})"));
        self.out.builder().at(span);
        self.refuse(format!("the code at {address:#x} {reason}"));
    }

    /// Reaching this makes the result unknown.
    pub fn refuse(&mut self, what: String) {
        self.emit(InstKind::Unsupported { what });
        self.out.builder().terminate(Terminator::Exit);
    }

    /// True where the block ends here.
    fn instruction(&mut self, instruction: &Instruction) -> bool {
        if let Some(Slot::Missing(name)) = self.builder.calls.slot_of(instruction) {
            self.refuse(format!("the use of '{name}', which nothing defines"));
            return true;
        }
        if let Some(name) = self.builder.calls.called(instruction).map(str::to_string) {
            return self.call_foreign(instruction, &name);
        }
        if let Some(target) = self.known_target(instruction) {
            return self.call_known(instruction, target);
        }
        match lift(instruction, &mut self.out) {
            Ok(flow) => self.flow(instruction, flow),
            Err(refused) => {
                let bytes = self.builder.image.code(instruction.ip());
                let bytes = bytes.get(..instruction.len()).unwrap_or_default();
                self.refuse(refused.message(bytes));
                true
            }
        }
    }

    fn call_foreign(&mut self, instruction: &Instruction, name: &str) -> bool {
        let jumps = matches!(
            instruction.flow_control(),
            FlowControl::UnconditionalBranch | FlowControl::IndirectBranch
        );
        let ends = self.foreign_call(name, if jumps { At::Entry } else { At::Call });
        self.constants.forget();
        if ends {
            return true;
        }
        if jumps {
            self.pop_and_return();
        }
        jumps
    }

    /// The function of the program that a call or jump through a filled word leads to.
    fn known_target(&self, instruction: &Instruction) -> Option<u64> {
        let through = matches!(
            instruction.flow_control(),
            FlowControl::IndirectCall | FlowControl::IndirectBranch
        );
        let target = self.builder.calls.slot(instruction).filter(|_| through)?;
        self.builder.ids.contains_key(&target).then_some(target)
    }

    fn call_known(&mut self, instruction: &Instruction, target: u64) -> bool {
        if instruction.flow_control() == FlowControl::IndirectBranch {
            self.tail(target);
            return true;
        }
        let rsp = Expr::Var(RSP);
        self.out.assign(RSP, rsp - Expr::constant(64, 8));
        let back = Expr::constant(64, instruction.next_ip().into());
        self.out.store(Expr::Var(RSP), back, AccessSize::DOUBLE);
        self.call(target);
        false
    }

    fn flow(&mut self, instruction: &Instruction, flow: Flow) -> bool {
        match flow {
            Flow::Next => return false,
            Flow::Jump(target) => self.jump(target),
            Flow::Branch { condition, taken } => {
                self.branch(condition, taken, instruction.next_ip());
            }
            Flow::IndirectJump(target) => self.indirect_jump(target),
            Flow::Call(Target::Direct(target)) => {
                self.call(target);
                return false;
            }
            Flow::Call(Target::Indirect(target)) => {
                let callee = Callee::Indirect(target);
                self.emit(InstKind::Call { dst: None, callee, args: Vec::new() });
                self.constants.forget();
                return false;
            }
            Flow::Return { address } => self.leave(address),
            Flow::Syscall => return self.system_call(),
            Flow::Trap(what) => {
                let message = format!("the program {what}");
                self.fail(&message, Property::Assert);
            }
        }
        true
    }

    /// What happens is wrong, and nothing comes after it.
    pub fn fail(&mut self, message: &str, property: Property) {
        let never = Expr::constant(1, 0);
        let message = message.to_string();
        self.emit(InstKind::Assert { condition: never.clone(), message, property });
        self.emit(InstKind::Assume { condition: never });
        self.out.builder().terminate(Terminator::Exit);
    }

    /// Calls a function of the program; its return address is on the stack.
    fn call(&mut self, target: u64) {
        self.constants.forget();
        let target = self.builder.calls.behind(target);
        match self.builder.ids.get(&target) {
            Some(id) => {
                let callee = Callee::Direct(*id);
                self.emit(InstKind::Call { dst: None, callee, args: Vec::new() });
            }
            None => self.emit(InstKind::Unsupported {
                what: format!("a call of {target:#x}, which is no code of the program"),
            }),
        }
    }

    /// Goes to an address, in this function or another.
    fn jump(&mut self, target: u64) {
        match self.blocks.get(&target) {
            Some(block) => self.out.builder().terminate(Terminator::Jump(*block)),
            None => self.tail(target),
        }
    }

    /// Goes to another function, which returns to where this one would.
    fn tail(&mut self, target: u64) {
        if let Some(name) = self.builder.calls.foreign(target).map(str::to_string) {
            if !self.foreign_call(&name, At::Entry) {
                self.pop_and_return();
            }
            return;
        }
        self.call(target);
        self.out.builder().terminate(Terminator::Return(None));
    }

    fn branch(&mut self, condition: Expr, taken: u64, next: u64) {
        let (then, then_made) = self.block_for(taken);
        let (otherwise, otherwise_made) = self.block_for(next);
        let end = Terminator::Branch { condition, then, otherwise, join: None };
        self.out.builder().terminate(end);
        for (block, target, made) in [(then, taken, then_made), (otherwise, next, otherwise_made)] {
            if made {
                self.out.builder().enter(block);
                self.tail(target);
            }
        }
    }

    /// The block at an address, or one that leads there, which is to be filled.
    fn block_for(&mut self, target: u64) -> (BlockId, bool) {
        match self.blocks.get(&target) {
            Some(block) => (*block, false),
            None => (self.out.builder().new_block(&format!("to.{target:x}")), true),
        }
    }

    /// Looks the target up among the blocks that it may be; otherwise it is another function.
    fn indirect_jump(&mut self, target: Expr) {
        let known: Vec<(u64, BlockId)> = self
            .code
            .targets
            .iter()
            .filter_map(|at| self.blocks.get(at).map(|block| (*at, *block)))
            .collect();
        let target = self.out.hold(64, target);
        let other = self.out.builder().new_block("elsewhere");
        self.decide(&target, &known, other);
        self.out.builder().enter(other);
        self.emit(InstKind::Call { dst: None, callee: Callee::Indirect(target), args: Vec::new() });
        self.out.builder().terminate(Terminator::Return(None));
    }

    /// A search by halves; tables are small, so it is not deep.
    fn decide(&mut self, target: &Expr, known: &[(u64, BlockId)], other: BlockId) {
        let middle = known.len() / 2;
        let (below, above) = known.split_at(middle);
        match known {
            [] => self.out.builder().terminate(Terminator::Jump(other)),
            [(address, block)] => {
                let condition = target.clone().eq(Expr::constant(64, (*address).into()));
                let (then, otherwise) = (*block, other);
                let end = Terminator::Branch { condition, then, otherwise, join: None };
                self.out.builder().terminate(end);
            }
            _ => {
                let first = above.first().map_or(0, |(address, _)| *address);
                let first = Expr::constant(64, first.into());
                let lower = parallax_program::BinaryOp::Ult;
                let condition = Expr::binary(lower, target.clone(), first);
                let then = self.out.builder().new_block("below");
                let otherwise = self.out.builder().new_block("above");
                let end = Terminator::Branch { condition, then, otherwise, join: None };
                self.out.builder().terminate(end);
                self.out.builder().enter(then);
                self.decide(target, below, other);
                self.out.builder().enter(otherwise);
                self.decide(target, above, other);
            }
        }
    }

    /// Returns, if that is where this activation was called from.
    fn leave(&mut self, address: Expr) {
        let condition = address.eq(Expr::Var(self.return_address));
        let good = self.out.builder().new_block("return");
        let bad = self.out.builder().new_block("astray");
        let end = Terminator::Branch { condition, then: good, otherwise: bad, join: None };
        self.out.builder().terminate(end);
        self.out.builder().enter(bad);
        let what = "a return to where the function was not called from";
        self.refuse(what.to_string());
        self.out.builder().enter(good);
        self.out.builder().terminate(Terminator::Return(None));
    }

    /// What `ret` does, after a foreign function in whose place control went there.
    fn pop_and_return(&mut self) {
        self.out.forget();
        let back = self.out.load(Expr::Var(RSP), AccessSize::DOUBLE);
        self.out.assign(RSP, Expr::Var(RSP) + Expr::constant(64, 8));
        self.leave(back);
    }
}
