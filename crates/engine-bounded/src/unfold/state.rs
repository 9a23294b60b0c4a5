//! A way through a thread that is being followed.

use std::collections::BTreeMap;

use parallax_machine::{Code, Thread};
use parallax_program::{AccessSize, BlockId, Expr, FunctionId, Terminator};
use parallax_solver::Term;

use super::Private;
use crate::arrangement::{Arrangement, targets};
use crate::event::Turn;
use crate::guard::Guard;
use crate::options::Bound;
use crate::value::{Meeting, Value, Values};

#[derive(Clone)]
pub struct State {
    pub thread: Thread<Value>,
    pub guard: Guard,
    /// One for each call.
    levels: Vec<Level>,
    /// What the last load-linked was, where that holds.
    pub reservations: Vec<Reservation>,
    /// The events of the last read, where that holds.
    pub last_reads: Vec<(Term, u32)>,
    /// The event by which the atomic section begins that the thread is in.
    pub section: Option<u32>,
    /// What was written to places that only this thread accesses.
    cells: BTreeMap<u64, Term>,
    /// How often that has changed.
    changes: u32,
}

/// How a thread has come to the head of a loop again, or elsewhere.
#[derive(Clone, Copy)]
pub struct Jump {
    /// Whether all branches were decided.
    pub was_decided: bool,
    /// Whether the thread knows what it knew when it was there last.
    pub is_as_before: bool,
}

/// Where a call stands, as far as loops go.
#[derive(Clone, Debug)]
struct Level {
    function: u32,
    block: u32,
    /// Outermost first.
    loops: Vec<Round>,
    /// Whether a branch of the call was undecided.
    has_forked: bool,
}

/// A loop on its way.
#[derive(Clone, Copy, Debug)]
struct Round {
    head: u32,
    number: u32,
    /// Rounds so far at whose beginning nothing said that there would be another.
    open: u32,
    /// Whether a branch that could have left the loop was decided in this round.
    is_counted: bool,
    /// [`State::changes`] when it began.
    changes: u32,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reservation {
    pub when: Term,
    pub address: Term,
    pub size: AccessSize,
    pub reads: Vec<u32>,
}

/// Where a state stands: states at the same place meet, and lesser places come first. Where two would
/// not do the same they do not meet: if one has only looked and the other has not, or if they are
/// in different atomic sections.
pub type Place = (Vec<u32>, Vec<u32>);

/// A loop repeats more often than is asked for.
pub struct Exceeded {
    /// Whether it is one that counts.
    pub counts: bool,
}

impl State {
    pub fn new(
        thread: Thread<Value>,
        function: FunctionId,
        guard: Guard,
        blocks: &[Arrangement],
    ) -> State {
        let levels = vec![Level::enter(function, blocks, 0)];
        State {
            thread,
            guard,
            levels,
            reservations: Vec::new(),
            last_reads: Vec::new(),
            section: None,
            cells: BTreeMap::new(),
            changes: 0,
        }
    }

    pub fn place(&self, blocks: &[Arrangement]) -> Place {
        let (mut position, mut apart) = (Vec::new(), Vec::new());
        for (call, (level, site)) in self.levels.iter().zip(self.thread.stack()).enumerate() {
            let arrangement = &blocks[level.function as usize];
            position.push(level.function);
            for round in &level.loops {
                position.extend([arrangement.place(round.head), round.number]);
                let has_only_looked = self.thread.has_only_looked_since(call, BlockId(round.head));
                apart.push(u32::from(has_only_looked));
            }
            position.extend([arrangement.place(site.block.0), site.index]);
        }
        apart.push(u32::from(self.thread.is_startled()));
        apart.extend(self.section);
        (position, apart)
    }

    /// The calls and the loops that the thread is in.
    pub fn turns(&self) -> Vec<Turn> {
        let mut turns = Vec::new();
        let mut sites = self.thread.stack();
        for (call, level) in self.levels.iter().enumerate() {
            if call > 0
                && let Some(site) = sites.next()
            {
                turns.push(Turn::Call { block: site.block.0, index: site.index });
            }
            let rounds = level.loops.iter();
            turns
                .extend(rounds.map(|round| Turn::Round { head: round.head, number: round.number }));
        }
        turns
    }

    pub fn is_in_loop(&self) -> bool {
        self.levels.iter().any(|level| !level.loops.is_empty())
    }

    /// The turns up to the loop that the thread, which has just jumped, is at the head of.
    pub fn spinning_round(&self) -> Vec<Turn> {
        let at = self.thread.site().map(|site| site.block.0);
        let mut turns = self.turns();
        let is_it = |turn: &Turn| matches!(turn, Turn::Round { head, .. } if Some(*head) == at);
        if let Some(at) = turns.iter().rposition(is_it) {
            turns.truncate(at + 1);
        }
        turns
    }

    pub fn has_forked(&mut self) {
        if let Some(level) = self.levels.last_mut() {
            level.has_forked = true;
        }
    }

    /// Follows the thread, which has jumped, called or returned.
    pub fn follow(
        &mut self,
        code: &Code<'_>,
        blocks: &[Arrangement],
        how: Jump,
        bound: Bound,
    ) -> Result<(), Exceeded> {
        let changes = self.changes;
        let Some(site) = self.thread.site() else {
            return Ok(());
        };
        let depth = self.thread.stack().count();
        if depth < self.levels.len() {
            self.levels.truncate(depth);
            return Ok(());
        }
        if depth > self.levels.len() {
            let same = |level: &&Level| level.function == site.function.0 && level.has_forked;
            let again = self.levels.iter().filter(same).count();
            self.levels.push(Level::enter(site.function, blocks, changes));
            let exceeds = again > bound.rounds as usize;
            return if exceeds { Err(Exceeded { counts: false }) } else { Ok(()) };
        }
        match self.levels.last_mut() {
            Some(level) => level.jump(code, blocks, site.block.0, how, changes, bound),
            None => Ok(()),
        }
    }

    /// Joins another state at the same place.
    pub fn meet(&mut self, other: &State, private: &Private, values: &mut Values) {
        let (guard, first) = self.guard.join(&other.guard, &mut values.terms);
        self.guard = guard;
        self.thread.merge(&other.thread, values, &mut Meeting { first });
        if self.reservations != other.reservations {
            let second = values.terms.not(first);
            let mut all = Vec::new();
            for (list, condition) in [(&self.reservations, first), (&other.reservations, second)] {
                for reservation in list {
                    let when = values.terms.and(reservation.when, condition);
                    all.push(Reservation { when, ..reservation.clone() });
                }
            }
            self.reservations = all;
        }
        if self.last_reads != other.last_reads {
            let second = values.terms.not(first);
            let mut all: Vec<(Term, u32)> = Vec::new();
            for (list, condition) in [(&self.last_reads, first), (&other.last_reads, second)] {
                for (when, read) in list {
                    let when = values.terms.and(*when, condition);
                    // Once for each read: else the list doubles wherever ways meet.
                    match all.iter_mut().find(|(_, known)| known == read) {
                        Some(known) => known.0 = values.terms.or(known.0, when),
                        None => all.push((when, *read)),
                    }
                }
            }
            self.last_reads = all;
        }
        self.meet_cells(other, first, private, values);
        for (level, other) in self.levels.iter_mut().zip(&other.levels) {
            level.has_forked |= other.has_forked;
            for (round, other) in level.loops.iter_mut().zip(&other.loops) {
                round.open = round.open.max(other.open);
                round.is_counted &= other.is_counted;
            }
        }
    }
}

impl State {
    /// What was written to a place that only this thread accesses.
    pub fn held(&self, place: u64) -> Option<Term> {
        self.cells.get(&place).copied()
    }

    pub fn hold(&mut self, place: u64, written: Term) {
        let before = self.cells.insert(place, written);
        self.changes += u32::from(before != Some(written));
    }

    /// What was never written holds its first value. Where it has none, it may hold anything, and
    /// whoever reads it asks which write it gets.
    fn meet_cells(&mut self, other: &State, first: Term, private: &Private, values: &mut Values) {
        self.changes = self.changes.max(other.changes);
        if self.cells == other.cells {
            return;
        }
        self.changes += 1;
        for (place, initial) in private {
            let (mine, others) = (self.cells.get(place), other.cells.get(place));
            let is_open = mine.is_none() || others.is_none();
            if mine != others && is_open && initial.is_undefined() {
                self.cells.remove(place);
            } else if mine != others {
                let initial = values.terms.constant(*initial);
                let (mine, others) = (*mine.unwrap_or(&initial), *others.unwrap_or(&initial));
                self.cells.insert(*place, values.terms.select(first, mine, others));
            }
        }
    }
}

impl Level {
    fn enter(function: FunctionId, blocks: &[Arrangement], changes: u32) -> Level {
        let heads = blocks[function.0 as usize].loops(0).iter();
        let loops = heads.map(|head| Round::first(*head, changes)).collect();
        Level { function: function.0, block: 0, loops, has_forked: false }
    }

    fn jump(
        &mut self,
        code: &Code<'_>,
        blocks: &[Arrangement],
        target: u32,
        how: Jump,
        changes: u32,
        bound: Bound,
    ) -> Result<(), Exceeded> {
        let arrangement = &blocks[self.function as usize];
        if how.was_decided {
            self.count_exits(code, arrangement);
        }
        let heads = arrangement.loops(target);
        let kept = self.loops.iter().zip(heads).take_while(|(round, head)| round.head == **head);
        let kept = kept.count();
        // Back at the head of a loop that it is in.
        let again = heads[..kept].iter().position(|head| *head == target);
        self.loops.truncate(kept);
        self.block = target;
        self.loops.extend(heads[kept..].iter().map(|head| Round::first(*head, changes)));
        match again.and_then(|position| self.loops.get_mut(position)) {
            Some(round) => round.again(how.is_as_before, changes, bound),
            None => Ok(()),
        }
    }

    /// Notes which loops the branch at the end of the present block could have left.
    fn count_exits(&mut self, code: &Code<'_>, arrangement: &Arrangement) {
        let function = code.program.function(FunctionId(self.function));
        let terminator = &function.blocks[self.block as usize].terminator;
        let Terminator::Branch { condition, .. } = terminator else {
            return;
        };
        if matches!(condition, Expr::Const(_)) {
            return;
        }
        for round in &mut self.loops {
            let leaves = |target: &u32| !arrangement.loops(*target).contains(&round.head);
            round.is_counted |= targets(terminator).iter().any(leaves);
        }
    }
}

impl Round {
    fn first(head: u32, changes: u32) -> Round {
        Round { head, number: 0, open: 0, is_counted: false, changes }
    }

    /// A loop counts only if its rounds change something that its branches know.
    fn again(&mut self, is_as_before: bool, changes: u32, bound: Bound) -> Result<(), Exceeded> {
        let counts = self.is_counted && !(is_as_before && self.changes == changes);
        self.number += 1;
        self.open += u32::from(!counts);
        self.is_counted = false;
        self.changes = changes;
        if self.open > bound.rounds {
            return Err(Exceeded { counts: false });
        }
        if self.number > bound.counted.max(bound.rounds) {
            return Err(Exceeded { counts: true });
        }
        Ok(())
    }
}
