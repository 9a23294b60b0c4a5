//! What a state looks like to its future: two states of one shape do the same from there on.
//!
//! Symbols have names by when they were made, and those do not matter: in a loop that takes an input in
//! each round, every round has a symbol of its own. So symbols are named anew, in the order in which
//! they are met in the state. Variables that are not used any more are left out, and so are conditions
//! on symbols that nothing in the state depends on: they can be met, and that is all. What is left of
//! the conditions is a set. A state is *covered* by another one of the same shape with fewer of them:
//! whatever it leads to, the other one leads to as well (S. Anand, C. Păsăreanu, W. Visser, Symbolic
//! execution with abstract subsumption checking, SPIN 2006).

use std::hash::{Hash, Hasher};

use parallax_machine::system::{Digest, Entry};
use parallax_machine::{Code, Live, Part};
use parallax_program::AllocKind;
use parallax_solver::{Node, Term, Terms};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::machine::Effects;
use crate::oracle::Oracle;
use crate::state::{Access, At, Kind, Local, State};
use crate::value::{Symbol, Value, Values};

/// A state, but for the names of symbols: a fingerprint, and what is known of the symbols.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shape {
    pub key: u128,
    /// Fingerprints of conditions, in order.
    pub conditions: Box<[u128]>,
}

impl Shape {
    /// Whether each condition of another one, of the same key, is among its own.
    pub fn is_covered_by(&self, other: &[u128]) -> bool {
        debug_assert!(self.conditions.is_sorted() && other.is_sorted());
        let mut own = self.conditions.iter();
        other.iter().all(|condition| own.any(|mine| mine == condition))
    }
}

/// Where a state of a step is compared with others: the state, the threads that run on, and what
/// others may notice of the step so far.
pub struct Moment<'s, 'p> {
    pub state: &'s State<'p>,
    pub todo: &'s [u32],
    pub effects: Option<&'s Effects>,
}

/// Makes shapes.
pub struct Shaper<'v, 'a> {
    values: &'v Values,
    oracle: &'v mut Oracle<'a>,
    digest: Digest,
    /// The symbols that were met, in order.
    names: FxHashMap<Term, u64>,
    known: FxHashMap<Term, u128>,
}

impl<'v, 'a> Shaper<'v, 'a> {
    pub fn new(values: &'v Values, oracle: &'v mut Oracle<'a>) -> Self {
        let (names, known) = (FxHashMap::default(), FxHashMap::default());
        Shaper { values, oracle, digest: Digest::new(17), names, known }
    }

    pub fn shape(mut self, code: &Code<'_>, live: &Live, moment: &Moment<'_, '_>) -> Shape {
        let state = moment.state;
        self.word(state.section.map_or(0, |owner| u64::from(owner) + 1));
        for (number, local) in state.threads.iter().enumerate() {
            if let Some(local) = local {
                self.word(number as u64);
                self.local(code, live, local);
            }
        }
        self.words(&state.freed);
        self.memory(state);
        moment.todo.iter().for_each(|thread| self.word(u64::from(*thread)));
        if let Some(effects) = moment.effects {
            self.effects(effects);
        }
        let conditions = self.conditions(state);
        Shape { key: self.digest.finish(), conditions }
    }

    fn word(&mut self, word: u64) {
        self.digest.add(word);
    }

    fn words(&mut self, words: &[u64]) {
        self.word(words.len() as u64);
        words.iter().for_each(|word| self.word(*word));
    }

    fn local(&mut self, code: &Code<'_>, live: &Live, local: &Local<'_>) {
        for object in local.objects.iter() {
            self.word(object.address);
            self.word(object.size);
            self.word(object.context);
            let flags = [object.kind == AllocKind::Heap, object.zeroed, object.is_private];
            self.word(flags.iter().fold(1, |word, flag| word << 1 | u64::from(*flag)));
        }
        self.word(local.objects.len() as u64);
        self.at(&local.at);
        if local.at == At::Ended {
            return;
        }
        self.buffer(local);
        self.word(u64::from(local.children) << 1 | u64::from(local.in_section));
        let mut held = local.held.clone();
        held.sort_unstable();
        self.words(&held);
        local.thread.for_each_part(code, live, &mut |part| match part {
            Part::Word(word) => self.digest.add_wide(word),
            Part::Value(value) => self.value(*value),
        });
        for range in local.watch.iter().flat_map(|watch| watch.0.iter()) {
            self.word(range.start);
            self.word(range.end);
        }
    }

    fn buffer(&mut self, local: &Local<'_>) {
        let entries = local.buffer.entries();
        self.word(entries.len() as u64);
        for entry in entries {
            match entry {
                Entry::Store { address, bytes, value, is_release } => {
                    self.word(*address);
                    self.word(u64::from(*bytes) << 1 | u64::from(*is_release));
                    self.value(*value);
                }
                Entry::Barrier => self.word(u64::MAX),
                Entry::Spawn { child, args, .. } => {
                    self.word(u64::from(*child));
                    args.iter().for_each(|arg| self.value(*arg));
                }
            }
        }
    }

    fn at(&mut self, at: &At<'_>) {
        std::mem::discriminant(at).hash(&mut Words(&mut self.digest));
        match at {
            At::Access(access) => self.access(access),
            At::Join { thread } => self.word(*thread),
            At::Free { address, .. } | At::HeapSize { address } => self.word(*address),
            _ => {}
        }
    }

    fn access(&mut self, access: &Access) {
        self.value(access.address);
        self.words(&access.places);
        self.word(u64::from(access.bytes));
        match &access.kind {
            Kind::Load => {}
            Kind::Store { value } => self.value(*value),
            Kind::Rmw { operand, .. } => self.value(*operand),
            Kind::Cas { expected, desired, .. } => {
                self.value(*expected);
                self.value(*desired);
            }
        }
    }

    fn memory(&mut self, state: &State<'_>) {
        for (number, page) in state.memory.pages() {
            self.word(number);
            page.words().for_each(|word| self.word(word));
            for (place, term) in page.terms() {
                self.word(u64::from(*place));
                self.value(Value::Open(*term));
            }
        }
        self.word(u64::MAX);
    }

    fn effects(&mut self, effects: &Effects) {
        self.word(effects.accesses.len() as u64);
        for touch in &effects.accesses {
            self.word(touch.range.start);
            self.word(touch.range.end);
            let flags = [touch.reads, touch.writes, touch.is_atomic, touch.is_plain];
            self.word(flags.iter().fold(2, |word, flag| word << 1 | u64::from(*flag)));
        }
        let flags = [effects.changes, effects.in_section, effects.is_stuck_in_section];
        self.word(flags.iter().fold(1, |word, flag| word << 1 | u64::from(*flag)));
        effects.spawned.iter().for_each(|child| self.word(u64::from(*child)));
        self.word(effects.joined.map_or(0, |of| u64::from(of) + 1));
    }

    fn value(&mut self, value: Value) {
        match value {
            Value::Known(bits) => {
                self.word(u64::from(bits.width()));
                self.digest.add_wide(bits.unsigned());
            }
            Value::Open(term) => {
                let fingerprint = self.fingerprint(term);
                self.word(u64::MAX);
                self.digest.add_wide(fingerprint);
            }
        }
    }

    /// The conditions that say something of what was met.
    fn conditions(&mut self, state: &State<'_>) -> Box<[u128]> {
        let all = state.path.conditions();
        if all.is_empty() || self.names.is_empty() {
            return Box::default();
        }
        let met: FxHashSet<Term> = self.names.keys().copied().collect();
        let related = self.oracle.related(&self.values.terms, all, met);
        // Those whose symbols all have names first, so that the others give names in few orders.
        let (named, others): (Vec<Term>, Vec<Term>) = related.into_iter().partition(|condition| {
            let support = self.oracle.support(&self.values.terms, *condition);
            support.iter().all(|symbol| self.names.contains_key(symbol))
        });
        let all = named.into_iter().chain(others);
        let mut all: Vec<u128> = all.map(|condition| self.fingerprint(condition)).collect();
        all.sort_unstable();
        all.dedup();
        all.into()
    }

    /// The fingerprint of a term, with symbols by their new names.
    fn fingerprint(&mut self, term: Term) -> u128 {
        let terms = &self.values.terms;
        let mut open = vec![(term, false)];
        while let Some((next, is_ready)) = open.pop() {
            if self.known.contains_key(&next) {
                continue;
            }
            let node = terms.node(next);
            if is_ready || matches!(node, Node::Variable { .. } | Node::Constant(_)) {
                let fingerprint = self.node(terms, next, node);
                self.known.insert(next, fingerprint);
                continue;
            }
            open.push((next, true));
            let first = open.len();
            terms.operands(&node, |operand| open.push((operand, false)));
            open[first..].reverse();
        }
        self.known.get(&term).copied().unwrap_or(0)
    }

    fn node(&mut self, terms: &Terms, term: Term, node: Node) -> u128 {
        let mut digest = Digest::new(u64::from(terms.width(term)) << 8);
        std::mem::discriminant(&node).hash(&mut Words(&mut digest));
        match node {
            Node::Variable { .. } => self.name(term, &mut digest),
            Node::Constant(bits) => digest.add_wide(bits.unsigned()),
            Node::Unary(op, _) => op.hash(&mut Words(&mut digest)),
            Node::Binary(op, ..) => op.hash(&mut Words(&mut digest)),
            Node::Extract { low, .. } => digest.add(u64::from(low)),
            _ => {}
        }
        terms.operands(&node, |operand| {
            digest.add_wide(self.known.get(&operand).copied().unwrap_or(0));
        });
        digest.finish()
    }

    /// A symbol. What nobody has written may be read again, so it keeps its name.
    fn name(&mut self, variable: Term, digest: &mut Digest) {
        let next = self.names.len() as u64;
        let name = *self.names.entry(variable).or_insert(next);
        match self.values.name(variable) {
            Some(Symbol::Byte { address }) => {
                digest.add(1);
                digest.add(address);
            }
            _ => digest.add(name << 1),
        }
    }
}

/// Has what can be hashed added to a digest.
struct Words<'d>(&'d mut Digest);

impl Hasher for Words<'_> {
    fn finish(&self) -> u64 {
        0
    }

    fn write(&mut self, bytes: &[u8]) {
        for part in bytes.chunks(8) {
            let word = part.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
            self.0.add(word);
        }
    }
}
