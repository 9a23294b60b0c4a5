//! The words for operators, predicates and orderings.

use super::module::{BinaryOp, CastOp, FloatPredicate, Ordering, Predicate, RmwOp};

pub fn binary_op(word: &str) -> Option<BinaryOp> {
    use BinaryOp::*;
    Some(match word {
        "add" => Add,
        "sub" => Sub,
        "mul" => Mul,
        "udiv" => UDiv,
        "sdiv" => SDiv,
        "urem" => URem,
        "srem" => SRem,
        "shl" => Shl,
        "lshr" => LShr,
        "ashr" => AShr,
        "and" => And,
        "or" => Or,
        "xor" => Xor,
        "fadd" => FAdd,
        "fsub" => FSub,
        "fmul" => FMul,
        "fdiv" => FDiv,
        "frem" => FRem,
        _ => return None,
    })
}

pub fn cast_op(word: &str) -> Option<CastOp> {
    use CastOp::*;
    Some(match word {
        "trunc" => Trunc,
        "zext" => ZExt,
        "sext" => SExt,
        "fptrunc" => FPTrunc,
        "fpext" => FPExt,
        "fptoui" => FPToUI,
        "fptosi" => FPToSI,
        "uitofp" => UIToFP,
        "sitofp" => SIToFP,
        "ptrtoint" => PtrToInt,
        "inttoptr" => IntToPtr,
        "bitcast" | "addrspacecast" => BitCast,
        _ => return None,
    })
}

pub fn predicate(word: &str) -> Option<Predicate> {
    use Predicate::*;
    Some(match word {
        "eq" => Eq,
        "ne" => Ne,
        "ugt" => Ugt,
        "uge" => Uge,
        "ult" => Ult,
        "ule" => Ule,
        "sgt" => Sgt,
        "sge" => Sge,
        "slt" => Slt,
        "sle" => Sle,
        _ => return None,
    })
}

/// `oeq`: ordered and equal; `une`: unordered, or not equal; and so on.
pub fn float_predicate(word: &str) -> Option<FloatPredicate> {
    let (unordered, rest) = match word {
        "true" => return Some(always(true)),
        "false" => return Some(always(false)),
        "ord" => return Some(FloatPredicate { unordered: false, ..always(true) }),
        "uno" => return Some(FloatPredicate { unordered: true, ..always(false) }),
        _ => match word.split_at_checked(1)? {
            ("o", rest) => (false, rest),
            ("u", rest) => (true, rest),
            _ => return None,
        },
    };
    let (less, equal, greater) = match rest {
        "eq" => (false, true, false),
        "ne" => (true, false, true),
        "lt" => (true, false, false),
        "le" => (true, true, false),
        "gt" => (false, false, true),
        "ge" => (false, true, true),
        _ => return None,
    };
    Some(FloatPredicate { less, equal, greater, unordered })
}

fn always(value: bool) -> FloatPredicate {
    FloatPredicate { less: value, equal: value, greater: value, unordered: value }
}

pub fn ordering(word: &str) -> Option<Ordering> {
    Some(match word {
        "unordered" | "monotonic" => Ordering::Relaxed,
        "acquire" => Ordering::Acquire,
        "release" => Ordering::Release,
        "acq_rel" => Ordering::AcquireRelease,
        "seq_cst" => Ordering::SequentiallyConsistent,
        _ => return None,
    })
}

pub fn rmw_op(word: &str) -> Option<RmwOp> {
    use RmwOp::*;
    Some(match word {
        "xchg" => Xchg,
        "add" => Add,
        "sub" => Sub,
        "and" => And,
        "nand" => Nand,
        "or" => Or,
        "xor" => Xor,
        "max" => Max,
        "min" => Min,
        "umax" => UMax,
        "umin" => UMin,
        "fadd" => FAdd,
        "fsub" => FSub,
        "fmax" => FMax,
        "fmin" => FMin,
        "uinc_wrap" => UIncWrap,
        "udec_wrap" => UDecWrap,
        _ => return None,
    })
}
