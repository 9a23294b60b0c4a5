//! Random problems, and what their answers are by trying everything.

use parallax_solver::{Edge, Literal, Order, Problem, Solver};
use proptest::prelude::*;

/// One thing that is done to a solver. Numbers pick among what there is.
#[derive(Clone, Debug)]
pub enum Step {
    Variable,
    Clause(Vec<u32>),
    Order(usize),
    Edge(u32, u32, u32, u32),
    Solve(Vec<u32>),
}

pub fn steps(most: usize) -> impl Strategy<Value = Vec<Step>> {
    let picks = prop_oneof![
        1 => prop::collection::vec(any::<u32>(), 1..3),
        6 => prop::collection::vec(any::<u32>(), 2..4),
    ];
    let step = prop_oneof![
        2 => Just(Step::Variable),
        9 => picks.prop_map(Step::Clause),
        1 => (2usize..6).prop_map(Step::Order),
        14 => (any::<u32>(), any::<u32>(), any::<u32>(), any::<u32>())
            .prop_map(|(order, from, to, when)| Step::Edge(order, from, to, when)),
        2 => prop::collection::vec(any::<u32>(), 0..3).prop_map(Step::Solve),
    ];
    prop::collection::vec(step, 10..most)
}

const MOST_VARIABLES: u32 = 10;

/// Does the steps to a solver, and calls `judge` each time that it is asked to solve.
pub fn run(
    steps: &[Step],
    solver: &mut dyn Solver,
    mut judge: impl FnMut(&mut dyn Solver, &Problem, &[Literal]),
) {
    let mut problem = Problem::default();
    let mut orders: Vec<(Order, u32)> = Vec::new();
    for _ in 0..4 {
        problem.literal();
        solver.literal();
    }
    let start = solver.order(5);
    problem.order(5);
    orders.push((start, 5));
    for step in steps.iter().chain([&Step::Solve(Vec::new())]) {
        let variables = problem.variables;
        let literal = |number: u32| {
            // Constants are rare.
            let variable =
                if number.is_multiple_of(97) { 0 } else { 1 + number / 2 % (variables - 1) };
            let literal = Literal::positive(variable);
            if number.is_multiple_of(2) { literal } else { !literal }
        };
        match step {
            Step::Variable if variables <= MOST_VARIABLES => {
                assert_eq!(solver.literal(), problem.literal());
            }
            Step::Variable => {}
            Step::Clause(numbers) => {
                let clause: Vec<Literal> = numbers.iter().map(|&number| literal(number)).collect();
                solver.clause(&clause);
                problem.clauses.push(&clause);
            }
            Step::Order(nodes) => {
                orders.push((solver.order(*nodes), *nodes as u32));
                problem.order(*nodes);
            }
            &Step::Edge(order, from, to, when) => {
                let (order, nodes) = orders[order as usize % orders.len()];
                // Now and then a node that the order did not have before.
                let nodes = if from % 13 == 0 { nodes + 1 } else { nodes };
                let (from, to, when) = (from % nodes, to % nodes, literal(when));
                if from == to && to % 7 != 0 {
                    continue;
                }
                solver.edge(order, from, to, when);
                problem.edge(order.index(), Edge { from, to, when });
            }
            Step::Solve(numbers) => {
                let assumed: Vec<Literal> = numbers.iter().map(|&number| literal(number)).collect();
                judge(solver, &problem, &assumed);
            }
        }
    }
}

/// Whether an assignment is a model: all clauses, all assumptions, no cycle.
pub fn is_model(problem: &Problem, assumed: &[Literal], value: impl Fn(Literal) -> bool) -> bool {
    assumed.iter().all(|&literal| value(literal))
        && problem.clauses.iter().all(|clause| clause.iter().any(|&literal| value(literal)))
        && problem.orders.iter().all(|graph| {
            let present = graph.edges.iter().filter(|edge| value(edge.when));
            let mut edges: Vec<&Edge> = present.collect();
            // Edges into nodes that nothing leaves are on no cycle.
            loop {
                let leaving: Vec<u32> = edges.iter().map(|edge| edge.from).collect();
                let before = edges.len();
                edges.retain(|edge| leaving.contains(&edge.to));
                if edges.len() == before {
                    return edges.is_empty();
                }
            }
        })
}

pub fn has_model(problem: &Problem, assumed: &[Literal]) -> bool {
    (0u32..1 << (problem.variables - 1)).any(|assignment| {
        is_model(problem, assumed, |literal| {
            let values = assignment << 1 | 1;
            (values >> literal.variable() & 1 == 1) != literal.is_negated()
        })
    })
}
