// Values go through a channel of std::sync::mpsc, from two threads to one.
use std::sync::mpsc;
use std::thread;

fn main() {
    let (sender, receiver) = mpsc::channel();
    let second = sender.clone();
    let threads = [
        thread::spawn(move || sender.send(1).unwrap()),
        thread::spawn(move || second.send(2).unwrap()),
    ];
    let sum: i32 = receiver.iter().sum();
    assert_eq!(sum, 3);
    for thread in threads {
        thread.join().unwrap();
    }
}
