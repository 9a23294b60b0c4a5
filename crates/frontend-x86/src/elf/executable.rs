//! Executables, static or dynamic, at fixed addresses or not.

use object::elf;
use object::read::elf::{FileHeader, ProgramHeader, SectionHeader};

use super::image::{Region, Slot};
use super::relocation::Undefined;
use super::{File, Image, Lines, Loaded, ThreadLocal, damaged, relocation, symbols};

pub fn load(file: &File<'_>, is_known: &dyn Fn(&str) -> bool) -> Loaded<Image> {
    let mut image = Image::new();
    let bias = bias(file)?;
    let entry = file.elf_header().e_entry(file.endian());
    image.entry = (entry != 0).then(|| entry.wrapping_add(bias));
    add_sections(&mut image, file, bias)?;
    image.symbols = symbols::of_executable(file, bias, |address| image.is_code(address));
    image.thread_local = thread_local_size(file)?;
    let mut undefined = Undefined::new(is_known);
    relocation::of_executable(&mut image, file, bias, &mut undefined)?;
    relocation::environment(&mut image)?;
    fill_thread_local(&mut image, file, bias);
    image.constructors = constructors(&image, file, bias);
    image.lines = Lines::of_executable(file, bias);
    Ok(image)
}

/// How far the program is from where its file says it lies.
fn bias(file: &File<'_>) -> Loaded<u64> {
    let endian = file.endian();
    let loaded = file.elf_program_headers().iter();
    let loaded = loaded.filter(|header| header.p_type(endian) == elf::PT_LOAD);
    let lowest = loaded.map(|header| header.p_vaddr(endian)).min();
    let lowest = lowest.ok_or("nothing in the file is to be loaded")?;
    match file.elf_header().e_type(endian) {
        elf::ET_DYN => Ok(Image::BASE.wrapping_sub(lowest & !0xfff)),
        _ => Ok(0),
    }
}

fn add_sections(image: &mut Image, file: &File<'_>, bias: u64) -> Loaded<()> {
    let (endian, table) = (file.endian(), file.elf_section_table());
    if table.is_empty() {
        return Err("the file has no section table".to_string());
    }
    for section in table.iter() {
        let (flags, kind) = (section.sh_flags(endian), section.sh_type(endian));
        let has = |flag: elf::SectionFlags| flags.0 & flag.0 != 0;
        let is_zero = kind == elf::SHT_NOBITS;
        let size = section.sh_size(endian);
        if !has(elf::SHF_ALLOC) || size == 0 || has(elf::SHF_TLS) && is_zero {
            continue;
        }
        let name = table.section_name(endian, section).map_err(damaged)?;
        let data = match is_zero {
            true => Vec::new(),
            false => section.data(endian, file.data()).map_err(damaged)?.to_vec(),
        };
        image.add(Region {
            name: String::from_utf8_lossy(name).into_owned(),
            address: section.sh_addr(endian).wrapping_add(bias),
            size,
            data,
            // The table of the dynamic linker is in memory that could be written; nobody does.
            writable: has(elf::SHF_WRITE) && kind != elf::SHT_DYNAMIC,
            executable: has(elf::SHF_EXECINSTR),
        })?;
    }
    Ok(())
}

/// The thread-local variables, without their values: those may be relocated yet.
fn thread_local_size(file: &File<'_>) -> Loaded<ThreadLocal> {
    let Some(header) = thread_local_header(file) else {
        return Ok(ThreadLocal::default());
    };
    let endian = file.endian();
    let align = header.p_align(endian).max(1);
    let size = header.p_memsz(endian).checked_next_multiple_of(align);
    let size = size.filter(|size| align.is_power_of_two() && align <= 4096 && *size < 1 << 24);
    let size = size.ok_or("the size of its thread-local variables is out of range")?;
    Ok(ThreadLocal { data: Vec::new(), size, align: align as u32 })
}

fn thread_local_header<'data>(
    file: &File<'data>,
) -> Option<&'data elf::ProgramHeader64<object::Endianness>> {
    let endian = file.endian();
    file.elf_program_headers().iter().find(|header| header.p_type(endian) == elf::PT_TLS)
}

fn fill_thread_local(image: &mut Image, file: &File<'_>, bias: u64) {
    if let Some(header) = thread_local_header(file) {
        let endian = file.endian();
        let size = header.p_filesz(endian).min(image.thread_local.size);
        let address = header.p_vaddr(endian).wrapping_add(bias);
        image.thread_local.data = image.bytes(address, size as usize).unwrap_or_default();
    }
}

/// What the runtime of C calls before `main`: the functions of the arrays.
fn constructors(image: &Image, file: &File<'_>, bias: u64) -> Vec<u64> {
    let endian = file.endian();
    let mut found = Vec::new();
    for wanted in [elf::SHT_PREINIT_ARRAY, elf::SHT_INIT_ARRAY] {
        for section in file.elf_section_table().iter() {
            if section.sh_type(endian) == wanted {
                let start = section.sh_addr(endian).wrapping_add(bias);
                found.extend(words(image, start, section.sh_size(endian)));
            }
        }
    }
    // Compilers' own start-up code sets up what programs under test do not have.
    found.retain(|address| image.symbols.place(*address) != "frame_dummy");
    found
}

/// The words of an array of functions, but for the empty ones.
pub fn words(image: &Image, start: u64, size: u64) -> Vec<u64> {
    const MOST: u64 = 1 << 12;
    let addresses = (0..(size / 8).min(MOST)).map(|number| start.saturating_add(number * 8));
    let word = |address| match image.slots.get(&address) {
        Some(Slot::Address(target)) => Some(*target),
        _ => image.number(address, 8),
    };
    addresses.filter_map(word).filter(|word| !matches!(*word, 0 | u64::MAX)).collect()
}
