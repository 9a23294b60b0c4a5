//! Orders as CaDiCaL sees them: a propagator, as Fazekas, Niemetz, Preiner, Kirchweger, Szeider and
//! Biere describe it in «IPASIR-UP: User Propagators for CDCL», SAT 2023.
//!
//! Nothing here decides anything; it only translates. A model is looked at once more as a whole
//! before it is accepted, without what the theory remembers of the search.

use pindakaas::Lit;
use pindakaas::solver::propagation::{
    ClauseBuilder, ClausePersistence, Propagator, PropagatorConfig, Solution, SolvingActions,
};

use super::{cooked, raw};
use crate::Literal;
use crate::order::Theory;

#[derive(Default)]
pub(super) struct OrderPropagator {
    pub theory: Theory,
    /// A clause that a finished model contradicts.
    refutation: Option<Vec<Literal>>,
    model: Vec<bool>,
}

impl Propagator for OrderPropagator {
    fn notify_assignment(&mut self, lits: &[Lit]) {
        for &lit in lits {
            self.theory.assign(cooked(lit));
        }
    }

    fn notify_new_decision_level(&mut self) {
        self.theory.new_level();
    }

    fn notify_backtrack(&mut self, new_level: usize, _restart: bool) {
        self.theory.backtrack(new_level);
    }

    fn propagate(&mut self, _: &mut dyn SolvingActions) -> Option<Lit> {
        self.theory.propagate().map(raw)
    }

    fn explain_propagation(&mut self, propagated: Lit, mut clause: ClauseBuilder<'_>) {
        clause.extend(self.theory.explain(cooked(propagated)).into_iter().map(raw));
    }

    fn provide_clause(
        &mut self,
        _: &mut dyn SolvingActions,
        mut clause: ClauseBuilder<'_>,
    ) -> Option<ClausePersistence> {
        let refuted = self.refutation.take().or_else(|| self.theory.conflict())?;
        clause.extend(refuted.into_iter().map(raw));
        Some(ClausePersistence::Forgettable)
    }

    fn check_solution(&mut self, _: &mut dyn SolvingActions, solution: Solution<'_>) -> bool {
        self.model.clear();
        for &lit in solution.literals() {
            let literal = cooked(lit);
            let variable = literal.variable() as usize;
            if self.model.len() <= variable {
                self.model.resize(variable + 1, false);
            }
            self.model[variable] = !literal.is_negated();
        }
        let model = &self.model;
        let holds = |literal: Literal| match literal.variable() {
            0 => !literal.is_negated(),
            variable => {
                let value = model.get(variable as usize).copied().unwrap_or(false);
                value != literal.is_negated()
            }
        };
        self.refutation = self.theory.check(holds);
        self.refutation.is_none()
    }
}

impl PropagatorConfig for OrderPropagator {
    const REASON_PERSISTENCE: ClausePersistence = ClausePersistence::Forgettable;
}
