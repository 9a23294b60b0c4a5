//! Programs whose answers are known, with the number of runs that it takes, in whatever order threads
//! are tried.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use parallax_control::Control;
use parallax_engine_symbolic::{Options, search};
use parallax_frontend_c::load;
use parallax_memory::Model;
use parallax_program::{Program, Property};
use parallax_verdict::{Conclusion, Scope, Verdict};

const HEAD: &str = "
#include <pthread.h>
#include <stdlib.h>
#include <assert.h>
extern int __VERIFIER_nondet_int(void);
extern unsigned __VERIFIER_nondet_uint(void);
extern unsigned char __VERIFIER_nondet_uchar(void);
extern void __VERIFIER_assume(int);
static pthread_mutex_t l = PTHREAD_MUTEX_INITIALIZER, m = PTHREAD_MUTEX_INITIALIZER;
static pthread_t one, two, three, four;
#define START(t, f) pthread_create(&t, 0, f, 0)
#define JOIN(t) pthread_join(t, 0)
#define LOCK(m) pthread_mutex_lock(&m)
#define UNLOCK(m) pthread_mutex_unlock(&m)
";

/// A program in C, read once.
fn program(name: &str, text: &str) -> Program {
    let folder = std::env::temp_dir().join(format!("parallax-symbolic-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let path: PathBuf = folder.join(format!("{name}.c"));
    std::fs::write(&path, format!("{HEAD}{text}")).expect("a file");
    let options = parallax_frontend_c::Options { overflow: true, ..Default::default() };
    load(&[path], &options).unwrap_or_else(|errors| panic!("{name}: {}", errors[0]))
}

fn model(name: &str) -> Arc<Model> {
    Model::builtin(name).expect("a model").expect("a right model")
}

fn verify(program: &Program, property: Property, order: Option<u64>) -> Verdict {
    verify_under("sc", program, property, order)
}

fn verify_under(name: &str, program: &Program, property: Property, order: Option<u64>) -> Verdict {
    let control = Control::lasting(Duration::from_secs(30));
    let options = Options {
        properties: vec![property],
        shuffles: order.is_some(),
        control: Control { seed: order.unwrap_or(0).wrapping_mul(0x9e37_79b9), ..control },
        ..Options::default()
    };
    search(program, &model(name), &options)
}

/// The answer is the same in every order.
fn expect(name: &str, text: &str, property: Property, is_safe: bool) {
    let program = program(name, text);
    for order in std::iter::once(None).chain((1..50).map(Some)) {
        let verdict = verify(&program, property, order);
        let expected = if is_safe { Conclusion::Safe } else { Conclusion::Unsafe };
        assert_eq!(verdict.conclusion(), expected, "{name}, {order:?}: {:?}", verdict.reason);
        if is_safe {
            assert_eq!(verdict.scope, Some(Scope::Complete), "{name}");
        }
    }
}

/// The number of complete runs is the same in every order: those that end, and those that do not.
fn count(name: &str, text: &str, expected: (u64, u64)) {
    let program = program(name, text);
    for order in std::iter::once(None).chain((1..50).map(Some)) {
        let counts = verify(&program, Property::Assert, order).counts;
        assert_eq!((counts.executions, counts.blocked), expected, "{name}, {order:?}");
    }
}

#[test]
fn runs_are_as_many_as_there_are_orders_that_matter() {
    let private = "static void *f(void *a) { int x[4]; for (int i = 0; i < 4; i++) x[i] = i;
        assert(x[2] == 2); return 0; }
        int main(void) { START(one, f); START(two, f); START(three, f); START(four, f);
        JOIN(one); JOIN(two); JOIN(three); JOIN(four); }";
    count("private", private, (1, 0));
    let lock = "static void *f(void *a) { LOCK(m); UNLOCK(m); return 0; }";
    let two = "int main(void) { START(one, f); START(two, f); JOIN(one); JOIN(two); }";
    count("two-locks", &format!("{lock}{two}"), (2, 0));
    let three = "int main(void) { START(one, f); START(two, f); START(three, f);
        JOIN(one); JOIN(two); JOIN(three); }";
    count("three-locks", &format!("{lock}{three}"), (6, 0));
    let four = "int main(void) { START(one, f); START(two, f); START(three, f); START(four, f);
        JOIN(one); JOIN(two); JOIN(three); JOIN(four); }";
    count("four-locks", &format!("{lock}{four}"), (24, 0));
    let crossed = "static void *f(void *a) { LOCK(l); LOCK(m); UNLOCK(m); UNLOCK(l); return 0; }
        static void *g(void *a) { LOCK(m); LOCK(l); UNLOCK(l); UNLOCK(m); return 0; }
        int main(void) { START(one, f); START(two, g); JOIN(one); JOIN(two); }";
    count("crossed", crossed, (2, 1));
    expect("crossed", crossed, Property::Deadlock, false);
}

#[test]
fn races_are_found_in_every_order() {
    let race = |name: &str, text: &str| expect(name, text, Property::Race, false);
    let both = "int main(void) { START(one, f); START(two, g); JOIN(one); JOIN(two); }";
    let plain = "int v; static void *f(void *a) { v = 1; return 0; }
        static void *g(void *a) { v = 2; return 0; }";
    race("plain", &format!("{plain}{both}"));
    let guarded = "int v, c; static void *f(void *a) { if (c > 5) v = 1; return 0; }
        static void *g(void *a) { if (c > 5) v = 2; return 0; }
        int main(void) { c = __VERIFIER_nondet_int(); START(one, f); START(two, g); JOIN(one);
        JOIN(two); }";
    race("guarded", guarded);
    let sometimes = "int v, c; static void *f(void *a) { if (c < 5) LOCK(m); v = 1;
        if (c < 5) UNLOCK(m); return 0; }
        static void *g(void *a) { LOCK(m); v = 2; UNLOCK(m); return 0; }
        int main(void) { c = __VERIFIER_nondet_int(); START(one, f); START(two, g); JOIN(one);
        JOIN(two); }";
    race("sometimes", sometimes);
    let element = "int a[2]; static void *f(void *p) { a[1] = 1; return 0; }
        static void *g(void *p) { a[1] = 2; return 0; }";
    race("element", &format!("{element}{both}"));
    let cell = "int *p; static void *f(void *a) { LOCK(m); *p = 1; UNLOCK(m); return 0; }
        static void *g(void *a) { *p = 2; return 0; }
        int main(void) { p = malloc(sizeof *p); START(one, f); START(two, g); JOIN(one);
        JOIN(two); }";
    race("cell", cell);
    let alias = "int v, *p = &v, *q = &v;
        static void *f(void *a) { LOCK(m); *p = 1; UNLOCK(m); return 0; }
        static void *g(void *a) { *q = 2; return 0; }";
    race("alias", &format!("{alias}{both}"));
    let unreleased = "int x; static void *f(void *a) { LOCK(m); return 0; }
        static void *g(void *a) { LOCK(m); x = 1; UNLOCK(m); return 0; }
        int main(void) { START(one, f); START(two, g); return x; }";
    race("unreleased", unreleased);
    let nested = "int x; static void *f(void *a) { LOCK(l); LOCK(m); x = 1; UNLOCK(m); UNLOCK(l);
        return 0; }
        static void *g(void *a) { LOCK(m); UNLOCK(m); x = 1; return 0; }";
    race("nested", &format!("{nested}{both}"));
    let index = "int a[8], i; static void *f(void *p) { a[i] = 1; return 0; }
        static void *g(void *p) { a[3] = 2; return 0; }
        int main(void) { unsigned n = __VERIFIER_nondet_uint(); __VERIFIER_assume(n < 8); i = n;
        START(one, f); START(two, g); JOIN(one); JOIN(two); }";
    race("index", index);
    // In some orders the second access does not happen, as its object is gone.
    let gone = "static void *f(void *a) { return *(int *)a ? a : 0; }
        int main(void) { int i = 0; pthread_create(&one, 0, f, &i); i = 1; }";
    race("gone", gone);
}

#[test]
fn what_is_ordered_does_not_race() {
    let safe = |name: &str, text: &str| expect(name, text, Property::Race, true);
    let both = "int main(void) { START(one, f); START(two, g); JOIN(one); JOIN(two); }";
    let joined = "int v; static void *f(void *a) { v = 1; return 0; }
        static void *g(void *a) { v = 2; return 0; }
        int main(void) { START(one, f); JOIN(one); START(two, g); JOIN(two); }";
    safe("joined", joined);
    let locked = "int v; static void *f(void *a) { LOCK(m); v = 1; UNLOCK(m); return 0; }
        static void *g(void *a) { LOCK(m); v = 2; UNLOCK(m); return 0; }";
    safe("locked", &format!("{locked}{both}"));
    let apart = "int v, c; static void *f(void *a) { if (c > 5) v = 1; return 0; }
        static void *g(void *a) { if (c <= 5) v = 2; return 0; }
        int main(void) { c = __VERIFIER_nondet_int(); START(one, f); START(two, g); JOIN(one);
        JOIN(two); }";
    safe("apart", apart);
    let elements = "int a[2]; static void *f(void *p) { a[0] = 1; return 0; }
        static void *g(void *p) { a[1] = 2; return 0; }";
    safe("elements", &format!("{elements}{both}"));
    let locals = "static void *f(void *a) { int x = 1; int *p = &x; *p += 1; assert(x == 2);
        return 0; }
        int main(void) { START(one, f); START(two, f); JOIN(one); JOIN(two); }";
    safe("locals", locals);
    let indices = "int a[8], i, j; static void *f(void *p) { a[i] = 1; return 0; }
        static void *g(void *p) { a[j] = 2; return 0; }
        int main(void) { unsigned n = __VERIFIER_nondet_uint(); __VERIFIER_assume(n < 7); i = n;
        j = n + 1; START(one, f); START(two, g); JOIN(one); JOIN(two); }";
    safe("indices", indices);
}

#[test]
fn inputs_of_any_value() {
    let alone = |name: &str, body: &str, property, is_safe| {
        let program = program(name, &format!("int main(void) {{ {body} }}"));
        let verdict = verify(&program, property, None);
        let expected = if is_safe { Conclusion::Safe } else { Conclusion::Unsafe };
        assert_eq!(verdict.conclusion(), expected, "{name}: {:?}", verdict.reason);
    };
    let input = "int n = __VERIFIER_nondet_int();";
    let index = "int a[10]; for (int i = 0; i < 10; i++) a[i] = i * i;
        unsigned n = __VERIFIER_nondet_uint(); __VERIFIER_assume(n < 10);";
    alone("square", &format!("{index} assert(a[n] < 82);"), Property::Assert, true);
    alone("large", &format!("{index} assert(a[n] < 81);"), Property::Assert, false);
    alone("stored", &format!("{index} a[n] = 7; assert(a[3] == 9);"), Property::Assert, false);
    alone("kept", &format!("{index} a[n] = 7; assert(a[n] == 7);"), Property::Assert, true);
    let far =
        "int a[10]; unsigned n = __VERIFIER_nondet_uint(); __VERIFIER_assume(n < 11); a[n] = 1;";
    alone("far", far, Property::Memory, false);
    let pointer = format!("{input} int x = 1, y = 2, *p = n > 3 ? &x : &y; *p = 5;");
    alone("pointer", &format!("{pointer} assert(x + y == 7);"), Property::Assert, false);
    alone(
        "pointers",
        &format!("{pointer} assert(x + y == 7 || x + y == 6);"),
        Property::Assert,
        true,
    );
    let bytes = format!("{input} union {{ int n; unsigned char b[4]; }} u; u.n = n;");
    alone(
        "bytes",
        &format!("{bytes} u.b[1] = 0; assert((u.n & 0xff00) == 0);"),
        Property::Assert,
        true,
    );
    alone("byte", &format!("{bytes} assert(u.b[3] != 0x7f);"), Property::Assert, false);
    let picked = format!("{bytes} unsigned char i = __VERIFIER_nondet_uchar() & 3; u.b[i] = 1;");
    alone("picked", &format!("{picked} assert(u.n != 0);"), Property::Assert, true);
    alone("overflows", &format!("{input} int k = n + 1; return k > 0;"), Property::Overflow, false);
    let small = format!("{input} __VERIFIER_assume(n < 1000); int k = n + 1; return k > 0;");
    alone("small", &small, Property::Overflow, true);
    let sized = "unsigned char n = __VERIFIER_nondet_uchar(); __VERIFIER_assume(n > 0 && n < 5);
        char *p = malloc(n); p[n - 1] = 1; free(p);";
    alone("sized", sized, Property::Memory, true);
    let table = format!(
        "{input} int (*f[2])(int) = {{ abs, abs }}; unsigned i = n; __VERIFIER_assume(n != -2147483647 - 1);
         assert(f[i % 2](n) >= 0);"
    );
    alone("table", &table, Property::Assert, true);
    let steps =
        "unsigned n = __VERIFIER_nondet_uint(), i = 0; while (i < 20) { if (n & 1) n = 3 * n + 1;
        i++; } assert(i == 20);";
    alone("steps", steps, Property::Assert, true);
}

/// A path of a million instructions needs no depth.
#[test]
fn paths_may_be_long() {
    let text = "int x; static void *f(void *a) { for (int i = 0; i < 50000; i++) x++; return 0; }
        int main(void) { START(one, f); for (unsigned i = 0, k = 0; i < 100000; i++) k += i; JOIN(one);
        assert(x == 50000); }";
    let verdict = verify(&program("long", text), Property::Assert, None);
    assert_eq!(verdict.conclusion(), Conclusion::Safe, "{:?}", verdict.reason);
    assert_eq!(verdict.counts.executions, 1);
    assert!(verdict.counts.events >= 100_000, "{:?}", verdict.counts);
}

/// Paths without an end, and what is wrong needs few threads and few rounds.
#[test]
fn shallow_violations_are_found_beside_endless_paths() {
    let unsure = "int n; static void *f(void *a) { LOCK(m); n = 1; UNLOCK(m); return 0; }
        int main(void) { pthread_t t; while (__VERIFIER_nondet_int()) START(t, f); n = 2; }";
    expect("threads-race", unsure, Property::Race, false);
    let rounds = "int n; static void *f(void *a) { while (__VERIFIER_nondet_int()) { LOCK(m); n++;
        if (__VERIFIER_nondet_int()) n = 0; UNLOCK(m); } return 0; }
        int main(void) { START(one, f); START(two, f); while (__VERIFIER_nondet_int()) { LOCK(m);
        UNLOCK(m); } n = 2; }";
    expect("rounds-race", rounds, Property::Race, false);
    let counts =
        "int n; static void *f(void *a) { LOCK(m); n++; assert(n != 2); UNLOCK(m); return 0; }
        int main(void) { pthread_t t; while (__VERIFIER_nondet_int()) START(t, f); }";
    expect("threads-counted", counts, Property::Assert, false);
    // As many threads as there is room for: few of them are enough.
    let room = "int n; static void *f(void *a) { n = 1; return 0; }
        int main(void) { int k = __VERIFIER_nondet_int(); __VERIFIER_assume(k >= 0);
        pthread_t *t = malloc(k * sizeof *t); for (int i = 0; i < k; i++) START(t[i], f);
        for (int i = 0; i < k; i++) JOIN(t[i]); }";
    expect("threads-in-table", room, Property::Race, false);
}

/// Whoever goes on after a violation finds others, and each once, though searches begin again.
#[test]
fn searches_that_begin_again_find_each_violation_once() {
    let text = "int x, y; static void *f(void *a) { x = 1; LOCK(m); y = 1; UNLOCK(m); return 0; }
        int main(void) { pthread_t t; while (__VERIFIER_nondet_int()) START(t, f); y = 2; }";
    let control = Control::lasting(Duration::from_secs(3));
    let options =
        Options { properties: vec![Property::Race], all: true, control, ..Options::default() };
    let verdict = search(&program("each-once", text), &model("sc"), &options);
    let pairs = verdict.violations.iter().map(|violation| {
        let events = &violation.execution.events;
        let places = violation.involved.iter().map(|event| events[*event as usize].place.clone());
        let mut places: Vec<String> = places.map(|place| format!("{place:?}")).collect();
        places.sort();
        places
    });
    let mut pairs: Vec<Vec<String>> = pairs.collect();
    pairs.sort();
    let found = pairs.len();
    pairs.dedup();
    assert_eq!((found, pairs.len()), (2, 2), "{pairs:?}");
}

/// Searches to a depth are not the whole: what was cut off is looked at in the end.
#[test]
fn deep_violations_are_found_too() {
    let text = "int n, x; static void *f(void *a) { for (int i = 0; i < 600; i++) { LOCK(m); n++; UNLOCK(m); }
        x = 1; return 0; }
        int main(void) { START(one, f); LOCK(m); UNLOCK(m); return x; }";
    let program = program("deep", text);
    let control = Control::lasting(Duration::from_secs(30));
    let options =
        Options { properties: vec![Property::Race], steps: 8, control, ..Options::default() };
    let verdict = search(&program, &model("sc"), &options);
    assert_eq!(verdict.conclusion(), Conclusion::Unsafe, "{:?}", verdict.reason);
}

/// Work that a thread does by itself is accounted for, so that others who search beside get their turn.
#[test]
fn long_computations_are_work() {
    struct Sum(std::sync::atomic::AtomicU64);
    impl parallax_control::Gate for Sum {
        fn spend(&self, work: u64) {
            self.0.fetch_add(work, std::sync::atomic::Ordering::Relaxed);
        }
    }
    let text = "int main(void) { unsigned k = __VERIFIER_nondet_uint() & 1;
        for (unsigned i = 0, j = 0; i < 3000000; i++) j += i; assert(k < 2); }";
    let program = program("busy", text);
    let sum = Sum(Default::default());
    let control = Control { gate: Some(&sum), ..Control::lasting(Duration::from_secs(30)) };
    let options = Options { properties: vec![Property::Assert], control, ..Options::default() };
    assert_eq!(search(&program, &model("sc"), &options).conclusion(), Conclusion::Safe);
    assert!(sum.0.into_inner() > 100_000_000);
}

/// Paths without an end, and few states.
#[test]
fn loops_that_take_inputs_end() {
    let both = "int main(void) { START(one, f); START(two, f); JOIN(one); JOIN(two); }";
    let alone = "int s; int main(void) { while (__VERIFIER_nondet_int()) {
        s = __VERIFIER_nondet_int(); assert(s != 3 || s > 0); } }";
    let locked = "int s, f1; static void *f(void *a) { while (__VERIFIER_nondet_int()) { LOCK(m);
        s = __VERIFIER_nondet_int(); f1 = s > 0; assert(!f1 || s > 0); UNLOCK(m); } return 0; }";
    let counts = "int s; static void *f(void *a) { while (__VERIFIER_nondet_int()) { LOCK(m);
        int n = __VERIFIER_nondet_int(); if (n > 7 && s < 3) s++; assert(s < BOUND); UNLOCK(m); }
        return 0; }";
    // A thread that never comes back from what is only its own: others see what it did before.
    let lost = "int x; static void *f(void *a) { x = 1; int k = 0;
        while (1) { if (__VERIFIER_nondet_int()) k = 1 - k; } return 0; }
        int main(void) { START(one, f); assert(x == 0); }";
    let cases = [
        ("alone", alone.to_string(), true),
        ("lost", lost.to_string(), false),
        ("locked", format!("{locked}{both}"), true),
        ("counts", format!("#define BOUND 4\n{counts}{both}"), true),
        ("counts-far", format!("#define BOUND 3\n{counts}{both}"), false),
    ];
    for (name, text, is_safe) in cases {
        let program = program(&format!("endless-{name}"), &text);
        for model in ["sc", "tso", "pso"] {
            let verdict = verify_under(model, &program, Property::Assert, None);
            let expected = if is_safe { Conclusion::Safe } else { Conclusion::Unsafe };
            assert_eq!(verdict.conclusion(), expected, "{name}, {model}: {:?}", verdict.reason);
            if is_safe {
                assert_eq!(verdict.scope, Some(Scope::Complete), "{name}, {model}");
            }
        }
    }
}

/// Stores that others see late, with inputs for values.
#[test]
fn stores_wait_in_buffers() {
    let both = "int main(void) { n = __VERIFIER_nondet_int(); START(one, f); START(two, g);
        JOIN(one); JOIN(two); assert(CHECK); }";
    let buffering = "int n, x, y, a, b; static void *f(void *p) { x = n; FENCE a = y; return 0; }
        static void *g(void *p) { y = n; FENCE b = x; return 0; }
        #define CHECK n == 0 || a != 0 || b != 0\n";
    let message = "int n, x, y, a, b; static void *f(void *p) { x = n; y = 1; return 0; }
        static void *g(void *p) { a = y; b = x; return 0; }
        #define CHECK a == 0 || b == n\n";
    let buffering = buffering.replace("        #define", "#define");
    let message = message.replace("        #define", "#define");
    let fence = "#define FENCE __atomic_thread_fence(__ATOMIC_SEQ_CST);\n";
    let cases = [
        ("buffering", format!("#define FENCE\n{buffering}{both}"), [true, false, false]),
        ("fenced", format!("{fence}{buffering}{both}"), [true, true, true]),
        ("message", format!("{message}{both}"), [true, true, false]),
    ];
    for (name, text, safe) in cases {
        let program = program(&format!("late-{name}"), &text);
        for (model, is_safe) in ["sc", "tso", "pso"].into_iter().zip(safe) {
            let verdict = verify_under(model, &program, Property::Assert, None);
            let expected = if is_safe { Conclusion::Safe } else { Conclusion::Unsafe };
            assert_eq!(verdict.conclusion(), expected, "{name}, {model}: {:?}", verdict.reason);
        }
    }
}

/// What each primitive orders does not race, and what it lets pass is seen, with an input for the data.
#[test]
fn primitives_order_accesses() {
    let head = "#include <semaphore.h>\n#include <stdatomic.h>\n#include <threads.h>\nint d, n;\n";
    let both = "int main(void) { INIT n = __VERIFIER_nondet_int(); START(one, f); START(two, g);
        JOIN(one); JOIN(two); }";
    let writes = "static void *f(void *a) { BEFORE_F d = n; AFTER_F return 0; }\n";
    let reads = "static void *g(void *a) { BEFORE_G assert(d == n); AFTER_G return 0; }\n";
    let cases = [
        ("flag", "atomic_int p;", "", "", "p = 1;", "while (!p) ;", ""),
        ("semaphore", "sem_t s;", "sem_init(&s, 0, 0);", "", "sem_post(&s);", "sem_wait(&s);", ""),
        (
            "barrier",
            "pthread_barrier_t b;",
            "pthread_barrier_init(&b, 0, 2);",
            "",
            "pthread_barrier_wait(&b);",
            "pthread_barrier_wait(&b);",
            "",
        ),
        (
            "condition",
            "pthread_cond_t c = PTHREAD_COND_INITIALIZER; int ready;",
            "",
            "LOCK(m);",
            "ready = 1; pthread_cond_signal(&c); UNLOCK(m);",
            "LOCK(m); while (!ready) pthread_cond_wait(&c, &m);",
            "UNLOCK(m);",
        ),
        (
            "swap",
            "atomic_int p;",
            "",
            "",
            "int e = 0; while (!atomic_compare_exchange_weak(&p, &e, 1)) e = 0;",
            "int e = 1; if (!atomic_compare_exchange_strong(&p, &e, 2)) return 0;",
            "",
        ),
        (
            "rwlock",
            "pthread_rwlock_t w = PTHREAD_RWLOCK_INITIALIZER; int ready;",
            "",
            "pthread_rwlock_wrlock(&w);",
            "ready = 1; pthread_rwlock_unlock(&w);",
            "pthread_rwlock_rdlock(&w); if (!ready) { pthread_rwlock_unlock(&w); return 0; }",
            "pthread_rwlock_unlock(&w);",
        ),
        (
            "spin",
            "pthread_spinlock_t l; int ready;",
            "pthread_spin_init(&l, 0);",
            "pthread_spin_lock(&l);",
            "ready = 1; pthread_spin_unlock(&l);",
            "pthread_spin_lock(&l); if (!ready) { pthread_spin_unlock(&l); return 0; }",
            "pthread_spin_unlock(&l);",
        ),
        (
            "trylock",
            "int ready;",
            "",
            "LOCK(m);",
            "ready = 1; UNLOCK(m);",
            "if (pthread_mutex_trylock(&m)) return 0; if (!ready) { UNLOCK(m); return 0; }",
            "UNLOCK(m);",
        ),
        (
            "once",
            "pthread_once_t o = PTHREAD_ONCE_INIT; static void init(void) { d = n; }",
            "",
            "",
            "",
            "pthread_once(&o, init);",
            "",
        ),
    ];
    for (name, globals, init, before, after, first, last) in cases {
        let writes = match name {
            "once" => "static void *f(void *a) { pthread_once(&o, init); return 0; }\n".to_string(),
            _ => writes.replace("BEFORE_F", before).replace("AFTER_F", after),
        };
        let reads = reads.replace("BEFORE_G", first).replace("AFTER_G", last);
        let text = format!("{head}{globals}\n{writes}{reads}{}", both.replace("INIT", init));
        // The names of the head are taken.
        let text = text.replace("pthread_spinlock_t l;", "pthread_spinlock_t q;");
        let text = match name {
            "spin" => text.replace("(&l", "(&q"),
            _ => text,
        };
        for property in [Property::Race, Property::Assert, Property::Deadlock] {
            let program = program(&format!("primitive-{name}"), &text);
            for order in [None, Some(1), Some(2)] {
                let verdict = verify(&program, property, order);
                let told = format!("{name}, {property}, {order:?}: {:?}", verdict.reason);
                assert_eq!(verdict.conclusion(), Conclusion::Safe, "{told}");
            }
        }
        let bare = text.replace("d == n", "d == n + 1 && n == 0");
        let program = program(&format!("primitive-{name}-bad"), &bare);
        let verdict = verify(&program, Property::Assert, None);
        assert_eq!(verdict.conclusion(), Conclusion::Unsafe, "{name}: {:?}", verdict.reason);
    }
}

#[test]
fn writes_beside_a_lock_leave_it_held() {
    let locks = "static struct { pthread_mutex_t l; int v; } b[3] = {
            {PTHREAD_MUTEX_INITIALIZER, 0}, {PTHREAD_MUTEX_INITIALIZER, 0},
            {PTHREAD_MUTEX_INITIALIZER, 0}};
        static void *f(void *a) {
            unsigned k = __VERIFIER_nondet_uint() % 3; LOCK(b[k].l); b[k].v = 3; UNLOCK(b[k].l);
            return 0; }
        int main(void) { START(one, f); f(0); JOIN(one); return 0; }";
    expect("lock-index", locks, Property::Lock, true);
    let over = "static union { pthread_mutex_t l; int words[10]; } b;
        int main(void) {
            pthread_mutex_init(&b.l, 0); unsigned k = __VERIFIER_nondet_uint() % 10;
            LOCK(b.l); b.words[k] = 0; UNLOCK(b.l); return 0; }";
    expect("lock-overwritten", over, Property::Lock, false);
}
