//! What the replayer has confirmed, as a type.
//!
//! Engines claim, and the replayer believes nothing. Whatever people get to see asks for a
//! [`Confirmed`], so an engine, or a search for repairs, that forgets to have an execution replayed
//! does not compile.

use std::ops::Deref;

/// Something that was replayed in the program that it is about, and that its model allows. Only
/// this crate makes one: from claims by [`rebuild`](crate::rebuild()) and
/// [`confirm`](crate::confirm()), from executions of litmus tests by [`replay`](crate::replay()).
///
/// It can be read, and taken apart:
///
/// ```
/// use parallax_verdict::{Confirmed, Execution};
///
/// fn events(shown: &Confirmed<Execution>) -> usize {
///     shown.events.len()
/// }
/// ```
///
/// It can be made of nothing else …
///
/// ```compile_fail
/// use parallax_verdict::{Confirmed, Execution};
///
/// let shown: Confirmed<Execution> = Confirmed(Execution::default());
/// ```
///
/// ```compile_fail
/// use parallax_verdict::{Confirmed, Execution};
///
/// let shown: Confirmed<Execution> = Execution::default().into();
/// ```
///
/// … and nobody can change what was confirmed:
///
/// ```compile_fail
/// use parallax_verdict::{Confirmed, Execution};
///
/// fn forge(shown: &mut Confirmed<Execution>) {
///     shown.events.clear();
/// }
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Confirmed<T>(T);

impl<T> Confirmed<T> {
    pub(crate) fn new(replayed: T) -> Confirmed<T> {
        Confirmed(replayed)
    }

    /// What was confirmed, for whoever changes it: that has to be confirmed again.
    pub fn into_inner(self) -> T {
        self.0
    }

    /// For tests of what is shown, of executions that are written by hand.
    #[cfg(feature = "by-hand")]
    pub fn by_hand(written: T) -> Confirmed<T> {
        Confirmed(written)
    }
}

impl<T> Deref for Confirmed<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> AsRef<T> for Confirmed<T> {
    fn as_ref(&self) -> &T {
        &self.0
    }
}
