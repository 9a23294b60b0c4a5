//! What is said when something breaks inside: one line with the place, for a report of the bug. The
//! answer that follows says that it is a bug. With `RUST_BACKTRACE` there is all that Rust says.

use std::any::Any;
use std::panic::{self, Location};

use crate::output;

pub fn install() {
    if std::env::var_os("RUST_BACKTRACE").is_none() {
        panic::set_hook(Box::new(|info| output::note(&line(info.location(), info.payload()))));
    }
}

fn line(place: Option<&Location<'_>>, payload: &dyn Any) -> String {
    let owned = payload.downcast_ref::<String>().map(String::as_str);
    let message = payload.downcast_ref::<&str>().copied().or(owned).unwrap_or("no message");
    let place = place.map_or(String::new(), |place| format!(" at {place}"));
    format!("internal error{place}: {message}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_one_line() {
        let place = Location::caller();
        let said = line(Some(place), &"index out of bounds");
        assert_eq!(said, format!("internal error at {place}: index out of bounds"));
        assert_eq!(line(None, &String::from("no")), "internal error: no");
        assert_eq!(line(None, &7), "internal error: no message");
    }
}
