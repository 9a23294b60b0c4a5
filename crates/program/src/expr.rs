//! Expressions: side-effect-free functions of a thread's variables.

use std::ops;

use crate::{Bits, FunctionId, GlobalId, VarId};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum UnaryOp {
    /// Two's complement negation.
    Neg,
    /// Complement of every bit.
    Not,
    /// Number of zero bits above the highest one bit (the width, for zero).
    LeadingZeros,
    /// Number of zero bits below the lowest one bit (the width, for zero).
    TrailingZeros,
    /// Number of one bits.
    PopCount,
    /// The bytes in reverse order; widths that are no multiple of 8 are left alone.
    ByteSwap,
    /// The bits in reverse order.
    BitReverse,
    /// Operators on IEEE 754 numbers, held as their bit patterns. Conversions work on 64 bits:
    /// a number of single precision stands in the low half, the upper half is zero.
    FSqrt,
    F32ToF64,
    F64ToF32,
    /// To integers: rounded to zero; what does not fit gives the nearest that does, no number
    /// gives 0.
    F64ToS64,
    F64ToU64,
    S64ToF64,
    U64ToF64,
    S64ToF32,
    U64ToF32,
}

/// Operators on two operands of equal width. Comparisons give one bit.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    /// Unsigned quotient; all ones where the divisor is zero (as SMT-LIB and RISC-V have it).
    UDiv,
    /// Signed quotient, rounded to zero; -1 where the divisor is zero.
    SDiv,
    /// Unsigned remainder; the dividend where the divisor is zero.
    URem,
    /// Signed remainder, with the sign of the dividend; the dividend where the divisor is zero.
    SRem,
    And,
    Or,
    Xor,
    /// Shifts by the unsigned value of the right operand; by the width or more: zeros…
    Shl,
    LShr,
    /// … or copies of the sign.
    AShr,
    Eq,
    Ne,
    Ult,
    Ule,
    Slt,
    Sle,
    /// Operators on IEEE 754 numbers of 32 or 64 bits, held as their bit patterns.
    FAdd,
    FSub,
    FMul,
    FDiv,
    FRem,
    /// Ordered comparisons: false where an operand is no number.
    FEq,
    FLt,
    FLe,
    /// Whether an operand is no number.
    FUnordered,
}

impl UnaryOp {
    /// Whether operands may have that width.
    pub fn takes(self, width: u32) -> bool {
        use UnaryOp::*;
        match self {
            Neg | Not | LeadingZeros | TrailingZeros | PopCount | ByteSwap | BitReverse => true,
            FSqrt => matches!(width, 32 | 64),
            F32ToF64 | F64ToF32 | F64ToS64 | F64ToU64 | S64ToF64 | U64ToF64 | S64ToF32
            | U64ToF32 => width == 64,
        }
    }
}

impl BinaryOp {
    /// Whether the operands are IEEE 754 numbers.
    pub fn is_float(self) -> bool {
        use BinaryOp::*;
        matches!(self, FAdd | FSub | FMul | FDiv | FRem | FEq | FLt | FLe | FUnordered)
    }

    /// Whether bits of the result come from single bits of the operands.
    pub fn is_bitwise(self) -> bool {
        use BinaryOp::*;
        matches!(self, And | Or | Xor | Shl | LShr | AShr)
    }

    pub fn is_comparison(self) -> bool {
        use BinaryOp::*;
        matches!(self, Eq | Ne | Ult | Ule | Slt | Sle | FEq | FLt | FLe | FUnordered)
    }
}

/// A tree of operators. Widths agree by construction where the builders below are used;
/// `Program::check` reports any that do not.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Expr {
    Const(Bits),
    Var(VarId),
    /// The address of a global, as wide as the program's pointers.
    Address(GlobalId),
    /// The address of a function, as wide as the program's pointers.
    FunctionAddress(FunctionId),
    Unary(UnaryOp, Box<Expr>),
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `width` bits from bit `low` on.
    Extract {
        low: u32,
        width: u32,
        value: Box<Expr>,
    },
    /// `high` above `low`.
    Concat {
        high: Box<Expr>,
        low: Box<Expr>,
    },
    ZeroExtend {
        width: u32,
        value: Box<Expr>,
    },
    SignExtend {
        width: u32,
        value: Box<Expr>,
    },
    /// `then` where the one-bit condition is 1.
    Select {
        condition: Box<Expr>,
        then: Box<Expr>,
        otherwise: Box<Expr>,
    },
}

impl Expr {
    pub fn constant(width: u32, value: u128) -> Expr {
        Expr::Const(Bits::new(width, value))
    }

    pub fn signed(width: u32, value: i128) -> Expr {
        Expr::Const(Bits::signed(width, value))
    }

    pub fn unary(op: UnaryOp, value: Expr) -> Expr {
        Expr::Unary(op, Box::new(value))
    }

    pub fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
        Expr::Binary(op, Box::new(left), Box::new(right))
    }

    pub fn eq(self, other: Expr) -> Expr {
        Expr::binary(BinaryOp::Eq, self, other)
    }

    pub fn ne(self, other: Expr) -> Expr {
        Expr::binary(BinaryOp::Ne, self, other)
    }

    pub fn extract(self, low: u32, width: u32) -> Expr {
        Expr::Extract { low, width, value: Box::new(self) }
    }

    pub fn concat(self, low: Expr) -> Expr {
        Expr::Concat { high: Box::new(self), low: Box::new(low) }
    }

    pub fn zero_extend(self, width: u32) -> Expr {
        Expr::ZeroExtend { width, value: Box::new(self) }
    }

    pub fn sign_extend(self, width: u32) -> Expr {
        Expr::SignExtend { width, value: Box::new(self) }
    }

    pub fn select(self, then: Expr, otherwise: Expr) -> Expr {
        Expr::Select {
            condition: Box::new(self),
            then: Box::new(then),
            otherwise: Box::new(otherwise),
        }
    }

    /// Whether a variable occurs in it.
    pub fn mentions(&self, var: VarId) -> bool {
        match self {
            Expr::Const(_) | Expr::Address(_) | Expr::FunctionAddress(_) => false,
            Expr::Var(own) => *own == var,
            Expr::Unary(_, value)
            | Expr::Extract { value, .. }
            | Expr::ZeroExtend { value, .. }
            | Expr::SignExtend { value, .. } => value.mentions(var),
            Expr::Binary(_, left, right) | Expr::Concat { high: left, low: right } => {
                left.mentions(var) || right.mentions(var)
            }
            Expr::Select { condition, then, otherwise } => {
                condition.mentions(var) || then.mentions(var) || otherwise.mentions(var)
            }
        }
    }

    /// `self`, which is `from` bits wide, cut or zero-extended to `to` bits.
    pub fn resize(self, from: u32, to: u32) -> Expr {
        match to.cmp(&from) {
            std::cmp::Ordering::Equal => self,
            std::cmp::Ordering::Less => self.extract(0, to),
            std::cmp::Ordering::Greater => self.zero_extend(to),
        }
    }
}

macro_rules! operators {
    ($($name:ident :: $method:ident => $op:ident),* $(,)?) => {$(
        impl ops::$name for Expr {
            type Output = Expr;

            fn $method(self, other: Expr) -> Expr {
                Expr::binary(BinaryOp::$op, self, other)
            }
        }
    )*};
}

operators! {
    Add::add => Add,
    Sub::sub => Sub,
    Mul::mul => Mul,
    BitAnd::bitand => And,
    BitOr::bitor => Or,
    BitXor::bitxor => Xor,
}

/// Complement; for one-bit values, logical negation.
impl ops::Not for Expr {
    type Output = Expr;

    fn not(self) -> Expr {
        Expr::unary(UnaryOp::Not, self)
    }
}
