//! Moves between general registers and memory, sign and zero extension, fences and hints.

use iced_x86::Mnemonic;
use parallax_program::{AccessSize, Expr, InstKind, Tags, UnaryOp};

use super::flags;
use super::operands::Place;
use super::registers::{RAX, RBX, RDX, View};
use super::{Lifted, Step};

impl Step<'_> {
    pub fn moves(&mut self) -> Lifted<bool> {
        match self.mnemonic() {
            Mnemonic::Mov => self.mov(None)?,
            Mnemonic::Movbe => self.mov(Some(UnaryOp::ByteSwap))?,
            Mnemonic::Movzx => self.extend(false)?,
            Mnemonic::Movsx | Mnemonic::Movsxd => self.extend(true)?,
            Mnemonic::Movnti => self.store_past_cache()?,
            Mnemonic::Lea => self.lea()?,
            Mnemonic::Bswap => self.swap_bytes()?,
            Mnemonic::Xlatb => self.translate(),
            Mnemonic::Cbw => self.extend_accumulator(16),
            Mnemonic::Cwde => self.extend_accumulator(32),
            Mnemonic::Cdqe => self.extend_accumulator(64),
            Mnemonic::Cwd => self.spread_sign(16),
            Mnemonic::Cdq => self.spread_sign(32),
            Mnemonic::Cqo => self.spread_sign(64),
            _ => return self.conditional_moves(),
        }
        Ok(true)
    }

    /// Fences are events; hints do nothing, nor do reads of the shadow stack's pointer where there
    /// is no shadow stack.
    pub fn fences(&mut self) -> Lifted<bool> {
        match self.mnemonic() {
            Mnemonic::Mfence => self.out.fence("MFENCE"),
            Mnemonic::Lfence => self.out.fence("LFENCE"),
            Mnemonic::Sfence => self.out.fence("SFENCE"),
            Mnemonic::Nop
            | Mnemonic::Pause
            | Mnemonic::Endbr64
            | Mnemonic::Endbr32
            | Mnemonic::Rdsspd
            | Mnemonic::Rdsspq
            | Mnemonic::Prefetchnta
            | Mnemonic::Prefetcht0
            | Mnemonic::Prefetcht1
            | Mnemonic::Prefetcht2
            | Mnemonic::Prefetchw => {}
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn conditional_moves(&mut self) -> Lifted<bool> {
        let code = self.instruction.condition_code();
        let Some(condition) = flags::condition(code) else {
            return Ok(false);
        };
        match self.instruction.op_count() {
            1 => {
                let place = self.place(0)?;
                self.write(&place, condition.zero_extend(8));
            }
            2 => self.conditional_move(condition)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The source is read in any case, and the upper half of the register cleared.
    fn conditional_move(&mut self, condition: Expr) -> Lifted<()> {
        let width = self.width_of_first()?;
        let value = self.source(1, width)?;
        let place = self.place(0)?;
        let kept = self.read(&place);
        self.write(&place, condition.select(value, kept));
        Ok(())
    }

    fn mov(&mut self, op: Option<UnaryOp>) -> Lifted<()> {
        let width = self.width_of_first()?;
        let value = self.source(1, width)?;
        let value = match op {
            Some(op) => Expr::unary(op, value),
            None => value,
        };
        let place = self.place(0)?;
        self.write(&place, value);
        Ok(())
    }

    fn extend(&mut self, signed: bool) -> Lifted<()> {
        let width = self.width_of_first()?;
        let from = self.place(1)?;
        let value = self.read(&from);
        let value = match (from.width() < width, signed) {
            (false, _) => value,
            (true, true) => value.sign_extend(width),
            (true, false) => value.zero_extend(width),
        };
        let place = self.place(0)?;
        self.write(&place, value);
        Ok(())
    }

    fn store_past_cache(&mut self) -> Lifted<()> {
        let place = self.place(0)?;
        let value = self.source(1, place.width())?;
        self.store_tagged(&place, value)
    }

    /// A store that models of weaker memory may distinguish from others.
    pub fn store_tagged(&mut self, place: &Place, value: Expr) -> Lifted<()> {
        let Place::Memory { address, size } = place.clone() else {
            return Err(self.refused("has an operand of another kind"));
        };
        let tags = Tags::new(["NT"]);
        self.out.builder().emit(InstKind::Store { address, value, size, tags });
        Ok(())
    }

    fn lea(&mut self) -> Lifted<()> {
        let address = self.offset()?;
        let place = self.place(0)?;
        self.write(&place, address.resize(64, place.width()));
        Ok(())
    }

    fn swap_bytes(&mut self) -> Lifted<()> {
        let width = self.width_of_first()?;
        if width == 16 {
            return Err(self.refused("of 16 bits is undefined"));
        }
        let value = self.source(0, width)?;
        let place = self.place(0)?;
        self.write(&place, Expr::unary(UnaryOp::ByteSwap, value));
        Ok(())
    }

    /// A byte of the table at RBX.
    fn translate(&mut self) {
        let narrow = self.instruction.memory_base().is_gpr32();
        let index = self.out.read(View { var: RAX, low: 0, width: 8 }).zero_extend(64);
        let sum = Expr::Var(RBX) + index;
        let sum = if narrow { sum.extract(0, 32).zero_extend(64) } else { sum };
        let address = self.in_segment(sum);
        let value = self.out.load(address, AccessSize::BYTE);
        self.out.write(View { var: RAX, low: 0, width: 8 }, value);
    }

    fn extend_accumulator(&mut self, width: u32) {
        let half = self.out.read(View { var: RAX, low: 0, width: width / 2 });
        self.out.write(View { var: RAX, low: 0, width }, half.sign_extend(width));
    }

    fn spread_sign(&mut self, width: u32) {
        let value = self.out.read(View { var: RAX, low: 0, width });
        let sign = flags::top_bit(value, width).sign_extend(width);
        self.out.write(View { var: RDX, low: 0, width }, sign);
    }
}
