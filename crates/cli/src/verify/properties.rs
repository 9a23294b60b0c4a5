//! Which properties are asked for: names, `all`, or a property file of SV-COMP.
//!
//! The files hold formulas such as `CHECK( init(main()), LTL(G ! call(reach_error())) )`; see
//! the rules of the competition on software verification, "Properties".

use std::path::PathBuf;
use std::str::FromStr;

use parallax_frontend_c::Errors;
use parallax_program::{Diagnostic, Diagnostics, Property, SourceFile, Span};

use super::input::{Checks, Kind};
use crate::one_test::{read, shown};

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Wanted {
    /// All that make sense for the input, and that the engine looks for.
    All,
    Named(Vec<Property>),
    File(PathBuf),
}

impl FromStr for Wanted {
    type Err = String;

    fn from_str(text: &str) -> Result<Wanted, String> {
        if text.ends_with(".prp") {
            return Ok(Wanted::File(PathBuf::from(text)));
        }
        if text == "all" {
            return Ok(Wanted::All);
        }
        let mut properties = Vec::new();
        for name in text.split(',') {
            let property = Property::named(name).ok_or_else(|| unknown(name))?;
            if !properties.contains(&property) {
                properties.push(property);
            }
        }
        properties.sort_unstable();
        Ok(Wanted::Named(properties))
    }
}

fn unknown(name: &str) -> String {
    let names = Property::ALL.map(Property::name);
    format!("there is no property '{name}'; properties are {}, and all", names.join(", "))
}

impl Wanted {
    /// All but leaks, which many programs have on purpose. In machine code there is no telling
    /// which accesses were meant to be atomic, so none of them race. Operation structures have
    /// nothing but assertions.
    pub fn usual_of(kind: Kind) -> Wanted {
        if kind == Kind::Structures {
            return Wanted::Named(vec![Property::Assert]);
        }
        let unusual = |property: &Property| match property {
            Property::Leak => true,
            Property::Race => kind == Kind::Machine,
            _ => false,
        };
        let all = Property::ALL.into_iter();
        Wanted::Named(all.filter(|property| !unusual(property)).collect())
    }

    /// Those of an input of that kind.
    pub fn properties_of(&self, kind: Kind) -> Result<Vec<Property>, Diagnostics> {
        let mut properties = self.formulas()?.properties;
        if *self == Wanted::All && kind == Kind::Machine {
            properties.retain(|property| *property != Property::Race);
        }
        Ok(properties)
    }

    /// Whether each of them is asked for by name, so that it has to be answered.
    pub fn is_by_name(&self) -> bool {
        *self != Wanted::All
    }

    /// What the program has to be checked for by itself. To property files, `abort` is an end like
    /// any other, and only calls that they name are errors.
    pub fn checks(&self) -> Result<Checks, Diagnostics> {
        let Formulas { properties, calls } = self.formulas()?;
        let errors = match self {
            Wanted::File(_) => Errors { functions: calls, abort: false },
            _ if properties.contains(&Property::Assert) => Errors::default(),
            _ => Errors::none(),
        };
        Ok(Checks { overflow: properties.contains(&Property::Overflow), errors })
    }

    fn formulas(&self) -> Result<Formulas, Diagnostics> {
        let named = |properties: Vec<Property>| Ok(Formulas { properties, calls: Vec::new() });
        match self {
            Wanted::All => named(Property::ALL.to_vec()),
            Wanted::Named(properties) => named(properties.clone()),
            Wanted::File(path) => {
                let name = shown(path);
                let text = read(path)?;
                parse(&name, &text)
            }
        }
    }
}

/// What is asked for: properties, and functions that must not be called.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Formulas {
    properties: Vec<Property>,
    calls: Vec<String>,
}

impl Formulas {
    /// Adds what a formula says, if that is known.
    fn add(&mut self, formula: &str) -> Option<()> {
        let property = match called(formula) {
            Some(name) => {
                self.calls.push(name.to_string());
                Property::Assert
            }
            None => FORMULAS.iter().find(|(known, _)| *known == formula)?.1,
        };
        if !self.properties.contains(&property) {
            self.properties.push(property);
        }
        Some(())
    }
}

/// The function that must not be called, in a formula that says so.
fn called(formula: &str) -> Option<&str> {
    let name = formula.strip_prefix("G!call(")?.strip_suffix("())")?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    (!name.is_empty() && name.chars().all(is_name)).then_some(name)
}

/// Other formulas of property files, and what they mean here.
const FORMULAS: [(&str, Property); 6] = [
    ("G!data-race", Property::Race),
    ("G!overflow", Property::Overflow),
    ("Gvalid-free", Property::Memory),
    ("Gvalid-deref", Property::Memory),
    ("Gvalid-memtrack", Property::Leak),
    ("Gvalid-memcleanup", Property::Leak),
];

fn parse(name: &str, text: &str) -> Result<Formulas, Diagnostics> {
    let source = SourceFile::new(name, text);
    let mut found = Formulas::default();
    let mut errors = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let span = Span::new(start, start + line.trim_end().len());
        start += line.len();
        let formula: String = line.chars().filter(|c| !c.is_whitespace()).collect();
        if formula.is_empty() {
            continue;
        }
        let inner = formula.strip_prefix("CHECK(init(main()),LTL(");
        let inner = inner.and_then(|rest| rest.strip_suffix("))"));
        if inner.and_then(|inner| found.add(inner)).is_none() {
            errors.push(unsupported(&source, span));
        }
    }
    if errors.is_empty() && found.properties.is_empty() {
        errors.push(source.error(Span::new(0, 0), "there is no property in this file"));
    }
    found.properties.sort_unstable();
    if errors.is_empty() { Ok(found) } else { Err(errors) }
}

fn unsupported(source: &SourceFile, span: Span) -> Diagnostic {
    source.error(span, "this property is not supported").with_help(
        "supported are calls of a function, data-race, overflow, valid-free, valid-deref, \
         valid-memtrack and valid-memcleanup",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_a_set() {
        let wanted: Result<Wanted, _> = "race,assert,race".parse();
        assert_eq!(wanted, Ok(Wanted::Named(vec![Property::Assert, Property::Race])));
        assert!("race,fun".parse::<Wanted>().is_err_and(|error| error.contains("'fun'")));
        assert!("".parse::<Wanted>().is_err());
    }

    #[test]
    fn property_files_are_read() {
        let text = "CHECK( init(main()), LTL(G valid-free) )\n\
            CHECK( init(main()), LTL(G valid-deref) )\n\
            CHECK( init(main()), LTL(G valid-memtrack) )\n\n";
        let found = parse("p", text).map(|formulas| formulas.properties);
        assert_eq!(found, Ok(vec![Property::Memory, Property::Leak]));
        let text = "CHECK( init(main()), LTL(G ! call(reach_error())) )\n\
            CHECK( init(main()), LTL(G ! call(my_error())) )\n";
        let found = parse("p", text);
        let calls = ["reach_error", "my_error"].map(str::to_string).to_vec();
        assert_eq!(found, Ok(Formulas { properties: vec![Property::Assert], calls }));
        assert!(parse("p", "CHECK( init(main()), LTL(G ! call(f(1))) )").is_err());
        let error = parse("p.prp", "\nCHECK( init(main()), LTL(F end) )\n").unwrap_err();
        assert!(error[0].to_string().starts_with("p.prp:2:1: error: this property"));
        assert!(parse("p", "").is_err());
    }
}
