//! Conditions as clauses, and the order of writes as a graph that a SAT solver keeps free of cycles.

use parallax_control::Control as Limits;
use parallax_solver::{Answer, Backend, Gates, Literal, Order, Solver};
use rustc_hash::FxHashMap;

use super::conditions::{Logic, Pairs};

pub struct Clauses<'m> {
    limits: Limits<'m>,
    solver: Box<dyn Solver>,
    gates: Gates,
    /// Whether a write comes before another one, the one with the smaller number first.
    first: FxHashMap<(usize, usize), Literal>,
}

impl<'m> Clauses<'m> {
    pub fn new(limits: Limits<'m>) -> Clauses<'m> {
        let solver = Backend::default().open(false);
        Clauses { limits, solver, gates: Gates::default(), first: FxHashMap::default() }
    }

    fn edge(&mut self, order: Order, (from, to): (usize, usize), when: Literal) {
        match from == to {
            true => self.solver.clause(&[!when]),
            false => self.solver.edge(order, from as u32, to as u32, when),
        }
    }
}

impl Logic for Clauses<'_> {
    type Truth = Literal;

    fn constant(is_true: bool) -> Literal {
        Literal::constant(is_true)
    }

    fn all(&mut self, of: &[Literal]) -> Literal {
        self.gates.and(of, self.solver.as_mut())
    }

    fn any(&mut self, of: &[Literal]) -> Literal {
        self.gates.or(of, self.solver.as_mut())
    }

    fn opposite(&mut self, of: Literal) -> Literal {
        !of
    }

    fn total_order(&mut self, writes: &[usize]) -> Pairs<Literal> {
        let order = self.solver.order(0);
        let mut pairs = Pairs::new();
        for (place, write) in writes.iter().enumerate() {
            for later in &writes[place + 1..] {
                let is_first = self.solver.literal();
                self.first.insert((*write, *later), is_first);
                for (pair, when) in [((*write, *later), is_first), ((*later, *write), !is_first)] {
                    self.edge(order, pair, when);
                    pairs.insert(pair, when);
                }
            }
        }
        pairs
    }

    fn require(&mut self, condition: Literal) {
        self.solver.clause(&[condition]);
    }

    fn acyclic(&mut self, events: usize, edges: &Pairs<Literal>) {
        let order = self.solver.order(events);
        edges.iter().for_each(|(pair, when)| self.edge(order, *pair, *when));
    }

    fn solve(&mut self) -> Option<bool> {
        match self.solver.solve(&[], &self.limits) {
            Answer::Satisfiable => Some(true),
            Answer::Unsatisfiable => Some(false),
            Answer::Stopped(_) => None,
        }
    }

    fn is_first(&self, write: usize, other: usize) -> bool {
        match self.first.get(&(write, other)) {
            Some(literal) => self.solver.value(*literal),
            None => self.first.get(&(other, write)).is_some_and(|it| !self.solver.value(*it)),
        }
    }
}
