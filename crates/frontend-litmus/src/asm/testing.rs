//! For the tests of instruction sets: lowers a few lines as one thread, and runs the result
//! alone, by a direct reading of the intermediate language that shares no code with the
//! interpreter.

use std::collections::HashMap;

use parallax_program::{
    BinaryOp, Bits, Diagnostic, Expr, Function, FunctionBuilder, InstKind, SourceFile, Span,
    Terminator, UnaryOp,
};

use super::{AsmLine, Globals, Isa, ThreadBuilder};

/// Lowers the lines of `text`; a line `name:` is a label.
pub fn lower(isa: &dyn Isa, text: &str) -> Result<Function, Diagnostic> {
    let source = SourceFile::new("test", text);
    let mut globals = Globals::default();
    let mut thread = ThreadBuilder {
        function: FunctionBuilder::new("P0"),
        number: 0,
        globals: &mut globals,
        source: &source,
    };
    let base = text.as_ptr() as usize;
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if let Some(label) = line.strip_suffix(':') {
            assert!(thread.function.place_label(label));
            continue;
        }
        let start = line.as_ptr() as usize - base;
        let span = Span::new(start, start + line.len());
        isa.lower(AsmLine { text: line, span }, &mut thread)?;
    }
    assert!(thread.function.missing_labels().is_empty());
    Ok(thread.function.finish())
}

/// Everything emitted besides assignments.
pub fn visible(isa: &dyn Isa, text: &str) -> Vec<InstKind> {
    let function = lower(isa, text).unwrap();
    let insts = function.blocks.into_iter().flat_map(|block| block.insts);
    let kinds = insts.map(|inst| inst.kind);
    kinds.filter(|kind| !matches!(kind, InstKind::Assign { .. })).collect()
}

/// The message of an error, with line and column.
pub fn error(isa: &dyn Isa, text: &str) -> String {
    let error = lower(isa, text).unwrap_err();
    let at = error.location.unwrap();
    format!("{}:{}: {}", at.line, at.column, error.message)
}

/// A thread that ran alone: variables by name, memory by address.
pub struct Machine {
    variables: HashMap<String, Bits>,
    memory: HashMap<u128, Bits>,
}

impl Machine {
    /// Runs the lines with these initial register values; memory starts as zero.
    pub fn run(isa: &dyn Isa, registers: &[(&str, u64)], text: &str) -> Machine {
        let function = lower(isa, text).unwrap();
        let mut machine = Machine { variables: HashMap::new(), memory: HashMap::new() };
        for var in &function.vars {
            let value = Bits::zero(var.width);
            machine.variables.insert(var.name.clone(), value);
        }
        for (name, value) in registers {
            let register = isa.register(name).unwrap();
            let value = Bits::new(register.whole_width, (*value).into());
            machine.variables.insert(register.whole.to_string(), value);
        }
        let mut block = &function.blocks[0];
        loop {
            for inst in &block.insts {
                machine.step(&function, &inst.kind);
            }
            let next = match &block.terminator {
                Terminator::Jump(next) => next,
                Terminator::Branch { condition, then, otherwise, .. } => {
                    match machine.eval(&function, condition).is_zero() {
                        true => otherwise,
                        false => then,
                    }
                }
                Terminator::Return(_) | Terminator::Exit => return machine,
            };
            block = &function.blocks[next.0 as usize];
        }
    }

    pub fn get(&self, name: &str) -> u128 {
        self.variables[name].unsigned()
    }

    /// What an access of that size at the address left there.
    pub fn memory(&self, address: u128) -> Option<Bits> {
        self.memory.get(&address).copied()
    }

    fn step(&mut self, f: &Function, kind: &InstKind) {
        match kind {
            InstKind::Assign { dst, value } => {
                let value = self.eval(f, value);
                let var = &f.vars[dst.0 as usize];
                assert_eq!(var.width, value.width(), "{kind:?}");
                self.variables.insert(var.name.clone(), value);
            }
            InstKind::Load { dst, address, size, .. }
            | InstKind::LoadLinked { dst, address, size, .. } => {
                let address = self.eval(f, address).unsigned();
                let value = self.memory(address).unwrap_or(Bits::zero(size.bits()));
                assert_eq!(value.width(), size.bits());
                self.variables.insert(f.vars[dst.0 as usize].name.clone(), value);
            }
            InstKind::Store { address, value, size, .. } => {
                self.store(f, address, value, size.bits())
            }
            InstKind::StoreConditional { status, address, value, size, .. } => {
                self.store(f, address, value, size.bits());
                self.variables.insert(f.vars[status.0 as usize].name.clone(), Bits::bool(false));
            }
            InstKind::Fence { .. } => {}
            other => panic!("not run here: {other:?}"),
        }
    }

    fn store(&mut self, f: &Function, address: &Expr, value: &Expr, width: u32) {
        let value = self.eval(f, value);
        assert_eq!(value.width(), width);
        self.memory.insert(self.eval(f, address).unsigned(), value);
    }

    fn eval(&self, f: &Function, expr: &Expr) -> Bits {
        let eval = |e| self.eval(f, e);
        match expr {
            Expr::Const(bits) => *bits,
            Expr::Var(var) => self.variables[&f.vars[var.0 as usize].name],
            Expr::Unary(op, value) => {
                let v = eval(value);
                match op {
                    UnaryOp::Neg => Bits::signed(v.width(), -v.to_signed()),
                    UnaryOp::Not => Bits::new(v.width(), !v.unsigned()),
                    UnaryOp::PopCount => Bits::new(v.width(), v.unsigned().count_ones().into()),
                    other => panic!("not run here: {other:?}"),
                }
            }
            Expr::Binary(op, left, right) => binary(*op, eval(left), eval(right)),
            Expr::Extract { low, width, value } => {
                let value = eval(value);
                assert!(low + width <= value.width(), "{expr:?}");
                value.extract(*low, *width)
            }
            Expr::Concat { high, low } => eval(high).concat(eval(low)),
            Expr::ZeroExtend { width, value } => eval(value).zero_extend(*width),
            Expr::SignExtend { width, value } => eval(value).sign_extend(*width),
            Expr::Select { condition, then, otherwise } => match eval(condition).is_zero() {
                true => eval(otherwise),
                false => eval(then),
            },
            Expr::Address(_) | Expr::FunctionAddress(_) => panic!("not run here: {expr:?}"),
        }
    }
}

fn binary(op: BinaryOp, a: Bits, b: Bits) -> Bits {
    assert_eq!(a.width(), b.width(), "{op:?}");
    let w = a.width();
    let (x, y, sx, sy) = (a.unsigned(), b.unsigned(), a.to_signed(), b.to_signed());
    let shift = u32::try_from(y).unwrap_or(u32::MAX);
    match op {
        BinaryOp::Add => Bits::new(w, x.wrapping_add(y)),
        BinaryOp::Sub => Bits::new(w, x.wrapping_sub(y)),
        BinaryOp::Mul => Bits::new(w, x.wrapping_mul(y)),
        BinaryOp::And => Bits::new(w, x & y),
        BinaryOp::Or => Bits::new(w, x | y),
        BinaryOp::Xor => Bits::new(w, x ^ y),
        BinaryOp::Shl => Bits::new(w, if shift >= w { 0 } else { x << shift }),
        BinaryOp::LShr => Bits::new(w, if shift >= w { 0 } else { x >> shift }),
        BinaryOp::AShr => Bits::signed(w, sx >> shift.min(w - 1)),
        BinaryOp::UDiv => Bits::new(w, x.checked_div(y).unwrap_or(u128::MAX)),
        BinaryOp::SDiv => Bits::signed(w, sx.checked_div(sy).unwrap_or(-1)),
        BinaryOp::URem => Bits::new(w, x.checked_rem(y).unwrap_or(x)),
        BinaryOp::SRem => Bits::signed(w, sx.checked_rem(sy).unwrap_or(sx)),
        BinaryOp::Eq => Bits::bool(x == y),
        BinaryOp::Ne => Bits::bool(x != y),
        BinaryOp::Ult => Bits::bool(x < y),
        BinaryOp::Ule => Bits::bool(x <= y),
        BinaryOp::Slt => Bits::bool(sx < sy),
        BinaryOp::Sle => Bits::bool(sx <= sy),
        other => panic!("not run here: {other:?}"),
    }
}
