//! The crates know one another as ARCHITECTURE.md says, and in no other way.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

type Graph = BTreeMap<String, BTreeSet<String>>;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Which crates of the project each of them is built with. What only tests use does not count.
fn built_with() -> Graph {
    let folders = std::fs::read_dir(root().join("crates")).expect("crates");
    let crates = folders.map(|folder| {
        let folder = folder.expect("a folder").path();
        let name = folder.file_name().expect("a name").to_string_lossy().into_owned();
        let text = std::fs::read_to_string(folder.join("Cargo.toml")).expect("a manifest");
        let section = text.split("\n[").find_map(|part| part.strip_prefix("dependencies]\n"));
        let lines = section.unwrap_or_default().lines();
        let names = lines.filter_map(|line| {
            let name = line.split(['.', ' ', '=']).next()?;
            name.strip_prefix("parallax-").or((name == "parallax").then_some(name))
        });
        (name, names.map(str::to_string).collect())
    });
    crates.collect()
}

/// The last column of the table of crates.
fn written_down() -> Graph {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("the page");
    let table = text.split("## The crates").nth(1).and_then(|rest| rest.split("\n## ").next());
    let rows = table.expect("the table").lines().filter(|line| line.starts_with("| `"));
    let quoted = |cell: &str| -> Vec<String> {
        cell.split('`').skip(1).step_by(2).map(str::to_string).collect()
    };
    let rows = rows.map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").collect();
        let names = quoted(cells.last().expect("a cell"));
        (quoted(cells[0])[0].clone(), names.into_iter().collect())
    });
    rows.collect()
}

#[test]
fn crates_know_whom_the_page_says() {
    let (built, written) = (built_with(), written_down());
    for (name, knows) in &built {
        let said = written.get(name).unwrap_or_else(|| panic!("the page has no crate '{name}'"));
        assert_eq!(knows, said, "what '{name}' knows, and what the page says");
    }
    assert_eq!(built.len(), written.len(), "crates of the page that are not there");
}

#[test]
fn engines_are_reached_through_one_door() {
    let built = built_with();
    let is_engine = |name: &str| name.starts_with("engine-");
    // Who measures engines and who compares them looks behind the door.
    let insiders = ["verify", "bench", "hunt"];
    for (name, knows) in &built {
        let engines: Vec<&String> = knows.iter().filter(|other| is_engine(other)).collect();
        let is_allowed = match name.as_str() {
            name if insiders.contains(&name) => true,
            // Proofs by invariants ask the solver by way of the bounded engine.
            "engine-inductive" => engines == ["engine-bounded"],
            _ => engines.is_empty(),
        };
        assert!(is_allowed, "'{name}' knows {engines:?}");
    }
    let engines: Vec<&String> = built.keys().filter(|name| is_engine(name)).collect();
    assert!(engines.iter().all(|engine| built["verify"].contains(*engine)), "{engines:?}");
}

#[test]
fn data_flows_one_way() {
    let built = built_with();
    let knows = |name: &str, other: &str| built[name].contains(other);
    for name in built.keys() {
        assert!(!knows(name, "cli"), "'{name}' knows the command");
        let is_front_end = name.starts_with("frontend-");
        let is_engine = name.starts_with("engine-");
        for other in built.keys() {
            let others_front_end = other.starts_with("frontend-");
            assert!(!(is_engine && others_front_end && knows(name, other)), "{name}, {other}");
            let behind = other.starts_with("engine-") || other == "memory" || other == "verdict";
            assert!(!(is_front_end && behind && knows(name, other)), "{name}, {other}");
        }
    }
}

#[test]
fn executions_by_hand_are_for_tests() {
    for folder in std::fs::read_dir(root().join("crates")).expect("crates") {
        let manifest = folder.expect("a folder").path().join("Cargo.toml");
        let text = std::fs::read_to_string(&manifest).expect("a manifest");
        let asks = |part: &&str| part.contains("\"by-hand\"") && !part.starts_with("dev-");
        let asking: Vec<&str> = text.split("\n[").filter(asks).collect();
        assert!(asking.is_empty(), "{} counts what nobody has replayed", manifest.display());
    }
}
