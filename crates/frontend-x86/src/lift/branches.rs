//! Jumps, calls, returns and traps.

use iced_x86::{Mnemonic, OpKind};
use parallax_program::{AccessSize, Expr};

use super::flags;
use super::registers::{RCX, RSP, View, ZF};
use super::{Flow, Lifted, Step, Target};

impl Step<'_> {
    /// None where the next instruction follows.
    pub fn branch(&mut self) -> Lifted<Option<Flow>> {
        let taken = self.instruction.near_branch_target();
        let code = self.instruction.condition_code();
        if self.instruction.op0_kind() == OpKind::NearBranch16 {
            return Err(self.refused("cuts its target to 16 bits"));
        }
        if self.instruction.is_jcc_short_or_near()
            && let Some(condition) = flags::condition(code)
        {
            return Ok(Some(Flow::Branch { condition, taken }));
        }
        Ok(Some(match self.mnemonic() {
            Mnemonic::Jmp if self.is_direct() => Flow::Jump(taken),
            Mnemonic::Jmp => Flow::IndirectJump(self.target()?),
            Mnemonic::Call => self.call()?,
            Mnemonic::Ret => self.ret()?,
            Mnemonic::Jrcxz => self.jump_counted(64, taken),
            Mnemonic::Jecxz => self.jump_counted(32, taken),
            Mnemonic::Loop | Mnemonic::Loope | Mnemonic::Loopne => self.count_down(taken),
            Mnemonic::Syscall => Flow::Syscall,
            Mnemonic::Ud0 => Flow::Trap("executes ud0"),
            Mnemonic::Ud1 => Flow::Trap("executes ud1"),
            Mnemonic::Ud2 => Flow::Trap("executes ud2"),
            Mnemonic::Int3 => Flow::Trap("executes int3"),
            Mnemonic::Hlt => Flow::Trap("executes hlt, which only the system may do"),
            _ => return Ok(None),
        }))
    }

    fn is_direct(&self) -> bool {
        self.instruction.op0_kind() == OpKind::NearBranch64
    }

    /// Where an indirect jump or call leads, held.
    fn target(&mut self) -> Lifted<Expr> {
        if self.width_of_first()? != 64 {
            return Err(self.refused("jumps with an operand of unusual size"));
        }
        let target = self.source(0, 64)?;
        Ok(self.out.hold(64, target))
    }

    fn call(&mut self) -> Lifted<Flow> {
        let target = match self.is_direct() {
            true => Target::Direct(self.instruction.near_branch_target()),
            false => Target::Indirect(self.target()?),
        };
        let back = Expr::constant(64, self.instruction.next_ip().into());
        self.push_value(back, AccessSize::DOUBLE);
        Ok(Flow::Call(target))
    }

    fn ret(&mut self) -> Lifted<Flow> {
        let extra = match self.instruction.op_count() {
            0 => 0,
            _ => self.immediate(0)?,
        };
        let address = self.out.load(Expr::Var(RSP), AccessSize::DOUBLE);
        let popped = Expr::constant(64, (8 + extra).into());
        self.out.assign(RSP, Expr::Var(RSP) + popped);
        Ok(Flow::Return { address })
    }

    fn jump_counted(&mut self, width: u32, taken: u64) -> Flow {
        let count = self.out.read(View { var: RCX, low: 0, width });
        Flow::Branch { condition: flags::is_zero(count, width), taken }
    }

    /// `loop` and its kin; the address size says how wide the counter is.
    fn count_down(&mut self, taken: u64) -> Flow {
        use iced_x86::Code::*;
        let narrow = matches!(
            self.instruction.code(),
            Loop_rel8_64_ECX | Loope_rel8_64_ECX | Loopne_rel8_64_ECX
        );
        let width = if narrow { 32 } else { 64 };
        let counter = View { var: RCX, low: 0, width };
        let less = self.out.read(counter) - Expr::constant(width, 1);
        self.out.write(counter, less);
        let more = !flags::is_zero(self.out.read(counter), width);
        let condition = match self.mnemonic() {
            Mnemonic::Loope => more & Expr::Var(ZF),
            Mnemonic::Loopne => more & !Expr::Var(ZF),
            _ => more,
        };
        Flow::Branch { condition, taken }
    }

    /// The value may depend on the stack pointer as it was.
    pub fn push_value(&mut self, value: Expr, size: AccessSize) {
        let top = Expr::Var(RSP) - Expr::constant(64, size.bytes().into());
        self.out.store(top.clone(), value, size);
        self.out.assign(RSP, top);
    }
}
