//! Pictures as self-contained SVG: no fonts, scripts or styles from elsewhere, and a light
//! ground of their own, so that they read the same on light and dark pages.

use std::fmt::{self, Write};

use parallax_program::is_obeyed;
use parallax_verdict::Execution;

use super::Caption;
use super::geometry::{Cubic, Path, Point, Rect, point};
use super::labels::{self, place_labels};
use super::layout::{DETAIL_SIZE, LABEL_SIZE, Layout, detail_text, layout, text_width};
use super::plan::{Way, plan};
use super::route::route;
use super::scene::{Arrow, Node, NodeKind, Relation, Scene, Style};
use crate::state::state_line;

const FONT: &str = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace";
const GROUND: &str = "#fcfcfa";
const INK: &str = "#1f2328";
const PALE: &str = "#6e7681";
/// Around what a picture is about.
const ALARM: &str = "#c62828";
const LEFT: f64 = 22.0;

/// Draws an execution.
pub fn svg(execution: &Execution, caption: Caption<'_>) -> String {
    let final_state = state_line(&execution.final_state);
    draw_scene(&Scene::new(execution), &[caption.subtitle, &final_state], caption.title)
}

/// Draws a scene below its title and further lines.
pub fn draw_scene(scene: &Scene, lines: &[&str], title: &str) -> String {
    let plan = plan(scene);
    let lines = lines.iter().copied().filter(|line| !line.is_empty()).collect();
    let head = Head { title, lines };
    let layout = layout(scene, &plan, head.height());
    let paths = route(scene, &plan, &layout);
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = draw(&mut out, scene, &plan.ways, &layout, &paths, &head);
    out
}

struct Head<'a> {
    title: &'a str,
    lines: Vec<&'a str>,
}

impl Head<'_> {
    fn height(&self) -> f64 {
        48.0 + 17.0 * self.lines.len() as f64
    }

    fn width(&self) -> f64 {
        let lines = self.lines.iter().map(|line| text_width(line, 12.0));
        lines.fold(text_width(self.title, 15.0), f64::max) + 2.0 * LEFT
    }
}

fn draw(
    out: &mut String,
    scene: &Scene,
    ways: &[Way],
    layout: &Layout,
    paths: &[Path],
    head: &Head<'_>,
) -> fmt::Result {
    let width = layout.width.max(head.width()).max(260.0);
    let legend = Legend::new(&scene.relations, width, layout.bottom + 34.0);
    let height = legend.bottom;
    writeln!(
        out,
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0} {height:.0}" width="{width:.0}" height="{height:.0}" font-family="{FONT}" role="img">"##
    )?;
    writeln!(out, "<title>{}</title>", escape(head.title))?;
    writeln!(out, r##"<rect width="100%" height="100%" rx="8" fill="{GROUND}"/>"##)?;
    draw_head(out, head)?;
    for (name, column) in scene.columns.iter().zip(&layout.columns) {
        let at = point(column.x + 1.0, column.y + 16.0);
        text(out, at, name, LABEL_SIZE, INK, r#"font-weight="bold""#)?;
    }
    for (above, below) in &scene.ties {
        draw_tie(out, &layout.boxes[*above], &layout.boxes[*below])?;
    }
    for (arrow, path) in scene.arrows.iter().zip(paths) {
        draw_arrow(out, scene, arrow, path)?;
    }
    for (node, rect) in scene.nodes.iter().zip(&layout.boxes) {
        draw_node(out, node, rect)?;
    }
    draw_labels(out, scene, ways, layout, paths)?;
    legend.draw(out)?;
    writeln!(out, "</svg>")
}

fn draw_head(out: &mut String, head: &Head<'_>) -> fmt::Result {
    let bold = r#"font-weight="bold""#;
    text(out, point(LEFT, 30.0), head.title, 15.0, INK, bold)?;
    for (number, line) in head.lines.iter().enumerate() {
        let y = 50.0 + 17.0 * number as f64;
        text(out, point(LEFT, y), line, 12.0, PALE, "")?;
    }
    Ok(())
}

fn draw_node(out: &mut String, node: &Node, rect: &Rect) -> fmt::Result {
    let (fill, stroke, dash) = match node.kind {
        NodeKind::Initial => ("#ffffff", "#9aa2ab", r#" stroke-dasharray="3 2""#),
        NodeKind::Read => ("#fff6e9", "#b9a27c", ""),
        NodeKind::Write => ("#eaf2fd", "#86a5cf", ""),
        NodeKind::Fence => ("#eceef0", "#9aa2ab", ""),
        NodeKind::Standing => ("#fdecea", ALARM, ""),
    };
    let (stroke, dash) =
        if node.involved { (ALARM, r#" stroke-width="2.6""#) } else { (stroke, dash) };
    let Rect { x, y, width, height } = rect;
    writeln!(
        out,
        r##"<rect x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}" rx="7" fill="{fill}" stroke="{stroke}"{dash}/>"##
    )?;
    let centre = rect.centre();
    let middle = r#"text-anchor="middle""#;
    let label_y = if node.detail.is_empty() { centre.y + 4.5 } else { rect.y + 17.5 };
    let label = node.label();
    text(out, point(centre.x, label_y), &label, LABEL_SIZE, INK, middle)?;
    if !node.detail.is_empty() {
        let at = point(centre.x, rect.y + 33.5);
        let detail = detail_text(&node.detail);
        text(out, at, &detail, DETAIL_SIZE, PALE, middle)?;
    }
    Ok(())
}

/// Two parts of one access hang together.
fn draw_tie(out: &mut String, above: &Rect, below: &Rect) -> fmt::Result {
    let (x, top, height) = (above.centre().x, above.bottom(), below.y - above.bottom());
    writeln!(
        out,
        r##"<path d="M{:.1} {top:.1}v{height:.1}m6 0v-{height:.1}" fill="none" stroke="#c3c8ce" stroke-width="1.6"/>"##,
        x - 3.0
    )
}

fn draw_arrow(out: &mut String, scene: &Scene, arrow: &Arrow, path: &Path) -> fmt::Result {
    let style = first_style(scene, arrow);
    let (tip, back) = (path.end(), path.last_control());
    let length = (tip.x - back.x).hypot(tip.y - back.y).max(f64::EPSILON);
    let (dx, dy) = ((tip.x - back.x) / length, (tip.y - back.y) / length);
    let neck = point(tip.x - 6.0 * dx, tip.y - 6.0 * dy);
    let mut line = path.clone();
    if let Some(Cubic(last)) = line.0.last_mut() {
        last[3] = neck;
    }
    draw_line(out, &path_data(&line), style)?;
    let base = point(tip.x - 8.0 * dx, tip.y - 8.0 * dy);
    let wing = |side: f64| point(base.x - side * 3.6 * dy, base.y + side * 3.6 * dx);
    let (left, right) = (wing(1.0), wing(-1.0));
    writeln!(
        out,
        r##"<path d="M{:.1} {:.1}L{:.1} {:.1}L{:.1} {:.1}Z" fill="{}"/>"##,
        tip.x, tip.y, left.x, left.y, right.x, right.y, style.colour
    )
}

fn draw_line(out: &mut String, data: &str, style: Style) -> fmt::Result {
    let dash = if style.dash.is_empty() {
        String::new()
    } else {
        format!(r#" stroke-dasharray="{}""#, style.dash)
    };
    writeln!(
        out,
        r##"<path d="{data}" fill="none" stroke="{}" stroke-width="1.6"{dash}/>"##,
        style.colour
    )
}

fn path_data(path: &Path) -> String {
    let mut data = String::new();
    for (number, Cubic([a, b, c, d])) in path.0.iter().enumerate() {
        if number == 0 {
            let _ = write!(data, "M{:.1} {:.1}", a.x, a.y);
        }
        let _ = write!(data, "C{:.1} {:.1} {:.1} {:.1} {:.1} {:.1}", b.x, b.y, c.x, c.y, d.x, d.y);
    }
    data
}

fn draw_labels(
    out: &mut String,
    scene: &Scene,
    ways: &[Way],
    layout: &Layout,
    paths: &[Path],
) -> fmt::Result {
    let texts: Vec<String> = scene
        .arrows
        .iter()
        .zip(ways)
        .map(|(arrow, way)| match way {
            Way::Down => String::new(),
            _ => scene.arrow_label(arrow),
        })
        .collect();
    let spots = place_labels(&texts, paths, &layout.boxes, layout.width);
    for (arrow, spot) in scene.arrows.iter().zip(spots) {
        if let Some(spot) = spot {
            draw_label(out, scene, arrow, spot)?;
        }
    }
    Ok(())
}

/// The names of the arrow's relations, each in its colour, on a halo of the ground's colour.
fn draw_label(out: &mut String, scene: &Scene, arrow: &Arrow, spot: Point) -> fmt::Result {
    write!(
        out,
        r##"<text x="{:.1}" y="{:.1}" font-size="{}" text-anchor="middle" font-weight="bold" stroke="{GROUND}" stroke-width="4" stroke-linejoin="round" paint-order="stroke">"##,
        spot.x,
        spot.y + 3.8,
        labels::SIZE
    )?;
    for (number, relation) in arrow.relations.iter().enumerate() {
        let Some(relation) = scene.relations.get(*relation) else {
            continue;
        };
        let comma = if number == 0 { "" } else { ", " };
        let name = escape(&relation.name);
        let colour = relation.style.colour;
        write!(out, r##"<tspan fill="{colour}">{comma}{name}</tspan>"##)?;
    }
    writeln!(out, "</text>")
}

fn first_style(scene: &Scene, arrow: &Arrow) -> Style {
    let first = arrow.relations.first().and_then(|r| scene.relations.get(*r));
    first.map_or(Style { colour: INK, dash: "", meaning: "" }, |relation| relation.style)
}

/// What the colours mean, in as many lines as the width asks for.
struct Legend<'a> {
    entries: Vec<(Point, &'a Relation)>,
    bottom: f64,
}

const SAMPLE: f64 = 26.0;

impl<'a> Legend<'a> {
    fn new(relations: &'a [Relation], width: f64, top: f64) -> Legend<'a> {
        let mut at = point(LEFT, top);
        let mut entries = Vec::with_capacity(relations.len());
        for relation in relations {
            let words = format!("{} {}", relation.name, relation.style.meaning);
            let length = SAMPLE + 6.0 + text_width(words.trim_end(), labels::SIZE) + 22.0;
            if at.x > LEFT && at.x + length - 22.0 > width - LEFT {
                at = point(LEFT, at.y + 18.0);
            }
            entries.push((at, relation));
            at.x += length;
        }
        Legend { entries, bottom: at.y + 18.0 }
    }

    fn draw(&self, out: &mut String) -> fmt::Result {
        for (at, relation) in &self.entries {
            let y = at.y - 4.0;
            let data = format!("M{:.1} {y:.1}h{SAMPLE:.1}", at.x);
            draw_line(out, &data, relation.style)?;
            write!(
                out,
                r##"<text x="{:.1}" y="{:.1}" font-size="{}"><tspan font-weight="bold" fill="{}">{}</tspan>"##,
                at.x + SAMPLE + 6.0,
                at.y,
                labels::SIZE,
                relation.style.colour,
                escape(&relation.name)
            )?;
            if !relation.style.meaning.is_empty() {
                let meaning = relation.style.meaning;
                write!(out, r##"<tspan dx="7" fill="{PALE}">{meaning}</tspan>"##)?;
            }
            writeln!(out, "</text>")?;
        }
        Ok(())
    }
}

fn text(
    out: &mut String,
    at: Point,
    words: &str,
    size: f64,
    colour: &str,
    attributes: &str,
) -> fmt::Result {
    let space = if attributes.is_empty() { "" } else { " " };
    writeln!(
        out,
        r##"<text x="{:.1}" y="{:.1}" font-size="{size}" fill="{colour}"{space}{attributes}>{}</text>"##,
        at.x,
        at.y,
        escape(words)
    )
}

/// XML text; characters that XML does not allow, and those that change the direction of writing,
/// become spaces.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => escaped.push(' '),
            c if is_obeyed(c) => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}
