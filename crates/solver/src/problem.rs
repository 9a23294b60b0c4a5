//! What was asked of a solver, as plain data: for export, for certificates, and for checks.

use crate::Literal;
use crate::integers::{Arithmetic, Compared, Comparison, Integer};

/// An edge of an order, present exactly where its literal is true.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Edge {
    pub from: u32,
    pub to: u32,
    pub when: Literal,
}

/// The edges of one order, with its number of nodes.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Graph {
    pub nodes: usize,
    pub edges: Vec<Edge>,
}

/// Clauses and orders. Variable 0 is true; there is no clause that says so.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    pub variables: u32,
    pub clauses: Clauses,
    pub orders: Vec<Graph>,
    /// Each is made of earlier ones.
    pub integers: Vec<Arithmetic>,
    pub comparisons: Vec<Compared>,
}

impl Default for Problem {
    fn default() -> Problem {
        Problem {
            variables: 1,
            clauses: Clauses::default(),
            orders: Vec::new(),
            integers: Vec::new(),
            comparisons: Vec::new(),
        }
    }
}

impl Problem {
    pub fn literal(&mut self) -> Literal {
        self.variables += 1;
        Literal::positive(self.variables - 1)
    }

    pub fn integer(&mut self, arithmetic: Arithmetic) -> Integer {
        self.integers.push(arithmetic);
        Integer(self.integers.len() as u32 - 1)
    }

    /// A literal for how two integers compare.
    pub fn compare(&mut self, comparison: Comparison, left: Integer, right: Integer) -> Literal {
        let literal = self.literal();
        self.comparisons.push(Compared { literal, comparison, left, right });
        literal
    }

    /// A new order, by its number.
    pub fn order(&mut self, nodes: usize) -> usize {
        self.orders.push(Graph { nodes, edges: Vec::new() });
        self.orders.len() - 1
    }

    /// Adds an edge, and the nodes that it names. An order that does not exist has no edges.
    pub fn edge(&mut self, order: usize, edge: Edge) {
        if let Some(graph) = self.orders.get_mut(order) {
            graph.nodes = graph.nodes.max(edge.from.max(edge.to) as usize + 1);
            graph.edges.push(edge);
        }
    }
}

/// Many clauses, one after the other in one piece of memory.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Clauses {
    literals: Vec<Literal>,
    ends: Vec<usize>,
}

impl Clauses {
    pub fn push(&mut self, clause: &[Literal]) {
        self.literals.extend_from_slice(clause);
        self.ends.push(self.literals.len());
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = &[Literal]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.literals[start..end])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clauses_come_back_as_they_went_in() {
        let mut problem = Problem::default();
        let (a, b) = (problem.literal(), problem.literal());
        problem.clauses.push(&[a, !b]);
        problem.clauses.push(&[]);
        problem.clauses.push(&[b]);
        let back: Vec<Vec<Literal>> = problem.clauses.iter().map(<[_]>::to_vec).collect();
        assert_eq!(back, [vec![a, !b], vec![], vec![b]]);
    }

    #[test]
    fn edges_bring_their_nodes() {
        let mut problem = Problem::default();
        let order = problem.order(2);
        problem.edge(order, Edge { from: 1, to: 4, when: Literal::TRUE });
        assert_eq!(problem.orders[0].nodes, 5);
    }
}
