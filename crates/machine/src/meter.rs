//! What threads compute between two operations, where that is much: engines count operations and
//! states, and each of them may stand for a million instructions.

use std::sync::atomic::{AtomicU64, Ordering};

/// Nominal nanoseconds of long computations that nobody has accounted for yet. What is short is part
/// of what an engine counts anyway.
#[derive(Default, Debug)]
pub struct Meter(AtomicU64);

impl Meter {
    /// Instructions that are no matter of their own.
    const SHORT: u64 = 1_000;
    /// What an instruction costs, in nominal nanoseconds.
    const WORK: u64 = 30;

    /// Whether so many instructions are a matter of their own.
    pub fn is_long(instructions: u64) -> bool {
        instructions > Self::SHORT
    }

    pub fn add(&self, instructions: u64) {
        if Self::is_long(instructions) {
            self.0.fetch_add(instructions.saturating_mul(Self::WORK), Ordering::Relaxed);
        }
    }

    /// What has come together, for the one who accounts for it.
    pub fn take(&self) -> u64 {
        match self.0.load(Ordering::Relaxed) {
            0 => 0,
            _ => self.0.swap(0, Ordering::Relaxed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_long_computations_count_and_once() {
        let meter = Meter::default();
        meter.add(Meter::SHORT);
        assert_eq!(meter.take(), 0);
        meter.add(2 * Meter::SHORT);
        assert_eq!(meter.take(), 2 * Meter::SHORT * Meter::WORK);
        assert_eq!(meter.take(), 0);
    }
}
