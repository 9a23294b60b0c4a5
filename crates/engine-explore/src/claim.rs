//! From a graph to a claim, which the replayer can check without trusting the engine.

use parallax_program::Bits;
use parallax_verdict::{Claim, Source, Step, StepId, ThreadClaim, ThreadEnding};

use crate::event::{Event, Id, Kind, Loc};
use crate::graph::Graph;
use crate::locks::{self, Lined};
use crate::memory::Memory;
use crate::standing::{At, SECTIONS, Standing};

/// The claim that the graph happened; `failed` is the thread that stands at a violation, `waits`
/// whether the violation is that threads wait for ever.
pub fn claim(graph: &Graph<'_>, memory: &Memory, failed: Option<usize>, waits: bool) -> Claim {
    let lined = if graph.has_locks { locks::line_up(graph) } else { Lined::default() };
    let steps = Steps { graph, lined: &lined };
    let thread = |number: usize| {
        let events = &graph.threads[number].events;
        let ids = (0..events.len()).map(|index| Id::new(number, index));
        let steps =
            ids.flat_map(|id| decision(graph, id).into_iter().chain(steps.step(memory, id)));
        let steps = steps.collect();
        ThreadClaim { steps, ending: ending(graph, number, failed, waits) }
    };
    let threads = (0..alive(graph)).map(thread).collect();
    let places = (0..graph.places.len()).filter(|loc| memory.table[*loc].0 != SECTIONS);
    let co = places.map(|loc| lined.co(loc, graph)).filter(|co| !co.is_empty());
    let co = co.map(|co| co.iter().map(|id| steps.id(*id)).collect()).collect();
    Claim { threads, co, schedule: schedule(graph, &lined), ..Claim::default() }
}

/// Threads up to the last that was started.
fn alive(graph: &Graph<'_>) -> usize {
    graph.threads.iter().rposition(|thread| !thread.standings.is_empty()).map_or(0, |last| last + 1)
}

/// The step that an event is.
pub fn step_of(graph: &Graph<'_>, id: Id) -> StepId {
    Steps { graph, lined: &Lined::default() }.id(id)
}

/// That a weak compare-and-swap fails for no reason is chosen before it reads.
fn decision(graph: &Graph<'_>, id: Id) -> Option<Step> {
    let fails = Step::Choice { value: Bits::bool(true) };
    graph.event(id).marks.is_spurious().then_some(fails)
}

/// How many steps an event is. Those that answer questions are none, nor are looks at the lock of
/// atomic sections.
fn steps_in(graph: &Graph<'_>, id: Id) -> usize {
    let event = graph.event(id);
    let is_look = event.is_read() && matches!(graph.standing(id).at, At::Enter);
    match event.kind != Kind::Query && !is_look {
        true => 1 + usize::from(decision(graph, id).is_some()),
        false => 0,
    }
}

struct Steps<'a, 'p> {
    graph: &'a Graph<'p>,
    /// The critical sections in an order.
    lined: &'a Lined,
}

impl Steps<'_, '_> {
    fn id(&self, id: Id) -> StepId {
        let decided = usize::from(decision(self.graph, id).is_some());
        StepId { thread: id.thread() as u32, index: (self.first(id) + decided) as u32 }
    }

    /// Where the steps of an event begin.
    fn first(&self, id: Id) -> usize {
        let before = (0..id.index()).map(|index| Id::new(id.thread(), index));
        before.map(|id| steps_in(self.graph, id)).sum()
    }

    fn source(&self, id: Id) -> Source {
        if id.is_init() { Source::Initial } else { Source::Step(self.id(id)) }
    }

    fn step(&self, memory: &Memory, id: Id) -> Option<Step> {
        let event = self.graph.event(id);
        let standing = self.graph.standing(id);
        Some(match (&standing.at, event.kind) {
            (At::Begin, _) => Step::Begin { by: self.id(event.rf) },
            (At::Join { .. }, _) => Step::Join { of: self.id(event.rf) },
            (At::Spawn { .. }, _) => Step::Spawn { child: event.value.unsigned() as u32 },
            (At::End, _) => Step::End,
            (At::Enter, Kind::Read) => return None,
            (At::Enter, _) => Step::AtomicBegin,
            (At::Leave, _) => Step::AtomicEnd,
            (_, Kind::Read) => {
                let source = self.lined.source(id, event);
                Step::Read { source: self.source(source), bytes: part(memory, standing, event) }
            }
            (_, Kind::Write) => Step::Write { bytes: part(memory, standing, event) },
            (_, Kind::Fence) => Step::Fence,
            (_, Kind::Alloc) => Step::Alloc { address: event.value.unsigned() as u64 },
            (_, Kind::Free) => Step::Free,
            (_, Kind::Choice { .. }) => Step::Choice { value: event.value },
            (_, Kind::Query) => return None,
        })
    }
}

/// How many bytes of its access an event has, where it is not the whole.
fn part(memory: &Memory, standing: &Standing<'_>, event: &Event) -> Option<u8> {
    if event.loc == Loc::NONE {
        return None;
    }
    let (_, whole, _) = standing.at.access()?;
    let (_, bytes) = memory.table[event.loc.0 as usize];
    (bytes != whole).then_some(bytes)
}

fn ending(graph: &Graph<'_>, number: usize, failed: Option<usize>, waits: bool) -> ThreadEnding {
    let thread = &graph.threads[number];
    if failed == Some(number) {
        return ThreadEnding::Failed;
    }
    match thread.standings.last().map(|now| &now.at) {
        Some(At::Ended) => ThreadEnding::Ended,
        Some(At::Waiting) => ThreadEnding::Waiting,
        Some(At::Join { .. }) if failed.is_none() => ThreadEnding::Waiting,
        Some(At::Spinning { since } | At::Cut { since: Some(since) }) => {
            let from = thread.first_after(*since);
            let round = thread.events.get(from..).unwrap_or_default();
            // A round without a step: there is nothing to show of it. One that stores goes on, unless
            // it is what all is about.
            let stores = |event: &Event| event.is_write() && !event.marks.is_rmw();
            if round.is_empty() || !waits && round.iter().any(stores) {
                return ThreadEnding::Stopped;
            }
            let steps = Steps { graph, lined: &Lined::default() };
            ThreadEnding::Spinning { from: steps.first(Id::new(number, from)) as u32 }
        }
        _ => ThreadEnding::Stopped,
    }
}

/// An order of all steps in which every read comes after what it reads.
fn schedule(graph: &Graph<'_>, lined: &Lined) -> Vec<u32> {
    let mut done = vec![0; graph.threads.len()];
    let mut schedule = Vec::with_capacity(graph.len());
    let order = if lined.order.is_empty() { &graph.order } else { &lined.order };
    let mut open: Vec<Id> = order.clone();
    while !open.is_empty() {
        let before = open.len();
        open.retain(|id| {
            let event = graph.event(*id);
            let source = lined.source(*id, event);
            let ready = done[id.thread()] == id.index()
                && (!event.is_read() || source.is_init() || done[source.thread()] > source.index());
            if ready {
                done[id.thread()] += 1;
                let steps = std::iter::repeat_n(id.thread() as u32, steps_in(graph, *id));
                schedule.extend(steps);
            }
            !ready
        });
        if open.len() == before {
            break;
        }
    }
    schedule
}
