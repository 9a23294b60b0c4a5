//! A verdict as one page that needs nothing else: the answer, the trace beside the source, why it
//! can happen, and the picture. No scripts, no fonts and no styles from elsewhere.

use std::fmt::{self, Write};

use parallax_verdict::{Conclusion, Verdict, Violation};

use super::VerifyRun;
use super::story::{Story, headline};
use super::text::{searched, what_holds};
use super::trace::{Detail, Row, ThreadTrace};
use super::words::counted;
use crate::picture::{Caption, escape, focused_svg};

const STYLE: &str = "\
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem;
  color: #1f2328; background: #fff; }
h1 { font-size: 1.3rem; padding: .7rem 1rem; border-radius: .5rem; color: #fff; }
h1.unsafe { background: #b3261e; } h1.safe { background: #1d6f42; } h1.unknown { background: #8a6100; }
h2 { font-size: 1.05rem; margin: 2rem 0 .4rem; } h3 { font-size: 1rem; margin: 1.2rem 0 .2rem; }
h3 small { font-weight: normal; color: #6e7681; }
table { border-collapse: collapse; font: 13px/1.5 ui-monospace, Menlo, Consolas, monospace; width: 100%; }
td { padding: .15rem .6rem; vertical-align: top; border-top: 1px solid #d9dde3; }
td.step, td.place { color: #6e7681; white-space: nowrap; width: 1%; } td.step { text-align: right; }
td.source { color: #6e7681; width: 38%; } tr.involved td { background: #fff1d6; }
tr.standing td.words { font-weight: bold; color: #b3261e; } tr.gap td { color: #6e7681; }
.picture { overflow-x: auto; } .picture svg { max-width: 100%; height: auto; }
.missing { color: #6e7681; display: block; } footer { margin-top: 2rem; color: #6e7681; }
.calls { margin: 0; color: #6e7681; }
@media (prefers-color-scheme: dark) { body { color: #e6e8eb; background: #16181c; }
  td { border-color: #333840; } tr.involved td { background: #3d3113; } }
";

/// The whole page.
pub fn verdict_html(run: &VerifyRun<'_>, verdict: &Verdict) -> String {
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = page(&mut out, run, verdict);
    out
}

fn page(out: &mut String, run: &VerifyRun<'_>, verdict: &Verdict) -> fmt::Result {
    let name = verdict.conclusion().name();
    let input = escape(run.input);
    writeln!(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">")?;
    writeln!(out, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">")?;
    writeln!(out, "<title>{input}: {name}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>")?;
    writeln!(out, "<h1 class=\"{name}\">{}</h1>", escape(&title(verdict)))?;
    writeln!(
        out,
        "<p>{input}, model {}, engine {}</p>",
        escape(run.under.model),
        escape(run.engine)
    )?;
    if let Some(help) = verdict.reason.as_ref().and_then(|reason| reason.help.as_ref()) {
        writeln!(out, "<p>{}</p>", escape(&help.to_string()))?;
    }
    for (number, violation) in verdict.violations.iter().enumerate() {
        if number > 0 {
            let headline = escape(&headline(violation));
            writeln!(out, "<h1 class=\"unsafe\">unsafe: {headline}</h1>")?;
        }
        write_violation(out, run, violation)?;
    }
    footer(out, run, verdict)?;
    writeln!(out, "</body>\n</html>")
}

fn title(verdict: &Verdict) -> String {
    let name = verdict.conclusion().name();
    let about = match verdict.conclusion() {
        Conclusion::Safe => what_holds(verdict),
        Conclusion::Unsafe => verdict.violations.first().map_or_else(String::new, headline),
        Conclusion::Unknown => {
            verdict.reason.as_ref().map_or_else(String::new, |reason| match &reason.place {
                Some(place) => format!("{} at {place}", reason.message),
                None => reason.message.clone(),
            })
        }
    };
    if about.is_empty() { name.to_string() } else { format!("{name}: {about}") }
}

fn write_violation(out: &mut String, run: &VerifyRun<'_>, violation: &Violation) -> fmt::Result {
    let story = Story::new(violation, run.under, Detail::Short);
    if !story.finding.is_empty() {
        writeln!(out, "<ul>")?;
        for finding in &story.finding {
            write!(out, "<li>{}", escape(&finding.text))?;
            for call in &finding.calls {
                write!(out, "<p class=\"calls\">{}</p>", escape(call))?;
            }
            writeln!(out, "</li>")?;
        }
        writeln!(out, "</ul>")?;
    }
    if let Some(why) = &story.why {
        writeln!(out, "<h2>Why this can happen</h2>\n<ul>")?;
        for sentence in &why.sentences {
            write!(out, "<li>{}", escape(&sentence.text))?;
            if let Some(missing) = &sentence.missing {
                write!(out, "<span class=\"missing\">{}</span>", escape(missing))?;
            }
            writeln!(out, "</li>")?;
        }
        writeln!(out, "</ul>")?;
    }
    writeln!(out, "<h2>What each thread does</h2>")?;
    for thread in story.threads.iter().filter(|thread| !thread.rows.is_empty()) {
        write_thread(out, thread)?;
    }
    let headline = headline(violation);
    let caption = Caption { title: &headline, subtitle: run.under.model };
    let picture = focused_svg(violation, caption);
    writeln!(out, "<h2>Picture</h2>\n<div class=\"picture\">\n{picture}</div>")
}

fn write_thread(out: &mut String, thread: &ThreadTrace) -> fmt::Result {
    let (name, origin) = (escape(&thread.name), escape(&thread.origin));
    writeln!(out, "<h3>{name} <small>{origin}</small></h3>\n<table>")?;
    for row in &thread.rows {
        let (class, step, place, words, source) = match row {
            Row::Step(row) => {
                let class = if row.involved { "involved" } else { "step" };
                (class, row.step.to_string(), row.place.clone(), row.words.clone(), &*row.source)
            }
            Row::LeftOut(count) => {
                let words = format!("… {} left out", counted(*count as u64, "step"));
                ("gap", String::new(), String::new(), words, "")
            }
            Row::Standing { place, words, source } => {
                ("standing", String::new(), place.clone(), words.clone(), &**source)
            }
        };
        writeln!(
            out,
            "<tr class=\"{class}\"><td class=\"step\">{step}</td><td class=\"place\">{}</td>\
             <td class=\"words\">{}</td><td class=\"source\">{}</td></tr>",
            escape(&place),
            escape(&words),
            escape(source)
        )?;
    }
    writeln!(out, "</table>")
}

fn footer(out: &mut String, run: &VerifyRun<'_>, verdict: &Verdict) -> fmt::Result {
    let properties: Vec<&str> = verdict.properties.iter().map(|p| p.name()).collect();
    writeln!(
        out,
        "<footer><p>{}. Checked for {}. {:.2} s, {} KiB.</p>",
        escape(&searched(run, verdict)),
        properties.join(", "),
        run.time.as_secs_f64(),
        run.peak_rss_kib
    )?;
    for note in &verdict.notes {
        writeln!(out, "<p>{}</p>", escape(note))?;
    }
    writeln!(out, "</footer>")
}
