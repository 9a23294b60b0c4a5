//! Parallax as a library: can an assertion of a concurrent program fail, is there a data race, a
//! deadlock, a memory error, under *any* order that a memory model allows?
//!
//! ```
//! use parallax::{Conclusion, Verification};
//!
//! # fn main() -> Result<(), parallax::Errors> {
//! let report = Verification::of("../../examples/tutorial/store-buffering.c").model("tso").run()?;
//! assert_eq!(report.conclusion(), Conclusion::Unsafe);
//! let violation = &report.violations()[0];
//! println!("{}: {}", violation.property, violation.message);
//! for event in &violation.execution.events {
//!     println!("{:?} {:?}", event.thread, event.kind);
//! }
//! let picture: Option<String> = report.svg();
//! # assert!(picture.is_some_and(|picture| picture.starts_with("<svg")));
//! # Ok(())
//! # }
//! ```
//!
//! Inputs are those of the command `parallax verify`: C files and LLVM modules (by way of clang),
//! x86-64 machine code, litmus tests, operation structures and the text form of the intermediate
//! language. What a verdict promises is the same, too: `unknown` with a reason where something was
//! not decided.
//!
//! Two verifications can run side by side; each has limits of its own, and a [`Cancel`] ends one of
//! them from another thread:
//!
//! ```
//! use std::time::Duration;
//! use parallax::{Cancel, Conclusion, Verification};
//!
//! # fn main() -> Result<(), parallax::Errors> {
//! let cancel = Cancel::default();
//! cancel.cancel();
//! let verification = Verification::of("../../examples/c/peterson.c")
//!     .model("sc")
//!     .timeout(Duration::from_secs(10))
//!     .cancelled_by(&cancel);
//! let report = verification.run()?;
//! assert_eq!(report.conclusion(), Conclusion::Unknown);
//! assert!(report.reason().is_some_and(|reason| reason.message == "stopped"));
//! # Ok(())
//! # }
//! ```

use std::fmt;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use parallax_control::Control;
use parallax_program::Diagnostic;
use parallax_query::Answer;
use parallax_report::{Caption, Detail, TextStyle, Under, VerifyRun, focused_svg};
use parallax_verify::stack::with_stack;
use parallax_verify::text::shown;
use parallax_verify::{Choice, Properties, Request, Response};

pub use parallax_control::Cancel;
pub use parallax_program::{Location, Property};
pub use parallax_verdict::{
    Conclusion, Counts, Event, EventKind, Execution, Reason, Scope, Verdict, Violation,
};

/// A question about a program.
#[derive(Clone, Default)]
pub struct Verification {
    request: Request,
    timeout: Option<Duration>,
    control: Control<'static>,
    /// What was said wrongly.
    errors: Vec<Diagnostic>,
}

impl Verification {
    /// Of a file. Its name says what it is.
    pub fn of(file: impl Into<PathBuf>) -> Verification {
        let mut verification = Verification::default();
        verification.request.input.files.push(file.into());
        verification
    }

    /// Links another C file or LLVM module.
    pub fn with_file(mut self, file: impl Into<PathBuf>) -> Verification {
        self.request.input.files.push(file.into());
        self
    }

    /// An argument for clang.
    pub fn clang(mut self, argument: impl Into<String>) -> Verification {
        self.request.input.reading.clang.push(argument.into());
        self
    }

    /// A built-in model, or the path of a cat file. Without one, `rc11` for C, `tso` for machine
    /// code, and for litmus tests and operation structures that of their machine.
    pub fn model(mut self, model: impl Into<String>) -> Verification {
        self.request.model = Some(model.into());
        self
    }

    /// The engine of this name. Without one, those that may know, side by side.
    pub fn engine(mut self, name: &str) -> Verification {
        match name.parse::<Choice>() {
            Ok(engine) => self.request.engine = engine,
            Err(message) => self.errors.push(Diagnostic::new(message)),
        }
        self
    }

    /// What to look for. Without it, all but leaks.
    pub fn properties(mut self, properties: impl IntoIterator<Item = Property>) -> Verification {
        let mut properties: Vec<Property> = properties.into_iter().collect();
        properties.sort_unstable();
        properties.dedup();
        self.request.properties = Some(Properties::Named(properties));
        self
    }

    /// Repeats loops so often at most.
    pub fn unroll(mut self, rounds: u32) -> Verification {
        self.request.unroll = Some(rounds);
        self
    }

    /// Which values inputs may have, both ends included. Without it, any.
    pub fn inputs(mut self, low: i128, high: i128) -> Verification {
        self.request.nondet = Some((low, high));
        self
    }

    /// Goes on after a violation.
    pub fn all(mut self) -> Verification {
        self.request.all = true;
        self
    }

    /// Stops after so long, with what was found so far.
    pub fn timeout(mut self, limit: Duration) -> Verification {
        self.timeout = Some(limit);
        self
    }

    /// Stops when the process has taken so much memory.
    pub fn memory_limit(mut self, mib: u64) -> Verification {
        self.control.memory_limit = Some(mib);
        self
    }

    /// How many threads search. The answer does not depend on it.
    pub fn jobs(mut self, jobs: NonZeroUsize) -> Verification {
        self.control.jobs = jobs;
        self
    }

    /// Stops when this is cancelled.
    pub fn cancelled_by(mut self, cancel: &Cancel) -> Verification {
        self.control.cancel = cancel.clone();
        self
    }

    /// Reads the program and searches. Errors are those of the input, of the model, or of what was
    /// asked; what could not be decided is a report.
    pub fn run(self) -> Result<Report, Errors> {
        let Verification { mut request, timeout, control, errors } = self;
        if !errors.is_empty() {
            return Err(Errors(errors));
        }
        request.input.timeout = timeout;
        let input = shown(request.input.first());
        let started = Instant::now();
        let control = control.within(timeout);
        let response = with_stack(|| request.prepare()?.ask(&control));
        let response = response.map_err(|broken| Errors(vec![broken]))?.map_err(Errors)?;
        Ok(Report { response, input, time: started.elapsed() })
    }
}

/// What came of a verification.
pub struct Report {
    response: Response,
    input: String,
    time: Duration,
}

impl Report {
    pub fn conclusion(&self) -> Conclusion {
        self.verdict().conclusion()
    }

    pub fn verdict(&self) -> &Verdict {
        &self.answer().verdict
    }

    /// What was found, each with an execution that was replayed.
    pub fn violations(&self) -> &[Violation] {
        &self.verdict().violations
    }

    /// Why nothing is concluded, where that is so.
    pub fn reason(&self) -> Option<&Reason> {
        self.verdict().reason.as_ref()
    }

    /// The name of the model.
    pub fn model(&self) -> &str {
        self.response.model.name()
    }

    /// The name of the engine that has answered.
    pub fn engine(&self) -> &'static str {
        self.answer().engine
    }

    pub fn time(&self) -> Duration {
        self.time
    }

    /// For people: the verdict, and the trace that leads there.
    pub fn text(&self) -> String {
        let style = TextStyle { colour: false, width: 120, detail: Detail::Short };
        parallax_report::verdict_text(&self.described(), self.verdict(), style)
    }

    /// One object, as `docs/src/verdict.schema.json` describes it.
    pub fn json(&self) -> String {
        parallax_report::verdict_json(&self.described(), self.verdict())
    }

    /// The execution of the first violation, drawn.
    pub fn svg(&self) -> Option<String> {
        let violation = self.violations().first()?;
        let subtitle = format!("{}, {}", self.input, self.model());
        let caption = Caption { title: &violation.message, subtitle: &subtitle };
        Some(focused_svg(violation, caption))
    }

    fn answer(&self) -> &Answer {
        &self.response.answer
    }

    fn described(&self) -> VerifyRun<'_> {
        let answer = self.answer();
        VerifyRun {
            input: &self.input,
            under: Under::of(&self.response.model),
            engine: answer.engine,
            engine_summary: self.response.engine_summary(),
            counts_executions: self.response.counts_executions(),
            all: answer.all,
            time: self.time,
            peak_rss_kib: 0,
            solver: answer.solver,
            candidate: answer.candidate.as_deref(),
        }
    }
}

impl fmt::Debug for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.text())
    }
}

/// What is wrong with the input, with the model, or with what was asked; each with its place.
#[derive(Clone, Debug)]
pub struct Errors(pub Vec<Diagnostic>);

impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, error) in self.0.iter().enumerate() {
            if number > 0 {
                writeln!(f)?;
            }
            write!(f, "{error}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Errors {}
