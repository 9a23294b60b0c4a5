//! From spans of a program to places in the texts that it was read from, and back.
//!
//! Programs in C have their texts for a source. Programs that come by way of machine code have a
//! listing, which has for each of its lines the line of the assembler file.

use std::collections::BTreeMap;

use parallax_program::{Program, Span};

use crate::prepare::spans;
use crate::source::{Assembly, Document, Language};

pub struct Locator {
    /// For each file of the program: where it starts, its number among the documents, and its name.
    starts: Vec<(u32, Option<usize>, String)>,
    listing: Option<Listing>,
}

/// The instructions of the only document, which is an assembler file.
#[derive(Default)]
struct Listing {
    /// Where the lines of the listing come from.
    offsets: BTreeMap<u32, usize>,
    /// The first line of the listing for each instruction.
    spans: BTreeMap<usize, Span>,
}

impl Locator {
    /// For a program that was read from these texts of the documents.
    pub fn new(program: &Program, documents: &[Document], texts: &[String]) -> Locator {
        let source = &program.source;
        let starts = source.files().enumerate().map(|(number, (name, _))| {
            let document = documents.iter().position(|document| document.name == name);
            (source.start_of(number).unwrap_or(u32::MAX), document, name.to_string())
        });
        let listing = match (documents, texts) {
            ([document], [text]) if document.language == Language::Assembly => {
                Some(Listing::new(program, &document.name, text))
            }
            _ => None,
        };
        Locator { starts: starts.collect(), listing }
    }

    fn file(&self, span: Span) -> Option<&(u32, Option<usize>, String)> {
        let after = self.starts.partition_point(|(start, ..)| *start <= span.start);
        self.starts.get(after.checked_sub(1)?)
    }

    /// The document and the offset that a span points to.
    pub fn find(&self, span: Span) -> Option<(usize, usize)> {
        if let Some(listing) = &self.listing {
            return listing.offsets.get(&span.start).map(|offset| (0, *offset));
        }
        let (start, document, _) = self.file(span)?;
        Some(((*document)?, (span.start - start) as usize))
    }

    /// The file that a span points to, if that is none of the documents, nor made from one.
    pub fn stranger(&self, span: Span) -> Option<&str> {
        let (_, document, name) = self.file(span)?;
        let is_stranger = document.is_none() && self.listing.is_none() && !name.starts_with('<');
        is_stranger.then_some(name)
    }

    /// The span that says the same in another program: of a text in which what is at an offset
    /// here was elsewhere.
    pub fn moved(
        &self,
        span: Span,
        other: &Locator,
        origin: impl Fn(usize, usize) -> usize,
    ) -> Span {
        let found = self.find(span).map(|(file, offset)| (file, origin(file, offset)));
        if let (Some((_, offset)), Some(listing)) = (found, &other.listing) {
            return listing.spans.get(&offset).copied().unwrap_or_default();
        }
        let Some((start, _, name)) = self.file(span) else {
            return span;
        };
        let offset = found.map_or((span.start - start) as usize, |(_, offset)| offset);
        let start = other.starts.iter().find(|(_, _, also)| also == name).map(|(start, ..)| *start);
        let at = start.unwrap_or(0) as usize + offset;
        Span::new(at, at + (span.end - span.start) as usize)
    }
}

impl Listing {
    fn new(program: &Program, name: &str, text: &str) -> Listing {
        let assembly = Assembly::new(text);
        // The assembler gets other folders.
        let name = name.rsplit('/').next().unwrap_or(name);
        let mut listing = Listing::default();
        for span in spans(program) {
            let origin = program.source.origin(span);
            let offset = assembly.instruction_in(origin.line).filter(|_| &*origin.file == name);
            if let Some(offset) = offset {
                listing.offsets.insert(span.start, offset);
                listing.spans.entry(offset).or_insert(span);
            }
        }
        listing
    }
}
