//! `parallax litmus`: runs a batch of tests and prints the answers in order.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::Path;
use std::thread;

use parallax_control::Cancel;
use parallax_frontend_litmus::collect;
use parallax_program::{Diagnostic, Diagnostics};
use parallax_report::{Caption, TestRun, dot, error_json, herd_log, outcomes_json, sketch, svg};
use parallax_verdict::{Ending, Outcomes, Reason, no_final_state};
use parallax_verify::models::{ModelChoice, Models, arch_name};
use parallax_verify::text::shown;

use crate::Exit;
use crate::args::{Format, LitmusArguments};
use crate::batch::{Audience, Batch};
use crate::graph::{Gallery, MOST_PICTURES, Picture};
use crate::one_test::{Answered, Job, Refused, Setup, run_test};
use crate::output::{self, Results, Wording};
use crate::progress::Progress;
use crate::voice::Options;
use crate::{expect, interrupt};

/// Finished tests that may wait for an earlier one.
const WINDOW: usize = 1024;
/// The same where each test may bring pictures along.
const WINDOW_WITH_PICTURES: usize = 64;

/// The variant that is about tests and not about models; herd7 has it under this name.
const UNPREDICTABLE: &str = "ConstrainedUnpredictable";

pub fn run(options: &LitmusArguments) -> Exit {
    let cancel = interrupt::install();
    if options.sketch && options.format == Format::Json {
        let error = Diagnostic::new("--sketch needs --format text");
        output::refuse(&[error], wording(options));
        return Exit::BadInput;
    }
    let is_of_tests = |variant: &String| variant.eq_ignore_ascii_case(UNPREDICTABLE);
    let (own, of_models): (Vec<String>, Vec<String>) =
        options.variant.iter().cloned().partition(is_of_tests);
    let setup = Setup {
        options,
        models: Models::new(&of_models, options.bell.as_deref()),
        unpredictable: !own.is_empty(),
        witnesses: match (&options.graph, options.sketch) {
            (Some(_), _) => MOST_PICTURES,
            (None, true) => 1,
            (None, false) => 0,
        },
        cancel,
    };
    match &options.expect {
        Some(csv) => expect::run(csv, &setup),
        None => run_tests(&setup),
    }
}

fn run_tests(setup: &Setup<'_>) -> Exit {
    let options = setup.options;
    let model = match &options.model {
        None => ModelChoice::ByArchitecture,
        Some(name) => ModelChoice::parse(name, Path::new("")),
    };
    if model != ModelChoice::ByArchitecture
        && let Err(errors) = setup.models.get(&model)
    {
        output::refuse(&errors, wording(options));
        return Exit::BadInput;
    }
    let (files, errors) = collect(&options.paths);
    let mut exit = Exit::Fine;
    if !errors.is_empty() {
        output::refuse(&errors, wording(options));
        exit = Exit::BadInput;
    } else if files.is_empty() {
        let error = Diagnostic::new("there are no litmus tests in the given paths");
        output::refuse(&[error], wording(options));
        return Exit::BadInput;
    }
    let gallery = match options.graph.as_deref().map(Gallery::open).transpose() {
        Ok(gallery) => gallery,
        Err(error) => {
            let message = format!("cannot make the folder for pictures: {error}");
            output::refuse(&[Diagnostic::new(message)], wording(options));
            return Exit::BadInput;
        }
    };
    let jobs: Vec<Job> = files.into_iter().map(|path| Job { path, model: model.clone() }).collect();
    let mut printer = Printer {
        jobs: &jobs,
        options,
        results: Results::new(),
        progress: Progress::new(jobs.len(), !options.quiet),
        gallery,
        done: 0,
        exit,
        cancel: setup.cancel.clone(),
    };
    let work = |number: usize| Rendered::new(&jobs[number], setup);
    let ran = batch(setup, jobs.len()).run(work, &mut printer);
    printer.finish(ran)
}

/// How errors are said that are about no single test.
pub fn wording(options: &LitmusArguments) -> Wording {
    match options.format {
        Format::Json => Wording::Json(options.paths.first().map_or_else(String::new, |p| shown(p))),
        Format::Text => Wording::Text,
    }
}

/// The batch that the options ask for.
pub fn batch(setup: &Setup<'_>, count: usize) -> Batch {
    let cores = thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    Batch {
        count,
        jobs: setup.options.jobs.unwrap_or(cores),
        window: if setup.options.graph.is_some() { WINDOW_WITH_PICTURES } else { WINDOW },
        cancel: setup.cancel.child(),
    }
}

/// An answer ready to be printed: all that is kept of a test once it has run.
struct Rendered {
    name: String,
    stdout: String,
    errors: Diagnostics,
    /// For people who want to hear more.
    summary: String,
    pictures: Vec<Picture>,
    /// How many executions satisfy the condition.
    positive: u64,
    exit: Exit,
}

impl Rendered {
    fn new(job: &Job, setup: &Setup<'_>) -> Rendered {
        match run_test(job, setup) {
            Ok(answered) => Rendered::answered(job, setup.options, answered),
            Err(refused) => Rendered::refused(job, setup.options, refused),
        }
    }

    fn answered(job: &Job, options: &LitmusArguments, answered: Answered) -> Rendered {
        let Answered { name, outcomes, .. } = &answered;
        let stdout = match options.format {
            Format::Json => {
                let run = TestRun {
                    test: name,
                    file: &shown(&job.path),
                    arch: arch_name(answered.arch),
                    model: &answered.model,
                    time: answered.time,
                };
                format!("{}\n", outcomes_json(run, outcomes))
            }
            Format::Text => {
                let log = herd_log(name, outcomes, &answered.condition, answered.time);
                match outcomes.witnesses.first().filter(|_| options.sketch) {
                    Some(witness) => format!("{log}{}\n", sketch(witness)),
                    None => log,
                }
            }
        };
        let errors = match outcomes.states.is_empty() && options.format == Format::Text {
            true => {
                let Reason { message, .. } = no_final_state(&outcomes.ending);
                vec![Diagnostic::new(format!("{name}: {message}"))]
            }
            false => Vec::new(),
        };
        Rendered {
            stdout,
            errors,
            summary: summary(&answered),
            pictures: match options.graph {
                Some(_) => pictures(&answered),
                None => Vec::new(),
            },
            positive: outcomes.positive,
            exit: exit_of(outcomes),
            name: answered.name,
        }
    }

    fn refused(job: &Job, options: &LitmusArguments, refused: Refused) -> Rendered {
        let file = shown(&job.path);
        let (stdout, errors) = match options.format {
            Format::Json => {
                let name = refused.name.as_deref();
                let errors: Diagnostics =
                    refused.diagnostics.iter().map(|error| error.worded(&Options)).collect();
                let line = error_json(name, &file, &errors);
                (format!("{line}\n"), Vec::new())
            }
            Format::Text => (String::new(), refused.diagnostics),
        };
        Rendered {
            name: refused.name.unwrap_or(file),
            stdout,
            errors,
            summary: String::new(),
            pictures: Vec::new(),
            positive: 0,
            exit: Exit::BadInput,
        }
    }
}

fn summary(answered: &Answered) -> String {
    let outcomes = &answered.outcomes;
    let ending = match &outcomes.ending {
        Ending::Complete => "complete",
        Ending::Bounded => "cut at the loop bound",
        Ending::Stopped { reason } => reason,
    };
    format!(
        "{}: {} under {}: {} executions, {} final states, {ending}, {:.3} s",
        answered.name,
        arch_name(answered.arch),
        answered.model,
        outcomes.positive.saturating_add(outcomes.negative),
        outcomes.states.len(),
        answered.time.as_secs_f64(),
    )
}

fn pictures(answered: &Answered) -> Vec<Picture> {
    let outcomes = &answered.outcomes;
    let witnesses = outcomes.witnesses.iter().take(MOST_PICTURES).enumerate();
    witnesses
        .map(|(number, witness)| {
            let subtitle =
                format!("{}: execution {} of {}", answered.model, number + 1, outcomes.positive);
            let caption = Caption { title: &answered.name, subtitle: &subtitle };
            Picture { svg: svg(witness, caption), dot: dot(witness, caption) }
        })
        .collect()
}

fn exit_of(outcomes: &Outcomes) -> Exit {
    match outcomes.ending {
        // A condition says nothing where there is no final state.
        Ending::Complete | Ending::Bounded if outcomes.states.is_empty() => Exit::Unknown,
        Ending::Complete | Ending::Bounded => Exit::Fine,
        Ending::Stopped { .. } => Exit::Unknown,
    }
}

/// Prints answers as they come.
struct Printer<'a> {
    jobs: &'a [Job],
    options: &'a LitmusArguments,
    results: Results,
    progress: Progress,
    gallery: Option<Gallery>,
    done: usize,
    exit: Exit,
    /// Cancelled by the person at the keyboard.
    cancel: Cancel,
}

impl Printer<'_> {
    fn print(&mut self, rendered: Rendered) -> ControlFlow<()> {
        self.exit = self.exit.and(rendered.exit);
        if self.results.write(&rendered.stdout).is_break() {
            self.exit = self.exit.and(Exit::Unknown);
            return ControlFlow::Break(());
        }
        rendered.errors.iter().for_each(output::report);
        if self.options.verbose && !rendered.summary.is_empty() {
            output::note(&rendered.summary);
        }
        self.hang(&rendered);
        ControlFlow::Continue(())
    }

    fn hang(&mut self, rendered: &Rendered) {
        let Some(gallery) = self.gallery.as_mut().filter(|_| !rendered.pictures.is_empty()) else {
            return;
        };
        match gallery.add(&rendered.name, &rendered.pictures) {
            Ok(files) if !self.options.quiet => {
                for file in &files {
                    output::note(&format!("{}: drew {} (and .dot)", rendered.name, shown(file)));
                }
                let left = rendered.positive.saturating_sub(files.len() as u64);
                if left > 0 {
                    let message = format!("{}: {left} more executions not drawn", rendered.name);
                    output::note(&message);
                }
            }
            Ok(_) => {}
            Err(error) => {
                let message = format!("cannot write the pictures of {}: {error}", rendered.name);
                output::report(&Diagnostic::new(message));
                self.exit = self.exit.and(Exit::BadInput);
            }
        }
    }

    fn finish(mut self, ran: std::io::Result<()>) -> Exit {
        self.progress.clear();
        if let Err(error) = ran {
            let message = format!("cannot start a thread: {error}");
            output::report(&Diagnostic::new(message).with_help("try fewer --jobs"));
            return Exit::Unknown;
        }
        if self.done < self.jobs.len() {
            self.exit = self.exit.and(Exit::Unknown);
        }
        if self.cancel.is_cancelled() {
            let all = self.jobs.len();
            output::note(&format!("interrupted after {} of {all} tests", self.done));
            self.exit = Exit::Unknown;
        }
        self.exit
    }
}

impl Audience<Option<Rendered>> for Printer<'_> {
    fn result(&mut self, number: usize, rendered: Option<Rendered>) -> ControlFlow<()> {
        self.progress.clear();
        self.done = number + 1;
        let rendered = rendered.unwrap_or_else(|| {
            let refused =
                Refused { name: None, diagnostics: vec![internal_error(&self.jobs[number])] };
            let rendered = Rendered::refused(&self.jobs[number], self.options, refused);
            Rendered { exit: Exit::Unknown, ..rendered }
        });
        self.print(rendered)
    }

    fn pause(&mut self, current: usize) -> ControlFlow<()> {
        if self.results.flush().is_break() {
            self.exit = self.exit.and(Exit::Unknown);
            return ControlFlow::Break(());
        }
        if let Some(job) = self.jobs.get(current) {
            self.progress.show(self.done, &shown(&job.path));
        }
        ControlFlow::Continue(())
    }
}

/// For a test that brought the search down.
pub fn internal_error(job: &Job) -> Diagnostic {
    let file = shown(&job.path);
    Diagnostic::new(format!("internal error while running '{file}'"))
        .with_help("this is a bug in parallax; please report it with the test")
}
