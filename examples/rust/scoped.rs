// Scoped threads share what the stack of their parent holds, and a OnceLock is initialised once.
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

static SETTINGS: OnceLock<u32> = OnceLock::new();

fn settings() -> u32 {
    *SETTINGS.get_or_init(|| 5)
}

fn main() {
    let sum = AtomicU32::new(0);
    let mut own = [0; 2];
    let [first, second] = &mut own;
    thread::scope(|scope| {
        scope.spawn(|| *first = sum.fetch_add(settings(), Ordering::Relaxed) + 1);
        scope.spawn(|| *second = sum.fetch_add(settings(), Ordering::Relaxed) + 1);
    });
    assert_eq!(sum.into_inner(), 10);
    assert_eq!(own[0] + own[1], 7);
}
