//! The crates know one another as ARCHITECTURE.md says, and in no other way.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use parallax_verify::registry::ENGINES;

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
    for (name, knows) in &built {
        let engines: Vec<&String> = knows.iter().filter(|other| is_engine(other)).collect();
        let is_allowed = match name.as_str() {
            "verify" => true,
            // Proofs by invariants, and views, ask the solver by way of the bounded engine; what views do not show, the
            // search through states does.
            "engine-inductive" => engines == ["engine-bounded"],
            "engine-view" => engines == ["engine-bounded", "engine-states"],
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

/// Where the tests of a crate are joined into one program, a file that nobody names is not run.
#[test]
fn every_file_of_tests_is_run() {
    for folder in std::fs::read_dir(root().join("crates")).expect("crates") {
        let folder = folder.expect("a folder").path();
        let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).expect("a manifest");
        if !manifest.contains("autotests = false") {
            continue;
        }
        let joined = std::fs::read_to_string(folder.join("tests/all.rs")).expect("all tests");
        let files = std::fs::read_dir(folder.join("tests")).expect("tests");
        let paths = files.map(|file| file.expect("a file").path());
        for path in paths.filter(|path| path.extension().is_some_and(|it| it == "rs")) {
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            let is_module = joined.contains(&format!("\nmod {name};\n"));
            let is_target = manifest.contains(&format!("\n[[test]]\nname = \"{name}\"\n"));
            assert!(is_module != is_target, "{} is run once", path.display());
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

/// The string literals of the product code of a crate, each with its file: comments and modules for
/// tests are left out.
fn literals(name: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = vec![root().join("crates").join(name).join("src")];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).expect("a folder").map(|it| it.expect("an entry"));
        let paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        let is_source = |path: &&PathBuf| path.extension().is_some_and(|it| it == "rs");
        let texts: Vec<(&PathBuf, String)> = paths
            .iter()
            .filter(is_source)
            .map(|path| (path, std::fs::read_to_string(path).expect("a text")))
            .collect();
        let tests: Vec<&str> = texts.iter().flat_map(|(_, text)| modules_for_tests(text)).collect();
        let is_test = |path: &PathBuf| {
            path.file_stem()
                .is_some_and(|stem| stem == "tests" || tests.iter().any(|it| stem == *it))
        };
        for (path, text) in texts.iter().filter(|(path, _)| !is_test(path)) {
            found.extend(
                strings(product_code(text)).into_iter().map(|string| ((*path).clone(), string)),
            );
        }
        folders.extend(paths.iter().filter(|path| path.is_dir() && !is_test(path)).cloned());
    }
    assert!(!found.is_empty(), "'{name}' has no strings");
    found
}

/// What only tests are built with: where each item begins, and its first line.
fn items_for_tests(text: &str) -> impl Iterator<Item = (usize, &str)> {
    const MARK: &str = "#[cfg(test)]\n";
    let marks = text.match_indices(MARK);
    marks.map(|(at, _)| (at, text[at + MARK.len()..].lines().next().unwrap_or_default()))
}

/// The names of the modules that only tests are built with.
fn modules_for_tests(text: &str) -> impl Iterator<Item = &str> {
    items_for_tests(text)
        .filter_map(|(_, line)| line.split_once("mod ")?.1.split([';', ' ']).next())
}

/// A text without the module for tests at its end.
fn product_code(text: &str) -> &str {
    let mut modules =
        items_for_tests(text).filter(|(_, line)| line.contains("mod ") && line.ends_with('{'));
    modules.next().map_or(text, |(at, _)| &text[..at])
}

/// The string literals of a text, as they are written.
fn strings(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['"', '/', '\'']) {
        rest = match &rest[at..] {
            comment if comment.starts_with("//") => comment.split_once('\n').map_or("", |it| it.1),
            quote if quote.starts_with("'\"'") => &quote[3..],
            quote if quote.starts_with("'\\\"'") => &quote[4..],
            raw if raw.starts_with('"') && rest[..at].ends_with("r#") => {
                let end = raw.find("\"#").unwrap_or(raw.len() - 2);
                found.push(raw[1..end.max(1)].to_string());
                &raw[end + 2..]
            }
            string if string.starts_with('"') => {
                let mut escaped = false;
                let end = string[1..].find(|c: char| {
                    let is_end = c == '"' && !escaped;
                    escaped = c == '\\' && !escaped;
                    is_end
                });
                let end = end.map_or(string.len() - 1, |end| end + 1);
                found.push(string[1..end].to_string());
                &string[end + 1..]
            }
            other => &other[1..],
        };
    }
    found
}

#[test]
fn literals_are_found() {
    let text = "a(\"b\\\"c\", '\"', 'x'); // \"d\"\nr#\"e\"f\"#; g / \"h\"";
    assert_eq!(strings(text), ["b\\\"c", "e\"f", "h"]);
    let text = "mod a;\n#[cfg(test)]\nmod b;\n#[cfg(test)]\nmod tests {";
    assert_eq!(modules_for_tests(text).collect::<Vec<_>>(), ["b", "tests"]);
}

#[test]
fn facts_about_models_are_in_one_table() {
    let names: Vec<&str> = parallax_memory::Model::builtin_names().map(|(name, ..)| name).collect();
    for (name, knows) in built_with() {
        let is_for_developers = ["bench", "hunt"].contains(&name.as_str());
        if !knows.contains("memory") || is_for_developers {
            continue;
        }
        for (file, literal) in literals(&name) {
            // A memory order of C, and an instruction of RISC-V.
            let is_other = name == "fences" && literal == "sc";
            let is_model = names.contains(&literal.as_str()) && !is_other;
            assert!(!is_model, "{}: '{literal}' is for `memory` to know", file.display());
        }
    }
}

/// Options are what the command has. Who finds out that one would help says so as data.
#[test]
fn only_the_command_names_its_options() {
    let is_option = |word: &str| {
        let name = word.trim_start_matches(['(', '\'', '`', '{']).strip_prefix("--");
        name.is_some_and(|name| name.starts_with(|c: char| c.is_ascii_lowercase()))
    };
    for (name, _) in built_with() {
        // Front ends call other programs, `report` writes what people see at a terminal, and the others
        // are commands of their own.
        let may = ["frontend-c", "report", "cli", "bench", "hunt"].contains(&name.as_str());
        for (file, literal) in literals(&name).into_iter().filter(|_| !may) {
            let option = literal.split_whitespace().find(|word| is_option(word));
            assert_eq!(option, None, "{}: an option is named in {literal:?}", file.display());
        }
    }
}

/// What base sets and relations mean is in the dictionary of `memory`.
#[test]
fn base_relations_are_defined_once() {
    // The others are words of languages, too, or are shown to people.
    let names = [
        "po",
        "rf",
        "co",
        "int",
        "ext",
        "si",
        "IW",
        "amo",
        "addr",
        "data",
        "ctrl",
        "pick-addr",
        "pick-data",
        "pick-ctrl",
        "unequal-values",
    ];
    for name in built_with().into_keys().filter(|name| name.starts_with("engine-")) {
        for (file, literal) in literals(&name) {
            let is_base = names.contains(&literal.as_str());
            assert!(!is_base, "{}: '{literal}' is for `memory` to define", file.display());
        }
    }
    let verdict = literals("verdict").into_iter().filter(|(file, _)| !file.ends_with("derived.rs"));
    for (file, literal) in verdict {
        let is_base = names.contains(&literal.as_str());
        assert!(!is_base, "{}: '{literal}' is for `memory` to define", file.display());
    }
}

/// Who is asked is the business of the registry: nobody between it and the person names an engine.
#[test]
fn engines_are_named_in_the_registry() {
    let names = ENGINES.map(|engine| engine.name());
    for name in ["verify", "cli", "report", "parallax", "fences", "debugger"] {
        // A command of the debugger, a scope of answers, and fields of objects.
        let others: &[&str] = match name {
            "debugger" => &["view"],
            "report" => &["bounded", "states"],
            "cli" => &["states"],
            _ => &[],
        };
        for (file, literal) in literals(name) {
            let is_named = |engine: &&str| {
                let is_it = literal == **engine && !others.contains(engine);
                is_it || literal.contains(&format!("'{engine}'"))
            };
            let found = names.iter().find(|engine| is_named(engine));
            assert_eq!(found, None, "{}: {literal:?}", file.display());
        }
    }
}

/// In the hall itself, engines are run by the registry, by those that take part in a race for it, and
/// where the question is how much exploration has to do. Everybody else has no type that could be run.
#[test]
fn engines_are_run_by_way_of_the_registry() {
    let upper = |name: &str| name[..1].to_uppercase() + &name[1..];
    let types = ENGINES.map(|engine| upper(engine.name()));
    let mut folders = vec![root().join("crates/verify/src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let file = path.file_name().expect("a name").to_string_lossy().into_owned();
            if ["registry.rs", "relief.rs", "estimate.rs"].contains(&&*file) {
                continue;
            }
            let text = std::fs::read_to_string(&path).expect("a text");
            let uses = text.split(';').filter(|item| item.contains("use parallax_engine_"));
            for item in uses {
                let mut words = item.split(|c: char| !c.is_alphanumeric() && c != '_');
                let found = words.find(|word| types.iter().any(|it| it == word));
                assert_eq!(found, None, "{}: {item}", path.display());
            }
        }
    }
}
