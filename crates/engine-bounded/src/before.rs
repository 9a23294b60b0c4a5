//! What comes before what, for models that do not say it: an event comes before those that follow
//! it in program order, and before the reads of what it writes, directly or through others.
//!
//! Under `sc` only atomic accesses tell of one another, as races are errors of the language and
//! not of the machine.

use rustc_hash::FxHashMap;

use parallax_solver::Literal;

use crate::encoding::Encoding;

/// Literals that hold wherever one event comes before another. Made on demand.
pub struct Before {
    rows: FxHashMap<usize, Vec<Literal>>,
    /// Whether only atomic accesses count.
    atomics: bool,
    /// The events of each thread that models see, in order.
    threads: Vec<Vec<usize>>,
}

impl Before {
    pub fn new(encoding: &Encoding, atomics: bool) -> Before {
        let events = &encoding.structure.events;
        let count = events.iter().filter_map(|event| event.thread).max().map_or(0, |t| t + 1);
        let mut threads = vec![Vec::new(); count as usize];
        for (number, event) in events.iter().enumerate() {
            if let Some(thread) = event.thread.filter(|_| event.kind.is_visible()) {
                threads[thread as usize].push(number);
            }
        }
        Before { rows: FxHashMap::default(), atomics, threads }
    }

    /// Holds at least where both events happen and the first comes before the second.
    pub fn pair(&mut self, encoding: &mut Encoding, from: usize, to: usize) -> Literal {
        if !self.rows.contains_key(&from) {
            let row = self.row(encoding, from);
            self.rows.insert(from, row);
        }
        let row = self.rows.get(&from);
        row.and_then(|row| row.get(to)).copied().unwrap_or(Literal::FALSE)
    }

    fn row(&self, encoding: &mut Encoding, from: usize) -> Vec<Literal> {
        let Encoding { circuit, structure, communication, .. } = encoding;
        let count = structure.events.len();
        let mut row: Vec<Literal> = Vec::with_capacity(count);
        for to in 0..count {
            let event = &structure.events[to];
            row.push(match () {
                () if structure.is_initial(to) || !event.kind.is_visible() => Literal::FALSE,
                () if event.thread == structure.events[from].thread => {
                    Literal::constant(structure.in_program_order(from, to))
                }
                () => circuit.fresh(),
            });
        }
        for thread in &self.threads {
            for pair in thread.windows(2) {
                circuit.clause(&[!row[pair[0]], row[pair[1]]]);
            }
        }
        let is_atomic = |event: usize| structure.events[event].tags.tags.contains("A");
        for (read, sources) in communication.sources.iter().enumerate() {
            for (write, takes) in sources {
                let counts = !self.atomics || is_atomic(*write) && is_atomic(read);
                if counts && !structure.is_initial(*write) {
                    let told = if *write == from { Literal::TRUE } else { row[*write] };
                    circuit.clause(&[!*takes, !told, row[read]]);
                }
            }
        }
        row
    }
}
