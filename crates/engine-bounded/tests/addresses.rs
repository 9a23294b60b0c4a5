//! Where accesses and calls go: counters, places of one thread, pointers to functions; and what
//! happens where limits are reached.

use parallax_control::Control;
use parallax_engine_bounded::{Options, verify};
use parallax_engine_explore::explore;
use parallax_memory::Model;
use parallax_program::{Program, Property, parse_program};
use parallax_verdict::{Conclusion, Scope, Verdict};

fn program(text: &str) -> Program {
    let text = format!("program p pointers 64\n{text}");
    parse_program("p", &text).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"))
}

fn model(name: &str) -> std::sync::Arc<Model> {
    Model::builtin(name).expect("a model").expect("a right model")
}

fn bounded(program: &Program, name: &str, options: &Options<'_>) -> Verdict {
    verify(program, &model(name), options).expect("a verdict").verdict
}

/// The verdict of both engines; they agree.
fn agreed(text: &str, unroll: Option<u32>) -> Verdict {
    let program = program(text);
    let options = Options { unroll, ..Options::default() };
    let explored = parallax_engine_explore::Options::default();
    let explored = explore(&program, &model("rc11"), &explored).expect("a verdict");
    let verdict = bounded(&program, "rc11", &options);
    assert_eq!(verdict.conclusion(), explored.conclusion(), "{:?}", verdict.reason);
    verdict
}

/// Threads that draw a number, and write to the place of that number.
fn drawing(threads: u32, places: u32) -> String {
    let mut text = format!("global next: 4\nglobal array: {}\n", places * 4);
    text += "fn draw() {\nvar n: 32\nn = rmw.add.4 &next, 1:32 [A, RLX] [A, RLX]\n\
             store.4 &array + (zext(n, 64) << 2:64), 1:32 [A, RLX]\nreturn\n}\n";
    for thread in 0..threads {
        text += &format!("thread T{thread} = draw()\n");
    }
    text
}

#[test]
fn counters_count_as_far_as_there_are_events() {
    let right = agreed(&drawing(3, 3), None);
    assert_eq!((right.conclusion(), right.scope), (Conclusion::Safe, Some(Scope::Complete)));
    let wrong = agreed(&drawing(3, 2), None);
    assert_eq!(wrong.violations[0].property, Property::Memory);
}

/// An access on a way that nobody takes, of which it is not known where it goes, is no reason to give up
/// those on other ways.
#[test]
fn accesses_that_are_given_up_are_no_others() {
    let text = "global x: 4\nglobal y: 4\n\
                fn sets() {\nstore.4 &x, 1:32 [A, RLX]\nreturn\n}\n\
                fn looks() {\nvar at: 64, r: 32\nat = nondet\nr = load.4 &x [A, RLX]\n\
                branch r == 2:32, wild, tame\nwild:\nstore.4 at, 1:32 [NA]\njump tame\n\
                tame:\nstore.4 &y, 1:32 [NA]\nr = load.4 &y [NA]\nassert r == 1:32, \"one\"\n\
                return\n}\nthread S = sets()\nthread L = looks()";
    for model in ["sc", "rc11"] {
        let verdict = bounded(&program(text), model, &Options::default());
        assert_eq!(verdict.conclusion(), Conclusion::Safe, "{model}: {:?}", verdict.reason);
    }
}

/// A read gets its value from a write to the place that it turns out to read.
#[test]
fn values_come_from_the_place_that_is_read() {
    let text = "global next: 4\nglobal array: 8\n\
                fn writes() {\nstore.4 &array, 1:32 [A, RLX]\n\
                store.4 &array + 4:64, 2:32 [A, RLX]\nreturn\n}\n\
                fn reads() {\nvar n: 32, r: 32\nn = rmw.add.4 &next, 1:32 [A, RLX] [A, RLX]\n\
                r = load.4 &array + (zext(n, 64) << 2:64) [A, RLX]\n\
                assert (r == 0:32) | (r == n + 1:32), \"its own\"\nreturn\n}\n\
                thread w = writes()\nthread r = reads()\nthread s = reads()\n";
    let verdict = agreed(text, None);
    assert_eq!((verdict.conclusion(), verdict.scope), (Conclusion::Safe, Some(Scope::Complete)));
}

#[test]
fn what_is_freed_is_not_freed_again() {
    let text = "fn main() {\nvar o: 64\no = alloc.heap 8:64 align 8\nfree.heap o\n\
                free.heap o\nreturn\n}\nthread main = main()\n";
    let verdict = agreed(text, None);
    assert_eq!(verdict.violations[0].property, Property::Memory);
}

#[test]
fn loops_that_count_for_others_are_bounded() {
    let text = "global flag: 4\nglobal count: 4\n\
                fn waits() {\nvar v: 32, n: 32\nagain:\nv = load.4 &flag [A, RLX]\n\
                branch v == 0:32, more, done\nmore:\n\
                n = rmw.add.4 &count, 1:32 [A, RLX] [A, RLX]\njump again\ndone:\nreturn\n}\n\
                fn raises() {\nstore.4 &flag, 1:32 [A, RLX]\nreturn\n}\n\
                thread T0 = waits()\nthread T1 = raises()\n";
    let options = Options { unroll: Some(3), ..Options::default() };
    let verdict = bounded(&program(text), "rc11", &options);
    assert_eq!(verdict.scope, Some(Scope::Bounded(3)), "{:?}", verdict.reason);
}

const CALLS: &str = "global hook: 8 = { 0: @one }\nglobal seen: 4\n\
    fn one() {\nstore.4 &seen, 1:32 [A, RLX]\nreturn\n}\n\
    fn two() {\nstore.4 &seen, 2:32 [A, RLX]\nreturn\n}\n\
    fn changes() {\nstore.8 &hook, TARGET [A, RLX]\nreturn\n}\n\
    fn calls() {\nvar f: 64, v: 32\nf = load.8 &hook [A, RLX]\ncall (f)()\n\
    v = load.4 &seen [A, RLX]\nassert v == WANTED, \"seen\"\nreturn\n}\n\
    thread T0 = calls()\nthread T1 = changes()\n";

#[test]
fn a_call_goes_to_any_function_that_its_pointer_may_be() {
    let text =
        |target: &str, wanted: &str| CALLS.replace("TARGET", target).replace("v == WANTED", wanted);
    let either = "(v == 1:32) | (v == 2:32)";
    assert_eq!(agreed(&text("@two", either), None).conclusion(), Conclusion::Safe);
    assert_eq!(agreed(&text("@two", "v == 1:32"), None).conclusion(), Conclusion::Unsafe);
    assert_eq!(agreed(&text("@two", "v == 2:32"), None).conclusion(), Conclusion::Unsafe);
    let nowhere = agreed(&text("12345:64", either), None);
    assert_eq!(nowhere.violations[0].property, Property::Memory);
}

#[test]
fn all_violations_are_found_if_asked_for() {
    let text = "global x: 4\n\
                fn first() {\nvar v: 32\nv = load.4 &x [A, RLX]\nassert v == 0:32, \"one\"\n\
                v = load.4 &x [A, RLX]\nassert v == 0:32, \"two\"\nreturn\n}\n\
                fn second() {\nstore.4 &x, 1:32 [A, RLX]\nreturn\n}\n\
                thread T0 = first()\nthread T1 = second()\n";
    let one = bounded(&program(text), "rc11", &Options::default());
    assert_eq!(one.violations.len(), 1);
    let all = bounded(&program(text), "rc11", &Options { all: true, ..Options::default() });
    let messages: Vec<&str> = all.violations.iter().map(|found| found.message.as_str()).collect();
    assert_eq!((messages.len(), all.scope), (2, Some(Scope::Complete)), "{messages:?}");
}

#[test]
fn a_memory_limit_ends_the_search() {
    let options = Options {
        control: Control { memory_limit: Some(1), ..Control::default() },
        ..Options::default()
    };
    let verdict = bounded(&program(&drawing(4, 4)), "rc11", &options);
    assert_eq!(verdict.conclusion(), Conclusion::Unknown);
    let reason = verdict.reason.map(|reason| reason.message).unwrap_or_default();
    assert!(reason.contains("out of memory"), "{reason}");
}

/// A loop that waits, and keeps what it has read for the next round.
#[test]
fn rotated_loops_wait() {
    let text = |store: &str| {
        format!(
            "global x: 4 = {{ 0: 1:32 }}\nfn waits() {{\nvar a: 32\na = load.4 &x [A, RLX]\n\
             head:\nbranch a == 0:32, done, more\nmore:\na = load.4 &x [A, RLX]\njump head\n\
             done:\nreturn\n}}\nfn other() {{\n{store}return\n}}\n\
             thread T0 = waits()\nthread T1 = other()\n"
        )
    };
    let stuck = agreed(&text(""), None);
    assert_eq!(stuck.violations[0].property, Property::Liveness);
    let right = agreed(&text("store.4 &x, 0:32 [A, RLX]\n"), None);
    assert_eq!((right.conclusion(), right.scope), (Conclusion::Safe, Some(Scope::Complete)));
    let last = "store.4 &x, 0:32 [A, RLX]\nstore.4 &x, 2:32 [A, RLX]\n";
    assert_eq!(agreed(&text(last), None).violations[0].property, Property::Liveness);
}

/// A word, and two of its bytes: neither is for itself.
#[test]
fn bytes_inside_of_a_word_are_not_private() {
    let text = |wanted: &str| {
        format!(
            "global u: 4\nfn main() {{\nvar b: 8, c: 8\nstore.4 &u, 16909060:32 [NA]\n\
             b = load.1 &u + 1:64 [NA]\nc = load.1 &u + 2:64 [NA]\n\
             assert b == 3:8, \"second\"\nassert c == {wanted}, \"third\"\nreturn\n}}\n\
             thread main = main()\n"
        )
    };
    assert_eq!(agreed(&text("2:8"), None).conclusion(), Conclusion::Safe);
    assert_eq!(agreed(&text("0:8"), None).conclusion(), Conclusion::Unsafe);
}

/// A place that is written through an address that only an execution knows.
#[test]
fn what_an_input_points_to_is_not_private() {
    let text = "global a: 16\nfn main() {\nvar i: 64, v: 32\ni = nondet\n\
                assume i == 2:64\nstore.4 &a + (i << 2:64), 5:32 [NA]\n\
                v = load.4 &a + 8:64 [NA]\nassert v == 0:32, \"old\"\nreturn\n}\n\
                thread main = main()\n";
    let verdict = bounded(&program(text), "sc", &Options::default());
    assert_eq!(verdict.conclusion(), Conclusion::Unsafe, "{:?}", verdict.reason);
}

/// A thread that looks at something as long as it waits, and says so when it no longer does; what
/// another one does then to what was looked at may come before.
#[test]
fn rounds_that_change_nothing_are_not_left_out_where_they_race_or_use_what_is_freed() {
    let text = |made: &str, store: &str, load: &str, does: &str| {
        format!(
            "global x: 4\nglobal y: 4\nglobal d: 4\nfn main() {{\nvar t: 32, a: 64, v: 32, w: 32\n\
             a = {made}\nt = spawn other(a)\njump again\nagain:\nv = load.4 &x [A, RLX]\n\
             branch v == 1:32, done, look\nlook:\nw = load.4 a [NA]\njump again\ndone:\n\
             store.4 &y, 1:32 [A, {store}]\njoin t\n}}\n\
             fn other(a: 64) {{\nvar v: 32\nstore.4 &x, 1:32 [A, RLX]\nagain:\n\
             v = load.4 &y [A, {load}]\nbranch v == 1:32, done, again\ndone:\n{does}\n}}\n\
             thread main = main()\n"
        )
    };
    let heap = "alloc.heap.zeroed 4:64 align 4";
    for (made, does) in [("&d", "store.4 a, 1:32 [NA]"), (heap, "free.heap a")] {
        let relaxed = agreed(&text(made, "RLX", "RLX", does), None);
        assert_eq!(relaxed.conclusion(), Conclusion::Unsafe);
        let ordered = agreed(&text(made, "REL", "ACQ", does), None);
        assert_eq!(
            (ordered.conclusion(), ordered.scope),
            (Conclusion::Safe, Some(Scope::Complete))
        );
    }
}
