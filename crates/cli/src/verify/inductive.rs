//! Programs through proofs by invariants.

use std::time::Instant;

use parallax_engine_bounded::{Options, verify as bounded};
use parallax_engine_inductive::{Conclusion, Invariant, Obligation, Order, Unproved, prove};
use parallax_memory::Model;
use parallax_program::{
    Diagnostic, Diagnostics, Expr, InstKind, Location, Program, Property, Span,
};
use parallax_verdict::{
    Counts, Gaps, NONE_ENDS, Reason, Scope, Searched, Verdict, no_execution_passes,
};

use super::input::Kind;
use super::{Answer, C_MODEL, SECOND_TRY, VerifyArguments, chosen_model};
use crate::interrupt;

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
    let (model, _) = chosen_model(program, C_MODEL, &[], options)?;
    let mut answer = verify(program, program, &model, Order::Signed, options)?;
    let others = properties.iter().filter(|property| **property != Property::Assert);
    let others: Vec<&str> = others.map(|property| property.name()).collect();
    answer.verdict = match properties.contains(&Property::Assert) {
        true => answer.verdict,
        false => {
            let mut gaps = Gaps::default();
            gaps.unchecked(properties, &[]);
            match gaps.first().cloned() {
                Some(reason) => answer.verdict.withdrawn(reason),
                None => answer.verdict,
            }
        }
    };
    if !others.is_empty() {
        answer.verdict.notes.push(format!("not checked by this engine: {}", others.join(", ")));
    }
    Ok(answer)
}

/// A program whose invariants are marked, and as others search it. Invariants that are found compare
/// numbers in the given order.
pub fn verify(
    program: &Program,
    searched: &Program,
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
    let started = Instant::now();
    let proof = prove(program, model, order, &search)?;
    let mut seen = Searched {
        scope: Scope::Complete,
        all: false,
        gaps: Gaps::default(),
        properties: vec![Property::Assert],
        counts: Counts { events: proof.figures.events, ..Counts::default() },
        violations: Vec::new(),
        notes: proof.invariants.iter().map(told).collect(),
    };
    let mut candidate = None;
    match proof.conclusion {
        Conclusion::Proved { vacuous } => match first_assumption(searched).filter(|_| vacuous) {
            Some(span) => {
                let place = Some(searched.source.location(span));
                seen.gaps.add(no_execution_passes(place));
            }
            None => seen.notes.extend(vacuous.then(|| NONE_ENDS.to_string())),
        },
        Conclusion::NotProved(unproved) => {
            let left = options.timeout.map(|limit| limit.saturating_sub(started.elapsed()));
            let search = Options { timeout: left.or(Some(SECOND_TRY)), ..search };
            let what = what_fails(&unproved);
            if let Some(mut refuted) = refuted(searched, model, &search) {
                refuted.notes.push(format!("{what}; a search up to a bound has found this"));
                return Ok(Answer::new(refuted, model.name(), "inductive"));
            }
            seen.gaps.add(not_proved(what, unproved.place));
            candidate = Some(unproved.candidate);
        }
        Conclusion::Unknown(reason) => seen.gaps.add(reason),
    }
    Ok(Answer { candidate, ..Answer::new(seen.conclude(), model.name(), "inductive") })
}

/// The first instruction that assumes something, unless it is that nothing comes after an assertion
/// that fails.
fn first_assumption(program: &Program) -> Option<Span> {
    let blocks = program.functions.iter().flat_map(|function| &function.blocks);
    let mut found = blocks.flat_map(|block| {
        let before = [None].into_iter().chain(block.insts.iter().map(Some));
        before.zip(&block.insts).filter_map(|(before, inst)| {
            let follows = before.is_some_and(|it| matches!(it.kind, InstKind::Assert { .. }));
            let assumes = match &inst.kind {
                // The library ends programs so.
                InstKind::Assume { condition: Expr::Const(never) } if never.is_zero() => {
                    !program.daemons
                }
                InstKind::Assume { .. } => true,
                _ => false,
            };
            (assumes && !follows).then_some(inst.span)
        })
    });
    found.next()
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

/// So often loops repeat where a violation is looked for.
const MOST_ROUNDS: u32 = 4;

/// What is wrong with a program that could not be proved, if a search finds something.
fn refuted(program: &Program, model: &Model, search: &Options<'_>) -> Option<Verdict> {
    let properties = vec![Property::Assert];
    let unroll = search.unroll.or(Some(MOST_ROUNDS));
    let search = Options { properties, unroll, ..search.clone() };
    let found = bounded(program, model, &search).ok()?.verdict;
    (found.conclusion() == parallax_verdict::Conclusion::Unsafe).then_some(found)
}

fn what_fails(unproved: &Unproved) -> String {
    let what = match unproved.obligation {
        Obligation::AtFirst => "the invariant may not hold when the loop first comes to it",
        Obligation::Kept => "an iteration may not keep the invariant",
        Obligation::Asserted => "an assertion does not follow from the invariants",
    };
    format!("not proved: {what}")
}

/// What could not be shown, and where.
fn not_proved(message: String, place: Option<Location>) -> Reason {
    let help = "the invariants may say too little; --engine states, explore or bounded look for a \
                violation";
    Reason { message, place, help: Some(help.to_string()) }
}
