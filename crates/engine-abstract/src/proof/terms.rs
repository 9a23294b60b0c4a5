//! Names of operators in the text of terms, after SMT-LIB where it has them.

use parallax_program::{BinaryOp, UnaryOp};

pub const UNARY: [(UnaryOp, &str); 16] = [
    (UnaryOp::Neg, "bvneg"),
    (UnaryOp::Not, "bvnot"),
    (UnaryOp::LeadingZeros, "leading-zeros"),
    (UnaryOp::TrailingZeros, "trailing-zeros"),
    (UnaryOp::PopCount, "pop-count"),
    (UnaryOp::ByteSwap, "byte-swap"),
    (UnaryOp::BitReverse, "bit-reverse"),
    (UnaryOp::FSqrt, "fp.sqrt"),
    (UnaryOp::F32ToF64, "f32-to-f64"),
    (UnaryOp::F64ToF32, "f64-to-f32"),
    (UnaryOp::F64ToS64, "f64-to-s64"),
    (UnaryOp::F64ToU64, "f64-to-u64"),
    (UnaryOp::S64ToF64, "s64-to-f64"),
    (UnaryOp::U64ToF64, "u64-to-f64"),
    (UnaryOp::S64ToF32, "s64-to-f32"),
    (UnaryOp::U64ToF32, "u64-to-f32"),
];

pub const BINARY: [(BinaryOp, &str); 28] = [
    (BinaryOp::Add, "bvadd"),
    (BinaryOp::Sub, "bvsub"),
    (BinaryOp::Mul, "bvmul"),
    (BinaryOp::UDiv, "bvudiv"),
    (BinaryOp::SDiv, "bvsdiv"),
    (BinaryOp::URem, "bvurem"),
    (BinaryOp::SRem, "bvsrem"),
    (BinaryOp::And, "bvand"),
    (BinaryOp::Or, "bvor"),
    (BinaryOp::Xor, "bvxor"),
    (BinaryOp::Shl, "bvshl"),
    (BinaryOp::LShr, "bvlshr"),
    (BinaryOp::AShr, "bvashr"),
    (BinaryOp::Eq, "="),
    (BinaryOp::Ne, "distinct"),
    (BinaryOp::Ult, "bvult"),
    (BinaryOp::Ule, "bvule"),
    (BinaryOp::Slt, "bvslt"),
    (BinaryOp::Sle, "bvsle"),
    (BinaryOp::FAdd, "fp.add"),
    (BinaryOp::FSub, "fp.sub"),
    (BinaryOp::FMul, "fp.mul"),
    (BinaryOp::FDiv, "fp.div"),
    (BinaryOp::FRem, "fp.rem"),
    (BinaryOp::FEq, "fp.eq"),
    (BinaryOp::FLt, "fp.lt"),
    (BinaryOp::FLe, "fp.leq"),
    (BinaryOp::FUnordered, "fp.unordered"),
];

pub fn unary_name(op: UnaryOp) -> &'static str {
    UNARY.iter().find(|(it, _)| *it == op).map_or("?", |(_, name)| name)
}

pub fn binary_name(op: BinaryOp) -> &'static str {
    BINARY.iter().find(|(it, _)| *it == op).map_or("?", |(_, name)| name)
}
