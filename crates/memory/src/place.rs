//! Places in models that consist of several files, through `include`.

use parallax_program::{Diagnostic, Help, SourceFile, Span};

/// A range of bytes in one of a model's files.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, PartialOrd, Ord)]
pub struct Place {
    pub file: u32,
    pub span: Span,
}

impl Place {
    pub fn to(self, other: Place) -> Place {
        Place { file: self.file, span: self.span.to(other.span) }
    }
}

/// An error in a model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Problem {
    pub place: Place,
    pub message: String,
    pub help: Option<Help>,
}

impl Problem {
    pub fn new(place: Place, message: impl Into<String>) -> Problem {
        Problem { place, message: message.into(), help: None }
    }

    pub fn with_help(mut self, help: impl Into<Help>) -> Problem {
        self.help = Some(help.into());
        self
    }

    pub fn diagnostic(&self, files: &[SourceFile]) -> Diagnostic {
        let mut diagnostic = match files.get(self.place.file as usize) {
            Some(file) => file.error(self.place.span, self.message.clone()),
            None => Diagnostic::new(self.message.clone()),
        };
        diagnostic.help.clone_from(&self.help);
        diagnostic
    }
}
