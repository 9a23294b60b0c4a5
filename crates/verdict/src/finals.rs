//! Final states: what places hold when all threads have ended, and whether that is what is asked
//! for.

use std::collections::{BTreeMap, BTreeSet};

use parallax_machine::{Code, holds};
use parallax_program::{Bits, Observable, Place, Question, VarId};

use crate::rebuild::objects::Objects;
use crate::{EventKind, Execution};

/// The last values of variables, by thread.
pub(crate) type Variables = BTreeMap<(u32, u32), Bits>;

/// All that a question looks at, what is shown first.
pub(crate) fn observed(question: &Question) -> Vec<&Observable> {
    let mut observed = question.shown();
    if let Some(filter) = &question.filter {
        filter.observables(&mut |observable| observed.push(observable));
    }
    observed
}

/// The variables of a thread that a question looks at.
pub(crate) fn variables(question: &Question, thread: u32) -> Vec<VarId> {
    let of_thread = |observable: &&Observable| match observable.place {
        Place::Variable { thread: of, var, .. } if of == thread => Some(var),
        _ => None,
    };
    observed(question).iter().filter_map(of_thread).collect()
}

/// The final state of an execution in which all threads have ended.
pub(crate) struct Finals<'a, 'p> {
    pub(crate) code: &'a Code<'p>,
    pub(crate) execution: &'a Execution,
    pub(crate) variables: &'a Variables,
}

impl Finals<'_, '_> {
    /// Whether it is one that is asked for; and what the execution shows of it, if something, is
    /// what is there.
    pub(crate) fn check(&self, question: &Question) -> Result<(), String> {
        let claimed = &self.execution.final_state;
        let shown = question.shown();
        if !claimed.is_empty() && claimed.len() != shown.len() {
            return Err("the final state shows other places than are asked for".to_string());
        }
        for (claimed, observable) in claimed.iter().zip(shown) {
            let found = self.value(&observable.place).map_or(0, Bits::unsigned);
            if claimed.bits.unsigned() != found {
                let name = &claimed.name;
                return Err(format!("{name} is {found} in the end, not {}", claimed.bits));
            }
        }
        let value = |place: &Place| self.value(place);
        let counts = question.filter.as_ref().is_none_or(|it| holds(it, self.code, &value));
        match counts && holds(&question.prop, self.code, &value) {
            true => Ok(()),
            false => Err("the final state is none that is asked for".to_string()),
        }
    }

    fn value(&self, place: &Place) -> Option<Bits> {
        match place {
            Place::Variable { thread, var, width } => {
                Some(self.variables.get(&(*thread, var.0))?.extract(0, *width))
            }
            Place::Memory { global, offset, size } => {
                let start = *self.code.addresses().get(global.0 as usize)?;
                Some(self.memory(start.wrapping_add(*offset), size.bytes()))
            }
        }
    }

    /// What some bytes hold: what was there, and then the last write of each location over it.
    fn memory(&self, address: u64, bytes: u32) -> Bits {
        let overwritten: BTreeSet<u32> = self.execution.co.iter().map(|(from, _)| *from).collect();
        let initial = Objects::new(self.code, &self.execution.unwritten).initial(address, bytes);
        let mut content: Vec<Bits> = (0..bytes).map(|byte| initial.extract(byte * 8, 8)).collect();
        for (number, event) in (0u32..).zip(&self.execution.events) {
            let EventKind::Write { address: start, size, value, .. } = &event.kind else {
                continue;
            };
            if overwritten.contains(&number) {
                continue;
            }
            for byte in 0..*size {
                let at = start.wrapping_add(u64::from(byte)).wrapping_sub(address);
                if let Some(place) = usize::try_from(at).ok().and_then(|at| content.get_mut(at)) {
                    *place = value.extract(byte * 8, 8);
                }
            }
        }
        content.into_iter().reduce(|low, byte| byte.concat(low)).unwrap_or(initial)
    }
}
