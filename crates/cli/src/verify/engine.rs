//! The engines by name, those that are still to come included.

use std::str::FromStr;

use parallax_program::Diagnostic;

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Engine {
    Auto,
    Explore,
    States,
    Bounded,
    Inductive,
    /// The name of one that this version does not have.
    Absent(&'static str),
}

const ABSENT: [&str; 3] = ["view", "symbolic", "abstract"];

const KNOWN: &str = "engines are auto, explore, states, bounded and inductive";

impl FromStr for Engine {
    type Err = String;

    fn from_str(text: &str) -> Result<Engine, String> {
        match text {
            "auto" => return Ok(Engine::Auto),
            "explore" => return Ok(Engine::Explore),
            "states" => return Ok(Engine::States),
            "bounded" => return Ok(Engine::Bounded),
            "inductive" => return Ok(Engine::Inductive),
            _ => {}
        }
        let absent = ABSENT.into_iter().find(|name| *name == text).map(Engine::Absent);
        absent.ok_or_else(|| format!("there is no engine '{text}'; {KNOWN}"))
    }
}

impl Engine {
    /// An error for an engine that cannot be asked.
    pub fn check(&self) -> Result<(), Diagnostic> {
        match self {
            Engine::Auto
            | Engine::Explore
            | Engine::States
            | Engine::Bounded
            | Engine::Inductive => Ok(()),
            Engine::Absent(name) => {
                let message = format!("the engine '{name}' is not available in this version");
                Err(Diagnostic::new(message).with_help(KNOWN))
            }
        }
    }
}
