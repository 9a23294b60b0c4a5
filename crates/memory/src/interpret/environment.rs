//! What names mean at a point of a model: a persistent map (a treap), so that functions can
//! keep the environment they were defined in at no cost.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

use super::algebra::Algebra;
use super::value::Value;
use crate::syntax::ast::Name;

pub(crate) struct Environment<'a, A: Algebra>(Option<Rc<Node<'a, A>>>);

struct Node<'a, A: Algebra> {
    name: Name,
    value: Value<'a, A>,
    priority: u64,
    left: Environment<'a, A>,
    right: Environment<'a, A>,
}

impl<A: Algebra> Default for Environment<'_, A> {
    fn default() -> Self {
        Environment(None)
    }
}

impl<A: Algebra> Clone for Environment<'_, A> {
    fn clone(&self) -> Self {
        Environment(self.0.clone())
    }
}

impl<'a, A: Algebra> Environment<'a, A> {
    pub fn get(&self, name: &str) -> Option<&Value<'a, A>> {
        let mut at = self;
        loop {
            let node = at.0.as_deref()?;
            at = match name.cmp(&node.name) {
                std::cmp::Ordering::Equal => return Some(&node.value),
                std::cmp::Ordering::Less => &node.left,
                std::cmp::Ordering::Greater => &node.right,
            };
        }
    }

    pub fn bind(&mut self, name: &Name, value: Value<'a, A>) {
        let mut hasher = DefaultHasher::new();
        name.hash(&mut hasher);
        *self = self.inserted(name, value, hasher.finish());
    }

    fn inserted(&self, name: &Name, value: Value<'a, A>, priority: u64) -> Self {
        if let Some(node) = &self.0
            && (node.priority, &node.name) >= (priority, name)
        {
            let (mut left, mut right) = (node.left.clone(), node.right.clone());
            let mut here = node.value.clone();
            match name.cmp(&node.name) {
                std::cmp::Ordering::Equal => here = value,
                std::cmp::Ordering::Less => left = left.inserted(name, value, priority),
                std::cmp::Ordering::Greater => right = right.inserted(name, value, priority),
            }
            return Self::node(&node.name, here, node.priority, left, right);
        }
        let (left, right) = self.split(name);
        Self::node(name, value, priority, left, right)
    }

    fn node(name: &Name, value: Value<'a, A>, priority: u64, left: Self, right: Self) -> Self {
        Environment(Some(Rc::new(Node { name: name.clone(), value, priority, left, right })))
    }

    /// The parts before and after `name`, which is not in the map.
    fn split(&self, name: &str) -> (Self, Self) {
        let Some(node) = &self.0 else {
            return (Environment(None), Environment(None));
        };
        let copy =
            |left, right| Self::node(&node.name, node.value.clone(), node.priority, left, right);
        if *node.name < *name {
            let (before, after) = node.right.split(name);
            (copy(node.left.clone(), before), after)
        } else {
            let (before, after) = node.left.split(name);
            (before, copy(after, node.right.clone()))
        }
    }

    /// All names, in order.
    pub fn names(&self) -> Vec<Name> {
        let mut names = Vec::new();
        self.visit(&mut |name, _| names.push(name.clone()));
        names
    }

    pub fn visit(&self, visit: &mut impl FnMut(&Name, &Value<'a, A>)) {
        if let Some(node) = &self.0 {
            node.left.visit(visit);
            visit(&node.name, &node.value);
            node.right.visit(visit);
        }
    }
}
