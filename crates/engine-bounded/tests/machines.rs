//! C11 on machines: what compilers make of it keeps what C11 promises, and shows what it does not.

use std::path::Path;
use std::time::Duration;

use parallax_control::Control;
use parallax_engine_bounded::{Machine, Options, compile, verify};
use parallax_frontend_c::load;
use parallax_memory::Model;
use parallax_program::{Program, Property, parse_program};
use parallax_verdict::{Conclusion, Scope, Verdict};

const MACHINES: [&str; 3] = ["aarch64", "power", "riscv"];

fn verdict(program: &Program, name: &str) -> Verdict {
    let model = Model::builtin(name).expect("a model").expect("a right model");
    let compiled =
        Machine::of_model(&model).map(|machine| compile(program, machine).expect("a program"));
    let options = Options {
        properties: vec![Property::Assert, Property::Deadlock, Property::Liveness],
        unroll: None,
        control: Control::lasting(Duration::from_secs(60)),
        ..Options::default()
    };
    verify(compiled.as_ref().unwrap_or(program), &model, &options).expect("a verdict").verdict
}

/// Two threads, of which each does this with its own place and that of the other, and a last look
/// at what they have seen.
fn two_threads(body: &str, wrong: &str) -> Program {
    let mut text =
        String::from("program p pointers 64\nglobal x: 4\nglobal y: 4\nglobal a: 4\nglobal b: 4\n");
    for (name, own, other, seen) in [("P0", "x", "y", "a"), ("P1", "y", "x", "b")] {
        let body = body.replace("OWN", own).replace("OTHER", other);
        text += &format!("fn {name}() {{\nvar r: 32\n{body}store.4 &{seen}, r [NA]\nreturn\n}}\n");
    }
    text += &format!(
        "fn main() {{\nvar s: 32, t: 32, a: 32, b: 32\ns = spawn P0()\nt = spawn P1()\njoin s\n\
         join t\na = load.4 &a [NA]\nb = load.4 &b [NA]\nassert ~({wrong}), \"seen\"\nreturn\n}}\n\
         thread main = main()\n"
    );
    parse_program("p", &text).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"))
}

#[test]
fn loads_are_buffered_where_nothing_orders_them() {
    let wrong = "(a == 1:32) & (b == 1:32)";
    let relaxed = "r = load.4 &OWN [A, RLX]\nstore.4 &OTHER, 1:32 [A, RLX]\n";
    let program = two_threads(relaxed, wrong);
    for name in MACHINES.into_iter().chain(["imm"]) {
        let verdict = verdict(&program, name);
        assert_eq!(verdict.conclusion(), Conclusion::Unsafe, "{name}: {:?}", verdict.reason);
    }
    assert_eq!(verdict(&program, "rc11").conclusion(), Conclusion::Safe);
    let ordered = "r = load.4 &OWN [A, ACQ]\nstore.4 &OTHER, 1:32 [A, RLX]\n";
    for name in MACHINES.into_iter().chain(["imm"]) {
        let verdict = verdict(&two_threads(ordered, wrong), name);
        assert_eq!(verdict.conclusion(), Conclusion::Safe, "{name}: {:?}", verdict.reason);
    }
}

#[test]
fn stores_are_buffered_unless_they_are_sequentially_consistent() {
    let wrong = "(a == 0:32) & (b == 0:32)";
    let of = |order: &str| {
        let (write, read) = match order {
            "SC" => ("SC", "SC"),
            _ => ("REL", "ACQ"),
        };
        let body = format!("store.4 &OWN, 1:32 [A, {write}]\nr = load.4 &OTHER [A, {read}]\n");
        two_threads(&body, wrong)
    };
    for name in MACHINES {
        let released = verdict(&of("REL"), name).conclusion();
        // AArch64 keeps a store-release before a load-acquire.
        let expected = if name == "aarch64" { Conclusion::Safe } else { Conclusion::Unsafe };
        assert_eq!(released, expected, "{name}");
        assert_eq!(verdict(&of("SC"), name).conclusion(), Conclusion::Safe, "{name}");
    }
}

#[test]
fn fences_order_loads_and_stores() {
    let seen = |value: u32| format!("(a == {value}:32) & (b == {value}:32)");
    let loads = "r = load.4 &OWN [A, RLX]\nfence [REL]\nstore.4 &OTHER, 1:32 [A, RLX]\n";
    let stores = |order: &str| {
        let body =
            format!("store.4 &OWN, 1:32 [A, RLX]\nfence [{order}]\nr = load.4 &OTHER [A, RLX]\n");
        two_threads(&body, &seen(0))
    };
    for name in MACHINES {
        let ordered = verdict(&two_threads(loads, &seen(1)), name);
        assert_eq!(ordered.conclusion(), Conclusion::Safe, "{name}: {:?}", ordered.reason);
        assert_eq!(verdict(&stores("SC"), name).conclusion(), Conclusion::Safe, "{name}");
    }
    assert_eq!(verdict(&stores("ACQ_REL"), "power").conclusion(), Conclusion::Unsafe);
}

#[test]
fn locks_are_right_on_machines_whatever_the_bound() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/c");
    for file in ["tas-lock.c", "ttas-lock.c", "ticket-lock.c", "clh-lock.c", "mcs-lock.c"] {
        let program = load(&[folder.join(file)], &Default::default()).expect("a program");
        for name in ["tso", "aarch64"] {
            let verdict = verdict(&program, name);
            assert_eq!(
                verdict.conclusion(),
                Conclusion::Safe,
                "{file} {name}: {:?}",
                verdict.reason
            );
            assert_eq!(verdict.scope, Some(Scope::Complete), "{file} {name}");
        }
    }
    let relaxed = load(&[folder.join("ttas-lock-relaxed.c")], &Default::default());
    let relaxed = relaxed.expect("a program");
    for name in MACHINES {
        assert_eq!(verdict(&relaxed, name).conclusion(), Conclusion::Unsafe, "{name}");
    }
}

/// An object that another thread frees once it has been handed over. Models of machines call
/// something else than happens-before `hb`.
#[test]
fn what_is_handed_over_may_be_freed() {
    let of = |order: &str| {
        let text = format!(
            "program p pointers 64\nglobal box: 8\n\
             fn give() {{\nvar o: 64\no = alloc.heap 8:64 align 8\nstore.4 o, 1:32 [NA]\n\
             store.8 &box, o {order}\nreturn\n}}\n\
             fn take() {{\nvar o: 64\nspin:\no = load.8 &box [A, ACQ]\n\
             branch o == 0:64, spin, got\ngot:\nfree.heap o\nreturn\n}}\n\
             thread give = give()\nthread take = take()\n"
        );
        parse_program("p", &text).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"))
    };
    for name in MACHINES.into_iter().chain(["imm", "rc11"]) {
        let model = Model::builtin(name).expect("a model").expect("a right model");
        let memory = |program: &Program| {
            let compiled =
                Machine::of_model(&model).map(|m| compile(program, m).expect("a program"));
            let options = Options { properties: vec![Property::Memory], ..Options::default() };
            let program = compiled.as_ref().unwrap_or(program);
            verify(program, &model, &options).expect("a verdict").verdict.conclusion()
        };
        assert_eq!(memory(&of("[A, REL]")), Conclusion::Safe, "{name}");
        if name == "rc11" {
            assert_eq!(memory(&of("[A, RLX]")), Conclusion::Unsafe);
        }
    }
}

/// A function that is called and that threads start in, or that may be called through a pointer, has
/// no fences where it is called: two stores in two of them stay unordered.
#[test]
fn fences_of_threads_are_not_those_of_calls() {
    let of = |calls: &str, between: &str| {
        let text = format!(
            "program p pointers 64\nglobal x: 4\nglobal y: 4\nglobal a: 4\nglobal b: 4\n\
             fn first(p: 64) {{\nstore.4 &x, 1:32 [A, RLX]\nreturn\n}}\n\
             fn second(p: 64) {{\nstore.4 &y, 1:32 [A, RLX]\nreturn\n}}\n\
             fn writer(p: 64) {{\nvar f: 64, g: 64\nf = @first\ng = @second\n{calls}return\n}}\n\
             fn reader(p: 64) {{\nvar r: 32, s: 32\nr = load.4 &y [A, ACQ]\n\
             s = load.4 &x [A, RLX]\nstore.4 &a, r [NA]\nstore.4 &b, s [NA]\nreturn\n}}\n\
             fn begin(f: 64, p: 64) -> 32 {{\nvar n: 32\nn = spawn (f)(p)\nreturn n\n}}\n\
             fn main() {{\nvar n: 32, s: 32, t: 32, a: 32, b: 32\nn = call begin(@first, 0:64)\n\
             join n\nstore.4 &x, 0:32 [A, RLX]\ns = call begin(@writer, 0:64)\n\
             t = spawn reader(0:64)\njoin s\njoin t\na = load.4 &a [NA]\nb = load.4 &b [NA]\n\
             assert ~((a == 1:32) & (b == 0:32)), \"seen\"\nreturn\n}}\nthread main = main()\n"
        )
        .replace("BETWEEN", between);
        parse_program("p", &text).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"))
    };
    let direct = "call first(0:64)\nBETWEENcall second(0:64)\n";
    let indirect = "call (f)(0:64)\nBETWEENcall (g)(0:64)\n";
    for name in MACHINES {
        for calls in [direct, indirect] {
            let bare = verdict(&of(calls, ""), name);
            assert_eq!(bare.conclusion(), Conclusion::Unsafe, "{name}: {:?}", bare.reason);
            let fenced = verdict(&of(calls, "fence [SC]\n"), name);
            assert_eq!(fenced.conclusion(), Conclusion::Safe, "{name}: {:?}", fenced.reason);
        }
    }
}
