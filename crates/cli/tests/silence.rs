//! No execution is cut in silence: what ends one, or leaves a value open, and is not among the
//! properties asked for, makes the verdict `unknown`, by every engine.

#[allow(dead_code)]
mod support;

use support::Folder;

const ENGINES: [&str; 5] = ["auto", "explore", "states", "bounded", "inductive"];

/// What each engine says about a program, under `sc`.
fn verdicts(text: &str, properties: &str) -> Vec<(&'static str, String)> {
    let folder = Folder::new();
    folder.write("program.c", text);
    let verdict = |engine: &'static str| {
        let told = ["--model", "sc", "--engine", engine, "--property", properties];
        let run = folder.run(&[&["verify", "program.c"], &told[..]].concat());
        (engine, run.stdout.lines().next().unwrap_or("").to_string())
    };
    ENGINES.into_iter().map(verdict).collect()
}

/// All engines say the same.
fn all_say(text: &str, properties: &str, expected: &str) {
    for (engine, said) in verdicts(text, properties) {
        assert!(said.starts_with(expected), "{engine} says {said:?} of\n{text}");
    }
}

/// No engine says that a program is safe.
fn none_says_safe(text: &str, properties: &str) {
    for (engine, said) in verdicts(text, properties) {
        let is_told = said.starts_with("unknown") || said.starts_with("unsafe");
        assert!(is_told, "{engine} says {said:?} of\n{text}");
    }
}

const UNASKED: [&str; 8] = [
    "int *p; int main(void) { *p = 1; __assert(0); }",
    "int main(void) { int *p = malloc(8); p[2] = 1; __assert(0); }",
    "int main(void) { int *p = malloc(8); free(p); free(p); __assert(0); }",
    "void (*f)(void); int main(void) { f(); __assert(0); }",
    "const int k = 4; int main(void) { *(int *)&k = 3; __assert(0); }",
    "int z; int main(void) { int x = 5 / z; __assert(x == 7); }",
    "pthread_mutex_t m; int main(void) { pthread_mutex_unlock(&m); }",
    "int x; int main(void) { free(&x); __assert(0); }",
];

const HEADER: &str = "#include <assert.h>\n#include <pthread.h>\n#include <stdlib.h>\n\
                      #define __assert assert\n";

#[test]
fn what_nobody_asked_about_is_unknown() {
    for text in UNASKED {
        all_say(&format!("{HEADER}{text}\n"), "assert", "unknown: ");
    }
}

#[test]
fn a_use_after_free_hides_what_follows() {
    let text = "int main(void) { int *p = malloc(4); *p = 1; free(p); assert(*p == 1); }\n";
    none_says_safe(&format!("{HEADER}{text}"), "assert");
}

#[test]
fn what_ends_the_program_hides_nothing() {
    let text = "int x; int main(void) { assert(x == 1); }\n";
    let text = format!("{HEADER}{text}");
    for (engine, said) in verdicts(&text, "memory") {
        let is_told = engine == "inductive" || said.starts_with("safe");
        assert!(is_told, "{engine} says {said:?} of\n{text}");
    }
}

/// Programs may declare `pthread_t` themselves.
#[test]
fn as_many_bytes_of_an_identifier_are_written_as_it_has() {
    let text = r#"
        #include <assert.h>
        typedef int pthread_t;
        int pthread_create(pthread_t *, const void *, void *(*)(void *), void *);
        int pthread_join(pthread_t, void **);
        int x;
        void *add(void *unused) { x = 1; return 0; }
        int main(void) {
            struct { pthread_t thread; int after; } own = { 0, 7 };
            pthread_create(&own.thread, 0, add, 0);
            pthread_join(own.thread, 0);
            assert(own.after == 7);
            assert(x == 0);
        }
    "#;
    all_say(text, "assert", "unsafe: assertion failed: x == 0");
}

/// A model that has no execution for a racing read says nothing about what follows it.
#[test]
fn what_races_under_c11_has_no_meaning() {
    let program = |order: &str| {
        let text = format!(
            "#include <stdatomic.h>\n{HEADER}\
             {order} x;\n\
             void *writer(void *unused) {{ x = 1; return 0; }}\n\
             int main(void) {{ pthread_t t; pthread_create(&t, 0, writer, 0);\n\
             int r = x; pthread_join(t, 0); assert(r == 0 || r == 1 + {}); }}\n",
            i32::from(order == "int"),
        );
        let folder = Folder::new();
        folder.write("program.c", &text);
        let told = ["verify", "program.c", "--model", "c11", "--property", "assert"];
        folder.run(&told).stdout
    };
    let racy = program("int");
    assert!(
        racy.starts_with("unknown: 'c11' gives a program with data races no meaning"),
        "{racy}"
    );
    let atomic = program("atomic_int");
    assert!(atomic.starts_with("safe"), "{atomic}");
}
