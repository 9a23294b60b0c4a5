//! The engines there are. A new one is added here, and nowhere else.

use std::str::FromStr;

use parallax_engine_abstract::Abstract;
use parallax_engine_bounded::Bounded;
use parallax_engine_enumerate::Enumerate;
use parallax_engine_explore::Explore;
use parallax_engine_inductive::Inductive;
use parallax_engine_states::States;
use parallax_engine_static::Static;
use parallax_engine_symbolic::Symbolic;
use parallax_query::Engine;

/// In the order in which people see them.
pub static ENGINES: [&dyn Engine; 8] =
    [&Explore, &States, &Symbolic, &Abstract, &Bounded, &Inductive, &Static, &Enumerate];

/// Who is to answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Choice {
    /// Whoever answers first.
    #[default]
    Auto,
    /// The engine of this name.
    Named(&'static str),
}

impl FromStr for Choice {
    type Err = String;

    fn from_str(text: &str) -> Result<Choice, String> {
        if text == "auto" {
            return Ok(Choice::Auto);
        }
        let names = ENGINES.iter().map(|engine| engine.name());
        let found = names.clone().find(|name| *name == text).map(Choice::Named);
        let names: Vec<&str> = names.collect();
        found.ok_or_else(|| {
            format!("there is no engine '{text}'; engines are auto, {}", names.join(", "))
        })
    }
}

/// An engine of the registry.
pub fn named(name: &str) -> Option<&'static dyn Engine> {
    ENGINES.into_iter().find(|engine| engine.name() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_have_names_of_their_own() {
        for engine in ENGINES {
            let found = named(engine.name()).map(|found| found.name());
            assert_eq!(found, Some(engine.name()));
            assert_eq!(engine.name().parse(), Ok(Choice::Named(engine.name())));
        }
        let mut names: Vec<&str> = ENGINES.iter().map(|engine| engine.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ENGINES.len());
        assert!("views".parse::<Choice>().is_err_and(|error| error.contains("explore")));
    }
}
