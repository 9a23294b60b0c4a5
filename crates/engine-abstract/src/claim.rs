//! From a path and inputs to a claim, which the replayer can check without trusting the engine: the
//! edges are taken once more with numbers, and what happens is noted down.

use parallax_program::Property;
use parallax_solver::Term;
use parallax_verdict::{Claim, Source, Step, StepId, Story, Suspicion, ThreadEnding};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::block::{Blocks, Edge, Ending, Given, Inputs, Store, Way};
use crate::control::Control;
use crate::declarative::consistency::Order;
use crate::declarative::execution::{self, Execution, Id, Location};
use crate::declarative::sections;
use crate::oracle::{Model, Oracle};
use crate::refine::Path;

/// What a path comes to, as something that can be checked. The error says how it cannot be repeated.
pub fn suspicion(
    blocks: &mut Blocks<'_>,
    oracle: &mut Oracle<'_>,
    path: &Path,
    model: &Model,
) -> Result<Suspicion, String> {
    let last = path.edges.last().ok_or("there are no steps")?;
    let Ending::Fails { property, message, .. } = last.ending.clone() else {
        return Err("nothing fails".to_string());
    };
    let bytes: FxHashMap<Term, _> = model.iter().map(|(term, bits)| (*term, *bits)).collect();
    let given = Given { bytes, ..Given::default() };
    let before = std::mem::replace(&mut blocks.inputs, Inputs::Given(given));
    let followed = follow(blocks, oracle, path, model);
    let Inputs::Given(given) = std::mem::replace(&mut blocks.inputs, before) else {
        return Err("nothing is written down".to_string());
    };
    let control = followed?;
    let mut whole = None;
    if let Some(memory) = &mut blocks.graphs {
        let execution = path.whole().execution;
        if sections::has_intruder(&execution) {
            return Err("an access may fall into an atomic section".to_string());
        }
        let order = memory.consistency.order(&execution)?;
        whole = Some((execution, order));
    }
    relate(blocks, given, &control, last, (property, message), whole)
}

/// Takes the steps of a path.
fn follow(
    blocks: &mut Blocks<'_>,
    oracle: &mut Oracle<'_>,
    path: &Path,
    model: &Model,
) -> Result<Control, String> {
    let (mut control, writes) = blocks.start();
    let mut store: Store = writes.into_iter().collect();
    for (edge, (values, made)) in path.edges.iter().zip(path.inputs(blocks, model)) {
        if let Inputs::Given(given) = &mut blocks.inputs {
            given.turn_to(values, made);
        }
        let way = Way::Trail(&edge.trail);
        let edges = blocks.edges(oracle, &control, &store, edge.thread, way);
        let edges = edges.map_err(|_| "a step cannot be repeated")?;
        let [taken] = &edges[..] else { return Err("a step has not one outcome".to_string()) };
        if taken.guard.iter().any(|it| !blocks.values.is_true(*it)) || taken.ending != edge.ending {
            return Err("a step leads elsewhere".to_string());
        }
        store.extend(taken.writes.iter().copied());
        control = taken.control.clone();
    }
    Ok(control)
}

fn relate(
    blocks: &Blocks<'_>,
    given: Given,
    control: &Control,
    last: &Edge,
    (property, message): (Property, String),
    whole: Option<(Execution, Order)>,
) -> Result<Suspicion, String> {
    let count = control.threads.len();
    let log = given.story.log;
    let mut story = Story::new(&log, count);
    let mut shared: Vec<Vec<StepId>> = vec![Vec::new(); count];
    for (number, record) in log.iter().enumerate() {
        let parts = story.add(record);
        if given.story.shared.binary_search(&number).is_ok() {
            let [(_, step)] = parts[..] else { return Err("an access has parts".to_string()) };
            shared[record.thread as usize].push(step);
        }
    }
    story.flush_all();
    let is_over = |number: u32| number == 0 && blocks.code.program.daemons;
    let ending = |number: u32| match control.has_ended(number) {
        _ if number == last.thread => ThreadEnding::Failed,
        true if !is_over(number) => ThreadEnding::Ended,
        _ => ThreadEnding::Stopped,
    };
    let endings = (0..count as u32).map(ending).collect();
    let mut claim = story.into_claim(endings);
    if let Some((execution, order)) = whole {
        connect(&mut claim, &execution, &order, &shared)?;
    }
    claim.undefined = vec![Vec::new(); claim.threads.len()];
    for (thread, bits) in given.story.undefined {
        if let Some(list) = claim.undefined.get_mut(thread as usize) {
            list.push(bits);
        }
    }
    claim.unwritten = given.story.unwritten;
    // What was there first counts.
    claim.unwritten.sort_by_key(|(address, _)| *address);
    claim.unwritten.dedup_by_key(|(address, _)| *address);
    let failed = Some(last.thread as usize);
    Ok(Suspicion { property, message, failed, claim, involved: Vec::new() })
}

/// Where an execution is a graph: what reads have read, and the order of writes. `shared` are the steps that its
/// accesses are, by thread.
fn connect(
    claim: &mut Claim,
    execution: &Execution,
    order: &Order,
    shared: &[Vec<StepId>],
) -> Result<(), String> {
    let mut steps: FxHashMap<Id, StepId> = FxHashMap::default();
    for (thread, line) in execution.threads.iter().enumerate() {
        let accesses = line.events.iter().enumerate();
        let mut own = shared.get(thread).into_iter().flatten();
        for (index, _) in
            accesses.filter(|(_, it)| it.location.is_some_and(Location::is_of_program))
        {
            let step = own.next().ok_or("an access is not repeated")?;
            steps.insert(Id { thread: thread as u32, index: index as u32 }, *step);
        }
    }
    for (id, step) in &steps {
        let Some(source) = execution.event(*id).and_then(|event| event.source) else { continue };
        let source = match source {
            execution::Source::Initial => Source::Initial,
            execution::Source::Write(write) => {
                Source::Step(*steps.get(&write).ok_or("a read has no source")?)
            }
        };
        claim.threads[step.thread as usize].steps[step.index as usize] = Step::read(source);
    }
    let is_shared: FxHashSet<StepId> = steps.values().copied().collect();
    claim.co.retain(|writes| !writes.iter().any(|step| is_shared.contains(step)));
    for (_, writes) in order.iter().filter(|(it, _)| it.is_of_program()) {
        let writes: Option<Vec<StepId>> = writes.iter().map(|id| steps.get(id).copied()).collect();
        claim.co.push(writes.ok_or("a write is not repeated")?);
    }
    Ok(())
}
