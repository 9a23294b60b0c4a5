//! The default back end: CaDiCaL (Biere, Faller, Fazekas, Fleury, Froleyks, Pollitt, «CaDiCaL
//! 2.0», CAV 2024), with orders as a propagator that takes part in its search.

mod propagator;

use std::cell::RefCell;
use std::num::NonZeroI32;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use pindakaas::solver::cadical::Cadical as Engine;
use pindakaas::solver::propagation::ExternalPropagation;
use pindakaas::solver::{
    Assumptions, FailedAssumptions, LearnCallback, SolveResult, TermSignal, TerminateCallback,
};
use pindakaas::{ClauseDatabase, Lit, Valuation};

use crate::certificate::{Certificate, Uncertified, certify};
use crate::watch::{Signal, watched};
use crate::{Answer, Control, Edge, Literal, Order, Problem, Solver, Statistics, Stop};
use propagator::OrderPropagator;

/// Problems with no more clauses are small.
const SMALL: u64 = 20_000;

/// How many conflicts there are before a question stops being a quick one.
const QUICK: i32 = 200;

/// The longest turn of a search that takes turns with others, in conflicts.
const LONG: i32 = 50_000;

/// What a conflict costs, in nominal nanoseconds.
const WORK: u64 = 50_000;

/// CaDiCaL with orders.
pub struct Cadical {
    engine: Engine,
    propagator: Rc<RefCell<OrderPropagator>>,
    /// Whether the propagator takes part; it does from the first order on.
    connected: bool,
    observed: Vec<bool>,
    variables: u32,
    clauses: u64,
    edges: u64,
    orders: u32,
    /// Edges were added since the last search.
    stale: bool,
    clause: Vec<Lit>,
    model: Vec<bool>,
    failed: Vec<Literal>,
    signal: Signal,
    learned: Arc<AtomicU64>,
    problem: Option<Problem>,
}

impl Default for Cadical {
    fn default() -> Cadical {
        Cadical::new()
    }
}

impl Cadical {
    pub fn new() -> Cadical {
        let mut engine = Engine::default();
        // Keeps the engine's variables the same as ours.
        engine.set_option("factor", 0);
        let signal = Signal::default();
        let asked = signal.clone();
        engine.set_terminate_callback(Some(move || match asked.is_set() {
            true => TermSignal::Terminate,
            false => TermSignal::Continue,
        }));
        let learned = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&learned);
        engine.set_learn_callback(Some(move |_: &mut dyn Iterator<Item = Lit>| {
            count.fetch_add(1, Ordering::Relaxed);
        }));
        let mut solver = Cadical {
            engine,
            propagator: Rc::default(),
            connected: false,
            observed: Vec::new(),
            variables: 0,
            clauses: 0,
            edges: 0,
            orders: 0,
            stale: false,
            clause: Vec::new(),
            model: Vec::new(),
            failed: Vec::new(),
            signal,
            learned,
            problem: None,
        };
        let truth = solver.literal();
        let _ = solver.engine.add_clause_from_slice(&[raw(truth)]);
        solver
    }

    /// A solver that keeps what it is asked, for export and for certificates.
    pub fn recording() -> Cadical {
        let mut solver = Cadical::new();
        solver.problem = Some(Problem::default());
        solver.propagator.borrow_mut().theory.keeps_lemmas = true;
        solver
    }

    /// Constants are settled here.
    fn add(&mut self, clause: &[Literal]) {
        if clause.contains(&Literal::TRUE) {
            return;
        }
        self.clause.clear();
        let open = clause.iter().filter(|&&literal| literal != Literal::FALSE);
        self.clause.extend(open.map(|&literal| raw(literal)));
        // That the empty clause is unsatisfiable is found by the next search.
        let _ = self.engine.add_clause_from_slice(&self.clause);
    }

    fn observe(&mut self, literal: Literal) {
        let variable = literal.variable() as usize;
        if self.observed.len() <= variable {
            self.observed.resize(variable + 1, false);
        }
        if !self.observed[variable] {
            self.observed[variable] = true;
            self.engine.add_observed_var(raw(literal).var());
        }
    }

    /// Most questions about small problems are answered before it is worth while to have somebody
    /// look at the clock.
    fn quick_answer(&mut self, assumptions: &[Literal], control: &Control) -> Option<Answer> {
        if self.clauses > SMALL || control.reason().is_some() {
            return None;
        }
        self.signal.clear();
        self.engine.set_limit("conflicts", QUICK);
        self.keep_model(assumptions)
    }

    /// Beside others, a search goes on for some conflicts at a time.
    fn take_turns(&mut self, assumptions: &[Literal], control: &Control) -> Option<Answer> {
        let mut turn = QUICK;
        loop {
            let before = self.learned.load(Ordering::Relaxed);
            self.engine.set_limit("conflicts", turn);
            let answer = self.keep_model(assumptions);
            let conflicts = self.learned.load(Ordering::Relaxed) - before;
            control.spend(conflicts.saturating_mul(WORK));
            if answer.is_some() || self.signal.is_set() {
                return answer;
            }
            turn = turn.saturating_mul(2).min(LONG);
        }
    }

    fn keep_model(&mut self, assumptions: &[Literal]) -> Option<Answer> {
        let variables = self.variables;
        let mut model = std::mem::take(&mut self.model);
        let mut failed = std::mem::take(&mut self.failed);
        model.clear();
        failed.clear();
        let assumed = assumptions.iter().map(|&literal| raw(literal));
        let answer = match self.engine.solve_assuming(assumed) {
            SolveResult::Satisfied(values) => {
                let literals = (0..variables).map(Literal::positive);
                model.extend(literals.map(|literal| values.value(raw(literal))));
                Some(Answer::Satisfiable)
            }
            SolveResult::Unsatisfiable(failure) => {
                let culprits = assumptions.iter().filter(|&&literal| failure.fail(raw(literal)));
                failed.extend(culprits);
                Some(Answer::Unsatisfiable)
            }
            SolveResult::Unknown => None,
        };
        self.model = model;
        self.failed = failed;
        answer
    }
}

impl Solver for Cadical {
    fn literal(&mut self) -> Literal {
        self.engine.new_var_range(1);
        if let Some(problem) = &mut self.problem {
            problem.literal();
        }
        self.variables += 1;
        Literal::positive(self.variables - 1)
    }

    fn clause(&mut self, literals: &[Literal]) {
        self.clauses += 1;
        if let Some(problem) = &mut self.problem {
            problem.clauses.push(literals);
        }
        self.add(literals);
    }

    fn order(&mut self, nodes: usize) -> Order {
        if !self.connected {
            self.connected = true;
            self.engine.connect_propagator(Rc::clone(&self.propagator));
        }
        self.propagator.borrow_mut().theory.add_order(nodes);
        if let Some(problem) = &mut self.problem {
            problem.order(nodes);
        }
        self.orders += 1;
        Order(self.orders - 1)
    }

    fn edge(&mut self, order: Order, from: u32, to: u32, when: Literal) {
        let edge = Edge { from, to, when };
        self.edges += 1;
        self.stale = true;
        if let Some(problem) = &mut self.problem {
            problem.edge(order.index(), edge);
        }
        self.propagator.borrow_mut().theory.add_edge(order.0, edge);
        if !when.is_constant() {
            self.observe(when);
        }
    }

    fn solve(&mut self, assumptions: &[Literal], control: &Control) -> Answer {
        if std::mem::take(&mut self.stale) {
            let consistent = self.propagator.borrow_mut().theory.refresh();
            if !consistent {
                self.add(&[]);
            }
        }
        let signal = self.signal.clone();
        let answer = self.quick_answer(assumptions, control).or_else(|| {
            watched(
                control,
                &signal,
                || {},
                || match control.gate {
                    Some(_) => self.take_turns(assumptions, control),
                    None => self.keep_model(assumptions),
                },
            )
        });
        if self.propagator.borrow().theory.broken {
            return Answer::Stopped(Stop::Incomplete);
        }
        answer.unwrap_or_else(|| signal.answer())
    }

    fn value(&self, literal: Literal) -> bool {
        let value = match literal.variable() {
            0 => true,
            variable => self.model.get(variable as usize).copied().unwrap_or(false),
        };
        value != literal.is_negated()
    }

    fn failed(&self, assumption: Literal) -> bool {
        self.failed.contains(&assumption)
    }

    fn statistics(&self) -> Statistics {
        let propagator = self.propagator.borrow();
        Statistics {
            variables: u64::from(self.variables) - 1,
            clauses: self.clauses,
            edges: self.edges,
            lemmas: propagator.theory.lemma_count,
            propagations: propagator.theory.propagation_count,
            conflicts: self.learned.load(Ordering::Relaxed),
        }
    }

    fn problem(&self) -> Option<&Problem> {
        self.problem.as_ref()
    }

    fn certify(
        &self,
        assumptions: &[Literal],
        control: &Control,
    ) -> Result<Certificate, Uncertified> {
        let problem = self.problem.as_ref().ok_or(Uncertified::NotRecorded)?;
        let lemmas = self.propagator.borrow().theory.lemmas().to_vec();
        certify(problem, lemmas, assumptions, control)
    }
}

/// The engine counts variables from 1, as DIMACS does.
pub(crate) fn raw(literal: Literal) -> Lit {
    Lit::from_raw(NonZeroI32::new(literal.dimacs()).unwrap_or(NonZeroI32::MIN))
}

pub(crate) fn cooked(lit: Lit) -> Literal {
    Literal::from_dimacs(i32::from(lit)).unwrap_or(Literal::TRUE)
}
