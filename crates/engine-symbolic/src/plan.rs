//! Which searches are made, one after the other, until one of them knows.
//!
//! A search along paths may go down one path for ever: a loop that starts a thread for each input it takes
//! has no end, and what is wrong there needs two threads. So where the first search has not come to
//! its end after some thousands of steps, paths are searched to a small [`Depth`] first, then to larger
//! ones, each for so many steps at most (R. Korf, Depth-first iterative-deepening: an optimal admissible
//! tree search, AI 27, 1985), and in between without a depth. Steps become four times as many from round
//! to round, so that all that was done before costs no more than a part of the last round.
//!
//! A violation that a shallow search finds is one. That there is none is known from a search that
//! nothing was cut off from.

use crate::options::Options;

/// How far a search along paths goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Depth {
    /// Threads that a thread starts.
    pub children: u32,
    /// How often inputs decide how a thread goes on.
    pub decisions: u32,
    /// Operations of a thread.
    pub operations: u32,
}

impl Depth {
    /// The bounds are those of single threads. So it makes no difference to them in which order threads
    /// take their steps.
    fn level(level: u32) -> Depth {
        Depth {
            children: level.saturating_add(1),
            decisions: level.saturating_mul(2).saturating_sub(1),
            operations: 256u32.checked_shl(level.saturating_mul(2)).unwrap_or(u32::MAX).max(256),
        }
    }
}

/// What is searched next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// Along paths, for so many steps; to a depth, if there is one.
    Paths { steps: u64, depth: Option<Depth> },
    /// With states matched.
    States,
}

pub struct Plan {
    way: Way,
    /// Steps of the first search.
    steps: u64,
    /// Whether states may be matched in the end.
    matches: bool,
    round: u32,
    /// The level of the search, if it has one, and the deepest that was searched in full.
    level: Option<u32>,
    finished: u32,
    /// The last level of the round.
    last: u32,
    /// Whether paths take too much memory without a depth.
    is_too_deep: bool,
}

impl Plan {
    /// States are matched from the beginning if `only_states`. Races are found along paths; states that
    /// were met on others have none.
    pub fn new(options: &Options<'_>, only_states: bool, matches: bool) -> Plan {
        // Loops with a bound end.
        let steps = if options.unroll.is_some() { u64::MAX } else { options.steps };
        let way = match only_states {
            true => Way::States,
            false => Way::Paths { steps, depth: None },
        };
        Plan {
            way,
            steps,
            matches,
            round: 0,
            level: None,
            finished: 0,
            last: 0,
            is_too_deep: false,
        }
    }

    pub fn way(&self) -> Way {
        self.way
    }

    /// The search would have gone on for longer than it may.
    pub fn was_too_long(&mut self) {
        self.go_on();
    }

    /// The search would have taken more memory than it may.
    pub fn was_too_deep(&mut self) {
        self.is_too_deep |= self.level.is_none();
        self.go_on();
    }

    /// The search has ended, and something was cut off.
    pub fn was_cut(&mut self) {
        self.finished = self.finished.max(self.level.unwrap_or(0));
        self.go_on();
    }

    fn go_on(&mut self) {
        let next = match self.level {
            Some(level) => level + 1,
            None => {
                self.round += 1;
                self.last = self.round.max(self.finished) + 1;
                self.finished + 1
            }
        };
        if next <= self.last {
            self.level = Some(next);
            let steps = self.budget() / 2 / u64::from(self.last + 1 - self.finished);
            self.way = Way::Paths { steps: steps.max(1), depth: Some(Depth::level(next)) };
        } else if self.matches {
            self.level = None;
            self.way = Way::States;
        } else if self.is_too_deep {
            self.level = None;
            self.go_on();
        } else {
            self.level = None;
            self.way = Way::Paths { steps: self.budget(), depth: None };
        }
    }

    /// Steps of the searches of a round. Where states are matched afterwards, they are few.
    fn budget(&self) -> u64 {
        match self.matches {
            true => self.steps,
            false => self.steps.max(1).saturating_mul(4u64.saturating_pow(self.round)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(matches: bool) -> Plan {
        let options = Options { steps: 100, ..Options::default() };
        Plan::new(&options, false, matches)
    }

    fn children(plan: &Plan) -> Option<u32> {
        match plan.way() {
            Way::Paths { depth, .. } => depth.map(|depth| depth.children),
            Way::States => None,
        }
    }

    #[test]
    fn searches_become_deeper_and_longer() {
        let mut plan = plan(false);
        assert_eq!(plan.way(), Way::Paths { steps: 100, depth: None });
        let mut seen = Vec::new();
        for _ in 0..7 {
            plan.was_too_long();
            seen.push(children(&plan));
        }
        assert_eq!(seen, [Some(2), Some(3), None, Some(2), Some(3), Some(4), None]);
        assert_eq!(plan.way(), Way::Paths { steps: 1600, depth: None });
    }

    #[test]
    fn what_was_searched_in_full_is_not_searched_again() {
        let mut plan = plan(false);
        plan.was_too_long();
        plan.was_cut();
        plan.was_cut();
        assert_eq!((plan.finished, children(&plan)), (2, None));
        plan.was_too_long();
        assert_eq!(children(&plan), Some(4));
    }

    #[test]
    fn what_takes_too_much_memory_is_not_tried_again() {
        let mut plan = plan(false);
        plan.was_too_deep();
        for _ in 0..20 {
            assert!(children(&plan).is_some());
            plan.was_too_deep();
        }
    }

    #[test]
    fn states_are_matched_soon_where_they_may_be() {
        let mut plan = plan(true);
        for _ in 0..3 {
            assert_ne!(plan.way(), Way::States);
            plan.was_too_long();
        }
        assert_eq!(plan.way(), Way::States);
    }

    #[test]
    fn one_search_is_enough_for_loops_with_a_bound() {
        let options = Options { unroll: Some(3), ..Options::default() };
        let plan = Plan::new(&options, false, false);
        assert_eq!(plan.way(), Way::Paths { steps: u64::MAX, depth: None });
    }
}
