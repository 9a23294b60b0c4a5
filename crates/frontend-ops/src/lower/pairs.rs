//! Atomic pairs: `atom(read)`, and in the same instruction `atom(write)`, with arithmetic in
//! between and maybe under a condition.
//!
//! What a pair writes is expressed by what was there before it and by the value that it reads.
//! Where that is a swap, an addition or a compare-and-swap, it becomes that. Everything else is a
//! load-linked and a store-conditional that does not fail.

use std::collections::HashMap;

use parallax_program::{AccessSize, BinaryOp, Expr, InstKind, RmwOp, Tags, VarId};

use super::arithmetic::{condition, exp};
use super::{Lowering, parts};
use crate::names::is_visible;
use crate::syntax::{Condition, Ex, Exp, Op, OpKind, Place, Target};

/// What stands between the halves of a pair, and around the second.
struct Pair<'e> {
    target: &'e Target,
    dst: &'e str,
    before: &'e [Ex],
    guard: Option<Guard<'e>>,
    value: &'e Exp,
    write: &'e Op,
}

/// The condition of a conditional write, and what else is under it.
struct Guard<'e> {
    condition: &'e Condition,
    before: &'e [Ex],
    after: &'e [Ex],
}

/// Expressions longer than this are not looked into.
const MOST_OPERATORS: usize = 60;

impl Lowering<'_> {
    /// A pair, of which the first half stands before `rest`. What follows the pair is returned.
    pub(super) fn pair<'e>(&mut self, first: &'e Op, rest: &'e [Ex]) -> &'e [Ex] {
        let found = find(first, rest);
        let (pair, after) = match found {
            Ok(found) => found,
            Err((op, message)) => {
                self.error(op.mark.0, message);
                return &[];
            }
        };
        self.builder.at(first.mark.0);
        let address = self.address(pair.target, first.mark.0);
        let old = self.builder.temp(super::WIDTH);
        match self.shape(&pair, old) {
            Some(Shape::Modify(op, operand)) => {
                self.modify(address, old, op, operand);
                self.finish(&pair, old, None);
            }
            Some(Shape::Swap { expected, desired }) => {
                self.compare_and_swap(address, old, expected, desired);
                self.finish(&pair, old, None);
            }
            None => {
                self.load_linked(old, address.clone());
                self.finish(&pair, old, Some(address));
            }
        }
        after
    }

    fn modify(&mut self, address: Expr, old: VarId, op: RmwOp, operand: Expr) {
        self.builder.emit(InstKind::Rmw {
            dst: Some(old),
            address,
            op,
            operand,
            size: AccessSize::WORD,
            read_tags: locked(),
            write_tags: locked(),
        });
    }

    /// A failed one is locked, too, where the instruction set is x86.
    fn compare_and_swap(&mut self, address: Expr, old: VarId, expected: Expr, desired: Expr) {
        let is_x86 = self.structures.isa == Some(crate::isa::Isa::X86);
        self.builder.emit(InstKind::Cas {
            dst: Some(old),
            ok: None,
            address,
            expected,
            desired,
            size: AccessSize::WORD,
            read_tags: locked(),
            write_tags: locked(),
            fail_tags: if is_x86 { locked() } else { Tags::none() },
            weak: false,
        });
    }

    /// What the thread does beside the accesses; and, where an address is given, the write, as a
    /// store-conditional.
    fn finish(&mut self, pair: &Pair<'_>, old: VarId, store: Option<Expr>) {
        let dst = self.var(pair.dst);
        self.builder.assign(dst, Expr::Var(old));
        self.sequence(pair.before);
        let Some(guard) = &pair.guard else {
            self.store(pair, store);
            return;
        };
        let condition = self.condition(guard.condition);
        self.when(condition, false, |lowering| {
            lowering.sequence(guard.before);
            lowering.store(pair, store);
            lowering.sequence(guard.after);
        });
    }

    fn store(&mut self, pair: &Pair<'_>, store: Option<Expr>) {
        if let Some(address) = store {
            self.builder.at(pair.write.mark.0);
            let value = self.exp(pair.value);
            let status = self.store_conditional(address, value);
            self.builder.emit(InstKind::Assume { condition: !status });
        }
    }

    /// The instruction that a pair is, if there is one.
    fn shape(&mut self, pair: &Pair<'_>, old: VarId) -> Option<Shape> {
        let mut known = HashMap::from([(pair.dst, Expr::Var(old))]);
        self.follow(pair.before, &mut known)?;
        let guard = match &pair.guard {
            Some(guard) => {
                let expected = self.expected(guard.condition, &known, old)?;
                self.follow(guard.before, &mut known)?;
                Some(expected)
            }
            None => None,
        };
        let value = self.inlined(pair.value, &known)?;
        match guard {
            Some(expected) => {
                let desired = replaced(value, old, &expected);
                (operators(&desired) <= MOST_OPERATORS).then_some(Shape::Swap { expected, desired })
            }
            None => modification(value, old),
        }
    }

    /// What names stand for after some operations of the thread alone.
    fn follow<'e>(&mut self, list: &'e [Ex], known: &mut HashMap<&'e str, Expr>) -> Option<()> {
        for part in list {
            let Ex::Op(op) = part else {
                return None;
            };
            let (dst, value) = match &op.kind {
                OpKind::Read { dst, src: Place::Register(src) } => {
                    let value = Exp::Temporary(src.clone());
                    (dst, self.inlined(&value, known)?)
                }
                OpKind::Write { dst: Place::Register(dst), value }
                | OpKind::Compute { dst, value } => (dst, self.inlined(value, known)?),
                _ => return None,
            };
            known.insert(dst, value);
        }
        Some(())
    }

    fn inlined(&mut self, value: &Exp, known: &HashMap<&str, Expr>) -> Option<Expr> {
        let mut length = 0usize;
        value.leaves(&mut |leaf| {
            if let Exp::Temporary(name) = leaf {
                length += known.get(name.as_str()).map_or(1, |value| 1 + operators(value));
            }
        });
        if length > MOST_OPERATORS {
            return None;
        }
        Some(exp(value, &mut |name| match known.get(name) {
            Some(value) => value.clone(),
            None => Expr::Var(self.var(name)),
        }))
    }

    /// What the value read has to be equal to for the condition to hold.
    fn expected(
        &mut self,
        guard: &Condition,
        known: &HashMap<&str, Expr>,
        old: VarId,
    ) -> Option<Expr> {
        let guard = condition(guard, &mut |name| match known.get(name) {
            Some(value) => value.clone(),
            None => Expr::Var(self.var(name)),
        });
        let Expr::Binary(BinaryOp::Eq, left, right) = guard else {
            return None;
        };
        let (left, right) = (*left, *right);
        let (read, other) = if left == Expr::Var(old) { (left, right) } else { (right, left) };
        let fits = read == Expr::Var(old) && !mentions(&other, old);
        (fits && operators(&other) <= MOST_OPERATORS).then_some(other)
    }
}

enum Shape {
    Modify(RmwOp, Expr),
    Swap { expected: Expr, desired: Expr },
}

/// A write of a value that is nothing but an operation on the value read.
fn modification(value: Expr, old: VarId) -> Option<Shape> {
    if !mentions(&value, old) {
        return Some(Shape::Modify(RmwOp::Swap, value));
    }
    let Expr::Binary(op, left, right) = value else {
        return None;
    };
    let (left, right) = (*left, *right);
    let is_old = |side: &Expr| *side == Expr::Var(old);
    match op {
        BinaryOp::Add if is_old(&left) && !mentions(&right, old) => {
            Some(Shape::Modify(RmwOp::Add, right))
        }
        BinaryOp::Add if is_old(&right) && !mentions(&left, old) => {
            Some(Shape::Modify(RmwOp::Add, left))
        }
        BinaryOp::Sub if is_old(&left) && !mentions(&right, old) => {
            Some(Shape::Modify(RmwOp::Sub, right))
        }
        _ => None,
    }
}

fn locked() -> Tags {
    Tags::new(["X"])
}

/// The second half of a pair, and what follows it; or what is wrong, and where.
fn find<'e>(first: &'e Op, rest: &'e [Ex]) -> Result<(Pair<'e>, &'e [Ex]), (&'e Op, &'static str)> {
    let OpKind::Read { dst, src: Place::Memory(target) } = &first.kind else {
        return Err((first, "this half of an atomic pair has no read before it"));
    };
    let alone = (first, "there is no write to go with this half of an atomic pair");
    let place = rest.iter().position(has_atom).ok_or(alone)?;
    let (before, rest) = rest.split_at(place);
    let [second, after @ ..] = rest else {
        return Err(alone);
    };
    let (guard, write) = match second {
        Ex::Atom(write) => (None, write),
        Ex::If(condition, body, _) => {
            let body = parts(body);
            let place = body.iter().position(|ex| matches!(ex, Ex::Atom(_)));
            let (inner, last) = body.split_at(place.ok_or(alone)?);
            let [Ex::Atom(write), last @ ..] = last else {
                return Err(alone);
            };
            (Some(Guard { condition, before: inner, after: last }), write)
        }
        _ => return Err(alone),
    };
    let OpKind::Write { dst: Place::Memory(written), value } = &write.kind else {
        return Err((write, "a read of an atomic pair has another read before it"));
    };
    if written != target {
        return Err((write, "the halves of an atomic pair are of the same location"));
    }
    let between = before.iter().chain(guard.iter().flat_map(|guard| guard.before));
    for part in between {
        let mut visible = None;
        part.operations(&mut |op| visible = visible.or(is_visible(op).then_some(op)));
        if let Some(op) = visible {
            return Err((op, "between the halves of an atomic pair nothing else is accessed"));
        }
    }
    Ok((Pair { target, dst, before, guard, value, write }, after))
}

fn has_atom(ex: &Ex) -> bool {
    match ex {
        Ex::Nil | Ex::Op(_) | Ex::Par(_) => false,
        Ex::Atom(_) => true,
        Ex::Seq(parts) => parts.iter().any(has_atom),
        Ex::If(_, body, _) => has_atom(body),
    }
}

/// Calls `visit` on every part of an expression.
fn walk(expr: &Expr, visit: &mut dyn FnMut(&Expr)) {
    visit(expr);
    match expr {
        Expr::Unary(_, value) => walk(value, visit),
        Expr::Binary(_, left, right) => {
            walk(left, visit);
            walk(right, visit);
        }
        Expr::Select { condition, then, otherwise } => {
            walk(condition, visit);
            walk(then, visit);
            walk(otherwise, visit);
        }
        _ => {}
    }
}

fn mentions(expr: &Expr, var: VarId) -> bool {
    let mut found = false;
    walk(expr, &mut |part| found |= *part == Expr::Var(var));
    found
}

fn operators(expr: &Expr) -> usize {
    let mut count = 0;
    walk(expr, &mut |part| count += usize::from(!matches!(part, Expr::Var(_) | Expr::Const(_))));
    count
}

/// The expression, with another in the place of a variable.
fn replaced(expr: Expr, var: VarId, by: &Expr) -> Expr {
    let inside = |expr: Box<Expr>| replaced(*expr, var, by);
    match expr {
        Expr::Var(found) if found == var => by.clone(),
        Expr::Unary(op, value) => Expr::unary(op, inside(value)),
        Expr::Binary(op, left, right) => Expr::binary(op, inside(left), inside(right)),
        Expr::Select { condition, then, otherwise } => {
            inside(condition).select(inside(then), inside(otherwise))
        }
        other => other,
    }
}
