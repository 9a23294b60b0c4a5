//! Many independent pieces of work on several threads, their results in order.
//!
//! Results are handed on as soon as everything before them is done. Workers never run further
//! ahead than a window, so that one slow piece does not make the results behind it pile up.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use parallax_control::Cancel;

/// Deeply nested input makes deep recursion; address space costs nothing until it is used.
const STACK_BYTES: usize = 64 << 20;
/// How often the owner of a batch gets a chance to show progress.
const TICK: Duration = Duration::from_millis(100);

/// How long to wait for company before a result is handed on: small pieces take less time
/// than it takes to wake a thread for each.
const GATHERING: Duration = Duration::from_millis(1);

pub struct Batch {
    /// How many pieces there are.
    pub count: usize,
    pub jobs: NonZeroUsize,
    /// How many pieces may be started and not yet handed on.
    pub window: usize,
    /// Once cancelled, no further piece is started.
    pub cancel: Cancel,
}

/// Hears of results, in order, on the thread that runs the batch.
pub trait Audience<T> {
    /// `Break` ends the batch.
    fn result(&mut self, number: usize, result: T) -> ControlFlow<()>;
    /// Everything that could be handed on has been; `current` is the first piece that is
    /// not done.
    fn pause(&mut self, current: usize) -> ControlFlow<()>;
}

struct Queue {
    next: usize,
    handed_on: usize,
}

struct Shared {
    queue: Mutex<Queue>,
    moved: Condvar,
}

impl Batch {
    /// Runs `work` on every number below `count`. A piece that panics gives `None`.
    pub fn run<T: Send>(
        &self,
        work: impl Fn(usize) -> T + Sync,
        audience: &mut impl Audience<Option<T>>,
    ) -> std::io::Result<()> {
        let shared =
            Shared { queue: Mutex::new(Queue { next: 0, handed_on: 0 }), moved: Condvar::new() };
        let (sender, receiver) = mpsc::channel();
        thread::scope(|scope| {
            for _ in 0..self.jobs.get().min(self.count) {
                let sender = sender.clone();
                let (shared, work) = (&shared, &work);
                thread::Builder::new()
                    .stack_size(STACK_BYTES)
                    .spawn_scoped(scope, move || self.work(shared, work, &sender))
                    .inspect_err(|_| self.stop(shared))?;
            }
            drop(sender);
            let mut waiting: BTreeMap<usize, Option<T>> = BTreeMap::new();
            let mut head = 0;
            loop {
                match receiver.recv_timeout(TICK) {
                    Ok((number, result)) => {
                        waiting.insert(number, result);
                        if head + waiting.len() < self.count {
                            thread::sleep(GATHERING);
                        }
                        waiting.extend(receiver.try_iter());
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) if waiting.is_empty() => return Ok(()),
                    Err(RecvTimeoutError::Disconnected) => {}
                }
                if self.hand_on(&mut waiting, &mut head, audience).is_break() {
                    self.stop(&shared);
                    return Ok(());
                }
                shared.lock().handed_on = head;
                shared.moved.notify_all();
            }
        })
    }

    fn hand_on<T>(
        &self,
        waiting: &mut BTreeMap<usize, Option<T>>,
        head: &mut usize,
        audience: &mut impl Audience<Option<T>>,
    ) -> ControlFlow<()> {
        while let Some(result) = waiting.remove(head) {
            audience.result(*head, result)?;
            *head += 1;
        }
        audience.pause(*head)
    }

    fn work<T>(
        &self,
        shared: &Shared,
        work: &impl Fn(usize) -> T,
        sender: &Sender<(usize, Option<T>)>,
    ) {
        while let Some(number) = self.take(shared) {
            let result = catch_unwind(AssertUnwindSafe(|| work(number))).ok();
            if sender.send((number, result)).is_err() {
                return;
            }
        }
    }

    /// The next piece, once it is inside the window.
    fn take(&self, shared: &Shared) -> Option<usize> {
        let mut queue = shared.lock();
        loop {
            if queue.next >= self.count || self.cancel.is_cancelled() {
                return None;
            }
            if queue.next < queue.handed_on + self.window.max(1) {
                queue.next += 1;
                return Some(queue.next - 1);
            }
            let woken = shared.moved.wait_timeout(queue, TICK);
            queue = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn stop(&self, shared: &Shared) {
        self.cancel.cancel();
        shared.moved.notify_all();
    }
}

impl Shared {
    fn lock(&self) -> std::sync::MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Log {
        seen: Vec<(usize, Option<usize>)>,
        stop_after: Option<usize>,
    }

    impl Audience<Option<usize>> for Log {
        fn result(&mut self, number: usize, result: Option<usize>) -> ControlFlow<()> {
            self.seen.push((number, result));
            if self.stop_after == Some(number) {
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        }

        fn pause(&mut self, _current: usize) -> ControlFlow<()> {
            ControlFlow::Continue(())
        }
    }

    fn batch(count: usize) -> Batch {
        let cancel = Cancel::default();
        Batch { count, jobs: NonZeroUsize::new(3).expect("not zero"), window: 4, cancel }
    }

    #[test]
    fn results_come_in_order_whatever_the_pace() {
        let mut log = Log::default();
        let work = |n: usize| {
            if n == 0 {
                thread::sleep(Duration::from_millis(30));
            }
            n * n
        };
        batch(50).run(work, &mut log).expect("threads start");
        let expected: Vec<_> = (0..50).map(|n| (n, Some(n * n))).collect();
        assert_eq!(log.seen, expected);
    }

    #[test]
    fn a_batch_can_be_left() {
        let mut log = Log { stop_after: Some(5), ..Log::default() };
        batch(1000).run(|n| n, &mut log).expect("threads start");
        assert_eq!(log.seen.len(), 6);
    }

    #[test]
    fn nothing_to_do_is_done_at_once() {
        let mut log = Log::default();
        batch(0).run(|n| n, &mut log).expect("threads start");
        assert!(log.seen.is_empty());
    }

    #[test]
    fn what_panics_gives_nothing_and_the_rest_goes_on() {
        let mut log = Log::default();
        let work = |n: usize| {
            // Without a message: panics of workers are no news for the reader of this test.
            if n == 1 {
                std::panic::resume_unwind(Box::new(()));
            }
            n
        };
        batch(3).run(work, &mut log).expect("threads start");
        assert_eq!(log.seen, [(0, Some(0)), (1, None), (2, Some(2))]);
    }
}
