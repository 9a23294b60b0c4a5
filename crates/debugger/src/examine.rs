//! `x/NFU ADDRESS`, as GDB has it: N units of size U in format F.

use std::fmt::Write;

use parallax_program::Bits;

use crate::expression;
use crate::inspect::shown;
use crate::session::Session;
use crate::source;

/// Units that one command shows.
const MOST: u64 = 4096;
const LONGEST_STRING: u64 = 200;

/// What stands behind the slash.
struct Layout {
    count: u64,
    format: char,
    size: u32,
}

fn layout(text: &str) -> Result<Layout, String> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (count, letters) = text.split_at(digits);
    let count = match count {
        "" => 1,
        count => count
            .parse()
            .ok()
            .filter(|count| (1..=MOST).contains(count))
            .ok_or_else(|| format!("expected a count from 1 to {MOST}, found '{count}'"))?,
    };
    let mut layout = Layout { count, format: 'x', size: 4 };
    for letter in letters.chars() {
        match letter {
            'b' => layout.size = 1,
            'h' => layout.size = 2,
            'w' => layout.size = 4,
            'g' => layout.size = 8,
            'c' => (layout.format, layout.size) = ('c', 1),
            'a' => (layout.format, layout.size) = ('a', 8),
            'x' | 'd' | 'u' | 't' | 'o' | 's' | 'i' => layout.format = letter,
            other => {
                return Err(format!(
                    "there is no '{other}' behind x/; formats are x d u t o c a s i, sizes b h w g"
                ));
            }
        }
    }
    Ok(layout)
}

pub fn examine(
    session: &Session<'_, '_>,
    format: &str,
    argument: &str,
    out: &mut String,
) -> Result<(), String> {
    let Layout { count, format, size } = layout(format)?;
    if argument.is_empty() {
        return Err("expected an address: a number, $REGISTER, &NAME or NAME".to_string());
    }
    if format == 'i' {
        return instructions(session, argument, count, out);
    }
    let address = expression::address(session, argument)?;
    if format == 's' {
        return string(session, address, out);
    }
    let per_row = match size {
        8 => 2,
        4 if format != 't' => 4,
        _ => 8,
    };
    let thread = Some(session.thread);
    for number in 0..count {
        let at = address.wrapping_add(number * u64::from(size));
        if number % per_row == 0 {
            let end = if number == 0 { "" } else { "\n" };
            let _ = write!(out, "{end}{}:", label(session, at));
        }
        let value = Bits::new(size * 8, session.now().system.bytes(thread, at, size));
        let text = match format {
            'x' => format!("{:#0width$x}", value.unsigned(), width = size as usize * 2 + 2),
            't' => format!("{:0width$b}", value.unsigned(), width = size as usize * 8),
            other => shown(session, value, &other.to_string())?,
        };
        let _ = write!(out, "\t{text}");
    }
    out.push('\n');
    Ok(())
}

fn label(session: &Session<'_, '_>, address: u64) -> String {
    match session.names.place(address) {
        Some(place) => format!("{address:#x} <{place}>"),
        None => format!("{address:#x}"),
    }
}

fn string(session: &Session<'_, '_>, address: u64, out: &mut String) -> Result<(), String> {
    let mut text = String::new();
    for offset in 0..LONGEST_STRING {
        let at = address.wrapping_add(offset);
        let byte = session.now().system.bytes(Some(session.thread), at, 1) as u8;
        if byte == 0 {
            break;
        }
        text.extend(char::from(byte).escape_default());
    }
    let _ = writeln!(out, "{}:\t\"{text}\"", label(session, address));
    Ok(())
}

/// The instructions from the chosen thread's on, for `$pc` and `$rip`, or those of a function.
fn instructions(
    session: &Session<'_, '_>,
    argument: &str,
    count: u64,
    out: &mut String,
) -> Result<(), String> {
    let program = session.program();
    let line = |span: parallax_program::Span| program.source.position(span.start).0;
    let (function, first) = match argument {
        "$pc" | "$rip" => {
            let here = session.now().instruction(session.thread).ok_or("the thread is nowhere")?;
            (here.site.function, line(here.span))
        }
        name => {
            let known = source::named(session, name.trim_start_matches('&'));
            (known.ok_or_else(|| format!("there is no function '{name}'"))?, 0)
        }
    };
    let spans = source::instructions(session, program.function(function));
    let spans = spans.into_iter().filter(|span| line(*span) >= first);
    for span in spans.take(count as usize) {
        let _ = writeln!(out, "   {}", source::text(&program.source, span));
    }
    Ok(())
}
