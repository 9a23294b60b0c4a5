//! Searches on large stacks, whose panics end a search and not the process.

use std::thread;

use parallax_program::Diagnostic;

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
