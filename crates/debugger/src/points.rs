//! Breakpoints and watchpoints.

use std::fmt::Write;
use std::sync::Arc;

use parallax_program::{Bits, FunctionId, Location};

use crate::expression;
use crate::machine::{Happened, Instruction, Machine, file_name};
use crate::names::Target;
use crate::session::Session;
use crate::source;

/// Something to stop at.
pub struct Point {
    pub number: u32,
    /// What the person said.
    text: String,
    kind: Kind,
    /// It stops only where this holds.
    condition: Option<String>,
    hits: u32,
}

enum Kind {
    /// A thread comes to a line.
    Line { file: Arc<str>, line: u32 },
    /// A thread enters a function.
    Function(FunctionId),
    /// What memory holds changes.
    Watch { target: Target, value: u128 },
}

impl Point {
    /// Looks at memory anew.
    pub fn refresh(&mut self, now: &Machine<'_, '_>) {
        if let Kind::Watch { target, value } = &mut self.kind {
            *value = now.system.bytes(None, target.address, target.size as u32);
        }
    }
}

/// `break PLACE`.
pub fn add_break(
    session: &mut Session<'_, '_>,
    argument: &str,
    out: &mut String,
) -> Result<(), String> {
    let (argument, condition) = conditional(argument);
    let kind = place(session, argument)?;
    let at = match &kind {
        Kind::Function(function) => session.program().function(*function).name.clone(),
        Kind::Line { file, line } => line_text(session, file, *line),
        Kind::Watch { target, .. } => target.name.clone(),
    };
    let number = add(session, argument, kind, condition);
    let _ = writeln!(out, "Breakpoint {number} at {at}");
    Ok(())
}

fn add(
    session: &mut Session<'_, '_>,
    argument: &str,
    kind: Kind,
    condition: Option<String>,
) -> u32 {
    session.points_made += 1;
    let number = session.points_made;
    session.points.push(Point { number, text: argument.to_string(), kind, condition, hits: 0 });
    number
}

/// A line for people; of machine code its text.
fn line_text(session: &Session<'_, '_>, file: &str, line: u32) -> String {
    let source = &session.program().source;
    let text = source.files().find(|(name, _)| *name == file);
    let text = text.and_then(|(_, text)| text.lines().nth(line as usize - 1)).unwrap_or("");
    match session.is_machine_code() {
        true => text.trim().to_string(),
        false => format!("{}:{line}", file_name(file)),
    }
}

/// What a place stands for: a function, `function+0x12`, an address, `file:line` or a line.
fn place(session: &Session<'_, '_>, argument: &str) -> Result<Kind, String> {
    if argument.is_empty() {
        let here = session.now().instruction(session.thread).ok_or("the thread is at no line")?;
        let Location { file, line, .. } = session.program().source.location(here.span);
        return Ok(Kind::Line { file, line });
    }
    if let Some(function) = source::named(session, argument) {
        return Ok(Kind::Function(function));
    }
    if session.is_machine_code()
        && let Some(found) = machine_place(session, argument)
    {
        return Ok(found);
    }
    line_place(session, argument)
}

/// A line of a listing that starts with a place such as `main+0x4`.
fn listing_line(session: &Session<'_, '_>, fits: impl Fn(&str) -> bool) -> Option<Kind> {
    let source = &session.program().source;
    let (file, text) = source.files().next()?;
    let number = text.lines().position(fits)?;
    Some(Kind::Line { file: file.into(), line: number as u32 + 1 })
}

fn machine_place(session: &Session<'_, '_>, argument: &str) -> Option<Kind> {
    let text = argument.strip_prefix('*').unwrap_or(argument);
    if let Some(address) = expression::number(text) {
        let address = u64::try_from(address).ok()?;
        let functions = session.program().functions.iter();
        let starts = functions.filter_map(|function| Some((function.address?, &function.name)));
        let (start, name) =
            starts.filter(|(start, _)| *start <= address).max_by_key(|(start, _)| *start)?;
        let place = match address - start {
            0 => format!("{name}:  "),
            offset => format!("{name}+{offset:#x}:  "),
        };
        return listing_line(session, |line| line.starts_with(&place));
    }
    if text.contains('+') {
        let place = format!("{text}:  ");
        return listing_line(session, |line| line.starts_with(&place));
    }
    let end = match text.contains(':') {
        true => format!("; {text}"),
        false => format!(":{}", text.parse::<u32>().ok()?),
    };
    let from_source = |line: &str| {
        let place = line.rsplit_once("  ; ").map(|(_, place)| place);
        place.is_some_and(|place| format!("; {place}").ends_with(&end) || place_ends(place, text))
    };
    listing_line(session, from_source)
}

/// Whether `src/a.c:12` is what `a.c:12` means.
fn place_ends(place: &str, wanted: &str) -> bool {
    file_name(place) == wanted
}

fn line_place(session: &Session<'_, '_>, argument: &str) -> Result<Kind, String> {
    let source = &session.program().source;
    let here = session.now().instruction(session.thread);
    let here = here.map(|here| source.location(here.span).file);
    let (file, line) = match argument.rsplit_once(':') {
        Some((file, line)) => (Some(file), line),
        None => (None, argument),
    };
    let wrong = || {
        format!(
            "there is no place '{argument}'; places are a function, FUNCTION+0xOFFSET, \
             0xADDRESS, FILE:LINE and LINE"
        )
    };
    let line: u32 = line.parse().map_err(|_| wrong())?;
    let file: Arc<str> = match file {
        Some(name) => source::find_file(source, name).ok_or_else(wrong)?.into(),
        None => here.unwrap_or_else(|| source.name().into()),
    };
    // The first line from there on that has an instruction.
    let functions = session.program().functions.iter();
    let spans = functions.flat_map(|function| source::instructions(session, function));
    let places = spans.map(|span| source.location(span));
    let places = places.filter(|place| place.file == file && place.line >= line);
    let first = places.map(|place| place.line).min();
    let line =
        first.ok_or_else(|| format!("there is no instruction on line {line} or after it"))?;
    Ok(Kind::Line { file, line })
}

/// `watch EXPR`.
pub fn add_watch(
    session: &mut Session<'_, '_>,
    argument: &str,
    out: &mut String,
) -> Result<(), String> {
    let (argument, condition) = conditional(argument);
    let target = expression::target(session, argument)?;
    if !matches!(target.size, 1..=16) {
        return Err(format!("'{argument}' has {} bytes; up to 16 can be watched", target.size));
    }
    let value = session.now().system.bytes(None, target.address, target.size as u32);
    let number = add(session, argument, Kind::Watch { target, value }, condition);
    let _ = writeln!(out, "Watchpoint {number}: {argument}");
    Ok(())
}

/// `PLACE if CONDITION`.
fn conditional(argument: &str) -> (&str, Option<String>) {
    let alone = argument.strip_prefix("if ").map(|condition| ("", condition));
    match alone.or_else(|| argument.split_once(" if ")) {
        Some((place, condition)) => (place.trim(), Some(condition.trim().to_string())),
        None => (argument, None),
    }
}

/// `condition N [CONDITION]`.
pub fn condition(
    session: &mut Session<'_, '_>,
    argument: &str,
    out: &mut String,
) -> Result<(), String> {
    let (word, condition) = argument.split_once(char::is_whitespace).unwrap_or((argument, ""));
    let number = word.parse::<u32>().ok();
    let mut points = session.points.iter_mut();
    let point = points.find(|point| Some(point.number) == number);
    let point = point.ok_or_else(|| format!("there is no breakpoint '{word}'"))?;
    point.condition = Some(condition.trim().to_string()).filter(|text| !text.is_empty());
    if point.condition.is_none() {
        let _ = writeln!(out, "Breakpoint {word} has no condition now.");
    }
    Ok(())
}

/// `delete [NUMBER…]`.
pub fn delete(session: &mut Session<'_, '_>, argument: &str) -> Result<(), String> {
    let mut numbers = Vec::new();
    for word in argument.split_whitespace() {
        let number = word.parse::<u32>().ok();
        let known = number.filter(|number| session.points.iter().any(|p| p.number == *number));
        numbers.push(known.ok_or_else(|| format!("there is no breakpoint '{word}'"))?);
    }
    session.points.retain(|point| !numbers.is_empty() && !numbers.contains(&point.number));
    Ok(())
}

/// `info break`.
pub fn info(session: &Session<'_, '_>, out: &mut String) {
    if session.points.is_empty() {
        out.push_str("No breakpoints or watchpoints.\n");
        return;
    }
    out.push_str("Num  Type        What\n");
    for point in &session.points {
        let (kind, what) = match &point.kind {
            Kind::Line { file, line } => ("breakpoint", line_text(session, file, *line)),
            Kind::Function(function) => {
                ("breakpoint", session.program().function(*function).name.clone())
            }
            Kind::Watch { .. } => ("watchpoint", point.text.clone()),
        };
        let _ = writeln!(out, "{:<4} {kind:<11} {what}", point.number);
        if let Some(condition) = &point.condition {
            let _ = writeln!(out, "     stops only if {condition}");
        }
        if point.hits > 0 {
            let times = if point.hits == 1 { "time" } else { "times" };
            let _ = writeln!(out, "     already hit {} {times}", point.hits);
        }
    }
}

/// Something was hit.
pub struct Hit {
    pub text: String,
    /// By this thread.
    pub thread: u32,
}

/// What was hit when a thread went on from an instruction.
pub fn hit(
    session: &mut Session<'_, '_>,
    thread: u32,
    from: Option<Instruction>,
    happened: &Happened,
) -> Option<Hit> {
    let mut points = std::mem::take(&mut session.points);
    let mut text = String::new();
    let mut by = thread;
    for point in &mut points {
        let Some((who, message)) = reached(session, point, thread, from, happened) else {
            continue;
        };
        let complaint = match passes(session, point, who) {
            Ok(true) => String::new(),
            Ok(false) => continue,
            Err(why) => format!("The condition of {} says nothing: {why}\n", point.number),
        };
        by = who;
        point.hits += 1;
        let _ = writeln!(text, "{message}");
        text.push_str(&complaint);
    }
    session.points = points;
    (!text.is_empty()).then_some(Hit { text, thread: by })
}

/// Whether the condition of a point holds for the thread that is there.
fn passes(session: &mut Session<'_, '_>, point: &Point, thread: u32) -> Result<bool, String> {
    let Some(condition) = &point.condition else { return Ok(true) };
    let chosen = (session.thread, session.frame);
    (session.thread, session.frame) = (thread, None);
    let holds = expression::holds(session, condition);
    (session.thread, session.frame) = chosen;
    holds
}

/// Whether a point was reached: by which thread, and what is said then.
fn reached(
    session: &Session<'_, '_>,
    point: &mut Point,
    thread: u32,
    from: Option<Instruction>,
    happened: &Happened,
) -> Option<(u32, String)> {
    let now = session.history.now();
    let source = &session.subject.program.source;
    let line_of = |at: Instruction| (at.call, source.location(at.span));
    match &mut point.kind {
        Kind::Line { file, line } => {
            let before = from.map(line_of).map(|(call, place)| (call, place.file, place.line));
            let here = now.instruction(thread).map(line_of);
            let here = here.map(|(call, place)| (call, place.file, place.line));
            let is_here = here.as_ref().is_some_and(|at| at.1 == *file && at.2 == *line);
            let name = session.names.thread(thread);
            (is_here && here != before)
                .then(|| (thread, format!("Breakpoint {}, {name}", point.number)))
        }
        Kind::Function(function) => {
            let mut entered = happened.entered.iter();
            let (by, _) = entered.find(|(_, entered)| entered == function)?;
            let name = &session.subject.program.function(*function).name;
            let who = session.names.thread(*by);
            Some((*by, format!("Breakpoint {}, {who} enters {name}", point.number)))
        }
        Kind::Watch { target, value } => {
            let new = now.system.bytes(None, target.address, target.size as u32);
            let old = std::mem::replace(value, new);
            let shown = |value| session.names.value(Bits::new(target.size as u32 * 8, value));
            (old != new).then(|| {
                let said = format!(
                    "Watchpoint {}: {}\n\nOld value = {}\nNew value = {}\n",
                    point.number,
                    point.text,
                    shown(old),
                    shown(new)
                );
                (thread, said)
            })
        }
    }
}
