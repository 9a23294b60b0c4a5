//! Terms with other terms in place of variables.

use rustc_hash::FxHashMap;

use super::{Node, Term, Terms};

impl Terms {
    /// The term with what `known` has in place of each variable that it names. What is found on the way
    /// is added to `known`, for further terms under the same replacement.
    pub fn substitute(&mut self, term: Term, known: &mut FxHashMap<Term, Term>) -> Term {
        let mut open = vec![term];
        while let Some(&next) = open.last() {
            if known.contains_key(&next) {
                open.pop();
                continue;
            }
            let node = self.node(next);
            let before = open.len();
            self.operands(&node, |operand| {
                if !known.contains_key(&operand) {
                    open.push(operand);
                }
            });
            if open.len() == before {
                let new = self.rebuild(next, &node, known);
                known.insert(next, new);
                open.pop();
            }
        }
        known[&term]
    }

    /// All operands are known.
    fn rebuild(&mut self, term: Term, node: &Node, known: &FxHashMap<Term, Term>) -> Term {
        let new = |term: Term| known[&term];
        match *node {
            Node::Constant(_) | Node::Variable { .. } => term,
            Node::Unary(op, value) => self.unary(op, new(value)),
            Node::Binary(op, left, right) => self.binary(op, new(left), new(right)),
            Node::Extract { value, low, width } => self.extract(new(value), low, width),
            Node::Concat { high, low } => self.concat(new(high), new(low)),
            Node::ZeroExtend { value, width } => self.zero_extend(new(value), width),
            Node::SignExtend { value, width } => self.sign_extend(new(value), width),
            Node::Select { condition, then, otherwise } => {
                self.select(new(condition), new(then), new(otherwise))
            }
        }
    }

    /// All variables in a term, by number.
    pub fn support(&self, term: Term) -> Vec<Term> {
        let mut found = Vec::new();
        let mut seen = rustc_hash::FxHashSet::default();
        let mut open = vec![term];
        while let Some(next) = open.pop() {
            if !seen.insert(next) {
                continue;
            }
            let node = self.node(next);
            match node {
                Node::Variable { .. } => found.push(next),
                _ => self.operands(&node, |operand| open.push(operand)),
            }
        }
        found.sort_unstable();
        found
    }
}

#[cfg(test)]
mod tests {
    use parallax_program::{BinaryOp, Bits};
    use rustc_hash::FxHashMap;

    use super::Terms;

    #[test]
    fn variables_are_replaced_at_once() {
        let mut terms = Terms::new();
        let (x, y) = (terms.variable(8), terms.variable(8));
        let less = terms.binary(BinaryOp::Ult, x, y);
        let mut swap: FxHashMap<_, _> = [(x, y), (y, x)].into_iter().collect();
        let swapped = terms.binary(BinaryOp::Ult, y, x);
        assert_eq!(terms.substitute(less, &mut swap), swapped);
        let (one, two) = (terms.constant(Bits::new(8, 1)), terms.constant(Bits::new(8, 2)));
        let mut values: FxHashMap<_, _> = [(x, one), (y, two)].into_iter().collect();
        let truth = terms.truth();
        assert_eq!(terms.substitute(less, &mut values), truth);
        assert_eq!(terms.support(less), [x, y]);
        assert!(terms.support(truth).is_empty());
    }
}
