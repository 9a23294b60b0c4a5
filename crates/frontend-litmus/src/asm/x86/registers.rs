//! The general-purpose registers and their parts.

use crate::asm::Register;

/// The eight registers that 32-bit code has: whole name at 64 and 32 bits, the 16-bit name, the
/// name of the lowest byte, and that of the byte above it.
const CLASSIC: [(&str, &str, &str, &str, &str); 8] = [
    ("RAX", "EAX", "AX", "AL", "AH"),
    ("RBX", "EBX", "BX", "BL", "BH"),
    ("RCX", "ECX", "CX", "CL", "CH"),
    ("RDX", "EDX", "DX", "DL", "DH"),
    ("RSI", "ESI", "SI", "SIL", ""),
    ("RDI", "EDI", "DI", "DIL", ""),
    ("RBP", "EBP", "BP", "BPL", ""),
    ("RSP", "ESP", "SP", "SPL", ""),
];

const NUMBERED: [&str; 8] = ["R8", "R9", "R10", "R11", "R12", "R13", "R14", "R15"];

/// A register of X86, with or without `%`.
pub fn narrow(name: &str) -> Option<Register> {
    let name = upper(name)?;
    classic(&name, false)
}

/// A register of X86_64, with or without `%`.
pub fn wide(name: &str) -> Option<Register> {
    let name = upper(name)?;
    classic(&name, true).or_else(|| numbered(&name))
}

fn upper(name: &str) -> Option<String> {
    let name = name.strip_prefix('%').unwrap_or(name);
    (name.len() <= 4 && !name.is_empty()).then(|| name.to_ascii_uppercase())
}

fn classic(name: &str, wide: bool) -> Option<Register> {
    CLASSIC.iter().find_map(|(r, e, x, l, h)| {
        let (low, width) = match name {
            name if name == *r && wide => (0, 64),
            name if name == *e => (0, 32),
            name if name == *x => (0, 16),
            // SIL, DIL, BPL and SPL came with 64 bits.
            name if name == *l && (wide || l.len() == 2) => (0, 8),
            name if name == *h => (8, 8),
            _ => return None,
        };
        Some(Register {
            whole: if wide { r } else { e },
            whole_width: if wide { 64 } else { 32 },
            low,
            width,
        })
    })
}

fn numbered(name: &str) -> Option<Register> {
    let (base, width) = match name.split_at_checked(name.len().checked_sub(1)?)? {
        (base, "D") => (base, 32),
        (base, "W") => (base, 16),
        (base, "B" | "L") => (base, 8),
        _ => (name, 64),
    };
    let whole = NUMBERED.iter().find(|known| **known == base)?;
    Some(Register { whole, whole_width: 64, low: 0, width })
}
