//! ELF files as memory images: what lies where when a program starts, after the work that linker
//! and loader do, and what of it is known by name.
//!
//! System V Application Binary Interface, AMD64 Architecture Processor Supplement, chapters 4
//! and 5; U. Drepper, ELF Handling For Thread-Local Storage, 2013.

mod debug;
mod executable;
mod foreign;
mod image;
mod object_file;
mod relocation;
mod symbols;

use object::elf;
use object::read::elf::{ElfFile64, FileHeader};
use object::{Endianness, FileKind};

pub use debug::Lines;
pub use foreign::Foreign;
pub use image::{Image, Region, Slot, ThreadLocal};
pub use symbols::{Symbols, is_part};

/// What is wrong with a file. The caller knows its name.
pub type Loaded<T> = Result<T, String>;

type File<'data> = ElfFile64<'data, Endianness, &'data [u8]>;

/// Reads an executable, or a relocatable object as if it were linked alone. `is_known` says
/// the functions that something outside of the file stands in for.
pub fn load(bytes: &[u8], is_known: &dyn Fn(&str) -> bool) -> Loaded<Image> {
    match FileKind::parse(bytes) {
        Ok(FileKind::Elf64) => {}
        Ok(FileKind::Elf32) => return Err("an ELF file of 32 bits, not 64".to_string()),
        Ok(_) | Err(_) => return Err("not an ELF file".to_string()),
    }
    let file = File::parse(bytes).map_err(damaged)?;
    let (header, endian) = (file.elf_header(), file.endian());
    if endian != Endianness::Little {
        return Err("an ELF file in big-endian order".to_string());
    }
    if header.e_machine(endian) != elf::EM_X86_64 {
        let machine = header.e_machine(endian).0;
        return Err(format!("an ELF file for another machine (number {machine}), not x86-64"));
    }
    match header.e_type(endian) {
        elf::ET_EXEC | elf::ET_DYN => executable::load(&file, is_known),
        elf::ET_REL => object_file::load(&file, is_known),
        elf::ET_CORE => Err("a core dump, not a program".to_string()),
        other => Err(format!("an ELF file of unknown type {}", other.0)),
    }
}

fn damaged(error: object::Error) -> String {
    format!("a damaged ELF file: {error}")
}
