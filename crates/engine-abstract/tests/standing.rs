//! What a thread has done is done, also where the thread goes no further right after that: others find it.

use std::time::Duration;

use parallax_control::Control;
use parallax_engine_abstract::{Analysis, Domain, Options, Reduction, Tuning, verify};
use parallax_memory::Model;
use parallax_program::{Program, Property, parse_program};
use parallax_verdict::Conclusion;

/// One thread leaves something in `x` and then does something else; another one looks there.
fn program(leaves: &str, then: &str) -> Program {
    let vars = "var r: 32, i: 32, k: 32, n: 32, ok: 1";
    let text = format!(
        "program p pointers 64\nglobal x: 4\nglobal y: 4\nfn other() {{\nvar r: 32\nr = load.4 &x [A, SC]\n}}\n\
         fn P0() {{\n{vars}\ni = nondet\n{leaves}\n{then}\nreturn\n}}\n\
         fn P1() {{\n{vars}\nr = load.4 &x [A, SC]\nassert r == 0:32, \"found\"\nreturn\n}}\n\
         thread P0 = P0()\nthread P1 = P1()\n"
    );
    parse_program("p", &text).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"))
}

const LEAVES: [&str; 6] = [
    "store.4 &x, 1:32 [A, SC]",
    "store.4 &x, 1:32 [NA]",
    "r = rmw.add.4 &x, 1:32 [A, SC] [A, SC]",
    "r, ok = cas.4 &x, 0:32, 1:32 [A, SC] [A, SC] [A, SC]",
    "atomic begin\nr = load.4 &x [NA]\nstore.4 &x, r + 1:32 [NA]\natomic end",
    "store.4 &x, 1:32 [A, SC]\nn = spawn other()",
];

/// All of these keep the thread from going on, for some inputs or for all.
const THEN: [&str; 7] = [
    "assume 0:1",
    "assume i == 5:32\nassume i == 6:32",
    "k = i * 2:32\nassume k == 1:32",
    "r = 3:32\nwait r == 2:32",
    "k = 0:32\ni = choose k",
    "assert.deadlock i != i, \"not asked for\"",
    "assume 0:1\nstore.4 &x, 0:32 [A, SC]",
];

fn answer(program: &Program, model: &str, tuning: Tuning) -> Conclusion {
    let model = Model::builtin(model).expect("a model").expect("a right model");
    let control = Control::lasting(Duration::from_secs(60));
    let properties = vec![Property::Assert];
    let options = Options { control, tuning, properties, ..Options::default() };
    let verdict = verify(program, &model, &options);
    println!("{:?} {:?}", verdict.conclusion(), verdict.reason);
    verdict.conclusion()
}

#[test]
fn what_is_left_behind_is_found() {
    let usual = Tuning::default();
    let variants = [
        ("sc", usual),
        ("sc", Tuning { reduction: Reduction::Merged, ..usual }),
        ("sc", Tuning { reduction: Reduction::Naive, ..usual }),
        ("sc", Tuning { domain: Domain::BooleanProduct, ..usual }),
        ("sc", Tuning { analysis: Analysis::Eager, ..usual }),
        ("tso", usual),
        ("pso", usual),
        ("tso", Tuning { analysis: Analysis::Lazy, ..usual }),
        ("rc11", usual),
    ];
    for leaves in LEAVES {
        for then in THEN {
            let program = program(leaves, then);
            for (model, tuning) in variants {
                let found = answer(&program, model, tuning);
                let is_open = found == Conclusion::Unknown && leaves.contains("atomic");
                let shown = format!("{leaves}\n{then}\nunder {model}, {tuning:?}");
                assert!(found == Conclusion::Unsafe || is_open, "{found:?}: {shown}");
            }
        }
    }
}

/// Nobody goes on while a thread stands still in an atomic section.
#[test]
fn sections_that_do_not_end_keep_what_is_in_them() {
    let program = program("atomic begin\nstore.4 &x, 1:32 [NA]\nassume 0:1\natomic end", "");
    for (model, analysis) in [("sc", Analysis::Usual), ("tso", Analysis::Usual)] {
        let tuning = Tuning { analysis, ..Tuning::default() };
        assert_ne!(answer(&program, model, tuning), Conclusion::Unsafe, "{model}");
    }
}

/// Where the lock is taken nobody stops, and before the assumption somebody does.
#[test]
fn a_failure_behind_a_lock_and_an_assumption_replays() {
    let leaves = "jump again\nagain:\n_, ok = cas.4 &y, 0:32, 1:32 [A, ACQ] [A, ACQ, LOCK_WRITE] [A, RLX]\n\
                  wait ok\ni = nondet\nassume i <u 3:32\nstore.4 &x, i [NA]\n\
                  store.4 &y, 0:32 [A, REL, UNLOCK]\nk = k + 1:32\nbranch k == 2:32, enough, again\nenough:";
    let program = program(leaves, "assume i == 2:32");
    let usual = Tuning::default();
    for model in ["sc", "tso", "pso", "ra", "rc11"] {
        for analysis in [Analysis::Usual, Analysis::Eager] {
            let tuning = Tuning { analysis, ..usual };
            assert_eq!(answer(&program, model, tuning), Conclusion::Unsafe, "{model} {analysis:?}");
        }
    }
}
