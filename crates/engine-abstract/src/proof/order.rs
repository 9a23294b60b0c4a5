//! Whether the threads that are put off at a node may be.
//!
//! At each node a set T of threads is looked at. Nothing is lost by that if (1) T has a thread that goes on in
//! all states of the node, or T has everybody; (2) no access that anybody outside of T makes from there on
//! conflicts with what the next steps of threads in T use, and every thread in T has a step;
//! and (3) each cycle has a node at which everybody is looked at. `parallax_machine::reduction` shows why (2)
//! is enough, and why the accesses from there on are those in the graph itself. Buffers are looked at as threads are.
//! In (2) the thread of a buffer stands in for it as long as that is empty, and a buffer for its thread where that waits for
//! nothing else; where stores overtake one another, T has the thread of each buffer in it, for what it stores next may come first.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::block::Touch;
use crate::control::process;

/// What is known of a thread at a node.
pub struct Turn {
    pub thread: u32,
    pub is_expanded: bool,
    /// Whether it has no step at all.
    pub is_stuck: bool,
    /// Whether that is because its stores have not taken effect.
    pub waits_for_stores: bool,
    /// Whether it has steps that lead somewhere, and whether it has in all states.
    pub goes: bool,
    pub goes_always: bool,
    /// What its next steps use.
    pub touches: FxHashSet<Touch>,
}

/// The graph, as far as orders matter.
pub struct Order {
    turns: Vec<Vec<Turn>>,
    leads: Vec<Vec<usize>>,
    /// Whether stores overtake one another.
    is_pso: bool,
}

type Access = (u32, Touch);

impl Order {
    pub fn new(nodes: usize, is_pso: bool) -> Order {
        let turns = (0..nodes).map(|_| Vec::new()).collect();
        Order { turns, leads: vec![Vec::new(); nodes], is_pso }
    }

    /// One node leads to another, or is covered by it.
    pub fn lead(&mut self, from: usize, to: usize) {
        self.leads[from].push(to);
    }

    pub fn node(&mut self, node: usize, turns: Vec<Turn>) {
        self.turns[node] = turns;
    }

    fn is_reduced(&self, node: usize) -> bool {
        self.turns[node].iter().any(|turn| !turn.is_expanded)
    }

    /// How many nodes put threads off; the error says where somebody must not be.
    pub fn check(&self) -> Result<usize, String> {
        let reduced: Vec<usize> =
            (0..self.turns.len()).filter(|node| self.is_reduced(*node)).collect();
        if reduced.is_empty() {
            return Ok(0);
        }
        self.cycles()?;
        let (accesses, after) = self.accesses();
        for node in &reduced {
            let turns = &self.turns[*node];
            let chosen = || turns.iter().filter(|turn| turn.is_expanded);
            if !chosen().any(|turn| turn.goes_always) {
                return Err(format!("node {node}: all that are looked at may wait for ever"));
            }
            if let Some(turn) = chosen().find(|turn| !turn.goes) {
                return Err(format!("node {node}: thread {} waits for the others", turn.thread));
            }
            let is_chosen =
                |thread: u32| chosen().any(|turn| turn.thread == stand_in(turns, thread));
            for buffer in chosen().filter(|turn| self.is_pso && process::is_buffer(turn.thread)) {
                let thread = process::thread(buffer.thread);
                if !is_chosen(thread) {
                    return Err(format!("node {node}: thread {thread} may store something first"));
                }
            }
            let later = after[*node].iter().map(|access| accesses[*access as usize]);
            for (thread, touch) in later.filter(|(thread, _)| !is_chosen(*thread)) {
                if chosen().any(|turn| turn.touches.iter().any(|it| it.conflicts(&touch))) {
                    return Err(format!("node {node}: thread {thread} must not be put off"));
                }
            }
        }
        Ok(reduced.len())
    }

    /// Each cycle has a node at which everybody is looked at: without these nodes there is none.
    fn cycles(&self) -> Result<(), String> {
        let count = self.turns.len();
        let is_kept: Vec<bool> = (0..count)
            // A node that is covered has no turns, and passes on.
            .map(|node| self.turns[node].is_empty() || self.is_reduced(node))
            .collect();
        let mut into = vec![0_usize; count];
        for from in (0..count).filter(|node| is_kept[*node]) {
            self.leads[from].iter().for_each(|to| into[*to] += 1);
        }
        let mut open: Vec<usize> =
            (0..count).filter(|node| is_kept[*node] && into[*node] == 0).collect();
        let mut seen = open.len();
        while let Some(node) = open.pop() {
            for to in &self.leads[node] {
                into[*to] -= 1;
                if into[*to] == 0 && is_kept[*to] {
                    seen += 1;
                    open.push(*to);
                }
            }
        }
        match seen == is_kept.iter().filter(|is_kept| **is_kept).count() {
            true => Ok(()),
            false => Err("threads are put off all around a cycle".to_string()),
        }
    }

    /// All accesses, and for each node the numbers of those from there on.
    fn accesses(&self) -> (Vec<Access>, Vec<FxHashSet<u32>>) {
        let mut numbers: FxHashMap<Access, u32> = FxHashMap::default();
        let mut all = Vec::new();
        let mut after: Vec<FxHashSet<u32>> = vec![FxHashSet::default(); self.turns.len()];
        for (node, turns) in self.turns.iter().enumerate() {
            for turn in turns.iter().filter(|turn| turn.is_expanded || turn.is_stuck) {
                for touch in &turn.touches {
                    let access = (turn.thread, *touch);
                    let number = *numbers.entry(access).or_insert_with(|| {
                        all.push(access);
                        all.len() as u32 - 1
                    });
                    after[node].insert(number);
                }
            }
        }
        let mut before: Vec<Vec<usize>> = vec![Vec::new(); self.turns.len()];
        for (from, leads) in self.leads.iter().enumerate() {
            leads.iter().for_each(|to| before[*to].push(from));
        }
        let mut open: Vec<usize> = (0..self.turns.len()).collect();
        let mut is_open = vec![true; self.turns.len()];
        while let Some(node) = open.pop() {
            is_open[node] = false;
            let own = std::mem::take(&mut after[node]);
            for from in before[node].iter().filter(|from| **from != node) {
                let size = after[*from].len();
                after[*from].extend(own.iter().copied());
                if after[*from].len() > size && !std::mem::replace(&mut is_open[*from], true) {
                    open.push(*from);
                }
            }
            after[node] = own;
        }
        (all, after)
    }
}

/// Who has to be looked at for somebody to come to what it does later.
fn stand_in(turns: &[Turn], of: u32) -> u32 {
    match turns.iter().find(|turn| turn.thread == of) {
        Some(turn) if turn.is_stuck && turn.waits_for_stores => process::of_buffer(of),
        Some(_) => of,
        None => process::thread(of),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(thread: u32, is_expanded: bool, address: u64) -> Turn {
        let touch = Touch { start: address, end: address + 4, writes: true };
        let touches = [touch].into_iter().collect();
        let (is_stuck, waits_for_stores, goes, goes_always) = (false, false, true, true);
        Turn { thread, is_expanded, is_stuck, waits_for_stores, goes, goes_always, touches }
    }

    /// Two threads, one of which is put off at first.
    fn square(second: u64) -> Order {
        let mut order = Order::new(3, false);
        order.node(0, vec![turn(0, true, 0), turn(1, false, second)]);
        order.node(1, vec![turn(1, true, second)]);
        order.lead(0, 1);
        order.lead(1, 2);
        order
    }

    #[test]
    fn who_does_something_else_is_put_off() {
        assert_eq!(square(8).check(), Ok(1));
        assert!(square(0).check().is_err_and(|why| why.contains("must not be put off")));
    }

    #[test]
    fn nobody_is_put_off_for_ever() {
        let mut order = square(8);
        order.lead(1, 0);
        assert_eq!(order.check(), Ok(1));
        order.node(1, vec![turn(1, true, 8), turn(2, false, 16)]);
        assert!(order.check().is_err_and(|why| why.contains("cycle")));
    }

    #[test]
    fn nobody_is_put_off_for_one_that_waits() {
        let mut order = square(8);
        let mut first = turn(0, true, 0);
        first.goes_always = false;
        order.node(0, vec![first, turn(1, false, 8)]);
        assert!(order.check().is_err_and(|why| why.contains("wait")));
    }
}
