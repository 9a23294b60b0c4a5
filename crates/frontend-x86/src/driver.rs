//! From files to bytes: assembler sources are assembled first.

use std::ffi::OsStr;
use std::path::Path;

use parallax_files::{Arguments, MOST_TEXT, Scratch, is_taken_for_list, run};
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
        Some("s" | "S") if is_taken_for_list(path) => {
            let text = contents(path, path, MOST_TEXT)?;
            assemble_copy(path, &text)
        }
        Some("s" | "S") => {
            parallax_files::check(path, MOST_TEXT).map_err(|error| unreadable(path, &error))?;
            assemble(path, path)
        }
        _ => contents(path, path, LARGEST),
    }
}

/// What the assembler makes of a text that is taken for the contents of a file.
pub fn read_text(path: &Path, text: &str) -> Result<Vec<u8>, Diagnostic> {
    assemble_copy(path, text.as_bytes())
}

/// Assembles a text by way of a copy, whose name is that of the file if nobody takes it amiss.
fn assemble_copy(path: &Path, text: &[u8]) -> Result<Vec<u8>, Diagnostic> {
    let folder = scratch(path)?;
    let name = path.file_name().filter(|_| !is_taken_for_list(path));
    let usual = Path::new("source").with_extension(path.extension().unwrap_or(OsStr::new("s")));
    let copy = folder.path().join(name.unwrap_or(usual.as_os_str()));
    std::fs::write(&copy, text).map_err(|error| unwritten(path, &error))?;
    assemble(path, &copy)
}

fn scratch(shown: &Path) -> Result<Scratch, Diagnostic> {
    Scratch::new().map_err(|error| unwritten(shown, &error))
}

fn unwritten(shown: &Path, error: &std::io::Error) -> Diagnostic {
    Diagnostic::new(format!("{}: cannot write a temporary file: {error}", shown.display()))
}

fn unreadable(shown: &Path, error: &std::io::Error) -> Diagnostic {
    Diagnostic::new(format!("cannot read {}: {error}", shown.display()))
}

fn contents(path: &Path, shown: &Path, most: u64) -> Result<Vec<u8>, Diagnostic> {
    parallax_files::read(path, most).map_err(|error| unreadable(shown, &error))
}

/// Assembles a file that people know by another name.
fn assemble(shown: &Path, path: &Path) -> Result<Vec<u8>, Diagnostic> {
    let name = shown.display();
    let folder = scratch(shown)?;
    let object = folder.path().join("object.o");
    let beside = shown.parent().filter(|folder| *folder != Path::new(""));
    // Lines of the assembler source are shown beside the instructions.
    let args = Arguments::default().options(["-c", "-g", "-I"]);
    let args = args.path(beside.unwrap_or(Path::new("."))).options(["-o"]).path(&object).path(path);
    let output = run(ASSEMBLER, &args, None)
        .map_err(|error| Diagnostic::new(format!("{name}: cannot run {ASSEMBLER}: {error}")))?;
    let by_another = || {
        let mut outputs = OTHER_ASSEMBLERS.iter().filter_map(|other| run(other, &args, None).ok());
        outputs.any(|output| output.status.success())
    };
    if !output.status.success() && !by_another() {
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.trim_end().replace(&path.display().to_string(), &name.to_string());
        return Err(Diagnostic::new(format!("{name}: {ASSEMBLER} cannot assemble it\n{said}")));
    }
    contents(&object, shown, LARGEST)
}
