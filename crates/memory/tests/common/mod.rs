//! Filling in a checker from the inputs of the reference evaluator.

use parallax_memory::reference::Inputs;
use parallax_memory::{Checker, InputKind, Model, Relation};

/// Gives a checker everything but `rf` and `co`.
pub fn fill(model: &Model, checker: &mut Checker<'_>, inputs: &Inputs) {
    checker.begin(inputs.events);
    for input in model.inputs() {
        let id = model.input(&input.name).expect("an input has a position");
        match input.kind {
            InputKind::Set => {
                if let Some(set) = inputs.sets.get(&input.name) {
                    checker.set_mut(id).copy_from(set);
                }
            }
            InputKind::Relation if input.name == "rf" || input.name == "co" => {}
            InputKind::Relation => {
                if let Some(relation) = inputs.relations.get(&input.name) {
                    checker.relation_mut(id).copy_from(relation);
                }
            }
        }
    }
    checker.structure_changed();
}

pub fn set_rf(checker: &mut Checker<'_>, rf: &Relation) {
    checker.rf_mut().copy_from(rf);
    checker.rf_changed();
}

pub fn set_co(checker: &mut Checker<'_>, co: &Relation) {
    checker.co_mut().copy_from(co);
    checker.co_changed();
}
