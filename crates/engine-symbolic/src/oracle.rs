//! Which inputs lead along a path: conditions on symbols, and whether more of them can hold.
//!
//! A path keeps one model of its conditions, so half of all questions have their answer at once: the
//! side of a branch that the model takes is possible. For the other side only those conditions are
//! looked at that share symbols with it, directly or through others; the rest hold by the model that
//! is known, whatever becomes of these. Models of earlier questions are tried before the solver is
//! asked, and answers are kept (C. Cadar, D. Dunbar, D. Engler, KLEE: unassisted and automatic
//! generation of high-coverage tests, OSDI 2008).

use std::sync::Arc;

use parallax_program::Bits;
use parallax_solver::{
    Answer, Blaster, Cadical, Control, Literal, Node, Solver, Stop, Term, Terms,
};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::value::{Value, Values};

/// Values of symbols. Those that are not here are zero.
pub type Model = FxHashMap<Term, Bits>;

/// The conditions under which a path is taken, and inputs that take it.
#[derive(Clone, Default)]
pub struct Path {
    conditions: Arc<Vec<Term>>,
    pub model: Arc<Model>,
    /// Threads that go round a loop for ever, with how many operations came before.
    pub stopped: Arc<Vec<(u32, u32)>>,
}

impl Path {
    /// What holds on it, oldest first.
    pub fn conditions(&self) -> &[Term] {
        &self.conditions
    }

    fn with(&self, condition: Term, model: Arc<Model>) -> Path {
        let mut conditions = self.conditions.clone();
        Arc::make_mut(&mut conditions).push(condition);
        Path { conditions, model, stopped: self.stopped.clone() }
    }
}

/// Both sides of a question, where they are possible.
pub struct Sides {
    pub yes: Option<Path>,
    pub no: Option<Path>,
}

/// Why there is no answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unanswered(pub Stop);

pub struct Oracle<'a> {
    control: Control<'a>,
    solver: Cadical,
    blaster: Blaster,
    /// The variables of each condition.
    supports: FxHashMap<Term, Arc<[Term]>>,
    known: FxHashMap<Box<[Term]>, Option<Arc<Model>>>,
    recent: Vec<Arc<Model>>,
    pub counts: OracleCounts,
}

#[derive(Clone, Copy, Default, Debug)]
pub struct OracleCounts {
    /// Questions that no model at hand answers.
    pub queries: u64,
    /// Those that the solver was asked.
    pub solved: u64,
}

impl<'a> Oracle<'a> {
    /// Models of other paths that are tried.
    const RECENT: usize = 8;
    /// Values of a symbol that are tried before the solver is asked.
    const GUESSES: usize = 32;
    /// Answers that are kept.
    const MOST_KNOWN: usize = 1 << 16;
    /// Clauses after which the solver starts anew: those of paths that were left are a burden.
    const MOST_CLAUSES: u64 = 3_000_000;

    pub fn new(control: Control<'a>) -> Oracle<'a> {
        Oracle {
            solver: Cadical::new(),
            blaster: Blaster::new().within(&control),
            control,
            supports: FxHashMap::default(),
            known: FxHashMap::default(),
            recent: Vec::new(),
            counts: OracleCounts::default(),
        }
    }

    /// The value of a term by the model of a path.
    pub fn sample(values: &Values, path: &Path, value: Value) -> Bits {
        match value {
            Value::Known(bits) => bits,
            Value::Open(term) => evaluate(&values.terms, &path.model, term),
        }
    }

    /// Whether a condition may hold, and whether it may not.
    pub fn split(
        &mut self,
        values: &mut Values,
        path: &Path,
        condition: Value,
    ) -> Result<Sides, Unanswered> {
        let condition = match condition {
            Value::Known(bits) if bits.is_zero() => {
                return Ok(Sides { yes: None, no: Some(path.clone()) });
            }
            Value::Known(_) => return Ok(Sides { yes: Some(path.clone()), no: None }),
            Value::Open(term) => term,
        };
        let opposite = values.terms.not(condition);
        let holds = !evaluate(&values.terms, &path.model, condition).is_zero();
        let (taken, other) = if holds { (condition, opposite) } else { (opposite, condition) };
        let other_model = self.find(&values.terms, path, other)?;
        // What always holds is no condition.
        let taken = match &other_model {
            Some(_) => path.with(taken, path.model.clone()),
            None => path.clone(),
        };
        let other = other_model.map(|model| path.with(other, model));
        let (yes, no) = if holds { (Some(taken), other) } else { (other, Some(taken)) };
        Ok(Sides { yes, no })
    }

    /// The path on which a condition holds, if there is one.
    pub fn assume(
        &mut self,
        values: &mut Values,
        path: &Path,
        condition: Value,
    ) -> Result<Option<Path>, Unanswered> {
        let condition = match condition {
            Value::Known(bits) => return Ok((!bits.is_zero()).then(|| path.clone())),
            Value::Open(term) => term,
        };
        let model = match evaluate(&values.terms, &path.model, condition).is_zero() {
            false => Some(path.model.clone()),
            true => self.find(&values.terms, path, condition)?,
        };
        Ok(model.map(|model| path.with(condition, model)))
    }

    /// A model of a path and of a condition that the path's own does not satisfy.
    fn find(
        &mut self,
        terms: &Terms,
        path: &Path,
        condition: Term,
    ) -> Result<Option<Arc<Model>>, Unanswered> {
        self.counts.queries += 1;
        let slice = self.slice(terms, path, condition);
        if slice.contains(&terms_not(terms, condition)) {
            return Ok(None);
        }
        let mut key: Vec<Term> = slice.iter().copied().chain([condition]).collect();
        key.sort_unstable();
        key.dedup();
        let key: Box<[Term]> = key.into();
        if let Some(known) = self.known.get(&key) {
            return Ok(known.as_ref().map(|model| overlay(&path.model, model)));
        }
        let satisfies = |model: &&Arc<Model>| {
            let mut evaluation = terms.evaluation(|variable| of(model, terms, variable));
            key.iter().all(|condition| !evaluation.value(*condition).is_zero())
        };
        let recent = self.recent.iter().rev().find(satisfies).cloned();
        let found = match recent {
            Some(model) => {
                let variables =
                    key.iter().flat_map(|condition| self.support(terms, *condition).to_vec());
                let variables: Vec<Term> = variables.collect();
                let part = variables.into_iter().map(|it| (it, of(&model, terms, it)));
                Some(Arc::new(part.collect::<Model>()))
            }
            None => match self.guess(terms, &key) {
                Some(model) => Some(model),
                None => self.solve(terms, &key)?,
            },
        };
        if self.known.len() >= Self::MOST_KNOWN {
            self.known.clear();
        }
        self.known.insert(key, found.clone());
        Ok(found.map(|model| overlay(&path.model, &model)))
    }

    /// A model of conditions on one symbol, by the numbers that they mention: most questions are
    /// comparisons with one of them.
    fn guess(&mut self, terms: &Terms, conditions: &[Term]) -> Option<Arc<Model>> {
        let mut symbol = None;
        for condition in conditions {
            match *self.support(terms, *condition) {
                [only] if symbol.is_none_or(|known| known == only) => symbol = Some(only),
                _ => return None,
            }
        }
        let (symbol, width) = (symbol?, terms.width(symbol?));
        let mentioned = conditions.iter().flat_map(|condition| constants(terms, *condition));
        let mentioned = mentioned.map(|bits| bits.unsigned());
        let near = mentioned.flat_map(|it| [it, it.wrapping_add(1), it.wrapping_sub(1)]);
        let near = [0, 1, u128::MAX].into_iter().chain(near).map(|it| Bits::new(width, it));
        let satisfies = |value: &Bits| {
            let mut evaluation = terms.evaluation(|_| *value);
            conditions.iter().all(|condition| !evaluation.value(*condition).is_zero())
        };
        let value = near.take(Self::GUESSES).find(satisfies)?;
        Some(Arc::new(Model::from_iter([(symbol, value)])))
    }

    /// The conditions of a path that have to do with a new one.
    fn slice(&mut self, terms: &Terms, path: &Path, condition: Term) -> Vec<Term> {
        let variables = self.support(terms, condition).iter().copied().collect();
        self.related(terms, &path.conditions, variables)
    }

    /// The conditions that share variables with some, directly or through others.
    pub fn related(
        &mut self,
        terms: &Terms,
        conditions: &[Term],
        mut variables: FxHashSet<Term>,
    ) -> Vec<Term> {
        let mut open: Vec<Term> = conditions.to_vec();
        let mut slice = Vec::new();
        loop {
            let before = slice.len();
            open.retain(|condition| {
                let support = self.support(terms, *condition);
                let meets = support.iter().any(|variable| variables.contains(variable));
                if meets {
                    slice.push(*condition);
                    variables.extend(support.iter().copied());
                }
                !meets
            });
            if slice.len() == before {
                return slice;
            }
        }
    }

    /// The variables in a term.
    pub fn support(&mut self, terms: &Terms, term: Term) -> Arc<[Term]> {
        if let Some(known) = self.supports.get(&term) {
            return known.clone();
        }
        let support = variables(terms, term);
        self.supports.insert(term, support.clone());
        support
    }

    fn solve(
        &mut self,
        terms: &Terms,
        conditions: &[Term],
    ) -> Result<Option<Arc<Model>>, Unanswered> {
        if self.solver.statistics().clauses > Self::MOST_CLAUSES {
            let blaster = Blaster::new().within(&self.control);
            (self.solver, self.blaster) = (Cadical::new(), blaster);
        }
        self.counts.solved += 1;
        let mut literals = Vec::with_capacity(conditions.len());
        for condition in conditions {
            let literal = self.blaster.literal_of(terms, *condition, &mut self.solver);
            if literal == Literal::FALSE {
                return Ok(None);
            }
            literals.push(literal);
        }
        match self.solver.solve(&literals, &self.control) {
            Answer::Unsatisfiable => Ok(None),
            Answer::Stopped(stop) => Err(Unanswered(stop)),
            Answer::Satisfiable => self.model(terms, conditions).map(Some),
        }
    }

    /// The solver's model, which is checked: some operators have no circuit.
    fn model(&mut self, terms: &Terms, conditions: &[Term]) -> Result<Arc<Model>, Unanswered> {
        let mut model = Model::default();
        for condition in conditions {
            for variable in self.support(terms, *condition).iter() {
                let value = self.blaster.value(terms, *variable, &self.solver);
                model.insert(*variable, value);
            }
        }
        let mut evaluation = terms.evaluation(|variable| of(&model, terms, variable));
        if conditions.iter().any(|condition| evaluation.value(*condition).is_zero()) {
            return Err(Unanswered(Stop::Incomplete));
        }
        drop(evaluation);
        let model = Arc::new(model);
        if self.recent.len() >= Self::RECENT {
            self.recent.remove(0);
        }
        self.recent.push(model.clone());
        Ok(model)
    }
}

/// The complement of a term, if somebody has made it; else the term itself, which is in no slice that
/// its own model does not satisfy.
fn terms_not(terms: &Terms, term: Term) -> Term {
    match terms.node(term) {
        Node::Unary(parallax_program::UnaryOp::Not, inner) => inner,
        _ => term,
    }
}

fn of(model: &Model, terms: &Terms, variable: Term) -> Bits {
    model.get(&variable).copied().unwrap_or(Bits::zero(terms.width(variable)))
}

fn evaluate(terms: &Terms, model: &Model, term: Term) -> Bits {
    terms.evaluate(term, |variable| of(model, terms, variable))
}

/// The first model, with what the second says of its symbols.
fn overlay(base: &Arc<Model>, part: &Model) -> Arc<Model> {
    let mut model = Model::clone(base);
    model.extend(part.iter().map(|(variable, value)| (*variable, *value)));
    Arc::new(model)
}

/// All numbers in a term.
fn constants(terms: &Terms, term: Term) -> Vec<Bits> {
    let mut found = Vec::new();
    visit(terms, term, |node, _| {
        if let Node::Constant(bits) = node {
            found.push(bits);
        }
    });
    found
}

/// All variables in a term.
pub fn variables(terms: &Terms, term: Term) -> Arc<[Term]> {
    let mut found = Vec::new();
    visit(terms, term, |node, term| {
        if let Node::Variable { .. } = node {
            found.push(term);
        }
    });
    found.sort_unstable();
    found.into()
}

/// Shows each term that a term is made of, once.
fn visit(terms: &Terms, term: Term, mut show: impl FnMut(Node, Term)) {
    let mut seen = FxHashSet::default();
    let mut open = vec![term];
    while let Some(next) = open.pop() {
        if seen.insert(next) {
            let node = terms.node(next);
            show(node, next);
            terms.operands(&node, |operand| open.push(operand));
        }
    }
}
