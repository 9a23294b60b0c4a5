//! Where the threads are after their last steps.

use parallax_machine::{Operation, Site};
use parallax_program::Question;

use super::violation::decided_by_undefined;
use super::{Rebuild, Taken, describe, own_line};
use crate::finals::{Variables, variables};
use crate::walker::Due;
use crate::{EventKind, Life, Standing, ThreadEnding};

impl Rebuild<'_, '_> {
    /// Checks that every thread is where it is claimed to be.
    pub(super) fn standings(&mut self) -> Result<Vec<Standing>, String> {
        let claim = self.claim;
        let mut standings = Vec::with_capacity(claim.threads.len());
        for (number, thread) in claim.threads.iter().enumerate() {
            let ending = self.check_ending(number, thread.ending);
            let ending =
                ending.map_err(|problem| format!("{}: {problem}", self.threads[number].name))?;
            let awaits = self.awaits(number, ending)?;
            standings.push(Standing { awaits, ..self.standing(number, ending) });
        }
        Ok(standings)
    }

    /// What a question looks at, when all threads have ended.
    pub(super) fn variables(&self, question: &Question) -> Result<Variables, String> {
        let mut found = Variables::new();
        for (number, run) in (0u32..).zip(&self.threads) {
            if !run.has_ended {
                return Err(format!("{} has not ended, so there is no final state", run.name));
            }
            let walker = run.walker.iter();
            found.extend(walker.flat_map(|walker| walker.variables(&variables(question, number))));
        }
        Ok(found)
    }

    /// How a thread really ended, which is as claimed; but where a loop began to repeat itself
    /// is found anew.
    fn check_ending(
        &mut self,
        number: usize,
        ending: ThreadEnding,
    ) -> Result<ThreadEnding, String> {
        match (self.threads[number].has_ended, ending) {
            (true, ThreadEnding::Ended) => return Ok(ending),
            (true, _) => return Err("the thread has ended".to_string()),
            (false, ThreadEnding::Ended) => return Err("the thread has not ended".to_string()),
            _ => {}
        }
        match ending {
            ThreadEnding::Waiting => self.check_waiting(number)?,
            ThreadEnding::Failed => self.check_failed(number)?,
            ThreadEnding::Spinning { .. } => {
                return Ok(ThreadEnding::Spinning { from: self.repeated_from(number)? });
            }
            _ => {}
        }
        Ok(ending)
    }

    fn check_waiting(&mut self, number: usize) -> Result<(), String> {
        let others = self.threads.iter().enumerate().filter(|(other, _)| *other != number);
        let in_section = others.into_iter().any(|(_, run)| run.sections > 0);
        let target = match self.due(number as u32, None)? {
            Due::Operation(Operation::Wait { .. }) => return Ok(()),
            Due::Operation(Operation::AtomicBegin) if in_section => return Ok(()),
            _ if in_section && self.sections_exclude => return Ok(()),
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

    /// Whether the thread stands at something that can go wrong. Whether it does depends on what is
    /// looked for.
    fn check_failed(&mut self, number: usize) -> Result<(), String> {
        let due = self.due(number as u32, None)?;
        match &due {
            Due::Read { .. } | Due::Write { .. } | Due::Decision => Ok(()),
            Due::Operation(operation) if decided_by_undefined(operation) => Ok(()),
            Due::Operation(Operation::Fault(fault)) if fault.violates().is_some() => Ok(()),
            Due::Operation(
                Operation::Assert { .. } | Operation::Free { .. } | Operation::HeapSize { .. },
            ) => Ok(()),
            other => Err(format!("nothing fails at {}", describe(other))),
        }
    }

    /// The first step of the round that a thread goes on repeating.
    fn repeated_from(&mut self, number: usize) -> Result<u32, String> {
        self.due(number as u32, None)?;
        let run = &self.threads[number];
        let round = run.walker.as_ref().and_then(|walker| walker.last_round());
        let (since, until) = round.ok_or("it does not repeat itself")?;
        let own = &self.events[run.first_event as usize..][..run.taken as usize];
        let after = |operations: u32| {
            let is_after = |taken: &Taken| taken.operations >= operations && !begins(taken);
            own.iter().position(|taken| taken.as_ref().is_some_and(is_after))
        };
        let from = after(since).ok_or("it repeats no step")?;
        let begun = &own[after(until).unwrap_or(own.len())..];
        if !begun.iter().map(kind).eq(own[from..].iter().map(kind).take(begun.len())) {
            return Err("it does not repeat itself".to_string());
        }
        Ok(from as u32)
    }

    /// The thread whose end a thread waits for.
    fn awaits(&mut self, number: usize, ending: ThreadEnding) -> Result<Option<u32>, String> {
        if ending != ThreadEnding::Waiting {
            return Ok(None);
        }
        Ok(match self.due(number as u32, None)? {
            Due::Operation(Operation::Join { thread }) => {
                let target = u32::try_from(thread.bits.unsigned()).ok();
                target.filter(|target| (*target as usize) < self.threads.len())
            }
            _ => None,
        })
    }

    fn standing(&self, number: usize, ending: ThreadEnding) -> Standing {
        let stays = matches!(ending, ThreadEnding::Waiting | ThreadEnding::Failed);
        let walker = self.threads[number].walker.as_ref().filter(|_| stays);
        let sites: Vec<Site> = walker.map_or_else(Vec::new, |walker| walker.stack().collect());
        let (_, text) = own_line(self.code, &sites);
        Standing { ending, stack: self.calls(&sites), text, awaits: None }
    }
}

fn kind(taken: &Option<Taken>) -> Option<&EventKind> {
    taken.as_ref().map(|taken| &taken.event.kind)
}

fn begins(taken: &Taken) -> bool {
    matches!(taken.event.kind.life(), Some(Life::Begin(_)))
}
