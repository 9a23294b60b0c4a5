//! Which addresses an access can have.
//!
//! An address is a term over the values of reads, and a read can have any value that some write to
//! one of its addresses stores, or that was there from the start. The sets of possible values are
//! the least solution of these rules, over the terms that addresses come from; a set that becomes
//! too large is given up, and the access may then go anywhere.
//!
//! A counter that threads increase would have all values in the least solution. But in an execution
//! each event happens once, and where values do not come out of thin air a value is computed
//! through different events only; so rules that feed one another are followed as often as there
//! are reads among them, and no more ([`chains`]).

mod chains;
mod found;
mod inputs;
mod sets;

use rustc_hash::FxHashMap;

use parallax_solver::{Term, Terms};

use crate::event::Event;
use crate::memory::Memory;
use crate::watch::Watch;

use found::Reads;
pub use inputs::Use;

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
    /// The addresses of other uses.
    pub others: Vec<Possible>,
}

/// What is known of executions before they are looked at.
#[derive(Clone, Copy, Debug, Default)]
pub struct Premises {
    /// Each location is coherent.
    pub coherent: bool,
    /// No value comes from itself by way of dependencies and reads.
    pub grounded: bool,
    /// Numbers are machine words, not integers.
    pub words: bool,
}

/// Where the watch ends it, what is found is not complete.
pub fn addresses(
    events: &[Event],
    others: &[Use],
    terms: &Terms,
    memory: &Memory,
    premises: Premises,
    watch: &Watch<'_>,
) -> Addresses {
    let mut analysis = Analysis::new(events, others, terms, memory, premises, watch);
    if premises.words {
        let accesses = events.iter().filter(|event| event.kind.is_access());
        let accesses = accesses.map(|event| Use { address: event.address, guard: event.executed });
        let uses: Vec<Use> = accesses.chain(others.iter().copied()).collect();
        analysis.by_inputs = analysis.addresses_by_inputs(&uses);
    }
    analysis.settle();
    if premises.grounded {
        analysis.refine();
    }
    let none = || Some(Vec::new());
    let of = |find: &dyn Fn(&Event) -> Possible| {
        let all = events.iter();
        all.map(|event| if event.kind.is_access() { find(event) } else { none() }).collect()
    };
    Addresses {
        computed: of(&|event| analysis.address(event.address).clone()),
        within: of(&|event| analysis.places(event)),
        values: (0..events.len()).map(|read| analysis.found(read)).collect(),
        others: others.iter().map(|using| analysis.address(using.address).clone()).collect(),
    }
}

/// So many values are distinguished.
const MOST_VALUES: usize = 256;

/// So often all rules are followed before what still grows is given up.
const MOST_ROUNDS: usize = 32;

struct Analysis<'a> {
    events: &'a [Event],
    terms: &'a Terms,
    memory: &'a Memory,
    watch: &'a Watch<'a>,
    reads: Reads,
    /// The terms that matter, operands first.
    cone: Vec<Term>,
    values: FxHashMap<Term, Possible>,
    /// What conditions can be, where that was found out before.
    conditions: FxHashMap<Term, Possible>,
    /// What terms that inputs decide can be, where they are used as addresses.
    by_inputs: FxHashMap<Term, Possible>,
}

impl<'a> Analysis<'a> {
    fn new(
        events: &'a [Event],
        others: &[Use],
        terms: &'a Terms,
        memory: &'a Memory,
        premises: Premises,
        watch: &'a Watch<'a>,
    ) -> Self {
        let mut analysis = Analysis {
            events,
            terms,
            memory,
            watch,
            reads: Reads::new(events, premises.coherent),
            cone: Vec::new(),
            values: FxHashMap::default(),
            conditions: FxHashMap::default(),
            by_inputs: FxHashMap::default(),
        };
        analysis.find_cone(others);
        analysis
    }

    /// Everything that addresses are computed from, through memory too.
    fn find_cone(&mut self, others: &[Use]) {
        let accesses = self.events.iter().filter(|event| event.kind.is_access());
        let mut left: Vec<Term> = accesses.map(|event| event.address).collect();
        left.extend(others.iter().map(|using| using.address));
        let mut widths: Vec<u32> = Vec::new();
        while let Some(term) = left.pop() {
            if self.values.contains_key(&term) {
                continue;
            }
            self.values.insert(term, Some(Vec::new()));
            self.cone.push(term);
            self.terms.operands(&self.terms.node(term), |operand| left.push(operand));
            let width = self.terms.width(term);
            if self.reads.event(term).is_some() && !widths.contains(&width) {
                widths.push(width);
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

    /// What a term can be where it is used as an address.
    fn address(&self, term: Term) -> &Possible {
        match self.of(term) {
            None => self.by_inputs.get(&term).unwrap_or(&None),
            known => known,
        }
    }

    /// The least solution. What goes on growing is given up.
    fn settle(&mut self) {
        let mut rounds = 0;
        while self.round(rounds >= MOST_ROUNDS) {
            rounds += 1;
        }
    }

    /// Whether something was learned.
    fn round(&mut self, gives_up: bool) -> bool {
        let mut changed = false;
        for index in 0..self.cone.len() {
            let term = self.cone[index];
            if self.watch.is_over() {
                return false;
            }
            if self.values.get(&term) == Some(&None) {
                continue;
            }
            let new = self.evaluate(term);
            if self.values.get(&term) != Some(&new) {
                changed = true;
                let grows = gives_up && self.terms.width(term) > 1;
                self.values.insert(term, new.filter(|_| !grows));
            }
        }
        changed
    }

    /// What a read can find, if it is one.
    fn found(&self, number: usize) -> Possible {
        let event = &self.events[number];
        let value = event.kind.value().filter(|_| event.kind.is_read())?;
        if let Some(known) = self.values.get(&value) {
            return known.clone();
        }
        // Nobody has asked for it yet: it counts where the writes are known.
        self.read(number)
    }
}

fn limited(mut values: Vec<u128>) -> Possible {
    values.sort_unstable();
    values.dedup();
    (values.len() <= MOST_VALUES).then_some(values)
}
