// BUG: the count goes down by relaxed updates: who frees the value need not see that others are done with it.
use std::ops::Deref;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

struct Inner<T> {
    users: AtomicUsize,
    value: T,
}

pub struct Counted<T>(*mut Inner<T>);

unsafe impl<T: Send + Sync> Send for Counted<T> {}

impl<T> Counted<T> {
    pub fn new(value: T) -> Counted<T> {
        Counted(Box::into_raw(Box::new(Inner { users: AtomicUsize::new(1), value })))
    }
}

impl<T> Clone for Counted<T> {
    fn clone(&self) -> Counted<T> {
        unsafe { (*self.0).users.fetch_add(1, Ordering::Relaxed) };
        Counted(self.0)
    }
}

impl<T> Deref for Counted<T> {
    type Target = T;
    fn deref(&self) -> &T {
        unsafe { &(*self.0).value }
    }
}

impl<T> Drop for Counted<T> {
    fn drop(&mut self) {
        if unsafe { (*self.0).users.fetch_sub(1, Ordering::Relaxed) } == 1 {
            drop(unsafe { Box::from_raw(self.0) });
        }
    }
}

fn main() {
    let mine = Counted::new(7);
    let copy = mine.clone();
    let other = thread::spawn(move || assert_eq!(*copy, 7));
    assert_eq!(*mine, 7);
    drop(mine);
    other.join().unwrap();
}
