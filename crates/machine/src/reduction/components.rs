//! Strongly connected components of a graph of states, found while a search goes through it depth first
//! (R. Tarjan, Depth-first search and linear graph algorithms, 1972), with all that is accessed from each
//! state on.
//!
//! The reduction needs both: a state of a component with a cycle is expanded in full, and a state that is
//! met again has the accesses that were found behind it. They are known when its component is
//! complete.

use super::summary::{SetId, Summaries};

/// A state, by the order in which states were found.
pub type Number = u32;

/// The states that were found.
#[derive(Default)]
pub struct Components {
    /// For each state of a component that is complete, all accesses from there on.
    summaries: Vec<Option<SetId>>,
    /// The other states, in the order in which they were found.
    open: Vec<Number>,
}

/// A state on the path of the search.
#[derive(Debug)]
pub struct Visited {
    pub number: Number,
    /// The oldest open state that can be reached.
    low: Number,
    /// The accesses behind the steps that were looked at.
    pub future: SetId,
    /// Whether some step leads out of the component.
    can_leave: bool,
    /// Whether the state is on a cycle.
    pub is_in_cycle: bool,
}

impl Components {
    /// How many states were found.
    pub fn len(&self) -> usize {
        self.summaries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.summaries.is_empty()
    }

    /// The path goes on to a state that was not met before.
    pub fn enter(&mut self) -> Visited {
        let number = self.summaries.len() as Number;
        self.summaries.push(None);
        self.open.push(number);
        let future = SetId::EMPTY;
        Visited { number, low: number, future, can_leave: false, is_in_cycle: false }
    }

    /// A step leads from the last state of the path to one that was met before.
    pub fn meet(&self, from: &mut Visited, number: Number, known: &mut Summaries) {
        debug_assert!(self.is_open(from.number), "who is on the path is not complete");
        match self.summaries[number as usize] {
            Some(summary) => {
                from.future = known.union(from.future, summary);
                from.can_leave = true;
            }
            None => {
                from.low = from.low.min(number);
                from.is_in_cycle = true;
            }
        }
    }

    /// All steps of the last state of the path that are chosen were looked at. Whether it is on a cycle.
    pub fn is_in_cycle(&self, last: &mut Visited) -> bool {
        // What is still open and was found later leads back to this state, or past it.
        last.is_in_cycle |= self.open.last() != Some(&last.number);
        last.is_in_cycle
    }

    /// The path ends at the state before; `future` has all accesses from this one on. Whether a
    /// component with a cycle is complete now that no step leads out of.
    pub fn leave(
        &mut self,
        last: &Visited,
        future: SetId,
        before: Option<&mut Visited>,
        known: &mut Summaries,
    ) -> bool {
        debug_assert!(last.low <= last.number && self.is_open(last.number));
        let is_root = last.low == last.number;
        if let Some(before) = before {
            debug_assert!(before.number < last.number, "a path leads to what is found later");
            before.future = known.union(before.future, future);
            before.can_leave |= is_root || last.can_leave;
            before.low = before.low.min(last.low);
        }
        if !is_root {
            return false;
        }
        while let Some(number) = self.open.pop() {
            debug_assert!(number >= last.number, "a component is what was found since its root");
            self.summaries[number as usize] = Some(future);
            if number == last.number {
                break;
            }
        }
        last.is_in_cycle && !last.can_leave
    }

    fn is_open(&self, number: Number) -> bool {
        self.open.binary_search(&number).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::super::summary::{Access, Kind, Process};
    use super::*;
    use proptest::prelude::*;

    /// A search through a graph that is given by the successors of each node.
    struct Walk<'g> {
        graph: &'g [Vec<usize>],
        components: Components,
        known: Summaries,
        /// The number of each node, once it was met, and where it stands on the path.
        numbers: Vec<Option<Number>>,
        path: Vec<(usize, Visited, usize)>,
        /// The roots of components with a cycle that are never left.
        traps: Vec<usize>,
    }

    fn access_of(known: &mut Summaries, node: usize) -> SetId {
        let process = Process::of_thread(node as u32);
        known.only(Access { process, start: 0, size: 1, kind: Kind::Write })
    }

    impl Walk<'_> {
        fn run(&mut self, start: usize) {
            self.enter(start);
            while let Some((node, visited, next)) = self.path.last_mut() {
                let to = self.graph[*node].get(*next).copied();
                *next += 1;
                match to.map(|to| (to, self.numbers[to])) {
                    Some((_, Some(number))) => {
                        self.components.meet(visited, number, &mut self.known);
                    }
                    Some((to, None)) => self.enter(to),
                    None => self.leave(),
                }
                self.check();
            }
        }

        fn enter(&mut self, node: usize) {
            let visited = self.components.enter();
            self.numbers[node] = Some(visited.number);
            self.path.push((node, visited, 0));
        }

        fn leave(&mut self) {
            let Some((node, mut visited, _)) = self.path.pop() else { return };
            self.components.is_in_cycle(&mut visited);
            let own = access_of(&mut self.known, node);
            let future = self.known.union(visited.future, own);
            let before = self.path.last_mut().map(|(_, before, _)| before);
            if self.components.leave(&visited, future, before, &mut self.known) {
                self.traps.push(node);
            }
        }

        /// What holds after every step.
        fn check(&self) {
            let Components { summaries, open } = &self.components;
            assert!(open.is_sorted_by(|one, other| one < other));
            for (number, summary) in summaries.iter().enumerate() {
                let is_open = open.contains(&(number as Number));
                assert_eq!(summary.is_none(), is_open, "state {number}");
            }
            for (_, visited, _) in &self.path {
                assert!(visited.low <= visited.number && open.contains(&visited.number));
            }
            assert!(self.path.is_sorted_by(|(_, one, _), (_, other, _)| one.number < other.number));
        }
    }

    /// The nodes that can be reached, by steps of any number.
    fn reachable(graph: &[Vec<usize>], from: usize) -> Vec<bool> {
        let (mut found, mut todo) = (vec![false; graph.len()], vec![from]);
        while let Some(node) = todo.pop() {
            if !std::mem::replace(&mut found[node], true) {
                todo.extend(&graph[node]);
            }
        }
        found
    }

    proptest! {
        #[test]
        fn components_are_those_of_the_definition(
            graph in (1..9usize).prop_flat_map(|count| {
                prop::collection::vec(prop::collection::vec(0..count, 0..4), count)
            })
        ) {
            let numbers = vec![None; graph.len()];
            let (components, known) = (Components::default(), Summaries::default());
            let (path, traps) = (Vec::new(), Vec::new());
            let mut walk = Walk { graph: &graph, components, known, numbers, path, traps };
            walk.run(0);
            let reach: Vec<Vec<bool>> =
                (0..graph.len()).map(|node| reachable(&graph, node)).collect();
            for node in (0..graph.len()).filter(|node| reach[0][*node]) {
                let number = walk.numbers[node].expect("a number");
                let summary = walk.components.summaries[number as usize].expect("a summary");
                for (other, is_reached) in reach[node].iter().enumerate() {
                    let access = access_of(&mut walk.known, other);
                    let is_in = walk.known.union(summary, access) == summary;
                    prop_assert_eq!(is_in, *is_reached, "{} from {}", other, node);
                }
                // Nothing leads out of its component, and something leads on in it.
                let stays = (0..graph.len()).all(|other| !reach[node][other] || reach[other][node]);
                let is_trap = stays && !graph[node].is_empty();
                let of_trap =
                    walk.traps.iter().any(|root| reach[*root][node] && reach[node][*root]);
                prop_assert_eq!(of_trap, is_trap, "node {}", node);
            }
        }
    }
}
