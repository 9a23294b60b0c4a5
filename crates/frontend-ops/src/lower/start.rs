//! How a program starts: its globals, and its threads. Where a location may hold anything at
//! first, a thread of its own chooses the values, and then starts the others.

use std::collections::HashMap;

use parallax_program::{
    AccessSize, Callee, Cell, Expr, Function, FunctionBuilder, FunctionId, Global, GlobalId,
    InstKind, Program, Tags, ThreadStart,
};

use super::WIDTH;
use crate::syntax::{Initial, Structures};

/// Makes a global of each location.
pub fn globals<'a>(
    structures: &'a Structures,
    program: &mut Program,
) -> HashMap<&'a str, GlobalId> {
    let mut ids = HashMap::new();
    for location in &structures.locations {
        let id = GlobalId(program.globals.len() as u32);
        ids.insert(location.name.as_str(), id);
        let mut global = Global::zeroed(&location.name, u64::from(WIDTH / 8), WIDTH / 8);
        if let Initial::Value(value) = location.initial
            && value != 0
        {
            let value = Expr::constant(WIDTH, u128::from(value));
            global.init.push(Cell { offset: 0, width: WIDTH, value });
        }
        program.globals.push(global);
    }
    ids
}

/// The fences of all machines, so that nothing comes before them, whatever the model is.
pub fn all_fences() -> Tags {
    Tags::new(["DMB", "DMB.SY", "MFENCE", "SYNC"])
}

/// A function that gets a condition and does nothing.
pub fn mark(name: &str) -> Function {
    let mut builder = FunctionBuilder::new(name);
    builder.param("condition", WIDTH);
    builder.finish()
}

/// Says which threads run. The functions are there already, in the order of the threads.
pub fn threads(
    structures: &Structures,
    globals: &HashMap<&str, GlobalId>,
    has_starter: bool,
    program: &mut Program,
) {
    let functions = || (0..structures.threads.len()).map(|number| FunctionId(number as u32));
    if !has_starter {
        let names = structures.threads.iter().map(|thread| thread.name.clone());
        let starts = names.zip(functions());
        program.threads.extend(starts.map(|(name, function)| ThreadStart {
            name,
            function,
            args: Vec::new(),
        }));
        return;
    }
    let mut builder = FunctionBuilder::new("start'");
    for location in &structures.locations {
        if location.initial == Initial::Arbitrary
            && let Some(global) = globals.get(location.name.as_str())
        {
            builder.at(location.mark.0);
            let value = builder.temp(WIDTH);
            builder.emit(InstKind::Nondet { dst: value });
            builder.emit(InstKind::Store {
                address: Expr::Address(*global),
                value: Expr::Var(value),
                size: AccessSize::WORD,
                tags: Tags::none(),
            });
        }
    }
    builder.emit(InstKind::Fence { tags: all_fences() });
    for (thread, function) in structures.threads.iter().zip(functions()) {
        builder.at(thread.mark.0);
        let callee = Callee::Direct(function);
        builder.emit(InstKind::Spawn { dst: None, callee, args: Vec::new() });
    }
    let function = FunctionId(program.functions.len() as u32);
    program.functions.push(builder.finish());
    program.threads.push(ThreadStart { name: "start".to_string(), function, args: Vec::new() });
}
