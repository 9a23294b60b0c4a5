//! Formats of `printf` and its relatives (C17, 7.21.6.1): whether arguments fit.

use crate::llvm::Type;

/// Which argument is the format of a function that prints.
pub fn position(name: &str) -> Option<usize> {
    Some(match name {
        "printf" | "wprintf" => 0,
        "fprintf" | "sprintf" | "dprintf" | "asprintf" | "syslog" | "__printf_chk" => 1,
        "snprintf" | "__fprintf_chk" => 2,
        "__sprintf_chk" => 3,
        "__snprintf_chk" => 4,
        _ => return None,
    })
}

/// What a conversion takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Class {
    Integer(u32),
    Double,
    LongDouble,
    Pointer,
}

/// Whether the arguments after the format are what it takes, in number and kind, where `long` has so
/// many bits.
pub fn check(format: &[u8], given: &[&Type], long: u32) -> Result<(), String> {
    let expected = classes(format, long)?;
    if expected.len() > given.len() {
        let (expected, given) = (expected.len(), given.len());
        return Err(format!("the format takes {expected} arguments, there are {given}"));
    }
    for (number, (class, ty)) in expected.iter().zip(given).enumerate() {
        if !takes(*class, ty) {
            return Err(format!("argument {} does not fit the format", number + 1));
        }
    }
    Ok(())
}

fn takes(class: Class, ty: &Type) -> bool {
    match (class, ty) {
        // Narrower ones are promoted before the call.
        (Class::Integer(width), Type::Int(given)) => width.max(32) == (*given).max(32),
        (Class::Double, Type::Double) | (Class::Pointer, Type::Pointer) => true,
        (Class::LongDouble, Type::Other(_)) => true,
        // Structures that are passed in pieces.
        (_, Type::Struct { .. } | Type::Named(_) | Type::Vector(..) | Type::Array(..)) => true,
        _ => false,
    }
}

fn classes(format: &[u8], long: u32) -> Result<Vec<Class>, String> {
    let mut classes = Vec::new();
    let mut rest = format.iter().copied().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            continue;
        }
        let mut length = Vec::new();
        loop {
            match rest.next() {
                Some(b'%') => break,
                Some(b'*') => classes.push(Class::Integer(32)),
                Some(b'-' | b'+' | b' ' | b'#' | b'0'..=b'9' | b'.' | b'\'') => {}
                Some(modifier @ (b'h' | b'l' | b'q' | b'j' | b'z' | b't' | b'L')) => {
                    length.push(modifier);
                }
                Some(b'm') => break,
                Some(conversion) => {
                    classes.push(class(conversion, &length, long)?);
                    break;
                }
                None => return Err("the format ends in a conversion".to_string()),
            }
        }
    }
    Ok(classes)
}

fn class(conversion: u8, length: &[u8], long: u32) -> Result<Class, String> {
    let bits = match length {
        [b'l' | b'z' | b't'] => long,
        [b'q' | b'j'] | [b'l', b'l'] => 64,
        _ => 32,
    };
    Ok(match conversion {
        b'd' | b'i' | b'u' | b'o' | b'x' | b'X' => Class::Integer(bits),
        b'c' | b'C' => Class::Integer(32),
        b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => match length {
            [b'L'] => Class::LongDouble,
            _ => Class::Double,
        },
        b's' | b'S' | b'p' | b'n' => Class::Pointer,
        other => return Err(format!("unknown conversion '%{}'", char::from(other))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_fit_or_not() {
        let (int, long) = (Type::Int(32), Type::Int(64));
        let check = |format: &[u8], given: &[&Type]| super::check(format, given, 64);
        assert_eq!(check(b"%d%% %-5.3s\n", &[&int, &Type::Pointer]), Ok(()));
        assert_eq!(check(b"%*.*f %zu", &[&int, &int, &Type::Double, &long]), Ok(()));
        assert_eq!(super::check(b"%ld", &[&int], 32), Ok(()));
        assert_eq!(check(b"nothing", &[&int]), Ok(()));
        let cases: [(&[u8], &[&Type], &str); 5] = [
            (b"%d", &[], "the format takes 1 arguments, there are 0"),
            (b"%ld", &[&int], "argument 1 does not fit the format"),
            (b"%s", &[&long], "argument 1 does not fit the format"),
            (b"%", &[], "the format ends in a conversion"),
            (b"%y", &[], "unknown conversion '%y'"),
        ];
        for (format, given, message) in cases {
            assert_eq!(check(format, given), Err(message.to_string()));
        }
    }
}
