//! What every back end offers: clauses, graphs that must stay acyclic, and answers.

use parallax_control::Control;

use crate::{
    Arithmetic, Cadical, Certificate, Comparison, Integer, Literal, Problem, Uncertified, Z3,
};

/// A graph whose present edges never form a cycle.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Order(pub(crate) u32);

impl Order {
    /// Orders are numbered in the order in which they were made.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    Satisfiable,
    Unsatisfiable,
    Stopped(Stop),
}

/// Why there is no answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    Outside(parallax_control::Stop),
    /// The solver gave up, or failed a check of its own answer.
    Incomplete,
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Statistics {
    pub variables: u64,
    pub clauses: u64,
    pub edges: u64,
    /// Cycles that were turned into clauses.
    pub lemmas: u64,
    /// Edges that were found to be impossible before they were tried.
    pub propagations: u64,
    /// Clauses that the search learned.
    pub conflicts: u64,
}

/// The solvers there are.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Backend {
    #[default]
    Cadical,
    Z3,
}

impl Backend {
    /// A solver without a problem. Where `recording`, it keeps its problem and can certify its
    /// answers, as far as it can do that at all.
    pub fn open(self, recording: bool) -> Box<dyn Solver> {
        match self {
            Backend::Cadical if recording => Box::new(Cadical::recording()),
            Backend::Cadical => Box::new(Cadical::new()),
            Backend::Z3 => Box::new(Z3::new()),
        }
    }
}

/// A satisfiability problem that grows, and its answers. The same calls give the same answers and
/// the same models.
pub trait Solver {
    /// A new variable.
    fn literal(&mut self) -> Literal;

    /// At least one of these is true.
    fn clause(&mut self, literals: &[Literal]);

    /// A new graph. Nodes that edges name later are added by themselves.
    fn order(&mut self, nodes: usize) -> Order;

    /// An edge that is present exactly where the literal is true. Several edges may share a literal.
    /// Reasons for an edge between the same two nodes should be one literal, their disjunction: each
    /// combination of reasons along a cycle is otherwise another cycle to learn.
    fn edge(&mut self, order: Order, from: u32, to: u32, when: Literal);

    /// An integer, if the solver knows integers.
    fn integer(&mut self, _arithmetic: Arithmetic) -> Option<Integer> {
        None
    }

    /// Whether two integers compare so, if the solver knows integers.
    fn compare(&mut self, _: Comparison, _left: Integer, _right: Integer) -> Option<Literal> {
        None
    }

    /// The value of an integer in the last model, if it has one that can be read.
    fn number(&self, _integer: Integer) -> Option<i128> {
        None
    }

    /// Looks for a model in which the assumptions are true too.
    fn solve(&mut self, assumptions: &[Literal], control: &Control) -> Answer;

    /// The value in the last model. Without one, false (and true for `Literal::TRUE`).
    fn value(&self, literal: Literal) -> bool;

    /// After `Unsatisfiable`: whether that assumption was needed for it.
    fn failed(&self, assumption: Literal) -> bool;

    fn statistics(&self) -> Statistics;

    /// All that was asked of the solver, where it keeps it.
    fn problem(&self) -> Option<&Problem>;

    /// After `Unsatisfiable` under these assumptions: a certificate of it, by another search.
    fn certify(
        &self,
        assumptions: &[Literal],
        control: &Control,
    ) -> Result<Certificate, Uncertified>;
}
