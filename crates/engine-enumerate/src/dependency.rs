//! Sets of reads that a value depends on, shared: threads copy values around far more often
//! than they make new combinations.

use rustc_hash::FxHashMap as HashMap;

/// A set of event numbers of one thread, by number of the set.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Dependencies(u32);

impl Dependencies {
    pub const NONE: Dependencies = Dependencies(0);
}

/// All sets in use, each once.
pub struct DependencySets {
    sets: Vec<Box<[u32]>>,
    ids: HashMap<Box<[u32]>, Dependencies>,
    unions: HashMap<(Dependencies, Dependencies), Dependencies>,
}

impl Default for DependencySets {
    fn default() -> Self {
        let empty: Box<[u32]> = Box::default();
        DependencySets {
            sets: vec![empty.clone()],
            ids: HashMap::from_iter([(empty, Dependencies::NONE)]),
            unions: HashMap::default(),
        }
    }
}

impl DependencySets {
    pub fn single(&mut self, event: u32) -> Dependencies {
        self.intern(Box::new([event]))
    }

    /// Sorted.
    pub fn members(&self, set: Dependencies) -> &[u32] {
        &self.sets[set.0 as usize]
    }

    pub fn union(&mut self, a: Dependencies, b: Dependencies) -> Dependencies {
        if a == b || b == Dependencies::NONE {
            return a;
        }
        if a == Dependencies::NONE {
            return b;
        }
        let key = if a.0 < b.0 { (a, b) } else { (b, a) };
        if let Some(union) = self.unions.get(&key) {
            return *union;
        }
        let mut members = [self.members(a), self.members(b)].concat();
        members.sort_unstable();
        members.dedup();
        let union = self.intern(members.into());
        self.unions.insert(key, union);
        union
    }

    fn intern(&mut self, members: Box<[u32]>) -> Dependencies {
        if let Some(id) = self.ids.get(&members) {
            return *id;
        }
        let id = Dependencies(self.sets.len() as u32);
        self.sets.push(members.clone());
        self.ids.insert(members, id);
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_sets_are_one() {
        let mut sets = DependencySets::default();
        let (a, b) = (sets.single(1), sets.single(2));
        let ab = sets.union(a, b);
        assert_eq!(sets.union(b, a), ab);
        assert_eq!(sets.union(ab, a), ab);
        assert_eq!(sets.members(ab), &[1, 2]);
        assert_eq!(sets.union(ab, Dependencies::NONE), ab);
    }
}
