//! The status flags, one bit each, and the conditions on them (Intel SDM, volume 1, 3.4.3, and
//! volume 2, appendix B.1.4.7).

use iced_x86::ConditionCode;
use parallax_program::{BinaryOp, Expr, UnaryOp, VarId};

use super::Step;
use super::registers::{AF, CF, OF, PF, SF, ZF};
use super::sequence::Sequence;

impl Step<'_> {
    /// What undefined flags become, and some defined ones.
    pub fn clear(&mut self, flags: &[VarId]) {
        for flag in flags {
            self.out.assign(*flag, bit(false));
        }
    }
}

pub fn bit(value: bool) -> Expr {
    Expr::constant(1, value.into())
}

pub fn top_bit(value: Expr, width: u32) -> Expr {
    value.extract(width - 1, 1)
}

/// Whether all bits are zero.
pub fn is_zero(value: Expr, width: u32) -> Expr {
    value.eq(Expr::constant(width, 0))
}

/// The flags that depend on the result alone: zero, sign and the parity of the lowest byte.
pub fn by_result(out: &mut Sequence, result: &Expr, width: u32) {
    out.assign(ZF, is_zero(result.clone(), width));
    out.assign(SF, top_bit(result.clone(), width));
    out.assign(PF, parity(result));
}

/// Whether the number of ones in the lowest byte is even.
pub fn parity(result: &Expr) -> Expr {
    let ones = Expr::unary(UnaryOp::PopCount, result.clone().extract(0, 8));
    !ones.extract(0, 1)
}

/// All flags of `result = left + right`, and of a carry that came in.
pub fn by_sum(out: &mut Sequence, left: &Expr, right: &Expr, result: &Expr, width: u32) {
    let differs = (left.clone() ^ result.clone()) & (right.clone() ^ result.clone());
    let carries = majority(left.clone(), right.clone(), !result.clone());
    out.assign(OF, top_bit(differs, width));
    out.assign(AF, (left.clone() ^ right.clone() ^ result.clone()).extract(4, 1));
    out.assign(CF, top_bit(carries, width));
    by_result(out, result, width);
}

/// All flags of `result = left - right` less a borrow that came in.
pub fn by_borrowing(out: &mut Sequence, left: &Expr, right: &Expr, result: &Expr, width: u32) {
    let differs = (left.clone() ^ right.clone()) & (left.clone() ^ result.clone());
    let borrows = majority(!left.clone(), right.clone(), result.clone());
    out.assign(OF, top_bit(differs, width));
    out.assign(AF, (left.clone() ^ right.clone() ^ result.clone()).extract(4, 1));
    out.assign(CF, top_bit(borrows, width));
    by_result(out, result, width);
}

/// All flags of `result = left - right`. They say how the two compare, and are written so.
pub fn by_difference(out: &mut Sequence, left: &Expr, right: &Expr, result: &Expr, width: u32) {
    let compare = |op| Expr::binary(op, left.clone(), right.clone());
    by_result(out, result, width);
    out.assign(ZF, compare(BinaryOp::Eq));
    out.assign(CF, compare(BinaryOp::Ult));
    out.assign(OF, top_bit(result.clone(), width) ^ compare(BinaryOp::Slt));
    out.assign(AF, (left.clone() ^ right.clone() ^ result.clone()).extract(4, 1));
}

/// The bits that at least two operands have set: the carry out of each position of a sum.
fn majority(a: Expr, b: Expr, c: Expr) -> Expr {
    (a.clone() & b.clone()) | (c & (a | b))
}

/// One bit: whether a condition of jumps, moves and `setcc` holds.
pub fn condition(code: ConditionCode) -> Option<Expr> {
    let flag = Expr::Var;
    let less = || flag(SF) ^ flag(OF);
    Some(match code {
        ConditionCode::None => return None,
        ConditionCode::o => flag(OF),
        ConditionCode::no => !flag(OF),
        ConditionCode::b => flag(CF),
        ConditionCode::ae => !flag(CF),
        ConditionCode::e => flag(ZF),
        ConditionCode::ne => !flag(ZF),
        ConditionCode::be => flag(CF) | flag(ZF),
        ConditionCode::a => !(flag(CF) | flag(ZF)),
        ConditionCode::s => flag(SF),
        ConditionCode::ns => !flag(SF),
        ConditionCode::p => flag(PF),
        ConditionCode::np => !flag(PF),
        ConditionCode::l => less(),
        ConditionCode::ge => !less(),
        ConditionCode::le => less() | flag(ZF),
        ConditionCode::g => !(less() | flag(ZF)),
    })
}
