//! The log format of herd7, which comparison tools such as mcompare7 read.
//!
//! Two habits of the format are easy to miss: the counts on the `Positive:` line are those of
//! the *condition*, so they are exchanged for `~exists`, while `Observation` counts the
//! proposition; and a test that was cut at the loop bound says `Loop Ok` or `Loop No`.
//! Where the search was stopped before the answer was settled, the verdict is `??`, which
//! readers of logs take as "don't know"; a `Stopped` line, which they skip, gives the reason.

use std::fmt::Write;
use std::time::Duration;

use parallax_program::{Quantifier, visible_line};
use parallax_verdict::{Ending, Observation, Outcomes};

use crate::state::state_lines;

/// The log entry of one test; `condition` is the condition with its quantifier.
pub fn herd_log(name: &str, outcomes: &Outcomes, condition: &str, time: Duration) -> String {
    let mut log = String::new();
    // Writing to a string does not fail.
    let _ = write_log(&mut log, name, outcomes, condition, time);
    log
}

fn write_log(
    log: &mut String,
    name: &str,
    outcomes: &Outcomes,
    condition: &str,
    time: Duration,
) -> std::fmt::Result {
    let (positive, negative) = (outcomes.positive, outcomes.negative);
    let (name, condition) = (&*visible_line(name), visible_line(condition));
    writeln!(log, "Test {name} {}", kind(outcomes.quantifier))?;
    let states = state_lines(&outcomes.states);
    writeln!(log, "States {}", states.len())?;
    for state in &states {
        writeln!(log, "{}", visible_line(state))?;
    }
    writeln!(log, "{}", verdict(outcomes))?;
    let (confirming, refuting) = match outcomes.quantifier {
        Quantifier::Exists | Quantifier::ForAll => (positive, negative),
        Quantifier::NotExists => (negative, positive),
    };
    writeln!(log, "Witnesses\nPositive: {confirming} Negative: {refuting}")?;
    for flag in &outcomes.flags {
        writeln!(log, "Flag {}", visible_line(flag))?;
    }
    writeln!(log, "Condition {condition}")?;
    let observation = match outcomes.observation() {
        Observation::Never => "Never",
        Observation::Sometimes => "Sometimes",
        Observation::Always => "Always",
    };
    writeln!(log, "Observation {name} {observation} {positive} {negative}")?;
    writeln!(log, "Time {name} {:.2}", time.as_secs_f64())?;
    if let Ending::Stopped { reason } = &outcomes.ending {
        writeln!(log, "Stopped {name} {reason}")?;
    }
    writeln!(log)
}

fn kind(quantifier: Quantifier) -> &'static str {
    match quantifier {
        Quantifier::Exists => "Allowed",
        Quantifier::NotExists => "Forbidden",
        Quantifier::ForAll => "Required",
    }
}

fn verdict(outcomes: &Outcomes) -> &'static str {
    let bounded = outcomes.ending == Ending::Bounded;
    match (outcomes.is_settled(), outcomes.condition_holds(), bounded) {
        (false, _, _) => "??",
        (true, true, false) => "Ok",
        (true, false, false) => "No",
        (true, true, true) => "Loop Ok",
        (true, false, true) => "Loop No",
    }
}
