//! Waiting for ever, by one definition: engines agree on loops that store what they look at, that
//! exchange or compare and swap in vain, that wait for several things, in functions and in one another.

use crate::support;

use support::Folder;

/// What two threads do, in front of `main`.
fn program(text: &str) -> String {
    format!(
        "#include <pthread.h>\n#include <stdatomic.h>\n#include <string.h>\n{text}\n\
         int main(void) {{\n  pthread_t a, b;\n  pthread_create(&a, 0, one, 0);\n  \
         pthread_create(&b, 0, two, 0);\n  pthread_join(a, 0);\n  pthread_join(b, 0);\n}}\n"
    )
}

/// All engines that admit the model say the same.
#[track_caller]
fn all_say(text: &str, expected: &str) {
    let folder = Folder::new();
    folder.write("program.c", program(text));
    for (model, engines) in
        [("sc", &["explore", "states", "bounded"][..]), ("rc11", &["explore", "bounded"])]
    {
        for engine in engines {
            let options = ["--model", model, "--engine", engine, "--property", "liveness"];
            let run = folder.run(&[&["verify", "program.c"], &options[..]].concat());
            let said = run.stdout.lines().next().unwrap_or("");
            assert!(said.starts_with(expected), "{engine}, {model}: {said:?} of\n{text}");
        }
    }
}

const FOR_EVER: &str = "unsafe: a loop waits for ever";

#[test]
fn a_loop_that_stores_what_is_there_waits() {
    for body in
        ["x = 0", "memset((void *)&x, 0, 4)", "memcpy((void *)&x, &zero, 4)", "b[0] = b[1] = 0"]
    {
        all_say(
            &format!(
                "volatile int x; int zero; char b[2];\n\
                 void *one(void *p) {{ while (x != 1) {body}; return 0; }}\n\
                 void *two(void *p) {{ x = 2; return 0; }}"
            ),
            FOR_EVER,
        );
    }
}

/// Each of them puts what was there, so that nobody sees a newest write and all see a newest value.
#[test]
fn threads_that_store_wait_for_one_another() {
    for (one, two) in [
        ("while (x != 1) x = 0", "while (x != 1) x = 0"),
        ("while (x == 0) y = 1", "while (y == 0) x = 0"),
        ("while (atomic_exchange(&z, 1))", "while (atomic_exchange(&z, 1))"),
    ] {
        all_say(
            &format!(
                "atomic_int x, y, z = 1;\nvoid *one(void *p) {{ {one}; return 0; }}\n\
                 void *two(void *p) {{ {two}; return 0; }}"
            ),
            FOR_EVER,
        );
    }
}

/// The lock is one function, and each thread is in it for the second time.
#[test]
fn locks_that_spin_are_taken_in_two_orders() {
    all_say(
        "atomic_int x, y;\nvoid lock(atomic_int *l) { while (atomic_exchange(l, 1)); }\n\
         void *one(void *p) { lock(&x); lock(&y); y = 0; x = 0; return 0; }\n\
         void *two(void *p) { lock(&y); lock(&x); x = 0; y = 0; return 0; }",
        FOR_EVER,
    );
}

/// Nobody else writes there, so that what is read is known.
#[test]
fn a_loop_that_alone_writes_waits() {
    all_say(
        "atomic_int x;\nvoid *one(void *p) { while (!x) x = 0; return 0; }\n\
         void *two(void *p) { return 0; }",
        FOR_EVER,
    );
}

#[test]
fn loops_that_look_in_vain_wait() {
    for body in [
        "int e = 5; while (!atomic_compare_exchange_weak(&x, &e, 1)) e = 5",
        "while (!(atomic_fetch_or(&x, 4) & 1))",
        "while (x == 0 || y == 0)",
        "do { while (x == 0); } while (y == 0)",
        "int a; do { y = 0; a = x; } while (a != 1)",
    ] {
        all_say(
            &format!(
                "atomic_int x, y;\nvoid *one(void *p) {{ {body}; return 0; }}\n\
                 void *two(void *p) {{ x = 2; return 0; }}"
            ),
            FOR_EVER,
        );
    }
}

#[test]
fn who_is_let_go_does_not_wait() {
    for (one, two) in [
        ("while (x == 0 || y == 0)", "x = 1; y = 1"),
        ("while (atomic_exchange(&z, 1))", "z = 0"),
        ("while (!(atomic_fetch_or(&x, 4) & 1))", "x = 1"),
    ] {
        all_say(
            &format!(
                "atomic_int x, y, z = 1;\nvoid *one(void *p) {{ {one}; return 0; }}\n\
                 void *two(void *p) {{ {two}; return 0; }}"
            ),
            "safe",
        );
    }
}

/// Steps of an atomic section follow at once, but not for ever.
#[test]
fn an_atomic_section_may_go_round_for_ever() {
    let folder = Folder::new();
    let text = "void __VERIFIER_atomic_begin(void); void __VERIFIER_atomic_end(void); atomic_int x;\n\
                void *one(void *p) {\n  __VERIFIER_atomic_begin(); while (x != 1) x = 2;\n  \
                __VERIFIER_atomic_end(); __builtin_trap();\n}\n\
                void *two(void *p) { x = 3; return 0; }";
    folder.write("program.c", program(text));
    for reductions in ["none", "all"] {
        let options = ["--model", "sc", "--engine", "states", "--reductions", reductions];
        let asked = [&["verify", "program.c", "--property", "assert"], &options[..]].concat();
        let run = folder.run(&asked);
        assert!(run.stdout.starts_with("safe: "), "{reductions}: {}{}", run.stdout, run.stderr);
    }
}

#[test]
fn the_machine_that_publishes_writes_says_what_it_does_not_decide() {
    let text = "atomic_int x;\nstatic void *one(void *p) { while (!x) {} return p; }\n\
                static void *two(void *p) { return p; }\n";
    let folder = Folder::new();
    folder.write("program.c", program(text));
    let options = ["--engine", "states", "--model", "rc11-mca", "--property", "liveness"];
    let run = folder.run(&[&["verify", "program.c"], &options[..]].concat());
    run.ends_with(3).says("threads that wait for ever under this model: not supported");
}
