//! A question to an engine about a program, and what became of it.

use std::fmt;
use std::time::Duration;

use parallax_program::{Bits, Property};
use parallax_query::{Extensions, Reductions};
use parallax_verdict::Verdict;
use parallax_verify::{Asking, Backend, Choice, Framework};

/// The models that questions are asked under.
pub const MODELS: [&str; 14] = [
    "sc", "tso", "pso", "rc11", "rc20", "rc11-mca", "ra", "c11", "c11-mca", "imm", "aarch64",
    "power", "riscv", "rmo",
];

/// How the program is given to the engine.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Form {
    C,
    /// C where pointers have 32 bits. No generated program can see that.
    NarrowC,
    Litmus,
    /// What is made of the litmus test, in the text form of the intermediate language.
    Text,
    /// Machine code for x86-64.
    Machine(Compiler, u8),
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Compiler {
    Gcc,
    Clang,
}

impl Compiler {
    pub fn command(self) -> &'static str {
        match self {
            Compiler::Gcc => "gcc",
            Compiler::Clang => "clang-19",
        }
    }
}

/// How an engine is set.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Setting {
    Usual,
    /// With one reduction, or none.
    Reductions(&'static str),
    /// With two threads.
    Crew,
    Z3,
    Certified,
    Gharachorloo,
}

/// An engine of the registry by its name, or `auto`, and how it is set.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Engine {
    pub name: &'static str,
    pub setting: Setting,
}

impl Engine {
    pub const AUTO: Engine = Engine::usual("auto");
    pub const EXPLORE: Engine = Engine::usual("explore");
    pub const STATES: Engine = Engine::usual("states");
    pub const BOUNDED: Engine = Engine::usual("bounded");
    pub const VIEW: Engine = Engine::usual("view");
    pub const INDUCTIVE: Engine = Engine::usual("inductive");
    pub const ENUMERATE: Engine = Engine::usual("enumerate");

    pub const fn usual(name: &'static str) -> Engine {
        Engine { name, setting: Setting::Usual }
    }

    pub const fn with(self, setting: Setting) -> Engine {
        Engine { setting, ..self }
    }

    /// What is said on the command line.
    fn options(self) -> String {
        let more = match self.setting {
            Setting::Usual => String::new(),
            Setting::Reductions(names) => format!(" --reductions {names}"),
            Setting::Crew => " --jobs 2".to_string(),
            Setting::Z3 => " --solver z3".to_string(),
            Setting::Certified => " --certify".to_string(),
            Setting::Gharachorloo => " --framework gharachorloo".to_string(),
        };
        format!("--engine {}{more}", self.name)
    }

    /// Who is asked.
    pub fn choice(self) -> Choice {
        if self.name == Engine::AUTO.name { Choice::Auto } else { Choice::Named(self.name) }
    }

    /// What only some engines know.
    pub fn extensions(self) -> Extensions {
        let usual = Extensions::default();
        let asking = |asking: Asking| Extensions::default().with(asking);
        match self.setting {
            Setting::Usual | Setting::Crew => usual,
            Setting::Reductions(names) => match Reductions::parse(names) {
                Ok(reductions) => usual.with(reductions),
                Err(_) => usual,
            },
            Setting::Z3 => asking(Asking { backend: Backend::Z3, ..Asking::default() }),
            Setting::Certified => asking(Asking { certify: true, ..Asking::default() }),
            Setting::Gharachorloo => {
                asking(Asking { framework: Framework::Gharachorloo, ..Asking::default() })
            }
        }
    }

    /// A word for the names of files.
    pub fn word(self) -> String {
        match self.setting {
            Setting::Usual => self.name.to_string(),
            Setting::Reductions(names) => format!("{}-{names}", self.name),
            other => format!("{}-{other:?}", self.name).to_lowercase(),
        }
    }
}

/// What is asked for: a set of properties.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Asked(u16);

impl Asked {
    pub fn of(properties: &[Property]) -> Asked {
        Asked(properties.iter().fold(0, |set, property| set | 1 << *property as u16))
    }

    pub fn contains(self, property: Property) -> bool {
        self.0 & 1 << property as u16 != 0
    }

    pub fn properties(self) -> Vec<Property> {
        Property::ALL.into_iter().filter(|property| self.contains(*property)).collect()
    }
}

impl From<Property> for Asked {
    fn from(property: Property) -> Asked {
        Asked::of(&[property])
    }
}

impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.properties().into_iter().map(Property::name).collect();
        f.write_str(&names.join(","))
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Query {
    pub form: Form,
    pub engine: Engine,
    pub model: &'static str,
    pub asked: Asked,
    /// Whether all executions are looked at, bad ones too, so that they can be counted.
    pub counting: bool,
}

impl Query {
    /// The command that asks the same, of a file that is called `name` and an ending.
    pub fn command(&self, name: &str) -> String {
        let model = self.model;
        if self.engine == Engine::ENUMERATE {
            return format!("parallax litmus --model {model} {name}.litmus");
        }
        let options = self.engine.options();
        let asked = self.asked;
        let all = if self.counting { " --all" } else { "" };
        let question = |file: &str| {
            format!("parallax verify {options} --model {model} -p {asked}{all} {file}")
        };
        match self.form {
            Form::C => question(&format!("{name}.c")),
            Form::NarrowC => question(&format!("--data-model ilp32 {name}.c")),
            Form::Text => question(&format!("{name}.program")),
            Form::Litmus => {
                format!("parallax verify {options} --model {model}{all} {name}.litmus")
            }
            Form::Machine(compiler, level) => {
                let compiler = compiler.command();
                let object = format!("{name}.o");
                let question = question(&object);
                format!("{compiler} -O{level} -w -c {name}.c -o {object}; {question}")
            }
        }
    }
}

/// What an engine said.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Said {
    Safe,
    /// Safe, if loops repeat no more often.
    SafeUpTo(u32),
    Unsafe,
    Unknown(String),
    /// The engine does not take questions of this kind.
    Refused(String),
    /// A panic, an execution that does not replay, a limit that was not kept.
    Broken(String),
}

impl Said {
    pub fn word(&self) -> &'static str {
        match self {
            Said::Safe => "safe",
            Said::SafeUpTo(_) => "bounded",
            Said::Unsafe => "unsafe",
            Said::Unknown(_) => "unknown",
            Said::Refused(_) => "refused",
            Said::Broken(_) => "broken",
        }
    }
}

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Said::Safe | Said::Unsafe => f.write_str(self.word()),
            Said::SafeUpTo(bound) => write!(f, "safe up to {bound} rounds"),
            Said::Unknown(why) | Said::Refused(why) | Said::Broken(why) => {
                write!(f, "{}: {why}", self.word())
            }
        }
    }
}

#[derive(Clone, Debug)]
pub struct Answer {
    pub said: Said,
    /// What is the same each time, if the engine gave a verdict.
    pub verdict: Option<Verdict>,
    pub executions: u64,
    /// All final states of a litmus test, from an engine that knows them: the values of what is shown.
    pub finals: Vec<Vec<Bits>>,
    pub time: Duration,
}

impl Answer {
    pub fn is_safe(&self) -> bool {
        matches!(self.said, Said::Safe | Said::SafeUpTo(_))
    }

    pub fn is_unsafe(&self) -> bool {
        self.said == Said::Unsafe
    }
}
