//! Assertions that hold by their own functions, each with a twin that does not.

use parallax_engine_static::Claim;

const HEADER: &str = "extern void reach_error(void); \
    static void keep(int c) { if (!c) abort(); } \
    static void check(int c) { if (!c) reach_error(); } \
    static int any(void) { return __VERIFIER_nondet_int(); }\n";

/// Any number of threads that run `w`.
const MANY: &str = "int main(void) { pthread_t t; while (1) pthread_create(&t, 0, w, 0); }";

/// A claim is proved of a program, and not if a part of it is another one.
fn turns(claim: Claim, text: &str, part: &str, other: &str) {
    assert!(text.contains(part), "{part}");
    let whole = |text: &str| format!("{HEADER}{text}\n{MANY}");
    assert!(super::holds(claim, &whole(text)), "{text}");
    assert!(!super::holds(claim, &whole(&text.replace(part, other))), "{other}\n{text}");
}

#[test]
fn a_sum_is_guarded_by_both_of_its_parts() {
    let claim = Claim::NoOverflow;
    let text = "int s; int plus(int a, int b) { keep(b >= 0 || a >= -2147483648LL - b); \
        keep(b <= 0 || a <= 2147483647 - b); return a + b; } \
        void *w(void *p) { for (int i = 0; i < any(); i++) s = plus(s, any()); return 0; }";
    turns(claim, text, "b >= 0", "b >= -1");
    turns(claim, text, "2147483647 - b)", "2147483647 - b || a == 7)");
    turns(claim, text, "keep(b <= 0", "if (any()) keep(b <= 0");
    turns(claim, text, "return a + b", "a = any(); return a + b");
}

#[test]
fn conditions_of_callers_count() {
    let claim = Claim::NoFailure;
    let text = "void *w(void *p) { int x = any(), y = any(), z; if (x == y) z = 0; else z = 1; \
        if (z == 0) check(y == x); else check(y != x); return 0; }";
    turns(claim, text, "z == 0", "z == 1");
    turns(claim, text, "if (z == 0)", "y++; if (z == 0)");
    // Of two callers, one does not see to it.
    turns(claim, text, "return 0; }", "check(x); return 0; }");
    let loops = "void *w(void *p) { int x = any(); for (;;) { int y = any(); if (y <= x) continue; \
        check(x < y); x = y; } return 0; }";
    turns(claim, loops, "check(x < y); x = y;", "x = any(); check(x < y);");
    turns(claim, loops, "continue;", "y = 3;");
}

#[test]
fn memory_stays_as_it_is_in_an_atomic_section() {
    let claim = Claim::NoOverflow;
    let text = "int end, at, other; void *w(void *p) { __VERIFIER_atomic_begin(); end = any(); \
        __VERIFIER_atomic_end(); __VERIFIER_atomic_begin(); int ok = at < end; other = 1; \
        if (ok) at++; __VERIFIER_atomic_end(); return 0; }";
    turns(claim, text, "other = 1;", "__VERIFIER_atomic_end(); __VERIFIER_atomic_begin();");
    turns(claim, text, "other = 1;", "at = any();");
    turns(claim, text, "at < end", "at <= end");
    // A pointer leads to what was shown to somebody, and only there.
    let text = text
        .replace("other = 1;", "*to = any();")
        .replace("int end, at, other;", "int end, at, other, *to;");
    let text = text.replace("end = any();", "end = any(); to = &other;");
    turns(claim, &text, "to = &other;", "to = &at;");
}

#[test]
fn each_thread_has_an_element_of_what_is_its_own() {
    let claim = Claim::NoRace;
    let text = "_Thread_local int own; void *w(void *p) { own = 1; if (own) own++; return 0; }";
    turns(claim, text, "_Thread_local int own", "int own");
}
