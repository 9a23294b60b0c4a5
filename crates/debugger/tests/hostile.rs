//! Nothing that anybody types breaks a session: a command is carried out or refused.

use parallax_debugger::{Flow, MemoryKind, Schedule, Session, Subject, setup};
use parallax_frontend_litmus::parse;
use parallax_program::{Property, parse_program};
use proptest::prelude::*;

const SB: &str = "X86 SB\n{ x=0; y=0; }\n P0 | P1 ;\n MOV [x],$1 | MOV [y],$1 ;\n \
    MOV EAX,[y] | MOV EAX,[x] ;\nexists (0:EAX=0 /\\ 1:EAX=0)\n";

/// Locks, calls, choices, threads that are started, objects, a loop.
const PROGRAM: &str = r#"program all pointers 64

global lock: 4
global table: 16

fn work(n: 64) -> 64 {
  var ok: 1, old: 32, which: 64, place: 64
  _, ok = cas.4 &lock, 0:32, 1:32 [X] [X] [X]
  wait ok
  which = choose 3:64
  store.4 &table + which * 4:64, 7:32
  place = alloc.heap 16:64 align 8
  store.8 place, n
  free.heap place
  store.4 &lock, 0:32
  return n
}

fn main() {
  var t: 32, got: 64, seen: 32
  t = spawn work(1:64)
  got = call work(2:64)
  join t
again:
  seen = load.4 &table
  branch seen == 7:32, end, again
end:
  assert seen == 7:32, "written"
}

thread main = main()
"#;

/// Words that commands are made of, some of them wrong.
fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(vec![
            "0",
            "1",
            "2",
            "7",
            "-1",
            "99999999999999999999999",
            "0x",
            "0xffffffffffffffff",
            "x",
            "y",
            "&x",
            "*x",
            "*0x10 8",
            "*&x",
            "table",
            "table[1]",
            "table[99]",
            "lock",
            "&work",
            "$EAX",
            "EAX",
            "main",
            "work",
            "SB:5",
            ":",
            ":5",
            "5",
            "main+0x4",
            "on",
            "off",
            "scheduler-locking",
            "stack-flush",
            "threads",
            "registers",
            "buffers",
            "break",
            "actions",
            "memory",
            "schedule",
            "P0",
            "#1",
            "work#1",
            "x+1",
            "x-",
            "--",
            "é",
        ])
        .prop_map(str::to_string),
        "\\PC{0,12}",
    ]
}

fn line() -> impl Strategy<Value = String> {
    let command = prop::sample::select(vec![
        "step",
        "s",
        "stepi",
        "si",
        "next",
        "finish",
        "continue",
        "c",
        "flush",
        "f",
        "run",
        "back",
        "rs",
        "reverse-stepi",
        "goto",
        "thread",
        "threads",
        "what",
        "view",
        "break",
        "b",
        "watch",
        "delete",
        "info",
        "bt",
        "list",
        "l",
        "disassemble",
        "registers",
        "print",
        "p",
        "print/x",
        "x",
        "x/8xb",
        "x/s",
        "x/3i",
        "x/99999999999xw",
        "x/4zq",
        "buffers",
        "memory",
        "schedule",
        "set",
        "help",
        "h",
        "",
        "#",
    ]);
    let words = prop::collection::vec(word(), 0..3);
    let usual =
        (command, words).prop_map(|(command, words)| format!("{command} {}", words.join(" ")));
    prop_oneof![9 => usual, 1 => "\\PC{0,40}"]
}

/// Files are none of a test's business.
fn is_harmless(line: &str) -> bool {
    let line = line.trim_start();
    !line.starts_with("sa") && !line.starts_with("lo")
}

fn run(mut session: Session<'_, '_>, lines: &[String]) -> (String, String) {
    let mut out = String::new();
    for line in lines.iter().filter(|line| is_harmless(line)) {
        match session.execute(line, &mut out) {
            Ok(Flow::Go) => {}
            Ok(Flow::Quit) => break,
            Err(wrong) => out.push_str(&wrong),
        }
    }
    (out, session.schedule().text())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn litmus_tests_survive_any_commands(lines in prop::collection::vec(line(), 1..30)) {
        let test = parse("sb.litmus", SB).expect("a test");
        let subject =
            Subject { program: &test.program, question: Some(&test.question), input: "sb.litmus" };
        let ready = || setup(&test.program, MemoryKind::Tso, Property::ALL.to_vec(), None);
        let (first, second) = (ready().expect("small"), ready().expect("small"));
        let (out, schedule) = run(Session::new(&first, subject), &lines);
        // The same again, and the schedule leads to the same state.
        let (again, _) = run(Session::new(&second, subject), &lines);
        prop_assert_eq!(out, again);
        let third = ready().expect("small");
        let mut session = Session::new(&third, subject);
        prop_assert_eq!(session.load("schedule", &schedule), Ok(()));
        prop_assert_eq!(session.schedule().text(), schedule);
    }

    #[test]
    fn programs_survive_any_commands(lines in prop::collection::vec(line(), 1..30)) {
        let program = parse_program("all.program", PROGRAM).expect("a program");
        program.check().expect("a good program");
        let subject = Subject { program: &program, question: None, input: "all.program" };
        for memory in [MemoryKind::Sc, MemoryKind::Pso] {
            let ready = setup(&program, memory, Property::ALL.to_vec(), None).expect("small");
            let (_, schedule) = run(Session::new(&ready, subject), &lines);
            let fresh = setup(&program, memory, Property::ALL.to_vec(), None).expect("small");
            let mut session = Session::new(&fresh, subject);
            prop_assert_eq!(session.load("schedule", &schedule), Ok(()));
        }
    }

    #[test]
    fn any_text_is_a_schedule_or_refused(text in "(parallax schedule 1\ninput x\nmodel tso\n)?\\PC{0,60}") {
        let _ = Schedule::parse("s", &text);
    }
}
