//! A query that has no time, no memory, or nobody who waits for it, is answered with the reason; and so
//! is one that an engine breaks at.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parallax_control::{Cancel, Control, Gate};
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
    assert!(asked >= 3);
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

/// Breaks at the first account of work.
#[derive(Default)]
struct Breaks(AtomicBool);

impl Gate for Breaks {
    fn spend(&self, _: u64) {
        self.0.store(true, Ordering::Relaxed);
        // Without a message: this is no news for the reader of the test.
        std::panic::resume_unwind(Box::new(()));
    }
}

#[test]
fn engines_that_break() {
    let adds = "a = rmw.add.4 &x, 1:32 [A, RLX]\na = a * a\n".repeat(3);
    let mut text = format!("program p pointers 64\nglobal x: 4\nfn f() {{\nvar a: 32\n{adds}}}\n");
    for thread in 0..6 {
        text += &format!("thread t{thread} = f()\n");
    }
    let subject = Subject::of(parse_program("t.program", &text).expect("a program"));
    let query = query(&subject);
    let mut broken = Vec::new();
    for engine in ENGINES.into_iter().filter(|engine| engine.admits(&query).is_ok()) {
        let breaks = Breaks::default();
        let limits = Control::default().within(Some(Duration::from_secs(20)));
        let jobs = NonZeroUsize::new(4).expect("threads");
        let control = Control { gate: Some(&breaks), jobs, ..limits };
        let answer = stack::run(engine, &query, &control).expect("an answer");
        if breaks.0.load(Ordering::Relaxed) {
            broken.push(engine.name());
            let said = answer.verdict.reason.expect("a reason").message;
            assert!(said.contains("internal error"), "{}: {said}", engine.name());
        }
    }
    assert!(broken.len() >= 4, "{broken:?}");
}
