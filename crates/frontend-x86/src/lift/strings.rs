//! String instructions, once or repeated. A repeated one is a loop: each element is an access of
//! its own, as the manual has it.

use iced_x86::{Mnemonic, OpKind};
use parallax_program::{AccessSize, Expr, Terminator, VarId};

use super::flags::{self, is_zero};
use super::registers::{DF, RAX, RCX, RDI, RSI, View, ZF};
use super::{Lifted, Step};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Move,
    Store,
    Load,
    Compare,
    Scan,
}

/// One string instruction: what it does to each element.
#[derive(Clone, Copy)]
struct StringStep {
    kind: Kind,
    size: AccessSize,
    /// Width of the pointers and of the count.
    pointers: u32,
}

impl Step<'_> {
    pub fn strings(&mut self) -> Lifted<bool> {
        let Some(step) = self.string_step() else {
            return Ok(false);
        };
        let repeats = self.instruction.has_rep_prefix() || self.instruction.has_repne_prefix();
        match repeats {
            true => self.repeated(step),
            false => self.element(step),
        }
        Ok(true)
    }

    fn string_step(&self) -> Option<StringStep> {
        if !self.instruction.is_string_instruction() {
            return None;
        }
        let (kind, size) = match self.mnemonic() {
            Mnemonic::Movsb => (Kind::Move, AccessSize::BYTE),
            Mnemonic::Movsw => (Kind::Move, AccessSize::HALF),
            Mnemonic::Movsd => (Kind::Move, AccessSize::WORD),
            Mnemonic::Movsq => (Kind::Move, AccessSize::DOUBLE),
            Mnemonic::Stosb => (Kind::Store, AccessSize::BYTE),
            Mnemonic::Stosw => (Kind::Store, AccessSize::HALF),
            Mnemonic::Stosd => (Kind::Store, AccessSize::WORD),
            Mnemonic::Stosq => (Kind::Store, AccessSize::DOUBLE),
            Mnemonic::Lodsb => (Kind::Load, AccessSize::BYTE),
            Mnemonic::Lodsw => (Kind::Load, AccessSize::HALF),
            Mnemonic::Lodsd => (Kind::Load, AccessSize::WORD),
            Mnemonic::Lodsq => (Kind::Load, AccessSize::DOUBLE),
            Mnemonic::Cmpsb => (Kind::Compare, AccessSize::BYTE),
            Mnemonic::Cmpsw => (Kind::Compare, AccessSize::HALF),
            Mnemonic::Cmpsd => (Kind::Compare, AccessSize::WORD),
            Mnemonic::Cmpsq => (Kind::Compare, AccessSize::DOUBLE),
            Mnemonic::Scasb => (Kind::Scan, AccessSize::BYTE),
            Mnemonic::Scasw => (Kind::Scan, AccessSize::HALF),
            Mnemonic::Scasd => (Kind::Scan, AccessSize::WORD),
            Mnemonic::Scasq => (Kind::Scan, AccessSize::DOUBLE),
            _ => return None,
        };
        let narrow = |operand| {
            matches!(
                self.instruction.op_kind(operand),
                OpKind::MemorySegESI | OpKind::MemoryESEDI | OpKind::MemorySegEDI
            )
        };
        let pointers = if narrow(0) || narrow(1) { 32 } else { 64 };
        Some(StringStep { kind, size, pointers })
    }

    fn repeated(&mut self, step: StringStep) {
        let count = View { var: RCX, low: 0, width: step.pointers };
        let builder = self.out.builder();
        let (head, done) = (builder.new_block("repeat"), builder.new_block("repeated"));
        builder.enter(head);
        let left = self.out.read(count);
        self.out.builder().branch(is_zero(left, step.pointers), done);
        self.element(step);
        let less = self.out.read(count) - Expr::constant(step.pointers, 1);
        self.out.write(count, less);
        if matches!(step.kind, Kind::Compare | Kind::Scan) {
            let equal = Expr::Var(ZF);
            let stop = if self.instruction.has_repne_prefix() { equal } else { !equal };
            self.out.builder().branch(stop, done);
        }
        self.out.builder().terminate(Terminator::Jump(head));
        self.out.builder().enter(done);
    }

    fn element(&mut self, step: StringStep) {
        let StringStep { kind, size, .. } = step;
        let width = size.bits();
        let accumulator = View { var: RAX, low: 0, width };
        match kind {
            Kind::Move => {
                let value = self.load_element(step);
                self.store_element(step, value);
            }
            Kind::Store => {
                let value = self.out.read(accumulator);
                self.store_element(step, value);
            }
            Kind::Load => {
                let value = self.load_element(step);
                self.out.write(accumulator, value);
            }
            Kind::Compare | Kind::Scan => {
                let left = match kind {
                    Kind::Compare => self.load_element(step),
                    _ => self.out.read(accumulator),
                };
                let to = self.pointer(step, RDI);
                let right = self.out.load(to, size);
                self.advance(step, RDI);
                let difference = self.out.hold(width, left.clone() - right.clone());
                flags::by_difference(self.out, &left, &right, &difference, width);
            }
        }
    }

    fn load_element(&mut self, step: StringStep) -> Expr {
        let from = self.pointer(step, RSI);
        let from = self.in_segment(from);
        let value = self.out.load(from, step.size);
        self.advance(step, RSI);
        value
    }

    fn store_element(&mut self, step: StringStep, value: Expr) {
        let to = self.pointer(step, RDI);
        self.out.store(to, value, step.size);
        self.advance(step, RDI);
    }

    fn pointer(&self, step: StringStep, var: VarId) -> Expr {
        let view = View { var, low: 0, width: step.pointers };
        self.out.read(view).resize(step.pointers, 64)
    }

    /// Up, or down where the direction flag is set.
    fn advance(&mut self, step: StringStep, var: VarId) {
        let view = View { var, low: 0, width: step.pointers };
        let bytes = i128::from(step.size.bytes());
        let (up, down) = (Expr::signed(view.width, bytes), Expr::signed(view.width, -bytes));
        let next = self.out.read(view) + Expr::Var(DF).select(down, up);
        self.out.write(view, next);
    }
}
