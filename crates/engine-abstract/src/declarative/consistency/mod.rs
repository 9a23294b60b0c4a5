//! Whether a model allows an execution whose writes have no order yet: whether there is one.
//!
//! There are several ways to find out, which must agree; tests hold them to one another and to trying all
//! orders. [`saturation`] is the usual one. The others share nothing with it but what events are ([`view`]): they write the
//! model's relations out as conditions on the order of writes ([`conditions`]), for a SAT solver that knows
//! orders ([`clauses`]), or for an SMT solver that knows functions ([`functions`]); or they are rules that lead from facts to
//! facts ([`datalog`]). Who checks proofs tries all orders
//! ([`orders`]).

pub mod clauses;
pub mod conditions;
pub mod datalog;
pub mod functions;
pub mod orders;
pub mod saturation;
#[cfg(test)]
mod tests;
pub mod view;

use std::sync::Arc;

use parallax_control::Control as Limits;
use parallax_memory::Model;
use rustc_hash::FxHashMap;

use self::clauses::Clauses;
use self::conditions::Conditions;
use self::datalog::Datalog;
use self::functions::Functions;
use self::saturation::Saturation;
use crate::declarative::execution::{Execution, Id, Location};
use crate::options::Judge;

/// The writes of each location in an order, the first one first.
pub type Order = Vec<(Location, Vec<Id>)>;

/// A way to find out whether an execution is allowed.
pub trait Consistency {
    fn judge(&mut self, execution: &Execution) -> Judgement;
}

pub enum Judgement {
    /// By such an order of writes.
    Allowed(Order),
    Forbidden,
    /// There are too many orders to try them all, or a limit is reached.
    Open,
}

impl Judge {
    /// That way, under a model.
    pub fn of<'m>(self, model: &'m Model, limits: Limits<'m>) -> Box<dyn Consistency + 'm> {
        match self {
            Judge::Saturation => Box::new(Saturation::new(model)),
            Judge::Datalog => Box::new(Datalog::new(model, limits)),
            Judge::Sat => Box::new(Conditions::new(model, move || Clauses::new(limits.clone()))),
            Judge::Functions => {
                Box::new(Conditions::new(model, move || Functions::new(limits.clone())))
            }
        }
    }
}

/// Answers that are known already.
pub struct Remembered<'m> {
    inner: Box<dyn Consistency + 'm>,
    known: FxHashMap<Arc<Execution>, bool>,
    /// How often it was really asked, and how often there was no answer.
    pub asked: u64,
    pub open: u64,
}

impl<'m> Remembered<'m> {
    const MOST: usize = 1 << 18;

    pub fn new(inner: Box<dyn Consistency + 'm>) -> Remembered<'m> {
        Remembered { inner, known: FxHashMap::default(), asked: 0, open: 0 }
    }

    pub fn allows(&mut self, execution: &Execution) -> bool {
        if let Some(known) = self.known.get(execution) {
            return *known;
        }
        self.asked += 1;
        // What is open may be allowed.
        let judgement = self.inner.judge(execution);
        self.open += u64::from(matches!(judgement, Judgement::Open));
        let is_allowed = !matches!(judgement, Judgement::Forbidden);
        if self.known.len() >= Self::MOST {
            self.known.clear();
        }
        self.known.insert(Arc::new(execution.clone()), is_allowed);
        is_allowed
    }

    /// An order of writes by which an execution is allowed; if none is known, why.
    pub fn order(&mut self, execution: &Execution) -> Result<Order, &'static str> {
        match self.inner.judge(execution) {
            Judgement::Allowed(order) => Ok(order),
            Judgement::Forbidden => Err("the model forbids it"),
            Judgement::Open => Err("whether the model allows it is not known"),
        }
    }
}
