//! The chart as lanes of cards, with arrows under them. All places are known before a browser
//! looks at it, so the page is the same with scripts and without.

use std::collections::BTreeSet;
use std::fmt::{self, Write};

use crate::picture::escape;

use super::chart::{Card, Chart, Edge, Kind, Spot};
use super::listing::Listing;

/// Heights and widths in pixels.
const HEAD: u32 = 64;
const ROW: u32 = 66;
const CARD: u32 = 48;
const GAP: u32 = 52;
const MARGIN: u32 = 28;

pub struct Drawing<'a> {
    chart: &'a Chart,
    /// Of a card.
    width: u32,
}

impl<'a> Drawing<'a> {
    pub fn new(chart: &'a Chart) -> Drawing<'a> {
        let width = match chart.lanes.len() {
            0..=2 => 300,
            3 => 206,
            _ => 190,
        };
        Drawing { chart, width }
    }

    pub fn write(&self, out: &mut String, listing: &Listing<'_>) -> fmt::Result {
        let lanes = self.chart.lanes.len() as u32;
        let width = 2 * MARGIN + lanes * self.width + lanes.saturating_sub(1) * GAP;
        let has_end = self.chart.cards.iter().any(|card| card.step.is_none());
        let height = HEAD + (self.chart.rows + u32::from(has_end)) * ROW;
        writeln!(
            out,
            "<div class=\"lanes\" style=\"width:{width}px;height:{height}px;--wide:{width}\">"
        )?;
        self.heads(out, height)?;
        self.edges(out, width, height)?;
        for gap in &self.chart.gaps {
            let (x, y) = (self.left(gap.lane), self.top(gap.row) - 17);
            let words = escape(&gap.words);
            writeln!(
                out,
                "<span class=\"gap\" style=\"left:{x}px;top:{y}px;width:{}px\">{words}</span>",
                self.width
            )?;
        }
        self.chart.cards.iter().try_for_each(|card| self.card(out, card, listing))?;
        writeln!(out, "</div>")
    }

    /// The arrows that are there, in words.
    pub fn legend(&self, out: &mut String) -> fmt::Result {
        let kinds: BTreeSet<Kind> = self.chart.edges.iter().map(|edge| edge.kind).collect();
        if kinds.is_empty() {
            return Ok(());
        }
        write!(out, "<p class=\"legend\">")?;
        for kind in kinds {
            let (class, words) = (kind.class(), kind.legend());
            write!(
                out,
                "<span><svg width=\"34\" height=\"10\" class=\"edge {class}\" aria-hidden=\"true\">\
                 <path class=\"way\" d=\"M1 5H25\"/><path class=\"head\" d=\"M33 5l-9-4v8z\"/></svg> \
                 {words}</span> "
            )?;
        }
        if self.chart.edges.iter().any(|edge| edge.on_cycle) {
            write!(out, "<span><b>bold</b>: the cycle that no interleaving has</span>")?;
        }
        writeln!(out, "</p>")
    }

    fn heads(&self, out: &mut String, height: u32) -> fmt::Result {
        writeln!(out, "<div class=\"heads\">")?;
        for (number, lane) in self.chart.lanes.iter().enumerate() {
            let colour = number % super::COLOURS;
            writeln!(
                out,
                "<div class=\"head c{colour}\" style=\"left:{}px;width:{}px\"><b>{}</b>\
                 <small>{}</small></div>",
                self.left(number),
                self.width,
                escape(&lane.name),
                escape(&lane.origin)
            )?;
        }
        writeln!(out, "</div>")?;
        for number in 0..self.chart.lanes.len() {
            let (x, colour) = (self.left(number) + self.width / 2, number % super::COLOURS);
            let length = height - HEAD;
            writeln!(
                out,
                "<i class=\"rail c{colour}\" style=\"left:{x}px;top:{HEAD}px;height:{length}px\"></i>"
            )?;
        }
        Ok(())
    }

    fn card(&self, out: &mut String, card: &Card, listing: &Listing<'_>) -> fmt::Result {
        let mut class = format!("card c{}", card.lane % super::COLOURS);
        for (is_so, name) in [
            (card.involved, " involved"),
            (card.on_cycle, " cycle"),
            (card.step.is_none(), " standing"),
        ] {
            class.push_str(if is_so { name } else { "" });
        }
        let step = match card.step {
            Some(step) => format!(" data-step=\"{step}\""),
            None => format!(" data-end=\"{}\"", self.chart.rows),
        };
        let line = listing.key_of(card);
        let line = line.map_or(String::new(), |line| format!(" data-at=\"{line}\""));
        let title = match card.source.as_str() {
            "" => card.words.clone(),
            source => format!("{}\n{source}", card.words),
        };
        // What escape takes for a command, such as the end of a line, is one here.
        let title = title.split('\n').map(escape).collect::<Vec<_>>().join("&#10;");
        write!(
            out,
            "<button class=\"{class}\"{step}{line} style=\"left:{}px;top:{}px;width:{}px;\
             height:{CARD}px\" title=\"{title}\">",
            self.left(card.lane),
            self.top(card.row),
            self.width
        )?;
        if let Some(step) = card.step {
            write!(out, "<span class=\"number\">{step}</span>")?;
        }
        write!(out, "<span class=\"act\">{}</span><span class=\"how\">", escape(&card.act))?;
        if let Some(missed) = card.missed {
            write!(out, "<em>misses step {missed}</em> ")?;
        }
        if let Some(order) = &card.order {
            write!(out, "<u>{}</u> ", escape(order))?;
        }
        writeln!(out, "{}</span></button>", escape(&card.place))
    }

    fn edges(&self, out: &mut String, width: u32, height: u32) -> fmt::Result {
        writeln!(out, "<svg class=\"edges\" width=\"{width}\" height=\"{height}\" role=\"img\">")?;
        // Bold ones come last, and are on top.
        let mut edges: Vec<&Edge> = self.chart.edges.iter().collect();
        edges.sort_by_key(|edge| (edge.on_cycle, edge.kind));
        for (number, edge) in edges.iter().enumerate() {
            let same = |other: &&&Edge| (other.from, other.to) == (edge.from, edge.to);
            let beside = edges[..number].iter().filter(same).count() as u32;
            let cycle = if edge.on_cycle { " cycle" } else { "" };
            let (way, head) = self.way(edge, beside);
            writeln!(
                out,
                "<g class=\"edge {}{cycle}\" data-from=\"{}\" data-to=\"{}\"><title>{}</title>\
                 <path class=\"wide\" d=\"{way}\"/><path class=\"way\" d=\"{way}\"/>\
                 <path class=\"head\" d=\"{head}\"/></g>",
                edge.kind.class(),
                edge.from.row,
                edge.to.row,
                escape(&edge.words)
            )?;
        }
        writeln!(out, "</svg>")
    }

    /// The path of an arrow, and its head.
    fn way(&self, edge: &Edge, beside: u32) -> (String, String) {
        let shift = 7 * (beside % 4);
        let (from, to) = (edge.from, edge.to);
        if from.lane == to.lane {
            return match edge.kind == Kind::Order && to.row > from.row {
                true => self.down(from, to),
                false => self.around(from, to, shift),
            };
        }
        let right = to.lane > from.lane;
        let (mut y1, mut y2) = (self.middle(from) + shift, self.middle(to) + shift);
        if edge.kind == Kind::Waits {
            // Two threads that wait for each other: one arrow above the other.
            let lower = if right { 8 } else { 0 };
            (y1, y2) = (y1 + lower - 4, y2 + lower - 4);
        }
        let (x1, x2) = match right {
            true => (self.left(from.lane) + self.width, self.left(to.lane)),
            false => (self.left(from.lane), self.left(to.lane) + self.width),
        };
        let reach = GAP / 2 + 6;
        let (a, b, end, back) = match right {
            true => (x1 + reach, x2.saturating_sub(reach + 9), x2 - 9, -9i64),
            false => (x1.saturating_sub(reach), x2 + reach + 9, x2 + 9, 9),
        };
        let way = format!("M{x1} {y1}C{a} {y1} {b} {y2} {end} {y2}");
        let head = format!("M{x2} {y2}l{back} -5v10z");
        (way, head)
    }

    fn down(&self, from: Spot, to: Spot) -> (String, String) {
        let x = self.left(from.lane) + self.width / 2;
        let start = self.top(from.row) + CARD;
        let end = self.top(to.row);
        (format!("M{x} {start}V{}", end - 8), format!("M{x} {end}l-5 -9h10z"))
    }

    /// Along the left of a lane.
    fn around(&self, from: Spot, to: Spot, shift: u32) -> (String, String) {
        let x = self.left(from.lane);
        let out = x.saturating_sub(22 + shift);
        let (y1, y2) = (self.middle(from) + shift, self.middle(to));
        let way = format!("M{x} {y1}C{out} {y1} {out} {y2} {} {y2}", x - 9);
        (way, format!("M{x} {y2}l-9 -5v10z"))
    }

    fn left(&self, lane: usize) -> u32 {
        MARGIN + lane as u32 * (self.width + GAP)
    }

    fn top(&self, row: u32) -> u32 {
        HEAD + row.saturating_sub(1) * ROW + 22
    }

    fn middle(&self, spot: Spot) -> u32 {
        self.top(spot.row) + CARD / 2
    }
}
