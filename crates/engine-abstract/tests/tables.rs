//! How many of the programs in `examples/c-abstract` are answered, by configuration: `make abstraction` runs this and
//! writes the tables of the book. `SECONDS=n` is the limit for each.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use parallax_control::Control;
use parallax_engine_abstract::{
    Domain, Judge, Options, Order, Parts, Pruning, Reduction, Refinements, Scope, Tuning, verify,
};
use parallax_frontend_c::load;
use parallax_memory::Model;
use parallax_program::{Program, Property};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

struct Task {
    program: Program,
    /// By model, in the order of the table.
    expected: Vec<String>,
}

const MODELS: [&str; 3] = ["sc", "tso", "pso"];

fn tasks() -> Vec<Task> {
    let folder = folder("examples/c-abstract");
    let text = std::fs::read_to_string(folder.join("expected.csv")).expect("a table");
    let task = |line: &str| {
        let mut row = line.split(',');
        let file = row.next().expect("a file");
        let program = load(&[folder.join(file)], &Default::default());
        let program = program.unwrap_or_else(|errors| panic!("{file}: {}", errors[0]));
        Task { program, expected: row.take(MODELS.len()).map(str::to_string).collect() }
    };
    text.lines().skip(1).map(task).collect()
}

/// How many are answered: the safe ones, and the others. A wrong answer ends it all.
fn solved(tasks: &[Task], model: usize, tuning: Tuning, limit: Duration) -> (u32, u32) {
    let memory = Model::builtin(MODELS[model]).expect("a model").expect("a good model");
    let (mut safe, mut not) = (0, 0);
    let start = Instant::now();
    for task in tasks {
        let options = Options {
            properties: vec![Property::Assert],
            control: Control::lasting(limit),
            tuning,
            ..Options::default()
        };
        let answer = verify(&task.program, &memory, &options).conclusion().name();
        assert!(answer == "unknown" || answer == task.expected[model], "{tuning:?}: {answer}");
        match answer {
            "safe" => safe += 1,
            "unsafe" => not += 1,
            _ => {}
        }
    }
    println!("{} {tuning:?}: {safe} + {not}, {:?}", MODELS[model], start.elapsed());
    (safe, not)
}

const DOMAINS: [(&str, Domain); 5] = [
    ("explicit", Domain::Explicit),
    ("predicates", Domain::Predicates),
    ("product", Domain::Product),
    ("boolean", Domain::Boolean),
    ("boolean-product", Domain::BooleanProduct),
];

/// The head of a table with a column for each domain.
fn columns() -> String {
    let names = DOMAINS.map(|(name, _)| format!(" `{name}` |"));
    format!("| |{}\n| --- |{}\n", names.concat(), " --- |".repeat(DOMAINS.len()))
}

/// How is found out what to track, and where and how it is.
fn refinements(tasks: &[Task], limit: Duration) -> String {
    let usual = Tuning::default();
    let rows = [
        ("--refinement backward", usual),
        ("--refinement sequence", Tuning { refinement: Refinements::Sequence, ..usual }),
        ("--refinement all", Tuning { refinement: Refinements::All, ..usual }),
        ("--parts whole", Tuning { parts: Parts::Whole, ..usual }),
        ("--parts conjuncts", Tuning { parts: Parts::Conjuncts, ..usual }),
        ("--parts atoms", Tuning { parts: Parts::Atoms, ..usual }),
        ("--precision local", Tuning { scope: Scope::Local, ..usual }),
        ("--prune full", Tuning { pruning: Pruning::Full, ..usual }),
    ];
    let mut text = columns();
    for (name, tuning) in rows {
        let _ = write!(text, "| `{name}` |");
        for (_, domain) in DOMAINS {
            let (safe, not) = solved(tasks, 0, Tuning { domain, ..tuning }, limit);
            let _ = write!(text, " {safe} + {not} |");
        }
        text.push('\n');
    }
    text
}

fn domains(tasks: &[Task], limit: Duration) -> String {
    let mut text = columns();
    let orders =
        [("dfs", Order::DepthFirst), ("bfs", Order::BreadthFirst), ("err", Order::ErrorFirst)];
    for (name, order) in orders {
        let _ = write!(text, "| `--waitlist {name}` |");
        for (_, domain) in DOMAINS {
            let tuning = Tuning { order, domain, ..Tuning::default() };
            let (safe, not) = solved(tasks, 0, tuning, limit);
            let _ = write!(text, " {safe} + {not} |");
        }
        text.push('\n');
    }
    text
}

fn orders(tasks: &[Task], limit: Duration) -> String {
    let mut text = String::from("| | `sc` | `tso` | `pso` |\n| --- | --- | --- | --- |\n");
    let reductions = [
        ("naive", Reduction::Naive),
        ("merged", Reduction::Merged),
        ("sets", Reduction::Sets),
        ("aware", Reduction::Aware),
    ];
    for (name, reduction) in reductions {
        let _ = write!(text, "| `--orders {name}` |");
        for model in 0..MODELS.len() {
            let tuning = Tuning { reduction, ..Tuning::default() };
            let (safe, not) = solved(tasks, model, tuning, limit);
            let _ = write!(text, " {safe} + {not} |");
        }
        text.push('\n');
    }
    text
}

/// How long programs take under `rc11` by each way to judge a graph.
fn judges(limit: Duration) -> String {
    let judges = [Judge::Saturation, Judge::Sat, Judge::Functions, Judge::Datalog];
    let mut text = String::from(
        "| | graphs judged | `saturation` | `sat` | `functions` | `datalog` |\n\
         | --- | --- | --- | --- | --- | --- |\n",
    );
    for file in ["c-graphs/publish.c", "c-graphs/ping-pong.c", "c-abstract/hand-over.c"] {
        let program = load(&[folder("examples").join(file)], &Default::default());
        let program = program.unwrap_or_else(|errors| panic!("{file}: {}", errors[0]));
        let memory = Model::builtin("rc11").expect("a model").expect("a good model");
        let (mut judged, mut times) = (String::new(), String::new());
        for judge in judges {
            let options = Options {
                properties: vec![Property::Assert],
                control: Control::lasting(limit),
                tuning: Tuning { judge, ..Tuning::default() },
                ..Options::default()
            };
            let start = Instant::now();
            let verdict = verify(&program, &memory, &options);
            let answer = verdict.conclusion().name();
            assert!(answer == "safe" || answer == "unknown", "{file} by {judge:?}: {answer}");
            let time = format!("{:.1} s", start.elapsed().as_secs_f64());
            let _ = write!(times, " {} |", if answer == "safe" { time } else { "-".to_string() });
            let found = verdict.notes.iter().find_map(|note| {
                note.strip_prefix("executions as graphs: ")?.strip_suffix(" of them judged")
            });
            let found = found.unwrap_or_default();
            let is_other = answer == "safe" && !judged.is_empty() && found != judged;
            assert!(!is_other, "{file}: {found} graphs by {judge:?}, {judged} by others");
            judged = found.to_string();
        }
        let name = file.rsplit('/').next().unwrap_or(file);
        let _ = writeln!(text, "| `{name}` | {judged} |{times}");
    }
    println!("{text}");
    text
}

/// Puts a text between two marks of the page.
fn fill(begin: &str, text: &str) {
    const END: &str = "<!-- end -->";
    let page = folder("docs/src/abstract.md");
    let book = std::fs::read_to_string(&page).expect("a page");
    let (before, rest) = book.split_once(begin).expect("a place for the tables");
    let (_, after) = rest.split_once(END).expect("the end of the place");
    std::fs::write(&page, format!("{before}{begin}{text}{END}{after}")).expect("written");
}

#[test]
#[ignore = "long"]
fn ways_to_judge_graphs() {
    fill("<!-- judges -->\n", &format!("{}\n", judges(Duration::from_secs(120))));
}

#[test]
#[ignore = "long"]
fn configurations() {
    const BEGIN: &str = "<!-- configurations -->\n";
    let seconds = std::env::var("SECONDS").ok().and_then(|it| it.parse().ok()).unwrap_or(60);
    let (tasks, limit) = (tasks(), Duration::from_secs(seconds));
    let count = |name: &str| tasks.iter().filter(|task| task.expected[0] == name).count();
    let head = format!(
        "Of {} safe and {} unsafe programs in `examples/c-abstract`, with {seconds} s for each; no \
         answer was wrong.\n",
        count("safe"),
        count("unsafe"),
    );
    let tables = [orders, domains, refinements].map(|table| table(&tasks, limit));
    let text = format!("{head}\n{}\n", tables.join("\n"));
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
    println!("{text}{peak}");
    fill(BEGIN, &text);
}
