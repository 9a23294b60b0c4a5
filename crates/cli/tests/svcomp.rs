//! All tasks of `examples/svcomp`, through the hall: no verdict is wrong, and few are open.

use crate::support;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use support::run_in;

/// So many questions may be open.
const MOST_UNKNOWN: usize = 5;

/// A process is asked about so many tasks.
const TOGETHER: usize = 10;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/svcomp")
}

fn tasks() -> Vec<String> {
    let files = std::fs::read_dir(folder()).expect("the tasks").map(|file| file.expect("a file"));
    let names = files.map(|file| file.file_name().into_string().expect("a name"));
    let mut tasks: Vec<String> = names.filter(|name| name.ends_with(".yml")).collect();
    tasks.sort();
    tasks
}

fn questions(task: &str) -> usize {
    let text = std::fs::read_to_string(folder().join(task)).expect("a task");
    text.matches("expected_verdict:").count()
}

/// The rows that compare answers with what is expected.
fn rows(tasks: &[String]) -> Vec<String> {
    let options = ["verify", "-q", "--expect", "--timeout", "4"];
    let names = tasks.iter().map(String::as_str);
    let run = run_in(&folder(), &options.into_iter().chain(names).collect::<Vec<_>>());
    let is_row = |line: &&str| {
        ["right ", "wrong ", "unknown "].iter().any(|word| line.starts_with(word))
            && line.contains(".yml ")
    };
    run.stdout.lines().filter(is_row).map(str::to_string).collect()
}

#[test]
fn no_task_is_answered_wrongly() {
    let tasks = tasks();
    assert!(tasks.len() >= 150, "{}", tasks.len());
    let parts: Vec<&[String]> = tasks.chunks(TOGETHER).collect();
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some(part) = parts.get(next.fetch_add(1, Ordering::Relaxed)) {
            found.lock().expect("a list").extend(rows(part));
        }
    };
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..processors).for_each(|_| drop(scope.spawn(work))));
    let found = found.into_inner().expect("a list");
    let of = |word: &str| {
        let mut rows: Vec<&str> =
            found.iter().map(String::as_str).filter(|row| row.starts_with(word)).collect();
        rows.sort_unstable();
        rows
    };
    assert!(of("wrong ").is_empty(), "{}", of("wrong ").join("\n"));
    assert_eq!(found.len(), tasks.iter().map(|task| questions(task)).sum::<usize>());
    let open = of("unknown ");
    assert!(open.len() <= MOST_UNKNOWN, "{} are open:\n{}", open.len(), open.join("\n"));
}
