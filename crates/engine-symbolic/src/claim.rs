//! From a schedule and inputs to a claim, which the replayer can check without trusting the engine.
//!
//! The steps are taken once more with the inputs as numbers, and noted down.

use parallax_machine::system::What;
use parallax_verdict::{Claim, Step, StepId, Story, Suspicion, ThreadClaim, ThreadEnding};
use rustc_hash::FxHashMap;

use crate::machine::{Machine, Run};
use crate::observer::Found;
use crate::state::{At, Move, State};
use crate::value::Symbol;

/// What was found, as something that can be checked. The error says how it cannot be repeated.
pub fn suspicion(machine: &Machine<'_, '_>, found: &Found) -> Result<Suspicion, String> {
    let inputs = found.path.model.iter().filter_map(|(variable, value)| {
        machine.values.name(*variable).map(|symbol| (symbol, *value))
    });
    let inputs: FxHashMap<Symbol, _> = inputs.collect();
    let mut replica =
        machine.replica(inputs, &found.path.stopped).ok_or("the program is too large")?;
    let mut replay = Replay { touches: Vec::new(), machine: &mut replica };
    let state = replay.follow(&found.schedule)?;
    let (endings, count) = replay.endings(state, found)?;
    let touches = std::mem::take(&mut replay.touches);
    let log = replica.log.take().unwrap_or_default();
    let mut story = Story::new(&log, count);
    let parts: Vec<_> = log.iter().map(|record| story.add(record)).collect();
    let race: Vec<usize> = found
        .accesses
        .iter()
        .filter_map(|(step, number)| {
            let first = *touches.get(*step as usize)?.get(*number as usize)?;
            // A read-modify-write is a read and a write: the write is what races.
            let pairs = matches!(log.get(first)?.what, What::Read { .. })
                && log.get(first + 1).is_some_and(|next| {
                    matches!(next.what, What::Write { .. })
                        && next.thread == log[first].thread
                        && is_pair(&log[first].what, &next.what)
                });
            Some(if pairs { first + 1 } else { first })
        })
        .collect();
    let mut involved = Vec::new();
    if let [one, other] = race[..] {
        let meets = parts[one].iter().find_map(|(start, id)| {
            let same = parts[other].iter().find(|(place, _)| place == start);
            same.map(|(_, rival)| [*id, *rival])
        });
        involved.extend(meets.ok_or("the accesses are not to the same bytes")?);
    }
    let made = found.object.and_then(|object| story.made(object));
    involved.extend(made);
    story.flush_all();
    let mut claim = story.into_claim(endings);
    if found.failed.is_none() && involved.is_empty() {
        involved = looks(&claim);
    }
    add_symbols(&mut claim, &replica.values.used);
    let failed = found.failed.map(|thread| thread as usize);
    let (property, message) = (found.property, found.message.clone());
    Ok(Suspicion { property, message, failed, claim, involved })
}

/// Whether a write follows from a read of the same place.
fn is_pair(read: &What, write: &What) -> bool {
    match (read, write) {
        (What::Read { address, bytes, .. }, What::Write { address: to, bytes: size, .. }) => {
            address == to && bytes == size
        }
        _ => false,
    }
}

/// What was there that nobody has given.
fn add_symbols(claim: &mut Claim, used: &[(Symbol, parallax_program::Bits)]) {
    claim.undefined = vec![Vec::new(); claim.threads.len()];
    for (symbol, value) in used {
        match symbol {
            Symbol::Undefined { thread, number } => {
                if let Some(list) = claim.undefined.get_mut(*thread as usize)
                    && list.len() == *number as usize
                {
                    list.push(*value);
                }
            }
            Symbol::Byte { address } => claim.unwritten.push((*address, *value)),
            Symbol::Choice { .. } => {}
        }
    }
    claim.unwritten.sort_unstable_by_key(|(address, _)| *address);
    claim.unwritten.dedup_by_key(|(address, _)| *address);
}

/// The last reads of threads that wait for something else than the end of another.
fn looks(claim: &Claim) -> Vec<StepId> {
    let look = |(number, thread): (usize, &ThreadClaim)| {
        let index = thread.steps.iter().rposition(|step| matches!(step, Step::Read { .. }))?;
        let waits = match thread.ending {
            ThreadEnding::Waiting => index + 1 == thread.steps.len(),
            ThreadEnding::Spinning { .. } => true,
            _ => false,
        };
        waits.then_some(StepId { thread: number as u32, index: index as u32 })
    };
    claim.threads.iter().enumerate().filter_map(look).collect()
}

struct Replay<'m, 'a, 'p> {
    machine: &'m mut Machine<'a, 'p>,
    /// For each step, where in the log its accesses are.
    touches: Vec<Vec<usize>>,
}

impl<'p> Replay<'_, '_, 'p> {
    /// Steps of a loop that are taken to show that it is one.
    const MOST_STEPS: usize = 4096;

    fn only(runs: Result<Vec<Run<'p>>, crate::machine::Halt>) -> Result<State<'p>, String> {
        let runs = runs.map_err(|_| "a step cannot be repeated")?;
        match <[Run<'p>; 1]>::try_from(runs) {
            Ok([run]) => Ok(run.state),
            Err(_) => Err("a step has not one outcome".to_string()),
        }
    }

    fn follow(&mut self, schedule: &[Move]) -> Result<State<'p>, String> {
        let first = self.machine.start().and_then(|open| self.machine.all(open));
        let mut state = Self::only(first)?;
        self.machine.touched.clear();
        for step in schedule {
            state = Self::only(self.machine.take(&state, *step))?;
            self.touches.push(std::mem::take(&mut self.machine.touched));
        }
        Ok(state)
    }

    /// Where the threads are in the end. What they look at again and again they are made to look at.
    fn endings(
        &mut self,
        mut state: State<'p>,
        found: &Found,
    ) -> Result<(Vec<ThreadEnding>, usize), String> {
        let is_cut = found.failed.is_some() || !found.accesses.is_empty();
        let count = state.threads.len();
        let mut endings = Vec::with_capacity(count);
        for thread in 0..count as u32 {
            let at = state.thread(thread).map(|local| local.at.clone());
            endings.push(match at {
                _ if found.failed == Some(thread) => ThreadEnding::Failed,
                Some(At::Ended) => ThreadEnding::Ended,
                Some(At::Waiting) => ThreadEnding::Waiting,
                _ if is_cut => ThreadEnding::Stopped,
                Some(At::Join { .. }) => ThreadEnding::Waiting,
                Some(_) if state.section.is_some_and(|owner| owner != thread) => {
                    ThreadEnding::Waiting
                }
                Some(At::Access(_)) => {
                    state = Self::only(self.machine.step(&state, thread))?;
                    self.wait(&mut state, thread)?
                }
                Some(At::Spinning { .. }) => self.wait(&mut state, thread)?,
                _ => ThreadEnding::Stopped,
            });
        }
        Ok((endings, count))
    }

    /// A thread that waits: in a loop it goes round some more times.
    fn wait(&mut self, state: &mut State<'p>, thread: u32) -> Result<ThreadEnding, String> {
        let mut rounds = 0;
        for _ in 0..Self::MOST_STEPS {
            match state.thread(thread).map(|local| &local.at) {
                Some(At::Waiting) => return Ok(ThreadEnding::Waiting),
                Some(At::Spinning { .. }) if rounds == 2 => {
                    return Ok(ThreadEnding::Spinning { from: 0 });
                }
                Some(At::Spinning { .. }) => {
                    rounds += 1;
                    *state = Self::only(self.machine.resume(state, thread))?;
                }
                Some(At::Access(_)) => {
                    *state = Self::only(self.machine.step(state, thread))?;
                }
                _ => break,
            }
        }
        Ok(ThreadEnding::Stopped)
    }
}
