//! The machine that issues accesses in order and publishes writes by steps of their own has the final states
//! of `rc11-mca.cat`.

mod common;
#[allow(dead_code)]
#[path = "common/random.rs"]
mod random;

use std::collections::BTreeSet;
use std::path::Path;

use common::{finals, globals, program, question, registers};
use parallax_engine_enumerate::enumerate;
use parallax_engine_states::{Options, Reduction, search};
use parallax_frontend_litmus::parse;
use parallax_machine::system::MemoryKind;
use parallax_memory::Model;
use parallax_program::{Place, Program, VarId};
use parallax_verdict::{Conclusion, Ending, FinalState};
use random::Random;

fn cases(usual: u64) -> u64 {
    std::env::var("PARALLAX_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(usual)
}

fn first() -> u64 {
    std::env::var("PARALLAX_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0)
}

/// A few accesses, with dependencies of all kinds, fences and branches.
fn body(random: &mut Random, statements: u64) -> String {
    (0..1 + random.below(statements)).map(|number| statement(random, number, true)).collect()
}

fn statement(random: &mut Random, number: u64, may_branch: bool) -> String {
    let place = random.pick(&["x", "y", "z"]);
    let (to, from) = (random.below(4), random.below(4));
    let value = 1 + random.below(2);
    let read = random.pick(&["RLX", "RLX", "RLX", "ACQ", "SC"]);
    let write = random.pick(&["RLX", "RLX", "RLX", "REL", "SC"]);
    let both = random.pick(&["RLX", "RLX", "ACQ", "REL", "ACQ_REL", "SC"]);
    let (half, other) = match both {
        "ACQ" => ("ACQ", "RLX"),
        "REL" => ("RLX", "REL"),
        "ACQ_REL" => ("ACQ", "REL"),
        order => (order, order),
    };
    match random.below(if may_branch { 17 } else { 15 }) {
        0..=3 => format!("store.4 &{place}, {value}:32 [A, {write}]\n"),
        4..=7 => format!("r{to} = load.4 &{place} [A, {read}]\n"),
        8 => format!("store.4 &{place}, r{from} + {value}:32 [A, {write}]\n"),
        9 => format!("r{to} = load.4 &{place} + zext(r{from} ^ r{from}, 64) [A, {read}]\n"),
        10 => format!("store.4 &{place} + zext(r{from} ^ r{from}, 64), {value}:32 [A, {write}]\n"),
        11 => {
            let op = random.pick(&["add", "swap"]);
            format!("r{to} = rmw.{op}.4 &{place}, {value}:32 [A, {half}] [A, {other}]\n")
        }
        12 => format!(
            "r{to}, ok = cas.4 &{place}, {}:32, {value}:32 [A, {half}] [A, {other}] [A, RLX]\n",
            random.below(2)
        ),
        13 | 14 => format!("fence [{}]\n", random.pick(&["ACQ", "REL", "ACQ_REL", "SC"])),
        _ => {
            let then = statement(random, number + 100, false);
            format!("branch r{from} == 0:32, t{number}, e{number}\nt{number}:\n{then}e{number}:\n")
        }
    }
}

fn places(program: &Program) -> (Vec<(u32, VarId)>, Vec<Place>) {
    let observed = registers(program);
    let variable =
        |(thread, var): &(u32, VarId)| Place::Variable { thread: *thread, var: *var, width: 32 };
    let places = observed.iter().map(variable).chain(globals(program)).collect();
    (observed, places)
}

fn enumerated(program: &Program, places: &[Place]) -> BTreeSet<Vec<u128>> {
    let model = Model::builtin("rc11-mca").expect("a model").expect("a right model");
    let outcomes = enumerate(program, &question(places), &model, &Default::default());
    let outcomes = outcomes.unwrap_or_else(|errors| panic!("{errors:?}"));
    let values = |state: &FinalState| -> Vec<u128> {
        state.values.iter().map(|value| value.bits.unsigned()).collect()
    };
    outcomes.states.iter().map(values).collect()
}

fn compare(bodies: &[String], seed: u64) -> usize {
    let bodies: Vec<&str> = bodies.iter().map(String::as_str).collect();
    let program = program(&["x", "y", "z"], &bodies);
    let (observed, places) = places(&program);
    let expected = enumerated(&program, &places);
    let (found, _) = finals(&program, MemoryKind::Mca, Reduction::None, &observed, &places);
    let shown = bodies.join("--\n");
    let more: Vec<_> = found.values.difference(&expected).collect();
    let fewer: Vec<_> = expected.difference(&found.values).collect();
    assert!(more.is_empty() && fewer.is_empty(), "seed {seed}: +{more:?} -{fewer:?}\n{shown}");
    found.values.len()
}

#[test]
fn the_machine_agrees_with_the_model() {
    let mut all = 0;
    for seed in first()..first() + cases(400) {
        let mut random = Random::new(seed + 7_000_000);
        let (threads, most) = [(2, 5), (3, 3), (4, 2)][(seed % 3) as usize];
        let bodies: Vec<String> = (0..threads).map(|_| body(&mut random, most)).collect();
        all += compare(&bodies, seed);
    }
    assert!(all > 0);
}

/// The values of r0 to r3 of all threads in the final states of the machine, which are those of the file.
fn outcomes(bodies: &[&str]) -> BTreeSet<Vec<u128>> {
    let program = program(&["x", "y", "z"], bodies);
    let (observed, places) = places(&program);
    let (found, _) = finals(&program, MemoryKind::Mca, Reduction::None, &observed, &places);
    assert_eq!(found.values, enumerated(&program, &places), "{bodies:?}");
    found.values
}

const WRITES_X: &str = "store.4 &x, 1:32 [A, RLX]\n";
const WRITES_Y: &str = "store.4 &y, 1:32 [A, RLX]\n";

/// Two relaxed loads, the second of an address that depends on the first.
fn then(first: &str, second: &str) -> String {
    format!("r0 = load.4 &{first} [A, RLX]\nr1 = load.4 &{second} + zext(r0 ^ r0, 64) [A, RLX]\n")
}

/// S. Singh, table 5.3: how many of the outcomes multi-copy-atomic machines have.
#[test]
fn outcomes_that_were_counted_by_hand() {
    let relay = "r0 = load.4 &x [A, RLX]\nstore.4 &y + zext(r0 ^ r0, 64), 1:32 [A, RLX]\n";
    assert_eq!(outcomes(&[WRITES_X, relay, &then("y", "x")]).len(), 7, "WRC+addrs");
    let observers = [WRITES_X, &then("x", "y"), WRITES_Y, &then("y", "x")];
    assert_eq!(outcomes(&observers).len(), 15, "IRIW+addrs");
}

/// Registers by thread, of those that are asked for.
fn has(all: &BTreeSet<Vec<u128>>, wanted: &[(usize, usize, u128)]) -> bool {
    let is_it = |values: &&Vec<u128>| {
        wanted.iter().all(|(thread, register, value)| values[thread * 4 + register] == *value)
    };
    all.iter().any(|values| is_it(&values))
}

#[test]
fn what_the_published_rules_lose_or_let_through() {
    // Writes that are moved up over acquires, and releases over what comes before them.
    let loads_then_stores = |read: &str, to: &str, acquire: &str, release: &str| {
        format!("r0 = load.4 &{read} [A, {acquire}]\nstore.4 &{to}, 1:32 [A, {release}]\n")
    };
    let buffering = outcomes(&[
        &loads_then_stores("x", "y", "ACQ", "REL"),
        &loads_then_stores("y", "x", "ACQ", "REL"),
    ]);
    assert!(!has(&buffering, &[(0, 0, 1), (1, 0, 1)]));
    // One order of reads for all, which loses an interleaving.
    let observed = outcomes(&[
        WRITES_Y,
        "r0 = load.4 &y [A, RLX]\nstore.4 &x, r0 [A, RLX]\n",
        "r0 = load.4 &y [A, RLX]\nr1 = load.4 &x [A, RLX]\n",
        &then("x", "y"),
    ]);
    assert!(has(&observed, &[(2, 0, 0), (2, 1, 1)]));
    // Fences that are no part of any order of writes.
    let fenced = |to: &str, from: &str| {
        format!("store.4 &{to}, 1:32 [A, RLX]\nfence [SC]\nr0 = load.4 &{from} [A, RLX]\n")
    };
    let stores = outcomes(&[&fenced("x", "y"), &fenced("y", "x")]);
    assert!(!has(&stores, &[(0, 0, 0), (1, 0, 0)]));
    assert!(has(&stores, &[(0, 0, 1), (1, 0, 0)]));
}

#[test]
fn reads_and_writes_overtake_one_another_where_nothing_keeps_them() {
    let read = |first: &str, second: &str| {
        format!("r0 = load.4 &{first} [A, RLX]\nr1 = load.4 &{second} [A, RLX]\n")
    };
    let sends = format!("{WRITES_X}{WRITES_Y}");
    let relaxed = outcomes(&[&sends, &read("y", "x")]);
    assert!(has(&relaxed, &[(1, 0, 1), (1, 1, 0)]), "message passing");
    // Not even where reads are in order, or writes.
    let acquires = read("y", "x").replacen("RLX", "ACQ", 1);
    assert!(has(&outcomes(&[&sends, &acquires]), &[(1, 0, 1), (1, 1, 0)]));
    let releases = sends.replacen("&y, 1:32 [A, RLX]", "&y, 1:32 [A, REL]", 1);
    assert!(has(&outcomes(&[&releases, &read("y", "x")]), &[(1, 0, 1), (1, 1, 0)]));
    assert!(!has(&outcomes(&[&releases, &acquires]), &[(1, 0, 1), (1, 1, 0)]));
    // A read may be performed after a later write of its thread, though it cannot read what comes of that.
    let late = outcomes(&[
        "r0 = load.4 &z [A, RLX]\nstore.4 &y, 1:32 [A, RLX]\n",
        "r0 = load.4 &y [A, ACQ]\nr1 = load.4 &x [A, RLX]\n",
        "store.4 &x, 1:32 [A, RLX]\nstore.4 &z, 1:32 [A, REL]\n",
    ]);
    assert!(has(&late, &[(0, 0, 1), (1, 0, 1), (1, 1, 0)]));
}

/// Classic tests in C: the machine reaches what the file allows, and each execution that is shown replays.
#[test]
fn the_corpus_has_the_same_answers() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus/c11");
    let entries = std::fs::read_dir(folder).expect("the corpus");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("a file").path()).collect();
    files.sort();
    let model = Model::builtin("rc11-mca").expect("a model").expect("a right model");
    let mut compared = 0;
    for file in files.iter().filter(|file| file.extension().is_some_and(|end| end == "litmus")) {
        let text = std::fs::read_to_string(file).expect("a text");
        let test = parse(&file.display().to_string(), &text);
        let test = test.unwrap_or_else(|errors| panic!("{}", errors[0]));
        let outcomes = enumerate(&test.program, &test.question, &model, &Default::default());
        let Ok(outcomes) = outcomes else { continue };
        if outcomes.ending != Ending::Complete {
            continue;
        }
        let options = Options { question: Some(test.question.clone()), ..Options::default() };
        let verdict = search(&test.program, &model, &options).expect("a verdict");
        let expected = match outcomes.positive {
            0 => Conclusion::Safe,
            _ => Conclusion::Unsafe,
        };
        assert_eq!(verdict.conclusion(), expected, "{} {:?}", test.name, verdict.reason);
        compared += 1;
    }
    assert!(compared > 40, "{compared}");
}
