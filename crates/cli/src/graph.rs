//! Pictures as files: `DIR/NAME-1.svg`, `DIR/NAME-1.dot` and so on.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use parallax_files::replace;

/// Executions drawn for each test.
pub const MOST_PICTURES: usize = 16;
const NAME_LENGTH: usize = 100;

/// One execution, drawn.
pub struct Picture {
    pub svg: String,
    pub dot: String,
}

/// The folder that pictures go to.
pub struct Gallery {
    folder: PathBuf,
    /// In lower case: some file systems take names that differ in case for the same.
    taken: HashSet<String>,
}

impl Gallery {
    pub fn open(folder: &Path) -> io::Result<Gallery> {
        fs::create_dir_all(folder)?;
        Ok(Gallery { folder: folder.to_path_buf(), taken: HashSet::new() })
    }

    /// Writes the pictures of one test and returns the SVG files.
    pub fn add(&mut self, test: &str, pictures: &[Picture]) -> io::Result<Vec<PathBuf>> {
        let name = self.free_name(test);
        let mut files = Vec::with_capacity(pictures.len());
        for (number, picture) in pictures.iter().enumerate() {
            let file = |kind: &str| {
                let number = number + 1;
                self.folder.join(format!("{name}-{number}.{kind}"))
            };
            replace(&file("svg"), picture.svg.as_bytes())?;
            replace(&file("dot"), picture.dot.as_bytes())?;
            files.push(file("svg"));
        }
        Ok(files)
    }

    /// A name that no other test of this run has.
    fn free_name(&mut self, test: &str) -> String {
        let safe = safe_name(test);
        let mut name = safe.clone();
        let mut count = 1;
        while !self.taken.insert(name.to_lowercase()) {
            count += 1;
            name = format!("{safe}.{count}");
        }
        name
    }
}

/// The test's name without anything that file systems or shells take amiss.
fn safe_name(test: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "+-_.".contains(c);
    let name: String =
        test.chars().take(NAME_LENGTH).map(|c| if allowed(c) { c } else { '_' }).collect();
    if name.is_empty() || name.starts_with(['.', '-']) { format!("_{name}") } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_safe_and_never_shared() {
        assert_eq!(safe_name("MP+dmb.sy+[x]"), "MP+dmb.sy+_x_");
        assert_eq!(safe_name("../../etc"), "_.._.._etc");
        assert_eq!(safe_name(""), "_");
        let mut gallery = Gallery { folder: PathBuf::new(), taken: HashSet::new() };
        let names: Vec<String> =
            ["SB", "sb", "SB", "SB.2"].iter().map(|test| gallery.free_name(test)).collect();
        assert_eq!(names, ["SB", "sb.2", "SB.3", "SB.2.2"]);
    }
}
