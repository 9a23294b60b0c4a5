//! What the tests of this folder share: lowering a few instructions, and running them on their
//! own with memory that remembers what was stored.

use std::collections::HashMap;

use parallax_program::{
    BinaryOp, Bits, BlockId, Expr, Function, FunctionBuilder, InstKind, SourceFile, Span,
    Terminator, UnaryOp, VarId,
};

use super::AArch64;
use crate::asm::{AsmLine, Globals, Isa, ThreadBuilder};

/// Lowers instructions and labels (`L:`).
fn function(lines: &[&str]) -> Result<Function, String> {
    let text = lines.join("\n");
    let source = SourceFile::new("t", &text);
    let mut globals = Globals::default();
    let mut thread = ThreadBuilder {
        function: FunctionBuilder::new("P0"),
        number: 0,
        globals: &mut globals,
        source: &source,
    };
    let mut start = 0;
    for text in lines {
        let span = Span::new(start, start + text.len());
        start += text.len() + 1;
        match text.strip_suffix(':') {
            Some(label) => assert!(thread.function.place_label(label)),
            None => {
                let lowered = AArch64.lower(AsmLine { text, span }, &mut thread);
                lowered.map_err(|error| {
                    let place = error.location.map_or("nowhere".into(), |l| l.to_string());
                    format!("{place}: {}", error.message)
                })?;
            }
        }
    }
    Ok(thread.function.finish())
}

/// The instructions of all blocks, in order.
pub fn lowered(lines: &[&str]) -> Vec<InstKind> {
    let function = function(lines).unwrap();
    let insts = function.blocks.into_iter().flat_map(|block| block.insts);
    insts.map(|inst| inst.kind).collect()
}

/// The error in an instruction: place and message.
pub fn error(line: &str) -> String {
    function(&[line]).unwrap_err()
}

/// A thread that has run.
pub struct After {
    function: Function,
    vars: Vec<Bits>,
    memory: HashMap<u64, u8>,
    /// Of the accesses, in order.
    pub addresses: Vec<u64>,
}

/// Runs a thread alone, from the given registers.
pub fn run(lines: &[&str], start: &[(&str, u64)]) -> After {
    let function = function(lines).unwrap();
    let vars = function.vars.iter().map(|var| {
        let value = start.iter().find(|(name, _)| *name == var.name);
        Bits::new(var.width, value.map_or(0, |(_, value)| (*value).into()))
    });
    let mut after = After {
        vars: vars.collect(),
        function,
        memory: HashMap::new(),
        addresses: Vec::new(),
    };
    let mut next = Some(BlockId(0));
    while let Some(block) = next {
        next = after.run_block(block);
    }
    after
}

impl After {
    pub fn register(&self, name: &str) -> u64 {
        let position = self.function.vars.iter().position(|var| var.name == name);
        position.map_or(0, |position| self.vars[position].unsigned() as u64)
    }

    fn run_block(&mut self, id: BlockId) -> Option<BlockId> {
        let block = self.function.blocks[id.0 as usize].clone();
        block
            .insts
            .iter()
            .for_each(|inst| self.run_inst(&inst.kind));
        match &block.terminator {
            Terminator::Jump(target) => Some(*target),
            Terminator::Branch {
                condition,
                then,
                otherwise,
                ..
            } => Some(if self.eval(condition).is_zero() {
                *otherwise
            } else {
                *then
            }),
            Terminator::Return(_) | Terminator::Exit => None,
        }
    }

    fn run_inst(&mut self, kind: &InstKind) {
        match kind {
            InstKind::Assign { dst, value } => self.set(*dst, self.eval(value)),
            InstKind::Load {
                dst, address, size, ..
            } => {
                let at = self.access(address);
                let bytes = (0..size.bytes())
                    .rev()
                    .map(|i| self.memory.get(&(at + u64::from(i))));
                let value = bytes.fold(0, |value, byte| {
                    value << 8 | u128::from(byte.copied().unwrap_or(0))
                });
                self.set(*dst, Bits::new(size.bits(), value));
            }
            InstKind::Store {
                address,
                value,
                size,
                ..
            } => {
                let at = self.access(address);
                let value = self.eval(value);
                assert_eq!(value.width(), size.bits());
                for i in 0..size.bytes() {
                    let byte = value.extract(8 * i, 8).unsigned() as u8;
                    self.memory.insert(at + u64::from(i), byte);
                }
            }
            other => panic!("not run alone: {other:?}"),
        }
    }

    fn access(&mut self, address: &Expr) -> u64 {
        let address = self.eval(address);
        assert_eq!(address.width(), 64);
        self.addresses.push(address.unsigned() as u64);
        address.unsigned() as u64
    }

    fn set(&mut self, var: VarId, value: Bits) {
        let slot = &mut self.vars[var.0 as usize];
        assert_eq!(slot.width(), value.width());
        *slot = value;
    }

    fn eval(&self, expr: &Expr) -> Bits {
        match expr {
            Expr::Const(bits) => *bits,
            Expr::Var(var) => self.vars[var.0 as usize],
            Expr::Unary(op, value) => unary(*op, self.eval(value)),
            Expr::Binary(op, left, right) => binary(*op, self.eval(left), self.eval(right)),
            Expr::Extract { low, width, value } => {
                let value = self.eval(value);
                assert!(low + width <= value.width());
                value.extract(*low, *width)
            }
            Expr::Concat { high, low } => self.eval(high).concat(self.eval(low)),
            Expr::ZeroExtend { width, value } => self.eval(value).zero_extend(*width),
            Expr::SignExtend { width, value } => self.eval(value).sign_extend(*width),
            Expr::Select {
                condition,
                then,
                otherwise,
            } => {
                let chosen = if self.eval(condition).is_zero() {
                    otherwise
                } else {
                    then
                };
                self.eval(chosen)
            }
            Expr::Address(_) | Expr::FunctionAddress(_) => panic!("no addresses here: {expr:?}"),
        }
    }
}

fn unary(op: UnaryOp, value: Bits) -> Bits {
    let width = value.width();
    match op {
        UnaryOp::Not => Bits::new(width, !value.unsigned()),
        UnaryOp::LeadingZeros => {
            let unused = 128 - width;
            Bits::new(width, (value.unsigned().leading_zeros() - unused).into())
        }
        other => panic!("not used: {other:?}"),
    }
}

fn binary(op: BinaryOp, left: Bits, right: Bits) -> Bits {
    let width = left.width();
    assert_eq!(width, right.width(), "{op:?}");
    let (a, b) = (left.unsigned(), right.unsigned());
    let (sa, sb) = (left.to_signed(), right.to_signed());
    let amount = u32::try_from(b).unwrap_or(u32::MAX);
    match op {
        BinaryOp::Add => Bits::new(width, a.wrapping_add(b)),
        BinaryOp::Sub => Bits::new(width, a.wrapping_sub(b)),
        BinaryOp::Mul => Bits::new(width, a.wrapping_mul(b)),
        BinaryOp::UDiv => Bits::new(width, a.checked_div(b).unwrap_or(u128::MAX)),
        BinaryOp::SDiv => Bits::signed(width, sa.checked_div(sb).unwrap_or(-1)),
        BinaryOp::And => Bits::new(width, a & b),
        BinaryOp::Or => Bits::new(width, a | b),
        BinaryOp::Xor => Bits::new(width, a ^ b),
        BinaryOp::Shl if amount < width => Bits::new(width, a << amount),
        BinaryOp::LShr if amount < width => Bits::new(width, a >> amount),
        BinaryOp::AShr => Bits::signed(width, sa >> amount.min(width - 1)),
        BinaryOp::Shl | BinaryOp::LShr => Bits::zero(width),
        BinaryOp::Eq => Bits::bool(a == b),
        BinaryOp::Ne => Bits::bool(a != b),
        other => panic!("not used: {other:?}"),
    }
}
