//! Whether a program may join a thread twice, as far as that shows before it runs. Keeping account of
//! what became of threads costs events, so it is done unless each join is plainly of another thread:
//! it is done once, of what a variable of its own holds, or in the rounds of one loop, of what
//! the elements of an array of its own hold. In machine code, where variables do not show, it is done
//! where threads are joined in more places than they are started in.

use std::collections::HashMap;

use parallax_program::{
    BinaryOp, Callee, Expr, Function, FunctionId, InstKind, Program, Terminator, VarId,
};

pub(crate) const STARTS: [&str; 6] = [
    "pthread_create",
    "pthread_create.int",
    "thrd_create",
    "thrd_create.int",
    "__VERIFIER_thread_create",
    "__VERIFIER_thread_create_symmetric",
];
const JOINS: [&str; 3] = ["pthread_join", "thrd_join", "__VERIFIER_thread_join"];

pub(crate) fn may_be_decided_twice(program: &Program) -> bool {
    if !program.registers.is_empty() {
        return count_calls(program, &JOINS) > count_calls(program, &STARTS);
    }
    let often = run_often(program);
    // Those of a function's own variables are distinguished by the function.
    let mut joined: Vec<(Option<usize>, Held)> = Vec::new();
    for (number, function) in program.functions.iter().enumerate() {
        for (block, inst) in insts(function) {
            let InstKind::Call { callee: Callee::External(name), args, .. } = inst else {
                continue;
            };
            if !JOINS.contains(&name.as_str()) {
                continue;
            }
            let held = args.first().and_then(|thread| held_at(function, block, thread));
            let is_plain = match &held {
                Some(Held::Alone(_)) => !often[number] && !can_repeat(function, block),
                Some(Held::Among(_)) => !often[number],
                None => false,
            };
            let Some(held) = held.filter(|_| is_plain) else {
                return true;
            };
            let place = (!held.is_global()).then_some(number);
            if joined.iter().any(|(known, other)| *known == place && held.meets(other)) {
                return true;
            }
            joined.push((place, held));
        }
    }
    false
}

fn count_calls(program: &Program, names: &[&str]) -> usize {
    let all = program.functions.iter().flat_map(insts);
    let is_one = |kind: &InstKind| {
        matches!(kind, InstKind::Call { callee: Callee::External(name), .. }
            if names.contains(&name.as_str()))
    };
    all.filter(|(_, kind)| is_one(kind)).count()
}

pub(crate) fn insts(function: &Function) -> impl Iterator<Item = (usize, &InstKind)> {
    let blocks = function.blocks.iter().enumerate();
    blocks.flat_map(|(number, block)| block.insts.iter().map(move |inst| (number, &inst.kind)))
}

/// Whether each function may run more than once: it is called in two places, in a loop, through a
/// pointer, by itself, or by one that runs more than once.
fn run_often(program: &Program) -> Vec<bool> {
    let mut calls: HashMap<usize, Vec<(usize, bool)>> = HashMap::new();
    let mut often = vec![false; program.functions.len()];
    for (caller, function) in program.functions.iter().enumerate() {
        for (block, kind) in insts(function) {
            if let InstKind::Call { callee: Callee::Direct(FunctionId(callee)), .. } = kind {
                let repeats = can_repeat(function, block);
                calls.entry(*callee as usize).or_default().push((caller, repeats));
            }
            kind.for_each_expr(&mut |expr| see_addresses(expr, &mut often));
        }
    }
    for (callee, callers) in &calls {
        let repeats = callers.iter().any(|(caller, repeats)| *repeats || caller == callee);
        often[*callee] |= repeats || callers.len() > 1;
    }
    // As far as the longest chain of calls.
    for _ in 0..program.functions.len() {
        for (callee, callers) in &calls {
            let by = callers.iter().any(|(caller, _)| often[*caller]);
            often[*callee] |= by;
        }
    }
    often
}

/// Functions whose addresses are used may be called, or started, any number of times.
fn see_addresses(expr: &Expr, often: &mut [bool]) {
    crate::rewrite::leaves(&mut expr.clone(), &mut |leaf| {
        if let Expr::FunctionAddress(FunctionId(number)) = leaf
            && let Some(often) = often.get_mut(*number as usize)
        {
            *often = true;
        }
    });
}

/// Whether a way leads from a block back to it.
fn can_repeat(function: &Function, block: usize) -> bool {
    let mut seen = vec![false; function.blocks.len()];
    let mut open = vec![block];
    while let Some(from) = open.pop() {
        for target in successors(&function.blocks[from].terminator) {
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

pub(crate) fn successors(terminator: &Terminator) -> Vec<usize> {
    let targets = match terminator {
        Terminator::Jump(target) => vec![*target],
        Terminator::Branch { then, otherwise, .. } => vec![*then, *otherwise],
        Terminator::Return(_) | Terminator::Exit => Vec::new(),
    };
    targets.into_iter().map(|target| target.0 as usize).collect()
}

/// Where the number of a thread was loaded from.
enum Held {
    /// A fixed place.
    Alone(Expr),
    /// The elements, one after the other, of what starts at a fixed place.
    Among(Expr),
}

impl Held {
    fn object(&self) -> &Expr {
        let (Held::Alone(address) | Held::Among(address)) = self;
        let mut object = address;
        while let Expr::Binary(_, left, _) = object {
            object = left;
        }
        object
    }

    fn is_global(&self) -> bool {
        matches!(self.object(), Expr::Address(_))
    }

    /// Whether the same may be held there as elsewhere.
    fn meets(&self, other: &Held) -> bool {
        match (self, other) {
            (Held::Alone(one), Held::Alone(two)) => one == two,
            _ => self.object() == other.object(),
        }
    }
}

/// The place that a value was loaded from, in the same block.
fn held_at(function: &Function, block: usize, value: &Expr) -> Option<Held> {
    let Expr::Var(var) = value else {
        return None;
    };
    let loads = |kind: &InstKind| match kind {
        InstKind::Load { dst, address, .. } if dst == var => Some(address.clone()),
        _ => None,
    };
    let address = function.blocks[block].insts.iter().rev().find_map(|inst| loads(&inst.kind))?;
    if is_fixed(function, &address) {
        return Some(Held::Alone(address));
    }
    let address = match &address {
        Expr::Var(var) => only_value(function, *var)?,
        _ => &address,
    };
    match address {
        Expr::Binary(BinaryOp::Add, base, index) if is_fixed(function, base) => {
            counts(function, index).then(|| Held::Among((**base).clone()))
        }
        _ => None,
    }
}

/// What a variable is assigned, where that is one expression.
pub(crate) fn only_value(function: &Function, var: VarId) -> Option<&Expr> {
    let mut values = assigned(function, var);
    let only = values.next()?;
    values.next().is_none().then_some(only)
}

fn assigned(function: &Function, var: VarId) -> impl Iterator<Item = &Expr> {
    insts(function).filter_map(move |(_, kind)| match kind {
        InstKind::Assign { dst, value } if *dst == var => Some(value),
        _ => None,
    })
}

/// Whether an expression is another number each time: a counter, or a multiple of one.
fn counts(function: &Function, expr: &Expr) -> bool {
    match expr {
        Expr::ZeroExtend { value, .. } | Expr::SignExtend { value, .. } => counts(function, value),
        Expr::Binary(BinaryOp::Mul | BinaryOp::Shl, value, by) => {
            matches!(**by, Expr::Const(_)) && counts(function, value)
        }
        Expr::Var(var) => match only_value(function, *var) {
            Some(value) => counts(function, value),
            None => is_counter(function, *var),
        },
        _ => false,
    }
}

/// Whether a variable starts with a constant, and grows by a constant after that.
fn is_counter(function: &Function, var: VarId) -> bool {
    let mut starts = 0;
    let steps = |value: &Expr| match value {
        Expr::Binary(BinaryOp::Add, left, right) => {
            let is_step = matches!(&**right, Expr::Const(by) if !by.is_zero());
            is_step && **left == Expr::Var(var)
        }
        Expr::Var(next) => only_value(function, *next).is_some_and(|value| {
            matches!(value, Expr::Binary(BinaryOp::Add, left, right)
                if **left == Expr::Var(var)
                    && matches!(&**right, Expr::Const(by) if !by.is_zero()))
        }),
        _ => false,
    };
    for value in assigned(function, var) {
        match value {
            Expr::Const(_) => starts += 1,
            value if steps(value) => {}
            _ => return false,
        }
    }
    starts <= 1
}

/// Whether an address is that of a global, or of a variable of the function, and the same always.
fn is_fixed(function: &Function, address: &Expr) -> bool {
    match address {
        Expr::Address(_) | Expr::Const(_) => true,
        Expr::Var(var) => is_object(function, *var),
        Expr::Binary(_, left, right) => is_fixed(function, left) && is_fixed(function, right),
        _ => false,
    }
}

fn is_object(function: &Function, var: VarId) -> bool {
    insts(function).any(|(_, kind)| matches!(kind, InstKind::Alloc { dst, .. } if *dst == var))
}
