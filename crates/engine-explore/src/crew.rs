//! Several threads on one search: who has nothing to do gets the largest piece of what someone
//! else has left.
//!
//! A piece is a node of a search path with all that is left to try there; it needs nothing of
//! the rest of the path, so pieces are independent and the counts add up to those of one thread.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::graph::Graph;
use crate::memory::Memory;
use crate::search::Path;

/// A piece of a search.
pub struct Task<'p> {
    pub graph: Graph<'p>,
    pub memory: Memory,
    pub path: Path,
}

pub struct Crew<'p> {
    queue: Mutex<Queue<'p>>,
    news: Condvar,
    /// Threads that wait, minus tasks that are there for them.
    hungry: AtomicUsize,
}

struct Queue<'p> {
    tasks: VecDeque<Task<'p>>,
    waiting: usize,
    working: usize,
}

impl<'p> Crew<'p> {
    pub fn new(threads: usize) -> Crew<'p> {
        Crew {
            queue: Mutex::new(Queue { tasks: VecDeque::new(), waiting: 0, working: threads }),
            news: Condvar::new(),
            hungry: AtomicUsize::new(0),
        }
    }

    /// Whether someone waits for work.
    pub fn is_hungry(&self) -> bool {
        self.hungry.load(Ordering::Relaxed) > 0
    }

    fn queue(&self) -> MutexGuard<'_, Queue<'p>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn update(&self, queue: &Queue<'p>) {
        let hungry = queue.waiting.saturating_sub(queue.tasks.len());
        self.hungry.store(hungry, Ordering::Relaxed);
    }

    pub fn give(&self, task: Task<'p>) {
        let mut queue = self.queue();
        queue.tasks.push_back(task);
        self.update(&queue);
        self.news.notify_one();
    }

    /// The next task; None when everyone is done.
    pub fn take(&self) -> Option<Task<'p>> {
        let mut queue = self.queue();
        queue.waiting += 1;
        queue.working -= 1;
        loop {
            if let Some(task) = queue.tasks.pop_front() {
                queue.waiting -= 1;
                queue.working += 1;
                self.update(&queue);
                return Some(task);
            }
            if queue.working == 0 {
                queue.waiting -= 1;
                queue.working += 1;
                self.update(&queue);
                self.news.notify_all();
                return None;
            }
            self.update(&queue);
            queue = self.news.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// A thread that will not take any more.
    pub fn leave(&self) {
        let mut queue = self.queue();
        queue.working -= 1;
        self.update(&queue);
        self.news.notify_all();
    }
}
