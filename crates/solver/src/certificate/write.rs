//! Certificates as files that other checkers read: DIMACS CNF with the clauses of the cycles in
//! it, and an LRAT proof of that CNF.

use std::io::{self, Write};

use super::Certificate;
use crate::export::write_clauses;
use crate::{Clauses, Literal};

impl Certificate {
    /// The clauses that the proof starts from, in the order of their numbers. Comments name the
    /// edges of each cycle.
    pub fn write_cnf(&self, out: &mut dyn Write) -> io::Result<()> {
        let clauses = self.clauses();
        writeln!(out, "p cnf {} {}", self.problem.variables, clauses.len())?;
        for (number, lemma) in self.lemmas.iter().enumerate() {
            let clause = 2 + self.problem.clauses.len() + number;
            write!(out, "c clause {clause}: a cycle in order {}:", lemma.order)?;
            let graph = self.problem.orders.get(lemma.order as usize);
            for &position in lemma.cycle.iter().rev() {
                if let Some(edge) = graph.and_then(|graph| graph.edges.get(position as usize)) {
                    write!(out, " {}->{} if {};", edge.from, edge.to, edge.when.dimacs())?;
                }
            }
            writeln!(out)?;
        }
        write_clauses(&clauses, out)
    }

    /// The proof, step by step.
    pub fn write_lrat(&self, out: &mut dyn Write) -> io::Result<()> {
        let first = self.clauses().len() + 1;
        for (number, step) in (first..).zip(&self.proof) {
            write!(out, "{number} ")?;
            for literal in &step.clause {
                write!(out, "{} ", literal.dimacs())?;
            }
            write!(out, "0 ")?;
            for reason in &step.reasons {
                write!(out, "{reason} ")?;
            }
            writeln!(out, "0")?;
        }
        Ok(())
    }

    fn clauses(&self) -> Clauses {
        let mut clauses = Clauses::default();
        clauses.push(&[Literal::TRUE]);
        for clause in self.problem.clauses.iter() {
            clauses.push(clause);
        }
        for lemma in &self.lemmas {
            let graph = self.problem.orders.get(lemma.order as usize);
            let edge = |&place: &u32| graph.and_then(|graph| graph.edges.get(place as usize));
            let absent = lemma.cycle.iter().filter_map(edge).map(|edge| !edge.when);
            let absent = absent.filter(|&literal| literal != Literal::FALSE);
            clauses.push(&absent.collect::<Vec<_>>());
        }
        for &assumption in &self.assumptions {
            clauses.push(&[assumption]);
        }
        clauses
    }
}
