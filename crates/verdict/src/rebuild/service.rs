//! Steps other than accesses: fences, the lives of threads and objects, choices.

use parallax_machine::{Operation, Site};
use parallax_program::{AllocKind, Bits, Callee, Expr, FunctionId, InstKind, Program, Tags};

use super::{Rebuild, describe, describe_operation, life_value};
use crate::traced::Traced;
use crate::walker::{Due, Walker};
use crate::{EventKind, Step, StepId};

impl<'p> Rebuild<'_, 'p> {
    pub(super) fn serve(
        &mut self,
        id: StepId,
        step: Step,
        operation: Operation<'p, Traced>,
    ) -> Result<(), String> {
        match (step, operation) {
            (Step::Fence, Operation::Fence { tags }) => {
                self.record(id, EventKind::Fence)?;
                self.note(id, tags, &[]);
                self.pass(id)
            }
            (Step::Spawn { child }, Operation::Spawn { function, args }) => {
                self.spawn(id, child, function, args)
            }
            (Step::Join { of }, Operation::Join { thread }) => self.join(id, of, thread.bits),
            (Step::Alloc { address }, Operation::Alloc { size, align, .. }) => {
                self.alloc(id, address, size.bits, align)
            }
            (Step::Free, Operation::Free { address, kind }) => self.free(id, address.bits, kind),
            (Step::AtomicBegin, Operation::AtomicBegin) => {
                self.record(id, EventKind::AtomicBegin)?;
                self.threads[id.thread as usize].sections += 1;
                self.pass(id)
            }
            (Step::AtomicEnd, Operation::AtomicEnd) => {
                self.record(id, EventKind::AtomicEnd)?;
                let sections = &mut self.threads[id.thread as usize].sections;
                *sections = sections.saturating_sub(1);
                self.pass(id)
            }
            (Step::End, Operation::End) => self.end(id),
            (_, other) => Err(format!("the thread is at {}", describe_operation(&other))),
        }
    }

    fn pass(&mut self, id: StepId) -> Result<(), String> {
        self.walker(id.thread)?.pass();
        Ok(())
    }

    fn answer(&mut self, id: StepId, value: Bits) -> Result<(), String> {
        self.walker(id.thread)?.answer(value);
        Ok(())
    }

    /// Gives memory models the event that a step is.
    fn note(&mut self, id: StepId, tags: &Tags, from: &[Traced]) {
        let event = self.number_of(id);
        if let Some(walker) = &mut self.threads[id.thread as usize].walker {
            walker.note(event, tags, from, &mut self.derived);
        }
    }

    /// What was chosen: a value, or the failure of what may fail for no reason.
    pub(super) fn choose(&mut self, id: StepId, value: Bits, due: Due<'_>) -> Result<(), String> {
        let run = &self.threads[id.thread as usize];
        let walker = run.walker.as_ref();
        let at_weak_cas = walker.is_some_and(|at| at.is_at_weak_cas() && !at.is_in_access());
        let width = match &due {
            Due::Read { .. } if at_weak_cas && run.fails.is_none() => 1,
            Due::Decision => 1,
            Due::Operation(Operation::Nondet { width }) => *width,
            Due::Operation(Operation::Choose { below }) => {
                if value.unsigned() >= below.bits.unsigned() {
                    return Err(format!("the choice is not below {}", below.bits.unsigned()));
                }
                below.bits.width()
            }
            other => return Err(format!("the thread is at {}", describe(other))),
        };
        if value.width() != width {
            return Err(format!("the choice has not the {width} bits that are due"));
        }
        self.record(id, EventKind::Choice { value })?;
        match due {
            Due::Operation(_) => self.answer(id, value),
            Due::Decision => self.decide(id.thread, value.is_zero()),
            _ => {
                self.threads[id.thread as usize].fails = Some(!value.is_zero());
                Ok(())
            }
        }
    }

    fn spawn(
        &mut self,
        id: StepId,
        child: u32,
        function: FunctionId,
        args: Vec<Traced>,
    ) -> Result<(), String> {
        let (code, traces) = (self.code, self.traces);
        let run = self.threads.get_mut(child as usize);
        let run = run.ok_or_else(|| format!("there is no thread {child}"))?;
        if run.walker.is_some() {
            return Err(format!("{} runs already", run.name));
        }
        let routine = code.program.function(routine(code.program, function, &args));
        run.name = format!("{}#{child}", routine.name);
        run.spawned_by = Some(id);
        // What the child starts with comes from the read with which it begins.
        let begins = run.first_event;
        let received = args.iter().map(|arg| {
            let mut value = Traced::plain(arg.bits);
            if traces {
                value.reads = std::rc::Rc::new([begins].into());
            }
            value
        });
        let values = self.claim.undefined.get(child as usize).map_or(&[][..], Vec::as_slice);
        let walker = Walker::new(code, child, function, received.collect(), traces);
        run.walker = Some(walker.with_undefined(values));
        let kind = self.life_write(child, false);
        self.record(id, kind)?;
        self.note(id, &Tags::thread_release(), &args);
        self.answer(id, Bits::new(32, u128::from(child)))
    }

    pub(super) fn begin(&mut self, id: StepId, by: StepId) -> Result<(), String> {
        let run = &self.threads[id.thread as usize];
        if run.spawned_by != Some(by) || id.index != 0 {
            return Err("this is not how the thread was spawned".to_string());
        }
        let (write, _) = self.earlier(by)?;
        let kind = self.life_read(id.thread, false);
        self.record(id, kind)?;
        self.rf.push((write, self.number_of(id)));
        self.note(id, &Tags::thread_acquire(), &[]);
        Ok(())
    }

    fn end(&mut self, id: StepId) -> Result<(), String> {
        let kind = self.life_write(id.thread, true);
        self.record(id, kind)?;
        self.note(id, &Tags::thread_release(), &[]);
        self.threads[id.thread as usize].has_ended = true;
        Ok(())
    }

    fn join(&mut self, id: StepId, of: StepId, thread: Bits) -> Result<(), String> {
        if thread.unsigned() != u128::from(of.thread) {
            return Err(format!("the thread waits for thread {}", thread.unsigned()));
        }
        let claimed = self.claim.threads.get(of.thread as usize);
        let step = claimed.and_then(|thread| thread.steps.get(of.index as usize));
        if step != Some(&Step::End) {
            return Err("what it joins is not the end of a thread".to_string());
        }
        let (write, _) = self.earlier(of)?;
        let kind = self.life_read(of.thread, true);
        self.record(id, kind)?;
        self.rf.push((write, self.number_of(id)));
        self.note(id, &Tags::thread_acquire(), &[]);
        self.pass(id)
    }

    /// The write by which the start or the end of a thread shows …
    fn life_write(&self, thread: u32, ends: bool) -> EventKind {
        let (location, address) = self.life(thread, ends);
        let (value, shown) = (life_value(), life_value().unsigned().to_string());
        EventKind::Write { location, address, size: 8, value, shown }
    }

    /// … and a read of it.
    fn life_read(&self, thread: u32, ends: bool) -> EventKind {
        let (location, address) = self.life(thread, ends);
        let (value, shown) = (life_value(), life_value().unsigned().to_string());
        EventKind::Read { location, address, size: 8, value, shown }
    }

    fn life(&self, thread: u32, ends: bool) -> (String, u64) {
        let name = self.threads.get(thread as usize).map_or("", |run| &run.name);
        let (part, offset) = if ends { ("end", 8) } else { ("start", 0) };
        (format!("{name}.{part}"), Program::thread_address(thread) + offset)
    }

    fn alloc(&mut self, id: StepId, address: u64, size: Bits, align: u32) -> Result<(), String> {
        let size = size.unsigned() as u64;
        let sites: Vec<Site> = self.walker(id.thread)?.stack().collect();
        let name = self.objects.alloc(self.code, &sites, address, size, align)?;
        self.record(id, EventKind::Alloc { address, size, name })?;
        self.answer(id, Bits::new(self.code.program.pointer_width, u128::from(address)))
    }

    fn free(&mut self, id: StepId, address: Bits, kind: AllocKind) -> Result<(), String> {
        let address = address.unsigned() as u64;
        let name = self.objects.free(address, kind)?;
        self.record(id, EventKind::Free { address, name })?;
        let event = self.number_of(id);
        if let Some(walker) = &mut self.threads[id.thread as usize].walker {
            walker.note_end(event, &mut self.derived);
        }
        self.pass(id)
    }
}

/// What a thread is really about: a function that begins by calling one of its arguments, fences
/// aside, only wraps that, and so does one that is given registers and a function.
fn routine(program: &Program, function: FunctionId, args: &[Traced]) -> FunctionId {
    if program.function(function).registers {
        let given = args.iter().find_map(|arg| program.function_at(arg.bits));
        return given.unwrap_or(function);
    }
    let entry = program.function(function).blocks.first();
    let mut kinds = entry.into_iter().flat_map(|block| &block.insts).map(|inst| &inst.kind);
    let first = kinds.find(|kind| !matches!(kind, InstKind::Fence { .. }));
    let Some(InstKind::Call { callee: Callee::Indirect(Expr::Var(var)), .. }) = first else {
        return function;
    };
    let wrapped = args.get(var.0 as usize).and_then(|arg| program.function_at(arg.bits));
    wrapped.unwrap_or(function)
}
