//! Judging executions by a model, one after the other, each from what changed.

use parallax_program::Diagnostic;

use crate::base::BaseRelation;
use crate::event_set::EventSet;
use crate::graph::{Node, NodeId};
use crate::interpret::unstable;
use crate::model::{InputId, InputKind, Model};
use crate::plan::{Plan, PlannedTest};
use crate::reference::{self, Evaluation, Inputs};
use crate::relation::Relation;
use crate::store::Store;
use crate::syntax::ast::Role;

/// Holds one execution and answers what the model says of it. Fill in the inputs, say what
/// changed, ask; nothing is computed before it is needed.
pub struct Checker<'m> {
    model: &'m Model,
    store: Store,
    /// The node of each input.
    inputs: Vec<NodeId>,
    rf: NodeId,
    co: NodeId,
    rf_is_complete: bool,
    /// Positions of the tests that failed last, to be tried first.
    last_failed: usize,
    last_pruned: usize,
    /// What the reference evaluator says of the present execution.
    evaluation: Option<Evaluation>,
    failure: Option<Diagnostic>,
    goes_on: &'m (dyn Fn() -> bool + Sync),
}

impl<'m> Checker<'m> {
    pub fn new(model: &'m Model) -> Self {
        let graph = model.graph();
        let mut inputs = vec![NodeId(0); graph.inputs.len()];
        for (index, node) in graph.nodes.iter().enumerate() {
            if let Node::SetInput(input) | Node::RelationInput(input) = node {
                inputs[*input as usize] = NodeId(index as u32);
            }
        }
        let named = |name| graph.input(name).map_or(NodeId(0), |input| inputs[input]);
        let (rf, co) = (named("rf"), named("co"));
        let mut store = Store::new(graph);
        store.begin(graph, 0);
        Checker {
            model,
            store,
            inputs,
            rf,
            co,
            rf_is_complete: false,
            last_failed: 0,
            last_pruned: 0,
            evaluation: None,
            failure: None,
            goes_on: &|| true,
        }
    }

    /// Answers mean nothing once this has said no: the rest was not computed.
    pub fn watch(&mut self, goes_on: &'m (dyn Fn() -> bool + Sync)) {
        self.goes_on = goes_on;
    }

    pub(crate) fn model(&self) -> &'m Model {
        self.model
    }

    /// Forgets everything: an execution of that many events with all inputs empty.
    pub fn begin(&mut self, events: usize) {
        self.store.begin(self.model.graph(), events);
        self.rf_is_complete = false;
        self.evaluation = None;
        self.failure = None;
    }

    /// A base set, to fill in.
    pub fn set_mut(&mut self, input: InputId) -> &mut EventSet {
        self.store.set_mut(self.inputs[input.0])
    }

    /// A base relation, to fill in.
    pub fn relation_mut(&mut self, input: InputId) -> &mut Relation {
        self.store.relation_mut(self.inputs[input.0])
    }

    pub fn rf_mut(&mut self) -> &mut Relation {
        self.store.relation_mut(self.rf)
    }

    pub fn co_mut(&mut self) -> &mut Relation {
        self.store.relation_mut(self.co)
    }

    /// To be called after inputs other than `rf` and `co` were changed.
    pub fn structure_changed(&mut self) {
        self.store.events_changed();
        self.evaluation = None;
    }

    /// To be filled in before [`Checker::flags`], where the model looks at it: the accesses
    /// whose values differ.
    pub fn unequal_values_mut(&mut self) -> Option<&mut Relation> {
        let input = self.model.graph().input(BaseRelation::UnequalValues.name())?;
        let node = self.inputs[input];
        self.store.input_changed(self.model.graph(), node);
        Some(self.store.relation_mut(node))
    }

    pub fn rf_changed(&mut self) {
        self.store.input_changed(self.model.graph(), self.rf);
        self.evaluation = None;
    }

    pub fn co_changed(&mut self) {
        self.store.input_changed(self.model.graph(), self.co);
        self.evaluation = None;
    }

    /// Says to [`Checker::may_be_allowed`] whether `rf` is final and only `co` still grows, so
    /// that it can look at more. False after [`Checker::begin`].
    pub fn set_rf_complete(&mut self, complete: bool) {
        self.rf_is_complete = complete;
    }

    /// Whether the execution, with `rf` and `co` that may still grow, can become allowed.
    /// False means that it cannot; true promises nothing.
    pub fn may_be_allowed(&mut self) -> bool {
        let Some(plan) = self.model.plan() else {
            return true;
        };
        let tests = if self.rf_is_complete { &plan.while_co_grows } else { &plan.while_both_grow };
        let failed = self.first_failing(plan, tests.iter(), self.last_pruned);
        if let Some(position) = failed {
            self.last_pruned = position;
        }
        failed.is_none()
    }

    /// Whether the model allows the execution; `rf` and `co` are complete.
    pub fn is_allowed(&mut self) -> bool {
        let Some(plan) = self.model.plan() else {
            return self.interpret().is_some_and(|evaluation| evaluation.allowed);
        };
        let tests = plan.order.iter().map(|index| &plan.tests[*index]);
        let failed = self.first_failing(plan, tests, self.last_failed);
        if let Some(position) = failed {
            self.last_failed = position;
        }
        failed.is_none()
    }

    /// The position of a test that fails, `favourite` being tried first.
    fn first_failing<'t>(
        &mut self,
        plan: &Plan,
        tests: impl Iterator<Item = &'t PlannedTest> + Clone,
        favourite: usize,
    ) -> Option<usize> {
        if let Some(test) = tests.clone().nth(favourite)
            && !self.passes(plan, test)
        {
            return Some(favourite);
        }
        let mut others = tests.enumerate();
        let failing =
            others.find(|(position, test)| *position != favourite && !self.passes(plan, test));
        failing.map(|(position, _)| position)
    }

    fn passes(&mut self, plan: &Plan, test: &PlannedTest) -> bool {
        self.store.update(self.model.graph(), &plan.recipes, &test.needs, self.goes_on);
        test.check.holds(&self.store) != test.negated
    }

    /// The flags that the execution, being allowed and complete, raises.
    pub fn flags(&mut self) -> Vec<String> {
        let Some(plan) = self.model.plan() else {
            return self.interpret().map(|e| e.flags.clone()).unwrap_or_default();
        };
        let mut flags = Vec::new();
        for test in &plan.tests {
            let raised = match test.role {
                Role::Axiom => false,
                Role::Flag => self.passes(plan, test),
                Role::UndefinedUnless | Role::Assert => !self.passes(plan, test),
            };
            if raised {
                let name = self.model.axioms()[test.axiom].flag();
                if !flags.contains(&name) {
                    flags.push(name);
                }
            }
        }
        flags
    }

    /// The first axiom of the model that the complete execution violates.
    pub fn violated(&mut self) -> Option<usize> {
        let Some(plan) = self.model.plan() else {
            return self.interpret()?.violated;
        };
        let mut axioms = plan.tests.iter().filter(|test| test.role == Role::Axiom);
        axioms.find(|test| !self.passes(plan, test)).map(|test| test.axiom)
    }

    /// Events that show why an axiom does not hold: a cycle, of which the last event leads
    /// back to the first, or the ends of a pair that should not be there.
    pub fn cycle(&mut self, axiom: usize) -> Option<Vec<usize>> {
        let plan = self.model.plan()?;
        let test = plan.tests.get(axiom)?;
        self.store.update(self.model.graph(), &plan.recipes, &test.needs, self.goes_on);
        test.check.counterexample(&self.store)
    }

    /// The relation that an axiom speaks of.
    pub fn subject(&mut self, axiom: usize) -> Option<Relation> {
        let (graph, plan) = (self.model.graph(), self.model.plan()?);
        let node = *plan.subjects.get(axiom).filter(|id| !graph.is_set(**id))?;
        self.store.update(graph, &plan.recipes, &plan.needs(graph, &[node]), self.goes_on);
        Some(self.store.relation(node).clone())
    }

    /// A base relation, or one that the model defines at its top level.
    pub fn relation(&mut self, name: &str) -> Option<Relation> {
        let graph = self.model.graph();
        if let Some(input) = graph.input(name)
            && graph.inputs[input].kind == InputKind::Relation
            && self.model.definition(name).is_none()
        {
            return Some(self.store.relation(self.inputs[input]).clone());
        }
        let Some(plan) = self.model.plan() else {
            return self.interpret()?.relations.get(name).cloned();
        };
        let node = self.model.definition(name).filter(|id| !graph.is_set(*id))?;
        let needs = plan.needs(graph, &[node]);
        self.store.update(graph, &plan.recipes, &needs, self.goes_on);
        Some(self.store.relation(node).clone())
    }

    /// Happens-before of the execution, see [`Model::happens_before`].
    pub fn happens_before(&mut self) -> Option<Relation> {
        self.model.happens_before()?;
        self.relation("hb")
    }

    /// A mistake in the model that showed on some execution since [`Checker::begin`]. The
    /// answers given for that execution mean nothing.
    pub fn failure(&self) -> Option<Diagnostic> {
        let unsettled = self.store.unsettled.map(|group| {
            let place = self.model.graph().groups[group as usize].place;
            unstable(place).diagnostic(self.model.files())
        });
        unsettled.or_else(|| self.failure.clone())
    }

    /// The execution as the reference evaluator takes it.
    pub fn inputs(&self) -> Inputs {
        let mut inputs = Inputs { events: self.store.events(), ..Inputs::default() };
        for (input, node) in self.model.inputs().iter().zip(&self.inputs) {
            let name = input.name.clone();
            match input.kind {
                InputKind::Set => {
                    inputs.sets.insert(name, self.store.set(*node).clone());
                }
                InputKind::Relation => {
                    inputs.relations.insert(name, self.store.relation(*node).clone());
                }
            }
        }
        inputs
    }

    fn interpret(&mut self) -> Option<&Evaluation> {
        if self.evaluation.is_none() {
            match reference::evaluate(self.model, &self.inputs()) {
                Ok(evaluation) => self.evaluation = Some(evaluation),
                Err(diagnostic) => self.failure = Some(diagnostic),
            }
        }
        self.evaluation.as_ref()
    }
}
