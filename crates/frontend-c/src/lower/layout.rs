//! Sizes, alignments and scalar parts of types (LLVM Language Reference, "Data Layout").

use crate::llvm::{Module, Type};

/// What a target says about types in memory.
pub struct Layout<'m> {
    module: &'m Module,
    pointer_bits: u32,
    pointer_align: u64,
    /// Width and alignment in bytes, by rising width.
    integers: Vec<(u32, u64)>,
    double_align: u64,
    extended_align: u64,
}

/// A part of a value that is computed with as one: its place in memory and its width.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Scalar {
    /// Bytes from the start.
    pub offset: u64,
    /// Bits.
    pub width: u32,
}

impl Scalar {
    pub fn bytes(self) -> u64 {
        u64::from(self.width.div_ceil(8))
    }
}

/// Why something cannot be expressed; it matters only where it is reached.
pub type Lowered<T> = Result<T, String>;

impl<'m> Layout<'m> {
    /// Types nest at most this deep.
    const MAX_DEPTH: u32 = 100;
    /// Values of more parts than this are not split.
    const MAX_SCALARS: usize = 4096;

    pub fn new(module: &'m Module) -> Lowered<Layout<'m>> {
        let mut layout = Layout {
            module,
            pointer_bits: 64,
            pointer_align: 8,
            // As the reference has them where a target says nothing.
            integers: vec![(1, 1), (8, 1), (16, 2), (32, 4), (64, 4)],
            double_align: 8,
            extended_align: 16,
        };
        for rule in module.data_layout.split('-') {
            layout.rule(rule)?;
        }
        layout.integers.sort_unstable();
        Ok(layout)
    }

    /// `p:32:32`, `i64:64`, `f80:128`: a width and an alignment in bits.
    fn rule(&mut self, rule: &str) -> Lowered<()> {
        if rule == "E" {
            return Err("a target that stores the highest byte first".to_string());
        }
        let mut parts = rule.split(':');
        let kind = parts.next().unwrap_or("");
        let mut number = || parts.next().and_then(|part| part.parse::<u32>().ok());
        if kind == "p" || kind == "p0" {
            self.pointer_bits = number().unwrap_or(64);
            self.pointer_align = u64::from(number().unwrap_or(self.pointer_bits)) / 8;
            return match self.pointer_bits {
                32 | 64 => Ok(()),
                bits => Err(format!("a target with addresses of {bits} bits")),
            };
        }
        let Some(align) = number().map(|bits| u64::from(bits / 8).max(1)) else {
            return Ok(());
        };
        match kind {
            "f64" => self.double_align = align,
            "f80" => self.extended_align = align,
            _ => {
                let width = kind.strip_prefix('i').and_then(|width| width.parse().ok());
                if let Some(width) = width {
                    self.integers.retain(|(known, _)| *known != width);
                    self.integers.push((width, align));
                }
            }
        }
        Ok(())
    }

    pub fn pointer_bits(&self) -> u32 {
        self.pointer_bits
    }

    /// A structure behind a name.
    pub fn resolve<'a>(&'a self, ty: &'a Type) -> &'a Type {
        let mut ty = ty;
        for _ in 0..Self::MAX_DEPTH {
            match ty {
                Type::Named(name) => match self.module.types.get(name) {
                    Some(inner) => ty = inner,
                    None => return ty,
                },
                _ => return ty,
            }
        }
        ty
    }

    /// Bytes from one object of the type to the next.
    pub fn size(&self, ty: &Type) -> Lowered<u64> {
        Ok(self.size_and_align(ty, 0)?.0)
    }

    pub fn align(&self, ty: &Type) -> Lowered<u64> {
        Ok(self.size_and_align(ty, 0)?.1)
    }

    fn size_and_align(&self, ty: &Type, depth: u32) -> Lowered<(u64, u64)> {
        if depth > Self::MAX_DEPTH {
            return Err("a type that nests too deeply".to_string());
        }
        let round = |bytes: u64, align: u64| Ok((rounded(bytes, align)?, align));
        Ok(match self.resolve(ty) {
            Type::Int(width) => {
                return round(u64::from(width.div_ceil(8)), self.integer_align(*width));
            }
            Type::Float => (4, 4),
            Type::Double => (8, self.double_align),
            Type::Pointer => (u64::from(self.pointer_bits / 8), self.pointer_align),
            Type::Array(count, element) => {
                let (size, align) = self.size_and_align(element, depth + 1)?;
                (size.checked_mul(*count).ok_or("an array without bounds")?, align)
            }
            Type::Vector(count, element) => {
                let bits = count.checked_mul(u64::from(self.width(element)?));
                let bytes = bits.ok_or("a vector without bounds")?.div_ceil(8);
                let align = bytes.checked_next_power_of_two().ok_or("a vector without bounds")?;
                return round(bytes, align);
            }
            Type::Struct { packed, fields } => self.structure(*packed, fields, depth)?,
            Type::Other(name) => match name.as_ref() {
                "half" | "bfloat" => (2, 2),
                "x86_fp80" => return round(10, self.extended_align),
                "fp128" | "ppc_fp128" => (16, 16),
                _ => return Err(format!("a value of type '{name}'")),
            },
            Type::Function { .. } => (1, 1),
            ty => return Err(format!("a value of type {ty:?}")),
        })
    }

    fn structure(&self, packed: bool, fields: &[Type], depth: u32) -> Lowered<(u64, u64)> {
        let (mut end, mut widest) = (0u64, 1);
        for field in fields {
            let (size, align) = self.size_and_align(field, depth + 1)?;
            let align = if packed { 1 } else { align };
            end = rounded(end, align)?.checked_add(size).ok_or("a type without bounds")?;
            widest = widest.max(align);
        }
        Ok((rounded(end, widest)?, widest))
    }

    /// Integers without a rule are aligned as the next wider one, or as the widest.
    fn integer_align(&self, width: u32) -> u64 {
        let wider = self.integers.iter().find(|(known, _)| *known >= width);
        wider.or(self.integers.last()).map_or(1, |(_, align)| *align)
    }

    /// Where the fields of a structure start.
    pub fn field_offsets(&self, packed: bool, fields: &[Type]) -> Lowered<Vec<u64>> {
        let mut offsets = Vec::with_capacity(fields.len());
        let mut end = 0u64;
        for field in fields {
            let (size, align) = self.size_and_align(field, 0)?;
            let start = rounded(end, if packed { 1 } else { align })?;
            offsets.push(start);
            end = start.checked_add(size).ok_or("a type without bounds")?;
        }
        Ok(offsets)
    }

    /// Bits of a type that is one scalar.
    pub fn width(&self, ty: &Type) -> Lowered<u32> {
        match self.resolve(ty) {
            Type::Int(width) if *width <= 128 => Ok(*width),
            Type::Int(width) => Err(format!("an integer of {width} bits")),
            Type::Float => Ok(32),
            Type::Double => Ok(64),
            Type::Pointer => Ok(self.pointer_bits),
            Type::Other(name) => match name.as_ref() {
                "half" | "bfloat" => Ok(16),
                "x86_fp80" => Ok(80),
                "fp128" | "ppc_fp128" => Ok(128),
                _ => Err(format!("a value of type '{name}'")),
            },
            ty => Err(format!("a value of type {ty:?} as a whole")),
        }
    }

    /// The scalars that a value is made of, in order.
    pub fn scalars(&self, ty: &Type) -> Lowered<Vec<Scalar>> {
        let mut scalars = Vec::new();
        if *ty != Type::Void {
            // Offsets of parts are then within bounds too.
            self.size(ty)?;
            self.collect(ty, 0, 0, &mut scalars)?;
        }
        Ok(scalars)
    }

    fn collect(&self, ty: &Type, at: u64, depth: u32, into: &mut Vec<Scalar>) -> Lowered<()> {
        if into.len() > Self::MAX_SCALARS {
            return Err(format!("a value of more than {} parts", Self::MAX_SCALARS));
        }
        if depth > Self::MAX_DEPTH {
            return Err("a type that nests too deeply".to_string());
        }
        match self.resolve(ty) {
            Type::Array(count, element) => {
                let size = self.size(element)?;
                for index in 0..*count {
                    let before = into.len();
                    self.collect(element, at + index * size, depth + 1, into)?;
                    if into.len() == before {
                        break;
                    }
                }
            }
            Type::Vector(count, element) => {
                let width = self.width(element)?;
                if width % 8 != 0 && *count > 0 && self.width(element)? > 1 {
                    return Err(format!("a vector of elements of {width} bits"));
                }
                for index in 0..*count {
                    let offset = at + index * u64::from(width.div_ceil(8));
                    self.collect(element, offset, depth + 1, into)?;
                }
            }
            Type::Struct { packed, fields } => {
                let offsets = self.field_offsets(*packed, fields)?;
                for (field, offset) in fields.iter().zip(offsets) {
                    self.collect(field, at + offset, depth + 1, into)?;
                }
            }
            scalar => into.push(Scalar { offset: at, width: self.width(scalar)? }),
        }
        Ok(())
    }

    /// The type of a part, and which of the whole's scalars are its own.
    pub fn part(&self, ty: &Type, indices: &[u64]) -> Lowered<(Type, std::ops::Range<usize>)> {
        let (mut ty, mut start) = (self.resolve(ty).clone(), 0);
        for index in indices {
            let next = match &ty {
                Type::Struct { fields, .. } => {
                    let field = fields.get(*index as usize).ok_or("a field that is not there")?;
                    for before in &fields[..*index as usize] {
                        start += self.scalars(before)?.len();
                    }
                    field.clone()
                }
                Type::Array(count, element) | Type::Vector(count, element) if index < count => {
                    start += self.scalars(element)?.len() * *index as usize;
                    element.as_ref().clone()
                }
                _ => return Err("a part that is not there".to_string()),
            };
            ty = self.resolve(&next).clone();
        }
        let length = self.scalars(&ty)?.len();
        Ok((ty, start..start + length))
    }
}

fn rounded(bytes: u64, align: u64) -> Lowered<u64> {
    bytes.checked_next_multiple_of(align).ok_or("a type without bounds".to_string())
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;

    fn module(rules: &str) -> Module {
        Module { data_layout: rules.to_string(), ..Module::default() }
    }

    fn structure(fields: Vec<Type>) -> Type {
        Type::Struct { packed: false, fields: fields.into() }
    }

    #[test]
    fn fields_are_aligned_and_padded() {
        let module = module("e-m:e-i64:64-i128:128-f80:128-n8:16:32:64-S128");
        let layout = Layout::new(&module).unwrap();
        let ty = structure(vec![Type::Int(8), Type::Int(32), Type::Pointer, Type::Int(16)]);
        assert_eq!(layout.size(&ty), Ok(24));
        let offsets: Vec<u64> =
            layout.scalars(&ty).unwrap().iter().map(|scalar| scalar.offset).collect();
        assert_eq!(offsets, [0, 4, 8, 16]);
        assert_eq!(layout.size(&Type::Int(24)), Ok(4));
        assert_eq!(layout.size(&Type::Other("x86_fp80".into())), Ok(16));
        let pair = Type::Array(2, Rc::new(ty.clone()));
        assert_eq!(layout.part(&pair, &[1, 2]), Ok((Type::Pointer, 6..7)));
    }

    #[test]
    fn targets_with_short_addresses() {
        let module = module("e-p:32:32-i64:64-f64:32:64");
        let layout = Layout::new(&module).unwrap();
        assert_eq!(layout.size(&structure(vec![Type::Double, Type::Pointer])), Ok(12));
        assert!(Layout::new(&super::tests::module("E-p:64:64")).is_err());
    }

    #[test]
    fn types_that_contain_themselves_are_refused() {
        let mut module = module("e");
        module.types.insert("t".into(), structure(vec![Type::Named("t".into())]));
        let layout = Layout::new(&module).unwrap();
        assert!(layout.size(&Type::Named("t".into())).is_err());
        assert!(layout.scalars(&Type::Named("t".into())).is_err());
        module.types.insert("u".into(), Type::Named("u".into()));
        let layout = Layout::new(&module).unwrap();
        assert!(layout.size(&Type::Named("u".into())).is_err());
    }
}
