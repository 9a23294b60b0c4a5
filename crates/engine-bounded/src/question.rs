//! What is asked of final states, as a formula.

use parallax_machine::{Code, Concrete};
use parallax_program::{Bits, Observable, Operand, Place, Prop, Question, VarId};
use parallax_solver::{Literal, Term, Terms};

use crate::circuit::Circuit;
use crate::communication::Communication;
use crate::structure::{Footprint, Structure};
use crate::unfold::ThreadRun;

/// The question, with its observables numbered.
pub struct Asked {
    pub observed: Vec<Observable>,
    /// The first of `observed` are shown; the others only serve the filter.
    pub shown: usize,
}

impl Asked {
    pub fn new(question: &Question) -> Asked {
        let mut observed: Vec<Observable> = question.shown().into_iter().cloned().collect();
        let shown = observed.len();
        if let Some(filter) = &question.filter {
            filter.observables(&mut |observable| {
                if !observed.iter().any(|seen| seen.place == observable.place) {
                    observed.push(observable.clone());
                }
            });
        }
        Asked { observed, shown }
    }

    /// For each thread the variables that are asked for.
    pub fn variables(&self, threads: usize) -> Vec<Vec<VarId>> {
        let of = |thread: usize| {
            let own = self.observed.iter().filter_map(|observable| match observable.place {
                Place::Variable { thread: t, var, .. } if t as usize == thread => Some(var),
                _ => None,
            });
            own.collect()
        };
        (0..threads).map(of).collect()
    }

    /// The places in memory that are asked for, in parts of so many bytes.
    pub fn places(&self, code: &Code<'_>, granule: Option<u32>) -> Vec<Footprint> {
        let places = self.observed.iter().filter_map(|observable| match &observable.place {
            Place::Memory { global, offset, size } => {
                let start = code.addresses()[global.0 as usize].wrapping_add(*offset);
                Some((start, size.bytes()))
            }
            Place::Variable { .. } => None,
        });
        let parts = places.flat_map(|(start, bytes)| {
            let part = granule.map_or(bytes, |granule| granule.min(bytes));
            (0..bytes).step_by(part as usize).map(move |at| Footprint {
                address: start.wrapping_add(u64::from(at)),
                bytes: part,
            })
        });
        parts.collect()
    }

    /// The final values of the observables.
    pub fn values(
        &self,
        code: &Code<'_>,
        granule: Option<u32>,
        threads: &[ThreadRun],
        last: &mut LastWrites<'_>,
    ) -> Vec<Term> {
        let mut taken = vec![0; threads.len()];
        let mut values = Vec::new();
        for observable in &self.observed {
            values.push(match &observable.place {
                Place::Variable { thread, width, .. } => {
                    let thread = *thread as usize;
                    let index = taken.get(thread).copied().unwrap_or(0);
                    if let Some(next) = taken.get_mut(thread) {
                        *next += 1;
                    }
                    let ends = threads.get(thread).map_or(&[][..], |run| &run.ends);
                    final_variable(ends, index, *width, &mut last.circuit.terms)
                }
                Place::Memory { global, offset, size } => {
                    let start = code.addresses()[global.0 as usize].wrapping_add(*offset);
                    let part = granule.map_or(size.bytes(), |granule| granule.min(size.bytes()));
                    let mut whole: Option<Term> = None;
                    for at in (0..size.bytes()).step_by(part as usize) {
                        let address = start.wrapping_add(u64::from(at));
                        let value = last.value(Footprint { address, bytes: part });
                        whole = Some(match whole {
                            Some(low) => last.circuit.terms.concat(value, low),
                            None => value,
                        });
                    }
                    whole.unwrap_or_else(|| last.circuit.terms.falsity())
                }
            });
        }
        values
    }

    /// Whether final values satisfy a proposition.
    pub fn holds(&self, prop: &Prop, values: &[Term], code: &Code<'_>, terms: &mut Terms) -> Term {
        match prop {
            Prop::True => terms.truth(),
            Prop::False => terms.falsity(),
            Prop::Not(inner) => {
                let inner = self.holds(inner, values, code, terms);
                terms.not(inner)
            }
            Prop::And(parts) => parts.iter().fold(terms.truth(), |all, part| {
                let part = self.holds(part, values, code, terms);
                terms.and(all, part)
            }),
            Prop::Or(parts) => parts.iter().fold(terms.falsity(), |some, part| {
                let part = self.holds(part, values, code, terms);
                terms.or(some, part)
            }),
            Prop::Compare { left, equal, right } => {
                let of = |observable: &Observable| {
                    let at = self.observed.iter().position(|o| o.place == observable.place);
                    at.and_then(|at| values.get(at)).copied()
                };
                let right = match right {
                    Operand::Value(value) => {
                        let bits: Bits = code.evaluate(value, &[], &mut Concrete);
                        Some(terms.constant(bits))
                    }
                    Operand::Observable(right) => of(right),
                };
                let (Some(left), Some(right)) = (of(left), right) else {
                    return terms.falsity();
                };
                let width = terms.width(left).max(terms.width(right));
                let (left, right) =
                    (terms.zero_extend(left, width), terms.zero_extend(right, width));
                let same = terms.equals(left, right);
                if *equal { same } else { terms.not(same) }
            }
        }
    }
}

fn final_variable(ends: &[(Term, Vec<Term>)], index: usize, width: u32, terms: &mut Terms) -> Term {
    let mut value: Option<Term> = None;
    for (guard, finals) in ends {
        let Some(term) = finals.get(index) else {
            continue;
        };
        value = Some(match value {
            Some(other) => terms.select(*guard, *term, other),
            None => *term,
        });
    }
    match value {
        Some(value) if terms.width(value) > width => terms.extract(value, 0, width),
        Some(value) => value,
        None => terms.constant(Bits::zero(width)),
    }
}

/// The last write of each place that is asked for.
pub struct LastWrites<'a> {
    pub circuit: &'a mut Circuit,
    pub structure: &'a Structure,
    pub communication: &'a Communication,
    pub executed: &'a [Literal],
}

impl LastWrites<'_> {
    /// What some bytes hold in the end: a variable that has the value of the write after which
    /// there is none.
    fn value(&mut self, at: Footprint) -> Term {
        let value = self.circuit.terms.variable(at.bytes * 8);
        let events = &self.structure.events;
        let initial = (self.structure.initials..events.len()).find(|event| {
            self.structure.places[*event] == [at.address] && events[*event].bytes == at.bytes
        });
        let Some(initial) = initial else {
            return value;
        };
        let writes: Vec<usize> = (0..events.len())
            .filter(|event| events[*event].kind.is_write())
            .filter(|event| self.structure.may_meet(*event, initial))
            .collect();
        let mut some = Vec::new();
        for write in &writes {
            let is_last = if writes.len() == 1 { Literal::TRUE } else { self.circuit.fresh() };
            let here = match *write == initial {
                true => Literal::TRUE,
                false => {
                    let same = self.communication.same_place.get(&(*write, initial));
                    same.copied().unwrap_or(Literal::FALSE)
                }
            };
            self.circuit.clause(&[!is_last, here]);
            self.circuit.clause(&[!is_last, self.executed[*write]]);
            for other in &writes {
                let later = self.communication.order.get(&(*write, *other)).copied();
                if let Some(later) = later {
                    self.circuit.clause(&[!is_last, !later, !self.executed[*other]]);
                }
            }
            if let Some(written) = events[*write].kind.value() {
                self.circuit.equal_where(is_last, value, written);
            }
            some.push(is_last);
        }
        self.circuit.clause(&some);
        value
    }
}
