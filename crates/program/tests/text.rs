//! The text form: what people write is read as meant, mistakes are found where they are, and
//! every well-formed program survives being printed and read back.

mod arbitrary;

use std::fs;
use std::path::Path;

use arbitrary::Choices;
use parallax_program::{
    Diagnostics, Expr, InstKind, Program, Span, Terminator, VarId, parse_program,
};
use proptest::prelude::*;

const STORE_BUFFERING: &str = r#"program "SB" pointers 64

global x: 4 align 4 = { 0: 1:32 }
global y: 4 align 4
global p: 16 align 8 = { 0: &x, 8: &y + 1:64 }

fn P0() {
  var r0: 32
entry:
  store.4 &x, 2:32 [rlx]
  r0 = load.4 &y [acq]
  fence [DMB.SY]
  branch r0 == 0:32, yes, no join end
yes:
  jump end
no:
  jump end
end:
  return
}

thread P0 = P0()
"#;

#[test]
fn what_is_printed_is_what_was_written() {
    let program = parse_program("sb", STORE_BUFFERING).unwrap();
    assert_eq!(program.to_text(), STORE_BUFFERING);
    assert_eq!((program.globals.len(), program.threads.len()), (3, 1));
}

#[test]
fn labels_and_block_ends_may_be_left_out() {
    let text =
        "program p pointers 32\nfn f() { // empty\n}\nfn g() {\nvar a: 8\na = 1:8\nl: a = 2:8\n}";
    let program = parse_program("p", text).unwrap();
    let labels: Vec<_> = program.functions[1].blocks.iter().collect();
    assert_eq!(labels[0].label, "entry");
    assert!(matches!(labels[0].terminator, Terminator::Jump(id) if id.0 == 1));
    assert_eq!(labels[1].terminator, Terminator::Return(None));
    assert_eq!(program.functions[0].blocks.len(), 1);
}

#[test]
fn spans_point_into_the_text() {
    let program = parse_program("sb", STORE_BUFFERING).unwrap();
    let block = &program.functions[0].blocks[0];
    let text = |span: Span| &STORE_BUFFERING[span.start as usize..span.end as usize];
    assert_eq!(text(block.insts[1].span), "r0 = load.4 &y [acq]");
    assert_eq!(text(block.terminator_span), "branch r0 == 0:32, yes, no join end");
}

fn expression(text: &str) -> Result<Expr, Diagnostics> {
    let text = format!("program p pointers 64\nfn f(a: 8, b: 8, c: 1) {{\na = {text}\n}}");
    let program = parse_program("p", &text)?;
    match &program.functions[0].blocks[0].insts[0].kind {
        InstKind::Assign { value, .. } => Ok(value.clone()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn operators_bind_as_usual() {
    let (a, b) = (Expr::Var(VarId(0)), Expr::Var(VarId(1)));
    let one = Expr::constant(8, 1);
    assert_eq!(
        expression("a + b * 1:8 - a").unwrap(),
        a.clone() + b.clone() * one.clone() - a.clone()
    );
    assert_eq!(expression("a | b ^ 1:8 & a").unwrap(), a.clone() | (b.clone() ^ (one & a.clone())));
    assert_eq!(expression("-1:8").unwrap(), Expr::constant(8, 255));
    assert_eq!(expression("-128:8").unwrap(), Expr::constant(8, 128));
    assert_ne!(expression("-(1:8)").unwrap(), Expr::constant(8, 255));
    let chosen = expression("select(a == b, a, ~b)").unwrap();
    assert_eq!(chosen, a.clone().eq(b.clone()).select(a, !b));
}

#[test]
fn mistakes_in_expressions_are_named() {
    for (text, message) in [
        ("d", "there is no variable 'd'"),
        ("1", "expected ':' and the width of the constant, found the end of the line"),
        ("256:8", "256 does not fit into 8 bits"),
        ("-129:8", "-129 does not fit into 8 bits"),
        ("1:0", "widths go from 1 to 128"),
        ("&x", "there is no global 'x'"),
        ("@h", "there is no function 'h'"),
        ("f(a)", "there is no operator 'f'"),
        ("(a", "expected ')', found the end of the line"),
        ("a b", "expected the end of the line, found 'b'"),
        ("zext(a)", "expected ',', found ')'"),
        ("a == b == c", "comparisons do not chain: use parentheses"),
        ("", "expected an expression, found the end of the line"),
    ] {
        let errors = expression(text).unwrap_err();
        assert_eq!(errors[0].message, message, "{text}");
    }
}

#[test]
fn depth_is_limited_whatever_nests() {
    for text in [
        format!("{}a{}", "(".repeat(100_000), ")".repeat(100_000)),
        "~".repeat(100_000) + "a",
        vec!["a"; 100_000].join(" + "),
        "clz(".repeat(100_000),
    ] {
        let errors = expression(&text).unwrap_err();
        assert!(errors[0].message.contains("deep"), "{}", errors[0].message);
    }
}

#[test]
fn a_file_of_mistakes_is_reported_together() {
    let text = "program p pointers 64
global x: four
fn f(a: 32) {
  b = 1:32
  load.4 &x
  a = load.5 &x
  jump nowhere
  store.4 &x 1:32
next: bad
  rmw.add.4 &x, 1:32 [a] [b] [c]
}
fn f() {
}
thing
thread T = g()
";
    let errors = parse_program("p", text).unwrap_err();
    let seen: Vec<_> = errors
        .iter()
        .map(|e| (e.location.as_ref().map_or(0, |l| l.line), e.message.as_str()))
        .collect();
    assert_eq!(
        seen,
        [
            (2, "expected a size in bytes, found 'four'"),
            (4, "there is no variable 'b'"),
            (5, "this instruction gives one result: 'r = …'"),
            (6, "'load.5' does not say how many bytes"),
            (7, "there is no label 'nowhere'"),
            (8, "expected ',', found '1'"),
            (9, "unknown instruction 'bad'"),
            (10, "3 lists of tags for 2 events"),
            (12, "function 'f' is defined twice"),
            (14, "expected 'global', 'fn', 'thread' or 'registers', found 'thing'"),
            (15, "there is no function 'g'"),
        ]
    );
}

#[test]
fn files_that_end_too_early_are_errors_or_shorter_programs() {
    for end in 0..STORE_BUFFERING.len() {
        let cut = &STORE_BUFFERING[..end];
        let inside_function = cut.contains("fn P0") && !cut.contains("\n}");
        let result = parse_program("cut", cut);
        assert!(result.is_err() || !inside_function, "{cut}");
    }
    assert!(parse_program("empty", "").is_err());
}

#[test]
fn many_mistakes_do_not_take_forever() {
    let text = "program p pointers 64\n".to_string() + &"?\n".repeat(200_000);
    assert!(parse_program("p", &text).is_err());
}

/// Programs shown to people: the examples, and the blocks of the book's page on the form.
fn shown_programs() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut programs = Vec::new();
    for entry in fs::read_dir(root.join("examples/programs")).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        programs.push((path.display().to_string(), text));
    }
    let page = fs::read_to_string(root.join("docs/src/program-text.md")).unwrap();
    let blocks = page.split("```").skip(1).step_by(2);
    for block in blocks.filter_map(|block| block.strip_prefix("text\nprogram")) {
        programs.push(("program-text.md".to_string(), format!("program{block}")));
    }
    programs
}

#[test]
fn programs_shown_to_people_are_right() {
    let programs = shown_programs();
    assert!(programs.len() >= 3);
    for (name, text) in programs {
        if let Err(errors) = parse_program(&name, &text) {
            panic!("{}", errors[0]);
        }
    }
}

/// The parts of a program that a text has: all but the places.
fn without_spans(mut program: Program) -> impl PartialEq + std::fmt::Debug {
    for function in &mut program.functions {
        for block in &mut function.blocks {
            block.terminator_span = Span::default();
            for inst in &mut block.insts {
                inst.span = Span::default();
            }
        }
    }
    ((program.name, program.pointer_width), (program.globals, program.functions, program.threads))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_program_is_read_back_as_it_was(
        choices in proptest::collection::vec(any::<u32>(), 0..600)
    ) {
        let program = arbitrary::program(&mut Choices::new(choices));
        prop_assert_eq!(program.check(), Ok(()));
        let text = program.to_text();
        let again = match parse_program("p", &text) {
            Ok(again) => again,
            Err(errors) => return Err(TestCaseError::fail(format!("{errors:?}\n{text}"))),
        };
        prop_assert_eq!(again.to_text(), text);
        prop_assert_eq!(without_spans(again), without_spans(program));
    }

    #[test]
    fn no_text_upsets_the_parser(text in "[a-z0-9&:,.=(){}\\[\\]\" \n<>+-]{0,200}") {
        let _ = parse_program("p", &text);
        let _ = parse_program("p", &format!("program p pointers 64\nfn f(a: 8) {{\n{text}\n}}"));
    }
}
