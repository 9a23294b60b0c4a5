//! Executions by sub-operations: the framework gives the answers of its own definition, tried out on
//! all orders, and those of the cat files.

#[path = "../common/mod.rs"]
mod common;
mod reference;

use std::path::Path;

use common::{Random, cases};
use parallax_engine_bounded::{Finding, Framework, Options, check, verify};
use parallax_frontend_litmus::parse;
use parallax_memory::Model;
use parallax_program::{Program, Property, Question, parse_program};
use parallax_verdict::Conclusion;
use reference::{Memory, Operation};

const MODELS: [(&str, Memory); 3] =
    [("sc", Memory::Sc), ("tso", Memory::Tso), ("pso", Memory::Pso)];

fn model(name: &str) -> std::sync::Arc<Model> {
    Model::builtin(name).expect("a model").expect("a right model")
}

fn options(framework: Framework) -> Options<'static> {
    Options { framework, ..Options::default() }
}

/// Whether such a final state can be reached; none if there is no answer. Executions replay.
fn reaches(program: &Program, question: &Question, name: &str, by: Framework) -> Option<bool> {
    let model = model(name);
    match check(program, question, &model, &options(by)).expect("an answer").finding {
        Finding::Reachable(_) => Some(true),
        Finding::Unreachable { .. } => Some(false),
        Finding::Unknown(reason) => {
            assert!(reason.message.contains("whole accesses"), "{}", reason.message);
            None
        }
    }
}

const REGISTERS: [&str; 4] = ["EAX", "EBX", "ECX", "EDX"];
const LOCATIONS: [&str; 2] = ["x", "y"];

/// A litmus test that asks for these values of the reads, in order.
fn litmus(threads: &[Vec<Operation>], values: &[u8]) -> String {
    let mut columns: Vec<Vec<String>> = Vec::new();
    let mut asked: Vec<String> = Vec::new();
    for (thread, operations) in threads.iter().enumerate() {
        let (mut column, mut own) = (vec![format!("P{thread}")], 0);
        for operation in operations {
            let register = REGISTERS[own];
            let mut reads = || {
                asked.push(format!("{thread}:{register}={}", values[asked.len()]));
                own += 1;
            };
            match *operation {
                Operation::Read(location) => {
                    reads();
                    column.push(format!("MOV {register},[{}]", LOCATIONS[location]));
                }
                Operation::Write(location, value) => {
                    column.push(format!("MOV [{}],${value}", LOCATIONS[location]));
                }
                Operation::Swap(location, value) => {
                    reads();
                    column.push(format!("MOV {register},${value}"));
                    column.push(format!("XCHG [{}],{register}", LOCATIONS[location]));
                }
                Operation::Fence => column.push("MFENCE".to_string()),
                Operation::StoreFence => column.push("SFENCE".to_string()),
            }
        }
        columns.push(column);
    }
    let rows = columns.iter().map(Vec::len).max().unwrap_or(0);
    let cell = |column: &Vec<String>, row: usize| column.get(row).cloned().unwrap_or_default();
    let row = |row: usize| {
        let cells: Vec<String> = columns.iter().map(|column| cell(column, row)).collect();
        format!(" {} ;\n", cells.join(" | "))
    };
    let rows: String = (0..rows).map(row).collect();
    format!("X86 t\n{{ x=0; y=0; }}\n{rows}exists ({})\n", asked.join(" /\\ "))
}

/// All that the reads might return, one after the other.
fn candidates(threads: &[Vec<Operation>]) -> Vec<Vec<u8>> {
    let all = || threads.iter().flatten();
    let mut lists = vec![Vec::new()];
    for operation in all() {
        let (Operation::Read(location) | Operation::Swap(location, _)) = *operation else {
            continue;
        };
        let mut values = vec![0];
        values.extend(all().filter_map(|other| match *other {
            Operation::Write(at, value) | Operation::Swap(at, value) if at == location => {
                Some(value)
            }
            _ => None,
        }));
        let longer = lists.iter().flat_map(|list: &Vec<u8>| {
            values.iter().map(move |value| [list.as_slice(), &[*value]].concat())
        });
        lists = longer.collect();
    }
    lists
}

/// Compares the engine with the definition, and says how many outcomes are allowed.
fn compare(threads: &[Vec<Operation>], name: &str, memory: Memory) -> usize {
    let expected = reference::Program::new(threads).outcomes(memory);
    for values in candidates(threads) {
        let text = litmus(threads, &values);
        let test = parse("t.litmus", &text).expect("a test");
        for framework in [Framework::Gharachorloo, Framework::Cat] {
            let found = reaches(&test.program, &test.question, name, framework);
            assert_eq!(found, Some(expected.contains(&values)), "{name}, {framework:?}:\n{text}");
        }
    }
    expected.len()
}

#[test]
fn small_programs_have_the_known_outcomes() {
    use Operation::{Fence, Read, StoreFence, Swap, Write};
    let (x, y) = (0, 1);
    let reader = vec![Read(y), Read(x)];
    // Message passing, store buffering, coherence of reads, forwarding, and how many outcomes.
    let cases = [
        (vec![vec![Write(x, 1), Write(y, 1)], reader.clone()], [3, 3, 4]),
        (vec![vec![Write(x, 1), StoreFence, Write(y, 1)], reader.clone()], [3, 3, 3]),
        (vec![vec![Write(x, 1), Read(y)], vec![Write(y, 1), Read(x)]], [3, 4, 4]),
        (vec![vec![Write(x, 1), Fence, Read(y)], vec![Write(y, 1), Fence, Read(x)]], [3, 3, 3]),
        (vec![vec![Write(x, 1)], vec![Read(x), Read(x)]], [3, 3, 3]),
        (vec![vec![Write(x, 1), Read(x), Read(y)], vec![Write(y, 1), Read(x)]], [3, 4, 4]),
        (vec![vec![Swap(x, 1)], vec![Swap(x, 2)]], [2, 2, 2]),
        (vec![vec![Swap(x, 1), Read(y)], vec![Write(y, 1), Fence, Read(x)]], [3, 3, 3]),
    ];
    for (threads, counts) in cases {
        for ((name, memory), count) in MODELS.into_iter().zip(counts) {
            assert_eq!(compare(&threads, name, memory), count, "{threads:?} under {name}");
        }
    }
}

fn random_operations(random: &mut Random) -> Vec<Vec<Operation>> {
    let mut value = 0;
    let threads = 2 + usize::from(random.below(5) == 0);
    let mut thread = || {
        let count = 1 + random.below(3);
        let mut operation = || {
            let location = random.below(2) as usize;
            match random.below(8) {
                0..=2 => Operation::Read(location),
                3..=5 => {
                    value += 1;
                    Operation::Write(location, value)
                }
                6 => {
                    value += 1;
                    Operation::Swap(location, value)
                }
                _ if random.below(2) == 0 => Operation::Fence,
                _ => Operation::StoreFence,
            }
        };
        (0..count).map(|_| operation()).collect()
    };
    (0..threads).map(|_| thread()).collect()
}

#[test]
fn random_programs_have_the_outcomes_of_all_orders() {
    let mut compared = 0;
    for seed in 0..cases(150) {
        let threads = random_operations(&mut Random::new(seed));
        let parts = reference::Program::new(&threads).sub_operations();
        if parts > 7 || candidates(&threads).len() < 2 {
            continue;
        }
        for (name, memory) in MODELS {
            compare(&threads, name, memory);
            compared += 1;
        }
    }
    assert!(compared >= 90, "{compared}");
}

/// Statements with branches, computed addresses, compare-and-swap and reservations.
fn statement(random: &mut Random, number: u64) -> String {
    let (g, c, d, r) =
        (random.pick(&["x", "y"]), random.below(3), random.below(3), random.below(3));
    match random.below(14) {
        0..=2 => format!("store.4 &{g}, {c}:32 {}\n", random.pick(&["[]", "[X]", "[]", "[A, SC]"])),
        3..=5 => format!("r{r} = load.4 &{g} []\n"),
        6 => format!("store.4 &x + zext(r{r} & 1:32, 64) * 4:64, {c}:32 []\n"),
        7 => format!("r{r} = load.4 &x + zext(r{} & 1:32, 64) * 4:64 []\n", random.below(3)),
        8 => format!("r{r} = rmw.add.4 &{g}, {c}:32 [X] [X]\n"),
        9 => format!("r{r}, ok = cas.4 &{g}, {c}:32, {d}:32 [X] [X] [X]\n"),
        10 => format!("fence {}\n", random.pick(&["[MFENCE]", "[SFENCE]", "[LFENCE]"])),
        11 => format!("r{r} = ll.4 &{g} [X]\ns = sc.4 &{g}, r{r} + 1:32 [X]\n"),
        12 if number < 100 => {
            let inner = statement(random, 100 + number);
            format!("branch r{r} == {c}:32, t{number}, e{number}\nt{number}:\n{inner}e{number}:\n")
        }
        _ => format!(
            "l{number}:\nr{r} = load.4 &{g} []\nbranch r{r} == {c}:32, l{number}, m{number}\nm{number}:\n"
        ),
    }
}

fn random_program(seed: u64) -> String {
    let mut random = Random::new(seed);
    let mut text =
        String::from("program p pointers 64\nglobal x: 4 at 4096\nglobal y: 4 at 4100\n");
    let threads = 2 + random.below(2);
    for thread in 0..threads {
        let mut body = String::new();
        for number in 0..2 + random.below(4) {
            body += &statement(&mut random, number);
        }
        let [a, b] = [random.below(3), random.below(3)];
        body += &format!("assert ~((r0 == {a}:32) & (r1 == {b}:32)), \"final\"\n");
        text += &format!(
            "fn P{thread}() {{\nvar r0: 32, r1: 32, r2: 32, s: 1, ok: 1\nr0 = 7:32\n{body}return\n}}\n"
        );
    }
    for thread in 0..threads {
        text += &format!("thread P{thread} = P{thread}()\n");
    }
    text
}

#[test]
fn random_programs_have_the_verdicts_of_cat_files() {
    let mut compared = [0, 0];
    for seed in 0..cases(120) {
        let text = random_program(seed);
        let program =
            parse_program("p", &text).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"));
        for (name, _) in MODELS {
            let verdict = |framework| {
                let properties = vec![Property::Assert, Property::Liveness];
                let options = Options { properties, ..options(framework) };
                verify(&program, &model(name), &options).expect("a verdict").verdict
            };
            let (one, other) = (verdict(Framework::Gharachorloo), verdict(Framework::Cat));
            let reason = one.reason.clone().map_or_else(String::new, |reason| reason.message);
            assert_eq!(
                (one.conclusion(), one.scope),
                (other.conclusion(), other.scope),
                "seed {seed}, {name}, {reason}:\n{text}"
            );
            compared[usize::from(one.conclusion() == Conclusion::Safe)] += 1;
        }
    }
    assert!(compared.iter().all(|count| *count > 60), "{compared:?}");
}

#[test]
fn the_corpus_has_the_same_answers() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus");
    let list = std::fs::read_to_string(folder.join("expected.csv")).expect("a list of tests");
    let (mut compared, mut mixed) = (0, 0);
    for line in list.lines().skip(1) {
        let mut parts = line.split(',');
        let (Some(file), Some(name)) = (parts.next(), parts.next()) else {
            continue;
        };
        let text = std::fs::read_to_string(folder.join(file)).expect("a test");
        let Some(test) = parse(file, &text).ok().filter(|_| ["sc", "tso", "pso"].contains(&name))
        else {
            continue;
        };
        let found = [Framework::Gharachorloo, Framework::Cat]
            .map(|framework| reaches(&test.program, &test.question, name, framework));
        match found {
            [None, _] => mixed += 1,
            [one, other] => {
                assert_eq!(one, other, "{file} under {name}");
                compared += 1;
            }
        }
    }
    assert!(compared > 400 && mixed < compared / 20, "{compared}, {mixed}");
}

#[test]
fn other_models_are_refused() {
    let text = "program p pointers 64\nfn P() {\nreturn\n}\nthread P = P()\n";
    let program = parse_program("p", text).expect("a program");
    for name in ["rc11", "arm", "power"] {
        let refused = verify(&program, &model(name), &options(Framework::Gharachorloo));
        let message = refused.err().map(|errors| errors[0].message.clone()).unwrap_or_default();
        assert!(message.contains(&format!("no conditions for the model '{name}'")), "{message}");
    }
}
