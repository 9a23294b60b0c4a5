//! Litmus tests: whether some execution ends in a state that satisfies the proposition.

use std::time::Instant;

use parallax_machine::Code;
use parallax_memory::Model;
use parallax_program::{Diagnostics, Program, Question};
use parallax_solver::{Answer, Literal};
use parallax_verdict::{Confirmed, Execution, Reason, replay, smallest_access};

use crate::addresses::{Premises, addresses};
use crate::encoding::{Asking, Encoding};
use crate::gharachorloo::admit;
use crate::memory::Memory;
use crate::options::{Asked as KeptQuestion, Bound, Figures, Options};
use crate::question::{Asked, LastWrites};
use crate::refusal::{beyond, located, reason, stopped, unsupported};
use crate::structure::{Refusal, Structure};
use crate::unfold::{Obstruction, Plan, Stop, Unfolding, unfold};
use crate::watch::Watch;
use crate::witness::Witness;

/// How often a loop of a litmus test is repeated where nothing is said.
const USUAL_BOUND: u32 = 2;

/// What was found out about a litmus test.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub finding: Finding,
    pub figures: Figures,
    /// What the solver was asked, in order, if that was to be kept.
    pub asked: Vec<KeptQuestion>,
}

#[derive(Clone, Debug)]
pub enum Finding {
    /// An execution that ends in such a state.
    Reachable(Box<Confirmed<Execution>>),
    /// There is none; `complete` says whether no loop repeats more often than it was followed.
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
    let located = |error| located(program, error);
    admit(options.framework, model).map_err(located)?;
    let code = Code::new(program);
    let started = Instant::now();
    let mut test = Test {
        code: &code,
        question,
        model,
        options,
        watch: Watch::new(&options.control),
        granule: None,
        figures: Figures::default(),
        asked: Vec::new(),
        started,
    };
    let finding = loop {
        match test.run() {
            Ok(Progress::Done(finding)) => break finding,
            Ok(Progress::Split) => {
                test.granule = Some(smallest_access(program, model).map_err(located)?)
            }
            Err(reason) => break Finding::Unknown(reason),
        }
    };
    Ok(Outcome { finding, figures: test.figures, asked: test.asked })
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
    asked: Vec<KeptQuestion>,
    started: Instant,
}

impl Test<'_, '_> {
    /// Nothing is shown that the replayer does not confirm.
    fn confirmed(&self, execution: Execution) -> Result<Confirmed<Execution>, Reason> {
        let program = self.code.program;
        replay(program, self.question, execution, self.model).map_err(|refusal| Reason {
            help: Some("this is an error of the engine: please report it".into()),
            ..reason(format!("an execution could not be replayed: {refusal}"))
        })
    }

    /// The error is why there is no answer.
    fn run(&mut self) -> Result<Progress, Reason> {
        let asked = Asked::new(self.question);
        let plan = Plan {
            bound: Bound { rounds: self.options.unroll.unwrap_or(USUAL_BOUND), ..Bound::default() },
            granule: self.granule,
            traces: true,
            asked: asked.variables(self.code.program.threads.len()),
            ..Plan::default()
        };
        let unfolding = unfold(self.code, &plan, &self.watch).map_err(Obstruction::reason)?;
        self.solve(unfolding, &asked)
    }

    fn solve(&mut self, unfolding: Unfolding, asked: &Asked) -> Result<Progress, Reason> {
        let Unfolding { mut values, events, threads, exceeded, obstacles, .. } = unfolding;
        let memory = Memory::of_litmus(self.code)
            .ok_or_else(|| reason("the globals of the program are too large"))?;
        let places = asked.places(self.code, self.granule);
        let mut terms = std::mem::take(&mut values.terms);
        let premises = Premises { coherent: self.model.implies_coherence(), ..Premises::default() };
        let possible = addresses(&events, &[], &terms, &memory, premises, &self.watch).within;
        let structure =
            Structure::new(events, &possible, &mut terms, &memory, &places, &self.watch);
        self.watch.check().map_err(stopped)?;
        let structure = match structure {
            Ok(structure) => structure,
            Err(Refusal::Overlap) if self.granule.is_none() => return Ok(Progress::Split),
            Err(Refusal::Overlap) => {
                return Err(reason("misaligned accesses overlap; this is not supported"));
            }
            Err(Refusal::Anywhere) => {
                return Err(reason("an access may go to too many addresses"));
            }
        };
        if let Some(reason) = beyond(self.options, &structure, &terms, self.code) {
            return Err(reason);
        }
        let (solving, framework) = (self.options.solving, self.options.framework);
        let asking = Asking { solving, framework, ..Asking::default() };
        let encoding =
            &mut Encoding::new(self.model, structure, values, terms, &asking, &self.watch)?;
        let mut last = LastWrites {
            circuit: &mut encoding.circuit,
            structure: &encoding.structure,
            communication: &encoding.communication,
            executed: &encoding.executed,
        };
        let finals = asked.values(self.code, self.granule, &threads, &mut last);
        let terms = &mut encoding.circuit.terms;
        let mut wanted = asked.holds(&self.question.prop, &finals, self.code, terms);
        if let Some(filter) = &self.question.filter {
            let counts = asked.holds(filter, &finals, self.code, terms);
            wanted = terms.and(wanted, counts);
        }
        let circuit = &mut encoding.circuit;
        let mut assumptions = vec![circuit.literal(wanted)];
        for run in &threads {
            let ends: Vec<Literal> =
                run.ends.iter().map(|(end, _)| circuit.literal(*end)).collect();
            assumptions.push(circuit.or(&ends));
        }
        let answer = encoding.ask(&assumptions, &self.watch);
        self.figures = encoding.figures(self.started);
        let finding = match answer {
            Answer::Satisfiable => {
                let witness = Witness { code: self.code, encoding };
                Finding::Reachable(Box::new(self.confirmed(witness.execution(asked, &finals))?))
            }
            Answer::Stopped(stop) => return Err(stopped(stop)),
            Answer::Unsatisfiable => {
                let ways: Vec<&Stop> = obstacles.iter().map(|(stop, _)| stop).collect();
                if let Some(reached) =
                    encoding.reached(&ways, Literal::TRUE, &self.watch).map_err(stopped)?
                {
                    let (stop, what) = &obstacles[reached];
                    return Err(unsupported(stop, what, self.code));
                }
                let ways: Vec<&Stop> = exceeded.iter().collect();
                let complete = encoding.reached(&ways, Literal::TRUE, &self.watch) == Ok(None);
                self.figures = encoding.figures(self.started);
                Finding::Unreachable { complete }
            }
        };
        self.asked = encoding.circuit.take_asked();
        Ok(Progress::Done(finding))
    }
}
