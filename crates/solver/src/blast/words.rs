//! Circuits on vectors of literals that choose, compare, shift and count.

use crate::{Gates, Literal, Solver};

impl Gates {
    pub(crate) fn bitwise(
        &mut self,
        left: &[Literal],
        right: &[Literal],
        mut gate: impl FnMut(&mut Gates, Literal, Literal) -> Literal,
    ) -> Vec<Literal> {
        left.iter().zip(right).map(|(&a, &b)| gate(self, a, b)).collect()
    }

    /// `then` where the condition is true.
    pub fn choose(
        &mut self,
        condition: Literal,
        then: &[Literal],
        otherwise: &[Literal],
        solver: &mut dyn Solver,
    ) -> Vec<Literal> {
        self.bitwise(then, otherwise, |gates, a, b| gates.select(condition, a, b, solver))
    }

    /// Unsigned comparison, from the lowest bit up: the highest that differs decides.
    pub fn less(
        &mut self,
        left: &[Literal],
        right: &[Literal],
        solver: &mut dyn Solver,
    ) -> Literal {
        let mut less = Literal::FALSE;
        for (&a, &b) in left.iter().zip(right) {
            less = self.majority(!a, b, less, solver);
        }
        less
    }

    /// As the unsigned comparison, with the meaning of the highest bit turned round.
    pub fn signed_less(
        &mut self,
        left: &[Literal],
        right: &[Literal],
        solver: &mut dyn Solver,
    ) -> Literal {
        let turned = |bits: &[Literal]| {
            let mut bits = bits.to_vec();
            if let Some(sign) = bits.last_mut() {
                *sign = !*sign;
            }
            bits
        };
        self.less(&turned(left), &turned(right), solver)
    }

    pub(crate) fn shift_up(
        &mut self,
        value: &[Literal],
        amount: &[Literal],
        solver: &mut dyn Solver,
    ) -> Vec<Literal> {
        let reversed: Vec<Literal> = value.iter().rev().copied().collect();
        let mut shifted = self.shift_down(&reversed, amount, Literal::FALSE, solver);
        shifted.reverse();
        shifted
    }

    /// Shifts by the powers of two that the amount is made of. Powers that are not below the width
    /// leave nothing but what fills the gap.
    pub(crate) fn shift_down(
        &mut self,
        value: &[Literal],
        amount: &[Literal],
        fill: Literal,
        solver: &mut dyn Solver,
    ) -> Vec<Literal> {
        let width = value.len();
        let mut value = value.to_vec();
        let mut far = Vec::new();
        for (place, &bit) in amount.iter().enumerate() {
            let Some(distance) = 1usize.checked_shl(place as u32).filter(|&by| by < width) else {
                far.push(bit);
                continue;
            };
            let gap = std::iter::repeat_n(fill, distance);
            let moved: Vec<Literal> = value[distance..].iter().copied().chain(gap).collect();
            value = self.choose(bit, &moved, &value, solver);
        }
        let far = self.or(&far, solver);
        self.choose(far, &vec![fill; width], &value, solver)
    }

    /// How many bits are one, in as many bits.
    pub(crate) fn ones(&mut self, value: &[Literal], solver: &mut dyn Solver) -> Vec<Literal> {
        let width = value.len();
        let mut parts: Vec<Vec<Literal>> = value.iter().map(|&bit| vec![bit]).collect();
        while parts.len() > 1 {
            let mut sums = Vec::with_capacity(parts.len().div_ceil(2));
            for pair in parts.chunks(2) {
                let [a, b] = pair else {
                    sums.extend_from_slice(pair);
                    continue;
                };
                let room = a.len().max(b.len()) + 1;
                let wider = |bits: &[Literal]| {
                    let mut bits = bits.to_vec();
                    bits.resize(room, Literal::FALSE);
                    bits
                };
                sums.push(self.sum(&wider(a), &wider(b), Literal::FALSE, solver));
            }
            parts = sums;
        }
        let mut count = parts.pop().unwrap_or_default();
        count.resize(width, Literal::FALSE);
        count
    }

    /// The number of the lowest bit that is one, or the width.
    pub(crate) fn trailing_zeros(
        &mut self,
        value: &[Literal],
        solver: &mut dyn Solver,
    ) -> Vec<Literal> {
        let width = value.len();
        let number = |number: usize| -> Vec<Literal> {
            (0..width).map(|place| Literal::constant(number >> place.min(63) & 1 == 1)).collect()
        };
        let mut count = number(width);
        for (place, &bit) in value.iter().enumerate().rev() {
            count = self.choose(bit, &number(place), &count, solver);
        }
        count
    }
}
