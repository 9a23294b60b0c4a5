//! Locks and containers as people write them in C, with a rising number of threads or rounds.

use std::path::Path;

use parallax_verify::{Choice, Input, Prepared, Reading, Request};

/// A C program whose size is a macro.
pub struct Structure {
    pub name: &'static str,
    /// From the root of the project.
    file: &'static str,
    parameter: &'static str,
    /// Sizes that take some seconds at most.
    pub sizes: &'static [usize],
}

const fn threads(name: &'static str, file: &'static str, sizes: &'static [usize]) -> Structure {
    Structure { name, file, parameter: "N", sizes }
}

pub const STRUCTURES: [Structure; 10] = [
    threads("ticket-lock", "examples/c/ticket-lock.c", &[2, 3, 4, 5, 6, 7]),
    threads("ttas-lock", "examples/c/ttas-lock.c", &[2, 3, 4, 5]),
    threads("mcs-lock", "examples/c/mcs-lock.c", &[2, 3, 4, 5]),
    threads("peterson", "crates/bench/programs/peterson.c", &[2, 3]),
    threads("ms-queue", "crates/bench/programs/ms-queue.c", &[1, 2, 3, 4]),
    threads("treiber", "crates/bench/programs/treiber-stack.c", &[1, 2, 3]),
    threads("rotating-locks", "examples/c/rotating-locks.c", &[2, 3, 4, 5, 6]),
    threads("visitors", "examples/c/visitors.c", &[2, 4, 6, 8, 9]),
    threads("optimistic-sum", "examples/c/optimistic-sum.c", &[1, 2, 3, 4, 5]),
    Structure {
        name: "seqlock",
        file: "examples/c/seqlock.c",
        parameter: "WRITES",
        sizes: &[1, 2, 4, 8],
    },
];

impl Structure {
    /// All of its executions under a model, for exploration. The error says why it cannot be had, for
    /// example without clang.
    pub fn prepared(&self, size: usize, model: &str) -> Result<Prepared, String> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let clang = vec![format!("-D{}={size}", self.parameter)];
        let reading = Reading { clang, ..Reading::default() };
        let input = Input { files: vec![root.join(self.file)], reading, ..Input::default() };
        let engine = Choice::Named("explore");
        let model = Some(model.to_string());
        let request = Request { input, model, engine, all: true, ..Request::default() };
        let message = |error: &parallax_program::Diagnostic| error.message.clone();
        request.prepare().map_err(|errors| errors.first().map_or_else(String::new, message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parallax_control::Control;
    use parallax_verdict::Conclusion;

    #[test]
    fn structures_are_right() {
        for structure in &STRUCTURES {
            let prepared = structure.prepared(structure.sizes[0], "rc11").expect(structure.name);
            let response = prepared.ask(&Control::default()).expect(structure.name);
            let conclusion = response.answer.verdict.conclusion();
            assert_eq!(conclusion, Conclusion::Safe, "{}", structure.name);
        }
    }
}
