//! Addresses that inputs decide.
//!
//! An input may have any value, so an address that is computed from one may be anything, unless the
//! program has looked at the input before: an access that comes after `assume(i < 4)` goes to four
//! places. Conditions are terms like any others, so a solver is asked for the addresses under which
//! the access is reached, one after the other. What reads find is left open, so there are rather
//! too many of them than too few.

use rustc_hash::{FxHashMap, FxHashSet};

use parallax_solver::{Answer, Backend, Blaster, Literal, Node, Solver, Term};

use super::{Analysis, Possible, limited};

/// A term that is used as an address, and when.
#[derive(Clone, Copy, Debug)]
pub struct Use {
    pub address: Term,
    pub guard: Term,
}

/// So many addresses are asked for.
const MOST_ASKED: usize = 64;

/// Wider variables do not have few values.
const NARROW: u32 = 6;

/// A solver that is asked for values of terms.
struct Questions {
    solver: Box<dyn Solver>,
    blaster: Blaster,
}

impl Analysis<'_> {
    /// The addresses of uses that inputs decide. A term may be used several times.
    pub(super) fn addresses_by_inputs(&self, uses: &[Use]) -> FxHashMap<Term, Possible> {
        let mut questions = None;
        let mut found: FxHashMap<Term, Possible> = FxHashMap::default();
        for using in uses {
            let is_lost = found.get(&using.address) == Some(&None);
            if is_lost || self.watch.is_over() || !self.comes_from_input(using.address) {
                continue;
            }
            let questions = questions.get_or_insert_with(|| Questions {
                solver: Backend::Cadical.open(false),
                blaster: Blaster::new().within(self.watch.control()),
            });
            let new = questions.values(self, using);
            let known = found.entry(using.address).or_insert_with(|| Some(Vec::new()));
            *known = known.take().zip(new).and_then(|(known, new)| limited([known, new].concat()));
        }
        found
    }

    /// Whether a term has an input of many values in it.
    fn comes_from_input(&self, term: Term) -> bool {
        let (mut left, mut seen) = (vec![term], FxHashSet::default());
        while let Some(term) = left.pop() {
            if !seen.insert(term) {
                continue;
            }
            let node = self.terms.node(term);
            let is_variable = matches!(node, Node::Variable { .. });
            let is_wide = self.terms.width(term) > NARROW;
            if is_variable && is_wide && self.reads.event(term).is_none() {
                return true;
            }
            self.terms.operands(&node, |operand| left.push(operand));
        }
        false
    }
}

impl Questions {
    fn values(&mut self, analysis: &Analysis<'_>, using: &Use) -> Possible {
        let Questions { solver, blaster } = self;
        let terms = analysis.terms;
        let guard = blaster.literal_of(terms, using.guard, &mut **solver);
        let bits = blaster.bits_of(terms, using.address, &mut **solver).to_vec();
        // Values are ruled out for this question only.
        let asked = solver.literal();
        let mut values = Vec::new();
        loop {
            match solver.solve(&[guard, asked], analysis.watch.control()) {
                Answer::Unsatisfiable => return Some(values),
                Answer::Stopped(_) => return None,
                Answer::Satisfiable if values.len() >= MOST_ASKED => return None,
                Answer::Satisfiable => {}
            }
            values.push(blaster.value(terms, using.address, &**solver).unsigned());
            let other = bits.iter().map(|bit| if solver.value(*bit) { !*bit } else { *bit });
            let other: Vec<Literal> = other.chain([!asked]).collect();
            if !other.contains(&Literal::TRUE) {
                solver.clause(&other);
            }
        }
    }
}
