//! The flexible last operand of arithmetic and logic: an immediate, or a register that is shifted
//! or extended on the way (`W1`, `#4`, `#1,LSL #12`, `X2,ASR #3`, `W3,SXTW #2`).

use parallax_program::{BinaryOp, Diagnostic, Expr};

use super::instruction::Instruction;

/// The operand, `width` bits wide.
pub fn flexible(ins: &mut Instruction<'_, '_, '_>, width: u32) -> Result<Expr, Diagnostic> {
    match ins.peek() {
        Some(text) if super::registers::Reg::parse(text).is_none() => immediate(ins, width),
        _ => register(ins, width),
    }
}

fn immediate(ins: &mut Instruction<'_, '_, '_>, width: u32) -> Result<Expr, Diagnostic> {
    let value = ins.immediate(-(1 << (width - 1)), (1 << width) - 1)?;
    let shift = match ins.peek() {
        None => 0,
        Some(_) => left_shift(ins, &[0, 12])?,
    };
    Ok(Expr::signed(width, value << shift))
}

/// `LSL #n`, with n out of a few.
pub fn left_shift(ins: &mut Instruction<'_, '_, '_>, choices: &[u32]) -> Result<u32, Diagnostic> {
    let text = ins.take()?;
    let (kind, amount) = modifier(text);
    if !kind.eq_ignore_ascii_case("LSL") {
        return Err(ins.error(text, format!("expected LSL #n, found '{text}'")));
    }
    let amount = ins.parse_immediate(amount, 0, 63)? as u32;
    if choices.contains(&amount) {
        Ok(amount)
    } else {
        let message = format!("a shift by {amount} is not possible here");
        Err(ins.error(text, message))
    }
}

fn register(ins: &mut Instruction<'_, '_, '_>, width: u32) -> Result<Expr, Diagnostic> {
    let name = ins.peek().unwrap_or(ins.mnemonic);
    let reg = ins.register_or_sp()?;
    let value = ins.read(reg);
    let Some(text) = ins.peek() else {
        ins.require_width(name, reg, width)?;
        return Ok(value);
    };
    ins.take()?;
    let (kind, amount) = modifier(text);
    if let Some(shift) = Shift::parse(kind) {
        ins.require_width(name, reg, width)?;
        let amount = ins.parse_immediate(amount, 0, i128::from(width) - 1)?;
        return Ok(shift.by_constant(value, width, amount as u32));
    }
    let Some(extension) = Extension::parse(kind) else {
        let message = format!("expected a shift or an extension, found '{text}'");
        return Err(ins.error(text, message));
    };
    let amount = match amount {
        "" => 0,
        _ => ins.parse_immediate(amount, 0, 4)?,
    };
    let extended = extension.apply(value, reg.width, width);
    Ok(Shift::Left.by_constant(extended, width, amount as u32))
}

/// `LSL #3` as its two words; the second may be missing.
pub fn modifier(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_alphabetic());
    let (kind, amount) = text.split_at(end.unwrap_or(text.len()));
    (kind, amount.trim())
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shift {
    Left,
    LogicalRight,
    ArithmeticRight,
    RotateRight,
}

impl Shift {
    pub fn parse(name: &str) -> Option<Shift> {
        match name.to_ascii_uppercase().as_str() {
            "LSL" => Some(Shift::Left),
            "LSR" => Some(Shift::LogicalRight),
            "ASR" => Some(Shift::ArithmeticRight),
            "ROR" => Some(Shift::RotateRight),
            _ => None,
        }
    }

    pub fn by_constant(self, value: Expr, width: u32, amount: u32) -> Expr {
        if amount == 0 {
            return value;
        }
        self.by(value, width, Expr::constant(width, amount.into()))
    }

    /// Shifts by `amount`, which is as wide as the value and less than its width.
    pub fn by(self, value: Expr, width: u32, amount: Expr) -> Expr {
        match self {
            Shift::Left => Expr::binary(BinaryOp::Shl, value, amount),
            Shift::LogicalRight => Expr::binary(BinaryOp::LShr, value, amount),
            Shift::ArithmeticRight => Expr::binary(BinaryOp::AShr, value, amount),
            Shift::RotateRight => {
                let back = Expr::constant(width, width.into()) - amount.clone();
                Expr::binary(BinaryOp::LShr, value.clone(), amount)
                    | Expr::binary(BinaryOp::Shl, value, back)
            }
        }
    }
}

/// `UXTB`, `SXTW` and their like: the low bits of a register, widened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Extension {
    pub signed: bool,
    pub bits: u32,
}

impl Extension {
    pub fn parse(name: &str) -> Option<Extension> {
        let name = name.to_ascii_uppercase();
        let (signed, size) = match name.strip_prefix("SXT") {
            Some(size) => (true, size),
            None => (false, name.strip_prefix("UXT")?),
        };
        let bits = match size {
            "B" => 8,
            "H" => 16,
            "W" => 32,
            "X" => 64,
            _ => return None,
        };
        Some(Extension { signed, bits })
    }

    /// Extends the low bits of a value from `from` to `to` bits.
    pub fn apply(self, value: Expr, from: u32, to: u32) -> Expr {
        let bits = self.bits.min(from).min(to);
        let low = value.resize(from, bits);
        match self.signed && bits < to {
            true => low.sign_extend(to),
            false => low.resize(bits, to),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{error, run};

    #[test]
    fn shifts_and_extensions_of_the_last_operand() {
        let start = [("X1", 100), ("X2", 0xffff_ffff_8000_00f1)];
        let cases = [
            ("ADD X0,X1,X2,LSL #4", 0xffff_fff8_0000_0f74),
            ("ADD X0,X1,X2,LSR #60", 115),
            ("ADD X0,X1,X2,ASR #63", 99),
            ("EOR X0,XZR,X2,ROR #8", 0xf1ff_ffff_ff80_0000),
            ("EOR W0,WZR,W2,ROR #8", 0xf180_0000),
            ("ADD X0,X1,W2,SXTW", 0xffff_ffff_8000_0155),
            ("ADD X0,X1,W2,UXTW", 0x8000_0155),
            ("ADD X0,X1,W2,SXTB #1", 70),
            ("ADD W0,W1,W2,UXTB", 341),
            ("ADD X0,X1,#1,LSL #12", 4196),
            ("ADD X0,X1,#-1", 99),
        ];
        for (text, expected) in cases {
            assert_eq!(run(&[text], &start).register("X0"), expected, "{text}");
        }
    }

    #[test]
    fn malformed_last_operands() {
        let cases = [
            ("ADD X0,X1,W2", "1:11: expected a X register, found 'W2'"),
            ("ADD X0,X1,X2,FOO #1", "1:14: expected a shift or an extension, found 'FOO #1'"),
            ("ADD W0,W1,W2,LSL #32", "1:18: 32 is out of range: expected 0 to 31"),
            ("ADD X0,X1,#1,LSL #3", "1:14: a shift by 3 is not possible here"),
            ("ADD X0,X1,y", "1:11: expected a number, found 'y'"),
        ];
        for (text, message) in cases {
            assert_eq!(error(text), message);
        }
    }
}
