//! What a run has done: counters by name, so that the figures of several processes are added, and
//! tables of them for people.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::ast::Program;
use crate::features::{self, Feature};
use crate::query::{Answer, Query, Said};

/// Counters by name: one of the words below, and what it is about.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Figures(BTreeMap<String, u64>);

const ANSWER: &str = "answer ";
const REASON: &str = "reason ";
const FEATURE: &str = "feature ";
const DISAGREEMENT: &str = "disagreement ";

impl Figures {
    pub fn count(&mut self, name: &str, more: u64) {
        *self.0.entry(name.to_string()).or_default() += more;
    }

    pub fn get(&self, name: &str) -> u64 {
        self.0.get(name).copied().unwrap_or(0)
    }

    pub fn add_program(&mut self, program: &Program) {
        self.count("programs", 1);
        for feature in features::of(program) {
            self.count(&format!("{FEATURE}{}", feature.name()), 1);
        }
    }

    pub fn add_answer(&mut self, query: &Query, answer: &Answer) {
        self.count("questions", 1);
        let Query { engine, model, asked, .. } = query;
        let (engine, word) = (engine.name, answer.said.word());
        self.count(&format!("{ANSWER}{engine} {model} {asked} {word}"), 1);
        if let Said::Unknown(why) = &answer.said {
            self.count(&format!("{REASON}{engine}: {}", general(why)), 1);
        }
    }

    pub fn add_disagreement(&mut self, kind: &str) {
        self.count(&format!("{DISAGREEMENT}{kind}"), 1);
    }

    pub fn merge(&mut self, other: &Figures) {
        other.0.iter().for_each(|(name, count)| self.count(name, *count));
    }

    fn group(&self, word: &'static str) -> impl Iterator<Item = (&str, u64)> {
        self.0.iter().filter_map(move |(name, count)| Some((name.strip_prefix(word)?, *count)))
    }

    pub fn disagreements(&self) -> impl Iterator<Item = (&str, u64)> {
        self.group(DISAGREEMENT)
    }

    pub fn is_clean(&self) -> bool {
        self.disagreements().next().is_none()
    }

    /// How many programs have each feature, those that none has included.
    pub fn features(&self) -> impl Iterator<Item = (Feature, u64)> {
        let count = |feature: Feature| self.get(&format!("{FEATURE}{}", feature.name()));
        Feature::ALL.iter().map(move |feature| (*feature, count(*feature)))
    }

    /// One counter a line, for another process.
    pub fn lines(&self) -> String {
        self.0.iter().map(|(name, count)| format!("{count} {name}\n")).collect()
    }

    /// What another process has written.
    pub fn parse(text: &str) -> Figures {
        let mut figures = Figures::default();
        for line in text.lines() {
            if let Some((count, name)) = line.split_once(' ')
                && let Ok(count) = count.parse()
            {
                figures.count(name, count);
            }
        }
        figures
    }

    /// The report.
    pub fn text(&self, details: bool) -> String {
        let mut text = String::new();
        if details {
            self.details(&mut text);
        }
        let found: u64 = self.disagreements().map(|(_, count)| count).sum();
        let _ = writeln!(
            text,
            "{} programs ({} as litmus tests too, {} as machine code), {} questions, {} \
             comparisons, {found} disagreements of {} kinds",
            self.get("programs"),
            self.get("litmus tests"),
            self.get("machine code"),
            self.get("questions"),
            self.get("comparisons"),
            self.disagreements().count(),
        );
        for (kind, count) in self.disagreements() {
            let _ = writeln!(text, "{count:>7} {kind}");
        }
        text
    }

    fn details(&self, text: &mut String) {
        const WORDS: [&str; 6] = ["safe", "bounded", "unsafe", "unknown", "refused", "broken"];
        let mut rows: BTreeMap<&str, BTreeMap<&str, u64>> = BTreeMap::new();
        for (name, count) in self.group(ANSWER) {
            if let Some((row, word)) = name.rsplit_once(' ') {
                rows.entry(row).or_default().insert(word, count);
            }
        }
        let _ = writeln!(text, "{:<30} {}", "engine model property", WORDS.join(" "));
        for (row, answers) in rows {
            let counts = WORDS.map(|word| {
                let count = answers.get(word).copied().unwrap_or(0);
                format!("{count:>width$}", width = word.len())
            });
            let _ = writeln!(text, "{row:<30} {}", counts.join(" "));
        }
        let _ = writeln!(text, "\nwhy there was no answer");
        let mut reasons: Vec<_> = self.group(REASON).collect();
        reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        for (reason, count) in reasons {
            let _ = writeln!(text, "{count:>7} {reason}");
        }
        let _ = writeln!(text, "\nprograms that use");
        for (feature, count) in self.features() {
            let _ = writeln!(text, "{count:>7} {}", feature.name());
        }
        text.push('\n');
    }
}

/// A reason in one line, without what is of one program only.
fn general(reason: &str) -> String {
    let mut text = String::new();
    let mut is_quoted = false;
    for c in reason.chars() {
        match c {
            '\'' => {
                is_quoted = !is_quoted;
                text.push(c);
            }
            _ if is_quoted => {}
            '\n' => text.push(' '),
            _ if c.is_ascii_digit() => {
                if !text.ends_with('N') {
                    text.push('N');
                }
            }
            _ => text.push(c),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_go_from_process_to_process() {
        let mut figures = Figures::default();
        figures.count("programs", 2);
        figures.add_disagreement("a-b");
        let mut sum = Figures::parse(&figures.lines());
        assert_eq!(sum, figures);
        sum.merge(&figures);
        assert_eq!(sum.get("programs"), 4);
        assert!(sum.text(true).contains("2 disagreements of 1 kinds"), "{}", sum.text(true));
    }

    #[test]
    fn reasons_are_general() {
        assert_eq!(general("a call of 'f' at 12:3\nx"), "a call of '' at N:N x");
    }
}
