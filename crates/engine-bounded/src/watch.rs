//! Looking at the clock and at memory, and whether somebody has had enough.

use std::cell::Cell;
use std::time::Instant;

use parallax_solver::{Control, Stop};

use crate::options::Options;

/// Once there is a reason to stop, it stays.
pub struct Watch<'a> {
    control: Control<'a>,
    calls: Cell<u32>,
    stop: Cell<Option<Stop>>,
}

impl<'a> Watch<'a> {
    /// It is looked at the clock once in so many calls.
    const INTERVAL: u32 = 64;

    pub fn new(options: &Options<'a>, started: Instant) -> Watch<'a> {
        let control = Control {
            deadline: options.timeout.and_then(|limit| started.checked_add(limit)),
            interrupt: options.stop,
            memory_limit: options.memory_limit,
        };
        Watch { control, calls: Cell::new(0), stop: Cell::new(None) }
    }

    /// Cheap enough for inner loops. What is left unfinished then is of no use to anybody.
    pub fn is_over(&self) -> bool {
        self.calls.set(self.calls.get().wrapping_add(1));
        if self.calls.get().is_multiple_of(Self::INTERVAL) && self.stop.get().is_none() {
            self.stop.set(self.control.reason());
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
