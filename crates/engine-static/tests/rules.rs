//! Each rule of the analysis on a small program that it proves, and on a twin that has a race and must
//! not be proved.

mod local;
mod support;

use std::path::Path;

use parallax_control::Control;
use parallax_engine_static::{Claim, Conclusion, Proof, prove, prove_defined, prove_unordered};
use parallax_program::Program;

const HEADER: &str = "#define _GNU_SOURCE\n#include <pthread.h>\n#include <stdatomic.h>\n\
    #include <stddef.h>\n#include <stdlib.h>\n#include <string.h>\n\
    extern int __VERIFIER_nondet_int(void);\nextern void __VERIFIER_assume(int);\n\
    extern void __VERIFIER_atomic_begin(void);\nextern void __VERIFIER_atomic_end(void);\n\
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;\n\
    #define LOCK pthread_mutex_lock(&m)\n#define UNLOCK pthread_mutex_unlock(&m)\n";

/// A thread function `w`, started twice.
const TWICE: &str = "int main(void) { pthread_t t, u; pthread_create(&t, 0, w, 0); \
    pthread_create(&u, 0, w, 0); return 0; }";

fn program(text: &str) -> Program {
    support::program(&format!("{HEADER}{text}\n"))
}

fn conclusion(text: &str) -> Conclusion {
    prove(&program(text), Claim::NoRace, &Control::default()).conclusion
}

fn is_proved(text: &str) {
    let found = conclusion(text);
    assert!(matches!(found, Conclusion::Proved), "{found:?}\n{text}");
}

fn is_suspected(text: &str) {
    let found = conclusion(text);
    assert!(matches!(found, Conclusion::Suspected { .. }), "{found:?}\n{text}");
}

/// A program is proved, and not if a part of it is another one.
fn differs(text: &str, part: &str, other: &str) {
    assert!(text.contains(part), "{part}");
    is_proved(text);
    is_suspected(&text.replace(part, other));
}

/// Whether a claim is proved of a program that does nothing undefined besides.
fn holds(claim: Claim, text: &str) -> bool {
    matches!(found(claim, text), Conclusion::Proved)
}

fn found(claim: Claim, text: &str) -> Conclusion {
    let program = support::checked(&format!("{HEADER}{text}\n"), claim == Claim::NoOverflow);
    prove_defined(&program, claim, &Control::default()).conclusion
}

/// A claim is proved of a program, and not if a part of it is another one.
fn turns(claim: Claim, text: &str, part: &str, other: &str) {
    assert!(text.contains(part), "{part}");
    let usual = found(claim, text);
    assert!(matches!(usual, Conclusion::Proved), "{usual:?}\n{text}");
    assert!(!holds(claim, &text.replace(part, other)), "{other}\n{text}");
}

#[test]
fn arithmetic_stays_in_bounds_for_any_number_of_threads() {
    let claim = Claim::NoOverflow;
    let text = "int k; void *w(void *p) { for (int i = 0; i < k; i++) { LOCK; k = i / 2; UNLOCK; } return 0; } \
        int main(void) { k = __VERIFIER_nondet_int(); pthread_t t; while (1) pthread_create(&t, 0, w, 0); }";
    turns(claim, text, "i < k", "i <= k");
    turns(claim, text, "k = i / 2", "k = i + 2");
    turns(claim, text, "k = i / 2", "k++");
    let divides =
        "int main(void) { int k = __VERIFIER_nondet_int(); if (k < 1) return 0; return 7 / k; }";
    turns(claim, divides, "k < 1", "k < 0");
}

#[test]
fn what_is_true_in_the_middle_of_a_critical_section_is_seen_by_nobody_else() {
    let claim = Claim::NoFailure;
    let many = "int main(void) { pthread_t t; while (1) pthread_create(&t, 0, w, 0); }";
    let text = format!(
        "extern void reach_error(void); int x; \
         void *w(void *p) {{ LOCK; if (x != 0) reach_error(); x++; x--; UNLOCK; return 0; }} {many}"
    );
    turns(claim, &text, "x--;", "");
    turns(claim, &text, "x++;", "x++; UNLOCK; LOCK;");
    turns(claim, &text, "{ LOCK;", "{");
    turns(claim, &text, "LOCK; if (x != 0) reach_error();", "if (x != 0) reach_error(); LOCK;");
    turns(claim, &text, "x++;", "x++; if (__VERIFIER_nondet_int()) { UNLOCK; return 0; }");
    turns(claim, &text, "int x;", "int x = 1;");
    turns(claim, &text, "while (1)", "while (1) x = 2,");
    // The lock of somebody else, one that keeps nobody out, and one that is written over.
    turns(claim, &text, "LOCK; if", "pthread_mutex_lock(&n); if");
    turns(claim, &text, "x--;", "x--; UNLOCK;");
    turns(claim, &text, "return 0;", "*(int *)&m = 0; return 0;");
    let section = text.replace("LOCK;", "__VERIFIER_atomic_begin();");
    let section = section.replace("UN__VERIFIER_atomic_begin();", "__VERIFIER_atomic_end();");
    turns(claim, &section, "x--;", "__VERIFIER_atomic_end(); __VERIFIER_atomic_begin(); x--;");
    let inner = text.replace("x++;", "pthread_mutex_lock(&n); x++; pthread_mutex_unlock(&n);");
    let inner = inner.replace("x--;", "pthread_mutex_lock(&n); x--; pthread_mutex_unlock(&n);");
    turns(claim, &inner, "LOCK; if (x != 0) reach_error();", "if (x != 0) reach_error(); LOCK;");
    let two = format!(
        "extern void reach_error(void); int x, y; \
         void go(pthread_mutex_t *l, int *v) {{ pthread_mutex_lock(l); if (*v) reach_error(); \
         pthread_mutex_lock(&o); ++*v; pthread_mutex_unlock(&o); \
         pthread_mutex_lock(&o); --*v; pthread_mutex_unlock(&o); pthread_mutex_unlock(l); }} \
         void *w(void *p) {{ go(&m, &x); go(&n, &y); return 0; }} {many}"
    );
    let two = format!("pthread_mutex_t o = PTHREAD_MUTEX_INITIALIZER; {two}");
    turns(claim, &two, "go(&n, &y);", "go(&n, &x);");
    let boxed = text.replace(
        "int x;",
        "struct { pthread_mutex_t lock; int x; } b = { PTHREAD_MUTEX_INITIALIZER, 0 };",
    );
    let boxed = boxed
        .replace("LOCK;", "pthread_mutex_lock(&b.lock);")
        .replace("UNpthread_mutex_lock", "pthread_mutex_unlock");
    let boxed = boxed.replace("x != 0", "b.x != 0").replace("x++", "b.x++").replace("x--", "b.x--");
    turns(claim, &boxed, "b.x--;", "");
}

/// A lock that a program makes for itself, for any number of threads.
const OWN_LOCK: &str = "extern void reach_error(void); int lock, x; \
    void take(void) { __VERIFIER_atomic_begin(); __VERIFIER_assume(lock == 0); lock = 1; __VERIFIER_atomic_end(); } \
    void give(void) { __VERIFIER_atomic_begin(); lock = 0; __VERIFIER_atomic_end(); } \
    void *w(void *p) { take(); if (x != 0) reach_error(); x = 1; x = 0; if (lock != 1) reach_error(); give(); return 0; } \
    int main(void) { pthread_t t; while (1) pthread_create(&t, 0, w, 0); }";

#[test]
fn words_that_are_set_where_they_were_zero_are_locks() {
    let claim = Claim::NoFailure;
    turns(claim, OWN_LOCK, "__VERIFIER_assume(lock == 0);", "");
    turns(claim, OWN_LOCK, "lock == 0", "lock <= 1");
    turns(claim, OWN_LOCK, "lock = 1;", "lock = 0;");
    turns(claim, OWN_LOCK, "x = 0;", "");
    turns(claim, OWN_LOCK, "give(); return 0;", "give(); give(); return 0;");
    turns(claim, OWN_LOCK, "while (1)", "while (1) lock = 0,");
    turns(
        claim,
        OWN_LOCK,
        "lock = 1; __VERIFIER_atomic_end();",
        "__VERIFIER_atomic_end(); lock = 1;",
    );
    turns(claim, OWN_LOCK, "x = 1;", "x = 1; give(); take();");
    turns(claim, OWN_LOCK, "x = 1;", "x = 1; *((char *)&lock + 1) = 0;");
    let quiet = OWN_LOCK.replace("if (lock != 1) reach_error();", "");
    differs(&quiet, "__VERIFIER_assume(lock == 0);", "");
    differs(&quiet, "take(); if", "if");
}

#[test]
fn what_was_true_while_threads_were_started_is_known_to_them() {
    let claim = Claim::NoFailure;
    let text = "extern void reach_error(void); int x; \
        void *w(void *p) { LOCK; if (x != 0) reach_error(); x = 1; x = 0; UNLOCK; return 0; } \
        int main(void) { pthread_t t, u; LOCK; x = 2; pthread_create(&t, 0, w, 0); \
        pthread_create(&u, 0, w, 0); x = 0; UNLOCK; pthread_join(t, 0); pthread_join(u, 0); \
        if (x != 0) reach_error(); return 0; }";
    turns(claim, text, "x = 0; UNLOCK; pthread_join", "UNLOCK; pthread_join");
    turns(claim, text, "x = 1; x = 0; UNLOCK;", "x = 1; UNLOCK;");
    turns(claim, text, "LOCK; x = 2;", "x = 2;");
    let readers = "extern void reach_error(void); int x; pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER; \
        void *w(void *p) { pthread_rwlock_wrlock(&l); x++; x--; pthread_rwlock_unlock(&l); return 0; } \
        void *r(void *p) { pthread_rwlock_rdlock(&l); if (x) reach_error(); pthread_rwlock_unlock(&l); return 0; } \
        int main(void) { pthread_t t; while (1) { pthread_create(&t, 0, w, 0); pthread_create(&t, 0, r, 0); } }";
    turns(claim, readers, "wrlock", "rdlock");
    turns(
        claim,
        readers,
        "if (x) reach_error();",
        "pthread_rwlock_unlock(&l); if (x) reach_error(); pthread_rwlock_rdlock(&l);",
    );
}

#[test]
fn accesses_stay_in_their_objects_for_any_number_of_threads() {
    let claim = Claim::NoMemoryError;
    let text = "int a[8], at, *p = &at; void *w(void *q) { LOCK; at = (at + 1) & 7; a[at] = *p; UNLOCK; return 0; } \
        int main(void) { pthread_t t; while (1) pthread_create(&t, 0, w, 0); }";
    turns(claim, text, "(at + 1) & 7", "at + 1");
    turns(claim, text, "(at + 1) & 7", "(at + 1) & 15");
    turns(claim, text, "return 0;", "p = 0; return 0;");
    turns(claim, text, "a[at] = *p;", "int k; p = &k;");
    turns(claim, text, "a[at] = *p;", "p = malloc(4); *p = 1;");
    turns(claim, text, "a[at] = *p;", "free(p);");
    let local = "void *w(void *p) { *(int *)p = 1; return 0; } \
        int main(void) { int k = 0; pthread_t t; pthread_create(&t, 0, w, &k); pthread_join(t, 0); return k; }";
    turns(claim, local, "pthread_join(t, 0);", "");
}

#[test]
fn a_mutex_protects_without_a_bound() {
    let text = "int g; void *w(void *p) { while (1) { LOCK; g++; UNLOCK; } return 0; }";
    differs(&format!("{text} {TWICE}"), "LOCK; g++; UNLOCK;", "g++;");
    differs(&format!("{text} {TWICE}"), "LOCK; g++; UNLOCK;", "LOCK; UNLOCK; g++;");
    let other = "if (__VERIFIER_nondet_int()) { LOCK; g++; UNLOCK; } else { \
                 pthread_mutex_lock(&n); g++; pthread_mutex_unlock(&n); }";
    differs(&format!("{text} {TWICE}"), "LOCK; g++; UNLOCK;", other);
}

#[test]
fn the_object_around_a_part_is_found() {
    let text = "struct d { int c; int part; pthread_mutex_t l; } d = {0, 0, PTHREAD_MUTEX_INITIALIZER}; \
                void *w(void *p) { \
                struct d *o = (struct d *)((char *)&d.part - offsetof(struct d, part)); \
                pthread_mutex_lock(&o->l); o->c++; pthread_mutex_unlock(&o->l); return 0; }";
    let locked = "pthread_mutex_lock(&o->l); o->c++; pthread_mutex_unlock(&o->l);";
    differs(&format!("{text} {TWICE}"), locked, "o->c++;");
}

/// What is found of a program that does nothing undefined but race.
fn if_defined(text: &str) -> Proof {
    prove_defined(&program(text), Claim::NoRace, &Control::default())
}

/// Whether it is proved that an error is never reached.
fn cannot_fail(text: &str) -> bool {
    let text = format!("extern void reach_error(void);\n{text}");
    let proof = prove(&program(&text), Claim::NoFailure, &Control::default());
    matches!(proof.conclusion, Conclusion::Proved)
}

#[test]
fn values_are_bounded_whoever_stores_them() {
    let text = "int g; void *w(void *p) { int i = g; if (i < 0 || i > 7) reach_error(); \
                g = (i + 1) % 8; return 0; } \
                int main(void) { while (1) { pthread_t t; pthread_create(&t, 0, w, 0); } }";
    assert!(cannot_fail(text));
    assert!(!cannot_fail(&text.replace("% 8", "% 9")));
    let semaphore = "#include <semaphore.h>\nsem_t s; int main(void) { int v; sem_init(&s, 0, 1); \
                     while (1) { sem_post(&s); sem_getvalue(&s, &v); if (v < 0) reach_error(); } }";
    assert!(!cannot_fail(semaphore), "the library does not count so far");
}

#[test]
fn threads_are_waited_for_whose_numbers_may_never_have_been_written() {
    let text = "atomic_int a; void *w(void *p) { a++; return 0; } int main(void) { \
                int n = __VERIFIER_nondet_int(); if (n < 0) return 0; \
                pthread_t *t = malloc(n * sizeof *t); \
                for (int i = 0; i < n; i++) pthread_create(&t[i], 0, w, 0); \
                for (int i = 0; i < n; i++) pthread_join(t[i], 0); free(t); return 0; }";
    let found = if_defined(text).conclusion;
    assert!(matches!(found, Conclusion::Proved), "{found:?}");
    let found = if_defined(&text.replace("atomic_int", "int")).conclusion;
    assert!(matches!(found, Conclusion::Suspected { .. }), "{found:?}");
}

#[test]
fn what_is_undefined_may_be_assumed_away() {
    let text = "struct { pthread_mutex_t l; int v; } a[20]; void *w(void *p) { \
                int i = __VERIFIER_nondet_int(); \
                pthread_mutex_lock(&a[i].l); a[i].v++; pthread_mutex_unlock(&a[i].l); return 0; } \
                int main(void) { pthread_t t; \
                for (int i = 0; i < 20; i++) pthread_mutex_init(&a[i].l, 0); \
                while (1) pthread_create(&t, 0, w, 0); }";
    assert!(matches!(conclusion(text), Conclusion::Owed { .. }), "{:?}", conclusion(text));
    let found = if_defined(text);
    assert!(matches!(found.conclusion, Conclusion::Proved), "{found:?}");
    assert!(found.assumed.is_some());
    let found = if_defined(&text.replace("(&a[i].l); a[i].v++", "(&a[i].l); a[3].v++"));
    assert!(matches!(found.conclusion, Conclusion::Suspected { .. }), "{found:?}");
    // Who releases a lock that another thread holds lets a third one in.
    let text = "int g; void *w(void *p) { LOCK; g++; UNLOCK; return 0; } \
                void *r(void *p) { UNLOCK; return 0; } \
                int main(void) { pthread_t t; pthread_create(&t, 0, w, 0); \
                pthread_create(&t, 0, r, 0); pthread_create(&t, 0, w, 0); return 0; }";
    let found = if_defined(text);
    assert!(!matches!(found.conclusion, Conclusion::Proved), "{found:?}");
    // Where an access can go nowhere, nothing is known of what comes after it.
    let text = "int g, a[2]; void *w(void *p) { g++; return 0; } \
                int main(void) { pthread_t t; pthread_create(&t, 0, w, 0); \
                int *q = a; q[2 + (__VERIFIER_nondet_int() & 1)] = 0; g++; return 0; }";
    let found = if_defined(text);
    assert!(!matches!(found.conclusion, Conclusion::Proved), "{found:?}");
}

#[test]
fn what_decides_about_a_lock_is_followed() {
    let text = "int g; void *w(void *p) { int f = __VERIFIER_nondet_int(); if (f) LOCK; \
                if (f) g++; if (f) UNLOCK; return 0; }";
    differs(&format!("{text} {TWICE}"), "if (f) g++", "g++");
    let text = "int g; void *w(void *p) { if (pthread_mutex_trylock(&m) == 0) { g++; UNLOCK; } \
                return 0; }";
    differs(&format!("{text} {TWICE}"), "== 0", "!= 1");
    let text = "int g; void *w(void *p) { int r = pthread_mutex_lock(&m); if (r) return 0; g++; \
                UNLOCK; return 0; }";
    is_proved(&format!("{text} {TWICE}"));
}

#[test]
fn waiting_for_a_signal_gives_the_lock_away_and_takes_it_again() {
    let text = "pthread_cond_t c = PTHREAD_COND_INITIALIZER; int g; \
                void *w(void *p) { LOCK; while (!g) pthread_cond_wait(&c, &m); g = 0; UNLOCK; \
                return 0; } \
                int main(void) { pthread_t t, u; pthread_create(&t, 0, w, 0); \
                pthread_create(&u, 0, w, 0); LOCK; g = 1; pthread_cond_broadcast(&c); UNLOCK; \
                return 0; }";
    differs(text, "LOCK; g = 1;", "g = 1; LOCK;");
    differs(text, "g = 0; UNLOCK;", "UNLOCK; g = 0;");
}

#[test]
fn readers_share_and_writers_do_not() {
    let text = "pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER; int g; \
                void *w(void *p) { pthread_rwlock_wrlock(&l); g++; pthread_rwlock_unlock(&l); \
                pthread_rwlock_rdlock(&l); int r = g; pthread_rwlock_unlock(&l); return 0; }";
    differs(&format!("{text} {TWICE}"), "int r = g;", "g = 1;");
    differs(&format!("{text} {TWICE}"), "wrlock", "rdlock");
    differs(
        &format!("{text} {TWICE}"),
        "pthread_rwlock_rdlock(&l); int r = g;",
        "int r = g; pthread_rwlock_rdlock(&l);",
    );
}

#[test]
fn recursive_mutexes_are_given_back_as_often_as_they_were_taken() {
    let text = "pthread_mutex_t r = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP; int g; \
                void *w(void *p) { pthread_mutex_lock(&r); pthread_mutex_lock(&r); g++; \
                pthread_mutex_unlock(&r); g++; pthread_mutex_unlock(&r); return 0; }";
    let twice = "g++; pthread_mutex_unlock(&r); return 0;";
    differs(&format!("{text} {TWICE}"), twice, "pthread_mutex_unlock(&r); g++; return 0;");
    let checked = text.replace("RECURSIVE", "ERRORCHECK");
    is_suspected(&format!("{checked} {TWICE}"));
}

/// What a thread has written under a lock it finds when it takes the lock once more.
#[test]
fn who_takes_a_lock_again_finds_what_he_has_written() {
    let text = format!(
        "extern void reach_error(void); int g; \
         pthread_mutex_t r = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP; \
         void *w(void *p) {{ int k = __VERIFIER_nondet_int(); pthread_mutex_lock(&r); g = k & 3; \
         pthread_mutex_lock(&r); if (g > 3) reach_error(); pthread_mutex_unlock(&r); \
         g = 0; pthread_mutex_unlock(&r); return 0; }} {TWICE}"
    );
    turns(Claim::NoFailure, &text, "g > 3", "g > 0");
    let tried = text.replace("pthread_mutex_lock(&r); if", "if (!pthread_mutex_trylock(&r)) { if");
    let tried = tried.replace("unlock(&r); g", "unlock(&r); } g");
    assert!(!holds(Claim::NoFailure, &tried.replace("g > 3", "g > 0")), "{tried}");
}

#[test]
fn spin_locks_and_atomic_sections_are_locks() {
    let text = "int g; void *w(void *p) { __VERIFIER_atomic_begin(); g++; \
                __VERIFIER_atomic_end(); return 0; }";
    differs(
        &format!("{text} {TWICE}"),
        "g++; __VERIFIER_atomic_end();",
        "__VERIFIER_atomic_end(); g++;",
    );
    let text = "int g; void __VERIFIER_atomic_inc(void) { g++; } \
                void *w(void *p) { __VERIFIER_atomic_inc(); return 0; }";
    differs(&format!("{text} {TWICE}"), "__VERIFIER_atomic_inc();", "g++;");
}

#[test]
fn threads_that_have_ended_do_not_race() {
    let text = "int g; void *w(void *p) { g++; return 0; } int main(void) { pthread_t t, u; g = 1; \
                pthread_create(&t, 0, w, 0); pthread_join(t, 0); pthread_create(&u, 0, w, 0); \
                pthread_join(u, 0); return g; }";
    differs(text, "pthread_join(t, 0); ", "");
    differs(text, "pthread_join(u, 0); ", "");
    is_suspected(&text.replace("pthread_join(u, 0); ", "pthread_join(t, 0); "));
}

#[test]
fn threads_of_threads_may_outlive_them() {
    let text = "int g; void *w(void *p) { g++; return 0; } \
                void *s(void *p) { pthread_t t; pthread_create(&t, 0, w, 0); pthread_join(t, 0); \
                return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, s, 0); \
                pthread_join(t, 0); return g; }";
    let without = text.replace("w, 0); pthread_join(t, 0);", "w, 0);");
    is_suspected(&without);
    // That the thread was not joined before is not shown.
    let found = conclusion(text);
    assert!(matches!(found, Conclusion::Owed { .. }), "{found:?}");
}

#[test]
fn pools_are_created_and_joined_in_loops() {
    let text = "int g, a[8]; void *w(void *p) { long i = (long)p; a[i] = g; return 0; } \
                int main(void) { pthread_t t[8]; g = 2; \
                for (long i = 0; i < 8; i++) pthread_create(&t[i], 0, w, (void *)i); \
                for (int i = 0; i < 8; i++) pthread_join(t[i], 0); g = 3; return a[5]; }";
    differs(text, "int i = 0; i < 8", "int i = 1; i < 8");
    differs(text, "a[i] = g", "a[i & 3] = g");
    differs(text, "a[i] = g", "a[i] = g++");
}

#[test]
fn threads_of_a_loop_without_a_bound_meet() {
    let text = "int g; void *w(void *p) { LOCK; g++; UNLOCK; return 0; } \
                int main(void) { while (__VERIFIER_nondet_int()) { pthread_t t; \
                pthread_create(&t, 0, w, 0); } return 0; }";
    differs(text, "LOCK; g++; UNLOCK;", "g++;");
}

#[test]
fn objects_are_distinguished() {
    let text = "struct s { int a, b; }; void *w(void *p) { struct s *s = p; s->a = 1; return 0; } \
                int main(void) { pthread_t t; struct s x; pthread_create(&t, 0, w, &x); x.b = 2; \
                pthread_join(t, 0); return x.a; }";
    differs(text, "x.b = 2", "x.a = 2");
    differs(text, "pthread_join(t, 0); return x.a;", "return 0;");
    let text = "int x, y; int *volatile unused; void *w(void *p) { int *q = p; LOCK; *q = 1; UNLOCK; return 0; } \
                int main(void) { pthread_t t; pthread_create(&t, 0, w, &x); y = 1; return 0; }";
    differs(text, "y = 1", "x = 1");
}

#[test]
fn what_a_thread_made_is_its_own_until_others_know_it() {
    let text = "struct n { struct n *next; int v; } *head; void *w(void *p) { \
                struct n *q = malloc(sizeof *q); q->v = 1; LOCK; q->next = head; head = q; \
                for (struct n *r = head; r; r = r->next) r->v++; UNLOCK; return 0; }";
    differs(&format!("{text} {TWICE}"), "UNLOCK; return 0;", "UNLOCK; q->v = 2; return 0;");
    differs(&format!("{text} {TWICE}"), "q->v = 1; LOCK;", "head = q; q->v = 1; LOCK;");
    let text = "void *w(void *p) { int *q = malloc(4); *q = 1; int r = *q; free(q); return 0; }";
    is_proved(&format!("{text} {TWICE}"));
}

#[test]
fn functions_are_called_through_tables() {
    let text = "int g; void inc(void) { g++; } void dec(void) { g--; } \
                void (*const ops[2])(void) = {inc, dec}; void *w(void *p) { \
                int i = __VERIFIER_nondet_int(); if (i < 0 || i > 1) return 0; LOCK; ops[i](); \
                UNLOCK; return 0; }";
    differs(&format!("{text} {TWICE}"), "LOCK; ops[i](); UNLOCK;", "ops[i]();");
    let text = "int g; int f(int n) { if (n <= 0) return 0; LOCK; g++; UNLOCK; return f(n - 1); } \
                void *w(void *p) { f(10); return 0; }";
    differs(&format!("{text} {TWICE}"), "UNLOCK; return", "UNLOCK; g--; return");
}

#[test]
fn atomic_accesses_do_not_race_with_one_another() {
    let text = "atomic_int g; void *w(void *p) { g++; return 0; }";
    is_proved(&format!("{text} {TWICE}"));
    is_suspected(&format!("{} {TWICE}", text.replace("atomic_int", "volatile int")));
    is_suspected(&format!("{} {TWICE}", text.replace("g++", "*(int *)&g = 1")));
}

#[test]
fn each_thread_has_variables_of_its_own() {
    let text = "_Thread_local int g; int *q; void *w(void *p) { g++; return 0; }";
    differs(&format!("{text} {TWICE}"), "g++", "q = &g");
    differs(&format!("{text} {TWICE}"), "_Thread_local int g", "int g");
    // The address of one's own is that of another's to others.
    let text = "_Thread_local int g; void *w(void *p) { ++*(int *)p; return 0; } \
                int main(void) { pthread_t t; pthread_create(&t, 0, w, &g); g++; return 0; }";
    is_suspected(text);
    let text = "_Thread_local int g; int *q; void *w(void *p) { LOCK; ++*q; UNLOCK; return 0; } \
                int main(void) { pthread_t t; q = &g; pthread_create(&t, 0, w, 0); g++; return 0; }";
    is_suspected(text);
}

#[test]
fn a_lock_that_is_written_over_protects_nothing() {
    let text = "int g; void *w(void *p) { pthread_mutex_lock(&n); LOCK; pthread_mutex_unlock(&n); g++; \
                return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, w, 0); \
                pthread_mutex_lock(&n); *(int *)&m = 0; LOCK; pthread_mutex_unlock(&n); g++; \
                return 0; }";
    is_suspected(text);
}

/// What is not shown to be right about memory and locks leaves the question open.
#[test]
fn errors_of_other_kinds_leave_it_open() {
    let open = |text: &str| {
        let found = conclusion(&format!("{text} {TWICE}"));
        assert!(!matches!(found, Conclusion::Proved), "{found:?}\n{text}");
    };
    open("int *p; void *w(void *q) { LOCK; *p = 1; UNLOCK; return 0; }");
    open("int a[2]; void *w(void *q) { LOCK; a[__VERIFIER_nondet_int()] = 1; UNLOCK; return 0; }");
    open("int a[2]; void *w(void *q) { LOCK; a[2] = 1; UNLOCK; return 0; }");
    open("void *w(void *q) { int *p = malloc(4); free(p); *p = 1; return 0; }");
    open("void *w(void *q) { int *p; LOCK; *p = 1; UNLOCK; return 0; }");
    open(
        "int x; void *w(void *q) { long a = (long)&x; LOCK; *(int *)(a ^ 8) = 1; UNLOCK; return 0; }",
    );
    open("void *w(void *q) { UNLOCK; return 0; }");
    open("void f(void); void *w(void *q) { f(); return 0; }");
    open(
        "int *f(void) { int x; int *volatile p = &x; return p; } void *w(void *q) { *f() = 1; return 0; }",
    );
}

const ELEMENTS: &str = "struct d { pthread_mutex_t m; int x, y; } ds[3]; \
    void lend(struct d *p) { pthread_mutex_unlock(&p->m); pthread_mutex_lock(&p->m); } \
    void leave(struct d *p) { pthread_mutex_unlock(&p->m); } \
    void *w(void *a) { int i = __VERIFIER_nondet_int(); if (i < 0 || i > 2) return 0; \
    struct d *p = &ds[i]; pthread_mutex_lock(&p->m); p->x++; pthread_mutex_unlock(&p->m); return 0; }";

#[test]
fn elements_have_locks_of_their_own() {
    let text = format!("{ELEMENTS} {TWICE}");
    differs(&text, "p->x++;", "ds[0].x++;");
    differs(&text, "p->x++;", "p = &ds[1]; p->x++; p = &ds[i];");
    differs(&text, "p->x++;", "leave(p); p->x++; pthread_mutex_lock(&p->m);");
    differs(&text, "lock(&p->m); p->x++;", "lock(&p->m); { struct d *q = p + (i == 0); q->x++; }");
    differs(&text, "pthread_mutex_lock(&p->m); p->x++; pthread_mutex_unlock(&p->m);", "p->x++;");
    let body = "pthread_mutex_lock(&p->m); p->x++; pthread_mutex_unlock(&p->m);";
    let index = text.replace(body, &body.replace("p->", "ds[i]."));
    differs(&index, "ds[i].x++;", "i = i ? 0 : 1; ds[i].x++;");
    let exact = text.replace(
        "return 0; }",
        "pthread_mutex_lock(&ds[0].m); ds[0].x = 1; \
                              pthread_mutex_unlock(&ds[0].m); return 0; }",
    );
    differs(&exact, "ds[0].x = 1;", "ds[1].x = 1;");
    let readers = text.replace("mutex", "rwlock").replace("lock_lock(", "lock_wrlock(");
    let readers = readers.replace("pthread_rwlock_t m =", "pthread_mutex_t m =");
    let readers = readers.replace("n = PTHREAD_RWLOCK", "n = PTHREAD_MUTEX");
    is_proved(&readers);
    is_suspected(&readers.replace("wrlock(&p", "rdlock(&p"));
}

#[test]
fn nodes_have_locks_of_their_own() {
    let text = "struct n { pthread_mutex_t m; int v; struct n *next; } *head; void *w(void *a) { \
                struct n *p = calloc(1, sizeof *p); p->v = 7; LOCK; p->next = head; head = p; UNLOCK; \
                LOCK; struct n *q = head; UNLOCK; if (q) { pthread_mutex_lock(&q->m); q->v++; \
                pthread_mutex_unlock(&q->m); } return 0; }";
    let text = format!("{text} {TWICE}");
    differs(&text, "q->v++;", "q->v++; if (q->next) q->next->v++;");
    differs(&text, "q->v++;", "pthread_mutex_unlock(&q->m); q->v++; pthread_mutex_lock(&q->m);");
    differs(&text, "q->v++;", "*(int *)&q->m = 0; q->v++;");
}

/// The examples: those that say that something is wrong are not proved.
#[test]
fn examples_are_proved_if_they_are_right() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/c-static");
    let files = std::fs::read_dir(folder).expect("a folder").flatten().map(|file| file.path());
    let mut count = 0;
    for file in files.filter(|file| file.extension().is_some_and(|it| it == "c")) {
        let text = std::fs::read_to_string(&file).expect("a file");
        let found =
            prove(&support::load_file(&file), Claim::NoRace, &Control::default()).conclusion;
        match text.contains("BUG:") {
            true => assert!(matches!(found, Conclusion::Suspected { .. }), "{file:?}: {found:?}"),
            false => assert!(matches!(found, Conclusion::Proved), "{file:?}: {found:?}"),
        }
        count += 1;
    }
    assert!(count >= 4, "{count}");
}

/// What a thread has filled is before those who find it only if its address was released and acquired.
#[test]
fn what_is_filled_and_shown_loosely_is_not_its_own() {
    let text = "_Atomic(int *) p; void *w(void *a) { int *q = malloc(sizeof *q); *q = 5; \
        atomic_store_explicit(&p, q, memory_order_release); return 0; } \
        void *v(void *a) { int *q = atomic_load_explicit(&p, memory_order_acquire); \
        return q && *q == 4 ? a : 0; } \
        int main(void) { pthread_t t, u; pthread_create(&t, 0, w, 0); pthread_create(&u, 0, v, 0); \
        return 0; }";
    differs(text, "memory_order_release", "memory_order_relaxed");
    differs(text, "memory_order_acquire", "memory_order_relaxed");
    let passed =
        text.replace("return q &&", "static _Atomic(int *) o; atomic_store(&o, q); return q &&");
    differs(&passed, "atomic_store(&o, q)", "atomic_store_explicit(&o, q, memory_order_relaxed)");
    let swapped = text.replace("atomic_load_explicit(&p, ", "atomic_exchange_explicit(&p, 0, ");
    differs(&swapped, "memory_order_acquire", "memory_order_relaxed");
}

/// Whoever finds the object need not find what was stored there, where stores are seen out of order.
#[test]
fn what_is_shown_loosely_may_look_as_it_was_before() {
    let text = |order: &str| {
        format!(
            "extern void reach_error(void); struct n {{ atomic_int a; }}; _Atomic(struct n *) p; \
             void *w(void *q) {{ struct n *x = calloc(1, sizeof *x); \
             atomic_store_explicit(&x->a, 1, memory_order_relaxed); \
             atomic_store_explicit(&p, x, {order}); return 0; }} \
             int main(void) {{ pthread_t t; pthread_create(&t, 0, w, 0); \
             struct n *x = atomic_load_explicit(&p, memory_order_acquire); \
             if (x && atomic_load_explicit(&x->a, memory_order_relaxed) != 1) reach_error(); \
             return 0; }}"
        )
    };
    let unordered = |text: &str| {
        let proof = prove_unordered(&program(text), Claim::NoFailure, &Control::default());
        matches!(proof.conclusion, Conclusion::Proved)
    };
    let in_order = |text: &str| {
        let proof = prove(&program(text), Claim::NoFailure, &Control::default());
        matches!(proof.conclusion, Conclusion::Proved)
    };
    let (released, loose) = (text("memory_order_release"), text("memory_order_relaxed"));
    assert!(in_order(&released) && in_order(&loose));
    assert!(unordered(&released) && !unordered(&loose));
}
