//! The processor: the harness is built at test time, into a folder that goes away.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use iced_x86::Code;

use crate::state::State;

pub struct Processor {
    folder: PathBuf,
}

/// How the processor left the machine.
pub struct Answer {
    pub state: State,
    /// The signal that came instead of the end of the instruction.
    pub signal: u32,
    /// Whether it wrote to the page around the window.
    pub outside: bool,
}

impl Processor {
    /// None, with a message, where this is not the right kind of machine.
    pub fn build() -> Option<Processor> {
        if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
            eprintln!("skipped: instructions can only be compared on x86-64 Linux");
            return None;
        }
        let name = format!("parallax-native-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).expect("a folder for the harness");
        let processor = Processor { folder };
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/native/harness.c");
        let mut build = Command::new("cc");
        let build = build.args(["-O2", "-o"]).arg(processor.program()).arg(source);
        let Ok(built) = build.status() else {
            eprintln!("skipped: there is no C compiler 'cc' to build the harness with");
            return None;
        };
        assert!(built.success(), "the harness does not compile");
        Some(processor)
    }

    fn program(&self) -> PathBuf {
        self.folder.join("harness")
    }

    /// Executes one instruction in each state.
    pub fn run<'a>(&self, cases: impl Iterator<Item = (&'a State, &'a [u8])>) -> Vec<Answer> {
        let mut input = Vec::new();
        for (state, bytes) in cases {
            state.write(&mut input);
            let mut padded = [0; 15];
            padded[..bytes.len()].copy_from_slice(bytes);
            input.push(bytes.len() as u8);
            input.extend(padded);
        }
        let mut child = Command::new(self.program())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the harness runs");
        let mut stdin = child.stdin.take().expect("an input");
        let feeder = std::thread::spawn(move || stdin.write_all(&input));
        let mut output = Vec::new();
        let mut stdout = child.stdout.take().expect("an output");
        stdout.read_to_end(&mut output).expect("answers");
        feeder.join().expect("no panic").expect("the harness reads all cases");
        assert!(child.wait().expect("an end").success(), "the harness failed");
        output.chunks(State::BYTES + 8).map(answer).collect()
    }
}

fn answer(bytes: &[u8]) -> Answer {
    let number = |at: usize| {
        let at = State::BYTES + at;
        u32::from_le_bytes(bytes[at..at + 4].try_into().expect("a number"))
    };
    Answer { state: State::read(bytes), signal: number(0), outside: number(4) != 0 }
}

impl Drop for Processor {
    fn drop(&mut self) {
        // What is left behind is in a folder for temporary files.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Whether this processor knows a form.
#[cfg(target_arch = "x86_64")]
pub fn has(code: Code) -> bool {
    use iced_x86::CpuidFeature::*;
    code.cpuid_features().iter().all(|feature| match feature {
        INTEL8086 | INTEL186 | INTEL286 | INTEL386 | INTEL486 | X64 | CMOV | CPUID | CX8 => true,
        SSE | SSE2 | FXSR | MULTIBYTENOP | PAUSE | CLFSH => true,
        // Hints and their names, which older processors take for nops.
        CET_IBT | CET_SS | PREFETCHW => true,
        SSE3 => std::is_x86_feature_detected!("sse3"),
        SSSE3 => std::is_x86_feature_detected!("ssse3"),
        SSE4_1 => std::is_x86_feature_detected!("sse4.1"),
        SSE4_2 => std::is_x86_feature_detected!("sse4.2"),
        CMPXCHG16B => std::is_x86_feature_detected!("cmpxchg16b"),
        POPCNT => std::is_x86_feature_detected!("popcnt"),
        LZCNT => std::is_x86_feature_detected!("lzcnt"),
        BMI1 => std::is_x86_feature_detected!("bmi1"),
        BMI2 => std::is_x86_feature_detected!("bmi2"),
        ADX => std::is_x86_feature_detected!("adx"),
        MOVBE => std::is_x86_feature_detected!("movbe"),
        _ => false,
    })
}

#[cfg(not(target_arch = "x86_64"))]
pub fn has(_: Code) -> bool {
    false
}
