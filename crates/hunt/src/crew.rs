//! Workers, one after the other: what an engine does to its process (a stack that overflows, memory that
//! is never given back, a search that goes on for ever) is found, and ends with the worker.

use std::io;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use parallax_hunt::figures::Figures;

/// A worker looks at so many programs.
const PROGRAMS: u64 = 100;

pub struct Crew {
    /// The number of the first program.
    pub first: u64,
    pub programs: Option<u64>,
    pub time: Option<Duration>,
    /// Whether the first disagreement is the end.
    pub stops: bool,
    /// What workers get besides.
    pub passed: Vec<String>,
}

/// Runs until programs or time are used up.
pub fn run(crew: &Crew) -> io::Result<Figures> {
    let (mut figures, started) = (Figures::default(), Instant::now());
    let note = std::env::temp_dir().join(format!("parallax-hunt-at-{}", std::process::id()));
    let mut next = crew.first;
    loop {
        let left = crew.time.map(|time| time.saturating_sub(started.elapsed()));
        let programs = match crew.programs {
            Some(programs) => (crew.first + programs).saturating_sub(next).min(PROGRAMS),
            None => PROGRAMS,
        };
        let is_over = left.is_some_and(|left| left.is_zero()) || programs == 0;
        if is_over || (crew.stops && !figures.is_clean()) {
            let _ = std::fs::remove_file(&note);
            return Ok(figures);
        }
        let mut worker = Command::new(std::env::current_exe()?);
        worker.args(&crew.passed).arg("--worker").arg(&note);
        worker.arg(format!("--first={next}")).arg(format!("--programs={programs}"));
        if let Some(left) = left {
            worker.arg(format!("--minutes={}", left.as_secs_f64() / 60.0));
        }
        let output = worker.stdin(Stdio::null()).stderr(Stdio::inherit()).output()?;
        match output.status.code() {
            Some(0 | 1) => {
                let done = Figures::parse(&String::from_utf8_lossy(&output.stdout));
                next += done.get("programs").max(1);
                figures.merge(&done);
            }
            Some(2) => return Err(io::Error::other("a worker could not start")),
            _ => {
                // What it had counted is lost, but not where it was.
                let at = std::fs::read_to_string(&note).ok().and_then(|at| at.parse().ok());
                let at: u64 = at.unwrap_or(next);
                eprintln!("program {at}: the process was ended ({})", output.status);
                figures.add_disagreement(&format!("crash-at-program-{at}"));
                next = at + 1;
            }
        }
    }
}
