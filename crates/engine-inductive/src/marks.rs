//! Where programs say what their loops keep: calls of a function that does nothing.

use parallax_program::{
    Block, BlockId, Callee, Expr, Function, FunctionId, InstKind, Program, Span, Terminator,
};

/// The function that is called with an invariant.
pub const MARK: &str = "__PARALLAX_invariant";

/// An invariant of the source, which holds where a block starts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mark {
    pub block: BlockId,
    /// One bit.
    pub condition: Expr,
    pub span: Span,
}

/// Takes the marks out of a function. Blocks are cut in two, so that each mark is where a block starts.
pub fn take_marks(program: &Program, function: &mut Function) -> Vec<Mark> {
    let mut marks = Vec::new();
    let mut number = 0;
    while number < function.blocks.len() {
        let next = BlockId(function.blocks.len() as u32);
        let block = &mut function.blocks[number];
        let at = block.insts.iter().position(|inst| mark(program, &inst.kind).is_some());
        let condition = at.and_then(|at| mark(program, &block.insts[at].kind));
        if let (Some(at), Some(condition)) = (at, condition) {
            let mut insts = block.insts.split_off(at);
            let span = insts.remove(0).span;
            let terminator = std::mem::replace(&mut block.terminator, Terminator::Jump(next));
            let label = format!("{}.{}", block.label, next.0);
            let terminator_span = block.terminator_span;
            marks.push(Mark { block: next, condition, span });
            function.blocks.push(Block { label, insts, terminator, terminator_span });
        }
        number += 1;
    }
    marks
}

/// The condition that an instruction marks, if it does.
fn mark(program: &Program, kind: &InstKind) -> Option<Expr> {
    let InstKind::Call { callee: Callee::Direct(FunctionId(callee)), args, .. } = kind else {
        return None;
    };
    let callee = program.functions.get(*callee as usize).filter(|callee| callee.name == MARK)?;
    let width = callee.vars.first().filter(|_| callee.params == 1)?.width;
    Some(args.first()?.clone().ne(Expr::constant(width, 0)))
}
