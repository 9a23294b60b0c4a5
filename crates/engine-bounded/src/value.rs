//! Values of the unfolded program: terms, and which reads they come from.
//!
//! What a value depends on can differ between ways that have met, so each dependency has a
//! condition. Sets of dependencies are shared: threads copy values far more often than they make
//! new combinations.

use rustc_hash::FxHashMap;

use parallax_machine::{Domain, Merge, Truth};
use parallax_program::{BinaryOp, Bits, UnaryOp};
use parallax_solver::{Node, Term, Terms};

/// A set of events, each with the condition under which it is in the set; by its number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Sources(u32);

impl Sources {
    pub const NONE: Sources = Sources(0);
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Value {
    pub term: Term,
    /// Reads that it is computed from.
    pub sources: Sources,
    /// Reads that only decided which value it is.
    pub picks: Sources,
}

type Members = Box<[(u32, Term)]>;

/// All terms and sets in use; the domain that threads are unfolded in.
pub struct Values {
    pub terms: Terms,
    sets: Vec<Members>,
    ids: FxHashMap<Members, Sources>,
    unions: FxHashMap<(Sources, Sources), Sources>,
    restrictions: FxHashMap<(Sources, Term), Sources>,
    /// Whether anyone asks where values come from.
    traces: bool,
    /// A term that is taken for a constant for the moment.
    pub assumed: Option<(Term, Bits)>,
    /// Of terms that were asked about: which of their bits nobody has given a value. Variables that
    /// stand for such values are there from the start.
    open: FxHashMap<Term, Term>,
}

impl Values {
    pub fn new(traces: bool) -> Values {
        let empty: Members = Box::default();
        Values {
            terms: Terms::default(),
            sets: vec![empty.clone()],
            ids: FxHashMap::from_iter([(empty, Sources::NONE)]),
            unions: FxHashMap::default(),
            restrictions: FxHashMap::default(),
            traces,
            assumed: None,
            open: FxHashMap::default(),
        }
    }

    /// A value that nobody has given.
    pub fn undefined(&mut self, width: u32) -> Value {
        let term = self.terms.variable(width);
        let all = self.terms.constant(Bits::new(width, u128::MAX));
        self.open.insert(term, all);
        self.plain(term)
    }

    /// Which bits of a variable nobody has given a value is another variable, which is the result.
    pub fn perhaps_open(&mut self, variable: Term) -> Term {
        let open = self.terms.variable(self.terms.width(variable));
        self.open.insert(variable, open);
        open
    }

    /// Where a term depends on a value that nobody has given.
    pub fn is_open(&mut self, term: Term) -> Term {
        let bits = self.open_bits(term);
        self.any(bits)
    }

    fn any(&mut self, bits: Term) -> Term {
        let none = self.terms.constant(Bits::zero(self.terms.width(bits)));
        let is_none = self.terms.equals(bits, none);
        self.terms.not(is_none)
    }

    /// Which bits of a term depend on a value that nobody has given.
    pub fn open_bits(&mut self, term: Term) -> Term {
        if self.open.is_empty() {
            return self.terms.constant(Bits::zero(self.terms.width(term)));
        }
        let mut waiting = vec![term];
        while let Some(next) = waiting.last().copied() {
            let unknown: Vec<Term> = operands(self.terms.node(next))
                .into_iter()
                .filter(|operand| !self.open.contains_key(operand))
                .collect();
            if unknown.is_empty() || self.open.contains_key(&next) {
                waiting.pop();
                let open = self.open_by_operands(next);
                self.open.entry(next).or_insert(open);
            }
            waiting.extend(unknown);
        }
        self.open[&term]
    }

    /// The same, where it is known of the operands: bit by bit where the operation is one on bits, so
    /// that a member of a word does not depend on the members beside it; otherwise all of it does.
    fn open_by_operands(&mut self, term: Term) -> Term {
        let node = self.terms.node(term);
        let width = self.terms.width(term);
        let parts: Vec<Term> =
            operands(node).iter().filter_map(|part| self.open.get(part).copied()).collect();
        let zero = |part: &Term| self.terms.as_constant(*part).is_some_and(|bits| bits.is_zero());
        if parts.iter().all(zero) {
            return self.terms.constant(Bits::zero(width));
        }
        match (node, &parts[..]) {
            (Node::Unary(UnaryOp::Not, _), [open]) => *open,
            (Node::Extract { low, width, .. }, [open]) => self.terms.extract(*open, low, width),
            (Node::ZeroExtend { width, .. }, [open]) => self.terms.zero_extend(*open, width),
            (Node::SignExtend { width, .. }, [open]) => self.terms.sign_extend(*open, width),
            (Node::Concat { .. }, [high, low]) => self.terms.concat(*high, *low),
            (Node::Binary(BinaryOp::Xor, ..), [left, right]) => self.terms.or(*left, *right),
            (Node::Binary(BinaryOp::And, a, b), [left, right]) => {
                self.open_product([a, b], [*left, *right])
            }
            (Node::Binary(BinaryOp::Or, a, b), [left, right]) => {
                let values = [self.terms.not(a), self.terms.not(b)];
                self.open_product(values, [*left, *right])
            }
            (
                Node::Binary(op @ (BinaryOp::Shl | BinaryOp::LShr | BinaryOp::AShr), _, by),
                [open, _],
            ) if self.terms.as_constant(by).is_some() => self.terms.binary(op, *open, by),
            (Node::Select { condition, .. }, [by, then, otherwise]) => {
                let taken = self.terms.select(condition, *then, *otherwise);
                let all = self.terms.sign_extend(*by, width);
                self.terms.or(taken, all)
            }
            _ => {
                let falsity = self.terms.falsity();
                let some = parts.into_iter().fold(falsity, |some, part| {
                    let part = self.any(part);
                    self.terms.or(some, part)
                });
                self.terms.sign_extend(some, width)
            }
        }
    }

    /// A bit of a product is open if one of the two is, and the other is open or one.
    fn open_product(&mut self, values: [Term; 2], open: [Term; 2]) -> Term {
        let [left, right] = [0, 1].map(|this: usize| {
            let other = self.terms.or(open[1 - this], values[1 - this]);
            self.terms.and(open[this], other)
        });
        self.terms.or(left, right)
    }

    pub fn plain(&self, term: Term) -> Value {
        Value { term, sources: Sources::NONE, picks: Sources::NONE }
    }

    pub fn bits(&mut self, bits: Bits) -> Value {
        let term = self.terms.constant(bits);
        self.plain(term)
    }

    /// The set of just this event.
    pub fn single(&mut self, event: u32) -> Sources {
        if !self.traces {
            return Sources::NONE;
        }
        let truth = self.terms.truth();
        self.intern(Box::new([(event, truth)]))
    }

    /// Sorted by event.
    pub fn members(&self, set: Sources) -> &[(u32, Term)] {
        &self.sets[set.0 as usize]
    }

    pub fn union(&mut self, a: Sources, b: Sources) -> Sources {
        if a == b || b == Sources::NONE {
            return a;
        }
        if a == Sources::NONE {
            return b;
        }
        let key = (a.min(b), a.max(b));
        if let Some(union) = self.unions.get(&key) {
            return *union;
        }
        let mut all: Vec<(u32, Term)> = Vec::new();
        let (left, right) = (self.members(a).to_vec(), self.members(b).to_vec());
        let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
        loop {
            let next = match (left.peek(), right.peek()) {
                (Some((x, _)), Some((y, _))) if x == y => {
                    let (Some((event, first)), Some((_, second))) = (left.next(), right.next())
                    else {
                        break;
                    };
                    (event, self.terms.or(first, second))
                }
                (Some((x, _)), Some((y, _))) if x > y => match right.next() {
                    Some(member) => member,
                    None => break,
                },
                (Some(_), _) => match left.next() {
                    Some(member) => member,
                    None => break,
                },
                (None, Some(member)) => {
                    let member = *member;
                    right.next();
                    member
                }
                (None, None) => break,
            };
            all.push(next);
        }
        let union = self.intern(all.into());
        self.unions.insert(key, union);
        union
    }

    /// The set where the condition holds, and nothing elsewhere.
    pub fn restrict(&mut self, set: Sources, condition: Term) -> Sources {
        if set == Sources::NONE {
            return set;
        }
        if let Some(known) = self.restrictions.get(&(set, condition)) {
            return *known;
        }
        let members = self.members(set).to_vec();
        let members = members.into_iter().map(|(event, when)| {
            let both = self.terms.and(when, condition);
            (event, both)
        });
        let members: Vec<(u32, Term)> = members.collect();
        let falsity = self.terms.falsity();
        let restricted = members.into_iter().filter(|(_, when)| *when != falsity).collect();
        let restricted = self.intern(restricted);
        self.restrictions.insert((set, condition), restricted);
        restricted
    }

    fn intern(&mut self, members: Members) -> Sources {
        if let Some(id) = self.ids.get(&members) {
            return *id;
        }
        let id = Sources(self.sets.len() as u32);
        self.sets.push(members.clone());
        self.ids.insert(members, id);
        id
    }

    /// A term that comes from all of these values.
    pub fn with(&mut self, term: Term, parts: &[&Value]) -> Value {
        let mut value = self.plain(term);
        for part in parts {
            value.sources = self.union(value.sources, part.sources);
            value.picks = self.union(value.picks, part.picks);
        }
        value
    }
}

fn operands(node: Node) -> Vec<Term> {
    match node {
        Node::Constant(_) | Node::Variable { .. } => Vec::new(),
        Node::Unary(_, value)
        | Node::Extract { value, .. }
        | Node::ZeroExtend { value, .. }
        | Node::SignExtend { value, .. } => vec![value],
        Node::Binary(_, left, right) => vec![left, right],
        Node::Concat { high, low } => vec![high, low],
        Node::Select { condition, then, otherwise } => vec![condition, then, otherwise],
    }
}

impl Domain for Values {
    type Value = Value;

    const COMPARES: bool = true;

    fn constant(&mut self, bits: Bits) -> Value {
        self.bits(bits)
    }

    fn unary(&mut self, op: UnaryOp, value: &Value) -> Value {
        Value { term: self.terms.unary(op, value.term), ..*value }
    }

    fn binary(&mut self, op: BinaryOp, left: &Value, right: &Value) -> Value {
        let term = self.terms.binary(op, left.term, right.term);
        self.with(term, &[left, right])
    }

    fn extract(&mut self, value: &Value, low: u32, width: u32) -> Value {
        Value { term: self.terms.extract(value.term, low, width), ..*value }
    }

    fn concat(&mut self, high: &Value, low: &Value) -> Value {
        let term = self.terms.concat(high.term, low.term);
        self.with(term, &[high, low])
    }

    fn zero_extend(&mut self, value: &Value, width: u32) -> Value {
        Value { term: self.terms.zero_extend(value.term, width), ..*value }
    }

    fn sign_extend(&mut self, value: &Value, width: u32) -> Value {
        Value { term: self.terms.sign_extend(value.term, width), ..*value }
    }

    fn select(&mut self, condition: &Value, then: &Value, otherwise: &Value) -> Value {
        let term = self.terms.select(condition.term, then.term, otherwise.term);
        self.with(term, &[condition, then, otherwise])
    }

    fn picked(&mut self, value: Value, condition: &Value) -> Value {
        let decided = self.union(condition.sources, condition.picks);
        Value { picks: self.union(value.picks, decided), ..value }
    }

    fn truth(&self, value: &Value) -> Truth {
        match self.terms.as_constant(value.term) {
            Some(bits) if bits.is_zero() => Truth::False,
            Some(_) => Truth::True,
            None => Truth::Undecided,
        }
    }

    fn same(&self, left: &Value, right: &Value) -> bool {
        left.term == right.term
    }

    fn known(&self, value: &Value) -> Option<Bits> {
        match self.assumed {
            Some((term, bits)) if term == value.term => Some(bits),
            _ => self.terms.as_constant(value.term),
        }
    }
}

/// Two ways meet: the first was taken where the condition holds.
pub struct Meeting {
    pub first: Term,
}

impl Merge<Values> for Meeting {
    fn join(&mut self, values: &mut Values, first: &Value, second: &Value) -> Value {
        let term = values.terms.select(self.first, first.term, second.term);
        let [sources, picks] =
            [(first.sources, second.sources), (first.picks, second.picks)].map(|(one, other)| {
                if one == other {
                    return one;
                }
                let opposite = values.terms.not(self.first);
                let (one, other) =
                    (values.restrict(one, self.first), values.restrict(other, opposite));
                values.union(one, other)
            });
        Value { term, sources, picks }
    }

    fn only(&mut self, values: &mut Values, value: &Value, is_first: bool) -> Value {
        let condition = if is_first { self.first } else { values.terms.not(self.first) };
        let sources = values.restrict(value.sources, condition);
        let picks = values.restrict(value.picks, condition);
        Value { sources, picks, ..*value }
    }

    fn same(&self, first: &Value, second: &Value) -> bool {
        first == second
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_meets_depends_on_the_way_it_came() {
        let mut values = Values::new(true);
        let (word, condition) = (values.terms.variable(32), values.terms.variable(1));
        let sources = values.single(3);
        let read = Value { sources, ..values.plain(word) };
        let zero = values.bits(Bits::zero(32));
        let joined = Meeting { first: condition }.join(&mut values, &read, &zero);
        assert_eq!(values.members(joined.sources), &[(3, condition)]);
        let both = values.union(joined.sources, read.sources);
        assert_eq!(values.members(both), values.members(read.sources));
        let same = Meeting { first: condition }.join(&mut values, &read, &read);
        assert_eq!(same, read);
    }

    #[test]
    fn artificial_dependencies_vanish_from_the_value_only() {
        let mut values = Values::new(true);
        let word = values.terms.variable(32);
        let sources = values.single(7);
        let read = Value { sources, ..values.plain(word) };
        let zero = values.binary(BinaryOp::Xor, &read, &read);
        assert_eq!(values.known(&zero), Some(Bits::zero(32)));
        assert_eq!(values.members(zero.sources).len(), 1);
    }
}
