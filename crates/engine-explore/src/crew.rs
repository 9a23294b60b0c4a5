//! Several threads on one search, which find what one thread would.
//!
//! Who has nothing to do gets the largest piece of what someone else has left: a node of the search
//! path with all that is left to try there, which needs nothing of the rest of the path. What a
//! thread explores without taking another piece is a *segment*. In the depth-first order of one
//! thread, what is given away comes right behind what the giver keeps. So segments are in a
//! row, and the answer is what they find one after the other:
//!
//! - Where a segment ends the search (a violation was found), all segments behind it are cancelled,
//!   and those before it are finished. The first end in the row counts.
//! - Neighbours that are finished become one, so that the row stays short.
//! - What is known of the program depends on what was explored before (see [`crate::known`]). When
//!   the first segment of the row is finished, it is looked up whether it has discovered what one
//!   thread would have. If not, the search starts anew, and all threads know from the start what
//!   one thread would have known there.
//!
//! A segment is known by the [place](Place) where it begins. So the row can be written down at any time:
//! what is explored, and where the rest begins. Who is at work hands in what was found so far from time to
//! time, and goes on with a new segment.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use crate::findings::Findings;
use crate::graph::Graph;
use crate::known::{Discovery, Known};
use crate::memory::Memory;
use crate::place::{Left, Place, Start};
use crate::search::Path;

/// A segment of the search, for who explores it.
#[derive(Clone)]
pub struct Segment {
    pub place: Arc<Place>,
    is_cancelled: Arc<AtomicBool>,
}

impl Segment {
    fn new(place: Place) -> Segment {
        Segment { place: Arc::new(place), is_cancelled: Arc::default() }
    }

    /// Whether nobody wants to know any more what is found.
    pub fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed)
    }
}

/// A piece of a search.
pub struct Task<'p> {
    pub segment: Segment,
    pub work: Work<'p>,
}

/// What there is to go on from.
pub enum Work<'p> {
    /// What somebody else has begun.
    Begun(Box<(Graph<'p>, Memory, Path)>),
    /// What was written down.
    Left(Left),
}

/// What a segment has come to.
#[derive(Serialize, Deserialize)]
pub struct Explored {
    pub findings: Findings,
    pub discoveries: Vec<Discovery>,
    /// Where it goes on, if somebody has ended it before its end.
    #[serde(skip)]
    pub rest: Option<Start>,
}

/// What all have come to.
#[derive(Serialize, Deserialize)]
pub struct Whole {
    pub findings: Findings,
    pub known: Known,
    /// Whether threads have discovered what one thread would not have.
    #[serde(skip)]
    pub has_conflict: bool,
}

/// A segment of the row.
#[derive(Serialize, Deserialize)]
pub enum Part {
    /// Not explored, by whoever knows that in addition.
    Left(Vec<Discovery>),
    Explored(Box<Explored>),
    /// Another process knows what becomes of it.
    #[serde(skip)]
    Elsewhere,
}

/// How far a search has come, in depth-first order: what is done before the row, and the row.
pub struct Progress {
    pub whole: Whole,
    pub row: Vec<(Place, Part)>,
    /// Threads that have asked for their number, a bit each.
    pub asked: Vec<u64>,
}

pub struct Crew<'p> {
    state: Mutex<State<'p>>,
    news: Condvar,
    /// Threads that wait, and others elsewhere, minus tasks that are there for them.
    wanted: AtomicUsize,
}

struct State<'p> {
    tasks: VecDeque<Task<'p>>,
    waiting: usize,
    working: usize,
    /// Nobody is to begin anything more.
    is_over: bool,
    /// Other processes that have nothing to do.
    idle: usize,
    /// Whether the row is a part of that of another process.
    is_part: bool,
    /// What is behind this place is not wanted.
    cut: Option<Place>,
    /// What comes before the row.
    whole: Whole,
    /// In depth-first order.
    row: BTreeMap<Place, Entry>,
}

struct Entry {
    segment: Segment,
    part: Part,
    /// The process that explores it, if that is another one.
    holder: Option<usize>,
}

impl Entry {
    fn new(place: &Place, part: Part) -> Entry {
        Entry { segment: Segment::new(place.clone()), part, holder: None }
    }

    fn is_explored(&self) -> bool {
        matches!(self.part, Part::Explored(_))
    }
}

impl<'p> Crew<'p> {
    /// A search that has come so far.
    pub fn new(progress: Progress) -> Crew<'p> {
        let entry = |(place, part): (Place, Part)| {
            let entry = Entry::new(&place, part);
            (place, entry)
        };
        let mut state = State {
            tasks: VecDeque::new(),
            waiting: 0,
            working: 0,
            is_over: false,
            idle: 0,
            is_part: false,
            cut: None,
            whole: progress.whole,
            row: progress.row.into_iter().map(entry).collect(),
        };
        state.tidy();
        state.tasks = state.left().collect();
        Crew { state: Mutex::new(state), news: Condvar::new(), wanted: AtomicUsize::new(0) }
    }

    /// Whether someone waits for work.
    pub fn wants_work(&self) -> bool {
        self.wanted.load(Ordering::Relaxed) > 0
    }

    fn state(&self) -> MutexGuard<'_, State<'p>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn update(&self, state: &State<'p>) {
        let wanted = (state.waiting + state.idle).saturating_sub(state.tasks.len());
        self.wanted.store(wanted, Ordering::Relaxed);
    }

    /// Gives away what comes right behind what is left of a segment.
    pub fn give(&self, giver: &Segment, work: Work<'p>, start: Start) {
        let mut state = self.state();
        if state.is_over || !state.row.contains_key(&*giver.place) {
            return;
        }
        let segment = state.insert(start);
        state.tasks.push_back(Task { segment, work });
        self.update(&state);
        self.news.notify_one();
    }

    /// The next task; None when all is done.
    pub fn take(&self) -> Option<Task<'p>> {
        let mut state = self.state();
        state.waiting += 1;
        let task = loop {
            if state.is_over {
                break None;
            }
            if let Some(task) = state.tasks.pop_front() {
                state.working += 1;
                break Some(task);
            }
            if state.working == 0 && !state.is_part && !state.is_lent() {
                break None;
            }
            self.update(&state);
            state = self.news.wait(state).unwrap_or_else(PoisonError::into_inner);
        };
        state.waiting -= 1;
        self.update(&state);
        task
    }

    /// A segment is explored, or as much of it as will be.
    pub fn finish(&self, segment: &Segment, explored: Explored) {
        let mut state = self.state();
        state.working -= 1;
        state.finish(segment, explored);
        self.update(&state);
        self.news.notify_all();
    }

    /// So much of a segment is explored; its explorer goes on with the rest, which is another one.
    pub fn renew(&self, segment: &Segment, explored: Explored) -> Option<Segment> {
        let place = explored.rest.as_ref()?.place.clone();
        let mut state = self.state();
        // What begins there may be somebody else's already.
        let is_taken = state.row.contains_key(&place);
        state.finish(segment, explored);
        match state.row.get(&place).filter(|_| !is_taken) {
            Some(entry) => Some(entry.segment.clone()),
            None => Some(Segment { is_cancelled: Arc::new(true.into()), ..Segment::new(place) }),
        }
    }

    /// Ends the search for a reason other than its end.
    pub fn stop(&self) {
        let mut state = self.state();
        state.stop();
        self.update(&state);
        self.news.notify_all();
    }

    /// Looks at how far the search has come. Who is at work is taken to have done nothing since the
    /// segment began.
    pub fn with_progress<T>(&self, look: impl FnOnce(&Whole, &[(&Place, &Part)]) -> T) -> T {
        let state = self.state();
        let row: Vec<_> = state.row.iter().map(|(place, entry)| (place, &entry.part)).collect();
        look(&state.whole, &row)
    }

    /// A crew that explores what another process lends it.
    pub fn part(whole: Whole) -> Crew<'p> {
        let crew = Crew::new(Progress { whole, row: Vec::new(), asked: Vec::new() });
        crew.state().is_part = true;
        crew
    }

    /// Something to explore, for another process.
    pub fn lend(&self, to: usize) -> Option<Left> {
        let mut state = self.state();
        let task = state.tasks.pop_front()?;
        let left = state.left_at(&task.segment.place)?;
        if let Some(entry) = state.row.get_mut(&*task.segment.place) {
            entry.holder = Some(to);
        }
        self.update(&state);
        Some(left)
    }

    /// What has become of all that was lent to a process; some of it is given back.
    pub fn replace(&self, from: usize, parts: Vec<(Place, Part)>, back: &[Place]) {
        let mut state = self.state();
        state.row.retain(|_, entry| entry.holder != Some(from));
        let mut explored = Vec::new();
        for (place, part) in parts {
            if state.cut.as_ref().is_some_and(|cut| place > *cut) {
                continue;
            }
            let is_back = back.contains(&place);
            let holder = (matches!(part, Part::Left(_)) && !is_back).then_some(from);
            if let Part::Explored(part) = &part {
                explored.push(place.clone());
                if part.findings.end.is_some() {
                    state.cancel(&place);
                }
            }
            let entry = Entry { holder, ..Entry::new(&place, part) };
            state.row.insert(place, entry);
        }
        let is_over = state.is_over;
        for place in back.iter().filter(|_| !is_over) {
            if let Some(left) = state.left_at(place) {
                let segment = state.row[place].segment.clone();
                state.tasks.push_back(Task { segment, work: Work::Left(left) });
            }
        }
        if !state.is_over {
            explored.iter().for_each(|place| state.unite(place));
            state.begin();
        }
        self.update(&state);
        self.news.notify_all();
    }

    /// What was lent to this process.
    pub fn put(&self, left: Left) {
        let mut state = self.state();
        state.row.clear();
        if let Some(end) = &left.end {
            state.row.insert(end.clone(), Entry::new(end, Part::Elsewhere));
        }
        let segment = state.insert(left.start.clone());
        state.tasks.push_back(Task { segment, work: Work::Left(left) });
        self.update(&state);
        self.news.notify_one();
    }

    /// What has become of what was lent to this process, and which of it is given back: something to
    /// explore, if that is wanted, or all that is left if nobody explores any more.
    pub fn hand_over(&self, is_wanted: bool) -> (Vec<(Place, Part)>, Vec<Place>) {
        let mut state = self.state();
        let mut back = Vec::new();
        if is_wanted && !state.is_over {
            back.extend(state.tasks.pop_front().map(|task| (*task.segment.place).clone()));
        }
        let is_over = state.is_over;
        let mut parts = Vec::new();
        for (place, entry) in &mut state.row {
            match &entry.part {
                Part::Left(log) => {
                    parts.push((place.clone(), Part::Left(log.clone())));
                    if is_over {
                        back.push(place.clone());
                    }
                    if back.contains(place) {
                        entry.part = Part::Elsewhere;
                    }
                }
                Part::Explored(_) => {
                    parts
                        .push((place.clone(), std::mem::replace(&mut entry.part, Part::Elsewhere)));
                }
                Part::Elsewhere => {}
            }
        }
        let mut was_elsewhere = false;
        state.row.retain(|_, entry| {
            let is_elsewhere = matches!(entry.part, Part::Elsewhere);
            !(std::mem::replace(&mut was_elsewhere, is_elsewhere) && is_elsewhere)
        });
        self.update(&state);
        (parts, back)
    }

    /// Says how many other processes have nothing to do; whether somebody, here or there, waits for
    /// work that is not there.
    pub fn need(&self, idle: usize) -> bool {
        let mut state = self.state();
        state.idle = idle;
        self.update(&state);
        drop(state);
        self.wants_work()
    }

    /// Cancels all behind a place that another process has found to be the end.
    pub fn cut_off(&self, place: &Place) {
        let mut state = self.state();
        let behind = state.row.split_off(place);
        for entry in behind.into_values() {
            entry.segment.is_cancelled.store(true, Ordering::Relaxed);
        }
        state.tasks.retain(|task| !task.segment.is_cancelled());
        state.row.insert(place.clone(), Entry::new(place, Part::Elsewhere));
        self.update(&state);
    }

    /// Behind which place nothing is wanted.
    pub fn cut(&self) -> Option<Place> {
        self.state().cut.clone()
    }

    pub fn is_over(&self) -> bool {
        self.state().is_over
    }

    /// Whether nobody is at work, here or for this process, and nobody is going to be.
    pub fn is_settled(&self) -> bool {
        let state = self.state();
        state.working == 0 && state.tasks.is_empty() && !state.is_lent()
    }

    /// Whether all is explored.
    pub fn is_done(&self) -> bool {
        self.state().row.is_empty()
    }

    /// Whether there is a task that nobody has begun.
    pub fn has_spare(&self) -> bool {
        !self.state().tasks.is_empty()
    }

    /// What all have found, as far as they came.
    pub fn into_whole(self) -> Whole {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut whole = state.whole;
        if !whole.has_conflict {
            // There is something left only if the search was stopped.
            for entry in state.row.into_values() {
                if let Part::Explored(explored) = entry.part {
                    whole.findings.append(explored.findings);
                }
            }
        }
        whole
    }
}

impl<'p> State<'p> {
    /// A new segment.
    fn insert(&mut self, start: Start) -> Segment {
        let entry = Entry::new(&start.place, Part::Left(start.log));
        let segment = entry.segment.clone();
        self.row.insert(start.place, entry);
        segment
    }

    /// All that nobody has explored, as tasks.
    fn left(&self) -> impl Iterator<Item = Task<'p>> {
        self.row.iter().filter_map(|(place, entry)| {
            let work = Work::Left(self.left_at(place)?);
            Some(Task { segment: entry.segment.clone(), work })
        })
    }

    /// What is left of a segment that nobody has begun, or of one that was begun elsewhere.
    fn left_at(&self, place: &Place) -> Option<Left> {
        let Part::Left(log) = &self.row.get(place)?.part else {
            return None;
        };
        let start = Start { place: place.clone(), log: log.clone() };
        let next = self.row.range((Bound::Excluded(place), Bound::Unbounded)).next();
        Some(Left { start, end: next.map(|(place, _)| place.clone()) })
    }

    fn is_lent(&self) -> bool {
        self.row.values().any(|entry| entry.holder.is_some())
    }

    /// Cancels all behind a place.
    fn cancel(&mut self, place: &Place) {
        let mut behind = self.row.split_off(place);
        behind.remove_entry(place).into_iter().for_each(|(place, entry)| {
            self.row.insert(place, entry);
        });
        for entry in behind.into_values() {
            entry.segment.is_cancelled.store(true, Ordering::Relaxed);
        }
        self.tasks.retain(|task| !task.segment.is_cancelled());
        self.cut = Some(place.clone());
    }

    fn stop(&mut self) {
        self.is_over = true;
        self.tasks.clear();
        let segments = self.row.values().map(|entry| &entry.segment);
        segments.for_each(|segment| segment.is_cancelled.store(true, Ordering::Relaxed));
    }

    fn finish(&mut self, segment: &Segment, mut explored: Explored) {
        let rest = explored.rest.take();
        // Who has not come further has found nothing.
        let is_further = rest.as_ref().is_none_or(|rest| rest.place != *segment.place);
        if !is_further || !self.row.contains_key(&*segment.place) {
            return;
        }
        if explored.findings.end.is_some() {
            self.cancel(&segment.place);
        } else if let Some(rest) = rest.filter(|rest| !self.row.contains_key(&rest.place)) {
            self.insert(rest);
        }
        if let Some(entry) = self.row.get_mut(&*segment.place) {
            entry.part = Part::Explored(Box::new(explored));
        }
        if !self.is_over {
            self.unite(&segment.place);
            self.begin();
        }
    }

    /// Makes one of a segment and its neighbours where they are explored.
    fn unite(&mut self, place: &Place) {
        let behind = (Bound::Excluded(place), Bound::Unbounded);
        if let Some((next, _)) = self.row.range(behind).next().filter(|(_, it)| it.is_explored()) {
            let next = next.clone();
            self.join(place, &next);
        }
        if let Some((before, _)) =
            self.row.range(..place).next_back().filter(|(_, it)| it.is_explored())
        {
            let before = before.clone();
            self.join(&before, place);
        }
    }

    /// Adds the next of two explored neighbours to the first.
    fn join(&mut self, first: &Place, next: &Place) {
        let Some(Entry { part: Part::Explored(next), .. }) = self.row.remove(next) else {
            return;
        };
        if let Some(Entry { part: Part::Explored(first), .. }) = self.row.get_mut(first) {
            first.findings.append(next.findings);
            first.discoveries.extend(next.discoveries);
        }
    }

    /// Adds what is explored at the start of the row to what comes before it.
    fn begin(&mut self) {
        while !self.is_part
            && let Some(first) = self.row.first_entry().filter(|first| first.get().is_explored())
        {
            let Part::Explored(explored) = first.remove().part else {
                return;
            };
            if !self.whole.known.learn(&explored.discoveries) {
                self.whole.has_conflict = true;
                return self.stop();
            }
            self.whole.findings.append(explored.findings);
        }
    }

    /// What was stopped may have left more in the row than has to be there.
    fn tidy(&mut self) {
        let explored = self.row.iter().filter(|(_, entry)| entry.is_explored());
        let explored: Vec<Place> = explored.map(|(place, _)| place.clone()).collect();
        for place in explored.iter().rev() {
            self.unite(place);
        }
        self.begin();
    }
}

#[cfg(test)]
pub mod tests;
