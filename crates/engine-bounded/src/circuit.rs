//! The problem that the solver is given: terms as circuits, and clauses on literals.
//!
//! Where answers are to be certified, that there is no model counts only if its certificate holds.

use parallax_program::Bits;
use parallax_solver::{
    Answer, Blaster, Control, INTEGER_WIDTH, Literal, Order, Solver, Statistics, Stop, Term, Terms,
    Uncertified, check,
};

use crate::options::{Asked, Certified, Solving};

pub struct Circuit {
    solver: Box<dyn Solver>,
    blaster: Blaster,
    pub terms: Terms,
    solving: Solving,
    certified: Certified,
    asked: Vec<Asked>,
}

impl Circuit {
    pub fn new(terms: Terms, solving: Solving, control: &Control<'_>) -> Circuit {
        let solver = solving.backend.open(solving.certify || solving.keep);
        let blaster = match solving.integers {
            true => Blaster::with_integers(),
            false => Blaster::new().within(control),
        };
        let certified = Certified::default();
        Circuit { solver, blaster, terms, solving, certified, asked: Vec::new() }
    }

    pub fn fresh(&mut self) -> Literal {
        self.solver.literal()
    }

    /// The literal of a one-bit term.
    pub fn literal(&mut self, term: Term) -> Literal {
        self.blaster.literal_of(&self.terms, term, &mut *self.solver)
    }

    /// The bits of a term, lowest first.
    pub fn bits(&mut self, term: Term) -> Vec<Literal> {
        self.blaster.bits_of(&self.terms, term, &mut *self.solver).to_vec()
    }

    pub fn and(&mut self, literals: &[Literal]) -> Literal {
        self.blaster.gates.and(literals, &mut *self.solver)
    }

    pub fn or(&mut self, literals: &[Literal]) -> Literal {
        self.blaster.gates.or(literals, &mut *self.solver)
    }

    /// At least one of these holds.
    pub fn clause(&mut self, literals: &[Literal]) {
        if literals.contains(&Literal::TRUE) {
            return;
        }
        self.solver.clause(literals);
    }

    /// The two vectors are the same where the condition holds.
    pub fn equal_where(&mut self, condition: Literal, left: Term, right: Term) {
        if self.solving.integers && self.terms.width(left) == INTEGER_WIDTH {
            let equal = self.terms.equals(left, right);
            let equal = self.literal(equal);
            return self.clause(&[!condition, equal]);
        }
        let (left, right) = (self.bits(left), self.bits(right));
        for (a, b) in left.into_iter().zip(right) {
            if a != b {
                self.clause(&[!condition, !a, b]);
                self.clause(&[!condition, a, !b]);
            }
        }
    }

    pub fn at_most_one(&mut self, literals: &[Literal]) {
        self.blaster.gates.at_most_one(literals, &mut *self.solver);
    }

    pub fn order(&mut self, nodes: usize) -> Order {
        self.solver.order(nodes)
    }

    pub fn edge(&mut self, order: Order, from: usize, to: usize, when: Literal) {
        if when != Literal::FALSE {
            self.solver.edge(order, from as u32, to as u32, when);
        }
    }

    pub fn solve(&mut self, assumptions: &[Literal], control: &Control<'_>) -> Answer {
        if let Some(problem) = self.solver.problem().filter(|_| self.solving.keep) {
            let (problem, assumptions) = (problem.clone(), assumptions.to_vec());
            self.asked.push(Asked { problem, assumptions });
        }
        match self.solver.solve(assumptions, control) {
            Answer::Unsatisfiable if self.solving.certify => self.certify(assumptions, control),
            answer => answer,
        }
    }

    fn certify(&mut self, assumptions: &[Literal], control: &Control<'_>) -> Answer {
        match self.solver.certify(assumptions, control) {
            Ok(certificate) if check(&certificate).is_ok() => {
                self.certified.answers += 1;
                self.certified.cycles += certificate.lemmas.len() as u64;
                self.certified.steps += certificate.proof.len() as u64;
                Answer::Unsatisfiable
            }
            Err(Uncertified::Stopped(stop)) => Answer::Stopped(stop),
            _ => Answer::Stopped(Stop::Incomplete),
        }
    }

    pub fn certified(&self) -> Certified {
        self.certified
    }

    /// The questions since the last call, if they were to be kept.
    pub fn take_asked(&mut self) -> Vec<Asked> {
        std::mem::take(&mut self.asked)
    }

    /// In the last model.
    pub fn holds(&self, literal: Literal) -> bool {
        self.solver.value(literal)
    }

    /// The value of a term in the last model.
    pub fn value(&self, term: Term) -> Bits {
        self.terms
            .evaluate(term, |variable| self.blaster.value(&self.terms, variable, &*self.solver))
    }

    pub fn statistics(&self) -> Statistics {
        self.solver.statistics()
    }
}
