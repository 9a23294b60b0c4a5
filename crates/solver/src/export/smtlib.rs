//! SMT-LIB 2 (Barrett, Fontaine, Tinelli, «The SMT-LIB Standard: Version 2.6», 2017): clauses over
//! Booleans, and orders as integers in difference logic.

use std::io::{self, Write};

use crate::{Arithmetic, Compared, Comparison, Integer, Literal, Problem};

impl Problem {
    /// Writes the problem as a script that asks whether it is satisfiable.
    pub fn write_smtlib(&self, assumptions: &[Literal], out: &mut dyn Write) -> io::Result<()> {
        let logic = if self.integers.is_empty() { "QF_IDL" } else { "QF_LIA" };
        writeln!(out, "(set-logic {logic})")?;
        for variable in 0..self.variables {
            writeln!(out, "(declare-const v{variable} Bool)")?;
        }
        for (number, graph) in self.orders.iter().enumerate() {
            for node in 0..graph.nodes {
                writeln!(out, "(declare-const o{number}n{node} Int)")?;
            }
        }
        self.write_integers(out)?;
        writeln!(out, "(assert v0)")?;
        for clause in self.clauses.iter() {
            let clause: Vec<String> = clause.iter().map(|&literal| name(literal)).collect();
            match clause.as_slice() {
                [] => writeln!(out, "(assert false)")?,
                [only] => writeln!(out, "(assert {only})")?,
                many => writeln!(out, "(assert (or {}))", many.join(" "))?,
            }
        }
        for (number, graph) in self.orders.iter().enumerate() {
            for edge in &graph.edges {
                let before = format!("(< o{number}n{} o{number}n{})", edge.from, edge.to);
                writeln!(out, "(assert (=> {} {before}))", name(edge.when))?;
            }
        }
        for &assumption in assumptions {
            writeln!(out, "(assert {})", name(assumption))?;
        }
        writeln!(out, "(check-sat)")
    }

    fn write_integers(&self, out: &mut dyn Write) -> io::Result<()> {
        let of = |integer: Integer| format!("i{}", integer.index());
        for (number, arithmetic) in self.integers.iter().enumerate() {
            let value = match *arithmetic {
                Arithmetic::Variable => {
                    writeln!(out, "(declare-const i{number} Int)")?;
                    continue;
                }
                Arithmetic::Constant(value) if value < 0 => format!("(- {})", value.unsigned_abs()),
                Arithmetic::Constant(value) => value.to_string(),
                Arithmetic::Sum(a, b) => format!("(+ {} {})", of(a), of(b)),
                Arithmetic::Difference(a, b) => format!("(- {} {})", of(a), of(b)),
                Arithmetic::Negation(a) => format!("(- {})", of(a)),
                Arithmetic::Choice(c, a, b) => format!("(ite {} {} {})", name(c), of(a), of(b)),
            };
            writeln!(out, "(define-fun i{number} () Int {value})")?;
        }
        for Compared { literal, comparison, left, right } in &self.comparisons {
            let sign = match comparison {
                Comparison::Equal => "=",
                Comparison::Less => "<",
            };
            writeln!(out, "(assert (= {} ({sign} {} {})))", name(*literal), of(*left), of(*right))?;
        }
        Ok(())
    }
}

fn name(literal: Literal) -> String {
    let variable = literal.variable();
    if literal.is_negated() { format!("(not v{variable})") } else { format!("v{variable}") }
}
