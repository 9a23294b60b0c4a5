//! The trace of an execution: for each thread its steps in program order, with places, values
//! and where they came from. A form without layout, for every output that shows it.
//!
//! Unless everything is wanted, steps that do not matter are left out. Of long executions, those
//! by which threads do not communicate go next, then the middle of long threads; what the
//! violation is about always stays. Only steps that are shown are numbered.

use std::collections::{HashMap, HashSet};

use parallax_program::Location;
use parallax_verdict::{Call, EventKind, Execution, Life, Standing, ThreadEnding};

use super::calls::Meaning;
use super::links::Links;
use super::order::Order;
use super::story::Relevance;
use super::words::{Words, own_call, source};

pub struct ThreadTrace {
    pub name: String,
    /// `started by main at line 20`, or nothing.
    pub origin: String,
    pub rows: Vec<Row>,
}

pub enum Row {
    Step(StepRow),
    /// So many steps are not shown.
    LeftOut(usize),
    /// Where the thread stands after its last step.
    Standing {
        place: String,
        words: String,
        source: String,
        location: Option<Location>,
        /// The thread that it waits for, if that is known.
        awaits: Option<u32>,
    },
}

pub struct StepRow {
    pub event: u32,
    /// Position in the order in which the execution is shown, from 1.
    pub step: u32,
    pub place: String,
    pub words: String,
    /// What it does, in a few words, and how.
    pub act: String,
    pub order: Option<String>,
    pub source: String,
    pub location: Option<Location>,
    /// Whether the violation is about it.
    pub involved: bool,
    /// The event whose value it should have read, by the order in which steps are shown.
    pub missed: Option<u32>,
}

/// What becomes of an event.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Plan {
    /// It is shown, with that number.
    Step(u32),
    /// It is counted among those that are left out.
    LeaveOut,
    /// It is not worth mentioning.
    Hide,
}

impl Plan {
    /// 0 for what is not shown.
    fn number(self) -> u32 {
        match self {
            Plan::Step(number) => number,
            Plan::LeaveOut | Plan::Hide => 0,
        }
    }
}

/// How much to show.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Detail {
    Short,
    Full,
}

/// Executions up to so many steps are shown whole.
const FEW_STEPS: usize = 48;
/// Of longer threads so many steps from the start and from the end.
const FIRST_STEPS: usize = 12;
const LAST_STEPS: usize = 24;

pub struct Tracer<'a> {
    pub execution: &'a Execution,
    pub links: &'a Links,
    pub order: &'a Order,
    /// Whether it is about threads that wait: only then it is news that one does.
    pub stuck: bool,
    pub relevance: &'a Relevance,
}

impl Tracer<'_> {
    pub fn threads(&self, detail: Detail) -> Vec<ThreadTrace> {
        let plan = self.plan(detail);
        let names = self.execution.threads.iter();
        (0u32..).zip(names).map(|(thread, name)| self.thread(thread, name, &plan)).collect()
    }

    fn thread(&self, thread: u32, name: &str, plan: &[Plan]) -> ThreadTrace {
        let mut rows = Vec::new();
        let mut left_out = 0;
        for event in self.events_of(thread).filter(|event| !self.is_part(*event)) {
            match plan[event as usize] {
                Plan::Step(_) => {
                    flush(&mut rows, &mut left_out);
                    rows.push(Row::Step(self.row(event, plan)));
                }
                Plan::LeaveOut => left_out += 1,
                Plan::Hide => {}
            }
        }
        flush(&mut rows, &mut left_out);
        let standing = self.execution.standings.get(thread as usize);
        rows.extend(standing.and_then(|standing| self.standing_row(thread, standing)));
        ThreadTrace { name: name.to_string(), origin: self.origin(thread), rows }
    }

    fn events_of(&self, thread: u32) -> impl Iterator<Item = u32> {
        let events = (0u32..).zip(&self.execution.events);
        events.filter(move |(_, event)| event.thread == Some(thread)).map(|(number, _)| number)
    }

    /// What is shown with another step or the heading of its thread.
    fn is_part(&self, event: u32) -> bool {
        let words = self.words();
        let kind = &words.event(event).kind;
        let is_first = |read: u32| self.links.update[read as usize] == Some(event);
        let shown_with_read = event.checked_sub(1).is_some_and(is_first);
        let is_lasting = || self.is_about(event) && self.awaited(event).is_none();
        shown_with_read
            || matches!(kind.life(), Some(Life::Begin(_) | Life::End(_)))
            || (words.meaning(event) == Some(Meaning::Part) && !is_lasting())
            || self.awaited(event).is_some()
    }

    /// Whether the violation is about the event, or about the update that begins with it.
    fn is_about(&self, event: u32) -> bool {
        let involved = |event: u32| self.relevance.involved.contains(&event);
        involved(event) || self.links.update[event as usize].is_some_and(involved)
    }

    /// What a thread waits for in the end whose last access this is: the row behind it says so.
    fn awaited(&self, event: u32) -> Option<(String, Option<u32>)> {
        let thread = self.words().event(event).thread?;
        let standing = self.execution.standings.get(thread as usize)?;
        let waits = self.stuck && standing.ending == ThreadEnding::Waiting;
        let is_last = || self.links.next[event as usize].is_none();
        let awaited = (waits && is_last()).then(|| self.words().awaited(event));
        awaited.flatten()
    }

    fn words(&self) -> Words<'_> {
        Words { execution: self.execution, links: self.links }
    }

    fn origin(&self, thread: u32) -> String {
        let words = self.words();
        let first = self.events_of(thread).next();
        let begin =
            first.filter(|first| matches!(words.event(*first).kind.life(), Some(Life::Begin(_))));
        let start = begin.and_then(|begin| self.links.source[begin as usize]);
        start.map_or_else(String::new, |start| {
            format!("started by {} at {}", words.who(start), words.place_in_words(start))
        })
    }

    fn standing_row(&self, thread: u32, standing: &Standing) -> Option<Row> {
        let awaited = || match standing.awaits {
            Some(other) => {
                Some((format!("{} to end", self.words().thread_name(other)), Some(other)))
            }
            None => self.awaited(self.events_of(thread).last()?),
        };
        let waits = self.stuck && standing.ending == ThreadEnding::Waiting;
        let awaited = if waits { awaited() } else { None };
        let awaits = awaited.as_ref().and_then(|(_, other)| *other);
        let words = match standing.ending {
            ThreadEnding::Waiting if self.stuck => match awaited {
                Some((what, _)) => format!("waits for ever for {what}"),
                None => "waits here for ever".to_string(),
            },
            ThreadEnding::Spinning { .. } if self.stuck => "repeats this for ever".to_string(),
            ThreadEnding::Failed => "fails here".to_string(),
            _ => return None,
        };
        let last = || self.words().event(self.events_of(thread).last()?).place.as_ref();
        let call = own_call(&standing.stack);
        let location = call.map(|call| &call.place).or_else(last);
        let place = location.map(|place| self.words().line_of(place)).unwrap_or_default();
        Some(Row::Standing {
            place: with_function(place, call, self.words().thread_name(thread)),
            words,
            source: source(&standing.stack, &standing.text),
            location: location.cloned(),
            awaits,
        })
    }

    fn row(&self, event: u32, plan: &[Plan]) -> StepRow {
        let words = self.words();
        let update = self.links.update[event as usize];
        StepRow {
            event,
            step: plan[event as usize].number(),
            place: self.place(event),
            words: self.sentence(event, update, plan),
            act: self.act(event, update),
            order: self.order_of(event),
            source: words.source(event),
            location: words.own_place(event).cloned(),
            involved: self.is_about(event),
            missed: self.overlooked(event, update),
        }
    }

    /// The line, and the function unless it is the one that the thread has its name from.
    fn place(&self, event: u32) -> String {
        let words = self.words();
        let stack = self.execution.stacks.get(event as usize);
        let call = stack.and_then(|stack| own_call(stack));
        with_function(words.place(event), call, words.who(event))
    }

    /// What an event does, without where its value comes from.
    fn act(&self, event: u32, update: Option<u32>) -> String {
        let words = self.words();
        let is_said = matches!(words.meaning(event), Some(Meaning::Said(_)));
        match update.filter(|_| !is_said) {
            Some(write) => format!("{}, and writes {}", words.act(event), words.value(write)),
            None => words.act(event),
        }
    }

    fn order_of(&self, event: u32) -> Option<String> {
        let words = self.words();
        let is_said = matches!(words.meaning(event), Some(Meaning::Said(_)));
        words.memory_order(event).filter(|_| !is_said)
    }

    fn sentence(&self, event: u32, update: Option<u32>, plan: &[Plan]) -> String {
        let words = self.words();
        let kind = &words.event(event).kind;
        if matches!(words.meaning(event), Some(Meaning::Said(_))) {
            return words.act(event);
        }
        let order = words.memory_order(event).map_or_else(String::new, |o| format!(" ({o})"));
        if !matches!(kind, EventKind::Read { .. }) || kind.life().is_some() {
            return format!("{}{order}", words.act(event));
        }
        let new = match update {
            Some(write) => format!(", and writes {}", words.value(write)),
            None => String::new(),
        };
        let missed = match self.overlooked(event, update) {
            Some(write) => match plan[write as usize].number() {
                0 => format!("; misses {}", words.write_of(write)),
                step => format!("; misses step {step}"),
            },
            None => String::new(),
        };
        format!("{}{}{new}{order}{missed}", words.act(event), words.origin(event))
    }

    /// A write that was shown before this read, and replaces what it reads.
    fn overlooked(&self, read: u32, update: Option<u32>) -> Option<u32> {
        let missed = self.links.missed(read).filter(|missed| Some(*missed) != update)?;
        let position = |event: u32| self.order.position[event as usize];
        (!self.order.interleaving && position(missed) < position(read)).then_some(missed)
    }

    fn plan(&self, detail: Detail) -> Vec<Plan> {
        let mut plan = vec![Plan::Step(0); self.execution.events.len()];
        if detail == Detail::Short {
            self.hide_idle_steps(&mut plan);
            let steps = plan.iter().filter(|plan| **plan != Plan::Hide).count();
            if steps > FEW_STEPS {
                self.shorten(&mut plan);
            }
        }
        let mut number = 0;
        for event in self.order.events.iter().copied().filter(|event| !self.is_part(*event)) {
            if let Plan::Step(of_event) = &mut plan[event as usize] {
                number += 1;
                *of_event = number;
            }
            let update = self.links.update[event as usize];
            if let Some(write) = update {
                plan[write as usize] = plan[event as usize];
            }
        }
        plan
    }

    fn hide_idle_steps(&self, plan: &mut [Plan]) {
        for (plan, idle) in plan.iter_mut().zip(&self.relevance.idle) {
            if *idle {
                *plan = Plan::Hide;
            }
        }
    }

    fn shorten(&self, plan: &mut [Plan]) {
        let keep = self.kept();
        let leave_out = |event: u32, plan: &mut [Plan]| {
            let plan = &mut plan[event as usize];
            if *plan != Plan::Hide && !keep.contains(&event) {
                *plan = Plan::LeaveOut;
            }
        };
        for event in (0..self.execution.events.len() as u32).filter(|e| !self.communicates(*e)) {
            leave_out(event, plan);
        }
        for thread in 0..self.execution.threads.len() as u32 {
            let own = self.events_of(thread);
            let own: Vec<u32> = own.filter(|e| plan[*e as usize] == Plan::Step(0)).collect();
            if own.len() > FIRST_STEPS + LAST_STEPS {
                let middle = &own[FIRST_STEPS..own.len() - LAST_STEPS];
                middle.iter().for_each(|event| leave_out(*event, plan));
            }
        }
    }

    /// Whether an event takes a value from another thread, or gives it one.
    fn communicates(&self, event: u32) -> bool {
        let thread = |event: u32| self.execution.events[event as usize].thread;
        let other = |partner: u32| thread(partner) != thread(event) && thread(partner).is_some();
        let at = event as usize;
        let gives = |event: u32| self.links.readers[event as usize].iter().any(|r| other(*r));
        gives(event)
            || self.links.source[at].is_some_and(other)
            || self.links.update[at].is_some_and(gives)
    }

    /// What the violation is about, and where its values come from.
    fn kept(&self) -> HashSet<u32> {
        let involved = self.relevance.involved.iter().copied();
        let sources = involved.clone().filter_map(|event| self.links.source[event as usize]);
        involved.chain(sources).collect()
    }
}

fn with_function(place: String, call: Option<&Call>, thread: &str) -> String {
    let function = call.map(|call| &*call.function);
    let known = thread.split('#').next();
    match function.filter(|function| Some(*function) != known && !place.is_empty()) {
        Some(function) => format!("{place} {function}"),
        None => place,
    }
}

fn flush(rows: &mut Vec<Row>, left_out: &mut usize) {
    if *left_out > 0 {
        rows.push(Row::LeftOut(std::mem::take(left_out)));
    }
}

/// Addresses that more than one thread accesses.
pub fn shared_addresses(execution: &Execution) -> HashSet<u64> {
    let mut by_address: HashMap<u64, u32> = HashMap::new();
    let mut shared = HashSet::new();
    for event in &execution.events {
        let (Some((address, _)), Some(thread)) = (event.kind.footprint(), event.thread) else {
            continue;
        };
        if *by_address.entry(address).or_insert(thread) != thread {
            shared.insert(address);
        }
    }
    shared
}
