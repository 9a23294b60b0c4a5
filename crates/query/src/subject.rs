//! A program in the forms that engines take.

use std::fmt;
use std::sync::Arc;

use parallax_program::{InstKind, Location, Program, Property, Question};
use parallax_verdict::{Confirmed, Execution, Violation};

/// A program has one form at least.
#[derive(Clone, Debug, Default)]
pub struct Subject {
    /// How messages and schedules name the input.
    pub name: String,
    /// With assertions where things may be wrong.
    pub program: Option<Program>,
    /// With a question about final states.
    pub finals: Option<Final>,
    /// With marks where invariants of loops are.
    pub marked: Option<Marked>,
    /// Whether it is the code of a machine, and no language for people.
    pub is_machine_code: bool,
    /// Whether assertions say something only of executions in which all threads end.
    pub is_judged_at_end: bool,
}

/// A program whose final states say whether something is wrong.
#[derive(Clone, Debug)]
pub struct Final {
    pub program: Program,
    /// Asks for the states that are violations.
    pub bad: Question,
    pub wording: Wording,
}

/// What is wrong with an execution that ends in a bad state, and where.
#[derive(Clone)]
pub struct Wording(pub Arc<Describe>);

/// Says of an execution what is wrong with it, and where.
pub type Describe = dyn Fn(&Execution) -> (String, Option<Location>) + Send + Sync;

impl fmt::Debug for Wording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Wording")
    }
}

impl Subject {
    /// A program with assertions.
    pub fn of(program: Program) -> Subject {
        Subject { program: Some(program), ..Subject::default() }
    }

    /// Whether the program has load-linked and store-conditional operations, which few engines know.
    pub fn has_reservations(&self) -> bool {
        let functions = self.program.iter().flat_map(|program| &program.functions);
        let mut all = functions.flat_map(|function| &function.blocks).flat_map(|it| &it.insts);
        all.any(|inst| matches!(inst.kind, InstKind::StoreConditional { .. }))
    }
}

impl Final {
    /// An execution that ends in a bad state.
    pub fn violation(&self, execution: Confirmed<Execution>) -> Violation {
        let (message, place) = (self.wording.0)(&execution);
        Violation { property: Property::Assert, message, place, execution, involved: Vec::new() }
    }
}

/// A program for proofs by invariants.
#[derive(Clone, Debug)]
pub struct Marked {
    pub program: Program,
    /// How invariants that are found compare numbers.
    pub order: NumberOrder,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum NumberOrder {
    #[default]
    Signed,
    Unsigned,
}
