//! Where reads get their values and in which order writes come, as literals.

use rustc_hash::FxHashMap;

use parallax_memory::Model;
use parallax_solver::Literal;

use crate::circuit::Circuit;
use crate::structure::Structure;
use crate::watch::Watch;

/// Literals of pairs of events.
pub type Pairs = FxHashMap<(usize, usize), Literal>;

/// Choices of an execution.
pub struct Communication {
    /// For each read its possible sources.
    pub sources: Vec<Vec<(usize, Literal)>>,
    /// Whether the first write comes before the second, given that both happen.
    pub order: Pairs,
    /// Whether two accesses are to the same bytes, given that both happen.
    pub same_place: Pairs,
}

impl Communication {
    /// Where the watch ends it, what is made is of no use.
    pub fn new(
        structure: &Structure,
        executed: &[Literal],
        model: &Model,
        circuit: &mut Circuit,
        watch: &Watch<'_>,
    ) -> Communication {
        let coherent = model.implies_coherence();
        let mut builder = Builder { structure, executed, coherent, circuit, watch };
        let same_place = builder.same_place();
        let sources = builder.sources(&same_place);
        let order = builder.order(&same_place);
        if !model.implies_order_of_writes() {
            builder.keep_acyclic(&order);
        }
        Communication { sources, order, same_place }
    }

    /// For those who order writes in their own way, and keep each location coherent.
    pub fn unordered(
        structure: &Structure,
        executed: &[Literal],
        circuit: &mut Circuit,
        watch: &Watch<'_>,
    ) -> Communication {
        let mut builder = Builder { structure, executed, coherent: true, circuit, watch };
        let same_place = builder.same_place();
        let sources = builder.sources(&same_place);
        Communication { sources, order: Pairs::default(), same_place }
    }
}

struct Builder<'a> {
    structure: &'a Structure,
    executed: &'a [Literal],
    /// Whether the model keeps each location coherent: then much is decided by program order.
    coherent: bool,
    circuit: &'a mut Circuit,
    watch: &'a Watch<'a>,
}

impl Builder<'_> {
    fn same_place(&mut self) -> Pairs {
        let structure = self.structure;
        let mut pairs = Pairs::default();
        let accesses: Vec<usize> =
            (0..structure.events.len()).filter(|e| structure.events[*e].kind.is_access()).collect();
        for (position, a) in accesses.iter().enumerate() {
            for b in &accesses[position..] {
                if self.watch.is_over() {
                    return pairs;
                }
                if !structure.may_meet(*a, *b) || !structure.facts.together.contains(*a, *b) {
                    continue;
                }
                let literal = match structure.must_meet(*a, *b) {
                    true => Literal::TRUE,
                    false => self.equal_addresses(*a, *b),
                };
                pairs.insert((*a, *b), literal);
                pairs.insert((*b, *a), literal);
            }
        }
        pairs
    }

    fn equal_addresses(&mut self, a: usize, b: usize) -> Literal {
        let [first, second] = [a, b].map(|event| self.structure.events[event].address);
        let terms = &mut self.circuit.terms;
        let width = terms.width(first).max(terms.width(second));
        let (first, second) = (terms.zero_extend(first, width), terms.zero_extend(second, width));
        let equal = terms.equals(first, second);
        self.circuit.literal(equal)
    }

    /// Every read that happens has exactly one source, of the same bytes and the same value.
    fn sources(&mut self, same_place: &Pairs) -> Vec<Vec<(usize, Literal)>> {
        let mut all = vec![Vec::new(); self.structure.events.len()];
        for (read, sources) in all.iter_mut().enumerate().take(self.structure.initials) {
            let event = &self.structure.events[read];
            let Some(value) = event.kind.value().filter(|_| event.kind.is_read()) else {
                continue;
            };
            if self.watch.is_over() {
                break;
            }
            let writes = self.candidates(read);
            let happens = self.executed[read];
            let mut literals = Vec::new();
            for write in &writes {
                let takes = if writes.len() == 1 { happens } else { self.circuit.fresh() };
                let same = same_place.get(&(*write, read)).copied().unwrap_or(Literal::FALSE);
                self.circuit.clause(&[!takes, happens]);
                self.circuit.clause(&[!takes, self.executed[*write]]);
                self.circuit.clause(&[!takes, same]);
                if let Some(found) = self.structure.found(read, *write, &mut self.circuit.terms) {
                    self.circuit.equal_where(takes, value, found);
                }
                literals.push(takes);
                sources.push((*write, takes));
            }
            if literals.len() > 1 {
                self.circuit.at_most_one(&literals);
            }
            literals.push(!happens);
            self.circuit.clause(&literals);
        }
        all
    }

    /// The writes that a read may take its value from.
    fn candidates(&self, read: usize) -> Vec<usize> {
        let structure = self.structure;
        let hiding: Vec<usize> = match self.coherent {
            true => (0..read).filter(|write| self.hides(*write, read)).collect(),
            false => Vec::new(),
        };
        let may = |write: &usize| {
            structure.events[*write].kind.is_write()
                && structure.may_meet(*write, read)
                && structure.facts.together.contains(*write, read)
                && !(self.coherent && structure.in_program_order(read, *write))
                && !hiding.iter().any(|last| {
                    structure.is_initial(*write) || structure.in_program_order(*write, *last)
                })
        };
        (0..structure.events.len()).filter(may).collect()
    }

    /// Whether a thread's own write comes between all that was before it and a read.
    fn hides(&self, write: usize, read: usize) -> bool {
        let structure = self.structure;
        structure.events[write].kind.is_write()
            && structure.in_program_order(write, read)
            && structure.must_meet(write, read)
            && structure.facts.implies.contains(read, write)
    }

    /// The writes of a location are in one order, the initial one first.
    fn order(&mut self, same_place: &Pairs) -> Pairs {
        let structure = self.structure;
        let n = structure.events.len();
        let writes: Vec<usize> = (0..n).filter(|e| structure.events[*e].kind.is_write()).collect();
        let mut order = Pairs::default();
        for (position, a) in writes.iter().enumerate() {
            if self.watch.is_over() {
                break;
            }
            for b in &writes[position + 1..] {
                let Some(same) = same_place.get(&(*a, *b)).copied() else {
                    continue;
                };
                let before = match (structure.is_initial(*a), structure.is_initial(*b)) {
                    (true, true) => continue,
                    (true, false) => Literal::TRUE,
                    (false, true) => Literal::FALSE,
                    _ if self.coherent && structure.in_program_order(*a, *b) => Literal::TRUE,
                    _ => self.circuit.fresh(),
                };
                let (forth, back) =
                    (self.circuit.and(&[same, before]), self.circuit.and(&[same, !before]));
                order.insert((*a, *b), forth);
                order.insert((*b, *a), back);
            }
        }
        order
    }

    fn keep_acyclic(&mut self, pairs: &Pairs) {
        let order = self.circuit.order(self.structure.events.len());
        let mut sorted: Vec<_> = pairs.iter().map(|(pair, literal)| (*pair, *literal)).collect();
        sorted.sort_unstable_by_key(|(pair, _)| *pair);
        for ((from, to), before) in sorted {
            let when = self.circuit.and(&[before, self.executed[from], self.executed[to]]);
            self.circuit.edge(order, from, to, when);
        }
    }
}
