//! Source lines and listings: where threads are, and what is around.

use std::fmt::Write;

use parallax_machine::system::At;
use parallax_program::{Function, FunctionId, SourceFile, Span};

use crate::machine::{Machine, file_name, is_own};
use crate::session::Session;

/// Lines that `list` shows.
const PAGE: u32 = 10;

/// The text of an instruction: the whole line where it goes on to its end, or else that part.
pub fn text(source: &SourceFile, span: Span) -> String {
    let line = source.line_at(span);
    let part = source.text().get(span.start as usize..span.end as usize).unwrap_or("").trim();
    let is_part = !part.is_empty() && !part.contains('\n') && !line.trim_end().ends_with(part);
    let text = if is_part { part } else { line.trim() };
    text.replace('\t', " ")
}

/// The instruction that a thread is at: `sb.litmus:7: MOV [x],$1`, `main+0x4:  mov eax, 1`.
pub fn instruction(
    session: &Session<'_, '_>,
    machine: &Machine<'_, '_>,
    thread: u32,
) -> Option<String> {
    let instruction = machine.instruction(thread)?;
    Some(place(session, instruction.span))
}

/// A place, with its text.
pub fn place(session: &Session<'_, '_>, span: Span) -> String {
    let source = &session.program().source;
    let text = text(source, span);
    if session.is_machine_code() {
        return text;
    }
    let location = source.location(span);
    format!("{}:{}: {text}", file_name(&location.file), location.line)
}

/// Where a thread is, for people.
pub fn whereabouts(session: &Session<'_, '_>, thread: u32) -> String {
    let now = session.now();
    let name = session.names.thread(thread);
    if now.system.has_ended(thread) {
        return format!("{name} has ended");
    }
    if now.system.thread(thread).is_some_and(|local| local.at == At::End) {
        return format!("{name} at its end");
    }
    match instruction(session, now, thread) {
        Some(place) => format!("{name} at {place}"),
        None => format!("{name} in the library"),
    }
}

/// The instructions of a function in order, each once: on each line the first.
pub fn instructions(session: &Session<'_, '_>, function: &Function) -> Vec<Span> {
    let program = session.program();
    let blocks = function.blocks.iter();
    let spans = blocks.flat_map(|block| {
        let insts = block.insts.iter().map(|inst| inst.span);
        insts.chain([block.terminator_span])
    });
    let mut spans: Vec<Span> = spans.filter(|span| is_own(program, *span)).collect();
    spans.sort_unstable();
    spans.dedup_by_key(|span| program.source.position(span.start).0);
    spans
}

/// The instructions around the one that a thread is at; true for that one.
pub fn context(session: &Session<'_, '_>, thread: u32, around: usize) -> Vec<(bool, String)> {
    let Some(here) = session.now().instruction(thread) else {
        return Vec::new();
    };
    let program = session.program();
    let spans = instructions(session, program.function(here.site.function));
    let line = |span: &Span| program.source.position(span.start).0;
    let current = line(&here.span);
    let at = spans.iter().position(|span| line(span) == current).unwrap_or(0);
    let from = at.saturating_sub(around);
    let shown = spans.iter().enumerate().skip(from).take(at - from + around + 1);
    shown.map(|(number, span)| (number == at, text(&program.source, *span))).collect()
}

/// `disassemble [FUNCTION]`.
pub fn disassemble(
    session: &Session<'_, '_>,
    argument: &str,
    out: &mut String,
) -> Result<(), String> {
    let program = session.program();
    let here = session.now().instruction(session.thread);
    let function = match argument {
        "" => here.map(|here| here.site.function).ok_or("the thread is in no function")?,
        name => named(session, name).ok_or_else(|| format!("there is no function '{name}'"))?,
    };
    let body = program.function(function);
    let _ = writeln!(out, "{}:", body.name);
    let current = here.filter(|here| here.site.function == function);
    let line = |span: Span| program.source.position(span.start).0;
    for span in instructions(session, body) {
        let is_here = current.is_some_and(|here| line(here.span) == line(span));
        let mark = if is_here { "=>" } else { "  " };
        let text = text(&program.source, span);
        let _ = match session.is_machine_code() {
            true => writeln!(out, "{mark} {text}"),
            false => writeln!(out, "{mark} {:>4}  {text}", line(span)),
        };
    }
    Ok(())
}

pub fn named(session: &Session<'_, '_>, name: &str) -> Option<FunctionId> {
    let functions = &session.program().functions;
    let number = functions.iter().position(|function| function.name == name)?;
    Some(FunctionId(number as u32))
}

/// `list [LINE | FUNCTION | FILE:LINE]`.
pub fn list(session: &mut Session<'_, '_>, argument: &str, out: &mut String) -> Result<(), String> {
    let source = &session.program().source;
    let here = session.now().instruction(session.thread);
    let here = here.map(|here| source.location(here.span));
    let around = |file: &str, line: u32| (file.to_string(), line.saturating_sub(PAGE / 2).max(1));
    let (file, first) = match (argument, &session.listed, &here) {
        ("", Some((file, line)), _) => (file.clone(), *line),
        ("", None, Some(here)) => around(&here.file, here.line),
        ("", None, None) => (source.name().to_string(), 1),
        (argument, _, here) => {
            let (file, line) = match argument.rsplit_once(':') {
                Some((file, line)) => (Some(file), line),
                None => (None, argument),
            };
            let current = here.as_ref().map_or(source.name(), |here| &here.file);
            let known = file.map(|file| find_file(source, file));
            let file = known.unwrap_or(Some(current)).ok_or("there is no such file")?;
            match (line.parse::<u32>(), named(session, line)) {
                (Ok(line), _) => around(file, line),
                (Err(_), Some(function)) => {
                    let spans = instructions(session, session.program().function(function));
                    let first = spans.first().ok_or("the function has no source")?;
                    let place = source.location(*first);
                    around(&place.file, place.line)
                }
                _ => return Err(format!("expected a line or a function, found '{argument}'")),
            }
        }
    };
    let (_, text) =
        source.files().find(|(name, _)| *name == file).ok_or("there is no such file")?;
    let mut last = first;
    for (number, line) in text.lines().enumerate().skip(first as usize - 1).take(PAGE as usize) {
        let number = number as u32 + 1;
        let is_here = here.as_ref().is_some_and(|here| *here.file == *file && here.line == number);
        let mark = if is_here { "=>" } else { "  " };
        let _ = writeln!(out, "{mark} {number:>4}  {}", line.trim_end());
        last = number + 1;
    }
    if last == first {
        session.listed = None;
        return Err(format!("there are no lines from {first} on in {}", file_name(&file)));
    }
    session.listed = Some((file, last));
    Ok(())
}

/// A file by its path, or by the end of it.
pub fn find_file<'a>(source: &'a SourceFile, name: &str) -> Option<&'a str> {
    let ends = |file: &str| file == name || file_name(file) == name;
    source.files().map(|(file, _)| file).find(|file| ends(file))
}
