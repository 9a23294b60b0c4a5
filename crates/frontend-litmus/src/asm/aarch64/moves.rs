//! Moves of registers and constants, whole or sixteen bits at a time.

use parallax_program::{Diagnostic, Expr};

use super::instruction::Instruction;
use super::operand::left_shift;
use super::registers::Reg;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Move {
    Any,
    /// Sixteen bits, zeros elsewhere.
    Zeros,
    /// The complement of that.
    Ones,
    /// Sixteen bits, the rest kept.
    Keep,
}

pub fn decode(name: &str) -> Option<Move> {
    match name {
        "MOV" => Some(Move::Any),
        "MOVZ" => Some(Move::Zeros),
        "MOVN" => Some(Move::Ones),
        "MOVK" => Some(Move::Keep),
        _ => None,
    }
}

pub fn lower(kind: Move, ins: &mut Instruction<'_, '_, '_>) -> Result<(), Diagnostic> {
    let dst = ins.register_or_sp()?;
    let width = dst.width;
    let value = match kind {
        Move::Any => source(ins, width)?,
        Move::Zeros => {
            let (bits, shift) = sixteen_bits(ins, width)?;
            Expr::constant(width, bits << shift)
        }
        Move::Ones => {
            let (bits, shift) = sixteen_bits(ins, width)?;
            Expr::constant(width, !(bits << shift))
        }
        Move::Keep => {
            let (bits, shift) = sixteen_bits(ins, width)?;
            let others = Expr::constant(width, !(0xffff << shift));
            ins.read(dst) & others | Expr::constant(width, bits << shift)
        }
    };
    ins.write(dst, value);
    Ok(())
}

fn source(ins: &mut Instruction<'_, '_, '_>, width: u32) -> Result<Expr, Diagnostic> {
    let text = ins.peek().unwrap_or(ins.mnemonic);
    if Reg::parse(text).is_some() {
        let reg = ins.register_or_sp()?;
        ins.require_width(text, reg, width)?;
        return Ok(ins.read(reg));
    }
    let value = ins.immediate(-(1 << (width - 1)), (1 << width) - 1)?;
    Ok(Expr::signed(width, value))
}

/// `#bits` or `#bits,LSL #shift`.
fn sixteen_bits(ins: &mut Instruction<'_, '_, '_>, width: u32) -> Result<(u128, u32), Diagnostic> {
    let bits = ins.immediate(0, 0xffff)? as u128;
    let shift = match ins.peek() {
        None => 0,
        Some(_) if width == 32 => left_shift(ins, &[0, 16])?,
        Some(_) => left_shift(ins, &[0, 16, 32, 48])?,
    };
    Ok((bits, shift))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{error, run};

    #[test]
    fn values() {
        let start = [("X0", 0x1111_2222_3333_4444), ("X1", 0xffff_ffff_0000_0001)];
        let cases: [(&str, u64); 10] = [
            ("MOV X0,X1", 0xffff_ffff_0000_0001),
            ("MOV W0,W1", 1),
            ("MOV W0,#-1", 0xffff_ffff),
            ("mov x0,#-1", u64::MAX),
            ("MOV X0,XZR", 0),
            ("MOV W0,#0xffffffff", 0xffff_ffff),
            ("MOVZ X0,#5,LSL #48", 5 << 48),
            ("MOVN W0,#0", 0xffff_ffff),
            ("MOVK X0,#0xabcd,LSL #16", 0x1111_2222_abcd_4444),
            ("MOVK W0,#0xabcd", 0x3333_abcd),
        ];
        for (text, expected) in cases {
            assert_eq!(run(&[text], &start).register("X0"), expected, "{text}");
        }
    }

    #[test]
    fn malformed_moves() {
        let cases = [
            ("MOV W0,X1", "1:8: expected a W register, found 'X1'"),
            (
                "MOV W0,#0x100000000",
                "1:8: 4294967296 is out of range: expected -2147483648 to 4294967295",
            ),
            ("MOVZ W0,#1,LSL #32", "1:12: a shift by 32 is not possible here"),
            ("MOVZ X0,#65536", "1:9: 65536 is out of range: expected 0 to 65535"),
            ("MOV X0,x", "1:8: expected a number, found 'x'"),
        ];
        for (text, message) in cases {
            assert_eq!(error(text), message);
        }
    }
}
