//! Random programs with loops that wait, in all the ways in which a loop can: exploration with its
//! reductions, exploration without them up to a few rounds, and the search through states give
//! the same answers, property by property.

#[path = "common/random.rs"]
#[allow(dead_code)]
mod random;

use std::sync::Arc;
use std::time::Duration;

use parallax_control::Control;
use parallax_engine_explore as explore;
use parallax_engine_states as states;
use parallax_memory::Model;
use parallax_program::{Program, Property, parse_program};
use parallax_verdict::{Conclusion, Reason, Scope, Verdict};
use random::Random;

/// How many programs are tried; more when asked for.
fn cases(usual: u64) -> u64 {
    let asked = std::env::var("PARALLAX_CASES").ok().and_then(|cases| cases.parse().ok());
    asked.unwrap_or(usual)
}

fn first() -> u64 {
    let asked = std::env::var("PARALLAX_SEED").ok().and_then(|seed| seed.parse().ok());
    asked.unwrap_or(0)
}

/// A statement of a thread; `n` makes its labels different from others'.
fn statement(random: &mut Random, n: u64) -> String {
    let order = |random: &mut Random| match random.below(4) {
        0 => ("[A, ACQ]", "[A, REL]"),
        1 => ("[A, SC]", "[A, SC]"),
        _ => ("[A, RLX]", "[A, RLX]"),
    };
    let (g, h) = (random.pick(&["x", "y"]), random.pick(&["x", "y"]));
    let (c, d) = (random.below(3), random.below(3));
    let (load, store) = order(random);
    let (_, again) = order(random);
    match random.below(21) {
        0..=2 => format!("store.4 &{g}, {c}:32 {store}\n"),
        3 => format!("r = load.4 &{g} {load}\n"),
        4 => "store.4 &d, 1:32 [NA]\n".to_string(),
        5 => "r = load.4 &d [NA]\n".to_string(),
        6 => format!(
            "wait{n}:\nr = load.4 &{g} {load}\nbranch r == {c}:32, end{n}, wait{n}\nend{n}:\n"
        ),
        7 => format!(
            "wait{n}:\nr = load.4 &{g} {load}\ns = load.4 &{h} {load}\n\
             branch (r == {c}:32) | (s == {d}:32), end{n}, wait{n}\nend{n}:\n"
        ),
        // A round that stores the same again, somewhere, or to what only the thread sees.
        8 => format!(
            "wait{n}:\nr = load.4 &{g} {load}\nbranch r == {c}:32, end{n}, more{n}\nmore{n}:\n\
             store.4 &{h}, {d}:32 {again}\njump wait{n}\nend{n}:\n"
        ),
        9 => format!(
            "p = alloc.stack.zeroed 4:64 align 4\n\
             wait{n}:\nr = load.4 &{g} {load}\nbranch r == {c}:32, end{n}, more{n}\nmore{n}:\n\
             store.4 p, {d}:32 [NA]\njump wait{n}\nend{n}:\n"
        ),
        10 => format!(
            "wait{n}:\nr = load.4 &{g} {load}\nbranch r == {c}:32, end{n}, more{n}\nmore{n}:\n\
             store.4 &z, {d}:32 {again}\njump wait{n}\nend{n}:\n"
        ),
        // A round that looks at data, in one order or the other.
        11 => format!(
            "wait{n}:\nr = load.4 &{g} {load}\nbranch r == {c}:32, end{n}, more{n}\nmore{n}:\n\
             s = load.4 &d [NA]\njump wait{n}\nend{n}:\n"
        ),
        12 => format!(
            "wait{n}:\ns = load.4 &d [NA]\nr = load.4 &{g} {load}\n\
             branch r == {c}:32, end{n}, wait{n}\nend{n}:\n"
        ),
        13 => format!(
            "wait{n}:\nr, ok = cas.4 &{g}, {c}:32, {d}:32 {load} {store} [A, RLX]\n\
             branch ok, end{n}, wait{n}\nend{n}:\n"
        ),
        14 => format!(
            "wait{n}:\nr = rmw.swap.4 &l, 1:32 [A, ACQ] [A, RLX]\n\
             branch r == 0:32, end{n}, wait{n}\nend{n}:\nr = load.4 &d [NA]\n\
             store.4 &d, 2:32 [NA]\nstore.4 &l, 0:32 {store}\n"
        ),
        // A lock that is never given back.
        15 => "_, ok = cas.4 &l, 0:32, 1:32 [A, ACQ] [A, ACQ] [A, RLX]\nwait ok\n".to_string(),
        16 => format!(
            "_, ok = cas.4 &l, 0:32, 1:32 [A, ACQ] [A, ACQ] [A, RLX]\nwait ok\n\
             store.4 &{g}, {c}:32 {store}\nstore.4 &l, 0:32 [A, REL]\n"
        ),
        17 => format!(
            "out{n}:\nr = load.4 &{g} {load}\nbranch r == {c}:32, end{n}, in{n}\nin{n}:\n\
             s = load.4 &{h} {load}\nbranch s == {d}:32, out{n}, in{n}\nend{n}:\n"
        ),
        18 => format!("wait{n}:\nr = call looks()\nbranch r == {c}:32, end{n}, wait{n}\nend{n}:\n"),
        // A round that looks while it holds a lock.
        19 => format!(
            "wait{n}:\n_, ok = cas.4 &l, 0:32, 1:32 [A, ACQ] [A, ACQ] [A, RLX]\nwait ok\n\
             r = load.4 &{g} {load}\nstore.4 &l, 0:32 [A, REL]\n\
             branch r == {c}:32, end{n}, wait{n}\nend{n}:\n"
        ),
        // What is behind a pointer that another thread may free.
        _ => match random.below(3) {
            0 => format!(
                "p = load.8 &q {load}\nbranch p == 0:64, end{n}, free{n}\nfree{n}:\n\
                 store.8 &q, 0:64 {store}\nfree.heap p\nend{n}:\n"
            ),
            1 => format!(
                "p = load.8 &q {load}\nbranch p == 0:64, end{n}, wait{n}\n\
                 wait{n}:\nr = load.4 &{g} {load}\nbranch r == {c}:32, end{n}, more{n}\nmore{n}:\n\
                 s = load.4 p [NA]\njump wait{n}\nend{n}:\n"
            ),
            _ => format!("p = alloc.heap.zeroed 4:64 align 4\nstore.8 &q, p {store}\n"),
        },
    }
}

fn program(random: &mut Random) -> (String, Program) {
    let mut text = String::from(
        "program p pointers 64\nglobal x: 4\nglobal y: 4\nglobal z: 4\nglobal d: 4\nglobal l: 4\n\
         global q: 8\nfn looks() -> 32 {\nvar r: 32\nr = load.4 &x [A, RLX]\nreturn r\n}\n",
    );
    let threads = 2 + random.below(2);
    for thread in 0..threads {
        let most = if threads == 2 { 4 } else { 2 };
        let body: String =
            (0..1 + random.below(most)).map(|number| statement(random, number)).collect();
        text += &format!("fn P{thread}() {{\nvar r: 32, s: 32, ok: 1, p: 64\n{body}return\n}}\n");
    }
    (0..threads).for_each(|thread| text += &format!("thread P{thread} = P{thread}()\n"));
    let program = parse_program("p", &text).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"));
    (text, program)
}

fn model(name: &str) -> Arc<Model> {
    Model::builtin(name).expect("a model").expect("a right model")
}

fn limits() -> Control<'static> {
    Control::lasting(Duration::from_millis(500))
}

/// Whether the property is violated, where the answer says that of all executions.
fn answer(verdict: &Verdict, shown: &dyn Fn() -> String) -> Option<bool> {
    if let Some(reason) = &verdict.reason {
        assert!(!reason.message.contains("replayed"), "{}: {}", shown(), reason.message);
    }
    match (verdict.conclusion(), verdict.scope) {
        (Conclusion::Unsafe, _) => Some(true),
        (Conclusion::Safe, Some(Scope::Complete)) => Some(false),
        _ => None,
    }
}

fn explored(program: &Program, name: &str, property: Property, reduces: bool) -> Verdict {
    let reductions = match reduces {
        true => explore::Reductions::ALL,
        false => explore::Reductions::NONE,
    };
    let options = explore::Options {
        properties: vec![property],
        reductions,
        unroll: Some(if reduces { 6 } else { 3 }),
        control: limits(),
        ..Default::default()
    };
    explore::explore(program, &model(name), &options).expect("explored")
}

fn searched(program: &Program, name: &str, property: Property) -> Verdict {
    let options =
        states::Options { properties: vec![property], control: limits(), ..Default::default() };
    states::search(program, &model(name), &options).expect("searched")
}

/// How many comparisons there were, and how many of them of programs that are not safe.
#[derive(Default)]
struct Seen {
    compared: u64,
    open: u64,
    bad: u64,
}

impl Seen {
    fn compare(&mut self, one: Option<bool>, other: Option<bool>, shown: &dyn Fn() -> String) {
        match (one, other) {
            (Some(one), Some(other)) => {
                assert_eq!(one, other, "{}", shown());
                self.compared += 1;
                self.bad += u64::from(one);
            }
            _ => self.open += 1,
        }
    }

    fn check(&self, what: &str) {
        let Seen { compared, open, bad } = self;
        println!("{what}: {compared} compared, {bad} of them bad, {open} open");
        assert!(*bad * 20 > *compared, "{what}: too few are bad");
        assert!(*compared > *open, "{what}: too many are open");
    }
}

/// Without reductions, loops that wait are cut: an answer is one for so many rounds, and a violation
/// that needs no more is found.
fn up_to(verdict: &Verdict, shown: &dyn Fn() -> String) -> Option<bool> {
    match verdict.conclusion() {
        Conclusion::Safe => Some(false),
        _ => answer(verdict, shown),
    }
}

#[test]
fn reductions_change_no_answer() {
    let mut seen = Seen::default();
    for seed in first()..first() + cases(40) {
        let (text, program) = program(&mut Random::new(seed));
        for name in ["sc", "rc11", "tso"] {
            for property in
                [Property::Race, Property::Memory, Property::Liveness, Property::Deadlock]
            {
                let shown = || format!("seed {seed}, {name}, {property}:\n{text}");
                let with = answer(&explored(&program, name, property, true), &shown);
                let without = up_to(&explored(&program, name, property, false), &shown);
                seen.compare(with, without, &shown);
            }
        }
    }
    seen.check("with and without reductions");
}

#[test]
fn both_engines_agree_who_waits() {
    let mut seen = Seen::default();
    for seed in first()..first() + cases(60) {
        let (text, program) = program(&mut Random::new(seed + 1_000_000));
        for name in ["sc", "tso", "pso"] {
            for property in [Property::Memory, Property::Liveness, Property::Deadlock] {
                let shown = || format!("seed {seed}, {name}, {property}:\n{text}");
                let explored = answer(&explored(&program, name, property, true), &shown);
                let searched = answer(&searched(&program, name, property), &shown);
                seen.compare(explored, searched, &shown);
            }
        }
    }
    seen.check("exploration and states");
}

/// Who waits in an atomic section for a lock holds up the thread that has it, whatever that is about to do.
#[test]
fn a_section_that_waits_for_a_lock_holds_up_who_has_it() {
    let take = "_, ok = cas.4 &l, 0:32, 1:32 [A, ACQ] [A, ACQ] [A, RLX]\nwait ok\n";
    let text = format!(
        "program p pointers 64\nglobal l: 4\nglobal x: 4\n\
         fn P0() {{\nvar ok: 1\natomic begin\n{take}store.4 &l, 0:32 [A, REL]\natomic end\n\
         return\n}}\n\
         fn P1() {{\nvar ok: 1, r: 32\n{take}r = load.4 &x [A, SC]\nstore.4 &l, 0:32 [A, REL]\n\
         return\n}}\n\
         thread P0 = P0()\nthread P1 = P1()\n"
    );
    let program = parse_program("p", &text).expect("a program");
    let verdict = searched(&program, "sc", Property::Deadlock);
    assert_eq!(verdict.conclusion(), Conclusion::Unsafe, "{:?}", verdict.reason);
    // What gives the lock back may be on its way, and takes effect at some time in a real machine.
    for name in ["tso", "pso"] {
        let verdict = searched(&program, name, Property::Deadlock);
        let reason = verdict.reason.as_ref().map_or("", |reason| &reason.message);
        assert!(reason.contains("on their way"), "{name}: {reason}");
    }
}

/// A thread that takes a lock in each round waits for no lock that it has given back, though that may not have
/// taken effect yet.
#[test]
fn what_is_on_its_way_may_be_what_a_thread_waits_for() {
    let text = "program p pointers 64\nglobal l: 4\nglobal x: 4\n\
        fn P0() {\nvar r: 32, ok: 1\n\
        loop:\n_, ok = cas.4 &l, 0:32, 1:32 [A, ACQ] [A, ACQ] [A, RLX]\nwait ok\n\
        store.4 &l, 0:32 [A, REL]\nr = load.4 &x [A, RLX]\n\
        branch r == 1:32, end, loop\nend:\nreturn\n}\n\
        fn P1() {\nvar r: 32\nr = load.4 &x [A, RLX]\nreturn\n}\n\
        thread P0 = P0()\nthread P1 = P1()\n";
    let program = parse_program("p", text).expect("a program");
    for name in ["sc", "tso", "pso"] {
        let verdict = searched(&program, name, Property::Liveness);
        let reason = verdict.reason.as_ref().map_or("", |reason| &reason.message);
        assert!(reason.contains("change memory on the way"), "{name}: {reason}");
    }
}

/// A thread that goes through a large array, all by itself: few states that take long each.
#[test]
fn limits_hold_however_long_a_state_takes() {
    let text = "program p pointers 64\nfn main() {\nvar a: 64, n: 64\n\
                a = alloc.stack 1073741824:64 align 8\nn = 0:64\njump again\nagain:\n\
                store.8 a + n, 1:64 [NA]\nn = n + 8:64\nbranch n == 1073741824:64, done, again\n\
                done:\nfree.stack a\n}\nthread main = main()\n";
    let program = parse_program("p", text).expect("a program");
    let control = Control::lasting(Duration::from_millis(300));
    let start = std::time::Instant::now();
    let options = states::Options { control, ..Default::default() };
    let verdict = states::search(&program, &model("sc"), &options).expect("searched");
    assert_eq!(verdict.reason.map(|reason| reason.message).as_deref(), Some("out of time"));
    assert!(start.elapsed() < Duration::from_secs(60));
}

/// A thread that waits for a lock while another goes round for ever never takes it in that order of
/// steps; in the other order the two wait for one another.
#[test]
fn a_lock_that_is_never_taken_may_come_first() {
    let text = "program p pointers 64\nglobal l: 4\nglobal x: 4\nglobal y: 4\n\
        fn P0() {\nvar r: 32, s: 32, ok: 1\n\
        _, ok = cas.4 &l, 0:32, 1:32 [A, ACQ] [A, ACQ] [A, RLX]\nwait ok\n\
        loop:\nr = load.4 &x [A, SC]\ns = load.4 &y [A, SC]\n\
        branch (r == 1:32) | (s == 1:32), end, loop\nend:\nreturn\n}\n\
        fn P1() {\nvar ok: 1\n\
        _, ok = cas.4 &l, 0:32, 1:32 [A, ACQ] [A, ACQ] [A, RLX]\nwait ok\n\
        _, ok = cas.4 &l, 0:32, 1:32 [A, ACQ] [A, ACQ] [A, RLX]\nwait ok\nreturn\n}\n\
        thread P0 = P0()\nthread P1 = P1()\n";
    let program = parse_program("p", text).expect("a program");
    for name in ["sc", "tso", "pso"] {
        let verdict = searched(&program, name, Property::Deadlock);
        assert_eq!(verdict.conclusion(), Conclusion::Unsafe, "{name}: {:?}", verdict.reason);
    }
}

/// A thread that goes round a loop all by itself for so many rounds, and fails then.
fn rounds_of_its_own(rounds: u64, before: &str, after: &str) -> Program {
    let text = format!(
        "program p pointers 64\nglobal x: 4\nfn main() {{\nvar a: 64, n: 32, r: 32\n\
         a = alloc.stack 8:64 align 8\n{before}\nn = 0:32\njump again\nagain:\n\
         store.8 a, 1:64 [NA]\nn = n + 1:32\nbranch n == {rounds}:32, done, again\ndone:\n\
         {after}\nfree.stack a\n}}\nthread main = main()\n"
    );
    parse_program("p", &text).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"))
}

/// Whether something wrong is found, which may have too many events to be shown.
fn is_seen(verdict: &Verdict, what: &str) -> bool {
    let seems = |reason: &Reason| {
        reason.message.contains("seems to violate") && reason.message.contains(what)
    };
    verdict.conclusion() == Conclusion::Unsafe || verdict.reason.as_ref().is_some_and(seems)
}

/// Others get to look from time to time, which is no round of a loop that changes nothing: wherever that
/// happens, and whatever the thread stands at.
#[test]
fn who_goes_on_alone_for_long_does_not_wait() {
    for rounds in [65_534, 65_535, 65_536, 70_000] {
        let after = "r = load.4 &x [A, SC]\nassert r == 1:32, \"one\"";
        let program = rounds_of_its_own(rounds, "", after);
        let verdict = states::search(&program, &model("sc"), &states::Options::default());
        let verdict = verdict.expect("searched");
        assert!(is_seen(&verdict, "(one)"), "{rounds}: {:?}", verdict.reason);
    }
}

/// Somebody who is alone in a loop that does nothing for others, and changes nothing, never ends.
#[test]
fn who_goes_round_alone_for_ever_never_ends() {
    let program = rounds_of_its_own(
        1,
        "jump for_ever\nfor_ever:\nstore.8 a, 2:64 [NA]\njump for_ever\nnever:",
        "",
    );
    let control = Control::lasting(Duration::from_secs(60));
    let properties = vec![Property::Liveness];
    let options = states::Options { control, properties, ..Default::default() };
    let verdict = states::search(&program, &model("sc"), &options).expect("searched");
    assert!(is_seen(&verdict, "for ever"), "{:?}", verdict.reason);
}

/// A thread that does nothing but wait for its empty buffer, again and again: for ever, or more often than that is done at once.
#[test]
fn rounds_of_fences_come_to_an_end_or_to_the_same_state() {
    let text = |until: &str| {
        format!(
            "program p pointers 64\nglobal x: 4\nfn P0() {{\nvar k: 32\njump again\nagain:\n\
             fence [SC]\nk = k + 1:32\nbranch {until}, end, again\nend:\nassert k == 0:32, \"end\"\n}}\n\
             fn P1() {{\nvar r: 32\nr = load.4 &x [A, SC]\nassert r == 0:32, \"zero\"\n}}\n\
             thread P0 = P0()\nthread P1 = P1()\n"
        )
    };
    for name in ["tso", "pso"] {
        let model = Model::builtin(name).expect("a model").expect("a right model");
        let counts = text("k == 1000:32");
        let goes_round = text("k == 0:32").replace("k = k + 1:32", "k = 1:32");
        for (text, expected) in [(counts, Conclusion::Unsafe), (goes_round, Conclusion::Safe)] {
            let program = parse_program("p", &text).unwrap_or_else(|it| panic!("{text}\n{it:?}"));
            let options = states::Options {
                properties: vec![Property::Assert],
                control: Control::lasting(Duration::from_secs(60)),
                ..Default::default()
            };
            let found = states::search(&program, &model, &options).expect("searched");
            assert_eq!(found.conclusion(), expected, "{name}: {:?}", found.reason);
        }
    }
}
