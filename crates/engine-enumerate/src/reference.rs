//! The slow, obviously right enumeration that the fast one is held to: every source for every
//! read, times every order of the writes to every location, with the model asked once at the
//! end by its reference interpreter.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use parallax_control::Control;
use parallax_machine::{Code, Limits};
use parallax_memory::reference::evaluate;
use parallax_memory::{Checker, Model};
use parallax_program::{Bits, Place, Program, Question};

use crate::image::Image;
use crate::path::Explorer;
use crate::skeleton::{Footprint, Kind, Skeleton, roles};
use crate::states::Observer;
use crate::term::Terms;
use crate::watch::Watch;
use crate::{Paths, for_each_combination, overlapping};

/// How often each final state is reached. Accesses whose addresses depend on reads must be words.
pub fn states(program: &Program, question: &Question, model: &Model) -> BTreeMap<Vec<Bits>, u64> {
    let code = Code::new(program);
    let image = Image::new(&code);
    let observer = Observer::new(question, &code, &image);
    let mut terms = Terms::default();
    let mut threads = paths(&code, &observer, None, &mut terms);
    let mut footprints = initial(&threads, &image, &terms);
    if overlapping(&footprints) {
        let smallest = footprints.iter().map(|at| at.bytes).min();
        threads = paths(&code, &observer, smallest, &mut terms);
        footprints = initial(&threads, &image, &terms);
    }
    let mut checker = Checker::new(model);
    let mut found = BTreeMap::new();
    for_each_combination(&threads, |paths| {
        let skeleton = Skeleton::new(paths, &footprints, &image, &mut terms);
        for_each_source(&skeleton, 0, &mut Vec::new(), &mut |sources| {
            let Some(values) = values(&skeleton, sources, &mut terms) else {
                return;
            };
            let places = places(&skeleton, &mut terms);
            let elsewhere = |(w, r): &(u32, u32)| places[*w as usize] != places[*r as usize];
            if sources.iter().any(elsewhere) {
                return;
            }
            skeleton.fill(&roles(model), &terms, Some(&places), &mut checker);
            for_each_order(&skeleton, &places, &mut |co| {
                let rf = checker.rf_mut();
                rf.clear();
                sources.iter().for_each(|(w, r)| rf.add(*w as usize, *r as usize));
                let order = checker.co_mut();
                order.clear();
                co.iter().for_each(|(a, b)| order.add(*a as usize, *b as usize));
                checker.rf_changed();
                checker.co_changed();
                let evaluation = evaluate(model, &checker.inputs()).expect("a model that runs");
                if !evaluation.allowed {
                    return;
                }
                let mut asked = vec![0; paths.len()];
                let state = observer.observed.iter().map(|observable| match observable.place {
                    Place::Variable { thread, width, .. } => {
                        let index = asked[thread as usize];
                        asked[thread as usize] += 1;
                        let term = paths[thread as usize].finals[index];
                        terms.evaluate(term).expect("known").extract(0, width)
                    }
                    Place::Memory { global, .. } => {
                        let last = |w: &&u32| !co.iter().any(|(earlier, _)| earlier == *w);
                        let last = skeleton.writes.iter().filter(last).map(|w| *w as usize);
                        let last = last.map(|w| (places[w], values[w]));
                        word_at(image.address(global), last, &image)
                    }
                });
                *found.entry(state.collect()).or_default() += 1;
            });
        });
        terms.forget_reads();
        ControlFlow::Continue(())
    });
    found
}

fn paths<'p>(
    code: &Code<'p>,
    observer: &Observer,
    granule: Option<u32>,
    terms: &mut Terms,
) -> Vec<Paths<'p>> {
    let starts = &code.program.threads;
    let explore = |(thread, start): (usize, _)| {
        let unlimited = Control::default();
        let mut explorer = Explorer {
            code,
            terms,
            limits: Limits::default(),
            granule,
            thread: thread as u32,
            threads: starts.len() as u32,
            asked: &observer.variables(thread as u32),
            memory: usize::MAX,
            watch: &mut Watch::new(&unlimited),
        };
        explorer.explore(start).ok().expect("supported")
    };
    starts.iter().enumerate().map(explore).collect()
}

/// The bytes that accesses with constant addresses touch, and where there are others, all words.
fn initial(threads: &[Paths<'_>], image: &Image, terms: &Terms) -> BTreeSet<Footprint> {
    let paths = threads.iter().flat_map(|paths| &paths.complete);
    let accesses = paths.flat_map(|path| &path.events).filter(|event| event.bytes > 0);
    let mut footprints = BTreeSet::new();
    let mut open = false;
    for access in accesses {
        match terms.as_constant(access.address) {
            Some(address) => {
                let (address, bytes) = (address.unsigned() as u64, access.bytes);
                footprints.insert(Footprint { address, bytes });
            }
            None => open = true,
        }
    }
    if open {
        let words = image.addresses();
        footprints.extend(words.map(|address| Footprint { address, bytes: 4 }));
    }
    footprints
}

/// Where each event accesses memory, once the values of reads are known.
fn places(skeleton: &Skeleton<'_, '_>, terms: &mut Terms) -> Vec<Option<Footprint>> {
    let mut place = |event: &crate::skeleton::Event<'_, '_>| match event.source {
        Some(source) if source.bytes > 0 => Some(Footprint {
            address: terms.evaluate(source.address).expect("known").unsigned() as u64,
            bytes: source.bytes,
        }),
        _ => event.footprint,
    };
    skeleton.events.iter().map(&mut place).collect()
}

/// The word that the last writes leave at an address.
fn word_at(
    address: u64,
    last: impl Iterator<Item = (Option<Footprint>, Bits)>,
    image: &Image,
) -> Bits {
    let mut bytes = image.value(address, 4).unsigned().to_le_bytes();
    for (place, value) in last {
        let place = place.expect("writes have a place");
        for at in 0..place.bytes {
            let offset = (place.address + u64::from(at)).wrapping_sub(address);
            if offset < 4 {
                bytes[offset as usize] = value.extract(at * 8, 8).unsigned() as u8;
            }
        }
    }
    Bits::new(32, u128::from_le_bytes(bytes))
}

type Pairs = Vec<(u32, u32)>;

fn for_each_source(
    skeleton: &Skeleton<'_, '_>,
    at: usize,
    sources: &mut Pairs,
    visit: &mut dyn FnMut(&Pairs),
) {
    let Some(read) = skeleton.reads.get(at) else {
        return visit(sources);
    };
    let place = |event: u32| skeleton.events[event as usize].footprint;
    let may_match = |write: &&u32| match (place(**write), place(*read)) {
        (Some(a), Some(b)) => a == b,
        _ => true,
    };
    for write in skeleton.writes.iter().filter(may_match) {
        sources.push((*write, *read));
        for_each_source(skeleton, at + 1, sources, visit);
        sources.pop();
    }
}

/// The values of all events, if the sources determine them and the paths are taken with them.
fn values(skeleton: &Skeleton<'_, '_>, sources: &Pairs, terms: &mut Terms) -> Option<Vec<Bits>> {
    terms.forget_reads();
    for _ in 0..=sources.len() {
        for (write, read) in sources {
            let Kind::Write { value } = skeleton.events[*write as usize].kind else {
                continue;
            };
            let Kind::Read { var, .. } = skeleton.events[*read as usize].kind else {
                continue;
            };
            let value = terms.evaluate(value);
            terms.assign(var, value);
        }
    }
    let taken = |constraint: &&crate::path::Constraint| {
        terms.evaluate(constraint.term).is_some_and(|bit| !bit.is_zero())
    };
    if !skeleton.constraints.iter().all(taken) {
        return None;
    }
    let value = |event: &crate::skeleton::Event<'_, '_>| match event.kind {
        Kind::Read { term, .. } | Kind::Write { value: term } => terms.evaluate(term),
        Kind::Fence => Some(Bits::zero(1)),
    };
    skeleton.events.iter().map(value).collect()
}

fn for_each_order(
    skeleton: &Skeleton<'_, '_>,
    places: &[Option<Footprint>],
    visit: &mut dyn FnMut(&Pairs),
) {
    let writes_to = |place: Option<Footprint>| -> Vec<u32> {
        let here = |w: &&u32| places[**w as usize] == place;
        skeleton.writes.iter().filter(here).copied().collect()
    };
    let initial = places.iter().take(skeleton.initials);
    let locations: Vec<Vec<u32>> = initial.map(|place| writes_to(*place)).collect();
    extend(&locations, &mut Vec::new(), visit);
}

fn extend(locations: &[Vec<u32>], co: &mut Pairs, visit: &mut dyn FnMut(&Pairs)) {
    let Some((location, rest)) = locations.split_first() else {
        return visit(co);
    };
    // The first write is the initial one.
    permutations(&mut location.clone(), 1, &mut |order| {
        let before = co.len();
        for (i, earlier) in order.iter().enumerate() {
            co.extend(order[i + 1..].iter().map(|later| (*earlier, *later)));
        }
        extend(rest, co, visit);
        co.truncate(before);
    });
}

fn permutations(items: &mut Vec<u32>, from: usize, visit: &mut dyn FnMut(&[u32])) {
    if from + 1 >= items.len() {
        return visit(items);
    }
    for i in from..items.len() {
        items.swap(from, i);
        permutations(items, from + 1, visit);
        items.swap(from, i);
    }
}
