//! Weak compare-and-swaps that fail for no reason, and wake-ups without a signal, in random programs:
//! the engines find the same violations.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::time::Duration;

use parallax_control::Control;
use parallax_library::{Options as Library, link};
use parallax_machine::settle_retries;
use parallax_memory::Model;
use parallax_program::{Program, Property, parse_program};
use parallax_verdict::{Conclusion, Scope, Verdict};
use proptest::prelude::*;

const PROPERTIES: [Property; 5] =
    [Property::Assert, Property::Memory, Property::Deadlock, Property::Lock, Property::Liveness];

const PATIENCE: Duration = Duration::from_secs(5);

/// A statement; `#` stands for its number, which makes labels its own.
fn statement() -> impl Strategy<Value = String> {
    let swap = |expected: &str, new: &str| {
        format!("cas.weak.4 &x, {expected}, {new} [A, ACQ_REL] [A, ACQ_REL] [A, RLX]")
    };
    let once = format!("_, ok = {}\nr = r + zext(ok, 32)", swap("0:32", "1:32"));
    let twice = format!(
        "_, ok = {0}\nbranch ok, e#, a#\na#:\n_, ok = {0}\nr = r + 1:32\ne#:",
        swap("1:32", "2:32")
    );
    let retry = format!(
        "l#:\no = load.4 &x [A, RLX]\n_, ok = {}\nbranch ok, e#, l#\ne#:",
        swap("o", "o + 1:32")
    );
    let keeps = format!(
        "o = load.4 &x [A, RLX]\nl#:\no, ok = {}\nbranch ok, e#, l#\ne#:",
        swap("o", "o + 1:32")
    );
    let gives_up = format!(
        "l#:\n_, ok = {}\nbranch ok, e#, a#\na#:\no = load.4 &y [A, ACQ]\n\
         branch o == 0:32, l#, b#\nb#:\nr = r + 2:32\ne#:",
        swap("0:32", "1:32")
    );
    let look = |again: &str| {
        format!(
            "call extern pthread_mutex_lock(&m)\nw#:\no = load.4 &flag [NA]\n\
             branch o == 0:32, s#, g#\ns#:\ncall extern pthread_cond_wait(&c, &m)\njump {again}\n\
             g#:\no = load.4 &flag [NA]\nr = r + o\ncall extern pthread_mutex_unlock(&m)"
        )
    };
    let timed = look("w#").replace("wait(&c, &m)", "timedwait(&c, &m, 0:64)");
    let give = |wake: &str| {
        format!(
            "call extern pthread_mutex_lock(&m)\no = load.4 &flag [NA]\n\
             store.4 &flag, o + 1:32 [NA]\n{wake}\ncall extern pthread_mutex_unlock(&m)"
        )
    };
    let all = [
        once,
        twice,
        retry,
        keeps,
        gives_up,
        look("w#"),
        look("g#"),
        timed,
        give("call extern pthread_cond_signal(&c)"),
        give("call extern pthread_cond_broadcast(&c)"),
        give(""),
        "store.4 &y, 1:32 [A, REL]".to_string(),
        "o = load.4 &x [A, ACQ]\nr = r + o".to_string(),
    ];
    prop::sample::select(all.to_vec())
}

fn threads() -> impl Strategy<Value = Vec<Vec<String>>> {
    prop::collection::vec(prop::collection::vec(statement(), 1..3), 2..4)
}

/// Threads that leave `r` behind, and one that waits for them and asks for a sum.
fn program(threads: &[Vec<String>], sum: u32) -> Program {
    let mut text = String::from(
        "program p pointers 64\nglobal x: 4\nglobal y: 4\nglobal flag: 4\nglobal m: 40\n\
         global c: 48\nglobal left: 64\n",
    );
    for (number, lines) in threads.iter().enumerate() {
        let lines = lines.iter().enumerate().map(|(at, line)| line.replace('#', &at.to_string()));
        let lines: Vec<String> = lines.collect();
        let last = format!("store.4 &left + {}:64, r [NA]", number * 4);
        let body = format!("{}\n{last}\nreturn", lines.join("\n"));
        write!(text, "fn t{number}() {{\nvar r: 32, o: 32, ok: 1\n{body}\n}}\n").unwrap();
    }
    let each = |line: &dyn Fn(usize) -> String| -> String {
        (0..threads.len()).map(|number| line(number) + "\n").collect()
    };
    let vars = each(&|number| format!("var t{number}: 32"));
    let spawns = each(&|number| format!("t{number} = spawn t{number}()"));
    let joins = each(&|number| format!("join t{number}"));
    let sums = each(&|number| format!("o = load.4 &left + {}:64 [NA]\nr = r + o", number * 4));
    write!(
        text,
        "fn main() {{\nvar r: 32, o: 32\n{vars}{spawns}{joins}{sums}o = load.4 &x [A, RLX]\n\
         assert r + o != {sum}:32, \"sum\"\nreturn\n}}\nthread main = main()\n"
    )
    .unwrap();
    let mut program =
        parse_program("p", &text).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"));
    link(&mut program, &Library { spurious_wakeups: true, ..Library::default() }).expect("linked");
    program.check().unwrap_or_else(|errors| panic!("{text}\n{errors:?}"));
    program
}

fn model(name: &str) -> std::sync::Arc<Model> {
    Model::builtin(name).expect("a model").expect("a right model")
}

fn explored(program: &Program, name: &str) -> Verdict {
    let options = parallax_engine_explore::Options {
        properties: PROPERTIES.to_vec(),
        all: true,
        control: Control::lasting(PATIENCE),
        ..Default::default()
    };
    parallax_engine_explore::explore(program, &model(name), &options).expect("explored")
}

fn searched(program: &Program, name: &str) -> Verdict {
    let options = parallax_engine_states::Options {
        properties: PROPERTIES.to_vec(),
        all: true,
        control: Control::lasting(PATIENCE),
        ..Default::default()
    };
    parallax_engine_states::search(program, &model(name), &options).expect("searched")
}

fn solved(program: &Program, name: &str) -> Verdict {
    let options = parallax_engine_bounded::Options {
        properties: PROPERTIES.to_vec(),
        control: Control::lasting(PATIENCE),
        ..Default::default()
    };
    parallax_engine_bounded::verify(program, &model(name), &options).expect("solved").verdict
}

/// What is violated; None where that is not known.
fn violated(verdict: &Verdict) -> Option<BTreeSet<&'static str>> {
    let is_known =
        verdict.conclusion() != Conclusion::Unknown && verdict.scope == Some(Scope::Complete);
    let names = verdict.violations.iter().map(|violation| violation.property.name());
    is_known.then(|| names.collect())
}

fn cases(usual: u32) -> u32 {
    std::env::var("PARALLAX_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(usual)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(40), failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn engines_agree_on_what_happens_for_no_reason(threads in threads(), sum in 0..6u32) {
        let program = program(&threads, sum);
        let mut settled = program.clone();
        settle_retries(&mut settled, false);
        for name in ["sc", "tso", "rc11"] {
            let verdict = explored(&program, name);
            let expected = violated(&verdict);
            prop_assert!(
                verdict.reason.as_ref().is_none_or(|reason| !reason.message.contains("replayed")),
                "{:?}", verdict.reason
            );
            let mut others = vec![("settled", explored(&settled, name))];
            if name != "rc11" {
                others.push(("states", searched(&program, name)));
            }
            for (engine, other) in &others {
                if let (Some(expected), Some(found)) = (&expected, violated(other)) {
                    prop_assert_eq!(expected, &found, "{} under {}", engine, name);
                }
            }
            if name == "sc" {
                let other = solved(&program, name);
                if expected.is_some() && other.conclusion() != Conclusion::Unknown {
                    prop_assert_eq!(verdict.conclusion(), other.conclusion(), "bounded");
                }
            }
        }
    }
}
