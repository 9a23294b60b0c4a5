//! Letters in a cycle of timely dataflow.
//!
//! Each process has one operator, whose output is everybody's input. A letter carries a time, and so does
//! whoever has something to do: who gets a letter keeps its time until it has nothing left to do, and
//! sends under it. Times grow along the cycle. Those of epoch *e* begin at *e* · 2³²; process 0
//! keeps the first time of the next epoch until there is none. So when no time of an epoch is left
//! anywhere, in no process and in no letter under way, timely says so to all: the epoch is over.

use std::cell::RefCell;
use std::net::TcpStream;
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use parallax_control::{Link, News};
use timely::WorkerConfig;
use timely::communication::Hooks;
use timely::communication::allocator::zero_copy::initialize::initialize_networking_from_sockets;
use timely::communication::allocator::{AllocatorBuilder, ProcessBuilder};
use timely::dataflow::channels::pact::Exchange;
use timely::dataflow::operators::generic::Operator;
use timely::dataflow::operators::{Capability, ConnectLoop, Feedback};
use timely::execute::execute_from;
use timely::worker::Worker;

use crate::Site;
use crate::handshake::named;
use crate::wire::{Watch, Wire};

/// Times of one epoch.
const EPOCH: u64 = 1 << 32;
/// How long a worker sleeps if nobody wakes it.
const NAP: Duration = Duration::from_millis(20);
/// In which the others say goodbye.
const FAREWELL: Duration = Duration::from_secs(5);

/// To, from, and what.
type Letter = (u64, u64, Vec<u8>);

enum Order {
    Begin,
    End,
    Send(u64, Vec<u8>),
    /// So many letters were read, and there is nothing left to do.
    Rest(u64),
}

/// The processes of a run.
pub struct Cycle {
    process: usize,
    processes: usize,
    orders: Mutex<Sender<Order>>,
    news: Mutex<Inbox>,
    worker: Thread,
    watch: Arc<Watch>,
}

struct Inbox {
    news: Receiver<News>,
    read: u64,
    has_lost: bool,
}

impl Cycle {
    /// Over connections to all others.
    pub(crate) fn over(site: &Site, sockets: Vec<Option<TcpStream>>) -> Result<Cycle, String> {
        let watch = Arc::new(Watch::default());
        let wire = |(process, socket): (usize, Option<TcpStream>)| {
            let silent = site.patience.silent;
            let wire = |socket| Wire::new(socket, named(site, process), watch.clone(), silent);
            socket.map(wire).transpose()
        };
        let wires: Result<Vec<Option<Wire>>, _> =
            sockets.into_iter().enumerate().map(wire).collect();
        let broken = |error: std::io::Error| format!("cannot use the connections: {error}");
        let wires = wires.map_err(broken)?;
        let (process, processes) = (site.process, site.hosts.len());
        let hooks = Hooks::default();
        let (refill, spill) = (hooks.refill.clone(), hooks.spill.clone());
        let local = ProcessBuilder::new_typed_vector(1, refill, spill);
        let (builders, guard) =
            initialize_networking_from_sockets(local, wires, process, 1, hooks).map_err(broken)?;
        // It would wait for threads that wait for somebody who is lost.
        std::mem::forget(guard);
        let builders = builders.into_iter().map(AllocatorBuilder::Tcp).collect();
        let (orders, ordered) = channel();
        let (sender, news) = channel();
        let (watched, ends) = (watch.clone(), Mutex::new(Some((ordered, sender))));
        let guards =
            execute_from(builders, Box::new(()), WorkerConfig::default(), move |worker| {
                let ends = ends.lock().unwrap_or_else(PoisonError::into_inner).take();
                if let Some((ordered, sender)) = ends {
                    run(worker, ordered, sender, &watched);
                }
            })?;
        let worker = guards.guards().first().ok_or("no thread for the dataflow")?.thread().clone();
        // It would wait for the thread, too.
        std::mem::forget(guards);
        let (orders, news) =
            (Mutex::new(orders), Mutex::new(Inbox { news, read: 0, has_lost: false }));
        Ok(Cycle { process, processes, orders, news, worker, watch })
    }

    /// Bytes that this process has sent.
    pub fn traffic(&self) -> u64 {
        self.watch.traffic.load(Ordering::Relaxed)
    }

    fn order(&self, order: Order) {
        let orders = self.orders.lock().unwrap_or_else(PoisonError::into_inner);
        // Where the worker has ended, there is news of that.
        let _ = orders.send(order);
        self.worker.unpark();
    }

    /// Waits until all others have said goodbye, or are not going to.
    pub fn leave(&self) {
        let end = Instant::now() + FAREWELL;
        let others = self.processes as u64 - 1;
        while self.watch.farewells.load(Ordering::Acquire) < others
            && !self.watch.is_lost()
            && Instant::now() < end
        {
            thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Link for Cycle {
    fn process(&self) -> usize {
        self.process
    }

    fn processes(&self) -> usize {
        self.processes
    }

    fn begin(&self) {
        self.order(Order::Begin);
    }

    fn end(&self) {
        self.order(Order::End);
    }

    fn send(&self, to: usize, letter: Vec<u8>) {
        self.order(Order::Send(to as u64, letter));
    }

    fn receive(&self, patience: Duration) -> Option<News> {
        let mut inbox = self.news.lock().unwrap_or_else(PoisonError::into_inner);
        let end = Instant::now() + patience;
        loop {
            if let Ok(news) = inbox.news.recv_timeout(NAP.min(patience)) {
                inbox.read += u64::from(matches!(news, News::Letter { .. }));
                return Some(news);
            }
            if let Some(lost) = self.watch.lost().filter(|_| !inbox.has_lost) {
                inbox.has_lost = true;
                return Some(News::Lost(lost));
            }
            if Instant::now() >= end {
                return None;
            }
        }
    }

    fn rest(&self) {
        let read = self.news.lock().unwrap_or_else(PoisonError::into_inner).read;
        self.order(Order::Rest(read));
    }
}

/// What the operator of a process knows.
struct Node {
    /// Kept as long as there is something to do.
    busy: Option<Capability<u64>>,
    /// Process 0: the first time of the next epoch.
    next: Option<Capability<u64>>,
    /// Letters that were handed over.
    delivered: u64,
    epoch: u64,
    /// Whether it was said that the present epoch is over.
    is_quiet: bool,
    is_over: bool,
}

fn run(worker: &mut Worker, ordered: Receiver<Order>, news: Sender<News>, watch: &Watch) {
    let index = worker.index() as u64;
    let orders: Rc<RefCell<Vec<Order>>> = Rc::default();
    let (waiting, over) = (orders.clone(), Rc::new(RefCell::new(false)));
    let ended = over.clone();
    let activator = worker.dataflow::<u64, _, _>(|scope| {
        let (handle, cycle) = scope.feedback::<Vec<Letter>>(1);
        let mut activator = None;
        let all = cycle
            .unary_frontier::<timely::container::CapacityContainerBuilder<Vec<Letter>>, _, _, _>(
                Exchange::new(|(to, _, _): &Letter| *to),
                "node",
                |first, info| {
                    activator = Some(scope.activator_for(info.address));
                    let mut node = Node {
                        busy: None,
                        next: (index == 0).then_some(first),
                        delivered: 0,
                        epoch: 0,
                        is_quiet: index == 0,
                        is_over: false,
                    };
                    move |(input, frontier), output| {
                        input.for_each_time(|time, letters| {
                            if node.busy.is_none() {
                                node.busy = Some(time.retain(0));
                            }
                            for (_, from, text) in letters.flat_map(|letters| letters.drain(..)) {
                                node.delivered += 1;
                                let _ = news.send(News::Letter { from: from as usize, text });
                            }
                        });
                        for order in waiting.borrow_mut().drain(..) {
                            if let Some((to, text)) = node.obey(order)
                                && let Some(time) = &node.busy
                            {
                                output.session(time).give((to, index, text));
                            }
                        }
                        node.look(frontier.frontier().first().copied(), &news);
                        *ended.borrow_mut() = node.is_over;
                    }
                },
            );
        all.connect_loop(handle);
        activator
    });
    while !watch.is_lost() && !*over.borrow() {
        orders.borrow_mut().extend(ordered.try_iter());
        if let Some(activator) = activator.as_ref().filter(|_| !orders.borrow().is_empty()) {
            activator.activate();
        }
        worker.step_or_park(Some(NAP));
    }
    // What nobody answers any more would not end by itself.
    for dataflow in worker.installed_dataflows().into_iter().filter(|_| watch.is_lost()) {
        worker.drop_dataflow(dataflow);
    }
}

impl Node {
    /// What is to be sent.
    fn obey(&mut self, order: Order) -> Option<(u64, Vec<u8>)> {
        match order {
            Order::Send(to, text) => return Some((to, text)),
            Order::Begin => {
                if let Some(next) = &mut self.next {
                    self.busy = Some(next.clone());
                    self.epoch = *next.time() / EPOCH;
                    self.is_quiet = false;
                    next.downgrade(&((self.epoch + 1) * EPOCH));
                }
            }
            Order::End => (self.busy, self.next) = (None, None),
            Order::Rest(read) if read == self.delivered => self.busy = None,
            // There are letters that nobody has read.
            Order::Rest(_) => {}
        }
        None
    }

    /// Says what follows from the earliest time that is left.
    fn look(&mut self, earliest: Option<u64>, news: &Sender<News>) {
        let Some(earliest) = earliest else {
            if !self.is_over {
                self.is_over = true;
                let _ = news.send(News::Ended);
            }
            return;
        };
        // Letters that come will be of the epoch that the earliest time is of.
        let is_past = earliest >= (self.epoch + 1) * EPOCH;
        if is_past && !self.is_quiet && self.busy.is_none() {
            self.is_quiet = true;
            let _ = news.send(News::Quiet);
        }
        if is_past && self.next.is_none() {
            (self.epoch, self.is_quiet) = (earliest / EPOCH, false);
        }
    }
}
