//! The interpreter: one thread, from visible operation to visible operation.

use std::sync::Arc;

use parallax_program::{Bits, BlockId, Callee, Expr, FunctionId, InstKind, Terminator, VarId};

use crate::live::Live;
use crate::operation::destinations;
use crate::sleep::{self, Asleep};
use crate::{Code, Domain, Fault, Idle, Limits, Operation, Site, Truth};

/// A thread's own state: call frames, and the branches that what comes next depends on.
#[derive(Clone)]
pub struct Thread<V> {
    pub(crate) frames: Vec<Frame<V>>,
    /// What the registers held when the last function that sees them called or returned.
    pub(crate) registers: Vec<V>,
    /// Conditions of the branches taken that are still open, oldest first.
    pub(crate) control: Vec<Control<V>>,
    /// Branches with a known condition taken so far.
    pub(crate) decided: u32,
    /// Results so far that the engine chose among several.
    pub(crate) chosen: u32,
    /// Visible operations so far, and those that others may notice.
    pub(crate) operations: u32,
    pub(crate) effects: u32,
    /// Those of them that are more than stores.
    pub(crate) deeds: u32,
    /// Whether others cannot notice the operation that the thread stands at, and whether it is no
    /// more than a store.
    is_silent: bool,
    is_store: bool,
    /// Those of the effects that were undone when the thread woke up without a signal.
    pub(crate) forgiven: u32,
    /// How things were when the thread began to wait for a signal last.
    pub(crate) asleep: Option<Arc<Asleep<V>>>,
    /// Whether it wakes up without one by the operation that it stands at.
    wakes: bool,
}

#[derive(Clone)]
pub(crate) struct Control<V> {
    pub(crate) condition: V,
    /// Where the dependency ends: a block of the frame at that depth.
    pub(crate) until: Option<(usize, BlockId)>,
}

#[derive(Clone)]
pub(crate) struct Frame<V> {
    pub(crate) function: FunctionId,
    pub(crate) block: BlockId,
    pub(crate) index: usize,
    pub(crate) vars: Vec<V>,
    /// What the caller does with the result.
    pub(crate) result: Option<VarId>,
    /// For each block that can repeat.
    visits: Vec<Visit>,
    /// For each head of a loop that was entered, how things were at the last time.
    pub(crate) rounds: Vec<Round<V>>,
}

/// How things were when the head of a loop was entered.
#[derive(Clone)]
pub(crate) struct Round<V> {
    pub(crate) head: BlockId,
    pub(crate) operations: u32,
    pub(crate) effects: u32,
    pub(crate) deeds: u32,
    /// The variables that are live there.
    pub(crate) vars: Vec<V>,
    /// How many rounds have changed nothing since.
    pub(crate) idle: u32,
    /// The round before, if the thread has only looked and stored since: until somebody asks.
    pub(crate) earlier: Option<Return<V>>,
}

/// A thread is back at the head of a loop, and has done no more than to look and to store since it
/// was there.
#[derive(Clone)]
pub struct Return<V> {
    /// What matters, as it was then and as it is now. If all of it is the same, the thread does
    /// the same again, as far as others let it.
    pub pairs: Vec<(V, V)>,
    /// Whether it has only looked.
    pub has_only_looked: bool,
}

/// How often a block was entered, and its branch found undecided.
#[derive(Clone, Copy, Default)]
struct Visit {
    entered: u32,
    forked: u32,
    /// [`Thread::decided`] and [`Thread::chosen`] at the last entry.
    decided: u32,
    chosen: u32,
}

impl<V: Clone> Thread<V> {
    /// A counting loop that has not ended after so many rounds is cut too.
    const COUNTING: u32 = 4096;

    /// A thread that is about to start in `function`.
    pub fn start<D: Domain<Value = V>>(
        code: &Code<'_>,
        function: FunctionId,
        args: Vec<V>,
        domain: &mut D,
    ) -> Thread<V> {
        let registers = code.program.registers.iter();
        let registers: Vec<V> =
            registers.map(|register| domain.constant(Bits::zero(register.width))).collect();
        let frame = Frame::new(code, function, args, &registers, None, (0, 0, 0), domain);
        Thread {
            frames: vec![frame],
            registers,
            control: Vec::new(),
            decided: 0,
            chosen: 0,
            operations: 0,
            effects: 0,
            deeds: 0,
            is_silent: false,
            is_store: false,
            forgiven: 0,
            asleep: None,
            wakes: false,
        }
    }

    /// A thread that stands at these instructions, one for each of its calls and the innermost last,
    /// with these values of its variables there. It has counted nothing yet, and its registers are not
    /// known: this is where control is, and nothing of how it came there.
    pub fn standing(code: &Code<'_>, stack: &[Site], vars: Vec<Vec<V>>) -> Thread<V> {
        let mut frames: Vec<Frame<V>> = Vec::with_capacity(stack.len());
        for (site, vars) in stack.iter().zip(vars) {
            let caller = frames.last().map(Frame::site);
            let result = caller.and_then(|caller| match &code.instruction(caller)?.kind {
                InstKind::Call { dst, .. } => *dst,
                _ => None,
            });
            frames.push(Frame {
                function: site.function,
                block: site.block,
                index: site.index as usize,
                vars,
                result,
                visits: vec![Visit::default(); code.loops(site.function).count()],
                rounds: Vec::new(),
            });
        }
        Thread {
            frames,
            registers: Vec::new(),
            control: Vec::new(),
            decided: 0,
            chosen: 0,
            operations: 0,
            effects: 0,
            deeds: 0,
            is_silent: false,
            is_store: false,
            forgiven: 0,
            asleep: None,
            wakes: false,
        }
    }

    /// The instruction that the thread stands at.
    pub fn site(&self) -> Option<Site> {
        self.frames.last().map(Frame::site)
    }

    /// How many visible operations the thread has gone past.
    pub fn operations(&self) -> u32 {
        self.operations
    }

    /// The instructions that the thread stands at in each of its calls, innermost last.
    pub fn stack(&self) -> impl Iterator<Item = Site> {
        self.frames.iter().map(Frame::site)
    }

    /// The value of a variable of the function that the thread started in.
    pub fn variable(&self, var: VarId) -> Option<&V> {
        self.frames.first().and_then(|frame| frame.vars.get(var.0 as usize))
    }

    /// The value of a variable in one of the calls that [`Thread::stack`] lists, by its place there.
    pub fn value(&self, call: usize, var: VarId) -> Option<&V> {
        self.frames.get(call).and_then(|frame| frame.vars.get(var.0 as usize))
    }

    /// The address that the thread is about to call, or to start a thread at, if it does so through
    /// a pointer.
    pub fn callee<D: Domain<Value = V>>(&self, code: &Code<'_>, domain: &mut D) -> Option<V> {
        let frame = self.frames.last()?;
        let block = &code.program.function(frame.function).blocks[frame.block.0 as usize];
        match &block.insts.get(frame.index)?.kind {
            InstKind::Call { callee: Callee::Indirect(address), .. }
            | InstKind::Spawn { callee: Callee::Indirect(address), .. } => {
                Some(code.evaluate(address, &frame.vars, domain))
            }
            _ => None,
        }
    }

    /// Whether a thread stands where another one does, with the same values in all that matters there.
    pub fn stands_like<D: Domain<Value = V>>(
        &self,
        other: &Thread<V>,
        live: &Live,
        domain: &D,
    ) -> bool {
        let same = |one: &[V], other: &[V]| {
            one.len() == other.len()
                && one.iter().zip(other).all(|(one, other)| domain.same(one, other))
        };
        let (Some((last, callers)), Some((others, other_callers))) =
            (self.frames.split_last(), other.frames.split_last())
        else {
            return false;
        };
        let is_same_call = |(one, other): (&Frame<V>, &Frame<V>)| {
            one.site() == other.site() && same(&one.vars, &other.vars)
        };
        let matters = live.at(last.site()).iter().map(|var| *var as usize);
        callers.len() == other_callers.len()
            && callers.iter().zip(other_callers).all(is_same_call)
            && last.site() == others.site()
            && same(&self.registers, &other.registers)
            && matters.into_iter().all(|var| domain.same(&last.vars[var], &others.vars[var]))
    }

    /// Conditions of the branches that the next operation depends on.
    pub fn control(&self) -> impl Iterator<Item = &V> {
        self.control.iter().map(|control| &control.condition)
    }

    /// About how much memory a copy of the thread takes.
    pub fn bytes(&self) -> usize {
        let frame = |frame: &Frame<V>| {
            size_of_val(frame)
                + size_of_val(frame.vars.as_slice())
                + size_of_val(frame.visits.as_slice())
        };
        size_of_val(self.control.as_slice()) + self.frames.iter().map(frame).sum::<usize>()
    }

    /// Runs up to the next visible operation.
    pub fn run<'p, D: Domain<Value = V>>(
        &mut self,
        code: &Code<'p>,
        limits: &Limits,
        domain: &mut D,
    ) -> Operation<'p, V> {
        self.run_counting(code, limits, domain).0
    }

    /// The same, and how many instructions that took.
    pub fn run_counting<'p, D: Domain<Value = V>>(
        &mut self,
        code: &Code<'p>,
        limits: &Limits,
        domain: &mut D,
    ) -> (Operation<'p, V>, u64) {
        for taken in 0..limits.steps {
            if let Some(operation) = self.instruction(code, limits, domain) {
                return (operation, u64::from(taken) + 1);
            }
        }
        (Operation::Cut, u64::from(limits.steps))
    }

    /// Runs up to the next visible operation, or until another block begins or goes on: after a
    /// jump, a call or a return there is none.
    pub fn advance<'p, D: Domain<Value = V>>(
        &mut self,
        code: &Code<'p>,
        limits: &Limits,
        domain: &mut D,
    ) -> Option<Operation<'p, V>> {
        let depth = self.frames.len();
        for _ in 0..limits.steps {
            if let Some(operation) = self.instruction(code, limits, domain) {
                return Some(operation);
            }
            let begins = self.frames.last().is_none_or(|frame| frame.index == 0);
            if begins || self.frames.len() != depth {
                return None;
            }
        }
        Some(Operation::Cut)
    }

    /// Takes one instruction. Where it is a visible operation, the thread stands at it.
    #[inline]
    fn instruction<'p, D: Domain<Value = V>>(
        &mut self,
        code: &Code<'p>,
        limits: &Limits,
        domain: &mut D,
    ) -> Option<Operation<'p, V>> {
        let Some(frame) = self.frames.last_mut() else {
            return Some(Operation::End);
        };
        let block = &code.program.function(frame.function).blocks[frame.block.0 as usize];
        let Some(inst) = block.insts.get(frame.index) else {
            return self.terminate(code, limits, &block.terminator, domain);
        };
        match &inst.kind {
            InstKind::Assign { value: Expr::Const(bits), .. }
                if D::CHOOSES_UNDEFINED && bits.is_undefined() =>
            {
                self.is_silent = true;
                Some(Operation::Undefined { width: bits.width() })
            }
            InstKind::Assign { dst, value } => {
                let mut value = code.evaluate(value, &frame.vars, domain);
                if D::FOLLOWS_CONTROL {
                    let ends = |control: &&Control<V>| control.until.is_some();
                    for control in self.control.iter().filter(ends) {
                        value = domain.picked(value, &control.condition);
                    }
                }
                frame.vars[dst.0 as usize] = value;
                frame.index += 1;
                None
            }
            InstKind::Call { dst, callee, args } => {
                self.call(code, limits, *dst, callee, args, domain)
            }
            visible => {
                if let Some(live) = code.live().filter(|_| limits.spins && sleep::begins(visible))
                    && let Some(since) = self.sleeps_again(live, limits.idle, domain)
                {
                    return Some(Operation::Vain { since });
                }
                let frame = self.frames.last_mut()?;
                let operation = Operation::of(code, frame.function, &frame.vars, visible, domain);
                match operation {
                    Some(_) => {
                        self.is_silent = is_silent(visible);
                        self.is_store = is_store(visible);
                        self.wakes = code.live().is_some() && sleep::ends(visible);
                    }
                    None => frame.index += 1,
                }
                operation
            }
        }
    }

    /// Goes on after an operation without a result.
    pub fn done(&mut self) {
        self.count();
        if let Some(frame) = self.frames.last_mut() {
            frame.index += 1;
        }
    }

    /// Counts the operation that the thread stands at.
    fn count(&mut self) {
        self.operations += 1;
        self.effects += u32::from(!self.is_silent);
        self.deeds += u32::from(!self.is_silent && !self.is_store);
        if self.wakes {
            self.is_woken_early();
        }
    }

    /// Goes on after an operation with one result.
    pub fn result(&mut self, code: &Code<'_>, value: V) {
        self.results(code, value, None);
    }

    /// Goes on after an operation with up to two results.
    pub fn results(&mut self, code: &Code<'_>, first: V, second: Option<V>) {
        self.count();
        self.settle(code, first, second);
    }

    /// Says that nobody can notice the operation that the thread is about to go past: a
    /// compare-and-swap that fails, a read-modify-write that writes what it has read.
    pub fn leaves_no_trace(&mut self) {
        self.is_silent = true;
    }

    fn settle(&mut self, code: &Code<'_>, first: V, second: Option<V>) {
        let Some(frame) = self.frames.last_mut() else {
            return;
        };
        let block = &code.program.function(frame.function).blocks[frame.block.0 as usize];
        if let Some(inst) = block.insts.get(frame.index) {
            let (dst, ok) = destinations(&inst.kind);
            if let Some(dst) = dst {
                frame.vars[dst.0 as usize] = first;
            }
            if let (Some(ok), Some(second)) = (ok, second) {
                frame.vars[ok.0 as usize] = second;
            }
        }
        frame.index += 1;
    }

    /// Goes on after an operation with up to two results that the engine chose among several
    /// possible ones. A loop that makes such a choice in each round is bounded, even where its
    /// branches are then decided.
    pub fn choose(&mut self, code: &Code<'_>, first: V, second: Option<V>) {
        self.chosen += 1;
        self.results(code, first, second);
    }

    /// Goes on after an undecided branch.
    pub fn branch<D: Domain<Value = V>>(
        &mut self,
        code: &Code<'_>,
        limits: &Limits,
        taken: bool,
        domain: &mut D,
    ) -> bool {
        let Some(frame) = self.frames.last_mut() else {
            return false;
        };
        let block = frame.block;
        let body = &code.program.function(frame.function).blocks[block.0 as usize];
        let Terminator::Branch { condition, then, otherwise, join } = &body.terminator else {
            return false;
        };
        let condition = code.evaluate(condition, &frame.vars, domain);
        if let Some(number) = code.loops(frame.function).repeating(block) {
            let visit = &mut frame.visits[number];
            visit.forked += 1;
            if visit.forked > limits.repeats.saturating_add(1) {
                return false;
            }
        }
        self.depend(condition, *join);
        self.jump(code, if taken { *then } else { *otherwise }, limits)
    }

    fn depends_already<D>(&self, condition: &V, join: Option<BlockId>, domain: &D) -> bool
    where
        D: Domain<Value = V>,
    {
        let until = join.map(|block| (self.frames.len(), block));
        let last = self.control.last().filter(|last| last.until == until);
        domain.adds_nothing(condition, last.map(|last| &last.condition))
    }

    fn depend(&mut self, condition: V, join: Option<BlockId>) {
        let depth = self.frames.len();
        let until = join.map(|block| (depth, block));
        self.control.push(Control { condition, until });
    }

    /// False if the loop limit forbids it.
    fn jump(&mut self, code: &Code<'_>, target: BlockId, limits: &Limits) -> bool {
        let depth = self.frames.len();
        let (decided, chosen) = (self.decided, self.chosen);
        let Some(frame) = self.frames.last_mut() else {
            return false;
        };
        frame.block = target;
        frame.index = 0;
        self.control.retain(|control| control.until != Some((depth, target)));
        let Some(number) = code.loops(frame.function).repeating(target) else {
            return true;
        };
        let visit = &mut frame.visits[number];
        visit.entered += 1;
        let counting = visit.decided != decided && visit.chosen == chosen;
        let counting = counting && visit.entered < Self::COUNTING;
        visit.decided = decided;
        visit.chosen = chosen;
        counting || visit.entered <= limits.repeats.saturating_add(1)
    }

    fn terminate<'p, D: Domain<Value = V>>(
        &mut self,
        code: &Code<'p>,
        limits: &Limits,
        terminator: &'p Terminator,
        domain: &mut D,
    ) -> Option<Operation<'p, V>> {
        let frame = self.frames.last()?;
        let within = match terminator {
            Terminator::Jump(target) => self.jump(code, *target, limits),
            Terminator::Branch { condition, then, otherwise, join } => {
                let condition = code.evaluate(condition, &frame.vars, domain);
                let target = match domain.truth(&condition) {
                    Truth::True => *then,
                    Truth::False => *otherwise,
                    Truth::Undecided => return Some(Operation::Branch { condition }),
                };
                if !matches!(terminator, Terminator::Branch { condition: Expr::Const(_), .. }) {
                    self.decided += 1;
                }
                if D::FOLLOWS_CONTROL && !self.depends_already(&condition, *join, domain) {
                    self.depend(condition, *join);
                }
                self.jump(code, target, limits)
            }
            Terminator::Return(value) => {
                let value = value.as_ref().map(|v| code.evaluate(v, &frame.vars, domain));
                return self.leave(code, value);
            }
            Terminator::Exit => return Some(Operation::End),
        };
        let idle = if within { limits.idle } else { Idle::None };
        let spins = if limits.spins { self.new_round(code, idle, domain) } else { None };
        spins.or_else(|| (!within).then_some(Operation::Cut))
    }

    /// What [`Thread::branch`] leaves open where waiting loops are reported: whether the thread is
    /// back at the head of one.
    pub fn after_branch<'p, D: Domain<Value = V>>(
        &mut self,
        code: &Code<'p>,
        limits: &Limits,
        domain: &D,
    ) -> Option<Operation<'p, V>> {
        self.new_round(code, limits.idle, domain)
    }

    /// Where the thread has just come back to the head of a loop, and has only looked and stored
    /// since it was there: how.
    pub fn take_return(&mut self) -> Option<Return<V>> {
        let frame = self.frames.last_mut().filter(|frame| frame.index == 0)?;
        let head = frame.block;
        frame.rounds.iter_mut().find(|round| round.head == head)?.earlier.take()
    }

    /// Whether the thread, having come to the head of a loop, has been there before with all
    /// that matters as it is now, and so more often than `idle` allows.
    fn new_round<'p, D: Domain<Value = V>>(
        &mut self,
        code: &Code<'p>,
        idle: Idle,
        domain: &D,
    ) -> Option<Operation<'p, V>> {
        let (operations, effects, deeds) = (self.operations, self.effects, self.deeds);
        let frame = self.frames.last_mut()?;
        let head = frame.block;
        let idle = code.idle(frame.function, head, idle);
        let live = code.loops(frame.function).head(head)?;
        let vars = live.iter().map(|var| &frame.vars[var.0 as usize]);
        let known = frame.rounds.iter_mut().find(|round| round.head == head);
        let Some(round) = known else {
            let vars = vars.cloned().collect();
            let (idle, earlier) = (0, None);
            frame.rounds.push(Round { head, operations, effects, deeds, vars, idle, earlier });
            return None;
        };
        let mut pairs = round.vars.iter().zip(vars.clone());
        if round.effects == effects && pairs.all(|(then, now)| domain.same(then, now)) {
            let since = std::mem::replace(&mut round.operations, operations);
            round.idle += 1;
            return (round.idle > idle).then_some(Operation::Spin { since });
        }
        round.idle = 0;
        if D::COMPARES && round.deeds == deeds {
            let pairs = round.vars.iter().cloned().zip(vars.clone().cloned()).collect();
            let has_only_looked = round.effects == effects;
            round.earlier = Some(Return { pairs, has_only_looked });
        }
        round.operations = operations;
        round.effects = effects;
        round.deeds = deeds;
        round.vars.clear();
        round.vars.extend(vars.cloned());
        None
    }

    fn leave<'p>(&mut self, code: &Code<'p>, value: Option<V>) -> Option<Operation<'p, V>> {
        let depth = self.frames.len();
        if depth <= 1 {
            return Some(Operation::End);
        }
        self.control.retain(|control| control.until.is_none_or(|(at, _)| at != depth));
        self.keep_registers(code);
        let left = self.frames.pop()?;
        let caller = self.frames.last_mut()?;
        if let Some(registers) = code.registers(caller.function) {
            caller.vars[registers].clone_from_slice(&self.registers);
        }
        if let (Some(dst), Some(value)) = (left.result, value) {
            caller.vars[dst.0 as usize] = value;
        }
        caller.index += 1;
        None
    }

    fn call<'p, D: Domain<Value = V>>(
        &mut self,
        code: &Code<'p>,
        limits: &Limits,
        dst: Option<VarId>,
        callee: &Callee,
        args: &[Expr],
        domain: &mut D,
    ) -> Option<Operation<'p, V>> {
        let frame = self.frames.last()?;
        let function = match code.resolve(callee, args.len(), &frame.vars, domain) {
            Ok(function) => function,
            Err(fault) => return Some(Operation::Fault(fault)),
        };
        // Not cut like rounds of loops: nobody has asked for a bound on calls.
        if self.frames.len() >= limits.depth as usize {
            let what = format!("more than {} calls in one another", limits.depth);
            return Some(Operation::Fault(Fault::Unsupported(what)));
        }
        let args = args.iter().map(|arg| code.evaluate(arg, &frame.vars, domain)).collect();
        self.keep_registers(code);
        let since = (self.operations, self.effects, self.deeds);
        self.frames.push(Frame::new(code, function, args, &self.registers, dst, since, domain));
        None
    }

    /// The innermost call is about to begin or to end: others see its registers.
    fn keep_registers(&mut self, code: &Code<'_>) {
        if let Some(frame) = self.frames.last()
            && let Some(registers) = code.registers(frame.function)
        {
            self.registers.clone_from_slice(&frame.vars[registers]);
        }
    }
}

impl Thread<Bits> {
    /// Forgets that values come from these reads.
    pub(crate) fn performed(&mut self, reads: u64) {
        let done = |value: &mut Bits| *value = value.coming_from(value.from() & !reads);
        for frame in &mut self.frames {
            frame.vars.iter_mut().for_each(done);
        }
        self.registers.iter_mut().for_each(done);
        self.control.iter_mut().for_each(|control| done(&mut control.condition));
        self.control.retain(|control| control.condition.from() != 0);
    }

    /// Which reads what comes next depends on, as words.
    pub(crate) fn add_reads_to(&self, code: &Code<'_>, live: &Live, add: &mut impl FnMut(u64)) {
        self.for_each_part(code, live, &mut |part| {
            if let Part::Value(value) = part {
                add(value.from());
            }
        });
        for control in &self.control {
            add(control.condition.from());
            let until =
                control.until.map(|(depth, block)| (depth as u64) << 32 | u64::from(block.0));
            add(until.unwrap_or(u64::MAX));
        }
    }

    /// What a register of the thread holds.
    pub fn register(&self, code: &Code<'_>, register: usize) -> Option<Bits> {
        let top = self.frames.last()?;
        let own = code.registers(top.function).map(|vars| &top.vars[vars]);
        own.unwrap_or(&self.registers).get(register).copied()
    }

    /// All that decides what the thread will do, as words.
    pub(crate) fn add_to(&self, code: &Code<'_>, live: &Live, add: &mut impl FnMut(u128)) {
        self.for_each_part(code, live, &mut |part| match part {
            Part::Word(word) => add(word),
            Part::Value(value) => {
                add(value.unsigned());
                // Zeros that mean nothing are others than those that do.
                if value.is_undefined() {
                    add(u128::MAX);
                }
            }
        });
    }
}

/// A part of what decides what a thread will do.
pub enum Part<'t, V> {
    /// Where one of its calls stands.
    Word(u128),
    /// A variable that matters there.
    Value(&'t V),
}

impl<V> Thread<V> {
    /// Visits all that decides what the thread will do: where its calls stand, and the variables
    /// that matter there.
    pub fn for_each_part<'t>(
        &'t self,
        code: &Code<'_>,
        live: &Live,
        add: &mut impl FnMut(Part<'t, V>),
    ) {
        for frame in &self.frames {
            let site = frame.site();
            add(Part::Word(u128::from(site.function.0) << 64 | u128::from(site.block.0)));
            add(Part::Word(u128::from(site.index)));
            for var in live.at(site) {
                add(Part::Value(&frame.vars[*var as usize]));
            }
        }
        let sees = |frame: &&Frame<V>| code.registers(frame.function).is_some();
        if self.registers.is_empty() || self.frames.last().is_some_and(|top| sees(&top)) {
            return;
        }
        let last = self.frames.iter().rfind(sees);
        let behind = last.map_or(&[][..], |frame| live.registers_behind(frame.site()));
        for register in behind.iter().chain(live.registers_of_callbacks()) {
            add(Part::Value(&self.registers[*register as usize]));
        }
    }
}

/// Whether an instruction puts something where others may see it, and does no more.
fn is_store(kind: &InstKind) -> bool {
    matches!(
        kind,
        InstKind::Store { .. }
            | InstKind::StoreConditional { .. }
            | InstKind::Rmw { .. }
            | InstKind::Cas { .. }
    )
}

/// Whether an instruction only looks. So does a compare-and-swap that fails.
fn is_silent(kind: &InstKind) -> bool {
    matches!(
        kind,
        InstKind::Load { .. }
            | InstKind::LoadLinked { .. }
            | InstKind::Fence { .. }
            | InstKind::ThreadId { .. }
            | InstKind::HeapSize { .. }
            | InstKind::Assume { .. }
            | InstKind::Assert { .. }
            | InstKind::Wait { .. }
    )
}

impl<V> Frame<V> {
    pub(crate) fn site(&self) -> Site {
        Site { function: self.function, block: self.block, index: self.index as u32 }
    }
}

impl<V: Clone> Frame<V> {
    fn new<D: Domain<Value = V>>(
        code: &Code<'_>,
        function: FunctionId,
        args: Vec<V>,
        registers: &[V],
        result: Option<VarId>,
        since: (u32, u32, u32),
        domain: &mut D,
    ) -> Frame<V> {
        let body = code.program.function(function);
        let mut vars = args;
        if body.registers {
            vars.extend_from_slice(registers);
        }
        let rest = body.vars.get(vars.len()..).unwrap_or_default();
        vars.extend(rest.iter().map(|var| domain.constant(Bits::zero(var.width))));
        let loops = code.loops(function);
        let mut visits = vec![Visit::default(); loops.count()];
        if let Some(entry) = loops.repeating(BlockId(0)) {
            visits[entry].entered = 1;
        }
        let block = BlockId(0);
        let rounds = loops.head(block).map(|live| Round {
            head: block,
            operations: since.0,
            effects: since.1,
            deeds: since.2,
            vars: live.iter().map(|var| vars[var.0 as usize].clone()).collect(),
            idle: 0,
            earlier: None,
        });
        let rounds = rounds.into_iter().collect();
        Frame { function, block, index: 0, vars, result, visits, rounds }
    }
}
