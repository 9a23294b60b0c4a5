//! Final states: what the question observes, judged and counted.

use std::ops::ControlFlow;

use rustc_hash::FxHashMap;

use parallax_machine::{Code, Concrete};
use parallax_program::{Bits, Observable, Operand, Place, Prop, Question, VarId};
use parallax_verdict::{FinalState, StateValue};

use crate::image::Image;

/// The question, with its observables numbered.
pub struct Observer {
    pub observed: Vec<Observable>,
    /// The first of `observed` are shown; the others only serve the filter.
    shown: usize,
    prop: Test,
    filter: Option<Test>,
    names: FxHashMap<u64, String>,
}

/// A proposition on numbered observables.
enum Test {
    Constant(bool),
    Compare { left: usize, equal: bool, right: Side },
    Not(Box<Test>),
    And(Vec<Test>),
    Or(Vec<Test>),
}

enum Side {
    Value(Bits),
    Observed(usize),
}

impl Observer {
    pub fn new(question: &Question, code: &Code<'_>, image: &Image) -> Observer {
        let mut observed: Vec<Observable> = question.shown().into_iter().cloned().collect();
        let shown = observed.len();
        if let Some(filter) = &question.filter {
            filter.observables(&mut |o| {
                if !observed.iter().any(|seen| seen.place == o.place) {
                    observed.push(o.clone());
                }
            });
        }
        let prop = compile(&question.prop, &observed, code);
        let filter = question.filter.as_ref().map(|filter| compile(filter, &observed, code));
        let globals = code.program.globals.iter().map(|global| global.name.clone());
        let names = image.addresses().zip(globals).collect();
        Observer { observed, shown, prop, filter, names }
    }

    /// Variables of a thread that are observed.
    pub fn variables(&self, thread: u32) -> Vec<VarId> {
        let of_thread = |observable: &Observable| match observable.place {
            Place::Variable { thread: t, var, .. } if t == thread => Some(var),
            _ => None,
        };
        self.observed.iter().filter_map(of_thread).collect()
    }

    /// Whether the state counts, and if so whether it satisfies the proposition.
    pub fn judge(&self, values: &[Bits]) -> Option<bool> {
        let counts = self.filter.as_ref().is_none_or(|filter| filter.holds(values));
        counts.then(|| self.prop.holds(values))
    }

    /// The part of the values that is shown.
    pub fn shown(&self) -> usize {
        self.shown
    }

    pub fn state(&self, values: &[Bits]) -> Vec<StateValue> {
        let named = self.observed.iter().take(self.shown).zip(values);
        let value = |(observable, bits): (&Observable, &Bits)| StateValue {
            name: observable.name.clone(),
            bits: *bits,
            shown: self.show(*bits, observable.signed),
            in_memory: matches!(observable.place, Place::Memory { .. }),
        };
        named.map(value).collect()
    }

    /// A value as people write it.
    pub fn show(&self, bits: Bits, signed: bool) -> String {
        let name = u64::try_from(bits.unsigned()).ok().and_then(|value| self.names.get(&value));
        match name {
            Some(name) => name.clone(),
            None if signed => bits.to_signed().to_string(),
            None => bits.unsigned().to_string(),
        }
    }

    /// An address as people write it.
    pub fn place(&self, image: &Image, address: u64) -> String {
        match image.locate(address) {
            Some((global, offset)) => {
                let name = &self.names[&image.address(global)];
                if offset == 0 { name.clone() } else { format!("{name}+{offset}") }
            }
            None => format!("{address:#x}"),
        }
    }
}

fn compile(prop: &Prop, observed: &[Observable], code: &Code<'_>) -> Test {
    let index = |o: &Observable| observed.iter().position(|seen| seen.place == o.place);
    let all = |parts: &[Prop]| parts.iter().map(|part| compile(part, observed, code)).collect();
    match prop {
        Prop::True => Test::Constant(true),
        Prop::False => Test::Constant(false),
        Prop::Not(inner) => Test::Not(Box::new(compile(inner, observed, code))),
        Prop::And(parts) => Test::And(all(parts)),
        Prop::Or(parts) => Test::Or(all(parts)),
        Prop::Compare { left, equal, right } => {
            let right = match right {
                Operand::Value(value) => {
                    Some(Side::Value(code.evaluate(value, &[], &mut Concrete)))
                }
                Operand::Observable(right) => index(right).map(Side::Observed),
            };
            match (index(left), right) {
                (Some(left), Some(right)) => Test::Compare { left, equal: *equal, right },
                // Every observable of the question was numbered above.
                _ => Test::Constant(false),
            }
        }
    }
}

impl Test {
    fn holds(&self, values: &[Bits]) -> bool {
        match self {
            Test::Constant(value) => *value,
            Test::Compare { left, equal, right } => {
                let right = match right {
                    Side::Value(bits) => *bits,
                    Side::Observed(index) => values[*index],
                };
                (values[*left].unsigned() == right.unsigned()) == *equal
            }
            Test::Not(inner) => !inner.holds(values),
            Test::And(parts) => parts.iter().all(|part| part.holds(values)),
            Test::Or(parts) => parts.iter().any(|part| part.holds(values)),
        }
    }
}

/// Final states found so far, with how often each was.
#[derive(Default)]
pub struct States {
    counts: FxHashMap<Vec<Bits>, (bool, u64)>,
    pub positive: u64,
    pub negative: u64,
    full: bool,
}

impl States {
    /// So many values are kept, in all states together.
    const MAX_VALUES: usize = 1 << 20;

    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// Whether there were more states than are kept.
    pub fn is_full(&self) -> bool {
        self.full
    }

    /// Breaks when there are too many different states; those found so far stay.
    pub fn add(&mut self, shown: &[Bits], satisfies: bool) -> ControlFlow<()> {
        let full = (self.len() + 1) * shown.len() > Self::MAX_VALUES;
        match self.counts.get_mut(shown) {
            Some((_, count)) => *count += 1,
            None if full => {
                self.full = true;
                return ControlFlow::Break(());
            }
            None => {
                self.counts.insert(shown.to_vec(), (satisfies, 1));
            }
        }
        if satisfies {
            self.positive += 1;
        } else {
            self.negative += 1;
        }
        ControlFlow::Continue(())
    }

    /// Sorted by value, in the order of the observables.
    pub fn into_sorted(self, observer: &Observer) -> Vec<FinalState> {
        let mut states: Vec<(Vec<Bits>, (bool, u64))> = self.counts.into_iter().collect();
        states.sort_unstable();
        let state = |(values, (satisfies, executions)): (Vec<Bits>, (bool, u64))| FinalState {
            values: observer.state(&values),
            satisfies,
            executions,
        };
        states.into_iter().map(state).collect()
    }
}
