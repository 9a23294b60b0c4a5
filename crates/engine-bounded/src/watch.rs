//! Looking at the clock and at memory, and whether somebody has had enough.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use parallax_control::Control;
use parallax_solver::Stop;

/// Once there is a reason to stop, it stays.
pub struct Watch<'a> {
    control: Control<'a>,
    /// Set by a thread that looks at the clock and at memory, where there are limits. Steps of the
    /// engine differ too much in length to be counted.
    alarm: Option<Arc<AtomicBool>>,
    stop: Cell<Option<Stop>>,
    /// Steps until work is accounted for.
    steps: Cell<u32>,
}

impl<'a> Watch<'a> {
    /// So often it is looked at the clock.
    const PAUSE: Duration = Duration::from_millis(10);
    /// Steps between two accounts of work, and what they cost in nominal nanoseconds.
    const STEPS: u32 = 4096;
    const WORK: u64 = 1_000_000;

    pub fn new(control: &Control<'a>) -> Watch<'a> {
        let (stop, steps) = (Cell::new(None), Cell::new(Self::STEPS));
        Watch { alarm: Self::alarm(control), control: control.clone(), stop, steps }
    }

    /// None where nothing is limited. The thread ends with the watch.
    fn alarm(control: &Control<'_>) -> Option<Arc<AtomicBool>> {
        let limits = control.limits();
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
        self.account();
        if self.stop.get().is_none() {
            let rings = self.alarm.as_deref().is_some_and(|alarm| alarm.load(Ordering::Relaxed));
            if rings || self.control.cancel.is_cancelled() {
                let limit = parallax_control::Stop::MemoryLimit;
                self.stop.set(Some(Stop::Outside(self.control.reason().unwrap_or(limit))));
            }
        }
        self.stop.get().is_some()
    }

    /// Accounts for work from time to time.
    fn account(&self) {
        match self.steps.get() {
            0 => {
                self.steps.set(Self::STEPS);
                self.control.spend(Self::WORK);
            }
            steps => self.steps.set(steps - 1),
        }
    }

    /// Whether what was done until now is whole.
    pub fn check(&self) -> Result<(), Stop> {
        match self.stop.get().or_else(|| self.control.reason().map(Stop::Outside)) {
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
    use super::*;

    #[test]
    fn a_reason_to_stop_stays() {
        let control = Control::default();
        let watch = Watch::new(&control);
        assert!((0..1_000).all(|_| !watch.is_over()));
        assert_eq!(watch.check(), Ok(()));
        control.cancel.cancel();
        assert!(watch.is_over());
        assert_eq!(watch.check(), Err(Stop::Outside(parallax_control::Stop::Cancelled)));
    }
}
