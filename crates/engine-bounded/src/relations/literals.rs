//! The literal of a pair of events in a relation of the model.
//!
//! Literals are made on demand, from the literals of operands. For relations that are not
//! recursive a literal says exactly whether the pair is there, as far as both events happen. A
//! closure or a recursive definition has two literals: one that is true at least where the pair is
//! there, which is all that an axiom asks for and needs no more than the rules of the definition,
//! and one that is true at most there.

use rustc_hash::FxHashMap;

use parallax_memory::{Formula, Node, NodeId, Place};
use parallax_solver::Literal;

use super::bounds::{Bounds, Facts};
use crate::circuit::Circuit;
use crate::watch::Watch;

/// What a literal is good for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Side {
    /// True wherever the pair is there.
    Over,
    /// The pair is there wherever it is true.
    Under,
}

impl Side {
    fn opposite(self) -> Side {
        match self {
            Side::Over => Side::Under,
            Side::Under => Side::Over,
        }
    }
}

/// The literals of a base set or relation, for what may be in it and need not.
#[derive(Clone, Debug, Default)]
pub struct Input {
    pub members: FxHashMap<usize, Literal>,
    pub pairs: FxHashMap<(usize, usize), Literal>,
}

type Pairs = FxHashMap<(usize, usize), Literal>;

pub struct Relations<'a, 'm> {
    pub circuit: &'a mut Circuit,
    pub formula: Formula<'m>,
    pub bounds: &'a Bounds<'m>,
    pub facts: &'a Facts,
    pub inputs: &'a [Input],
    /// Whether each event happens.
    pub executed: &'a [Literal],
    pub watch: &'a Watch<'a>,
    /// Nodes whose two literals differ.
    two_sided: Vec<bool>,
    pairs: FxHashMap<(NodeId, u32, u32, Side), Literal>,
    members: FxHashMap<(NodeId, u32, Side), Literal>,
    /// Rows of closures, from above.
    closures: FxHashMap<(NodeId, u32), FxHashMap<usize, Literal>>,
    /// Squares of closures, from below.
    squares: FxHashMap<NodeId, Vec<Pairs>>,
    /// The unknowns of recursive groups, from above.
    unknowns: FxHashMap<(u32, u32), Input>,
    /// A recursive definition that would be needed from below.
    pub unsupported: Option<Place>,
}

impl<'a, 'm> Relations<'a, 'm> {
    pub fn new(
        circuit: &'a mut Circuit,
        formula: Formula<'m>,
        bounds: &'a Bounds<'m>,
        facts: &'a Facts,
        inputs: &'a [Input],
        executed: &'a [Literal],
        watch: &'a Watch<'a>,
    ) -> Self {
        let mut two_sided: Vec<bool> = Vec::with_capacity(formula.nodes().len());
        for (index, node) in formula.nodes().iter().enumerate() {
            let operands = formula.operands(NodeId(index as u32));
            let inherits = operands.iter().any(|id| two_sided.get(id.index()) == Some(&true));
            let by_itself = matches!(node, Node::Plus(_) | Node::Unknown(..) | Node::Solution(..));
            two_sided.push(by_itself || inherits);
        }
        Relations {
            circuit,
            formula,
            bounds,
            facts,
            inputs,
            executed,
            watch,
            two_sided,
            pairs: FxHashMap::default(),
            members: FxHashMap::default(),
            closures: FxHashMap::default(),
            squares: FxHashMap::default(),
            unknowns: FxHashMap::default(),
            unsupported: None,
        }
    }

    /// Where both literals are the same, one is kept.
    fn side(&self, id: NodeId, side: Side) -> Side {
        if self.two_sided[id.index()] { side } else { Side::Over }
    }

    /// Whether a pair is in a relation, given that both events happen.
    pub fn pair(&mut self, id: NodeId, from: usize, to: usize, side: Side) -> Literal {
        if self.bounds.must(id, from, to) {
            return Literal::TRUE;
        }
        if !self.bounds.may(id, from, to) {
            return Literal::FALSE;
        }
        let side = self.side(id, side);
        let key = (id, from as u32, to as u32, side);
        if let Some(known) = self.pairs.get(&key) {
            return *known;
        }
        let literal = self.make_pair(id, from, to, side);
        self.pairs.insert(key, literal);
        literal
    }

    /// Whether an event is in a set, given that it happens.
    pub fn member(&mut self, id: NodeId, event: usize, side: Side) -> Literal {
        match self.bounds.set(id) {
            Some((_, must)) if must.contains(event) => return Literal::TRUE,
            Some((may, _)) if may.contains(event) => {}
            _ => return Literal::FALSE,
        }
        let side = self.side(id, side);
        let key = (id, event as u32, side);
        if let Some(known) = self.members.get(&key) {
            return *known;
        }
        let literal = self.make_member(id, event, side);
        self.members.insert(key, literal);
        literal
    }

    fn make_member(&mut self, id: NodeId, event: usize, side: Side) -> Literal {
        match self.formula.node(id) {
            Node::SetInput(input) => {
                let known = self.inputs[*input as usize].members.get(&event);
                known.copied().unwrap_or(Literal::FALSE)
            }
            Node::SetUnion(parts) => {
                let parts: Vec<Literal> =
                    parts.iter().map(|part| self.member(*part, event, side)).collect();
                self.circuit.or(&parts)
            }
            Node::SetIntersection(a, b) => {
                let both = [self.member(*a, event, side), self.member(*b, event, side)];
                self.circuit.and(&both)
            }
            Node::SetDifference(a, b) => {
                let inside = self.member(*a, event, side);
                let outside = !self.member(*b, event, side.opposite());
                self.circuit.and(&[inside, outside])
            }
            Node::Domain(a) => {
                let others: Vec<usize> = self.successors(*a, event);
                let some = others.into_iter().map(|to| {
                    let pair = self.pair(*a, event, to, side);
                    let there = self.there(to, event, event);
                    self.circuit.and(&[pair, there])
                });
                let some: Vec<Literal> = some.collect();
                self.circuit.or(&some)
            }
            Node::Range(a) => {
                let others =
                    (0..self.facts.events).filter(|from| self.bounds.may(*a, *from, event));
                let others: Vec<usize> = others.collect();
                let some = others.into_iter().map(|from| {
                    let pair = self.pair(*a, from, event, side);
                    let there = self.there(from, event, event);
                    self.circuit.and(&[pair, there])
                });
                let some: Vec<Literal> = some.collect();
                self.circuit.or(&some)
            }
            Node::Unknown(group, index) => self.unknown(*group, *index, (event, event), side),
            Node::Solution(group, index) => {
                let unknown = self.formula.groups()[*group as usize].unknowns[*index as usize];
                self.member(unknown, event, side)
            }
            _ => Literal::FALSE,
        }
    }

    pub fn successors(&self, id: NodeId, from: usize) -> Vec<usize> {
        let relation = self.bounds.relation(id);
        relation.map_or_else(Vec::new, |(may, _)| may.successors(from).collect())
    }

    /// Whether an event between two others happens, given that those do.
    pub fn there(&self, middle: usize, from: usize, to: usize) -> Literal {
        let implies = &self.facts.implies;
        match implies.contains(from, middle) || implies.contains(to, middle) {
            true => Literal::TRUE,
            false => self.executed[middle],
        }
    }

    fn make_pair(&mut self, id: NodeId, from: usize, to: usize, side: Side) -> Literal {
        if self.watch.is_over() {
            return Literal::FALSE;
        }
        match self.formula.node(id) {
            Node::RelationInput(input) => {
                let known = self.inputs[*input as usize].pairs.get(&(from, to));
                known.copied().unwrap_or(Literal::FALSE)
            }
            Node::Identity(set) => self.member(*set, from, side),
            Node::Product(a, b) => {
                let both = [self.member(*a, from, side), self.member(*b, to, side)];
                self.circuit.and(&both)
            }
            Node::Union(parts) => {
                let parts: Vec<Literal> =
                    parts.iter().map(|part| self.pair(*part, from, to, side)).collect();
                self.circuit.or(&parts)
            }
            Node::Intersection(a, b) => {
                let both = [self.pair(*a, from, to, side), self.pair(*b, from, to, side)];
                self.circuit.and(&both)
            }
            Node::Difference(a, b) => {
                let inside = self.pair(*a, from, to, side);
                let outside = !self.pair(*b, from, to, side.opposite());
                self.circuit.and(&[inside, outside])
            }
            Node::Sequence(a, b) => {
                let mut ways = Vec::new();
                for middle in self.successors(*a, from) {
                    if self.bounds.may(*b, middle, to) {
                        let way = [
                            self.pair(*a, from, middle, side),
                            self.pair(*b, middle, to, side),
                            self.there(middle, from, to),
                        ];
                        ways.push(self.circuit.and(&way));
                    }
                }
                self.circuit.or(&ways)
            }
            Node::Inverse(a) => self.pair(*a, to, from, side),
            Node::StartingIn(set, a) => {
                let both = [self.member(*set, from, side), self.pair(*a, from, to, side)];
                self.circuit.and(&both)
            }
            Node::EndingIn(a, set) => {
                let both = [self.pair(*a, from, to, side), self.member(*set, to, side)];
                self.circuit.and(&both)
            }
            Node::Plus(a) if side == Side::Over => self.closure(id, *a, from, to),
            Node::Plus(a) => self.squared(id, *a, from, to),
            Node::Unknown(group, index) => self.unknown(*group, *index, (from, to), side),
            Node::Solution(group, index) => {
                let unknown = self.formula.groups()[*group as usize].unknowns[*index as usize];
                self.pair(unknown, from, to, side)
            }
            _ => Literal::FALSE,
        }
    }

    /// A closure from above: any relation with the pairs of the base that goes on with them.
    fn closure(&mut self, id: NodeId, base: NodeId, from: usize, to: usize) -> Literal {
        if !self.closures.contains_key(&(id, from as u32)) {
            let open: Vec<usize> = self.successors(id, from);
            let mut row = FxHashMap::default();
            for to in open {
                let sure = self.bounds.must(id, from, to);
                let literal = if sure { Literal::TRUE } else { self.circuit.fresh() };
                row.insert(to, literal);
            }
            self.closures.insert((id, from as u32), row.clone());
            for to in self.successors(base, from) {
                let step = self.pair(base, from, to, Side::Over);
                self.circuit.clause(&[!step, row[&to]]);
            }
            let mut reached: Vec<(usize, Literal)> = row.iter().map(|(m, l)| (*m, *l)).collect();
            reached.sort_unstable();
            for (middle, reaches) in reached {
                if self.watch.is_over() {
                    break;
                }
                for to in self.successors(base, middle) {
                    let Some(goal) = row.get(&to).copied().filter(|goal| *goal != Literal::TRUE)
                    else {
                        continue;
                    };
                    let step = self.pair(base, middle, to, Side::Over);
                    let there = self.there(middle, from, to);
                    self.circuit.clause(&[!reaches, !step, !there, goal]);
                }
            }
        }
        let row = self.closures.get(&(id, from as u32));
        row.and_then(|row| row.get(&to)).copied().unwrap_or(Literal::FALSE)
    }

    /// A closure from below: repeated squares, which are exact.
    fn squared(&mut self, id: NodeId, base: NodeId, from: usize, to: usize) -> Literal {
        if !self.squares.contains_key(&id) {
            let all: Vec<(usize, usize)> = match self.bounds.relation(id) {
                Some((may, _)) => may.iter().collect(),
                None => Vec::new(),
            };
            let first = all.iter().map(|(a, b)| {
                let step = self.pair(base, *a, *b, Side::Under);
                ((*a, *b), step)
            });
            let mut last: Pairs = first.collect();
            let mut length = 1;
            while length < self.facts.events && !self.watch.is_over() {
                last = self.square(&all, &last, id);
                length *= 2;
            }
            self.squares.insert(id, vec![last]);
        }
        let last = self.squares.get(&id).and_then(|layers| layers.last());
        last.and_then(|pairs| pairs.get(&(from, to))).copied().unwrap_or(Literal::FALSE)
    }

    fn square(&mut self, all: &[(usize, usize)], last: &Pairs, id: NodeId) -> Pairs {
        let next = all.iter().map(|(from, to)| {
            if self.watch.is_over() {
                return ((*from, *to), Literal::FALSE);
            }
            let mut ways = vec![last[&(*from, *to)]];
            for middle in self.successors(id, *from) {
                if let Some(second) = last.get(&(middle, *to)) {
                    let way = [last[&(*from, middle)], *second, self.there(middle, *from, *to)];
                    ways.push(self.circuit.and(&way));
                }
            }
            ((*from, *to), self.circuit.or(&ways))
        });
        next.collect()
    }

    /// What a recursive definition calls itself, from above: any solution of its rules.
    fn unknown(&mut self, group: u32, index: u32, pair: (usize, usize), side: Side) -> Literal {
        let definition = &self.formula.groups()[group as usize];
        if side == Side::Under {
            self.unsupported.get_or_insert(definition.place);
            return Literal::FALSE;
        }
        if !self.unknowns.contains_key(&(group, 0)) {
            for (index, unknown) in (0u32..).zip(&definition.unknowns) {
                let table = self.open_table(*unknown);
                self.unknowns.insert((group, index), table);
            }
            for (index, body) in (0u32..).zip(&definition.definitions) {
                let table = self.unknowns[&(group, index)].clone();
                for (event, goal) in sorted(table.members) {
                    let holds = self.member(*body, event, Side::Over);
                    self.circuit.clause(&[!holds, goal]);
                }
                for ((from, to), goal) in sorted(table.pairs) {
                    let holds = self.pair(*body, from, to, Side::Over);
                    self.circuit.clause(&[!holds, goal]);
                }
            }
        }
        let Some(table) = self.unknowns.get(&(group, index)) else {
            return Literal::FALSE;
        };
        let known = match self.formula.is_set(definition.unknowns[index as usize]) {
            true => table.members.get(&pair.0),
            false => table.pairs.get(&pair),
        };
        known.copied().unwrap_or(Literal::FALSE)
    }

    /// New literals for all that may be in a set or relation and need not.
    fn open_table(&mut self, id: NodeId) -> Input {
        let mut table = Input::default();
        if let Some((may, must)) = self.bounds.set(id) {
            let open = may.iter().filter(|event| !must.contains(*event));
            table.members = open.map(|event| (event, self.circuit.fresh())).collect();
        }
        if let Some((may, must)) = self.bounds.relation(id) {
            let open = may.iter().filter(|(from, to)| !must.contains(*from, *to));
            table.pairs = open.map(|pair| (pair, self.circuit.fresh())).collect();
        }
        table
    }
}

/// In an order that is always the same.
fn sorted<K: Ord + Copy>(table: FxHashMap<K, Literal>) -> Vec<(K, Literal)> {
    let mut all: Vec<(K, Literal)> = table.into_iter().collect();
    all.sort_unstable_by_key(|(key, _)| *key);
    all
}
