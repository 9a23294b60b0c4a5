//! The independent replayer of whole programs: what an engine claims is turned into an execution
//! only if the program can really do it.
//!
//! The steps are taken once more in the claimed order, each thread by the interpreter. A read
//! gets the value of its claimed source, which must have happened by then, so the claimed order
//! must be one of program order and reads-from together. Addresses, values, tags and dependencies
//! are found anew; every step must be what its thread really does next, and every thread must
//! really end the way it is claimed to. Then the model's `.cat` file says whether it allows the
//! execution. Last, what is said to be wrong with the execution is looked at itself (`violation`,
//! and [`evidence`](crate::evidence)).
//!
//! Memory models see the start of a thread as a write by its creator that its first step reads,
//! and its end as a write that whoever joins it reads.

mod access;
mod coherence;
mod endings;
mod endless;
pub(crate) mod objects;
mod service;
mod violation;
pub(crate) mod witness;

use parallax_control::Control;
use parallax_machine::{Chosen, Code, Operation, Site};
use parallax_memory::Model;
use parallax_program::{Bits, Location, Program, Question, Tags};

use crate::derived::Derived;
use crate::evidence::check_evidence;
use crate::finals::Finals;
use crate::judge::judge;
use crate::refusal::{Refusal, go_on};
use crate::retrace::Retraced;
use crate::traced::{Traced, Tracing};
use crate::walker::{Due, Walker};
use crate::{
    Call, Claim, Confirmed, Event, EventKind, Execution, Step, StepId, Suspicion, ThreadEnding,
};

use coherence::Orders;
use objects::Objects;

/// The execution that an engine claims, if it is one of the program and the model allows it. The
/// error says what is wrong with the claim.
pub fn rebuild(
    program: &Program,
    claim: &Claim,
    model: &Model,
) -> Result<Confirmed<Execution>, String> {
    Ok(rebuild_within(program, claim, model, &Control::default())?)
}

fn rebuild_within(
    program: &Program,
    claim: &Claim,
    model: &Model,
    control: &Control<'_>,
) -> Result<Confirmed<Execution>, Refusal> {
    let Retaken { mut execution, derived, .. } =
        retake_steps(program, claim, model, None, control)?;
    execution.model_relations = judge(&execution, &derived, model, control)?;
    Ok(Confirmed::new(execution))
}

/// The execution that an engine suspects, if it is one of the program, if the model allows it, and
/// if what is said to be wrong with it is wrong.
pub(crate) fn rebuild_violation(
    program: &Program,
    suspicion: &Suspicion,
    model: &Model,
    question: Option<&Question>,
    control: &Control<'_>,
) -> Result<Confirmed<Execution>, Refusal> {
    let wrong = Some((suspicion, question));
    let Retaken { mut execution, derived, undefined } =
        retake_steps(program, &suspicion.claim, model, wrong, control)?;
    execution.model_relations = judge(&execution, &derived, model, control)?;
    if question.is_none() {
        check_evidence(&execution, &derived, model, suspicion, control)?;
    }
    if let Some(read) = undefined {
        rebuild_within(program, &read, model, control).map_err(|refusal| match refusal {
            Refusal::Wrong(problem) => format!("the read finds something: {problem}").into(),
            limit => limit,
        })?;
    }
    Ok(Confirmed::new(execution))
}

/// The same where neither the execution is judged by the model nor what is wrong with it.
pub(crate) fn rebuild_unjudged(
    program: &Program,
    suspicion: &Suspicion,
    model: &Model,
) -> Result<Execution, Refusal> {
    retake(program, &suspicion.claim, model, Some((suspicion, None)), &Control::default())
        .map(|(execution, _)| execution)
}

/// Takes the steps of a claim, and looks whether what is wrong shows in how threads stand then, or in
/// the final state that a question asks for.
pub(crate) fn retake(
    program: &Program,
    claim: &Claim,
    model: &Model,
    wrong: Option<(&Suspicion, Option<&Question>)>,
    control: &Control<'_>,
) -> Result<(Execution, Derived), Refusal> {
    let Retaken { execution, derived, .. } = retake_steps(program, claim, model, wrong, control)?;
    Ok((execution, derived))
}

/// What the steps of a claim come to.
struct Retaken {
    execution: Execution,
    derived: Derived,
    /// Where a thread fails since it would read what nobody has written: the same with that read,
    /// which the model must allow.
    undefined: Option<Claim>,
}

fn retake_steps(
    program: &Program,
    claim: &Claim,
    model: &Model,
    wrong: Option<(&Suspicion, Option<&Question>)>,
    control: &Control<'_>,
) -> Result<Retaken, Refusal> {
    let code = Code::new(program);
    let mut rebuild = Rebuild::new(&code, claim, model)?;
    rebuild.check_size(&Orders::new())?;
    rebuild.run(control)?;
    rebuild.check_complete()?;
    rebuild.keep_promises()?;
    let standings = rebuild.standings()?;
    let orders = rebuild.coherence()?;
    let question = wrong.and_then(|(_, question)| question);
    let mut undefined = None;
    if let Some((suspicion, None)) = wrong {
        undefined = rebuild.check_violation(suspicion, &standings, &orders)?;
    }
    rebuild.check_size(&orders)?;
    go_on(control)?;
    let variables = question.map(|question| rebuild.variables(question)).transpose()?;
    let (execution, derived) = rebuild.into_execution(orders, standings);
    if let (Some(question), Some(variables)) = (question, &variables) {
        Finals { code: &code, execution: &execution, variables }.check(question)?;
    }
    Ok(Retaken { execution, derived, undefined })
}

/// Takes the steps of a claim in a program with fences that might be there. Where the threads end
/// up, and what the model says, is not looked at.
pub(crate) fn retrace(program: &Program, claim: &Claim, model: &Model) -> Result<Retraced, String> {
    let code = Code::new(program);
    let mut rebuild = Rebuild::new(&code, claim, model)?;
    rebuild.run(&Control::default())?;
    rebuild.check_complete()?;
    rebuild.keep_promises()?;
    let last = rebuild.passed_last();
    let orders = rebuild.coherence()?;
    rebuild.check_size(&orders)?;
    let passed = std::mem::take(&mut rebuild.passed);
    let (execution, derived) = rebuild.into_execution(orders, Vec::new());
    let shift = execution.events.iter().filter(|event| event.thread.is_none()).count() as u32;
    let passed = passed.into_iter().map(|(event, fence)| (event + shift, fence)).collect();
    Ok(Retraced { execution, derived, passed, last })
}

/// A claim of which some steps have been taken.
struct Rebuild<'a, 'p> {
    code: &'a Code<'p>,
    claim: &'a Claim,
    traces: bool,
    /// Whether nobody else does anything while a thread is in an atomic section.
    sections_exclude: bool,
    threads: Vec<Run<'a, 'p>>,
    /// One for each step, thread by thread; None until the step is taken.
    events: Vec<Option<Taken>>,
    /// Numbers of the events in the order in which they happened.
    schedule: Vec<u32>,
    /// For each read from a write, both.
    rf: Vec<(u32, u32)>,
    /// Reads of what was there from the start.
    initial_reads: Vec<u32>,
    /// Reads of what is only written later.
    promises: Vec<Promise>,
    objects: Objects<'p>,
    derived: Derived,
    /// The fences that might be there before an event.
    passed: Vec<(u32, u32)>,
}

/// A read of what a later step is going to write.
struct Promise {
    step: StepId,
    read: u32,
    address: u64,
    value: Bits,
}

/// A thread on its way.
struct Run<'a, 'p> {
    name: String,
    /// The number of its first event.
    first_event: u32,
    /// Steps taken so far.
    taken: u32,
    /// None for a thread that was not spawned yet.
    walker: Option<Walker<'a, 'p>>,
    /// The step that spawned it, of which its first one must know.
    spawned_by: Option<StepId>,
    has_ended: bool,
    /// Atomic sections that it is in.
    sections: u32,
    /// What was chosen for the weak compare-and-swap that it stands at: whether it fails.
    fails: Option<bool>,
}

/// What became of a step.
struct Taken {
    event: Event,
    stack: Vec<Call>,
    /// How many operations its thread had done before.
    operations: u32,
}

impl<'a, 'p> Rebuild<'a, 'p> {
    /// Calls further out are left out.
    const MOST_CALLS: usize = 64;
    const STEPS_BETWEEN_LOOKS: usize = 256;

    fn new(code: &'a Code<'p>, claim: &'a Claim, model: &Model) -> Result<Self, String> {
        let traces = model.asks_for_dependencies();
        let starts = &code.program.threads;
        if claim.threads.len() < starts.len() {
            return Err("a thread of the program is missing".to_string());
        }
        if claim.threads.len() > Program::MOST_THREADS as usize {
            return Err("there are too many threads".to_string());
        }
        let mut threads = Vec::with_capacity(claim.threads.len());
        let mut events = 0u32;
        for (number, thread) in claim.threads.iter().enumerate() {
            let start = starts.get(number);
            let walker = start.map(|start| {
                let args = start.args.iter().map(|arg| code.evaluate(arg, &[], &mut Tracing));
                let values = claim.undefined.get(number).map_or(&[][..], Vec::as_slice);
                Walker::new(code, number as u32, start.function, args.collect(), traces)
                    .with_undefined(values)
            });
            threads.push(Run {
                name: start.map_or_else(|| format!("#{number}"), |start| start.name.clone()),
                first_event: events,
                taken: 0,
                walker,
                spawned_by: None,
                has_ended: false,
                sections: 0,
                fails: None,
            });
            let steps = u32::try_from(thread.steps.len()).ok();
            let sum = steps.and_then(|steps| events.checked_add(steps));
            events = sum.filter(|sum| *sum < u32::MAX / 2).ok_or("there are too many steps")?;
        }
        Ok(Rebuild {
            code,
            claim,
            traces,
            sections_exclude: model.facts().machine.is_some(),
            threads,
            events: (0..events).map(|_| None).collect(),
            schedule: Vec::with_capacity(events as usize),
            rf: Vec::new(),
            initial_reads: Vec::new(),
            promises: Vec::new(),
            objects: Objects::new(code, &claim.unwritten),
            derived: Derived::default(),
            passed: Vec::new(),
        })
    }

    /// All steps of the claim.
    fn run(&mut self, control: &Control<'_>) -> Result<(), Refusal> {
        for (count, thread) in self.claim.schedule.iter().enumerate() {
            if count.is_multiple_of(Self::STEPS_BETWEEN_LOOKS) {
                go_on(control)?;
            }
            self.step(*thread)?;
        }
        Ok(())
    }

    /// The next step of a thread.
    fn step(&mut self, number: u32) -> Result<(), String> {
        let none = || format!("the schedule has a step of thread {number}, which there is not");
        let run = self.threads.get(number as usize).ok_or_else(none)?;
        let (index, name) = (run.taken, run.name.clone());
        let claimed = self.claim.threads.get(number as usize);
        let step = claimed.and_then(|thread| thread.steps.get(index as usize)).copied();
        let step = step.ok_or_else(|| format!("the schedule has more steps than {name} took"))?;
        let id = StepId { thread: number, index };
        self.take(id, step)
            .map_err(|problem| format!("step {index} of {name} ({step:?}): {problem}"))?;
        self.threads[number as usize].taken += 1;
        let event = self.number_of(id);
        let walker = self.threads[number as usize].walker.as_mut();
        let passed = walker.map_or_else(Vec::new, Walker::passed);
        self.passed.extend(passed.into_iter().map(|fence| (event, fence)));
        Ok(())
    }

    fn take(&mut self, id: StepId, step: Step) -> Result<(), String> {
        if let Step::Begin { by } = step {
            return self.begin(id, by);
        }
        match (step, self.due(id.thread, Some(step))?) {
            (Step::Read { source, bytes }, Due::Read { address, bytes: rest }) => {
                self.read(id, source, bytes, address, rest)
            }
            (Step::Write { bytes }, Due::Write { address, value }) => {
                self.write(id, bytes, address, value)
            }
            (Step::Write { .. }, Due::Decision) => {
                self.decide(id.thread, true)?;
                self.take(id, step)
            }
            (Step::Choice { value }, due) => self.choose(id, value, due),
            (step, Due::Operation(operation)) => self.serve(id, step, operation),
            (_, due) => Err(format!("the thread is at {}", describe(&due))),
        }
    }

    /// What a thread stands at. What needs no step is passed: sizes of objects, and, unless the
    /// next step is about that, the end of no object and a choice of one.
    fn due(&mut self, thread: u32, step: Option<Step>) -> Result<Due<'p>, String> {
        let run = &mut self.threads[thread as usize];
        if run.spawned_by.is_some() && run.taken == 0 {
            return Err("the thread has not begun".to_string());
        }
        if run.has_ended {
            return Err("the thread has ended".to_string());
        }
        let walker = run.walker.as_mut().ok_or("nobody has spawned the thread")?;
        loop {
            match walker.due() {
                Due::Operation(Operation::Choose { below }) => {
                    let is_step = matches!(step, Some(Step::Choice { .. }));
                    match Chosen::below(below.bits) {
                        Chosen::Only(value) if !is_step => walker.answer(value),
                        _ => return Ok(Due::Operation(Operation::Choose { below })),
                    }
                }
                Due::Operation(Operation::Free { address, .. })
                    if address.bits.is_zero() && step != Some(Step::Free) =>
                {
                    walker.pass();
                }
                Due::Operation(Operation::HeapSize { address }) => {
                    let Some(size) = self.objects.heap_size(address.bits.unsigned() as u64) else {
                        return Ok(Due::Operation(Operation::HeapSize { address }));
                    };
                    walker.answer(Bits::new(address.bits.width(), u128::from(size)));
                }
                due => return Ok(due),
            }
        }
    }

    fn decide(&mut self, thread: u32, succeeds: bool) -> Result<(), String> {
        match &mut self.threads[thread as usize].walker {
            Some(walker) => walker.decide(succeeds, &mut self.derived),
            None => Ok(()),
        }
    }

    /// The number of the event that a step is.
    fn event_of(&self, id: StepId) -> Option<u32> {
        let run = self.threads.get(id.thread as usize)?;
        let steps = self.claim.threads.get(id.thread as usize)?.steps.len();
        ((id.index as usize) < steps).then(|| run.first_event + id.index)
    }

    /// Number and kind of the event that an earlier step is.
    fn earlier(&self, id: StepId) -> Result<(u32, &EventKind), String> {
        let unknown = || format!("there is no step {} of thread {}", id.index, id.thread);
        let number = self.event_of(id).ok_or_else(unknown)?;
        let taken = self.events.get(number as usize).and_then(Option::as_ref);
        let too_late = || format!("step {} of thread {} comes only later", id.index, id.thread);
        Ok((number, &taken.ok_or_else(too_late)?.event.kind))
    }

    fn number_of(&self, id: StepId) -> u32 {
        self.threads[id.thread as usize].first_event + id.index
    }

    fn walker(&mut self, thread: u32) -> Result<&mut Walker<'a, 'p>, String> {
        let run = self.threads.get_mut(thread as usize);
        let walker = run.and_then(|run| run.walker.as_mut());
        walker.ok_or_else(|| format!("there is no thread {thread}"))
    }

    /// Notes what a step did, while its thread still stands at the instruction.
    fn record(&mut self, id: StepId, kind: EventKind) -> Result<(), String> {
        let walker = self.walker(id.thread)?;
        let (sites, operations) = (walker.stack().collect::<Vec<_>>(), walker.operations());
        let number = self.number_of(id);
        let (place, text) = own_line(self.code, &sites);
        let event = Event { thread: Some(id.thread), kind, tags: Tags::none(), place, text };
        let stack = self.calls(&sites);
        self.events[number as usize] = Some(Taken { event, stack, operations });
        self.schedule.push(number);
        Ok(())
    }

    fn calls(&self, sites: &[Site]) -> Vec<Call> {
        let innermost = &sites[sites.len().saturating_sub(Self::MOST_CALLS)..];
        let call = |site: &Site| Call {
            function: self.code.program.function(site.function).name.clone(),
            place: self.code.program.source.origin(self.code.span(*site)),
        };
        innermost.iter().map(call).collect()
    }

    /// The fences that might be there after the last event of a thread, by the thread's number. Only
    /// threads that have come to where they stand have gone past them: one that was stopped since
    /// another failed need not have.
    fn passed_last(&mut self) -> Vec<(u32, u32)> {
        let mut last = Vec::new();
        for (number, claimed) in (0u32..).zip(&self.claim.threads) {
            let stands = matches!(
                claimed.ending,
                ThreadEnding::Waiting | ThreadEnding::Failed | ThreadEnding::Spinning { .. }
            );
            if stands && self.due(number, None).is_ok() {
                let walker = self.threads[number as usize].walker.as_mut();
                let passed = walker.map_or_else(Vec::new, Walker::passed);
                last.extend(passed.into_iter().map(|fence| (number, fence)));
            }
        }
        last
    }

    fn check_complete(&self) -> Result<(), String> {
        for (run, claimed) in self.threads.iter().zip(&self.claim.threads) {
            if (run.taken as usize) < claimed.steps.len() {
                let (name, taken) = (&run.name, run.taken);
                return Err(format!("step {taken} of {name} is not in the schedule"));
            }
        }
        Ok(())
    }
}

/// Place and text of the line that people should look at for a stack of calls.
fn own_line(code: &Code<'_>, sites: &[Site]) -> (Option<Location>, String) {
    let Some(span) = code.own_site(sites.iter().copied()).map(|site| code.span(site)) else {
        return (None, String::new());
    };
    let source = &code.program.source;
    (Some(source.origin(span)), source.line_at(span).trim().to_string())
}

/// What a thread stands at.
fn describe(due: &Due<'_>) -> String {
    match due {
        Due::Read { address, bytes } => format!("a read of {bytes} bytes at {address:#x}"),
        Due::Write { address, value } => {
            format!("a write of {} bytes at {address:#x}", value.width() / 8)
        }
        Due::Decision => "a store-conditional".to_string(),
        Due::Operation(operation) => describe_operation(operation).to_string(),
    }
}

fn describe_operation(operation: &Operation<'_, Traced>) -> &'static str {
    match operation {
        Operation::Fence { .. } => "a fence",
        Operation::Spawn { .. } => "the start of a thread",
        Operation::Join { .. } => "a join",
        Operation::Wait { .. } => "a false wait",
        Operation::Alloc { .. } => "an allocation",
        Operation::Free { .. } => "a free",
        Operation::HeapSize { .. } => "the size of an object",
        Operation::Assume { .. } => "a false assumption",
        Operation::Assert { .. } => "a false assertion",
        Operation::Nondet { .. } | Operation::Choose { .. } => "a choice",
        Operation::AtomicBegin => "the begin of an atomic section",
        Operation::AtomicEnd => "the end of an atomic section",
        Operation::End => "its end",
        Operation::Cut | Operation::Spin { .. } => "a loop without end",
        Operation::Fault(_) => "what it cannot do",
        Operation::Branch { .. } => "a branch that nothing decides",
        _ => "an access",
    }
}

/// What is written and read where the life of a thread shows.
fn life_value() -> Bits {
    Bits::new(64, 1)
}
