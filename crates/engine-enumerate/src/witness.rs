//! An execution that the search stands at, written down for people and for the replayer.

use parallax_program::Bits;
use parallax_verdict::{Edges, Event, EventKind, Execution};

use crate::search::Search;
use crate::skeleton::Kind;

/// The present execution of a search; every read has its source and every order is total.
pub fn execution(search: &mut Search<'_, '_, '_, '_>, values: &[Bits]) -> Execution {
    let skeleton = search.skeleton;
    let program = search.program;
    let events = (0..skeleton.events.len() as u32).map(|i| event(search, i)).collect();
    let terms = &*search.terms;
    let edges = |pairs: &mut dyn Iterator<Item = (usize, usize)>| -> Edges {
        let mut edges: Edges = pairs.map(|(a, b)| (a as u32, b as u32)).collect();
        edges.sort_unstable();
        edges
    };
    let n = skeleton.events.len();
    let mut all = (0..n).flat_map(|a| (0..n).map(move |b| (a, b)));
    let mut po = all.by_ref().filter(|(a, b)| skeleton.in_program_order(*a as u32, *b as u32));
    let sources = search.sources.iter().enumerate();
    let mut rf = sources.filter_map(|(read, write)| write.map(|write| (write as usize, read)));
    let mut co = Vec::new();
    if let Some(locations) = &search.locations {
        locations.settled(&search.orders, |earlier, later| co.push((earlier, later)));
    }
    let mut execution = Execution {
        threads: program.threads.iter().map(|thread| thread.name.clone()).collect(),
        events,
        po: edges(&mut po),
        rf: edges(&mut rf),
        co: edges(&mut co.into_iter()),
        addr: edges(&mut skeleton.addr(terms)),
        data: edges(&mut skeleton.data(terms)),
        ctrl: edges(&mut skeleton.ctrl(terms)),
        rmw: edges(&mut skeleton.pairs().map(|(r, w, _)| (r, w))),
        final_state: search.context.observer.state(values),
        ..Execution::default()
    };
    for name in &search.context.shown {
        if let Some(relation) = search.checker.relation(name) {
            let pairs = edges(&mut relation.iter());
            execution.model_relations.push((name.clone(), pairs));
        }
    }
    execution
}

fn event(search: &mut Search<'_, '_, '_, '_>, number: u32) -> Event {
    let event = &search.skeleton.events[number as usize];
    let (source, thread, kind) = (event.source, event.thread, event.kind);
    let footprint = search.footprint(number);
    let program = search.program;
    let (place, text) = match source {
        Some(source) => {
            let span = search.code.span(source.site);
            let text = program.source.text().get(span.start as usize..span.end as usize);
            (Some(program.source.location(span)), text.unwrap_or_default().to_string())
        }
        None => (None, String::new()),
    };
    let (term, is_read) = match kind {
        Kind::Read { term, .. } => (Some(term), true),
        Kind::Write { value } => (Some(value), false),
        Kind::Fence => (None, false),
    };
    let kind = match (term, footprint) {
        (Some(term), Some(at)) => {
            let value = search.terms.evaluate(term).unwrap_or(Bits::zero(at.bytes * 8));
            let location = search.context.observer.place(&search.context.image, at.address);
            let shown = search.context.observer.show(value, true);
            let (address, size) = (at.address, at.bytes);
            if is_read {
                EventKind::Read { location, address, size, value, shown }
            } else {
                EventKind::Write { location, address, size, value, shown }
            }
        }
        _ => EventKind::Fence,
    };
    let tags = source.map(|source| source.tags.clone()).unwrap_or_default();
    Event { thread, kind, tags, place, text }
}
