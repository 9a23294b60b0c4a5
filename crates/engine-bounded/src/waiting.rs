//! Threads that wait for ever: all others have ended or wait too, those that wait have seen the
//! newest values there are, and what they store while they wait is what is there already. This is
//! the definition of the replayer, which says why.

use parallax_program::Property;
use parallax_solver::Literal;

use crate::encoding::Encoding;
use crate::event::{Step, Turn};
use crate::unfold::{Stop, WaitKind, Waiting};

/// When an execution is stuck for ever.
pub struct Endless {
    /// Threads wait for one another.
    pub deadlock: Literal,
    /// A loop waits for what nobody does.
    pub liveness: Literal,
    /// For each way on which a thread waits, whether it does.
    pub waits: Vec<Literal>,
    /// Every thread that was started has ended, or the program has with its first thread.
    pub over: Literal,
}

/// `broken` are ways on which threads stop for other reasons.
pub fn endless(
    encoding: &mut Encoding,
    threads: usize,
    waits: &[Waiting],
    broken: &[Stop],
    daemons: bool,
) -> Endless {
    let literals: Vec<Literal> =
        waits.iter().map(|wait| encoding.circuit.literal(wait.stop.guard)).collect();
    let over = is_over(encoding, threads, waits, &literals, broken, daemons);
    let mut conditions = vec![encoding.stays.none()];
    for thread in 0..threads {
        conditions.push(rests(encoding, thread, waits, &literals));
    }
    for stop in broken {
        conditions.push(!encoding.circuit.literal(stop.guard));
    }
    for (wait, literal) in waits.iter().zip(&literals) {
        let stuck = is_stuck(encoding, wait);
        conditions.push(encoding.circuit.or(&[!*literal, stuck]));
    }
    if daemons {
        conditions.push(!has_ended(encoding, 0));
    }
    let of = |kinds: &[WaitKind]| -> Vec<Literal> {
        let pairs = waits.iter().zip(&literals);
        pairs.filter(|(wait, _)| kinds.contains(&wait.kind)).map(|(_, literal)| *literal).collect()
    };
    let (spins, others) = (of(&[WaitKind::Spin]), of(&[WaitKind::Wait, WaitKind::Join]));
    let spins = encoding.circuit.or(&spins);
    let others = encoding.circuit.or(&others);
    let all = encoding.circuit.and(&conditions);
    let liveness = encoding.circuit.and(&[all, spins]);
    let deadlock = encoding.circuit.and(&[all, others, !spins]);
    Endless { deadlock, liveness, waits: literals, over }
}

impl Endless {
    pub fn of(&self, property: Property) -> Literal {
        match property {
            Property::Deadlock => self.deadlock,
            Property::Liveness => self.liveness,
            _ => Literal::FALSE,
        }
    }
}

fn is_over(
    encoding: &mut Encoding,
    threads: usize,
    waits: &[Waiting],
    literals: &[Literal],
    broken: &[Stop],
    daemons: bool,
) -> Literal {
    let mut conditions = vec![encoding.stays.none()];
    for thread in 0..threads {
        // Where the end of the first thread ends the program, others may still wait.
        let (waits, literals) =
            if daemons && thread > 0 { (waits, literals) } else { (&[][..], &[][..]) };
        conditions.push(rests(encoding, thread, waits, literals));
    }
    for stop in broken {
        conditions.push(!encoding.circuit.literal(stop.guard));
    }
    encoding.circuit.and(&conditions)
}

fn has_ended(encoding: &mut Encoding, thread: usize) -> Literal {
    let events = encoding.structure.events.iter().enumerate();
    let ends =
        events.filter(|(_, event)| event.thread == Some(thread as u32) && event.step == Step::End);
    let ends: Vec<Literal> = ends.map(|(number, _)| encoding.executed[number]).collect();
    encoding.circuit.or(&ends)
}

/// Whether a thread has ended, waits, or was never started.
fn rests(
    encoding: &mut Encoding,
    thread: usize,
    waits: &[Waiting],
    literals: &[Literal],
) -> Literal {
    let mut ways = vec![has_ended(encoding, thread)];
    let own = waits.iter().zip(literals).filter(|(wait, _)| wait.stop.thread as usize == thread);
    ways.extend(own.map(|(_, literal)| *literal));
    let mut events = encoding.structure.events.iter().enumerate();
    let begins =
        events.find(|(_, event)| event.thread == Some(thread as u32) && event.step == Step::Begin);
    if let Some((begin, _)) = begins {
        ways.push(!encoding.executed[begin]);
    }
    encoding.circuit.or(&ways)
}

/// Whether a wait has seen the newest values and changed none, or the thread that it waits for has
/// not ended.
fn is_stuck(encoding: &mut Encoding, wait: &Waiting) -> Literal {
    let mut all = Vec::new();
    for (when, read) in &wait.reads {
        let read = *read as usize;
        if wait.kind == WaitKind::Join {
            all.push(waits_in_vain(encoding, read));
            continue;
        }
        let fails = encoding.structure.events[read].fails;
        let counts = encoding.circuit.literal(*when);
        let counts = encoding.circuit.and(&[counts, encoding.executed[read]]);
        // Nothing fails for no reason for ever.
        let fails = fails.map_or(Literal::FALSE, |fails| encoding.circuit.literal(fails));
        let newest = is_newest(encoding, read);
        let stuck = encoding.circuit.and(&[newest, !fails]);
        all.push(encoding.circuit.or(&[!counts, stuck]));
    }
    for write in &wait.writes {
        let write = *write as usize;
        let repeats = repeats(encoding, write);
        all.push(encoding.circuit.or(&[!encoding.executed[write], repeats]));
    }
    encoding.circuit.and(&all)
}

/// Whether no thread has ended that a join would go on with.
fn waits_in_vain(encoding: &mut Encoding, join: usize) -> Literal {
    let sources = encoding.communication.sources[join].clone();
    let ended = sources.into_iter().map(|(write, _)| {
        let same = encoding.communication.same_place.get(&(write, join)).copied();
        let same = same.unwrap_or(Literal::FALSE);
        encoding.circuit.and(&[same, encoding.executed[write]])
    });
    let ended: Vec<Literal> = ended.collect();
    !encoding.circuit.or(&ended)
}

/// Whether there is no newer value than the one that a read takes: all writes that are newer are
/// of its own thread later on, or of loops, and put the same.
fn is_newest(encoding: &mut Encoding, read: usize) -> Literal {
    let sources = encoding.communication.sources[read].clone();
    let events = encoding.structure.events.len();
    let mut ways = Vec::new();
    for (write, takes) in sources {
        let mut none = vec![takes];
        for newer in 0..events {
            let Some(later) = encoding.communication.order.get(&(write, newer)).copied() else {
                continue;
            };
            if encoding.structure.in_program_order(read, newer) {
                continue;
            }
            let mut fits = vec![!later, !encoding.executed[newer]];
            let turns = &encoding.structure.events[newer].turns;
            if turns.iter().any(|turn| matches!(turn, Turn::Round { .. })) {
                fits.push(puts_the_same(encoding, write, newer));
            }
            none.push(encoding.circuit.or(&fits));
        }
        ways.push(encoding.circuit.and(&none));
    }
    encoding.circuit.or(&ways)
}

/// Whether a write puts what the one before it in coherence has put.
fn repeats(encoding: &mut Encoding, write: usize) -> Literal {
    let before = |encoding: &Encoding, first: usize, last: usize| {
        encoding.communication.order.get(&(first, last)).copied().unwrap_or(Literal::FALSE)
    };
    let events = 0..encoding.structure.events.len();
    let earlier: Vec<(usize, Literal)> = events
        .map(|other| (other, before(encoding, other, write)))
        .filter(|(other, before)| *other != write && *before != Literal::FALSE)
        .collect();
    let mut all = Vec::new();
    for (other, is_before) in &earlier {
        let same = puts_the_same(encoding, *other, write);
        if same == Literal::TRUE {
            continue;
        }
        let mut ways = vec![same, !*is_before, !encoding.executed[*other]];
        for (between, is_too) in &earlier {
            let follows = before(encoding, *other, *between);
            let happens = encoding.executed[*between];
            ways.push(encoding.circuit.and(&[*is_too, follows, happens]));
        }
        all.push(encoding.circuit.or(&ways));
    }
    encoding.circuit.and(&all)
}

/// Whether two writes to one place put the same.
fn puts_the_same(encoding: &mut Encoding, first: usize, last: usize) -> Literal {
    let Encoding { circuit, structure, .. } = encoding;
    let value = |event: usize| structure.events[event].kind.value();
    let Some((first, last)) = value(first).zip(value(last)) else {
        return Literal::FALSE;
    };
    if circuit.terms.width(first) != circuit.terms.width(last) {
        return Literal::FALSE;
    }
    let same = circuit.terms.equals(first, last);
    circuit.literal(same)
}
