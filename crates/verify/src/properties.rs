//! Which properties are asked for: names, `all`, or a property file of SV-COMP.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use parallax_frontend_c::{Errors, Formulas, parse_formulas};
use parallax_program::{Diagnostics, Property};

use crate::input::{Checks, Kind};
use crate::text::{read, shown};

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Properties {
    /// All that make sense for the input, and that the engine looks for.
    All,
    Named(Vec<Property>),
    File(PathBuf),
    /// What such a file would say.
    Written(Formulas),
}

impl FromStr for Properties {
    type Err = String;

    fn from_str(text: &str) -> Result<Properties, String> {
        if text.ends_with(".prp") {
            return Ok(Properties::File(PathBuf::from(text)));
        }
        if text == "all" {
            return Ok(Properties::All);
        }
        let mut properties = Vec::new();
        for name in text.split(',') {
            let property = Property::named(name).ok_or_else(|| unknown(name))?;
            if !properties.contains(&property) {
                properties.push(property);
            }
        }
        properties.sort_unstable();
        Ok(Properties::Named(properties))
    }
}

fn unknown(name: &str) -> String {
    let names = Property::ALL.map(Property::name);
    format!("there is no property '{name}'; properties are {}, and all", names.join(", "))
}

impl Properties {
    /// All but leaks, which many programs have on purpose. In machine code nobody knows
    /// which accesses were meant to be atomic, so none of them race. Operation structures have
    /// nothing but assertions.
    pub fn usual_of(kind: Kind) -> Properties {
        if kind == Kind::Structures {
            return Properties::Named(vec![Property::Assert]);
        }
        let unusual = |property: &Property| match property {
            Property::Leak => true,
            Property::Race => kind == Kind::Machine,
            _ => false,
        };
        let all = Property::ALL.into_iter();
        Properties::Named(all.filter(|property| !unusual(property)).collect())
    }

    /// Those of an input of that kind.
    pub fn properties_of(&self, kind: Kind) -> Result<Vec<Property>, Diagnostics> {
        let mut properties = match self {
            Properties::All => Property::ALL.to_vec(),
            Properties::Named(properties) => properties.clone(),
            Properties::File(path) => formulas(path)?.properties(),
            Properties::Written(formulas) => formulas.properties(),
        };
        if *self == Properties::All && kind == Kind::Machine {
            properties.retain(|property| *property != Property::Race);
        }
        Ok(properties)
    }

    /// Whether each of them is asked for by name, so that it has to be answered.
    pub fn is_by_name(&self) -> bool {
        *self != Properties::All
    }

    /// What the program has to be checked for by itself. To property files, `abort` is an end like
    /// any other, and only calls that they name are errors.
    pub fn checks(&self) -> Result<Checks, Diagnostics> {
        let (properties, errors) = match self {
            Properties::File(_) | Properties::Written(_) => {
                let formulas = self.formulas()?.unwrap_or_default();
                let errors = Errors { functions: formulas.calls(), abort: false };
                (formulas.properties(), errors)
            }
            Properties::All => (Property::ALL.to_vec(), Errors::default()),
            Properties::Named(named) if named.contains(&Property::Assert) => {
                (named.clone(), Errors::default())
            }
            Properties::Named(named) => (named.clone(), Errors::none()),
        };
        let overflow = properties.contains(&Property::Overflow);
        Ok(Checks { overflow, any_values: !properties.contains(&Property::Memory), errors })
    }

    /// What a property file says, where one is asked for.
    pub fn formulas(&self) -> Result<Option<Formulas>, Diagnostics> {
        match self {
            Properties::File(path) => formulas(path).map(Some),
            Properties::Written(formulas) => Ok(Some(formulas.clone())),
            _ => Ok(None),
        }
    }
}

fn formulas(path: &Path) -> Result<Formulas, Diagnostics> {
    parse_formulas(&shown(path), &read(path)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_a_set() {
        let wanted: Result<Properties, _> = "race,assert,race".parse();
        assert_eq!(wanted, Ok(Properties::Named(vec![Property::Assert, Property::Race])));
        assert!("race,fun".parse::<Properties>().is_err_and(|error| error.contains("'fun'")));
        assert!("".parse::<Properties>().is_err());
    }
}
