//! Looking at the clock and at memory, and whether somebody has had enough.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use parallax_solver::{Control, Stop};

use crate::options::Options;

/// Once there is a reason to stop, it stays.
pub struct Watch<'a> {
    control: Control<'a>,
    /// Set by a thread that looks at the clock and at memory, where there are limits. Steps of the
    /// engine differ too much in length to be counted.
    alarm: Option<Arc<AtomicBool>>,
    stop: Cell<Option<Stop>>,
}

impl<'a> Watch<'a> {
    /// So often it is looked at the clock.
    const PAUSE: Duration = Duration::from_millis(10);

    pub fn new(options: &Options<'a>, started: Instant) -> Watch<'a> {
        let control = Control {
            deadline: options.timeout.and_then(|limit| started.checked_add(limit)),
            interrupt: options.stop,
            memory_limit: options.memory_limit,
        };
        Watch { alarm: Self::alarm(&control), control, stop: Cell::new(None) }
    }

    /// None where nothing is limited. The thread ends with the watch.
    fn alarm(control: &Control<'a>) -> Option<Arc<AtomicBool>> {
        let limits = Control {
            deadline: control.deadline,
            interrupt: None,
            memory_limit: control.memory_limit,
        };
        if limits.deadline.is_none() && limits.memory_limit.is_none() {
            return None;
        }
        let alarm = Arc::new(AtomicBool::new(false));
        let shared = Arc::downgrade(&alarm);
        let look = move || {
            while let Some(alarm) = shared.upgrade() {
                if limits.reason().is_some() {
                    alarm.store(true, Ordering::Relaxed);
                    return;
                }
                drop(alarm);
                thread::sleep(Self::PAUSE);
            }
        };
        // Without a thread there are no limits within a phase, only between phases.
        thread::Builder::new().spawn(look).ok().map(|_| alarm)
    }

    /// Cheap enough for inner loops. What is left unfinished then is of no use to anybody.
    pub fn is_over(&self) -> bool {
        if self.stop.get().is_none() {
            let is_set = |flag: &AtomicBool| flag.load(Ordering::Relaxed);
            let rings = self.alarm.as_deref().is_some_and(is_set);
            if rings || self.control.interrupt.is_some_and(is_set) {
                self.stop.set(Some(self.control.reason().unwrap_or(Stop::MemoryLimit)));
            }
        }
        self.stop.get().is_some()
    }

    /// Whether what was done until now is whole.
    pub fn check(&self) -> Result<(), Stop> {
        match self.stop.get().or_else(|| self.control.reason()) {
            Some(stop) => Err(stop),
            None => Ok(()),
        }
    }

    pub fn control(&self) -> &Control<'a> {
        &self.control
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn a_reason_to_stop_stays() {
        let flag = AtomicBool::new(false);
        let watch =
            Watch::new(&Options { stop: Some(&flag), ..Options::default() }, Instant::now());
        assert!((0..1_000).all(|_| !watch.is_over()));
        assert_eq!(watch.check(), Ok(()));
        flag.store(true, Ordering::Relaxed);
        assert!((0..1_000).any(|_| watch.is_over()));
        flag.store(false, Ordering::Relaxed);
        assert_eq!(watch.check(), Err(Stop::Interrupt));
    }
}
