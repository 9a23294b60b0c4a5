//! Proofs that a program has no data race, that no assertion fails, that nothing overflows, or that no
//! access goes wrong, without running it, however often its loops repeat.
//!
//! Threads are interpreted on sets of values ([`analysis`], [`step`], [`eval`]): intervals with strides
//! ([`num`]), addresses in objects ([`value`]), what objects hold ([`contents`]). A state keeps which locks
//! a thread holds for certain ([`near`] has those that are known only by the object that they are in), which threads it may have started, and which have ended ([`state`]).
//! In the end [`races`] looks at all pairs of accesses of one place: one of two that conflict has to
//! come before the other, by the start or the end of a thread, or both threads have to hold the same
//! lock. After S. Savage et al., "Eraser: a dynamic data race detector for multithreaded programs", TOCS
//! 1997, for the locks; V. Vojdani et al., "Static race detection for device drivers: the Goblint
//! approach", ASE 2016, for the whole; P. Cousot and R. Cousot, POPL 1977, for why it ends.
//!
//! # Why it is right
//!
//! *Nothing is assumed about races.* What an object that several threads know may hold is every value
//! that is ever stored there, whoever stores it, in whatever order. Take an execution, and its events in
//! an order that has program order and reads-from in it; there is one under the models that are
//! admitted. By induction along it, each event is one that the analysis has met: a read gets what an
//! earlier write has stored, which is among what the object may hold. So values of variables, addresses and
//! decisions of branches are covered in every execution, be there races in it or not, and whatever
//! stores a memory model lets a thread see late. Flow matters only for what no other thread knows: an
//! object whose address was stored nowhere else since it was made, and all objects as long as there
//! is no other thread; there a thread reads what it wrote last, under every model.
//!
//! *Orders are those of C.* Starting a thread comes before all that it does, and its end before what
//! follows a join. A lock that is taken reads from the write by which it was given back, with a
//! release and an acquire, so that of two accesses under one lock one happens before the other, by
//! the happens-before of C that defines races under every model. That needs a word of the lock that
//! nobody else writes to: such writes must not be in parallel with its use, and not be made while it
//! is held. Atomic accesses order nothing here, so that memory orders do not matter.
//!
//! *What can go wrong besides.* An access out of bounds, by a null pointer, to an object that is gone, a
//! lock that is used wrongly: after that, anything may happen, races too. All of this has to be
//! ruled out as well, and is owed where it is not ([`Conclusion::Owed`]). An address that was
//! computed in a way that is not followed may be any: then there is no answer. What the library or the
//! front end does not support ends the analysis too.
//!
//! Calls are followed as they are made, each with its own state; functions that call themselves are run
//! until what they do is settled. Threads are distinguished by where and as how manyth they are
//! started, up to a limit; after that one stands for many.

mod analysis;
mod contents;
mod engine;
mod eval;
mod guarded;
mod local;
mod near;
mod num;
mod races;
mod state;
mod step;
mod value;
mod world;

use std::cell::RefCell;

use parallax_control::{Control, Stop};
use parallax_program::{AllocKind, Program, Property, Span};

pub use engine::{Defined, Static};

use analysis::{Analysis, Quit};
use guarded::{Guards, guards, in_sections};
use local::Local;
use races::{Judge, Suspicion};
use world::{Obligation, World};

/// What came of it.
#[derive(Clone, Debug)]
pub struct Proof {
    pub conclusion: Conclusion,
    /// What was assumed and not shown, where something was.
    pub assumed: Option<(String, Span)>,
    /// How many accesses of what threads share were looked at.
    pub accesses: u64,
}

#[derive(Clone, Debug)]
pub enum Conclusion {
    /// It is so.
    Proved,
    /// No execution passes an assumption, so that nothing is said of any.
    Vacuous {
        span: Span,
    },
    /// Two accesses may race, or an assertion may fail, or what else is to be proved may not hold.
    Suspected {
        message: String,
        span: Span,
    },
    /// It is so in each execution up to an error of another kind, and that there is none of those was
    /// not shown.
    Owed {
        property: Property,
        message: String,
        span: Span,
    },
    /// Something cannot be followed.
    Lost {
        message: String,
        span: Option<Span>,
    },
    Stopped(Stop),
}

/// What need not be shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Assumption {
    Nothing,
    /// That the program does nothing undefined but race. Where races are asked for, locks that are
    /// released by others than who holds them are no part of it: programs do that, and race then.
    Definedness,
}

impl Assumption {
    /// `is_strict` where values rest on locks.
    fn covers(self, owed: &Obligation, claim: Claim, is_strict: bool, world: &World) -> bool {
        if self == Assumption::Nothing {
            return false;
        }
        match (owed.property, claim) {
            (Property::Memory, Claim::NoMemoryError) => {
                owed.is_followed && owed.message == NO_THREAD
            }
            (Property::Memory, _) => owed.is_followed,
            (Property::Lock, _) if is_strict || claim == Claim::NoRace => {
                owed.is_followed && SPARED.iter().any(|end| owed.message.ends_with(end))
            }
            // What values there are has nothing to do with who holds a lock. Others have gone on from
            // there, if this state does not.
            (Property::Lock, _) => owed.is_followed || world.passed.contains(&owed.place),
            _ => false,
        }
    }
}

/// How the library says that a lock is initialised twice, and that a thread is waited for twice. Where the
/// first is in parallel with a use of the lock, the lock is suspected anyway.
const SPARED: [&str; 2] = [
    "is initialised again that was not destroyed",
    "is joined or detached that was joined or detached before",
];

/// No access goes wrong where a thread is waited for that is none.
const NO_THREAD: &str = "a thread is waited for that may be none";

/// What is to be proved of all executions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Claim {
    /// None has a race.
    NoRace,
    /// In none an assertion fails.
    NoFailure,
    /// In none arithmetic is undefined.
    NoOverflow,
    /// In none an access goes wrong, and nothing is made on the heap that could leak.
    NoMemoryError,
}

/// Tries to prove something of all executions.
pub fn prove(program: &Program, claim: Claim, control: &Control<'_>) -> Proof {
    proof(program, control, claim, Assumption::Nothing)
}

/// Tries to prove something of all executions of a program that does nothing undefined but race.
pub fn prove_defined(program: &Program, claim: Claim, control: &Control<'_>) -> Proof {
    proof(program, control, claim, Assumption::Definedness)
}

/// The same where threads may see the stores of another one in another order than it makes them: who finds
/// the address of an object need not find what was stored there before. That is ruled out where nothing
/// races, and no address goes by an access that orders nothing.
pub fn prove_unordered(program: &Program, claim: Claim, control: &Control<'_>) -> Proof {
    let proof = prove(program, claim, control);
    if claim == Claim::NoRace || !matches!(proof.conclusion, Conclusion::Proved) {
        return proof;
    }
    let races = prove(program, Claim::NoRace, control);
    if matches!(races.conclusion, Conclusion::Proved) { proof } else { races }
}

fn proof(program: &Program, control: &Control<'_>, claim: Claim, assumption: Assumption) -> Proof {
    if let Some(stop) = control.reason() {
        return Proof::without(Conclusion::Stopped(stop));
    }
    let asked = Asked { program, control, claim, assumption, local: None };
    let proof = chain(&asked);
    // Looking at functions by themselves takes longer, and is for what sets of values leave open.
    let is_open =
        matches!(proof.conclusion, Conclusion::Suspected { .. } | Conclusion::Owed { .. });
    if claim == Claim::NoRace || !is_open {
        return proof;
    }
    let local = RefCell::new(Local::new(program));
    let again = chain(&Asked { local: Some(&local), ..asked });
    if matches!(again.conclusion, Conclusion::Proved) { again } else { proof }
}

/// One attempt after the other, each with what the last one has found out.
fn chain(asked: &Asked<'_>) -> Proof {
    let most = i128::from(Program::MOST_THREADS) - 2;
    let first = attempt(asked, most, Guards::new(), false);
    let is_over =
        |proof: &Proof| matches!(proof.conclusion, Conclusion::Proved | Conclusion::Stopped(_));
    // Where there are few threads, their numbers are small.
    let last = match first.highest {
        Some(most) if !is_over(&first.proof) => attempt(asked, most, Guards::new(), false),
        _ => first,
    };
    // What locks keep, then that there are locks of the program's own, then what these keep.
    let mut guards = last.guards;
    for has_own_locks in [false, true, true] {
        let is_worth_it = !guards.is_empty() && (!has_own_locks || in_sections(&guards));
        if is_over(&last.proof) || !is_worth_it {
            break;
        }
        let next = attempt(asked, last.most, guards, has_own_locks);
        if is_over(&next.proof) {
            return next.proof;
        }
        guards = next.guards;
    }
    last.proof
}

/// What is to be proved, and what need not be.
struct Asked<'a> {
    program: &'a Program,
    control: &'a Control<'a>,
    claim: Claim,
    assumption: Assumption,
    /// Assertions that hold by their own functions. Races are not about assertions.
    local: Option<&'a RefCell<Local<'a>>>,
}

/// What came of one run.
struct Attempt {
    /// The highest number that a thread was taken to have.
    most: i128,
    /// The highest number that a thread has.
    highest: Option<i128>,
    /// What locks keep, as far as that shows.
    guards: Guards,
    proof: Proof,
}

/// What is found where no thread has a higher number, and locks keep some objects.
fn attempt(asked: &Asked<'_>, most: i128, kept: Guards, has_own_locks: bool) -> Attempt {
    let Asked { program, control, claim, assumption, local } = *asked;
    let without = |conclusion| Attempt {
        most,
        highest: None,
        guards: Guards::new(),
        proof: Proof::without(conclusion),
    };
    let is_strict = !kept.is_empty();
    if !program.registers.is_empty() {
        let message = "machine code".to_string();
        return without(Conclusion::Lost { message, span: None });
    }
    let mut analysis = Analysis::new(program, control, most, kept, has_own_locks, local);
    let run = analysis.run();
    let world = &analysis.world;
    let is_counted = world.threads.iter().all(|thread| !thread.is_many);
    let highest = is_counted.then_some(world.threads.len() as i128 - 1);
    let at = |(start, end): (u32, u32)| Span { start, end };
    let assumed;
    let conclusion = match run {
        Err(Quit::Stopped(stop)) => return without(Conclusion::Stopped(stop)),
        Err(Quit::TooLarge(what)) => {
            let message = format!("the program: {what}");
            return without(Conclusion::Lost { message, span: None });
        }
        Err(Quit::Lost(what, span)) => {
            let (message, span) = (what.to_string(), Some(span));
            return without(Conclusion::Lost { message, span });
        }
        Ok(()) => {
            let judge = Judge::new(world, most);
            let gap = world.gaps.first();
            let covers = |owed: &&Obligation| assumption.covers(owed, claim, is_strict, world);
            let owed = world.obligations.iter().find(|owed| !covers(owed));
            let late = judge.late();
            let spared = world.obligations.iter().find(covers);
            assumed = match (spared, &late) {
                (Some(owed), _) => Some((owed.message.clone(), at(owed.span))),
                (None, Some(late)) if assumption == Assumption::Definedness => {
                    Some((described(program, &judge, late), late.first.place()))
                }
                _ => None,
            };
            let suspicions = match claim {
                Claim::NoRace => judge.suspicions(),
                Claim::NoMemoryError => late.iter().cloned().collect(),
                Claim::NoFailure | Claim::NoOverflow => Vec::new(),
            };
            let counted = world.counted.first().filter(|_| claim != Claim::NoRace);
            let gap = gap.or(counted);
            if let Some((span, what)) = gap {
                Conclusion::Lost { message: what.clone(), span: Some(at(*span)) }
            } else if let Some((message, span)) = failure(world, claim) {
                Conclusion::Suspected { message, span }
            } else if let Some(suspicion) = suspicions.first() {
                let message = described(program, &judge, suspicion);
                Conclusion::Suspected { message, span: suspicion.first.place() }
            } else if let Some(owed) = owed {
                let (property, message) = (owed.property, owed.message.clone());
                Conclusion::Owed { property, message, span: at(owed.span) }
            } else if let Some(late) = late.filter(|_| assumption == Assumption::Nothing) {
                let message = described(program, &judge, &late);
                Conclusion::Owed { property: Property::Memory, message, span: late.first.place() }
            } else if let Some(span) = vacuous(world) {
                Conclusion::Vacuous { span: at(span) }
            } else {
                Conclusion::Proved
            }
        }
    };
    let accesses = world.accesses.len() as u64;
    let guards = guards(world, &Judge::new(world, most));
    Attempt { most, highest, guards, proof: Proof { conclusion, assumed, accesses } }
}

impl Proof {
    fn without(conclusion: Conclusion) -> Proof {
        Proof { conclusion, assumed: None, accesses: 0 }
    }
}

/// What may go wrong in one place against a claim.
fn failure(world: &World, claim: Claim) -> Option<(String, Span)> {
    let at = |(start, end): (u32, u32)| Span { start, end };
    let located = |(span, message): &((u32, u32), String)| (message.clone(), at(*span));
    let owed = |property: Property| {
        let is_wrong = |owed: &&Obligation| owed.property == property && owed.message != NO_THREAD;
        let found = world.obligations.iter().find(is_wrong)?;
        Some((found.message.clone(), at(found.span)))
    };
    match claim {
        Claim::NoRace => world.loose.first().map(located),
        Claim::NoFailure => world.failures.first().map(located),
        Claim::NoOverflow => owed(Property::Overflow),
        Claim::NoMemoryError => owed(Property::Memory).or_else(|| {
            let left = world.objects.iter().find(|object| object.kind == Some(AllocKind::Heap))?;
            Some(("an object may never be freed".to_string(), left.span))
        }),
    }
}

/// The assumption that nobody passes, where the first thread does not end.
fn vacuous(world: &World) -> Option<(u32, u32)> {
    let ends = world.threads.first().is_some_and(|main| main.outlived.is_some());
    let mut stuck = world.assumptions.iter().filter(|(_, passes)| !**passes);
    stuck.find(|_| !ends).map(|(span, _)| *span)
}

/// Two accesses, in words.
fn described(program: &Program, judge: &Judge<'_>, suspicion: &Suspicion) -> String {
    let Suspicion { first, second, what } = suspicion;
    let kind = |access: &world::Access| match access.kind {
        world::Kind::Read => "the read of",
        world::Kind::Write => "the write to",
        world::Kind::Free => "the end of",
    };
    let place = |access: &world::Access| {
        let location = program.source.location(access.place());
        format!("{} {} at line {}", kind(access), judge.name(program, access), location.line)
    };
    format!("{} and {}: the first {what} the second", place(first), place(second))
}
