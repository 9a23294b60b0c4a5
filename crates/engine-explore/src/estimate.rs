//! How many executions there will be, before they are explored.
//!
//! Random ways down the search tree, each weighted with the number of ways it might have gone
//! at every step, give the number of leaves on average (D. E. Knuth, Estimating the efficiency
//! of backtrack programs, Mathematics of Computation 29, 1975).

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use parallax_control::{Control, Progress};
use parallax_memory::Model;
use parallax_program::{Diagnostics, Program};

use crate::explore;
use crate::options::Options;
use crate::search::Search;

/// Most ways down, and the longest time they may take.
const SAMPLES: u32 = 500;
const PATIENCE: Duration = Duration::from_millis(200);

/// What an exploration will come to.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Estimate {
    /// The expected number of executions, and the standard deviation of that expectation.
    pub executions: (f64, f64),
    /// What an execution takes, with the blocked ones that come with it; None where there has been
    /// none.
    pub each: Option<Duration>,
}

/// How far an exploration has come, and when.
#[derive(Clone, Copy, Default)]
struct Pace {
    first: Option<(Instant, u64)>,
    last: Option<(Instant, u64)>,
    expected: Option<(f64, f64)>,
}

impl Pace {
    fn note(&mut self, progress: &Progress) {
        let now = (Instant::now(), progress.executions);
        // The exploration may have started anew.
        if self.last.is_none_or(|(_, executions)| executions > progress.executions) {
            self.first = Some(now);
        }
        self.last = Some(now);
        self.expected = progress.estimate;
    }

    fn lasts(&self) -> Duration {
        match (self.first, self.last) {
            (Some((first, _)), Some((last, _))) => last - first,
            _ => Duration::ZERO,
        }
    }

    fn each(&self) -> Option<Duration> {
        let executions = self.last?.1.saturating_sub(self.first?.1);
        (executions > 0).then(|| self.lasts().div_f64(executions as f64))
    }
}

/// What an exploration will come to, for which it is begun; one that comes to its end is known exactly.
/// None where there is nothing to go by; the error is a model that the engine cannot use.
pub fn estimate(
    program: &Program,
    model: &Model,
    options: &Options<'_>,
) -> Result<Option<Estimate>, Diagnostics> {
    let pace = Mutex::new(Pace::default());
    let lock = || pace.lock().unwrap_or_else(PoisonError::into_inner);
    let cancel = options.control.cancel.child();
    let progress = |progress: &Progress| {
        let mut pace = lock();
        pace.note(progress);
        if pace.lasts() > PATIENCE {
            cancel.cancel();
        }
    };
    let control = options.control.clone().until(cancel.clone());
    let options = Options {
        properties: Vec::new(),
        estimate: true,
        all: true,
        control: Control { progress: Some(&progress), ..control },
        every: None,
        checkpoint: None,
        link: None,
        ..*options
    };
    let started = Instant::now();
    let verdict = explore(program, model, &options)?;
    let pace = *lock();
    if !cancel.is_cancelled() && verdict.reason.is_none() {
        let executions = verdict.counts.executions as f64;
        let each = Some(started.elapsed().div_f64(executions.max(1.0)));
        return Ok(Some(Estimate { executions: (executions, 0.0), each }));
    }
    // Where most ways end blocked, few samples may have met no execution at all.
    let counted = pace.last.map_or(0, |(_, executions)| executions) as f64;
    let expected = pace.expected.filter(|(mean, _)| *mean > 0.0 && *mean >= counted);
    Ok(expected.map(|executions| Estimate { executions, each: pace.each() }))
}

/// The expected number of executions, and the standard deviation of that expectation.
pub fn sampled(search: &mut Search<'_, '_>) -> Option<(f64, f64)> {
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
