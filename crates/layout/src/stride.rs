//! Numbers that are known up to a multiple: a residue and a modulus (P. Granger, Static analysis of
//! arithmetical congruences, 1989). Steps through arrays are taken not to wrap around.

/// All numbers `residue + k * modulus`; only the residue where the modulus is 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stride {
    pub residue: i64,
    pub modulus: u64,
}

impl Stride {
    pub const ANY: Stride = Stride { residue: 0, modulus: 1 };

    pub fn exact(residue: i64) -> Stride {
        Stride { residue, modulus: 0 }
    }

    fn new(residue: i64, modulus: u64) -> Stride {
        match i64::try_from(modulus) {
            Ok(0) => Stride::exact(residue),
            Ok(positive) => Stride { residue: residue.rem_euclid(positive), modulus },
            Err(_) => Stride::ANY,
        }
    }

    pub fn known(self) -> Option<i64> {
        (self.modulus == 0).then_some(self.residue)
    }

    /// Whether all are multiples of a number.
    pub fn divides(self, step: u64) -> bool {
        self.modulus.is_multiple_of(step) && self.residue.unsigned_abs().is_multiple_of(step)
    }

    /// Whether a number may be one of them.
    pub fn has(self, number: i64) -> bool {
        self.join(Stride::exact(number)) == self
    }

    pub fn join(self, other: Stride) -> Stride {
        let apart = self.residue.abs_diff(other.residue);
        Stride::new(self.residue, gcd(gcd(self.modulus, other.modulus), apart))
    }

    pub fn plus(self, other: Stride) -> Stride {
        Stride::new(self.residue.wrapping_add(other.residue), gcd(self.modulus, other.modulus))
    }

    pub fn negated(self) -> Stride {
        Stride::new(self.residue.wrapping_neg(), self.modulus)
    }

    pub fn times(self, other: Stride) -> Stride {
        let residue = self.residue.checked_mul(other.residue);
        let steps = [
            self.modulus.checked_mul(other.modulus),
            self.modulus.checked_mul(other.residue.unsigned_abs()),
            other.modulus.checked_mul(self.residue.unsigned_abs()),
        ];
        let modulus = steps.into_iter().try_fold(0, |all, step| step.map(|step| gcd(all, step)));
        match (residue, modulus) {
            (Some(residue), Some(modulus)) => Stride::new(residue, modulus),
            _ => Stride::ANY,
        }
    }

    /// Without the sign, at a width.
    pub fn unsigned(self, width: u32) -> Stride {
        match self.known() {
            Some(number) if number < 0 && width < 63 => Stride::exact(number + (1 << width)),
            Some(_) => self,
            None if self.modulus.is_power_of_two() => self,
            None => Stride::ANY,
        }
    }
}

pub fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_join_to_their_common_step() {
        let evens = Stride::exact(2).join(Stride::exact(6));
        assert_eq!(evens, Stride { residue: 2, modulus: 4 });
        assert!(evens.has(-2) && !evens.has(4));
        assert_eq!(evens.join(Stride::exact(4)).modulus, 2);
        assert_eq!(Stride::exact(3).join(Stride::exact(3)).known(), Some(3));
    }

    #[test]
    fn steps_through_arrays() {
        let index = Stride::ANY;
        let offset = index.times(Stride::exact(16)).plus(Stride::exact(8));
        assert_eq!(offset, Stride { residue: 8, modulus: 16 });
        assert!(!offset.divides(16) && offset.divides(8));
        assert_eq!(Stride::exact(-1).unsigned(32).known(), Some(0xffff_ffff));
    }
}
