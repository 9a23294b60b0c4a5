// Store buffering with what the standard library of Rust has for threads.

use std::sync::atomic::{AtomicI32, Ordering, fence};
use std::thread;

static X: AtomicI32 = AtomicI32::new(0);
static Y: AtomicI32 = AtomicI32::new(0);

fn look(mine: &AtomicI32, theirs: &AtomicI32) -> i32 {
    mine.store(1, Ordering::Relaxed);
    if cfg!(fenced) {
        fence(Ordering::SeqCst);
    }
    theirs.load(Ordering::Relaxed)
}

fn main() {
    let first = thread::spawn(|| look(&X, &Y));
    let second = look(&Y, &X);
    let first = first.join().unwrap();
    assert!(first == 1 || second == 1);
}
