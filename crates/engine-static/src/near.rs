//! Locks that are known only by where they are from what they protect: `p->lock` and `p->count`, where `p`
//! may be one of many.
//!
//! An address is written as a constant behind an expression of variables that have not changed since.
//! If a lock that is held and a place that is accessed are behind the same expression, the distance
//! between them is known, whatever the expression is. Two threads that access the same place, with a
//! lock at the same distance, hold the same lock.

use parallax_program::{BinaryOp, Expr, VarId};

use crate::state::{Mode, State};

/// A lock that is held at so many bytes from what an expression says.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Near {
    pub from: Expr,
    pub at: i128,
    pub mode: Mode,
}

/// Expressions are not followed further.
const DEPTH: u32 = 6;

/// An address as an expression and a constant.
pub fn split(state: &State<'_>, address: &Expr) -> (Expr, i128) {
    let (from, at) = linear(state, address, 0);
    (from, at)
}

fn linear(state: &State<'_>, expr: &Expr, depth: u32) -> (Expr, i128) {
    match expr {
        Expr::Var(var) => match state.facts.get(var).filter(|_| depth < DEPTH) {
            Some(fact) => linear(state, fact, depth + 1),
            None => (expr.clone(), 0),
        },
        Expr::Binary(BinaryOp::Add, left, right) => {
            if let Expr::Const(bits) = &**right {
                let (from, at) = linear(state, left, depth);
                return (from, at.wrapping_add(bits.to_signed()));
            }
            let ((one, a), (two, b)) = (linear(state, left, depth), linear(state, right, depth));
            (Expr::binary(BinaryOp::Add, one, two), a.wrapping_add(b))
        }
        _ => (plain(state, expr, depth), 0),
    }
}

/// An expression in variables that have no other name.
fn plain(state: &State<'_>, expr: &Expr, depth: u32) -> Expr {
    let inner = |expr: &Expr| plain(state, expr, depth);
    match expr {
        Expr::Var(var) => match state.facts.get(var).filter(|_| depth < DEPTH) {
            Some(fact) => plain(state, fact, depth + 1),
            None => expr.clone(),
        },
        Expr::Binary(op, left, right) => Expr::binary(*op, inner(left), inner(right)),
        Expr::ZeroExtend { width, value } => inner(value).zero_extend(*width),
        Expr::SignExtend { width, value } => inner(value).sign_extend(*width),
        Expr::Extract { low, width, value } => inner(value).extract(*low, *width),
        _ => expr.clone(),
    }
}

impl State<'_> {
    /// Locks that are known by a variable are not known by its new value.
    pub fn forget_near(&mut self, var: VarId) {
        self.near.retain(|lock| !lock.from.mentions(var));
    }

    /// How far from an address locks are that are held for certain, in order.
    pub fn distances(&self, address: &Expr) -> Vec<(i128, Mode)> {
        if self.near.is_empty() {
            return Vec::new();
        }
        let (from, at) = split(self, address);
        let same = self.near.iter().filter(|lock| lock.from == from);
        let mut found: Vec<(i128, Mode)> = same.map(|lock| (lock.at - at, lock.mode)).collect();
        found.sort_unstable();
        found
    }

    /// Whether a lock there is held for certain; it is not from here on.
    pub fn give_near(&mut self, address: &Expr) -> bool {
        let (from, at) = split(self, address);
        let before = self.near.len();
        let place = self.near.iter().position(|lock| lock.from == from && lock.at == at);
        if let Some(place) = place {
            self.near.remove(place);
        }
        self.near.len() < before
    }
}
