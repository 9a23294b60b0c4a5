//! Which variables matter where a thread stands: at any instruction, for the innermost call, and behind
//! the call for the others. `machine` knows that for the operations at which threads stand elsewhere;
//! here they also stand at the heads of loops and in the middle of long computations.
//!
//! A variable is live if it may be read before it is written (A. Aho, M. Lam, R. Sethi, J. Ullman,
//! Compilers, 2007, section 9.2.5).

use parallax_machine::{Live, Site};
use parallax_program::{Block, Expr, Function, InstKind, Program, Terminator, VarId};

pub struct Points {
    calls: Live,
    /// By function, block and position, the end of the block included.
    points: Vec<Vec<Vec<Box<[u32]>>>>,
}

impl Points {
    pub fn of(program: &Program) -> Points {
        Points { calls: Live::of(program), points: program.functions.iter().map(points).collect() }
    }

    /// The variables that matter to a call that stands there; `is_innermost` says that it runs, and
    /// does not wait for another.
    pub fn at(&self, site: Site, is_innermost: bool) -> &[u32] {
        match is_innermost {
            true => {
                let block = &self.points[site.function.0 as usize][site.block.0 as usize];
                block.get(site.index as usize).map_or(&[], |vars| vars)
            }
            false => self.calls.at(site),
        }
    }
}

type Set = Vec<bool>;

fn points(function: &Function) -> Vec<Vec<Box<[u32]>>> {
    let mut entries: Vec<Set> = vec![vec![false; function.vars.len()]; function.blocks.len()];
    loop {
        let mut changes = false;
        for (number, block) in function.blocks.iter().enumerate().rev() {
            let mut live = at_end(function, block, &entries);
            block.insts.iter().rev().for_each(|inst| pass(&inst.kind, &mut live));
            if live != entries[number] {
                entries[number] = live;
                changes = true;
            }
        }
        if !changes {
            break;
        }
    }
    let block = |block: &Block| {
        let mut live = at_end(function, block, &entries);
        let mut all = vec![members(&live)];
        for inst in block.insts.iter().rev() {
            pass(&inst.kind, &mut live);
            all.push(members(&live));
        }
        all.reverse();
        all
    };
    function.blocks.iter().map(block).collect()
}

fn members(live: &Set) -> Box<[u32]> {
    let members = live.iter().enumerate().filter(|(_, is_live)| **is_live);
    members.map(|(var, _)| var as u32).collect()
}

/// What is live at the terminator of a block.
fn at_end(function: &Function, block: &Block, entries: &[Set]) -> Set {
    let mut live = vec![false; function.vars.len()];
    let mut join = |target: usize| {
        live.iter_mut().zip(&entries[target]).for_each(|(live, other)| *live |= other);
    };
    match &block.terminator {
        Terminator::Jump(target) => join(target.0 as usize),
        Terminator::Branch { condition, then, otherwise, .. } => {
            join(then.0 as usize);
            join(otherwise.0 as usize);
            reads(condition, &mut live);
        }
        Terminator::Return(Some(value)) => reads(value, &mut live),
        Terminator::Return(None) | Terminator::Exit => {}
    }
    live
}

/// From behind an instruction to before it.
fn pass(kind: &InstKind, live: &mut Set) {
    for var in written(kind).into_iter().flatten() {
        live[var.0 as usize] = false;
    }
    kind.for_each_expr(&mut |expr| reads(expr, live));
}

fn written(kind: &InstKind) -> [Option<VarId>; 2] {
    match kind {
        InstKind::Assign { dst, .. }
        | InstKind::Load { dst, .. }
        | InstKind::LoadLinked { dst, .. }
        | InstKind::StoreConditional { status: dst, .. }
        | InstKind::ThreadId { dst }
        | InstKind::Alloc { dst, .. }
        | InstKind::HeapSize { dst, .. }
        | InstKind::Nondet { dst }
        | InstKind::Choose { dst, .. } => [Some(*dst), None],
        InstKind::Rmw { dst, .. } | InstKind::Spawn { dst, .. } | InstKind::Call { dst, .. } => {
            [*dst, None]
        }
        InstKind::Cas { dst, ok, .. } => [*dst, *ok],
        _ => [None, None],
    }
}

fn reads(expr: &Expr, live: &mut Set) {
    match expr {
        Expr::Const(_) | Expr::Address(_) | Expr::FunctionAddress(_) => {}
        Expr::Var(var) => live[var.0 as usize] = true,
        Expr::Unary(_, value)
        | Expr::Extract { value, .. }
        | Expr::ZeroExtend { value, .. }
        | Expr::SignExtend { value, .. } => reads(value, live),
        Expr::Binary(_, left, right) | Expr::Concat { high: left, low: right } => {
            reads(left, live);
            reads(right, live);
        }
        Expr::Select { condition, then, otherwise } => {
            reads(condition, live);
            reads(then, live);
            reads(otherwise, live);
        }
    }
}
