//! Which threads' turns must be looked at in a state, so that no view is lost.
//!
//! As in the [search through states](parallax_machine::reduction), threads are taken one after the other until the set is
//! closed: whoever may come to be in conflict with one of its next steps, as far as the search has seen what follows, is in it
//! too. Here a thread may have several next steps at different places, and steps that sleep. These count, as others may wake
//! them, but there is nothing to look at; so the first thread is one that has something to look at, for what follows is learned from
//! that.

use parallax_machine::reduction::Status;
use parallax_machine::reduction::summary::{Access, Kind, Process, SetId, Summaries};
use parallax_machine::system::Waits;

use crate::lazy::Start;

/// What a thread can do in a state.
pub struct Turn<'p> {
    /// Of all steps that it can take, those that sleep or wait included.
    accesses: SetId,
    /// At what it stands at; with no ways at all if that sleeps.
    front: Status,
    starts: Vec<Start<'p>>,
    /// Whether there are stores that it may come to do yet.
    has_pending: bool,
    is_chosen: bool,
    /// Steps that were looked at: from where it stands, and from elsewhere.
    done: (u32, usize),
}

impl<'p> Turn<'p> {
    /// A thread that is not there.
    pub const ABSENT: Turn<'p> = Turn::new(SetId::EMPTY, Status::Absent, Vec::new(), false);

    pub const fn new(
        accesses: SetId,
        front: Status,
        starts: Vec<Start<'p>>,
        has_pending: bool,
    ) -> Turn<'p> {
        Turn { accesses, front, starts, has_pending, is_chosen: false, done: (0, 0) }
    }

    fn ways(&self) -> u32 {
        match self.front {
            Status::Ready(ways) => ways,
            _ => 0,
        }
    }

    fn has_steps(&self) -> bool {
        self.ways() > 0 || !self.starts.is_empty()
    }

    fn is_over(&self) -> bool {
        matches!(self.front, Status::Over)
    }

    /// Whether it may take a step at once, or when somebody wakes it.
    fn is_open(&self) -> bool {
        matches!(self.front, Status::Ready(_)) || self.has_pending
    }

    fn next_step(&mut self) -> Option<(Start<'p>, u64)> {
        if self.done.0 < self.ways() {
            self.done.0 += 1;
            return Some((Start::Front, u64::from(self.done.0 - 1)));
        }
        let start = self.starts.get(self.done.1)?;
        self.done.1 += 1;
        Some((start.clone(), 0))
    }
}

/// By thread.
pub struct Turns<'p>(pub Vec<Turn<'p>>);

impl<'p> Turns<'p> {
    /// The thread that is likely to need the fewest others, of those that must take a step before the end: what is pending of one
    /// that has passed its end need never take effect.
    pub fn choose_one(&mut self, summaries: &Summaries) {
        let must_go_on = |turn: &&mut Turn<'p>| turn.has_steps() && !turn.is_over();
        let ready = self.0.iter_mut().filter(must_go_on);
        match ready.min_by_key(|turn| summaries.rivals(turn.accesses)) {
            Some(best) => best.is_chosen = true,
            None => self.0.iter_mut().for_each(|turn| turn.is_chosen = turn.is_open()),
        }
    }

    /// The next step to look at: the thread, where it begins, and which way it goes.
    pub fn next_step(&mut self) -> Option<(u32, Start<'p>, u64)> {
        let mut chosen = self.0.iter_mut().enumerate().filter(|(_, turn)| turn.is_chosen);
        chosen.find_map(|(thread, turn)| {
            turn.next_step().map(|(start, choice)| (thread as u32, start, choice))
        })
    }

    /// Adds what is missing to the chosen threads. False if that is nothing.
    pub fn close(
        &mut self,
        summaries: &Summaries,
        future: SetId,
        parents: &dyn Fn(u32) -> Option<u32>,
        section: Option<u32>,
    ) -> bool {
        let mut asked = vec![false; self.0.len()];
        let mut wanted: Vec<u32> = Vec::new();
        let mut settled = Settled { summaries, future, known: Vec::new() };
        for turn in self.0.iter().filter(|turn| turn.is_chosen) {
            let rivals = summaries.rivals_in(future, turn.accesses);
            let rivals = rivals.filter(|rival| !settled.is_alike(turn.accesses, rival));
            wanted.extend(rivals.map(|rival| rival.process.thread()));
            wanted.extend(helpers(turn.front, summaries, future, section));
        }
        let mut has_grown = false;
        while let Some(thread) = wanted.pop() {
            let index = thread as usize;
            if asked.len() <= index {
                asked.resize(index + 1, false);
            }
            if std::mem::replace(&mut asked[index], true) {
                continue;
            }
            match self.0.get_mut(index) {
                Some(turn) if turn.is_chosen => {}
                Some(turn) if turn.is_open() => {
                    turn.is_chosen = true;
                    has_grown = true;
                }
                Some(Turn { front: Status::Absent, .. }) | None => wanted.extend(parents(thread)),
                Some(turn) => wanted.extend(helpers(turn.front, summaries, future, section)),
            }
        }
        has_grown
    }
}

/// Bytes that are given one value only, by whole stores: whoever is the first to store it, all others find it there. Which of them takes
/// effect makes no difference then.
struct Settled<'s> {
    summaries: &'s Summaries,
    future: SetId,
    known: Vec<((u64, u64), bool)>,
}

impl Settled<'_> {
    /// Whether a later access does no more than the only thing that these do to its bytes.
    fn is_alike(&mut self, accesses: SetId, rival: &Access) -> bool {
        let Kind::Sets(value) = rival.kind else { return false };
        let mut own = self.summaries.all_in(accesses);
        own.all(|own| own.kind == Kind::Write || !own.overlaps(rival.start, rival.size))
            && self.is_settled(rival, value)
    }

    fn is_settled(&mut self, store: &Access, value: u128) -> bool {
        let place = (store.start, store.size);
        if let Some((_, is_settled)) = self.known.iter().find(|(known, _)| *known == place) {
            return *is_settled;
        }
        let is_same = |access: &Access| {
            access.kind == Kind::Sets(value) && (access.start, access.size) == place
        };
        let mut all = self.summaries.all_in(self.future);
        let is_settled = all.all(|it| !it.changes(store.start, store.size) || is_same(it));
        self.known.push((place, is_settled));
        is_settled
    }
}

/// Those that may have a thread go on that waits.
fn helpers(front: Status, summaries: &Summaries, future: SetId, section: Option<u32>) -> Vec<u32> {
    match front {
        Status::Waits(Waits::Section) => section.into_iter().collect(),
        Status::Waits(Waits::Thread(other)) => u32::try_from(other).into_iter().collect(),
        Status::Waits(
            Waits::Bytes { address, bytes, .. } | Waits::BufferOrBytes { address, bytes },
        ) => {
            let all = summaries.all_in(future);
            let changes = all.filter(|access| access.changes(address, u64::from(bytes)));
            changes.map(|access| Process::thread(access.process)).collect()
        }
        _ => Vec::new(),
    }
}
