//! Where atomic sections begin and end; [`crate::sections`] says what that means.

use parallax_machine::{NESTED_SECTION, NO_SECTION};
use parallax_program::{Bits, Program, Tags};

use super::state::State;
use super::{Open, Unfolder};
use crate::event::{Kind, Pair, Step, TagChoice};

/// Bytes of the lock that all sections share.
const LOCK: u32 = 4;

impl Unfolder<'_, '_, '_> {
    /// False if the way ends here.
    #[must_use]
    pub(super) fn enter_section(&mut self, state: &mut State) -> bool {
        let Some(sections) = self.plan.sections else {
            self.obstacle(state, "atomic sections under this model".to_string());
            return false;
        };
        if state.section.is_some() {
            self.obstacle(state, NESTED_SECTION.to_string());
            return false;
        }
        if sections.may_stay {
            let enters = self.result.values.terms.variable(1);
            if !state.guard.require(enters, &mut self.result.values.terms) {
                return false;
            }
        }
        let begin = match sections.locks {
            true => self.take_lock(state),
            false => self.note_section(state, Step::AtomicBegin),
        };
        self.result.events[begin as usize].section = Some(begin);
        state.section = Some(begin);
        true
    }

    /// The lock is free when it is read.
    fn take_lock(&mut self, state: &State) -> u32 {
        let [zero, one] =
            [0, 1].map(|value| self.result.values.terms.constant(Bits::new(LOCK * 8, value)));
        let read = self.lock_event(state, Kind::Read { value: zero }, Step::Enter);
        let begin = self.lock_event(state, Kind::Write { value: one }, Step::AtomicBegin);
        let when = self.result.values.terms.truth();
        self.result.events[begin as usize].pairs = vec![Pair { read, when, is_single: true }];
        self.result.events[read as usize].section = Some(begin);
        begin
    }

    fn lock_event(&mut self, state: &State, kind: Kind, step: Step) -> u32 {
        let address = self.bits(Bits::new(64, u128::from(Program::SECTIONS)));
        let tags = match kind {
            Kind::Write { .. } if step == Step::AtomicEnd => Tags::thread_release(),
            _ => Tags::thread_acquire(),
        };
        let event = self.event(state, kind, address, LOCK, TagChoice::always(&tags), step);
        self.accesses += 1;
        event
    }

    fn note_section(&mut self, state: &State, step: Step) -> u32 {
        let nothing = self.result.values.terms.truth();
        self.silent(state, nothing, step)
    }

    /// Ways that were in different sections may meet again behind them.
    pub(super) fn leave_section(&mut self, mut state: State, open: &mut Open) {
        if state.section.is_none() {
            self.obstacle(&state, NO_SECTION.to_string());
            return;
        }
        if self.plan.sections.is_some_and(|sections| sections.locks) {
            let value = self.result.values.terms.constant(Bits::zero(LOCK * 8));
            self.lock_event(&state, Kind::Write { value }, Step::AtomicEnd);
        } else {
            self.note_section(&state, Step::AtomicEnd);
        }
        state.section = None;
        state.thread.done();
        self.wait(state, open);
    }

    /// Whether a thread would have to be waited for inside of a section, where nobody else does
    /// anything.
    pub(super) fn waits_in_section(&mut self, state: &State) -> bool {
        if state.section.is_some() {
            self.obstacle(state, "a thread that waits inside an atomic section".to_string());
        }
        state.section.is_some()
    }
}
