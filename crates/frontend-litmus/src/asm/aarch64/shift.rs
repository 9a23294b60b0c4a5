//! Shifts and rotations by a constant or by a register, which counts modulo the width.

use parallax_program::{Diagnostic, Expr};

use super::instruction::Instruction;
use super::operand::Shift;
use super::registers::Reg;

pub fn decode(name: &str) -> Option<Shift> {
    Shift::parse(name.strip_suffix('V').unwrap_or(name))
}

pub fn lower(shift: Shift, ins: &mut Instruction<'_, '_, '_>) -> Result<(), Diagnostic> {
    let dst = ins.register()?;
    let width = dst.width;
    let left = ins.register_of(width)?;
    let left = ins.read(left);
    let value = match ins.peek().and_then(Reg::parse) {
        Some(_) => {
            let by = ins.register_of(width)?;
            let amount = ins.read(by) & Expr::constant(width, (width - 1).into());
            shift.by(left, width, amount)
        }
        None => {
            let amount = ins.bit_count(width)?;
            shift.by_constant(left, width, amount)
        }
    };
    ins.write(dst, value);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{error, run};

    #[test]
    fn values() {
        let start = [("X1", 0x8000_0000_8000_0001), ("X2", 65), ("X3", 64)];
        let cases: [(&str, u64); 9] = [
            ("LSL X0,X1,#1", 0x0000_0001_0000_0002),
            ("LSL W0,W1,#31", 0x8000_0000),
            ("LSR X0,X1,X2", 0x4000_0000_4000_0000),
            ("LSRV W0,W1,W2", 0x4000_0000),
            ("ASR X0,X1,#4", 0xf800_0000_0800_0000),
            ("ASR W0,W1,W2", 0xc000_0000),
            ("ROR X0,X1,#1", 0xc000_0000_4000_0000),
            ("ROR X0,X1,X3", 0x8000_0000_8000_0001),
            ("ROR W0,W1,W2", 0xc000_0000),
        ];
        for (text, expected) in cases {
            assert_eq!(run(&[text], &start).register("X0"), expected, "{text}");
        }
    }

    #[test]
    fn a_constant_is_less_than_the_width() {
        assert_eq!(error("LSL W0,W1,#32"), "1:11: 32 is out of range: expected 0 to 31");
    }
}
