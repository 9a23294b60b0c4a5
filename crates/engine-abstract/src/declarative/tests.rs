//! Known counts: how many executions small programs have, by models and by hand.

use std::sync::Arc;

use parallax_control::Control as Limits;
use parallax_memory::Model;
use parallax_program::{Program, parse_program};
use rustc_hash::FxHashSet;

use crate::block::Blocks;
use crate::declarative::Memory;
use crate::graph::NodeId;
use crate::options::{Judge, Tuning};
use crate::oracle::Oracle;
use crate::search::{Round, Search};
use crate::state::Precision;

/// Threads of loads (`Rx`) and stores (`Wx`), the first one first; those in braces are atomic.
fn program(threads: &[&str]) -> Program {
    let mut text = String::from("program p pointers 64\n");
    for place in ["x", "y"] {
        text += &format!("global {place}: 4\n");
    }
    for (number, thread) in threads.iter().enumerate() {
        text += &format!("fn P{number}() {{\nvar r: 32\n");
        for access in thread.split_whitespace() {
            let place = &access[1..];
            match &access[..1] {
                "{" => text += "atomic begin\n",
                "}" => text += "atomic end\n",
                "R" => text += &format!("r = load.4 &{place} [A, RLX]\n"),
                _ => text += &format!("store.4 &{place}, 1:32 [A, RLX]\n"),
            }
        }
        text += "return\n}\n";
    }
    (0..threads.len()).for_each(|number| text += &format!("thread P{number} = P{number}()\n"));
    parse_program("p", &text).expect("a program")
}

fn model(text: &str) -> Model {
    Model::parse("mine", &format!("mine\n{text}\n"), &|_| None).expect("a model")
}

/// How many executions are complete, and how many end with a read that waits for ever.
fn leaves(program: &Program, model: &Model, way: (bool, Judge)) -> (usize, usize) {
    let mut blocks = Blocks::new(program, None).expect("small globals");
    let mut memory = Memory::new(model, way, Limits::default());
    (memory.window, memory.tracked) = (None, None);
    blocks.graphs = Some(memory);
    let limits = Limits::default();
    let mut oracle = Oracle::new(limits.clone());
    let (precision, tuning) = (Precision::default(), Tuning::default());
    let (passed, pinned) = (FxHashSet::default(), FxHashSet::default());
    let mut search =
        Search::new(&mut blocks, &mut oracle, (&precision, tuning), &limits, &passed, &pinned);
    assert!(matches!(search.run(), Ok(Round::Complete)));
    let graph = search.graph;
    let nodes: Vec<NodeId> = (0..graph.len() as u32).map(NodeId).collect();
    let parents: FxHashSet<NodeId> =
        nodes.iter().filter_map(|id| Some(graph.node(*id).parent.as_ref()?.0)).collect();
    assert!(nodes.iter().all(|id| graph.node(*id).covered_by.is_none()), "an execution twice");
    let leaves = nodes.iter().filter(|id| !parents.contains(id));
    let is_complete = |id: &&&NodeId| graph.node(***id).control.running().next().is_none();
    let all: Vec<&NodeId> = leaves.collect();
    let complete = all.iter().filter(is_complete).filter(|id| {
        let execution = graph.node(***id).control.execution.as_deref();
        let memory = blocks.graphs.as_mut().expect("a memory");
        execution.is_some_and(|it| memory.consistency.allows(&super::walk::bare(it)))
    });
    let complete = complete.count();
    let blocked = all.iter().filter(|id| !is_complete(id)).count();
    (complete, blocked)
}

const USUAL: (bool, Judge) = (true, Judge::Saturation);

const FREE: &str = "acyclic rf & co";
const ROOTED: &str = "acyclic po | rf";
const COHERENT: &str = "acyclic po-loc | rf | co | fr";

fn builtin(name: &str) -> Arc<Model> {
    Model::builtin(name).expect("a model").expect("a right model")
}

/// Each test with its counts by the models of the first line, and how many executions end with a read that waits
/// for ever if all is allowed. Accesses are relaxed.
#[test]
fn as_many_executions_as_were_counted_by_hand() {
    let mut models: Vec<Arc<Model>> = [FREE, ROOTED, COHERENT].map(|it| Arc::new(model(it))).into();
    models.extend(["sc", "tso", "pso", "ra", "rc11"].map(builtin));
    let tests: [(&[&str], [usize; 8], usize); 5] = [
        (&["Ry Rx", "Wx Wy"], [4, 4, 4, 3, 3, 4, 3, 4], 3),
        (&["Wx Ry", "Wy Rx"], [4, 4, 4, 3, 4, 4, 4, 4], 5),
        (&["Rx Wy", "Ry Wx"], [3, 3, 3, 3, 3, 3, 3, 3], 3),
        (&["Rx Rx", "Wx Wx"], [9, 9, 6, 6, 6, 6, 6, 6], 4),
        (&["Rx Ry", "Ry Rx", "Wx", "Wy"], [16, 16, 16, 15, 15, 15, 16, 16], 33),
    ];
    let ways = [USUAL, (false, Judge::Saturation), (true, Judge::Sat), (true, Judge::Datalog)];
    for (threads, counts, blocked) in tests {
        let program = program(threads);
        for way in ways {
            let found: Vec<usize> =
                models.iter().map(|model| leaves(&program, model, way).0).collect();
            assert_eq!((threads, way, found), (threads, way, counts.to_vec()));
        }
        assert_eq!((threads, leaves(&program, &models[0], USUAL).1), (threads, blocked));
    }
}

/// What a solver of functions says takes long, so it is asked about the smallest ones.
#[test]
fn functions_have_the_same_executions() {
    for (name, counts) in [("sc", [3, 3, 6]), ("tso", [3, 4, 6]), ("rc11", [4, 4, 6])] {
        let tests = [["Ry Rx", "Wx Wy"], ["Wx Ry", "Wy Rx"], ["Rx Rx", "Wx Wx"]];
        let way = (true, Judge::Functions);
        let found = tests.map(|threads| leaves(&program(&threads), &builtin(name), way).0);
        assert_eq!((name, found), (name, counts));
    }
}

/// Two threads that add to one variable, and one that writes two of them beside one that reads them: with atomic
/// sections nobody sees half of what another does.
#[test]
fn atomic_sections_leave_out_what_comes_in_between() {
    let sc = builtin("sc");
    let counts = |threads: &[&str]| leaves(&program(threads), &sc, USUAL).0;
    assert_eq!(counts(&["Rx Wx", "Rx Wx"]), 3);
    assert_eq!(counts(&["{ Rx Wx }", "{ Rx Wx }"]), 2);
    assert_eq!(counts(&["Ry Rx", "Wx Wy"]), 3);
    assert_eq!(counts(&["{ Ry Rx }", "{ Wx Wy }"]), 2);
}

/// A thread that reads two variables in one atomic section, beside one that writes them in another: of all executions in which each
/// read has a source the model leaves some, and atomicity fewer; it is said by the model here (each thread is one section).
#[test]
fn executions_of_two_sections_are_as_many_as_by_hand() {
    let program = program(&["Ry Rx", "Wx Wy"]);
    let order = "let order = po | rf | co | fr\nacyclic order";
    let whole = "irreflexive ((rf | co | fr) & ext) ; (order | (int & (M * M)))*";
    let (all, blocked) = leaves(&program, &model(ROOTED), USUAL);
    assert_eq!((all, blocked), (4, 3));
    let (sc, blocked) = leaves(&program, &model(order), (false, Judge::Saturation));
    assert_eq!((sc, blocked, all - sc), (3, 3, 1));
    let atomic = model(&format!("{order}\n{whole}"));
    let (atomic, blocked) = leaves(&program, &atomic, (false, Judge::Saturation));
    assert_eq!((atomic, blocked, all - atomic), (2, 3, 2));
}

/// Models that allow load buffering are not for a search of this kind.
#[test]
fn what_allows_load_buffering_is_refused_with_the_reason() {
    for text in [FREE, COHERENT] {
        let refused = super::admit(&model(text)).expect_err("a refusal");
        assert!(refused.message.contains("load buffering"), "{}", refused.message);
    }
    assert!(super::admit(&model(ROOTED)).is_ok());
}

#[test]
fn independent_threads_cost_no_orders() {
    let sc = builtin("sc");
    let program = program(&["Rx Rx", "Wx Wx", "Ry Ry", "Wy Wy"]);
    assert_eq!(leaves(&program, &sc, USUAL).0, 36);
}
