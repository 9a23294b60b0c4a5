//! How many executions there will be, before they are explored.
//!
//! Random ways down the search tree, each weighted with the number of ways it might have gone
//! at every step, give the number of leaves on average (D. E. Knuth, Estimating the efficiency
//! of backtrack programs, Mathematics of Computation 29, 1975).

use std::time::{Duration, Instant};

use crate::search::Search;

/// Most ways down, and the longest time they may take.
const SAMPLES: u32 = 500;
const PATIENCE: Duration = Duration::from_millis(200);

/// The expected number of executions, and the standard deviation of that expectation.
pub fn estimate(search: &mut Search<'_, '_>) -> Option<(f64, f64)> {
    let start = Instant::now();
    let mut random = Random(0x853c_49e6_748f_ea9b);
    let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for _ in 0..SAMPLES {
        let weight = search.sample(|below| random.below(below))?;
        count += 1.0;
        sum += weight;
        squares += weight * weight;
        if start.elapsed() > PATIENCE {
            break;
        }
    }
    let mean = sum / count;
    let variance = (squares / count - mean * mean).max(0.0);
    Some((mean, (variance / count).sqrt()))
}

/// Numbers that look random, the same in every run (M. E. O'Neill's PCG would do as well; this
/// is G. Marsaglia's xorshift, 2003).
struct Random(u64);

impl Random {
    fn below(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % below.max(1)
    }
}
