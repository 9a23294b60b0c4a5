//! Litmus tests as programs to verify: the final condition is the property.
//!
//! `exists` and `~exists` name a state that is of interest because it should not be there, so an
//! execution that reaches it is a violation; so is one that ends in a state that `forall` does
//! not hold of.

use std::path::Path;

use parallax_engine_enumerate::{Options, enumerate};
use parallax_frontend_litmus::parse;
use parallax_program::{Diagnostic, Diagnostics, Prop, Property, Quantifier, Question};
use parallax_verdict::{
    Counts, Ending, Execution, Gaps, Outcomes, Reason, Scope, Searched, Verdict, Violation, replay,
};

use super::engine::Engine;
use super::{Answer, VerifyArguments, bounded, model_choice, stateful};
use crate::interrupt;
use crate::models::{ModelChoice, Models};
use crate::one_test::{not_replayed, read, shown};

/// How often a loop is repeated where nothing is said.
pub const USUAL_BOUND: u32 = 2;

/// What is asked for and does not make sense of a litmus test.
pub fn check(properties: &[Property], options: &VerifyArguments) -> Result<(), Diagnostics> {
    let refuse = |message: &str, help: &str| Err(vec![Diagnostic::new(message).with_help(help)]);
    if options.engine == Engine::Explore {
        let help = "leave out --engine, or say --engine states or bounded";
        return refuse("the final condition of a litmus test needs its own engine", help);
    }
    if !properties.contains(&Property::Assert) {
        let help = "leave out --property, or say --property assert";
        return refuse("of a litmus test, only the final condition can be checked", help);
    }
    if options.nondet.is_some() {
        return refuse("litmus tests have no inputs", "leave out --nondet");
    }
    Ok(())
}

pub fn verify(path: &Path, options: &VerifyArguments) -> Result<Answer, Diagnostics> {
    let test = parse(&shown(path), &read(path)?)?;
    let choice = model_choice(options).unwrap_or(ModelChoice::ByArchitecture);
    let model = Models::new(&[], None).for_test(&choice, &test)?;
    if options.engine == Engine::States || options.witness.is_some() {
        let mut answer =
            stateful::verify_question(&test.program, bad_states(&test.question), &model, options)?;
        for violation in &mut answer.verdict.violations {
            violation.message = message(&test.question);
        }
        return Ok(answer);
    }
    if options.engine == Engine::Bounded {
        return bounded::verify_test(&test, &bad_states(&test.question), &model, options);
    }
    let bound = options.unroll.0.unwrap_or(USUAL_BOUND);
    let search = Options {
        bound,
        witnesses: 1,
        timeout: options.timeout,
        stop: Some(interrupt::stop_flag()),
        ..Options::default()
    };
    let outcomes = enumerate(&test.program, &bad_states(&test.question), &model, &search)?;
    for witness in &outcomes.witnesses {
        replay(&test.program, witness, &model)
            .map_err(|reason| vec![not_replayed(&test.program, &reason)])?;
    }
    let verdict = verdict(&test.question, outcomes, bound);
    Ok(Answer { all: true, ..Answer::new(verdict, model.name(), "enumerate") })
}

/// The same test, asking for the states that are violations.
pub fn bad_states(question: &Question) -> Question {
    let prop = match question.quantifier {
        Quantifier::Exists | Quantifier::NotExists => question.prop.clone(),
        Quantifier::ForAll => Prop::Not(Box::new(question.prop.clone())),
    };
    Question { quantifier: Quantifier::NotExists, prop, ..question.clone() }
}

/// What the outcomes say about the bad states.
pub fn verdict(question: &Question, outcomes: Outcomes, bound: u32) -> Verdict {
    let mut gaps = Gaps::default();
    let scope = match &outcomes.ending {
        Ending::Complete => Scope::Complete,
        Ending::Bounded | Ending::Stopped { .. } => Scope::Bounded(bound),
    };
    if let Ending::Stopped { reason } = &outcomes.ending {
        gaps.add(stopped(reason));
    }
    let executions = outcomes.positive.saturating_add(outcomes.negative);
    if executions == 0 {
        gaps.add(no_final_state(&outcomes.ending));
    }
    let violations: Vec<Violation> =
        outcomes.witnesses.into_iter().map(|witness| violation(question, witness)).collect();
    let flags = outcomes.flags.iter();
    let searched = Searched {
        scope,
        all: true,
        gaps,
        properties: vec![Property::Assert],
        counts: Counts { executions, ..Counts::default() },
        violations,
        notes: flags
            .map(|flag| format!("the model raises the flag '{flag}' in some execution"))
            .chain(["of a litmus test, the final condition is what is checked".to_string()])
            .collect(),
    };
    searched.conclude()
}

/// Why a search for final states that has found none says nothing.
pub fn no_final_state(ending: &Ending) -> Reason {
    let (why, help) = match ending {
        Ending::Bounded => ("within the loop bound", Some("a larger --unroll may help")),
        _ => ("under this model", None),
    };
    Reason {
        message: format!("no execution comes to its end {why}, so nothing was checked"),
        place: None,
        help: help.map(str::to_string),
    }
}

fn stopped(reason: &str) -> Reason {
    Reason { message: format!("the search was stopped: {reason}"), place: None, help: None }
}

pub fn violation(question: &Question, execution: Execution) -> Violation {
    Violation {
        property: Property::Assert,
        message: message(question),
        place: None,
        execution,
        involved: Vec::new(),
    }
}

fn message(question: &Question) -> String {
    let condition = question.text.trim();
    let state = ["~exists", "not exists", "exists", "forall"]
        .iter()
        .find_map(|quantifier| condition.strip_prefix(quantifier))
        .unwrap_or(condition)
        .trim();
    let found = match question.quantifier {
        Quantifier::Exists | Quantifier::NotExists => "can be reached",
        Quantifier::ForAll => "does not always hold",
    };
    format!("assertion about the final state fails: {state} {found}")
}
