//! Nothing that is typed breaks a session of the debugger, and what was done can be done again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use parallax_debugger::{Flow, MemoryKind, Session, Subject, setup};
use parallax_frontend_litmus::parse;
use parallax_program::Property;

const TEST: &str = "X86 SB\n{ x=0; y=0; }\n P0 | P1 ;\n MOV [x],$1 | MOV [y],$1 ;\n \
    MOV EAX,[y] | MOV EAX,[x] ;\nexists (0:EAX=0 /\\ 1:EAX=0)\n";

/// Commands that read and write files are left out.
fn is_harmless(line: &str) -> bool {
    let line = line.trim_start();
    !line.starts_with("sa") && !line.starts_with("lo")
}

fuzz_target!(|text: &str| {
    let test = parse("sb.litmus", TEST).expect("a test");
    let subject =
        Subject { program: &test.program, question: Some(&test.question), input: "sb.litmus" };
    let ready =
        || setup(&test.program, MemoryKind::Tso, Property::ALL.to_vec(), None).expect("small");
    let (first, second) = (ready(), ready());
    let mut session = Session::new(&first, subject);
    let mut out = String::new();
    for line in text.lines().filter(|line| is_harmless(line)).take(50) {
        if let Ok(Flow::Quit) = session.execute(line, &mut out) {
            break;
        }
    }
    let schedule = session.schedule().text();
    assert_eq!(Session::new(&second, subject).load("schedule", &schedule), Ok(()));
});
