//! The programs in `examples/c`, each under several models: `expected.csv` has the answers.
//!
//! `UPDATE_EXAMPLES=1` writes new counts of executions into the table; a verdict that differs is
//! for a person to judge. `EXAMPLES=part-of-a-name` runs a part and prints more.

use std::collections::HashMap;
use std::fmt::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use parallax_control::Control;
use parallax_engine_explore::{Reductions, explore};
use parallax_frontend_c::load;
use parallax_machine::settle_retries;
use parallax_memory::Model;
use parallax_program::{Program, Property};
use parallax_verdict::{Conclusion, Verdict};

/// No example takes nearly as long.
const PATIENCE: Duration = Duration::from_secs(30);

const COLUMNS: &str = "file,arguments,model,options,verdict,property,executions,blocked";

/// The columns of the index.
const MODELS: [&str; 6] = ["sc", "tso", "pso", "ra", "rc11", "imm"];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/c")
}

/// A line of the table.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Row {
    file: String,
    arguments: String,
    model: String,
    options: String,
    verdict: String,
    property: String,
    executions: String,
    blocked: String,
}

impl Row {
    fn parse(line: &str) -> Row {
        let fields: Vec<String> = line.split(',').map(str::to_string).collect();
        let Ok([file, arguments, model, options, verdict, property, executions, blocked]) =
            <[String; 8]>::try_from(fields)
        else {
            panic!("a line without eight fields: {line}");
        };
        Row { file, arguments, model, options, verdict, property, executions, blocked }
    }

    fn line(&self) -> String {
        let Row { file, arguments, model, options, verdict, property, executions, blocked } = self;
        format!("{file},{arguments},{model},{options},{verdict},{property},{executions},{blocked}")
    }

    fn name(&self) -> String {
        [&self.file, &self.arguments, &self.model, &self.options]
            .into_iter()
            .filter(|part| !part.is_empty())
            .cloned()
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// The same question with the answer that was found.
    fn answered(&self, found: &Verdict) -> Row {
        let mut row = self.clone();
        let (verdict, is_counted) = match found.conclusion() {
            Conclusion::Safe => ("safe", true),
            Conclusion::Unsafe => ("unsafe", false),
            Conclusion::Unknown => ("unknown", false),
        };
        row.verdict = verdict.to_string();
        let property = found.violations.first().map(|violation| violation.property);
        row.property = property.map(|property| property.name().to_string()).unwrap_or_default();
        let count = |count: u64| if is_counted { count.to_string() } else { String::new() };
        row.executions = count(found.counts.executions);
        row.blocked = count(found.counts.blocked);
        row
    }
}

fn rows() -> Vec<Row> {
    let text = std::fs::read_to_string(folder().join("expected.csv")).unwrap();
    let (first, lines) = text.split_once('\n').unwrap();
    assert_eq!(first, COLUMNS);
    lines.lines().map(Row::parse).collect()
}

/// What the options of `parallax verify` in a row ask for.
struct Asked {
    properties: Vec<Property>,
    unroll: Option<u32>,
    nondet: Option<(i128, i128)>,
    reductions: Reductions,
    spurious_wakeups: bool,
}

impl Asked {
    fn parse(options: &str) -> Asked {
        let usual = parallax_engine_explore::Options::default();
        let mut asked = Asked {
            properties: usual.properties,
            unroll: None,
            nondet: None,
            reductions: usual.reductions,
            spurious_wakeups: true,
        };
        let mut words = options.split_whitespace();
        while let Some(word) = words.next() {
            if word == "--no-spurious-wakeups" {
                asked.spurious_wakeups = false;
                continue;
            }
            let value = words.next().unwrap_or_else(|| panic!("{word} without a value"));
            match word {
                "--property" if value == "all" => asked.properties = Property::ALL.to_vec(),
                "--property" => {
                    asked.properties = vec![Property::named(value).expect("a property")];
                }
                "--unroll" => asked.unroll = Some(value.parse().expect("a number")),
                "--nondet" => {
                    let (low, high) = value.split_once("..").expect("a range");
                    let number = |text: &str| text.parse().expect("a number");
                    asked.nondet = Some((number(low), number(high)));
                }
                "--reductions" => asked.reductions = Reductions::parse(value).expect("reductions"),
                other => panic!("unknown option {other}"),
            }
        }
        asked
    }
}

type Loaded = Arc<OnceLock<Program>>;

/// The file, arguments of clang, and whether overflow, races and spurious wake-ups matter.
type Reading = (String, String, [bool; 3]);

/// Programs, each read once.
#[derive(Default)]
struct Programs {
    loaded: Mutex<HashMap<Reading, Loaded>>,
}

impl Programs {
    fn get(&self, row: &Row, asked: &Asked) -> Loaded {
        let overflow = asked.properties.contains(&Property::Overflow);
        let races = asked.properties.contains(&Property::Race);
        let spurious_wakeups = asked.spurious_wakeups;
        let settings = [overflow, races, spurious_wakeups];
        let key = (row.file.clone(), row.arguments.clone(), settings);
        let loaded = self.loaded.lock().unwrap().entry(key).or_default().clone();
        loaded.get_or_init(|| {
            let options = parallax_frontend_c::Options {
                clang_args: row.arguments.split_whitespace().map(str::to_string).collect(),
                spurious_wakeups,
                overflow,
                ..Default::default()
            };
            let mut program = load(&[folder().join(&row.file)], &options)
                .unwrap_or_else(|errors| panic!("{}: {}", row.file, errors[0]));
            settle_retries(&mut program, races);
            program
        });
        loaded
    }

    fn verify(&self, row: &Row, jobs: NonZeroUsize) -> Verdict {
        let asked = Asked::parse(&row.options);
        let program = self.get(row, &asked);
        let model = Model::builtin(&row.model).expect("a model").expect("a good model");
        let model = model.with_races_of_c().expect("a good model");
        let options = parallax_engine_explore::Options {
            properties: asked.properties,
            unroll: asked.unroll,
            nondet: asked.nondet,
            reductions: asked.reductions,
            control: Control { jobs, ..Control::lasting(PATIENCE) },
            ..Default::default()
        };
        let verdict = explore(program.get().expect("a program"), &model, &options);
        verdict.unwrap_or_else(|errors| panic!("{}: {}", row.name(), errors[0]))
    }

    /// Whether several threads give another answer than one has given. Where nothing is found they
    /// would take as long again; see `jobs.rs` for those.
    fn is_chance(&self, row: &Row, verdict: &Verdict) -> bool {
        let mut several = [2, 8].into_iter().filter_map(NonZeroUsize::new);
        verdict.conclusion() != Conclusion::Safe
            && several.any(|jobs| self.verify(row, jobs) != *verdict)
    }
}

/// What a row says and what was found, where they differ.
fn difference(row: &Row, found: &Row, verdict: &Verdict) -> Option<String> {
    if row == found {
        return None;
    }
    let answer = |row: &Row| {
        [&row.verdict, &row.property, &row.executions, &row.blocked].map(String::as_str).join(" ")
    };
    let mut text = format!("{}: {}, not {}", row.name(), answer(found), answer(row));
    describe(verdict, &mut text);
    Some(text)
}

/// Where a violation is, or why the answer is not known.
fn describe(verdict: &Verdict, text: &mut String) {
    for violation in &verdict.violations {
        let place = violation.place.as_ref().map(|place| format!("{place:?}"));
        write!(text, "\n    {} at {}", violation.message, place.unwrap_or_default()).unwrap();
    }
    if let Some(reason) = &verdict.reason {
        write!(text, "\n    {} at {:?}", reason.message, reason.place).unwrap();
    }
}

/// Answers to all rows, by all processors.
fn answers(rows: &[Row]) -> Vec<(Row, Option<String>)> {
    let programs = Programs::default();
    let next = AtomicUsize::new(0);
    let found: Vec<OnceLock<(Row, Option<String>)>> = vec![OnceLock::new(); rows.len()];
    let is_said = std::env::var("EXAMPLES").is_ok();
    let work = || {
        while let Some(row) = rows.get(next.fetch_add(1, Ordering::Relaxed)) {
            let start = Instant::now();
            let verdict = programs.verify(row, NonZeroUsize::MIN);
            let answer = row.answered(&verdict);
            if is_said {
                let mut text = answer.line();
                write!(text, "   {:?}", start.elapsed()).unwrap();
                describe(&verdict, &mut text);
                println!("{text}");
            }
            let chance = || format!("{}: several threads say something else", row.name());
            let difference = difference(row, &answer, &verdict)
                .or_else(|| programs.is_chance(row, &verdict).then(chance));
            let number = rows.iter().position(|other| other == row).expect("a row");
            let _ = found[number].set((answer, difference));
        }
    };
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..processors).for_each(|_| drop(scope.spawn(work))));
    found.into_iter().map(|answer| answer.into_inner().expect("an answer")).collect()
}

/// The table with new counts, where the verdict is as before.
fn updated(rows: &[Row], answers: &[(Row, Option<String>)]) -> String {
    let mut text = format!("{COLUMNS}\n");
    for (row, (found, _)) in rows.iter().zip(answers) {
        let is_same = (&row.verdict, &row.property) == (&found.verdict, &found.property);
        writeln!(text, "{}", if is_same { found.line() } else { row.line() }).unwrap();
    }
    text
}

#[test]
fn examples_have_the_expected_answers() {
    let part = std::env::var("EXAMPLES").unwrap_or_default();
    let rows: Vec<Row> = rows().into_iter().filter(|row| row.file.contains(&part)).collect();
    let answers = answers(&rows);
    if std::env::var("UPDATE_EXAMPLES").is_ok() && part.is_empty() {
        std::fs::write(folder().join("expected.csv"), updated(&rows, &answers)).unwrap();
    }
    let differences: Vec<String> =
        answers.into_iter().filter_map(|(_, difference)| difference).collect();
    assert!(differences.is_empty(), "{} differ:\n{}", differences.len(), differences.join("\n"));
}

/// Programs in the index: the cells of each line of its tables, by the first one.
fn index() -> HashMap<String, Vec<String>> {
    let text = std::fs::read_to_string(folder().join("README.md")).unwrap();
    let cells = |line: &str| -> Vec<String> {
        line.trim_matches('|').split('|').map(|cell| cell.trim().to_string()).collect()
    };
    let rows = text.lines().map(cells).filter(|cells| cells.len() == 2 + MODELS.len());
    rows.map(|cells| (cells[0].clone(), cells)).collect()
}

#[test]
fn the_index_says_the_same_as_the_table() {
    let index = index();
    for row in rows() {
        let name = row.file.trim_end_matches(".c");
        let arguments = match row.arguments.as_str() {
            "" => String::new(),
            arguments => format!("-- {arguments}"),
        };
        let options = match format!("{} {arguments}", row.options).trim() {
            "" => String::new(),
            options => format!(" `{options}`"),
        };
        let program = format!("[{name}]({}){options}", row.file);
        let cells = index.get(&program).unwrap_or_else(|| panic!("no line for {program}"));
        let column = MODELS.iter().position(|model| *model == row.model).expect("a column");
        let answer = match row.verdict.as_str() {
            "unsafe" => format!("**{}**", row.property),
            verdict => verdict.to_string(),
        };
        assert_eq!(cells[2 + column], answer, "{program} under {}", row.model);
    }
}

#[test]
fn every_program_is_in_the_table_and_says_what_it_is() {
    let rows = rows();
    for entry in std::fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name").to_string();
        if name.ends_with(".c") {
            assert!(rows.iter().any(|row| row.file == name), "{name} is not in expected.csv");
            let text = std::fs::read_to_string(&path).unwrap();
            assert!(text.starts_with("/* "), "{name} does not say what it is");
            let own = rows.iter().filter(|row| row.file == name && row.model == "rc11");
            let is_wrong = own.clone().any(|row| row.verdict == "unsafe");
            assert_eq!(text.starts_with("/* BUG: "), is_wrong, "{name}");
        }
    }
}

#[test]
fn the_command_says_the_same() {
    for row in rows().iter().filter(|row| row.file.starts_with("c11") || row.file == "leak.c") {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_parallax"))
            .current_dir(folder())
            .args(["verify", "--quiet", "--model", &row.model, "--format", "json", &row.file])
            .args(row.options.split_whitespace())
            .output()
            .unwrap();
        let answer = String::from_utf8(output.stdout).unwrap();
        assert!(answer.contains(&format!("\"verdict\":\"{}\"", row.verdict)), "{answer}");
        if !row.property.is_empty() {
            assert!(answer.contains(&format!("\"property\":\"{}\"", row.property)), "{answer}");
        }
    }
}
