//! What a run has done, for people.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

use crate::features::Coverage;
use crate::query::{Answer, Query, Said};

#[derive(Default)]
pub struct Figures {
    pub programs: u64,
    pub litmus_tests: u64,
    pub questions: u64,
    pub comparisons: u64,
    /// By kind: how often, and the file of the first that was kept.
    pub disagreements: BTreeMap<String, u64>,
    pub coverage: Coverage,
    pub time: Duration,
    /// Answers by engine, model and property.
    answers: BTreeMap<(&'static str, &'static str, &'static str), BTreeMap<&'static str, u64>>,
    /// Why there was no answer.
    reasons: BTreeMap<String, u64>,
}

impl Figures {
    pub fn add(&mut self, query: &Query, answer: &Answer) {
        self.questions += 1;
        let key = (query.engine.name(), query.model, query.property.name());
        let answers = self.answers.entry(key).or_default();
        *answers.entry(answer.said.word()).or_default() += 1;
        if let Said::Unknown(why) = &answer.said {
            let key = format!("{}: {}", query.engine.name(), general(why));
            *self.reasons.entry(key).or_default() += 1;
        }
    }

    pub fn is_clean(&self) -> bool {
        self.disagreements.is_empty()
    }

    /// The report. The table of answers and the features are only there if there is much to tell.
    pub fn text(&self, details: bool) -> String {
        let mut text = String::new();
        if details {
            self.details(&mut text);
        }
        let found: u64 = self.disagreements.values().sum();
        let _ = writeln!(
            text,
            "{} programs ({} as litmus tests too), {} questions, {} comparisons, {found} \
             disagreements of {} kinds, {} s",
            self.programs,
            self.litmus_tests,
            self.questions,
            self.comparisons,
            self.disagreements.len(),
            self.time.as_secs(),
        );
        for (kind, count) in &self.disagreements {
            let _ = writeln!(text, "  {count} {kind}");
        }
        text
    }

    fn details(&self, text: &mut String) {
        const WORDS: [&str; 6] = ["safe", "bounded", "unsafe", "unknown", "refused", "broken"];
        let _ = writeln!(text, "engine     model    property   {}", WORDS.join(" "));
        for ((engine, model, property), answers) in &self.answers {
            let counts = WORDS.map(|word| {
                let count = answers.get(word).copied().unwrap_or(0);
                format!("{count:>width$}", width = word.len())
            });
            let _ = writeln!(text, "{engine:<10} {model:<8} {property:<10} {}", counts.join(" "));
        }
        let _ = writeln!(text, "\nwhy there was no answer");
        let mut reasons: Vec<_> = self.reasons.iter().collect();
        reasons.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        for (reason, count) in reasons {
            let _ = writeln!(text, "{count:>7} {reason}");
        }
        let _ = writeln!(text, "\nprograms that use");
        for (feature, count) in self.coverage.counts() {
            let _ = writeln!(text, "{count:>7} {}", feature.name());
        }
        text.push('\n');
    }
}

/// A reason without what is of one program only.
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
