//! What one instruction does to a state.

use parallax_program::{
    AccessSize, AllocKind, Callee, Expr, FunctionId, InstKind, Order, Property, RmwOp, Tags, VarId,
};

use crate::NO_THREAD;
use crate::analysis::{Analysis, Here, Quit, may_be_thread, within};
use crate::contents::Contents;
use crate::eval::Truth;
use crate::near::{Near, split};
use crate::num::Num;
use crate::state::{Count, Hold, Lock, Mode, SpawnSite, State};
use crate::value::{Base, ObjectId, Renamed, Value};
use crate::world::{Access, Kind, Object, Origin};

/// So many threads that are started at one place are distinguished.
const MOST_TOLD_APART: u16 = 20;

/// Tags by which the library says what an access is for: one that takes a lock, for the thread alone or
/// to read, that takes it once more, and that gives it back.
const TAKES: [&str; 2] = ["LOCK_WRITE", "TAKE"];
const SHARES: &str = "SHARE";
const TAKES_AGAIN: &str = "AGAIN";
const GIVES: [&str; 2] = ["UNLOCK", "GIVE"];

/// Reads of what is that many bytes behind a lock, by a thread that holds it, or does not.
const HELD: &str = "HELD";
const FOREIGN: &str = "FOREIGN";
const BEHIND: i128 = 16;
const BEHIND_32: i128 = 12;

/// No lock that is in use has the word of one that was destroyed, which is -1.
const WORDS: (i128, i128) = (0, 0xffff_fffe);

/// What the library says of programs that need more of something than its locks have bits for. What such
/// a program does else is what it does below the limit.
const LIMITS: [&str; 9] = [
    "a read-write lock with more than 254 readers",
    "read-write locks in programs of more than 126 threads",
    "condition variables in programs of more than 31 threads",
    "thread-local variables of more than 64 threads",
    "errno in programs of more than 64 threads",
    "cancellation in programs of more than 64 threads",
    "thread-specific data in programs of more than 64 threads",
    "results of more than 64 threads",
    "a barrier for more than 254 threads",
];

/// The same, where the program can ask for the number, so that assertions may be about it.
const COUNTED: &str = "a semaphore with a value of a million";

fn has_one_of(tags: &Tags, names: &[&str]) -> bool {
    names.iter().any(|name| tags.contains(name))
}

/// How an access is made.
#[derive(Clone, Copy)]
struct How {
    kind: Kind,
    bytes: u32,
    is_atomic: bool,
    is_lock: bool,
    /// Whether it is atomic, and orders nothing: neither what its thread did before a write, nor what it
    /// does after a read.
    is_loose: bool,
}

impl How {
    fn of(kind: Kind, size: AccessSize, tags: &Tags) -> How {
        let is_atomic = tags.contains("A") && !tags.contains("NA");
        let orders = |order: Order| match kind {
            Kind::Read => order.acquires(),
            _ => order.releases(),
        };
        let is_loose = is_atomic && !tags.orders().any(orders);
        How { kind, bytes: size.bytes(), is_atomic, is_lock: false, is_loose }
    }
}

/// Whether numbers are null, or the place of a field behind null.
fn is_near_zero(num: Num) -> bool {
    (0..=4096).contains(&num.lo) && num.hi <= 4096
}

/// Whether an access is what a lock does.
fn is_lock(tags: &Tags) -> bool {
    has_one_of(tags, &TAKES) || has_one_of(tags, &GIVES) || has_one_of(tags, &[SHARES, TAKES_AGAIN])
}

impl<'p> Analysis<'p, '_> {
    pub fn step(
        &mut self,
        here: Here,
        mut state: State<'p>,
        kind: &'p InstKind,
        after: &mut Vec<State<'p>>,
    ) -> Result<(), Quit> {
        let frame = here.frame;
        match kind {
            InstKind::Assign { dst, value: expr } => {
                let value = self.eval(frame, &state, expr);
                if value.is_none() {
                    return Ok(());
                }
                state.assign(*dst, value);
                if !expr.mentions(*dst) {
                    state.facts.insert(*dst, expr);
                }
                after.push(state);
            }
            InstKind::Load { dst, address, size, tags } => {
                let how = How::of(Kind::Read, *size, tags);
                let value = self.read(here, &mut state, address, how)?;
                let cell = self.cell(&state, &self.eval(frame, &state, address), size.bytes());
                if self.is_believed(here, &state, address, tags) && !value.is_none() {
                    state.assign(*dst, value);
                    state.mirrors.extend(cell.map(|cell| (*dst, cell)));
                    after.push(state);
                }
            }
            InstKind::Store { address, value, size, tags } => {
                let how = How::of(Kind::Write, *size, tags);
                let how = How { is_lock: is_lock(tags), ..how };
                let value = self.eval(frame, &state, value);
                if !value.is_none() {
                    let lock = self.eval(frame, &state, address);
                    self.write(here, &mut state, address, value, how)?;
                    if has_one_of(tags, &GIVES) {
                        self.give(here, &mut state, &lock, address);
                    } else if tags.contains(TAKES_AGAIN) {
                        self.take_again(&mut state, &lock);
                    }
                    after.push(state);
                }
            }
            InstKind::Rmw { .. } => self.read_modify_write(here, state, kind, after)?,
            InstKind::Cas { .. } => self.compare_and_swap(here, state, kind, after)?,
            InstKind::Fence { .. } => after.push(state),
            InstKind::Spawn { dst, callee, args } => {
                self.spawn(here, state, *dst, callee, args, after)?;
            }
            InstKind::Join { thread } => self.join(here, state, thread, after),
            InstKind::ThreadId { dst } => {
                state.assign(*dst, Value::number(Num::me()));
                after.push(state);
            }
            InstKind::Wait { condition } => {
                after.extend(self.refine(frame, state, condition, true));
            }
            InstKind::Assume { condition } => {
                let passed = self.refine(frame, state, condition, true);
                // The library ends programs by an assumption that nothing passes.
                if !matches!(condition, Expr::Const(_)) {
                    *self.world.assumptions.entry(here.span()).or_default() |= passed.is_some();
                }
                after.extend(passed);
            }
            InstKind::Assert { condition, message, property } => {
                self.assert(here, &state, condition, message, *property);
                after.extend(self.refine(frame, state, condition, true));
            }
            InstKind::Alloc { .. } => {
                self.allocate(here, &mut state, kind);
                after.push(state);
            }
            InstKind::HeapSize { dst, address } => {
                self.owe(here, Property::Memory, "the address of an object of the heap");
                let value = self.eval(frame, &state, address);
                let sizes = value.objects().map(|object| self.world.object(object).size);
                let sizes = sizes.map(|(lo, hi)| Value::number(Num::range(lo, hi)));
                let size = sizes.fold(Value::none(), |all, size| all.join(&size, 64));
                self.got(state, Some(*dst), size, after);
            }
            InstKind::Free { address, kind } => {
                self.free(here, &mut state, address, *kind)?;
                after.push(state);
            }
            InstKind::Nondet { dst } => {
                let width = self.program.function(frame.function).vars[dst.0 as usize].width;
                state.assign(*dst, Value::number(Num::all(width)));
                after.push(state);
            }
            InstKind::Choose { dst, below } => {
                let width = self.program.function(frame.function).vars[dst.0 as usize].width;
                let below = self.eval(frame, &state, below).as_number(width);
                let most = below.map_or(0, |below| below.unsigned(width, self.most).1);
                if most > 0 {
                    state.assign(*dst, Value::number(Num::range(0, most - 1)));
                    after.push(state);
                }
            }
            InstKind::AtomicBegin => {
                let hold = Hold { mode: Mode::Exclusive, depth: 1 };
                match state.key.locks.insert(Lock::Section, hold) {
                    None => {
                        self.begin_keeping(&mut state, Lock::Section);
                        after.push(state);
                    }
                    Some(_) => self.give_up(here, "an atomic section inside another"),
                }
            }
            InstKind::AtomicEnd => match state.key.locks.remove(&Lock::Section) {
                Some(_) => {
                    self.hand_on(&mut state, Lock::Section);
                    after.push(state);
                }
                None => self.give_up(here, "the end of an atomic section that may not have begun"),
            },
            InstKind::Call { .. } => self.step_call(here, state, kind, after)?,
            InstKind::Unsupported { what } if LIMITS.contains(&what.as_str()) => {}
            InstKind::Unsupported { what } if what == COUNTED => {
                self.world.counted.insert((here.span(), what.clone()));
            }
            InstKind::Unsupported { what } => self.give_up(here, what),
            InstKind::LoadLinked { .. } | InstKind::StoreConditional { .. } => {
                self.give_up(here, "load-linked and store-conditional");
            }
        }
        Ok(())
    }

    /// A variable gets a value. If there is none, the instruction is not reached yet.
    fn got(
        &self,
        mut state: State<'p>,
        dst: Option<VarId>,
        value: Value,
        after: &mut Vec<State<'p>>,
    ) {
        if value.is_none() {
            return;
        }
        if let Some(dst) = dst {
            state.assign(dst, value);
        }
        after.push(state);
    }

    fn assert(
        &mut self,
        here: Here,
        state: &State<'p>,
        condition: &Expr,
        message: &str,
        property: Property,
    ) {
        let function = self.program.function(here.frame.function);
        let truth = match self.scene(&function.vars, |scene| scene.truth(state, condition)) {
            Truth::Always => Truth::Always,
            _ if self.holds_by_itself(here.place) => Truth::Always,
            other => other,
        };
        let is_vouched = state.vouched.iter().any(|var| condition.mentions(*var));
        if property == Property::Lock && is_vouched {
            return;
        }
        if property == Property::Assert && truth != Truth::Always {
            self.world.failures.insert((here.span(), message.to_string()));
        }
        if truth != Truth::Never {
            self.world.passed.insert(here.place);
        }
        if truth != Truth::Always && parallax_verdict::leaves_all_open(property) {
            self.owe_as(here, property, message, truth == Truth::Open);
        }
    }

    /// The places that an access may go to.
    fn targets(
        &mut self,
        here: Here,
        state: &State<'p>,
        address: &Value,
        how: How,
    ) -> Result<Vec<(ObjectId, Num)>, Quit> {
        if address.wild {
            return Err(Quit::Lost("an address that cannot be followed", here.span));
        }
        let width = self.program.pointer_width;
        let is_object = |(base, _): &(Base, Num)| matches!(base, Base::Object(_));
        // Where nothing is left that an access can go to, it is the analysis that went wrong.
        let some_left = address.parts.iter().any(is_object);
        if address.undefined {
            let message = "an address that may not be that of an object";
            self.owe_as(here, Property::Memory, message, some_left);
        }
        let most = state.below.map_or(self.most, |bound| self.most.min(bound - 1));
        let mut targets = Vec::new();
        let mut outside = None;
        for (base, num) in &address.parts {
            let Base::Object(object) = base else {
                let is_null = *base == Base::Zero && is_near_zero(num.spread(self.most));
                let message = "an address that may not be that of an object";
                self.owe_as(here, Property::Memory, message, some_left && is_null);
                continue;
            };
            let info = self.world.object(*object);
            let (is_constant, is_private) = (info.is_constant, self.world.is_private(*object));
            let bytes = i128::from(how.bytes);
            let (_, is_inside) = within(*num, info.size.0, bytes, most);
            let (inside, _) = within(*num, info.size.1, bytes, most);
            if !is_inside {
                // Of all numbers, those inside are all that there are inside.
                let is_plain = num.is_plain(width, self.most) && num.mine == 0;
                let is_plain = is_plain || *num == Num::all(width);
                outside = Some(outside.unwrap_or(true) && is_plain);
            }
            if state.freed.contains(object) || is_private && !state.private.contains_key(object) {
                self.owe(here, Property::Memory, "an access to an object that may be gone");
            }
            if is_constant && how.kind != Kind::Read {
                self.owe(here, Property::Memory, "a store to a constant");
            }
            targets.extend(inside.map(|inside| (*object, inside)));
        }
        if let Some(is_plain) = outside {
            let is_followed = is_plain && !targets.is_empty();
            let message = "an access that may leave its object";
            self.owe_as(here, Property::Memory, message, is_followed);
        }
        Ok(targets)
    }

    fn record(
        &mut self,
        here: Here,
        state: &State<'p>,
        (object, at): (ObjectId, Num),
        near: &[(i128, Mode)],
        how: How,
    ) {
        let is_constant = self.world.object(object).is_constant;
        if self.world.is_private(object) || is_constant && how.kind == Kind::Read {
            return;
        }
        let key = self.world.key(&state.key);
        let How { kind, bytes, is_atomic, is_lock, .. } = how;
        let (thread, span) = (here.frame.thread, here.span());
        let near = near.to_vec();
        let access =
            Access { object, at, bytes, kind, is_atomic, is_lock, thread, near, key, span };
        self.world.accesses.insert(access);
    }

    fn read(
        &mut self,
        here: Here,
        state: &mut State<'p>,
        address: &Expr,
        how: How,
    ) -> Result<Value, Quit> {
        let near = state.distances(address);
        let address = self.eval(here.frame, state, address);
        let mut value = Value::none();
        for (object, at) in self.targets(here, state, &address, how)? {
            self.record(here, state, (object, at), &near, how);
            let own = state.private.get(&object);
            let own = own.or_else(|| self.kept(state, object, at, how.bytes));
            let contents = own.unwrap_or(&self.world.contents[object.0 as usize]);
            let mut found = contents.load(at, how.bytes);
            self.normalise(&mut found, state.key.is_alone);
            if !self.world.is_private(object) {
                self.note_loose(here, &found, how);
            }
            value = value.join(&found, how.bytes * 8);
        }
        Ok(value)
    }

    /// Whoever fills an object before others know it is before them only if those by which it comes to be
    /// known release and acquire.
    fn note_loose(&mut self, here: Here, value: &Value, how: How) {
        let is_made =
            |object: ObjectId| matches!(self.world.object(object).origin, Origin::Made { .. });
        if how.is_loose && value.objects().any(is_made) {
            let message = "the address of an object goes by an atomic access that neither releases \
                           nor acquires";
            self.world.loose.insert((here.span(), message.to_string()));
        }
    }

    fn write(
        &mut self,
        here: Here,
        state: &mut State<'p>,
        address: &Expr,
        mut value: Value,
        how: How,
    ) -> Result<(), Quit> {
        if how.is_lock && value.only_number().is_none_or(|num| num.single().is_none()) {
            value = Value::number(Num::range(WORDS.0, WORDS.1));
        }
        let known = self.eval(here.frame, state, address);
        let shows = known.objects().any(|object| !self.world.is_private(object));
        if shows {
            value = self.publish(state, value)?;
            self.note_loose(here, &value, how);
        }
        let near = state.distances(address);
        let address = self.eval(here.frame, state, address);
        let targets = self.targets(here, state, &address, how)?;
        let is_only = targets.len() == 1;
        let cell = self.cell(state, &address, how.bytes).filter(|_| is_only && !how.is_lock);
        let used = cell.and_then(|cell| self.own_lock(state, cell, &value));
        let how = How { is_lock: how.is_lock || used.is_some(), ..how };
        for (object, at) in targets {
            self.record(here, state, (object, at), &near, how);
            state.forget_mirrors(object);
            if !state.private.contains_key(&object) {
                self.world.store(object, at, how.bytes, &value.handed_over(self.most));
            }
            let own = state.private.get_mut(&object).or_else(|| state.kept.get_mut(&object));
            let Some(own) = own else {
                self.hand_store(object, at, how.bytes, &value);
                continue;
            };
            match at.single() {
                Some(offset) if is_only => own.put(offset, how.bytes, value.clone()),
                _ => {
                    let join = |old: &Value, new: &Value, width: u32| old.join(new, width);
                    own.add(at, how.bytes, &value, &join);
                }
            }
        }
        if let Some(used) = used {
            self.use_own_lock(state, used);
        }
        Ok(())
    }

    /// Others may know the objects that a value leads to. The value is what it is called then.
    fn publish(&mut self, state: &mut State<'p>, mut value: Value) -> Result<Value, Quit> {
        loop {
            let found = value.objects().find(|object| self.world.is_private(*object));
            let Some(object) = found else { return Ok(value) };
            let to = match self.is_kept(state, object) {
                true => {
                    let becomes = self.world.shared_name(object);
                    Renamed { stays: false, becomes, dies: false }
                }
                false => self.show(state, object)?,
            };
            value = value.renamed(object, &to);
        }
    }

    /// Whether an object stays private although something that is shared leads to it: a global, as long
    /// as there is one thread. Its name is another one in what is shared.
    fn is_kept(&self, state: &State<'p>, object: ObjectId) -> bool {
        state.key.is_alone && matches!(self.world.object(object).origin, Origin::Early(_))
    }

    /// Others may know a private object from here on, and all that it leads to.
    fn show(&mut self, state: &mut State<'p>, object: ObjectId) -> Result<Renamed, Quit> {
        let mut shown = Vec::new();
        let first = self.show_with_others(state, object, &mut shown)?;
        self.begin_guarding(state, &shown);
        Ok(first)
    }

    /// The same, where others are shown at once, and locks among them.
    fn show_with_others(
        &mut self,
        state: &mut State<'p>,
        object: ObjectId,
        shown: &mut Vec<ObjectId>,
    ) -> Result<Renamed, Quit> {
        let mut first = Renamed::default();
        let mut open = vec![object];
        while let Some(object) = open.pop() {
            let Some(shared) = self.world.shared_name(object) else { continue };
            let to = Renamed { stays: false, becomes: Some(shared), dies: false };
            if first.becomes.is_none() {
                first = to;
            }
            let Some(mut contents) = state.private.remove(&object) else {
                state.rename(object, to);
                continue;
            };
            open.extend(contents.values().flat_map(Value::objects).filter(|inner| {
                *inner != object && self.world.is_private(*inner) && !self.is_kept(state, *inner)
            }));
            let is_global = matches!(self.world.object(shared).origin, Origin::Global(_));
            if !is_global && (state.published.contains(&shared) || self.is_many_thread(shared)) {
                self.world.multiply(shared);
            }
            state.published.insert(shared);
            for value in contents.values_mut() {
                *value = self.shared_names(value).handed_over(self.most);
            }
            self.world.fold(shared, &contents);
            if self.guards.contains_key(&shared) {
                state.kept.insert(shared, contents);
                shown.push(shared);
            }
            state.rename(object, to);
            self.rename_locks(state, object, shared);
        }
        Ok(first)
    }

    /// There is another thread from here on, which knows all globals.
    fn share_globals(&mut self, state: &mut State<'p>) -> Result<(), Quit> {
        if !std::mem::replace(&mut state.key.is_alone, false) {
            return Ok(());
        }
        let names = self.globals.clone();
        let mut shown = Vec::new();
        for (shared, early) in names {
            if shared != early {
                self.show_with_others(state, early, &mut shown)?;
            }
        }
        self.begin_guarding(state, &shown);
        state.for_each_value(|value| self.normalise(value, false));
        Ok(())
    }

    fn is_many_thread(&self, object: ObjectId) -> bool {
        match self.world.object(object).origin {
            Origin::Made { thread, .. } => self.world.thread(thread).is_many,
            Origin::Global(_) | Origin::Early(_) => false,
        }
    }

    /// A value as all threads may know it.
    fn shared_names(&self, value: &Value) -> Value {
        let mut value = value.clone();
        let objects: Vec<ObjectId> = value.objects().collect();
        for object in objects {
            if let Some(shared) = self.world.shared_name(object) {
                let to = Renamed { stays: false, becomes: Some(shared), dies: false };
                value = value.renamed(object, &to);
            }
        }
        value
    }

    /// Locks in a private object are known by the name that others have for it, if it is the only one.
    fn rename_locks(&mut self, state: &mut State<'p>, object: ObjectId, shared: ObjectId) {
        let is_unique = self.world.object(shared).is_unique;
        let locks = std::mem::take(&mut state.key.locks);
        for (lock, hold) in locks {
            match lock {
                Lock::At(known, offset) if known == object && is_unique => {
                    state.key.locks.insert(Lock::At(shared, offset), hold);
                }
                Lock::At(known, _) if known == object => state.key.others = true,
                _ => {
                    state.key.locks.insert(lock, hold);
                }
            }
        }
    }

    /// The lock that is at an address, where that is one and the same always.
    fn lock_at(&self, address: &Value) -> Option<Lock> {
        let mut objects = address.parts.iter().filter_map(|(base, num)| match base {
            Base::Object(object) => Some((*object, num.single())),
            _ => None,
        });
        let only = objects.next().filter(|_| objects.next().is_none())?;
        let (object, offset) = only;
        let is_one = self.world.is_private(object) || self.world.object(object).is_unique;
        Some(Lock::At(object, offset?)).filter(|_| is_one && !address.wild)
    }

    /// Whether a thread can be where the library says that it holds a lock, or does not.
    fn is_believed(&self, here: Here, state: &State<'p>, address: &Expr, tags: &Tags) -> bool {
        let (held, foreign) = (tags.contains(HELD), tags.contains(FOREIGN));
        if !held && !foreign {
            return true;
        }
        let width = self.program.pointer_width;
        let behind = if width == 64 { BEHIND } else { BEHIND_32 };
        let mut near = state.distances(address).into_iter();
        if near.any(|(distance, _)| distance == -behind) {
            return held;
        }
        let address = self.eval(here.frame, state, address);
        let back = address.map(|_, num| Some(num.sub(Num::one(behind), width)));
        let Some(lock) = self.lock_at(&back) else { return true };
        match state.key.locks.contains_key(&lock) {
            true => held,
            false => foreign || state.key.others,
        }
    }

    /// A thread has a lock from here on.
    fn take(&self, state: &mut State<'p>, lock: Option<Lock>, address: &Expr, mode: Mode) {
        let (from, at) = split(state, address);
        state.near.push(Near { from, at, mode });
        let Some(lock) = lock else {
            state.key.others = true;
            return;
        };
        let is_new = !state.key.locks.contains_key(&lock);
        let hold = state.key.locks.entry(lock).or_insert(Hold { mode, depth: 0 });
        hold.depth = hold.depth.saturating_add(1);
        hold.mode = hold.mode.max(mode);
        // Who has it already knows what is there, and has handed on nothing of that.
        if is_new {
            self.begin_keeping(state, lock);
        }
    }

    /// A thread that has a lock takes it once more.
    fn take_again(&self, state: &mut State<'p>, address: &Value) {
        match self.lock_at(address) {
            Some(lock) => {
                let is_new = !state.key.locks.contains_key(&lock);
                let hold = Hold { mode: Mode::Exclusive, depth: 0 };
                let hold = state.key.locks.entry(lock).or_insert(hold);
                hold.depth = hold.depth.saturating_add(1);
                if is_new {
                    self.begin_keeping(state, lock);
                }
            }
            None => state.key.others = true,
        }
    }

    /// A thread gives a lock back. Returns whether it has it for certain.
    fn give(&mut self, here: Here, state: &mut State<'p>, address: &Value, at: &Expr) -> bool {
        // If it goes by another name here, it may be any of those that are known by theirs.
        let is_near = state.give_near(at);
        if !is_near {
            state.near.clear();
            state.key.gave_others = true;
        }
        if let Some(lock) = self.lock_at(address)
            && state.key.locks.contains_key(&lock)
        {
            state.key.drop_lock(lock);
            if !state.key.locks.contains_key(&lock) {
                self.hand_on(state, lock);
            }
            return true;
        }
        if is_near && self.lock_at(address).is_none() {
            return true;
        }
        self.owe(here, Property::Lock, "a lock is released that may not be held");
        let may_be = |lock: &Lock| match lock {
            Lock::At(object, _) => address.objects().any(|other| other == *object),
            Lock::Section => false,
        };
        let lost: Vec<Lock> = state.key.locks.keys().copied().filter(may_be).collect();
        for lock in lost {
            state.key.locks.remove(&lock);
            self.hand_on(state, lock);
        }
        // One that was left out may be held all the same.
        state.key.others = true;
        false
    }

    fn compare_and_swap(
        &mut self,
        here: Here,
        state: State<'p>,
        kind: &'p InstKind,
        after: &mut Vec<State<'p>>,
    ) -> Result<(), Quit> {
        let InstKind::Cas {
            dst,
            ok,
            address,
            expected,
            desired,
            size,
            read_tags,
            write_tags,
            fail_tags,
            weak,
        } = kind
        else {
            return Ok(());
        };
        let frame = here.frame;
        let mode = match has_one_of(write_tags, &TAKES) {
            true => Some(Mode::Exclusive),
            false => write_tags.contains(SHARES).then_some(Mode::Shared),
        };
        let lock = self.eval(frame, &state, address);
        let lock = mode.and_then(|_| self.lock_at(&lock));
        let read = How::of(Kind::Read, *size, read_tags);
        let fail = How::of(Kind::Read, *size, fail_tags);
        let is_atomic = read.is_atomic && fail.is_atomic;
        let is_loose = read.is_loose || fail.is_loose;
        let read = How { is_atomic, is_loose, is_lock: mode.is_some(), ..read };
        let mut before = state;
        let old = self.read(here, &mut before, address, read)?;
        let expected = self.eval(frame, &before, expected);
        if old.is_none() || expected.is_none() {
            return Ok(());
        }
        let width = size.bits();
        let held = lock.and_then(|lock| before.key.locks.get(&lock));
        let is_held =
            held.is_some_and(|hold| mode == Some(Mode::Exclusive) || hold.mode == Mode::Exclusive);
        let may_succeed = self.may_equal(&old, &expected, width);
        if may_succeed && !is_held {
            let mut taken = before.clone();
            let value = self.eval(frame, &taken, desired);
            let write = How::of(Kind::Write, *size, write_tags);
            let write = How { is_lock: mode.is_some(), ..write };
            self.write(here, &mut taken, address, value, write)?;
            if let Some(mode) = mode {
                // The object may have another name now.
                let lock = self.eval(frame, &taken, address);
                self.take(&mut taken, self.lock_at(&lock), address, mode);
            }
            let seen = self.shared_or_same(&taken, &expected);
            self.swapped(taken, *dst, *ok, seen, 1, after);
        }
        let differs = match (*weak, old.only_number(), expected.only_number()) {
            (false, Some(num), Some(by)) => self.unequal(num, by, width).map(Value::number),
            _ => Some(old),
        };
        if let Some(old) = differs {
            self.swapped(before, *dst, *ok, old, 0, after);
        }
        Ok(())
    }

    fn swapped(
        &self,
        mut state: State<'p>,
        dst: Option<VarId>,
        ok: Option<VarId>,
        old: Value,
        success: i128,
        after: &mut Vec<State<'p>>,
    ) {
        if let Some(dst) = dst {
            state.assign(dst, old);
        }
        if let Some(ok) = ok {
            state.assign(ok, Value::constant(success));
        }
        after.push(state);
    }

    fn may_equal(&self, one: &Value, two: &Value, width: u32) -> bool {
        match (one.only_number(), two.only_number()) {
            (Some(a), Some(b)) => {
                let (a, b) = (a.unsigned(width, self.most), b.unsigned(width, self.most));
                a.0 <= b.1 && b.0 <= a.1
            }
            _ => true,
        }
    }

    /// Those numbers that are not the other one.
    fn unequal(&self, num: Num, other: Num, width: u32) -> Option<Num> {
        let Some(other) = other.single() else { return Some(num) };
        let ((lo, hi), (without, _)) =
            (num.unsigned(width, self.most), Num::one(other).unsigned(width, 0));
        match (lo == without, hi == without) {
            (true, true) => None,
            (true, false) => Some(Num::range(lo + 1, hi)),
            (false, true) => Some(Num::range(lo, hi - 1)),
            (false, false) => Some(num),
        }
    }

    fn read_modify_write(
        &mut self,
        here: Here,
        mut state: State<'p>,
        kind: &'p InstKind,
        after: &mut Vec<State<'p>>,
    ) -> Result<(), Quit> {
        let InstKind::Rmw { dst, address, op, operand, size, read_tags, write_tags } = kind else {
            return Ok(());
        };
        let width = size.bits();
        let read = How::of(Kind::Read, *size, read_tags);
        let old = self.read(here, &mut state, address, read)?;
        let operand = self.eval(here.frame, &state, operand);
        if old.is_none() || operand.is_none() {
            return Ok(());
        }
        let new = match (op, old.only_number(), operand.only_number()) {
            (RmwOp::Swap, ..) => operand,
            (_, Some(a), Some(b)) => {
                Value::number(self.scene(&[], |scene| scene.modified(*op, a, b, width)))
            }
            _ => old.join(&operand, width).blurred(width),
        };
        let write = How::of(Kind::Write, *size, write_tags);
        let write = How { is_lock: is_lock(write_tags), ..write };
        let lock = self.eval(here.frame, &state, address);
        self.write(here, &mut state, address, new, write)?;
        let is_sure = has_one_of(write_tags, &GIVES) && self.give(here, &mut state, &lock, address);
        // The object may have another name now.
        let old = self.shared_or_same(&state, &old);
        if let (Some(dst), false) = (dst, old.is_none()) {
            state.assign(*dst, old);
            if is_sure {
                state.vouched.insert(*dst);
            }
        }
        after.push(state);
        Ok(())
    }

    /// A value that was read before objects got other names.
    fn shared_or_same(&self, state: &State<'p>, value: &Value) -> Value {
        let gone: Vec<ObjectId> = value
            .objects()
            .filter(|object| self.world.is_private(*object) && !state.private.contains_key(object))
            .collect();
        gone.into_iter().fold(value.clone(), |value, object| {
            let becomes = self.world.shared_name(object);
            value.renamed(object, &Renamed { stays: false, becomes, dies: false })
        })
    }

    /// The functions that may be called.
    pub fn callees(&mut self, here: Here, state: &State<'p>, callee: &Callee) -> Vec<FunctionId> {
        match callee {
            Callee::Direct(function) => vec![*function],
            Callee::External(name) => {
                self.give_up(here, &format!("the function '{name}', {}", Callee::WITHOUT_BODY));
                Vec::new()
            }
            Callee::Indirect(target) => {
                let value = self.eval(here.frame, state, target);
                if value.wild {
                    self.give_up(here, "a call to a function that cannot be followed");
                }
                let mut functions = Vec::new();
                for (base, num) in &value.parts {
                    match base {
                        Base::Function(function) if num.single() == Some(0) => {
                            functions.push(*function);
                        }
                        _ => self.owe(here, Property::Memory, "a call that may lead nowhere"),
                    }
                }
                if value.undefined {
                    self.owe(here, Property::Memory, "a call that may lead nowhere");
                }
                functions
            }
        }
    }

    fn spawn(
        &mut self,
        here: Here,
        mut state: State<'p>,
        dst: Option<VarId>,
        callee: &Callee,
        args: &[Expr],
        after: &mut Vec<State<'p>>,
    ) -> Result<(), Quit> {
        let functions = self.callees(here, &state, callee);
        if functions.is_empty() {
            return Ok(());
        }
        self.share_globals(&mut state)?;
        let mut values: Vec<Value> = Vec::new();
        for arg in args {
            let value = self.eval(here.frame, &state, arg);
            if value.is_none() {
                return Ok(());
            }
            self.publish(&mut state, value)?;
        }
        values.extend(
            args.iter().map(|arg| self.eval(here.frame, &state, arg).handed_over(self.most)),
        );
        let site = SpawnSite { context: here.frame.context, place: here.place };
        let before = state.key.created.get(&site).copied().unwrap_or(Count::Exactly(0));
        let (nth, next) = match before {
            Count::Exactly(n) if n < MOST_TOLD_APART => (before, Count::Exactly(n + 1)),
            _ => (Count::Many, Count::Many),
        };
        let parent = Some((here.frame.thread, site));
        let thread = self.world.add_thread(parent, nth, &state.key.joined);
        for function in functions {
            if self.program.function(function).params as usize != values.len() {
                self.give_up(here, "a thread that gets other arguments than its function has");
                continue;
            }
            self.world.add_start(thread, function, values.clone());
        }
        state.key.created.insert(site, next);
        self.got(state, dst, Value::at(Base::Thread(thread)), after);
        Ok(())
    }

    fn join(
        &mut self,
        here: Here,
        mut state: State<'p>,
        thread: &Expr,
        after: &mut Vec<State<'p>>,
    ) {
        let value = self.eval(here.frame, &state, thread);
        let mut threads = value.parts.iter().filter_map(|(base, num)| match base {
            Base::Thread(thread) => Some((*thread, *num)),
            _ => None,
        });
        let first = threads.next();
        let is_one = threads.next().is_none() && !value.wild && !may_be_thread(&value);
        if value.undefined {
            self.owe_as(here, Property::Memory, NO_THREAD, first.is_some());
        }
        match first {
            Some((thread, num)) if is_one && num.single() == Some(0) => {
                let info = self.world.thread(thread);
                // It never ends, as far as is known by now.
                let Some(outlived) = info.outlived.clone() else { return };
                if !info.is_many {
                    state.key.joined.insert(thread);
                    state.key.joined.extend(outlived);
                    self.reclaim(here.frame.thread, &mut state);
                }
                after.push(state);
            }
            None if is_one && !value.undefined => {}
            _ => after.push(state),
        }
    }

    fn allocate(&mut self, here: Here, state: &mut State<'p>, kind: &'p InstKind) {
        let InstKind::Alloc { dst, size, align, kind, zeroed, .. } = kind else { return };
        let width = self.program.pointer_width;
        let size = self.eval(here.frame, state, size).as_number(width);
        let size = size.map_or((0, 0), |size| size.unsigned(width, self.most));
        let private = self.object_at(here, size, *align, *kind, true);
        self.object_at(here, size, *align, *kind, false);
        if state.private.contains_key(&private) {
            // An older one that the thread may still know.
            let _ = self.show(state, private);
        }
        let base = if *zeroed { Value::constant(0) } else { Value::undefined() };
        state.private.insert(private, Contents::of(base));
        state.assign(*dst, Value::at(Base::Object(private)));
    }

    fn object_at(
        &mut self,
        here: Here,
        size: (i128, i128),
        align: u32,
        kind: AllocKind,
        is_private: bool,
    ) -> ObjectId {
        let Here { frame, place, span } = here;
        let (thread, context) = (frame.thread, frame.context);
        let origin = Origin::Made { thread, context, place, is_private };
        let object = Object {
            origin,
            size,
            align: i128::from(align.max(1)),
            kind: Some(kind),
            is_constant: false,
            is_unique: true,
            span,
            changes: 0,
        };
        let id = self.world.add_object(object, Contents::default());
        let known = self.world.object(id).size;
        let both = (known.0.min(size.0), known.1.max(size.1));
        if both != known {
            self.world.object_mut(id).size = both;
            self.world.has_changed = true;
        }
        id
    }

    fn free(
        &mut self,
        here: Here,
        state: &mut State<'p>,
        address: &Expr,
        kind: AllocKind,
    ) -> Result<(), Quit> {
        let value = self.eval(here.frame, state, address);
        if value.wild {
            return Err(Quit::Lost("an address that cannot be followed is freed", here.span));
        }
        if value.undefined {
            self.owe(here, Property::Memory, "something is freed that may be no object");
        }
        let is_one = value.objects().count() == 1;
        for (base, num) in value.parts.clone() {
            let Base::Object(object) = base else {
                if num.single() != Some(0) || base != Base::Zero {
                    self.owe(here, Property::Memory, "something is freed that may be no object");
                }
                continue;
            };
            let is_whole = num.single() == Some(0);
            if !is_whole || self.world.object(object).kind != Some(kind) {
                self.owe(here, Property::Memory, "something is freed that may be no object");
            }
            if self.world.is_private(object) && is_one && is_whole {
                let lives = state.private.remove(&object).is_some();
                if !lives {
                    self.owe(here, Property::Memory, "an object is freed that may be gone");
                }
                state.rename(object, Renamed { stays: false, becomes: None, dies: true });
                state.key.locks.retain(|lock, _| !matches!(lock, Lock::At(at, _) if *at == object));
                continue;
            }
            let object = match self.world.is_private(object) {
                true => self.show(state, object)?.becomes.unwrap_or(object),
                false => object,
            };
            if state.freed.contains(&object) {
                self.owe(here, Property::Memory, "an object is freed that may be gone");
            }
            let how = How::of(Kind::Free, AccessSize::BYTE, &Tags::default());
            self.record(here, state, (object, Num::one(0)), &[], how);
            state.freed.insert(object);
        }
        Ok(())
    }
}
