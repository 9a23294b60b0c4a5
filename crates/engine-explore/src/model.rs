//! What the rules of the engine make of the marks of events. Which models have rules here is a
//! [fact](parallax_memory::Facts) about them; any other is asked through its `.cat` file, see
//! [`crate::cat`].

use parallax_memory::Native;

use crate::event::Marks;

/// How the memory orders of C are taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Strength {
    AsWritten,
    /// Every atomic access synchronises.
    Synchronising,
    /// The same, and there is no order of sequentially consistent accesses; only fences have
    /// one.
    ReleaseAcquire,
}

impl Strength {
    pub fn of(native: Native) -> Strength {
        match native {
            Native::Sc => Strength::Synchronising,
            Native::Ra => Strength::ReleaseAcquire,
            Native::Rc11 | Native::Rc20 | Native::Imm | Native::Tso | Native::Pso => {
                Strength::AsWritten
            }
        }
    }

    pub fn adjust(self, marks: Marks) -> Marks {
        let both = Marks::ACQUIRE.with(Marks::RELEASE);
        match self {
            Strength::AsWritten => marks,
            _ if !marks.is_atomic() => marks,
            Strength::Synchronising => marks.with(both),
            Strength::ReleaseAcquire => marks.with(both).without(Marks::SEQ_CST),
        }
    }
}
