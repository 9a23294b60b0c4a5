//! A spot for the name of each arrow: on its curve, where it hides least. Several places
//! along the curve are tried; covering a box or another name counts most, then other curves,
//! then being far from the middle.

use super::geometry::{Path, Point, Rect, point};
use super::layout::text_width;

pub const SIZE: f64 = 11.0;
const HEIGHT: f64 = 14.0;

/// The centre of each label; empty labels get none.
pub fn place_labels(
    texts: &[String],
    paths: &[Path],
    boxes: &[Rect],
    width: f64,
) -> Vec<Option<Point>> {
    let mut board =
        Board { boxes, curves: paths.iter().map(Curve::new).collect(), taken: Vec::new(), width };
    texts
        .iter()
        .enumerate()
        .map(|(number, text)| board.place(number, text, paths.get(number)?))
        .collect()
}

/// Points on an arrow, and the rectangle they fill.
struct Curve {
    points: Vec<Point>,
    extent: Rect,
}

impl Curve {
    fn new(path: &Path) -> Curve {
        let points: Vec<Point> = (0..=32).map(|i| path.at(f64::from(i) / 32.0)).collect();
        let range = |coordinate: fn(&Point) -> f64| {
            let values = points.iter().map(coordinate);
            values.fold((f64::MAX, f64::MIN), |(low, high), v| (low.min(v), high.max(v)))
        };
        let ((left, right), (top, bottom)) = (range(|p| p.x), range(|p| p.y));
        // Straight lines have an area too.
        let extent = Rect {
            x: left - 1.0,
            y: top - 1.0,
            width: right - left + 2.0,
            height: bottom - top + 2.0,
        };
        Curve { points, extent }
    }
}

struct Board<'a> {
    boxes: &'a [Rect],
    curves: Vec<Curve>,
    /// Where labels stand already.
    taken: Vec<Rect>,
    width: f64,
}

impl Board<'_> {
    fn place(&mut self, number: usize, text: &str, path: &Path) -> Option<Point> {
        if text.is_empty() {
            return None;
        }
        let width = text_width(text, SIZE) + 6.0;
        let mut best: Option<(f64, Rect)> = None;
        for t in (2..=14).map(|i| f64::from(i) / 16.0) {
            let on_curve = path.at(t);
            // A long name may also stand beside its curve.
            for shift in [0.0, -0.3, 0.3] {
                let centre = point(on_curve.x + shift * width, on_curve.y);
                let rect = Rect::around(centre, width, HEIGHT);
                let away = 60.0 * (t - 0.5).abs() + 20.0 * shift.abs();
                let cost = self.hidden_by(number, &rect) + away;
                if best.is_none_or(|(least, _)| cost < least) {
                    best = Some((cost, rect));
                }
            }
        }
        let (_, rect) = best?;
        self.taken.push(rect);
        Some(rect.centre())
    }

    /// How much of the picture a label of that arrow would hide or lose.
    fn hidden_by(&self, number: usize, rect: &Rect) -> f64 {
        let covered = self.boxes.iter().chain(&self.taken);
        let covered: f64 = covered.map(|other| rect.overlap(other)).sum();
        let crossed = self
            .curves
            .iter()
            .enumerate()
            .filter(|(other, curve)| *other != number && rect.overlap(&curve.extent) > 0.0)
            .flat_map(|(_, curve)| &curve.points)
            .filter(|p| rect.contains(**p))
            .count();
        let outside = (2.0 - rect.x).max(0.0) + (rect.right() + 2.0 - self.width).max(0.0);
        8.0 * covered + 25.0 * crossed as f64 + 100.0 * outside
    }
}
