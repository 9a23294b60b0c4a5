//! What may help, as data.
//!
//! Who finds that something cannot be answered knows which setting would change that, and not how a
//! person makes settings: by options of a command, by methods of a library. So helps name [settings](Setting),
//! and whoever shows a help says how a setting is spelled ([`Voice`]).

use std::fmt;

use crate::property::Property;

/// What a person can set.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Setting {
    Engine,
    Model,
    Property,
    /// How often loops are repeated at most.
    Unroll,
    /// The same in litmus tests.
    Bound,
    Timeout,
    MemoryLimit,
    /// Which values inputs may have.
    Inputs,
    /// What stands for the model in formulas.
    Framework,
    /// Whether numbers are integers in place of words.
    Integers,
    /// A schedule that leads to the violation.
    Witness,
    /// Which searches are cut down.
    Reductions,
    /// Which solver is asked.
    Solver,
    /// Whether its answers come with certificates.
    Certify,
    /// Where its questions are written.
    Emit,
    /// Where the proof of a safe program is written.
    Proof,
    /// What is known of data, whether executions are graphs, values that are distinguished, which state is
    /// next, and which orders of steps are looked at, in proofs by abstraction.
    Domain,
    Graphs,
    Judge,
    Maxenum,
    Waitlist,
    Prune,
    Refinement,
    Parts,
    Precision,
    Orders,
    /// What a repair may change.
    Repair,
    /// Whether repairs may weaken what is there.
    Relax,
    /// Parts of a cat file of one's own that are switched on.
    Variant,
    /// A file that goes with a cat file of one's own.
    Bell,
    /// What the entry of machine code gets.
    Argument,
    /// What stands for a function of machine code.
    ModelFunction,
    /// How wide the types of C are.
    DataModel,
    /// What functions without a body do.
    Extern,
    /// Where a search is written down, and what it goes on with.
    Checkpoint,
    Resume,
    /// On which hosts it runs.
    Cluster,
}

impl Setting {
    pub const ALL: [Setting; 37] = [
        Setting::Engine,
        Setting::Model,
        Setting::Property,
        Setting::Unroll,
        Setting::Bound,
        Setting::Timeout,
        Setting::MemoryLimit,
        Setting::Inputs,
        Setting::Framework,
        Setting::Integers,
        Setting::Witness,
        Setting::Reductions,
        Setting::Solver,
        Setting::Certify,
        Setting::Emit,
        Setting::Proof,
        Setting::Domain,
        Setting::Graphs,
        Setting::Judge,
        Setting::Maxenum,
        Setting::Waitlist,
        Setting::Prune,
        Setting::Refinement,
        Setting::Parts,
        Setting::Precision,
        Setting::Orders,
        Setting::Repair,
        Setting::Relax,
        Setting::Variant,
        Setting::Bell,
        Setting::Argument,
        Setting::ModelFunction,
        Setting::DataModel,
        Setting::Extern,
        Setting::Checkpoint,
        Setting::Resume,
        Setting::Cluster,
    ];

    /// The name of the setting in the library.
    pub fn name(self) -> &'static str {
        match self {
            Setting::Engine => "engine",
            Setting::Model => "model",
            Setting::Property => "properties",
            Setting::Unroll => "unroll",
            Setting::Bound => "bound",
            Setting::Timeout => "timeout",
            Setting::MemoryLimit => "memory_limit",
            Setting::Inputs => "inputs",
            Setting::Framework => "framework",
            Setting::Integers => "integers",
            Setting::Witness => "witness",
            Setting::Reductions => "reductions",
            Setting::Solver => "solver",
            Setting::Certify => "certify",
            Setting::Emit => "emit",
            Setting::Proof => "proof",
            Setting::Domain => "domain",
            Setting::Graphs => "graphs",
            Setting::Judge => "judge",
            Setting::Maxenum => "maxenum",
            Setting::Waitlist => "waitlist",
            Setting::Prune => "prune",
            Setting::Refinement => "refinement",
            Setting::Parts => "parts",
            Setting::Precision => "precision",
            Setting::Orders => "orders",
            Setting::Repair => "repair",
            Setting::Relax => "relax",
            Setting::Variant => "variant",
            Setting::Bell => "bell",
            Setting::Argument => "argument",
            Setting::ModelFunction => "model_function",
            Setting::DataModel => "data_model",
            Setting::Extern => "extern",
            Setting::Checkpoint => "checkpoint",
            Setting::Resume => "resume",
            Setting::Cluster => "cluster",
        }
    }
}

/// How settings are spelled.
pub trait Voice {
    fn setting(&self, setting: Setting) -> String;

    /// A setting with its value.
    fn with(&self, setting: Setting, value: &str) -> String;
}

/// The library's.
pub struct Plain;

impl Voice for Plain {
    fn setting(&self, setting: Setting) -> String {
        format!("'{}'", setting.name())
    }

    fn with(&self, setting: Setting, value: &str) -> String {
        format!("'{}' {value}", setting.name())
    }
}

/// What may help.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Help {
    /// A sentence that names no setting.
    Text(String),
    /// What a setting of that value does.
    With { setting: Setting, value: Box<str>, effect: &'static str },
    /// What happens without a setting.
    Without { setting: Setting, effect: &'static str },
    /// Settings that are not for this.
    LeaveOut(Vec<Setting>),
    /// Settings of which one has to go.
    Contradiction(Vec<Setting>),
    /// The limit is what ended the search.
    Raise(Setting),
    /// The bound is what makes too many of something.
    Lower(Setting),
    /// Engines that may know; any, where none is named.
    TryEngines(Vec<&'static str>),
    /// What should be looked for in place of what is asked.
    LookFor(Property),
    /// Other values of these settings may lead to an answer.
    Other(Vec<Setting>),
    /// All of these.
    Several(Vec<Help>),
}

impl Help {
    pub fn with(setting: Setting, value: impl Into<Box<str>>, effect: &'static str) -> Help {
        Help::With { setting, value: value.into(), effect }
    }

    /// For an input that may have any value where an engine has to try them one by one.
    pub fn give_input_range() -> Help {
        Help::with(Setting::Inputs, "LO..HI", "gives its range")
    }

    pub fn and(self, other: impl Into<Help>) -> Help {
        match self {
            Help::Several(mut all) => {
                all.push(other.into());
                Help::Several(all)
            }
            one => Help::Several(vec![one, other.into()]),
        }
    }

    /// The help as a sentence.
    pub fn worded(&self, voice: &dyn Voice) -> String {
        let spelled = |settings: &[Setting], word: &str| {
            let all: Vec<String> = settings.iter().map(|one| voice.setting(*one)).collect();
            joined(&all, word)
        };
        match self {
            Help::Text(text) => text.clone(),
            Help::With { setting, value, effect } => {
                format!("{} {effect}", voice.with(*setting, value))
            }
            Help::Without { setting, effect } => {
                format!("without {} {effect}", voice.setting(*setting))
            }
            Help::LeaveOut(settings) => format!("leave out {}", spelled(settings, "and")),
            Help::Contradiction(settings) => format!("leave out {}", spelled(settings, "or")),
            Help::Raise(setting @ (Setting::Unroll | Setting::Bound)) => {
                format!("a larger {} may help", voice.setting(*setting))
            }
            Help::Raise(setting) => {
                let setting = voice.setting(*setting);
                format!("a larger {setting}, or a smaller program, may lead to an answer")
            }
            Help::Lower(setting) => format!("a smaller {} makes fewer", voice.setting(*setting)),
            Help::TryEngines(engines) if engines.is_empty() => {
                format!("leave out {}: others are asked then", voice.setting(Setting::Engine))
            }
            Help::TryEngines(engines) => {
                let engines: Vec<String> = engines.iter().map(|it| it.to_string()).collect();
                let engine = voice.with(Setting::Engine, &joined(&engines, "or"));
                format!("leave out {}, or try {engine}", voice.setting(Setting::Engine))
            }
            Help::LookFor(property) => {
                let asked = voice.with(Setting::Property, property.name());
                format!("leave out {}, or say {asked}", voice.setting(Setting::Property))
            }
            Help::Other(settings) => format!("another {} may", spelled(settings, "or")),
            Help::Several(all) => {
                let all: Vec<String> = all.iter().map(|help| help.worded(voice)).collect();
                all.join("; ")
            }
        }
    }
}

/// `a, b and c`.
fn joined(all: &[String], word: &str) -> String {
    match all {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} {word} {last}", first.join(", ")),
    }
}

impl From<String> for Help {
    fn from(text: String) -> Help {
        Help::Text(text)
    }
}

impl From<&str> for Help {
    fn from(text: &str) -> Help {
        Help::Text(text.to_string())
    }
}

impl fmt::Display for Help {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.worded(&Plain))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_spelled_as_the_voice_has_it() {
        struct Loud;
        impl Voice for Loud {
            fn setting(&self, setting: Setting) -> String {
                setting.name().to_uppercase()
            }
            fn with(&self, setting: Setting, value: &str) -> String {
                format!("{}={value}", self.setting(setting))
            }
        }
        let help = Help::Raise(Setting::Timeout).and(Help::give_input_range());
        assert_eq!(
            help.worded(&Loud),
            "a larger TIMEOUT, or a smaller program, may lead to an answer; \
             INPUTS=LO..HI gives its range"
        );
        let help = Help::TryEngines(vec!["states", "bounded"]);
        assert_eq!(help.worded(&Loud), "leave out ENGINE, or try ENGINE=states or bounded");
        let help = Help::Other(vec![Setting::Engine, Setting::Model]);
        assert_eq!(help.to_string(), "another 'engine' or 'model' may");
        assert_eq!(Help::from("as it is").worded(&Loud), "as it is");
    }
}
