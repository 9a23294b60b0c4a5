//! What holds of all executions holds of none as well: that is no success.

use crate::support;

use serde_json::Value;
use support::{Folder, Run, SB};

const ENGINES: [(&str, &str); 5] = [
    ("explore", "rc11"),
    ("explore", "sc"),
    ("states", "tso"),
    ("bounded", "rc11"),
    ("bounded", "aarch64"),
];

const HEAD: &str = "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n\
    void __VERIFIER_assume(int);\nint __VERIFIER_nondet_int(void);\natomic_int x;\n";

fn folder(body: &str) -> Folder {
    let folder = Folder::new();
    folder.write("a.c", format!("{HEAD}{body}"));
    folder
}

fn verify(folder: &Folder, (engine, model): (&str, &str), more: &[&str]) -> Run {
    let usual = ["verify", "-p", "assert", "--engine", engine, "-m", model, "a.c"];
    folder.run(&[&usual[..], more].concat())
}

#[test]
fn assumptions_that_nothing_passes_are_reported() {
    let bodies = [
        "int main(void) { __VERIFIER_assume(0); assert(0); }\n",
        // In a thread, for which the other waits.
        "void *f(void *p) { __VERIFIER_assume(x == 1); return p; }\n\
         int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_join(t, 0); assert(0); }\n",
        // The loop before it is repeated.
        "int main(void) { for (int i = 0; i < 3; i++) x++;\n __VERIFIER_assume(x == 4); assert(0); }\n",
    ];
    for body in bodies {
        let folder = folder(body);
        for engine in ENGINES {
            let run = verify(&folder, engine, &[]);
            run.ends_with(3).says("unknown: no execution passes the assumption at a.c:");
        }
    }
}

#[test]
fn inputs_that_no_assumption_leaves_are_reported() {
    let folder = folder(
        "int main(void) { int n = __VERIFIER_nondet_int();\n \
         __VERIFIER_assume(n > 3); __VERIFIER_assume(n < 2); assert(0); }\n",
    );
    for engine in ENGINES {
        let run = verify(&folder, engine, &["--nondet", "0..5"]);
        run.ends_with(3).says("unknown: no execution passes the assumption at a.c:");
    }
    let run = verify(&folder, ("bounded", "rc11"), &[]);
    run.ends_with(3).says("unknown: no execution passes the assumption at a.c:");
}

#[test]
fn assumptions_that_something_passes_are_fine() {
    let folder = folder(
        "void *f(void *p) { x = 1; return p; }\n\
         int main(void) { pthread_t t; pthread_create(&t, 0, f, 0);\n \
         __VERIFIER_assume(x == 1); pthread_join(t, 0); assert(x == 1); }\n",
    );
    for engine in ENGINES {
        let run = verify(&folder, engine, &[]);
        run.ends_with(0).says("safe: no assertion failure");
        assert!(!run.stdout.contains("vacuous"), "{}", run.stdout);
    }
}

/// What comes before was checked, so it is safe, with a word about the rest.
#[test]
fn endless_waits_are_noted() {
    let folder = folder("int main(void) { assert(x == 0); while (!x) ; assert(0); }\n");
    for (engine, model) in ENGINES {
        let run = verify(&folder, (engine, model), &[]);
        run.ends_with(0).says("note: vacuous: no execution comes to its end");
        let all = ["verify", "--engine", engine, "-m", model, "a.c"];
        folder.run(&all).ends_with(1).says("a loop waits for ever");
    }
}

/// A failed assertion is an end, whether somebody asks about it or not.
#[test]
fn assertions_are_no_assumptions() {
    let folder = folder("int main(void) { x = 1; assert(0); }\n");
    for (engine, model) in ENGINES {
        let run = ["verify", "-p", "memory", "--engine", engine, "-m", model, "a.c"];
        folder.run(&run).ends_with(0).says("safe: no memory error");
    }
}

/// The end of the program is no assumption either, whoever brings it about.
#[test]
fn ends_of_programs_are_no_assumptions() {
    let folder = folder(
        "void exit(int);\nvoid *f(void *p) { exit(0); }\n\
         int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_join(t, 0); assert(0); }\n",
    );
    for engine in ENGINES {
        let run = verify(&folder, engine, &[]);
        run.ends_with(0).says("safe: no assertion failure");
        assert!(!run.stdout.contains("vacuous"), "{}", run.stdout);
        assert!(!run.stdout.contains("0 executions"), "{}", run.stdout);
    }
}

#[test]
fn proofs_about_nothing_are_no_proofs() {
    let folder = folder("int main(void) { __VERIFIER_assume(0); assert(0); }\n");
    let run = verify(&folder, ("inductive", "sc"), &[]);
    run.ends_with(3).says("unknown: no execution passes the assumption");
    let run = folder.run(&["verify", "--engine", "inductive", "-m", "sc", "-p", "race", "a.c"]);
    run.ends_with(3).says("unknown: nothing was checked: this engine does not look for race");
}

#[test]
fn repairs_need_something_to_repair() {
    let folder = folder("int main(void) { __VERIFIER_assume(0); assert(0); }\n");
    folder.run(&["fences", "a.c"]).ends_with(3).complains("no execution passes the assumption");
}

#[test]
fn questions_that_are_not_asked_have_no_answer() {
    let folder = folder("int main(void) { return 0; }\n");
    for (engine, model) in [("states", "sc"), ("states", "tso"), ("bounded", "aarch64")] {
        let run = folder.run(&["verify", "-p", "race", "--engine", engine, "-m", model, "a.c"]);
        assert!(!run.stdout.contains("nothing was checked\n"), "{}", run.stdout);
        let checks = run.stdout.contains("checked for race");
        assert!(run.code == if checks { 0 } else { 3 }, "{engine} {model}: {}", run.stdout);
    }
}

#[test]
fn models_that_allow_nothing_are_reported() {
    let folder = Folder::new();
    folder.write("none.cat", "\"none\"\nempty rf as nothing\nempty W as nothing_else\n");
    folder.write("sb.litmus", SB);
    let run = folder.run(&["litmus", "--model", "none.cat", "sb.litmus"]);
    run.ends_with(3).says("States 0").complains("no execution comes to its end");
    let run = folder.run(&["verify", "--model", "none.cat", "sb.litmus"]);
    run.ends_with(3).says("unknown: no execution comes to its end");
    folder.write("e.csv", "file,model,condition\nsb.litmus,none.cat,no\n");
    let run = folder.run(&["litmus", "--expect", "e.csv"]);
    run.ends_with(1).says("0 agree, 0 differ, 1 failed");
    folder.run(&["fences", "--model", "none.cat", "sb.litmus"]).ends_with(3);
}

#[test]
fn loops_that_are_cut_before_the_end_are_reported() {
    let folder = Folder::new();
    let looping =
        "X86 loop\n{ x=0; }\n P0 ;\n L: MOV EAX,[x] ;\n CMP EAX,$1 ;\n JNE L ;\nforall (0:EAX=1)\n";
    folder.write("l.litmus", looping);
    folder.run(&["litmus", "l.litmus"]).ends_with(3).complains("within the loop bound");
    folder.run(&["verify", "l.litmus"]).ends_with(3).says("unknown: no execution comes to its end");
}

#[test]
fn empty_inputs_are_refused() {
    let folder = Folder::new();
    for kind in ["c", "ll", "program", "ops", "litmus"] {
        let name = format!("empty.{kind}");
        folder.write(&name, "").run(&["verify", &name]).ends_with(2);
    }
    folder.write("f.c", "int f(void) { return 1; }\n").run(&["verify", "f.c"]).ends_with(2);
    folder.write("a.c", "int main(void) { return 0; }\n").write("e.prp", "\n");
    folder.run(&["verify", "-p", "e.prp", "a.c"]).ends_with(2).complains("no property");
    folder.run(&["verify", "-p", "", "a.c"]).ends_with(2);
    folder.write("e.csv", "file,model,condition\n\n");
    folder.run(&["litmus", "--expect", "e.csv"]).ends_with(2).complains("no row");
}

#[test]
fn ranges_of_inputs_restrict_the_answer() {
    let folder = folder("int main(void) { assert(__VERIFIER_nondet_int() < 3); }\n");
    for engine in ENGINES {
        let run = verify(&folder, engine, &["--nondet", "0..2"]);
        run.ends_with(0).says("every execution was covered that the options leave");
        run.says("note: only inputs from 0 to 2 were tried");
        let run = verify(&folder, engine, &["--nondet", "0..2", "--format", "json"]);
        let answer: Value = serde_json::from_str(&run.stdout).expect("JSON");
        assert_eq!(answer["scope"], "restricted");
    }
    verify(&folder, ("bounded", "rc11"), &[]).ends_with(1);
    // Where there are no inputs, nothing is left out.
    folder.write("a.c", "int main(void) { return 0; }\n");
    let run = verify(&folder, ("explore", "rc11"), &["--nondet", "0..2", "--format", "json"]);
    let answer: Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!(answer["scope"], "complete");
    let run = folder.run(&["fences", "--nondet", "0..2", "--format", "json", "a.c"]);
    let answer: Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!(answer["scope"], "complete");
}

const COUNTING: [(&str, &str); 5] = [
    ("explore", "rc11"),
    ("symbolic", "sc"),
    ("bounded", "rc11"),
    ("bounded", "aarch64"),
    ("auto", "rc11"),
];

/// Within so few rounds nobody gets to what comes after the loop: that is no success.
#[test]
fn bounds_that_no_execution_keeps_are_reported() {
    let folder = folder("int main(void) { for (int i = 0; i < 3; i++) x++; assert(x != 3); }\n");
    for engine in COUNTING {
        let within = |rounds| verify(&folder, engine, &["--unroll", rounds]);
        for rounds in ["0", "2"] {
            let said = format!("unknown: no execution comes to its end within {rounds} rounds");
            within(rounds).ends_with(3).says(&said);
        }
        within("3").ends_with(1).says("assertion failed: x != 3");
    }
}

/// A loop without an end is looked at as far as it is repeated, and nothing comes after it.
#[test]
fn loops_without_an_end_are_checked_up_to_the_bound() {
    let folder = folder("int main(void) { for (;;) { x++; assert(x < 4); } }\n");
    for engine in COUNTING {
        let within = |rounds| verify(&folder, engine, &["--unroll", rounds]);
        within("2").ends_with(0).says("note: vacuous: no execution comes to its end");
        within("3").ends_with(1).says("assertion failed: x < 4");
    }
}

/// That some loop is cut off excuses no assumption that nothing passes.
#[test]
fn assumptions_that_nothing_passes_within_a_bound_are_reported() {
    let folder = folder(
        "int main(void) { int n = __VERIFIER_nondet_int();\n \
         for (int i = 0; i < n; i++) x++;\n __VERIFIER_assume(x > 7); assert(0); }\n",
    );
    let within = |rounds| verify(&folder, ("bounded", "rc11"), &["--unroll", rounds]);
    within("2").ends_with(3).says("unknown: no execution passes the assumption at a.c:");
    within("8").ends_with(1);
}
