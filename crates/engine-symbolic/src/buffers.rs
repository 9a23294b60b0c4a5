//! Stores that others do not see yet, as `parallax_machine::system` has it for numbers: a store waits in
//! its thread's buffer until it is flushed, which is a step of its own; a thread sees its own stores
//! first; locked accesses and full fences wait until the buffer is empty; starting a thread is a store
//! too, and its end shows once its buffer is empty.
//!
//! Where a store goes is a number here: whether two stores may overtake one another depends on it.

use std::ops::Range;

use parallax_machine::system::{Entry, MemoryKind, What};

use crate::machine::{Halt, Machine, Run, Touch};
use crate::state::{Access, At, Move, State};
use crate::value::Value;

impl<'p> Machine<'_, 'p> {
    /// All outcomes of a step.
    pub fn take(&mut self, state: &State<'p>, step: Move) -> Result<Vec<Run<'p>>, Halt> {
        match step {
            Move::Step(thread) => self.step(state, thread),
            Move::Flush { thread, index } => {
                let open = self.flush(state, thread, index);
                self.all(open)
            }
        }
    }

    /// Whether a fence keeps its thread back. It stays where it is then.
    pub(crate) fn holds_up(&mut self, run: &mut Run<'p>, thread: u32) -> bool {
        let site = run.state.thread(thread).and_then(|local| local.thread.site());
        let marks = self.facts(site)[0].marks;
        if self.memory == MemoryKind::Sc || self.is_alone(&run.state) {
            return false;
        }
        let is_drained = run.state.is_drained(thread);
        if marks.is_fence_of_all() || marks.is_flush() && !is_drained {
            let at = if marks.is_fence_of_all() { At::FenceOfAll } else { At::Fence };
            self.put(run, thread, at);
            return true;
        }
        if marks.is_barrier()
            && self.memory == MemoryKind::Pso
            && !is_drained
            && let Some(local) = run.state.local(thread)
        {
            local.buffer.push(Entry::Barrier);
        }
        false
    }

    /// Whether a store goes into the buffer of its thread.
    pub(crate) fn is_buffered(
        &self,
        run: &Run<'p>,
        thread: u32,
        access: &Access,
    ) -> Result<bool, Halt> {
        Ok(self.memory != MemoryKind::Sc
            && !access.is_locked()
            && run.state.section != Some(thread)
            && !self.is_alone(&run.state)
            && !self.is_own(&run.state, thread, access.range().start)?)
    }

    /// Puts a store into the buffer of its thread.
    pub(crate) fn push(&mut self, run: &mut Run<'p>, thread: u32, access: &Access, value: Value) {
        let (address, bytes) = (access.range().start, access.bytes as u8);
        if self.log.is_some() {
            let value = self.sample(&run.state.path, value).unsigned();
            self.record(thread, What::Write { address, bytes, value, is_buffered: true });
        }
        let marks = access.facts[1].marks;
        let is_pso = self.memory == MemoryKind::Pso;
        let Some(local) = run.state.local(thread) else { return };
        local.held.retain(|held| *held != address);
        if marks.takes_lock() {
            local.held.push(address);
        }
        local.looks.clear();
        let is_release = is_pso && marks.is_barrier() && !local.buffer.is_empty();
        local.buffer.push(Entry::Store { address, bytes, value, is_release });
    }

    /// What is at a place in the buffer of a thread takes effect. Threads have not run on yet; see
    /// [`Machine::next`].
    pub fn flush(&mut self, state: &State<'p>, thread: u32, index: u32) -> Vec<Run<'p>> {
        let mut run = self.begin_flush(state);
        let Some(local) = run.state.local(thread) else { return vec![run] };
        let before = local.buffer.entries().iter().take(index as usize);
        let place = before.filter(|entry| matches!(entry, Entry::Store { .. })).count();
        if let Some(Entry::Store { address, bytes, value, .. }) = local.buffer.take(index as usize)
        {
            self.record(thread, What::Flush { index: place });
            self.land(&mut run, address, u32::from(bytes), value);
        }
        self.begin_children(&mut run, thread);
        self.settle(&mut run, thread);
        vec![run]
    }

    /// A store takes effect. On an object that is gone by then it has none.
    fn land(&mut self, run: &mut Run<'p>, address: u64, bytes: u32, value: Value) {
        let object = self.object(&run.state, address);
        if object.is_some_and(|object| run.state.is_freed(object.address)) {
            return;
        }
        let mut memory = std::mem::take(&mut run.state.memory);
        let (slots, globals, state) = (self.slots, &self.globals, &run.state);
        let initial = |page| Self::initial_page(slots, globals, state, page);
        memory.write(&mut self.values, address, value, &initial);
        run.state.memory = memory;
        run.effects.changes = true;
        let range = address..address.saturating_add(u64::from(bytes));
        let address = Value::Known(parallax_program::Bits::new(64, u128::from(address)));
        let (is_atomic, is_plain, site) = (false, false, None);
        let touch =
            Touch { range, address, bytes, reads: false, writes: true, is_atomic, is_plain, site };
        run.effects.accesses.push(touch);
    }

    /// Whether another thread has a store to some bytes on its way.
    pub(crate) fn is_stored_late(&self, run: &Run<'p>, thread: u32, range: &Range<u64>) -> bool {
        let others = run.state.started().filter(|other| *other != thread);
        let mut others = others.filter_map(|other| run.state.thread(other));
        others.any(|local| {
            local.buffer.entries().iter().any(
                |entry| matches!(entry, Entry::Store { address, .. } if range.contains(address)),
            )
        })
    }

    /// Threads start as soon as all that was stored before they were spawned has taken effect.
    fn begin_children(&mut self, run: &mut Run<'p>, thread: u32) {
        while let Some(local) = run.state.local(thread)
            && let Some(Entry::Spawn { .. }) = local.buffer.entries().first()
            && let Some(Entry::Spawn { child, function, args }) = local.buffer.take(0)
        {
            self.begin(run, child, function, args.to_vec());
            run.effects.spawned.push(child);
        }
    }

    /// Has a thread go on past what only waits for its buffer, when that is empty.
    fn settle(&mut self, run: &mut Run<'p>, thread: u32) {
        let Some(local) = run.state.thread(thread).filter(|local| local.buffer.is_empty()) else {
            return;
        };
        match local.at {
            At::Fence => {
                self.record(thread, What::Fence);
                self.pass(run, thread, None);
                run.todo.push(thread);
            }
            At::Ending => {
                self.record(thread, What::End);
                self.put(run, thread, At::Ended);
            }
            _ => {}
        }
    }
}
