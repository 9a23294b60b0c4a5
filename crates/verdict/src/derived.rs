//! What the program says about the events of an execution, beside what they do: how they depend
//! on one another, and which tags they carry.

use std::collections::{BTreeMap, BTreeSet};

use parallax_program::Tags;

use crate::{Edges, Execution};

type Pairs = BTreeSet<(u32, u32)>;

#[derive(Clone, Default)]
pub(crate) struct Derived {
    pub(crate) addr: Pairs,
    pub(crate) data: Pairs,
    pub(crate) ctrl: Pairs,
    /// Follow from the events and the dependencies, so that no execution claims them.
    pub(crate) pick_addr: Pairs,
    pub(crate) pick_data: Pairs,
    pub(crate) pick_ctrl: Pairs,
    pub(crate) rmw: Pairs,
    /// The pairs of single instructions.
    pub(crate) amo: Pairs,
    /// For each event of a thread, the number of the access or fence that it is a part of.
    pub(crate) access: BTreeMap<u32, u32>,
    pub(crate) tags: BTreeMap<u32, Tags>,
}

/// Every one of these is in the relation with `to`.
pub(crate) fn relate(relation: &mut Pairs, from: &BTreeSet<u32>, to: u32) {
    relation.extend(from.iter().map(|read| (*read, to)));
}

impl Derived {
    /// Whether the execution claims just these pairs, among those that concern us.
    pub(crate) fn agrees_with(
        &self,
        execution: &Execution,
        concerns: impl Fn(&(u32, u32)) -> bool,
    ) -> Result<(), String> {
        let relations = [
            ("addr", &execution.addr, &self.addr),
            ("data", &execution.data, &self.data),
            ("ctrl", &execution.ctrl, &self.ctrl),
            ("rmw", &execution.rmw, &self.rmw),
        ];
        for (name, claimed, derived) in relations {
            let claimed: BTreeSet<_> = claimed.iter().filter(|pair| concerns(pair)).collect();
            let derived: BTreeSet<_> = derived.iter().filter(|pair| concerns(pair)).collect();
            if claimed != derived {
                return Err(format!("{name} differs: claimed {claimed:?}, found {derived:?}"));
            }
        }
        Ok(())
    }

    /// The same where every event has a number that is higher by so many.
    pub(crate) fn shifted(self, by: u32) -> Derived {
        let pairs = |pairs: Pairs| pairs.into_iter().map(|(a, b)| (a + by, b + by)).collect();
        Derived {
            addr: pairs(self.addr),
            data: pairs(self.data),
            ctrl: pairs(self.ctrl),
            pick_addr: pairs(self.pick_addr),
            pick_data: pairs(self.pick_data),
            pick_ctrl: pairs(self.pick_ctrl),
            rmw: pairs(self.rmw),
            amo: pairs(self.amo),
            access: self.access.into_iter().map(|(event, access)| (event + by, access)).collect(),
            tags: self.tags.into_iter().map(|(event, tags)| (event + by, tags)).collect(),
        }
    }
}

pub(crate) fn edges(pairs: &Pairs) -> Edges {
    pairs.iter().copied().collect()
}
