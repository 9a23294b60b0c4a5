//! Objects that something leads to at the end: what is never freed is then not lost.
//!
//! Memory is searched as a collector of garbage does it that nobody helps (H. Boehm, M. Weiser, Garbage
//! collection in an uncooperative environment, SPE 18(9), 1988): a word outside of the heap that is an
//! address in an object leads there, and the words of that object lead on. Only whole words at their
//! places count, and no terms; so an object may be tracked and not be among those that are found, but
//! not the other way round.

use parallax_machine::system::Object;
use parallax_program::AllocKind;

use crate::state::{At, State};

/// The objects on the heap that are there, with whether something leads to each.
pub struct Heap<'o> {
    objects: Vec<(&'o Object, bool)>,
}

impl<'o> Heap<'o> {
    /// Of a state, where an address has so many bytes.
    pub fn of(state: &'o State<'_>, bytes: u64) -> Heap<'o> {
        let (mut dead, mut objects) = (Vec::new(), Vec::new());
        for local in state.threads.iter().flatten() {
            for object in local.objects.iter() {
                match (state.is_freed(object.address), object.kind) {
                    (false, AllocKind::Heap) => objects.push((object, false)),
                    // What is not on the heap goes with its thread.
                    (false, _) if local.at != At::Ended => {}
                    _ => dead.push(object),
                }
            }
        }
        objects.sort_unstable_by_key(|(object, _)| object.address);
        dead.sort_unstable_by_key(|object| object.address);
        let mut heap = Heap { objects };
        heap.follow(state, bytes, &dead);
        heap
    }

    /// Those that nothing was found to lead to.
    pub fn untracked(&self) -> impl Iterator<Item = &'o Object> {
        self.objects.iter().filter(|(_, is_tracked)| !is_tracked).map(|(object, _)| *object)
    }

    fn follow(&mut self, state: &State<'_>, bytes: u64, dead: &[&Object]) {
        let mut open: Vec<usize> = Vec::new();
        let mut inner: Vec<(usize, usize)> = Vec::new();
        for (place, word) in state.memory.known_words(bytes) {
            let Some(target) = holder(&self.objects, |(object, _)| object, word) else { continue };
            match holder(&self.objects, |(object, _)| object, place) {
                Some(source) => inner.push((source, target)),
                None if holder(dead, |object| object, place).is_some() => {}
                None => open.push(target),
            }
        }
        inner.sort_unstable();
        while let Some(object) = open.pop() {
            if std::mem::replace(&mut self.objects[object].1, true) {
                continue;
            }
            let first = inner.partition_point(|(source, _)| *source < object);
            let of_object = inner[first..].iter().take_while(|(source, _)| *source == object);
            open.extend(of_object.map(|(_, target)| *target));
        }
    }
}

/// Which of some objects, in order of addresses, an address is in.
fn holder<'o, T>(objects: &[T], object: impl Fn(&T) -> &'o Object, address: u64) -> Option<usize>
where
    T: 'o,
{
    let after = objects.partition_point(|each| object(each).address <= address);
    let index = after.checked_sub(1)?;
    let found = object(&objects[index]);
    (address - found.address < found.size.max(1)).then_some(index)
}
