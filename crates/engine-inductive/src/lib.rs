//! Proofs without a bound on loops.
//!
//! Loops are replaced by stand-ins of their iterations ([`image`]), from the invariants that the
//! program has ([`marks`]), or from invariants that are found ([`propose`]). What is left has no loop, or
//! only such that end, and a solver answers for it. If no execution violates anything, the program
//! with its loops is right. If one does, that may be because the invariants say too little: nothing
//! is proved, and nothing is refuted. After P. Maleehuan, "Program Verification for Multiprocessors with
//! Relaxed Memory Models using an SMT Solver", dissertation, JAIST 2018, chapter 4.

mod candidates;
mod engine;
mod fitness;
mod flow;
mod image;
mod loops;
mod marks;
mod nesting;
mod propose;
mod replaced;
mod search;
mod silent;
mod subject;

use parallax_engine_bounded::{Figures, Options, Verified};
use parallax_memory::{Facts, Model};
use parallax_program::{Diagnostics, Help, Location, Program, Setting};
use parallax_verdict::{Reason, Scope, Violation};

pub use candidates::Order;
pub use engine::Inductive;
pub use marks::MARK;
pub use subject::reachable;

use replaced::Check;
use search::{Asked, MOST_TRIES, Search, unsettled};
use subject::{Purpose, Subject};

/// What came of it.
#[derive(Clone, Debug)]
pub struct Proof {
    pub conclusion: Conclusion,
    pub figures: Figures,
    /// What a proof stands on.
    pub invariants: Vec<Invariant>,
}

#[derive(Clone, Debug)]
pub enum Conclusion {
    /// Nothing is ever violated. Where it is `vacuous`, no execution comes to its end.
    Proved {
        vacuous: bool,
    },
    /// What could not be shown.
    NotProved(Unproved),
    Unknown(Reason),
}

/// An obligation that could not be shown. That may be because something is wrong, or because invariants
/// say too little.
#[derive(Clone, Debug)]
pub struct Unproved {
    pub obligation: Obligation,
    pub place: Option<Location>,
    /// An execution in which it fails, with stand-ins of iterations: the program may have none like
    /// it.
    pub candidate: Box<Violation>,
}

/// What has to be shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Obligation {
    /// An assertion of the source.
    Asserted,
    /// An invariant when a loop first comes to it.
    AtFirst,
    /// An invariant after any other iteration.
    Kept,
}

/// An invariant that a proof used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Invariant {
    pub place: Location,
    /// None for one that is in the source.
    pub proposed: Option<Vec<String>>,
}

/// Whether proofs are right under a model. Stand-ins of iterations are where program order and
/// reads-from have no cycle, and a part of an allowed execution is allowed: so it is where a machine
/// takes one step after the other.
pub fn admits(model: &Model) -> bool {
    model.facts().machine.is_some()
}

/// The models that proofs are right under.
pub fn models() -> String {
    Facts::names(|facts| facts.machine.is_some())
}

/// Loops that are not replaced repeat so often at most, one bound after the other.
const BOUNDS: [u32; 6] = [1, 2, 4, 8, 16, 32];

/// Tries to prove that no assertion of a program fails. Under models that it does not
/// [admit](admits) there is no answer. Proposed invariants compare numbers in the given order. The option `unroll` is for loops
/// that stay.
pub fn prove(
    program: &Program,
    model: &Model,
    order: Order,
    options: &Options<'_>,
) -> Result<Proof, Diagnostics> {
    let none = |conclusion| Proof { conclusion, figures: Figures::default(), invariants: vec![] };
    if !admits(model) {
        return Ok(none(Conclusion::Unknown(Reason {
            message: format!("proofs by invariants say nothing about the model '{}'", model.name()),
            place: None,
            help: Some(format!("models for proofs are {}", models()).into()),
        })));
    }
    let mut subject = match Subject::new(program) {
        Ok(subject) => subject,
        Err(reason) => return Ok(none(Conclusion::Unknown(reason))),
    };
    propose::start(&mut subject, order);
    let bounds = match (subject.left.is_empty(), options.unroll) {
        (true, _) => vec![0],
        (false, Some(bound)) => vec![bound],
        (false, None) => BOUNDS.to_vec(),
    };
    let mut proof = none(Conclusion::Unknown(left_over(&subject)));
    for bound in bounds {
        let search = Search { model, bound, options };
        let (next, goes_on) = attempt(&mut subject, &search)?;
        proof = next;
        if !goes_on {
            break;
        }
    }
    if let Conclusion::Proved { .. } = proof.conclusion {
        proof.invariants = used(&subject, order);
    }
    Ok(proof)
}

/// One bound for loops that stay, and whether to go on with another.
fn attempt(subject: &mut Subject, search: &Search<'_>) -> Result<(Proof, bool), Diagnostics> {
    let mut proof = Proof {
        conclusion: Conclusion::Unknown(left_over(subject)),
        figures: Figures::default(),
        invariants: Vec::new(),
    };
    if let Some(reason) = search.measure(subject)? {
        proof.conclusion = Conclusion::Unknown(reason);
        return Ok((proof, false));
    }
    if let Some(reason) = settle(subject, search)? {
        proof.conclusion = Conclusion::Unknown(reason);
        return Ok((proof, false));
    }
    let Verified { verdict, figures, .. } = match search.ask(subject, Purpose::Show)? {
        Asked::Answered(verified) => *verified,
        Asked::Unknown(reason) => {
            proof.conclusion = Conclusion::Unknown(reason);
            return Ok((proof, false));
        }
    };
    proof.figures = figures;
    if let Some(violation) = verdict.violations.into_iter().next() {
        proof.conclusion = Conclusion::NotProved(unproved(subject, violation));
        return Ok((proof, false));
    }
    if let Some(reason) = verdict.reason {
        proof.conclusion = Conclusion::Unknown(reason);
        return Ok((proof, false));
    }
    if verdict.scope != Some(Scope::Complete) {
        return Ok((proof, true));
    }
    propose::spare(subject, search)?;
    let vacuous = match search.ask(subject, Purpose::End)? {
        Asked::Answered(ended) => {
            let Verified { verdict, .. } = *ended;
            verdict.violations.is_empty() && verdict.scope == Some(Scope::Complete)
        }
        Asked::Unknown(_) => false,
    };
    proof.conclusion = Conclusion::Proved { vacuous };
    Ok((proof, false))
}

/// Finds facts that hold with as many stand-ins as are needed where they do.
fn settle(subject: &mut Subject, search: &Search<'_>) -> Result<Option<Reason>, Diagnostics> {
    for _ in 0..MOST_TRIES {
        propose::settle(subject, search)?;
        propose::tidy(subject);
        match search.measure_with_facts(subject)? {
            Ok(true) => return Ok(None),
            Ok(false) => {}
            Err(reason) => return Ok(Some(reason)),
        }
    }
    Ok(Some(unsettled()))
}

fn unproved(subject: &Subject, violation: Violation) -> Unproved {
    let candidate = Box::new(violation);
    let Some((number, check)) = Check::of_message(&candidate.message) else {
        let place = candidate.place.clone();
        return Unproved { obligation: Obligation::Asserted, place, candidate };
    };
    let obligation = match check {
        Check::AtFirst => Obligation::AtFirst,
        Check::Kept => Obligation::Kept,
    };
    let known = subject.loops.iter().find(|known| known.replaced.number == number);
    let place = known.map(|known| subject.program.source.location(known.replaced.span));
    Unproved { obligation, place, candidate }
}

/// Why a loop that stays is one.
fn left_over(subject: &Subject) -> Reason {
    let left = subject.left.first();
    let why = left.map_or("", |left| left.why.as_str());
    Reason {
        message: format!("a loop that is not replaced may repeat more often: {why}"),
        place: left.map(|left| subject.program.source.location(left.span)),
        help: Some(Help::with(Setting::Unroll, "N", "says how often it is repeated")),
    }
}

fn used(subject: &Subject, order: Order) -> Vec<Invariant> {
    let all = subject.loops.iter().map(|known| {
        let function = subject.program.functions.get(known.function.0 as usize);
        let show = |function| known.facts.iter().map(|fact| fact.show(function, order)).collect();
        let proposed = function.map(show).unwrap_or_default();
        Invariant {
            place: subject.program.source.location(known.replaced.span),
            proposed: (!known.is_given).then_some(proposed),
        }
    });
    all.collect()
}
