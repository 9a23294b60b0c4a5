//! Value domains: what the interpreter computes with.

use parallax_program::{BinaryOp, Bits, UnaryOp};

/// What is known of a one-bit value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Truth {
    True,
    False,
    /// It may be either; the engine decides.
    Undecided,
}

/// A domain of values. Operands have the widths that the operators of `parallax-program`
/// ask for; a checked program guarantees it.
pub trait Domain {
    type Value: Clone;

    /// Whether anyone asks which branches a value or an operation depends on.
    const FOLLOWS_CONTROL: bool = true;

    /// Whether values may turn out to be the same that are not known to be: then somebody asks what
    /// a loop has changed ([`Thread::take_return`](crate::Thread::take_return)).
    const COMPARES: bool = false;

    /// Whether what nobody has written has some value, which the engine chooses.
    const CHOOSES_UNDEFINED: bool = true;

    fn constant(&mut self, bits: Bits) -> Self::Value;
    fn unary(&mut self, op: UnaryOp, value: &Self::Value) -> Self::Value;
    fn binary(&mut self, op: BinaryOp, left: &Self::Value, right: &Self::Value) -> Self::Value;
    fn extract(&mut self, value: &Self::Value, low: u32, width: u32) -> Self::Value;
    fn concat(&mut self, high: &Self::Value, low: &Self::Value) -> Self::Value;
    fn zero_extend(&mut self, value: &Self::Value, width: u32) -> Self::Value;
    fn sign_extend(&mut self, value: &Self::Value, width: u32) -> Self::Value;
    fn select(
        &mut self,
        condition: &Self::Value,
        then: &Self::Value,
        otherwise: &Self::Value,
    ) -> Self::Value;
    /// A value that the thread takes because of a condition whose arms meet again, which leaves
    /// no other trace in it. Domains that do not ask where values come from leave it alone.
    fn picked(&mut self, value: Self::Value, _condition: &Self::Value) -> Self::Value {
        value
    }
    /// Whether what depends on a condition depends on nothing new, where it depends on another one
    /// already. Such conditions are not kept: a loop has one for each of its rounds.
    fn adds_nothing(&self, _condition: &Self::Value, _other: Option<&Self::Value>) -> bool {
        false
    }
    fn truth(&self, value: &Self::Value) -> Truth;
    /// Whether two values are known to be the same.
    fn same(&self, left: &Self::Value, right: &Self::Value) -> bool {
        self.known(left).is_some_and(|value| self.known(right) == Some(value))
    }
    /// The value, where there is only one it can be.
    fn known(&self, value: &Self::Value) -> Option<Bits>;
}
