//! Whether a thread can do what it stands at, and if not, what it waits for.

use parallax_program::{AllocKind, Bits, Property};

use super::local::{At, Input, Local};
use super::marks::Marks;
use super::objects::BadAccess;
use super::record::Log;
use super::{MemoryKind, Slot, System};
use crate::{Extent, wrong_access};

/// What can be said of the next step of a thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Readiness {
    /// It can be taken, in so many ways.
    Ready {
        choices: u64,
    },
    Blocked(Waits),
    /// It is an error.
    Failed {
        property: Property,
        wrong: BadAccess,
    },
    /// It uses an object that only its maker was thought to use; see [`super::Setup::share`].
    Escaped {
        context: u64,
    },
    /// It reads below the end of its stack; see [`super::Setup::keep_stacks`].
    Forgotten,
    /// The machine cannot follow it.
    Unsupported(&'static str),
    /// There is none.
    Over,
}

/// What a thread waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Waits {
    /// Other values at these bytes. Where `spins`, it would go round a loop to look again.
    Bytes { address: u64, bytes: u8, spins: bool },
    /// Its own buffer to be empty, or to have room.
    Buffer,
    /// Its own buffer to be empty, or other values at these bytes: a compare-and-swap that must
    /// lock memory only if it succeeds.
    BufferOrBytes { address: u64, bytes: u8 },
    /// The buffers of all threads to be empty.
    Buffers,
    /// The end of a thread.
    Thread(u64),
    /// The end of the atomic section that another thread is in.
    Section,
}

impl Readiness {
    const READY: Readiness = Readiness::Ready { choices: 1 };

    pub(super) fn bad(wrong: BadAccess) -> Readiness {
        Readiness::Failed { property: Property::Memory, wrong }
    }
}

impl<'p> System<'_, 'p> {
    /// Whether a thread can do what it stands at.
    pub fn readiness(&self, thread: u32) -> Readiness {
        let Some(slot) = self.slot(thread) else {
            return Readiness::Over;
        };
        let local = &*slot.local;
        if local.at == At::Forgotten {
            return Readiness::Forgotten;
        }
        if matches!(local.at, At::Ended | At::Stopped | At::Waiting | At::Endless | At::Cut)
            || matches!(local.at, At::Failed { .. } | At::Fault(_))
        {
            return Readiness::Over;
        }
        if self.section.is_some_and(|owner| owner != thread) {
            return Readiness::Blocked(Waits::Section);
        }
        match &local.at {
            At::Join { thread: other } => {
                match u32::try_from(*other).is_ok_and(|other| self.has_ended(other)) {
                    true => Readiness::READY,
                    false => Readiness::Blocked(Waits::Thread(*other)),
                }
            }
            At::Choice { below, .. } => Readiness::Ready { choices: *below },
            At::Enter if slot.buffer.is_empty() => Readiness::READY,
            // One of many in a row: see `System::settle`.
            At::Fence | At::Drain if slot.buffer.is_empty() && !self.publishes() => {
                Readiness::READY
            }
            At::Enter | At::Fence | At::Drain | At::End => Readiness::Blocked(Waits::Buffer),
            At::FenceOfAll => {
                match self.threads.iter().flatten().all(|slot| slot.buffer.is_empty()) {
                    true => Readiness::READY,
                    false => Readiness::Blocked(Waits::Buffers),
                }
            }
            At::Free { address, kind } => self.ready_to_free(thread, *address, *kind),
            At::HeapSize { address } => self.ready_to_free(thread, *address, AllocKind::Heap),
            At::Local if self.setup.options.stops => Readiness::READY,
            At::Local => self.unless_stuck(slot, Input::Nothing, None),
            _ => self.ready_to_access(thread, slot),
        }
    }

    fn ready_to_free(&self, thread: u32, address: u64, kind: AllocKind) -> Readiness {
        if let Some(escaped) = self.escape(thread, address) {
            return escaped;
        }
        // Nothing must be left of what was done to it.
        if self.publishes() && !self.is_settled() {
            return Readiness::Blocked(Waits::Buffers);
        }
        self.bad_free(address, kind).map_or(Readiness::READY, Readiness::bad)
    }

    /// Whether an address is in an object that only another thread was thought to use.
    fn escape(&self, thread: u32, address: u64) -> Option<Readiness> {
        let object = self.object(address).filter(|object| object.is_private)?;
        let foreign = self.setup.slots().owner(address) != Some(thread as usize);
        // Whether a weak compare-and-swap fails is a choice, as only operations on what threads
        // share have.
        let at = self.slot(thread).map(|slot| &slot.local.at);
        let chooses = matches!(at, Some(At::Cas { is_weak: true, .. }));
        (foreign || chooses).then_some(Readiness::Escaped { context: object.context })
    }

    fn ready_to_access(&self, thread: u32, slot: &Slot<'p>) -> Readiness {
        let local = &*slot.local;
        let Some((address, bytes, writes)) = local.at.access() else {
            return Readiness::Over;
        };
        if let Some(escaped) = self.escape(thread, address) {
            return escaped;
        }
        let farewell = matches!(
            &local.at,
            At::Load { marks, .. } | At::Rmw { marks, .. } if marks.is_farewell()
        );
        if let Some(wrong) = self.bad_access(address, u64::from(bytes), writes)
            && !(farewell && wrong == BadAccess::Freed)
        {
            return Readiness::bad(wrong);
        }
        if self.publishes() {
            return self.ready_to_issue(thread, slot);
        }
        match &local.at {
            At::Load { marks, .. } if marks.is_locked() && !slot.buffer.is_empty() => {
                Readiness::Blocked(Waits::Buffer)
            }
            At::Load { marks, .. } => self.ready_to_read(slot, address, bytes, *marks),
            At::Store { value, marks, .. } => {
                self.ready_to_store(slot, address, bytes, *value, *marks)
            }
            At::Cas { expected, fail, .. } if !slot.buffer.is_empty() => {
                // One that fails is a load, and need not wait for the buffer; one that succeeds
                // must.
                let seen = self.content(Some(slot), address, u32::from(bytes));
                match (fail.is_locked(), seen.value == *expected) {
                    (true, _) => Readiness::Blocked(Waits::Buffer),
                    (false, true) if self.may_fail(slot, seen.value) => Readiness::READY,
                    (false, true) => Readiness::Blocked(Waits::BufferOrBytes { address, bytes }),
                    (false, false) => self.ready_to_read(slot, address, bytes, *fail),
                }
            }
            _ if !slot.buffer.is_empty() => Readiness::Blocked(Waits::Buffer),
            _ => self.ready_to_read(slot, address, bytes, Marks::default()),
        }
    }

    /// A store into a buffer that is full waits; one that changes nothing may be one that a thread
    /// repeats for ever.
    fn ready_to_store(
        &self,
        slot: &Slot<'p>,
        address: u64,
        bytes: u8,
        value: u128,
        marks: Marks,
    ) -> Readiness {
        let options = &self.setup.options;
        let at_once =
            options.memory == MemoryKind::Sc || marks.is_locked() || slot.local.in_section;
        if !at_once {
            return match slot.buffer.entries().len() < options.buffer {
                true => Readiness::READY,
                false => Readiness::Blocked(Waits::Buffer),
            };
        }
        if !slot.buffer.is_empty() {
            return Readiness::Blocked(Waits::Buffer);
        }
        let content = self.content(None, address, u32::from(bytes));
        match content.is_defined() && content.value == value {
            true => self.unless_stuck(slot, Input::Nothing, Some((address, bytes))),
            false => Readiness::READY,
        }
    }

    /// A read, or read-modify-write, that finds what is there now.
    fn ready_to_read(&self, slot: &Slot<'p>, address: u64, bytes: u8, marks: Marks) -> Readiness {
        let content = self.content(Some(slot), address, u32::from(bytes));
        if !content.is_defined() && !marks.is_copy() {
            return Readiness::bad(BadAccess::Undefined);
        }
        let old = content.bits(u32::from(bytes), marks);
        let new = slot.local.at.written(old);
        if new.is_some() && self.may_fail(slot, content.value) {
            return Readiness::Ready { choices: 2 };
        }
        if new.is_some_and(|new| new != content.value) {
            return Readiness::READY;
        }
        let input = match slot.local.at {
            At::Cas { .. } => Input::Pair(old, new.is_some()),
            _ => Input::Value(old),
        };
        self.unless_stuck(slot, input, Some((address, bytes)))
    }

    /// Whether something comes of it if a compare-and-swap that finds what it expects fails for no
    /// reason.
    fn may_fail(&self, slot: &Slot<'p>, seen: u128) -> bool {
        let At::Cas { address, bytes, is_weak: true, .. } = slot.local.at else {
            return false;
        };
        let input = Input::Pair(Bits::new(u32::from(bytes) * 8, seen), false);
        self.unless_stuck(slot, input, Some((address, bytes))) == Readiness::READY
    }

    /// A step that changes nothing that others see. It is none where it leads to a false wait, or
    /// back to where the thread is: the thread waits until it would find something else.
    pub(super) fn unless_stuck(
        &self,
        slot: &Slot<'p>,
        input: Input,
        read: Option<(u64, u8)>,
    ) -> Readiness {
        let local: &std::sync::Arc<Local<'p>> = &slot.local;
        if !local.may_wait && local.at != At::Local {
            return Readiness::READY;
        }
        let mut passage = local.pass(self.setup, input, &mut Log::off());
        if self.setup.options.stops {
            passage = super::stops::run_on(self.setup, passage);
        }
        let waits = passage.next.at == At::Waiting && passage.outs.is_empty();
        let spins = passage.next.fingerprint == local.fingerprint && passage.outs.is_empty();
        if !waits && !spins {
            return Readiness::READY;
        }
        let (address, bytes) = read.unwrap_or_default();
        Readiness::Blocked(Waits::Bytes { address, bytes, spins })
    }

    /// What is wrong with an access, if something is.
    fn bad_access(&self, address: u64, bytes: u64, writes: bool) -> Option<BadAccess> {
        wrong_access(self.extent(address), address, bytes, writes)
    }

    /// The object that an address is in, or behind.
    fn extent(&self, address: u64) -> Option<Extent> {
        if let Some(object) = self.object(address) {
            return Some(Extent {
                start: object.address,
                size: object.size,
                is_freed: self.is_freed(object),
                is_constant: false,
                is_alone: true,
            });
        }
        let is_own = self.setup.slots().owner(address).is_none();
        let global = self.setup.globals.at(address).filter(|_| is_own)?;
        Some(Extent {
            start: global.address,
            size: global.size,
            is_freed: false,
            is_constant: global.constant,
            is_alone: false,
        })
    }
}
