//! Events, choices and the model's axioms, given to the solver.

use std::time::{Duration, Instant};

use parallax_memory::{Model, NodeId};
use parallax_program::{Help, Setting};
use parallax_solver::{Answer, Literal, Stop, Terms};
use parallax_verdict::Reason;

use crate::base::Base;
use crate::circuit::Circuit;
use crate::communication::Communication;
use crate::gharachorloo::{Conditions, constrain};
use crate::options::{Figures, Framework, Solving};
use crate::refusal::{as_reason, reason, stopped};
use crate::relations::axioms::Violation;
use crate::relations::bounds::Bounds;
use crate::relations::literals::{Relations, Side};
use crate::sections::{Stays, intruder, keeps_whole, nodes};
use crate::structure::Structure;
use crate::unfold::Stop as Way;
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
    /// Which threads stay in atomic sections.
    pub stays: Stays,
    /// An access that may fall into an atomic section.
    pub intruder: Option<usize>,
    solving: Duration,
}

/// Flags to look at.
#[derive(Clone, Copy, Debug, Default)]
pub struct Flags {
    pub races: bool,
    pub others: bool,
}

impl Flags {
    fn has(self, flag: &str) -> bool {
        if flag.contains("race") { self.races } else { self.others }
    }
}

/// What else the model is asked, besides whether an execution is allowed.
#[derive(Clone, Debug, Default)]
pub struct Asking {
    pub flags: Flags,
    /// Pairs of events of which to say whether one happens before the other.
    pub before: Vec<(usize, usize)>,
    pub solving: Solving,
    pub framework: Framework,
}

impl Encoding {
    /// Models with more relations than this are refused.
    const MOST_RELATIONS: usize = 5_000;
    /// Of so many pairs, in all relations together, it is asked whether they may be and must be.
    const MOST_PAIRS: usize = 1 << 34;

    /// `values` have given their terms away.
    pub fn new(
        model: &Model,
        structure: Structure,
        values: Values,
        terms: Terms,
        asking: &Asking,
        watch: &Watch<'_>,
    ) -> Result<Encoding, Reason> {
        let formula = model.formula().map_err(as_reason)?;
        let name = model.name();
        let (relations, events) = (formula.nodes().len(), structure.events.len());
        if relations > Self::MOST_RELATIONS {
            return Err(reason(format!("the model '{name}' defines too many relations")));
        }
        if relations.saturating_mul(events * events) > Self::MOST_PAIRS {
            let message = format!("{events} events are too many for the relations of '{name}'");
            let help = Some(Help::Lower(Setting::Unroll));
            return Err(Reason { help, ..reason(message) });
        }
        let mut circuit = Circuit::new(terms, asking.solving, watch.control());
        let executed: Vec<Literal> =
            structure.events.iter().map(|event| circuit.literal(event.executed)).collect();
        let stays = Stays::new(&structure, &executed, &mut circuit);
        watch.check().map_err(stopped)?;
        if asking.framework == Framework::Gharachorloo {
            let conditions = Conditions::of(model).map_err(as_reason)?;
            let communication = constrain(conditions, &structure, &executed, &mut circuit, watch);
            // Flags are of the model's file, and so is what happens before what.
            let (flags, before) = (Vec::new(), vec![Literal::TRUE; asking.before.len()]);
            let (intruder, solving) = (None, Duration::ZERO);
            return Ok(Encoding {
                circuit,
                structure,
                communication,
                executed,
                values,
                flags,
                before,
                stays,
                intruder,
                solving,
            });
        }
        let communication = Communication::new(&structure, &executed, model, &mut circuit, watch);
        watch.check().map_err(stopped)?;
        let base = Base::new(formula, &structure, &communication, &values, &mut circuit, watch);
        watch.check().map_err(stopped)?;
        let bounds = Bounds::new(formula, &structure.facts, &base.bounds, watch);
        watch.check().map_err(stopped)?;
        let bounds = bounds.map_err(|_| {
            reason(format!("a recursive definition of '{name}' is beyond the engine"))
        })?;
        let mut relations = Relations::new(
            &mut circuit,
            formula,
            &bounds,
            &structure.facts,
            &base.literals,
            &executed,
            watch,
        );
        let mut flags = Vec::new();
        let nodes = nodes(&structure);
        for (axiom, subject) in formula.tests() {
            let result = match axiom.is_flag() {
                false => {
                    let nodes = nodes.as_deref().filter(|_| keeps_whole(model, &axiom.name));
                    relations.require(axiom, subject, nodes)
                }
                true if asking.flags.has(&axiom.flag()) => {
                    relations.flag(axiom, subject).map(|raised| flags.push((axiom.flag(), raised)))
                }
                true => Ok(()),
            };
            result.map_err(|unsupported| {
                let axiom = unsupported.axiom;
                reason(format!("the axiom '{axiom}' of '{name}' is beyond the engine"))
            })?;
            watch.check().map_err(stopped)?;
        }
        let order: Option<NodeId> =
            model.happens_before().filter(|order| bounds.relation(*order).is_some());
        let before = asking.before.iter().map(|(a, b)| match order {
            Some(order) => relations.pair(order, *a, *b, Side::Over),
            None => Literal::TRUE,
        });
        let before = before.collect();
        watch.check().map_err(stopped)?;
        let intruder = nodes.and_then(|_| intruder(&structure, &bounds, order, model));
        let solving = Duration::ZERO;
        Ok(Encoding {
            circuit,
            structure,
            communication,
            executed,
            values,
            flags,
            before,
            stays,
            intruder,
            solving,
        })
    }

    pub fn ask(&mut self, assumptions: &[Literal], watch: &Watch<'_>) -> Answer {
        let started = Instant::now();
        let open = |literal: &Literal| *literal != Literal::TRUE;
        let assumptions: Vec<Literal> = assumptions.iter().copied().filter(open).collect();
        let answer = self.circuit.solve(&assumptions, watch.control());
        self.solving += started.elapsed();
        answer
    }

    /// Whether a way is taken.
    pub fn way(&mut self, way: &Way) -> Literal {
        self.stays.way(way, &mut self.circuit)
    }

    /// One of some ways that an execution takes, given that the literal holds, if one does.
    pub fn reached(
        &mut self,
        ways: &[&Way],
        given: Literal,
        watch: &Watch<'_>,
    ) -> Result<Option<usize>, Stop> {
        let guards: Vec<Literal> = ways.iter().map(|way| self.way(way)).collect();
        let some = self.circuit.or(&guards);
        if some == Literal::FALSE {
            return Ok(None);
        }
        match self.ask(&[given, some], watch) {
            Answer::Unsatisfiable => Ok(None),
            Answer::Stopped(stop) => Err(stop),
            Answer::Satisfiable => Ok(guards.iter().position(|guard| self.circuit.holds(*guard))),
        }
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
