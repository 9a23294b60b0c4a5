//! Known counts: how many executions small programs have, by models and by hand.

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

/// Threads of loads (`Rx`) and stores (`Wx`), the first one first.
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
    let mut memory = Memory::new(program, model, way, Limits::default());
    memory.window = None;
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

#[test]
fn as_many_executions_as_were_counted_by_hand() {
    let tso = Model::builtin("tso").expect("a model").expect("a right model");
    let sc = Model::builtin("sc").expect("a model").expect("a right model");
    let [free, rooted, coherent] = [FREE, ROOTED, COHERENT].map(model);
    let tests: [(&[&str], [usize; 5], usize); 5] = [
        (&["Ry Rx", "Wx Wy"], [4, 4, 4, 3, 3], 3),
        (&["Wx Ry", "Wy Rx"], [4, 4, 4, 4, 3], 5),
        (&["Rx Wy", "Ry Wx"], [3, 3, 3, 3, 3], 3),
        (&["Rx Rx", "Wx Wx"], [9, 9, 6, 6, 6], 4),
        (&["Rx Ry", "Ry Rx", "Wx", "Wy"], [16, 16, 16, 15, 15], 33),
    ];
    for (threads, counts, blocked) in tests {
        let program = program(threads);
        let models = [&free, &rooted, &coherent, &tso, &sc];
        let found = models.map(|model| leaves(&program, model, USUAL).0);
        assert_eq!((threads, found), (threads, counts));
        let late = models.map(|model| leaves(&program, model, (false, Judge::Saturation)).0);
        assert_eq!((threads, late), (threads, counts), "judged late");
        assert_eq!((threads, leaves(&program, &free, USUAL).1), (threads, blocked));
    }
}

#[test]
fn independent_threads_cost_no_orders() {
    let sc = Model::builtin("sc").expect("a model").expect("a right model");
    let program = program(&["Rx Rx", "Wx Wx", "Ry Ry", "Wy Wy"]);
    assert_eq!(leaves(&program, &sc, USUAL).0, 36);
}
