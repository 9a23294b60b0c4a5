//! Texts of inputs, and how messages name them.

use std::path::Path;

use parallax_files::MOST_TEXT;
use parallax_program::{Diagnostic, Diagnostics, SourceFile, Span};

/// How messages name a file.
pub fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// The text of a file; an error says what is wrong with it, and where.
pub fn read(path: &Path) -> Result<String, Diagnostics> {
    let name = shown(path);
    let bytes = parallax_files::read(path, MOST_TEXT)
        .map_err(|error| vec![Diagnostic::new(format!("cannot read '{name}': {error}"))])?;
    String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let text = String::from_utf8_lossy(&error.as_bytes()[..good]);
        let source = SourceFile::new(&name, &text);
        let message = "this is not UTF-8 text";
        vec![source.error(Span::new(good, good + 1), message)]
    })
}
