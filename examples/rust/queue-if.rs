// BUG: the consumer looks once, and a thread may wake up although nobody has notified it.
use std::sync::{Condvar, Mutex};
use std::thread;

static ITEM: Mutex<Option<u32>> = Mutex::new(None);
static FILLED: Condvar = Condvar::new();

fn main() {
    let producer = thread::spawn(|| {
        *ITEM.lock().unwrap() = Some(1);
        FILLED.notify_one();
    });
    let mut item = ITEM.lock().unwrap();
    if item.is_none() {
        item = FILLED.wait(item).unwrap();
    }
    assert_eq!(item.take().unwrap(), 1);
    drop(item);
    producer.join().unwrap();
}
