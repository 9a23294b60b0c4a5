//! Gates: functions of literals as new literals, each made once, with the clauses that define it
//! (Tseitin, «On the complexity of derivation in propositional calculus», 1968).
//!
//! Constants, repeated and opposite inputs are simplified away before a gate is made.

use rustc_hash::FxHashMap;

use crate::{Literal, Solver};

/// All gates that were made in a solver. Use it with that solver only.
#[derive(Default, Debug)]
pub struct Gates {
    pairs: FxHashMap<(Literal, Literal), Literal>,
    conjunctions: FxHashMap<Box<[Literal]>, Literal>,
    differences: FxHashMap<(Literal, Literal), Literal>,
    triples: FxHashMap<(Triple, Literal, Literal, Literal), Literal>,
    inputs: Vec<Literal>,
    clause: Vec<Literal>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Triple {
    Select,
    Majority,
}

impl Gates {
    pub fn and(&mut self, literals: &[Literal], solver: &mut dyn Solver) -> Literal {
        self.inputs.clear();
        self.inputs.extend_from_slice(literals);
        self.conjunction(solver)
    }

    pub fn or(&mut self, literals: &[Literal], solver: &mut dyn Solver) -> Literal {
        self.inputs.clear();
        self.inputs.extend(literals.iter().map(|&literal| !literal));
        !self.conjunction(solver)
    }

    pub fn implies(&mut self, left: Literal, right: Literal, solver: &mut dyn Solver) -> Literal {
        self.or(&[!left, right], solver)
    }

    /// Of `self.inputs`.
    fn conjunction(&mut self, solver: &mut dyn Solver) -> Literal {
        let inputs = &mut self.inputs;
        inputs.retain(|&literal| literal != Literal::TRUE);
        inputs.sort_unstable();
        inputs.dedup();
        // A literal and its negation are neighbours then, and a constant is first.
        if inputs.first() == Some(&Literal::FALSE)
            || inputs.windows(2).any(|pair| pair[0] == !pair[1])
        {
            return Literal::FALSE;
        }
        let known = match inputs.as_slice() {
            [] => Some(Literal::TRUE),
            &[only] => Some(only),
            &[a, b] => self.pairs.get(&(a, b)).copied(),
            many => self.conjunctions.get(many).copied(),
        };
        if let Some(gate) = known {
            return gate;
        }
        let gate = solver.literal();
        self.clause.clear();
        self.clause.push(gate);
        for &input in inputs.iter() {
            solver.clause(&[!gate, input]);
            self.clause.push(!input);
        }
        solver.clause(&self.clause);
        match inputs.as_slice() {
            &[a, b] => self.pairs.insert((a, b), gate),
            many => self.conjunctions.insert(many.into(), gate),
        };
        gate
    }

    pub fn xor(&mut self, left: Literal, right: Literal, solver: &mut dyn Solver) -> Literal {
        let flip = left.is_negated() != right.is_negated();
        let (a, b) = (Literal::positive(left.variable()), Literal::positive(right.variable()));
        let (a, b) = (a.min(b), a.max(b));
        if a == b {
            return Literal::constant(flip);
        }
        if a == Literal::TRUE {
            return b.negate_unless(flip);
        }
        let gate = match self.differences.get(&(a, b)) {
            Some(&gate) => gate,
            None => {
                let gate = solver.literal();
                solver.clause(&[!gate, a, b]);
                solver.clause(&[!gate, !a, !b]);
                solver.clause(&[gate, !a, b]);
                solver.clause(&[gate, a, !b]);
                self.differences.insert((a, b), gate);
                gate
            }
        };
        gate.negate_unless(!flip)
    }

    pub fn equivalent(&mut self, a: Literal, b: Literal, solver: &mut dyn Solver) -> Literal {
        !self.xor(a, b, solver)
    }

    /// `then` where the condition is true.
    pub fn select(
        &mut self,
        condition: Literal,
        then: Literal,
        otherwise: Literal,
        solver: &mut dyn Solver,
    ) -> Literal {
        if condition.is_negated() {
            return self.select(!condition, otherwise, then, solver);
        }
        if condition == Literal::TRUE || then == otherwise {
            return then;
        }
        if then == !otherwise {
            return self.equivalent(condition, then, solver);
        }
        if then == Literal::TRUE || then == condition {
            return self.or(&[condition, otherwise], solver);
        }
        if then == Literal::FALSE || then == !condition {
            return self.and(&[!condition, otherwise], solver);
        }
        if otherwise == Literal::TRUE || otherwise == !condition {
            return self.or(&[!condition, then], solver);
        }
        if otherwise == Literal::FALSE || otherwise == condition {
            return self.and(&[condition, then], solver);
        }
        if then.is_negated() {
            return !self.select(condition, !then, !otherwise, solver);
        }
        let key = (Triple::Select, condition, then, otherwise);
        if let Some(&gate) = self.triples.get(&key) {
            return gate;
        }
        let gate = solver.literal();
        solver.clause(&[!condition, !then, gate]);
        solver.clause(&[!condition, then, !gate]);
        solver.clause(&[condition, !otherwise, gate]);
        solver.clause(&[condition, otherwise, !gate]);
        // These follow, and let the gate be known before its condition is.
        solver.clause(&[!then, !otherwise, gate]);
        solver.clause(&[then, otherwise, !gate]);
        self.triples.insert(key, gate);
        gate
    }

    /// At least two of three: the carry of an addition.
    pub fn majority(
        &mut self,
        a: Literal,
        b: Literal,
        c: Literal,
        solver: &mut dyn Solver,
    ) -> Literal {
        let mut inputs = [a, b, c];
        inputs.sort_unstable();
        let [a, b, c] = inputs;
        match a {
            Literal::TRUE => return self.or(&[b, c], solver),
            Literal::FALSE => return self.and(&[b, c], solver),
            _ => {}
        }
        if a == b || b == c {
            return b;
        }
        if a == !b {
            return c;
        }
        if b == !c {
            return a;
        }
        if a.is_negated() {
            return !self.majority(!a, !b, !c, solver);
        }
        let key = (Triple::Majority, a, b, c);
        if let Some(&gate) = self.triples.get(&key) {
            return gate;
        }
        let gate = solver.literal();
        for (x, y) in [(a, b), (a, c), (b, c)] {
            solver.clause(&[!x, !y, gate]);
            solver.clause(&[x, y, !gate]);
        }
        self.triples.insert(key, gate);
        gate
    }

    /// Whether two vectors of the same width are equal.
    pub fn equal(
        &mut self,
        left: &[Literal],
        right: &[Literal],
        solver: &mut dyn Solver,
    ) -> Literal {
        let pairs = left.iter().zip(right);
        let same: Vec<Literal> = pairs.map(|(&a, &b)| self.equivalent(a, b, solver)).collect();
        self.and(&same, solver)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Answer, Cadical, Control};

    /// All functions of three inputs, constants and negations among them, against their tables.
    #[test]
    fn gates_are_what_they_are_called() {
        let mut solver = Cadical::new();
        let mut gates = Gates::default();
        let (x, y, z) = (solver.literal(), solver.literal(), solver.literal());
        let inputs = [x, !x, y, !y, z, !z, Literal::TRUE, Literal::FALSE];
        let mut made = Vec::new();
        for a in inputs {
            for b in inputs {
                made.push((0, [a, b, b], gates.xor(a, b, &mut solver)));
                for c in inputs {
                    made.push((1, [a, b, c], gates.and(&[a, b, c], &mut solver)));
                    made.push((2, [a, b, c], gates.or(&[a, b, c], &mut solver)));
                    made.push((3, [a, b, c], gates.select(a, b, c, &mut solver)));
                    made.push((4, [a, b, c], gates.majority(a, b, c, &mut solver)));
                }
            }
        }
        for case in 0..8 {
            let bits = [x, y, z].map(|v| v.variable()).map(Literal::positive);
            let assumptions: Vec<Literal> = bits
                .iter()
                .enumerate()
                .map(|(i, &l)| l.negate_unless(case >> i & 1 == 1))
                .collect();
            assert_eq!(solver.solve(&assumptions, &Control::default()), Answer::Satisfiable);
            for &(kind, literals, gate) in &made {
                let [a, b, c] = literals.map(|literal| solver.value(literal));
                let expected = match kind {
                    0 => a != b,
                    1 => a && b && c,
                    2 => a || b || c,
                    3 => {
                        if a {
                            b
                        } else {
                            c
                        }
                    }
                    _ => u8::from(a) + u8::from(b) + u8::from(c) >= 2,
                };
                assert_eq!(solver.value(gate), expected, "kind {kind} of {literals:?}");
            }
        }
    }

    #[test]
    fn a_gate_is_made_once() {
        let mut solver = Cadical::new();
        let mut gates = Gates::default();
        let (x, y, z) = (solver.literal(), solver.literal(), solver.literal());
        let gate = gates.and(&[x, y, z], &mut solver);
        let before = solver.statistics();
        assert_eq!(gates.and(&[z, y, x, Literal::TRUE, y], &mut solver), gate);
        assert_eq!(gates.or(&[!x, !z, !y], &mut solver), !gate);
        assert_eq!(solver.statistics(), before);
    }
}
