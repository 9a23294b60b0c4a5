//! Abstraction refinement as one engine among others.

use std::any::TypeId;

use parallax_control::Control;
use parallax_memory::INTERLEAVING;
use parallax_program::{Diagnostic, Diagnostics, Help, Property, Setting};
use parallax_query::{Answer, Engine, Query};

use crate::declarative;
use crate::options::{Options, Reduction, Tuning};
use crate::prove;

/// Proofs without a bound.
pub struct Abstract;

impl Engine for Abstract {
    fn name(&self) -> &'static str {
        "abstract"
    }

    fn summary(&self) -> &'static str {
        "proofs by abstraction refinement"
    }

    fn admits(&self, query: &Query<'_>) -> Result<(), Diagnostic> {
        let model = &query.model;
        let tuning = query.extensions.get::<Tuning>().copied().unwrap_or_default();
        if !tuning.interleaves(model) {
            declarative::admit(model)?;
            if tuning.proves && !model.is_builtin() {
                let message = "there are no proofs to write under models of your own";
                let help = Help::with(Setting::Model, INTERLEAVING, "has a machine, and proofs");
                return Err(Diagnostic::new(message).with_help(help));
            }
        }
        let Some(program) = &query.subject.program else {
            return Err(Diagnostic::new("this engine has no questions about final states"));
        };
        if query.subject.has_reservations() {
            let message = "this engine knows no load-linked and store-conditional";
            return Err(Diagnostic::new(message).with_help(Help::TryEngines(Vec::new())));
        }
        if !program.registers.is_empty() {
            return Err(Diagnostic::new("this engine knows no registers of machine code"));
        }
        if query.subject.is_judged_at_end {
            return Err(Diagnostic::new("this engine has no questions about ends of executions"));
        }
        if query.unroll.is_some() {
            return Err(Diagnostic::new("this engine has no bound on loops"));
        }
        if query.goes_on() {
            return Err(Diagnostic::new("this engine looks for the first violation alone"));
        }
        if tuning.proves && tuning.reduction == Reduction::Naive {
            let error = Diagnostic::new("there are no proofs of steps of single instructions");
            let settings = vec![Setting::Orders, Setting::Proof];
            return Err(error.with_help(Help::Contradiction(settings)));
        }
        Ok(())
    }

    fn extensions(&self) -> Vec<TypeId> {
        vec![TypeId::of::<Tuning>()]
    }

    fn looks_for(&self, property: Property) -> bool {
        matches!(property, Property::Assert | Property::Overflow)
    }

    fn takes_integers(&self) -> bool {
        true
    }

    fn counts_executions(&self) -> bool {
        false
    }

    fn run(&self, query: &Query<'_>, control: &Control<'_>) -> Result<Answer, Diagnostics> {
        self.admits(query).map_err(|error| vec![error])?;
        let program = query.subject.program.as_ref();
        let program = program.ok_or_else(|| vec![Diagnostic::new("there is no program to run")])?;
        let options = Options {
            properties: query.properties.clone(),
            nondet: query.nondet,
            control: control.clone(),
            tuning: query.extensions.get::<Tuning>().copied().unwrap_or_default(),
        };
        let (verdict, proof) = prove(program, &query.model, &options);
        Ok(Answer { proof, ..Answer::new(verdict, self.name()) })
    }
}
