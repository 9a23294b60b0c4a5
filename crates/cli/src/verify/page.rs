//! What the page of `--report` says beside the verdict: how it came about.

use parallax_program::SourceFile;
use parallax_query::{Reduction, Reductions};
use parallax_report::{Page, VerifyRun, verdict_html};
use parallax_verdict::Verdict;
use parallax_verify::Response;
use parallax_verify::text::{read, shown};

use super::VerifyArguments;
use super::witness::Asked;

pub fn page(
    options: &VerifyArguments,
    asked: &Asked,
    response: &Response,
    run: &VerifyRun<'_>,
    verdict: &Verdict,
) -> String {
    let given: Vec<String> = asked.files.iter().map(|path| shown(path)).collect();
    let assembled = assembled(asked);
    let assembled = assembled.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    let sources = response.source.iter().flat_map(SourceFile::files);
    let sources: Vec<(&str, &str)> = assembled.chain(sources).collect();
    let model: Vec<(&str, &str)> =
        response.model.sources().iter().flat_map(SourceFile::files).collect();
    let page = Page {
        command: &command_line(),
        sources: &sources,
        given: &given,
        model: &model,
        settings: &settings(options),
    };
    verdict_html(run, verdict, &page)
}

/// Files for the assembler, of which the program has a listing only.
fn assembled(asked: &Asked) -> Vec<(String, String)> {
    let files = asked.files.iter().filter(|path| {
        path.extension().is_some_and(|extension| extension == "s" || extension == "S")
    });
    files.filter_map(|path| Some((shown(path), read(path).ok()?))).collect()
}

/// What was said to the shell.
pub fn command_line() -> String {
    command(std::env::args_os().map(|word| word.to_string_lossy().into_owned()))
}

/// The command line, as a shell takes it.
fn command(arguments: impl Iterator<Item = String>) -> String {
    let name = ["parallax".to_string()];
    let words = name.into_iter().chain(arguments.skip(1).map(|argument| quoted(&argument)));
    words.collect::<Vec<_>>().join(" ")
}

fn quoted(argument: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./=,:+%@^".contains(c);
    match !argument.is_empty() && argument.chars().all(is_plain) {
        true => argument.to_string(),
        false => format!("'{}'", argument.replace('\'', "'\\''")),
    }
}

/// What bounds the search, and what it leaves out.
fn settings(options: &VerifyArguments) -> Vec<(&'static str, String)> {
    let unroll = options.unroll.0;
    let nondet = options.nondet.map(|(low, high)| format!("from {low} to {high} only"));
    let time = options.timeout.map(|time| format!("{} s", time.as_secs_f64()));
    vec![
        ("rounds of loops", unroll.map_or("no bound".to_string(), |n| format!("{n} at most"))),
        ("values of inputs", nondet.unwrap_or_else(|| "any".to_string())),
        ("reductions", reductions(options.reductions)),
        ("after a violation", if options.all { "the search goes on" } else { "it ends" }.into()),
        ("limit of time", time.unwrap_or_else(|| "none".to_string())),
        ("limit of memory", format!("{} MiB", options.memory_limit)),
        ("threads that search", options.jobs.to_string()),
    ]
}

/// As the option takes them.
pub fn reductions(set: Reductions) -> String {
    let kept: Vec<&str> = Reduction::ALL
        .into_iter()
        .filter(|reduction| set.contains(*reduction))
        .map(Reduction::name)
        .collect();
    match kept.len() {
        0 => "none".to_string(),
        all if all == Reduction::ALL.len() => "all".to_string(),
        _ => kept.join(","),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_can_be_given_to_a_shell_again() {
        let words = ["x", "verify", "a b.c", "it's", "--unroll=3", ""].map(str::to_string);
        let command = command(words.into_iter());
        assert_eq!(command, "parallax verify 'a b.c' 'it'\\''s' --unroll=3 ''");
    }
}
