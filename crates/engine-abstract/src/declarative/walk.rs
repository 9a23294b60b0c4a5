//! What an access comes to where the execution is a graph.

use std::sync::Arc;

use parallax_program::{Program, Tags};
use parallax_solver::Term;

use crate::block::{Ending, Given, Halt, Inputs, Kind, Run, Walk, Way};
use crate::control::At;
use crate::declarative::execution::{self, Event, Execution, Growth, Id, Location, Source, Wait};
use crate::declarative::uses::Reader;
use crate::places::{Place, PlaceId, forgotten};

/// Events of a graph.
pub(super) const MOST_EVENTS: usize = 60;
/// Writes that a read may read, and reads that wait for one write.
const MOST_SOURCES: usize = 200;
const MOST_WAITING: usize = 6;

/// What a read reads: an event, or a write of a thread that is none any more.
#[derive(Clone, Copy)]
pub(super) enum From {
    Event(Source),
    Forgotten(u32, bool),
}

impl From {
    pub(super) fn event(self) -> Option<Source> {
        match self {
            From::Event(source) => Some(source),
            From::Forgotten(..) => None,
        }
    }
}

impl Walk<'_, '_, '_> {
    /// Adds an event of a thread, where the execution is a graph.
    pub(crate) fn add(run: &mut Run, thread: u32, mut event: Event) -> Option<Id> {
        let execution = Arc::make_mut(run.control.execution.as_mut()?);
        event.is_inside = execution.line(thread).is_inside;
        run.growth.push((thread, event.clone()));
        Some(execution.push(thread, event))
    }

    /// A thread starts another one.
    pub(crate) fn connect(&mut self, run: &mut Run, child: u32) {
        if let Some(memory) = &mut self.blocks.graphs {
            memory.note_start(self.number, child);
        }
        let start = Location::Start(child);
        let Some(id) = Self::add(run, self.number, Event::write(start, Tags::thread_release()))
        else {
            return;
        };
        let begin = Event::read(start, Tags::thread_acquire(), Source::Write(id));
        Self::add(run, child, begin);
    }

    /// A thread has waited for the end of another one.
    pub(crate) fn meet(&mut self, run: &mut Run, of: u32) {
        let Some(execution) = run.control.execution.as_mut() else { return };
        let execution = Arc::make_mut(execution);
        execution.line(self.number).joined.push(of);
        execution.line(self.number).joined.sort_unstable();
        let end = Location::End(of);
        let ended = execution.writes(end).next();
        if let Some(id) = ended {
            let event = Event::read(end, Tags::thread_acquire(), Source::Write(id));
            Self::add(run, self.number, event);
        }
    }

    /// Whether all other threads have ended, and this one knows.
    pub(crate) fn is_last_user(&self, run: &Run) -> bool {
        let Some(execution) = &run.control.execution else { return true };
        let joined = execution.threads.get(self.number as usize).map(|line| &line.joined);
        let is_known = |other: u32| {
            other == self.number || joined.is_some_and(|joined| joined.contains(&other))
        };
        let threads = run.control.threads.iter().enumerate();
        threads.filter(|(_, it)| it.is_some()).all(|(other, _)| is_known(other as u32))
    }

    /// Whether the model allows what has come to be on a way.
    pub(crate) fn is_allowed(&mut self, run: &Run) -> bool {
        let Some(memory) = &mut self.blocks.graphs else { return true };
        let fails = run.ending.as_ref().is_some_and(|ending| *ending != Ending::Goes);
        let is_asked = (memory.is_eager && !run.growth.is_empty() || fails)
            && matches!(self.way, Way::All { .. });
        match &run.control.execution {
            Some(execution) if is_asked => memory.consistency.allows(&bare(execution)),
            _ => true,
        }
    }

    /// Goes on at each place where an access may be.
    pub(crate) fn each_place(
        &mut self,
        run: Run,
        address: Term,
        places: &[u64],
    ) -> Result<Vec<(u64, Run)>, Halt> {
        let width = self.blocks.values.terms.width(address);
        let mut conditions = Vec::with_capacity(places.len());
        for place in places {
            let here = self.blocks.values.number(width, u128::from(*place));
            conditions.push(self.blocks.values.terms.equals(address, here));
        }
        let sides = self.sides(run, &conditions)?;
        Ok(sides.into_iter().map(|(side, run)| (places[side as usize], run)).collect())
    }

    /// An access that others may see.
    pub(crate) fn shared_access(
        &mut self,
        run: Run,
        kind: &Kind,
        place: u64,
        bytes: u64,
        open: &mut Vec<Run>,
    ) -> Result<(), Halt> {
        if let Some((property, message)) = self.is_wrong(&run, kind, place, bytes) {
            Self::fail(run, property, message, open);
            return Ok(());
        }
        let blocks = &mut *self.blocks;
        let pieces = blocks.places.pieces(&mut blocks.values.terms, place, bytes);
        let [whole] = pieces[..] else {
            return Self::lose(run, "accesses of mixed size under this model", open);
        };
        if run.control.execution.as_ref().is_some_and(|it| it.len() > MOST_EVENTS) {
            let what = format!("more than {MOST_EVENTS} accesses that still matter");
            return Self::lose(run, &what, open);
        }
        let [read_tags, write_tags, fail_tags] = self.tags(&run);
        if let Some(memory) = &mut self.blocks.graphs {
            let (may_read, may_modify) = match kind {
                Kind::Store(_) => (false, false),
                Kind::Load => (true, false),
                Kind::Cas { .. } => (true, true),
                _ => (false, true),
            };
            let at = (self.number, place);
            if may_read {
                memory.note_read(at, &fail_tags);
            }
            if may_modify {
                memory.note_modification(at, (&read_tags, &write_tags));
            }
        }
        let location = Location::Memory(place);
        let at = self.blocks.values.number(64, u128::from(place));
        if let Kind::Store(value) = kind {
            let event = Event::write(location, write_tags);
            return self.write_event(run, event, (place, bytes), *value, None, open);
        }
        for (source, run) in self.sources(run, place, open)? {
            let old = self.read_from(&run, source, whole);
            for (new, ok, mut run) in self.effects(run, kind, old)? {
                if let From::Forgotten(writer, is_open) = source
                    && !self.may_forgotten(&run, (writer, is_open), place, new.is_some())
                {
                    continue;
                }
                let tags = match (kind, new) {
                    (Kind::Cas { .. }, None) => fail_tags.clone(),
                    _ => read_tags.clone(),
                };
                let mut read = Event::read(location, tags, Source::Initial);
                read.source = source.event();
                read.is_half = new.is_some();
                Self::add(&mut run, self.number, read);
                self.record_shared(true, at, bytes, old);
                let Some(new) = new else {
                    self.go_on(&mut run, true, old, ok);
                    open.push(run);
                    continue;
                };
                let write = Event::write(location, write_tags.clone()).half();
                self.write_event(run, write, (place, bytes), new, Some((old, ok)), open)?;
            }
        }
        Ok(())
    }

    /// What is in the place by a source.
    fn read_from(&mut self, run: &Run, source: From, initial: PlaceId) -> Term {
        // Whoever asks whether something is there finds nothing where nobody has written.
        if let (From::Event(Source::Initial), Place::Memory { address, .. }) =
            (source, self.blocks.places.place(initial))
            && self.marks(run)[0].is_fresh()
            && run.control.object(address).is_some()
        {
            let width = self.blocks.values.terms.width(self.blocks.places.term(initial));
            return self.blocks.values.number(width, 0);
        }
        let place = match source {
            From::Event(Source::Initial) => Some(initial),
            From::Event(Source::Write(id)) => {
                let execution = run.control.execution.as_deref();
                execution.and_then(|it| self.name(it, id))
            }
            From::Forgotten(writer, is_open) => {
                let blocks = &mut *self.blocks;
                match blocks.places.place(initial) {
                    Place::Memory { address, .. } => blocks.places.written(
                        &mut blocks.values.terms,
                        writer,
                        address,
                        forgotten(is_open),
                    ),
                    _ => None,
                }
            }
        };
        self.value(run, place.unwrap_or(initial))
    }

    /// The place of what a write has written.
    fn name(&mut self, execution: &Execution, id: Id) -> Option<PlaceId> {
        let (address, before) = execution.place_from_last(id)?;
        let blocks = &mut *self.blocks;
        blocks.places.written(&mut blocks.values.terms, id.thread, address, before)
    }

    /// What a read may read: what is there, or, while the thread waits, what is still to come.
    pub(super) fn sources(
        &mut self,
        mut run: Run,
        address: u64,
        open: &mut Vec<Run>,
    ) -> Result<Vec<(From, Run)>, Halt> {
        let Some(execution) = run.control.execution.clone() else { return Err(Halt::Astray) };
        if let Wait::Served(id) = execution.wait(self.number) {
            if let Some(execution) = run.control.execution.as_mut() {
                Arc::make_mut(execution).line(self.number).wait = Wait::Nothing;
            }
            return Ok(vec![(From::Event(Source::Write(id)), run)]);
        }
        let writes = execution.writes(Location::Memory(address)).map(Source::Write);
        let sources = [Source::Initial].into_iter().chain(writes).map(From::Event);
        let others = (0..execution.threads.len() as u32).filter(|it| *it != self.number);
        let forgotten = others.flat_map(|it| [(it, false), (it, true)]);
        let forgotten = forgotten
            .filter(|(writer, is_open)| execution.forgotten(*writer, address, *is_open).is_some())
            .map(|(writer, is_open)| From::Forgotten(writer, is_open));
        let sources: Vec<From> = sources.chain(forgotten).collect();
        if sources.len() > MOST_SOURCES {
            Self::lose(run, "a read of one of many writes", open)?;
            return Ok(Vec::new());
        }
        let truth = self.blocks.values.terms.truth();
        // The last one is to wait.
        let conditions = vec![truth; sources.len() + 1];
        let mut found = Vec::new();
        for (side, mut run) in self.sides(run, &conditions)? {
            match sources.get(side as usize) {
                Some(source) => found.push((*source, run)),
                None => {
                    if let Some(execution) = run.control.execution.as_mut() {
                        Arc::make_mut(execution).line(self.number).wait = Wait::Open(address);
                    }
                    self.stop(run, At::Operation, open);
                }
            }
        }
        Ok(found)
    }

    /// Whether a forgotten write of a thread may be read, or modified.
    pub(super) fn may_forgotten(
        &mut self,
        run: &Run,
        (writer, is_open): (u32, bool),
        address: u64,
        modifies: bool,
    ) -> bool {
        let Some(execution) = run.control.execution.as_deref() else { return false };
        let Some(forgotten) = execution.forgotten(writer, address, is_open) else { return false };
        let who = if modifies { &forgotten.modifiers } else { &forgotten.readers };
        let number = self.number;
        let Some(memory) = &mut self.blocks.graphs else { return false };
        who.contains(&number)
            && (matches!(self.way, Way::Trail(_))
                || memory.may_forgotten(
                    execution,
                    &Reader::running(number),
                    writer,
                    forgotten,
                    modifies,
                ))
    }

    /// A write, which serves some of the reads that wait for one. `read` is what was read by the same
    /// operation.
    fn write_event(
        &mut self,
        run: Run,
        event: Event,
        (place, bytes): (u64, u64),
        value: Term,
        read: Option<(Term, Option<bool>)>,
        open: &mut Vec<Run>,
    ) -> Result<(), Halt> {
        let [of_read, of_write, _] = self.marks(&run);
        let takes_lock = of_read.takes_lock() || of_write.takes_lock();
        let at = self.blocks.values.number(64, u128::from(place));
        for (id, mut run) in self.add_write(run, event, place, open)? {
            run.has_left = true;
            run.values.insert(id, value);
            self.record_shared(false, at, bytes, value);
            self.hold(&mut run, place, takes_lock);
            let (old, ok) = read.unwrap_or((value, None));
            self.go_on(&mut run, read.is_some(), old, ok);
            open.push(run);
        }
        Ok(())
    }

    /// Adds a write, in one way for each set of the reads that wait for one there: these it serves.
    pub(super) fn add_write(
        &mut self,
        run: Run,
        event: Event,
        place: u64,
        open: &mut Vec<Run>,
    ) -> Result<Vec<(Id, Run)>, Halt> {
        let Some(execution) = &run.control.execution else { return Err(Halt::Astray) };
        let waiting = execution.waiting(place);
        if waiting.len() > MOST_WAITING {
            Self::lose(run, "a write that many reads wait for", open)?;
            return Ok(Vec::new());
        }
        let truth = self.blocks.values.terms.truth();
        let subsets = vec![truth; 1 << waiting.len()];
        let mut all = Vec::new();
        for (subset, mut run) in self.sides(run, &subsets)? {
            let Some(id) = Self::add(&mut run, self.number, event.clone()) else { continue };
            if let Some(execution) = run.control.execution.as_mut() {
                let execution = Arc::make_mut(execution);
                for (number, thread) in waiting.iter().enumerate() {
                    if subset >> number & 1 == 1 {
                        execution.line(*thread).wait = Wait::Served(id);
                    }
                }
            }
            all.push((id, run));
        }
        Ok(all)
    }

    fn record_shared(&mut self, is_read: bool, address: Term, bytes: u64, value: Term) {
        self.record_access(is_read, address, bytes, value);
        if let Inputs::Given(Given { story, .. }) = &mut self.blocks.inputs {
            story.shared.push(story.log.len().saturating_sub(1));
        }
    }

    /// The tags of the read, of the write, and of the read that fails.
    fn tags(&self, run: &Run) -> [Tags; 3] {
        let site = run.thread.site();
        let inst = site.and_then(|site| self.blocks.code.instruction(site));
        let tags = inst.and_then(|inst| inst.kind.tags_of_events());
        tags.map_or_else(|| [(); 3].map(|()| Tags::none()), |tags| tags.map(Tags::clone))
    }

    /// A way has come to its end: events that no longer matter leave the graph, what was written gets
    /// its new names, and it is somebody's turn.
    pub(crate) fn settle(&mut self, run: &mut Run, goes: bool) -> Option<Arc<Growth>> {
        let execution = run.control.execution.clone()?;
        let settled = self.settled(run, &execution, goes);
        if settled.is_none() {
            let (message, site) = ("a write without a name".to_string(), run.thread.site());
            run.ending = Some(Ending::Lost { message, site });
        }
        settled.map(Arc::new)
    }

    fn settled(&mut self, run: &mut Run, execution: &Execution, goes: bool) -> Option<Growth> {
        let events = std::mem::take(&mut run.growth);
        let mut growth = Growth { events, ..Growth::default() };
        let collected = match (goes, &mut self.blocks.graphs) {
            (true, Some(memory)) => Some(memory.stays(execution, &run.control, &run.trail)),
            _ => None,
        };
        growth.kept = collected.as_ref().map_or_else(|| execution.all(), |it| it.kept.clone());
        let mut smaller = execution.keep(&growth.kept);
        let mut vague: Vec<(PlaceId, Term)> = Vec::new();
        if let Some(collected) = collected {
            for (line, forgotten) in smaller.threads.iter_mut().zip(collected.forgotten) {
                line.forgotten = forgotten;
            }
            growth.lost = collected.lost.iter().map(|(id, _, is_open)| (*id, *is_open)).collect();
            for lost in collected.lost {
                self.forget(run, (execution, &growth), lost, &mut vague)?;
            }
        }
        let mut named = Vec::new();
        for id in smaller.ids() {
            let Some(place) = self.name(&smaller, id) else { continue };
            let of = Id { index: growth.kept[id.thread as usize][id.index as usize], ..id };
            if !smaller.event(id).is_some_and(|it| it.kind == execution::Kind::Write) {
                continue;
            }
            let (old, value) = self.written(run, (execution, &growth), of)?;
            if old != Some(place) {
                named.push((place, value));
            }
        }
        run.writes.extend(named);
        run.writes.extend(vague);
        if goes {
            smaller.turn = self.next_turn(run, &smaller);
        }
        run.control.execution = Some(Arc::new(smaller));
        Some(growth)
    }

    /// What an event has written, and the place that had it before this step.
    fn written(
        &mut self,
        run: &Run,
        (execution, growth): (&Execution, &Growth),
        id: Id,
    ) -> Option<(Option<PlaceId>, Term)> {
        if let Some(value) = run.values.get(&id) {
            return Some((None, *value));
        }
        let location = execution.event(id)?.location;
        let is_later = |(thread, event): &&(u32, Event)| {
            let is_write = event.kind == execution::Kind::Write && event.location == location;
            *thread == id.thread && is_write
        };
        let later = growth.events.iter().filter(is_later).count() as u32;
        let (address, before) = execution.place_from_last(id)?;
        let before = before.checked_sub(later)?;
        let blocks = &mut *self.blocks;
        let old = blocks.places.written(&mut blocks.values.terms, id.thread, address, before)?;
        Some((Some(old), self.value(run, old)))
    }

    /// What a forgotten write has written is one of the values that forgotten writes may have written.
    fn forget(
        &mut self,
        run: &mut Run,
        before: (&Execution, &Growth),
        (id, address, is_open): (Id, u64, bool),
        vague: &mut Vec<(PlaceId, Term)>,
    ) -> Option<()> {
        if address == Program::SECTIONS {
            return Some(());
        }
        let (_, value) = self.written(run, before, id)?;
        let blocks = &mut *self.blocks;
        let terms = &mut blocks.values.terms;
        let place = blocks.places.written(terms, id.thread, address, forgotten(is_open))?;
        let known = vague.iter().position(|(it, _)| *it == place);
        let was = match known {
            Some(at) => Some(vague[at].1),
            None if before.0.forgotten(id.thread, address, is_open).is_some() => {
                Some(self.value(run, place))
            }
            None => None,
        };
        let joined = match was {
            Some(was) if was != value => {
                let is_new = self.fresh(run, 1);
                self.blocks.values.terms.select(is_new, value, was)
            }
            _ => value,
        };
        match known {
            Some(at) => vague[at].1 = joined,
            None => vague.push((place, joined)),
        }
        Some(())
    }

    /// Who goes on: a thread that waited for what was just written, as what it does with that may not be
    /// allowed; else the same thread, unless it waits, has ended or is at the head of a loop.
    fn next_turn(&self, run: &Run, execution: &Execution) -> u32 {
        let is_served = |thread: &u32| matches!(execution.wait(*thread), Wait::Served(_));
        if let Some(served) = run.control.running().find(is_served) {
            return served;
        }
        let stays = run.control.thread(self.number).is_some_and(|it| it.at == At::Operation);
        let is_open = |thread: u32| matches!(execution.wait(thread), Wait::Open(_));
        if stays && !is_open(self.number) {
            return self.number;
        }
        let others: Vec<u32> = run.control.running().filter(|thread| !is_open(*thread)).collect();
        let after = others.iter().find(|thread| **thread > self.number);
        after.or_else(|| others.first()).copied().unwrap_or(0)
    }
}

/// The execution without what is not asked about.
pub fn bare(execution: &Execution) -> Execution {
    let mut bare = execution.clone();
    bare.turn = 0;
    for line in &mut bare.threads {
        line.wait = Wait::Nothing;
        line.joined.clear();
        line.forgotten.clear();
        line.is_inside = false;
    }
    bare
}
