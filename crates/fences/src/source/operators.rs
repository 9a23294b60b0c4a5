//! Atomic accesses that are no calls: `x = 1`, `x += 2`, `x++`, and `x` where it is read. They are
//! sequentially consistent, and have no place for another order; with one they become calls.
//!
//! An operator is where the program says its access is; a read is where its first word starts. Only
//! whole statements are rewritten for what they write, as calls have other values than operators.

use std::ops::Range;

use super::edits::Edit;

/// An access, and what makes a call of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Operator {
    /// What gives way to what: everything but the end of the call.
    parts: Vec<(Range<usize>, String)>,
    /// Where the order goes, and what comes before it.
    end: (usize, &'static str),
    /// Whether something else may end at the same place, which then is inside.
    is_outer: bool,
}

/// Statements are not longer.
const MOST_BYTES: usize = 4096;

impl Operator {
    /// The access at an offset; None if it is none that can be rewritten.
    pub fn at(text: &str, offset: usize) -> Option<Operator> {
        let rest = text.get(offset..)?;
        let two = rest.get(..2).unwrap_or("");
        match two {
            "++" => return Operator::step(text, offset, "atomic_fetch_add"),
            "--" => return Operator::step(text, offset, "atomic_fetch_sub"),
            "+=" => return Operator::update(text, offset, 2, "atomic_fetch_add"),
            "-=" => return Operator::update(text, offset, 2, "atomic_fetch_sub"),
            "|=" => return Operator::update(text, offset, 2, "atomic_fetch_or"),
            "&=" => return Operator::update(text, offset, 2, "atomic_fetch_and"),
            "^=" => return Operator::update(text, offset, 2, "atomic_fetch_xor"),
            "==" => return None,
            _ => {}
        }
        match rest.starts_with('=') {
            true => Operator::update(text, offset, 1, "atomic_store"),
            false => Operator::read(text, offset),
        }
    }

    fn read(text: &str, offset: usize) -> Option<Operator> {
        let end = object_from(text, offset)?;
        let before = text.get(..offset)?.trim_end();
        let behind = text.get(end..)?.trim_start();
        let is_part = before.ends_with('.') || before.ends_with("->") || before.ends_with('&');
        let is_other = ["(", "++", "--"].iter().any(|word| behind.starts_with(word));
        let assigns = behind.starts_with('=') && !behind.starts_with("==");
        if is_part || is_other || assigns || before.ends_with("++") || before.ends_with("--") {
            return None;
        }
        let parts = vec![(offset..offset, "atomic_load_explicit(&".to_string())];
        Some(Operator { parts, end: (end, ""), is_outer: false })
    }

    /// `object OP value;`
    fn update(text: &str, at: usize, length: usize, name: &str) -> Option<Operator> {
        let object = object_up_to(text, at)?;
        let operand = at + length;
        let start = operand + leading(text.get(operand..)?);
        let end = value_end(text, start)?;
        is_statement_start(text, object.start).then_some(())?;
        let parts = vec![
            (object.start..object.start, format!("{name}_explicit(&")),
            (object.end..start, ", ".to_string()),
        ];
        Some(Operator { parts, end: (end, ""), is_outer: true })
    }

    /// `object++;` and `++object;`
    fn step(text: &str, at: usize, name: &str) -> Option<Operator> {
        let operand = at + 2 + leading(text.get(at + 2..)?);
        let head = format!("{name}_explicit(&");
        if let Some(end) = object_from(text, operand) {
            let ends = text.get(end..)?.trim_start().starts_with(';');
            (ends && is_statement_start(text, at)).then_some(())?;
            return Some(Operator {
                parts: vec![(at..operand, head)],
                end: (end, ", 1"),
                is_outer: true,
            });
        }
        let object = object_up_to(text, at)?;
        let ends = text.get(at + 2..)?.trim_start().starts_with(';');
        (ends && is_statement_start(text, object.start)).then_some(())?;
        let parts = vec![(object.start..object.start, head), (object.end..at + 2, String::new())];
        Some(Operator { parts, end: (at + 2, ", 1"), is_outer: true })
    }

    /// The changes that make a call of it with an order as it is written.
    pub fn write_out(&self, order: &str) -> Vec<Edit> {
        let parts =
            self.parts.iter().map(|(range, text)| Edit::replace(range.clone(), text.clone()));
        let (end, before) = self.end;
        let rank = i64::from(self.is_outer);
        parts.chain([Edit::insert(end, format!("{before}, {order})"), rank)]).collect()
    }
}

fn leading(text: &str) -> usize {
    text.len() - text.trim_start().len()
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Where an object that starts at an offset ends: a name, elements and members of it.
fn object_from(text: &str, offset: usize) -> Option<usize> {
    let word = |at: usize| -> Option<usize> {
        let rest = text.get(at..)?;
        let starts = rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        starts.then(|| at + rest.find(|c| !is_word(c)).unwrap_or(rest.len()))
    };
    let mut end = word(offset)?;
    loop {
        let rest = text.get(end..)?;
        end = match rest {
            _ if rest.starts_with('[') => end + group(rest)?,
            _ if rest.starts_with("->") => word(end + 2)?,
            _ if rest.starts_with('.') => word(end + 1)?,
            _ => return Some(end),
        };
    }
}

/// The length of what is in brackets at the start of a text.
fn group(text: &str) -> Option<usize> {
    let mut open = 0usize;
    for (at, c) in text.char_indices().take(MOST_BYTES) {
        match c {
            '[' | '(' => open += 1,
            ']' | ')' => open = open.checked_sub(1)?,
            ';' | '{' | '}' | '"' | '\'' | '#' | '/' => return None,
            _ => {}
        }
        if open == 0 {
            return Some(at + 1);
        }
    }
    None
}

/// The object that ends before an offset, blanks aside.
fn object_up_to(text: &str, offset: usize) -> Option<Range<usize>> {
    let before = text.get(..offset)?.trim_end();
    let mut floor = before.len().saturating_sub(MOST_BYTES);
    while !before.is_char_boundary(floor) {
        floor += 1;
    }
    let window = before.get(floor..)?;
    let line = window.rfind([';', '{', '}', '\n']).map_or(0, |at| at + 1);
    let statement = window.get(line..)?;
    // Where an object can start, the longest that ends where it should.
    let starts = statement.char_indices().map(|(at, _)| floor + line + at);
    let is_start = |at: &usize| {
        let earlier = text.get(..*at).and_then(|earlier| earlier.chars().next_back());
        !earlier.is_some_and(is_word) && object_from(text, *at) == Some(before.len())
    };
    starts.filter(is_start).min().map(|start| start..before.len())
}

/// Where the value that is assigned ends: right before the semicolon.
fn value_end(text: &str, start: usize) -> Option<usize> {
    let mut open = 0usize;
    let rest = text.get(start..)?;
    for (at, c) in rest.char_indices().take(MOST_BYTES) {
        match c {
            '[' | '(' => open += 1,
            ']' | ')' => open = open.checked_sub(1)?,
            ';' if open == 0 => return Some(start + rest.get(..at)?.trim_end().len()),
            ',' if open == 0 => return None,
            // Strings, comments, directives and further assignments are left to people.
            ';' | '{' | '}' | '"' | '\'' | '#' => return None,
            '/' if rest.get(at + 1..).is_some_and(|r| r.starts_with(['/', '*'])) => return None,
            '=' => return None,
            _ => {}
        }
    }
    None
}

/// Whether a statement starts at an offset.
fn is_statement_start(text: &str, offset: usize) -> bool {
    let before = text.get(..offset).map_or("", str::trim_end);
    before.is_empty() || before.ends_with([';', '{', '}', ')', ':']) || before.ends_with("else")
}

#[cfg(test)]
mod tests {
    use super::super::edits::edit;
    use super::*;

    fn rewritten(text: &str, at: &str) -> Option<String> {
        let operator = Operator::at(text, text.find(at)?)?;
        Some(edit(text, operator.write_out("ORDER")).text)
    }

    #[test]
    fn accesses_become_calls() {
        for (text, at, expected) in [
            ("{ x = 1; }", "=", "{ atomic_store_explicit(&x, 1, ORDER); }"),
            (
                "if (c) p->a[i + 1].b = f(1, y);",
                "= f",
                "if (c) atomic_store_explicit(&p->a[i + 1].b, f(1, y), ORDER);",
            ),
            ("; n++;", "++", "; atomic_fetch_add_explicit(&n, 1, ORDER);"),
            ("; --s.n ;", "--", "; atomic_fetch_sub_explicit(&s.n, 1, ORDER) ;"),
            ("a[0] |= 2;", "|=", "atomic_fetch_or_explicit(&a[0], 2, ORDER);"),
            ("int r = flag == 1;", "flag", "int r = atomic_load_explicit(&flag, ORDER) == 1;"),
            ("return p->f;", "p", "return atomic_load_explicit(&p->f, ORDER);"),
        ] {
            assert_eq!(rewritten(text, at).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn an_access_inside_of_another_ends_first() {
        let text = "x = y;";
        let all = [2, 4].iter().filter_map(|at| Operator::at(text, *at));
        let edits = all.flat_map(|operator| operator.write_out("O")).collect();
        let expected = "atomic_store_explicit(&x, atomic_load_explicit(&y, O), O);";
        assert_eq!(edit(text, edits).text, expected);
    }

    #[test]
    fn what_is_not_understood_is_left_alone() {
        for (text, at) in [
            ("r = x = 1;", "= 1"),
            ("r = x++;", "++"),
            ("*p = 1;", "="),
            ("x = 1, y = 2;", "="),
            ("assert(x == 1);", "assert"),
            ("p->f;", "f"),
            ("x = a ? \";\" : 0;", "="),
            ("x == 1", "=="),
            ("x = ", "="),
            ("", ""),
            ("f(&x);", "x"),
        ] {
            assert_eq!(rewritten(text, at), None, "{text}");
        }
    }
}
