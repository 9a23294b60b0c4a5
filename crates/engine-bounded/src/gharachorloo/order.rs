//! The order of sub-operations.
//!
//! Only conflicting sub-operations on the same copy are ever compared. A read is on the copy of its
//! own processor, so there it is before or after each write. Two writes are in the same order
//! on every copy: by the uniprocessor condition if they are of one processor, by coherence
//! otherwise; so one literal says it for all copies.

use rustc_hash::FxHashMap;

use parallax_solver::Literal;

use super::Setting;
use crate::communication::Pairs;

/// The order *xo*.
pub struct ExecutionOrder {
    /// For two accesses that conflict: whether the first comes before the second on each copy that
    /// has both, given that both happen and that they are to the same place.
    before: Pairs,
}

impl ExecutionOrder {
    pub fn new(setting: &mut Setting<'_>) -> ExecutionOrder {
        let structure = setting.structure;
        let mut meeting: Vec<(usize, usize)> = setting.same_place.keys().copied().collect();
        meeting.retain(|(a, b)| a < b && (setting.is_write(*a) || setting.is_write(*b)));
        meeting.sort_unstable();
        let mut before = Pairs::default();
        for (a, b) in meeting {
            let first = match (structure.is_initial(a), structure.is_initial(b)) {
                (true, true) => continue,
                (true, false) => Literal::TRUE,
                (false, true) => Literal::FALSE,
                // Uniprocessor: what a processor writes comes after its accesses before.
                _ if structure.in_program_order(a, b) && setting.is_write(b) => Literal::TRUE,
                _ => setting.circuit.fresh(),
            };
            before.insert((a, b), first);
            before.insert((b, a), !first);
        }
        let order = ExecutionOrder { before };
        order.keep_total(setting);
        order
    }

    /// Whether an access comes before another that it conflicts with.
    pub fn before(&self, a: usize, b: usize) -> Literal {
        self.before.get(&(a, b)).copied().unwrap_or(Literal::FALSE)
    }

    /// Whether both happen, conflict, and come in this order.
    pub fn ordered(&self, setting: &mut Setting<'_>, a: usize, b: usize) -> Literal {
        let same = setting.meet(a, b).unwrap_or(Literal::FALSE);
        let parts = [self.before(a, b), same, setting.executed[a], setting.executed[b]];
        setting.circuit.and(&parts)
    }

    /// The pairs of accesses of threads that may conflict, in order.
    pub fn conflicts(&self, setting: &Setting<'_>) -> Vec<(usize, usize)> {
        let initials = setting.structure.initials;
        let all = self.before.keys().copied();
        let mut all: Vec<(usize, usize)> = all.filter(|(a, b)| (*a).max(*b) < initials).collect();
        all.sort_unstable();
        all
    }

    /// The order of writes, as the other framework has it.
    pub fn of_writes(&self, setting: &mut Setting<'_>) -> Pairs {
        let mut writes = Pairs::default();
        for ((a, b), before) in &self.before {
            if setting.is_write(*a) && setting.is_write(*b) {
                let same = setting.meet(*a, *b).unwrap_or(Literal::FALSE);
                writes.insert((*a, *b), setting.circuit.and(&[*before, same]));
            }
        }
        writes
    }

    /// On each copy, the sub-operations fit into one order. The reads of a processor from one
    /// place stay in program order: what the first has seen, the second sees as well.
    fn keep_total(&self, setting: &mut Setting<'_>) {
        let copies = Copies::new(setting);
        let order = setting.circuit.order(copies.count);
        for (a, b) in self.conflicts(setting) {
            let when = self.ordered(setting, a, b);
            for copy in copies.of_pair(setting, a, b) {
                setting.circuit.edge(order, copies.node(a, copy), copies.node(b, copy), when);
            }
        }
        let reads: Vec<usize> =
            setting.accesses().into_iter().filter(|event| setting.is_read(*event)).collect();
        for (position, a) in reads.iter().enumerate() {
            for b in &reads[position + 1..] {
                let same = setting.meet(*a, *b);
                let Some(same) = same.filter(|_| setting.structure.in_program_order(*a, *b)) else {
                    continue;
                };
                let parts = [same, setting.executed[*a], setting.executed[*b]];
                let when = setting.circuit.and(&parts);
                let own = setting.thread(*a).unwrap_or(0);
                setting.circuit.edge(order, copies.node(*a, own), copies.node(*b, own), when);
            }
        }
    }
}

/// The sub-operations, numbered.
struct Copies {
    numbers: FxHashMap<(usize, u32), usize>,
    count: usize,
    /// For each place that is written, the processors that read it.
    readers: FxHashMap<u64, Vec<u32>>,
}

impl Copies {
    fn new(setting: &Setting<'_>) -> Copies {
        let accesses = setting.accesses();
        let mut readers: FxHashMap<u64, Vec<u32>> = FxHashMap::default();
        let mut processors: Vec<u32> = Vec::new();
        for event in &accesses {
            let Some(thread) = setting.thread(*event) else { continue };
            processors.push(thread);
            if setting.is_read(*event) {
                for place in &setting.structure.places[*event] {
                    readers.entry(*place).or_default().push(thread);
                }
            }
        }
        for of_place in readers.values_mut() {
            of_place.sort_unstable();
            of_place.dedup();
        }
        processors.sort_unstable();
        processors.dedup();
        let mut numbers = FxHashMap::default();
        for event in accesses {
            let own = setting.thread(event);
            let copies =
                processors.iter().filter(|copy| setting.is_write(event) || own == Some(**copy));
            for copy in copies {
                let number = numbers.len();
                numbers.insert((event, *copy), number);
            }
        }
        Copies { count: numbers.len(), numbers, readers }
    }

    fn node(&self, event: usize, copy: u32) -> usize {
        self.numbers.get(&(event, copy)).copied().unwrap_or(0)
    }

    /// The copies on which two conflicting accesses are compared. For two writes those on which
    /// nobody reads are left out: they are like any other.
    fn of_pair(&self, setting: &Setting<'_>, a: usize, b: usize) -> Vec<u32> {
        if let Some(read) = [a, b].into_iter().find(|event| setting.is_read(*event)) {
            return setting.thread(read).into_iter().collect();
        }
        let places = &setting.structure.places;
        let shared = places[a].iter().filter(|place| places[b].contains(place));
        let reading = shared.filter_map(|place| self.readers.get(place)).flatten().copied();
        let mut copies: Vec<u32> = reading.chain(setting.thread(a.min(b))).collect();
        copies.sort_unstable();
        copies.dedup();
        copies
    }
}
