//! The reference evaluator: runs a model's text on one complete execution, operation by
//! operation, without any of the cleverness of the plan.
//!
//! It is what the plan is tested against, what replays counterexamples, and what judges
//! models whose statements no plan can express (choices with `with … from`, loops over the
//! events of an execution).

use std::collections::BTreeMap;
use std::rc::Rc;

use parallax_program::Diagnostic;

use crate::event_set::EventSet;
use crate::interpret::algebra::{Algebra, Answer, Either, Operand};
use crate::interpret::{Interpreter, Path, Stop, Value};
use crate::model::{InputKind, Model};
use crate::place::Problem;
use crate::relation::Relation;
use crate::syntax::ast::{Role, Test, TestKind};

/// The base sets and relations of one execution.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    pub events: usize,
    pub sets: BTreeMap<String, EventSet>,
    pub relations: BTreeMap<String, Relation>,
}

/// What a model says of one execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evaluation {
    pub allowed: bool,
    /// Raised by an allowed execution.
    pub flags: Vec<String>,
    /// The axiom that a forbidden execution violates.
    pub violated: Option<usize>,
    /// Everything the model defines at its top level.
    pub relations: BTreeMap<String, Relation>,
}

/// Judges an execution. An error is a mistake in the model that only shows on this execution.
pub fn evaluate(model: &Model, inputs: &Inputs) -> Result<Evaluation, Diagnostic> {
    let concrete = Concrete { inputs };
    let mut interpreter = Interpreter::new(concrete, model.variants());
    if let Err(stop) = interpreter.run(model.statements()) {
        let problem = match stop {
            Stop::Problem(problem) => *problem,
            Stop::Dynamic => Problem::new(Default::default(), "a value is missing"),
        };
        return Err(problem.diagnostic(model.files()));
    }
    Ok(summary(model, &interpreter.paths))
}

fn summary(model: &Model, paths: &[Path<'_, Concrete<'_>>]) -> Evaluation {
    let mut flags = Vec::new();
    let mut allowed = false;
    for path in paths.iter().filter(|path| path.failed.is_none()) {
        allowed = true;
        for (role, name) in &path.flags {
            let flag = flag_name(*role, name.as_deref());
            if !flags.contains(&flag) {
                flags.push(flag);
            }
        }
    }
    let failed = paths.iter().find_map(|path| path.failed);
    let axiom = failed.and_then(|place| model.axioms().iter().position(|a| a.place == place));
    let shown = paths.iter().find(|path| path.failed.is_none()).or(paths.first());
    Evaluation {
        allowed,
        flags,
        violated: axiom.filter(|_| !allowed),
        relations: shown.map(relations).unwrap_or_default(),
    }
}

fn relations(path: &Path<'_, Concrete<'_>>) -> BTreeMap<String, Relation> {
    let mut relations = BTreeMap::new();
    path.environment.visit(&mut |name, value| {
        if let Value::Relation(relation) = value {
            relations.insert(name.to_string(), (**relation).clone());
        }
    });
    relations
}

/// The flag that a test raises.
pub(crate) fn flag_name(role: Role, name: Option<&str>) -> String {
    match (role, name) {
        (Role::UndefinedUnless, _) => "undef".to_string(),
        (Role::Assert, Some(name)) => format!("assertion-failed-{name}"),
        (Role::Assert, None) => "assertion-failed".to_string(),
        (_, name) => name.unwrap_or("unnamed").to_string(),
    }
}

struct Concrete<'i> {
    inputs: &'i Inputs,
}

impl Algebra for Concrete<'_> {
    type Set = Rc<EventSet>;
    type Relation = Rc<Relation>;

    fn base<'a>(&mut self, name: &str, kind: InputKind) -> Value<'a, Self> {
        let n = self.inputs.events;
        match kind {
            InputKind::Set => {
                let set = self.inputs.sets.get(name);
                Value::Set(Rc::new(set.cloned().unwrap_or_else(|| EventSet::new(n))))
            }
            InputKind::Relation => {
                let relation = self.inputs.relations.get(name);
                Value::Relation(Rc::new(relation.cloned().unwrap_or_else(|| Relation::new(n))))
            }
        }
    }

    fn no_events(&mut self) -> Rc<EventSet> {
        Rc::new(EventSet::new(self.inputs.events))
    }

    fn all_events(&mut self) -> Rc<EventSet> {
        Rc::new(EventSet::full(self.inputs.events))
    }

    fn set_union(&mut self, parts: &[Rc<EventSet>]) -> Rc<EventSet> {
        let mut all = EventSet::new(self.inputs.events);
        parts.iter().for_each(|part| all.union_with(part));
        Rc::new(all)
    }

    fn set_intersection(&mut self, a: &Rc<EventSet>, b: &Rc<EventSet>) -> Rc<EventSet> {
        let mut both = (**a).clone();
        both.intersect_with(b);
        Rc::new(both)
    }

    fn set_difference(&mut self, a: &Rc<EventSet>, b: &Rc<EventSet>) -> Rc<EventSet> {
        let mut rest = (**a).clone();
        rest.minus_with(b);
        Rc::new(rest)
    }

    fn domain(&mut self, relation: &Rc<Relation>) -> Rc<EventSet> {
        let mut set = EventSet::new(self.inputs.events);
        relation.iter().for_each(|(from, _)| set.insert(from));
        Rc::new(set)
    }

    fn range(&mut self, relation: &Rc<Relation>) -> Rc<EventSet> {
        let mut set = EventSet::new(self.inputs.events);
        relation.iter().for_each(|(_, to)| set.insert(to));
        Rc::new(set)
    }

    fn no_pairs(&mut self) -> Rc<Relation> {
        Rc::new(Relation::new(self.inputs.events))
    }

    fn product(&mut self, from: &Rc<EventSet>, to: &Rc<EventSet>) -> Rc<Relation> {
        Rc::new(Relation::cross(from, to))
    }

    fn identity(&mut self, on: &Rc<EventSet>) -> Rc<Relation> {
        let mut relation = Relation::new(self.inputs.events);
        on.iter().for_each(|event| relation.add(event, event));
        Rc::new(relation)
    }

    fn union(&mut self, parts: &[Rc<Relation>]) -> Rc<Relation> {
        let mut all = Relation::new(self.inputs.events);
        parts.iter().for_each(|part| all.union_with(part));
        Rc::new(all)
    }

    fn sequence(&mut self, parts: &[Rc<Relation>]) -> Rc<Relation> {
        let mut result = Relation::identity(self.inputs.events);
        for part in parts {
            let mut next = Relation::new(self.inputs.events);
            for (from, middle) in result.iter() {
                part.successors(middle).for_each(|to| next.add(from, to));
            }
            result = next;
        }
        Rc::new(result)
    }

    fn intersection(&mut self, a: &Rc<Relation>, b: &Rc<Relation>) -> Rc<Relation> {
        let mut both = (**a).clone();
        both.intersect_with(b);
        Rc::new(both)
    }

    fn difference(&mut self, a: &Rc<Relation>, b: &Rc<Relation>) -> Rc<Relation> {
        let mut rest = (**a).clone();
        rest.minus_with(b);
        Rc::new(rest)
    }

    fn inverse(&mut self, relation: &Rc<Relation>) -> Rc<Relation> {
        let mut inverse = Relation::new(self.inputs.events);
        relation.iter().for_each(|(from, to)| inverse.add(to, from));
        Rc::new(inverse)
    }

    fn plus(&mut self, relation: &Rc<Relation>) -> Rc<Relation> {
        let mut closed = (**relation).clone();
        loop {
            let mut longer = closed.clone();
            for (from, middle) in closed.iter() {
                relation.successors(middle).for_each(|to| longer.add(from, to));
            }
            if longer == closed {
                return Rc::new(closed);
            }
            closed = longer;
        }
    }

    fn bits_of_set<'s>(&self, set: &'s Rc<EventSet>) -> Option<&'s EventSet> {
        Some(set)
    }

    fn bits_of_relation<'r>(&self, relation: &'r Rc<Relation>) -> Option<&'r Relation> {
        Some(relation)
    }

    fn set_from_bits(&mut self, bits: EventSet) -> Rc<EventSet> {
        Rc::new(bits)
    }

    fn relation_from_bits(&mut self, bits: Relation) -> Rc<Relation> {
        Rc::new(bits)
    }

    fn events(&self) -> Option<usize> {
        Some(self.inputs.events)
    }

    fn test(&mut self, test: &Test, _: Option<&str>, subject: Option<&Operand<Self>>) -> Answer {
        let holds = match (test.kind, subject) {
            (_, None) => return Answer::Noted,
            (TestKind::Empty, Some(Either::Set(set))) => set.is_empty(),
            (_, Some(Either::Set(_))) => false,
            (TestKind::Empty, Some(Either::Relation(r))) => r.is_empty(),
            (TestKind::Irreflexive, Some(Either::Relation(r))) => r.is_irreflexive(),
            (TestKind::Acyclic, Some(Either::Relation(r))) => self.plus(r).is_irreflexive(),
        };
        if holds { Answer::Holds } else { Answer::Fails }
    }
}
