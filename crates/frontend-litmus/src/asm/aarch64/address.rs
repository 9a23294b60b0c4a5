//! Addressing modes: `[X1]`, `[X1,#4]`, `[X1,X2,LSL #3]`, `[X1,W2,SXTW #2]`, `[X1,#4]!` and
//! `[X1],#4`.

use parallax_program::{Diagnostic, Expr};

use super::instruction::Instruction;
use super::operand::{Extension, Shift, modifier};
use super::registers::{Reg, Which};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// The base register alone, or with an offset of zero.
    Base,
    /// Base and constant.
    Offset,
    /// Base and register.
    Indexed,
    PreIndex,
    PostIndex,
}

/// What the address of an access is, as an expression on registers that must be evaluated before
/// any of them changes.
pub struct Address {
    pub value: Expr,
    /// The base register and what it holds after the access.
    pub writeback: Option<(Reg, Expr)>,
}

/// Takes a memory operand in one of the modes that the instruction has.
pub fn address(ins: &mut Instruction<'_, '_, '_>, allowed: &[Mode]) -> Result<Address, Diagnostic> {
    let text = ins.take()?;
    let (mode, address) = parse(ins, text)?;
    if allowed.contains(&mode) {
        Ok(address)
    } else {
        let message = format!("{} has no addressing mode '{text}'", ins.mnemonic);
        Err(ins.error(text, message))
    }
}

/// The address of an instruction that only takes `[Xn]`.
pub fn base(ins: &mut Instruction<'_, '_, '_>) -> Result<Expr, Diagnostic> {
    Ok(address(ins, &[Mode::Base])?.value)
}

fn parse<'a>(
    ins: &mut Instruction<'a, '_, '_>,
    text: &'a str,
) -> Result<(Mode, Address), Diagnostic> {
    let (bracketed, pre_index) = match text.strip_suffix('!') {
        Some(before) => (before.trim_end(), true),
        None => (text, false),
    };
    let inner =
        bracketed.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).ok_or_else(|| {
            ins.error(text, format!("expected an address in brackets, found '{text}'"))
        })?;
    let parts = ins.split(inner)?;
    let (base_text, offset) =
        parts.split_first().ok_or_else(|| ins.error(text, "empty address"))?;
    let base = base_register(ins, base_text)?;
    let start = ins.read(base);
    match offset {
        [] if ins.peek().is_some() && !pre_index => {
            let by = ins.immediate(OFFSET_MIN, OFFSET_MAX)?;
            let after = start.clone() + Expr::signed(64, by);
            Ok((Mode::PostIndex, written_back(start, base, after)))
        }
        [constant] if Reg::parse(constant).is_none() => {
            let by = ins.parse_immediate(constant, OFFSET_MIN, OFFSET_MAX)?;
            Ok(constant_offset(start, base, by, pre_index))
        }
        [] => Ok(constant_offset(start, base, 0, pre_index)),
        _ if pre_index => Err(ins.error(text, "a pre-index must be a constant")),
        [index] => {
            let value = index_value(ins, index, "LSL #0")?;
            Ok((Mode::Indexed, plain(start + value)))
        }
        [index, how] => {
            let value = index_value(ins, index, how)?;
            Ok((Mode::Indexed, plain(start + value)))
        }
        [_, _, extra, ..] => Err(ins.error(extra, format!("unexpected '{extra}' in an address"))),
    }
}

const OFFSET_MIN: i128 = -(1 << 31);
const OFFSET_MAX: i128 = (1 << 31) - 1;

fn base_register(ins: &Instruction<'_, '_, '_>, text: &str) -> Result<Reg, Diagnostic> {
    let base = ins.parse_register(text)?;
    ins.require_width(text, base, 64)?;
    match base.which {
        Which::Zero => Err(ins.error(text, "the zero register cannot be a base")),
        _ => Ok(base),
    }
}

fn plain(value: Expr) -> Address {
    Address { value, writeback: None }
}

fn written_back(value: Expr, base: Reg, after: Expr) -> Address {
    Address { value, writeback: Some((base, after)) }
}

fn constant_offset(start: Expr, base: Reg, by: i128, pre_index: bool) -> (Mode, Address) {
    let value = match by {
        0 => start,
        _ => start + Expr::signed(64, by),
    };
    match (pre_index, by) {
        (true, _) => (Mode::PreIndex, written_back(value.clone(), base, value)),
        (false, 0) => (Mode::Base, plain(value)),
        (false, _) => (Mode::Offset, plain(value)),
    }
}

/// A register offset, widened to 64 bits and scaled.
fn index_value(
    ins: &mut Instruction<'_, '_, '_>,
    index: &str,
    how: &str,
) -> Result<Expr, Diagnostic> {
    let reg = ins.parse_register(index)?;
    let (kind, amount) = modifier(how);
    let extension = match kind.to_ascii_uppercase().as_str() {
        "LSL" => Extension { signed: false, bits: 64 },
        _ => match Extension::parse(kind) {
            Some(extension) if extension.bits >= 32 => extension,
            _ => return Err(ins.error(how, format!("'{how}' cannot be applied to an offset"))),
        },
    };
    ins.require_width(index, reg, extension.bits)?;
    let amount = match amount {
        "" => 0,
        _ => ins.parse_immediate(amount, 0, 4)?,
    };
    let value = ins.read(reg);
    let wide = extension.apply(value, reg.width, 64);
    Ok(Shift::Left.by_constant(wide, 64, amount as u32))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{error, run};

    #[test]
    fn effective_addresses_and_what_becomes_of_the_base() {
        let start = [("X1", 0x1000), ("X2", 0xffff_ffff), ("X3", 3), ("SP", 0x2000)];
        let cases = [
            ("STR X0,[X1]", 0x1000, 0x1000),
            ("STR X0,[X1,#-8]", 0xff8, 0x1000),
            ("STR X0, [ X1 , #8 ]", 0x1008, 0x1000),
            ("STR X0,[X1,X3]", 0x1003, 0x1000),
            ("STR X0,[X1,X3,LSL #3]", 0x1018, 0x1000),
            ("STR X0,[X1,X3,lsl 3]", 0x1018, 0x1000),
            ("STR X0,[X1,W2,SXTW]", 0xfff, 0x1000),
            ("STR X0,[X1,W2,SXTW #2]", 0xffc, 0x1000),
            ("STR X0,[X1,W2,UXTW]", 0x1_0000_0fff, 0x1000),
            ("STR X0,[X1,X3,SXTX #1]", 0x1006, 0x1000),
            ("STR X0,[X1,#16]!", 0x1010, 0x1010),
            ("STR X0,[X1],#16", 0x1000, 0x1010),
            ("STR X0,[X1],#-16", 0x1000, 0xff0),
            ("STR X0,[SP,#8]", 0x2008, 0x1000),
        ];
        for (text, address, base) in cases {
            let after = run(&[text], &start);
            assert!(after.0.memory(address).is_some(), "{text}");
            assert_eq!(after.register("X1"), base, "{text}");
        }
    }

    #[test]
    fn malformed_addresses() {
        let cases = [
            ("LDR X0,X1", "1:8: expected an address in brackets, found 'X1'"),
            ("LDR X0,[]", "1:9: an operand is missing here"),
            ("LDR X0,[W1]", "1:9: expected a X register, found 'W1'"),
            ("LDR X0,[XZR]", "1:9: the zero register cannot be a base"),
            ("LDR X0,[X1,W2]", "1:12: expected a X register, found 'W2'"),
            ("LDR X0,[X1,X2]!", "1:8: a pre-index must be a constant"),
            ("LDR X0,[X1,W2,UXTB]", "1:15: 'UXTB' cannot be applied to an offset"),
            ("LDR X0,[X1,X2,LSL #3,X4]", "1:22: unexpected 'X4' in an address"),
            ("LDAR W0,[X1,#4]", "1:9: LDAR has no addressing mode '[X1,#4]'"),
            ("LDUR W0,[X1,#4]!", "1:9: LDUR has no addressing mode '[X1,#4]!'"),
            ("LDR X0,=x", "1:8: expected an address in brackets, found '=x'"),
        ];
        for (text, message) in cases {
            assert_eq!(error(text), message);
        }
    }
}
