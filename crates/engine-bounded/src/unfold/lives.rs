//! How threads start, end, and wait.

use parallax_machine::{Domain, Site};
use parallax_program::{BinaryOp, Bits, FunctionId, Program, Tags};

use super::state::State;
use super::{Spawned, Stop, Unfolder, WaitKind, Waiting};
use crate::event::{Dependency, Event, Kind, Step, TagChoice};
use crate::guard::Guard;
use crate::value::{Sources, Value};

/// Bytes of the places where the lives of threads show.
const LIFE: u32 = 8;

impl Unfolder<'_, '_, '_> {
    /// Starts a thread. The result is its number.
    pub(super) fn spawn(&mut self, state: &State, function: FunctionId, args: Vec<Value>) -> Value {
        let child = self.threads;
        self.threads += 1;
        let address = self.bits(Bits::new(64, u128::from(Program::thread_address(child))));
        let one = self.result.values.terms.constant(Bits::new(64, 1));
        let tags = TagChoice::always(&Tags::thread_release());
        let step = Step::Spawn { child };
        let number = self.event(state, Kind::Write { value: one }, address, LIFE, tags, step);
        let (mut sources, mut picks) = (Sources::NONE, Sources::NONE);
        for arg in &args {
            sources = self.result.values.union(sources, arg.sources);
            picks = self.result.values.union(picks, arg.picks);
        }
        self.result.events[number as usize].data = Dependency { sources, picks };
        self.accesses += 1;
        let (guard, site) = (state.guard.clone(), state.thread.site());
        self.spawned.push_back(Spawned { number: child, function, args, guard, site });
        self.bits(Bits::new(32, u128::from(child)))
    }

    /// The first step of a spawned thread. The result are its arguments, which come from there.
    pub(super) fn begin(
        &mut self,
        guard: &Guard,
        site: Option<Site>,
        args: Vec<Value>,
    ) -> Vec<Value> {
        let terms = &mut self.result.values.terms;
        let address = u128::from(Program::thread_address(self.thread));
        let event = self.result.events.len() as u32;
        let begin = Event {
            thread: Some(self.thread),
            kind: Kind::Read { value: terms.variable(LIFE * 8) },
            guard: guard.clone(),
            executed: guard.term(terms),
            address: terms.constant(Bits::new(64, address)),
            bytes: LIFE,
            tags: TagChoice::always(&Tags::thread_acquire()),
            access: self.accesses,
            site,
            addr: Dependency::NONE,
            data: Dependency::NONE,
            ctrl: Dependency::NONE,
            pairs: Vec::new(),
            step: Step::Begin,
            fails: None,
            turns: Vec::new(),
            section: None,
        };
        self.result.events.push(begin);
        self.accesses += 1;
        let sources = self.result.values.single(event);
        args.into_iter().map(|arg| Value { sources, picks: Sources::NONE, ..arg }).collect()
    }

    /// The last step of a thread.
    pub(super) fn last_step(&mut self, state: &State) {
        let address = Program::thread_address(self.thread) + u64::from(LIFE);
        let address = self.bits(Bits::new(64, u128::from(address)));
        let one = self.result.values.terms.constant(Bits::new(64, 1));
        let tags = TagChoice::always(&Tags::thread_release());
        self.event(state, Kind::Write { value: one }, address, LIFE, tags, Step::End);
        self.accesses += 1;
    }

    /// Goes on where the thread has ended. False if that can never be.
    #[must_use]
    pub(super) fn join(&mut self, state: &mut State, thread: Value) -> bool {
        if self.waits_in_section(state) {
            return false;
        }
        let values = &mut self.result.values;
        let wide = values.zero_extend(&thread, 64);
        let step = values.bits(Bits::new(64, 16));
        let base = values.bits(Bits::new(64, u128::from(Program::thread_address(0)) + 8));
        let offset = values.binary(BinaryOp::Mul, &wide, &step);
        let address = values.binary(BinaryOp::Add, &base, &offset);
        // Where a thread comes from is nothing that a model learns of the join.
        let address = values.plain(address.term);
        let has_ended = values.terms.variable(1);
        let before = self.stop(state);
        if !state.guard.require(has_ended, &mut self.result.values.terms) {
            return false;
        }
        let value = self.result.values.terms.variable(LIFE * 8);
        let tags = TagChoice::always(&Tags::thread_acquire());
        let event = self.event(state, Kind::Read { value }, address, LIFE, tags, Step::Join);
        self.accesses += 1;
        let terms = &mut self.result.values.terms;
        let not_yet = terms.not(has_ended);
        let guard = terms.and(before.guard, not_yet);
        let truth = terms.truth();
        let stop = Stop { guard, ..before };
        let (kind, reads) = (WaitKind::Join, vec![(truth, event)]);
        self.result.waits.push(Waiting { stop, kind, reads, writes: Vec::new() });
        true
    }

    /// A thread that stands at a wait whose condition does not hold.
    pub(super) fn wait_for_reads(&mut self, state: &State) {
        if self.waits_in_section(state) {
            return;
        }
        let stop = self.stop(state);
        let reads = state.last_reads.clone();
        let (kind, writes) = (WaitKind::Wait, Vec::new());
        self.result.waits.push(Waiting { stop, kind, reads, writes });
    }

    /// A thread that is back at the head of a loop as it was before. If it has stored something, that
    /// has to be what was there.
    pub(super) fn spin(&mut self, state: &State, has_stored: bool) {
        if self.waits_in_section(state) {
            return;
        }
        let stop = self.stop(state);
        let truth = self.result.values.terms.truth();
        let round = state.spinning_round();
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        for (number, event) in (0u32..).zip(&self.result.events) {
            if event.thread != Some(self.thread) || !event.turns.starts_with(&round) {
                continue;
            }
            if event.kind.is_read() {
                reads.push((truth, number));
            } else if event.kind.is_write() && has_stored {
                writes.push(number);
            }
        }
        self.result.waits.push(Waiting { stop, kind: WaitKind::Spin, reads, writes });
    }
}
