//! Rust: two `std::thread`s, each of which stores to an atomic and loads the other one. At least one
//! of them sees the store of the other; with `--cfg weak` the stores are no longer sequentially
//! consistent, and both may miss it.
//!
//! `main` is the one of C: the start of Rust's own one asks the system for more than Parallax
//! answers.
#![no_main]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

const STORE: Ordering = if cfg!(weak) { Ordering::Release } else { Ordering::SeqCst };

static X: AtomicUsize = AtomicUsize::new(0);
static Y: AtomicUsize = AtomicUsize::new(0);

#[unsafe(no_mangle)]
pub extern "C" fn main() -> i32 {
    let first = thread::spawn(|| {
        X.store(1, STORE);
        Y.load(Ordering::SeqCst)
    });
    let second = thread::spawn(|| {
        Y.store(1, STORE);
        X.load(Ordering::SeqCst)
    });
    let seen = (first.join().unwrap(), second.join().unwrap());
    if seen == (0, 0) {
        std::process::abort();
    }
    0
}
