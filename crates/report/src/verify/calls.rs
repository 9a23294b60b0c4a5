//! What calls of the C library come to: `locks m`, `signals c: nobody waits`, and not what the library
//! keeps in the words of a mutex or a condition variable.
//!
//! The library marks its accesses by tags (there is a table at the top of the crate `library`): the kind of
//! the object, and what is done to it. One access of a call says what the call does; the others are shown
//! as parts of it.

use parallax_program::Bits;
use parallax_verdict::{Event, EventKind};

use super::words::{Words, listed};

/// What an access of the library is to people.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Meaning {
    /// What the call does.
    Said(String),
    /// Nothing beside what others of the same call say.
    Part,
}

/// The kinds of objects that threads meet at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// Mutexes and spin locks.
    Lock,
    ReadWriteLock,
    Condition,
    Barrier,
    Semaphore,
    Once,
}

const KINDS: [(&str, Kind); 7] = [
    ("MUTEX", Kind::Lock),
    ("SPIN", Kind::Lock),
    ("RWLOCK", Kind::ReadWriteLock),
    ("COND", Kind::Condition),
    ("BARRIER", Kind::Barrier),
    ("SEM", Kind::Semaphore),
    ("ONCE", Kind::Once),
];

/// Tags that say what an access of the library is for. They are no business of people.
pub fn is_of_library(tag: &str) -> bool {
    const ROLES: [&str; 19] = [
        "LOCK_WRITE",
        "UNLOCK",
        "TAKE",
        "SHARE",
        "AGAIN",
        "GIVE",
        "HELD",
        "FOREIGN",
        "ARRIVE",
        "DEPART",
        "LEAVE",
        "SLEEP",
        "STARTLED",
        "INIT",
        "DESTROY",
        "SIGNAL",
        "BROADCAST",
        "POST",
        "LOOK",
    ];
    tag == BOOKKEEPING || ROLES.contains(&tag) || KINDS.iter().any(|(name, _)| *name == tag)
}

const BOOKKEEPING: &str = "BOOKKEEPING";

fn kind_of(event: &Event) -> Option<Kind> {
    let named = KINDS.iter().find(|(name, _)| event.tags.contains(name));
    named.map(|(_, kind)| *kind)
}

impl Words<'_> {
    /// What an event of the library means; None for those of the program's own.
    pub fn meaning(&self, event: u32) -> Option<Meaning> {
        let before = self.links.previous[event as usize];
        let event =
            before.filter(|read| self.links.update[*read as usize] == Some(event)).unwrap_or(event);
        let at = self.event(event);
        if at.tags.contains(BOOKKEEPING) || self.is_choice_of_call(event) {
            return Some(Meaning::Part);
        }
        let said = self.said(event, kind_of(at)?);
        Some(said.map_or(Meaning::Part, Meaning::Said))
    }

    /// What a thread does that takes no part in an object's word: whether it wakes up early, whom it wakes.
    fn is_choice_of_call(&self, event: u32) -> bool {
        let next = || self.links.next[event as usize];
        matches!(self.event(event).kind, EventKind::Choice { .. })
            && next().is_some_and(|next| kind_of(self.event(next)) == Some(Kind::Condition))
    }

    fn said(&self, event: u32, kind: Kind) -> Option<String> {
        let update = self.links.update[event as usize];
        let has = |tag: &str| {
            let of = |event: u32| self.event(event).tags.contains(tag);
            of(event) || update.is_some_and(of)
        };
        let object = self.location(event);
        let writes = matches!(self.event(event).kind, EventKind::Write { .. });
        let acts = writes || update.is_some();
        if has("INIT") || acts && has("DESTROY") {
            let verb = if has("INIT") { "initialises" } else { "destroys" };
            return Some(format!("{verb} {object}"));
        }
        if has("LOOK") && self.goes_on(event) {
            return None;
        }
        let said = match (kind, acts) {
            (Kind::Lock, true) if has("UNLOCK") || has("GIVE") => format!("unlocks {object}"),
            (Kind::Lock, true) if has("AGAIN") => format!("locks {object} once more"),
            (Kind::Lock, true) => format!("locks {object}{}", self.after(event)),
            (Kind::Lock | Kind::ReadWriteLock, false) => {
                format!("finds {object} locked{}", self.by(event))
            }
            (Kind::ReadWriteLock, true) if has("GIVE") => format!("unlocks {object}"),
            (Kind::ReadWriteLock, true) => {
                let what = if has("SHARE") { "reading" } else { "writing" };
                format!("locks {object} for {what}{}", self.after(event))
            }
            (Kind::Semaphore, true) if has("POST") => format!("posts {object}"),
            (Kind::Semaphore, true) => format!("takes one of {object}{}", self.after(event)),
            (Kind::Semaphore, false) => format!("finds nothing to take in {object}"),
            (Kind::Barrier, true) => format!("arrives at {object}"),
            (Kind::Barrier, false) => format!("goes on from {object}: all have arrived"),
            (Kind::Once, true) if writes => format!("has done what {object} is for"),
            (Kind::Once, true) => format!("is the first at {object}"),
            (Kind::Once, false) => format!("finds {object} done{}", self.by(event)),
            (Kind::Condition, _) => return self.condition(event, update, &has),
        };
        Some(said)
    }

    /// Whether an update of the same place by the same call comes next.
    fn goes_on(&self, look: u32) -> bool {
        let next = self.links.next[look as usize].filter(|next| {
            let (look, next) = (&self.event(look).kind, &self.event(*next).kind);
            look.footprint() == next.footprint()
        });
        next.is_some_and(|next| self.links.update[next as usize].is_some())
    }

    fn condition(
        &self,
        event: u32,
        update: Option<u32>,
        has: &dyn Fn(&str) -> bool,
    ) -> Option<String> {
        let object = self.location(event);
        let seen = self.bits(event);
        let signals = has("SIGNAL") || has("BROADCAST");
        Some(match update {
            None if signals && seen == 0 => format!("signals {object}: nobody waits"),
            None if signals => return None,
            Some(write) if signals => {
                let woken = self.threads_in(seen & !self.bits(write));
                format!("signals {object}, which wakes {}", listed(&woken))
            }
            Some(_) if !has("LEAVE") => format!("waits on {object}"),
            Some(_) if self.waits_in(event, seen) => {
                format!("wakes up from {object}, though nobody has signalled it")
            }
            _ => format!("wakes up from {object}{}", self.by(event).replace("by", "signalled by")),
        })
    }

    /// Whether a thread has its bit in the word of a condition variable.
    fn waits_in(&self, event: u32, word: u64) -> bool {
        let thread = self.event(event).thread;
        thread.is_some_and(|thread| thread < 64 && word & (1 << thread) != 0)
    }

    /// The threads whose bits are set in the word of a condition variable.
    fn threads_in(&self, word: u64) -> Vec<String> {
        let threads = (0..31).filter(|thread| word & (1 << thread) != 0);
        threads.map(|thread| self.thread_name(thread).to_string()).collect()
    }

    fn bits(&self, event: u32) -> u64 {
        match &self.event(event).kind {
            EventKind::Read { value, .. } | EventKind::Write { value, .. } => low(value),
            _ => 0,
        }
    }

    /// The write of another thread that an access of an object has read.
    fn other(&self, event: u32) -> Option<u32> {
        let source = self.links.source[event as usize]?;
        let writer = self.event(source).thread;
        (writer.is_some() && writer != self.event(event).thread).then_some(source)
    }

    /// ` after main's unlock at line 4`, where another thread had the object before.
    fn after(&self, event: u32) -> String {
        let source = self.other(event).map(|source| (source, &self.event(source).tags));
        let gave = |(source, tags): &(u32, &parallax_program::Tags)| {
            let act = match () {
                () if tags.contains("UNLOCK") || tags.contains("GIVE") => "unlock",
                () if tags.contains("POST") => "post",
                () => return None,
            };
            Some(format!(" after {}'s {act}{}", self.who(*source), self.at_place(*source)))
        };
        source.as_ref().and_then(gave).unwrap_or_default()
    }

    /// `, by main at line 4`: who has done what an access of an object finds.
    pub fn by(&self, event: u32) -> String {
        let Some(source) = self.links.source[event as usize] else { return String::new() };
        match self.event(source).thread {
            None => String::new(),
            Some(thread) if Some(thread) == self.event(event).thread => {
                format!(", by itself{}", self.at_place(source))
            }
            Some(_) => format!(", by {}{}", self.who(source), self.at_place(source)),
        }
    }

    fn at_place(&self, event: u32) -> String {
        match self.place_in_words(event) {
            place if place.is_empty() => place,
            place => format!(" at {place}"),
        }
    }

    /// The mutexes and spin locks that a thread holds when it performs an event.
    pub fn locks_held(&self, event: u32) -> Vec<String> {
        let thread = self.event(event).thread;
        let mut held: Vec<String> = Vec::new();
        for before in (0..event).filter(|before| self.event(*before).thread == thread) {
            let tags = &self.event(before).tags;
            if kind_of(self.event(before)) != Some(Kind::Lock) {
                continue;
            }
            let object = self.location(before);
            if tags.contains("UNLOCK") || tags.contains("GIVE") {
                if let Some(at) = held.iter().rposition(|held| *held == object) {
                    held.remove(at);
                }
            } else if self.links.update[before as usize].is_some() && !tags.contains("DESTROY") {
                held.push(object);
            }
        }
        held
    }

    /// What a thread waits for whose last access was this one: `m, which main has locked at line 4`. The
    /// second is the thread that would have to do something about it, if there is one.
    pub fn awaited(&self, event: u32) -> Option<(String, Option<u32>)> {
        let at = self.event(event);
        let kind = kind_of(at)?;
        let object = self.location(event);
        let source = self.links.source[event as usize];
        let holder = source.and_then(|source| self.event(source).thread);
        let whom = |act: &str| match (source, holder) {
            (Some(source), Some(holder)) if Some(holder) == at.thread => {
                format!("{object}, which it {act} itself{}", self.at_place(source))
            }
            (Some(source), Some(_)) => {
                format!("{object}, which {} {act}{}", self.who(source), self.at_place(source))
            }
            _ => object.clone(),
        };
        let given = source.is_some_and(|source| self.event(source).tags.contains("GIVE"));
        Some(match kind {
            Kind::ReadWriteLock if given => (format!("{object}, which others have locked"), None),
            Kind::Lock | Kind::ReadWriteLock => (whom("has locked"), holder),
            Kind::Once => (whom("has begun to initialise"), holder),
            Kind::Condition => (format!("a signal on {object}, which never comes"), None),
            Kind::Barrier => (format!("more threads to arrive at {object}"), None),
            Kind::Semaphore => (format!("a post of {object}, which never comes"), None),
        })
    }
}

fn low(value: &Bits) -> u64 {
    value.unsigned() as u64
}
