//! Calls whose arguments or result are not as wide as the function has them. C programs
//! declare functions themselves, and not always alike; where the meaning is plain the call is
//! adapted.

use parallax_program::{Expr, Function, Var};

/// Functions whose first argument is a truth value: whatever scalar a program hands over, a pointer
/// or a wide number too, counts as true when it is not zero.
const TAKE_TRUTH: [&str; 5] = [
    "assume_abort_if_not",
    "__VERIFIER_assume",
    "__VERIFIER_assert",
    "__VERIFIER_assume_internal",
    "__PARALLAX_invariant",
];

/// The arguments as the function takes them. Those beyond its parameters (of functions with a
/// variable number) are left out. None where there are too few, or one is too narrow for its
/// parameter to be what was meant.
pub(crate) fn arguments(args: &[(Expr, u32)], function: &Function) -> Option<Vec<Expr>> {
    let params = function.vars.get(..function.params as usize)?;
    let given = args.get(..params.len())?;
    let takes_truth = TAKE_TRUTH.contains(&function.name.as_str());
    let adapted = given.iter().zip(params).enumerate().map(|(number, ((arg, from), param))| {
        if number == 0 && takes_truth && *from > param.width {
            let truth = arg.clone().ne(Expr::constant(*from, 0));
            return Some(truth.zero_extend(param.width));
        }
        let clear = match *from {
            // Truth values, and sizes on machines of 32 bits.
            1 | 8 => true,
            32 => param.width == 64,
            _ => false,
        };
        (*from >= param.width || clear).then(|| arg.clone().resize(*from, param.width))
    });
    adapted.collect()
}

/// Whether a result can be given to a variable of that width: as it is, or, where it is a truth
/// value, with zeros above.
pub(crate) fn result_fits(result: Option<u32>, wanted: Option<u32>) -> bool {
    match (result, wanted) {
        (_, None) => true,
        (None, Some(_)) => false,
        (Some(result), Some(wanted)) => result == wanted || result == 1,
    }
}

/// How wide an expression of a function with these variables is, in a program with such pointers.
pub(crate) fn width(expr: &Expr, vars: &[Var], pointer: u32) -> u32 {
    let width = |expr: &Expr| width(expr, vars, pointer);
    match expr {
        Expr::Const(bits) => bits.width(),
        Expr::Var(var) => vars.get(var.0 as usize).map_or(0, |var| var.width),
        Expr::Address(_) | Expr::FunctionAddress(_) => pointer,
        Expr::Binary(op, _, _) if op.is_comparison() => 1,
        Expr::Unary(_, value) | Expr::Binary(_, value, _) => width(value),
        Expr::Extract { width, .. }
        | Expr::ZeroExtend { width, .. }
        | Expr::SignExtend { width, .. } => *width,
        Expr::Concat { high, low } => width(high) + width(low),
        Expr::Select { then, .. } => width(then),
    }
}
