//! What can be said to `parallax verify`.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::{Args, ValueEnum, ValueHint};
use parallax_query::{Reduction, Reductions};
use parallax_verify::registry::ENGINES;
use parallax_verify::{Choice, Properties};

use super::input::InputArguments;
use crate::args::seconds;

/// Verify a program: find every execution that the memory model allows, and what is wrong with it.
///
/// Inputs are C files (.c, .i), LLVM modules (.ll, .bc), programs for x86-64 (an executable or an
/// object, or .s), operation structures (.ops), programs in the text form of the
/// intermediate language (.program) or a litmus test (.litmus), whose final condition is the
/// property: a state that it asks for with exists or ~exists is a violation, and so is one that
/// forall does not hold of. Tasks of SV-COMP (.yml) name a program and properties, and are answered
/// by the rules of the competition; several may be given.
#[derive(Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
pub struct VerifyArguments {
    #[command(flatten)]
    pub input: InputArguments,

    /// A built-in model or a cat file [default: rc11; of machine code tso; of a litmus test
    /// or operation structures their machine's]
    #[arg(long, short, value_name = "NAME|FILE.cat")]
    pub model: Option<String>,

    #[arg(long, value_name = "NAME", default_value = "auto", help = ways_to_search())]
    pub engine: Choice,

    /// What to look for: assert, race, memory, leak, deadlock, lock, liveness, overflow, all, or
    /// a property file of SV-COMP [default: all but leak, and in machine code race]
    #[arg(long, short, value_name = "NAME,…|FILE.prp")]
    pub property: Option<Properties>,

    /// Repeat loops so often at most; auto: as often as is needed. Loops that only wait need no limit
    #[arg(long, value_name = "N|auto", default_value = "auto", allow_negative_numbers = true)]
    pub unroll: Rounds,

    /// Which values inputs may have, both ends included, such as 0..3
    #[arg(long, value_name = "LO..HI", value_parser = range, allow_hyphen_values = true)]
    pub nondet: Option<(i128, i128)>,

    /// Reductions beyond exploring each execution once: none, all, or a list. With none,
    /// executions are the consistent execution graphs of the model
    #[arg(long, value_name = "none|all|LIST", default_value = "all", value_parser = reductions)]
    pub reductions: Reductions,

    /// Go on after a violation
    #[arg(long)]
    pub all: bool,

    /// How many threads search
    #[arg(long, short, value_name = "N", default_value = "1", allow_negative_numbers = true)]
    pub jobs: NonZeroUsize,

    /// Stop after so long, with what was found so far
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    #[arg(allow_negative_numbers = true)]
    pub timeout: Option<Duration>,

    /// Stop when the search has taken so much memory, with what was found so far
    #[arg(long, value_name = "MIB", default_value = crate::MEMORY_LIMIT)]
    #[arg(allow_negative_numbers = true)]
    pub memory_limit: NonZeroU32,

    /// Which solver the bounded engine asks
    #[arg(long, value_enum, default_value_t = SolverName::Cadical)]
    pub solver: SolverName,

    /// How the bounded engine says which executions are allowed
    #[arg(long, value_enum, default_value_t = FrameworkName::Cat)]
    pub framework: FrameworkName,

    /// Take values for integers, which never wrap around: of operation structures (bounded engine, with
    /// Z3), and of C as far as its types reach (engine abstract)
    #[arg(long)]
    pub integers: bool,

    /// Believe that there is no violation only with a proof that was checked (bounded engine)
    #[arg(long)]
    pub certify: bool,

    /// Write what the bounded engine asks its solver, for others; further questions go to FILE-2 and
    /// so on
    #[arg(long, value_name = "FILE.cnf|.smt2", value_hint = ValueHint::FilePath)]
    #[arg(value_parser = question)]
    pub emit: Option<PathBuf>,

    /// What is known of abstract states (engine abstract)
    #[arg(long, value_enum, default_value_t = DomainName::Product)]
    pub domain: DomainName,

    /// How many values of one variable are distinguished after a step (engine abstract)
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub maxenum: u32,

    /// Which abstract state is looked at next (engine abstract)
    #[arg(long, value_enum, default_value_t = WaitlistName::Usual)]
    pub waitlist: WaitlistName,

    /// How much of the graph is built again after a failure that is none (engine abstract)
    #[arg(long, value_enum, default_value_t = PruneName::Lazy)]
    pub prune: PruneName,

    /// How is found out what more has to be known (engine abstract)
    #[arg(long, value_enum, default_value_t = RefinementName::Backward)]
    pub refinement: RefinementName,

    /// What of a condition that has to be known becomes predicates (engine abstract)
    #[arg(long, value_enum, default_value_t = PartsName::Both)]
    pub parts: PartsName,

    /// Where a predicate is tracked (engine abstract)
    #[arg(long, value_enum, default_value_t = PrecisionName::Global)]
    pub precision: PrecisionName,

    /// Whether executions are graphs that the model's file judges (engine abstract)
    #[arg(long, value_enum, default_value_t = GraphsName::Usual)]
    pub graphs: GraphsName,

    /// How it is found out whether the model's file allows such a graph (engine abstract)
    #[arg(long, value_enum, default_value_t = JudgeName::Saturation)]
    pub judge: JudgeName,

    /// Which orders of steps are looked at (engine abstract)
    #[arg(long, value_enum, default_value_t = OrdersName::Aware)]
    pub orders: OrdersName,

    /// Write the proof of a safe program, for `parallax check-proof` (engine abstract)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub proof: Option<PathBuf>,

    /// Keep what is left of the search in a file, from time to time and when it is stopped (engine
    /// explore)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub checkpoint: Option<PathBuf>,

    /// How often
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "60")]
    #[arg(allow_negative_numbers = true)]
    pub checkpoint_every: Duration,

    /// Go on with what was kept of the same search (engine explore)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub resume: Option<PathBuf>,

    /// Search together with other processes: a file with host:port of each, one a line (engine explore).
    /// Process 0 prints the answer
    #[arg(long, value_name = "HOSTS.txt", value_hint = ValueHint::FilePath, requires = "process")]
    pub cluster: Option<PathBuf>,

    /// Which line of --cluster this process is, from 0
    #[arg(long, value_name = "N", requires = "cluster", allow_negative_numbers = true)]
    pub process: Option<usize>,

    /// A file with the secret that the processes of a cluster share [default: from the environment,
    /// PARALLAX_SECRET]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "cluster")]
    pub secret: Option<PathBuf>,

    /// How long the processes of a cluster wait for each other at the start
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "60")]
    #[arg(allow_negative_numbers = true)]
    pub wait: Duration,

    /// After how long without a sign of life a process of a cluster is lost
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "10")]
    #[arg(allow_negative_numbers = true)]
    pub silence: Duration,

    /// How to print the answer
    #[arg(long, value_enum, default_value_t = AnswerFormat::Text)]
    pub format: AnswerFormat,

    /// Draw the execution of the first violation
    #[arg(long, value_name = "FILE.svg|.dot", value_hint = ValueHint::FilePath)]
    #[arg(value_parser = picture)]
    pub graph: Option<PathBuf>,

    /// Write the answer, the trace and the picture as a page
    #[arg(long, value_name = "FILE.html", value_hint = ValueHint::FilePath)]
    pub report: Option<PathBuf>,

    /// Write the schedule of the first violation, for `parallax debug` and `parallax replay`
    /// (models sc, tso and pso, engine states); with .yml or .graphml, a witness as SV-COMP has it,
    /// for `parallax validate`
    #[arg(long, value_name = "FILE|FILE.yml|.graphml", value_hint = ValueHint::FilePath)]
    pub witness: Option<PathBuf>,

    /// Write the instructions that places in the answer point into (machine code)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub listing: Option<PathBuf>,

    /// Compare with the verdicts that tasks of SV-COMP come with
    #[arg(long)]
    pub expect: bool,

    /// Say how many executions exploration would look at, and how long it would take, and no more
    #[arg(long)]
    pub estimate: bool,

    /// Ask many questions: the input is a file of tasks (.yml), or a folder of programs. The answers are a
    /// table; --jobs says how many are asked at once, and --report writes the table as a page
    #[arg(long)]
    pub batch: bool,

    /// Keep the answers of a batch in a file, and ask nothing that is answered there
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "batch")]
    pub results: Option<PathBuf>,

    /// No progress line, and nothing on stderr but errors
    #[arg(long, short, conflicts_with = "verbose")]
    pub quiet: bool,

    /// Show every step of traces, and the trace of every violation
    #[arg(long, short)]
    pub verbose: bool,
}

const EXAMPLES: &str = "\
Exit codes:
  0  safe
  1  unsafe: a violation was found
  2  bad input or usage
  3  unknown: something is not supported, or a limit or Ctrl-C stopped the search

Examples:
  parallax verify examples/tutorial/message-passing-fixed.c
  parallax verify --model sc --format json examples/store-buffering.litmus";

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum AnswerFormat {
    /// For people: the verdict, and the trace that leads there
    Text,
    /// One object
    Json,
    /// The Static Analysis Results Interchange Format, 2.1.0
    Sarif,
    /// One line, as SV-COMP has verdicts: true, false(PROPERTY) or unknown (REASON)
    Svcomp,
    /// A table with a line of headings (--batch)
    Csv,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum SolverName {
    /// With graphs that must stay acyclic as part of its search
    Cadical,
    /// With clocks in place of graphs
    Z3,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum FrameworkName {
    /// By the axioms of the model's cat file
    Cat,
    /// By the order of sub-operations (sc, tso and pso)
    Gharachorloo,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum DomainName {
    /// Values of variables
    Explicit,
    /// Conditions that hold or do not, each for itself
    Predicates,
    /// Both
    Product,
    /// Conditions, and states that differ in one of them are apart
    Boolean,
    /// That, and values
    BooleanProduct,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum GraphsName {
    /// Where the model has no machine
    Usual,
    /// They are, and are judged as soon as they grow
    Eager,
    /// They are, and are judged where something fails
    Lazy,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum JudgeName {
    /// What must be so of the order of writes, and a search for the rest
    Saturation,
    /// By a SAT solver that knows orders
    Sat,
    /// By an SMT solver, with relations as functions
    Functions,
    /// By rules that lead from facts to facts
    Datalog,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum WaitlistName {
    /// The last one, or the first one where executions are graphs
    Usual,
    /// The last one
    Dfs,
    /// The first one, in every order of steps
    Bfs,
    /// The one nearest to something that may fail, in every order of steps
    Err,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum PruneName {
    /// From the first state on that has to be another
    Lazy,
    /// All of it
    Full,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum RefinementName {
    /// From the shortest end of a path that cannot be taken from anywhere
    Backward,
    /// From the whole path, at each of its steps
    Sequence,
    /// From all failures that the graph reaches, before it is built again
    All,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum PartsName {
    /// Its comparisons, and all of it
    Both,
    /// All of it
    Whole,
    /// What has to hold together
    Conjuncts,
    /// Its comparisons
    Atoms,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum PrecisionName {
    /// Everywhere
    Global,
    /// Where threads stand as they did where it was found to matter
    Local,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum OrdersName {
    /// All, of single instructions
    Naive,
    /// All, where what is a thread's own business goes with the step before it
    Merged,
    /// Those that make a difference
    Sets,
    /// Those that make a difference to what is known of abstract states
    Aware,
}

/// The engines there are.
fn ways_to_search() -> String {
    let engines = ENGINES.map(|engine| format!("{} ({})", engine.name(), engine.summary()));
    format!("How to search: auto (those that may know, side by side), {}", engines.join(", "))
}

/// `0..3`, `-1..1`
pub fn range(text: &str) -> Result<(i128, i128), String> {
    let number = |text: &str| text.trim().parse::<i128>().ok();
    let ends = text.split_once("..").and_then(|(low, high)| Some((number(low)?, number(high)?)));
    match ends {
        Some((low, high)) if low <= high => Ok((low, high)),
        Some(_) => Err("the range is empty".to_string()),
        None => Err("expected two numbers, such as 0..3".to_string()),
    }
}

/// How often loops are repeated at most, if there is a limit.
#[derive(Clone, Copy, Debug)]
pub struct Rounds(pub Option<u32>);

impl FromStr for Rounds {
    type Err = String;

    fn from_str(text: &str) -> Result<Rounds, String> {
        match text {
            "auto" => Ok(Rounds(None)),
            _ => text
                .parse()
                .map(|rounds| Rounds(Some(rounds)))
                .map_err(|_| "expected a number of rounds, or auto".to_string()),
        }
    }
}

fn reductions(text: &str) -> Result<Reductions, String> {
    Reductions::parse(text).map_err(|name| {
        let known = Reduction::ALL.map(Reduction::name).join(", ");
        format!("there is no reduction '{name}'; reductions are {known}")
    })
}

fn question(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("cnf" | "smt2") => Ok(path),
        _ => Err("expected a name that ends in .cnf or .smt2".to_string()),
    }
}

fn picture(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("svg" | "dot") => Ok(path),
        _ => Err("expected a name that ends in .svg or .dot".to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_have_two_ends() {
        assert_eq!(range("-1..3"), Ok((-1, 3)));
        assert_eq!(range("0 .. 0"), Ok((0, 0)));
        for wrong in ["", "3", "..", "1..", "2..1", "a..b", "0...3"] {
            assert!(range(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn pictures_are_reported_by_their_names() {
        assert!(picture("a/b.svg").is_ok() && picture("b.dot").is_ok());
        assert!(picture("b.png").is_err() && picture("svg").is_err());
        assert!(question("b.cnf").is_ok() && question("b.smt").is_err());
    }
}
