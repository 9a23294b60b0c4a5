//! The last word on an execution: the model's text, run plainly by the reference interpreter on
//! the events and the relations that the replayer has found. Executions too large for that are
//! judged by the compiled model.
//!
//! Models see accesses and fences. Other events are left out, so those that remain get numbers of
//! their own here.

use std::collections::BTreeSet;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use parallax_control::{Control, Stop};
use parallax_memory::reference::{Inputs, evaluate};
use parallax_memory::{
    Base, BaseRelation, Checker, EventSet, Input, InputId, InputKind, MemberKind, Members, Model,
    Relation, Shape,
};

use crate::derived::Derived;
use crate::refusal::{Refusal, go_on};
use crate::{Edges, Event, EventKind, Execution};

/// The reference interpreter takes cubic time; it has no more events to deal with.
const MOST_FOR_REFERENCE: usize = 300;

/// Rows of a relation between two looks at the clock.
const LOOKS: u32 = 64;

/// The relations of the model that are worth drawing, if the model allows the execution. The
/// error names the axiom that does not.
pub(crate) fn judge(
    execution: &Execution,
    derived: &Derived,
    model: &Model,
    control: &Control<'_>,
) -> Result<Vec<(String, Edges)>, Refusal> {
    let view = View::new(execution, derived, control);
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
    Err(format!("{axiom} forbids it").into())
}

/// Whether the model allows an execution.
pub(crate) fn allows(
    execution: &Execution,
    derived: &Derived,
    model: &Model,
    control: &Control<'_>,
) -> Result<bool, Refusal> {
    View::new(execution, derived, control).by_checker(model).map(|judged| judged.is_ok())
}

/// Whether the model may allow an execution once reads have sources that have none yet. False is
/// final, true promises nothing.
pub(crate) fn may_become_allowed(
    execution: &Execution,
    derived: &Derived,
    model: &Model,
    control: &Control<'_>,
) -> Result<bool, Refusal> {
    View::new(execution, derived, control).checked(model, |checker| checker.may_be_allowed())
}

/// The pairs of accesses that race in an execution that the model allows. The error is also that the
/// model does not say so.
pub(crate) fn races(
    execution: &Execution,
    derived: &Derived,
    model: &Model,
    control: &Control<'_>,
) -> Result<Edges, Refusal> {
    let view = View::new(execution, derived, control);
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
    control: &Control<'_>,
) -> Result<Vec<String>, Refusal> {
    View::new(execution, derived, control).checked(model, |checker| checker.flags())
}

/// Whether the first event happens before the second, by the model's own happens-before. None where
/// it has none.
pub(crate) fn happens_before(
    execution: &Execution,
    derived: &Derived,
    model: &Model,
    (first, second): (u32, u32),
    control: &Control<'_>,
) -> Result<Option<bool>, Refusal> {
    let view = View::new(execution, derived, control);
    let order = view.checked(model, |checker| checker.happens_before())?;
    let pair = view.number(first).zip(view.number(second));
    Ok(order.map(|order| pair.is_some_and(|(first, second)| order.contains(first, second))))
}

/// Which axiom does not hold, where that is known.
type Violated = Option<usize>;

/// An execution as the model sees it.
struct View<'a> {
    execution: &'a Execution,
    derived: &'a Derived,
    /// Numbers in the execution of the events that the model sees.
    visible: Vec<u32>,
    /// For each event of the execution its number here.
    numbers: Vec<Option<u32>>,
    /// Events of read-modify-writes.
    paired: BTreeSet<u32>,
    control: &'a Control<'a>,
}

impl<'a> View<'a> {
    fn new(execution: &'a Execution, derived: &'a Derived, control: &'a Control<'a>) -> Self {
        let seen = (0u32..).zip(&execution.events).filter(|(_, event)| event.kind.is_visible());
        let visible: Vec<u32> = seen.map(|(number, _)| number).collect();
        let mut numbers = vec![None; execution.events.len()];
        (0..).zip(&visible).for_each(|(here, event)| numbers[*event as usize] = Some(here));
        let paired = derived.rmw.iter().flat_map(|(read, write)| [*read, *write]).collect();
        View { execution, derived, visible, numbers, paired, control }
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
                    inputs.sets.insert(name, self.set(input));
                }
                InputKind::Relation => {
                    inputs.relations.insert(name, self.relation(input));
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

    fn by_checker(&self, model: &Model) -> Result<Result<(), Violated>, Refusal> {
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
    ) -> Result<T, Refusal> {
        let (stop, looks) = (OnceLock::new(), AtomicU32::new(1));
        let goes_on = || {
            if looks.fetch_add(1, Ordering::Relaxed).is_multiple_of(LOOKS)
                && let Some(reason) = self.control.reason()
            {
                let _: Result<(), Stop> = stop.set(reason);
            }
            stop.get().is_none()
        };
        let mut checker = Checker::new(model);
        checker.watch(&goes_on);
        checker.begin(self.visible.len());
        for (number, input) in model.inputs().iter().enumerate() {
            let id = InputId(number);
            go_on(self.control)?;
            match input.kind {
                InputKind::Set => checker.set_mut(id).copy_from(&self.set(input)),
                InputKind::Relation => {
                    checker.relation_mut(id).copy_from(&self.relation(input));
                }
            }
        }
        checker.structure_changed();
        checker.rf_changed();
        checker.co_changed();
        let answer = ask(&mut checker);
        match (stop.get(), checker.failure()) {
            (Some(stop), _) => Err(Refusal::Stopped(*stop)),
            (None, Some(failure)) => Err(failure.to_string().into()),
            (None, None) => Ok(answer),
        }
    }

    fn number(&self, event: u32) -> Option<usize> {
        self.numbers.get(event as usize).copied().flatten().map(|number| number as usize)
    }

    fn event(&self, number: u32) -> &'a Event {
        &self.execution.events[number as usize]
    }

    fn set_of(&self, events: impl Iterator<Item = u32>) -> EventSet {
        let mut set = EventSet::new(self.visible.len());
        events.filter_map(|event| self.number(event)).for_each(|event| set.insert(event));
        set
    }

    fn set(&self, input: &Input) -> EventSet {
        let holds = |number: u32| match input.base() {
            Base::Set(set) => set.has(&mut &*self, number),
            Base::Tagged(tag) => self.event(number).tags.contains(tag),
            Base::Relation(_) | Base::Empty => false,
        };
        self.set_of(self.visible.iter().copied().filter(|number| holds(*number)))
    }

    fn relation(&self, input: &Input) -> Relation {
        let Base::Relation(base) = input.base() else { return self.pairs(&[]) };
        let derived = self.derived;
        match base {
            BaseRelation::ReadsFrom => self.pairs(&self.execution.rf),
            BaseRelation::Coherence => self.pairs(&self.execution.co),
            BaseRelation::Address => self.pairs(&derived.addr),
            BaseRelation::Data => self.pairs(&derived.data),
            BaseRelation::Control => self.pairs(&derived.ctrl),
            BaseRelation::PickedAddress => self.pairs(&derived.pick_addr),
            BaseRelation::PickedData => self.pairs(&derived.pick_data),
            BaseRelation::PickedControl => self.pairs(&derived.pick_ctrl),
            BaseRelation::Pairs => self.pairs(&derived.rmw),
            BaseRelation::SinglePairs => self.pairs(&derived.amo),
            base => base.of_shape(self).unwrap_or_else(|| self.pairs(&[])),
        }
    }

    fn pairs<'e>(&self, pairs: impl IntoIterator<Item = &'e (u32, u32)>) -> Relation {
        let mut relation = Relation::new(self.visible.len());
        for (from, to) in pairs {
            if let (Some(from), Some(to)) = (self.number(*from), self.number(*to)) {
                relation.add(from, to);
            }
        }
        relation
    }
}

impl Members for &View<'_> {
    type Event = u32;
    type Truth = bool;

    fn kind(&self, number: u32) -> MemberKind {
        match self.event(number).kind {
            EventKind::Read { .. } => MemberKind::Read,
            EventKind::Write { .. } => MemberKind::Write,
            EventKind::Fence => MemberKind::Fence,
            _ => MemberKind::Other,
        }
    }

    fn is_initial(&self, number: u32) -> bool {
        self.event(number).thread.is_none()
    }

    fn carries(&mut self, number: u32, tag: &str) -> bool {
        self.event(number).tags.contains(tag)
    }

    fn is_half(&mut self, number: u32) -> bool {
        self.paired.contains(&number)
    }

    fn or(&mut self, one: bool, other: bool) -> bool {
        one || other
    }
}

impl Shape for View<'_> {
    type Access = u32;
    type Place = (u64, u32);

    fn events(&self) -> usize {
        self.visible.len()
    }

    fn thread(&self, event: usize) -> Option<u32> {
        self.event(self.visible[event]).thread
    }

    fn position(&self, event: usize) -> usize {
        self.access(event) as usize
    }

    /// Accesses and fences of a thread are numbered in program order.
    fn access(&self, event: usize) -> u32 {
        let number = self.visible[event];
        self.derived.access.get(&number).copied().unwrap_or(number)
    }

    fn place(&self, event: usize) -> Option<(u64, u32)> {
        self.event(self.visible[event]).kind.footprint()
    }
}
