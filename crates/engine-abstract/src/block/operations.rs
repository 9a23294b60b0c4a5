//! What each operation of the interpreter comes to on the way through a block.

use parallax_machine::system::What;
use parallax_machine::{Fault, NESTED_SECTION, NO_SECTION, Operation, RESERVATIONS};
use parallax_program::{BinaryOp, Bits, Property, Tags};
use parallax_solver::Term;

use super::access::Kind;
use super::record::{Given, Inputs};
use super::walk::{Run, Walk};
use super::{Blocks, Ending, Halt, Touch};
use crate::control::{At, Local, Stores};
use crate::declarative::execution::{Event, Location as Spot};

impl<'p> Walk<'_, '_, 'p> {
    pub(super) fn serve(
        &mut self,
        mut run: Run,
        operation: Operation<'p, Term>,
        open: &mut Vec<Run>,
    ) -> Result<(), Halt> {
        match operation {
            Operation::Load { address, size, .. } | Operation::LoadLinked { address, size, .. } => {
                self.access(run, Kind::Load, address, size.bytes(), open)
            }
            Operation::Store { address, value, size, .. } => {
                self.access(run, Kind::Store(value), address, size.bytes(), open)
            }
            Operation::Rmw { address, op, operand, size, .. } => {
                self.access(run, Kind::Rmw(op, operand), address, size.bytes(), open)
            }
            Operation::Cas { address, expected, desired, size, weak, .. } => {
                let kind = Kind::Cas { expected, desired, is_weak: weak };
                self.access(run, kind, address, size.bytes(), open)
            }
            Operation::StoreConditional { .. } => Self::lose(run, RESERVATIONS, open),
            Operation::Fence { tags } => {
                if tags.contains(Tags::MEMBARRIER) && run.control.execution.is_some() {
                    return Self::lose(run, "a barrier in all threads", open);
                }
                let Some(mut run) = self.fence(run, open) else { return Ok(()) };
                if !tags.is_mark() {
                    self.record(What::Fence);
                    Self::add(&mut run, self.number, Event::fence(tags.clone()));
                }
                self.pass(&mut run, None);
                open.push(run);
                Ok(())
            }
            Operation::Spawn { function, args } => self.spawn(run, function, args, open),
            Operation::Join { thread } => self.join(run, thread, open),
            Operation::ThreadId => {
                let number = self.blocks.values.number(32, u128::from(self.number));
                self.pass(&mut run, Some(number));
                open.push(run);
                Ok(())
            }
            Operation::Alloc { size, align, kind, zeroed } => {
                for (size, run) in self.numbers(run, size, open)? {
                    self.alloc(run, size, align, kind, zeroed, open)?;
                }
                Ok(())
            }
            Operation::HeapSize { address } => self.heap_size(run, address, open),
            Operation::Free { address, kind } => self.free(run, address, kind, open),
            Operation::Wait { condition } | Operation::Assume { condition }
                if self.stops_before(&mut run, condition, open) =>
            {
                Ok(())
            }
            Operation::Wait { condition } => {
                if self.wait(&mut run, condition) {
                    self.pass(&mut run, None);
                    open.push(run);
                }
                Ok(())
            }
            Operation::Assume { condition } => {
                if self.wait(&mut run, condition) {
                    self.pass(&mut run, None);
                    open.push(run);
                } else if run.thread.site().is_some_and(|it| self.blocks.code.ends_program(it)) {
                    self.blocks.has_exited = true;
                } else if self.blocks.held_up.is_none() {
                    self.blocks.held_up = Some(self.blocks.code.own_place(run.thread.stack()));
                }
                Ok(())
            }
            Operation::Assert { condition, property, .. }
                if !self.blocks.properties.contains(&property)
                    && self.stops_before(&mut run, condition, open) =>
            {
                Ok(())
            }
            Operation::Assert { condition, message, property } => {
                let fails = self.blocks.values.terms.not(condition);
                for (side, mut run) in self.sides(run, &[condition, fails])? {
                    if side == 1 {
                        Self::fail(run, property, message, open);
                    } else {
                        self.pass(&mut run, None);
                        open.push(run);
                    }
                }
                Ok(())
            }
            Operation::Nondet { width } => self.input(run, width, open),
            Operation::Undefined { width } => {
                let value = self.fresh(&mut run, width);
                let bits = self.blocks.values.constant_of(value);
                if let (Inputs::Given(Given { story, .. }), Some(bits)) =
                    (&mut self.blocks.inputs, bits)
                {
                    story.undefined.push((self.number, bits));
                }
                self.pass(&mut run, Some(value));
                open.push(run);
                Ok(())
            }
            Operation::Choose { below } => self.choose(run, below, open),
            Operation::AtomicBegin => {
                if run.control.execution.is_some() {
                    return self.enter(run, open);
                }
                if run.control.section == Some(self.number) {
                    return Self::lose(run, NESTED_SECTION, open);
                }
                if self.waits(&run) {
                    self.stop(run, At::Operation, open);
                    return Ok(());
                }
                if run.control.stores(self.number) {
                    self.wait_for_stores(run, Touch::ALL, open);
                    return Ok(());
                }
                run.has_acted = true;
                run.control.section = Some(self.number);
                self.record(What::AtomicBegin);
                self.pass(&mut run, None);
                open.push(run);
                Ok(())
            }
            Operation::AtomicEnd if run.control.execution.is_some() => self.leave(run, open),
            Operation::AtomicEnd => {
                if run.control.section != Some(self.number) {
                    return Self::lose(run, NO_SECTION, open);
                }
                run.control.section = None;
                self.record(What::AtomicEnd);
                self.pass(&mut run, None);
                open.push(run);
                Ok(())
            }
            Operation::Branch { condition } => {
                let no = self.blocks.values.terms.not(condition);
                for (side, mut run) in self.sides(run, &[condition, no])?.into_iter().rev() {
                    let blocks = &mut *self.blocks;
                    let (code, limits) = (&blocks.code, &blocks.limits);
                    run.thread.branch(code, limits, side == 0, &mut blocks.values);
                    run.branches += u32::from(blocks.values.constant_of(condition).is_none());
                    let site = run.thread.site();
                    let is_head = site.is_some_and(|site| blocks.code.begins_round(site));
                    let is_long = run.branches >= Blocks::MOST_BRANCHES;
                    if is_head || is_long && run.has_acted {
                        self.stop(run, At::Block, open);
                    } else {
                        open.push(run);
                    }
                }
                Ok(())
            }
            Operation::End if run.control.stores(self.number) => {
                self.wait_for_stores(run, Touch::NONE, open);
                Ok(())
            }
            Operation::End => {
                if self.number != 0 || !self.blocks.code.program.daemons {
                    self.record(What::End);
                }
                let end = Spot::End(self.number);
                Self::add(&mut run, self.number, Event::write(end, Tags::thread_release()));
                if let Some(local) = run.control.local(self.number) {
                    let (stack, held, stores) = (Vec::new(), Vec::new(), Stores::default());
                    *local = Local { stack, at: At::Ended, children: 0, held, stores };
                }
                if run.control.section == Some(self.number) || self.is_inside(&run) {
                    run.control.section = None;
                    return Self::lose(run, "a thread that ends in an atomic section", open);
                }
                run.ending = Some(Ending::Goes);
                open.push(run);
                Ok(())
            }
            Operation::Spin { .. } | Operation::Vain { .. } | Operation::Cut => {
                let is_deep = run.thread.stack().count() >= Blocks::DEPTH as usize;
                let what =
                    if is_deep { "recursion that does not end" } else { "a long computation" };
                Self::lose(run, what, open)
            }
            Operation::Fault(Fault::BadCallee) => self.call(run, open),
            Operation::Fault(fault) => Self::lose(run, &fault.message(), open),
        }
    }

    /// A call through a pointer.
    fn call(&mut self, run: Run, open: &mut Vec<Run>) -> Result<(), Halt> {
        let blocks = &mut *self.blocks;
        let Some(term) = run.thread.callee(&blocks.code, &mut blocks.values) else {
            return Err(Halt::Astray);
        };
        for (bits, mut run) in self.numbers(run, term, open)? {
            if self.blocks.code.program.function_at(bits).is_none() {
                Self::fail(run, Property::Memory, Fault::BAD_CALLEE, open);
                continue;
            }
            let blocks = &mut *self.blocks;
            blocks.values.assumed = Some((term, bits));
            let operation = run.thread.advance(&blocks.code, &blocks.limits, &mut blocks.values);
            blocks.values.assumed = None;
            match operation {
                Some(Operation::Fault(fault)) => Self::lose(run, &fault.message(), open)?,
                Some(operation) => self.serve(run, operation, open)?,
                None => open.push(run),
            }
        }
        Ok(())
    }

    fn input(&mut self, mut run: Run, width: u32, open: &mut Vec<Run>) -> Result<(), Halt> {
        let value = self.fresh(&mut run, width);
        if let Some((low, high)) = self.blocks.nondet.filter(|_| width > 1) {
            let span = high.wrapping_sub(low);
            if low <= high && (width >= 127 || span < (1i128 << width) - 1) {
                let terms = &mut self.blocks.values.terms;
                let (first, last) = (Bits::signed(width, low), Bits::signed(width, span));
                let (first, last) = (terms.constant(first), terms.constant(last));
                let offset = terms.binary(BinaryOp::Sub, value, first);
                let within = terms.binary(BinaryOp::Ule, offset, last);
                if !self.demand(&mut run, within) {
                    return Ok(());
                }
            }
        }
        self.record_choice(value);
        self.pass(&mut run, Some(value));
        open.push(run);
        Ok(())
    }

    fn choose(&mut self, mut run: Run, below: Term, open: &mut Vec<Run>) -> Result<(), Halt> {
        let width = self.blocks.values.terms.width(below);
        let zero = self.blocks.values.number(width, 0);
        let goes = self.blocks.values.terms.binary(BinaryOp::Ult, zero, below);
        if self.stops_before(&mut run, goes, open) {
            return Ok(());
        }
        let value = self.fresh(&mut run, width);
        let less = self.blocks.values.terms.binary(BinaryOp::Ult, value, below);
        if !self.demand(&mut run, less) {
            return Ok(());
        }
        if self.blocks.values.constant_of(below).is_some_and(|below| below.unsigned() > 1) {
            self.record_choice(value);
        }
        self.pass(&mut run, Some(value));
        open.push(run);
        Ok(())
    }
}
