//! Putting the body of a small function in place of a call. The events of the body then stand at
//! the place of the call, which is the place that a person knows, and no frame is needed for it.
//! Functions of the program itself that are put in place of their calls keep their own places and
//! names.

use parallax_program::{
    Bits, Block, BlockId, Expr, Function, Inst, InstKind, Span, Terminator, Var, VarId,
};

use crate::rewrite;

/// Bodies of more instructions are called.
const LARGEST: usize = 16;

pub(crate) fn is_small(function: &Function) -> bool {
    function.blocks.iter().map(|block| block.insts.len() + 1).sum::<usize>() <= LARGEST
}

/// A place in a function, by block and instruction.
#[derive(Clone, Copy)]
pub(crate) struct At {
    pub block: usize,
    pub index: usize,
}

/// Whose places, and whose names of variables, a body has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Places {
    OfTheCall,
    ItsOwn,
}

/// Replaces the instruction there, a call of `callee` with these arguments, by the body. What
/// came after the call in its block goes on in a block at the end, if the body branches.
pub(crate) fn inline(
    caller: &mut Function,
    at: At,
    callee: Function,
    args: Vec<Expr>,
    dst: Option<VarId>,
    places: Places,
) {
    let body = Body::new(caller, at, &callee, dst, places);
    let mut insts = body.entry(args, &callee);
    let block = &mut caller.blocks[at.block];
    let mut rest = block.insts.split_off(at.index);
    rest.remove(0);
    block.insts.append(&mut insts);

    let mut blocks = callee.blocks.into_iter().map(|block| body.block(block));
    let Some(first) = blocks.next() else {
        block.insts.append(&mut rest);
        return;
    };
    let others: Vec<_> = blocks.collect();
    if others.is_empty() && first.terminator == Terminator::Jump(body.end) {
        block.insts.extend(first.insts.into_iter().chain(rest));
        return;
    }
    let terminator = std::mem::replace(&mut block.terminator, Terminator::Jump(body.first));
    let terminator_span = std::mem::replace(&mut block.terminator_span, body.span);
    caller.blocks.push(first);
    caller.blocks.extend(others);
    let label = format!("after.{}", body.end.0);
    caller.blocks.push(Block { label, insts: rest, terminator, terminator_span });
}

/// How a body is renumbered on its way into the caller.
struct Body {
    first_var: u32,
    /// The block that the entry becomes …
    first: BlockId,
    /// … and the one that returns lead to.
    end: BlockId,
    /// What the body's result goes to, and how wide that and the result are.
    result: Option<(VarId, u32, u32)>,
    span: Span,
    places: Places,
}

impl Body {
    /// Makes room for the variables of the callee.
    fn new(
        caller: &mut Function,
        at: At,
        callee: &Function,
        dst: Option<VarId>,
        places: Places,
    ) -> Body {
        let first_var = caller.vars.len() as u32;
        let wanted = dst.map(|dst| (dst, caller.vars[dst.0 as usize].width));
        for var in &callee.vars {
            let number = caller.vars.len();
            let name = match places {
                Places::ItsOwn if !var.name.starts_with('%') => format!("{}.{number}", var.name),
                _ => format!("%{number}"),
            };
            caller.vars.push(Var { name, width: var.width });
        }
        let first = caller.blocks.len() as u32;
        Body {
            first_var,
            first: BlockId(first),
            end: BlockId(first + callee.blocks.len() as u32),
            result: wanted.zip(callee.result).map(|((dst, wide), result)| (dst, wide, result)),
            span: caller.blocks[at.block].insts[at.index].span,
            places,
        }
    }

    fn assign(&self, dst: VarId, value: Expr) -> Inst {
        Inst { kind: InstKind::Assign { dst, value }, span: self.span }
    }

    fn var(&self, var: VarId) -> VarId {
        VarId(self.first_var + var.0)
    }

    /// Gives the parameters their values, and 0 to the other variables, as at every call.
    fn entry(&self, args: Vec<Expr>, callee: &Function) -> Vec<Inst> {
        let params = callee.params as usize;
        let zeros = callee
            .vars
            .iter()
            .enumerate()
            .skip(params)
            .filter(|(number, _)| !written_first(callee, VarId(*number as u32)));
        let zeros = zeros.map(|(number, var)| (number, Expr::Const(Bits::zero(var.width))));
        let values = args.into_iter().enumerate().chain(zeros);
        values.map(|(number, value)| self.assign(self.var(VarId(number as u32)), value)).collect()
    }

    fn block(&self, mut block: Block) -> Block {
        rewrite::block_leaves(&mut block, &mut |leaf| {
            if let Expr::Var(var) = leaf {
                *var = self.var(*var);
            }
        });
        for inst in &mut block.insts {
            if self.places == Places::OfTheCall {
                inst.span = self.span;
            }
            rewrite::results(&mut inst.kind).into_iter().for_each(|var| *var = self.var(*var));
        }
        block.label = format!("{}.{}", block.label, self.first.0);
        if self.places == Places::OfTheCall {
            block.terminator_span = self.span;
        }
        self.end_block(&mut block);
        block
    }

    fn end_block(&self, block: &mut Block) {
        let renumber = |target: &mut BlockId| target.0 += self.first.0;
        match &mut block.terminator {
            Terminator::Jump(target) => renumber(target),
            Terminator::Branch { then, otherwise, join, .. } => {
                renumber(then);
                renumber(otherwise);
                join.iter_mut().for_each(renumber);
            }
            Terminator::Return(value) => {
                if let (Some((dst, wide, result)), Some(value)) = (self.result, value.take()) {
                    block.insts.push(self.assign(dst, value.resize(result, wide)));
                }
                block.terminator = Terminator::Jump(self.end);
            }
            Terminator::Exit => {}
        }
    }
}

/// Whether the first block writes the variable before anything reads it.
fn written_first(function: &Function, var: VarId) -> bool {
    let Some(entry) = function.blocks.first() else {
        return false;
    };
    for inst in &entry.insts {
        let mut kind = inst.kind.clone();
        let mut read = false;
        for expr in rewrite::expressions(&mut kind) {
            rewrite::leaves(expr, &mut |leaf| read |= *leaf == Expr::Var(var));
        }
        if read {
            return false;
        }
        if rewrite::results(&mut kind).contains(&&mut VarId(var.0)) {
            return true;
        }
    }
    false
}
