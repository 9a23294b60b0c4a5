//! Bit-vectors of 1 to 128 bits, the only concrete values that programs compute with.

use std::fmt;

/// A bit-vector: `value` modulo 2^`width`, with 1 ≤ `width` ≤ 128.
///
/// What a program reads before anybody has written it is a value that nobody knows. Such a vector
/// has zeros for a value, and so says that they mean nothing; what is computed from it is unknown
/// as well. Where only a part is unknown, it is not kept which one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Bits {
    width: u32,
    open: Open,
    /// The reads that it comes from, by a number for each, where somebody follows that.
    from: u64,
    value: u128,
}

/// How much of a value nobody knows.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Open {
    Nothing,
    /// Something, perhaps.
    Part,
    All,
}

impl Bits {
    pub const MAX_WIDTH: u32 = 128;

    /// The low `width` bits of `value`. A width outside 1..=128 is clamped into it.
    pub fn new(width: u32, value: u128) -> Bits {
        let width = width.clamp(1, Self::MAX_WIDTH);
        Bits { width, open: Open::Nothing, from: 0, value: value & mask(width) }
    }

    /// A value that nobody has given.
    pub fn undefined(width: u32) -> Bits {
        Bits { open: Open::All, ..Bits::zero(width) }
    }

    pub fn is_undefined(self) -> bool {
        self.open != Open::Nothing
    }

    pub fn open(self) -> Open {
        self.open
    }

    /// The same, or a value of which so much is unknown.
    #[inline]
    pub fn opened(self, open: Open) -> Bits {
        match open {
            Open::Nothing => self,
            open => Bits { open, ..Bits::zero(self.width) },
        }
    }

    /// The reads that the value comes from. Nothing that is done here with values keeps them.
    pub fn from(self) -> u64 {
        self.from
    }

    /// The same value, from these reads.
    #[inline]
    pub fn coming_from(self, from: u64) -> Bits {
        Bits { from, ..self }
    }

    /// The same, or a value that nobody knows where what it was computed from is one.
    #[inline]
    pub fn unless(self, undefined: bool) -> Bits {
        if undefined { Bits::undefined(self.width) } else { self }
    }

    /// `value` in two's complement.
    pub fn signed(width: u32, value: i128) -> Bits {
        Bits::new(width, value as u128)
    }

    pub fn bool(value: bool) -> Bits {
        Bits::new(1, value as u128)
    }

    pub fn zero(width: u32) -> Bits {
        Bits::new(width, 0)
    }

    pub fn width(self) -> u32 {
        self.width
    }

    /// The value as an unsigned number.
    pub fn unsigned(self) -> u128 {
        self.value
    }

    /// The value as a number in two's complement.
    pub fn to_signed(self) -> i128 {
        let unused = 128 - self.width;
        ((self.value << unused) as i128) >> unused
    }

    pub fn is_zero(self) -> bool {
        self.value == 0
    }

    pub fn zero_extend(self, width: u32) -> Bits {
        Bits::new(width, self.value).opened(self.open)
    }

    pub fn sign_extend(self, width: u32) -> Bits {
        Bits::signed(width, self.to_signed()).opened(self.open)
    }

    /// Bits `low .. low + width`, as a vector of that width.
    pub fn extract(self, low: u32, width: u32) -> Bits {
        Bits::new(width, if low >= 128 { 0 } else { self.value >> low }).opened(self.open)
    }

    /// `self` above `low`.
    pub fn concat(self, low: Bits) -> Bits {
        let high = if low.width >= 128 { 0 } else { self.value << low.width };
        let whole = Bits::new(self.width + low.width, high | low.value);
        whole.opened(if self.open == low.open { self.open } else { Open::Part })
    }
}

fn mask(width: u32) -> u128 {
    if width >= 128 { u128::MAX } else { (1 << width) - 1 }
}

impl fmt::Display for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.value, self.width)
    }
}

impl fmt::Debug for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_wrap_at_their_width() {
        assert_eq!(Bits::new(8, 0x1ff).unsigned(), 0xff);
        assert_eq!(Bits::signed(8, -1).unsigned(), 0xff);
        assert_eq!(Bits::new(8, 0xff).to_signed(), -1);
        assert_eq!(Bits::new(128, u128::MAX).to_signed(), -1);
    }

    #[test]
    fn what_nobody_has_written_stays_unknown() {
        let unknown = Bits::undefined(8);
        assert!(unknown.zero_extend(16).is_undefined() && unknown.extract(0, 4).is_undefined());
        assert!(Bits::new(8, 1).concat(unknown).is_undefined());
        assert_ne!(unknown, Bits::zero(8));
    }

    #[test]
    fn parts_and_wholes() {
        let word = Bits::new(16, 0xabcd);
        let (high, low) = (word.extract(8, 8), word.extract(0, 8));
        assert_eq!((high.unsigned(), low.unsigned()), (0xab, 0xcd));
        assert_eq!(high.concat(low), word);
        assert_eq!(high.sign_extend(16).unsigned(), 0xffab);
        assert_eq!(high.zero_extend(16).unsigned(), 0x00ab);
    }
}
