// BUG: both threads may see a ticket left, and the last one is taken twice: the subtraction overflows.
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

static TICKETS: AtomicU32 = AtomicU32::new(1);

fn buy() {
    if TICKETS.load(Ordering::SeqCst) > 0 {
        let before = TICKETS.fetch_sub(1, Ordering::SeqCst);
        let left = before - 1;
        println!("{left} left");
    }
}

fn main() {
    let other = thread::spawn(buy);
    buy();
    other.join().unwrap();
}
