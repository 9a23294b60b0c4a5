//! Which addresses an access can have.
//!
//! An address is a term over the values of reads, and a read can have any value that some write to
//! one of its addresses stores, or that was there from the start. The sets of possible values are
//! the least solution of these rules, over the terms that addresses come from; a set that becomes
//! too large is given up, and the access may then go anywhere.

use rustc_hash::FxHashMap;

use parallax_machine::{binary, unary};
use parallax_program::{BinaryOp, Bits};
use parallax_solver::{Node, Term, Terms};

use crate::event::{Event, Step};
use crate::memory::Memory;

/// The values that something can have, in order; none where that is not known.
pub type Possible = Option<Vec<u128>>;

/// For each event, which addresses it can have.
pub struct Addresses {
    /// All that it is computed to have.
    pub computed: Vec<Possible>,
    /// Those of them where it is an access to an object.
    pub within: Vec<Possible>,
    /// For reads, the values that they can have.
    pub values: Vec<Possible>,
    /// The values that other terms can have.
    pub others: Vec<Possible>,
}

pub fn addresses(events: &[Event], others: &[Term], terms: &Terms, memory: &Memory) -> Addresses {
    let mut analysis = Analysis::new(events, others, terms);
    while analysis.round(memory) {}
    let none = || Some(Vec::new());
    let of = |find: &dyn Fn(&Event) -> Possible| {
        let all = events.iter();
        all.map(|event| if event.kind.is_access() { find(event) } else { none() }).collect()
    };
    Addresses {
        computed: of(&|event| analysis.of(event.address).clone()),
        within: of(&|event| analysis.places(event, memory)),
        values: events.iter().enumerate().map(|(read, _)| analysis.found(read, memory)).collect(),
        others: others.iter().map(|term| analysis.of(*term).clone()).collect(),
    }
}

/// So many values are told apart.
const MOST_VALUES: usize = 64;

/// Of numbers of so many bits all are told apart.
const NARROW: u32 = 6;

struct Analysis<'a> {
    events: &'a [Event],
    terms: &'a Terms,
    /// The terms that matter, operands first.
    cone: Vec<Term>,
    values: FxHashMap<Term, Possible>,
    /// The reads among the variables that matter.
    reads: FxHashMap<Term, usize>,
}

impl<'a> Analysis<'a> {
    fn new(events: &'a [Event], others: &[Term], terms: &'a Terms) -> Self {
        let mut reads = FxHashMap::default();
        for (number, event) in events.iter().enumerate() {
            if let (true, Some(value)) = (event.kind.is_read(), event.kind.value()) {
                reads.insert(value, number);
            }
        }
        let mut analysis =
            Analysis { events, terms, cone: Vec::new(), values: FxHashMap::default(), reads };
        analysis.find_cone(others);
        analysis
    }

    /// Everything that addresses are computed from, through memory too.
    fn find_cone(&mut self, others: &[Term]) {
        let accesses = self.events.iter().filter(|event| event.kind.is_access());
        let mut left: Vec<Term> = accesses.map(|event| event.address).collect();
        left.extend(others);
        while let Some(term) = left.pop() {
            if self.values.contains_key(&term) {
                continue;
            }
            self.values.insert(term, Some(Vec::new()));
            self.cone.push(term);
            self.terms.operands(&self.terms.node(term), |operand| left.push(operand));
            if self.reads.contains_key(&term) {
                let width = self.terms.width(term);
                let writes = self.events.iter().filter(|event| event.kind.is_write());
                let stored = writes.filter_map(|event| event.kind.value());
                left.extend(stored.filter(|value| self.terms.width(*value) == width));
            }
        }
        self.cone.sort_unstable();
    }

    fn of(&self, term: Term) -> &Possible {
        self.values.get(&term).unwrap_or(&None)
    }

    /// Whether something was learned.
    fn round(&mut self, memory: &Memory) -> bool {
        let mut changed = false;
        for index in 0..self.cone.len() {
            let term = self.cone[index];
            let new = self.evaluate(term, memory);
            if self.values.get(&term) != Some(&new) {
                changed = true;
                self.values.insert(term, new);
            }
        }
        changed
    }

    fn evaluate(&self, term: Term, memory: &Memory) -> Possible {
        let width = self.terms.width(term);
        let map = |value: Term, op: &dyn Fn(Bits) -> Bits| {
            let inner = self.terms.width(value);
            let narrow = || (inner <= NARROW).then(|| (0..1 << inner).collect());
            let Some(values) = self.of(value).clone().or_else(narrow) else {
                return (width <= NARROW).then(|| (0..1 << width).collect());
            };
            limited(values.iter().map(|v| op(Bits::new(inner, *v)).unsigned()).collect())
        };
        match self.terms.node(term) {
            Node::Constant(bits) => Some(vec![bits.unsigned()]),
            Node::Variable { .. } => match self.reads.get(&term) {
                Some(read) => self.read(*read, memory),
                None if width == 1 => Some(vec![0, 1]),
                None => None,
            },
            Node::Unary(op, value) => map(value, &|bits| unary(op, bits)),
            Node::Binary(op, left, right) => self.binary(op, left, right),
            Node::Extract { value, low, width } => map(value, &|bits| bits.extract(low, width)),
            Node::Concat { high, low } => self.pairs(high, low, |high, low| high.concat(low)),
            Node::ZeroExtend { value, width } => map(value, &|bits| bits.zero_extend(width)),
            Node::SignExtend { value, width } => map(value, &|bits| bits.sign_extend(width)),
            Node::Select { condition, then, otherwise } => {
                let taken = self.of(condition).as_deref();
                let mut all = Vec::new();
                if taken != Some(&[0]) {
                    all.extend(self.of(then).as_ref()?);
                }
                if taken != Some(&[1]) {
                    all.extend(self.of(otherwise).as_ref()?);
                }
                limited(all)
            }
        }
    }

    fn binary(&self, op: BinaryOp, left: Term, right: Term) -> Possible {
        let exact = self.pairs(left, right, |a, b| binary(op, a, b));
        if exact.is_some() {
            return exact;
        }
        // No result is larger than the right operand, unless something is divided by zero.
        let bounded = match op {
            _ if op.is_comparison() => return Some(vec![0, 1]),
            BinaryOp::URem => self.of(right).as_ref()?.first().is_some_and(|least| *least > 0),
            op => op == BinaryOp::And,
        };
        let most = self.of(right).as_ref()?.last().copied();
        let most = most.filter(|most| bounded && *most < MOST_VALUES as u128)?;
        Some((0..=most).collect())
    }

    fn pairs(&self, left: Term, right: Term, op: impl Fn(Bits, Bits) -> Bits) -> Possible {
        let (first, second) = (self.of(left).as_ref()?, self.of(right).as_ref()?);
        if first.len() * second.len() > MOST_VALUES * MOST_VALUES {
            return None;
        }
        let (wide, other) = (self.terms.width(left), self.terms.width(right));
        let mut all = Vec::new();
        for a in first {
            for b in second {
                all.push(op(Bits::new(wide, *a), Bits::new(other, *b)).unsigned());
            }
        }
        limited(all)
    }

    /// Where an access can go; what is wrong with it does not happen.
    fn places(&self, event: &Event, memory: &Memory) -> Possible {
        let mut places = self.of(event.address).clone()?;
        if matches!(event.step, Step::Access { .. }) {
            places.retain(|place| memory.allows(*place, event.bytes, event.kind.is_write()));
        }
        Some(places)
    }

    /// What a read can find, if it is one.
    fn found(&self, number: usize, memory: &Memory) -> Possible {
        let event = &self.events[number];
        let value = event.kind.value().filter(|_| event.kind.is_read())?;
        if let Some(known) = self.values.get(&value) {
            return known.clone();
        }
        // Nobody has asked for it yet: it counts where the writes are known.
        self.read(number, memory)
    }

    /// What a read can find.
    fn read(&self, number: usize, memory: &Memory) -> Possible {
        let read = &self.events[number];
        let places = self.places(read, memory)?;
        let mut all = Vec::new();
        for place in &places {
            let address = u64::try_from(*place).ok()?;
            all.push(memory.initial(address, read.bytes).unsigned());
        }
        for write in self.events.iter().filter(|event| event.kind.is_write()) {
            if write.bytes != read.bytes || !meet(&places, self.of(write.address)) {
                continue;
            }
            let value = write.kind.value()?;
            match self.terms.as_constant(value) {
                Some(bits) => all.push(bits.unsigned()),
                None => all.extend(self.of(value).as_ref()?),
            }
        }
        limited(all)
    }
}

/// Whether something can be in both.
fn meet(first: &[u128], second: &Possible) -> bool {
    match second {
        Some(second) => first.iter().any(|value| second.binary_search(value).is_ok()),
        None => true,
    }
}

fn limited(mut values: Vec<u128>) -> Possible {
    values.sort_unstable();
    values.dedup();
    (values.len() <= MOST_VALUES).then_some(values)
}
