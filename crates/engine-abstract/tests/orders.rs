//! How many orders of steps are looked at, and a thread that would keep all others from their turn.

use parallax_engine_abstract::{Options, Reduction, Tuning, orders, verify};
use parallax_memory::Model;
use parallax_program::{Program, parse_program};

const READER: &str = "i = load.4 &G\nj = load.4 &G\nk = zext(i <=u j, 32)\n";
const WRITER: &str = "store.4 &G, 1:32\nstore.4 &G, 2:32\n";

/// A program with these threads.
fn threads(bodies: &[String]) -> Program {
    let mut text = String::from("program p pointers 64\nglobal x: 4\nglobal y: 4\n");
    for (number, body) in bodies.iter().enumerate() {
        text += &format!("fn P{number}() {{\nvar i: 32, j: 32, k: 32\n{body}}}\n");
    }
    (0..bodies.len()).for_each(|number| text += &format!("thread P{number} = P{number}()\n"));
    parse_program("p", &text).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"))
}

fn count(program: &Program, model: &str, reduction: Reduction, tracked: &[&str]) -> u64 {
    let model = Model::builtin(model).expect("a model").expect("a good model");
    let tuning = Tuning { reduction, most_values: 4, ..Tuning::default() };
    let options = Options { tuning, ..Options::default() };
    orders(program, &model, &options, tracked).expect("a count")
}

/// One thread reads a global twice and compares, another writes it twice.
#[test]
fn orders_of_the_running_example() {
    let program = threads(&[READER, WRITER].map(|body| body.replace('G', "x")));
    assert_eq!(count(&program, "sc", Reduction::Naive, &[]), 10);
    assert_eq!(count(&program, "sc", Reduction::Merged, &[]), 6);
    assert_eq!(count(&program, "sc", Reduction::Sets, &[]), 6);
    assert_eq!(count(&program, "sc", Reduction::Aware, &["x"]), 6);
    assert_eq!(count(&program, "sc", Reduction::Aware, &[]), 1);
}

#[test]
fn orders_of_two_copies_side_by_side() {
    let copy = |global: &str| [READER, WRITER].map(|body| body.replace('G', global));
    let [one, two] = copy("x");
    let [three, four] = copy("y");
    let program = threads(&[one, two, three, four]);
    assert_eq!(count(&program, "sc", Reduction::Merged, &[]), 2520);
    assert_eq!(count(&program, "sc", Reduction::Sets, &[]), 36);
    assert_eq!(count(&program, "sc", Reduction::Aware, &["x", "y"]), 36);
    assert_eq!(count(&program, "sc", Reduction::Aware, &["x"]), 6);
    assert_eq!(count(&program, "sc", Reduction::Aware, &[]), 1);
}

/// A thread that goes round for ever keeps nobody else from a failure.
#[test]
fn nobody_waits_for_a_thread_without_end() {
    let program = threads(&[
        "loop:\njump loop\n".to_string(),
        "i = load.4 &x\nassert i != 0:32, \"zero\"\n".to_string(),
    ]);
    let busy = threads(&[
        "loop:\nj = j + 1:32\nstore.4 &y, j\njump loop\n".to_string(),
        "i = load.4 &x\nassert i != 0:32, \"zero\"\n".to_string(),
    ]);
    for program in [program, busy] {
        for model in ["sc", "tso", "pso"] {
            let model = Model::builtin(model).expect("a model").expect("a good model");
            for reduction in
                [Reduction::Naive, Reduction::Merged, Reduction::Sets, Reduction::Aware]
            {
                let tuning = Tuning { reduction, ..Tuning::default() };
                let found = verify(&program, &model, &Options { tuning, ..Options::default() });
                assert_eq!(found.conclusion().name(), "unsafe", "{reduction:?} {:?}", found.reason);
            }
        }
    }
}
