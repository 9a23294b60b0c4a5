//! The last word on an execution: the model's text, run plainly by the reference interpreter on
//! the events and the relations that the replayer has found. Executions too large for that are
//! judged by the compiled model.
//!
//! Models see accesses and fences. Other events are left out, so those that remain get numbers of
//! their own here.

use std::collections::{BTreeMap, BTreeSet};

use parallax_memory::reference::{Inputs, evaluate};
use parallax_memory::{Checker, EventSet, InputId, InputKind, Model, Relation};

use crate::derived::Derived;
use crate::{Edges, Event, EventKind, Execution};

/// The reference interpreter takes cubic time; it has no more events to deal with.
const MOST_FOR_REFERENCE: usize = 300;

/// The relations of the model that are worth drawing, if the model allows the execution. The
/// error names the axiom that does not.
pub(crate) fn judge(
    execution: &Execution,
    derived: &Derived,
    model: &Model,
) -> Result<Vec<(String, Edges)>, String> {
    let view = View::new(execution, derived);
    let violated = match view.visible.len() {
        0..=MOST_FOR_REFERENCE => match view.by_reference(model)? {
            Ok(shown) => return Ok(shown),
            Err(violated) => violated,
        },
        _ => match view.by_checker(model)? {
            Ok(()) => return Ok(Vec::new()),
            Err(violated) => violated,
        },
    };
    let axiom = violated.and_then(|at| model.axioms().get(at));
    let axiom = axiom.map_or("the model", |axiom| axiom.name.as_str());
    Err(format!("{axiom} forbids it"))
}

/// Whether the model allows an execution.
pub(crate) fn allows(
    execution: &Execution,
    derived: &Derived,
    model: &Model,
) -> Result<bool, String> {
    View::new(execution, derived).by_checker(model).map(|judged| judged.is_ok())
}

/// Whether the model may allow an execution once reads have sources that have none yet. False is
/// final, true promises nothing.
pub(crate) fn may_become_allowed(
    execution: &Execution,
    derived: &Derived,
    model: &Model,
) -> Result<bool, String> {
    View::new(execution, derived).checked(model, |checker| checker.may_be_allowed())
}

/// The pairs of accesses that race in an execution that the model allows. The error is also that the
/// model does not say so.
pub(crate) fn races(
    execution: &Execution,
    derived: &Derived,
    model: &Model,
) -> Result<Edges, String> {
    let view = View::new(execution, derived);
    let races = view.checked(model, |checker| checker.races())?;
    let races = races.ok_or("the model does not say which accesses race")?;
    let edge = |(from, to): (usize, usize)| (view.visible[from], view.visible[to]);
    Ok(races.iter().map(edge).collect())
}

/// The flags that the model raises in an execution that it allows.
pub(crate) fn flags(
    execution: &Execution,
    derived: &Derived,
    model: &Model,
) -> Result<Vec<String>, String> {
    View::new(execution, derived).checked(model, |checker| checker.flags().into_iter().collect())
}

/// Whether the first event happens before the second, by the model's own happens-before. None where
/// it has none.
pub(crate) fn happens_before(
    execution: &Execution,
    derived: &Derived,
    model: &Model,
    (first, second): (u32, u32),
) -> Result<Option<bool>, String> {
    let view = View::new(execution, derived);
    let order = view.checked(model, |checker| checker.happens_before())?;
    let pair = view.numbers.get(&first).zip(view.numbers.get(&second));
    Ok(order.map(|order| pair.is_some_and(|(first, second)| order.contains(*first, *second))))
}

/// Which axiom does not hold, where that is known.
type Violated = Option<usize>;

/// An execution as the model sees it.
struct View<'a> {
    execution: &'a Execution,
    derived: &'a Derived,
    /// Numbers in the execution of the events that the model sees.
    visible: Vec<u32>,
    /// Their numbers here.
    numbers: BTreeMap<u32, usize>,
    /// Events of read-modify-writes.
    paired: BTreeSet<u32>,
}

impl<'a> View<'a> {
    fn new(execution: &'a Execution, derived: &'a Derived) -> Self {
        let seen = (0u32..).zip(&execution.events).filter(|(_, event)| event.kind.is_visible());
        let visible: Vec<u32> = seen.map(|(number, _)| number).collect();
        let numbers = visible.iter().enumerate().map(|(here, event)| (*event, here)).collect();
        let paired = derived.rmw.iter().flat_map(|(read, write)| [*read, *write]).collect();
        View { execution, derived, visible, numbers, paired }
    }

    fn by_reference(
        &self,
        model: &Model,
    ) -> Result<Result<Vec<(String, Edges)>, Violated>, String> {
        let mut inputs = Inputs { events: self.visible.len(), ..Inputs::default() };
        for input in model.inputs() {
            let name = input.name.clone();
            match input.kind {
                InputKind::Set => {
                    inputs.sets.insert(name, self.set(&input.name));
                }
                InputKind::Relation => {
                    inputs.relations.insert(name, self.relation(&input.name));
                }
            }
        }
        let evaluation = evaluate(model, &inputs).map_err(|error| error.to_string())?;
        if !evaluation.allowed {
            return Ok(Err(evaluation.violated));
        }
        let shown = model.shown().iter().filter_map(|name| {
            let relation = evaluation.relations.get(name)?;
            let edge = |(from, to): (usize, usize)| (self.visible[from], self.visible[to]);
            Some((name.clone(), relation.iter().map(edge).collect()))
        });
        Ok(Ok(shown.collect()))
    }

    fn by_checker(&self, model: &Model) -> Result<Result<(), Violated>, String> {
        self.checked(model, |checker| match checker.is_allowed() {
            true => Ok(()),
            false => Err(checker.violated()),
        })
    }

    /// What the compiled model says of the execution.
    fn checked<T>(
        &self,
        model: &Model,
        ask: impl FnOnce(&mut Checker<'_>) -> T,
    ) -> Result<T, String> {
        let mut checker = Checker::new(model);
        checker.begin(self.visible.len());
        for (number, input) in model.inputs().iter().enumerate() {
            let id = InputId(number);
            match input.kind {
                InputKind::Set => checker.set_mut(id).copy_from(&self.set(&input.name)),
                InputKind::Relation => {
                    checker.relation_mut(id).copy_from(&self.relation(&input.name));
                }
            }
        }
        checker.structure_changed();
        checker.rf_changed();
        checker.co_changed();
        let answer = ask(&mut checker);
        match checker.failure() {
            Some(failure) => Err(failure.to_string()),
            None => Ok(answer),
        }
    }

    fn event(&self, number: u32) -> &'a Event {
        &self.execution.events[number as usize]
    }

    fn set_of(&self, events: impl Iterator<Item = u32>) -> EventSet {
        let mut set = EventSet::new(self.visible.len());
        events.filter_map(|event| self.numbers.get(&event)).for_each(|event| set.insert(*event));
        set
    }

    fn set(&self, name: &str) -> EventSet {
        let holds = |number: u32| {
            let event = self.event(number);
            match name {
                "_" => true,
                "R" => matches!(event.kind, EventKind::Read { .. }),
                "W" => matches!(event.kind, EventKind::Write { .. }),
                "M" => event.kind.footprint().is_some(),
                "F" => event.kind == EventKind::Fence,
                "IW" => event.thread.is_none(),
                "RMW" => event.tags.contains(name) || self.paired.contains(&number),
                _ => event.tags.contains(name),
            }
        };
        self.set_of(self.visible.iter().copied().filter(|number| holds(*number)))
    }

    fn relation(&self, name: &str) -> Relation {
        let derived = self.derived;
        match name {
            "rf" => self.pairs(&self.execution.rf),
            "co" => self.pairs(&self.execution.co),
            "addr" => self.pairs(&derived.addr),
            "data" => self.pairs(&derived.data),
            "ctrl" => self.pairs(&derived.ctrl),
            "pick-addr" => self.pairs(&derived.pick_addr),
            "pick-data" => self.pairs(&derived.pick_data),
            "pick-ctrl" => self.pairs(&derived.pick_ctrl),
            "rmw" => self.pairs(&derived.rmw),
            "amo" => self.pairs(&derived.amo),
            "po" => self.program_order(),
            "int" => self.alike(|number| self.thread_of(number)),
            "ext" => {
                let mut external = Relation::cross(&self.all(), &self.all());
                external.minus_with(&self.alike(|number| self.thread_of(number)));
                external
            }
            "si" => self.alike(|number| self.access_of(number)),
            "loc" => self.alike(|number| self.event(number).kind.footprint()),
            _ => Relation::new(self.visible.len()),
        }
    }

    fn all(&self) -> EventSet {
        EventSet::full(self.visible.len())
    }

    fn pairs<'e>(&self, pairs: impl IntoIterator<Item = &'e (u32, u32)>) -> Relation {
        let mut relation = Relation::new(self.visible.len());
        for (from, to) in pairs {
            if let (Some(from), Some(to)) = (self.numbers.get(from), self.numbers.get(to)) {
                relation.add(*from, *to);
            }
        }
        relation
    }

    /// An initial write is in no thread, which makes it a class of its own.
    fn thread_of(&self, number: u32) -> Option<(Option<u32>, u32)> {
        let thread = self.event(number).thread;
        Some((thread, thread.map_or(number, |_| 0)))
    }

    /// The access that an event is a part of.
    fn access_of(&self, number: u32) -> Option<(Option<u32>, u32)> {
        match (self.event(number).thread, self.derived.access.get(&number)) {
            (Some(thread), Some(access)) => Some((Some(thread), *access)),
            _ => Some((None, number)),
        }
    }

    /// The events that have the same of something.
    fn classes<K: Ord>(&self, key: impl Fn(u32) -> Option<K>) -> BTreeMap<K, Vec<u32>> {
        let mut classes: BTreeMap<K, Vec<u32>> = BTreeMap::new();
        for number in &self.visible {
            if let Some(key) = key(*number) {
                classes.entry(key).or_default().push(*number);
            }
        }
        classes
    }

    /// Relates the events that have the same of something.
    fn alike<K: Ord>(&self, key: impl Fn(u32) -> Option<K>) -> Relation {
        let mut relation = Relation::new(self.visible.len());
        for class in self.classes(key).into_values() {
            let class = self.set_of(class.into_iter());
            relation.add_cross(&class, &class);
        }
        relation
    }

    /// Accesses of a thread one after the other; the parts of one are not ordered.
    fn program_order(&self) -> Relation {
        let mut po = Relation::new(self.visible.len());
        let mut later: Option<(u32, EventSet)> = None;
        let accesses = self.classes(|number| self.access_of(number));
        for ((thread, _), parts) in accesses.into_iter().rev() {
            let Some(thread) = thread else { continue };
            let parts = self.set_of(parts.into_iter());
            let mut after = match later {
                Some((same, after)) if same == thread => after,
                _ => EventSet::new(self.visible.len()),
            };
            po.add_cross(&parts, &after);
            after.union_with(&parts);
            later = Some((thread, after));
        }
        po
    }
}
