//! The curves of the arrows. Where several arrows meet a side of a box they are spread over
//! it in an order that avoids crossings close to the box.

use std::collections::BTreeMap;

use super::geometry::{Cubic, Path, Point, point};
use super::layout::{Layout, track_offset};
use super::plan::{Plan, Side, Track, Way};
use super::scene::{Arrow, Cell, Scene};

/// For each arrow of the scene, its curve.
pub fn route(scene: &Scene, plan: &Plan, layout: &Layout) -> Vec<Path> {
    let router =
        Router { scene, plan, layout, tracks: track_heights(plan, layout), ports: BTreeMap::new() };
    let ports = router.ports();
    let router = Router { ports, ..router };
    (0..scene.arrows.len()).map(|arrow| router.path(arrow)).collect()
}

/// The height at which each arrow runs along its track.
fn track_heights(plan: &Plan, layout: &Layout) -> Vec<f64> {
    let mut taken: BTreeMap<Track, usize> = BTreeMap::new();
    let heights = plan.ways.iter().map(|way| {
        let Way::Across { track: Some(track), .. } = way else {
            return 0.0;
        };
        let number = taken.entry(*track).or_default();
        *number += 1;
        let all = plan.tracks.get(track).copied().unwrap_or(1);
        let middle = layout.tracks.get(track).copied().unwrap_or(0.0);
        middle + track_offset(*number - 1, all)
    });
    heights.collect()
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Edge {
    Top,
    Bottom,
    Left,
    Right,
}

impl From<Side> for Edge {
    fn from(side: Side) -> Edge {
        match side {
            Side::Left => Edge::Left,
            Side::Right => Edge::Right,
        }
    }
}

/// An arrow, and whether its end (and not its start) is meant.
type End = (usize, bool);

/// The place of an end among others on the same side of a box.
type Order = (u8, i64);

struct Router<'a> {
    scene: &'a Scene,
    plan: &'a Plan,
    layout: &'a Layout,
    tracks: Vec<f64>,
    ports: BTreeMap<End, Point>,
}

impl Router<'_> {
    /// Where each end of each arrow meets its box.
    fn ports(&self) -> BTreeMap<End, Point> {
        let mut meeting: BTreeMap<(usize, Edge), Vec<(Order, End)>> = BTreeMap::new();
        for (number, arrow) in self.scene.arrows.iter().enumerate() {
            for (is_end, node, other) in
                [(false, arrow.from, arrow.to), (true, arrow.to, arrow.from)]
            {
                let (edge, order) = self.attachment(number, node, other);
                let ends = meeting.entry((node, edge)).or_default();
                ends.push((order, (number, is_end)));
            }
        }
        let mut ports = BTreeMap::new();
        for ((node, edge), mut ends) in meeting {
            ends.sort_unstable();
            let count = ends.len() as f64;
            for (position, (_, end)) in ends.iter().enumerate() {
                let share = (position as f64 + 1.0) / (count + 1.0);
                ports.insert(*end, self.port(node, edge, share));
            }
        }
        ports
    }

    fn port(&self, node: usize, edge: Edge, share: f64) -> Point {
        let rect = &self.layout.boxes[node];
        match edge {
            Edge::Left => point(rect.x, rect.y + share * rect.height),
            Edge::Right => point(rect.right(), rect.y + share * rect.height),
            Edge::Bottom => point(rect.x + share * rect.width, rect.bottom()),
            // The left half belongs to the thread's name.
            Edge::Top if self.scene.nodes[node].kind != super::scene::NodeKind::Initial => {
                point(rect.x + (0.4 + 0.6 * share) * rect.width, rect.y)
            }
            Edge::Top => point(rect.x + share * rect.width, rect.y),
        }
    }

    /// The side of the box where an arrow meets `node`, and its place among the others
    /// there, from the top down or from left to right.
    fn attachment(&self, arrow: usize, node: usize, other: usize) -> (Edge, Order) {
        let there = self.layout.boxes[other].centre();
        let here = self.layout.boxes[node].centre();
        let initial = self.scene.nodes[node].place == Cell::Initial;
        match self.plan.ways[arrow] {
            Way::Down if here.y < there.y => (Edge::Bottom, (0, 0)),
            Way::Down => (Edge::Top, (0, 0)),
            Way::Above => (Edge::Top, (0, there.x as i64)),
            Way::FromTop | Way::Beside { .. } if initial => (Edge::Bottom, (0, there.x as i64)),
            Way::FromTop => (Edge::Top, (0, there.x as i64)),
            Way::Beside { side, .. } => (side.into(), (0, 0)),
            // Nested arcs: the wider one meets the box on the far side of the narrower.
            Way::Arc { side } if there.y < here.y => (side.into(), (1, -there.y as i64)),
            Way::Arc { side } => (side.into(), (3, -there.y as i64)),
            Way::Across { track, .. } => {
                let edge = if there.x > here.x { Edge::Right } else { Edge::Left };
                let height = match track {
                    Some(_) => self.tracks[arrow],
                    None => there.y,
                };
                (edge, (2, height as i64))
            }
        }
    }

    fn path(&self, number: usize) -> Path {
        let arrow = &self.scene.arrows[number];
        let end = |is_end| self.ports.get(&(number, is_end)).copied().unwrap_or_default();
        let (start, finish) = (end(false), end(true));
        let upwards = self.scene.nodes[arrow.to].place == Cell::Initial;
        match self.plan.ways[number] {
            Way::Down => Path(vec![Path::line(
                self.middle(arrow.from, Edge::Bottom),
                self.middle(arrow.to, Edge::Top),
            )]),
            Way::Above => Path(vec![above(start, finish)]),
            Way::Arc { side } => Path(vec![self.arc(arrow, side, start, finish)]),
            Way::Across { side, track } => {
                let track = track.map(|_| self.tracks[number]);
                self.across(arrow, side, track, start, finish)
            }
            Way::FromTop if upwards => Path(vec![vertical(finish, start)]).reversed(),
            Way::FromTop => Path(vec![vertical(start, finish)]),
            Way::Beside { side, lane } if upwards => {
                self.beside(arrow.from, side, lane, finish, start).reversed()
            }
            Way::Beside { side, lane } => self.beside(arrow.to, side, lane, start, finish),
        }
    }

    fn middle(&self, node: usize, edge: Edge) -> Point {
        let rect = &self.layout.boxes[node];
        let x = rect.centre().x;
        match edge {
            Edge::Bottom => point(x, rect.bottom()),
            _ => point(x, rect.y),
        }
    }

    fn arc(&self, arrow: &Arrow, side: Side, a: Point, b: Point) -> Cubic {
        let column = self.column(arrow.from);
        let room = self.room(column, side);
        let span = (b.y - a.y).abs();
        let reach = (30.0 + span * 0.22).min(room);
        let x = a.x + sign(side) * reach;
        Cubic([a, point(x, a.y), point(x, b.y), b])
    }

    fn across(&self, arrow: &Arrow, side: Side, track: Option<f64>, a: Point, b: Point) -> Path {
        let Some(height) = track else {
            return Path(vec![horizontal(a, b)]);
        };
        let (from, to) = (self.column(arrow.from), self.column(arrow.to));
        let columns = &self.layout.columns;
        let (first, last) = match side {
            Side::Right => (columns[from + 1].x, columns[to - 1].right()),
            Side::Left => (columns[from - 1].right(), columns[to + 1].x),
        };
        let entry = point(first, height);
        let exit = point(last, height);
        Path(vec![horizontal(a, entry), Path::line(entry, exit), horizontal(exit, b)])
    }

    /// From above down beside a column, and into the box from the side.
    fn beside(&self, node: usize, side: Side, lane: usize, a: Point, b: Point) -> Path {
        let column = self.column(node);
        let room = self.room(column, side);
        let away = (17.0 + 8.0 * lane as f64).min(room * 0.8);
        let x = b.x + sign(side) * away;
        let top = self.layout.columns[column].y + 14.0;
        let turn = (b.y - 26.0).max(top);
        Path(vec![
            vertical(a, point(x, top)),
            Path::line(point(x, top), point(x, turn)),
            Cubic([point(x, turn), point(x, (turn + b.y) / 2.0), point(x, b.y), b]),
        ])
    }

    fn column(&self, node: usize) -> usize {
        match self.scene.nodes[node].place {
            Cell::Initial => 0,
            Cell::Thread { column, .. } => column,
        }
    }

    fn room(&self, column: usize, side: Side) -> f64 {
        self.layout.gaps[super::plan::gap(column, side)]
    }
}

fn sign(side: Side) -> f64 {
    match side {
        Side::Left => -1.0,
        Side::Right => 1.0,
    }
}

/// Leaves and arrives sideways.
fn horizontal(a: Point, b: Point) -> Cubic {
    let reach = (b.x - a.x) * 0.5;
    Cubic([a, point(a.x + reach, a.y), point(b.x - reach, b.y), b])
}

/// Leaves and arrives downwards.
fn vertical(a: Point, b: Point) -> Cubic {
    let reach = (b.y - a.y) * 0.5;
    Cubic([a, point(a.x, a.y + reach), point(b.x, b.y - reach), b])
}

/// A bow over boxes that stand side by side.
fn above(a: Point, b: Point) -> Cubic {
    let height = a.y.min(b.y) - 22.0;
    Cubic([a, point(a.x, height), point(b.x, height), b])
}
