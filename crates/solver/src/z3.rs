//! The second back end: Z3 (de Moura, Bjørner, «Z3: An efficient SMT solver», TACAS 2008).
//!
//! It is there to check the first one, so it shares as little as it can: orders are integers, one
//! for each node, and an edge says that one is less than the other. Every question is asked of a
//! new context, so that answers do not depend on what was asked before.

use z3::ast::{Bool, Int};
use z3::{Config, Context, SatResult};

use crate::watch::{Signal, watched};
use crate::{
    Answer, Certificate, Control, Edge, Literal, Order, Problem, Solver, Statistics, Stop,
    Uncertified,
};

/// Z3 with orders as integers.
#[derive(Default)]
pub struct Z3 {
    problem: Problem,
    edges: u64,
    model: Vec<bool>,
    failed: Vec<Literal>,
}

/// What a search found.
struct Found {
    answer: SatResult,
    model: Vec<bool>,
    failed: Vec<Literal>,
}

impl Z3 {
    pub fn new() -> Z3 {
        Z3::default()
    }
}

impl Solver for Z3 {
    fn literal(&mut self) -> Literal {
        self.problem.literal()
    }

    fn clause(&mut self, literals: &[Literal]) {
        self.problem.clauses.push(literals);
    }

    fn order(&mut self, nodes: usize) -> Order {
        Order(self.problem.order(nodes) as u32)
    }

    fn edge(&mut self, order: Order, from: u32, to: u32, when: Literal) {
        self.edges += 1;
        self.problem.edge(order.index(), Edge { from, to, when });
    }

    fn solve(&mut self, assumptions: &[Literal], control: &Control) -> Answer {
        let signal = Signal::default();
        let problem = &self.problem;
        let found = z3::with_z3_config(&Config::new(), || {
            let context = Context::thread_local();
            let handle = context.handle();
            watched(
                control,
                &signal,
                || handle.interrupt(),
                || search(problem, assumptions, &signal),
            )
        });
        self.model = found.model;
        self.failed = found.failed;
        match found.answer {
            SatResult::Sat => Answer::Satisfiable,
            SatResult::Unsat => Answer::Unsatisfiable,
            SatResult::Unknown => Answer::Stopped(signal.reason().unwrap_or(Stop::Incomplete)),
        }
    }

    fn value(&self, literal: Literal) -> bool {
        let value = match literal.variable() {
            0 => true,
            variable => self.model.get(variable as usize).copied().unwrap_or(false),
        };
        value != literal.is_negated()
    }

    fn failed(&self, assumption: Literal) -> bool {
        self.failed.contains(&assumption)
    }

    fn statistics(&self) -> Statistics {
        Statistics {
            variables: u64::from(self.problem.variables) - 1,
            clauses: self.problem.clauses.len() as u64,
            edges: self.edges,
            ..Statistics::default()
        }
    }

    fn problem(&self) -> Option<&Problem> {
        Some(&self.problem)
    }

    fn certify(&self, _: &[Literal], _: &Control) -> Result<Certificate, Uncertified> {
        Err(Uncertified::NoProofs)
    }
}

/// In the context of this thread.
fn search(problem: &Problem, assumptions: &[Literal], signal: &Signal) -> Found {
    let variables: Vec<Bool> = (0..problem.variables).map(Bool::new_const).collect();
    let literal = |literal: Literal| {
        let variable = variables[literal.variable() as usize].clone();
        if literal.is_negated() { variable.not() } else { variable }
    };
    let solver = z3::Solver::new();
    solver.assert(literal(Literal::TRUE));
    for clause in problem.clauses.iter() {
        let clause: Vec<Bool> = clause.iter().map(|&member| literal(member)).collect();
        solver.assert(Bool::or(&clause));
    }
    for (number, graph) in problem.orders.iter().enumerate() {
        let name = |node: usize| format!("order-{number}-{node}");
        let clocks: Vec<Int> = (0..graph.nodes).map(|node| Int::new_const(name(node))).collect();
        for edge in &graph.edges {
            let before = clocks[edge.from as usize].lt(&clocks[edge.to as usize]);
            solver.assert(literal(edge.when).implies(before));
        }
    }
    let assumed: Vec<Bool> = assumptions.iter().map(|&member| literal(member)).collect();
    let answer = match signal.is_set() {
        true => SatResult::Unknown,
        false => solver.check_assumptions(&assumed),
    };
    let mut found = Found { answer, model: Vec::new(), failed: Vec::new() };
    match answer {
        SatResult::Sat => match solver.get_model() {
            Some(model) => {
                let value =
                    |variable: &Bool| model.eval(variable, true).and_then(|value| value.as_bool());
                found.model = variables.iter().map(|v| value(v).unwrap_or(false)).collect();
            }
            None => found.answer = SatResult::Unknown,
        },
        SatResult::Unsat => {
            let core = solver.get_unsat_core();
            let culprits = assumptions.iter().zip(&assumed);
            found.failed =
                culprits.filter(|(_, used)| core.contains(used)).map(|(&l, _)| l).collect();
        }
        SatResult::Unknown => {}
    }
    found
}
