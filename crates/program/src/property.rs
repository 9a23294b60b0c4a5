//! Properties: what can be wrong with an execution.

use std::fmt;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Property {
    /// An assertion of the program.
    Assert,
    /// Conflicting accesses, one of them not atomic, that nothing orders.
    Race,
    /// An access to what is not there, or not there any more, or was never written.
    Memory,
    /// An object that is never freed.
    Leak,
    /// Threads that wait for one another.
    Deadlock,
    /// A lock that is used wrongly.
    Lock,
    /// A loop that waits for a write that nobody makes.
    Liveness,
    /// Arithmetic that the language leaves undefined.
    Overflow,
    /// Where objects lie in memory decides what happens. Nobody asks for it: what comes after is
    /// another thing in another layout, so that nothing is concluded.
    Layout,
}

impl Property {
    /// Those that people ask for.
    pub const ALL: [Property; 8] = [
        Property::Assert,
        Property::Race,
        Property::Memory,
        Property::Leak,
        Property::Deadlock,
        Property::Lock,
        Property::Liveness,
        Property::Overflow,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Property::Assert => "assert",
            Property::Race => "race",
            Property::Memory => "memory",
            Property::Leak => "leak",
            Property::Deadlock => "deadlock",
            Property::Lock => "lock",
            Property::Liveness => "liveness",
            Property::Overflow => "overflow",
            Property::Layout => "layout",
        }
    }

    pub fn named(name: &str) -> Option<Property> {
        Property::ALL.into_iter().find(|property| property.name() == name)
    }
}

impl fmt::Display for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
