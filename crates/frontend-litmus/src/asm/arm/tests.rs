use parallax_program::{InstKind, Tags, Terminator};

use super::Arm;
use crate::asm::Isa;
use crate::asm::testing::{Machine, error, lower, visible};

fn result(registers: &[(&str, u64)], text: &str) -> u32 {
    Machine::run(&Arm, registers, text).get("R5") as u32
}

#[test]
fn registers() {
    for (name, whole) in [("R7", "R7"), ("r7", "R7"), ("R13", "SP"), ("lr", "LR")] {
        assert_eq!(Arm.register(name).unwrap().whole, whole);
    }
    assert_eq!(Arm.register("PC"), None);
}

#[test]
fn arithmetic() {
    let cases: &[(&str, u32, u32, u32)] = &[
        ("ADD R5,R6,R7", 2, 3, 5),
        ("ADD R5,R6,#-1", 2, 3, 1),
        ("ADD R5,R6,R7,LSL #2", 2, 3, 14),
        ("SUB R5,R6,R7", 2, 3, u32::MAX),
        ("RSB R5,R6,#0", 2, 0, -2i32 as u32),
        ("AND R5,R6,#0xff00", 0x1234, 0, 0x1200),
        ("EOR R5,R6,R6", 5, 0, 0),
        ("XOR R5,R6,R7", 5, 1, 4),
        ("ORR R5,R6,R7", 5, 2, 7),
        ("BIC R5,R6,R7", 7, 2, 5),
        ("MUL R5,R6,R7", 7, 3, 21),
        ("MOV R5,R6", 7, 0, 7),
        ("MOV R5,#1", 7, 0, 1),
        ("MOV R5,R6,ASR #31", 1 << 31, 0, u32::MAX),
        ("MVN R5,#0", 0, 0, u32::MAX),
        ("MOVW R5,#0xffff", 0, 0, 0xffff),
        ("MOVW R5,#0x8001\nMOVT R5,#0x8000", 0, 0, 0x8000_8001),
        ("LSL R5,R6,#4", 3, 0, 48),
        ("LSR R5,R6,#32", 3, 0, 0),
        ("MOV R5,R6\nADD R5,#1", 3, 0, 4),
        ("MOV R5,R6\nADDS R5,R5,R5\nMOVCS R5,#9", 1 << 31, 0, 9),
    ];
    for (text, r6, r7, expected) in cases {
        let at = [("R6", u64::from(*r6)), ("R7", u64::from(*r7))];
        assert_eq!(result(&at, text), *expected, "{text}");
    }
}

#[test]
fn every_condition_after_a_comparison() {
    let holds = |setup: &str, name: &str, a: i32, b: i32| {
        let branch = format!("MOV R5,#1\n{setup}\nB{name} end\nMOV R5,#0\nend:");
        let select = format!("MOV R5,#0\n{setup}\nMOV{name} R5,#1");
        let store = format!("{setup}\nSTR{name} R9,[R8]\nLDR R5,[R8]");
        let at = [("R6", u64::from(a as u32)), ("R7", u64::from(b as u32)), ("R9", 1)];
        let found = result(&at, &branch);
        assert_eq!(result(&at, &select), found, "{name}");
        assert_eq!(result(&at, &store), found, "{name}");
        found == 1
    };
    let values = [0, 1, 2, -1, -2, i32::MAX, i32::MIN];
    for (a, b) in values.iter().flat_map(|a| values.map(|b| (*a, b))) {
        let (ua, ub) = (a as u32, b as u32);
        let cmp = |name| holds("CMP R6,R7", name, a, b);
        assert_eq!(cmp("EQ"), a == b);
        assert_eq!(cmp("NE"), a != b);
        assert_eq!(cmp("HS"), ua >= ub);
        assert_eq!(cmp("LO"), ua < ub);
        assert_eq!(cmp("HI"), ua > ub);
        assert_eq!(cmp("LS"), ua <= ub);
        assert_eq!(cmp("GE"), a >= b);
        assert_eq!(cmp("LT"), a < b);
        assert_eq!(cmp("GT"), a > b);
        assert_eq!(cmp("LE"), a <= b);
        assert_eq!(cmp("MI"), a.wrapping_sub(b) < 0);
        assert_eq!(cmp("PL"), a.wrapping_sub(b) >= 0);
        assert_eq!(cmp("VS"), a.checked_sub(b).is_none());
        let cmn = |name| holds("CMN R6,R7", name, a, b);
        assert_eq!(cmn("CS"), ua.checked_add(ub).is_none());
        assert_eq!(cmn("VC"), a.checked_add(b).is_some());
        assert_eq!(holds("SUBS R6,R6,R7", "HS", a, b), ua >= ub);
        assert_eq!(holds("ADDS R7,R6,R7", "CS", a, b), cmn("CS"));
        assert_eq!(holds("TST R6,R7", "EQ", a, b), a & b == 0);
        assert_eq!(holds("MOVS R6,R6,LSR #1", "CS", a, b), a & 1 == 1);
    }
}

#[test]
fn branches_on_a_register() {
    let text = |name: &str| format!("MOV R5,#1\n{name} R6,end\nMOV R5,#0\nend:");
    for (value, zero) in [(0, 1), (3, 0)] {
        assert_eq!(result(&[("R6", value)], &text("CBZ")), zero);
        assert_eq!(result(&[("R6", value)], &text("CBNZ")), 1 - zero);
    }
}

#[test]
fn addresses() {
    let at = [("R6", 0x100), ("R7", 0xffff_ff80), ("R8", 4)];
    assert_eq!(result(&at, "STR R7,[R6]\nLDR R5,R6"), 0xffff_ff80);
    assert_eq!(result(&at, "STR R7,[R6,#4]\nLDR R5,[R6,R8]"), 0xffff_ff80);
    assert_eq!(result(&at, "STR R7,[R6, R8, LSL #1]\nLDR R5,[R6,#8]"), 0xffff_ff80);
    assert_eq!(result(&at, "STRB R7,[R6]\nLDRSB R5,[R6]"), 0xffff_ff80);
    assert_eq!(result(&at, "STRH R7,[R6]\nLDRH R5,[R6]"), 0xff80);
    assert_eq!(result(&at, "STR R7,[R6,#4]\nLDRD R4,R5,[R6]"), 0xffff_ff80);
    assert_eq!(result(&at, "LDREX R5,[R6]\nSTREX R5,R7,[R6]"), 0);
    assert_eq!(result(&at, "STREX R6,R7,[R6]\nMOV R6,#0x100\nLDR R5,[R6]"), 0xffff_ff80);
}

#[test]
fn a_conditional_access_ends_its_own_branch() {
    let function = lower(&Arm, "CMP R1,#0\nLDRNE R2,[R3]\nSTR R2,[R4]").unwrap();
    let [entry, then, end] = function.blocks.as_slice() else { panic!("{:?}", function.blocks) };
    let Terminator::Branch { otherwise, join, .. } = &entry.terminator else { panic!() };
    assert_eq!(*join, Some(*otherwise));
    assert_eq!(then.terminator, Terminator::Jump(*otherwise));
    assert_eq!(end.insts.len(), 1);
}

#[test]
fn accesses_and_barriers_are_tagged() {
    let cases: &[(&str, &[&str])] = &[
        ("LDR R1,[R2]", &[]),
        ("LDA R1,[R2]", &["A"]),
        ("STL R1,[R2]", &["L"]),
        ("LDREX R1,[R2]", &["EX", "X"]),
        ("LDAEX R1,[R2]", &["A", "EX", "X"]),
        ("STLEX R1,R2,[R3]", &["EX", "L", "X"]),
        ("DMB", &["DMB"]),
        ("DMB SY", &["DMB"]),
        ("dmb ish", &["DMB", "DMB.ISH"]),
        ("DMB ST", &["DMB.ST"]),
        ("DSB", &["DSB"]),
        ("DSB ST", &["DSB.ST"]),
        ("DSB OSHST", &["DSB.ST", "DSB.OSHST"]),
        ("ISB", &["ISB"]),
    ];
    for (text, tags) in cases {
        let expected = Tags::new(tags.iter().copied());
        match visible(&Arm, text).as_slice() {
            [
                InstKind::Load { tags, .. }
                | InstKind::Store { tags, .. }
                | InstKind::LoadLinked { tags, .. }
                | InstKind::StoreConditional { tags, .. }
                | InstKind::Fence { tags },
            ] => assert_eq!(*tags, expected, "{text}"),
            other => panic!("{text}: {other:?}"),
        }
    }
}

#[test]
fn errors_have_a_place() {
    let unsupported = "1:1: unsupported Arm instruction `LDREXD`";
    assert_eq!(error(&Arm, "LDREXD R0,R1,[R2]"), unsupported);
    let option = "1:5: expected an option such as `SY` or `ISH`, found `LD`";
    assert_eq!(error(&Arm, "DMB LD"), option);
    let register = "1:9: expected a register, found `PC`";
    assert_eq!(error(&Arm, "LDR R0,[PC]"), register);
    for bad in [
        "LDR R0,[R1",
        "LDR R0,[R1],#4",
        "LDR R0,[R1,#4]!",
        "LDR R0,[]",
        "LDR R0,[R1,R2,LSL #2,R3]",
        "LDR R0,[R1,R2,ROR #2]",
        "LDR R0,[R1,R2,LSL #32]",
        "LDREX R0,[R1,#4]",
        "ADD",
        "ADD R0",
        "ADD R0,R1,R2,R3,R4",
        "LSL R0,R1,R2",
        "LSL R0,R1,#33",
        "MOV R0",
        "MOV R0,#0x100000000",
        "CMP R0",
        "CMPS R0,R1",
        "DMBEQ",
        "DMB SY,SY",
        "ISB ISH",
        "CBZEQ R0,end",
        "BX R1",
        "BL f",
        "S",
        "EQ",
        "é",
        "éé",
    ] {
        assert!(lower(&Arm, bad).is_err(), "{bad}");
    }
}
