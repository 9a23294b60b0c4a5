//! Circuits for numbers of IEEE 754, after Brain, Tinelli, Rümmer, Wahl, «An automatable formal
//! semantics for IEEE-754 floating-point arithmetic», ARITH 2015.
//!
//! Numbers are unpacked into sign, exponent and a significand whose highest bit is one; operators
//! compute on those as if there were enough bits, with all that is lost below kept in one sticky
//! bit; one circuit rounds to nearest, ties to even, and packs the result. Which pattern a result
//! that is no number has is up to the processor; it is that of x86-64 here: the first operand that
//! is none, made quiet, or else the negative quiet one.

mod arithmetic;
mod convert;

use crate::{Gates, Literal, Solver};

/// How many bits a format has for its parts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Format {
    exponent: usize,
    mantissa: usize,
}

impl Format {
    pub const SINGLE: Format = Format { exponent: 8, mantissa: 23 };
    pub const DOUBLE: Format = Format { exponent: 11, mantissa: 52 };

    /// None if no format has that width.
    pub fn of_width(width: usize) -> Option<Format> {
        [Format::SINGLE, Format::DOUBLE].into_iter().find(|format| format.width() == width)
    }

    fn width(self) -> usize {
        1 + self.exponent + self.mantissa
    }

    fn bias(self) -> i64 {
        (1 << (self.exponent - 1)) - 1
    }

    /// With the bit that is not written down.
    fn precision(self) -> usize {
        self.mantissa + 1
    }
}

/// Enough bits for the exponents of all intermediate results, in two's complement.
const EXPONENT: usize = 16;

type Word = Vec<Literal>;

/// A number in its parts. Exponent and significand have a meaning where no flag is set; the
/// significand of zero is zero.
struct Unpacked {
    nan: Literal,
    infinite: Literal,
    zero: Literal,
    sign: Literal,
    exponent: Word,
    significand: Word,
}

/// A result before rounding: the significand's highest bit is one, and its lowest is sticky.
struct Exact {
    sign: Literal,
    exponent: Word,
    significand: Word,
}

/// Which results are no plain numbers, and what those are.
struct Special {
    /// The pattern of a result that is no number.
    nan: Word,
    is_nan: Literal,
    infinite: Literal,
    zero: Literal,
    /// Of infinities and zeros.
    sign: Literal,
}

pub(super) struct Floats<'a> {
    pub gates: &'a mut Gates,
    pub solver: &'a mut dyn Solver,
}

impl Floats<'_> {
    fn and(&mut self, literals: &[Literal]) -> Literal {
        self.gates.and(literals, self.solver)
    }

    fn or(&mut self, literals: &[Literal]) -> Literal {
        self.gates.or(literals, self.solver)
    }

    fn xor(&mut self, a: Literal, b: Literal) -> Literal {
        self.gates.xor(a, b, self.solver)
    }

    fn choose(&mut self, condition: Literal, then: &[Literal], otherwise: &[Literal]) -> Word {
        self.gates.choose(condition, then, otherwise, self.solver)
    }

    fn sum(&mut self, a: &[Literal], b: &[Literal]) -> Word {
        self.gates.sum(a, b, Literal::FALSE, self.solver)
    }

    fn difference(&mut self, a: &[Literal], b: &[Literal]) -> Word {
        self.gates.difference(a, b, self.solver)
    }

    fn unpack(&mut self, format: Format, bits: &[Literal]) -> Unpacked {
        let (mantissa, rest) = bits.split_at(format.mantissa);
        let (field, sign) = rest.split_at(format.exponent);
        let sign = sign.first().copied().unwrap_or(Literal::FALSE);
        let (some_mantissa, all_ones) = (self.or(mantissa), self.and(field));
        let normal = self.or(field);
        let mut significand = mantissa.to_vec();
        significand.push(normal);
        let (significand, shifted) = self.normalise(significand);
        // Numbers without a leading one have the exponent of the least that have one.
        let mut exponent = field.to_vec();
        exponent[0] = self.or(&[field[0], !normal]);
        exponent.resize(EXPONENT, Literal::FALSE);
        let exponent = self.difference(&exponent, &number(format.bias()));
        let exponent = self.difference(&exponent, &shifted);
        Unpacked {
            nan: self.and(&[all_ones, some_mantissa]),
            infinite: self.and(&[all_ones, !some_mantissa]),
            zero: self.and(&[!normal, !some_mantissa]),
            sign,
            exponent,
            significand,
        }
    }

    /// Shifted up until the highest bit is one, and by how much. Zero stays zero.
    fn normalise(&mut self, mut value: Word) -> (Word, Word) {
        let mut shifted = number(0);
        let most = value.len().next_power_of_two().trailing_zeros();
        for place in (0..most).rev() {
            let distance = 1 << place;
            if distance >= value.len() {
                continue;
            }
            let keep = value.len() - distance;
            let empty = !self.or(&value[keep..]);
            let mut moved = vec![Literal::FALSE; distance];
            moved.extend_from_slice(&value[..keep]);
            value = self.choose(empty, &moved, &value);
            shifted[place as usize] = empty;
        }
        (value, shifted)
    }

    /// Shifted down by an amount that is not negative; what falls out stays in the lowest bit.
    fn shift_down(&mut self, value: &[Literal], amount: &[Literal]) -> Word {
        let mut value = value.to_vec();
        let mut lost = Vec::new();
        for (place, &bit) in amount.iter().enumerate() {
            let distance = (1 << place).min(value.len());
            let out = self.or(&value[..distance]);
            lost.push(self.and(&[bit, out]));
            let mut moved = value[distance..].to_vec();
            moved.resize(value.len(), Literal::FALSE);
            value = self.choose(bit, &moved, &value);
        }
        lost.push(value[0]);
        value[0] = self.or(&lost);
        value
    }

    /// Rounds to nearest, ties to even, and packs. The significand has at least two bits more than
    /// the format.
    fn round(&mut self, format: Format, exact: &Exact) -> Word {
        let Exact { sign, exponent, significand } = exact;
        let precision = format.precision();
        let below = self.difference(&number(1 - format.bias()), exponent);
        let small = self.gates.signed_less(&number(0), &below, self.solver);
        let amount = self.choose(small, &below, &number(0));
        // An amount that is used is not negative.
        let shifted = self.shift_down(significand, &amount[..EXPONENT - 1]);
        let biased = self.sum(exponent, &number(format.bias()));
        let field = self.choose(small, &number(0), &biased);
        let (rest, kept) = shifted.split_at(shifted.len() - precision);
        let (sticky, guard) = rest.split_at(rest.len() - 1);
        let mut tail = sticky.to_vec();
        tail.push(kept[0]);
        let odd_or_more = self.or(&tail);
        let up = self.and(&[guard[0], odd_or_more]);
        let mut magnitude = kept[..precision - 1].to_vec();
        magnitude.extend_from_slice(&field[..format.exponent]);
        let none = vec![Literal::FALSE; magnitude.len()];
        // A carry out of the mantissa goes to the exponent, where it belongs.
        let magnitude = self.gates.sum(&magnitude, &none, up, self.solver);
        let too_large = self.gates.signed_less(&number(format.bias()), exponent, self.solver);
        let mut bits = self.choose(too_large, &infinity(format), &magnitude);
        bits.push(*sign);
        bits
    }

    fn pack(&mut self, format: Format, exact: &Exact, special: &Special) -> Word {
        let rounded = self.round(format, exact);
        let mut infinite = infinity(format);
        infinite.push(special.sign);
        let mut zero = vec![Literal::FALSE; format.width() - 1];
        zero.push(special.sign);
        let bits = self.choose(special.zero, &zero, &rounded);
        let bits = self.choose(special.infinite, &infinite, &bits);
        self.choose(special.is_nan, &special.nan, &bits)
    }
}

/// The magnitude of infinity.
fn infinity(format: Format) -> Word {
    let mut bits = vec![Literal::FALSE; format.mantissa];
    bits.resize(format.width() - 1, Literal::TRUE);
    bits
}

/// The pattern of an operation that has no result.
fn default_nan(format: Format) -> Word {
    let mut bits = vec![Literal::FALSE; format.mantissa - 1];
    bits.resize(format.width(), Literal::TRUE);
    bits
}

/// The same pattern, made quiet.
fn quiet(format: Format, bits: &[Literal]) -> Word {
    let mut bits = bits.to_vec();
    bits[format.mantissa - 1] = Literal::TRUE;
    bits
}

/// An exponent that is known.
fn number(value: i64) -> Word {
    (0..EXPONENT).map(|place| Literal::constant(value >> place & 1 == 1)).collect()
}
