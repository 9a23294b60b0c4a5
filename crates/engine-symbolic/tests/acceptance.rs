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

fn model() -> Arc<Model> {
    Model::builtin("sc").expect("a model").expect("a right model")
}

fn verify(program: &Program, property: Property, order: Option<u64>) -> Verdict {
    let control = Control::lasting(Duration::from_secs(30));
    let options = Options {
        properties: vec![property],
        shuffles: order.is_some(),
        control: Control { seed: order.unwrap_or(0).wrapping_mul(0x9e37_79b9), ..control },
        ..Options::default()
    };
    search(program, &model(), &options)
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
