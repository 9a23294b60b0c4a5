//! The format: every part of a test, read through the public door.

use parallax_frontend_litmus::{Arch, LitmusTest, parse};
use parallax_program::{AccessSize, Expr, InstKind, Observable, Operand, Place, Prop, Quantifier};

fn read(text: &str) -> LitmusTest {
    match parse("t.litmus", text) {
        Ok(test) => test,
        Err(errors) => panic!("{text}\n{errors:#?}"),
    }
}

/// `line:column: message` of each error.
fn errors(text: &str) -> Vec<String> {
    let errors = parse("t.litmus", text).expect_err(text);
    let shown = errors.iter().map(|error| match &error.location {
        Some(at) => format!("{}:{}: {}", at.line, at.column, error.message),
        None => error.message.clone(),
    });
    shown.collect()
}

/// An X86 test with that initial state and condition.
fn x86(init: &str, condition: &str) -> String {
    format!("X86 T\n{{{init}}}\n P0 | P1 ;\n MOV [x],$1 | MOV EAX,[y] ;\n{condition}\n")
}

fn aarch64(init: &str, condition: &str) -> String {
    format!("AArch64 T\n{{{init}}}\n P0 ;\n STR W0,[X1] ;\n{condition}\n")
}

const SB: &str = r#"X86 SB+mfences
"Store buffering, twice fenced"
Cycle=Fre MFencedWR Fre MFencedWR
Empty=
(* a comment (* in a comment *) with { braces } and
No=data *)
{ x=0; y=0; }
 P0          | P1          ;
 MOV [x],$1  | MOV [y],$1  ; (* stores *)
 MFENCE      | MFENCE      ;
 MOV EAX,[y] | MOV EAX,[x] ;
locations [x; y;]
exists (0:EAX=0 /\ 1:EAX=0)
"#;

#[test]
fn a_whole_test() {
    let test = read(SB);
    assert_eq!(test.name, "SB+mfences");
    assert_eq!(test.arch, Arch::X86);
    assert_eq!(test.doc.as_deref(), Some("Store buffering, twice fenced"));
    assert_eq!(test.metadata[0].0, "Cycle");
    assert_eq!(test.metadata[1], ("Empty".to_string(), String::new()));
    assert_eq!(test.metadata.len(), 2);
    assert_eq!(test.program.pointer_width, 32);
    let names: Vec<&str> = test.program.threads.iter().map(|t| t.name.as_str()).collect();
    assert_eq!(names, ["P0", "P1"]);
    assert_eq!(test.question.quantifier, Quantifier::Exists);
    assert_eq!(test.question.text, "exists (0:EAX=0 /\\ 1:EAX=0)");
    let shown: Vec<&str> = test.question.shown().iter().map(|o| o.name.as_str()).collect();
    assert_eq!(shown, ["0:EAX", "1:EAX", "x", "y"]);
}

#[test]
fn headers_of_every_kind() {
    for (header, name, doc) in [
        ("X86 iwp2.4/amd9 (tex) \"doc\"\n", "iwp2.4/amd9", Some("doc")),
        ("X86 A+[rmw] ;\n", "A+[rmw]", None),
        ("\n  X86   B\r\n\"two\nlines\"\n", "B", Some("two lines")),
        ("x86 C\nsome words that mean nothing\n", "C", None),
    ] {
        let test = read(&format!("{header}{{}}\n P0 ;\n MFENCE ;\nexists (true)"));
        assert_eq!(test.name, name);
        assert_eq!(test.doc.as_deref(), doc);
    }
}

#[test]
fn conditions_as_the_log_shows_them() {
    for (condition, text) in [
        ("", "forall (true)"),
        ("locations [x;]", "forall (true)"),
        ("exists x=1", "exists ([x]=1)"),
        ("~exists (x=1)", "~exists ([x]=1)"),
        ("~ exists (x==1)", "~exists ([x]=1)"),
        ("not exists ([x]=1)", "~exists ([x]=1)"),
        ("forall (x=1 \\/ y=2 /\\ x=3)", "forall ([x]=1 \\/ [y]=2 /\\ [x]=3)"),
        ("forall ((x=1 \\/ y=2) /\\ x=3)", "forall (([x]=1 \\/ [y]=2) /\\ [x]=3)"),
        ("exists (x<>1 /\\ x!=2)", "exists (not ([x]=1) /\\ not ([x]=2))"),
        ("exists (~x=0 /\\ not (x=1))", "exists (not ([x]=0) /\\ not ([x]=1))"),
        ("exists (x=1 => y=2 => x=3)", "exists ([x]=1 => [y]=2 => [x]=3)"),
        ("exists (x=1 /\\ y=2 => x=3)", "exists ([x]=1 /\\ ([y]=2 => [x]=3))"),
        ("exists (P1:EAX = -1)", "exists (1:EAX=-1)"),
        ("exists (1:EAX=x/\\ x=0x10)", "exists (1:EAX=x /\\ [x]=16)"),
        ("exists (false)", "exists (false)"),
        ("observed x=1; y=2; and x=2;", "exists ([x]=1 /\\ [y]=2 \\/ [x]=2)"),
        ("final (x=1); with tso: ~exists; sc: exists;", "exists ([x]=1)"),
        ("(x=1)", "exists ([x]=1)"),
        ("exists (x=1);\n<< old notes", "exists ([x]=1)"),
        ("exists (x=1) (* late words *)", "exists ([x]=1)"),
        ("filter (y=1) exists (x=1)", "exists ([x]=1)"),
        ("exists (x=1:EAX)", "exists ([x]=1:EAX)"),
    ] {
        let condition = if condition.starts_with('(') {
            format!("locations [] {condition}")
        } else {
            condition.to_string()
        };
        assert_eq!(read(&x86("", &condition)).question.text, text);
    }
}

#[test]
fn initial_states_of_every_kind() {
    for init in [
        "x=1; y=2",
        "x=1;;y=0x10;",
        "[x]=1; int y=-3;",
        "int x; int *y=&x; uint64_t z;",
        "int x[2]={1,2}; y=x+4",
        "volatile int x=1; atomic_int y = 'a'",
        "0:EAX=3; P1:EBX=x; int 0:ECX=7",
        "x=y (* points to y *); y=x[0]",
        "0:EAX=1; 0:EAX=1; x=2; int x;",
        "unsigned long x = 5; struct node *p; _Atomic int q",
    ] {
        read(&x86(init, "exists (true)"));
    }
}

fn global(test: &LitmusTest, name: &str) -> (u64, Vec<(u64, u32, Expr)>) {
    let globals = &test.program.globals;
    let global = globals.iter().find(|g| g.name == name).expect("a global");
    let cells = global.init.iter();
    let cells = cells.map(|cell| (cell.offset, cell.width, cell.value.clone()));
    (global.size, cells.collect())
}

#[test]
fn memory_starts_as_written() {
    let test = read(&x86("int a[2]={1,-1}; uint8_t b=255; c=5; d=&a", ""));
    let cells = vec![(0, 32, Expr::signed(32, 1)), (4, 32, Expr::signed(32, -1))];
    assert_eq!(global(&test, "a"), (8, cells));
    assert_eq!(global(&test, "b"), (1, vec![(0, 8, Expr::constant(8, 255))]));
    assert_eq!(global(&test, "c"), (8, vec![(0, 64, Expr::constant(64, 5))]));
    let address = global(&test, "d").1[0].2.clone();
    assert!(matches!(address, Expr::Address(id) if test.program.global(id).name == "a"));
}

#[test]
fn registers_start_as_written() {
    let test = read(&aarch64("0:X0=-1; 0:X1=x; 0:W2=-1", ""));
    let block = &test.program.functions[0].blocks[0];
    let assigned = block.insts.iter().filter_map(|inst| match &inst.kind {
        InstKind::Assign { value, .. } => Some(value.clone()),
        _ => None,
    });
    let assigned: Vec<Expr> = assigned.take(3).collect();
    assert_eq!(assigned[0], Expr::signed(64, -1));
    assert!(matches!(assigned[1], Expr::Address(_)));
    assert_eq!(assigned[2], Expr::signed(32, -1).zero_extend(64));
}

/// The observables of a condition, each with its bits.
fn observed(text: &str) -> Vec<(String, u32)> {
    let test = read(text);
    let shown = test.question.shown();
    let shown = shown.iter().map(|o| (o.name.clone(), o.place.width()));
    shown.collect()
}

#[test]
fn what_is_observed_has_its_declared_width() {
    for (init, condition, width) in [
        ("0:X1=x", "exists (x=1)", 32),
        ("uint64_t x; 0:X1=x", "exists (x=1)", 64),
        ("0:X1=x; x=y", "exists (x=0)", 64),
        ("0:X1=x", "exists (x=x)", 64),
        ("0:X1=x", "exists (x=0x100000000)", 64),
        ("0:X1=x", "exists (0:X1=1)", 32),
        ("0:X1=x", "exists (0:X1=x)", 64),
        ("0:X1=x", "exists (0:X1=0x100000000)", 64),
        ("int64_t 0:X1=x", "exists (0:X1=1)", 64),
        ("0:X1=x", "exists (0:W1=1)", 32),
        ("uint32_t 0:X7; 0:X1=x", "exists (0:X7=1)", 32),
        ("0:X1=x", "locations [int8_t x]", 8),
        ("0:X1=x", "locations [0:X1 uint16_t]", 16),
        ("0:X1=x", "locations [x*;]", 64),
        ("uint16_t t[4]; 0:X1=t", "exists (t[2]=1)", 16),
    ] {
        let observed = observed(&aarch64(init, condition));
        assert_eq!(observed[0].1, width, "{init} {condition}");
    }
    let elements = observed(&aarch64("int t[2]; 0:X1=t", "locations [t;]"));
    assert_eq!(elements, [("t[0]".to_string(), 32), ("t[1]".to_string(), 32)]);
}

#[test]
fn elements_are_found_before_their_array_is_declared() {
    let later = read(&aarch64("0:X1=t[1]; int64_t t[2]={1,2}; x=t[1]", ""));
    let before = read(&aarch64("int64_t t[2]={1,2}; 0:X1=t+8; x=t+8", ""));
    assert_eq!(later.program.to_string(), before.program.to_string());
}

#[test]
fn the_zero_register_can_be_observed() {
    let shown = observed(&aarch64("0:X1=x", "exists (0:XZR=0)"));
    assert_eq!(shown, [("0:XZR".to_string(), 32)]);
}

#[test]
fn elements_lie_at_their_offsets() {
    let test = read(&aarch64("uint16_t t[4]; 0:X1=t", "exists (t[2]=1)"));
    let Prop::Compare { left: Observable { place, .. }, .. } = test.question.prop else {
        panic!("no comparison");
    };
    let Place::Memory { offset, size, .. } = place else {
        panic!("no memory");
    };
    assert_eq!((offset, size), (4, AccessSize::HALF));
}

#[test]
fn numbers_are_compared_at_the_width_of_the_register() {
    let value = |text: &str| match read(text).question.prop {
        Prop::Compare { right: Operand::Value(value), .. } => value,
        other => panic!("{other:?}"),
    };
    let untyped = |number: &str| value(&aarch64("0:X1=x", &format!("exists (0:X5={number})")));
    assert_eq!(untyped("-1"), Expr::signed(32, -1));
    assert_eq!(untyped("0xffffffff"), Expr::signed(32, -1));
    assert_eq!(untyped("0x100000000"), Expr::signed(64, 1 << 32));
    let typed = aarch64("int64_t 0:X5; 0:X1=x", "exists (0:X5=-1)");
    assert_eq!(value(&typed), Expr::signed(64, -1));
    let never = aarch64("uint32_t 0:X5; 0:X1=x", "exists (0:X5=0x100000000)");
    assert_eq!(value(&never), Expr::signed(128, 1 << 32));
}

#[test]
fn labels_and_columns() {
    let test = read(
        "X86 T\n{}\n P1 | P0:here ;\n L: | ;\n MOV EAX,[x] | MOV [x],$1 ;\n \
         A: B: JMP L | ;\n lock ; INC [x] | ;\n",
    );
    assert_eq!(test.program.threads[1].name, "P1");
    assert_eq!(test.program.functions[0].name, "P0");
    assert!(test.program.functions[1].blocks.len() >= 4);
}

#[test]
fn errors_have_places() {
    let table = "{}\n P0 ;\n MFENCE ;\n";
    for (text, expected) in [
        ("", "1:1: empty file"),
        (" \n\n", "3:1: empty file"),
        ("X87 T\n{}", "1:1: unknown architecture 'X87'"),
        ("X86\n{}", "1:4: expected the name of the test"),
        ("X86 T\n", "2:1: the file ends before the initial state"),
        ("X86 T\n{ x=1;", "2:1: the initial state never ends"),
        ("X86 T (* never\n{}", "1:7: this comment never ends"),
        ("X86 T\n{}", "2:3: there are no threads"),
        ("X86 T\n{}\n P0 | Q1 ;", "3:7: expected a thread such as P0, found 'Q1'"),
        ("X86 T\n{}\n P0 | P0 ;", "3:7: there is a second column for P0"),
        ("X86 T\n{}\n P0 | P1 ;\n MFENCE ;", "4:2: 1 cells for 2 threads"),
        ("X86 T\n{}\n P0 ;\n MFENCE", "4:2: this row does not end in ';'"),
        ("X86 T\n{}\n P0 ;\n JMP L ;", "4:2: there is no label 'L'"),
        ("X86 T\n{}\n P0 ;\n L: ;\n L: ;", "5:2: the label 'L' is here for the second time"),
        (&x86("x=1; x=2", ""), "2:7: 'x' is given a second, different value"),
        (&x86("0:EAX=1; 0:EAX=2", ""), "2:11: '0:EAX' is given a second, different value"),
        (&x86("0:EXX=1", ""), "2:2: unknown register 'EXX'"),
        (&x86("7:EAX=1", ""), "2:2: there is no thread P7"),
        (&x86("uint8_t b=256", ""), "2:2: this value does not fit into 1 bytes"),
        (&x86("0:EAX=0x100000000", ""), "2:2: 4294967296 does not fit into 'EAX'"),
        (&x86("pteval_t b=1", ""), "2:2: unknown type 'pteval_t'"),
        (&x86("int a[2]={1}", ""), "2:11: 1 values for 2 elements"),
        (&x86("x=", ""), "2:4: expected a number or the name of a location, found the end"),
        (&x86("", "exists (2:EAX=0)"), "5:9: there is no thread P2"),
        (&x86("", "exists (0:QAX=0)"), "5:9: thread P0 has no register or variable 'QAX'"),
        (&x86("", "exists (zz=0)"), "5:9: there is no location 'zz'"),
        (&x86("", "exists (0:EAX=zz)"), "5:15: there is no location 'zz'"),
        (&x86("", "exists (x[1]=0)"), "5:9: 'x' has no such element"),
        (&x86("int a[2]", "exists (a=0)"), "5:9: 'a' is an array: name an element"),
        (&x86("", "exists (x=1"), "5:12: expected ')', found the end"),
        (&x86("", "exists (x=1) y"), "5:14: expected the end of the condition, found 'y'"),
        (&x86("", "exists (x 1)"), "5:11: expected '=' or '<>', found '1'"),
        (&x86("", "exists fault(P0,x)"), "5:8: 'fault(…)' is not supported in conditions"),
        (&x86("", "exists (x=?)"), "5:11: unexpected character '?'"),
        (&format!("X86 T\n{table}locations [x"), "5:13: expected ';' or ']'"),
    ] {
        let found = errors(text);
        assert!(found[0].starts_with(expected), "{text}\nexpected {expected}\nfound {found:#?}");
    }
}

#[test]
fn several_errors_are_reported_together() {
    let found = errors(
        "X86 T\n{ 0:EXX=1; pteval_t q; x=1 }\n P0 | P1 ;\n FOO [x] | MFENCE ;\n \
         MFENCE | BAR ;\nexists (x=1 /\\ zz=2)\n",
    );
    let lines: Vec<&str> = found.iter().map(|e| &e[..1]).collect();
    assert_eq!(lines, ["2", "2", "4", "5", "6"]);
}

#[test]
fn nesting_has_a_limit() {
    let deep = |n: usize| format!("exists {}x=1{}", "(".repeat(n), ")".repeat(n));
    read(&x86("", &deep(200)));
    let found = errors(&x86("", &deep(100_000)));
    assert!(found[0].contains("nested more than"), "{found:?}");
    let found = errors(&x86("", &format!("exists {}x=1", "~".repeat(100_000))));
    assert!(found[0].contains("nested more than"), "{found:?}");
    let comments = format!("{}{}", "(*".repeat(100_000), "*)".repeat(100_000));
    read(&x86(&comments, "exists (x=1)"));
}

#[test]
fn big_tests_are_read() {
    let columns: Vec<String> = (0..100).map(|n| format!("P{n}")).collect();
    let row = vec!["MOV [x],$1"; 100].join(" | ");
    let test = format!("X86 T\n{{}}\n{};\n{};\nexists (x=1)", columns.join("|"), row);
    assert_eq!(read(&test).program.threads.len(), 100);

    let rows = " MOV [x],$1 | MOV EAX,[x] ;\n".repeat(10_000);
    read(&format!("X86 T\n{{}}\n P0 | P1 ;\n{rows}exists (x=1)"));
    let atoms = vec!["x=1"; 10_000].join(" /\\ ");
    read(&x86("", &format!("exists ({atoms})")));
    let bad = " FOO | BAR ;\n".repeat(10_000);
    let found = errors(&format!("X86 T\n{{}}\n P0 | P1 ;\n{bad}exists (x=1)"));
    assert_eq!(found.len(), 50);
}
