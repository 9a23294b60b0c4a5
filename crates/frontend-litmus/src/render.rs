//! Conditions as herd7's logs print them: `exists (0:EAX=0 /\ (x=1 \/ y=2))`.

use std::fmt::Write;

use parallax_program::Quantifier;

use crate::condition::{Condition, Location, LocationKind, Offset, Proposition, Value};

/// The name of a location, as states and conditions show it.
pub fn location_name(location: &Location) -> String {
    match &location.kind {
        LocationKind::Register { thread, name } => format!("{thread}:{name}"),
        LocationKind::Memory { name, index: None } => name.clone(),
        LocationKind::Memory { name, index: Some(index) } => format!("{name}[{index}]"),
    }
}

/// A location as logs write it: memory in brackets.
fn location_text(location: &Location) -> String {
    match &location.kind {
        LocationKind::Memory { name, index: None } => format!("[{name}]"),
        _ => location_name(location),
    }
}

/// The whole condition, quantifier first.
pub fn condition(condition: &Condition) -> String {
    let quantifier = match condition.quantifier {
        Quantifier::Exists => "exists",
        Quantifier::NotExists => "~exists",
        Quantifier::ForAll => "forall",
    };
    let mut text = format!("{quantifier} (");
    proposition(&mut text, &condition.proposition, Around::Nothing);
    text.push(')');
    text
}

/// The operator that a proposition is an operand of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Around {
    Nothing,
    And,
    Or,
    Implies,
}

fn proposition(text: &mut String, what: &Proposition, around: Around) {
    match what {
        Proposition::True => text.push_str("true"),
        Proposition::False => text.push_str("false"),
        Proposition::Equal(location, value) => {
            let _ = write!(text, "{}={}", location_text(location), value_text(value));
        }
        Proposition::Not(inner) => {
            text.push_str("not (");
            proposition(text, inner, Around::Nothing);
            text.push(')');
        }
        Proposition::And(parts) if parts.is_empty() => text.push_str("true"),
        Proposition::Or(parts) if parts.is_empty() => text.push_str("false"),
        Proposition::And(parts) => {
            let bare = matches!(around, Around::Nothing | Around::And | Around::Or);
            parenthesised(text, bare, |text| joined(text, parts, " /\\ ", Around::And));
        }
        Proposition::Or(parts) => {
            let bare = matches!(around, Around::Nothing | Around::Or);
            parenthesised(text, bare, |text| joined(text, parts, " \\/ ", Around::Or));
        }
        Proposition::Implies(premise, conclusion) => {
            let bare = matches!(around, Around::Nothing | Around::Implies);
            parenthesised(text, bare, |text| {
                proposition(text, premise, Around::Implies);
                text.push_str(" => ");
                proposition(text, conclusion, Around::Implies);
            });
        }
    }
}

fn parenthesised(text: &mut String, bare: bool, inner: impl FnOnce(&mut String)) {
    if bare {
        return inner(text);
    }
    text.push('(');
    inner(text);
    text.push(')');
}

fn joined(text: &mut String, parts: &[Proposition], sign: &str, around: Around) {
    for (index, part) in parts.iter().enumerate() {
        if index > 0 {
            text.push_str(sign);
        }
        proposition(text, part, around);
    }
}

fn value_text(value: &Value) -> String {
    match value {
        Value::Integer(value) => value.to_string(),
        Value::Location(location) => location_text(location),
        Value::Address { name, offset, .. } => match offset {
            Offset::None => name.clone(),
            Offset::Bytes(bytes) => format!("{name}+{bytes}"),
            Offset::Elements(index) => format!("{name}[{index}]"),
        },
        Value::List(values) => {
            let values: Vec<String> = values.iter().map(value_text).collect();
            format!("{{{}}}", values.join(","))
        }
    }
}
