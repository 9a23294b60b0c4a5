//! DIMACS CNF. Clauses are all it has, so orders become clocks: binary numbers, one for each node
//! of an order, such that edges go from lower to higher ones.

use std::io::{self, Write};

use crate::{Clauses, Literal, Problem};

impl Problem {
    /// The problem with its orders as clauses. Its own variables keep their numbers.
    pub fn without_orders(&self) -> Problem {
        let mut flat = Problem {
            variables: self.variables,
            clauses: self.clauses.clone(),
            ..Problem::default()
        };
        for graph in &self.orders {
            let width = usize::BITS - graph.nodes.saturating_sub(1).leading_zeros();
            let clocks: Vec<Vec<Literal>> =
                (0..graph.nodes).map(|_| (0..width).map(|_| flat.literal()).collect()).collect();
            for edge in &graph.edges {
                let (from, to) = (&clocks[edge.from as usize], &clocks[edge.to as usize]);
                flat.less_where(edge.when, from, to);
            }
        }
        flat
    }

    /// From the highest bit down: while the bits are equal, the rest must be less.
    fn less_where(&mut self, when: Literal, left: &[Literal], right: &[Literal]) {
        let mut rest = when;
        for (&a, &b) in left.iter().zip(right).rev() {
            let next = self.literal();
            self.clauses.push(&[!rest, !a, b]);
            self.clauses.push(&[!rest, a, b, next]);
            self.clauses.push(&[!rest, !a, !b, next]);
            rest = next;
        }
        self.clauses.push(&[!rest]);
    }

    /// Writes the problem as DIMACS CNF, with the assumptions as clauses. Variable 1 is true.
    pub fn write_dimacs(&self, assumptions: &[Literal], out: &mut dyn Write) -> io::Result<()> {
        if !self.integers.is_empty() {
            return Err(io::Error::other("integers cannot be said in DIMACS; SMT-LIB has them"));
        }
        let mut flat = self.without_orders();
        let mut clauses = Clauses::default();
        clauses.push(&[Literal::TRUE]);
        for &assumption in assumptions {
            clauses.push(&[assumption]);
        }
        writeln!(out, "p cnf {} {}", flat.variables, flat.clauses.len() + clauses.len())?;
        for clauses in [&clauses, &std::mem::take(&mut flat.clauses)] {
            write_clauses(clauses, out)?;
        }
        Ok(())
    }
}

pub(crate) fn write_clauses(clauses: &Clauses, out: &mut dyn Write) -> io::Result<()> {
    for clause in clauses.iter() {
        for literal in clause {
            write!(out, "{} ", literal.dimacs())?;
        }
        writeln!(out, "0")?;
    }
    Ok(())
}
