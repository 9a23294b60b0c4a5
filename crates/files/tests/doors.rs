//! No other crate of the product starts a program, or opens a file to read, by itself.

use std::fs;
use std::path::{Path, PathBuf};

/// Those for developers, who trust what they run.
const OTHERS: [&str; 3] = ["files", "bench", "hunt"];

const DOORS: [&str; 6] = [
    "process::Command",
    "Command::new(",
    "File::open(",
    "fs::read(",
    "read_to_string(",
    "temp_dir(",
];

/// What the system says about this process.
const OWN: &str = "\"/proc/self/";

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => sources(&path, found),
            false if path.extension().is_some_and(|extension| extension == "rs") => {
                found.push(path)
            }
            false => {}
        }
    }
}

#[test]
fn there_is_no_other_way_out() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut looked_at = 0;
    for entry in fs::read_dir(crates).expect("the crates").flatten() {
        if OTHERS.iter().any(|other| entry.file_name() == *other) {
            continue;
        }
        let mut files = Vec::new();
        sources(&entry.path().join("src"), &mut files);
        for file in files {
            looked_at += 1;
            let text = fs::read_to_string(&file).expect("a source");
            // Tests are at the ends of files, or in files of their own.
            let text = text.split("#[cfg(test)]").next().unwrap_or_default();
            for line in text.lines().filter(|line| !line.contains(OWN)) {
                let door = DOORS.iter().find(|door| line.contains(*door));
                assert!(door.is_none(), "{}: {}", file.display(), line.trim());
            }
        }
    }
    assert!(looked_at > 300, "{looked_at} files");
}
