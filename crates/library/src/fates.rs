//! Whether a program may join a thread twice, as far as that shows before it runs. Keeping account of
//! what became of threads costs events, so it is done only where it may matter: where threads are
//! joined in more places than they are started in, or where two places join the thread that the
//! same variable holds.

use std::collections::HashSet;

use parallax_program::{Callee, Expr, Function, InstKind, Program, VarId};

const STARTS: [&str; 6] = [
    "pthread_create",
    "pthread_create.int",
    "thrd_create",
    "thrd_create.int",
    "__VERIFIER_thread_create",
    "__VERIFIER_thread_create_symmetric",
];
const JOINS: [&str; 3] = ["pthread_join", "thrd_join", "__VERIFIER_thread_join"];

pub(crate) fn may_be_decided_twice(program: &Program) -> bool {
    let (mut starts, mut joins) = (0, 0);
    let mut joined = HashSet::new();
    for function in &program.functions {
        for (block, inst) in insts(function) {
            let InstKind::Call { callee: Callee::External(name), args, .. } = inst else {
                continue;
            };
            starts += usize::from(STARTS.contains(&name.as_str()));
            if JOINS.contains(&name.as_str()) {
                joins += 1;
                let place = args.first().and_then(|thread| held_at(function, block, thread));
                if place.is_some_and(|place| !joined.insert((function.name.as_str(), place))) {
                    return true;
                }
            }
        }
    }
    joins > starts
}

fn insts(function: &Function) -> impl Iterator<Item = (usize, &InstKind)> {
    let blocks = function.blocks.iter().enumerate();
    blocks.flat_map(|(number, block)| block.insts.iter().map(move |inst| (number, &inst.kind)))
}

/// The fixed place that a value was loaded from, in the same block, as a text.
fn held_at(function: &Function, block: usize, value: &Expr) -> Option<String> {
    let Expr::Var(var) = value else {
        return None;
    };
    let loads = |kind: &InstKind| match kind {
        InstKind::Load { dst, address, .. } if dst == var => Some(address.clone()),
        _ => None,
    };
    let address = function.blocks[block].insts.iter().rev().find_map(|inst| loads(&inst.kind))?;
    is_fixed(function, &address).then(|| format!("{address:?}"))
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
