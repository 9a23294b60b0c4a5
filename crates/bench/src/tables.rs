//! The benchmarks of P. Maleehuan, Program Verification for Multiprocessors with Relaxed Memory Models
//! using an SMT Solver, dissertation, JAIST 2018: each line of its tables 5.1, 5.2, 5.3, 5.4 and 5.7
//! with what it says, and the same question asked of our engines.

use std::path::Path;
use std::time::{Duration, Instant};

use parallax_control::Control;
use parallax_frontend_ops::{parse, translate};
use parallax_query::{Extensions, Query, SolverWork};
use parallax_verdict::Conclusion;
use parallax_verify::structures::subject;
use parallax_verify::{Asking, Framework};

use crate::{ask, query};

/// How a question is asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Method {
    /// Up to so many repetitions.
    Bounded(Framework, u32),
    Inductive,
}

/// One question, and what the dissertation says to it.
#[derive(Clone, PartialEq, Debug)]
pub struct Question {
    pub program: String,
    pub text: String,
    pub model: &'static str,
    pub method: Method,
    /// Whether there is a violation, and the seconds that it took to say so, if it was asked.
    pub violated: bool,
    pub published: Option<f64>,
}

/// What came of it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Answer {
    /// None for `unknown`.
    pub violated: Option<bool>,
    pub events: u64,
    pub work: SolverWork,
    /// From the text to the verdict.
    pub total: Duration,
}

pub struct Table {
    pub title: &'static str,
    pub questions: Vec<Question>,
}

/// A program, its file, the models, seconds, and whether there is a violation.
type Line<'a> = (&'a str, &'a str, u32, [f64; 3], [bool; 3]);

const N: bool = false;
const Y: bool = true;

const SUB_OPERATIONS: [Line<'_>; 6] = [
    ("Message passing", "message-passing", 1, [0.683, 1.921, 0.718], [N, N, Y]),
    ("MP with fence", "message-passing-stbar", 1, [0.761, 1.722, 1.776], [N, N, N]),
    ("SPARC spinlock", "sparc-spinlock", 1, [7.441, 7.542, 8.004], [N, N, N]),
    ("Dekker", "dekker", 1, [32.499, 34.496, 32.477], [N, Y, Y]),
    ("Peterson", "peterson", 1, [37.621, 204.873, 113.963], [N, Y, Y]),
    ("Known PSO bug", "known-pso-bug", 0, [2.896, 125.707, 2265.563], [N, N, Y]),
];

const CATS: [Line<'_>; 7] = [
    ("Message passing", "message-passing", 1, [5.614, 6.549, 14.368], [N, N, Y]),
    ("MP with fence", "message-passing-fenced", 1, [5.724, 6.721, 36.595], [N, N, N]),
    ("TOPPERS spinlock", "toppers-spinlock", 1, [461.081, 535.861, 3385.248], [N, N, N]),
    ("SPARC spinlock", "sparc-spinlock", 1, [32.282, 38.497, 150.107], [N, N, N]),
    ("Dekker", "dekker", 1, [435.416, 561.755, 3697.089], [N, Y, Y]),
    ("Peterson", "peterson", 1, [267.575, 74.058, 523.214], [N, Y, Y]),
    ("Known PSO bug", "known-pso-bug", 0, [4.238, 5.559, 135.116], [N, N, Y]),
];

const INDUCTIVE: [Line<'_>; 4] = [
    ("Message passing", "message-passing-loop", 0, [15.17, 19.52, 3.38], [N, N, Y]),
    ("MP with fence", "message-passing-loop-stbar", 0, [14.75, 19.12, 18.98], [N, N, N]),
    ("TOPPERS spinlock", "toppers-spinlock-loop", 0, [15089.42, 19584.4, 19219.8], [N, N, N]),
    ("Peterson", "peterson", 0, [4557.97, 311.11, 310.06], [N, Y, Y]),
];

/// Message passing with fences, by processors: SC, TSO, PSO, and ARM.
const SERIES: [[f64; 4]; 3] = [
    [14.67, 19.03, 18.77, 88.86],
    [123.47, 153.18, 150.56, 1027.9],
    [707.47, 910.21, 904.57, 9547.81],
];

/// The largest number of processors in the series.
const MOST_PROCESSORS: usize = 8;

const MACHINES: [&str; 3] = ["sc", "tso", "pso"];

pub fn tables() -> Vec<Table> {
    let cat = |line: &Line<'_>| Method::Bounded(Framework::Cat, line.2);
    let sub_operations = |line: &Line<'_>| Method::Bounded(Framework::Gharachorloo, line.2);
    vec![
        Table {
            title: "Bounded, sub-operations (table 5.1)",
            questions: questions(&SUB_OPERATIONS, MACHINES, sub_operations),
        },
        Table {
            title: "Bounded, cat (table 5.2)",
            questions: questions(&CATS, ["sc", "tso", "arm"], cat),
        },
        Table {
            title: "Inductive (tables 5.3 and 5.4)",
            questions: questions(&INDUCTIVE, MACHINES, |_| Method::Inductive),
        },
        Table {
            title: "Message passing with fences to many processors (table 5.7)",
            questions: series(),
        },
    ]
}

fn questions(
    lines: &[Line<'_>],
    models: [&'static str; 3],
    method: impl Fn(&Line<'_>) -> Method,
) -> Vec<Question> {
    let mut all = Vec::new();
    for line in lines {
        let (program, file, _, seconds, violated) = line;
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/ops");
        let path = path.join(format!("{file}.ops"));
        let text = std::fs::read_to_string(&path).expect("an example");
        for (at, model) in models.into_iter().enumerate() {
            all.push(Question {
                program: program.to_string(),
                text: text.clone(),
                model,
                method: method(line),
                violated: violated[at],
                published: Some(seconds[at]),
            });
        }
    }
    all
}

/// Under ARM, proofs by invariants say nothing; the reader only waits, so a bound is none.
fn series() -> Vec<Question> {
    let mut all = Vec::new();
    for processors in 2..=MOST_PROCESSORS {
        let published = SERIES.get(processors - 2);
        let question = |model, text, method, at: usize| Question {
            program: format!("{processors} processors"),
            text,
            model,
            method,
            violated: false,
            published: published.map(|seconds| seconds[at]),
        };
        for (at, model) in MACHINES.into_iter().enumerate() {
            all.push(question(model, structured(processors), Method::Inductive, at));
        }
        let bounded = Method::Bounded(Framework::Cat, 1);
        all.push(question("arm", fenced(processors), bounded, 3));
    }
    all
}

/// Loops with invariants, for SPARC.
fn structured(processors: usize) -> String {
    let mut text = String::from(
        "loc [x], [y];\nthread P1 { instr{ [x] := 1 }; instr{ stbar }; instr{ [y] := 1 } }\n",
    );
    for reader in 2..=processors {
        text += &format!(
            "thread P{reader} {{\n  do {{ instr{{ val := [y]; val_n := (val = 1) ? 0 : 1 }}\n\
             <val_n = 0 \\/ val_n = 1> }} while(val_n = 1);\n  instr{{ val := [x] }};\n\
             assert(val = 1) }}\n"
        );
    }
    text
}

/// Code for ARM.
fn fenced(processors: usize) -> String {
    let mut code = String::from(
        "isa arm\nloc [x] = 0, [y] = 0\nthread P1:\n mov r1, #1\n str r1, [x]\n dmb\n str r1, [y]\n",
    );
    for reader in 2..=processors {
        code += &format!("thread P{reader}:\nL: ldr r1, [y]\n cmp r1, #1\n bne L\n dmb\n");
        code += " ldr r2, [x]\n assert r2 = 1\n";
    }
    translate("series.asm", &code).expect("structures")
}

impl Question {
    /// Asks; an error is a bug in the benchmark.
    pub fn ask(&self) -> Answer {
        let started = Instant::now();
        let structures = parse("t.ops", &self.text).expect("structures");
        let is_proved = self.method == Method::Inductive;
        let subject = subject(&structures, "t.ops".to_string(), is_proved).expect("a program");
        let query = query(&subject, self.model);
        let (engine, query) = match self.method {
            Method::Bounded(framework, bound) => {
                let asking = Asking { framework, ..Asking::default() };
                let extensions = Extensions::default().with(asking);
                ("bounded", Query { unroll: Some(bound), extensions, ..query })
            }
            Method::Inductive => ("inductive", query),
        };
        let answer = ask(engine, &query, &Control::default());
        let violated = match answer.verdict.conclusion() {
            Conclusion::Safe => Some(false),
            Conclusion::Unsafe => Some(true),
            // What is not proved counts as a violation, as it does in the dissertation.
            Conclusion::Unknown => answer.candidate.is_some().then_some(true),
        };
        let work = answer.solver.expect("the work of a solver");
        Answer { violated, events: answer.verdict.counts.events, work, total: started.elapsed() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_are_those_of_the_dissertation() {
        for table in tables() {
            for question in table.questions {
                let Question { program, model, method, violated, .. } = &question;
                let found = question.ask().violated;
                assert_eq!(found, Some(*violated), "{program} under {model} by {method:?}");
            }
        }
    }
}
