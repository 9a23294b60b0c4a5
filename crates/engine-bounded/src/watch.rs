//! Looking at the clock, and whether somebody has had enough.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

pub struct Watch<'a> {
    stop: Option<&'a AtomicBool>,
    end: Option<Instant>,
    calls: u32,
}

impl<'a> Watch<'a> {
    /// The clock is looked at once in so many calls.
    const INTERVAL: u32 = 256;

    pub fn new(stop: Option<&'a AtomicBool>, end: Option<Instant>) -> Watch<'a> {
        Watch { stop, end, calls: 0 }
    }

    /// Cheap enough for inner loops.
    pub fn poll(&mut self) -> ControlFlow<()> {
        self.calls = self.calls.wrapping_add(1);
        match self.calls.is_multiple_of(Self::INTERVAL) {
            true => self.look(),
            false => ControlFlow::Continue(()),
        }
    }

    pub fn look(&self) -> ControlFlow<()> {
        let told = self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed));
        let late = self.end.is_some_and(|end| Instant::now() >= end);
        if told || late { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    pub fn stop(&self) -> Option<&'a AtomicBool> {
        self.stop
    }

    pub fn end(&self) -> Option<Instant> {
        self.end
    }
}
