//! Proofs are checked by somebody else, and refused where they are damaged.

use std::path::{Path, PathBuf};
use std::time::Duration;

use parallax_control::Control;
use parallax_engine_abstract::proof::{Checked, check};
use parallax_engine_abstract::{Domain, Options, Reduction, Tuning, prove};
use parallax_frontend_c::load;
use parallax_memory::Model;
use parallax_program::{Program, Property};

const PATIENCE: Duration = Duration::from_secs(60);

fn folder() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/c-abstract");
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

/// Whether no thread runs at the node that the last of these lines are about.
fn has_ended(lines: &[&str]) -> bool {
    let own = lines.iter().rev().take_while(|line| starts(line, "node").is_none());
    own.filter(|line| starts(line, "thread").is_some()).all(|line| line.contains(" ended "))
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

#[test]
fn damaged_proofs_are_refused() {
    damage("sc");
}

#[test]
fn damaged_proofs_with_store_buffers_are_refused() {
    damage("tso");
}

fn damage(model: &str) {
    let is_long = is_long();
    let (files, step) = match is_long {
        true => (safe_programs(model), 17),
        false => (vec!["hand-over.c".to_string(), "two-steps.c".to_string()], 7),
    };
    let mut alive: Vec<String> = Vec::new();
    let mut counts = vec![[0_usize; 3]; DAMAGES.len()];
    let mut number = 0_usize;
    for file in files {
        let (program, proof) = proved(&file, model, Tuning::default());
        let proof = proof.expect("a proof");
        let lines: Vec<&str> = proof.lines().collect();
        let count = |word: &str| lines.iter().filter(|it| starts(it, word).is_some()).count();
        let sizes = Sizes { nodes: count("node"), predicates: count("predicate") };
        for (damage, counts) in DAMAGES.iter().zip(&mut counts) {
            for (at, line) in lines.iter().enumerate() {
                for other in (damage.of)(line, &sizes) {
                    number += 1;
                    if !number.is_multiple_of(step) {
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
    for (damage, [all, unreadable, alive]) in DAMAGES.iter().zip(&counts) {
        println!("{}: {all} proofs, {unreadable} unreadable, {alive} still proofs", damage.name);
        assert!(*all > 0, "nothing is damaged by '{}'", damage.name);
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
    let known = ["block", "control", "oracle", "places"];
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/proof");
    for file in ["check.rs", "order.rs", "read.rs", "terms.rs", "mod.rs"] {
        let text = std::fs::read_to_string(folder.join(file)).expect("a file");
        for used in text.split("crate::").skip(1) {
            let name: String = used.chars().take_while(char::is_ascii_alphabetic).collect();
            assert!(known.contains(&name.as_str()), "{file} uses {name}");
        }
    }
}
