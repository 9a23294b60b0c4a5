//! Words as integers.
//!
//! Values become words of 128 bits with a sign, so wide that what structures compute with small
//! numbers never leaves them, and a solver can take them for integers without bounds. What may
//! be anything is not negative, as words are not.

use parallax_program::{
    AccessSize, BinaryOp, Bits, Expr, Global, Inst, InstKind, Program, Terminator, VarId,
};

use super::WIDTH;

/// Bits of a word that stands for an integer.
const INTEGER: u32 = 128;

/// The program of structures, with integers for its words.
pub fn with_integers(mut program: Program) -> Program {
    program.globals.iter_mut().for_each(widen_global);
    for function in &mut program.functions {
        for var in &mut function.vars {
            var.width = wide(var.width);
        }
        let vars = &function.vars;
        let width = |var: VarId| vars.get(var.0 as usize).map(|var| var.width);
        for block in &mut function.blocks {
            let mut insts = Vec::with_capacity(block.insts.len());
            for mut inst in block.insts.drain(..) {
                widen_inst(&mut inst.kind);
                let span = inst.span;
                let natural = match inst.kind {
                    InstKind::Nondet { dst } if width(dst) == Some(INTEGER) => {
                        let zero = Expr::constant(INTEGER, 0);
                        Some(Expr::binary(BinaryOp::Sle, zero, Expr::Var(dst)))
                    }
                    _ => None,
                };
                insts.push(inst);
                let natural = natural.map(|condition| InstKind::Assume { condition });
                insts.extend(natural.map(|kind| Inst { kind, span }));
            }
            block.insts = insts;
            if let Terminator::Branch { condition, .. } = &mut block.terminator {
                widen(condition);
            }
        }
    }
    program
}

fn wide(width: u32) -> u32 {
    if width == WIDTH { INTEGER } else { width }
}

fn widen_global(global: &mut Global) {
    let bytes = INTEGER / 8;
    (global.size, global.align) = (u64::from(bytes), bytes);
    for cell in &mut global.init {
        cell.width = wide(cell.width);
        widen(&mut cell.value);
    }
}

/// The numbers of threads stay what they are.
fn widen_inst(kind: &mut InstKind) {
    match kind {
        InstKind::Assign { value, .. } => widen(value),
        InstKind::Load { address, size, .. } | InstKind::LoadLinked { address, size, .. } => {
            widen(address);
            *size = AccessSize::QUAD;
        }
        InstKind::Store { address, value, size, .. }
        | InstKind::StoreConditional { address, value, size, .. }
        | InstKind::Rmw { address, operand: value, size, .. } => {
            widen(address);
            widen(value);
            *size = AccessSize::QUAD;
        }
        InstKind::Cas { address, expected, desired, size, .. } => {
            [address, expected, desired].into_iter().for_each(widen);
            *size = AccessSize::QUAD;
        }
        InstKind::Assume { condition } | InstKind::Assert { condition, .. } => widen(condition),
        _ => {}
    }
}

/// Comparisons are with sign: integers may be less than 0.
fn widen(expr: &mut Expr) {
    match expr {
        Expr::Const(bits) if bits.width() == WIDTH => *bits = Bits::new(INTEGER, bits.unsigned()),
        Expr::Unary(_, value) | Expr::Extract { value, .. } => widen(value),
        Expr::Binary(op, left, right) => {
            *op = match *op {
                BinaryOp::Ult => BinaryOp::Slt,
                BinaryOp::Ule => BinaryOp::Sle,
                other => other,
            };
            widen(left);
            widen(right);
        }
        Expr::ZeroExtend { width, value } => {
            *width = wide(*width);
            widen(value);
        }
        Expr::Select { condition, then, otherwise } => {
            widen(condition);
            widen(then);
            widen(otherwise);
        }
        _ => {}
    }
}
