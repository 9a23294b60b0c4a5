//! Refinement: whether the edges that lead to a failure can be taken, and if not, what an abstract state
//! would have to track to see that.
//!
//! There is no interpolation. The conditions along the path, over inputs, cannot all hold; the solver
//! says which of them are enough (an unsatisfiable core). From the last of these on, weakest
//! preconditions are taken back along the path, of the conditions of the core alone, so that only
//! variables come in that are live and matter (D. Dietsch, M. Heizmann, B. Musa, A. Nutz, A. Podelski,
//! Craig vs. Newton in software model checking, FSE 2017). At each point the complement of what is
//! then demanded is an invariant of the path; its atoms and the whole become predicates. Over an input
//! nothing is taken back: what would depend on it is left out if the rest is enough, and else that
//! the places that it is compared with have the numbers that they have.
//!
//! A condition that is false for numbers alone, without any input, is seen by tracking values: the
//! places that the numbers come from.

use std::sync::Arc;

use parallax_program::{BinaryOp, Bits, Property, UnaryOp};
use parallax_solver::{Node, Term};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::block::{Blocks, Edge, Ending};
use crate::control::Control;
use crate::declarative::execution::Whole;
use crate::declarative::loose::{Loose, needed};
use crate::options::{Domain, Parts, Refinements, Scope};
use crate::oracle::{Model, Oracle, Unanswered, value_in};
use crate::places::{Place, PlaceId};
use crate::project::{conjuncts, without_inputs};
use crate::search::Taken;
use crate::state::{Precision, State};

/// A path through the program, with inputs that are the path's own.
pub struct Path {
    pub edges: Vec<Arc<Edge>>,
    steps: Vec<Step>,
    /// What is in places at each step, over inputs.
    stores: Vec<FxHashMap<Term, Term>>,
    /// How often more was tracked before the state before each step was found.
    known: Vec<u32>,
}

/// A condition of a path over inputs, with its step and its number there.
type Condition = (usize, usize, Term);

/// Conditions of a path that cannot hold together.
struct Core {
    conditions: Vec<Condition>,
    /// The step from which on that is so, whatever is there before it, where that is known.
    begins: Option<usize>,
}

impl Core {
    fn of(conditions: Vec<Condition>) -> Core {
        Core { conditions, begins: None }
    }
}

/// An edge with inputs of its own.
struct Step {
    guard: Vec<Term>,
    writes: Vec<(PlaceId, Term)>,
    inputs: Vec<Term>,
    made: Vec<(PlaceId, Term)>,
    /// Accesses to memory that is no part of the execution.
    loose: Vec<Loose>,
}

/// What is found out about a path.
pub enum Finding {
    Possible(Arc<Model>),
    Refined,
    /// It cannot be taken, and nothing more to track was found.
    Nothing,
}

impl Path {
    pub fn new(blocks: &mut Blocks<'_>, path: Vec<Taken>) -> Path {
        let edges: Vec<Arc<Edge>> = path.iter().map(|taken| taken.edge.clone()).collect();
        let mut store = Self::first(blocks, &edges);
        let mut steps = Vec::new();
        let mut stores = Vec::new();
        for Taken { state, edge, .. } in &path {
            let mut step = Step::of(blocks, edge);
            step.select(blocks, state, &store);
            stores.push(store.clone());
            let mut known = store.clone();
            let terms = &mut blocks.values.terms;
            let writes = step
                .writes
                .iter()
                .map(|(place, term)| (*place, terms.substitute(*term, &mut known)));
            let writes: Vec<(PlaceId, Term)> = writes.collect();
            for (place, term) in writes {
                store.insert(blocks.places.term(place), term);
            }
            steps.push(step);
        }
        let known = path.iter().map(|taken| taken.known).collect();
        Path { edges, steps, stores, known }
    }

    /// What is in the places at first.
    fn first(blocks: &mut Blocks<'_>, edges: &[Arc<Edge>]) -> FxHashMap<Term, Term> {
        let mut store = FxHashMap::default();
        for number in 0..blocks.places.len() as u32 {
            let id = PlaceId(number);
            let term = blocks.places.term(id);
            let is_zero = |control: &Control| match blocks.places.place(id) {
                Place::Memory { address, .. } => control
                    .object(address)
                    .is_some_and(|it| it.zeroed && address - it.address < it.size),
                Place::Local { .. } | Place::Stored { .. } | Place::Written { .. } => false,
            };
            if edges.iter().any(|edge| is_zero(&edge.control)) {
                let width = blocks.values.terms.width(term);
                store.insert(term, blocks.values.number(width, 0));
            } else if let Some(initial) = blocks.initial(id) {
                store.insert(term, initial);
            }
        }
        let (_, writes) = blocks.start();
        for (place, term) in writes {
            store.insert(blocks.places.term(place), term);
        }
        store
    }

    /// What happens to memory on the path, where executions are graphs.
    pub fn whole(&self) -> Whole {
        let mut whole = Whole::default();
        let grown = self.edges.iter().filter_map(|edge| edge.growth.as_ref());
        grown.for_each(|growth| whole.grow(growth));
        whole
    }

    /// Whether somebody has used memory on the path that is no part of the execution.
    pub fn is_loose(&self) -> bool {
        self.steps.iter().any(|step| !step.loose.is_empty())
    }

    /// Of that memory, what the path depends on.
    pub fn needed_memory(&self, blocks: &mut Blocks<'_>) -> Vec<(u64, PlaceId)> {
        let mut inputs: FxHashSet<Term> = FxHashSet::default();
        for (.., condition) in self.conditions(blocks) {
            inputs.extend(blocks.values.terms.support(condition));
        }
        let all: Vec<Loose> = self.steps.iter().flat_map(|step| step.loose.clone()).collect();
        needed(&all, &inputs)
    }

    /// The conditions of the path over inputs, each with its step and its number there.
    fn conditions(&self, blocks: &mut Blocks<'_>) -> Vec<Condition> {
        let mut all = Vec::new();
        for (number, step) in self.steps.iter().enumerate() {
            let mut known = self.stores[number].clone();
            for (place, condition) in step.guard.iter().enumerate() {
                all.push((number, place, blocks.values.terms.substitute(*condition, &mut known)));
            }
        }
        all
    }

    /// The values of the inputs of each step, and of what was made there.
    pub fn inputs(
        &self,
        blocks: &Blocks<'_>,
        model: &Model,
    ) -> Vec<(Vec<Bits>, FxHashMap<PlaceId, Bits>)> {
        let value = |term: Term| value_in(model, &blocks.values.terms, term);
        let step = |step: &Step| {
            let inputs = step.inputs.iter().map(|term| value(*term)).collect();
            (inputs, step.made.iter().map(|(place, term)| (*place, value(*term))).collect())
        };
        self.steps.iter().map(step).collect()
    }

    /// The places that some places at a step get their values from, themselves included.
    fn sources(&self, blocks: &Blocks<'_>, step: usize, places: &[PlaceId]) -> Vec<PlaceId> {
        let mut needed: FxHashSet<PlaceId> = places.iter().copied().collect();
        let mut all = needed.clone();
        for step in self.steps[..step].iter().rev() {
            let mut more = Vec::new();
            for (place, term) in &step.writes {
                if needed.remove(place) {
                    more.extend(places_of(blocks, *term));
                }
            }
            all.extend(more.iter().copied());
            needed.extend(more);
        }
        let mut all: Vec<PlaceId> = all.into_iter().collect();
        all.sort_unstable();
        all
    }
}

impl Step {
    fn of(blocks: &mut Blocks<'_>, edge: &Edge) -> Step {
        let terms = &mut blocks.values.terms;
        let mut own: FxHashMap<Term, Term> = FxHashMap::default();
        let mut rename = |terms: &mut parallax_solver::Terms, term: Term| {
            let width = terms.width(term);
            *own.entry(term).or_insert_with(|| terms.variable(width))
        };
        let inputs = edge.inputs.iter().map(|term| rename(terms, *term)).collect();
        let made = edge.made.iter().map(|(place, term)| (*place, rename(terms, *term))).collect();
        let guard = edge.guard.iter().map(|term| terms.substitute(*term, &mut own)).collect();
        let writes = edge.writes.iter();
        let writes = writes.map(|(place, term)| (*place, terms.substitute(*term, &mut own)));
        let writes = writes.collect();
        let loose = edge.loose.iter().map(|access| Loose {
            places: access.places.clone(),
            input: access.input.map(|term| terms.substitute(term, &mut own)),
        });
        Step { guard, writes, inputs, made, loose: loose.collect() }
    }

    /// Where a place may have one of several values, the state has it that this is one of them.
    fn select(&mut self, blocks: &mut Blocks<'_>, state: &State, store: &FxHashMap<Term, Term>) {
        for (place, bits) in state.values.iter() {
            let own = blocks.places.term(*place);
            let value = store.get(&own).copied().unwrap_or(own);
            if blocks.values.constant_of(value).is_none() {
                let constant = blocks.values.terms.constant(*bits);
                self.guard.push(blocks.values.terms.equals(own, constant));
            }
        }
    }

    fn all_inputs(&self) -> impl Iterator<Item = Term> {
        self.inputs.iter().copied().chain(self.made.iter().map(|(_, term)| *term))
    }
}

fn places_of(blocks: &Blocks<'_>, term: Term) -> Vec<PlaceId> {
    let support = blocks.values.terms.support(term);
    support.into_iter().filter_map(|it| blocks.places.of(it)).collect()
}

pub struct Refinement<'r, 'o, 'p> {
    pub blocks: &'r mut Blocks<'p>,
    pub oracle: &'r mut Oracle<'o>,
    pub precision: &'r mut Precision,
    pub domain: Domain,
    pub way: Refinements,
    pub parts: Parts,
    pub scope: Scope,
    /// Places that are tracked by value whatever it takes, and those that have too many.
    pub pinned: &'r mut FxHashSet<PlaceId>,
    pub banned: &'r FxHashSet<PlaceId>,
    /// The first step of the path before which more has to be known than is.
    pub first: usize,
}

impl Refinement<'_, '_, '_> {
    /// Larger formulas are no predicates as a whole.
    const LARGEST: usize = 40;

    pub fn refine(&mut self, path: &Path) -> Result<Finding, Unanswered> {
        let conditions = path.conditions(self.blocks);
        let terms: Vec<Term> = conditions.iter().map(|(_, _, term)| *term).collect();
        let is_false = |term: &Term| self.blocks.values.is_false(*term);
        if let Some(at) = terms.iter().position(is_false) {
            let (step, number, _) = conditions[at];
            return self.by_numbers(path, step, number);
        }
        if let Some(model) = self.oracle.model(&self.blocks.values.terms, &terms)? {
            return Ok(self.needed(path).unwrap_or(Finding::Possible(model)));
        }
        let nearest = match self.way {
            Refinements::Backward | Refinements::All if self.domain.has_predicates() => {
                self.nearest(path, path.steps.len() - 1)?
            }
            _ => None,
        };
        if let Some(core) = nearest {
            return self.by_conditions(path, &core);
        }
        let core = self.oracle.core(&self.blocks.values.terms, &terms)?.unwrap_or_default();
        let core: Vec<Condition> = core.iter().map(|at| conditions[*at]).collect();
        if !self.domain.has_predicates() {
            let mut adds = false;
            for (step, number, _) in &core {
                let places = places_of(self.blocks, path.steps[*step].guard[*number]);
                adds |= self.track(&path.sources(self.blocks, *step, &places), false);
            }
            return Ok(if adds { Finding::Refined } else { Finding::Nothing });
        }
        self.by_conditions(path, &Core::of(core))
    }

    /// Of the shortest end of the path that cannot be taken from anywhere, conditions that are enough for
    /// that. None where it is the beginning of the program that matters. What is known from there on
    /// alone says more of other paths than numbers that the program begins with.
    fn nearest(&mut self, path: &Path, last: usize) -> Result<Option<Core>, Unanswered> {
        let ends = self.ends(path, last);
        let terms = |end: &[Condition]| end.iter().map(|it| it.2).collect::<Vec<Term>>();
        // Ends that are longer say more: twice as long each time, and then in between.
        let (mut possible, mut length) = (0, 1);
        let mut impossible = loop {
            length = length.min(ends.len());
            let all = terms(&ends[length - 1]);
            match self.oracle.is_possible(&self.blocks.values.terms, &all)? {
                false => break length,
                true if length == ends.len() => return Ok(None),
                true => (possible, length) = (length, length * 2),
            }
        };
        while impossible - possible > 1 {
            let middle = possible + (impossible - possible) / 2;
            let all = terms(&ends[middle - 1]);
            match self.oracle.is_possible(&self.blocks.values.terms, &all)? {
                true => possible = middle,
                false => impossible = middle,
            }
        }
        let end = &ends[impossible - 1];
        let core = self.oracle.core(&self.blocks.values.terms, &terms(end))?.unwrap_or_default();
        let conditions = path.conditions(self.blocks);
        let chosen = core.iter().map(|at| (end[*at].0, end[*at].1));
        let of_path =
            |it: (usize, usize)| conditions.iter().find(|known| (known.0, known.1) == it).copied();
        let conditions = chosen.filter_map(of_path).collect();
        Ok(Some(Core { conditions, begins: Some(last + 1 - impossible) }))
    }

    /// For the ends of the path, the shortest first: the conditions of their steps, over what is in places before
    /// their first one.
    fn ends(&mut self, path: &Path, last: usize) -> Vec<Vec<Condition>> {
        let mut ends: Vec<Vec<Condition>> = Vec::new();
        for number in (0..=last).rev() {
            let step = &path.steps[number];
            let mut before: FxHashMap<Term, Term> = FxHashMap::default();
            for (place, term) in &step.writes {
                before.insert(self.blocks.places.term(*place), *term);
            }
            let mut demanded = ends.last().cloned().unwrap_or_default();
            let terms = &mut self.blocks.values.terms;
            for (.., term) in &mut demanded {
                *term = terms.substitute(*term, &mut before);
            }
            let own = step.guard.iter().enumerate();
            demanded.extend(own.map(|(place, term)| (number, place, *term)));
            ends.push(demanded);
        }
        ends
    }

    /// What an address or the like is made of is tracked by value.
    fn needed(&mut self, path: &Path) -> Option<Finding> {
        let last = path.edges.last()?;
        let Ending::Needs(places) = &last.ending else { return None };
        let sources = path.sources(self.blocks, path.edges.len() - 1, places);
        Some(if self.track(&sources, true) { Finding::Refined } else { Finding::Nothing })
    }

    /// These places are tracked by value. False if all of them are already.
    fn track(&mut self, places: &[PlaceId], pins: bool) -> bool {
        self.first = 0;
        let mut adds = false;
        for place in places {
            if pins {
                adds |= self.pinned.insert(*place);
            } else if self.banned.contains(place) {
                continue;
            }
            adds |= self.precision.values.insert(*place);
        }
        adds
    }

    /// A condition is false by numbers alone.
    fn by_numbers(
        &mut self,
        path: &Path,
        step: usize,
        number: usize,
    ) -> Result<Finding, Unanswered> {
        let condition = path.steps[step].guard[number];
        let places = places_of(self.blocks, condition);
        let sources = path.sources(self.blocks, step, &places);
        let is_own = |place: &PlaceId| {
            matches!(self.blocks.places.place(*place), Place::Local { .. })
                && !self.banned.contains(place)
        };
        let ending = &path.edges[step].ending;
        let is_access = matches!(ending, Ending::Fails { property: Property::Memory, .. });
        // An index that comes from numbers in the program alone: which element it is matters later, too.
        if self.domain.has_values()
            && is_access
            && sources.iter().all(is_own)
            && self.track(&sources, false)
        {
            return Ok(Finding::Refined);
        }
        // Where sizes are compared there are many values, and few of them matter.
        if self.domain.has_values()
            && self.domain.has_predicates()
            && self.compares_sizes(condition)
        {
            let falsity = self.blocks.values.terms.falsity();
            let nearest = self.nearest(path, step)?;
            let found = match nearest {
                Some(core) => self.by_conditions(path, &core)?,
                None => self.by_conditions(path, &Core::of(vec![(step, number, falsity)]))?,
            };
            if matches!(found, Finding::Refined) {
                return Ok(found);
            }
        }
        let is_open = |place: &PlaceId| !self.banned.contains(place);
        if self.domain.has_values() && sources.iter().all(is_open) && self.track(&sources, false) {
            return Ok(Finding::Refined);
        }
        if !self.domain.has_predicates() {
            return Ok(Finding::Nothing);
        }
        let falsity = self.blocks.values.terms.falsity();
        let found = self.by_conditions(path, &Core::of(vec![(step, number, falsity)]))?;
        if matches!(found, Finding::Nothing) && self.track(&sources, false) {
            return Ok(Finding::Refined);
        }
        Ok(found)
    }

    fn compares_sizes(&self, condition: Term) -> bool {
        let mut atoms = Vec::new();
        self.atoms(condition, &mut atoms);
        let terms = &self.blocks.values.terms;
        let compares = |term: &Term| {
            use BinaryOp::{Sle, Slt, Ule, Ult};
            matches!(terms.node(*term), Node::Binary(Ult | Ule | Slt | Sle, ..))
        };
        atoms.iter().any(compares)
    }

    /// Weakest preconditions of the core, from its last condition back.
    fn by_conditions(&mut self, path: &Path, core: &Core) -> Result<Finding, Unanswered> {
        let (core, mut begins) = (&core.conditions[..], core.begins);
        let mut demanded: Vec<Term> = Vec::new();
        // What is to be known behind the step that is looked at.
        let mut wanted: Vec<Term> = Vec::new();
        let mut adds = false;
        let last = core.iter().map(|(step, ..)| *step).max().unwrap_or(0);
        for number in (0..=last).rev() {
            let step = &path.steps[number];
            let mut before: FxHashMap<Term, Term> = FxHashMap::default();
            for (place, term) in &step.writes {
                before.insert(self.blocks.places.term(*place), *term);
            }
            let terms = &mut self.blocks.values.terms;
            demanded.iter_mut().for_each(|term| *term = terms.substitute(*term, &mut before));
            let own = core.iter().filter(|(at, ..)| *at == number);
            demanded.extend(own.map(|(_, place, _)| step.guard[*place]));
            demanded.retain(|term| !self.blocks.values.is_true(*term));
            demanded.sort_unstable();
            demanded.dedup();
            let kept = self.kept(step, core.iter().filter(|(at, ..)| *at == number));
            let both: Vec<Term> = kept.iter().chain(&wanted).copied().collect();
            // What inputs are when they are given may be all that matters of them later.
            let is_enough = !kept.is_empty()
                && !wanted.is_empty()
                && !self.oracle.is_possible(&self.blocks.values.terms, &both)?;
            if !is_enough {
                adds |= self.learn(path, number + 1, &wanted);
            }
            for condition in kept {
                adds |= self.learn_parts(path, number + 1, condition);
            }
            wanted.clear();
            // What comes from here on is not possible from anywhere: there is nothing to know before.
            let is_possible = match begins {
                Some(begins) => number > begins,
                None => self.oracle.is_possible(&self.blocks.values.terms, &demanded)?,
            };
            if !is_possible {
                break;
            }
            let inputs: FxHashSet<Term> = step.all_inputs().collect();
            let before = demanded.clone();
            match self.without(path, number, core, demanded, &inputs, &mut adds)? {
                Some(rest) => demanded = rest,
                None => break,
            }
            if demanded != before {
                // Less may be possible in more places.
                begins = None;
            }
            wanted.clone_from(&demanded);
        }
        adds |= self.learn(path, 0, &wanted);
        Ok(if adds { Finding::Refined } else { Finding::Nothing })
    }

    /// What the conditions of a step say of inputs that places keep: it holds of the places after it.
    fn kept<'c>(&mut self, step: &Step, core: impl Iterator<Item = &'c Condition>) -> Vec<Term> {
        let inputs: FxHashSet<Term> = step.all_inputs().collect();
        let kept = step.writes.iter().filter(|(_, term)| inputs.contains(term));
        let kept: FxHashMap<Term, Term> =
            kept.map(|(place, term)| (*term, self.blocks.places.term(*place))).collect();
        let mut all = Vec::new();
        for (_, place, _) in core {
            let condition = step.guard[*place];
            let terms = &mut self.blocks.values.terms;
            if terms.support(condition).iter().any(|it| kept.contains_key(it)) {
                all.push(terms.substitute(condition, &mut kept.clone()));
            }
        }
        all
    }

    fn learn_parts(&mut self, path: &Path, at: usize, condition: Term) -> bool {
        let mut atoms = Vec::new();
        match self.parts {
            Parts::Both | Parts::Atoms => self.atoms(condition, &mut atoms),
            Parts::Conjuncts => {
                conjuncts(&mut self.blocks.values.terms, condition, true, &mut atoms)
            }
            Parts::Whole => atoms.push(condition),
        }
        let mut adds = false;
        for atom in atoms {
            adds |= self.add(path, at, atom);
        }
        adds
    }

    /// A condition is tracked, and matters before that step. False where it is known there already as far as it
    /// can be.
    fn add(&mut self, path: &Path, at: usize, condition: Term) -> bool {
        let position = match (self.scope, at.checked_sub(1)) {
            (Scope::Global, _) => None,
            (Scope::Local, Some(before)) => path.edges.get(before).map(|it| it.control.position()),
            (Scope::Local, None) => Some(self.blocks.start().0.position()),
        };
        let since = self.precision.add(self.blocks, condition, position);
        let known = path.known.get(at).copied().unwrap_or(u32::MAX);
        let is_new = since.is_some_and(|since| since > known);
        if is_new {
            self.first = self.first.min(at);
        }
        is_new
    }

    /// What is demanded before inputs are given. None where nothing can be said before them.
    fn without(
        &mut self,
        path: &Path,
        number: usize,
        core: &[Condition],
        demanded: Vec<Term>,
        inputs: &FxHashSet<Term>,
        adds: &mut bool,
    ) -> Result<Option<Vec<Term>>, Unanswered> {
        let terms = &self.blocks.values.terms;
        let is_free = |term: &Term| !terms.support(*term).iter().any(|it| inputs.contains(it));
        if demanded.iter().all(is_free) {
            return Ok(Some(demanded));
        }
        let (rest, with): (Vec<Term>, Vec<Term>) = demanded.iter().copied().partition(is_free);
        let mut known = path.stores[number].clone();
        let terms = &mut self.blocks.values.terms;
        let here = rest.iter().map(|term| terms.substitute(*term, &mut known));
        let here: Vec<Term> = here.collect();
        let earlier = core.iter().filter(|(at, ..)| *at < number).map(|(_, _, term)| *term);
        let all: Vec<Term> = here.into_iter().chain(earlier).collect();
        if !rest.is_empty() && !self.oracle.is_possible(&self.blocks.values.terms, &all)? {
            return Ok(Some(rest));
        }
        let earlier = all[rest.len()..].to_vec();
        if let Some(found) = self.projected(&path.stores[number], &earlier, &demanded, inputs)? {
            return Ok(Some(found));
        }
        let places: Vec<PlaceId> =
            with.iter().chain(&rest).flat_map(|it| places_of(self.blocks, *it)).collect();
        let mut tracked = Vec::new();
        for place in places {
            let own = self.blocks.places.term(place);
            let value = known.get(&own).copied().unwrap_or(own);
            if self.blocks.values.constant_of(value).is_some() {
                tracked.push(place);
            }
        }
        tracked.sort_unstable();
        tracked.dedup();
        let sources = path.sources(self.blocks, number, &tracked);
        *adds |= self.learn_numbers(path, number, &sources);
        if !*adds && sources.iter().all(|place| !self.banned.contains(place)) {
            *adds |= self.track(&sources, false);
        }
        Ok(None)
    }

    /// What is demanded, as far as it says something without inputs. None where that is not enough.
    fn projected(
        &mut self,
        store: &FxHashMap<Term, Term>,
        earlier: &[Term],
        demanded: &[Term],
        inputs: &FxHashSet<Term>,
    ) -> Result<Option<Vec<Term>>, Unanswered> {
        let terms = &mut self.blocks.values.terms;
        let found = without_inputs(terms, demanded, inputs);
        let mut known = store.clone();
        let here = found.iter().map(|term| terms.substitute(*term, &mut known));
        let all: Vec<Term> = here.chain(earlier.iter().copied()).collect();
        let core = self.oracle.core(&self.blocks.values.terms, &all)?;
        Ok(core.map(|core| core.iter().filter_map(|at| found.get(*at).copied()).collect()))
    }

    /// That places have the numbers that they have on the path, where these are few. False where nothing
    /// is new.
    fn learn_numbers(&mut self, path: &Path, until: usize, places: &[PlaceId]) -> bool {
        const MOST: usize = 3;
        let mut adds = false;
        for place in places {
            let own = self.blocks.places.term(*place);
            let mut numbers: Vec<Term> = Vec::new();
            for store in &path.stores[..=until] {
                let value =
                    store.get(&own).filter(|it| self.blocks.values.constant_of(**it).is_some());
                numbers.extend(value.filter(|it| !numbers.contains(it)));
            }
            if numbers.len() > MOST {
                continue;
            }
            for number in numbers {
                let is_it = self.blocks.values.terms.equals(own, number);
                adds |= self.add(path, 0, is_it);
            }
        }
        adds
    }

    /// What is demanded, and each of its parts, become predicates.
    fn learn(&mut self, path: &Path, at: usize, demanded: &[Term]) -> bool {
        let mut adds = false;
        let mut whole: Option<Term> = None;
        let is_whole = |size: usize| size <= Self::LARGEST;
        let splits =
            self.parts != Parts::Whole || !is_whole(demanded.iter().map(|it| self.size(*it)).sum());
        for term in demanded {
            if splits {
                adds |= self.learn_parts(path, at, *term);
            }
            let terms = &mut self.blocks.values.terms;
            whole = Some(whole.map_or(*term, |rest| terms.and(rest, *term)));
        }
        let wants_whole = matches!(self.parts, Parts::Both | Parts::Whole);
        if let Some(whole) = whole.filter(|whole| wants_whole && is_whole(self.size(*whole))) {
            adds |= self.add(path, at, whole);
        }
        adds
    }

    /// Whether conditions are tracked in long rows that differ in numbers alone: those of one loop that goes
    /// round once more each time, which has no end.
    pub fn is_in_rows(&self, new: usize) -> bool {
        const LONG: usize = 4;
        let mut rows: FxHashMap<u64, usize> = FxHashMap::default();
        let mut is_long = false;
        for (number, predicate) in self.precision.predicates.iter().enumerate() {
            let row = rows.entry(self.shape(predicate.term)).or_default();
            *row += 1;
            is_long |= number >= new && *row >= LONG;
        }
        is_long
    }

    /// A number that terms share which differ in numbers alone.
    fn shape(&self, term: Term) -> u64 {
        use std::hash::{Hash, Hasher};
        let terms = &self.blocks.values.terms;
        let mut hasher = rustc_hash::FxHasher::default();
        let mut open = vec![term];
        while let Some(next) = open.pop() {
            let node = terms.node(next);
            match node {
                Node::Constant(bits) => bits.width().hash(&mut hasher),
                Node::Variable { .. } => next.hash(&mut hasher),
                Node::Unary(op, _) => op.hash(&mut hasher),
                Node::Binary(op, ..) => op.hash(&mut hasher),
                _ => std::mem::discriminant(&node).hash(&mut hasher),
            }
            terms.operands(&node, |operand| open.push(operand));
        }
        hasher.finish()
    }

    /// Where places get what others hold, that they are equal; and what is asked on the way of places that the last
    /// condition depends on. So conditions on one are conditions on the other.
    pub fn learn_copies(&mut self, path: &Path) -> bool {
        let Some(last) = path.steps.len().checked_sub(1) else { return false };
        let guard = path.steps[last].guard.iter().flat_map(|term| places_of(self.blocks, *term));
        let guard: Vec<PlaceId> = guard.collect();
        let sources: FxHashSet<PlaceId> =
            path.sources(self.blocks, last, &guard).into_iter().collect();
        let mut adds = false;
        for step in &path.steps {
            for (place, term) in &step.writes {
                let from = self.blocks.places.of(*term).filter(|from| from != place);
                if from.is_some_and(|from| sources.contains(&from)) {
                    let own = self.blocks.places.term(*place);
                    let is_it = self.blocks.values.terms.equals(own, *term);
                    adds |= self.add(path, 0, is_it);
                }
            }
        }
        adds
    }

    /// Where the conditions that are enough have not led to anything new: all of them.
    pub fn learn_all(&mut self, path: &Path) -> Result<bool, Unanswered> {
        if !self.domain.has_predicates() {
            return Ok(false);
        }
        let conditions = path.conditions(self.blocks);
        Ok(matches!(self.by_conditions(path, &Core::of(conditions))?, Finding::Refined))
    }

    fn size(&self, term: Term) -> usize {
        let mut seen = FxHashSet::default();
        let mut open = vec![term];
        while let Some(next) = open.pop() {
            if seen.insert(next) && seen.len() <= Self::LARGEST {
                let node = self.blocks.values.terms.node(next);
                self.blocks.values.terms.operands(&node, |operand| open.push(operand));
            }
        }
        seen.len()
    }

    fn atoms(&self, term: Term, atoms: &mut Vec<Term>) {
        let terms = &self.blocks.values.terms;
        match terms.node(term) {
            Node::Unary(UnaryOp::Not, inner) => self.atoms(inner, atoms),
            Node::Binary(BinaryOp::And | BinaryOp::Or, left, right) if terms.width(term) == 1 => {
                self.atoms(left, atoms);
                self.atoms(right, atoms);
            }
            Node::Select { condition, then, otherwise } if terms.width(term) == 1 => {
                self.atoms(condition, atoms);
                self.atoms(then, atoms);
                self.atoms(otherwise, atoms);
            }
            Node::Constant(_) => {}
            _ => atoms.push(term),
        }
    }
}
