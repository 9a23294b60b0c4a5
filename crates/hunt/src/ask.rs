//! Asks engines, in this process. A panic is caught, and so is a search that does not end: its thread
//! is left behind.

use std::num::NonZeroUsize;
use std::panic;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use parallax_control::{Cancel, Control};
use parallax_frontend_litmus::LitmusTest;
use parallax_memory::Model;
use parallax_program::{Bits, Diagnostics, Help, Question};
use parallax_verdict::{Conclusion, Ending, FinalState, Scope, Verdict};
use parallax_verify::Prepared;
use parallax_verify::litmus::{self, Coherence, Listing};

use crate::query::{Answer, Engine, Form, Query, Said, Setting};
use crate::subject::{Subject, Unloaded, shown};

/// Deep recursion is not what is looked for here.
const STACK_BYTES: usize = 256 << 20;

/// MiB that a search may take.
const MEMORY_LIMIT: u64 = 2000;

/// Who asks, and how long an engine may think.
pub struct Asker {
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
        Asker { limit, is_haunted: false }
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
        let search = match question_for(subject, query, question) {
            Ok(search) => search,
            Err(Unloaded::Impossible(message)) => {
                return answer(Heard::only(Said::Refused(message)), started.elapsed());
            }
            Err(Unloaded::Wrong(message)) => {
                return answer(Heard::only(Said::Broken(message)), started.elapsed());
            }
        };
        let limit = self.limit;
        let started = Instant::now();
        let heard = watched(limit, move |cancel| search.run(&query, &Limits { limit, cancel }));
        let time = started.elapsed();
        let heard = match heard {
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

/// What is searched.
enum Search {
    /// A program, by the way that the command asks about it.
    Verify(Box<Prepared>),
    /// A litmus test, for all its final states.
    Enumerate(Arc<LitmusTest>, Arc<Model>),
}

/// A question in the form that engines take.
fn question_for(
    subject: &mut Subject,
    query: Query,
    question: Option<Question>,
) -> Result<Search, Unloaded> {
    let impossible = |errors: Diagnostics| Unloaded::Impossible(shown(&errors));
    if query.form != Form::Litmus {
        let read = subject.read(&query)?;
        let again = read.again(query.model, query.engine.choice(), query.engine.extensions());
        return again.map(|again| Search::Verify(Box::new(again))).map_err(impossible);
    }
    let model = match Model::builtin(query.model) {
        Some(Ok(model)) => model,
        Some(Err(errors)) => return Err(Unloaded::Wrong(shown(&errors))),
        None => return Err(Unloaded::Wrong(format!("there is no model '{}'", query.model))),
    };
    let test = subject.test()?;
    let compiled = litmus::compiled(&test, &model).map_err(impossible)?;
    let mut test = compiled.map_or(test, Arc::new);
    if let Some(question) = question {
        Arc::make_mut(&mut test).question = question;
    }
    if query.engine == Engine::ENUMERATE {
        return Ok(Search::Enumerate(test, model));
    }
    // The command takes no test for another language than that of the model: what the machine runs
    // takes the place of what was read.
    let mut prepared = subject.prepare(&query)?;
    prepared.subject = litmus::subject("program.litmus".to_string(), (*test).clone());
    prepared.model = model;
    Ok(Search::Verify(Box::new(prepared)))
}

fn is_confession(message: &str) -> bool {
    CONFESSIONS.iter().any(|words| message.contains(words))
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
}

/// What a verdict says to a question.
fn judged(verdict: &Verdict, query: &Query) -> Said {
    if let Some(reason) = &verdict.reason {
        let help = reason.help.as_ref().map(Help::to_string).unwrap_or_default();
        if is_confession(&reason.message) || is_confession(&help) {
            let panic = last_panic().unwrap_or_default();
            return Said::Broken(format!("{}{panic}", reason.message));
        }
    }
    let asked = query.asked.properties();
    let was_asked = asked.iter().all(|property| verdict.properties.contains(property));
    match verdict.conclusion() {
        Conclusion::Unsafe => {
            let mut found = verdict.violations.iter().map(|violation| violation.property);
            match found.all(|property| query.asked.contains(property)) {
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

fn last_panic() -> Option<String> {
    PANIC.lock().unwrap_or_else(PoisonError::into_inner).take()
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
                return Err(format!("panic: {}", last_panic().unwrap_or_default()));
            }
        }
    }
}

/// What this process has taken of the processor, where the system says so: its clock ticks a hundred
/// times a second.
fn processor_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    let (_, fields) = text.rsplit_once(')')?;
    let ticks = |field: usize| fields.split_whitespace().nth(field)?.parse::<u64>().ok();
    Some(Duration::from_millis(10 * (ticks(11)? + ticks(12)?)))
}

impl Search {
    fn run(&self, query: &Query, limits: &Limits) -> Result<Heard, String> {
        let heard = match self {
            Search::Verify(prepared) => {
                let jobs = match query.engine.setting {
                    Setting::Crew => NonZeroUsize::MIN.saturating_add(1),
                    _ => NonZeroUsize::MIN,
                };
                let response = prepared.ask(&Control { jobs, ..control(limits) });
                response.map(|response| Heard::of(response.answer.verdict, query))
            }
            Search::Enumerate(test, model) => enumerated(test, model, limits),
        };
        heard.map_err(|errors| shown(&errors))
    }
}

/// A question starts now.
fn control(limits: &Limits) -> Control<'static> {
    let control = Control { memory_limit: Some(MEMORY_LIMIT), ..Control::lasting(limits.limit) };
    control.until(limits.cancel.clone())
}

/// How often loops of litmus tests are repeated.
const BOUND: u32 = 2;

fn enumerated(test: &LitmusTest, model: &Model, limits: &Limits) -> Result<Heard, Diagnostics> {
    let listing = Listing { bound: BOUND, coherence: Coherence::Total, witnesses: 1, show: &[] };
    let outcomes = litmus::outcomes(test, model, &listing, &control(limits))?;
    let said = match (&outcomes.ending, outcomes.positive) {
        (_, 1..) => Said::Unsafe,
        (Ending::Complete, 0) => Said::Safe,
        (Ending::Bounded, 0) => Said::SafeUpTo(BOUND),
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
