//! Guards against answers that hold in one layout of memory only.
//!
//! Engines put objects at addresses of one layout. C lets them lie anywhere: what a program can know of
//! an address is whether it is null, whether it equals another one, how far it is from another one
//! of the same object, and the bits that the alignment of its object determines. Where a program
//! computes anything else with an address (`(int)p`, a hash of it, its order among other objects), what
//! follows is another thing in another layout, and an answer would say nothing about the others.
//!
//! [`guard`] puts an assertion of the property [`Property::Layout`](parallax_program::Property::Layout)
//! in front of each such computation that it cannot rule out. Nobody asks for that property, so an
//! execution in which the assertion fails is a gap, in each engine, by the rules for all assertions:
//! it goes no further, and no answer is `safe` that has one. Executions without one are the same in
//! every layout, so what is wrong with them is wrong in all.
//!
//! `flow` finds out which values may be addresses, before anything is run; most programs need
//! no guard then. `reader` says of expressions, and `demand` of operators, what has to hold, as a condition
//! on the values that are there when the guard is reached.
//!
//! An address that was freed is never used again here; see the chapter "What an answer means" of the
//! book.

mod demand;
mod flow;
mod reader;
mod stride;
mod value;

use parallax_program::{
    BlockId, Expr, FunctionId, Inst, InstKind, Program, Property, RmwOp, Span, Terminator,
};

use crate::demand::Demand;
use crate::flow::{Flow, Site, is_copy};
use crate::reader::{Operand, Reader};

const DEPENDS: &str = "what happens next depends on where objects lie in memory";
const PART: &str = "a part of an address is read, which depends on where objects lie in memory";

/// Puts guards where the program would do one thing in one layout and another in another. Programs
/// in machine code have an address for everything, and are left alone.
pub fn guard(program: &mut Program) {
    let is_machine_code = !program.registers.is_empty();
    if is_machine_code {
        return;
    }
    let flow = Flow::of(program);
    let guards: Vec<Vec<Vec<Vec<Inst>>>> = (0..program.functions.len())
        .map(|number| guards(&flow, FunctionId(number as u32)))
        .collect();
    for (function, guards) in program.functions.iter_mut().zip(guards) {
        for (block, guards) in function.blocks.iter_mut().zip(guards) {
            if guards.iter().any(|guards| !guards.is_empty()) {
                let insts = std::mem::take(&mut block.insts).into_iter().map(Some).chain([None]);
                let with = guards.into_iter().zip(insts);
                block.insts =
                    with.flat_map(|(guards, inst)| guards.into_iter().chain(inst)).collect();
            }
        }
    }
}

/// The guards of a function: for each block, those before each instruction and before its end.
fn guards(flow: &Flow<'_>, id: FunctionId) -> Vec<Vec<Vec<Inst>>> {
    if !flow.is_reached(id) {
        return Vec::new();
    }
    let blocks = flow.program.function(id).blocks.iter().enumerate();
    let blocks = blocks.map(|(number, block)| {
        let site = |index| (id, BlockId(number as u32), index);
        let insts = block.insts.iter().enumerate();
        let insts = insts.map(|(index, inst)| before(flow, site(index), inst));
        let end = at_end(flow, site(block.insts.len()), &block.terminator, block.terminator_span);
        insts.chain([end]).collect()
    });
    blocks.collect()
}

fn assertion(condition: Expr, message: &str, span: Span) -> Inst {
    let (message, property) = (message.to_string(), Property::Layout);
    Inst { kind: InstKind::Assert { condition, message, property }, span }
}

/// The guards of an instruction.
fn before(flow: &Flow<'_>, site: Site, inst: &Inst) -> Vec<Inst> {
    let function = site.0;
    let mut demands = Vec::new();
    // What front ends check holds in every layout that they speak of.
    let is_check =
        matches!(&inst.kind, InstKind::Assert { property, .. } if *property != Property::Assert);
    if !flow.is_linked(site) && !is_check {
        inst.kind.for_each_expr(&mut |expr| {
            demands.extend(Reader::demands(flow, function, expr));
        });
    }
    let mut guards: Vec<Inst> =
        demands.into_iter().map(|demand| assertion(demand, DEPENDS, inst.span)).collect();
    let part = part_is_read(flow, function, &inst.kind);
    guards.extend(part.map(|demand| assertion(demand, PART, inst.span)));
    // The words of locks and the like are the library's own, and hold numbers.
    let is_own = flow.is_linked(site);
    let changed = (!is_own).then(|| changes_address(flow, function, &inst.kind)).flatten();
    guards.extend(changed.map(|demand| assertion(demand, DEPENDS, inst.span)));
    guards
}

fn at_end(flow: &Flow<'_>, site: Site, end: &Terminator, span: Span) -> Vec<Inst> {
    let expr = match end {
        Terminator::Branch { condition, .. } => condition,
        Terminator::Return(Some(value)) => value,
        _ => return Vec::new(),
    };
    if flow.is_linked(site) {
        return Vec::new();
    }
    let demands = Reader::demands(flow, site.0, expr).into_iter();
    demands.map(|demand| assertion(demand, DEPENDS, span)).collect()
}

/// What has to hold so that an access reads no part of an address.
fn part_is_read(flow: &Flow<'_>, function: FunctionId, kind: &InstKind) -> Option<Expr> {
    let (address, size) = match kind {
        InstKind::Load { address, size, tags, .. }
        | InstKind::LoadLinked { address, size, tags, .. }
            if !is_copy(tags) =>
        {
            (address, size)
        }
        InstKind::Rmw { address, size, .. } | InstKind::Cas { address, size, .. } => {
            (address, size)
        }
        _ => return None,
    };
    let bytes = u64::from(size.bytes());
    if bytes >= flow.pointer_bytes() {
        return None;
    }
    let value = Reader::new(flow, function, true).value(address);
    Demand::of(flow.program).apart(flow, Operand { value: &value, expr: address }, bytes)
}

/// What has to hold so that an atomic operation on an address gives the same in every layout. Nobody
/// knows before what it finds.
fn changes_address(flow: &Flow<'_>, function: FunctionId, kind: &InstKind) -> Option<Expr> {
    let InstKind::Rmw { address, op, operand, size, .. } = kind else {
        return None;
    };
    let reader = Reader::new(flow, function, true);
    let (place, value) = (reader.value(address), reader.value(operand));
    let old = flow.loaded(&place, size.bytes().into(), false);
    if u64::from(size.bytes()) != flow.pointer_bytes() || old.is_number() && value.is_number() {
        return None;
    }
    let operand = Operand { value: &value, expr: operand };
    let (demand, pointer) = (Demand::of(flow.program), flow.program.pointer_width);
    match op {
        RmwOp::Swap => None,
        RmwOp::Add => (!value.is_number()).then(|| !demand.is_address(operand.expr, pointer)),
        RmwOp::Sub => (!value.is_number()).then(|| !demand.is_address(operand.expr, pointer)),
        RmwOp::And | RmwOp::AndNot => demand.mask(operand, reader.alignment(&old), true),
        RmwOp::Or | RmwOp::Xor => demand.mask(operand, reader.alignment(&old), false),
        _ => Some(Expr::constant(1, 0)),
    }
}

#[cfg(test)]
mod tests {
    use parallax_program::parse_program;

    use super::*;

    /// How many guards a function with this body gets, in a program with a few globals.
    fn guards_in(body: &str) -> usize {
        let text = format!(
            "program test pointers 64\nglobal a: 16 align 8\nglobal b: 16 align 8\n\
             global held: 16 align 8 = {{ 8: &a }}\n\
             fn main() {{\n  var p: 64, q: 64, n: 64, i: 32, c: 1\n{body}\n  return\n}}\n\
             thread main = main()\n"
        );
        let mut program = match parse_program("test", &text) {
            Ok(program) => program,
            Err(errors) => panic!("{errors:?}\n{text}"),
        };
        guard(&mut program);
        assert!(program.check().is_ok(), "{text}");
        let blocks = program.functions.iter().flat_map(|function| &function.blocks);
        let insts = blocks.flat_map(|block| &block.insts);
        insts
            .filter(|inst| {
                matches!(&inst.kind, InstKind::Assert { property: Property::Layout, .. })
            })
            .count()
    }

    #[test]
    fn numbers_need_no_guard() {
        assert_eq!(guards_in("i = extract(n, 0, 32)\n c = n <u 5:64\n n = n * 3:64"), 0);
        assert_eq!(guards_in("n = load.8 &a [NA]\n c = n <u 5:64\n i = extract(n, 0, 32)"), 0);
    }

    #[test]
    fn bits_that_the_alignment_says_need_no_guard() {
        let heap = "p = alloc.heap 8:64 align 16\n";
        let made = |rest: &str| guards_in(&format!("{heap}{rest}"));
        assert_eq!(made("n = p & 15:64"), 0);
        assert_eq!(made("n = p & -16:64\n q = p | 1:64\n c = q == p"), 0);
        assert_eq!(made("n = p & 31:64"), 1);
        assert_eq!(made("i = extract(p, 0, 32)"), 1);
        assert_eq!(made("n = p >>u 4:64\n n = n * 3:64"), 1);
        assert_eq!(guards_in("n = &a & 7:64"), 0);
        assert_eq!(guards_in("n = &a & 8:64"), 1);
    }

    #[test]
    fn order_is_of_one_object() {
        assert_eq!(guards_in("c = &a + 8:64 <u &a + 16:64\n n = &a + 8:64 - &a"), 0);
        assert_eq!(guards_in("c = &a <u &b"), 1);
        assert_eq!(guards_in("c = &a == &b"), 0);
        assert_eq!(guards_in("c = &a + 16:64 == &b"), 1);
        assert_eq!(guards_in("c = &a == 0:64\n c = &a <u 1:64\n c = &a == -1:64"), 0);
        assert_eq!(guards_in("c = &a == 123456:64"), 1);
    }

    #[test]
    fn parts_of_addresses_in_memory() {
        assert_eq!(guards_in("i = load.4 &held [NA]"), 0);
        assert_eq!(guards_in("i = load.4 &held + 8:64 [NA]"), 1);
        assert_eq!(guards_in("i = load.4 &held + 12:64 [NA]"), 1);
        assert_eq!(guards_in("p = load.8 &held + 8:64 [NA]\n i = load.4 p [NA]"), 0);
        assert_eq!(guards_in("p = load.8 &held + 8:64 [NA]\n n = p >>u 1:64"), 1);
        assert_eq!(guards_in("i = load.4 &held + 8:64 [NA, COPY]"), 0);
        assert_eq!(guards_in("store.8 &b + n * 16:64, &a [NA]\n i = load.4 &b + 8:64 [NA]"), 0);
        assert_eq!(guards_in("store.8 &b + n * 16:64, &a [NA]\n i = load.4 &b + 4:64 [NA]"), 1);
    }
}
