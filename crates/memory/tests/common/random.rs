//! Random executions: the events of a few threads with everything that models ask about.

use parallax_memory::reference::Inputs;
use parallax_memory::{EventSet, Relation};
use proptest::prelude::*;

/// Tags of all kinds of programs, so that every model has something to look at.
const TAGS: [&str; 30] = [
    "MFENCE",
    "SYNC",
    "LWSYNC",
    "DMB.SY",
    "DMB.LD",
    "ISB",
    "A",
    "L",
    "Q",
    "X",
    "Acq",
    "Rel",
    "Fence.rw.rw",
    "Fence.r.rw",
    "ACQ",
    "REL",
    "RLX",
    "SC",
    "NA",
    "Once",
    "Acquire",
    "Release",
    "Mb",
    "Wmb",
    "Rcu-lock",
    "Rcu-unlock",
    "Sync-rcu",
    "LKR",
    "UL",
    "ACQ_REL",
];

#[derive(Clone, Debug)]
pub struct Execution {
    pub inputs: Inputs,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Read,
    Write,
    Fence,
}

type RawEvent = (u8, u8, u8, u32, u8);

/// Up to eleven events on two locations, after the two initial writes.
pub fn execution() -> impl Strategy<Value = Execution> {
    let event = (0..3u8, 0..5u8, 0..2u8, any::<u32>(), any::<u8>());
    let events = prop::collection::vec(event, 1..12);
    (events, prop::collection::vec(any::<u16>(), 24))
        .prop_map(|(raw, choices)| build(&raw, &choices))
}

fn build(raw: &[RawEvent], choices: &[u16]) -> Execution {
    let n = raw.len() + 2;
    let thread = |e: usize| (e >= 2).then(|| raw[e - 2].0);
    let kind = |e: usize| match e {
        0 | 1 => Kind::Write,
        _ => match raw[e - 2].1 {
            0 | 1 => Kind::Read,
            2 | 3 => Kind::Write,
            _ => Kind::Fence,
        },
    };
    let location = |e: usize| match (e, kind(e)) {
        (0 | 1, _) => Some(e as u8),
        (_, Kind::Fence) => None,
        _ => Some(raw[e - 2].2),
    };
    let set = |member: &dyn Fn(usize) -> bool| {
        let mut set = EventSet::new(n);
        (0..n).filter(|e| member(*e)).for_each(|e| set.insert(e));
        set
    };
    let relation = |related: &dyn Fn(usize, usize) -> bool| {
        let mut relation = Relation::new(n);
        for from in 0..n {
            for to in (0..n).filter(|to| related(from, *to)) {
                relation.add(from, to);
            }
        }
        relation
    };
    let mut inputs = Inputs { events: n, ..Inputs::default() };
    let mut add_set = |name: &str, member: &dyn Fn(usize) -> bool| {
        inputs.sets.insert(name.to_string(), set(member));
    };
    add_set("R", &|e| kind(e) == Kind::Read);
    add_set("W", &|e| kind(e) == Kind::Write);
    add_set("M", &|e| kind(e) != Kind::Fence);
    add_set("F", &|e| kind(e) == Kind::Fence);
    add_set("IW", &|e| e < 2);
    for (bit, tag) in TAGS.iter().enumerate() {
        add_set(tag, &|e| e >= 2 && raw[e - 2].3 >> bit & 1 == 1 && raw[e - 2].3 >> 31 == 0);
    }
    let po = |a: usize, b: usize| a < b && a >= 2 && thread(a) == thread(b);
    let same_location = |a: usize, b: usize| location(a).is_some() && location(a) == location(b);
    let from_read = |a: usize, b: usize| po(a, b) && kind(a) == Kind::Read;
    let dependency = |bit: u8, a: usize, b: usize| from_read(a, b) && raw[b - 2].4 >> bit & 1 == 1;
    let pair = |a: usize, b: usize| {
        b == a + 1
            && from_read(a, b)
            && kind(b) == Kind::Write
            && same_location(a, b)
            && raw[b - 2].4 >> 7 == 1
    };
    let mut add = |name: &str, related: &dyn Fn(usize, usize) -> bool| {
        inputs.relations.insert(name.to_string(), relation(related));
    };
    add("po", &po);
    add("loc", &same_location);
    add("int", &|a, b| thread(a) == thread(b));
    add("ext", &|a, b| thread(a) != thread(b));
    add("addr", &|a, b| dependency(0, a, b) && kind(b) != Kind::Fence);
    add("data", &|a, b| dependency(1, a, b) && kind(b) == Kind::Write);
    add("ctrl", &|a, b| dependency(2, a, b));
    add("pick-addr", &|a, b| dependency(3, a, b) && kind(b) != Kind::Fence);
    add("pick-data", &|a, b| dependency(4, a, b) && kind(b) == Kind::Write);
    add("pick-ctrl", &|a, b| dependency(5, a, b));
    add("rmw", &pair);
    add("amo", &|a, b| pair(a, b) && raw[b - 2].4 >> 6 & 1 == 1);
    add("si", &|a, b| a == b);
    let mut choices = choices.iter().map(|c| *c as usize).cycle();
    let mut choose = |n: usize| choices.next().unwrap_or(0) % n;
    let (mut rf, mut co) = (Relation::new(n), Relation::new(n));
    for read in (0..n).filter(|e| kind(*e) == Kind::Read) {
        let writes: Vec<usize> =
            (0..n).filter(|w| kind(*w) == Kind::Write && same_location(*w, read)).collect();
        rf.add(writes[choose(writes.len())], read);
    }
    for initial in 0..2 {
        let mut order = vec![initial];
        for write in (2..n).filter(|w| kind(*w) == Kind::Write && same_location(*w, initial)) {
            // Mostly in the order of the program, so that not all executions are incoherent.
            let back = if choose(4) == 0 { choose(order.len()) } else { 0 };
            order.insert(order.len() - back, write);
        }
        for (position, from) in order.iter().enumerate() {
            order[position + 1..].iter().for_each(|to| co.add(*from, *to));
        }
    }
    inputs.relations.insert("rf".to_string(), rf);
    inputs.relations.insert("co".to_string(), co);
    Execution { inputs }
}
