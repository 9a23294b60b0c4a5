//! The slow, obviously right enumeration that the fast one is held to: every source for every
//! read, times every order of the writes to every location, with the model asked once at the
//! end by its reference interpreter.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

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
use crate::{Paths, for_each_combination};

/// How often each final state is reached. Accesses must all have one size, and addresses be
/// constant.
pub fn states(program: &Program, question: &Question, model: &Model) -> BTreeMap<Vec<Bits>, u64> {
    let code = Code::new(program);
    let image = Image::new(&code);
    let observer = Observer::new(question, &code, &image);
    let mut terms = Terms::default();
    let mut threads: Vec<Paths<'_>> = Vec::new();
    for (thread, start) in program.threads.iter().enumerate() {
        let mut explorer = Explorer {
            code: &code,
            terms: &mut terms,
            limits: Limits::default(),
            granule: None,
            thread: thread as u32,
            threads: program.threads.len() as u32,
            asked: &observer.variables(thread as u32),
            memory: usize::MAX,
            watch: &mut Watch::new(None, None),
        };
        threads.push(explorer.explore(start).ok().expect("supported"));
    }
    let footprints: BTreeSet<Footprint> = image
        .addresses()
        .map(|address| Footprint { address, bytes: 4 })
        .collect();
    let mut checker = Checker::new(model);
    let mut found = BTreeMap::new();
    for_each_combination(&threads, |paths| {
        let skeleton = Skeleton::new(paths, &footprints, &image, &mut terms);
        assert!(skeleton.addresses_known);
        skeleton.fill(&roles(model), &terms, None, &mut checker);
        for_each_source(&skeleton, 0, &mut Vec::new(), &mut |sources| {
            let Some(values) = values(&skeleton, sources, &mut terms) else {
                return;
            };
            for_each_order(&skeleton, &footprints, &mut |co| {
                let rf = checker.rf_mut();
                rf.clear();
                sources
                    .iter()
                    .for_each(|(w, r)| rf.add(*w as usize, *r as usize));
                let order = checker.co_mut();
                order.clear();
                co.iter()
                    .for_each(|(a, b)| order.add(*a as usize, *b as usize));
                checker.rf_changed();
                checker.co_changed();
                let evaluation = evaluate(model, &checker.inputs()).expect("a model that runs");
                if !evaluation.allowed {
                    return;
                }
                let mut asked = vec![0; paths.len()];
                let state = observer
                    .observed
                    .iter()
                    .map(|observable| match observable.place {
                        Place::Variable { thread, width, .. } => {
                            let index = asked[thread as usize];
                            asked[thread as usize] += 1;
                            let term = paths[thread as usize].finals[index];
                            terms.evaluate(term).expect("known").extract(0, width)
                        }
                        Place::Memory { global, .. } => {
                            let address = image.address(global);
                            let here = |w: &&u32| {
                                let at = skeleton.events[**w as usize].footprint;
                                at.is_some_and(|at| at.address == address)
                            };
                            let last = skeleton
                                .writes
                                .iter()
                                .filter(here)
                                .find(|w| !co.iter().any(|(earlier, _)| earlier == *w));
                            values[*last.expect("an initial write") as usize]
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
    for write in skeleton
        .writes
        .iter()
        .filter(|write| place(**write) == place(*read))
    {
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
        terms
            .evaluate(constraint.term)
            .is_some_and(|bit| !bit.is_zero())
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
    footprints: &BTreeSet<Footprint>,
    visit: &mut dyn FnMut(&Pairs),
) {
    let writes_to = |footprint: &Footprint| -> Vec<u32> {
        let here = |w: &&u32| skeleton.events[**w as usize].footprint == Some(*footprint);
        skeleton.writes.iter().filter(here).copied().collect()
    };
    let locations: Vec<Vec<u32>> = footprints.iter().map(writes_to).collect();
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
