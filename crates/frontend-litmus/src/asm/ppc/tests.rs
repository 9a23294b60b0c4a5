use parallax_program::{Expr, InstKind, Tags};

use super::Ppc;
use crate::asm::testing::{Machine, error, lower, visible};

fn result(registers: &[(&str, u64)], text: &str) -> i64 {
    Machine::run(&Ppc, registers, text).get("r5") as i64
}

#[test]
fn arithmetic() {
    let m1 = u64::MAX;
    let cases: &[(&str, u64, u64, i64)] = &[
        ("add r5,r6,r7", 2, 3, 5),
        ("sub r5,r6,r7", 2, 3, -1),
        ("subf r5,r6,r7", 2, 3, 1),
        ("xor r5,r6,r6", 9, 0, 0),
        ("nor r5,r6,r7", 1, 2, !3),
        ("andc r5,r6,r7", 7, 2, 5),
        ("mullw r5,r6,r7", 0xffff_ffff, 2, -2),
        ("divw r5,r6,r7", 0xffff_fff8, 2, -4),
        ("slw r5,r6,r7", 1, 32, 0),
        ("slw r5,r6,r7", 3, 31, 0x8000_0000),
        ("srw r5,r6,r7", 0xf_8000_0000, 31, 1),
        ("sraw r5,r6,r7", 0x8000_0000, 40, -1),
        ("neg r5,r6", 1, 0, -1),
        ("mr r5,r6", 8, 0, 8),
        ("extsw r5,r6", 0xffff_ffff, 0, -1),
        ("li r5,-1", 0, 0, -1),
        ("lis r5,1", 0, 0, 0x10000),
        ("addi r5,r6,-1", 1, 0, 0),
        ("addi r5,r0,3", 0, 0, 3),
        ("addis r5,r6,-1", 1, 0, 1 - 0x10000),
        ("subi r5,r6,1", 1, 0, 0),
        ("mulli r5,r6,3", m1, 0, -3),
        ("ori r5,r6,0xf0", 0xf, 0, 0xff),
        ("xori r5,r6,1", 1, 0, 0),
        ("andi. r5,r6,6", 3, 0, 2),
        ("slwi r5,r6,4", 0xffff_ffff, 0, 0xffff_fff0),
        ("srwi r5,r6,4", m1, 0, 0x0fff_ffff),
        ("srawi r5,r6,4", 0x8000_0000, 0, -0x0800_0000),
        ("rlwinm r5,r6,4,30,31", m1, 0, 3),
        ("rlwinm r5,r6,16,0,15", m1, 0, 0xffff_0000),
        ("rlwinm r5,r6,8,0,31", 0x1234_5678, 0, 0x3456_7812),
        ("rlwinm r5,r6,0,31,0", m1, 0, -0x7fff_ffff),
    ];
    for (text, r6, r7, expected) in cases {
        let found = result(&[("r0", 77), ("r6", *r6), ("r7", *r7)], text);
        assert_eq!(found, *expected, "{text}");
    }
    let r0 = [("r0", 77)];
    assert_eq!(result(&r0, "ori r5,r0,0"), 77);
    assert_eq!(result(&r0, "mulli r5,r0,2"), 154);
    assert_eq!(result(&r0, "li r5,1\nblr\nli r5,2"), 1);
}

#[test]
fn comparisons_and_branches() {
    let taken = |compare: &str, branch: &str, a: i64, b: i64| {
        let text = format!("li r5,1\n{compare}\n{branch}\nli r5,0\nend:");
        result(&[("r6", a as u64), ("r7", b as u64)], &text) == 1
    };
    for (a, b) in [(0, 0), (1, 2), (2, 1), (-1, 1), (1, -1)] {
        for (compare, field) in [("cmpw r6,r7", ""), ("cmpw cr3,r6,r7", "cr3,")] {
            let taken = |name| taken(compare, &format!("{name} {field}end"), a, b);
            assert_eq!(taken("beq"), a == b);
            assert_eq!(taken("bne-"), a != b);
            assert_eq!(taken("blt"), a < b);
            assert_eq!(taken("bge"), a >= b);
            assert_eq!(taken("bnl"), a >= b);
            assert_eq!(taken("bgt+"), a > b);
            assert_eq!(taken("ble"), a <= b);
            assert_eq!(taken("bng"), a <= b);
        }
        let (ua, ub) = (a as u64, b as u64);
        assert_eq!(taken("cmpld r6,r7", "blt end", a, b), ua < ub);
    }
    assert!(taken("cmpw r6,r7", "beq end", 1 << 32, 0));
    assert!(taken("cmpd r6,r7", "bgt end", 1 << 32, 0));
    assert!(taken("cmpwi r6,-1", "beq end", 0xffff_ffff, 0));
    assert!(taken("cmpwi cr0,r6,-1", "beq cr0,end", -1, 0));
    assert!(taken("xor. r8,r6,r7", "beq end", 3, 3));
    assert!(taken("sub. r6,r6,r7", "blt end", 3, 4));
    assert!(taken("b end", "nop", 0, 0));
}

#[test]
fn loads_and_stores() {
    let at = [("r0", 1), ("r6", 0x100), ("r7", 0xffff_ffff_8000_0080), ("r8", 8)];
    let low = 0x8000_0080;
    assert_eq!(result(&at, "stw r7,8(r6)\nlwz r5,8(r6)"), low);
    assert_eq!(result(&at, "stw r7,8,r6\nlwzx r5,r6,r8"), low);
    assert_eq!(result(&at, "stwx r7,0,r6\nlwzx r5,r0,r6"), low);
    assert_eq!(result(&at, "stw r7,0(r6)\nlwa r5,0(r6)"), low as i32 as i64);
    assert_eq!(result(&at, "std r7,0(r6)\nldx r5,r0,r6"), at[2].1 as i64);
    assert_eq!(result(&at, "stb r7,0(r6)\nlbz r5,0(r6)"), 0x80);
    assert_eq!(result(&at, "stwu r6,8(r6)\nmr r5,r6"), 0x108);
    assert_eq!(result(&at, "stwu r6,8(r6)\nlwz r5,0(r6)"), 0x100);
    assert_eq!(result(&at, "lwzu r5,8(r6)\nmr r5,r6"), 0x108);
    let swap = "lwarx r9,0,r6\nstwcx. r7,r0,r6\nli r5,1\nbeq end\nli r5,0\nend:";
    assert_eq!(result(&at, swap), 1);
}

#[test]
fn barriers_and_reservations_are_tagged() {
    let fence = |tag: &str| InstKind::Fence { tags: Tags::new([tag]) };
    let fences = visible(&Ppc, "sync\nlwsync\neieio\nisync");
    let expected = ["SYNC", "LWSYNC", "EIEIO", "ISYNC"].map(fence);
    assert_eq!(fences, expected);
    for kind in visible(&Ppc, "lwarx r1,r2,r3\nstdcx. r1,r2,r3") {
        match kind {
            InstKind::LoadLinked { tags, .. } | InstKind::StoreConditional { tags, .. } => {
                assert_eq!(tags, Tags::new(["EX", "X"]));
            }
            other => panic!("{other:?}"),
        }
    }
}

/// The variables that an expression mentions, by name.
fn mentions(function: &parallax_program::Function, expr: &Expr, names: &mut Vec<String>) {
    match expr {
        Expr::Var(var) => names.push(function.vars[var.0 as usize].name.clone()),
        Expr::Unary(_, e) => mentions(function, e, names),
        Expr::Binary(_, a, b) => {
            mentions(function, a, names);
            mentions(function, b, names);
        }
        Expr::Extract { value, .. } => mentions(function, value, names),
        _ => {}
    }
}

#[test]
fn cr0_depends_on_what_was_stored_and_where() {
    let function = lower(&Ppc, "stwcx. r1,r2,r3").unwrap();
    let last = function.blocks[0].insts.last().unwrap();
    let InstKind::Assign { value, .. } = &last.kind else { panic!() };
    let mut names = Vec::new();
    mentions(&function, value, &mut names);
    for name in ["r1", "r2", "r3", "reservation"] {
        assert!(names.iter().any(|n| n == name), "{name} not in {names:?}");
    }
}

#[test]
fn errors_have_a_place() {
    let unsupported = "1:1: unsupported Power instruction `dcbf`";
    assert_eq!(error(&Ppc, "dcbf r1,r2"), unsupported);
    let register = "1:8: expected a register, found `q1`";
    assert_eq!(error(&Ppc, "add r5,q1,r7"), register);
    let field = "1:6: expected a condition register field, found `r1`";
    assert_eq!(error(&Ppc, "cmpw r1,r2,r3"), field);
    let update = "1:1: `lwzu` cannot update `r0`";
    assert_eq!(error(&Ppc, "lwzu r1,0(r0)"), update);
    for bad in [
        "lwzu r1,0(r1)",
        "lwau r1,0(r2)",
        "lbax r1,r2,r3",
        "lba r1,0(r2)",
        "ldz r1,0(r2)",
        "l r1,0(r2)",
        "st r1,0(r2)",
        "stwz r1,0(r2)",
        "larx r1,r2,r3",
        "stwcx r1,r2,r3",
        "stq r1,0(r2)",
        "lwz r1,0(r2",
        "lwz r1,x(r2)",
        "andi r1,r2,3",
        "slwi r1,r2,32",
        "beq cr8,end",
        "beq",
        "bl f",
        "sync 1",
        "é",
    ] {
        assert!(lower(&Ppc, bad).is_err(), "{bad}");
    }
}
