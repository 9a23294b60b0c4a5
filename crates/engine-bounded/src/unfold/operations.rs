//! What becomes of each visible operation.

use parallax_machine::{Domain, Fault, Operation, modify};
use parallax_program::{AccessSize, BinaryOp, Bits, Tags};

use super::access::Pairing;
use super::state::{Reservation, State};
use super::{Failure, Obstruction, Open, Unfolder};
use crate::event::TagChoice;
use crate::value::Value;

impl<'p> Unfolder<'_, 'p, '_> {
    /// Takes the operation that a state stands at. The result is the state behind it, unless the
    /// way ends or forks here.
    pub(super) fn serve(
        &mut self,
        mut state: State,
        operation: Operation<'p, Value>,
        open: &mut Open,
    ) -> Result<Option<State>, Obstruction> {
        match operation {
            Operation::Load { address, size, tags } => {
                let (value, _) = self.read(&state, address, size, &TagChoice::always(tags));
                state.thread.result(self.code, value);
            }
            Operation::Store { address, value, size, tags } => {
                self.write(&state, address, value, size, tags, &[]);
                state.thread.done();
            }
            Operation::Rmw { address, op, operand, size, read_tags, write_tags } => {
                let (old, reads) = self.read(&state, address, size, &TagChoice::always(read_tags));
                let new = modify(op, &old, &operand, &mut self.result.values);
                let when = self.result.values.terms.truth();
                let pairing = Pairing { when, reads, is_single: true };
                self.write(&state, address, new, size, write_tags, &[pairing]);
                return Ok(self.read_and_written(state, old, new, None, open));
            }
            Operation::Cas { .. } => return Ok(self.compare_and_swap(state, operation, open)),
            Operation::LoadLinked { address, size, tags } => {
                let (value, reads) = self.read(&state, address, size, &TagChoice::always(tags));
                let when = self.result.values.terms.truth();
                state.reservations = vec![Reservation { when, address: address.term, size, reads }];
                state.thread.result(self.code, value);
            }
            Operation::StoreConditional { address, value, size, tags } => {
                self.store_conditional(&mut state, address, value, size, tags);
            }
            Operation::Fence { tags } => {
                self.fence(&state, tags);
                state.thread.done();
            }
            Operation::Branch { condition } => {
                self.fork(state, condition.term, open);
                return Ok(None);
            }
            Operation::Nondet { width } => {
                let term = self.result.values.terms.variable(width);
                self.choice(&state, term);
                let value = self.result.values.plain(term);
                state.thread.result(self.code, value);
            }
            Operation::Choose { below } => {
                let width = self.result.values.terms.width(below.term);
                let term = self.result.values.terms.variable(width);
                let fits = self.result.values.terms.binary(BinaryOp::Ult, term, below.term);
                if !state.guard.require(fits, &mut self.result.values.terms) {
                    return Ok(None);
                }
                self.choice(&state, term);
                let value = self.result.values.plain(term);
                state.thread.result(self.code, value);
            }
            Operation::Assume { condition } | Operation::Wait { condition } => {
                if !state.guard.require(condition.term, &mut self.result.values.terms) {
                    return Ok(None);
                }
                state.thread.done();
            }
            Operation::Assert { condition, message, property } => {
                let mut failed = state.clone();
                let wrong = self.result.values.terms.not(condition.term);
                if failed.guard.require(wrong, &mut self.result.values.terms) {
                    let stop = self.stop(&failed);
                    let message = message.to_string();
                    self.result.failures.push(Failure { stop, property, message });
                }
                if !state.guard.require(condition.term, &mut self.result.values.terms) {
                    return Ok(None);
                }
                state.thread.done();
            }
            Operation::ThreadId => {
                let number = self.bits(Bits::new(32, u128::from(self.thread)));
                state.thread.result(self.code, number);
            }
            Operation::End => {
                self.end(&state);
                return Ok(None);
            }
            Operation::Spin { .. } => return Ok(None),
            Operation::Cut => {
                self.exceed(&state);
                return Ok(None);
            }
            other => {
                let stop = self.stop(&state);
                self.result.obstacles.push((stop, describe(&other)));
                return Ok(None);
            }
        }
        Ok(Some(state))
    }

    fn end(&mut self, state: &State) {
        let guard = state.guard.term(&mut self.result.values.terms);
        let asked = self.plan.asked.get(self.thread as usize);
        let mut finals = Vec::new();
        for var in asked.into_iter().flatten() {
            finals.push(match state.thread.variable(*var) {
                Some(value) => value.term,
                None => self.result.values.terms.falsity(),
            });
        }
        if let Some(run) = self.result.threads.get_mut(self.thread as usize) {
            run.ends.push((guard, finals));
        }
    }

    /// Goes on after an atomic operation that may have written what was there already, which
    /// nobody notices. In a loop that makes a difference: it may be one that only waits.
    fn read_and_written(
        &mut self,
        mut state: State,
        old: Value,
        new: Value,
        ok: Option<Value>,
        open: &mut Open,
    ) -> Option<State> {
        let terms = &mut self.result.values.terms;
        let unchanged = terms.equals(old.term, new.term);
        if let Some(bit) = terms.as_constant(unchanged) {
            if !bit.is_zero() {
                state.thread.leaves_no_trace();
            }
            state.thread.results(self.code, old, ok);
            return Some(state);
        }
        if state.rounds().is_empty() {
            state.thread.results(self.code, old, ok);
            return Some(state);
        }
        let changed = terms.not(unchanged);
        let mut silent = state.clone();
        if silent.guard.require(unchanged, &mut self.result.values.terms) {
            silent.thread.leaves_no_trace();
            silent.thread.results(self.code, old, ok);
            self.wait(silent, open);
        }
        if state.guard.require(changed, &mut self.result.values.terms) {
            state.thread.results(self.code, old, ok);
            self.wait(state, open);
        }
        None
    }

    fn compare_and_swap(
        &mut self,
        mut state: State,
        operation: Operation<'p, Value>,
        open: &mut Open,
    ) -> Option<State> {
        let Operation::Cas {
            address,
            expected,
            desired,
            size,
            read_tags,
            write_tags,
            fail_tags,
            weak,
        } = operation
        else {
            return Some(state);
        };
        let spurious = weak.then(|| {
            let fails = self.result.values.terms.variable(1);
            self.choice(&state, fails);
            fails
        });
        let (old, reads) = self.read(&state, address, size, &TagChoice::default());
        let mut same = self.result.values.binary(BinaryOp::Eq, &old, &expected);
        if let Some(fails) = spurious {
            let terms = &mut self.result.values.terms;
            let works = terms.not(fails);
            same.term = terms.and(same.term, works);
        }
        for read in &reads {
            self.result.events[*read as usize].tags =
                TagChoice::depending(same.term, read_tags, fail_tags);
        }
        let terms = &mut self.result.values.terms;
        let differs = terms.not(same.term);
        let (truth, falsity) = (terms.truth(), terms.falsity());
        let mut failed = state.clone();
        if failed.guard.require(differs, terms) {
            failed.thread.leaves_no_trace();
            failed.thread.results(self.code, old, Some(Value { term: falsity, ..same }));
            self.wait(failed, open);
        }
        if !state.guard.require(same.term, &mut self.result.values.terms) {
            return None;
        }
        let desired = self.result.values.picked(desired, &same);
        let pairing = Pairing { when: truth, reads, is_single: true };
        self.write(&state, address, desired, size, write_tags, &[pairing]);
        let ok = Value { term: truth, ..same };
        if let Some(next) = self.read_and_written(state, old, desired, Some(ok), open) {
            self.wait(next, open);
        }
        None
    }

    /// It succeeds if it wants to, and if there is a reservation that fits.
    fn store_conditional(
        &mut self,
        state: &mut State,
        address: Value,
        value: Value,
        size: AccessSize,
        tags: &Tags,
    ) {
        let terms = &mut self.result.values.terms;
        let reservations = std::mem::take(&mut state.reservations);
        let mut pairings = Vec::new();
        let mut possible = terms.falsity();
        for reservation in reservations.into_iter().filter(|other| other.size == size) {
            let mut when = reservation.when;
            if !tags.contains(Tags::ANY_ADDRESS) {
                let same = terms.equals(address.term, reservation.address);
                when = terms.and(when, same);
            }
            possible = terms.or(possible, when);
            pairings.push(Pairing { when, reads: reservation.reads, is_single: false });
        }
        let wants = terms.variable(1);
        let fails = terms.not(wants);
        self.choice(state, fails);
        let succeeds = self.result.values.terms.and(wants, possible);
        let status = self.result.values.terms.not(succeeds);
        let mut status = self.result.values.plain(status);
        let mut success = state.clone();
        if success.guard.require(succeeds, &mut self.result.values.terms) {
            let writes = self.write(&success, address, value, size, tags, &pairings);
            if tags.contains(Tags::STATUS_DEPENDS) {
                for write in writes {
                    let source = self.result.values.single(write);
                    let source = self.result.values.restrict(source, succeeds);
                    status.sources = self.result.values.union(status.sources, source);
                }
            }
        }
        state.thread.result(self.code, status);
    }
}

fn describe(operation: &Operation<'_, Value>) -> String {
    match operation {
        Operation::Fault(Fault::External(name)) => format!("call of '{name}', which has no body"),
        Operation::Fault(Fault::BadCallee) => "call through an unknown address".to_string(),
        Operation::Fault(Fault::BadArguments) => "call with arguments that do not fit".to_string(),
        Operation::Fault(Fault::Unsupported(what)) => what.clone(),
        Operation::Spawn { .. } | Operation::Join { .. } => "starting threads".to_string(),
        Operation::Alloc { .. } | Operation::Free { .. } | Operation::HeapSize { .. } => {
            "allocation".to_string()
        }
        _ => "atomic sections".to_string(),
    }
}
