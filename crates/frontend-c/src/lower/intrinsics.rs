//! Functions that LLVM itself knows (LLVM Language Reference, "Intrinsic Functions").

use parallax_program::{BinaryOp, Expr, Property, UnaryOp};

use super::arithmetic::fits_signed;
use super::body::Body;
use super::layout::Lowered;
use crate::llvm::{self, Call, Instruction, Value};

impl Body<'_> {
    pub fn intrinsic(&mut self, name: &str, call: &Call, inst: &Instruction) -> Lowered<()> {
        let Some(stem) = name.strip_prefix("llvm.") else {
            return Err(format!("a call of '{name}'"));
        };
        if let Some(done) = self.effect(stem, call, inst) {
            return done;
        }
        let Some(result) = &inst.result else {
            return Err(format!("a call of '{name}'"));
        };
        let values = match self.value_of(stem, call) {
            Some(values) => values?,
            None => return Err(format!("a call of '{name}'")),
        };
        self.define(result, values);
        Ok(())
    }

    /// Those that do something, or that nothing needs to be done for.
    fn effect(&mut self, stem: &str, call: &Call, inst: &Instruction) -> Option<Lowered<()>> {
        const SILENT: [&str; 9] = [
            "x86.sse2.pause",
            "invariant.",
            "dbg.",
            "assume",
            "experimental.noalias",
            "donothing",
            "prefetch",
            "sideeffect",
            "var.annotation",
        ];
        if stem.starts_with("lifetime.") {
            self.lifetime(stem, call.args.last().map(|arg| &arg.value.value));
            return Some(Ok(()));
        }
        if stem.starts_with("stackrestore") {
            return Some(self.restore_stack(call.args.first().map(|arg| &arg.value.value)));
        }
        if SILENT.iter().any(|silent| stem.starts_with(silent)) {
            return Some(Ok(()));
        }
        let arg = |index: usize| call.args.get(index).map(|arg| &arg.value);
        if stem.starts_with("memcpy.") || stem.starts_with("memmove.") {
            let name = if stem.starts_with("memcpy.") { "memcpy" } else { "memmove" };
            return Some(self.copy(&arg(0)?.value, &arg(1)?.value, arg(2)?, name, inst));
        }
        if stem.starts_with("memset.") {
            return Some(self.fill_memory(&arg(0)?.value, arg(1)?, arg(2)?));
        }
        match stem {
            "trap" | "debugtrap" | "ubsantrap" => {
                self.call_external("__builtin_trap", None, Vec::new());
                Some(Ok(()))
            }
            _ if stem.starts_with("va_") => {
                Some(Err("arguments beyond the fixed ones".to_string()))
            }
            _ => None,
        }
    }

    /// Those that give a value. None for one that is not known.
    fn value_of(&mut self, stem: &str, call: &Call) -> Option<Lowered<Vec<Expr>>> {
        let first = call.args.first().map(|arg| &arg.value);
        let family = stem.split('.').next().unwrap_or("");
        if matches!(family, "expect" | "annotation" | "launder" | "strip" | "threadlocal")
            || stem.starts_with("ptr.annotation")
            || stem.starts_with("ssa.copy")
        {
            let first = first?;
            return Some(self.operand(&first.ty, &first.value));
        }
        if stem.starts_with("is.constant") {
            return Some(Ok(vec![Expr::constant(1, 0)]));
        }
        if stem.starts_with("stacksave") {
            return Some(Ok(vec![self.unit.pointer(0)]));
        }
        if stem.starts_with("objectsize") {
            let least = call.args.get(1).is_some_and(|arg| arg.value.value == Value::Int(1));
            let width = self.unit.layout.width(&call.result);
            let unknown = if least { 0 } else { -1 };
            return Some(width.map(|width| vec![Expr::signed(width, unknown)]));
        }
        if stem.contains(".with.overflow") {
            return Some(self.with_overflow(stem, call));
        }
        self.is_elementwise(stem).then(|| self.elementwise(stem, call))
    }

    fn is_elementwise(&self, stem: &str) -> bool {
        const KNOWN: [&str; 25] = [
            "ctpop",
            "ctlz",
            "cttz",
            "bswap",
            "bitreverse",
            "fshl",
            "fshr",
            "smin",
            "smax",
            "umin",
            "umax",
            "abs",
            "sadd",
            "uadd",
            "ssub",
            "usub",
            "fabs",
            "copysign",
            "sqrt",
            "fmuladd",
            "minnum",
            "maxnum",
            "ptrmask",
            "minimum",
            "maximum",
        ];
        KNOWN.contains(&stem.split('.').next().unwrap_or(""))
    }

    fn with_overflow(&mut self, stem: &str, call: &Call) -> Lowered<Vec<Expr>> {
        let [left, right] = call.args.as_slice() else {
            return Err("an operation with two operands".to_string());
        };
        let width = self.unit.layout.width(&left.value.ty)?;
        let (a, b) = (self.typed(&left.value)?, self.typed(&right.value)?);
        let (a, b) = (self.in_var(a, width), self.in_var(b, width));
        let (op, from) = match &stem[1..4] {
            "add" => (BinaryOp::Add, llvm::BinaryOp::Add),
            "sub" => (BinaryOp::Sub, llvm::BinaryOp::Sub),
            _ => (BinaryOp::Mul, llvm::BinaryOp::Mul),
        };
        let value = Expr::binary(op, a.clone(), b.clone());
        let too_wide = || format!("an overflow check on {width} bits");
        let wrong = match (stem.starts_with('s'), op) {
            (true, _) => {
                let fits = fits_signed(from, &a, &b, width).ok_or_else(too_wide)?;
                Expr::unary(UnaryOp::Not, fits)
            }
            (false, BinaryOp::Add) => Expr::binary(BinaryOp::Ult, value.clone(), a),
            (false, BinaryOp::Sub) => Expr::binary(BinaryOp::Ult, a, b),
            (false, _) if width <= 64 => {
                let product = a.zero_extend(2 * width) * b.zero_extend(2 * width);
                product.extract(width, width).ne(Expr::constant(width, 0))
            }
            (false, _) => return Err(too_wide()),
        };
        Ok(vec![value, wrong])
    }

    /// On scalars, and on each lane of a vector.
    fn elementwise(&mut self, stem: &str, call: &Call) -> Lowered<Vec<Expr>> {
        let family = stem.split('.').next().unwrap_or("");
        if matches!(
            family,
            "fabs" | "copysign" | "sqrt" | "fmuladd" | "minnum" | "maxnum" | "minimum" | "maximum"
        ) {
            self.numbers(&call.result)?;
        }
        let widths: Vec<u32> =
            self.unit.layout.scalars(&call.result)?.iter().map(|scalar| scalar.width).collect();
        let mut operands = Vec::new();
        for arg in &call.args {
            let mut lanes = self.operand(&arg.value.ty, &arg.value.value)?;
            let same =
                self.unit.layout.resolve(&arg.value.ty) == self.unit.layout.resolve(&call.result);
            for (lane, width) in lanes.iter_mut().zip(&widths) {
                if same {
                    *lane = self.in_var(lane.clone(), *width);
                }
            }
            operands.push(lanes);
        }
        let mut values = Vec::new();
        for (lane, width) in widths.into_iter().enumerate() {
            let mut of_lane =
                operands.iter().map(|lanes| lanes.get(lane).or(lanes.first()).cloned());
            let mut next = || of_lane.next().flatten().ok_or(format!("'{stem}' without operands"));
            if family == "abs" && self.unit.shared.options.overflow && is_poison_at_least(call) {
                let least = Expr::constant(width, 1 << (width - 1));
                let fits = operands[0].get(lane).cloned().map(|operand| operand.ne(least));
                let fits = fits.ok_or("'abs' without operands")?;
                self.require(fits, "signed integer overflow in abs", Property::Overflow);
            }
            let value = match family {
                "ctpop" | "ctlz" | "cttz" | "bswap" | "bitreverse" | "fabs" | "sqrt" | "abs" => {
                    one_operand(family, next()?, width)
                }
                "fshl" | "fshr" => funnel(family == "fshl", next()?, next()?, next()?, width),
                "fmuladd" => {
                    let product = Expr::binary(BinaryOp::FMul, next()?, next()?);
                    Expr::binary(BinaryOp::FAdd, product, next()?)
                }
                _ => two_operands(stem, next()?, next()?, width)?,
            };
            values.push(value);
        }
        Ok(values)
    }
}

/// Whether `abs` has no value for the least number.
fn is_poison_at_least(call: &Call) -> bool {
    call.args.get(1).is_some_and(|arg| arg.value.value == Value::Int(1))
}

fn one_operand(family: &str, value: Expr, width: u32) -> Expr {
    let op = match family {
        "ctpop" => UnaryOp::PopCount,
        "ctlz" => UnaryOp::LeadingZeros,
        "cttz" => UnaryOp::TrailingZeros,
        "bswap" => UnaryOp::ByteSwap,
        "bitreverse" => UnaryOp::BitReverse,
        "sqrt" => UnaryOp::FSqrt,
        "fabs" => return value & Expr::constant(width, (1 << (width - 1)) - 1),
        _ => {
            let negative = Expr::binary(BinaryOp::Slt, value.clone(), Expr::constant(width, 0));
            return negative.select(Expr::unary(UnaryOp::Neg, value.clone()), value);
        }
    };
    Expr::unary(op, value)
}

fn two_operands(stem: &str, a: Expr, b: Expr, width: u32) -> Lowered<Expr> {
    let pick = |op: BinaryOp, less: bool| {
        let (x, y) = if less { (a.clone(), b.clone()) } else { (b.clone(), a.clone()) };
        Expr::binary(op, x, y).select(a.clone(), b.clone())
    };
    let sign = 1u128 << (width - 1);
    Ok(match stem.split('.').next().unwrap_or("") {
        "smin" => pick(BinaryOp::Slt, true),
        "smax" => pick(BinaryOp::Slt, false),
        "umin" => pick(BinaryOp::Ult, true),
        "umax" => pick(BinaryOp::Ult, false),
        "minnum" | "maxnum" => {
            let unordered = Expr::binary(BinaryOp::FUnordered, b.clone(), b.clone());
            let picked = pick(BinaryOp::FLt, stem.starts_with("min"));
            unordered.select(a.clone(), picked)
        }
        "ptrmask" => a & b,
        "copysign" => (a & Expr::constant(width, sign - 1)) | (b & Expr::constant(width, sign)),
        family @ ("sadd" | "uadd" | "ssub" | "usub") if stem.contains(".sat") => {
            saturated(family, a, b, width)
        }
        family => return Err(format!("a call of 'llvm.{family}'")),
    })
}

/// Addition and subtraction that stop at the ends of the range.
fn saturated(family: &str, a: Expr, b: Expr, width: u32) -> Expr {
    let sign = 1u128 << (width - 1);
    let negative = Expr::binary(BinaryOp::Slt, a.clone(), Expr::constant(width, 0));
    let end = negative.select(Expr::constant(width, sign), Expr::constant(width, sign - 1));
    match family {
        "uadd" => {
            let sum = a.clone() + b;
            let wraps = Expr::binary(BinaryOp::Ult, sum.clone(), a);
            wraps.select(Expr::signed(width, -1), sum)
        }
        "usub" => {
            let wraps = Expr::binary(BinaryOp::Ult, a.clone(), b.clone());
            wraps.select(Expr::constant(width, 0), a - b)
        }
        _ => {
            let add = family == "sadd";
            let op = if add { llvm::BinaryOp::Add } else { llvm::BinaryOp::Sub };
            let value = if add { a.clone() + b.clone() } else { a.clone() - b.clone() };
            match fits_signed(op, &a, &b, width) {
                Some(fits) => fits.select(value, end),
                None => value,
            }
        }
    }
}

/// Shifts of two words as one; by the amount modulo the width.
fn funnel(left: bool, high: Expr, low: Expr, by: Expr, width: u32) -> Expr {
    let size = Expr::constant(width, u128::from(width));
    let by = Expr::binary(BinaryOp::URem, by, size.clone());
    // A shift by the whole width gives zeros, so no amount needs a case of its own.
    let rest = size - by.clone();
    match left {
        true => Expr::binary(BinaryOp::Shl, high, by) | Expr::binary(BinaryOp::LShr, low, rest),
        false => Expr::binary(BinaryOp::Shl, high, rest) | Expr::binary(BinaryOp::LShr, low, by),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_pairs_are_named() {
        let one = Expr::constant(8, 1);
        assert_eq!(
            two_operands("minimum.f64", one.clone(), one, 8),
            Err("a call of 'llvm.minimum'".to_string())
        );
    }
}
