//! The bounded engine as one among others.

use std::any::TypeId;

use parallax_control::Control;
use parallax_program::{Diagnostic, Diagnostics, Help, Property, Setting};
use parallax_query::{Answer, Engine, Extension, Final, Query, SolverWork, Subject, Wanted};
use parallax_solver::Backend;
use parallax_verdict::{Conclusion, Counts, Gaps, Scope, Searched, Verdict};

use crate::litmus::{Finding, check};
use crate::mapping::{Machine, compile};
use crate::options::{Asked, Certified, Figures, Framework, Options, Solving};
use crate::program::verify;
use crate::views::Views;

/// A solver, asked about programs up to a bound on their loops.
pub struct Bounded;

/// An extension of queries: how the solver is asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Asking {
    pub backend: Backend,
    /// Believe that there is no execution only with a certificate that was checked.
    pub certify: bool,
    pub framework: Framework,
    /// What the questions are kept as.
    pub keep: Option<Format>,
    /// Values are integers without bounds; for programs whose words are that wide.
    pub integers: bool,
}

impl Extension for Asking {
    fn settings(&self) -> Vec<Setting> {
        let usual = Asking::default();
        let all = [
            (self.backend != usual.backend, Setting::Solver),
            (self.certify, Setting::Certify),
            (self.framework != usual.framework, Setting::Framework),
            (self.keep.is_some(), Setting::Emit),
            (self.integers, Setting::Integers),
        ];
        all.into_iter().filter(|(is_made, _)| *is_made).map(|(_, setting)| setting).collect()
    }
}

/// How a question is written down.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    Dimacs,
    SmtLib,
}

/// How often a loop of a litmus test is repeated where nothing is said.
const USUAL_BOUND: u32 = 2;

impl Engine for Bounded {
    fn name(&self) -> &'static str {
        "bounded"
    }

    fn summary(&self) -> &'static str {
        "a solver"
    }

    fn admits(&self, query: &Query<'_>) -> Result<(), Diagnostic> {
        if matches!(query.wanted, Wanted::Every(_)) {
            return Err(Diagnostic::new("a solver finds some bad executions, not all of them"));
        }
        if query.subject.program.is_none() && query.subject.finals.is_none() {
            return Err(Diagnostic::new("there is no program to unfold"));
        }
        let asking: Asking = query.extensions.get().copied().unwrap_or_default();
        let is_z3 = asking.integers || asking.backend == Backend::Z3;
        if asking.certify && is_z3 {
            let other = if asking.integers { Setting::Integers } else { Setting::Solver };
            let error = Diagnostic::new("Z3 gives no proofs that could be checked");
            return Err(error.with_help(Help::Contradiction(vec![other, Setting::Certify])));
        }
        Ok(())
    }

    fn extensions(&self) -> Vec<TypeId> {
        vec![TypeId::of::<Asking>()]
    }

    fn counts_executions(&self) -> bool {
        false
    }

    fn run(&self, query: &Query<'_>, control: &Control<'_>) -> Result<Answer, Diagnostics> {
        self.admits(query).map_err(|error| vec![error])?;
        let asking = query.extensions.get().copied().unwrap_or_default();
        let Subject { program, finals, .. } = query.subject;
        match (program, finals) {
            (Some(_), _) => {
                let options = options(query, asking, control);
                whole(query, asking, &options).map(|(answer, _)| answer)
            }
            (None, Some(asked)) => final_states(asked, query, asking, control),
            (None, None) => Err(Vec::new()),
        }
    }
}

/// The answer to a query about a program, and where nothing is wrong, how many [classes](Views) of executions
/// there are.
pub fn with_views(
    query: &Query<'_>,
    control: &Control<'_>,
) -> Result<(Answer, Option<Views>), Diagnostics> {
    let asking = query.extensions.get().copied().unwrap_or_default();
    let options = Options { views: true, ..options(query, asking, control) };
    whole(query, asking, &options)
}

/// A program with assertions.
fn whole(
    query: &Query<'_>,
    asking: Asking,
    options: &Options<'_>,
) -> Result<(Answer, Option<Views>), Diagnostics> {
    let Some(program) = &query.subject.program else { return Err(Vec::new()) };
    let machine = Machine::of_model(&query.model).filter(|_| query.is_compiled);
    let compiled = machine.map(|machine| compile(program, machine)).transpose();
    let compiled = compiled.map_err(|error| vec![error])?;
    let program = compiled.as_ref().unwrap_or(program);
    let verified = verify(program, &query.model, options)?;
    let mut verdict = verified.verdict;
    verdict.notes.extend(notes(&verdict, verified.figures.certified, asking));
    if machine.is_some() {
        let note =
            format!("C11 was compiled to the accesses and fences of '{}'", query.model.name());
        verdict.notes.push(note);
    }
    let solver = Some(work(&verified.figures));
    let questions = questions(&verified.asked, asking)?;
    let answer = Answer::new(verdict, "bounded");
    Ok((Answer { all: query.goes_on(), solver, questions, ..answer }, verified.views))
}

/// A program with a question about its final states.
fn final_states(
    asked: &Final,
    query: &Query<'_>,
    asking: Asking,
    control: &Control<'_>,
) -> Result<Answer, Diagnostics> {
    let bound = query.unroll.unwrap_or(USUAL_BOUND);
    let options = Options { unroll: Some(bound), ..options(query, asking, control) };
    let outcome = check(&asked.program, &asked.bad, &query.model, &options)?;
    let mut searched = Searched {
        scope: Scope::Complete,
        all: false,
        gaps: Gaps::default(),
        properties: vec![Property::Assert],
        counts: Counts { events: outcome.figures.events, ..Counts::default() },
        violations: Vec::new(),
        notes: Vec::new(),
    };
    match outcome.finding {
        Finding::Reachable(execution) => {
            searched.violations.push(asked.violation(*execution));
        }
        Finding::Unreachable { complete } => {
            searched.scope = if complete { Scope::Complete } else { Scope::Bounded(bound) };
        }
        Finding::Unknown(reason) => searched.gaps.add(reason),
    }
    let mut verdict = searched.conclude();
    verdict.notes.extend(notes(&verdict, outcome.figures.certified, asking));
    let (solver, questions) = (Some(work(&outcome.figures)), questions(&outcome.asked, asking)?);
    Ok(Answer { solver, questions, ..Answer::new(verdict, "bounded") })
}

fn options<'a>(query: &Query<'_>, asking: Asking, control: &Control<'a>) -> Options<'a> {
    let Asking { backend, certify, framework, keep, integers } = asking;
    Options {
        properties: query.properties.clone(),
        all: query.goes_on(),
        unroll: query.unroll,
        binds_counts: query.unroll.is_some(),
        nondet: query.nondet,
        control: control.clone(),
        solving: Solving {
            // Only Z3 knows integers.
            backend: if integers { Backend::Z3 } else { backend },
            certify,
            keep: keep.is_some(),
            integers,
        },
        framework,
        throughout: false,
        views: false,
    }
}

fn work(figures: &Figures) -> SolverWork {
    let Figures { variables, clauses, encoding, solving, .. } = *figures;
    SolverWork { variables, clauses, encoding, solving }
}

/// What is to be said about proofs, and about the framework.
fn notes(verdict: &Verdict, certified: Certified, asking: Asking) -> Vec<String> {
    let Certified { answers, cycles, steps } = certified;
    let counted = |count: u64, what: &str| match count {
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    };
    let mut notes = Vec::new();
    if verdict.conclusion() == Conclusion::Safe && asking.certify {
        let [answers, cycles, steps] = [(answers, "answer"), (cycles, "cycle"), (steps, "step")]
            .map(|(n, what)| counted(n, what));
        notes.push(format!("certified: {answers}, by {cycles} and {steps}"));
    }
    if asking.framework == Framework::Gharachorloo {
        notes.push("executions were decided by the order of sub-operations".to_string());
    }
    notes
}

/// The questions as texts.
fn questions(asked: &[Asked], asking: Asking) -> Result<Vec<Vec<u8>>, Diagnostics> {
    let Some(format) = asking.keep else { return Ok(Vec::new()) };
    let texts = asked.iter().map(|Asked { problem, assumptions }| {
        let mut text = Vec::new();
        match format {
            Format::Dimacs => problem.write_dimacs(assumptions, &mut text)?,
            Format::SmtLib => problem.write_smtlib(assumptions, &mut text)?,
        }
        Ok(text)
    });
    let texts: std::io::Result<Vec<Vec<u8>>> = texts.collect();
    texts.map_err(|error| vec![Diagnostic::new(format!("cannot write a question: {error}"))])
}
