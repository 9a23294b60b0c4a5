//! Witnesses of SV-COMP: what another tool needs to find a violation again, or why there is none.
//!
//! [`Path`] says which way a violating execution takes through the source; [`yaml`] and [`graphml`]
//! write it down, in the formats 2.x and 1.0 of the competition. Lines are given and columns are not:
//! the formats then mean the first place in the line that fits, and debug information does not tell
//! where statements start.

mod graphml;
mod path;
mod yaml;

use std::collections::HashMap;

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
    pub lines: HashMap<(String, u32), u32>,
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
        let exact = self.lines.get(&(step.file.clone(), step.line)).copied();
        let named = || {
            let same = |((file, line), _): &(&(String, u32), &u32)| {
                *line == step.line && base(file) == base(&step.file)
            };
            self.lines.iter().filter(same).map(|(_, line)| *line).min()
        };
        match exact.or_else(named) {
            Some(line) => (self.first_file().to_string(), line),
            None if step.file.is_empty() => (self.first_file().to_string(), step.line),
            None => (step.file.clone(), step.line),
        }
    }
}

/// What a witness says.
#[derive(Clone, Copy, Debug)]
pub enum WitnessOf<'a> {
    Violation(&'a Violation),
    Correctness,
}
