//! Random programs with loops, loops in loops, and invariants that are anything: what is proved, the
//! search through states finds nothing wrong with. The loops end after a few rounds, so it can decide.

use std::fmt::Write;
use std::time::Duration;

use parallax_control::Control;
use parallax_engine_bounded::Options;
use parallax_engine_inductive::{Conclusion, Order, prove};
use parallax_memory::Model;
use parallax_program::{Program, Property, parse_program};
use proptest::prelude::*;

/// Proofs that take longer are not waited for.
const PATIENCE: Duration = Duration::from_secs(2);

#[derive(Clone, Debug)]
enum Statement {
    Plain(&'static str),
    If(&'static str, &'static str),
    Assert(&'static str),
    Loop(Box<Loop>),
}

#[derive(Clone, Debug)]
struct Loop {
    rounds: u32,
    /// The parts of the body, with the invariant between them.
    first: Vec<Statement>,
    second: Vec<Statement>,
    invariant: Option<&'static str>,
    /// Where the loop is left early.
    left: Option<&'static str>,
}

fn plain() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "a = load.4 &x",
        "b = load.4 &x",
        "a = load.4 &y",
        "store.4 &x, n",
        "store.4 &x, a",
        "store.4 &y, 1:32",
        "store.4 &y, m",
        "store.4 &x, n + m",
        "a = rmw.swap.4 &x, n",
        "a = rmw.add.4 &y, 1:32",
        "a, ok = cas.4 &x, 0:32, 1:32",
        "fence [MFENCE]",
        "a = b",
        "b = m",
        "store.4 &z + (zext(n, 64) << 2:64), 1:32",
        "store.4 &z + (zext(m, 64) << 2:64), n",
        "a = load.4 &z + (zext(n, 64) << 2:64)",
        "b = load.4 &z + 4:64",
    ])
}

fn condition() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "1:1",
        "n <u 2:32",
        "n <u 3:32",
        "m <u 2:32",
        "m <=u 2:32",
        "a <u 3:32",
        "b <u 3:32",
        "a <=u 4:32",
        "a == 0:32",
        "a <=u b",
        "b <=u n",
        "(n <u 3:32) & (a <u 3:32)",
        "(n <u 3:32) & (m <u 3:32)",
        "b == 0:32",
        "~((a == 1:32) & (b == 2:32))",
        "~((a == 2:32) & (b == 1:32))",
        "~((a == 0:32) & (b == 1:32))",
    ])
}

/// Statements of a thread at that depth; the outermost loops are of depth 1.
fn statements(depth: u32) -> BoxedStrategy<Vec<Statement>> {
    let simple = prop_oneof![
        6 => plain().prop_map(Statement::Plain),
        1 => (condition(), plain()).prop_map(|(when, then)| Statement::If(when, then)),
        1 => condition().prop_map(Statement::Assert),
    ];
    let statement = match depth {
        0 => simple.boxed(),
        _ => prop_oneof![2 => simple, 1 => looped(depth)].boxed(),
    };
    prop::collection::vec(statement, 0..=2).boxed()
}

fn looped(depth: u32) -> impl Strategy<Value = Statement> {
    let part = move || match depth {
        1 => prop::collection::vec(plain().prop_map(Statement::Plain), 0..=1).boxed(),
        _ => statements(depth - 1),
    };
    let invariant = prop::option::weighted(0.7, condition());
    let left = prop::option::weighted(0.2, condition());
    (1..4u32, part(), part(), invariant, left).prop_map(
        |(rounds, first, second, invariant, left)| {
            Statement::Loop(Box::new(Loop { rounds, first, second, invariant, left }))
        },
    )
}

/// A thread, with a loop if it has to have one, and an assertion at its end.
fn thread(has_loop: bool) -> impl Strategy<Value = Vec<Statement>> {
    let middle = match has_loop {
        true => looped(2).prop_map(|one| vec![one]).boxed(),
        false => statements(1),
    };
    (statements(0), middle, statements(0), condition()).prop_map(|(before, middle, after, last)| {
        [before, middle, after, vec![Statement::Assert(last)]].concat()
    })
}

/// A thread that looks twice, so that it can distinguish iterations of the other.
fn reader() -> impl Strategy<Value = Vec<Statement>> {
    condition().prop_map(|condition| {
        let [first, second] = ["a = load.4 &x", "b = load.4 &x"].map(Statement::Plain);
        vec![first, second, Statement::Assert(condition)]
    })
}

/// Writes threads as text.
#[derive(Default)]
struct Text {
    text: String,
    labels: u32,
}

impl Text {
    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{line}");
    }

    fn statements(&mut self, list: &[Statement], depth: usize) {
        for statement in list {
            self.labels += 1;
            let number = self.labels;
            match statement {
                Statement::Plain(text) => self.line(text),
                Statement::Assert(condition) => {
                    self.line(&format!("assert {condition}, \"{condition}\""));
                }
                Statement::If(condition, then) => self.line(&format!(
                    "branch {condition}, t{number}, f{number}\nt{number}:\n{then}\nf{number}:"
                )),
                Statement::Loop(body) => self.looped(body, depth, number),
            }
        }
    }

    fn looped(&mut self, body: &Loop, depth: usize, number: u32) {
        let counter = ["n", "m"][depth.min(1)];
        self.line(&format!("{counter} = 0:32\nh{number}:"));
        self.statements(&body.first, depth + 1);
        if let Some(left) = body.left {
            self.line(&format!("branch {left}, e{number}, g{number}\ng{number}:"));
        }
        if let Some(invariant) = body.invariant {
            self.line(&format!("call __PARALLAX_invariant(zext({invariant}, 32))"));
        }
        self.statements(&body.second, depth + 1);
        let rounds = body.rounds;
        self.line(&format!(
            "{counter} = {counter} + 1:32\nbranch {counter} <u {rounds}:32, h{number}, e{number}\n\
             e{number}:"
        ));
    }
}

fn text(threads: &[Vec<Statement>]) -> String {
    let mut text = Text::default();
    text.line("program t pointers 64\nglobal x: 4\nglobal y: 4\nglobal z: 16");
    text.line("fn __PARALLAX_invariant(condition: 32) {\nreturn\n}");
    for (number, thread) in threads.iter().enumerate() {
        text.line(&format!("fn P{number}() {{\nvar n: 32, m: 32, a: 32, b: 32, ok: 1"));
        text.statements(thread, 0);
        text.line("return\n}");
    }
    for number in 0..threads.len() {
        text.line(&format!("thread P{number} = P{number}()"));
    }
    text.text
}

/// Whether nothing is wrong, and how many executions come to their end.
fn searched(program: &Program, model: &Model) -> (bool, u64) {
    let options = parallax_engine_states::Options {
        properties: vec![Property::Assert],
        ..Default::default()
    };
    let verdict = parallax_engine_states::search(program, model, &options).expect("it runs");
    let is_safe = verdict.conclusion() == parallax_verdict::Conclusion::Safe;
    (is_safe, verdict.counts.executions)
}

fn proof(text: &str) -> Conclusion {
    let program = parse_program("t.program", text).expect("it reads");
    let model = Model::builtin("sc").expect("the model is there").expect("it is a model");
    prove(&program, &model, Order::Unsigned, &Options::default()).expect("it runs").conclusion
}

/// A load of one element is a load of what a loop over all of them writes, also where only invariants
/// say where that is, and where it comes after an access of which the same is true.
#[test]
fn elements_that_a_loop_has_written_are_read() {
    let program = |after: &str, element: u32, condition: &str| {
        format!(
            "program t pointers 64\nglobal x: 12\nglobal y: 32\n\
             fn P() {{\nvar i: 64, j: 64, a: 32\n\
             head:\nbranch i == 3:64, out, body\n\
             body:\nstore.4 &x + (i << 2:64), 5:32\ni = i + 1:64\nj = j + 1:64\njump head\n\
             out:\n{after}\na = load.4 &x + {element}:64\nassert {condition}, \"it\"\nreturn\n}}\n\
             thread P = P()"
        )
    };
    for after in ["", "store.4 &y + (j << 2:64), 1:32"] {
        for element in [0, 4, 8] {
            let wrong = proof(&program(after, element, "a == 0:32"));
            assert!(matches!(wrong, Conclusion::NotProved(_)), "{after}, {element}: {wrong:?}");
            let right = proof(&program(after, element, "a <=u 5:32"));
            assert!(matches!(right, Conclusion::Proved { .. }), "{after}, {element}: {right:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn what_is_proved_is_true(
        first in thread(true),
        second in prop_oneof![thread(false), reader()],
        model in prop::sample::select(vec!["sc", "tso", "pso"]),
    ) {
        let text = text(&[first, second]);
        let program = parse_program("t.program", &text).expect("it reads");
        let model = Model::builtin(model).expect("the model is there").expect("it is a model");
        let options = Options { control: Control::lasting(PATIENCE), ..Options::default() };
        let proof = prove(&program, &model, Order::Unsigned, &options).expect("it runs");
        if let Conclusion::Proved { vacuous } = proof.conclusion {
            let (is_safe, executions) = searched(&program, &model);
            prop_assert!(is_safe, "{}\n{}", model.name(), text);
            prop_assert!(!vacuous || executions == 0, "{}\n{}", model.name(), text);
        }
    }
}
