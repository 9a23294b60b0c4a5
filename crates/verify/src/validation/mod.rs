//! `parallax validate`: whether a witness shows what it says.
//!
//! A witness of a violation leads a [search](search) through the executions that come by its places.
//! One that ends where the witness says *confirms* it; where the search is complete and has none, or
//! the property holds of the whole program, it is *refuted*; anything else is *unknown*. What a
//! witness says and cannot be followed is left out: that lets more executions through, so that the
//! answer may still be that the violation is there, but no longer that it is not. Where the search
//! cannot decide, the engines are asked, and their own violation is held against the witness
//! ([`other`]).

mod expression;
mod lines;
mod other;
mod search;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::time::Duration;

use parallax_control::Control;
use parallax_files::{MOST_TEXT, sha256};
use parallax_frontend_c::{Formula, Formulas};
use parallax_machine::system::{MemoryKind, Setup, System, SystemOptions};
use parallax_program::{Diagnostic, Diagnostics, Location, Program, Property};

use crate::competition::Ruling;
use crate::properties::Properties;
use crate::request::{Prepared, Request};
use crate::task::MODEL;
use crate::text::shown;
use crate::witness::{Kind, Waypoint, What, Witness};
pub use lines::{Lines, Stretch};
use search::{End, INPUTS, Search};

/// What is known of a witness.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Validation {
    pub outcome: Outcome,
    /// Why.
    pub reason: String,
    /// What of the witness was not followed.
    pub notes: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    Confirmed,
    Refuted,
    Unknown,
}

impl Outcome {
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Confirmed => "confirmed",
            Outcome::Refuted => "refuted",
            Outcome::Unknown => "unknown",
        }
    }
}

/// So many values of an input that a witness does not give are tried.
const MOST_VALUES: usize = 64;

/// The search takes so long at most where nothing else is said; then the engines are asked.
const PATIENCE: Duration = Duration::from_secs(30);

/// Looks whether a program does what a witness says. The request has the program, and may have the
/// property; what it does not say is as the witness has it.
pub fn validate(
    mut request: Request,
    witness: &Witness,
    control: &Control<'_>,
) -> Result<Validation, Diagnostics> {
    if let Some(reason) = other_program(&request, witness)? {
        return Ok(said(Outcome::Refuted, reason));
    }
    let formulas = match &request.properties {
        Some(properties) => properties.formulas()?,
        None => witness.formulas.clone(),
    };
    let Some(formulas) = formulas else {
        let error = Diagnostic::new("the property that the witness is about is not known");
        return Err(vec![error.with_help("a property file, FILE.prp, says what is asked")]);
    };
    request.properties = Some(Properties::Written(formulas.clone()));
    request.model = Some(MODEL.to_string());
    let reading = &mut request.input.reading;
    reading.data_model = reading.data_model.or(witness.data_model);
    let lines = first_lines(&request)?;
    let prepared = request.prepare()?;
    let Some(program) = &prepared.subject.program else {
        return Err(vec![Diagnostic::new("witnesses are of programs in C")]);
    };
    match witness.kind {
        Kind::Correctness(0) => prepared.prove(control),
        Kind::Correctness(_) => {
            Ok(said(Outcome::Unknown, "the invariants of correctness witnesses are not checked"))
        }
        Kind::Violation => {
            let guide = Guide::new(witness, &formulas, program, &lines, &prepared.subject.name);
            if let Some(reason) = guide.wrong_target(program, &lines) {
                return Ok(said(Outcome::Refuted, reason));
            }
            prepared.follow(program, &guide, control)
        }
    }
}

fn said(outcome: Outcome, reason: impl Into<String>) -> Validation {
    Validation { outcome, reason: reason.into(), notes: Vec::new() }
}

/// Why a witness is about another program, if it is.
fn other_program(request: &Request, witness: &Witness) -> Result<Option<String>, Diagnostics> {
    let base = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
    for path in &request.input.files {
        let bytes = parallax_files::read(path, MOST_TEXT).map_err(|error| {
            vec![Diagnostic::new(format!("cannot read '{}': {error}", shown(path)))]
        })?;
        let known = match witness.hashes.as_slice() {
            [only] => Some(only),
            several => several.iter().find(|(name, _)| base(Path::new(name)) == base(path)),
        };
        let own = sha256(&bytes);
        match known {
            Some((_, hash)) if hash.eq_ignore_ascii_case(&own) => {}
            _ => {
                let name = shown(path);
                return Ok(Some(format!(
                    "it is about another program: the SHA-256 of {name} is {own}"
                )));
            }
        }
    }
    Ok(None)
}

fn first_lines(request: &Request) -> Result<Lines, Diagnostics> {
    let bytes = parallax_files::read(request.input.first(), MOST_TEXT)
        .map_err(|error| vec![Diagnostic::new(format!("cannot read the program: {error}"))])?;
    Ok(Lines::of(&String::from_utf8_lossy(&bytes)))
}

impl Prepared {
    /// A witness that says nothing but that all is well.
    fn prove(&self, control: &Control<'_>) -> Result<Validation, Diagnostics> {
        let ruling = self.ask(control)?.ruling;
        Ok(match ruling {
            Some(Ruling::True) => said(Outcome::Confirmed, "the property holds"),
            Some(Ruling::False(part)) => said(Outcome::Refuted, format!("{part} is violated")),
            Some(Ruling::Unknown(reason)) => said(Outcome::Unknown, reason),
            None => said(Outcome::Unknown, "there is no verdict"),
        })
    }

    fn follow(
        &self,
        program: &Program,
        guide: &Guide<'_>,
        control: &Control<'_>,
    ) -> Result<Validation, Diagnostics> {
        let half = control.left().map_or(PATIENCE, |left| left / 2);
        let own = control.clone().within(Some(half));
        let mut properties = guide.formulas.properties();
        let mut answer = look(program, guide, &properties, &own)?;
        if answer.outcome == Outcome::Refuted && !properties.contains(&Property::Memory) {
            // What nobody has written was taken for zero: whether that is so anywhere is seen only
            // where it is an error.
            properties.push(Property::Memory);
            answer = look(program, guide, &properties, &own)?;
        }
        if answer.outcome == Outcome::Unknown && control.reason().is_none() {
            answer = self.second_opinion(answer, guide, control)?;
        }
        answer.notes.extend(guide.ignored.iter().map(|what| format!("not followed: {what}")));
        Ok(answer)
    }

    /// What the engines say of the program as a whole.
    fn second_opinion(
        &self,
        answer: Validation,
        guide: &Guide<'_>,
        control: &Control<'_>,
    ) -> Result<Validation, Diagnostics> {
        let response = self.ask(control)?;
        let (reason, note) = match response.ruling {
            Some(Ruling::True) => {
                return Ok(said(Outcome::Refuted, "the property holds of all executions"));
            }
            // No state of the machine says what is pointed to.
            Some(Ruling::False(part @ "valid-memtrack")) => {
                (format!("{part}: an object is lost"), "found without the witness")
            }
            Some(Ruling::False(part)) => {
                let violations = &response.answer.verdict.violations;
                let Some(found) = violations.iter().find(|found| guide.means(found)) else {
                    return Ok(answer);
                };
                (format!("{part}: {}", found.message), "found by an engine, as the witness has it")
            }
            _ => return Ok(answer),
        };
        let notes = vec![note.to_string()];
        Ok(Validation { notes, ..said(Outcome::Confirmed, reason) })
    }
}

/// One search.
fn look(
    program: &Program,
    guide: &Guide<'_>,
    properties: &[Property],
    control: &Control<'_>,
) -> Result<Validation, Diagnostics> {
    let options = SystemOptions {
        memory: MemoryKind::Sc,
        nondet: Some(INPUTS),
        properties: properties.to_vec(),
        stops: true,
        ..SystemOptions::default()
    };
    let too_large = || vec![Diagnostic::new("the globals of the program are too large")];
    let mut setup = Setup::new(program, options).ok_or_else(too_large)?;
    loop {
        let mut search = Search::new(&setup, guide, control);
        let end = search.run();
        let context = match end {
            End::Found(what) => return Ok(said(Outcome::Confirmed, what)),
            End::Stopped(why) => return Ok(said(Outcome::Unknown, why)),
            End::Exhausted => return Ok(guide.conclusion(&search)),
            End::Escaped(context) => context,
        };
        setup.share(context);
    }
}

/// A witness, made ready for a program.
pub struct Guide<'a> {
    formulas: &'a Formulas,
    /// With the numbers of their places.
    waypoints: Vec<(Waypoint, usize)>,
    targets: Vec<(Waypoint, usize)>,
    /// Numbers by file, without its folder, and line.
    places: HashMap<(String, u32), usize>,
    /// Names of threads, numbered.
    names: HashMap<String, usize>,
    /// Inputs that are tried.
    values: Vec<i128>,
    globals: HashMap<&'a str, (usize, u32)>,
    ignored: Vec<String>,
    /// The file of places that have no other.
    own: String,
    /// Places that only the first thread comes by.
    of_main: HashSet<usize>,
}

impl<'a> Guide<'a> {
    fn new(
        witness: &Witness,
        formulas: &'a Formulas,
        program: &'a Program,
        lines: &Lines,
        input: &str,
    ) -> Guide<'a> {
        let own = base(input);
        let mut guide = Guide {
            formulas,
            waypoints: Vec::new(),
            targets: Vec::new(),
            places: HashMap::new(),
            names: HashMap::new(),
            values: vec![0, 1, -1, 2],
            globals: HashMap::new(),
            ignored: witness.ignored.clone(),
            own: own.to_string(),
            of_main: HashSet::new(),
        };
        let place = |waypoint: &Waypoint| presumed(waypoint, lines, own);
        let there = places_of(program);
        for waypoint in &witness.waypoints {
            match misplaced(waypoint, there.get(&place(waypoint))) {
                None => guide.add(waypoint, place(waypoint), false),
                Some(problem) => guide.ignored.push(problem),
            }
        }
        for target in &witness.targets {
            guide.add(target, place(target), true);
        }
        for (number, global) in program.globals.iter().enumerate() {
            if matches!(global.size, 1 | 2 | 4 | 8) {
                guide.globals.insert(&global.name, (number, global.size as u32));
            }
        }
        let is_main = |(place, _): &(&(String, u32), &usize)| {
            there.get(*place).is_some_and(|there| there.iter().eq([&"main"]))
        };
        guide.of_main = guide.places.iter().filter(is_main).map(|(_, number)| *number).collect();
        guide.ignore_what_is_not_known(program);
        guide.values.sort_unstable();
        guide.values.dedup();
        guide.values.truncate(MOST_VALUES);
        guide
    }

    fn add(&mut self, waypoint: &Waypoint, place: (String, u32), is_target: bool) {
        let next = self.places.len();
        let number = *self.places.entry(place).or_insert(next);
        if let Some(name) = &waypoint.thread {
            let next = self.names.len();
            self.names.entry(name.clone()).or_insert(next);
        }
        if let What::Assume(text) | What::Returns(text) = &waypoint.what {
            self.values.extend(expression::numbers(text));
        }
        let list = if is_target { &mut self.targets } else { &mut self.waypoints };
        list.push((waypoint.clone(), number));
    }

    /// Assumptions about anything but globals.
    fn ignore_what_is_not_known(&mut self, program: &Program) {
        let value = |name: &str| self.globals.contains_key(name).then_some(1);
        let mut ignored = Vec::new();
        for (waypoint, _) in &self.waypoints {
            if let What::Assume(text) = &waypoint.what
                && expression::evaluate(text, &value).is_none()
            {
                ignored.push(format!("'{text}' in line {}", waypoint.line));
            }
        }
        // A value that a function of the program returns is nothing that the machine decides.
        let inputs = input_places(program);
        let inputs: HashSet<usize> =
            inputs.iter().filter_map(|place| self.places.get(place).copied()).collect();
        for (waypoint, number) in &mut self.waypoints {
            if let (What::Returns(text), false) = (&waypoint.what, inputs.contains(number)) {
                ignored.push(format!("'{text}' in line {}", waypoint.line));
                waypoint.what = What::Visit;
            }
        }
        self.ignored.extend(ignored);
    }

    fn name(&self, waypoint: &Waypoint) -> usize {
        let name = waypoint.thread.as_ref().and_then(|name| self.names.get(name));
        name.copied().unwrap_or(usize::MAX)
    }

    /// The number of a place of the program, if the witness speaks of it.
    fn place(&self, location: &Location) -> Option<usize> {
        if location.is_linked() {
            return None;
        }
        self.places.get(&(base(&location.file).to_string(), location.line)).copied()
    }

    fn asks(&self, formula: &Formula) -> bool {
        self.formulas.formulas.contains(formula)
    }

    /// What a global variable holds.
    fn global(&self, system: &System<'_, '_>, name: &str, is_signed: bool) -> Option<i128> {
        let (number, bytes) = *self.globals.get(name)?;
        let address = *system.setup().code.addresses().get(number)?;
        let value = parallax_program::Bits::new(bytes * 8, system.bytes(None, address, bytes));
        match is_signed {
            true => Some(value.to_signed()),
            false => i128::try_from(value.unsigned()).ok(),
        }
    }

    /// Why there is nothing where the witness has its target.
    fn wrong_target(&self, program: &Program, lines: &Lines) -> Option<String> {
        let there = places_of(program);
        let problem =
            |target: &Waypoint| misplaced(target, there.get(&presumed(target, lines, &self.own)));
        let problem = self.targets.iter().find_map(|(target, _)| problem(target))?;
        Some(format!("the target is in {problem}"))
    }

    fn target_lines(&self) -> String {
        let lines: Vec<String> = self.targets.iter().map(|(t, _)| t.line.to_string()).collect();
        lines.join(" and ")
    }

    /// What follows from a search that has found nothing.
    fn conclusion(&self, search: &Search<'_, '_, '_>) -> Validation {
        let lines = self.target_lines();
        let reason = match (&search.elsewhere, search.furthest < self.waypoints.len()) {
            (_, true) => {
                let line = self.waypoints.get(search.furthest).map_or(0, |(next, _)| next.line);
                format!("no execution comes to line {line} as the witness has it")
            }
            (Some(other), false) => format!("nothing fails in line {lines}, but {other}"),
            (None, false) => format!("nothing fails in line {lines}"),
        };
        if let Some(gap) = &search.gap {
            let mut unknown = said(Outcome::Unknown, gap.clone());
            unknown.notes.push(format!("of the executions that were tried, {reason}"));
            return unknown;
        }
        if self.asks(&Formula::ValidMemtrack) {
            return said(Outcome::Unknown, "no state of the machine says what is lost");
        }
        match self.ignored.is_empty() {
            true => said(Outcome::Refuted, reason),
            false => said(Outcome::Unknown, format!("{reason}; but not all of it was followed")),
        }
    }
}

/// A path without its folder.
fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The place of a waypoint, as the program has it.
fn presumed(waypoint: &Waypoint, lines: &Lines, own: &str) -> (String, u32) {
    let (file, line) = lines.presumed(waypoint.line);
    (file.map_or(own, base).to_string(), line)
}

/// What is wrong with the place of a waypoint, given the functions that have code there.
fn misplaced(waypoint: &Waypoint, there: Option<&BTreeSet<&str>>) -> Option<String> {
    let line = waypoint.line;
    let Some(functions) = there else {
        return Some(format!("line {line}, where there is no code"));
    };
    let function = waypoint.function.as_deref()?;
    (!functions.contains(function)).then(|| format!("line {line}, which is not of '{function}'"))
}

/// Where there is code, and of which functions.
fn places_of(program: &Program) -> HashMap<(String, u32), BTreeSet<&str>> {
    let mut places: HashMap<(String, u32), BTreeSet<&str>> = HashMap::new();
    for function in &program.functions {
        for block in &function.blocks {
            let spans = block.insts.iter().map(|inst| inst.span).chain([block.terminator_span]);
            let own = spans.map(|span| program.source.origin(span));
            for place in own.filter(|place| !place.is_linked()) {
                let place = (base(&place.file).to_string(), place.line);
                places.entry(place).or_default().insert(&function.name);
            }
        }
    }
    places
}

/// Where functions are called that give inputs.
fn input_places(program: &Program) -> HashSet<(String, u32)> {
    use parallax_program::{Callee, InstKind};
    let gives = |function: &parallax_program::Function| {
        let mut insts = function.blocks.iter().flat_map(|block| &block.insts);
        insts.any(|inst| matches!(inst.kind, InstKind::Nondet { .. }))
    };
    let insts = program.functions.iter().flat_map(|function| &function.blocks);
    let insts = insts.flat_map(|block| &block.insts);
    let inputs = insts.filter(|inst| match &inst.kind {
        InstKind::Nondet { .. } => true,
        InstKind::Call { callee: Callee::Direct(id), .. } => gives(program.function(*id)),
        _ => false,
    });
    let places = inputs.map(|inst| program.source.origin(inst.span));
    places.map(|place| (base(&place.file).to_string(), place.line)).collect()
}
