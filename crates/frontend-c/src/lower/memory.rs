//! Loads, stores and objects of functions.
//!
//! Engines work on cells, and accesses of different sizes to the same bytes cost them dearly. C's
//! calling conventions pass small structures as whole integers, so an access that covers several
//! scalars of an object whose type is known is split along them. What lies between the scalars is
//! not read, and reads as zero.

use std::sync::Arc;

use parallax_program::{AccessSize, AllocKind, Expr, InstKind, Shape, Tags, VarId};

use super::arithmetic::joined;
use super::body::Body;
use super::constants::displaced;
use super::layout::{Lowered, Scalar};
use super::lifetimes::Scoped;
use super::shapes;
use crate::llvm::{Instruction, Name, Operation, Type, Typed, Value};

/// One access: where from the start of an object, and how many bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Piece {
    pub offset: u64,
    pub bytes: u32,
}

/// The fewest accesses that cover so many bytes.
pub fn pieces(offset: u64, bytes: u64) -> Vec<Piece> {
    let (mut at, mut left) = (offset, bytes);
    let mut pieces = Vec::new();
    for size in [16, 8, 4, 2, 1] {
        while left >= u64::from(size) && (size < 16 || bytes == 16) {
            pieces.push(Piece { offset: at, bytes: size });
            at += u64::from(size);
            left -= u64::from(size);
        }
    }
    pieces
}

/// Zeros for the bytes between two places.
fn gap(from: u64, to: u64) -> Option<Expr> {
    let bits = to.checked_sub(from).filter(|bytes| *bytes > 0)? as u32 * 8;
    Some(Expr::constant(bits, 0))
}

pub fn access_size(bytes: u64) -> Lowered<AccessSize> {
    let size = u32::try_from(bytes).ok().and_then(AccessSize::from_bytes);
    size.ok_or_else(|| format!("an atomic access of {bytes} bytes"))
}

/// On what may read parts that nobody has written, in a language in which nobody decides by them: they are 0.
pub const UNWRITTEN: [&str; 2] = ["COPY", "FRESH"];

pub fn plain_tags(volatile: bool) -> Tags {
    if volatile { Tags::new(["NA", "VOLATILE"]) } else { Tags::new(["NA"]) }
}

impl Body<'_> {
    pub fn memory(&mut self, instruction: &Instruction) -> Lowered<()> {
        match &instruction.operation {
            Operation::Load { ty, address, volatile, order } => {
                let Some(result) = &instruction.result else {
                    return Ok(());
                };
                match order {
                    Some(order) => self.atomic_load(ty, address, *order, result),
                    None => {
                        let own = instruction.typed || !self.unit.has_types;
                        // What the pass makes of a copy of a whole is a copy still.
                        let own = own && !result.contains(".copyload");
                        let tags = match self.unit.module.is_rust && !instruction.noundef {
                            true => plain_tags(*volatile).with(UNWRITTEN),
                            false => plain_tags(*volatile),
                        };
                        self.load(ty, address, tags, own, result)
                    }
                }
            }
            Operation::Store { value, address, volatile, order } => match order {
                Some(order) => self.atomic_store(value, address, *order),
                None => {
                    let own = instruction.typed || !self.unit.has_types;
                    match instruction.declares && self.is_unwritten(&value.value) {
                        true => self.leave_open(&value.ty, address),
                        false => self.store(value, address, *volatile, own),
                    }
                }
            },
            Operation::Alloca { ty, count, align } => match &instruction.result {
                Some(result) => self.alloca(ty, count.as_ref(), *align, result),
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }

    /// How a scalar at an address is accessed.
    fn split(&self, address: &Value, scalar: Scalar, own: bool) -> Vec<Piece> {
        let bytes = scalar.bytes();
        self.natural_pieces(address, scalar.offset, bytes, own)
            .unwrap_or_else(|| pieces(scalar.offset, bytes))
    }

    /// A read that is not the source's `own` may touch what was never written.
    fn load(&mut self, ty: &Type, at: &Value, tags: Tags, own: bool, result: &Name) -> Lowered<()> {
        let volatile = tags.contains("VOLATILE");
        let tags = if own { tags } else { tags.with(["COPY"]) };
        let address = self.address(at)?;
        let scalars = self.unit.layout.scalars(ty)?;
        let address = match scalars.len() {
            1 => address,
            _ => self.in_var(address, self.pointer_width()),
        };
        let vars = self.vars_of(result);
        for (scalar, var) in scalars.into_iter().zip(vars) {
            let pieces = if volatile {
                pieces(scalar.offset, scalar.bytes())
            } else {
                self.split(at, scalar, own)
            };
            self.load_scalar(&address, scalar, &pieces, &tags, var)?;
        }
        Ok(())
    }

    fn load_scalar(
        &mut self,
        address: &Expr,
        scalar: Scalar,
        pieces: &[Piece],
        tags: &Tags,
        var: VarId,
    ) -> Lowered<()> {
        if let [piece] = pieces
            && piece.bytes * 8 == scalar.width
            && self.constant_piece(address, *piece, tags).is_none()
        {
            return self.load_piece(address, *piece, tags, var);
        }
        let mut parts = Vec::new();
        let mut at = scalar.offset;
        for piece in pieces {
            parts.extend(gap(at, piece.offset));
            parts.push(self.piece_value(address, *piece, tags)?);
            at = piece.offset + u64::from(piece.bytes);
        }
        parts.extend(gap(at, scalar.offset + scalar.bytes()));
        let whole = joined(parts).ok_or("an access of no bytes")?;
        self.builder.assign(var, whole.resize(scalar.bytes() as u32 * 8, scalar.width));
        Ok(())
    }

    /// What is read at a piece.
    pub fn piece_value(&mut self, address: &Expr, piece: Piece, tags: &Tags) -> Lowered<Expr> {
        if let Some(content) = self.constant_piece(address, piece, tags) {
            return Ok(content);
        }
        let value = self.builder.temp(piece.bytes * 8);
        self.load_piece(address, piece, tags, value)?;
        Ok(Expr::Var(value))
    }

    /// What never changes need not be read, unless it is volatile.
    fn constant_piece(&self, address: &Expr, piece: Piece, tags: &Tags) -> Option<Expr> {
        if tags.contains("VOLATILE") {
            return None;
        }
        let address = displaced(address.clone(), piece.offset, self.pointer_width());
        self.unit.constant_content(&address, piece.bytes)
    }

    fn load_piece(&mut self, address: &Expr, piece: Piece, tags: &Tags, dst: VarId) -> Lowered<()> {
        let address = displaced(address.clone(), piece.offset, self.pointer_width());
        if let Some(register) = self.register(&address, piece.bytes) {
            self.builder.assign(dst, Expr::Var(register));
            return Ok(());
        }
        let size = access_size(u64::from(piece.bytes))?;
        self.builder.emit(InstKind::Load { dst, address, size, tags: tags.clone() });
        Ok(())
    }

    fn store(&mut self, value: &Typed, at: &Value, volatile: bool, own: bool) -> Lowered<()> {
        let address = self.address(at)?;
        let scalars = self.unit.layout.scalars(&value.ty)?;
        let values = self.operand(&value.ty, &value.value)?;
        let address = match scalars.len() {
            1 => address,
            _ => self.in_var(address, self.pointer_width()),
        };
        for (scalar, value) in scalars.into_iter().zip(values) {
            let pieces = if volatile {
                pieces(scalar.offset, scalar.bytes())
            } else {
                self.split(at, scalar, own)
            };
            self.store_scalar(&address, scalar, &pieces, &plain_tags(volatile), value)?;
        }
        Ok(())
    }

    /// A variable is declared, and not given a value. What is in memory has none there.
    fn leave_open(&mut self, ty: &Type, at: &Value) -> Lowered<()> {
        let address = self.scalar(&Type::Pointer, at)?;
        for scalar in self.unit.layout.scalars(ty)? {
            for piece in pieces(scalar.offset, scalar.bytes()) {
                let address = displaced(address.clone(), piece.offset, self.pointer_width());
                if let Some(register) = self.register(&address, piece.bytes) {
                    self.give_undefined(register);
                }
            }
        }
        Ok(())
    }

    fn store_scalar(
        &mut self,
        address: &Expr,
        scalar: Scalar,
        pieces: &[Piece],
        tags: &Tags,
        value: Expr,
    ) -> Lowered<()> {
        let total = scalar.bytes() as u32 * 8;
        let whole = value.resize(scalar.width, total);
        if let [piece] = pieces
            && piece.bytes * 8 == total
        {
            return self.store_piece(address, *piece, tags, whole);
        }
        let whole = self.in_var(whole, total);
        for piece in pieces {
            let low = (piece.offset - scalar.offset) as u32 * 8;
            let part = whole.clone().extract(low, piece.bytes * 8);
            self.store_piece(address, *piece, tags, part)?;
        }
        Ok(())
    }

    pub fn store_piece(
        &mut self,
        address: &Expr,
        piece: Piece,
        tags: &Tags,
        value: Expr,
    ) -> Lowered<()> {
        let address = displaced(address.clone(), piece.offset, self.pointer_width());
        if let Some(register) = self.register(&address, piece.bytes) {
            self.builder.assign(register, value);
            return Ok(());
        }
        let size = access_size(u64::from(piece.bytes))?;
        self.builder.emit(InstKind::Store { address, value, size, tags: tags.clone() });
        Ok(())
    }

    fn alloca(
        &mut self,
        ty: &Type,
        count: Option<&Typed>,
        align: Option<u32>,
        result: &Name,
    ) -> Lowered<()> {
        if count.is_none() && self.keep_in_registers(result, ty)? {
            return Ok(());
        }
        let width = self.pointer_width();
        let element = self.unit.layout.size(ty)?;
        let size = Expr::constant(width, u128::from(element));
        let size = match count {
            Some(Typed { value: Value::Int(1), .. }) | None => size,
            Some(count) => {
                let from = self.unit.layout.width(&count.ty)?;
                self.typed(count)?.resize(from, width) * size
            }
        };
        let align = align.map_or(self.unit.layout.align(ty)?, u64::from);
        let described = self.declared.get(result).copied();
        let module = self.unit.module;
        let shape = described.and_then(|variable| shapes::of_variable(module, variable));
        let shape = shape.filter(|(_, bytes)| count.is_none() && *bytes == element);
        let shape = shape.map(|(shape, _)| shape);
        let dst = self.object_var(result);
        if count.is_none() && self.is_scoped(result) {
            self.note_alignment(dst, align);
            self.scoped.insert(result.clone(), Scoped { address: dst, size, align, shape });
            return Ok(());
        }
        self.stack.push(dst);
        self.note_alignment(dst, align);
        self.allocate(dst, size, align, AllocKind::Stack, shape);
        Ok(())
    }

    pub fn allocate(
        &mut self,
        dst: VarId,
        size: Expr,
        align: u64,
        kind: AllocKind,
        shape: Option<Shape>,
    ) {
        let align = u32::try_from(align).ok().filter(|align| align.is_power_of_two()).unwrap_or(1);
        let shape = shape.filter(|shape| *shape != Shape::Scalar).map(Arc::new);
        let zeroed = false;
        self.builder.emit(InstKind::Alloc { dst, size, align, kind, zeroed, shape });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_covered_by_few_accesses() {
        let sizes = |bytes| pieces(0, bytes).iter().map(|piece| piece.bytes).collect::<Vec<_>>();
        assert_eq!(sizes(16), [16]);
        assert_eq!(sizes(10), [8, 2]);
        assert_eq!(sizes(3), [2, 1]);
        assert_eq!(sizes(24), [8, 8, 8]);
        assert_eq!(pieces(4, 3)[1], Piece { offset: 6, bytes: 1 });
    }
}
