//! A verdict as one page that needs nothing else, for people to show to each other: what was found
//! and why it can happen, the source beside a lane for each thread, memory as it changes from step to
//! step; or what was covered, and how; or why nobody knows, and what to try.
//!
//! What the page says is there without scripts. Its own script connects source, steps and arrows, and plays
//! the execution. Names and texts come from inputs: they are escaped, the script gets data as JSON
//! in which no tag can begin, and a policy in the page has browsers run that script and no other.

mod chart;
mod coverage;
mod drawing;
mod listing;
mod play;

use std::fmt::{self, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use parallax_verdict::{Conclusion, Verdict, Violation};
use sha2::{Digest, Sha256};

use super::VerifyRun;
use super::story::{Story, headline};
use super::text::{searched, what_holds};
use super::trace::Detail;
use crate::json::to_line;
use crate::picture::escape;

use chart::Chart;
use drawing::Drawing;
use listing::Listing;
use play::play;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Lanes have so many colours, in turn.
const COLOURS: usize = 6;

/// What the page says beside the verdict.
#[derive(Clone, Copy, Debug, Default)]
pub struct Page<'a> {
    /// What was said to the shell.
    pub command: &'a str,
    /// Names and texts of the files that the program is made of.
    pub sources: &'a [(&'a str, &'a str)],
    /// The names of those that were given, and not found by way of others.
    pub given: &'a [String],
    /// Names and texts of the files of the model.
    pub model: &'a [(&'a str, &'a str)],
    /// What the search was told: names and values.
    pub settings: &'a [(&'a str, String)],
}

/// The whole page.
pub fn verdict_html(run: &VerifyRun<'_>, verdict: &Verdict, page: &Page<'_>) -> String {
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = write_page(&mut out, run, verdict, page);
    out
}

fn write_page(
    out: &mut String,
    run: &VerifyRun<'_>,
    verdict: &Verdict,
    page: &Page<'_>,
) -> fmt::Result {
    let name = verdict.conclusion().name();
    let input = escape(run.input);
    let digest = STANDARD.encode(Sha256::digest(SCRIPT.as_bytes()));
    writeln!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'; script-src 'sha256-{digest}'; base-uri 'none'; \
         form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{input}: {name}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>"
    )?;
    write_top(out, run, verdict)?;
    writeln!(out, "<main>")?;
    match verdict.conclusion() {
        Conclusion::Safe => coverage::safe(out, run, verdict)?,
        Conclusion::Unknown => coverage::unknown(out, run, verdict)?,
        Conclusion::Unsafe => {}
    }
    for (number, violation) in verdict.violations.iter().enumerate() {
        if number > 0 {
            let headline = escape(&headline(violation));
            writeln!(out, "<h2 class=\"next unsafe\">{headline}</h2>")?;
        }
        write_violation(out, run, violation, page)?;
    }
    if let Some(candidate) = run.candidate {
        writeln!(
            out,
            "<h2 class=\"next unknown\">A candidate, which may be spurious: {}</h2>",
            escape(&headline(candidate))
        )?;
        write_violation(out, run, candidate, page)?;
    }
    coverage::run(out, run, verdict, page)?;
    writeln!(out, "</main>")?;
    // Between the tags is what the digest is of.
    writeln!(out, "<script>{SCRIPT}</script>\n</body>\n</html>")
}

fn write_top(out: &mut String, run: &VerifyRun<'_>, verdict: &Verdict) -> fmt::Result {
    let name = verdict.conclusion().name();
    writeln!(
        out,
        "<header class=\"top {name}\">\n<div class=\"verdict\"><span class=\"badge\">{name}</span>\
         <h1>{}</h1><button class=\"theme\" title=\"dark or light (t)\">◐</button></div>",
        escape(&title(verdict))
    )?;
    writeln!(
        out,
        "<p class=\"facts\"><span><b>{}</b></span><span>model <b>{}</b></span>\
         <span>engine <b>{}</b></span><span>{}</span><span>{:.2} s</span></p>\n</header>",
        escape(run.input),
        escape(run.under.model),
        escape(run.engine),
        escape(&searched(run, verdict)),
        run.time.as_secs_f64()
    )
}

fn title(verdict: &Verdict) -> String {
    match verdict.conclusion() {
        Conclusion::Safe => what_holds(verdict),
        Conclusion::Unsafe => verdict.violations.first().map_or_else(String::new, headline),
        Conclusion::Unknown => {
            verdict.reason.as_ref().map_or_else(String::new, |reason| match &reason.place {
                Some(place) => format!("{} at {place}", reason.message),
                None => reason.message.clone(),
            })
        }
    }
}

fn write_violation(
    out: &mut String,
    run: &VerifyRun<'_>,
    violation: &Violation,
    page: &Page<'_>,
) -> fmt::Result {
    let story = Story::new(violation, run.under, Detail::Short);
    let chart = Chart::new(violation, &story);
    let listing = Listing::new(page, &chart);
    let drawing = Drawing::new(&chart);
    writeln!(out, "<section class=\"violation\">")?;
    write_findings(out, &story)?;
    write_why(out, &story, &chart)?;
    if chart.cards.is_empty() {
        return writeln!(out, "</section>");
    }
    let alone = if listing.is_empty() { " alone" } else { "" };
    writeln!(out, "<div class=\"stage{alone}\">")?;
    if !listing.is_empty() {
        writeln!(out, "<div class=\"pane source\" tabindex=\"0\" aria-label=\"source\">")?;
        listing.write(out, &chart)?;
        writeln!(out, "</div>")?;
    }
    writeln!(out, "<div class=\"pane threads\" tabindex=\"0\" aria-label=\"threads\">")?;
    drawing.write(out, &listing)?;
    writeln!(out, "</div>\n</div>")?;
    drawing.legend(out)?;
    let data = to_line(&play(violation, &story, &chart, run.under));
    write_dock(out, chart.last(), &data)?;
    writeln!(out, "</section>")
}

fn write_findings(out: &mut String, story: &Story) -> fmt::Result {
    if story.finding.is_empty() {
        return Ok(());
    }
    writeln!(out, "<ul class=\"findings\">")?;
    for finding in &story.finding {
        write!(out, "<li>{}", escape(&finding.text))?;
        for call in &finding.calls {
            write!(out, "<p class=\"calls\">{}</p>", escape(call))?;
        }
        writeln!(out, "</li>")?;
    }
    writeln!(out, "</ul>")
}

fn write_why(out: &mut String, story: &Story, chart: &Chart) -> fmt::Result {
    let Some(why) = &story.why else {
        return match story.order.events.len() {
            0 | 1 => Ok(()),
            _ => writeln!(out, "<p>The steps happen in the order of their numbers.</p>"),
        };
    };
    writeln!(out, "<div class=\"why\"><h2>Why this can happen</h2>\n<ol>")?;
    for sentence in &why.sentences {
        let mut steps: Vec<u32> = sentence.events.iter().filter_map(|e| chart.step(*e)).collect();
        steps.dedup();
        let list = steps.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
        write!(out, "<li data-steps=\"{list}\">{}", escape(&sentence.text))?;
        for step in steps {
            write!(out, " <button class=\"chip plain\" data-step=\"{step}\">{step}</button>")?;
        }
        if let Some(missing) = &sentence.missing {
            write!(out, "<span class=\"missing\">{}</span>", escape(missing))?;
        }
        writeln!(out, "</li>")?;
    }
    writeln!(out, "</ol></div>")
}

/// The slider, and memory at the step that it is at.
fn write_dock(out: &mut String, last: u32, data: &str) -> fmt::Result {
    writeln!(
        out,
        "<div class=\"dock\" hidden>\n<div class=\"transport\">\
         <button class=\"first\" title=\"start (Home)\">⇤</button>\
         <button class=\"back\" title=\"one step back (←)\">←</button>\
         <button class=\"play\" title=\"play (space)\">▶</button>\
         <button class=\"on\" title=\"one step on (→)\">→</button>\
         <input type=\"range\" min=\"0\" max=\"{last}\" value=\"{last}\" aria-label=\"step\">\
         <output>{last} / {last}</output>\
         <span class=\"now\" aria-live=\"polite\"></span></div>\n\
         <div class=\"memory\"></div>\n</div>\n\
         <script type=\"application/json\" class=\"data\">{}</script>",
        in_script(data)
    )
}

/// JSON in which neither a tag nor a comment can begin.
fn in_script(json: &str) -> String {
    let mut safe = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' | '>' | '&' => {
                // Writing to a string does not fail.
                let _ = write!(safe, "\\u{:04x}", u32::from(c));
            }
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_tag_begins_in_data() {
        let value = serde_json::json!({ "a": "</script><!--<script>&\u{2028}\u{202e}x\n" });
        let safe = in_script(&to_line(&value));
        assert!(!safe.contains(['<', '>', '&', '\u{2028}', '\u{202e}']), "{safe}");
        let back: serde_json::Value = serde_json::from_str(&safe).expect("JSON");
        assert_eq!(back["a"].as_str().unwrap().split('&').next(), Some("</script><!--<script>"));
    }

    #[test]
    fn the_script_does_not_end_early() {
        assert!(!SCRIPT.contains("</script") && !SCRIPT.contains("<!--"));
        assert!(!STYLE.contains("</style"));
    }
}
