//! What conditions on inputs say of the rest: consequences in which no input is left.
//!
//! Of `a < i` and `i <= b`, whatever `i` is, `a < b` follows; where `i == t`, the rest holds of `t` too. That is the step of
//! Fourier and Motzkin for single variables (H. Williams, Fourier's method of linear programming and
//! its dual, American Mathematical Monthly 93, 1986), without the part that multiplies, which words of
//! limited width do not allow. Any term with inputs takes the place of `i`. All that is found follows; not all
//! that follows is found.

use parallax_program::{BinaryOp, UnaryOp};
use parallax_solver::{Node, Term, Terms};
use rustc_hash::{FxHashMap, FxHashSet};

/// Conditions at a time.
const MOST: usize = 48;

/// Which order two terms are compared by.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Below {
    left: Term,
    right: Term,
    is_signed: bool,
    is_strict: bool,
}

/// Consequences of all conditions together that speak of no input. Those that have none are left out.
pub fn without_inputs(
    terms: &mut Terms,
    conditions: &[Term],
    inputs: &FxHashSet<Term>,
) -> Vec<Term> {
    let mut all = Vec::new();
    conditions.iter().for_each(|term| conjuncts(terms, *term, true, &mut all));
    let all = with_equals_for_inputs(terms, all, inputs);
    let is_free = |terms: &Terms, term: Term| {
        !terms.support(term).iter().any(|variable| inputs.contains(variable))
    };
    let mut bounds: Vec<Below> = Vec::new();
    for term in &all {
        bounds.extend(below(terms, *term));
    }
    // What is found may be a bound of the next input.
    let mut at = 0;
    while at < bounds.len() && bounds.len() < MOST {
        for other in 0..at {
            for (one, two) in [(bounds[at], bounds[other]), (bounds[other], bounds[at])] {
                let meets = one.right == two.left
                    && one.is_signed == two.is_signed
                    && !is_free(terms, one.right);
                let is_strict = one.is_strict || two.is_strict;
                let found = Below { right: two.right, is_strict, ..one };
                if meets && !bounds.contains(&found) {
                    bounds.push(found);
                }
            }
        }
        at += 1;
    }
    let mut found: Vec<Term> = bounds.iter().map(|bound| bound.condition(terms)).collect();
    found.extend(all);
    found.retain(|term| {
        is_free(terms, *term) && terms.as_constant(*term).is_none_or(|it| it.is_zero())
    });
    found.sort_unstable();
    found.dedup();
    found
}

impl Below {
    fn condition(self, terms: &mut Terms) -> Term {
        use BinaryOp::{Sle, Slt, Ule, Ult};
        let op = match (self.is_signed, self.is_strict) {
            (true, true) => Slt,
            (true, false) => Sle,
            (false, true) => Ult,
            (false, false) => Ule,
        };
        terms.binary(op, self.left, self.right)
    }
}

/// The parts of a condition that all have to hold, or of its complement.
pub fn conjuncts(terms: &mut Terms, term: Term, holds: bool, all: &mut Vec<Term>) {
    if all.len() >= MOST {
        return;
    }
    match terms.node(term) {
        Node::Unary(UnaryOp::Not, inner) if terms.width(term) == 1 => {
            conjuncts(terms, inner, !holds, all);
        }
        Node::Binary(op, left, right)
            if terms.width(term) == 1
                && (op == BinaryOp::And && holds || op == BinaryOp::Or && !holds) =>
        {
            conjuncts(terms, left, holds, all);
            conjuncts(terms, right, holds, all);
        }
        _ if holds => all.push(term),
        _ => all.push(terms.not(term)),
    }
}

/// Inputs that are equal to something without inputs are that.
fn with_equals_for_inputs(
    terms: &mut Terms,
    mut all: Vec<Term>,
    inputs: &FxHashSet<Term>,
) -> Vec<Term> {
    loop {
        let equal = all.iter().find_map(|term| match terms.node(*term) {
            Node::Binary(BinaryOp::Eq, left, right) => {
                let speaks = |of: Term, term: Term| terms.support(term).contains(&of);
                let is_it = |one: Term, two: Term| inputs.contains(&one) && !speaks(one, two);
                let sides = [(left, right), (right, left)];
                sides.into_iter().find(|(one, two)| is_it(*one, *two))
            }
            _ => None,
        });
        let Some((input, term)) = equal else { return all };
        let mut known: FxHashMap<Term, Term> = FxHashMap::default();
        known.insert(input, term);
        all = all.into_iter().map(|it| terms.substitute(it, &mut known)).collect();
        all.retain(|it| terms.as_constant(*it).is_none_or(|it| it.is_zero()));
    }
}

/// Which terms a condition says are below which.
fn below(terms: &Terms, condition: Term) -> Vec<Below> {
    use BinaryOp::{Eq, Sle, Slt, Ule, Ult};
    let (is_so, inner) = match terms.node(condition) {
        Node::Unary(UnaryOp::Not, inner) => (false, inner),
        _ => (true, condition),
    };
    let Node::Binary(op, left, right) = terms.node(inner) else { return Vec::new() };
    let (is_signed, is_strict) = match op {
        Slt => (true, true),
        Sle => (true, false),
        Ult => (false, true),
        Ule => (false, false),
        Eq if is_so => {
            let both = [(left, right), (right, left)];
            let both = both.into_iter().flat_map(|(left, right)| {
                [true, false].map(|is_signed| Below { left, right, is_signed, is_strict: false })
            });
            return both.collect();
        }
        _ => return Vec::new(),
    };
    vec![match is_so {
        true => Below { left, right, is_signed, is_strict },
        false => Below { left: right, right: left, is_signed, is_strict: !is_strict },
    }]
}

#[cfg(test)]
mod tests {
    use super::*;
    use parallax_program::Bits;

    /// All comparisons of three words and a number, and their complements.
    fn comparisons(terms: &mut Terms, words: &[Term]) -> Vec<Term> {
        use BinaryOp::{Eq, Sle, Slt, Ule, Ult};
        let mut all = Vec::new();
        for op in [Eq, Slt, Sle, Ult, Ule] {
            for left in words {
                for right in words.iter().filter(|right| *right != left) {
                    let is_so = terms.binary(op, *left, *right);
                    all.extend([is_so, terms.not(is_so)]);
                }
            }
        }
        all
    }

    /// What is found follows for all values of two bits, and is enough where bounds are compared.
    #[test]
    fn what_is_found_follows() {
        const WIDTH: u32 = 2;
        let mut terms = Terms::new();
        let words: Vec<Term> = (0..4).map(|_| terms.variable(WIDTH)).collect();
        let inputs: FxHashSet<Term> = words[2..].iter().copied().collect();
        let all = comparisons(&mut terms, &words);
        let mut next: u64 = 7;
        let (mut some, mut refuted) = (0, 0);
        for _ in 0..3000 {
            let mut chosen = || {
                next = next.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                all[(next >> 33) as usize % all.len()]
            };
            let conditions = [chosen(), chosen(), chosen()];
            let found = without_inputs(&mut terms, &conditions, &inputs);
            some += usize::from(!found.is_empty());
            refuted += usize::from(found.contains(&terms.falsity()));
            for values in 0..256u32 {
                let value = |term: Term| {
                    let number = words.iter().position(|it| *it == term).expect("a word");
                    Bits::new(WIDTH, u128::from(values >> (2 * number)))
                };
                let holds = |term: &Term| !terms.evaluate(*term, value).is_zero();
                assert!(!conditions.iter().all(holds) || found.iter().all(holds));
            }
        }
        assert!(some > 500 && refuted > 50, "{some} {refuted}");
    }

    #[test]
    fn an_input_between_two_words() {
        let mut terms = Terms::new();
        let [left, right, input] = [(); 3].map(|()| terms.variable(32));
        let above = terms.binary(BinaryOp::Slt, left, input);
        let below = terms.binary(BinaryOp::Slt, right, input);
        let below = terms.not(below);
        let both = terms.and(above, below);
        let expected = terms.binary(BinaryOp::Slt, left, right);
        let inputs = [input].into_iter().collect();
        assert_eq!(without_inputs(&mut terms, &[both], &inputs), vec![expected]);
    }
}
