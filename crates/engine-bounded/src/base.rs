//! The base sets and relations of a model, over guarded events.

use rustc_hash::FxHashMap;

use parallax_memory::{EventSet, Formula, InputKind, Relation};
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
            let (bound, literals) = match input.kind {
                InputKind::Set => maker.set(&input.name),
                InputKind::Relation => maker.relation(&input.name),
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

    fn set(&mut self, name: &str) -> (Bound, Input) {
        let mut literals = FxHashMap::default();
        for number in 0..self.events() {
            let event = &self.structure.events[number];
            let (kind, initial) = (event.kind, event.thread.is_none());
            let holds = match name {
                _ if !kind.is_visible() => false,
                "_" => true,
                "R" => kind.is_read(),
                "W" => kind.is_write(),
                "M" => kind.is_access(),
                "F" => !kind.is_access(),
                "IW" => initial,
                tag => {
                    let literal = self.tagged(number, tag);
                    if literal != Literal::FALSE {
                        literals.insert(number, literal);
                    }
                    continue;
                }
            };
            if holds {
                literals.insert(number, Literal::TRUE);
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

    /// Whether an event carries a tag. Events of pairs are in `RMW` too.
    fn tagged(&mut self, number: usize, tag: &str) -> Literal {
        let mut ways = vec![tagged(self.structure, self.circuit, number, tag)];
        if tag == "RMW" {
            ways.push(is_paired(self.structure, self.circuit, number));
        }
        self.circuit.or(&ways)
    }

    fn relation(&mut self, name: &str) -> (Bound, Input) {
        let thread = |event: usize| self.structure.events[event].thread;
        let internal = |a: usize, b: usize| a == b || thread(a).is_some() && thread(a) == thread(b);
        let access = |event: usize| self.structure.events[event].access;
        let fixed = match name {
            "po" => Some(self.fixed(|a, b| self.structure.in_program_order(a, b))),
            "int" => Some(self.fixed(internal)),
            "ext" => Some(self.fixed(|a, b| !internal(a, b))),
            "si" | "sm" | "same-instance" | "same-instr" => {
                Some(self.fixed(|a, b| a == b || internal(a, b) && access(a) == access(b)))
            }
            _ => None,
        };
        if let Some(relation) = fixed {
            return (Bound::relation(relation), Input::default());
        }
        let pairs = match name {
            "rf" => self.rf(),
            "co" => self.communication.order.clone(),
            "loc" => self.communication.same_place.clone(),
            "addr" => self.dependencies(|event| (event.addr, false)),
            "data" => self.dependencies(|event| (event.data, false)),
            "ctrl" => self.dependencies(|event| (event.ctrl, false)),
            "pick-addr" => self.dependencies(|event| (event.addr, true)),
            "pick-data" => self.dependencies(|event| (event.data, true)),
            "pick-ctrl" => self.dependencies(|event| (event.ctrl, true)),
            "rmw" => self.paired(false),
            "amo" | "iico_data" => self.paired(true),
            "unequal-values" => self.unequal_values(),
            _ => Pairs::default(),
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
    fn fixed(&self, holds: impl Fn(usize, usize) -> bool) -> Relation {
        let visible = &self.structure.facts.visible;
        let mut relation = Relation::new(self.events());
        for a in visible.iter() {
            for b in visible.iter().filter(|b| holds(a, *b)) {
                relation.add(a, b);
            }
        }
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
