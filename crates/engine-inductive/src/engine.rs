//! Proofs by invariants as one engine among others.
//!
//! What could not be proved may be wrong or not: a search up to a bound, by the engine that asks a
//! solver, looks for an execution that the program has.

use std::time::Duration;

use parallax_control::Control;
use parallax_engine_bounded::{Figures, Options, verify as bounded};
use parallax_memory::Model;
use parallax_program::{
    Diagnostic, Diagnostics, Expr, Help, InstKind, Location, Program, Property, Setting, Span,
};
use parallax_query::{Answer, Engine, NumberOrder, Query, SolverWork, Subject, Wanted};
use parallax_verdict::{
    Counts, Gaps, NONE_ENDS, Reason, Scope, Searched, Verdict, no_execution_passes,
};

use crate::{Conclusion, Invariant, Obligation, Order, Unproved, prove};

/// Invariants of loops, written down or found.
pub struct Inductive;

/// So long a violation is looked for where nothing is proved and no other time is given.
const SECOND_TRY: Duration = Duration::from_secs(60);

impl Engine for Inductive {
    fn name(&self) -> &'static str {
        "inductive"
    }

    fn summary(&self) -> &'static str {
        "proofs by loop invariants"
    }

    fn admits(&self, query: &Query<'_>) -> Result<(), Diagnostic> {
        let Subject { program, is_machine_code, .. } = query.subject;
        if program.is_none() || *is_machine_code || matches!(query.wanted, Wanted::Every(_)) {
            let error = Diagnostic::new("the engine 'inductive' is not for inputs of this kind");
            let help = "it proves C (.c), operation structures (.ops), .program";
            return Err(error.with_help(help));
        }
        Ok(())
    }

    fn counts_executions(&self) -> bool {
        false
    }

    fn takes_marks(&self) -> bool {
        true
    }

    fn looks_for(&self, property: Property) -> bool {
        property == Property::Assert
    }

    fn run(&self, query: &Query<'_>, control: &Control<'_>) -> Result<Answer, Diagnostics> {
        let Some(searched) = &query.subject.program else {
            return Err(self.admits(query).err().into_iter().collect());
        };
        let marked = query.subject.marked.as_ref();
        let program = marked.map_or(searched, |marked| &marked.program);
        let order = match marked.map(|marked| marked.order).unwrap_or_default() {
            NumberOrder::Signed => Order::Signed,
            NumberOrder::Unsigned => Order::Unsigned,
        };
        let mut answer = answer(program, searched, order, query, control)?;
        let others = query.properties.iter().filter(|property| **property != Property::Assert);
        let others: Vec<&str> = others.map(|property| property.name()).collect();
        if !query.properties.contains(&Property::Assert) {
            let mut gaps = Gaps::default();
            gaps.unchecked(&query.properties, &[]);
            if let Some(reason) = gaps.first().cloned() {
                answer.verdict = answer.verdict.withdrawn(reason);
            }
        }
        if !others.is_empty() {
            answer.verdict.notes.push(format!("not checked by this engine: {}", others.join(", ")));
        }
        Ok(answer)
    }
}

/// `program` has marks where invariants are, `searched` is the same as others search it. Invariants
/// that are found compare numbers in the given order.
fn answer(
    program: &Program,
    searched: &Program,
    order: Order,
    query: &Query<'_>,
    control: &Control<'_>,
) -> Result<Answer, Diagnostics> {
    let model = &*query.model;
    let search = Options { unroll: query.unroll, control: control.clone(), ..Options::default() };
    let proof = prove(program, model, order, &search)?;
    let mut seen = Searched {
        scope: Scope::Complete,
        all: false,
        gaps: Gaps::default(),
        properties: vec![Property::Assert],
        counts: Counts { events: proof.figures.events, ..Counts::default() },
        violations: Vec::new(),
        notes: proof.invariants.iter().map(described).collect(),
    };
    let Figures { variables, clauses, encoding, solving, .. } = proof.figures;
    let solver = Some(SolverWork { variables, clauses, encoding, solving });
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
            // What is proved holds for all inputs; what is wrong has to be so for those asked about.
            let limit = control.deadline.is_none().then_some(SECOND_TRY);
            let control = control.clone().within(limit);
            let search = Options { control, nondet: query.nondet, ..search };
            let what = what_fails(&unproved);
            if let Some(mut refuted) = refuted(searched, model, &search) {
                refuted.notes.push(format!("{what}; a search up to a bound has found this"));
                return Ok(Answer { solver, ..Answer::new(refuted, "inductive") });
            }
            seen.gaps.add(not_proved(what, unproved.place));
            candidate = Some(unproved.candidate);
        }
        Conclusion::Unknown(reason) => seen.gaps.add(reason),
    }
    Ok(Answer { solver, candidate, ..Answer::new(seen.conclude(), "inductive") })
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
fn described(invariant: &Invariant) -> String {
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
    let others = "states, explore or bounded";
    let help = Help::from("the invariants may say too little").and(Help::with(
        Setting::Engine,
        others,
        "look for a violation",
    ));
    Reason { message, place, help: Some(help) }
}
