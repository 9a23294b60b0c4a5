//! Witnesses of SV-COMP, as they are read: what another tool says about how a program goes wrong.
//!
//! Both formats come down to the same: places that threads come by one after the other, with what holds
//! there, and where the violation is in the end. The formats are those of the competition's page on
//! witnesses: YAML (2.x, [`yaml`]) and GraphML (1.0, [`graphml`]).

mod graphml;
mod yaml;

use std::path::Path;

use parallax_frontend_c::{DataModel, Formulas, parse_formulas};
use parallax_program::{Diagnostic, Diagnostics};

use crate::text::{read, shown};

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Witness {
    pub kind: Kind,
    /// The SHA-256 of each file of the program, by its path.
    pub hashes: Vec<(String, String)>,
    /// None where nobody can read it.
    pub formulas: Option<Formulas>,
    pub data_model: Option<DataModel>,
    /// In order.
    pub waypoints: Vec<Waypoint>,
    /// Where the violation is; of a race both accesses.
    pub targets: Vec<Waypoint>,
    /// What was left out, so that more executions fit than the witness means.
    pub ignored: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Violation,
    /// With so many invariants.
    Correctness(usize),
}

/// A place that a thread comes by.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Waypoint {
    /// By any name.
    pub thread: Option<String>,
    /// In the file as it is, not in what it was made of.
    pub line: u32,
    /// The function that has the line, if the witness says so.
    pub function: Option<String>,
    pub what: What,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum What {
    Visit,
    /// What holds there, as C has it.
    Assume(String),
    /// What holds of the value that a function returns, as `\result`.
    Returns(String),
}

impl Witness {
    /// Reads a file, by its name: YAML or GraphML.
    pub fn load(path: &Path) -> Result<Witness, Diagnostics> {
        let text = read(path)?;
        parse(&shown(path), &text).map_err(|error| vec![error])
    }
}

/// Reads a witness. What is wrong with it is an error with a place.
pub fn parse(name: &str, text: &str) -> Result<Witness, Diagnostic> {
    let is_markup = text.trim_start_matches('\u{feff}').trim_start().starts_with('<');
    if is_markup { graphml::parse(name, text) } else { yaml::parse(name, text) }
}

/// What a specification says, as far as that is known.
fn formulas(text: &str) -> Option<Formulas> {
    parse_formulas("specification", text).ok()
}
