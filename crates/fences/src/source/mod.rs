//! Programs as people wrote them: where a fence can be put into a text, and how that is done.

pub mod c;
pub mod diff;
pub mod edits;
pub mod orders;
pub mod statements;
mod tokens;

#[cfg(test)]
mod tests;

use std::ops::Range;

use parallax_program::{Location, SourceFile, Span};

pub use self::c::Style;
use self::edits::{Edit, Edited, edit};
use self::orders::{Orders, spelled};
pub use self::statements::Activity;
use self::statements::{Places, places};

/// A text in which fences can be put.
#[derive(Clone, Debug)]
pub struct Document {
    pub name: String,
    pub text: String,
    pub language: Language,
    /// The part that is code.
    code: Range<usize>,
    places: Places,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    /// C, of files and of litmus tests.
    C,
}

impl Document {
    pub fn new(name: &str, text: &str, language: Language, code: Range<usize>) -> Document {
        let (name, text) = (name.to_string(), text.to_string());
        Document { name, text, language, code, places: Places::default() }
    }

    /// Looks for the places where a fence can be put.
    pub fn find_points(&mut self, activity: &Activity) {
        self.places = match self.language {
            Language::C => places(&self.text, self.code.clone(), activity),
        };
    }

    /// How many there are.
    pub fn points(&self) -> usize {
        self.places.points.len()
    }

    pub fn offset_of(&self, point: usize) -> usize {
        self.places.points.get(point).map_or(0, |point| point.offset)
    }

    pub fn location(&self, offset: usize) -> Location {
        SourceFile::new(&self.name, &self.text).location(Span::new(offset, offset))
    }

    /// A fence of a kind as it is written here.
    pub fn fence(&self, kind: &str) -> String {
        let has_library = self.text.contains("stdatomic.h") || self.text.contains("memory_order_");
        match self.language {
            Language::C if has_library => {
                format!("atomic_thread_fence({});", spelled(kind, false))
            }
            Language::C => format!("__atomic_thread_fence({});", spelled(kind, true)),
        }
    }

    /// The changes that put fences to points; each with the number of its decision.
    pub fn insertions(&self, fences: &[(usize, u32, String)], style: Style) -> Vec<Edit> {
        match self.language {
            Language::C => c::insertions(&self.text, &self.places, fences, style),
        }
    }

    pub fn with_fences(&self, fences: &[(usize, u32, String)], style: Style) -> Edited {
        edit(&self.text, self.insertions(fences, style))
    }

    /// The memory orders of the call at an offset.
    pub fn orders(&self, offset: usize) -> Option<Orders> {
        match self.language {
            Language::C => Orders::at(&self.text, offset),
        }
    }

    /// The change that takes out the fence at an offset.
    pub fn removal(&self, offset: usize) -> Option<Edit> {
        match self.language {
            Language::C => c::removal(&self.text, offset),
        }
    }
}
