//! Circuits for addition, multiplication and division.

use crate::{Gates, Literal, Solver};

impl Gates {
    /// `left + right + carry`, cut to the width.
    pub fn sum(
        &mut self,
        left: &[Literal],
        right: &[Literal],
        carry: Literal,
        solver: &mut dyn Solver,
    ) -> Vec<Literal> {
        let mut carry = carry;
        let mut sum = Vec::with_capacity(left.len());
        for (&a, &b) in left.iter().zip(right) {
            let half = self.xor(a, b, solver);
            sum.push(self.xor(half, carry, solver));
            if sum.len() < left.len() {
                carry = self.majority(a, b, carry, solver);
            }
        }
        sum
    }

    pub fn difference(
        &mut self,
        left: &[Literal],
        right: &[Literal],
        solver: &mut dyn Solver,
    ) -> Vec<Literal> {
        let opposite: Vec<Literal> = right.iter().map(|&bit| !bit).collect();
        self.sum(left, &opposite, Literal::TRUE, solver)
    }

    pub(crate) fn negation(&mut self, value: &[Literal], solver: &mut dyn Solver) -> Vec<Literal> {
        self.difference(&vec![Literal::FALSE; value.len()], value, solver)
    }

    /// The sum of one operand, shifted by the places where the other has ones.
    pub(crate) fn product(
        &mut self,
        left: &[Literal],
        right: &[Literal],
        solver: &mut dyn Solver,
    ) -> Vec<Literal> {
        let width = left.len();
        // Constants make rows disappear.
        let constants = |bits: &[Literal]| bits.iter().filter(|bit| bit.is_constant()).count();
        let (rows, row) =
            if constants(left) > constants(right) { (left, right) } else { (right, left) };
        let mut product = vec![Literal::FALSE; width];
        for (place, &bit) in rows.iter().enumerate() {
            if bit == Literal::FALSE {
                continue;
            }
            let kept = row[..width - place].iter();
            let addend: Vec<Literal> = kept.map(|&other| self.and(&[bit, other], solver)).collect();
            let upper = self.sum(&product[place..], &addend, Literal::FALSE, solver);
            product.splice(place.., upper);
        }
        product
    }

    /// Long division. Where the divisor is zero, each step finds that it fits: the quotient is all
    /// ones and the remainder is the dividend, which is what programs expect.
    pub(crate) fn quotient_and_remainder(
        &mut self,
        left: &[Literal],
        right: &[Literal],
        solver: &mut dyn Solver,
    ) -> (Vec<Literal>, Vec<Literal>) {
        let width = left.len();
        let mut divisor = right.to_vec();
        divisor.push(Literal::FALSE);
        let mut remainder = vec![Literal::FALSE; width + 1];
        let mut quotient = vec![Literal::FALSE; width];
        for place in (0..width).rev() {
            remainder.pop();
            remainder.insert(0, left[place]);
            let fits = !self.less(&remainder, &divisor, solver);
            let reduced = self.difference(&remainder, &divisor, solver);
            remainder = self.choose(fits, &reduced, &remainder, solver);
            quotient[place] = fits;
        }
        remainder.pop();
        (quotient, remainder)
    }

    /// Rounded to zero; -1 where the divisor is zero.
    pub(crate) fn signed_quotient(
        &mut self,
        left: &[Literal],
        right: &[Literal],
        solver: &mut dyn Solver,
    ) -> Vec<Literal> {
        let (a, b) = (self.magnitude(left, solver), self.magnitude(right, solver));
        let (quotient, _) = self.quotient_and_remainder(&a, &b, solver);
        let differ = self.xor(sign(left), sign(right), solver);
        let signed = self.with_sign(differ, &quotient, solver);
        let divides = self.or(right, solver);
        self.choose(divides, &signed, &vec![Literal::TRUE; left.len()], solver)
    }

    /// With the sign of the dividend; the dividend where the divisor is zero.
    pub(crate) fn signed_remainder(
        &mut self,
        left: &[Literal],
        right: &[Literal],
        solver: &mut dyn Solver,
    ) -> Vec<Literal> {
        let (a, b) = (self.magnitude(left, solver), self.magnitude(right, solver));
        let (_, remainder) = self.quotient_and_remainder(&a, &b, solver);
        self.with_sign(sign(left), &remainder, solver)
    }

    fn magnitude(&mut self, value: &[Literal], solver: &mut dyn Solver) -> Vec<Literal> {
        self.with_sign(sign(value), value, solver)
    }

    /// Negated where the literal is true.
    fn with_sign(
        &mut self,
        negative: Literal,
        value: &[Literal],
        solver: &mut dyn Solver,
    ) -> Vec<Literal> {
        let opposite = self.negation(value, solver);
        self.choose(negative, &opposite, value, solver)
    }
}

fn sign(value: &[Literal]) -> Literal {
    value.last().copied().unwrap_or(Literal::FALSE)
}
