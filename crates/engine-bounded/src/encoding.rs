//! Events, choices and the model's axioms, given to the solver.

use std::time::{Duration, Instant};

use parallax_memory::{Model, NodeId};
use parallax_program::Diagnostic;
use parallax_solver::{Answer, Control, Literal, Stop, Terms};

use crate::base::Base;
use crate::circuit::Circuit;
use crate::communication::Communication;
use crate::gharachorloo::{Conditions, constrain};
use crate::options::{Figures, Framework, Solving};
use crate::relations::axioms::Violation;
use crate::relations::bounds::Bounds;
use crate::relations::literals::{Relations, Side};
use crate::structure::Structure;
use crate::value::Values;
use crate::watch::Watch;

pub struct Encoding {
    pub circuit: Circuit,
    pub structure: Structure,
    pub communication: Communication,
    /// Whether each event happens.
    pub executed: Vec<Literal>,
    pub values: Values,
    /// Whether each flag of the model is raised, if that was asked for.
    pub flags: Vec<(String, Vec<Violation>)>,
    /// For the pairs that were asked for, a literal that holds wherever the first event happens
    /// before the second.
    pub before: Vec<Literal>,
    solving: Duration,
}

/// What else the model is asked, besides whether an execution is allowed.
#[derive(Clone, Debug, Default)]
pub struct Asking {
    pub flags: bool,
    /// Pairs of events of which to tell whether one happens before the other.
    pub before: Vec<(usize, usize)>,
    pub solving: Solving,
    pub framework: Framework,
}

impl Encoding {
    /// Models with more relations than this are refused.
    const MOST_RELATIONS: usize = 5_000;

    /// `values` have given their terms away.
    pub fn new(
        model: &Model,
        structure: Structure,
        values: Values,
        terms: Terms,
        asking: &Asking,
    ) -> Result<Encoding, Diagnostic> {
        let formula = model.formula()?;
        let name = model.name();
        if formula.nodes().len() > Self::MOST_RELATIONS {
            return Err(Diagnostic::new(format!("the model '{name}' defines too many relations")));
        }
        let mut circuit = Circuit::new(terms, asking.solving);
        let executed: Vec<Literal> =
            structure.events.iter().map(|event| circuit.literal(event.executed)).collect();
        if asking.framework == Framework::Gharachorloo {
            let conditions = Conditions::of(model)?;
            let communication = constrain(conditions, &structure, &executed, &mut circuit);
            // None of the models has flags, or says what happens before what.
            let (flags, before) = (Vec::new(), vec![Literal::TRUE; asking.before.len()]);
            let solving = Duration::ZERO;
            return Ok(Encoding {
                circuit,
                structure,
                communication,
                executed,
                values,
                flags,
                before,
                solving,
            });
        }
        let coherent = model.implies_coherence();
        let communication = Communication::new(&structure, &executed, coherent, &mut circuit);
        let base = Base::new(formula, &structure, &communication, &values, &mut circuit);
        let bounds = Bounds::new(formula, &structure.facts, &base.bounds).map_err(|_| {
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
        let mut flags = Vec::new();
        for (axiom, subject) in formula.tests() {
            let result = match axiom.is_flag() {
                false => relations.require(axiom, subject),
                true if asking.flags => {
                    relations.flag(axiom, subject).map(|raised| flags.push((axiom.flag(), raised)))
                }
                true => Ok(()),
            };
            result.map_err(|unsupported| {
                let axiom = unsupported.axiom;
                Diagnostic::new(format!("the axiom '{axiom}' of '{name}' is beyond the engine"))
            })?;
        }
        let order: Option<NodeId> =
            model.happens_before().filter(|order| bounds.relation(*order).is_some());
        let before = asking.before.iter().map(|(a, b)| match order {
            Some(order) => relations.pair(order, *a, *b, Side::Over),
            None => Literal::TRUE,
        });
        let before = before.collect();
        let solving = Duration::ZERO;
        Ok(Encoding { circuit, structure, communication, executed, values, flags, before, solving })
    }

    pub fn ask(
        &mut self,
        assumptions: &[Literal],
        watch: &Watch<'_>,
        memory_limit: Option<u64>,
    ) -> Answer {
        let control = Control { deadline: watch.end(), interrupt: watch.stop(), memory_limit };
        let started = Instant::now();
        let answer = self.circuit.solve(assumptions, &control);
        self.solving += started.elapsed();
        answer
    }

    /// How large the problem is; the caller knows when it began.
    pub fn figures(&self, since: Instant) -> Figures {
        let statistics = self.circuit.statistics();
        Figures {
            events: self.structure.events.len() as u64,
            variables: statistics.variables,
            clauses: statistics.clauses,
            edges: statistics.edges,
            certified: self.circuit.certified(),
            encoding: since.elapsed().saturating_sub(self.solving),
            solving: self.solving,
        }
    }
}

pub fn why(stop: Stop) -> &'static str {
    match stop {
        Stop::Deadline => "the time limit is reached",
        Stop::Interrupt => "interrupted",
        Stop::MemoryLimit => "the memory limit is reached",
        Stop::Incomplete => "the solver gave up",
    }
}
