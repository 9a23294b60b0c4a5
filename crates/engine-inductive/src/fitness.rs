//! Which loops can be replaced by what invariants say of them, and where they write.

use std::collections::{BTreeMap, BTreeSet};

use parallax_program::{
    BinaryOp, BlockId, Callee, Expr, Function, GlobalId, Inst, InstKind, Program, Span, VarId,
};

use crate::flow::{results, successors};
use crate::loops::Loop;

/// Something that no stand-in of an iteration can do, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Obstacle {
    pub what: String,
    pub span: Span,
}

fn insts<'a>(function: &'a Function, found: &'a Loop) -> impl Iterator<Item = &'a Inst> {
    let blocks = found.blocks.iter().filter_map(|block| function.blocks.get(block.0 as usize));
    blocks.flat_map(|block| &block.insts)
}

/// Why a loop cannot be replaced.
pub fn obstacle(program: &Program, function: &Function, found: &Loop) -> Option<Obstacle> {
    insts(function, found).find_map(|inst| {
        let what = match &inst.kind {
            InstKind::Call { callee: Callee::Direct(callee), .. } => {
                let name = program.functions.get(callee.0 as usize).map(|f| f.name.as_str());
                format!("it calls '{}'", name.unwrap_or("a function"))
            }
            InstKind::Call { callee: Callee::Indirect(_), .. } => {
                "it calls a function by its address".to_string()
            }
            InstKind::Spawn { .. } => "it starts a thread".to_string(),
            InstKind::Join { .. } => "it waits for the end of a thread".to_string(),
            InstKind::Alloc { .. } | InstKind::HeapSize { .. } | InstKind::Free { .. } => {
                "it makes or frees an object".to_string()
            }
            InstKind::AtomicBegin | InstKind::AtomicEnd => "it has an atomic section".to_string(),
            _ => return None,
        };
        Some(Obstacle { what, span: inst.span })
    })
}

/// Where a loop writes to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Writes {
    To(BTreeSet<GlobalId>),
    Anywhere,
}

/// Where the instructions of a loop write to.
pub fn writes(program: &Program, function: &Function, found: &Loop) -> Writes {
    let known = Definitions::of(function);
    let mut all = BTreeSet::new();
    for inst in insts(function, found) {
        let Some(address) = written(&inst.kind) else { continue };
        match known.global(program, address) {
            Some(global) => {
                all.insert(global);
            }
            None => return Writes::Anywhere,
        }
    }
    Writes::To(all)
}

/// The address that an instruction may write to.
pub fn written(kind: &InstKind) -> Option<&Expr> {
    match kind {
        InstKind::Store { address, .. }
        | InstKind::Rmw { address, .. }
        | InstKind::Cas { address, .. }
        | InstKind::StoreConditional { address, .. } => Some(address),
        _ => None,
    }
}

/// Variables that are assigned once, to an expression.
struct Definitions<'a>(BTreeMap<VarId, Option<&'a Expr>>);

impl<'a> Definitions<'a> {
    /// Addresses that are put together in more steps are not followed.
    const MOST_STEPS: u32 = 32;

    fn of(function: &'a Function) -> Definitions<'a> {
        let mut all: BTreeMap<VarId, Option<&Expr>> =
            (0..function.params).map(|param| (VarId(param), None)).collect();
        for inst in function.blocks.iter().flat_map(|block| &block.insts) {
            for var in results(&inst.kind) {
                let value = match &inst.kind {
                    InstKind::Assign { value, .. } if !all.contains_key(&var) => Some(value),
                    _ => None,
                };
                all.insert(var, value);
            }
        }
        Definitions(all)
    }

    /// The global that an address is in, if that is sure.
    fn global(&self, program: &Program, address: &Expr) -> Option<GlobalId> {
        let (global, offset) = self.base(address, Self::MOST_STEPS)?;
        let size = program.globals.get(global.0 as usize)?.size;
        (offset < u128::from(size)).then_some(global)
    }

    fn base(&self, address: &Expr, steps: u32) -> Option<(GlobalId, u128)> {
        let steps = steps.checked_sub(1)?;
        match address {
            Expr::Address(global) => Some((*global, 0)),
            Expr::Var(var) => self.base(self.0.get(var).copied().flatten()?, steps),
            Expr::Binary(BinaryOp::Add, left, right) => match right.as_ref() {
                Expr::Const(more) => {
                    let (global, offset) = self.base(left, steps)?;
                    Some((global, offset.checked_add(more.unsigned())?))
                }
                _ => None,
            },
            _ => None,
        }
    }
}

/// A store-conditional that may go with a load-linked of another part of its thread than the one that
/// stays together: between marks, headers of loops, and ends of loops.
pub fn lone_store_conditional(
    function: &Function,
    loops: &[Loop],
    cuts: &BTreeSet<BlockId>,
) -> Option<Span> {
    if loops.is_empty() {
        return None;
    }
    let mut before: Vec<Option<Reserved>> = vec![None; function.blocks.len()];
    let mut open: Vec<(BlockId, Reserved)> = vec![(BlockId(0), None)];
    let crosses = |from: BlockId, to: BlockId| {
        cuts.contains(&to)
            || loops.iter().any(|found| {
                found.header == to || found.blocks.contains(&from) != found.blocks.contains(&to)
            })
    };
    let mut lone = None;
    while let Some((number, arrives)) = open.pop() {
        let Some(known) = before.get_mut(number.0 as usize) else { continue };
        let meets = match known {
            None => arrives,
            Some(known) if *known == arrives => continue,
            Some(None) => continue,
            Some(Some(_)) => None,
        };
        *known = Some(meets.clone());
        let block = &function.blocks[number.0 as usize];
        let (after, wrong) = follow(&block.insts, meets);
        lone = lone.or(wrong);
        for to in successors(&block.terminator) {
            let state = if crosses(number, to) { None } else { after.clone() };
            open.push((to, state));
        }
    }
    lone
}

/// The address of the last load-linked, if it is the same on all ways.
type Reserved = Option<Expr>;

fn follow(insts: &[Inst], mut state: Reserved) -> (Reserved, Option<Span>) {
    let mut lone = None;
    for inst in insts {
        match &inst.kind {
            InstKind::LoadLinked { address, .. } => state = Some(address.clone()),
            InstKind::StoreConditional { address, .. } => {
                if state.as_ref() != Some(address) || !matches!(address, Expr::Address(_)) {
                    lone.get_or_insert(inst.span);
                }
                state = None;
            }
            _ => {}
        }
    }
    (state, lone)
}
