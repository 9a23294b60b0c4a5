//! From a program to its repair: looks for decisions, searches, writes the texts, and checks that
//! what was written is what was verified.

use parallax_program::{Diagnostic, Diagnostics, Help, Location, Program, Setting};
use parallax_verdict::{Conclusion, Event, Reason, Scope, Violation};

use crate::cover::Objective;
use crate::decision::Plan;
use crate::marked::apply;
use crate::prepare::{Load, Means, Prepared, Repair, prepare, unmarked};
use crate::rewrite::Change;
use crate::same::is_same_program;
use crate::source::Document;
use crate::suspect::{Suspect, shown_without_insertions};
use crate::synthesis::{Collecting, Compile, Ending, Engine, Task, synthesize};

/// What is asked for.
pub struct Job<'a> {
    pub documents: Vec<Document>,
    pub means: Means<'a>,
    pub objective: Objective,
    pub collecting: Collecting,
    /// Whether to check that no weaker change would do.
    pub check: bool,
}

/// Whom to ask.
pub struct Helpers<'a> {
    pub load: &'a Load<'a>,
    pub engine: &'a mut dyn Engine,
    /// What a machine runs of the program, where the engine looks at that.
    pub compile: Option<&'a Compile<'a>>,
    /// An engine under sequential consistency.
    pub interleaving: &'a mut dyn Engine,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    Fixed,
    AlreadySafe,
    Unfixable,
    Unknown,
}

impl Outcome {
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Fixed => "fixed",
            Outcome::AlreadySafe => "already-safe",
            Outcome::Unfixable => "unfixable",
            Outcome::Unknown => "unknown",
        }
    }
}

/// The repair of a program, or why there is none.
pub struct Repaired {
    pub outcome: Outcome,
    pub scope: Option<Scope>,
    pub changes: Vec<Explained>,
    /// Names, old texts and new texts of the files that change.
    pub files: Vec<(String, String, String)>,
    /// Why there is no answer, or why the changes are not confirmed.
    pub reason: Option<Reason>,
    /// What no change helps against.
    pub violation: Option<Violation>,
    /// Whether that happens under sequential consistency as well.
    pub is_plain_bug: bool,
    /// Fences that were inserted, or kept, and weight of all changes.
    pub cost: (u64, u64),
    pub traces: usize,
    pub iterations: u64,
    pub demands: usize,
    pub candidates: usize,
    /// Changes that turned out not to be needed, which should not be.
    pub needless: Vec<Change>,
    /// Files with accesses that nothing was changed in.
    pub untouched: Vec<String>,
    /// Accesses whose orders could not be changed.
    pub unwritten: Vec<Location>,
}

/// A change, and a bad execution that is there without it.
pub struct Explained {
    pub change: Change,
    pub without: Option<Violation>,
}

pub fn repair(job: Job<'_>, helpers: &mut Helpers<'_>) -> Result<Repaired, Diagnostics> {
    let Job { documents, means, objective, collecting, check } = job;
    let prepared = prepare(documents, &means, helpers.load)?;
    let mut repaired = Repaired::new(&prepared);
    if means.repair == Repair::Relax && !repaired.is_right(&prepared, helpers)? {
        return Ok(repaired);
    }
    let task = Task {
        marked: &prepared.marked,
        decisions: &prepared.decisions,
        model: means.model,
        compile: helpers.compile,
        objective,
        collecting,
    };
    let synthesis = synthesize(&task, helpers.engine)?;
    repaired.traces = synthesis.traces;
    repaired.iterations += synthesis.iterations;
    repaired.demands = synthesis.demands;
    let mut suspects = synthesis.suspects;
    match synthesis.ending {
        Ending::Safe { plan, scope } => {
            repaired.scope = scope;
            repaired.take(&prepared, &plan, &mut suspects)?;
            let changed = !repaired.changes.is_empty();
            repaired.outcome = if changed { Outcome::Fixed } else { Outcome::AlreadySafe };
            if changed {
                repaired.confirm(&prepared, &plan, helpers)?;
            }
            if check {
                repaired.check(&prepared, &plan, helpers.engine)?;
            }
        }
        Ending::Unknown { plan, reason } => {
            repaired.take(&prepared, &plan, &mut suspects)?;
            repaired.reason = Some(reason);
        }
        Ending::Hopeless { violation } => {
            repaired.give_up(&task, &prepared.plain, violation.map(|it| *it), helpers)?;
            if means.repair == Repair::Fences && !repaired.is_plain_bug {
                let shared = repaired.violation.as_ref().and_then(place_of_several);
                let message = match &shared {
                    None => "no fence forbids this execution".to_string(),
                    Some(place) => format!(
                        "no fence that can be written forbids this execution: the accesses at \
                         {place} are in one expression or macro, and nothing fits between them"
                    ),
                };
                repaired.reason = Some(Reason {
                    message,
                    place: shared,
                    help: Some(Help::with(
                        Setting::Repair,
                        "both",
                        "strengthens accesses too, where it can",
                    )),
                });
            }
        }
    }
    Ok(repaired)
}

/// Where a thread makes several accesses at one place in the source, so that nothing can be put
/// between them.
fn place_of_several(violation: &Violation) -> Option<Location> {
    let is_access = |event: &&Event| {
        event.thread.is_some() && event.kind.footprint().is_some() && event.kind.life().is_none()
    };
    let accesses: Vec<&Event> = violation.execution.events.iter().filter(is_access).collect();
    let same = accesses.windows(2).find(|pair| {
        let is_one = pair[0].kind.footprint() == pair[1].kind.footprint();
        pair[0].thread == pair[1].thread && pair[0].place == pair[1].place && !is_one
    });
    same.and_then(|pair| pair[0].place.clone())
}

impl Repaired {
    fn new(prepared: &Prepared) -> Repaired {
        Repaired {
            outcome: Outcome::Unknown,
            scope: None,
            changes: Vec::new(),
            files: Vec::new(),
            reason: None,
            violation: None,
            is_plain_bug: false,
            cost: (0, 0),
            traces: 0,
            iterations: 0,
            demands: 0,
            candidates: prepared.decisions.0.len(),
            needless: Vec::new(),
            untouched: prepared.untouched.clone(),
            unwritten: prepared.unwritten.clone(),
        }
    }

    /// Only programs that are right can be relaxed.
    fn is_right(
        &mut self,
        prepared: &Prepared,
        helpers: &mut Helpers<'_>,
    ) -> Result<bool, Diagnostics> {
        let verdict = helpers.engine.search(&prepared.plain, 1)?;
        self.iterations += 1;
        let conclusion = verdict.conclusion();
        self.reason = verdict.reason;
        if conclusion == Conclusion::Unsafe {
            self.violation = verdict.violations.into_iter().next();
            self.reason = Some(Reason {
                message: "the program is not correct as it stands".to_string(),
                place: None,
                help: Some(Help::Without { setting: Setting::Relax, effect: "it is repaired" }),
            });
        }
        Ok(conclusion == Conclusion::Safe)
    }

    /// Notes what a plan changes, and why.
    fn take(
        &mut self,
        prepared: &Prepared,
        plan: &Plan,
        suspects: &mut [Suspect<'_>],
    ) -> Result<(), Diagnostics> {
        self.cost = prepared.decisions.cost(plan);
        for change in prepared.changes(plan) {
            let mut without = plan.clone();
            let weakest = prepared.decisions.weakest();
            without.0[change.decision] = weakest.0[change.decision];
            let mut reason = None;
            for suspect in suspects.iter_mut() {
                let survives = suspect.survives(&prepared.decisions, &without);
                if survives.map_err(|why| vec![Diagnostic::new(why)])? {
                    // One that the replayer refuses is shown to nobody.
                    reason = suspect.confirmed().ok();
                    break;
                }
            }
            self.changes.push(Explained { change, without: reason });
        }
        let texts = prepared.texts(plan);
        let files = prepared.documents.iter().zip(texts);
        let files = files.filter(|(document, text)| document.text != *text);
        self.files = files.map(|(old, new)| (old.name.clone(), old.text.clone(), new)).collect();
        Ok(())
    }

    /// Reads the new texts. They must be the program that was verified, instruction by instruction;
    /// if they are another one, that is verified too.
    fn confirm(
        &mut self,
        prepared: &Prepared,
        plan: &Plan,
        helpers: &mut Helpers<'_>,
    ) -> Result<(), Diagnostics> {
        let written = (helpers.load)(&prepared.texts(plan))?;
        if is_same_program(&written, &verified(prepared, plan)) {
            return Ok(());
        }
        self.iterations += 1;
        let verdict = helpers.engine.search(&written, 1)?;
        if verdict.conclusion() == Conclusion::Safe {
            return Ok(());
        }
        self.outcome = Outcome::Unknown;
        self.reason = Some(Reason {
            message: "the changes, as they are written, do not have the effect they should"
                .to_string(),
            place: None,
            help: Some("this is a bug in parallax; please report it with the program".into()),
        });
        Ok(())
    }

    /// Each change is needed: without it, or with a weaker one, the program is wrong again.
    fn check(
        &mut self,
        prepared: &Prepared,
        plan: &Plan,
        engine: &mut dyn Engine,
    ) -> Result<(), Diagnostics> {
        let decisions = &prepared.decisions;
        let changes: Vec<Change> = self.changes.iter().map(|e| e.change.clone()).collect();
        for change in changes {
            let options = &decisions.0[change.decision].options;
            let chosen = &options[usize::from(plan.0[change.decision])];
            for (option, weaker) in options.iter().enumerate() {
                if weaker == chosen || !weaker.is_at_most(chosen) {
                    continue;
                }
                let mut weakened = plan.clone();
                weakened.0[change.decision] = option as u8;
                let program = apply(&prepared.marked, decisions, &weakened);
                self.iterations += 1;
                if engine.search(&program, 1)?.conclusion() == Conclusion::Safe {
                    self.needless.push(change.clone());
                }
            }
        }
        Ok(())
    }

    /// No plan helps: with everything as strong as can be the program is still wrong, and maybe even
    /// under sequential consistency.
    fn give_up(
        &mut self,
        task: &Task<'_>,
        plain: &Program,
        violation: Option<Violation>,
        helpers: &mut Helpers<'_>,
    ) -> Result<(), Diagnostics> {
        let strongest = task.decisions.strongest();
        self.iterations += 2;
        let program = apply(task.marked, task.decisions, &strongest);
        let verdict = helpers.engine.search(&program, 1)?;
        if verdict.conclusion() == Conclusion::Safe {
            let message = "internal error: no plan helps, but the strongest one does";
            return Err(vec![Diagnostic::new(message)]);
        }
        self.outcome = Outcome::Unfixable;
        let found = verdict.violations.into_iter().next();
        let found = found.and_then(|it| shown_without_insertions(task, it, &strongest).ok());
        self.violation = found.or(violation);
        let under_sc = helpers.interleaving.search(plain, 1)?;
        if let Some(plain) = under_sc.violations.into_iter().next() {
            self.is_plain_bug = true;
            self.violation = Some(plain);
        }
        Ok(())
    }
}

/// The program that was explored under a plan.
fn verified(prepared: &Prepared, plan: &Plan) -> Program {
    unmarked(apply(&prepared.marked, &prepared.decisions, plan))
}
