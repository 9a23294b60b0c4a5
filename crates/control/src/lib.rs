//! How long a search may go on, with how much memory and how many threads, and who watches it.
//!
//! Every engine and every solver gets one [`Control`]. Nothing here is global, so that two searches
//! run side by side, each with limits of its own.

mod cancel;
mod link;
mod work;

use std::fmt;
use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

pub use cancel::Cancel;
pub use link::{Link, News};
pub use work::Gate;

/// The limits of a search. They change whether there is an answer, never which.
#[derive(Clone)]
pub struct Control<'a> {
    pub deadline: Option<Instant>,
    /// Of the whole process, in MiB.
    pub memory_limit: Option<u64>,
    pub cancel: Cancel,
    /// Threads that may search at the same time.
    pub jobs: NonZeroUsize,
    /// Gets to know how far the search has come, from any of its threads.
    pub progress: Option<&'a Watcher<'a>>,
    /// Where the search waits for its turn, if others search beside it.
    pub gate: Option<&'a dyn Gate>,
    /// Decides what is drawn at random.
    pub seed: u64,
}

/// Who watches a search.
pub type Watcher<'a> = dyn Fn(&Progress) + Sync + 'a;

/// How far a search has come.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Progress {
    pub executions: u64,
    pub blocked: u64,
    /// None for engines that do not count them.
    pub states: Option<u64>,
    pub elapsed: Duration,
    /// Expected number of executions, and its standard deviation.
    pub estimate: Option<(f64, f64)>,
}

/// Why a search ends before its answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    Cancelled,
    Deadline,
    MemoryLimit,
}

impl Default for Control<'_> {
    fn default() -> Self {
        Control {
            deadline: None,
            memory_limit: None,
            cancel: Cancel::default(),
            jobs: NonZeroUsize::MIN,
            progress: None,
            gate: None,
            seed: 0,
        }
    }
}

impl fmt::Debug for Control<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Control { deadline, memory_limit, cancel, jobs, progress, gate, seed } = self;
        f.debug_struct("Control")
            .field("deadline", deadline)
            .field("memory_limit", memory_limit)
            .field("cancel", cancel)
            .field("jobs", jobs)
            .field("is_watched", &progress.is_some())
            .field("is_gated", &gate.is_some())
            .field("seed", seed)
            .finish()
    }
}

impl<'a> Control<'a> {
    /// From now on, for so long.
    pub fn lasting(limit: Duration) -> Control<'a> {
        Control::default().within(Some(limit))
    }

    /// The same, for so long from now on, unless the end is sooner.
    pub fn within(mut self, limit: Option<Duration>) -> Control<'a> {
        let end = limit.and_then(|limit| Instant::now().checked_add(limit));
        self.deadline = match (self.deadline, end) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        self
    }

    /// The same, until the token says otherwise.
    pub fn until(self, cancel: Cancel) -> Control<'a> {
        Control { cancel, ..self }
    }

    /// The same, on a single thread.
    pub fn alone(self) -> Control<'a> {
        Control { jobs: NonZeroUsize::MIN, ..self }
    }

    /// The limits alone, for somebody who outlives the watcher and the gate.
    pub fn limits(&self) -> Control<'static> {
        let Control { deadline, memory_limit, .. } = *self;
        Control { deadline, memory_limit, cancel: self.cancel.clone(), ..Control::default() }
    }

    /// The limits for what is left to do at the end of a search, such as to look again at what it has
    /// found: the limits that ended it leave a moment and some memory for that.
    pub fn finishing(&self) -> Control<'static> {
        const MOMENT: Duration = Duration::from_millis(250);
        const ROOM_MIB: u64 = 256;
        let now = Instant::now();
        let is_cancelled = self.cancel.is_cancelled();
        let cancel = if is_cancelled { Cancel::default() } else { self.cancel.clone() };
        let end = self.deadline.map(|end| (end + MOMENT).max(now + MOMENT / 4));
        let soon = is_cancelled.then_some(now + MOMENT);
        let deadline = match (end, soon) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        let memory_limit = self.memory_limit.map(|limit| limit.max(resident_mib() + ROOM_MIB));
        Control { deadline, memory_limit, cancel, ..Control::default() }
    }

    /// What is left of the time; None without a limit.
    pub fn left(&self) -> Option<Duration> {
        self.deadline.map(|end| end.saturating_duration_since(Instant::now()))
    }

    /// Why to stop now. Looks at the clock and at the memory of the process, which costs
    /// microseconds.
    pub fn reason(&self) -> Option<Stop> {
        if self.cancel.is_cancelled() {
            return Some(Stop::Cancelled);
        }
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Some(Stop::Deadline);
        }
        if self.memory_limit.is_some_and(|limit| recent_mib() > limit) {
            return Some(Stop::MemoryLimit);
        }
        None
    }

    /// Calls the watcher, if there is one.
    pub fn report(&self, progress: impl FnOnce() -> Progress) {
        if let Some(watcher) = self.progress {
            watcher(&progress());
        }
    }

    /// Accounts for work, in nominal nanoseconds, and waits for its turn where others search too.
    /// The sum that a search accounts for depends on what it searches, never on the clock.
    pub fn spend(&self, work: u64) {
        if let Some(gate) = self.gate {
            gate.spend(work);
        }
    }
}

/// Memory in use by the process, as it was some milliseconds ago: to ask for it takes as long as many
/// steps of a search.
fn recent_mib() -> u64 {
    // Of the process, like what is asked for.
    static LAST: Mutex<Option<(Instant, u64)>> = Mutex::new(None);
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    match *last {
        Some((when, found)) if when.elapsed() < Duration::from_millis(5) => found,
        _ => {
            let found = resident_mib();
            *last = Some((Instant::now(), found));
            found
        }
    }
}

/// Memory in use by the process, where the system says so; otherwise 0.
pub fn resident_mib() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").ok();
    let pages = pages.and_then(|text| text.split_whitespace().nth(1)?.parse::<u64>().ok());
    pages.unwrap_or(0) * 4096 / (1 << 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_limits_there_is_no_reason() {
        assert_eq!(Control::default().reason(), None);
        assert_eq!(Control::default().left(), None);
    }

    #[test]
    fn each_limit_is_a_reason() {
        let control = Control::lasting(Duration::ZERO);
        assert_eq!(control.reason(), Some(Stop::Deadline));
        assert_eq!(control.left(), Some(Duration::ZERO));
        let control = Control { memory_limit: Some(0), ..Control::default() };
        assert_eq!(control.reason(), Some(Stop::MemoryLimit));
        let control = Control::default();
        control.cancel.cancel();
        assert_eq!(control.reason(), Some(Stop::Cancelled));
    }

    #[test]
    fn the_sooner_end_counts() {
        let control = Control::lasting(Duration::from_secs(1)).within(Some(Duration::ZERO));
        assert_eq!(control.left(), Some(Duration::ZERO));
        let control = control.within(Some(Duration::from_secs(9))).within(None);
        assert_eq!(control.left(), Some(Duration::ZERO));
    }

    #[test]
    fn a_moment_is_left_to_finish() {
        let control = Control { memory_limit: Some(0), ..Control::lasting(Duration::ZERO) };
        control.cancel.cancel();
        assert_eq!(control.reason(), Some(Stop::Cancelled));
        let finishing = control.finishing();
        assert_eq!(finishing.reason(), None);
        assert!(finishing.left().is_some_and(|left| left < Duration::from_secs(1)));
        assert_eq!(Control::default().finishing().left(), None);
        let control = Control::default();
        let finishing = control.finishing();
        control.cancel.cancel();
        assert_eq!(finishing.reason(), Some(Stop::Cancelled));
    }

    #[test]
    fn who_watches_is_called() {
        let seen = std::sync::Mutex::new(0);
        let watcher = |progress: &Progress| *seen.lock().unwrap() += progress.executions;
        let control = Control { progress: Some(&watcher), ..Control::default() };
        control.report(|| Progress { executions: 3, ..Progress::default() });
        assert_eq!(*seen.lock().unwrap(), 3);
    }
}
