//! What can be wrong with a program, each kind once with it and once without.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parallax_control::{Control, Progress};
use parallax_engine_explore::{Options, Reductions, explore};
use parallax_memory::Model;
use parallax_program::{Property, parse_program};
use parallax_verdict::{Conclusion, Reason, Scope, Verdict};

fn model(name: &str) -> Arc<Model> {
    Model::builtin(name).expect("a model").expect("a right model")
}

fn verify(text: &str, name: &str) -> Verdict {
    let text = format!("program p pointers 64\nglobal x: 4\nglobal y: 4\n{text}");
    let program = parse_program("p", &text).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"));
    let options = Options { properties: Property::ALL.to_vec(), ..Options::default() };
    explore(&program, &model(name), &options).expect("explored")
}

/// The one violation, or why there is none.
fn found(text: &str, name: &str) -> (Option<Property>, String) {
    let verdict = verify(text, name);
    match (&verdict.violations[..], &verdict.reason) {
        ([violation], _) => (Some(violation.property), violation.message.clone()),
        ([], Some(reason)) => (None, reason.message.clone()),
        (other, _) => {
            assert!(other.is_empty(), "{other:?}");
            assert_eq!(verdict.conclusion(), Conclusion::Safe);
            (None, String::new())
        }
    }
}

fn expect(text: &str, name: &str, property: Property) {
    let (found, message) = found(text, name);
    assert_eq!(found, Some(property), "{message}");
}

fn expect_safe(text: &str, name: &str) {
    assert_eq!(found(text, name), (None, String::new()));
}

/// Message passing with these memory orders.
fn message_passing(store: &str, load: &str) -> String {
    format!(
        "fn writer() {{\nstore.4 &x, 1:32 [NA]\nstore.4 &y, 1:32 [A, {store}]\n}}\n\
         fn main() {{\nvar t: 32, f: 32, v: 32, g: 1\nt = spawn writer()\n\
         f = load.4 &y [A, {load}]\ng = f == 1:32\nbranch g, yes, no\nyes:\n\
         v = load.4 &x [NA]\nassert v == 1:32, \"seen\"\njump no\nno:\njoin t\n}}\n\
         thread main = main()\n"
    )
}

#[test]
fn races() {
    expect_safe(&message_passing("REL", "ACQ"), "rc11");
    expect(&message_passing("RLX", "ACQ"), "rc11", Property::Race);
    expect(&message_passing("REL", "RLX"), "rc11", Property::Race);
    expect_safe(&message_passing("RLX", "RLX"), "ra");
    expect_safe(&message_passing("RLX", "RLX"), "sc");
    expect_safe(&message_passing("RLX", "RLX"), "tso");
    expect(&message_passing("RLX", "RLX"), "pso", Property::Assert);
}

/// Message passing by relaxed accesses, with these fences.
fn fenced(release: &str, acquire: &str) -> String {
    format!(
        "fn writer() {{\nstore.4 &x, 1:32 [NA]\n{release}\nstore.4 &y, 1:32 [A, RLX]\n}}\n\
         fn main() {{\nvar t: 32, f: 32, v: 32, g: 1\nt = spawn writer()\n\
         f = load.4 &y [A, RLX]\n{acquire}\ng = f == 1:32\nbranch g, yes, no\nyes:\n\
         v = load.4 &x [NA]\nassert v == 1:32, \"seen\"\njump no\nno:\njoin t\n}}\n\
         thread main = main()\n"
    )
}

#[test]
fn fences_synchronise() {
    for name in ["rc11", "rc20"] {
        expect_safe(&fenced("fence [REL]", "fence [ACQ]"), name);
        expect_safe(&fenced("fence [ACQ_REL]", "fence [SC]"), name);
        expect(&fenced("fence [REL]", ""), name, Property::Race);
        expect(&fenced("", "fence [ACQ]"), name, Property::Race);
        expect(&fenced("fence [ACQ]", "fence [REL]"), name, Property::Race);
    }
}

/// Message passing by way of a third thread, which changes the flag like this.
fn passed_on(change: &str) -> String {
    format!(
        "fn writer() {{\nstore.4 &x, 1:32 [NA]\nstore.4 &y, 1:32 [A, REL]\n}}\n\
         fn helper() {{\nvar o: 32\n{change}\n}}\n\
         fn main() {{\nvar s: 32, t: 32, f: 32, v: 32, g: 1\n\
         s = spawn writer()\nt = spawn helper()\n\
         f = load.4 &y [A, ACQ]\ng = f == 3:32\nbranch g, yes, no\nyes:\n\
         v = load.4 &x [NA]\nassert v == 1:32, \"seen\"\njump no\nno:\njoin s\njoin t\n}}\n\
         thread main = main()\n"
    )
}

#[test]
fn read_modify_writes_continue_release_sequences() {
    for name in ["rc11", "rc20"] {
        expect_safe(&passed_on("o = rmw.add.4 &y, 2:32 [A, RLX] [A, RLX]"), name);
        expect(&passed_on("store.4 &y, 3:32 [A, RLX]"), name, Property::Assert);
    }
}

#[test]
fn endless_waits() {
    let waiting = |value: u32| {
        format!(
            "fn main() {{\nvar t: 32, f: 32, g: 1\nt = spawn setter()\nagain:\n\
             f = load.4 &y [A, ACQ]\ng = f == {value}:32\nbranch g, end, again\nend:\n\
             join t\n}}\nfn setter() {{\nstore.4 &y, 1:32 [A, REL]\n}}\nthread main = main()\n"
        )
    };
    expect_safe(&waiting(1), "rc11");
    expect(&waiting(2), "rc11", Property::Liveness);
}

/// Two threads that take two locks, in these orders.
fn philosophers(first: [&str; 2], second: [&str; 2]) -> String {
    let take = |lock: &str| {
        format!("_, ok = cas.4 &{lock}, 0:32, 1:32 [A, ACQ] [A, ACQ] [A, RLX]\nwait ok\n")
    };
    let give = |lock: &str| format!("store.4 &{lock}, 0:32 [A, REL]\n");
    let body =
        |locks: [&str; 2]| take(locks[0]) + &take(locks[1]) + &give(locks[1]) + &give(locks[0]);
    format!(
        "fn other() {{\nvar ok: 1\n{}}}\nfn main() {{\nvar t: 32, ok: 1\nt = spawn other()\n{}\
         join t\n}}\nthread main = main()\n",
        body(first),
        body(second)
    )
}

#[test]
fn deadlocks() {
    for name in ["sc", "tso", "rc11"] {
        expect_safe(&philosophers(["x", "y"], ["x", "y"]), name);
        expect(&philosophers(["x", "y"], ["y", "x"]), name, Property::Deadlock);
    }
}

#[test]
fn memory_errors() {
    let main = |body: &str| {
        format!(
            "fn main() {{\nvar p: 64, v: 32, t: 32\n{body}}}\nfn user(p: 64) {{\nvar v: 32\n\
             v = load.4 p [NA]\n}}\nthread main = main()\n"
        )
    };
    let alloc = "p = alloc.heap 8:64 align 8\n";
    let zeroed = "p = alloc.heap.zeroed 8:64 align 8\n";
    let free = "free.heap p\n";
    let memory = |body: &str| expect(&main(body), "rc11", Property::Memory);
    expect_safe(&main(&format!("{zeroed}v = load.4 p + 4:64 [NA]\n{free}")), "rc11");
    expect_safe(&main(&format!("{alloc}store.4 p, 1:32 [NA]\nv = load.4 p [NA]\n{free}")), "rc11");
    memory(&format!("{alloc}v = load.4 p [NA]\n{free}"));
    memory(&format!("{zeroed}v = load.4 p + 8:64 [NA]\n{free}"));
    memory(&format!("{zeroed}{free}v = load.4 p [NA]\n"));
    memory(&format!("{zeroed}{free}{free}"));
    memory(&format!("{zeroed}free.heap p + 4:64\n{free}"));
    memory("v = load.4 p [NA]\n");
    memory("p = &x\nfree.heap p\n");
    memory(&format!("{zeroed}t = spawn user(p)\n{free}"));
    expect_safe(&main(&format!("{zeroed}t = spawn user(p)\njoin t\n{free}")), "rc11");
    expect(&main(zeroed), "rc11", Property::Leak);
}

/// An object that one thread uses and another one frees, with a join in between or without.
#[test]
fn shared_objects_end_too_early_where_the_file_judges() {
    let text = |join: &str| {
        format!(
            "fn main() {{\nvar p: 64, t: 32\np = alloc.heap.zeroed 8:64 align 8\n\
             t = spawn user(p)\n{join}free.heap p\n}}\nfn user(p: 64) {{\nvar v: 32\n\
             v = load.4 p [A, RLX]\n}}\nthread main = main()\n"
        )
    };
    expect(&text(""), "imm", Property::Memory);
    expect_safe(&text("join t\n"), "imm");
}

#[test]
fn locking_errors() {
    let text = |owner: bool| {
        let take = "_, ok = cas.4 &x, 0:32, 1:32 [A, ACQ] [A, ACQ, LOCK_WRITE] [A, RLX]\nwait ok\n";
        let take = if owner { take } else { "" };
        format!(
            "fn main() {{\nvar ok: 1\n{take}store.4 &x, 0:32 [A, REL, UNLOCK]\n}}\n\
             thread main = main()\n"
        )
    };
    expect_safe(&text(true), "rc11");
    expect(&text(false), "rc11", Property::Lock);
}

/// The older one of two like threads waits after it has asked for its number, with an old value that
/// nobody gets any more; the younger one would fail with it.
#[test]
fn like_threads_differ_by_their_numbers_even_if_one_is_stuck() {
    let text = "fn storer() {\nstore.4 &x, 2:32 [A, RLX]\n}\nfn like() {\nvar r: 32\n\
                r = load.4 &x [A, RLX]\nbranch r == 1:32, old, end\nold:\nr = threadid\n\
                wait r == 3:32\nassert r == 2:32, \"third\"\nend:\nreturn\n}\n\
                fn main() {\nstore.4 &x, 1:32 [A, RLX]\nspawn storer()\nspawn like()\n\
                spawn like()\n}\nthread main = main()\n";
    for name in ["sc", "tso", "rc11"] {
        expect(text, name, Property::Assert);
    }
}

#[test]
fn what_cannot_be_followed_is_unknown() {
    let text = |call: &str| format!("fn main() {{\n{call}\n}}\nthread main = main()\n");
    let (property, message) = found(&text("call extern mystery()"), "rc11");
    assert_eq!((property, message.contains("mystery")), (None, true), "{message}");
    let (property, message) = found(&text("unsupported \"cpuid\""), "rc11");
    assert_eq!((property, message.contains("cpuid")), (None, true), "{message}");
}

#[test]
fn accesses_of_different_sizes() {
    let text = "fn main() {\nvar p: 64, w: 32, h: 16\np = alloc.heap.zeroed 8:64 align 8\n\
                store.4 p, 305419896:32 [NA]\nh = load.2 p + 2:64 [NA]\n\
                assert h == 4660:16, \"upper half\"\nstore.1 p + 1:64, 255:8 [NA]\n\
                w = load.4 p [NA]\nassert w == 305463160:32, \"one byte changed\"\n\
                free.heap p\n}\nthread main = main()\n";
    expect_safe(text, "rc11");
    expect_safe(text, "sc");
}

/// The search takes wide stores apart, and thinks of an end that has a part of each; the machine does not.
#[test]
fn stores_of_several_parts_are_no_error_of_the_engine() {
    let text = "fn narrow() {\nvar b: 64\nb = &x + 1:64\nstore.1 b, 0:8\nstore.4 &x, 257:32\n}\n\
        fn wide() {\nstore.4 &x, 0:32\n}\n\
        fn main() {\nvar s: 32, t: 32, v: 32\ns = spawn narrow()\nt = spawn wide()\n\
        join s\njoin t\nv = load.4 &x\nassert (v == 0:32) | (v == 257:32), \"whole\"\n}\n\
        thread main = main()\n";
    for name in ["sc", "tso", "pso"] {
        let (property, message) = found(text, name);
        assert_eq!(property, None);
        assert!(message.contains("mixed size"), "{name}: {message}");
    }
}

#[test]
fn atomic_sections_exclude_one_another() {
    let text = |begin: &str, end: &str| {
        let add = format!("{begin}v = load.4 &x [NA]\nstore.4 &x, v + 1:32 [NA]\n{end}");
        format!(
            "fn add() {{\nvar v: 32\n{add}}}\nfn main() {{\nvar t: 32, v: 32\n\
             t = spawn add()\natomic begin\nv = load.4 &x [NA]\nstore.4 &x, v + 1:32 [NA]\n\
             atomic end\njoin t\nv = load.4 &x [NA]\nassert v == 2:32, \"both\"\n}}\n\
             thread main = main()\n"
        )
    };
    for name in ["sc", "tso", "pso", "ra", "rc11"] {
        expect_safe(&text("atomic begin\n", "atomic end\n"), name);
    }
    for name in ["imm", "rc11-mca"] {
        let model = model(name).with_races_of_c().expect("a right model");
        let program = format!(
            "program p pointers 64\nglobal x: 4\n{}",
            text("atomic begin\n", "atomic end\n")
        );
        let program = parse_program("p", &program).expect("a program");
        let options = Options { properties: Property::ALL.to_vec(), ..Options::default() };
        let verdict = explore(&program, &model, &options).expect("explored");
        assert_eq!(verdict.conclusion(), Conclusion::Safe, "{name}: {:?}", verdict.violations);
    }
    let (property, message) = found(&text("", ""), "tso");
    assert_eq!((property, message.contains("atomic section")), (None, true), "{message}");
}

/// Nobody sees the middle of a section, and what is true at its end is found by who looks from outside.
#[test]
fn a_section_is_seen_when_it_is_over() {
    let text = |last: u32, wrong: u32| {
        format!(
            "fn w() {{\natomic begin\nstore.4 &x, 6:32 [A, RLX]\nstore.4 &x, {last}:32 [A, RLX]\n\
             atomic end\n}}\nfn main() {{\nvar v: 32\nspawn w()\nv = load.4 &x [A, RLX]\n\
             assert v != {wrong}:32, \"seen\"\n}}\nthread main = main()\n"
        )
    };
    for name in ["sc", "tso", "pso"] {
        assert_ne!(found(&text(5, 6), name).0, Some(Property::Assert), "{name}");
        assert_eq!(found(&text(5, 5), name).0, Some(Property::Assert), "{name}");
    }
    // Who never gets through a section keeps nobody from failing.
    let stuck = "fn w() {\nvar v: 32\natomic begin\nv = load.4 &x [A, RLX]\n\
                 assume v == 7:32\natomic end\n}\nfn main() {\nvar v: 32\nspawn w()\n\
                 store.4 &x, 1:32 [A, RLX]\nv = load.4 &x [A, RLX]\nassert v != 1:32, \"one\"\n}\n\
                 thread main = main()\n";
    assert_eq!(found(stuck, "sc").0, Some(Property::Assert));
}

/// Two threads that take a test-and-set lock; one that has it gives it back, or not.
fn test_and_set(gives_back: bool) -> String {
    let give = if gives_back { "store.4 &y, 0:32 [A, REL]\n" } else { "" };
    let body = format!(
        "again:\nold = rmw.swap.4 &y, 1:32 [A, ACQ]\nrounds = rounds + 1:32\nok = old == 0:32\n\
         branch ok, in, again\nin:\nv = load.4 &x [NA]\nstore.4 &x, v + 1:32 [NA]\n{give}"
    );
    let vars = "old: 32, rounds: 32, v: 32, ok: 1";
    format!(
        "fn other() {{\nvar {vars}\n{body}}}\nfn main() {{\nvar t: 32, {vars}\n\
         t = spawn other()\n{body}join t\nv = load.4 &x [NA]\nassert v == 2:32, \"both\"\n}}\n\
         thread main = main()\n"
    )
}

#[test]
fn exchanges_that_change_nothing_wait() {
    for name in ["sc", "tso", "pso", "ra", "rc11"] {
        expect_safe(&test_and_set(true), name);
        assert_eq!(verify(&test_and_set(true), name).counts.executions, 2, "{name}");
        expect(&test_and_set(false), name, Property::Liveness);
    }
}

#[test]
fn loops_are_bounded_where_that_is_asked_for() {
    let text = "program p pointers 64\nglobal x: 4\nglobal y: 4\nfn other() {\n\
                store.4 &x, 1:32 [A, SC]\n}\nfn main() {\nvar t: 32, v: 32, go: 1\n\
                t = spawn other()\nagain:\nv = load.4 &x [A, SC]\ngo = v == 0:32\n\
                branch go, more, end\nmore:\nrmw.add.4 &y, 1:32 [A, SC]\njump again\nend:\n\
                join t\n}\nthread main = main()\n";
    let program = parse_program("p", text).expect("a program");
    let options = Options { unroll: Some(2), ..Options::default() };
    let verdict = explore(&program, &model("sc"), &options).expect("explored");
    assert_eq!(verdict.conclusion(), Conclusion::Safe);
    assert_eq!(verdict.scope, Some(Scope::Bounded(2)));
}

#[test]
fn what_never_ends_is_not_safe() {
    let main = |body: &str| format!("fn main() {{\n{body}}}\nthread main = main()\n");
    expect(&main("again:\njump again\n"), "rc11", Property::Liveness);
    expect(&main("wait 0:1\n"), "rc11", Property::Deadlock);
    expect(&main("join 5:32\n"), "rc11", Property::Deadlock);
}

/// A thread that waits for x and puts what it sees on its stack; `place` says where that is to
/// those who ask, and `helper` is what another thread does.
fn waits_with_a_copy(place: &str, helper: &str) -> String {
    format!(
        "global p: 8\n\
         fn helper() {{\nvar a: 64, v: 32\n{helper}\nend:\n}}\n\
         fn main() {{\nvar t: 32, a: 64, v: 32\nt = spawn helper()\n\
         a = alloc.stack 4:64 align 4\nstore.4 a, 0:32 [A, RLX]\n{place}\njump again\nagain:\n\
         v = load.4 &x [A, RLX]\nstore.4 a, v [A, RLX]\nv = load.4 a [A, RLX]\n\
         branch v == 0:32, again, done\ndone:\njoin t\nfree.stack a\n}}\n\
         thread main = main()\n"
    )
}

#[test]
fn loops_that_store_what_is_there_on_their_stack_wait() {
    let sets = "store.4 &x, 1:32 [A, RLX]";
    for name in ["sc", "tso", "pso", "ra", "rc11"] {
        expect(&waits_with_a_copy("", ""), name, Property::Liveness);
        expect_safe(&waits_with_a_copy("", sets), name);
    }
}

#[test]
fn stores_to_a_stack_that_others_write_to_are_no_waiting() {
    let publishes = "store.8 &p, a [A, REL]";
    let helper = |does: &str| {
        format!(
            "look:\na = load.8 &p [A, ACQ]\nbranch a == 0:64, look, do\ndo:\n{does}\n\
             store.4 &x, 1:32 [A, RLX]"
        )
    };
    expect_safe(&waits_with_a_copy(publishes, &helper("v = load.4 a [A, RLX]")), "sc");
    let text = waits_with_a_copy(publishes, &helper("store.4 a, 7:32 [A, RLX]"));
    let text = format!("program p pointers 64\nglobal x: 4\nglobal y: 4\n{text}");
    let program = parse_program("p", &text).expect("a program");
    let count = |unroll: u32| {
        let options = Options { unroll: Some(unroll), ..Options::default() };
        let verdict = explore(&program, &model("sc"), &options).expect("explored");
        assert_eq!(verdict.scope, Some(Scope::Bounded(unroll)));
        verdict.counts.executions
    };
    assert!(count(1) < count(2) && count(2) < count(3));
}

/// A thread that looks at data as long as it waits for x, and then says so through y; and another,
/// which lets it go, waits for that and does something to the data.
fn hands_over(data: &str, order: [&str; 2], does: &str) -> String {
    let [store, load] = order;
    format!(
        "global d: 4\nfn main() {{\nvar t: 32, a: 64, v: 32, w: 32\n{data}\nt = spawn other(a)\n\
         jump again\nagain:\nv = load.4 &x [A, RLX]\nbranch v == 1:32, done, look\nlook:\n\
         w = load.4 a [NA]\njump again\ndone:\nstore.4 &y, 1:32 [A, {store}]\njoin t\n}}\n\
         fn other(a: 64) {{\nvar v: 32\nstore.4 &x, 1:32 [A, RLX]\nagain:\n\
         v = load.4 &y [A, {load}]\nbranch v == 1:32, done, again\ndone:\n{does}\n}}\n\
         thread main = main()\n"
    )
}

#[test]
fn rounds_that_change_nothing_race_and_use_what_is_freed() {
    let (relaxed, ordered) = (["RLX", "RLX"], ["REL", "ACQ"]);
    let writes = |order| hands_over("a = &d", order, "store.4 a, 1:32 [NA]");
    let heap = "a = alloc.heap.zeroed 4:64 align 4";
    let frees = |order| hands_over(heap, order, "free.heap a");
    expect(&writes(relaxed), "rc11", Property::Race);
    expect(&frees(relaxed), "rc11", Property::Memory);
    for name in ["rc11", "sc", "tso", "pso", "ra"] {
        expect_safe(&writes(ordered), name);
        expect_safe(&frees(ordered), name);
    }
}

/// Waits for x, and stores something in each round.
fn waits_and_stores(store: &str, helper: &str) -> String {
    format!(
        "fn helper() {{\nvar v: 32\n{helper}\n}}\nfn main() {{\nvar t: 32, v: 32\n\
         t = spawn helper()\njump again\nagain:\nv = load.4 &x [A, RLX]\n\
         branch v == 0:32, more, done\nmore:\n{store}\njump again\ndone:\njoin t\n}}\n\
         thread main = main()\n"
    )
}

#[test]
fn loops_that_store_the_same_again_wait() {
    let (sets, looks) = ("store.4 &x, 1:32 [A, RLX]", "v = load.4 &y [A, RLX]");
    for store in ["store.4 &y, 1:32 [A, RLX]", "store.4 &y, 1:32 [A, RLX]\nv = load.4 &y [A, RLX]"]
    {
        for name in ["sc", "tso", "pso", "ra", "rc11"] {
            expect_safe(&waits_and_stores(store, sets), name);
            expect_safe(&waits_and_stores(store, &format!("{looks}\n{sets}")), name);
            expect(&waits_and_stores(store, ""), name, Property::Liveness);
            expect(&waits_and_stores(store, looks), name, Property::Liveness);
        }
    }
}

/// Without the reduction, loops that wait go round until they are cut, and wait nevertheless.
#[test]
fn endless_waits_are_found_without_reductions() {
    let sets = "store.4 &x, 1:32 [A, RLX]";
    for (helper, expected) in [(sets, Conclusion::Safe), ("", Conclusion::Unsafe)] {
        for store in ["", "store.4 &y, 1:32 [A, RLX]"] {
            let text = waits_and_stores(store, helper);
            let text = format!("program p pointers 64\nglobal x: 4\nglobal y: 4\n{text}");
            let program = parse_program("p", &text).expect("a program");
            for reductions in [Reductions::ALL, Reductions::NONE] {
                let options = Options { unroll: Some(3), reductions, ..Options::default() };
                let verdict = explore(&program, &model("rc11"), &options).expect("explored");
                assert_eq!(verdict.conclusion(), expected, "{store} {helper}");
            }
        }
    }
}

#[test]
fn loops_that_are_cut_and_do_not_wait_are_reported() {
    for (helper, scope) in [("store.4 &x, 1:32 [A, RLX]", Some(Scope::Bounded(3))), ("", None)] {
        let text = waits_and_stores("rmw.add.4 &y, 1:32 [A, RLX] [A, RLX]", helper);
        let text = format!("program p pointers 64\nglobal x: 4\nglobal y: 4\n{text}");
        let program = parse_program("p", &text).expect("a program");
        let options = Options { unroll: Some(3), ..Options::default() };
        let verdict = explore(&program, &model("rc11"), &options).expect("explored");
        assert_eq!(verdict.scope, scope, "{helper}: {:?}", verdict.reason);
        assert!(verdict.notes.iter().any(|note| note.contains("whether they end")));
        // Where none is looked at to its end, that is no success.
        let within = |reason: &Reason| reason.message.contains("within 3 rounds");
        assert_eq!(verdict.reason.as_ref().is_some_and(within), scope.is_none());
    }
}

/// Two threads of the same function: whoever comes first is the one that waits and looks at data,
/// and the other one writes to it.
#[test]
fn rounds_that_change_nothing_race_between_like_threads() {
    let text = "global d: 4\nglobal n: 4\n\
        fn f() {\nvar v: 32, w: 32\nv = rmw.add.4 &n, 1:32 [A, RLX] [A, RLX]\n\
        branch v == 0:32, waits, lets\nwaits:\nv = load.4 &x [A, RLX]\n\
        branch v == 1:32, said, look\nlook:\nw = load.4 &d [NA]\njump waits\nsaid:\n\
        store.4 &y, 1:32 [A, RLX]\njump end\nlets:\nstore.4 &x, 1:32 [A, RLX]\njump again\n\
        again:\nv = load.4 &y [A, RLX]\nbranch v == 1:32, write, again\nwrite:\n\
        store.4 &d, 1:32 [NA]\njump end\nend:\n}\n\
        fn main() {\nvar s: 32, t: 32\ns = spawn f()\nt = spawn f()\njoin s\njoin t\n}\n\
        thread main = main()\n";
    expect(text, "rc11", Property::Race);
    expect_safe(text, "sc");
}

/// A file that flags races only is not asked where no two threads can race.
#[test]
fn long_threads_without_company_race_with_nobody() {
    let stores = "store.4 &x, 1:32 [NA]\n".repeat(3_000);
    let text = format!(
        "program p pointers 64\nglobal x: 4\nfn main() {{\n{stores}}}\nthread main = main()\n"
    );
    let program = parse_program("p", &text).expect("a program");
    let model = model("imm").with_races_of_c().expect("a right model");
    let verdict = explore(&program, &model, &Options::default()).expect("explored");
    assert_eq!(verdict.conclusion(), Conclusion::Safe, "{:?}", verdict.reason);
    assert!(verdict.properties.contains(&Property::Race));
}

/// A cat file takes the longer for a step the more events there are, and the clock is looked at the more often.
#[test]
fn large_executions_are_interrupted_in_time() {
    let stores = "store.4 &x, 1:32 [A, RLX]\n".repeat(200);
    let text = format!(
        "program p pointers 64\nglobal x: 4\nfn main() {{\n{stores}}}\nthread main = main()\n"
    );
    let program = parse_program("p", &text).expect("a program");
    let looks = |name: &str| {
        let count = AtomicUsize::new(0);
        let watcher = |_: &Progress| {
            count.fetch_add(1, Ordering::Relaxed);
        };
        let control = Control { progress: Some(&watcher), ..Control::default() };
        let options = Options { properties: vec![Property::Assert], control, ..Options::default() };
        explore(&program, &model(name), &options).expect("explored");
        count.into_inner()
    };
    assert!(looks("imm") > looks("rc11"), "{} {}", looks("imm"), looks("rc11"));
}
