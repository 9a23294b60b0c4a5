//! The machine as people step it: one instruction of a thread, or one entry of a buffer, at a time.
//!
//! The operational machine below stops after every instruction of the intermediate language. A
//! [`Action::Step`] means more here: the thread goes on to its next instruction *in the source*,
//! and past one operation that others may notice at most. Code of the library belongs to the
//! instruction that calls it.

use parallax_machine::Site;
use parallax_machine::system::{
    Action, At, Entry, Log, Readiness, Record, Setup, System, Waits, What,
};
use parallax_program::{AllocKind, FunctionId, InstKind, Program, Span};

use crate::names::Made;

/// Instructions of the intermediate language that one step may take.
const LONGEST: u32 = 1 << 20;

#[derive(Clone)]
pub struct Machine<'s, 'p> {
    pub system: System<'s, 'p>,
}

/// What a thread is at, as people see it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Instruction {
    /// The place of its call among those of the thread.
    pub call: usize,
    pub site: Site,
    pub span: Span,
}

impl Instruction {
    fn is(&self, other: &Instruction) -> bool {
        self.call == other.call
            && self.span == other.span
            && self.site.function == other.site.function
    }
}

/// What a thread would do next.
#[derive(Clone, Debug)]
pub struct Standing<'p> {
    pub at: At<'p>,
    pub readiness: Readiness,
    /// How many operations it has done by then.
    pub operations: u32,
}

/// What happened in a step.
#[derive(Default)]
pub struct Happened {
    pub records: Vec<Record>,
    /// The functions that were entered, by their own or by others' code.
    pub entered: Vec<(u32, FunctionId)>,
    /// The objects that were made.
    pub made: Vec<Made>,
}

impl<'s, 'p> Machine<'s, 'p> {
    pub fn start(setup: &'s Setup<'p>) -> (Machine<'s, 'p>, Happened) {
        let mut log = Log::on();
        let system = System::start(setup, &mut log);
        let mut machine = Machine { system };
        let mut happened = Happened { records: log.records().to_vec(), ..Happened::default() };
        for thread in 0..machine.system.thread_count() {
            machine.approach(thread, &mut happened);
        }
        (machine, happened)
    }

    /// The threads that are there.
    pub fn threads(&self) -> impl Iterator<Item = u32> {
        (0..self.system.thread_count()).filter(|thread| self.system.thread(*thread).is_some())
    }

    /// The instruction that a thread is at: the innermost that is not in the library.
    pub fn instruction(&self, thread: u32) -> Option<Instruction> {
        let code = &self.system.setup().code;
        let local = self.system.thread(thread)?;
        let mut found = None;
        for (call, site) in local.thread.stack().enumerate() {
            let span = code.span(site);
            if is_own(code.program, span) {
                found = Some(Instruction { call, site, span });
            }
        }
        found
    }

    /// What a thread would do next, if it went on.
    pub fn standing(&self, thread: u32) -> Option<Standing<'p>> {
        let mut ahead = self.clone();
        let home = ahead.instruction(thread);
        let ready = Readiness::Ready { choices: 1 };
        for _ in 0..LONGEST {
            let local = ahead.system.thread(thread)?;
            let (at, operations) = (local.at.clone(), local.thread.operations());
            let readiness = ahead.system.readiness(thread);
            let is_blocked = matches!(readiness, Readiness::Blocked(_));
            if at != At::Local || is_blocked || ahead.is_about_to_spawn(thread) {
                return Some(Standing { at, readiness, operations });
            }
            ahead.system.apply(Action::Step { thread, choice: 0 }, &mut Log::off());
            if ahead.system.has_ended(thread) {
                return Some(Standing { at: At::End, readiness: ready, operations });
            }
            if ahead.has_left(thread, home) {
                break;
            }
        }
        let operations = ahead.system.thread(thread)?.thread.operations();
        Some(Standing { at: At::Local, readiness: ready, operations })
    }

    fn is_about_to_spawn(&self, thread: u32) -> bool {
        matches!(self.next_inst(thread), Some(InstKind::Spawn { .. }))
    }

    /// The instruction of the intermediate language that a thread stands at.
    fn next_inst(&self, thread: u32) -> Option<&'p InstKind> {
        let site = self.system.thread(thread)?.site()?;
        let program = self.system.setup().code.program;
        let block = program.function(site.function).blocks.get(site.block.0 as usize)?;
        block.insts.get(site.index as usize).map(|inst| &inst.kind)
    }

    fn has_left(&self, thread: u32, home: Option<Instruction>) -> bool {
        match (home, self.instruction(thread)) {
            (Some(home), Some(here)) => !home.is(&here),
            (None, Some(_)) => true,
            (_, None) => false,
        }
    }

    /// What can happen next. A thread that goes round a loop without finding anything new is
    /// left out.
    pub fn actions(&self) -> Vec<Action> {
        let mut actions = Vec::new();
        for thread in self.threads() {
            let standing = self.standing(thread);
            if let Some(Readiness::Ready { choices }) = standing.map(|standing| standing.readiness)
            {
                actions.extend((0..choices).map(|choice| Action::Step { thread, choice }));
            }
            actions.extend(self.system.flushes(thread));
        }
        actions
    }

    /// Whether something can happen now; if not, why.
    pub fn check(&self, action: Action) -> Result<(), Refusal> {
        match action {
            Action::Flush { thread, index } => self.check_flush(thread, index),
            Action::Step { thread, choice } => {
                let standing = self.standing(thread).ok_or(Refusal::NoThread)?;
                match standing.readiness {
                    Readiness::Ready { choices } if choice < choices => Ok(()),
                    Readiness::Ready { choices } => Err(Refusal::NoChoice { choices }),
                    // It can go round once more.
                    Readiness::Blocked(Waits::Bytes { spins: true, .. }) if choice == 0 => Ok(()),
                    Readiness::Blocked(waits) => Err(Refusal::Waits(waits)),
                    Readiness::Failed { .. } => Err(Refusal::Failed),
                    Readiness::Escaped { .. }
                    | Readiness::Unsupported(_)
                    | Readiness::Forgotten
                    | Readiness::Over => match standing.at {
                        At::Ended => Err(Refusal::Ended),
                        At::Waiting => Err(Refusal::WaitsForEver),
                        At::Failed { .. } => Err(Refusal::Failed),
                        At::Stopped => Err(Refusal::Stopped),
                        _ => Err(Refusal::Lost),
                    },
                }
            }
        }
    }

    fn check_flush(&self, thread: u32, index: u32) -> Result<(), Refusal> {
        if self.system.thread(thread).is_none() {
            return Err(Refusal::NoThread);
        }
        let mut flushes = self.system.flushes(thread);
        if flushes.any(|action| action == Action::Flush { thread, index }) {
            return Ok(());
        }
        let buffer = self.system.buffer(thread);
        Err(match buffer.len() {
            0 => Refusal::NothingBuffered,
            _ if self.system.section().is_some_and(|owner| owner != thread) => {
                Refusal::Waits(Waits::Section)
            }
            length if index as usize >= length => Refusal::NoEntry { length },
            _ => Refusal::KeptBack,
        })
    }

    /// Does what [can](Machine::check) happen.
    pub fn apply(&mut self, action: Action) -> Happened {
        let mut happened = Happened::default();
        match action {
            Action::Flush { thread, .. } => {
                self.micro(action, &mut happened);
                self.approach(thread, &mut happened);
            }
            Action::Step { thread, choice } => self.step(thread, choice, &mut happened),
        }
        for thread in self.threads().collect::<Vec<_>>() {
            if self.instruction(thread).is_none() {
                self.approach(thread, &mut happened);
            }
        }
        happened
    }

    fn step(&mut self, thread: u32, choice: u64, happened: &mut Happened) {
        let home = self.instruction(thread);
        let mut is_past = false;
        for _ in 0..LONGEST {
            let Some(local) = self.system.thread(thread) else {
                return;
            };
            if local.at != At::Local {
                let can = matches!(
                    self.system.readiness(thread),
                    Readiness::Ready { .. } | Readiness::Blocked(Waits::Bytes { spins: true, .. })
                );
                let is_quiet = self.is_quiet(thread);
                if is_past && !is_quiet || !can {
                    return;
                }
                is_past = true;
            } else if matches!(self.system.readiness(thread), Readiness::Blocked(_)) {
                return;
            }
            self.micro(Action::Step { thread, choice }, happened);
            if self.has_left(thread, home) {
                return;
            }
        }
    }

    /// Has a thread that is in the library go on to its first own instruction, as far as it is
    /// alone.
    fn approach(&mut self, thread: u32, happened: &mut Happened) {
        for _ in 0..LONGEST {
            let at = self.system.thread(thread).map(|local| &local.at);
            let goes_on = (at == Some(&At::Local) || self.is_quiet(thread))
                && self.instruction(thread).is_none()
                && !self.is_about_to_spawn(thread)
                && matches!(self.system.readiness(thread), Readiness::Ready { .. });
            if !goes_on {
                return;
            }
            self.micro(Action::Step { thread, choice: 0 }, happened);
        }
    }

    /// Whether a thread is between instructions of the source and looks at its own stack. That is
    /// how calls of machine code are found.
    fn is_quiet(&self, thread: u32) -> bool {
        let Some(local) = self.system.thread(thread) else {
            return false;
        };
        let code = &self.system.setup().code;
        let site = local.site().filter(|site| code.program.function(site.function).registers);
        let between = site.is_some_and(|site| !is_own(code.program, code.span(site)));
        let access = local.at.access().filter(|_| between);
        access.is_some_and(|(address, ..)| self.is_on_stack(thread, address))
    }

    /// One step of the machine below.
    fn micro(&mut self, action: Action, happened: &mut Happened) {
        let thread = action.thread();
        let depth = |machine: &Self| {
            machine.system.thread(thread).map_or(0, |local| local.thread.stack().count())
        };
        let before = depth(self);
        let made = self.about_to_make(thread);
        let mut log = Log::on();
        self.system.apply(action, &mut log);
        if depth(self) > before
            && let Some(site) = self.system.thread(thread).and_then(|local| local.site())
        {
            happened.entered.push((thread, site.function));
        }
        for record in log.records() {
            if let What::Alloc { address } = record.what
                && let Some(made) = &made
            {
                happened.made.push(Made { address, ..made.clone() });
            }
            if record.what == What::Begin
                && let Some(site) =
                    self.system.thread(record.thread).and_then(|local| local.thread.stack().next())
            {
                happened.entered.push((record.thread, site.function));
            }
        }
        happened.records.extend_from_slice(log.records());
    }

    /// What a thread calls the object that it is about to make.
    fn about_to_make(&self, thread: u32) -> Option<Made> {
        let InstKind::Alloc { dst, kind, shape, .. } = self.next_inst(thread)? else {
            return None;
        };
        let site = self.system.thread(thread)?.site()?;
        let program = self.system.setup().code.program;
        let function = program.function(site.function);
        let variable = function.vars.get(dst.0 as usize).map_or("", |var| var.name.as_str());
        let place = self.instruction(thread).map(|own| program.source.location(own.span));
        let name = match kind {
            AllocKind::Stack if !variable.starts_with('%') && !function.registers => {
                format!("{}::{variable}", function.name)
            }
            AllocKind::Stack if function.registers => format!("stack#{thread}"),
            AllocKind::Stack => "local".to_string(),
            AllocKind::Heap => match place {
                Some(place) => format!("malloc@{}:{}", file_name(&place.file), place.line),
                None => "malloc".to_string(),
            },
        };
        Some(Made { address: 0, name, shape: shape.clone() })
    }

    /// Whether an entry of a buffer is a store to the stack of its own thread, which nobody else
    /// looks at as a rule.
    pub fn is_own_stack(&self, thread: u32, entry: &Entry) -> bool {
        matches!(entry, Entry::Store { address, .. } if self.is_on_stack(thread, *address))
    }

    fn is_on_stack(&self, thread: u32, address: u64) -> bool {
        let objects = self.system.thread(thread).map_or(&[][..], |local| local.objects());
        let after = objects.partition_point(|object| object.address <= address);
        let object = after.checked_sub(1).and_then(|index| objects.get(index));
        object.is_some_and(|object| object.kind == AllocKind::Stack)
    }
}

/// Why something cannot happen now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    NoThread,
    NoChoice { choices: u64 },
    Waits(Waits),
    WaitsForEver,
    Failed,
    Ended,
    Stopped,
    Lost,
    NothingBuffered,
    NoEntry { length: usize },
    KeptBack,
}

/// Whether a place is one that people see as an instruction: not in the library, and no heading of
/// a listing of machine code.
pub fn is_own(program: &Program, span: Span) -> bool {
    if span == Span::default() || program.source.location(span).is_linked() {
        return false;
    }
    program.registers.is_empty() || program.source.line_at(span).contains(":  ")
}

/// The last part of a path.
pub fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}
