//! The table that the benchmark of exploration prints, read back: rows, the curves they make, and
//! the table of the README.

use std::fmt::{self, Write};

use crate::chart::{Axis, Chart, Curve, Panel};
use crate::programs::FAMILIES;

/// One measurement.
#[derive(Clone, PartialEq, Debug)]
pub struct Row {
    pub family: String,
    pub n: usize,
    pub model: String,
    pub executions: u64,
    pub blocked: u64,
    pub seconds: f64,
    /// A second.
    pub events: f64,
    pub peak_mib: f64,
}

impl Row {
    pub const HEADING: &'static str = "family         n model    executions    blocked    seconds    \
                                       µs each       events/s   peak MiB";

    /// Microseconds for each execution, blocked ones included.
    pub fn each(&self) -> f64 {
        self.seconds * 1e6 / (self.executions + self.blocked).max(1) as f64
    }

    /// None for a line that is no row.
    pub fn parse(line: &str) -> Option<Row> {
        let cells: Vec<&str> = line.split_whitespace().collect();
        let [family, n, model, executions, blocked, seconds, _, events, peak] = cells[..] else {
            return None;
        };
        Some(Row {
            family: family.to_string(),
            n: n.parse().ok()?,
            model: model.to_string(),
            executions: executions.parse().ok()?,
            blocked: blocked.parse().ok()?,
            seconds: seconds.parse().ok()?,
            events: events.parse().ok()?,
            peak_mib: peak.parse().ok()?,
        })
    }

    fn is_family(&self) -> bool {
        FAMILIES.iter().any(|family| family.name == self.family)
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:<12} {:>3} {:<6} {:>12} {:>10} {:>10.6} {:>10.2} {:>14.0} {:>10.1}",
            self.family,
            self.n,
            self.model,
            self.executions,
            self.blocked,
            self.seconds,
            self.each(),
            self.events,
            self.peak_mib
        )
    }
}

const MODELS: [&str; 3] = ["sc", "tso", "rc11"];

/// The figures of the book, by file name.
pub fn figures(rows: &[Row]) -> Vec<(&'static str, Chart)> {
    let (families, structures): (Vec<Row>, Vec<Row>) =
        rows.iter().cloned().partition(Row::is_family);
    let size = Axis { label: "n", is_log: false };
    let each = |title: &str, note: &str, rows: &[Row]| Chart {
        title: title.to_string(),
        note: note.to_string(),
        x: size,
        y: Axis { label: "µs for each execution", is_log: true },
        panels: MODELS
            .iter()
            .map(|model| panel(model, rows, model, |row| (row.n as f64, row.each())))
            .collect(),
    };
    let counts = |row: &Row| (row.n as f64, row.executions as f64);
    let memory = |row: &Row| (row.executions as f64, row.peak_mib);
    vec![
        (
            "explore-executions.svg",
            Chart {
                title: "How many executions there are".to_string(),
                note: "under rc11; logarithmic".to_string(),
                x: size,
                y: Axis { label: "executions", is_log: true },
                panels: vec![
                    panel("families", &families, "rc11", counts),
                    panel("locks and containers in C", &structures, "rc11", counts),
                ],
            },
        ),
        (
            "explore-time.svg",
            each("What each execution costs", "families; one thread; logarithmic", &families),
        ),
        (
            "explore-structures.svg",
            each(
                "Locks and containers in C",
                "time for each execution, blocked ones included; one thread; logarithmic",
                &structures,
            ),
        ),
        (
            "explore-memory.svg",
            Chart {
                title: "Peak memory".to_string(),
                note: "of the process, in MiB, against the number of executions".to_string(),
                x: Axis { label: "executions", is_log: true },
                y: Axis { label: "MiB", is_log: false },
                panels: vec![panel("rc11", &families, "rc11", memory)],
            },
        ),
    ]
}

fn panel(title: &str, rows: &[Row], model: &str, point: impl Fn(&Row) -> (f64, f64)) -> Panel {
    let mut curves: Vec<Curve> = Vec::new();
    for row in rows.iter().filter(|row| row.model == model) {
        match curves.iter_mut().find(|curve| curve.name == row.family) {
            Some(curve) => curve.points.push(point(row)),
            None => curves.push(Curve { name: row.family.clone(), points: vec![point(row)] }),
        }
    }
    Panel { title: title.to_string(), curves }
}

/// What the families are, and what GenMC 0.11 needs for each execution, in microseconds.
const FAMILY_LINES: [(&str, &str, &str); 6] = [
    ("additions", "n threads add to one variable", "38"),
    ("readers", "one thread stores, n threads load", "39–48"),
    ("last-zero", "n threads fill an array, one looks for the last 0", "56–71"),
    ("fibonacci", "two threads add n times, one looks", "6–8"),
    ("ring", "n threads store one cell and load the next", "11"),
    ("indexer", "n threads insert 4 values each into a hash table", "560"),
];

/// The table of the README: each family at its largest size.
pub fn table(rows: &[Row]) -> String {
    let mut text = String::from(
        "| family | n | executions | µs each: sc | tso | rc11 | GenMC 0.11 |\n\
         | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for (name, line, genmc) in FAMILY_LINES {
        let of = |model: &str| {
            let rows = rows.iter().filter(|row| row.family == name && row.model == model);
            rows.max_by_key(|row| row.n)
        };
        let found: Vec<&Row> = MODELS.iter().filter_map(|model| of(model)).collect();
        let [sc, tso, rc11] = found[..] else {
            continue;
        };
        let mut counts: Vec<String> =
            [sc, tso, rc11].iter().map(|row| grouped(row.executions)).collect();
        counts.dedup();
        let _ = writeln!(
            text,
            "| {line} | {} | {} | {:.1} | {:.1} | {:.1} | {genmc} |",
            sc.n,
            counts.join("; "),
            sc.each(),
            tso.each(),
            rc11.each()
        );
    }
    text
}

/// A number with commas.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

const BEGIN: &str = "<!-- figures:begin -->\n";
const END: &str = "<!-- figures:end -->";

/// The page with a new table between its two marks; None if it has none.
pub fn with_table(page: &str, table: &str) -> Option<String> {
    let (before, rest) = page.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}{table}{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_back() {
        let row = Row {
            family: "ring".to_string(),
            n: 14,
            model: "sc".to_string(),
            executions: 16_383,
            blocked: 0,
            seconds: 0.0125,
            events: 1e6,
            peak_mib: 9.5,
        };
        assert_eq!(Row::parse(&row.to_string()), Some(row));
        assert_eq!(Row::parse(Row::HEADING), None);
    }

    #[test]
    fn only_what_stands_between_the_marks_changes() {
        let page = format!("a\n{BEGIN}old\n{END}\nb\n");
        assert_eq!(with_table(&page, "new\n"), Some(format!("a\n{BEGIN}new\n{END}\nb\n")));
        assert_eq!(with_table("a", "new"), None);
        assert_eq!(grouped(1_234_567), "1,234,567");
    }
}
