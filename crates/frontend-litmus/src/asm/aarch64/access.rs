//! Loads and stores: plain, acquire, release, and pairs.
//!
//! A pair is two accesses, each as single-copy atomic as one of its own (DDI 0487, B2.2.1).

use parallax_program::{AccessSize, Diagnostic, Expr, InstKind, Tags, VarId};

use super::address::{Address, Mode, address};
use super::instruction::Instruction;
use super::registers::{Reg, Which};

pub struct Access {
    direction: Direction,
    size: Size,
    pair: bool,
    tags: &'static [&'static str],
    modes: &'static [Mode],
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Load { signed: bool },
    Store,
}

/// How much an access touches, and which registers it goes with.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// As much as the register holds.
    Register,
    /// Fewer bytes than the register may hold.
    Fixed(AccessSize),
}

impl Size {
    /// From the end of a mnemonic: nothing, `B` or `H`.
    pub fn parse(suffix: &str) -> Option<Size> {
        match suffix {
            "" => Some(Size::Register),
            "B" => Some(Size::Fixed(AccessSize::BYTE)),
            "H" => Some(Size::Fixed(AccessSize::HALF)),
            _ => None,
        }
    }

    /// The bytes that go with a register of that width.
    pub fn of(self, width: u32) -> AccessSize {
        match self {
            Size::Fixed(size) => size,
            Size::Register if width == 32 => AccessSize::WORD,
            Size::Register => AccessSize::DOUBLE,
        }
    }

    /// A register that goes with it: bytes and half-words go with `W` registers.
    pub fn register(self, ins: &mut Instruction<'_, '_, '_>) -> Result<Reg, Diagnostic> {
        match self {
            Size::Register => ins.register(),
            Size::Fixed(_) => ins.register_of(32),
        }
    }
}

const ALL: &[Mode] = &[Mode::Base, Mode::Offset, Mode::Indexed, Mode::PreIndex, Mode::PostIndex];
const CONSTANT: &[Mode] = &[Mode::Base, Mode::Offset];
const PAIR: &[Mode] = &[Mode::Base, Mode::Offset, Mode::PreIndex, Mode::PostIndex];
const BASE: &[Mode] = &[Mode::Base];

type Family = (&'static str, &'static [&'static str], &'static [Mode]);

const LOADS: [Family; 5] = [
    ("LDR", &[], ALL),
    ("LDUR", &[], CONSTANT),
    ("LDAR", &["A"], BASE),
    ("LDAPR", &["Q"], BASE),
    ("LDAPUR", &["Q"], CONSTANT),
];
const STORES: [Family; 4] = [
    ("STR", &[], ALL),
    ("STUR", &[], CONSTANT),
    ("STLR", &["L"], BASE),
    ("STLUR", &["L"], CONSTANT),
];

pub fn decode(name: &str) -> Option<Access> {
    let pair = |direction, size, tags, modes| Access { direction, size, pair: true, tags, modes };
    let load = |signed| Direction::Load { signed };
    let word = Size::Fixed(AccessSize::WORD);
    match name {
        "LDP" => return Some(pair(load(false), Size::Register, &[], PAIR)),
        "LDPSW" => return Some(pair(load(true), word, &[], PAIR)),
        "STP" => return Some(pair(Direction::Store, Size::Register, &[], PAIR)),
        "LDNP" => return Some(pair(load(false), Size::Register, &["NT"], CONSTANT)),
        "STNP" => return Some(pair(Direction::Store, Size::Register, &["NT"], CONSTANT)),
        _ => {}
    }
    LOADS
        .iter()
        .find_map(|family| decode_load(name, family))
        .or_else(|| STORES.iter().find_map(|family| decode_store(name, family)))
}

fn decode_load(name: &str, (stem, tags, modes): &Family) -> Option<Access> {
    let suffix = name.strip_prefix(stem)?;
    let has_signed_forms = !matches!(*stem, "LDAR" | "LDAPR");
    let (signed, size) = match suffix.strip_prefix('S') {
        Some("W") if has_signed_forms => (true, Size::Fixed(AccessSize::WORD)),
        Some(size @ ("B" | "H")) if has_signed_forms => (true, Size::parse(size)?),
        Some(_) => return None,
        None => (false, Size::parse(suffix)?),
    };
    Some(Access { direction: Direction::Load { signed }, size, pair: false, tags, modes })
}

fn decode_store(name: &str, (stem, tags, modes): &Family) -> Option<Access> {
    Some(Access {
        direction: Direction::Store,
        size: Size::parse(name.strip_prefix(stem)?)?,
        pair: false,
        tags,
        modes,
    })
}

pub fn lower(access: Access, ins: &mut Instruction<'_, '_, '_>) -> Result<(), Diagnostic> {
    let first_text = ins.peek().unwrap_or(ins.mnemonic);
    let mut registers = vec![access.register(ins)?];
    if access.pair {
        let second_text = ins.peek().unwrap_or(ins.mnemonic);
        let second = access.register(ins)?;
        ins.require_width(second_text, second, registers[0].width)?;
        registers.push(second);
    }
    let target = address(ins, access.modes)?;
    let loads = matches!(access.direction, Direction::Load { .. });
    let twice = loads && access.pair && same_general(registers[0], registers[1]);
    let base_too = target
        .writeback
        .as_ref()
        .is_some_and(|(base, _)| registers.iter().any(|reg| same_general(*reg, *base)));
    if twice || base_too {
        let message = "the result of using this register twice is unpredictable";
        return Err(ins.error(first_text, message));
    }
    match access.direction {
        Direction::Load { signed } => access.load(ins, &registers, &target, signed),
        Direction::Store => access.store(ins, &registers, &target),
    }
    if let Some((base, after)) = target.writeback {
        ins.write(base, after);
    }
    Ok(())
}

fn same_general(a: Reg, b: Reg) -> bool {
    matches!(a.which, Which::General(_)) && a.which == b.which
}

impl Access {
    fn register(&self, ins: &mut Instruction<'_, '_, '_>) -> Result<Reg, Diagnostic> {
        match (self.direction, self.size) {
            (Direction::Load { signed: true }, Size::Fixed(AccessSize::WORD)) => {
                ins.register_of(64)
            }
            (Direction::Load { signed: true }, _) => ins.register(),
            (_, size) => size.register(ins),
        }
    }

    /// All accesses come before the first register changes: the address may use it.
    fn load(
        &self,
        ins: &mut Instruction<'_, '_, '_>,
        registers: &[Reg],
        target: &Address,
        signed: bool,
    ) {
        let tags = Tags::new(self.tags.iter().copied());
        let mut loaded: Vec<(Reg, VarId, AccessSize)> = Vec::new();
        for (position, reg) in registers.iter().enumerate() {
            let size = self.size.of(reg.width);
            let dst = ins.thread.function.temp(size.bits());
            ins.thread.function.emit(InstKind::Load {
                dst,
                address: nth_address(target, size, position),
                size,
                tags: tags.clone(),
            });
            loaded.push((*reg, dst, size));
        }
        for (reg, var, size) in loaded {
            let value = match signed {
                true => Expr::Var(var).sign_extend(reg.width),
                false => Expr::Var(var).resize(size.bits(), reg.width),
            };
            ins.write(reg, value);
        }
    }

    fn store(&self, ins: &mut Instruction<'_, '_, '_>, registers: &[Reg], target: &Address) {
        let tags = Tags::new(self.tags.iter().copied());
        for (position, reg) in registers.iter().enumerate() {
            let size = self.size.of(reg.width);
            let value = ins.read(*reg).resize(reg.width, size.bits());
            ins.thread.function.emit(InstKind::Store {
                address: nth_address(target, size, position),
                value,
                size,
                tags: tags.clone(),
            });
        }
    }
}

fn nth_address(target: &Address, size: AccessSize, position: usize) -> Expr {
    let first = target.value.clone();
    match position {
        0 => first,
        _ => first + Expr::constant(64, u128::from(size.bytes()) * position as u128),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{error, lowered, run};
    use super::*;

    fn summary(text: &str) -> Vec<(char, u32, Vec<String>)> {
        let tags = |tags: &Tags| tags.iter().map(|tag| tag.to_string()).collect();
        let kinds = lowered(&[text]);
        let accesses = kinds.iter().filter_map(|kind| match kind {
            InstKind::Load { size, tags: t, .. } => Some(('R', size.bytes(), tags(t))),
            InstKind::Store { size, tags: t, .. } => Some(('W', size.bytes(), tags(t))),
            _ => None,
        });
        accesses.collect()
    }

    #[test]
    fn a_load_of_a_word_clears_the_upper_half() {
        let x0 = VarId(1);
        let kinds = lowered(&["MOV X0,#-1", "LDR W0,[X1]"]);
        let loaded = VarId(2);
        assert_eq!(
            kinds[2],
            InstKind::Assign { dst: VarId(0), value: Expr::Var(loaded).zero_extend(64) }
        );
        assert!(matches!(&kinds[1], InstKind::Load { address, .. } if *address == Expr::Var(x0)));
    }

    #[test]
    fn sizes_and_tags() {
        let cases: [(&str, char, u32, &[&str]); 21] = [
            ("LDR W0,[X1]", 'R', 4, &[]),
            ("LDR X0,[X1]", 'R', 8, &[]),
            ("ldrb w0,[x1]", 'R', 1, &[]),
            ("LDRSH X0,[X1]", 'R', 2, &[]),
            ("LDRSW X0,[X1]", 'R', 4, &[]),
            ("LDURB W0,[X1,#1]", 'R', 1, &[]),
            ("LDAR W0,[X1]", 'R', 4, &["A"]),
            ("LDARH W0,[X1,#0]", 'R', 2, &["A"]),
            ("LDAPR X0,[X1]", 'R', 8, &["Q"]),
            ("LDAPRB W0,[X1]", 'R', 1, &["Q"]),
            ("LDAPUR W0,[X1,#4]", 'R', 4, &["Q"]),
            ("LDAPURSB X0,[X1,#4]", 'R', 1, &["Q"]),
            ("STR WZR,[X1]", 'W', 4, &[]),
            ("STRB W0,[X1]", 'W', 1, &[]),
            ("STRH W0,[X1],#2", 'W', 2, &[]),
            ("STUR X0,[X1,#-8]", 'W', 8, &[]),
            ("STURH W0,[X1]", 'W', 2, &[]),
            ("STLR W0,[X1]", 'W', 4, &["L"]),
            ("STLRB W0,[X1]", 'W', 1, &["L"]),
            ("STLUR X0,[X1,#8]", 'W', 8, &["L"]),
            ("STLURH W0,[X1,#8]", 'W', 2, &["L"]),
        ];
        for (text, direction, bytes, tags) in cases {
            let tags = tags.iter().map(|tag| tag.to_string()).collect();
            assert_eq!(summary(text), [(direction, bytes, tags)], "{text}");
        }
    }

    #[test]
    fn narrow_loads_are_extended_as_their_name_says() {
        let start = [("X1", 0x1000), ("X2", 0xfedc_ba98_8765_4381)];
        let cases = [
            ("STR X2,[X1]", "LDR X0,[X1]", 0xfedc_ba98_8765_4381),
            ("STR W2,[X1]", "LDR W0,[X1]", 0x8765_4381),
            ("STR W2,[X1]", "LDRSW X0,[X1]", 0xffff_ffff_8765_4381),
            ("STRB W2,[X1]", "LDRB W0,[X1]", 0x81),
            ("STRB W2,[X1]", "LDRSB W0,[X1]", 0xffff_ff81),
            ("STRB W2,[X1]", "LDRSB X0,[X1]", 0xffff_ffff_ffff_ff81),
            ("STRH W2,[X1]", "LDRH W0,[X1]", 0x4381),
            ("STRH W2,[X1]", "LDRSH X0,[X1]", 0x4381),
        ];
        for (store, load, expected) in cases {
            let after = run(&[store, load], &start);
            assert_eq!(after.register("X0"), expected, "{load}");
        }
    }

    #[test]
    fn pairs_are_two_accesses() {
        let start = [("X1", 0x1000), ("X2", 7), ("X3", 9)];
        let after = run(&["STP X2,X3,[X1,#16]!", "LDP X1,X4,[X1]"], &start);
        let stored = |address| after.0.memory(address).map(|value| value.unsigned());
        assert_eq!((stored(0x1010), stored(0x1018)), (Some(7), Some(9)));
        assert_eq!((after.register("X1"), after.register("X4")), (7, 9));
        let after = run(&["STP W2,W3,[X1],#8", "LDPSW X4,X5,[X1,#-8]"], &start);
        assert_eq!((after.register("X4"), after.register("X5")), (7, 9));
        assert_eq!(summary("LDNP W0,W1,[X2]")[0].2, ["NT"]);
    }

    #[test]
    fn malformed_accesses() {
        let unpredictable = "the result of using this register twice is unpredictable";
        let cases = [
            ("LDRB X0,[X1]", "1:6: expected a W register, found 'X0'".to_string()),
            ("LDRSW W0,[X1]", "1:7: expected a X register, found 'W0'".to_string()),
            ("LDR SP,[X1]", "1:5: the stack pointer cannot be used here".to_string()),
            ("LDP X0,W1,[X2]", "1:8: expected a X register, found 'W1'".to_string()),
            ("LDP X0,X0,[X2]", format!("1:5: {unpredictable}")),
            ("LDR X0,[X0],#8", format!("1:5: {unpredictable}")),
            ("LDARSB W0,[X1]", "1:1: unknown AArch64 instruction 'LDARSB'".to_string()),
            ("STRSB W0,[X1]", "1:1: unknown AArch64 instruction 'STRSB'".to_string()),
        ];
        for (text, message) in cases {
            assert_eq!(error(text), message);
        }
    }
}
