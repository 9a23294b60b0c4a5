//! Why the replayer does not confirm an execution: it is none of the program, it is too large, or
//! there is no time or memory left to look at it.

use parallax_control::{Control, Stop};

use crate::{Reason, Suspicion, stopped};

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Refusal {
    /// What is wrong with the claim.
    Wrong(String),
    Stopped(Stop),
    /// So many events, which are ordered with one another in too many pairs.
    Large(usize),
}

impl Refusal {
    /// Of something that seems to be wrong.
    pub(crate) fn reason(self, suspicion: &Suspicion) -> Reason {
        let Suspicion { property, message, .. } = suspicion;
        let seems = format!("an execution that seems to violate '{property}' ({message})");
        match self {
            Refusal::Wrong(refusal) => Reason {
                message: format!("{seems} could not be replayed: {refusal}"),
                place: None,
                help: Some("this is an error of the engine: please report it".into()),
            },
            Refusal::Stopped(stop) => Reason {
                message: format!("{seems} was not replayed: {}", stopped(stop).message),
                ..stopped(stop)
            },
            Refusal::Large(events) => Reason {
                message: format!(
                    "{seems} was not replayed: {events} events are too many to be judged by the model"
                ),
                place: None,
                help: Some("the same may be wrong after fewer rounds of a loop".into()),
            },
        }
    }
}

/// For whoever asks for the text alone.
impl From<Refusal> for String {
    fn from(refusal: Refusal) -> String {
        match refusal {
            Refusal::Wrong(problem) => problem,
            Refusal::Stopped(stop) => stopped(stop).message,
            Refusal::Large(events) => format!("{events} events are too many"),
        }
    }
}

impl From<String> for Refusal {
    fn from(problem: String) -> Refusal {
        Refusal::Wrong(problem)
    }
}

impl From<&str> for Refusal {
    fn from(problem: &str) -> Refusal {
        Refusal::Wrong(problem.to_string())
    }
}

/// Looks at the limits now.
pub(crate) fn go_on(control: &Control<'_>) -> Result<(), Refusal> {
    control.reason().map_or(Ok(()), |stop| Err(Refusal::Stopped(stop)))
}
