//! What programs in C++ need beside what they say: objects of the run-time library, and names that people
//! know.

use std::collections::HashSet;

use parallax_program::{Callee, Expr, Inst, InstKind, Program, Terminator, VarId};

use crate::{Input, rust_names};

/// Objects and functions as a module, each of which is used if a program has none of its own.
const SUPPORT: &str = include_str!("cxx.ll");

/// One of these is in every module that makes use of the run-time library.
const USES: [&str; 4] =
    ["@__libc_single_threaded", "@_ZSt15__once_callable", "@__once_proxy", "@__dso_handle"];

/// The module with what the run-time library has, where somebody uses it.
pub fn support(inputs: &[Input]) -> Option<Input> {
    let uses = |input: &Input| USES.iter().any(|name| input.text.contains(name));
    let support = || Input {
        name: "<library>/cxx.ll".to_string(),
        text: SUPPORT.to_string(),
        is_source: false,
    };
    inputs.iter().any(uses).then(support)
}

/// std::lock of two mutexes …
const LOCK: &str = "_ZSt4lockISt5mutexS0_JEEvRT_RT0_DpRT1_";

/// … which is this function of the library, where nobody else asks whether a mutex is free.
const LOCK_MODEL: &str = "cxx.lock";
const TRIES: [&str; 3] =
    ["pthread_mutex_trylock", "pthread_mutex_timedlock", "pthread_mutex_clocklock"];

/// Puts what comes with a standard library in place of its calls.
pub fn put_in_place(program: &mut Program, is_header: &[bool]) {
    let own = program.functions.iter().position(|function| function.name == LOCK);
    let Some(number) = own.filter(|number| program.functions[*number].params == 2) else {
        return parallax_library::put_in_place(program, is_header);
    };
    let kept = program.clone();
    let function = &mut program.functions[number];
    let args = (0..2).map(|param| Expr::Var(VarId(param))).collect();
    let callee = Callee::External(LOCK_MODEL.to_string());
    function.blocks.truncate(1);
    if let Some(block) = function.blocks.first_mut() {
        let kind = InstKind::Call { dst: None, callee, args };
        block.insts = vec![Inst { kind, span: block.terminator_span }];
        block.terminator = Terminator::Return(None);
    }
    parallax_library::put_in_place(program, is_header);
    let insts = program.functions.iter().flat_map(|function| &function.blocks);
    let tries = insts.flat_map(|block| &block.insts).any(|inst| match &inst.kind {
        InstKind::Call { callee: Callee::External(name), .. } => TRIES.contains(&name.as_str()),
        _ => false,
    });
    if tries {
        *program = kept;
        parallax_library::put_in_place(program, is_header);
    }
}

/// Gives functions and objects the names that they have in the source: `queue<int>::push(int)`. To be done
/// last, since the library knows them by others.
pub fn demangle(program: &mut Program) {
    let mut used: HashSet<String> = HashSet::new();
    for function in &mut program.functions {
        function.name = unused(&mut used, source_name(&function.name));
        for inst in function.blocks.iter_mut().flat_map(|block| &mut block.insts) {
            if let InstKind::Call { callee: Callee::External(name), .. }
            | InstKind::Spawn { callee: Callee::External(name), .. } = &mut inst.kind
            {
                *name = source_name(name);
            }
        }
    }
    let mut used: HashSet<String> = HashSet::new();
    for global in &mut program.globals {
        global.name = unused(&mut used, source_name(&global.name));
    }
}

/// The name in the source, as far as the name is one that compilers have made.
fn source_name(name: &str) -> String {
    // What follows is a number that keeps two names apart.
    let (mangled, rest) = match name.find('.') {
        Some(at) => name.split_at(at),
        None => (name, ""),
    };
    if let Some(known) = rust_names::source_name(mangled) {
        return format!("{known}{rest}");
    }
    if !mangled.starts_with("_Z") {
        return name.to_string();
    }
    let options = cpp_demangle::DemangleOptions::new().no_return_type().recursion_limit(DEPTH);
    let symbol = cpp_demangle::Symbol::new(mangled).ok();
    match symbol.and_then(|symbol| symbol.demangle_with_options(&options).ok()) {
        Some(demangled) if !demangled.is_empty() => format!("{}{rest}", shortened(&demangled)),
        _ => name.to_string(),
    }
}

/// Names nest no deeper.
const DEPTH: u32 = 96;

/// Without what nobody writes: the parameters that templates of the standard library have by themselves.
fn shortened(name: &str) -> String {
    const STRING: &str =
        "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >";
    name.replace(STRING, "std::string").replace("(anonymous namespace)::", "").replace("> >", ">>")
}

fn unused(used: &mut HashSet<String>, name: String) -> String {
    let mut candidate = name.clone();
    let mut number = 2;
    while !used.insert(candidate.clone()) {
        candidate = format!("{name}.{number}");
        number += 1;
    }
    candidate
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_source() {
        let cases = [
            ("main", "main"),
            ("_ZN5queueIiE4pushEi", "queue<int>::push(int)"),
            ("_ZN5queueIiE4pushEi.2", "queue<int>::push(int).2"),
            ("_ZZ4mainENK3$_0clEv", "main::$_0::operator()() const"),
            ("_Zno such name", "_Zno such name"),
            ("x.y", "x.y"),
        ];
        for (mangled, name) in cases {
            assert_eq!(source_name(mangled), name);
        }
    }
}
