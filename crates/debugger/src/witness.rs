//! Schedules of what a search has found.
//!
//! A search takes larger steps than people: what only one thread can notice is part of the step
//! before it, and stores to objects that only their maker uses pass no buffer. Here its way is gone
//! once more, beside a machine that stops everywhere: after each step of the search its threads
//! are brought as far as those of the search are, counted in operations. What the search did not
//! see pass a buffer leaves it as soon as it can.

use std::collections::HashMap;

use parallax_machine::system::{Action, At, Entry, Log, Readiness, Record, Setup, System, What};

use crate::machine::Machine;
use crate::problems::Standing;
use crate::schedule::Schedule;
use crate::session::{Session, Subject, setup};

/// No witness is longer.
const MOST_ACTIONS: usize = 10_000_000;

/// The schedule that does what a search did. None if that leads to no violation that is seen from
/// its last state alone.
pub fn witness(subject: Subject<'_>, searched: &Setup<'_>, path: &[Action]) -> Option<Schedule> {
    let options = &searched.options;
    let (memory, properties) = (options.memory, options.properties.clone());
    let fine = setup(subject.program, memory, properties, options.nondet).ok()?;
    let actions = follow(searched, &fine, path)?;
    let actions = actions.into_iter().map(|action| (action, String::new())).collect();
    let (input, arguments) = (subject.input.to_string(), Vec::new());
    let bare = Schedule { input, arguments, memory, actions };
    // With comments, and only if it is confirmed. Threads get their numbers anew.
    let fresh = setup(subject.program, memory, options.properties.clone(), options.nondet).ok()?;
    let mut session = Session::new(&fresh, subject);
    session.load("witness", &bare.text()).ok()?;
    (session.standing() == Standing::Violation).then(|| session.schedule())
}

fn follow(searched: &Setup<'_>, fine: &Setup<'_>, path: &[Action]) -> Option<Vec<Action>> {
    let mut log = Log::on();
    let coarse = System::start(searched, &mut log);
    let (machine, happened) = Machine::start(fine);
    let mut pair = Pair {
        coarse,
        fine: machine,
        children: HashMap::new(),
        fine_children: HashMap::new(),
        actions: Vec::new(),
    };
    note_children(&mut pair.children, log.records());
    note_children(&mut pair.fine_children, &happened.records);
    pair.catch_up(0)?;
    for action in path {
        pair.take(*action)?;
    }
    Some(pair.actions)
}

/// The machine of the search and the one that stops everywhere.
struct Pair<'a, 'b, 'p, 'q> {
    coarse: System<'a, 'p>,
    fine: Machine<'b, 'q>,
    /// The threads that each thread has started, in order.
    children: HashMap<u32, Vec<u32>>,
    fine_children: HashMap<u32, Vec<u32>>,
    actions: Vec<Action>,
}

fn note_children(children: &mut HashMap<u32, Vec<u32>>, records: &[Record]) {
    for record in records {
        if let What::Spawn { child } = record.what {
            children.entry(record.thread).or_default().push(child);
        }
    }
}

impl Pair<'_, '_, '_, '_> {
    /// The number that a thread of the search has in the other machine.
    fn thread(&self, number: u32) -> Option<u32> {
        if (number as usize) < self.coarse.setup().code.program.threads.len() {
            return Some(number);
        }
        let mut places = self.children.iter();
        let (parent, place) = places.find_map(|(parent, children)| {
            Some((*parent, children.iter().position(|child| *child == number)?))
        })?;
        let parent = self.thread(parent)?;
        self.fine_children.get(&parent)?.get(place).copied()
    }

    /// Does what the search did, in both.
    fn take(&mut self, action: Action) -> Option<()> {
        let choice = match action {
            Action::Step { choice, .. } => choice,
            Action::Flush { thread, index } => {
                let fine = self.thread(thread)?;
                let entries = self.fine.system.buffer(fine).iter().enumerate();
                let mut known = entries.filter(|(_, entry)| !self.is_hidden(entry));
                let (index, _) = known.nth(index as usize)?;
                self.apply(Action::Flush { thread: fine, index: index as u32 })?;
                0
            }
        };
        let mut log = Log::on();
        self.coarse.apply(action, &mut log);
        note_children(&mut self.children, log.records());
        self.catch_up(choice)
    }

    /// Whether the search has seen no buffer for an entry.
    fn is_hidden(&self, entry: &Entry) -> bool {
        let Entry::Store { address, .. } = entry else {
            return false;
        };
        let threads = (0..self.coarse.thread_count()).filter_map(|n| self.coarse.thread(n));
        let mut objects = threads.flat_map(|local| local.objects());
        objects.any(|object| {
            object.is_private
                && *address >= object.address
                && address - object.address < object.size.max(1)
        })
    }

    fn apply(&mut self, action: Action) -> Option<()> {
        self.fine.check(action).ok()?;
        let happened = self.fine.apply(action);
        note_children(&mut self.fine_children, &happened.records);
        self.actions.push(action);
        (self.actions.len() < MOST_ACTIONS).then_some(())
    }

    /// Brings all threads as far as those of the search are.
    fn catch_up(&mut self, choice: u64) -> Option<()> {
        for thread in 0..self.coarse.thread_count() {
            while let Some(action) = self.missing(thread, choice)? {
                self.apply(action)?;
            }
        }
        Some(())
    }

    /// What a thread has to do to be as far as that of the search.
    fn missing(&self, thread: u32, choice: u64) -> Option<Option<Action>> {
        let Some(coarse) = self.coarse.thread(thread) else {
            return Some(None);
        };
        let thread = self.thread(thread)?;
        if let Some(flush) = self.hidden_flush(thread) {
            return Some(Some(flush));
        }
        let standing = self.fine.standing(thread)?;
        let step = |choice| Some(Some(Action::Step { thread, choice }));
        let is_behind = standing.operations < coarse.thread.operations();
        match (&standing.at, is_behind) {
            (At::Choice { .. } | At::Cas { is_weak: true, .. }, true) => step(choice),
            (_, true) => step(0),
            (At::Local, false) if coarse.at != At::Local => step(0),
            // The last step is no operation.
            (At::End, false) if matches!(standing.readiness, Readiness::Ready { .. }) => step(0),
            _ => Some(None),
        }
    }

    fn hidden_flush(&self, thread: u32) -> Option<Action> {
        let entries = self.fine.system.buffer(thread);
        self.fine.system.flushes(thread).find(|action| match action {
            Action::Flush { index, .. } => {
                entries.get(*index as usize).is_some_and(|entry| self.is_hidden(entry))
            }
            Action::Step { .. } => false,
        })
    }
}
