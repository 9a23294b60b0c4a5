//! Accesses to memory: which object an address leads to, and what is read and written there.
//!
//! An address that depends on inputs is taken apart by objects: one outcome for each object whose address
//! is in it, and one where it leads to none of them. Within an object it may stay a term. Then the access is
//! to any of the places where it can be, and counts as one to all of the bytes between them wherever
//! orders of accesses matter. That is decided by the shape of the address alone, never by the
//! conditions of the path, so that an access counts the same in every order of steps.

use std::sync::Arc;

use parallax_machine::system::{BadAccess, Entry, MemoryKind, What};
use parallax_machine::{Domain, modify};
use parallax_program::{BinaryOp, Bits, Property};
use parallax_solver::Node;
use rustc_hash::FxHashSet;

use crate::machine::{Halt, Machine, Run, Touch};
use crate::memory::{Content, Memory, Page};
use crate::state::{Access, At, Facts, Kind, Local};
use crate::value::{Value, Values};

/// Where an address leads to.
struct Target {
    start: u64,
    size: u64,
}

impl<'p> Machine<'_, 'p> {
    /// Objects that an address may be in, at most, and places in an object.
    const MOST_OBJECTS: usize = 64;
    const MOST_PLACES: u64 = 1 << 12;
    /// Terms in the term of an address.
    const MOST_PARTS: usize = 1 << 12;
    /// Constant offsets that are folded into the address of an object.
    const NEAR: u64 = 0x800;

    /// A thread has come to an access.
    pub(crate) fn arrive(
        &mut self,
        run: Run<'p>,
        thread: u32,
        kind: Kind,
        address: Value,
        bytes: u32,
    ) -> Result<Vec<Run<'p>>, Halt> {
        let site = run.state.thread(thread).and_then(|local| local.thread.site());
        let facts = self.facts(site);
        let address = match address {
            Value::Known(bits) => {
                let place = bits.unsigned() as u64;
                let access =
                    Access { kind, address, places: Arc::new([place]), bytes, facts, site };
                return self.stand_at(run, thread, access);
            }
            Value::Open(_) => address,
        };
        let homes = self.homes(&run, address, bytes);
        if homes.is_empty() {
            return Ok(vec![self.lose(run, thread, "an address that is an input")]);
        }
        self.weigh(&run, thread, address);
        // Locks are distinguished by where they are.
        let is_buffered = kind != Kind::Load && self.memory != MemoryKind::Sc;
        let is_number = facts.iter().any(|facts| facts.is_atomic) || is_buffered;
        let mut all = Vec::new();
        let mut rest = run;
        for target in &homes {
            let within = self.within(address, target, bytes);
            let sides = self.oracle.split(&mut self.values, &rest.state.path, within)?;
            if let Some(path) = sides.yes {
                let mut run = rest.clone();
                run.state.path = path;
                let kind = kind.clone();
                let mut runs = match is_number {
                    true => self.numbers(run, thread, address, |machine, run, bits| {
                        machine.arrive(run, thread, kind.clone(), Value::Known(bits), bytes)
                    })?,
                    false => self.inside(run, thread, kind, address, target, bytes, facts)?,
                };
                all.append(&mut runs);
            }
            match sides.no {
                Some(path) => rest.state.path = path,
                None => return Ok(all),
            }
        }
        self.beyond(rest, thread, &kind, address, bytes, &mut all)?;
        Ok(all)
    }

    /// The address is in none of the objects that it was made of the addresses of. What it does to
    /// another object is nothing that the program can rely on.
    fn beyond(
        &mut self,
        mut rest: Run<'p>,
        thread: u32,
        kind: &Kind,
        address: Value,
        bytes: u32,
        all: &mut Vec<Run<'p>>,
    ) -> Result<(), Halt> {
        // An error that is looked for is shown where it is one in a replay, too.
        let others = match self.options.wants(Property::Memory) {
            true => self.targets(&rest, bytes),
            false => Vec::new(),
        };
        for target in others {
            let within = self.within(address, &target, bytes);
            let sides = self.oracle.split(&mut self.values, &rest.state.path, within)?;
            if let Some(path) = sides.yes {
                let mut run = rest.clone();
                run.state.path = path;
                let what = "an access that may leave its object for another";
                all.push(self.lose(run, thread, what));
            }
            match sides.no {
                Some(path) => rest.state.path = path,
                None => return Ok(()),
            }
        }
        let place = self.sample(&rest.state.path, address).unsigned() as u64;
        let wrong = self.bad_access(&rest, place, u64::from(bytes), *kind != Kind::Load);
        let wrong = wrong.unwrap_or(BadAccess::OutOfBounds);
        all.push(self.fail(rest, thread, Property::Memory, wrong.message()));
        Ok(())
    }

    /// The objects whose addresses are in a term: those that it may lead to. A number that was no
    /// address before, such as an input, leads nowhere.
    fn homes(&self, run: &Run<'p>, address: Value, bytes: u32) -> Vec<Target> {
        let Value::Open(term) = address else { return Vec::new() };
        let terms = &self.values.terms;
        let width = terms.width(term);
        let mut homes: Vec<Target> = Vec::new();
        let mut seen = FxHashSet::default();
        let mut open = vec![term];
        while let Some(term) = open.pop() {
            if !seen.insert(term) || seen.len() > Self::MOST_PARTS {
                continue;
            }
            match terms.node(term) {
                Node::Constant(bits) if terms.width(term) >= width.min(32) => {
                    let home = self.home(run, bits.unsigned() as u64);
                    let home = home.filter(|home| home.size >= u64::from(bytes));
                    if let Some(home) = home
                        && !homes.iter().any(|known| known.start == home.start)
                    {
                        homes.push(home);
                    }
                }
                Node::Select { then, otherwise, .. } => open.extend([then, otherwise]),
                Node::Binary(op, ..) if op.is_comparison() => {}
                node => terms.operands(&node, |operand| open.push(operand)),
            }
        }
        match seen.len() > Self::MOST_PARTS || homes.len() > Self::MOST_OBJECTS {
            true => Vec::new(),
            false => homes,
        }
    }

    /// The object that a number is in or close to. Objects are further apart than that.
    fn home(&self, run: &Run<'p>, number: u64) -> Option<Target> {
        let near = Self::NEAR;
        [number, number.saturating_add(near)].into_iter().find_map(|probe| {
            let (start, size) = match self.object(&run.state, probe) {
                Some(object) => (object.address, object.size),
                None if self.slots.owner(probe).is_some() => return None,
                None => self.globals.at(probe).map(|global| (global.address, global.size))?,
            };
            let end = start.saturating_add(size).saturating_add(near);
            (number.saturating_add(near) >= start && number <= end)
                .then_some(Target { start, size })
        })
    }

    /// All objects that have room for an access.
    fn targets(&self, run: &Run<'p>, bytes: u32) -> Vec<Target> {
        let program = self.code.program;
        let globals = program.globals.iter().zip(self.code.addresses());
        let globals = globals.map(|(global, start)| (*start, global.size));
        let objects = run.state.threads.iter().flatten().flat_map(|local| local.objects.iter());
        let objects = objects.map(|object| (object.address, object.size));
        let all = globals.chain(objects).filter(|(_, size)| *size >= u64::from(bytes));
        all.map(|(start, size)| Target { start, size }).collect()
    }

    /// That an access is inside of an object.
    fn within(&mut self, address: Value, target: &Target, bytes: u32) -> Value {
        let width = self.values.width(address);
        let number = |value: u64| Value::Known(Bits::new(width, u128::from(value)));
        let offset = self.values.binary(BinaryOp::Sub, &address, &number(target.start));
        let last = number(target.size - u64::from(bytes));
        self.values.binary(BinaryOp::Ule, &offset, &last)
    }

    /// The address is a term, and inside of an object.
    #[allow(clippy::too_many_arguments)]
    fn inside(
        &mut self,
        run: Run<'p>,
        thread: u32,
        kind: Kind,
        address: Value,
        target: &Target,
        bytes: u32,
        facts: [Facts; 3],
    ) -> Result<Vec<Run<'p>>, Halt> {
        let width = self.values.width(address);
        // What is known of the lowest bits says how far the places are apart.
        let known = (1..=4).rev().find_map(|bits| {
            self.values.extract(&address, 0, bits).known().map(|low| (1u64 << bits, low))
        });
        let (stride, low) = known.map_or((1, 0), |(stride, low)| (stride, low.unsigned() as u64));
        let last = target.start + target.size - u64::from(bytes);
        let first = target.start + (low.wrapping_sub(target.start)) % stride;
        if first > last || width > 64 {
            return Ok(vec![self.lose(run, thread, "a pointer of that shape")]);
        }
        let is_large = (last - first) / stride >= Self::MOST_PLACES;
        if is_large || self.minds_undefined(&run, target, &facts) {
            return self.numbers(run, thread, address, |machine, run, bits| {
                machine.arrive(run, thread, kind.clone(), Value::Known(bits), bytes)
            });
        }
        let (mut all, rest) = self.beside_locks(run, thread, &kind, address, bytes)?;
        let Some(run) = rest else { return Ok(all) };
        let site = run.state.thread(thread).and_then(|local| local.thread.site());
        let places: Arc<[u64]> = (first..=last).step_by(stride as usize).collect();
        let access = Access { kind, address, places, bytes, facts, site };
        all.append(&mut self.stand_at(run, thread, access)?);
        Ok(all)
    }

    /// Whoever writes to a lock that it holds does not hold it any more. So it is decided first
    /// whether a write goes there; what is left goes elsewhere.
    #[allow(clippy::type_complexity)]
    fn beside_locks(
        &mut self,
        run: Run<'p>,
        thread: u32,
        kind: &Kind,
        address: Value,
        bytes: u32,
    ) -> Result<(Vec<Run<'p>>, Option<Run<'p>>), Halt> {
        let held = match run.state.thread(thread) {
            Some(local) if *kind != Kind::Load => local.held.clone(),
            _ => Vec::new(),
        };
        let (mut all, mut rest) = (Vec::new(), Some(run));
        for lock in held {
            let Some(run) = rest.take() else { break };
            let there = Value::Known(Bits::new(self.values.width(address), u128::from(lock)));
            let is_there = self.values.equal(address, there);
            let (yes, no) = self.split(run, thread, is_there)?;
            if let Some(run) = yes {
                all.append(&mut self.arrive(run, thread, kind.clone(), there, bytes)?);
            }
            rest = no;
        }
        Ok((all, rest))
    }

    /// Whether it matters which bytes of an object were never written, and there are some: then an
    /// access must be known by its place.
    fn minds_undefined(&mut self, run: &Run<'p>, target: &Target, facts: &[Facts; 3]) -> bool {
        if !self.options.wants(Property::Memory) || facts[0].marks.is_copy() {
            return false;
        }
        let (slots, globals, state) = (self.slots, &self.globals, &run.state);
        let initial = |page| Self::initial_page(slots, globals, state, page);
        !state.memory.is_defined(target.start, target.size, &initial)
    }

    /// The thread stands at an access, or makes it at once if no other can notice.
    fn stand_at(
        &mut self,
        mut run: Run<'p>,
        thread: u32,
        access: Access,
    ) -> Result<Vec<Run<'p>>, Halt> {
        let place = access.range().start;
        let acts = run.state.section == Some(thread)
            || self.is_alone(&run.state)
            || self.is_own(&run.state, thread, place)?
            || access.kind == Kind::Load && self.is_constant(&run, place);
        let modifies = matches!(access.kind, Kind::Rmw { .. } | Kind::Cas { .. });
        let acts = acts && (!modifies || run.state.is_drained(thread));
        let access = Arc::new(access);
        self.put(&mut run, thread, At::Access(access.clone()));
        if acts { self.access(run, thread, &access) } else { Ok(vec![run]) }
    }

    fn is_constant(&self, run: &Run<'p>, address: u64) -> bool {
        self.object(&run.state, address).is_none()
            && self
                .globals
                .at(address)
                .is_some_and(|global| global.constant && address - global.address < global.size)
    }

    /// What is wrong with an access, if something is.
    fn bad_access(
        &self,
        run: &Run<'p>,
        address: u64,
        bytes: u64,
        writes: bool,
    ) -> Option<BadAccess> {
        if address < 0x1000 {
            return Some(BadAccess::Null);
        }
        if let Some(object) = self.object(&run.state, address) {
            return match (object.covers(address, bytes), run.state.is_freed(object.address)) {
                (false, _) => Some(BadAccess::OutOfBounds),
                (true, true) => Some(BadAccess::Freed),
                (true, false) => None,
            };
        }
        match self.globals.at(address) {
            _ if self.slots.owner(address).is_some() => Some(BadAccess::Wild),
            None => Some(BadAccess::Wild),
            Some(global) => {
                let offset = address - global.address;
                if offset > global.size || bytes > global.size - offset {
                    let near = offset < global.size.saturating_add(0x1000);
                    return Some(if near { BadAccess::OutOfBounds } else { BadAccess::Wild });
                }
                (writes && global.constant).then_some(BadAccess::Constant)
            }
        }
    }

    /// Makes the access that a thread stands at.
    pub(crate) fn access(
        &mut self,
        mut run: Run<'p>,
        thread: u32,
        access: &Access,
    ) -> Result<Vec<Run<'p>>, Halt> {
        let range = access.range();
        let [read, write, _] = access.facts;
        let is_farewell = read.marks.is_farewell() || write.marks.is_farewell();
        let wrong = self.bad_access(&run, range.start, u64::from(access.bytes), access.may_write());
        if let Some(wrong) = wrong
            && !(is_farewell && wrong == BadAccess::Freed && access.reads())
        {
            self.touch(&mut run, thread, attempt(access, true, false));
            return Ok(vec![self.fail(run, thread, Property::Memory, wrong.message())]);
        }
        if access.is_locked() && !run.state.is_drained(thread) {
            run.effects.is_held_up = true;
            return Ok(vec![run]);
        }
        if let Kind::Store { value } = access.kind {
            return self.store(run, thread, access, value);
        }
        let content = self.load(&run, thread, access);
        if !content.is_defined && !read.marks.is_copy() && self.options.wants(Property::Memory) {
            self.touch(&mut run, thread, attempt(access, true, false));
            if !access.is_known() {
                let what = "an index that may lead to memory that nobody has written";
                return Ok(vec![self.lose(run, thread, what)]);
            }
            let message = BadAccess::Undefined.message();
            return Ok(vec![self.fail(run, thread, Property::Memory, message)]);
        }
        match access.kind.clone() {
            Kind::Rmw { op, operand } => {
                let new = modify(op, &content.value, &operand, &mut self.values);
                self.look(&mut run, thread, access, content.value, true);
                let trace = Trace::of(new == content.value);
                self.put_value(&mut run, thread, access, new, trace);
                self.finish(&mut run, thread, content.value, None, trace);
                Ok(vec![run])
            }
            Kind::Cas { expected, desired, is_weak } => {
                self.swap(run, thread, access, content.value, (expected, desired), is_weak)
            }
            _ => {
                self.look(&mut run, thread, access, content.value, false);
                self.finish(&mut run, thread, content.value, None, Trace::Looks);
                Ok(vec![run])
            }
        }
    }

    /// What a thread finds.
    pub(crate) fn load(&mut self, run: &Run<'p>, thread: u32, access: &Access) -> Content {
        let (slots, globals, state) = (self.slots, &self.globals, &run.state);
        let initial = |page| Self::initial_page(slots, globals, state, page);
        let memory = match state.thread(thread).filter(|local| !local.buffer.is_empty()) {
            Some(local) => &overlaid(&mut self.values, &state.memory, local, &initial),
            None => &state.memory,
        };
        match *access.places {
            [place] => {
                let is_fresh = access.facts[0].marks.is_fresh();
                let bytes = access.bytes;
                memory.read_or(&mut self.values, place, bytes, is_fresh, &initial)
            }
            _ => {
                let (address, places) = (access.address, &access.places);
                memory.read_at(&mut self.values, address, places, access.bytes, &initial)
            }
        }
    }

    fn store(
        &mut self,
        mut run: Run<'p>,
        thread: u32,
        access: &Access,
        value: Value,
    ) -> Result<Vec<Run<'p>>, Halt> {
        let place = access.range().start;
        let holds = run.state.thread(thread).is_some_and(|local| local.held.contains(&place));
        if access.facts[1].marks.gives_lock_back() && !holds {
            self.touch(&mut run, thread, attempt(access, false, true));
            let message = "unlock by a thread that does not hold the lock";
            return Ok(vec![self.fail(run, thread, Property::Lock, message)]);
        }
        if self.is_buffered(&run, thread, access)? {
            self.push(&mut run, thread, access, value);
            self.pass(&mut run, thread, None);
            return Ok(vec![run]);
        }
        let before = self.load(&run, thread, access);
        let trace = Trace::of(before.is_defined && before.value == value);
        self.put_value(&mut run, thread, access, value, trace);
        if let Some(local) = run.state.local(thread) {
            match trace {
                Trace::Changes => local.looks.clear(),
                _ => {
                    local.looks.add(local.thread.operations(), access, value);
                    local.thread.leaves_no_trace();
                }
            }
        }
        self.pass(&mut run, thread, None);
        Ok(vec![run])
    }

    fn swap(
        &mut self,
        run: Run<'p>,
        thread: u32,
        access: &Access,
        old: Value,
        (expected, desired): (Value, Value),
        is_weak: bool,
    ) -> Result<Vec<Run<'p>>, Halt> {
        let is_it = self.values.equal(old, expected);
        let (yes, no) = self.split(run, thread, is_it)?;
        let mut all = Vec::new();
        if let Some(mut run) = yes {
            let is_held_up = !run.state.is_drained(thread);
            if is_weak {
                let fails = self.fresh(&mut run, thread, 1);
                let (failed, succeeds) = self.split(run.clone(), thread, fails)?;
                if let Some(mut failed) = failed {
                    self.record(thread, What::Choice { value: Bits::bool(true) });
                    if let Some(local) = failed.state.local(thread) {
                        local.startled = Some(local.thread.operations());
                    }
                    all.push(self.failed_swap(failed, thread, access, old));
                }
                match succeeds {
                    // What cannot succeed yet need not be looked at where it may fail.
                    Some(succeeds) if !is_held_up => run = succeeds,
                    _ => {
                        return Ok(all
                            .into_iter()
                            .chain(no.map(|run| self.failed_swap(run, thread, access, old)))
                            .collect());
                    }
                }
            }
            if is_held_up {
                run.effects.is_held_up = true;
                all.push(run);
                all.extend(no.map(|run| self.failed_swap(run, thread, access, old)));
                return Ok(all);
            }
            self.look(&mut run, thread, access, old, true);
            let trace = Trace::of(old == desired);
            self.put_value(&mut run, thread, access, desired, trace);
            let ok = Value::Known(Bits::bool(true));
            self.finish(&mut run, thread, old, Some(ok), trace);
            all.insert(0, run);
        }
        all.extend(no.map(|run| self.failed_swap(run, thread, access, old)));
        Ok(all)
    }

    fn failed_swap(
        &mut self,
        mut run: Run<'p>,
        thread: u32,
        access: &Access,
        old: Value,
    ) -> Run<'p> {
        let failed = Access { facts: [access.facts[2]; 3], ..access.clone() };
        self.look(&mut run, thread, &failed, old, false);
        let ok = Value::Known(Bits::bool(false));
        self.finish(&mut run, thread, old, Some(ok), Trace::None);
        run
    }

    /// The thread reads; where `writes`, a write follows at once.
    fn look(
        &mut self,
        run: &mut Run<'p>,
        thread: u32,
        access: &Access,
        value: Value,
        writes: bool,
    ) {
        self.touch(run, thread, touch(access, true, writes));
        if self.log.is_some() {
            let value = self.sample(&run.state.path, value).unsigned();
            let address = self.sample(&run.state.path, access.address).unsigned() as u64;
            self.record(thread, What::Read { address, bytes: access.bytes as u8, value });
        }
        // Only who is in a loop is ever asked what it has found.
        let code = &self.code;
        if let Some(local) = run.state.local(thread)
            && local.thread.stack().any(|site| code.can_repeat(site))
        {
            local.looks.add(local.thread.operations(), access, value);
        }
    }

    /// A write takes effect.
    fn put_value(
        &mut self,
        run: &mut Run<'p>,
        thread: u32,
        access: &Access,
        value: Value,
        trace: Trace,
    ) {
        if matches!(access.kind, Kind::Store { .. }) {
            self.touch(run, thread, touch(access, false, true));
        }
        let range = access.range();
        let mut memory = std::mem::take(&mut run.state.memory);
        let (slots, globals, state) = (self.slots, &self.globals, &run.state);
        let initial = |page| Self::initial_page(slots, globals, state, page);
        let is_defined = match *access.places {
            [place] => {
                memory.write(&mut self.values, place, value, &initial);
                true
            }
            _ => {
                let (address, places) = (access.address, &access.places);
                memory.write_at(&mut self.values, address, places, value, &initial)
            }
        };
        run.state.memory = memory;
        if !is_defined && self.options.wants(Property::Memory) {
            self.unclear(run, thread);
        }
        if self.log.is_some() {
            let value = self.sample(&run.state.path, value).unsigned();
            let address = self.sample(&run.state.path, access.address).unsigned() as u64;
            let bytes = access.bytes as u8;
            self.record(thread, What::Write { address, bytes, value, is_buffered: false });
        }
        let takes_lock = access.facts[1].marks.takes_lock();
        if let Some(local) = run.state.local(thread) {
            local.held.retain(|held| !access.is_known() || *held != range.start);
            if takes_lock {
                local.held.push(range.start);
            }
        }
        if trace == Trace::Changes {
            run.effects.changes = true;
            self.wake(run, thread, &range);
        }
    }

    /// After a write to one of several places it is not known which of them was ever written.
    fn unclear(&mut self, run: &Run<'p>, thread: u32) {
        let place = self.place(&run.state, thread);
        let message = "an index into an object that nobody has written in full: not supported by \
                       this engine";
        let (message, help) = (message.to_string(), None);
        let reason = parallax_verdict::Reason { message, place, help };
        self.notices.push(crate::machine::Notice::Gap(reason));
    }

    /// The thread goes on with what it has read.
    fn finish(
        &mut self,
        run: &mut Run<'p>,
        thread: u32,
        first: Value,
        second: Option<Value>,
        trace: Trace,
    ) {
        let is_atomic = match run.state.thread(thread).map(|local| &local.at) {
            Some(At::Access(access)) => access.facts[0].is_atomic,
            _ => false,
        };
        let Some(local) = run.state.local(thread) else { return };
        match trace {
            Trace::None => local.thread.leaves_no_trace(),
            Trace::Changes => local.looks.clear(),
            Trace::Looks => {}
        }
        match is_atomic {
            true => local.thread.choose(&self.code, first, second),
            false => local.thread.results(&self.code, first, second),
        }
        local.at = At::Runs;
    }
}

/// What an access leaves behind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Trace {
    Looks,
    /// It writes what was there, or nothing.
    None,
    Changes,
}

impl Trace {
    fn of(is_same: bool) -> Trace {
        if is_same { Trace::None } else { Trace::Changes }
    }
}

/// The access of a step that comes to nothing: what it looks at, and perhaps puts back.
pub fn look_in_vain(access: &Access) -> Touch {
    let facts = match access.kind {
        Kind::Cas { .. } => [access.facts[2]; 3],
        _ => access.facts,
    };
    let writes = !matches!(access.kind, Kind::Load | Kind::Cas { .. });
    let reads = access.reads();
    touch(&Access { facts, ..access.clone() }, reads, writes)
}

/// An access that is an error, so that it does not happen: where it stands matters, but it races with none.
fn attempt(access: &Access, reads: bool, writes: bool) -> Touch {
    Touch { bytes: 0, ..touch(access, reads, writes) }
}

fn touch(access: &Access, reads: bool, writes: bool) -> Touch {
    let [read, write, _] = access.facts;
    let facts = if reads { read } else { write };
    Touch {
        range: access.range(),
        address: access.address,
        bytes: access.bytes,
        reads,
        writes,
        is_atomic: facts.is_atomic,
        is_plain: facts.is_plain,
        site: access.site,
    }
}

/// Memory as a thread sees it that has stores on their way.
fn overlaid(
    values: &mut Values,
    memory: &Memory,
    local: &Local<'_>,
    initial: &dyn Fn(u64) -> Page,
) -> Memory {
    let mut memory = memory.clone();
    for entry in local.buffer.entries() {
        if let Entry::Store { address, value, .. } = entry {
            memory.write(values, *address, *value, initial);
        }
    }
    memory
}
