//! Places in the source: debug locations as spans into the files that they name.

use std::collections::HashMap;
use std::path::Path;

use parallax_program::{SourceFile, Span};

use crate::Input;
use crate::llvm::{Function, Instruction, MetadataId, Module};

/// The source files of all units, and the places in them.
pub struct Places {
    source: SourceFile,
    units: Vec<UnitPlaces>,
}

#[derive(Default)]
struct UnitPlaces {
    spans: HashMap<MetadataId, Span>,
    /// Where the unit's own text starts, if that is what the user wrote.
    text_start: Option<u32>,
}

/// A line of a file, both by number.
struct Place {
    file: usize,
    line: u32,
    column: u32,
}

struct File {
    name: String,
    path: std::path::PathBuf,
    /// The last line that is referred to.
    last_line: u32,
}

/// Scopes nest at most this deep.
const MAX_SCOPES: u32 = 200;

impl Places {
    pub fn new(inputs: &[Input], modules: &[Module]) -> Places {
        let mut files: Vec<File> = Vec::new();
        let mut by_path = HashMap::new();
        let mut units = Vec::new();
        for module in modules {
            let mut places = HashMap::new();
            for id in debug_locations(module) {
                if let Some(place) = place(module, id, &mut files, &mut by_path) {
                    let file = &mut files[place.file];
                    file.last_line = file.last_line.max(place.line);
                    places.insert(id, place);
                }
            }
            units.push(places);
        }
        let texts: Vec<String> = files.iter().map(File::text).collect();
        let shown = inputs.iter().filter(|input| input.is_source);
        let sources = files.iter().zip(&texts).map(|(file, text)| (&*file.name, &**text));
        let own = shown.map(|input| (&*input.name, &*input.text));
        let source = SourceFile::several(sources.chain(own));

        let mut own_file = files.len()..;
        let units = units.into_iter().zip(inputs).map(|(places, input)| {
            let span = |place: Place| source.span_at(place.file, place.line, place.column);
            let spans = places.into_iter().map(|(id, place)| (id, span(place))).collect();
            let own = if input.is_source { own_file.next() } else { None };
            let text_start = own.and_then(|file| source.start_of(file));
            UnitPlaces { spans, text_start }
        });
        let units = units.collect();
        Places { source, units }
    }

    pub fn source(&self) -> &SourceFile {
        &self.source
    }

    /// Where an instruction comes from; without a location of its own, its function.
    pub fn instruction(&self, unit: usize, function: &Function, inst: &Instruction) -> Span {
        let known = inst.debug.and_then(|id| self.span(unit, id));
        known.unwrap_or_else(|| self.fallback(unit, function, inst.start))
    }

    pub fn function(&self, unit: usize, function: &Function) -> Span {
        self.fallback(unit, function, function.start)
    }

    fn fallback(&self, unit: usize, function: &Function, start: u32) -> Span {
        if let Some(span) = function.debug.and_then(|id| self.span(unit, id)) {
            return span;
        }
        match self.units.get(unit).and_then(|unit| unit.text_start) {
            Some(text) => {
                let at = (text + start) as usize;
                let rest = self.source.text().get(at..).unwrap_or("");
                Span::new(at, at + rest.lines().next().map_or(0, str::len))
            }
            None => Span::default(),
        }
    }

    fn span(&self, unit: usize, id: MetadataId) -> Option<Span> {
        self.units.get(unit)?.spans.get(&id).copied()
    }
}

impl File {
    /// The text; without the file itself, as many empty lines as are needed to tell lines.
    fn text(&self) -> String {
        const MOST_LINES: u32 = 1_000_000;
        match std::fs::read(&self.path) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(_) => "\n".repeat(self.last_line.min(MOST_LINES) as usize),
        }
    }
}

fn debug_locations(module: &Module) -> impl Iterator<Item = MetadataId> {
    module.functions.iter().flat_map(|function| {
        let instructions = function.blocks.iter().flat_map(|block| &block.instructions);
        function.debug.into_iter().chain(instructions.filter_map(|inst| inst.debug))
    })
}

fn place(
    module: &Module,
    id: MetadataId,
    files: &mut Vec<File>,
    by_path: &mut HashMap<std::path::PathBuf, usize>,
) -> Option<Place> {
    let node = module.node(id)?;
    let line = u32::try_from(node.number("line").unwrap_or(0)).ok().filter(|line| *line > 0)?;
    let column = u32::try_from(node.number("column").unwrap_or(0)).unwrap_or(0);
    let mut scope = node;
    let mut depth = 0;
    let file = loop {
        match scope.field("file") {
            Some(file) => break module.target(Some(file))?,
            None if depth > MAX_SCOPES => return None,
            None => scope = module.target(scope.field("scope"))?,
        }
        depth += 1;
    };
    let name = file.text("filename")?;
    let path = Path::new(file.text("directory").unwrap_or("")).join(name);
    let number = *by_path.entry(path.clone()).or_insert_with(|| {
        files.push(File { name: name.to_string(), path, last_line: 0 });
        files.len() - 1
    });
    Some(Place { file: number, line, column })
}
