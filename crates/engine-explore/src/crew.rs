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
    Begun { graph: Graph<'p>, memory: Memory, path: Path },
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
    /// What comes before the row.
    whole: Whole,
    /// In depth-first order.
    row: BTreeMap<Place, Entry>,
}

struct Entry {
    segment: Segment,
    part: Part,
}

impl Entry {
    fn is_explored(&self) -> bool {
        matches!(self.part, Part::Explored(_))
    }
}

impl<'p> Crew<'p> {
    /// A search that has come so far.
    pub fn new(progress: Progress) -> Crew<'p> {
        let entry = |(place, part): (Place, Part)| {
            (place.clone(), Entry { segment: Segment::new(place), part })
        };
        let mut state = State {
            tasks: VecDeque::new(),
            waiting: 0,
            working: 0,
            is_over: false,
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
        let wanted = state.waiting.saturating_sub(state.tasks.len());
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
            if state.working == 0 {
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
        let segment = Segment::new(start.place.clone());
        let entry = Entry { segment: segment.clone(), part: Part::Left(start.log) };
        self.row.insert(start.place, entry);
        segment
    }

    /// All that nobody has explored, as tasks.
    fn left(&self) -> impl Iterator<Item = Task<'p>> {
        let next = |place: &Place| {
            self.row.range((Bound::Excluded(place), Bound::Unbounded)).next().map(|(at, _)| at)
        };
        self.row.iter().filter_map(move |(place, entry)| match &entry.part {
            Part::Left(log) => {
                let start = Start { place: place.clone(), log: log.clone() };
                let left = Left { start, end: next(place).cloned() };
                Some(Task { segment: entry.segment.clone(), work: Work::Left(left) })
            }
            Part::Explored(_) => None,
        })
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
        while let Some(first) = self.row.first_entry().filter(|first| first.get().is_explored()) {
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
