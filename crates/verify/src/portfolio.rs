//! Several engines on one query, side by side: the answer that takes the least work wins.
//!
//! Every engine accounts for its work in nominal nanoseconds ([`Control::spend`]), which depend on
//! what it does and never on the clock. An engine's *time* here is the work that it has accounted
//! for. Of two that answer, the one with the smaller time wins, whichever thread came first: an
//! answer is taken only when everybody else has gone beyond its time, or has ended. So the same
//! engine wins at every run, on any number of threads, and only limits in seconds can change that.
//! This is conservative parallel simulation (K. M. Chandy, J. Misra, Asynchronous distributed
//! simulation via a sequence of parallel computations, CACM 1981), with engines for processes.
//!
//! As many engines run at a time as there are threads; those with the smallest times go first. Each runs
//! on one thread, even where others are idle: exploration on several threads looks at graphs that one
//! thread would not have come to before it has found something, so its work would be a matter of chance.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use parallax_control::{Cancel, Control, Gate};
use parallax_program::Diagnostics;
use parallax_query::{Answer, Engine, Query};
use parallax_verdict::{Conclusion, Scope};

use crate::stack::{STACK_BYTES, internal_error};

/// An engine that takes part.
#[derive(Clone, Copy)]
pub struct Entrant<'e> {
    pub engine: &'e dyn Engine,
    pub start: Start,
}

/// When an engine joins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Start {
    /// When all others have come to this time, or have ended.
    At(u64),
    /// When all others have ended without an answer.
    Last,
}

/// Which answers end the race.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Terms {
    /// All; one for a part of all executions after some patience.
    Any,
    /// Only those for all executions. One for a part of them is the answer if there is no other.
    Complete,
}

/// What came of an engine.
pub struct Outcome {
    pub engine: &'static str,
    pub said: Said,
}

pub enum Said {
    Answered(Box<Answer>),
    /// The input, or the model, is not for this engine.
    Refused(Diagnostics),
    /// Another one answered first.
    Unfinished,
}

/// What an answer for a part of all executions must be ahead of whoever may still answer for all
/// of them.
const PATIENCE: u64 = 5_000_000_000;

/// So often somebody who waits looks at the clock.
const PAUSE: Duration = Duration::from_millis(20);

/// Asks all of them. The first outcome is that of the winner, if somebody has won; the others come
/// in the order of the entrants.
pub fn race(
    entrants: &[Entrant<'_>],
    query: &Query<'_>,
    control: &Control<'_>,
    terms: Terms,
) -> (Option<Answer>, Vec<Outcome>) {
    let race = Race::new(entrants, query, control, terms);
    let mut said: Vec<Said> = thread::scope(|scope| {
        let workers: Vec<_> = (0..entrants.len())
            .map(|number| {
                let race = &race;
                let worker = thread::Builder::new().stack_size(STACK_BYTES);
                worker.spawn_scoped(scope, move || race.run(number))
            })
            .collect();
        let joined = workers.into_iter().enumerate().map(|(number, worker)| {
            // A panic, or no thread to be had, is no answer.
            let said = worker.ok().and_then(|worker| worker.join().ok());
            race.leave(number);
            said.unwrap_or_else(|| Said::Refused(vec![internal_error()]))
        });
        joined.collect()
    });
    let board = race.board();
    debug_assert!(board.lanes.iter().all(|lane| lane.state == State::Ended));
    let winner = board.winner();
    // Whether one that lost had come to its end is a matter of chance.
    for (number, said) in said.iter_mut().enumerate() {
        if board.has_lost(number) {
            *said = Said::Unfinished;
        }
    }
    drop(board);
    let answer = winner.and_then(|number| match said.get_mut(number) {
        Some(said @ Said::Answered(_)) => match std::mem::replace(said, Said::Unfinished) {
            Said::Answered(answer) => Some(*answer),
            _ => None,
        },
        _ => None,
    });
    let all = entrants.iter().zip(said).enumerate();
    let others = all.filter(|(number, _)| answer.is_none() || Some(*number) != winner);
    let others = others.map(|(_, (entrant, said))| Outcome { engine: entrant.engine.name(), said });
    let others = others.collect();
    (answer, others)
}

struct Race<'a> {
    entrants: &'a [Entrant<'a>],
    query: &'a Query<'a>,
    control: &'a Control<'a>,
    board: Mutex<Board>,
    news: Condvar,
    terms: Terms,
    /// How many may run at a time.
    slots: usize,
}

/// Who is how far.
struct Board {
    lanes: Vec<Lane>,
}

struct Lane {
    time: u64,
    start: Start,
    state: State,
    cancel: Cancel,
    /// The time at which its answer counts, if it has one.
    answered: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Waiting,
    Running,
    Ended,
}

impl Board {
    /// The entrant whose answer has the smallest time; of two, the first.
    fn winner(&self) -> Option<usize> {
        let answered = self.lanes.iter().enumerate();
        let answered = answered.filter_map(|(number, lane)| Some((lane.answered?, number)));
        answered.min().map(|(_, number)| number)
    }

    /// Whether somebody else has won already, whatever this one may say.
    fn has_lost(&self, number: usize) -> bool {
        let Some(winner) = self.winner().filter(|winner| *winner != number) else { return false };
        let (own, best) = (&self.lanes[number], &self.lanes[winner]);
        let was_last = own.start == Start::Last && own.state == State::Waiting;
        was_last || (Some(own.time), number) > (best.answered, winner)
    }

    /// Whether one that waits may begin.
    fn may_start(&self, number: usize) -> bool {
        let others = self.lanes.iter().enumerate().filter(|(other, _)| *other != number);
        match self.lanes[number].start {
            Start::At(time) => {
                let mut running = others.filter(|(_, lane)| lane.state == State::Running);
                running.all(|(_, lane)| lane.time >= time) && !self.is_behind(number, time)
            }
            Start::Last => others.clone().all(|(other, lane)| {
                lane.state == State::Ended || lane.start == Start::Last && other > number
            }),
        }
    }

    /// Whether another one that has not begun is to begin before this one.
    fn is_behind(&self, number: usize, time: u64) -> bool {
        let mut waiting = self.lanes.iter().enumerate().filter(|(other, lane)| {
            *other != number && lane.state == State::Waiting && !self.has_lost(*other)
        });
        waiting.any(|(other, lane)| match lane.start {
            Start::At(start) => (start, other) < (time, number),
            Start::Last => false,
        })
    }

    /// Whether one that runs is among those that may.
    fn may_run(&self, number: usize, slots: usize) -> bool {
        let own = (self.lanes[number].time, number);
        let ahead = self
            .lanes
            .iter()
            .enumerate()
            .filter(|(other, lane)| lane.state == State::Running && (lane.time, *other) < own);
        ahead.count() < slots
    }
}

impl<'a> Race<'a> {
    fn new(
        entrants: &'a [Entrant<'a>],
        query: &'a Query<'a>,
        control: &'a Control<'a>,
        terms: Terms,
    ) -> Race<'a> {
        let lanes = entrants.iter().map(|entrant| Lane {
            time: match entrant.start {
                Start::At(time) => time,
                Start::Last => 0,
            },
            start: entrant.start,
            state: State::Waiting,
            cancel: control.cancel.child(),
            answered: None,
        });
        let board = Mutex::new(Board { lanes: lanes.collect() });
        let slots = control.jobs.get().min(entrants.len().max(1));
        Race { entrants, query, control, board, news: Condvar::new(), terms, slots }
    }

    fn board(&self) -> MutexGuard<'_, Board> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until something holds of the board, or it is too late for that.
    fn wait<'b>(
        &'b self,
        mut board: MutexGuard<'b, Board>,
        is_so: impl Fn(&Board) -> bool,
    ) -> MutexGuard<'b, Board> {
        while !is_so(&board) && self.control.reason().is_none() {
            let waited = self.news.wait_timeout(board, PAUSE);
            (board, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
        board
    }

    fn run(&self, number: usize) -> Said {
        let ready = |board: &Board| board.has_lost(number) || board.may_start(number);
        let mut board = self.wait(self.board(), ready);
        if board.has_lost(number) || !board.may_start(number) {
            drop(board);
            self.leave(number);
            return Said::Unfinished;
        }
        if board.lanes[number].start == Start::Last {
            let times = board.lanes.iter().map(|lane| lane.time);
            board.lanes[number].time = times.max().unwrap_or(0);
        }
        board.lanes[number].state = State::Running;
        let cancel = board.lanes[number].cancel.clone();
        drop(board);
        let turn = Turn { race: self, number };
        // A panic must not let the others wait.
        let leaving = Leaving { race: self, number };
        let control = self.control.clone().alone().until(cancel);
        let control = Control { gate: Some(&turn), ..control };
        let said = self.entrants[number].engine.run(self.query, &control);
        let mut board = self.board();
        let lane = &mut board.lanes[number];
        if let Ok(answer) = &said {
            lane.answered = self.counts_at(answer, lane.time);
        }
        drop(board);
        drop(leaving);
        match said {
            Ok(answer) => Said::Answered(Box::new(answer)),
            Err(errors) => Said::Refused(errors),
        }
    }

    /// When an answer that was found at a time counts as one.
    fn counts_at(&self, answer: &Answer, time: u64) -> Option<u64> {
        let verdict = &answer.verdict;
        let mut asked = self.query.properties.iter();
        match verdict.conclusion() {
            Conclusion::Unsafe => Some(time),
            Conclusion::Unknown => None,
            Conclusion::Safe if !asked.all(|property| verdict.properties.contains(property)) => {
                None
            }
            Conclusion::Safe => match verdict.scope {
                Some(scope) if scope != Scope::Complete && self.terms == Terms::Complete => None,
                Some(Scope::Bounded(_)) if self.query.unroll.is_none() => {
                    Some(time.saturating_add(time.saturating_mul(3).max(PATIENCE)))
                }
                _ => Some(time),
            },
        }
    }

    fn cancel_losers(&self, board: &Board) {
        for (number, lane) in board.lanes.iter().enumerate() {
            if lane.state == State::Running && board.has_lost(number) {
                lane.cancel.cancel();
            }
        }
    }

    /// An entrant has ended, in whatever way.
    fn leave(&self, number: usize) {
        let mut board = self.board();
        board.lanes[number].state = State::Ended;
        self.cancel_losers(&board);
        self.news.notify_all();
    }
}

/// Leaves at the end of its life.
struct Leaving<'r, 'a> {
    race: &'r Race<'a>,
    number: usize,
}

impl Drop for Leaving<'_, '_> {
    fn drop(&mut self) {
        self.race.leave(self.number);
    }
}

/// The gate of one entrant.
struct Turn<'r, 'a> {
    race: &'r Race<'a>,
    number: usize,
}

impl Gate for Turn<'_, '_> {
    fn spend(&self, work: u64) {
        let (race, number) = (self.race, self.number);
        let mut board = race.board();
        debug_assert_eq!(board.lanes[number].state, State::Running, "only who runs spends work");
        board.lanes[number].time = board.lanes[number].time.saturating_add(work);
        race.cancel_losers(&board);
        race.news.notify_all();
        let may_go_on = |board: &Board| board.has_lost(number) || board.may_run(number, race.slots);
        drop(race.wait(board, may_go_on));
    }
}
