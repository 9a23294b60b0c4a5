//! Asks engines, in this process. A panic is caught, and so is a search that does not end: its thread
//! is left behind.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::panic;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use parallax_control::{Cancel, Control};
use parallax_engine_bounded::{self as bounded, Backend, Finding, Framework, Machine, Solving};
use parallax_engine_enumerate as enumeration;
use parallax_engine_explore::{self as exploration, Reductions};
use parallax_engine_inductive as inductive;
use parallax_engine_states as stateful;
use parallax_memory::Model;
use parallax_program::{Bits, Diagnostics, Help, Program, Property, Question};
use parallax_verdict::{Conclusion, Ending, FinalState, Reason, Scope, Verdict};

use crate::query::{Answer, Engine, Form, Query, Said};
use crate::subject::{Loaded, Subject, Unloaded};

/// Deep recursion is not what is looked for here.
const STACK_BYTES: usize = 256 << 20;

/// MiB that a search may take.
const MEMORY_LIMIT: u64 = 2000;

/// Who asks: the models, read once, and how long an engine may think.
pub struct Asker {
    /// By name, and whether they say what races are in C.
    models: BTreeMap<(&'static str, bool), Arc<Model>>,
    pub limit: Duration,
    /// Whether a search did not end, and still takes time and memory.
    pub is_haunted: bool,
}

/// So often a search is waited for that gets little of the processor.
const MOST_ROUNDS: u32 = 10;

/// How an answer starts that never came.
const NO_END: &str = "no end";

/// Something in a message by which engines admit that they were wrong.
const CONFESSIONS: [&str; 4] =
    ["internal error", "an error of the engine", "not replay", "does not confirm"];

impl Asker {
    pub fn new(limit: Duration) -> Asker {
        silence_panics();
        Asker { models: BTreeMap::new(), limit, is_haunted: false }
    }

    /// The model of a question. Whatever machine C is compiled for, races are those of C.
    fn model(&mut self, query: &Query) -> Result<Arc<Model>, String> {
        let is_c = matches!(query.form, Form::C | Form::CheckedC);
        let (name, of_c) = (query.model, is_c && query.property == Property::Race);
        if let Some(model) = self.models.get(&(name, of_c)) {
            return Ok(model.clone());
        }
        let mut model = match Model::builtin(name) {
            Some(Ok(model)) => model,
            Some(Err(errors)) => return Err(first(&errors)),
            None => return Err(format!("there is no model '{name}'")),
        };
        if of_c && !model.flags_races() {
            model = Arc::new(model.with_races_of_c().map_err(|errors| first(&errors))?);
        }
        self.models.insert((name, of_c), model.clone());
        Ok(model)
    }

    pub fn ask(&mut self, subject: &mut Subject, query: Query) -> Answer {
        if let Some(answer) = subject.answers.get(&query) {
            return answer.clone();
        }
        let answer = self.ask_anew(subject, query);
        subject.answers.insert(query, answer.clone());
        answer
    }

    /// Asks, whether or not there is an answer already.
    pub fn ask_anew(&mut self, subject: &mut Subject, query: Query) -> Answer {
        self.ask_about(subject, query, None)
    }

    /// Asks, with another question than that of the litmus test.
    pub fn ask_about(
        &mut self,
        subject: &mut Subject,
        query: Query,
        question: Option<Question>,
    ) -> Answer {
        let started = Instant::now();
        let answer = |heard: Heard, time| {
            let Heard { said, verdict, executions, finals } = heard;
            Answer { said, verdict, executions, finals, time }
        };
        let said = |said| answer(Heard::only(said), started.elapsed());
        let model = match self.model(&query) {
            Ok(model) => model,
            Err(message) => return said(Said::Refused(message)),
        };
        let loaded = match subject.load(query.form) {
            Ok(loaded) => loaded,
            Err(Unloaded::Impossible(message)) => return said(Said::Refused(message)),
            Err(Unloaded::Wrong(message)) => return said(Said::Broken(message)),
        };
        let limit = self.limit;
        let started = Instant::now();
        let verdict = watched(limit, move |cancel| {
            run(&loaded, question.as_ref(), &model, &query, &Limits { limit, cancel })
        });
        let time = started.elapsed();
        let heard = match verdict {
            Err(broken) => {
                self.is_haunted |= broken.starts_with(NO_END);
                Heard::only(Said::Broken(broken))
            }
            Ok(Err(message)) if is_confession(&message) => Heard::only(Said::Broken(message)),
            Ok(Err(message)) => Heard::only(Said::Refused(message)),
            Ok(Ok(heard)) => heard,
        };
        answer(heard, time)
    }
}

fn is_confession(message: &str) -> bool {
    CONFESSIONS.iter().any(|words| message.contains(words))
}

fn first(errors: &Diagnostics) -> String {
    errors.iter().map(|error| error.to_string()).collect::<Vec<_>>().join("; ")
}

/// What came of a search.
struct Heard {
    said: Said,
    verdict: Option<Verdict>,
    executions: u64,
    finals: Vec<Vec<Bits>>,
}

impl Heard {
    fn of(verdict: Verdict, query: &Query) -> Heard {
        let (said, executions) = (judged(&verdict, query), verdict.counts.executions);
        Heard { said, verdict: Some(verdict), executions, finals: Vec::new() }
    }

    /// An answer that is not a verdict.
    fn only(said: Said) -> Heard {
        Heard { said, verdict: None, executions: 0, finals: Vec::new() }
    }

    fn unknown(reason: Reason) -> Heard {
        let help = reason.help.as_ref().map(Help::to_string).unwrap_or_default();
        Heard::only(match is_confession(&reason.message) || is_confession(&help) {
            true => Said::Broken(reason.message),
            false => Said::Unknown(reason.message),
        })
    }
}

/// What a verdict says to a question.
fn judged(verdict: &Verdict, query: &Query) -> Said {
    if let Some(reason) = &verdict.reason {
        let help = reason.help.as_ref().map(Help::to_string).unwrap_or_default();
        if is_confession(&reason.message) || is_confession(&help) {
            return Said::Broken(reason.message.clone());
        }
    }
    let was_asked = verdict.properties.contains(&query.property) || query.counting;
    match verdict.conclusion() {
        Conclusion::Unsafe => {
            let mut found = verdict.violations.iter().map(|violation| violation.property);
            match found.all(|property| property == query.property) {
                true => Said::Unsafe,
                false => Said::Broken("a violation of what was not asked for".to_string()),
            }
        }
        Conclusion::Unknown => {
            let reason = verdict.reason.as_ref().map(|reason| reason.message.clone());
            match reason {
                Some(reason) => Said::Unknown(reason),
                None => Said::Broken("unknown, for no reason".to_string()),
            }
        }
        Conclusion::Safe if !was_asked => Said::Refused("the property is not checked".to_string()),
        Conclusion::Safe => match verdict.scope {
            Some(Scope::Bounded(bound)) => Said::SafeUpTo(bound),
            Some(Scope::Complete) => Said::Safe,
            Some(_) => Said::Unknown("the answer is restricted".to_string()),
            None => Said::Broken("safe, of no scope".to_string()),
        },
    }
}

struct Limits {
    limit: Duration,
    cancel: Cancel,
}

/// The last panic of a thread, for the report.
static PANIC: Mutex<Option<String>> = Mutex::new(None);

fn silence_panics() {
    panic::set_hook(Box::new(|info| {
        *PANIC.lock().unwrap_or_else(PoisonError::into_inner) = Some(info.to_string());
    }));
}

/// Runs a search on a thread of its own. The error is a panic, or that it did not end in time.
fn watched<T: Send + 'static>(
    limit: Duration,
    search: impl FnOnce(Cancel) -> T + Send + 'static,
) -> Result<T, String> {
    let cancel = Cancel::default();
    let (sender, receiver) = mpsc::channel();
    let own = cancel.clone();
    let worker = thread::Builder::new().stack_size(STACK_BYTES).spawn(move || {
        // Nobody listens any more where the search took too long.
        let _ = sender.send(search(own));
    });
    if let Err(error) = worker {
        return Err(format!("cannot start a thread: {error}"));
    }
    // The machine may be busy: only what is far beyond the limit counts, and time of the processor.
    let patience = limit * 5 + Duration::from_secs(20);
    let started = processor_time();
    let mut rounds = 0;
    loop {
        rounds += 1;
        match receiver.recv_timeout(patience) {
            Ok(answer) => return Ok(answer),
            Err(mpsc::RecvTimeoutError::Timeout) => {
                let taken = processor_time().zip(started).map(|(now, then)| now - then);
                if rounds == MOST_ROUNDS || taken.is_none_or(|taken| taken >= patience) {
                    cancel.cancel();
                    let message = format!("asked to end after {limit:?}, waited for {patience:?}");
                    return Err(format!("{NO_END}: {message}"));
                }
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                let last = PANIC.lock().unwrap_or_else(PoisonError::into_inner).take();
                return Err(format!("panic: {}", last.unwrap_or_default()));
            }
        }
    }
}

/// What this process has taken of the processor, where the system tells: its clock ticks a hundred
/// times a second.
fn processor_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    let (_, fields) = text.rsplit_once(')')?;
    let ticks = |field: usize| fields.split_whitespace().nth(field)?.parse::<u64>().ok();
    Some(Duration::from_millis(10 * (ticks(11)? + ticks(12)?)))
}

fn run(
    loaded: &Loaded,
    question: Option<&Question>,
    model: &Model,
    query: &Query,
    limits: &Limits,
) -> Result<Heard, String> {
    let heard = match loaded {
        Loaded::Program(program) => run_program(program, model, query, limits),
        Loaded::Test(test) => {
            let question = question.unwrap_or(&test.question);
            run_test(&test.program, question, model, query, limits)
        }
    };
    heard.map_err(|errors| first(&errors))
}

/// What an engine is asked to look for.
fn properties(query: &Query) -> Vec<Property> {
    if query.counting { Vec::new() } else { vec![query.property] }
}

fn run_program(
    program: &Program,
    model: &Model,
    query: &Query,
    limits: &Limits,
) -> Result<Heard, Diagnostics> {
    let verdict = match query.engine {
        Engine::Explore | Engine::Reduced(_) | Engine::Crew => {
            explored(program, model, query, limits)?
        }
        Engine::States | Engine::AllStates => stateful::search(
            program,
            model,
            &stateful::Options { properties: properties(query), ..states_options(query, limits) },
        )?,
        Engine::Bounded
        | Engine::BoundedZ3
        | Engine::BoundedCertified
        | Engine::BoundedGharachorloo => {
            let compiled = compiled(program, model, query)?;
            let program = compiled.as_ref().unwrap_or(program);
            let options = bounded::Options {
                properties: properties(query),
                unroll: None,
                ..bounded_options(query, limits)
            };
            bounded::verify(program, model, &options)?.verdict
        }
        Engine::Inductive => return proved(program, model, query, limits),
        Engine::Enumerate => return Err(refusal("programs are not enumerated")),
    };
    Ok(Heard::of(verdict, query))
}

fn refusal(message: &str) -> Diagnostics {
    vec![parallax_program::Diagnostic::new(message)]
}

/// What the machine of a model runs, where C is compiled for it.
fn compiled(
    program: &Program,
    model: &Model,
    query: &Query,
) -> Result<Option<Program>, Diagnostics> {
    let is_source = !matches!(query.form, Form::Machine(..));
    let machine = Machine::of_model(model).filter(|_| is_source);
    let compiled = machine.map(|machine| bounded::compile(program, machine)).transpose();
    compiled.map_err(|error| vec![error])
}

fn explored(
    program: &Program,
    model: &Model,
    query: &Query,
    limits: &Limits,
) -> Result<Verdict, Diagnostics> {
    let named = |name: &str| {
        Reductions::parse(name).map_err(|name| refusal(&format!("no reduction '{name}'")))
    };
    let reductions = match query.engine {
        Engine::Reduced(name) => named(name)?,
        _ => Reductions::ALL,
    };
    exploration::explore(
        program,
        model,
        &exploration::Options {
            properties: properties(query),
            reductions,
            all: query.counting,
            control: Control {
                jobs: match query.engine {
                    Engine::Crew => NonZeroUsize::MIN.saturating_add(1),
                    _ => NonZeroUsize::MIN,
                },
                ..control(limits)
            },
            ..exploration::Options::default()
        },
    )
}

/// A question starts now.
fn control(limits: &Limits) -> Control<'static> {
    let control = Control { memory_limit: Some(MEMORY_LIMIT), ..Control::lasting(limits.limit) };
    control.until(limits.cancel.clone())
}

fn states_options<'a>(query: &Query, limits: &'a Limits) -> stateful::Options<'a> {
    stateful::Options {
        reduction: match query.engine {
            Engine::AllStates => stateful::Reduction::None,
            _ => stateful::Reduction::Order,
        },
        control: control(limits),
        ..stateful::Options::default()
    }
}

fn bounded_options<'a>(query: &Query, limits: &'a Limits) -> bounded::Options<'a> {
    bounded::Options {
        control: control(limits),
        solving: Solving {
            backend: match query.engine {
                Engine::BoundedZ3 => Backend::Z3,
                _ => Backend::Cadical,
            },
            certify: query.engine == Engine::BoundedCertified,
            ..Solving::default()
        },
        framework: match query.engine {
            Engine::BoundedGharachorloo => Framework::Gharachorloo,
            _ => Framework::Cat,
        },
        ..bounded::Options::default()
    }
}

fn proved(
    program: &Program,
    model: &Model,
    query: &Query,
    limits: &Limits,
) -> Result<Heard, Diagnostics> {
    let options = bounded::Options { unroll: None, ..bounded_options(query, limits) };
    let proof = inductive::prove(program, model, inductive::Order::Signed, &options)?;
    Ok(match proof.conclusion {
        inductive::Conclusion::Proved { .. } => Heard::only(Said::Safe),
        inductive::Conclusion::NotProved(_) => Heard::only(Said::Unknown("not proved".to_string())),
        inductive::Conclusion::Unknown(reason) => Heard::unknown(reason),
    })
}

fn run_test(
    program: &Program,
    question: &Question,
    model: &Model,
    query: &Query,
    limits: &Limits,
) -> Result<Heard, Diagnostics> {
    match query.engine {
        Engine::Enumerate => {
            let compiled = compiled(program, model, query)?;
            enumerated(compiled.as_ref().unwrap_or(program), question, model, limits)
        }
        Engine::States | Engine::AllStates => {
            let options = stateful::Options {
                properties: vec![Property::Assert],
                question: Some(question.clone()),
                ..states_options(query, limits)
            };
            Ok(Heard::of(stateful::search(program, model, &options)?, query))
        }
        Engine::Bounded
        | Engine::BoundedZ3
        | Engine::BoundedCertified
        | Engine::BoundedGharachorloo => {
            let compiled = compiled(program, model, query)?;
            let program = compiled.as_ref().unwrap_or(program);
            let options = bounded_options(query, limits);
            let outcome = bounded::check(program, question, model, &options)?;
            Ok(match outcome.finding {
                Finding::Reachable(_) => Heard::only(Said::Unsafe),
                Finding::Unreachable { complete: true } => Heard::only(Said::Safe),
                Finding::Unreachable { complete: false } => Heard::only(Said::SafeUpTo(2)),
                Finding::Unknown(reason) => Heard::unknown(reason),
            })
        }
        Engine::Explore | Engine::Reduced(_) | Engine::Crew if query.counting => {
            Ok(Heard::of(explored(program, model, query, limits)?, query))
        }
        _ => Err(refusal("this engine asks nothing of final states")),
    }
}

fn enumerated(
    program: &Program,
    question: &Question,
    model: &Model,
    limits: &Limits,
) -> Result<Heard, Diagnostics> {
    let options = enumeration::Options {
        witnesses: 1,
        coherence: enumeration::Coherence::Total,
        control: control(limits),
        ..enumeration::Options::default()
    };
    let outcomes = enumeration::enumerate(program, question, model, &options)?;
    let said = match (&outcomes.ending, outcomes.positive) {
        (_, 1..) => Said::Unsafe,
        (Ending::Complete, 0) => Said::Safe,
        (Ending::Bounded, 0) => Said::SafeUpTo(2),
        (Ending::Stopped { reason }, 0) => Said::Unknown(reason.clone()),
    };
    // A search that was stopped counts nothing.
    let executions = match outcomes.ending {
        Ending::Complete if outcomes.counts_are_total => outcomes.positive + outcomes.negative,
        _ => 0,
    };
    let values = |state: &FinalState| state.values.iter().map(|value| value.bits).collect();
    let finals = match outcomes.ending {
        Ending::Complete => outcomes.states.iter().map(values).collect(),
        _ => Vec::new(),
    };
    Ok(Heard { said, verdict: None, executions, finals })
}
