//! Any program that checks is explored without a panic, and what is reported has been replayed.

use std::time::Duration;

use parallax_control::Control;
use parallax_engine_explore::{Options, explore};
use parallax_memory::Model;
use parallax_program::Property;
use proptest::prelude::*;

#[path = "../../program/tests/arbitrary/mod.rs"]
mod arbitrary;

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn arbitrary_programs(choices in prop::collection::vec(any::<u32>(), 0..400)) {
        let program = arbitrary::program(&mut arbitrary::Choices::new(choices));
        prop_assume!(program.check().is_ok());
        for name in ["sc", "tso", "rc11"] {
            let model = Model::builtin(name).expect("a model").expect("a right model");
            let options = Options {
                properties: Property::ALL.to_vec(),
                unroll: Some(2),
                all: true,
                nondet: Some((-1, 1)),
                control: Control::lasting(Duration::from_millis(100)),
                ..Options::default()
            };
            let Ok(verdict) = explore(&program, &model, &options) else {
                continue;
            };
            let reason = verdict.reason.map(|reason| reason.message).unwrap_or_default();
            prop_assert!(!reason.contains("replayed"), "{}\n{}", reason, program.to_text());
        }
    }
}
