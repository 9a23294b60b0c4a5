//! The C types that tests declare locations and registers with.

/// A type as the front end needs it: how much memory it takes and how people read it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ScalarType {
    pub bytes: u32,
    pub signed: bool,
}

impl ScalarType {
    /// What a location is that no one declares.
    pub const INT: ScalarType = ScalarType::signed(4);

    pub const fn signed(bytes: u32) -> ScalarType {
        ScalarType { bytes, signed: true }
    }

    pub const fn unsigned(bytes: u32) -> ScalarType {
        ScalarType { bytes, signed: false }
    }

    /// The type that these words and stars name, as in `unsigned long` or `struct node *`.
    pub fn named(words: &[&str], stars: usize, pointer_bytes: u32) -> Option<ScalarType> {
        if stars > 0 {
            return Some(ScalarType::signed(pointer_bytes));
        }
        let mut base = Vec::new();
        for word in words {
            match *word {
                "volatile" | "const" | "_Atomic" | "static" => {}
                word => base.push(word),
            }
        }
        match base.as_slice() {
            [name] => word_type(name, pointer_bytes),
            ["struct", "srcu_struct"] => Some(ScalarType::INT),
            words => integer_type(words),
        }
    }
}

/// Types of one word.
fn word_type(name: &str, pointer_bytes: u32) -> Option<ScalarType> {
    match name {
        "atomic_t" | "atomic_long_t" | "atomic64_t" => {
            return Some(ScalarType::signed(if name == "atomic_t" { 4 } else { 8 }));
        }
        "atomic_flag" => return Some(ScalarType::unsigned(1)),
        _ => {}
    }
    let name = match name.strip_prefix("atomic_") {
        Some("schar") => "int8_t",
        Some("uchar") => "uint8_t",
        Some("ushort") => "uint16_t",
        Some("uint") => "uint32_t",
        Some("llong") => "int64_t",
        Some("ulong" | "ullong") => "uint64_t",
        Some(base) => base,
        None => name,
    };
    let fixed = |name: &str| -> Option<u32> {
        match name.strip_prefix("int")?.strip_suffix("_t")? {
            "8" => Some(1),
            "16" => Some(2),
            "32" => Some(4),
            "64" => Some(8),
            "128" => Some(16),
            "ptr" => Some(pointer_bytes),
            _ => None,
        }
    };
    if let Some(bytes) = fixed(name) {
        return Some(ScalarType::signed(bytes));
    }
    if let Some(bytes) = name.strip_prefix('u').and_then(fixed) {
        return Some(ScalarType::unsigned(bytes));
    }
    Some(match name {
        "refcount_t" | "spinlock_t" | "rwlock_t" | "mutex_t" => ScalarType::INT,
        "s8" => ScalarType::signed(1),
        "s16" => ScalarType::signed(2),
        "s32" => ScalarType::INT,
        "s64" => ScalarType::signed(8),
        "u8" | "bool" | "_Bool" => ScalarType::unsigned(1),
        "u16" => ScalarType::unsigned(2),
        "u32" => ScalarType::unsigned(4),
        "u64" => ScalarType::unsigned(8),
        "size_t" => ScalarType::unsigned(pointer_bytes),
        "ssize_t" | "ptrdiff_t" => ScalarType::signed(pointer_bytes),
        "__int128" | "__int128_t" => ScalarType::signed(16),
        "__uint128" | "__uint128_t" => ScalarType::unsigned(16),
        word => return integer_type(&[word]),
    })
}

/// Types made of `signed`, `unsigned`, `char`, `short`, `int` and `long`, in any order.
fn integer_type(words: &[&str]) -> Option<ScalarType> {
    let mut bytes = 4;
    let mut signed = true;
    let mut longs = 0;
    for word in words {
        match *word {
            "int" | "signed" => {}
            "unsigned" => signed = false,
            "char" => bytes = 1,
            "short" => bytes = 2,
            "long" if longs < 2 => {
                longs += 1;
                bytes = 8;
            }
            _ => return None,
        }
    }
    (!words.is_empty()).then_some(ScalarType { bytes, signed })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_the_sizes_of_a_64_bit_unix() {
        let named = |words: &str, stars| {
            let words: Vec<&str> = words.split(' ').collect();
            ScalarType::named(&words, stars, 8)
        };
        for (words, bytes, signed) in [
            ("int", 4, true),
            ("volatile int", 4, true),
            ("unsigned long long", 8, false),
            ("char", 1, true),
            ("uint64_t", 8, false),
            ("int8_t", 1, true),
            ("intptr_t", 8, true),
            ("atomic_uintptr_t", 8, false),
            ("atomic_int", 4, true),
            ("atomic_t", 4, true),
            ("atomic64_t", 8, true),
            ("atomic_long_t", 8, true),
            ("_Atomic long", 8, true),
            ("spinlock_t", 4, true),
        ] {
            assert_eq!(named(words, 0), Some(ScalarType { bytes, signed }), "{words}");
        }
        assert_eq!(named("struct node", 1), Some(ScalarType::signed(8)));
        assert_eq!(named("struct node", 0), None);
        assert_eq!(named("pteval", 0), None);
    }
}
