//! Why a weak-memory execution can happen: the cycle that no interleaving has, as a story,
//! and which of its steps in program order the model does not keep.
//!
//! What a model keeps is known here for the models whose rules can be read off two accesses and
//! what stands between them: TSO and PSO (SPARC manual v8; Sewell et al., CACM 2010), and those
//! of C11 (Lahav et al., PLDI 2017). For other models the story goes without it.

use parallax_memory::ProgramOrder;
use parallax_verdict::{EventKind, Execution, Life};

use super::Under;
use super::cycle::{Edge, Step, shortest_cycle};
use super::links::Links;
use super::words::Words;

/// Why an execution is possible although no interleaving has it.
pub struct Why {
    pub sentences: Vec<Sentence>,
    /// The events that the story is about.
    pub events: Vec<u32>,
    pub cycle: Vec<Edge>,
}

pub struct Sentence {
    pub text: String,
    /// For two steps of a thread: what the model would need to keep their order.
    pub missing: Option<String>,
    /// The events that it names.
    pub events: Vec<u32>,
}

/// None for interleavings.
pub fn why(execution: &Execution, links: &Links, under: Under<'_>) -> Option<Why> {
    let cycle = shortest_cycle(execution, links)?;
    let words = Words { execution, links };
    let mut sentences: Vec<Sentence> = Vec::new();
    let mut edges = cycle.iter().peekable();
    while let Some(edge) = edges.next() {
        let mut text = match edge.step {
            // Nothing was said about the store yet.
            Step::Rf if sentences.is_empty() => {
                format!("{} {}{}", words.who(edge.to), words.act(edge.to), words.origin(edge.to))
            }
            _ => sentence(&words, edge),
        };
        // What a thread does after a read belongs to the same sentence.
        let then = edges.next_if(|next| edge.step == Step::Rf && next.step == Step::Po);
        if let Some(then) = then {
            text = format!("{text}, then {}", words.act_and_place(then.to));
        }
        let missing = Some(then.unwrap_or(edge)).filter(|edge| edge.step == Step::Po);
        let missing = missing.and_then(|edge| missing_order(under.order?, &words, edge));
        let missing =
            missing.map(|reason| format!("nothing in {} keeps this order: {reason}", under.model));
        let events = [edge.from, edge.to].into_iter().chain(then.map(|then| then.to)).collect();
        sentences.push(Sentence { text, missing, events });
    }
    let kept = sentences.iter().all(|sentence| sentence.missing.is_none());
    let text = conclusion(under, kept);
    sentences.push(Sentence { text, missing: None, events: Vec::new() });
    let events = cycle.iter().map(|edge| edge.from).collect();
    Some(Why { sentences, events, cycle })
}

fn sentence(words: &Words<'_>, edge: &Edge) -> String {
    let (from, to) = (edge.from, edge.to);
    match edge.step {
        Step::Po => format!(
            "{} {}, then {}",
            words.who(from),
            words.act_and_place(from),
            words.act_and_place(to)
        ),
        Step::Rf => match words.event(to).kind.life() {
            Some(Life::Begin(_)) => format!("{} begins after that", words.who(to)),
            Some(_) => format!("{} {}", words.who(to), words.act_and_place(to)),
            None => format!("{} {} from that store", words.who(to), words.act_and_place(to)),
        },
        Step::Co => format!("{} comes after that store", words.write_of(to)),
        Step::Fr => format!(
            "that {} = {} is older than {}",
            words.location(from),
            words.value(from),
            words.write_of(to)
        ),
    }
}

fn conclusion(under: Under<'_>, kept: bool) -> String {
    let why = match (under.order, kept) {
        (Some(ProgramOrder::MemoryOrders), true) => {
            ": it lets threads see the stores of different threads in different orders, unless \
             all are seq_cst"
        }
        (Some(ProgramOrder::ReleaseAcquire), true) => {
            ": it lets threads see the stores of different threads in different orders"
        }
        _ => "",
    };
    format!("no interleaving of the threads does all of this; {} allows it{why}", under.model)
}

/// Why the order of two accesses of a thread is not kept; None where it is, or where one of them is no
/// access.
fn missing_order(kept: ProgramOrder, words: &Words<'_>, edge: &Edge) -> Option<String> {
    let (first, second) = (edge.from, edge.to);
    let writes = |event: u32| match &words.event(event).kind {
        kind if kind.life().is_some() => None,
        EventKind::Write { .. } => Some(true),
        EventKind::Read { .. } => Some(false),
        _ => None,
    };
    let (earlier, later) = (writes(first)?, writes(second)?);
    let pair = Pair { words, first, second };
    match kept {
        ProgramOrder::StoreBuffer if earlier && !later => pair.buffered("loads"),
        ProgramOrder::StoreBuffers if earlier && later && pair.without_release().is_none() => None,
        ProgramOrder::StoreBuffers if earlier => pair.buffered("loads and stores to other places"),
        ProgramOrder::StoreBuffer | ProgramOrder::StoreBuffers => None,
        ProgramOrder::ReleaseAcquire if earlier && !later => pair.without_fence(),
        ProgramOrder::ReleaseAcquire => None,
        ProgramOrder::MemoryOrders => match (earlier, later) {
            (true, true) => pair.without_release(),
            (false, _) => pair.without_acquire(later),
            (true, false) => pair.without_seq_cst(),
        },
    }
}

/// Two accesses of a thread, one after the other.
struct Pair<'a> {
    words: &'a Words<'a>,
    first: u32,
    second: u32,
}

impl Pair<'_> {
    fn buffered(&self, what: &str) -> Option<String> {
        let flushed = self.fence_between(&["MFENCE", "SC"]);
        if flushed || (self.first..=self.second).any(|event| self.is_locked(event)) {
            return None;
        }
        Some(format!("the store may stay in its buffer while later {what} are done"))
    }

    fn without_release(&self) -> Option<String> {
        let releases = ["REL", "ACQ_REL", "SC"];
        if self.has(self.second, &releases) || self.fence_between(&releases) {
            return None;
        }
        Some(format!("the second store is {}, not release", self.order(self.second)))
    }

    fn without_acquire(&self, writes: bool) -> Option<String> {
        let acquires = ["ACQ", "CON", "ACQ_REL", "SC"];
        let releases = ["REL", "ACQ_REL", "SC"];
        let released =
            writes && (self.has(self.second, &releases) || self.fence_between(&releases));
        if released || self.has(self.first, &acquires) || self.fence_between(&acquires) {
            return None;
        }
        Some(format!("the first load is {}, not acquire", self.order(self.first)))
    }

    fn without_seq_cst(&self) -> Option<String> {
        let both = self.has(self.first, &["SC"]) && self.has(self.second, &["SC"]);
        if both || self.fence_between(&["SC"]) {
            return None;
        }
        Some("a load may overtake an earlier store unless both are seq_cst".to_string())
    }

    fn without_fence(&self) -> Option<String> {
        let kept = self.fence_between(&["SC"]);
        (!kept).then(|| "a load may overtake an earlier store".to_string())
    }

    fn order(&self, event: u32) -> String {
        self.words.memory_order(event).unwrap_or_else(|| "not atomic".to_string())
    }

    fn has(&self, event: u32, tags: &[&str]) -> bool {
        tags.iter().any(|tag| self.words.event(event).tags.contains(tag))
    }

    fn fence_between(&self, tags: &[&str]) -> bool {
        (self.first + 1..self.second)
            .any(|event| self.words.event(event).kind == EventKind::Fence && self.has(event, tags))
    }

    /// Whether the access empties the store buffer: read-modify-writes, and in C the
    /// sequentially consistent stores.
    fn is_locked(&self, event: u32) -> bool {
        let stores = matches!(self.words.event(event).kind, EventKind::Write { .. });
        let updates = self.words.execution.rmw.iter();
        let updates = updates.flat_map(|(read, write)| [*read, *write]).any(|part| part == event);
        updates || self.has(event, &["X"]) || stores && self.has(event, &["SC"])
    }
}
