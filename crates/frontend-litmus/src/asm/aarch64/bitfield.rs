//! Parts of registers: extensions, extraction, insertion.

use parallax_program::{Diagnostic, Expr};

use super::instruction::Instruction;
use super::operand::{Extension, Shift};

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Bitfield {
    /// `SXTB W0,W1`
    Extend(Extension),
    /// `UBFX X0,X1,#low,#count`: those bits, at the bottom.
    Extract { signed: bool },
    /// `UBFIZ X0,X1,#low,#count`: the low bits, further up.
    InsertInZeros { signed: bool },
    /// `UBFM X0,X1,#rotation,#last`: one of the two above.
    Move { signed: bool },
    /// `BFI X0,X1,#low,#count`: the low bits, over a part of the destination.
    Insert,
    /// `BFXIL X0,X1,#low,#count`: those bits, over the bottom of the destination.
    ExtractAndInsert,
    /// `EXTR X0,X1,X2,#low`: a part of two registers side by side.
    OfPair,
}

pub fn decode(name: &str) -> Option<Bitfield> {
    Some(match name {
        "UBFX" => Bitfield::Extract { signed: false },
        "SBFX" => Bitfield::Extract { signed: true },
        "UBFIZ" => Bitfield::InsertInZeros { signed: false },
        "SBFIZ" => Bitfield::InsertInZeros { signed: true },
        "UBFM" => Bitfield::Move { signed: false },
        "SBFM" => Bitfield::Move { signed: true },
        "BFI" => Bitfield::Insert,
        "BFXIL" => Bitfield::ExtractAndInsert,
        "EXTR" => Bitfield::OfPair,
        _ => Bitfield::Extend(Extension::parse(name).filter(|e| e.bits < 64)?),
    })
}

pub fn lower(field: Bitfield, ins: &mut Instruction<'_, '_, '_>) -> Result<(), Diagnostic> {
    let dst = ins.register()?;
    let width = dst.width;
    let value = match field {
        Bitfield::Extend(extension) => {
            let reg = ins.register()?;
            extension.apply(ins.read(reg), reg.width, width)
        }
        Bitfield::OfPair => {
            let (high, low) = (ins.register_of(width)?, ins.register_of(width)?);
            let pair = ins.read(high).concat(ins.read(low));
            pair.extract(ins.bit_count(width)?, width)
        }
        Bitfield::Extract { signed } => {
            let source = source(ins, width)?;
            let (low, count) = low_and_count(ins, width)?;
            extend(source.extract(low, count), signed, width)
        }
        Bitfield::InsertInZeros { signed } => {
            let source = source(ins, width)?;
            let (low, count) = low_and_count(ins, width)?;
            let bits = extend(source.extract(0, count), signed, width);
            Shift::Left.by_constant(bits, width, low)
        }
        Bitfield::Move { signed } => {
            let source = source(ins, width)?;
            let (rotation, last) = (ins.bit_count(width)?, ins.bit_count(width)?);
            if last >= rotation {
                extend(source.extract(rotation, last - rotation + 1), signed, width)
            } else {
                let bits = extend(source.extract(0, last + 1), signed, width);
                Shift::Left.by_constant(bits, width, width - rotation)
            }
        }
        Bitfield::Insert => {
            let source = source(ins, width)?;
            let (low, count) = low_and_count(ins, width)?;
            let bits = source.extract(0, count);
            over(ins.read(dst), bits, low, count, width)
        }
        Bitfield::ExtractAndInsert => {
            let source = source(ins, width)?;
            let (low, count) = low_and_count(ins, width)?;
            let bits = source.extract(low, count);
            over(ins.read(dst), bits, 0, count, width)
        }
    };
    ins.write(dst, value);
    Ok(())
}

fn source(ins: &mut Instruction<'_, '_, '_>, width: u32) -> Result<Expr, Diagnostic> {
    let reg = ins.register_of(width)?;
    Ok(ins.read(reg))
}

/// `#low,#count`, a part of a register that is not empty.
fn low_and_count(ins: &mut Instruction<'_, '_, '_>, width: u32) -> Result<(u32, u32), Diagnostic> {
    let low = ins.bit_count(width)?;
    let count = ins.immediate(1, i128::from(width - low))?;
    Ok((low, count as u32))
}

fn extend(bits: Expr, signed: bool, width: u32) -> Expr {
    match signed {
        true => bits.sign_extend(width),
        false => bits.zero_extend(width),
    }
}

/// `value` with `count` of its bits, from `low` on, replaced by `bits`.
fn over(value: Expr, bits: Expr, low: u32, count: u32, width: u32) -> Expr {
    let hole = ((1_u128 << count) - 1) << low;
    let placed = Shift::Left.by_constant(bits.zero_extend(width), width, low);
    value & Expr::constant(width, !hole) | placed
}

#[cfg(test)]
mod tests {
    use super::super::testing::{error, run};

    #[test]
    fn values() {
        let start = [("X0", u64::MAX), ("X1", 0x1234_5678_9abc_def0), ("X2", 0x11)];
        let cases: [(&str, u64); 17] = [
            ("SXTB W0,W1", 0xffff_fff0),
            ("SXTB X0,W1", 0xffff_ffff_ffff_fff0),
            ("SXTH X0,W1", 0xffff_ffff_ffff_def0),
            ("SXTW X0,W1", 0xffff_ffff_9abc_def0),
            ("UXTB W0,W1", 0xf0),
            ("UXTH W0,W1", 0xdef0),
            ("UBFX X0,X1,#4,#12", 0xdef),
            ("SBFX W0,W1,#4,#12", 0xffff_fdef),
            ("UBFX X0,X1,#0,#64", 0x1234_5678_9abc_def0),
            ("UBFIZ X0,X1,#8,#8", 0xf000),
            ("SBFIZ X0,X1,#8,#8", 0xffff_ffff_ffff_f000),
            ("UBFM W0,W1,#4,#7", 0xf),
            ("UBFM X0,X1,#60,#3", 0),
            ("SBFM X0,X1,#56,#7", 0xffff_ffff_ffff_f000),
            ("BFI X0,X1,#8,#8", 0xffff_ffff_ffff_f0ff),
            ("BFXIL X0,X1,#8,#8", 0xffff_ffff_ffff_ffde),
            ("EXTR X0,X2,X1,#8", 0x1112_3456_789a_bcde),
        ];
        for (text, expected) in cases {
            assert_eq!(run(&[text], &start).register("X0"), expected, "{text}");
        }
    }

    #[test]
    fn a_part_lies_inside_its_register() {
        let cases = [
            ("UBFX W0,W1,#32,#1", "1:12: 32 is out of range: expected 0 to 31"),
            ("UBFX W0,W1,#4,#29", "1:15: 29 is out of range: expected 1 to 28"),
            ("BFI X0,X1,#4,#0", "1:14: 0 is out of range: expected 1 to 60"),
        ];
        for (text, message) in cases {
            assert_eq!(error(text), message);
        }
    }
}
