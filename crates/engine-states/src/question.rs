//! What is asked of the final states of a program.

use parallax_machine::Concrete;
use parallax_machine::system::System;
use parallax_program::{Bits, Operand, Place, Prop, Question, VarId};

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
    question.filter.as_ref().is_none_or(|filter| holds(filter, system))
        && holds(&question.prop, system)
}

fn holds(prop: &Prop, system: &System<'_, '_>) -> bool {
    match prop {
        Prop::True => true,
        Prop::False => false,
        Prop::Compare { left, equal, right } => {
            let value = |place: &Place| system.observed(place).map_or(0, Bits::unsigned);
            let right = match right {
                Operand::Value(expr) => {
                    system.setup().code.evaluate(expr, &[], &mut Concrete).unsigned()
                }
                Operand::Observable(observable) => value(&observable.place),
            };
            (value(&left.place) == right) == *equal
        }
        Prop::Not(inner) => !holds(inner, system),
        Prop::And(parts) => parts.iter().all(|part| holds(part, system)),
        Prop::Or(parts) => parts.iter().any(|part| holds(part, system)),
    }
}
