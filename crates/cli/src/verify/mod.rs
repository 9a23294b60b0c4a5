//! `parallax verify`: one program, one verdict, in the form that was asked for.

pub mod arguments;
mod batch;
pub mod input;
pub mod output;
mod page;
mod progress;
mod tasks;
mod witness;

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use parallax_control::{Cancel, Control, Progress};
use parallax_program::{Diagnostic, Diagnostics};
use parallax_query::Extensions;
use parallax_verdict::Conclusion;
use parallax_verify::stack::with_stack;
use parallax_verify::text::shown;
use parallax_verify::{
    AbstractDomain, Abstraction, Analysis, Asking, Backend, Cluster, Format, Framework, Judge,
    Keeping, Orders, Parts, Patience, PrecisionScope, Properties, Pruning, Refinements, Request,
    Response, Ruling, Waitlist, schedules,
};

pub use arguments::VerifyArguments;
use arguments::{
    AnswerFormat, DomainName, FrameworkName, GraphsName, JudgeName, OrdersName, PartsName,
    PrecisionName, PruneName, RefinementName, SolverName, WaitlistName,
};
use progress::ProgressLine;
use witness::{Asked, is_exchanged};

use crate::output::Wording;
use crate::{Exit, interrupt};

pub fn run(options: &VerifyArguments) -> Exit {
    let cancel = interrupt::install();
    if options.batch {
        return batch::run(options, &cancel);
    }
    if tasks::are_asked(options) {
        return tasks::run(options, &cancel);
    }
    if options.estimate {
        return estimate(options, &cancel);
    }
    if options.process.is_some_and(|process| process > 0) {
        return take_part(options, &cancel);
    }
    match one(options, request(options), &cancel) {
        Ok((exit, _)) | Err(exit) => exit,
    }
}

/// What a process of a cluster does that does not lead: the answer is another one's.
fn take_part(options: &VerifyArguments, cancel: &Cancel) -> Exit {
    let control = control(options, cancel);
    match timed(|| request(options).prepare()?.take_part(&control), wording(options)) {
        Ok((None, _)) => Exit::Fine,
        Ok((Some(lost), _)) => {
            crate::output::note(&lost);
            Exit::Unknown
        }
        Err(exit) => exit,
    }
}

fn control(options: &VerifyArguments, cancel: &Cancel) -> Control<'static> {
    Control {
        memory_limit: Some(u64::from(options.memory_limit.get())),
        jobs: options.jobs,
        ..Control::default().until(cancel.clone()).within(options.timeout)
    }
}

/// One question, answered and shown; the error is that there is no answer.
fn one(
    options: &VerifyArguments,
    request: Request,
    cancel: &Cancel,
) -> Result<(Exit, Option<Ruling>), Exit> {
    let asked =
        Asked { files: request.input.files.clone(), data_model: request.input.reading.data_model };
    let (response, time) = timed(|| response(options, request, cancel), wording(options))?;
    let exit = match response.answer.verdict.conclusion() {
        Conclusion::Safe => Exit::Fine,
        Conclusion::Unsafe => Exit::Missed,
        Conclusion::Unknown => Exit::Unknown,
    };
    // What was found before Ctrl-C is shown, but the run did not come to its end.
    let exit = if cancel.is_cancelled() { Exit::Unknown } else { exit };
    output::deliver(options, &asked, &response, time)?;
    Ok((exit, response.ruling))
}

/// How errors are said.
fn wording(options: &VerifyArguments) -> Wording {
    let input = || shown(options.input.first());
    match options.format {
        AnswerFormat::Json => Wording::Json(input()),
        AnswerFormat::Sarif => Wording::Sarif(input()),
        AnswerFormat::Text | AnswerFormat::Svcomp | AnswerFormat::Csv => Wording::Text,
    }
}

/// An answer, and how long it took. Where there is none, the errors have been shown.
pub fn timed<T: Send>(
    answer: impl FnOnce() -> Result<T, Diagnostics> + Send,
    wording: Wording,
) -> Result<(T, Duration), Exit> {
    let started = Instant::now();
    match with_stack(answer) {
        Ok(Ok(answer)) => Ok((answer, started.elapsed())),
        Ok(Err(errors)) => {
            crate::output::refuse(&errors, wording);
            Err(Exit::BadInput)
        }
        Err(broken) => {
            crate::output::refuse(&[broken], wording);
            Err(Exit::Unknown)
        }
    }
}

fn response(
    options: &VerifyArguments,
    request: Request,
    cancel: &Cancel,
) -> Result<Response, Diagnostics> {
    check_format(options, &request)?;
    let control = control(options, cancel);
    let prepared = request.prepare()?;
    if let (Some(file), Some(text)) = (&options.listing, prepared.listing()) {
        output::write(file, text).map_err(|error| vec![error])?;
    }
    let line = Mutex::new(ProgressLine::new(!options.quiet));
    let lock = || line.lock().unwrap_or_else(PoisonError::into_inner);
    let is_watched = lock().is_shown();
    let show = |progress: &Progress| lock().show(progress);
    let response = prepared.ask(&Control { progress: is_watched.then_some(&show), ..control });
    lock().clear();
    let response = response?;
    if let Some(path) = &options.emit {
        output::emit(path, &response.answer.questions)?;
    }
    Ok(response)
}

/// How much there is to explore, on one line.
fn estimate(options: &VerifyArguments, cancel: &Cancel) -> Exit {
    let estimated = || {
        // One thread is measured.
        let control = Control { jobs: NonZeroUsize::MIN, ..control(options, cancel) };
        request(options).prepare()?.estimate(&control)
    };
    match timed(estimated, wording(options)) {
        Ok((Some(estimate), _)) => {
            let _ = crate::output::print(&format!("{}\n", progress::forecast(&estimate)));
            Exit::Fine
        }
        Ok((None, _)) => {
            let error = Diagnostic::new("there is nothing to go by for an estimate");
            crate::output::report(&error.with_help("try without --estimate, and a --timeout"));
            Exit::Unknown
        }
        Err(exit) => exit,
    }
}

fn request(options: &VerifyArguments) -> Request {
    Request {
        input: options.input.within(options.timeout),
        model: options.model.clone(),
        engine: options.engine,
        properties: options.property.clone(),
        unroll: options.unroll.0,
        nondet: options.nondet,
        all: options.all,
        extensions: extensions(options),
        keeping: Keeping {
            file: options.checkpoint.clone(),
            resume: options.resume.clone(),
            every: options.checkpoint_every,
        },
        cluster: cluster(options),
    }
}

fn cluster(options: &VerifyArguments) -> Option<Cluster> {
    Some(Cluster {
        hosts: options.cluster.clone()?,
        process: options.process.unwrap_or(0),
        secret: options.secret.clone(),
        say: crate::output::note,
        patience: Patience { to_come: options.wait, silent: options.silence },
    })
}

/// What was said that only some engines know.
fn extensions(options: &VerifyArguments) -> Extensions {
    let extensions = Extensions::default()
        .with(asking(options))
        .with(options.reductions)
        .with(abstraction(options));
    match schedule(options) {
        Some(_) => extensions.with(schedules()),
        None => extensions,
    }
}

fn abstraction(options: &VerifyArguments) -> Abstraction {
    Abstraction {
        order: match options.waitlist {
            WaitlistName::Usual => Waitlist::Usual,
            WaitlistName::Dfs => Waitlist::DepthFirst,
            WaitlistName::Bfs => Waitlist::BreadthFirst,
            WaitlistName::Err => Waitlist::ErrorFirst,
        },
        domain: match options.domain {
            DomainName::Explicit => AbstractDomain::Explicit,
            DomainName::Predicates => AbstractDomain::Predicates,
            DomainName::Product => AbstractDomain::Product,
            DomainName::Boolean => AbstractDomain::Boolean,
            DomainName::BooleanProduct => AbstractDomain::BooleanProduct,
        },
        analysis: match options.graphs {
            GraphsName::Usual => Analysis::Usual,
            GraphsName::Eager => Analysis::Eager,
            GraphsName::Lazy => Analysis::Lazy,
        },
        judge: match options.judge {
            JudgeName::Saturation => Judge::Saturation,
            JudgeName::Sat => Judge::Sat,
            JudgeName::Functions => Judge::Functions,
            JudgeName::Datalog => Judge::Datalog,
        },
        reduction: match options.orders {
            OrdersName::Naive => Orders::Naive,
            OrdersName::Merged => Orders::Merged,
            OrdersName::Sets => Orders::Sets,
            OrdersName::Aware => Orders::Aware,
        },
        pruning: match options.prune {
            PruneName::Lazy => Pruning::Lazy,
            PruneName::Full => Pruning::Full,
        },
        refinement: match options.refinement {
            RefinementName::Backward => Refinements::Backward,
            RefinementName::Sequence => Refinements::Sequence,
            RefinementName::All => Refinements::All,
        },
        parts: match options.parts {
            PartsName::Both => Parts::Both,
            PartsName::Whole => Parts::Whole,
            PartsName::Conjuncts => Parts::Conjuncts,
            PartsName::Atoms => Parts::Atoms,
        },
        scope: match options.precision {
            PrecisionName::Global => PrecisionScope::Global,
            PrecisionName::Local => PrecisionScope::Local,
        },
        most_values: options.maxenum,
        proves: options.proof.is_some(),
        reports_rounds: options.verbose,
    }
}

/// Where the schedule of a violation goes, and not a witness for others.
fn schedule(options: &VerifyArguments) -> Option<&Path> {
    options.witness.as_deref().filter(|path| !is_exchanged(path))
}

fn asking(options: &VerifyArguments) -> Asking {
    Asking {
        backend: match options.solver {
            SolverName::Cadical => Backend::Cadical,
            SolverName::Z3 => Backend::Z3,
        },
        certify: options.certify,
        framework: match options.framework {
            FrameworkName::Cat => Framework::Cat,
            FrameworkName::Gharachorloo => Framework::Gharachorloo,
        },
        keep: options.emit.as_ref().map(|path| {
            match path.extension().is_some_and(|extension| extension == "cnf") {
                true => Format::Dimacs,
                false => Format::SmtLib,
            }
        }),
        integers: options.integers,
    }
}

/// The words of the competition are for its properties.
fn check_format(options: &VerifyArguments, request: &Request) -> Result<(), Diagnostics> {
    if options.format == AnswerFormat::Csv {
        return Err(vec![Diagnostic::new("--format csv is for --batch")]);
    }
    let is_ruled = matches!(request.properties, Some(Properties::File(_)));
    if options.witness.as_deref().is_some_and(is_exchanged) && !is_ruled {
        let error = Diagnostic::new("witnesses of SV-COMP are for its properties");
        return Err(vec![error.with_help("say --property FILE.prp, or give a task, TASK.yml")]);
    }
    if options.format == AnswerFormat::Svcomp && !is_ruled {
        let error = Diagnostic::new("--format svcomp is for properties of SV-COMP");
        return Err(vec![error.with_help("say --property FILE.prp, or give a task, TASK.yml")]);
    }
    if options.expect && !tasks::are_asked(options) {
        let error = Diagnostic::new("--expect is for tasks, which know what to expect");
        return Err(vec![error.with_help("give tasks, TASK.yml")]);
    }
    Ok(())
}
