//! Multiplication and division.

use parallax_program::{BinaryOp, Diagnostic, Expr};

use super::instruction::Instruction;
use super::registers::Reg;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Product {
    /// Added to, or taken from, a third operand, or zero where there is none.
    Plain {
        subtract: bool,
        accumulates: bool,
    },
    /// The same for a 64-bit product of 32-bit factors.
    Long {
        signed: bool,
        subtract: bool,
        accumulates: bool,
    },
    /// The upper half of a 128-bit product.
    High {
        signed: bool,
    },
    Quotient {
        signed: bool,
    },
}

pub fn decode(name: &str) -> Option<Product> {
    let plain = |subtract, accumulates| Product::Plain { subtract, accumulates };
    let long = |signed, subtract, accumulates| Product::Long { signed, subtract, accumulates };
    Some(match name {
        "MUL" => plain(false, false),
        "MNEG" => plain(true, false),
        "MADD" => plain(false, true),
        "MSUB" => plain(true, true),
        "SMULL" => long(true, false, false),
        "SMNEGL" => long(true, true, false),
        "SMADDL" => long(true, false, true),
        "SMSUBL" => long(true, true, true),
        "UMULL" => long(false, false, false),
        "UMNEGL" => long(false, true, false),
        "UMADDL" => long(false, false, true),
        "UMSUBL" => long(false, true, true),
        "SMULH" => Product::High { signed: true },
        "UMULH" => Product::High { signed: false },
        "SDIV" => Product::Quotient { signed: true },
        "UDIV" => Product::Quotient { signed: false },
        _ => return None,
    })
}

pub fn lower(product: Product, ins: &mut Instruction<'_, '_, '_>) -> Result<(), Diagnostic> {
    let (dst, factor_width) = match product {
        Product::Plain { .. } | Product::Quotient { .. } => {
            let dst = ins.register()?;
            (dst, dst.width)
        }
        Product::Long { .. } => (ins.register_of(64)?, 32),
        Product::High { .. } => (ins.register_of(64)?, 64),
    };
    let left = ins.register_of(factor_width)?;
    let right = ins.register_of(factor_width)?;
    let (left, right) = (ins.read(left), ins.read(right));
    let value = match product {
        Product::Plain { subtract, accumulates } => {
            accumulate(ins, dst, left * right, subtract, accumulates)?
        }
        Product::Long { signed, subtract, accumulates } => {
            let product = widen(left, signed, 64) * widen(right, signed, 64);
            accumulate(ins, dst, product, subtract, accumulates)?
        }
        Product::High { signed } => {
            (widen(left, signed, 128) * widen(right, signed, 128)).extract(64, 64)
        }
        Product::Quotient { signed } => quotient(left, right, signed, dst.width),
    };
    ins.write(dst, value);
    Ok(())
}

fn widen(value: Expr, signed: bool, width: u32) -> Expr {
    match signed {
        true => value.sign_extend(width),
        false => value.zero_extend(width),
    }
}

fn accumulate(
    ins: &mut Instruction<'_, '_, '_>,
    dst: Reg,
    product: Expr,
    subtract: bool,
    accumulates: bool,
) -> Result<Expr, Diagnostic> {
    let start = if accumulates {
        let reg = ins.register_of(dst.width)?;
        ins.read(reg)
    } else {
        Expr::constant(dst.width, 0)
    };
    Ok(match subtract {
        true => start - product,
        false => start + product,
    })
}

/// Division by zero gives zero. A mask and no choice, since a quotient depends on both operands
/// whatever they are.
fn quotient(left: Expr, right: Expr, signed: bool, width: u32) -> Expr {
    let operator = match signed {
        true => BinaryOp::SDiv,
        false => BinaryOp::UDiv,
    };
    let divisible = right.clone().ne(Expr::constant(width, 0)).sign_extend(width);
    Expr::binary(operator, left, right) & divisible
}

#[cfg(test)]
mod tests {
    use super::super::testing::{error, run};

    #[test]
    fn values() {
        let start = [("X1", 0xffff_ffff_ffff_fffa), ("X2", 4), ("X3", 100), ("X4", 0)];
        let cases: [(&str, u64); 14] = [
            ("MUL X0,X1,X2", -24_i64 as u64),
            ("MNEG X0,X1,X2", 24),
            ("MADD W0,W1,W2,W3", 76),
            ("MSUB X0,X1,X2,X3", 124),
            ("SMULL X0,W1,W2", -24_i64 as u64),
            ("UMULL X0,W1,W2", 0x3_ffff_ffe8),
            ("SMADDL X0,W1,W2,X3", 76),
            ("UMSUBL X0,W2,W2,X3", 84),
            ("UMULH X0,X1,X2", 3),
            ("SMULH X0,X1,X2", u64::MAX),
            ("SDIV X0,X1,X2", u64::MAX),
            ("UDIV W0,W1,W2", 0x3fff_fffe),
            ("SDIV X0,X1,X4", 0),
            ("UDIV X0,X1,X4", 0),
        ];
        for (text, expected) in cases {
            assert_eq!(run(&[text], &start).register("X0"), expected, "{text}");
        }
    }

    #[test]
    fn widths_are_checked() {
        assert_eq!(error("SMULL W0,W1,W2"), "1:7: expected a X register, found 'W0'");
        assert_eq!(error("MADD X0,X1,X2"), "1:1: MADD needs more operands");
    }
}
