//! Many threads of a kind: what goes wrong between some of them is found among few, and what needs all of
//! them is judged with all of them.

use std::time::Duration;

use parallax_control::Control;
use parallax_engine_states::{Options, search};
use parallax_memory::Model;
use parallax_program::{Property, parse_program};
use parallax_verdict::{Conclusion, Scope, Verdict};

/// A program whose first thread starts so many of each kind.
fn verify(kinds: &str, count: u32, rest: &str, property: Property) -> Verdict {
    let text = format!(
        "program p pointers 64\nglobal a: 4\nglobal b: 4\n{kinds}\n\
         fn first() {{\nvar n: 32, i: 32, r: 32\ni = 0:32\nloop:\nn = spawn one()\nn = spawn other()\n\
         i = i + 1:32\nbranch i == {count}:32, end, loop\nend:\n{rest}\n}}\nthread T = first()\n"
    );
    let program = parse_program("p", &text).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"));
    let model = Model::builtin("sc").expect("a model").expect("a right model");
    let control = Control::lasting(Duration::from_secs(60));
    let options = Options { properties: vec![property], control, ..Options::default() };
    search(&program, &model, &options).expect("an answer")
}

const PAIR: &str = "fn one() {\nstore.4 &a, 1:32 [A, SC]\nstore.4 &b, 1:32 [A, SC]\n}\n\
     fn other() {\nvar r: 32, s: 32\nr = load.4 &a [A, SC]\ns = load.4 &b [A, SC]\n\
     assert r == s, \"both\"\n}";

const COUNTERS: &str = "fn one() {\nvar r: 32\nr = rmw.add.4 &a, 1:32 [A, SC] [A, SC]\n}\n\
     fn other() {\nvar r: 32\nr = rmw.add.4 &b, 1:32 [A, SC] [A, SC]\n}";

#[test]
fn what_two_threads_do_is_found_among_a_hundred() {
    let verdict = verify(PAIR, 50, "", Property::Assert);
    assert_eq!(verdict.conclusion(), Conclusion::Unsafe, "{:?}", verdict.reason);
    assert!(verdict.counts.states < 10_000, "{:?}", verdict.counts);
}

#[test]
fn what_waits_for_all_threads_is_no_deadlock() {
    let rest = "r = load.4 &a [A, SC]\nwait r == 3:32\nr = load.4 &b [A, SC]\nwait r == 3:32";
    let verdict = verify(COUNTERS, 3, rest, Property::Deadlock);
    assert_eq!(verdict.conclusion(), Conclusion::Safe, "{:?}", verdict.reason);
    assert_eq!(verdict.scope, Some(Scope::Complete));
    let far = rest.replace("== 3", "== 4");
    let verdict = verify(COUNTERS, 3, &far, Property::Deadlock);
    assert_eq!(verdict.conclusion(), Conclusion::Unsafe, "{:?}", verdict.reason);
}

#[test]
fn what_takes_all_threads_is_found_at_last() {
    let rest = "r = load.4 &a [A, SC]\nassert r != 4:32, \"four\"";
    let verdict = verify(COUNTERS, 4, rest, Property::Assert);
    assert_eq!(verdict.conclusion(), Conclusion::Unsafe, "{:?}", verdict.reason);
}
