//! Random programs.
//!
//! Each program draws from a random part of the features (A. Groce et al., Swarm testing, ISSTA
//! 2012): a program with a little of everything rarely has two things that meet. Programs are
//! small, so that every engine comes to its end, and what they wait for is mostly done by somebody,
//! so that both verdicts occur.

use std::collections::BTreeSet;

use crate::ast::{
    Access, Expr, Field, Global, LOCALS, Lock, Op, Open, Order, Own, OwnStep, POINTERS, Place,
    Program, RmwOp, Run, Shape, Stmt, Type, WaitStyle,
};
use crate::features::Feature;
use crate::random::Random;
use crate::shapes::{self, shape};

/// So many of a hundred programs have only what litmus tests have.
const LITMUS_PERCENT: u64 = 35;

/// A random program. With a focus, all of these features may occur, and few others.
pub fn generate(random: &mut Random, focus: &[Feature]) -> Program {
    let is_litmus = focus.is_empty() && random.percent(LITMUS_PERCENT);
    let mut enabled: BTreeSet<Feature> = focus.iter().copied().collect();
    if focus.is_empty() && !is_litmus {
        // A theme or two, which the program is about.
        let themes: Vec<Feature> =
            Feature::ALL.iter().copied().filter(|feature| !feature.is_for_litmus()).collect();
        for _ in 0..1 + random.below(4) {
            enabled.insert(*random.pick(&themes));
        }
    }
    for feature in Feature::ALL {
        let likely = match (feature.is_for_litmus(), is_litmus, focus.is_empty()) {
            (true, true, _) => 75,
            (false, true, _) => 0,
            (true, false, _) => 60,
            (false, false, true) => 8,
            (false, false, false) => 3,
        };
        if random.percent(likely) {
            enabled.insert(*feature);
        }
    }
    add_companions(&mut enabled);
    Generator {
        random,
        enabled,
        is_litmus,
        globals: Vec::new(),
        writes: Vec::new(),
        known: Vec::new(),
    }
    .program()
}

/// What a feature is nothing without.
fn add_companions(enabled: &mut BTreeSet<Feature>) {
    let needs = [
        (Feature::WaitBody, Feature::WaitLoop),
        (Feature::TryLock, Feature::Mutex),
        (Feature::LoneLock, Feature::Mutex),
        (Feature::DestroyLock, Feature::Mutex),
        (Feature::WaitLocked, Feature::WaitLoop),
        (Feature::WaitLocked, Feature::Mutex),
        (Feature::TimedWait, Feature::Condition),
        (Feature::Free, Feature::Malloc),
        (Feature::OpenSize, Feature::Malloc),
        (Feature::Realloc, Feature::Malloc),
        (Feature::Sweep, Feature::Array),
        (Feature::Index, Feature::Array),
        (Feature::WildIndex, Feature::Array),
        (Feature::Division, Feature::Arithmetic),
        (Feature::FunctionTable, Feature::CalledThread),
        (Feature::ThreadArgument, Feature::CalledThread),
    ];
    for (feature, needed) in needs {
        if enabled.contains(&feature) {
            enabled.insert(needed);
        }
    }
}

struct Generator<'a> {
    random: &'a mut Random,
    enabled: BTreeSet<Feature>,
    is_litmus: bool,
    globals: Vec<Global>,
    /// What somebody stores, so that others can wait for it.
    writes: Vec<(Place, u64)>,
    /// Local variables of the thread that have a value.
    known: Vec<usize>,
}

impl Generator<'_> {
    fn has(&self, feature: Feature) -> bool {
        self.enabled.contains(&feature)
    }

    fn program(mut self) -> Program {
        let count = 1 + self.random.below(3);
        self.globals = (0..count).map(|_| self.global()).collect();
        let threads = match () {
            () if self.has(Feature::FourThreads) && self.random.percent(15) => 4,
            () if self.has(Feature::ThreeThreads) && self.random.percent(35) => 3,
            () => 2,
        };
        if self.random.percent(if self.is_litmus { 40 } else { 15 }) {
            return self.shaped();
        }
        let budget = (11 - threads) / threads.max(1) + 1;
        let mut bodies: Vec<Vec<Stmt>> = Vec::new();
        let mut runs = Vec::new();
        for thread in 0..threads {
            if thread > 0 && self.has(Feature::Twins) && self.random.percent(50) {
                runs.push(bodies.len() - 1);
                continue;
            }
            let length = 1 + self.random.below(budget);
            self.known.clear();
            let body = self.list(length, 0);
            runs.push(bodies.len());
            bodies.push(body);
        }
        self.finished(bodies, runs)
    }

    /// A classic test, with random orders, and fences and other statements between its accesses.
    fn shaped(mut self) -> Program {
        let name: &str = self.random.pick::<&str>(&shapes::NAMES);
        let mut bodies = Vec::new();
        for accesses in shape(name, self.globals.len()) {
            self.known.clear();
            let mut body = Vec::new();
            for (position, access) in accesses.into_iter().enumerate() {
                if position > 0 {
                    body.extend(self.between());
                }
                body.push(self.access(access));
            }
            bodies.push(body);
        }
        let runs = (0..bodies.len()).collect();
        self.finished(bodies, runs)
    }

    fn between(&mut self) -> Vec<Stmt> {
        match () {
            () if self.has(Feature::Fence) && self.random.percent(40) => {
                vec![Stmt::Fence(self.order())]
            }
            () if self.random.percent(10) => self.statement(1),
            () => Vec::new(),
        }
    }

    fn access(&mut self, access: shapes::Access) -> Stmt {
        let (place, order, to) = (Place::Global(access.variable), self.order(), self.local());
        let value = 1 + self.random.below(2) as u64;
        let is_atomic = self.globals[access.variable].access == Access::Atomic;
        let is_update = is_atomic && self.has(Feature::FetchOp) && self.random.percent(15);
        match (is_update, access.writes) {
            (true, writes) => {
                let op = if writes { RmwOp::Exchange } else { RmwOp::Add };
                let value = Expr::Const(if writes { value } else { 0 });
                Stmt::Rmw { to, op, place, value, order }
            }
            (false, true) => Stmt::Store { to: place, value: Expr::Const(value), order },
            (false, false) => Stmt::Load { to, from: place, order },
        }
    }

    fn finished(mut self, bodies: Vec<Vec<Stmt>>, runs: Vec<usize>) -> Program {
        let single: Vec<usize> = (0..bodies.len())
            .filter(|body| runs.iter().filter(|run| *run == body).count() == 1)
            .collect();
        self.known.clear();
        let mut after = Vec::new();
        if !self.is_litmus && self.random.percent(35) {
            after.extend(self.statement(1));
        }
        after.push(Stmt::Assert(self.final_condition(&bodies, &single)));
        let before = match !self.is_litmus && self.random.percent(12) {
            true => self.statement(1).into_iter().collect(),
            false => Vec::new(),
        };
        let locals = [(); LOCALS].map(|()| self.local_type());
        let detached = self.has(Feature::Detached);
        Program { globals: self.globals, bodies, threads: runs, before, after, detached, locals }
    }

    fn local_type(&mut self) -> Type {
        let sizes = [
            (Feature::Size8, Type::U8),
            (Feature::Size16, Type::U16),
            (Feature::Size64, Type::U64),
        ];
        for (feature, ty) in sizes {
            if self.has(feature) && self.random.percent(30) {
                return ty;
            }
        }
        Type::U32
    }

    fn global(&mut self) -> Global {
        let ty = match self.local_type() {
            Type::U32 if self.has(Feature::Signed) && self.random.percent(30) => Type::I32,
            ty => ty,
        };
        let shape = match () {
            () if self.has(Feature::Array) && self.random.percent(40) => Shape::Array(ty, 2),
            () if self.has(Feature::BitField) && self.random.percent(50) => {
                let fields = [3, 5, 9].map(|bits| Field { ty: Type::U32, bits: Some(bits) });
                Shape::Struct(fields.to_vec())
            }
            () if self.has(Feature::Struct) && self.random.percent(40) => {
                let field = |ty| Field { ty, bits: None };
                Shape::Struct(vec![field(ty), field(Type::U8), field(Type::U32)])
            }
            () if self.has(Feature::Union) && self.random.percent(60) => {
                Shape::Union(if self.random.percent(30) { Type::U64 } else { Type::U32 })
            }
            () => Shape::Scalar(ty),
        };
        let is_bits = matches!(&shape, Shape::Struct(fields) if fields[0].bits.is_some());
        let access = match () {
            () if is_bits => Access::Plain,
            () if self.has(Feature::Volatile) && self.random.percent(30) => Access::Volatile,
            () if self.has(Feature::Plain) && self.random.percent(35) => Access::Plain,
            () => Access::Atomic,
        };
        let is_scalar = matches!(shape, Shape::Scalar(_));
        let thread_local = self.has(Feature::ThreadLocal) && self.random.percent(25);
        let late = is_scalar && self.has(Feature::AtomicInit) && self.random.percent(60);
        let init = if self.random.percent(80) { 0 } else { 1 + self.random.below(2) as u64 };
        Global { shape, access, init, thread_local, late: late && !thread_local }
    }

    fn value(&mut self) -> u64 {
        if !self.is_litmus && self.random.percent(8) {
            return *self.random.pick(&[255, 256, 0x0102_0304, 0x7fff_ffff, 65535]);
        }
        self.random.below(3) as u64
    }

    fn order(&mut self) -> Order {
        let orders = [
            (Feature::Relaxed, Order::Relaxed),
            (Feature::Consume, Order::Consume),
            (Feature::Acquire, Order::Acquire),
            (Feature::Release, Order::Release),
            (Feature::AcqRel, Order::AcqRel),
            (Feature::SeqCst, Order::SeqCst),
        ];
        let enabled: Vec<Order> = orders
            .into_iter()
            .filter(|(feature, _)| self.has(*feature))
            .map(|(_, order)| order)
            .collect();
        match enabled.is_empty() {
            true => *self.random.pick(&Order::ALL),
            false => *self.random.pick(&enabled),
        }
    }

    fn place(&mut self) -> Place {
        let global = self.random.below(self.globals.len());
        if self.has(Feature::Pointer) && self.random.percent(10) {
            let pointer = self.random.below(POINTERS);
            return Place::Cell { pointer, atomic: self.random.percent(50) };
        }
        match self.globals[global].shape {
            Shape::Array(..) if self.has(Feature::WildIndex) && self.random.percent(20) => {
                Place::Element { global, index: Box::new(self.expression(1)), masked: false }
            }
            Shape::Array(..) if self.random.percent(50) => {
                Place::Element { global, index: Box::new(self.expression(1)), masked: true }
            }
            Shape::Array(..) => Place::Part { global, ty: Type::U32, index: self.random.below(2) },
            Shape::Struct(_) => Place::Part { global, ty: Type::U32, index: self.random.below(3) },
            Shape::Union(_) if self.random.percent(60) => {
                let ty = *self.random.pick(&[Type::U8, Type::U8, Type::U16]);
                Place::Part { global, ty, index: self.random.below(8) }
            }
            Shape::Scalar(_) if self.has(Feature::MixedSize) && self.random.percent(30) => {
                let ty = *self.random.pick(&[Type::U8, Type::U16, Type::U32]);
                Place::Part { global, ty, index: self.random.below(4) }
            }
            _ => Place::Global(global),
        }
    }

    /// A place that can be updated at once.
    fn atomic_place(&mut self) -> Option<Place> {
        let tries: Vec<Place> = (0..4).map(|_| self.place()).collect();
        tries.into_iter().find(|place| match place {
            Place::Cell { atomic, .. } => *atomic,
            Place::Global(global) | Place::Element { global, .. } | Place::Part { global, .. } => {
                self.globals[*global].access == Access::Atomic
            }
        })
    }

    fn local(&mut self) -> usize {
        self.random.below(LOCALS)
    }

    fn expression(&mut self, depth: usize) -> Expr {
        let is_arithmetic = self.has(Feature::Arithmetic) && depth < 2;
        if is_arithmetic && self.random.percent(25) {
            let ops: &[Op] = match self.is_litmus {
                true => &[Op::Add, Op::Xor, Op::And, Op::Or],
                false => &[Op::Add, Op::Sub, Op::Mul, Op::And, Op::Or, Op::Xor, Op::Shl],
            };
            let mut op = *self.random.pick(ops);
            if self.has(Feature::Division) && !self.is_litmus && self.random.percent(20) {
                op = Op::Div;
            }
            return Expr::binary(op, self.expression(depth + 1), self.expression(depth + 1));
        }
        if self.has(Feature::CountLoop) && self.random.percent(10) {
            return Expr::Counter;
        }
        if self.has(Feature::ThreadArgument) && self.random.percent(20) {
            return Expr::Argument;
        }
        match self.random.percent(35) {
            true => self.known_local(),
            false => Expr::Const(self.value()),
        }
    }

    /// A local variable that was read before; a constant where there is none.
    fn known_local(&mut self) -> Expr {
        match self.known.is_empty() {
            true => Expr::Const(self.value()),
            false => Expr::Local(*self.random.pick(&self.known)),
        }
    }

    fn condition(&mut self) -> Expr {
        let op = match self.is_litmus {
            true => *self.random.pick(&[Op::Eq, Op::Ne]),
            false => *self.random.pick(&[Op::Eq, Op::Ne, Op::Lt]),
        };
        Expr::binary(op, self.known_local(), Expr::Const(self.value()))
    }

    /// Something about what threads have read, and about what is there in the end.
    fn final_condition(&mut self, bodies: &[Vec<Stmt>], single: &[usize]) -> Expr {
        let mut atoms = Vec::new();
        for thread in single {
            let mut read = BTreeSet::new();
            bodies[*thread].iter().for_each(|statement| reads(statement, &mut read));
            for local in read {
                let value = self.random.below(3) as u64;
                atoms.push(Expr::equals(Expr::Result { thread: *thread, local }, value));
            }
        }
        for (number, global) in self.globals.iter().enumerate() {
            if !global.thread_local && self.random.percent(40) {
                let value = self.random.below(3) as u64;
                atoms.push(Expr::equals(Expr::Final(number), value));
            }
        }
        let wanted = 1 + self.random.below(4);
        while atoms.len() > wanted {
            let dropped = self.random.below(atoms.len());
            atoms.swap_remove(dropped);
        }
        let all = atoms.into_iter().reduce(|left, right| {
            let op = if self.random.percent(85) { Op::Both } else { Op::Either };
            Expr::binary(op, left, right)
        });
        match all {
            Some(bad) => Expr::Not(Box::new(bad)),
            None => Expr::Not(Box::new(Expr::equals(Expr::Final(0), self.value()))),
        }
    }

    fn list(&mut self, length: usize, depth: usize) -> Vec<Stmt> {
        (0..length).flat_map(|_| self.statement(depth)).collect()
    }

    fn inner(&mut self, depth: usize) -> Vec<Stmt> {
        let length = 1 + self.random.below(2);
        self.list(length, depth + 1)
    }

    fn lock(&mut self) -> Option<Lock> {
        let mut locks = Vec::new();
        let mut add = |feature, lock: &[Lock]| {
            if self.enabled.contains(&feature) {
                locks.extend_from_slice(lock);
            }
        };
        add(Feature::Mutex, &[Lock::Mutex(0), Lock::Mutex(0), Lock::Mutex(1)]);
        add(Feature::MutexKinds, &[Lock::Recursive, Lock::Checking]);
        add(Feature::SpinLock, &[Lock::Spin]);
        add(Feature::RwLock, &[Lock::Reader, Lock::Writer]);
        add(Feature::Semaphore, &[Lock::Semaphore]);
        add(Feature::MtxLock, &[Lock::Mtx]);
        add(Feature::Section, &[Lock::Section]);
        match locks.is_empty() {
            true => None,
            false => Some(*self.random.pick(&locks)),
        }
    }

    /// One statement, mostly; a store that somebody waits for is remembered.
    fn statement(&mut self, depth: usize) -> Vec<Stmt> {
        let nested = u32::from(depth < 2);
        let weight = |feature: Feature, weight: u32| u32::from(self.has(feature)) * weight;
        let locks = [
            Feature::Mutex,
            Feature::MutexKinds,
            Feature::SpinLock,
            Feature::RwLock,
            Feature::Semaphore,
            Feature::MtxLock,
            Feature::Section,
        ];
        let has_locks = u32::from(locks.iter().any(|feature| self.has(*feature)));
        let choices = [
            (8, Feature::Load),
            (8, Feature::Store),
            (weight(Feature::Exchange, 2), Feature::Exchange),
            (weight(Feature::FetchOp, 3), Feature::FetchOp),
            (weight(Feature::StrongCas, 3), Feature::StrongCas),
            (weight(Feature::WeakCas, 3), Feature::WeakCas),
            (weight(Feature::Fence, 3), Feature::Fence),
            (weight(Feature::Arithmetic, 1), Feature::Arithmetic),
            (weight(Feature::Branch, 4) * nested, Feature::Branch),
            (weight(Feature::WaitLoop, 6) * nested, Feature::WaitLoop),
            (weight(Feature::RetryLoop, 6), Feature::RetryLoop),
            (weight(Feature::CountLoop, 4) * nested, Feature::CountLoop),
            (weight(Feature::Sweep, 6) * nested, Feature::Sweep),
            (has_locks * 8 * nested, Feature::Mutex),
            (weight(Feature::LoneLock, 3) * has_locks, Feature::LoneLock),
            (weight(Feature::DestroyLock, 2) * has_locks, Feature::DestroyLock),
            (weight(Feature::Condition, 8), Feature::Condition),
            (weight(Feature::Barrier, 5), Feature::Barrier),
            (weight(Feature::Once, 4), Feature::Once),
            (weight(Feature::Malloc, 6), Feature::Malloc),
            (weight(Feature::Calloc, 4), Feature::Calloc),
            (weight(Feature::Free, 4), Feature::Free),
            (weight(Feature::Realloc, 3), Feature::Realloc),
            (weight(Feature::Pointer, 10), Feature::Pointer),
            (weight(Feature::StackPointer, 5) * nested, Feature::StackPointer),
            (weight(Feature::MemCopy, 5), Feature::MemCopy),
            (weight(Feature::MemSet, 4), Feature::MemSet),
            (weight(Feature::MemMove, 4), Feature::MemMove),
            (weight(Feature::Input, 4), Feature::Input),
            (weight(Feature::Assume, 2), Feature::Assume),
            (weight(Feature::Uninitialised, 4), Feature::Uninitialised),
            (weight(Feature::PartlyWritten, 4), Feature::PartlyWritten),
            (weight(Feature::Own, 4), Feature::Own),
            (weight(Feature::Float, 3), Feature::Float),
            (weight(Feature::Call, 3), Feature::Call),
            (weight(Feature::Signed, 5), Feature::Signed),
            (weight(Feature::CalledThread, 6), Feature::CalledThread),
            (weight(Feature::NestedThread, 6), Feature::NestedThread),
            (if self.is_litmus { 0 } else { 1 }, Feature::Assert),
            (weight(Feature::EarlyReturn, 1), Feature::EarlyReturn),
            (weight(Feature::ThreadExit, 1), Feature::ThreadExit),
            (weight(Feature::Exit, 1), Feature::Exit),
            (weight(Feature::Abort, 1), Feature::Abort),
        ];
        let made = match self.random.weighted(&choices) {
            Some(feature) => self.made(feature, depth),
            None => Vec::new(),
        };
        let mut read = BTreeSet::new();
        made.iter().for_each(|statement| reads(statement, &mut read));
        self.known.extend(read);
        made
    }

    fn made(&mut self, feature: Feature, depth: usize) -> Vec<Stmt> {
        let order = self.order();
        let local = self.local();
        let statement = match feature {
            Feature::Store => {
                let (to, value) = (self.place(), self.expression(0));
                if let Expr::Const(value) = value {
                    self.writes.push((to.clone(), value));
                }
                let mut made = vec![Stmt::Store { to: to.clone(), value, order }];
                if self.random.percent(15) {
                    // Threads see their own stores early.
                    made.push(Stmt::Load { to: local, from: to, order: self.order() });
                }
                return made;
            }
            Feature::Exchange | Feature::FetchOp => match self.atomic_place() {
                Some(place) => {
                    let ops =
                        [RmwOp::Add, RmwOp::Add, RmwOp::Sub, RmwOp::And, RmwOp::Or, RmwOp::Xor];
                    let mut op = *self.random.pick(&ops);
                    if feature == Feature::Exchange {
                        op = RmwOp::Exchange;
                    }
                    if self.is_litmus && op == RmwOp::Sub {
                        op = RmwOp::Add;
                    }
                    Stmt::Rmw { to: local, op, place, value: self.expression(1), order }
                }
                None => return Vec::new(),
            },
            Feature::StrongCas | Feature::WeakCas => match self.atomic_place() {
                Some(place) => Stmt::Cas {
                    ok: local,
                    old: local + 1,
                    place,
                    expected: Expr::Const(self.random.below(2) as u64),
                    desired: self.expression(1),
                    weak: feature == Feature::WeakCas,
                    success: order,
                    failure: self.order(),
                },
                None => return Vec::new(),
            },
            Feature::Fence => Stmt::Fence(order),
            Feature::Arithmetic => Stmt::Set { to: local, value: self.expression(0) },
            Feature::Branch => Stmt::If {
                condition: self.condition(),
                then: self.inner(depth),
                other: if self.random.percent(30) { self.inner(depth) } else { Vec::new() },
            },
            Feature::WaitLoop => self.waiting(local, order, depth),
            Feature::RetryLoop => match self.atomic_place() {
                Some(place) => {
                    let op = *self.random.pick(&[Op::Add, Op::Xor, Op::Or]);
                    let (value, weak) = (self.expression(1), self.random.percent(50));
                    let (first, failure) = (self.order(), self.order());
                    Stmt::Retry { to: local, place, op, value, weak, first, order, failure }
                }
                None => return Vec::new(),
            },
            Feature::CountLoop => {
                Stmt::Count { times: 2 + self.random.below(2) as u64, body: self.inner(depth) }
            }
            Feature::Sweep => return self.sweep(local, order),
            Feature::Mutex => match self.lock() {
                Some(lock) => {
                    let attempt = self.has(Feature::TryLock) && self.random.percent(40);
                    Stmt::Locked { lock, attempt, body: self.inner(depth) }
                }
                None => return Vec::new(),
            },
            Feature::LoneLock => match (self.lock(), self.random.percent(60)) {
                (Some(lock), true) => Stmt::Take(lock),
                (Some(lock), false) => Stmt::Give(lock),
                (None, _) => return Vec::new(),
            },
            Feature::DestroyLock => match self.lock() {
                Some(lock) => Stmt::Destroy(lock),
                None => return Vec::new(),
            },
            Feature::Condition => match self.random.percent(45) {
                true => Stmt::Await {
                    patient: self.random.percent(70),
                    timed: self.has(Feature::TimedWait) && self.random.percent(40),
                },
                false => {
                    Stmt::Signal { all: self.random.percent(50), set: self.random.percent(80) }
                }
            },
            Feature::Barrier => Stmt::Barrier,
            Feature::Once => Stmt::Once,
            Feature::Malloc => return self.allocation(false),
            Feature::Calloc => return self.allocation(true),
            Feature::Free => Stmt::Free(self.random.below(POINTERS)),
            Feature::Realloc => Stmt::Resize(self.random.below(POINTERS)),
            Feature::Pointer => return self.about_pointers(depth),
            Feature::StackPointer => {
                Stmt::Scoped { pointer: self.random.below(POINTERS), body: self.inner(depth) }
            }
            Feature::MemCopy => Stmt::Copy {
                to: self.random.below(self.globals.len()),
                from: self.random.below(self.globals.len()),
                by_call: self.random.percent(60),
            },
            Feature::MemSet => {
                let byte = *self.random.pick(&[0, 1, 255]);
                Stmt::Fill { global: self.random.below(self.globals.len()), byte }
            }
            Feature::MemMove => {
                let global = self.random.below(self.globals.len());
                Stmt::Shift { global, up: self.random.percent(50) }
            }
            Feature::Input => {
                let ty = *self.random.pick(&[Type::U8, Type::U16, Type::U32, Type::U64, Type::I32]);
                let below = self.random.percent(60).then_some(3);
                Stmt::Input { to: local, ty, below }
            }
            Feature::Assume => Stmt::Assume(self.condition()),
            Feature::Uninitialised => self.uninitialised(local, Open::Variable),
            Feature::PartlyWritten => {
                let what = *self.random.pick(&Open::PARTS);
                self.uninitialised(local, what)
            }
            Feature::Own => Stmt::Own {
                to: local,
                kind: *self.random.pick(&Own::ALL),
                on_heap: self.random.percent(50),
                steps: self.own_steps(),
            },
            Feature::Float => {
                Stmt::Float { to: local, left: self.known_local(), right: self.expression(1) }
            }
            Feature::Call => {
                let depth = self.random.below(3) as u64;
                Stmt::Call { to: local, value: self.expression(1), depth }
            }
            Feature::CalledThread | Feature::NestedThread => {
                let through_table = self.has(Feature::FunctionTable) && self.random.percent(60);
                let how = match (feature == Feature::NestedThread, through_table) {
                    (false, false) => Run::Call,
                    (false, true) => Run::CallThroughTable,
                    (true, false) => Run::Thread,
                    (true, true) => Run::ThreadThroughTable,
                };
                let body = self.random.below(4);
                Stmt::Run { to: local, body, argument: self.expression(1), how }
            }
            Feature::Signed => {
                let op = *self.random.pick(&[Op::Add, Op::Sub, Op::Mul]);
                Stmt::Signed { to: local, op, left: self.known_local(), right: self.expression(1) }
            }
            Feature::Assert => Stmt::Assert(Expr::Not(Box::new(self.condition()))),
            Feature::EarlyReturn => Stmt::Return { by_call: false },
            Feature::ThreadExit => Stmt::Return { by_call: true },
            Feature::Exit => Stmt::Exit,
            Feature::Abort => Stmt::Abort,
            _ => Stmt::Load { to: local, from: self.place(), order },
        };
        vec![statement]
    }

    fn waiting(&mut self, to: usize, order: Order, depth: usize) -> Stmt {
        let styles = [WaitStyle::While, WaitStyle::Do, WaitStyle::Break, WaitStyle::Ahead];
        let is_locked = self.has(Feature::WaitLocked) && self.random.percent(50);
        let style = if is_locked { WaitStyle::Locked } else { *self.random.pick(&styles) };
        let (place, until) = match self.writes.is_empty() || self.random.percent(20) {
            true => (self.place(), self.random.below(2) as u64),
            false => self.random.pick(&self.writes.clone()).clone(),
        };
        let has_body = self.has(Feature::WaitBody) && self.random.percent(60);
        let body = if has_body { self.list(1, depth + 2) } else { Vec::new() };
        Stmt::Wait { style, to, place, order, until, body }
    }

    /// A loop goes through an array, and mostly an element is looked at afterwards.
    fn sweep(&mut self, to: usize, order: Order) -> Vec<Stmt> {
        let is_array = |number: &usize| matches!(self.globals[*number].shape, Shape::Array(..));
        let arrays: Vec<usize> = (0..self.globals.len()).filter(is_array).collect();
        if arrays.is_empty() {
            return Vec::new();
        }
        let global = *self.random.pick(&arrays);
        let at = |index| Place::Element { global, index: Box::new(index), masked: true };
        let value = match self.random.percent(30) {
            true => Expr::Counter,
            false => self.expression(1),
        };
        let each = match self.random.percent(75) {
            true => Stmt::Store { to: at(Expr::Counter), value, order },
            false => Stmt::Load { to, from: at(Expr::Counter), order },
        };
        let mut made =
            vec![Stmt::Count { times: 2 + self.random.below(2) as u64, body: vec![each] }];
        if self.random.percent(70) {
            let from = at(Expr::Const(self.random.below(3) as u64));
            made.push(Stmt::Load { to, from, order });
        }
        made
    }

    fn uninitialised(&mut self, to: usize, what: Open) -> Stmt {
        Stmt::Uninitialised { what, to, given: self.condition(), value: self.value() }
    }

    fn allocation(&mut self, zeroed: bool) -> Vec<Stmt> {
        let pointer = self.random.below(POINTERS);
        let open = self.has(Feature::OpenSize) && self.random.percent(60);
        let mut made = vec![Stmt::Allocate { pointer, zeroed, open }];
        if self.random.percent(60) {
            let (to, value) =
                (Place::Cell { pointer, atomic: self.random.percent(30) }, self.value());
            made.push(Stmt::Store { to, value: Expr::Const(value), order: Order::Relaxed });
        }
        if self.random.percent(60) {
            self.enabled.insert(Feature::Pointer);
            made.push(Stmt::Publish { pointer, order: self.order() });
        }
        made
    }

    fn about_pointers(&mut self, depth: usize) -> Vec<Stmt> {
        let (pointer, order) = (self.random.below(POINTERS), self.order());
        match self.random.below(10) {
            0..=1 => vec![Stmt::Point { pointer }],
            2..=3 => vec![Stmt::Publish { pointer, order }],
            4..=7 => {
                let take = self.random.percent(30);
                let to = self.local();
                let atomic = self.random.percent(30);
                let from = Place::Cell { pointer, atomic };
                let mut then = vec![Stmt::Load { to, from, order: Order::Relaxed }];
                if self.has(Feature::Free) && self.random.percent(50) {
                    then.push(Stmt::Free(pointer));
                }
                vec![Stmt::Obtain { pointer, order, take }, Stmt::IfPointer { pointer, then }]
            }
            _ if depth < 2 => vec![Stmt::IfPointer { pointer, then: self.inner(depth) }],
            _ => vec![Stmt::Obtain { pointer, order, take: false }],
        }
    }
}

impl Generator<'_> {
    /// Mostly as it should be: initialised, used and destroyed.
    fn own_steps(&mut self) -> Vec<OwnStep> {
        let mut steps = vec![OwnStep::Init, OwnStep::Use, OwnStep::Destroy];
        for _ in 0..self.random.below(3) {
            let step = *self.random.pick(&[OwnStep::Init, OwnStep::Use, OwnStep::Destroy]);
            let at = self.random.below(steps.len() + 1);
            steps.insert(at, step);
        }
        if self.random.percent(30) {
            let at = self.random.below(steps.len());
            steps.remove(at);
        }
        // What is there later is a matter of the library.
        if self.random.percent(30) {
            steps.insert(0, OwnStep::Peek(self.random.below(2)));
        }
        steps
    }
}

/// The local variables that a statement gives a value.
fn reads(statement: &Stmt, found: &mut BTreeSet<usize>) {
    match statement {
        Stmt::Load { to, .. }
        | Stmt::Rmw { to, .. }
        | Stmt::Wait { to, .. }
        | Stmt::Retry { to, .. }
        | Stmt::Input { to, .. }
        | Stmt::Uninitialised { to, .. }
        | Stmt::Own { to, .. }
        | Stmt::Float { to, .. }
        | Stmt::Call { to, .. }
        | Stmt::Run { to, .. }
        | Stmt::Signed { to, .. } => {
            found.insert(to % LOCALS);
        }
        Stmt::Cas { ok, old, .. } => {
            found.insert(ok % LOCALS);
            found.insert(old % LOCALS);
        }
        _ => {}
    }
    for body in statement.bodies() {
        body.iter().for_each(|statement| reads(statement, found));
    }
}
