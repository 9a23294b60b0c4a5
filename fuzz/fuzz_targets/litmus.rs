//! Any text is a litmus test or an error with a place. The program of a test is well formed,
//! and its search ends in time, with executions that replay.

#![no_main]

use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use parallax_control::Control;
use parallax_engine_enumerate::{Options, enumerate};
use parallax_frontend_litmus::{Arch, LitmusTest};
use parallax_memory::Model;

fuzz_target!(|text: &str| {
    match parallax_frontend_litmus::parse("fuzz.litmus", text) {
        Ok(test) => {
            assert_eq!(test.program.check(), Ok(()));
            search(&test);
        }
        Err(errors) => assert!(!errors.is_empty()),
    }
});

fn search(test: &LitmusTest) {
    let name = match test.arch {
        Arch::X86 | Arch::X86_64 => "tso",
        Arch::AArch64 => "aarch64",
        Arch::Arm => "arm",
        Arch::Ppc => "power",
        Arch::RiscV => "riscv",
        _ => "rc11",
    };
    let model = Model::builtin(name).expect("a built-in model").expect("a sound model");
    let options = Options {
        witnesses: 2,
        control: Control::lasting(Duration::from_millis(50)),
        ..Options::default()
    };
    // What is found replays, or it would be an error of the engine.
    if let Err(errors) = enumerate(&test.program, &test.question, &model, &options) {
        assert!(errors.iter().all(|error| !error.message.contains("internal error")));
    }
}
