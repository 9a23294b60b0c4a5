//! The text that people see: one line for each instruction, with its place in its function, and
//! the line of the source it comes from.

use std::collections::BTreeMap;
use std::sync::Arc;

use iced_x86::{Formatter, Instruction, IntelFormatter, SymbolResolver, SymbolResult};
use parallax_program::{SourceFile, Span};

use crate::code::{Calls, Reachable};
use crate::elf::Image;

pub struct Listing<'a> {
    image: &'a Image,
    text: String,
    /// Lines of the source that lines of the text come from.
    origins: Vec<(Span, String, u32)>,
    formatter: IntelFormatter,
}

impl<'a> Listing<'a> {
    pub fn new(image: &'a Image, calls: &Calls<'_>, code: &Reachable) -> Listing<'a> {
        let mut names: BTreeMap<u64, (u64, String)> = BTreeMap::new();
        let symbols = &image.symbols;
        for (address, named) in symbols.functions.iter().chain(&symbols.objects) {
            names.insert(*address, (named.size, named.name.clone()));
        }
        names.extend(image.foreign.iter().map(|(at, name)| (at, (1, name.to_string()))));
        // Stubs, and words that the loader has filled, are called after what they lead to.
        for instruction in code.functions.values().flat_map(|function| function.instructions()) {
            let target = instruction.near_branch_target();
            if let Some(name) = calls.foreign(target) {
                names.insert(target, (1, name.to_string()));
            }
            let slot = calls.slot(instruction);
            if let Some(name) = slot.and_then(|slot| calls.foreign(slot)) {
                names.insert(instruction.memory_displacement64(), (1, name.to_string()));
            }
        }
        let names = Names { names: Arc::new(names) };
        let mut formatter = IntelFormatter::with_options(Some(Box::new(names)), None);
        let options = formatter.options_mut();
        options.set_space_after_operand_separator(true);
        options.set_hex_prefix("0x");
        options.set_hex_suffix("");
        options.set_rip_relative_addresses(false);
        options.set_show_symbol_address(false);
        options.set_branch_leading_zeros(false);
        Listing { image, text: String::new(), origins: Vec::new(), formatter }
    }

    /// A line of its own.
    pub fn heading(&mut self, text: &str) -> Span {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.line(text)
    }

    pub fn instruction(&mut self, instruction: &Instruction) -> Span {
        let mut assembly = String::new();
        self.formatter.format(instruction, &mut assembly);
        self.place(instruction.ip(), &assembly)
    }

    /// Something at an address.
    pub fn place(&mut self, address: u64, what: &str) -> Span {
        let place = self.image.symbols.place(address);
        let Some((file, line)) = self.image.lines.find(address) else {
            return self.line(&format!("{place}:  {what}"));
        };
        let span = self.line(&format!("{place}:  {what}  ; {file}:{line}"));
        self.origins.push((span, file, line));
        span
    }

    fn line(&mut self, text: &str) -> Span {
        let start = self.text.len();
        self.text.push_str(text);
        let end = self.text.len();
        self.text.push('\n');
        Span::new(start, end)
    }

    pub fn into_source(self, name: &str) -> SourceFile {
        let origins = self.origins.iter().map(|(span, file, line)| (*span, file.as_str(), *line));
        SourceFile::new(name, &self.text).with_origins(origins)
    }
}

/// Addresses by name, for operands.
struct Names {
    /// Sizes and names by address.
    names: Arc<BTreeMap<u64, (u64, String)>>,
}

impl SymbolResolver for Names {
    fn symbol(
        &mut self,
        _: &Instruction,
        _: u32,
        _: Option<u32>,
        address: u64,
        _: u32,
    ) -> Option<SymbolResult<'_>> {
        let (start, (size, name)) = self.names.range(..=address).next_back()?;
        let inside = address == *start || address - start < *size;
        inside.then(|| SymbolResult::with_str(*start, name))
    }
}
