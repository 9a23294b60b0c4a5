//! `parallax check-proof`: whether a proof of abstraction refinement proves what it says.
//!
//! The proof says what was asked; the program is read as if that were asked again, and the checker of
//! `parallax-engine-abstract` decides.

use parallax_control::Control;
use parallax_engine_abstract::proof::{Checked, Header, check};
use parallax_program::{Diagnostic, Diagnostics, Property};

use crate::input::Kind;
use crate::integers::WITHIN_RANGE;
use crate::properties::Properties;
use crate::request::{Prepared, Request};
use crate::validation::{Outcome, Validation};

/// Checks the text of a proof, which has a name for messages. The request has the program.
pub fn check_proof(
    mut request: Request,
    (name, text): (&str, &str),
    control: &Control<'_>,
) -> Result<Validation, Diagnostics> {
    let header = Header::read(name, text)?;
    request.model = Some(header.model.clone());
    request.properties = Some(Properties::Named(header.properties.clone()));
    request.nondet = header.nondet;
    let words = request.clone().prepare()?;
    let is_about =
        |it: &Prepared| it.subject.program.as_ref().is_some_and(|it| header.is_about(it));
    let integers = if is_about(&words) { None } else { with_integers(request).filter(is_about) };
    let prepared = integers.as_ref().unwrap_or(&words);
    let Some(program) = &prepared.subject.program else {
        return Err(vec![Diagnostic::new("proofs are of programs, and this is none")]);
    };
    let said = |outcome, reason: String| Validation { outcome, reason, notes: Vec::new() };
    Ok(match check(program, name, text, control)? {
        Checked::Refuted(why) => said(Outcome::Refuted, why),
        Checked::Unknown(why) => said(Outcome::Unknown, why),
        Checked::Confirmed { nodes, edges, coverings, reduced } => {
            let counts = format!(
                "{nodes} states, {edges} steps, {coverings} coverings; threads are put off at \
                 {reduced} states"
            );
            let claim = claim(&header);
            let within = integers.map(|_| WITHIN_RANGE.to_string());
            let notes = [counts].into_iter().chain(within).collect();
            Validation { notes, ..said(Outcome::Confirmed, claim) }
        }
    })
}

/// The program as it is where its values are integers, if there is one.
fn with_integers(mut request: Request) -> Option<Prepared> {
    request.input.reading.integers = true;
    let is_known = request.input.kind().is_ok_and(|kind| kind == Kind::C);
    let is_known = is_known && request.input.check_signs().is_ok();
    if is_known { request.prepare().ok() } else { None }
}

/// What a proof proves.
fn claim(header: &Header) -> String {
    let is_proved = |it: &&Property| matches!(it, Property::Assert | Property::Overflow);
    let names: Vec<&str> =
        header.properties.iter().filter(is_proved).map(|property| property.name()).collect();
    let inputs = match header.nondet {
        None => "for all inputs".to_string(),
        Some((low, high)) => format!("for inputs from {low} to {high}"),
    };
    format!("nothing violates {} under {}, {inputs}", names.join(", "), header.model)
}
