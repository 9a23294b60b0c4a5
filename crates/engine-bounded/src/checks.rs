//! What may be wrong with an execution, each as a literal.

use rustc_hash::FxHashMap;

use parallax_machine::system::BadAccess;
use parallax_program::{BinaryOp, Bits, Property};
use parallax_solver::{Literal, Term};
use parallax_verdict::leaves_all_open;

use crate::circuit::Circuit;
use crate::encoding::Encoding;
use crate::ends::Late;
use crate::event::Step;
use crate::memory::Memory;
use crate::relations::axioms::Violation;
use crate::structure::Structure;
use crate::unfold::{Checked, Failure, Free, Object};

/// Something that may be wrong.
pub struct Suspect {
    pub property: Property,
    pub when: Literal,
    pub what: Wrong,
    /// The thread that cannot go on because of it.
    pub thread: Option<u32>,
    /// The events that it is about.
    pub involved: Vec<usize>,
}

pub enum Wrong {
    Said(String),
    /// An access; what is wrong with it depends on its address.
    Access {
        address: Term,
        bytes: u32,
        writes: bool,
    },
}

impl Wrong {
    /// In the last model of the solver.
    pub fn message(&self, circuit: &Circuit, memory: &Memory) -> String {
        match self {
            Wrong::Said(message) => message.clone(),
            Wrong::Access { address, bytes, writes } => {
                let address = circuit.value(*address).unsigned();
                let wrong = memory.wrong_with(address, *bytes, *writes);
                let wrong = wrong.unwrap_or_else(|| beyond(circuit, memory, address));
                wrong.message().to_string()
            }
        }
    }
}

/// What is wrong with an access behind the end of an object, in the last model of the solver.
fn beyond(circuit: &Circuit, memory: &Memory, address: u128) -> BadAccess {
    let is_near = memory.extent(address).is_some_and(|(start, extent)| {
        let end = u128::from(start) + circuit.value(extent).unsigned();
        address < end.saturating_add(0x1000)
    });
    if is_near { BadAccess::OutOfBounds } else { BadAccess::Wild }
}

/// All that is looked for.
pub struct Checks<'a> {
    pub encoding: &'a mut Encoding,
    pub memory: &'a Memory,
    pub properties: &'a [Property],
    pub suspects: Vec<Suspect>,
    /// What nobody asked about, and may hide what comes after it.
    pub unasked: Vec<Suspect>,
}

impl Checks<'_> {
    fn wants(&self, property: Property) -> bool {
        self.properties.contains(&property)
    }

    fn suspect(&mut self, mut suspect: Suspect) {
        if suspect.thread.is_none() {
            let Encoding { structure, stays, circuit, .. } = &mut *self.encoding;
            let section = |event: &usize| structure.events[*event].section;
            let sections: Vec<Option<u32>> = suspect.involved.iter().map(section).collect();
            let reached = stays.reach(&sections, circuit);
            suspect.when = circuit.and(&[suspect.when, reached]);
        }
        match self.wants(suspect.property) {
            _ if suspect.when == Literal::FALSE => {}
            true => self.suspects.push(suspect),
            false if leaves_all_open(suspect.property) => self.unasked.push(suspect),
            false => {}
        }
    }

    pub fn assertions(&mut self, failures: &[Failure]) {
        for failure in failures {
            let when = self.encoding.way(&failure.stop);
            let thread = Some(failure.stop.thread);
            let what = Wrong::Said(failure.message.clone());
            let property = failure.property;
            self.suspect(Suspect { property, when, what, thread, involved: Vec::new() });
        }
    }

    /// Accesses happen only where nothing is wrong with their addresses. `places` are those that
    /// each can have.
    pub fn addresses(&mut self, checked: &[Checked], places: &[Vec<u128>]) {
        for (access, places) in checked.iter().zip(places) {
            let right = places
                .iter()
                .filter(|place| self.memory.allows(**place, access.bytes, access.writes));
            let right: Vec<u128> = right.copied().collect();
            let right = self.one_within(access.address, &right, access.bytes);
            let reached = self.encoding.way(&access.stop);
            let circuit = &mut self.encoding.circuit;
            let ok = circuit.literal(access.ok);
            circuit.clause(&[!ok, right]);
            circuit.clause(&[ok, !right]);
            let when = circuit.and(&[reached, !ok]);
            let (address, bytes, writes) = (access.address, access.bytes, access.writes);
            let what = Wrong::Access { address, bytes, writes };
            let thread = Some(access.stop.thread);
            let property = Property::Memory;
            self.suspect(Suspect { property, when, what, thread, involved: Vec::new() });
        }
    }

    /// Whether a term has one of these values.
    fn one_of(&mut self, term: Term, values: &[u128]) -> Literal {
        let circuit = &mut self.encoding.circuit;
        let width = circuit.terms.width(term);
        let cases = values.iter().map(|value| {
            let value = circuit.terms.constant(Bits::new(width, *value));
            let equal = circuit.terms.equals(term, value);
            circuit.literal(equal)
        });
        let cases: Vec<Literal> = cases.collect();
        self.encoding.circuit.or(&cases)
    }

    /// Whether an access has one of these addresses, and its object is large enough.
    fn one_within(&mut self, address: Term, places: &[u128], bytes: u32) -> Literal {
        let mut cases = Vec::new();
        for place in places {
            let here = self.one_of(address, &[*place]);
            let circuit = &mut self.encoding.circuit;
            cases.push(match self.memory.extent(*place) {
                None => here,
                Some((start, extent)) => {
                    let end = place - u128::from(start) + u128::from(bytes);
                    let width = circuit.terms.width(extent);
                    let end = circuit.terms.constant(Bits::new(width, end));
                    let fits = circuit.terms.binary(BinaryOp::Ule, end, extent);
                    let fits = circuit.literal(fits);
                    circuit.and(&[here, fits])
                }
            });
        }
        self.encoding.circuit.or(&cases)
    }

    /// Only objects are freed, and each once: the second end of an object does not happen.
    pub fn frees(&mut self, frees: &[Free], objects: &[Object]) {
        for (number, free) in frees.iter().enumerate() {
            let same_kind = objects.iter().filter(|object| object.kind == free.kind);
            let mut right: Vec<u128> = same_kind.map(|object| u128::from(object.address)).collect();
            right.push(0);
            let right = self.one_of(free.address, &right);
            let twice: Vec<(usize, Literal)> = frees
                .iter()
                .enumerate()
                .filter(|(other, _)| *other != number)
                .filter_map(|(_, other)| self.same_object(free, other))
                .collect();
            let again: Vec<Literal> = twice.iter().map(|(_, again)| *again).collect();
            let reached = self.encoding.way(&free.stop);
            let circuit = &mut self.encoding.circuit;
            let again = circuit.or(&again);
            let ok = circuit.literal(free.ok);
            circuit.clause(&[!ok, right]);
            circuit.clause(&[!ok, !again]);
            circuit.clause(&[ok, !right, again]);
            let none = circuit.and(&[reached, !right]);
            let second = circuit.and(&[reached, right, again]);
            let thread = Some(free.stop.thread);
            self.bad_free(none, BadAccess::FreeOfNoObject, thread, vec![]);
            let ends = twice.into_iter().map(|(end, _)| end).collect();
            self.bad_free(second, BadAccess::DoubleFree, thread, ends);
        }
    }

    /// The event of another end, and whether it happens and is that of the same object.
    fn same_object(&mut self, free: &Free, other: &Free) -> Option<(usize, Literal)> {
        let [a, b] = [free.event as usize, other.event as usize];
        if !self.encoding.structure.facts.together.contains(a, b) {
            return None;
        }
        let circuit = &mut self.encoding.circuit;
        let width = circuit.terms.width(free.address);
        let null = circuit.terms.constant(Bits::zero(width));
        let same = circuit.terms.equals(free.address, other.address);
        let none = circuit.terms.equals(free.address, null);
        let (same, none) = (circuit.literal(same), circuit.literal(none));
        let happens = self.encoding.executed[b];
        let again = circuit.and(&[happens, same, !none]);
        (again != Literal::FALSE).then_some((b, again))
    }

    fn bad_free(
        &mut self,
        when: Literal,
        wrong: BadAccess,
        thread: Option<u32>,
        involved: Vec<usize>,
    ) {
        let what = Wrong::Said(wrong.message().to_string());
        self.suspect(Suspect { property: Property::Memory, when, what, thread, involved });
    }

    /// What nobody has written is not read, unless to be copied.
    pub fn undefined_reads(&mut self) {
        // Where nobody asks, they have any value.
        if !self.wants(Property::Memory) {
            return;
        }
        for read in 0..self.encoding.structure.initials {
            let event = &self.encoding.structure.events[read];
            if event.tags.tags.contains("COPY") || !matches!(event.step, Step::Access { .. }) {
                continue;
            }
            for (write, takes) in self.encoding.communication.sources[read].clone() {
                let place = self.encoding.structure.place(write);
                let initial = self.encoding.structure.is_initial(write);
                if initial && place.is_some_and(|place| !self.memory.is_defined(place)) {
                    let what = Wrong::Said(BadAccess::Undefined.message().to_string());
                    let (property, involved) = (Property::Memory, vec![read]);
                    self.suspect(Suspect { property, when: takes, what, thread: None, involved });
                }
            }
        }
    }

    /// A lock is given back by the thread that took it.
    pub fn unlocks(&mut self) {
        for unlock in 0..self.encoding.structure.initials {
            let event = &self.encoding.structure.events[unlock];
            if !event.tags.tags.contains("UNLOCK") || !event.kind.is_write() {
                continue;
            }
            let thread = event.thread;
            let mut wrong = Literal::TRUE;
            for write in 0..unlock {
                let own = &self.encoding.structure.events[write];
                let same = self.encoding.communication.same_place.get(&(write, unlock)).copied();
                let Some(same) = same.filter(|_| own.thread == thread && own.kind.is_write())
                else {
                    continue;
                };
                let takes = own.tags.tags.contains("LOCK_WRITE");
                let circuit = &mut self.encoding.circuit;
                let last = circuit.and(&[same, self.encoding.executed[write]]);
                let (bad, before) =
                    (circuit.and(&[last, Literal::constant(!takes)]), circuit.and(&[!last, wrong]));
                wrong = circuit.or(&[bad, before]);
            }
            let when = self.encoding.circuit.and(&[self.encoding.executed[unlock], wrong]);
            let message = "unlock by a thread that does not hold the lock".to_string();
            let (property, involved) = (Property::Lock, vec![unlock]);
            self.suspect(Suspect {
                property,
                when,
                what: Wrong::Said(message),
                thread: None,
                involved,
            });
        }
    }

    /// Nobody uses an object after its end.
    pub fn after_ends(&mut self, late: &[Late]) {
        for Late { access, end, when } in late {
            self.late_use(*when, *access, *end);
        }
    }

    fn late_use(&mut self, when: Literal, access: usize, end: usize) {
        let what = Wrong::Said(BadAccess::Freed.message().to_string());
        let (property, involved) = (Property::Memory, vec![access, end]);
        self.suspect(Suspect { property, when, what, thread: None, involved });
    }

    /// Nobody uses an object that is freed, unless that happens before. `ordered` says of each
    /// pair of a use and an end whether it does.
    pub fn late_uses(&mut self, uses: &[Use], ordered: &[Literal]) {
        for (late, ordered) in uses.iter().zip(ordered) {
            let mut same = Vec::new();
            for (address, places) in &late.objects {
                let used = self.encoding.structure.events[late.access].address;
                let (used, ends) =
                    (self.one_of(used, places), self.one_of(late.address, &[*address]));
                same.push(self.encoding.circuit.and(&[used, ends]));
            }
            let same = self.encoding.circuit.or(&same);
            let executed = &self.encoding.executed;
            let happen = [executed[late.access], executed[late.end], same, !*ordered];
            let when = self.encoding.circuit.and(&happen);
            self.late_use(when, late.access, late.end);
        }
    }

    /// What the model's file finds wrong.
    pub fn flags(&mut self) {
        for (flag, raised) in std::mem::take(&mut self.encoding.flags) {
            let is_race = flag.contains("race");
            let property = if is_race { Property::Race } else { Property::Assert };
            let message = match is_race {
                true => "data race".to_string(),
                false => format!("the model flags '{flag}'"),
            };
            for Violation { when, events: involved } in raised {
                let what = Wrong::Said(message.clone());
                self.suspect(Suspect { property, when, what, thread: None, involved });
            }
        }
    }
}

/// An access, and the end of an object that it may be of.
pub struct Use {
    pub access: usize,
    pub end: usize,
    /// What is freed.
    pub address: Term,
    /// What models see last before the end, on each way to it.
    pub lasts: Vec<usize>,
    /// The objects that both may be of: where each starts, and where the access can be in it.
    pub objects: Vec<(u128, Vec<u128>)>,
}

/// Accesses and ends of objects that do not have the right order anyway. Those of other threads
/// only where the model says what happens before what.
pub fn uses(
    structure: &Structure,
    frees: &[Free],
    freed: &[Vec<u128>],
    objects: &[Object],
    by_model: bool,
) -> Vec<Use> {
    let mut found = Vec::new();
    for (free, addresses) in frees.iter().zip(freed) {
        let ends: Vec<&Object> = objects
            .iter()
            .filter(|object| addresses.contains(&u128::from(object.address)))
            .collect();
        let end = free.event as usize;
        let lasts = structure.last_seen(end);
        for (access, event) in structure.events.iter().enumerate() {
            let is_own = event.thread == Some(free.stop.thread);
            let is_before = is_own && access < end || !is_own && !by_model;
            let is_farewell = event.tags.tags.contains("LEAVE") && event.kind.is_read();
            let is_use = matches!(event.step, Step::Access { .. }) && event.thread.is_some();
            if !is_use
                || is_before
                || is_farewell
                || !structure.facts.together.contains(access, end)
            {
                continue;
            }
            let within = ends.iter().filter_map(|object| {
                let range = object.address..object.address + object.size.max(1);
                let inside = structure.places[access].iter().filter(|place| range.contains(place));
                let inside: Vec<u128> = inside.map(|place| u128::from(*place)).collect();
                (!inside.is_empty()).then(|| (u128::from(object.address), inside))
            });
            let objects: Vec<(u128, Vec<u128>)> = within.collect();
            if !objects.is_empty() {
                // An own access after the end learns nothing.
                let lasts = if is_own { Vec::new() } else { lasts.clone() };
                found.push(Use { access, end, address: free.address, lasts, objects });
            }
        }
    }
    found
}

/// What a read that only copies finds has no value in the bits in which what was written has none: all
/// of them, where nobody has written.
pub fn copy_what_is_open(
    encoding: &mut Encoding,
    memory: &Memory,
    copies: &[(u32, Term)],
    open_writes: &[(u32, Term)],
) {
    let open: FxHashMap<usize, Term> =
        open_writes.iter().map(|(write, bits)| (*write as usize, *bits)).collect();
    for (read, found) in copies {
        let read = *read as usize;
        let width = encoding.circuit.terms.width(*found);
        let is_fresh = encoding.structure.events[read].tags.tags.contains("FRESH");
        for (write, takes) in encoding.communication.sources[read].clone() {
            let place = encoding.structure.place(write);
            let is_initial = encoding.structure.is_initial(write);
            let is_undefined = is_initial && place.is_some_and(|place| !memory.is_defined(place));
            let none = if is_undefined && !is_fresh { u128::MAX } else { 0 };
            let none = encoding.circuit.terms.constant(Bits::new(width, none));
            let bits = open.get(&write).copied().unwrap_or(none);
            encoding.circuit.equal_where(takes, *found, bits);
        }
    }
}
