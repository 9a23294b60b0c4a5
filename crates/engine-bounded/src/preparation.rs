//! From a program to the events that are encoded.
//!
//! How an access is cut into parts, and whether something can be wrong with it, depends on where
//! all others go; so the program is unfolded again and again, until nothing new is learned.

use std::collections::BTreeMap;

use parallax_machine::Code;
use parallax_memory::Model;
use parallax_program::Diagnostic;
use parallax_solver::{Term, Terms};
use parallax_verdict::Reason;

use crate::addresses::{Addresses, addresses};
use crate::cells::{Access, accesses, cuts};
use crate::event::Step;
use crate::memory::Memory;
use crate::structure::{Refusal, Structure};
use crate::unfold::{Obstruction, Plan, Unfolding, unfold};
use crate::watch::Watch;

pub struct Preparation<'a, 'p> {
    pub code: &'a Code<'p>,
    pub model: &'a Model,
    pub bound: u32,
    /// Which values inputs may have.
    pub nondet: Option<(i128, i128)>,
    /// Whether races are found, so that accesses in several parts need not be one.
    pub has_races: bool,
}

/// A program, ready to be encoded. The events and the terms are taken out of the unfolding.
pub struct Prepared {
    pub unfolding: Unfolding,
    pub terms: Terms,
    pub structure: Structure,
    pub memory: Memory,
    /// The addresses that each checked access, and each end of an object, can have.
    pub checked: Vec<Vec<u128>>,
    pub freed: Vec<Vec<u128>>,
}

/// So often a program is unfolded.
const MOST_ROUNDS: usize = 64;

const ANYWHERE: &str = "an access that may go to too many addresses";
const MIXED: &str = "an access of mixed size that others may interrupt";

/// The inner error is why there is no answer.
pub fn prepare(
    preparation: &Preparation<'_, '_>,
    watch: &mut Watch<'_>,
) -> Result<Result<Prepared, Reason>, Diagnostic> {
    let mut plan = Plan {
        bound: preparation.bound,
        nondet: preparation.nondet,
        traces: asks_for_dependencies(preparation.model),
        lives: true,
        ..Plan::default()
    };
    for _ in 0..MOST_ROUNDS {
        let mut unfolding = match unfold(preparation.code, &plan, watch) {
            Ok(unfolding) => unfolding,
            Err(Obstruction::Stopped) => return Ok(Err(reason("the search was stopped"))),
            Err(Obstruction::TooLarge(error)) => {
                let help = error.help.clone();
                return Ok(Err(Reason { message: error.message, place: None, help }));
            }
        };
        let memory = Memory::of_program(preparation.code, unfolding.objects.clone())
            .ok_or_else(|| Diagnostic::new("the globals of the program are too large"))?;
        let mut terms = std::mem::take(&mut unfolding.values.terms);
        let others: Vec<Term> = unfolding
            .checked
            .iter()
            .map(|access| access.address)
            .chain(unfolding.frees.iter().map(|free| free.address))
            .collect();
        let found = addresses(&unfolding.events, &others, &terms, &memory);
        if preparation.learn(&unfolding, &found, &memory, &mut plan) {
            continue;
        }
        let (checked, freed) = split(&unfolding, &found);
        let events = std::mem::take(&mut unfolding.events);
        let structure = match Structure::new(events, &mut terms, &memory, &[]) {
            Ok(structure) => structure,
            Err(Refusal::Overlap) => return Ok(Err(reason("accesses overlap in part"))),
            Err(Refusal::Anywhere) => return Ok(Err(reason(ANYWHERE))),
        };
        return Ok(Ok(Prepared { unfolding, terms, structure, memory, checked, freed }));
    }
    Ok(Err(reason("unfolding the program does not settle where its accesses go")))
}

fn reason(message: &str) -> Reason {
    Reason { message: message.to_string(), place: None, help: None }
}

/// Which addresses are known of checked accesses, and of ends of objects.
fn split(unfolding: &Unfolding, found: &Addresses) -> (Vec<Vec<u128>>, Vec<Vec<u128>>) {
    let known = found.others.iter().map(|places| places.clone().unwrap_or_default());
    let mut known: Vec<Vec<u128>> = known.collect();
    let mut freed = known.split_off(unfolding.checked.len());
    for (places, found) in freed.iter_mut().zip(&found.others[unfolding.checked.len()..]) {
        if found.is_none() {
            *places = unfolding.objects.iter().map(|object| u128::from(object.address)).collect();
        }
    }
    (known, freed)
}

impl Preparation<'_, '_> {
    /// Whether there is something that the next unfolding has to know.
    fn learn(
        &self,
        unfolding: &Unfolding,
        found: &Addresses,
        memory: &Memory,
        plan: &mut Plan,
    ) -> bool {
        let mut learned = false;
        for (number, event) in unfolding.events.iter().enumerate() {
            let (Some(thread), Step::Access { whole }) = (event.thread, event.step) else {
                continue;
            };
            let key = (thread, event.access);
            match &found.computed[number] {
                None => learned |= plan.lost.insert(key, ANYWHERE).is_none(),
                Some(places) => {
                    let bytes = if event.bytes == whole { whole } else { event.bytes };
                    let writes = event.kind.is_write();
                    let bad = places.iter().any(|place| !memory.allows(*place, bytes, writes));
                    learned |= bad && plan.suspects.insert(key);
                }
            }
        }
        learned |= self.pair_suspects(unfolding, plan);
        let all = accesses(&unfolding.events, &found.within);
        learned |= self.mixed(unfolding, &all, plan);
        let known = known_values(unfolding, found);
        if known != plan.known {
            learned = true;
            plan.known = known;
        }
        let cuts = cuts(&all);
        if cuts != plan.cuts {
            learned = true;
            plan.cuts = cuts;
        }
        learned
    }

    /// The check of a read-modify-write is made with its read, whose number is one less.
    fn pair_suspects(&self, unfolding: &Unfolding, plan: &mut Plan) -> bool {
        let mut learned = false;
        for event in unfolding.events.iter().filter(|event| !event.pairs.is_empty()) {
            let Some(thread) = event.thread else { continue };
            for pair in event.pairs.iter().filter(|pair| pair.is_single) {
                let read = unfolding.events[pair.read as usize].access;
                if plan.suspects.contains(&(thread, event.access)) {
                    learned |= plan.suspects.insert((thread, read));
                }
                if let Some(why) = plan.lost.get(&(thread, event.access)).copied() {
                    learned |= plan.lost.insert((thread, read), why).is_none();
                }
            }
        }
        learned
    }

    /// Accesses in several parts are one where the model says so. Where it does not, atomic ones
    /// are beyond the engine, and others where races are no errors.
    fn mixed(&self, unfolding: &Unfolding, all: &[Access], plan: &mut Plan) -> bool {
        if self.model.input("si").is_some() {
            return false;
        }
        let mut learned = false;
        for access in all.iter().filter(|a| plan.cuts.contains_key(&(a.thread, a.number))) {
            let event = &unfolding.events[access.event];
            if !event.tags.tags.contains("A") && self.has_races {
                continue;
            }
            let meets = |other: &&Access| {
                other.thread != access.thread
                    && other.places.iter().any(|place| {
                        access.places.iter().any(|own| {
                            own.abs_diff(*place) < u64::from(access.bytes.max(other.bytes))
                        })
                    })
            };
            if all.iter().any(|other| meets(&other)) {
                learned |= plan.lost.insert((access.thread, access.number), MIXED).is_none();
            }
        }
        learned
    }
}

/// The accesses that can read one value only.
fn known_values(unfolding: &Unfolding, found: &Addresses) -> BTreeMap<(u32, u32), u128> {
    let mut known = BTreeMap::new();
    for (number, event) in unfolding.events.iter().enumerate() {
        let (Some(thread), Step::Access { whole }) = (event.thread, event.step) else {
            continue;
        };
        if let Some([only]) = found.values[number].as_deref().filter(|_| event.bytes == whole) {
            known.insert((thread, event.access), *only);
        }
    }
    known
}

/// Whether a model asks which reads a value comes from.
fn asks_for_dependencies(model: &Model) -> bool {
    let names = ["addr", "data", "ctrl", "pick-addr", "pick-data", "pick-ctrl"];
    names.iter().any(|name| model.input(name).is_some())
}
