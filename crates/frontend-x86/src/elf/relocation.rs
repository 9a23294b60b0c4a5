//! Relocations of executables, and what to do about names that nothing defines.

use std::collections::BTreeMap;

use object::elf;
use object::read::elf::{Rela, SectionHeader, Sym};
use object::{Endianness, SymbolIndex};

use super::image::{Image, Slot};
use super::{File, Loaded, damaged};

/// Names that a file uses and does not define.
pub struct Undefined<'a> {
    is_known: &'a dyn Fn(&str) -> bool,
    /// Objects of the C library, and where they lie.
    objects: BTreeMap<String, u64>,
}

/// A name that the file does not define, and what is known of it.
pub struct Unresolved<'s> {
    pub name: &'s str,
    pub kind: elf::SymbolType,
    pub size: u64,
    pub is_weak: bool,
    /// Whether it is certainly called.
    pub is_called: bool,
}

/// What such a name stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stand {
    /// A foreign function, or an object of zeros. A program may ask for what is not there, and
    /// finds 0.
    Address(u64),
    Missing,
}

impl<'a> Undefined<'a> {
    pub fn new(is_known: &'a dyn Fn(&str) -> bool) -> Undefined<'a> {
        Undefined { is_known, objects: BTreeMap::new() }
    }

    pub fn stand(&mut self, image: &mut Image, unresolved: &Unresolved<'_>) -> Loaded<Stand> {
        let Unresolved { name, kind, size, is_weak, is_called } = *unresolved;
        if (self.is_known)(name) {
            return Ok(Stand::Address(image.foreign.address(name)));
        }
        if kind == elf::STT_OBJECT || is_object_name(name) {
            return self.object(image, name, size).map(Stand::Address);
        }
        Ok(match (is_weak, kind == elf::STT_FUNC || is_called) {
            (true, _) => Stand::Address(0),
            (false, true) => Stand::Address(image.foreign.address(name)),
            (false, false) => Stand::Missing,
        })
    }

    /// An object of the library, which is made if need be.
    fn object(&mut self, image: &mut Image, name: &str, size: u64) -> Loaded<u64> {
        const SMALLEST: u64 = 256;
        const LARGEST: u64 = 1 << 16;
        if let Some(address) = self.objects.get(name) {
            return Ok(*address);
        }
        let address = image.append(name, size.clamp(SMALLEST, LARGEST), 16)?;
        image.symbols.add(name, elf::STT_OBJECT, address, size.clamp(8, LARGEST), false);
        self.objects.insert(name.to_string(), address);
        Ok(address)
    }
}

/// Objects of the C and C++ libraries that programs refer to.
fn is_object_name(name: &str) -> bool {
    const NAMES: [&str; 20] = [
        "stdin",
        "stdout",
        "stderr",
        "environ",
        "_environ",
        "__environ",
        "optarg",
        "optind",
        "opterr",
        "optopt",
        "program_invocation_name",
        "program_invocation_short_name",
        "timezone",
        "__libc_single_threaded",
        "__dso_handle",
        "_ZSt4cout",
        "_ZSt4cerr",
        "_ZSt3cin",
        "_ZSt7nothrow",
        "_ZSt4clog",
    ];
    NAMES.contains(&name) || name.starts_with("_ZTV") || name.starts_with("_ZTI")
}

/// An environment without variables, where the program refers to it.
pub fn environment(image: &mut Image) -> Loaded<()> {
    let is_environment = |name: &str| matches!(name, "environ" | "_environ" | "__environ");
    let objects = image.symbols.objects.iter();
    let found = objects.filter(|(_, named)| is_environment(&named.name));
    let found: Vec<u64> = found.map(|(address, _)| *address).collect();
    if found.is_empty() {
        return Ok(());
    }
    let list = image.append("environment", 8, 8)?;
    found.into_iter().try_for_each(|place| image.patch(place, list, 8))
}

pub fn of_executable(
    image: &mut Image,
    file: &File<'_>,
    bias: u64,
    undefined: &mut Undefined<'_>,
) -> Loaded<()> {
    let (endian, table) = (file.endian(), file.elf_section_table());
    for section in table.iter() {
        if section.sh_flags(endian).0 & elf::SHF_ALLOC.0 == 0 {
            continue;
        }
        if section.sh_type(endian) == elf::SHT_RELR {
            return Err("packed relocations (link with -z nopack-relative-relocs)".to_string());
        }
        let Some((entries, link)) = section.rela(endian, file.data()).map_err(damaged)? else {
            continue;
        };
        let symbols = table.symbol_table_by_index(endian, file.data(), link).ok();
        for entry in entries {
            let place = entry.r_offset(endian).wrapping_add(bias);
            let addend = entry.r_addend(endian) as u64;
            let index = SymbolIndex(entry.r_sym(endian, false) as usize);
            let symbol = symbols.as_ref().filter(|_| index.0 != 0);
            let symbol = symbol.and_then(|symbols| {
                let symbol = symbols.symbol(index).ok()?;
                let name = symbol.name(endian, symbols.strings()).ok()?;
                Some((symbol, String::from_utf8_lossy(name).into_owned()))
            });
            let kind = entry.r_type(endian, false);
            let one = One { place, addend, bias, kind: kind.0, symbol };
            one.apply(image, endian, undefined)?;
        }
    }
    Ok(())
}

/// One relocation of an executable.
struct One<'data> {
    place: u64,
    addend: u64,
    bias: u64,
    kind: u32,
    symbol: Option<(&'data elf::Sym64<Endianness>, String)>,
}

impl One<'_> {
    fn apply(
        self,
        image: &mut Image,
        endian: Endianness,
        undefined: &mut Undefined<'_>,
    ) -> Loaded<()> {
        let value = self.symbol.as_ref().map_or(0, |(symbol, _)| symbol.st_value(endian));
        let offset = value.wrapping_add(self.addend);
        let (place, bias) = (self.place, self.bias);
        match elf::RelocationType(self.kind) {
            elf::R_X86_64_NONE | elf::R_X86_64_COPY => Ok(()),
            elf::R_X86_64_RELATIVE => pointer(image, place, bias.wrapping_add(self.addend)),
            elf::R_X86_64_IRELATIVE => resolved(image, place, bias.wrapping_add(self.addend)),
            elf::R_X86_64_64 | elf::R_X86_64_GLOB_DAT | elf::R_X86_64_JUMP_SLOT => {
                self.symbolic(image, endian, undefined)
            }
            elf::R_X86_64_TPOFF64 => {
                let distance = image.thread_local.distance(offset);
                image.patch(place, distance, 8)
            }
            elf::R_X86_64_DTPMOD64 => image.patch(place, 1, 8),
            elf::R_X86_64_DTPOFF64 => image.patch(place, offset, 8),
            other => Err(format!(
                "the relocation at {place:#x} is of type {}, which is not supported",
                other.0
            )),
        }
    }

    /// The address of a symbol.
    fn symbolic(
        &self,
        image: &mut Image,
        endian: Endianness,
        undefined: &mut Undefined<'_>,
    ) -> Loaded<()> {
        let place = self.place;
        let Some((symbol, name)) = &self.symbol else {
            return Err(format!("the relocation at {place:#x} refers to no symbol"));
        };
        if !symbol.is_undefined(endian) {
            let target = symbol.st_value(endian).wrapping_add(self.bias);
            if symbol.st_type() == elf::STT_GNU_IFUNC {
                return resolved(image, place, target);
            }
            return pointer(image, place, target.wrapping_add(self.addend));
        }
        let unresolved = Unresolved {
            name,
            kind: symbol.st_type(),
            size: symbol.st_size(endian),
            is_weak: symbol.is_weak(),
            is_called: elf::RelocationType(self.kind) == elf::R_X86_64_JUMP_SLOT,
        };
        match undefined.stand(image, &unresolved)? {
            Stand::Address(0) => pointer(image, place, 0),
            Stand::Address(address) => pointer(image, place, address.wrapping_add(self.addend)),
            Stand::Missing => {
                image.slots.insert(place, Slot::Missing(name.clone()));
                Ok(())
            }
        }
    }
}

/// Puts an address into a word.
pub fn pointer(image: &mut Image, place: u64, target: u64) -> Loaded<()> {
    image.patch(place, target, 8)?;
    image.pointers.insert(target);
    image.slots.insert(place, Slot::Address(target));
    Ok(())
}

/// A function that the start of the program chooses; the one of that name stands in for it.
pub fn resolved(image: &mut Image, place: u64, resolver: u64) -> Loaded<()> {
    let name = match image.symbols.resolvers.get(&resolver) {
        Some(named) => named.name.clone(),
        None => format!("the function chosen by {}", image.symbols.place(resolver)),
    };
    let target = image.foreign.address(&name);
    pointer(image, place, target)
}
