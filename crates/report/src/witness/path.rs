//! The way of a violating execution through the source, as short as it can be: where each thread goes
//! on after another, which inputs it gets, and where it ends.

use parallax_program::Property;
use parallax_verdict::{Call, Event, EventKind, Execution, Life, ThreadEnding, Violation};

use crate::verify::{order_of, own_call};

/// A place that a thread comes by.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    pub thread: u32,
    pub file: String,
    pub line: u32,
    pub function: String,
    pub what: What,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum What {
    Visit,
    /// A function of the library returns that value.
    Input {
        function: String,
        value: i128,
    },
    /// It starts a thread.
    Create(u32),
}

pub struct Path {
    pub steps: Vec<Step>,
    /// Where the violation is; both accesses of a race.
    pub targets: Vec<Step>,
    pub is_concurrent: bool,
}

impl Path {
    pub fn new(violation: &Violation, calls: &[String]) -> Path {
        let execution = &violation.execution;
        let order = order_of(execution);
        let is_race = violation.property == Property::Race;
        let targets = match is_race {
            true => race(violation, &order),
            false => Vec::from_iter(failure(violation, calls)),
        };
        let steps = match (is_race, late(violation)) {
            (true, _) => before_race(violation, &order),
            (false, Some((user, end))) => before_use(execution, &order, user, end),
            (false, None) => all_steps(execution, &order),
        };
        let steps = without_last(shortened(steps), &targets);
        Path { steps, targets, is_concurrent: execution.threads.len() > 1 }
    }
}

/// Every event that has a place in the program's own code.
fn all_steps(execution: &Execution, order: &[u32]) -> Vec<Step> {
    order.iter().filter_map(|event| step(execution, *event)).collect()
}

fn step(execution: &Execution, event: u32) -> Option<Step> {
    let own = execution.events.get(event as usize)?;
    let stack = execution.stacks.get(event as usize)?;
    let call = own_call(stack)?;
    let what = match (&own.kind, own.kind.life()) {
        (_, Some(Life::Start(child))) => What::Create(child),
        (_, Some(Life::Begin(_) | Life::End(_))) => return None,
        (EventKind::Choice { value }, _) => {
            let function = input(own, call)?;
            // Values of unsigned types are written as such: they are the same bits.
            let is_unsigned = ["_u", "size_t", "ool"].iter().any(|part| function.contains(part));
            let value = match is_unsigned {
                true => i128::try_from(value.unsigned()).unwrap_or(i128::MAX),
                false => value.to_signed(),
            };
            What::Input { function, value }
        }
        _ => What::Visit,
    };
    Some(at(own.thread?, call, what))
}

fn at(thread: u32, call: &Call, what: What) -> Step {
    let place = &call.place;
    let function = call.function.clone();
    Step { thread, file: place.file.to_string(), line: place.line, function, what }
}

/// Functions that choose for other reasons: whom to wake, whether to fail.
const NO_INPUTS: [&str; 7] = ["pthread_", "cnd_", "mtx_", "thrd_", "sem_", "atomic_", "__atomic"];

/// The function that an input comes from, as the source has it where it is called.
fn input(event: &Event, call: &Call) -> Option<String> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let known = event.text.find("__VERIFIER_nondet");
    let column = (call.place.column as usize).saturating_sub(1);
    let there = |start: usize| {
        let rest = event.text.get(start..)?;
        let name = &rest[..rest.find(|c| !is_name(c)).unwrap_or(rest.len())];
        (!name.is_empty()).then(|| name.to_string())
    };
    let own = there(column).filter(|name| !NO_INPUTS.iter().any(|part| name.starts_with(part)));
    own.filter(|name| known.is_none() || name.starts_with("__VERIFIER")).or(there(known?))
}

/// Where threads take turns, the first and the last place of each turn; and all inputs and starts of
/// threads.
fn shortened(steps: Vec<Step>) -> Vec<Step> {
    let is_turn = |a: Option<&Step>, b: &Step| a.is_none_or(|a| a.thread != b.thread);
    let mut kept: Vec<Step> = Vec::new();
    for (number, step) in steps.iter().enumerate() {
        let before = number.checked_sub(1).and_then(|before| steps.get(before));
        let is_first = is_turn(before, step);
        let is_last = is_turn(steps.get(number + 1), step);
        // A statement that others interrupt is come by once.
        let own = kept.iter().rfind(|kept| kept.thread == step.thread);
        if step.what == What::Visit && own.is_some_and(|own| own.line == step.line) {
            continue;
        }
        if is_first || is_last || step.what != What::Visit {
            kept.push(step.clone());
        }
    }
    kept
}

/// The last step is not also the target.
fn without_last(mut steps: Vec<Step>, targets: &[Step]) -> Vec<Step> {
    while let Some(last) = steps.last() {
        let is_target = |target: &Step| target.thread == last.thread && target.line == last.line;
        if last.what != What::Visit || !targets.iter().any(is_target) {
            break;
        }
        steps.pop();
    }
    steps
}

/// Where something fails: the innermost place that is in the program's own code, and for a call that
/// must not be, where the call is.
fn failure(violation: &Violation, calls: &[String]) -> Option<Step> {
    let execution = &violation.execution;
    let standings = (0u32..).zip(&execution.standings);
    let mut failed = standings.filter(|(_, s)| s.ending == ThreadEnding::Failed);
    if let Some((thread, standing)) = failed.next() {
        let is_error = |call: &&Call| calls.contains(&call.function);
        let end = standing.stack.iter().position(|call| is_error(&call));
        let stack = &standing.stack[..end.unwrap_or(standing.stack.len())];
        return own_call(stack).map(|call| at(thread, call, What::Visit));
    }
    let involved = violation.involved.iter().copied();
    let accesses = involved.filter_map(|event| step(execution, event));
    accesses.map(|step| Step { what: What::Visit, ..step }).next()
}

/// An access, and the end of its object, where the engine found that the access may come later.
fn late(violation: &Violation) -> Option<(u32, u32)> {
    let [user, end] = violation.involved[..] else { return None };
    let standings = &violation.execution.standings;
    let failed = standings.iter().any(|standing| standing.ending == ThreadEnding::Failed);
    (violation.property == Property::Memory && !failed).then_some((user, end))
}

/// What leads to the end of an object, without its use and what comes after that.
fn before_use(execution: &Execution, order: &[u32], user: u32, end: u32) -> Vec<Step> {
    let thread = |event: u32| execution.events.get(event as usize).and_then(|event| event.thread);
    let (mut is_used, mut is_ended) = (false, false);
    let mut steps = Vec::new();
    for event in order.iter().copied() {
        is_used |= event == user;
        if is_used && is_ended {
            break;
        }
        if !is_used || thread(event) == thread(end) {
            steps.extend(step(execution, event));
        }
        is_ended |= event == end;
    }
    steps
}

/// The two accesses, in the order in which they happened.
fn racing(violation: &Violation, order: &[u32]) -> Vec<u32> {
    let position = |event: &u32| order.iter().position(|other| other == event);
    let mut racing = violation.involved.clone();
    racing.sort_by_key(position);
    racing.truncate(2);
    racing
}

fn race(violation: &Violation, order: &[u32]) -> Vec<Step> {
    let accesses = racing(violation, order).into_iter();
    let steps = accesses.filter_map(|event| step(&violation.execution, event));
    steps.map(|step| Step { what: What::Visit, ..step }).collect()
}

/// What leads to a race: all before the first access, and then only what the other thread does.
fn before_race(violation: &Violation, order: &[u32]) -> Vec<Step> {
    let execution = &violation.execution;
    let [first, second] = racing(violation, order)[..] else { return all_steps(execution, order) };
    let thread = |event: u32| execution.events.get(event as usize).and_then(|event| event.thread);
    let mut is_past = false;
    let mut steps = Vec::new();
    for event in order.iter().copied() {
        if event == second {
            break;
        }
        is_past |= event == first;
        if !is_past || event != first && thread(event) == thread(second) {
            steps.extend(step(execution, event));
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visit(thread: u32, line: u32) -> Step {
        let (file, function) = ("a.c".to_string(), "f".to_string());
        Step { thread, file, line, function, what: What::Visit }
    }

    #[test]
    fn turns_are_known_by_their_ends() {
        let steps = vec![visit(0, 1), visit(0, 2), visit(0, 3), visit(1, 7), visit(1, 7)];
        let lines: Vec<u32> = shortened(steps).iter().map(|step| step.line).collect();
        assert_eq!(lines, [1, 3, 7]);
        let steps = vec![visit(0, 5), visit(1, 5), visit(0, 5), visit(0, 6)];
        let lines: Vec<u32> = shortened(steps).iter().map(|step| step.line).collect();
        assert_eq!(lines, [5, 5, 6]);
    }

    #[test]
    fn the_target_is_named_once() {
        let steps = without_last(vec![visit(0, 1), visit(1, 7)], &[visit(1, 7)]);
        assert_eq!(steps, [visit(0, 1)]);
        let steps = without_last(vec![visit(0, 7)], &[visit(1, 7)]);
        assert_eq!(steps, [visit(0, 7)]);
    }
}
