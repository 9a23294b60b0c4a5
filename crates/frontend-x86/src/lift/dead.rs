//! Takes out of a lifted function what nobody looks at: flags that are overwritten before they
//! are used, and temporaries. Machine code computes all flags all the time and looks at few of
//! them, so this is most of what is lifted.
//!
//! By the System V ABI (AMD64 supplement, 3.2.1) no function leaves anything in the status flags,
//! neither for its caller nor for what it calls. Code that looks at them nevertheless, at its
//! entry or after a call, gets an `Unsupported` there.

use parallax_program::{Expr, Function, Inst, InstKind, Terminator, VarId};

use super::fold;
use super::registers::{COUNT, STATUS};

/// Removes assignments to flags and temporaries that have no effect.
pub fn remove_dead(function: &mut Function) {
    let live = Liveness::of(function);
    refuse_foreign_flags(function, &live);
    for number in 0..function.blocks.len() {
        let mut now = live.at_end(function, number);
        let block = &mut function.blocks[number];
        let mut kept = Vec::with_capacity(block.insts.len());
        for mut inst in block.insts.drain(..).rev() {
            if is_dead(&inst.kind, &now) {
                continue;
            }
            forget_result(&mut inst.kind, &now);
            step_back(&inst.kind, &mut now);
            kept.push(inst);
        }
        kept.reverse();
        block.insts = kept;
        let after = live.after(function, number);
        fold::fold(&mut function.blocks[number], &after);
    }
}

/// A set of variables.
pub type Vars = Vec<bool>;

/// For each block, the variables that are used before they are written again.
struct Liveness {
    at_entry: Vec<Vars>,
}

impl Liveness {
    fn of(function: &Function) -> Liveness {
        let none = vec![false; function.vars.len()];
        let mut live = Liveness { at_entry: vec![none; function.blocks.len()] };
        let mut changed = true;
        while changed {
            changed = false;
            for number in (0..function.blocks.len()).rev() {
                let mut now = live.at_end(function, number);
                for inst in function.blocks[number].insts.iter().rev() {
                    if !is_dead(&inst.kind, &now) {
                        step_back(&inst.kind, &mut now);
                    }
                }
                changed |= now != live.at_entry[number];
                live.at_entry[number] = now;
            }
        }
        live
    }

    /// What is live before the terminator of a block.
    fn at_end(&self, function: &Function, block: usize) -> Vars {
        let mut now = self.after(function, block);
        if let Terminator::Branch { condition, .. } = &function.blocks[block].terminator {
            add_used(condition, &mut now);
        }
        now
    }

    /// What is live after the terminator of a block.
    fn after(&self, function: &Function, block: usize) -> Vars {
        let mut now = vec![false; function.vars.len()];
        let mut join = |target: usize| {
            let there = self.at_entry.get(target).into_iter().flatten();
            now.iter_mut().zip(there).for_each(|(now, there)| *now |= there);
        };
        match &function.blocks[block].terminator {
            Terminator::Jump(target) => join(target.0 as usize),
            Terminator::Branch { then, otherwise, .. } => {
                join(then.0 as usize);
                join(otherwise.0 as usize);
            }
            Terminator::Return(_) | Terminator::Exit => see_registers(&mut now),
        }
        now
    }
}

/// Others see all registers but the status flags.
fn see_registers(now: &mut Vars) {
    now.iter_mut().take(COUNT as usize).for_each(|live| *live = true);
    forget_flags(now);
}

fn forget_flags(now: &mut Vars) {
    for flag in STATUS {
        now[flag.0 as usize] = false;
    }
}

fn removable(var: VarId) -> bool {
    var.0 >= COUNT || STATUS.contains(&var)
}

/// Whether an instruction only computes what nobody looks at.
fn is_dead(kind: &InstKind, after: &Vars) -> bool {
    matches!(kind, InstKind::Assign { dst, .. } if removable(*dst) && !after[dst.0 as usize])
}

/// An old value that nobody looks at is not kept.
fn forget_result(kind: &mut InstKind, after: &Vars) {
    if let InstKind::Rmw { dst, .. } = kind
        && dst.is_some_and(|dst| removable(dst) && !after[dst.0 as usize])
    {
        *dst = None;
    }
}

/// From what is live after an instruction to what is live before it.
fn step_back(kind: &InstKind, now: &mut Vars) {
    for var in written(kind) {
        now[var.0 as usize] = false;
    }
    if matches!(kind, InstKind::Call { .. }) {
        see_registers(now);
    }
    kind.for_each_expr(&mut |expr| add_used(expr, now));
}

/// The variables that an instruction assigns.
pub fn written(kind: &InstKind) -> impl Iterator<Item = VarId> {
    use InstKind::*;
    let (first, second) = match kind {
        Assign { dst, .. }
        | Load { dst, .. }
        | LoadLinked { dst, .. }
        | StoreConditional { status: dst, .. }
        | ThreadId { dst }
        | HeapSize { dst, .. }
        | Choose { dst, .. }
        | Alloc { dst, .. }
        | Nondet { dst } => (Some(*dst), None),
        Rmw { dst, .. } | Spawn { dst, .. } | Call { dst, .. } => (*dst, None),
        Cas { dst, ok, .. } => (*dst, *ok),
        _ => (None, None),
    };
    first.into_iter().chain(second)
}

fn add_used(expr: &Expr, now: &mut Vars) {
    for_each_var(expr, &mut |var| now[var.0 as usize] = true);
}

pub fn for_each_var(expr: &Expr, visit: &mut impl FnMut(VarId)) {
    match expr {
        Expr::Const(_) | Expr::Address(_) | Expr::FunctionAddress(_) => {}
        Expr::Var(var) => visit(*var),
        Expr::Unary(_, value)
        | Expr::Extract { value, .. }
        | Expr::ZeroExtend { value, .. }
        | Expr::SignExtend { value, .. } => for_each_var(value, visit),
        Expr::Binary(_, left, right) | Expr::Concat { high: left, low: right } => {
            for_each_var(left, visit);
            for_each_var(right, visit);
        }
        Expr::Select { condition, then, otherwise } => {
            for_each_var(condition, visit);
            for_each_var(then, visit);
            for_each_var(otherwise, visit);
        }
    }
}

/// Says so where flags are used that come from a caller or from a call.
fn refuse_foreign_flags(function: &mut Function, live: &Liveness) {
    let any = |now: &Vars| STATUS.iter().any(|flag| now[flag.0 as usize]);
    let refusal = |what: &str| InstKind::Unsupported { what: what.to_string() };
    let mut calls = Vec::new();
    for number in 0..function.blocks.len() {
        let mut now = live.at_end(function, number);
        for (index, inst) in function.blocks[number].insts.iter().enumerate().rev() {
            if is_dead(&inst.kind, &now) {
                continue;
            }
            if matches!(inst.kind, InstKind::Call { .. }) && any(&now) {
                calls.push((number, index));
            }
            step_back(&inst.kind, &mut now);
        }
    }
    for (number, index) in calls {
        let insts = &mut function.blocks[number].insts;
        let span = insts[index].span;
        let kind = refusal("the use of flags that a called function left");
        insts.insert(index + 1, Inst { kind, span });
    }
    if live.at_entry.first().is_some_and(any)
        && let Some(entry) = function.blocks.first_mut()
    {
        let span = entry.insts.first().map_or(entry.terminator_span, |inst| inst.span);
        let kind = refusal("the use of flags that a caller left");
        entry.insts.insert(0, Inst { kind, span });
    }
}

#[cfg(test)]
mod tests {
    use parallax_program::{Program, SourceFile, parse_program};

    use super::super::registers::registers;
    use super::*;

    /// The lines of a function that sees the registers and has two temporaries, after its dead
    /// parts are gone.
    fn cleaned(lines: &str) -> Vec<String> {
        let mut registered = Program::new("p", 64, SourceFile::new("p", ""));
        registered.registers = registers();
        let text =
            format!("{}fn f() registers {{\nvar t: 64, u: 64\n{lines}\n}}\n", registered.to_text());
        let mut program = parse_program("p", &text).expect("a program");
        remove_dead(&mut program.functions[0]);
        let text = program.to_text();
        let (_, body) = text.split_once("entry:\n").expect("a function");
        let lines = body.lines().map(|line| line.trim().to_string());
        lines.take_while(|line| line != "}").collect()
    }

    #[test]
    fn temporaries_that_are_used_once_disappear() {
        let lines = cleaned("t = rax + rbx\nu = load.8 t\nrcx = u\nreturn");
        assert_eq!(lines, ["rcx = load.8 rax + rbx", "return"]);
    }

    #[test]
    fn cheap_values_are_computed_again() {
        let lines = cleaned("t = rax + 8:64\nu = load.8 t\nstore.8 t, u\nreturn");
        assert_eq!(lines, ["u = load.8 rax + 8:64", "store.8 rax + 8:64, u", "return"]);
    }

    #[test]
    fn a_value_does_not_move_past_what_changes_it() {
        let kept = ["t = rax", "rax = rbx", "rbx = t", "return"];
        assert_eq!(cleaned(&kept.join("\n")), kept);
        let kept = ["t = rax", "call extern f()", "rbx = t", "return"];
        assert_eq!(cleaned(&kept.join("\n")), kept);
        let kept = ["t = rax + rdx + rsi", "rbx = t", "rcx = t", "return"];
        assert_eq!(cleaned(&kept.join("\n")), kept);
        let kept = ["t = rax", "rbx = t", "jump a", "a:", "rcx = t", "return"];
        assert_eq!(cleaned(&kept.join("\n")), kept);
    }

    #[test]
    fn flags_live_until_they_are_written_again() {
        let lines = "zf = rax == 0:64\ncf = 1:1\nzf = rbx == 0:64\nbranch zf, a, b\n\
                     a:\nof = cf\njump b\nb:\nreturn";
        let kept = cleaned(lines);
        assert_eq!(kept, ["zf = rbx == 0:64", "branch zf, a, b", "a:", "jump b", "b:", "return"]);
    }

    #[test]
    fn flags_of_others_are_refused() {
        let at_entry = cleaned("rax = zext(cf, 64)\nreturn");
        assert_eq!(at_entry[0], "unsupported \"the use of flags that a caller left\"");
        let after_call = cleaned("cf = 0:1\ncall extern f()\nrax = zext(cf, 64)\nreturn");
        assert_eq!(after_call[1], "unsupported \"the use of flags that a called function left\"");
        let neither = cleaned("call extern f()\ncf = 1:1\nrax = zext(cf, 64)\nreturn");
        assert_eq!(neither.len(), 4);
    }
}
