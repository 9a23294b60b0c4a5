//! Objects of blocks: they live from LLVM's `lifetime.start` to its `lifetime.end`, and are others
//! each time that the block is entered. Arrays of variable length live until the stack is as it was before
//! their block. Objects without such marks live as long as the function.

use parallax_program::{AllocKind, Expr, InstKind, Shape, VarId};

use super::body::Body;
use super::escapes::may_be_kept;
use super::layout::Lowered;
use crate::llvm::{Name, Operation, Value};

/// An object of a block.
pub struct Scoped {
    pub address: VarId,
    pub size: Expr,
    pub align: u64,
    pub shape: Option<Shape>,
}

impl Body<'_> {
    /// Whether an object lives only where the marks say so. One that a loop makes in each round, and
    /// that nothing can point to in the next, is taken for the same each time: rounds that do the
    /// same look the same then.
    pub fn is_scoped(&self, object: &Name) -> bool {
        let marks = |block: usize, mark: &str| {
            self.function.blocks[block].instructions.iter().any(|instruction| {
                let Operation::Call(call) = &instruction.operation else { return false };
                let is_object =
                    |value: &Value| matches!(value, Value::Local(name) if name == object);
                matches!(&call.callee, Value::Global(name) if name.starts_with(mark))
                    && call.args.iter().any(|arg| is_object(&arg.value.value))
            })
        };
        let blocks = 0..self.function.blocks.len();
        let ends = blocks.clone().any(|block| marks(block, "llvm.lifetime.end"));
        let mut begins = blocks.filter(|block| marks(*block, "llvm.lifetime.start")).peekable();
        let is_marked = begins.peek().is_some() && ends;
        let may_last = || self.is_outlived(object) || may_be_kept(self.unit, self.function, object);
        is_marked && (!begins.any(|block| self.can_repeat(block)) || may_last())
    }

    /// Whether a way leads from a block back to it.
    fn can_repeat(&self, block: usize) -> bool {
        let mut seen = vec![false; self.function.blocks.len()];
        let mut open = vec![block];
        while let Some(from) = open.pop() {
            for target in self.targets(from) {
                if target == block {
                    return true;
                }
                if !std::mem::replace(&mut seen[target], true) {
                    open.push(target);
                }
            }
        }
        false
    }

    fn targets(&self, block: usize) -> Vec<usize> {
        let last = self.function.blocks[block].instructions.last();
        let names = last.map(|last| last.operation.targets()).unwrap_or_default();
        names.into_iter().filter_map(|name| self.blocks.get(name).copied()).collect()
    }

    /// `stackrestore`: what was made since the stack was saved, and was not ended in between, ends.
    pub fn restore_stack(&mut self, saved: Option<&Value>) -> Lowered<()> {
        const LOST: &str = "the end of an array of variable length, where it is not seen which";
        let Some(Value::Local(saved)) = saved else { return Err(LOST.to_string()) };
        let places = self.function.blocks.iter().enumerate().flat_map(|(block, it)| {
            it.instructions.iter().enumerate().map(move |(at, inst)| ((block, at), inst))
        });
        let (mut save, mut made) = (None, Vec::new());
        for (place, instruction) in places {
            match (&instruction.operation, &instruction.result) {
                (Operation::Call(call), Some(name)) if name == saved => {
                    let is_save = |name: &Name| name.starts_with("llvm.stacksave");
                    let saves = matches!(&call.callee, Value::Global(name) if is_save(name));
                    save = saves.then_some(place);
                }
                (Operation::Alloca { count: Some(_), .. }, Some(name)) => made.push((place, name)),
                _ => {}
            }
        }
        let save = save.ok_or(LOST)?;
        let since = made.into_iter().filter(|(place, _)| self.comes_first(save, *place));
        let since: Vec<&Name> = since.map(|(_, name)| name).collect();
        for name in since.into_iter().rev() {
            // Lowered before, or on no way that leads here.
            let Some([dst]) = self.vars.get(name).map(Vec::as_slice) else { continue };
            let (dst, nothing) = (*dst, Expr::constant(self.pointer_width(), 0));
            let address = Expr::Var(dst);
            self.builder.emit(InstKind::Free { address, kind: AllocKind::Stack });
            // It is not to be ended once more.
            self.builder.emit(InstKind::Assign { dst, value: nothing });
        }
        Ok(())
    }

    /// Whether each way to a place, a block and a number in it, leads past another one.
    fn comes_first(&self, first: (usize, usize), then: (usize, usize)) -> bool {
        if first.0 == then.0 {
            return first.1 < then.1;
        }
        let mut seen = vec![false; self.function.blocks.len()];
        let mut open = if first.0 == 0 { Vec::new() } else { vec![0] };
        while let Some(from) = open.pop() {
            if from == then.0 {
                return false;
            }
            if !std::mem::replace(&mut seen[from], true) {
                open.extend(self.targets(from).into_iter().filter(|target| *target != first.0));
            }
        }
        true
    }

    /// `lifetime.start` and `lifetime.end`.
    pub fn lifetime(&mut self, stem: &str, object: Option<&Value>) {
        let Some(Value::Local(name)) = object else { return };
        let Some(Scoped { address, size, align, shape }) = self.scoped.get(name) else { return };
        let (address, size, align, shape) = (*address, size.clone(), *align, shape.clone());
        match stem.starts_with("lifetime.start") {
            true => self.allocate(address, size, align, AllocKind::Stack, shape),
            false => {
                let address = Expr::Var(address);
                self.builder.emit(InstKind::Free { address, kind: AllocKind::Stack });
            }
        }
    }
}
