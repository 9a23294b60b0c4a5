//! Whether a final state satisfies a proposition.

use parallax_program::{Bits, Operand, Place, Prop};

use crate::{Code, Concrete};

/// Whether a proposition holds of a final state, of which `value` says what a place holds. A place
/// that there is not holds 0.
pub fn holds(prop: &Prop, code: &Code<'_>, value: &impl Fn(&Place) -> Option<Bits>) -> bool {
    match prop {
        Prop::True => true,
        Prop::False => false,
        Prop::Compare { left, equal, right } => {
            let number = |place: &Place| value(place).map_or(0, Bits::unsigned);
            let right = match right {
                Operand::Value(expr) => code.evaluate(expr, &[], &mut Concrete).unsigned(),
                Operand::Observable(observable) => number(&observable.place),
            };
            (number(&left.place) == right) == *equal
        }
        Prop::Not(inner) => !holds(inner, code, value),
        Prop::And(parts) => parts.iter().all(|part| holds(part, code, value)),
        Prop::Or(parts) => parts.iter().any(|part| holds(part, code, value)),
    }
}
