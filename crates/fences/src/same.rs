//! Whether two programs do the same, instruction by instruction, wherever these are in the source.
//!
//! A fence that is not there may leave a block behind in which nothing happens. So the two are
//! walked through side by side, and jumps are followed as if they were nothing. Assertions say the
//! line that they are on, which may be another one when there are more lines before it.

use std::collections::HashSet;

use parallax_program::{BlockId, Expr, Function, Inst, InstKind, Program, Terminator};

pub fn is_same_program(a: &Program, b: &Program) -> bool {
    a.functions.len() == b.functions.len()
        && a.functions.iter().zip(&b.functions).all(|functions| is_same_function(a, b, functions))
}

/// A place between instructions.
type Cursor = (u32, usize);

fn is_same_function(one: &Program, two: &Program, (a, b): (&Function, &Function)) -> bool {
    let lines = |first: &Inst, second: &Inst| {
        let line = |program: &Program, inst: &Inst| program.source.location(inst.span).line;
        (line(one, first), line(two, second))
    };
    if a.name != b.name || a.params != b.params || a.result != b.result {
        return false;
    }
    let mut seen: HashSet<(Cursor, Cursor)> = HashSet::new();
    let mut left = vec![((0, 0), (0, 0))];
    while let Some((one, two)) = left.pop() {
        let (one, two) = match (settled(a, one), settled(b, two)) {
            (Some(one), Some(two)) => (one, two),
            // Neither ever does anything again.
            (None, None) => continue,
            _ => return false,
        };
        if !seen.insert((one, two)) {
            continue;
        }
        let same = match (instruction(a, one), instruction(b, two)) {
            (Some(first), Some(second)) => {
                left.push(((one.0, one.1 + 1), (two.0, two.1 + 1)));
                first.kind == second.kind || differ_by_line(first, second, &lines)
            }
            (None, None) => is_same_end(a, b, (one.0, two.0), &mut left),
            _ => false,
        };
        if !same {
            return false;
        }
    }
    true
}

fn instruction(function: &Function, (block, index): Cursor) -> Option<&Inst> {
    function.blocks.get(block as usize)?.insts.get(index)
}

/// Whether two instructions differ only in that they compute with the lines that they are on.
fn differ_by_line(a: &Inst, b: &Inst, lines: &dyn Fn(&Inst, &Inst) -> (u32, u32)) -> bool {
    let (line, line_too) = lines(a, b);
    let is = |expr: &Expr, line: u32| matches!(expr, Expr::Const(bits) if bits.unsigned() == u128::from(line));
    let same = |(one, two): (&Expr, &Expr)| one == two || is(one, line) && is(two, line_too);
    match (&a.kind, &b.kind) {
        (InstKind::Assign { dst, value }, InstKind::Assign { dst: dst_too, value: value_too }) => {
            dst == dst_too && same((value, value_too))
        }
        (
            InstKind::Call { dst, callee, args },
            InstKind::Call { dst: dst_too, callee: callee_too, args: args_too },
        ) => {
            dst == dst_too
                && callee == callee_too
                && args.len() == args_too.len()
                && args.iter().zip(args_too).all(same)
        }
        _ => false,
    }
}

/// Where something happens next. None in an endless loop of jumps.
fn settled(function: &Function, mut at: Cursor) -> Option<Cursor> {
    for _ in 0..=function.blocks.len() {
        let block = function.blocks.get(at.0 as usize)?;
        match block.terminator {
            Terminator::Jump(BlockId(target)) if at.1 >= block.insts.len() => at = (target, 0),
            _ => return Some(at),
        }
    }
    None
}

fn is_same_end(
    a: &Function,
    b: &Function,
    (one, two): (u32, u32),
    left: &mut Vec<(Cursor, Cursor)>,
) -> bool {
    let mut go_on = |one: &BlockId, two: &BlockId| left.push(((one.0, 0), (two.0, 0)));
    match (&a.blocks[one as usize].terminator, &b.blocks[two as usize].terminator) {
        (
            Terminator::Branch { condition, then, otherwise, join },
            Terminator::Branch {
                condition: condition_too,
                then: then_too,
                otherwise: otherwise_too,
                join: join_too,
            },
        ) => {
            go_on(then, then_too);
            go_on(otherwise, otherwise_too);
            if let (Some(join), Some(join_too)) = (join, join_too) {
                go_on(join, join_too);
            }
            condition == condition_too && join.is_some() == join_too.is_some()
        }
        (first, second) => first == second,
    }
}
