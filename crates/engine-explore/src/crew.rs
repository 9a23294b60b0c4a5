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

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::findings::Findings;
use crate::graph::Graph;
use crate::known::{Discovery, Known};
use crate::memory::Memory;
use crate::search::Path;

/// A segment of the search, for who explores it.
#[derive(Clone)]
pub struct Segment {
    number: usize,
    is_cancelled: Arc<AtomicBool>,
}

impl Segment {
    /// Whether nobody wants to know any more what is found.
    pub fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed)
    }
}

/// A piece of a search.
pub struct Task<'p> {
    pub segment: Segment,
    pub graph: Graph<'p>,
    pub memory: Memory,
    pub path: Path,
}

/// What a segment has come to.
pub struct Explored {
    pub findings: Findings,
    pub discoveries: Vec<Discovery>,
}

/// What all have come to.
pub struct Whole {
    pub findings: Findings,
    pub known: Known,
    /// Whether threads have discovered what one thread would not have.
    pub has_conflict: bool,
}

pub struct Crew<'p> {
    state: Mutex<State<'p>>,
    news: Condvar,
    /// Threads that wait, minus tasks that are there for them.
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
    row: Vec<(Segment, Option<Explored>)>,
    /// Segments that there have been.
    numbers: usize,
}

impl<'p> Crew<'p> {
    /// A search that one thread has begun, and its segment.
    pub fn new(findings: Findings, known: Known) -> (Crew<'p>, Segment) {
        let whole = Whole { findings, known, has_conflict: false };
        let mut state = State {
            tasks: VecDeque::new(),
            waiting: 0,
            working: 1,
            is_over: false,
            whole,
            row: Vec::new(),
            numbers: 0,
        };
        let first = state.insert(0);
        let crew =
            Crew { state: Mutex::new(state), news: Condvar::new(), wanted: AtomicUsize::new(0) };
        (crew, first)
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
    pub fn give(&self, giver: &Segment, graph: Graph<'p>, memory: Memory, path: Path) {
        let mut state = self.state();
        let Some(place) = state.place(giver).filter(|_| !state.is_over) else {
            return;
        };
        let segment = state.insert(place + 1);
        state.tasks.push_back(Task { segment, graph, memory, path });
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

    /// Ends the search for a reason other than its end.
    pub fn stop(&self) {
        let mut state = self.state();
        state.stop();
        self.update(&state);
        self.news.notify_all();
    }

    /// What all have found, as far as they came.
    pub fn into_whole(self) -> Whole {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut whole = state.whole;
        if !whole.has_conflict {
            // There is something left only if the search was stopped.
            let rest = state.row.into_iter().filter_map(|(_, explored)| explored);
            rest.for_each(|explored| whole.findings.append(explored.findings));
        }
        whole
    }
}

impl State<'_> {
    fn place(&self, segment: &Segment) -> Option<usize> {
        self.row.iter().position(|(other, _)| other.number == segment.number)
    }

    /// A new segment at that place of the row.
    fn insert(&mut self, place: usize) -> Segment {
        let segment = Segment { number: self.numbers, is_cancelled: Arc::default() };
        self.numbers += 1;
        self.row.insert(place, (segment.clone(), None));
        segment
    }

    /// Cancels all from a place of the row on.
    fn cancel(&mut self, from: usize) {
        for (segment, _) in self.row.drain(from..) {
            segment.is_cancelled.store(true, Ordering::Relaxed);
        }
        self.tasks.retain(|task| !task.segment.is_cancelled());
    }

    fn stop(&mut self) {
        self.is_over = true;
        self.tasks.clear();
        self.row
            .iter()
            .for_each(|(segment, _)| segment.is_cancelled.store(true, Ordering::Relaxed));
    }

    fn finish(&mut self, segment: &Segment, explored: Explored) {
        let Some(place) = self.place(segment) else {
            return;
        };
        if explored.findings.end.is_some() {
            self.cancel(place + 1);
        }
        self.row[place].1 = Some(explored);
        if self.is_over {
            return;
        }
        self.unite(place);
        if place > 0 {
            self.unite(place - 1);
        }
        if self.row.first().is_some_and(|(_, first)| first.is_some())
            && let (_, Some(explored)) = self.row.remove(0)
        {
            self.begin_with(explored);
        }
    }

    /// Makes one of a segment and the next if both are finished.
    fn unite(&mut self, place: usize) {
        let Some([(_, first), (_, next)]) = self.row.get_mut(place..place + 2) else {
            return;
        };
        if let (Some(first), Some(_)) = (first, &next)
            && let Some(next) = next.take()
        {
            first.findings.append(next.findings);
            first.discoveries.extend(next.discoveries);
            self.row.remove(place + 1);
        }
    }

    /// Adds the first of the row to what comes before it.
    fn begin_with(&mut self, explored: Explored) {
        if self.whole.known.learn(&explored.discoveries) {
            self.whole.findings.append(explored.findings);
        } else {
            self.whole.has_conflict = true;
            self.stop();
        }
    }
}

#[cfg(test)]
pub mod tests;
