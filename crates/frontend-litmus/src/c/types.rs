//! The types of litmus C, reduced to what decides the meaning of a program: how wide a value
//! is, whether it has a sign, and what a pointer points to.
//!
//! Sizes are those of the LP64 data model. Atomic types are laid out like their plain
//! counterparts; whether an access is atomic is a matter of the operation, as in herd7, where
//! a plain `*x` is a non-atomic access whatever the type of `x`.

use parallax_program::AccessSize;

use crate::types::ScalarType;

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CType {
    Void,
    /// `_Bool`: conversion to it asks whether the value is zero.
    Bool,
    Int {
        width: u32,
        signed: bool,
    },
    Pointer(Box<CType>),
    /// `spinlock_t`.
    Lock,
    /// `struct srcu_struct`.
    Srcu,
}

impl CType {
    pub const INT: CType = CType::Int { width: 32, signed: true };
    pub const LONG: CType = CType::Int { width: 64, signed: true };
    pub const SIZE: CType = CType::Int { width: 64, signed: false };
    pub const POINTER_WIDTH: u32 = 64;

    pub fn pointer(self) -> CType {
        CType::Pointer(Box::new(self))
    }

    /// Bits of a value of this type; `void` has none.
    pub fn width(&self) -> u32 {
        match self {
            CType::Void => 0,
            CType::Bool => 8,
            CType::Int { width, .. } => *width,
            CType::Pointer(_) => Self::POINTER_WIDTH,
            CType::Lock | CType::Srcu => 32,
        }
    }

    pub fn signed(&self) -> bool {
        matches!(self, CType::Int { signed: true, .. })
    }

    pub fn is_pointer(&self) -> bool {
        matches!(self, CType::Pointer(_))
    }

    /// Whether values of this type are numbers or addresses, so that programs compute with
    /// them.
    pub fn is_scalar(&self) -> bool {
        matches!(self, CType::Bool | CType::Int { .. } | CType::Pointer(_))
    }

    pub fn size(&self) -> Option<AccessSize> {
        AccessSize::from_bytes(self.width() / 8)
    }

    /// How a variable of this type is laid out and read by people.
    pub fn observed(&self) -> ScalarType {
        let bytes = self.width() / 8;
        match self {
            CType::Bool | CType::Int { signed: false, .. } => ScalarType::unsigned(bytes),
            _ => ScalarType::signed(bytes),
        }
    }

    /// What operands narrower than `int` become (C11 6.3.1.1).
    pub fn promoted(&self) -> CType {
        match self {
            CType::Bool => CType::INT,
            CType::Int { width, .. } if *width < 32 => CType::INT,
            other => other.clone(),
        }
    }

    /// The common type of two operands (C11 6.3.1.8). Addresses count as unsigned numbers.
    pub fn common(&self, other: &CType) -> CType {
        let (left, right) = (self.promoted(), other.promoted());
        let width = left.width().max(right.width());
        let unsigned = |ty: &CType| ty.width() == width && !ty.signed();
        CType::Int { width, signed: !unsigned(&left) && !unsigned(&right) }
    }

    /// The type of `c ? a : b`.
    pub fn joined(&self, other: &CType) -> CType {
        match (self, other) {
            (CType::Pointer(to), _) if **to != CType::Void => self.clone(),
            (_, CType::Pointer(_)) => other.clone(),
            (CType::Pointer(_), _) => self.clone(),
            _ => self.common(other),
        }
    }

    /// The type that a single word names, if it names one.
    pub fn named(name: &str) -> Option<CType> {
        if let Some(base) = name.strip_prefix("atomic_") {
            return match base {
                "t" => Some(CType::INT),
                "long_t" => Some(CType::LONG),
                "flag" | "bool" => Some(CType::Bool),
                _ => atomic_base(base),
            };
        }
        let int = |width, signed| Some(CType::Int { width, signed });
        match name {
            "void" => Some(CType::Void),
            "_Bool" | "bool" => Some(CType::Bool),
            "int8_t" | "s8" => int(8, true),
            "uint8_t" | "u8" => int(8, false),
            "int16_t" | "s16" => int(16, true),
            "uint16_t" | "u16" => int(16, false),
            "int32_t" | "s32" => int(32, true),
            "uint32_t" | "u32" => int(32, false),
            "int64_t" | "s64" | "intptr_t" | "ssize_t" | "ptrdiff_t" | "atomic64_t"
            | "intmax_t" => int(64, true),
            "uint64_t" | "u64" | "uintptr_t" | "size_t" | "uintmax_t" => int(64, false),
            "__int128" | "__int128_t" => int(128, true),
            "__uint128_t" => int(128, false),
            "spinlock_t" => Some(CType::Lock),
            _ => None,
        }
    }
}

/// The `…` of `atomic_…`, as `<stdatomic.h>` abbreviates types (C11 7.17.6).
fn atomic_base(base: &str) -> Option<CType> {
    let int = |width, signed| Some(CType::Int { width, signed });
    match base {
        "char" | "schar" => int(8, true),
        "uchar" => int(8, false),
        "short" => int(16, true),
        "ushort" => int(16, false),
        "int" => int(32, true),
        "uint" => int(32, false),
        "long" | "llong" => int(64, true),
        "ulong" | "ullong" => int(64, false),
        "intptr_t" | "uintptr_t" | "size_t" | "ptrdiff_t" | "intmax_t" | "uintmax_t" => {
            CType::named(base)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_meet_in_their_common_type() {
        let named = |name| CType::named(name).expect("a type");
        let common = |a, b| named(a).common(&named(b));
        assert_eq!(common("int8_t", "uint16_t"), CType::INT);
        assert_eq!(common("int32_t", "uint32_t"), named("uint32_t"));
        assert_eq!(common("int64_t", "uint32_t"), CType::LONG);
        assert_eq!(common("int64_t", "uint64_t"), CType::SIZE);
        assert_eq!(common("atomic_t", "_Bool"), CType::INT);
    }

    #[test]
    fn words_that_name_no_type() {
        assert_eq!(CType::named("atomic_read"), None);
        assert_eq!(CType::named("x"), None);
    }
}
