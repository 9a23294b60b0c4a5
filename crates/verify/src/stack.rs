//! Searches on large stacks, whose panics end a search and not the process.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use parallax_control::Control;
use parallax_program::{Diagnostic, Diagnostics};
use parallax_query::{Answer, Engine, Query};
use parallax_verdict::{Counts, Reason, Scope, Searched};

/// Deeply nested input makes deep recursion; address space costs nothing until it is used.
pub const STACK_BYTES: usize = 256 << 20;

/// Runs with a large stack; a panic becomes an error.
pub fn with_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, Diagnostic> {
    let result = thread::scope(|scope| {
        let worker = thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work)?;
        Ok(worker.join())
    });
    match result {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(_)) => Err(internal_error()),
        Err(error) => {
            let error: std::io::Error = error;
            Err(Diagnostic::new(format!("cannot start a thread: {error}")))
        }
    }
}

/// Asks an engine. If it panics, the answer is unknown.
pub fn run(
    engine: &dyn Engine,
    query: &Query<'_>,
    control: &Control<'_>,
) -> Result<Answer, Diagnostics> {
    let answer = catch_unwind(AssertUnwindSafe(|| engine.run(query, control)));
    answer.unwrap_or_else(|_| {
        let Diagnostic { message, help, .. } = internal_error();
        let searched = Searched {
            scope: Scope::Complete,
            all: query.goes_on(),
            gaps: Reason { message, place: None, help }.into(),
            properties: query.properties.clone(),
            counts: Counts::default(),
            violations: Vec::new(),
            notes: Vec::new(),
        };
        Ok(Answer::new(searched.conclude(), engine.name()))
    })
}

/// For a search that has panicked.
pub fn internal_error() -> Diagnostic {
    Diagnostic::new("internal error while verifying")
        .with_help("this is a bug in parallax; please report it with the program")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error() {
        assert_eq!(with_stack(|| 7).ok(), Some(7));
        let broken: Result<(), _> = with_stack(|| panic!("on purpose"));
        assert!(broken.is_err_and(|error| error.message.contains("internal error")));
    }
}
