//! A question to an engine about a program, and what became of it.

use std::fmt;
use std::time::Duration;

use parallax_program::{Bits, Property};
use parallax_verdict::Verdict;

/// The models that questions are asked under.
pub const MODELS: [&str; 12] =
    ["sc", "tso", "pso", "rc11", "rc20", "ra", "c11", "imm", "aarch64", "power", "riscv", "rmo"];

/// How the program is given to the engine.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Form {
    C,
    /// C, with checks of undefined arithmetic.
    CheckedC,
    Litmus,
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

/// An engine, and how it is set.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Engine {
    Explore,
    /// With one reduction, or none.
    Reduced(&'static str),
    /// With two threads.
    Crew,
    States,
    AllStates,
    Bounded,
    BoundedZ3,
    BoundedCertified,
    BoundedGharachorloo,
    Inductive,
    Enumerate,
}

impl Engine {
    pub fn name(self) -> &'static str {
        match self {
            Engine::Explore | Engine::Reduced(_) | Engine::Crew => "explore",
            Engine::States | Engine::AllStates => "states",
            Engine::Bounded
            | Engine::BoundedZ3
            | Engine::BoundedCertified
            | Engine::BoundedGharachorloo => "bounded",
            Engine::Inductive => "inductive",
            Engine::Enumerate => "enumerate",
        }
    }

    /// What is said on the command line.
    fn options(self) -> String {
        let more = match self {
            Engine::Reduced(name) => return format!("--engine explore --reductions {name}"),
            Engine::Crew => " --jobs 2",
            Engine::AllStates => " --reductions none",
            Engine::BoundedZ3 => " --solver z3",
            Engine::BoundedCertified => " --certify",
            Engine::BoundedGharachorloo => " --framework gharachorloo",
            _ => "",
        };
        format!("--engine {}{more}", self.name())
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Query {
    pub form: Form,
    pub engine: Engine,
    pub model: &'static str,
    pub property: Property,
    /// All executions are counted, and nothing is looked for.
    pub counting: bool,
}

impl Query {
    /// The command that asks the same, of a file that is called `name` and an ending.
    pub fn command(&self, name: &str) -> String {
        let model = self.model;
        if self.engine == Engine::Enumerate {
            return format!("parallax litmus --model {model} {name}.litmus");
        }
        let options = self.engine.options();
        let property = self.property;
        let all = if self.counting { " --all" } else { "" };
        let question = |file: &str| {
            format!("parallax verify {options} --model {model} -p {property}{all} {file}")
        };
        match self.form {
            Form::C | Form::CheckedC => question(&format!("{name}.c")),
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
