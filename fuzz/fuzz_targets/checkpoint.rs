//! Any bytes are a checkpoint that a search goes on from, to the answer or to `unknown`, or an error.

#![no_main]

use std::sync::Arc;
use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use parallax_control::Control;
use parallax_engine_explore::{Checkpoint, Options, explore};
use parallax_memory::Model;
use parallax_program::parse_program;
use parallax_verify::checkpoint::parse;

const PROGRAM: &str = include_str!("../../examples/programs/counter.program");

fuzz_target!(|bytes: &[u8]| {
    // What the hash lets through is what the engine reads.
    let body = parse(bytes).map_or(bytes, |(_, body)| body);
    let program = parse_program("counter.program", PROGRAM).expect("a program");
    let model = Model::builtin("rc11").expect("a model").expect("a right model");
    let from = Some(Arc::from(body));
    let checkpoint = Checkpoint { every: Duration::from_secs(60), keep: None, from };
    let options = Options {
        control: Control::lasting(Duration::from_secs(5)),
        checkpoint: Some(&checkpoint),
        ..Options::default()
    };
    let _ = explore(&program, &model, &options);
});
