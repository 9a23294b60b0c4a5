//! What holds whenever a thread begins another round of a loop, read off a complete graph for people.
//!
//! Each state of the graph in which a thread stands there says what it knows of the data. What all of them say is an
//! invariant of the loop; states that are covered are in others, so that they need not be asked.

use std::collections::BTreeMap;

use parallax_machine::Site;
use rustc_hash::FxHashSet;

use crate::block::Blocks;
use crate::control::At;
use crate::graph::{Graph, NodeId};
use crate::places::PlaceId;
use crate::state::Precision;
use crate::text;

/// Something that states know, so that it can be compared.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Fact {
    Value(PlaceId, u128),
    Literal(u32, bool),
}

/// The calls of a thread, as numbers.
type Calls = Vec<(u32, u32, u32)>;

/// For each thread and each loop where something holds: a line.
pub fn lines(blocks: &mut Blocks<'_>, graph: &Graph, precision: &Precision) -> Vec<String> {
    let mut known: BTreeMap<(u32, Calls), (Site, FxHashSet<Fact>)> = BTreeMap::new();
    for node in (0..graph.len() as u32).map(|id| graph.node(NodeId(id))) {
        if node.covered_by.is_some() {
            continue;
        }
        let values =
            node.state.values.iter().map(|(place, bits)| Fact::Value(*place, bits.unsigned()));
        let literals =
            node.state.literals.iter().map(|(number, holds)| Fact::Literal(*number, *holds));
        let facts: FxHashSet<Fact> = values.chain(literals).collect();
        for thread in node.control.running() {
            let Some(local) = node.control.thread(thread).filter(|it| it.at == At::Block) else {
                continue;
            };
            let Some(site) = local.stack.last().copied() else { continue };
            if !blocks.code.begins_round(site) {
                continue;
            }
            let order = local.stack.iter().map(|it| (it.function.0, it.block.0, it.index));
            let entry = known.entry((thread, order.collect()));
            let entry = entry.or_insert_with(|| (site, facts.clone()));
            entry.1.retain(|fact| facts.contains(fact));
        }
    }
    let mut lines = Vec::new();
    for ((thread, _), (site, facts)) in known {
        let mut facts: Vec<Fact> = facts.into_iter().collect();
        facts.sort_unstable();
        let facts: Vec<String> =
            facts.into_iter().map(|fact| fact.text(blocks, precision)).collect();
        if facts.is_empty() {
            continue;
        }
        let place = blocks.code.own_place([site]);
        let at = place.map_or_else(String::new, |place| format!(" at {place}"));
        lines.push(format!(
            "each round of the loop of T{thread}{at} begins with {}",
            facts.join("; ")
        ));
    }
    lines
}

impl Fact {
    fn text(self, blocks: &mut Blocks<'_>, precision: &Precision) -> String {
        match self {
            Fact::Value(place, value) => format!("{} == {value}", text::place(blocks, place)),
            Fact::Literal(number, holds) => {
                let term = precision.predicates[number as usize].term;
                let term = if holds { term } else { blocks.values.terms.not(term) };
                text::formula(blocks, term)
            }
        }
    }
}
