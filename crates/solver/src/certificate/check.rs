//! The checker. It believes nothing: cycles are followed edge by edge, and every step of the proof
//! is done again.

use std::fmt;

use super::Certificate;
use crate::{Lemma, Literal, Problem};

/// What is wrong with a certificate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flaw {
    /// The lemma with that number is no cycle of the problem.
    NotACycle(usize),
    /// The step with that number names a clause that is not there yet.
    UnknownReason(usize),
    /// The step with that number does not follow from its reasons.
    DoesNotFollow(usize),
    /// A literal names a variable that the problem does not have.
    UnknownVariable,
    /// No step has the empty clause.
    NoContradiction,
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Flaw::NotACycle(number) => write!(f, "lemma {number} is no cycle"),
            Flaw::UnknownReason(number) => {
                write!(f, "step {number} has a reason that is not there")
            }
            Flaw::DoesNotFollow(number) => write!(f, "step {number} does not follow"),
            Flaw::UnknownVariable => write!(f, "a literal has no variable"),
            Flaw::NoContradiction => write!(f, "the proof ends without a contradiction"),
        }
    }
}

impl std::error::Error for Flaw {}

/// Whether the certificate shows that its problem has no model in which its assumptions hold.
pub fn check(certificate: &Certificate) -> Result<(), Flaw> {
    let Certificate { problem, assumptions, lemmas, proof } = certificate;
    let mut database = Database::new(problem.variables);
    database.add(&[Literal::TRUE])?;
    for clause in problem.clauses.iter() {
        database.add(clause)?;
    }
    for (number, lemma) in lemmas.iter().enumerate() {
        let clause = cycle_clause(problem, lemma).ok_or(Flaw::NotACycle(number))?;
        database.add(&clause)?;
    }
    for &assumption in assumptions {
        database.add(&[assumption])?;
    }
    for (number, step) in proof.iter().enumerate() {
        if database.has_contradiction {
            break;
        }
        database.knows(&step.clause)?;
        if !database.follows(&step.clause, &step.reasons).ok_or(Flaw::UnknownReason(number))? {
            return Err(Flaw::DoesNotFollow(number));
        }
        database.add(&step.clause)?;
    }
    if database.has_contradiction { Ok(()) } else { Err(Flaw::NoContradiction) }
}

/// Edges that follow one another, backwards, until they come back: one of them is absent.
fn cycle_clause(problem: &Problem, lemma: &Lemma) -> Option<Vec<Literal>> {
    let graph = problem.orders.get(lemma.order as usize)?;
    let edges = lemma.cycle.iter().map(|&position| graph.edges.get(position as usize));
    let edges: Vec<_> = edges.collect::<Option<_>>()?;
    let next = edges.iter().cycle().skip(1);
    let closed = edges.iter().zip(next).all(|(edge, next)| edge.from == next.to);
    // An edge that is always present is no part of the alternatives.
    let absent = edges.iter().map(|edge| !edge.when).filter(|&literal| literal != Literal::FALSE);
    (closed && !edges.is_empty()).then(|| absent.collect())
}

/// Clauses one after the other, and what the present step has found true.
struct Database {
    literals: Vec<Literal>,
    ends: Vec<usize>,
    /// By the code of a literal.
    is_true: Vec<bool>,
    trail: Vec<Literal>,
    has_contradiction: bool,
}

impl Database {
    fn new(variables: u32) -> Database {
        Database {
            literals: Vec::new(),
            ends: vec![0],
            is_true: vec![false; 2 * variables as usize],
            trail: Vec::new(),
            has_contradiction: false,
        }
    }

    fn knows(&self, clause: &[Literal]) -> Result<(), Flaw> {
        let known = clause.iter().all(|literal| literal.code() < self.is_true.len());
        if known { Ok(()) } else { Err(Flaw::UnknownVariable) }
    }

    fn add(&mut self, clause: &[Literal]) -> Result<(), Flaw> {
        self.knows(clause)?;
        self.literals.extend_from_slice(clause);
        self.ends.push(self.literals.len());
        self.has_contradiction |= clause.is_empty();
        Ok(())
    }

    /// Whether a clause of known variables follows. None if a reason is not there.
    fn follows(&mut self, clause: &[Literal], reasons: &[u64]) -> Option<bool> {
        for &literal in clause {
            self.is_true[(!literal).code()] = true;
            self.trail.push(!literal);
        }
        let mut follows = Some(false);
        for &reason in reasons {
            match self.unit(reason) {
                None => follows = None,
                Some(Unit::Contradiction) => follows = Some(true),
                Some(Unit::Literal(literal)) => {
                    self.is_true[literal.code()] = true;
                    self.trail.push(literal);
                    continue;
                }
                Some(Unit::Open) => {}
            }
            break;
        }
        for literal in self.trail.drain(..) {
            self.is_true[literal.code()] = false;
        }
        follows
    }

    /// What is left of a clause.
    fn unit(&self, number: u64) -> Option<Unit> {
        let number = usize::try_from(number).ok()?;
        let start = *self.ends.get(number.checked_sub(1)?)?;
        let end = *self.ends.get(number)?;
        let mut left = None;
        for &literal in &self.literals[start..end] {
            if self.is_true[(!literal).code()] || left == Some(literal) {
                continue;
            }
            if left.is_some() {
                return Some(Unit::Open);
            }
            left = Some(literal);
        }
        Some(left.map_or(Unit::Contradiction, Unit::Literal))
    }
}

enum Unit {
    Contradiction,
    Literal(Literal),
    Open,
}
