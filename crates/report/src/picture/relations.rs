//! The part of each relation that is worth an arrow: of orders only the immediate steps, the
//! rest follows; of dependencies only what no shorter one already says.

use std::collections::{HashMap, HashSet};

use parallax_verdict::{Edges, EventKind, Execution};

pub struct Drawn {
    pub name: String,
    pub edges: Edges,
}

/// Every relation that has something to show, in the order of the legend.
pub fn drawn(execution: &Execution) -> Vec<Drawn> {
    let from_threads = |edges: &Edges| -> Edges {
        let has_thread = |event: u32| thread_of(execution, event).is_some();
        let kept = edges.iter().filter(|(a, b)| has_thread(*a) && has_thread(*b));
        kept.copied().collect()
    };
    let base = [
        ("po", program_order(execution, &from_threads(&execution.po))),
        ("rf", execution.rf.clone()),
        ("co", immediate(&from_threads(&execution.co))),
        ("fr", immediate_from_reads(execution)),
        ("rmw", execution.rmw.clone()),
        ("addr", execution.addr.clone()),
        ("data", execution.data.clone()),
        ("ctrl", first_controlled(execution)),
    ];
    let known: HashSet<&str> = base.iter().map(|(name, _)| *name).collect();
    let of_model = execution
        .model_relations
        .iter()
        .filter(|(name, _)| !known.contains(name.as_str()))
        .map(|(name, edges)| (name.as_str(), edges.clone()));
    let all: Vec<(&str, Edges)> = base.iter().cloned().chain(of_model).collect();
    let events = execution.events.len() as u32;
    all.into_iter()
        .map(|(name, mut edges)| {
            edges.retain(|(a, b)| *a < events && *b < events);
            edges.sort_unstable();
            edges.dedup();
            let name = name.to_string();
            Drawn { name, edges }
        })
        .filter(|relation| !relation.edges.is_empty())
        .collect()
}

pub fn thread_of(execution: &Execution, event: u32) -> Option<u32> {
    execution.events.get(event as usize)?.thread
}

/// Neighbours in a thread that program order does not relate: parts of one access.
pub fn unordered_neighbours(execution: &Execution) -> Edges {
    let po: HashSet<(u32, u32)> = execution.po.iter().copied().collect();
    let pairs = neighbours(execution);
    pairs.into_iter().filter(|pair| !po.contains(pair)).collect()
}

/// Each event of a thread and the next one.
fn neighbours(execution: &Execution) -> Edges {
    let mut last: HashMap<u32, u32> = HashMap::new();
    let mut pairs = Edges::new();
    for (number, event) in (0u32..).zip(&execution.events) {
        if let Some(thread) = event.thread {
            pairs.extend(last.insert(thread, number).map(|before| (before, number)));
        }
    }
    pairs
}

/// Where the parts of an access come one after another and are all ordered alike, the steps
/// from the last part of one to the first part of the next say it all.
fn program_order(execution: &Execution, po: &Edges) -> Edges {
    let related: HashSet<(u32, u32)> = po.iter().copied().collect();
    let steps = neighbours(execution);
    let mut access = vec![0u32; execution.events.len()];
    for (a, b) in &steps {
        access[*b as usize] = access[*a as usize] + u32::from(related.contains(&(*a, *b)));
    }
    let mut expected = 0;
    let mut agree = true;
    for (a, first) in (0u32..).zip(&execution.events) {
        for (b, second) in (0u32..).zip(&execution.events).skip(a as usize + 1) {
            if first.thread.is_some() && first.thread == second.thread {
                let ordered = access[a as usize] < access[b as usize];
                expected += usize::from(ordered);
                agree &= ordered == related.contains(&(a, b));
            }
        }
    }
    if agree && expected == related.len() {
        steps.into_iter().filter(|step| related.contains(step)).collect()
    } else {
        immediate(po)
    }
}

/// The steps of a transitively closed order that are not made of two smaller ones.
fn immediate(order: &Edges) -> Edges {
    let pairs: HashSet<(u32, u32)> = order.iter().copied().collect();
    let after = successors(order);
    let composed = |a: u32, b: u32| after[&a].iter().any(|c| pairs.contains(&(*c, b)));
    let kept = order.iter().filter(|(a, b)| !composed(*a, *b));
    kept.copied().collect()
}

fn successors(order: &Edges) -> HashMap<u32, Vec<u32>> {
    let mut after: HashMap<u32, Vec<u32>> = HashMap::new();
    for (a, b) in order {
        after.entry(*a).or_default().push(*b);
    }
    after
}

/// From each read to the first writes that overwrite what it read.
fn immediate_from_reads(execution: &Execution) -> Edges {
    let from_reads = execution.fr();
    let co: HashSet<(u32, u32)> = execution.co.iter().copied().collect();
    let after = successors(&from_reads);
    let overwritten_before =
        |read: u32, write: u32| after[&read].iter().any(|first| co.contains(&(*first, write)));
    let kept = from_reads.iter().filter(|(read, write)| !overwritten_before(*read, *write));
    kept.copied().collect()
}

/// A branch controls everything after it; of each kind of event, show the first ones only.
fn first_controlled(execution: &Execution) -> Edges {
    let po: HashSet<(u32, u32)> = execution.po.iter().copied().collect();
    let after = successors(&execution.ctrl);
    let kind = |event: u32| {
        let event = execution.events.get(event as usize);
        event.map(|event| match event.kind {
            EventKind::Read { .. } => 0,
            EventKind::Write { .. } => 1,
            _ => 2,
        })
    };
    let behind_another = |a: u32, b: u32| {
        let mut controlled = after[&a].iter();
        controlled.any(|c| po.contains(&(*c, b)) && kind(*c) == kind(b))
    };
    let kept = execution.ctrl.iter().filter(|(a, b)| !behind_another(*a, *b));
    kept.copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_lose_what_follows_from_their_steps() {
        let closed = vec![(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];
        assert_eq!(immediate(&closed), [(0, 1), (1, 2), (2, 3)]);
        let diamond = vec![(0, 1), (0, 2), (0, 3), (1, 3), (2, 3)];
        assert_eq!(immediate(&diamond), [(0, 1), (0, 2), (1, 3), (2, 3)]);
    }
}
