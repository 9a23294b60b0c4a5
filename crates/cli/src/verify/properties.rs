//! Which properties are asked for: names, `all`, or a property file of SV-COMP.
//!
//! The files hold formulas such as `CHECK( init(main()), LTL(G ! call(reach_error())) )`; see
//! the rules of the competition on software verification, "Properties".

use std::path::PathBuf;
use std::str::FromStr;

use parallax_program::{Diagnostic, Diagnostics, Property, SourceFile, Span};

use super::input::Kind;
use crate::one_test::{read, shown};

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Wanted {
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
            return Ok(Wanted::Named(Property::ALL.to_vec()));
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

    pub fn properties(&self) -> Result<Vec<Property>, Diagnostics> {
        match self {
            Wanted::Named(properties) => Ok(properties.clone()),
            Wanted::File(path) => {
                let name = shown(path);
                let text = read(path)?;
                parse(&name, &text)
            }
        }
    }
}

/// Formulas of property files, and what they mean here.
const FORMULAS: [(&str, Property); 8] = [
    ("G!call(reach_error())", Property::Assert),
    ("G!call(__VERIFIER_error())", Property::Assert),
    ("G!data-race", Property::Race),
    ("G!overflow", Property::Overflow),
    ("Gvalid-free", Property::Memory),
    ("Gvalid-deref", Property::Memory),
    ("Gvalid-memtrack", Property::Leak),
    ("Gvalid-memcleanup", Property::Leak),
];

fn parse(name: &str, text: &str) -> Result<Vec<Property>, Diagnostics> {
    let source = SourceFile::new(name, text);
    let mut properties = Vec::new();
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
        match inner.and_then(|inner| FORMULAS.iter().find(|(known, _)| *known == inner)) {
            Some((_, property)) if !properties.contains(property) => properties.push(*property),
            Some(_) => {}
            None => errors.push(unsupported(&source, span)),
        }
    }
    if errors.is_empty() && properties.is_empty() {
        errors.push(source.error(Span::new(0, 0), "there is no property in this file"));
    }
    properties.sort_unstable();
    if errors.is_empty() { Ok(properties) } else { Err(errors) }
}

fn unsupported(source: &SourceFile, span: Span) -> Diagnostic {
    source.error(span, "this property is not supported").with_help(
        "supported are calls of reach_error, data-race, overflow, valid-free, valid-deref, \
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
        assert_eq!(parse("p", text), Ok(vec![Property::Memory, Property::Leak]));
        let error = parse("p.prp", "\nCHECK( init(main()), LTL(F end) )\n").unwrap_err();
        assert!(error[0].to_string().starts_with("p.prp:2:1: error: this property"));
        assert!(parse("p", "").is_err());
    }
}
