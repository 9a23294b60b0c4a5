//! What memory holds: objects with their parts, and what has changed since the start.

use std::fmt::Write;

use parallax_program::{Bits, Shape};

use crate::inspect::shown;
use crate::machine::Machine;
use crate::names::Target;
use crate::session::Session;

/// Elements of an array, and parts in all, that are shown.
const MOST_ELEMENTS: u64 = 200;
const DEEPEST: u32 = 16;
/// Bytes of one object that are compared with the start.
const MOST_BYTES: u64 = 1 << 20;
/// Differences that are shown.
const MOST_DIFFERENCES: usize = 200;

/// What something holds, as a thread sees it, or as all do.
pub fn show(
    session: &Session<'_, '_>,
    thread: Option<u32>,
    target: &Target,
    format: &str,
) -> Result<String, String> {
    let mut left = MOST_ELEMENTS;
    let shape = target.shape.as_ref().unwrap_or(&Shape::Scalar);
    part(session, thread, (target.address, target.size), shape, format, &mut left, DEEPEST)
}

fn part(
    session: &Session<'_, '_>,
    thread: Option<u32>,
    (address, size): (u64, u64),
    shape: &Shape,
    format: &str,
    left: &mut u64,
    depth: u32,
) -> Result<String, String> {
    if *left == 0 || depth == 0 {
        return Ok("…".to_string());
    }
    let mut element = |at: u64, size: u64, shape: &Shape| {
        part(session, thread, (at, size), shape, format, left, depth - 1)
    };
    match shape {
        Shape::Scalar if matches!(size, 1..=16) => {
            *left -= 1;
            let value = session.now().system.bytes(thread, address, size as u32);
            shown(session, Bits::new(size as u32 * 8, value), format)
        }
        Shape::Scalar => {
            let bytes = Shape::Array { element: Box::new(Shape::Scalar), stride: 1, count: size };
            element(address, size, &bytes)
        }
        Shape::Array { element: of, stride, count } => {
            let mut parts = Vec::new();
            for number in 0..(*count).min(MOST_ELEMENTS) {
                let at = address.saturating_add(number.saturating_mul(*stride));
                parts.push(element(at, *stride, of)?);
            }
            if *count > MOST_ELEMENTS {
                parts.push("…".to_string());
            }
            Ok(format!("{{{}}}", parts.join(", ")))
        }
        Shape::Struct { fields, .. } => {
            let mut parts = Vec::new();
            for field in fields {
                let at = address.saturating_add(field.offset);
                let value = element(at, field.size, &field.shape)?;
                parts.push(format!("{} = {value}", field.name));
            }
            Ok(format!("{{{}}}", parts.join(", ")))
        }
    }
}

/// The smallest part that an offset is in: where it starts, and its bytes.
fn leaf(shape: &Shape, size: u64, offset: u64) -> (u64, u64) {
    let (mut shape, mut size, mut start) = (shape, size, 0);
    loop {
        match shape {
            Shape::Array { element, stride, count }
                if *stride > 0 && offset - start < stride.saturating_mul(*count) =>
            {
                start += (offset - start) / stride * stride;
                size = *stride;
                shape = element;
            }
            Shape::Struct { fields, .. } => {
                let within = offset - start;
                let field = fields
                    .iter()
                    .find(|field| field.offset <= within && within - field.offset < field.size);
                let Some(field) = field else {
                    return (offset, 1);
                };
                start += field.offset;
                size = field.size;
                shape = &field.shape;
            }
            _ if matches!(size, 1..=16) => return (start, size),
            _ => {
                let word = (offset - start) / 8 * 8;
                return (start + word, 8.min(size.saturating_sub(word)).max(1));
            }
        }
    }
}

/// The parts of globals that hold something else than in another state: `x = 1`.
pub fn differences(session: &Session<'_, '_>, start: &Machine<'_, '_>) -> Vec<String> {
    let now = session.now();
    let mut found = Vec::new();
    for (address, global) in session.names.variables() {
        let shape = global.shape.as_ref().unwrap_or(&Shape::Scalar);
        let mut offset = 0;
        while offset < global.size.min(MOST_BYTES) && found.len() < MOST_DIFFERENCES {
            let bytes = (global.size - offset).min(16) as u32;
            let at = address.saturating_add(offset);
            let differ = now.system.bytes(None, at, bytes) ^ start.system.bytes(None, at, bytes);
            if differ == 0 {
                offset += u64::from(bytes);
                continue;
            }
            offset += u64::from(differ.trailing_zeros() / 8);
            let (first, size) = leaf(shape, global.size, offset);
            let at = address.saturating_add(first);
            let value = Bits::new(size as u32 * 8, now.system.bytes(None, at, size as u32));
            let name = session.names.place_or_address(at);
            found.push(format!("{name} = {}", session.names.value(value)));
            offset = first.saturating_add(size).max(offset + 1);
        }
    }
    found
}

/// `memory`: the globals that are not as they were at the start, and the objects that were made.
pub fn memory(session: &Session<'_, '_>, out: &mut String) {
    let (start, _) = Machine::start(session.now().system.setup());
    let changed = differences(session, &start);
    if changed.is_empty() {
        out.push_str("Memory is as it was at the start.\n");
    }
    for line in changed {
        let _ = writeln!(out, "{line}");
    }
    for (thread, object) in session.now().system.living() {
        let name = session.names.place_or_address(object.address);
        let maker = session.names.thread(thread);
        let bytes = object.size;
        let _ = writeln!(out, "{name}: {bytes} bytes at {:#x}, made by {maker}", object.address);
    }
}
