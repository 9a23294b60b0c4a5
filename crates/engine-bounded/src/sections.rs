//! Atomic sections: what one does is not interleaved with what others do.
//!
//! Under `sc`, `tso` and `pso` the events of a section are one node of the graph that the model keeps
//! acyclic. So there is an order of all events that the model allows and in which nobody comes
//! between, and no other constraint is needed. Where models say what happens before what, a section
//! takes a lock that all sections share, as for exploration; without the first rule that does not
//! keep out accesses that are in no section, and where they may meet there is no answer.
//!
//! A thread may stay in a section, because something is wrong there, an assumption fails, or its loops
//! are cut. Then nobody else does anything any more. In the formula the others go on, but all
//! that is asked about is what has happened by then: inside of that one section, or before there is
//! one. For that, a thread may stand before a section as long as it likes.

use std::collections::BTreeMap;

use parallax_machine::system::MemoryKind;
use parallax_memory::{Model, NodeId};
use parallax_solver::Literal;

use crate::circuit::Circuit;
use crate::event::Step;
use crate::options::Framework;
use crate::relations::bounds::Bounds;
use crate::structure::Structure;
use crate::unfold::Stop;

/// How sections are unfolded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sections {
    /// Whether a section takes the lock that all share.
    pub locks: bool,
    /// Whether a thread may stay in a section, so that others may have to stand before theirs.
    pub may_stay: bool,
}

impl Sections {
    /// None where a model says nothing about them.
    pub fn under(model: &Model, framework: Framework, has_races: bool) -> Option<Sections> {
        // Models of C that have happens-before know what a lock is.
        let has_locks = model.is_builtin() && model.happens_before().is_some();
        let is_known = is_ordered(model) || has_locks;
        let locks = has_races || model.facts().machine != Some(MemoryKind::Sc);
        let sections = Sections { locks, may_stay: false };
        (is_known && framework == Framework::Cat).then_some(sections)
    }
}

/// Whether it is the model of a machine: its axiom of the same name orders all events.
fn is_ordered(model: &Model) -> bool {
    model.facts().machine.is_some()
}

/// Whether an axiom is the one by which the sections of a model are whole.
pub fn keeps_whole(model: &Model, axiom: &str) -> bool {
    is_ordered(model) && model.name() == axiom
}

/// For each event the one that stands for all of its section, or itself.
pub fn nodes(structure: &Structure) -> Option<Vec<usize>> {
    let has_some = structure.events.iter().any(|event| event.section.is_some());
    let node = |(number, event): (usize, &crate::event::Event)| {
        event.section.map_or(number, |section| section as usize)
    };
    has_some.then(|| structure.events.iter().enumerate().map(node).collect())
}

/// An access outside of all sections that may meet one inside, and is not known to happen before
/// it or after it, where the model does not keep it out.
pub fn intruder(
    structure: &Structure,
    bounds: &Bounds<'_>,
    order: Option<NodeId>,
    model: &Model,
) -> Option<usize> {
    if is_ordered(model) {
        return None;
    }
    let is_access = |event: &usize| {
        let event = &structure.events[*event];
        matches!(event.step, Step::Access { .. }) && event.thread.is_some()
    };
    let accesses: Vec<usize> = (0..structure.initials).filter(is_access).collect();
    let (inside, outside): (Vec<usize>, Vec<usize>) =
        accesses.into_iter().partition(|event| structure.events[*event].section.is_some());
    let ordered = |a, b| order.is_some_and(|order| bounds.must(order, a, b));
    let meets = |out: usize, inner: usize| {
        let (x, y) = (&structure.events[out], &structure.events[inner]);
        x.thread != y.thread
            && (x.kind.is_write() || y.kind.is_write())
            && structure.may_meet(out, inner)
            && structure.facts.together.contains(out, inner)
            && !ordered(out, inner)
            && !ordered(inner, out)
    };
    outside.into_iter().find(|out| inside.iter().any(|inner| meets(*out, *inner)))
}

/// Which threads stay in sections.
pub struct Stays {
    /// For each section that a thread may stay in, whether it does.
    stays: BTreeMap<u32, Literal>,
    /// Whether no thread does.
    none: Literal,
}

impl Stays {
    /// At most one thread is in a section.
    pub fn new(structure: &Structure, executed: &[Literal], circuit: &mut Circuit) -> Stays {
        let mut ends: BTreeMap<u32, Vec<Literal>> = BTreeMap::new();
        for (number, event) in structure.events.iter().enumerate() {
            let Some(section) = event.section else { continue };
            let ends = ends.entry(section).or_default();
            ends.extend((event.step == Step::AtomicEnd).then_some(executed[number]));
        }
        let mut stays = BTreeMap::new();
        for (section, ends) in ends {
            let ended = circuit.or(&ends);
            let begun = executed[section as usize];
            if begun != ended {
                stays.insert(section, circuit.and(&[begun, !ended]));
            }
        }
        let all: Vec<Literal> = stays.values().copied().collect();
        circuit.at_most_one(&all);
        let some = circuit.or(&all);
        Stays { stays, none: !some }
    }

    pub fn none(&self) -> Literal {
        self.none
    }

    /// Whether what happens in one of these sections, or in none, happens while no thread stays in
    /// another.
    pub fn reach(&self, sections: &[Option<u32>], circuit: &mut Circuit) -> Literal {
        let mut ways = vec![self.none];
        let known = sections.iter().flatten().filter_map(|section| self.stays.get(section));
        ways.extend(known);
        circuit.or(&ways)
    }

    /// Whether a way is taken.
    pub fn way(&self, stop: &Stop, circuit: &mut Circuit) -> Literal {
        let taken = circuit.literal(stop.guard);
        let reached = self.reach(&[stop.section], circuit);
        circuit.and(&[taken, reached])
    }
}
