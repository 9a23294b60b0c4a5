//! Multiplication and division.

use iced_x86::Mnemonic;
use parallax_program::{BinaryOp, Expr, Property};

use super::flags::is_zero;
use super::registers::{AF, CF, OF, PF, RAX, RDX, SF, View, ZF};
use super::{Lifted, Step};

impl Step<'_> {
    pub fn products(&mut self) -> Lifted<bool> {
        match self.mnemonic() {
            Mnemonic::Mul => self.multiply_wide(false)?,
            Mnemonic::Imul if self.instruction.op_count() == 1 => self.multiply_wide(true)?,
            Mnemonic::Imul => self.multiply()?,
            Mnemonic::Mulx => self.multiply_without_flags()?,
            Mnemonic::Div => self.divide(false)?,
            Mnemonic::Idiv => self.divide(true)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The accumulator by the operand, into both halves.
    fn multiply_wide(&mut self, signed: bool) -> Lifted<()> {
        let width = self.width_of_first()?;
        let right = self.source(0, width)?;
        let left = self.out.read(View { var: RAX, low: 0, width });
        let product = self.out.hold(2 * width, product(left, right, width, signed));
        self.product_flags(&product, width, signed);
        self.write_halves(product, width);
        Ok(())
    }

    /// Two or three operands: the lower half only.
    fn multiply(&mut self) -> Lifted<()> {
        let width = self.width_of_first()?;
        let first = self.instruction.op_count() - 2;
        let (left, right) = (self.source(first, width)?, self.source(first + 1, width)?);
        let product = self.out.hold(2 * width, product(left, right, width, true));
        self.product_flags(&product, width, true);
        let place = self.place(0)?;
        self.write(&place, product.extract(0, width));
        Ok(())
    }

    /// `mulx high, low, operand` with RDX.
    fn multiply_without_flags(&mut self) -> Lifted<()> {
        let width = self.width_of_first()?;
        let right = self.source(2, width)?;
        let left = self.out.read(View { var: RDX, low: 0, width });
        let product = self.out.hold(2 * width, product(left, right, width, false));
        let (high, low) = (self.place(0)?, self.place(1)?);
        self.write(&low, product.clone().extract(0, width));
        self.write(&high, product.extract(width, width));
        Ok(())
    }

    /// Carry and overflow say that the upper half matters; the others are undefined.
    fn product_flags(&mut self, product: &Expr, width: u32, signed: bool) {
        let low = product.clone().extract(0, width);
        let extended = if signed { low.sign_extend(2 * width) } else { low.zero_extend(2 * width) };
        self.out.assign(CF, product.clone().ne(extended));
        self.out.assign(OF, Expr::Var(CF));
        self.clear(&[SF, ZF, AF, PF]);
    }

    fn write_halves(&mut self, value: Expr, width: u32) {
        if width == 8 {
            return self.out.write(View { var: RAX, low: 0, width: 16 }, value);
        }
        let low = View { var: RAX, low: 0, width };
        let high = View { var: RDX, low: 0, width };
        self.out.write(low, value.clone().extract(0, width));
        self.out.write(high, value.extract(width, width));
    }

    /// Faults where the divisor is zero and where the quotient does not fit.
    fn divide(&mut self, signed: bool) -> Lifted<()> {
        let width = self.width_of_first()?;
        let divisor = self.source(0, width)?;
        let extended = match signed {
            true => divisor.clone().sign_extend(2 * width),
            false => divisor.clone().zero_extend(2 * width),
        };
        let dividend = match width {
            8 => self.out.read(View { var: RAX, low: 0, width: 16 }),
            _ => {
                let high = self.out.read(View { var: RDX, low: 0, width });
                high.concat(self.out.read(View { var: RAX, low: 0, width }))
            }
        };
        let (dividend, extended) =
            (self.out.hold(2 * width, dividend), self.out.hold(2 * width, extended));
        let divides = !is_zero(extended.clone(), 2 * width);
        self.out.require(divides, "division by zero", Property::Overflow);
        let (quotient, remainder) = match signed {
            true => (BinaryOp::SDiv, BinaryOp::SRem),
            false => (BinaryOp::UDiv, BinaryOp::URem),
        };
        let quotient = Expr::binary(quotient, dividend.clone(), extended.clone());
        let quotient = self.out.hold(2 * width, quotient);
        let low = quotient.clone().extract(0, width);
        let fits = match signed {
            true => low.clone().sign_extend(2 * width).eq(quotient.clone()),
            false => low.clone().zero_extend(2 * width).eq(quotient.clone()),
        };
        self.out.require(fits, "overflow in a division", Property::Overflow);
        let remainder = Expr::binary(remainder, dividend, extended).extract(0, width);
        self.write_halves(remainder.concat(low), width);
        self.clear(&[CF, OF, SF, ZF, AF, PF]);
        Ok(())
    }
}

/// All bits of a product.
fn product(left: Expr, right: Expr, width: u32, signed: bool) -> Expr {
    let extend = |value: Expr| match signed {
        true => value.sign_extend(2 * width),
        false => value.zero_extend(2 * width),
    };
    extend(left) * extend(right)
}
