//! The Linux kernel's primitives for shared memory.
//!
//! Names and meanings follow the kernel's memory model (Alglave, Maranget, McKenney, Parri,
//! Stern, "Frightening small children and disconcerting grown-ups", ASPLOS 2018, and the
//! kernel's `tools/memory-model`): this file says what each function is, `lower` what it does.

mod lower;

use parallax_program::RmwOp;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Primitive {
    /// A load with that tag.
    Load(&'static str, Target),
    /// A store with that tag, and a full fence behind it or not.
    Store(&'static str, Target, Behind),
    Fence(&'static str),
    SpinLock,
    SpinTryLock,
    SpinUnlock,
    SpinIsLocked,
    SynchronizeSrcu,
    Update {
        op: RmwOp,
        operand: Operand,
        result: Outcome,
        order: Order,
    },
    CompareExchange(Order),
    AddUnless,
}

/// How the place of an access is passed: `READ_ONCE(*x)`, `smp_load_acquire(x)`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Target {
    Place,
    Pointer,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Behind {
    Nothing,
    FullFence,
}

/// Where the operand of an update comes from, and so the order of the arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operand {
    One,
    /// `xchg(x, v)`
    Last,
    /// `atomic_add(v, x)`
    First,
}

/// What an update gives back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    Nothing,
    Old,
    New,
    /// Whether the new value is zero.
    NewIsZero,
    NewIsNegative,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    Relaxed,
    Acquire,
    Release,
    /// As if between two full fences.
    Full,
}

impl Primitive {
    /// The function of that name.
    pub fn named(name: &str) -> Option<Primitive> {
        access(name)
            .or_else(|| fence(name).map(Primitive::Fence))
            .or_else(|| lock(name))
            .or_else(|| exchange(name))
            .or_else(|| atomic(name))
    }

    /// How many arguments it takes.
    pub fn arity(self) -> usize {
        match self {
            Primitive::Fence(_) => 0,
            Primitive::Load(..)
            | Primitive::SpinLock
            | Primitive::SpinTryLock
            | Primitive::SpinUnlock
            | Primitive::SpinIsLocked
            | Primitive::SynchronizeSrcu => 1,
            Primitive::Update { operand, .. } => match operand {
                Operand::One => 1,
                Operand::First | Operand::Last => 2,
            },
            Primitive::Store(..) => 2,
            Primitive::CompareExchange(_) | Primitive::AddUnless => 3,
        }
    }
}

/// Whether the name is one of the kernel's that C11 does not have.
pub fn is_kernel_name(name: &str) -> bool {
    let c11_too = matches!(
        name,
        "atomic_fetch_add"
            | "atomic_fetch_sub"
            | "atomic_fetch_or"
            | "atomic_fetch_xor"
            | "atomic_fetch_and"
    );
    let types = ["atomic_t", "atomic_long_t", "atomic64_t", "spinlock_t", "srcu_struct"];
    !c11_too && (types.contains(&name) || Primitive::named(name).is_some())
}

fn access(name: &str) -> Option<Primitive> {
    use Behind::*;
    use Primitive::{Load, Store, SynchronizeSrcu};
    Some(match name {
        "READ_ONCE" | "rcu_dereference" | "lockless_dereference" => Load("Once", Target::Place),
        "WRITE_ONCE" => Store("Once", Target::Place, Nothing),
        "smp_store_mb" => Store("Once", Target::Place, FullFence),
        "rcu_assign_pointer" => Store("Release", Target::Place, Nothing),
        "smp_load_acquire" => Load("Acquire", Target::Pointer),
        "smp_store_release" => Store("Release", Target::Pointer, Nothing),
        "srcu_read_lock" | "srcu_down_read" => Load("Srcu-lock", Target::Pointer),
        "srcu_read_unlock" | "srcu_up_read" => Store("Srcu-unlock", Target::Pointer, Nothing),
        "synchronize_srcu" | "synchronize_srcu_expedited" => SynchronizeSrcu,
        _ => return None,
    })
}

fn fence(name: &str) -> Option<&'static str> {
    Some(match name {
        "smp_mb" => "Mb",
        "smp_rmb" => "Rmb",
        "smp_wmb" => "Wmb",
        "barrier" => "Barrier",
        "smp_mb__before_atomic" => "Before-atomic",
        "smp_mb__after_atomic" => "After-atomic",
        "smp_mb__after_spinlock" => "After-spinlock",
        "smp_mb__after_unlock_lock" => "After-unlock-lock",
        "smp_mb__after_srcu_read_unlock" => "After-srcu-read-unlock",
        // Ordered nothing but dependent reads, on Alpha; READ_ONCE has taken that over.
        "smp_read_barrier_depends" => "Rb_dep",
        "rcu_read_lock" => "Rcu-lock",
        "rcu_read_unlock" => "Rcu-unlock",
        "synchronize_rcu" | "synchronize_rcu_expedited" => "Sync-rcu",
        _ => return None,
    })
}

fn lock(name: &str) -> Option<Primitive> {
    Some(match name {
        "spin_lock" => Primitive::SpinLock,
        "spin_trylock" => Primitive::SpinTryLock,
        "spin_unlock" => Primitive::SpinUnlock,
        "spin_is_locked" => Primitive::SpinIsLocked,
        _ => return None,
    })
}

/// The order that a name ends in, and the name without it.
fn split_order(name: &str) -> (&str, Order) {
    for (suffix, order) in
        [("_relaxed", Order::Relaxed), ("_acquire", Order::Acquire), ("_release", Order::Release)]
    {
        if let Some(base) = name.strip_suffix(suffix) {
            return (base, order);
        }
    }
    (name, Order::Full)
}

/// `xchg` and `cmpxchg`, on memory and on the atomic types.
fn exchange(name: &str) -> Option<Primitive> {
    let (base, order) = split_order(name);
    match base {
        "xchg" => Some(Primitive::Update {
            op: RmwOp::Swap,
            operand: Operand::Last,
            result: Outcome::Old,
            order,
        }),
        "cmpxchg" => Some(Primitive::CompareExchange(order)),
        _ => None,
    }
}

/// Operations of `atomic_t`, `atomic_long_t` and `atomic64_t`.
fn atomic(name: &str) -> Option<Primitive> {
    let name = ["atomic_long_", "atomic64_", "atomic_"]
        .iter()
        .find_map(|prefix| name.strip_prefix(prefix))?;
    match name {
        "read" => return Some(Primitive::Load("Once", Target::Pointer)),
        "read_acquire" => return Some(Primitive::Load("Acquire", Target::Pointer)),
        "set" => return Some(Primitive::Store("Once", Target::Pointer, Behind::Nothing)),
        "set_release" => {
            return Some(Primitive::Store("Release", Target::Pointer, Behind::Nothing));
        }
        "add_unless" => return Some(Primitive::AddUnless),
        _ => {}
    }
    let (base, order) = split_order(name);
    if let Some(exchange) = exchange(name) {
        return Some(exchange);
    }
    let (op, result) = if let Some(op) = base.strip_prefix("fetch_") {
        (op, Outcome::Old)
    } else if let Some(op) = base.strip_suffix("_return") {
        (op, Outcome::New)
    } else if let Some(op) = base.strip_suffix("_and_test") {
        (op, Outcome::NewIsZero)
    } else if let Some(op) = base.strip_suffix("_negative") {
        (op, Outcome::NewIsNegative)
    } else {
        (base, Outcome::Nothing)
    };
    let (op, operand) = operator(op)?;
    let known = match result {
        Outcome::Old => true,
        Outcome::New => matches!(op, RmwOp::Add | RmwOp::Sub),
        Outcome::NewIsZero => order == Order::Full && (operand == Operand::One || op == RmwOp::Sub),
        Outcome::NewIsNegative => op == RmwOp::Add && operand == Operand::First,
        Outcome::Nothing => order == Order::Full,
    };
    known.then_some(Primitive::Update { op, operand, result, order })
}

fn operator(name: &str) -> Option<(RmwOp, Operand)> {
    Some(match name {
        "add" => (RmwOp::Add, Operand::First),
        "sub" => (RmwOp::Sub, Operand::First),
        "and" => (RmwOp::And, Operand::First),
        "or" => (RmwOp::Or, Operand::First),
        "xor" => (RmwOp::Xor, Operand::First),
        "andnot" => (RmwOp::AndNot, Operand::First),
        "inc" => (RmwOp::Add, Operand::One),
        "dec" => (RmwOp::Sub, Operand::One),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_atomic_operations_are_made_of_parts() {
        assert_eq!(
            Primitive::named("atomic_long_fetch_andnot_release"),
            Some(Primitive::Update {
                op: RmwOp::AndNot,
                operand: Operand::First,
                result: Outcome::Old,
                order: Order::Release,
            })
        );
        assert_eq!(
            Primitive::named("atomic_cmpxchg_acquire"),
            Some(Primitive::CompareExchange(Order::Acquire))
        );
        for known in "atomic_inc atomic_dec_and_test atomic_sub_and_test atomic_xchg_relaxed \
                      atomic_add_negative atomic_dec_return_acquire atomic_set_release"
            .split_whitespace()
        {
            assert!(Primitive::named(known).is_some(), "{known}");
        }
        for unknown in "atomic_inc_acquire atomic_or_return atomic_add_and_test atomic_load \
                        atomic_inc_negative atomic_ xchg_full smp_mb__ atomic_fetch_exchange"
            .split_whitespace()
        {
            assert_eq!(Primitive::named(unknown), None, "{unknown}");
        }
    }
}
