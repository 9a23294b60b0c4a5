//! What verdicts mean in SV-COMP, the competition on software verification.
//!
//! Its properties are close to ours, but not the same. A property file asks for one thing, and what is
//! wrong besides is no violation of it: a read of memory that nobody has written is no invalid
//! dereference, a division by zero no overflow, and what is still pointed to at the end is tracked. An
//! execution that shows only such a thing leaves the answer open, since C says nothing about what
//! comes after it. The rules are those of the competition's page "Definitions and Rules".

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use parallax_engine_inductive::reachable;
use parallax_frontend_c::{Formula, Formulas};
use parallax_machine::system::BadAccess;
use parallax_program::{AllocKind, Expr, InstKind, Program, Property};
use parallax_verdict::{
    Conclusion, Event, EventKind, Execution, Life, Reason, Scope, ThreadEnding, Verdict, Violation,
};

/// A verdict as the competition counts it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ruling {
    True,
    /// Which property, or which part of it, is violated.
    False(&'static str),
    Unknown(String),
}

impl fmt::Display for Ruling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ruling::True => f.write_str("true"),
            Ruling::False(part) => write!(f, "false({part})"),
            Ruling::Unknown(reason) => write!(f, "unknown ({reason})"),
        }
    }
}

/// A question as the competition asks it.
pub struct Competition<'a> {
    pub formulas: &'a Formulas,
    pub program: Option<&'a Program>,
}

impl Competition<'_> {
    /// Leaves only violations of what is asked. Where there were others alone, nothing is known, and
    /// neither where a leak may hide from who has searched.
    pub fn settle(&self, mut verdict: Verdict, sees_lost: bool) -> Verdict {
        let asked = &self.formulas.formulas;
        let hides = match asked.contains(&Formula::ValidMemcleanup) {
            true => true,
            false => asked.contains(&Formula::ValidMemtrack) && !sees_lost,
        };
        if verdict.conclusion() == Conclusion::Safe && hides && may_hide_leaks(self.program) {
            return verdict.withdrawn(open(HIDDEN.to_string(), None));
        }
        if verdict.conclusion() != Conclusion::Unsafe {
            return verdict;
        }
        let mut others = Vec::new();
        let mut own = Vec::new();
        for violation in std::mem::take(&mut verdict.violations) {
            match self.part(&violation) {
                Ok(_) => own.push(violation),
                Err(why) => others.push(open(why, violation.place)),
            }
        }
        match (own.is_empty(), others.into_iter().next()) {
            (true, Some(reason)) => verdict.withdrawn(reason),
            _ => {
                verdict.violations = own;
                verdict
            }
        }
    }

    /// A verdict in the words of the competition.
    pub fn ruling(&self, verdict: &Verdict) -> Ruling {
        match (verdict.conclusion(), verdict.scope) {
            (Conclusion::Safe, Some(Scope::Complete)) => Ruling::True,
            (Conclusion::Safe, Some(Scope::Bounded(rounds))) => {
                Ruling::Unknown(format!("safe up to {rounds} rounds of each loop"))
            }
            (Conclusion::Safe, _) => {
                Ruling::Unknown("safe as far as options let it be searched".to_string())
            }
            (Conclusion::Unsafe, _) => {
                let parts = verdict.violations.iter().map(|violation| self.part(violation));
                match parts.into_iter().next() {
                    Some(Ok(part)) => Ruling::False(part),
                    Some(Err(why)) => Ruling::Unknown(why),
                    None => Ruling::Unknown("there is no violation to show".to_string()),
                }
            }
            (Conclusion::Unknown, _) => {
                let reason = verdict.reason.as_ref().map(|reason| reason.message.clone());
                Ruling::Unknown(reason.unwrap_or_else(|| "no reason is known".to_string()))
            }
        }
    }

    /// Which part of what is asked is violated; the error says why it is none.
    fn part(&self, violation: &Violation) -> Result<&'static str, String> {
        let asked = |formula: Formula| self.formulas.formulas.contains(&formula);
        let part = match violation.property {
            Property::Race if is_about_a_number(violation) => return Err(LATE_NUMBER.to_string()),
            Property::Race => Formula::NoRace,
            _ if looks_for_a_number_early(&violation.execution) => {
                return Err(LATE_NUMBER.to_string());
            }
            Property::Memory if is_late_free(violation) => Formula::ValidFree,
            Property::Leak if asked(Formula::ValidMemcleanup) => Formula::ValidMemcleanup,
            Property::Leak if is_lost(self.program, violation) => Formula::ValidMemtrack,
            Property::Leak => return Err(MAY_BE_TRACKED.to_string()),
            property => formula_of(property, &violation.message, &self.formulas.calls())
                .ok_or_else(|| format!("{}, and what follows is open", violation.message))?,
        };
        match asked(part.clone()) {
            true => Ok(part.name()),
            false => Err(format!("{}, and what follows is open", violation.message)),
        }
    }
}

/// Most engines do not look for objects where a call of the library ends the program, or where its
/// first thread does, and others that nobody waits for are on their way.
pub(crate) fn may_hide_leaks(program: Option<&Program>) -> bool {
    let Some(program) = program else { return false };
    let all = reachable(program);
    let functions = all.iter().filter_map(|id| program.functions.get(id.0 as usize));
    let blocks = functions.flat_map(|function| &function.blocks);
    let kinds = || blocks.clone().flat_map(|block| &block.insts).map(|inst| &inst.kind);
    let is_end = |kind: &InstKind| match kind {
        InstKind::Assume { condition: Expr::Const(never) } => never.is_zero(),
        _ => false,
    };
    let is_heap = |kind: &InstKind| matches!(kind, InstKind::Alloc { kind: AllocKind::Heap, .. });
    let starts = kinds().any(|kind| matches!(kind, InstKind::Spawn { .. }));
    let waits = kinds().any(|kind| matches!(kind, InstKind::Join { .. }));
    kinds().any(is_heap) && (kinds().any(is_end) || starts && !waits)
}

/// Why nothing follows from what comes before a thread's number is stored.
const LATE_NUMBER: &str = "the number of a thread may be stored late";

/// Why nothing is known of objects there.
pub(crate) const HIDDEN: &str = "objects that are left where the program ends early are not seen";

/// Of an object that is never freed, and not lost.
pub(crate) const MAY_BE_TRACKED: &str = "an object is never freed, and may be pointed to";

/// Whether an object that is never freed is pointed to by nothing at the end.
pub(crate) fn is_lost(program: Option<&Program>, violation: &Violation) -> bool {
    let execution = &violation.execution;
    let bytes = program.map_or(8, |program| u64::from(program.pointer_width.div_ceil(8)));
    let made = violation.involved.first();
    let made = made.and_then(|event| execution.events.get(*event as usize));
    let Some(EventKind::Alloc { address, size, .. }) = made.map(|event| &event.kind) else {
        return false;
    };
    let has_ended = |ending| ending == ThreadEnding::Ended;
    !execution.standings.is_empty()
        && execution.standings.iter().all(|standing| has_ended(standing.ending))
        && !points_to(&memory_at_end(execution), bytes, *address, *size)
}

/// That nothing is concluded.
fn open(message: String, place: Option<parallax_program::Location>) -> Reason {
    Reason { message, place, help: None }
}

/// What a failure violates, if that is something that the competition asks for. `calls` are the
/// functions that must not be called. Divisions by zero and shifts by too much have no value that
/// could be too large, and what nobody has written may be read.
pub(crate) fn formula_of(property: Property, message: &str, calls: &[String]) -> Option<Formula> {
    let is = |wrong: &[BadAccess]| wrong.iter().any(|wrong| wrong.message() == message);
    let frees = [BadAccess::FreeOfNoObject, BadAccess::DoubleFree];
    let accesses = [BadAccess::Null, BadAccess::Wild, BadAccess::OutOfBounds, BadAccess::Freed];
    match property {
        Property::Assert => {
            let called = calls.iter().find(|name| message == format!("{name} is called"));
            called.map(|name| Formula::NoCall(name.clone()))
        }
        Property::Overflow => {
            message.starts_with("signed integer overflow").then_some(Formula::NoOverflow)
        }
        Property::Memory if is(&frees) => Some(Formula::ValidFree),
        Property::Memory if is(&accesses) => Some(Formula::ValidDeref),
        _ => None,
    }
}

/// Whether what comes after the end of an object is another end of it.
fn is_late_free(violation: &Violation) -> bool {
    let [first, _] = violation.involved[..] else { return false };
    let first = violation.execution.events.get(first as usize);
    let frees = first.is_some_and(|event| matches!(event.kind, EventKind::Free { .. }));
    frees && violation.message == BadAccess::Freed.message()
}

/// The thread whose number an event stores where it was started, if it is such a store.
fn numbered(events: &[Event], store: &Event) -> Option<u32> {
    let EventKind::Write { value, .. } = &store.kind else { return None };
    let here =
        events.iter().filter(|event| event.thread == store.thread && event.place == store.place);
    let mut started = here.filter_map(|event| match event.kind.life() {
        Some(Life::Start(number)) => Some(number),
        _ => None,
    });
    started.find(|number| u128::from(*number) + 1 == value.unsigned())
}

/// Whether a race is with the store of a thread's number where it was started. POSIX lets threads run
/// before that store is made; the competition takes it to be made before.
fn is_about_a_number(violation: &Violation) -> bool {
    let events = &violation.execution.events;
    let mut involved = violation.involved.iter().filter_map(|event| events.get(*event as usize));
    involved.any(|event| numbered(events, event).is_some())
}

/// Whether a thread looks for its own number where that is stored only later.
fn looks_for_a_number_early(execution: &Execution) -> bool {
    let events = &execution.events;
    let stores = events.iter().enumerate().filter_map(|(index, store)| {
        Some((index as u32, numbered(events, store)?, store.kind.footprint()?))
    });
    let stores: Vec<(u32, u32, (u64, u32))> = stores.collect();
    execution.rf.iter().any(|(source, read)| {
        let (Some(from), Some(to)) = (events.get(*source as usize), events.get(*read as usize))
        else {
            return false;
        };
        let Some((start, bytes)) = to.kind.footprint() else { return false };
        stores.iter().any(|(store, number, (address, size))| {
            let meets = *address < start.saturating_add(u64::from(bytes))
                && start < address.saturating_add(u64::from(*size));
            let is_before = from.thread.is_none() || execution.co.contains(&(*source, *store));
            to.thread == Some(*number) && meets && is_before
        })
    })
}

/// The bytes that the last writes have left, without those of objects that are gone.
fn memory_at_end(execution: &Execution) -> BTreeMap<u64, u8> {
    let kind = |event: u32| execution.events.get(event as usize).map(|event| &event.kind);
    let mut later: HashMap<u32, Vec<(u64, u64)>> = HashMap::new();
    for (earlier, write) in &execution.co {
        let footprint = kind(*write).and_then(EventKind::footprint);
        later.entry(*earlier).or_default().extend(
            footprint.map(|(address, size)| (address, address.saturating_add(u64::from(size)))),
        );
    }
    let mut memory = BTreeMap::new();
    let mut sizes: HashMap<u64, u64> = HashMap::new();
    for number in execution.schedule.iter().copied() {
        match kind(number) {
            Some(EventKind::Write { address, size, value, .. }) => {
                let overwritten = later.get(&number).map_or(&[][..], |later| later);
                let is_last = |place: &u64| {
                    !overwritten.iter().any(|(start, end)| (*start..*end).contains(place))
                };
                let bytes = value.unsigned().to_le_bytes().into_iter().take(*size as usize);
                memory.extend((*address..).zip(bytes).filter(|(place, _)| is_last(place)));
            }
            Some(EventKind::Alloc { address, size, .. }) => {
                sizes.insert(*address, *size);
            }
            _ => {}
        }
    }
    for event in &execution.events {
        if let EventKind::Free { address, .. } = event.kind {
            let size = sizes.get(&address).copied().unwrap_or(0);
            let gone = address..address.saturating_add(size);
            memory.retain(|place, _| !gone.contains(place));
        }
    }
    memory
}

/// Whether bytes in memory, outside of an object, are an address in it or just behind it.
fn points_to(memory: &BTreeMap<u64, u8>, bytes: u64, address: u64, size: u64) -> bool {
    let end = address.saturating_add(size);
    let value = |place: u64| {
        let parts = (0..bytes).map(|offset| {
            let byte = place.checked_add(offset).and_then(|place| memory.get(&place));
            u64::from(byte.copied().unwrap_or(0)) << (8 * offset)
        });
        parts.fold(0, |value, part| value | part)
    };
    let mut outside = memory.keys().filter(|place| !(address..end).contains(place));
    outside.any(|place| (address..=end).contains(&value(*place)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rulings_read_as_the_competition_has_them() {
        assert_eq!(Ruling::True.to_string(), "true");
        assert_eq!(Ruling::False("valid-deref").to_string(), "false(valid-deref)");
        assert_eq!(Ruling::Unknown("why".to_string()).to_string(), "unknown (why)");
    }

    #[test]
    fn pointers_are_found_wherever_they_lie() {
        let at = |place: u64, value: u64| -> BTreeMap<u64, u8> {
            (place..).zip(value.to_le_bytes()).collect()
        };
        assert!(points_to(&at(3, 0x1000), 8, 0x1000, 4));
        assert!(points_to(&at(8, 0x1004), 8, 0x1000, 4));
        assert!(!points_to(&at(8, 0x1005), 8, 0x1000, 4));
        // A pointer of an object to itself keeps it for nobody.
        assert!(!points_to(&at(0x1000, 0x1000), 8, 0x1000, 8));
    }

    #[test]
    fn only_what_has_a_value_overflows() {
        let overflow = |message| formula_of(Property::Overflow, message, &[]);
        assert_eq!(overflow("signed integer overflow in a division"), Some(Formula::NoOverflow));
        assert_eq!(overflow("division by zero"), None);
        assert_eq!(formula_of(Property::Memory, BadAccess::Undefined.message(), &[]), None);
    }
}
