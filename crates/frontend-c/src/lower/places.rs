//! Places in the source: debug locations as spans into the files that they name.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use parallax_program::{SourceFile, Span};

use crate::llvm::{Function, Instruction, MetadataId, Module, Node};
use crate::{Input, Options};

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
    path: PathBuf,
    /// The last line that is referred to.
    last_line: u32,
}

/// Scopes nest at most this deep.
const MAX_SCOPES: u32 = 200;

impl Places {
    pub fn new(inputs: &[Input], modules: &[Module], options: &Options) -> Places {
        let mut files = Files::new(inputs);
        let mut units = Vec::new();
        for module in modules {
            let mut places = HashMap::new();
            for id in debug_locations(module) {
                if let Some(place) = files.place(module, id) {
                    places.insert(id, place);
                }
            }
            units.push(places);
        }
        let files = files.files;
        let given: HashMap<PathBuf, &String> =
            options.texts.iter().map(|(path, text)| (real(path), text)).collect();
        let text = |file: &File| match given.get(&real(&file.path)) {
            Some(text) => (*text).clone(),
            None => file.text(),
        };
        let texts: Vec<String> = files.iter().map(text).collect();
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

fn real(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf())
}

impl File {
    /// The text; without the file itself, as many empty lines as are needed to count lines.
    fn text(&self) -> String {
        const MOST_LINES: u32 = 1_000_000;
        match parallax_files::read(&self.path, parallax_files::MOST_TEXT) {
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

/// The files that places are in, as they come up.
struct Files {
    files: Vec<File>,
    by_path: HashMap<PathBuf, usize>,
    /// How the user calls files.
    given: HashMap<PathBuf, String>,
}

impl Files {
    fn new(inputs: &[Input]) -> Files {
        let given = inputs.iter().filter_map(|input| {
            let path = std::fs::canonicalize(&input.name).ok()?;
            Some((path, input.name.clone()))
        });
        Files { files: Vec::new(), by_path: HashMap::new(), given: given.collect() }
    }

    fn place(&mut self, module: &Module, id: MetadataId) -> Option<Place> {
        let node = module.node(id)?;
        let line = u32::try_from(node.number("line").unwrap_or(0)).ok().filter(|line| *line > 0)?;
        let column = u32::try_from(node.number("column").unwrap_or(0)).unwrap_or(0);
        let scope = file_of(module, node)?;
        let name = scope.text("filename")?;
        let path = Path::new(scope.text("directory").unwrap_or("")).join(name);
        let file = match self.by_path.get(&path) {
            Some(number) => *number,
            None => {
                let name = self.shown(&path, name);
                self.files.push(File { name, path: path.clone(), last_line: 0 });
                self.by_path.insert(path, self.files.len() - 1);
                self.files.len() - 1
            }
        };
        let known = &mut self.files[file];
        known.last_line = known.last_line.max(line);
        Some(Place { file, line, column })
    }

    /// A file as the user gave it, or from where the user is, or in full; one that is not there
    /// as the module names it.
    fn shown(&self, path: &Path, name: &str) -> String {
        let Ok(real) = std::fs::canonicalize(path) else {
            return name.to_string();
        };
        if let Some(given) = self.given.get(&real) {
            return given.clone();
        }
        let here = std::env::current_dir().and_then(std::fs::canonicalize).unwrap_or_default();
        let near = path.strip_prefix(&here).unwrap_or(path);
        near.display().to_string()
    }
}

/// The file that a function is from, by what debug information says.
pub fn file_of_function(module: &Module, function: &Function) -> Option<PathBuf> {
    let file = file_of(module, module.node(function.debug?)?)?;
    Some(Path::new(file.text("directory").unwrap_or("")).join(file.text("filename")?))
}

/// Whether a file belongs to the standard library of C++ or Rust.
pub fn is_of_standard(file: &Path) -> bool {
    let file = file.to_string_lossy();
    let is_cxx = file.contains("/include/") && file.contains("/c++/");
    is_cxx || file.contains("/rustlib/src/") || file.starts_with("/rustc/")
}

/// The file that a place, or the innermost scope around it that says so, is in.
fn file_of<'m>(module: &'m Module, place: &'m Node) -> Option<&'m Node> {
    let mut scope = place;
    for _ in 0..MAX_SCOPES {
        match scope.field("file") {
            Some(file) => return module.target(Some(file)),
            None => scope = module.target(scope.field("scope"))?,
        }
    }
    None
}
