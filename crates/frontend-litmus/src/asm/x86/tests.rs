use parallax_program::{InstKind, RmwOp, Tags};
use proptest::prelude::*;

use super::X86;
use crate::asm::Isa;
use crate::asm::testing::{Machine, error, lower, visible};

const X86_32: X86 = X86 { wide: false };
const X86_64: X86 = X86 { wide: true };

#[test]
fn moves_in_both_orders() {
    let run = Machine::run(&X86_32, &[], "MOV EAX,$3\nmov ebx, eax\nMOV ECX,-1");
    assert_eq!(run.get("EBX"), 3);
    assert_eq!(run.get("ECX"), 0xffff_ffff);
    let run = Machine::run(&X86_64, &[], "movl $3,%eax\nmovq %rax,%rbx");
    assert_eq!(run.get("RBX"), 3);
}

#[test]
fn parts_of_registers() {
    let start = [("rax", 0x1111_2222_3333_4444)];
    for (text, expected) in [
        ("movl $5,%eax", 5),
        ("movw $5,%ax", 0x1111_2222_3333_0005),
        ("movb $5,%al", 0x1111_2222_3333_4405),
        ("movb $5,%ah", 0x1111_2222_3333_0544),
        ("movzbl %al,%eax", 0x44),
        ("movb $-1,%al\nmovsbq %al,%rax", u128::from(u64::MAX)),
        ("mov $7,%r8d\nmov %r8,%rax", 7),
    ] {
        assert_eq!(Machine::run(&X86_64, &start, text).get("RAX"), expected, "{text}");
    }
}

#[test]
fn accesses_of_memory() {
    let word = |text: &str| match visible(&X86_64, text).as_slice() {
        [InstKind::Store { size, .. } | InstKind::Load { size, .. }] => size.bytes(),
        other => panic!("{text}: {other:?}"),
    };
    assert_eq!(word("movl $1,(x)"), 4);
    assert_eq!(word("movb $1,(x)"), 1);
    assert_eq!(word("movq %rax,(x)"), 8);
    assert_eq!(word("mov (x),%ax"), 2);
    assert_eq!(word("mov $1,[x]"), 4);
    assert_eq!(word("movl 4(%rax,%rbx,8),%ecx"), 4);
    assert_eq!(word("movl x(%rip),%ecx"), 4);
    let run = Machine::run(&X86_64, &[("rbx", 0x100), ("rcx", 2)], "movl $9,8(%rbx,%rcx,4)");
    assert_eq!(run.memory(0x110).map(|bits| bits.unsigned()), Some(9));
    let run = Machine::run(&X86_32, &[("ebx", 0x100)], "MOV [EBX+4],$7\nMOV EAX,[EBX+4]");
    assert_eq!(run.get("EAX"), 7);
    let tags = |text: &str| match visible(&X86_64, text).remove(0) {
        InstKind::Store { tags, .. } => tags,
        other => panic!("{text}: {other:?}"),
    };
    assert_eq!(tags("movnti %eax,(x)"), Tags::new(["NT"]));
}

#[test]
fn locked_operations_are_one_update() {
    let update = |isa: &dyn Isa, text: &str| match visible(isa, text).as_slice() {
        [InstKind::Rmw { op, read_tags, write_tags, .. }] => {
            assert_eq!((read_tags, write_tags), (&Tags::new(["X"]), &Tags::new(["X"])));
            *op
        }
        other => panic!("{text}: {other:?}"),
    };
    assert_eq!(update(&X86_32, "XCHG [x],EAX"), RmwOp::Swap);
    assert_eq!(update(&X86_32, "XCHG EAX,[x]"), RmwOp::Swap);
    assert_eq!(update(&X86_64, "xchgl %eax,(x)"), RmwOp::Swap);
    assert_eq!(update(&X86_32, "LOCK INC [x]"), RmwOp::Add);
    assert_eq!(update(&X86_32, "lock; DEC [x]"), RmwOp::Sub);
    assert_eq!(update(&X86_64, "lock xaddl %eax,(x)"), RmwOp::Add);
    assert_eq!(update(&X86_64, "lock orl $1,(x)"), RmwOp::Or);
    let plain = visible(&X86_32, "INC [x]");
    assert!(matches!(plain.as_slice(), [InstKind::Load { .. }, InstKind::Store { .. }]));
    let cas = visible(&X86_32, "LOCK CMPXCHG [x],EBX");
    assert!(matches!(cas.as_slice(), [InstKind::Cas { weak: false, .. }]));
}

#[test]
fn compare_and_exchange_without_lock() {
    let text = "CMPXCHG [ECX],EBX\nJNE end\nMOV EDX,$1\nend:";
    let run = Machine::run(&X86_32, &[("eax", 0), ("ebx", 5), ("ecx", 64)], text);
    assert_eq!((run.get("EAX"), run.get("EDX")), (0, 1));
    assert_eq!(run.memory(64).map(|bits| bits.unsigned()), Some(5));
    let run = Machine::run(&X86_32, &[("eax", 3), ("ebx", 5), ("ecx", 64)], text);
    assert_eq!((run.get("EAX"), run.get("EDX")), (0, 0));
}

/// Every condition against Rust's own comparison, after `cmp` at every width.
#[test]
fn conditional_jumps_compare() {
    let values: [i8; 7] = [0, 1, -1, 127, -128, 100, -100];
    for (a, b) in values.iter().flat_map(|a| values.map(|b| (*a, b))) {
        let (ua, ub) = (a as u8, b as u8);
        let (difference, overflow) = a.overflowing_sub(b);
        for (condition, expected) in [
            ("e", a == b),
            ("ne", a != b),
            ("b", ua < ub),
            ("ae", ua >= ub),
            ("be", ua <= ub),
            ("a", ua > ub),
            ("l", a < b),
            ("ge", a >= b),
            ("le", a <= b),
            ("g", a > b),
            ("s", difference < 0),
            ("ns", difference >= 0),
            ("o", overflow),
            ("no", !overflow),
            ("p", (difference as u8).count_ones().is_multiple_of(2)),
        ] {
            for (register, shift) in [("al", 0), ("ax", 8), ("eax", 24), ("rax", 56)] {
                if condition == "p" && shift > 0 {
                    continue;
                }
                let wide = |n: i8| ((n as i64) << shift) as u64;
                let second = register.replace('a', "b");
                let text = format!("cmp %{second},%{register}\nj{condition} L\nmov $1,%ecx\nL:");
                let start = [("rax", wide(a)), ("rbx", wide(b))];
                let run = Machine::run(&X86_64, &start, &text);
                assert_eq!(run.get("RCX") == 0, expected, "{a} {condition} {b} in {register}");
            }
        }
    }
}

#[test]
fn arithmetic_sets_carry_and_overflow() {
    for (text, result, carry, overflow) in [
        ("movb $-1,%al\naddb $1,%al", 0, true, false),
        ("movb $127,%al\naddb $1,%al", 128, false, true),
        ("movb $1,%al\nsubb $2,%al", 255, true, false),
        ("movb $-1,%al\naddb $1,%al\nmovb $5,%al\nadcb $1,%al", 7, false, false),
        ("movb $0,%al\nsubb $1,%al\nsbbb $0,%al", 254, false, false),
        ("movb $0,%al\nsubb $1,%al\nsbbb $-1,%al", 255, true, false),
        ("movb $127,%al\nincb %al", 128, false, true),
        ("movb $1,%al\nnegb %al", 255, true, false),
        ("movb $3,%al\nshlb $7,%al", 128, true, false),
        ("movb $3,%al\nshrb $1,%al", 1, true, false),
        ("movb $-2,%al\nsarb $1,%al", 255, false, false),
        ("movb $6,%al\nxorb $3,%al", 5, false, false),
        ("movb $6,%al\nnotb %al", 249, false, false),
    ] {
        let text = format!("{text}\nsetc %bl\nseto %cl");
        let run = Machine::run(&X86_64, &[], &text);
        assert_eq!(run.get("RAX"), result, "{text}");
        assert_eq!(run.get("RBX"), u128::from(carry), "carry: {text}");
        assert_eq!(run.get("RCX"), u128::from(overflow), "overflow: {text}");
    }
}

#[test]
fn conditional_moves() {
    let text = "CMP EAX,$1\nCMOVC EBX,ECX";
    let run = Machine::run(&X86_32, &[("eax", 0), ("ecx", 4)], text);
    assert_eq!(run.get("EBX"), 4);
    let run = Machine::run(&X86_32, &[("eax", 1), ("ecx", 4)], text);
    assert_eq!(run.get("EBX"), 0);
}

#[test]
fn fences_have_their_names() {
    for (text, tag) in [("MFENCE", "MFENCE"), ("sfence", "SFENCE"), ("lfence", "LFENCE")] {
        let tags = Tags::new([tag]);
        assert_eq!(visible(&X86_32, text), vec![InstKind::Fence { tags }]);
    }
}

#[test]
fn what_is_wrong_is_named() {
    for (text, expected) in [
        ("CLFLUSH [x]", "1:1: unsupported x86 instruction `CLFLUSH`"),
        ("MOV [x],[y]", "1:5: `MOV` has at most one operand in memory"),
        ("MOV EAX,#1", "1:9: expected a register, a number or memory, found `#1`"),
        ("MOV EAX,BX", "1:9: `BX` has 16 bits, not 32"),
        ("LOCK MOV [x],$1", "1:6: `MOV` cannot be locked"),
        ("LOCK ADD EAX,$1", "1:10: only an operation on memory can be locked"),
        ("MOV $1,EAX", "1:5: expected a register or memory, found `$1`"),
        ("MOV EAX", "1:1: `MOV` takes 2 operands, not 1"),
        ("MOV AL,$256", "1:8: `$256` does not fit into 8 bits"),
        ("LOCK", "1:1: unsupported x86 instruction `LOCK`"),
    ] {
        assert_eq!(error(&X86_32, text), expected);
    }
}

/// Text that is often almost an instruction.
fn almost_instructions() -> impl Strategy<Value = String> {
    const WORDS: &[&str] = &[
        "mov",
        "movz",
        "movs",
        "cmov",
        "set",
        "xchg",
        "xadd",
        "cmpxchg",
        "add",
        "neg",
        "lea",
        "j",
        "shl",
        "lock",
        "b",
        "w",
        "l",
        "q",
        "c",
        "ne",
        " ",
        " ",
        " ",
        ",",
        ",",
        "%",
        "$",
        "-",
        "(",
        ")",
        "[",
        "]",
        "+",
        "*",
        "eax",
        "rax",
        "al",
        "ah",
        "bx",
        "r8d",
        "rip",
        "x",
        "0",
        "8",
        ";",
        "byte ptr ",
        "0x7fffffffffffffff",
        "99999999999999999999999999999999999999999",
        "é",
    ];
    let words = proptest::collection::vec(proptest::sample::select(WORDS), 1..12);
    words.prop_map(|words| words.concat().trim().to_string())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn any_text_is_an_instruction_or_an_error(text in almost_instructions(), wide: bool) {
        prop_assume!(!text.is_empty() && !text.contains('j'));
        let _ = lower(&X86 { wide }, &text);
    }
}
