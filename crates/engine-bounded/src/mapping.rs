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
    Block, Callee, Diagnostic, Expr, FunctionId, Inst, InstKind, Order, Program, Span, Tags,
    Terminator,
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

/// Marks that are not about order, and that checks look at.
const KEPT: [&str; 7] = ["NA", "COPY", "FRESH", "LEAVE", "UNLOCK", "LOCK_WRITE", "RMW"];

/// An instruction with the fences around it.
struct Compiled {
    before: Option<&'static str>,
    kind: InstKind,
    after: Option<&'static str>,
}

/// The program as the machine runs it.
pub fn compile(program: &Program, machine: Machine) -> Result<Program, Diagnostic> {
    let mut compiled = program.clone();
    let routines = routines(program)?;
    for (number, function) in compiled.functions.iter_mut().enumerate() {
        let is_routine = routines.contains(&FunctionId(number as u32));
        for (index, block) in function.blocks.iter_mut().enumerate() {
            compile_block(block, machine, is_routine, index == 0);
        }
    }
    Ok(compiled)
}

/// The functions that threads start in. One that is found at run time is any whose address is
/// taken; those must not be called in other ways, as they get fences that only threads have.
fn routines(program: &Program) -> Result<BTreeSet<FunctionId>, Diagnostic> {
    let mut routines = BTreeSet::new();
    let (mut is_found, mut call) = (false, None);
    let blocks = || program.functions.iter().flat_map(|function| &function.blocks);
    for inst in blocks().flat_map(|block| &block.insts) {
        match &inst.kind {
            InstKind::Spawn { callee: Callee::Direct(function), .. } => {
                routines.insert(*function);
            }
            InstKind::Spawn { .. } => is_found = true,
            InstKind::Call { callee: Callee::Indirect(_), .. } => call = Some(inst.span),
            _ => {}
        }
    }
    match call.filter(|_| is_found) {
        Some(span) => {
            let message = "a call through a pointer, in a program that starts threads in the same \
                           way: not supported by the mappings to machines";
            Err(program.source.error(span, message.to_string()))
        }
        None => {
            if is_found {
                routines.extend(functions_with_addresses(program));
            }
            Ok(routines)
        }
    }
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

fn compile_block(block: &mut Block, machine: Machine, is_routine: bool, is_entry: bool) {
    let mut insts = Vec::with_capacity(block.insts.len());
    let fence =
        |name: &str, span: Span| Inst { kind: InstKind::Fence { tags: Tags::new([name]) }, span };
    if is_routine && is_entry {
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
        Terminator::Return(_) => is_routine,
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
