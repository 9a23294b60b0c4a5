//! Programs in C11 as they run on machines: every atomic access and fence becomes what compilers
//! make of it.
//!
//! AArch64: the Arm Architecture Reference Manual has load-acquire and store-release for this
//! purpose; read-modify-writes are those of the Large System Extensions. Power: M. Batty, K.
//! Memarian, S. Owens, S. Sarkar, P. Sewell, Clarifying and compiling C/C++ concurrency: from C++11
//! to POWER, POPL 2012, with lwsync after an acquiring load, as the Linux kernel has it. RISC-V:
//! the instruction set manual, volume I, table A.6 of its appendix on RVWMO.
//!
//! Starting, ending and joining threads is done by a library, which orders everything: full
//! fences stand where it is called.

use std::collections::BTreeSet;

use parallax_memory::{Language, Model};
use parallax_program::{
    Block, Callee, Diagnostic, Expr, Function, FunctionBuilder, FunctionId, Inst, InstKind, Order,
    Program, Span, Tags, Terminator,
};

/// A machine that C11 is compiled for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Machine {
    AArch64,
    Power,
    RiscV,
}

impl Machine {
    /// The machine that C11 has to be compiled for, so that a model can speak of it: the only one
    /// whose accesses and fences the model knows, where it does not know those of C.
    pub fn of_model(model: &Model) -> Option<Machine> {
        let mut languages = model.languages().iter();
        match (languages.next()?, languages.next()) {
            (Language::AArch64, None) => Some(Machine::AArch64),
            (Language::Power, None) => Some(Machine::Power),
            (Language::RiscV, None) => Some(Machine::RiscV),
            _ => None,
        }
    }

    fn full_fence(self) -> &'static str {
        match self {
            Machine::AArch64 => "DMB.SY",
            Machine::Power => "SYNC",
            Machine::RiscV => "Fence.rw.rw",
        }
    }
}

/// What an access orders.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Orders {
    acquires: bool,
    releases: bool,
    is_sc: bool,
}

impl Orders {
    fn of(tags: &Tags) -> Orders {
        let acquires = |order: Order| order.acquires() || order == Order::Consume;
        Orders {
            acquires: tags.orders().any(acquires),
            releases: tags.orders().any(Order::releases),
            is_sc: tags.orders().any(|order| order == Order::SequentiallyConsistent),
        }
    }

    /// What both halves of a read-modify-write order.
    fn and(self, other: Orders) -> Orders {
        Orders {
            acquires: self.acquires || other.acquires,
            releases: self.releases || other.releases,
            is_sc: self.is_sc || other.is_sc,
        }
    }
}

/// Marks that are not about order: what checks look at, and what the library says of its accesses.
const KEPT: [&str; 25] = [
    "NA",
    "COPY",
    "FRESH",
    "LEAVE",
    "UNLOCK",
    "LOCK_WRITE",
    "RMW",
    "TAKE",
    "SHARE",
    "AGAIN",
    "GIVE",
    "MUTEX",
    "SPIN",
    "RWLOCK",
    "COND",
    "BARRIER",
    "SEM",
    "ONCE",
    "INIT",
    "DESTROY",
    "SIGNAL",
    "BROADCAST",
    "POST",
    "LOOK",
    "BOOKKEEPING",
];

/// An instruction with the fences around it.
struct Compiled {
    before: Option<&'static str>,
    kind: InstKind,
    after: Option<&'static str>,
}

/// The program as the machine runs it.
pub fn compile(program: &Program, machine: Machine) -> Result<Program, Diagnostic> {
    let mut compiled = program.clone();
    let starts = starts(&mut compiled)?;
    for (number, function) in compiled.functions.iter_mut().enumerate() {
        let is_start = starts.contains(&FunctionId(number as u32));
        for (index, block) in function.blocks.iter_mut().enumerate() {
            compile_block(block, machine, is_start, index == 0);
        }
    }
    Ok(compiled)
}

/// The functions that threads start in, which get fences that only threads have: nobody calls them.
/// Where a thread starts in a function that may be called as well, another one is put in front of it.
fn starts(program: &mut Program) -> Result<BTreeSet<FunctionId>, Diagnostic> {
    let with_addresses = functions_with_addresses(program);
    let called = called_functions(program, &with_addresses);
    let mut starts = BTreeSet::new();
    let mut fronts = Vec::new();
    let known = program.functions.len();
    for (caller, function) in program.functions.iter().enumerate() {
        for (block, inst, index) in spawns(function) {
            let InstKind::Spawn { callee, args, .. } = &inst.kind else { continue };
            let targets = match callee {
                Callee::Direct(function) => BTreeSet::from([*function]),
                Callee::Indirect(_) => with_addresses.clone(),
                Callee::External(_) => BTreeSet::new(),
            };
            if called.is_disjoint(&targets) {
                starts.extend(targets);
                continue;
            }
            let Some(front) = front(program, function, inst.span, callee, args) else {
                let message = "a thread with an argument that is computed where it starts, in a \
                               function that is called as well: not supported by the mappings to \
                               machines";
                return Err(program.source.error(inst.span, message.to_string()));
            };
            fronts.push((caller, block, index, front));
        }
    }
    for (number, (caller, block, index, (front, given))) in fronts.into_iter().enumerate() {
        let id = FunctionId((known + number) as u32);
        program.functions.push(front);
        starts.insert(id);
        let inst = &mut program.functions[caller].blocks[block].insts[index];
        if let InstKind::Spawn { callee, args, .. } = &mut inst.kind {
            (*callee, *args) = (Callee::Direct(id), given);
        }
    }
    Ok(starts)
}

/// Where a function starts threads: block, instruction and its number there.
fn spawns(function: &Function) -> impl Iterator<Item = (usize, &Inst, usize)> {
    function.blocks.iter().enumerate().flat_map(|(number, block)| {
        let insts = block.insts.iter().enumerate();
        let spawns = insts.filter(|(_, inst)| matches!(inst.kind, InstKind::Spawn { .. }));
        spawns.map(move |(index, inst)| (number, inst, index))
    })
}

/// The functions that are entered in other ways than as the start of a new thread. A call through a
/// pointer may be one of any function whose address is taken.
fn called_functions(
    program: &Program,
    with_addresses: &BTreeSet<FunctionId>,
) -> BTreeSet<FunctionId> {
    let mut called: BTreeSet<_> = program.threads.iter().map(|thread| thread.function).collect();
    let blocks = program.functions.iter().flat_map(|function| &function.blocks);
    for inst in blocks.flat_map(|block| &block.insts) {
        match &inst.kind {
            InstKind::Call { callee: Callee::Direct(function), .. } => {
                called.insert(*function);
            }
            InstKind::Call { callee: Callee::Indirect(_), .. } => called.extend(with_addresses),
            _ => {}
        }
    }
    called
}

/// A function for a thread to start in, which calls the one that it is to run, and what it is given.
/// None where an argument is none whose width can be seen.
fn front(
    program: &Program,
    caller: &Function,
    span: Span,
    callee: &Callee,
    args: &[Expr],
) -> Option<(Function, Vec<Expr>)> {
    let name = match callee {
        Callee::Direct(function) => format!("{} as a thread", program.function(*function).name),
        _ => "start of a thread".to_string(),
    };
    let mut builder = FunctionBuilder::new(&name);
    let mut given = Vec::new();
    let callee = match callee {
        Callee::Indirect(address) => {
            given.push(address.clone());
            Callee::Indirect(Expr::Var(builder.param("routine", program.pointer_width)))
        }
        other => other.clone(),
    };
    let mut passed = Vec::new();
    for (number, arg) in args.iter().enumerate() {
        let width = match arg {
            Expr::Const(bits) => bits.width(),
            Expr::Var(var) => caller.vars.get(var.0 as usize)?.width,
            Expr::Address(_) | Expr::FunctionAddress(_) => program.pointer_width,
            _ => return None,
        };
        given.push(arg.clone());
        passed.push(Expr::Var(builder.param(&format!("a{number}"), width)));
    }
    builder.emit(InstKind::Call { dst: None, callee, args: passed });
    builder.terminate(Terminator::Return(None));
    let mut front = builder.finish();
    for block in &mut front.blocks {
        block.insts.iter_mut().for_each(|inst| inst.span = span);
        block.terminator_span = span;
    }
    Some((front, given))
}

fn functions_with_addresses(program: &Program) -> BTreeSet<FunctionId> {
    let mut left: Vec<&Expr> = Vec::new();
    for global in &program.globals {
        left.extend(global.init.iter().map(|cell| &cell.value));
    }
    for thread in &program.threads {
        left.extend(&thread.args);
    }
    for block in program.functions.iter().flat_map(|function| &function.blocks) {
        block.insts.iter().for_each(|inst| inst.kind.for_each_expr(&mut |expr| left.push(expr)));
        match &block.terminator {
            Terminator::Branch { condition, .. } => left.push(condition),
            Terminator::Return(value) => left.extend(value),
            _ => {}
        }
    }
    let mut found = BTreeSet::new();
    while let Some(expr) = left.pop() {
        match expr {
            Expr::FunctionAddress(function) => {
                found.insert(*function);
            }
            Expr::Const(_) | Expr::Var(_) | Expr::Address(_) => {}
            Expr::Unary(_, value)
            | Expr::Extract { value, .. }
            | Expr::ZeroExtend { value, .. }
            | Expr::SignExtend { value, .. } => left.push(value),
            Expr::Binary(_, a, b) | Expr::Concat { high: a, low: b } => left.extend([&**a, &**b]),
            Expr::Select { condition, then, otherwise } => {
                left.extend([&**condition, &**then, &**otherwise]);
            }
        }
    }
    found
}

fn compile_block(block: &mut Block, machine: Machine, is_start: bool, is_entry: bool) {
    let mut insts = Vec::with_capacity(block.insts.len());
    let fence =
        |name: &str, span: Span| Inst { kind: InstKind::Fence { tags: Tags::new([name]) }, span };
    if is_start && is_entry {
        insts.push(fence(machine.full_fence(), block.terminator_span));
    }
    for inst in std::mem::take(&mut block.insts) {
        let Compiled { before, kind, after } = compile_inst(inst.kind, machine);
        insts.extend(before.map(|name| fence(name, inst.span)));
        insts.push(Inst { kind, span: inst.span });
        insts.extend(after.map(|name| fence(name, inst.span)));
    }
    let ends = match &block.terminator {
        Terminator::Exit => true,
        Terminator::Return(_) => is_start,
        _ => false,
    };
    if ends {
        insts.push(fence(machine.full_fence(), block.terminator_span));
    }
    block.insts = insts;
}

fn compile_inst(kind: InstKind, machine: Machine) -> Compiled {
    let alone = |kind| Compiled { before: None, kind, after: None };
    match kind {
        InstKind::Load { dst, address, size, tags } => {
            let (before, after) = load_fences(Orders::of(&tags), machine);
            let tags = access_tags(&tags, machine, false, false);
            Compiled { before, kind: InstKind::Load { dst, address, size, tags }, after }
        }
        InstKind::Store { address, value, size, tags } => {
            let before = store_fence(Orders::of(&tags), machine);
            let tags = access_tags(&tags, machine, true, false);
            Compiled { before, kind: InstKind::Store { address, value, size, tags }, after: None }
        }
        InstKind::Rmw { dst, address, op, operand, size, read_tags, write_tags } => {
            let order = Orders::of(&read_tags).and(Orders::of(&write_tags));
            let (before, after) = exchange_fences(order, machine);
            let read_tags = access_tags(&read_tags, machine, false, true);
            let write_tags = access_tags(&write_tags, machine, true, true);
            let kind = InstKind::Rmw { dst, address, op, operand, size, read_tags, write_tags };
            Compiled { before, kind, after }
        }
        InstKind::Cas {
            dst,
            ok,
            address,
            expected,
            desired,
            size,
            read_tags,
            write_tags,
            fail_tags,
            weak,
        } => {
            let order = Orders::of(&read_tags).and(Orders::of(&write_tags));
            let (before, after) = exchange_fences(order, machine);
            let read_tags = access_tags(&read_tags, machine, false, true);
            let write_tags = access_tags(&write_tags, machine, true, true);
            // On RISC-V what fails is an instruction of the same kind.
            let fail_tags = access_tags(&fail_tags, machine, false, machine == Machine::RiscV);
            let kind = InstKind::Cas {
                dst,
                ok,
                address,
                expected,
                desired,
                size,
                read_tags,
                write_tags,
                fail_tags,
                weak,
            };
            Compiled { before, kind, after }
        }
        InstKind::Fence { tags } if !tags.contains(Tags::MEMBARRIER) => {
            alone(InstKind::Fence { tags: fence_tags(&tags, machine) })
        }
        InstKind::Spawn { .. } => {
            Compiled { before: Some(machine.full_fence()), kind, after: None }
        }
        InstKind::Join { .. } => Compiled { before: None, kind, after: Some(machine.full_fence()) },
        other => alone(other),
    }
}

fn load_fences(order: Orders, machine: Machine) -> (Option<&'static str>, Option<&'static str>) {
    let when = |condition: bool, name| condition.then_some(name);
    match machine {
        Machine::AArch64 => (None, None),
        Machine::Power => (when(order.is_sc, "SYNC"), when(order.acquires, "LWSYNC")),
        Machine::RiscV => (when(order.is_sc, "Fence.rw.rw"), when(order.acquires, "Fence.r.rw")),
    }
}

fn store_fence(order: Orders, machine: Machine) -> Option<&'static str> {
    match machine {
        Machine::Power if order.is_sc => Some("SYNC"),
        Machine::Power if order.releases => Some("LWSYNC"),
        Machine::RiscV if order.releases => Some("Fence.rw.w"),
        _ => None,
    }
}

/// Read-modify-writes carry their order themselves, but on Power.
fn exchange_fences(
    order: Orders,
    machine: Machine,
) -> (Option<&'static str>, Option<&'static str>) {
    match machine {
        Machine::Power => (store_fence(order, machine), load_fences(order, machine).1),
        _ => (None, None),
    }
}

/// What is left of the tags of an access. Two accesses make a pair where `paired`.
fn access_tags(tags: &Tags, machine: Machine, writes: bool, paired: bool) -> Tags {
    let order = Orders::of(tags);
    let mut names: Vec<&str> = Vec::new();
    match machine {
        Machine::AArch64 => {
            if !writes && order.acquires {
                names.push("A");
            }
            if writes && order.releases {
                names.push("L");
            }
        }
        Machine::RiscV if paired => names.extend(match (order.acquires, order.releases) {
            (true, true) => Some("AcqRel"),
            (true, false) => Some("Acq"),
            (false, true) => Some("Rel"),
            (false, false) => None,
        }),
        _ => {}
    }
    if paired {
        names.push("X");
    }
    with_mark(kept(tags).with(names), tags)
}

/// What stays of the tags. To the machine, memory orders mean nothing, but by them C says what a race
/// is (`lib/c-races.cat`).
fn kept(tags: &Tags) -> Tags {
    let orders = tags.orders().map(Order::tag);
    Tags::new(KEPT.into_iter().filter(|kept| tags.contains(kept)).chain(orders))
}

/// Candidates for a repair stay what they are.
fn with_mark(compiled: Tags, tags: &Tags) -> Tags {
    match tags.candidate() {
        Some(number) => compiled.marked(number),
        None => compiled,
    }
}

fn fence_tags(tags: &Tags, machine: Machine) -> Tags {
    let order = Orders::of(tags);
    let name = match machine {
        Machine::AArch64 if order.releases => "DMB.ISH",
        Machine::AArch64 => "DMB.ISHLD",
        Machine::Power if order.is_sc => "SYNC",
        Machine::Power => "LWSYNC",
        Machine::RiscV if order.is_sc => "Fence.rw.rw",
        Machine::RiscV => match (order.acquires, order.releases) {
            (true, true) => "Fence.tso",
            (_, true) => "Fence.rw.w",
            _ => "Fence.r.rw",
        },
    };
    match order.acquires || order.releases {
        true => with_mark(kept(tags).with([name]), tags),
        false => tags.clone(),
    }
}
