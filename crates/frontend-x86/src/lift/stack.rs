//! The stack, and flags as a word.

use iced_x86::{Code, Mnemonic};
use parallax_program::{AccessSize, Expr, InstKind, VarId};

use super::flags;
use super::registers::{AF, CF, DF, OF, PF, RAX, RBP, RSP, SF, View, ZF};
use super::{Lifted, Step};

/// The flags in the order of their bits in the flags word; what is 0 or 1 for programs is so.
const WORD: [Result<VarId, bool>; 12] = [
    Ok(CF),
    Err(true),
    Ok(PF),
    Err(false),
    Ok(AF),
    Err(false),
    Ok(ZF),
    Ok(SF),
    Err(false),
    Err(true),
    Ok(DF),
    Ok(OF),
];

/// Trap, nested task, alignment check, identification.
const FOREIGN: u128 = 1 << 8 | 1 << 14 | 1 << 18 | 1 << 21;

const HIGH_BYTE: View = View { var: RAX, low: 8, width: 8 };

impl Step<'_> {
    pub fn stack(&mut self) -> Lifted<bool> {
        match self.mnemonic() {
            Mnemonic::Push => self.push()?,
            Mnemonic::Pop => self.pop()?,
            Mnemonic::Leave => self.leave()?,
            Mnemonic::Pushfq | Mnemonic::Pushf => self.push_flags()?,
            Mnemonic::Popfq | Mnemonic::Popf => self.pop_flags()?,
            Mnemonic::Lahf => {
                let word = flags_word(8);
                self.out.write(HIGH_BYTE, word);
            }
            Mnemonic::Sahf => {
                let word = self.out.read(HIGH_BYTE);
                self.set_flags(word, 8);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Bytes that the instruction moves.
    fn stack_size(&self) -> Lifted<AccessSize> {
        let bytes = self.instruction.stack_pointer_increment().unsigned_abs();
        let size = AccessSize::from_bytes(bytes).filter(|size| matches!(size.bytes(), 2 | 8));
        size.ok_or_else(|| self.refused("moves an unusual number of bytes"))
    }

    fn push(&mut self) -> Lifted<()> {
        let size = self.stack_size()?;
        let value = self.source(0, size.bits())?;
        self.push_value(value, size);
        Ok(())
    }

    /// The value, held; the stack pointer has moved.
    fn pop_value(&mut self, size: AccessSize) -> Expr {
        let value = self.out.load(Expr::Var(RSP), size);
        let next = Expr::Var(RSP) + Expr::constant(64, size.bytes().into());
        self.out.assign(RSP, next);
        value
    }

    /// An address of the destination is computed after the stack pointer has moved.
    fn pop(&mut self) -> Lifted<()> {
        let size = self.stack_size()?;
        let value = self.pop_value(size);
        let place = self.place(0)?;
        self.write(&place, value);
        Ok(())
    }

    fn leave(&mut self) -> Lifted<()> {
        if self.instruction.code() != Code::Leaveq {
            return Err(self.refused("has an operand of unusual size"));
        }
        let value = self.out.load(Expr::Var(RBP), AccessSize::DOUBLE);
        self.out.assign(RSP, Expr::Var(RBP) + Expr::constant(64, 8));
        self.out.assign(RBP, value);
        Ok(())
    }

    fn push_flags(&mut self) -> Lifted<()> {
        let size = self.stack_size()?;
        let word = flags_word(12).zero_extend(size.bits());
        self.push_value(word, size);
        Ok(())
    }

    /// Programs that set flags which are not modelled go no further.
    fn pop_flags(&mut self) -> Lifted<()> {
        let size = self.stack_size()?;
        let word = self.pop_value(size);
        let width = size.bits();
        let foreign = word.clone() & Expr::constant(width, FOREIGN);
        let what = "popf that sets a flag which is not modelled".to_string();
        self.out.when(!flags::is_zero(foreign, width), |out| {
            out.builder().emit(InstKind::Unsupported { what });
        });
        self.set_flags(word, 12);
        Ok(())
    }

    /// The flags become the bits of a word, of which so many count.
    fn set_flags(&mut self, word: Expr, width: u32) {
        for (bit, flag) in (0..width).zip(WORD) {
            if let Ok(flag) = flag {
                self.out.assign(flag, word.clone().extract(bit, 1));
            }
        }
    }

    pub fn flag_moves(&mut self) -> Lifted<bool> {
        let (flag, value) = match self.mnemonic() {
            Mnemonic::Clc => (CF, flags::bit(false)),
            Mnemonic::Stc => (CF, flags::bit(true)),
            Mnemonic::Cmc => (CF, !Expr::Var(CF)),
            Mnemonic::Cld => (DF, flags::bit(false)),
            Mnemonic::Std => (DF, flags::bit(true)),
            _ => return Ok(false),
        };
        self.out.assign(flag, value);
        Ok(true)
    }
}

/// The lowest bits of the flags word.
fn flags_word(width: u32) -> Expr {
    let bit = |flag: &Result<VarId, bool>| match flag {
        Ok(flag) => Expr::Var(*flag),
        Err(value) => flags::bit(*value),
    };
    let mut bits = WORD.iter().take(width as usize).map(bit);
    let lowest = bits.next().unwrap_or(flags::bit(false));
    bits.fold(lowest, |low, high| high.concat(low))
}
