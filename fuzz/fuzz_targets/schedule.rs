//! Any text is a schedule that prints and parses back, and that a session follows as far as it makes
//! sense, or an error with a place.

#![no_main]

use libfuzzer_sys::fuzz_target;
use parallax_debugger::{Schedule, Session, Subject, setup};
use parallax_frontend_litmus::parse;
use parallax_program::Property;

const TEST: &str = "X86 SB\n{ x=0; y=0; }\n P0 | P1 ;\n MOV [x],$1 | MOV [y],$1 ;\n \
    MOV EAX,[y] | MOV EAX,[x] ;\nexists (0:EAX=0 /\\ 1:EAX=0)\n";

fuzz_target!(|text: &str| {
    let Ok((schedule, _)) = Schedule::parse("fuzz.schedule", text) else { return };
    let printed = schedule.text();
    let again = Schedule::parse("again.schedule", &printed).map(|(schedule, _)| schedule.text());
    assert_eq!(again, Ok(printed));
    let test = parse("sb.litmus", TEST).expect("a test");
    let subject =
        Subject { program: &test.program, question: Some(&test.question), input: "sb.litmus" };
    let ready = setup(&test.program, schedule.memory, Property::ALL.to_vec(), None);
    let _ = Session::new(&ready.expect("small"), subject).load("fuzz.schedule", text);
});
