//! Schedules of violations, as the debugger reads them.

use parallax_debugger::{Subject, witness};
use parallax_engine_states::{Scheduled, Schedules};

/// An extension of queries: the schedule of the first violation is wanted.
pub fn schedules() -> Schedules {
    Schedules { write }
}

fn write(way: &Scheduled<'_, '_>) -> Option<String> {
    let subject = Subject { program: way.program, question: way.question, input: way.input };
    witness(subject, way.setup, way.path).map(|schedule| schedule.text())
}
