//! From a program to the events that are encoded.
//!
//! How an access is cut into parts, and whether something can be wrong with it, depends on where
//! all others go; so the program is unfolded again and again, until nothing new is learned.

use std::collections::BTreeMap;

use parallax_machine::Code;
use parallax_memory::{Language, Model};
use parallax_solver::Terms;
use parallax_verdict::Reason;

use crate::addresses::{Addresses, Premises, Use, addresses};
use crate::cells::{Access, accesses, apart, cuts};
use crate::ends;
use crate::event::Step;
use crate::memory::Memory;
use crate::options::Bound;
use crate::refusal::{reason, stopped};
use crate::sections::Sections;
use crate::structure::{Refusal, Structure};
use crate::unfold::{Callees, Ends, Obstruction, Plan, Private, Unfolding, unfold};
use crate::watch::Watch;

pub struct Preparation<'a, 'p> {
    pub code: &'a Code<'p>,
    pub model: &'a Model,
    pub bound: Bound,
    /// Which values inputs may have.
    pub nondet: Option<(i128, i128)>,
    /// Whether numbers are integers, and no machine words.
    pub integers: bool,
    /// Whether races are found, so that accesses in several parts need not be one.
    pub has_races: bool,
    /// How atomic sections are taken.
    pub sections: Option<Sections>,
    /// Whether it is asked if accesses come after the ends of their objects, by a model that does
    /// not say what happens before what.
    pub asks_for_ends: bool,
    /// Whether it is asked which threads wait for ever.
    pub asks_for_waits: bool,
    /// Whether values that nobody has given must not decide anything.
    pub asks_for_undefined: bool,
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

/// After so many rounds no more is taken for known: each value that is may let a loop go on, and
/// show another one.
const FREE_ROUNDS: usize = 12;

const ANYWHERE: &str = "an access that may go to too many addresses";
const MIXED: &str = "an access of mixed size that others may interrupt";

pub fn prepare(preparation: &Preparation<'_, '_>, watch: &Watch<'_>) -> Result<Prepared, Reason> {
    let mut plan = Plan {
        bound: preparation.bound,
        nondet: preparation.nondet,
        traces: preparation.model.asks_for_dependencies(),
        lives: true,
        waits: preparation.asks_for_waits,
        sections: preparation.sections,
        asks_for_undefined: preparation.asks_for_undefined,
        ..Plan::default()
    };
    let premises = preparation.premises();
    for round in 0..MOST_ROUNDS {
        let mut unfolding = unfold(preparation.code, &plan, watch).map_err(Obstruction::reason)?;
        let memory = Memory::of_program(preparation.code, unfolding.objects.clone())
            .ok_or_else(|| reason("the globals of the program are too large"))?;
        let mut terms = std::mem::take(&mut unfolding.values.terms);
        let checked = unfolding.checked.iter().map(|access| (access.address, access.stop.guard));
        let frees = unfolding.frees.iter().map(|free| (free.address, free.stop.guard));
        let calls = unfolding.calls.iter().map(|call| (call.address, call.guard));
        let others = checked.chain(frees).chain(calls);
        let others: Vec<Use> = others.map(|(address, guard)| Use { address, guard }).collect();
        let found = addresses(&unfolding.events, &others, &terms, &memory, premises, watch);
        watch.check().map_err(stopped)?;
        if preparation.learn(&unfolding, &terms, &found, &memory, &mut plan, round >= FREE_ROUNDS) {
            continue;
        }
        let (checked, freed) = split(&unfolding, &found);
        let mut within = found.within;
        ends::place(&unfolding, &freed, &mut within);
        let events = std::mem::take(&mut unfolding.events);
        let structure = match Structure::new(events, &within, &mut terms, &memory, &[], watch) {
            Ok(structure) => structure,
            Err(Refusal::Overlap) => return Err(reason("accesses overlap in part")),
            Err(Refusal::Anywhere) => return Err(reason(ANYWHERE)),
        };
        watch.check().map_err(stopped)?;
        return Ok(Prepared { unfolding, terms, structure, memory, checked, freed });
    }
    Err(reason("unfolding the program does not settle where its accesses go"))
}

/// Which addresses are known of checked accesses, and of ends of objects.
fn split(unfolding: &Unfolding, found: &Addresses) -> (Vec<Vec<u128>>, Vec<Vec<u128>>) {
    let known = found.others.iter().map(|places| places.clone().unwrap_or_default());
    let mut known: Vec<Vec<u128>> = known.collect();
    known.truncate(unfolding.checked.len() + unfolding.frees.len());
    let mut freed = known.split_off(unfolding.checked.len());
    for (places, found) in freed.iter_mut().zip(&found.others[unfolding.checked.len()..]) {
        if found.is_none() {
            *places = unfolding.objects.iter().map(|object| u128::from(object.address)).collect();
        }
    }
    (known, freed)
}

impl Preparation<'_, '_> {
    fn premises(&self) -> Premises {
        let grounded = self.model.facts().is_grounded;
        let coherent = self.model.implies_coherence();
        Premises { coherent, grounded, words: !self.integers }
    }

    /// Whether there is something that the next unfolding has to know.
    fn learn(
        &self,
        unfolding: &Unfolding,
        terms: &Terms,
        found: &Addresses,
        memory: &Memory,
        plan: &mut Plan,
        is_late: bool,
    ) -> bool {
        let mut learned = suspect(unfolding, found, memory, plan);
        if let Some(sections) = plan.sections.as_mut().filter(|_| unfolding.stays_inside) {
            learned |= !sections.may_stay;
            sections.may_stay = true;
        }
        let mut known = known_values(unfolding, found);
        let mut callees = callees(unfolding, found);
        if is_late {
            known.retain(|key, value| plan.known.get(key) == Some(value));
            for (key, before) in &plan.callees {
                callees.entry(*key).or_default().extend(before);
            }
        }
        let all = accesses(&unfolding.events, &found.within);
        let cuts = cuts(&all);
        let mut private = self.private(&all, unfolding, terms, memory);
        if is_late {
            private.retain(|place, _| plan.private.contains_key(place));
        }
        let ends = match self.asks_for_ends {
            true => ends::parts(unfolding, &split(unfolding, found).1, &found.within),
            false => Ends::new(),
        };
        learned |= known != plan.known || callees != plan.callees || ends != plan.ends;
        learned |= cuts != plan.cuts || private != plan.private;
        (plan.known, plan.callees, plan.ends) = (known, callees, ends);
        (plan.cuts, plan.private) = (cuts, private);
        // Only where nothing else can be found out, something is given up.
        learned || self.lose(unfolding, found, &all, plan)
    }

    /// The places that one thread accesses and no other, always as a whole, and where it is known
    /// beforehand that it does: what is written through an address that is computed only in an
    /// execution would not be noticed.
    fn private(
        &self,
        all: &[Access],
        unfolding: &Unfolding,
        terms: &Terms,
        memory: &Memory,
    ) -> Private {
        if !self.model.implies_coherence() {
            return Private::new();
        }
        // The thread, if it is one.
        let mut places: BTreeMap<(u64, u32), Option<u32>> = BTreeMap::new();
        for access in all {
            let address = unfolding.events[access.event].address;
            let thread = Some(access.thread).filter(|_| terms.as_constant(address).is_some());
            for place in &access.places {
                let known = places.entry((*place, access.bytes)).or_insert(thread);
                *known = thread.filter(|_| *known == thread);
            }
        }
        let footprints: Vec<(u64, u32)> = places.keys().copied().collect();
        let alone = apart(&footprints).into_iter().filter(|at| places[at].is_some());
        alone.map(|(place, bytes)| (place, memory.initial(place, bytes))).collect()
    }

    /// Gives accesses up that may go anywhere, or cannot be taken in parts.
    fn lose(
        &self,
        unfolding: &Unfolding,
        found: &Addresses,
        all: &[Access],
        plan: &mut Plan,
    ) -> bool {
        let before = plan.lost.len();
        for (number, event) in unfolding.events.iter().enumerate() {
            if let (Some(thread), Step::Access { .. }) = (event.thread, event.step)
                && found.computed[number].is_none()
            {
                plan.lost.insert((thread, event.access), ANYWHERE);
            }
        }
        self.mixed(unfolding, all, plan);
        for (thread, read, write) in pairs(unfolding) {
            if let Some(why) = plan.lost.get(&(thread, write)).copied() {
                plan.lost.insert((thread, read), why);
            }
        }
        plan.lost.len() > before
    }

    /// Accesses in several parts are one where the model says so. Where it does not, atomic ones
    /// are beyond the engine, and others where races are no errors: in C they are, and who cannot
    /// race cannot come between the parts.
    fn mixed(&self, unfolding: &Unfolding, all: &[Access], plan: &mut Plan) {
        if self.model.knows_sizes() {
            return;
        }
        let is_of_c = self.model.languages().iter().eq([&Language::C]);
        let are_errors = self.has_races || is_of_c;
        for access in all.iter().filter(|a| plan.cuts.contains_key(&(a.thread, a.number))) {
            let event = &unfolding.events[access.event];
            if event.tags.tags.contains("NA") && are_errors {
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
                plan.lost.insert((access.thread, access.number), MIXED);
            }
        }
    }
}

/// Whether there are new accesses that may go wrong. The check of a read-modify-write is made with
/// its read.
fn suspect(unfolding: &Unfolding, found: &Addresses, memory: &Memory, plan: &mut Plan) -> bool {
    let before = plan.suspects.len();
    for (number, event) in unfolding.events.iter().enumerate() {
        let (Some(thread), Step::Access { .. }) = (event.thread, event.step) else {
            continue;
        };
        let (bytes, writes) = (event.bytes, event.kind.is_write());
        let mut places = found.computed[number].iter().flatten();
        if places.any(|place| !memory.surely_allows(*place, bytes, writes)) {
            plan.suspects.insert((thread, event.access));
        }
    }
    for (thread, read, write) in pairs(unfolding) {
        if plan.suspects.contains(&(thread, write)) {
            plan.suspects.insert((thread, read));
        }
    }
    plan.suspects.len() > before
}

/// The reads and writes of single instructions: thread, and numbers of the accesses.
fn pairs(unfolding: &Unfolding) -> Vec<(u32, u32, u32)> {
    let mut all = Vec::new();
    for event in &unfolding.events {
        let (Some(thread), write) = (event.thread, event.access) else { continue };
        let single = event.pairs.iter().filter(|pair| pair.is_single);
        all.extend(single.map(|pair| (thread, unfolding.events[pair.read as usize].access, write)));
    }
    all
}

/// The addresses that are called, where they are known.
fn callees(unfolding: &Unfolding, found: &Addresses) -> Callees {
    let places = found.others.iter().skip(unfolding.checked.len() + unfolding.frees.len());
    let calls = unfolding.calls.iter().zip(places);
    let known = calls.filter_map(|(call, places)| {
        places.as_ref().map(|places| (call.key, places.iter().copied().collect()))
    });
    known.collect()
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
