//! Calls through pointers: a case for each function that may be called.

use parallax_machine::{Domain, Fault, Operation};
use parallax_program::{Bits, Property};

use super::state::State;
use super::{Call, Failure, Obstruction, Open, Unfolder};

impl Unfolder<'_, '_, '_> {
    /// Follows a state that stands at a call through a pointer, or at the start of a thread there.
    pub(super) fn call_through_pointer(
        &mut self,
        state: &State,
        open: &mut Open,
    ) -> Result<(), Obstruction> {
        let Some(callee) = state.thread.callee(self.code, &mut self.result.values) else {
            self.obstacle(state, "call through an unknown address".to_string());
            return Ok(());
        };
        if self.result.values.known(&callee).is_some() {
            self.no_function(state);
            return Ok(());
        }
        let key = (self.thread, self.calls);
        self.calls += 1;
        let guard = self.stop(state).guard;
        self.result.calls.push(Call { key, address: callee.term, guard });
        let Some(addresses) = self.plan.callees.get(&key) else {
            self.obstacle(state, "call through an unknown address".to_string());
            return Ok(());
        };
        let width = self.result.values.terms.width(callee.term);
        for address in addresses {
            let address = Bits::new(width, *address);
            let terms = &mut self.result.values.terms;
            let constant = terms.constant(address);
            let here = terms.equals(callee.term, constant);
            let mut state = state.clone();
            if !state.guard.require(here, terms) {
                continue;
            }
            self.result.values.assumed = Some((callee.term, address));
            let operation = state.thread.advance(self.code, &Self::LIMITS, &mut self.result.values);
            self.result.values.assumed = None;
            match operation {
                None => self.follow(state, true, open),
                Some(Operation::Fault(Fault::BadCallee)) => self.no_function(&state),
                Some(operation) => {
                    if let Some(next) = self.serve(state, operation, open)? {
                        self.wait(next, open);
                    }
                }
            }
        }
        Ok(())
    }

    fn no_function(&mut self, state: &State) {
        let stop = self.stop(state);
        let message = Fault::BAD_CALLEE.to_string();
        self.result.failures.push(Failure { stop, property: Property::Memory, message });
    }
}
