//! Which properties are asked for: names, `all`, or a property file of SV-COMP.

use std::path::PathBuf;
use std::str::FromStr;

use parallax_frontend_c::{Errors, Formulas, parse_formulas};
use parallax_program::{Diagnostics, Property};

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
                parse_formulas(&name, &text)
            }
        }
    }
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
}
