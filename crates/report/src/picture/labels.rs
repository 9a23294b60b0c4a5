//! A spot for the name of each arrow: on its curve, where it hides least. Several places
//! along the curve are tried; covering a box or another name counts most, then other curves,
//! then being far from the middle.

use super::geometry::{Path, Point, Rect};
use super::layout::text_width;

pub const SIZE: f64 = 11.0;
const HEIGHT: f64 = 14.0;

/// The centre of each label; empty labels get none.
pub fn place_labels(texts: &[String], paths: &[Path], boxes: &[Rect]) -> Vec<Option<Point>> {
    let samples: Vec<Vec<Point>> = paths
        .iter()
        .map(|path| (0..=32).map(|i| path.at(f64::from(i) / 32.0)).collect())
        .collect();
    let mut taken: Vec<Rect> = Vec::new();
    let mut spots = Vec::with_capacity(texts.len());
    for (number, (text, path)) in texts.iter().zip(paths).enumerate() {
        if text.is_empty() {
            spots.push(None);
            continue;
        }
        let width = text_width(text, SIZE) + 6.0;
        let cost = |centre: Point, t: f64| {
            let rect = Rect::around(centre, width, HEIGHT);
            let hidden = |others: &[Rect]| others.iter().map(|o| rect.overlap(o)).sum::<f64>();
            let crossed = samples
                .iter()
                .enumerate()
                .filter(|(other, _)| *other != number)
                .flat_map(|(_, points)| points)
                .filter(|p| rect.contains(**p))
                .count();
            8.0 * hidden(boxes)
                + 8.0 * hidden(&taken)
                + 25.0 * crossed as f64
                + 60.0 * (t - 0.5).abs()
        };
        let tries = (2..=14).map(|i| f64::from(i) / 16.0);
        let best = tries
            .map(|t| (cost(path.at(t), t), path.at(t)))
            .min_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((_, centre)) = best {
            taken.push(Rect::around(centre, width, HEIGHT));
        }
        spots.push(best.map(|(_, centre)| centre));
    }
    spots
}
