//! Why there is no answer, or not even a question.

use parallax_machine::{Code, Fault, Site};
use parallax_memory::INTERLEAVING;
use parallax_program::{Diagnostic, Diagnostics, Help, Program, Setting, Span};
use parallax_solver::{Stop as Stopped, Terms};
use parallax_verdict::Reason;

use crate::event::Event;
use crate::gharachorloo::first_part;
use crate::options::{Framework, Options};
use crate::structure::Structure;
use crate::unfold::Stop;

/// An error that names no place is one of the whole program.
pub fn located(program: &Program, mut error: Diagnostic) -> Diagnostics {
    error.location.get_or_insert_with(|| program.source.location(Span::new(0, 0)));
    vec![error]
}

pub fn reason(message: impl Into<String>) -> Reason {
    Reason { message: message.into(), place: None, help: None }
}

/// What an error says is beyond the engine.
pub fn as_reason(error: Diagnostic) -> Reason {
    Reason { message: error.message, place: error.location, help: error.help }
}

/// The search was stopped from outside.
pub fn stopped(stop: Stopped) -> Reason {
    match stop {
        Stopped::Outside(stop) => parallax_verdict::stopped(stop),
        Stopped::Incomplete => reason("the solver gave up"),
    }
}

/// A way comes to what the engine does not follow.
pub fn unsupported(stop: &Stop, what: &str, code: &Code<'_>) -> Reason {
    Reason {
        message: format!("{what}: not supported by the bounded engine"),
        place: stop.site.map(|site| code.program.source.location(code.span(site))),
        help: Fault::help_with(what),
    }
}

/// A value that nobody has given comes back from memory.
pub fn open_value(site: Option<Site>, code: &Code<'_>) -> Reason {
    Reason {
        message: "a value that was given to no variable and is read from memory: not supported by \
                  the bounded engine"
            .to_string(),
        place: site.map(|site| code.program.source.location(code.span(site))),
        help: None,
    }
}

/// An access may fall into an atomic section, and the model does not keep it out.
pub fn intrusion(access: &Event, code: &Code<'_>) -> Reason {
    Reason {
        message:
            "an access that may fall into an atomic section: not supported by the bounded engine \
                  under this model"
                .to_string(),
        place: access.site.map(|site| code.program.source.location(code.span(site))),
        help: Some(Help::with(Setting::Model, INTERLEAVING, "keeps it out")),
    }
}

/// What of a program is beyond the way in which it is asked about, if something is.
pub fn beyond(
    options: &Options<'_>,
    structure: &Structure,
    terms: &Terms,
    code: &Code<'_>,
) -> Option<Reason> {
    let by_parts = options.framework == Framework::Gharachorloo;
    if let Some(part) = first_part(structure).filter(|_| by_parts) {
        let site = structure.events[part].site;
        return Some(Reason {
            message: "an access of which others use a part: the framework 'gharachorloo' knows \
                      whole accesses only"
                .to_string(),
            place: site.map(|site| code.program.source.location(code.span(site))),
            help: None,
        });
    }
    let too_large = options.solving.integers && terms.has_large_integers();
    too_large.then(|| reason("numbers become too large to be followed as integers"))
}
