//! Families of views, each kept once.
//!
//! A view is a word for each thread: what it read and what it chose, one after the other. A family of views is a
//! diagram in the manner of decision diagrams (R. Bryant, Graph-based algorithms for Boolean function manipulation,
//! 1986): the words of the first thread come first, a thread that reads nothing is passed over, and equal diagrams are
//! the same node. So a family may have many more members than its diagram has nodes.

use parallax_machine::reduction::quick::QuickMap;

/// A family, by its number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Family(u32);

impl Family {
    /// No view at all.
    pub const EMPTY: Family = Family(0);
    /// The view in which nobody reads anything.
    pub const NOTHING_READ: Family = Family(1);
}

/// Something read or chosen, by its number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Letter(u32);

/// How the word of a thread goes on.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Node {
    thread: u32,
    /// By letters, in their order; there is at least one.
    steps: Box<[(Letter, Family)]>,
    /// The word ends here: the words of later threads.
    end: Family,
}

/// What is known of families.
pub struct Families {
    nodes: Vec<Node>,
    numbers: QuickMap<Node, Family>,
    letters: QuickMap<(u128, u8), Letter>,
    unions: QuickMap<(Family, Family), Family>,
    prefixed: QuickMap<(Family, u32, Letter), Family>,
}

impl Families {
    /// The nodes that are no diagrams: the two constants.
    const CONSTANTS: u32 = 2;
    /// What is remembered of operations is dropped when it is more than this.
    const MOST_REMEMBERED: usize = 1 << 23;

    pub fn new() -> Families {
        Families {
            nodes: Vec::new(),
            numbers: QuickMap::default(),
            letters: QuickMap::default(),
            unions: QuickMap::default(),
            prefixed: QuickMap::default(),
        }
    }

    /// A value, of a kind of letters.
    pub fn letter(&mut self, value: u128, kind: u8) -> Letter {
        let next = Letter(self.letters.len() as u32);
        *self.letters.entry((value, kind)).or_insert(next)
    }

    fn node(&self, family: Family) -> Option<&Node> {
        family.0.checked_sub(Self::CONSTANTS).map(|index| &self.nodes[index as usize])
    }

    /// The thread whose words come first; none is later than that of the constants.
    fn thread(&self, family: Family) -> u32 {
        self.node(family).map_or(u32::MAX, |node| node.thread)
    }

    fn intern(&mut self, thread: u32, steps: Vec<(Letter, Family)>, end: Family) -> Family {
        if steps.is_empty() {
            return end;
        }
        let node = Node { thread, steps: steps.into(), end };
        debug_assert!(self.is_normal(&node), "a family is one diagram: {node:?}");
        let next = Family(self.nodes.len() as u32 + Self::CONSTANTS);
        let nodes = &mut self.nodes;
        *self.numbers.entry(node).or_insert_with_key(|node| {
            nodes.push(node.clone());
            next
        })
    }

    /// Whether a node is as it is in all diagrams: equal families are the same node only then.
    fn is_normal(&self, node: &Node) -> bool {
        let Node { thread, steps, end } = node;
        let goes_on = |family: &Family| *family != Family::EMPTY && self.thread(*family) >= *thread;
        let is_known = |family: Family| family.0 < self.nodes.len() as u32 + Self::CONSTANTS;
        !steps.is_empty()
            && steps.is_sorted_by(|(one, _), (other, _)| one < other)
            && steps.iter().all(|(_, then)| goes_on(then) && is_known(*then))
            && self.thread(*end) > *thread
            && is_known(*end)
    }

    /// The views of both.
    pub fn union(&mut self, left: Family, right: Family) -> Family {
        if left == right || right == Family::EMPTY {
            return left;
        }
        if left == Family::EMPTY {
            return right;
        }
        let key = (Family(left.0.min(right.0)), Family(left.0.max(right.0)));
        if let Some(known) = self.unions.get(&key) {
            return *known;
        }
        let thread = self.thread(left).min(self.thread(right));
        let (left_steps, left_end) = self.parts(left, thread);
        let (right_steps, right_end) = self.parts(right, thread);
        let steps = self.merged(&left_steps, &right_steps);
        let end = self.union(left_end, right_end);
        let union = self.intern(thread, steps, end);
        if self.unions.len() >= Self::MOST_REMEMBERED {
            self.unions.clear();
        }
        self.unions.insert(key, union);
        union
    }

    /// How the word of a thread goes on; it has none in families of later threads.
    fn parts(&self, family: Family, thread: u32) -> (Box<[(Letter, Family)]>, Family) {
        match self.node(family).filter(|node| node.thread == thread) {
            Some(node) => (node.steps.clone(), node.end),
            None => (Box::default(), family),
        }
    }

    fn merged(
        &mut self,
        left: &[(Letter, Family)],
        right: &[(Letter, Family)],
    ) -> Vec<(Letter, Family)> {
        let mut steps = left.to_vec();
        for (letter, then) in right {
            match steps.binary_search_by_key(letter, |(known, _)| *known) {
                Ok(place) => steps[place].1 = self.union(steps[place].1, *then),
                Err(place) => steps.insert(place, (*letter, *then)),
            }
        }
        steps
    }

    /// The views in which the thread reads something before all else that it reads.
    pub fn prefixed(&mut self, family: Family, thread: u32, letter: Letter) -> Family {
        if family == Family::EMPTY {
            return family;
        }
        if self.thread(family) >= thread {
            return self.intern(thread, vec![(letter, family)], Family::EMPTY);
        }
        let key = (family, thread, letter);
        if let Some(known) = self.prefixed.get(&key) {
            return *known;
        }
        let first = self.thread(family);
        let (steps, end) = self.parts(family, first);
        let steps: Vec<(Letter, Family)> = steps
            .iter()
            .map(|(step, then)| (*step, self.prefixed(*then, thread, letter)))
            .collect();
        let end = self.prefixed(end, thread, letter);
        let prefixed = self.intern(first, steps, end);
        if self.prefixed.len() >= Self::MOST_REMEMBERED {
            self.prefixed.clear();
        }
        self.prefixed.insert(key, prefixed);
        prefixed
    }

    /// How many views there are in a family; None if that does not fit into a word.
    pub fn count(&self, family: Family) -> Option<u64> {
        // A node is younger than those that it leads to.
        let mut counts: Vec<Option<u64>> = vec![Some(0), Some(1)];
        let last = family.0.saturating_sub(Self::CONSTANTS - 1) as usize;
        for node in &self.nodes[..last] {
            let steps = node.steps.iter().map(|(_, then)| *then);
            let all = steps.chain([node.end]).map(|then| counts[then.0 as usize]);
            counts.push(all.into_iter().try_fold(0, |sum: u64, some| sum.checked_add(some?)));
        }
        counts[family.0 as usize]
    }
}
