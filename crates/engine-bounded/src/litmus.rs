//! Litmus tests: whether some execution ends in a state that satisfies the proposition.

use std::time::Instant;

use parallax_machine::{Code, Globals};
use parallax_memory::Model;
use parallax_program::{Diagnostic, Diagnostics, InstKind, Program, Question, Span};
use parallax_solver::{Answer, Control, Literal, Stop as SolverStop};
use parallax_verdict::{Execution, Reason};

use crate::base::Base;
use crate::circuit::Circuit;
use crate::communication::Communication;
use crate::options::{Figures, Options};
use crate::question::{Asked, LastWrites};
use crate::relations::bounds::Bounds;
use crate::relations::literals::Relations;
use crate::structure::{Refusal, Structure};
use crate::unfold::{Obstruction, Plan, Unfolding, unfold};
use crate::watch::Watch;
use crate::witness::Witness;

/// What was found out about a litmus test.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub finding: Finding,
    pub figures: Figures,
}

#[derive(Clone, Debug)]
pub enum Finding {
    /// An execution that ends in such a state.
    Reachable(Box<Execution>),
    /// There is none; `complete` tells whether no loop repeats more often than it was followed.
    Unreachable {
        complete: bool,
    },
    Unknown(Reason),
}

/// Looks for an execution that the model allows and whose final state satisfies the proposition
/// of the question, and its filter.
pub fn check(
    program: &Program,
    question: &Question,
    model: &Model,
    options: &Options<'_>,
) -> Result<Outcome, Diagnostics> {
    let located = |mut error: Diagnostic| {
        error.location.get_or_insert_with(|| program.source.location(Span::new(0, 0)));
        vec![error]
    };
    let code = Code::new(program);
    let started = Instant::now();
    let end = options.timeout.and_then(|limit| started.checked_add(limit));
    let mut test = Test {
        code: &code,
        question,
        model,
        options,
        watch: Watch::new(options.stop, end),
        granule: None,
        figures: Figures::default(),
    };
    let finding = loop {
        match test.run().map_err(located)? {
            Progress::Done(finding) => break finding,
            Progress::Split => test.granule = Some(test.smallest_access().map_err(located)?),
        }
    };
    let mut figures = test.figures;
    figures.encoding = started.elapsed().saturating_sub(figures.solving);
    Ok(Outcome { finding, figures })
}

enum Progress {
    Done(Finding),
    /// Accesses of different sizes overlap: split them.
    Split,
}

struct Test<'a, 'p> {
    code: &'a Code<'p>,
    question: &'a Question,
    model: &'a Model,
    options: &'a Options<'a>,
    watch: Watch<'a>,
    granule: Option<u32>,
    figures: Figures,
}

impl Test<'_, '_> {
    /// Models with more relations than this are refused.
    const MOST_RELATIONS: usize = 5_000;

    fn run(&mut self) -> Result<Progress, Diagnostic> {
        let formula = self.model.formula()?;
        if formula.nodes().len() > Self::MOST_RELATIONS {
            return Err(Diagnostic::new("the model defines too many relations"));
        }
        let asked = Asked::new(self.question);
        let plan = Plan {
            bound: self.options.unroll,
            granule: self.granule,
            traces: true,
            asked: asked.variables(self.code.program.threads.len()),
        };
        let unfolding = match unfold(self.code, &plan, &mut self.watch) {
            Ok(unfolding) => unfolding,
            Err(Obstruction::Stopped) => return Ok(self.stopped("time is up")),
            Err(Obstruction::TooLarge(error)) => return Ok(unknown(error.message, None)),
        };
        if let Some((stop, what)) = unfolding.obstacles.first() {
            let message = format!("{what}: not supported by the bounded engine");
            return Err(match stop.site {
                Some(site) => self.code.program.source.error(self.code.span(site), message),
                None => Diagnostic::new(message),
            });
        }
        self.solve(unfolding, &asked)
    }

    fn solve(&mut self, unfolding: Unfolding, asked: &Asked) -> Result<Progress, Diagnostic> {
        let Unfolding { mut values, events, threads, exceeded, .. } = unfolding;
        let formula = self.model.formula()?;
        let image = Globals::new(self.code)
            .ok_or_else(|| Diagnostic::new("the globals of the program are too large"))?;
        let places = asked.places(self.code, self.granule);
        let mut terms = std::mem::take(&mut values.terms);
        let structure = match Structure::new(events, &mut terms, &image, &places) {
            Ok(structure) => structure,
            Err(Refusal::Overlap) if self.granule.is_none() => return Ok(Progress::Split),
            Err(Refusal::Overlap) => {
                return Err(Diagnostic::new("misaligned accesses overlap; this is not supported"));
            }
            Err(Refusal::Anywhere(_)) => {
                return Ok(unknown("an access may go to too many addresses".to_string(), None));
            }
        };
        let mut circuit = Circuit::new(terms);
        let executed: Vec<Literal> =
            structure.events.iter().map(|event| circuit.literal(event.executed)).collect();
        let coherent = self.model.implies_coherence();
        let communication = Communication::new(&structure, &executed, coherent, &mut circuit);
        let base = Base::new(formula, &structure, &communication, &values, &mut circuit);
        let bounds = Bounds::new(formula, &structure.facts, &base.bounds).map_err(|_| {
            let name = self.model.name();
            Diagnostic::new(format!("a recursive definition of '{name}' is beyond the engine"))
        })?;
        let mut relations = Relations::new(
            &mut circuit,
            formula,
            &bounds,
            &structure.facts,
            &base.literals,
            &executed,
        );
        for (axiom, subject) in formula.tests().filter(|(axiom, _)| !axiom.is_flag()) {
            relations.require(axiom, subject).map_err(|unsupported| {
                let (name, axiom) = (self.model.name(), unsupported.axiom);
                Diagnostic::new(format!("the axiom '{axiom}' of '{name}' is beyond the engine"))
            })?;
        }
        let mut last = LastWrites {
            circuit: &mut circuit,
            structure: &structure,
            communication: &communication,
            executed: &executed,
        };
        let finals = asked.values(self.code, self.granule, &threads, &mut last);
        let mut wanted = asked.holds(&self.question.prop, &finals, self.code, &mut circuit.terms);
        if let Some(filter) = &self.question.filter {
            let counts = asked.holds(filter, &finals, self.code, &mut circuit.terms);
            wanted = circuit.terms.and(wanted, counts);
        }
        let mut assumptions = vec![circuit.literal(wanted)];
        for run in &threads {
            let ends: Vec<Literal> =
                run.ends.iter().map(|(end, _)| circuit.literal(*end)).collect();
            assumptions.push(circuit.or(&ends));
        }
        let answer = self.ask(&mut circuit, &assumptions);
        self.note(&structure, &circuit);
        match answer {
            Answer::Satisfiable => {
                let witness = Witness {
                    code: self.code,
                    circuit: &mut circuit,
                    structure: &structure,
                    communication: &communication,
                    executed: &executed,
                    values: &values,
                };
                let execution = witness.execution(asked, &finals);
                Ok(Progress::Done(Finding::Reachable(Box::new(execution))))
            }
            Answer::Stopped(stop) => Ok(self.stopped(why(stop))),
            Answer::Unsatisfiable => {
                let beyond: Vec<Literal> =
                    exceeded.iter().map(|stop| circuit.literal(stop.guard)).collect();
                let beyond = circuit.or(&beyond);
                let answer = match beyond {
                    Literal::FALSE => Answer::Unsatisfiable,
                    _ => self.ask(&mut circuit, &[beyond]),
                };
                let complete = answer == Answer::Unsatisfiable;
                Ok(Progress::Done(Finding::Unreachable { complete }))
            }
        }
    }

    fn ask(&mut self, circuit: &mut Circuit, assumptions: &[Literal]) -> Answer {
        let control = Control {
            deadline: self.watch.end(),
            interrupt: self.watch.stop(),
            memory_limit: self.options.memory_limit,
        };
        let started = Instant::now();
        let answer = circuit.solve(assumptions, &control);
        self.figures.solving += started.elapsed();
        answer
    }

    fn note(&mut self, structure: &Structure, circuit: &Circuit) {
        let statistics = circuit.statistics();
        self.figures.events = structure.events.len() as u64;
        self.figures.variables = statistics.variables;
        self.figures.clauses = statistics.clauses;
        self.figures.edges = statistics.edges;
    }

    fn stopped(&self, why: &str) -> Progress {
        unknown(format!("the search was stopped: {why}"), None)
    }

    fn smallest_access(&self) -> Result<u32, Diagnostic> {
        if self.model.input("si").is_none() {
            return Err(Diagnostic::new(format!(
                "accesses of different sizes overlap, and model '{}' does not describe that",
                self.model.name()
            ))
            .with_help("a model that does relates the parts of an access by 'si'"));
        }
        let functions = self.code.program.functions.iter();
        let insts = functions.flat_map(|f| &f.blocks).flat_map(|block| &block.insts);
        let sizes = insts.filter_map(|inst| match &inst.kind {
            InstKind::Load { size, .. }
            | InstKind::Store { size, .. }
            | InstKind::Rmw { size, .. }
            | InstKind::Cas { size, .. }
            | InstKind::LoadLinked { size, .. }
            | InstKind::StoreConditional { size, .. } => Some(size.bytes()),
            _ => None,
        });
        Ok(sizes.min().unwrap_or(1))
    }
}

fn unknown(message: String, help: Option<String>) -> Progress {
    Progress::Done(Finding::Unknown(Reason { message, place: None, help }))
}

fn why(stop: SolverStop) -> &'static str {
    match stop {
        SolverStop::Deadline => "time limit reached",
        SolverStop::Interrupt => "interrupted",
        SolverStop::MemoryLimit => "memory limit reached",
        SolverStop::Incomplete => "the solver gave up",
    }
}

/// Whether a model asks which reads a value comes from.
pub fn asks_for_dependencies(model: &Model) -> bool {
    let names = ["addr", "data", "ctrl", "pick-addr", "pick-data", "pick-ctrl"];
    names.iter().any(|name| model.input(name).is_some())
}
