//! Operation structures as a tree.
//!
//! An operation structure says of each machine instruction which operations it is made of: reads
//! and writes of registers and of memory, arithmetic on temporaries, fences. The language is that
//! of P. Maleehuan, "Program Verification for Multiprocessors with Relaxed Memory Models using an
//! SMT Solver", dissertation, JAIST 2018, chapters 3 and 4.

use parallax_program::{SourceFile, Span};

use crate::isa::{Fence, Isa};

/// A whole file: what all threads share, and the threads.
#[derive(Clone, Debug)]
pub struct Structures {
    pub isa: Option<Isa>,
    pub locations: Vec<Location>,
    /// Beside those of the instruction set.
    pub registers: Vec<Register>,
    pub threads: Vec<Thread>,
    pub source: SourceFile,
}

/// Two are equal that say the same, wherever they say it.
impl PartialEq for Structures {
    fn eq(&self, other: &Structures) -> bool {
        self.isa == other.isa
            && self.locations == other.locations
            && self.registers == other.registers
            && self.threads == other.threads
    }
}

/// A place in the source, which makes no difference.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mark(pub Span);

impl PartialEq for Mark {
    fn eq(&self, _: &Mark) -> bool {
        true
    }
}

impl Eq for Mark {}

/// A location of shared memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Location {
    /// Without brackets; a number in its shortest hexadecimal form.
    pub name: String,
    pub initial: Initial,
    pub mark: Mark,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Initial {
    Value(u32),
    Arbitrary,
}

/// A register that every thread has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Register {
    pub name: String,
    pub initial: u32,
    pub mark: Mark,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Thread {
    pub name: String,
    pub elements: Vec<Element>,
    pub mark: Mark,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Element {
    pub kind: ElementKind,
    pub mark: Mark,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ElementKind {
    /// One machine instruction.
    Instr(Ex),
    Label(String),
    Assume(Condition),
    Assert(Condition),
    /// Structured dialect: a forward branch around the elements.
    IfBranch(Condition, Vec<Element>),
    /// Structured dialect: a loop with its invariant.
    DoWhile {
        body: Vec<Element>,
        invariant: Option<Condition>,
        condition: Condition,
    },
}

/// What an instruction does: its operations, and what is known of their order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ex {
    Nil,
    Op(Op),
    /// One after the other; at least two.
    Seq(Vec<Ex>),
    /// In any order; at least two.
    Par(Vec<Ex>),
    /// Half of a read-modify-write.
    Atom(Op),
    If(Condition, Box<Ex>, Mark),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Op {
    pub kind: OpKind,
    pub mark: Mark,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OpKind {
    /// A temporary gets the value of a register or a location.
    Read {
        dst: String,
        src: Place,
    },
    Write {
        dst: Place,
        value: Exp,
    },
    /// A temporary or a register gets a value that nothing determines.
    Anything {
        dst: String,
    },
    /// A temporary gets the value of an expression; no event.
    Compute {
        dst: String,
        value: Exp,
    },
    Branch {
        condition: Condition,
        label: String,
    },
    Fence(Fence),
    LoadLinked {
        dst: String,
        location: Target,
    },
    /// The flag becomes 0 where the store succeeds, and 1 where it does not.
    StoreConditional {
        flag: String,
        location: Target,
        value: Exp,
    },
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Place {
    Register(String),
    Memory(Target),
}

/// A location of memory, by its name or by the number that a temporary holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Target {
    Named(String),
    Computed(String),
}

/// Naturals, as machine words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Exp {
    Number(u32),
    Temporary(String),
    /// In invariants only: what the thread last wrote to the location.
    Location(String),
    Add(Box<Exp>, Box<Exp>),
    Sub(Box<Exp>, Box<Exp>),
    Choice(Box<Condition>, Box<Exp>, Box<Exp>),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Condition {
    True,
    False,
    Compare(Comparison, Exp, Exp),
    And(Box<Condition>, Box<Condition>),
    Or(Box<Condition>, Box<Condition>),
    Not(Box<Condition>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Comparison {
    Equal,
    Unequal,
    Less,
    Greater,
    AtMost,
    AtLeast,
}

impl Comparison {
    pub const ALL: [(Comparison, &str); 6] = [
        (Comparison::Equal, "="),
        (Comparison::Unequal, "!="),
        (Comparison::Less, "<"),
        (Comparison::Greater, ">"),
        (Comparison::AtMost, "<="),
        (Comparison::AtLeast, ">="),
    ];

    pub fn symbol(self) -> &'static str {
        Comparison::ALL.iter().find(|(op, _)| *op == self).map_or("=", |(_, text)| text)
    }
}

impl Exp {
    /// Calls `visit` on each temporary and location, from left to right.
    pub fn leaves<'a>(&'a self, visit: &mut dyn FnMut(&'a Exp)) {
        match self {
            Exp::Number(_) => {}
            Exp::Temporary(_) | Exp::Location(_) => visit(self),
            Exp::Add(left, right) | Exp::Sub(left, right) => {
                left.leaves(visit);
                right.leaves(visit);
            }
            Exp::Choice(condition, then, otherwise) => {
                condition.leaves(visit);
                then.leaves(visit);
                otherwise.leaves(visit);
            }
        }
    }
}

impl Condition {
    /// As [`Exp::leaves`].
    pub fn leaves<'a>(&'a self, visit: &mut dyn FnMut(&'a Exp)) {
        match self {
            Condition::True | Condition::False => {}
            Condition::Compare(_, left, right) => {
                left.leaves(visit);
                right.leaves(visit);
            }
            Condition::And(left, right) | Condition::Or(left, right) => {
                left.leaves(visit);
                right.leaves(visit);
            }
            Condition::Not(inner) => inner.leaves(visit),
        }
    }
}

impl Ex {
    /// Calls `visit` on each operation, in order.
    pub fn operations<'a>(&'a self, visit: &mut dyn FnMut(&'a Op)) {
        match self {
            Ex::Nil => {}
            Ex::Op(op) | Ex::Atom(op) => visit(op),
            Ex::Seq(parts) | Ex::Par(parts) => {
                parts.iter().for_each(|part| part.operations(visit));
            }
            Ex::If(_, body, _) => body.operations(visit),
        }
    }
}

/// Calls `visit` on each element, those inside others included.
pub fn elements<'a>(list: &'a [Element], visit: &mut dyn FnMut(&'a Element)) {
    for element in list {
        visit(element);
        match &element.kind {
            ElementKind::IfBranch(_, body) | ElementKind::DoWhile { body, .. } => {
                elements(body, visit);
            }
            _ => {}
        }
    }
}

impl Structures {
    /// Calls `visit` on each operation of each thread.
    pub fn operations<'a>(&'a self, visit: &mut dyn FnMut(&'a Op)) {
        for thread in &self.threads {
            elements(&thread.elements, &mut |element| {
                if let ElementKind::Instr(ex) = &element.kind {
                    ex.operations(visit);
                }
            });
        }
    }

    /// Whether some thread assumes something.
    pub fn has_assumptions(&self) -> bool {
        let mut found = false;
        for thread in &self.threads {
            elements(&thread.elements, &mut |element| {
                found |= matches!(element.kind, ElementKind::Assume(_));
            });
        }
        found
    }
}
