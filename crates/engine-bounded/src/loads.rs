//! The loads of a program up to a bound, and where each can go.

use std::time::Instant;

use parallax_machine::Code;
use parallax_memory::Model;
use parallax_program::{Diagnostics, Program};
use parallax_verdict::Reason;

use crate::event::Step;
use crate::options::Options;
use crate::preparation::{Preparation, prepare};
use crate::watch::Watch;

/// The addresses that each load can have. The inner error is why there is no telling.
pub fn loads(
    program: &Program,
    model: &Model,
    options: &Options<'_>,
) -> Result<Result<Vec<Vec<u64>>, Reason>, Diagnostics> {
    let code = Code::new(program);
    let bound = options.bounds().first().copied().unwrap_or_default();
    let end = options.timeout.and_then(|limit| Instant::now().checked_add(limit));
    let mut watch = Watch::new(options.stop, end);
    let nondet = options.nondet;
    let preparation = Preparation { code: &code, model, bound, nondet, has_races: false };
    let prepared = prepare(&preparation, &mut watch).map_err(|error| vec![error])?;
    Ok(prepared.map(|prepared| {
        let structure = prepared.structure;
        let events = structure.events.into_iter().zip(structure.places).take(structure.initials);
        let loads = events
            .filter(|(event, _)| event.kind.is_read() && matches!(event.step, Step::Access { .. }));
        loads.map(|(_, places)| places).collect()
    }))
}
