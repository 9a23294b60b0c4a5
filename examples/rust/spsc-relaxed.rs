// BUG: the producer says that a value is there by a relaxed store, and the consumer may read it too early.
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

const PLACES: usize = 2;

pub struct Queue {
    places: [UnsafeCell<u32>; PLACES],
    head: AtomicUsize,
    tail: AtomicUsize,
}

unsafe impl Sync for Queue {}

impl Queue {
    pub const fn new() -> Queue {
        Queue {
            places: [const { UnsafeCell::new(0) }; PLACES],
            head: AtomicUsize::new(0),
            tail: AtomicUsize::new(0),
        }
    }

    pub fn push(&self, value: u32) -> bool {
        let tail = self.tail.load(Ordering::Relaxed);
        if tail - self.head.load(Ordering::Acquire) == PLACES {
            return false;
        }
        unsafe { *self.places[tail % PLACES].get() = value };
        self.tail.store(tail + 1, Ordering::Relaxed);
        true
    }

    pub fn pop(&self) -> Option<u32> {
        let head = self.head.load(Ordering::Relaxed);
        if head == self.tail.load(Ordering::Acquire) {
            return None;
        }
        let value = unsafe { *self.places[head % PLACES].get() };
        self.head.store(head + 1, Ordering::Release);
        Some(value)
    }
}

fn main() {
    static QUEUE: Queue = Queue::new();
    let producer = thread::spawn(|| {
        for value in 1..=3 {
            while !QUEUE.push(value) {}
        }
    });
    for expected in 1..=3 {
        let value = loop {
            if let Some(value) = QUEUE.pop() {
                break value;
            }
        };
        assert_eq!(value, expected);
    }
    producer.join().unwrap();
}
