// BUG: an UnsafeCell is shared by a type that claims to be Sync, with nothing that orders the accesses.
use std::cell::UnsafeCell;
use std::thread;

struct Shared(UnsafeCell<u32>);

unsafe impl Sync for Shared {}

static SHARED: Shared = Shared(UnsafeCell::new(0));

fn main() {
    let other = thread::spawn(|| unsafe { *SHARED.0.get() += 1 });
    unsafe { *SHARED.0.get() += 1 };
    other.join().unwrap();
}
