//! Asking the bounded engine about images.

use parallax_engine_bounded::{Options, Verified, loads, verify};
use parallax_memory::Model;
use parallax_program::{Diagnostics, GlobalId, Program, Property};
use parallax_verdict::Reason;
use std::collections::BTreeSet;

use crate::candidates::Fact;
use crate::fitness::Writes;
use crate::subject::{Purpose, Subject};

/// A model, a bound for the loops that are left, and limits.
pub struct Search<'a> {
    pub model: &'a Model,
    pub bound: u32,
    pub options: &'a Options<'a>,
}

pub enum Asked {
    Answered(Box<Verified>),
    Unknown(Reason),
}

/// A loop that needs more stand-ins is beyond the method.
const MOST_ROUNDS: usize = 64;

/// So often it is looked whether there are enough stand-ins.
pub const MOST_TRIES: usize = 8;

impl Search<'_> {
    fn limited(&self) -> Options<'_> {
        Options {
            properties: vec![Property::Assert],
            unroll: Some(self.bound),
            throughout: true,
            nondet: None,
            ..self.options.clone()
        }
    }

    pub fn ask(&self, subject: &Subject, purpose: Purpose) -> Result<Asked, Diagnostics> {
        match subject.image(purpose) {
            Ok(image) => {
                let verified = verify(&image, self.model, &self.limited())?;
                Ok(Asked::Answered(Box::new(verified)))
            }
            Err(_) => Ok(Asked::Unknown(too_large())),
        }
    }

    /// Gives each loop as many stand-ins as there are loads of what it writes, whatever is proposed.
    pub fn measure(&self, subject: &mut Subject) -> Result<Option<Reason>, Diagnostics> {
        let facts: Vec<Vec<Fact>> =
            subject.loops.iter_mut().map(|known| std::mem::take(&mut known.facts)).collect();
        let reason = self.measure_with_facts(subject);
        for (known, facts) in subject.loops.iter_mut().zip(facts) {
            known.facts = facts;
        }
        Ok(reason?.err())
    }

    /// The same, with what is proposed. A load that comes after an access which may go anywhere is not
    /// seen without it, as that is where its way ends. The answer is whether there were enough before.
    pub fn measure_with_facts(
        &self,
        subject: &mut Subject,
    ) -> Result<Result<bool, Reason>, Diagnostics> {
        for tries in 0..MOST_TRIES {
            let Ok(image) = subject.image(Purpose::Show) else { return Ok(Err(too_large())) };
            let loads = match loads(&image, self.model, &self.limited()) {
                Ok(loads) => loads,
                Err(reason) => return Ok(Err(reason)),
            };
            let mut is_enough = true;
            for known in &mut subject.loops {
                let needed = count(&image, &loads, &known.writes);
                if needed > MOST_ROUNDS {
                    let span = known.replaced.span;
                    return Ok(Err(Reason {
                        message: format!("this loop needs {needed} stand-ins of iterations"),
                        place: Some(subject.program.source.location(span)),
                        help: Some("there are too many loads of what it writes".into()),
                    }));
                }
                is_enough &= needed <= known.replaced.rounds;
                known.replaced.rounds = known.replaced.rounds.max(needed);
            }
            if is_enough {
                return Ok(Ok(tries == 0));
            }
        }
        Ok(Err(unsettled()))
    }
}

pub fn unsettled() -> Reason {
    let message = "the number of stand-ins of iterations does not settle".to_string();
    Reason { message, place: None, help: None }
}

fn too_large() -> Reason {
    Reason {
        message: "the loops need too many stand-ins of iterations".to_string(),
        place: None,
        help: Some("loops inside of loops multiply; fewer loads make fewer".into()),
    }
}

/// How many loads there are of what a loop writes.
fn count(program: &Program, loads: &[Vec<u64>], writes: &Writes) -> usize {
    let layout = program.layout();
    let is_in = |place: u64, global: &GlobalId| {
        let number = global.0 as usize;
        let (Some(start), Some(global)) = (layout.get(number), program.globals.get(number)) else {
            return true;
        };
        place >= *start && place < start.saturating_add(global.size.max(1))
    };
    let may_read = |places: &[u64], written: &BTreeSet<GlobalId>| {
        places.iter().any(|place| written.iter().any(|global| is_in(*place, global)))
    };
    match writes {
        Writes::Anywhere => loads.len(),
        Writes::To(written) => loads.iter().filter(|places| may_read(places, written)).count(),
    }
}
