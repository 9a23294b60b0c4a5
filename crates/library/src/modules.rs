//! The texts of the library, and where in them a function is. A text is read when the first
//! function of it is needed.

use std::borrow::Cow;
use std::collections::HashMap;

use parallax_program::{Diagnostics, Function, FunctionId, Program, parse_program};

use crate::atomics;
use crate::features::Features;
use crate::widths::with_pointers_of;

/// How file names of the library start, in places that people see.
pub(crate) const FOLDER: &str = "<library>/";

macro_rules! texts {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("functions/", $name, ".program")))),*]
    };
}

const TEXTS: &[(&str, &str)] = texts![
    "assert",
    "attributes",
    "barrier",
    "cond",
    "ctype",
    "ctype_tables",
    "cxx",
    "dat3m",
    "errno",
    "format",
    "futex",
    "genmc",
    "input",
    "keys",
    "malloc",
    "math",
    "memory",
    "mutex",
    "nidhugg",
    "objects",
    "once",
    "pthread",
    "rust",
    "rwlock",
    "semaphore",
    "spin",
    "stdio",
    "stdlib",
    "streams",
    "string",
    "system",
    "threads",
    "time",
    "verifier",
];

/// A function of the library: which text it is in, and as what it is defined there.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Definition {
    pub module: usize,
    pub function: FunctionId,
}

pub(crate) struct Modules {
    features: Features,
    texts: Vec<(String, String)>,
    parsed: HashMap<usize, Program>,
    /// Where each name, with the variant it is for, is defined.
    places: HashMap<String, Definition>,
}

impl Modules {
    pub fn new(features: Features) -> Modules {
        let files = TEXTS.iter().map(|(name, text)| (*name, Cow::Borrowed(*text)));
        let made = features.atomics.then(|| ("atomics", Cow::Owned(atomics::text())));
        let width = features.pointer_width();
        let texts: Vec<_> = files
            .chain(made)
            .map(|(name, text)| (format!("{FOLDER}{name}.program"), with_pointers_of(width, &text)))
            .collect();
        let mut places = HashMap::new();
        for (module, (_, text)) in texts.iter().enumerate() {
            for (number, name) in text.lines().filter_map(defined).enumerate() {
                let function = FunctionId(number as u32);
                places.insert(name.to_string(), Definition { module, function });
            }
        }
        Modules { features, texts, parsed: HashMap::new(), places }
    }

    /// The names that programs may use, without those that the library has for itself.
    pub fn names(&self) -> Vec<String> {
        let public = self.places.keys().filter(|name| !name.contains(['.', '[']));
        let mut names: Vec<_> = public.cloned().collect();
        names.sort();
        names
    }

    /// The definition of a name, in the variant that fits.
    pub fn find(&self, name: &str) -> Option<Definition> {
        let variant = |word: &str| self.places.get(&format!("{name} [{word}]"));
        let found = self.features.words().find_map(variant);
        found.or_else(|| self.places.get(name)).copied()
    }

    /// Name and text of a module's file.
    pub fn file(&self, module: usize) -> (&str, &str) {
        let (name, text) = &self.texts[module];
        (name, text)
    }

    /// A module as a program.
    pub fn program(&mut self, module: usize) -> Result<&Program, Diagnostics> {
        if !self.parsed.contains_key(&module) {
            let (name, text) = self.file(module);
            let program = parse_program(name, text)?;
            self.parsed.insert(module, program);
        }
        Ok(&self.parsed[&module])
    }

    pub fn function(&mut self, definition: Definition) -> Result<&Function, Diagnostics> {
        self.program(definition.module).map(|program| program.function(definition.function))
    }
}

/// The name that a line defines a function for.
fn defined(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("fn ")?;
    match rest.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next(),
        None => rest.split('(').next(),
    }
}

/// A name without the variant it is for.
pub(crate) fn plain_name(name: &str) -> &str {
    name.split(" [").next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_is_a_program_and_is_found_by_its_names() {
        let mut modules = Modules::new(Features { atomics: true, ..Features::default() });
        for (name, place) in modules.places.clone() {
            let function = modules.function(place).unwrap_or_else(|errors| panic!("{errors:?}"));
            assert_eq!(function.name, name);
        }
    }

    #[test]
    fn every_text_is_a_program_for_32_bits() {
        let features = Features { atomics: true, ilp32: true, ..Features::default() };
        let mut modules = Modules::new(features);
        for module in 0..modules.texts.len() {
            let program = modules.program(module).unwrap_or_else(|errors| panic!("{errors:?}"));
            assert_eq!(program.pointer_width, 32);
            program.check().unwrap_or_else(|errors| panic!("{errors:?}"));
        }
    }

    #[test]
    fn variants_stand_in_where_they_are_asked_for() {
        let kinds = Features { kinds: true, ..Features::default() };
        let (plain, kinds) = (Modules::new(Features::default()), Modules::new(kinds));
        assert_ne!(plain.find("pthread_mutex_lock"), kinds.find("pthread_mutex_lock"));
        assert_eq!(plain.find("pthread_mutex_destroy"), kinds.find("pthread_mutex_destroy"));
        assert_eq!(plain.find("pthread_cancel"), None);
        assert_eq!(plain_name("mutex.try [kinds]"), "mutex.try");
    }
}
