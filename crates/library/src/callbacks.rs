//! Functions that a program hands to the library. C programs are careless about their types: a
//! thread's routine may be declared without its argument, or without a result. Where the
//! function is known at the call, one of the right type is put in front of it.

use parallax_program::{
    Callee, Expr, Function, FunctionBuilder, FunctionId, InstKind, Program, Terminator,
};

use crate::adapt;

/// How many pointers a function is called with, and what it has to give.
struct Signature {
    params: usize,
    result: Option<u32>,
}

/// Which argument of a function of the library is a function, and of what type.
fn callback(name: &str, pointer: u32) -> Option<(usize, Signature)> {
    let routine = Signature { params: 1, result: Some(pointer) };
    let routine_int = Signature { params: 1, result: Some(32) };
    let handler = Signature { params: 0, result: None };
    let destructor = Signature { params: 1, result: None };
    let compare = Signature { params: 2, result: Some(32) };
    Some(match name {
        "pthread_create" | "pthread_create.int" => (2, routine),
        "__VERIFIER_thread_create" | "__VERIFIER_thread_create_symmetric" => (1, routine),
        "thrd_create" | "thrd_create.int" => (1, routine_int),
        "pthread_once" | "call_once" => (1, handler),
        "atexit" | "__VERIFIER_atexit" => (0, handler),
        "pthread_key_create" | "tss_create" => (1, destructor),
        "qsort" => (3, compare),
        "bsearch" => (4, compare),
        _ => return None,
    })
}

/// Puts a function of the right type in place of one of another type among the arguments.
pub(crate) fn adapt_callbacks(program: &mut Program, name: &str, args: &mut [Expr]) {
    let pointer = program.pointer_width;
    let Some((position, signature)) = callback(name, pointer) else {
        return;
    };
    if let Some(Expr::FunctionAddress(id)) = args.get_mut(position)
        && let Some(front) = front(program.function(*id), *id, &signature, pointer)
    {
        *id = FunctionId(program.functions.len() as u32);
        program.functions.push(front);
    }
}

/// A function of that type that calls the other; None where it is not needed, or of no help.
fn front(
    function: &Function,
    id: FunctionId,
    signature: &Signature,
    pointer: u32,
) -> Option<Function> {
    let widths = function.vars.iter().take(function.params as usize).map(|var| var.width);
    let fits = widths.eq(std::iter::repeat_n(pointer, signature.params));
    if fits && (signature.result.is_none() || function.result == signature.result) {
        return None;
    }
    let mut builder = FunctionBuilder::new(&format!("{} as called", function.name));
    let given: Vec<_> = (0..signature.params)
        .map(|number| (Expr::Var(builder.param(&format!("a{number}"), pointer)), pointer))
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
