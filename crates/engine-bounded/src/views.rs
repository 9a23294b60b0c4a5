//! Classes of executions by the values of reads, each found once.
//!
//! A model of the formula is an execution, and the values of its reads are its class. A clause asks for another one:
//! some read that happens here has another value, or something else was chosen. What threads do
//! follows from that, so nothing need be said of reads that do not happen here.

use std::collections::BTreeMap;

use parallax_program::Bits;
use parallax_solver::{Answer, Literal, Term};

use crate::encoding::Encoding;
use crate::event::{Kind, Step};
use crate::watch::Watch;

/// How many classes there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Views {
    pub found: u64,
    /// Whether that is all.
    pub are_all: bool,
}

/// Something that executions differ in, if it happens.
struct Seen {
    event: usize,
    value: Term,
}

/// The classes of the executions in which the literal holds.
pub fn views(encoding: &mut Encoding, given: Literal, watch: &Watch<'_>) -> Views {
    let seen = seen(encoding);
    let mut literals: BTreeMap<(Term, u128), Literal> = BTreeMap::new();
    let mut found = 0;
    loop {
        match encoding.ask(&[given], watch) {
            Answer::Satisfiable => found += 1,
            Answer::Unsatisfiable => return Views { found, are_all: true },
            Answer::Stopped(_) => return Views { found, are_all: false },
        }
        let here = seen.iter().filter(|seen| encoding.circuit.holds(encoding.executed[seen.event]));
        let values: Vec<(Term, Bits)> =
            here.map(|seen| (seen.value, encoding.circuit.value(seen.value))).collect();
        let mut another = vec![!given];
        for (term, value) in values {
            let known = literals.get(&(term, value.unsigned())).copied();
            let is_it = known.unwrap_or_else(|| is_value(encoding, term, value));
            literals.insert((term, value.unsigned()), is_it);
            another.push(!is_it);
        }
        encoding.circuit.clause(&another);
    }
}

/// Reads, choices, and whether atomic operations fail for no reason.
fn seen(encoding: &Encoding) -> Vec<Seen> {
    let events = encoding.structure.events.iter().enumerate();
    let own = events.filter(|(_, event)| event.thread.is_some());
    let all = own.flat_map(|(number, event)| {
        let value = match (event.kind, event.step) {
            (Kind::Read { value }, _) | (Kind::Silent { value }, Step::Choice) => Some(value),
            _ => None,
        };
        value.into_iter().chain(event.fails).map(move |value| Seen { event: number, value })
    });
    all.filter(|seen| encoding.circuit.terms.as_constant(seen.value).is_none()).collect()
}

fn is_value(encoding: &mut Encoding, term: Term, value: Bits) -> Literal {
    let value = encoding.circuit.terms.constant(value);
    let is_it = encoding.circuit.terms.equals(term, value);
    encoding.circuit.literal(is_it)
}
