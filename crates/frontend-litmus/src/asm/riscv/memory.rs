//! Loads, stores, LR/SC, AMOs and fences.
//!
//! Tags follow herd7: an access carries `Acq`, `Rel` or `AcqRel`, whichever its suffixes add
//! up to; LR, SC and AMO accesses carry `X`, and LR and SC also `EX`, by which the status of
//! an SC carries a dependency on its write. An AMO is one memory operation in RVWMO (manual,
//! chapter 17), so both of its events carry its ordering.

use parallax_program::{AccessSize, Diagnostic, Expr, InstKind, RmwOp, Tags};

use super::{WIDTH, is_zero, read, write};
use crate::asm::Register;
use crate::asm::lowering::Lowering;

/// Lowers an instruction of this file; false where it is none.
pub(super) fn lower(l: &mut Lowering, name: &str) -> Result<bool, Diagnostic> {
    let (base, suffixes) = match name.split_once('.') {
        Some((base, rest)) => (base, rest.split('.').collect()),
        None => (name, Vec::new()),
    };
    if base == "fence" {
        return fence(l, &suffixes);
    }
    if let Some(form) = plain_access(base) {
        let Some(order) = ordering(&suffixes) else {
            return Ok(false);
        };
        plain(l, form, order)?;
        return Ok(true);
    }
    let Some((width, order)) = suffixes.split_first() else {
        return Ok(false);
    };
    let size = match *width {
        "w" => AccessSize::WORD,
        "d" => AccessSize::DOUBLE,
        _ => return Ok(false),
    };
    let Some(order) = ordering(order) else {
        return Ok(false);
    };
    match base {
        "lr" => load_reserved(l, size, order)?,
        "sc" => store_conditional(l, size, order)?,
        _ => {
            let Some(op) = base.strip_prefix("amo").and_then(amo_operator) else {
                return Ok(false);
            };
            amo(l, op, size, order)?;
        }
    }
    Ok(true)
}

enum Plain {
    Load { size: AccessSize, signed: bool },
    Store { size: AccessSize },
}

fn plain_access(base: &str) -> Option<Plain> {
    let (kind, width) = base.split_at_checked(1)?;
    let (width, signed) = match width.strip_suffix('u') {
        Some(width) if kind == "l" && width != "d" => (width, false),
        Some(_) => return None,
        None => (width, true),
    };
    let size = match width {
        "b" => AccessSize::BYTE,
        "h" => AccessSize::HALF,
        "w" => AccessSize::WORD,
        "d" => AccessSize::DOUBLE,
        _ => return None,
    };
    match kind {
        "l" => Some(Plain::Load { size, signed }),
        "s" => Some(Plain::Store { size }),
        _ => None,
    }
}

/// The tag that ordering suffixes amount to; none where they make no sense.
fn ordering(suffixes: &[&str]) -> Option<Option<&'static str>> {
    match suffixes {
        [] => Some(None),
        ["aq"] => Some(Some("Acq")),
        ["rl"] => Some(Some("Rel")),
        ["aq", "rl"] | ["aqrl"] => Some(Some("AcqRel")),
        _ => None,
    }
}

fn amo_operator(name: &str) -> Option<RmwOp> {
    Some(match name {
        "swap" => RmwOp::Swap,
        "add" => RmwOp::Add,
        "and" => RmwOp::And,
        "or" => RmwOp::Or,
        "xor" => RmwOp::Xor,
        "min" => RmwOp::SMin,
        "max" => RmwOp::SMax,
        "minu" => RmwOp::UMin,
        "maxu" => RmwOp::UMax,
        _ => return None,
    })
}

fn plain(l: &mut Lowering, form: Plain, order: Option<&str>) -> Result<(), Diagnostic> {
    let [register, address] = l.take()?;
    let register = l.register(register)?;
    let (offset, base) = base_and_offset(l, address)?;
    let base = read(l, &base);
    let address = match offset {
        0 => base,
        _ => base + Expr::signed(WIDTH, offset),
    };
    let tags = Tags::new(order);
    match form {
        Plain::Load { size, signed } => {
            let value = l.load(address, size, tags);
            write_loaded(l, &register, value, size, signed);
        }
        Plain::Store { size } => {
            let value = read(l, &register).resize(WIDTH, size.bits());
            l.emit(InstKind::Store { address, value, size, tags });
        }
    }
    Ok(())
}

fn load_reserved(
    l: &mut Lowering,
    size: AccessSize,
    order: Option<&str>,
) -> Result<(), Diagnostic> {
    let [rd, address] = l.take()?;
    let rd = l.register(rd)?;
    let address = bare_address(l, address)?;
    let tags = Tags::new(["X", "EX"].into_iter().chain(order));
    let value = l.load_linked(address, size, tags);
    write_loaded(l, &rd, value, size, true);
    Ok(())
}

fn store_conditional(
    l: &mut Lowering,
    size: AccessSize,
    order: Option<&str>,
) -> Result<(), Diagnostic> {
    let [rd, value, address] = l.take()?;
    let (rd, value) = (l.register(rd)?, l.register(value)?);
    let address = bare_address(l, address)?;
    let value = read(l, &value).resize(WIDTH, size.bits());
    let tags = Tags::new(["X", "EX", Tags::STATUS_DEPENDS].into_iter().chain(order));
    let status = l.store_conditional(address, value, size, tags);
    write(l, &rd, status.zero_extend(WIDTH));
    Ok(())
}

fn amo(
    l: &mut Lowering,
    op: RmwOp,
    size: AccessSize,
    order: Option<&str>,
) -> Result<(), Diagnostic> {
    let [rd, operand, address] = l.take()?;
    let (rd, operand) = (l.register(rd)?, l.register(operand)?);
    let address = bare_address(l, address)?;
    let operand = read(l, &operand).resize(WIDTH, size.bits());
    let old = (!is_zero(&rd)).then(|| l.thread.function.temp(size.bits()));
    let tags = Tags::new(["X"].into_iter().chain(order));
    l.emit(InstKind::Rmw {
        dst: old,
        address,
        op,
        operand,
        size,
        read_tags: tags.clone(),
        write_tags: tags,
    });
    if let Some(old) = old {
        write_loaded(l, &rd, Expr::Var(old), size, true);
    }
    Ok(())
}

fn write_loaded(l: &mut Lowering, rd: &Register, value: Expr, size: AccessSize, signed: bool) {
    let value = match size.bits() {
        WIDTH => value,
        _ if signed => value.sign_extend(WIDTH),
        _ => value.zero_extend(WIDTH),
    };
    write(l, rd, value);
}

/// `8(x5)`, or `(x5)`.
fn base_and_offset(l: &Lowering, text: &str) -> Result<(i128, Register), Diagnostic> {
    let Some((offset, base)) = text.strip_suffix(')').and_then(|t| t.split_once('(')) else {
        return Err(l.expected("an address such as `0(x5)`", text));
    };
    let offset = match offset.trim() {
        "" => 0,
        offset => l.integer(offset)?,
    };
    Ok((offset, l.register(base.trim())?))
}

/// An address that must not have an offset.
fn bare_address(l: &mut Lowering, text: &str) -> Result<Expr, Diagnostic> {
    let (offset, base) = base_and_offset(l, text)?;
    if offset != 0 {
        let message = format!("`{}` takes no offset", l.mnemonic);
        return Err(l.error(text, message));
    }
    Ok(read(l, &base))
}

fn fence(l: &mut Lowering, suffixes: &[&str]) -> Result<bool, Diagnostic> {
    match suffixes {
        [] if l.operands.is_empty() => l.fence("Fence.rw.rw"),
        [] => {
            let [before, after] = l.take()?;
            let tag = format!("Fence.{}.{}", fence_set(l, before)?, fence_set(l, after)?);
            l.fence(&tag);
        }
        ["tso"] => {
            let [] = l.take()?;
            l.fence("Fence.tso");
        }
        ["i"] => {
            let [] = l.take()?;
            l.fence("Fence.i");
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// Which memory accesses a set such as `rw` or `iorw` names. The letters `i` and `o` stand
/// for device input and output, which litmus tests do not have.
fn fence_set(l: &Lowering, text: &str) -> Result<&'static str, Diagnostic> {
    let mut rest = text;
    for letter in ["i", "o", "r", "w"] {
        rest = rest.strip_prefix(letter).unwrap_or(rest);
    }
    match (rest.is_empty(), text.contains('r'), text.contains('w')) {
        (true, true, true) => Ok("rw"),
        (true, true, false) => Ok("r"),
        (true, false, true) => Ok("w"),
        _ => Err(l.expected("`r`, `w` or `rw`", text)),
    }
}
