//! Property files of SV-COMP.
//!
//! They hold formulas such as `CHECK( init(main()), LTL(G ! call(reach_error())) )`; see
//! the rules of the competition on software verification, "Properties".

use parallax_program::{Diagnostic, Diagnostics, Property, SourceFile, Span};

/// What is asked for: properties, and functions that must not be called.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Formulas {
    pub properties: Vec<Property>,
    pub calls: Vec<String>,
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
    ("G valid-free", Property::Memory),
    ("G valid-deref", Property::Memory),
    ("G valid-memtrack", Property::Leak),
    ("G valid-memcleanup", Property::Leak),
];

/// A line without space, but for one where two words would become one.
fn compact(line: &str) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut text = String::new();
    for part in line.split_whitespace() {
        if text.ends_with(is_word) && part.starts_with(is_word) {
            text.push(' ');
        }
        text += part;
    }
    text
}

/// Reads a property file.
pub fn parse_formulas(name: &str, text: &str) -> Result<Formulas, Diagnostics> {
    let source = SourceFile::new(name, text);
    let mut found = Formulas::default();
    let mut errors = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let span = Span::new(start, start + line.trim_end().len());
        start += line.len();
        let formula = compact(line);
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
    fn property_files_are_read() {
        let text = "CHECK( init(main()), LTL(G valid-free) )\n\
            CHECK( init(main()), LTL(G valid-deref) )\n\
            CHECK( init(main()), LTL(G valid-memtrack) )\n\n";
        let found = parse_formulas("p", text).map(|formulas| formulas.properties);
        assert_eq!(found, Ok(vec![Property::Memory, Property::Leak]));
        let text = "CHECK( init(main()), LTL(G ! call(reach_error())) )\n\
            CHECK( init(main()), LTL(G ! call(my_error())) )\n";
        let found = parse_formulas("p", text);
        let calls = ["reach_error", "my_error"].map(str::to_string).to_vec();
        assert_eq!(found, Ok(Formulas { properties: vec![Property::Assert], calls }));
        assert!(parse_formulas("p", "CHECK( init(main()), LTL(G ! call(f(1))) )").is_err());
        // Two words are no name.
        assert!(
            parse_formulas("p", "CHECK( init(main()), LTL(G ! call(reach error())) )").is_err()
        );
        assert!(parse_formulas("p", "CHECK(init(main()),LTL(G!call( reach_error() )))").is_ok());
        let error = parse_formulas("p.prp", "\nCHECK( init(main()), LTL(F end) )\n").unwrap_err();
        assert!(error[0].to_string().starts_with("p.prp:2:1: error: this property"));
        assert!(parse_formulas("p", "").is_err());
    }
}
