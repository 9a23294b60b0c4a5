//! Proofs without a bound on loops.
//!
//! A front end that knows invariants replaces each loop by stand-ins of its iterations; what is left
//! is a program without loops, and a question for final states in which something is not as it
//! should be. If a solver finds that no execution leads to one, the program with its loops is
//! right. If it finds one, that may be because the invariants say too little: nothing is proved,
//! and nothing is refuted. After P. Maleehuan, "Program Verification for Multiprocessors with
//! Relaxed Memory Models using an SMT Solver", dissertation, JAIST 2018, chapter 4.

use parallax_engine_bounded::{Figures, Finding, Options, check};
use parallax_memory::Model;
use parallax_program::{Diagnostics, Program, Question};
use parallax_verdict::{Execution, Reason};

/// What has to be shown.
pub struct Obligation<'a> {
    /// Without loops.
    pub program: &'a Program,
    /// Asks for final states that refute something.
    pub refuted: &'a Question,
    /// Asks for final states in which all threads have come to their ends.
    pub ended: &'a Question,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Proof {
    pub conclusion: Conclusion,
    pub figures: Figures,
}

#[derive(Clone, Debug)]
pub enum Conclusion {
    /// Nothing is ever refuted. Where it is `vacuous`, no execution comes to its end.
    Proved {
        vacuous: bool,
    },
    /// An execution of the program without loops that refutes something. It need not be one of the
    /// program with its loops.
    NotProved(Box<Execution>),
    Unknown(Reason),
}

/// The models that stand-ins of iterations are right for: program order and reads-from have no
/// cycle, and a part of an allowed execution is allowed.
pub const MODELS: [&str; 3] = ["sc", "tso", "pso"];

/// Whether proofs are right under a model.
pub fn admits(model: &Model) -> bool {
    model.is_builtin() && MODELS.contains(&model.name())
}

/// Tries to prove. Under other models than [`MODELS`] there is no answer.
pub fn prove(
    obligation: &Obligation<'_>,
    model: &Model,
    options: &Options<'_>,
) -> Result<Proof, Diagnostics> {
    if !admits(model) {
        let reason = Reason {
            message: format!("proofs by invariants say nothing about the model '{}'", model.name()),
            place: None,
            help: Some(format!("models for proofs are {}", MODELS.join(", "))),
        };
        let conclusion = Conclusion::Unknown(reason);
        return Ok(Proof { conclusion, figures: Figures::default() });
    }
    let outcome = check(obligation.program, obligation.refuted, model, options)?;
    let conclusion = match outcome.finding {
        Finding::Reachable(execution) => Conclusion::NotProved(execution),
        Finding::Unknown(reason) => Conclusion::Unknown(reason),
        Finding::Unreachable { complete: false } => Conclusion::Unknown(Reason {
            message: "there is a loop left".to_string(),
            place: None,
            help: None,
        }),
        Finding::Unreachable { complete: true } => {
            let ended = check(obligation.program, obligation.ended, model, options)?;
            match ended.finding {
                Finding::Reachable(_) => Conclusion::Proved { vacuous: false },
                Finding::Unreachable { .. } => Conclusion::Proved { vacuous: true },
                Finding::Unknown(reason) => Conclusion::Unknown(reason),
            }
        }
    };
    Ok(Proof { conclusion, figures: outcome.figures })
}
