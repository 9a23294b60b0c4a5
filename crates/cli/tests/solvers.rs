//! The options of the engine that asks a solver: another solver, proofs, and questions for others.

use crate::support;

use std::path::Path;

use support::{Folder, MP, SB};

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("SB.litmus", SB).write("MP.litmus", MP);
    folder
}

#[test]
fn safe_answers_are_certified() {
    let folder = folder();
    let safe = folder.run(&["verify", "--engine", "bounded", "--certify", "MP.litmus"]);
    safe.ends_with(0).says("certified: 1 answer, by 1 cycle and");
    folder.run(&["verify", "--engine", "bounded", "--certify", "SB.litmus"]).ends_with(1);
}

#[test]
fn solvers_agree() {
    let folder = folder();
    for (test, code) in [("SB.litmus", 1), ("MP.litmus", 0)] {
        folder.run(&["verify", "--engine", "bounded", "--solver", "z3", test]).ends_with(code);
    }
}

#[test]
fn questions_are_written() {
    let folder = folder();
    for (name, start) in [("q.cnf", "p cnf "), ("q.smt2", "(set-logic QF_IDL)\n")] {
        let arguments = ["verify", "--engine", "bounded", "--emit", name, "MP.litmus"];
        folder.run(&arguments).ends_with(0);
        let text = std::fs::read_to_string(folder.path().join(name)).unwrap_or_default();
        assert!(text.starts_with(start) && text.lines().count() > 10, "{text}");
    }
    let nowhere = ["verify", "--engine", "bounded", "--emit", "no/q.cnf", "MP.litmus"];
    folder.run(&nowhere).ends_with(2).complains("cannot write 'no/q.cnf'");
}

/// Programs are asked about several things, each with a file of its own.
#[test]
fn every_question_is_written() {
    let folder = folder();
    folder.write("spin.ops", SPIN);
    let arguments = ["verify", "--engine", "bounded", "--emit", "q.smt2", "--model", "sc"];
    folder.run(&[&arguments[..], &["spin.ops"]].concat()).ends_with(0);
    for name in ["q.smt2", "q-2.smt2"] {
        let text = std::fs::read_to_string(folder.path().join(name)).unwrap_or_default();
        assert!(text.ends_with("(check-sat)\n"), "{name}: {text}");
    }
}

const SPIN: &str = "loc [x], [y];
thread P1 { instr{ [x] := 1 }; instr{ [y] := 1 } }
thread P2 {
  label(L); instr{ v := [y]; [y] := v; branch(v = 0, label(L)) }; instr{ u := [x] }; assert(u = 1)
}
";

#[test]
fn frameworks_agree() {
    let folder = folder();
    for (test, model, code) in [
        ("SB.litmus", "sc", 0),
        ("SB.litmus", "tso", 1),
        ("MP.litmus", "tso", 0),
        ("MP.litmus", "pso", 1),
    ] {
        let run =
            ["verify", "--engine", "bounded", "--framework", "gharachorloo", "--model", model];
        let run = folder.run(&[&run[..], &[test]].concat());
        run.ends_with(code).says("executions were decided by the order of sub-operations");
    }
    let other = ["verify", "--engine", "bounded", "--framework", "gharachorloo", "--model", "rmo"];
    let other = folder.run(&[&other[..], &["SB.litmus"]].concat());
    other.ends_with(2).complains("no conditions for the model 'rmo'");
    let other = folder.run(&["verify", "--framework", "gharachorloo", "SB.litmus"]);
    other.ends_with(1).says("executions were decided by the order of sub-operations");
}

/// What one processor makes of any number, and another looks at.
fn structures(operation: &str, assertion: &str) -> String {
    format!(
        "loc [x] = any, [y];\nthread P1 {{ instr{{ a := [x]; b := {operation}; [y] := b }}; \
         assert({assertion}) }}\nthread P2 {{ instr{{ c := [y] }} }}\n"
    )
}

#[test]
fn integers_do_not_wrap_around() {
    let folder = Folder::new();
    let cases = [
        // With words: the largest one and 1 are 0.
        ("a + 1", "b > a", 1, 0),
        ("a + 1", "not(b = 0)", 1, 0),
        // Less than 0 is a large word.
        ("0 - 1", "b > a \\/ b = a", 0, 3),
        ("a - 1", "b < a", 1, 0),
        ("(a = 7) ? a + 1 : a", "b = a", 1, 1),
        ("a + a - a", "b = a", 0, 0),
        ("a + 4294967295", "b > a", 1, 0),
    ];
    for (operation, assertion, words, integers) in cases {
        folder.write("t.ops", structures(operation, assertion));
        let run = ["verify", "--engine", "bounded", "--model", "tso", "t.ops"];
        folder.run(&run).ends_with(words);
        let run = folder.run(&[&run[..], &["--integers"]].concat());
        let run = run.ends_with(integers);
        match integers {
            0 => run.says("values are integers"),
            1 => run.says("words do it, too"),
            _ => run.says("not with words"),
        };
    }
}

#[test]
fn integers_are_for_those_who_know_them() {
    let folder = folder();
    folder.write("t.ops", structures("a + 1", "b > a"));
    let other = ["verify", "--engine", "bounded", "--integers", "MP.litmus"];
    folder.run(&other).ends_with(2).complains("integers are for operation structures");
    folder.run(&["verify", "--integers", "t.ops"]).ends_with(0).says("engine bounded");
    let other = ["verify", "--engine", "states", "--integers", "t.ops"];
    folder.run(&other).ends_with(2).complains("the engine 'states' has no use for: integers");
    let other = ["verify", "--engine", "bounded", "--integers", "--certify", "t.ops"];
    folder.run(&other).ends_with(2).complains("leave out --integers or --certify");
    let emit = ["verify", "--engine", "bounded", "--integers", "t.ops", "--emit"];
    let bits = folder.run(&[&emit[..], &["q.cnf"]].concat());
    bits.ends_with(2).complains("integers cannot be said in DIMACS");
    folder.run(&[&emit[..], &["q.smt2"]].concat()).ends_with(0);
    let text = std::fs::read_to_string(folder.path().join("q.smt2")).unwrap_or_default();
    assert!(text.starts_with("(set-logic QF_LIA)\n") && text.contains("(define-fun i"), "{text}");
}

/// A program in C whose words are integers as long as they hold what integers would be.
#[test]
fn integers_in_c_end_where_words_do() {
    let folder = Folder::new();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/c-abstract");
    let text = std::fs::read_to_string(examples.join("sum-of-inputs.c")).expect("an example");
    folder.write("sum.c", &text);
    folder.write("more.c", text.replace("seen >= least", "seen > least"));
    let ask = ["verify", "--engine", "abstract", "--model", "sc", "--property", "assert"];
    let asked = |more: &[&str]| folder.run(&[&ask[..], more].concat());
    let within = "executions were followed as long as no sum";
    asked(&["sum.c"]).ends_with(1);
    asked(&["sum.c", "--integers", "--proof", "a.proof"])
        .ends_with(0)
        .says(within)
        .says("every execution was covered that the options leave");
    folder.run(&["check-proof", "a.proof", "sum.c"]).ends_with(0).says(within);
    folder.run(&["check-proof", "a.proof", "more.c"]).ends_with(1);
    // What happens with integers that words hold happens with words.
    asked(&["more.c", "--integers"]).ends_with(1).says("seen > least");
    let signs = "it is not known which numbers have a sign";
    asked(&["sum.c", "--integers", "--", "-fwrapv"]).ends_with(2).complains(signs);
    let other = folder.run(&["verify", "--engine", "states", "--integers", "sum.c"]);
    other.ends_with(2).complains("integers in programs in C are for the engine 'abstract'");
}

#[test]
fn other_engines_ask_no_solver() {
    let folder = folder();
    folder.run(&["verify", "--certify", "SB.litmus"]).ends_with(1).says("engine bounded");
    let other = folder.run(&["verify", "--engine", "explore", "--certify", "SB.litmus"]);
    other.ends_with(2).complains("the engine 'explore' has no use for: certify");
    let other =
        folder.run(&["verify", "--engine", "states", "--certify", "--solver", "z3", "SB.litmus"]);
    other
        .ends_with(2)
        .complains("the engine 'states' has no use for: solver, certify")
        .complains("leave out --solver and --certify; --engine bounded would take it");
    let both =
        folder.run(&["verify", "--engine", "bounded", "--certify", "--solver", "z3", "SB.litmus"]);
    both.ends_with(2).complains("Z3 gives no proofs");
}

#[test]
fn nobody_takes_options_that_contradict_one_another() {
    let folder = folder();
    folder.write("p.c", "int main(void) { return 0; }\n");
    let both = folder.run(&["verify", "--certify", "--domain", "explicit", "p.c"]);
    both.ends_with(2)
        .complains("no engine for this input has a use for all of these: certify, domain")
        .complains("leave out --certify or --domain");
    let one = folder.run(&["verify", "--domain", "explicit", "SB.litmus"]);
    one.ends_with(2)
        .complains("no engine for this input has a use for: domain")
        .complains("leave out --domain; --engine abstract would take it");
}

#[test]
fn who_refuses_says_who_would_not() {
    let folder = folder();
    folder.write("p.c", "int main(void) { return 0; }\n");
    let refused = folder.run(&["verify", "--engine", "enumerate", "p.c"]);
    refused.ends_with(2).complains(
        "leave out --engine, or try --engine explore, abstract, bounded, view, inductive",
    );
    let refused = folder.run(&["verify", "--engine", "view", "SB.litmus"]);
    refused.ends_with(2).complains("try --engine states, bounded or enumerate");
    let nothing = folder.run(&["verify", "--engine", "states", "-m", "sc", "-p", "race", "p.c"]);
    nothing.ends_with(3).says("checked for nothing;");
}

#[test]
fn c_is_not_verified_under_models_that_do_not_know_it() {
    let folder = Folder::new();
    folder.write("main.c", "int main(void) { return 0; }\n");
    for model in ["arm", "lkmm"] {
        let run = folder.run(&["verify", "--engine", "bounded", "--model", model, "main.c"]);
        run.ends_with(2).complains("other accesses and fences than C11 has");
    }
    folder.run(&["verify", "--engine", "bounded", "--model", "power", "main.c"]).ends_with(0);
    folder.run(&["verify", "--model", "aarch64", "main.c"]).ends_with(0).says("engine bounded");
}

#[test]
fn loops_are_followed_as_far_as_is_needed() {
    let folder = folder();
    folder.run(&["verify", "--engine", "bounded", "--unroll", "auto", "MP.litmus"]).ends_with(0);
    let run = folder.run(&["verify", "--engine", "bounded", "--unroll", "some", "MP.litmus"]);
    run.ends_with(2).complains("expected a number of rounds, or auto");
}

#[test]
fn what_exploration_cannot_decide_a_solver_may() {
    let folder = Folder::new();
    let text = "#include <assert.h>\nextern int __VERIFIER_nondet_int(void);\n\
                int main(void) { int n = __VERIFIER_nondet_int(); assert(n != 7); return 0; }\n";
    folder.write("input.c", text);
    let run = folder.run(&["verify", "input.c"]);
    run.ends_with(1).says("chooses 7").says("'explore' cannot decide");
    folder.run(&["verify", "--engine", "explore", "input.c"]).ends_with(3);
    for engine in ["auto", "bounded", "explore"] {
        let within =
            |range| folder.run(&["verify", "--engine", engine, "--nondet", range, "input.c"]);
        within("-3..6").ends_with(0).says("only inputs from -3 to 6 were tried");
        within("-3..7").ends_with(1);
    }
}

#[test]
fn races_name_their_accesses() {
    let folder = Folder::new();
    let text = "#include <pthread.h>\nint x;\n\
                void *other(void *p) { x = 1; return 0; }\n\
                int main(void) { pthread_t t; pthread_create(&t, 0, other, 0); return x; }\n";
    folder.write("race.c", text);
    for engine in ["bounded", "explore"] {
        let run = folder.run(&["verify", "--engine", engine, "race.c"]);
        run.ends_with(1)
            .says("data race on x at race.c:")
            .says("other#1 writes x = 1 (not atomic)");
    }
}

/// An object may be used before another thread frees it, and what follows may be wrong.
#[test]
fn what_follows_an_error_of_memory_counts() {
    let folder = Folder::new();
    let text = "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n\
                _Atomic(int *) box;\n\
                void *giver(void *p) { int x = 1; box = &x; x = 2; return 0; }\n\
                void *taker(void *p) { int *o = box; if (o) assert(*o == 1); return 0; }\n\
                int main(void) { pthread_t t[2]; pthread_create(&t[0], 0, giver, 0);\n\
                pthread_create(&t[1], 0, taker, 0); return 0; }\n";
    folder.write("box.c", text);
    let run = |engine| {
        folder.run(&["verify", "--engine", engine, "--model", "sc", "-p", "assert", "box.c"])
    };
    run("explore").ends_with(3).says("access to an object that may have been freed");
    for engine in ["auto", "bounded", "states"] {
        run(engine).ends_with(1).says("assertion failed: *o == 1");
    }
}

/// What the program has found out about an input decides where an access can go.
#[test]
fn inputs_may_be_indices() {
    let folder = Folder::new();
    let text = "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n\
                extern int __VERIFIER_nondet_int(void);\n\
                extern void __VERIFIER_assume(int);\n\
                static atomic_int cells[4];\n\
                void *writer(void *p) {\n\
                int i = __VERIFIER_nondet_int(); __VERIFIER_assume(i >= 0 && i < N);\n\
                cells[i] = i + 1; return 0; }\n\
                int main(void) { pthread_t t[2]; pthread_create(&t[0], 0, writer, 0);\n\
                pthread_create(&t[1], 0, writer, 0);\n\
                pthread_join(t[0], 0); pthread_join(t[1], 0); int sum = 0;\n\
                for (int j = 0; j < 4; j++) sum += cells[j]; assert(sum != BAD); return 0; }\n";
    folder.write("index.c", text);
    let run = |arguments: &[&str]| folder.run(&[&["verify", "--engine"], arguments].concat());
    for engine in [&["bounded"][..], &["explore", "--nondet", "0..5"]] {
        let with = |n: &str, bad: &str| run(&[engine, &["index.c", "--", n, bad]].concat());
        with("-DN=4", "-DBAD=8").ends_with(0);
        with("-DN=4", "-DBAD=5").ends_with(1).says("assertion failed: sum != BAD");
        with("-DN=5", "-DBAD=8").ends_with(1).says("out of the bounds");
    }
}
