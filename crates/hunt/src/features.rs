//! What a program uses of language and library. Counting it shows what nobody generates.

use std::collections::BTreeSet;

use crate::ast::{
    Access, Expr, Lock, Op, Open, Order, Place, Program, Shape, Stmt, Type, WaitStyle,
};

/// A feature, and whether a litmus test can have it.
macro_rules! features {
    ($($name:ident $text:literal $litmus:literal,)*) => {
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        pub enum Feature { $($name),* }

        impl Feature {
            pub const ALL: &'static [Feature] = &[$(Feature::$name),*];

            pub fn name(self) -> &'static str {
                match self { $(Feature::$name => $text),* }
            }

            /// Whether litmus tests have it too.
            pub fn is_for_litmus(self) -> bool {
                match self { $(Feature::$name => $litmus),* }
            }
        }
    };
}

features! {
    Relaxed "relaxed" true,
    Consume "consume" false,
    Acquire "acquire" true,
    Release "release" true,
    AcqRel "acq-rel" true,
    SeqCst "seq-cst" true,
    Load "load" true,
    Store "store" true,
    Exchange "exchange" true,
    FetchOp "fetch-op" true,
    StrongCas "strong-cas" true,
    WeakCas "weak-cas" true,
    Fence "fence" true,
    Branch "branch" true,
    Arithmetic "arithmetic" true,
    Plain "plain" true,
    Volatile "volatile" false,
    AtomicInit "atomic-init" false,
    Size8 "size-8" false,
    Size16 "size-16" false,
    Size32 "size-32" true,
    Size64 "size-64" false,
    Array "array" false,
    Index "index" false,
    WildIndex "wild-index" false,
    Struct "struct" false,
    BitField "bit-field" false,
    Union "union" false,
    MixedSize "mixed-size" false,
    ThreadLocal "thread-local" false,
    WaitLoop "wait-loop" false,
    WaitBody "wait-body" false,
    WaitLocked "wait-locked" false,
    RetryLoop "retry-loop" false,
    CountLoop "count-loop" false,
    Sweep "sweep" false,
    Mutex "mutex" false,
    MutexKinds "mutex-kinds" false,
    TryLock "try-lock" false,
    LoneLock "lone-lock" false,
    DestroyLock "destroy-lock" false,
    SpinLock "spin-lock" false,
    RwLock "rw-lock" false,
    Semaphore "semaphore" false,
    MtxLock "mtx" false,
    Section "atomic-section" false,
    Condition "condition" false,
    TimedWait "timed-wait" false,
    Barrier "barrier" false,
    Once "once" false,
    Malloc "malloc" false,
    Calloc "calloc" false,
    OpenSize "open-size" false,
    Free "free" false,
    Realloc "realloc" false,
    Pointer "pointer" false,
    StackPointer "stack-pointer" false,
    MemCopy "memcpy" false,
    MemSet "memset" false,
    MemMove "memmove" false,
    Input "input" false,
    Assume "assume" false,
    Uninitialised "uninitialised" false,
    PartlyWritten "partly-written" false,
    Own "own-objects" false,
    Float "float" false,
    Call "call" false,
    Signed "signed" false,
    Division "division" false,
    Assert "assert" true,
    EarlyReturn "early-return" false,
    ThreadExit "pthread-exit" false,
    Exit "exit" false,
    Abort "abort" false,
    Twins "twins" false,
    Detached "detached" false,
    TwoThreads "two-threads" true,
    ThreeThreads "three-threads" true,
    FourThreads "four-threads" true,
    CalledThread "called-thread" false,
    NestedThread "nested-thread" false,
    FunctionTable "function-table" false,
    ThreadArgument "thread-argument" false,
}

impl Feature {
    pub fn named(name: &str) -> Option<Feature> {
        Feature::ALL.iter().copied().find(|feature| feature.name() == name)
    }
}

/// What a program uses.
pub fn of(program: &Program) -> BTreeSet<Feature> {
    let mut found = BTreeSet::new();
    for global in &program.globals {
        let types = match &global.shape {
            Shape::Scalar(ty) => vec![*ty],
            Shape::Array(ty, _) => {
                found.insert(Feature::Array);
                vec![*ty]
            }
            Shape::Struct(fields) => {
                found.insert(Feature::Struct);
                if fields.iter().any(|field| field.bits.is_some()) {
                    found.insert(Feature::BitField);
                }
                fields.iter().map(|field| field.ty).collect()
            }
            Shape::Union(ty) => {
                found.insert(Feature::Union);
                vec![*ty]
            }
        };
        found.extend(types.into_iter().map(size));
        match global.access {
            Access::Atomic if global.late => found.insert(Feature::AtomicInit),
            Access::Atomic => false,
            Access::Plain => found.insert(Feature::Plain),
            Access::Volatile => found.insert(Feature::Volatile),
        };
        if global.thread_local {
            found.insert(Feature::ThreadLocal);
        }
    }
    for statement in program.statements() {
        of_statement(program, statement, &mut found);
    }
    found.insert(match program.threads.len() {
        0..=2 => Feature::TwoThreads,
        3 => Feature::ThreeThreads,
        _ => Feature::FourThreads,
    });
    if program.detached {
        found.insert(Feature::Detached);
    }
    let bodies: BTreeSet<usize> = program.threads.iter().copied().collect();
    if bodies.len() < program.threads.len() {
        found.insert(Feature::Twins);
    }
    found
}

fn size(ty: Type) -> Feature {
    match ty.bytes() {
        1 => Feature::Size8,
        2 => Feature::Size16,
        4 => Feature::Size32,
        _ => Feature::Size64,
    }
}

fn of_order(order: Order) -> Feature {
    match order {
        Order::Relaxed => Feature::Relaxed,
        Order::Consume => Feature::Consume,
        Order::Acquire => Feature::Acquire,
        Order::Release => Feature::Release,
        Order::AcqRel => Feature::AcqRel,
        Order::SeqCst => Feature::SeqCst,
    }
}

fn of_lock(lock: Lock) -> Feature {
    match lock {
        Lock::Mutex(_) => Feature::Mutex,
        Lock::Recursive | Lock::Checking => Feature::MutexKinds,
        Lock::Spin => Feature::SpinLock,
        Lock::Reader | Lock::Writer => Feature::RwLock,
        Lock::Semaphore => Feature::Semaphore,
        Lock::Mtx => Feature::MtxLock,
        Lock::Section => Feature::Section,
    }
}

fn of_statement(program: &Program, statement: &Stmt, found: &mut BTreeSet<Feature>) {
    for order in statement.clone().orders_mut() {
        found.insert(of_order(*order));
    }
    statement.expressions().into_iter().for_each(|expression| of_expression(expression, found));
    match statement.place() {
        Some(Place::Element { masked, .. }) => {
            found.insert(if *masked { Feature::Index } else { Feature::WildIndex });
        }
        Some(Place::Part { global, .. }) => {
            let global = program.globals.get(global % program.globals.len().max(1));
            if global
                .is_some_and(|global| matches!(global.shape, Shape::Scalar(_) | Shape::Union(_)))
            {
                found.insert(Feature::MixedSize);
            }
        }
        _ => {}
    }
    let feature = match statement {
        Stmt::Load { .. } => Feature::Load,
        Stmt::Store { .. } => Feature::Store,
        Stmt::Rmw { op: crate::ast::RmwOp::Exchange, .. } => Feature::Exchange,
        Stmt::Rmw { .. } => Feature::FetchOp,
        Stmt::Cas { weak: false, .. } => Feature::StrongCas,
        Stmt::Cas { weak: true, .. } => Feature::WeakCas,
        Stmt::Fence(_) => Feature::Fence,
        Stmt::Set { .. } => Feature::Arithmetic,
        Stmt::Signed { .. } => Feature::Signed,
        Stmt::Input { .. } => Feature::Input,
        Stmt::Uninitialised { what: Open::Variable, .. } => Feature::Uninitialised,
        Stmt::Uninitialised { .. } => Feature::PartlyWritten,
        Stmt::Own { .. } => Feature::Own,
        Stmt::Float { .. } => Feature::Float,
        Stmt::Call { .. } => Feature::Call,
        Stmt::Run { how, .. } => {
            if how.is_through_table() {
                found.insert(Feature::FunctionTable);
            }
            if how.is_thread() { Feature::NestedThread } else { Feature::CalledThread }
        }
        Stmt::If { .. } => Feature::Branch,
        Stmt::Wait { style, body, .. } => {
            if *style == WaitStyle::Locked {
                found.insert(Feature::WaitLocked);
            }
            if !body.is_empty() || *style == WaitStyle::Ahead {
                found.insert(Feature::WaitBody);
            }
            Feature::WaitLoop
        }
        Stmt::Retry { .. } => Feature::RetryLoop,
        Stmt::Count { body, .. } => {
            let counts = |place: &Place| matches!(place, Place::Element { index, .. } if **index == Expr::Counter);
            if body.iter().any(|statement| statement.place().is_some_and(counts)) {
                found.insert(Feature::Sweep);
            }
            Feature::CountLoop
        }
        Stmt::Locked { lock, attempt, .. } => {
            if *attempt {
                found.insert(Feature::TryLock);
            }
            of_lock(*lock)
        }
        Stmt::Take(lock) | Stmt::Give(lock) => {
            found.insert(of_lock(*lock));
            Feature::LoneLock
        }
        Stmt::Await { timed, .. } => {
            if *timed {
                found.insert(Feature::TimedWait);
            }
            Feature::Condition
        }
        Stmt::Destroy(lock) => {
            found.insert(of_lock(*lock));
            Feature::DestroyLock
        }
        Stmt::Signal { .. } => Feature::Condition,
        Stmt::Barrier => Feature::Barrier,
        Stmt::Once => Feature::Once,
        Stmt::Allocate { open: true, .. } => Feature::OpenSize,
        Stmt::Allocate { zeroed: false, .. } => Feature::Malloc,
        Stmt::Allocate { zeroed: true, .. } => Feature::Calloc,
        Stmt::Free(_) => Feature::Free,
        Stmt::Resize(_) => Feature::Realloc,
        Stmt::Publish { .. }
        | Stmt::Obtain { .. }
        | Stmt::Point { .. }
        | Stmt::IfPointer { .. } => Feature::Pointer,
        Stmt::Scoped { .. } => Feature::StackPointer,
        Stmt::Copy { .. } => Feature::MemCopy,
        Stmt::Fill { .. } => Feature::MemSet,
        Stmt::Shift { .. } => Feature::MemMove,
        Stmt::Assert(_) => Feature::Assert,
        Stmt::Assume(_) => Feature::Assume,
        Stmt::Return { by_call: false } => Feature::EarlyReturn,
        Stmt::Return { by_call: true } => Feature::ThreadExit,
        Stmt::Exit => Feature::Exit,
        Stmt::Abort => Feature::Abort,
    };
    found.insert(feature);
}

fn of_expression(expression: &Expr, found: &mut BTreeSet<Feature>) {
    match expression {
        Expr::Binary(op, left, right) => {
            found.insert(if *op == Op::Div { Feature::Division } else { Feature::Arithmetic });
            of_expression(left, found);
            of_expression(right, found);
        }
        Expr::Not(inner) | Expr::Cast(_, inner) => of_expression(inner, found),
        Expr::Argument => {
            found.insert(Feature::ThreadArgument);
        }
        _ => {}
    }
}
