//! Exclusives: a load that opens a reservation, and a store that succeeds while it lasts.

use parallax_program::{Diagnostic, Expr, InstKind, Tags};

use super::access::Size;
use super::address::base;
use super::instruction::Instruction;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Load,
    Store,
}

pub struct Exclusive {
    direction: Direction,
    size: Size,
    tags: &'static [&'static str],
}

pub fn decode(name: &str) -> Option<Exclusive> {
    const FAMILIES: [(&str, Direction, &[&str]); 4] = [
        ("LDXR", Direction::Load, &["X", "EX"]),
        ("LDAXR", Direction::Load, &["X", "EX", "A"]),
        ("STXR", Direction::Store, &["X", "EX"]),
        ("STLXR", Direction::Store, &["X", "EX", "L"]),
    ];
    FAMILIES.iter().find_map(|(stem, direction, tags)| {
        Some(Exclusive {
            direction: *direction,
            size: Size::parse(name.strip_prefix(stem)?)?,
            tags,
        })
    })
}

pub fn lower(exclusive: Exclusive, ins: &mut Instruction<'_, '_, '_>) -> Result<(), Diagnostic> {
    let tags = Tags::new(exclusive.tags.iter().copied());
    match exclusive.direction {
        Direction::Load => load(ins, exclusive.size, tags),
        Direction::Store => store(ins, exclusive.size, tags),
    }
}

fn load(ins: &mut Instruction<'_, '_, '_>, size: Size, tags: Tags) -> Result<(), Diagnostic> {
    let reg = size.register(ins)?;
    let address = base(ins)?;
    let size = size.of(reg.width);
    let dst = ins.thread.function.temp(size.bits());
    ins.thread.function.emit(InstKind::LoadLinked { dst, address, size, tags });
    ins.write(reg, Expr::Var(dst).resize(size.bits(), reg.width));
    Ok(())
}

fn store(ins: &mut Instruction<'_, '_, '_>, size: Size, tags: Tags) -> Result<(), Diagnostic> {
    let status = ins.register_of(32)?;
    let reg = size.register(ins)?;
    let address = base(ins)?;
    let size = size.of(reg.width);
    let value = ins.read(reg).resize(reg.width, size.bits());
    let failed = ins.thread.function.temp(1);
    ins.thread.function.emit(InstKind::StoreConditional {
        status: failed,
        address,
        value,
        size,
        tags,
    });
    ins.write(status, Expr::Var(failed).zero_extend(32));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{error, lowered};
    use super::*;
    use parallax_program::{AccessSize, VarId};

    #[test]
    fn a_pair_of_exclusives() {
        let kinds = lowered(&["LDAXR W0,[X1]", "STLXR W2,W3,[X1]"]);
        let [load, _, store, status] = kinds.as_slice() else {
            panic!("{kinds:?}");
        };
        assert!(matches!(load, InstKind::LoadLinked { size: AccessSize::WORD, tags, .. }
            if *tags == Tags::new(["A", "X", "EX"])));
        assert!(matches!(store, InstKind::StoreConditional { size: AccessSize::WORD, tags, .. }
            if *tags == Tags::new(["L", "X", "EX"])));
        let InstKind::StoreConditional { status: failed, .. } = store else {
            panic!("{store:?}");
        };
        let InstKind::Assign { value, .. } = status else {
            panic!("{status:?}");
        };
        assert_eq!(*value, Expr::Var(*failed).zero_extend(32).zero_extend(64));
    }

    #[test]
    fn widths() {
        let kinds = lowered(&["LDXRB W0,[X1]"]);
        assert!(matches!(
            kinds[0],
            InstKind::LoadLinked { size: AccessSize::BYTE, dst: VarId(1), .. }
        ));
        let kinds = lowered(&["STXRH WZR,W3,[X1]"]);
        assert_eq!(kinds.len(), 1);
        assert_eq!(error("STXR X0,X1,[X2]"), "1:6: expected a W register, found 'X0'");
    }
}
