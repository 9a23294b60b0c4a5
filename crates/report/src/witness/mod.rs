//! Witnesses of SV-COMP: what another tool needs to find a violation again, or why there is none.
//!
//! [`Path`] says which way a violating execution takes through the source; [`yaml`] and [`graphml`]
//! write it down, in the formats 2.x and 1.0 of the competition. Lines are given and columns are not:
//! the formats then mean the first place in the line that fits, and debug information does not say
//! where statements start.

mod graphml;
mod path;
mod yaml;

use parallax_verdict::Violation;

pub use graphml::witness_graphml;
pub use yaml::witness_yaml;

/// What a witness is about.
#[derive(Clone, Debug)]
pub struct WitnessTask {
    /// Paths as they were given, and the SHA-256 of what is there.
    pub files: Vec<(String, String)>,
    /// As property files have it.
    pub specification: String,
    /// Functions that must not be called.
    pub calls: Vec<String>,
    /// `ILP32` or `LP64`.
    pub data_model: &'static str,
    /// Where lines of other files, as line markers name them, are in the first file.
    pub lines: Vec<WitnessLines>,
    /// As ISO 8601 has it.
    pub creation_time: String,
    pub uuid: String,
    /// Of this tool.
    pub version: &'static str,
}

impl WitnessTask {
    /// The first of the files: where nothing else is said, places are there.
    fn first_file(&self) -> &str {
        self.files.first().map_or("", |(name, _)| name)
    }

    /// The file and the line of a step, in what was given.
    fn place(&self, step: &path::Step) -> (String, u32) {
        let base = |path: &str| path.rsplit('/').next().unwrap_or(path).to_string();
        let own = base(&step.file);
        let found = self.lines.iter().find_map(|lines| {
            let offset = step.line.checked_sub(lines.named)?;
            let is_there = offset < lines.count && base(&lines.file) == own;
            is_there.then(|| lines.line + offset)
        });
        match found {
            Some(line) => (self.first_file().to_string(), line),
            None if step.file.is_empty() => (self.first_file().to_string(), step.line),
            None => (step.file.clone(), step.line),
        }
    }
}

/// Lines in a row that a marker gives to another file.
#[derive(Clone, Debug)]
pub struct WitnessLines {
    pub file: String,
    /// What the first of them is called there.
    pub named: u32,
    /// Where it is.
    pub line: u32,
    pub count: u32,
}

/// What a witness says.
#[derive(Clone, Copy, Debug)]
pub enum WitnessOf<'a> {
    Violation(&'a Violation),
    Correctness,
}
