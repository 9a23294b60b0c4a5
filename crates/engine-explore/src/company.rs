//! Several processes on one search, which find what one would.
//!
//! Process 0 leads. It has the row of all segments (see [`crate::crew`]), and explores as the others do. Who
//! has nothing to do gets a segment from it, to share among its own threads, and reports from time to time
//! what has become of it: what is explored, and where the rest begins, which takes the place of the segment
//! in the row. If somebody is idle and nothing is there, those at work are asked to give a piece back. So
//! the row is always all that there is: where somebody is lost, what that one had at its last report is
//! left to explore, and nothing else.
//!
//! Each search is an epoch: if it has to start anew, all start with what is known then. That nobody is
//! at work and no letter under way is what the [`Link`] says.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use parallax_control::{Link, News};
use parallax_verdict::Reason;
use serde::{Deserialize, Serialize};

use crate::checkpoint::Mode;
use crate::crew::{Crew, Part};
use crate::known::Known;
use crate::observer::Shared;
use crate::place::{Left, Place};
use crate::standing::Runner;

/// Between two looks at what there is to do.
const PAUSE: Duration = Duration::from_millis(2);
/// Between two reports of somebody who is at work.
const NEWS: Duration = Duration::from_secs(1);

/// What process 0 says.
#[derive(Serialize, Deserialize)]
pub enum Call {
    /// A search begins.
    Begin { mode: Mode, known: Box<Known> },
    /// This is to be explored.
    Work(Left),
    /// Somebody is idle.
    Share,
    /// Nobody wants to know what is behind this place.
    Cut(Place),
    /// The search is over; what is left is to be reported.
    Stop,
}

/// What the others say: what has become of the segment.
#[derive(Serialize, Deserialize)]
pub struct Report {
    pub parts: Vec<(Place, Part)>,
    /// Which of them are for somebody else.
    pub back: Vec<Place>,
    asked: Vec<u64>,
    is_idle: bool,
    /// Why it can go no further.
    failed: Option<String>,
}

/// What a process that does not lead has come to.
pub enum Ending {
    /// Another search begins.
    Next(Mode, Box<Known>),
    /// All is done.
    Ended,
    /// Somebody is gone.
    Lost(String),
}

fn write(letter: &impl Serialize) -> Vec<u8> {
    // Nothing in it can fail to be written.
    serde_json::to_vec(letter).unwrap_or_default()
}

fn lost(who: &str) -> Reason {
    Reason {
        message: who.to_string(),
        place: None,
        help: Some("the search can go on from its checkpoint, without that process".into()),
    }
}

fn internal(what: &str) -> Reason {
    Reason {
        message: format!("internal error between processes: {what}"),
        place: None,
        help: Some("this is a bug in parallax; please report it with the program".into()),
    }
}

pub fn begin(link: &dyn Link, mode: Mode, known: &Known) {
    link.begin();
    let letter = write(&Call::Begin { mode, known: Box::new(known.clone()) });
    (1..link.processes()).for_each(|to| link.send(to, letter.clone()));
}

/// Leads a search until nobody has anything left to do.
pub fn lead(link: &dyn Link, crew: &Crew<'_>, shared: &Shared<'_>, runner: &Runner<'_>) {
    let mut idle: BTreeSet<usize> = BTreeSet::new();
    let mut asked: BTreeSet<usize> = BTreeSet::new();
    let (mut is_stopped, mut cut) = (false, None);
    let all = |letter: &Call| {
        let letter = write(letter);
        (1..link.processes()).for_each(|to| link.send(to, letter.clone()));
    };
    loop {
        match link.receive(PAUSE) {
            Some(News::Letter { from, text }) => match serde_json::from_slice::<Report>(&text) {
                Ok(report) => {
                    asked.remove(&from);
                    if report.is_idle {
                        idle.insert(from)
                    } else {
                        idle.remove(&from)
                    };
                    runner.has_had_asked(&report.asked);
                    if let Some(why) = &report.failed {
                        let message = format!("process {from} can go no further: {why}");
                        shared.end(Reason { message, place: None, help: None });
                    }
                    crew.replace(from, report.parts, &report.back);
                }
                Err(error) => shared.end(internal(&error.to_string())),
            },
            Some(News::Quiet) => {
                if !crew.is_done() && !crew.is_over() {
                    shared.end(internal("nobody is at work, and something is left"));
                    crew.stop();
                }
                return;
            }
            Some(News::Lost(who)) => {
                shared.end(lost(&who));
                return crew.stop();
            }
            Some(News::Ended) => return,
            None => {}
        }
        if shared.is_over() {
            crew.stop();
        }
        if crew.is_over() && !is_stopped {
            is_stopped = true;
            all(&Call::Stop);
        }
        let now = crew.cut();
        if now != cut {
            now.iter().for_each(|place| all(&Call::Cut(place.clone())));
            cut = now;
        }
        while let Some(to) = idle.first().copied()
            && let Some(left) = crew.lend(to)
        {
            idle.remove(&to);
            link.send(to, write(&Call::Work(left)));
        }
        if crew.need(idle.len()) {
            for to in (1..link.processes()).filter(|to| !idle.contains(to)) {
                if asked.insert(to) {
                    link.send(to, write(&Call::Share));
                }
            }
        }
        if crew.is_settled() {
            link.rest();
        }
    }
}

/// Waits for the first search.
pub fn wait(link: &dyn Link, is_cancelled: impl Fn() -> bool) -> Ending {
    loop {
        match link.receive(PAUSE) {
            Some(News::Letter { text, .. }) => {
                if let Ok(Call::Begin { mode, known }) = serde_json::from_slice(&text) {
                    return Ending::Next(mode, known);
                }
                link.rest();
            }
            Some(News::Ended) => return Ending::Ended,
            Some(News::Lost(who)) => return Ending::Lost(who),
            Some(News::Quiet) | None => {}
        }
        if is_cancelled() {
            return Ending::Lost("stopped".to_string());
        }
    }
}

/// Takes part in a search.
pub fn follow(
    link: &dyn Link,
    crew: &Crew<'_>,
    shared: &Shared<'_>,
    runner: &Runner<'_>,
) -> Ending {
    let (mut is_busy, mut is_wanted, mut reported) = (false, false, Instant::now());
    let mut is_stopped = false;
    let report = |is_wanted: bool, is_idle: bool, failed: Option<String>| {
        let (parts, back) = crew.hand_over(is_wanted);
        let asked = runner.asked();
        link.send(0, write(&Report { parts, back, asked, is_idle, failed }));
    };
    report(false, true, None);
    loop {
        match link.receive(PAUSE) {
            Some(News::Letter { text, .. }) => match serde_json::from_slice(&text) {
                Ok(Call::Begin { mode, known }) => {
                    crew.stop();
                    return Ending::Next(mode, known);
                }
                Ok(Call::Work(left)) if !is_stopped => {
                    crew.put(left);
                    (is_busy, is_wanted, reported) = (true, false, Instant::now());
                }
                Ok(Call::Work(_)) => {}
                Ok(Call::Share) => is_wanted = is_busy,
                Ok(Call::Cut(place)) => crew.cut_off(&place),
                Ok(Call::Stop) => shared.end(lost("the search is over")),
                Err(_) => shared.end(internal("a letter that cannot be read")),
            },
            Some(News::Quiet) | None => {}
            Some(News::Ended) => {
                crew.stop();
                return Ending::Ended;
            }
            Some(News::Lost(who)) => {
                shared.end(lost(&who));
                crew.stop();
                return Ending::Lost(who);
            }
        }
        crew.need(usize::from(is_wanted));
        if shared.is_over() && !is_stopped {
            crew.stop();
            if crew.is_settled() {
                is_stopped = true;
                let why = shared.limit().map(|reason| reason.message);
                let why = why.filter(|why| why != "the search is over");
                if is_busy || why.is_some() {
                    report(true, true, why);
                }
                is_busy = false;
            }
        } else if is_busy && crew.is_settled() {
            report(false, true, None);
            (is_busy, is_wanted) = (false, false);
        } else if is_busy && is_wanted && crew.has_spare() {
            report(true, false, None);
            (is_wanted, reported) = (false, Instant::now());
        } else if is_busy && reported.elapsed() > NEWS {
            shared.collect();
            std::thread::sleep(10 * PAUSE);
            report(false, false, None);
            reported = Instant::now();
        }
        if !is_busy {
            link.rest();
        }
    }
}
