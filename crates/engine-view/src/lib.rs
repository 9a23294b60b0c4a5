//! Executions as views: two are the same if the same reads have the same values, whichever writes gave them.
//!
//! What threads do, and whether assertions hold, depends on the values that were read and on nothing else. So one
//! execution of each class tells all, and programs with millions of execution graphs often have a handful of
//! classes (S. Singh, Program analysis under relaxed memory concurrency, IIT Delhi 2023, chapter 4). There the
//! classes are found by schedules that are made from one another; no such scheme is known that finds each class, and
//! finds it once. Here a solver is asked for an execution, and for another one in which some read has another value, until there
//! is none: each class that has an execution is found, each once, under any model that has a formula.
//!
//! Whether something is wrong is asked before that, of all executions at once, by the [bounded
//! engine](parallax_engine_bounded): views do not tell apart who races with whom.

use parallax_control::Control;
use parallax_engine_bounded::{Bounded, with_views};
use parallax_program::{Diagnostic, Diagnostics, Help, Setting};
use parallax_query::{Answer, Engine, Query};
use parallax_verdict::{Conclusion, Reason};

/// Classes of executions by the values of reads.
pub struct View;

impl Engine for View {
    fn name(&self) -> &'static str {
        "view"
    }

    fn admits(&self, query: &Query<'_>) -> Result<(), Diagnostic> {
        if query.subject.program.is_none() {
            return Err(Diagnostic::new("the engine 'view' is not for litmus tests"));
        }
        Bounded.admits(query)
    }

    fn run(&self, query: &Query<'_>, control: &Control<'_>) -> Result<Answer, Diagnostics> {
        self.admits(query).map_err(|error| vec![error])?;
        let (mut answer, views) = with_views(query, control)?;
        answer.engine = self.name();
        let Some(views) = views else {
            if answer.verdict.conclusion() == Conclusion::Safe {
                let message =
                    "classes of executions were not counted: loops go on beyond the bound";
                let help = Help::with(Setting::Unroll, "N", "counts those within a bound");
                let (message, help) = (message.to_string(), Some(help));
                answer.verdict = answer.verdict.withdrawn(Reason { message, place: None, help });
            }
            return Ok(answer);
        };
        answer.verdict.counts.executions = views.found;
        answer
            .verdict
            .notes
            .push("executions in which all reads have the same values count as one".to_string());
        if !views.are_all {
            let message =
                format!("not all classes of executions were counted: {} so far", views.found);
            let help = Help::with(Setting::Engine, "bounded", "answers without counting them");
            answer.verdict =
                answer.verdict.withdrawn(Reason { message, place: None, help: Some(help) });
        }
        Ok(answer)
    }
}
