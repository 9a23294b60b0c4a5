//! Locks and containers as people write them in C, with a rising number of threads or rounds.

use std::path::Path;

use parallax_frontend_c::{Options, load};
use parallax_program::Program;

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

pub const STRUCTURES: [Structure; 7] = [
    threads("ticket-lock", "examples/c/ticket-lock.c", &[2, 3, 4, 5, 6, 7]),
    threads("ttas-lock", "examples/c/ttas-lock.c", &[2, 3, 4, 5]),
    threads("mcs-lock", "examples/c/mcs-lock.c", &[2, 3, 4, 5]),
    threads("peterson", "crates/bench/programs/peterson.c", &[2, 3]),
    threads("ms-queue", "crates/bench/programs/ms-queue.c", &[1, 2, 3, 4]),
    threads("treiber", "crates/bench/programs/treiber-stack.c", &[1, 2, 3]),
    Structure {
        name: "seqlock",
        file: "examples/c/seqlock.c",
        parameter: "WRITES",
        sizes: &[1, 2, 4, 8],
    },
];

impl Structure {
    /// The error says why it cannot be had, for example without clang.
    pub fn program(&self, size: usize) -> Result<Program, String> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let clang_args = vec![format!("-D{}={size}", self.parameter)];
        let options = Options { clang_args, ..Options::default() };
        let message = |error: &parallax_program::Diagnostic| error.message.clone();
        load(&[root.join(self.file)], &options)
            .map_err(|errors| errors.first().map_or_else(String::new, message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parallax_engine_explore::explore;
    use parallax_memory::Model;
    use parallax_verdict::Conclusion;

    #[test]
    fn structures_are_right() {
        let model = Model::builtin("rc11").expect("a model").expect("a right model");
        for structure in &STRUCTURES {
            let program = structure.program(structure.sizes[0]).expect(structure.name);
            let verdict = explore(&program, &model, &Default::default()).expect(structure.name);
            assert_eq!(verdict.conclusion(), Conclusion::Safe, "{}", structure.name);
        }
    }
}
