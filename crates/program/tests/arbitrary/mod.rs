//! Arbitrary well-formed programs, built from a list of choices. With no choices left every
//! decision is the first and smallest, so that programs end, and shrinking the list shrinks
//! the program.

use parallax_program::{
    AccessSize, AllocKind, BinaryOp, Bits, Block, BlockId, Callee, Cell, Expr, Function,
    FunctionId, Global, GlobalId, Inst, InstKind, Program, Property, RmwOp, SourceFile, Span, Tags,
    Terminator, ThreadStart, UnaryOp, Var, VarId,
};

pub struct Choices {
    left: std::vec::IntoIter<u32>,
}

impl Choices {
    pub fn new(choices: Vec<u32>) -> Choices {
        Choices { left: choices.into_iter() }
    }

    /// A number below `bound`; 0 when no choices are left.
    fn below(&mut self, bound: u32) -> u32 {
        self.left.next().unwrap_or(0) % bound
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u32) as usize]
    }

    fn maybe<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        (self.below(2) == 1).then(|| make(self))
    }
}

const WIDTHS: &[u32] = &[1, 8, 16, 32, 64, 128, 7, 33];
const SIZES: &[AccessSize] =
    &[AccessSize::WORD, AccessSize::BYTE, AccessSize::HALF, AccessSize::DOUBLE, AccessSize::QUAD];
const ODD_NAMES: &[&str] = &[
    "",
    "load",
    "load.4",
    "0:EAX",
    "a b",
    "ünïcode",
    "\"q\\",
    "line\nend",
    "%",
    "%x",
    "_",
    "-1",
    "fn",
    "zext",
    "align",
    "join",
    "begin",
    "extern",
    "a.b$c_",
    "%99",
];

/// A name that no other number gets.
fn name(choices: &mut Choices, prefix: &str, number: usize) -> String {
    if choices.below(3) < 2 {
        return format!("{prefix}{number}");
    }
    match choices.pick(ODD_NAMES) {
        odd if number < 1 => odd.to_string(),
        odd => format!("{odd}{number}'"),
    }
}

pub fn program(choices: &mut Choices) -> Program {
    let pointer_width = choices.pick(&[64, 32]);
    let title = name(choices, "p", 0);
    let mut program = Program::new(&title, pointer_width, SourceFile::new("", ""));
    let globals = choices.below(4) as usize;
    for number in 0..globals {
        let global = global(choices, number, globals, pointer_width);
        program.globals.push(global);
    }
    program.daemons = choices.below(4) == 3;
    if choices.below(4) == 3 {
        let widths = [choices.pick(WIDTHS), choices.pick(WIDTHS)];
        let registers = widths.iter().enumerate();
        let register =
            |(number, width): (usize, &u32)| Var { name: format!("reg{number}"), width: *width };
        program.registers = registers.map(register).collect();
    }
    // Frames first: bodies may call any function.
    for number in 0..=choices.below(3) as usize {
        let frame = frame(choices, &program.registers, number);
        program.functions.push(frame);
    }
    for index in 0..program.functions.len() {
        let blocks = Maker::new(&program, index).blocks(choices);
        program.functions[index].blocks = blocks;
    }
    for number in 0..choices.below(4) {
        let function = FunctionId(choices.below(program.functions.len() as u32));
        let widths = params(&program, function);
        let maker = Maker::outside(&program);
        let args = widths.iter().map(|w| maker.expr(choices, *w, 2)).collect();
        program.threads.push(ThreadStart {
            name: name(choices, "T", number as usize),
            function,
            args,
        });
    }
    program
}

fn params(program: &Program, function: FunctionId) -> Vec<u32> {
    let function = &program.functions[function.0 as usize];
    let params = &function.vars[..function.params as usize];
    params.iter().map(|var| var.width).collect()
}

fn global(choices: &mut Choices, number: usize, globals: usize, pointer_width: u32) -> Global {
    let cells = choices.below(3);
    let init = (0..cells).map(|index| {
        let value = match choices.below(2) {
            0 => Expr::constant(pointer_width, choices.below(9).into()),
            _ => Expr::Address(GlobalId(choices.below(globals as u32))),
        };
        Cell { offset: u64::from(index) * 8, width: pointer_width, value }
    });
    Global {
        init: init.collect(),
        name: name(choices, "x", number),
        size: 24,
        align: 1 << choices.below(5),
        shape: None,
        constant: choices.below(2) == 1,
        address: (choices.below(4) == 3).then_some(0x10_0000 * (number as u64 + 1)),
    }
}

fn frame(choices: &mut Choices, registers: &[Var], number: usize) -> Function {
    let mut vars: Vec<Var> = (0..choices.below(12) as usize)
        .map(|number| Var { name: name(choices, "v", number), width: choices.pick(WIDTHS) })
        .collect();
    let params = choices.below(vars.len() as u32 + 1);
    let sees_registers = !registers.is_empty() && choices.below(2) == 1;
    if sees_registers {
        let at = params as usize;
        vars.splice(at..at, registers.iter().cloned());
    }
    Function {
        name: name(choices, "f", number),
        params,
        result: choices.maybe(|choices| choices.pick(WIDTHS)),
        registers: sees_registers,
        address: (choices.below(4) == 3).then_some(0x1000 * (number as u64 + 1)),
        vars,
        blocks: Vec::new(),
    }
}

/// Makes the parts of one function.
struct Maker<'a> {
    program: &'a Program,
    function: Option<&'a Function>,
}

impl<'a> Maker<'a> {
    fn new(program: &'a Program, function: usize) -> Maker<'a> {
        Maker { program, function: program.functions.get(function) }
    }

    fn outside(program: &'a Program) -> Maker<'a> {
        Maker { program, function: None }
    }

    fn vars(&self, width: u32) -> Vec<VarId> {
        let vars = self.function.map_or(&[][..], |f| &f.vars);
        let numbered = (0..).map(VarId).zip(vars);
        numbered.filter(|(_, var)| var.width == width).map(|(id, _)| id).collect()
    }

    fn var(&self, choices: &mut Choices, width: u32) -> Option<VarId> {
        let vars = self.vars(width);
        (!vars.is_empty()).then(|| choices.pick(&vars))
    }

    fn any_var(&self, choices: &mut Choices) -> Option<(VarId, u32)> {
        let vars = &self.function?.vars;
        let index = choices.below((vars.len() as u32).max(1));
        vars.get(index as usize).map(|v| (VarId(index), v.width))
    }

    fn expr(&self, choices: &mut Choices, width: u32, depth: u32) -> Expr {
        if depth == 0 {
            return self.leaf(choices, width);
        }
        let inner = |choices: &mut Choices, width| self.expr(choices, width, depth - 1);
        use BinaryOp::*;
        match choices.below(8) {
            0 => self.leaf(choices, width),
            1 if width == 64 && choices.below(2) == 1 => {
                use UnaryOp::*;
                let op = choices.pick(&[F32ToF64, F64ToF32, F64ToS64, F64ToU64, S64ToF64, FSqrt]);
                Expr::unary(op, inner(choices, width))
            }
            1 => {
                use UnaryOp::*;
                let op = choices.pick(&[
                    Neg,
                    Not,
                    LeadingZeros,
                    TrailingZeros,
                    PopCount,
                    ByteSwap,
                    BitReverse,
                ]);
                Expr::unary(op, inner(choices, width))
            }
            2 if width == 1 && choices.below(4) == 3 => {
                let op = choices.pick(&[FEq, FLt, FLe, FUnordered]);
                let width = choices.pick(&[32, 64]);
                Expr::binary(op, inner(choices, width), inner(choices, width))
            }
            2 if matches!(width, 32 | 64) => {
                let op = choices.pick(&[FAdd, FSub, FMul, FDiv, FRem]);
                Expr::binary(op, inner(choices, width), inner(choices, width))
            }
            2 if width == 1 => {
                let op = choices.pick(&[Eq, Ne, Ult, Ule, Slt, Sle]);
                let width = choices.pick(WIDTHS);
                Expr::binary(op, inner(choices, width), inner(choices, width))
            }
            3 => {
                let whole = choices.below(129 - width) + width;
                let low = choices.below(whole - width + 1);
                inner(choices, whole).extract(low, width)
            }
            4 if width > 1 => {
                let low = choices.below(width - 1) + 1;
                inner(choices, width - low).concat(inner(choices, low))
            }
            5 => {
                let narrow = choices.below(width) + 1;
                let value = inner(choices, narrow);
                match choices.below(2) {
                    0 => value.zero_extend(width),
                    _ => value.sign_extend(width),
                }
            }
            6 => {
                let condition = inner(choices, 1);
                condition.select(inner(choices, width), inner(choices, width))
            }
            _ => {
                let op = choices
                    .pick(&[Add, Sub, Mul, UDiv, SDiv, URem, SRem, And, Or, Xor, Shl, LShr, AShr]);
                Expr::binary(op, inner(choices, width), inner(choices, width))
            }
        }
    }

    fn leaf(&self, choices: &mut Choices, width: u32) -> Expr {
        let pointer = width == self.program.pointer_width;
        match (choices.below(4), self.var(choices, width)) {
            (1, Some(var)) => Expr::Var(var),
            (2, _) if pointer && !self.program.globals.is_empty() => {
                let count = self.program.globals.len() as u32;
                Expr::Address(GlobalId(choices.below(count)))
            }
            (3, _) if pointer => {
                let count = self.program.functions.len() as u32;
                Expr::FunctionAddress(FunctionId(choices.below(count)))
            }
            _ => {
                let high = u128::from(choices.below(u32::MAX)) << 96;
                Expr::Const(Bits::new(width, high | u128::from(choices.below(u32::MAX))))
            }
        }
    }

    fn address(&self, choices: &mut Choices) -> Expr {
        self.expr(choices, self.program.pointer_width, 2)
    }

    fn args(&self, choices: &mut Choices, widths: &[u32]) -> Vec<Expr> {
        let args = widths.iter().map(|width| self.expr(choices, *width, 1));
        args.collect()
    }

    fn blocks(&self, choices: &mut Choices) -> Vec<Block> {
        let count = choices.below(4) + 1;
        let blocks = (0..count).map(|number| {
            let insts = (0..choices.below(8))
                .filter_map(|_| self.inst(choices))
                .map(|kind| Inst { kind, span: Span::default() })
                .collect();
            Block {
                label: name(choices, "b", number as usize),
                insts,
                terminator: self.terminator(choices, count),
                terminator_span: Span::default(),
            }
        });
        blocks.collect()
    }

    fn terminator(&self, choices: &mut Choices, blocks: u32) -> Terminator {
        match choices.below(4) {
            1 => Terminator::Jump(BlockId(choices.below(blocks))),
            2 => Terminator::Branch {
                condition: self.expr(choices, 1, 3),
                then: BlockId(choices.below(blocks)),
                otherwise: BlockId(choices.below(blocks)),
                join: choices.maybe(|choices| BlockId(choices.below(blocks))),
            },
            3 => Terminator::Exit,
            _ => {
                let result = self.function.and_then(|function| function.result);
                Terminator::Return(result.map(|width| self.expr(choices, width, 3)))
            }
        }
    }

    /// An instruction, unless there is no variable of the width it needs.
    fn inst(&self, choices: &mut Choices) -> Option<InstKind> {
        let size = choices.pick(SIZES);
        let address = self.address(choices);
        let value = self.expr(choices, size.bits(), 2);
        let dst = self.var(choices, size.bits());
        let flag = self.var(choices, 1);
        let pointer = self.var(choices, self.program.pointer_width);
        let kind = choices.pick(&[AllocKind::Heap, AllocKind::Stack]);
        let number = self.var(choices, 32);
        let tags = tags(choices);
        Some(match choices.below(23) {
            0 => InstKind::Fence { tags },
            1 => {
                let (dst, width) = self.any_var(choices)?;
                let value = self.expr(choices, width, 5);
                InstKind::Assign { dst, value }
            }
            2 => InstKind::Load { dst: dst?, address, size, tags },
            3 => InstKind::Store { address, value, size, tags },
            4 => InstKind::Rmw {
                dst: choices.maybe(|_| dst).flatten(),
                address,
                op: rmw_op(choices),
                operand: value,
                size,
                write_tags: other_tags(choices, &tags),
                read_tags: tags,
            },
            5 => InstKind::Cas {
                dst: choices.maybe(|_| dst).flatten(),
                ok: choices.maybe(|_| flag).flatten(),
                address,
                expected: self.expr(choices, size.bits(), 1),
                desired: value,
                size,
                write_tags: other_tags(choices, &tags),
                fail_tags: other_tags(choices, &tags),
                read_tags: tags,
                weak: choices.below(2) == 1,
            },
            6 => InstKind::LoadLinked { dst: dst?, address, size, tags },
            7 => InstKind::StoreConditional { status: flag?, address, value, size, tags },
            8 => {
                let function = FunctionId(choices.below(self.program.functions.len() as u32));
                InstKind::Spawn {
                    dst: choices.maybe(|_| number).flatten(),
                    callee: Callee::Direct(function),
                    args: self.args(choices, &params(self.program, function)),
                }
            }
            9 => InstKind::Join { thread: self.expr(choices, 32, 2) },
            10 => InstKind::Wait { condition: self.expr(choices, 1, 3) },
            11 => InstKind::ThreadId { dst: number? },
            12 => {
                let (dst, width) = self.any_var(choices)?;
                InstKind::Choose { dst, below: self.expr(choices, width, 2) }
            }
            13 => InstKind::Alloc {
                dst: pointer?,
                size: self.expr(choices, self.program.pointer_width, 2),
                align: 1 << choices.below(5),
                kind,
                zeroed: choices.below(2) == 1,
                shape: None,
            },
            14 => InstKind::Free { address, kind },
            21 => InstKind::HeapSize { dst: pointer?, address },
            15 => InstKind::Assume { condition: self.expr(choices, 1, 3) },
            16 => InstKind::Assert {
                condition: self.expr(choices, 1, 3),
                message: choices.pick(ODD_NAMES).to_string(),
                property: choices.pick(&Property::ALL),
            },
            20 => InstKind::Unsupported { what: choices.pick(ODD_NAMES).to_string() },
            17 => InstKind::Nondet { dst: self.any_var(choices)?.0 },
            18 => InstKind::AtomicBegin,
            19 => InstKind::AtomicEnd,
            _ => self.call(choices, dst),
        })
    }

    fn call(&self, choices: &mut Choices, dst: Option<VarId>) -> InstKind {
        let id = FunctionId(choices.below(self.program.functions.len() as u32));
        let result = self.program.functions[id.0 as usize].result;
        match choices.below(3) {
            0 => InstKind::Call {
                dst: result.and_then(|width| self.var(choices, width)),
                callee: Callee::Direct(id),
                args: self.args(choices, &params(self.program, id)),
            },
            1 => InstKind::Call {
                dst,
                callee: Callee::Indirect(self.address(choices)),
                args: self.args(choices, &[32, 8]),
            },
            _ => InstKind::Call {
                dst,
                callee: Callee::External(choices.pick(ODD_NAMES).to_string()),
                args: self.args(choices, &[64]),
            },
        }
    }
}

fn rmw_op(choices: &mut Choices) -> RmwOp {
    use RmwOp::*;
    choices.pick(&[Swap, Add, Sub, And, AndNot, Nand, Or, Xor, SMin, SMax, UMin, UMax])
}

fn tags(choices: &mut Choices) -> Tags {
    let words = ["acq", "DMB.SY", "Rcu-lock", "two words", "load", "X", "-", "5"];
    let count = choices.below(4);
    let picked: Vec<&str> = (0..count).map(|_| choices.pick(&words)).collect();
    Tags::new(picked)
}

fn other_tags(choices: &mut Choices, tags: &Tags) -> Tags {
    match choices.below(3) {
        0 => tags.clone(),
        1 => Tags::none(),
        _ => self::tags(choices),
    }
}
