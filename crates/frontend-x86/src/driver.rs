//! From files to bytes: assembler sources are assembled first.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use parallax_program::Diagnostic;

/// No file is larger.
const LARGEST: u64 = 1 << 30;

/// What assembles, and what is asked where that complains: compilers write directives that only
/// their own assembler knows.
const ASSEMBLER: &str = "cc";
const OTHER_ASSEMBLERS: [&str; 2] = ["clang-19", "clang"];

/// Reads a file, or what the assembler makes of it.
pub fn read(path: &Path) -> Result<Vec<u8>, Diagnostic> {
    match path.extension().and_then(OsStr::to_str) {
        // A name that starts with a hyphen is no option.
        Some("s" | "S") => assemble(path, &Path::new(".").join(path)),
        _ => bytes(path, path),
    }
}

/// What the assembler makes of a text that is taken for the contents of a file.
pub fn read_text(path: &Path, text: &str) -> Result<Vec<u8>, Diagnostic> {
    let name = path.display();
    let folder = Temporary::new("");
    let copy = folder.path.join(path.file_name().unwrap_or(OsStr::new("text.s")));
    let written = std::fs::create_dir(&folder.path).and_then(|()| std::fs::write(&copy, text));
    written.map_err(|error| Diagnostic::new(format!("{name}: cannot write a copy: {error}")))?;
    assemble(path, &copy)
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

/// Assembles a file that people know by another name.
fn assemble(shown: &Path, path: &Path) -> Result<Vec<u8>, Diagnostic> {
    let name = shown.display();
    let object = Temporary::new(".o");
    let folder = shown.parent().filter(|folder| *folder != Path::new(""));
    let folder = folder.unwrap_or(Path::new("."));
    // Lines of the assembler source are shown beside the instructions.
    let run = |assembler: &str| {
        let mut command = Command::new(assembler);
        command.args(["-c", "-g", "-I"]).arg(folder).arg("-o").arg(&object.path).arg(path);
        command.stdin(Stdio::null()).output()
    };
    let output = run(ASSEMBLER)
        .map_err(|error| Diagnostic::new(format!("{name}: cannot run {ASSEMBLER}: {error}")))?;
    let by_another = || {
        let mut outputs = OTHER_ASSEMBLERS.iter().filter_map(|assembler| run(assembler).ok());
        outputs.any(|output| output.status.success())
    };
    if !output.status.success() && !by_another() {
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.trim_end().replace(&path.display().to_string(), &name.to_string());
        return Err(Diagnostic::new(format!("{name}: {ASSEMBLER} cannot assemble it\n{said}")));
    }
    bytes(&object.path, shown)
}

/// A file or folder that goes away with its owner.
struct Temporary {
    path: PathBuf,
}

impl Temporary {
    fn new(ending: &str) -> Temporary {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("parallax-{}-{number}{ending}", std::process::id());
        Temporary { path: std::env::temp_dir().join(name) }
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = match self.path.is_dir() {
            true => std::fs::remove_dir_all(&self.path),
            false => std::fs::remove_file(&self.path),
        };
    }
}
