//! Executions as views: two are the same if the same reads have the same values, whichever writes gave them.
//!
//! What threads do, and whether assertions hold, depends on the values that were read and on nothing else. So one
//! execution of each class tells all, and programs with millions of execution graphs often have a handful of
//! classes (S. Singh, Program analysis under relaxed memory concurrency, IIT Delhi 2023, chapter 4). There the
//! classes are found by schedules that are made from one another; no such scheme is known that finds each class, and
//! finds it once. Here there are two ways, and both do.
//!
//! Where threads take turns, [`counting`] puts the views of a state together from those of the states behind it.
//! Elsewhere, and where loops have no end, a solver is asked for an execution, and for another one in which some
//! read has another value, until there is none: under any model that has a formula.
//!
//! Whether something is wrong is asked before that, of all executions at once: the search through states says so, or
//! the [bounded engine](parallax_engine_bounded) does, as views do not tell apart who races with whom.

mod counting;
mod family;

use parallax_control::Control;
use parallax_engine_bounded::{Bounded, with_views};
use parallax_engine_states::{Options, States};
use parallax_machine::system::MemoryKind;
use parallax_program::{Diagnostic, Diagnostics, Help, Program, Setting};
use parallax_query::{Answer, Engine, Query};
use parallax_verdict::{Conclusion, Reason};

use crate::counting::{Uncounted, count};

/// Classes of executions by the values of reads.
pub struct View;

/// What is said of the number of executions.
const WHAT_COUNTS: &str = "executions in which all reads have the same values count as one";

impl Engine for View {
    fn name(&self) -> &'static str {
        "view"
    }

    fn admits(&self, query: &Query<'_>) -> Result<(), Diagnostic> {
        if query.subject.program.is_none() {
            return Err(Diagnostic::new("the engine 'view' is not for litmus tests"));
        }
        Bounded.admits(query)
    }

    fn run(&self, query: &Query<'_>, control: &Control<'_>) -> Result<Answer, Diagnostics> {
        self.admits(query).map_err(|error| vec![error])?;
        let takes_turns = query.model.facts().machine == Some(MemoryKind::Sc);
        if let Some(program) = query.subject.program.as_ref().filter(|_| takes_turns)
            && let Some(answer) = by_states(program, query, control)?
        {
            return Ok(Answer { engine: self.name(), ..answer });
        }
        by_solver(query, control).map(|answer| Answer { engine: self.name(), ..answer })
    }
}

/// The answer where threads take turns, unless it takes a solver.
fn by_states(
    program: &Program,
    query: &Query<'_>,
    control: &Control<'_>,
) -> Result<Option<Answer>, Diagnostics> {
    if States.admits(query).is_err() {
        return Ok(None);
    }
    let sees_all = query.properties.iter().all(|it| Options::PROPERTIES.contains(it));
    let engine: &dyn Engine = if sees_all { &States } else { &Bounded };
    let counted = match count(program, &query.properties, query.nondet, control) {
        Ok(counted) => counted,
        Err(Uncounted::Wrong) if sees_all => {
            let answer = engine.run(query, control)?;
            let is_found = answer.verdict.conclusion() == Conclusion::Unsafe;
            return Ok(Some(answer).filter(|_| is_found));
        }
        Err(Uncounted::Wrong | Uncounted::Beyond | Uncounted::Stopped) => return Ok(None),
    };
    let mut answer = engine.run(query, control)?;
    if answer.verdict.conclusion() == Conclusion::Safe {
        answer.verdict.counts.executions = counted.views;
        answer.verdict.counts.states = counted.states;
        answer.verdict.notes.push(WHAT_COUNTS.to_string());
    }
    // What one way does not follow the other may.
    let is_open = answer.verdict.conclusion() == Conclusion::Unknown && sees_all;
    Ok(Some(answer).filter(|_| !is_open))
}

/// The answer under any model that the bounded engine takes.
fn by_solver(query: &Query<'_>, control: &Control<'_>) -> Result<Answer, Diagnostics> {
    let (mut answer, views) = with_views(query, control)?;
    let Some(views) = views else {
        if answer.verdict.conclusion() == Conclusion::Safe {
            let message = "classes of executions were not counted: loops go on beyond the bound";
            let help = Help::with(Setting::Unroll, "N", "counts those within a bound");
            let (message, help) = (message.to_string(), Some(help));
            answer.verdict = answer.verdict.withdrawn(Reason { message, place: None, help });
        }
        return Ok(answer);
    };
    answer.verdict.counts.executions = views.found;
    answer.verdict.notes.push(WHAT_COUNTS.to_string());
    if !views.are_all {
        let message = format!("not all classes of executions were counted: {} so far", views.found);
        let help = Help::with(Setting::Engine, "bounded", "answers without counting them");
        let reason = Reason { message, place: None, help: Some(help) };
        answer.verdict = answer.verdict.withdrawn(reason);
    }
    Ok(answer)
}
