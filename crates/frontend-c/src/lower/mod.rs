//! From modules of LLVM to a program.

mod alignment;
mod arithmetic;
mod assembly;
mod atomics;
mod blocks;
mod body;
mod calls;
mod constants;
mod copies;
mod escapes;
mod format;
mod instructions;
mod intrinsics;
mod joins;
mod layout;
mod lifetimes;
mod memory;
mod places;
mod pointee;
mod printing;
mod registers;
mod scanning;
mod shapes;
mod start;
mod symbols;
mod tidy;
mod unit;
mod uses;

use std::cell::RefCell;
use std::collections::HashSet;

use parallax_program::{
    Callee, Cell, Diagnostic, Diagnostics, Expr, Function, FunctionBuilder, Global, InstKind,
    Program, Shape, Terminator,
};

use crate::llvm::{self, Module, Type};
use crate::thread_locals::ThreadLocal;
use crate::{Input, Options};
use body::Body;
pub use layout::Layout;
use layout::Lowered;
use places::Places;
use symbols::{Symbols, is_defined};
use unit::{Shared, Signature, Symbol, Unit};

/// Threads that have a place of their own in thread-local objects.
const THREADS: u64 = 64;

/// A program with what is known of it beside.
pub struct Whole {
    pub program: Program,
    /// The variables of which each thread has a copy.
    pub locals: Vec<ThreadLocal>,
    /// Which functions come with a standard library.
    pub is_header: Vec<bool>,
}

/// Puts modules together into one program. Calls of functions that none of them defines are
/// left as calls by name.
pub fn lower(
    inputs: &[Input],
    modules: &[Module],
    options: &Options,
) -> Result<Whole, Diagnostics> {
    let layouts = layouts(inputs, modules)?;
    let pointer_width = layouts.first().map_or(64, Layout::pointer_bits);
    let mut symbols = Symbols::new(modules, &layouts)?;
    let signatures = symbols.functions.iter().map(|(unit, function, _)| {
        let params: Vec<&Type> = function.params.iter().map(|param| &param.ty).collect();
        unit::signature(&layouts[*unit], &params, &function.result)
    });
    let shared = Shared {
        options,
        places: Places::new(inputs, modules, options),
        pointer_width,
        signatures: signatures.collect(),
        wrappers: RefCell::default(),
    };
    let name = inputs.first().map_or("program", |input| input.name.as_str());
    let mut program = Program::new(name, pointer_width, shared.places.source().clone());
    let globals = globals(modules, &mut symbols, &shared)?;

    let units = units(modules, &symbols, &globals, &shared)?;
    for ((unit, function, name), signature) in symbols.functions.iter().zip(&shared.signatures) {
        program.functions.push(lower_function(&units[*unit], function, name, signature));
    }
    for (name, signature) in shared.wrappers.borrow().iter() {
        program.functions.push(wrapper(name, signature));
    }
    program.globals = globals.clone();
    start::add_main_thread(&mut program, &units).map_err(|error| vec![error])?;
    let is_header = symbols.functions.iter().map(|(unit, function, _)| {
        let file = places::file_of_function(&modules[*unit], function);
        file.is_some_and(|file| places::is_of_standard(&file))
    });
    Ok(Whole { is_header: is_header.collect(), locals: symbols.thread_locals(), program })
}

fn layouts<'m>(inputs: &[Input], modules: &'m [Module]) -> Result<Vec<Layout<'m>>, Diagnostics> {
    let mut layouts: Vec<Layout<'m>> = Vec::new();
    for (module, input) in modules.iter().zip(inputs) {
        let refused = |what: String| vec![Diagnostic::new(format!("{}: {what}", input.name))];
        let layout = Layout::new(module).map_err(|what| refused(format!("{what} is refused")))?;
        if let Some(first) = layouts.first()
            && first.pointer_bits() != layout.pointer_bits()
        {
            return Err(refused("it is for another target than the others".to_string()));
        }
        layouts.push(layout);
    }
    Ok(layouts)
}

fn units<'s>(
    modules: &'s [Module],
    symbols: &'s Symbols<'s>,
    globals: &'s [Global],
    shared: &'s Shared<'s>,
) -> Result<Vec<Unit<'s>>, Diagnostics> {
    let mut units = Vec::new();
    for (number, (module, names)) in modules.iter().zip(&symbols.names).enumerate() {
        let layout = Layout::new(module).map_err(|what| vec![Diagnostic::new(what)])?;
        let has_types = has_types(module);
        let objects = module.globals.iter().map(|global| (&global.name, global)).collect();
        units.push(Unit {
            number,
            module,
            layout,
            objects,
            symbols: names,
            has_types,
            globals,
            shared,
        });
    }
    Ok(units)
}

fn has_types(module: &Module) -> bool {
    let blocks = module.functions.iter().flat_map(|function| &function.blocks);
    let mut instructions = blocks.flat_map(|block| &block.instructions);
    module.has_types || instructions.any(|instruction| instruction.typed)
}

/// The objects, with what they hold at first. One whose content is not known is marked, so
/// that it is found where it is used.
fn globals(
    modules: &[Module],
    symbols: &mut Symbols<'_>,
    shared: &Shared<'_>,
) -> Result<Vec<Global>, Diagnostics> {
    let mut globals = Vec::new();
    let mut unknown = Vec::new();
    let units = units(modules, symbols, &[], shared)?;
    for (number, (unit, global, name)) in symbols.objects.iter().enumerate() {
        match object(&units[*unit], global, name) {
            Ok(object) => globals.push(object),
            Err(what) => {
                globals.push(Global::zeroed(name, 1, 1));
                unknown.push((number as u32, format!("the object '{name}': {what}")));
            }
        }
    }
    drop(units);
    for meaning in symbols.names.iter_mut().flat_map(|names| names.values_mut()) {
        if let Symbol::Object(id) | Symbol::ThreadLocal(ThreadLocal { global: id, .. }) = meaning
            && let Some((_, what)) = unknown.iter().find(|(number, _)| *number == id.0)
        {
            *meaning = Symbol::UnknownObject(*id, what.clone());
        }
    }
    Ok(globals)
}

fn object(unit: &Unit<'_>, global: &llvm::Global, name: &str) -> Lowered<Global> {
    let size = unit.layout.size(&global.ty)?;
    let align = match global.align {
        Some(align) => u64::from(align),
        None => unit.layout.align(&global.ty)?,
    };
    let align = u32::try_from(align).ok().filter(|align| align.is_power_of_two()).unwrap_or(1);
    let mut cells = Vec::new();
    if let Some(init) = global.init.as_ref().filter(|_| is_defined(global)) {
        unit.cells(&global.ty, init, 0, &mut cells)?;
    }
    let described = global.debug.and_then(|id| shapes::of_variable(unit.module, id));
    let shape = described.map(|(shape, _)| shape).filter(|shape| *shape != Shape::Scalar);
    let object = Global {
        name: name.to_string(),
        size,
        align,
        init: cells,
        shape,
        constant: global.constant,
        address: None,
    };
    match unit.symbols.get(&global.name) {
        Some(Symbol::ThreadLocal(local)) => for_each_thread(object, local.stride),
        _ => Ok(object),
    }
}

/// One copy for each thread, side by side.
fn for_each_thread(object: Global, stride: u64) -> Lowered<Global> {
    let copies = (0..THREADS).flat_map(|thread| {
        let moved =
            move |cell: &Cell| Cell { offset: cell.offset + thread * stride, ..cell.clone() };
        object.init.iter().map(moved)
    });
    let init = copies.collect();
    let element = Box::new(object.shape.unwrap_or(Shape::Scalar));
    let size = stride.checked_mul(THREADS).ok_or("a thread-local object without bounds")?;
    let shape = Some(Shape::Array { element, stride, count: THREADS });
    Ok(Global { size, init, shape, ..object })
}

fn lower_function(
    unit: &Unit<'_>,
    function: &llvm::Function,
    name: &str,
    signature: &Lowered<Signature>,
) -> Function {
    match signature {
        Ok(signature) => lower_body(unit, function, name, signature),
        Err(what) => refused(name, what),
    }
}

/// Again and again, until every object that is kept in variables may be.
fn lower_body(
    unit: &Unit<'_>,
    function: &llvm::Function,
    name: &str,
    signature: &Signature,
) -> Function {
    let mut in_memory = HashSet::new();
    loop {
        let body = Body::new(unit, function, name, signature.clone(), &in_memory);
        let (lowered, misplaced) = body.finish();
        if misplaced.is_empty() {
            return lowered;
        }
        in_memory.extend(misplaced);
    }
}

/// A function that cannot be expressed.
fn refused(name: &str, what: &str) -> Function {
    let mut builder = FunctionBuilder::new(name);
    builder.emit(InstKind::Unsupported { what: what.to_string() });
    builder.terminate(Terminator::Exit);
    builder.finish()
}

/// What the address of a function without a body leads to.
fn wrapper(name: &str, signature: &Lowered<Signature>) -> Function {
    let own_name = format!("{name}.pointer");
    let signature = match signature {
        Ok(signature) => signature,
        Err(what) => return refused(&own_name, what),
    };
    let mut builder = FunctionBuilder::new(&own_name);
    let params = signature.params.iter().enumerate();
    let args = params.map(|(number, width)| builder.param(&format!("arg{number}"), *width));
    let args = args.map(Expr::Var).collect();
    let dst = signature.result.map(|width| {
        builder.set_result(width);
        builder.temp(width)
    });
    let callee = Callee::External(name.to_string());
    builder.emit(InstKind::Call { dst, callee, args });
    builder.terminate(Terminator::Return(dst.map(Expr::Var)));
    builder.finish()
}
