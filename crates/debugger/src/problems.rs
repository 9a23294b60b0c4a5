//! What is wrong with a state, as the search through states would find it, and the final state.

use parallax_machine::system::{At, Readiness, Waits};
use parallax_machine::{Code, Concrete};
use parallax_program::{Bits, Operand, Prop, Property, Quantifier, Question};

use crate::machine::{Machine, Standing as ThreadStanding};
use crate::names::Names;

/// Something that people must know of a state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    kind: Kind,
    pub text: String,
    /// The thread that stands at it, if one does.
    pub thread: Option<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Violation,
    /// Something that cannot be followed.
    Unknown,
    /// Nothing more happens, and that is fine.
    Over,
}

/// How a state is to be judged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    Fine,
    Violation,
    /// Something was met that cannot be followed.
    Unknown,
}

pub fn standing(problems: &[Problem]) -> Standing {
    let has = |kind| problems.iter().any(|problem| problem.kind == kind);
    match (has(Kind::Violation), has(Kind::Unknown)) {
        (true, _) => Standing::Violation,
        (_, true) => Standing::Unknown,
        _ => Standing::Fine,
    }
}

pub fn find(now: &Machine<'_, '_>, names: &Names<'_>, question: Option<&Question>) -> Vec<Problem> {
    let mut problems = Vec::new();
    let is_settled = now.system.is_settled();
    let mut open = Vec::new();
    for thread in now.threads() {
        let Some(standing) = now.standing(thread) else {
            continue;
        };
        // What a thread has been promised may yet turn out to be impossible.
        if is_settled && let Some(problem) = of_thread(now, names, thread, &standing) {
            problems.push(problem);
        }
        if !now.system.has_ended(thread) {
            open.push(standing);
        }
    }
    if problems.is_empty() && now.actions().is_empty() && !is_settled {
        let text = "What a read was promised cannot come true any more: this is no execution.";
        problems.push(Problem { kind: Kind::Over, text: text.to_string(), thread: None });
    } else if problems.is_empty() && now.actions().is_empty() {
        problems.push(of_end(now, &open, question));
    }
    problems
}

fn wanted(now: &Machine<'_, '_>, property: Property) -> bool {
    now.system.setup().options.properties.contains(&property)
}

fn of_thread(
    now: &Machine<'_, '_>,
    names: &Names<'_>,
    thread: u32,
    standing: &ThreadStanding<'_>,
) -> Option<Problem> {
    let name = names.thread(thread);
    let violation = |property: Property, message: &str| {
        let text = format!("Violation ({property}) in {name}: {message}");
        wanted(now, property).then_some(Problem {
            kind: Kind::Violation,
            text,
            thread: Some(thread),
        })
    };
    let unknown = |message: &str| {
        let text = format!("{name} cannot be followed: {message}");
        Some(Problem { kind: Kind::Unknown, text, thread: Some(thread) })
    };
    match (&standing.at, &standing.readiness) {
        (At::Failed { property, message }, _) => violation(*property, message),
        (_, Readiness::Failed { property, wrong }) => violation(*property, wrong.message()),
        (At::Fault(fault), _) => unknown(&fault.message()),
        (At::Cut, _) => unknown("a loop, or recursion, that does not end"),
        _ => None,
    }
}

/// Of a state in which nothing can happen.
fn of_end(
    now: &Machine<'_, '_>,
    open: &[ThreadStanding<'_>],
    question: Option<&Question>,
) -> Problem {
    let is_over = now.system.setup().code.program.daemons && now.system.has_ended(0);
    if !open.is_empty() && is_over {
        let text = "The program has ended; some threads have not.".to_string();
        return Problem { kind: Kind::Over, text, thread: None };
    }
    if !open.is_empty() {
        return of_waiting(now, open);
    }
    let over =
        Problem { kind: Kind::Over, text: "All threads have ended.".to_string(), thread: None };
    let Some(question) = question else {
        return over;
    };
    let filter = question.filter.as_ref().map_or(Some(true), |filter| holds(now, filter));
    let found = holds(now, &question.prop).filter(|_| filter == Some(true));
    let is_bad = match question.quantifier {
        Quantifier::Exists | Quantifier::NotExists => found == Some(true),
        Quantifier::ForAll => found == Some(false),
    };
    let state: Vec<String> = question
        .shown()
        .into_iter()
        .filter_map(|shown| {
            let value = now.system.observed(&shown.place)?;
            let signed = if shown.signed { value.to_signed() } else { value.unsigned() as i128 };
            Some(format!("{}={signed}", shown.name))
        })
        .collect();
    let condition = question.text.trim();
    let (kind, verb) = match is_bad {
        true => (Kind::Violation, "Violation (assert)"),
        false => (Kind::Over, "No violation"),
    };
    let text =
        format!("All threads have ended. Final state: {}.\n{verb}: {condition}", state.join("; "));
    Problem { kind, text, thread: None }
}

fn of_waiting(now: &Machine<'_, '_>, open: &[ThreadStanding<'_>]) -> Problem {
    let mut property = Property::Deadlock;
    for standing in open {
        match (&standing.at, &standing.readiness) {
            (At::Endless, _) | (_, Readiness::Blocked(Waits::Bytes { spins: true, .. })) => {
                property = Property::Liveness;
            }
            (At::Waiting, _) | (_, Readiness::Blocked(_)) => {}
            _ => {
                let text = "Nothing more can happen: an assumption does not hold.".to_string();
                return Problem { kind: Kind::Over, text, thread: None };
            }
        }
    }
    let message = match property {
        Property::Liveness => "a loop waits for ever",
        _ => "threads wait for one another",
    };
    let kind = if wanted(now, property) { Kind::Violation } else { Kind::Over };
    Problem { kind, text: format!("Violation ({property}): {message}"), thread: None }
}

/// Whether a proposition holds of a final state; None where it cannot be decided.
fn holds(now: &Machine<'_, '_>, prop: &Prop) -> Option<bool> {
    let code = &now.system.setup().code;
    Some(match prop {
        Prop::True => true,
        Prop::False => false,
        Prop::Compare { left, equal, right } => {
            let left = now.system.observed(&left.place)?;
            let right = value(now, code, right)?;
            (left.unsigned() == right.unsigned()) == *equal
        }
        Prop::Not(inner) => !holds(now, inner)?,
        Prop::And(parts) => {
            let parts: Option<Vec<bool>> = parts.iter().map(|part| holds(now, part)).collect();
            parts?.into_iter().all(|part| part)
        }
        Prop::Or(parts) => {
            let parts: Option<Vec<bool>> = parts.iter().map(|part| holds(now, part)).collect();
            parts?.into_iter().any(|part| part)
        }
    })
}

fn value(now: &Machine<'_, '_>, code: &Code<'_>, operand: &Operand) -> Option<Bits> {
    match operand {
        Operand::Value(expr) => Some(code.evaluate(expr, &[], &mut Concrete)),
        Operand::Observable(observable) => now.system.observed(&observable.place),
    }
}
