//! The loads of a program up to a bound, and where each can go.

use parallax_machine::Code;
use parallax_memory::Model;
use parallax_program::Program;
use parallax_verdict::Reason;

use crate::event::Step;
use crate::options::{Bound, Options};
use crate::preparation::{Preparation, prepare};
use crate::watch::Watch;

/// The addresses that each load can have. The error is why that is not known.
pub fn loads(
    program: &Program,
    model: &Model,
    options: &Options<'_>,
) -> Result<Vec<Vec<u64>>, Reason> {
    let code = Code::new(program);
    let bound = Bound { rounds: options.unroll.unwrap_or(1), ..Bound::default() };
    let watch = Watch::new(&options.control);
    let nondet = options.nondet;
    let preparation = Preparation {
        code: &code,
        model,
        bound,
        nondet,
        integers: false,
        has_races: false,
        sections: None,
        asks_for_ends: false,
        asks_for_waits: false,
        asks_for_undefined: false,
    };
    let structure = prepare(&preparation, &watch)?.structure;
    let events = structure.events.into_iter().zip(structure.places).take(structure.initials);
    let loads = events
        .filter(|(event, _)| event.kind.is_read() && matches!(event.step, Step::Access { .. }));
    Ok(loads.map(|(_, places)| places).collect())
}
