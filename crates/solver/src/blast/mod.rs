//! Bit-blasting: terms become vectors of literals, lowest bit first, each term once.

mod arithmetic;
mod float;
mod integral;
mod words;

use parallax_control::Control;
use parallax_program::{BinaryOp, Bits, UnaryOp};

use crate::{Gates, Literal, Node, Solver, Term, Terms};
use float::Floats;
use integral::Integers;

pub use integral::INTEGER_WIDTH;

/// The translation of the terms of one [`Terms`] into the clauses of one solver.
#[derive(Default, Debug)]
pub struct Blaster {
    pub gates: Gates,
    /// Where the bits of a term start; `UNKNOWN` if it has none yet.
    start: Vec<u32>,
    bits: Vec<Literal>,
    open: Vec<Term>,
    /// Where wide terms are integers.
    integers: Option<Integers>,
    /// Beyond these limits terms are left open.
    limits: Control<'static>,
    /// Terms until the next look at the limits.
    patience: u32,
    is_over: bool,
}

const UNKNOWN: u32 = u32::MAX;

/// Terms between two looks at the limits: a division of wide words takes a tenth of a millisecond.
const PATIENCE: u32 = 64;

impl Blaster {
    pub fn new() -> Blaster {
        Blaster::default()
    }

    /// With terms of [`INTEGER_WIDTH`] bits as integers.
    pub fn with_integers() -> Blaster {
        Blaster { integers: Some(Integers::default()), ..Blaster::default() }
    }

    /// The same, as long as there is time: what is translated later is left [open](Self::open), so
    /// that no answer is wrong, and a solver that has the same limits gives none.
    pub fn within(self, control: &Control<'_>) -> Blaster {
        Blaster { limits: control.limits(), ..self }
    }

    /// Looks at the limits from time to time. Once they are passed, that stays so.
    fn is_over(&mut self) -> bool {
        match self.patience {
            0 => {
                self.patience = PATIENCE;
                self.is_over |= self.limits.reason().is_some();
            }
            _ => self.patience -= 1,
        }
        self.is_over
    }

    /// The literal of a one-bit term. Of a wider one, that of its lowest bit.
    pub fn literal_of(&mut self, terms: &Terms, term: Term, solver: &mut dyn Solver) -> Literal {
        self.bits_of(terms, term, solver).first().copied().unwrap_or(Literal::FALSE)
    }

    /// The bits of a term, lowest first. Integers have none.
    pub fn bits_of(&mut self, terms: &Terms, term: Term, solver: &mut dyn Solver) -> &[Literal] {
        if self.start.len() < terms.len() {
            self.start.resize(terms.len(), UNKNOWN);
        }
        let mut waiting = vec![term];
        while let Some(&next) = waiting.last() {
            if self.is_done(next) {
                waiting.pop();
                continue;
            }
            let node = terms.node(next);
            let before = waiting.len();
            let mut on_integers = false;
            terms.operands(&node, |operand| {
                on_integers |= self.is_integral(terms, operand);
                if !self.is_done(operand) {
                    waiting.push(operand);
                }
            });
            if waiting.len() > before {
                continue;
            }
            if self.integers.is_none() && self.is_over() {
                self.start[term.index()] = self.bits.len() as u32;
                let bits = self.leave_open(term, terms.width(term) as usize, solver);
                self.bits.extend(bits);
                break;
            }
            if self.is_integral(terms, next) {
                self.settle(terms, next, &node, solver);
            } else {
                let bits = match on_integers {
                    true => self.of_integers(terms, next, &node, solver),
                    false => self.translate(terms, next, &node, solver),
                };
                self.start[next.index()] = self.bits.len() as u32;
                self.bits.extend(bits);
            }
            waiting.pop();
        }
        match self.is_integral(terms, term) {
            true => &[],
            false => self.known(terms, term),
        }
    }

    fn is_done(&self, term: Term) -> bool {
        self.start[term.index()] != UNKNOWN
            || self.integers.as_ref().is_some_and(|integers| integers.is_known(term))
    }

    /// The value of a term in the solver's model. What the model does not determine is zero.
    pub fn value(&self, terms: &Terms, term: Term, solver: &dyn Solver) -> Bits {
        let width = terms.width(term);
        if let Some(integer) = self.integer(term) {
            return Bits::signed(width, solver.number(integer).unwrap_or(0));
        }
        if self.start.get(term.index()).is_none_or(|&start| start == UNKNOWN) {
            return Bits::zero(width);
        }
        let bits = self.known(terms, term).iter().enumerate();
        let value = bits.filter(|&(_, &bit)| solver.value(bit)).map(|(place, _)| 1u128 << place);
        Bits::new(width, value.sum())
    }

    /// Terms whose operator has no circuit (the remainder of floating-point numbers), and those that
    /// there was no time for. They were left
    /// open, as if they could be anything, so `Unsatisfiable` is right, and a model must be checked
    /// by evaluation.
    pub fn open(&self) -> &[Term] {
        &self.open
    }

    fn known(&self, terms: &Terms, term: Term) -> &[Literal] {
        let start = self.start[term.index()] as usize;
        &self.bits[start..start + terms.width(term) as usize]
    }

    /// All operands have their bits.
    fn translate(
        &mut self,
        terms: &Terms,
        term: Term,
        node: &Node,
        solver: &mut dyn Solver,
    ) -> Vec<Literal> {
        let width = terms.width(term) as usize;
        let operand = |blaster: &Blaster, term| blaster.known(terms, term).to_vec();
        match *node {
            Node::Constant(bits) => constant(bits),
            Node::Variable { .. } => fresh(width, solver),
            Node::Unary(op, value) => {
                let value = operand(self, value);
                self.unary(op, value, solver)
                    .unwrap_or_else(|| self.leave_open(term, width, solver))
            }
            Node::Binary(op, left, right) => {
                let (left, right) = (operand(self, left), operand(self, right));
                self.binary(op, &left, &right, solver)
                    .unwrap_or_else(|| self.leave_open(term, width, solver))
            }
            Node::Extract { value, low, .. } => {
                operand(self, value).into_iter().skip(low as usize).take(width).collect()
            }
            Node::Concat { high, low } => {
                let mut bits = operand(self, low);
                bits.extend(self.known(terms, high));
                bits
            }
            Node::ZeroExtend { value, .. } => {
                let mut bits = operand(self, value);
                bits.resize(width, Literal::FALSE);
                bits
            }
            Node::SignExtend { value, .. } => {
                let mut bits = operand(self, value);
                let sign = bits.last().copied().unwrap_or(Literal::FALSE);
                bits.resize(width, sign);
                bits
            }
            Node::Select { condition, then, otherwise } => {
                let condition = operand(self, condition).first().copied();
                let (then, otherwise) = (operand(self, then), operand(self, otherwise));
                self.gates.choose(condition.unwrap_or(Literal::FALSE), &then, &otherwise, solver)
            }
        }
    }

    fn leave_open(&mut self, term: Term, width: usize, solver: &mut dyn Solver) -> Vec<Literal> {
        self.open.push(term);
        fresh(width, solver)
    }

    /// None for operators without a circuit.
    fn unary(
        &mut self,
        op: UnaryOp,
        value: Vec<Literal>,
        solver: &mut dyn Solver,
    ) -> Option<Vec<Literal>> {
        let gates = &mut self.gates;
        Some(match op {
            UnaryOp::Not => value.iter().map(|&bit| !bit).collect(),
            UnaryOp::Neg => gates.negation(&value, solver),
            UnaryOp::PopCount => gates.ones(&value, solver),
            UnaryOp::LeadingZeros => {
                let reversed: Vec<Literal> = value.iter().rev().copied().collect();
                gates.trailing_zeros(&reversed, solver)
            }
            UnaryOp::TrailingZeros => gates.trailing_zeros(&value, solver),
            UnaryOp::ByteSwap if value.len().is_multiple_of(8) => {
                value.rchunks(8).flatten().copied().collect()
            }
            UnaryOp::ByteSwap => value,
            UnaryOp::BitReverse => value.into_iter().rev().collect(),
            UnaryOp::FSqrt
            | UnaryOp::F32ToF64
            | UnaryOp::F64ToF32
            | UnaryOp::F64ToS64
            | UnaryOp::F64ToU64
            | UnaryOp::S64ToF64
            | UnaryOp::U64ToF64
            | UnaryOp::S64ToF32
            | UnaryOp::U64ToF32 => return Floats { gates, solver }.unary(op, &value),
        })
    }

    fn binary(
        &mut self,
        op: BinaryOp,
        left: &[Literal],
        right: &[Literal],
        solver: &mut dyn Solver,
    ) -> Option<Vec<Literal>> {
        use BinaryOp::*;
        let gates = &mut self.gates;
        Some(match op {
            Add => gates.sum(left, right, Literal::FALSE, solver),
            Sub => gates.difference(left, right, solver),
            Mul => gates.product(left, right, solver),
            UDiv => gates.quotient_and_remainder(left, right, solver).0,
            URem => gates.quotient_and_remainder(left, right, solver).1,
            SDiv => gates.signed_quotient(left, right, solver),
            SRem => gates.signed_remainder(left, right, solver),
            And => gates.bitwise(left, right, |gates, a, b| gates.and(&[a, b], solver)),
            Or => gates.bitwise(left, right, |gates, a, b| gates.or(&[a, b], solver)),
            Xor => gates.bitwise(left, right, |gates, a, b| gates.xor(a, b, solver)),
            Shl => gates.shift_up(left, right, solver),
            LShr => gates.shift_down(left, right, Literal::FALSE, solver),
            AShr => {
                let sign = left.last().copied().unwrap_or(Literal::FALSE);
                gates.shift_down(left, right, sign, solver)
            }
            Eq => vec![gates.equal(left, right, solver)],
            Ne => vec![!gates.equal(left, right, solver)],
            Ult => vec![gates.less(left, right, solver)],
            Ule => vec![!gates.less(right, left, solver)],
            Slt => vec![gates.signed_less(left, right, solver)],
            Sle => vec![!gates.signed_less(right, left, solver)],
            FAdd | FSub | FMul | FDiv | FRem | FEq | FLt | FLe | FUnordered => {
                return Floats { gates, solver }.binary(op, left, right);
            }
        })
    }
}

fn constant(bits: Bits) -> Vec<Literal> {
    (0..bits.width()).map(|place| Literal::constant(bits.unsigned() >> place & 1 == 1)).collect()
}

fn fresh(width: usize, solver: &mut dyn Solver) -> Vec<Literal> {
    (0..width).map(|_| solver.literal()).collect()
}
