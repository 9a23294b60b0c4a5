//! Symbolic execution as one engine among others.

use std::any::TypeId;

use parallax_control::Control;
use parallax_machine::system::MemoryKind;
use parallax_memory::Facts;
use parallax_program::{Diagnostic, Diagnostics, Help, Property, Setting};
use parallax_query::{Answer, Engine, Query, Tracked};

use crate::options::Options;
use crate::search;

/// All inputs, and all orders of steps that matter.
pub struct Symbolic;

impl Engine for Symbolic {
    fn name(&self) -> &'static str {
        "symbolic"
    }

    fn summary(&self) -> &'static str {
        "all inputs, path by path, on these machines"
    }

    fn admits(&self, query: &Query<'_>) -> Result<(), Diagnostic> {
        let model = &query.model;
        if model.facts().machine.is_none() {
            let message =
                format!("the engine 'symbolic' does not know the model '{}'", model.name());
            let names = Facts::names(|facts| facts.machine.is_some());
            return Err(Diagnostic::new(message).with_help(format!("it knows {names}")));
        }
        if model.facts().machine != Some(MemoryKind::Sc) && query.unroll.is_some() {
            let message = format!(
                "the engine 'symbolic' does not count how often loops repeat under '{}'",
                model.name()
            );
            return Err(Diagnostic::new(message).with_help(Help::LeaveOut(vec![Setting::Unroll])));
        }
        if query.subject.has_reservations() {
            let message = "this engine knows no load-linked and store-conditional";
            return Err(Diagnostic::new(message).with_help(Help::TryEngines(Vec::new())));
        }
        if query.subject.program.is_none() {
            return Err(Diagnostic::new("this engine has no questions about final states"));
        }
        Ok(())
    }

    fn looks_for(&self, property: Property) -> bool {
        Property::ALL.contains(&property)
    }

    fn extensions(&self) -> Vec<TypeId> {
        vec![TypeId::of::<Tracked>()]
    }

    fn run(&self, query: &Query<'_>, control: &Control<'_>) -> Result<Answer, Diagnostics> {
        self.admits(query).map_err(|error| vec![error])?;
        let program = query.subject.program.as_ref();
        let program = program.ok_or_else(|| vec![Diagnostic::new("there is no program to run")])?;
        let options = Options {
            properties: query.properties.clone(),
            unroll: query.unroll,
            all: query.goes_on(),
            spares_tracked: query.extensions.get::<Tracked>().is_some(),
            nondet: query.nondet,
            shuffles: false,
            steps: Options::STEPS,
            control: control.clone(),
        };
        let verdict = search(program, &query.model, &options);
        Ok(Answer { all: query.goes_on(), ..Answer::new(verdict, self.name()) })
    }
}
