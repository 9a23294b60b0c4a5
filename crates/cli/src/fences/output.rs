//! The repair on stdout as a diff, what it is for on stderr, and the files that were asked for.

use std::path::Path;
use std::time::Duration;

use parallax_fences::source::diff::unified;
use parallax_fences::{Explained, Outcome, Subject};
use parallax_files::replace;
use parallax_program::Diagnostic;
use parallax_report::{Caption, RepairRun, RepairStep, focused_svg, repair_json, repair_text};

use super::FencesArguments;
use crate::Exit;
use crate::args::Format;
use crate::output;
use crate::verify::output::{unwritten, write};
use crate::voice::Options;
use parallax_verify::Mended;
use parallax_verify::text::shown;

pub fn deliver(options: &FencesArguments, answer: &Mended, time: Duration) -> Result<(), Exit> {
    let input = shown(options.input.first());
    let files = &answer.repaired.files;
    let diff: String = files.iter().map(|(name, old, new)| difference(name, old, new)).collect();
    let run = run(answer, options, &input, &diff, time);
    let is_confirmed = answer.repaired.outcome == Outcome::Fixed;
    if is_confirmed && options.in_place {
        for (name, _, new) in files {
            deliver_file(Path::new(name), new)?;
        }
    }
    if is_confirmed && let (Some(path), Some((_, _, new))) = (&options.output, files.first()) {
        deliver_file(path, new)?;
    }
    if let Some(folder) = &options.graph {
        draw(folder, answer, &input)?;
    }
    let written = is_confirmed && (options.in_place || options.output.is_some());
    let text = match options.format {
        Format::Json => repair_json(&run) + "\n",
        Format::Text if written => String::new(),
        Format::Text => diff.clone(),
    };
    if options.format == Format::Text && !options.quiet {
        output::note(repair_text(&run).trim_end());
    }
    if output::print_for_programs(&text).is_break() { Err(Exit::Unknown) } else { Ok(()) }
}

/// As `patch -p1` takes it; paths that start at the root, or go up, as they are.
fn difference(name: &str, old: &str, new: &str) -> String {
    if Path::new(name).is_absolute() || name.starts_with("..") {
        return unified(name, name, old, new);
    }
    unified(&format!("a/{name}"), &format!("b/{name}"), old, new)
}

fn run<'a>(
    answer: &'a Mended,
    options: &FencesArguments,
    input: &'a str,
    diff: &'a str,
    time: Duration,
) -> RepairRun<'a> {
    let repaired = &answer.repaired;
    let reason = repaired.reason.as_ref();
    let needless = repaired.needless.iter().map(|change| &change.place).collect();
    let is_checked = options.check && repaired.outcome == Outcome::Fixed;
    RepairRun {
        input,
        model: &answer.model,
        engine: answer.engine,
        result: repaired.outcome.name(),
        relaxes: options.relax,
        scope: repaired.scope,
        steps: repaired.changes.iter().map(step).collect(),
        reason: reason.map(|reason| reason.message.as_str()),
        help: reason.and_then(|reason| reason.help.as_ref()).map(|help| help.worded(&Options)),
        violation: repaired.violation.as_ref(),
        is_plain_bug: repaired.is_plain_bug,
        fences: repaired.cost.0,
        weight: repaired.cost.1,
        traces: repaired.traces,
        iterations: repaired.iterations,
        demands: repaired.demands,
        candidates: repaired.candidates,
        needless: is_checked.then_some(needless),
        untouched: &repaired.untouched,
        unwritten: &repaired.unwritten,
        diff,
        time,
    }
}

fn step(explained: &Explained) -> RepairStep<'_> {
    let change = &explained.change;
    let named = |name: &'_ String| name != "none";
    RepairStep {
        place: &change.place,
        from: Some(&change.from).filter(|name| named(name)).map(String::as_str),
        to: Some(&change.to).filter(|name| named(name)).map(String::as_str),
        is_fence: matches!(change.subject, Subject::Insertion | Subject::Fence),
        without: explained.without.as_ref(),
    }
}

/// A picture for each change, of an execution that is there without it.
fn draw(folder: &Path, answer: &Mended, input: &str) -> Result<(), Exit> {
    let repaired = &answer.repaired;
    let changes =
        repaired.changes.iter().filter_map(|e| Some((Some(&e.change), e.without.as_ref()?)));
    let alone = repaired.violation.iter().map(|violation| (None, violation));
    if let Err(error) = std::fs::create_dir_all(folder) {
        let message = format!("cannot make '{}': {error}", shown(folder));
        return Err(failed(&Diagnostic::new(message)));
    }
    for (number, (change, violation)) in changes.chain(alone).enumerate() {
        let subtitle = match change {
            Some(change) => {
                format!("{input}, {}: without the change at {}", answer.model, change.place)
            }
            None => format!("{input}, {}", answer.model),
        };
        let caption = Caption { title: &violation.message, subtitle: &subtitle };
        let path = folder.join(format!("change-{}.svg", number + 1));
        let written = replace(&path, focused_svg(violation, caption).as_bytes());
        written.map_err(|error| failed(&unwritten(&path, &error)))?;
    }
    Ok(())
}

fn deliver_file(path: &Path, text: &str) -> Result<(), Exit> {
    write(path, text).map_err(|error| failed(&error))
}

fn failed(error: &Diagnostic) -> Exit {
    output::report(error);
    Exit::BadInput
}
