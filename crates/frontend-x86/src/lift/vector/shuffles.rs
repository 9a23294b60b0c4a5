//! Instructions that put parts of vectors into other places.

use iced_x86::Mnemonic;
use parallax_program::Expr;

use super::super::{Lifted, Step};
use super::integer::saturate;
use super::{join, lanes};

impl Step<'_> {
    pub(super) fn shuffles(&mut self) -> Lifted<bool> {
        use Mnemonic::*;
        match self.mnemonic() {
            Punpcklbw => self.interleave(8, false)?,
            Punpcklwd => self.interleave(16, false)?,
            Punpckldq | Unpcklps => self.interleave(32, false)?,
            Punpcklqdq | Unpcklpd => self.interleave(64, false)?,
            Punpckhbw => self.interleave(8, true)?,
            Punpckhwd => self.interleave(16, true)?,
            Punpckhdq | Unpckhps => self.interleave(32, true)?,
            Punpckhqdq | Unpckhpd => self.interleave(64, true)?,
            Packsswb => self.pack(8, true)?,
            Packssdw => self.pack(16, true)?,
            Packuswb => self.pack(8, false)?,
            Pshufd => self.shuffle_words(32, 0)?,
            Pshuflw => self.shuffle_words(16, 0)?,
            Pshufhw => self.shuffle_words(16, 4)?,
            Shufps => self.shuffle_pairs(32)?,
            Shufpd => self.shuffle_pairs(64)?,
            Pinsrw => self.insert_word()?,
            Pextrw => self.extract_word()?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The lanes of both operands in turn, from their lower or upper halves.
    fn interleave(&mut self, width: u32, high: bool) -> Lifted<()> {
        let (left, right) = (self.vector(0)?, self.vector(1)?);
        let half = (64 / width) as usize;
        let from = if high { half } else { 0 };
        let (left, right) = (lanes(&left, width), lanes(&right, width));
        let pairs = left.into_iter().zip(right).skip(from).take(half);
        self.set_vector(join(pairs.flat_map(|(left, right)| [left, right])))
    }

    /// All lanes of both operands at half their width, as the nearest numbers that fit.
    fn pack(&mut self, width: u32, signed: bool) -> Lifted<()> {
        let (left, right) = (self.vector(0)?, self.vector(1)?);
        let wide = lanes(&left, 2 * width).into_iter().chain(lanes(&right, 2 * width));
        self.set_vector(join(wide.map(|lane| saturate(lane, width, signed))))
    }

    /// Four lanes from a first one on, each chosen among the four by two bits.
    fn shuffle_words(&mut self, width: u32, first: usize) -> Lifted<()> {
        let value = self.vector(1)?;
        let choice = self.immediate(2)?;
        let old = lanes(&value, width);
        let mut new = old.clone();
        for (position, lane) in new.iter_mut().skip(first).take(4).enumerate() {
            let chosen = (choice >> (2 * position) & 3) as usize;
            if let Some(old) = old.get(first + chosen) {
                *lane = old.clone();
            }
        }
        self.set_vector(join(new))
    }

    /// The lower half from the first operand, the upper from the second, by choice.
    fn shuffle_pairs(&mut self, width: u32) -> Lifted<()> {
        let (left, right) = (self.vector(0)?, self.vector(1)?);
        let choice = self.immediate(2)? as u32;
        let (count, bits) = if width == 32 { (4, 2) } else { (2, 1) };
        let lane = |position: u32| {
            let from = if position < count / 2 { &left } else { &right };
            let chosen = choice >> (bits * position) & (count - 1);
            from.clone().extract(chosen * width, width)
        };
        let result = join((0..count).map(lane));
        self.set_vector(result)
    }

    fn insert_word(&mut self) -> Lifted<()> {
        let from = self.place(1)?;
        let value = self.read(&from).extract(0, 16);
        let position = (self.immediate(2)? & 7) as usize;
        let vector = self.vector(0)?;
        let words = lanes(&vector, 16).into_iter().enumerate();
        let replaced = |(number, word): (usize, Expr)| match number == position {
            true => value.clone(),
            false => word,
        };
        self.set_vector(join(words.map(replaced)))
    }

    fn extract_word(&mut self) -> Lifted<()> {
        let position = (self.immediate(2)? & 7) as u32;
        let word = self.vector(1)?.extract(position * 16, 16);
        let to = self.place(0)?;
        let value = if to.width() > 16 { word.zero_extend(to.width()) } else { word };
        self.write(&to, value);
        Ok(())
    }
}
