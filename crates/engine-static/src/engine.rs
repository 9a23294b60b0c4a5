//! The analysis as one engine among others.

use std::any::TypeId;

use parallax_control::Control;
use parallax_memory::Facts;
use parallax_program::{Diagnostic, Diagnostics, Help, Program, Property, Setting};
use parallax_query::{Answer, Engine, Extension, Query, Wanted};
use parallax_verdict::{Counts, Gaps, Reason, Scope, Searched, no_execution_passes, stopped};

use crate::{Conclusion, prove, prove_defined};

/// That the program does nothing undefined but race. Tasks of competitions are taken to be like that:
/// a task that is defined for one property is not there for another one.
pub struct Defined;

impl Extension for Defined {
    fn settings(&self) -> Vec<Setting> {
        Vec::new()
    }
}

/// What is shown of all executions without running one.
pub struct Static;

impl Engine for Static {
    fn name(&self) -> &'static str {
        "static"
    }

    fn admits(&self, query: &Query<'_>) -> Result<(), Diagnostic> {
        let refused = |message: &str, help: &str| Err(Diagnostic::new(message).with_help(help));
        let subject = query.subject;
        if subject.program.is_none() || subject.is_machine_code {
            let message = "the engine 'static' is not for inputs of this kind";
            return refused(message, "it looks at C (.c) and .program");
        }
        // Models that exploration has rules for have no cycle of program order and reads-from, so that
        // no value is its own cause.
        if query.model.facts().native.is_none() {
            let message =
                format!("the engine 'static' says nothing about '{}'", query.model.name());
            let models = Facts::names(|facts| facts.native.is_some());
            return refused(&message, &format!("models for it are {models}"));
        }
        if matches!(query.wanted, Wanted::Every(_)) {
            return refused("the engine 'static' finds no executions", "ask another engine");
        }
        Ok(())
    }

    fn extensions(&self) -> Vec<TypeId> {
        vec![TypeId::of::<Defined>()]
    }

    fn looks_for(&self, property: Property) -> bool {
        property == Property::Race
    }

    fn counts_executions(&self) -> bool {
        false
    }

    fn run(&self, query: &Query<'_>, control: &Control<'_>) -> Result<Answer, Diagnostics> {
        let Some(program) = &query.subject.program else {
            return Err(self.admits(query).err().into_iter().collect());
        };
        let mut searched = Searched {
            scope: Scope::Complete,
            all: true,
            gaps: Gaps::default(),
            properties: vec![Property::Race],
            counts: Counts::default(),
            violations: Vec::new(),
            notes: Vec::new(),
        };
        if !query.properties.contains(&Property::Race) {
            searched.properties.clear();
            searched.gaps.unchecked(&query.properties, &[]);
        } else {
            let proof = match query.extensions.get::<Defined>() {
                Some(Defined) => prove_defined(program, control),
                None => prove(program, control),
            };
            searched.counts.events = proof.accesses;
            if let (Some((message, span)), Conclusion::Proved) = (&proof.assumed, &proof.conclusion)
            {
                let place = program.source.location(*span);
                let note = format!(
                    "assumed: nothing but a race is undefined (not shown: {message} at {place})"
                );
                searched.notes.push(note);
            }
            if let Some(reason) = reason(program, proof.conclusion) {
                searched.gaps.add(reason);
            }
        }
        let others = query.properties.iter().filter(|property| **property != Property::Race);
        let others: Vec<&str> = others.map(|property| property.name()).collect();
        if !others.is_empty() {
            searched.notes.push(format!("not checked by this engine: {}", others.join(", ")));
        }
        Ok(Answer::new(searched.conclude(), self.name()))
    }
}

/// Why nothing is proved.
fn reason(program: &Program, conclusion: Conclusion) -> Option<Reason> {
    let help = |text: &str| Some(Help::from(text));
    Some(match conclusion {
        Conclusion::Proved => return None,
        Conclusion::Suspected { message, span } => Reason {
            message: format!("not proved: {message}"),
            place: Some(program.source.location(span)),
            help: help("there may be a race or not; other engines look for one"),
        },
        Conclusion::Owed { property, message, span } => Reason {
            message: format!(
                "no race before an error of another kind, which is not ruled out: {message}"
            ),
            place: Some(program.source.location(span)),
            help: Some(Help::with(
                Setting::Property,
                format!("{property},race"),
                "may decide it, by another engine",
            )),
        },
        Conclusion::Lost { message, span } => Reason {
            message: format!("the analysis cannot follow {message}"),
            place: span.map(|span| program.source.location(span)),
            help: None,
        },
        Conclusion::Vacuous { span } => no_execution_passes(Some(program.source.location(span))),
        Conclusion::Stopped(stop) => stopped(stop),
    })
}
