//! A verdict for a person at a terminal: what was found first, then the trace that leads there,
//! why it is possible, and what was searched. What comes from the program is shown, never obeyed: see
//! [`visible_line`].

use std::fmt::{self, Write};

use parallax_program::visible_line;
use parallax_verdict::{Conclusion, Scope, Verdict, Violation};

use super::story::{Story, headline};
use super::trace::{Detail, Row, StepRow, ThreadTrace};
use super::words::{counted, listed};
use super::{Under, VerifyRun};

/// How to write for the reader at hand.
#[derive(Clone, Copy, Debug)]
pub struct TextStyle {
    pub colour: bool,
    /// Characters in a line; source text beyond is cut.
    pub width: usize,
    pub detail: Detail,
}

/// Several lines, each with its end.
pub fn verdict_text(run: &VerifyRun<'_>, verdict: &Verdict, style: TextStyle) -> String {
    let mut writer = Writer { out: String::new(), style, under: run.under };
    // Writing to a string does not fail.
    let _ = writer.verdict(run, verdict);
    writer.out
}

struct Writer<'a> {
    out: String,
    style: TextStyle,
    under: Under<'a>,
}

const BOLD: &str = "1";
const RED: &str = "1;31";
const GREEN: &str = "1;32";
const YELLOW: &str = "1;33";
const DIM: &str = "2";

impl Writer<'_> {
    fn verdict(&mut self, run: &VerifyRun<'_>, verdict: &Verdict) -> fmt::Result {
        for (number, violation) in verdict.violations.iter().enumerate() {
            let unsafe_ = self.painted(RED, "unsafe");
            writeln!(self.out, "{unsafe_}: {}", visible_line(&headline(violation)))?;
            // One trace is enough to start with.
            self.violation(violation, number == 0 || self.style.detail == Detail::Full)?;
        }
        match verdict.conclusion() {
            Conclusion::Unsafe => {}
            Conclusion::Safe => {
                let safe = self.painted(GREEN, "safe");
                writeln!(self.out, "{safe}: {}", what_holds(verdict))?;
            }
            Conclusion::Unknown => {
                self.unknown(verdict)?;
                self.candidate(run)?;
            }
        }
        self.counts(run, verdict)?;
        for note in &verdict.notes {
            writeln!(self.out, "note: {}", visible_line(note))?;
        }
        self.next(run, verdict)
    }

    /// What a reader of a violation would ask for next.
    fn next(&mut self, run: &VerifyRun<'_>, verdict: &Verdict) -> fmt::Result {
        let Some(violation) = verdict.violations.first() else { return Ok(()) };
        let story = Story::new(violation, self.under, self.style.detail);
        let name = run.input.rsplit_once('.').map_or("", |(_, kind)| kind);
        match story.is_repairable && ["c", "i", "s", "litmus"].contains(&name) {
            true => writeln!(
                self.out,
                "next: 'parallax fences' with the same input and model looks for the cheapest repair"
            ),
            false => writeln!(self.out, "next: --report FILE.html shows this as a page"),
        }
    }

    fn unknown(&mut self, verdict: &Verdict) -> fmt::Result {
        let unknown = self.painted(YELLOW, "unknown");
        let Some(reason) = &verdict.reason else {
            return writeln!(self.out, "{unknown}");
        };
        let said = match &reason.place {
            Some(place) => format!("{} at {place}", reason.message),
            None => reason.message.clone(),
        };
        writeln!(self.out, "{unknown}: {}", visible_line(&said))?;
        match &reason.help {
            Some(help) => writeln!(self.out, "  help: {}", visible_line(&help.to_string())),
            None => Ok(()),
        }
    }

    fn candidate(&mut self, run: &VerifyRun<'_>) -> fmt::Result {
        let Some(candidate) = run.candidate else { return Ok(()) };
        writeln!(self.out, "  a candidate, which may be spurious:")?;
        self.violation(candidate, true)
    }

    fn counts(&mut self, run: &VerifyRun<'_>, verdict: &Verdict) -> fmt::Result {
        writeln!(self.out, "{}", searched(run, verdict))?;
        let properties: Vec<&str> = verdict.properties.iter().map(|p| p.name()).collect();
        let checked = if properties.is_empty() { "nothing" } else { &properties.join(", ") };
        writeln!(
            self.out,
            "model {}, engine {}, checked for {}; {:.2} s",
            visible_line(run.under.model),
            run.engine,
            checked,
            run.time.as_secs_f64()
        )
    }

    fn violation(&mut self, violation: &Violation, with_trace: bool) -> fmt::Result {
        let story = Story::new(violation, self.under, self.style.detail);
        for finding in &story.finding {
            writeln!(self.out, "  {}", visible_line(&finding.text))?;
            for call in &finding.calls {
                writeln!(self.out, "    {}", visible_line(call))?;
            }
        }
        if with_trace {
            self.trace(&story)?;
            self.why(&story)?;
        } else {
            writeln!(self.out, "  (--verbose shows the trace)")?;
        }
        writeln!(self.out)
    }

    fn trace(&mut self, story: &Story) -> fmt::Result {
        let columns = Columns::of(&story.threads, self.style.width);
        for thread in story.threads.iter().filter(|thread| !thread.rows.is_empty()) {
            let name = self.painted(BOLD, &thread.name);
            let comma = if thread.origin.is_empty() { "" } else { ", " };
            writeln!(self.out, "\n  {name}{comma}{}", visible_line(&thread.origin))?;
            for row in &thread.rows {
                self.row(row, &columns)?;
            }
        }
        let rows = story.threads.iter().flat_map(|thread| &thread.rows);
        if rows.clone().any(|row| matches!(row, Row::LeftOut(_))) {
            writeln!(self.out, "\n  (--verbose shows every step)")?;
        }
        Ok(())
    }

    fn row(&mut self, row: &Row, columns: &Columns) -> fmt::Result {
        let Columns { step, place, words } = *columns;
        match row {
            Row::Step(row) => {
                let mark = if row.involved { "▸" } else { " " };
                let start = format!("  {mark} {:>step$}  {:<place$}", row.step, row.place);
                self.line(&start, &row.words, words, &row.source)
            }
            Row::LeftOut(count) => {
                let steps = counted(*count as u64, "step");
                let text = format!("    {:>step$}  … {steps} left out", "");
                let text = self.painted(DIM, &text);
                writeln!(self.out, "{text}")
            }
            Row::Standing { place: at, words: what, source, .. } => {
                let start = format!("  ▸ {:>step$}  {at:<place$}", "");
                self.line(&start, what, words, source)
            }
        }
    }

    /// A line of the trace, with as much of the source as fits.
    fn line(&mut self, start: &str, words: &str, width: usize, source: &str) -> fmt::Result {
        let left = format!("{start}  {words:<width$}");
        let (left, source) = (visible_line(&left), visible_line(source));
        let room = self.style.width.saturating_sub(left.chars().count() + 3);
        if source.is_empty() || room < 16 {
            return writeln!(self.out, "{}", left.trim_end());
        }
        let source = self.painted(DIM, &format!("│ {}", cut(&source, room)));
        writeln!(self.out, "{left} {source}")
    }

    fn why(&mut self, story: &Story) -> fmt::Result {
        let Some(why) = &story.why else {
            let steps = story.order.events.len();
            return match steps {
                0 | 1 => Ok(()),
                _ => writeln!(self.out, "\n  The steps happen in the order of their numbers."),
            };
        };
        let heading = self.painted(BOLD, "Why this can happen");
        writeln!(self.out, "\n  {heading}")?;
        for sentence in &why.sentences {
            writeln!(self.out, "  • {}", visible_line(&sentence.text))?;
            if let Some(missing) = &sentence.missing {
                writeln!(self.out, "      ({})", visible_line(missing))?;
            }
        }
        Ok(())
    }

    fn painted(&self, colour: &str, text: &str) -> String {
        let text = visible_line(text);
        if self.style.colour { format!("\x1b[{colour}m{text}\x1b[0m") } else { text.to_string() }
    }
}

/// Widths of the columns of all threads together.
struct Columns {
    step: usize,
    place: usize,
    words: usize,
}

/// As much room is left for source text; longer sentences take it for themselves only.
const LEAST_SOURCE: usize = 24;

impl Columns {
    fn of(threads: &[ThreadTrace], width: usize) -> Columns {
        let rows = threads.iter().flat_map(|thread| &thread.rows);
        let mut columns = Columns { step: 1, place: 1, words: 1 };
        for row in rows {
            let (step, place, words) = match row {
                Row::Step(StepRow { step, place, words, .. }) => (*step, place, words),
                Row::Standing { place, words, .. } => (0, place, words),
                Row::LeftOut(_) => continue,
            };
            columns.step = columns.step.max(step.to_string().len());
            columns.place = columns.place.max(place.chars().count());
            columns.words = columns.words.max(words.chars().count());
        }
        let fixed = columns.step + columns.place + 12;
        columns.words = columns.words.min(width.saturating_sub(fixed + LEAST_SOURCE));
        columns
    }
}

fn cut(text: &str, room: usize) -> String {
    if text.chars().count() <= room {
        return text.to_string();
    }
    let start: String = text.chars().take(room.saturating_sub(1)).collect();
    format!("{}…", start.trim_end())
}

/// What a verdict of safe means: `no assertion fails, no data race`.
pub fn what_holds(verdict: &Verdict) -> String {
    use parallax_program::Property::*;
    let words = verdict.properties.iter().map(|property| match property {
        Assert => "assertion failure",
        Race => "data race",
        Memory => "memory error",
        Leak => "leak",
        Deadlock => "deadlock",
        Lock => "locking error",
        Liveness => "endless waiting",
        Overflow => "overflow",
        Layout => "dependence on where objects lie",
    });
    let words: Vec<String> = words.map(str::to_string).collect();
    match words.as_slice() {
        [] => "nothing was checked".to_string(),
        words => format!("no {}", listed(words).replace(" and ", " or ")),
    }
}

/// What was looked at, and what that covers.
pub fn searched(run: &VerifyRun<'_>, verdict: &Verdict) -> String {
    let counts = &verdict.counts;
    // Solvers and proofs look at all executions at once, and count none.
    let at_once = !run.counts_executions;
    let first = match at_once {
        true if counts.events == 0 && counts.states > 0 => None,
        true => Some(counted(counts.events, "event")),
        false => Some(counted(counts.executions, "execution")),
    };
    let more = [(counts.blocked, "blocked"), (counts.redundant, "redundant")];
    let more = more.into_iter().filter(|(count, _)| *count > 0);
    let more = more.map(|(count, what)| format!("{count} {what}"));
    let states = (counts.states > 0).then(|| counted(counts.states, "state"));
    let all: Vec<String> = first.into_iter().chain(more).chain(states).collect();
    let all = all.join(", ");
    match verdict.conclusion() == Conclusion::Unsafe && !run.all {
        true if at_once => format!("found among {all}; --all looks for more"),
        true if counts.executions + counts.blocked + counts.states == 0 => {
            "found in the first execution; --all looks for more".to_string()
        }
        true => format!("found after {all}; --all looks for more"),
        false => format!("{all}; {}", scope(verdict)),
    }
}

/// What the counts cover.
fn scope(verdict: &Verdict) -> String {
    let rounds = |bound: u32| counted(bound.into(), "round");
    match verdict.scope {
        Some(Scope::Complete) => "every execution was covered".to_string(),
        Some(Scope::Bounded(bound)) => {
            format!("every execution with up to {} of each loop was covered", rounds(bound))
        }
        Some(Scope::Restricted) => "every execution was covered that the options leave".to_string(),
        None => "not everything was covered".to_string(),
    }
}
