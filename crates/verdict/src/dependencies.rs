//! The dependencies among the steps of one thread, found by running it once more on values that
//! remember the reads they come from.

use std::rc::Rc;

use parallax_machine::{Code, Operation};
use parallax_program::{Bits, FunctionId, Tags};

use crate::derived::Derived;
use crate::traced::Traced;
use crate::walker::{Due, Walker};

/// What a thread has done, one step after the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Done {
    /// The first step of a spawned thread.
    Begin,
    /// Read this, at once or in parts.
    Read(Bits),
    /// Wrote so many bytes, at once or in parts.
    Write {
        bytes: u32,
    },
    /// Got this answer.
    Answer(Bits),
    /// Did something without an answer.
    Pass,
    /// Part of a step that the program does not distinguish.
    Look,
    End,
}

/// Pairs of a read and a step that depends on it, by their places in the thread.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Dependencies {
    pub addr: Vec<(u32, u32)>,
    pub data: Vec<(u32, u32)>,
    pub ctrl: Vec<(u32, u32)>,
    /// The same where the read only decides which value it is.
    pub pick_addr: Vec<(u32, u32)>,
    pub pick_data: Vec<(u32, u32)>,
    pub pick_ctrl: Vec<(u32, u32)>,
}

/// The dependencies in a thread that has done this. Where it cannot have, they end early.
pub fn dependencies(
    code: &Code<'_>,
    number: u32,
    function: FunctionId,
    args: &[Bits],
    done: impl Iterator<Item = Done>,
) -> Dependencies {
    let mut done = done.peekable();
    let is_spawned = done.peek() == Some(&Done::Begin);
    let arg = |bits: &Bits| {
        let mut value = Traced::plain(*bits);
        if is_spawned {
            value.reads = Rc::new([0].into());
        }
        value
    };
    let args = args.iter().map(arg).collect();
    let mut walker = Walker::new(code, number, function, args, true);
    let mut derived = Derived::default();
    for (step, done) in (0..).zip(done) {
        if take(&mut walker, step, done, &mut derived).is_none() {
            break;
        }
    }
    let list = |pairs: std::collections::BTreeSet<(u32, u32)>| pairs.into_iter().collect();
    Dependencies {
        addr: list(derived.addr),
        data: list(derived.data),
        ctrl: list(derived.ctrl),
        pick_addr: list(derived.pick_addr),
        pick_data: list(derived.pick_data),
        pick_ctrl: list(derived.pick_ctrl),
    }
}

/// One step; None where it is not what the thread does.
fn take(walker: &mut Walker<'_, '_>, step: u32, done: Done, derived: &mut Derived) -> Option<()> {
    match done {
        Done::Begin => {
            walker.note(step, &Tags::thread_acquire(), &[], derived);
            return Some(());
        }
        Done::Look => return Some(()),
        _ => {}
    }
    // A weak compare-and-swap that found what it expects, and writes nothing, has failed.
    if matches!(walker.due(), Due::Decision) && !matches!(done, Done::Write { .. }) {
        walker.decide(false, derived).ok()?;
    }
    let mut due = walker.due();
    while let Due::Operation(Operation::Choose { below }) = &due
        && below.bits.unsigned() == 1
    {
        walker.answer(Bits::zero(below.bits.width()));
        due = walker.due();
    }
    match (done, due) {
        (Done::Read(value), Due::Read { .. }) => walker.read(step, value, derived),
        (Done::Write { bytes }, Due::Write { .. }) => {
            walker.write(step, bytes, derived);
        }
        (Done::Write { bytes }, Due::Decision) => {
            walker.decide(true, derived).ok()?;
            walker.write(step, bytes, derived);
        }
        (Done::Answer(value), Due::Operation(operation)) => {
            if let Operation::Spawn { args, .. } = &operation {
                walker.note(step, &Tags::thread_release(), args, derived);
            }
            walker.answer(value);
        }
        (Done::Pass, Due::Operation(_)) => {
            walker.note(step, &Tags::none(), &[], derived);
            walker.pass();
        }
        (Done::End, _) => walker.note(step, &Tags::thread_release(), &[], derived),
        _ => return None,
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use parallax_program::parse_program;

    use super::*;

    #[test]
    fn behind_a_weak_compare_and_swap_that_fails_for_no_reason() {
        let text = "program p pointers 64\nglobal x: 8\nfn f() {\nvar a: 64, b: 64, ok: 1\n\
            a, ok = cas.weak.8 &x, 0:64, 1:64\nb = load.8 &x + a\nstore.8 &x, b\n}\n";
        let program = parse_program("p", text).expect("a program");
        let code = Code::new(&program);
        let [zero, one] = [0, 1].map(|value| Done::Read(Bits::new(64, value)));
        let write = Done::Write { bytes: 8 };
        let of = |done: &[Done]| dependencies(&code, 0, FunctionId(0), &[], done.iter().copied());
        let failed = of(&[zero, one, write, Done::End]);
        assert_eq!((failed.addr, failed.data), (vec![(0, 1)], vec![(1, 2)]));
        let succeeded = of(&[zero, write, one, write, Done::End]);
        assert_eq!((succeeded.addr, succeeded.data), (vec![(0, 2)], vec![(2, 3)]));
    }

    #[test]
    fn of_each_kind() {
        let text = "program p pointers 64\nglobal x: 8\nfn f() {\nvar a: 64, b: 64, c: 64\n\
            a = load.8 &x\nb = load.8 a\nstore.8 &x, b + 1:64\nbranch a == 5:64, t, e\n\
            t:\nstore.8 &x, 1:64\ne:\nc = load.8 &x\n}\n";
        let program = parse_program("p", text).expect("a program");
        let code = Code::new(&program);
        let value = |value| Done::Read(Bits::new(64, value));
        let write = Done::Write { bytes: 8 };
        let done = [value(5), value(7), write, write, value(1), Done::End];
        let found = dependencies(&code, 0, FunctionId(0), &[], done.into_iter());
        assert_eq!(found.addr, [(0, 1)]);
        assert_eq!(found.data, [(1, 2)]);
        assert_eq!(found.ctrl, [(0, 3), (0, 4), (0, 5)]);
    }
}
