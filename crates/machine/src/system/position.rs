//! Threads that are elsewhere than where the machine has brought them.
//!
//! Who explores executions by what is read need not have every store take effect: one that is overwritten before
//! anybody looks changes nothing but where its thread stands.

use std::sync::Arc;

use super::local::{At, Input, Local};
use super::record::Log;
use super::{MemoryKind, System};

/// Where a thread stands, and all that belongs to it alone.
#[derive(Clone)]
pub struct Position<'p>(Arc<Local<'p>>);

impl<'p> Position<'p> {
    pub fn at(&self) -> &At<'p> {
        &self.0.at
    }

    /// Stands for the position, as that of a state does.
    pub fn fingerprint(&self) -> u128 {
        self.0.fingerprint
    }
}

impl<'p> System<'_, 'p> {
    /// Where a thread stands, if it is there.
    pub fn position(&self, thread: u32) -> Option<Position<'p>> {
        self.slot(thread).map(|slot| Position(slot.local.clone()))
    }

    /// Has a thread stand where it may come to by itself.
    pub fn place(&mut self, thread: u32, position: &Position<'p>) {
        if let Some(Some(slot)) = self.threads.get_mut(thread as usize) {
            slot.local = position.0.clone();
        }
    }

    /// Where a thread stands after the store to a global, or after the wait for a thread to end, that it stands at.
    /// None if it stands at something else, does more with this step than to go on, or does not go on.
    pub fn past(&self, position: &Position<'p>) -> Option<Position<'p>> {
        let local = &position.0;
        let is_one = match local.at {
            At::Store { address, bytes, .. } => self.is_in_global(address, bytes),
            At::Join { .. } => true,
            _ => false,
        };
        if !is_one || local.in_section || self.setup.options.memory != MemoryKind::Sc {
            return None;
        }
        let mut next = self.after(local)?;
        while matches!(next.at, At::Fence | At::Drain) {
            next = self.after(&next)?;
        }
        if next.at == At::End {
            next = Arc::new(next.ended(self.setup));
        }
        let is_stuck = next.at == At::Waiting || next.fingerprint == local.fingerprint;
        (!is_stuck).then_some(Position(next))
    }

    fn after(&self, local: &Arc<Local<'p>>) -> Option<Arc<Local<'p>>> {
        let passage = local.pass(self.setup, Input::Nothing, &mut Log::off());
        passage.outs.is_empty().then(|| passage.next.clone())
    }

    /// Whether bytes are those of a global that may be written.
    fn is_in_global(&self, address: u64, bytes: u8) -> bool {
        let setup = self.setup;
        let global = setup.globals.at(address).filter(|_| setup.slots().owner(address).is_none());
        let end = address.checked_add(u64::from(bytes));
        global
            .zip(end)
            .is_some_and(|(global, end)| !global.constant && end - global.address <= global.size)
    }
}
