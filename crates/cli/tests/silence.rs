//! No execution is cut in silence: what ends one, or leaves a value open, and is not among the
//! properties asked for, makes the verdict `unknown`, by every engine.

use crate::support;

use support::Folder;

const ENGINES: [&str; 5] = ["auto", "explore", "states", "bounded", "inductive"];

/// What each engine says about a program, under `sc`.
fn verdicts(text: &str, properties: &str) -> Vec<(&'static str, String)> {
    let folder = Folder::new();
    folder.write("program.c", text);
    let verdict = |engine: &'static str| {
        let options = ["--model", "sc", "--engine", engine, "--property", properties];
        let run = folder.run(&[&["verify", "program.c"], &options[..]].concat());
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
        let is_said = said.starts_with("unknown") || said.starts_with("unsafe");
        assert!(is_said, "{engine} says {said:?} of\n{text}");
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
        let is_said = engine == "inductive" || said.starts_with("safe");
        assert!(is_said, "{engine} says {said:?} of\n{text}");
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

/// … and mutexes too.
#[test]
fn locks_may_be_words() {
    let text = r#"
        #include <assert.h>
        typedef int pthread_mutex_t;
        int pthread_mutex_init(pthread_mutex_t *, const void *);
        int pthread_mutex_destroy(pthread_mutex_t *);
        int pthread_mutex_lock(pthread_mutex_t *);
        int pthread_mutex_unlock(pthread_mutex_t *);
        struct { pthread_mutex_t mutex; int after; } own = { 0, 7 };
        int main(void) {
            pthread_mutex_init(&own.mutex, 0);
            pthread_mutex_lock(&own.mutex);
            pthread_mutex_unlock(&own.mutex);
            pthread_mutex_destroy(&own.mutex);
            assert(own.after == 7);
            assert(own.after == 8);
        }
    "#;
    all_say(text, "assert", "unsafe: assertion failed: own.after == 8");
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
        let options = ["verify", "program.c", "--model", "c11", "--property", "assert"];
        folder.run(&options).stdout
    };
    let racy = program("int");
    assert!(
        racy.starts_with("unknown: 'c11' gives a program with data races no meaning"),
        "{racy}"
    );
    let atomic = program("atomic_int");
    assert!(atomic.starts_with("safe"), "{atomic}");
}

/// What nobody has written has any value: engines that search with values do not know it.
#[test]
fn uninitialised_variables_have_any_value() {
    let open = [
        "int main(void) { int r; if (c > 1) r = 1; assert(r == 1); }",
        "int main(void) { int *p = malloc(16); int s = 0; \
         for (int i = 0; i < 4; i++) s += p[i]; assert(s == 0); }",
        "struct s { int a, b; }; int main(void) { struct s *x = malloc(8), *y = malloc(8); \
         x->a = 1; *y = *x; assert(y->b == 0); }",
        "int main(void) { int *a = malloc(8), *b = malloc(8); a[0] = 1; memcpy(b, a, 8); \
         assert(b[1] == 0); }",
    ];
    for text in open {
        let text = format!("{HEADER}#include <string.h>\nint c;\n{text}\n");
        none_says_safe(&text, "assert");
        for (engine, said) in verdicts(&text, "assert") {
            let solves = matches!(engine, "auto" | "bounded");
            assert!(!solves || said.starts_with("unsafe: "), "{engine} says {said:?} of\n{text}");
        }
    }
}

#[test]
fn uninitialised_values_that_nobody_looks_at_matter_to_nobody() {
    let fine = [
        "void *f(void *a) { c = 1; } int main(void) { pthread_t t; \
         pthread_create(&t, 0, f, 0); pthread_join(t, 0); assert(c == 1); }",
        "struct s { int a, b; }; int main(void) { struct s *x = malloc(8), *y = malloc(8); \
         x->a = 1; *y = *x; assert(y->a == 1); }",
        "int f(int *p) { return *p; } int main(void) { int x; int y = f(&x); \
         int z = f(&x); c = y == z; }",
    ];
    for text in fine {
        let text = format!("{HEADER}int c;\n{text}\n");
        for (engine, said) in verdicts(&text, "assert") {
            let is_said = !matches!(engine, "auto" | "explore" | "bounded");
            assert!(is_said || said.starts_with("safe"), "{engine} says {said:?} of\n{text}");
        }
    }
}

/// A local variable lives as long as its block.
#[test]
fn blocks_end_the_lives_of_their_variables() {
    let gone = [
        "int main(void) { int *p; { int x = 5; p = &x; } return *p; }",
        "int main(void) { int *p; { int x[2] = {5, 6}; p = x; } return p[1]; }",
        "int main(void) { int *p = 0; for (int i = 0; i < 2; i++) { int x = i; \
         if (p) assert(*p == 0); p = &x; } }",
    ];
    for text in gone {
        let text = format!("{HEADER}{text}\n");
        none_says_safe(&text, "assert");
        for (engine, said) in verdicts(&text, "memory") {
            let is_said = engine == "inductive" || said.starts_with("unsafe: access to an object");
            assert!(is_said, "{engine} says {said:?} of\n{text}");
        }
    }
}

#[test]
fn variables_of_blocks_are_used_while_they_live() {
    let text = "int f(int *p) { return *p; } int main(void) { int s = 0; \
                for (int i = 0; i < 3; i++) { int x = i, *p = &x; s += f(p); } assert(s == 3); }";
    for (engine, said) in verdicts(&format!("{HEADER}{text}\n"), "assert,memory") {
        let is_said = engine == "inductive" || said.starts_with("safe");
        assert!(is_said, "{engine} says {said:?} of\n{text}");
    }
}

#[test]
fn objects_that_are_too_large_are_not_searched() {
    let text = "static char big[1UL << 40]; int main(void) { big[1UL << 39] = 1; \
                assert(big[1UL << 39] == 1); }\n";
    all_say(&format!("{HEADER}{text}"), "assert,memory", "unknown: the globals of the program");
}

#[test]
fn calls_that_are_too_deep_are_no_bound_on_loops() {
    let text = "int g; static void f(int n) { g = n; if (n == 0) assert(0); f(n - 1); g = n; }\n\
                int main(void) { f(1500); }\n";
    none_says_safe(&format!("{HEADER}{text}"), "assert");
}
