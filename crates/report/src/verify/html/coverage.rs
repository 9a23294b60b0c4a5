//! What was covered, how, and what is left: for whoever is to believe `safe`, or to go on after
//! `unknown`. And how the page came about.

use std::fmt::{self, Write};

use parallax_verdict::{Scope, Verdict};

use crate::picture::escape;

use super::super::VerifyRun;
use super::super::words::counted;
use super::Page;

pub fn safe(out: &mut String, run: &VerifyRun<'_>, verdict: &Verdict) -> fmt::Result {
    writeln!(out, "<section class=\"coverage\"><h2>What was covered</h2>")?;
    scope(out, verdict)?;
    properties(out, verdict)?;
    counts(out, run, verdict)?;
    writeln!(out, "</section>")
}

pub fn unknown(out: &mut String, run: &VerifyRun<'_>, verdict: &Verdict) -> fmt::Result {
    writeln!(out, "<section class=\"coverage\"><h2>Why nobody knows</h2>")?;
    if let Some(reason) = &verdict.reason {
        write!(out, "<p>{}", escape(&reason.message))?;
        if let Some(place) = &reason.place {
            write!(out, " at <code>{}</code>", escape(&place.to_string()))?;
        }
        writeln!(out, ".</p>")?;
        if let Some(help) = &reason.help {
            writeln!(
                out,
                "<h2>What to try</h2><p class=\"help\">{}</p>",
                escape(&help.to_string())
            )?;
        }
    }
    writeln!(out, "<h2>What was looked at until then</h2>")?;
    if run.candidate.is_none() && verdict.violations.is_empty() {
        writeln!(
            out,
            "<p>Nothing wrong was found in what was looked at. That is no proof: an execution that was \
             not looked at may fail.</p>"
        )?;
    }
    properties(out, verdict)?;
    counts(out, run, verdict)?;
    writeln!(out, "</section>")
}

fn scope(out: &mut String, verdict: &Verdict) -> fmt::Result {
    let words = match verdict.scope {
        Some(Scope::Complete) => {
            "Every execution of the program that the model allows. None of them is cut short."
                .into()
        }
        Some(Scope::Bounded(bound)) => format!(
            "Every execution in which no loop is repeated more than {}. Longer ones were not \
             looked at.",
            if bound == 1 { "once".to_string() } else { format!("{bound} times") }
        ),
        Some(Scope::Restricted) => {
            "Every execution that the options leave, such as those with the inputs that they name. \
             Others were not looked at."
                .to_string()
        }
        None => "Not everything.".to_string(),
    };
    writeln!(out, "<p class=\"scope\">{words}</p>")
}

fn properties(out: &mut String, verdict: &Verdict) -> fmt::Result {
    use parallax_program::Property::*;
    writeln!(out, "<h3>Looked for</h3>\n<ul class=\"checks\">")?;
    for property in &verdict.properties {
        let words = match property {
            Assert => "assertions that fail",
            Race => "data races: accesses that nothing orders, one of which is not atomic",
            Memory => "accesses to memory that is not there, or that nobody has written",
            Leak => "objects that are never freed",
            Deadlock => "threads that wait for one another for ever",
            Lock => "locks that are used wrongly",
            Liveness => "loops that wait for what nobody does",
            Overflow => "arithmetic that the language leaves undefined",
            Layout => "results that depend on where objects lie in memory",
        };
        writeln!(out, "<li><b>{}</b>: {words}</li>", property.name())?;
    }
    writeln!(out, "</ul>")
}

fn counts(out: &mut String, run: &VerifyRun<'_>, verdict: &Verdict) -> fmt::Result {
    let counts = &verdict.counts;
    writeln!(out, "<h3>What it took</h3>\n<table class=\"counts\">")?;
    let rows = [
        (counts.executions, "execution", "looked at one by one, from start to end"),
        (counts.blocked, "blocked", "end at a false assumption or wait for ever"),
        (counts.redundant, "redundant", "looked at although an equivalent one had been"),
        (counts.states, "state", "of the program on the model's machine, each once"),
        (counts.events, "event", "reads, writes, fences and steps of threads"),
    ];
    for (count, name, what) in rows.into_iter().filter(|(count, _, _)| *count > 0) {
        let name = match name {
            "blocked" | "redundant" => format!("{count} {name}"),
            name => counted(count, name),
        };
        writeln!(out, "<tr><th>{name}</th><td>{what}</td></tr>")?;
    }
    if let Some(work) = run.solver {
        writeln!(
            out,
            "<tr><th>{}</th><td>in {} of the solver; {:.2} s to write them, {:.2} s to solve them</td></tr>",
            counted(work.clauses, "clause"),
            counted(work.variables, "variable"),
            work.encoding.as_secs_f64(),
            work.solving.as_secs_f64()
        )?;
    }
    if !run.engine_summary.is_empty() {
        let (engine, summary) = (escape(run.engine), escape(run.engine_summary));
        writeln!(out, "<tr><th>engine {engine}</th><td>{summary}</td></tr>")?;
    }
    writeln!(out, "</table>")?;
    if !verdict.notes.is_empty() {
        writeln!(out, "<h3>Assumptions and notes</h3>\n<ul>")?;
        for note in &verdict.notes {
            writeln!(out, "<li>{}</li>", escape(note))?;
        }
        writeln!(out, "</ul>")?;
    }
    Ok(())
}

/// How the page came about: everything that it takes to get it again.
pub fn run(
    out: &mut String,
    run: &VerifyRun<'_>,
    verdict: &Verdict,
    page: &Page<'_>,
) -> fmt::Result {
    writeln!(out, "<footer><h2>How this was found out</h2>\n<table class=\"counts\">")?;
    let properties: Vec<&str> = verdict.properties.iter().map(|p| p.name()).collect();
    let mut rows = vec![
        ("command", page.command.to_string()),
        ("version", format!("parallax {}", env!("CARGO_PKG_VERSION"))),
        ("checked for", properties.join(", ")),
    ];
    rows.extend(page.settings.iter().map(|(name, value)| (*name, value.clone())));
    rows.push((
        "took",
        format!("{:.2} s, {} MiB of memory", run.time.as_secs_f64(), run.peak_rss_kib / 1024),
    ));
    for (name, value) in rows.iter().filter(|(_, value)| !value.is_empty()) {
        let value = escape(value);
        let value = if *name == "command" { format!("<code>{value}</code>") } else { value };
        writeln!(out, "<tr><th>{}</th><td>{value}</td></tr>", escape(name))?;
    }
    writeln!(out, "</table>")?;
    if !verdict.violations.is_empty() {
        for note in &verdict.notes {
            writeln!(out, "<p>note: {}</p>", escape(note))?;
        }
    }
    for (name, text) in page.model {
        let name = escape(name);
        let lines: Vec<String> = text.lines().map(escape).collect();
        let text = lines.join("\n");
        writeln!(
            out,
            "<details class=\"model\"><summary>the model: <code>{name}</code></summary>\
             <pre>{text}</pre></details>"
        )?;
    }
    writeln!(out, "</footer>")
}
