//! Atomic instructions of the Large System Extensions: compare-and-swap, swap, and the
//! fetch-and-modify family, with acquire and release forms.
//!
//! Where the old value goes to the zero register, the read is `NoRet`: it has no acquire meaning
//! and is not ordered by barriers for loads (DDI 0487, B2.3).
//!
//! A compare-and-swap leaves two things open (DDI 0487, CAS and B2.3). One that fails may or may
//! not write the old value back: writing back is an atomic `or` with zero, in executions in which
//! the comparison fails. After one that succeeds, the compared register holds the old value, and
//! may depend on the read of it or on what the register held before, which is equal; both also
//! pick that value, as they pick the write.

use parallax_program::{Diagnostic, Expr, InstKind, RmwOp, Tags, VarId};

use super::access::Size;
use super::address::base;
use super::instruction::Instruction;
use super::registers::Reg;

pub struct Atomic {
    operation: Operation,
    order: Order,
    size: Size,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Operation {
    CompareAndSwap,
    /// The old value goes to a register.
    Fetch(RmwOp),
    /// The old value goes nowhere.
    Modify(RmwOp),
}

#[derive(Clone, Copy)]
struct Order {
    acquire: bool,
    release: bool,
}

pub fn decode(name: &str) -> Option<Atomic> {
    if let Some(rest) = name.strip_prefix("CAS") {
        return with_order(Operation::CompareAndSwap, rest);
    }
    if let Some(rest) = name.strip_prefix("SWP") {
        return with_order(Operation::Fetch(RmwOp::Swap), rest);
    }
    if let Some((op, rest)) = name.strip_prefix("LD").and_then(strip_operator) {
        return with_order(Operation::Fetch(op), rest);
    }
    let (op, rest) = strip_operator(name.strip_prefix("ST")?)?;
    // The acquire forms of LD<op> have no ST<op>: nothing is loaded.
    with_order(Operation::Modify(op), rest).filter(|atomic| !atomic.order.acquire)
}

fn strip_operator(name: &str) -> Option<(RmwOp, &str)> {
    const OPERATORS: [(&str, RmwOp); 8] = [
        ("ADD", RmwOp::Add),
        ("CLR", RmwOp::AndNot),
        ("EOR", RmwOp::Xor),
        ("SET", RmwOp::Or),
        ("SMAX", RmwOp::SMax),
        ("SMIN", RmwOp::SMin),
        ("UMAX", RmwOp::UMax),
        ("UMIN", RmwOp::UMin),
    ];
    OPERATORS.iter().find_map(|(text, op)| Some((*op, name.strip_prefix(text)?)))
}

/// The rest of the mnemonic: `A`, `L`, `AL` or nothing, then the size.
fn with_order(operation: Operation, rest: &str) -> Option<Atomic> {
    let (acquire, rest) = match rest.strip_prefix('A') {
        Some(rest) => (true, rest),
        None => (false, rest),
    };
    let (release, rest) = match rest.strip_prefix('L') {
        Some(rest) => (true, rest),
        None => (false, rest),
    };
    Some(Atomic { operation, order: Order { acquire, release }, size: Size::parse(rest)? })
}

impl Order {
    fn read_tags(self, old: Reg) -> Tags {
        match (old.is_zero(), self.acquire) {
            (true, _) => Tags::new(["X", "NoRet"]),
            (false, true) => Tags::new(["X", "A"]),
            (false, false) => Tags::new(["X"]),
        }
    }

    fn write_tags(self) -> Tags {
        match self.release {
            true => Tags::new(["X", "L"]),
            false => Tags::new(["X"]),
        }
    }

    /// For the read of a failing compare-and-swap that writes nothing back.
    fn fail_tags(self, old: Reg) -> Tags {
        match (old.is_zero(), self.acquire) {
            (true, _) => Tags::new(["X", "NoRet"]),
            (false, true) => Tags::new(["A"]),
            (false, false) => Tags::none(),
        }
    }
}

pub fn lower(atomic: Atomic, ins: &mut Instruction<'_, '_, '_>) -> Result<(), Diagnostic> {
    let source = atomic.size.register(ins)?;
    let other = match atomic.operation {
        Operation::Modify(_) => Reg { width: source.width, ..Reg::ZERO },
        _ => {
            let text = ins.peek().unwrap_or(ins.mnemonic);
            let other = atomic.size.register(ins)?;
            ins.require_width(text, other, source.width)?;
            other
        }
    };
    let address = base(ins)?;
    match atomic.operation {
        Operation::CompareAndSwap => compare_and_swap(&atomic, ins, source, other, address),
        Operation::Fetch(op) | Operation::Modify(op) => {
            fetch_and_modify(&atomic, ins, op, source, other, address);
        }
    }
    Ok(())
}

fn fetch_and_modify(
    atomic: &Atomic,
    ins: &mut Instruction<'_, '_, '_>,
    op: RmwOp,
    operand: Reg,
    old: Reg,
    address: Expr,
) {
    let size = atomic.size.of(operand.width);
    let operand_value = ins.read(operand).resize(operand.width, size.bits());
    let dst = ins.thread.function.temp(size.bits());
    ins.thread.function.emit(InstKind::Rmw {
        dst: Some(dst),
        address,
        op,
        operand: operand_value,
        size,
        read_tags: atomic.order.read_tags(old),
        write_tags: atomic.order.write_tags(),
    });
    ins.write(old, Expr::Var(dst).resize(size.bits(), old.width));
}

fn compare_and_swap(
    atomic: &Atomic,
    ins: &mut Instruction<'_, '_, '_>,
    expected: Reg,
    desired: Reg,
    address: Expr,
) {
    let size = atomic.size.of(expected.width);
    let compared = ins.read(expected).resize(expected.width, size.bits());
    let stored = ins.read(desired).resize(desired.width, size.bits());
    let read_tags = atomic.order.read_tags(expected);
    let write_tags = atomic.order.write_tags();
    let old = ins.thread.function.temp(size.bits());
    let ok = ins.thread.function.temp(1);
    let write_back = InstKind::Rmw {
        dst: Some(old),
        address: address.clone(),
        op: RmwOp::Or,
        operand: Expr::constant(size.bits(), 0),
        size,
        read_tags: read_tags.clone(),
        write_tags: write_tags.clone(),
    };
    let failed = InstKind::Assume { condition: Expr::Var(old).ne(compared.clone()) };
    let cas = InstKind::Cas {
        dst: Some(old),
        ok: Some(ok),
        address,
        expected: compared.clone(),
        desired: stored,
        size,
        read_tags,
        write_tags,
        fail_tags: atomic.order.fail_tags(expected),
        weak: false,
    };
    either(
        ins,
        |ins| {
            ins.thread.function.emit(write_back);
            ins.thread.function.emit(failed);
            ins.thread.function.assign(ok, Expr::constant(1, 0));
        },
        |ins| ins.thread.function.emit(cas),
    );
    if !expected.is_zero() {
        let from_register = compared.resize(size.bits(), expected.width);
        let from_memory = Expr::Var(old).resize(size.bits(), expected.width);
        set_compared(ins, expected, ok, from_register, from_memory);
    }
}

/// Gives the compared register its value: the old one, which after success may come from either
/// of two places and was picked by the comparison.
fn set_compared(
    ins: &mut Instruction<'_, '_, '_>,
    expected: Reg,
    ok: VarId,
    from_register: Expr,
    from_memory: Expr,
) {
    let before = ins.hold(expected.width, from_register);
    ins.write(expected, from_memory.clone());
    ins.choose(
        Expr::Var(ok),
        |ins| {
            either(
                ins,
                |ins| ins.write(expected, Expr::Var(before)),
                |ins| ins.write(expected, from_memory),
            );
        },
        |_| {},
    );
}

/// One of two things happens, and nothing says which.
fn either<'a, 't, 'g>(
    ins: &mut Instruction<'a, 't, 'g>,
    one: impl FnOnce(&mut Instruction<'a, 't, 'g>),
    other: impl FnOnce(&mut Instruction<'a, 't, 'g>),
) {
    let dst = ins.thread.function.temp(1);
    ins.thread.function.emit(InstKind::Nondet { dst });
    ins.choose(Expr::Var(dst), one, other);
}

#[cfg(test)]
mod tests {
    use super::super::testing::{error, lowered};
    use super::*;
    use parallax_program::AccessSize;

    /// Operator, bytes, tags of the read and of the write, number of instructions.
    fn rmw(text: &str) -> (RmwOp, u32, Tags, Tags, usize) {
        let kinds = lowered(&[text]);
        match &kinds[0] {
            InstKind::Rmw { op, size, read_tags, write_tags, .. } => {
                (*op, size.bytes(), read_tags.clone(), write_tags.clone(), kinds.len())
            }
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn fetch_and_modify_forms() {
        type Names = &'static [&'static str];
        let cases: [(&str, RmwOp, u32, Names, Names, usize); 12] = [
            ("SWP W0,W1,[X2]", RmwOp::Swap, 4, &["X"], &["X"], 2),
            ("SWPAL X0,X1,[X2]", RmwOp::Swap, 8, &["X", "A"], &["X", "L"], 2),
            ("SWPA W0,WZR,[X2]", RmwOp::Swap, 4, &["X", "NoRet"], &["X"], 1),
            ("LDADD W0,W1,[X2]", RmwOp::Add, 4, &["X"], &["X"], 2),
            ("LDADDA W0,W1,[X2]", RmwOp::Add, 4, &["X", "A"], &["X"], 2),
            ("ldaddalb w0,w1,[x2]", RmwOp::Add, 1, &["X", "A"], &["X", "L"], 2),
            ("LDADDAL W0,WZR,[X2]", RmwOp::Add, 4, &["X", "NoRet"], &["X", "L"], 1),
            ("LDCLRLH W0,W1,[X2]", RmwOp::AndNot, 2, &["X"], &["X", "L"], 2),
            ("LDSMAX W0,W1,[X2]", RmwOp::SMax, 4, &["X"], &["X"], 2),
            ("LDUMINA X0,X1,[X2]", RmwOp::UMin, 8, &["X", "A"], &["X"], 2),
            ("STEOR W0,[X2]", RmwOp::Xor, 4, &["X", "NoRet"], &["X"], 1),
            ("STSETLB W0,[X2]", RmwOp::Or, 1, &["X", "NoRet"], &["X", "L"], 1),
        ];
        for (text, op, bytes, read, write, count) in cases {
            let tags = |names: Names| Tags::new(names.iter().copied());
            let expected = (op, bytes, tags(read), tags(write), count);
            assert_eq!(rmw(text), expected, "{text}");
        }
    }

    #[test]
    fn compare_and_swap_may_write_back_where_it_fails() {
        let kinds = lowered(&["CASAL W0,W1,[X2]"]);
        let [choice, keep, fails, _, cas, ..] = kinds.as_slice() else {
            panic!("{kinds:?}");
        };
        assert!(matches!(choice, InstKind::Nondet { .. }));
        assert!(matches!(keep, InstKind::Rmw { op: RmwOp::Or, read_tags, write_tags, .. }
            if *read_tags == Tags::new(["X", "A"]) && *write_tags == Tags::new(["X", "L"])));
        assert!(matches!(fails, InstKind::Assume { .. }));
        assert!(matches!(cas, InstKind::Cas { size: AccessSize::WORD, fail_tags, .. }
            if *fail_tags == Tags::new(["A"])));
    }

    #[test]
    fn the_compared_register_depends_on_memory_or_on_itself() {
        let kinds = lowered(&["CAS X0,X1,[X2]"]);
        let x0 = VarId(1);
        let results = kinds.iter().filter_map(|kind| match kind {
            InstKind::Assign { dst, value } if *dst == x0 => Some(value.clone()),
            _ => None,
        });
        let old = || Expr::Var(VarId(3));
        let results: Vec<Expr> = results.collect();
        let before = Expr::Var(VarId(6));
        assert_eq!(results, [old(), before, old()]);
    }

    #[test]
    fn compare_and_swap_with_the_zero_register_returns_nothing() {
        let kinds = lowered(&["CASAB WZR,W1,[X2]"]);
        assert_eq!(kinds.len(), 5);
        assert!(kinds.iter().any(|kind| {
            matches!(kind, InstKind::Cas { read_tags, fail_tags, .. }
            if *read_tags == Tags::new(["X", "NoRet"]) && read_tags == fail_tags)
        }));
    }

    #[test]
    fn malformed_atomics() {
        let cases = [
            ("STADDA W0,[X1]", "1:1: unknown AArch64 instruction 'STADDA'"),
            ("LDADDLA W0,W1,[X2]", "1:1: unknown AArch64 instruction 'LDADDLA'"),
            ("LDADD W0,X1,[X2]", "1:10: expected a W register, found 'X1'"),
            ("LDADDB X0,X1,[X2]", "1:8: expected a W register, found 'X0'"),
            ("SWP W0,W1,[X2,#4]", "1:11: SWP has no addressing mode '[X2,#4]'"),
        ];
        for (text, message) in cases {
            assert_eq!(error(text), message);
        }
    }
}
