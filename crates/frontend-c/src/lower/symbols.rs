//! Names across units: which definition each one means, and the numbers of what is defined.

use std::collections::{BTreeMap, HashMap, HashSet};

use parallax_program::{Diagnostic, Diagnostics, FunctionId, GlobalId};

use super::layout::Layout;
use super::unit::Symbol;
use crate::llvm::{Alias, Function, Global, Module, Name, Value};
use crate::thread_locals::ThreadLocal;

/// What a program is put together from.
pub struct Symbols<'m> {
    /// What names mean, by unit.
    pub names: Vec<HashMap<Name, Symbol>>,
    /// In the order of their numbers: unit, definition, name in the program.
    pub functions: Vec<(usize, &'m Function, String)>,
    pub objects: Vec<(usize, &'m Global, String)>,
}

/// Objects of the C library whose content nobody looks at.
const STREAMS: [&str; 3] = ["stdin", "stdout", "stderr"];

#[derive(Clone, Copy)]
struct Definition {
    unit: usize,
    index: usize,
    weak: bool,
}

pub fn is_defined(global: &Global) -> bool {
    global.init.is_some() && !global.name.starts_with("llvm.")
}

impl<'m> Symbols<'m> {
    pub fn new(modules: &'m [Module], layouts: &[Layout<'m>]) -> Result<Symbols<'m>, Diagnostics> {
        let mut errors = Vec::new();
        let functions = definitions(modules, "function", &mut errors, |module| {
            let defined = |function: &Function| !function.blocks.is_empty();
            let all = module.functions.iter().map(move |function| {
                (&function.name, function.internal, function.weak, defined(function))
            });
            all.collect()
        });
        let objects = definitions(modules, "object", &mut errors, |module| {
            let all = module.globals.iter();
            all.map(|global| (&global.name, global.internal, global.weak, is_defined(global)))
                .collect()
        });
        if !errors.is_empty() {
            return Err(errors);
        }
        let mut symbols = Symbols {
            names: modules.iter().map(|_| HashMap::new()).collect(),
            functions: Vec::new(),
            objects: Vec::new(),
        };
        symbols.number_functions(modules, &functions);
        symbols.number_objects(modules, layouts, &objects);
        for (unit, module) in modules.iter().enumerate() {
            for alias in &module.aliases {
                let meaning = Symbol::Alias(alias.target.clone());
                symbols.names[unit].insert(alias.name.clone(), meaning);
                symbols.export(unit, alias);
            }
        }
        Ok(symbols)
    }

    /// Other units that only declare the name of an alias mean what it stands for.
    fn export(&mut self, unit: usize, alias: &Alias) {
        let Value::Global(target) = &alias.target else {
            return;
        };
        let Some(meaning) = self.names[unit].get(target).cloned().filter(|_| !alias.internal)
        else {
            return;
        };
        for (other, names) in self.names.iter_mut().enumerate() {
            if let Some(known) = names.get_mut(&alias.name)
                && other != unit
                && matches!(known, Symbol::UndefinedFunction | Symbol::UnknownObject(..))
            {
                *known = meaning.clone();
            }
        }
    }

    fn number_functions(&mut self, modules: &'m [Module], chosen: &HashMap<Name, Definition>) {
        let mut used = HashSet::new();
        let mut numbers: HashMap<Name, FunctionId> = HashMap::new();
        for (unit, module) in modules.iter().enumerate() {
            for (index, function) in module.functions.iter().enumerate() {
                let is_chosen = is_chosen(chosen, &function.name, unit, index);
                if function.blocks.is_empty() || !(function.internal || is_chosen) {
                    continue;
                }
                let id = FunctionId(self.functions.len() as u32);
                self.functions.push((unit, function, unique(&mut used, &function.name)));
                self.names[unit].insert(function.name.clone(), Symbol::Function(id));
                if !function.internal {
                    numbers.insert(function.name.clone(), id);
                }
            }
        }
        for (unit, module) in modules.iter().enumerate() {
            for function in &module.functions {
                let known = numbers.get(&function.name).map(|id| Symbol::Function(*id));
                let meaning = known.unwrap_or(Symbol::UndefinedFunction);
                self.names[unit].entry(function.name.clone()).or_insert(meaning);
            }
        }
    }

    /// The variables of which each thread has a copy, each once.
    pub fn thread_locals(&self) -> Vec<ThreadLocal> {
        let meanings = self.names.iter().flat_map(|names| names.values());
        let found = meanings.filter_map(|meaning| match meaning {
            Symbol::ThreadLocal(local) => Some((local.global, local.clone())),
            _ => None,
        });
        found.collect::<BTreeMap<_, _>>().into_values().collect()
    }

    fn number_objects(
        &mut self,
        modules: &'m [Module],
        layouts: &[Layout<'m>],
        chosen: &HashMap<Name, Definition>,
    ) {
        let mut used = HashSet::new();
        let mut numbers: HashMap<Name, Symbol> = HashMap::new();
        for (unit, module) in modules.iter().enumerate() {
            for (index, global) in module.globals.iter().enumerate() {
                let is_chosen = is_chosen(chosen, &global.name, unit, index);
                if !is_defined(global) || !(global.internal || is_chosen) {
                    continue;
                }
                let id = self.add_object(unit, global, &mut used);
                let meaning = match global.thread_local {
                    true => {
                        let size = layouts[unit].size(&global.ty).unwrap_or(0).max(1);
                        let align = u64::from(global.align.unwrap_or(16)).max(1);
                        let stride = size.next_multiple_of(align);
                        Symbol::ThreadLocal(ThreadLocal { global: id, stride, size })
                    }
                    false => Symbol::Object(id),
                };
                self.names[unit].insert(global.name.clone(), meaning.clone());
                if !global.internal {
                    numbers.insert(global.name.clone(), meaning);
                }
            }
        }
        for (unit, module) in modules.iter().enumerate() {
            for global in module.globals.iter().filter(|g| !g.name.starts_with("llvm.")) {
                if self.names[unit].contains_key(&global.name) {
                    continue;
                }
                let known = numbers.get(&global.name).cloned();
                let meaning = known.unwrap_or_else(|| {
                    let id = self.add_object(unit, global, &mut used);
                    let name = &global.name;
                    let meaning = match STREAMS.contains(&name.as_ref()) {
                        true => Symbol::Object(id),
                        false => Symbol::UnknownObject(
                            id,
                            format!("the object '{name}', which is defined nowhere"),
                        ),
                    };
                    numbers.insert(name.clone(), meaning.clone());
                    meaning
                });
                self.names[unit].insert(global.name.clone(), meaning);
            }
        }
    }

    fn add_object(
        &mut self,
        unit: usize,
        global: &'m Global,
        used: &mut HashSet<String>,
    ) -> GlobalId {
        let id = GlobalId(self.objects.len() as u32);
        self.objects.push((unit, global, unique(used, &global.name)));
        id
    }
}

fn is_chosen(chosen: &HashMap<Name, Definition>, name: &Name, unit: usize, index: usize) -> bool {
    chosen.get(name).is_some_and(|found| found.unit == unit && found.index == index)
}

/// For each name that units share, the definition that counts.
fn definitions<'m>(
    modules: &'m [Module],
    what: &str,
    errors: &mut Diagnostics,
    all: impl Fn(&'m Module) -> Vec<(&'m Name, bool, bool, bool)>,
) -> HashMap<Name, Definition> {
    let mut chosen: HashMap<Name, Definition> = HashMap::new();
    for (unit, module) in modules.iter().enumerate() {
        for (index, (name, internal, weak, defined)) in all(module).into_iter().enumerate() {
            if internal || !defined {
                continue;
            }
            match chosen.get(name) {
                Some(known) if !known.weak && !weak => {
                    errors.push(Diagnostic::new(format!("the {what} '{name}' is defined twice")));
                }
                Some(known) if !known.weak || weak => {}
                _ => {
                    chosen.insert(name.clone(), Definition { unit, index, weak });
                }
            }
        }
    }
    chosen
}

pub fn unique(used: &mut HashSet<String>, name: &str) -> String {
    let mut candidate = name.to_string();
    let mut number = 1;
    while !used.insert(candidate.clone()) {
        number += 1;
        candidate = format!("{name}.{number}");
    }
    candidate
}
