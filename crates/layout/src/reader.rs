//! Expressions: what they may give, and what has to hold of their operands so that they give the same
//! in every layout.

use std::cell::RefCell;

use parallax_program::{BinaryOp, Expr, FunctionId, UnaryOp};

use crate::demand::Demand;
use crate::flow::Flow;
use crate::stride::Stride;
use crate::value::{Base, Offset, Value};

/// Reads the expressions of a function.
pub struct Reader<'a, 'p> {
    flow: &'a Flow<'p>,
    function: Option<FunctionId>,
    /// Whether it is code of the library, which is trusted to do the same in every layout with what
    /// it is given. Its results may be addresses still.
    is_trusted: bool,
    /// What has to hold, where somebody asks.
    demands: Option<RefCell<Vec<Expr>>>,
}

/// An operand: what it may be, and the expression itself.
#[derive(Clone, Copy)]
pub struct Operand<'a> {
    pub value: &'a Value,
    pub expr: &'a Expr,
}

impl<'a, 'p> Reader<'a, 'p> {
    pub fn new(flow: &'a Flow<'p>, function: FunctionId, is_trusted: bool) -> Self {
        Reader { flow, function: Some(function), is_trusted, demands: None }
    }

    /// What an expression without variables gives.
    pub fn constant(flow: &'a Flow<'p>, expr: &Expr) -> Value {
        Reader { flow, function: None, is_trusted: true, demands: None }.value(expr)
    }

    /// What has to hold before an expression is computed.
    pub fn demands(flow: &'a Flow<'p>, function: FunctionId, expr: &Expr) -> Vec<Expr> {
        let demands = Some(RefCell::default());
        let reader = Reader { flow, function: Some(function), is_trusted: false, demands };
        reader.value(expr);
        reader.demands.map(RefCell::into_inner).unwrap_or_default()
    }

    pub fn value(&self, expr: &Expr) -> Value {
        match expr {
            Expr::Const(bits) => {
                let number = i64::try_from(bits.to_signed());
                Value::number(number.map_or(Stride::ANY, Stride::exact))
            }
            Expr::Var(var) => {
                let vars = self.function.map(|function| &self.flow.vars[function.0 as usize]);
                let value = vars.and_then(|vars| vars.get(var.0 as usize)).cloned();
                // Variables start as zero.
                let value = value.filter(|value| !value.is_nothing());
                value.unwrap_or_else(|| Value::number(Stride::exact(0)))
            }
            Expr::Address(global) => Value::place(Base::Global(global.0)),
            Expr::FunctionAddress(function) => Value::place(Base::Function(function.0)),
            Expr::Unary(op, inner) => self.unary(*op, inner),
            Expr::Binary(op, left, right) => self.binary(*op, left, right),
            Expr::Extract { low, width, value } => self.extract(*low, *width, value),
            Expr::Concat { high, low } => {
                let both = self.flow.both(self.value(high), &self.value(low));
                Value { number: Some(Stride::ANY), ..both }
            }
            Expr::ZeroExtend { value, .. } => {
                let width = self.width(value);
                let value = self.value(value);
                Value { number: value.number.map(|number| number.unsigned(width)), ..value }
            }
            Expr::SignExtend { value, .. } => self.value(value),
            Expr::Select { condition, then, otherwise } => {
                self.value(condition);
                self.flow.both(self.value(then), &self.value(otherwise))
            }
        }
    }

    /// How wide an expression is that may hold an address, as far as that matters: operators on
    /// less than an address have none in them.
    fn width(&self, expr: &Expr) -> u32 {
        match expr {
            Expr::Const(bits) => bits.width(),
            Expr::Var(var) => {
                let function = self.function.map(|function| self.flow.program.function(function));
                let var = function.and_then(|function| function.vars.get(var.0 as usize));
                var.map_or(self.flow.program.pointer_width, |var| var.width)
            }
            Expr::Address(_) | Expr::FunctionAddress(_) => self.flow.program.pointer_width,
            Expr::Unary(_, value) => self.width(value),
            Expr::Binary(op, ..) if op.is_comparison() => 1,
            Expr::Binary(_, left, _) => self.width(left),
            Expr::Extract { width, .. }
            | Expr::ZeroExtend { width, .. }
            | Expr::SignExtend { width, .. } => *width,
            Expr::Concat { high, low } => self.width(high) + self.width(low),
            Expr::Select { then, .. } => self.width(then),
        }
    }

    fn demand(&self, demand: impl FnOnce() -> Option<Expr>) {
        if let Some(demands) = &self.demands
            && let Some(condition) = demand()
        {
            let mut demands = demands.borrow_mut();
            if !demands.contains(&condition) {
                demands.push(condition);
            }
        }
    }

    /// The result of what depends on each bit of an operand. There is one only of numbers, unless
    /// nobody looks.
    fn number_of(&self, operands: &[&Value]) -> Value {
        let mut result = Value::any_number();
        if self.is_trusted {
            operands.iter().for_each(|value| result = self.flow.both(result.clone(), value));
            return result.blurred();
        }
        result
    }

    fn bare(&self, operand: Operand<'_>) {
        if !operand.value.is_number() {
            let width = self.width(operand.expr);
            self.demand(|| Some(!Demand::of(self.flow.program).is_address(operand.expr, width)));
        }
    }

    fn unary(&self, op: UnaryOp, inner: &Expr) -> Value {
        let value = self.value(inner);
        if value.is_number() {
            return Value::number(match (op, value.number) {
                (UnaryOp::Neg, Some(number)) => number.negated(),
                _ => Stride::ANY,
            });
        }
        self.bare(Operand { value: &value, expr: inner });
        self.number_of(&[&value])
    }

    fn extract(&self, low: u32, width: u32, inner: &Expr) -> Value {
        let value = self.value(inner);
        let pointer = self.flow.program.pointer_width;
        if value.is_number() {
            let keeps = low == 0 && value.number.is_some_and(|number| number.modulus == 0);
            return Value::number(match value.number {
                Some(number) if keeps => narrowed(number, width),
                _ => Stride::ANY,
            });
        }
        if width >= pointer {
            return Value { number: Some(Stride::ANY), ..value };
        }
        let known = self.alignment(&value).trailing_zeros();
        if low + width > known {
            self.bare(Operand { value: &value, expr: inner });
        }
        self.number_of(&[&value])
    }

    /// What all addresses that a value may be begin at a multiple of.
    pub fn alignment(&self, value: &Value) -> u64 {
        let aligns = value.places.keys().map(|base| self.flow.align(*base));
        aligns.min().map_or(1, |align| 1 << align.trailing_zeros())
    }

    fn binary(&self, op: BinaryOp, left: &Expr, right: &Expr) -> Value {
        let (one, two) = (self.value(left), self.value(right));
        let (a, b) = (Operand { value: &one, expr: left }, Operand { value: &two, expr: right });
        let is_wide = self.width(left) == self.flow.program.pointer_width;
        match (op, one.is_number() && two.is_number()) {
            (_, true) => Value::number(numbers(op, one.number, two.number)),
            (BinaryOp::Add, _) if is_wide => self.sum(a, b),
            (BinaryOp::Sub, _) if is_wide => self.difference(a, b),
            (BinaryOp::And | BinaryOp::Or | BinaryOp::Xor | BinaryOp::URem | BinaryOp::SRem, _)
                if is_wide =>
            {
                self.low_bits(op, a, b)
            }
            (BinaryOp::Eq | BinaryOp::Ne, _) if is_wide => {
                self.demand(|| Demand::of(self.flow.program).equal(self.flow, a, b));
                Value::any_number()
            }
            (BinaryOp::Ult | BinaryOp::Ule | BinaryOp::Slt | BinaryOp::Sle, _) if is_wide => {
                self.demand(|| Demand::of(self.flow.program).ordered(self.flow, a, b));
                Value::any_number()
            }
            (BinaryOp::Eq | BinaryOp::Ne, _) => Value::any_number(),
            _ => {
                self.bare(a);
                self.bare(b);
                match op.is_comparison() {
                    true => Value::any_number(),
                    false => self.number_of(&[&one, &two]),
                }
            }
        }
    }

    fn sum(&self, a: Operand<'_>, b: Operand<'_>) -> Value {
        self.demand(|| Demand::of(self.flow.program).sum(a, b));
        let number = match (a.value.number, b.value.number) {
            (Some(one), Some(two)) => Some(one.plus(two)),
            _ => None,
        };
        let moved = self.moved(a.value, b.value.number);
        let other = self.moved(b.value, a.value.number);
        let sum = self.flow.both(Value { number, ..moved }, &other);
        match sum.is_nothing() {
            true => Value::any_number(),
            false => sum,
        }
    }

    fn difference(&self, a: Operand<'_>, b: Operand<'_>) -> Value {
        self.demand(|| Demand::of(self.flow.program).difference(self.flow, a, b));
        let moved = self.moved(a.value, b.value.number.map(Stride::negated));
        Value { number: Some(Stride::ANY), ..moved }
    }

    /// The places of a value, after a step.
    fn moved(&self, value: &Value, by: Option<Stride>) -> Value {
        let Some(by) = by else {
            return Value::default();
        };
        let places = value.places.iter().map(|(base, offset)| {
            let moved = offset.moved(by, self.flow.shape(*base));
            (*base, moved)
        });
        Value { number: None, places: places.collect() }
    }

    /// Operators that leave an address alone but for the bits that its alignment says: marks in the
    /// lowest bits.
    fn low_bits(&self, op: BinaryOp, a: Operand<'_>, b: Operand<'_>) -> Value {
        for (address, mask) in [(a, b), (b, a)] {
            if !address.value.is_number() {
                let align = self.alignment(address.value);
                let is_divisor = matches!(op, BinaryOp::URem | BinaryOp::SRem);
                match is_divisor && address.expr == b.expr {
                    true => self.bare(address),
                    false => self.demand(|| {
                        Demand::of(self.flow.program).low_bits(op, address, mask, align)
                    }),
                }
            }
        }
        let both = self.flow.both(a.value.clone(), b.value);
        if self.is_trusted {
            return both.blurred();
        }
        let (address, mask) = if a.value.is_number() { (b, a) } else { (a, b) };
        let align = self.alignment(address.value);
        let mask = mask.value.number.and_then(Stride::known).filter(|_| mask.value.is_number());
        match (op, mask) {
            (BinaryOp::URem | BinaryOp::SRem, _) => Value::any_number(),
            (BinaryOp::And, Some(mask)) if (mask as u64) < align => Value::any_number(),
            (_, Some(mask)) => self.marked(op, address.value, mask),
            (_, None) => both.blurred(),
        }
    }

    /// An address with other bits below its alignment.
    fn marked(&self, op: BinaryOp, value: &Value, mask: i64) -> Value {
        let places = value.places.iter().map(|(base, offset)| {
            let marked = match (offset.stride.known(), op) {
                (Some(known), BinaryOp::And) => Offset::exact(known & mask),
                (Some(known), BinaryOp::Or) => Offset::exact(known | mask),
                (Some(known), _) => Offset::exact(known ^ mask),
                (None, BinaryOp::And) if offset.stride.divides(mask.wrapping_neg() as u64) => {
                    *offset
                }
                (None, _) => Offset::ANY,
            };
            (*base, marked)
        });
        Value { number: Some(Stride::ANY), places: places.collect() }
    }
}

fn numbers(op: BinaryOp, one: Option<Stride>, two: Option<Stride>) -> Stride {
    let (one, two) = (one.unwrap_or(Stride::ANY), two.unwrap_or(Stride::ANY));
    match op {
        BinaryOp::Add => one.plus(two),
        BinaryOp::Sub => one.plus(two.negated()),
        BinaryOp::Mul => one.times(two),
        BinaryOp::Shl => match two.known() {
            Some(by @ 0..=32) => one.times(Stride::exact(1 << by)),
            _ => Stride::ANY,
        },
        _ => Stride::ANY,
    }
}

/// The lowest bits of a number.
fn narrowed(number: Stride, width: u32) -> Stride {
    let unused = 64 - width.min(64);
    Stride::exact(number.residue << unused >> unused)
}
