//! What people write where a value or a place is expected: numbers, registers, names, `&name`,
//! `*address`, and sums and comparisons of these.

use parallax_program::{Bits, Shape};

use crate::names::Target;
use crate::registers;
use crate::session::Session;

/// Deepest nesting of `*` and `&`.
const DEEPEST: u32 = 16;

/// A number, decimal or after `0x`.
pub fn number(text: &str) -> Option<u128> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u128::from_str_radix(digits, 16).ok(),
        None => text.parse().ok().filter(|_| text.starts_with(|c: char| c.is_ascii_digit())),
    }
}

/// What an expression is: something in memory, or just a value.
pub enum Meaning {
    Memory(Target),
    Value(Bits),
}

pub fn evaluate(session: &Session<'_, '_>, text: &str) -> Result<Meaning, String> {
    meaning(session, text.trim(), DEEPEST)
}

fn meaning(session: &Session<'_, '_>, text: &str, depth: u32) -> Result<Meaning, String> {
    let inner = depth.checked_sub(1).ok_or("this is nested too deeply")?;
    if let Some(rest) = text.strip_prefix('!').filter(|rest| operation(rest).is_none()) {
        let value = value(session, meaning(session, rest.trim(), inner)?)?;
        return Ok(Meaning::Value(Bits::new(32, u128::from(value.is_zero()))));
    }
    if let Some(rest) = text.strip_prefix('*').filter(|rest| is_address(rest)) {
        // `*ADDRESS` is 4 bytes; `*ADDRESS 8` says how many.
        let (address, size) = match rest.trim().rsplit_once(' ') {
            Some((address, size)) => (address, size.parse::<u64>().map_err(|_| bad(text))?),
            None => (rest, 4),
        };
        if !matches!(size, 1 | 2 | 4 | 8 | 16) {
            return Err(format!("sizes are 1, 2, 4, 8 and 16, not {size}"));
        }
        let address = value(session, meaning(session, address.trim(), inner)?)?;
        let address = u64::try_from(address.unsigned()).map_err(|_| bad(text))?;
        return Ok(Meaning::Memory(Target { name: text.to_string(), address, size, shape: None }));
    }
    if let Some(rest) = text.strip_prefix('&').filter(|rest| operation(rest).is_none()) {
        let function = own_function(session);
        if let Some(target) = session.names.resolve(rest, function.as_deref()) {
            return Ok(Meaning::Value(Bits::new(64, u128::from(target.address))));
        }
        let function = crate::source::named(session, rest).ok_or_else(|| bad(rest))?;
        return Ok(Meaning::Value(session.program().function_address(function)));
    }
    if let Some(number) = text.strip_prefix('-').and_then(number) {
        let number = i128::try_from(number).map_err(|_| bad(text))?;
        return Ok(Meaning::Value(Bits::signed(64, -number)));
    }
    if let Some(number) = number(text) {
        return Ok(Meaning::Value(Bits::new(64, number)));
    }
    if let Some(register) = registers::value(session, text.strip_prefix('$').unwrap_or(text)) {
        return Ok(Meaning::Value(register));
    }
    if let Some(target) = session.names.resolve(text, own_function(session).as_deref()) {
        return Ok(Meaning::Memory(target));
    }
    if let Some(whole) = enclosed(text) {
        return meaning(session, whole, inner);
    }
    match operation(text) {
        Some((left, operator, right)) => {
            let left = value(session, meaning(session, left, inner)?)?;
            let right = value(session, meaning(session, right, inner)?)?;
            apply(left, operator, right)
        }
        None => Err(bad(text)),
    }
}

/// Whether all that follows a `*` is the address: sums are.
fn is_address(text: &str) -> bool {
    operation(text).is_none_or(|(_, operator, _)| matches!(operator, "+" | "-"))
}

/// Operators of two operands, by how strongly they bind; of those at one level a longer name comes first.
const OPERATORS: [&[&str]; 6] =
    [&["||"], &["&&"], &["==", "!="], &["<=", ">=", "<", ">"], &["+", "-"], &["%"]];

/// What is between brackets that belong together.
fn enclosed(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('(')?.strip_suffix(')')?;
    let mut open = 0i32;
    let closes_early = inner.chars().any(|c| {
        open += i32::from(c == '(') - i32::from(c == ')');
        open < 0
    });
    (!closes_early).then(|| inner.trim())
}

/// The operator that binds least, the last one of these, and what is on its sides.
fn operation(text: &str) -> Option<(&str, &'static str, &str)> {
    OPERATORS.iter().find_map(|level| split(text, level))
}

fn split<'t>(text: &'t str, level: &[&'static str]) -> Option<(&'t str, &'static str, &'t str)> {
    let mut found = None;
    let (mut open, mut skip) = (0i32, 0);
    for (at, c) in text.char_indices() {
        if at < skip {
            continue;
        }
        open += i32::from(matches!(c, '(' | '[')) - i32::from(matches!(c, ')' | ']'));
        let rest = text.get(at..).unwrap_or("");
        // Any operator that begins here, so that `<` is not found in `<=`.
        let all = OPERATORS.iter().flat_map(|level| level.iter());
        let Some(operator) = all.filter(|it| rest.starts_with(**it)).max_by_key(|it| it.len())
        else {
            continue;
        };
        skip = at + operator.len();
        let (left, right) = (text.get(..at).unwrap_or(""), text.get(skip..).unwrap_or(""));
        let is_complete = !left.trim().is_empty() && !right.trim().is_empty();
        if open == 0 && is_complete && level.contains(operator) {
            found = Some((left.trim(), *operator, right.trim()));
        }
    }
    found
}

/// Numbers are signed, as wide as the wider of the two.
fn apply(left: Bits, operator: &str, right: Bits) -> Result<Meaning, String> {
    let (a, b) = (left.to_signed(), right.to_signed());
    let truth = |holds: bool| Ok(Meaning::Value(Bits::new(32, u128::from(holds))));
    let number = |number: i128| Ok(Meaning::Value(Bits::signed(64, number)));
    match operator {
        "||" => truth(a != 0 || b != 0),
        "&&" => truth(a != 0 && b != 0),
        "==" => truth(a == b),
        "!=" => truth(a != b),
        "<=" => truth(a <= b),
        ">=" => truth(a >= b),
        "<" => truth(a < b),
        ">" => truth(a > b),
        "+" => number(a.wrapping_add(b)),
        "-" => number(a.wrapping_sub(b)),
        _ => a.checked_rem(b).map_or(Err("this divides by zero".to_string()), number),
    }
}

/// Whether a condition holds where a thread is.
pub fn holds(session: &Session<'_, '_>, text: &str) -> Result<bool, String> {
    Ok(!value(session, evaluate(session, text)?)?.is_zero())
}

fn bad(text: &str) -> String {
    match text {
        "" => "expected a name, a register, a number, &NAME or *ADDRESS".to_string(),
        _ => format!("there is nothing called '{text}' here"),
    }
}

/// The function that the chosen thread is in, or that of the chosen call.
pub fn own_function(session: &Session<'_, '_>) -> Option<String> {
    if let Some(call) = session.call() {
        let local = session.now().system.thread(session.thread)?;
        let site = local.thread.stack().nth(call)?;
        return Some(session.program().function(site.function).name.clone());
    }
    let here = session.now().instruction(session.thread)?;
    Some(session.program().function(here.site.function).name.clone())
}

/// The value of something, as the chosen thread sees it. An array stands for its address.
pub fn value(session: &Session<'_, '_>, meaning: Meaning) -> Result<Bits, String> {
    let target = match meaning {
        Meaning::Value(value) => return Ok(value),
        Meaning::Memory(target) => target,
    };
    let is_whole = matches!(target.shape, None | Some(Shape::Scalar));
    match target.size {
        1..=16 if is_whole => {
            let size = target.size as u32;
            let bytes = session.now().system.bytes(Some(session.thread), target.address, size);
            Ok(Bits::new(size * 8, bytes))
        }
        _ => Ok(Bits::new(64, u128::from(target.address))),
    }
}

/// Something in memory.
pub fn target(session: &Session<'_, '_>, text: &str) -> Result<Target, String> {
    match evaluate(session, text)? {
        Meaning::Memory(target) => Ok(target),
        Meaning::Value(_) => Err(format!("'{text}' is not in memory; *ADDRESS is")),
    }
}

/// An address to look at memory from: of a pointer where it points, of anything else in memory
/// where that is.
pub fn address(session: &Session<'_, '_>, text: &str) -> Result<u64, String> {
    let bits = match evaluate(session, text)? {
        Meaning::Value(value) => value,
        Meaning::Memory(target) => {
            let is_whole = matches!(target.shape, None | Some(Shape::Scalar));
            if target.size != 8 || !is_whole {
                return Ok(target.address);
            }
            let system = &session.now().system;
            Bits::new(64, system.bytes(Some(session.thread), target.address, 8))
        }
    };
    u64::try_from(bits.unsigned()).map_err(|_| format!("'{text}' is no address"))
}
