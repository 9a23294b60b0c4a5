//! The interpreter on a second domain, intervals of unsigned numbers: nothing in it takes
//! values for known.

use parallax_machine::{Code, Domain, Limits, Operation, Thread, Truth};
use parallax_program::{
    AccessSize, BinaryOp, Bits, Expr, FunctionBuilder, FunctionId, Global, GlobalId, InstKind,
    Program, SourceFile, Tags, Terminator, ThreadStart, UnaryOp, VarId,
};

/// All values from `low` to `high`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Interval {
    width: u32,
    low: u128,
    high: u128,
}

impl Interval {
    fn any(width: u32) -> Interval {
        Interval { width, low: 0, high: Bits::signed(width, -1).unsigned() }
    }

    fn of(width: u32, low: u128, high: u128) -> Interval {
        Interval { width, low, high }
    }
}

struct Intervals;

impl Domain for Intervals {
    type Value = Interval;

    fn constant(&mut self, bits: Bits) -> Interval {
        Interval::of(bits.width(), bits.unsigned(), bits.unsigned())
    }

    fn unary(&mut self, op: UnaryOp, value: &Interval) -> Interval {
        let top = Interval::any(value.width);
        match op {
            UnaryOp::Not => Interval::of(value.width, top.high - value.high, top.high - value.low),
            _ => top,
        }
    }

    fn binary(&mut self, op: BinaryOp, a: &Interval, b: &Interval) -> Interval {
        let top = Interval::any(a.width);
        let bit = |yes: bool, no: bool| Interval::of(1, u128::from(yes), u128::from(!no));
        match op {
            BinaryOp::Add if a.high + b.high <= top.high => {
                Interval::of(a.width, a.low + b.low, a.high + b.high)
            }
            BinaryOp::Ult => bit(a.high < b.low, a.low >= b.high),
            BinaryOp::Eq => bit(a == b && a.low == a.high, a.high < b.low || b.high < a.low),
            op if op.is_comparison() => Interval::any(1),
            _ => top,
        }
    }

    fn extract(&mut self, value: &Interval, low: u32, width: u32) -> Interval {
        let top = Interval::any(width);
        if low == 0 && value.high <= top.high { Interval { width, ..*value } } else { top }
    }

    fn concat(&mut self, high: &Interval, low: &Interval) -> Interval {
        Interval::any(high.width + low.width)
    }

    fn zero_extend(&mut self, value: &Interval, width: u32) -> Interval {
        Interval { width, ..*value }
    }

    fn sign_extend(&mut self, _: &Interval, width: u32) -> Interval {
        Interval::any(width)
    }

    fn select(&mut self, condition: &Interval, then: &Interval, otherwise: &Interval) -> Interval {
        match self.truth(condition) {
            Truth::True => *then,
            Truth::False => *otherwise,
            Truth::Undecided => {
                let (low, high) = (then.low.min(otherwise.low), then.high.max(otherwise.high));
                Interval::of(then.width, low, high)
            }
        }
    }

    fn truth(&self, value: &Interval) -> Truth {
        match (value.low, value.high) {
            (0, 0) => Truth::False,
            (0, _) => Truth::Undecided,
            _ => Truth::True,
        }
    }

    fn known(&self, value: &Interval) -> Option<Bits> {
        (value.low == value.high).then(|| Bits::new(value.width, value.low))
    }
}

/// r0 = x; if (r0 < 10) r1 = r0 + 1 else r1 = 99; if (r1 == 3) r2 = 1
fn program() -> (Program, VarId, VarId) {
    let mut f = FunctionBuilder::new("f");
    let (r0, r1, r2) = (f.var("r0", 32), f.var("r1", 32), f.var("r2", 32));
    let constant = |value| Expr::constant(32, value);
    let address = Expr::Address(GlobalId(0));
    f.emit(InstKind::Load { dst: r0, address, size: AccessSize::WORD, tags: Tags::none() });
    let (small, done) = (f.new_block("small"), f.new_block("done"));
    f.branch(Expr::binary(BinaryOp::Ult, Expr::Var(r0), constant(10)), small);
    f.assign(r1, constant(99));
    f.terminate(Terminator::Jump(done));
    f.enter(small);
    f.assign(r1, Expr::Var(r0) + constant(1));
    let (three, end) = (f.new_block("three"), f.new_block("end"));
    f.enter(done);
    f.branch(Expr::Var(r1).eq(constant(3)), three);
    f.terminate(Terminator::Jump(end));
    f.enter(three);
    f.assign(r2, constant(1));
    f.enter(end);
    let mut program = Program::new("intervals", 64, SourceFile::new("none", ""));
    program.globals.push(Global::zeroed("x", 4, 4));
    program.functions.push(f.finish());
    let start = ThreadStart { name: "P0".into(), function: FunctionId(0), args: Vec::new() };
    program.threads.push(start);
    (program, r1, r2)
}

#[test]
fn decided_and_undecided_branches() {
    let (program, r1, r2) = program();
    let code = Code::new(&program);
    let limits = Limits::default();
    let mut thread = Thread::start(&code, FunctionId(0), Vec::new(), &mut Intervals);
    let operation = thread.run(&code, &limits, &mut Intervals);
    assert!(matches!(operation, Operation::Load { .. }), "{operation:?}");

    // Between 1 and 4: the first branch is decided although the value is not known.
    thread.result(&code, Interval::of(32, 1, 4));
    let operation = thread.run(&code, &limits, &mut Intervals);
    assert!(matches!(operation, Operation::Branch { .. }), "{operation:?}");
    assert_eq!(thread.variable(r1), Some(&Interval::of(32, 2, 5)));

    // The second is not: both ways can be followed.
    for (taken, expected) in [(true, 1), (false, 0)] {
        let mut path = thread.clone();
        assert!(path.branch(&code, &limits, taken, &mut Intervals));
        assert!(matches!(path.run(&code, &limits, &mut Intervals), Operation::End));
        assert_eq!(path.variable(r2), Some(&Interval::of(32, expected, expected)));
        assert_eq!(path.control().count(), 2);
    }
}
