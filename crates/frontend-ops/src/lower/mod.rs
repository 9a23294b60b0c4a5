//! From operation structures to programs.
//!
//! Registers and temporaries become variables, locations become globals of one word. An assertion
//! speaks of whole executions: it counts where every thread has ended and every assumption of
//! every thread holds, even one that comes later or in another thread. Where nothing is assumed,
//! that is the same as failing at once, for programs that end.

mod arithmetic;
mod instruction;
mod integers;
mod judge;
mod order;
mod pairs;
mod start;

use std::collections::HashMap;

use parallax_program::{
    BlockId, Callee, Diagnostic, Diagnostics, Expr, FunctionBuilder, FunctionId, GlobalId,
    InstKind, Program, Question, Span, Terminator, VarId,
};

use crate::syntax::{Condition, Element, ElementKind, Ex, Initial, Structures, Thread};
pub use integers::with_integers;
use judge::Failures;

/// Values are words of so many bits, and arithmetic wraps around.
pub const WIDTH: u32 = 32;

/// When an assertion that fails is a violation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Judging {
    /// At once.
    AtOnce,
    /// When all threads have ended: who has failed waits for the others and reports.
    AtEnd,
    /// As `AtEnd`, but it is the question for final states that reports. For engines that know no
    /// assertions.
    ByQuestion,
}

impl Judging {
    /// What the structures need, if the engine can do both.
    pub fn of(structures: &Structures) -> Judging {
        match structures.has_assumptions() {
            true => Judging::AtEnd,
            false => Judging::AtOnce,
        }
    }
}

/// A program, and what else is known of it.
#[derive(Clone, Debug)]
pub struct Lowered {
    pub program: Program,
    /// With [`Judging::ByQuestion`]: asks for final states after an assertion has failed.
    pub question: Option<Question>,
    pub assertions: Vec<Assertion>,
}

/// An assertion of the source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Assertion {
    /// The thread it is in.
    pub thread: String,
    /// What is said of it where it fails.
    pub message: String,
    pub span: Span,
}

/// Makes a program that behaves as the structures do.
pub fn lower(structures: &Structures, judging: Judging) -> Result<Lowered, Diagnostics> {
    lower_with(structures, judging, None)
}

/// The same; invariants become calls of a function of that name, which does nothing.
pub fn lower_with(
    structures: &Structures,
    judging: Judging,
    mark: Option<&str>,
) -> Result<Lowered, Diagnostics> {
    let name = structures.source.name();
    let mut program = Program::new(name, 64, structures.source.clone());
    let globals = start::globals(structures, &mut program);
    let is_arbitrary = |initial: Initial| initial == Initial::Arbitrary;
    let has_starter = structures.locations.iter().any(|location| is_arbitrary(location.initial));
    let mut errors = Diagnostics::new();
    let mut assertions = Vec::new();
    let mut failed = Vec::new();
    for (number, thread) in structures.threads.iter().enumerate() {
        let mut lowering = Lowering::new(structures, &globals, judging, thread);
        lowering.mark = mark.map(|_| FunctionId(structures.threads.len() as u32));
        lowering.others = others(structures.threads.len(), number, has_starter);
        if has_starter {
            lowering.fence_everything();
        }
        lowering.thread(thread);
        let Lowering { builder, errors: mut wrong, failures, .. } = lowering;
        errors.append(&mut wrong);
        failed.extend(failures.observable(number as u32, &thread.name));
        assertions.extend(failures.assertions);
        program.functions.push(builder.finish());
    }
    program.functions.extend(mark.map(start::mark));
    start::threads(structures, &globals, has_starter, &mut program);
    if !errors.is_empty() {
        return Err(errors);
    }
    program.check()?;
    let question = (judging == Judging::ByQuestion).then(|| judge::question(failed));
    Ok(Lowered { program, question, assertions })
}

impl Lowered {
    /// Whether there are load-linked and store-conditional operations, which few engines know.
    pub fn has_reservations(&self) -> bool {
        let blocks = self.program.functions.iter().flat_map(|function| &function.blocks);
        let mut all = blocks.flat_map(|block| &block.insts);
        all.any(|inst| matches!(inst.kind, InstKind::StoreConditional { .. }))
    }
}

/// The numbers of the other threads. Where one starts them, it has the first.
fn others(count: usize, own: usize, has_starter: bool) -> Vec<u32> {
    let first = u32::from(has_starter);
    (0..count).filter(|other| *other != own).map(|other| other as u32 + first).collect()
}

/// A thread under construction.
struct Lowering<'a> {
    structures: &'a Structures,
    globals: &'a HashMap<&'a str, GlobalId>,
    judging: Judging,
    builder: FunctionBuilder,
    others: Vec<u32>,
    failures: Failures,
    /// What is called with invariants.
    mark: Option<FunctionId>,
    errors: Diagnostics,
}

impl<'a> Lowering<'a> {
    fn new(
        structures: &'a Structures,
        globals: &'a HashMap<&'a str, GlobalId>,
        judging: Judging,
        thread: &Thread,
    ) -> Lowering<'a> {
        let mut builder = FunctionBuilder::new(&thread.name);
        for register in structures.registers.iter().filter(|register| register.initial != 0) {
            let var = builder.var(&register.name, WIDTH);
            builder.at(register.mark.0);
            builder.assign(var, Expr::constant(WIDTH, u128::from(register.initial)));
        }
        let failures = Failures::new(&thread.name);
        let others = Vec::new();
        let (mark, errors) = (None, Vec::new());
        Lowering { structures, globals, judging, builder, others, failures, mark, errors }
    }

    fn thread(&mut self, thread: &Thread) {
        self.elements(&thread.elements);
        self.builder.at(thread.mark.0);
        self.judge();
    }

    fn var(&mut self, name: &str) -> VarId {
        self.builder.var(name, WIDTH)
    }

    fn error(&mut self, span: Span, message: impl Into<String>) {
        let error: Diagnostic = self.structures.source.error(span, message);
        self.errors.push(error);
    }

    fn elements(&mut self, list: &[Element]) {
        for element in list {
            self.builder.at(element.mark.0);
            self.element(element);
        }
    }

    fn element(&mut self, element: &Element) {
        match &element.kind {
            ElementKind::Instr(ex) => self.ex(ex),
            ElementKind::Label(name) => {
                self.builder.place_label(name);
            }
            ElementKind::Assume(condition) => {
                let condition = self.condition(condition);
                self.builder.emit(InstKind::Assume { condition });
            }
            ElementKind::Assert(condition) => self.assert(condition, element.mark.0),
            ElementKind::IfBranch(condition, body) => {
                let condition = !self.condition(condition);
                let end = self.builder.new_block("end");
                self.builder.branch(condition, end);
                self.elements(body);
                self.builder.enter(end);
            }
            ElementKind::DoWhile { body, condition, invariant } => {
                let head = self.builder.new_block("do");
                self.builder.enter(head);
                self.elements(body);
                self.builder.at(element.mark.0);
                let condition = self.condition(condition);
                match (self.mark, invariant) {
                    (Some(mark), Some(invariant)) => {
                        self.marked(condition, head, mark, invariant);
                    }
                    _ => self.builder.branch(condition, head),
                }
            }
        }
    }

    /// Goes back to the head of a loop where a condition holds, by a mark.
    fn marked(&mut self, again: Expr, head: BlockId, mark: FunctionId, invariant: &Condition) {
        let end = self.builder.new_block("end");
        self.builder.branch(!again, end);
        let holds = self.condition(invariant);
        self.builder.emit(InstKind::Call {
            dst: None,
            callee: Callee::Direct(mark),
            args: vec![holds.zero_extend(WIDTH)],
        });
        self.builder.terminate(Terminator::Jump(head));
        self.builder.enter(end);
    }

    /// Does something where a condition holds. As of predicated instructions, what is done
    /// depends on the condition by control, and what follows does not; unless it is a jump.
    fn when(&mut self, condition: Expr, lasts: bool, then: impl FnOnce(&mut Self)) {
        let (taken, end) = (self.builder.new_block("then"), self.builder.new_block("end"));
        let join = (!lasts).then_some(end);
        self.branch_to(condition, taken, end, join);
        self.builder.enter(taken);
        then(self);
        self.builder.enter(end);
    }

    fn branch_to(&mut self, condition: Expr, then: BlockId, end: BlockId, join: Option<BlockId>) {
        let otherwise = end;
        self.builder.terminate(Terminator::Branch { condition, then, otherwise, join });
    }

    fn fence_everything(&mut self) {
        let tags = start::all_fences();
        self.builder.emit(InstKind::Fence { tags });
    }
}

/// The parts of a sequence; of anything else, it alone.
fn parts(ex: &Ex) -> &[Ex] {
    match ex {
        Ex::Nil => &[],
        Ex::Seq(parts) => parts,
        _ => std::slice::from_ref(ex),
    }
}
