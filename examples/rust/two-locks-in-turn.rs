// BUG: each thread takes its own account first: both have one lock then, and wait for the other.
use std::sync::Mutex;
use std::thread;

static FIRST: Mutex<u32> = Mutex::new(10);
static SECOND: Mutex<u32> = Mutex::new(10);

fn transfer(from: &Mutex<u32>, to: &Mutex<u32>) {
    let mut from = from.lock().unwrap();
    let mut to = to.lock().unwrap();
    *from -= 1;
    *to += 1;
}

fn main() {
    let other = thread::spawn(|| transfer(&FIRST, &SECOND));
    transfer(&SECOND, &FIRST);
    other.join().unwrap();
}
