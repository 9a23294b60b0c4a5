//! Others who search the same, in other processes.

use std::time::Duration;

/// The way to the other processes of a run. Process 0 leads: work goes out from it in epochs, one after the
/// other, and everybody gets to know when nobody has anything left to do in one.
pub trait Link: Sync {
    /// The number of this process, and of all.
    fn process(&self) -> usize;
    fn processes(&self) -> usize;

    /// An epoch begins (process 0).
    fn begin(&self);

    /// There will be none more (process 0).
    fn end(&self);

    /// Sends a letter. Letters from one process to another arrive in their order.
    fn send(&self, to: usize, letter: Vec<u8>);

    /// The next piece of news, if there is one in so much time.
    fn receive(&self, patience: Duration) -> Option<News>;

    /// All news was read, and there is nothing to do until there is more.
    fn rest(&self);
}

/// What a process hears of the others.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum News {
    Letter {
        from: usize,
        text: Vec<u8>,
    },
    /// Nobody has anything left to do in this epoch.
    Quiet,
    /// There is no other epoch.
    Ended,
    /// A process does not answer any more; says which, and how that showed.
    Lost(String),
}
