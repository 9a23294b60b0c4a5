//! Invariants that nobody has written: facts of simple forms are tried all at once, those that an
//! execution refutes are dropped, and so on until none is refuted. What is left holds in every round.
//! After C. Flanagan, K. R. M. Leino, Houdini, an annotation assistant for ESC/Java, FME 2001.

use parallax_program::Diagnostics;
use parallax_verdict::{Conclusion, EventKind, Execution, Scope, ThreadEnding, Violation};

use crate::candidates::{Order, Templates, essential};
use crate::replaced::{Check, RECORDED_AT_ONCE};
use crate::search::{Asked, Search};
use crate::subject::{Purpose, Subject, record_name};

/// Gives all loops without an invariant all facts that may hold.
pub fn start(subject: &mut Subject, order: Order) {
    let Subject { program, loops, .. } = subject;
    for known in loops.iter_mut().filter(|known| !known.is_given) {
        let Some(function) = program.functions.get(known.function.0 as usize) else { continue };
        let (changed, unchanged) = (&known.replaced.changed, &known.unchanged);
        known.facts = Templates { program, function, changed, unchanged, order }.facts();
    }
}

/// Drops facts until none is refuted. Anything else that goes wrong is for others to find.
pub fn settle(subject: &mut Subject, search: &Search<'_>) -> Result<(), Diagnostics> {
    while subject.loops.iter().any(|known| !known.facts.is_empty()) {
        let Asked::Answered(verified) = search.ask(subject, Purpose::Propose)? else {
            return Ok(());
        };
        let verdict = verified.verdict;
        let Some(violation) = verdict.violations.first() else {
            if verdict.conclusion() != Conclusion::Safe {
                subject.loops.iter_mut().for_each(|known| known.facts.clear());
            }
            return Ok(());
        };
        if !drop_refuted(subject, violation) {
            return Ok(());
        }
    }
    Ok(())
}

/// Leaves out what says nothing new.
pub fn tidy(subject: &mut Subject) {
    for known in &mut subject.loops {
        known.facts = essential(&known.facts);
    }
}

/// Leaves out what a proof does without: all of a loop's facts, or single ones.
pub fn spare(subject: &mut Subject, search: &Search<'_>) -> Result<(), Diagnostics> {
    for number in 0..subject.loops.len() {
        let facts = std::mem::take(&mut subject.loops[number].facts);
        if facts.is_empty() || is_proved(subject, search)? {
            continue;
        }
        let mut kept = facts;
        let mut at = kept.len();
        while at > 0 && kept.len() <= MOST_SPARED {
            at -= 1;
            let mut fewer = kept.clone();
            fewer.remove(at);
            subject.loops[number].facts.clone_from(&fewer);
            if is_proved(subject, search)? {
                kept = fewer;
            }
        }
        subject.loops[number].facts = kept;
    }
    Ok(())
}

/// Longer lists of facts are not made shorter.
const MOST_SPARED: usize = 12;

fn is_proved(subject: &Subject, search: &Search<'_>) -> Result<bool, Diagnostics> {
    let Asked::Answered(verified) = search.ask(subject, Purpose::Show)? else { return Ok(false) };
    Ok(verified.verdict.scope == Some(Scope::Complete) && verified.verdict.violations.is_empty())
}

/// Drops what an execution refutes. False where nothing proposed is refuted.
fn drop_refuted(subject: &mut Subject, violation: &Violation) -> bool {
    let Some((number, _)) = Check::of_message(&violation.message) else { return false };
    let known = subject.loops.iter_mut().find(|known| known.replaced.number == number);
    let Some(known) = known.filter(|known| !known.facts.is_empty()) else { return false };
    let recorded = recorded(&violation.execution, &record_name(number));
    let given = known.replaced.invariant.len();
    let holds = |at: usize| {
        let word = recorded.get((given + at) / RECORDED_AT_ONCE).copied().unwrap_or(0);
        word >> ((given + at) % RECORDED_AT_ONCE) & 1 == 1
    };
    let before = known.facts.len();
    let mut at = 0;
    known.facts.retain(|_| {
        at += 1;
        holds(at - 1)
    });
    if known.facts.len() == before {
        known.facts.clear();
    }
    true
}

/// The words that the thread that failed has last written to a global.
fn recorded(execution: &Execution, name: &str) -> Vec<u128> {
    let failed = execution.standings.iter().position(|s| s.ending == ThreadEnding::Failed);
    let mut start = u64::MAX;
    let mut words = Vec::new();
    for event in &execution.events {
        let EventKind::Write { location, address, value, .. } = &event.kind else { continue };
        if event.thread.map(|thread| thread as usize) != failed || !location.starts_with(name) {
            continue;
        }
        start = start.min(*address);
        let at = (*address - start) / 8;
        let at = usize::try_from(at).unwrap_or(0);
        if words.len() <= at {
            words.resize(at + 1, 0);
        }
        words[at] = value.unsigned();
    }
    words
}
