// A spin lock around a value, as loom's users write them: with the types of std.
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

pub struct SpinLock<T> {
    taken: AtomicBool,
    value: UnsafeCell<T>,
}

unsafe impl<T: Send> Sync for SpinLock<T> {}

impl<T> SpinLock<T> {
    pub const fn new(value: T) -> SpinLock<T> {
        SpinLock { taken: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    pub fn with<R>(&self, body: impl FnOnce(&mut T) -> R) -> R {
        while self.taken.swap(true, Ordering::Acquire) {
            std::hint::spin_loop();
        }
        let result = body(unsafe { &mut *self.value.get() });
        self.taken.store(false, Ordering::Release);
        result
    }
}

static COUNTER: SpinLock<u32> = SpinLock::new(0);

fn main() {
    let other = thread::spawn(|| COUNTER.with(|count| *count += 1));
    COUNTER.with(|count| *count += 1);
    other.join().unwrap();
    assert_eq!(COUNTER.with(|count| *count), 2);
}
