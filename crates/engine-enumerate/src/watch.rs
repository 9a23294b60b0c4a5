//! When a search is to stop.
//!
//! A step of the search takes a microsecond on a small test and milliseconds on a large one.
//! Looking at the clock costs as much as a small step, so it is looked at only as often as
//! the pace of the steps so far calls for.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

pub struct Watch<'a> {
    stop: Option<&'a AtomicBool>,
    end: Option<Instant>,
    looked: Instant,
    /// Steps from one look at the clock to the next, and how many of them are left.
    stride: u32,
    left: u32,
}

impl<'a> Watch<'a> {
    const MAX_STRIDE: u32 = 64;
    /// Looks that follow on each other faster than this are too many.
    const PACE: Duration = Duration::from_micros(200);

    pub fn new(stop: Option<&'a AtomicBool>, end: Option<Instant>) -> Watch<'a> {
        Watch { stop, end, looked: Instant::now(), stride: 1, left: 0 }
    }

    /// To be called at each step; breaks when the search is to stop.
    pub fn poll(&mut self) -> ControlFlow<()> {
        if self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return ControlFlow::Break(());
        }
        if self.left > 0 {
            self.left -= 1;
            return ControlFlow::Continue(());
        }
        let Some(end) = self.end else {
            return ControlFlow::Continue(());
        };
        let now = Instant::now();
        self.stride = if now - self.looked < Self::PACE {
            (self.stride * 2).min(Self::MAX_STRIDE)
        } else {
            1
        };
        (self.looked, self.left) = (now, self.stride - 1);
        if now < end { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    /// The same before steps of another kind, which may be slower by far.
    pub fn look(&mut self) -> ControlFlow<()> {
        self.left = 0;
        let flow = self.poll();
        (self.stride, self.left) = (1, 0);
        flow
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_steps_after_fast_ones_are_looked_at() {
        let end = Instant::now() + Duration::from_millis(100);
        let mut watch = Watch::new(None, Some(end));
        while watch.stride < Watch::MAX_STRIDE && watch.poll().is_continue() {}
        let _ = watch.look();
        let slow = || std::thread::sleep(Duration::from_millis(5));
        let mut steps = std::iter::repeat_with(slow).take(1000);
        assert!(steps.position(|()| watch.poll().is_break()) < Some(100));
        assert!(watch.poll().is_break());
    }

    #[test]
    fn a_flag_stops_at_once() {
        let stop = AtomicBool::new(false);
        let mut watch = Watch::new(Some(&stop), None);
        assert!(watch.poll().is_continue());
        stop.store(true, Ordering::Relaxed);
        assert!(watch.poll().is_break());
    }
}
