//! All threads side by side: where they are, what is around, what changed, what waits.

use std::fmt::Write;

use parallax_program::Bits;

use crate::machine::Machine;
use crate::session::Session;
use crate::{control, memory, registers, source, story};

/// Characters of a line, and of a thread's column at least and at most.
const LINE: usize = 120;
const NARROWEST: usize = 24;
const WIDEST: usize = 58;
/// Instructions before and after the one that a thread is at.
const AROUND: usize = 2;

/// `view`.
pub fn view(session: &Session<'_, '_>, out: &mut String) {
    let threads: Vec<u32> = session.now().threads().collect();
    let width = (LINE / threads.len().max(1)).clamp(NARROWEST, WIDEST);
    for row in threads.chunks((LINE / width).max(1)) {
        let columns: Vec<Vec<String>> = row.iter().map(|thread| column(session, *thread)).collect();
        let height = columns.iter().map(Vec::len).max().unwrap_or(0);
        for number in 0..height {
            let cells = columns.iter().map(|column| {
                let text = column.get(number).map_or("", String::as_str);
                fit(text, width - 3)
            });
            let line = cells.collect::<Vec<_>>().join(" | ");
            let _ = writeln!(out, "{}", line.trim_end().trim_end_matches('|').trim_end());
        }
        out.push('\n');
    }
    let (start, _) = Machine::start(session.now().system.setup());
    let changed = memory::differences(session, &start);
    let changed =
        if changed.is_empty() { "as at the start".to_string() } else { changed.join(", ") };
    let _ = writeln!(out, "memory: {changed}");
}

/// Text in a column, cut where it is too long.
fn fit(text: &str, width: usize) -> String {
    let length = text.chars().count();
    match length <= width {
        true => format!("{text}{}", " ".repeat(width - length)),
        false => {
            let kept: String = text.chars().take(width.saturating_sub(1)).collect();
            format!("{kept}…")
        }
    }
}

fn column(session: &Session<'_, '_>, thread: u32) -> Vec<String> {
    let now = session.now();
    let mark = if thread == session.thread { "*" } else { " " };
    let state = control::state_word(session, thread);
    let mut lines =
        vec![format!("{mark}{} {}", thread, session.names.thread(thread)), format!("  {state}")];
    let context = source::context(session, thread, AROUND);
    if context.is_empty() && !now.system.has_ended(thread) {
        lines.push("  in the library".to_string());
    }
    for (is_here, text) in context.into_iter().filter(|_| !now.system.has_ended(thread)) {
        let mark = if is_here { "=>" } else { "  " };
        lines.push(format!("{mark} {text}"));
    }
    let before = registers::all(session, &session.before, thread);
    let values = registers::all(session, now, thread);
    let is_usual = |name: &str| registers::is_usual(session, name);
    let is_new = |value: &(String, Bits)| match before.is_empty() {
        true => !value.1.is_zero(),
        false => !before.contains(value),
    };
    let changed = values.iter().filter(|value| is_usual(&value.0) && is_new(value));
    for (name, value) in changed {
        lines.push(format!("  {name} = {}", session.names.value(*value)));
    }
    if session.is_machine_code() && registers::flags(&before) != registers::flags(&values) {
        lines.push(format!("  flags {}", registers::flags(&values)));
    }
    for entry in now.system.buffer(thread) {
        lines.push(format!("  buffer: {}", story::entry(&session.names, entry)));
    }
    lines
}
