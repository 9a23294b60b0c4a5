//! How much there is to explore, before anyone waits for it.

use parallax_control::Control;
use parallax_engine_explore::{Estimate, Explore, Options, estimate};
use parallax_program::{Diagnostic, Diagnostics, Help, Setting};
use parallax_query::{Engine, Reductions};

use crate::registry::Choice;
use crate::request::Prepared;

impl Prepared {
    /// How many executions exploration would look at, and how long it would take. None where there is
    /// nothing to go by.
    pub fn estimate(&self, control: &Control<'_>) -> Result<Option<Estimate>, Diagnostics> {
        let query = self.query();
        if let Choice::Named(name) = self.request.engine
            && name != Explore.name()
        {
            let error = Diagnostic::new(format!("the work of '{name}' cannot be estimated"));
            return Err(vec![error.with_help(Help::LeaveOut(vec![Setting::Engine]))]);
        }
        Explore.admits(&query).map_err(|error| vec![error])?;
        let Some(program) = &query.subject.program else {
            return Ok(None);
        };
        let options = Options {
            unroll: query.unroll,
            nondet: query.nondet,
            reductions: query.extensions.get().copied().unwrap_or(Reductions::ALL),
            control: control.clone(),
            ..Options::default()
        };
        estimate(program, &query.model, &options)
    }
}
