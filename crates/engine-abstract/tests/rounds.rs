//! What a round has to build: what failures that are none leave of the graph stays, so that a round costs no more because
//! others came before it; and all variants of refinement come to the same.

use parallax_engine_abstract::{
    Domain, Options, Order, Parts, Pruning, Refinements, Scope, Tuning, verify,
};
use parallax_memory::Model;
use parallax_program::{Program, parse_program};
use parallax_verdict::Verdict;

/// A thread that compares so many inputs with numbers twice, beside others that read.
fn inputs(count: u32, readers: u32) -> Program {
    let mut text = String::from("program p pointers 64\nglobal x: 4\nfn main() {\nvar ");
    let names: Vec<String> = (0..count).map(|number| format!("i{number}: 32")).collect();
    text += &format!("{}\n", names.join(", "));
    for n in 0..count {
        text += &format!(
            "i{n} = nondet\nbranch i{n} <s 5:32, less{n}, end{n}\nless{n}:\nstore.4 &x, 1:32 [A, SC]\n\
             assert i{n} <s 7:32, \"both\"\nend{n}:\n"
        );
    }
    text += "}\nfn reader() {\nvar r: 32\nr = load.4 &x [A, SC]\n}\nthread main = main()\n";
    (0..readers).for_each(|number| text += &format!("thread R{number} = reader()\n"));
    parse_program("p", &text).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"))
}

fn answer(program: &Program, tuning: Tuning) -> Verdict {
    let model = Model::builtin("sc").expect("a model").expect("a good model");
    let tuning = Tuning { reports_rounds: true, ..tuning };
    verify(program, &model, &Options { tuning, ..Options::default() })
}

/// How many states each round has made.
fn made(verdict: &Verdict) -> Vec<u64> {
    let number = |note: &String| {
        let (_, rest) = note.strip_prefix("round ")?.split_once(" states, ")?;
        rest.split_once(" new")?.0.parse().ok()
    };
    verdict.notes.iter().filter_map(number).collect()
}

#[test]
fn a_round_costs_no_more_because_of_those_before_it() {
    for readers in [1, 2] {
        let most = [18, 36].map(|count| {
            let verdict = answer(&inputs(count, readers), Tuning::default());
            assert_eq!(verdict.conclusion().name(), "safe", "{:?}", verdict.reason);
            let made = made(&verdict);
            assert!(made.len() as u32 >= count / 2, "{made:?}");
            made.into_iter().max()
        });
        assert_eq!(most[0], most[1], "{readers}");
    }
    // Built anew, each round is larger than the one before.
    let full = Tuning { pruning: Pruning::Full, ..Tuning::default() };
    let made = made(&answer(&inputs(12, 1), full));
    assert!(made.windows(2).all(|pair| pair[0] < pair[1]), "{made:?}");
}

#[test]
fn all_variants_come_to_the_same() {
    let usual = Tuning::default();
    let domains = [Domain::Predicates, Domain::Boolean, Domain::Product, Domain::BooleanProduct];
    let ways = [Refinements::Backward, Refinements::Sequence, Refinements::All];
    let parts = [Parts::Both, Parts::Whole, Parts::Conjuncts, Parts::Atoms];
    let program = inputs(2, 1);
    for domain in domains {
        for refinement in ways {
            for parts in parts {
                for scope in [Scope::Global, Scope::Local] {
                    for order in [Order::Usual, Order::BreadthFirst] {
                        let tuning = Tuning { domain, refinement, parts, scope, order, ..usual };
                        let found = answer(&program, tuning);
                        assert_eq!(
                            found.conclusion().name(),
                            "safe",
                            "{tuning:?} {:?}",
                            found.notes
                        );
                    }
                }
            }
        }
    }
}

/// One of several comparisons, each of which has to be known.
fn alternatives(count: u32) -> Program {
    let mut text =
        String::from("program p pointers 64\nglobal x: 4\nfn main() {\nvar c: 32, i: 32\n");
    text += "c = nondet\n";
    for n in 0..count {
        text += &format!(
            "branch c == {n}:32, this{n}, next{n}\nthis{n}:\ni = nondet\nassume i <s {n}:32\n\
             store.4 &x, 1:32 [A, SC]\nstore.4 &x, 2:32 [A, SC]\n\
             assert i <s {n}:32, \"this {n}\"\njump end\nnext{n}:\n"
        );
    }
    text += "jump end\nend:\n}\nfn reader() {\nvar r: 32\nloop:\nr = load.4 &x [A, SC]\njump loop\n}\n\
             thread main = main()\nthread R = reader()\n";
    parse_program("p", &text).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"))
}

/// All failures of one graph are looked at before the next one is built.
#[test]
fn all_failures_together_take_fewer_rounds() {
    let rounds = |refinement| {
        let verdict = answer(&alternatives(6), Tuning { refinement, ..Tuning::default() });
        assert_eq!(verdict.conclusion().name(), "safe", "{:?}", verdict.reason);
        verdict.notes.iter().find_map(|note| {
            note.strip_prefix("abstraction: ")?.split_once(" rounds")?.0.parse::<u32>().ok()
        })
    };
    let (one, all) = (rounds(Refinements::Backward), rounds(Refinements::All));
    assert!(one >= Some(7) && all <= Some(3), "{one:?} {all:?}");
}
