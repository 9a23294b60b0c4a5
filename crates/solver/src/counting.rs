//! How many literals are true.

use crate::{Gates, Literal, Solver};

/// Up to as many literals, every pair is ruled out; beyond, a chain of helpers is shorter.
const MOST_PAIRS: usize = 6;

impl Gates {
    /// Rules out that two of these are true.
    pub fn at_most_one(&mut self, literals: &[Literal], solver: &mut dyn Solver) {
        if literals.len() <= MOST_PAIRS {
            for (index, &a) in literals.iter().enumerate() {
                for &b in &literals[..index] {
                    solver.clause(&[!a, !b]);
                }
            }
            return;
        }
        // True from the first true literal on.
        let mut earlier = Literal::FALSE;
        for &literal in literals {
            solver.clause(&[!earlier, !literal]);
            let seen = solver.literal();
            solver.clause(&[!earlier, seen]);
            solver.clause(&[!literal, seen]);
            earlier = seen;
        }
    }

    pub fn exactly_one(&mut self, literals: &[Literal], solver: &mut dyn Solver) {
        solver.clause(literals);
        self.at_most_one(literals, solver);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Answer, Cadical, Control};

    fn assignments(literals: &[Literal]) -> impl Iterator<Item = Vec<Literal>> + '_ {
        (0u32..1 << literals.len()).map(move |bits| {
            let pairs = literals.iter().enumerate();
            pairs.map(|(place, literal)| literal.negate_unless(bits >> place & 1 == 1)).collect()
        })
    }

    #[test]
    fn no_two_at_once() {
        for count in [2, 5, 9] {
            let mut solver = Cadical::new();
            let literals: Vec<Literal> = (0..count).map(|_| solver.literal()).collect();
            Gates::default().exactly_one(&literals, &mut solver);
            for assumed in assignments(&literals) {
                let one = assumed.iter().filter(|literal| !literal.is_negated()).count() == 1;
                let answer = solver.solve(&assumed, &Control::default());
                assert_eq!(answer == Answer::Satisfiable, one, "{assumed:?}");
            }
        }
    }
}
