//! Sets of numbers: intervals with a stride, and a multiple of the number of the running thread.
//!
//! `mine·t + lo + k·step` up to `hi`, where `t` is the thread's number. Numbers are integers that stand
//! for bit vectors: they are right modulo 2^width. Strided intervals are those of G. Balakrishnan and
//! T. Reps, "Analyzing memory accesses in x86 executables", CC 2004; they keep the fields of the
//! elements of an array apart. The thread's number is there for thread-local variables, which are
//! arrays with an element for each thread.

use parallax_program::Bits;

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Num {
    pub mine: i128,
    pub lo: i128,
    pub hi: i128,
    /// 0 for a single number.
    pub step: i128,
}

/// The widest interval that is distinguished from all numbers.
const WIDEST: u32 = 100;

fn size(width: u32) -> i128 {
    1 << width.min(WIDEST)
}

pub fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.abs(), b.abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

impl Num {
    pub fn one(value: i128) -> Num {
        Num { mine: 0, lo: value, hi: value, step: 0 }
    }

    /// The number of the running thread.
    pub fn me() -> Num {
        Num { mine: 1, ..Num::one(0) }
    }

    pub fn constant(bits: Bits) -> Num {
        if bits.is_undefined() || bits.width() >= WIDEST && bits.unsigned() >= 1 << (WIDEST - 2) {
            return Num::all(bits.width());
        }
        Num::one(bits.unsigned() as i128)
    }

    pub fn all(width: u32) -> Num {
        Num { mine: 0, lo: 0, hi: size(width) - 1, step: 1 }
    }

    pub fn range(lo: i128, hi: i128) -> Num {
        Num { mine: 0, lo, hi, step: if lo == hi { 0 } else { 1 } }
    }

    /// All numbers of the width, where there are as many in the set.
    fn fitted(self, width: u32) -> Num {
        let is_large = |n: i128| n.abs() >= 4 * size(width);
        if self.hi - self.lo >= size(width) - 1 || is_large(self.lo) || is_large(self.hi) {
            return Num::all(width);
        }
        if self.mine.abs() >= size(width) {
            return Num::all(width);
        }
        self.near_zero(width)
    }

    /// The same numbers modulo 2^width without what all of them are too large or too small by: a counter
    /// that goes up and down, where down is a large number up, comes back to where it was.
    fn near_zero(self, width: u32) -> Num {
        let by = match (self.lo >= size(width), self.hi < -size(width) / 2) {
            (true, _) => -self.lo.div_euclid(size(width)),
            (_, true) => (-self.hi).div_euclid(size(width)).max(1),
            _ => 0,
        };
        let by = by * size(width);
        Num { lo: self.lo + by, hi: self.hi + by, ..self }
    }

    pub fn is_all(&self, width: u32) -> bool {
        self.hi - self.lo >= size(width) - 1
    }

    /// The only number in the set.
    pub fn single(&self) -> Option<i128> {
        (self.lo == self.hi && self.mine == 0).then_some(self.lo)
    }

    /// The same without the multiple of the thread's number, which is `most` at most.
    pub fn spread(self, most: i128) -> Num {
        if self.mine == 0 {
            return self;
        }
        let reach = self.mine.saturating_mul(most);
        let (lo, hi) = (self.lo + reach.min(0), self.hi + reach.max(0));
        let step = gcd(self.step, self.mine);
        Num { mine: 0, lo, hi, step: if lo == hi { 0 } else { step.max(1) } }
    }

    pub fn join(self, other: Num) -> Num {
        if self == other {
            return self;
        }
        if self.mine != other.mine {
            let most = i128::from(parallax_program::Program::MOST_THREADS);
            return self.spread(most).join(other.spread(most));
        }
        let step = gcd(gcd(self.step, other.step), self.lo - other.lo);
        let (lo, hi) = (self.lo.min(other.lo), self.hi.max(other.hi));
        Num { mine: self.mine, lo, hi, step }
    }

    /// An upper bound that is reached after few steps: ends go to the next of the landmarks.
    pub fn widen(self, next: Num, width: u32, landmarks: &[i128]) -> Num {
        let joined = self.join(next).fitted(width);
        if joined.mine != self.mine || joined == self {
            return joined;
        }
        let step = joined.step.max(1);
        let down = |to: i128| (joined.lo - to).div_euclid(step);
        let up = |to: i128| (to - joined.hi).div_euclid(step);
        let mut wide = joined;
        if joined.lo < self.lo {
            let below = landmarks.iter().rev().find(|mark| **mark <= joined.lo);
            wide.lo = below.map_or(-size(width), |mark| joined.lo - down(*mark) * step);
        }
        if joined.hi > self.hi {
            let above = landmarks.iter().find(|mark| **mark >= joined.hi);
            wide.hi = above.map_or(size(width) * 2, |mark| joined.hi + up(*mark) * step);
        }
        wide.fitted(width)
    }

    /// Both ends as unsigned numbers.
    pub fn unsigned(self, width: u32, most: i128) -> (i128, i128) {
        let num = self.spread(most);
        let base = num.lo.div_euclid(size(width)) * size(width);
        match num.hi - base < size(width) {
            true => (num.lo - base, num.hi - base),
            false => (0, size(width) - 1),
        }
    }

    /// Both ends as signed numbers.
    pub fn signed(self, width: u32, most: i128) -> (i128, i128) {
        let num = self.spread(most);
        let half = size(width) / 2;
        let base = (num.lo + half).div_euclid(size(width)) * size(width);
        match num.hi - base < half {
            true => (num.lo - base, num.hi - base),
            false => (-half, half - 1),
        }
    }

    pub fn add(self, other: Num, width: u32) -> Num {
        let (lo, hi) = (self.lo + other.lo, self.hi + other.hi);
        let step = gcd(self.step, other.step);
        Num { mine: self.mine + other.mine, lo, hi, step }.fitted(width)
    }

    /// The same numbers modulo 2^width, with the least of them as close to zero as it can be.
    pub fn centred(self, width: u32, most: i128) -> Num {
        let half = size(width) / 2;
        let base = (self.spread(most).lo + half).div_euclid(size(width)) * size(width);
        Num { lo: self.lo - base, hi: self.hi - base, ..self }
    }

    /// Whether none of them is one of the others modulo 2^width, or would be if it were larger or
    /// smaller by that.
    pub fn is_plain(self, width: u32, most: i128) -> bool {
        let (half, spread) = (size(width) / 2, self.spread(most));
        -half <= spread.lo && spread.hi < half
    }

    pub fn neg(self, width: u32) -> Num {
        Num { mine: -self.mine, lo: -self.hi, hi: -self.lo, step: self.step }.fitted(width)
    }

    pub fn sub(self, other: Num, width: u32) -> Num {
        self.add(other.neg(width), width)
    }

    pub fn mul(self, other: Num, width: u32) -> Num {
        let (num, factor) = match (self.single(), other.single()) {
            (_, Some(factor)) => (self, factor),
            (Some(factor), None) => (other, factor),
            (None, None) => return Num::all(width),
        };
        let scaled = |n: i128| n.checked_mul(factor);
        let scaled = [num.mine, num.lo, num.hi, num.step].map(scaled);
        let [Some(mine), Some(a), Some(b), Some(step)] = scaled else {
            return Num::all(width);
        };
        Num { mine, lo: a.min(b), hi: a.max(b), step: step.abs() }.fitted(width)
    }

    /// The lowest bits, as many as the mask has; `mask` is one less than a power of two.
    pub fn low_bits(self, mask: i128) -> Num {
        if let Some(value) = self.single() {
            return Num::one(value & mask);
        }
        if self.mine == 0 && self.lo >= 0 && self.hi <= mask {
            return self;
        }
        let step = gcd(gcd(self.step, self.mine), mask + 1);
        let lo = self.lo.rem_euclid(step);
        let hi = lo + (mask - lo) / step * step;
        Num { mine: 0, lo, hi, step: if lo == hi { 0 } else { step } }
    }

    /// The numbers of both, or a larger set.
    pub fn meet(self, lo: i128, hi: i128) -> Option<Num> {
        if self.mine != 0 {
            return Some(self);
        }
        let step = self.step.max(1);
        let lo = match lo > self.lo {
            true => self.lo + (lo - self.lo + step - 1).div_euclid(step) * step,
            false => self.lo,
        };
        let hi = match hi < self.hi {
            true => lo + (hi - lo).div_euclid(step) * step,
            false => self.hi,
        };
        let step = if lo == hi { 0 } else { self.step };
        (lo <= hi).then_some(Num { lo, hi, step, ..self })
    }

    /// How many there are.
    pub fn count(&self) -> i128 {
        (self.hi - self.lo) / self.step.max(1) + 1
    }

    /// Whether an access of `bytes` here and one of `others` there, by two different threads, may have
    /// a byte in common.
    pub fn overlaps(self, bytes: i128, other: Num, others: i128, most: i128) -> bool {
        if self.mine == other.mine && self.mine > 0 {
            let fits = |num: Num, bytes: i128| num.lo >= 0 && num.hi + bytes <= self.mine;
            if fits(self, bytes) && fits(other, others) {
                return false;
            }
        }
        self.overlaps_at(bytes, other, others, most).next().is_some()
    }

    /// How far the one may begin behind the other, where they have a byte in common.
    pub fn overlaps_at(
        self,
        bytes: i128,
        other: Num,
        others: i128,
        most: i128,
    ) -> impl Iterator<Item = i128> {
        let (one, two) = (self.spread(most), other.spread(most));
        let step = gcd(one.step, two.step);
        let from = (1 - bytes).max(one.lo - two.hi);
        let to = (others - 1).min(one.hi - two.lo);
        let apart = one.lo - two.lo;
        let differs = move |d: &i128| if step == 0 { *d != apart } else { (d - apart) % step != 0 };
        (from..=to).filter(move |d| !differs(d))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_elements_do_not_meet() {
        let field = |at: i128| Num { mine: 0, lo: at, hi: at + 480, step: 48 };
        assert!(!field(0).overlaps(4, field(40), 4, 9));
        assert!(field(0).overlaps(4, field(2), 4, 9));
        assert!(field(0).overlaps(4, Num::one(96), 4, 9));
        assert!(!field(0).overlaps(4, Num::one(100), 4, 9));
    }

    #[test]
    fn a_byte_is_in_a_word() {
        for byte in 0..8 {
            let (at, is_in) = (Num::one(byte), (2..6).contains(&byte));
            assert_eq!(at.overlaps(1, Num::one(2), 4, 9), is_in, "{byte}");
            assert_eq!(Num::one(2).overlaps(4, at, 1, 9), is_in, "{byte}");
        }
    }

    #[test]
    fn each_thread_has_an_element() {
        let own = |at: i128| Num { mine: 8, ..Num::range(at, at) };
        assert!(!own(0).overlaps(8, own(0), 8, 63));
        assert!(!own(4).overlaps(4, own(0), 8, 63));
        assert!(own(4).overlaps(8, own(0), 8, 63));
        assert!(own(0).overlaps(4, Num::one(16), 4, 63));
        assert!(!own(0).overlaps(4, Num::one(16), 4, 1));
    }

    #[test]
    fn what_goes_up_and_down_comes_back() {
        let (up, down) = (Num::one(1), Num::one(0xffff_ffff));
        assert_eq!(Num::one(0).add(up, 32).add(down, 32), Num::one(0));
        assert_eq!(Num::one(0).add(down, 32).add(up, 32), Num::one(0));
        assert_eq!(Num::range(0, 3).add(up, 32).add(down, 32), Num::range(0, 3));
        let low = Num::range(-5, -3).sub(Num::one(0x8000_0000), 32);
        assert_eq!(low, Num::range(0x7fff_fffb, 0x7fff_fffd));
    }

    #[test]
    fn bounds_move_to_landmarks() {
        let marks = [0, 9, 10, 100];
        let first = Num::one(0);
        assert_eq!(first.widen(Num::one(1), 32, &marks), Num::range(0, 9));
        assert_eq!(Num::range(0, 9).widen(Num::one(10), 32, &marks), Num::range(0, 10));
        assert!(Num::range(0, 100).widen(Num::one(101), 32, &marks).is_all(32));
    }

    #[test]
    fn signs_are_a_matter_of_reading() {
        assert_eq!(Num::one(-1).unsigned(32, 0), (0xffff_ffff, 0xffff_ffff));
        assert_eq!(Num::one(0xffff_ffff).signed(32, 0), (-1, -1));
        assert_eq!(Num::range(-1, 1).unsigned(32, 0), (0, 0xffff_ffff));
        assert_eq!(Num::range(-1, 1).signed(32, 0), (-1, 1));
    }

    #[test]
    fn low_bits_know_the_stride() {
        let num = Num { mine: 0, lo: 8, hi: 800, step: 24 };
        assert_eq!(num.low_bits(7), Num::one(0));
        assert_eq!(num.low_bits(15), Num { mine: 0, lo: 0, hi: 8, step: 8 });
    }
}
