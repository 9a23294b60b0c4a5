//! What is known of the object that a pointer leads to, without running the program.

use super::body::Body;
use super::layout::Lowered;
use super::memory::{Piece, pieces};
use super::unit::Symbol;
use crate::llvm::{Constant, Metadata, MetadataId, Name, Operation, Type, Typed, Value};

/// Pointers are followed back over so many steps.
const MAX_STEPS: u32 = 16;

impl Body<'_> {
    /// A type, and how far into an object of it a pointer points.
    pub fn pointee(&self, pointer: &Value) -> Option<(Type, u64)> {
        self.pointee_within(pointer, MAX_STEPS)
    }

    fn pointee_within(&self, pointer: &Value, steps: u32) -> Option<(Type, u64)> {
        let steps = steps.checked_sub(1)?;
        match pointer {
            Value::Global(name) => {
                self.unit.module.globals.iter().find(|g| g.name == *name).map(|g| (g.ty.clone(), 0))
            }
            Value::Constant(constant) => match constant.as_ref() {
                Constant::Gep { element, base, indices } => {
                    self.gep_pointee(element, base, indices, steps)
                }
                _ => None,
            },
            Value::Local(name) => match &self.definitions.get(name)?.operation {
                Operation::Alloca { ty, count: None, .. } => Some((ty.clone(), 0)),
                Operation::Gep { element, base, indices } => {
                    self.gep_pointee(element, base, indices, steps)
                }
                Operation::Freeze(value) => self.pointee_within(&value.value, steps),
                _ => None,
            }
            .or_else(|| self.param_pointee(name)),
            _ => None,
        }
    }

    fn param_pointee(&self, name: &Name) -> Option<(Type, u64)> {
        let param = self.function.params.iter().find(|param| param.name == *name)?;
        Some((param.pointee.clone()?, 0))
    }

    /// A constant step stays in the object that the base leads to; if that is not known, or the
    /// step is not, the type that the step is through says something still.
    fn gep_pointee(
        &self,
        element: &Type,
        base: &Typed,
        indices: &[Typed],
        steps: u32,
    ) -> Option<(Type, u64)> {
        let offset = self.constant_offset(element, indices);
        if let Some(offset) = offset
            && let Some((ty, at)) = self.pointee_within(&base.value, steps)
        {
            return Some((ty, at.wrapping_add(offset)));
        }
        match (offset, indices.first().map(|index| &index.value)) {
            (Some(offset), Some(Value::Int(0))) => Some((element.clone(), offset)),
            _ => Some((self.indexed(element, indices).ok()?, 0)),
        }
    }

    fn constant_offset(&self, element: &Type, indices: &[Typed]) -> Option<u64> {
        let zero = self.unit.pointer(0);
        let mut outside = |_: &Typed| Err(String::new());
        match self.unit.element_address(element, zero, indices, &mut outside).ok()? {
            parallax_program::Expr::Const(_) => Some(0),
            parallax_program::Expr::Binary(_, _, offset) => match *offset {
                parallax_program::Expr::Const(bits) => Some(bits.unsigned() as u64),
                _ => None,
            },
            _ => None,
        }
    }

    fn indexed(&self, element: &Type, indices: &[Typed]) -> Lowered<Type> {
        let mut ty = element.clone();
        for index in indices.iter().skip(1) {
            ty = match (self.unit.layout.resolve(&ty), &index.value) {
                (Type::Array(_, inner) | Type::Vector(_, inner), _) => inner.as_ref().clone(),
                (Type::Struct { fields, .. }, Value::Int(number)) => {
                    fields.get(*number as usize).ok_or("a field that is not there")?.clone()
                }
                _ => return Err("a part of what has no parts".to_string()),
            };
        }
        Ok(ty)
    }

    /// The scalars of the object at a pointer that so many bytes cover, if they cover whole ones
    /// and nothing lies beyond.
    pub fn natural_pieces(&self, pointer: &Value, from: u64, bytes: u64) -> Option<Vec<Piece>> {
        const MOST_BYTES: u64 = 1 << 16;
        const LARGEST_TEXT: u64 = 16;
        let (ty, at) = self.pointee(pointer)?;
        // Long arrays of bytes are room for something else.
        if matches!(self.unit.layout.resolve(&ty), Type::Array(count, element)
            if **element == Type::Int(8) && *count > LARGEST_TEXT)
        {
            return None;
        }
        let start = at.checked_add(from)?;
        let end = start.checked_add(bytes)?;
        let size = self.unit.layout.size(&ty).ok()?;
        if size < end || size > MOST_BYTES {
            return None;
        }
        let mut natural = Vec::new();
        for scalar in self.unit.layout.scalars(&ty).ok()? {
            let (first, last) = (scalar.offset, scalar.offset + scalar.bytes());
            if last <= start || first >= end {
                continue;
            }
            if first < start || last > end {
                return None;
            }
            natural.extend(pieces(first - at, scalar.bytes()));
        }
        let whole = natural.iter().map(|piece| u64::from(piece.bytes)).sum::<u64>() == bytes;
        whole.then_some(natural)
    }

    /// The same for a copy, which may leave out what lies between the scalars.
    pub fn natural_copy(&self, pointer: &Value, bytes: u64) -> Option<Vec<Piece>> {
        let (ty, at) = self.pointee(pointer)?;
        let end = at.checked_add(bytes)?;
        if self.unit.layout.size(&ty).ok()? < end {
            return None;
        }
        let mut natural = Vec::new();
        for scalar in self.unit.layout.scalars(&ty).ok()? {
            let (first, last) = (scalar.offset, scalar.offset + scalar.bytes());
            if last <= at || first >= end {
                continue;
            }
            if first < at || last > end {
                return None;
            }
            natural.extend(pieces(first - at, scalar.bytes()));
        }
        Some(natural)
    }

    /// The fields that a copy copies, where `!tbaa.struct` tells them: offset, size and type of
    /// each. Fields that are arrays are told as one; types that are known say more of them.
    pub fn told_copy(&self, layout: MetadataId, bytes: u64) -> Option<Vec<Piece>> {
        let number = |metadata: &Metadata| match metadata {
            Metadata::Value(typed) => match typed.value {
                Value::Int(number) => u64::try_from(number).ok(),
                _ => None,
            },
            _ => None,
        };
        let node = self.unit.module.node(layout)?;
        let mut told = Vec::new();
        for field in node.items.chunks(3) {
            let (offset, size) = (number(field.first()?)?, number(field.get(1)?)?);
            if offset >= bytes {
                continue;
            }
            if !matches!(size, 1 | 2 | 4 | 8 | 16) || offset.checked_add(size)? > bytes {
                return None;
            }
            told.extend(pieces(offset, size));
        }
        Some(told)
    }

    /// The bytes of a text that a pointer leads to, without the zero at its end.
    pub fn constant_text(&self, pointer: &Value) -> Option<Vec<u8>> {
        let (name, offset) = match pointer {
            Value::Global(name) => (name, 0),
            Value::Constant(constant) => match constant.as_ref() {
                Constant::Gep {
                    element,
                    base: Typed { value: Value::Global(name), .. },
                    indices,
                } => (name, self.constant_offset(element, indices)?),
                _ => return None,
            },
            _ => return None,
        };
        if !matches!(self.unit.symbols.get(name), Some(Symbol::Object(_))) {
            return None;
        }
        let global = self.unit.module.globals.iter().find(|global| global.name == *name)?;
        match &global.init {
            Some(Value::Bytes(bytes)) if global.constant => {
                let rest = bytes.get(offset as usize..)?;
                Some(rest.split(|byte| *byte == 0).next().unwrap_or_default().to_vec())
            }
            Some(Value::Zero) if global.constant => Some(Vec::new()),
            _ => None,
        }
    }
}
