//! What threads do, seen as the list of their visible operations, and what is refused.

mod values;

use std::fmt::Write;

use parallax_program::{Expr, InstKind, Program, Tags, Terminator};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use crate::{Arch, LitmusTest, parse};

fn test(code: &str) -> LitmusTest {
    let text = format!("C t\n{{}}\n{code}\nexists (true)\n");
    match parse("t.litmus", &text) {
        Ok(test) => {
            assert_eq!(test.program.check(), Ok(()), "{code}");
            test
        }
        Err(errors) => panic!("{}", errors[0]),
    }
}

fn errors(code: &str) -> Vec<String> {
    let text = format!("C t\n{{}}\n{code}\nexists (true)\n");
    let errors = parse("t.litmus", &text).err().unwrap_or_default();
    let place = |error: &parallax_program::Diagnostic| {
        let location = error.location.as_ref().expect("a place");
        format!("{}:{}: {}", location.line, location.column, error.message)
    };
    errors.iter().map(place).collect()
}

/// The operations of the first thread, block by block.
fn operations(code: &str) -> String {
    listing(&test(code).program)
}

fn listing(program: &Program) -> String {
    let function = &program.functions[0];
    let mut out = String::new();
    for block in &function.blocks {
        for inst in &block.insts {
            let line = operation(program, &inst.kind);
            if !line.is_empty() {
                writeln!(out, "{line}").expect("written");
            }
        }
        match &block.terminator {
            Terminator::Branch { then, otherwise, join, .. } => {
                let label =
                    |id: parallax_program::BlockId| function.blocks[id.0 as usize].label.clone();
                let join = join.map_or("-".to_string(), label);
                let line = format!("{}? {} {}", label(*then), label(*otherwise), join);
                writeln!(out, "{line}").expect("written");
            }
            Terminator::Jump(_) | Terminator::Return(_) | Terminator::Exit => {}
        }
    }
    out
}

fn operation(program: &Program, kind: &InstKind) -> String {
    let place = |address: &Expr| match address {
        Expr::Address(id) => program.global(*id).name.clone(),
        _ => "?".to_string(),
    };
    let tags = |tags: &Tags| {
        let names: Vec<&str> = tags.iter().map(|tag| tag.as_str()).collect();
        names.join(",")
    };
    match kind {
        InstKind::Load { address, size, tags: t, .. } => {
            format!("R{} {} [{}]", size.bits(), place(address), tags(t))
        }
        InstKind::Store { address, size, tags: t, .. } => {
            format!("W{} {} [{}]", size.bits(), place(address), tags(t))
        }
        InstKind::Rmw { address, op, read_tags, write_tags, .. } => {
            let (read, write) = (tags(read_tags), tags(write_tags));
            format!("{op:?} {} [{read}] [{write}]", place(address))
        }
        InstKind::Cas { address, read_tags, write_tags, fail_tags, weak, .. } => {
            let name = if *weak { "Weak" } else { "Cas" };
            let (read, write, fail) = (tags(read_tags), tags(write_tags), tags(fail_tags));
            format!("{name} {} [{read}] [{write}] or [{fail}]", place(address))
        }
        InstKind::Fence { tags: t } => format!("F [{}]", tags(t)),
        InstKind::LoadLinked { tags: t, .. } => format!("LL [{}]", tags(t)),
        InstKind::StoreConditional { tags: t, .. } => format!("SC [{}]", tags(t)),
        InstKind::Nondet { .. } => "guess".to_string(),
        InstKind::Assume { .. } => "assume".to_string(),
        InstKind::Assign { .. } => String::new(),
        other => panic!("unexpected {other:?}"),
    }
}

#[track_caller]
fn does(body: &str, expected: &str) {
    let code = format!("P0(int *x, int *y, spinlock_t *l, struct srcu_struct *s) {{ {body} }}");
    let expected: Vec<&str> = expected.split(" / ").filter(|line| !line.is_empty()).collect();
    let found = operations(&code);
    assert_eq!(found.lines().collect::<Vec<_>>(), expected, "{body}");
}

/// A test whose dialect is C11 because of its fence.
#[track_caller]
fn does_c11(body: &str, expected: &str) {
    let body = format!("atomic_signal_fence(memory_order_relaxed); {body}");
    does(&body, expected);
}

#[test]
fn atomics_carry_their_orders() {
    does_c11("*x = 1;", "W32 x [NA]");
    does_c11("int r = atomic_load(x);", "R32 x [A,SC]");
    does_c11("int r = atomic_load_explicit(x, memory_order_acquire);", "R32 x [A,ACQ]");
    does_c11("atomic_store_explicit(x, 1, memory_order_release);", "W32 x [A,REL]");
    does_c11("atomic_init(x, 1);", "W32 x [NA]");
    does_c11("atomic_thread_fence(memory_order_acq_rel);", "F [ACQ_REL]");
    does_c11(
        "int r = atomic_fetch_sub_explicit(x, 1, memory_order_acq_rel);",
        "Sub x [A,ACQ_REL,RMW] [A,ACQ_REL,RMW]",
    );
    does_c11("atomic_exchange(x, 1);", "Swap x [A,RMW,SC] [A,RMW,SC]");
    does_c11(
        "atomic_flag_test_and_set_explicit(x, memory_order_relaxed); atomic_flag_clear(x);",
        "Swap x [A,RLX,RMW] [A,RLX,RMW] / W32 x [A,SC]",
    );
}

#[test]
fn a_failing_compare_and_swap_writes_what_it_found() {
    does_c11(
        "int r = atomic_compare_exchange_strong_explicit(x, y, 2, memory_order_acquire, \
         memory_order_relaxed);",
        "R32 y [NA] / Cas x [A,ACQ,RMW] [A,ACQ,RMW] or [A,RLX,RMW] / then? else end / W32 y [NA]",
    );
    does_c11(
        "int e = 0; int r = atomic_compare_exchange_weak(x, &e, 2);",
        "Weak x [A,RMW,SC] [A,RMW,SC] or [A,RMW,SC] / then? else end",
    );
}

#[test]
fn kernel_accesses_and_fences() {
    does(
        "int r0 = READ_ONCE(*x); WRITE_ONCE(*y, r0); *y = *x;",
        "R32 x [Once] / W32 y [Once] / R32 x [] / W32 y []",
    );
    does(
        "r0 = smp_load_acquire(x); smp_store_release(y, r0); smp_store_mb(*x, 2);",
        "R32 x [Acquire] / W32 y [Release] / W32 x [Once] / F [Mb]",
    );
    does(
        "rcu_read_lock(); r0 = rcu_dereference(*x); rcu_assign_pointer(*y, r0); \
         rcu_read_unlock(); synchronize_rcu(); smp_mb__before_atomic();",
        "F [Rcu-lock] / R32 x [Once] / W32 y [Release] / F [Rcu-unlock] / F [Sync-rcu] / \
         F [Before-atomic]",
    );
    does(
        "int r = srcu_read_lock(s); srcu_read_unlock(s, r); synchronize_srcu(s);",
        "R32 s [Srcu-lock] / W32 s [Srcu-unlock] / R32 s [Sync-srcu]",
    );
}

#[test]
fn kernel_read_modify_writes() {
    does(
        "atomic_inc(x); atomic_add(2, y);",
        "Add x [Noreturn,RMW] [Once,RMW] / Add y [Noreturn,RMW] [Once,RMW]",
    );
    does(
        "r0 = xchg(x, 1); r1 = xchg_acquire(y, 2);",
        "F [Mb] / Swap x [Once,RMW] [Once,RMW] / F [Mb] / Swap y [Acquire,RMW] [Once,RMW]",
    );
    does("r0 = atomic_sub_return_release(2, x);", "Sub x [Once,RMW] [RMW,Release]");
    does("r0 = cmpxchg_release(x, 0, 1);", "Cas x [Once,RMW] [RMW,Release] or [Once,RMW]");
    let cas = "Cas x [Once,RMW] [Once,RMW] or [Once,RMW]";
    does(
        "r0 = atomic_cmpxchg(x, 0, 1);",
        &format!("guess / then? else end / F [Mb] / {cas} / assume / F [Mb] / {cas} / assume"),
    );
    does(
        "r0 = atomic_add_unless(x, 1, 2);",
        "guess / then? else end / F [Mb] / LL [Once,RMW] / assume / SC [Once,RMW] / assume / \
         F [Mb] / R32 x [Once,RMW] / assume",
    );
}

#[test]
fn kernel_locks() {
    does(
        "spin_lock(l); spin_unlock(l); r0 = spin_trylock(l);",
        "Cas l [LK,LKR] [LK,LKW] or [LF] / assume / W32 l [UL] / \
         Cas l [LK,LKR] [LK,LKW] or [LF]",
    );
    does(
        "r0 = spin_is_locked(l);",
        "guess / then? else end / R32 l [RL] / assume / R32 l [RU] / assume",
    );
}

#[test]
fn control_dependencies_end_where_ways_meet() {
    does(
        "if (READ_ONCE(*x)) { WRITE_ONCE(*y, 1); } smp_mb();",
        "R32 x [Once] / then? end end / W32 y [Once] / F [Mb]",
    );
    does("if (READ_ONCE(*x)) return; smp_mb();", "R32 x [Once] / then? end - / F [Mb]");
    does(
        "while (READ_ONCE(*x) != 1) { smp_rmb(); } smp_mb();",
        "R32 x [Once] / body? done done / F [Rmb] / F [Mb]",
    );
    does(
        "do { r0 = READ_ONCE(*x); if (r0 == 2) break; } while (!r0); smp_mb();",
        "R32 x [Once] / then? end done / done? loop done / F [Mb]",
    );
    does("for (int i = 0; i < 2; i++) WRITE_ONCE(*x, i);", "body? done done / W32 x [Once]");
    does(
        "if (READ_ONCE(*x) && !READ_ONCE(*y)) smp_mb(); else smp_wmb();",
        "R32 x [Once] / second? else end / F [Mb] / F [Wmb] / R32 y [Once] / else? then end",
    );
    does(
        "again: if (READ_ONCE(*x)) goto again; smp_mb();",
        "R32 x [Once] / then? end end / F [Mb]",
    );
}

#[test]
fn values_of_logical_operators() {
    does("r0 = 1; r1 = r0 && 2 || !r0;", "");
    does("r0 = READ_ONCE(*x) || READ_ONCE(*y);", "R32 x [Once] / then? else end / R32 y [Once]");
    does("r0 = READ_ONCE(*x) ? READ_ONCE(*y) : 7;", "R32 x [Once] / then? else end / R32 y [Once]");
}

#[test]
fn functions_are_expanded() {
    let code = "static int get(int *p) { int r = READ_ONCE(*p); return r + 1; }\n\
                P0(int *x, int *y) { int r = get(x) + get(y); }";
    assert_eq!(operations(code), "R32 ? [Once]\nR32 ? [Once]\n");
    let names: Vec<String> = test(code).program.functions[0]
        .vars
        .iter()
        .map(|var| var.name.clone())
        .filter(|name| !name.starts_with('%'))
        .collect();
    assert_eq!(names, ["r", "p.1", "r.1", "p.2", "r.2"]);
}

#[test]
fn accesses_are_as_wide_as_their_location() {
    let wide = "P0(intptr_t *x, char *c) { WRITE_ONCE(*x, 1); WRITE_ONCE(*c, 1); \
                WRITE_ONCE(*(int *)x, 1); }";
    assert_eq!(operations(wide), "W64 x [Once]\nW8 c [Once]\nW64 x [Once]\n");
    // All locations are alike: an access through a cast pointer means one of them.
    let cast = "P0(int *x) { int *p = x; WRITE_ONCE(*(char **)p, (char *)1); }";
    assert_eq!(operations(cast), "W32 ? [Once]\n");
    // A pointer to one kind comes to point to the other: then all are one kind.
    let mixed = "P0(int **p, int *x) { WRITE_ONCE(*p, p); int *r = READ_ONCE(*p); *r = *x; }";
    let expected = "W64 p [Once]\nR64 p [Once]\nR64 x []\nW64 ? []\n";
    assert_eq!(operations(mixed), expected);
    let typed = "P0(int **p, int *x) { WRITE_ONCE(*p, x); int *r = READ_ONCE(*p); *r = 1; }";
    let expected = "W64 p [Once]\nR64 p [Once]\nW32 ? []\n";
    assert_eq!(operations(typed), expected);
}

#[test]
fn types_are_written_in_many_ways() {
    for (ty, bits) in [
        ("_Atomic int", 32),
        ("int _Atomic", 32),
        ("_Atomic(long)", 64),
        ("const volatile unsigned char", 8),
        ("long long unsigned int", 64),
        ("atomic_ushort", 16),
        ("atomic_uintptr_t", 64),
        ("int *volatile", 64),
        ("_Bool", 8),
    ] {
        let code = format!("P0({ty} *x) {{ *x = 1; }}");
        assert_eq!(operations(&code), format!("W{bits} x [NA]\n"), "{ty}");
    }
}

#[test]
fn the_dialect_is_decided_by_the_functions_used() {
    assert_eq!(test("P0(int *x) { *x = 1; }").arch, Arch::C);
    assert_eq!(test("P0(int *x) { smp_mb(); }").arch, Arch::Lkmm);
    assert_eq!(test("P0(atomic_t *x) { atomic_fetch_add(1, x); }").arch, Arch::Lkmm);
    assert_eq!(test("P0(atomic_int *x) { atomic_fetch_add(x, 1); }").arch, Arch::C);
    assert_eq!(test("P0(int *x) { atomic_store(x, 1); /* smp_mb */ }").arch, Arch::C);
}

#[test]
fn several_errors_are_reported_each_at_its_place() {
    let code = "P0(int *x) {\n  smp_mb(1);\n  frobnicate(x);\n  r0 = &r0;\n  x->next = 1;\n\
                  switch (r0) { }\n  return\n}\n#define A\nint g;\nP1(struct list *l) { }";
    assert_eq!(
        errors(code),
        [
            "4:3: 'smp_mb' takes 0 arguments, not 1",
            "5:3: unknown function 'frobnicate'",
            "6:9: local variables have no address",
            "7:4: members of structures are not supported",
            "8:1: 'switch' is not supported",
            "10:1: expected an expression, found '}'",
            "11:1: preprocessor directives are not supported",
            "12:5: 'g': declarations outside of functions are not supported",
            "13:4: type 'struct list' is not supported",
        ]
    );
}

#[test]
fn what_is_refused_by_name() {
    for (code, message) in [
        ("", "expected threads"),
        ("P0(int x) { }", "must be a pointer"),
        ("P0() { } P0() { }", "'P0' is defined twice"),
        ("P0(int *x) { int r; r = &r; }", "local variables have no address"),
        ("P0(int *x) { x = 1; }", "is the address of a shared variable"),
        ("P0(int *x) { READ_ONCE(x); }", "expected a place in memory"),
        ("P0(void *x) { int r = *x; }", "points to nothing known"),
        ("P0(int *x) { *y = 1; } P1(int *y) { }", "unknown variable 'y'"),
        ("P0() { f(); } void f() { int r = s; }", "unknown variable 's'"),
        ("P0() { goto out; }", "label 'out' is nowhere"),
        ("P0() { break; }", "'break' outside of a loop"),
        ("P0() { int r[2]; }", "arrays are not supported"),
        ("P0() { int r; long r; }", "declared with another type"),
        ("P0() { spinlock_t l; }", "must be shared"),
        ("P0() { f(); } void f() { f(); }", "'f' calls itself"),
        ("P0() { f(1); } int f() { return 1; }", "takes 0 arguments, not 1"),
        ("P0() { int r = f(); } void f() { }", "this has no value"),
        ("P0() { int r = 1.5; }", "floating-point"),
        ("P0() { int r = sizeof(unsigned char short); }", "name no type"),
        ("struct s { int a; }; P0() { }", "type 'struct s' is not supported"),
    ] {
        let errors = errors(code);
        let first = errors.first().map_or("", String::as_str);
        assert!(first.contains(message), "{code}: {errors:?}");
    }
}

#[test]
fn nesting_is_limited() {
    for (open, close) in [("(", ")"), ("-", ""), ("{", "}"), ("if (1) ", ""), ("*", "")] {
        let body = format!("{}1;{}", open.repeat(5000), close.repeat(5000));
        assert!(!errors(&format!("P0() {{ {body} }}")).is_empty(), "{open}");
    }
    let sum = format!("P0() {{ int r = 1{}; }}", " + 1".repeat(5000));
    assert!(errors(&sum)[0].contains("too long"));
}

proptest! {
    /// Whatever the text, there is a well-formed program or an error with a place.
    #[test]
    fn any_text_is_a_program_or_an_error(words in vec(select(WORDS), 0..60)) {
        let text = format!("C t\n{{}}\nP0(int *x, int *y) {{ {} }}\n", words.join(" "));
        match parse("t.litmus", &text) {
            Ok(test) => prop_assert_eq!(test.program.check(), Ok(())),
            Err(errors) => prop_assert!(errors.iter().all(|error| error.location.is_some())),
        }
    }
}

const WORDS: &[&str] = &[
    "int",
    "long",
    "r",
    "s",
    "x",
    "y",
    "*",
    "&",
    "(",
    ")",
    "{",
    "}",
    ";",
    ";",
    ",",
    "=",
    "==",
    "+",
    "-",
    "!",
    "&&",
    "||",
    "?",
    ":",
    "<<",
    "+=",
    "++",
    "0",
    "1",
    "0xffffffffff",
    "if",
    "else",
    "while",
    "do",
    "for",
    "break",
    "continue",
    "return",
    "goto",
    "L:",
    "L",
    "READ_ONCE(*x)",
    "WRITE_ONCE(*y, 1);",
    "cmpxchg(x, 0, 1)",
    "spin_trylock(x)",
    "smp_mb();",
    "(int)",
    "(int **)",
    "int r = 1;",
    "if (r)",
    "[",
    "]",
    "->",
    "sizeof(",
    "atomic_add_unless(x, 1, 2)",
];
