//! The source beside the lanes: each line with the steps that are on it. Lines far from any step are
//! folded, and of files that nobody has named as an input only what is around steps is there.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write};

use crate::picture::escape;

use super::Page;
use super::chart::{Card, Chart};

/// Lines around one with a step that are shown.
const AROUND: usize = 3;
/// Folds of fewer lines are not worth it.
const LEAST_FOLD: usize = 4;
/// No line is longer.
const LONGEST: usize = 400;
/// Files of more lines are shown around steps only.
const MOST_LINES: usize = 5_000;

/// The key of a line, which cards and lines share.
pub fn key(file: usize, line: u32) -> String {
    format!("{file}:{line}")
}

pub struct Listing<'a> {
    files: Vec<File<'a>>,
}

struct File<'a> {
    name: &'a str,
    lines: Vec<&'a str>,
    /// For each line, from 1, its cards: numbers in the chart.
    cards: BTreeMap<u32, Vec<usize>>,
    is_given: bool,
}

impl<'a> Listing<'a> {
    /// The files that cards are in, in the order of the sources.
    pub fn new(page: &Page<'a>, chart: &Chart) -> Listing<'a> {
        let mut files: Vec<File<'a>> = Vec::new();
        for (name, text) in page.sources {
            let is_given = page.given.iter().any(|given| given == name);
            let mut cards: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
            for (number, card) in chart.cards.iter().enumerate() {
                let place = card.location.as_ref();
                let place = place.filter(|place| is_file(name, is_given, &place.file));
                if let Some(place) = place {
                    cards.entry(place.line).or_default().push(number);
                }
            }
            let is_known = files.iter().any(|file| file.name == *name);
            if cards.is_empty() || is_known || text.trim().is_empty() {
                continue;
            }
            files.push(File { name, lines: text.lines().collect(), cards, is_given });
        }
        Listing { files }
    }

    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The key of the line that a card is on, if it is shown.
    pub fn key_of(&self, card: &Card) -> Option<String> {
        let place = card.location.as_ref()?;
        let mut files = self.files.iter();
        let file = files.position(|file| is_file(file.name, file.is_given, &place.file))?;
        let is_there = (place.line as usize) <= self.files[file].lines.len() && place.line > 0;
        is_there.then(|| key(file, place.line))
    }

    pub fn write(&self, out: &mut String, chart: &Chart) -> fmt::Result {
        for (number, file) in self.files.iter().enumerate() {
            writeln!(out, "<div class=\"file\">\n<h3>{}</h3>", escape(file.name))?;
            file.write(out, number, chart)?;
            writeln!(out, "</div>")?;
        }
        Ok(())
    }
}

/// Whether a place is in that file. Assemblers tell of their inputs by the last part of the path.
fn is_file(name: &str, is_given: bool, place: &str) -> bool {
    let is_end = || name.strip_suffix(place).is_some_and(|folder| folder.ends_with('/'));
    name == place || is_given && is_end()
}

impl File<'_> {
    fn write(&self, out: &mut String, number: usize, chart: &Chart) -> fmt::Result {
        let shown = self.shown();
        let mut line = 1;
        while line <= self.lines.len() {
            if shown.contains(&line) {
                self.line(out, number, line, chart)?;
                line += 1;
                continue;
            }
            let end = shown.range(line..).next().copied().unwrap_or(self.lines.len() + 1);
            self.fold(out, number, line, end, chart)?;
            line = end;
        }
        Ok(())
    }

    fn fold(
        &self,
        out: &mut String,
        number: usize,
        first: usize,
        end: usize,
        chart: &Chart,
    ) -> fmt::Result {
        let count = end - first;
        let lines = if count == 1 { "line" } else { "lines" };
        if !self.is_given || self.lines.len() > MOST_LINES {
            return writeln!(out, "<p class=\"fold\">⋯ {count} {lines}</p>");
        }
        writeln!(out, "<details class=\"fold\"><summary>⋯ {count} {lines}</summary>")?;
        (first..end).try_for_each(|line| self.line(out, number, line, chart))?;
        writeln!(out, "</details>")
    }

    /// The lines that are not folded.
    fn shown(&self) -> BTreeSet<usize> {
        let mut shown = BTreeSet::new();
        for line in self.cards.keys().map(|line| *line as usize) {
            let last = (line + AROUND).min(self.lines.len());
            shown.extend(line.saturating_sub(AROUND).max(1)..=last);
        }
        let mut last = 0;
        for line in shown.clone().into_iter().chain([self.lines.len() + 1]) {
            if self.is_given && line - last <= LEAST_FOLD {
                shown.extend(last + 1..line);
            }
            last = line;
        }
        shown
    }

    fn line(&self, out: &mut String, number: usize, line: usize, chart: &Chart) -> fmt::Result {
        let cards = u32::try_from(line).ok().and_then(|line| self.cards.get(&line));
        let cards = || cards.into_iter().flatten().filter_map(|card| chart.cards.get(*card));
        let class = match (cards().any(|card| card.involved), cards().next()) {
            (true, _) => " hot",
            (false, Some(_)) => " warm",
            (false, None) => "",
        };
        write!(
            out,
            "<div class=\"line{class}\" data-line=\"{number}:{line}\"><span class=\"chips\">"
        )?;
        for card in cards() {
            let lane = card.lane % super::COLOURS;
            match card.step {
                Some(step) => write!(
                    out,
                    "<button class=\"chip c{lane}\" data-step=\"{step}\" title=\"{}\">{step}</button>",
                    escape(&card.words)
                )?,
                None => {
                    let (end, words) = (chart.rows, escape(&card.words));
                    write!(
                        out,
                        "<span class=\"chip c{lane}\" data-end=\"{end}\" title=\"{words}\">■</span>"
                    )?;
                }
            }
        }
        let text: String = self.lines[line - 1].chars().take(LONGEST).collect();
        let text = text.replace('\t', "    ");
        writeln!(out, "</span><span class=\"no\">{line}</span><code>{}</code></div>", escape(&text))
    }
}
