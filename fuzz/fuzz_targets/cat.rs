//! Any text is a memory model or an error with a place. What the plan of a model says of an
//! execution is what the reference evaluator says.

#![no_main]

use libfuzzer_sys::fuzz_target;
use parallax_memory::reference::evaluate;
use parallax_memory::{Checker, InputKind, Model};

/// Store buffering, with a fence and a dependency: events 0 and 1 are the initial writes.
const EVENTS: usize = 7;
const SETS: [(&str, &[usize]); 6] = [
    ("_", &[0, 1, 2, 3, 4, 5, 6]),
    ("R", &[4, 6]),
    ("W", &[0, 1, 2, 5]),
    ("M", &[0, 1, 2, 4, 5, 6]),
    ("F", &[3]),
    ("IW", &[0, 1]),
];
const RELATIONS: [(&str, &[(usize, usize)]); 6] = [
    ("po", &[(2, 3), (2, 4), (3, 4), (5, 6)]),
    ("loc", &[(0, 2), (2, 0), (0, 6), (6, 0), (2, 6), (6, 2), (1, 5), (5, 1), (1, 4), (4, 1)]),
    ("int", &[(2, 3), (3, 2), (2, 4), (4, 2), (3, 4), (4, 3), (5, 6), (6, 5)]),
    ("ext", &[(2, 5), (5, 2), (2, 6), (6, 2), (4, 5), (5, 4), (4, 6), (6, 4)]),
    ("rf", &[(1, 4), (0, 6)]),
    ("co", &[(0, 2), (1, 5)]),
];

fuzz_target!(|text: &str| {
    match Model::parse("fuzz.cat", text, &|_| None) {
        Ok(model) => judge(&model),
        Err(errors) => assert!(!errors.is_empty()),
    }
});

fn judge(model: &Model) {
    let mut checker = Checker::new(model);
    checker.begin(EVENTS);
    for input in model.inputs() {
        let id = model.input(&input.name).expect("an input has a position");
        match input.kind {
            InputKind::Set => {
                let set = SETS.iter().find(|(name, _)| *name == input.name);
                set.into_iter().flat_map(|set| set.1).for_each(|e| checker.set_mut(id).insert(*e));
            }
            InputKind::Relation => {
                let relation = RELATIONS.iter().find(|(name, _)| *name == input.name);
                for (a, b) in relation.into_iter().flat_map(|relation| relation.1) {
                    checker.relation_mut(id).add(*a, *b);
                }
            }
        }
    }
    checker.structure_changed();
    checker.rf_changed();
    checker.co_changed();
    checker.set_rf_complete(true);
    let (may_be, allowed) = (checker.may_be_allowed(), checker.is_allowed());
    let expected = evaluate(model, &checker.inputs());
    match (checker.failure(), expected) {
        (None, Ok(expected)) => {
            assert_eq!(allowed, expected.allowed);
            assert!(may_be || !allowed);
            if allowed {
                assert_eq!(checker.flags(), expected.flags);
            }
        }
        (Some(_), Err(_)) => {}
        // A test that fails first spares the plan what the evaluator stumbles over.
        (None, Err(_)) => {}
        (Some(_), Ok(expected)) => assert!(!expected.allowed),
    }
}
