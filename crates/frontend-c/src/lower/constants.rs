//! Constants, and what objects hold at first.

use parallax_program::{BinaryOp, Cell, Expr};

use super::arithmetic::{bit_cast, cast, compare, integer_op};
use super::layout::Lowered;
use super::unit::Unit;
use crate::llvm::{Constant, Type, Typed, Value};

/// How names become addresses: this differs inside and outside of functions.
pub type AddressOf<'a> = &'a mut dyn FnMut(&crate::llvm::Name) -> Lowered<Expr>;

impl Unit<'_> {
    /// The scalars of a constant.
    pub fn constant(&self, ty: &Type, value: &Value, address: AddressOf) -> Lowered<Vec<Expr>> {
        match value {
            Value::Global(name) => Ok(vec![address(name)?]),
            Value::Null => Ok(vec![Expr::constant(self.layout.width(ty)?, 0)]),
            Value::Zero | Value::Undef | Value::Poison => {
                let scalars = self.layout.scalars(ty)?;
                Ok(scalars.iter().map(|scalar| Expr::constant(scalar.width, 0)).collect())
            }
            Value::Int(number) => Ok(vec![Expr::constant(self.layout.width(ty)?, *number)]),
            Value::Float(bits) => match ty {
                Type::Float => {
                    let single = f64::from_bits(*bits) as f32;
                    Ok(vec![Expr::constant(32, u128::from(single.to_bits()))])
                }
                _ => Ok(vec![Expr::constant(64, u128::from(*bits))]),
            },
            Value::Bytes(bytes) => {
                Ok(bytes.iter().map(|byte| Expr::constant(8, u128::from(*byte))).collect())
            }
            Value::Aggregate(elements) => {
                let mut scalars = Vec::new();
                for element in elements.iter() {
                    scalars.extend(self.constant(&element.ty, &element.value, address)?);
                }
                Ok(scalars)
            }
            Value::Splat(lane) => {
                let lane = self.constant(&lane.ty, &lane.value, address)?;
                let count = self.layout.scalars(ty)?.len() / lane.len().max(1);
                Ok(std::iter::repeat_n(lane, count).flatten().collect())
            }
            Value::Constant(constant) => self.constant_expression(constant, address),
            Value::Other(text) => match extended_pattern(text) {
                Some(pattern) => Ok(vec![Expr::constant(self.layout.width(ty)?, pattern)]),
                None => Err(format!("the constant '{text}'")),
            },
            Value::Local(name) => Err(format!("the variable '%{name}' as a constant")),
            Value::Assembly { .. } | Value::Metadata(..) => Err("an odd constant".to_string()),
        }
    }

    fn one(&self, typed: &Typed, address: AddressOf) -> Lowered<Expr> {
        let mut scalars = self.constant(&typed.ty, &typed.value, address)?;
        match (scalars.pop(), scalars.is_empty()) {
            (Some(scalar), true) => Ok(scalar),
            _ => Err("a constant of several parts".to_string()),
        }
    }

    fn constant_expression(&self, constant: &Constant, address: AddressOf) -> Lowered<Vec<Expr>> {
        Ok(vec![match constant {
            Constant::Gep { element, base, indices } => {
                let base = self.one(base, address)?;
                self.element_address(element, base, indices, &mut |index| {
                    self.one(index, &mut *address)
                })?
            }
            Constant::Cast { op, value, to } => {
                let from = self.constant(&value.ty, &value.value, address)?;
                if *op == crate::llvm::CastOp::BitCast {
                    let scalars = self.layout.scalars(to)?;
                    let widths: Vec<u32> = scalars.iter().map(|scalar| scalar.width).collect();
                    let from_widths: Vec<u32> =
                        self.layout.scalars(&value.ty)?.iter().map(|s| s.width).collect();
                    return bit_cast(from, &from_widths, &widths);
                }
                let from_width = self.layout.width(&value.ty)?;
                let value = from.into_iter().next().ok_or("an empty constant")?;
                cast(*op, value, from_width, self.layout.width(to)?)?
            }
            Constant::Binary { op, left, right } => {
                let (left, right) = (self.one(left, address)?, self.one(right, address)?);
                Expr::binary(integer_op(*op), left, right)
            }
            Constant::Compare { predicate, left, right } => {
                let (left, right) = (self.one(left, address)?, self.one(right, address)?);
                compare(*predicate, left, right)
            }
            Constant::Select { condition, then, otherwise } => {
                let condition = self.one(condition, address)?;
                let (then, otherwise) = (self.one(then, address)?, self.one(otherwise, address)?);
                condition.select(then, otherwise)
            }
        }])
    }

    /// The address of a part (`getelementptr`): constant steps are added up.
    pub fn element_address(
        &self,
        element: &Type,
        base: Expr,
        indices: &[Typed],
        scalar: &mut dyn FnMut(&Typed) -> Lowered<Expr>,
    ) -> Lowered<Expr> {
        let width = self.shared.pointer_width;
        let (mut fixed, mut address) = (0u64, base);
        let mut ty = element.clone();
        for (position, index) in indices.iter().enumerate() {
            let step = match (position, self.layout.resolve(&ty)) {
                (0, whole) => Step::Elements(whole.clone()),
                (_, Type::Array(_, inner) | Type::Vector(_, inner)) => {
                    Step::Elements(inner.as_ref().clone())
                }
                (_, Type::Struct { packed, fields }) => {
                    let Value::Int(number) = index.value else {
                        return Err("a field that is no number".to_string());
                    };
                    let field = fields.get(number as usize).ok_or("a field that is not there")?;
                    let offsets = self.layout.field_offsets(*packed, fields)?;
                    Step::Field(offsets[number as usize], field.clone())
                }
                _ => return Err("a part of what has no parts".to_string()),
            };
            match step {
                Step::Field(offset, inner) => {
                    fixed = fixed.wrapping_add(offset);
                    ty = inner;
                }
                Step::Elements(inner) => {
                    let size = self.layout.size(&inner)?;
                    match index.value {
                        Value::Int(number) => {
                            let number = sign_extended(number, self.layout.width(&index.ty)?);
                            fixed = fixed.wrapping_add((number as u64).wrapping_mul(size));
                        }
                        _ if size > 0 => {
                            let from = self.layout.width(&index.ty)?;
                            let index = scalar(index)?;
                            let index = match from < width {
                                true => index.sign_extend(width),
                                false => index.resize(from, width),
                            };
                            address = address + scaled(index, size, width);
                        }
                        _ => {}
                    }
                    ty = inner;
                }
            }
        }
        Ok(displaced(address, fixed, width))
    }

    /// What an object of the type holds, at an offset in a larger one. Zeros are left out.
    pub fn cells(
        &self,
        ty: &Type,
        value: &Value,
        offset: u64,
        cells: &mut Vec<Cell>,
    ) -> Lowered<()> {
        match (self.layout.resolve(ty), value) {
            (_, Value::Zero | Value::Null | Value::Undef | Value::Poison) => Ok(()),
            (Type::Array(_, element) | Type::Vector(_, element), Value::Aggregate(elements)) => {
                let size = self.layout.size(element)?;
                for (index, element) in elements.iter().enumerate() {
                    let at = offset.wrapping_add((index as u64).wrapping_mul(size));
                    self.cells(&element.ty, &element.value, at, cells)?;
                }
                Ok(())
            }
            (Type::Struct { packed, fields }, Value::Aggregate(elements)) => {
                let offsets = self.layout.field_offsets(*packed, fields)?;
                for (element, at) in elements.iter().zip(offsets) {
                    self.cells(&element.ty, &element.value, offset.wrapping_add(at), cells)?;
                }
                Ok(())
            }
            (_, Value::Bytes(bytes)) => {
                let bytes = bytes.iter().enumerate().filter(|(_, byte)| **byte != 0);
                cells.extend(bytes.map(|(at, byte)| Cell {
                    offset: offset.wrapping_add(at as u64),
                    width: 8,
                    value: Expr::constant(8, u128::from(*byte)),
                }));
                Ok(())
            }
            (scalar, value) => self.scalar_cell(scalar, value, offset, cells),
        }
    }

    fn scalar_cell(
        &self,
        ty: &Type,
        value: &Value,
        offset: u64,
        cells: &mut Vec<Cell>,
    ) -> Lowered<()> {
        let scalars = self.layout.scalars(ty)?;
        let values = self.constant(ty, value, &mut |name| self.address(name))?;
        for (scalar, value) in scalars.iter().zip(values) {
            let width = scalar.bytes() as u32 * 8;
            let value = match width > scalar.width {
                true => value.zero_extend(width),
                false => value,
            };
            if value != Expr::constant(width, 0) {
                let offset = offset.wrapping_add(scalar.offset);
                cells.push(Cell { offset, width, value });
            }
        }
        Ok(())
    }
}

enum Step {
    Field(u64, Type),
    Elements(Type),
}

fn sign_extended(value: u128, width: u32) -> i128 {
    let unused = 128 - width.clamp(1, 128);
    ((value << unused) as i128) >> unused
}

fn scaled(index: Expr, size: u64, width: u32) -> Expr {
    match size {
        1 => index,
        _ => Expr::binary(BinaryOp::Mul, index, Expr::constant(width, u128::from(size))),
    }
}

/// An address, moved by a constant.
pub fn displaced(address: Expr, by: u64, width: u32) -> Expr {
    if by == 0 {
        return address;
    }
    if let Expr::Binary(BinaryOp::Add, base, offset) = &address
        && let Expr::Const(offset) = **offset
    {
        let total = offset.unsigned().wrapping_add(u128::from(by));
        return displaced(base.as_ref().clone(), total as u64, width);
    }
    Expr::binary(BinaryOp::Add, address, Expr::constant(width, u128::from(by)))
}

/// `0xK4000…`: the bits of a number of 80 bits (or, with H or R, of 16).
fn extended_pattern(text: &str) -> Option<u128> {
    let digits = text.strip_prefix("0x")?;
    let digits = digits.strip_prefix(['K', 'H', 'R'])?;
    u128::from_str_radix(digits, 16).ok()
}
