//! Programs and litmus tests through the engine that asks a solver.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use parallax_engine_bounded::verify as search;
use parallax_engine_bounded::{
    Asked, Backend, Certified, Figures, Finding, Framework, Options, Solving, check, compile,
};
use parallax_files::replace;
use parallax_frontend_litmus::LitmusTest;
use parallax_memory::Model;
use parallax_program::{Diagnostic, Diagnostics, Program, Property, Question};
use parallax_report::SolverWork;
use parallax_verdict::{Conclusion, Counts, Gaps, Scope, Searched, Verdict, replay};

use super::arguments::{FrameworkName, SolverName};
use super::litmus::{USUAL_BOUND, violation};
use super::{Answer, VerifyArguments, chosen_model};
use crate::interrupt;
use crate::one_test::not_replayed;

pub fn verify(
    program: &Program,
    usual_model: &str,
    properties: Vec<Property>,
    options: &VerifyArguments,
) -> Result<Answer, Diagnostics> {
    let (answer, asked) = ask(program, usual_model, properties, options, false)?;
    emit(&asked, options)?;
    Ok(answer)
}

/// The answer, and the questions if they are to be kept.
pub fn ask(
    program: &Program,
    usual_model: &str,
    properties: Vec<Property>,
    options: &VerifyArguments,
    integers: bool,
) -> Result<(Answer, Vec<Asked>), Diagnostics> {
    let (model, machine) = chosen_model(program, usual_model, &properties, options)?;
    let compiled = machine.map(|machine| compile(program, machine)).transpose();
    let compiled = compiled.map_err(|error| vec![error])?;
    let program = compiled.as_ref().unwrap_or(program);
    let mut search_options = Options { properties, ..limits(options, options.unroll.0) };
    if integers {
        let solving = search_options.solving;
        search_options.solving = Solving { backend: Backend::Z3, integers, ..solving };
    }
    let verified = search(program, &model, &search_options)?;
    let model = model.name().to_string();
    let solver = Some(times(&verified.figures));
    let mut verdict = verified.verdict;
    verdict.notes.extend(certified(&verdict, verified.figures.certified, options));
    verdict.notes.extend(framework(options));
    if machine.is_some() {
        let note = format!("C11 was compiled to the accesses and fences of '{model}'");
        verdict.notes.push(note);
    }
    let answer = Answer { all: options.all, solver, ..Answer::new(verdict, &model, "bounded") };
    Ok((answer, verified.asked))
}

/// What JSON tells of the solver's work.
fn times(figures: &Figures) -> SolverWork {
    SolverWork {
        variables: figures.variables,
        clauses: figures.clauses,
        encoding: figures.encoding,
        solving: figures.solving,
    }
}

fn limits(options: &VerifyArguments, unroll: Option<u32>) -> Options<'static> {
    Options {
        properties: Vec::new(),
        all: options.all,
        unroll,
        nondet: options.nondet,
        timeout: options.timeout,
        memory_limit: options.memory_limit.map(|limit| u64::from(limit.get())),
        stop: Some(interrupt::stop_flag()),
        solving: Solving {
            backend: match options.solver {
                SolverName::Cadical => Backend::Cadical,
                SolverName::Z3 => Backend::Z3,
            },
            certify: options.certify,
            keep: options.emit.is_some(),
            integers: false,
        },
        framework: match options.framework {
            FrameworkName::Cat => Framework::Cat,
            FrameworkName::Gharachorloo => Framework::Gharachorloo,
        },
        throughout: false,
    }
}

/// Writes the questions, if somebody wants them. The second and all after it have their number in
/// the name.
pub fn emit(asked: &[Asked], options: &VerifyArguments) -> Result<(), Diagnostics> {
    let Some(path) = &options.emit else { return Ok(()) };
    if asked.is_empty() {
        let error = Diagnostic::new("there was no question for a solver, so none was written");
        return Err(vec![error]);
    }
    for (number, asked) in asked.iter().enumerate() {
        match number {
            0 => write(asked, path, |path, text| std::fs::write(path, text))?,
            // Nobody has said this name, so it leads nowhere else.
            _ => write(asked, &numbered(path, number + 1), replace)?,
        }
    }
    Ok(())
}

/// `a/question-2.cnf` of `a/question.cnf`.
fn numbered(path: &Path, number: usize) -> PathBuf {
    let part = |part: Option<&OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
    let (stem, extension) = (part(path.file_stem()), part(path.extension()));
    path.with_file_name(format!("{stem}-{number}.{extension}"))
}

fn write(
    asked: &Asked,
    path: &Path,
    put: impl FnOnce(&Path, &[u8]) -> std::io::Result<()>,
) -> Result<(), Diagnostics> {
    let Asked { problem, assumptions } = asked;
    let mut text = Vec::new();
    let written = match path.extension().is_some_and(|extension| extension == "cnf") {
        true => problem.write_dimacs(assumptions, &mut text),
        false => problem.write_smtlib(assumptions, &mut text),
    };
    let written = written.and_then(|()| put(path, &text));
    let name = path.display();
    written.map_err(|error| vec![Diagnostic::new(format!("cannot write '{name}': {error}"))])
}

/// What is to be said about proofs.
fn certified(verdict: &Verdict, certified: Certified, options: &VerifyArguments) -> Option<String> {
    let Certified { answers, cycles, steps } = certified;
    let safe = verdict.conclusion() == Conclusion::Safe && options.certify;
    let counted = |count: u64, what: &str| match count {
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    };
    let [answers, cycles, steps] =
        [(answers, "answer"), (cycles, "cycle"), (steps, "step")].map(|(n, what)| counted(n, what));
    safe.then(|| format!("certified: {answers}, by {cycles} and {steps}"))
}

/// What is to be said about the framework.
fn framework(options: &VerifyArguments) -> Option<String> {
    let is_other = options.framework == FrameworkName::Gharachorloo;
    is_other.then(|| "executions were told by the order of sub-operations".to_string())
}

/// The final condition of a litmus test; `question` asks for the states that are violations.
pub fn verify_test(
    test: &LitmusTest,
    question: &Question,
    model: &Model,
    options: &VerifyArguments,
) -> Result<Answer, Diagnostics> {
    let unroll = options.unroll.0.unwrap_or(USUAL_BOUND);
    let outcome = check(&test.program, question, model, &limits(options, Some(unroll)))?;
    let mut searched = Searched {
        scope: Scope::Complete,
        all: false,
        gaps: Gaps::default(),
        properties: vec![Property::Assert],
        counts: Counts { events: outcome.figures.events, ..Counts::default() },
        violations: Vec::new(),
        notes: vec!["of a litmus test, the final condition is what is checked".to_string()],
    };
    match outcome.finding {
        Finding::Reachable(execution) => {
            replay(&test.program, &execution, model)
                .map_err(|reason| vec![not_replayed(&test.program, &reason)])?;
            searched.violations.push(violation(&test.question, *execution));
        }
        Finding::Unreachable { complete } => {
            searched.scope = if complete { Scope::Complete } else { Scope::Bounded(unroll) };
        }
        Finding::Unknown(reason) => searched.gaps.add(reason),
    }
    emit(&outcome.asked, options)?;
    let solver = Some(times(&outcome.figures));
    let mut verdict = searched.conclude();
    verdict.notes.extend(certified(&verdict, outcome.figures.certified, options));
    verdict.notes.extend(framework(options));
    Ok(Answer { solver, ..Answer::new(verdict, model.name(), "bounded") })
}
