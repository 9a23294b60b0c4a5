//! Whether a program may initialise a mutex, a condition variable or a read-write lock that was used
//! already by its initialiser, as far as that shows before it runs. Keeping account of uses costs
//! events, so it is done unless each call that initialises one plainly comes first: no way to it leads past
//! a call that uses one or starts a thread. What a function itself allocates is used on ways within
//! the function only.

use std::collections::HashSet;

use parallax_program::{Callee, Expr, Function, FunctionId, InstKind, Program};

use crate::fates::{STARTS, insts, only_value, successors};

/// The functions that initialise objects of a kind, and those that use them.
pub(crate) struct Kind {
    inits: &'static [&'static str],
    uses: &'static [&'static str],
}

pub(crate) const MUTEXES: Kind = Kind {
    inits: &["pthread_mutex_init", "mtx_init"],
    uses: &[
        "pthread_mutex_lock",
        "pthread_mutex_trylock",
        "pthread_mutex_timedlock",
        "pthread_mutex_clocklock",
        "mtx_lock",
        "mtx_trylock",
        "mtx_timedlock",
    ],
};

pub(crate) const CONDS: Kind = Kind {
    inits: &["pthread_cond_init", "cnd_init"],
    uses: &[
        "pthread_cond_wait",
        "pthread_cond_timedwait",
        "pthread_cond_clockwait",
        "pthread_cond_signal",
        "pthread_cond_broadcast",
        "cnd_wait",
        "cnd_timedwait",
        "cnd_signal",
        "cnd_broadcast",
    ],
};

pub(crate) const RWLOCKS: Kind = Kind {
    inits: &["pthread_rwlock_init"],
    uses: &[
        "pthread_rwlock_rdlock",
        "pthread_rwlock_tryrdlock",
        "pthread_rwlock_timedrdlock",
        "pthread_rwlock_clockrdlock",
        "pthread_rwlock_wrlock",
        "pthread_rwlock_trywrlock",
        "pthread_rwlock_timedwrlock",
        "pthread_rwlock_clockwrlock",
    ],
};

/// Whether one may be initialised that was used.
pub(crate) fn may_be_initialised(program: &Program, kind: &Kind) -> bool {
    let calls = |names: &[&str]| {
        let all = program.functions.iter().flat_map(insts);
        all.into_iter().any(|(_, inst)| external(inst).is_some_and(|name| names.contains(&name)))
    };
    calls(kind.inits) && calls(kind.uses) && Search::new(program, kind).finds_late()
}

fn external(inst: &InstKind) -> Option<&str> {
    match inst {
        InstKind::Call { callee: Callee::External(name), .. } => Some(name),
        _ => None,
    }
}

struct Search<'p> {
    program: &'p Program,
    kind: &'p Kind,
    /// Functions in which something may be used.
    using: HashSet<usize>,
    /// Functions before which something may have been used.
    late: HashSet<usize>,
}

impl<'p> Search<'p> {
    fn new(program: &'p Program, kind: &'p Kind) -> Search<'p> {
        let mut search = Search { program, kind, using: HashSet::new(), late: HashSet::new() };
        search.see_addresses();
        loop {
            let known = search.using.len();
            for (number, function) in program.functions.iter().enumerate() {
                if insts(function).any(|(_, inst)| search.uses(inst)) {
                    search.using.insert(number);
                }
            }
            if search.using.len() == known {
                return search;
            }
        }
    }

    /// Functions whose addresses are used may be called, or started, at any time.
    fn see_addresses(&mut self) {
        let late = &mut self.late;
        let mut see = |expr: &Expr| {
            crate::rewrite::leaves(&mut expr.clone(), &mut |leaf| {
                if let Expr::FunctionAddress(FunctionId(number)) = leaf {
                    late.insert(*number as usize);
                }
            });
        };
        self.program.functions.iter().flat_map(insts).for_each(|(_, i)| i.for_each_expr(&mut see));
        let cells = self.program.globals.iter().flat_map(|global| &global.init);
        cells.for_each(|cell| see(&cell.value));
    }

    /// Whether something is used by an instruction, or by what it may call or start.
    fn uses(&self, inst: &InstKind) -> bool {
        let mut hands_function = false;
        match inst {
            InstKind::Call { callee: Callee::Direct(FunctionId(callee)), .. } => {
                self.using.contains(&(*callee as usize))
            }
            InstKind::Call { callee: Callee::External(name), .. } => {
                inst.for_each_expr(&mut |expr| hands_function |= is_function(expr));
                let name = name.as_str();
                hands_function || STARTS.contains(&name) || self.kind.uses.contains(&name)
            }
            InstKind::Call { .. } | InstKind::Spawn { .. } => true,
            _ => false,
        }
    }

    /// Whether something is initialised after something was used.
    fn finds_late(mut self) -> bool {
        loop {
            let known = self.late.len();
            for (number, function) in self.program.functions.iter().enumerate() {
                let ever = self.used_before(function, self.late.contains(&number));
                let within = self.used_before(function, false);
                for ((inst, ever), within) in
                    insts(function).map(|(_, inst)| inst).zip(ever).zip(within)
                {
                    if self.initialises(function, inst, ever, within) {
                        return true;
                    }
                    if let InstKind::Call { callee: Callee::Direct(callee), .. } = inst
                        && ever
                    {
                        self.late.insert(callee.0 as usize);
                    }
                }
            }
            if self.late.len() == known {
                return false;
            }
        }
    }

    /// Whether an instruction initialises what was used: `ever`, or `within` this call of its function.
    fn initialises(&self, function: &Function, inst: &InstKind, ever: bool, within: bool) -> bool {
        match inst {
            InstKind::Call { callee: Callee::External(name), args, .. } => {
                let is_own = || args.first().is_some_and(|object| is_own(function, object));
                self.kind.inits.contains(&name.as_str()) && ever && (within || !is_own())
            }
            _ => false,
        }
    }

    /// For each instruction, whether something may have been used before it.
    fn used_before(&self, function: &Function, at_start: bool) -> Vec<bool> {
        let mut entered = vec![false; function.blocks.len()];
        let uses =
            |block: usize| function.blocks[block].insts.iter().any(|inst| self.uses(&inst.kind));
        entered.iter_mut().take(1).for_each(|first| *first = at_start);
        let mut open: Vec<usize> = (0..entered.len()).filter(|b| entered[*b] || uses(*b)).collect();
        while let Some(block) = open.pop() {
            for next in successors(&function.blocks[block].terminator) {
                if !std::mem::replace(&mut entered[next], true) {
                    open.push(next);
                }
            }
        }
        let each = function.blocks.iter().zip(entered).flat_map(|(block, entered)| {
            block.insts.iter().scan(entered, |used, inst| {
                let before = *used;
                *used |= self.uses(&inst.kind);
                Some(before)
            })
        });
        each.collect()
    }
}

fn is_function(expr: &Expr) -> bool {
    let mut found = false;
    crate::rewrite::leaves(&mut expr.clone(), &mut |leaf| {
        found |= matches!(leaf, Expr::FunctionAddress(_));
    });
    found
}

/// Whether an address is in what the function itself allocates.
fn is_own(function: &Function, address: &Expr) -> bool {
    match address {
        Expr::Binary(_, base, _) => is_own(function, base),
        Expr::Var(var) => {
            let allocates = |kind: &InstKind| match kind {
                InstKind::Alloc { dst, .. } => dst == var,
                InstKind::Call { dst: Some(dst), callee: Callee::External(name), .. } => {
                    dst == var && matches!(name.as_str(), "malloc" | "calloc" | "aligned_alloc")
                }
                _ => false,
            };
            insts(function).any(|(_, kind)| allocates(kind))
                || only_value(function, *var).is_some_and(|value| is_own(function, value))
        }
        _ => false,
    }
}
