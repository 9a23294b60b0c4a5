//! Proofs are checked by somebody else, and refused where they are damaged.

use std::path::{Path, PathBuf};
use std::time::Duration;

use parallax_control::Control;
use parallax_engine_abstract::proof::{Checked, check};
use parallax_engine_abstract::{Analysis, Domain, Options, Reduction, Tuning, prove};
use parallax_frontend_c::load;
use parallax_memory::Model;
use parallax_program::{Program, Property};

const PATIENCE: Duration = Duration::from_secs(60);

fn folder() -> PathBuf {
    examples("c-abstract")
}

fn examples(name: &str) -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    std::env::var("PROGRAMS").map_or(own, PathBuf::from)
}

/// The program of a file, and its proof if it is safe.
fn proved(file: &str, model: &str, tuning: Tuning) -> (Program, Option<String>) {
    let program = load(&[folder().join(file)], &Default::default());
    let program = program.unwrap_or_else(|errors| panic!("{file}: {}", errors[0]));
    let model = Model::builtin(model).expect("a model").expect("a good model");
    let options = Options {
        properties: vec![Property::Assert],
        control: Control::lasting(PATIENCE),
        tuning: Tuning { proves: true, ..tuning },
        ..Options::default()
    };
    let (_, proof) = prove(&program, &model, &options);
    (program, proof)
}

fn checked(program: &Program, text: &str) -> Result<Checked, String> {
    let found = check(program, "a.proof", text, &Control::lasting(PATIENCE));
    found.map_err(|errors| errors[0].to_string())
}

/// The programs that are safe under a model; where time is short, the first of them, and none that is slow.
fn safe_programs(model: &str) -> Vec<String> {
    let table = std::fs::read_to_string(folder().join("expected.csv")).expect("a table");
    let mut rows = table.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = rows.next().expect("a head");
    let column = head.iter().position(|it| *it == model).expect("a model");
    let is_slow = |row: &[&str]| row.last().is_some_and(|slow| slow.contains(model));
    let is_chosen = |number: usize, row: &[&str]| number < 12 && !is_slow(row) || is_long();
    let chosen = rows.enumerate().filter(|(number, row)| is_chosen(*number, row));
    let safe = chosen.map(|(_, row)| row).filter(|row| row[column] == "safe");
    safe.map(|row| row[0].to_string()).collect()
}

fn is_long() -> bool {
    std::env::var("PARALLAX_LONG").is_ok()
}

fn confirm(file: &str, model: &str, reduction: Reduction) {
    let (program, proof) = proved(file, model, Tuning { reduction, ..Tuning::default() });
    let proof = proof.unwrap_or_else(|| panic!("{file} has no proof under {model}"));
    if let Ok(folder) = std::env::var("PROOFS") {
        std::fs::write(Path::new(&folder).join(format!("{file}.{model}.{reduction:?}")), &proof)
            .expect("a file");
    }
    let found = checked(&program, &proof);
    println!("{file} {model} {reduction:?}: {found:?}");
    assert!(matches!(found, Ok(Checked::Confirmed { .. })), "{file} {model}: {found:?}");
}

/// Where one step leads to several states, these together must say no more than follows.
#[test]
fn proofs_by_boolean_predicates_are_confirmed() {
    for file in ["hand-over.c", "bounded-counter.c", "same-sum.c"] {
        let tuning = Tuning { domain: Domain::Boolean, ..Tuning::default() };
        let (program, proof) = proved(file, "sc", tuning);
        let proof = proof.unwrap_or_else(|| panic!("{file} has no proof"));
        let found = checked(&program, &proof);
        assert!(matches!(found, Ok(Checked::Confirmed { .. })), "{file}: {found:?}");
    }
}

#[test]
fn proofs_are_confirmed() {
    for file in safe_programs("sc") {
        confirm(&file, "sc", Reduction::Aware);
        confirm(&file, "sc", Reduction::Merged);
    }
}

#[test]
fn proofs_with_store_buffers_are_confirmed() {
    for model in ["tso", "pso"] {
        for file in safe_programs(model) {
            confirm(&file, model, Reduction::Aware);
        }
    }
}

/// Programs that are safe where executions are graphs, with the model and what the engine is told.
fn of_graphs() -> Vec<(&'static str, &'static str, Tuning)> {
    let graphs = |analysis: Analysis| Tuning { analysis, ..Tuning::default() };
    let mut all = vec![
        ("../c-graphs/publish.c", "rc11", Tuning::default()),
        ("../c-graphs/publish.c", "ra", Tuning::default()),
        ("../c-graphs/ping-pong.c", "rc11", Tuning::default()),
        ("../c-graphs/ping-pong-relaxed.c", "ra", Tuning::default()),
        ("../c-graphs/sections.c", "rc11", Tuning::default()),
        ("hand-over.c", "rc11", Tuning::default()),
        ("hand-over.c", "sc", graphs(Analysis::Eager)),
        ("../c-graphs/publish.c", "tso", graphs(Analysis::Eager)),
    ];
    if is_long() {
        all.push(("driver.c", "rc11", Tuning::default()));
        all.push(("spin-lock.c", "rc11", Tuning::default()));
        all.push(("../c-graphs/sections.c", "ra", Tuning::default()));
    }
    all
}

#[test]
fn proofs_with_graphs_are_confirmed() {
    for (file, model, tuning) in of_graphs() {
        let (program, proof) = proved(file, model, tuning);
        let proof = proof.unwrap_or_else(|| panic!("{file} has no proof under {model}"));
        if let Ok(folder) = std::env::var("PROOFS") {
            let name = format!("{}.{model}.graphs", file.replace('/', "."));
            std::fs::write(Path::new(&folder).join(name), &proof).expect("a file");
        }
        let found = checked(&program, &proof);
        println!("{file} {model}: {found:?}");
        assert!(matches!(found, Ok(Checked::Confirmed { .. })), "{file} {model}: {found:?}");
    }
}

/// A way to damage a proof: what becomes of a line, in so many ways.
struct Damage {
    name: &'static str,
    /// Whether nothing that is damaged in this way is a proof.
    is_fatal: bool,
    of: fn(&str, &Sizes) -> Vec<String>,
}

/// How many there are of what is numbered.
struct Sizes {
    nodes: usize,
    predicates: usize,
}

/// The line with another number in place of the one that follows a word.
fn renumbered(line: &str, word: &str, sizes: &Sizes) -> Vec<String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let Some(at) = words.iter().position(|it| *it == word) else { return Vec::new() };
    let Some(number) = words.get(at + 1).and_then(|it| it.parse::<usize>().ok()) else {
        return Vec::new();
    };
    let others = [1, 2, 7, 19].map(|step| (number + step) % sizes.nodes);
    let put = |other: usize| {
        let other = other.to_string();
        let words = words.iter().enumerate();
        let words = words.map(|(place, it)| if place == at + 1 { other.as_str() } else { it });
        words.collect::<Vec<_>>().join(" ")
    };
    others.into_iter().filter(|other| *other != number).map(put).collect()
}

fn starts<'l>(line: &'l str, word: &str) -> Option<&'l str> {
    line.trim_start().strip_prefix(word)?.strip_prefix(' ')
}

/// Whether no thread can go on at the node that the last of these lines are about: each has ended, or waits for a later write.
fn has_ended(lines: &[&str]) -> bool {
    let own = lines.iter().rev().take_while(|line| starts(line, "node").is_none());
    let own: Vec<&str> = own.copied().collect();
    let threads = own.iter().filter_map(|line| starts(line, "thread"));
    threads.map(|rest| rest.split(' ').next().unwrap_or_default()).all(|thread| {
        let ended = format!("thread {thread} ended ");
        let waits = format!("waits {thread} open");
        own.iter().any(|line| line.contains(&ended) || line.contains(&waits))
    })
}

const DAMAGES: [Damage; 13] = [
    Damage {
        name: "a step is left out",
        is_fatal: true,
        of: |line, _| starts(line, "edge").map(|_| String::new()).into_iter().collect(),
    },
    Damage {
        name: "a step takes another way",
        is_fatal: true,
        of: |line, _| {
            let flip = |_| line.replacen("side 0", "side 2", 1);
            starts(line, "edge").map(flip).filter(|it| it != line).into_iter().collect()
        },
    },
    Damage {
        name: "a step leads elsewhere",
        is_fatal: false,
        of: |line, sizes| match starts(line, "edge") {
            Some(_) => renumbered(line, "to", sizes),
            None => Vec::new(),
        },
    },
    Damage {
        name: "a covering is redirected",
        is_fatal: false,
        of: |line, sizes| renumbered(line, "covered", sizes),
    },
    Damage {
        name: "a node is covered no more, and not looked at",
        is_fatal: true,
        of: |line, _| starts(line, "covered").map(|_| " expands".to_string()).into_iter().collect(),
    },
    Damage {
        name: "a condition is turned round",
        is_fatal: true,
        of: |line, _| match (starts(line, "holds"), starts(line, "fails")) {
            (Some(rest), _) => vec![format!(" fails {rest}")],
            (_, Some(rest)) => vec![format!(" holds {rest}")],
            _ => Vec::new(),
        },
    },
    Damage {
        name: "a value is changed",
        is_fatal: true,
        of: |line, _| {
            let Some(last) = starts(line, "value").and_then(|_| line.chars().last()) else {
                return Vec::new();
            };
            let other = if last == '0' { '1' } else { '0' };
            vec![format!("{}{other}", &line[..line.len() - 1])]
        },
    },
    Damage {
        name: "a thread stands elsewhere",
        is_fatal: true,
        of: |line, _| {
            let Some(line) = starts(line, "thread").and_then(|_| line.split(" ;").next()) else {
                return Vec::new();
            };
            let other = match line.rsplit_once(':') {
                Some((before, index)) => {
                    format!("{before}:{}", index.parse::<u32>().map_or(0, |index| index + 1))
                }
                None => line.replace("ended", "block"),
            };
            vec![other, line.replace("children 0", "children 1")]
                .into_iter()
                .filter(|it| it != line)
                .collect()
        },
    },
    Damage {
        name: "an object is another one",
        is_fatal: true,
        of: |line, _| match starts(line, "object") {
            Some(_) if line.ends_with("private") => vec![line.replace(" private", "")],
            Some(_) => vec![String::new()],
            None => Vec::new(),
        },
    },
    Damage {
        name: "a thread is put off",
        is_fatal: false,
        of: |line, _| {
            let Some(rest) = starts(line, "expands") else { return Vec::new() };
            let threads: Vec<&str> = rest.split_whitespace().collect();
            let without = |left: usize| {
                let kept = threads.iter().enumerate().filter(|(place, _)| *place != left);
                format!(" expands {}", kept.map(|it| *it.1).collect::<Vec<_>>().join(" "))
            };
            (0..threads.len()).map(without).collect()
        },
    },
    Damage {
        name: "more is said of a node",
        is_fatal: false,
        of: |line, sizes| match starts(line, "node") {
            Some(_) => (0..sizes.predicates)
                .step_by(3)
                .flat_map(|it| ["holds", "fails"].map(|word| format!("{line}\n {word} {it}")))
                .collect(),
            None => Vec::new(),
        },
    },
    Damage {
        name: "less is said of a node",
        is_fatal: false,
        of: |line, _| {
            let is_fact = ["holds", "fails", "value"].iter().any(|it| starts(line, it).is_some());
            is_fact.then(String::new).into_iter().collect()
        },
    },
    Damage {
        name: "the head says something else",
        is_fatal: true,
        of: |line, _| match line.split_whitespace().next() {
            Some("parallax-proof" | "model") => vec![format!("{line}2"), String::new()],
            Some("program") => vec![line.replace("0x", "0x1").replace("0x1", "0x2")],
            Some("root" | "end") => vec![String::new()],
            _ => Vec::new(),
        },
    },
];

/// A word of a line, and the number behind it, become others.
fn replaced(line: &str, start: &str, word: &str, other: &str) -> Vec<String> {
    let is_it = starts(line, start).is_some() && line.contains(word);
    is_it.then(|| line.replacen(word, other, 1)).into_iter().collect()
}

fn left_out(line: &str, start: &str) -> Vec<String> {
    starts(line, start).map(|_| String::new()).into_iter().collect()
}

const DAMAGES_OF_GRAPHS: [Damage; 11] = [
    Damage { name: "an event is left out", is_fatal: true, of: |line, _| left_out(line, "event") },
    Damage {
        name: "an event is another one",
        is_fatal: true,
        of: |line, _| {
            let mut all = replaced(line, "event", "ACQ", "RLX");
            all.extend(replaced(line, "event", "REL", "RLX"));
            all
        },
    },
    Damage {
        name: "a read reads something else",
        is_fatal: true,
        of: |line, _| {
            let mut all = replaced(line, "event", "from 0", "from 1");
            all.extend(replaced(line, "event", "from 1", "from initial"));
            all
        },
    },
    Damage {
        name: "an event stays",
        is_fatal: true,
        of: |line, _| replaced(line, "edge", " gone ", " gone 9 "),
    },
    Damage {
        name: "another event leaves",
        is_fatal: true,
        of: |line, _| match line.contains(" gone 0 0") {
            true => Vec::new(),
            false => replaced(line, "edge", " to ", " gone 0 0 to "),
        },
    },
    Damage { name: "an access is not said", is_fatal: true, of: |line, _| left_out(line, "use") },
    Damage { name: "memory is left out", is_fatal: true, of: |line, _| left_out(line, "track") },
    Damage {
        name: "somebody else has a turn",
        is_fatal: true,
        of: |line, _| {
            let mut all = replaced(line, "graph", "turn 0", "turn 1");
            all.extend(replaced(line, "graph", "turn 1", "turn 0"));
            all
        },
    },
    Damage {
        name: "a thread does not wait",
        is_fatal: true,
        of: |line, _| left_out(line, "waits"),
    },
    Damage {
        name: "nothing is known of forgotten writes",
        is_fatal: false,
        of: |line, _| left_out(line, "before"),
    },
    Damage {
        name: "forgotten writes have other readers",
        is_fatal: false,
        of: |line, _| {
            let mut all = replaced(line, "before", "reader 0", "reader 1");
            all.extend(replaced(line, "before", "reader 1", ""));
            all
        },
    },
];

#[test]
fn damaged_proofs_are_refused() {
    damage("sc", &[&DAMAGES], &usual_files("sc"));
}

#[test]
fn damaged_proofs_with_store_buffers_are_refused() {
    damage("tso", &[&DAMAGES], &usual_files("tso"));
}

#[test]
fn damaged_proofs_with_graphs_are_refused() {
    let files = ["../c-graphs/publish.c", "../c-graphs/ping-pong.c"].map(str::to_string);
    damage("rc11", &[&DAMAGES, &DAMAGES_OF_GRAPHS], &files);
}

fn usual_files(model: &str) -> Vec<String> {
    match is_long() {
        true => safe_programs(model),
        false => vec!["hand-over.c".to_string(), "two-steps.c".to_string()],
    }
}

fn damage(model: &str, damages: &[&[Damage]], files: &[String]) {
    let is_long = is_long();
    let is_of_graphs = damages.len() > 1;
    let damages: Vec<&Damage> = damages.iter().copied().flatten().collect();
    let step = match (is_of_graphs, is_long) {
        (true, false) => 11,
        (false, false) => 7,
        (_, true) => 17,
    };
    let mut alive: Vec<String> = Vec::new();
    let mut counts = vec![[0_usize; 3]; damages.len()];
    let mut number = 0_usize;
    for file in files {
        let (program, proof) = proved(file, model, Tuning::default());
        let proof = proof.expect("a proof");
        let lines: Vec<&str> = proof.lines().collect();
        let count = |word: &str| lines.iter().filter(|it| starts(it, word).is_some()).count();
        let sizes = Sizes { nodes: count("node"), predicates: count("predicate") };
        for (damage, counts) in damages.iter().zip(&mut counts) {
            for (at, line) in lines.iter().enumerate() {
                for other in (damage.of)(line, &sizes) {
                    number += 1;
                    if counts[0] > 0 && !number.is_multiple_of(step) {
                        continue;
                    }
                    let mut damaged = lines.clone();
                    damaged[at] = &other;
                    let found = checked(&program, &(damaged.join("\n") + "\n"));
                    counts[0] += 1;
                    match found {
                        Err(_) => counts[1] += 1,
                        Ok(Checked::Confirmed { .. }) => {
                            counts[2] += 1;
                            let line =
                                format!("{file}:{}: {}: {line} -> {other}", at + 1, damage.name);
                            // Where all threads have ended, nobody need be looked at.
                            let is_over =
                                starts(lines[at], "covered").is_some() && has_ended(&lines[..at]);
                            assert!(!damage.is_fatal || is_over, "{line}");
                            alive.push(line);
                        }
                        Ok(Checked::Refuted(_)) => {}
                        Ok(Checked::Unknown(why)) => {
                            // Of all that is damaged, only the model is something to learn.
                            assert!(
                                why.contains("model") || why.contains(&format!("{model}2")),
                                "{why}"
                            );
                        }
                    }
                }
            }
        }
    }
    for (damage, [all, unreadable, alive]) in damages.iter().zip(&counts) {
        println!("{}: {all} proofs, {unreadable} unreadable, {alive} still proofs", damage.name);
        // Locks and what follows from them is not in all programs.
        let may_miss =
            is_of_graphs && (!damage.is_fatal || damage.name == "a step takes another way");
        assert!(*all > 0 || may_miss, "nothing is damaged by '{}'", damage.name);
    }
    if is_long {
        println!("{}", alive.join("\n"));
    }
}

/// Texts that are cut off anywhere are errors with a place.
#[test]
fn cut_off_proofs_are_errors() {
    let (program, proof) = proved("hand-over.c", "sc", Tuning::default());
    let proof = proof.expect("a proof");
    let mut ends: Vec<usize> = proof.char_indices().map(|it| it.0).step_by(997).collect();
    ends.push(proof.len() - 2);
    for end in ends {
        let found = checked(&program, &proof[..end]);
        assert!(found.is_err(), "{end}: {found:?}");
    }
    assert!(checked(&program, &proof.replace("end\n", "end\nend\n")).is_err());
}

/// A proof of one program is none of another.
#[test]
fn proofs_are_of_one_program() {
    let (program, _) = proved("lost-update.c", "sc", Tuning::default());
    let (_, proof) = proved("hand-over.c", "sc", Tuning::default());
    let found = checked(&program, &proof.expect("a proof"));
    assert_eq!(found, Ok(Checked::Refuted("it is about another program".to_string())));
}

/// The checker shares the meaning of steps with the engine, and nothing else.
#[test]
fn the_checker_knows_nothing_of_the_search() {
    let known = ["block", "control", "declarative", "oracle", "places"];
    // Of graphs: what they are, what their events are to a model, and what the model's text says of them.
    let of_graphs = ["execution", "leaving", "uses", "walk", "admit", "Memory"];
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/proof");
    let files = ["check.rs", "graphs.rs", "order.rs", "read.rs", "read/executions.rs", "terms.rs"];
    for file in files.into_iter().chain(["executions.rs", "mod.rs"]) {
        let text = std::fs::read_to_string(folder.join(file)).expect("a file");
        for used in text.split("crate::").skip(1) {
            let name: String = used.chars().take_while(char::is_ascii_alphabetic).collect();
            assert!(known.contains(&name.as_str()), "{file} uses {name}");
            if let Some(of) = used.strip_prefix("declarative::").filter(|it| !it.starts_with('{')) {
                let name: String = of.chars().take_while(char::is_ascii_alphabetic).collect();
                assert!(of_graphs.contains(&name.as_str()), "{file} uses {name} of graphs");
            }
        }
    }
}
