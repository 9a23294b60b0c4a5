//! Files of all kinds: several units, modules, places, and what is wrong with input.

use crate::world;

use std::path::{Path, PathBuf};
use std::process::Command;

use parallax_frontend_c::{DataModel, Input, Options, load, translate};
use parallax_program::{InstKind, Program, Shape};

fn paths(names: &[&str]) -> Vec<PathBuf> {
    names.iter().map(|name| Path::new("tests").join(name)).collect()
}

fn loaded(names: &[&str]) -> Program {
    match load(&paths(names), &Options::default()) {
        Ok(program) => program,
        Err(errors) => panic!("{}", errors[0]),
    }
}

/// The first error of a module, or of none.
fn error(text: &str) -> String {
    let input = Input { name: "m.ll".into(), text: text.into(), is_source: true };
    match translate(&[input], &Options::default()) {
        Ok(_) => "no error".to_string(),
        Err(errors) => errors[0].to_string(),
    }
}

#[test]
fn units_are_put_together() {
    assert_eq!(world::run(&loaded(&["units/main.c", "units/other.c"])), "1327");
    assert_eq!(world::run(&loaded(&["units/other.c", "units/main.c"])), "1327");
}

#[test]
fn what_is_defined_twice_is_an_error() {
    let errors = load(&paths(&["units/main.c", "units/main.c"]), &Options::default()).unwrap_err();
    let messages: Vec<&str> = errors.iter().map(|error| error.message.as_str()).collect();
    assert_eq!(
        messages,
        ["the function 'main' is defined twice", "the object 'common' is defined twice"]
    );
}

#[test]
fn modules_are_read() {
    assert_eq!(world::run(&loaded(&["ll/unnamed.ll"])), "472");
    assert_eq!(world::run(&loaded(&["ll/typed_pointers.ll"])), "8");
}

#[test]
fn bitcode_is_read() {
    let folder = std::env::temp_dir().join(format!("parallax-test-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let module = folder.join("other.bc");
    let args = ["-c", "-emit-llvm", "-g", "tests/units/other.c", "-o"];
    assert!(Command::new("clang-19").args(args).arg(&module).status().unwrap().success());
    let both = [module, PathBuf::from("tests/units/main.c")];
    let program = load(&both, &Options::default());
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(world::run(&program.unwrap()), "1327");
}

/// The place of the first instruction of a function that is of a kind.
fn place(program: &Program, function: &str, is: impl Fn(&InstKind) -> bool) -> String {
    let function = program.functions.iter().find(|known| known.name == function).unwrap();
    let mut insts = function.blocks.iter().flat_map(|block| &block.insts);
    let inst = insts.find(|inst| is(&inst.kind)).unwrap();
    program.source.location(inst.span).to_string()
}

#[test]
fn places_are_those_of_the_source() {
    let program = loaded(&["units/main.c", "units/other.c"]);
    let is_load = |kind: &InstKind| matches!(kind, InstKind::Load { .. });
    assert_eq!(place(&program, "main", is_load), "tests/units/main.c:11:12");
    assert_eq!(place(&program, "helper", is_load), "tests/units/other.c:4:42");
    // The source is not there, but the module has the line.
    let program = loaded(&["ll/typed_pointers.ll"]);
    assert_eq!(place(&program, "main", is_load), "old.c:3:1");
    let program = loaded(&["ll/unnamed.ll"]);
    assert_eq!(place(&program, "main", is_load), "tests/ll/unnamed.ll:23:3");
}

#[test]
fn objects_have_shapes() {
    let program = loaded(&["lowering/structures.c"]);
    let shape = program.globals[0].shape.as_ref().unwrap();
    let names = [0, 4, 8, 16].map(|offset| shape.name(offset));
    assert_eq!(names, [".kind", ".pair.left", ".pair.right", ".next"]);

    let program = loaded(&["lowering/objects.c"]);
    let main = program.functions.iter().find(|function| function.name == "main").unwrap();
    let shapes: Vec<&Shape> = main.blocks[0]
        .insts
        .iter()
        .filter_map(|inst| match &inst.kind {
            InstKind::Alloc { shape, .. } => shape.as_deref(),
            _ => None,
        })
        .collect();
    assert_eq!(shapes[0].name(4), "[1]");
    assert_eq!(shapes[1].name(8), ".next");
    assert!(matches!(shapes[1], Shape::Struct { name, .. } if name == "node"));
    assert_eq!(program.globals[0].shape.as_ref().unwrap().name(8), "[2]");
}

#[test]
fn what_clang_says_is_passed_on() {
    let folder = std::env::temp_dir().join(format!("parallax-wrong-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("wrong.c");
    std::fs::write(&path, "int main(void) {\n    return lost + 1;\n}\n").unwrap();
    let errors = load(&[path], &Options::default()).unwrap_err();
    std::fs::remove_dir_all(&folder).unwrap();
    let place = errors[0].location.clone().unwrap();
    assert_eq!((place.line, place.column), (2, 12));
    assert_eq!(errors[0].message, "use of undeclared identifier 'lost'");
    assert_eq!(errors[0].excerpt.as_ref().unwrap().0, "    return lost + 1;");
}

#[test]
fn arguments_reach_clang() {
    let options = Options { clang_args: vec!["-Dnumber=other".into()], ..Options::default() };
    let program = load(&paths(&["units/main.c", "units/other.c"]), &options).unwrap();
    assert!(program.globals.iter().any(|global| global.name == "other"));
}

#[test]
fn files_of_newer_compilers_are_read() {
    for data_model in [DataModel::Lp64, DataModel::Ilp32] {
        let options = Options { data_model: Some(data_model), ..Options::default() };
        let program = load(&paths(&["units/newer.i"]), &options).unwrap();
        assert_eq!(program.pointer_width, if data_model == DataModel::Ilp32 { 32 } else { 64 });
        assert_eq!(world::run(&program), "1144");
    }
}

#[test]
fn bad_input_is_an_error() {
    let missing = load(&paths(&["no/such.c", "no/such.ll"]), &Options::default()).unwrap_err();
    assert_eq!(missing.len(), 2);
    assert!(missing[0].message.starts_with("cannot read tests/no/such.c: "));
    let odd = load(&paths(&["files.odd"]), &Options::default()).unwrap_err();
    assert_eq!(odd[0].message, "tests/files.odd: neither C, C++, Rust nor LLVM");
    assert_eq!(load(&[], &Options::default()).unwrap_err()[0].message, "there is no input file");
}

#[test]
fn errors_in_modules_have_places() {
    let cases = [
        ("", "error: the program has no function 'main'"),
        ("@x = global i32 0, section", "error: the program has no function 'main'"),
        ("nonsense", "m.ll:1:1: error: expected a definition, found 'nonsense'"),
        ("define i32 @main() {\n  ret i32 %\n}", "m.ll:2:11: error: expected a value, found '%'"),
        ("define i32 @main( {", "m.ll:1:20: error: expected a type, found the end of the file"),
        (
            "target datalayout = \"E\"\n",
            "error: m.ll: a target that stores the highest byte first is refused",
        ),
    ];
    for (text, expected) in cases {
        let found = error(text);
        assert_eq!(found.lines().next().unwrap_or(""), expected, "{text}");
    }
    let deep = format!("@x = global {}i32", "[1 x ".repeat(100_000));
    assert!(error(&deep).contains("levels of nesting"));
}
