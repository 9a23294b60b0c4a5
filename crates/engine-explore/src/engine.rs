//! Exploration as one engine among others.

use std::any::TypeId;
use std::sync::Arc;

use parallax_control::{Control, Link};
use parallax_memory::Model;
use parallax_program::{Diagnostic, Diagnostics, Help, Setting};
use parallax_query::{Answer, Engine, Extension, Query, Reductions, Wanted};

use crate::checkpoint::Checkpoint;
use crate::options::Options;
use crate::{admission, explore, serve};

/// All execution graphs, each once.
pub struct Explore;

/// Other processes that search with this one.
pub struct Company {
    pub link: Arc<dyn Link + Send>,
}

impl Extension for Company {
    fn settings(&self) -> Vec<Setting> {
        vec![Setting::Cluster]
    }
}

/// Takes part in the search of the process that leads. Says who was lost, if somebody was.
pub fn take_part(query: &Query<'_>, control: &Control<'_>) -> Result<Option<String>, Diagnostics> {
    match &query.subject.program {
        Some(program) => serve(program, &query.model, &options(query, control)),
        None => Err(Explore.admits(query).err().into_iter().collect()),
    }
}

/// Whether a model can be used. The error says why not.
pub fn can_explore(model: &Model) -> Result<(), Diagnostic> {
    match model.facts().native {
        Some(_) => Ok(()),
        None => admission::admit(model).map(|_| ()),
    }
}

impl Engine for Explore {
    fn name(&self) -> &'static str {
        "explore"
    }

    fn summary(&self) -> &'static str {
        "execution graphs, each once"
    }

    fn admits(&self, query: &Query<'_>) -> Result<(), Diagnostic> {
        if query.subject.program.is_none() {
            let message = "the final condition of a litmus test needs its own engine";
            let help = Help::TryEngines(vec!["states", "bounded"]);
            return Err(Diagnostic::new(message).with_help(help));
        }
        if query.subject.has_reservations() {
            let message = "this engine knows no load-linked and store-conditional";
            return Err(Diagnostic::new(message)
                .with_help(Help::LeaveOut(vec![Setting::Engine, Setting::Witness])));
        }
        can_explore(&query.model)
    }

    fn extensions(&self) -> Vec<TypeId> {
        vec![TypeId::of::<Reductions>(), TypeId::of::<Checkpoint>(), TypeId::of::<Company>()]
    }

    fn reports_every(&self) -> bool {
        true
    }

    fn run(&self, query: &Query<'_>, control: &Control<'_>) -> Result<Answer, Diagnostics> {
        let Some(program) = &query.subject.program else {
            return Err(self.admits(query).err().into_iter().collect());
        };
        let options = options(query, control);
        let verdict = explore(program, &query.model, &options)?;
        Ok(Answer { all: query.goes_on(), ..Answer::new(verdict, self.name()) })
    }
}

/// What a query says to this engine.
fn options<'a>(query: &'a Query<'a>, control: &Control<'a>) -> Options<'a> {
    Options {
        properties: query.properties.clone(),
        unroll: query.unroll,
        reductions: query.extensions.get().copied().unwrap_or(Reductions::ALL),
        all: query.goes_on(),
        nondet: query.nondet,
        estimate: control.progress.is_some(),
        control: control.clone(),
        every: match query.wanted {
            Wanted::Every(every) => Some(every),
            Wanted::First | Wanted::All => None,
        },
        checkpoint: query.extensions.get::<Checkpoint>(),
        link: query.extensions.get::<Company>().map(|company| -> &dyn Link { &*company.link }),
    }
}
