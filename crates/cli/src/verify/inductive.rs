//! Operation structures through proofs by invariants.

use parallax_engine_bounded::Options;
use parallax_engine_inductive::{Conclusion, Obligation, prove};
use parallax_frontend_ops::syntax::Structures;
use parallax_frontend_ops::{Judging, Lowered, Meaning, induction, lower};
use parallax_memory::Model;
use parallax_program::{Diagnostic, Diagnostics, Property, SourceFile, Span};
use parallax_verdict::{Counts, Reason, Scope, Verdict};

use super::structures::failed_assertion;
use super::{Answer, VerifyArguments};
use crate::interrupt;

pub fn verify(
    structures: &Structures,
    model: &Model,
    options: &VerifyArguments,
) -> Result<Answer, Diagnostics> {
    let induction = induction(structures)?;
    let lowered = lower(&induction.structures, Judging::ByQuestion)?;
    let ended = induction.ended(&lowered);
    let Lowered { program, question: Some(refuted), assertions } = lowered else {
        return Err(vec![Diagnostic::new("the structures ask no question")]);
    };
    let search = Options {
        unroll: Some(0),
        timeout: options.timeout,
        memory_limit: options.memory_limit.map(|limit| u64::from(limit.get())),
        stop: Some(interrupt::stop_flag()),
        ..Options::default()
    };
    let obligation = Obligation { program: &program, refuted: &refuted, ended: &ended };
    let proof = prove(&obligation, model, &search)?;
    let mut verdict = Verdict {
        conclusion: parallax_verdict::Conclusion::Unknown,
        scope: None,
        reason: None,
        properties: vec![Property::Assert],
        counts: Counts { events: proof.figures.events, ..Counts::default() },
        violations: Vec::new(),
        notes: Vec::new(),
    };
    match proof.conclusion {
        Conclusion::Proved { vacuous } => {
            verdict.conclusion = parallax_verdict::Conclusion::Safe;
            verdict.scope = Some(Scope::Complete);
            if vacuous {
                let note = "vacuous: no execution comes to its end; assertions hold as far as \
                            threads get";
                verdict.notes.push(note.to_string());
            }
        }
        Conclusion::NotProved(execution) => {
            let failed = failed_assertion(&assertions, &execution);
            let meaning = failed.and_then(|failed| induction.meaning(failed.thread, failed.number));
            let span = failed.map(|failed| failed.assertion.span);
            verdict.reason = Some(not_proved(&program.source, meaning, span));
        }
        Conclusion::Unknown(reason) => verdict.reason = Some(reason),
    }
    let model = model.name().to_string();
    Ok(Answer { verdict, model, engine: "inductive", all: false, witness: None, solver: None })
}

/// What could not be shown, and where.
fn not_proved(source: &SourceFile, meaning: Option<Meaning>, span: Option<Span>) -> Reason {
    let what = match meaning {
        Some(Meaning::AtFirst) => "the invariant may not hold after the first iteration",
        Some(Meaning::Kept) => "an iteration may not keep the invariant",
        Some(Meaning::Asserted) | None => "an assertion does not follow from the invariants",
    };
    Reason {
        message: format!("not proved: {what}"),
        place: span.map(|span| source.location(span)),
        help: Some(
            "the invariants may say too little; --engine states, explore or bounded look for a \
             violation"
                .to_string(),
        ),
    }
}
