//! One thread on its way through a block: the conditions that it has met so far, what it has written, and
//! whether it goes on. Where a term may be one of several numbers, each of them is a way of its own.

use parallax_machine::{Limits, Operation, Site, Thread};
use parallax_program::{Bits, Property};
use parallax_solver::Term;
use rustc_hash::FxHashMap;

use super::record::Inputs;
use super::{Blocks, Decision, Edge, Ending, Halt, Store, Touch, Way};
use crate::control::{At, Control};
use crate::declarative::execution::{Event, Id};
use crate::declarative::loose::Loose;
use crate::oracle::{Oracle, evaluate};
use crate::places::PlaceId;

/// A way through a block, so far.
#[derive(Clone)]
pub(crate) struct Run {
    pub thread: Thread<Term>,
    pub control: Control,
    pub writes: FxHashMap<PlaceId, Term>,
    pub guard: Vec<Term>,
    pub trail: Vec<Decision>,
    pub(super) inputs: Vec<Term>,
    pub(super) made: Vec<(PlaceId, Term)>,
    pub(super) touches: Vec<Touch>,
    pub(super) is_blurred: bool,
    /// What is added to an execution that is a graph, and what its writes have written.
    pub growth: Vec<(u32, Event)>,
    pub values: FxHashMap<Id, Term>,
    /// Its accesses to memory that is no part of the execution.
    pub loose: Vec<Loose>,
    /// Whether it has come to what others may notice, or needs to stop before that.
    pub(crate) has_acted: bool,
    /// Whether it has left something behind that others may find.
    pub(crate) has_left: bool,
    /// Whether it has taken an instruction.
    pub(super) has_stepped: bool,
    pub(super) branches: u32,
    pub(super) blocks: u32,
    pub ending: Option<Ending>,
}

/// One thread on its way through a block.
pub(crate) struct Walk<'w, 'o, 'p> {
    pub blocks: &'w mut Blocks<'p>,
    pub(super) oracle: &'w mut Oracle<'o>,
    pub(super) base: &'w Store,
    pub number: u32,
    pub way: Way<'w>,
}

impl Walk<'_, '_, '_> {
    pub(super) fn advance(&mut self, mut run: Run, open: &mut Vec<Run>) -> Result<(), Halt> {
        let blocks = &mut *self.blocks;
        let site = run.thread.site();
        let is_between = site.is_some_and(|site| blocks.code.instruction(site).is_some());
        if blocks.is_naive && run.has_stepped && is_between {
            self.stop(run, At::Block, open);
            return Ok(());
        }
        run.has_stepped |= is_between;
        let steps = if blocks.is_naive { 1 } else { blocks.limits.steps };
        let limits = Limits { steps, ..blocks.limits };
        let operation = run.thread.advance(&blocks.code, &limits, &mut blocks.values);
        let operation = operation.filter(|it| !blocks.is_naive || !matches!(it, Operation::Cut));
        if std::mem::take(&mut blocks.values.met_undefined) {
            return Self::lose(run, "a part of an expression that nobody has given", open);
        }
        let Some(operation) = operation else {
            run.blocks += 1;
            let site = run.thread.site();
            let is_head = site.is_some_and(|site| self.blocks.code.begins_round(site));
            let is_long = run.branches >= Blocks::MOST_BRANCHES || run.blocks > 4096;
            if is_head || is_long && (run.has_acted || self.blocks.is_naive) {
                self.stop(run, At::Block, open);
            } else {
                open.push(run);
            }
            return Ok(());
        };
        self.serve(run, operation, open)
    }

    /// The thread stays here for now.
    pub(crate) fn stop(&mut self, mut run: Run, at: At, open: &mut Vec<Run>) {
        let stack = run.thread.stack().collect();
        if let Some(local) = run.control.local(self.number) {
            local.stack = stack;
            local.at = at;
        }
        run.ending = Some(Ending::Goes);
        open.push(run);
    }

    pub(crate) fn lose(mut run: Run, what: &str, open: &mut Vec<Run>) -> Result<(), Halt> {
        let site = run.thread.site();
        run.ending = Some(Ending::Lost { message: what.to_string(), site });
        open.push(run);
        Ok(())
    }

    pub(crate) fn fail(mut run: Run, property: Property, message: &str, open: &mut Vec<Run>) {
        let site = run.thread.site();
        run.ending = Some(Ending::Fails { property, message: message.to_string(), site });
        open.push(run);
    }

    pub(crate) fn value(&mut self, run: &Run, id: PlaceId) -> Term {
        self.blocks.value(self.base, &run.control, &run.writes, id)
    }

    /// The edge that a way has been.
    pub(super) fn finish(&mut self, mut run: Run) -> Edge {
        let goes = run.ending == Some(Ending::Goes);
        if goes {
            let stack: Vec<Site> = match run.control.has_ended(self.number) {
                true => Vec::new(),
                false => run.thread.stack().collect(),
            };
            for (depth, site) in stack.iter().enumerate() {
                let is_innermost = depth + 1 == stack.len();
                for var in self.blocks.live.at(*site, is_innermost).to_vec() {
                    let id = self.blocks.local(self.number, depth as u32, site.function, var);
                    let value = run.thread.value(depth, parallax_program::VarId(var)).copied();
                    let before = self.base.get(&id).copied();
                    let before = before.unwrap_or_else(|| self.blocks.places.term(id));
                    if let Some(value) = value.filter(|value| *value != before) {
                        run.writes.insert(id, value);
                    }
                }
            }
            if run.control.section == Some(self.number) {
                run.touches.push(Touch::ALL);
            }
        }
        let growth = self.settle(&mut run, goes);
        let mut writes: Vec<(PlaceId, Term)> = run.writes.into_iter().collect();
        writes.sort_unstable();
        run.touches.sort_unstable();
        run.touches.dedup();
        Edge {
            thread: self.number,
            trail: run.trail,
            guard: run.guard,
            writes,
            inputs: run.inputs,
            made: run.made,
            touches: run.touches,
            control: run.control,
            ending: run.ending.unwrap_or(Ending::Goes),
            is_blurred: run.is_blurred,
            growth,
            loose: run.loose,
        }
    }

    /// The decision that the trail has next.
    pub(crate) fn next_on_trail(&self, run: &Run) -> Result<Option<Decision>, Halt> {
        match self.way {
            Way::All { .. } => Ok(None),
            Way::Trail(trail) => trail.get(run.trail.len()).copied().map(Some).ok_or(Halt::Astray),
        }
    }

    /// The sides of a decision, each with its condition.
    pub(crate) fn sides(&mut self, run: Run, conditions: &[Term]) -> Result<Vec<(u8, Run)>, Halt> {
        let wanted = self.next_on_trail(&run)?;
        let mut all = Vec::new();
        for (side, condition) in conditions.iter().enumerate() {
            let decision = Decision::Side(side as u8);
            let values = &self.blocks.values;
            let is_wanted = match wanted {
                Some(wanted) => wanted == decision,
                None => !values.is_false(*condition),
            };
            if !is_wanted {
                continue;
            }
            let mut run = run.clone();
            run.trail.push(decision);
            if !values.is_true(*condition) {
                run.guard.push(*condition);
            }
            all.push((side as u8, run));
        }
        Ok(all)
    }

    /// Whether the thread stops before something by which it may go no further: what it has done is done
    /// nevertheless, and others may find it. Nobody else can go on while it is in an atomic section.
    pub(super) fn stops_before(
        &mut self,
        run: &mut Run,
        condition: Term,
        open: &mut Vec<Run>,
    ) -> bool {
        let is_inside = run.control.section == Some(self.number) || self.is_inside(run);
        let is_seen = !is_inside && !run.control.is_alone(self.number);
        if !(run.has_acted && run.has_left && is_seen) {
            return false;
        }
        let stops = match self.way {
            Way::Trail(trail) => trail.get(run.trail.len()) == Some(&Decision::Stops(true)),
            Way::All { .. } => !self.blocks.values.is_true(condition),
        };
        run.trail.push(Decision::Stops(stops));
        if stops {
            self.stop(run.clone(), At::Operation, open);
        }
        stops
    }

    /// A thread waits for a condition. False where it never holds.
    pub(super) fn wait(&mut self, run: &mut Run, condition: Term) -> bool {
        if !self.blocks.values.is_true(condition) {
            let mut held = run.guard.clone();
            held.push(self.blocks.values.terms.not(condition));
            self.blocks.held.push(held);
        }
        self.demand(run, condition)
    }

    /// A thread goes on only where a condition holds. False where it never does.
    pub(super) fn demand(&mut self, run: &mut Run, condition: Term) -> bool {
        let values = &self.blocks.values;
        if values.is_false(condition) && matches!(self.way, Way::All { .. }) {
            self.blocks.tried.append(&mut run.touches);
            return false;
        }
        if !values.is_true(condition) {
            run.guard.push(condition);
        }
        true
    }

    pub(crate) fn fresh(&mut self, run: &mut Run, width: u32) -> Term {
        let Blocks { values, inputs, pool, .. } = &mut *self.blocks;
        let term = match inputs {
            Inputs::Pooled => {
                let key = (run.inputs.len() as u32, width);
                *pool.entry(key).or_insert_with(|| values.terms.variable(width))
            }
            Inputs::Given(given) => {
                let bits =
                    given.values.get(given.next).filter(|bits| bits.width() == width).copied();
                given.next += 1;
                values.terms.constant(bits.unwrap_or(Bits::zero(width)))
            }
        };
        run.inputs.push(term);
        term
    }

    /// Goes on with each number that a term may be.
    pub(super) fn numbers(
        &mut self,
        run: Run,
        term: Term,
        open: &mut Vec<Run>,
    ) -> Result<Vec<(Bits, Run)>, Halt> {
        let width = self.blocks.values.terms.width(term);
        let with = |mut run: Run, bits: Bits, condition: Option<Term>| {
            run.trail.push(Decision::Number(bits.unsigned()));
            run.guard.extend(condition);
            (bits, run)
        };
        if let Some(wanted) = self.next_on_trail(&run)? {
            let Decision::Number(number) = wanted else { return Err(Halt::Astray) };
            let bits = Bits::new(width, number);
            let constant = self.blocks.values.terms.constant(bits);
            let condition = self.blocks.values.terms.equals(term, constant);
            let is_true = self.blocks.values.is_true(condition);
            return Ok(vec![with(run, bits, (!is_true).then_some(condition))]);
        }
        let terms = &self.blocks.values.terms;
        if let Some(bits) = terms.as_constant(term) {
            return Ok(vec![with(run, bits, None)]);
        }
        let Way::All { facts, tracked } = self.way else { return Err(Halt::Astray) };
        let support = terms.support(term);
        let places: Vec<PlaceId> =
            support.iter().filter_map(|it| self.blocks.places.of(*it)).collect();
        if places.iter().any(|place| !tracked.contains(place)) {
            let mut run = run;
            run.ending = Some(Ending::Needs(places));
            open.push(run);
            return Ok(Vec::new());
        }
        let mut conditions: Vec<Term> = facts.iter().chain(&run.guard).copied().collect();
        let mut all = Vec::new();
        while let Some(model) = self.oracle.model(&self.blocks.values.terms, &conditions)? {
            if all.len() >= Blocks::MOST_NUMBERS {
                let mut run = run;
                run.ending = Some(Ending::Needs(places));
                open.push(run);
                return Ok(Vec::new());
            }
            let terms = &mut self.blocks.values.terms;
            let bits = evaluate(&model, terms, term);
            let constant = terms.constant(bits);
            let is_it = terms.equals(term, constant);
            conditions.push(terms.not(is_it));
            all.push(with(run.clone(), bits, Some(is_it)));
        }
        Ok(all)
    }

    pub(crate) fn pass(&mut self, run: &mut Run, value: Option<Term>) {
        match value {
            Some(value) => run.thread.result(&self.blocks.code, value),
            None => run.thread.done(),
        }
    }

    /// Whether the thread is to stop before an operation that others may notice.
    pub(crate) fn waits(&self, run: &Run) -> bool {
        if run.control.execution.is_some() {
            return run.has_acted;
        }
        let is_own = run.control.section == Some(self.number) || run.control.is_alone(self.number);
        run.has_acted && !is_own
    }
}
