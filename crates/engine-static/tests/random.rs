//! Random programs with locks, joins, pointers, arrays and calls through pointers: what the analysis
//! proves, exploration finds no race in. `PARALLAX_RANDOM=N` tries so many, from `PARALLAX_SEED` on.

mod support;

use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use parallax_control::Control;
use parallax_engine_explore::{Options as Exploration, explore};
use parallax_engine_static::{Claim, Conclusion, prove, prove_defined};
use parallax_memory::Model;
use parallax_program::{Program, Property};
use parallax_verdict::Conclusion as Found;

/// Numbers that look random (G. Marsaglia, "Xorshift RNGs", 2003).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % sides
    }

    fn is_lucky(&mut self, percent: u64) -> bool {
        self.roll(100) < percent
    }
}

const HEADER: &str = "#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
extern void reach_error(void);
struct box { pthread_mutex_t lock; int a, b; };
struct box boxes[2] = {{PTHREAD_MUTEX_INITIALIZER, 0, 0}, {PTHREAD_MUTEX_INITIALIZER, 0, 0}};
pthread_mutex_t m[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
int x, y, z[2];
atomic_int f;
int *p = &x;
struct box *heap;
void up(int *at) { ++*at; }
void down(int *at) { --*at; }
void (*const table[2])(int *) = {up, down};
_Thread_local int own;
int *mine;
struct node { struct node *next; int v; } *head;
void put(int v) { struct node *n = malloc(sizeof *n); n->v = v; pthread_mutex_lock(&m[1]); n->next = head; head = n; pthread_mutex_unlock(&m[1]); }
int sum(struct node *n) { return n ? n->v + sum(n->next) : 0; }
void *leaf(void *arg) { pthread_mutex_lock(&m[0]); *(int *)arg += 1; pthread_mutex_unlock(&m[0]); return 0; }
void bump(struct box *box) { pthread_mutex_lock(&box->lock); box->a++; pthread_mutex_unlock(&box->lock); }
void give(struct box *box) { pthread_mutex_unlock(&box->lock); }
int into(struct box *box, int *at) { pthread_mutex_lock(&box->lock); int r = (*at)++; pthread_mutex_unlock(&box->lock); return r; }
";

/// What protects each of the variables, if the program keeps to it.
const PLACES: [(&str, &str); 8] = [
    ("x", "m[0]"),
    ("y", "m[1]"),
    ("z[0]", "m[0]"),
    ("z[1]", "m[1]"),
    ("boxes[0].a", "boxes[0].lock"),
    ("boxes[1].a", "boxes[1].lock"),
    ("heap->b", "heap->lock"),
    ("*p", "m[0]"),
];

/// A statement in which the lock that belongs to a place is held, or, rarely, not.
fn statement(dice: &mut Dice, care: u64) -> String {
    let (place, lock) = PLACES[dice.roll(8) as usize];
    let access = match dice.roll(6) {
        0 => format!("{place} = {};", dice.roll(3)),
        1 => format!("r += {place};"),
        2 => format!("table[{}](&{place});", dice.roll(2)),
        3 => format!("if ({place}) {place} = 0;"),
        4 => format!("{{ int *q = &{place}; *q += 1; }}"),
        _ => format!("{place}++;"),
    };
    let lock = match dice.is_lucky(care) {
        true => lock,
        false => PLACES[dice.roll(8) as usize].1,
    };
    let held = format!("pthread_mutex_lock(&{lock}); {access} pthread_mutex_unlock(&{lock});");
    match dice.roll(34) {
        0 => format!(
            "if (pthread_mutex_trylock(&{lock}) == 0) {{ {access} pthread_mutex_unlock(&{lock}); }}"
        ),
        1 => "f++;".to_string(),
        2 => "pthread_rwlock_rdlock(&l); r += *p; pthread_rwlock_unlock(&l);".to_string(),
        3 => format!("r += into(&boxes[{0}], &boxes[{0}].a);", dice.roll(2)),
        4 => "{ int *own = malloc(4); *own = 1; up(own); r += *own; free(own); }".to_string(),
        5 => "if (r) { pthread_mutex_lock(&m[0]); } if (r) { x++; pthread_mutex_unlock(&m[0]); }"
            .to_string(),
        6 if !dice.is_lucky(care) => access,
        7 if !dice.is_lucky(care) => format!(
            "int c = r & 1; if (c) pthread_mutex_lock(&{lock}); {access} if (c) pthread_mutex_unlock(&{lock});"
        ),
        8 => "z[(long)arg & 1] += 0 * r;".to_string(),
        9 => format!(
            "{{ int k; for (k = 0; k < 2; k++) {{ pthread_mutex_lock(&m[k]); z[{}] += k; pthread_mutex_unlock(&m[k]); }} }}",
            if dice.is_lucky(care) { "k" } else { "0" }
        ),
        10 => match dice.is_lucky(care) {
            true => "pthread_mutex_lock(&m[1]); r += sum(head); pthread_mutex_unlock(&m[1]);"
                .to_string(),
            false => "r += sum(head);".to_string(),
        },
        11 => format!("put({});", dice.roll(4)),
        12 => match dice.is_lucky(care) {
            true => "own += r; r += own;".to_string(),
            false => "mine = &own; r += *mine;".to_string(),
        },
        13 => format!(
            "pthread_mutex_lock(&m[0]); p = {}; *p += 1; pthread_mutex_unlock(&m[0]);",
            if dice.is_lucky(care) { "&z[0]" } else { "&y" }
        ),
        14 => {
            let joins = if dice.is_lucky(care) { "pthread_join(u, 0);" } else { "" };
            format!(
                "{{ pthread_t u; int k = 0; pthread_create(&u, 0, leaf, {}); {joins} r += {}; }}",
                ["&k", "&x", "&y"][dice.roll(3) as usize],
                ["k", "0"][dice.roll(2) as usize]
            )
        }
        15 => format!(
            "pthread_rwlock_{}lock(&l); {} pthread_rwlock_unlock(&l);",
            if dice.is_lucky(care) { "wr" } else { "rd" },
            ["boxes[0].b++;", "r += boxes[0].b;"][dice.roll(2) as usize]
        ),
        16 => "bump(&boxes[r & 1]);".to_string(),
        17 => match dice.is_lucky(care) {
            true => "int k = r & 1; pthread_mutex_lock(&boxes[k].lock); boxes[k].a++; pthread_mutex_unlock(&boxes[k].lock);".to_string(),
            false => "int k = r & 1; pthread_mutex_lock(&boxes[k].lock); boxes[1 - k].a++; pthread_mutex_unlock(&boxes[k].lock);".to_string(),
        },
        18 => format!("struct box *b = &boxes[r & 1]; pthread_mutex_lock(&b->lock); {} give(b);", if dice.is_lucky(care) { "b->a += 2;" } else { "give(b); b->a += 2; pthread_mutex_lock(&b->lock);" }),
        19 => format!("struct box *c = (struct box *)((char *)&boxes[r & 1].b - offsetof(struct box, b)); {}", if dice.is_lucky(care) { "bump(c);" } else { "c->a++;" }),
        20 => format!("int k = r & 1; int *q = &z[1] - (1 - k); pthread_mutex_lock(&m[{0}]); *q += 1; pthread_mutex_unlock(&m[{0}]);", if dice.is_lucky(care) { "k" } else { "0" }),
        21 => "struct box *c = calloc(2, sizeof *c); for (int k = 0; k < 2; k++) pthread_mutex_init(&c[k].lock, 0); bump(&c[r & 1]); r += c[1].a; free(c);".to_string(),
        22 => {
            let other = if dice.is_lucky(care) { "m[1]" } else { "boxes[1].lock" };
            format!("int two[2]; pthread_mutex_lock(&m[0]); pthread_mutex_lock(&{other}); memcpy(two, z, sizeof z); pthread_mutex_unlock(&{other}); pthread_mutex_unlock(&m[0]); r += two[1];")
        }
        23 => format!("pthread_mutex_lock(&m[{0}]); z[r]++; pthread_mutex_unlock(&m[{0}]);", if dice.is_lucky(care) { "r" } else { "0" }),
        24 => "struct box *b = r > 1 ? 0 : &boxes[0]; pthread_mutex_lock(&b->lock); b->a--; pthread_mutex_unlock(&b->lock);".to_string(),
        _ => held,
    }
}

fn text(seed: u64) -> String {
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let care = [100, 90, 60][dice.roll(3) as usize];
    let mut text = HEADER.to_string();
    let threads = 2 + dice.roll(2);
    for thread in 0..threads {
        let _ = writeln!(text, "void *w{thread}(void *arg) {{ int r = (long)arg != 0;");
        for _ in 0..1 + dice.roll(2) {
            let _ = writeln!(text, "  {{ {} }}", statement(&mut dice, care));
        }
        let _ = writeln!(text, "  return (void *)(long)r; }}");
    }
    let _ = writeln!(text, "int main(void) {{ pthread_t t[4]; int r = 0; void *arg = 0;");
    let _ = writeln!(text, "  heap = calloc(1, sizeof *heap); x = 1; heap->b = 2;");
    let joined_early = dice.roll(4);
    for thread in 0..threads {
        let which = if dice.is_lucky(70) { thread } else { 0 };
        let _ = writeln!(text, "  pthread_create(&t[{thread}], 0, w{which}, (void *){thread}L);");
        if thread == joined_early {
            let _ = writeln!(text, "  pthread_join(t[{thread}], 0);");
        }
    }
    if dice.is_lucky(50) {
        let _ = writeln!(text, "  {{ {} }}", statement(&mut dice, care));
    }
    for thread in (0..threads).filter(|thread| *thread != joined_early) {
        let _ = writeln!(text, "  pthread_join(t[{thread}], 0);");
        if dice.is_lucky(20) {
            let _ = writeln!(text, "  r += x;");
        }
    }
    let (place, bound) = (PLACES[dice.roll(8) as usize].0, dice.roll(6));
    let _ = writeln!(text, "  if ({place} > {bound} || r < 0) reach_error();");
    let _ = writeln!(text, "  return r + x + z[0] + boxes[1].a + heap->b; }}");
    text
}

/// What is kept by locks: each variable, and the ways to hold what belongs to it.
const KEPT: [(&str, [(&str, &str); 3]); 5] = [
    (
        "x",
        [
            ("pthread_mutex_lock(&m[0]);", "pthread_mutex_unlock(&m[0]);"),
            (
                "pthread_mutex_lock(&m[0]); pthread_mutex_lock(&m[1]);",
                "pthread_mutex_unlock(&m[1]); pthread_mutex_unlock(&m[0]);",
            ),
            (
                "pthread_mutex_lock(&m[1]); pthread_mutex_lock(&m[0]);",
                "pthread_mutex_unlock(&m[1]); pthread_mutex_unlock(&m[0]);",
            ),
        ],
    ),
    (
        "boxes[0].a",
        [
            ("pthread_mutex_lock(&boxes[0].lock);", "pthread_mutex_unlock(&boxes[0].lock);"),
            (
                "if (pthread_mutex_trylock(&boxes[0].lock)) return 0;",
                "pthread_mutex_unlock(&boxes[0].lock);",
            ),
            (
                "pthread_mutex_lock(&boxes[0].lock); __VERIFIER_atomic_begin();",
                "__VERIFIER_atomic_end(); pthread_mutex_unlock(&boxes[0].lock);",
            ),
        ],
    ),
    (
        "y",
        [
            ("pthread_rwlock_wrlock(&l);", "pthread_rwlock_unlock(&l);"),
            ("pthread_rwlock_rdlock(&l);", "pthread_rwlock_unlock(&l);"),
            (
                "pthread_rwlock_wrlock(&l); pthread_mutex_lock(&m[1]);",
                "pthread_mutex_unlock(&m[1]); pthread_rwlock_unlock(&l);",
            ),
        ],
    ),
    (
        "boxes[1].b",
        [
            ("get();", "back();"),
            ("get(); pthread_mutex_lock(&m[1]);", "pthread_mutex_unlock(&m[1]); back();"),
            ("get();", "if (r) { back(); return 0; } back();"),
        ],
    ),
    (
        "z[1]",
        [
            ("__VERIFIER_atomic_begin();", "__VERIFIER_atomic_end();"),
            ("__VERIFIER_atomic_begin();", "__VERIFIER_atomic_end(); if (r) return 0;"),
            (
                "pthread_mutex_lock(&m[0]); __VERIFIER_atomic_begin();",
                "__VERIFIER_atomic_end(); pthread_mutex_unlock(&m[0]);",
            ),
        ],
    ),
];

/// A critical section that leaves its variable as it should be, or, rarely, not.
fn section(dice: &mut Dice, care: u64) -> String {
    let (place, ways) = KEPT[dice.roll(5) as usize];
    let (take, give) = ways[dice.roll(3) as usize];
    // Those who share a lock do not write.
    let is_shared = take.contains("rdlock") && dice.is_lucky(care);
    let mut body = String::new();
    for _ in 0..1 + dice.roll(2) {
        let part = match dice.roll(9) {
            _ if is_shared => format!("if ({place} != 0) reach_error();"),
            0 => format!("{place}++; {place}--;"),
            1 => format!("{place} = {}; {place} = 0;", 1 + dice.roll(2)),
            2 => format!("int *q = &{place}; *q += 2; up(q); {place} = *q - 3;"),
            3 => format!("if ({place} == 1) {place} = 0; else {place} += r - r;"),
            4 if !dice.is_lucky(care) => format!("{place} = 1;"),
            5 if !dice.is_lucky(care) => format!("{place}++; {give} {take} {place}--;"),
            6 if !dice.is_lucky(care) => format!("{place} = 1; if (r) return 0; {place} = 0;"),
            7 if !dice.is_lucky(care) => format!("{place}++; pthread_exit(0);"),
            _ => format!("if ({place} != 0) reach_error();"),
        };
        let _ = write!(body, "{{ {part} }} ");
    }
    match dice.is_lucky(care) {
        true => format!("{take} {body}{give}"),
        false => body,
    }
}

fn sections(seed: u64) -> String {
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let care = [100, 90, 60][dice.roll(3) as usize];
    let mut text = format!(
        "{HEADER}extern void __VERIFIER_atomic_begin(void);\n\
         extern void __VERIFIER_atomic_end(void);\nextern void __VERIFIER_assume(int);\n\
         int busy;\n\
         void get(void) {{ __VERIFIER_atomic_begin(); __VERIFIER_assume(!busy); busy = 1; __VERIFIER_atomic_end(); }}\n\
         void back(void) {{ __VERIFIER_atomic_begin(); busy = 0; __VERIFIER_atomic_end(); }}\n"
    );
    let threads = 1 + dice.roll(2);
    for thread in 0..threads {
        let _ = writeln!(text, "void *w{thread}(void *arg) {{ int r = (long)arg != 0;");
        for _ in 0..1 + dice.roll(2) {
            let _ = writeln!(text, "  {{ {} }}", section(&mut dice, care));
        }
        let _ = writeln!(text, "  return 0; }}");
    }
    let _ = writeln!(text, "int main(void) {{ pthread_t t[4]; int r = 0;");
    let is_held = dice.is_lucky(20);
    if is_held {
        let _ = writeln!(text, "  pthread_mutex_lock(&m[0]); x = 1;");
    }
    for thread in 0..2 {
        let which = thread % threads;
        let _ = writeln!(text, "  pthread_create(&t[{thread}], 0, w{which}, (void *){thread}L);");
    }
    if is_held {
        let _ = writeln!(text, "  x = {}; pthread_mutex_unlock(&m[0]);", dice.roll(6) / 5);
    }
    let joins = dice.is_lucky(60);
    if dice.is_lucky(50) {
        let _ = writeln!(text, "  {{ {} }}", section(&mut dice, care));
    }
    if joins {
        let _ = writeln!(text, "  pthread_join(t[0], 0); pthread_join(t[1], 0);");
        let place = KEPT[dice.roll(5) as usize].0;
        let _ = writeln!(text, "  if ({place} != 0) reach_error();");
    }
    let _ = writeln!(text, "  return 0; }}");
    text
}

/// What a lock keeps is what exploration finds there, whoever gives it back in the middle.
#[test]
fn what_locks_keep_is_what_is_there() {
    let (first, count) = (number("PARALLAX_SEED", 1), number("PARALLAX_RANDOM", 60));
    let (mut proved, mut failing) = (0, 0);
    for seed in first..first + count {
        let text = sections(seed);
        let program = support::program(&text);
        let proof = prove_defined(&program, Claim::NoFailure, &Control::default());
        let is_proved = matches!(proof.conclusion, Conclusion::Proved);
        let found = violates(&program, "sc", Property::Assert);
        assert!(!(is_proved && found == Some(true)), "seed {seed}\n{text}");
        proved += u64::from(is_proved);
        failing += u64::from(found == Some(true));
    }
    println!("{count} programs: {proved} proved, {failing} that fail");
    assert!(proved * 5 >= count && failing * 30 >= count, "{proved}, {failing} of {count}");
}

/// Whether exploration finds a race; None if it does not come to its end.
fn races(program: &Program) -> Option<bool> {
    violates(program, "rc11", Property::Race)
}

fn violates(program: &Program, model: &str, property: Property) -> Option<bool> {
    let model = Model::builtin(model).expect("a model").expect("a good model");
    let options = Exploration {
        properties: vec![property],
        control: Control::lasting(Duration::from_secs(4)),
        ..Exploration::default()
    };
    let verdict = explore(program, &model, &options).unwrap_or_else(|error| panic!("{error:?}"));
    match verdict.conclusion() {
        Found::Safe => Some(false),
        Found::Unsafe => Some(true),
        Found::Unknown => None,
    }
}

fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

#[test]
fn what_is_proved_has_no_race() {
    let (first, count) = (number("PARALLAX_SEED", 1), number("PARALLAX_RANDOM", 24));
    let (mut proved, mut racy, mut open) = (0, 0, 0);
    for seed in first..first + count {
        let text = text(seed);
        let program = support::program(&text);
        let conclusion = prove(&program, Claim::NoRace, &Control::default()).conclusion;
        let defined = prove_defined(&program, Claim::NoRace, &Control::default()).conclusion;
        let found = races(&program);
        let is_defined = matches!(defined, Conclusion::Proved);
        assert!(!(is_defined && found == Some(true)), "seed {seed}: if defined\n{text}");
        let is_proved =
            !matches!(conclusion, Conclusion::Suspected { .. } | Conclusion::Lost { .. });
        assert!(!(is_proved && found == Some(true)), "seed {seed}: {conclusion:?}\n{text}");
        proved += u64::from(matches!(conclusion, Conclusion::Proved));
        racy += u64::from(found == Some(true));
        open += u64::from(found.is_none());
    }
    println!(
        "{count} programs: {proved} proved, {racy} with a race, {open} that exploration cannot decide"
    );
    assert!(proved * 10 > count && racy * 20 > count, "{proved} proved, {racy} racy of {count}");
}

/// An error that is never reached is not found by exploration, under a model that has no races.
#[test]
fn what_is_proved_does_not_fail() {
    let (first, count) = (number("PARALLAX_SEED", 1), number("PARALLAX_RANDOM", 24));
    let (mut proved, mut failing) = (0, 0);
    for seed in first..first + count {
        let text = text(seed);
        let program = support::program(&text);
        let proof = prove_defined(&program, Claim::NoFailure, &Control::default());
        let is_proved = matches!(proof.conclusion, Conclusion::Proved);
        let found = violates(&program, "sc", Property::Assert);
        assert!(!(is_proved && found == Some(true)), "seed {seed}\n{text}");
        proved += u64::from(is_proved);
        failing += u64::from(found == Some(true));
    }
    println!("{count} programs: {proved} proved, {failing} that fail");
    assert!(proved * 24 >= count && failing * 24 >= count, "{proved}, {failing} of {count}");
}

/// Whoever follows null pointers, leaves arrays, or comes too late is not proved.
#[test]
fn what_is_proved_has_no_memory_error() {
    let (first, count) = (number("PARALLAX_SEED", 1), number("PARALLAX_RANDOM", 24));
    let (mut proved, mut wrong) = (0, 0);
    for seed in first..first + count {
        // What is made on the heap may leak, so that nothing is said of it.
        let text = text(seed).replace("heap = calloc(1, sizeof *heap);", "heap = &boxes[0];");
        let text = if seed % 2 == 0 { text.replace("z[2];", "z[1];") } else { text };
        let program = support::program(&text);
        let proof = prove_defined(&program, Claim::NoMemoryError, &Control::default());
        let is_proved = matches!(proof.conclusion, Conclusion::Proved);
        let found = violates(&program, "sc", Property::Memory);
        assert!(!(is_proved && found == Some(true)), "seed {seed}\n{text}");
        proved += u64::from(is_proved);
        wrong += u64::from(found == Some(true));
    }
    println!("{count} programs: {proved} proved, {wrong} with an error");
    assert!(proved * 24 >= count && wrong * 24 >= count, "{proved}, {wrong} of {count}");
}

/// The examples, of which many have no lock at all.
#[test]
#[ignore = "takes a minute"]
fn examples_that_are_proved_have_no_race() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/c");
    let mut files: Vec<_> = std::fs::read_dir(folder).expect("a folder").flatten().collect();
    files.sort_by_key(|file| file.path());
    let mut proved = 0;
    for file in files
        .iter()
        .map(|file| file.path())
        .filter(|path| path.extension().is_some_and(|it| it == "c"))
    {
        let program = support::load_file(&file);
        if let Conclusion::Proved = prove(&program, Claim::NoRace, &Control::default()).conclusion {
            proved += 1;
            assert_ne!(races(&program), Some(true), "{file:?}");
        }
    }
    assert!(proved >= 20, "{proved}");
}
