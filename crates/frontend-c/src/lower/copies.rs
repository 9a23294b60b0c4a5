//! Copies and fillings of memory whose size is known, as accesses to the scalars that the object
//! is made of: those that the types, or clang's notes on the copy, list. Where nothing is known,
//! as accesses of eight bytes and a rest. Reads of a copy carry the tag `COPY`: what they read
//! may be uninitialised, as long as nobody looks at it.

use parallax_program::{BinaryOp, Expr, InstKind, Property, Terminator};

use super::body::Body;
use super::layout::Lowered;
use super::memory::{Piece, UNWRITTEN, pieces, plain_tags};
use super::pointee::Pointee;
use crate::llvm::{Instruction, Type, Typed, Value};

/// Copies as a whole, and assignments of structures, are of objects that do not overlap (C17, 7.24.2.1,
/// 6.5.16.1).
const OVERLAP: &str = "source and destination of a copy overlap";

/// Longer copies become loops.
const MOST_PIECES: usize = 64;

impl Body<'_> {
    /// `memcpy` and `memmove`. What is read is read before the first write.
    pub fn copy(
        &mut self,
        to: &Value,
        from: &Value,
        size: &Typed,
        name: &str,
        instruction: &Instruction,
    ) -> Lowered<()> {
        let Value::Int(bytes) = size.value else {
            return self.copy_by_call(name, to, from, size);
        };
        let bytes = u64::try_from(bytes).map_err(|_| "a copy of too many bytes")?;
        if name == "memcpy" {
            self.require_apart(to, from, bytes)?;
        }
        let listed =
            instruction.copy_layout.and_then(|layout| self.noted_copy(layout, bytes, [to, from]));
        if let Some(pieces) = listed.filter(|listed| listed.len() <= MOST_PIECES) {
            return self.copy_pieces(to, from, &pieces);
        }
        if let Some(stride) = self.stride(to, bytes).or_else(|| self.stride(from, bytes)) {
            return self.copy_elements(to, from, &stride, bytes);
        }
        let natural = self.natural_copy(to, bytes).or_else(|| self.natural_copy(from, bytes));
        match natural {
            Some(natural) if natural.len() <= 4 * MOST_PIECES => {
                self.copy_pieces(to, from, &natural)
            }
            _ if bytes <= 8 * MOST_PIECES as u64 => self.copy_pieces(to, from, &pieces(0, bytes)),
            _ => self.copy_by_call(name, to, from, size),
        }
    }

    /// What is copied as a whole must not overlap what is written, unless it is the same.
    fn require_apart(&mut self, to: &Value, from: &Value, bytes: u64) -> Lowered<()> {
        let width = self.pointer_width();
        let (to, from) = (self.address(to)?, self.address(from)?);
        match self.are_apart(&to, &from, bytes) {
            Some(true) => return Ok(()),
            Some(false) => {
                self.fail(OVERLAP, Property::Memory);
                return Ok(());
            }
            None => {}
        }
        let (to, from) = (self.in_var(to, width), self.in_var(from, width));
        let bytes = Expr::constant(width, u128::from(bytes));
        let far =
            |a: &Expr, b: &Expr| Expr::binary(BinaryOp::Ule, bytes.clone(), a.clone() - b.clone());
        let apart = to.clone().eq(from.clone()) | (far(&to, &from) & far(&from, &to));
        self.require(apart, OVERLAP, Property::Memory);
        Ok(())
    }

    /// Whether two places are apart, in different objects or far enough from one another, or the
    /// same, if that can be seen.
    fn are_apart(&self, to: &Expr, from: &Expr, bytes: u64) -> Option<bool> {
        let is_object = |expr: &Expr| match expr {
            Expr::Address(_) => true,
            Expr::Var(var) => self.stack.contains(var) || self.is_register(expr),
            _ => false,
        };
        let place = |expr: &Expr| match expr {
            Expr::Binary(BinaryOp::Add, base, offset) => match &**offset {
                Expr::Const(bits) => Some((base.as_ref().clone(), bits.unsigned())),
                _ => None,
            },
            expr => Some((expr.clone(), 0)),
        };
        let ((a, at), (b, from)) = (place(to)?, place(from)?);
        match a == b {
            true => Some(at == from || at.abs_diff(from) >= u128::from(bytes)),
            false => (is_object(&a) && is_object(&b)).then_some(true),
        }
    }

    fn copy_by_call(&mut self, name: &str, to: &Value, from: &Value, size: &Typed) -> Lowered<()> {
        let width = self.pointer_width();
        let from_width = self.unit.layout.width(&size.ty)?;
        let args = vec![
            self.address(to)?,
            self.address(from)?,
            self.typed(size)?.resize(from_width, width),
        ];
        let dst = Some(self.builder.temp(width));
        self.call_external(name, dst, args);
        Ok(())
    }

    fn copy_pieces(&mut self, to: &Value, from: &Value, pieces: &[Piece]) -> Lowered<()> {
        let width = self.pointer_width();
        let (to, from) = (self.address(to)?, self.address(from)?);
        let (to, from) = (self.in_var(to, width), self.in_var(from, width));
        self.copy_at(&to, &from, pieces)
    }

    fn copy_at(&mut self, to: &Expr, from: &Expr, pieces: &[Piece]) -> Lowered<()> {
        let tags = plain_tags(false);
        let copied = match self.unit.module.is_rust {
            true => tags.with(UNWRITTEN),
            false => tags.with(["COPY"]),
        };
        let mut values = Vec::new();
        for piece in pieces {
            values.push(self.piece_value(from, *piece, &copied)?);
        }
        for (piece, value) in pieces.iter().zip(values) {
            self.store_piece(to, *piece, &tags, value)?;
        }
        Ok(())
    }

    /// For a long array: the accesses of one element, and its size.
    fn stride(&self, pointer: &Value, bytes: u64) -> Option<(Vec<Piece>, u64)> {
        let Pointee { ty, offset: 0, .. } = self.pointee(pointer)? else {
            return None;
        };
        let Type::Array(_, element) = self.unit.layout.resolve(&ty) else {
            return None;
        };
        let size = self.unit.layout.size(element).ok()?;
        let scalars = self.unit.layout.scalars(element).ok()?;
        let natural: Vec<Piece> =
            scalars.iter().flat_map(|scalar| pieces(scalar.offset, scalar.bytes())).collect();
        let fits =
            size > 0 && bytes.is_multiple_of(size) && self.unit.layout.size(&ty).ok()? >= bytes;
        let long = bytes.checked_div(size)? as usize * natural.len() > MOST_PIECES;
        (fits && long && natural.len() <= MOST_PIECES).then_some((natural, size))
    }

    /// Element by element. Two arrays that are not the same do not overlap.
    fn copy_elements(
        &mut self,
        to: &Value,
        from: &Value,
        (natural, size): &(Vec<Piece>, u64),
        bytes: u64,
    ) -> Lowered<()> {
        let width = self.pointer_width();
        let (to, from) = (self.address(to)?, self.address(from)?);
        let (to, from) = (self.in_var(to, width), self.in_var(from, width));
        self.repeat(bytes, *size, |body, offset| {
            body.copy_at(&(to.clone() + offset.clone()), &(from.clone() + offset), natural)
        })
    }

    /// A loop over offsets from 0 up to `bytes`.
    fn repeat(
        &mut self,
        bytes: u64,
        step: u64,
        mut inside: impl FnMut(&mut Self, Expr) -> Lowered<()>,
    ) -> Lowered<()> {
        let width = self.pointer_width();
        let constant = |value: u64| Expr::constant(width, u128::from(value));
        let offset = self.builder.temp(width);
        self.builder.assign(offset, constant(0));
        let (head, after) = (self.builder.new_block("each"), self.builder.new_block("copied"));
        self.builder.enter(head);
        inside(self, Expr::Var(offset))?;
        self.builder.assign(offset, Expr::Var(offset) + constant(step));
        let condition = Expr::binary(BinaryOp::Ult, Expr::Var(offset), constant(bytes));
        let again = Terminator::Branch { condition, then: head, otherwise: after, join: None };
        self.builder.terminate(again);
        self.builder.enter(after);
        Ok(())
    }

    /// `memset`.
    pub fn fill_memory(&mut self, to: &Value, byte: &Typed, size: &Typed) -> Lowered<()> {
        let Value::Int(bytes) = size.value else {
            return self.fill_by_call(to, byte, size);
        };
        let bytes = u64::try_from(bytes).map_err(|_| "a filling of too many bytes")?;
        let value = self.typed(byte)?;
        let value = self.in_var(value, 8);
        let width = self.pointer_width();
        let tags = plain_tags(false);
        if let Some((natural, size)) = self.stride(to, bytes) {
            let address = self.address(to)?;
            let address = self.in_var(address, width);
            return self.repeat(bytes, size, |body, offset| {
                let address = address.clone() + offset;
                natural.iter().try_for_each(|piece| {
                    body.store_piece(&address, *piece, &tags, repeated(&value, piece.bytes))
                })
            });
        }
        let natural = self.natural_copy(to, bytes).filter(|n| n.len() <= 4 * MOST_PIECES);
        let natural = match natural {
            Some(natural) => natural,
            None if bytes <= 8 * MOST_PIECES as u64 => pieces(0, bytes),
            None => return self.fill_by_call(to, byte, size),
        };
        let address = self.address(to)?;
        let address = self.in_var(address, width);
        for piece in natural {
            self.store_piece(&address, piece, &tags, repeated(&value, piece.bytes))?;
        }
        Ok(())
    }

    fn fill_by_call(&mut self, to: &Value, byte: &Typed, size: &Typed) -> Lowered<()> {
        let width = self.pointer_width();
        let from_width = self.unit.layout.width(&size.ty)?;
        let args = vec![
            self.address(to)?,
            self.typed(byte)?.zero_extend(32),
            self.typed(size)?.resize(from_width, width),
        ];
        let dst = Some(self.builder.temp(width));
        self.call_external("memset", dst, args);
        Ok(())
    }

    /// A copy of an object for a callee of its own.
    pub fn copied_object(&mut self, from: &Value, ty: &Type) -> Lowered<parallax_program::VarId> {
        let width = self.pointer_width();
        let size = self.unit.layout.size(ty)?;
        let align = self.unit.layout.align(ty)?;
        let scalars = self.unit.layout.scalars(ty);
        let from = self.address(from)?;
        let from = self.in_var(from, width);
        let copy = self.builder.temp(width);
        let bytes = Expr::constant(width, u128::from(size));
        self.allocate(copy, bytes.clone(), align, parallax_program::AllocKind::Stack, None);
        match scalars {
            Ok(scalars) => {
                let natural =
                    scalars.iter().flat_map(|scalar| pieces(scalar.offset, scalar.bytes()));
                let natural: Vec<Piece> = natural.collect();
                self.copy_at(&Expr::Var(copy), &from, &natural)?;
            }
            // One of too many parts to name them all.
            Err(_) => self.call_external("memory.copy", None, vec![Expr::Var(copy), from, bytes]),
        }
        Ok(copy)
    }

    pub fn end_object(&mut self, object: parallax_program::VarId) {
        let kind = parallax_program::AllocKind::Stack;
        self.builder.emit(InstKind::Free { address: Expr::Var(object), kind });
    }
}

/// The same byte so many times.
fn repeated(byte: &Expr, count: u32) -> Expr {
    match byte {
        Expr::Const(bits) => {
            let pattern = (0..count).fold(0, |all, at| all | bits.unsigned() << (8 * at));
            Expr::constant(8 * count, pattern)
        }
        byte => (1..count).fold(byte.clone(), |all, _| all.concat(byte.clone())),
    }
}
