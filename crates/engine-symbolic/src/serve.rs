//! What each operation of a thread does, accesses to memory apart.

use std::sync::Arc;

use parallax_machine::system::{BadAccess, Entry, Object, What};
use parallax_machine::{DECIDED_BY_UNDEFINED, Domain, Fault, Limits, Operation, Site};
use parallax_program::{AllocKind, BinaryOp, Bits, FunctionId, Property};
use parallax_verdict::{Reason, stopped};

use crate::machine::{Halt, Machine, Notice, Run, Touch};
use crate::oracle::{Path, variables};
use crate::state::{Access, At, Kind, Look, Watch};
use crate::value::{Symbol, Value};

impl<'p> Machine<'_, 'p> {
    /// Values that are tried one by one where only a number will do.
    const MOST_NUMBERS: usize = 64;

    /// Does what is the thread's own business; for anything else the thread stands there.
    pub(crate) fn serve(
        &mut self,
        mut run: Run<'p>,
        thread: u32,
        operation: Operation<'p, Value>,
    ) -> Result<Vec<Run<'p>>, Halt> {
        match operation {
            Operation::Load { address, size, .. } | Operation::LoadLinked { address, size, .. } => {
                self.arrive(run, thread, Kind::Load, address, size.bytes())
            }
            Operation::Store { address, value, size, .. } => {
                self.arrive(run, thread, Kind::Store { value }, address, size.bytes())
            }
            Operation::Rmw { address, op, operand, size, .. } => {
                self.arrive(run, thread, Kind::Rmw { op, operand }, address, size.bytes())
            }
            Operation::Cas { address, expected, desired, size, weak, .. } => {
                let kind = Kind::Cas { expected, desired, is_weak: weak };
                self.arrive(run, thread, kind, address, size.bytes())
            }
            Operation::StoreConditional { .. } => {
                Ok(vec![self.lose(run, thread, "load-linked and store-conditional")])
            }
            Operation::Fence { tags } => {
                if !self.holds_up(&mut run, thread) {
                    if !tags.is_mark() {
                        self.record(thread, What::Fence);
                    }
                    self.pass(&mut run, thread, None);
                }
                Ok(vec![run])
            }
            Operation::Spawn { function, args } => {
                Ok(vec![self.spawn(run, thread, function, args)])
            }
            Operation::Join { thread: of } => self.numbers(run, thread, of, |machine, run, of| {
                machine.stand_or_act(run, thread, At::Join { thread: of.unsigned() as u64 })
            }),
            Operation::ThreadId => {
                self.pass(&mut run, thread, Some(number(32, thread)));
                Ok(vec![run])
            }
            Operation::Alloc { size, align, kind, zeroed } => {
                self.numbers_by(run, thread, size, Self::smallest, |machine, run, size| {
                    Ok(vec![machine.alloc(run, thread, size, align, kind, zeroed)])
                })
            }
            Operation::HeapSize { address } => {
                self.numbers(run, thread, address, |machine, run, address| {
                    let at = At::HeapSize { address: address.unsigned() as u64 };
                    machine.stand_or_act(run, thread, at)
                })
            }
            Operation::Free { address, kind } => {
                self.numbers(run, thread, address, |machine, run, address| {
                    let at = At::Free { address: address.unsigned() as u64, kind };
                    machine.stand_or_act(run, thread, at)
                })
            }
            Operation::Wait { condition } => self.demand(run, thread, condition, At::Waiting),
            Operation::Assume { condition } => self.demand(run, thread, condition, At::Stopped),
            Operation::Assert { condition, message, property } => {
                self.assert(run, thread, condition, property, message)
            }
            Operation::Nondet { width } => self.input(run, thread, width),
            Operation::Undefined { width } => {
                let Some(local) = run.state.local(thread) else { return Ok(vec![run]) };
                let symbol = Symbol::Undefined { thread, number: local.undefined };
                local.undefined += 1;
                let value = self.values.symbol(symbol, width);
                self.pass(&mut run, thread, Some(value));
                Ok(vec![run])
            }
            Operation::Choose { below } => self.choose(run, thread, below),
            Operation::AtomicBegin => self.enter(run, thread),
            Operation::AtomicEnd => Ok(vec![self.leave(run, thread)]),
            Operation::Branch { condition } => self.branch(run, thread, condition),
            Operation::Spin { since } => {
                self.spin(&mut run, thread, since);
                Ok(vec![run])
            }
            Operation::Vain { .. } => {
                self.put(&mut run, thread, At::Vain);
                Ok(vec![run])
            }
            // With the first thread the program may be over.
            Operation::End
                if run.state.thread(thread).is_some_and(|local| local.in_section)
                    && !(thread == 0 && self.code.program.daemons) =>
            {
                Ok(vec![self.lose(run, thread, "a thread that ends in an atomic section")])
            }
            Operation::End if !run.state.is_drained(thread) => {
                self.put(&mut run, thread, At::Ending);
                Ok(vec![run])
            }
            Operation::End => {
                self.record(thread, What::End);
                self.put(&mut run, thread, At::Ended);
                Ok(vec![run])
            }
            Operation::Cut => self.cut(run, thread),
            Operation::Fault(Fault::BadCallee) => self.call(run, thread),
            Operation::Fault(fault) => Ok(vec![self.lose(run, thread, &fault.message())]),
        }
    }

    /// The thread goes on after its operation.
    pub(crate) fn pass(&mut self, run: &mut Run<'p>, thread: u32, value: Option<Value>) {
        let Some(local) = run.state.local(thread) else { return };
        match value {
            Some(value) => local.thread.result(&self.code, value),
            None => local.thread.done(),
        }
        local.at = At::Runs;
    }

    /// The next symbol of a thread for something that may be chosen.
    pub(crate) fn fresh(&mut self, run: &mut Run<'p>, thread: u32, width: u32) -> Value {
        let Some(local) = run.state.local(thread) else {
            return Value::Known(Bits::zero(width));
        };
        let symbol = Symbol::Choice { thread, number: local.choices };
        local.choices += 1;
        self.values.symbol(symbol, width)
    }

    /// Goes on with each number that a value may be.
    pub(crate) fn numbers(
        &mut self,
        run: Run<'p>,
        thread: u32,
        value: Value,
        go: impl FnMut(&mut Self, Run<'p>, Bits) -> Result<Vec<Run<'p>>, Halt>,
    ) -> Result<Vec<Run<'p>>, Halt> {
        let any = |machine: &mut Self, path: &Path, value| Ok(machine.sample(path, value));
        self.numbers_by(run, thread, value, any, go)
    }

    /// A number that a value may be on a path, a small one if there is one: of sizes these are met most,
    /// and there is more to be seen with few objects than with one of gigabytes.
    fn smallest(&mut self, path: &Path, value: Value) -> Result<Bits, Halt> {
        let width = self.values.width(value);
        for bits in [3, 6, 9, 12, 16].into_iter().filter(|bits| *bits < width) {
            let bound = Value::Known(Bits::new(width, 1 << bits));
            let is_less = self.values.binary(BinaryOp::Ult, &value, &bound);
            if let Some(path) = self.oracle.assume(&mut self.values, path, is_less)? {
                return Ok(self.sample(&path, value));
            }
        }
        Ok(self.sample(path, value))
    }

    /// Goes on with each number that a value may be, in the order in which they are picked.
    fn numbers_by(
        &mut self,
        run: Run<'p>,
        thread: u32,
        value: Value,
        pick: impl Fn(&mut Self, &Path, Value) -> Result<Bits, Halt>,
        mut go: impl FnMut(&mut Self, Run<'p>, Bits) -> Result<Vec<Run<'p>>, Halt>,
    ) -> Result<Vec<Run<'p>>, Halt> {
        let mut all = Vec::new();
        let mut rest = Some(run);
        for _ in 0..Self::MOST_NUMBERS {
            let Some(mut run) = rest.take() else { return Ok(all) };
            if let Value::Known(bits) = value {
                return go(self, run, bits);
            }
            self.weigh(&run, thread, value);
            let bits = pick(self, &run.state.path, value)?;
            let is_it = self.values.equal(value, Value::Known(bits));
            let sides = self.oracle.split(&mut self.values, &run.state.path, is_it)?;
            rest = sides.no.map(|path| {
                let mut other = run.clone();
                other.state.path = path;
                other
            });
            let Some(path) = sides.yes else { continue };
            run.state.path = path;
            all.append(&mut go(self, run, bits)?);
        }
        if let Some(run) = rest {
            all.push(self.lose(
                run,
                thread,
                "a size, a pointer or a thread that may be any of many",
            ));
        }
        Ok(all)
    }

    /// Where memory is looked at: a decision by what nobody has written is one more violation, which
    /// is left to others.
    pub(crate) fn weigh(&mut self, run: &Run<'p>, thread: u32, value: Value) {
        let Value::Open(term) = value else { return };
        if !self.options.wants(Property::Memory) {
            return;
        }
        let symbols = variables(&self.values.terms, term);
        let is_unwritten =
            |symbol| !matches!(self.values.name(symbol), Some(Symbol::Choice { .. }));
        if symbols.iter().any(|symbol| is_unwritten(*symbol)) {
            let place = self.place(&run.state, thread);
            let message = format!("{DECIDED_BY_UNDEFINED}: not supported by this engine");
            self.notices.push(Notice::Gap(Reason { message, place, help: None }));
        }
    }

    /// The outcomes where a condition holds and where it does not.
    pub(crate) fn split(
        &mut self,
        run: Run<'p>,
        thread: u32,
        condition: Value,
    ) -> Result<(Option<Run<'p>>, Option<Run<'p>>), Halt> {
        self.weigh(&run, thread, condition);
        let sides = self.oracle.split(&mut self.values, &run.state.path, condition)?;
        let with = |path| {
            let mut run = run.clone();
            run.state.path = path;
            run
        };
        Ok((sides.yes.map(with), sides.no.map(with)))
    }

    /// Goes on where a condition holds; elsewhere the thread stays.
    fn demand(
        &mut self,
        run: Run<'p>,
        thread: u32,
        condition: Value,
        otherwise: At<'p>,
    ) -> Result<Vec<Run<'p>>, Halt> {
        let (mut yes, mut no) = self.split(run, thread, condition)?;
        if let Some(run) = &mut yes {
            self.pass(run, thread, None);
        }
        if let Some(run) = &mut no {
            self.put(run, thread, otherwise);
        }
        Ok(yes.into_iter().chain(no).collect())
    }

    fn assert(
        &mut self,
        run: Run<'p>,
        thread: u32,
        condition: Value,
        property: Property,
        message: &'p str,
    ) -> Result<Vec<Run<'p>>, Halt> {
        let (mut yes, no) = self.split(run, thread, condition)?;
        if let Some(run) = &mut yes {
            self.pass(run, thread, None);
        }
        let no = no.map(|run| self.fail(run, thread, property, message));
        Ok(yes.into_iter().chain(no).collect())
    }

    fn branch(
        &mut self,
        run: Run<'p>,
        thread: u32,
        condition: Value,
    ) -> Result<Vec<Run<'p>>, Halt> {
        let (yes, no) = self.split(run, thread, condition)?;
        let mut all = Vec::new();
        for (taken, side) in [(true, yes), (false, no)] {
            let Some(mut run) = side else { continue };
            let Some(local) = run.state.local(thread) else { continue };
            let goes = local.thread.branch(&self.code, &self.limits, taken, &mut self.values);
            let spins = local.thread.after_branch(&self.code, &self.limits, &self.values);
            match (goes, spins) {
                (_, Some(Operation::Spin { since })) => {
                    self.spin(&mut run, thread, since);
                    all.push(run);
                }
                (false, _) => all.append(&mut self.cut(run, thread)?),
                (true, _) => all.push(run),
            }
        }
        Ok(all)
    }

    /// The thread is back at the head of a loop, as it was after so many operations. It goes on if what
    /// it has found there is not there any more, and else it would only find the same again.
    fn spin(&mut self, run: &mut Run<'p>, thread: u32, since: u32) {
        let is_first = run.todo.len() == 1;
        let Some(local) = run.state.thread(thread) else { return };
        if local.startled.is_some_and(|at| at >= since) {
            return self.put(run, thread, At::Vain);
        }
        let Some(looks) = local.looks.since(since) else { return };
        let looks: Vec<Look> = looks.cloned().collect();
        for look in &looks {
            if self.load(run, thread, &look.access).value != look.value {
                return;
            }
        }
        let watch = Watch(looks.iter().map(|look| look.access.range()).collect());
        let in_one_step = is_first && since >= run.from;
        let Some(local) = run.state.local(thread) else { return };
        local.at = match watch.0.is_empty() {
            true => At::Endless,
            false => At::Spinning { in_one_step },
        };
        local.watch = Some(watch);
    }

    /// Too long, or repeated as often as is looked at.
    fn cut(&mut self, mut run: Run<'p>, thread: u32) -> Result<Vec<Run<'p>>, Halt> {
        if self.options.unroll.is_some() {
            self.is_cut = true;
            let site = run.state.thread(thread).and_then(|local| local.thread.site());
            self.may_leave |= site.is_none_or(|site| self.code.may_return(site));
            self.put(&mut run, thread, At::Cut);
            return Ok(vec![run]);
        }
        // A long computation: it goes on while there is time.
        if let Some(stop) = self.options.control.reason() {
            self.notices.push(Notice::Gap(stopped(stop)));
            return Err(Halt::Enough);
        }
        // Where nobody watches loops, this one may be endless.
        let limits = Limits { spins: true, ..self.limits };
        let Some(local) = run.state.local(thread) else { return Ok(vec![run]) };
        let (operation, taken) = local.thread.run_counting(&self.code, &limits, &mut self.values);
        self.meter.add(taken);
        match operation {
            Operation::Cut => Ok(vec![run]),
            operation => self.serve(run, thread, operation),
        }
    }

    /// A call through a pointer that is not known, or to no function.
    fn call(&mut self, run: Run<'p>, thread: u32) -> Result<Vec<Run<'p>>, Halt> {
        let nowhere = "call through a pointer to no function";
        let Some(local) = run.state.thread(thread) else { return Ok(vec![run]) };
        let callee = local.thread.callee(&self.code, &mut self.values);
        let Some(Value::Open(term)) = callee else {
            return Ok(vec![self.fail(run, thread, Property::Memory, nowhere)]);
        };
        self.numbers(run, thread, Value::Open(term), |machine, mut run, bits| {
            if machine.code.program.function_at(bits).is_none() {
                return Ok(vec![machine.fail(run, thread, Property::Memory, nowhere)]);
            }
            machine.values.assumed = Some((term, bits));
            let Some(local) = run.state.local(thread) else { return Ok(vec![run]) };
            let operation = local.thread.run(&machine.code, &machine.limits, &mut machine.values);
            machine.values.assumed = None;
            machine.serve(run, thread, operation)
        })
    }

    fn input(&mut self, mut run: Run<'p>, thread: u32, width: u32) -> Result<Vec<Run<'p>>, Halt> {
        let value = self.fresh(&mut run, thread, width);
        if let Some((low, high)) = self.options.nondet.filter(|_| width > 1) {
            let span = high.wrapping_sub(low);
            let all = width >= 127 || span < (1i128 << width) - 1;
            if low <= high && all {
                let first = Value::Known(Bits::signed(width, low));
                let offset = self.values.binary(BinaryOp::Sub, &value, &first);
                let span = Value::Known(Bits::signed(width, span));
                let within = self.values.binary(BinaryOp::Ule, &offset, &span);
                let path = self.oracle.assume(&mut self.values, &run.state.path, within)?;
                let Some(path) = path else { return Ok(Vec::new()) };
                run.state.path = path;
            }
        }
        self.record_choice(&run, thread, value);
        self.pass(&mut run, thread, Some(value));
        Ok(vec![run])
    }

    pub(crate) fn record_choice(&mut self, run: &Run<'p>, thread: u32, value: Value) {
        if self.log.is_some() {
            let value = self.sample(&run.state.path, value);
            self.record(thread, What::Choice { value });
        }
    }

    /// Any value below another. There are few of them in most cases, and numbers lead to fewer
    /// questions than symbols.
    fn choose(&mut self, run: Run<'p>, thread: u32, below: Value) -> Result<Vec<Run<'p>>, Halt> {
        self.numbers(run, thread, below, |machine, mut run, below| {
            if below.is_zero() {
                machine.put(&mut run, thread, At::Stopped);
                return Ok(vec![run]);
            }
            if below.unsigned() == 1 {
                let zero = Value::Known(Bits::zero(below.width()));
                machine.record_choice(&run, thread, zero);
                machine.pass(&mut run, thread, Some(zero));
                return Ok(vec![run]);
            }
            let value = machine.fresh(&mut run, thread, below.width());
            let less = machine.values.binary(BinaryOp::Ult, &value, &Value::Known(below));
            let path = machine.oracle.assume(&mut machine.values, &run.state.path, less)?;
            let Some(path) = path else { return Ok(Vec::new()) };
            run.state.path = path;
            if below.unsigned() > Self::MOST_NUMBERS as u128 {
                machine.record_choice(&run, thread, value);
                machine.pass(&mut run, thread, Some(value));
                return Ok(vec![run]);
            }
            machine.numbers(run, thread, value, |machine, mut run, bits| {
                machine.record_choice(&run, thread, Value::Known(bits));
                machine.pass(&mut run, thread, Some(Value::Known(bits)));
                Ok(vec![run])
            })
        })
    }

    fn spawn(
        &mut self,
        mut run: Run<'p>,
        thread: u32,
        function: FunctionId,
        args: Vec<Value>,
    ) -> Run<'p> {
        let Some(place) = run.state.local(thread).map(|local| {
            local.children += 1;
            local.looks.clear();
            local.children - 1
        }) else {
            return run;
        };
        let child = self.child(thread, place);
        if child >= 1 << 15 {
            return self.lose(run, thread, "more than 32,000 threads");
        }
        if run.state.section == Some(thread) && self.options.wants(Property::Race) {
            // What follows in the section is not before the new thread.
            return self.lose(run, thread, "a thread that is started in an atomic section");
        }
        self.record(thread, What::Spawn { child });
        match run.state.is_drained(thread) {
            true => {
                self.begin(&mut run, child, function, args);
                run.effects.spawned.push(child);
            }
            false => {
                let entry = Entry::Spawn { child, function, args: args.into() };
                run.state.local(thread).into_iter().for_each(|it| it.buffer.push(entry.clone()));
            }
        }
        self.pass(&mut run, thread, Some(number(32, child)));
        run
    }

    fn alloc(
        &mut self,
        mut run: Run<'p>,
        thread: u32,
        size: Bits,
        align: u32,
        kind: AllocKind,
        zeroed: bool,
    ) -> Run<'p> {
        let width = self.code.program.pointer_width;
        let Some(local) = run.state.local(thread) else { return run };
        let place = Object::place(self.slots, thread, &local.objects, size.unsigned(), align);
        let Some(address) = place else {
            return self.lose(run, thread, "an object of that size");
        };
        let context = context(local.thread.stack());
        let is_private = !self.is_shared(context);
        let (size, is_freed) = (size.unsigned() as u64, false);
        let object = Object { address, size, kind, zeroed, context, is_private, is_freed };
        if let Some(local) = run.state.local(thread) {
            Arc::make_mut(&mut local.objects).push(object);
            local.looks.clear();
        }
        self.record(thread, What::Alloc { address });
        let address = Value::Known(Bits::new(width, u128::from(address)));
        self.pass(&mut run, thread, Some(address));
        run
    }

    fn enter(&mut self, mut run: Run<'p>, thread: u32) -> Result<Vec<Run<'p>>, Halt> {
        if run.state.thread(thread).is_some_and(|local| local.in_section) {
            return Ok(vec![self.lose(run, thread, "an atomic section inside another")]);
        }
        self.put(&mut run, thread, At::Enter);
        match self.is_alone(&run.state) && run.state.is_drained(thread) {
            true => self.act(run, thread),
            false => Ok(vec![run]),
        }
    }

    fn leave(&mut self, mut run: Run<'p>, thread: u32) -> Run<'p> {
        let Some(local) = run.state.local(thread).filter(|local| local.in_section) else {
            let what = "the end of an atomic section that has not begun";
            return self.lose(run, thread, what);
        };
        local.in_section = false;
        run.state.section = None;
        self.record(thread, What::AtomicEnd);
        self.pass(&mut run, thread, None);
        run
    }

    /// Whether no other thread was ever started.
    pub(crate) fn is_alone(&self, state: &crate::state::State<'p>) -> bool {
        state.started().nth(1).is_none()
    }

    /// The thread stands at something, or does it at once if no other can notice.
    fn stand_or_act(
        &mut self,
        mut run: Run<'p>,
        thread: u32,
        at: At<'p>,
    ) -> Result<Vec<Run<'p>>, Halt> {
        let in_section = run.state.section == Some(thread);
        let is_own = match &at {
            At::Free { address: 0, .. } => true,
            At::Free { address, .. } | At::HeapSize { address } => {
                self.is_own(&run.state, thread, *address)?
            }
            At::Join { thread: of } => {
                let has_ended = u32::try_from(*of).is_ok_and(|of| run.state.has_ended(of));
                self.put(&mut run, thread, at);
                return match in_section && has_ended {
                    true => self.act(run, thread),
                    false => Ok(vec![run]),
                };
            }
            _ => false,
        };
        let acts = is_own || in_section || self.is_alone(&run.state);
        self.put(&mut run, thread, at);
        if acts { self.act(run, thread) } else { Ok(vec![run]) }
    }

    /// Does what a thread stands at.
    pub(crate) fn act(&mut self, mut run: Run<'p>, thread: u32) -> Result<Vec<Run<'p>>, Halt> {
        let Some(at) = run.state.thread(thread).map(|local| local.at.clone()) else {
            return Ok(vec![run]);
        };
        match at {
            At::Access(access) => self.access(run, thread, &access),
            At::Join { thread: of } => {
                run.effects.joined = Some(of as u32);
                self.record(thread, What::Join { of: of as u32 });
                self.pass(&mut run, thread, None);
                Ok(vec![run])
            }
            At::FenceOfAll => {
                self.record(thread, What::Fence);
                self.pass(&mut run, thread, None);
                Ok(vec![run])
            }
            At::Enter => {
                run.state.section = Some(thread);
                run.effects.in_section = true;
                if let Some(local) = run.state.local(thread) {
                    local.in_section = true;
                    local.looks.clear();
                }
                self.record(thread, What::AtomicBegin);
                self.pass(&mut run, thread, None);
                Ok(vec![run])
            }
            At::Free { address, kind } => Ok(vec![self.free(run, thread, address, kind)]),
            At::HeapSize { address } => Ok(vec![self.heap_size(run, thread, address)]),
            _ => Ok(vec![run]),
        }
    }

    /// What is wrong with freeing an object, or asking for its size.
    fn bad_free(&self, run: &Run<'p>, address: u64, kind: AllocKind) -> Option<BadAccess> {
        match self.object(&run.state, address) {
            Some(object) if object.address != address || object.kind != kind => {
                Some(BadAccess::FreeOfNoObject)
            }
            Some(_) if run.state.is_freed(address) => Some(BadAccess::DoubleFree),
            Some(_) => None,
            None => Some(BadAccess::FreeOfNoObject),
        }
    }

    fn free(&mut self, mut run: Run<'p>, thread: u32, address: u64, kind: AllocKind) -> Run<'p> {
        let size = self.object(&run.state, address).map_or(1, |object| object.size.max(1));
        let range = address..address.saturating_add(size);
        if address != 0 {
            self.touch(&mut run, thread, whole(range.clone(), true));
            if let Some(wrong) = self.bad_free(&run, address, kind) {
                return self.fail(run, thread, Property::Memory, wrong.message());
            }
            if self.is_stored_late(&run, thread, &range) {
                let what = "a store that waits in a buffer while its object is freed";
                return self.lose(run, thread, what);
            }
            let freed = Arc::make_mut(&mut run.state.freed);
            if let Err(index) = freed.binary_search(&address) {
                freed.insert(index, address);
            }
            run.effects.changes = true;
            self.wake(&mut run, thread, &range);
        }
        if let Some(local) = run.state.local(thread) {
            local.looks.clear();
        }
        self.record(thread, What::Free { address });
        self.pass(&mut run, thread, None);
        run
    }

    fn heap_size(&mut self, mut run: Run<'p>, thread: u32, address: u64) -> Run<'p> {
        self.touch(&mut run, thread, whole(address..address.saturating_add(1), false));
        if let Some(wrong) = self.bad_free(&run, address, AllocKind::Heap) {
            return self.fail(run, thread, Property::Memory, wrong.message());
        }
        let size = self.object(&run.state, address).map_or(0, |object| object.size);
        let width = self.code.program.pointer_width;
        self.pass(&mut run, thread, Some(Value::Known(Bits::new(width, u128::from(size)))));
        run
    }

    /// Whether only the thread itself uses what is at an address.
    pub(crate) fn is_own(
        &self,
        state: &crate::state::State<'p>,
        thread: u32,
        address: u64,
    ) -> Result<bool, Halt> {
        let Some(object) = self.object(state, address).filter(|object| object.is_private) else {
            return Ok(false);
        };
        match self.slots.owner(address) == Some(thread as usize) {
            true => Ok(true),
            false => Err(Halt::Escaped { context: object.context }),
        }
    }

    /// Notes an access that others may notice.
    pub(crate) fn touch(&mut self, run: &mut Run<'p>, thread: u32, touch: Touch) {
        let is_own = self.is_own(&run.state, thread, touch.range.start).unwrap_or(false);
        if !is_own && !self.is_alone(&run.state) {
            run.effects.accesses.push(touch);
            if let Some(log) = &self.log {
                self.touched.push(log.len());
            }
        }
    }

    /// Has threads run on that wait for a change of what is there.
    pub(crate) fn wake(&mut self, run: &mut Run<'p>, thread: u32, range: &std::ops::Range<u64>) {
        for number in 0..run.state.threads.len() as u32 {
            let sees = |local: &crate::state::Local<'p>| {
                local.watch.as_ref().is_some_and(|watch| watch.sees(range))
            };
            if number == thread || !run.state.thread(number).is_some_and(sees) {
                continue;
            }
            run.effects.woken.push(number);
            if let Some(local) = run.state.local(number)
                && matches!(local.at, At::Spinning { .. })
            {
                local.at = At::Runs;
                run.todo.insert(0, number);
            }
        }
    }
}

/// An access to a whole object that is none of its data.
fn whole(range: std::ops::Range<u64>, writes: bool) -> Touch {
    let address = Value::Known(Bits::new(64, u128::from(range.start)));
    let (is_atomic, is_plain) = (false, false);
    let (bytes, reads, site) = (0, !writes, None);
    Touch { range, address, bytes, reads, writes, is_atomic, is_plain, site }
}

fn number(width: u32, value: u32) -> Value {
    Value::Known(Bits::new(width, u128::from(value)))
}

/// The calls that make an object, as a number.
fn context(stack: impl Iterator<Item = Site>) -> u64 {
    use std::hash::{Hash, Hasher};
    let mut hasher = rustc_hash::FxHasher::default();
    stack.for_each(|site| site.hash(&mut hasher));
    hasher.finish()
}

impl Access {
    /// An access whose address is known.
    pub(crate) fn is_known(&self) -> bool {
        self.places.len() == 1
    }
}
