//! The doors to the outside: files that are read and written, and programs that are started.
//!
//! Inputs are not trusted, and neither are their names. [`read()`] takes regular files up to a size,
//! [`replace`] writes where no link leads elsewhere, [`Scratch`] is a folder that nobody else can
//! look into or foresee, and [`Arguments`] hands names to other programs so that none of them is
//! taken for an option. No crate of the product starts a program or reads an input any other way.
//! What is trusted and what is not is in the book, on the page on security.

mod hash;
mod read;
mod scratch;
mod tool;
mod write;

pub use hash::sha256;
pub use read::{MOST_TEXT, check, open, read};
pub use scratch::{Scratch, remove_scratch};
pub use tool::{Arguments, is_taken_for_list, plain, run};
pub use write::{keep, replace};
