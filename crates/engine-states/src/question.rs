//! What is asked of the final states of a program.

use parallax_machine::holds;
use parallax_machine::system::System;
use parallax_program::{Place, Prop, Question, VarId};

/// Variables that a question asks for, by thread.
pub fn variables(question: &Question) -> Vec<(u32, VarId)> {
    let mut variables = Vec::new();
    let mut add = |place: &Place| {
        if let Place::Variable { thread, var, .. } = place
            && !variables.contains(&(*thread, *var))
        {
            variables.push((*thread, *var));
        }
    };
    question.locations.iter().for_each(|observable| add(&observable.place));
    question.prop.observables(&mut |observable| add(&observable.place));
    if let Some(filter) = &question.filter {
        filter.observables(&mut |observable| add(&observable.place));
    }
    variables
}

/// Whether a final state counts and satisfies the proposition.
pub fn is_satisfied(question: &Question, system: &System<'_, '_>) -> bool {
    let value = |place: &Place| system.observed(place);
    let holds = |prop: &Prop| holds(prop, &system.setup().code, &value);
    question.filter.as_ref().is_none_or(holds) && holds(&question.prop)
}
