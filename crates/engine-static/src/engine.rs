//! The analysis as one engine among others.

use std::any::TypeId;

use parallax_control::Control;
use parallax_memory::{Facts, Native};
use parallax_program::{Diagnostic, Diagnostics, Help, Program, Property, Setting};
use parallax_query::{Answer, Engine, Extension, Query, Tracked, Wanted};
use parallax_verdict::{Counts, Gaps, Reason, Scope, Searched, no_execution_passes, stopped};

use crate::{Claim, Conclusion, prove, prove_defined, prove_unordered};

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

    fn summary(&self) -> &'static str {
        "proofs that run nothing, such as that there are no data races"
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
        if !is_for(query.model.facts()) {
            let message =
                format!("the engine 'static' says nothing about '{}'", query.model.name());
            let models = Facts::names(is_for);
            return refused(&message, &format!("models for it are {models}"));
        }
        if matches!(query.wanted, Wanted::Every(_)) {
            return refused("the engine 'static' finds no executions", "ask another engine");
        }
        Ok(())
    }

    fn extensions(&self) -> Vec<TypeId> {
        // Where something is made on the heap, nothing is said of leaks.
        vec![TypeId::of::<Defined>(), TypeId::of::<Tracked>()]
    }

    fn looks_for(&self, property: Property) -> bool {
        CLAIMS.iter().any(|(properties, _)| properties.contains(&property))
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
            properties: Vec::new(),
            counts: Counts::default(),
            violations: Vec::new(),
            notes: Vec::new(),
        };
        // Where races are asked for, an assertion that may fail is no reason to say nothing of them.
        let asked = |property: &&Property| query.properties.contains(property);
        let about = CLAIMS.iter().find(|(properties, _)| properties.iter().any(|it| asked(&it)));
        if about.is_none() {
            searched.gaps.unchecked(&query.properties, &[]);
        }
        if let Some((properties, claim)) = about {
            let claim = *claim;
            searched.properties.extend(properties.iter().filter(asked));
            let proof = match query.extensions.get::<Defined>() {
                Some(Defined) => prove_defined(program, claim, control),
                None if sees_stores_in_order(query.model.facts()) => prove(program, claim, control),
                None => prove_unordered(program, claim, control),
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
            if let Some(reason) = reason(program, claim, proof.conclusion) {
                searched.gaps.add(reason);
            }
        }
        let is_other = |property: &&Property| !searched.properties.contains(property);
        let others = query.properties.iter().filter(is_other);
        let others: Vec<&str> = others.map(|property| property.name()).collect();
        if !others.is_empty() {
            searched.notes.push(format!("not checked by this engine: {}", others.join(", ")));
        }
        Ok(Answer::new(searched.conclude(), self.name()))
    }
}

/// Whether the analysis is right about executions of a model: program order and reads-from make no cycle.
fn is_for(facts: &Facts) -> bool {
    facts.native.is_some_and(|native| native != Native::Imm)
}

/// Whether a thread that sees a store of another one sees all that this one has stored before.
fn sees_stores_in_order(facts: &Facts) -> bool {
    matches!(facts.native, Some(Native::Sc | Native::Tso))
}

/// What can be proved of which properties. Of several, the first one is looked at.
const CLAIMS: [(&[Property], Claim); 4] = [
    (&[Property::Race], Claim::NoRace),
    (&[Property::Assert], Claim::NoFailure),
    (&[Property::Overflow], Claim::NoOverflow),
    (&[Property::Memory, Property::Leak], Claim::NoMemoryError),
];

const REACHED: &str = "it may be reached or not; other engines try to get there";

/// Why nothing is proved.
fn reason(program: &Program, claim: Claim, conclusion: Conclusion) -> Option<Reason> {
    let help = |text: &str| Some(Help::from(text));
    let (nothing, property, unsure) = match claim {
        Claim::NoRace => {
            ("no race", "race", "there may be a race or not; other engines look for one")
        }
        Claim::NoFailure => ("no failure", "assert", REACHED),
        Claim::NoOverflow => ("no overflow", "overflow", REACHED),
        Claim::NoMemoryError => ("no memory error", "memory", REACHED),
    };
    Some(match conclusion {
        Conclusion::Proved => return None,
        Conclusion::Suspected { message, span } => Reason {
            message: format!("not proved: {message}"),
            place: Some(program.source.location(span)),
            help: help(unsure),
        },
        Conclusion::Owed { property: other, message, span } => Reason {
            message: format!(
                "{nothing} before an error of another kind, which is not ruled out: {message}"
            ),
            place: Some(program.source.location(span)),
            help: Some(Help::with(
                Setting::Property,
                format!("{other},{property}"),
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
