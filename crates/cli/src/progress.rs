//! One line on the terminal that says how far a batch is. Only where a person is watching.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use parallax_program::is_obeyed;

const INTERVAL: Duration = Duration::from_millis(100);
/// Fast batches should not flicker.
const PATIENCE: Duration = Duration::from_millis(400);
const WIDTH: usize = 79;

pub struct Progress {
    enabled: bool,
    total: usize,
    started: Instant,
    drawn: Option<Instant>,
}

impl Progress {
    pub fn new(total: usize, wanted: bool) -> Progress {
        Progress {
            enabled: wanted && total > 1 && io::stderr().is_terminal(),
            total,
            started: Instant::now(),
            drawn: None,
        }
    }

    /// Makes room for other output.
    pub fn clear(&mut self) {
        if self.drawn.take().is_some() {
            let _ = write!(io::stderr().lock(), "\r\x1b[K");
        }
    }

    pub fn show(&mut self, done: usize, current: &str) {
        let waited = self.started.elapsed() >= PATIENCE;
        let fresh = self.drawn.is_some_and(|drawn| drawn.elapsed() < INTERVAL);
        if !self.enabled || !waited || fresh {
            return;
        }
        let line = line(done, self.total, self.started.elapsed(), current);
        let mut stderr = io::stderr().lock();
        let _ = write!(stderr, "\r\x1b[K{line}");
        let _ = stderr.flush();
        self.drawn = Some(Instant::now());
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}

fn line(done: usize, total: usize, elapsed: Duration, current: &str) -> String {
    let rate = done as f64 / elapsed.as_secs_f64().max(0.001);
    let left = if rate > 0.0 {
        let seconds = (total - done.min(total)) as f64 / rate;
        format!(", {seconds:.0} s left")
    } else {
        String::new()
    };
    let line = format!("{done}/{total} tests, {rate:.0}/s{left}: {current}");
    line.chars().filter(|c| !is_obeyed(*c)).take(WIDTH).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_how_far_and_how_long() {
        let text = line(20, 100, Duration::from_secs(4), "SB\n");
        assert_eq!(text, "20/100 tests, 5/s, 16 s left: SB");
        let text = line(0, 9, Duration::from_secs(1), "MP");
        assert_eq!(text, "0/9 tests, 0/s: MP");
        assert!(line(0, 9, Duration::ZERO, &"x".repeat(500)).len() <= WIDTH);
    }
}
