//! Consistency by the model's `.cat` file, for models that the engine has no rules of its own
//! for: the whole graph is handed to the checker after each step.

use std::collections::HashMap;

use parallax_memory::{Checker, InputId, InputKind, Model};
use parallax_program::{InstKind, Program, Tags};

use crate::event::{Event, Id, Kind, Loc};
use crate::graph::Graph;

pub struct CatJudge<'a> {
    program: &'a Program,
    model: &'a Model,
    checker: Checker<'a>,
    release: Tags,
    acquire: Tags,
    none: Tags,
}

/// An event as the checker sees it.
struct Seen {
    id: Id,
    loc: SeenLoc,
    /// None for initial writes.
    thread: Option<usize>,
}

/// What two accesses must share to be of one location.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum SeenLoc {
    None,
    Cell(u32),
    /// The start of a thread, by the step that makes it, or its end.
    Life(Id),
}

impl<'a> CatJudge<'a> {
    pub fn new(program: &'a Program, model: &'a Model) -> CatJudge<'a> {
        CatJudge {
            program,
            model,
            checker: Checker::new(model),
            release: Tags::thread_release(),
            acquire: Tags::thread_acquire(),
            none: Tags::none(),
        }
    }

    /// The flags that the model raises, such as data races.
    pub fn flags(&mut self, graph: &Graph<'_>) -> Vec<String> {
        if !self.model.axioms().iter().any(|axiom| axiom.is_flag()) {
            return Vec::new();
        }
        if self.allows(graph) { self.checker.flags() } else { Vec::new() }
    }

    pub fn allows(&mut self, graph: &Graph<'_>) -> bool {
        let seen = self.events(graph);
        self.checker.begin(seen.len());
        let inputs: Vec<(InputId, String, InputKind)> = self
            .model
            .inputs()
            .iter()
            .enumerate()
            .map(|(index, input)| (InputId(index), input.name.clone(), input.kind))
            .collect();
        for (input, name, kind) in inputs {
            match kind {
                InputKind::Set => self.fill_set(graph, &seen, input, &name),
                InputKind::Relation => self.fill_relation(graph, &seen, input, &name),
            }
        }
        self.fill_communication(graph, &seen);
        self.checker.structure_changed();
        self.checker.set_rf_complete(true);
        self.checker.is_allowed()
    }

    fn events(&self, graph: &Graph<'_>) -> Vec<Seen> {
        let used = graph.places.iter().enumerate();
        let used = used.filter(|(_, place)| !place.co.is_empty() || !place.reads.is_empty());
        let mut seen: Vec<Seen> = used
            .map(|(loc, _)| Seen { id: Id::INIT, loc: SeenLoc::Cell(loc as u32), thread: None })
            .collect();
        for id in &graph.order {
            let event = graph.event(*id);
            let loc = match event.kind {
                Kind::Fence => SeenLoc::None,
                Kind::Read | Kind::Write if event.loc != Loc::NONE => SeenLoc::Cell(event.loc.0),
                Kind::Read => SeenLoc::Life(event.rf),
                Kind::Write => SeenLoc::Life(*id),
                _ => continue,
            };
            seen.push(Seen { id: *id, loc, thread: Some(id.thread()) });
        }
        seen
    }

    /// The tags of an event, as the program has them.
    fn tags<'s>(&'s self, graph: &Graph<'_>, id: Id, event: &Event) -> &'s Tags {
        if event.marks.is_life() {
            return if event.is_read() { &self.acquire } else { &self.release };
        }
        let site = graph.standing(id).site();
        let inst = site.and_then(|site| {
            let block = &self.program.function(site.function).blocks[site.block.0 as usize];
            block.insts.get(site.index as usize)
        });
        match inst.map(|inst| &inst.kind) {
            Some(
                InstKind::Load { tags, .. }
                | InstKind::LoadLinked { tags, .. }
                | InstKind::Store { tags, .. }
                | InstKind::Fence { tags },
            ) => tags,
            Some(InstKind::Rmw { read_tags, write_tags, .. }) => {
                if event.is_read() {
                    read_tags
                } else {
                    write_tags
                }
            }
            Some(InstKind::Cas { read_tags, write_tags, fail_tags, .. }) => {
                match (event.is_read(), event.marks.is_rmw()) {
                    (true, false) => fail_tags,
                    (true, true) => read_tags,
                    (false, _) => write_tags,
                }
            }
            _ => &self.none,
        }
    }

    fn fill_set(&mut self, graph: &Graph<'_>, seen: &[Seen], input: InputId, name: &str) {
        let mut members: Vec<usize> = Vec::new();
        for (number, event) in seen.iter().enumerate() {
            let initial = event.thread.is_none();
            let inner = (!initial).then(|| graph.event(event.id));
            let read = inner.is_some_and(Event::is_read);
            let write = initial || inner.is_some_and(Event::is_write);
            let holds = match name {
                "_" => true,
                "R" => read,
                "W" => write,
                "M" => read || write,
                "F" => inner.is_some_and(|inner| inner.kind == Kind::Fence),
                "IW" => initial,
                _ => inner.is_some_and(|inner| {
                    self.tags(graph, event.id, inner).contains(name)
                        || name == "RMW" && inner.marks.is_rmw()
                }),
            };
            if holds {
                members.push(number);
            }
        }
        let set = self.checker.set_mut(input);
        members.into_iter().for_each(|number| set.insert(number));
    }

    fn fill_relation(&mut self, graph: &Graph<'_>, seen: &[Seen], input: InputId, name: &str) {
        if matches!(name, "rf" | "co") {
            return;
        }
        let relation = self.checker.relation_mut(input);
        for (a, x) in seen.iter().enumerate() {
            for (b, y) in seen.iter().enumerate() {
                let internal = a == b || x.thread.is_some() && x.thread == y.thread;
                let before = internal && a != b && x.id.index() < y.id.index();
                let holds = match name {
                    "po" => before && !one_access(graph, x, y),
                    "int" => internal,
                    "ext" => !internal,
                    "loc" => x.loc != SeenLoc::None && x.loc == y.loc,
                    "si" => a == b || internal && one_access(graph, x, y),
                    "rmw" | "amo" => {
                        before
                            && x.id.index() + 1 == y.id.index()
                            && graph.event(x.id).is_read()
                            && graph.event(y.id).is_write()
                            && graph.event(y.id).marks.is_rmw()
                    }
                    _ => false,
                };
                if holds {
                    relation.add(a, b);
                }
            }
        }
    }

    fn fill_communication(&mut self, graph: &Graph<'_>, seen: &[Seen]) {
        let mut numbers: HashMap<Id, usize> = HashMap::new();
        let mut initial: HashMap<SeenLoc, usize> = HashMap::new();
        for (number, event) in seen.iter().enumerate() {
            match event.thread {
                Some(_) => numbers.insert(event.id, number),
                None => initial.insert(event.loc, number),
            };
        }
        let find = |id: Id, loc: SeenLoc| match id.is_init() {
            true => initial.get(&loc).copied(),
            false => numbers.get(&id).copied(),
        };
        let rf = self.checker.rf_mut();
        rf.clear();
        for (number, event) in seen.iter().enumerate().filter(|(_, event)| event.thread.is_some()) {
            let inner = graph.event(event.id);
            if inner.is_read()
                && let Some(source) = find(inner.rf, event.loc)
            {
                rf.add(source, number);
            }
        }
        let co = self.checker.co_mut();
        co.clear();
        for (loc, place) in graph.places.iter().enumerate() {
            let first = initial.get(&SeenLoc::Cell(loc as u32)).copied();
            let order: Vec<usize> = first
                .into_iter()
                .chain(place.co.iter().filter_map(|write| numbers.get(write).copied()))
                .collect();
            for (index, earlier) in order.iter().enumerate() {
                order[index + 1..].iter().for_each(|later| co.add(*earlier, *later));
            }
        }
        self.checker.rf_changed();
        self.checker.co_changed();
    }
}

/// Whether two events are parts of one access: the same half of the same instruction.
fn one_access(graph: &Graph<'_>, x: &Seen, y: &Seen) -> bool {
    let (first, last) = if x.id.index() < y.id.index() { (x.id, y.id) } else { (y.id, x.id) };
    first.thread() == last.thread()
        && graph.event(first).kind == graph.event(last).kind
        && (first.index() + 1..=last.index())
            .all(|index| graph.event(Id::new(last.thread(), index)).marks.continues())
}
