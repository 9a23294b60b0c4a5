//! What people write where a value or a place is expected: numbers, registers, names, `&name`,
//! `*address`, and sums of these with numbers.

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
    if let Some(rest) = text.strip_prefix('*') {
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
    if let Some(rest) = text.strip_prefix('&') {
        let function = own_function(session);
        if let Some(target) = session.names.resolve(rest, function.as_deref()) {
            return Ok(Meaning::Value(Bits::new(64, u128::from(target.address))));
        }
        let function = crate::source::named(session, rest).ok_or_else(|| bad(rest))?;
        return Ok(Meaning::Value(session.program().function_address(function)));
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
    match text.rfind(['+', '-']).filter(|at| *at > 0) {
        Some(at) => sum(session, text, at, inner),
        None => Err(bad(text)),
    }
}

fn sum(session: &Session<'_, '_>, text: &str, at: usize, depth: u32) -> Result<Meaning, String> {
    let (left, right) = text.split_at_checked(at).ok_or_else(|| bad(text))?;
    let is_sum = right.starts_with('+');
    let right = right.get(1..).unwrap_or("").trim();
    let left = value(session, meaning(session, left.trim(), depth)?)?.unsigned();
    let right = number(right).ok_or_else(|| bad(text))?;
    let sum = if is_sum { left.wrapping_add(right) } else { left.wrapping_sub(right) };
    Ok(Meaning::Value(Bits::new(64, sum)))
}

fn bad(text: &str) -> String {
    match text {
        "" => "expected a name, a register, a number, &NAME or *ADDRESS".to_string(),
        _ => format!("there is nothing called '{text}' here"),
    }
}

/// The function that the chosen thread is in.
pub fn own_function(session: &Session<'_, '_>) -> Option<String> {
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
