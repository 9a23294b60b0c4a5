//! A program whose loops are to be replaced: which ones, where each is cut, and what is left.

use std::collections::{BTreeMap, BTreeSet};

use parallax_program::{
    Expr, Function, FunctionId, Global, GlobalId, InstKind, Program, Span, Terminator, ThreadStart,
    VarId,
};
use parallax_verdict::Reason;

use crate::candidates::Fact;
use crate::fitness::{Writes, lone_store_conditional, obstacle, writes, written};
use crate::flow::{all_leaves, live, results};
use crate::image::{TooLarge, image};
use crate::loops::{Loop, loops};
use crate::marks::{Mark, take_marks};
use crate::nesting::separate;
use crate::replaced::{Assertions, RECORDED_AT_ONCE, Replaced};

/// A program without marks, and what is known of its loops.
pub struct Subject {
    pub program: Program,
    /// The loops that are replaced, function by function.
    pub loops: Vec<Known>,
    /// Loops that stay, and why.
    pub left: Vec<Left>,
}

/// A loop that is replaced.
pub struct Known {
    pub function: FunctionId,
    pub replaced: Replaced,
    pub writes: Writes,
    /// Whether its invariant is in the source.
    pub is_given: bool,
    /// What else is live at its header.
    pub unchanged: Vec<VarId>,
    /// What is proposed.
    pub facts: Vec<Fact>,
}

/// A loop that stays as it is.
#[derive(Clone, Debug)]
pub struct Left {
    pub why: String,
    pub span: Span,
}

/// What an image is made for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    /// Invariants are looked for.
    Propose,
    /// Everything is to be shown.
    Show,
    /// Whether threads come to their ends.
    End,
}

/// What the assertion says that fails where threads have come to their ends.
pub const ENDED: &str = "all threads have ended";

impl Subject {
    pub fn new(program: &Program) -> Result<Subject, Reason> {
        let mut subject = Subject { program: program.clone(), loops: Vec::new(), left: Vec::new() };
        for id in reachable(program) {
            let mut function = program.functions[id.0 as usize].clone();
            let marks = take_marks(program, &mut function);
            separate(&mut function, &marks);
            subject.add(id, &function, &marks)?;
            subject.program.functions[id.0 as usize] = function;
        }
        Ok(subject)
    }

    fn reason(&self, span: Span, message: String, help: &str) -> Reason {
        let place = Some(self.program.source.location(span));
        Reason { message, place, help: Some(help.into()) }
    }

    fn add(&mut self, id: FunctionId, function: &Function, marks: &[Mark]) -> Result<(), Reason> {
        let Some(found) = loops(function) else {
            let why = "control gets into a loop at more than one place".to_string();
            let first = function.blocks.first().map(|block| block.terminator_span);
            self.left.push(Left { why: why.clone(), span: first.unwrap_or_default() });
            return match marks.first() {
                Some(mark) => Err(self.reason(mark.span, why, "write it as while or do")),
                None => Ok(()),
            };
        };
        let mut own: BTreeMap<usize, &Mark> = BTreeMap::new();
        for mark in marks {
            let number = self.loop_of(function, &found, mark)?;
            if own.insert(number, mark).is_some() {
                let message = "this loop has a second invariant".to_string();
                return Err(self.reason(mark.span, message, "one can say both, with &&"));
            }
        }
        let mut fit = Vec::new();
        for (number, one) in found.iter().enumerate() {
            match (obstacle(&self.program, function, one), own.get(&number)) {
                (None, _) => fit.push(number),
                (Some(wrong), None) => self.left.push(Left { why: wrong.what, span: wrong.span }),
                (Some(wrong), Some(_)) => {
                    let message = format!("a loop with an invariant: {}", wrong.what);
                    let help = "loops with invariants load, store and compute, and nothing else";
                    return Err(self.reason(wrong.span, message, help));
                }
            }
        }
        let kept: Vec<Loop> = fit.iter().map(|number| found[*number].clone()).collect();
        let cuts = own.values().map(|mark| mark.block).collect();
        if let Some(span) = lone_store_conditional(function, &kept, &cuts) {
            let message = "a store-conditional that may go with another iteration".to_string();
            return Err(self.reason(span, message, "put its load-linked right before it"));
        }
        let used = |block| {
            let mut here = marks.iter().filter(|mark| mark.block == block);
            here.next().map(|mark| mark.condition.clone())
        };
        let live = live(function, &used);
        for number in fit {
            let live = &live[found[number].header.0 as usize];
            self.replace(id, function, &found[number], own.get(&number).copied(), live);
        }
        Ok(())
    }

    /// The innermost loop around a mark.
    fn loop_of(&self, function: &Function, found: &[Loop], mark: &Mark) -> Result<usize, Reason> {
        let around = found.iter().rposition(|one| one.blocks.contains(&mark.block));
        let Some(number) = around else {
            let message = "an invariant that no loop is around".to_string();
            return Err(self.reason(mark.span, message, "put it into the body of a loop"));
        };
        if !found[number].always_passes(mark.block, function) {
            let message = "an invariant that not every iteration comes by".to_string();
            let help = "put it where the body starts, under no condition";
            return Err(self.reason(mark.span, message, help));
        }
        Ok(number)
    }

    fn replace(
        &mut self,
        id: FunctionId,
        function: &Function,
        found: &Loop,
        mark: Option<&Mark>,
        live: &BTreeSet<VarId>,
    ) {
        let blocks = || found.blocks.iter().filter_map(|b| function.blocks.get(b.0 as usize));
        let changes = || blocks().flat_map(|block| &block.insts).flat_map(|i| results(&i.kind));
        let all: BTreeSet<VarId> = changes().collect();
        let (changed, unchanged) = live.iter().partition(|var| all.contains(var));
        let cut = mark.map_or(found.header, |mark| mark.block);
        let number = self.loops.len();
        let header = function.blocks.get(found.header.0 as usize);
        let inside = blocks().flat_map(|block| &block.insts).map(|inst| inst.span);
        let span = inside.chain(header.map(|block| block.terminator_span));
        let span = span.filter(|span| *span != Span::default()).min_by_key(|span| span.start);
        self.loops.push(Known {
            function: id,
            writes: writes(&self.program, function, found),
            is_given: mark.is_some(),
            unchanged,
            facts: Vec::new(),
            replaced: Replaced {
                number,
                header: found.header,
                blocks: found.blocks.clone(),
                cut,
                invariant: mark.iter().map(|mark| mark.condition.clone()).collect(),
                changed,
                rounds: 0,
                writes_after_cut: writes_after(function, found, cut),
                record: None,
                span: mark.map(|mark| mark.span).or(span).unwrap_or_default(),
            },
        });
    }

    /// The program without these loops.
    pub fn image(&self, purpose: Purpose) -> Result<Program, TooLarge> {
        let mut program = self.program.clone();
        let mut replaced: BTreeMap<FunctionId, Vec<Replaced>> = BTreeMap::new();
        for known in &self.loops {
            let mut one = known.replaced.clone();
            one.invariant.extend(known.facts.iter().map(Fact::expr));
            if purpose == Purpose::Propose && !known.facts.is_empty() {
                one.record = Some(record(&mut program, known));
            }
            replaced.entry(known.function).or_default().push(one);
        }
        let assertions = match purpose {
            Purpose::Show => Assertions::Shown,
            Purpose::Propose | Purpose::End => Assertions::Assumed,
        };
        for (number, function) in program.functions.iter_mut().enumerate() {
            let loops = replaced.remove(&FunctionId(number as u32)).unwrap_or_default();
            *function = image(function, &loops, assertions)?;
        }
        if purpose == Purpose::End {
            await_ends(&mut program);
        }
        Ok(program)
    }
}

/// Whether a round writes something after it has passed its cut.
fn writes_after(function: &Function, found: &Loop, cut: parallax_program::BlockId) -> bool {
    let mut seen = BTreeSet::from([found.header]);
    let mut open = vec![cut];
    while let Some(next) = open.pop() {
        let block = function.blocks.get(next.0 as usize);
        let Some(block) = block.filter(|_| found.blocks.contains(&next) && seen.insert(next))
        else {
            continue;
        };
        if block.insts.iter().any(|inst| written(&inst.kind).is_some()) {
            return true;
        }
        open.extend(crate::flow::successors(&block.terminator));
    }
    false
}

/// What the global is called that has what is written down about a loop.
pub fn record_name(number: usize) -> String {
    format!("invariant'{number}")
}

fn record(program: &mut Program, known: &Known) -> GlobalId {
    let words = (known.facts.len() + known.replaced.invariant.len()).div_ceil(RECORDED_AT_ONCE);
    let global = GlobalId(program.globals.len() as u32);
    let name = record_name(known.replaced.number);
    program.globals.push(Global::zeroed(&name, 8 * words as u64, 8));
    global
}

/// The functions that threads may come to.
pub fn reachable(program: &Program) -> BTreeSet<FunctionId> {
    let mut all = BTreeSet::new();
    let mut open: Vec<FunctionId> = program.threads.iter().map(|thread| thread.function).collect();
    let address = |leaf: &Expr, open: &mut Vec<FunctionId>| {
        if let Expr::FunctionAddress(function) = leaf {
            open.push(*function);
        }
    };
    let cells = program.globals.iter().flat_map(|global| &global.init);
    cells.for_each(|cell| crate::flow::leaves(&cell.value, &mut |leaf| address(leaf, &mut open)));
    for arg in program.threads.iter().flat_map(|thread| &thread.args) {
        crate::flow::leaves(arg, &mut |leaf| address(leaf, &mut open));
    }
    while let Some(id) = open.pop() {
        let Some(function) = program.functions.get(id.0 as usize) else { continue };
        if !all.insert(id) {
            continue;
        }
        all_leaves(function, &mut |leaf| address(leaf, &mut open));
        for inst in function.blocks.iter().flat_map(|block| &block.insts) {
            if let InstKind::Call { callee, .. } | InstKind::Spawn { callee, .. } = &inst.kind
                && let parallax_program::Callee::Direct(callee) = callee
            {
                open.push(*callee);
            }
        }
    }
    all
}

/// Adds a thread that waits for the end of the others, and then fails: of the first one where the
/// program is over with it.
fn await_ends(program: &mut Program) {
    let initial = program.threads.len() as u32;
    let starts = |thread: &ThreadStart| {
        let function = program.functions.get(thread.function.0 as usize);
        let insts = function.into_iter().flat_map(|f| &f.blocks).flat_map(|block| &block.insts);
        insts.filter(|inst| matches!(inst.kind, InstKind::Spawn { .. })).count() as u32
    };
    let started: u32 = program.threads.iter().map(starts).sum();
    let awaited: Vec<u32> = match program.daemons {
        true => vec![0],
        false => {
            (0..initial).chain((initial..initial + started).map(|number| number + 1)).collect()
        }
    };
    let mut builder = parallax_program::FunctionBuilder::new("ended'");
    for thread in awaited {
        let thread = Expr::constant(32, u128::from(thread));
        builder.emit(InstKind::Join { thread });
    }
    builder.emit(InstKind::Assert {
        condition: Expr::constant(1, 0),
        message: ENDED.to_string(),
        property: parallax_program::Property::Assert,
    });
    builder.terminate(Terminator::Return(None));
    let function = FunctionId(program.functions.len() as u32);
    program.functions.push(builder.finish());
    program.threads.push(ThreadStart { name: "ended'".to_string(), function, args: Vec::new() });
}
