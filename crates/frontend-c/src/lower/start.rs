//! How a program starts: constructors, `main` with its arguments, destructors, exit handlers.

use parallax_program::{
    Callee, Cell, Diagnostic, Expr, FunctionBuilder, FunctionId, Global, GlobalId, InstKind,
    Program, Terminator, ThreadStart,
};

use super::layout::Lowered;
use super::unit::{Symbol, Unit};
use crate::llvm::{Module, Value};

/// Functions that register others to be called at the end.
const AT_EXIT: [&str; 3] = ["atexit", "__VERIFIER_atexit", "__cxa_atexit"];

/// Adds the first thread.
pub fn add_main_thread(program: &mut Program, units: &[Unit<'_>]) -> Result<(), Diagnostic> {
    let main = units.iter().find_map(|unit| match unit.symbols.get("main") {
        Some(Symbol::Function(id)) => Some(*id),
        _ => None,
    });
    let missing = || Diagnostic::new("the program has no function 'main'");
    let main = main.ok_or_else(missing)?;
    let args = main_arguments(program, main)?;
    let constructors = structors(units, "llvm.global_ctors");
    let mut destructors = structors(units, "llvm.global_dtors");
    destructors.reverse();
    program.daemons = !leaves_alone(program, main);
    let plain = constructors.is_empty() && destructors.is_empty() && !registers_handlers(program);
    let start = match plain {
        true => ThreadStart { name: "main".to_string(), function: main, args },
        false => {
            let function = start_function(program, main, args, &constructors, &destructors);
            ThreadStart { name: "main".to_string(), function, args: Vec::new() }
        }
    };
    program.threads.push(start);
    Ok(())
}

/// Functions that start threads; what they are handed is not run by the thread that calls them …
const STARTS_THREAD: [&str; 6] = [
    "pthread_create",
    "pthread_create.int",
    "thrd_create",
    "thrd_create.int",
    "__VERIFIER_thread_create",
    "__VERIFIER_thread_create_symmetric",
];

/// … and those that end the calling thread, and no other.
const ENDS_THREAD: [&str; 3] = ["pthread_exit", "thrd_exit", "__VERIFIER_thread_exit"];

/// Whether the first thread may end without the program, so that the others go on.
fn leaves_alone(program: &Program, main: FunctionId) -> bool {
    let mut found = vec![main];
    let mut next = 0;
    while let Some(function) = found.get(next).copied() {
        next += 1;
        let blocks = program.functions.get(function.0 as usize).into_iter().flat_map(|f| &f.blocks);
        for inst in blocks.flat_map(|block| &block.insts) {
            let InstKind::Call { callee, args, .. } = &inst.kind else { continue };
            let mut more: Vec<FunctionId> = Vec::new();
            match callee {
                Callee::Direct(id) => more.push(*id),
                Callee::External(name) if ENDS_THREAD.contains(&name.as_str()) => return true,
                Callee::External(name) if STARTS_THREAD.contains(&name.as_str()) => continue,
                Callee::External(_) => {}
                // It may be any of them.
                Callee::Indirect(_) => {
                    more.extend((0..program.functions.len() as u32).map(FunctionId))
                }
            }
            more.extend(args.iter().filter_map(|arg| match arg {
                Expr::FunctionAddress(id) => Some(*id),
                _ => None,
            }));
            more.retain(|id| !found.contains(id));
            found.extend(more);
        }
    }
    false
}

/// One argument, the name of the program, and an empty environment.
fn main_arguments(program: &mut Program, main: FunctionId) -> Result<Vec<Expr>, Diagnostic> {
    let function = program.function(main);
    let params = &function.vars[..function.params as usize];
    let widths: Vec<u32> = params.iter().map(|param| param.width).collect();
    let pointer = program.pointer_width;
    let bytes = u64::from(pointer / 8);
    let count = |width| Expr::constant(width, 1);
    match widths[..] {
        [] => Ok(Vec::new()),
        [argc] => Ok(vec![count(argc)]),
        [argc, argv] if argv == pointer => Ok(vec![count(argc), arguments(program, bytes)]),
        [argc, argv, env] if argv == pointer && env == pointer => {
            let arguments = arguments(program, bytes);
            let environment = add_global(program, Global::zeroed("environment", bytes, 8));
            Ok(vec![count(argc), arguments, environment])
        }
        _ => Err(Diagnostic::new("'main' takes arguments that it is never given")
            .with_help("int main(void) and int main(int argc, char **argv) are supported")),
    }
}

fn arguments(program: &mut Program, bytes: u64) -> Expr {
    let text = b"program";
    let mut name = Global::zeroed("argv[0]", text.len() as u64 + 1, 1);
    name.init = (0..)
        .zip(text)
        .map(|(offset, byte)| Cell {
            offset,
            width: 8,
            value: Expr::constant(8, u128::from(*byte)),
        })
        .collect();
    let name = add_global(program, name);
    let mut vector = Global::zeroed("argv", 2 * bytes, 8);
    vector.init = vec![Cell { offset: 0, width: program.pointer_width, value: name }];
    add_global(program, vector)
}

fn add_global(program: &mut Program, mut global: Global) -> Expr {
    while program.globals.iter().any(|known| known.name == global.name) {
        global.name.push('\'');
    }
    let id = GlobalId(program.globals.len() as u32);
    program.globals.push(global);
    Expr::Address(id)
}

fn registers_handlers(program: &Program) -> bool {
    let insts = program.functions.iter().flat_map(|f| f.blocks.iter().flat_map(|b| &b.insts));
    insts.into_iter().any(|inst| match &inst.kind {
        InstKind::Call { callee: Callee::External(name), .. } => AT_EXIT.contains(&name.as_str()),
        _ => false,
    })
}

/// Constructors or destructors of all units, by priority and then in order.
fn structors(units: &[Unit<'_>], table: &str) -> Vec<Lowered<FunctionId>> {
    let mut found = Vec::new();
    for unit in units {
        for (priority, function) in entries(unit.module, table) {
            let id = match &function {
                Value::Global(name) => match unit.callee(name) {
                    Some(Symbol::Function(id)) => Ok(id),
                    _ => Err(format!("'{name}', which runs by itself and is defined nowhere")),
                },
                _ => Err("a function that runs by itself".to_string()),
            };
            found.push((priority, id));
        }
    }
    found.sort_by_key(|(priority, _)| *priority);
    found.into_iter().map(|(_, id)| id).collect()
}

fn entries(module: &Module, table: &str) -> Vec<(u128, Value)> {
    let global = module.globals.iter().find(|global| global.name.as_ref() == table);
    let Some(Value::Aggregate(elements)) = global.and_then(|global| global.init.as_ref()) else {
        return Vec::new();
    };
    let entry = |value: &Value| match value {
        Value::Aggregate(fields) => match (fields.first().map(|f| &f.value), fields.get(1)) {
            (Some(Value::Int(priority)), Some(function)) => {
                Some((*priority, function.value.clone()))
            }
            _ => None,
        },
        _ => None,
    };
    elements.iter().filter_map(|element| entry(&element.value)).collect()
}

fn start_function(
    program: &mut Program,
    main: FunctionId,
    args: Vec<Expr>,
    constructors: &[Lowered<FunctionId>],
    destructors: &[Lowered<FunctionId>],
) -> FunctionId {
    let mut name = "_start".to_string();
    while program.functions.iter().any(|function| function.name == name) {
        name.push('\'');
    }
    let mut builder = FunctionBuilder::new(&name);
    let call = |builder: &mut FunctionBuilder, function: &Lowered<FunctionId>| match function {
        Ok(id) => {
            let callee = Callee::Direct(*id);
            builder.emit(InstKind::Call { dst: None, callee, args: Vec::new() });
        }
        Err(what) => builder.emit(InstKind::Unsupported { what: what.clone() }),
    };
    // Destructors are the last to run, and run whoever ends the program.
    for function in destructors.iter().rev() {
        match function {
            Ok(id) => {
                let callee = Callee::External(AT_EXIT[0].to_string());
                let args = vec![Expr::FunctionAddress(*id)];
                builder.emit(InstKind::Call { dst: None, callee, args });
            }
            Err(what) => builder.emit(InstKind::Unsupported { what: what.clone() }),
        }
    }
    constructors.iter().for_each(|function| call(&mut builder, function));
    let dst = program.function(main).result.map(|width| {
        builder.set_result(width);
        builder.temp(width)
    });
    builder.emit(InstKind::Call { dst, callee: Callee::Direct(main), args });
    if registers_handlers(program) || !destructors.is_empty() {
        let code = dst.map_or(Expr::constant(32, 0), Expr::Var);
        let callee = Callee::External("exit".to_string());
        builder.emit(InstKind::Call { dst: None, callee, args: vec![code] });
    }
    builder.terminate(Terminator::Return(dst.map(Expr::Var)));
    let id = FunctionId(program.functions.len() as u32);
    program.functions.push(builder.finish());
    id
}
