//! The search for the cheapest repair, by what bad executions demand of it.
//!
//! The published way (S. Singh, D. Sharma, I. Jaju, S. Sharma, Fence Synthesis Under the C11 Memory
//! Model, ATVA 2022) lists, for each bad execution, the sets of fences that forbid it, one for each
//! cycle of events, and then chooses among the sets. There may be millions of cycles. Here the
//! question is turned round (E. Moreno-Centeno and R. M. Karp, The implicit hitting set approach to
//! solve combinatorial optimization problems, Operations Research 61(2), 2013):
//!
//! 1. Find the cheapest plan that meets all demands known so far.
//! 2. If some bad execution that we know survives the plan, make the plan stronger place by place
//!    as long as the execution still survives. Of the plan that comes out, say L, every plan that
//!    kills the execution has at some place an option that is not at most L's. That is a new demand.
//! 3. Otherwise explore the program under the plan. If it is right, the plan is the answer. If
//!    not, there is another bad execution.
//!
//! Every bad execution can also be looked at first ([`Collecting::All`]). They come one after the
//! other from one exploration of the program as it is, and only those are kept that teach something:
//! that survive the cheapest plan of the moment.
//!
//! # Why the answer is right, and the cheapest
//!
//! It is right since the program was explored under it. It is the cheapest since each demand is
//! met by every plan P that makes the program right. Suppose P does not meet the demand that came
//! from an execution and L. Then P is at most as strong as L, everywhere. The execution survives L,
//! and fewer fences forbid less, so it survives P: it is an execution of the program under P, and bad.
//! So the plans that make the program right are among those that meet the demands, and the one
//! that we have is the cheapest of these.
//!
//! It ends: each demand rules out the plan that it was found with, and there are finitely many plans.
//! If some demand cannot be met at all, L is the strongest plan, and no plan kills the execution.
//!
//! Both proofs need that the model is monotone: what it forbids, it forbids with more or stronger
//! fences as well. Models that are built from unions, compositions and closures of relations are.
//! `c11` is not where programs have accesses that are not atomic, since these must read what is
//! *visible*; there the answer is still right, but need not be the cheapest.

use parallax_memory::Model;
use parallax_program::{Diagnostic, Diagnostics, Program};
use parallax_verdict::{Claimed, Conclusion, Reason, Scope, Verdict, Violation};

use crate::cover::{Demand, Objective, cheapest};
use crate::decision::{Decisions, Plan};
use crate::marked::apply;
use crate::suspect::Suspect;

/// Finds out whether programs are right.
pub trait Engine {
    /// Up to so many violations of a program, if there are any.
    fn search(&mut self, program: &Program, most: usize) -> Result<Verdict, Diagnostics>;

    /// Every bad execution of a program, one after the other, until `take` says that it is enough.
    /// Whether the model allows them is for the taker to ask. The verdict has some of them.
    fn every(&mut self, program: &Program, take: &mut Take<'_>) -> Result<Verdict, Diagnostics> {
        let verdict = self.search(program, usize::MAX)?;
        verdict.violations.iter().all(|violation| take(violation.clone().into_claimed()));
        Ok(verdict)
    }
}

/// Takes a bad execution, and says whether to go on.
pub type Take<'a> = dyn FnMut(Claimed) -> bool + Send + 'a;

/// Makes what a machine runs of a program in a language for many machines.
pub type Compile<'a> = dyn Fn(&Program) -> Result<Program, Diagnostics> + Sync + 'a;

/// Which bad executions are looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Collecting {
    /// One of the program under each plan that is tried.
    #[default]
    OneByOne,
    /// All of the program as it is, until many in a row teach nothing, and then, should there be
    /// others, one by one.
    All,
}

/// What to repair, and how.
#[derive(Clone, Copy)]
pub struct Task<'a> {
    /// With a mark for each decision.
    pub marked: &'a Program,
    pub decisions: &'a Decisions,
    pub model: &'a Model,
    /// Bad executions are executions of what comes out of this, where there is one.
    pub compile: Option<&'a Compile<'a>>,
    pub objective: Objective,
    pub collecting: Collecting,
}

/// What came out.
pub struct Synthesis<'m> {
    pub ending: Ending,
    /// The bad executions that taught something.
    pub suspects: Vec<Suspect<'m>>,
    /// How many were looked at.
    pub traces: usize,
    /// How often the program was explored.
    pub iterations: u64,
    /// How many demands there were.
    pub demands: usize,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Ending {
    /// The program under the plan is right, as far as that was found out.
    Safe { plan: Plan, scope: Option<Scope> },
    /// This is there under every plan.
    Hopeless { violation: Option<Box<Violation>> },
    /// All bad executions that were found are gone under the plan, but there may be others.
    Unknown { plan: Plan, reason: Reason },
}

/// Searches for the cheapest plan that makes the program right.
pub fn synthesize<'m>(
    task: &Task<'m>,
    engine: &mut dyn Engine,
) -> Result<Synthesis<'m>, Diagnostics> {
    let mut search =
        Search { task, suspects: Vec::new(), demands: Vec::new(), traces: 0, iterations: 0 };
    let ending = search.run(engine)?;
    let Search { suspects, demands, traces, iterations, .. } = search;
    Ok(Synthesis { ending, suspects, traces, iterations, demands: demands.len() })
}

/// So many bad executions in a row may teach nothing.
const MOST_USELESS: usize = 2_000;

struct Search<'t, 'm> {
    task: &'t Task<'m>,
    suspects: Vec<Suspect<'m>>,
    demands: Vec<Demand>,
    traces: usize,
    iterations: u64,
}

impl<'m> Search<'_, 'm> {
    fn run(&mut self, engine: &mut dyn Engine) -> Result<Ending, Diagnostics> {
        let Task { marked, decisions, collecting, .. } = *self.task;
        let mut settled = self.settle()?;
        let nothing_helps = decisions.0.is_empty();
        let mut is_new = collecting == Collecting::All && !nothing_helps;
        loop {
            let plan = match settled {
                Settled::Plan(plan) => plan,
                Settled::Hopeless(violation) => return Ok(Ending::Hopeless { violation }),
            };
            self.iterations += 1;
            let program = apply(marked, decisions, &plan);
            let known = self.suspects.len();
            let mut verdict = match std::mem::take(&mut is_new) {
                true => self.collect(&program, &plan, engine)?,
                false => engine.search(&program, 1)?,
            };
            if nothing_helps && let Some(violation) = verdict.violations.pop() {
                self.traces += 1;
                return Ok(Ending::Hopeless { violation: Some(Box::new(violation)) });
            }
            match verdict.conclusion() {
                Conclusion::Safe => return Ok(Ending::Safe { plan, scope: verdict.scope }),
                Conclusion::Unknown => {
                    let unknown = || Reason { message: "unknown".into(), place: None, help: None };
                    let reason = verdict.reason.unwrap_or_else(unknown);
                    return Ok(Ending::Unknown { plan, reason });
                }
                Conclusion::Unsafe if self.suspects.len() == known => {
                    self.add(verdict.violations, &plan)?;
                }
                Conclusion::Unsafe => {}
            }
            settled = self.settle()?;
        }
    }

    /// The cheapest plan that no bad execution survives that is known.
    fn settle(&mut self) -> Result<Settled, Diagnostics> {
        let Task { decisions, objective, .. } = *self.task;
        loop {
            let plan = cheapest(decisions, &self.demands, objective);
            let plan = plan.ok_or_else(|| vec![internal("no plan meets all demands")])?;
            match self.learn(&plan)? {
                None => return Ok(Settled::Plan(plan)),
                Some(Learnt::Demand(demand)) => self.demands.push(demand),
                Some(Learnt::Hopeless(suspect)) => {
                    let violation = self.suspects[suspect].confirmed();
                    return Ok(Settled::Hopeless(violation.ok().map(Box::new)));
                }
            }
        }
    }

    /// What a bad execution that survives the plan teaches, if one does.
    fn learn(&mut self, plan: &Plan) -> Result<Option<Learnt>, Diagnostics> {
        let decisions = self.task.decisions;
        // The newest are the likeliest.
        for (number, suspect) in self.suspects.iter_mut().enumerate().rev() {
            if !suspect.survives(decisions, plan).map_err(bug)? {
                continue;
            }
            let largest = suspect.largest(decisions, plan).map_err(bug)?;
            let demand = Demand::beyond(decisions, &largest);
            return Ok(Some(match demand.0.is_empty() {
                true => Learnt::Hopeless(number),
                false => Learnt::Demand(demand),
            }));
        }
        Ok(None)
    }

    /// New bad executions of the program under a plan, which they must survive.
    fn add(&mut self, violations: Vec<Violation>, plan: &Plan) -> Result<(), Diagnostics> {
        let mut survivors = 0;
        for violation in violations {
            self.traces += 1;
            let mut suspect =
                Suspect::new(self.task, violation.into_claimed(), plan).map_err(not_retraced)?;
            survivors += usize::from(suspect.survives(self.task.decisions, plan).map_err(bug)?);
            self.suspects.push(suspect);
        }
        match survivors {
            0 => Err(vec![internal("an execution is allowed and forbidden at once")]),
            _ => Ok(()),
        }
    }

    /// Looks at every bad execution of the program under a plan, until too many teach nothing: those
    /// that are left and survive are found by the search under the cheapest plan.
    fn collect(
        &mut self,
        program: &Program,
        explored: &Plan,
        engine: &mut dyn Engine,
    ) -> Result<Verdict, Diagnostics> {
        let mut best = Ok(Settled::Plan(explored.clone()));
        let mut useless = 0;
        let verdict = engine.every(program, &mut |violation| {
            useless += 1;
            if let Ok(Settled::Plan(plan)) = &best
                && let Some(better) = self.consider(violation, explored, plan).transpose()
            {
                (best, useless) = (better, 0);
            }
            matches!(best, Ok(Settled::Plan(_))) && useless < MOST_USELESS
        })?;
        best.map(|_| verdict)
    }

    /// Looks at one more bad execution, of the program under the plan `explored`. If it survives the
    /// cheapest plan so far, there is another one.
    fn consider(
        &mut self,
        violation: Claimed,
        explored: &Plan,
        plan: &Plan,
    ) -> Result<Option<Settled>, Diagnostics> {
        self.traces += 1;
        let mut suspect = Suspect::new(self.task, violation, explored).map_err(not_retraced)?;
        if !suspect.survives(self.task.decisions, plan).map_err(bug)? {
            return Ok(None);
        }
        self.suspects.push(suspect);
        self.settle().map(Some)
    }
}

/// How far the demands lead.
enum Settled {
    Plan(Plan),
    /// This is there under every plan.
    Hopeless(Option<Box<Violation>>),
}

enum Learnt {
    Demand(Demand),
    /// The suspect of that number survives everything.
    Hopeless(usize),
}

fn internal(why: &str) -> Diagnostic {
    Diagnostic::new(format!("internal error while placing fences: {why}"))
        .with_help("this is a bug in parallax; please report it with the program")
}

fn bug(why: String) -> Diagnostics {
    vec![internal(&why)]
}

fn not_retraced(why: String) -> Diagnostics {
    bug(format!("an execution cannot be followed where fences might be: {why}"))
}
