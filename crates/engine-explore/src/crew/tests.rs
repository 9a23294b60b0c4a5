//! Several threads find what one thread finds, and a thread that panics is no reason to wait.
//!
//! In these tests work is given away at every step.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use parallax_control::{Control, Progress};
use parallax_memory::Model;
use parallax_program::{Program, Property, parse_program};
use parallax_verdict::{Conclusion, Verdict};
use proptest::prelude::*;

use crate::symmetry::tests::cases;
use crate::{Options, Reductions, explore};

fn on(jobs: usize) -> Control<'static> {
    Control { jobs: NonZeroUsize::new(jobs).expect("a thread"), ..Control::default() }
}

/// Explores with others who are there from the start.
fn explored(program: &Program, model: &str, options: &Options<'_>) -> Verdict {
    let model = Model::builtin(model).expect("a model").expect("a right model");
    let model = model.with_races_of_c().expect("a right model");
    let wait = |_: &Progress| thread::sleep(Duration::from_micros(200));
    let jobs = options.control.jobs;
    let control = Control {
        jobs,
        progress: (jobs > NonZeroUsize::MIN).then_some(&wait),
        ..Control::default()
    };
    let options = Options { properties: options.properties.clone(), control, ..*options };
    explore(program, &model, &options).expect("explored")
}

/// What threads do: they access parts of one place, start others, and fail, each if they have read
/// something.
fn line() -> impl Strategy<Value = String> {
    let order = || prop::sample::select(vec!["RLX", "ACQ", "REL", "SC"]);
    let place = || prop::sample::select(vec!["x", "x", "y"]);
    prop_oneof![
        4 => (place(), order()).prop_map(|(x, o)| format!("r0 = load.4 &{x} [A, {o}]")),
        4 => (place(), order()).prop_map(|(x, o)| format!("store.4 &{x}, r0 + 1:32 [A, {o}]")),
        2 => place().prop_map(|x| format!("r0 = rmw.add.4 &{x}, 1:32 [A, RLX]")),
        1 => Just("r0 = choose 2:32".to_string()),
    ]
}

fn seldom() -> impl Strategy<Value = String> {
    let offset = || prop::sample::select(vec![0, 1, 2, 4]);
    prop_oneof![
        1 => Just("r0 = threadid".to_string()),
        2 => Just("spawn child()".to_string()),
        2 => offset().prop_map(|at| format!("store.2 &z + {at}:64, 1:16 [NA]")),
        2 => offset().prop_map(|at| format!("wide = load.4 &z + {at}:64 [NA]")),
        2 => Just("store.8 &z, 5:64 [NA]".to_string()),
        1 => Just("assert r0 == 2:32, \"two\"".to_string()),
        1 => Just("assert r0 == 1:32, \"one\"".to_string()),
        1 => Just("unsupported \"this\"".to_string()),
        1 => Just("assume r0 == 0:32".to_string()),
    ]
}

pub fn body() -> impl Strategy<Value = String> {
    let part = (line(), prop::option::weighted(0.4, (0..3u32, seldom())));
    prop::collection::vec(part, 1..3).prop_map(|parts| {
        let text = parts.into_iter().enumerate().map(|(number, (line, seldom))| match seldom {
            Some((value, seldom)) => format!(
                "{line}\nbranch r0 == {value}:32, then{number}, end{number}\nthen{number}:\n\
                 {seldom}\njump end{number}\nend{number}:\n"
            ),
            None => format!("{line}\n"),
        });
        text.collect()
    })
}

pub fn program(bodies: &[String]) -> Program {
    let mut text = String::from("program p pointers 64\nglobal x: 4\nglobal y: 4\nglobal z: 16\n");
    text += "fn child() {\nvar r0: 32\nr0 = rmw.add.4 &x, 1:32 [A, RLX]\n}\n";
    for (number, body) in bodies.iter().enumerate() {
        text += &format!("fn f{number}() {{\nvar r0: 32, wide: 32\n{body}return\n}}\n");
    }
    for (number, body) in bodies.iter().enumerate() {
        let same = bodies.iter().position(|other| other == body).unwrap_or(number);
        text += &format!("thread T{number} = f{same}()\n");
    }
    parse_program("p", &text).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases() / 8, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn several_threads_find_what_one_does(
        bodies in prop::collection::vec(body(), 2..4),
        is_twice in any::<bool>(),
        jobs in 2..5usize,
        all in any::<bool>(),
        property in prop::option::of(prop::sample::select(vec![Property::Assert, Property::Race])),
    ) {
        let mut bodies = bodies;
        if is_twice && bodies.len() == 2 {
            bodies.push(bodies[bodies.len() - 1].clone());
        }
        let program = program(&bodies);
        let properties = property.map_or(Property::ALL.to_vec(), |property| vec![property]);
        for model in ["sc", "tso", "rc11"] {
            let properties = properties.clone();
            let options = Options { properties, all, ..Options::default() };
            let alone = explored(&program, model, &options);
            let together = explored(&program, model, &Options { control: on(jobs), ..options });
            prop_assert_eq!(&alone, &together, "{} with {} threads", model, jobs);
        }
    }
}

/// Threads that add to one variable: many executions.
fn additions(threads: usize) -> Program {
    let body = "r0 = rmw.add.4 &x, 1:32 [A, RLX]\nr0 = rmw.add.4 &y, 1:32 [A, RLX]\n";
    let bodies: Vec<String> =
        (0..threads).map(|number| format!("{body}r0 = {number}:32\n")).collect();
    program(&bodies)
}

#[test]
fn a_panic_is_unknown() {
    let program = additions(6);
    let model = Model::builtin("rc11").expect("a model").expect("a right model");
    // Without a message: panics of workers are no news for the reader of this test.
    let panic = || std::panic::resume_unwind(Box::new(()));
    let main = thread::current().id();
    let at_once = |_: &Progress| panic();
    let others = |_: &Progress| match thread::current().id() == main {
        true => thread::sleep(Duration::from_micros(200)),
        false => panic(),
    };
    let looks = AtomicU32::new(0);
    let later = |_: &Progress| match looks.fetch_add(1, Ordering::Relaxed) {
        20 => panic(),
        _ => thread::sleep(Duration::from_micros(200)),
    };
    let injections: [&(dyn Fn(&Progress) + Sync); 3] = [&at_once, &others, &later];
    for (number, injection) in injections.into_iter().enumerate() {
        for jobs in [1, 2, 8] {
            if number == 1 && jobs == 1 {
                continue;
            }
            looks.store(0, Ordering::Relaxed);
            let control = Control { progress: Some(injection), ..on(jobs) };
            let reductions = Reductions::NONE;
            let options = Options { control, reductions, ..Options::default() };
            let verdict = explore(&program, &model, &options).expect("explored");
            assert_eq!(verdict.conclusion(), Conclusion::Unknown, "{number} {jobs}");
            let reason = verdict.reason.expect("a reason");
            assert!(reason.message.contains("internal error"), "{}", reason.message);
            assert!(reason.help.is_some_and(|help| help.to_string().contains("report")));
        }
    }
}
