//! Search through the states of operational machines: every state of a program under SC, TSO or
//! PSO that can be distinguished from others, each once, and what is wrong with them.

mod claim;
mod engine;
mod few;
mod known;
mod observer;
mod options;
mod question;
mod search;

use std::time::Instant;

use parallax_machine::system::{MemoryKind, Setup, SystemOptions};
use parallax_memory::{Facts, Model};
use parallax_program::{Diagnostic, Diagnostics, Program, Property};
use parallax_verdict::{
    Counts, Endings, Reason, Scope, Searched, Suspicion, Verdict, Violation, confirm,
    confirm_final, inputs_tried,
};

use crate::claim::claim;
pub use crate::engine::{Scheduled, Schedules, States};
use crate::few::Few;
use crate::observer::{Found, Observer};
pub use crate::observer::{Over, Path, Sight};
pub use crate::options::{Options, Reduction};
pub use crate::search::SearchCounts;
use crate::search::{Search, Stopped};

/// The machine that runs programs as a model has it, if there is one.
pub fn machine(model: &Model) -> Result<MemoryKind, Diagnostic> {
    model.facts().any_machine().ok_or_else(|| {
        let message = format!("there is no machine for the model '{}'", model.name());
        let names = Facts::names(|facts| facts.any_machine().is_some());
        Diagnostic::new(message).with_help(format!("models with a machine are {names}"))
    })
}

/// Searches the states of a program. The error is a model that has no machine.
pub fn search(
    program: &Program,
    model: &Model,
    options: &Options<'_>,
) -> Result<Verdict, Diagnostics> {
    let memory = machine(model).map_err(|error| vec![error])?;
    let start = Instant::now();
    // What is issued in another order may be read in another way: no order is left out.
    let publishes = memory == MemoryKind::Mca;
    let reduction = if publishes { Reduction::None } else { options.reduction };
    let Some(mut setup) = setup(program, memory, options) else {
        return Ok(too_large(options));
    };
    let is_plain = options.question.is_none() && reduction == Reduction::Order;
    let mut stages = Few::STAGES.into_iter().filter(|_| is_plain && !options.all);
    let mut stage = stages.next();
    loop {
        let mut observer = Observer::new(options, start);
        let mut search = Search::new(&setup, reduction, &mut observer);
        if let Some(most) = stage {
            search = search.with_few(most);
        }
        let stopped = search.run().err();
        let (counts, has_left_out) = (search.counts, search.has_left_out());
        let is_over = matches!(stopped, None | Some(Stopped::Long));
        if is_over && has_left_out {
            observer.account();
            stage = stages.next();
            continue;
        }
        match stopped {
            Some(Stopped::Escaped { context }) => {
                setup.share(context);
                continue;
            }
            Some(Stopped::Forgotten) => {
                setup.keep_stacks();
                continue;
            }
            Some(Stopped::TooMany) => {
                let _ = observer.give_up("too many states", "a smaller program may help");
            }
            Some(Stopped::Enough | Stopped::Long) | None => {}
        }
        observer.account();
        let answer = Answer { program, model, setup: &setup, options };
        return Ok(answer.verdict(observer, counts));
    }
}

/// Shows all states of a program to somebody, each once, and counts them. None where the search
/// was ended early.
pub fn visit<'p, S>(
    program: &'p Program,
    memory: MemoryKind,
    options: &Options<'_>,
    mut sight: impl FnMut() -> S,
) -> Result<Option<(S, SearchCounts)>, Diagnostics>
where
    S: for<'s> Sight<'s, 'p>,
{
    let mut setup = setup(program, memory, options)
        .ok_or_else(|| vec![Diagnostic::new("the globals of the program are too large")])?;
    loop {
        let mut seen = sight();
        let mut search = Search::new(&setup, options.reduction, &mut seen);
        let stopped = search.run().err();
        let counts = search.counts;
        match stopped {
            Some(Stopped::Escaped { context }) => setup.share(context),
            Some(Stopped::Forgotten) => setup.keep_stacks(),
            Some(_) => return Ok(None),
            None => return Ok(Some((seen, counts))),
        }
    }
}

/// None if the globals of the program are too large.
fn setup<'p>(program: &'p Program, memory: MemoryKind, options: &Options<'_>) -> Option<Setup<'p>> {
    let wanted = SystemOptions {
        memory,
        nondet: options.nondet,
        properties: options.properties.clone(),
        observed: options.question.as_ref().map(question::variables).unwrap_or_default(),
        ..SystemOptions::default()
    };
    Setup::new(program, wanted)
}

fn too_large(options: &Options<'_>) -> Verdict {
    let message = "the globals of the program are too large for this engine".to_string();
    let searched = Searched {
        scope: Scope::Complete,
        all: options.all,
        gaps: Reason { message, place: None, help: None }.into(),
        properties: options.properties.clone(),
        counts: Counts::default(),
        violations: Vec::new(),
        notes: Vec::new(),
    };
    searched.conclude()
}

struct Answer<'a, 'p> {
    program: &'p Program,
    model: &'a Model,
    setup: &'a Setup<'p>,
    options: &'a Options<'a>,
}

impl Answer<'_, '_> {
    fn verdict(&self, observer: Observer<'_>, counts: SearchCounts) -> Verdict {
        let counts = Counts {
            executions: observer.executions,
            blocked: observer.blocked,
            redundant: 0,
            states: counts.states,
            events: counts.steps,
        };
        let mut gaps = observer.gaps;
        let memory = self.setup.options.memory;
        let sees = |property: &&Property| Options::looked_for(memory).contains(property);
        let properties: Vec<Property> =
            self.options.properties.iter().filter(sees).copied().collect();
        let ended =
            Endings { executions: counts.executions, blocked: counts.blocked, ..observer.ended };
        let mut violations = Vec::new();
        for found in observer.found {
            match self.violation(found) {
                Ok(violation) => violations.push(violation),
                Err(refused) => gaps = refused.into(),
            }
        }
        let (scope, all, mut notes) = (Scope::Complete, self.options.all, self.notes());
        if violations.is_empty() {
            gaps.unchecked(&self.options.properties, &properties);
            ended.weigh(&mut gaps, &mut notes);
        }
        let searched = Searched { scope, all, gaps, properties, counts, violations, notes };
        searched.conclude().restricted(inputs_tried(self.program, self.options.nondet))
    }

    /// What limits the verdict besides its scope.
    fn notes(&self) -> Vec<String> {
        let races = self.options.properties.contains(&Property::Race);
        let note = "races were not looked for by this engine".to_string();
        races.then_some(note).into_iter().collect()
    }

    /// Nothing is reported that the replayer does not confirm.
    fn violation(&self, found: Found) -> Result<Violation, Reason> {
        let Found { property, message, failed, path, object } = found;
        let (claim, involved) = claim(self.setup, &path, failed, object);
        let failed = failed.map(|thread| thread as usize);
        let control = &self.options.control;
        let suspicion = Suspicion { property, message, failed, claim, involved };
        let violation = match &self.options.question {
            Some(question) if property == Property::Assert && suspicion.failed.is_none() => {
                confirm_final(self.program, self.model, suspicion, question, control)?
            }
            _ => confirm(self.program, self.model, suspicion, control)?,
        };
        if let Some(way) = self.options.way {
            way(self.setup, &path);
        }
        Ok(violation)
    }
}
