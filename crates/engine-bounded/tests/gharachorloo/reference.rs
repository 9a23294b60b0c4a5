//! Executions by sub-operations as K. Gharachorloo's dissertation (Stanford 1995) and P.
//! Maleehuan's (JAIST 2018) define them, in the slowest way: every order of all sub-operations is
//! tried, and each condition is looked at as it is printed.

use std::collections::BTreeSet;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operation {
    Read(usize),
    Write(usize, u8),
    /// Reads the old value and writes this one.
    Swap(usize, u8),
    Fence,
    StoreFence,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Memory {
    Sc,
    Tso,
    Pso,
}

struct Access {
    processor: usize,
    /// Its place in program order.
    at: usize,
    location: usize,
    /// None for reads.
    written: Option<u8>,
    is_atomic: bool,
}

/// One processor's operations each.
pub struct Program {
    threads: Vec<Vec<Operation>>,
    accesses: Vec<Access>,
    /// Accesses and the copies that they act on.
    parts: Vec<(usize, usize)>,
}

impl Program {
    pub fn new(threads: &[Vec<Operation>]) -> Program {
        let mut accesses = Vec::new();
        for (processor, operations) in threads.iter().enumerate() {
            for (number, operation) in operations.iter().enumerate() {
                let access = |half, location, written, is_atomic| {
                    let at = number * 2 + half;
                    Access { processor, at, location, written, is_atomic }
                };
                match *operation {
                    Operation::Read(location) => accesses.push(access(0, location, None, false)),
                    Operation::Write(location, value) => {
                        accesses.push(access(0, location, Some(value), false));
                    }
                    Operation::Swap(location, value) => {
                        accesses.push(access(0, location, None, true));
                        accesses.push(access(1, location, Some(value), true));
                    }
                    Operation::Fence | Operation::StoreFence => {}
                }
            }
        }
        let mut parts = Vec::new();
        for (number, access) in accesses.iter().enumerate() {
            let copies = (0..threads.len())
                .filter(|copy| access.written.is_some() || *copy == access.processor);
            parts.extend(copies.map(|copy| (number, copy)));
        }
        Program { threads: threads.to_vec(), accesses, parts }
    }

    pub fn sub_operations(&self) -> usize {
        self.parts.len()
    }

    /// What the reads can return together, thread by thread.
    pub fn outcomes(&self, memory: Memory) -> BTreeSet<Vec<u8>> {
        let mut found = BTreeSet::new();
        let program_order = self.program_order(memory);
        let unset = vec![vec![usize::MAX; self.threads.len()]; self.accesses.len()];
        let mut search = Search { program: self, program_order, positions: unset };
        search.extend(0, &mut found);
        found
    }

    fn precedes(&self, x: usize, y: usize) -> bool {
        let (a, b) = (&self.accesses[x], &self.accesses[y]);
        a.processor == b.processor && a.at < b.at
    }

    fn conflict(&self, x: usize, y: usize) -> bool {
        let (a, b) = (&self.accesses[x], &self.accesses[y]);
        x != y && a.location == b.location && (a.written.is_some() || b.written.is_some())
    }

    fn has_between(&self, x: usize, y: usize, fence: Operation) -> bool {
        let (a, b) = (&self.accesses[x], &self.accesses[y]);
        let operations = self.threads[a.processor].iter().enumerate();
        let mut between = operations.filter(|(number, _)| a.at < number * 2 && number * 2 < b.at);
        between.any(|(_, operation)| *operation == fence)
    }

    /// The pairs that conditions count with, closed where the dissertation closes them. That PSO
    /// keeps writes before atomic accesses is how read-modify-writes of this program are meant.
    fn program_order(&self, memory: Memory) -> Vec<Vec<bool>> {
        let count = self.accesses.len();
        let mut pairs = vec![vec![false; count]; count];
        for (x, row) in pairs.iter_mut().enumerate() {
            for (y, pair) in row.iter_mut().enumerate() {
                let (a, b) = (&self.accesses[x], &self.accesses[y]);
                let (first, second) = (a.written.is_some(), b.written.is_some());
                let fence = self.has_between(x, y, Operation::Fence);
                let stores = self.has_between(x, y, Operation::StoreFence);
                let kept = match memory {
                    Memory::Sc => a.location != b.location,
                    Memory::Tso => !first || second || fence || a.is_atomic,
                    Memory::Pso => {
                        !first || fence || second && stores || a.is_atomic || b.is_atomic
                    }
                };
                *pair = self.precedes(x, y) && kept;
            }
        }
        if memory != Memory::Sc {
            close(&mut pairs);
        }
        pairs
    }
}

fn close(pairs: &mut [Vec<bool>]) {
    let count = pairs.len();
    for middle in 0..count {
        for x in 0..count {
            for y in 0..count {
                pairs[x][y] |= pairs[x][middle] && pairs[middle][y];
            }
        }
    }
}

struct Search<'a> {
    program: &'a Program,
    program_order: Vec<Vec<bool>>,
    /// For each access and copy its place in the order.
    positions: Vec<Vec<usize>>,
}

impl Search<'_> {
    fn extend(&mut self, next: usize, found: &mut BTreeSet<Vec<u8>>) {
        if next == self.program.parts.len() {
            if self.is_allowed() {
                found.insert(self.values());
            }
            return;
        }
        for (access, copy) in self.program.parts.clone() {
            if self.positions[access][copy] == usize::MAX {
                self.positions[access][copy] = next;
                self.extend(next + 1, found);
                self.positions[access][copy] = usize::MAX;
            }
        }
    }

    fn exists(&self, access: usize, copy: usize) -> bool {
        self.positions[access][copy] != usize::MAX
    }

    /// The copies that two accesses both act on.
    fn common(&self, x: usize, y: usize) -> Vec<usize> {
        let copies = 0..self.program.threads.len();
        copies.filter(|copy| self.exists(x, *copy) && self.exists(y, *copy)).collect()
    }

    fn is_before(&self, x: usize, y: usize, copy: usize) -> bool {
        self.positions[x][copy] < self.positions[y][copy]
    }

    /// Conflicting accesses of different processors, in this order on some copy.
    fn external(&self, x: usize, y: usize) -> bool {
        let accesses = &self.program.accesses;
        self.program.conflict(x, y)
            && accesses[x].processor != accesses[y].processor
            && self.common(x, y).into_iter().any(|copy| self.is_before(x, y, copy))
    }

    fn is_write(&self, x: usize) -> bool {
        self.program.accesses[x].written.is_some()
    }

    fn conflict_order(&self) -> Vec<Vec<bool>> {
        let count = self.program.accesses.len();
        let pair = |x: usize, y: usize| {
            let reads = !self.is_write(x) && !self.is_write(y);
            self.external(x, y)
                || reads && (0..count).any(|w| self.external(x, w) && self.external(w, y))
        };
        (0..count).map(|x| (0..count).map(|y| pair(x, y)).collect()).collect()
    }

    fn is_allowed(&self) -> bool {
        let program = self.program;
        let all = || 0..program.accesses.len();
        let conflicts = self.conflict_order();
        let (spo, sco) = (&self.program_order, &conflicts);
        let mut chain: Vec<Vec<bool>> =
            all().map(|x| all().map(|y| all().any(|z| sco[x][z] && spo[z][y])).collect()).collect();
        close(&mut chain);
        let leads = |x: usize, y: usize| all().any(|a| spo[x][a] && chain[a][y]);
        let demanded = |x: usize, y: usize| {
            let (x_writes, y_writes) = (self.is_write(x), self.is_write(y));
            let seen = |r: usize| !self.is_write(r) && self.external(x, r);
            program.precedes(x, y) && y_writes
                || x_writes && y_writes && self.external(x, y)
                || x_writes && all().any(|r| seen(r) && program.precedes(r, y))
                || leads(x, y)
                || x_writes && !y_writes && all().any(|r| seen(r) && leads(r, y))
        };
        let kept = |x: usize, y: usize| {
            self.common(x, y).into_iter().all(|copy| self.is_before(x, y, copy))
        };
        all().all(|x| all().all(|y| !program.conflict(x, y) || !demanded(x, y) || kept(x, y)))
            && self.pairs_are_whole()
    }

    fn pairs_are_whole(&self) -> bool {
        let accesses = &self.program.accesses;
        (1..accesses.len()).filter(|w| accesses[*w].is_atomic && self.is_write(*w)).all(|w| {
            let copy = accesses[w].processor;
            (0..accesses.len()).all(|other| {
                let foreign = accesses[other].processor != copy && self.is_write(other);
                !foreign
                    || !self.program.conflict(other, w)
                    || self.is_before(other, w - 1, copy) == self.is_before(other, w, copy)
            })
        })
    }

    fn values(&self) -> Vec<u8> {
        let reads = (0..self.program.accesses.len()).filter(|access| !self.is_write(*access));
        reads.map(|read| self.value(read)).collect()
    }

    fn value(&self, read: usize) -> u8 {
        let copy = self.program.accesses[read].processor;
        let writes = || {
            let all = 0..self.program.accesses.len();
            all.filter(|write| self.is_write(*write) && self.program.conflict(*write, read))
        };
        let waiting = |write: &usize| {
            self.program.precedes(*write, read) && self.is_before(read, *write, copy)
        };
        let own = writes().filter(waiting).max_by_key(|w| self.program.accesses[*w].at);
        let arrived = writes().filter(|write| self.is_before(*write, read, copy));
        let last = own.or_else(|| arrived.max_by_key(|write| self.positions[*write][copy]));
        last.and_then(|write| self.program.accesses[write].written).unwrap_or(0)
    }
}
