//! What is known of the object that a pointer leads to, without running the program.

use super::body::Body;
use super::layout::Lowered;
use super::memory::{Piece, pieces};
use super::shapes;
use super::unit::Symbol;
use crate::llvm::{Constant, Metadata, MetadataId, Name, Operation, Type, Typed, Value};

/// Pointers are followed back over so many steps.
const MAX_STEPS: u32 = 16;

/// An object that a pointer points into.
#[derive(Clone, Debug)]
pub struct Pointee {
    pub ty: Type,
    /// How far into it.
    pub offset: u64,
    /// Whether the object was made with this type, and is not only used with it.
    pub certain: bool,
}

impl Pointee {
    fn certain(ty: Type) -> Pointee {
        Pointee { ty, offset: 0, certain: true }
    }

    fn likely(ty: Type, offset: u64) -> Pointee {
        Pointee { ty, offset, certain: false }
    }
}

impl Body<'_> {
    pub fn pointee(&self, pointer: &Value) -> Option<Pointee> {
        self.pointee_within(pointer, MAX_STEPS)
    }

    fn pointee_within(&self, pointer: &Value, steps: u32) -> Option<Pointee> {
        let steps = steps.checked_sub(1)?;
        match pointer {
            Value::Global(name) => Some(Pointee::certain(self.unit.objects.get(name)?.ty.clone())),
            Value::Constant(constant) => match constant.as_ref() {
                Constant::Gep { element, base, indices } => {
                    self.gep_pointee(element, base, indices, steps)
                }
                _ => None,
            },
            Value::Local(name) => {
                let made = self.definitions.get(name).map(|instruction| &instruction.operation);
                let known = match made {
                    Some(Operation::Alloca { ty, count: None, .. }) => {
                        Some(Pointee::certain(ty.clone()))
                    }
                    Some(Operation::Gep { element, base, indices }) => {
                        self.gep_pointee(element, base, indices, steps)
                    }
                    Some(Operation::Freeze(value)) => self.pointee_within(&value.value, steps),
                    Some(_) => None,
                    None => self.param_pointee(name),
                };
                known.or_else(|| self.used_as(name))
            }
            _ => None,
        }
    }

    fn param_pointee(&self, name: &Name) -> Option<Pointee> {
        let param = self.function.params.iter().find(|param| param.name == *name)?;
        param.pointee.clone().map(Pointee::certain)
    }

    /// What the function takes a pointer for: it steps to a field, or keeps it in a variable of
    /// some type.
    fn used_as(&self, name: &Name) -> Option<Pointee> {
        if let Some(ty) = self.stepped.get(name) {
            return Some(Pointee::likely(ty.clone(), 0));
        }
        let variable = self.holders.get(name)?;
        let ty = shapes::pointee_type(self.unit.module, *variable)?;
        Some(Pointee::likely(ty, 0))
    }

    /// A constant step stays in the object that the base leads to; if that is not known, or the
    /// step is not, the type that the step is through says something still.
    fn gep_pointee(
        &self,
        element: &Type,
        base: &Typed,
        indices: &[Typed],
        steps: u32,
    ) -> Option<Pointee> {
        let offset = self.constant_offset(element, indices);
        if let Some(offset) = offset
            && let Some(whole) = self.pointee_within(&base.value, steps)
        {
            return Some(Pointee { offset: whole.offset.wrapping_add(offset), ..whole });
        }
        match (offset, indices.first().map(|index| &index.value)) {
            (Some(offset), Some(Value::Int(0))) => Some(Pointee::likely(element.clone(), offset)),
            _ => Some(Pointee::likely(self.indexed(element, indices).ok()?, 0)),
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

    /// How to access so many bytes along the scalars of the object that they lie in. An access of
    /// the program's own may leave bytes out only if the object was made without them.
    pub fn natural_pieces(
        &self,
        pointer: &Value,
        from: u64,
        bytes: u64,
        own: bool,
    ) -> Option<Vec<Piece>> {
        const LARGEST_TEXT: u64 = 16;
        let Pointee { ty, offset, certain } = self.pointee(pointer)?;
        // Long arrays of bytes are room for something else.
        if matches!(self.unit.layout.resolve(&ty), Type::Array(count, element)
            if **element == Type::Int(8) && *count > LARGEST_TEXT)
        {
            return None;
        }
        let start = offset.checked_add(from)?;
        let mut natural = self.scalars_within(&ty, start, bytes)?;
        let covered = natural.iter().map(|piece| u64::from(piece.bytes)).sum::<u64>();
        if natural.is_empty() || (covered < bytes && own && !certain) {
            return None;
        }
        natural.iter_mut().for_each(|piece| piece.offset += from);
        Some(natural)
    }

    /// The same for a copy or a filling, which touch what lies between the scalars too, unless
    /// the object was made with them.
    pub fn natural_copy(&self, pointer: &Value, bytes: u64) -> Option<Vec<Piece>> {
        let Pointee { ty, offset, certain } = self.pointee(pointer)?;
        let natural = self.scalars_within(&ty, offset, bytes)?;
        Some(if certain { natural } else { without_gaps(natural, bytes) })
    }

    /// The scalars of a type that lie in a range of bytes, counted from its start; none if one
    /// lies partly outside.
    fn scalars_within(&self, ty: &Type, start: u64, bytes: u64) -> Option<Vec<Piece>> {
        const LARGEST: u64 = 1 << 16;
        let end = start.checked_add(bytes)?;
        let size = self.unit.layout.size(ty).ok()?;
        if size < end || size > LARGEST {
            return None;
        }
        let mut natural = Vec::new();
        for scalar in self.unit.layout.scalars(ty).ok()? {
            let (first, last) = (scalar.offset, scalar.offset + scalar.bytes());
            if last <= start || first >= end {
                continue;
            }
            if first < start || last > end {
                return None;
            }
            natural.extend(pieces(first - start, scalar.bytes()));
        }
        Some(natural)
    }

    /// The scalars that a copy copies, where `!tbaa.struct` lists the fields. A field that is an
    /// array is listed as one; types of that size with such fields say more.
    pub fn noted_copy(
        &self,
        layout: MetadataId,
        bytes: u64,
        ends: [&Value; 2],
    ) -> Option<Vec<Piece>> {
        let fields = self.noted_fields(layout, bytes)?;
        let own = || fields.iter().flat_map(|field| pieces(field.offset, field.bytes)).collect();
        if fields.iter().all(|field| field.scalar) {
            return Some(own());
        }
        let known = ends.into_iter().filter_map(|end| {
            let Pointee { ty, offset, .. } = self.pointee(end)?;
            self.scalars_within(&ty, offset, bytes)
        });
        let fitting = known.into_iter().find(|natural| agrees(natural, &fields));
        fitting.or_else(|| self.structure_of(&fields, bytes)).or_else(|| Some(own()))
    }

    fn noted_fields(&self, layout: MetadataId, bytes: u64) -> Option<Vec<NotedField>> {
        let node = self.unit.module.node(layout)?;
        let mut fields = Vec::new();
        for field in node.items.chunks(3) {
            let (offset, size) = (number(field.first()?)?, number(field.get(1)?)?);
            if offset >= bytes {
                continue;
            }
            if offset.checked_add(size)? > bytes {
                return None;
            }
            // What is accessed as characters may be anything, if it is longer than one.
            let tag = self.unit.module.target(field.get(2))?;
            let access = self.unit.module.target(tag.items.get(1))?;
            let characters = access.items.first() == Some(&Metadata::Text(CHARACTERS.to_string()));
            let scalar = matches!(size, 1 | 2 | 4 | 8 | 16) && !(characters && size > 1);
            fields.push(NotedField { offset, bytes: size, scalar });
        }
        Some(fields)
    }

    /// The scalars of the structures of that size that have such fields, if they agree.
    fn structure_of(&self, fields: &[NotedField], bytes: u64) -> Option<Vec<Piece>> {
        let mut found: Option<Vec<Piece>> = None;
        for ty in self.unit.module.types.values() {
            if self.unit.layout.size(ty) != Ok(bytes) {
                continue;
            }
            let natural = self.scalars_within(ty, 0, bytes);
            let Some(natural) = natural.filter(|natural| agrees(natural, fields)) else {
                continue;
            };
            match &found {
                Some(other) if *other != natural => return None,
                _ => found = Some(natural),
            }
        }
        found
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
        let global = self.unit.objects.get(name)?;
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

/// A field as the note on a copy lists it.
struct NotedField {
    offset: u64,
    bytes: u64,
    /// Whether it is known not to have parts.
    scalar: bool,
}

/// How clang calls the type that all others may be accessed through.
const CHARACTERS: &str = "omnipotent char";

/// Whether every scalar lies in a field, and every field starts with one.
fn agrees(natural: &[Piece], fields: &[NotedField]) -> bool {
    let starts = |field: &NotedField| natural.iter().any(|piece| piece.offset == field.offset);
    let listed = |piece: &Piece| {
        let end = piece.offset + u64::from(piece.bytes);
        fields.iter().any(|field| {
            field.offset <= piece.offset
                && end <= field.offset + field.bytes
                && (!field.scalar || u64::from(piece.bytes) == field.bytes)
        })
    };
    fields.iter().all(starts) && natural.iter().all(listed)
}

/// The same accesses, and others for what lies between them.
fn without_gaps(natural: Vec<Piece>, bytes: u64) -> Vec<Piece> {
    let mut all = Vec::new();
    let mut at = 0;
    for piece in natural {
        all.extend(pieces(at, piece.offset.saturating_sub(at)));
        at = piece.offset + u64::from(piece.bytes);
        all.push(piece);
    }
    all.extend(pieces(at, bytes.saturating_sub(at)));
    all
}

fn number(metadata: &Metadata) -> Option<u64> {
    match metadata {
        Metadata::Value(typed) => match typed.value {
            Value::Int(number) => u64::try_from(number).ok(),
            _ => None,
        },
        _ => None,
    }
}
