//! From strings of choices back to graphs: the same ways are taken again from the root.

use super::{Path, Search};
use crate::crew::{Explored, Segment};
use crate::findings::Findings;
use crate::graph::Graph;
use crate::memory::Memory;
use crate::place::{Left, Start, Then, Witness};

impl<'p> Search<'_, 'p> {
    /// Explores what is left, from the graph in which nothing has happened. None if there is no such
    /// place in the search.
    pub fn take_up(
        &mut self,
        segment: Segment,
        left: &Left,
        (graph, memory): (Graph<'p>, Memory),
    ) -> Option<Explored> {
        let silent = self.observer.silent();
        let observer = std::mem::replace(&mut self.observer, silent);
        let limit = left.end.as_ref().map_or(Vec::new(), |end| end.choices.clone());
        let is_there = left.end.as_ref().is_none_or(|end| end.is_behind)
            && self.go_to(&left.start, graph, memory, limit);
        self.observer = observer;
        self.observer.begin(segment);
        if !is_there {
            return self.is_refused.then(|| self.hand_in(Some(left.start.clone())));
        }
        self.path.events = 0;
        let place = &left.start.place;
        if place.choices.is_empty() && !place.is_behind {
            return Some(self.explore());
        }
        if !place.is_behind {
            self.forward();
        }
        Some(self.explore_rest())
    }

    /// What is found on the way to a place, and by a step from there.
    pub fn look_up(mut self, at: &Witness, graph: Graph<'p>, memory: Memory) -> Option<Findings> {
        for number in 0..graph.threads.len() {
            self.observer.stands(&graph, &memory, number);
        }
        if !self.go_to(&at.start, graph, memory, Vec::new()) {
            return None;
        }
        match at.then {
            Then::Nothing => {}
            Then::Extend => {
                self.extend();
            }
            Then::Advance => {
                let level = self.path.nodes.pop()?;
                self.advance(level.node);
            }
        }
        Some(self.observer.finish())
    }

    /// Takes the ways that lead to a place. False if there are no such ways.
    fn go_to(&mut self, start: &Start, graph: Graph<'p>, memory: Memory, limit: Vec<u32>) -> bool {
        (self.graph, self.memory) = (graph, memory);
        self.path = Path { limit, ..Path::default() };
        self.is_refused = false;
        if !self.memory.known.adopt(&start.log) {
            return false;
        }
        for choice in &start.place.choices {
            self.choice = 0;
            let mut is_there = self.extend();
            for next in 1..=*choice {
                let level = if is_there { self.path.nodes.pop() } else { None };
                self.choice = next;
                is_there = level.is_some_and(|level| self.advance(level.node));
            }
            if !is_there {
                return false;
            }
        }
        self.path.is_within = !start.place.is_behind;
        true
    }
}
