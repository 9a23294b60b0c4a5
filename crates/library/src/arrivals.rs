//! Whether anybody makes use of who was the last to arrive at a barrier.
//!
//! `pthread_barrier_wait` gives 0 or PTHREAD_BARRIER_SERIAL_THREAD (-1), and careful programs test that
//! it gave nothing else. Such a test asks nothing: with either result the thread comes, by jumps and
//! assignments alone, to the same place, and nothing that differs between the two ways is used from there
//! on. Otherwise the result is used.

use std::collections::{BTreeMap, BTreeSet};

use parallax_program::{
    BinaryOp, Bits, BlockId, Callee, Expr, Function, InstKind, Terminator, VarId,
};

/// What calls that wait at barriers give, if anything, and where they stand.
pub(crate) fn waits(function: &Function) -> impl Iterator<Item = (Option<VarId>, Place)> {
    function.blocks.iter().enumerate().flat_map(|(block, body)| {
        body.insts.iter().enumerate().filter_map(move |(index, inst)| match &inst.kind {
            InstKind::Call { dst, callee: Callee::External(name), .. } => {
                let waits = ["pthread_barrier_wait", "__VERIFIER_barrier_wait"];
                waits.contains(&name.as_str()).then_some((*dst, (block, index)))
            }
            _ => None,
        })
    })
}

/// Whether a function makes no use of the results of waiting at barriers.
pub(crate) fn are_ignored(function: &Function) -> bool {
    waits(function).all(|(dst, place)| dst.is_none_or(|dst| is_ignored(function, dst, place)))
}

/// A block, and a position in it; its length stands for the terminator.
type Place = (usize, usize);

/// What is known after a call that has given one of its results, up to where it takes more to go on.
struct Way {
    known: BTreeMap<VarId, Bits>,
    assigned: BTreeSet<VarId>,
    passed: BTreeSet<Place>,
    end: Place,
}

/// Assignments and jumps that are looked at after a call.
const MOST: usize = 100;

fn is_ignored(function: &Function, result: VarId, (block, index): Place) -> bool {
    let width = function.vars[result.0 as usize].width;
    let way = |value: Bits| way(function, (block, index + 1), result, value);
    let (Some(one), Some(other)) = (way(Bits::zero(width)), way(Bits::signed(width, -1))) else {
        return false;
    };
    let passed: BTreeSet<Place> = one.passed.union(&other.passed).copied().collect();
    let differs = |var: &&VarId| {
        let (one, other) = (one.known.get(var), other.known.get(var));
        one.is_none() || one != other
    };
    let differing: Vec<VarId> =
        one.assigned.union(&other.assigned).filter(differs).copied().collect();
    let others = || places(function).filter(|place| !passed.contains(place));
    let uses = |place: Place| {
        let mut is_used = false;
        for_each_expr(function, place, &mut |expr| {
            is_used |= differing.iter().any(|var| expr.mentions(*var));
        });
        is_used
    };
    // Nobody else comes to what lies on the ways.
    let comes_in = |place: Place| targets(function, place).any(|to| passed.contains(&(to, 0)));
    let is_apart = !passed.contains(&(0, 0)) && !others().any(comes_in);
    one.end == other.end && is_apart && !others().any(uses)
}

fn way(function: &Function, start: Place, result: VarId, value: Bits) -> Option<Way> {
    let mut way = Way {
        known: BTreeMap::from([(result, value)]),
        assigned: BTreeSet::from([result]),
        passed: BTreeSet::new(),
        end: start,
    };
    for _ in 0..MOST {
        let (block, index) = way.end;
        let body = &function.blocks[block];
        let next = match body.insts.get(index).map(|inst| &inst.kind) {
            Some(InstKind::Assign { dst, value }) => {
                match evaluate(value, &way.known) {
                    Some(value) => way.known.insert(*dst, value),
                    None if way.known.keys().any(|var| value.mentions(*var)) => return None,
                    None => way.known.remove(dst),
                };
                way.assigned.insert(*dst);
                Some((block, index + 1))
            }
            Some(_) => None,
            None => match &body.terminator {
                Terminator::Jump(target) => Some((target.0 as usize, 0)),
                Terminator::Branch { condition, then, otherwise, .. } => {
                    let taken = evaluate(condition, &way.known);
                    let target = |taken: Bits| if taken.is_zero() { otherwise } else { then };
                    taken.map(|taken| (target(taken).0 as usize, 0))
                }
                Terminator::Return(_) | Terminator::Exit => None,
            },
        };
        let Some(next) = next else {
            return Some(way);
        };
        way.passed.insert(way.end);
        way.end = next;
    }
    None
}

/// The value of an expression that asks no more than what is equal.
fn evaluate(expr: &Expr, known: &BTreeMap<VarId, Bits>) -> Option<Bits> {
    match expr {
        Expr::Const(bits) if !bits.is_undefined() => Some(*bits),
        Expr::Var(var) => known.get(var).copied(),
        Expr::Binary(op @ (BinaryOp::Eq | BinaryOp::Ne), left, right) => {
            let is_same = evaluate(left, known)? == evaluate(right, known)?;
            Some(Bits::bool(is_same == (*op == BinaryOp::Eq)))
        }
        _ => None,
    }
}

fn places(function: &Function) -> impl Iterator<Item = Place> {
    let blocks = function.blocks.iter().enumerate();
    blocks.flat_map(|(block, body)| (0..=body.insts.len()).map(move |index| (block, index)))
}

fn for_each_expr(function: &Function, (block, index): Place, look: &mut impl FnMut(&Expr)) {
    let body = &function.blocks[block];
    match (body.insts.get(index), &body.terminator) {
        (Some(inst), _) => inst.kind.for_each_expr(&mut |expr| look(expr)),
        (None, Terminator::Branch { condition, .. }) => look(condition),
        (None, Terminator::Return(Some(value))) => look(value),
        (None, _) => {}
    }
}

/// The blocks that a terminator leads to.
fn targets(function: &Function, (block, index): Place) -> impl Iterator<Item = usize> {
    let body = &function.blocks[block];
    let to: Vec<BlockId> = match &body.terminator {
        _ if index < body.insts.len() => Vec::new(),
        Terminator::Jump(target) => vec![*target],
        Terminator::Branch { then, otherwise, .. } => vec![*then, *otherwise],
        Terminator::Return(_) | Terminator::Exit => Vec::new(),
    };
    to.into_iter().map(|block| block.0 as usize)
}

#[cfg(test)]
mod tests {
    use parallax_program::parse_program;

    use super::*;

    fn is_ignored_in(after: &str) -> bool {
        let text = format!(
            "program p pointers 64\nglobal x: 4\nfn f() {{\nvar r: 32, s: 32, a: 1, b: 1\n\
             r = call extern pthread_barrier_wait(&x)\n{after}\n}}\n"
        );
        let program =
            parse_program("p", &text).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"));
        are_ignored(&program.functions[0])
    }

    #[test]
    fn a_test_that_no_result_fails_asks_nothing() {
        let short = "branch r == 0:32, good, more\nmore:\nbranch r == 0xffffffff:32, good, bad\n\
                     bad:\nassert 0:1, \"bad\"\njump good\ngood:\nstore.4 &x, 1:32\n";
        assert!(is_ignored_in(short));
        let by_value = "b = 0:1\na = r != 0:32\nbranch a, more, test\nmore:\n\
                        b = r != 0xffffffff:32\njump test\ntest:\nbranch b, bad, good\nbad:\n\
                        assert 0:1, \"bad\"\njump good\ngood:\nstore.4 &x, 1:32\n";
        assert!(is_ignored_in(by_value));
        assert!(is_ignored_in("store.4 &x, 1:32"));
    }

    #[test]
    fn a_test_that_one_result_fails_asks() {
        let last = "branch r == 0xffffffff:32, last, end\nlast:\nstore.4 &x, 1:32\njump end\nend:";
        assert!(!is_ignored_in(last));
        assert!(!is_ignored_in("assert r == 0:32, \"not the last\""));
        assert!(!is_ignored_in("store.4 &x, r"));
        assert!(!is_ignored_in("s = r + 1:32\nstore.4 &x, 1:32"));
        // The test asks nothing, but the result is used after it.
        let later = "branch r == 0:32, good, more\nmore:\nbranch r == 0xffffffff:32, good, bad\n\
                     bad:\nassert 0:1, \"bad\"\njump good\ngood:\nstore.4 &x, r\n";
        assert!(!is_ignored_in(later));
        // Neither result differs from the other at first, but by what was assigned on the way.
        let marked = "s = 0:32\nbranch r == 0:32, end, more\nmore:\ns = 1:32\njump end\nend:\n\
                      store.4 &x, s";
        assert!(!is_ignored_in(marked));
        // Somebody else comes to the test.
        let around = "store.4 &x, 1:32\njump test\ntest:\nbranch r == 0:32, end, more\nmore:\n\
                      store.4 &x, 2:32\njump test\nend:";
        assert!(!is_ignored_in(around));
    }
}
