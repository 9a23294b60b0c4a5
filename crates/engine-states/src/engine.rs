//! The search through states as one engine among others.

use std::any::TypeId;
use std::cell::RefCell;

use parallax_control::Control;
use parallax_machine::system::{Action, Setup};
use parallax_program::{Diagnostic, Diagnostics, Help, Program, Property, Question, Setting};
use parallax_query::{Answer, Engine, Extension, Query, Reductions};

use crate::options::{Options, Reduction};
use crate::{machine, search};

/// All states of an operational machine, each once.
pub struct States;

/// An extension of queries: the schedule of the first violation is wanted.
#[derive(Clone, Copy)]
pub struct Schedules {
    /// Writes down the way to a state of a program. None where no schedule leads there.
    pub write: fn(&Scheduled<'_, '_>) -> Option<String>,
}

impl Extension for Schedules {
    fn settings(&self) -> Vec<Setting> {
        vec![Setting::Witness]
    }
}

/// A way to a state.
pub struct Scheduled<'a, 'p> {
    pub program: &'a Program,
    pub question: Option<&'a Question>,
    /// How the program is named.
    pub input: &'a str,
    pub setup: &'a Setup<'p>,
    pub path: &'a [Action],
}

impl Engine for States {
    fn name(&self) -> &'static str {
        "states"
    }

    fn summary(&self) -> &'static str {
        "the machines of sc, tso and pso"
    }

    fn admits(&self, query: &Query<'_>) -> Result<(), Diagnostic> {
        let model = &query.model;
        machine(model)?;
        if query.subject.has_reservations() {
            let message = "this engine knows no load-linked and store-conditional";
            return Err(Diagnostic::new(message)
                .with_help(Help::LeaveOut(vec![Setting::Engine, Setting::Witness])));
        }
        if query.unroll.is_some() {
            let message = "the engine 'states' does not count how often loops repeat";
            return Err(Diagnostic::new(message).with_help(Help::LeaveOut(vec![Setting::Unroll])));
        }
        if query.subject.program.is_none() && query.subject.finals.is_none() {
            return Err(Diagnostic::new("there is no program to run"));
        }
        Ok(())
    }

    fn extensions(&self) -> Vec<TypeId> {
        vec![TypeId::of::<Reductions>(), TypeId::of::<Schedules>()]
    }

    fn looks_for(&self, property: Property) -> bool {
        Options::PROPERTIES.contains(&property)
    }

    fn run(&self, query: &Query<'_>, control: &Control<'_>) -> Result<Answer, Diagnostics> {
        self.admits(query).map_err(|error| vec![error])?;
        let subject = query.subject;
        let (program, asked) = match (&subject.program, &subject.finals) {
            (Some(program), _) => (program, None),
            (None, Some(asked)) => (&asked.program, Some(asked)),
            (None, None) => return Err(vec![Diagnostic::new("there is no program to run")]),
        };
        let question = asked.map(|asked| &asked.bad);
        let schedules = query.extensions.get::<Schedules>();
        let written: RefCell<Option<String>> = RefCell::new(None);
        let way = |setup: &Setup<'_>, path: &[Action]| {
            if written.borrow().is_some() {
                return;
            }
            if let Some(schedules) = schedules {
                let input = subject.name.as_str();
                let way = Scheduled { program, question, input, setup, path };
                written.replace((schedules.write)(&way));
            }
        };
        let reductions = query.extensions.get().copied().unwrap_or(Reductions::ALL);
        let options = Options {
            properties: match question {
                Some(_) => vec![Property::Assert],
                None => query.properties.clone(),
            },
            reduction: match reductions == Reductions::NONE {
                true => Reduction::None,
                false => Reduction::Order,
            },
            all: query.goes_on(),
            nondet: query.nondet,
            control: control.clone(),
            way: schedules.is_some().then_some(&way),
            question: question.cloned(),
        };
        let mut verdict = search(program, &query.model, &options)?;
        if let Some(asked) = asked {
            for violation in &mut verdict.violations {
                (violation.message, _) = (asked.wording.0)(&violation.execution);
            }
        }
        let answer = Answer { all: query.goes_on(), ..Answer::new(verdict, self.name()) };
        Ok(Answer { witness: written.into_inner(), ..answer })
    }
}
