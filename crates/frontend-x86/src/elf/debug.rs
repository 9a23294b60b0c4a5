//! Which line of the source an address comes from.

use std::collections::BTreeMap;
use std::sync::Arc;

use gimli::{EndianArcSlice, LittleEndian, SectionId};
use object::read::elf::SectionHeader;

use super::File;

type Reader = EndianArcSlice<LittleEndian>;

/// The debug sections of a file, by name.
pub type Sections = BTreeMap<String, Vec<u8>>;

/// Lines by address; empty where a file does not have them.
#[derive(Default)]
pub struct Lines {
    context: Option<addr2line::Context<Reader>>,
    /// How far the program is from where its file says it lies.
    bias: u64,
}

impl Lines {
    pub fn of_executable(file: &File<'_>, bias: u64) -> Lines {
        Lines::new(&sections(file), bias)
    }

    /// What cannot be read is not shown; programs mean the same without.
    pub fn new(sections: &Sections, bias: u64) -> Lines {
        let section = |id: SectionId| -> Result<Reader, gimli::Error> {
            let bytes = sections.get(id.name()).map(Vec::as_slice).unwrap_or_default();
            Ok(EndianArcSlice::new(Arc::from(bytes), LittleEndian))
        };
        let dwarf = gimli::Dwarf::load(section).ok();
        let context = dwarf.and_then(|dwarf| addr2line::Context::from_dwarf(dwarf).ok());
        Lines { context, bias }
    }

    /// The file, without its folders, and the line.
    pub fn find(&self, address: u64) -> Option<(String, u32)> {
        let context = self.context.as_ref()?;
        let location = context.find_location(address.wrapping_sub(self.bias)).ok()??;
        let file = location.file?.rsplit('/').next()?.to_string();
        location.line.filter(|line| *line > 0).map(|line| (file, line))
    }
}

/// The debug sections as they are in the file; compressed ones are left out.
pub fn sections(file: &File<'_>) -> Sections {
    let (endian, table) = (file.endian(), file.elf_section_table());
    let mut found = Sections::new();
    for section in table.iter() {
        let Ok(name) = table.section_name(endian, section) else {
            continue;
        };
        let compressed = section.sh_flags(endian).0 & object::elf::SHF_COMPRESSED.0 != 0;
        if !name.starts_with(b".debug_") || compressed {
            continue;
        }
        if let Ok(data) = section.data(endian, file.data()) {
            found.insert(String::from_utf8_lossy(name).into_owned(), data.to_vec());
        }
    }
    found
}
