//! Where the boxes stand: one column a thread, one row an event, initial writes in a row on
//! top of the threads that read them. Texts are set in a fixed-width font, so that their
//! widths are known without one.

use std::collections::BTreeMap;

use super::geometry::{Rect, point};
use super::plan::{Plan, Track};
use super::scene::{Cell, Scene};

pub const LABEL_SIZE: f64 = 13.0;
pub const DETAIL_SIZE: f64 = 10.5;
/// Width of a character of a fixed-width font, relative to its size.
pub const ADVANCE: f64 = 0.602;
/// Instructions longer than this are cut.
const DETAIL_LENGTH: usize = 34;
const PADDING: f64 = 11.0;
const MARGIN: f64 = 22.0;
const TRACK_DISTANCE: f64 = 9.0;
/// Height of the names of the threads, and of the space below the initial writes.
const HEADER: f64 = 24.0;

pub struct Layout {
    /// For each node.
    pub boxes: Vec<Rect>,
    /// For each thread, from its name to its last possible row.
    pub columns: Vec<Rect>,
    /// For each gap, its width; gaps are numbered by the column to their right.
    pub gaps: Vec<f64>,
    /// The middle of each track.
    pub tracks: BTreeMap<Track, f64>,
    pub width: f64,
    pub bottom: f64,
}

/// The instruction as it fits into its box.
pub fn detail_text(detail: &str) -> String {
    if detail.chars().count() <= DETAIL_LENGTH {
        return detail.to_string();
    }
    let start: String = detail.chars().take(DETAIL_LENGTH - 1).collect();
    format!("{}…", start.trim_end())
}

pub fn text_width(text: &str, size: f64) -> f64 {
    text.chars().count() as f64 * ADVANCE * size
}

/// How far apart the arrows of one track run.
pub fn track_offset(number: usize, of: usize) -> f64 {
    (number as f64 - (of as f64 - 1.0) / 2.0) * TRACK_DISTANCE
}

/// Lays out below `top`.
pub fn layout(scene: &Scene, plan: &Plan, top: f64) -> Layout {
    let has_detail = scene.nodes.iter().any(|node| !node.detail.is_empty());
    let box_height = if has_detail { 42.0 } else { 30.0 };
    let has_initial = scene.nodes.iter().any(|n| n.place == Cell::Initial);
    let threads_top = top + if has_initial { 30.0 + 34.0 } else { 0.0 };
    let (columns, gaps, right) = columns(scene, plan, threads_top);
    let (rows, tracks, bottom) = rows(scene, plan, threads_top + HEADER, box_height);
    let mut boxes: Vec<Rect> = scene
        .nodes
        .iter()
        .map(|node| match node.place {
            Cell::Initial => Rect::default(),
            Cell::Thread { column, row } => {
                Rect { y: rows[row], height: box_height, ..columns[column] }
            }
        })
        .collect();
    let initial_right = place_initial(scene, &mut boxes, top);
    Layout {
        boxes,
        columns: columns
            .into_iter()
            .map(|column| Rect { height: bottom - column.y, ..column })
            .collect(),
        gaps,
        tracks,
        width: right.max(initial_right + MARGIN),
        bottom,
    }
}

fn columns(scene: &Scene, plan: &Plan, top: f64) -> (Vec<Rect>, Vec<f64>, f64) {
    let mut widths: Vec<f64> =
        scene.columns.iter().map(|name| text_width(name, LABEL_SIZE).max(70.0)).collect();
    for node in &scene.nodes {
        if let Cell::Thread { column, .. } = node.place {
            let detail = text_width(&detail_text(&node.detail), DETAIL_SIZE);
            let text = text_width(&node.label(), LABEL_SIZE).max(detail);
            widths[column] = widths[column].max(text);
        }
    }
    let last = scene.columns.len();
    let gaps: Vec<f64> = (0..=last)
        .map(|gap| {
            let names = 7.0 * plan.names[gap].saturating_sub(4) as f64;
            match (gap == 0 || gap == last, plan.load[gap]) {
                (true, 0) => MARGIN,
                (true, load) => MARGIN + 34.0 + 14.0 * (load.min(8) as f64) + names,
                (false, load) => 56.0 + 18.0 * (load.min(9) as f64) + names,
            }
        })
        .collect();
    let mut x = 0.0;
    let mut columns = Vec::with_capacity(last);
    for (width, gap) in widths.iter().zip(&gaps) {
        x += gap;
        let width = width + 2.0 * PADDING;
        columns.push(Rect { x, y: top, width, height: 0.0 });
        x += width;
    }
    let right = x + gaps.last().copied().unwrap_or(MARGIN);
    (columns, gaps, right)
}

/// The top of each row, the tracks, and the bottom of it all.
fn rows(
    scene: &Scene,
    plan: &Plan,
    top: f64,
    box_height: f64,
) -> (Vec<f64>, BTreeMap<Track, f64>, f64) {
    let load = |track| plan.tracks.get(&track).copied().unwrap_or(0) as f64;
    let mut tracks = BTreeMap::new();
    let mut tops = Vec::new();
    let mut y = top;
    let count = scene.rows();
    for row in 0..=count {
        let needed = load(Track::Above(row)) * TRACK_DISTANCE;
        let space = match (row == 0 || row == count, needed > 0.0) {
            (true, false) => 0.0,
            (true, true) => needed + 14.0,
            (false, _) => (needed + 18.0).max(38.0),
        };
        tracks.insert(Track::Above(row), y + space / 2.0);
        y += space;
        if row < count {
            tops.push(y);
            tracks.insert(Track::Through(row), y + box_height / 2.0);
            y += box_height;
        }
    }
    (tops, tracks, y)
}

/// Puts the initial writes above the middle of what they are related to, side by side.
/// Returns where the last one ends.
fn place_initial(scene: &Scene, boxes: &mut [Rect], top: f64) -> f64 {
    let wanted = |node: usize| {
        let others = scene.arrows.iter().filter_map(|arrow| match arrow {
            arrow if arrow.from == node => Some(arrow.to),
            arrow if arrow.to == node => Some(arrow.from),
            _ => None,
        });
        let centres: Vec<f64> = others.map(|other| boxes[other].centre().x).collect();
        centres.iter().sum::<f64>() / (centres.len().max(1) as f64)
    };
    let initial = (0..scene.nodes.len()).filter(|n| scene.nodes[*n].place == Cell::Initial);
    let mut initial: Vec<(f64, usize)> = initial.map(|node| (wanted(node), node)).collect();
    initial.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut end = 0.0;
    let mut placed: Vec<(usize, Rect)> = Vec::with_capacity(initial.len());
    let mut drift = 0.0;
    for (centre, node) in &initial {
        let width = text_width(&scene.nodes[*node].label(), LABEL_SIZE) + 2.0 * PADDING;
        let x = (centre - width / 2.0).max(end);
        drift += x + width / 2.0 - centre;
        let rect = Rect::around(point(x + width / 2.0, top + 15.0), width, 30.0);
        placed.push((*node, rect));
        end = rect.right() + 16.0;
    }
    let first = placed.first().map_or(0.0, |(_, rect)| rect.x);
    let shift = (-drift / (placed.len().max(1) as f64)).max(MARGIN - first);
    for (node, rect) in placed {
        boxes[node] = Rect { x: rect.x + shift, ..rect };
    }
    end - 16.0 + shift
}
