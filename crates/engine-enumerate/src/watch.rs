//! When a search is to stop.
//!
//! A step of the search takes a microsecond on a small test and milliseconds on a large one.
//! Looking at the clock costs as much as a small step, so it is looked at only as often as
//! the pace of the steps so far calls for.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use parallax_control::Control;

pub struct Watch<'a> {
    control: &'a Control<'a>,
    looked: Instant,
    /// Steps from one look at the clock to the next, and how many of them are left.
    stride: u32,
    left: u32,
    /// Steps that were not accounted for.
    steps: u64,
}

impl<'a> Watch<'a> {
    const MAX_STRIDE: u32 = 64;
    /// Looks that follow on each other faster than this are too many.
    const PACE: Duration = Duration::from_micros(200);
    /// Steps are accounted for so many at a time, each at so many nominal nanoseconds.
    const ACCOUNTED: u64 = 256;
    const WORK: u64 = 5_000;

    pub fn new(control: &'a Control<'a>) -> Watch<'a> {
        Watch { control, looked: Instant::now(), stride: 1, left: 0, steps: 0 }
    }

    /// To be called at each step; breaks when the search is to stop.
    pub fn poll(&mut self) -> ControlFlow<()> {
        if self.control.cancel.is_cancelled() {
            return ControlFlow::Break(());
        }
        self.steps += 1;
        if self.steps == Self::ACCOUNTED {
            self.steps = 0;
            self.control.spend(Self::ACCOUNTED * Self::WORK);
        }
        if self.left > 0 {
            self.left -= 1;
            return ControlFlow::Continue(());
        }
        let now = Instant::now();
        self.stride = if now - self.looked < Self::PACE {
            (self.stride * 2).min(Self::MAX_STRIDE)
        } else {
            1
        };
        (self.looked, self.left) = (now, self.stride - 1);
        match self.control.reason() {
            None => ControlFlow::Continue(()),
            Some(_) => ControlFlow::Break(()),
        }
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
        let control = Control::lasting(Duration::from_millis(100));
        let mut watch = Watch::new(&control);
        while watch.stride < Watch::MAX_STRIDE && watch.poll().is_continue() {}
        let _ = watch.look();
        let slow = || std::thread::sleep(Duration::from_millis(5));
        let mut steps = std::iter::repeat_with(slow).take(1000);
        assert!(steps.position(|()| watch.poll().is_break()) < Some(100));
        assert!(watch.poll().is_break());
    }

    #[test]
    fn a_flag_stops_at_once() {
        let control = Control::default();
        let mut watch = Watch::new(&control);
        assert!(watch.poll().is_continue());
        control.cancel.cancel();
        assert!(watch.poll().is_break());
    }
}
