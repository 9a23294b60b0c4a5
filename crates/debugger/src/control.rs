//! Commands that let something happen: steps, flushes, running on, and going back.

use std::fmt::Write;

use parallax_machine::system::{Action, At, Readiness, Waits};

use crate::machine::{Happened, Instruction, Refusal};
use crate::points::{self, Hit};
use crate::session::Session;
use crate::{inspect, source, story};

/// Actions that one command may take.
const MOST_ACTIONS: usize = 1_000_000;
/// Actions that one `step` may take: lines that only loop must end some time.
const MOST_IN_LINE: usize = 10_000;
/// What is shown of one step.
const MOST_SHOWN: usize = 40;

/// How far a step goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reach {
    /// One operation at most.
    Instruction,
    /// To another line, also of a function that is called.
    Line,
    /// To another line of this call, or of one further out.
    LineOfCall,
    /// Out of this call.
    Finish,
}

/// How often, as an argument says it.
fn count(argument: &str) -> Result<usize, String> {
    match argument {
        "" => Ok(1),
        text => match text.parse::<usize>() {
            Ok(0) | Err(_) => Err(format!("expected a number of times, found '{text}'")),
            Ok(count) => Ok(count),
        },
    }
}

/// `step`, `stepi`, `next`, `finish`.
pub fn step(
    session: &mut Session<'_, '_>,
    argument: &str,
    reach: Reach,
    out: &mut String,
) -> Result<(), String> {
    let (times, choice) = match argument.split_once(' ') {
        Some((times, choice)) if reach == Reach::Instruction => {
            let choice = choice.trim();
            let wrong = || format!("expected the number of a choice, found '{choice}'");
            (count(times)?, choice.parse::<u64>().map_err(|_| wrong())?)
        }
        _ => (count(argument)?, 0),
    };
    session.begin_command();
    let mut shown = 0;
    let mut result = Ok(());
    for _ in 0..times.min(MOST_ACTIONS) {
        match one_step(session, reach, choice, &mut shown, out) {
            Ok(true) => {}
            Ok(false) => break,
            Err(why) => {
                result = Err(why);
                break;
            }
        }
    }
    if shown > MOST_SHOWN {
        let _ = writeln!(out, "… ({} more)", shown - MOST_SHOWN);
    }
    session.end_command(out);
    result
}

/// One step; false if something else made it stop.
fn one_step(
    session: &mut Session<'_, '_>,
    reach: Reach,
    choice: u64,
    shown: &mut usize,
    out: &mut String,
) -> Result<bool, String> {
    let thread = session.thread;
    let start = session.now().instruction(thread);
    for number in 0..MOST_IN_LINE {
        let action = Action::Step { thread, choice };
        if let Err(refusal) = session.now().check(action) {
            let name = session.names.thread(thread);
            let why = story::refusal(session, &name, refusal);
            if number == 0 {
                return Err(why);
            }
            let _ = writeln!(out, "{why}");
            return Ok(false);
        }
        let before = session.now().clone();
        let happened = session.perform(action);
        for line in story::lines(session, &before, &happened) {
            *shown += 1;
            if *shown <= MOST_SHOWN {
                let _ = writeln!(out, "{line}");
            }
        }
        if let Some(hit) = session.after(thread, before.instruction(thread), &happened) {
            out.push_str(&hit.text);
            return Ok(false);
        }
        if has_arrived(session, thread, start, reach) {
            return Ok(true);
        }
        if session.only_spins(thread) {
            return Ok(false);
        }
    }
    let _ = writeln!(out, "still on the same line after {MOST_IN_LINE} steps");
    Ok(false)
}

fn has_arrived(
    session: &Session<'_, '_>,
    thread: u32,
    start: Option<Instruction>,
    reach: Reach,
) -> bool {
    let now = session.now();
    let is_over = now.system.thread(thread).is_some_and(|local| local.at == At::End);
    if is_over || now.system.has_ended(thread) || reach == Reach::Instruction {
        return true;
    }
    let source = &session.program().source;
    let line = |at: Instruction| {
        let place = source.location(at.span);
        (at.call, place.file, place.line)
    };
    match (start, now.instruction(thread), reach) {
        (None, here, _) => here.is_some(),
        (Some(_), None, _) => false,
        (Some(start), Some(here), Reach::Line) => line(start) != line(here),
        (Some(start), Some(here), Reach::LineOfCall) => {
            here.call <= start.call && line(start) != line(here)
        }
        (Some(start), Some(here), _) => here.call < start.call,
    }
}

impl Session<'_, '_> {
    fn begin_command(&mut self) {
        self.before = self.now().clone();
        self.listed = None;
        self.frame = None;
    }

    /// Says where things are after a command.
    fn end_command(&mut self, out: &mut String) {
        self.history.stop();
        if self.now().system.thread(self.thread).is_some() {
            let _ = writeln!(out, "{}", source::whereabouts(self, self.thread));
        }
        inspect::displayed(self, out);
    }

    /// Looks at what an action has led to: a violation, a breakpoint, a change that is watched.
    fn after(
        &mut self,
        thread: u32,
        from: Option<Instruction>,
        happened: &Happened,
    ) -> Option<Hit> {
        let before = std::mem::take(&mut self.problems);
        self.find_problems();
        let text = self.announce(&before);
        match points::hit(self, thread, from, happened) {
            Some(hit) => Some(Hit { text: text + &hit.text, ..hit }),
            None => (!text.is_empty()).then_some(Hit { text, thread }),
        }
    }

    /// Whether a thread goes round a loop in which it finds nothing new.
    fn only_spins(&self, thread: u32) -> bool {
        let standing = self.now().standing(thread);
        let readiness = standing.map(|standing| standing.readiness);
        matches!(readiness, Some(Readiness::Blocked(Waits::Bytes { spins: true, .. })))
    }
}

/// `flush [THREAD [ENTRY]]`.
pub fn flush(
    session: &mut Session<'_, '_>,
    argument: &str,
    out: &mut String,
) -> Result<(), String> {
    let mut words = argument.split_whitespace();
    let thread = match words.next() {
        Some(word) => thread_named(session, word)?,
        None => session.thread,
    };
    let oldest = session.now().system.flushes(thread).next();
    let index = match (words.next(), oldest) {
        (Some(word), _) => {
            let wrong = || format!("expected the number of an entry, found '{word}'");
            word.parse::<u32>().map_err(|_| wrong())?
        }
        (None, Some(Action::Flush { index, .. })) => index,
        (None, _) => 0,
    };
    let action = Action::Flush { thread, index };
    if let Err(refusal) = session.now().check(action) {
        let name = session.names.thread(thread);
        return Err(story::refusal(session, &name, refusal));
    }
    session.begin_command();
    let before = session.now().clone();
    let happened = session.perform(action);
    for line in story::lines(session, &before, &happened) {
        let _ = writeln!(out, "{line}");
    }
    if let Some(hit) = session.after(thread, before.instruction(thread), &happened) {
        out.push_str(&hit.text);
    }
    session.history.stop();
    inspect::displayed(session, out);
    Ok(())
}

/// A thread by number, or by name.
pub fn thread_named(session: &Session<'_, '_>, word: &str) -> Result<u32, String> {
    let now = session.now();
    let number = word.parse::<u32>().ok();
    let named = now.threads().find(|thread| session.names.thread(*thread) == word);
    let found = number.filter(|number| now.system.thread(*number).is_some()).or(named);
    found.ok_or_else(|| {
        let known: Vec<String> = now.threads().map(|thread| thread.to_string()).collect();
        format!("there is no thread '{word}'; threads are {}", known.join(", "))
    })
}

/// `thread [N]`.
pub fn choose_thread(
    session: &mut Session<'_, '_>,
    argument: &str,
    out: &mut String,
) -> Result<(), String> {
    if !argument.is_empty() {
        session.thread = thread_named(session, argument)?;
        session.listed = None;
        session.frame = None;
    }
    let _ = writeln!(
        out,
        "[thread {}] {}",
        session.thread,
        source::whereabouts(session, session.thread)
    );
    Ok(())
}

/// `continue [N]`: on, past N-1 stops.
pub fn run_on(
    session: &mut Session<'_, '_>,
    argument: &str,
    out: &mut String,
) -> Result<(), String> {
    let times = count(argument)?;
    session.begin_command();
    let mut turn = session.thread;
    let mut stops = 0;
    for number in 0..=MOST_ACTIONS {
        if number == MOST_ACTIONS {
            let _ = writeln!(out, "Still running after {MOST_ACTIONS} actions.");
            break;
        }
        let Some(action) = next_action(session, &mut turn) else {
            out.push_str(&why_nothing(session));
            session.history.stop();
            return Ok(());
        };
        let thread = action.thread();
        let from = session.now().instruction(thread);
        let happened = session.perform(action);
        if let Some(hit) = session.after(thread, from, &happened) {
            stops += 1;
            let is_over = !session.problems.is_empty();
            if stops >= times || is_over {
                session.thread = hit.thread;
                out.push_str(&hit.text);
                break;
            }
        }
    }
    session.end_command(out);
    Ok(())
}

/// The next action of a fair schedule: each thread in turn takes a step, and then the oldest
/// store of each reaches memory.
fn next_action(session: &Session<'_, '_>, turn: &mut u32) -> Option<Action> {
    let now = session.now();
    if session.is_locked {
        let thread = session.thread;
        return may_step(session, thread).or_else(|| now.system.flushes(thread).next());
    }
    // Turns: the steps of all threads, then the buffers of all.
    let count = now.system.thread_count();
    for _ in 0..2 * count {
        let number = *turn % (2 * count);
        *turn = (number + 1) % (2 * count);
        let action = match number < count {
            true => may_step(session, number),
            false => now.system.flushes(number - count).next(),
        };
        if action.is_some() {
            return action;
        }
    }
    None
}

fn may_step(session: &Session<'_, '_>, thread: u32) -> Option<Action> {
    let standing = session.now().standing(thread)?;
    let is_ready = matches!(standing.readiness, Readiness::Ready { .. });
    is_ready.then_some(Action::Step { thread, choice: 0 })
}

/// Why nothing happens.
fn why_nothing(session: &Session<'_, '_>) -> String {
    if !session.problems.is_empty() {
        return session.announce(&[]);
    }
    let thread = session.thread;
    let name = session.names.thread(thread);
    let why = match session.now().check(Action::Step { thread, choice: 0 }) {
        Err(refusal) => story::refusal(session, &name, refusal),
        Ok(()) => format!("{name} goes round a loop"),
    };
    format!("{why}\n")
}

/// `back [N]`: where the last command but N-1 began. `reverse-stepi [N]`: N actions.
pub fn back(
    session: &mut Session<'_, '_>,
    argument: &str,
    by_command: bool,
    out: &mut String,
) -> Result<(), String> {
    let times = count(argument)?;
    let position = session.history.position();
    let target = match by_command {
        true => session.history.earlier(times),
        false => (position > 0).then(|| position.saturating_sub(times)),
    };
    let target = target.ok_or("nothing has happened yet")?;
    go_to(session, target, out);
    Ok(())
}

/// `goto N`.
pub fn goto(session: &mut Session<'_, '_>, argument: &str, out: &mut String) -> Result<(), String> {
    let last = session.history.actions().len();
    let position = argument.parse::<usize>().ok().filter(|position| *position <= last);
    let position = position
        .ok_or_else(|| format!("expected a position from 0 to {last}, found '{argument}'"))?;
    go_to(session, position, out);
    Ok(())
}

fn go_to(session: &mut Session<'_, '_>, position: usize, out: &mut String) {
    session.begin_command();
    session.go_to(position);
    let last = session.history.actions().len();
    let _ = writeln!(out, "Position {position} of {last}.");
    out.push_str(&session.announce(&[]));
    session.end_command(out);
}

/// `run`, `start`.
pub fn restart(session: &mut Session<'_, '_>, out: &mut String) {
    session.restart();
    session.thread = 0;
    session.listed = None;
    out.push_str("Back at the start.\n");
    session.end_command(out);
}

/// Whether a thread is done, in one word.
pub fn state_word(session: &Session<'_, '_>, thread: u32) -> String {
    let Some(standing) = session.now().standing(thread) else {
        return "not there".to_string();
    };
    match (&standing.at, session.now().check(Action::Step { thread, choice: 0 })) {
        (At::Ended, _) => "ended".to_string(),
        (_, Err(Refusal::Waits(waits))) => story::waits(&session.names, waits),
        (_, Err(Refusal::Ended)) => "ended".to_string(),
        (At::Failed { .. }, _) | (_, Err(Refusal::Failed)) => "at a violation".to_string(),
        (_, Err(_)) => story::intention(session, thread, &standing),
        (_, Ok(())) => match standing.readiness {
            Readiness::Blocked(waits) => story::waits(&session.names, waits),
            _ => "ready".to_string(),
        },
    }
}
