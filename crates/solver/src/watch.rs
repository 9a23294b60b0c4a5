//! Stops a search from outside: at a deadline, at an interrupt, or when memory runs out.
//!
//! Solvers ask a callback whether to go on, and want to own what it looks at. So a thread looks at
//! the [`Control`], which the caller owns, and leaves what it finds in a flag that is shared.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::thread::{self, Thread};
use std::time::Duration;

use parallax_control::{Control, Stop};

use crate::Answer;

/// Why to stop, once there is a reason.
#[derive(Clone, Default, Debug)]
pub(crate) struct Signal(Arc<AtomicU8>);

impl Signal {
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed) != 0
    }

    fn reason(&self) -> Option<Stop> {
        match self.0.load(Ordering::Relaxed) {
            0 => None,
            1 => Some(Stop::Deadline),
            2 => Some(Stop::Cancelled),
            _ => Some(Stop::MemoryLimit),
        }
    }

    /// What is answered where the search has ended without an answer.
    pub fn answer(&self) -> Answer {
        Answer::Stopped(self.stop())
    }

    pub fn stop(&self) -> crate::Stop {
        self.reason().map_or(crate::Stop::Incomplete, crate::Stop::Outside)
    }

    pub fn clear(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    fn set(&self, stop: Stop) {
        let code = match stop {
            Stop::Deadline => 1,
            Stop::Cancelled => 2,
            Stop::MemoryLimit => 3,
        };
        self.0.store(code, Ordering::Relaxed);
    }
}

const PAUSE: Duration = Duration::from_millis(5);

/// Runs a search; when it should end, sets the signal and calls `interrupt` on another thread, again
/// and again: a search may miss it between two of its phases.
pub(crate) fn watched<R>(
    control: &Control,
    signal: &Signal,
    interrupt: impl Fn() + Send,
    search: impl FnOnce() -> R,
) -> R {
    signal.clear();
    if let Some(stop) = control.reason() {
        signal.set(stop);
    }
    if signal.is_set() {
        return search();
    }
    let done = &AtomicBool::new(false);
    thread::scope(|scope| {
        let watch = move || {
            while !done.load(Ordering::Relaxed) {
                if !signal.is_set()
                    && let Some(stop) = control.reason()
                {
                    signal.set(stop);
                }
                if signal.is_set() {
                    interrupt();
                }
                thread::park_timeout(PAUSE);
            }
        };
        match thread::Builder::new().spawn_scoped(scope, watch) {
            Ok(watcher) => {
                let _done = Done { done, watcher: watcher.thread() };
                search()
            }
            // What nobody watches might go on for ever.
            Err(_) => {
                signal.set(Stop::MemoryLimit);
                search()
            }
        }
    })
}

/// Lets the watcher know that the search is over, also by a panic.
struct Done<'a> {
    done: &'a AtomicBool,
    watcher: &'a Thread,
}

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.done.store(true, Ordering::Relaxed);
        self.watcher.unpark();
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

    use super::*;

    #[test]
    fn an_interrupt_reaches_the_search() {
        let control = Control::default();
        let signal = Signal::default();
        watched(
            &control,
            &signal,
            || {},
            || {
                assert!(!signal.is_set());
                control.cancel.cancel();
                while !signal.is_set() {
                    thread::yield_now();
                }
            },
        );
        assert_eq!(signal.reason(), Some(Stop::Cancelled));
    }

    #[test]
    fn nobody_waits_after_a_panic() {
        let (control, signal) = (Control::default(), Signal::default());
        let panic = || resume_unwind(Box::new(7));
        let search = || watched(&control, &signal, || {}, panic);
        let caught: Result<(), _> = catch_unwind(AssertUnwindSafe(search));
        assert_eq!(caught.unwrap_err().downcast_ref(), Some(&7));
        assert!(!signal.is_set());
    }

    #[test]
    fn a_search_without_limits_is_left_alone() {
        let signal = Signal::default();
        assert_eq!(watched(&Control::default(), &signal, || {}, || 7), 7);
        assert_eq!(signal.reason(), None);
    }
}
