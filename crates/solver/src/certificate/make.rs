//! Making certificates: a second search, which writes down what it does.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use pindakaas::solver::cadical::{Cadical as Engine, ProofTracer, ProofTracerConfig};
use pindakaas::solver::{SolveResult, Solver as _, TermSignal, TerminateCallback};
use pindakaas::{ClauseDatabase, Lit};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Certificate, Step};
use crate::cadical::{cooked, raw};
use crate::watch::{Signal, watched};
use crate::{Clauses, Control, Lemma, Literal, Problem, Stop};

/// Why there is no certificate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Uncertified {
    /// The solver gives no proofs.
    NoProofs,
    /// The solver was not made by [`crate::Cadical::recording`].
    NotRecorded,
    /// The clauses and the cycles that were found have a model after all.
    Satisfiable,
    Stopped(Stop),
}

impl fmt::Display for Uncertified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Uncertified::NoProofs => write!(f, "the solver gives no proofs"),
            Uncertified::NotRecorded => write!(f, "the problem was not kept"),
            Uncertified::Satisfiable => write!(f, "the second search found a model"),
            Uncertified::Stopped(_) => write!(f, "the second search was stopped"),
        }
    }
}

impl std::error::Error for Uncertified {}

/// A certificate that the problem has no model under the assumptions, by way of the cycles that
/// were found in its orders.
pub(crate) fn certify(
    problem: &Problem,
    lemmas: Vec<Lemma>,
    assumptions: &[Literal],
    control: &Control,
) -> Result<Certificate, Uncertified> {
    let (lemmas, lemma_clauses) = distinct(problem, lemmas);
    let mut clauses = Clauses::default();
    clauses.push(&[Literal::TRUE]);
    for clause in problem.clauses.iter().chain(lemma_clauses.iter()) {
        clauses.push(clause);
    }
    for &assumption in assumptions {
        clauses.push(&[assumption]);
    }
    let trace = refute(problem.variables, &clauses, control)?;
    let first_lemma = 2 + problem.clauses.len();
    let mut certificate = Certificate {
        problem: problem.clone(),
        assumptions: assumptions.to_vec(),
        lemmas,
        proof: Vec::new(),
    };
    trace.finish(&mut certificate, first_lemma as u64);
    Ok(certificate)
}

/// Each lemma once, with its clause.
fn distinct(problem: &Problem, lemmas: Vec<Lemma>) -> (Vec<Lemma>, Clauses) {
    let mut seen = FxHashSet::default();
    let mut kept = Vec::new();
    let mut clauses = Clauses::default();
    for lemma in lemmas {
        let Some(graph) = problem.orders.get(lemma.order as usize) else { continue };
        let edges = lemma.cycle.iter().filter_map(|&place| graph.edges.get(place as usize));
        let mut clause: Vec<Literal> = edges.map(|edge| !edge.when).collect();
        clause.retain(|&literal| literal != Literal::FALSE);
        clause.sort_unstable();
        clause.dedup();
        if seen.insert(clause.clone()) {
            clauses.push(&clause);
            kept.push(lemma);
        }
    }
    (kept, clauses)
}

/// Solves clauses that have no model, and gives what the solver did.
fn refute(variables: u32, clauses: &Clauses, control: &Control) -> Result<Trace, Uncertified> {
    let mut engine = Engine::default();
    let trace = Rc::new(RefCell::new(Trace::default()));
    engine.connect_proof_tracer(Rc::clone(&trace));
    // It would make up variables.
    engine.set_option("factor", 0);
    let signal = Signal::default();
    let asked = signal.clone();
    engine.set_terminate_callback(Some(move || match asked.is_set() {
        true => TermSignal::Terminate,
        false => TermSignal::Continue,
    }));
    engine.new_var_range(variables as usize);
    for (index, clause) in clauses.iter().enumerate() {
        trace.borrow_mut().expected = index as u64 + 1;
        let clause: Vec<Lit> = clause.iter().map(|&literal| raw(literal)).collect();
        // That the empty clause is unsatisfiable is what is to be shown.
        let _ = engine.add_clause_from_slice(&clause);
    }
    let refuted = watched(
        control,
        &signal,
        || {},
        || match engine.solve() {
            SolveResult::Unsatisfiable(_) => Ok(()),
            SolveResult::Satisfied(_) => Err(Uncertified::Satisfiable),
            SolveResult::Unknown => Err(Uncertified::Stopped(signal.stop())),
        },
    );
    refuted?;
    engine.disconnect_proof_tracer(Rc::clone(&trace));
    drop(engine);
    Ok(trace.take())
}

/// What the solver did, by its own numbers for clauses.
#[derive(Default)]
struct Trace {
    /// The number of the clause that is being added.
    expected: u64,
    originals: FxHashMap<i64, u64>,
    derived: Vec<Derived>,
}

struct Derived {
    id: i64,
    clause: Vec<Literal>,
    antecedents: Vec<i64>,
}

impl ProofTracer for Trace {
    fn add_original_clause(&mut self, id: i64, _redundant: bool, _clause: &[Lit], restored: bool) {
        if !restored {
            self.originals.insert(id, self.expected);
        }
    }

    fn add_derived_clause(
        &mut self,
        id: i64,
        _redundant: bool,
        _witness: Option<Lit>,
        clause: &[Lit],
        antecedents: &[i64],
    ) {
        let clause = clause.iter().map(|&lit| cooked(lit)).collect();
        self.derived.push(Derived { id, clause, antecedents: antecedents.to_vec() });
    }
}

impl ProofTracerConfig for Trace {
    const ANTECEDENTS: bool = true;
}

impl Trace {
    /// Leaves out what the first contradiction does not need, and writes down the rest. Lemmas are
    /// the clauses from `first_lemma` on.
    fn finish(mut self, certificate: &mut Certificate, first_lemma: u64) {
        if let Some(last) = self.derived.iter().position(|step| step.clause.is_empty()) {
            self.derived.truncate(last + 1);
        }
        let needed = self.needed();
        let lemmas = certificate.lemmas.len() as u64;
        let after = first_lemma + lemmas;
        let problem = &certificate.problem;
        let mut kept = Vec::new();
        let mut number = first_lemma - 1;
        certificate.lemmas.retain(|lemma| {
            number += 1;
            // What is a contradiction by itself is needed without being named.
            let keep = needed.contains(&number) || is_always_there(problem, lemma);
            kept.extend(keep.then_some(number));
            keep
        });
        let dropped = lemmas - kept.len() as u64;
        let renumbered = |number: u64| match number {
            lemma if (first_lemma..after).contains(&lemma) => {
                first_lemma + kept.partition_point(|&other| other < lemma) as u64
            }
            later if later >= after => later - dropped,
            earlier => earlier,
        };
        let mut numbers: FxHashMap<i64, u64> =
            self.originals.iter().map(|(&id, &number)| (id, renumbered(number))).collect();
        let first_step = after + certificate.assumptions.len() as u64 - dropped;
        let steps = self.derived.into_iter().filter(|step| needed.contains(&key(step.id)));
        for (number, step) in (first_step..).zip(steps) {
            let reasons = step.antecedents.iter().filter_map(|id| numbers.get(id)).copied();
            let reasons = reasons.collect();
            numbers.insert(step.id, number);
            certificate.proof.push(Step { clause: step.clause, reasons });
        }
    }

    /// The numbers of the original clauses that the last step needs, and the keys of the steps.
    fn needed(&self) -> FxHashSet<u64> {
        let mut needed: FxHashSet<u64> =
            self.derived.last().map(|step| key(step.id)).into_iter().collect();
        for step in self.derived.iter().rev() {
            if needed.contains(&key(step.id)) {
                needed.extend(step.antecedents.iter().map(|id| match self.originals.get(id) {
                    Some(&number) => number,
                    None => key(*id),
                }));
            }
        }
        needed
    }
}

/// Keeps the solver's numbers for steps apart from ours for clauses.
fn key(id: i64) -> u64 {
    id as u64 | 1 << 63
}

/// Whether all edges of a cycle are.
fn is_always_there(problem: &Problem, lemma: &Lemma) -> bool {
    let graph = problem.orders.get(lemma.order as usize);
    graph.is_some_and(|graph| {
        let mut edges = lemma.cycle.iter().filter_map(|&place| graph.edges.get(place as usize));
        edges.all(|edge| edge.when == Literal::TRUE)
    })
}
