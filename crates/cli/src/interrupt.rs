//! Ctrl-C, or SIGTERM or SIGHUP: the first one asks every search to end with what it has, the second one leaves.

use parallax_control::Cancel;

use crate::Exit;

/// Cancelled by the person at the keyboard. Without a handler Ctrl-C still ends the process, only less
/// orderly.
pub fn install() -> Cancel {
    let cancel = Cancel::default();
    let own = cancel.clone();
    let _ = ctrlc::set_handler(move || {
        if own.is_cancelled() {
            leave();
        }
        own.cancel();
    });
    cancel
}

/// The same for commands that search nothing: the first one leaves.
pub fn install_for_dialogue() {
    let _ = ctrlc::set_handler(|| leave());
}

fn leave() -> ! {
    parallax_files::remove_scratch();
    std::process::exit(Exit::Unknown as i32)
}
