//! Objects of the heap that are never freed.

use parallax_program::{AllocKind, Bits, Property};
use parallax_solver::Literal;

use crate::checks::{Suspect, Wrong};
use crate::encoding::Encoding;
use crate::event::Step;
use crate::unfold::{Free, Object};

/// Each object that may be left behind when the program is over.
pub fn leaks(
    encoding: &mut Encoding,
    over: Literal,
    frees: &[Free],
    objects: &[Object],
) -> Vec<Suspect> {
    let mut suspects = Vec::new();
    for event in 0..encoding.structure.initials {
        let Step::Alloc { address } = encoding.structure.events[event].step else {
            continue;
        };
        let is_this = |object: &&Object| object.address == address;
        if objects.iter().find(is_this).is_none_or(|object| object.kind != AllocKind::Heap) {
            continue;
        }
        let mut conditions = vec![over, encoding.executed[event]];
        for free in frees {
            let circuit = &mut encoding.circuit;
            let width = circuit.terms.width(free.address);
            let start = circuit.terms.constant(Bits::new(width, u128::from(address)));
            let same = circuit.terms.equals(free.address, start);
            let same = circuit.literal(same);
            conditions.push(!circuit.and(&[same, encoding.executed[free.event as usize]]));
        }
        let when = encoding.circuit.and(&conditions);
        if when != Literal::FALSE {
            let what = Wrong::Said("an object is never freed".to_string());
            let (property, involved) = (Property::Leak, vec![event]);
            suspects.push(Suspect { property, when, what, thread: None, involved });
        }
    }
    suspects
}
