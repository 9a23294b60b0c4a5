//! Chains of program order and conflicts.
//!
//! Let *sco* relate accesses of different processors that conflict and come in that order, and reads
//! of one place between which a write of a third or other processor comes. The conditions say of
//! accesses X and Y that conflict: where a chain X spo A sco B spo … spo Y leads from one to the
//! other, X comes before Y on every copy; and where a write comes before a read that a chain
//! leads from to another read of the place, the write comes before that one, too.
//!
//! In other words, no chain comes back to where it began by way of accesses in the opposite order.
//! So a chain is a path in a graph, which the solver keeps acyclic. An access has a node for
//! each way to be on a chain: `Left` when the next step is one of program order, `Reached` when the
//! last one was. Where the way back is not itself a step of a chain, because both accesses are of
//! one processor, the chain behind it has to have a step sco of its own: such ways lead to
//! `Back`, from there to `BackReached`, and from there on by sco only.
//!
//! Cycles with several ways back of that kind are forbidden as well. No execution is lost by that:
//! one that the model allows has an order of whole accesses that all steps and all ways back keep.

use parallax_solver::{Literal, Order};

use super::Setting;
use super::order::ExecutionOrder;
use super::program_order::ProgramOrder;

/// Ways to be on a chain.
#[derive(Clone, Copy)]
enum Place {
    Left,
    Reached,
    Back,
    BackReached,
    /// A write between two reads of its place.
    Between,
    /// The same, where the first read is of the processor of the write.
    BackBetween,
}

const PLACES: usize = 6;

struct Chains<'a, 'b> {
    setting: &'a mut Setting<'b>,
    graph: Order,
}

/// Adds the conditions.
pub fn keep(setting: &mut Setting<'_>, order: &ExecutionOrder, program_order: &ProgramOrder) {
    let graph = setting.circuit.order(setting.structure.initials * PLACES);
    let mut chains = Chains { setting, graph };
    for (a, b, counts) in program_order {
        chains.program_order(*a, *b, *counts);
    }
    for (a, b) in order.conflicts(chains.setting) {
        let when = order.ordered(chains.setting, a, b);
        chains.conflict(a, b, when);
    }
}

impl Chains<'_, '_> {
    fn edge(&mut self, (a, from): (usize, Place), (b, to): (usize, Place), when: Literal) {
        let node = |event: usize, place: Place| event * PLACES + place as usize;
        self.setting.circuit.edge(self.graph, node(a, from), node(b, to), when);
    }

    fn program_order(&mut self, a: usize, b: usize, counts: Literal) {
        let executed = self.setting.executed;
        let when = self.setting.circuit.and(&[counts, executed[a], executed[b]]);
        for from in [Place::Left, Place::Reached] {
            self.edge((a, from), (b, Place::Reached), when);
        }
        for from in [Place::Back, Place::BackReached] {
            self.edge((a, from), (b, Place::BackReached), when);
        }
    }

    /// Two accesses that conflict and come in this order.
    fn conflict(&mut self, a: usize, b: usize, when: Literal) {
        let [first, second] = [a, b].map(|event| self.setting.thread(event));
        let [a_reads, b_reads] = [a, b].map(|event| self.setting.is_read(event));
        if first != second {
            for from in [Place::Reached, Place::BackReached] {
                self.edge((a, from), (b, Place::Left), when);
                if a_reads {
                    self.edge((a, from), (b, Place::Between), when);
                }
            }
            if b_reads {
                self.edge((a, Place::Between), (b, Place::Left), when);
                self.edge((a, Place::BackBetween), (b, Place::Back), when);
            }
            return;
        }
        self.edge((a, Place::Reached), (b, Place::Back), when);
        if a_reads {
            self.edge((a, Place::Reached), (b, Place::BackBetween), when);
        }
    }
}
