//! A bad execution, and which plans leave it alive.
//!
//! A plan kills an execution if the model's text forbids it with the plan's fences in their places and
//! the accesses as strong as the plan has them. This is what fences are for: no cycle of a certain
//! form has to be looked for, and any model will do. A violation that is the lack of an order, a race
//! or the use of an object that another thread frees, is also gone where the two events are ordered.
//!
//! More fences forbid more, and order more. So the plans that leave an execution alive are closed
//! under weakening, and a *largest* one that does says much: every plan that kills the execution has
//! at some place an option that the largest does not cover. See [`crate::synthesis`].

use std::collections::HashMap;

use parallax_program::{Diagnostics, InstKind, Program, Property, Tags};
use parallax_verdict::{
    Claimed, Event, EventKind, Judgement, Trial, Violation, confirm_again, retrace,
};

use crate::decision::{Decisions, Plan, Subject};
use crate::largest::largest;
use crate::marked::apply;
use crate::prepare::unmarked;
use crate::synthesis::{Compile, Task};

pub struct Suspect<'m> {
    task: Task<'m>,
    /// As people would see it.
    shown: Claimed,
    /// The plan under which it was found.
    plan: Plan,
    case: Case<'m>,
    /// The decisions that the execution comes by.
    concerned: Vec<u32>,
}

/// How it is found out whether an execution survives a plan.
enum Case<'m> {
    /// The model sees fences and orders as they are written.
    Plain(Box<Trial<'m>>),
    /// The model sees what a compiler makes of them, which may be fences around accesses: each
    /// plan is compiled.
    Compiled(Box<Compiled<'m>>),
}

struct Compiled<'m> {
    marked: &'m Program,
    model: &'m parallax_memory::Model,
    compile: &'m Compile<'m>,
    /// Without any fence.
    bare: Claimed,
    /// What is known already.
    known: HashMap<Plan, bool>,
}

impl<'m> Suspect<'m> {
    /// The error says why the execution is none of the marked program.
    pub fn new(task: &Task<'m>, violation: Claimed, plan: &Plan) -> Result<Suspect<'m>, String> {
        let Task { marked, decisions, model, compile, .. } = *task;
        let (task, shown, plan) = (*task, shown(&violation, decisions), plan.clone());
        let Some(compile) = compile else {
            let bare = without(&violation, |event| event.tags.candidate().is_some());
            let retraced = retrace(marked, &bare.execution, model)?;
            let trial = Box::new(Trial::new(&retraced, unordered(&bare), model));
            let concerned = trial.candidates();
            return Ok(Suspect { task, shown, plan, case: Case::Plain(trial), concerned });
        };
        let bare = without(&violation, |event| {
            event.kind == EventKind::Fence && !event.tags.contains(Tags::MEMBARRIER)
        });
        let (open, _) = with_open_fences(marked.clone(), decisions.0.len() as u32);
        let retraced = retrace(&open, &bare.execution, model)?;
        let mut concerned = Trial::new(&retraced, None, model).candidates();
        concerned.retain(|number| (*number as usize) < decisions.0.len());
        let known = HashMap::new();
        let case = Case::Compiled(Box::new(Compiled { marked, model, compile, bare, known }));
        Ok(Suspect { task, shown, plan, case, concerned })
    }

    /// As people see it, once the replayer has confirmed that.
    pub fn confirmed(&self) -> Result<Violation, String> {
        confirm(&self.task, self.shown.clone(), &self.plan)
    }

    /// Whether the execution, and what is wrong with it, is still there under a plan.
    pub fn survives(&mut self, decisions: &Decisions, plan: &Plan) -> Result<bool, String> {
        match &mut self.case {
            Case::Plain(trial) => {
                let tags = |number: u32, now: &_| decisions.tags(plan, number, now);
                trial.judge(&tags).map(is_wrong)
            }
            Case::Compiled(compiled) => compiled.survives(decisions, plan),
        }
    }

    /// A [largest](largest()) plan that the execution survives, from one that it survives.
    pub fn largest(&mut self, decisions: &Decisions, plan: &Plan) -> Result<Plan, String> {
        let concerned = self.concerned.clone();
        largest(decisions, &concerned, plan, &mut |plan| self.survives(decisions, plan))
    }
}

impl Compiled<'_> {
    fn survives(&mut self, decisions: &Decisions, plan: &Plan) -> Result<bool, String> {
        if let Some(known) = self.known.get(plan) {
            return Ok(*known);
        }
        let program = (self.compile)(&apply(self.marked, decisions, plan));
        let program = program.map_err(first_message)?;
        let first = decisions.0.len() as u32;
        let (open, fences) = with_open_fences(program, first);
        let retraced = retrace(&open, &self.bare.execution, self.model)?;
        let mut trial = Trial::new(&retraced, unordered(&self.bare), self.model);
        let tags = |number: u32, now: &Tags| {
            let fence = number.checked_sub(first).and_then(|fence| fences.get(fence as usize));
            Some(fence.unwrap_or(now).clone())
        };
        let survives = trial.judge(&tags).map(is_wrong)?;
        self.known.insert(plan.clone(), survives);
        Ok(survives)
    }
}

/// The program with every fence marked as one that might be there, from a number on, and what the
/// fences are. Those that already are such are left alone.
fn with_open_fences(mut program: Program, first: u32) -> (Program, Vec<Tags>) {
    let mut fences = Vec::new();
    let blocks = program.functions.iter_mut().flat_map(|function| &mut function.blocks);
    for inst in blocks.flat_map(|block| &mut block.insts) {
        if let InstKind::Fence { tags } = &mut inst.kind
            && !tags.is_mark()
            && !tags.contains(Tags::MEMBARRIER)
        {
            let open = Tags::none().marked(first + fences.len() as u32);
            fences.push(std::mem::replace(tags, open).unmarked());
        }
    }
    (program, fences)
}

fn is_wrong(judgement: Judgement) -> bool {
    match judgement {
        Judgement::Forbidden => false,
        Judgement::Allowed { is_ordered } => !is_ordered,
    }
}

/// The violation in the program without some fences.
fn without(violation: &Claimed, leaves: impl Fn(&Event) -> bool) -> Claimed {
    let (execution, numbers) = violation.execution.without(leaves);
    let number = |event: &u32| numbers.get(*event as usize).copied().flatten();
    let involved = violation.involved.iter().filter_map(number).collect();
    Violation { execution, involved, ..violation.clone() }
}

/// A violation of the program under a plan as people see it, which is without marks and without the
/// fences that the plan inserts. Fewer fences forbid less, so it is there without them as well, and
/// the replayer confirms it.
pub fn shown_without_insertions(
    task: &Task<'_>,
    violation: Violation,
    plan: &Plan,
) -> Result<Violation, String> {
    confirm(task, shown(&violation.into_claimed(), task.decisions), plan)
}

/// Confirms what is [shown](shown()) of a program under a plan.
fn confirm(task: &Task<'_>, shown: Claimed, plan: &Plan) -> Result<Violation, String> {
    let mut bare = plan.clone();
    for (decision, option) in task.decisions.0.iter().zip(&mut bare.0) {
        if decision.subject == Subject::Insertion {
            *option = 0;
        }
    }
    let program = unmarked(apply(task.marked, task.decisions, &bare));
    let compiled = task.compile.map(|compile| compile(&program)).transpose();
    let compiled = compiled.map_err(first_message)?;
    confirm_again(compiled.as_ref().unwrap_or(&program), task.model, shown)
}

fn first_message(errors: Diagnostics) -> String {
    errors.into_iter().next().map_or(String::new(), |error| error.message)
}

/// In the program as it stands, without marks.
fn shown(violation: &Claimed, decisions: &Decisions) -> Claimed {
    let is_inserted = |event: &Event| {
        let decision = event.tags.candidate().and_then(|number| decisions.0.get(number as usize));
        decision.is_some_and(|decision| decision.subject == Subject::Insertion)
    };
    let mut shown = without(violation, is_inserted);
    for event in &mut shown.execution.events {
        event.tags = event.tags.unmarked();
    }
    shown
}

/// The events of a violation that is the lack of an order.
fn unordered(violation: &Claimed) -> Option<(u32, u32)> {
    let may = matches!(violation.property, Property::Race | Property::Memory);
    match violation.involved[..] {
        [first, second] if may => Some((first, second)),
        _ => None,
    }
}
