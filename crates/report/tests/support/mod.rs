//! Executions written down by hand, and expected texts in files.

use std::path::Path;

use parallax_program::{Bits, Location, Tags};
use parallax_verdict::{Event, EventKind, Execution, StateValue};

/// An execution from initial writes (`x=0`) and one list of events for each thread:
/// `W x=1`, `R[acq] y=0 ; ldar w0,[x1]`, `F[MFENCE]`.
pub fn execution(initial: &[&str], threads: &[&[&str]]) -> Execution {
    let mut execution = Execution {
        threads: (0..threads.len()).map(|n| format!("P{n}")).collect(),
        ..Execution::default()
    };
    for text in initial {
        execution.events.push(event(None, &format!("W {text}")));
    }
    for (thread, texts) in threads.iter().enumerate() {
        let first = execution.events.len() as u32;
        for text in *texts {
            let number = execution.events.len() as u32;
            execution.po.extend((first..number).map(|before| (before, number)));
            execution.events.push(event(Some(thread as u32), text));
        }
    }
    execution
}

fn event(thread: Option<u32>, text: &str) -> Event {
    let (effect, source) = text.split_once(" ; ").unwrap_or((text, ""));
    let (head, access) = effect.split_once(' ').unwrap_or((effect, ""));
    let (sign, tags) = head.split_once('[').unwrap_or((head, ""));
    let (location, value) = access.split_once('=').unwrap_or(("", "0"));
    let (location, shown) = (location.to_string(), value.to_string());
    let (address, size, value) = (0, 4, Bits::zero(32));
    Event {
        thread,
        kind: match sign {
            "R" => EventKind::Read { location, address, size, value, shown },
            "W" => EventKind::Write { location, address, size, value, shown },
            _ => EventKind::Fence,
        },
        tags: Tags::new(tags.trim_end_matches(']').split(',').filter(|t| !t.is_empty())),
        place: thread.map(|_| Location { file: "t".into(), line: 1, column: 1 }),
        text: source.to_string(),
    }
}

pub fn state(values: &[(&str, &str)]) -> Vec<StateValue> {
    let value = |(name, shown): &(&str, &str)| StateValue {
        name: name.to_string(),
        bits: Bits::zero(32),
        shown: shown.to_string(),
        in_memory: !name.contains(':'),
    };
    values.iter().map(value).collect()
}

/// Compares with a file of `tests/expected`. With `UPDATE_EXPECTED` set, writes it instead.
pub fn check(name: &str, found: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/expected").join(name);
    if std::env::var_os("UPDATE_EXPECTED").is_some() {
        std::fs::write(&path, found).expect("the expected file is written");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(expected == found, "{name} differs; set UPDATE_EXPECTED=1 to accept:\n{found}");
}
