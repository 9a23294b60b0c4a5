//! All that has happened, and the way back.
//!
//! A snapshot is kept from time to time; states in between are made again from the one before.

use parallax_machine::system::{Action, Setup};

use crate::machine::{Happened, Machine};

/// Actions between two snapshots.
const DISTANCE: usize = 64;

pub struct History<'s, 'p> {
    actions: Vec<Action>,
    /// The states before the actions whose number is a multiple of the distance.
    snapshots: Vec<Machine<'s, 'p>>,
    /// How many of the actions have happened, as things are now.
    position: usize,
    /// Positions at which a command ended, in order.
    stops: Vec<usize>,
    now: Machine<'s, 'p>,
}

impl<'s, 'p> History<'s, 'p> {
    pub fn start(setup: &'s Setup<'p>) -> (History<'s, 'p>, Happened) {
        let (now, happened) = Machine::start(setup);
        let (actions, snapshots) = (Vec::new(), vec![now.clone()]);
        (History { actions, snapshots, position: 0, stops: vec![0], now }, happened)
    }

    pub fn now(&self) -> &Machine<'s, 'p> {
        &self.now
    }

    pub fn position(&self) -> usize {
        self.position
    }

    /// All that is known to happen, also behind the position.
    pub fn actions(&self) -> &[Action] {
        &self.actions
    }

    /// Something happens; what was known of the future is forgotten.
    pub fn apply(&mut self, action: Action) -> Happened {
        self.actions.truncate(self.position);
        self.actions.push(action);
        let kept = self.position / DISTANCE + 1;
        self.snapshots.truncate(kept);
        self.stops.retain(|stop| *stop <= self.position);
        self.redo(action)
    }

    fn redo(&mut self, action: Action) -> Happened {
        let happened = self.now.apply(action);
        self.position += 1;
        if self.position.is_multiple_of(DISTANCE)
            && self.snapshots.len() == self.position / DISTANCE
        {
            self.snapshots.push(self.now.clone());
        }
        happened
    }

    /// A command has ended here.
    pub fn stop(&mut self) {
        if !self.stops.contains(&self.position) {
            self.stops.push(self.position);
            self.stops.sort_unstable();
        }
    }

    /// Where the last command but that many ended; None if there is none before this place.
    pub fn earlier(&self, commands: usize) -> Option<usize> {
        let before = self.stops.iter().rev().filter(|stop| **stop < self.position);
        let mut before = before.take(commands.max(1)).copied();
        let first = before.next()?;
        Some(before.last().unwrap_or(first))
    }

    /// Takes everything to a position; `seen` gets what happens again on the way.
    pub fn go_to(&mut self, position: usize, mut seen: impl FnMut(&Machine<'s, 'p>, &Happened)) {
        let position = position.min(self.actions.len());
        if position < self.position {
            let number = (position / DISTANCE).min(self.snapshots.len() - 1);
            self.now = self.snapshots[number].clone();
            self.position = number * DISTANCE;
        }
        while self.position < position {
            let happened = self.redo(self.actions[self.position]);
            seen(&self.now, &happened);
        }
    }
}
