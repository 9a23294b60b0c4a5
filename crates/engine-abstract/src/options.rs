//! What a user of the engine decides.

use parallax_control::Control;
use parallax_memory::Model;
use parallax_program::{Property, Setting};
use parallax_query::Extension;

pub struct Options<'a> {
    /// What to look for.
    pub properties: Vec<Property>,
    /// What inputs may be; None for any value.
    pub nondet: Option<(i128, i128)>,
    pub control: Control<'a>,
    pub tuning: Tuning,
}

/// How the abstraction is built. It changes whether there is an answer, never which.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tuning {
    pub order: Order,
    pub domain: Domain,
    pub analysis: Analysis,
    pub judge: Judge,
    /// Values of one place that are distinguished after one step.
    pub most_values: u32,
    pub reduction: Reduction,
    pub pruning: Pruning,
    pub refinement: Refinements,
    pub parts: Parts,
    pub scope: Scope,
    /// Whether the proof is written down where there is one.
    pub proves: bool,
    /// Whether each round is reported.
    pub reports_rounds: bool,
}

/// How the model of memory comes in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Analysis {
    /// Threads take turns on a machine, where the model has one; else [`Analysis::Eager`].
    Usual,
    /// Executions are graphs, and are judged by the model's file as soon as they grow.
    Eager,
    /// The same, judged where something fails.
    Lazy,
}

/// How it is found out whether the model allows a graph.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Judge {
    /// What must be so of the order of writes on bit matrices, and a search for the rest.
    Saturation,
    /// By a SAT solver that knows orders.
    Sat,
    /// By an SMT solver that knows functions.
    Functions,
    /// By the rules of the model, from facts upwards, and a search for the order of writes.
    Datalog,
}

impl Tuning {
    /// Whether threads take turns on a machine.
    pub fn interleaves(&self, model: &Model) -> bool {
        self.analysis == Analysis::Usual && model.facts().machine.is_some()
    }
}

/// What a step is, and which orders of steps are looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reduction {
    /// Each instruction is a step, in every order.
    Naive,
    /// What is a thread's own business goes with the step before it.
    Merged,
    /// Orders of steps that make no difference are left out.
    Sets,
    /// And those that make one only to what is not tracked.
    Aware,
}

impl Reduction {
    pub fn leaves_out(self) -> bool {
        matches!(self, Reduction::Sets | Reduction::Aware)
    }
}

/// How much of the graph is built again after a failure that is none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pruning {
    /// From the first state on that has to be another.
    Lazy,
    /// All of it.
    Full,
}

/// Which open state is next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// Depth first, which a reduction needs, and breadth first where executions are graphs: they may grow
    /// without end before enough is known.
    Usual,
    BreadthFirst,
    DepthFirst,
    /// The one whose threads are nearest to something that may fail.
    ErrorFirst,
}

/// What is known of data in an abstract state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Domain {
    /// Values of places.
    Explicit,
    /// Which predicates hold, each for itself.
    Predicates,
    /// Values, and predicates each for itself.
    Product,
    /// Which predicates hold together: states that differ in one of them are apart.
    Boolean,
    /// That, and values.
    BooleanProduct,
}

impl Domain {
    pub fn has_values(self) -> bool {
        !matches!(self, Domain::Predicates | Domain::Boolean)
    }

    pub fn has_predicates(self) -> bool {
        self != Domain::Explicit
    }

    /// The domain that keeps states apart which differ in a predicate, if this one does not.
    pub fn apart(self) -> Domain {
        match self {
            Domain::Predicates => Domain::Boolean,
            Domain::Product => Domain::BooleanProduct,
            Domain::Explicit | Domain::Boolean | Domain::BooleanProduct => self,
        }
    }

    /// Whether states are apart that differ in a predicate.
    pub fn splits(self) -> bool {
        matches!(self, Domain::Boolean | Domain::BooleanProduct)
    }
}

/// How is found out what to track.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refinements {
    /// From the shortest end of a path that cannot be taken from anywhere.
    Backward,
    /// From the whole path, at each of its steps.
    Sequence,
    /// From all failures that the graph reaches, before it is built again.
    All,
}

/// What of a condition that has to be known becomes predicates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Parts {
    /// Its comparisons, and all of it.
    Both,
    /// All of it, where it is not too large.
    Whole,
    /// What has to hold together.
    Conjuncts,
    /// Its comparisons.
    Atoms,
}

/// Where a predicate is tracked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    Global,
    /// Where threads stand as they did where it was found to matter.
    Local,
}

impl Default for Tuning {
    fn default() -> Tuning {
        Tuning {
            order: Order::Usual,
            domain: Domain::Product,
            analysis: Analysis::Usual,
            judge: Judge::Saturation,
            most_values: 1,
            reduction: Reduction::Aware,
            pruning: Pruning::Lazy,
            refinement: Refinements::Backward,
            parts: Parts::Both,
            scope: Scope::Global,
            proves: false,
            reports_rounds: false,
        }
    }
}

impl Extension for Tuning {
    fn settings(&self) -> Vec<Setting> {
        let usual = Tuning::default();
        let all = [
            (self.order != usual.order, Setting::Waitlist),
            (self.domain != usual.domain, Setting::Domain),
            (self.analysis != usual.analysis, Setting::Graphs),
            (self.judge != usual.judge, Setting::Judge),
            (self.most_values != usual.most_values, Setting::Maxenum),
            (self.reduction != usual.reduction, Setting::Orders),
            (self.pruning != usual.pruning, Setting::Prune),
            (self.refinement != usual.refinement, Setting::Refinement),
            (self.parts != usual.parts, Setting::Parts),
            (self.scope != usual.scope, Setting::Precision),
            (self.proves, Setting::Proof),
        ];
        all.into_iter().filter(|(is_made, _)| *is_made).map(|(_, setting)| setting).collect()
    }
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options {
            properties: vec![Property::Assert],
            nondet: None,
            control: Control::default(),
            tuning: Tuning::default(),
        }
    }
}
