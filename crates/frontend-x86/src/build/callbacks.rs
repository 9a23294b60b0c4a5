//! How the library calls functions of the program: arguments go to registers, a return address
//! to the stack.

use parallax_library::Through;
use parallax_program::{
    AccessSize, BinaryOp, Callee, Expr, Function, FunctionBuilder, FunctionId, InstKind, Program,
    Span, Tags, Terminator, VarId,
};

use super::Builder;
use super::foreign::INTEGERS;
use crate::lift::registers::{self, RAX, RSP};

/// The calls that the library makes, by number of arguments and width of the result.
const CALLS: [(usize, Option<u32>); 5] =
    [(0, None), (1, None), (1, Some(32)), (1, Some(64)), (2, Some(32))];

/// Adds a function for each kind of call.
pub fn add(program: &mut Program, builder: &mut Builder<'_>) -> Vec<Through> {
    let span = builder.listing.heading("(calls from the library)");
    let mut through = Vec::new();
    for (args, result) in CALLS {
        let name = builder.unused("callback");
        let function = FunctionId(program.functions.len() as u32);
        program.functions.push(adapter(&name, args, result, span));
        through.push(Through { args, result, function });
    }
    through
}

/// A variable of a function whose first parameters push the registers back.
pub fn behind(params: usize, register: VarId) -> VarId {
    VarId(register.0 + params as u32)
}

/// A builder of a function with these parameters, all of 64 bits, and the registers.
pub fn with_registers(name: &str, params: &[&str], span: Span) -> (FunctionBuilder, Vec<VarId>) {
    let mut builder = FunctionBuilder::new(name);
    builder.at(span);
    let params = params.iter().map(|param| builder.param(param, 64)).collect();
    for register in registers::registers() {
        builder.var(&register.name, register.width);
    }
    (builder, params)
}

fn adapter(name: &str, args: usize, result: Option<u32>, span: Span) -> Function {
    let names = ["entry", "first", "second"];
    let (mut builder, params) = with_registers(name, names.get(..=args).unwrap_or(&names), span);
    let register = |register: VarId| behind(params.len(), register);
    let rsp = register(RSP);
    let saved = builder.var("saved rsp", 64);
    builder.assign(saved, Expr::Var(rsp));
    for (param, (target, _)) in params.iter().skip(1).zip(INTEGERS) {
        builder.assign(register(target), Expr::Var(*param));
    }
    // At the entry of a function the stack is 8 bytes off a multiple of 16.
    let aligned = Expr::binary(BinaryOp::And, Expr::Var(rsp), Expr::signed(64, -16));
    builder.assign(rsp, aligned - Expr::constant(64, 8));
    builder.emit(InstKind::Store {
        address: Expr::Var(rsp),
        value: Expr::constant(64, 0),
        size: AccessSize::DOUBLE,
        tags: Tags::none(),
    });
    let callee = Callee::Indirect(Expr::Var(VarId(0)));
    builder.emit(InstKind::Call { dst: None, callee, args: Vec::new() });
    builder.assign(rsp, Expr::Var(saved));
    let value = result.map(|width| {
        builder.set_result(width);
        Expr::Var(register(RAX)).resize(64, width)
    });
    builder.terminate(Terminator::Return(value));
    Function { registers: true, ..builder.finish() }
}
