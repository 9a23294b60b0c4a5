// BUG: the main thread keeps a sender, so the channel is never closed, and the loop waits for ever.
use std::sync::mpsc;
use std::thread;

fn main() {
    let (sender, receiver) = mpsc::channel();
    let second = sender.clone();
    let thread = thread::spawn(move || second.send(1).unwrap());
    for value in receiver {
        assert_eq!(value, 1);
    }
    thread.join().unwrap();
    drop(sender);
}
