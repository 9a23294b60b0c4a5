//! Loops replaced by what invariants say of them, so that proofs need no bound.
//!
//! The method is that of P. Maleehuan, Program Verification for Multiprocessors with Relaxed Memory
//! Models using an SMT Solver, dissertation, JAIST 2018, chapter 4, after A. F. Donaldson, L. Haller, D.
//! Kroening, P. Rümmer, Software verification using k-induction, SAS 2011, for any control flow whose
//! loops have one way in. In each round a loop passes its *cut*, where its invariant holds; that is
//! its header, or a place further on. The loop becomes:
//!
//! ```text
//! from the header to the cut                         the first round
//! assert the invariant
//! maybe:
//!   from the cut back to the header, silently        the rest of the first round
//!   several times, or less often:
//!     what the loop changes becomes anything; a round, silently, with the invariant at the cut
//!   what the loop changes becomes anything
//!   from the header to the cut, silently             the round that the last one comes after
//!   assume the invariant
//! from the cut to the way out, or to the cut again   the last round
//! at the cut again: assert the invariant; the thread ends here
//! ```
//!
//! *Silently* means that loads give anything and stores are done. A loop inside of a loop becomes the
//! same in each place that its body comes to, silently where that is silent.
//!
//! Why this covers all executions, of models in which program order and reads-from have no cycle and
//! which only forbid: take one in which something is violated, and of that only what comes before
//! some violation that no other comes before, by program order and reads-from. Of each loop keep the
//! first round and the last, and those in between that a kept load reads from, without their loads.
//! What is left is allowed, because whatever forbids it would forbid the whole. Every load reads one
//! store, so as many rounds in between are enough as there are loads of what the loop writes. Nothing
//! before the violation violates anything, so invariants and assertions may be assumed there. And where
//! threads were cut off, they can always go on without failing an assumption of the image: they are in
//! a first round or a last one, which has none, and what comes next may be as it is. So it is enough to
//! look at executions in which no assumption fails at all. What the source assumes is another matter: a
//! thread for which that does not hold stays where it is.

use std::collections::HashMap;

use parallax_program::{
    AccessSize, Block, BlockId, Expr, Function, GlobalId, Inst, InstKind, Property, Span, Tags,
    Terminator, Var, VarId,
};

use crate::flow::successors;
use crate::replaced::{Assertions, Check, RECORDED_AT_ONCE, Replaced};

/// There is no image: it would have too many blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooLarge;

/// The function with its loops replaced. `loops` has those inside of others after them.
pub fn image(
    function: &Function,
    loops: &[Replaced],
    assertions: Assertions,
) -> Result<Function, TooLarge> {
    let mut writer = Writer {
        function,
        loops,
        assertions,
        vars: function.vars.clone(),
        blocks: Vec::new(),
        places: HashMap::new(),
        open: Vec::new(),
        current: 0,
        span: Span::default(),
    };
    let choice = writer.fresh(1);
    let entry = writer.new_block("start");
    let first = writer.next(&Vec::new(), BlockId(0));
    let first = writer.block(first);
    writer.end(entry, Terminator::Jump(first));
    while let Some((place, block)) = writer.open.pop() {
        if writer.blocks.len() > Writer::MOST_BLOCKS {
            return Err(TooLarge);
        }
        writer.current = block.0 as usize;
        writer.write(&place, choice);
    }
    let Writer { vars, blocks, .. } = writer;
    Ok(Function { vars, blocks, ..function.clone() })
}

/// What a copy of a block in a loop is there for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Phase {
    First,
    Rest,
    Between(usize),
    Before,
    Last,
}

impl Phase {
    fn is_silent(self) -> bool {
        matches!(self, Phase::Rest | Phase::Between(_) | Phase::Before)
    }
}

/// The replaced loops around a place, by their positions in the list, from the outside.
type Around = Vec<(usize, Phase)>;

/// A place of the image.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Place {
    around: Around,
    at: At,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum At {
    Block(BlockId),
    /// The first time at the cut of the innermost loop.
    FirstCut,
    /// Before the round of that number of a loop, or the last.
    Round(usize, usize),
    /// What the loop changes is forgotten, and a phase of it starts.
    Forgotten(usize, Phase),
    /// The invariant of the innermost loop holds, and its phase goes on at the block.
    Held(BlockId),
    /// The same, and it is over.
    HeldAtEnd,
    /// At the cut for the second time in the last round.
    Again,
    /// No execution of interest comes here.
    Nowhere,
    /// Nothing is known of what comes here.
    Lost,
}

/// Writes the image of a function.
pub struct Writer<'a> {
    function: &'a Function,
    loops: &'a [Replaced],
    assertions: Assertions,
    vars: Vec<Var>,
    blocks: Vec<Block>,
    places: HashMap<Place, BlockId>,
    open: Vec<(Place, BlockId)>,
    current: usize,
    span: Span,
}

impl Writer<'_> {
    /// An image of more blocks is too large.
    const MOST_BLOCKS: usize = 3_000;

    pub fn emit(&mut self, kind: InstKind) {
        let inst = Inst { kind, span: self.span };
        self.blocks[self.current].insts.push(inst);
    }

    /// A new variable.
    pub fn fresh(&mut self, width: u32) -> VarId {
        let id = VarId(self.vars.len() as u32);
        self.vars.push(Var { name: format!("%{}", id.0), width });
        id
    }

    pub fn anything(&mut self, dst: VarId) {
        self.emit(InstKind::Nondet { dst });
    }

    /// Does something where a condition holds.
    pub fn when(&mut self, condition: Expr, then: InstKind) {
        let (taken, after) = (self.new_block("then"), self.new_block("after"));
        let (yes, no) = (block_id(taken), block_id(after));
        let branch = Terminator::Branch { condition, then: yes, otherwise: no, join: Some(no) };
        self.end(self.current, branch);
        self.current = taken;
        self.emit(then);
        self.end(taken, Terminator::Jump(no));
        self.current = after;
    }

    /// The thread stays here for ever where the condition does not hold. Unlike an assumption, that
    /// says nothing about what other threads do.
    fn stay_unless(&mut self, condition: Expr) {
        self.emit(InstKind::Wait { condition });
    }

    /// The last round comes to the cut again: it is not the last. What stands in for a loop has one.
    fn stop(&mut self, around: &Around) {
        let never = Expr::constant(1, 0);
        match is_silent(around) {
            true => self.assume(never),
            false => self.stay_unless(never),
        }
    }

    /// Only executions count in which the condition holds.
    fn assume(&mut self, condition: Expr) {
        self.emit(InstKind::Assume { condition });
    }

    fn new_block(&mut self, label: &str) -> usize {
        let number = self.blocks.len();
        self.blocks.push(Block {
            label: format!("{label}.{number}"),
            insts: Vec::new(),
            terminator: Terminator::Exit,
            terminator_span: Span::default(),
        });
        number
    }

    fn end(&mut self, block: usize, terminator: Terminator) {
        self.blocks[block].terminator = terminator;
        self.blocks[block].terminator_span = self.span;
    }

    /// The block for a place, written later if it is new.
    fn block(&mut self, place: Place) -> BlockId {
        if let Some(block) = self.places.get(&place) {
            return *block;
        }
        let label = match place.at {
            At::Block(block) => self.function.blocks.get(block.0 as usize),
            _ => None,
        };
        let label = label.map_or("loop", |block| block.label.as_str()).to_string();
        let block = block_id(self.new_block(&label));
        self.places.insert(place.clone(), block);
        self.open.push((place, block));
        block
    }

    fn jump(&mut self, around: Around, at: At) {
        let target = self.block(Place { around, at });
        self.end(self.current, Terminator::Jump(target));
    }

    /// One of two ways, for no reason.
    fn either(&mut self, choice: VarId, then: Place, otherwise: Place) {
        self.anything(choice);
        let (then, otherwise) = (self.block(then), self.block(otherwise));
        let condition = Expr::Var(choice);
        self.end(self.current, Terminator::Branch { condition, then, otherwise, join: None });
    }

    /// Where control goes to from a place with these loops around.
    fn next(&self, around: &Around, to: BlockId) -> Place {
        let mut around = around.clone();
        while let Some((innermost, phase)) = around.last().copied() {
            if self.loops[innermost].blocks.contains(&to) {
                break;
            }
            if phase.is_silent() {
                return Place { around: Vec::new(), at: At::Nowhere };
            }
            around.pop();
        }
        let headed = self.loops.iter().position(|found| found.header == to);
        let at = match (headed, around.last().copied()) {
            (Some(headed), Some((innermost, phase))) if headed == innermost => {
                return self.at_header(around, headed, phase);
            }
            (Some(headed), _) => {
                around.push((headed, Phase::First));
                match self.loops[headed].cut == to {
                    true => At::FirstCut,
                    false => At::Block(to),
                }
            }
            (None, Some((innermost, phase))) if self.loops[innermost].cut == to => match phase {
                Phase::First => At::FirstCut,
                Phase::Between(_) => At::Held(to),
                Phase::Before => {
                    around.pop();
                    around.push((innermost, Phase::Last));
                    At::Held(to)
                }
                Phase::Last => At::Again,
                Phase::Rest => At::Lost,
            },
            _ => At::Block(to),
        };
        Place { around, at }
    }

    /// Back at the header of the innermost loop.
    fn at_header(&self, mut around: Around, number: usize, phase: Phase) -> Place {
        let Replaced { header, cut, .. } = &self.loops[number];
        let is_cut = header == cut;
        let at = match phase {
            Phase::Between(_) if is_cut => At::HeldAtEnd,
            Phase::Between(round) => {
                around.pop();
                At::Round(number, round + 1)
            }
            Phase::Rest => {
                around.pop();
                At::Round(number, 1)
            }
            Phase::Last if is_cut => At::Again,
            Phase::Last => At::Block(*header),
            Phase::First | Phase::Before => At::Lost,
        };
        Place { around, at }
    }

    fn write(&mut self, place: &Place, choice: VarId) {
        let innermost = place.around.last().copied();
        let around = place.around.clone();
        if let Some((number, _)) = innermost {
            self.span = self.loops[number].span;
        }
        match (&place.at, innermost) {
            (At::Block(block), _) => self.copy(*block, &around),
            (At::FirstCut, Some((number, _))) => self.first_cut(around, number, choice),
            (At::Round(number, round), _) => self.round(around, *number, *round, choice),
            (At::Forgotten(number, phase), _) => self.forgotten(around, *number, *phase),
            (At::Held(block), Some((number, _))) => {
                self.hold(number);
                self.jump(around, At::Block(*block));
            }
            (At::HeldAtEnd, Some((number, Phase::Between(round)))) => {
                self.hold(number);
                let mut around = around;
                around.pop();
                self.jump(around, At::Round(number, round + 1));
            }
            (At::Again, Some((number, _))) => {
                self.check(&around, number, Check::Kept);
                self.stop(&around);
            }
            (At::Nowhere, _) => self.assume(Expr::constant(1, 0)),
            (At::Lost | At::FirstCut | At::Held(_) | At::HeldAtEnd | At::Again, _) => {
                let what = "a loop that is entered in a strange way".to_string();
                self.emit(InstKind::Unsupported { what });
            }
        }
    }

    /// The first round is at the cut.
    fn first_cut(&mut self, mut around: Around, number: usize, choice: VarId) {
        self.check(&around, number, Check::AtFirst);
        around.pop();
        let Replaced { header, cut, writes_after_cut, .. } = self.loops[number];
        if header == cut {
            return self.jump(around, At::Round(number, 1));
        }
        let within = |phase| {
            let mut around = around.clone();
            around.push((number, phase));
            Place { around, at: At::Block(cut) }
        };
        let more = match writes_after_cut {
            true => within(Phase::Rest),
            false => Place { around: around.clone(), at: At::Round(number, 1) },
        };
        let last = within(Phase::Last);
        self.either(choice, more, last);
    }

    /// Before a round that is stood in for, or what comes after all of those.
    fn round(&mut self, around: Around, number: usize, round: usize, choice: VarId) {
        let Replaced { header, cut, rounds, .. } = self.loops[number];
        let after = if header == cut { Phase::Last } else { Phase::Before };
        if round > rounds {
            return self.jump(around, At::Forgotten(number, after));
        }
        let at = |phase| Place { around: around.clone(), at: At::Forgotten(number, phase) };
        let (one, none) = (at(Phase::Between(round)), at(after));
        self.either(choice, one, none);
    }

    fn forgotten(&mut self, mut around: Around, number: usize, phase: Phase) {
        self.span = self.loops[number].span;
        for var in &self.loops[number].changed {
            self.anything(*var);
        }
        if self.loops[number].header == self.loops[number].cut {
            self.hold(number);
        }
        around.push((number, phase));
        self.jump(around, At::Block(self.loops[number].header));
    }

    /// The invariant is assumed.
    fn hold(&mut self, number: usize) {
        for part in &self.loops[number].invariant {
            self.assume(part.clone());
        }
    }

    /// The invariant has to be shown; where the loop is only stood in for, it holds.
    fn check(&mut self, around: &Around, number: usize, check: Check) {
        let outside = &around[..around.len().saturating_sub(1)];
        if is_silent(outside) {
            return self.hold(number);
        }
        let Replaced { invariant, record, number, .. } = &self.loops[number];
        let whole = invariant.iter().cloned().reduce(|left, right| left & right);
        let Some(condition) = whole else { return };
        if let Some(record) = record {
            self.record(invariant, *record);
        }
        let (message, property) = (check.message(*number), Property::Assert);
        self.emit(InstKind::Assert { condition, message, property });
    }

    /// Writes down which parts of an invariant hold.
    fn record(&mut self, parts: &[Expr], record: GlobalId) {
        for (number, parts) in parts.chunks(RECORDED_AT_ONCE).enumerate() {
            let offset = Expr::constant(64, 8 * number as u128);
            let address = Expr::Address(record) + offset;
            let joined = parts.iter().cloned().reduce(|low, high| high.concat(low));
            let Some(value) = joined else { continue };
            let value = match parts.len() {
                RECORDED_AT_ONCE => value,
                _ => value.zero_extend(64),
            };
            let (size, tags) = (AccessSize::DOUBLE, Tags::none());
            self.emit(InstKind::Store { address, value, size, tags });
        }
    }

    fn copy(&mut self, block: BlockId, around: &Around) {
        let Some(block) = self.function.blocks.get(block.0 as usize) else { return };
        let is_silent = is_silent(around);
        for inst in &block.insts {
            self.span = inst.span;
            match &inst.kind {
                kind if is_silent => self.silently(kind),
                InstKind::Assert { condition, .. } if self.assertions == Assertions::Assumed => {
                    self.stay_unless(condition.clone());
                }
                InstKind::Assume { condition } => self.stay_unless(condition.clone()),
                kind => self.emit(kind.clone()),
            }
        }
        self.span = block.terminator_span;
        let targets = successors(&block.terminator);
        if targets.is_empty() && is_silent {
            return self.assume(Expr::constant(1, 0));
        }
        let mut terminator = block.terminator.clone();
        let to = |target: BlockId, writer: &mut Self| {
            let place = writer.next(around, target);
            writer.block(place)
        };
        match &mut terminator {
            Terminator::Jump(target) => *target = to(*target, self),
            Terminator::Branch { then, otherwise, join, .. } => {
                *then = to(*then, self);
                *otherwise = to(*otherwise, self);
                *join = None;
            }
            Terminator::Return(_) | Terminator::Exit => {}
        }
        self.end(self.current, terminator);
    }
}

fn is_silent(around: &[(usize, Phase)]) -> bool {
    around.iter().any(|(_, phase)| phase.is_silent())
}

fn block_id(number: usize) -> BlockId {
    BlockId(number as u32)
}
