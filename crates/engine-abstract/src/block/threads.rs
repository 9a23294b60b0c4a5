//! Threads that a thread starts, and waits for.

use parallax_machine::system::What;
use parallax_program::FunctionId;
use parallax_solver::Term;

use super::walk::{Run, Walk};
use super::{Blocks, Halt};
use crate::control::At;

impl Walk<'_, '_, '_> {
    pub(super) fn spawn(
        &mut self,
        mut run: Run,
        function: FunctionId,
        args: Vec<Term>,
        open: &mut Vec<Run>,
    ) -> Result<(), Halt> {
        let place = run.control.thread(self.number).map_or(0, |local| local.children);
        let child = self.blocks.child(self.number, place);
        if child >= Blocks::MOST_THREADS {
            let what = format!("more than {} threads", Blocks::MOST_THREADS);
            return Self::lose(run, &what, open);
        }
        if let Some(local) = run.control.local(self.number) {
            local.children += 1;
        }
        let mut writes = Vec::new();
        self.blocks.begin(&mut run.control, child, function, args, &mut writes);
        run.writes.extend(writes);
        self.connect(&mut run, child);
        self.record(What::Spawn { child });
        (run.has_acted, run.has_left) = (true, true);
        if run.control.stores(self.number) {
            self.put_off(&mut run, child, function);
        } else {
            self.record_of(child, What::Begin);
        }
        let number = self.blocks.values.number(32, u128::from(child));
        self.pass(&mut run, Some(number));
        open.push(run);
        Ok(())
    }

    pub(super) fn join(&mut self, run: Run, thread: Term, open: &mut Vec<Run>) -> Result<(), Halt> {
        for (of, mut run) in self.numbers(run, thread, open)? {
            let of = of.unsigned();
            let has_ended = u32::try_from(of).is_ok_and(|of| run.control.has_ended(of));
            if run.has_acted && !has_ended {
                self.stop(run, At::Operation, open);
                continue;
            }
            if has_ended {
                run.has_acted = true;
                self.meet(&mut run, of as u32);
                self.record(What::Join { of: of as u32 });
                self.pass(&mut run, None);
                open.push(run);
            } else {
                self.blocks.held.push(run.guard);
            }
        }
        Ok(())
    }
}
