//! The order that a model calls `hb`, where it is one that objects and races are judged by.
//!
//! Models of languages define `hb` as happens-before, which has all of the program order. Models
//! of machines (Power in the style of Alglave, Maranget, Tautschnig: Herding cats, TOPLAS 2014;
//! the Linux kernel's) call something smaller by that name, in which an access does not even come
//! before those that follow it. That `hb` says nothing about when an object may be freed.

use crate::graph::{Node, NodeId};
use crate::model::Model;

impl Model {
    /// Happens-before as the model defines it: its `hb`, if that has the program order in it.
    pub fn happens_before(&self) -> Option<NodeId> {
        self.definition("hb").filter(|hb| self.has_program_order(*hb))
    }

    /// Whether the program order is a part of a relation, as far as its definition shows.
    fn has_program_order(&self, relation: NodeId) -> bool {
        let graph = self.graph();
        let mut parts = vec![relation];
        let mut seen = Vec::new();
        while let Some(part) = parts.pop() {
            if seen.contains(&part) {
                continue;
            }
            seen.push(part);
            match graph.node(part) {
                Node::RelationInput(input)
                    if graph
                        .inputs
                        .get(*input as usize)
                        .is_some_and(|input| input.name == "po") =>
                {
                    return true;
                }
                Node::Union(operands) => parts.extend(operands),
                Node::Plus(operand) => parts.push(*operand),
                Node::Solution(group, number) => {
                    let definitions = graph.groups.get(*group as usize).map(|g| &g.definitions);
                    parts.extend(definitions.and_then(|all| all.get(*number as usize)));
                }
                _ => {}
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn defines_it(name: &str) -> bool {
        let model = Model::builtin(name).expect("a model").expect("a right model");
        model.happens_before().is_some()
    }

    #[test]
    fn languages_define_happens_before_and_machines_something_else() {
        for name in ["ra", "rc11", "c11", "imm"] {
            assert!(defines_it(name), "{name}");
        }
        for name in ["power", "arm", "lkmm", "sc", "tso", "aarch64"] {
            assert!(!defines_it(name), "{name}");
        }
    }
}
