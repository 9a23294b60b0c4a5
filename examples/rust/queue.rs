// A queue with room for one item: Mutex, Condvar and VecDeque behind an Arc.
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

#[derive(Default)]
struct Queue {
    items: Mutex<VecDeque<u32>>,
    changed: Condvar,
}

impl Queue {
    fn push(&self, item: u32) {
        let items = self.items.lock().unwrap();
        let mut items = self.changed.wait_while(items, |items| !items.is_empty()).unwrap();
        items.push_back(item);
        self.changed.notify_all();
    }

    fn pop(&self) -> u32 {
        let mut items = self.items.lock().unwrap();
        while items.is_empty() {
            items = self.changed.wait(items).unwrap();
        }
        let item = items.pop_front().unwrap();
        self.changed.notify_all();
        item
    }
}

fn main() {
    let queue = Arc::new(Queue::default());
    let copy = Arc::clone(&queue);
    let producer = thread::spawn(move || copy.push(1));
    assert_eq!(queue.pop(), 1);
    producer.join().unwrap();
}
