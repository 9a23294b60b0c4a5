//! From files to bytes: assembler sources are assembled first.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use parallax_program::Diagnostic;

/// No file is larger.
const LARGEST: u64 = 1 << 30;

/// Reads a file, or what the assembler makes of it.
pub fn read(path: &Path) -> Result<Vec<u8>, Diagnostic> {
    match path.extension().and_then(OsStr::to_str) {
        Some("s" | "S") => assemble(path),
        _ => bytes(path, path),
    }
}

fn bytes(path: &Path, shown: &Path) -> Result<Vec<u8>, Diagnostic> {
    let name = shown.display();
    let unreadable = |error| Diagnostic::new(format!("cannot read {name}: {error}"));
    let size = std::fs::metadata(path).map_err(unreadable)?.len();
    if size > LARGEST {
        return Err(Diagnostic::new(format!("{name}: the file is too large")));
    }
    std::fs::read(path).map_err(unreadable)
}

fn assemble(path: &Path) -> Result<Vec<u8>, Diagnostic> {
    let name = path.display();
    let object = Temporary::new();
    // A name that starts with a hyphen is no option.
    let plain = Path::new(".").join(path);
    // Lines of the assembler source are shown beside the instructions.
    let run = Command::new("cc")
        .args(["-c", "-g", "-o"])
        .arg(&object.path)
        .arg(plain)
        .stdin(Stdio::null())
        .output();
    let output = run.map_err(|error| Diagnostic::new(format!("{name}: cannot run cc: {error}")))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.trim_end();
        return Err(Diagnostic::new(format!("{name}: cc cannot assemble it\n{said}")));
    }
    bytes(&object.path, path)
}

/// A file that goes away with its owner.
struct Temporary {
    path: PathBuf,
}

impl Temporary {
    fn new() -> Temporary {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("parallax-{}-{number}.o", std::process::id());
        Temporary { path: std::env::temp_dir().join(name) }
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}
