//! What is where by name.

use std::collections::BTreeMap;

use object::elf;
use object::read::elf::Sym;

use super::File;

/// Something with a name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Named {
    pub name: String,
    /// Bytes; 0 where that is not known.
    pub size: u64,
    is_local: bool,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Symbols {
    /// By address.
    pub functions: BTreeMap<u64, Named>,
    /// Functions that choose another at the start.
    pub resolvers: BTreeMap<u64, Named>,
    pub objects: BTreeMap<u64, Named>,
    /// Places in code of which nothing else is known.
    pub labels: BTreeMap<u64, Named>,
    /// Thread-local variables, by offset.
    pub thread_local: BTreeMap<u64, Named>,
}

impl Symbols {
    /// Adds one of a file's symbols, at the address that it has in the image.
    pub fn add(
        &mut self,
        name: &str,
        kind: elf::SymbolType,
        place: u64,
        size: u64,
        is_local: bool,
    ) {
        let known = match kind {
            elf::STT_FUNC => &mut self.functions,
            elf::STT_GNU_IFUNC => &mut self.resolvers,
            elf::STT_OBJECT | elf::STT_COMMON => &mut self.objects,
            elf::STT_TLS => &mut self.thread_local,
            elf::STT_NOTYPE => &mut self.labels,
            _ => return,
        };
        // Versions are of no interest: `stdout@GLIBC_2.2.5`.
        let name = name.split('@').next().unwrap_or(name).to_string();
        if name.is_empty() {
            return;
        }
        let named = Named { name, size, is_local };
        match known.get(&place) {
            Some(other) if rank(other) <= rank(&named) => {}
            _ => {
                known.insert(place, named);
            }
        }
    }

    /// The address of a function, by name.
    pub fn function(&self, name: &str) -> Option<u64> {
        self.functions.iter().find(|(_, named)| named.name == name).map(|(address, _)| *address)
    }

    /// The function that an address is in, as far as symbols say, and where that starts.
    pub fn enclosing(&self, address: u64) -> Option<(u64, &Named)> {
        let (start, named) = self.functions.range(..=address).next_back()?;
        let inside = named.size == 0 || address - start < named.size;
        inside.then_some((*start, named))
    }

    /// How people call a place in the code.
    pub fn place(&self, address: u64) -> String {
        let label = || self.labels.range(..=address).next_back().map(|(at, named)| (*at, named));
        match self.enclosing(address).or_else(label) {
            Some((start, named)) if start == address => named.name.clone(),
            Some((start, named)) => format!("{}+{:#x}", named.name, address - start),
            None => format!("{address:#x}"),
        }
    }
}

/// Which of several names for one place people know best: lower is better.
fn rank(named: &Named) -> (bool, usize, &str) {
    let underscores = named.name.bytes().take_while(|byte| *byte == b'_').count();
    (named.is_local, underscores, &named.name)
}

/// Whether a symbol is a part of a function that the compiler has moved away.
pub fn is_part(name: &str) -> bool {
    name.ends_with(".cold") || name.contains(".cold.")
}

/// What a symbol is. Assembler sources often do not say: what others can see in code is a
/// function, the rest are labels. Elsewhere, symbols that do not say are of no interest.
pub fn kind(declared: elf::SymbolType, is_local: bool, is_code: bool) -> Option<elf::SymbolType> {
    match (declared, is_code) {
        (elf::STT_NOTYPE, true) if !is_local => Some(elf::STT_FUNC),
        (elf::STT_NOTYPE, false) => None,
        _ => Some(declared),
    }
}

/// The symbols of an executable, whose addresses are shifted by `bias`.
pub fn of_executable(file: &File<'_>, bias: u64, is_code: impl Fn(u64) -> bool) -> Symbols {
    let endian = file.endian();
    let mut symbols = Symbols::default();
    for table in [file.elf_symbol_table(), file.elf_dynamic_symbol_table()] {
        for symbol in table.iter() {
            let name = symbol.name(endian, table.strings()).unwrap_or_default();
            let name = String::from_utf8_lossy(name);
            if symbol.is_undefined(endian) || symbol.is_absolute(endian) {
                continue;
            }
            let value = symbol.st_value(endian);
            let place = match symbol.st_type() {
                elf::STT_TLS => value,
                _ => value.wrapping_add(bias),
            };
            let (size, is_local) = (symbol.st_size(endian), symbol.is_local());
            if let Some(kind) = kind(symbol.st_type(), is_local, is_code(place)) {
                symbols.add(&name, kind, place, size, is_local);
            }
        }
    }
    symbols
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_known_name_wins() {
        let mut symbols = Symbols::default();
        symbols.add("__f@V1", elf::STT_FUNC, 0x1000, 16, false);
        symbols.add("a", elf::STT_FUNC, 0x1000, 16, true);
        symbols.add("f", elf::STT_FUNC, 0x1000, 16, false);
        assert_eq!(symbols.place(0x1000), "f");
        assert_eq!(symbols.place(0x1004), "f+0x4");
        assert_eq!(symbols.place(0x1010), "0x1010");
        assert_eq!(symbols.function("f"), Some(0x1000));
    }
}
