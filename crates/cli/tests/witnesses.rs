//! Witnesses of SV-COMP: those that are written are confirmed, and broken ones are not.

use crate::support;

use std::path::{Path, PathBuf};

use support::{Folder, command, run_in};

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/witnesses")
}

fn example(name: &str) -> String {
    std::fs::read_to_string(examples().join(name)).expect("an example")
}

const FORMULAS: [(&str, &str); 5] = [
    ("call", "G ! call(reach_error())"),
    ("race", "G ! data-race"),
    ("overflow", "G ! overflow"),
    ("memory", "G valid-deref"),
    ("cleanup", "G valid-memcleanup"),
];

fn folder() -> Folder {
    let folder = Folder::new();
    for (name, formula) in FORMULAS {
        let text = format!("CHECK( init(main()), LTL({formula}) )\n");
        folder.write(&format!("{name}.prp"), text);
    }
    folder
}

/// What is wrong, and where: each is found, written down in both formats, and found again.
#[test]
fn witnesses_are_confirmed() {
    let head = "#include <pthread.h>\n#include <stdlib.h>\n\
        extern void abort(void);\nextern unsigned __VERIFIER_nondet_uint(void);\n\
        extern _Bool __VERIFIER_nondet_bool(void);\n\
        void reach_error(void) { abort(); }\nint x; int *p; pthread_t t;\n";
    let programs = [
        (
            "call",
            "void *f(void *a) { x = 1; x = 2; return 0; }\nint main(void) {\n\
            unsigned n = __VERIFIER_nondet_uint();\n_Bool b = __VERIFIER_nondet_bool();\n\
            pthread_create(&t, 0, f, 0);\nif (x == 1 && n == 4000000000u && b)\nreach_error();\n\
            return 0; }\n",
        ),
        (
            "race",
            "void *f(void *a) {\nx++;\nreturn 0; }\nint main(void) {\n\
            pthread_create(&t, 0, f, 0);\nx = 5;\npthread_join(t, 0);\nreturn 0; }\n",
        ),
        (
            "overflow",
            "int main(void) {\nint n = (int) __VERIFIER_nondet_uint();\nx = n - 1;\n\
            return 0; }\n",
        ),
        (
            "memory",
            "void *f(void *a) { free(p); return 0; }\nint main(void) {\np = malloc(4);\n\
            pthread_create(&t, 0, f, 0);\n*p = 3;\npthread_join(t, 0); return 0; }\n",
        ),
        (
            "cleanup",
            "int main(void) {\np = malloc(4);\nif (__VERIFIER_nondet_bool())\nfree(p);\n\
            return 0; }\n",
        ),
    ];
    let folder = folder();
    for (name, body) in programs {
        let (source, property) = (format!("{name}.c"), format!("{name}.prp"));
        folder.write(&source, format!("{head}{body}"));
        for witness in [format!("{name}.yml"), format!("{name}.graphml")] {
            let line =
                ["verify", "-q", "-m", "sc", "-p", &property, "--witness", &witness, &source];
            folder.run(&line).ends_with(1);
            folder.run(&["validate", &witness, &source]).ends_with(0).says("confirmed: ");
        }
    }
}

/// The same answer is the same text, times aside.
/// Threads that go on when the first one has nothing more to do, and one that fails by itself while others
/// go on.
#[test]
fn what_nobody_notices_does_not_refute_witnesses() {
    let head = "#include <pthread.h>\nextern void abort(void);\nvoid reach_error(void) { abort(); }\n\
        int x; pthread_t t, u;\npthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n\
        pthread_cond_t c = PTHREAD_COND_INITIALIZER;\n";
    let programs = [
        (
            "race",
            "void *f(void *a) {\npthread_mutex_lock(&m);\npthread_mutex_unlock(&m);\nx++;\n\
            return 0; }\nint main(void) {\npthread_create(&t, 0, f, 0);\n\
            pthread_create(&u, 0, f, 0);\npthread_mutex_lock(&m);\nx = 2;\n\
            pthread_mutex_unlock(&m);\nreturn 0; }\n",
        ),
        (
            "call",
            "void *f(void *a) {\npthread_mutex_lock(&m);\npthread_cond_wait(&c, &m);\n\
            if (x != 9) reach_error();\npthread_mutex_unlock(&m);\nreturn 0; }\n\
            int main(void) {\npthread_create(&t, 0, f, 0);\n\
            for (int i = 0; i <= 9; i++)\nx = i;\npthread_cond_broadcast(&c);\n\
            pthread_join(t, 0);\nreturn 0; }\n",
        ),
    ];
    let folder = folder();
    for (name, body) in programs {
        let (source, property) = (format!("{name}.c"), format!("{name}.prp"));
        folder.write(&source, format!("{head}{body}"));
        for witness in [format!("{name}.yml"), format!("{name}.graphml")] {
            let line =
                ["verify", "-q", "-m", "sc", "-p", &property, "--witness", &witness, &source];
            folder.run(&line).ends_with(1);
            folder.run(&["validate", &witness, &source]).ends_with(0).says("confirmed: ");
        }
    }
}

#[test]
fn witnesses_are_deterministic() {
    let folder = folder();
    folder.write("lost.c", example("lost-update.c"));
    let write = |name: &str| {
        let witness = folder.path().join(name);
        let status = command()
            .current_dir(folder.path())
            .env("SOURCE_DATE_EPOCH", "0")
            .args(["verify", "-q", "-m", "sc", "-p", "call.prp", "--witness", name, "lost.c"])
            .output()
            .expect("a run");
        assert_eq!(status.status.code(), Some(1));
        std::fs::read_to_string(witness).expect("a witness")
    };
    assert_eq!(write("a.yml"), write("b.yml"));
    assert!(write("a.graphml").contains("1970-01-01T00:00:00Z"));
}

/// A witness that says something else than what happens.
#[test]
fn broken_witnesses_are_not_confirmed() {
    let witness = example("lost-update.witness.yml");
    let folder = Folder::new();
    folder.write("lost-update.c", example("lost-update.c"));
    let validate = |text: &str| {
        folder.write("w.yml", text);
        folder.run(&["validate", "w.yml", "lost-update.c"])
    };
    validate(&witness).ends_with(0).says("confirmed: unreach-call: reach_error is called");
    // Nothing fails there, and elsewhere there is nothing.
    validate(&witness.replace("line: 30", "line: 31"))
        .ends_with(1)
        .says("nothing fails in line 31");
    validate(&witness.replace("line: 30", "line: 2"))
        .ends_with(1)
        .says("line 2, where there is no code");
    // An input with which the program does not go on.
    let (before, after) = witness.split_once("result == ").expect("an input");
    let (_, after) = after.split_once('"').expect("its end");
    let other = format!("{before}result == 77\"{after}");
    validate(&other).ends_with(1).says("no execution comes to line");
    // Another program.
    let hash = witness.split("lost-update.c\": \"").nth(1).and_then(|rest| rest.get(..64));
    let hash = hash.expect("a hash");
    validate(&witness.replace(hash, &hash.replace('0', "1"))).ends_with(1).says("another program");
    // No witness at all.
    validate(&witness[..700]).ends_with(2).complains("w.yml:");
    validate("<graphml>").ends_with(2).complains("w.yml:");
    validate("").ends_with(2).complains("w.yml:");
}

/// A witness of two threads, with an input on which everything depends, damaged in each way that there is.
/// One that describes no violation any more is never confirmed; one that only says less still is.
#[test]
fn damaged_witnesses_are_judged_by_what_they_still_say() {
    let source = "#include <pthread.h>\n\
        extern void abort(void);\n\
        extern int __VERIFIER_nondet_int(void);\n\
        void reach_error(void) { abort(); }\n\
        int x, n;\n\
        void *f(void *a) {\n\
        x = 1;\n\
        x = n;\n\
        return 0; }\n\
        int main(void) {\n\
        n = __VERIFIER_nondet_int();\n\
        pthread_t t;\n\
        pthread_create(&t, 0, f, 0);\n\
        if (x == 77)\n\
        reach_error();\n\
        return 0; }\n";
    let folder = folder();
    folder.write("a.c", source);
    let line = ["verify", "-q", "-m", "sc", "-p", "call.prp", "--witness", "w.yml", "a.c"];
    folder.run(&line).ends_with(1);
    let text = std::fs::read_to_string(folder.path().join("w.yml")).expect("a witness");
    let parts: Vec<&str> = text.split("  - segment:\n").collect();
    let (head, segments) = parts.split_first().expect("a head");
    let find = |mark: &str| {
        let found = segments.iter().position(|segment| segment.contains(mark));
        found.unwrap_or_else(|| panic!("{mark} in {text}"))
    };
    let (input, store, target) = (find("result == 77"), find("line: 8\n"), segments.len() - 1);
    assert!(segments[target].contains("line: 15\n") && input < store && store < target, "{text}");
    let changed = |number: usize, from: &str, to: &str| {
        let mut changed: Vec<String> = segments.iter().map(|it| it.to_string()).collect();
        assert!(changed[number].contains(from), "{from} in {}", changed[number]);
        changed[number] = changed[number].replace(from, to);
        changed
    };
    let without = |number: usize| {
        let mut rest: Vec<String> = segments.iter().map(|it| it.to_string()).collect();
        rest.remove(number);
        rest
    };
    let swapped = |one: usize, other: usize| {
        let mut all: Vec<String> = segments.iter().map(|it| it.to_string()).collect();
        all.swap(one, other);
        all
    };
    let place =
        |line: u32, function: &str| format!("line: {line}\n          function: \"{function}\"");
    let (there, elsewhere) = (place(8, "f"), place(16, "main"));
    // What is left says less, and is true.
    let less = [
        ("the input is gone", without(input), 0),
        ("a place is gone", without(store), 0),
        ("a place without code", changed(store, "line: 8", "line: 5"), 0),
        ("a place of another function", changed(store, "\"f\"", "\"main\""), 0),
    ];
    let wrong = [
        ("another input", changed(input, "== 77", "== 78"), 1),
        ("a place that the thread never comes by", changed(store, &there, &elsewhere), 1),
        ("a place of another thread", changed(store, "thread_id: 1", "thread_id: 0"), 1),
        // The input comes too late, and is none that the witness gives.
        ("the other order", swapped(input, store), 3),
        ("another target", changed(target, "line: 15", "line: 16"), 1),
        ("a target without code", changed(target, "line: 15", "line: 1"), 1),
        ("a target of another thread", changed(target, "thread_id: 0", "thread_id: 1"), 1),
        ("a target of another function", changed(target, "\"main\"", "\"f\""), 1),
        ("the target is gone", without(target), 2),
        ("the target is not the last", swapped(store, target), 2),
    ];
    for (damage, segments, code) in less.into_iter().chain(wrong) {
        let all: Vec<String> = segments.iter().map(|it| format!("  - segment:\n{it}")).collect();
        folder.write("w.yml", format!("{head}{}", all.concat()));
        let run = folder.run(&["validate", "w.yml", "a.c"]);
        assert_eq!(run.code, code, "{damage}: {}{}\n{}", run.stdout, run.stderr, all.concat());
    }
}

/// What is left out lets more executions through: it is no reason to refute.
#[test]
fn what_cannot_be_followed_is_said() {
    let witness = example("lost-update.witness.yml");
    let folder = Folder::new();
    folder.write("lost-update.c", example("lost-update.c"));
    let assumed = witness.replacen("value: \"1\"", "value: \"seen == 3\"", 1);
    folder.write("w.yml", &assumed);
    let run = folder.run(&["validate", "w.yml", "lost-update.c"]);
    run.ends_with(0).says("not followed: 'seen == 3'");
    folder.write("w.yml", assumed.replace("line: 30", "line: 31"));
    folder.run(&["validate", "w.yml", "lost-update.c"]).ends_with(3).says("unknown: ");
    // Of globals, what is assumed is looked at.
    let (before, after) = witness.rsplit_once("value: \"1\"").expect("an assumption");
    folder.write("w.yml", format!("{before}value: \"count == 3\"{after}"));
    folder.run(&["validate", "w.yml", "lost-update.c"]).ends_with(1).says("refuted: ");
}

/// A program that is right has no violation, whatever a witness says; and a witness that it is right.
#[test]
fn right_programs_have_correctness_witnesses() {
    let folder = folder();
    let source = example("locked-update.c");
    folder.write("locked.c", &source);
    let line = ["verify", "-q", "-m", "sc", "-p", "call.prp", "--witness", "w.yml", "locked.c"];
    folder.run(&line).ends_with(0);
    let text = std::fs::read_to_string(folder.path().join("w.yml")).expect("a witness");
    assert!(text.contains("invariant_set"), "{text}");
    folder.run(&["validate", "w.yml", "locked.c"]).ends_with(0).says("confirmed");
    let wrong = text.replace("invariant_set", "violation_sequence").replace(
        "content: []",
        "content:\n  - segment:\n    - waypoint:\n        type: target\n        action: follow\n\
         \x20       location: {file_name: locked.c, line: 25}",
    );
    folder.write("v.yml", wrong);
    folder.run(&["validate", "v.yml", "locked.c"]).ends_with(1).says("refuted");
}

/// Lines are those of the file that was given, whatever its markers call them.
#[test]
fn line_markers_do_not_move_places() {
    let folder = folder();
    let text = "extern void abort(void);\n# 100 \"other.c\"\nvoid reach_error(void) { abort(); }\n\
        # 7 \"third.c\"\nint main(void) {\n  reach_error();\n  return 0;\n}\n";
    folder.write("a.i", text);
    let line = ["verify", "-q", "-m", "sc", "-p", "call.prp", "--witness", "w.yml", "a.i"];
    folder.run(&line).ends_with(1);
    let witness = std::fs::read_to_string(folder.path().join("w.yml")).expect("a witness");
    assert!(witness.contains("line: 6\n"), "{witness}");
    folder.run(&["validate", "w.yml", "a.i"]).ends_with(0).says("confirmed");
}

#[test]
fn the_shipped_examples_are_right() {
    let run = run_in(
        &examples(),
        &["verify", "-q", "--expect", "lost-update.task.yml", "locked-update.task.yml"],
    );
    run.ends_with(0).says("4 right, 0 wrong, 0 unknown");
}
