//! What it means to wait for ever.
//!
//! Every thread that was started has ended, or *waits*: at a wait whose condition does not hold, for
//! the end of a thread, for the end of an atomic section, or in a loop that goes round for ever. Nobody
//! does anything that lets another one go on:
//!
//! - what a waiting thread has read, and would read again, is what is there in the end. Memory is
//!   fair: every write is seen by everyone some time;
//! - a loop is back at its head as it was before, and each of its stores has put what was there
//!   already. So it does the same again, whoever goes round how often.
//!
//! If a loop is among those who wait, that violates `liveness`, and otherwise `deadlock`. Threads
//! that go round and change memory for ever are neither, as long as nobody looks at all they may do
//! together; engines that cannot decide say `unknown`.

use parallax_machine::Operation;
use parallax_program::{Bits, Program, Property};

use super::Rebuild;
use super::coherence::Orders;
use crate::walker::Due;
use crate::{EventKind, Standing, ThreadEnding};

/// How a thread waits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wait {
    /// For what another thread does at once: a lock, its end.
    Blocked,
    Loops,
}

impl Rebuild<'_, '_> {
    /// Whether threads wait for ever, as a violation of a property says.
    pub(super) fn check_endless(
        &mut self,
        property: Property,
        standings: &[Standing],
        orders: &Orders,
    ) -> Result<(), String> {
        if self.code.program.daemons && self.threads.first().is_some_and(|run| run.has_ended) {
            return Err("the program is over when its first thread ends".to_string());
        }
        let mut waits = Vec::new();
        for (number, standing) in standings.iter().enumerate() {
            let wait = self.check_wait(number, standing.ending, orders);
            let name = &self.threads[number].name;
            waits.extend(wait.map_err(|problem| format!("{name} does not wait: {problem}"))?);
        }
        let expected = match property {
            Property::Liveness => waits.contains(&Wait::Loops),
            _ => !waits.is_empty() && !waits.contains(&Wait::Loops),
        };
        match expected {
            true => Ok(()),
            false => Err(format!("no thread waits as a violation of '{property}' says")),
        }
    }

    fn check_wait(
        &mut self,
        number: usize,
        ending: ThreadEnding,
        orders: &Orders,
    ) -> Result<Option<Wait>, String> {
        let run = &self.threads[number];
        let own = run.first_event..run.first_event + run.taken;
        if run.walker.is_none() {
            return Ok(None);
        }
        match ending {
            ThreadEnding::Ended => Ok(None),
            ThreadEnding::Waiting => {
                let due = self.due(number as u32, None)?;
                if let Due::Operation(Operation::Wait { .. }) = due {
                    let look = own.rev().find(|event| self.is_look(*event));
                    look.map_or(Ok(()), |look| self.check_settled(look, orders))?;
                }
                Ok(Some(Wait::Blocked))
            }
            ThreadEnding::Spinning { from } => {
                for event in own.skip(from as usize) {
                    self.check_settled(event, orders)?;
                }
                Ok(Some(Wait::Loops))
            }
            // A round without a step: there is nothing to claim of it.
            ThreadEnding::Stopped => match self.due(number as u32, None)? {
                Due::Operation(Operation::Spin { .. } | Operation::Cut) => Ok(Some(Wait::Loops)),
                _ => Err("it could go on".to_string()),
            },
            ThreadEnding::Failed => Err("it has failed".to_string()),
        }
    }

    /// Whether an event reads memory.
    fn is_look(&self, event: u32) -> bool {
        let kind = self.kind_of(event);
        kind.is_some_and(|kind| {
            matches!(kind, EventKind::Read { address, .. } if Program::thread_at(*address).is_none())
        })
    }

    /// Whether an event that is repeated for ever is the same each time.
    fn check_settled(&self, event: u32, orders: &Orders) -> Result<(), String> {
        match self.kind_of(event) {
            Some(EventKind::Read { address, size, value, location, .. }) => {
                let writes = orders.get(&(*address, *size)).map_or(&[][..], Vec::as_slice);
                match self.put(writes.last().copied(), *address, *size) == Some(*value) {
                    true => Ok(()),
                    false => Err(format!("it may yet see a newer value of {location}")),
                }
            }
            Some(EventKind::Write { address, size, value, location, .. }) => {
                let writes = orders.get(&(*address, *size)).map_or(&[][..], Vec::as_slice);
                let place = writes.iter().position(|write| *write == event).unwrap_or(0);
                let before = place.checked_sub(1).map(|before| writes[before]);
                match self.put(before, *address, *size) == Some(*value) {
                    true => Ok(()),
                    false => Err(format!("it changes {location}")),
                }
            }
            Some(EventKind::Choice { value, .. }) if !value.is_zero() => {
                Err("it could choose otherwise".to_string())
            }
            _ => Ok(()),
        }
    }

    /// What a write has put at a place, or what was there from the start.
    fn put(&self, write: Option<u32>, address: u64, size: u32) -> Option<Bits> {
        let Some(write) = write else {
            return Some(self.objects.initial(address, size));
        };
        match self.kind_of(write) {
            Some(EventKind::Write { value, .. }) => Some(*value),
            _ => None,
        }
    }
}
