//! The base sets and relations of a model, over guarded events.

use rustc_hash::FxHashMap;

use parallax_memory::{
    self as memory, BaseRelation, EventSet, Formula, MemberKind, Members, Relation, Shape,
};
use parallax_solver::{Literal, Term};

use crate::circuit::Circuit;
use crate::communication::{Communication, Pairs};
use crate::event::Dependency;
use crate::relations::bounds::Bound;
use crate::relations::literals::Input;
use crate::structure::Structure;
use crate::value::{Sources, Values};
use crate::watch::Watch;

/// What the inputs of a model stand for: bounds, and literals for what lies between them.
pub struct Base {
    pub bounds: Vec<Bound>,
    pub literals: Vec<Input>,
}

impl Base {
    pub fn new(
        formula: Formula<'_>,
        structure: &Structure,
        communication: &Communication,
        values: &Values,
        circuit: &mut Circuit,
        watch: &Watch<'_>,
    ) -> Base {
        let mut maker = Maker { structure, communication, values, circuit };
        let mut base = Base { bounds: Vec::new(), literals: Vec::new() };
        // Where the watch ends it, inputs are missing.
        for input in formula.inputs().iter().take_while(|_| !watch.is_over()) {
            let (bound, literals) = match input.base() {
                memory::Base::Relation(base) => maker.relation(base),
                base => maker.set(base),
            };
            base.bounds.push(bound);
            base.literals.push(literals);
        }
        base
    }
}

struct Maker<'a> {
    structure: &'a Structure,
    communication: &'a Communication,
    values: &'a Values,
    circuit: &'a mut Circuit,
}

impl Maker<'_> {
    fn events(&self) -> usize {
        self.structure.events.len()
    }

    fn set(&mut self, base: memory::Base<'_>) -> (Bound, Input) {
        let mut literals = FxHashMap::default();
        for number in 0..self.events() {
            let literal = match base {
                _ if !self.structure.events[number].kind.is_visible() => continue,
                memory::Base::Set(set) => set.has(self, number),
                memory::Base::Tagged(tag) => self.carries(number, tag),
                memory::Base::Relation(_) | memory::Base::Empty => continue,
            };
            if literal.0 != Literal::FALSE {
                literals.insert(number, literal.0);
            }
        }
        let (mut may, mut must) = (EventSet::new(self.events()), EventSet::new(self.events()));
        for (event, literal) in &literals {
            may.insert(*event);
            if *literal == Literal::TRUE {
                must.insert(*event);
            }
        }
        let pairs = FxHashMap::default();
        (Bound::Set { may, must }, Input { members: literals, pairs })
    }

    fn relation(&mut self, base: BaseRelation) -> (Bound, Input) {
        // Places are the solver's to find.
        if base != BaseRelation::SameLocation
            && let Some(relation) = base.of_shape(self.structure)
        {
            return (Bound::relation(self.fixed(relation)), Input::default());
        }
        let pairs = match base {
            BaseRelation::ReadsFrom => self.rf(),
            BaseRelation::Coherence => self.communication.order.clone(),
            BaseRelation::SameLocation => self.communication.same_place.clone(),
            BaseRelation::Address => self.dependencies(|event| (event.addr, false)),
            BaseRelation::Data => self.dependencies(|event| (event.data, false)),
            BaseRelation::Control => self.dependencies(|event| (event.ctrl, false)),
            BaseRelation::PickedAddress => self.dependencies(|event| (event.addr, true)),
            BaseRelation::PickedData => self.dependencies(|event| (event.data, true)),
            BaseRelation::PickedControl => self.dependencies(|event| (event.ctrl, true)),
            BaseRelation::Pairs => self.paired(false),
            BaseRelation::SinglePairs => self.paired(true),
            BaseRelation::UnequalValues => self.unequal_values(),
            BaseRelation::ProgramOrder
            | BaseRelation::Internal
            | BaseRelation::External
            | BaseRelation::SameAccess => Pairs::default(),
        };
        let (mut may, mut must) = (Relation::new(self.events()), Relation::new(self.events()));
        for ((from, to), literal) in &pairs {
            let together = self.structure.facts.together.contains(*from, *to);
            if *literal != Literal::FALSE && together {
                may.add(*from, *to);
                if *literal == Literal::TRUE {
                    must.add(*from, *to);
                }
            }
        }
        let members = FxHashMap::default();
        (Bound::Relation { may, must }, Input { members, pairs })
    }

    /// Pairs that are there wherever both events happen: no literals are needed for them.
    fn fixed(&self, mut relation: Relation) -> Relation {
        let visible = &self.structure.facts.visible;
        relation.restrict_domain(visible);
        relation.restrict_range(visible);
        relation.intersect_with(&self.structure.facts.together);
        relation
    }

    fn rf(&self) -> Pairs {
        let reads = self.communication.sources.iter().enumerate();
        let pairs = reads.flat_map(|(read, sources)| {
            sources.iter().map(move |(write, takes)| ((*write, read), *takes))
        });
        pairs.collect()
    }

    fn dependencies(
        &mut self,
        choose: impl Fn(&crate::event::Event) -> (Dependency, bool),
    ) -> Pairs {
        let mut found: Vec<((usize, usize), Term)> = Vec::new();
        for (to, event) in self.structure.events.iter().enumerate() {
            let (dependency, picks) = choose(event);
            let set: Sources = if picks { dependency.picks } else { dependency.sources };
            if event.kind.is_visible() {
                let from = self.values.members(set).iter();
                found.extend(from.map(|(from, when)| ((*from as usize, to), *when)));
            }
        }
        let literals = found.into_iter().map(|(pair, when)| (pair, self.circuit.literal(when)));
        literals.collect()
    }

    fn paired(&mut self, single: bool) -> Pairs {
        let mut pairs = Pairs::default();
        for (write, event) in self.structure.events.iter().enumerate() {
            for pair in event.pairs.iter().filter(|pair| pair.is_single || !single) {
                let when = self.circuit.literal(pair.when);
                pairs.insert((pair.read as usize, write), when);
            }
        }
        pairs
    }

    /// Accesses of the same place whose values differ.
    fn unequal_values(&mut self) -> Pairs {
        let mut pairs = Pairs::default();
        let mut meeting: Vec<(usize, usize)> =
            self.communication.same_place.keys().copied().collect();
        meeting.sort_unstable();
        for (a, b) in meeting {
            let [first, second] = [a, b].map(|event| self.structure.events[event].kind.value());
            if let (Some(first), Some(second)) = (first, second) {
                let equal = self.circuit.terms.equals(first, second);
                let differ = !self.circuit.literal(equal);
                pairs.insert((a, b), differ);
            }
        }
        pairs
    }
}

/// Whether something is so of an event.
struct Holds(Literal);

impl From<bool> for Holds {
    fn from(is_so: bool) -> Holds {
        Holds(Literal::constant(is_so))
    }
}

impl Members for Maker<'_> {
    type Event = usize;
    type Truth = Holds;

    fn kind(&self, event: usize) -> MemberKind {
        match self.structure.events[event].kind {
            kind if kind.is_read() => MemberKind::Read,
            kind if kind.is_write() => MemberKind::Write,
            _ => MemberKind::Fence,
        }
    }

    fn is_initial(&self, event: usize) -> bool {
        self.structure.events[event].thread.is_none()
    }

    fn carries(&mut self, event: usize, tag: &str) -> Holds {
        Holds(tagged(self.structure, self.circuit, event, tag))
    }

    fn is_half(&mut self, event: usize) -> Holds {
        Holds(is_paired(self.structure, self.circuit, event))
    }

    fn or(&mut self, one: Holds, other: Holds) -> Holds {
        Holds(self.circuit.or(&[one.0, other.0]))
    }
}

impl Shape for Structure {
    type Access = u32;
    type Place = u64;

    fn events(&self) -> usize {
        self.events.len()
    }

    fn thread(&self, event: usize) -> Option<u32> {
        self.events[event].thread
    }

    fn access(&self, event: usize) -> u32 {
        self.events[event].access
    }

    /// Only where there is no choice.
    fn place(&self, event: usize) -> Option<u64> {
        Structure::place(self, event)
    }
}

/// Whether an event carries a tag.
pub fn tagged(structure: &Structure, circuit: &mut Circuit, number: usize, tag: &str) -> Literal {
    let choice = &structure.events[number].tags;
    let Some((condition, otherwise)) = &choice.otherwise else {
        return Literal::constant(choice.tags.contains(tag));
    };
    match (choice.tags.contains(tag), otherwise.contains(tag)) {
        (true, true) => Literal::TRUE,
        (false, false) => Literal::FALSE,
        (true, false) => circuit.literal(*condition),
        (false, true) => !circuit.literal(*condition),
    }
}

/// Whether an event is one half of a pair that is atomic.
pub fn is_paired(structure: &Structure, circuit: &mut Circuit, number: usize) -> Literal {
    let mut ways = Vec::new();
    for (write, event) in structure.events.iter().enumerate().take(structure.initials) {
        for pair in &event.pairs {
            if write == number {
                ways.push(circuit.literal(pair.when));
            } else if pair.read as usize == number {
                let both = [circuit.literal(pair.when), circuit.literal(event.executed)];
                ways.push(circuit.and(&both));
            }
        }
    }
    circuit.or(&ways)
}
