//! A program in some state, with its history, and all that a person has said about it.

use std::fmt::Write;

use parallax_machine::system::{Action, MemoryKind, Setup, SystemOptions};
use parallax_program::{Diagnostic, Help, Program, Property, Question, Setting};

use crate::command;
use crate::completion;
use crate::history::History;
use crate::machine::{Happened, Machine, is_own};
use crate::names::Names;
use crate::points::Point;
use crate::problems::{self, Problem, Standing};
use crate::schedule::Schedule;
use crate::{source, story};

/// What is debugged.
#[derive(Clone, Copy)]
pub struct Subject<'p> {
    pub program: &'p Program,
    /// What is asked of final states, if that is asked.
    pub question: Option<&'p Question>,
    /// How people call the program.
    pub input: &'p str,
}

/// Whether there are more commands to come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flow {
    Go,
    Quit,
}

/// A program made ready to be debugged.
pub fn setup(
    program: &Program,
    memory: MemoryKind,
    properties: Vec<Property>,
    nondet: Option<(i128, i128)>,
) -> Result<Setup<'_>, Diagnostic> {
    let options =
        SystemOptions { memory, properties, nondet, stops: true, ..SystemOptions::default() };
    Setup::new(program, options)
        .ok_or_else(|| Diagnostic::new("the globals of the program are too large"))
}

pub struct Session<'s, 'p> {
    pub(crate) subject: Subject<'p>,
    setup: &'s Setup<'p>,
    pub(crate) names: Names<'p>,
    pub(crate) history: History<'s, 'p>,
    /// The thread that commands are about.
    pub(crate) thread: u32,
    pub(crate) points: Vec<Point>,
    /// How many points and values there were.
    pub(crate) points_made: u32,
    pub(crate) values_shown: u32,
    /// Whether `continue` runs the chosen thread alone.
    pub(crate) is_locked: bool,
    /// Whether stores of a thread to its own stack reach memory as soon as they can.
    pub(crate) flushes_stack: bool,
    /// As it was before the last command that changed it.
    pub(crate) before: Machine<'s, 'p>,
    pub(crate) problems: Vec<Problem>,
    /// Where the next `list` goes on: file and line.
    pub(crate) listed: Option<(String, u32)>,
    /// The call that commands are about, counted from the innermost; None for that of the instruction.
    pub(crate) frame: Option<usize>,
    /// What is shown after each stop: numbers, formats and expressions.
    pub(crate) displays: Vec<(u32, String, String)>,
    pub(crate) displays_made: u32,
    /// What clang was told when it read the program.
    arguments: Vec<String>,
}

impl<'s, 'p> Session<'s, 'p> {
    pub fn new(setup: &'s Setup<'p>, subject: Subject<'p>) -> Session<'s, 'p> {
        let (history, happened) = History::start(setup);
        let before = history.now().clone();
        let mut session = Session {
            subject,
            setup,
            names: Names::new(&setup.code),
            history,
            thread: 0,
            points: Vec::new(),
            points_made: 0,
            values_shown: 0,
            is_locked: false,
            flushes_stack: true,
            before,
            problems: Vec::new(),
            listed: None,
            frame: None,
            displays: Vec::new(),
            displays_made: 0,
            arguments: Vec::new(),
        };
        session.learn(&happened);
        session.find_problems();
        session
    }

    /// With what clang was told when it read the program: schedules remember that.
    pub fn read_with(self, arguments: Vec<String>) -> Session<'s, 'p> {
        Session { arguments, ..self }
    }

    /// What is said first.
    pub fn greeting(&self) -> String {
        let threads = match self.now().threads().count() {
            1 => "1 thread".to_string(),
            count => format!("{count} threads"),
        };
        let memory = self.setup.options.memory.name();
        let mut text = format!("{}: {threads}, model {memory}\n", self.subject.input);
        text.push_str(&self.announce(&[]));
        text
    }

    /// Where a schedule has led.
    pub fn arrival(&self) -> String {
        let mut text = format!("{} actions have happened.\n", self.history.position());
        text.push_str(&self.announce(&[]));
        let _ = writeln!(text, "{}", source::whereabouts(self, self.thread));
        text
    }

    /// Carries out a command. The text is what it says, also before an error.
    pub fn execute(&mut self, line: &str, out: &mut String) -> Result<Flow, String> {
        command::execute(self, line, out)
    }

    /// What the last word of a line may become.
    pub fn completions(&self, line: &str) -> Vec<String> {
        completion::completions(self, line)
    }

    /// How things stand for the program now.
    pub fn standing(&self) -> Standing {
        problems::standing(&self.problems)
    }

    pub(crate) fn now(&self) -> &Machine<'s, 'p> {
        self.history.now()
    }

    /// The place of the chosen call among those of the chosen thread, if one was chosen.
    pub(crate) fn call(&self) -> Option<usize> {
        let local = self.now().system.thread(self.thread)?;
        local.thread.stack().count().checked_sub(1 + self.frame?)
    }

    pub(crate) fn program(&self) -> &'p Program {
        self.subject.program
    }

    pub(crate) fn memory_is_sc(&self) -> bool {
        self.setup.options.memory == MemoryKind::Sc
    }

    pub(crate) fn is_machine_code(&self) -> bool {
        !self.program().registers.is_empty()
    }

    /// Has something happen, and everything that follows by itself.
    pub(crate) fn perform(&mut self, action: Action) -> Happened {
        let mut happened = self.history.apply(action);
        self.learn(&happened);
        while let Some(flush) = self.stack_flush() {
            let more = self.history.apply(flush);
            self.learn(&more);
            happened.records.extend(more.records);
            happened.entered.extend(more.entered);
        }
        happened
    }

    /// A store to the stack of its own thread that can reach memory.
    fn stack_flush(&self) -> Option<Action> {
        let now = self.now();
        let mut flushes = now.threads().flat_map(|thread| now.system.flushes(thread));
        flushes.find(|action| match action {
            Action::Flush { thread, index } if self.flushes_stack => {
                let entry = now.system.buffer(*thread).get(*index as usize);
                entry.is_some_and(|entry| now.is_own_stack(*thread, entry))
            }
            _ => false,
        })
    }

    /// Learns the names of what was made and started.
    pub(crate) fn learn(&mut self, happened: &Happened) {
        let now = self.history.now();
        learn(&mut self.names, self.subject.program, now, happened);
    }

    pub(crate) fn find_problems(&mut self) {
        self.problems = problems::find(self.history.now(), &self.names, self.subject.question);
    }

    /// What is wrong now and was not before.
    pub(crate) fn announce(&self, before: &[Problem]) -> String {
        let new = self.problems.iter().filter(|problem| !before.contains(problem));
        new.map(|problem| format!("{}\n", problem.text)).collect()
    }

    /// Takes everything to a position in the history.
    pub(crate) fn go_to(&mut self, position: usize) {
        let (names, program) = (&mut self.names, self.subject.program);
        self.history.go_to(position, |now, happened| learn(names, program, now, happened));
        self.find_problems();
        self.frame = None;
        if self.now().system.thread(self.thread).is_none() {
            self.thread = 0;
        }
        for point in &mut self.points {
            point.refresh(self.history.now());
        }
    }

    /// Starts over, keeping breakpoints.
    pub(crate) fn restart(&mut self) {
        let (history, happened) = History::start(self.setup);
        self.history = history;
        self.names = Names::new(&self.setup.code);
        self.learn(&happened);
        self.before = self.now().clone();
        self.go_to(0);
    }

    /// What has happened so far, as a schedule with comments.
    pub fn schedule(&self) -> Schedule {
        let mut actions = Vec::new();
        let (mut machine, _) = Machine::start(self.setup);
        for action in self.history.actions().iter().take(self.history.position()) {
            let before = machine.clone();
            let happened = machine.apply(*action);
            actions.push((*action, story::brief(self, &before, *action, &happened)));
        }
        let input = self.subject.input.to_string();
        let arguments = self.arguments.clone();
        Schedule { input, arguments, memory: self.setup.options.memory, actions }
    }

    /// Starts over and lets a schedule happen; stops before what does not fit.
    pub fn load(&mut self, name: &str, text: &str) -> Result<(), Diagnostic> {
        let (schedule, spans) = Schedule::parse(name, text)?;
        let source = parallax_program::SourceFile::new(name, text);
        let memory = self.setup.options.memory;
        if schedule.memory != memory {
            let (theirs, ours) = (schedule.memory.name(), memory.name());
            let message = format!("the schedule is for the model {theirs}, not {ours}");
            return Err(Diagnostic::new(format!("{name}: {message}")).with_help(Help::with(
                Setting::Model,
                theirs,
                "starts the debugger for it",
            )));
        }
        self.restart();
        for ((action, _), span) in schedule.actions.iter().zip(spans) {
            if let Err(refusal) = self.now().check(*action) {
                let thread = self.names.thread(action.thread());
                let why = story::refusal(self, &thread, refusal);
                self.find_problems();
                return Err(source.error(span, format!("this cannot happen here: {why}")));
            }
            let happened = self.history.apply(*action);
            self.learn(&happened);
            self.thread = action.thread();
        }
        self.history.stop();
        self.go_to(self.history.position());
        if let Some(thread) = self.problems.iter().find_map(|problem| problem.thread) {
            self.thread = thread;
        }
        Ok(())
    }
}

fn learn<'p>(
    names: &mut Names<'p>,
    program: &'p Program,
    now: &Machine<'_, 'p>,
    happened: &Happened,
) {
    for made in &happened.made {
        let mut objects = now.system.living().map(|(_, object)| object);
        let size = objects.find(|object| object.address == made.address);
        names.add(made.clone(), size.map_or(1, |object| object.size));
    }
    for (thread, function) in &happened.entered {
        let body = program.function(*function);
        let spans = body.blocks.iter().flat_map(|block| &block.insts).map(|inst| inst.span);
        let is_known = match program.registers.is_empty() {
            true => spans.clone().any(|span| is_own(program, span)),
            false => body.address.is_some(),
        };
        if is_known {
            names.name_thread(*thread, &body.name);
        }
    }
}
