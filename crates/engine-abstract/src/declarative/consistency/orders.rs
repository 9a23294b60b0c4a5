//! Trying all orders of writes, each judged by the text of the model as its reference interpreter reads it: slow, and
//! nothing that could be wrong but that.
//!
//! Where the model implies that the accesses of each location are in order, the writes of a thread to a location
//! stay in the order in which it makes them.

use parallax_control::Control as Limits;
use parallax_memory::reference::{Inputs, evaluate};
use parallax_memory::{Base, BaseRelation, Model, Relation};

use super::view::View;
use super::{Consistency, Judgement, Order};
use crate::declarative::execution::{Execution, Id, Location};

pub struct Orders<'m> {
    model: &'m Model,
    limits: Limits<'m>,
}

/// The writes of a location that have no place yet, by thread or each for itself.
type Rows = Vec<Vec<Id>>;

impl<'m> Orders<'m> {
    /// Orders that are tried for one execution.
    const MOST: u32 = 20_000;

    pub fn new(model: &'m Model, limits: Limits<'m>) -> Orders<'m> {
        Orders { model, limits }
    }

    fn rows(&self, execution: &Execution) -> Vec<(Location, Rows)> {
        let mut all: Vec<(Location, Rows)> = Vec::new();
        for id in execution.ids() {
            let event = execution.event(id);
            let Some(location) = event.and_then(|event| event.location) else { continue };
            if !execution.is_write(id) {
                continue;
            }
            let at = all.iter().position(|(known, _)| *known == location).unwrap_or_else(|| {
                all.push((location, Vec::new()));
                all.len() - 1
            });
            let rows = &mut all[at].1;
            let in_order = self.model.implies_coherence();
            let own = |row: &&mut Vec<Id>| in_order && row[0].thread == id.thread;
            match rows.iter_mut().find(own) {
                Some(row) => row.push(id),
                None => rows.push(vec![id]),
            }
        }
        all
    }
}

impl Consistency for Orders<'_> {
    fn judge(&mut self, execution: &Execution) -> Judgement {
        let view = View::new(execution);
        let inputs = inputs(self.model, &view);
        let mut left = self.rows(execution);
        let order: Order = left.iter().map(|(location, _)| (*location, Vec::new())).collect();
        let mut trial =
            Trial { model: self.model, execution, view: &view, inputs, order, tried: 0 };
        let limits = &self.limits;
        trial.place(&mut left, 0, &|tried| tried > Self::MOST || limits.reason().is_some())
    }
}

struct Trial<'t, 'e> {
    model: &'t Model,
    execution: &'t Execution,
    view: &'t View<'e>,
    inputs: Inputs,
    order: Order,
    tried: u32,
}

impl Trial<'_, '_> {
    /// Puts the writes that are left in all orders, from a location on.
    fn place(
        &mut self,
        left: &mut [(Location, Rows)],
        at: usize,
        is_over: &dyn Fn(u32) -> bool,
    ) -> Judgement {
        let Some((_, rows)) = left.get(at) else {
            self.tried += 1;
            return match () {
                () if is_over(self.tried) => Judgement::Open,
                () => match is_allowed(
                    self.model,
                    self.execution,
                    self.view,
                    &mut self.inputs,
                    &self.order,
                ) {
                    Some(true) => Judgement::Allowed(self.order.clone()),
                    Some(false) => Judgement::Forbidden,
                    None => Judgement::Open,
                },
            };
        };
        if rows.iter().all(Vec::is_empty) {
            return self.place(left, at + 1, is_over);
        }
        for row in 0..rows.len() {
            if left[at].1[row].is_empty() {
                continue;
            }
            let next = left[at].1[row].remove(0);
            self.order[at].1.push(next);
            let found = self.place(left, at, is_over);
            self.order[at].1.pop();
            left[at].1[row].insert(0, next);
            if !matches!(found, Judgement::Forbidden) {
                return found;
            }
        }
        Judgement::Forbidden
    }
}

/// What the model is told of an execution, but for the order of its writes.
pub fn inputs(model: &Model, view: &View<'_>) -> Inputs {
    let mut inputs = Inputs { events: view.count(), ..Inputs::default() };
    for input in model.inputs() {
        let name = input.name.clone();
        match input.base() {
            Base::Relation(BaseRelation::Coherence) => None,
            Base::Relation(base) => inputs.relations.insert(name, view.relation(base)),
            base => {
                inputs.sets.insert(name, view.set(base));
                None
            }
        };
    }
    inputs
}

/// Whether the model allows an execution with writes in this order. None if that cannot be said.
pub fn is_allowed(
    model: &Model,
    execution: &Execution,
    view: &View<'_>,
    inputs: &mut Inputs,
    order: &Order,
) -> Option<bool> {
    let mut relation = Relation::new(view.count());
    for (initial, writes) in &view.writes {
        writes.iter().for_each(|write| relation.add(*initial, *write));
    }
    for (_, writes) in order {
        let numbers: Vec<usize> = writes.iter().filter_map(|id| view.number(*id)).collect();
        for (place, write) in numbers.iter().enumerate() {
            numbers[place + 1..].iter().for_each(|later| relation.add(*write, *later));
        }
    }
    let is_kept = |(first, last): &(Id, Id)| {
        let pair = (view.number(*first), view.number(*last));
        matches!(pair, (Some(first), Some(last)) if relation.contains(first, last))
    };
    if !execution.ordered.iter().all(is_kept) {
        return Some(false);
    }
    let mut inputs_of = model.inputs().iter();
    let coherence = inputs_of.find(|it| it.base() == Base::Relation(BaseRelation::Coherence));
    if let Some(input) = coherence {
        inputs.relations.insert(input.name.clone(), relation);
    }
    evaluate(model, inputs).ok().map(|found| found.allowed)
}
