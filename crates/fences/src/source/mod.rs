//! Programs as people wrote them: where a fence can be put into a text, and how that is done.

mod assembly;
pub mod c;
pub mod diff;
pub mod edits;
mod operators;
pub mod orders;
pub mod statements;
mod table;
mod tokens;

#[cfg(test)]
mod tests;

use std::ops::Range;

use parallax_program::{Location, SourceFile, Span};

pub(crate) use self::assembly::Assembly;
pub use self::c::Style;
use self::edits::{Edit, Edited, edit};
use self::orders::{Orders, spelled};
pub use self::statements::Activity;
use self::statements::{Places, places};
use self::table::Table;

/// A text in which fences can be put.
#[derive(Clone, Debug)]
pub struct Document {
    pub name: String,
    pub text: String,
    pub language: Language,
    /// The part that is code.
    code: Range<usize>,
    places: Places,
    table: Table,
    assembly: Assembly,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    /// C, of files and of litmus tests.
    C,
    /// Litmus tests of assembly whose instructions are written in capitals, or not.
    Table { capitals: bool },
    /// Files for the assembler.
    Assembly,
}

impl Document {
    pub fn new(name: &str, text: &str, language: Language, code: Range<usize>) -> Document {
        let (name, text) = (name.to_string(), text.to_string());
        let (mut table, mut assembly) = (Table::default(), Assembly::default());
        match language {
            Language::C => {}
            Language::Table { .. } => table = Table::new(&text, code.clone()),
            Language::Assembly => assembly = Assembly::new(&text),
        }
        Document { name, text, language, code, places: Places::default(), table, assembly }
    }

    /// Looks for the places where a fence can be put.
    pub fn find_points(&mut self, activity: &Activity) {
        match self.language {
            Language::C => self.places = places(&self.text, self.code.clone(), activity),
            Language::Table { .. } => self.table.find_points(activity),
            Language::Assembly => self.assembly.find_points(activity),
        }
    }

    /// How many there are.
    pub fn points(&self) -> usize {
        match self.language {
            Language::C => self.places.points.len(),
            Language::Table { .. } => self.table.points(),
            Language::Assembly => self.assembly.points(),
        }
    }

    pub fn offset_of(&self, point: usize) -> usize {
        match self.language {
            Language::C => self.places.points.get(point).map_or(0, |point| point.offset),
            Language::Table { .. } => self.table.offset_of(point),
            Language::Assembly => self.assembly.offset_of(point),
        }
    }

    pub fn location(&self, offset: usize) -> Location {
        SourceFile::new(&self.name, &self.text).location(Span::new(offset, offset))
    }

    /// A fence of a kind as it is written here.
    pub fn fence(&self, kind: &str) -> String {
        let has_library = self.text.contains("stdatomic.h") || self.text.contains("memory_order_");
        match self.language {
            Language::C if kind.starts_with("smp_") => format!("{kind}();"),
            Language::C if has_library => {
                format!("atomic_thread_fence({});", spelled(kind, false))
            }
            Language::C => format!("__atomic_thread_fence({});", spelled(kind, true)),
            Language::Table { capitals: true } => kind.to_ascii_uppercase(),
            Language::Table { capitals: false } | Language::Assembly => kind.to_string(),
        }
    }

    /// The changes that put fences to points; each with the number of its decision.
    pub fn insertions(&self, fences: &[(usize, u32, String)], style: Style) -> Vec<Edit> {
        match self.language {
            Language::C => c::insertions(&self.text, &self.places, fences, style),
            Language::Table { .. } => self.table.insertions(&self.text, fences),
            Language::Assembly => self.assembly.insertions(&self.text, fences),
        }
    }

    pub fn with_fences(&self, fences: &[(usize, u32, String)], style: Style) -> Edited {
        edit(&self.text, self.insertions(fences, style))
    }

    /// The memory orders of the call at an offset.
    pub fn orders(&self, offset: usize) -> Option<Orders> {
        match self.language {
            Language::C => Orders::at(&self.text, offset),
            Language::Table { .. } => self.table.cell(offset).map(Orders::instruction),
            Language::Assembly => self.assembly.instruction_at(offset).map(Orders::instruction),
        }
    }

    /// The instruction of a table at an offset.
    pub fn instruction(&self, offset: usize) -> Option<Range<usize>> {
        match self.language {
            Language::Table { .. } => self.table.cell(offset),
            Language::C | Language::Assembly => None,
        }
    }

    /// An order, or a kind of fence, in the place of another.
    pub fn spelled(&self, kind: &str) -> String {
        match self.language {
            Language::C => kind.to_string(),
            Language::Table { .. } | Language::Assembly => self.fence(kind),
        }
    }

    /// The change that takes out the fence at an offset.
    pub fn removal(&self, offset: usize) -> Option<Edit> {
        match self.language {
            Language::C => c::removal(&self.text, offset),
            Language::Table { .. } => self.table.cell(offset).map(|cell| {
                let text = " ".repeat(cell.len());
                Edit { at: cell.start, removed: cell.len(), text, rank: 0, of: None }
            }),
            Language::Assembly => self.assembly.removal(&self.text, offset),
        }
    }
}
