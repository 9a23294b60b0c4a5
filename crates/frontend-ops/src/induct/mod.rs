//! Loops replaced by what invariants say of them, so that proofs need no bound.
//!
//! The method is that of P. Maleehuan's dissertation, chapter 4, after A. F. Donaldson, L. Haller, D.
//! Kroening, P. Rümmer, Software verification using k-induction, SAS 2011. A loop
//! `do { body <inv> } while(c)` becomes:
//!
//! ```text
//! body;
//! if c:
//!   assert inv                                     the invariant at first
//!   several times, or less often:
//!     what the body changes becomes anything; its stores happen, of anything;
//!     assume c and inv
//!   what the body changes becomes anything; assume c and inv; body
//!   if c: assert inv; the thread ends here         the invariant is kept
//! ```
//!
//! Why this covers all executions, of models in which program order and reads-from have no cycle and
//! which only forbid: take one in which something is violated, cut off where that first happens. Of
//! each loop keep the first iteration, the last, and the stores of those in between that a kept
//! load reads. What is left is allowed, because whatever forbids it would forbid the whole. Every load
//! reads one store, so as many iterations in between are enough as there are loads of what the loop
//! writes. Where threads were cut off, they can always go on. A thread stops where its invariant does
//! not hold, so that no assumption is in its way.
//!
//! This repairs what the printed method leaves out: registers change, too; each iteration has values
//! of its own; iterations in between may be fewer; the thread's own loads count.

mod fitness;
mod ghosts;

use std::collections::BTreeSet;

use parallax_program::{
    Diagnostic, Diagnostics, Expr, Observable, Operand, Place as ProgramPlace, Prop, Quantifier,
    Question, VarId,
};

use fitness::Fitness;
use ghosts::{followed, ghost, located, mentioned};

use crate::lower::{Lowered, WIDTH};
use crate::names::Names;
use crate::syntax::{
    Comparison, Condition, Element, ElementKind, Ex, Exp, Mark, Op, OpKind, Place, Structures,
    Target, elements,
};

/// Structures without loops, whose assertions are what has to be proved.
#[derive(Clone, Debug)]
pub struct Induction {
    pub structures: Structures,
    /// What the assertions stand for, thread by thread, in order.
    pub meanings: Vec<Vec<Meaning>>,
}

/// What an assertion stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Meaning {
    /// An assertion of the source.
    Asserted,
    /// An invariant after the first iteration.
    AtFirst,
    /// An invariant after any other.
    Kept,
}

/// The temporary that is 1 where a thread has come to its end and has not been stopped.
const ENDED: &str = "ended'";

/// Where a thread goes that is stopped.
const STOP: &str = "stop'";
const CHOICE: &str = "choice'";

/// There may be so many stand-ins of iterations of a loop.
const MOST_ITERATIONS: usize = 64;

/// Replaces all loops. Structures that the method is not for are errors.
pub fn induction(structures: &Structures) -> Result<Induction, Diagnostics> {
    let mut errors = Diagnostics::new();
    for thread in &structures.threads {
        Fitness { structures, errors: &mut errors }.thread(thread);
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let mut result = Induction { structures: structures.clone(), meanings: Vec::new() };
    for thread in &mut result.structures.threads {
        let mut builder = Builder { structures, ghosts: mentioned(thread), meanings: Vec::new() };
        let mut list = builder.start();
        for element in &thread.elements {
            builder.element(element, &mut list).map_err(|error| vec![error])?;
        }
        list.push(instr(compute(ENDED, Exp::Number(1)), thread.mark));
        list.push(Element { kind: ElementKind::Label(STOP.to_string()), mark: thread.mark });
        thread.elements = list;
        result.meanings.push(builder.meanings);
    }
    Ok(result)
}

impl Induction {
    /// What an assertion of a thread stands for.
    pub fn meaning(&self, thread: &str, number: usize) -> Option<Meaning> {
        let threads = &self.structures.threads;
        let place = threads.iter().position(|known| known.name == thread)?;
        self.meanings.get(place)?.get(number).copied()
    }

    /// Asks whether all threads of the program that was made of this come to their ends.
    pub fn ended(&self, lowered: &Lowered) -> Question {
        let functions = lowered.program.functions.iter().enumerate();
        let ends = functions.filter_map(|(thread, function)| {
            let var = function.vars.iter().position(|var| var.name == ENDED)?;
            let var = VarId(var as u32);
            let place = ProgramPlace::Variable { thread: thread as u32, var, width: WIDTH };
            let name = format!("{}:{ENDED}", function.name);
            let left = Observable { name, place, signed: false };
            let right = Operand::Value(Expr::constant(WIDTH, 1));
            Some(Prop::Compare { left, equal: true, right })
        });
        Question {
            quantifier: Quantifier::Exists,
            prop: Prop::And(ends.collect()),
            text: "all threads end".to_string(),
            locations: Vec::new(),
            filter: None,
        }
    }
}

/// The location that an operation may write to.
fn written(op: &Op) -> Option<&Target> {
    match &op.kind {
        OpKind::Write { dst: Place::Memory(target), .. } => Some(target),
        OpKind::StoreConditional { location, .. } => Some(location),
        _ => None,
    }
}

/// The location that an operation reads.
fn read(op: &Op) -> Option<&Target> {
    match &op.kind {
        OpKind::Read { src: Place::Memory(target), .. } => Some(target),
        OpKind::LoadLinked { location, .. } => Some(location),
        _ => None,
    }
}

fn instr(ex: Ex, mark: Mark) -> Element {
    Element { kind: ElementKind::Instr(ex), mark }
}

fn op(kind: OpKind) -> Ex {
    Ex::Op(Op { kind, mark: Mark::default() })
}

fn compute(dst: &str, value: Exp) -> Ex {
    op(OpKind::Compute { dst: dst.to_string(), value })
}

fn anything(dst: &str) -> Ex {
    op(OpKind::Anything { dst: dst.to_string() })
}

struct Builder<'a> {
    structures: &'a Structures,
    ghosts: BTreeSet<String>,
    meanings: Vec<Meaning>,
}

impl Builder<'_> {
    /// Nothing was written yet, so it is anything.
    fn start(&self) -> Vec<Element> {
        let first = self.ghosts.iter().map(|location| anything(&ghost(location)));
        first.map(|ex| instr(ex, Mark::default())).collect()
    }

    fn element(&mut self, element: &Element, list: &mut Vec<Element>) -> Result<(), Diagnostic> {
        let mark = element.mark;
        match &element.kind {
            ElementKind::DoWhile { body, invariant: Some(invariant), condition } => {
                let parts = Loop { body, invariant: &located(invariant), condition, mark };
                return self.looped(&parts, list);
            }
            ElementKind::IfBranch(condition, body) => {
                let mut inner = Vec::new();
                for element in body {
                    self.element(element, &mut inner)?;
                }
                let kind = ElementKind::IfBranch(condition.clone(), inner);
                list.push(Element { kind, mark });
            }
            ElementKind::Instr(ex) => list.push(instr(followed(ex, &self.ghosts), mark)),
            ElementKind::Assert(_) => {
                self.meanings.push(Meaning::Asserted);
                list.push(element.clone());
            }
            _ => list.push(element.clone()),
        }
        Ok(())
    }

    fn looped(&mut self, parts: &Loop<'_>, list: &mut Vec<Element>) -> Result<(), Diagnostic> {
        let count = self.loads_of(&parts.writes());
        if count > MOST_ITERATIONS {
            let message = format!("this loop needs {count} stand-ins of iterations: too many");
            return Err(self.structures.source.error(parts.mark.0, message));
        }
        let goes_on = || parts.condition.clone();
        for element in parts.body {
            self.element(element, list)?;
        }
        let mut again = Vec::new();
        self.require(parts, Meaning::AtFirst, &mut again);
        for _ in 0..count {
            again.push(instr(anything(CHOICE), parts.mark));
            let mut iteration = Vec::new();
            self.forget(parts, &mut iteration);
            self.stores(parts.body, &parts.flags(), &mut iteration);
            iteration.push(parts.assumed());
            let kind = ElementKind::IfBranch(chosen(CHOICE), iteration);
            again.push(Element { kind, mark: parts.mark });
        }
        self.forget(parts, &mut again);
        again.push(parts.assumed());
        for element in parts.body {
            self.element(element, &mut again)?;
        }
        let mut kept = Vec::new();
        self.require(parts, Meaning::Kept, &mut kept);
        kept.push(instr(stop(Condition::True), parts.mark));
        let kind = ElementKind::IfBranch(goes_on(), kept);
        again.push(Element { kind, mark: parts.mark });
        let kind = ElementKind::IfBranch(goes_on(), again);
        list.push(Element { kind, mark: parts.mark });
        Ok(())
    }

    /// The invariant has to hold; where it does not, the thread stops.
    fn require(&mut self, parts: &Loop<'_>, meaning: Meaning, list: &mut Vec<Element>) {
        self.meanings.push(meaning);
        let kind = ElementKind::Assert(parts.invariant.clone());
        list.push(Element { kind, mark: parts.mark });
        let fails = Condition::Not(Box::new(parts.invariant.clone()));
        list.push(instr(stop(fails), parts.mark));
    }

    /// What the body changes becomes anything.
    fn forget(&self, parts: &Loop<'_>, list: &mut Vec<Element>) {
        let mut changed = BTreeSet::new();
        elements(parts.body, &mut |element| {
            changed.extend(Names::of_element(element).written.iter().map(|name| name.to_string()));
        });
        for location in parts.writes() {
            if self.ghosts.contains(&location) {
                changed.insert(ghost(&location));
            }
        }
        list.extend(changed.iter().map(|name| instr(anything(name), parts.mark)));
    }

    /// The stores of a body, each of which may happen, of anything. Whether a store-conditional
    /// succeeds shows in its flag, until that is changed again.
    fn stores(&self, body: &[Element], flags: &BTreeSet<String>, list: &mut Vec<Element>) {
        for element in body {
            match &element.kind {
                ElementKind::Instr(ex) => {
                    let stores = self.stores_of(ex, flags);
                    if stores != Ex::Nil {
                        list.push(instr(stores, element.mark));
                    }
                }
                ElementKind::IfBranch(_, inner) => {
                    let mut some = Vec::new();
                    self.stores(inner, flags, &mut some);
                    if !some.is_empty() {
                        list.push(instr(anything(CHOICE), element.mark));
                        let kind = ElementKind::IfBranch(chosen(CHOICE), some);
                        list.push(Element { kind, mark: element.mark });
                    }
                }
                _ => {}
            }
        }
    }

    fn stores_of(&self, ex: &Ex, flags: &BTreeSet<String>) -> Ex {
        let all = |parts: &[Ex], make: fn(Vec<Ex>) -> Ex| {
            let stores = parts.iter().map(|part| self.stores_of(part, flags));
            let mut stores: Vec<Ex> = stores.filter(|store| *store != Ex::Nil).collect();
            match stores.len() {
                0 => Ex::Nil,
                1 => stores.remove(0),
                _ => make(stores),
            }
        };
        match ex {
            Ex::Nil => Ex::Nil,
            Ex::Op(operation) | Ex::Atom(operation) => match written(operation) {
                Some(target) => self.store(operation, target),
                None => forgotten(operation, flags),
            },
            Ex::Seq(parts) => all(parts, Ex::Seq),
            Ex::Par(parts) => all(parts, Ex::Par),
            Ex::If(_, body, mark) => match self.stores_of(body, flags) {
                Ex::Nil => Ex::Nil,
                stores => {
                    let choice = choice_of(*mark);
                    let test = Ex::If(chosen(&choice), Box::new(stores), *mark);
                    Ex::Seq(vec![anything(&choice), test])
                }
            },
        }
    }

    /// A store of anything, to a temporary of its own; one that may fail may not happen.
    fn store(&self, operation: &Op, target: &Target) -> Ex {
        let value = match target {
            Target::Named(name) if self.ghosts.contains(name) => ghost(name),
            _ => format!("stored'{}", operation.mark.0.start),
        };
        let dst = Place::Memory(target.clone());
        let kind = OpKind::Write { dst, value: Exp::temporary(&value) };
        let store = Ex::Op(Op { kind, mark: operation.mark });
        let sure = Ex::Seq(vec![anything(&value), store]);
        let OpKind::StoreConditional { flag, .. } = &operation.kind else {
            return sure;
        };
        let choice = choice_of(operation.mark);
        let done = Ex::Seq(vec![sure, compute(flag, Exp::Number(0))]);
        let test = Ex::If(chosen(&choice), Box::new(done), operation.mark);
        Ex::Seq(vec![anything(&choice), compute(flag, Exp::Number(1)), test])
    }

    /// How many loads of these locations there are in all threads, once loops are replaced: those
    /// of a body twice.
    fn loads_of(&self, locations: &BTreeSet<String>) -> usize {
        let mut count = 0;
        for thread in &self.structures.threads {
            count += loads_in(&thread.elements, locations, 1);
        }
        count
    }
}

fn loads_in(list: &[Element], locations: &BTreeSet<String>, times: usize) -> usize {
    let mut count = 0;
    for element in list {
        match &element.kind {
            ElementKind::Instr(ex) => ex.operations(&mut |op| {
                let is_one = match read(op) {
                    Some(Target::Named(name)) => locations.contains(name),
                    Some(Target::Computed(_)) => true,
                    None => false,
                };
                count += times * usize::from(is_one && !locations.is_empty());
            }),
            ElementKind::IfBranch(_, body) => count += loads_in(body, locations, times),
            ElementKind::DoWhile { body, .. } => count += loads_in(body, locations, 2 * times),
            _ => {}
        }
    }
    count
}

/// The flag that an operation changes becomes anything.
fn forgotten(operation: &Op, flags: &BTreeSet<String>) -> Ex {
    let ex = Ex::Op(operation.clone());
    let changed = Names::of_ex(&ex).written.into_iter().find(|name| flags.contains(*name));
    changed.map_or(Ex::Nil, anything)
}

fn choice_of(mark: Mark) -> String {
    format!("{CHOICE}{}", mark.0.start)
}

fn chosen(choice: &str) -> Condition {
    Condition::Compare(Comparison::Equal, Exp::temporary(choice), Exp::Number(1))
}

fn stop(condition: Condition) -> Ex {
    op(OpKind::Branch { condition, label: STOP.to_string() })
}

struct Loop<'e> {
    body: &'e [Element],
    invariant: &'e Condition,
    condition: &'e Condition,
    mark: Mark,
}

impl Loop<'_> {
    /// The loop goes on, and its invariant holds.
    fn assumed(&self) -> Element {
        let both =
            Condition::And(Box::new(self.condition.clone()), Box::new(self.invariant.clone()));
        Element { kind: ElementKind::Assume(both), mark: self.mark }
    }

    /// The flags of its store-conditional operations.
    fn flags(&self) -> BTreeSet<String> {
        let mut all = BTreeSet::new();
        elements(self.body, &mut |element| {
            if let ElementKind::Instr(ex) = &element.kind {
                ex.operations(&mut |op| {
                    if let OpKind::StoreConditional { flag, .. } = &op.kind {
                        all.insert(flag.clone());
                    }
                });
            }
        });
        all
    }

    /// The locations that the body writes to.
    fn writes(&self) -> BTreeSet<String> {
        let mut all = BTreeSet::new();
        elements(self.body, &mut |element| {
            if let ElementKind::Instr(ex) = &element.kind {
                ex.operations(&mut |op| {
                    if let Some(Target::Named(name)) = written(op) {
                        all.insert(name.clone());
                    }
                });
            }
        });
        all
    }
}
