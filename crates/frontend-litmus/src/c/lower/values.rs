//! Typed values, conversions between types, and C's operators on them (C11 6.3 and 6.5).

use parallax_program as ir;
use parallax_program::Expr;

use super::Variable;
use crate::c::ast::{BinaryOp, UnaryOp};
use crate::c::types::CType;

/// An expression and its type; as wide as the type says (`void`: one bit that no one looks at).
#[derive(Clone, Debug)]
pub struct Value {
    pub expr: Expr,
    pub ty: CType,
}

impl Value {
    pub fn new(expr: Expr, ty: CType) -> Value {
        Value { expr, ty }
    }

    pub fn void() -> Value {
        Value::new(Expr::constant(1, 0), CType::Void)
    }

    pub fn int(value: i32) -> Value {
        Value::new(Expr::signed(32, value.into()), CType::INT)
    }

    pub fn variable(variable: &Variable) -> Value {
        Value::new(Expr::Var(variable.var), variable.ty.clone())
    }

    /// One bit as an `int`.
    pub fn truth(bit: Expr) -> Value {
        Value::new(bit.zero_extend(32), CType::INT)
    }

    /// The value in another type.
    pub fn convert(self, ty: &CType) -> Value {
        let expr = match ty {
            CType::Void => return Value::void(),
            CType::Bool if self.ty != CType::Bool => self.condition().zero_extend(8),
            _ => self.resize(ty.width()),
        };
        Value::new(expr, ty.clone())
    }

    /// The bits of the value, cut or extended as its own type asks for.
    pub fn resize(self, width: u32) -> Expr {
        let from = self.ty.width();
        if self.ty.signed() && width > from {
            self.expr.sign_extend(width)
        } else {
            self.expr.resize(from, width)
        }
    }

    /// One bit: whether the value differs from zero.
    pub fn condition(self) -> Expr {
        match self.expr {
            Expr::ZeroExtend { value, .. } if is_truth(&value) => *value,
            expr => expr.ne(Expr::constant(self.ty.width(), 0)),
        }
    }

    pub fn unary(self, op: UnaryOp) -> Value {
        if op == UnaryOp::Not {
            return Value::truth(!self.condition());
        }
        let ty = self.ty.promoted();
        let value = self.convert(&ty);
        let expr = match op {
            UnaryOp::Negate => Expr::unary(ir::UnaryOp::Neg, value.expr),
            UnaryOp::Complement => !value.expr,
            UnaryOp::Plus | UnaryOp::Not => value.expr,
        };
        Value::new(expr, ty)
    }

    pub fn binary(self, op: BinaryOp, right: Value) -> Value {
        match (op, &self.ty, &right.ty) {
            (BinaryOp::Shl | BinaryOp::Shr, ..) => self.shift(op, right),
            (BinaryOp::Add | BinaryOp::Sub, CType::Pointer(to), ty) if !ty.is_pointer() => {
                let to = to.width();
                self.offset(op, right, to)
            }
            (BinaryOp::Add, ty, CType::Pointer(_)) if !ty.is_pointer() => right.binary(op, self),
            (BinaryOp::Sub, CType::Pointer(to), CType::Pointer(_)) => {
                let size = Value::new(Expr::constant(64, bytes(to.width())), CType::LONG);
                let distance = Value::new(self.expr - right.expr, CType::LONG);
                distance.arithmetic(BinaryOp::Div, size)
            }
            _ => self.arithmetic(op, right),
        }
    }

    /// A pointer, so many elements of `width` bits further.
    fn offset(self, op: BinaryOp, count: Value, width: u32) -> Value {
        let count = count.resize(CType::POINTER_WIDTH);
        let bytes = Expr::constant(CType::POINTER_WIDTH, bytes(width));
        let distance = count * bytes;
        let expr = match op {
            BinaryOp::Sub => self.expr - distance,
            _ => self.expr + distance,
        };
        Value::new(expr, self.ty)
    }

    fn shift(self, op: BinaryOp, by: Value) -> Value {
        let ty = self.ty.promoted();
        let by = by.resize(ty.width());
        let operator = match (op, ty.signed()) {
            (BinaryOp::Shl, _) => ir::BinaryOp::Shl,
            (_, true) => ir::BinaryOp::AShr,
            (_, false) => ir::BinaryOp::LShr,
        };
        let value = self.convert(&ty);
        Value::new(Expr::binary(operator, value.expr, by), ty)
    }

    fn arithmetic(self, op: BinaryOp, right: Value) -> Value {
        let ty = self.ty.common(&right.ty);
        let (left, right) = (self.convert(&ty).expr, right.convert(&ty).expr);
        let signed = ty.signed();
        let value = |op| Value::new(Expr::binary(op, left.clone(), right.clone()), ty.clone());
        let truth = |op| Value::truth(Expr::binary(op, left.clone(), right.clone()));
        let swapped = |op| Value::truth(Expr::binary(op, right.clone(), left.clone()));
        use ir::BinaryOp as Op;
        let (less, less_equal) = if signed { (Op::Slt, Op::Sle) } else { (Op::Ult, Op::Ule) };
        match op {
            BinaryOp::Mul => value(Op::Mul),
            BinaryOp::Div => value(if signed { Op::SDiv } else { Op::UDiv }),
            BinaryOp::Rem => value(if signed { Op::SRem } else { Op::URem }),
            BinaryOp::Add => value(Op::Add),
            BinaryOp::Sub => value(Op::Sub),
            BinaryOp::And => value(Op::And),
            BinaryOp::Xor => value(Op::Xor),
            BinaryOp::Or => value(Op::Or),
            BinaryOp::Shl => value(Op::Shl),
            BinaryOp::Shr => value(Op::LShr),
            BinaryOp::Lt => truth(less),
            BinaryOp::Le => truth(less_equal),
            BinaryOp::Gt => swapped(less),
            BinaryOp::Ge => swapped(less_equal),
            BinaryOp::Eq => truth(Op::Eq),
            BinaryOp::Ne => truth(Op::Ne),
        }
    }
}

fn bytes(width: u32) -> u128 {
    u128::from(width / 8).max(1)
}

/// Whether an expression is one bit by its form.
fn is_truth(expr: &Expr) -> bool {
    match expr {
        Expr::Binary(op, left, _) => {
            op.is_comparison()
                || (matches!(op, ir::BinaryOp::And | ir::BinaryOp::Or) && is_truth(left))
        }
        Expr::Unary(ir::UnaryOp::Not, value) => is_truth(value),
        _ => false,
    }
}
