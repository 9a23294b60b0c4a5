//! A run: programs, questions, comparisons, and what is kept of those that disagree.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::ask::Asker;
use crate::ast::Program;
use crate::check::{Check, Disagreement};
use crate::features::Feature;
use crate::figures::Figures;
use crate::generate::generate;
use crate::plan::{Focus, Plan, plan};
use crate::query::{Answer, Query, Said};
use crate::random::Random;
use crate::shrink::shrink;
use crate::subject::Subject;
use crate::{print_c, print_litmus};

pub struct Options {
    pub seed: u64,
    /// The number of the first program.
    pub first: u64,
    pub programs: Option<u64>,
    pub time: Option<Duration>,
    pub features: Vec<Feature>,
    pub focus: Focus,
    /// How long an engine may think about a question.
    pub limit: Duration,
    /// How long a disagreement is made smaller.
    pub shrinking: Duration,
    /// Where disagreements go.
    pub keep: Option<PathBuf>,
    /// So many of each kind are kept.
    pub each: u64,
    /// Whether the first disagreement is the end.
    pub stops: bool,
    pub quiet: bool,
    /// A file that always has the number of the program that is looked at.
    pub current: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            seed: 1,
            first: 0,
            programs: None,
            time: None,
            features: Vec::new(),
            focus: Focus::default(),
            limit: Duration::from_secs(2),
            shrinking: Duration::from_secs(60),
            keep: None,
            each: 2,
            stops: false,
            quiet: true,
            current: None,
        }
    }
}

/// Runs until programs or time are used up, or a search does not end. The error is a folder that cannot be written to.
pub fn hunt(options: &Options) -> std::io::Result<Figures> {
    let folder = Folder::new()?;
    let mut run = Run {
        options,
        folder: &folder.0,
        asker: Asker::new(options.limit),
        figures: Figures::default(),
        kept: BTreeMap::new(),
        started: Instant::now(),
    };
    if let Some(keep) = &options.keep {
        std::fs::create_dir_all(keep)?;
    }
    let mut number = options.first;
    while run.goes_on() {
        if let Some(note) = &options.current {
            std::fs::write(note, number.to_string())?;
        }
        run.program(number)?;
        number += 1;
    }
    Ok(run.figures)
}

/// A folder for files that compilers read and write.
struct Folder(PathBuf);

impl Folder {
    fn new() -> std::io::Result<Folder> {
        let path = std::env::temp_dir().join(format!("parallax-hunt-{}", std::process::id()));
        std::fs::create_dir_all(&path)?;
        Ok(Folder(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

struct Run<'a> {
    options: &'a Options,
    folder: &'a Path,
    asker: Asker,
    figures: Figures,
    kept: BTreeMap<String, u64>,
    started: Instant,
}

impl Run<'_> {
    fn goes_on(&self) -> bool {
        let Options { programs, time, stops, .. } = self.options;
        programs.is_none_or(|programs| self.figures.get("programs") < programs)
            && time.is_none_or(|time| self.started.elapsed() < time)
            && (!*stops || self.figures.is_clean())
            && !self.asker.is_haunted
    }

    fn program(&mut self, number: u64) -> std::io::Result<()> {
        let mut random = Random::of(self.options.seed, number);
        let program = generate(&mut random, &self.options.features);
        self.figures.add_program(&program);
        let is_litmus = print_litmus::print(&program).is_some();
        self.figures.count("litmus tests", u64::from(is_litmus));
        let plan = plan(&mut random, is_litmus, &self.options.focus);
        self.figures.count("machine code", u64::from(plan.has_machine_code()));
        let mut subject = Subject::new(program, self.folder);
        for found in self.compare(&plan, &mut subject) {
            self.found(number, &subject.program, &found)?;
        }
        for (query, answer) in &subject.answers {
            self.figures.add_answer(query, answer);
        }
        Ok(())
    }

    /// Everything that does not go together.
    fn compare(&mut self, plan: &Plan, subject: &mut Subject) -> Vec<Disagreement> {
        let mut found = Vec::new();
        let mut checks = Vec::new();
        for group in &plan.groups {
            let answers: Vec<(Query, Answer)> =
                group.iter().map(|query| (*query, self.asker.ask(subject, *query))).collect();
            let definite =
                answers.iter().filter(|(_, answer)| answer.is_safe() || answer.is_unsafe());
            self.figures.count("comparisons", (definite.count() as u64).saturating_sub(1));
            checks.extend(suspicious(&answers));
        }
        for check in checks.into_iter().chain(plan.checks.iter().copied()) {
            self.figures.count("comparisons", u64::from(!matches!(check, Check::Same(..))));
            found.extend(check.run(&mut self.asker, subject));
        }
        found.extend(broken(subject));
        found
    }

    fn found(
        &mut self,
        number: u64,
        program: &Program,
        found: &Disagreement,
    ) -> std::io::Result<()> {
        let kind = found.check.kind();
        self.figures.add_disagreement(&kind);
        let before = self.kept_before(&kind);
        let kept = self.kept.entry(kind.clone()).or_insert(before);
        if *kept >= self.options.each {
            return Ok(());
        }
        *kept += 1;
        let again = *kept;
        let (small, found) = self.smaller(program, found);
        let name = format!("{kind}-{again}");
        let note = note(self.options.seed, number, &name, &found);
        if !self.options.quiet {
            eprintln!("{note}{}", print_c::print(&small));
        }
        let Some(keep) = &self.options.keep else { return Ok(()) };
        let text = format!("/*\n{note}*/\n{}", print_c::print(&small));
        std::fs::write(keep.join(format!("{name}.c")), text)?;
        match print_litmus::print(&small) {
            Some(text) => std::fs::write(keep.join(format!("{name}.litmus")), text),
            None => Ok(()),
        }
    }

    /// How many of a kind are kept already, by this run or another.
    fn kept_before(&self, kind: &str) -> u64 {
        let Some(keep) = &self.options.keep else { return 0 };
        let is_there = |number: &u64| keep.join(format!("{kind}-{number}.c")).exists();
        (1..).take_while(is_there).count() as u64
    }

    /// A small program that shows the same, with what it shows.
    fn smaller(&mut self, program: &Program, found: &Disagreement) -> (Program, Disagreement) {
        let (folder, asker) = (self.folder, &mut self.asker);
        let mut best = found.clone();
        let small = shrink(program, self.options.shrinking, |candidate| {
            let mut subject = Subject::new(candidate.clone(), folder);
            match found.check.run(asker, &mut subject) {
                Some(still) => {
                    best = still;
                    true
                }
                None => false,
            }
        });
        (small, best)
    }
}

/// The questions of a group whose answers may not go together: a safe one and an unsafe one.
fn suspicious(answers: &[(Query, Answer)]) -> Vec<Check> {
    let safe = answers.iter().find(|(_, answer)| answer.said == Said::Safe);
    let safe = safe.or_else(|| answers.iter().find(|(_, answer)| answer.is_safe()));
    let wrong = answers.iter().find(|(_, answer)| answer.is_unsafe());
    match (safe, wrong) {
        (Some((safe, _)), Some((wrong, _))) => vec![Check::Same(*safe, *wrong)],
        _ => Vec::new(),
    }
}

/// An answer that nobody should give.
fn broken(subject: &Subject) -> Option<Disagreement> {
    let mut answers = subject.answers.iter();
    answers.find_map(|(query, answer)| match answer.said {
        Said::Broken(_) => {
            let claimed = vec![(*query, answer.said.to_string())];
            Some(Disagreement { check: Check::Sound(*query), claimed })
        }
        _ => None,
    })
}

fn note(seed: u64, number: u64, name: &str, found: &Disagreement) -> String {
    let mut note = format!("{name}: seed {seed}, program {number}\n");
    for (query, said) in &found.claimed {
        let _ = writeln!(note, "  {}\n    {said}", query.command(name));
    }
    note
}
