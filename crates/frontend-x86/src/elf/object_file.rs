//! Relocatable objects, linked alone: sections get places, and relocations are applied as a
//! linker does.

use std::collections::BTreeMap;

use object::elf;
use object::read::elf::{Rela, SectionHeader, Sym};
use object::{SectionIndex, SymbolIndex};

use super::image::{Image, Slot};
use super::relocation::{Stand, Undefined, Unresolved, environment, pointer};
use super::{File, Lines, Loaded, ThreadLocal, damaged, debug, executable, symbols};

pub fn load(file: &File<'_>, is_known: &dyn Fn(&str) -> bool) -> Loaded<Image> {
    let mut linker = Linker {
        file,
        image: Image::new(),
        places: BTreeMap::new(),
        offsets: BTreeMap::new(),
        commons: BTreeMap::new(),
        table: BTreeMap::new(),
        undefined: Undefined::new(is_known),
    };
    linker.place_sections()?;
    linker.place_thread_local()?;
    linker.place_commons()?;
    linker.add_symbols()?;
    linker.make_table()?;
    linker.relocate()?;
    let constructors = linker.constructors();
    let lines = linker.lines();
    let mut image = linker.image;
    environment(&mut image)?;
    image.constructors = constructors;
    image.lines = lines;
    Ok(image)
}

struct Linker<'a, 'data> {
    file: &'a File<'data>,
    image: Image,
    /// Where each section lies.
    places: BTreeMap<usize, u64>,
    /// Where each section of thread-local variables lies among them.
    offsets: BTreeMap<usize, u64>,
    /// Where each common symbol lies.
    commons: BTreeMap<usize, u64>,
    /// Words of the global offset table, by symbol and what they are for.
    table: BTreeMap<(usize, Entry), u64>,
    undefined: Undefined<'a>,
}

/// What a word of the global offset table is for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Entry {
    Address,
    /// The distance from the thread pointer.
    Distance,
    /// A module's number and an offset, two words.
    General,
    /// The same for all variables of the module, offset 0.
    Local,
}

/// A relocation with its symbol.
struct One {
    place: u64,
    kind: elf::RelocationType,
    symbol: SymbolIndex,
    addend: u64,
}

/// What a symbol stands for.
enum Target {
    Address(u64),
    Missing(String),
}

impl Linker<'_, '_> {
    fn place_sections(&mut self) -> Loaded<()> {
        let (endian, table) = (self.file.endian(), self.file.elf_section_table());
        for (index, section) in table.enumerate() {
            let (flags, kind) = (section.sh_flags(endian), section.sh_type(endian));
            let has = |flag: elf::SectionFlags| flags.0 & flag.0 != 0;
            let size = section.sh_size(endian);
            let name = table.section_name(endian, section).map_err(damaged)?;
            let name = String::from_utf8_lossy(name).into_owned();
            let unused = name == ".eh_frame" || kind == elf::SHT_NOTE;
            if !has(elf::SHF_ALLOC) || has(elf::SHF_TLS) || unused {
                continue;
            }
            let address = self.image.append(&name, size.max(1), section.sh_addralign(endian))?;
            self.places.insert(index.0, address);
            if let Some(region) = self.image.regions.last_mut() {
                region.writable = has(elf::SHF_WRITE);
                region.executable = has(elf::SHF_EXECINSTR);
                if kind != elf::SHT_NOBITS {
                    let data = section.data(endian, self.file.data()).map_err(damaged)?;
                    region.data = data.to_vec();
                }
            }
        }
        Ok(())
    }

    /// Variables with values first, then those that are zero.
    fn place_thread_local(&mut self) -> Loaded<()> {
        const LARGEST: u64 = 1 << 24;
        let (endian, table) = (self.file.endian(), self.file.elf_section_table());
        let mut found = ThreadLocal { align: 1, ..ThreadLocal::default() };
        for zero in [false, true] {
            for (index, section) in table.enumerate() {
                let is_zero = section.sh_type(endian) == elf::SHT_NOBITS;
                let is_local = section.sh_flags(endian).0 & elf::SHF_TLS.0 != 0;
                if !is_local || is_zero != zero {
                    continue;
                }
                let align = section.sh_addralign(endian).max(1);
                if !align.is_power_of_two() || align > 4096 {
                    return Err(format!("thread-local variables are aligned to {align}"));
                }
                let offset = found.size.next_multiple_of(align);
                let size = offset.checked_add(section.sh_size(endian));
                found.size = size.filter(|size| *size < LARGEST).ok_or("too many of them")?;
                found.align = found.align.max(align as u32);
                self.offsets.insert(index.0, offset);
                if !is_zero {
                    let data = section.data(endian, self.file.data()).map_err(damaged)?;
                    found.data.resize(offset as usize, 0);
                    found.data.extend_from_slice(data);
                }
            }
        }
        found.size = found.size.next_multiple_of(u64::from(found.align));
        self.image.thread_local = found;
        Ok(())
    }

    fn place_commons(&mut self) -> Loaded<()> {
        let endian = self.file.endian();
        let symbols = self.file.elf_symbol_table();
        for (index, symbol) in symbols.enumerate() {
            if symbol.is_common(endian) {
                let name = symbol.name(endian, symbols.strings()).map_err(damaged)?;
                let name = String::from_utf8_lossy(name);
                let (size, align) = (symbol.st_size(endian), symbol.st_value(endian));
                let address = self.image.append(&name, size.max(1), align)?;
                self.commons.insert(index.0, address);
            }
        }
        Ok(())
    }

    /// Where a defined symbol lies.
    fn defined(&self, index: SymbolIndex) -> Option<u64> {
        let (endian, table) = (self.file.endian(), self.file.elf_symbol_table());
        let symbol = table.symbol(index).ok()?;
        if symbol.is_common(endian) {
            return self.commons.get(&index.0).copied();
        }
        if symbol.is_absolute(endian) {
            return Some(symbol.st_value(endian));
        }
        let section = table.symbol_section(endian, symbol, index).ok()??;
        let start = self.start_of(section)?;
        Some(start.wrapping_add(symbol.st_value(endian)))
    }

    fn start_of(&self, section: SectionIndex) -> Option<u64> {
        self.places.get(&section.0).or_else(|| self.offsets.get(&section.0)).copied()
    }

    fn add_symbols(&mut self) -> Loaded<()> {
        let (endian, table) = (self.file.endian(), self.file.elf_symbol_table());
        for (index, symbol) in table.enumerate() {
            let name = symbol.name(endian, table.strings()).map_err(damaged)?;
            let name = String::from_utf8_lossy(name);
            let kind = match symbol.is_common(endian) {
                true => elf::STT_OBJECT,
                false => symbol.st_type(),
            };
            let is_local = symbol.is_local();
            if let Some(place) = self.defined(index)
                && let Some(kind) = symbols::kind(kind, is_local, self.image.is_code(place))
            {
                let size = symbol.st_size(endian);
                self.image.symbols.add(&name, kind, place, size, is_local);
            }
        }
        Ok(())
    }

    /// What a symbol stands for, where it is needed as an address.
    fn target(&mut self, symbol: SymbolIndex, is_called: bool) -> Loaded<Target> {
        if symbol.0 == 0 {
            return Ok(Target::Address(0));
        }
        let (endian, table) = (self.file.endian(), self.file.elf_symbol_table());
        let entry = table.symbol(symbol).map_err(damaged)?;
        let name = entry.name(endian, table.strings()).map_err(damaged)?;
        let name = String::from_utf8_lossy(name).into_owned();
        if let Some(address) = self.defined(symbol) {
            return Ok(Target::Address(match entry.st_type() {
                elf::STT_GNU_IFUNC => self.image.foreign.address(&name),
                _ => address,
            }));
        }
        let unresolved = Unresolved {
            name: &name,
            kind: entry.st_type(),
            size: entry.st_size(endian),
            is_weak: entry.is_weak(),
            is_called,
        };
        Ok(match self.undefined.stand(&mut self.image, &unresolved)? {
            Stand::Address(address) => Target::Address(address),
            Stand::Missing => Target::Missing(name),
        })
    }

    /// The relocations of sections that are loaded (or of the debug sections).
    fn relocations(&self, of_debug: bool) -> Loaded<Vec<(usize, One)>> {
        let (endian, table) = (self.file.endian(), self.file.elf_section_table());
        let mut found = Vec::new();
        for section in table.iter() {
            let Some((entries, _)) = section.rela(endian, self.file.data()).map_err(damaged)?
            else {
                continue;
            };
            let target = section.info_link(endian);
            let start = match self.places.get(&target.0) {
                Some(start) if !of_debug => *start,
                None if of_debug => 0,
                _ => continue,
            };
            found.extend(entries.iter().map(|entry| {
                let one = One {
                    place: start.wrapping_add(entry.r_offset(endian)),
                    kind: entry.r_type(endian, false),
                    symbol: SymbolIndex(entry.r_sym(endian, false) as usize),
                    addend: entry.r_addend(endian) as u64,
                };
                (target.0, one)
            }));
        }
        Ok(found)
    }

    /// Makes the global offset table, and fills it.
    fn make_table(&mut self) -> Loaded<()> {
        let mut entries: BTreeMap<(usize, Entry), u64> = BTreeMap::new();
        for (_, one) in self.relocations(false)? {
            if let Some(entry) = table_entry(one.kind) {
                entries.insert(entry_key(one.symbol, entry), 0);
            }
        }
        if entries.is_empty() {
            return Ok(());
        }
        let start = self.image.append(".got", entries.len() as u64 * 16, 16)?;
        if let Some(region) = self.image.regions.last_mut() {
            region.writable = false;
        }
        for (number, ((symbol, entry), place)) in entries.iter_mut().enumerate() {
            *place = start + number as u64 * 16;
            self.fill_entry(SymbolIndex(*symbol), *entry, *place)?;
        }
        self.table = entries;
        Ok(())
    }

    fn fill_entry(&mut self, symbol: SymbolIndex, entry: Entry, place: u64) -> Loaded<()> {
        if entry == Entry::Address {
            return match self.target(symbol, false)? {
                Target::Address(address) => pointer(&mut self.image, place, address),
                Target::Missing(name) => {
                    self.image.slots.insert(place, Slot::Missing(name));
                    Ok(())
                }
            };
        }
        let offset = match entry {
            Entry::Local => 0,
            _ => self.defined(symbol).ok_or("a thread-local variable of another file")?,
        };
        if entry == Entry::Distance {
            let distance = self.image.thread_local.distance(offset);
            return self.image.patch(place, distance, 8);
        }
        self.image.patch(place, 1, 8)?;
        self.image.patch(place + 8, offset, 8)
    }

    fn relocate(&mut self) -> Loaded<()> {
        for (_, one) in self.relocations(false)? {
            self.apply(&one)?;
        }
        Ok(())
    }

    fn apply(&mut self, one: &One) -> Loaded<()> {
        let One { place, kind, symbol, addend } = *one;
        let relative = |address: u64| address.wrapping_add(addend).wrapping_sub(place);
        if let Some(entry) = table_entry(kind) {
            let key = entry_key(symbol, entry);
            let word = self.table.get(&key).copied().unwrap_or_default();
            return narrow(&mut self.image, place, relative(word));
        }
        match kind {
            elf::R_X86_64_NONE => Ok(()),
            elf::R_X86_64_64 => match self.target(symbol, false)? {
                Target::Address(address) => {
                    pointer(&mut self.image, place, address.wrapping_add(addend))
                }
                Target::Missing(name) => Err(missing(&name)),
            },
            elf::R_X86_64_PC32 | elf::R_X86_64_PLT32 => {
                let address = self.address(symbol, kind == elf::R_X86_64_PLT32)?;
                self.image.pointers.insert(address.wrapping_add(addend).wrapping_add(4));
                narrow(&mut self.image, place, relative(address))
            }
            elf::R_X86_64_PC64 => {
                let address = self.address(symbol, false)?;
                self.image.patch(place, relative(address), 8)
            }
            elf::R_X86_64_32 | elf::R_X86_64_32S => {
                let address = self.address(symbol, false)?.wrapping_add(addend);
                self.image.pointers.insert(address);
                narrow(&mut self.image, place, address)
            }
            elf::R_X86_64_TPOFF32 => {
                let offset = self.address(symbol, false)?.wrapping_add(addend);
                let distance = self.image.thread_local.distance(offset);
                narrow(&mut self.image, place, distance)
            }
            elf::R_X86_64_DTPOFF32 => {
                let offset = self.address(symbol, false)?.wrapping_add(addend);
                narrow(&mut self.image, place, offset)
            }
            other => Err(format!(
                "the relocation at {place:#x} is of type {}, which is not supported",
                other.0
            )),
        }
    }

    fn address(&mut self, symbol: SymbolIndex, is_called: bool) -> Loaded<u64> {
        match self.target(symbol, is_called)? {
            Target::Address(address) => Ok(address),
            Target::Missing(name) => Err(missing(&name)),
        }
    }

    /// By priority, then in order; those without one come last.
    fn constructors(&self) -> Vec<u64> {
        let (endian, table) = (self.file.endian(), self.file.elf_section_table());
        let mut arrays = Vec::new();
        for (index, section) in table.enumerate() {
            if section.sh_type(endian) == elf::SHT_INIT_ARRAY
                && let Some(start) = self.places.get(&index.0)
                && let Ok(name) = table.section_name(endian, section)
            {
                let name = String::from_utf8_lossy(name);
                let priority = name.strip_prefix(".init_array.").and_then(|text| text.parse().ok());
                arrays.push((priority.unwrap_or(u32::MAX), *start, section.sh_size(endian)));
            }
        }
        arrays.sort_unstable();
        let words = |(_, start, size)| executable::words(&self.image, start, size);
        arrays.into_iter().flat_map(words).collect()
    }

    /// Debug sections refer to code by relocations too.
    fn lines(&self) -> Lines {
        let (endian, table) = (self.file.endian(), self.file.elf_section_table());
        let mut sections = debug::sections(self.file);
        for (section, one) in self.relocations(true).unwrap_or_default() {
            let header = table.section(SectionIndex(section)).ok();
            let name = header.and_then(|header| table.section_name(endian, header).ok());
            let name = String::from_utf8_lossy(name.unwrap_or_default()).into_owned();
            let bytes = match one.kind {
                elf::R_X86_64_64 => 8,
                elf::R_X86_64_32 => 4,
                _ => continue,
            };
            // Symbols of debug sections stand for offsets in them.
            let value = self.defined(one.symbol).or_else(|| self.raw(one.symbol)).unwrap_or(0);
            let value = value.wrapping_add(one.addend).to_le_bytes();
            let Some(data) = sections.get_mut(&name) else {
                continue;
            };
            let offset = usize::try_from(one.place).unwrap_or(usize::MAX);
            let places = data.iter_mut().skip(offset).take(bytes);
            places.zip(value).for_each(|(place, byte)| *place = byte);
        }
        Lines::new(&sections, 0)
    }

    fn raw(&self, symbol: SymbolIndex) -> Option<u64> {
        let symbol = self.file.elf_symbol_table().symbol(symbol).ok()?;
        Some(symbol.st_value(self.file.endian()))
    }
}

fn missing(name: &str) -> String {
    format!("nothing defines '{name}'")
}

/// The word of the global offset table that a relocation refers to.
fn table_entry(kind: elf::RelocationType) -> Option<Entry> {
    match kind {
        elf::R_X86_64_GOTPCREL | elf::R_X86_64_GOTPCRELX | elf::R_X86_64_REX_GOTPCRELX => {
            Some(Entry::Address)
        }
        elf::R_X86_64_GOTTPOFF => Some(Entry::Distance),
        elf::R_X86_64_TLSGD => Some(Entry::General),
        elf::R_X86_64_TLSLD => Some(Entry::Local),
        _ => None,
    }
}

fn entry_key(symbol: SymbolIndex, entry: Entry) -> (usize, Entry) {
    (if entry == Entry::Local { 0 } else { symbol.0 }, entry)
}

/// Puts a number of 32 bits into the code; it must fit.
fn narrow(image: &mut Image, place: u64, value: u64) -> Loaded<()> {
    let signed = i32::try_from(value as i64).is_ok();
    if !signed && u32::try_from(value).is_err() {
        return Err(format!("the relocation at {place:#x} is out of range"));
    }
    image.patch(place, value, 4)
}
