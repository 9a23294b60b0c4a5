//! Stops a search from outside: at a deadline, at an interrupt, or when memory runs out.
//!
//! Solvers ask a callback whether to go on, and want to own what it looks at. So a thread looks at
//! the [`Control`], which the caller owns, and leaves what it finds in a flag that is shared.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::{Control, Stop};

/// Why to stop, once there is a reason.
#[derive(Clone, Default, Debug)]
pub(crate) struct Signal(Arc<AtomicU8>);

impl Signal {
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed) != 0
    }

    pub fn reason(&self) -> Option<Stop> {
        match self.0.load(Ordering::Relaxed) {
            0 => None,
            1 => Some(Stop::Deadline),
            2 => Some(Stop::Interrupt),
            _ => Some(Stop::MemoryLimit),
        }
    }

    pub fn clear(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    fn set(&self, stop: Stop) {
        let code = match stop {
            Stop::Deadline => 1,
            Stop::Interrupt => 2,
            Stop::MemoryLimit | Stop::Incomplete => 3,
        };
        self.0.store(code, Ordering::Relaxed);
    }
}

const PAUSE: Duration = Duration::from_millis(5);

/// Runs a search; when it should end, sets the signal and calls `interrupt` on another thread.
pub(crate) fn watched<R>(
    control: &Control,
    signal: &Signal,
    interrupt: impl FnOnce() + Send,
    search: impl FnOnce() -> R,
) -> R {
    signal.clear();
    if let Some(stop) = control.reason() {
        signal.set(stop);
    }
    if control.is_unlimited() || signal.is_set() {
        return search();
    }
    let done = AtomicU8::new(0);
    thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            while done.load(Ordering::Relaxed) == 0 {
                if let Some(stop) = control.reason() {
                    signal.set(stop);
                    interrupt();
                    return;
                }
                thread::park_timeout(PAUSE);
            }
        });
        let result = search();
        done.store(1, Ordering::Relaxed);
        watcher.thread().unpark();
        result
    })
}

impl Control<'_> {
    pub(crate) fn is_unlimited(&self) -> bool {
        self.deadline.is_none() && self.interrupt.is_none() && self.memory_limit.is_none()
    }

    /// Why to stop now.
    pub fn reason(&self) -> Option<Stop> {
        if self.interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            return Some(Stop::Interrupt);
        }
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Some(Stop::Deadline);
        }
        if self.memory_limit.is_some_and(|limit| resident_mib() > limit) {
            return Some(Stop::MemoryLimit);
        }
        None
    }
}

/// Memory in use by the process.
fn resident_mib() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").ok();
    let pages = pages.and_then(|text| text.split_whitespace().nth(1)?.parse::<u64>().ok());
    pages.unwrap_or(0) * 4096 / (1 << 20)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;

    #[test]
    fn an_interrupt_reaches_the_search() {
        let flag = AtomicBool::new(false);
        let control = Control { interrupt: Some(&flag), ..Control::default() };
        let signal = Signal::default();
        watched(
            &control,
            &signal,
            || {},
            || {
                assert!(!signal.is_set());
                flag.store(true, Ordering::Relaxed);
                while !signal.is_set() {
                    thread::yield_now();
                }
            },
        );
        assert_eq!(signal.reason(), Some(Stop::Interrupt));
    }

    #[test]
    fn a_search_without_limits_is_left_alone() {
        let signal = Signal::default();
        assert_eq!(watched(&Control::default(), &signal, || {}, || 7), 7);
        assert_eq!(signal.reason(), None);
    }
}
