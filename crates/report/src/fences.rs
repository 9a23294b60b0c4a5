//! The repair of a program, for people and for tools.

use std::fmt::Write;
use std::time::Duration;

use parallax_program::{Location, visible_line};
use parallax_verdict::{Scope, Violation};
use serde::Serialize;

use crate::json::{scope, to_line};

/// One change of a repair.
#[derive(Clone, Debug)]
pub struct RepairStep<'a> {
    pub place: &'a Location,
    /// What was there, if anything was, and what is there now, if anything is.
    pub from: Option<&'a str>,
    pub to: Option<&'a str>,
    pub is_fence: bool,
    /// What is wrong without it.
    pub without: Option<&'a Violation>,
}

/// A repair, and how it was found.
#[derive(Clone, Debug)]
pub struct RepairRun<'a> {
    pub input: &'a str,
    pub model: &'a str,
    pub engine: &'a str,
    /// `fixed`, `already-safe`, `unfixable` or `unknown`.
    pub result: &'static str,
    /// Whether the changes make things weaker.
    pub relaxes: bool,
    pub scope: Option<Scope>,
    pub steps: Vec<RepairStep<'a>>,
    pub reason: Option<&'a str>,
    pub help: Option<String>,
    /// What nothing helps against.
    pub violation: Option<&'a Violation>,
    /// Whether that happens under sequential consistency as well.
    pub is_plain_bug: bool,
    pub fences: u64,
    pub weight: u64,
    pub traces: usize,
    pub iterations: u64,
    pub demands: usize,
    pub candidates: usize,
    /// Places of changes that turned out not to be needed, where that was asked for.
    pub needless: Option<Vec<&'a Location>>,
    pub untouched: &'a [String],
    /// Accesses whose orders could not be changed.
    pub unwritten: &'a [Location],
    pub diff: &'a str,
    pub time: Duration,
}

/// What people should know besides the diff, as lines.
pub fn repair_text(run: &RepairRun<'_>) -> String {
    let mut text = String::new();
    let mut line = |content: String| {
        let _ = writeln!(text, "{}", visible_line(&content));
    };
    line(summary(run));
    for step in &run.steps {
        line(format!("  {}", described(step)));
        if let Some(without) = step.without {
            line(format!("    without: {}", place_and_message(without)));
        }
    }
    if let Some(violation) = run.violation {
        line(format!("  {}", place_and_message(violation)));
    }
    if let Some(reason) = run.reason {
        line(format!("  {reason}"));
    }
    if let Some(help) = &run.help {
        line(format!("  help: {help}"));
    }
    for file in run.untouched {
        line(format!("  not edited: {file} (--edit-headers changes headers)"));
    }
    for place in run.unwritten {
        line(format!(
            "  not edited: {place} (an atomic access whose order is not written out here)"
        ));
    }
    match &run.needless {
        Some(needless) if needless.is_empty() => {
            line("  checked: each change is needed as it is".to_string());
        }
        Some(needless) => {
            for place in needless {
                line(format!("  checked: a weaker change would do at {place}"));
            }
        }
        None => {}
    }
    text
}

fn summary(run: &RepairRun<'_>) -> String {
    let model = run.model;
    let bound = match run.scope {
        Some(Scope::Bounded(bound)) => format!(", loops repeated up to {bound} times"),
        Some(Scope::Restricted) => ", with the given inputs only".to_string(),
        _ => String::new(),
    };
    match run.result {
        "fixed" => {
            let (fences, weight) = (run.fences, run.weight);
            let done = if run.relaxes { "relaxed; correct" } else { "fixed" };
            let plural = if fences == 1 { "" } else { "s" };
            format!("{done} under {model}{bound}: {fences} fence{plural}, weight {weight}")
        }
        "already-safe" => format!("already safe under {model}{bound}: nothing to change"),
        "unfixable" if run.is_plain_bug => {
            "unfixable: this is wrong under sequential consistency too, where fences do nothing"
                .to_string()
        }
        "unfixable" if !(run.untouched.is_empty() && run.unwritten.is_empty()) => {
            format!(
                "unfixable under {model}: with everything that can be edited as strong as can be"
            )
        }
        "unfixable" => format!("unfixable under {model}: with everything as strong as can be"),
        _ if run.steps.is_empty() => "unknown".to_string(),
        _ => "unknown: the changes so far are not confirmed".to_string(),
    }
}

fn described(step: &RepairStep<'_>) -> String {
    let (place, what) = (step.place, if step.is_fence { "fence" } else { "access" });
    match (step.from, step.to) {
        (None, Some(to)) => format!("{place}: a fence: {to}"),
        (Some(from), None) => format!("{place}: the fence {from} can go"),
        (from, to) => {
            format!("{place}: the {what}: {} becomes {}", from.unwrap_or(""), to.unwrap_or(""))
        }
    }
}

fn place_and_message(violation: &Violation) -> String {
    match &violation.place {
        Some(place) => format!("{place}: {}", violation.message),
        None => violation.message.clone(),
    }
}

/// One line without its end.
pub fn repair_json(run: &RepairRun<'_>) -> String {
    let (scope, bound) = scope(run.scope);
    let inserted = run.steps.iter().filter(|step| step.from.is_none());
    let changed = run.steps.iter().filter(|step| step.from.is_some());
    let needless = run.needless.as_ref();
    let answer = Answer {
        result: run.result,
        scope,
        bound,
        reason: run.reason,
        help: run.help.as_deref(),
        input: run.input,
        model: run.model,
        engine: run.engine,
        inserted: inserted.map(Step::of).collect(),
        strengthened: changed.map(Step::of).collect(),
        fences: run.fences,
        weight: run.weight,
        traces: run.traces,
        iterations: run.iterations,
        demands: run.demands,
        candidates: run.candidates,
        under_sc: run.is_plain_bug,
        violation: run.violation.map(place_and_message),
        checked: needless.map(Vec::is_empty),
        untouched: run.untouched,
        unwritten: run.unwritten.iter().map(Location::to_string).collect(),
        diff: run.diff,
        time_s: run.time.as_secs_f64(),
    };
    to_line(&answer)
}

#[derive(Serialize)]
struct Answer<'a> {
    result: &'static str,
    scope: Option<&'static str>,
    bound: Option<u32>,
    reason: Option<&'a str>,
    help: Option<&'a str>,
    input: &'a str,
    model: &'a str,
    engine: &'a str,
    inserted: Vec<Step<'a>>,
    /// With --relax, weakened.
    strengthened: Vec<Step<'a>>,
    fences: u64,
    weight: u64,
    traces: usize,
    iterations: u64,
    demands: usize,
    candidates: usize,
    under_sc: bool,
    violation: Option<String>,
    checked: Option<bool>,
    untouched: &'a [String],
    unwritten: Vec<String>,
    diff: &'a str,
    time_s: f64,
}

#[derive(Serialize)]
struct Step<'a> {
    file: &'a str,
    line: u32,
    column: u32,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<&'a str>,
    /// Null where a fence goes.
    order: Option<&'a str>,
    without: Option<String>,
}

impl<'a> Step<'a> {
    fn of(step: &RepairStep<'a>) -> Step<'a> {
        Step {
            file: &step.place.file,
            line: step.place.line,
            column: step.place.column,
            kind: if step.is_fence { "fence" } else { "access" },
            from: step.from,
            order: step.to,
            without: step.without.map(place_and_message),
        }
    }
}
