//! Litmus tests as programs to verify: the final condition is the property.
//!
//! `exists` and `~exists` name a state that is of interest because it should not be there, so an
//! execution that reaches it is a violation; so is one that ends in a state that `forall` does
//! not hold of.

use std::sync::Arc;

use parallax_control::Control;
use parallax_engine_bounded::compile;
use parallax_engine_enumerate::{Options, enumerate};
use parallax_frontend_litmus::LitmusTest;
use parallax_memory::{Language, Model};
use parallax_program::{
    Diagnostic, Diagnostics, Help, Prop, Property, Quantifier, Question, Setting,
};
use parallax_query::{Final, Subject, Wording};
use parallax_verdict::Outcomes;

pub use parallax_engine_enumerate::Coherence;

use crate::models::compiled_for;

/// What is said of each of them.
pub const NOTE: &str = "of a litmus test, the final condition is what is checked";

/// What is asked for and does not make sense of a litmus test.
pub fn check(properties: &[Property], nondet: Option<(i128, i128)>) -> Result<(), Diagnostics> {
    let refuse = |message: &str, help: Help| Err(vec![Diagnostic::new(message).with_help(help)]);
    if !properties.contains(&Property::Assert) {
        let message = "of a litmus test, only the final condition can be checked";
        return refuse(message, Help::LookFor(Property::Assert));
    }
    if nondet.is_some() {
        return refuse("litmus tests have no inputs", Help::LeaveOut(vec![Setting::Inputs]));
    }
    Ok(())
}

pub fn subject(name: String, test: LitmusTest) -> Subject {
    let finals = Final {
        program: test.program,
        bad: bad_states(&test.question),
        wording: wording(&test.question),
    };
    Subject { name, finals: Some(finals), ..Subject::default() }
}

/// The same test, asking for the states that are violations.
pub fn bad_states(question: &Question) -> Question {
    let prop = match question.quantifier {
        Quantifier::Exists | Quantifier::NotExists => question.prop.clone(),
        Quantifier::ForAll => Prop::Not(Box::new(question.prop.clone())),
    };
    Question { quantifier: Quantifier::NotExists, prop, ..question.clone() }
}

/// The same is wrong with all bad executions.
pub fn wording(question: &Question) -> Wording {
    let message = message(question);
    Wording(Arc::new(move |_| (message.clone(), None)))
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

/// What a machine runs of a test in C, where the model is of a machine and not of C.
pub fn compiled(test: &LitmusTest, model: &Model) -> Result<Option<LitmusTest>, Diagnostics> {
    let machine = compiled_for(model, Language::C).map_err(|error| vec![error])?;
    let compiled = |machine| compile(&test.program, machine).map_err(|error| vec![error]);
    let program = machine.map(compiled).transpose()?;
    Ok(program.map(|program| LitmusTest { program, ..test.clone() }))
}

/// How the outcomes of a test are listed.
#[derive(Clone, Debug)]
pub struct Listing<'a> {
    /// How often a loop may be repeated.
    pub bound: u32,
    pub coherence: Coherence,
    /// How many executions that satisfy the condition to keep.
    pub witnesses: usize,
    /// Relations of the model that these carry besides those that the model shows itself.
    pub show: &'a [String],
}

/// All outcomes of a test.
pub fn outcomes(
    test: &LitmusTest,
    model: &Model,
    listing: &Listing<'_>,
    control: &Control<'_>,
) -> Result<Outcomes, Diagnostics> {
    let options = Options {
        bound: listing.bound,
        coherence: listing.coherence,
        witnesses: listing.witnesses,
        show: listing.show,
        control: control.clone(),
    };
    enumerate(&test.program, &test.question, model, &options)
}
