//! What reads return.
//!
//! A read returns the value of its processor's last write before it in program order, if that has
//! not reached the processor's own copy yet; otherwise that of the last write on the copy.

use parallax_solver::Literal;

use super::Setting;
use super::order::ExecutionOrder;

/// `sources` are those that each read may take its value from, and whether it does.
pub fn reads_return_what_they_see(
    setting: &mut Setting<'_>,
    order: &ExecutionOrder,
    sources: &[Vec<(usize, Literal)>],
) {
    for (read, sources) in sources.iter().enumerate() {
        for (write, takes) in sources {
            let is_own = setting.structure.in_program_order(*write, read);
            if !is_own && !setting.structure.is_initial(*write) {
                setting.circuit.clause(&[!*takes, order.before(*write, read)]);
            }
            for other in others(setting, read, *write) {
                let apart = [
                    !*takes,
                    !setting.executed[other],
                    !setting.meet(other, read).unwrap_or(Literal::FALSE),
                ];
                not_hidden(setting, order, (*write, read), other, &apart);
            }
        }
    }
}

/// The writes that might hide another from a read.
fn others(setting: &Setting<'_>, read: usize, write: usize) -> Vec<usize> {
    let structure = setting.structure;
    let may = |other: &usize| {
        *other != write
            && setting.is_write(*other)
            && setting.meet(*other, read).is_some()
            && structure.facts.together.contains(*other, write)
            && !structure.in_program_order(read, *other)
    };
    (0..structure.initials).filter(may).collect()
}

/// A read takes the value of a write in spite of another one. All of `apart` is false where there
/// is something to say.
fn not_hidden(
    setting: &mut Setting<'_>,
    order: &ExecutionOrder,
    (write, read): (usize, usize),
    other: usize,
    apart: &[Literal; 3],
) {
    let structure = setting.structure;
    let [takes, happens, meet] = *apart;
    let is_own = structure.in_program_order(write, read);
    // Of the processor's own writes the last counts, whether it has arrived or not.
    if is_own && structure.in_program_order(write, other) && structure.in_program_order(other, read)
    {
        return setting.circuit.clause(apart);
    }
    // What others wrote is seen only when all own writes have arrived.
    if !is_own && structure.in_program_order(other, read) {
        setting.circuit.clause(&[takes, happens, meet, order.before(other, read)]);
    }
    // Nothing comes in between. Where the own write has not arrived this holds anyway: the other
    // write comes before it, or after the read.
    let (earlier, later) = (order.before(other, write), order.before(read, other));
    setting.circuit.clause(&[takes, happens, meet, earlier, later]);
}

/// A write of another processor comes before both halves of an atomic pair or after both. That it
/// comes before the write if it comes before the read is so anyway.
pub fn pairs_are_not_interrupted(setting: &mut Setting<'_>, order: &ExecutionOrder) {
    let structure = setting.structure;
    for write in setting.accesses() {
        for pair in &structure.events[write].pairs {
            let read = pair.read as usize;
            let when = setting.circuit.literal(pair.when);
            for other in setting.accesses() {
                let foreign =
                    setting.is_write(other) && setting.thread(other) != setting.thread(write);
                let meets = (setting.meet(other, write), setting.meet(other, read));
                let (true, (Some(first), Some(second))) = (foreign, meets) else {
                    continue;
                };
                let happens = setting.circuit.and(&[
                    when,
                    setting.executed[write],
                    setting.executed[read],
                    setting.executed[other],
                    first,
                    second,
                ]);
                let (late, early) = (order.before(other, write), order.before(other, read));
                setting.circuit.clause(&[!happens, !late, early]);
            }
        }
    }
}
