//! The text form of programs: printed by `Display`, read back by [`parse_program`].
//!
//! One instruction a line, `//` starts a comment, names that are not plain words are quoted.
//!
//! ```text
//! program "SB" pointers 64
//!
//! global x: 4 align 4 = { 0: 1:32 }
//! global y: 4 align 4
//!
//! fn P0() {
//!   var r0: 32
//! entry:
//!   store.4 &x, 2:32 [rlx]
//!   fence [sc]
//!   r0 = load.4 &y [acq]
//!   branch r0 == 0:32, seen, end
//! seen:
//!   assert r0 <u 3:32, "small"
//! end:
//!   return
//! }
//!
//! thread P0 = P0()
//! ```
//!
//! What both directions must agree on (words, operators, how names are quoted) is here.

mod cursor;
mod expressions;
mod instructions;
mod lexer;
mod parser;
mod printer;

pub use parser::parse_program;

use crate::{BinaryOp, RmwOp, UnaryOp};

/// After this many errors reading ends: the rest would be noise.
const MOST_ERRORS: usize = 50;

/// Words that start an instruction, a line of a function, or stand for "nothing". A name
/// whose part before the first dot is one of them is quoted.
const KEYWORDS: &[&str] = &[
    "_",
    "alloc",
    "assert",
    "assume",
    "atomic",
    "branch",
    "call",
    "cas",
    "choose",
    "exit",
    "extern",
    "fence",
    "fn",
    "free",
    "global",
    "heapsize",
    "join",
    "jump",
    "ll",
    "load",
    "nondet",
    "program",
    "registers",
    "return",
    "rmw",
    "sc",
    "spawn",
    "store",
    "thread",
    "threadid",
    "undefined",
    "unsupported",
    "var",
    "wait",
];

fn is_keyword(word: &str) -> bool {
    let base = word.split('.').next().unwrap_or(word);
    KEYWORDS.binary_search(&base).is_ok()
}

/// Whether a name needs no quotes: a word, or `%` and digits (how temporaries are called).
fn is_plain(name: &str) -> bool {
    if let Some(digits) = name.strip_prefix('%') {
        return !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    }
    name.starts_with(starts_word) && name.chars().all(continues_word)
}

fn starts_word(c: char) -> bool {
    c.is_ascii_alphabetic() || matches!(c, '_' | '$')
}

fn continues_word(c: char) -> bool {
    starts_word(c) || c.is_ascii_digit() || c == '.'
}

const BINARY_OPS: &[(BinaryOp, &str, Level)] = &[
    (BinaryOp::Mul, "*", Level::Product),
    (BinaryOp::UDiv, "/u", Level::Product),
    (BinaryOp::SDiv, "/s", Level::Product),
    (BinaryOp::URem, "%u", Level::Product),
    (BinaryOp::SRem, "%s", Level::Product),
    (BinaryOp::Add, "+", Level::Sum),
    (BinaryOp::Sub, "-", Level::Sum),
    (BinaryOp::Shl, "<<", Level::Shift),
    (BinaryOp::LShr, ">>u", Level::Shift),
    (BinaryOp::AShr, ">>s", Level::Shift),
    (BinaryOp::And, "&", Level::And),
    (BinaryOp::Xor, "^", Level::Xor),
    (BinaryOp::Or, "|", Level::Or),
    (BinaryOp::Eq, "==", Level::Comparison),
    (BinaryOp::Ne, "!=", Level::Comparison),
    (BinaryOp::Ult, "<u", Level::Comparison),
    (BinaryOp::Ule, "<=u", Level::Comparison),
    (BinaryOp::Slt, "<s", Level::Comparison),
    (BinaryOp::Sle, "<=s", Level::Comparison),
];

/// How tightly operators bind, loosest first. Operators of one level group to the left,
/// except comparisons, which need parentheses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Level {
    Comparison,
    Or,
    Xor,
    And,
    Shift,
    Sum,
    Product,
    /// Operands of prefix operators, names, calls, parentheses.
    Operand,
}

impl Level {
    fn tighter(self) -> Level {
        match self {
            Level::Comparison => Level::Or,
            Level::Or => Level::Xor,
            Level::Xor => Level::And,
            Level::And => Level::Shift,
            Level::Shift => Level::Sum,
            Level::Sum => Level::Product,
            Level::Product | Level::Operand => Level::Operand,
        }
    }
}

/// Operators that are written like calls: `clz(x)`.
const UNARY_FUNCTIONS: &[(UnaryOp, &str)] = &[
    (UnaryOp::LeadingZeros, "clz"),
    (UnaryOp::TrailingZeros, "ctz"),
    (UnaryOp::PopCount, "popcount"),
    (UnaryOp::ByteSwap, "bswap"),
    (UnaryOp::BitReverse, "bitreverse"),
    (UnaryOp::FSqrt, "fsqrt"),
    (UnaryOp::F32ToF64, "f32tof64"),
    (UnaryOp::F64ToF32, "f64tof32"),
    (UnaryOp::F64ToS64, "f64tos64"),
    (UnaryOp::F64ToU64, "f64tou64"),
    (UnaryOp::S64ToF64, "s64tof64"),
    (UnaryOp::U64ToF64, "u64tof64"),
    (UnaryOp::S64ToF32, "s64tof32"),
    (UnaryOp::U64ToF32, "u64tof32"),
];

const BINARY_FUNCTIONS: &[(BinaryOp, &str)] = &[
    (BinaryOp::FAdd, "fadd"),
    (BinaryOp::FSub, "fsub"),
    (BinaryOp::FMul, "fmul"),
    (BinaryOp::FDiv, "fdiv"),
    (BinaryOp::FRem, "frem"),
    (BinaryOp::FEq, "feq"),
    (BinaryOp::FLt, "flt"),
    (BinaryOp::FLe, "fle"),
    (BinaryOp::FUnordered, "funordered"),
];

const RMW_OPS: &[(RmwOp, &str)] = &[
    (RmwOp::Swap, "swap"),
    (RmwOp::Add, "add"),
    (RmwOp::Sub, "sub"),
    (RmwOp::And, "and"),
    (RmwOp::AndNot, "andnot"),
    (RmwOp::Nand, "nand"),
    (RmwOp::Or, "or"),
    (RmwOp::Xor, "xor"),
    (RmwOp::SMin, "smin"),
    (RmwOp::SMax, "smax"),
    (RmwOp::UMin, "umin"),
    (RmwOp::UMax, "umax"),
    (RmwOp::ReverseSub, "rsub"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_are_sorted_for_the_search() {
        assert!(KEYWORDS.is_sorted());
    }

    #[test]
    fn plain_names_need_no_quotes() {
        for name in ["x", "r0", "%12", "next.4", "DMB.SY", "$a", "_b"] {
            assert!(is_plain(name), "{name}");
        }
        for name in ["", "%", "%x", "0:EAX", "a-b", "a b", "é", ".x"] {
            assert!(!is_plain(name), "{name}");
        }
        assert!(is_keyword("load.4") && is_keyword("_") && !is_keyword("loads"));
    }
}
