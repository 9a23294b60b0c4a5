//! Parts in any order: one of the orders is chosen.
//!
//! Parts that nobody else can notice may come in the order in which they are written, since none
//! changes what another uses. Of those that others notice, all ways to merge them are possible.

use parallax_program::{BlockId, Terminator};

use super::{Lowering, parts};
use crate::names::{has_visible, is_visible};
use crate::syntax::{Ex, Op};

/// There may be so many orders.
const MOST_ORDERS: u64 = 120;

impl Lowering<'_> {
    pub(super) fn in_any_order(&mut self, all: &[Ex]) {
        let (visible, local): (Vec<&Ex>, Vec<&Ex>) = all.iter().partition(|ex| has_visible(ex));
        for part in local {
            self.ex(part);
        }
        match visible.as_slice() {
            [] => {}
            [only] => self.ex(only),
            several => self.merged(several),
        }
    }

    fn merged(&mut self, several: &[&Ex]) {
        let queues: Vec<&[Ex]> = several.iter().map(|part| parts(part)).collect();
        if let Some(op) = queues.iter().flat_map(|queue| queue.iter()).find_map(second_visible) {
            let message = "several accesses under one condition, or in any order again, \
                           cannot be in any order with others";
            self.error(op.mark.0, message);
            return;
        }
        if orders(&queues) > MOST_ORDERS {
            let mut first = None;
            several.iter().for_each(|part| part.operations(&mut |op| first = first.or(Some(op))));
            let span = first.map(|op: &Op| op.mark.0).unwrap_or_default();
            self.error(span, "there are too many orders of these operations");
            return;
        }
        let end = self.builder.new_block("end");
        self.merge(&queues, end);
        self.builder.enter(end);
    }

    /// Chooses who is next, until all are done.
    fn merge(&mut self, queues: &[&[Ex]], end: BlockId) {
        let is_open = |queue: &&[Ex]| queue.iter().any(has_visible);
        let open: Vec<usize> =
            (0..queues.len()).filter(|number| is_open(&queues[*number])).collect();
        if open.len() <= 1 {
            let mut last = open.first().map(|number| queues[*number]).unwrap_or_default();
            while let [part, after @ ..] = last {
                self.ex(part);
                last = after;
            }
            self.builder.terminate(Terminator::Jump(end));
            return;
        }
        for (place, number) in open.iter().enumerate() {
            let next = (place + 1 < open.len()).then(|| self.builder.new_block("order"));
            if let Some(next) = next {
                let this = self.builder.new_block("order");
                let bit = self.pick_bit();
                self.branch_to(bit, this, next, Some(end));
                self.builder.enter(this);
            }
            let mut left = queues.to_vec();
            left[*number] = self.step(queues[*number]);
            self.merge(&left, end);
            if let Some(next) = next {
                self.builder.enter(next);
            }
        }
    }

    /// Does what comes up to the first access, that access, and what only concerns the thread
    /// itself if no other access follows. The rest is returned.
    fn step<'e>(&mut self, queue: &'e [Ex]) -> &'e [Ex] {
        let mut rest = queue;
        while let [part, after @ ..] = rest {
            self.ex(part);
            rest = after;
            if has_visible(part) && rest.iter().any(has_visible) {
                return rest;
            }
        }
        rest
    }
}

/// An access of a part that has another one before it.
fn second_visible(part: &Ex) -> Option<&Op> {
    let (mut count, mut second) = (0, None);
    part.operations(&mut |op| {
        count += u32::from(is_visible(op));
        if count == 2 && second.is_none() {
            second = Some(op);
        }
    });
    second
}

/// In how many ways queues can be merged.
fn orders(queues: &[&[Ex]]) -> u64 {
    let (mut total, mut ways) = (0u64, 1u64);
    for queue in queues {
        let own = queue.iter().filter(|part| has_visible(part)).count() as u64;
        for number in 1..=own {
            total += 1;
            // The product of binomial coefficients; exact at every step.
            ways = ways.saturating_mul(total) / number;
        }
        if ways > MOST_ORDERS {
            return ways;
        }
    }
    ways
}
