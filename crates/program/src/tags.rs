//! Tags: what a memory model may ask of an access or a fence.
//!
//! A tag is a word of the architecture or language the program comes from: `acq`, `DMB.SY`,
//! `LOCK`, `Once`. Cat models see each tag as the set of events that carry it.

use std::fmt;
use std::sync::Arc;

#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tag(Arc<str>);

impl Tag {
    pub fn new(name: &str) -> Tag {
        Tag(name.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A sorted set of tags; cheap to clone.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct Tags(Option<Arc<[Tag]>>);

impl Tags {
    /// On a store-conditional: what is computed from its status depends on its write, as the
    /// RISC-V manual has it. Without the tag, nothing depends on a write.
    pub const STATUS_DEPENDS: &str = "Status";

    /// On a fence: a barrier in all threads at once. Machines with store buffers know it; memory
    /// models do not.
    pub const MEMBARRIER: &str = "MEMBARRIER";

    /// On a store-conditional: it may succeed at another address than the load-linked's. AArch64
    /// calls that constrained unpredictable; elsewhere it fails.
    pub const ANY_ADDRESS: &str = "ANY_ADDRESS";

    /// What the name of a tag starts with that marks a candidate of a repair, see
    /// [`Tags::candidate`].
    pub const CANDIDATE: char = '@';

    /// The number of the candidate for a repair that an instruction is marked as, by a tag such as
    /// `@7`.
    pub fn candidate(&self) -> Option<u32> {
        self.iter().find_map(|tag| tag.as_str().strip_prefix(Self::CANDIDATE)?.parse().ok())
    }

    /// Whether there is a mark and nothing else. A fence with such tags is one that might be there:
    /// replayers walk past it.
    pub fn is_mark(&self) -> bool {
        self.candidate().is_some() && self.unmarked().is_empty()
    }

    /// The same tags without such a mark.
    pub fn unmarked(&self) -> Tags {
        let names = self.iter().map(Tag::as_str);
        Tags::new(names.filter(|name| !name.starts_with(Self::CANDIDATE)))
    }

    /// The tags with a mark as a candidate.
    pub fn marked(&self, candidate: u32) -> Tags {
        self.with([format!("{}{candidate}", Self::CANDIDATE).as_str()])
    }

    /// On the writes by which a thread is started and ends …
    pub fn thread_release() -> Tags {
        Tags::new(["A", "REL"])
    }

    /// … and on the reads of those by its first step, and by whoever joins it.
    pub fn thread_acquire() -> Tags {
        Tags::new(["A", "ACQ"])
    }

    pub fn none() -> Tags {
        Tags(None)
    }

    pub fn new<'a>(names: impl IntoIterator<Item = &'a str>) -> Tags {
        let mut tags: Vec<Tag> = names.into_iter().map(Tag::new).collect();
        tags.sort();
        tags.dedup();
        if tags.is_empty() { Tags(None) } else { Tags(Some(tags.into())) }
    }

    pub fn iter(&self) -> impl Iterator<Item = &Tag> {
        self.0.iter().flat_map(|tags| tags.iter())
    }

    pub fn contains(&self, name: &str) -> bool {
        self.iter().any(|tag| tag.as_str() == name)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// These tags and `more`.
    pub fn with<'a>(&'a self, more: impl IntoIterator<Item = &'a str>) -> Tags {
        Tags::new(self.iter().map(Tag::as_str).chain(more))
    }
}

impl fmt::Debug for Tags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}
