//! Any certificate is refused, or its problem has no model: over few variables, all assignments are
//! tried.

#![no_main]

use libfuzzer_sys::fuzz_target;
use parallax_solver::{Certificate, Edge, Lemma, Literal, Problem, Step, check};

/// Variables besides the one that is true.
const VARIABLES: u32 = 5;
const NODES: u8 = 4;

fuzz_target!(|bytes: &[u8]| {
    let certificate = certificate(&mut bytes.iter().copied());
    if check(&certificate).is_ok() {
        assert!(!has_model(&certificate), "{certificate:?}");
    }
});

/// Literals of variables that are there, and rarely of others.
fn literal(byte: u8) -> Literal {
    let literal = Literal::positive(u32::from(byte / 2) % (VARIABLES + 2));
    if byte % 2 == 1 { !literal } else { literal }
}

fn certificate(bytes: &mut impl Iterator<Item = u8>) -> Certificate {
    let mut problem = Problem { variables: 1 + VARIABLES, ..Problem::default() };
    let order = problem.order(usize::from(NODES));
    let mut made =
        Certificate { problem, assumptions: Vec::new(), lemmas: Vec::new(), proof: Vec::new() };
    while let Some(byte) = bytes.next() {
        let count = usize::from(byte / 8 % 4);
        match byte % 8 {
            0..=2 => {
                let clause: Vec<Literal> = bytes.by_ref().take(count).map(literal).collect();
                made.problem.clauses.push(&clause);
            }
            3 => {
                let mut node = || u32::from(bytes.next().unwrap_or(0) % NODES);
                let (from, to) = (node(), node());
                let when = literal(bytes.next().unwrap_or(0) % (2 * VARIABLES as u8 + 2));
                made.problem.edge(order, Edge { from, to, when });
            }
            4 => made.assumptions.extend(bytes.next().map(literal)),
            5 => {
                let cycle = bytes.by_ref().take(count).map(u32::from).collect();
                made.lemmas.push(Lemma { order: u32::from(byte / 128), cycle });
            }
            _ => {
                let clause = bytes.by_ref().take(count / 2).map(literal).collect();
                let reasons = bytes.by_ref().take(count + 1).map(u64::from).collect();
                made.proof.push(Step { clause, reasons });
            }
        }
    }
    made
}

/// Whether some assignment makes all clauses and assumptions true, and leaves the order acyclic.
fn has_model(certificate: &Certificate) -> bool {
    let Certificate { problem, assumptions, .. } = certificate;
    (0..1u32 << VARIABLES).any(|bits| {
        let holds = |literal: &Literal| {
            let value = match literal.variable() {
                0 => true,
                variable if variable <= VARIABLES => bits >> (variable - 1) & 1 == 1,
                _ => return false,
            };
            value != literal.is_negated()
        };
        problem.clauses.iter().all(|clause| clause.iter().any(holds))
            && assumptions.iter().all(holds)
            && problem.orders.iter().all(|graph| {
                let present = graph.edges.iter().filter(|edge| holds(&edge.when));
                is_acyclic(present.map(|edge| (edge.from, edge.to)).collect())
            })
    })
}

/// Takes away edges that lead to nodes without a way on, until nothing changes.
fn is_acyclic(mut edges: Vec<(u32, u32)>) -> bool {
    loop {
        let before = edges.len();
        let starts: Vec<u32> = edges.iter().map(|(from, _)| *from).collect();
        edges.retain(|(_, to)| starts.contains(to));
        if edges.is_empty() || edges.len() == before {
            return edges.is_empty();
        }
    }
}
