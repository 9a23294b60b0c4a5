//! `parallax check-proof`: whether a proof of abstraction refinement proves what it says.
//!
//! The proof says what was asked; the program is read as if that were asked again, and the checker of
//! `parallax-engine-abstract` decides.

use parallax_control::Control;
use parallax_engine_abstract::proof::{Checked, Header, check};
use parallax_program::{Diagnostic, Diagnostics, Property};

use crate::properties::Properties;
use crate::request::Request;
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
    let prepared = request.prepare()?;
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
            Validation { notes: vec![counts], ..said(Outcome::Confirmed, claim) }
        }
    })
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
