//! Without a reduction, in any order: breadth first, depth first, or what is nearest to a failure first.

use std::collections::VecDeque;

use parallax_program::InstKind;
use parallax_solver::Term;

use super::{Round, Search};
use crate::block::{Blocks, Halt};
use crate::control::Control;
use crate::graph::{Fate, NodeId};
use crate::options::Order;

impl Search<'_, '_, '_> {
    /// Without a reduction, in any order.
    pub(super) fn listed(&mut self, roots: Vec<NodeId>, order: Order) -> Result<Round, Halt> {
        let mut open: VecDeque<NodeId> = roots.into();
        let distances = Distances::of(self.blocks);
        while let Some(node) = self.take(&mut open, order, &distances) {
            let control = self.graph.node(node).control.clone();
            let mut goes = false;
            let mut expanded = Vec::new();
            for thread in control.turns() {
                let edges = self.edges(node, thread)?;
                let mut held = std::mem::take(&mut self.blocks.held);
                let has_read_loosely = self.blocks.has_read_loosely;
                let is_stuck = edges.is_empty();
                expanded.push(thread);
                for edge in edges {
                    if self.passed.contains(&edge.ending) {
                        held.push(edge.guard.clone());
                    }
                    let states = match self.follow(node, &edge)? {
                        Ok(states) => states,
                        Err(round) => return Ok(round),
                    };
                    goes |= !states.is_empty();
                    for state in states {
                        let parent = Some((node, edge.clone()));
                        if let (id, None) = self.graph.add(&edge.control, state, parent) {
                            open.push_back(id);
                        }
                    }
                }
                if control.execution.is_some()
                    && !is_stuck
                    && self.is_enough(node, (thread, has_read_loosely), &held)?
                {
                    break;
                }
            }
            self.graph.expand(node, expanded, Fate::of(&control, goes));
        }
        Ok(Round::Complete)
    }

    /// Whether the steps of one thread stand for those of all, where executions are graphs: it reads, and
    /// where it does not, it waits for what others write; or it goes on in all states.
    fn is_enough(
        &mut self,
        node: NodeId,
        (thread, has_read_loosely): (u32, bool),
        held: &[Vec<Term>],
    ) -> Result<bool, Halt> {
        let control = self.graph.node(node).control.clone();
        let reads = self.blocks.is_before_read(&control, thread) && !has_read_loosely;
        Ok(reads || self.goes_on(node, held)?)
    }

    fn take(
        &self,
        open: &mut VecDeque<NodeId>,
        order: Order,
        distances: &Distances,
    ) -> Option<NodeId> {
        match order {
            Order::Usual | Order::BreadthFirst => return open.pop_front(),
            Order::DepthFirst => return open.pop_back(),
            Order::ErrorFirst => {}
        }
        let nearest = open
            .iter()
            .enumerate()
            .min_by_key(|(place, id)| (distances.from(&self.graph.node(**id).control), *place));
        let place = nearest?.0;
        open.remove(place)
    }
}

/// For each block, how many blocks are at least between it and something that may fail.
struct Distances(Vec<Vec<u32>>);

impl Distances {
    const FAR: u32 = 1 << 16;

    fn of(blocks: &Blocks<'_>) -> Distances {
        let functions = blocks.code.program.functions.iter().map(|function| {
            let may_fail = |block: &parallax_program::Block| {
                block.insts.iter().any(|it| matches!(it.kind, InstKind::Assert { .. }))
            };
            let start = |block| if may_fail(block) { 0 } else { Self::FAR };
            let mut distances: Vec<u32> = function.blocks.iter().map(start).collect();
            loop {
                let mut changes = false;
                for (number, block) in function.blocks.iter().enumerate() {
                    let next = match &block.terminator {
                        parallax_program::Terminator::Jump(to) => distances[to.0 as usize],
                        parallax_program::Terminator::Branch { then, otherwise, .. } => {
                            distances[then.0 as usize].min(distances[otherwise.0 as usize])
                        }
                        _ => Self::FAR,
                    };
                    if next + 1 < distances[number] {
                        distances[number] = next + 1;
                        changes = true;
                    }
                }
                if !changes {
                    return distances;
                }
            }
        });
        Distances(functions.collect())
    }

    fn from(&self, control: &Control) -> u32 {
        let running = control.running().filter_map(|thread| control.thread(thread));
        let site = |local: &crate::control::Local| {
            let distances = local
                .stack
                .iter()
                .map(|site| self.0[site.function.0 as usize][site.block.0 as usize]);
            distances.min().unwrap_or(Self::FAR)
        };
        running.map(site).sum()
    }
}
