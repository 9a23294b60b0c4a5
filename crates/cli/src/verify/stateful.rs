//! Programs through the engine that searches the states of operational machines.

use std::cell::RefCell;

use parallax_debugger::{Action, Setup, Subject, witness};
use parallax_engine_explore::Reductions;
use parallax_engine_states::{Options, Progress, Reduction, search};
use parallax_memory::Model;
use parallax_program::{Diagnostic, Diagnostics, Program, Property, Question};

use super::progress::ProgressLine;
use super::{Answer, VerifyArguments, chosen_model};
use crate::interrupt;
use crate::one_test::shown;

pub fn verify(
    program: &Program,
    usual_model: &str,
    properties: Vec<Property>,
    options: &VerifyArguments,
) -> Result<Answer, Diagnostics> {
    let (model, _) = chosen_model(program, usual_model, &[], options)?;
    run(program, &model, properties, None, options)
}

/// Looks for final states that a question asks for, and for nothing else.
pub fn verify_question(
    program: &Program,
    question: Question,
    model: &Model,
    options: &VerifyArguments,
) -> Result<Answer, Diagnostics> {
    run(program, model, vec![Property::Assert], Some(question), options)
}

fn run(
    program: &Program,
    model: &Model,
    properties: Vec<Property>,
    question: Option<Question>,
    options: &VerifyArguments,
) -> Result<Answer, Diagnostics> {
    if options.unroll.0.is_some() {
        let error = Diagnostic::new("the engine 'states' does not count how often loops repeat");
        return Err(vec![error.with_help("leave out --unroll")]);
    }
    let line = RefCell::new(ProgressLine::new(!options.quiet));
    let watched = line.borrow().is_shown();
    let show = |progress: &Progress| line.borrow_mut().show_states(progress);
    let reduction = match options.reductions == Reductions::NONE {
        true => Reduction::None,
        false => Reduction::Order,
    };
    let written: RefCell<Option<String>> = RefCell::new(None);
    let input = shown(options.input.first());
    let subject = Subject { program, question: question.as_ref(), input: &input };
    let way = |setup: &Setup<'_>, path: &[Action]| {
        if written.borrow().is_none() {
            let schedule = witness(subject, setup, path);
            written.replace(schedule.map(|schedule| schedule.text()));
        }
    };
    let verdict = search(
        program,
        model,
        &Options {
            properties,
            reduction,
            all: options.all,
            nondet: options.nondet,
            timeout: options.timeout,
            memory_limit: options.memory_limit.map(|limit| u64::from(limit.get())),
            stop: Some(interrupt::stop_flag()),
            progress: watched.then_some(&show),
            way: options.witness.is_some().then_some(&way),
            question: question.clone(),
        },
    );
    line.borrow_mut().clear();
    let answer = Answer::new(verdict?, model.name(), "states");
    Ok(Answer { all: options.all, witness: written.into_inner(), ..answer })
}
