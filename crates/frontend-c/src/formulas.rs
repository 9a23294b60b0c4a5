//! Property files of SV-COMP.
//!
//! They hold formulas such as `CHECK( init(main()), LTL(G ! call(reach_error())) )`; see
//! the rules of the competition on software verification, "Properties".

use parallax_program::{Diagnostic, Diagnostics, Property, SourceFile, Span};

/// What a formula says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Formula {
    /// That function is never called.
    NoCall(String),
    NoRace,
    NoOverflow,
    ValidFree,
    ValidDeref,
    /// What is allocated is pointed to, or freed.
    ValidMemtrack,
    /// What is allocated is freed before the end.
    ValidMemcleanup,
    /// The program ends.
    Termination,
}

impl Formula {
    fn parse(text: &str) -> Option<Formula> {
        Some(match text {
            "G!data-race" => Formula::NoRace,
            "G!overflow" => Formula::NoOverflow,
            "G valid-free" => Formula::ValidFree,
            "G valid-deref" => Formula::ValidDeref,
            "G valid-memtrack" => Formula::ValidMemtrack,
            "G valid-memcleanup" => Formula::ValidMemcleanup,
            "F end" => Formula::Termination,
            _ => Formula::NoCall(called(text)?.to_string()),
        })
    }

    /// How the competition calls it.
    pub fn name(&self) -> &'static str {
        match self {
            Formula::NoCall(_) => "unreach-call",
            Formula::NoRace => "no-data-race",
            Formula::NoOverflow => "no-overflow",
            Formula::ValidFree => "valid-free",
            Formula::ValidDeref => "valid-deref",
            Formula::ValidMemtrack => "valid-memtrack",
            Formula::ValidMemcleanup => "valid-memcleanup",
            Formula::Termination => "termination",
        }
    }

    /// The property that engines look for; none of them looks for the end.
    fn property(&self) -> Option<Property> {
        Some(match self {
            Formula::NoCall(_) => Property::Assert,
            Formula::NoRace => Property::Race,
            Formula::NoOverflow => Property::Overflow,
            Formula::ValidFree | Formula::ValidDeref => Property::Memory,
            Formula::ValidMemtrack | Formula::ValidMemcleanup => Property::Leak,
            Formula::Termination => return None,
        })
    }
}

/// The function that must not be called, in a formula that says so.
fn called(formula: &str) -> Option<&str> {
    let name = formula.strip_prefix("G!call(")?.strip_suffix("())")?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    (!name.is_empty() && name.chars().all(is_name)).then_some(name)
}

/// What a property file asks for.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Formulas {
    pub formulas: Vec<Formula>,
}

impl Formulas {
    /// What engines look for.
    pub fn properties(&self) -> Vec<Property> {
        let mut properties: Vec<Property> =
            self.formulas.iter().filter_map(Formula::property).collect();
        properties.sort_unstable();
        properties.dedup();
        properties
    }

    /// The functions that must not be called.
    pub fn calls(&self) -> Vec<String> {
        let calls = self.formulas.iter().filter_map(|formula| match formula {
            Formula::NoCall(name) => Some(name.clone()),
            _ => None,
        });
        calls.collect()
    }

    /// As property files have it, a formula a line.
    pub fn text(&self) -> String {
        let lines = self.formulas.iter().map(|formula| {
            let inner = match formula {
                Formula::NoCall(name) => format!("G ! call({name}())"),
                Formula::NoRace => "G ! data-race".to_string(),
                Formula::NoOverflow => "G ! overflow".to_string(),
                Formula::Termination => "F end".to_string(),
                other => format!("G {}", other.name()),
            };
            format!("CHECK( init(main()), LTL({inner}) )")
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}

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
        match inner.and_then(Formula::parse) {
            Some(formula) if found.formulas.contains(&formula) => {}
            Some(formula) => found.formulas.push(formula),
            None => errors.push(unsupported(&source, span)),
        }
    }
    if errors.is_empty() && found.formulas.is_empty() {
        errors.push(source.error(Span::new(0, 0), "there is no property in this file"));
    }
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
        let found = parse_formulas("p", text).expect("formulas");
        assert_eq!(found.properties(), [Property::Memory, Property::Leak]);
        let text = "CHECK( init(main()), LTL(G ! call(reach_error())) )\n\
            CHECK( init(main()), LTL(G ! call(my_error())) )\n";
        let found = parse_formulas("p", text).expect("formulas");
        assert_eq!(found.calls(), ["reach_error", "my_error"]);
        assert_eq!(found.properties(), [Property::Assert]);
        assert!(parse_formulas("p", "CHECK( init(main()), LTL(G ! call(f(1))) )").is_err());
        // Two words are no name.
        assert!(
            parse_formulas("p", "CHECK( init(main()), LTL(G ! call(reach error())) )").is_err()
        );
        assert!(parse_formulas("p", "CHECK(init(main()),LTL(G!call( reach_error() )))").is_ok());
        let error = parse_formulas("p.prp", "\nCHECK( init(main()), LTL(X end) )\n").unwrap_err();
        assert!(error[0].to_string().starts_with("p.prp:2:1: error: this property"));
        assert!(parse_formulas("p", "").is_err());
    }

    #[test]
    fn formulas_are_written_as_they_are_read() {
        let names = ["G ! call(f())", "G ! data-race", "G ! overflow", "G valid-free", "F end"];
        for name in names {
            let text = format!("CHECK( init(main()), LTL({name}) )");
            let found = parse_formulas("p", &text).expect("formulas");
            assert_eq!(found.text(), text);
        }
    }
}
