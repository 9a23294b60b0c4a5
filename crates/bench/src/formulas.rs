//! Families of satisfiability problems that grow with a parameter.

use parallax_program::{BinaryOp, Bits};
use parallax_solver::{Answer, Blaster, Gates, Literal, Order, Solver, Terms};

pub struct Formulas {
    pub name: &'static str,
    pub sizes: &'static [usize],
    /// Puts the problem into a solver, and gives its answer.
    pub encode: fn(usize, &mut dyn Solver) -> Answer,
}

pub const FORMULA_FAMILIES: [Formulas; 7] = [
    Formulas { name: "nobody-first", sizes: &[6, 8, 10, 12], encode: nobody_first },
    Formulas { name: "stale-ring", sizes: &[4, 8, 16, 24, 32], encode: stale_ring },
    Formulas { name: "fresh-ring", sizes: &[4, 8, 12, 16, 24], encode: fresh_ring },
    Formulas { name: "long-threads", sizes: &[50, 100, 200, 300], encode: long_threads },
    Formulas { name: "two-readers", sizes: &[4, 8, 16, 24, 32], encode: two_readers },
    Formulas { name: "increments", sizes: &[3, 4, 5, 6, 7, 8], encode: increments },
    Formulas { name: "square", sizes: &[4, 5, 6, 7], encode: square },
];

/// A total order in which everything has something before it.
fn nobody_first(count: usize, solver: &mut dyn Solver) -> Answer {
    let order = solver.order(count);
    let before = total_order(order, &(0..count as u32).collect::<Vec<_>>(), solver);
    for (a, after) in before.iter().enumerate() {
        let others = after.iter().enumerate().filter(|&(b, _)| b != a);
        solver.clause(&others.map(|(_, &first)| !first).collect::<Vec<_>>());
    }
    Answer::Unsatisfiable
}

fn total_order(order: Order, nodes: &[u32], solver: &mut dyn Solver) -> Vec<Vec<Literal>> {
    let mut before = vec![vec![Literal::FALSE; nodes.len()]; nodes.len()];
    for a in 0..nodes.len() {
        for b in a + 1..nodes.len() {
            let literal = solver.literal();
            solver.edge(order, nodes[a], nodes[b], literal);
            solver.edge(order, nodes[b], nodes[a], !literal);
            (before[a][b], before[b][a]) = (literal, !literal);
        }
    }
    before
}

/// Threads that write to and read from memory one after the other, under sequential consistency.
struct Execution<'a> {
    solver: &'a mut dyn Solver,
    gates: Gates,
    order: Order,
    nodes: u32,
    /// For each location, its writes (the initial one first) and its reads.
    writes: Vec<Vec<u32>>,
    reads: Vec<Vec<u32>>,
}

impl<'a> Execution<'a> {
    fn new(locations: usize, solver: &'a mut dyn Solver) -> Execution<'a> {
        let order = solver.order(locations);
        Execution {
            solver,
            gates: Gates::default(),
            order,
            nodes: locations as u32,
            writes: (0..locations as u32).map(|node| vec![node]).collect(),
            reads: vec![Vec::new(); locations],
        }
    }

    /// The next event of a thread whose last one is known.
    fn event(&mut self, last: Option<u32>) -> u32 {
        let node = self.nodes;
        self.nodes += 1;
        if let Some(last) = last {
            self.solver.edge(self.order, last, node, Literal::TRUE);
        }
        node
    }

    fn write(&mut self, last: Option<u32>, location: usize) -> u32 {
        let node = self.event(last);
        self.writes[location].push(node);
        node
    }

    fn read(&mut self, last: Option<u32>, location: usize) -> u32 {
        let node = self.event(last);
        self.reads[location].push(node);
        node
    }

    /// For each location and each of its reads, the literals that say where it reads from.
    fn finish(&mut self) -> Vec<Vec<Vec<Literal>>> {
        let mut sources = Vec::new();
        for location in 0..self.writes.len() {
            let (writes, reads) = (&self.writes[location], &self.reads[location]);
            let before = total_order(self.order, writes, self.solver);
            for other in &before[0][1..] {
                self.solver.clause(&[*other]);
            }
            let mut here = Vec::new();
            for &read in reads {
                let from: Vec<Literal> = writes.iter().map(|_| self.solver.literal()).collect();
                self.gates.exactly_one(&from, self.solver);
                for (later, &write) in writes.iter().enumerate() {
                    self.solver.edge(self.order, write, read, from[later]);
                    // One edge for all the sources that the write may come after.
                    let mut over = Vec::new();
                    for (index, &source) in from.iter().enumerate().filter(|&(i, _)| i != later) {
                        over.push(self.gates.and(&[source, before[index][later]], self.solver));
                    }
                    let over = self.gates.or(&over, self.solver);
                    self.solver.edge(self.order, read, write, over);
                }
                here.push(from);
            }
            sources.push(here);
        }
        sources
    }
}

/// Threads in a ring write twice and then read what their neighbour writes: at least one of them
/// sees a write.
fn ring(threads: usize, solver: &mut dyn Solver) -> Vec<Vec<Vec<Literal>>> {
    let mut execution = Execution::new(threads, solver);
    for thread in 0..threads {
        let mut last = None;
        for _ in 0..2 {
            last = Some(execution.write(last, thread));
            last = Some(execution.read(last, (thread + 1) % threads));
        }
    }
    execution.finish()
}

fn stale_ring(threads: usize, solver: &mut dyn Solver) -> Answer {
    let sources = ring(threads, solver);
    for reads in sources {
        for from in reads {
            // From before the last write.
            solver.clause(&from[..from.len() - 1]);
        }
    }
    Answer::Unsatisfiable
}

fn fresh_ring(threads: usize, solver: &mut dyn Solver) -> Answer {
    let sources = ring(threads, solver);
    for reads in &sources[1..] {
        for from in reads {
            solver.clause(&from[..from.len() - 1]);
        }
    }
    Answer::Satisfiable
}

/// Four threads with many events on three locations.
fn long_threads(events: usize, solver: &mut dyn Solver) -> Answer {
    threads(events, solver);
    Answer::Satisfiable
}

/// Threads write once each to one location, and two more see all writes: in the same order.
fn two_readers(count: usize, solver: &mut dyn Solver) -> Answer {
    let mut execution = Execution::new(1, solver);
    for _ in 0..count {
        execution.write(None, 0);
    }
    for _ in 0..2 {
        let mut last = None;
        for _ in 0..count {
            last = Some(execution.read(last, 0));
        }
    }
    let sources = execution.finish();
    let (one, other) = sources[0].split_at(count);
    let mut differ = Vec::new();
    for write in 0..count {
        solver.clause(&[one[write][write + 1]]);
        let seen: Vec<Literal> = other.iter().map(|from| from[write + 1]).collect();
        solver.clause(&seen);
        differ.push(!other[write][write + 1]);
    }
    solver.clause(&differ);
    Answer::Unsatisfiable
}

fn threads(events: usize, solver: &mut dyn Solver) -> Vec<Vec<Vec<Literal>>> {
    let mut execution = Execution::new(3, solver);
    for thread in 0..4 {
        let mut last = None;
        for event in 0..events / 4 {
            let location = (thread * 7 + event * 5) % 3;
            last = Some(match (thread + event) % 3 {
                0 => execution.write(last, location),
                _ => execution.read(last, location),
            });
        }
    }
    execution.finish()
}

/// Threads that each add one to a counter, in one step: none of them is lost.
fn increments(count: usize, solver: &mut dyn Solver) -> Answer {
    const WIDTH: u32 = 8;
    let (mut terms, mut blaster) = (Terms::new(), Blaster::new());
    let mut execution = Execution::new(1, solver);
    let mut values = vec![terms.constant(Bits::zero(WIDTH))];
    let mut read_values = Vec::new();
    let one = terms.constant(Bits::new(WIDTH, 1));
    for _ in 0..count {
        let read = execution.read(None, 0);
        execution.write(Some(read), 0);
        let value = terms.variable(WIDTH);
        read_values.push(value);
        values.push(terms.binary(BinaryOp::Add, value, one));
    }
    let sources = execution.finish();
    for (thread, from) in sources[0].iter().enumerate() {
        for (index, &source) in from.iter().enumerate() {
            let same = terms.equals(read_values[thread], values[index]);
            let same = blaster.literal_of(&terms, same, solver);
            solver.clause(&[!source, same]);
            // Nobody else reads from the same write.
            for other in &sources[0][..thread] {
                solver.clause(&[!source, !other[index]]);
            }
        }
    }
    let end = terms.constant(Bits::new(WIDTH, count as u128));
    for &value in &values {
        let reached = terms.equals(value, end);
        let reached = blaster.literal_of(&terms, reached, solver);
        solver.clause(&[!reached]);
    }
    Answer::Unsatisfiable
}

/// `(x + y)² = x² + 2xy + y²`.
fn square(width: usize, solver: &mut dyn Solver) -> Answer {
    let mut terms = Terms::new();
    let (x, y) = (terms.variable(width as u32), terms.variable(width as u32));
    let sum = terms.binary(BinaryOp::Add, x, y);
    let left = terms.binary(BinaryOp::Mul, sum, sum);
    let product = terms.binary(BinaryOp::Mul, x, y);
    let twice = terms.binary(BinaryOp::Add, product, product);
    let (xx, yy) = (terms.binary(BinaryOp::Mul, x, x), terms.binary(BinaryOp::Mul, y, y));
    let right = terms.binary(BinaryOp::Add, xx, twice);
    let right = terms.binary(BinaryOp::Add, right, yy);
    let differ = terms.binary(BinaryOp::Ne, left, right);
    let differ = Blaster::new().literal_of(&terms, differ, solver);
    solver.clause(&[differ]);
    Answer::Unsatisfiable
}
