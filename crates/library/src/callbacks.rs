//! Functions that a program hands to the library. C programs are careless about their types: a
//! thread's routine may be declared without its argument, or without a result. Where the
//! function is known at the call, one of the right type is put in front of it.

use parallax_program::{
    Callee, Expr, Function, FunctionBuilder, FunctionId, InstKind, Program, Terminator,
};

use crate::adapt;

/// What a function is called with, and what it has to give.
struct Signature {
    params: &'static [u32],
    result: Option<u32>,
}

const ROUTINE: Signature = Signature { params: &[64], result: Some(64) };
const ROUTINE_INT: Signature = Signature { params: &[64], result: Some(32) };
const HANDLER: Signature = Signature { params: &[], result: None };
const DESTRUCTOR: Signature = Signature { params: &[64], result: None };
const COMPARE: Signature = Signature { params: &[64, 64], result: Some(32) };

/// Which argument of a function of the library is a function, and of what type.
fn callback(name: &str) -> Option<(usize, Signature)> {
    Some(match name {
        "pthread_create" | "pthread_create.int" => (2, ROUTINE),
        "__VERIFIER_thread_create" | "__VERIFIER_thread_create_symmetric" => (1, ROUTINE),
        "thrd_create" | "thrd_create.int" => (1, ROUTINE_INT),
        "pthread_once" | "call_once" => (1, HANDLER),
        "atexit" | "__VERIFIER_atexit" => (0, HANDLER),
        "pthread_key_create" | "tss_create" => (1, DESTRUCTOR),
        "qsort" => (3, COMPARE),
        "bsearch" => (4, COMPARE),
        _ => return None,
    })
}

/// Puts a function of the right type in place of one of another type among the arguments.
pub(crate) fn adapt_callbacks(program: &mut Program, name: &str, args: &mut [Expr]) {
    let Some((position, signature)) = callback(name) else {
        return;
    };
    if let Some(Expr::FunctionAddress(id)) = args.get_mut(position)
        && let Some(front) = front(program.function(*id), *id, &signature)
    {
        *id = FunctionId(program.functions.len() as u32);
        program.functions.push(front);
    }
}

/// A function of that type that calls the other; None where it is not needed, or of no help.
fn front(function: &Function, id: FunctionId, signature: &Signature) -> Option<Function> {
    let widths = function.vars.iter().take(function.params as usize).map(|var| var.width);
    let fits = widths.eq(signature.params.iter().copied());
    if fits && (signature.result.is_none() || function.result == signature.result) {
        return None;
    }
    let mut builder = FunctionBuilder::new(&format!("{} as called", function.name));
    let given: Vec<_> = signature
        .params
        .iter()
        .enumerate()
        .map(|(number, width)| (Expr::Var(builder.param(&format!("a{number}"), *width)), *width))
        .collect();
    let args = adapt::arguments(&given, function)?;
    let dst = function.result.map(|width| builder.var("result", width));
    builder.emit(InstKind::Call { dst, callee: Callee::Direct(id), args });
    let value = signature.result.map(|wanted| {
        builder.set_result(wanted);
        match (dst, function.result) {
            (Some(dst), Some(width)) => Expr::Var(dst).resize(width, wanted),
            _ => Expr::constant(wanted, 0),
        }
    });
    builder.terminate(Terminator::Return(value));
    Some(builder.finish())
}
