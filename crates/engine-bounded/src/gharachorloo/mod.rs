//! Memory models by sub-operations, a second way to say which executions are allowed.
//!
//! Each processor has a copy of memory. A read is one sub-operation, on the copy of its own
//! processor; a write is one on every copy. An execution is allowed where the sub-operations fit
//! into one total order, *xo*, that keeps what the model demands of conflicting accesses. This is
//! the framework of K. Gharachorloo, Memory consistency models for shared-memory multiprocessors,
//! dissertation, Stanford 1995, with the conditions for SC and TSO in the form that P. Maleehuan,
//! dissertation, JAIST 2018, gives to solvers. PSO is like TSO, with fewer pairs of program
//! order that count.
//!
//! Nothing here looks into a `.cat` file: what is shared with the other framework are events,
//! where they may meet, and who may read from whom. So the two check one another.
//!
//! - [`order`]: xo itself, and that writes are seen in the same order everywhere (coherence);
//! - [`values`]: what reads return, and that read-modify-writes are not interrupted;
//! - [`program_order`]: which pairs of program order count (*spo*);
//! - [`chains`]: the conditions on chains of spo and of conflicts between processors (*sco*).

mod chains;
mod order;
mod program_order;
mod values;

use parallax_machine::system::MemoryKind;
use parallax_memory::{Facts, Model};
use parallax_program::{self as language, Diagnostic, Help};
use parallax_solver::Literal;

use crate::circuit::Circuit;
use crate::communication::{Communication, Pairs};
use crate::event::{Event, Step};
use crate::options::Framework;
use crate::structure::Structure;
use crate::watch::Watch;
use order::ExecutionOrder;

/// The models that there are conditions for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Conditions {
    Sc,
    Tso,
    Pso,
}

impl Conditions {
    pub fn of(model: &Model) -> Result<Conditions, Diagnostic> {
        match model.facts().machine {
            Some(MemoryKind::Sc) => Ok(Conditions::Sc),
            Some(MemoryKind::Tso) => Ok(Conditions::Tso),
            Some(MemoryKind::Pso) => Ok(Conditions::Pso),
            Some(MemoryKind::Mca) | None => {
                let message = format!(
                    "the framework 'gharachorloo' has no conditions for the model '{}'",
                    model.name()
                );
                let names = Facts::names(|facts| facts.machine.is_some());
                let help = Help::from(format!("it knows {names}"));
                let other = Help::with(language::Setting::Framework, "cat", "takes every model");
                Err(Diagnostic::new(message).with_help(help.and(other)))
            }
        }
    }
}

/// Whether a framework can be used for a model.
pub fn admit(framework: Framework, model: &Model) -> Result<(), Diagnostic> {
    match framework {
        Framework::Cat => Ok(()),
        Framework::Gharachorloo => Conditions::of(model).map(|_| ()),
    }
}

/// The first part of an access of which others use a part: only whole accesses have sub-operations.
pub fn first_part(structure: &Structure) -> Option<usize> {
    let is_part = |event: &Event| match event.step {
        Step::Access { whole } => event.bytes != whole,
        _ => false,
    };
    structure.events.iter().position(is_part)
}

/// What an execution is made of, as far as it is not about order.
struct Setting<'a> {
    structure: &'a Structure,
    executed: &'a [Literal],
    same_place: Pairs,
    circuit: &'a mut Circuit,
}

impl Setting<'_> {
    /// Whether two accesses are to the same place, given that both happen; none if that cannot be.
    fn meet(&self, a: usize, b: usize) -> Option<Literal> {
        self.same_place.get(&(a, b)).copied()
    }

    fn thread(&self, event: usize) -> Option<u32> {
        self.structure.events[event].thread
    }

    fn is_write(&self, event: usize) -> bool {
        self.structure.events[event].kind.is_write()
    }

    fn is_read(&self, event: usize) -> bool {
        self.structure.events[event].kind.is_read()
    }

    /// The accesses of threads.
    fn accesses(&self) -> Vec<usize> {
        let events = &self.structure.events[..self.structure.initials];
        (0..events.len()).filter(|event| events[*event].kind.is_access()).collect()
    }
}

/// Choices of an execution that the conditions allow.
pub fn constrain(
    conditions: Conditions,
    structure: &Structure,
    executed: &[Literal],
    circuit: &mut Circuit,
    watch: &Watch<'_>,
) -> Communication {
    let mut communication = Communication::unordered(structure, executed, circuit, watch);
    let same_place = std::mem::take(&mut communication.same_place);
    let mut setting = Setting { structure, executed, same_place, circuit };
    let order = ExecutionOrder::new(&mut setting);
    values::reads_return_what_they_see(&mut setting, &order, &communication.sources);
    values::pairs_are_not_interrupted(&mut setting, &order);
    let program_order = program_order::that_counts(&mut setting, conditions, watch);
    chains::keep(&mut setting, &order, &program_order);
    communication.order = order.of_writes(&mut setting);
    communication.same_place = setting.same_place;
    communication
}
