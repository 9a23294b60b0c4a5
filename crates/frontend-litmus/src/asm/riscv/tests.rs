use parallax_program::{AccessSize, BinaryOp, Expr, InstKind, RmwOp, Tags, VarId};

use super::RiscV;
use crate::asm::Isa;
use crate::asm::testing::{Machine, error, lower, visible};

fn result(registers: &[(&str, u64)], text: &str) -> i64 {
    Machine::run(&RiscV, registers, text).get("x5") as i64
}

#[test]
fn registers_go_by_number_and_by_convention() {
    for (name, whole) in [("x7", "x7"), ("t2", "x7"), ("fp", "x8"), ("s10", "x26")] {
        assert_eq!(RiscV.register(name).unwrap().whole, whole);
    }
    assert_eq!(RiscV.register("x32"), None);
    assert_eq!(RiscV.register(""), None);
}

#[test]
fn a_false_dependency_stays_an_expression() {
    let function = lower(&RiscV, "xor x5,x6,x6").unwrap();
    let InstKind::Assign { value, .. } = &function.blocks[0].insts[0].kind else { panic!() };
    let x6 = || Expr::Var(VarId(0));
    assert_eq!(*value, Expr::binary(BinaryOp::Xor, x6(), x6()));
}

#[test]
fn arithmetic() {
    let m1 = u64::MAX;
    let cases: &[(&str, u64, u64, i64)] = &[
        ("add x5,x6,x7", 2, 3, 5),
        ("sub x5,x6,x7", 2, 3, -1),
        ("sll x5,x6,x7", 1, 65, 2),
        ("srl x5,x6,x7", m1, 63, 1),
        ("sra x5,x6,x7", m1 << 8, 4, -16),
        ("slt x5,x6,x7", m1, 0, 1),
        ("sltu x5,x6,x7", m1, 0, 0),
        ("div x5,x6,x7", 7, 0, -1),
        ("rem x5,x6,x7", 7, 0, 7),
        ("addi x5,x6,-1", 0, 0, -1),
        ("ori x5,x0,1", 9, 9, 1),
        ("slti x5,x6,-1", m1 - 1, 0, 1),
        ("sltiu x5,x6,-1", 0, 0, 1),
        ("srai x5,x6,63", m1, 0, -1),
        ("addw x5,x6,x7", 0x7fff_ffff, 1, i32::MIN as i64),
        ("addiw x5,x6,0", 0xffff_ffff, 0, -1),
        ("srlw x5,x6,x7", 0xf_8000_0000, 33, 0x4000_0000),
        ("sraiw x5,x6,4", 0x8000_0000, 0, -0x0800_0000),
        ("divw x5,x6,x7", 0xffff_fff8, 2, -4),
        ("li x5,0xffffffffffffffff", 0, 0, -1),
        ("lui x5,0x80000", 0, 0, i32::MIN as i64),
        ("mv x5,x6", 4, 0, 4),
        ("not x5,x6", 0, 0, -1),
        ("neg x5,x6", 1, 0, -1),
        ("negw x5,x6", 0x8000_0000, 0, i32::MIN as i64),
        ("seqz x5,x6", 0, 0, 1),
        ("snez x5,x6", 7, 0, 1),
        ("sgtz x5,x6", 7, 0, 1),
        ("sext.w x5,x6", 0xffff_ffff, 0, -1),
        ("zext.b x5,x6", 0xfff, 0, 0xff),
    ];
    for (text, x6, x7, expected) in cases {
        let found = result(&[("x6", *x6), ("x7", *x7)], text);
        assert_eq!(found, *expected, "{text}");
    }
}

#[test]
fn x0_is_zero_whatever_happens() {
    assert_eq!(result(&[], "li x0,3\nlw x0,0(x6)\nadd x5,x0,x0"), 0);
}

#[test]
fn branches() {
    let taken = |branch: &str, a: i64, b: i64| {
        let text = format!("li x5,1\n{branch},end\nli x5,0\nend:");
        result(&[("x6", a as u64), ("x7", b as u64)], &text) == 1
    };
    for (a, b) in [(0, 0), (1, 2), (2, 1), (-1, 1), (1, -1), (-1, 0)] {
        let (ua, ub) = (a as u64, b as u64);
        assert_eq!(taken("beq x6,x7", a, b), a == b);
        assert_eq!(taken("bne x6,x7", a, b), a != b);
        assert_eq!(taken("blt x6,x7", a, b), a < b);
        assert_eq!(taken("bge x6,x7", a, b), a >= b);
        assert_eq!(taken("bgt x6,x7", a, b), a > b);
        assert_eq!(taken("ble x6,x7", a, b), a <= b);
        assert_eq!(taken("bltu x6,x7", a, b), ua < ub);
        assert_eq!(taken("bgeu x6,x7", a, b), ua >= ub);
        assert_eq!(taken("bgtu x6,x7", a, b), ua > ub);
        assert_eq!(taken("bleu x6,x7", a, b), ua <= ub);
        assert_eq!(taken("beqz x6", a, b), a == 0);
        assert_eq!(taken("bnez x6", a, b), a != 0);
        assert_eq!(taken("bltz x6", a, b), a < 0);
        assert_eq!(taken("bgez x6", a, b), a >= 0);
        assert_eq!(taken("bgtz x6", a, b), a > 0);
        assert_eq!(taken("blez x6", a, b), a <= 0);
    }
    assert_eq!(result(&[], "j end\nli x5,1\nend:\nnop"), 0);
}

#[test]
fn loads_extend_and_stores_cut() {
    let at = [("x6", 0x100), ("x7", 0xffff_ffff_8000_0080)];
    assert_eq!(result(&at, "sw x7,8(x6)\nlw x5,8(x6)"), 0x8000_0080u32 as i32 as i64);
    assert_eq!(result(&at, "sw x7,(x6)\nlwu x5,0(x6)"), 0x8000_0080);
    assert_eq!(result(&at, "sb x7,0(x6)\nlb x5,0(x6)"), -128);
    assert_eq!(result(&at, "sh x7,0(x6)\nlhu x5,0(x6)"), 0x80);
    assert_eq!(result(&at, "sd x7,-8(x6)\nld x5,-8(x6)"), at[1].1 as i64);
    assert_eq!(result(&at, "lr.w x5,(x6)\nsc.w x5,x7,0(x6)"), 0);
}

fn tags_of(kind: &InstKind) -> &Tags {
    match kind {
        InstKind::Load { tags, .. }
        | InstKind::Store { tags, .. }
        | InstKind::LoadLinked { tags, .. }
        | InstKind::StoreConditional { tags, .. }
        | InstKind::Fence { tags } => tags,
        other => panic!("{other:?}"),
    }
}

#[test]
fn suffixes_and_fences_become_tags() {
    let cases: &[(&str, &[&str])] = &[
        ("lw x5,0(x6)", &[]),
        ("lw.aq x5,0(x6)", &["Acq"]),
        ("sd.rl x5,0(x6)", &["Rel"]),
        ("lr.w x5,0(x6)", &["X", "EX"]),
        ("lr.d.aq.rl x5,0(x6)", &["X", "EX", "AcqRel"]),
        ("sc.w.aqrl x5,x6,(x7)", &["X", "EX", "Status", "AcqRel"]),
        ("fence", &["Fence.rw.rw"]),
        ("fence r, rw", &["Fence.r.rw"]),
        ("fence w,w", &["Fence.w.w"]),
        ("fence iorw,ow", &["Fence.rw.w"]),
        ("fence.tso", &["Fence.tso"]),
        ("fence.i", &["Fence.i"]),
    ];
    for (text, tags) in cases {
        let visible = visible(&RiscV, text);
        assert_eq!(visible.len(), 1);
        let expected = Tags::new(tags.iter().copied());
        assert_eq!(*tags_of(&visible[0]), expected, "{text}");
    }
}

#[test]
fn both_events_of_an_amo_carry_its_tags() {
    let visible = visible(&RiscV, "amoor.w.aq x0,x5,(x6)");
    let [InstKind::Rmw { dst, op, size, read_tags, write_tags, .. }] = visible.as_slice() else {
        panic!("{visible:?}")
    };
    let tags = Tags::new(["X", "Acq"]);
    assert_eq!((read_tags, write_tags), (&tags, &tags));
    assert_eq!(*dst, None);
    assert_eq!((*op, *size), (RmwOp::Or, AccessSize::WORD));
}

#[test]
fn errors_have_a_place() {
    let unsupported = "1:1: unsupported RISC-V instruction `auipc`";
    assert_eq!(error(&RiscV, "auipc x5,1"), unsupported);
    let missing = "1:1: `lw` takes 2 operands, not 1";
    assert_eq!(error(&RiscV, "lw x5"), missing);
    let register = "2:8: expected a register, found `y6`";
    assert_eq!(error(&RiscV, "nop\nadd x5,y6,x7"), register);
    let address = "1:7: expected an address such as `0(x5)`, found `x6`";
    assert_eq!(error(&RiscV, "lw x5,x6"), address);
    let offset = "1:9: `lr.w` takes no offset";
    assert_eq!(error(&RiscV, "lr.w x5,4(x6)"), offset);
    for bad in [
        "lw.rl.aq x5,0(x6)",
        "lr.q x5,(x6)",
        "lr x5,(x6)",
        "sdu x5,(x6)",
        "ldu x5,(x6)",
        "l x5,(x6)",
        "amo.w x5,x6,(x7)",
        "fence i,o",
        "fence wr,r",
        "fence r",
        "fence.x",
        "slli x5,x6,64",
        "lui x5,0x100000",
        "beq x5,x6,",
        "beq x5,x6,a b",
        "lw x5,(",
        "lw x5,)(",
        "lw ,0(x5)",
        "é",
    ] {
        assert!(lower(&RiscV, bad).is_err(), "{bad}");
    }
}
