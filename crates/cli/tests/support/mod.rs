//! Runs of the real command in folders of their own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

pub const SB: &str = "X86 SB\n{ x=0; y=0; }\n P0 | P1 ;\n MOV [x],$1 | MOV [y],$1 ;\n \
    MOV EAX,[y] | MOV EAX,[x] ;\nexists (0:EAX=0 /\\ 1:EAX=0)\n";

/// Message passing; forbidden on x86.
pub const MP: &str = "X86 MP\n{ x=0; y=0; }\n P0 | P1 ;\n MOV [x],$1 | MOV EAX,[y] ;\n \
    MOV [y],$1 | MOV EBX,[x] ;\nexists (1:EAX=1 /\\ 1:EBX=0)\n";

/// A test with more executions than anyone waits for.
pub fn endless() -> String {
    let cell = |row: usize, thread: usize| {
        let place = format!("[x{}]", (7 * row + 3 * thread) % 5);
        if (row + thread).is_multiple_of(2) {
            format!("MOV {place},${}", 4 * row + thread + 1)
        } else {
            let register = ["EAX", "EBX", "ECX", "EDX"][row % 4];
            format!("MOV {register},{place}")
        }
    };
    let row = |row: usize| {
        let cells: Vec<String> = (0..4).map(|thread| cell(row, thread)).collect();
        format!("{} ;\n", cells.join(" | "))
    };
    let rows: String = (0..24).map(row).collect();
    format!("X86 endless\n{{ }}\nP0 | P1 | P2 | P3 ;\n{rows}exists (0:EAX=999)\n")
}

/// A fresh folder, removed at the end of the test.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Folder {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("parallax-cli-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).expect("a folder");
        Folder(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> &Folder {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, content).expect("a file");
        self
    }

    pub fn run(&self, arguments: &[&str]) -> Run {
        run_in(&self.0, arguments)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub struct Run {
    pub stdout: String,
    pub stderr: String,
    pub code: i32,
}

impl Run {
    pub fn new(output: Output) -> Run {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Run {
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
            code: output.status.code().unwrap_or(-1),
        }
    }

    #[track_caller]
    pub fn ends_with(&self, code: i32) -> &Run {
        assert_eq!(self.code, code, "{}{}", self.stdout, self.stderr);
        self
    }

    #[track_caller]
    pub fn says(&self, text: &str) -> &Run {
        assert!(self.stdout.contains(text), "no {text:?} in:\n{}", self.stdout);
        self
    }

    #[track_caller]
    pub fn complains(&self, text: &str) -> &Run {
        assert!(self.stderr.contains(text), "no {text:?} in:\n{}", self.stderr);
        self
    }
}

pub fn command() -> Command {
    Command::new(env!("CARGO_BIN_EXE_parallax"))
}

pub fn run_in(folder: &Path, arguments: &[&str]) -> Run {
    let mut command = command();
    let output = command.current_dir(folder).args(arguments).output();
    Run::new(output.expect("the command starts"))
}

/// What is said, without how long it took and in how much memory.
pub fn without_times(run: &Run) -> String {
    let mut text = format!("{}\n{}{}", run.code, run.stdout, run.stderr);
    for key in ["\"time_s\":", "\"encode_s\":", "\"solve_s\":", "\"peak_rss_kib\":"] {
        if let Some(start) = text.find(key).map(|start| start + key.len()) {
            let length = text[start..].find([',', '}']).expect("the end of a number");
            text.replace_range(start..start + length, "0");
        }
    }
    let is_time = |line: &str| line.starts_with("model ") && line.ends_with(" s");
    let line = |line: &str| match line.rsplit_once("; ") {
        Some((rest, _)) if is_time(line) => format!("{rest}\n"),
        _ => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}
