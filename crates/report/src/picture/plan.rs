//! Which way each arrow takes, in terms of columns and rows: straight down, in an arc beside
//! its column, across to the next column, or along a track between the boxes of the columns
//! it has to cross. Decided before any coordinate, so that the layout can leave room.

use std::collections::BTreeMap;

use super::scene::{Arrow, Cell, Scene};

#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub enum Side {
    Left,
    Right,
}

/// The way of an arrow; for those that touch an initial write, seen from there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// To the next row of the same column.
    Down,
    /// Beside its column.
    Arc { side: Side },
    /// To another column; over columns in between along a track.
    Across { side: Side, track: Option<Track> },
    /// From an initial write to the top of a thread's first event.
    FromTop,
    /// From an initial write down beside a column, the lanes counted from the boxes outwards.
    Beside { side: Side, lane: usize },
    /// Between two initial writes.
    Above,
}

/// A horizontal line that crosses columns without touching a box.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub enum Track {
    /// Above the row of that number, below the one before it.
    Above(usize),
    /// Through a row in which the columns between have no box.
    Through(usize),
}

pub struct Plan {
    /// For each arrow of the scene.
    pub ways: Vec<Way>,
    /// How many arrows run left of each column, and right of the last: the room they need.
    pub load: Vec<usize>,
    /// For each of these gaps, how long the longest name beside an arc is.
    pub names: Vec<usize>,
    /// How many arrows run along each track.
    pub tracks: BTreeMap<Track, usize>,
}

pub fn plan(scene: &Scene) -> Plan {
    let mut planner = Planner {
        scene,
        heights: heights(scene),
        rows: scene.rows(),
        plan: Plan {
            ways: Vec::with_capacity(scene.arrows.len()),
            load: vec![0; scene.columns.len() + 1],
            names: vec![0; scene.columns.len() + 1],
            tracks: BTreeMap::new(),
        },
        lanes: BTreeMap::new(),
    };
    // What needs a gap between columns takes its place first, arcs choose the emptier side.
    let mut ways: Vec<Option<Way>> = scene.arrows.iter().map(|a| planner.across(a)).collect();
    for (way, arrow) in ways.iter_mut().zip(&scene.arrows) {
        if way.is_none() {
            *way = Some(planner.beside(arrow));
        }
    }
    planner.plan.ways = ways.into_iter().flatten().collect();
    planner.plan
}

fn heights(scene: &Scene) -> Vec<usize> {
    let mut heights = vec![0; scene.columns.len()];
    for node in &scene.nodes {
        if let Cell::Thread { column, row } = node.place {
            heights[column] = heights[column].max(row + 1);
        }
    }
    heights
}

struct Planner<'a> {
    scene: &'a Scene,
    heights: Vec<usize>,
    rows: usize,
    plan: Plan,
    /// Lanes taken beside each column.
    lanes: BTreeMap<(usize, Side), usize>,
}

impl Planner<'_> {
    fn across(&mut self, arrow: &Arrow) -> Option<Way> {
        let (from, to) = self.cells(arrow);
        let (Cell::Thread { column: a, row: r }, Cell::Thread { column: b, row: s }) = (from, to)
        else {
            return None;
        };
        if a == b {
            return None;
        }
        let side = if a < b { Side::Right } else { Side::Left };
        let (first, last) = (a.min(b), a.max(b));
        let track = (last - first > 1).then(|| self.choose_track(first + 1..last, r, s));
        if let Some(track) = track {
            *self.plan.tracks.entry(track).or_default() += 1;
        }
        // Tracks cross the gaps in between as straight lines, which need no room.
        self.plan.load[first + 1] += 1;
        if last > first + 1 {
            self.plan.load[last] += 1;
        }
        Some(Way::Across { side, track })
    }

    /// The track that bends the arrow least and is not crowded.
    fn choose_track(&self, between: std::ops::Range<usize>, r: usize, s: usize) -> Track {
        let gaps = (0..=self.rows).map(|row| (Track::Above(row), 2 * row));
        let free = (0..self.rows)
            .filter(|row| between.clone().all(|column| self.heights[column] <= *row))
            .map(|row| (Track::Through(row), 2 * row + 1));
        let cost = |(track, height): (Track, usize)| {
            let bend = height.abs_diff(2 * r + 1) + height.abs_diff(2 * s + 1);
            let crowd = self.plan.tracks.get(&track).copied().unwrap_or(0);
            // Above the first row stand the names of the threads.
            let header = usize::from(height == 0);
            (4 * bend + 3 * crowd + 6 * header, track)
        };
        let best = gaps.chain(free).map(cost).min();
        best.map_or(Track::Above(self.rows), |(_, track)| track)
    }

    fn beside(&mut self, arrow: &Arrow) -> Way {
        match self.cells(arrow) {
            (Cell::Initial, Cell::Initial) => Way::Above,
            (Cell::Initial, Cell::Thread { column, row })
            | (Cell::Thread { column, row }, Cell::Initial) => self.initial_way(column, row),
            (Cell::Thread { column, row: r }, Cell::Thread { row: s, .. }) => {
                let name = self.scene.arrow_label(arrow);
                if s == r + 1 && name == "po" {
                    return Way::Down;
                }
                let side = self.emptier_side(column);
                let gap = gap(column, side);
                self.plan.load[gap] += 1;
                self.plan.names[gap] = self.plan.names[gap].max(name.chars().count());
                Way::Arc { side }
            }
        }
    }

    fn initial_way(&mut self, column: usize, row: usize) -> Way {
        if row == 0 {
            return Way::FromTop;
        }
        let side = self.emptier_side(column);
        self.plan.load[gap(column, side)] += 1;
        let lanes = self.lanes.entry((column, side)).or_default();
        *lanes += 1;
        Way::Beside { side, lane: *lanes - 1 }
    }

    fn emptier_side(&self, column: usize) -> Side {
        let load = |side| {
            let gap = gap(column, side);
            // Outside the first and the last column nothing else passes.
            let outside = gap == 0 || gap == self.scene.columns.len();
            self.plan.load[gap] + if outside { 0 } else { 2 }
        };
        if load(Side::Right) < load(Side::Left) { Side::Right } else { Side::Left }
    }

    fn cells(&self, arrow: &Arrow) -> (Cell, Cell) {
        let place = |node: usize| self.scene.nodes[node].place;
        (place(arrow.from), place(arrow.to))
    }
}

/// The gap beside a column; gaps are numbered by the column to their right.
pub fn gap(column: usize, side: Side) -> usize {
    match side {
        Side::Left => column,
        Side::Right => column + 1,
    }
}
