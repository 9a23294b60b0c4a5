//! Takes out of a lifted function what nobody looks at: flags that are overwritten before they
//! are used, and temporaries; and puts the value of a temporary that is used once where it is
//! used. Machine code computes all flags all the time and looks at few of them, so this is most
//! of what is lifted.
//!
//! By the System V ABI (AMD64 supplement, 3.2.1) no function leaves anything in the status flags,
//! neither for its caller nor for what it calls. Code that looks at them nevertheless, at its
//! entry or after a call, gets an `Unsupported` there.

use parallax_program::{Expr, Function, Inst, InstKind, Terminator, VarId};

use super::registers::{COUNT, STATUS};

/// Expressions stay smaller than this.
const LARGEST: usize = 100;

/// Removes assignments to flags and temporaries that have no effect.
pub fn remove_dead(function: &mut Function) {
    let live = Liveness::of(function);
    refuse_foreign_flags(function, &live);
    for number in 0..function.blocks.len() {
        let mut now = live.at_end(function, number);
        let block = &mut function.blocks[number];
        let mut kept = Vec::with_capacity(block.insts.len());
        for inst in block.insts.drain(..).rev() {
            if is_dead(&inst.kind, &now) {
                continue;
            }
            step_back(&inst.kind, &mut now);
            kept.push(inst);
        }
        kept.reverse();
        block.insts = kept;
        let after = live.after(function, number);
        let block = &mut function.blocks[number];
        substitute(&mut block.insts, &mut block.terminator, &after);
    }
}

/// A set of variables.
type Vars = Vec<bool>;

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

fn written(kind: &InstKind) -> impl Iterator<Item = VarId> {
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

fn for_each_var(expr: &Expr, visit: &mut impl FnMut(VarId)) {
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

/// Moves values of temporaries that are used once to where they are used.
fn substitute(insts: &mut Vec<Inst>, terminator: &mut Terminator, after: &Vars) {
    for index in (0..insts.len()).rev() {
        let InstKind::Assign { dst, value } = &insts[index].kind else {
            continue;
        };
        let (dst, value) = (*dst, value.clone());
        if dst.0 < COUNT || size(&value) > LARGEST {
            continue;
        }
        let Some(user) = only_use(dst, &value, &insts[index + 1..], terminator, after) else {
            continue;
        };
        let expressions = match insts.get_mut(index + 1 + user) {
            Some(inst) => expressions(&mut inst.kind),
            None => condition(terminator),
        };
        for expr in expressions {
            replace(expr, dst, &value);
        }
        insts.remove(index);
    }
}

/// The position of the only instruction that uses the variable, once, if the value is the same
/// there; the terminator comes after the last.
fn only_use(
    dst: VarId,
    value: &Expr,
    insts: &[Inst],
    terminator: &mut Terminator,
    after: &Vars,
) -> Option<usize> {
    let mut found = None;
    let mut changed = false;
    for (position, inst) in insts.iter().enumerate() {
        match uses_of(dst, &inst.kind) {
            0 => {}
            1 if found.is_none() && !changed && can_take(&inst.kind) => found = Some(position),
            _ => return None,
        }
        changed |= matches!(inst.kind, InstKind::Call { .. });
        for var in written(&inst.kind) {
            if var == dst {
                return found;
            }
            for_each_var(value, &mut |used| changed |= used == var);
        }
    }
    let mut uses = 0;
    for expr in condition(terminator) {
        for_each_var(expr, &mut |var| uses += usize::from(var == dst));
    }
    match (uses, after[dst.0 as usize]) {
        (0, false) => found,
        (1, false) if found.is_none() && !changed => Some(insts.len()),
        _ => None,
    }
}

fn uses_of(var: VarId, kind: &InstKind) -> usize {
    let mut uses = 0;
    kind.for_each_expr(&mut |expr| {
        for_each_var(expr, &mut |used| uses += usize::from(used == var));
    });
    uses
}

fn size(expr: &Expr) -> usize {
    match expr {
        Expr::Const(_) | Expr::Address(_) | Expr::FunctionAddress(_) | Expr::Var(_) => 1,
        Expr::Unary(_, value)
        | Expr::Extract { value, .. }
        | Expr::ZeroExtend { value, .. }
        | Expr::SignExtend { value, .. } => 1 + size(value),
        Expr::Binary(_, left, right) | Expr::Concat { high: left, low: right } => {
            1 + size(left) + size(right)
        }
        Expr::Select { condition, then, otherwise } => {
            1 + size(condition) + size(then) + size(otherwise)
        }
    }
}

fn can_take(kind: &InstKind) -> bool {
    match kind {
        InstKind::Assign { value, .. } => size(value) <= LARGEST,
        InstKind::Load { .. }
        | InstKind::Store { .. }
        | InstKind::Rmw { .. }
        | InstKind::Cas { .. } => true,
        _ => false,
    }
}

/// The expressions of an instruction that can take others.
fn expressions(kind: &mut InstKind) -> Vec<&mut Expr> {
    match kind {
        InstKind::Assign { value, .. } => vec![value],
        InstKind::Load { address, .. } => vec![address],
        InstKind::Store { address, value, .. } => vec![address, value],
        InstKind::Rmw { address, operand, .. } => vec![address, operand],
        InstKind::Cas { address, expected, desired, .. } => vec![address, expected, desired],
        _ => Vec::new(),
    }
}

fn condition(terminator: &mut Terminator) -> Vec<&mut Expr> {
    match terminator {
        Terminator::Branch { condition, .. } => vec![condition],
        Terminator::Return(Some(value)) => vec![value],
        _ => Vec::new(),
    }
}

fn replace(expr: &mut Expr, var: VarId, by: &Expr) {
    match expr {
        Expr::Var(found) if *found == var => *expr = by.clone(),
        Expr::Const(_) | Expr::Address(_) | Expr::FunctionAddress(_) | Expr::Var(_) => {}
        Expr::Unary(_, value)
        | Expr::Extract { value, .. }
        | Expr::ZeroExtend { value, .. }
        | Expr::SignExtend { value, .. } => replace(value, var, by),
        Expr::Binary(_, left, right) | Expr::Concat { high: left, low: right } => {
            replace(left, var, by);
            replace(right, var, by);
        }
        Expr::Select { condition, then, otherwise } => {
            replace(condition, var, by);
            replace(then, var, by);
            replace(otherwise, var, by);
        }
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
        assert_eq!(lines, ["u = load.8 rax + rbx", "rcx = u", "return"]);
    }

    #[test]
    fn a_value_does_not_move_past_what_changes_it() {
        let kept = ["t = rax", "rax = rbx", "rbx = t", "return"];
        assert_eq!(cleaned(&kept.join("\n")), kept);
        let kept = ["t = rax", "call extern f()", "rbx = t", "return"];
        assert_eq!(cleaned(&kept.join("\n")), kept);
        let kept = ["t = rax", "rbx = t", "rcx = t", "return"];
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
