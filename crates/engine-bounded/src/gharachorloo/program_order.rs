//! The pairs of program order that conditions on chains count with (*spo*).
//!
//! Under SC those of accesses to different places: of the same place other conditions speak. Under
//! TSO all but a write and a later read, unless something empties the store buffer in between: a
//! fence, a locked access, which a read-modify-write always is, or a write that C11 code wants to
//! be sequentially consistent. Under PSO writes keep their order only because of such things, of
//! store barriers, and of writes that are releases.

use parallax_memory::Relation;
use parallax_solver::Literal;

use super::{Conditions, Setting};
use crate::base::{is_paired, tagged};
use crate::relations::axioms::spare;
use crate::watch::Watch;

/// Pairs of accesses and fences, and whether each counts, given that both happen.
pub type ProgramOrder = Vec<(usize, usize, Literal)>;

/// What an event is to the order of its processor.
struct Role {
    is_fence: bool,
    is_write: bool,
    /// Empties the buffer.
    flushes: Literal,
    /// A fence between writes, or a write that comes after all writes before.
    keeps_writes: Literal,
}

/// The pairs that count. Those that follow from others are left out.
pub fn that_counts(
    setting: &mut Setting<'_>,
    conditions: Conditions,
    watch: &Watch<'_>,
) -> ProgramOrder {
    let structure = setting.structure;
    let visible: Vec<usize> = (0..structure.initials)
        .filter(|event| structure.events[*event].kind.is_visible())
        .filter(|event| conditions != Conditions::Sc || structure.events[*event].kind.is_access())
        .collect();
    let roles: Vec<Role> = visible.iter().map(|event| role(setting, conditions, *event)).collect();
    let mut pairs = ProgramOrder::new();
    let mut sure = Relation::new(structure.events.len());
    for (position, (a, first)) in visible.iter().zip(&roles).enumerate() {
        for (b, second) in visible.iter().zip(&roles).skip(position + 1) {
            if !structure.in_program_order(*a, *b) {
                continue;
            }
            let counts = match conditions {
                Conditions::Sc => !setting.meet(*a, *b).unwrap_or(Literal::FALSE),
                _ => buffered(setting, conditions, first, second),
            };
            if counts == Literal::TRUE {
                sure.add(*a, *b);
            }
            if counts != Literal::FALSE {
                pairs.push((*a, *b, counts));
            }
        }
    }
    let spare = spare(&sure, &structure.facts, watch);
    pairs.retain(|(a, b, _)| !spare.contains(*a, *b));
    pairs
}

fn role(setting: &mut Setting<'_>, conditions: Conditions, number: usize) -> Role {
    let kind = setting.structure.events[number].kind;
    let (is_fence, is_write) = (!kind.is_access(), kind.is_write());
    let (structure, circuit) = (setting.structure, &mut *setting.circuit);
    let mut has = |tag: &str| tagged(structure, circuit, number, tag);
    let (flushes, keeps) = match (is_fence, is_write) {
        (true, _) => {
            (vec![has("MFENCE"), has("SC")], vec![has("SFENCE"), has("REL"), has("ACQ_REL")])
        }
        (_, true) => (vec![has("X"), has("RMW"), has("SC")], vec![has("REL"), has("ACQ_REL")]),
        _ => (vec![has("X"), has("RMW")], vec![]),
    };
    let pair = match is_fence {
        true => Literal::FALSE,
        false => is_paired(structure, circuit, number),
    };
    let flushes = circuit.or(&[flushes, vec![pair]].concat());
    let keeps_writes = match conditions {
        Conditions::Pso => circuit.or(&keeps),
        _ => Literal::FALSE,
    };
    Role { is_fence, is_write, flushes, keeps_writes }
}

/// Whether a pair counts where writes wait in a buffer. A fence is between accesses, so it counts
/// with them.
fn buffered(
    setting: &mut Setting<'_>,
    conditions: Conditions,
    first: &Role,
    second: &Role,
) -> Literal {
    let held_by = |fence: &Role, access: &Role| match access.is_write {
        true => [fence.flushes, fence.keeps_writes],
        false => [fence.flushes, Literal::FALSE],
    };
    match (first.is_fence, second.is_fence) {
        (true, true) => Literal::FALSE,
        (true, false) => setting.circuit.or(&held_by(first, second)),
        (false, true) => setting.circuit.or(&held_by(second, first)),
        (false, false) if !first.is_write => Literal::TRUE,
        (false, false) => match conditions {
            Conditions::Tso if second.is_write => Literal::TRUE,
            Conditions::Pso if second.is_write => {
                let ways = [first.flushes, second.flushes, second.keeps_writes];
                setting.circuit.or(&ways)
            }
            _ => setting.circuit.or(&[first.flushes, second.flushes]),
        },
    }
}
