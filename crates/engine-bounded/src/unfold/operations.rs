//! What becomes of each visible operation.

use parallax_machine::{DECIDED_BY_UNDEFINED, Domain, FENCE_OF_ALL, Fault, Operation, modify};
use parallax_program::{AccessSize, BinaryOp, Bits, Tags};

use parallax_solver::Term;

use super::access::Pairing;
use super::state::{Reservation, State};
use super::{Failure, Obstruction, Open, Stop, Unfolder};
use crate::event::{Step, TagChoice};
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
        if self.plan.asks_for_undefined {
            self.note_open(&state, &operation);
        }
        match operation {
            Operation::Load { address, size, tags } => {
                if !self.check(&mut state, address, size, false, 1) {
                    return Ok(None);
                }
                let (value, _) = self.read(&mut state, address, size, &TagChoice::always(tags));
                state.thread.result(self.code, value);
            }
            Operation::Store { address, value, size, tags } => {
                if !self.check(&mut state, address, size, true, 1) {
                    return Ok(None);
                }
                self.write(&mut state, address, value, size, tags, &[]);
                state.thread.done();
            }
            Operation::Rmw { address, op, operand, size, read_tags, write_tags } => {
                if !self.check(&mut state, address, size, true, 2) {
                    return Ok(None);
                }
                let tags = TagChoice::always(read_tags);
                let (old, reads) = self.read(&mut state, address, size, &tags);
                let new = modify(op, &old, &operand, &mut self.result.values);
                let when = self.result.values.terms.truth();
                let pairing = Pairing { when, reads, is_single: true };
                self.write(&mut state, address, new, size, write_tags, &[pairing]);
                return Ok(self.read_and_written(state, old, new, None, open));
            }
            Operation::Cas { .. } => return Ok(self.compare_and_swap(state, operation, open)),
            Operation::LoadLinked { address, size, tags } => {
                if !self.check(&mut state, address, size, false, 1) {
                    return Ok(None);
                }
                let (value, reads) = self.read(&mut state, address, size, &TagChoice::always(tags));
                let when = self.result.values.terms.truth();
                state.reservations = vec![Reservation { when, address: address.term, size, reads }];
                state.thread.result(self.code, value);
            }
            Operation::StoreConditional { address, value, size, tags } => {
                self.store_conditional(state, address, value, size, tags, open);
                return Ok(None);
            }
            Operation::Fence { tags } if tags.contains(Tags::MEMBARRIER) => {
                self.obstacle(&state, FENCE_OF_ALL.to_string());
                return Ok(None);
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
                let fits = self.input_range(term, width);
                if !state.guard.require(fits, &mut self.result.values.terms) {
                    return Ok(None);
                }
                self.silent(&state, term, Step::Choice);
                let value = self.result.values.plain(term);
                state.thread.result(self.code, value);
            }
            Operation::Undefined { width } => {
                let value = self.result.values.undefined(width);
                self.silent(&state, value.term, Step::Undefined);
                state.thread.result(self.code, value);
            }
            Operation::Choose { below } => {
                let width = self.result.values.terms.width(below.term);
                let term = self.result.values.terms.variable(width);
                let fits = self.result.values.terms.binary(BinaryOp::Ult, term, below.term);
                if !state.guard.require(fits, &mut self.result.values.terms) {
                    return Ok(None);
                }
                self.silent(&state, term, Step::Choice);
                let value = self.result.values.plain(term);
                state.thread.result(self.code, value);
            }
            Operation::Wait { condition } => {
                let mut waiting = state.clone();
                let opposite = self.result.values.terms.not(condition.term);
                if waiting.guard.require(opposite, &mut self.result.values.terms) {
                    self.wait_for_reads(&waiting);
                }
                if !state.guard.require(condition.term, &mut self.result.values.terms) {
                    return Ok(None);
                }
                state.thread.done();
            }
            Operation::Spawn { function, args } => {
                let number = self.spawn(&state, function, args);
                state.thread.result(self.code, number);
            }
            Operation::Join { thread } => {
                if !self.join(&mut state, thread) {
                    return Ok(None);
                }
                state.thread.done();
            }
            Operation::Alloc { size, align, kind, zeroed } => {
                let Some(address) = self.alloc(&mut state, size, align, kind, zeroed) else {
                    self.obstacle(&state, "an object of large size".to_string());
                    return Ok(None);
                };
                state.thread.result(self.code, address);
            }
            Operation::Free { address, kind } => {
                if !self.free(&mut state, address, kind) {
                    return Ok(None);
                }
                state.thread.done();
            }
            Operation::HeapSize { address } => match self.heap_size(&mut state, address) {
                Some(size) => state.thread.result(self.code, size),
                None => return Ok(None),
            },
            Operation::Assume { condition } => {
                let mut failed = state.clone();
                let wrong = self.result.values.terms.not(condition.term);
                if failed.guard.require(wrong, &mut self.result.values.terms) {
                    let is_over = |site| self.code.ends_program(site);
                    if failed.thread.site().is_some_and(is_over) {
                        let stop = self.stop(&failed);
                        self.result.ends.push(stop);
                    }
                    let site = self.code.own_site(failed.thread.stack());
                    let stop = Stop { site, ..self.stop(&failed) };
                    self.result.discarded.push(stop);
                }
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
            Operation::AtomicBegin => {
                if !self.enter_section(&mut state) {
                    return Ok(None);
                }
                state.thread.done();
            }
            Operation::AtomicEnd => {
                self.leave_section(state, open);
                return Ok(None);
            }
            Operation::ThreadId => {
                let number = self.bits(Bits::new(32, u128::from(self.thread)));
                state.thread.result(self.code, number);
            }
            Operation::End if state.section.is_some() => {
                let what = "a thread that ends inside an atomic section";
                self.obstacle(&state, what.to_string());
                return Ok(None);
            }
            Operation::End => {
                self.end(&state);
                return Ok(None);
            }
            Operation::Spin { .. } => {
                self.spin(&state, false);
                return Ok(None);
            }
            // The thread has waited all the time on another way.
            Operation::Vain { .. } => return Ok(None),
            // Straight code that goes on: no bound on loops would say that.
            Operation::Cut => {
                self.obstacle(&state, "a long computation".to_string());
                return Ok(None);
            }
            Operation::Fault(Fault::BadCallee) => {
                self.call_through_pointer(&state, open)?;
                return Ok(None);
            }
            other => {
                self.obstacle(&state, describe(&other));
                return Ok(None);
            }
        }
        Ok(Some(state))
    }

    /// Whether what happens next is decided by a value that nobody has given.
    fn note_open(&mut self, state: &State, operation: &Operation<'p, Value>) {
        let decides = match operation {
            Operation::Branch { condition }
            | Operation::Assert { condition, .. }
            | Operation::Assume { condition }
            | Operation::Wait { condition } => condition,
            Operation::Load { address, .. }
            | Operation::Store { address, .. }
            | Operation::Rmw { address, .. }
            | Operation::Cas { address, .. }
            | Operation::Free { address, .. } => address,
            _ => return,
        };
        let open = self.result.values.is_open(decides.term);
        let mut decided = state.clone();
        if decided.guard.require(open, &mut self.result.values.terms) {
            let stop = self.stop(&decided);
            self.result.undecided.push((stop, DECIDED_BY_UNDEFINED.to_string()));
        }
    }

    pub(super) fn obstacle(&mut self, state: &State, what: String) {
        let stop = self.stop(state);
        self.result.obstacles.push((stop, what));
    }

    /// Whether an input has one of the values that are asked for, as other engines count them: up
    /// from the lowest.
    fn input_range(&mut self, term: Term, width: u32) -> Term {
        let terms = &mut self.result.values.terms;
        let Some((low, high)) = self.plan.nondet.filter(|_| width > 1) else {
            return terms.truth();
        };
        let most = high.wrapping_sub(low) as u128;
        if width < 128 && most >= 1 << width {
            return terms.truth();
        }
        let [low, most] = [low as u128, most].map(|value| terms.constant(Bits::new(width, value)));
        let from_lowest = terms.binary(BinaryOp::Sub, term, low);
        terms.binary(BinaryOp::Ule, from_lowest, most)
    }

    fn end(&mut self, state: &State) {
        if self.plan.lives {
            self.last_step(state);
        }
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
        if !state.is_in_loop() {
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
        if !self.check(&mut state, address, size, true, 2) {
            return None;
        }
        let spurious = weak.then(|| {
            let fails = self.result.values.terms.variable(1);
            self.silent(&state, fails, Step::Choice);
            fails
        });
        let (old, reads) = self.read(&mut state, address, size, &TagChoice::default());
        let mut same = self.result.values.binary(BinaryOp::Eq, &old, &expected);
        if let Some(fails) = spurious {
            let terms = &mut self.result.values.terms;
            let works = terms.not(fails);
            same.term = terms.and(same.term, works);
        }
        for read in &reads {
            let event = &mut self.result.events[*read as usize];
            event.tags = TagChoice::depending(same.term, read_tags, fail_tags);
            event.fails = spurious;
        }
        let terms = &mut self.result.values.terms;
        let differs = terms.not(same.term);
        let truth = terms.truth();
        // The result stays a condition: what it decides is no reason to go round a loop again.
        let mut failed = state.clone();
        if failed.guard.require(differs, terms) {
            failed.thread.leaves_no_trace();
            failed.thread.results(self.code, old, Some(same));
            self.wait(failed, open);
        }
        if !state.guard.require(same.term, &mut self.result.values.terms) {
            return None;
        }
        let desired = self.result.values.picked(desired, &same);
        let pairing = Pairing { when: truth, reads, is_single: true };
        self.write(&mut state, address, desired, size, write_tags, &[pairing]);
        if let Some(next) = self.read_and_written(state, old, desired, Some(same), open) {
            self.wait(next, open);
        }
        None
    }

    /// It succeeds if it wants to, and if there is a reservation that fits.
    fn store_conditional(
        &mut self,
        mut state: State,
        address: Value,
        value: Value,
        size: AccessSize,
        tags: &Tags,
        open: &mut Open,
    ) {
        if !self.check(&mut state, address, size, true, 1) {
            return;
        }
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
        let succeeds = terms.and(wants, possible);
        let status = terms.not(succeeds);
        self.silent(&state, status, Step::Choice);
        let mut result = self.result.values.plain(status);
        let fails = self.result.values.terms.not(wants);
        for read in pairings.iter().flat_map(|pairing| &pairing.reads) {
            self.result.events[*read as usize].fails = Some(fails);
        }
        let mut failed = state.clone();
        if failed.guard.require(status, &mut self.result.values.terms) {
            failed.thread.leaves_no_trace();
            failed.thread.result(self.code, result);
            self.wait(failed, open);
        }
        if !state.guard.require(succeeds, &mut self.result.values.terms) {
            return;
        }
        let writes = self.write(&mut state, address, value, size, tags, &pairings);
        if tags.contains(Tags::STATUS_DEPENDS) {
            for write in writes {
                let source = self.result.values.single(write);
                result.sources = self.result.values.union(result.sources, source);
            }
        }
        state.thread.result(self.code, result);
        self.wait(state, open);
    }
}

fn describe(operation: &Operation<'_, Value>) -> String {
    match operation {
        Operation::Fault(fault) => fault.message(),
        _ => "an operation of that kind".to_string(),
    }
}
