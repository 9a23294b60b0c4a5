//! Symbolic values: terms over the values of reads.
//!
//! A thread's path is run before anyone knows what its reads return, so that executions in
//! which a read takes its value from a write that is decided later (load buffering, values
//! out of thin air) are found like any others. Terms are hash-consed and simplified as they
//! are made; syntactic dependencies, which simplification must not lose, are kept beside the
//! term in [`Value`].

use rustc_hash::FxHashMap as HashMap;

use parallax_machine::{Domain, Truth, binary, unary};
use parallax_program::{BinaryOp, Bits, UnaryOp};

use crate::dependency::{Dependencies, DependencySets};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct TermId(u32);

/// The value of a read, by number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct ReadVar(pub u32);

/// A term, and the reads that it depends on syntactically.
#[derive(Clone, Copy, Debug)]
pub struct Value {
    pub term: TermId,
    pub dependencies: Dependencies,
    /// Reads that decided which value this is, without being part of it.
    pub picks: Dependencies,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Node {
    Const(Bits),
    Read(ReadVar),
    Unary(UnaryOp, TermId),
    Binary(BinaryOp, TermId, TermId),
    Extract { value: TermId, low: u32 },
    Concat { high: TermId, low: TermId },
    ZeroExtend(TermId),
    SignExtend(TermId),
    Select { condition: TermId, then: TermId, otherwise: TermId },
}

#[derive(Clone, Copy)]
struct Info {
    node: Node,
    width: u32,
    depth: u32,
    /// What the term was last found to be, and in which round.
    round: u64,
    value: Option<Bits>,
}

/// The arena of terms of one test, with the values of reads that are known at present.
#[derive(Default)]
pub struct Terms {
    infos: Vec<Info>,
    ids: HashMap<(Node, u32), TermId>,
    reads: Vec<Option<Bits>>,
    round: u64,
    pub dependencies: DependencySets,
}

impl Terms {
    /// Terms nested deeper are refused: evaluation recurses on them.
    const MAX_DEPTH: u32 = 10_000;

    fn make(&mut self, node: Node, width: u32) -> TermId {
        if let Some(id) = self.ids.get(&(node, width)) {
            return *id;
        }
        let id = TermId(self.infos.len() as u32);
        let value = if let Node::Const(bits) = node { Some(bits) } else { None };
        let depth = self.children(node).map(|t| self.info(t).depth + 1).max().unwrap_or(0);
        self.infos.push(Info { node, width, depth, round: 0, value });
        self.ids.insert((node, width), id);
        id
    }

    fn children(&self, node: Node) -> impl Iterator<Item = TermId> {
        let children = match node {
            Node::Const(_) | Node::Read(_) => [None; 3],
            Node::Unary(_, a)
            | Node::Extract { value: a, .. }
            | Node::ZeroExtend(a)
            | Node::SignExtend(a) => [Some(a), None, None],
            Node::Binary(_, a, b) | Node::Concat { high: a, low: b } => [Some(a), Some(b), None],
            Node::Select { condition, then, otherwise } => {
                [Some(condition), Some(then), Some(otherwise)]
            }
        };
        children.into_iter().flatten()
    }

    fn info(&self, term: TermId) -> &Info {
        &self.infos[term.0 as usize]
    }

    pub fn width(&self, term: TermId) -> u32 {
        self.info(term).width
    }

    /// Whether some term is nested too deep to be evaluated.
    pub fn too_deep(&self) -> bool {
        self.infos.iter().any(|info| info.depth > Self::MAX_DEPTH)
    }

    pub fn constant(&mut self, bits: Bits) -> TermId {
        self.make(Node::Const(bits), bits.width())
    }

    pub fn as_constant(&self, term: TermId) -> Option<Bits> {
        match self.info(term).node {
            Node::Const(bits) => Some(bits),
            _ => None,
        }
    }

    pub fn read(&mut self, var: ReadVar, width: u32) -> TermId {
        let slots = var.0 as usize + 1;
        if self.reads.len() < slots {
            self.reads.resize(slots, None);
        }
        self.make(Node::Read(var), width)
    }

    /// The reads whose values the term's value depends on, each once, in order.
    pub fn reads_in(&self, term: TermId) -> Vec<ReadVar> {
        let mut seen = rustc_hash::FxHashSet::default();
        let mut stack = vec![term];
        let mut reads = Vec::new();
        while let Some(term) = stack.pop() {
            if !seen.insert(term) {
                continue;
            }
            if let Node::Read(var) = self.info(term).node {
                reads.push(var);
            }
            stack.extend(self.children(self.info(term).node));
        }
        reads.sort_unstable();
        reads
    }

    /// Gives a read its value, or takes it away.
    pub fn assign(&mut self, var: ReadVar, value: Option<Bits>) {
        self.reads[var.0 as usize] = value;
        self.round += 1;
    }

    pub fn forget_reads(&mut self) {
        self.reads.fill(None);
        self.round += 1;
    }

    /// The term's value, if the reads known at present determine it.
    pub fn evaluate(&mut self, term: TermId) -> Option<Bits> {
        let Info { node, width, round, value, .. } = *self.info(term);
        match node {
            Node::Const(bits) => return Some(bits),
            Node::Read(var) => return self.reads[var.0 as usize],
            _ if round == self.round => return value,
            _ => {}
        }
        let value = self.compute(node, width);
        let round = self.round;
        let info = &mut self.infos[term.0 as usize];
        info.round = round;
        info.value = value;
        value
    }

    fn compute(&mut self, node: Node, width: u32) -> Option<Bits> {
        Some(match node {
            Node::Const(bits) => bits,
            Node::Read(var) => return self.reads[var.0 as usize],
            Node::Unary(op, value) => unary(op, self.evaluate(value)?),
            Node::Binary(op, left, right) => {
                binary(op, self.evaluate(left)?, self.evaluate(right)?)
            }
            Node::Extract { value, low } => self.evaluate(value)?.extract(low, width),
            Node::Concat { high, low } => self.evaluate(high)?.concat(self.evaluate(low)?),
            Node::ZeroExtend(value) => self.evaluate(value)?.zero_extend(width),
            Node::SignExtend(value) => self.evaluate(value)?.sign_extend(width),
            Node::Select { condition, then, otherwise } => {
                let taken = if self.evaluate(condition)?.is_zero() { otherwise } else { then };
                self.evaluate(taken)?
            }
        })
    }

    pub fn unary_term(&mut self, op: UnaryOp, value: TermId) -> TermId {
        match (op, self.info(value).node) {
            (_, Node::Const(bits)) => self.constant(unary(op, bits)),
            (UnaryOp::Not, Node::Unary(UnaryOp::Not, inner)) => inner,
            _ => self.make(Node::Unary(op, value), self.width(value)),
        }
    }

    pub fn binary_term(&mut self, op: BinaryOp, left: TermId, right: TermId) -> TermId {
        let width = self.width(left);
        let constants = (self.as_constant(left), self.as_constant(right));
        if let (Some(left), Some(right)) = constants {
            return self.constant(binary(op, left, right));
        }
        if let Some(simple) = self.simplify(op, left, right, constants) {
            return simple;
        }
        self.make(Node::Binary(op, left, right), if op.is_comparison() { 1 } else { width })
    }

    /// What artificial dependencies come down to: `r ^ r`, `r - r`, `r & 0` and the like.
    fn simplify(
        &mut self,
        op: BinaryOp,
        left: TermId,
        right: TermId,
        constants: (Option<Bits>, Option<Bits>),
    ) -> Option<TermId> {
        use BinaryOp::*;
        let width = self.width(left);
        let is_zero = |bits: Option<Bits>| bits.is_some_and(Bits::is_zero);
        if left == right {
            return match op {
                Xor | Sub => Some(self.constant(Bits::zero(width))),
                And | Or => Some(left),
                Eq | Ule | Sle => Some(self.constant(Bits::bool(true))),
                Ne | Ult | Slt => Some(self.constant(Bits::bool(false))),
                _ => None,
            };
        }
        match op {
            And | Mul if is_zero(constants.0) || is_zero(constants.1) => {
                Some(self.constant(Bits::zero(width)))
            }
            Add | Or | Xor if is_zero(constants.0) => Some(right),
            Add | Sub | Or | Xor | Shl | LShr | AShr if is_zero(constants.1) => Some(left),
            // An equation on a bit is the bit, or its complement.
            Eq | Ne if width == 1 => {
                let (bit, other) = match constants {
                    (Some(constant), _) => (right, constant),
                    (_, Some(constant)) => (left, constant),
                    _ => return None,
                };
                if other.is_zero() == (op == Eq) {
                    Some(self.unary_term(UnaryOp::Not, bit))
                } else {
                    Some(bit)
                }
            }
            _ => None,
        }
    }

    pub fn extract_term(&mut self, value: TermId, low: u32, width: u32) -> TermId {
        if low == 0 && width == self.width(value) {
            return value;
        }
        match self.info(value).node {
            Node::Const(bits) => self.constant(bits.extract(low, width)),
            Node::Extract { value, low: lower } => self.extract_term(value, lower + low, width),
            Node::Concat { high, low: part } => {
                let below = self.width(part);
                if low >= below {
                    self.extract_term(high, low - below, width)
                } else if low + width <= below {
                    self.extract_term(part, low, width)
                } else {
                    self.make(Node::Extract { value, low }, width)
                }
            }
            Node::ZeroExtend(inner) | Node::SignExtend(inner)
                if low + width <= self.width(inner) =>
            {
                self.extract_term(inner, low, width)
            }
            Node::ZeroExtend(inner) if low >= self.width(inner) => self.constant(Bits::zero(width)),
            _ => self.make(Node::Extract { value, low }, width),
        }
    }

    pub fn concat_term(&mut self, high: TermId, low: TermId) -> TermId {
        if let (Some(high), Some(low)) = (self.as_constant(high), self.as_constant(low)) {
            return self.constant(high.concat(low));
        }
        let width = self.width(high) + self.width(low);
        if self.as_constant(high).is_some_and(Bits::is_zero) {
            return self.zero_extend_term(low, width);
        }
        if let (Node::Extract { value: a, low: from }, Node::Extract { value: b, low: to }) =
            (self.info(high).node, self.info(low).node)
            && a == b
            && from == to + self.width(low)
        {
            return self.extract_term(a, to, width);
        }
        self.make(Node::Concat { high, low }, width)
    }

    pub fn zero_extend_term(&mut self, value: TermId, width: u32) -> TermId {
        match self.info(value).node {
            _ if self.width(value) == width => value,
            Node::Const(bits) => self.constant(bits.zero_extend(width)),
            Node::ZeroExtend(inner) => self.zero_extend_term(inner, width),
            _ => self.make(Node::ZeroExtend(value), width),
        }
    }

    pub fn sign_extend_term(&mut self, value: TermId, width: u32) -> TermId {
        match self.info(value).node {
            _ if self.width(value) == width => value,
            Node::Const(bits) => self.constant(bits.sign_extend(width)),
            Node::SignExtend(inner) => self.sign_extend_term(inner, width),
            _ => self.make(Node::SignExtend(value), width),
        }
    }

    pub fn select_term(&mut self, condition: TermId, then: TermId, otherwise: TermId) -> TermId {
        match self.as_constant(condition) {
            Some(bit) if bit.is_zero() => otherwise,
            Some(_) => then,
            None if then == otherwise => then,
            None => {
                let width = self.width(then);
                self.make(Node::Select { condition, then, otherwise }, width)
            }
        }
    }

    fn with(&mut self, term: TermId, parts: &[&Value]) -> Value {
        let mut dependencies = Dependencies::NONE;
        let mut picks = Dependencies::NONE;
        for part in parts {
            dependencies = self.dependencies.union(dependencies, part.dependencies);
            picks = self.dependencies.union(picks, part.picks);
        }
        Value { term, dependencies, picks }
    }
}

impl Domain for Terms {
    type Value = Value;

    fn constant(&mut self, bits: Bits) -> Value {
        Value {
            term: Terms::constant(self, bits),
            dependencies: Dependencies::NONE,
            picks: Dependencies::NONE,
        }
    }

    fn unary(&mut self, op: UnaryOp, value: &Value) -> Value {
        let term = self.unary_term(op, value.term);
        Value { term, ..*value }
    }

    fn binary(&mut self, op: BinaryOp, left: &Value, right: &Value) -> Value {
        let term = self.binary_term(op, left.term, right.term);
        self.with(term, &[left, right])
    }

    fn extract(&mut self, value: &Value, low: u32, width: u32) -> Value {
        let term = self.extract_term(value.term, low, width);
        Value { term, ..*value }
    }

    fn concat(&mut self, high: &Value, low: &Value) -> Value {
        let term = self.concat_term(high.term, low.term);
        self.with(term, &[high, low])
    }

    fn zero_extend(&mut self, value: &Value, width: u32) -> Value {
        let term = self.zero_extend_term(value.term, width);
        Value { term, ..*value }
    }

    fn sign_extend(&mut self, value: &Value, width: u32) -> Value {
        let term = self.sign_extend_term(value.term, width);
        Value { term, ..*value }
    }

    fn select(&mut self, condition: &Value, then: &Value, otherwise: &Value) -> Value {
        let term = self.select_term(condition.term, then.term, otherwise.term);
        self.with(term, &[condition, then, otherwise])
    }

    fn picked(&mut self, value: Value, condition: &Value) -> Value {
        let sets = &mut self.dependencies;
        let decided = sets.union(condition.dependencies, condition.picks);
        Value { picks: sets.union(value.picks, decided), ..value }
    }

    fn truth(&self, value: &Value) -> Truth {
        match self.as_constant(value.term) {
            Some(bits) if bits.is_zero() => Truth::False,
            Some(_) => Truth::True,
            None => Truth::Undecided,
        }
    }

    fn known(&self, value: &Value) -> Option<Bits> {
        self.as_constant(value.term)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn artificial_dependencies_vanish_from_the_value_only() {
        let mut terms = Terms::default();
        let read = read(&mut terms, 7);
        let zero = terms.binary(BinaryOp::Xor, &read, &read);
        assert_eq!(terms.as_constant(zero.term), Some(Bits::zero(32)));
        assert_eq!(terms.dependencies.members(zero.dependencies), &[7]);
    }

    /// The value of a read, which is that event.
    fn read(terms: &mut Terms, event: u32) -> Value {
        Value {
            term: terms.read(ReadVar(event), 32),
            dependencies: terms.dependencies.single(event),
            picks: Dependencies::NONE,
        }
    }

    #[test]
    fn picks_are_no_dependencies_and_go_on_from_value_to_value() {
        let mut terms = Terms::default();
        let [flags, first, second] = [1, 2, 3].map(|event| read(&mut terms, event));
        let picked = terms.picked(first, &flags);
        let sum = terms.binary(BinaryOp::Add, &picked, &second);
        assert_eq!(terms.dependencies.members(sum.dependencies), &[2, 3]);
        assert_eq!(terms.dependencies.members(sum.picks), &[1]);
        let again = terms.picked(second, &sum);
        assert_eq!(terms.dependencies.members(again.dependencies), &[3]);
        assert_eq!(terms.dependencies.members(again.picks), &[1, 2, 3]);
    }

    #[test]
    fn values_follow_the_reads() {
        let mut terms = Terms::default();
        let read = terms.read(ReadVar(0), 8);
        let one = terms.constant(Bits::new(8, 1));
        let sum = terms.binary_term(BinaryOp::Add, read, one);
        assert_eq!(terms.evaluate(sum), None);
        terms.assign(ReadVar(0), Some(Bits::new(8, 41)));
        assert_eq!(terms.evaluate(sum), Some(Bits::new(8, 42)));
        terms.assign(ReadVar(0), None);
        assert_eq!(terms.evaluate(sum), None);
    }

    #[test]
    fn halves_of_a_word_join_again() {
        let mut terms = Terms::default();
        let word = terms.read(ReadVar(0), 64);
        let low = terms.extract_term(word, 0, 32);
        let high = terms.extract_term(word, 32, 32);
        assert_eq!(terms.concat_term(high, low), word);
    }

    #[test]
    fn shared_terms_are_evaluated_once() {
        let mut terms = Terms::default();
        let mut term = terms.read(ReadVar(0), 64);
        for _ in 0..200 {
            term = terms.binary_term(BinaryOp::Add, term, term);
        }
        terms.assign(ReadVar(0), Some(Bits::new(64, 1)));
        assert_eq!(terms.evaluate(term), Some(Bits::zero(64)));
    }
}
