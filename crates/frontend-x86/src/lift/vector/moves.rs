//! Moves of vectors and of their parts.

use iced_x86::Mnemonic;
use parallax_program::Expr;

use super::super::operands::Place;
use super::super::{Lifted, Step};
use super::{join, lanes};

impl Step<'_> {
    pub(super) fn vector_moves(&mut self) -> Lifted<bool> {
        match self.mnemonic() {
            Mnemonic::Movdqa | Mnemonic::Movaps | Mnemonic::Movapd => self.move_whole(true)?,
            Mnemonic::Movdqu | Mnemonic::Movups | Mnemonic::Movupd | Mnemonic::Lddqu => {
                self.move_whole(false)?
            }
            Mnemonic::Movntdqa => self.move_whole(true)?,
            Mnemonic::Movntdq | Mnemonic::Movntps | Mnemonic::Movntpd => self.move_past_cache()?,
            Mnemonic::Movq => self.move_low(64)?,
            Mnemonic::Movd => self.move_low(32)?,
            Mnemonic::Movss => self.move_scalar(32)?,
            Mnemonic::Movsd if !self.instruction.is_string_instruction() => self.move_scalar(64)?,
            Mnemonic::Movlps | Mnemonic::Movlpd => self.move_half(0)?,
            Mnemonic::Movhps | Mnemonic::Movhpd => self.move_half(64)?,
            Mnemonic::Movhlps => {
                let high = self.vector(1)?.extract(64, 64);
                self.set_low(high, 64)?;
            }
            Mnemonic::Movlhps => self.move_to_high()?,
            Mnemonic::Movmskps => self.signs(32)?,
            Mnemonic::Movmskpd => self.signs(64)?,
            Mnemonic::Pmovmskb => self.signs(8)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn move_whole(&mut self, aligned: bool) -> Lifted<()> {
        let from = self.place(1)?;
        let to = self.place(0)?;
        for place in [&from, &to] {
            if let (Place::Memory { address, .. }, true) = (place, aligned) {
                self.require_aligned(&address.clone());
            }
        }
        if from.width() != to.width() {
            return Err(self.refused("has operands of different sizes"));
        }
        let value = self.read(&from);
        self.write(&to, value);
        Ok(())
    }

    fn move_past_cache(&mut self) -> Lifted<()> {
        let value = self.vector(1)?;
        let to = self.place(0)?;
        if let Place::Memory { address, .. } = &to {
            self.require_aligned(&address.clone());
        }
        self.store_tagged(&to, value)
    }

    /// Between a vector and anything; what is above in a vector becomes zero.
    fn move_low(&mut self, width: u32) -> Lifted<()> {
        let value = self.low_part(1, width)?;
        let to = self.place(0)?;
        let value = if to.width() > width { value.zero_extend(to.width()) } else { value };
        self.write(&to, value);
        Ok(())
    }

    /// From memory, what is above becomes zero; from a register, it stays.
    fn move_scalar(&mut self, width: u32) -> Lifted<()> {
        let value = self.low_part(1, width)?;
        if self.in_memory(1) {
            return self.set_vector(value.zero_extend(128));
        }
        let to = self.place(0)?;
        if to.width() == 128 {
            return self.set_low(value, width);
        }
        self.write(&to, value);
        Ok(())
    }

    /// Between memory and the half that starts at that bit.
    fn move_half(&mut self, low: u32) -> Lifted<()> {
        if self.in_memory(0) {
            let value = self.vector(1)?.extract(low, 64);
            let to = self.place(0)?;
            self.write(&to, value);
            return Ok(());
        }
        let value = self.low_part(1, 64)?;
        let kept = self.vector(0)?.extract(64 - low, 64);
        self.set_vector(if low == 0 { kept.concat(value) } else { value.concat(kept) })
    }

    fn move_to_high(&mut self) -> Lifted<()> {
        let (low, high) = (self.vector(0)?.extract(0, 64), self.vector(1)?.extract(0, 64));
        self.set_vector(high.concat(low))
    }

    /// The top bits of all lanes, in a general register.
    fn signs(&mut self, width: u32) -> Lifted<()> {
        let value = self.vector(1)?;
        let signs = lanes(&value, width).into_iter().map(|lane| lane.extract(width - 1, 1));
        let to = self.place(0)?;
        let mask: Expr = join(signs);
        self.write(&to, mask.zero_extend(to.width()));
        Ok(())
    }
}
