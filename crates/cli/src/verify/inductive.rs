//! Programs through proofs by invariants.

use parallax_engine_bounded::Options;
use parallax_engine_inductive::{Conclusion, Invariant, Obligation, Order, Unproved, prove};
use parallax_memory::Model;
use parallax_program::{Diagnostic, Diagnostics, Program, Property};
use parallax_verdict::{Counts, Reason, Scope, Verdict};

use super::input::Kind;
use super::{Answer, C_MODEL, VerifyArguments, model_choice};
use crate::interrupt;
use crate::models::{ModelChoice, Models};

/// The loops of machine code are not for people to write invariants for.
pub fn check_kind(kind: Kind) -> Result<(), Diagnostics> {
    match kind {
        Kind::C | Kind::Text | Kind::Structures => Ok(()),
        Kind::Litmus | Kind::Machine => {
            let error = Diagnostic::new("the engine 'inductive' is not for inputs of this kind");
            Err(vec![error.with_help("it proves C (.c), operation structures (.ops), .program")])
        }
    }
}

/// A program in C, or in the text form.
pub fn verify_program(
    program: &Program,
    properties: &[Property],
    options: &VerifyArguments,
) -> Result<Answer, Diagnostics> {
    let usual = || ModelChoice::BuiltIn(C_MODEL.to_string());
    let model = Models::new(&[], None).get(&model_choice(options).unwrap_or_else(usual))?;
    let mut answer = verify(program, &model, Order::Signed, options)?;
    let others = properties.iter().filter(|property| **property != Property::Assert);
    let others: Vec<&str> = others.map(|property| property.name()).collect();
    if !others.is_empty() {
        answer.verdict.notes.push(format!("not checked by this engine: {}", others.join(", ")));
    }
    Ok(answer)
}

/// A program whose invariants are marked. Those that are found compare numbers in the given order.
pub fn verify(
    program: &Program,
    model: &Model,
    order: Order,
    options: &VerifyArguments,
) -> Result<Answer, Diagnostics> {
    let search = Options {
        unroll: options.unroll.0,
        timeout: options.timeout,
        memory_limit: options.memory_limit.map(|limit| u64::from(limit.get())),
        stop: Some(interrupt::stop_flag()),
        ..Options::default()
    };
    let proof = prove(program, model, order, &search)?;
    let mut verdict = Verdict {
        conclusion: parallax_verdict::Conclusion::Unknown,
        scope: None,
        reason: None,
        properties: vec![Property::Assert],
        counts: Counts { events: proof.figures.events, ..Counts::default() },
        violations: Vec::new(),
        notes: proof.invariants.iter().map(told).collect(),
    };
    match proof.conclusion {
        Conclusion::Proved { vacuous } => {
            verdict.conclusion = parallax_verdict::Conclusion::Safe;
            verdict.scope = Some(Scope::Complete);
            if vacuous {
                let note = "vacuous: no execution comes to its end; assertions hold as far as \
                            threads get";
                verdict.notes.push(note.to_string());
            }
        }
        Conclusion::NotProved(unproved) => verdict.reason = Some(not_proved(unproved)),
        Conclusion::Unknown(reason) => verdict.reason = Some(reason),
    }
    let model = model.name().to_string();
    Ok(Answer { verdict, model, engine: "inductive", all: false, witness: None, solver: None })
}

/// What is said about an invariant that a proof stands on.
fn told(invariant: &Invariant) -> String {
    let place = &invariant.place;
    match &invariant.proposed {
        None => format!("invariant at {place}: as it is written"),
        Some(facts) if facts.is_empty() => format!("invariant at {place}: none is needed"),
        Some(facts) => format!("invariant at {place}: found {}", facts.join(" and ")),
    }
}

/// What could not be shown, and where.
fn not_proved(unproved: Unproved) -> Reason {
    let what = match unproved.obligation {
        Obligation::AtFirst => "the invariant may not hold when the loop first comes to it",
        Obligation::Kept => "an iteration may not keep the invariant",
        Obligation::Asserted => "an assertion does not follow from the invariants",
    };
    Reason {
        message: format!("not proved: {what}"),
        place: unproved.place,
        help: Some(
            "the invariants may say too little; --engine states, explore or bounded look for a \
             violation"
                .to_string(),
        ),
    }
}
