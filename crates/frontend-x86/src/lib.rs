//! x86-64 machine code as Parallax programs.
//!
//! `elf` says what lies where in memory when a program starts, `code` which code there is and how
//! control flows through it, [`lift`] what each instruction means, and `build` puts the program
//! together. What the program uses of the C library is the library that C programs use too
//! (`parallax_library`); all other code runs as it is.
//!
//! The source of the program, which places point into, is a *listing*: one line for each
//! instruction, with its place in its function and, where the file has it, the line of the source
//! it was compiled from.

mod build;
mod code;
mod driver;
mod elf;
pub mod lift;

use std::path::Path;

use parallax_library::{Errors, Signatures};
use parallax_program::{Diagnostic, Diagnostics, Program};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// What `main` gets besides the name of the program.
    pub arguments: Vec<String>,
    /// Functions of the program that the library stands in for, although their code is there.
    /// A `*` at the end stands for anything.
    pub modelled: Vec<String>,
    /// Whether condition variables may wake up for no reason.
    pub spurious_wakeups: bool,
    /// Which calls are errors of the property `assert`.
    pub errors: Errors,
}

impl Options {
    /// Whether the library stands in for a function of the program.
    fn models(&self, name: &str) -> bool {
        // What the C library puts into every program that uses it.
        let always = matches!(name, "atexit" | "at_quick_exit");
        let wanted = |pattern: &String| match pattern.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => pattern == name,
        };
        always || self.modelled.iter().any(wanted)
    }
}

/// Reads an ELF file, or a file for the assembler (`.s`, `.S`), and adds what the program uses of
/// the C library.
pub fn load(path: &Path, options: &Options) -> Result<Program, Diagnostics> {
    let bytes = driver::read(path).map_err(|error| vec![error])?;
    translate(&path.display().to_string(), &bytes, options)
}

/// The same for a text that is taken for the contents of a file for the assembler.
pub fn load_text(path: &Path, text: &str, options: &Options) -> Result<Program, Diagnostics> {
    let bytes = driver::read_text(path, text).map_err(|error| vec![error])?;
    translate(&path.display().to_string(), &bytes, options)
}

/// The listing of a program: what its places point into.
pub fn listing(program: &Program) -> &str {
    program.source.files().next().map_or("", |(_, text)| text)
}

/// Makes a program of an ELF file: an executable, or a relocatable object that is to be linked
/// alone. `name` is what people call it.
pub fn translate(name: &str, bytes: &[u8], options: &Options) -> Result<Program, Diagnostics> {
    let signatures = Signatures::new();
    let is_known = |function: &str| build::is_known(&signatures, function);
    let image = elf::load(bytes, &is_known)
        .map_err(|message| vec![Diagnostic::new(format!("{name}: {message}"))])?;
    build::build(name, &image, options)
}
