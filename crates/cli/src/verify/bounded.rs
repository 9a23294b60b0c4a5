//! Programs and litmus tests through the engine that asks a solver.

use parallax_engine_bounded::verify as search;
use parallax_engine_bounded::{Finding, Options, check};
use parallax_frontend_litmus::LitmusTest;
use parallax_memory::Model;
use parallax_program::{Diagnostics, Program, Property, Question};
use parallax_verdict::{Conclusion, Counts, Scope, Verdict, replay};

use super::litmus::{USUAL_BOUND, violation};
use super::{Answer, VerifyArguments, model_choice};
use crate::interrupt;
use crate::models::{ModelChoice, Models};
use crate::one_test::not_replayed;

pub fn verify(
    program: &Program,
    usual_model: &str,
    properties: Vec<Property>,
    options: &VerifyArguments,
) -> Result<Answer, Diagnostics> {
    let usual = || ModelChoice::BuiltIn(usual_model.to_string());
    let choice = model_choice(options).unwrap_or_else(usual);
    let model = Models::new(&[], None).get(&choice)?;
    let search_options = Options { properties, ..limits(options, options.unroll) };
    let verified = search(program, &model, &search_options)?;
    let model = model.name().to_string();
    let verdict = verified.verdict;
    Ok(Answer { verdict, model, engine: "bounded", all: false, witness: None })
}

fn limits(options: &VerifyArguments, unroll: Option<u32>) -> Options<'static> {
    Options {
        properties: Vec::new(),
        unroll,
        timeout: options.timeout,
        memory_limit: options.memory_limit.map(|limit| u64::from(limit.get())),
        stop: Some(interrupt::stop_flag()),
    }
}

/// The final condition of a litmus test; `question` asks for the states that are violations.
pub fn verify_test(
    test: &LitmusTest,
    question: &Question,
    model: &Model,
    options: &VerifyArguments,
) -> Result<Answer, Diagnostics> {
    let unroll = options.unroll.unwrap_or(USUAL_BOUND);
    let outcome = check(&test.program, question, model, &limits(options, Some(unroll)))?;
    let mut verdict = Verdict {
        conclusion: Conclusion::Unknown,
        scope: None,
        reason: None,
        properties: vec![Property::Assert],
        counts: Counts { events: outcome.figures.events, ..Counts::default() },
        violations: Vec::new(),
        notes: vec!["of a litmus test, the final condition is what is checked".to_string()],
    };
    match outcome.finding {
        Finding::Reachable(execution) => {
            replay(&test.program, &execution, model)
                .map_err(|reason| vec![not_replayed(&test.program, &reason)])?;
            verdict.conclusion = Conclusion::Unsafe;
            verdict.violations.push(violation(&test.question, *execution));
        }
        Finding::Unreachable { complete } => {
            let scope = if complete { Scope::Complete } else { Scope::Bounded(unroll) };
            (verdict.conclusion, verdict.scope) = (Conclusion::Safe, Some(scope));
        }
        Finding::Unknown(reason) => verdict.reason = Some(reason),
    }
    let model = model.name().to_string();
    Ok(Answer { verdict, model, engine: "bounded", all: false, witness: None })
}
