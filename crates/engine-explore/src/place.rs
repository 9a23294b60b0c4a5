//! Places in the search tree, as strings of choices from the root.
//!
//! Which node follows is decided by the graph alone. So a string of numbers, the how-manieth way was
//! taken at each node, leads to the same graph in every process: work that is left, and what was
//! found, can be written down, sent elsewhere, and found again by taking the same ways. Places are in
//! the order in which one thread comes to them.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use crate::known::Discovery;

/// Where a part of the search begins.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Place {
    pub choices: Vec<u32>,
    /// Whether what is below was explored, so that it goes on with the next way of the last choice.
    pub is_behind: bool,
}

impl Place {
    pub const ROOT: Place = Place { choices: Vec::new(), is_behind: false };

    pub fn within(choices: &[u32]) -> Place {
        Place { choices: choices.to_vec(), is_behind: false }
    }

    pub fn behind(choices: &[u32]) -> Place {
        Place { choices: choices.to_vec(), is_behind: true }
    }
}

impl Ord for Place {
    fn cmp(&self, other: &Place) -> Ordering {
        let end = |place: &Place| if place.is_behind { u64::MAX } else { 0 };
        let key = |place: &Place| {
            let end = end(place);
            place
                .choices
                .iter()
                .map(|choice| u64::from(*choice) + 1)
                .chain([end])
                .collect::<Vec<_>>()
        };
        key(self).cmp(&key(other))
    }
}

impl PartialOrd for Place {
    fn partial_cmp(&self, other: &Place) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A place, and what was known of the program by whoever was there.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Start {
    pub place: Place,
    /// In addition to what was known when the search began.
    pub log: Vec<Discovery>,
}

/// What is left to explore: from its start to the place where others begin.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Left {
    pub start: Start,
    pub end: Option<Place>,
}

/// Where something was found: on the way to a place, or by the next step from there.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Witness {
    pub start: Start,
    pub then: Then,
}

/// The step that finds something.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Then {
    /// None: it was found on the way.
    Nothing,
    /// One forward.
    Extend,
    /// The next way of the last choice.
    Advance,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_in_the_order_of_one_thread() {
        let row = [
            Place::ROOT,
            Place::within(&[0]),
            Place::within(&[0, 0]),
            Place::behind(&[0, 0]),
            Place::within(&[0, 1]),
            Place::behind(&[0, 1, 5]),
            Place::behind(&[0, 1]),
            Place::behind(&[0]),
            Place::within(&[1]),
        ];
        assert!(row.is_sorted_by(|one, other| one < other));
    }
}
