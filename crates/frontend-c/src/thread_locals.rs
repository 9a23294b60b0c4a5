//! Accesses by the addresses of thread-local variables.
//!
//! The copies of such a variable, one for each thread, lie side by side in one object, and the object
//! is there as long as the program runs. Engines would let an access that leaves the copy of its own
//! thread fall into that of another, and take a copy for alive whose thread has ended (C11 6.2.4: the
//! variable lives as long as its thread). So [`check`] follows the addresses through each thread, without regard to
//! the order of instructions: an access that is not seen to be within the copy gets an
//! assertion, and where an address goes to where other threads find it, its thread has to be one that
//! never ends before the program does, or nothing is concluded from there on.

use std::collections::BTreeSet;

use parallax_program::{
    AccessSize, BinaryOp, Callee, Expr, Function, FunctionId, GlobalId, Inst, InstKind, Program,
    Property, Shape, Span, Terminator, Var, VarId,
};

/// A variable of which each thread has a copy.
#[derive(Clone, Debug)]
pub struct ThreadLocal {
    /// The object with all copies.
    pub global: GlobalId,
    /// From one copy to the next.
    pub stride: u64,
    /// Of one copy.
    pub size: u64,
}

/// Functions that end the thread that calls them: the first one may end before the program does.
const ENDS: [&str; 3] = ["pthread_exit", "thrd_exit", "__VERIFIER_thread_exit"];

/// Whether the first thread may end before the others do. To be asked before the library is linked.
pub fn first_may_leave(program: &Program) -> bool {
    let blocks = program.functions.iter().flat_map(|function| &function.blocks);
    let mut kinds = blocks.flat_map(|block| &block.insts).map(|inst| &inst.kind);
    kinds.any(|kind| match kind {
        InstKind::Call { callee: Callee::External(name), .. } => ENDS.contains(&name.as_str()),
        _ => false,
    })
}

/// Puts assertions where accesses may leave the copy of their thread, or outlive it.
pub fn check(program: &mut Program, locals: &[ThreadLocal], first_may_leave: bool) {
    if locals.is_empty() {
        return;
    }
    let flow = Flow::of(program, locals);
    let found: Vec<Vec<Vec<Option<Demand>>>> = (0..program.functions.len())
        .map(|number| flow.demands(program, number, first_may_leave))
        .collect();
    for (number, blocks) in found.into_iter().enumerate() {
        if blocks.iter().flatten().all(Option::is_none) {
            continue;
        }
        let names =
            locals.iter().map(|local| program.globals[local.global.0 as usize].name.clone());
        let names: Vec<String> = names.collect();
        let (pointer_width, function) = (program.pointer_width, &mut program.functions[number]);
        let writer = Writer { locals, names: &names, pointer_width };
        writer.write(function, blocks);
    }
}

/// The variables, by number, whose addresses a value may be made of.
type Origins = BTreeSet<usize>;

/// What has to hold before an instruction.
enum Demand {
    /// The access is within the copy of one of these.
    Within { address: Expr, bytes: u32, origins: Origins },
    /// The address of one of these is shown to others, by the first thread if that may be.
    Stays { origins: Origins, first: bool },
}

struct Flow<'a> {
    locals: &'a [ThreadLocal],
    vars: Vec<Vec<Origins>>,
    results: Vec<Origins>,
}

impl<'a> Flow<'a> {
    fn of(program: &Program, locals: &'a [ThreadLocal]) -> Flow<'a> {
        let vars = program.functions.iter().map(|it| vec![Origins::new(); it.vars.len()]).collect();
        let results = vec![Origins::new(); program.functions.len()];
        let mut flow = Flow { locals, vars, results };
        while flow.round(program) {}
        flow
    }

    /// Whether something new was found.
    fn round(&mut self, program: &Program) -> bool {
        let mut is_new = false;
        for (number, function) in program.functions.iter().enumerate() {
            for block in &function.blocks {
                for inst in &block.insts {
                    is_new |= self.step(program, number, &inst.kind);
                }
                if let Terminator::Return(Some(value)) = &block.terminator {
                    let origins = self.origins(number, value);
                    is_new |= add(&mut self.results[number], origins);
                }
            }
        }
        is_new
    }

    fn step(&mut self, program: &Program, number: usize, kind: &InstKind) -> bool {
        match kind {
            InstKind::Assign { dst, value } => {
                let origins = self.origins(number, value);
                add(&mut self.vars[number][dst.0 as usize], origins)
            }
            InstKind::Call { dst, callee, args } => {
                let mut is_new = false;
                for called in called(program, callee, args.len()) {
                    for (param, arg) in args.iter().enumerate() {
                        let origins = self.origins(number, arg);
                        is_new |= add(&mut self.vars[called.0 as usize][param], origins);
                    }
                    if let Some(dst) = dst {
                        let origins = self.results[called.0 as usize].clone();
                        is_new |= add(&mut self.vars[number][dst.0 as usize], origins);
                    }
                }
                is_new
            }
            _ => false,
        }
    }

    /// Comparisons are no addresses, nor is how far one is from another.
    fn origins(&self, function: usize, expr: &Expr) -> Origins {
        let of = |expr: &Expr| self.origins(function, expr);
        match expr {
            Expr::Const(_) | Expr::FunctionAddress(_) => Origins::new(),
            Expr::Var(var) => self.vars[function][var.0 as usize].clone(),
            Expr::Address(id) => {
                self.locals.iter().position(|local| local.global == *id).into_iter().collect()
            }
            Expr::Binary(op, ..) if op.is_comparison() => Origins::new(),
            Expr::Binary(op, left, right) => {
                let (left, right) = (of(left), of(right));
                match *op == BinaryOp::Sub && !right.is_empty() {
                    true => Origins::new(),
                    false => &left | &right,
                }
            }
            Expr::Unary(_, value)
            | Expr::Extract { value, .. }
            | Expr::ZeroExtend { value, .. }
            | Expr::SignExtend { value, .. } => of(value),
            Expr::Concat { high, low } => &of(high) | &of(low),
            Expr::Select { then, otherwise, .. } => &of(then) | &of(otherwise),
        }
    }

    /// For each block, what has to hold before each instruction.
    fn demands(
        &self,
        program: &Program,
        number: usize,
        first_may_leave: bool,
    ) -> Vec<Vec<Option<Demand>>> {
        let function = &program.functions[number];
        let demand = |inst: &Inst| {
            let shown = shown(&inst.kind).into_iter().map(|expr| self.origins(number, expr));
            let shown = shown.fold(Origins::new(), |all, some| &all | &some);
            if !shown.is_empty() {
                // Who has the address of one number has no use for what is beside it.
                let is_number = |local: &usize| {
                    let global = &program.globals[self.locals[*local].global.0 as usize];
                    matches!(&global.shape, Some(Shape::Array { element, .. }) if **element == Shape::Scalar)
                };
                let first = !first_may_leave && shown.iter().all(is_number);
                return Some(Demand::Stays { origins: shown, first });
            }
            let (address, bytes) = access(&inst.kind)?;
            let origins = self.origins(number, address);
            let is_seen = origins.is_empty() || self.is_within(function, address, bytes);
            (!is_seen).then(|| Demand::Within { address: address.clone(), bytes, origins })
        };
        let blocks = function.blocks.iter();
        blocks.map(|block| block.insts.iter().map(demand).collect()).collect()
    }

    /// Whether an address is that of the own copy, and the access is within it for certain.
    fn is_within(&self, function: &Function, address: &Expr, bytes: u32) -> bool {
        let own = self.own(function, address, OWN_DEPTH);
        own.is_some_and(|(local, offset)| {
            offset.checked_add(bytes.into()).is_some_and(|end| end <= self.locals[local].size)
        })
    }

    /// The variable of whose copy it is an address, and how far from its start.
    fn own(&self, function: &Function, expr: &Expr, depth: u32) -> Option<(usize, u64)> {
        match expr {
            Expr::Var(var) => {
                let value = only_value(function, *var).filter(|_| depth > 0)?;
                self.own(function, value, depth - 1)
            }
            Expr::Binary(BinaryOp::Add, left, right) => match (&**left, &**right) {
                (inner, Expr::Const(offset)) => {
                    let (local, start) = self.own(function, inner, depth)?;
                    Some((local, start.checked_add(u64::try_from(offset.unsigned()).ok()?)?))
                }
                // As the thread's number times the stride is lowered.
                (Expr::Address(id), Expr::Binary(BinaryOp::Mul, ..)) => {
                    Some((self.locals.iter().position(|local| local.global == *id)?, 0))
                }
                _ => None,
            },
            _ => None,
        }
    }
}

/// So many variables lead to an address that is seen to be within an object.
const OWN_DEPTH: u32 = 8;

/// The value of a variable that is no parameter and is assigned once.
fn only_value(function: &Function, var: VarId) -> Option<&Expr> {
    let insts = function.blocks.iter().flat_map(|block| &block.insts);
    let mut values = insts.filter_map(|inst| match &inst.kind {
        InstKind::Assign { dst, value } if *dst == var => Some(Some(value)),
        kind if writes(kind, var) => Some(None),
        _ => None,
    });
    let first = values.next()?.filter(|_| var.0 >= function.params)?;
    values.next().is_none().then_some(first)
}

/// Whether an instruction other than an assignment gives a variable its value.
fn writes(kind: &InstKind, var: VarId) -> bool {
    match kind {
        InstKind::Load { dst, .. }
        | InstKind::LoadLinked { dst, .. }
        | InstKind::StoreConditional { status: dst, .. }
        | InstKind::ThreadId { dst }
        | InstKind::Alloc { dst, .. }
        | InstKind::HeapSize { dst, .. }
        | InstKind::Nondet { dst, .. }
        | InstKind::Choose { dst, .. } => *dst == var,
        InstKind::Rmw { dst, .. } | InstKind::Spawn { dst, .. } | InstKind::Call { dst, .. } => {
            *dst == Some(var)
        }
        InstKind::Cas { dst, ok, .. } => [*dst, *ok].contains(&Some(var)),
        _ => false,
    }
}

fn add(to: &mut Origins, more: Origins) -> bool {
    let before = to.len();
    to.extend(more);
    to.len() > before
}

/// The functions that a call may enter.
fn called(program: &Program, callee: &Callee, args: usize) -> Vec<FunctionId> {
    match callee {
        Callee::Direct(id) => vec![*id],
        Callee::Indirect(_) => {
            let all = (0..).map(FunctionId).zip(&program.functions);
            let fits = all.filter(|(_, function)| function.params as usize == args);
            fits.map(|(id, _)| id).collect()
        }
        Callee::External(_) => Vec::new(),
    }
}

/// The values that others may find.
fn shown(kind: &InstKind) -> Vec<&Expr> {
    match kind {
        InstKind::Store { value, .. } | InstKind::StoreConditional { value, .. } => vec![value],
        InstKind::Rmw { operand, .. } => vec![operand],
        InstKind::Cas { desired, .. } => vec![desired],
        InstKind::Spawn { args, .. } => args.iter().collect(),
        _ => Vec::new(),
    }
}

fn access(kind: &InstKind) -> Option<(&Expr, u32)> {
    let of = |address, size: &AccessSize| Some((address, size.bytes()));
    match kind {
        InstKind::Load { address, size, .. }
        | InstKind::LoadLinked { address, size, .. }
        | InstKind::Store { address, size, .. }
        | InstKind::StoreConditional { address, size, .. }
        | InstKind::Rmw { address, size, .. }
        | InstKind::Cas { address, size, .. } => of(address, size),
        _ => None,
    }
}

struct Writer<'a> {
    locals: &'a [ThreadLocal],
    names: &'a [String],
    pointer_width: u32,
}

impl Writer<'_> {
    fn write(&self, function: &mut Function, demands: Vec<Vec<Option<Demand>>>) {
        let thread = VarId(function.vars.len() as u32);
        function.vars.push(Var { name: "own.thread".to_string(), width: 32 });
        for (block, demands) in function.blocks.iter_mut().zip(demands) {
            let insts = std::mem::take(&mut block.insts).into_iter().zip(demands);
            block.insts = insts
                .flat_map(|(inst, demand)| {
                    let before = demand.map(|demand| self.before(demand, thread, inst.span));
                    before.into_iter().flatten().chain([inst])
                })
                .collect();
        }
    }

    fn before(&self, demand: Demand, thread: VarId, span: Span) -> [Inst; 2] {
        let (condition, message, property) = match demand {
            Demand::Within { address, bytes, origins } => {
                let within =
                    origins.iter().map(|local| self.within(*local, thread, &address, bytes));
                let any = within.reduce(|left, right| Expr::binary(BinaryOp::Or, left, right));
                let message = format!("access beyond the thread-local {}", self.named(&origins));
                (any, message, Property::Memory)
            }
            Demand::Stays { origins, first } => {
                let is_first = Expr::Var(thread).eq(Expr::constant(32, 0));
                let message = format!(
                    "the address of the thread-local {} is shown to other threads, and whether \
                     they use it after its thread has ended is not followed",
                    self.named(&origins)
                );
                (first.then_some(is_first), message, Property::Layout)
            }
        };
        let condition = condition.unwrap_or(Expr::constant(1, 0));
        [
            Inst { kind: InstKind::ThreadId { dst: thread }, span },
            Inst { kind: InstKind::Assert { condition, message, property }, span },
        ]
    }

    fn within(&self, local: usize, thread: VarId, address: &Expr, bytes: u32) -> Expr {
        let ThreadLocal { global, stride, size } = &self.locals[local];
        let number = |value: u64| Expr::constant(self.pointer_width, value.into());
        let Some(last) = size.checked_sub(bytes.into()) else { return Expr::constant(1, 0) };
        let copy = Expr::Var(thread).resize(32, self.pointer_width) * number(*stride);
        let start = Expr::Address(*global) + copy;
        let offset = Expr::binary(BinaryOp::Sub, address.clone(), start);
        Expr::binary(BinaryOp::Ule, offset, number(last))
    }

    fn named(&self, origins: &Origins) -> String {
        let names: Vec<String> =
            origins.iter().map(|local| format!("'{}'", self.names[*local])).collect();
        names.join(" or ")
    }
}
