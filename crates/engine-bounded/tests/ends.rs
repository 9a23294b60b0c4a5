//! Accesses that may come after the end of their object, in random programs: the engines give the
//! same answers, and machines do no more than the language they are compiled from.

mod common;

use common::{Random, cases};
use parallax_engine_bounded::{Framework, Machine, Options, compile, verify};
use parallax_engine_explore::explore;
use parallax_engine_states::search;
use parallax_memory::Model;
use parallax_program::{Program, Property, parse_program};
use parallax_verdict::{Conclusion, Verdict};

const READS: [&str; 4] = ["[A, RLX]", "[A, ACQ]", "[A, SC]", "[NA]"];
const WRITES: [&str; 4] = ["[A, RLX]", "[A, REL]", "[A, SC]", "[NA]"];

/// One step of a thread: with the object, or with what threads signal one another.
fn step(random: &mut Random) -> String {
    let (flag, value) = (random.pick(&["x", "y"]), random.below(3));
    let (read, write) = (random.pick(&READS[..3]), random.pick(&WRITES[..3]));
    match random.below(9) {
        0 | 1 => format!("o = load.4 p {}\n", random.pick(&["[NA]", "[A, RLX]"])),
        2 => format!("store.4 p, {value}:32 {}\n", random.pick(&["[NA]", "[A, RLX]"])),
        3 | 4 => format!("store.4 &{flag}, {value}:32 {write}\n"),
        5 | 6 => format!("r = load.4 &{flag} {read}\n"),
        7 => format!("r = rmw.swap.4 &{flag}, {value}:32 [A, ACQ] [A, REL]\n"),
        _ => "fence [SC]\n".to_string(),
    }
}

fn random_program(seed: u64) -> String {
    let mut random = Random::new(seed);
    let mut text = String::from("program p pointers 64\nglobal x: 4\nglobal y: 4\n");
    let mut steps =
        |most: u64| -> String { (0..1 + random.below(most)).map(|_| step(&mut random)).collect() };
    let (user, other, owner) = (steps(4), steps(2), steps(2));
    let (flag, value) = (random.pick(&["x", "y"]), random.below(3));
    let read = random.pick(&READS);
    let vars = "var o: 32, r: 32";
    text += &format!("fn user(p: 64) {{\n{vars}\n{user}return\n}}\n");
    text += &format!(
        "fn main() {{\n{vars}, p: 64, n: 32, m: 32\np = alloc.heap.zeroed 8:64 align 16\n\
         n = spawn user(p)\n{other}{owner}r = load.4 &{flag} {read}\n\
         branch r == {value}:32, then, end join end\nthen:\nfree.heap p\nend:\nreturn\n}}\n\
         thread main = main()\n"
    );
    text
}

fn model(name: &str) -> std::sync::Arc<Model> {
    Model::builtin(name).expect("a model").expect("a right model")
}

fn parsed(text: &str) -> Program {
    parse_program("p", text).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"))
}

fn bounded(program: &Program, name: &str, framework: Framework) -> Verdict {
    let properties = vec![Property::Memory];
    let options = Options { properties, framework, ..Options::default() };
    verify(program, &model(name), &options).expect("a verdict").verdict
}

#[test]
fn the_engines_agree() {
    let mut compared = [0, 0];
    for seed in 0..cases(80) {
        let text = random_program(seed);
        let program = parsed(&text);
        for name in ["sc", "tso", "pso", "ra", "rc11"] {
            let options = parallax_engine_explore::Options {
                properties: vec![Property::Memory],
                ..Default::default()
            };
            let explored = explore(&program, &model(name), &options).expect("a verdict");
            let mut others = vec![bounded(&program, name, Framework::Cat)];
            if ["sc", "tso", "pso"].contains(&name) {
                let options = parallax_engine_states::Options {
                    properties: vec![Property::Memory],
                    ..Default::default()
                };
                others.push(search(&program, &model(name), &options).expect("a verdict"));
                others.push(bounded(&program, name, Framework::Gharachorloo));
            }
            for (number, other) in others.iter().enumerate() {
                let why = [&explored, other].map(|verdict| &verdict.reason);
                assert_eq!(
                    explored.conclusion(),
                    other.conclusion(),
                    "seed {seed}, {name}, {number}, {why:?}:\n{text}"
                );
            }
            assert_ne!(explored.conclusion(), Conclusion::Unknown, "seed {seed}, {name}:\n{text}");
            compared[usize::from(explored.conclusion() == Conclusion::Safe)] += 1;
        }
    }
    assert!(compared.iter().all(|count| *count > 30), "{compared:?}");
}

/// What happens before the end of an object in the language comes before it on every machine, and
/// what can come after it on a machine is seen.
#[test]
fn machines_agree_with_the_language() {
    let mut found = [0, 0];
    for seed in 0..cases(60) {
        let text = random_program(seed + 1_000);
        let program = parsed(&text);
        let language = bounded(&program, "imm", Framework::Cat);
        for name in ["aarch64", "power", "riscv"] {
            let machine = Machine::of_model(&model(name)).expect("a machine");
            let compiled = compile(&program, machine).expect("a program");
            let verdict = bounded(&compiled, name, Framework::Cat);
            let context = format!("seed {seed}, {name}, {:?}:\n{text}", verdict.reason);
            assert_ne!(verdict.conclusion(), Conclusion::Unknown, "{context}");
            let is_safe = verdict.conclusion() == Conclusion::Safe;
            assert!(is_safe || language.conclusion() == Conclusion::Unsafe, "{context}");
            found[usize::from(is_safe)] += 1;
        }
    }
    assert!(found.iter().all(|count| *count > 15), "{found:?}");
}

/// A load that comes after the store behind it, and a store that waits in a buffer.
#[test]
fn late_though_reads_say_otherwise() {
    let text = |access: &str, tags: &str| {
        format!(
            "program p pointers 64\nglobal y: 4\nfn user(p: 64) {{\nvar o: 32\n{access}\n\
             store.4 &y, 1:32 {tags}\nreturn\n}}\nfn main() {{\nvar r: 32, p: 64, n: 32\n\
             p = alloc.heap.zeroed 8:64 align 16\nn = spawn user(p)\nr = load.4 &y [A, SC]\n\
             branch r == 1:32, then, end join end\nthen:\nfree.heap p\nend:\nreturn\n}}\n\
             thread main = main()\n"
        )
    };
    let conclusion = |text: &str, name: &str| {
        let program = parsed(text);
        match Machine::of_model(&model(name)) {
            Some(machine) => {
                let compiled = compile(&program, machine).expect("a program");
                bounded(&compiled, name, Framework::Cat).conclusion()
            }
            None => bounded(&program, name, Framework::Cat).conclusion(),
        }
    };
    let (load, store) = ("o = load.4 p [A, RLX]", "store.4 p, 1:32 [A, RLX]");
    for name in ["aarch64", "power", "riscv", "rc11", "imm"] {
        assert_eq!(conclusion(&text(load, "[A, RLX]"), name), Conclusion::Unsafe, "{name}");
        assert_eq!(conclusion(&text(load, "[A, REL]"), name), Conclusion::Safe, "{name}");
        assert_eq!(conclusion(&text(load, "[A, SC]"), name), Conclusion::Safe, "{name}");
    }
    for name in ["sc", "tso"] {
        assert_eq!(conclusion(&text(load, "[A, RLX]"), name), Conclusion::Safe, "{name}");
        assert_eq!(conclusion(&text(store, "[A, RLX]"), name), Conclusion::Safe, "{name}");
    }
    assert_eq!(conclusion(&text(store, "[A, RLX]"), "pso"), Conclusion::Unsafe);
    assert_eq!(conclusion(&text(store, "[A, REL]"), "pso"), Conclusion::Safe);
}

/// Straight code has no rounds that a bound could leave out: what is not followed is said.
#[test]
fn very_long_straight_code_is_no_loop() {
    let text = "program p pointers 64\nglobal x: 4\nfn f() {\nvar r: 32\nr = r + 1:32\n\
                assert r == 0:32, \"far behind\"\n}\nthread A = f()\n";
    let mut program = parsed(text);
    let insts = &mut program.functions[0].blocks[0].insts;
    let step = insts[0].clone();
    insts.splice(0..0, std::iter::repeat_n(step, 1_000_000));
    let options = Options { properties: vec![Property::Assert], ..Options::default() };
    let verdict = verify(&program, &model("sc"), &options).expect("a verdict").verdict;
    assert_eq!(verdict.conclusion(), Conclusion::Unknown, "{:?}", verdict.scope);
    let reason = verdict.reason.expect("a reason").message;
    assert!(reason.contains("a long computation"), "{reason}");
}
