//! Final states in the order and spelling of herd7's logs: registers first, thread by thread,
//! then memory, written `[x]`.

use std::cmp::Ordering;

use parallax_verdict::{FinalState, StateValue};

/// `0:EAX=1; [x]=2;`
pub fn state_line(values: &[StateValue]) -> String {
    let columns = Columns::of(values);
    columns.line(&columns.shown(values))
}

/// The states of a test, a line each, in order. All have the same places.
pub fn state_lines(states: &[FinalState]) -> Vec<String> {
    let Some(first) = states.first() else {
        return Vec::new();
    };
    let columns = Columns::of(&first.values);
    let shown = states.iter().map(|state| columns.shown(&state.values));
    let mut rows: Vec<Vec<&str>> = shown.collect();
    rows.sort_by(|a, b| {
        let differences = a.iter().zip(b).map(|(a, b)| natural_order(a, b));
        differences.fold(Ordering::Equal, Ordering::then)
    });
    rows.iter().map(|row| columns.line(row)).collect()
}

/// The places of a state, in the order of a line.
struct Columns {
    names: Vec<String>,
    /// For each, its position in the state.
    positions: Vec<usize>,
}

impl Columns {
    fn of(values: &[StateValue]) -> Columns {
        let mut positions: Vec<usize> = (0..values.len()).collect();
        positions.sort_by(|a, b| by_place(&values[*a], &values[*b]));
        let names = positions.iter().map(|at| place_name(&values[*at]));
        Columns { names: names.collect(), positions }
    }

    /// What the places show, in the order of a line.
    fn shown<'a>(&self, values: &'a [StateValue]) -> Vec<&'a str> {
        let shown = self.positions.iter().filter_map(|at| values.get(*at));
        shown.map(|value| value.shown.as_str()).collect()
    }

    fn line(&self, shown: &[&str]) -> String {
        let mut line = String::new();
        for (name, value) in self.names.iter().zip(shown) {
            let space = if line.is_empty() { "" } else { " " };
            line.extend([space, name, "=", value, ";"]);
        }
        line
    }
}

fn place_name(value: &StateValue) -> String {
    let plain = !value.name.contains(['[', ']', '*']);
    if value.in_memory && plain { format!("[{}]", value.name) } else { value.name.clone() }
}

fn by_place(a: &StateValue, b: &StateValue) -> Ordering {
    a.in_memory.cmp(&b.in_memory).then_with(|| natural_order(&a.name, &b.name))
}

/// Orders texts with numbers in them as people do: `1:X2` before `1:X10`.
fn natural_order(a: &str, b: &str) -> Ordering {
    if a == b {
        return Ordering::Equal;
    }
    chunks(a).cmp(chunks(b)).then_with(|| a.cmp(b))
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Chunk<'a> {
    /// Without leading zeros: longer is larger.
    Number(usize, &'a str),
    Text(char),
}

fn chunks(text: &str) -> impl Iterator<Item = Chunk<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        if !first.is_ascii_digit() {
            rest = &rest[first.len_utf8()..];
            return Some(Chunk::Text(first));
        }
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (number, after) = rest.split_at(end);
        rest = after;
        let digits = number.trim_start_matches('0');
        Some(Chunk::Number(digits.len(), digits))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use parallax_program::Bits;

    fn value(name: &str, shown: &str, in_memory: bool) -> StateValue {
        StateValue {
            name: name.to_string(),
            bits: Bits::zero(32),
            shown: shown.to_string(),
            in_memory,
        }
    }

    #[test]
    fn registers_come_before_memory() {
        let values = [
            value("x", "2", true),
            value("1:X10", "0", false),
            value("a[1]", "7", true),
            value("1:X2", "y", false),
        ];
        assert_eq!(state_line(&values), "1:X2=y; 1:X10=0; a[1]=7; [x]=2;");
    }

    #[test]
    fn numbers_order_by_size() {
        assert_eq!(natural_order("P9", "P10"), Ordering::Less);
        assert_eq!(natural_order("r01", "r1"), Ordering::Less);
        assert_eq!(natural_order("é1", "é1"), Ordering::Equal);
    }
}
