//! Loads, stores, exclusives and barriers.
//!
//! Tags follow herd7: `A` on load-acquire, `L` on store-release, `X` on exclusives. Barriers
//! carry `ISB`, `DMB`, `DSB`, `DMB.ST` or `DSB.ST`; one that is limited to a domain carries
//! also its own name, such as `DMB.ISH`, since to the threads of a test every domain is whole.

use parallax_program::{AccessSize, Diagnostic, Expr, InstKind, Tags};

use super::WIDTH;
use super::operand;
use crate::asm::lowering::{Lowering, zero_from};

/// An instruction that accesses memory.
#[derive(Clone, Copy)]
pub(super) enum Access {
    Load { size: AccessSize, signed: bool },
    Store { size: AccessSize },
    LoadAcquire,
    StoreRelease,
    LoadPair,
    LoadExclusive { acquire: bool },
    StoreExclusive { release: bool },
}

impl Access {
    pub(super) fn parse(name: &str) -> Option<Access> {
        let load = |size, signed| Access::Load { size, signed };
        Some(match name {
            "LDR" => load(AccessSize::WORD, false),
            "LDRB" => load(AccessSize::BYTE, false),
            "LDRH" => load(AccessSize::HALF, false),
            "LDRSB" => load(AccessSize::BYTE, true),
            "LDRSH" => load(AccessSize::HALF, true),
            "STR" => Access::Store { size: AccessSize::WORD },
            "STRB" => Access::Store { size: AccessSize::BYTE },
            "STRH" => Access::Store { size: AccessSize::HALF },
            "LDA" => Access::LoadAcquire,
            "STL" => Access::StoreRelease,
            "LDRD" => Access::LoadPair,
            "LDREX" => Access::LoadExclusive { acquire: false },
            "LDAEX" => Access::LoadExclusive { acquire: true },
            "STREX" => Access::StoreExclusive { release: false },
            "STLEX" => Access::StoreExclusive { release: true },
            _ => return None,
        })
    }

    pub(super) fn lower(self, l: &mut Lowering) -> Result<(), Diagnostic> {
        match self {
            Access::Load { size, signed } => load(l, size, signed, Tags::none()),
            Access::Store { size } => store(l, size, Tags::none()),
            Access::LoadAcquire => load(l, AccessSize::WORD, false, Tags::new(["A"])),
            Access::StoreRelease => store(l, AccessSize::WORD, Tags::new(["L"])),
            Access::LoadPair => load_pair(l),
            Access::LoadExclusive { acquire } => load_exclusive(l, acquire),
            Access::StoreExclusive { release } => store_exclusive(l, release),
        }
    }
}

fn load(l: &mut Lowering, size: AccessSize, signed: bool, tags: Tags) -> Result<(), Diagnostic> {
    let [rd, address] = l.take()?;
    let rd = l.register(rd)?;
    let address = address_of(l, address)?;
    let value = l.load(address, size, tags);
    let value = match size.bits() {
        WIDTH => value,
        _ if signed => value.sign_extend(WIDTH),
        _ => value.zero_extend(WIDTH),
    };
    l.set(&rd, value);
    Ok(())
}

fn store(l: &mut Lowering, size: AccessSize, tags: Tags) -> Result<(), Diagnostic> {
    let [rs, address] = l.take()?;
    let rs = l.register(rs)?;
    let address = address_of(l, address)?;
    let value = l.value(&rs).resize(WIDTH, size.bits());
    l.emit(InstKind::Store { address, value, size, tags });
    Ok(())
}

/// Two loads, of this word and the next.
fn load_pair(l: &mut Lowering) -> Result<(), Diagnostic> {
    let [first, second, address] = l.take()?;
    let (first, second) = (l.register(first)?, l.register(second)?);
    let address = address_of(l, address)?;
    let address = Expr::Var(l.hold(WIDTH, address));
    let next = address.clone() + Expr::constant(WIDTH, 4);
    let low = l.load(address, AccessSize::WORD, Tags::none());
    let high = l.load(next, AccessSize::WORD, Tags::none());
    l.set(&first, low);
    l.set(&second, high);
    Ok(())
}

/// The variable that remembers the address of the last load-exclusive. As in herd7, the
/// address and the status of a store-exclusive depend on it.
const RESERVATION: &str = "reservation";

fn load_exclusive(l: &mut Lowering, acquire: bool) -> Result<(), Diagnostic> {
    let [rd, address] = l.take()?;
    let rd = l.register(rd)?;
    let address = plain_address(l, address)?;
    let reservation = l.thread.function.var(RESERVATION, WIDTH);
    l.thread.function.assign(reservation, address);
    let tags = Tags::new(["EX", "X"].into_iter().chain(acquire.then_some("A")));
    let value = l.load_linked(Expr::Var(reservation), AccessSize::WORD, tags);
    l.set(&rd, value);
    Ok(())
}

fn store_exclusive(l: &mut Lowering, release: bool) -> Result<(), Diagnostic> {
    let [rd, rs, address] = l.take()?;
    let (rd, rs) = (l.register(rd)?, l.register(rs)?);
    let address = plain_address(l, address)?;
    let reservation = Expr::Var(l.thread.function.var(RESERVATION, WIDTH));
    let address = Expr::Var(l.hold(WIDTH, address | zero_from(reservation, WIDTH, WIDTH)));
    let value = l.value(&rs);
    let value = Expr::Var(l.hold(WIDTH, value));
    let zero = zero_from(address.clone(), WIDTH, WIDTH) | zero_from(value.clone(), WIDTH, WIDTH);
    let tags = Tags::new(["EX", "X"].into_iter().chain(release.then_some("L")));
    let status = l.store_conditional(address, value, AccessSize::WORD, tags);
    l.set(&rd, status.zero_extend(WIDTH) | zero);
    Ok(())
}

/// `[R1]`, `[R1,#4]`, `[R1,R2]`, `[R1,R2,LSL #2]`, or, as herd7 has it, `R1`.
fn address_of(l: &mut Lowering, text: &str) -> Result<Expr, Diagnostic> {
    let Some(inner) = text.strip_prefix('[') else {
        return plain_address(l, text);
    };
    let Some(inner) = inner.strip_suffix(']') else {
        return Err(l.expected("an address such as `[R1]` or `[R1,#4]`", text));
    };
    let parts: Vec<&str> = inner.split(',').map(str::trim).collect();
    let (base, offset) = match parts.as_slice() {
        [base] => (base, None),
        [base, offset] if operand::is_constant(offset) => {
            let offset = operand::constant(l, offset)?;
            (base, (offset != 0).then(|| Expr::signed(WIDTH, offset)))
        }
        [base, index @ ..] if index.len() <= 2 => (base, Some(operand::read(l, index)?.value)),
        _ => return Err(l.expected("an address such as `[R1]` or `[R1,#4]`", text)),
    };
    let base = l.register(base)?;
    let base = l.value(&base);
    Ok(match offset {
        Some(offset) => base + offset,
        None => base,
    })
}

/// An address without an offset: `[R1]`, or `R1`.
fn plain_address(l: &mut Lowering, text: &str) -> Result<Expr, Diagnostic> {
    let inner = text.strip_prefix('[').and_then(|t| t.strip_suffix(']'));
    let base = l.register(inner.map_or(text, str::trim))?;
    Ok(l.value(&base))
}

/// The options of barriers: name, and what its tags add to the instruction's name.
const OPTIONS: [(&str, &[&str]); 8] = [
    ("SY", &[""]),
    ("ISH", &["", ".ISH"]),
    ("NSH", &["", ".NSH"]),
    ("OSH", &["", ".OSH"]),
    ("ST", &[".ST"]),
    ("ISHST", &[".ST", ".ISHST"]),
    ("NSHST", &[".ST", ".NSHST"]),
    ("OSHST", &[".ST", ".OSHST"]),
];

pub(super) fn fence(l: &mut Lowering, name: &str) -> Result<(), Diagnostic> {
    let option = match *l.operands.as_slice() {
        [] => "SY",
        [option] => option,
        _ => return l.take().map(|[_]| ()),
    };
    let mut options = OPTIONS.iter().filter(|o| name != "ISB" || o.0 == "SY");
    let Some((_, suffixes)) = options.find(|o| o.0.eq_ignore_ascii_case(option)) else {
        return Err(l.expected("an option such as `SY` or `ISH`", option));
    };
    let tags: Vec<String> = suffixes.iter().map(|s| format!("{name}{s}")).collect();
    let tags = Tags::new(tags.iter().map(String::as_str));
    l.emit(InstKind::Fence { tags });
    Ok(())
}
