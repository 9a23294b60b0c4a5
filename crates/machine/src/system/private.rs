//! What a thread does with objects that only it uses, and what it does that no other can notice yet:
//! stores on their way into the buffer.

use std::sync::Arc;

use parallax_program::{AllocKind, Bits, Property};

use super::fingerprint::Digest;
use super::local::{At, Local, Out};
use super::marks::{Marks, MemoryKind};
use super::objects::{BadAccess, Object};
use super::pages::{Page, Pages};
use super::record::{Log, What};
use super::setup::Setup;
use crate::{Site, wrong_end};

impl<'p> Local<'p> {
    /// What is below the end of the stack does not matter: calls that have come back left it there.
    pub(super) fn forget_stack(&mut self, setup: &Setup<'p>) {
        let Some(register) = setup.stack_pointer() else {
            return;
        };
        let end = self.thread.register(&setup.code, register).map(|end| end.unsigned() as u64);
        let (Some(end), Some(site)) = (end, self.site()) else {
            return;
        };
        if setup.slots().owner(end) != Some(self.number as usize) {
            return;
        }
        let after = self.objects.partition_point(|object| object.address <= end);
        let Some(object) = after.checked_sub(1).map(|index| self.objects[index]) else {
            return;
        };
        if !object.is_private || object.kind != AllocKind::Stack {
            return;
        }
        if object.zeroed {
            // What was never written there and what was forgotten shall look alike.
            let stack = Object { zeroed: false, ..object };
            self.objects_fingerprint ^= object.fingerprint() ^ stack.fingerprint();
            Arc::make_mut(&mut self.objects)[after - 1] = stack;
        }
        let end = end.saturating_sub(setup.red_zone(site));
        let size = end.saturating_sub(object.address).min(object.size);
        self.private.forget(object.address, size, |_| Page::zeroed(false));
    }

    /// The thread's own object that an address belongs to, if only it uses that one; what is wrong
    /// with an access there.
    fn own(
        &self,
        setup: &Setup<'p>,
        address: u64,
        bytes: u8,
        marks: Marks,
    ) -> Option<Result<(), BadAccess>> {
        if setup.slots().owner(address) != Some(self.number as usize) {
            return None;
        }
        let object = Object::find(&self.objects, address).filter(|object| object.is_private)?;
        Some(match (object.covers(address, u64::from(bytes)), object.is_freed) {
            (false, _) => Err(BadAccess::OutOfBounds),
            (true, true) if !marks.is_farewell() => Err(BadAccess::Freed),
            (true, _) => Ok(()),
        })
    }

    pub(super) fn load(
        &mut self,
        setup: &Setup<'p>,
        at: At<'p>,
        outs: &mut Vec<Out>,
        log: &mut Log,
    ) -> Option<At<'p>> {
        let At::Load { address, bytes, marks } = at else {
            return Some(at);
        };
        let content = match self.own(setup, address, bytes, marks) {
            Some(Err(wrong)) => return Some(failed(wrong)),
            Some(Ok(())) => {
                let initial = |page| initial_page(&self.objects, page);
                self.private.read(address, u32::from(bytes), initial)
            }
            None => {
                let global = setup.globals.at(address).filter(|_| setup.options.merges);
                let constant = global.filter(|global| {
                    let offset = address - global.address;
                    global.constant
                        && offset <= global.size
                        && u64::from(bytes) <= global.size - offset
                });
                if constant.is_none() {
                    return Some(at);
                }
                Pages::default().read(address, u32::from(bytes), |page| setup.global_page(page))
            }
        };
        if !content.is_defined() && !marks.is_fresh() && self.is_stack(setup, address) {
            return Some(At::Forgotten);
        }
        if !content.is_defined() && !marks.is_copy() {
            return Some(failed(BadAccess::Undefined));
        }
        log.add(self.number, What::Read { address, bytes, value: content.value });
        let from = self.private_from(address, bytes) | self.depends().address;
        if self.depends().address != 0 {
            outs.push(Out::Addressed(self.depends().address));
        }
        let value = content.bits(u32::from(bytes), marks).coming_from(from);
        self.thread.result(&setup.code, value);
        None
    }

    /// The reads that wait, of those that some bytes come from.
    fn private_from(&self, address: u64, bytes: u8) -> u64 {
        let all = self.private_reads.range(address..address.saturating_add(u64::from(bytes)));
        all.fold(0, |all, (_, from)| all | from)
    }

    fn note_private(&mut self, address: u64, bytes: u8, from: u64) {
        if from == 0 && self.private_reads.is_empty() {
            return;
        }
        let all = Arc::make_mut(&mut self.private_reads);
        for byte in address..address.saturating_add(u64::from(bytes)) {
            all.insert(byte, from);
        }
        all.retain(|_, from| *from != 0);
    }

    /// Whether what is there may have been forgotten.
    fn is_stack(&self, setup: &Setup<'p>, address: u64) -> bool {
        let object = Object::find(&self.objects, address);
        let is_stack = |object: &Object| object.kind == AllocKind::Stack && !object.zeroed;
        object.is_some_and(is_stack) && setup.stack_pointer().is_some()
    }

    fn write(&mut self, address: u64, bytes: u8, value: u128, log: &mut Log) {
        let objects = &self.objects;
        let initial = |page| initial_page(objects, page);
        self.private.write(address, u32::from(bytes), value, initial);
        log.add(self.number, What::Write { address, bytes, value, is_buffered: false });
    }

    pub(super) fn store(
        &mut self,
        setup: &Setup<'p>,
        at: At<'p>,
        outs: &mut Vec<Out>,
        log: &mut Log,
    ) -> Option<At<'p>> {
        let At::Store { address, bytes, value, marks } = at else {
            return Some(at);
        };
        if marks.gives_lock_back() && self.held.binary_search(&address).is_err() {
            let message = "unlock by a thread that does not hold the lock";
            return Some(At::Failed { property: Property::Lock, message });
        }
        match self.own(setup, address, bytes, marks) {
            Some(Err(wrong)) => return Some(failed(wrong)),
            Some(Ok(())) => {
                let from = self.depends();
                self.note_private(address, bytes, from.value | from.address);
                if from.address != 0 {
                    outs.push(Out::Addressed(from.address));
                }
                self.write(address, bytes, value, log);
            }
            None => {
                // Into the buffer, where nobody sees it. What may be gone by then is looked at.
                let waits = setup.options.merges
                    && matches!(setup.options.memory, MemoryKind::Tso | MemoryKind::Pso)
                    && !marks.is_locked()
                    && !self.in_section
                    && outs.len() < setup.options.buffer;
                let global =
                    setup.globals.at(address).filter(|_| setup.slots().owner(address).is_none());
                let is_there = global.is_some_and(|global| {
                    let offset = address - global.address;
                    !global.constant
                        && offset <= global.size
                        && u64::from(bytes) <= global.size - offset
                });
                if !waits || !is_there {
                    return Some(at);
                }
                let is_release = marks.is_barrier() && setup.options.memory == MemoryKind::Pso;
                outs.push(Out::Store { address, bytes, value, is_release });
                log.add(self.number, What::Write { address, bytes, value, is_buffered: true });
            }
        }
        self.note_write(address, marks);
        self.thread.done();
        None
    }

    /// Read-modify-writes of the thread's own objects.
    pub(super) fn modify(
        &mut self,
        setup: &Setup<'p>,
        at: At<'p>,
        log: &mut Log,
    ) -> Option<At<'p>> {
        let (address, bytes, marks) = match at {
            At::Rmw { address, bytes, marks, .. } => (address, bytes, marks),
            // See `Readiness::Escaped`.
            At::Cas { is_weak: true, .. } => return Some(at),
            At::Cas { address, bytes, write, .. } => (address, bytes, write),
            other => return Some(other),
        };
        match self.own(setup, address, bytes, marks) {
            None => return Some(at),
            Some(Err(wrong)) => return Some(failed(wrong)),
            // It empties the buffer like any other.
            Some(Ok(()))
                if matches!(setup.options.memory, MemoryKind::Tso | MemoryKind::Pso)
                    && !self.is_drained =>
            {
                return Some(At::Drain);
            }
            Some(Ok(())) => self.is_drained = false,
        }
        let initial = |page| initial_page(&self.objects, page);
        let content = self.private.read(address, u32::from(bytes), initial);
        if !content.is_defined() && self.is_stack(setup, address) {
            return Some(At::Forgotten);
        }
        if !content.is_defined() {
            return Some(failed(BadAccess::Undefined));
        }
        log.add(self.number, What::Read { address, bytes, value: content.value });
        let from = self.depends();
        let known = self.private_from(address, bytes) | from.address;
        let old = Bits::new(u32::from(bytes) * 8, content.value).coming_from(known);
        let new = at.written(old);
        if let Some(new) = new {
            self.note_private(address, bytes, known | from.value);
            self.write(address, bytes, new, log);
            self.note_write(address, marks);
        }
        match at {
            At::Cas { .. } => {
                let ok = Bits::bool(new.is_some()).coming_from(known | from.expected);
                self.thread.results(&setup.code, old, Some(ok));
            }
            _ => self.thread.result(&setup.code, old),
        }
        None
    }

    pub(super) fn fence(
        &mut self,
        setup: &Setup<'p>,
        marks: Marks,
        outs: &mut Vec<Out>,
        log: &mut Log,
    ) -> Option<At<'p>> {
        let has_buffers = matches!(setup.options.memory, MemoryKind::Tso | MemoryKind::Pso);
        if setup.options.memory == MemoryKind::Mca {
            outs.push(Out::Fence(marks));
        }
        if marks.is_fence_of_all() && has_buffers {
            return Some(At::FenceOfAll);
        }
        if marks.is_flush() && has_buffers {
            return Some(At::Fence);
        }
        if marks.is_barrier() && setup.options.memory == MemoryKind::Pso {
            outs.push(Out::Barrier);
        }
        log.add(self.number, What::Fence);
        self.thread.done();
        None
    }

    pub(super) fn alloc(
        &mut self,
        setup: &Setup<'p>,
        size: u128,
        align: u32,
        kind: AllocKind,
        zeroed: bool,
        log: &mut Log,
    ) -> bool {
        let program = setup.code.program;
        let place = Object::place(setup.slots(), self.number, &self.objects, size, align);
        let Some(address) = place else {
            return false;
        };
        let mut context = Digest::new(6);
        for Site { function, block, index } in self.thread.stack() {
            context.add(u64::from(function.0) << 32 | u64::from(block.0));
            context.add(u64::from(index));
        }
        let context = context.finish() as u64;
        let (size, is_private, is_freed) = (size as u64, setup.is_private(context), false);
        let object = Object { address, size, kind, zeroed, context, is_private, is_freed };
        self.objects_fingerprint ^= object.fingerprint();
        Arc::make_mut(&mut self.objects).push(object);
        log.add(self.number, What::Alloc { address });
        self.thread.result(&setup.code, Bits::new(program.pointer_width, u128::from(address)));
        true
    }

    pub(super) fn heap_size(&mut self, setup: &Setup<'p>, address: u64) -> Option<At<'p>> {
        let object = Object::find(&self.objects, address)
            .filter(|object| object.address == address && object.is_private);
        let Some(object) = object else {
            return Some(At::HeapSize { address });
        };
        let made = Some((object.address, object.kind, object.is_freed));
        if let Some(wrong) = wrong_end(made, address, AllocKind::Heap) {
            return Some(failed(wrong));
        }
        let size = Bits::new(setup.code.program.pointer_width, u128::from(object.size));
        self.thread.result(&setup.code, size);
        None
    }

    pub(super) fn free(&mut self, address: u64, kind: AllocKind, log: &mut Log) -> Option<At<'p>> {
        if address != 0 {
            let index = self.objects.binary_search_by_key(&address, |object| object.address).ok();
            let object = index.map(|index| (index, self.objects[index]));
            let Some((index, object)) = object.filter(|(_, object)| object.is_private) else {
                return Some(At::Free { address, kind });
            };
            let made = Some((object.address, object.kind, object.is_freed));
            if let Some(wrong) = wrong_end(made, address, kind) {
                return Some(failed(wrong));
            }
            let freed = Object { is_freed: true, ..object };
            self.objects_fingerprint ^= object.fingerprint() ^ freed.fingerprint();
            Arc::make_mut(&mut self.objects)[index] = freed;
            let size = object.size.next_multiple_of(Page::SIZE);
            let zeroed = object.zeroed;
            self.private.forget(address, size, |_| Page::zeroed(zeroed));
        }
        log.add(self.number, What::Free { address });
        self.thread.done();
        None
    }
}

pub(super) fn failed<'p>(wrong: BadAccess) -> At<'p> {
    At::Failed { property: Property::Memory, message: wrong.message() }
}

impl Local<'_> {
    /// Whether objects are in the order of their addresses, and the fingerprint is theirs.
    pub(super) fn has_its_objects(&self) -> bool {
        let sum = self.objects.iter().fold(0, |sum, object| sum ^ object.fingerprint());
        let is_sorted = self.objects.is_sorted_by(|one, other| one.address < other.address);
        sum == self.objects_fingerprint && is_sorted
    }
}

/// What a page of the thread's objects holds at first.
pub(crate) fn initial_page(objects: &[Object], number: u64) -> Page {
    let object = Object::find(objects, number.saturating_mul(Page::SIZE));
    Page::zeroed(object.is_some_and(|object| object.zeroed))
}
