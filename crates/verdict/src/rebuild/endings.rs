//! Where the threads are after their last steps.

use parallax_machine::{Operation, Site};

use super::{Rebuild, describe, own_line};
use crate::walker::Due;
use crate::{Standing, Step, ThreadEnding};

impl Rebuild<'_, '_> {
    /// Checks that every thread is where it is claimed to be.
    pub(super) fn standings(&mut self) -> Result<Vec<Standing>, String> {
        let claim = self.claim;
        let mut standings = Vec::with_capacity(claim.threads.len());
        for (number, thread) in claim.threads.iter().enumerate() {
            let found = self.check_ending(number, &thread.steps, thread.ending);
            found.map_err(|problem| format!("{}: {problem}", self.threads[number].name))?;
            standings.push(self.standing(number, thread.ending));
        }
        Ok(standings)
    }

    fn check_ending(
        &mut self,
        number: usize,
        steps: &[Step],
        ending: ThreadEnding,
    ) -> Result<(), String> {
        match (self.threads[number].has_ended, ending) {
            (true, ThreadEnding::Ended) => return Ok(()),
            (true, _) => return Err("the thread has ended".to_string()),
            (false, ThreadEnding::Ended) => return Err("the thread has not ended".to_string()),
            _ => {}
        }
        match ending {
            ThreadEnding::Waiting => self.check_waiting(number),
            ThreadEnding::Failed => self.check_failed(number),
            ThreadEnding::Spinning { from } => check_spinning(steps, from),
            _ => Ok(()),
        }
    }

    fn check_waiting(&mut self, number: usize) -> Result<(), String> {
        let others = self.threads.iter().enumerate().filter(|(other, _)| *other != number);
        let in_section = others.into_iter().any(|(_, run)| run.sections > 0);
        let target = match self.due(number as u32, None)? {
            Due::Operation(Operation::Wait { .. }) => return Ok(()),
            Due::Operation(Operation::AtomicBegin) if in_section => return Ok(()),
            Due::Operation(Operation::Join { thread }) => thread.bits.unsigned(),
            other => return Err(format!("it does not wait, but is at {}", describe(&other))),
        };
        let target = usize::try_from(target).ok().and_then(|target| self.threads.get(target));
        match target {
            Some(run) if run.has_ended => {
                Err(format!("it waits for {}, which has ended", run.name))
            }
            _ => Ok(()),
        }
    }

    /// Whether the thread stands at something that can go wrong. What is wrong is for the engine
    /// to say.
    fn check_failed(&mut self, number: usize) -> Result<(), String> {
        let due = self.due(number as u32, None)?;
        match &due {
            Due::Read { .. } | Due::Write { .. } | Due::Decision => Ok(()),
            Due::Operation(
                Operation::Assert { .. }
                | Operation::Free { .. }
                | Operation::Alloc { .. }
                | Operation::Join { .. }
                | Operation::HeapSize { .. }
                | Operation::Fault(_),
            ) => Ok(()),
            other => Err(format!("nothing fails at {}", describe(other))),
        }
    }

    fn standing(&self, number: usize, ending: ThreadEnding) -> Standing {
        let stays = matches!(ending, ThreadEnding::Waiting | ThreadEnding::Failed);
        let walker = self.threads[number].walker.as_ref().filter(|_| stays);
        let sites: Vec<Site> = walker.map_or_else(Vec::new, |walker| walker.stack().collect());
        let (_, text) = own_line(self.code, &sites);
        Standing { ending, stack: self.calls(&sites), text }
    }
}

/// A round of a loop changes nothing.
fn check_spinning(steps: &[Step], from: u32) -> Result<(), String> {
    let round = steps.get(from as usize..).filter(|round| !round.is_empty());
    let round = round.ok_or("it repeats no step")?;
    let changes = round.iter().find(|step| {
        !matches!(
            step,
            Step::Read { .. }
                | Step::Fence
                | Step::Choice { .. }
                | Step::AtomicBegin
                | Step::AtomicEnd
        )
    });
    match changes {
        Some(step) => Err(format!("it repeats {step:?}, which changes something")),
        None => Ok(()),
    }
}
