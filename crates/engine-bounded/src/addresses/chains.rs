//! Rules that feed one another, followed as far as an execution can follow them.
//!
//! Where no value comes from itself, the value of a read is computed through a chain of other
//! reads, in which none comes twice. So of rules that depend on one another, as many rounds as
//! there are reads among them find all values that there can be.

use std::collections::BTreeSet;

use parallax_solver::{Node, Term};
use rustc_hash::FxHashMap;

use super::{Analysis, Possible};
use crate::components::components;

/// What was found once helps to find more the next time, but not for ever.
const MOST_REFINEMENTS: usize = 4;

impl Analysis<'_> {
    /// Finds more precise sets, where some were given up.
    pub(super) fn refine(&mut self) {
        for _ in 0..MOST_REFINEMENTS {
            let lost = self.lost();
            if lost == 0 {
                return;
            }
            let order = self.components();
            self.conditions = self.decisions();
            let empty = |term: &Term| (*term, Some(Vec::new()));
            self.values = self.cone.iter().map(empty).collect();
            for component in order {
                self.follow(&component);
            }
            if self.lost() == lost {
                return;
            }
        }
    }

    /// How many sets were given up.
    fn lost(&self) -> usize {
        self.values.values().filter(|values| values.is_none()).count()
    }

    /// What the conditions of choices can be.
    fn decisions(&self) -> FxHashMap<Term, Possible> {
        let conditions = self.cone.iter().filter_map(|term| match self.terms.node(*term) {
            Node::Select { condition, .. } => Some(condition),
            _ => None,
        });
        conditions.map(|condition| (condition, self.of(condition).clone())).collect()
    }

    /// Terms that feed one another, each such set after those that it needs.
    fn components(&self) -> Vec<Vec<Term>> {
        let place = |term: &Term| self.cone.binary_search(term).ok().map(|at| at as u32);
        let mut needs: Vec<Vec<u32>> = Vec::with_capacity(self.cone.len());
        for term in &self.cone {
            let mut all: BTreeSet<u32> = BTreeSet::new();
            let mut add = |term: Term| all.extend(place(&term));
            match (self.reads.event(*term), self.terms.node(*term)) {
                (Some(read), _) => {
                    add(self.events[read].address);
                    for write in self.reads.candidates(self.events, read) {
                        if self.may_read(read, write) {
                            add(self.events[write].address);
                            self.events[write].kind.value().into_iter().for_each(&mut add);
                        }
                    }
                }
                (None, Node::Select { then, otherwise, .. }) => {
                    add(then);
                    add(otherwise);
                }
                (None, node) => self.terms.operands(&node, add),
            }
            needs.push(all.into_iter().collect());
        }
        let all: Vec<u32> = (0..self.cone.len() as u32).collect();
        let found = components(&needs, &all, &all).into_iter();
        let terms = found.map(|component| {
            let mut terms: Vec<Term> = component.iter().map(|at| self.cone[*at as usize]).collect();
            terms.sort_unstable();
            terms
        });
        terms.collect()
    }

    /// Finds the values of terms that feed one another.
    fn follow(&mut self, component: &[Term]) {
        let (reads, others): (Vec<Term>, Vec<Term>) =
            component.iter().partition(|term| self.reads.event(**term).is_some());
        for _ in 0..reads.len().max(1) {
            // All reads see what was written before this round.
            let found: Vec<(Term, Possible)> =
                reads.iter().map(|term| (*term, self.evaluate(*term))).collect();
            let mut changed = false;
            for (term, new) in found {
                changed |= self.change(term, new);
            }
            for term in &others {
                let new = self.evaluate(*term);
                changed |= self.change(*term, new);
            }
            if !changed || self.watch.is_over() {
                return;
            }
        }
    }

    fn change(&mut self, term: Term, new: Possible) -> bool {
        let changed = self.of(term) != &new;
        self.values.insert(term, new);
        changed
    }
}
