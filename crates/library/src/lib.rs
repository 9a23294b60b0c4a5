//! The C library that programs under test see: threads, locks, the heap, strings, and what
//! verification tasks call. It is written in the intermediate language itself (`functions/`,
//! one file for each primitive), so that it means the same to every engine, and every memory
//! access it makes is subject to the memory model like one of the program's own.
//!
//! [`link`] puts into a program what the program calls and does not define. Sizes of objects
//! and numbers are those of glibc on Linux, with pointers of 64 or 32 bits (`widths`), and glibc's static
//! initialisers mean what they mean there.
//!
//! Every access is an event in every execution that an engine looks at, so functions come in
//! *variants*: `"pthread_mutex_lock [kinds]"` stands in for `pthread_mutex_lock` where the program
//! may have recursive mutexes; the plain one need not care. [`Features`] decides.
//!
//! Tags beside those of C11 say to engines what an access is for:
//!
//! | tag | on |
//! | --- | --- |
//! | `LOCK_WRITE` | the write that takes a lock which knows no owner |
//! | `UNLOCK` | the write that releases it: the thread's last write there must be its `LOCK_WRITE` |
//! | `TAKE`, `SHARE` | the write that takes another lock, for one thread alone or for several that read |
//! | `AGAIN` | the write by which a thread takes a lock once more that it holds |
//! | `GIVE` | the write by which a thread gives such a lock back, once |
//! | `HELD`, `FOREIGN` | reads of the kind of a mutex, which is behind its word, by a thread that holds it, and by one that does not |
//! | `ARRIVE`, `DEPART` | the accesses of a barrier by which a thread comes and goes, where it does not matter in which order |
//! | `LEAVE` | the last access of a woken thread; the object may be freed by then |
//! | `SLEEP`, `STARTLED` | the access with which a thread begins to wait for a signal, and one that ends a wake-up without a signal |
//! | `COPY` | reads of bytes that are copied, and may be uninitialised |
//! | `FRESH` | reads that find 0 where nobody has written |
//!
//! And these say to people what happens, since nobody knows the library by its words in memory:
//!
//! | tag | on |
//! | --- | --- |
//! | `MUTEX`, `SPIN`, `RWLOCK`, `COND`, `BARRIER`, `SEM`, `ONCE` | accesses that do to an object of that kind what its caller wants |
//! | `INIT`, `DESTROY` | those by which its life begins and ends |
//! | `SIGNAL`, `BROADCAST`, `POST` | those that may wake others |
//! | `LOOK` | reads after which the same call does what it is for, or does not |
//! | `BOOKKEEPING` | accesses that only the library knows of |

mod adapt;
mod arrivals;
mod atomics;
mod callbacks;
mod errors;
mod exits;
mod fates;
mod features;
mod headers;
mod inline;
mod linker;
mod message;
mod modules;
mod open;
mod reuse;
mod rewrite;
mod sections;
mod widths;

use parallax_program::{Diagnostics, FunctionId, Program};

pub use crate::errors::Errors;
use crate::features::Features;
pub use crate::headers::put_in_place;
use crate::linker::Linker;
use crate::modules::Modules;

/// What is left open by the standards, and what is asked for.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// Whether threads may wake up from a condition variable although nobody woke them.
    pub spurious_wakeups: bool,
    /// Which calls are errors.
    pub errors: Errors,
    /// Whether functions that nobody defines give any value, and do nothing else.
    pub open: bool,
}

/// A function of the program through which the library calls others that it was handed the
/// address of: it gets the address, and then the arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Through {
    /// How many arguments the calls have that it is for …
    pub args: usize,
    /// … and how wide their result is.
    pub result: Option<u32>,
    pub function: FunctionId,
}

/// Gives a body to every function that the program calls, has none for, and the library knows.
/// Functions of the program that are atomic by their names become so.
///
/// Small functions are put in place of their calls, so that their events stand at the place
/// of the call. What the library does not know, or knows with another prototype, is left as it is.
pub fn link(program: &mut Program, options: &Options) -> Result<(), Diagnostics> {
    link_through(program, options, &[])
}

/// Like [`link`], for programs whose functions are not called as C functions are.
pub fn link_through(
    program: &mut Program,
    options: &Options,
    through: &[Through],
) -> Result<(), Diagnostics> {
    sections::make_atomic(program);
    errors::mark(program, &options.errors);
    exits::end_lives(program);
    let features = Features::of(program, options);
    Linker::new(program, features, through, options).link()
}

/// What a function of the library is called with: widths in bits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Signature {
    pub params: Vec<u32>,
    pub result: Option<u32>,
}

/// The signatures of the functions that the library knows.
pub struct Signatures(Modules);

impl Signatures {
    #[expect(clippy::new_without_default)]
    pub fn new() -> Signatures {
        Signatures(Modules::new(Features { atomics: true, ..Features::default() }))
    }

    pub fn of(&mut self, name: &str) -> Option<Signature> {
        let definition = self.0.find(name)?;
        let function = self.0.function(definition).ok()?;
        let params = function.vars.iter().take(function.params as usize);
        let params = params.map(|param| param.width).collect();
        Some(Signature { params, result: function.result })
    }

    /// Whether programs may call a function of that name.
    pub fn has(&self, name: &str) -> bool {
        !name.contains(['.', '[']) && self.0.find(name).is_some()
    }
}

/// The names of all functions that the library knows, sorted.
pub fn names() -> Vec<String> {
    Modules::new(Features { atomics: true, ..Features::default() }).names()
}

/// Whether a file of a program's source is one of the library.
pub fn is_library_file(name: &str) -> bool {
    name.starts_with(modules::FOLDER)
}
