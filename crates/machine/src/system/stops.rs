//! Threads that stop after each instruction, for people who watch them one by one.
//!
//! A thread then stands at [`At::Local`] wherever its next instruction is its own business. What
//! the memory models see is the same; there are only more states in between.

use std::sync::Arc;

use parallax_program::InstKind;

use super::local::{At, Input, Local, Out, Passage};
use super::record::Log;
use super::setup::Setup;
use crate::{Limits, Operation};

/// Instructions of its own that a thread is followed for, to see whether it comes to wait.
const FAR: u32 = 1 << 12;

impl<'p> Local<'p> {
    /// Does one thing that is the thread's own business.
    pub(super) fn compute(mut self, setup: &Setup<'p>, log: &mut Log) -> Passage<'p> {
        let mut outs = Vec::new();
        let limits = Limits { steps: 1, ..setup.limits };
        match self.run(setup, &limits).0 {
            Operation::Cut => self.look(setup, &mut outs, log),
            operation => match self.serve(setup, operation, &mut outs, log) {
                Some(at) => self.at = at,
                None => self.look(setup, &mut outs, log),
            },
        }
        self.arrive(setup, outs)
    }

    /// Finds out what the thread stands at, and does nothing.
    pub(super) fn look(&mut self, setup: &Setup<'p>, outs: &mut Vec<Out>, log: &mut Log) {
        self.at = At::Local;
        if !self.is_at_operation(setup) {
            return;
        }
        let limits = Limits { steps: 1, ..setup.limits };
        let operation = self.run(setup, &limits).0;
        // An assertion that holds is gone past without an operation.
        if !matches!(operation, Operation::Cut)
            && let Some(at) = self.serve(setup, operation, outs, log)
        {
            self.at = at;
        }
    }

    /// Whether the next instruction is one that others may notice, or that may be an error.
    fn is_at_operation(&self, setup: &Setup<'p>) -> bool {
        let Some(site) = self.thread.site() else {
            return true;
        };
        let function = setup.code.program.function(site.function);
        let insts = function.blocks.get(site.block.0 as usize).map(|block| &block.insts);
        let inst = insts.and_then(|insts| insts.get(site.index as usize));
        inst.is_some_and(|inst| {
            !matches!(
                inst.kind,
                InstKind::Assign { .. }
                    | InstKind::Call { .. }
                    | InstKind::ThreadId { .. }
                    | InstKind::Alloc { .. }
                    | InstKind::Spawn { .. }
                    | InstKind::AtomicEnd
            )
        })
    }
}

/// Where a thread comes to that goes on alone, unless others notice.
pub(super) fn run_on<'p>(setup: &Setup<'p>, passage: Arc<Passage<'p>>) -> Arc<Passage<'p>> {
    let mut passage = passage;
    for _ in 0..FAR {
        if passage.next.at != At::Local || !passage.outs.is_empty() {
            break;
        }
        passage = passage.next.pass(setup, Input::Nothing, &mut Log::off());
    }
    passage
}

#[cfg(test)]
mod tests {
    use parallax_program::parse_program;

    use crate::system::{Action, At, Log, MemoryKind, Readiness, Setup, System, SystemOptions};

    const LOCK: &str = r#"program lock pointers 64

global lock: 4

fn take() {
  var n: 32, ok: 1
  n = 1:32 + 1:32
  _, ok = cas.4 &lock, 0:32, 1:32 [X] [X] [X]
  n = n + n
  wait ok
  store.4 &lock, n
}

thread P0 = take()
thread P1 = take()
"#;

    fn at<'p>(system: &System<'_, 'p>, thread: u32) -> Option<At<'p>> {
        system.thread(thread).map(|local| local.at.clone())
    }

    #[test]
    fn threads_stop_everywhere_and_wait_where_they_would_anyway() {
        let program = parse_program("lock", LOCK).expect("a program");
        let memory = MemoryKind::Tso;
        let options = SystemOptions { memory, stops: true, ..SystemOptions::default() };
        let setup = Setup::new(&program, options).expect("small globals");
        let mut system = System::start(&setup, &mut Log::off());
        let step = |system: &mut System<'_, '_>, thread| {
            system.apply(Action::Step { thread, choice: 0 }, &mut Log::off());
        };
        assert_eq!(at(&system, 0), Some(At::Local));
        step(&mut system, 0);
        step(&mut system, 1);
        assert!(matches!(at(&system, 0), Some(At::Cas { .. })));
        step(&mut system, 0);
        // The other one would only find that it has to wait.
        assert!(matches!(system.readiness(1), Readiness::Blocked(_)));
        assert_eq!(at(&system, 0), Some(At::Local));
        step(&mut system, 0);
        assert_eq!(at(&system, 0), Some(At::Local));
        step(&mut system, 0);
        assert!(matches!(at(&system, 0), Some(At::Store { value: 4, .. })));
        step(&mut system, 0);
        assert_eq!(system.buffer(0).len(), 1);
    }
}
