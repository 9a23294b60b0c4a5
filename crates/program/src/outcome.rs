//! What is asked of the final states of a program: which registers and memory cells to show,
//! and a condition on them, as litmus tests state it.

use crate::{AccessSize, Expr, GlobalId, VarId};

/// Something that has a value when all threads have ended.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Observable {
    /// How the test calls it: `0:EAX`, `x`, `a[1]`.
    pub name: String,
    pub place: Place,
    /// Whether people read the value as a signed number.
    pub signed: bool,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Place {
    /// A variable of the function that the thread started in; its lowest `width` bits.
    Variable {
        thread: u32,
        var: VarId,
        width: u32,
    },
    Memory {
        global: GlobalId,
        offset: u64,
        size: AccessSize,
    },
}

impl Place {
    /// Bits.
    pub fn width(&self) -> u32 {
        match self {
            Place::Variable { width, .. } => *width,
            Place::Memory { size, .. } => size.bits(),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Quantifier {
    /// Some final state satisfies the proposition.
    Exists,
    /// None does.
    NotExists,
    /// All do.
    ForAll,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Prop {
    True,
    False,
    /// Both sides are compared after zero-extension to the wider one.
    Compare {
        left: Observable,
        equal: bool,
        right: Operand,
    },
    Not(Box<Prop>),
    And(Vec<Prop>),
    Or(Vec<Prop>),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Operand {
    /// A constant expression.
    Value(Expr),
    Observable(Observable),
}

/// What a test asks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Question {
    pub quantifier: Quantifier,
    pub prop: Prop,
    /// The proposition as written, for the report.
    pub text: String,
    /// Shown besides what the proposition mentions.
    pub locations: Vec<Observable>,
    /// Only final states that satisfy it count.
    pub filter: Option<Prop>,
}

impl Prop {
    /// Calls `visit` on every observable, from left to right.
    pub fn observables<'a>(&'a self, visit: &mut impl FnMut(&'a Observable)) {
        match self {
            Prop::True | Prop::False => {}
            Prop::Compare { left, right, .. } => {
                visit(left);
                if let Operand::Observable(right) = right {
                    visit(right);
                }
            }
            Prop::Not(inner) => inner.observables(visit),
            Prop::And(parts) | Prop::Or(parts) => {
                parts.iter().for_each(|part| part.observables(visit));
            }
        }
    }
}

impl Question {
    /// Everything a final state shows, each once: what the proposition mentions first, then
    /// the locations asked for. The filter's observables are judged, not shown.
    pub fn shown(&self) -> Vec<&Observable> {
        let mut shown: Vec<&Observable> = Vec::new();
        let mut add = |o| {
            if !shown.iter().any(|seen: &&Observable| seen.place == (o as &Observable).place) {
                shown.push(o);
            }
        };
        self.prop.observables(&mut add);
        self.locations.iter().for_each(add);
        shown
    }
}
