//! Executions as views: two are the same if the same reads have the same values, whichever writes gave them.
//!
//! What threads do, and whether assertions hold, depends on the values that were read and on nothing else. So one
//! execution of each class is enough, and programs with millions of execution graphs often have a handful of
//! classes (S. Singh, Program analysis under relaxed memory concurrency, IIT Delhi 2023, chapter 4). There the
//! classes are found by schedules that are made from one another; no such scheme is known that finds each class, and
//! finds it once. Here there are two ways, and both do.
//!
//! Where threads take turns, [`counting`] puts the views of a state together from those of the states behind it.
//! Elsewhere, and where loops have no end, a solver is asked for an execution, and for another one in which some
//! read has another value, until there is none: under any model that has a formula.
//!
//! An assertion that fails does so in an execution of some view. Whether anything else is wrong is asked of all executions at
//! once: the search through states says so, or the [bounded engine](parallax_engine_bounded) does, as views do not
//! distinguish who races with whom.

mod counting;
mod family;
mod lazy;
mod turns;

use parallax_control::Control;
use parallax_engine_bounded::{Bounded, with_views};
use parallax_engine_states::{Options, States};
use parallax_machine::system::MemoryKind;
use parallax_program::{Diagnostic, Diagnostics, Help, Program, Property, Setting};
use parallax_query::{Answer, Engine, Query};
use parallax_verdict::{Conclusion, Counts, Gaps, Reason, Scope, Searched, inputs_tried};

use crate::counting::{Counted, Uncounted, count};

/// Classes of executions by the values of reads.
pub struct View;

/// What is said of the number of executions.
const WHAT_COUNTS: &str = "executions in which all reads have the same values count as one";

impl Engine for View {
    fn name(&self) -> &'static str {
        "view"
    }

    fn summary(&self) -> &'static str {
        "classes of executions that read the same values"
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

/// The same as far as the states of the program say it, for those who ask several engines: the bounded engine is one of
/// them already.
pub struct OfStates;

impl Engine for OfStates {
    fn name(&self) -> &'static str {
        View.name()
    }

    fn summary(&self) -> &'static str {
        View.summary()
    }

    fn admits(&self, query: &Query<'_>) -> Result<(), Diagnostic> {
        View.admits(query)?;
        let takes_turns = query.model.facts().machine == Some(MemoryKind::Sc);
        match takes_turns && is_seen_by_views(query) && query.unroll.is_none() {
            true => Ok(()),
            false => Err(Diagnostic::new("views alone do not show what is asked for")),
        }
    }

    fn looks_for(&self, property: Property) -> bool {
        SEEN.contains(&property)
    }

    fn run(&self, query: &Query<'_>, control: &Control<'_>) -> Result<Answer, Diagnostics> {
        self.admits(query).map_err(|error| vec![error])?;
        let Some(program) = &query.subject.program else { return Err(Vec::new()) };
        let mut answer = whole(program, query);
        match count(program, &query.properties, query.nondet, control) {
            Ok(counted) if counted.views != Some(0) => counts(&mut answer, &counted),
            _ => {
                let message = "the views of the program were not counted".to_string();
                let reason = Reason { message, place: None, help: None };
                answer.verdict = answer.verdict.withdrawn(reason);
            }
        }
        Ok(answer)
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
    let mut answer = match is_seen_by_views(query) && counted.views != Some(0) {
        true => whole(program, query),
        false => engine.run(query, control)?,
    };
    if answer.verdict.conclusion() == Conclusion::Safe {
        counts(&mut answer, &counted);
    }
    // What one way does not follow the other may.
    let is_open = answer.verdict.conclusion() == Conclusion::Unknown && sees_all;
    Ok(Some(answer).filter(|_| !is_open))
}

fn counts(answer: &mut Answer, counted: &Counted) {
    answer.verdict.counts.executions = counted.views.unwrap_or(u64::MAX);
    answer.verdict.counts.states = counted.states;
    answer.verdict.notes.push(WHAT_COUNTS.to_string());
    if counted.views.is_none() {
        answer.verdict.notes.push("there are more of them than are counted".to_string());
    }
}

/// What an execution of each class shows.
const SEEN: [Property; 2] = [Property::Assert, Property::Overflow];

fn is_seen_by_views(query: &Query<'_>) -> bool {
    query.properties.iter().all(|property| SEEN.contains(property))
}

/// The answer where all views were found, and in none of them is anything wrong.
fn whole(program: &Program, query: &Query<'_>) -> Answer {
    let searched = Searched {
        scope: Scope::Complete,
        all: query.goes_on(),
        gaps: Gaps::default(),
        properties: query.properties.clone(),
        counts: Counts::default(),
        violations: Vec::new(),
        notes: Vec::new(),
    };
    let verdict = searched.conclude().restricted(inputs_tried(program, query.nondet));
    Answer { all: query.goes_on(), ..Answer::new(verdict, "view") }
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
