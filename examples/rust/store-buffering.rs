// BUG: release and acquire let both threads read before the other's store is visible.
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

static X: AtomicU32 = AtomicU32::new(0);
static Y: AtomicU32 = AtomicU32::new(0);

fn main() {
    let other = thread::spawn(|| {
        X.store(1, Ordering::Release);
        Y.load(Ordering::Acquire)
    });
    Y.store(1, Ordering::Release);
    let x = X.load(Ordering::Acquire);
    let y = other.join().unwrap();
    assert!(x == 1 || y == 1, "neither has seen the other");
}
