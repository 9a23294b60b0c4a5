//! What must hold for a way through a program to be taken: one-bit terms, all of which are true.
//!
//! The terms stay in the order in which the way made them conditions, so that two ways which part
//! at a branch and meet again have all but the last in common, and what holds of both is known
//! without looking into terms.

use parallax_solver::{Term, Terms};

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Guard {
    parts: Vec<Term>,
    /// All of it as one term; none for a guard that always holds.
    whole: Option<Term>,
}

impl Guard {
    /// False where the guard can never hold.
    #[must_use]
    pub fn require(&mut self, condition: Term, terms: &mut Terms) -> bool {
        match terms.as_constant(condition) {
            Some(bit) => !bit.is_zero(),
            None if self.parts.contains(&condition) => true,
            None if self.parts.contains(&terms.not(condition)) => false,
            None => {
                self.push(condition, terms);
                true
            }
        }
    }

    fn push(&mut self, condition: Term, terms: &mut Terms) {
        debug_assert_eq!(terms.width(condition), 1, "a condition is one bit");
        debug_assert_eq!(self.whole.is_none(), self.parts.is_empty(), "the whole has all parts");
        self.parts.push(condition);
        self.whole = Some(match self.whole {
            Some(whole) => terms.and(whole, condition),
            None => condition,
        });
    }

    fn of(parts: &[Term], terms: &mut Terms) -> Guard {
        let mut guard = Guard::default();
        parts.iter().for_each(|part| guard.push(*part, terms));
        guard
    }

    /// All of it as one term.
    pub fn term(&self, terms: &mut Terms) -> Term {
        self.whole.unwrap_or_else(|| terms.truth())
    }

    pub fn parts(&self) -> &[Term] {
        &self.parts
    }

    /// Whether this one holds wherever the other does, as far as can be seen.
    pub fn follows_from(&self, other: &Guard) -> bool {
        let common = self.common(other);
        self.parts[common..].iter().all(|part| other.parts.contains(part))
    }

    /// How many conditions two guards begin with that are the same.
    pub fn common(&self, other: &Guard) -> usize {
        self.parts.iter().zip(&other.parts).take_while(|(mine, other)| mine == other).count()
    }

    /// Whether the guards differ in nothing but which way they went last.
    pub fn are_two_arms(&self, other: &Guard, terms: &mut Terms) -> bool {
        let common = self.common(other);
        match (&self.parts[common..], &other.parts[common..]) {
            ([mine], [other]) => terms.not(*mine) == *other,
            _ => false,
        }
    }

    /// What holds where one of two guards does that exclude one another, and the condition that
    /// distinguishes the first from the second there.
    pub fn join(&self, other: &Guard, terms: &mut Terms) -> (Guard, Term) {
        let common = self.common(other);
        let rest =
            |guard: &Guard, terms: &mut Terms| Guard::of(&guard.parts[common..], terms).term(terms);
        let (first, second) = (rest(self, terms), rest(other, terms));
        let mut both = Guard::of(&self.parts[..common], terms);
        let either = terms.or(first, second);
        // Where it is no condition at all, the ways are the two arms of a branch.
        if terms.as_constant(either).is_none() {
            both.push(either, terms);
        }
        (both, first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arms_that_meet_leave_nothing_behind() {
        let mut terms = Terms::default();
        let (a, b) = (terms.variable(1), terms.variable(1));
        let not_b = terms.not(b);
        let mut first = Guard::default();
        assert!(first.require(a, &mut terms));
        let mut second = first.clone();
        let start = first.clone();
        assert!(first.require(b, &mut terms) && second.require(not_b, &mut terms));
        assert!(first.are_two_arms(&second, &mut terms));
        let (joined, which) = first.join(&second, &mut terms);
        assert_eq!((joined, which), (start.clone(), b));
        assert!(start.follows_from(&first) && !first.follows_from(&start));
        assert!(!first.require(not_b, &mut terms));
    }
}
