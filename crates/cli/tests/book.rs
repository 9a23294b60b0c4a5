//! What the book and the README show is what the program prints.
//!
//! In a block marked `console`, a line that starts with `$ ` is a command (lines that start
//! with `> ` continue it) and the lines after it are its output, times aside. Commands run one
//! after another in a scratch folder that sees the project's examples and tests. The page of
//! the corpus is made from the table of expected answers. Every page is in the summary, and
//! every link between files leads somewhere.
//!
//! With `UPDATE_BOOK=1` in the environment the pages are rewritten instead.

#![cfg(unix)]

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fmt::Write;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

#[test]
fn the_readme_is_true() {
    check_page("README.md");
}

#[test]
fn the_tutorial_is_true() {
    check_page("docs/src/tutorial.md");
}

#[test]
fn the_page_on_models_of_your_own_is_true() {
    check_page("docs/src/own-model.md");
}

#[test]
fn the_page_on_pictures_is_true() {
    check_page("docs/src/pictures.md");
    let drawn = scratch("docs/src/pictures.md").join("pictures/message-passing-1.svg");
    settle("docs/src/images/message-passing.svg", &fs::read_to_string(drawn).unwrap());
}

#[test]
fn the_page_on_verifying_programs_is_true() {
    check_page("docs/src/verify.md");
    let drawn = scratch("docs/src/verify.md").join("message-passing.svg");
    settle("docs/src/images/message-passing-c.svg", &fs::read_to_string(drawn).unwrap());
}

#[test]
fn the_page_on_repairing_programs_is_true() {
    check_page("docs/src/fences.md");
    let drawn = scratch("docs/src/fences.md").join("pictures/change-1.svg");
    settle("docs/src/images/fences-message-passing.svg", &fs::read_to_string(drawn).unwrap());
}

#[test]
fn the_page_on_batches_is_true() {
    check_page("docs/src/batch.md");
}

#[test]
fn the_page_on_traces_is_true() {
    check_page("docs/src/traces.md");
}

#[test]
fn the_pages_for_users_of_other_checkers_are_true() {
    for name in ["genmc", "nidhugg", "dartagnan", "tsan"] {
        check_page(&format!("docs/src/coming-from-{name}.md"));
    }
}

#[test]
fn the_page_on_competing_is_true() {
    check_page("docs/src/competing.md");
}

#[test]
fn the_page_on_invariants_is_true() {
    check_page("docs/src/invariants.md");
}

#[test]
fn the_page_on_debugging_is_true() {
    check_page("docs/src/debugger.md");
}

#[test]
fn the_page_on_exploration_is_true() {
    check_page("docs/src/exploration.md");
}

#[test]
fn the_page_on_clusters_is_true() {
    check_page("docs/src/cluster.md");
}

#[test]
fn the_page_on_bounded_verification_is_true() {
    check_page("docs/src/bounded.md");
}

#[test]
fn the_page_on_abstraction_is_true() {
    check_page("docs/src/abstract.md");
}

#[test]
fn the_page_on_states_is_true() {
    check_page("docs/src/states.md");
}

#[test]
fn the_page_on_machine_code_is_true() {
    check_page("docs/src/x86.md");
}

#[test]
fn the_page_on_operation_structures_is_true() {
    check_page("docs/src/operation-structures.md");
}

#[test]
fn the_page_on_programs_in_c_is_true() {
    check_page("docs/src/c-programs.md");
}

#[test]
fn the_page_on_views_is_true() {
    check_page("docs/src/views.md");
}

#[test]
fn the_page_on_multi_copy_atomicity_is_true() {
    check_page("docs/src/multi-copy-atomicity.md");
}

#[test]
fn the_page_on_races_is_true() {
    check_page("docs/src/static.md");
}

#[test]
fn the_page_on_models_is_true() {
    check_page("docs/src/memory-models.md");
}

#[test]
fn the_page_for_users_of_herd7_is_true() {
    check_page("docs/src/coming-from-herd7.md");
}

#[test]
fn the_page_on_json_is_true() {
    check_page("docs/src/json.md");
}

#[test]
fn the_summary_has_every_page() {
    let summary = fs::read_to_string(root().join("docs/src/SUMMARY.md")).unwrap();
    let mut listed: Vec<&str> = links(&summary);
    let mut pages: Vec<String> = markdown_in("docs/src");
    pages.retain(|page| page != "docs/src/SUMMARY.md");
    listed.sort_unstable();
    pages.sort_unstable();
    let listed: Vec<String> = listed.iter().map(|l| format!("docs/src/{l}")).collect();
    assert_eq!(listed, pages);
}

#[test]
fn links_between_files_lead_somewhere() {
    let mut pages = markdown_in("docs/src");
    pages.extend(markdown_in("."));
    pages.extend(markdown_in("models"));
    let mut broken = Vec::new();
    for page in &pages {
        let text = fs::read_to_string(root().join(page)).unwrap();
        let folder = root().join(page).parent().unwrap().to_path_buf();
        for link in links(&text) {
            let (path, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = match path {
                "" => root().join(page),
                path => folder.join(path),
            };
            let found = match heading {
                "" => target.exists(),
                heading => fs::read_to_string(target).is_ok_and(|text| has(&text, heading)),
            };
            if !found {
                broken.push(format!("{page}: {link}"));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

/// The Markdown files in a folder, as paths from the root.
fn markdown_in(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(root().join(folder)).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let pages = names.filter(|name| name.ends_with(".md"));
    pages.map(|name| format!("{folder}/{name}")).collect()
}

/// Where the links and images of a page lead, other than to the network. Blocks of code have
/// none.
fn links(page: &str) -> Vec<&str> {
    let prose = page.split("```").step_by(2);
    let targets = prose.flat_map(|prose| prose.split("](").skip(1));
    let targets = targets.filter_map(|rest| rest.split(')').next());
    targets.filter(|target| !target.contains("://")).collect()
}

/// Whether a page has the heading that an anchor names, as mdBook makes anchors: lower case,
/// spaces as hyphens, and no other signs.
fn has(page: &str, anchor: &str) -> bool {
    let headings = page.lines().filter_map(|line| line.strip_prefix('#'));
    let mut anchors = headings.map(|heading| {
        let text = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = text.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect::<String>()
    });
    anchors.any(|known| known == anchor)
}

#[test]
fn the_page_of_the_corpus_is_up_to_date() {
    let table = fs::read_to_string(root().join("tests/corpus/expected.csv")).unwrap();
    settle("docs/src/corpus.md", &corpus_page(&table));
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The page must have this text, or gets it.
fn settle(page: &str, text: &str) {
    let path = root().join(page);
    let found = fs::read_to_string(&path).unwrap_or_default();
    if std::env::var_os("UPDATE_BOOK").is_some() {
        fs::write(path, with_old_times(&found, text)).unwrap();
        return;
    }
    let (found, text) = (stable(&found), stable(text));
    assert!(
        found == text,
        "{page} is out of date; UPDATE_BOOK=1 rewrites it. The first difference:\n{}",
        first_difference(&found, &text)
    );
}

/// The new text, whose lines are the old ones where these differ only in what varies: the times of a page
/// are of one run on a machine with nothing else to do.
fn with_old_times(old: &str, new: &str) -> String {
    let mut known: HashMap<String, VecDeque<&str>> = HashMap::new();
    for line in old.lines() {
        known.entry(stable(line)).or_default().push_back(line);
    }
    let kept = new.lines().map(|line| {
        let same = known.get_mut(&stable(line)).and_then(VecDeque::pop_front);
        same.unwrap_or(line).to_string() + "\n"
    });
    kept.collect()
}

fn first_difference(shown: &str, real: &str) -> String {
    let mut pairs = shown.lines().zip(real.lines());
    let pair = pairs.find(|(shown, real)| shown != real);
    pair.map_or("the length".to_string(), |(shown, real)| format!("shown: {shown}\n real: {real}"))
}

/// The text without what differs from run to run or grows with the corpus: the seconds of
/// `Time` lines, of verdicts and of JSON answers, how much was searched before a violation was
/// found, and the number of rows that agree.
fn stable(text: &str) -> String {
    let mut result = String::new();
    for line in text.lines() {
        let line = if let Some(rest) = line.strip_prefix("Time ") {
            rest.rsplit_once(' ').map_or(line, |(name, _)| name)
        } else if line.ends_with("; --all looks for more") {
            "--all looks for more"
        } else if line.starts_with("model ") {
            line.rsplit_once("; ").map_or(line, |(before, _)| before)
        } else if let Some((before, _)) = line.split_once("\"time_s\":") {
            before
        } else if let Some((_, after)) = line.split_once(" agree, ") {
            after
        } else {
            line
        };
        result.push_str(line);
        result.push('\n');
    }
    result
}

/// Where the commands of a page run.
fn scratch(page: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(page.replace(['/', '.'], "-"))
}

fn check_page(page: &str) {
    let text = fs::read_to_string(root().join(page)).unwrap();
    let mut shell = Shell::new(page);
    let mut real = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        real.push_str(line);
        real.push('\n');
        if line == "```console" {
            let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            real.push_str(&shell.session(&block));
            real.push_str("```\n");
        }
    }
    settle(page, &real);
}

/// Runs commands in a scratch folder.
struct Shell {
    folder: PathBuf,
    /// The exit code of the last command, for `$?`.
    code: i32,
}

impl Shell {
    fn new(page: &str) -> Shell {
        let folder = scratch(page);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        for shared in ["examples", "tests"] {
            symlink(root().join(shared), folder.join(shared)).unwrap();
        }
        Shell { folder, code: 0 }
    }

    /// The block again, with what its commands print now.
    fn session(&mut self, block: &[&str]) -> String {
        let mut session = String::new();
        let mut lines = block.iter().peekable();
        while let Some(line) = lines.next() {
            let Some(first) = line.strip_prefix("$ ") else {
                continue;
            };
            let mut command = first.to_string();
            let _ = writeln!(session, "{line}");
            while let Some(more) = lines.peek().and_then(|line| line.strip_prefix("> ")) {
                command = format!("{command}\n{more}");
                let _ = writeln!(session, "> {more}");
                lines.next();
            }
            session.push_str(&self.run(&command));
        }
        session
    }

    fn run(&mut self, command: &str) -> String {
        let parallax = Path::new(env!("CARGO_BIN_EXE_parallax"));
        let programs = parallax.parent().unwrap().display();
        let path = std::env::var("PATH").unwrap_or_default();
        let output = Command::new("sh")
            .arg("-c")
            .arg(format!("exec 2>&1; (exit {}); {command}", self.code))
            .current_dir(&self.folder)
            .env("PATH", format!("{programs}:{path}"))
            .output()
            .unwrap();
        self.code = output.status.code().unwrap_or(-1);
        let mut text = String::from_utf8(output.stdout).unwrap();
        // A log ends in an empty line, which a page does not need at the end of a block.
        while text.ends_with("\n\n") {
            text.pop();
        }
        text
    }
}

const CORPUS: &str = "\
# The corpus

Classic litmus tests in `tests/corpus`, with the answer that each model gives: `ok` if the
condition of the test holds, `no` if it does not. For a test that asks `exists`, `ok` means that
the surprising state can be reached. A name is that of a shape and of what stands between the two
accesses of each thread: `po` nothing, `addr`, `data`, `ctrl` a dependency, `dmb.sy`, `mfence` a
fence, `a`, `q`, `l`, `p` an acquire, acquirePC, release or plain access.

This page is made from `tests/corpus/expected.csv`, which `make test` checks against the
models.
";

fn corpus_page(csv: &str) -> String {
    let mut answers: BTreeMap<&str, BTreeMap<&str, BTreeMap<&str, &str>>> = BTreeMap::new();
    for row in csv.lines().skip(1) {
        let (rest, answer) = row.rsplit_once(',').unwrap();
        let (file, model) = rest.rsplit_once(',').unwrap();
        let (folder, test) = file.split_once('/').unwrap();
        let tests = answers.entry(folder).or_default();
        let test = tests.entry(test.trim_end_matches(".litmus")).or_default();
        test.insert(model, answer);
    }
    let mut page = CORPUS.to_string();
    for (folder, tests) in &answers {
        let mut models: Vec<&str> = tests.values().flat_map(|row| row.keys().copied()).collect();
        models.sort_unstable();
        models.dedup();
        let _ = write!(page, "\n## {folder}\n\n| test |");
        models.iter().for_each(|model| page.push_str(&format!(" {model} |")));
        let _ = write!(page, "\n| --- |{}\n", " --- |".repeat(models.len()));
        for (test, row) in tests {
            let cells = models.iter().map(|model| row.get(model).copied().unwrap_or(""));
            let cells: Vec<&str> = cells.collect();
            let _ = writeln!(page, "| `{test}` | {} |", cells.join(" | "));
        }
    }
    page
}
