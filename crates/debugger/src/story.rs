//! What happened, what a thread waits for and why something cannot be done, in words.

use parallax_machine::system::{Action, At, Entry, Record, Waits, What};
use parallax_program::{Bits, RmwOp};

use crate::machine::{Happened, Machine, Refusal, Standing};
use crate::names::Names;
use crate::session::Session;
use crate::source;

/// Stores `value` of so many bytes, as `x = 1`.
pub fn assignment(names: &Names<'_>, address: u64, bytes: u8, value: u128) -> String {
    let value = Bits::new(u32::from(bytes) * 8, value);
    format!("{} = {}", names.place_or_address(address), names.value(value))
}

/// An entry of a buffer.
pub fn entry(names: &Names<'_>, entry: &Entry) -> String {
    match entry {
        Entry::Store { address, bytes, value, .. } => assignment(names, *address, *bytes, *value),
        Entry::Barrier => "barrier".to_string(),
        Entry::Spawn { child, .. } => format!("start of {}", names.thread(*child)),
    }
}

/// What happened when a machine went on from `before`, one line each.
pub fn lines(
    session: &Session<'_, '_>,
    before: &Machine<'_, '_>,
    happened: &Happened,
) -> Vec<String> {
    let names = &session.names;
    // Entries that were there, and those that were added since.
    let mut buffers: Vec<Vec<String>> = Vec::new();
    for thread in 0..before.system.thread_count() {
        let entries = before.system.buffer(thread).iter();
        let stores = entries.filter(|entry| matches!(entry, Entry::Store { .. }));
        buffers.push(stores.map(|store| entry(names, store)).collect());
    }
    let mut lines = Vec::new();
    for Record { thread, what } in &happened.records {
        let index = *thread as usize;
        if buffers.len() <= index {
            buffers.resize_with(index + 1, Vec::new);
        }
        if let What::Write { address, bytes, value, is_buffered: true } = what {
            buffers[index].push(assignment(names, *address, *bytes, *value));
        }
        let name = names.thread(*thread);
        if let What::Flush { index: at } = what {
            let flushed = (*at < buffers[index].len()).then(|| buffers[index].remove(*at));
            let flushed = flushed.unwrap_or_else(|| "a store".to_string());
            lines.push(format!("{name}: {flushed} reaches memory"));
        } else {
            lines.push(format!("{name}: {}", one(names, what)));
        }
    }
    lines
}

fn one(names: &Names<'_>, what: &What) -> String {
    match what {
        What::Read { address, bytes, value } => {
            format!("reads {}", assignment(names, *address, *bytes, *value))
        }
        What::ReadAhead { address, bytes, value, of, .. } => {
            let read = assignment(names, *address, *bytes, *value);
            format!("reads {read}, which {} has not published yet", names.thread(*of))
        }
        What::Write { address, bytes, value, is_buffered: true } => {
            format!("puts {} into its buffer", assignment(names, *address, *bytes, *value))
        }
        What::Write { address, bytes, value, .. } => {
            format!("writes {}", assignment(names, *address, *bytes, *value))
        }
        What::Flush { .. } => "a store reaches memory".to_string(),
        What::Fence => "passes a fence".to_string(),
        What::Spawn { child } => format!("starts {}", names.thread(*child)),
        What::Begin => "begins".to_string(),
        What::Join { of } => format!("joins {}", names.thread(*of)),
        What::Alloc { address } => format!("makes {}", names.place_or_address(*address)),
        What::Free { .. } => "frees an object".to_string(),
        What::Choice { value } => format!("chooses {}", names.value(*value)),
        What::AtomicBegin => "enters an atomic section".to_string(),
        What::AtomicEnd => "leaves its atomic section".to_string(),
        What::End => "ends".to_string(),
    }
}

/// One line about an action: what it did, or else where.
pub fn brief(
    session: &Session<'_, '_>,
    before: &Machine<'_, '_>,
    action: Action,
    happened: &Happened,
) -> String {
    let lines = lines(session, before, happened);
    let place = match action {
        Action::Step { thread, .. } => source::instruction(session, before, thread),
        Action::Flush { .. } => None,
    };
    match (lines.as_slice(), place) {
        ([], Some(place)) => format!("{}: {place}", session.names.thread(action.thread())),
        ([], None) => session.names.thread(action.thread()),
        (lines, _) => lines.join("; "),
    }
}

/// What a thread waits for.
pub fn waits(names: &Names<'_>, waits: Waits) -> String {
    match waits {
        Waits::Bytes { bytes: 0, .. } => "goes round a loop for ever".to_string(),
        Waits::Bytes { address, .. } => {
            format!("waits for {} to change", names.place_or_address(address))
        }
        Waits::BufferOrBytes { address, .. } => {
            let place = names.place_or_address(address);
            format!("waits until its buffer is empty, or {place} changes")
        }
        Waits::Buffer => "waits until its buffer is empty".to_string(),
        Waits::Buffers => "waits until all buffers are empty".to_string(),
        Waits::Thread(thread) => {
            let name = u32::try_from(thread).ok().map(|thread| names.thread(thread));
            format!("waits for {} to end", name.unwrap_or_else(|| format!("thread {thread}")))
        }
        Waits::Section => "waits for the atomic section of another thread to end".to_string(),
    }
}

/// Why a thread, or its buffer, cannot do something.
pub fn refusal(session: &Session<'_, '_>, thread: &str, refusal: Refusal) -> String {
    match refusal {
        Refusal::NoThread => format!("there is no thread {thread}"),
        Refusal::NoChoice { choices } => {
            format!("{thread} has choices from 0 to {}", choices.saturating_sub(1))
        }
        Refusal::Waits(what) => format!("{thread} {}", waits(&session.names, what)),
        Refusal::WaitsForEver => format!("{thread} waits for ever"),
        Refusal::Failed => format!("{thread} stands at a violation"),
        Refusal::Ended => format!("{thread} has ended"),
        Refusal::Stopped => format!("{thread} stands at an assumption that does not hold"),
        Refusal::Lost => format!("{thread} stands at something that cannot be followed"),
        Refusal::NothingBuffered => format!("the buffer of {thread} is empty"),
        Refusal::NoEntry { length } => {
            format!("the buffer of {thread} has entries from 0 to {}", length.saturating_sub(1))
        }
        Refusal::KeptBack => format!("an older entry of the buffer of {thread} has to go first"),
    }
}

/// What a thread would do next.
pub fn intention(session: &Session<'_, '_>, thread: u32, standing: &Standing<'_>) -> String {
    let names = &session.names;
    let system = &session.now().system;
    let seen = |address: u64, bytes: u8| {
        let own = system.bytes(Some(thread), address, u32::from(bytes));
        let all = system.bytes(None, address, u32::from(bytes));
        let text = assignment(names, address, bytes, own);
        if own == all { text } else { format!("{text} (from its buffer)") }
    };
    match &standing.at {
        At::Load { address, bytes, .. } => format!("reads {}", seen(*address, *bytes)),
        At::Store { address, bytes, value, marks } => {
            let text = assignment(names, *address, *bytes, *value);
            let is_sc = session.memory_is_sc() || marks.is_locked();
            if is_sc { format!("writes {text}") } else { format!("puts {text} into its buffer") }
        }
        At::Rmw { address, bytes, op, operand, .. } => {
            let (verb, operand) = (rmw(*op), names.value(*operand));
            format!("atomically reads {}, and {verb} {operand}", seen(*address, *bytes))
        }
        At::Cas { address, bytes, expected, desired, is_weak, .. } => {
            let value = |value: u128| names.value(Bits::new(u32::from(*bytes) * 8, value));
            let read = seen(*address, *bytes);
            let (expected, desired) = (value(*expected), value(*desired));
            let but = if *is_weak { ", unless it fails for no reason (choice 1)" } else { "" };
            format!("atomically reads {read}, and writes {desired} if that is {expected}{but}")
        }
        At::Fence | At::Drain | At::FenceOfAll => "passes a fence".to_string(),
        At::Join { thread } => {
            let of =
                u32::try_from(*thread).map_or_else(|_| thread.to_string(), |of| names.thread(of));
            format!("joins {of}")
        }
        At::Free { address, .. } => format!("frees {}", names.place_or_address(*address)),
        At::HeapSize { address } => {
            format!("asks for the size of {}", names.place_or_address(*address))
        }
        At::Choice { first, below, .. } => {
            let last = first.saturating_add(i128::from(*below)).saturating_sub(1);
            format!("chooses a value from {first} to {last}")
        }
        At::Enter => "enters an atomic section".to_string(),
        At::Local => "computes".to_string(),
        At::End => "ends".to_string(),
        At::Ended => "has ended".to_string(),
        At::Stopped => "stands at an assumption that does not hold".to_string(),
        At::Waiting => "waits for ever".to_string(),
        At::Endless => "is in a loop that never ends".to_string(),
        At::Cut => "has gone too deep into calls".to_string(),
        At::Forgotten => "reads below the end of its stack".to_string(),
        At::Failed { message, .. } => (*message).to_string(),
        At::Fault(fault) => fault.message(),
    }
}

fn rmw(op: RmwOp) -> &'static str {
    match op {
        RmwOp::Swap => "writes",
        RmwOp::Add => "adds",
        RmwOp::Sub => "subtracts",
        RmwOp::And => "ands",
        RmwOp::AndNot => "clears",
        RmwOp::Nand => "nands",
        RmwOp::Or => "ors",
        RmwOp::Xor => "xors",
        RmwOp::SMin | RmwOp::UMin => "writes the smaller of it and",
        RmwOp::SMax | RmwOp::UMax => "writes the larger of it and",
        RmwOp::ReverseSub => "subtracts it from",
    }
}
