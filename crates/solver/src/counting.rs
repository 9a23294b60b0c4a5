//! How many literals are true, and what they weigh.
//!
//! Weights are added up by a tree of totalisers that know every sum there can be (Joshi, Martins,
//! Manquinho, «Generalized totalizer encoding for pseudo-Boolean constraints», CP 2015). Where
//! there are too many sums, binary adders take their place: smaller, and slower to search.

use crate::{Gates, Literal, Solver};

/// More sums than this in one node are not distinguished one by one.
const MOST_SUMS: usize = 2000;

/// Up to as many literals, every pair is ruled out; beyond, a chain of helpers is shorter.
const MOST_PAIRS: usize = 6;

/// For rising sums, whether at least that much is reached.
type Sums = Vec<(u128, Literal)>;

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

    /// True exactly if the true literals weigh no more than the bound. Asking for several bounds of
    /// the same literals costs little more than asking for one.
    pub fn at_most(
        &mut self,
        weighted: &[(Literal, u64)],
        bound: u64,
        solver: &mut dyn Solver,
    ) -> Literal {
        let mut layer: Vec<Sums> = weighted
            .iter()
            .filter(|(literal, weight)| *weight > 0 && *literal != Literal::FALSE)
            .map(|&(literal, weight)| vec![(0, Literal::TRUE), (u128::from(weight), literal)])
            .collect();
        while layer.len() > 1 {
            let mut merged = Vec::with_capacity(layer.len().div_ceil(2));
            for pair in layer.chunks(2) {
                merged.push(match pair {
                    [a, b] => match self.merge(a, b, solver) {
                        Some(sums) => sums,
                        None => return self.at_most_binary(weighted, bound, solver),
                    },
                    rest => rest.concat(),
                });
            }
            layer = merged;
        }
        let sums = layer.pop().unwrap_or_default();
        let above = sums.iter().find(|(sum, _)| *sum > u128::from(bound));
        above.map_or(Literal::TRUE, |&(_, reached)| !reached)
    }

    /// All sums of two parts; none if there are too many.
    fn merge(&mut self, left: &Sums, right: &Sums, solver: &mut dyn Solver) -> Option<Sums> {
        let mut sums: Vec<u128> =
            left.iter().flat_map(|&(a, _)| right.iter().map(move |&(b, _)| a + b)).collect();
        sums.sort_unstable();
        sums.dedup();
        if sums.len() > MOST_SUMS {
            return None;
        }
        let merged = sums.into_iter().map(|sum| (sum, self.reached(sum, left, right, solver)));
        Some(merged.collect())
    }

    /// Whether two parts reach a sum: one has some value, and the other has the rest.
    fn reached(
        &mut self,
        sum: u128,
        left: &Sums,
        right: &Sums,
        solver: &mut dyn Solver,
    ) -> Literal {
        let mut ways = Vec::new();
        for &(part, reached) in left {
            let rest = sum.saturating_sub(part);
            let Some(&(_, other)) = right.iter().find(|(value, _)| *value >= rest) else {
                continue;
            };
            ways.push(self.and(&[reached, other], solver));
        }
        self.or(&ways, solver)
    }

    fn at_most_binary(
        &mut self,
        weighted: &[(Literal, u64)],
        bound: u64,
        solver: &mut dyn Solver,
    ) -> Literal {
        let total: u128 = weighted.iter().map(|&(_, weight)| u128::from(weight)).sum();
        let width = 129 - total.max(u128::from(bound)).leading_zeros();
        let number = |value: u128, when: Literal| -> Vec<Literal> {
            let bit = |place: u32| value >> place & 1 == 1;
            (0..width).map(|place| if bit(place) { when } else { Literal::FALSE }).collect()
        };
        let mut sum = number(0, Literal::FALSE);
        for &(literal, weight) in weighted {
            let addend = number(u128::from(weight), literal);
            sum = self.sum(&sum, &addend, Literal::FALSE, solver);
        }
        !self.less(&number(u128::from(bound), Literal::TRUE), &sum, solver)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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

    fn check(weights: &[u64], bound: u64, binary: bool) {
        let mut solver = Cadical::new();
        let mut gates = Gates::default();
        let weighted: Vec<(Literal, u64)> =
            weights.iter().map(|&weight| (solver.literal(), weight)).collect();
        let light = match binary {
            true => gates.at_most_binary(&weighted, bound, &mut solver),
            false => gates.at_most(&weighted, bound, &mut solver),
        };
        let literals: Vec<Literal> = weighted.iter().map(|&(literal, _)| literal).collect();
        for assumed in assignments(&literals) {
            let pairs = assumed.iter().zip(weights).filter(|(literal, _)| !literal.is_negated());
            let weight: u128 = pairs.map(|(_, &weight)| u128::from(weight)).sum();
            assert_eq!(solver.solve(&assumed, &Control::default()), Answer::Satisfiable);
            assert_eq!(solver.value(light), weight <= u128::from(bound), "{assumed:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

        #[test]
        fn weights_add_up(
            weights in prop::collection::vec(prop_oneof![0u64..4, 0u64..100], 0..7),
            bound in 0u64..200,
            binary: bool,
        ) {
            check(&weights, bound, binary);
        }
    }

    #[test]
    fn weights_that_do_not_fit_a_word() {
        check(&[u64::MAX, 1, u64::MAX - 1], u64::MAX, true);
        check(&[u64::MAX, 1, u64::MAX - 1], u64::MAX, false);
    }

    /// The cheapest of several choices, by falling bounds.
    #[test]
    fn the_least_weight_is_found_by_falling_bounds() {
        let mut solver = Cadical::new();
        let mut gates = Gates::default();
        let weighted: Vec<(Literal, u64)> =
            (1..=20).map(|weight| (solver.literal(), weight * weight)).collect();
        for window in weighted.windows(3) {
            solver.clause(&window.iter().map(|&(literal, _)| literal).collect::<Vec<_>>());
        }
        let mut best = None;
        while solver.solve(&[], &Control::default()) == Answer::Satisfiable {
            let chosen = weighted.iter().filter(|&&(literal, _)| solver.value(literal));
            let weight: u64 = chosen.map(|&(_, weight)| weight).sum();
            best = Some(weight);
            let lighter = gates.at_most(&weighted, weight - 1, &mut solver);
            solver.clause(&[lighter]);
        }
        // 3, 6, …, 18: one in each window.
        assert_eq!(best, Some(9 + 36 + 81 + 144 + 225 + 324));
    }
}
