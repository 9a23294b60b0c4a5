//! One line on the terminal that says how far a search is. Only where a person is watching.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use parallax_control::Progress;
use parallax_verify::Estimate;

const INTERVAL: Duration = Duration::from_millis(100);
/// Fast searches should not flicker.
const PATIENCE: Duration = Duration::from_millis(400);
const WIDTH: usize = 79;

pub struct ProgressLine {
    enabled: bool,
    drawn: Option<Instant>,
}

impl ProgressLine {
    pub fn new(wanted: bool) -> ProgressLine {
        ProgressLine { enabled: wanted && io::stderr().is_terminal(), drawn: None }
    }

    pub fn is_shown(&self) -> bool {
        self.enabled
    }

    /// Makes room for other output.
    pub fn clear(&mut self) {
        if self.drawn.take().is_some() {
            let _ = write!(io::stderr().lock(), "\r\x1b[K");
        }
    }

    pub fn show(&mut self, progress: &Progress) {
        self.draw(progress.elapsed, || match progress.states {
            Some(states) => line_of_states(states, progress),
            None => line(progress),
        });
    }

    fn draw(&mut self, elapsed: Duration, line: impl FnOnce() -> String) {
        let fresh = self.drawn.is_some_and(|drawn| drawn.elapsed() < INTERVAL);
        if !self.enabled || elapsed < PATIENCE || fresh {
            return;
        }
        let line: String = line().chars().take(WIDTH).collect();
        let mut stderr = io::stderr().lock();
        let _ = write!(stderr, "\r\x1b[K{line}");
        let _ = stderr.flush();
        self.drawn = Some(Instant::now());
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        self.clear();
    }
}

fn line_of_states(states: u64, progress: &Progress) -> String {
    let rate = states as f64 / progress.elapsed.as_secs_f64().max(0.001);
    let found = progress.executions.saturating_add(progress.blocked);
    let (states, rate) = (rounded(states as f64), rounded(rate));
    format!("{states} states, {found} of them final, {rate}/s")
}

fn line(progress: &Progress) -> String {
    let searched = progress.executions.saturating_add(progress.blocked);
    let rate = searched as f64 / progress.elapsed.as_secs_f64().max(0.001);
    let mut line = format!("{} executions", progress.executions);
    if progress.blocked > 0 {
        line.push_str(&format!(", {} blocked", progress.blocked));
    }
    line.push_str(&format!(", {}/s", rounded(rate)));
    // An estimate that has been overtaken says nothing any more.
    let estimate = progress.estimate.filter(|(mean, _)| *mean >= searched as f64);
    if let Some((mean, deviation)) = estimate {
        line.push_str(&format!("; about {} ± {} in all", rounded(mean), rounded(deviation)));
        let left = (mean - searched as f64).max(0.0) / rate.max(0.001);
        line.push_str(&format!(", {} left", duration(left)));
    }
    line
}

/// What an exploration will come to, in words.
pub fn forecast(estimate: &Estimate) -> String {
    let (mean, deviation) = estimate.executions;
    let is_exact = deviation == 0.0;
    let about = if is_exact { "" } else { "about " };
    let spread = |text: String| if is_exact { String::new() } else { format!(" ± {text}") };
    let mut line = format!("{about}{}{} executions", rounded(mean), spread(rounded(deviation)));
    if let Some(each) = estimate.each {
        let lasts = |count: f64| match count * each.as_secs_f64() {
            seconds if seconds < 10.0 => format!("{seconds:.1} s"),
            seconds => duration(seconds),
        };
        let [mean, deviation] = [mean, deviation].map(lasts);
        line.push_str(&format!("; about {mean}{} on one thread", spread(deviation)));
    }
    line
}

/// Two digits say enough: `870`, `12 thousand`, `3.1 million`.
fn rounded(number: f64) -> String {
    match number {
        n if !n.is_finite() => "very many".to_string(),
        n if n < 1e4 => format!("{n:.0}"),
        n if n < 1e6 => format!("{:.0} thousand", n / 1e3),
        n if n < 1e9 => format!("{:.1} million", n / 1e6),
        n => format!("{n:.1e}"),
    }
}

fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s if s < 172_800.0 => format!("{:.0} h", s / 3600.0),
        s => format!("{:.0} days", (s / 86_400.0).min(1e6)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forecast_says_how_sure_it_is() {
        let each = Some(Duration::from_millis(1));
        let estimate = |executions| forecast(&Estimate { executions, each });
        assert_eq!(estimate((720.0, 0.0)), "720 executions; about 0.7 s on one thread");
        assert_eq!(
            estimate((3e6, 2e4)),
            "about 3.0 million ± 20 thousand executions; about 50 min ± 20 s on one thread"
        );
        let estimate = Estimate { executions: (5.0, 1.0), each: None };
        assert_eq!(forecast(&estimate), "about 5 ± 1 executions");
    }

    #[test]
    fn the_line_says_how_far_and_how_long() {
        let mut progress = Progress {
            executions: 900,
            blocked: 100,
            states: None,
            elapsed: Duration::from_secs(2),
            estimate: None,
        };
        assert_eq!(line(&progress), "900 executions, 100 blocked, 500/s");
        progress.estimate = Some((61_000.0, 2_000.0));
        let expected =
            "900 executions, 100 blocked, 500/s; about 61 thousand ± 2000 in all, 2 min left";
        assert_eq!(line(&progress), expected);
        progress.estimate = Some((0.0, 0.0));
        assert_eq!(line(&progress), "900 executions, 100 blocked, 500/s");
        progress.estimate = Some((f64::INFINITY, f64::NAN));
        assert!(line(&progress).contains("very many"));
    }
}
