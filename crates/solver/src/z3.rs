//! The second back end: Z3 (de Moura, Bjørner, «Z3: An efficient SMT solver», TACAS 2008).
//!
//! It is there to check the first one, so it shares as little as it can: orders are integers, one
//! for each node, and an edge says that one is less than the other. Every question is asked of a
//! new context, so that answers do not depend on what was asked before.

use z3::ast::{Bool, Int};
use z3::{Config, Context, SatResult};

use crate::watch::{Signal, watched};
use crate::{
    Answer, Arithmetic, Certificate, Comparison, Control, Edge, Integer, Literal, Order, Problem,
    Solver, Statistics, Uncertified,
};

/// Z3 with orders as integers.
#[derive(Default)]
pub struct Z3 {
    problem: Problem,
    edges: u64,
    model: Vec<bool>,
    numbers: Vec<Option<i128>>,
    failed: Vec<Literal>,
}

/// What a search found.
struct Found {
    answer: SatResult,
    model: Vec<bool>,
    numbers: Vec<Option<i128>>,
    failed: Vec<Literal>,
}

impl Found {
    fn nothing() -> Found {
        Found { answer: SatResult::Unknown, model: vec![], numbers: vec![], failed: vec![] }
    }
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

    fn integer(&mut self, arithmetic: Arithmetic) -> Option<Integer> {
        Some(self.problem.integer(arithmetic))
    }

    fn compare(&mut self, how: Comparison, left: Integer, right: Integer) -> Option<Literal> {
        Some(self.problem.compare(how, left, right))
    }

    fn number(&self, integer: Integer) -> Option<i128> {
        self.numbers.get(integer.index()).copied().flatten()
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
        self.numbers = found.numbers;
        self.failed = found.failed;
        match found.answer {
            SatResult::Sat => Answer::Satisfiable,
            SatResult::Unsat => Answer::Unsatisfiable,
            SatResult::Unknown => signal.answer(),
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
    let goes_on = |_: &u32| !signal.is_set();
    let variables = (0..problem.variables).take_while(goes_on).map(Bool::new_const);
    let variables: Vec<Bool> = variables.collect();
    if signal.is_set() {
        return Found::nothing();
    }
    let literal = |literal: Literal| {
        let variable = variables[literal.variable() as usize].clone();
        if literal.is_negated() { variable.not() } else { variable }
    };
    let solver = z3::Solver::new();
    solver.assert(literal(Literal::TRUE));
    for clause in problem.clauses.iter() {
        if signal.is_set() {
            return Found::nothing();
        }
        let clause: Vec<Bool> = clause.iter().map(|&member| literal(member)).collect();
        solver.assert(Bool::or(&clause));
    }
    for (number, graph) in problem.orders.iter().enumerate() {
        let name = |node: usize| format!("order-{number}-{node}");
        let clocks: Vec<Int> = (0..graph.nodes).map(|node| Int::new_const(name(node))).collect();
        for edge in &graph.edges {
            if signal.is_set() {
                return Found::nothing();
            }
            let before = clocks[edge.from as usize].lt(&clocks[edge.to as usize]);
            solver.assert(literal(edge.when).implies(before));
        }
    }
    let integers = integers(problem, &literal);
    for compared in &problem.comparisons {
        let [left, right] = [compared.left, compared.right].map(|side| &integers[side.index()]);
        let holds = match compared.comparison {
            Comparison::Equal => left.eq(right),
            Comparison::Less => left.lt(right),
        };
        solver.assert(literal(compared.literal).iff(holds));
    }
    let assumed: Vec<Bool> = assumptions.iter().map(|&member| literal(member)).collect();
    let answer = match signal.is_set() {
        true => SatResult::Unknown,
        false => solver.check_assumptions(&assumed),
    };
    let mut found = Found { answer, ..Found::nothing() };
    match answer {
        SatResult::Sat => match solver.get_model() {
            Some(model) => {
                let value =
                    |variable: &Bool| model.eval(variable, true).and_then(|value| value.as_bool());
                found.model = variables.iter().map(|v| value(v).unwrap_or(false)).collect();
                let number = |integer: &Int| {
                    let value = model.eval(integer, true)?;
                    value.as_i64().map(i128::from).or(value.as_u64().map(i128::from))
                };
                found.numbers = integers.iter().map(number).collect();
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
    // An interrupt may have cut short what was read of the answer.
    if signal.is_set() { Found::nothing() } else { found }
}

/// The integers of a problem, in order.
fn integers(problem: &Problem, literal: &dyn Fn(Literal) -> Bool) -> Vec<Int> {
    let mut all: Vec<Int> = Vec::with_capacity(problem.integers.len());
    for (number, arithmetic) in problem.integers.iter().enumerate() {
        let of = |integer: Integer| &all[integer.index()];
        let next = match *arithmetic {
            Arithmetic::Constant(value) => constant(value),
            Arithmetic::Variable => Int::new_const(format!("integer-{number}")),
            Arithmetic::Sum(a, b) => of(a) + of(b),
            Arithmetic::Difference(a, b) => of(a) - of(b),
            Arithmetic::Negation(a) => -of(a),
            Arithmetic::Choice(condition, a, b) => literal(condition).ite(of(a), of(b)),
        };
        all.push(next);
    }
    all
}

fn constant(value: i128) -> Int {
    match i64::try_from(value) {
        Ok(small) => Int::from_i64(small),
        // Its digits are always understood; if not, nothing is known of it.
        Err(_) => value.to_string().parse().unwrap_or_else(|_| Int::fresh_const("large")),
    }
}
