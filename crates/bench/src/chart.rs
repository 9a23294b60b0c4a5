//! Curves as SVG: panels side by side that share their vertical axis, with a legend above. The
//! picture has a background of its own, so that it can be read on light and dark pages.

use std::fmt::Write;

pub struct Chart {
    pub title: String,
    pub note: String,
    pub x: Axis,
    pub y: Axis,
    pub panels: Vec<Panel>,
}

#[derive(Clone, Copy)]
pub struct Axis {
    pub label: &'static str,
    pub is_log: bool,
}

pub struct Panel {
    pub title: String,
    pub curves: Vec<Curve>,
}

pub struct Curve {
    pub name: String,
    pub points: Vec<(f64, f64)>,
}

/// Colours that differ in brightness too (after P. Tol's schemes for colour-blind readers).
const COLOURS: [&str; 10] = [
    "#0068a8", "#cc3311", "#00877a", "#e08a00", "#a0287a", "#4a4a55", "#5b9bd5", "#8a7000",
    "#332288", "#88ccaa",
];
const INK: &str = "#1f2328";
const FAINT: &str = "#6e7681";
const GRID: &str = "#e4e4de";

const WIDTH: f64 = 760.0;
const LEFT: f64 = 74.0;
const RIGHT: f64 = 24.0;
const GAP: f64 = 30.0;
const HEIGHT: f64 = 250.0;
const BELOW: f64 = 54.0;
const LEGEND_TOP: f64 = 76.0;
const LEGEND_LINE: f64 = 20.0;

/// Values of one axis, and where they are drawn.
struct Scale {
    axis: Axis,
    /// Lowest and highest value, as they are or as logarithms.
    low: f64,
    high: f64,
    /// Where these are drawn.
    start: f64,
    end: f64,
}

impl Scale {
    fn new(axis: Axis, values: &[f64], start: f64, end: f64) -> Scale {
        let mut values: Vec<f64> = values.iter().map(|value| measure(axis, *value)).collect();
        values.sort_by(f64::total_cmp);
        let (low, high) = match (values.first(), values.last()) {
            (Some(low), Some(high)) => (*low, *high),
            _ => (0.0, 1.0),
        };
        let high = if high > low { high } else { low + 1.0 };
        Scale { axis, low, high, start, end }
    }

    /// Makes room at both ends, for curves that go to the side.
    fn widened(self) -> Scale {
        let room = (self.high - self.low) * 0.05;
        Scale { low: self.low - room, high: self.high + room, ..self }
    }

    /// From 0, or from a round number, to one.
    fn rounded(self) -> Scale {
        let (low, high) = match self.axis.is_log {
            true => (round_down(self.low), round_up(self.high)),
            false => {
                let step = step(self.high, 5.0);
                (0.0, (self.high / step).ceil() * step)
            }
        };
        Scale { low, high, ..self }
    }

    fn at(&self, value: f64) -> f64 {
        let part = (measure(self.axis, value) - self.low) / (self.high - self.low);
        self.start + part * (self.end - self.start)
    }

    fn ticks(&self) -> Vec<f64> {
        if self.axis.is_log { self.log_ticks() } else { self.even_ticks() }
    }

    fn log_ticks(&self) -> Vec<f64> {
        let decades = self.high - self.low;
        let every = if decades > 8.0 { 2 } else { 1 };
        let within: &[f64] = if decades > 3.2 { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let mut ticks = Vec::new();
        for decade in self.low.floor() as i32..=self.high.ceil() as i32 {
            if decade.rem_euclid(every) == 0 {
                ticks.extend(within.iter().map(|digit| digit * 10f64.powi(decade)));
            }
        }
        let near = 1e-9;
        ticks.retain(|tick| self.low - near <= tick.log10() && tick.log10() <= self.high + near);
        ticks
    }

    fn even_ticks(&self) -> Vec<f64> {
        let step = step(self.high - self.low, 6.0).max(1.0);
        let first = (self.low / step).ceil() as i64;
        let last = (self.high / step).floor() as i64;
        (first..=last).map(|tick| tick as f64 * step).collect()
    }
}

fn measure(axis: Axis, value: f64) -> f64 {
    if axis.is_log { value.max(1e-9).log10() } else { value }
}

/// Logarithms of 1, 2 and 5 times powers of ten around a logarithm, in their order.
fn round_logs(log: f64) -> [f64; 4] {
    [1.0f64, 2.0, 5.0, 10.0].map(|digit| log.floor() + digit.log10())
}

/// The nearest of them that is not above.
fn round_down(log: f64) -> f64 {
    round_logs(log).into_iter().rfind(|round| *round <= log + 1e-9).unwrap_or(log)
}

/// The nearest of them that is not below.
fn round_up(log: f64) -> f64 {
    round_logs(log).into_iter().find(|round| *round >= log - 1e-9).unwrap_or(log)
}

/// A round step that divides a range into about so many parts.
fn step(range: f64, parts: f64) -> f64 {
    let rough = (range / parts).max(1e-9);
    let decade = 10f64.powf(rough.log10().floor());
    let digit = [1.0, 2.0, 5.0].into_iter().find(|digit| digit * decade >= rough * 0.999);
    digit.unwrap_or(10.0) * decade
}

/// `0.5`, `20`, `5,000`, `100 k`, `2 M`.
fn short(value: f64) -> String {
    match value {
        v if v >= 1e6 => format!("{} M", v / 1e6),
        v if v >= 1e4 => format!("{} k", v / 1e3),
        v if v >= 1e3 => format!("{},000", v / 1e3),
        v => format!("{}", (v * 1e6).round() / 1e6),
    }
}

impl Panel {
    fn names(&self) -> Vec<&str> {
        self.curves.iter().map(|curve| curve.name.as_str()).collect()
    }
}

/// Entries of a legend in lines between two places.
fn flow(names: &[&str], left: f64, right: f64) -> Vec<(String, f64, f64)> {
    let (mut x, mut line) = (left, 0.0);
    let place = |name: &&str| {
        let width = 42.0 + 7.2 * name.chars().count() as f64;
        if x > left && x + width - 12.0 > right {
            (x, line) = (left, line + 1.0);
        }
        x += width;
        ((*name).to_string(), x - width, line)
    };
    names.iter().map(place).collect()
}

impl Chart {
    pub fn svg(&self) -> String {
        let legend = self.legend();
        let lines = legend.iter().map(|entry| entry.2 + 1.0).fold(0.0, f64::max);
        let top = LEGEND_TOP + lines * LEGEND_LINE + 26.0;
        let height = top + HEIGHT + BELOW;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
             width=\"{WIDTH}\" height=\"{height}\" \
             font-family=\"system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif\" role=\"img\">\n\
             <title>{title}</title>\n\
             <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#fcfcfa\"/>\n",
            title = self.title
        );
        text(
            &mut svg,
            (24.0, 32.0),
            "start",
            "font-size=\"16\" font-weight=\"bold\"",
            INK,
            &self.title,
        );
        text(&mut svg, (24.0, 52.0), "start", "font-size=\"12\"", FAINT, &self.note);
        for (name, x, line) in &legend {
            self.entry(&mut svg, name, *x, LEGEND_TOP + line * LEGEND_LINE);
        }
        self.draw_panels(&mut svg, top);
        svg.push_str("</svg>\n");
        svg
    }

    /// Names of the curves, and where each stands: how far right, and in which line. Panels that
    /// share no curve have each its own above it.
    fn legend(&self) -> Vec<(String, f64, f64)> {
        let names: Vec<Vec<&str>> = self.panels.iter().map(Panel::names).collect();
        let is_shared = names.iter().skip(1).any(|other| {
            names.first().is_some_and(|first| first.iter().any(|name| other.contains(name)))
        });
        if is_shared || names.len() < 2 {
            let mut all: Vec<&str> = Vec::new();
            for name in names.concat() {
                if !all.contains(&name) {
                    all.push(name);
                }
            }
            return flow(&all, 24.0, WIDTH - RIGHT);
        }
        let width = self.panel_width();
        let place = |(number, names): (usize, &Vec<&str>)| {
            let left = LEFT + number as f64 * (width + GAP);
            flow(names, left, left + width)
        };
        names.iter().enumerate().flat_map(place).collect()
    }

    fn panel_width(&self) -> f64 {
        let count = self.panels.len().max(1) as f64;
        (WIDTH - LEFT - RIGHT - GAP * (count - 1.0)) / count
    }

    /// Panels that share no curve use the same colours.
    fn colour(&self, name: &str) -> &'static str {
        let place = |panel: &Panel| panel.curves.iter().position(|curve| curve.name == name);
        COLOURS[self.panels.iter().find_map(place).unwrap_or(0) % COLOURS.len()]
    }

    fn entry(&self, svg: &mut String, name: &str, x: f64, y: f64) {
        let colour = self.colour(name);
        let (left, right, middle, line) = (x, x + 20.0, x + 10.0, y - 4.0);
        let _ = writeln!(
            svg,
            "<path d=\"M{left} {line}H{right}\" stroke=\"{colour}\" stroke-width=\"2\"/>\
             <circle cx=\"{middle}\" cy=\"{line}\" r=\"3.2\" fill=\"{colour}\"/>"
        );
        text(svg, (x + 26.0, y), "start", "font-size=\"12\"", INK, name);
    }

    fn draw_panels(&self, svg: &mut String, top: f64) {
        let width = self.panel_width();
        let bottom = top + HEIGHT;
        let all = |pick: fn(&(f64, f64)) -> f64, panels: &[Panel]| -> Vec<f64> {
            let curves = panels.iter().flat_map(|panel| &panel.curves);
            curves.flat_map(|curve| curve.points.iter().map(pick)).collect()
        };
        let y = Scale::new(self.y, &all(|point| point.1, &self.panels), bottom, top).rounded();
        for (number, panel) in self.panels.iter().enumerate() {
            let left = LEFT + number as f64 * (width + GAP);
            let values = all(|point| point.0, std::slice::from_ref(panel));
            let x = Scale::new(self.x, &values, left, left + width).widened();
            self.draw_grid(svg, &x, &y, number == 0);
            let title = "font-size=\"13\" font-weight=\"bold\"";
            text(svg, (left, top - 10.0), "start", title, INK, &panel.title);
            for curve in &panel.curves {
                self.draw_curve(svg, curve, &x, &y);
            }
        }
        let middle = (top + bottom) / 2.0;
        let turned = format!("font-size=\"12\" transform=\"rotate(-90 20 {middle})\"");
        text(svg, (20.0, middle), "middle", &turned, FAINT, self.y.label);
    }

    fn draw_grid(&self, svg: &mut String, x: &Scale, y: &Scale, has_numbers: bool) {
        for tick in y.ticks() {
            let (at, left, right) = (y.at(tick), x.start, x.end);
            let _ = writeln!(svg, "<path d=\"M{left:.1} {at:.1}H{right:.1}\" stroke=\"{GRID}\"/>");
            if has_numbers {
                let place = (left - 8.0, at + 4.0);
                text(svg, place, "end", "font-size=\"12\"", FAINT, &short(tick));
            }
        }
        for tick in x.ticks() {
            let (at, bottom, end) = (x.at(tick), y.start, y.start + 4.0);
            let _ = writeln!(svg, "<path d=\"M{at:.1} {bottom:.1}V{end:.1}\" stroke=\"{FAINT}\"/>");
            let place = (at, y.start + 18.0);
            text(svg, place, "middle", "font-size=\"12\"", FAINT, &short(tick));
        }
        let (left, right, bottom) = (x.start, x.end, y.start);
        let _ = writeln!(svg, "<path d=\"M{left:.1} {bottom:.1}H{right:.1}\" stroke=\"{FAINT}\"/>");
        let place = ((left + right) / 2.0, bottom + 38.0);
        text(svg, place, "middle", "font-size=\"12\"", FAINT, self.x.label);
    }

    fn draw_curve(&self, svg: &mut String, curve: &Curve, x: &Scale, y: &Scale) {
        let colour = self.colour(&curve.name);
        let places: Vec<String> = curve
            .points
            .iter()
            .map(|point| format!("{:.1} {:.1}", x.at(point.0), y.at(point.1)))
            .collect();
        let _ = writeln!(
            svg,
            "<path d=\"M{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" \
             stroke-linejoin=\"round\" stroke-linecap=\"round\"/>",
            places.join("L")
        );
        for point in &curve.points {
            let _ = writeln!(
                svg,
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3.2\" fill=\"{colour}\" \
                 stroke=\"#fcfcfa\"/>",
                x.at(point.0),
                y.at(point.1)
            );
        }
    }
}

fn text(svg: &mut String, at: (f64, f64), anchor: &str, style: &str, fill: &str, content: &str) {
    let (x, y) = at;
    let _ = writeln!(
        svg,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"{fill}\" {style}>{content}</text>"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_have_round_numbers() {
        let log = Axis { label: "", is_log: true };
        let scale = Scale::new(log, &[0.7, 38.0], 0.0, 100.0).rounded();
        let ticks = scale.ticks();
        assert_eq!(
            ticks.iter().map(|tick| short(*tick)).collect::<Vec<_>>().join(" "),
            "0.5 1 2 5 10 20 50"
        );
        let even = Axis { label: "", is_log: false };
        let scale = Scale::new(even, &[3.0, 13.0], 0.0, 100.0).rounded();
        assert_eq!(scale.ticks(), [0.0, 5.0, 10.0, 15.0]);
        assert_eq!(short(2e6), "2 M");
    }

    #[test]
    fn values_that_are_all_alike_can_be_drawn() {
        let axis = Axis { label: "n", is_log: true };
        let curve = Curve { name: "one".to_string(), points: vec![(2.0, 5.0)] };
        let panels = vec![Panel { title: String::new(), curves: vec![curve] }];
        let chart = Chart { title: String::new(), note: String::new(), x: axis, y: axis, panels };
        assert!(!chart.svg().contains("NaN"));
    }
}
