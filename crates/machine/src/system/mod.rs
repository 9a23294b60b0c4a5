//! The operational machines: threads, memory of bytes, and store buffers between them.
//!
//! A [`System`] is one state of a program. It has one copy-on-write part for each thread (its
//! interpreter and the objects that only it uses), and what the threads share: memory, which
//! objects were freed, and the buffers. It says what can happen next ([`System::actions`]) and
//! does it ([`System::apply`]). Cloning it is cheap, and equal states have equal
//! [fingerprints](System::fingerprint).
//!
//! The memories are those of P. Sewell et al., x86-TSO: a rigorous and usable programmer's model
//! for x86 multiprocessors, CACM 53(7), 2010: a store waits in its thread's buffer until it is
//! flushed, which is a step of its own; loads see the newest bytes of the own buffer first; locked
//! instructions and full fences wait until the buffer is empty. Under PSO stores leave the buffer
//! in any order that keeps those of a byte in line (SPARC Architecture Manual, version 8,
//! appendix K). Starting a thread is a store too, as memory models see it; its end shows once its
//! buffer is empty.
//!
//! What only one thread can notice is part of the step before it. That holds for computations, for
//! stores on their way into a buffer, and for objects that only their maker uses. The last is an
//! assumption, made for each place in the program that makes objects and dropped as soon as a
//! thread comes to use what another has made there ([`Readiness::Escaped`]); then the search starts
//! again. That is sound: take any run of the real machine up to the first access that goes against
//! the assumption. All accesses before were by the makers alone, so they commute with whatever
//! other threads did, and the run can be brought into the form that the search looks at, in which
//! the same thread comes to the same access. It is noticed there, whatever the search leaves out, as
//! long as it finds all that a thread may come to do. Each new start has more shared places than
//! the one before, and there are finitely many.
//!
//! Machine code has its variables in one object that is the stack. What calls have left below its
//! end is forgotten, or else states that differ in nothing that matters would be distinguished; and
//! what is forgotten is watched: a read of it ([`Readiness::Forgotten`]) is another reason to start
//! again, with stacks kept as they are.

mod buffer;
mod fingerprint;
mod local;
mod marks;
mod objects;
mod pages;
mod pool;
mod position;
mod private;
mod publishing;
mod readiness;
mod record;
mod setup;
mod stops;

use std::sync::Arc;

use parallax_program::{AllocKind, Bits, FunctionId, Place};

pub use buffer::{Buffer, Entry};
pub use fingerprint::Digest;
pub use local::{At, Local};
pub use marks::{Marks, MemoryKind};
pub use objects::{BadAccess, Object};
pub use position::Position;
pub use readiness::{Readiness, Waits};
pub use record::{Log, Record, What};
pub use setup::{Setup, SystemOptions};

use crate::{Concrete, wrong_end};
use fingerprint::fingerprint;
use local::{Input, Out, Passage};
use pages::{Content, Page, Pages};
use pool::{Bound, Pool};
use private::initial_page;

/// One state of a program.
#[derive(Clone)]
pub struct System<'s, 'p> {
    setup: &'s Setup<'p>,
    threads: Vec<Option<Slot<'p>>>,
    memory: Pages,
    /// Objects, by address, that several threads use and one has freed, and which one.
    freed: Arc<Vec<(u64, u32)>>,
    /// The thread that is in an atomic section.
    section: Option<u32>,
    /// First and last byte of what the last action changed in memory.
    changed: Option<(u64, u64)>,
}

#[derive(Clone)]
struct Slot<'p> {
    local: Arc<Local<'p>>,
    buffer: Buffer,
    /// What was issued and not performed, where these are two things.
    pool: Arc<Pool>,
}

/// Something that can happen.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Action {
    /// A thread does what it stands at; where it may choose, this.
    Step { thread: u32, choice: u64 },
    /// What is at that place in the thread's buffer takes effect.
    Flush { thread: u32, index: u32 },
}

impl Action {
    pub fn thread(self) -> u32 {
        match self {
            Action::Step { thread, .. } | Action::Flush { thread, .. } => thread,
        }
    }
}

impl<'s, 'p> System<'s, 'p> {
    /// The state in which nothing has happened yet.
    pub fn start(setup: &'s Setup<'p>, log: &mut Log) -> System<'s, 'p> {
        let mut system = System {
            setup,
            threads: Vec::new(),
            memory: Pages::default(),
            freed: Arc::default(),
            section: None,
            changed: None,
        };
        let code = &setup.code;
        for (number, thread) in code.program.threads.iter().enumerate() {
            let args: Vec<Bits> =
                thread.args.iter().map(|arg| code.evaluate(arg, &[], &mut Concrete)).collect();
            system.begin(number as u32, thread.function, &args, None, log);
        }
        system
    }

    pub fn setup(&self) -> &'s Setup<'p> {
        self.setup
    }

    /// Numbers from 0; some threads below it may not be there yet.
    pub fn thread_count(&self) -> u32 {
        self.threads.len() as u32
    }

    /// A thread, if it is there.
    pub fn thread(&self, number: u32) -> Option<&Local<'p>> {
        self.slot(number).map(|slot| &*slot.local)
    }

    pub fn buffer(&self, number: u32) -> &[Entry] {
        self.slot(number).map_or(&[], |slot| slot.buffer.entries())
    }

    pub fn has_ended(&self, number: u32) -> bool {
        self.slot(number).is_some_and(|slot| slot.local.at == At::Ended)
    }

    /// The thread that is in an atomic section.
    pub fn section(&self) -> Option<u32> {
        self.section
    }

    fn slot(&self, number: u32) -> Option<&Slot<'p>> {
        self.threads.get(number as usize)?.as_ref()
    }

    /// Stands for the state: equal states have the same, others hardly ever.
    pub fn fingerprint(&self) -> u128 {
        debug_assert!(self.memory.is_whole(|page| self.initial_page(page)), "memory is as it was");
        let mut whole = self.memory.fingerprint;
        for (number, slot) in self.threads.iter().enumerate() {
            let Some(slot) = slot else {
                continue;
            };
            debug_assert!(slot.local.has_its_objects(), "objects of thread {number}");
            whole ^= slot.local.fingerprint;
            if !slot.buffer.is_empty() {
                let mut digest = Digest::new(7);
                digest.add(number as u64);
                slot.buffer.add_to(&mut digest);
                whole ^= digest.finish();
            }
            if !slot.pool.is_empty() {
                let mut digest = Digest::new(10);
                digest.add(number as u64);
                slot.pool.add_to(&mut digest);
                whole ^= digest.finish();
            }
        }
        whole = self.freed.iter().fold(whole, |sum, (address, thread)| {
            sum ^ fingerprint(8, [*address, u64::from(*thread)])
        });
        whole ^ self.section.map_or(0, |thread| fingerprint(9, [u64::from(thread)]))
    }

    /// Whether the action that led from the other state here is known to make no difference to
    /// what a thread and its buffer can do next. It may be none where this says that it is one.
    pub fn spares(&self, before: &System<'_, 'p>, thread: u32) -> bool {
        let (Some(now), Some(then)) = (self.slot(thread), before.slot(thread)) else {
            return false;
        };
        if !Arc::ptr_eq(&now.local, &then.local)
            || !now.buffer.is_same(&then.buffer)
            || !Arc::ptr_eq(&self.freed, &before.freed)
            || self.publishes()
            || self.section.is_some()
            || before.section.is_some()
        {
            return false;
        }
        match (&now.local.at, now.local.at.access(), self.changed) {
            (At::Join { .. } | At::FenceOfAll, ..) => false,
            (_, Some((address, bytes, _)), Some((from, to))) => {
                to < address || address.saturating_add(u64::from(bytes)) <= from
            }
            _ => true,
        }
    }

    /// What can happen next.
    pub fn actions(&self) -> Vec<Action> {
        let mut actions = Vec::new();
        for thread in 0..self.thread_count() {
            if let Readiness::Ready { choices } = self.readiness(thread) {
                actions.extend((0..choices).map(|choice| Action::Step { thread, choice }));
            }
            actions.extend(self.flushes(thread));
        }
        actions
    }

    /// What the buffer of a thread can do next.
    pub fn flushes(&self, thread: u32) -> impl Iterator<Item = Action> {
        let may = self.section.is_none_or(|owner| owner == thread);
        let buffer = self.slot(thread).map(|slot| &slot.buffer).filter(|_| may);
        let kind = self.setup.options.memory;
        let published = if self.publishes() { self.publications(thread) } else { Vec::new() };
        let buffer = buffer.filter(|_| !self.publishes());
        let ready = buffer.into_iter().flat_map(move |buffer| buffer.ready(kind));
        ready.chain(published).map(move |index| Action::Flush { thread, index: index as u32 })
    }

    /// What some bytes of memory hold, as a thread sees them, or as all do.
    pub fn bytes(&self, thread: Option<u32>, address: u64, bytes: u32) -> u128 {
        if let Some(owner) =
            self.setup.slots().owner(address).and_then(|owner| self.thread(owner as u32))
            && Object::find(owner.objects(), address).is_some_and(|object| object.is_private)
        {
            return owner.private_bytes(address, bytes);
        }
        let slot = thread.and_then(|thread| self.slot(thread));
        self.content(slot, address, bytes).value
    }

    /// What something that is asked for holds, when all threads have ended.
    pub fn observed(&self, place: &Place) -> Option<Bits> {
        match place {
            Place::Variable { thread, var, width } => {
                Some(self.thread(*thread)?.variable(*var)?.extract(0, *width))
            }
            Place::Memory { global, offset, size } => {
                let start = *self.setup.code.addresses().get(global.0 as usize)?;
                let address = start.wrapping_add(*offset);
                Some(Bits::new(size.bits(), self.content(None, address, size.bytes()).value))
            }
        }
    }

    fn content(&self, slot: Option<&Slot<'p>>, address: u64, bytes: u32) -> Content {
        let content = self.memory.read(address, bytes, |page| self.initial_page(page));
        let Some(slot) = slot.filter(|slot| !slot.buffer.is_empty()) else {
            return content;
        };
        let (newer, found) = slot.buffer.forward(address, bytes);
        if found == 0 {
            return content;
        }
        let mask = (0..bytes).filter(|byte| found & 1 << byte != 0);
        let mask = mask.fold(0u128, |mask, byte| mask | 0xff << (byte * 8));
        let undefined = content.undefined & !found;
        Content { value: content.value & !mask | newer, undefined }
    }

    fn initial_page(&self, number: u64) -> Page {
        let address = number.saturating_mul(Page::SIZE);
        match self.setup.slots().owner(address).and_then(|owner| self.slot(owner as u32)) {
            Some(slot) => initial_page(slot.local.objects(), number),
            None => self.setup.global_page(number),
        }
    }

    /// Does what is one of the [actions](System::actions); anything else is left alone.
    pub fn apply(&mut self, action: Action, log: &mut Log) {
        self.changed = None;
        match action {
            Action::Step { thread, choice } => self.step(thread, choice, log),
            Action::Flush { thread, index } if self.publishes() => {
                self.publish(thread, index as usize, log);
            }
            Action::Flush { thread, index } => self.flush(thread, index as usize, log),
        }
        debug_assert!(self.has_owner(), "an atomic section without the thread that is in it");
    }

    /// Whether the thread that is in an atomic section, if one is, knows of it.
    fn has_owner(&self) -> bool {
        let knows = |owner: u32| self.thread(owner).is_some_and(|local| local.in_section);
        self.section.is_none_or(knows)
    }

    fn step(&mut self, thread: u32, choice: u64, log: &mut Log) {
        self.single_step(thread, choice, log);
        // Nobody sees what is between the steps of an atomic section. One that goes round for ever is left
        // to whoever matches states, and looks at the clock.
        let mut merged = 0;
        while self.setup.options.merges
            && merged < Self::MOST_MERGED
            && self.section == Some(thread)
            && self.readiness(thread) == (Readiness::Ready { choices: 1 })
        {
            self.single_step(thread, 0, log);
            merged += 1;
        }
    }

    /// So many steps of an atomic section follow at once.
    const MOST_MERGED: u32 = 1000;

    fn single_step(&mut self, thread: u32, choice: u64, log: &mut Log) {
        let Some(slot) = self.slot(thread) else {
            return;
        };
        let local = slot.local.clone();
        let input = match local.at {
            At::Load { .. }
            | At::Store { .. }
            | At::Rmw { .. }
            | At::Cas { .. }
            | At::Join { .. }
                if self.publishes() =>
            {
                self.issue(thread, &local, choice, log)
            }
            _ => self.serve(thread, &local, choice, log),
        };
        let local = self.slot(thread).map_or(local, |slot| slot.local.clone());
        let passage = local.pass(self.setup, input, log);
        self.go_on(thread, &passage, log);
    }

    /// Has the operation that a thread stands at take effect.
    fn serve(&mut self, thread: u32, local: &Local<'p>, choice: u64, log: &mut Log) -> Input {
        match &local.at {
            At::Load { address, bytes, marks } => {
                Input::Value(self.load(thread, *address, *bytes, *marks, log))
            }
            At::Store { address, bytes, value, marks } => {
                let at_once = self.setup.options.memory == MemoryKind::Sc
                    || marks.is_locked()
                    || local.in_section;
                if at_once {
                    self.write(thread, *address, *bytes, *value, log);
                } else {
                    let (address, bytes, value) = (*address, *bytes, *value);
                    let is_pso = self.setup.options.memory == MemoryKind::Pso;
                    let is_release = marks.is_barrier() && is_pso;
                    self.push(thread, Entry::Store { address, bytes, value, is_release });
                    log.add(thread, What::Write { address, bytes, value, is_buffered: true });
                }
                Input::Nothing
            }
            At::Rmw { address, bytes, .. } => {
                let old = self.load(thread, *address, *bytes, Marks::default(), log);
                if let Some(new) = local.at.written(old) {
                    self.write(thread, *address, *bytes, new, log);
                }
                Input::Value(old)
            }
            At::Cas { address, bytes, .. } => {
                let fails = self.fails(thread, local, choice);
                if fails {
                    log.add(thread, What::Choice { value: Bits::bool(true) });
                }
                let old = self.load(thread, *address, *bytes, Marks::default(), log);
                let new = local.at.written(old).filter(|_| !fails);
                if let Some(new) = new {
                    self.write(thread, *address, *bytes, new, log);
                }
                Input::Pair(old, new.is_some())
            }
            At::Fence | At::FenceOfAll => {
                log.add(thread, What::Fence);
                Input::Nothing
            }
            At::Join { thread: of } => {
                log.add(thread, What::Join { of: *of as u32 });
                Input::Nothing
            }
            At::Free { address, .. } => {
                self.free(*address, thread);
                log.add(thread, What::Free { address: *address });
                Input::Nothing
            }
            At::HeapSize { address } => {
                let size = self.object(*address).map_or(0, |object| object.size);
                let width = self.setup.code.program.pointer_width;
                Input::Value(Bits::new(width, u128::from(size)))
            }
            At::Choice { first, width, .. } => {
                let value = Bits::signed(*width, first.wrapping_add(i128::from(choice)));
                log.add(thread, What::Choice { value });
                Input::Value(value)
            }
            At::Enter => {
                self.section = Some(thread);
                log.add(thread, What::AtomicBegin);
                Input::Nothing
            }
            _ => Input::Nothing,
        }
    }

    /// Whether a weak compare-and-swap that finds what it expects fails: by the second choice, and
    /// where it cannot succeed because the thread has stores in its buffer.
    fn fails(&self, thread: u32, local: &Local<'p>, choice: u64) -> bool {
        let At::Cas { address, bytes, is_weak: true, .. } = local.at else {
            return false;
        };
        let slot = self.slot(thread);
        let seen = self.content(slot, address, u32::from(bytes)).value;
        let can_succeed = slot.is_none_or(|slot| slot.buffer.is_empty());
        let old = Bits::new(u32::from(bytes) * 8, seen);
        local.at.written(old).is_some() && (choice == 1 || !can_succeed)
    }

    fn load(&self, thread: u32, address: u64, bytes: u8, marks: Marks, log: &mut Log) -> Bits {
        let content = self.content(self.slot(thread), address, u32::from(bytes));
        log.add(thread, What::Read { address, bytes, value: content.value });
        content.bits(u32::from(bytes), marks)
    }

    fn write(&mut self, thread: u32, address: u64, bytes: u8, value: u128, log: &mut Log) {
        self.store(address, bytes, value);
        log.add(thread, What::Write { address, bytes, value, is_buffered: false });
    }

    /// What takes effect on an object that is gone by then has none.
    fn store(&mut self, address: u64, bytes: u8, value: u128) {
        let object = self.object(address);
        if object.is_some_and(|object| self.is_freed(object)) {
            return;
        }
        let end = address.saturating_add(u64::from(bytes) - 1);
        let (from, to) = self.changed.unwrap_or((address, end));
        self.changed = Some((from.min(address), to.max(end)));
        let mut memory = std::mem::take(&mut self.memory);
        memory.write(address, u32::from(bytes), value, |page| self.initial_page(page));
        self.memory = memory;
    }

    fn object(&self, address: u64) -> Option<&Object> {
        let owner = self.thread(self.setup.slots().owner(address)? as u32)?;
        Object::find(owner.objects(), address)
    }

    /// Where the object begins that an address lies in, if somebody has freed it.
    pub fn freed_object(&self, address: u64) -> Option<u64> {
        let object = self.object(address).filter(|object| self.is_freed(object));
        object.map(|object| object.address)
    }

    /// The thread that has freed the object that an address lies in, if others may use it.
    pub fn freed_by(&self, address: u64) -> Option<u32> {
        let object = self.object(address)?;
        self.freed_at(object.address).ok().map(|index| self.freed[index].1)
    }

    fn freed_at(&self, address: u64) -> Result<usize, usize> {
        self.freed.binary_search_by_key(&address, |(freed, _)| *freed)
    }

    fn is_freed(&self, object: &Object) -> bool {
        object.is_freed || self.freed_at(object.address).is_ok()
    }

    /// Objects that are there, with the thread that made each.
    pub fn living(&self) -> impl Iterator<Item = (u32, &Object)> {
        let slots = self.threads.iter().enumerate();
        let objects = slots.flat_map(|(number, slot)| {
            let objects = slot.as_ref().map_or(&[][..], |slot| slot.local.objects());
            objects.iter().map(move |object| (number as u32, object))
        });
        objects.filter(|(_, object)| !self.is_freed(object))
    }

    fn free(&mut self, address: u64, thread: u32) {
        let Some(Object { size, zeroed, .. }) = self.object(address).copied() else {
            return;
        };
        if let Err(index) = self.freed_at(address) {
            Arc::make_mut(&mut self.freed).insert(index, (address, thread));
        }
        let size = size.next_multiple_of(Page::SIZE);
        self.memory.forget(address, size, |_| Page::zeroed(zeroed));
    }

    fn push(&mut self, thread: u32, entry: Entry) {
        if let Some(Some(slot)) = self.threads.get_mut(thread as usize) {
            slot.buffer.push(entry);
        }
    }

    fn flush(&mut self, thread: u32, index: usize, log: &mut Log) {
        let Some(Some(slot)) = self.threads.get_mut(thread as usize) else {
            return;
        };
        let stores = slot.buffer.entries().iter().take(index);
        let place = stores.filter(|entry| matches!(entry, Entry::Store { .. })).count();
        if let Some(Entry::Store { address, bytes, value, .. }) = slot.buffer.take(index) {
            self.store(address, bytes, value);
            log.add(thread, What::Flush { index: place });
        }
        self.begin_children(thread, log);
        self.settle(thread, log);
    }

    /// Threads start as soon as all that was stored before they were spawned has taken effect.
    fn begin_children(&mut self, thread: u32, log: &mut Log) {
        while let Some(Some(slot)) = self.threads.get_mut(thread as usize)
            && let Some(Entry::Spawn { .. }) = slot.buffer.entries().first()
            && let Some(Entry::Spawn { child, function, args }) = slot.buffer.take(0)
        {
            self.begin(child, function, &args, None, log);
        }
    }

    fn begin(
        &mut self,
        number: u32,
        function: FunctionId,
        args: &[Bits],
        bound: Option<Bound>,
        log: &mut Log,
    ) {
        let spawned = number as usize >= self.setup.code.program.threads.len();
        if spawned {
            log.add(number, What::Begin);
        }
        let passage = Local::start(self.setup, number, function, args, log);
        if self.threads.len() <= number as usize {
            self.threads.resize_with(number as usize + 1, || None);
        }
        let (buffer, pool) = (Buffer::default(), Arc::default());
        let slot = Slot { local: passage.next.clone(), buffer, pool };
        self.threads[number as usize] = Some(slot);
        if let Some(bound) = bound {
            self.issue_begin(number, bound);
        }
        self.go_on(number, &passage, log);
    }

    /// A thread has gone on to its next operation.
    fn go_on(&mut self, thread: u32, passage: &Passage<'p>, log: &mut Log) {
        self.arrive(thread, passage, log);
        self.settle(thread, log);
    }

    fn arrive(&mut self, thread: u32, passage: &Passage<'p>, log: &mut Log) {
        if let Some(Some(slot)) = self.threads.get_mut(thread as usize) {
            slot.local = passage.next.clone();
        }
        for out in &passage.outs {
            let is_empty = self.slot(thread).is_none_or(|slot| slot.buffer.is_empty());
            match out {
                Out::Store { address, bytes, value, is_release } => {
                    let (address, bytes, value) = (*address, *bytes, *value);
                    let is_release = *is_release && !is_empty;
                    self.push(thread, Entry::Store { address, bytes, value, is_release });
                }
                Out::Barrier if is_empty => {}
                Out::Barrier => self.push(thread, Entry::Barrier),
                Out::Fence(marks) => self.issue_fence(thread, *marks),
                Out::Addressed(from) => self.issue_addressed(thread, *from),
                Out::Spawn { child, function, args } if self.publishes() => {
                    let bound = self.issue_spawn(thread, *child);
                    self.begin(*child, *function, args, bound, log);
                }
                Out::Spawn { child, function, args } if is_empty => {
                    self.begin(*child, *function, args, None, log);
                }
                Out::Spawn { child, function, args } => {
                    let (child, function, args) = (*child, *function, args.clone());
                    self.push(thread, Entry::Spawn { child, function, args });
                }
                Out::Leave => self.section = None,
            }
        }
    }

    /// So many fences are passed at once; a thread may go round for ever without anything else.
    const MOST_SETTLED: u32 = 100;

    /// Has a thread go on past what only waits for its buffer, when that is empty.
    fn settle(&mut self, thread: u32, log: &mut Log) {
        if self.publishes() {
            self.settle_issued(thread, log);
            return;
        }
        for _ in 0..Self::MOST_SETTLED {
            let Some(slot) = self.slot(thread).filter(|slot| slot.buffer.is_empty()) else {
                return;
            };
            let local = slot.local.clone();
            match local.at {
                At::Fence => {
                    log.add(thread, What::Fence);
                    let passage = local.pass(self.setup, Input::Nothing, log);
                    self.arrive(thread, &passage, log);
                }
                At::Drain => {
                    let passage = local.pass(self.setup, Input::Nothing, log);
                    self.arrive(thread, &passage, log);
                }
                At::End => {
                    log.add(thread, What::End);
                    let ended = local.ended(self.setup);
                    if let Some(Some(slot)) = self.threads.get_mut(thread as usize) {
                        slot.local = Arc::new(ended);
                    }
                }
                _ => return,
            }
        }
    }

    /// Whether an object of that kind can be freed here, or asked for its size.
    fn bad_free(&self, address: u64, kind: AllocKind) -> Option<BadAccess> {
        let object = self.object(address);
        let object = object.map(|object| (object.address, object.kind, self.is_freed(object)));
        wrong_end(object, address, kind)
    }
}
