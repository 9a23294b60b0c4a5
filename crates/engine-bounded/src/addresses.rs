//! Which addresses an access can have.
//!
//! An address is a term over the values of reads, and a read can have any value that some write to
//! one of its addresses stores, or that was there from the start. The sets of possible values are
//! the least solution of these rules, over the terms that addresses come from; a set that becomes
//! too large is given up, and the access may then go anywhere.

use rustc_hash::FxHashMap;

use parallax_machine::{Globals, binary, unary};
use parallax_program::{BinaryOp, Bits};
use parallax_solver::{Node, Term, Terms};

use crate::event::Event;

/// The values that something can have, in order; none where that is not known.
pub type Possible = Option<Vec<u128>>;

/// For each event, which addresses it can have.
pub fn addresses(events: &[Event], terms: &Terms, image: &Globals) -> Vec<Possible> {
    let mut analysis = Analysis::new(events, terms);
    while analysis.round(image) {}
    let all = events.iter().map(|event| match event.kind.is_access() {
        true => analysis.of(event.address).clone(),
        false => Some(Vec::new()),
    });
    all.collect()
}

/// So many values are told apart.
const MOST_VALUES: usize = 64;

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
    fn new(events: &'a [Event], terms: &'a Terms) -> Self {
        let mut reads = FxHashMap::default();
        for (number, event) in events.iter().enumerate() {
            if let (true, Some(value)) = (event.kind.is_read(), event.kind.value()) {
                reads.insert(value, number);
            }
        }
        let mut analysis =
            Analysis { events, terms, cone: Vec::new(), values: FxHashMap::default(), reads };
        analysis.find_cone();
        analysis
    }

    /// Everything that addresses are computed from, through memory too.
    fn find_cone(&mut self) {
        let accesses = self.events.iter().filter(|event| event.kind.is_access());
        let mut left: Vec<Term> = accesses.map(|event| event.address).collect();
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
    fn round(&mut self, image: &Globals) -> bool {
        let mut changed = false;
        for index in 0..self.cone.len() {
            let term = self.cone[index];
            let new = self.evaluate(term, image);
            if self.values.get(&term) != Some(&new) {
                changed = true;
                self.values.insert(term, new);
            }
        }
        changed
    }

    fn evaluate(&self, term: Term, image: &Globals) -> Possible {
        let width = self.terms.width(term);
        let map = |value: Term, op: &dyn Fn(Bits) -> Bits| {
            let inner = self.terms.width(value);
            let values = self.of(value).as_ref()?;
            limited(values.iter().map(|v| op(Bits::new(inner, *v)).unsigned()).collect())
        };
        match self.terms.node(term) {
            Node::Constant(bits) => Some(vec![bits.unsigned()]),
            Node::Variable { .. } => match self.reads.get(&term) {
                Some(read) => self.read(*read, image),
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
        match op.is_comparison() && exact.is_none() {
            true => Some(vec![0, 1]),
            false => exact,
        }
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

    /// What a read can find.
    fn read(&self, number: usize, image: &Globals) -> Possible {
        let read = &self.events[number];
        let places = self.of(read.address).as_ref()?;
        let mut all = Vec::new();
        for place in places {
            let address = u64::try_from(*place).ok()?;
            all.push(initial(image, address, read.bytes).unsigned());
        }
        for write in self.events.iter().filter(|event| event.kind.is_write()) {
            if write.bytes != read.bytes || !meet(places, self.of(write.address)) {
                continue;
            }
            all.extend(self.of(write.kind.value()?).as_ref()?);
        }
        limited(all)
    }
}

/// What a place holds at first; nothing but zeros where there is no object.
pub fn initial(image: &Globals, address: u64, bytes: u32) -> Bits {
    let zero = Bits::zero(bytes * 8);
    image.initial(address, bytes as u8).unwrap_or(zero)
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
