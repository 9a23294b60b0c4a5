//! A model as a formula: all sets and relations that its tests look at, each made from earlier
//! ones. For engines that do not judge executions one by one, but reason about all of them.

use parallax_program::Diagnostic;

use crate::graph::{Group, Node, NodeId};
use crate::model::{Axiom, Input, Model};

/// The graph of a model's relations.
#[derive(Clone, Copy)]
pub struct Formula<'m> {
    model: &'m Model,
    subjects: &'m [NodeId],
}

impl Model {
    /// The model as a formula. The error is for models that only the reference evaluator can
    /// judge.
    pub fn formula(&self) -> Result<Formula<'_>, Diagnostic> {
        let dynamic = || {
            let message = format!("the model '{}' chooses among values of its own", self.name());
            Diagnostic::new(message + ": it has no formula")
        };
        let plan = self.plan().ok_or_else(dynamic)?;
        Ok(Formula { model: self, subjects: &plan.subjects })
    }
}

impl<'m> Formula<'m> {
    /// Operands come before what is made of them, but for unknowns of recursive groups.
    pub fn nodes(&self) -> &'m [Node] {
        &self.model.graph().nodes
    }

    pub fn node(&self, id: NodeId) -> &'m Node {
        self.model.graph().node(id)
    }

    /// What a node is computed from; for solutions the definitions of their group.
    pub fn operands(&self, id: NodeId) -> Vec<NodeId> {
        self.model.graph().operands(id)
    }

    pub fn is_set(&self, id: NodeId) -> bool {
        self.model.graph().is_set(id)
    }

    /// Recursive definitions, by the numbers that unknowns and solutions have.
    pub fn groups(&self) -> &'m [Group] {
        &self.model.graph().groups
    }

    pub fn inputs(&self) -> &'m [Input] {
        self.model.inputs()
    }

    /// The tests of the model, each with what it is about.
    pub fn tests(&self) -> impl Iterator<Item = (&'m Axiom, NodeId)> {
        self.model.axioms().iter().zip(self.subjects.iter().copied())
    }
}
