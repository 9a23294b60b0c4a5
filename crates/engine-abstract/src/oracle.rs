//! Questions to the solver: whether conditions can hold together, by which values, and which of them
//! are enough to say that they cannot.

use std::sync::Arc;

use parallax_control::Control;
use parallax_program::Bits;
use parallax_solver::{Answer, Blaster, Cadical, Literal, Solver, Stop, Term, Terms};
use rustc_hash::FxHashMap;

/// Values of variables. Those that are not there are zero.
pub type Model = FxHashMap<Term, Bits>;

/// The solver gives no answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unanswered(pub Stop);

pub struct Oracle<'a> {
    control: Control<'a>,
    solver: Cadical,
    blaster: Blaster,
    /// How many clauses the solver's first question has.
    first: u64,
    known: FxHashMap<Box<[Term]>, Option<Arc<Model>>>,
    pub questions: u64,
    pub solved: u64,
}

impl<'a> Oracle<'a> {
    const MOST_KNOWN: usize = 1 << 18;
    /// Clauses of the solver, at least, before it is left for a new one, and how many times as many as its first question
    /// has. Each question goes through all that were asked before, most of which have nothing to do with it.
    const MANY_CLAUSES: u64 = 40_000;
    const GROWTH: u64 = 8;
    /// What a question to the solver costs, in nominal nanoseconds.
    const WORK: u64 = 300_000;

    pub fn new(control: Control<'a>) -> Oracle<'a> {
        Oracle {
            solver: Cadical::new(),
            blaster: Blaster::new().within(&control),
            control,
            first: 0,
            known: FxHashMap::default(),
            questions: 0,
            solved: 0,
        }
    }

    /// Values by which all of the conditions hold, if there are some.
    pub fn model(
        &mut self,
        terms: &Terms,
        conditions: &[Term],
    ) -> Result<Option<Arc<Model>>, Unanswered> {
        self.questions += 1;
        let mut key: Vec<Term> = Vec::with_capacity(conditions.len());
        for condition in conditions {
            match terms.as_constant(*condition) {
                Some(bits) if bits.is_zero() => return Ok(None),
                Some(_) => {}
                None => key.push(*condition),
            }
        }
        key.sort_unstable();
        key.dedup();
        if let Some(known) = self.known.get(key.as_slice()) {
            return Ok(known.clone());
        }
        let found = self.solve(terms, &key)?;
        if self.known.len() >= Self::MOST_KNOWN {
            self.known.clear();
        }
        self.known.insert(key.into(), found.clone());
        Ok(found)
    }

    pub fn is_possible(&mut self, terms: &Terms, conditions: &[Term]) -> Result<bool, Unanswered> {
        Ok(self.model(terms, conditions)?.is_some())
    }

    fn literals(&mut self, terms: &Terms, conditions: &[Term]) -> Vec<Literal> {
        if self.solver.statistics().clauses > Self::MANY_CLAUSES.max(Self::GROWTH * self.first) {
            let blaster = Blaster::new().within(&self.control);
            (self.solver, self.blaster, self.first) = (Cadical::new(), blaster, 0);
        }
        let literal = |it: &Term| self.blaster.literal_of(terms, *it, &mut self.solver);
        let literals = conditions.iter().map(literal).collect();
        if self.first == 0 {
            self.first = self.solver.statistics().clauses;
        }
        literals
    }

    fn ask(&mut self, literals: &[Literal]) -> Result<bool, Unanswered> {
        self.solved += 1;
        self.control.spend(Self::WORK);
        if let Some(stop) = self.control.reason() {
            return Err(Unanswered(Stop::Outside(stop)));
        }
        match self.solver.solve(literals, &self.control) {
            Answer::Unsatisfiable => Ok(false),
            Answer::Satisfiable => Ok(true),
            Answer::Stopped(stop) => Err(Unanswered(stop)),
        }
    }

    fn solve(
        &mut self,
        terms: &Terms,
        conditions: &[Term],
    ) -> Result<Option<Arc<Model>>, Unanswered> {
        let literals = self.literals(terms, conditions);
        if !self.ask(&literals)? {
            return Ok(None);
        }
        let mut model = Model::default();
        for condition in conditions {
            for variable in terms.support(*condition) {
                let value = self.blaster.value(terms, variable, &self.solver);
                model.insert(variable, value);
            }
        }
        // Some operators have no circuit, so that the model is checked.
        let mut evaluation = terms.evaluation(|variable| value_in(&model, terms, variable));
        if conditions.iter().any(|condition| evaluation.value(*condition).is_zero()) {
            return Err(Unanswered(Stop::Incomplete));
        }
        Ok(Some(Arc::new(model)))
    }

    /// Of conditions that cannot hold together, some that cannot; the others are left out one after
    /// the other, the first ones first. None where they can hold together.
    pub fn core(
        &mut self,
        terms: &Terms,
        conditions: &[Term],
    ) -> Result<Option<Vec<usize>>, Unanswered> {
        /// Conditions that are left out one by one.
        const MOST_TRIED: usize = 64;
        if let Some(index) =
            conditions.iter().position(|it| terms.as_constant(*it).is_some_and(|it| it.is_zero()))
        {
            return Ok(Some(vec![index]));
        }
        let literals = self.literals(terms, conditions);
        if self.ask(&literals)? {
            return Ok(None);
        }
        let failed = |solver: &Cadical, index: &usize| solver.failed(literals[*index]);
        let mut core: Vec<usize> =
            (0..conditions.len()).filter(|index| failed(&self.solver, index)).collect();
        let mut at = 0;
        for _ in 0..MOST_TRIED.min(core.len()) {
            if at >= core.len() {
                break;
            }
            let rest = core.iter().enumerate().filter(|(place, _)| *place != at);
            let rest: Vec<usize> = rest.map(|(_, index)| *index).collect();
            let tried: Vec<Literal> = rest.iter().map(|index| literals[*index]).collect();
            match self.ask(&tried)? {
                true => at += 1,
                false => {
                    let kept = |index: &usize| {
                        self.solver.failed(literals[*index]) || core[..at].contains(index)
                    };
                    core = rest.iter().copied().filter(kept).collect();
                }
            }
        }
        Ok(Some(core))
    }
}

pub fn value_in(model: &Model, terms: &Terms, variable: Term) -> Bits {
    model.get(&variable).copied().unwrap_or(Bits::zero(terms.width(variable)))
}

pub fn evaluate(model: &Model, terms: &Terms, term: Term) -> Bits {
    terms.evaluate(term, |variable| value_in(model, terms, variable))
}
