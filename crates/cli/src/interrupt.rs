//! Ctrl-C: the first one asks every search to end with what it has, the second one leaves.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::Exit;

static STOP: AtomicBool = AtomicBool::new(false);
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Set when everything should come to an end.
pub fn stop_flag() -> &'static AtomicBool {
    &STOP
}

/// Whether it was the person at the keyboard who ended the run.
pub fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

/// Without a handler Ctrl-C still ends the process, only less orderly.
pub fn install() {
    let _ = ctrlc::set_handler(|| {
        STOP.store(true, Ordering::Relaxed);
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            leave();
        }
    });
}

/// The same for commands that search nothing: the first one leaves.
pub fn install_for_dialogue() {
    let _ = ctrlc::set_handler(|| leave());
}

fn leave() -> ! {
    parallax_files::remove_scratch();
    std::process::exit(Exit::Unknown as i32)
}
