//! Tasks of SV-COMP: what they ask, and how they are answered.

use crate::support;

use support::Folder;

const UNREACH: &str = "CHECK( init(main()), LTL(G ! call(reach_error())) )\n";
const RACE: &str = "CHECK( init(main()), LTL(G ! data-race) )\n";
const END: &str = "CHECK( init(main()), LTL(F end) )\n";
const CLEANUP: &str = "CHECK( init(main()), LTL(G valid-memcleanup) )\n";
const MEMORY: &str = "CHECK( init(main()), LTL(G valid-free) )\n\
    CHECK( init(main()), LTL(G valid-deref) )\n\
    CHECK( init(main()), LTL(G valid-memtrack) )\n";

/// Two threads increment; what is lost shows in the end.
const LOST: &str = "#include <pthread.h>\n\
    extern void abort(void);\n\
    void reach_error(void) { abort(); }\n\
    int x;\n\
    void *add(void *a) { x = x + 1; return 0; }\n\
    int main(void) {\n\
    \x20 pthread_t a, b;\n\
    \x20 pthread_create(&a, 0, add, 0);\n\
    \x20 pthread_create(&b, 0, add, 0);\n\
    \x20 pthread_join(a, 0);\n\
    \x20 pthread_join(b, 0);\n\
    \x20 if (x != 2) reach_error();\n\
    \x20 return 0;\n\
    }\n";

fn task(file: &str, properties: &[(&str, &str)]) -> String {
    let mut text = format!("format_version: '2.0'\ninput_files: '{file}'\nproperties:\n");
    for (name, expected) in properties {
        text += &format!("  - property_file: p/{name}.prp\n    expected_verdict: {expected}\n");
    }
    text + "options:\n  language: C\n  data_model: LP64\n"
}

fn folder() -> Folder {
    let folder = Folder::new();
    folder
        .write("p/unreach-call.prp", UNREACH)
        .write("p/no-data-race.prp", RACE)
        .write("p/termination.prp", END)
        .write("p/valid-memcleanup.prp", CLEANUP)
        .write("p/valid-memsafety.prp", MEMORY)
        .write("lost.c", LOST);
    folder
}

#[test]
fn each_property_of_a_task_is_answered() {
    let folder = folder();
    let asked = [("unreach-call", "false"), ("no-data-race", "false"), ("termination", "true")];
    folder.write("lost.yml", task("lost.c", &asked));
    let run = folder.run(&["verify", "-q", "--expect", "lost.yml"]);
    run.ends_with(3).says("verdict: false(unreach-call)").says("verdict: false(no-data-race)");
    run.says("unknown (termination is not checked)").says("2 right, 0 wrong, 1 unknown");
    let one =
        ["verify", "-q", "--format", "svcomp", "--property", "p/no-data-race.prp", "lost.yml"];
    let run = folder.run(&one);
    assert_eq!(run.ends_with(1).stdout, "verdict: false(no-data-race)\n");
    folder.write("hoped.yml", task("lost.c", &[("unreach-call", "true")]));
    folder.run(&["verify", "-q", "--expect", "hoped.yml"]).ends_with(1).says("1 wrong");
}

/// What fails is part of the verdict, and what is not asked for is no violation.
#[test]
fn parts_of_memory_safety_are_distinguished() {
    let folder = folder();
    let programs = [
        ("twice", "int *p = malloc(4); free(p); free(p);", "false(valid-free)"),
        ("late", "int *p = malloc(4); free(p); *p = 1;", "false(valid-deref)"),
        ("lost", "int *p = malloc(4); *p = 1;", "false(valid-memtrack)"),
        // Somebody can still find it.
        ("kept", "g = malloc(4); *g = 1;", "true"),
        // Nobody has written it: what it holds is another question.
        ("open", "int *p = malloc(4); if (*p) g = 0; free(p);", "unknown ("),
        ("fine", "int *p = malloc(4); *p = 1; free(p);", "true"),
    ];
    for (name, body, expected) in programs {
        let text = format!("#include <stdlib.h>\nint *g;\nint main(void) {{ {body} return 0; }}\n");
        folder.write(&format!("{name}.c"), text);
        let asked = [("valid-memsafety", "true")];
        folder.write(&format!("{name}.yml"), task(&format!("{name}.c"), &asked));
        let run = folder.run(&["verify", "-q", "--format", "svcomp", &format!("{name}.yml")]);
        assert!(run.stdout.starts_with(&format!("verdict: {expected}")), "{name}: {}", run.stdout);
    }
    folder.write("kept.yml", task("kept.c", &[("valid-memcleanup", "false")]));
    let run = folder.run(&["verify", "-q", "--format", "svcomp", "kept.yml"]);
    assert_eq!(run.ends_with(1).stdout, "verdict: false(valid-memcleanup)\n");
}

/// A bound is not the whole, and some inputs are not all.
#[test]
fn what_holds_of_a_part_is_unknown() {
    let folder = folder();
    let text = "extern void abort(void);\nextern int __VERIFIER_nondet_int(void);\n\
        void reach_error(void) { abort(); }\nint n;\n\
        int main(void) {\n  int k = __VERIFIER_nondet_int();\n  while (n < k) n++;\n\
        \x20 if (n < k) reach_error();\n  return 0;\n}\n";
    folder.write("loop.c", text).write("loop.yml", task("loop.c", &[("unreach-call", "true")]));
    let line = ["verify", "-q", "--format", "svcomp", "loop.yml", "--engine"];
    let run = folder.run(&[&line[..], &["bounded", "--unroll", "2"]].concat());
    assert_eq!(run.ends_with(3).stdout, "verdict: unknown (safe up to 2 rounds of each loop)\n");
    let run = folder.run(&[&line[..], &["explore", "--nondet", "0..3"]].concat());
    assert!(run.ends_with(3).stdout.starts_with("verdict: unknown (safe as far"), "{}", run.stdout);
}

#[test]
fn bad_tasks_are_errors_with_a_place() {
    let folder = folder();
    folder.write("a.yml", task("/etc/hostname", &[("unreach-call", "true")]));
    folder
        .run(&["verify", "a.yml"])
        .ends_with(2)
        .complains("a.yml:2:14: error: paths are relative");
    folder.write("b.yml", "properties: [\n");
    folder.run(&["verify", "b.yml"]).ends_with(2).complains("b.yml:");
    folder.write("c.yml", task("gone.c", &[("unreach-call", "true")]));
    folder.run(&["verify", "c.yml"]).ends_with(2).complains("gone.c");
    folder.write("lost.yml", task("lost.c", &[("unreach-call", "true")]));
    folder.run(&["verify", "-p", "race", "lost.yml"]).ends_with(2).complains("property files");
    folder.run(&["verify", "lost.yml", "lost.c"]).ends_with(2).complains("no task definition");
    folder.run(&["verify", "--expect", "lost.c"]).ends_with(2).complains("--expect");
    folder.run(&["verify", "--format", "svcomp", "lost.c"]).ends_with(2).complains("--format");
}

/// That a thread looks for its own number and does not find it is no violation, since others store it before
/// they start the thread.
#[test]
fn nothing_follows_from_a_number_that_is_stored_late() {
    let folder = folder();
    let text = |own: &str| {
        format!(
            "#include <pthread.h>\nextern void reach_error(void); pthread_t id; int missed;\n\
             void *w(void *a) {{ if ({own}) missed = 1; return 0; }}\n\
             int main(void) {{ pthread_create(&id, 0, w, 0); pthread_join(id, 0);\n\
             if (missed) reach_error(); return 0; }}\n"
        )
    };
    let early = text("!pthread_equal(id, pthread_self())");
    let other = text("pthread_equal(0, pthread_self()) || missed == 0");
    for (name, text, answer) in [
        ("early", early, "unknown (the number of a thread may be stored late)"),
        ("other", other, "false(unreach-call)"),
    ] {
        folder.write(&format!("{name}.c"), text);
        let task = task(&format!("{name}.c"), &[("unreach-call", "true")]);
        folder.write(&format!("{name}.yml"), task);
        folder.run(&["verify", "-q", "--timeout", "10", &format!("{name}.yml")]).says(answer);
    }
}

/// When the number of a thread is stored, and what functions do that nobody defines, is open: no violation
/// is made of it.
#[test]
fn what_the_rules_leave_open_is_unknown() {
    let folder = folder();
    let programs = [
        (
            "number",
            "pthread_t id; int seen; void *w(void *a) { seen = id != 0; return 0; }\n\
             int main(void) { pthread_create(&id, 0, w, 0); pthread_join(id, 0); return 0; }\n",
            "unknown (the number of a thread may be stored late)",
        ),
        (
            "beside",
            "pthread_t id; int seen, late; void *w(void *a) { seen = id != 0; late = 1; return 0; }\n\
             int main(void) { pthread_create(&id, 0, w, 0); late = 2; pthread_join(id, 0); return 0; }\n",
            "false(no-data-race)",
        ),
        (
            "pointer",
            "int b; extern int *get(void); void *w(void *a) { b = 1; return 0; }\n\
             int main(void) { pthread_t t; int *q = get(); pthread_create(&t, 0, w, 0); *q = 1;\n\
             pthread_join(t, 0); return 0; }\n",
            "unknown (",
        ),
        (
            "callback",
            "int b; extern void on_event(void (*f)(void)); void set(void) { b = 2; }\n\
             void *w(void *a) { b = 1; return 0; } int main(void) { pthread_t t;\n\
             pthread_create(&t, 0, w, 0); on_event(set); pthread_join(t, 0); return 0; }\n",
            "unknown (call of 'on_event', which has no body",
        ),
        (
            "table",
            "int b; struct ops { void (*f)(void); }; extern void use(struct ops *ops);\n\
             void set(void) { b = 2; } struct ops ops = {set};\n\
             void *w(void *a) { b = 1; return 0; } int main(void) { pthread_t t;\n\
             pthread_create(&t, 0, w, 0); use(&ops); pthread_join(t, 0); return 0; }\n",
            "unknown (call of 'use', which has no body",
        ),
        (
            "index",
            "extern int __VERIFIER_nondet_int(void); int a[4], b; void *w(void *x) { a[1] = 1;\n\
             b = 1; return 0; } int main(void) { pthread_t t; int i = __VERIFIER_nondet_int();\n\
             pthread_create(&t, 0, w, 0); a[i] = 1; pthread_join(t, 0); return 0; }\n",
            "false(no-data-race)",
        ),
    ];
    for (name, text, expected) in programs {
        folder.write(&format!("{name}.c"), format!("#include <pthread.h>\n{text}"));
        folder
            .write(&format!("{name}.yml"), task(&format!("{name}.c"), &[("no-data-race", "true")]));
        let run = folder.run(&["verify", "-q", "--timeout", "10", &format!("{name}.yml")]);
        run.says(expected);
    }
}
