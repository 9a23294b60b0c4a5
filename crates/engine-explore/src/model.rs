//! The memory models that the engine decides by itself, and what they make of the marks of
//! events. Any other model is asked through its `.cat` file; see [`crate::cat`].

use crate::event::Marks;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Native {
    Sc,
    Tso,
    Pso,
    /// Release and acquire: every atomic access is both.
    Ra,
    Rc11,
    /// The same with the release sequences of C++20.
    Rc20,
}

impl Native {
    pub fn named(name: &str) -> Option<Native> {
        Some(match name {
            "sc" => Native::Sc,
            "tso" => Native::Tso,
            "pso" => Native::Pso,
            "ra" => Native::Ra,
            "rc11" => Native::Rc11,
            "rc20" => Native::Rc20,
            _ => return None,
        })
    }

    /// Whether happens-before decides what may be read.
    pub fn by_happens_before(self) -> bool {
        matches!(self, Native::Ra | Native::Rc11 | Native::Rc20)
    }

    /// Whether it is a model of a language, in which races are errors.
    pub fn is_of_language(self) -> bool {
        self == Native::Sc || self.by_happens_before()
    }

    pub fn strength(self) -> Strength {
        match self {
            Native::Sc => Strength::Synchronising,
            Native::Ra => Strength::ReleaseAcquire,
            Native::Rc11 | Native::Rc20 | Native::Tso | Native::Pso => Strength::AsWritten,
        }
    }
}

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
