//! What a user of the engine decides.

use parallax_control::Control;
use parallax_machine::system::{Action, MemoryKind, Setup};
use parallax_program::{Property, Question};

/// How much of the state space is left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Reduction {
    /// Nothing: every state that can be reached is looked at.
    None,
    /// Orders of steps that make no difference; see [`parallax_machine::reduction`].
    #[default]
    Order,
}

/// Takes a way to a violation, with the machine that went it.
pub type Way<'a> = dyn Fn(&Setup<'_>, &[Action]) + 'a;

pub struct Options<'a> {
    /// What to look for.
    pub properties: Vec<Property>,
    pub reduction: Reduction,
    /// Go on after a violation.
    pub all: bool,
    /// What inputs may be; None if programs with inputs are beyond the engine.
    pub nondet: Option<(i128, i128)>,
    pub control: Control<'a>,
    /// Gets the way to each violation that was confirmed.
    pub way: Option<&'a Way<'a>>,
    /// What is asked of final states: one that satisfies the proposition is a violation. What it
    /// mentions is part of a final state; otherwise only memory is.
    pub question: Option<Question>,
}

impl Options<'_> {
    /// What is looked for on a machine. Where accesses are performed later than they are issued, whether an object is
    /// still there then, and who waits for ever, is not.
    pub fn looked_for(memory: MemoryKind) -> &'static [Property] {
        match memory {
            MemoryKind::Mca => &[Property::Assert, Property::Overflow, Property::Lock],
            _ => &Self::PROPERTIES,
        }
    }

    /// Races are no notion of machines that run one step after the other.
    pub const PROPERTIES: [Property; 7] = [
        Property::Assert,
        Property::Memory,
        Property::Leak,
        Property::Deadlock,
        Property::Lock,
        Property::Liveness,
        Property::Overflow,
    ];
}

impl Default for Options<'_> {
    fn default() -> Self {
        let usual = Self::PROPERTIES.into_iter().filter(|property| *property != Property::Leak);
        Options {
            properties: usual.collect(),
            reduction: Reduction::Order,
            all: false,
            nondet: None,
            control: Control::default(),
            way: None,
            question: None,
        }
    }
}
