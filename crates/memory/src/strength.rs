//! What the axioms of a model surely imply, so that searches may rely on it from the start.
//!
//! *Coherence* is `acyclic po-loc | rf | co | fr`. With `co` total on each location it is the
//! same as the five facts that `po-loc; x` is irreflexive for each `x` of `rf`, `co`, `fr`,
//! `co; rf` and `fr; rf` (Alglave, Maranget, Tautschnig: "Herding Cats", TOPLAS 2014), so the
//! facts may come from several axioms. *Atomicity* is `empty rmw & (fre; coe)` for the pairs
//! that the thread itself does not write in between.
//!
//! For each relation the analysis finds some of the basic ones that it surely includes. It
//! errs only by finding too few.

use crate::graph::{Graph, Node, NodeId};
use crate::symbolic::NotedTest;
use crate::syntax::ast::{Role, TestKind};

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Strength {
    pub coherence: bool,
    pub atomicity: bool,
    /// Some axiom says that `co` has no cycle. Coherence does not: it is about total orders.
    pub order: bool,
}

/// A set of basic relations that some relation includes.
type Includes = u16;

const PO_LOC: Includes = 1;
const RFI: Includes = 1 << 1;
const RFE: Includes = 1 << 2;
const COI: Includes = 1 << 3;
const COE: Includes = 1 << 4;
const FRI: Includes = 1 << 5;
const FRE: Includes = 1 << 6;
/// `co; rf`
const CO_RF: Includes = 1 << 7;
/// `fr; rf`
const FR_RF: Includes = 1 << 8;
const ID: Includes = 1 << 9;
const RMW: Includes = 1 << 10 | CLOSE_RMW;
/// `rf^-1`
const RF_INVERSE: Includes = 1 << 11;
/// `rmw` without the pairs that the thread writes the location in between of.
const CLOSE_RMW: Includes = 1 << 12;

const RF: Includes = RFI | RFE;
const CO: Includes = COI | COE;
const FR: Includes = FRI | FRE;
const INTERNAL: Includes = PO_LOC | RFI | COI | FRI | RMW;
const EXTERNAL: Includes = RFE | COE | FRE;
const SAME_LOCATION: Includes = PO_LOC | RF | CO | FR | CO_RF | FR_RF | ID | RMW | RF_INVERSE;
/// The relations that are irreflexive by nature.
const STRICT: Includes = PO_LOC | RF | CO | FR | CO_RF | RMW | RF_INVERSE;

/// What can follow `po-loc` on a forbidden cycle of two steps.
const AFTER_PO_LOC: [Includes; 5] = [RF, CO, FR, CO_RF, FR_RF];

/// For sets: whether they include all reads, all writes.
const READS: Includes = 1;
const WRITES: Includes = 2;

impl Strength {
    pub fn of(graph: &Graph, tests: &[NotedTest]) -> Strength {
        let includes = includes(graph);
        let includes = |id: NodeId| includes[id.index()];
        let mut covered = [false; AFTER_PO_LOC.len()];
        let mut strength = Strength::default();
        for test in tests {
            let (Role::Axiom, false, Some(subject)) = (test.role, test.negated, test.subject)
            else {
                continue;
            };
            match test.kind {
                TestKind::Acyclic => {
                    strength.order |= has(includes(subject), CO);
                    let all = has(includes(subject), PO_LOC | RF | CO | FR);
                    covered = covered.map(|before| before || all);
                }
                TestKind::Irreflexive => {
                    for part in graph.union_parts(subject) {
                        cover(graph, part, &includes, &mut covered);
                    }
                }
                TestKind::Empty => {
                    let mut parts = graph.union_parts(subject).into_iter();
                    strength.atomicity |= parts.any(|part| is_atomicity(graph, part, &includes));
                }
            }
        }
        strength.coherence = covered.iter().all(|fact| *fact);
        strength
    }
}

fn has(all: Includes, wanted: Includes) -> bool {
    all & wanted == wanted
}

/// Notes which facts `irreflexive part` gives.
fn cover(
    graph: &Graph,
    part: NodeId,
    includes: &impl Fn(NodeId) -> Includes,
    covered: &mut [bool; AFTER_PO_LOC.len()],
) {
    if let Node::Plus(inner) = graph.node(part)
        && has(includes(*inner), PO_LOC | RF | CO | FR)
    {
        *covered = [true; AFTER_PO_LOC.len()];
        return;
    }
    let factors = factors(graph, part, includes);
    // A cycle can be entered anywhere: all rotations say the same.
    for start in 0..factors.len() {
        let (head, rest) = (factors[start], [&factors[start + 1..], &factors[..start]].concat());
        if !has(head, PO_LOC) {
            continue;
        }
        let tail = rest.into_iter().reduce(compose).unwrap_or(ID);
        for (fact, after) in covered.iter_mut().zip(AFTER_PO_LOC) {
            *fact |= has(tail, after);
        }
    }
}

fn is_atomicity(graph: &Graph, part: NodeId, includes: &impl Fn(NodeId) -> Includes) -> bool {
    let Node::Intersection(a, b) = graph.node(part) else {
        return false;
    };
    [(*a, *b), (*b, *a)].into_iter().any(|(rmw, between)| {
        let factors = factors(graph, between, includes);
        let all = |part: &[Includes]| part.iter().copied().reduce(compose).unwrap_or(0);
        has(includes(rmw), CLOSE_RMW)
            && (1..factors.len()).any(|middle| {
                let (first, second) = factors.split_at(middle);
                has(all(first), FRE) && has(all(second), COE)
            })
    })
}

/// Whether a relation has only pairs with a write of the same thread and location in between:
/// `po-loc; [W]; po-loc`.
fn is_write_between(graph: &Graph, relation: NodeId) -> bool {
    let input = |id: NodeId, wanted: &str| match graph.node(id) {
        Node::SetInput(input) | Node::RelationInput(input) => {
            graph.inputs[*input as usize].name == wanted
        }
        _ => false,
    };
    let po_loc = |id: NodeId| match graph.node(id) {
        Node::Intersection(a, b) => {
            input(*a, "po") && input(*b, "loc") || input(*a, "loc") && input(*b, "po")
        }
        _ => false,
    };
    let Node::Sequence(first, second) = graph.node(relation) else {
        return false;
    };
    match (graph.node(*first), graph.node(*second)) {
        (Node::EndingIn(before, set), _) => input(*set, "W") && po_loc(*before) && po_loc(*second),
        (_, Node::StartingIn(set, after)) => input(*set, "W") && po_loc(*first) && po_loc(*after),
        _ => false,
    }
}

/// What the factors of a sequence include, from left to right.
fn factors(
    graph: &Graph,
    sequence: NodeId,
    includes: &impl Fn(NodeId) -> Includes,
) -> Vec<Includes> {
    let mut found = Vec::new();
    let mut left = vec![sequence];
    while let Some(id) = left.pop() {
        match graph.node(id) {
            Node::Sequence(a, b) => left.extend([*b, *a]),
            _ => found.push(includes(id)),
        }
    }
    found
}

fn includes(graph: &Graph) -> Vec<Includes> {
    let mut found: Vec<Includes> = Vec::with_capacity(graph.nodes.len());
    for node in &graph.nodes {
        let of = |id: &NodeId| found[id.index()];
        let these = match node {
            Node::AllEvents => READS | WRITES,
            Node::SetInput(input) => match graph.inputs[*input as usize].name.as_str() {
                "R" => READS,
                "W" => WRITES,
                "M" => READS | WRITES,
                _ => 0,
            },
            Node::RelationInput(input) => match graph.inputs[*input as usize].name.as_str() {
                "po" => PO_LOC | RMW,
                "rf" => RF,
                "co" => CO,
                "loc" => SAME_LOCATION,
                "int" => INTERNAL,
                "ext" => EXTERNAL,
                "rmw" => RMW,
                _ => 0,
            },
            Node::SetUnion(parts) | Node::Union(parts) => {
                parts.iter().fold(0, |all, part| all | of(part))
            }
            Node::SetIntersection(a, b) | Node::Intersection(a, b) => of(a) & of(b),
            Node::Identity(set) if has(of(set), READS | WRITES) => ID,
            Node::Product(from, to) => selected_from(selected_to(!0, of(to)), of(from)) & !ID,
            // `r \ id` loses nothing that is irreflexive anyhow.
            Node::Difference(a, b) if matches!(graph.node(*b), Node::Identity(_)) => of(a) & STRICT,
            Node::Difference(a, b) if is_write_between(graph, *b) => of(a) & CLOSE_RMW,
            Node::Sequence(a, b) => compose(of(a), of(b)),
            Node::Inverse(a) if has(of(a), RF) => RF_INVERSE,
            Node::Plus(a) => {
                let step = of(a);
                step | compose(step, step)
            }
            Node::StartingIn(set, a) => selected_from(of(a), of(set)),
            Node::EndingIn(a, set) => selected_to(of(a), of(set)),
            _ => 0,
        };
        found.push(these);
    }
    found
}

fn compose(a: Includes, b: Includes) -> Includes {
    let mut all = 0;
    if has(a, ID) {
        all |= b;
    }
    if has(b, ID) {
        all |= a;
    }
    if has(a, CO) && has(b, RF) {
        all |= CO_RF;
    }
    if has(a, FR) && has(b, RF) {
        all |= FR_RF;
    }
    if has(a, RF_INVERSE) && has(b, CO) {
        all |= FR;
    }
    if has(a, RF_INVERSE) && has(b, CO_RF) {
        all |= FR_RF;
    }
    all
}

/// What is left of the includes when only pairs from a set are taken.
fn selected_from(all: Includes, set: Includes) -> Includes {
    let mut left = 0;
    if has(set, WRITES) {
        left |= RF | CO | CO_RF;
    }
    if has(set, READS) {
        left |= FR | FR_RF | RF_INVERSE | RMW;
    }
    if has(set, READS | WRITES) {
        left |= PO_LOC | ID;
    }
    all & left
}

/// What is left of the includes when only pairs into a set are taken.
fn selected_to(all: Includes, set: Includes) -> Includes {
    let mut left = 0;
    if has(set, WRITES) {
        left |= CO | FR | RF_INVERSE | RMW;
    }
    if has(set, READS) {
        left |= RF | CO_RF | FR_RF;
    }
    if has(set, READS | WRITES) {
        left |= PO_LOC | ID;
    }
    all & left
}
