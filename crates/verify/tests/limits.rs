//! A query that has no time, no memory, or nobody who waits for it, is answered with the reason.

use std::time::{Duration, Instant};

use parallax_control::{Cancel, Control};
use parallax_memory::Model;
use parallax_program::{Property, parse_program};
use parallax_query::{Engine, Extensions, Query, Subject, Wanted};
use parallax_verdict::Conclusion;
use parallax_verify::registry::ENGINES;
use parallax_verify::stack;

const PROGRAM: &str = "\
program p pointers 64
global x: 4
fn one() {
  store.4 &x, 1:32 [A, RLX]
}
fn main() {
  var t: 32, r: 32
  t = spawn one()
  r = load.4 &x [A, RLX]
  join t
  assert r == r, \"always\"
}
thread main = main()
";

fn query(subject: &Subject) -> Query<'_> {
    Query {
        subject,
        model: Model::builtin("sc").expect("a model").expect("a right model"),
        is_compiled: false,
        properties: vec![Property::Assert],
        unroll: None,
        nondet: None,
        wanted: Wanted::First,
        extensions: Extensions::default(),
    }
}

/// What each engine says, under such limits, and that it says it soon.
fn all_say(control: &dyn Fn() -> Control<'static>, reason: &str) {
    let program = parse_program("t.program", PROGRAM).expect("a program");
    let subject = Subject::of(program);
    let query = query(&subject);
    let mut asked = 0;
    let is_asked =
        |engine: &&dyn Engine| engine.admits(&query).is_ok() && engine.looks_for(Property::Assert);
    for engine in ENGINES.into_iter().filter(is_asked) {
        asked += 1;
        let start = Instant::now();
        let answer = stack::run(engine, &query, &control()).expect("an answer");
        assert_eq!(answer.verdict.conclusion(), Conclusion::Unknown, "{}", engine.name());
        let said = answer.verdict.reason.expect("a reason").message;
        assert!(said.contains(reason), "{}: {said}", engine.name());
        assert!(start.elapsed() < Duration::from_secs(10), "{}", engine.name());
    }
    // All but enumeration, which is for final states.
    assert_eq!(asked, ENGINES.len() - 1);
}

#[test]
fn a_cancelled_query() {
    let cancelled = || {
        let cancel = Cancel::default();
        cancel.cancel();
        Control::default().until(cancel)
    };
    all_say(&cancelled, "stopped");
}

#[test]
fn no_time() {
    all_say(&|| Control::default().within(Some(Duration::ZERO)), "out of time");
}

#[test]
fn no_memory() {
    let control = || Control { memory_limit: Some(0), ..Control::default() };
    all_say(&control, "out of memory");
}
