//! Linking: all there is at once, only what is needed, and what does not fit.

use crate::world;

use std::collections::BTreeMap;

use parallax_library::{Options, is_library_file, link, names};
use parallax_machine::Code;
use parallax_program::{Callee, Function, Inst, InstKind, Program, parse_program};
use proptest::prelude::*;
use world::{End, World, out, program, program_with};

fn parse(text: &str) -> Program {
    parse_program("test.program", &format!("program test pointers 64\n{text}")).unwrap()
}

/// The names that are still without a body.
fn externals(program: &Program) -> Vec<String> {
    externals_of(&program.functions)
}

fn externals_of(functions: &[Function]) -> Vec<String> {
    let blocks = functions.iter().flat_map(|function| &function.blocks);
    let calls = blocks.flat_map(|block| &block.insts).filter_map(|inst| match &inst.kind {
        InstKind::Call { callee: Callee::External(name), .. }
        | InstKind::Spawn { callee: Callee::External(name), .. } => Some(name.clone()),
        _ => None,
    });
    calls.collect()
}

fn caller(name: &str, args: usize) -> String {
    let list = vec!["0:128"; args].join(", ");
    format!("fn \"{name}/{args}\"() {{\n  call extern \"{name}\"({list})\n  return\n}}\n")
}

/// A program that calls every function with as many arguments as it takes.
fn everything(globals: &str) -> String {
    let names = names();
    let counts = || names.iter().flat_map(|name| (0..7).map(move |args| (name, args)));
    let all: String = counts().map(|(name, args)| caller(name, args)).collect();
    let mut tried = parse(&all);
    link(&mut tried, &Options::default()).unwrap();
    let linked = |function: &Function| externals_of(std::slice::from_ref(function)).is_empty();
    let fits = counts().zip(&tried.functions).filter(|(_, function)| linked(function));
    let mut fewest = BTreeMap::new();
    for ((name, args), _) in fits {
        fewest.entry(name).or_insert(args);
    }
    assert_eq!(fewest.len(), names.len());
    let calls: String = fewest.into_iter().map(|(name, args)| caller(name, args)).collect();
    format!("{globals}\n{calls}")
}

#[test]
fn everything_links_at_once_and_checks() {
    let recursive = "global m: 40 = { 16: 1:32 }";
    for (features, spurious_wakeups) in [("", false), (recursive, true)] {
        let linked = program_with(
            &everything(features),
            &Options { spurious_wakeups, ..Options::default() },
        );
        assert_eq!(externals(&linked), Vec::<String>::new());
        let again = parse_program("again", &linked.to_string()).unwrap();
        assert_eq!(again.functions.len(), linked.functions.len());
    }
}

#[test]
fn names_are_those_of_c() {
    let names = names();
    assert!(names.is_sorted());
    for name in ["pthread_mutex_lock", "malloc", "__VERIFIER_nondet_int", "__atomic_load_8"] {
        assert!(names.iter().any(|known| known == name), "{name}");
    }
    assert!(names.iter().all(|name| !name.contains('.')));
}

#[test]
fn nothing_is_added_that_is_not_needed() {
    let linked = program(
        "global m: 40\nfn main() {\n  call extern pthread_mutex_lock(&m)\n  \
         call extern pthread_mutex_unlock(&m)\n  return\n}\n",
    );
    assert_eq!(linked.functions.len(), 1);
    assert_eq!(linked.globals.len(), 1);
    let kinds: Vec<_> = linked.functions[0].blocks[0].insts.iter().map(|i| &i.kind).collect();
    let events = kinds.iter().filter(|kind| {
        matches!(kind, InstKind::Cas { .. } | InstKind::Store { .. } | InstKind::Load { .. })
    });
    assert_eq!(events.count(), 2, "one event more costs everybody");
}

#[test]
fn what_is_unknown_or_unlike_stays_external() {
    let linked = program(
        "fn main() {\n  var w: 16\n  call extern frobnicate(1:32)\n  call extern strlen()\n  \
         w = call extern rand()\n  call extern memchr(0:16, 0:32, 0:64)\n  return\n}\n",
    );
    assert_eq!(externals(&linked), ["frobnicate", "strlen", "rand", "memchr"]);
}

#[test]
fn programs_for_32_bits_have_a_library_too() {
    let text = "program test pointers 32\nfn main() {\n  var p: 32, n: 64\n  \
                p = call extern malloc(8:32)\n  p = call extern memset(p, 0:32, 8:32)\n  \
                n = call extern strtoll(p, 0:32, 10:32)\n  call extern abort()\n  return\n}\n";
    let mut program = parse_program("narrow", text).unwrap();
    link(&mut program, &Options::default()).unwrap();
    program.check().unwrap();
    assert_eq!(externals(&program), Vec::<String>::new());
}

#[test]
fn functions_without_a_body_give_anything_where_that_is_asked_for() {
    let text = "program test pointers 64\nfn main() {\n  var v: 17\n  v = call extern frobnicate(1:32)\n  \
                call extern frobnicate()\n  v = call extern __VERIFIER_nondet_frob()\n  \
                call extern pthread_cancel(1:64)\n  return\n}\n";
    let mut program = parse_program("open", text).unwrap();
    link(&mut program, &Options { open: true, ..Options::default() }).unwrap();
    program.check().unwrap();
    assert_eq!(externals(&program), ["pthread_cancel"]);
    let is_input = |inst: &&Inst| matches!(inst.kind, InstKind::Nondet { .. });
    assert_eq!(program.functions[0].blocks[0].insts.iter().filter(is_input).count(), 2);
    assert_eq!(program.assumptions.len(), 1);
}

#[test]
fn calls_are_adapted_where_the_meaning_is_plain() {
    let linked = program(
        "fn main() {\n  var b: 8, p: 64\n  b = call extern __VERIFIER_nondet_bool()\n  \
         call extern __VERIFIER_assume(1:1)\n  p = call extern malloc(7:32)\n  \
         call extern printf(p, 1:32, 2:64)\n  call extern abs(3:64)\n  return\n}\n",
    );
    assert_eq!(externals(&linked), Vec::<String>::new());
}

#[test]
fn a_function_of_the_program_goes_before_one_of_the_library() {
    let text = "fn strlen(p: 64) -> 64 {\n  return 3:64\n}\n\
        fn main() {\n  var n: 64, p: 64\n  p = call extern malloc(8:64)\n  store.1 p, 0:8\n  \
        store.1 p + 3:64, 0:8\n  call extern strcat(p, p + 3:64)\n  store.4 &out, 1:32\n  return\n}";
    assert_eq!(out(text), Ok(1));
}

#[test]
fn places_in_the_library_name_its_files() {
    let linked = program(
        "global out: 8\nfn main() {\n  call extern memcpy(&out, &out, 8:64)\n  return\n}\n",
    );
    let copy = linked.functions.iter().find(|f| f.name == "memory.copy").unwrap();
    let place = linked.source.location(copy.blocks[0].insts[0].span);
    assert_eq!(&*place.file, "<library>/memory.program");
    assert!(is_library_file(&place.file) && !is_library_file("test.program"));
    let line = linked.source.line_at(copy.blocks[0].insts[0].span);
    assert_eq!(line, "  all = to | from | count");
    let main = &linked.functions[0].blocks[0];
    assert_eq!(linked.source.location(main.insts[0].span).to_string(), "test.program:4:3");
}

#[test]
fn a_failed_assertion_names_its_condition() {
    let text = "global text: 7 constant = { 0: 0x31203d3d2078:48 }\nfn main() {\n  \
        call extern __assert_fail(&text, &text, 3:32, &text)\n  return\n}\nthread main = main()\n";
    let program = program(text);
    let code = Code::new(&program);
    let End::Failed(_, message) = World::new(&code).run() else { panic!("no failure") };
    assert_eq!(message, "assertion failed: x == 1");
}

/// A call with arguments and a result of any widths.
fn any_call() -> impl Strategy<Value = String> {
    let width = || prop::sample::select(vec![1u32, 8, 16, 31, 32, 64, 128]);
    let args = prop::collection::vec(width(), 0..7);
    (prop::sample::select(names()), args, prop::option::of(width())).prop_map(
        |(name, args, result)| {
            let args: Vec<_> = args.iter().map(|width| format!("1:{width}")).collect();
            let dst = result.map_or(String::new(), |width| format!("v{width} = "));
            format!("  {dst}call extern \"{name}\"({})\n", args.join(", "))
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_calls_link_to_a_program_that_checks(
        calls in prop::collection::vec(any_call(), 1..40),
        spurious_wakeups: bool,
    ) {
        let vars = "  var v1: 1, v8: 8, v16: 16, v31: 31, v32: 32, v64: 64, v128: 128\n";
        let text = format!("fn main() {{\n{vars}{}  return\n}}\n", calls.concat());
        let linked = program_with(&text, &Options { spurious_wakeups, ..Options::default() });
        let again = parse_program("again", &linked.to_string()).unwrap();
        prop_assert_eq!(again.to_string(), linked.to_string());
    }
}
