//! Models that give programs with data races no meaning.
//!
//! C11 as Batty et al. have it (POPL 2011) lets a plain read find only what happens before it. A
//! read that races has no execution, and with it goes all that would follow. So whatever holds of
//! the executions of such a program is no answer: without a race it counts, with one it does not.

use parallax_memory::{Language, Model};
use parallax_program::{Diagnostics, Help, Program, Property, Setting};
use parallax_verdict::{Conclusion, Reason, Verdict};

use crate::options::Options;
use crate::program::verify;

/// The verdict, unless it stands on executions that say nothing about the program.
pub fn meaningful(
    verdict: Verdict,
    program: &Program,
    model: &Model,
    options: &Options<'_>,
) -> Result<Verdict, Diagnostics> {
    let is_open = verdict.conclusion() == Conclusion::Safe
        && !options.properties.contains(&Property::Race)
        && model.leaves_out_racing_reads();
    if !is_open {
        return Ok(verdict);
    }
    let races = Options { properties: vec![Property::Race], ..options.clone() };
    let races = verify(program, model, &races)?.verdict;
    if races.conclusion() == Conclusion::Safe {
        return Ok(verdict);
    }
    let place = match races.violations.first() {
        Some(race) => race.place.clone(),
        None => races.reason.and_then(|reason| reason.place),
    };
    let (name, usual) = (model.name(), Language::C.usual_model());
    Ok(verdict.withdrawn(Reason {
        message: format!(
            "'{name}' gives a program with data races no meaning, and there may be one"
        ),
        place,
        help: Some(
            Help::with(Setting::Property, Property::Race.name(), "would show it").and(Help::with(
                Setting::Model,
                usual,
                "says what racing accesses do",
            )),
        ),
    }))
}
