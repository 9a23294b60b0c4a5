//! The order of writes in two steps: what must be so, and a search for the rest.
//!
//! Where the model forbids one order of two writes, whatever else is decided, the other one holds. That settles
//! nearly all of them; the rest is tried. Relations are bit matrices, and those that do not depend
//! on what was added are not computed again ([`parallax_memory::Checker`]).

use parallax_memory::{Base, BaseRelation, Checker, InputId, Model, Native, Relation, Shape};

use super::view::View;
use super::{Consistency, Judgement, Order};
use crate::declarative::execution::Execution;

/// Bit matrices, by the model's file.
pub struct Saturation<'m> {
    model: &'m Model,
    checker: Checker<'m>,
    keeps_program_order: bool,
    /// How many orders may still be tried.
    patience: u32,
}

impl<'m> Saturation<'m> {
    pub fn new(model: &'m Model) -> Saturation<'m> {
        let keeps_program_order = model.implies_coherence();
        Saturation { model, checker: Checker::new(model), keeps_program_order, patience: 0 }
    }

    fn fill(&mut self, view: &View<'_>) {
        self.checker.begin(view.events());
        for (index, input) in self.model.inputs().iter().enumerate() {
            let id = InputId(index);
            match input.base() {
                // These are filled in apart.
                Base::Relation(BaseRelation::ReadsFrom | BaseRelation::Coherence) => {}
                Base::Relation(base) => {
                    self.checker.relation_mut(id).copy_from(&view.relation(base));
                }
                base => self.checker.set_mut(id).copy_from(&view.set(base)),
            }
        }
        self.checker.rf_mut().copy_from(&view.relation(BaseRelation::ReadsFrom));
        self.checker.rf_changed();
        self.checker.structure_changed();
        self.checker.set_rf_complete(true);
    }

    /// Whether an order, of which more may be added, can be one that the model allows.
    fn may_be(&mut self, order: &Relation) -> bool {
        self.patience = self.patience.saturating_sub(1);
        self.checker.co_mut().copy_from(order);
        self.checker.co_changed();
        self.checker.may_be_allowed()
    }

    /// A total order that includes this one.
    fn complete(&mut self, mut order: Relation, mut open: Vec<(usize, usize)>) -> Option<Relation> {
        // What is decided by what is there.
        loop {
            if self.patience == 0 {
                return None;
            }
            open.retain(|(a, b)| !order.contains(*a, *b) && !order.contains(*b, *a));
            let mut is_same = true;
            for (a, b) in &open {
                if order.contains(*a, *b) || order.contains(*b, *a) {
                    continue;
                }
                let (one, other) = (with(&order, *a, *b), with(&order, *b, *a));
                match (self.may_be(&one), self.may_be(&other)) {
                    (false, false) => return None,
                    (true, false) => (order, is_same) = (one, false),
                    (false, true) => (order, is_same) = (other, false),
                    (true, true) => {}
                }
            }
            if is_same {
                break;
            }
        }
        let Some((a, b)) = open.pop() else {
            self.checker.co_mut().copy_from(&order);
            self.checker.co_changed();
            return self.checker.is_allowed().then_some(order);
        };
        let one = with(&order, a, b);
        if let Some(found) = self.complete(one, open.clone()) {
            return Some(found);
        }
        let other = with(&order, b, a);
        self.complete(other, open)
    }
}

/// A transitive order with one more pair.
fn with(order: &Relation, first: usize, last: usize) -> Relation {
    let mut order = order.clone();
    let mut before: Vec<usize> =
        (0..order.events()).filter(|it| order.contains(*it, first)).collect();
    before.push(first);
    let mut after: Vec<usize> = order.successors(last).collect();
    after.push(last);
    for one in before {
        after.iter().for_each(|other| order.add(one, *other));
    }
    order
}

impl Saturation<'_> {
    fn order(&mut self, execution: &Execution) -> Option<Order> {
        let view = View::new(execution);
        self.fill(&view);
        let mut order = Relation::new(view.events());
        let mut open = Vec::new();
        for (initial, writes) in &view.writes {
            for (place, write) in writes.iter().enumerate() {
                order.add(*initial, *write);
                for later in &writes[place + 1..] {
                    // Writes are listed thread by thread.
                    let is_own = view.thread(*write) == view.thread(*later);
                    match is_own && self.keeps_program_order {
                        true => order.add(*write, *later),
                        false => open.push((*write, *later)),
                    }
                }
            }
        }
        // What happens before something else is written before it.
        let native = self.model.facts().native;
        if native.is_some_and(Native::by_happens_before)
            && let Some(before) = self.checker.happens_before()
        {
            for (first, last) in &open {
                if before.contains(*first, *last) {
                    order = with(&order, *first, *last);
                } else if before.contains(*last, *first) {
                    order = with(&order, *last, *first);
                }
            }
        }
        for (first, last) in &execution.ordered {
            if let (Some(first), Some(last)) = (view.number(*first), view.number(*last)) {
                order = with(&order, first, last);
            }
        }
        if !self.may_be(&order) {
            return None;
        }
        let found = self.complete(order, open)?;
        Some(view.order(|write, other| found.contains(write, other)))
    }
}

impl Consistency for Saturation<'_> {
    fn judge(&mut self, execution: &Execution) -> Judgement {
        const PATIENCE: u32 = 4_000;
        self.patience = PATIENCE;
        match self.order(execution) {
            Some(order) => Judgement::Allowed(order),
            None if self.patience == 0 => Judgement::Open,
            None => Judgement::Forbidden,
        }
    }
}
