//! How far a cluster goes, by simulation: the search trees of three runs are recorded, and explored again by
//! 1 to 4,096 processes in a simulation of discrete events, with the latency of the loopback. Draws how
//! much faster it gets, and what is sent.
//!
//! A run is recorded as the places where it was, at short intervals, and the work between two of them.
//! So it is known what is left at any place, and what of it a process would give away. The simulated
//! processes do what the real ones do: who is idle says so to process 0, which asks all at work to
//! give something back, and hands it on. Process 0 takes a time for each letter; who gets work
//! comes to its place by the same ways again.
//!
//! usage: cluster FOLDER-OF-FIGURES

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use parallax_bench::chart::{Axis, Chart, Curve, Panel};
use parallax_bench::{programs, query};
use parallax_control::Control;
use parallax_program::Program;
use parallax_query::{Reductions, Subject};
use parallax_verify::{Checkpoint, registry::named};

/// Between two places of a recorded run.
const STEP: Duration = Duration::from_micros(30);
/// Who is at work looks for letters this often, in nanoseconds.
const LOOK: u64 = 2_000_000;

/// A run: where it was after each interval, and how much work each of them is.
struct Run {
    name: &'static str,
    places: Vec<Vec<u32>>,
    work: Vec<u64>,
    /// What one step takes, in nanoseconds.
    step: f64,
    letter: u64,
}

fn record(name: &'static str, program: Program) -> Run {
    let texts: Arc<Mutex<Vec<Vec<u8>>>> = Arc::default();
    let own = texts.clone();
    let keep = move |text: &[u8]| {
        own.lock().expect("no panic").push(text.to_vec());
        Ok(())
    };
    let subject = Subject::of(program);
    let engine = named("explore").expect("the engine");
    let mut bare = query(&subject, "sc");
    bare.extensions = bare.extensions.with(Reductions::NONE);
    let started = Instant::now();
    engine.run(&bare, &Control::default()).expect("an answer");
    let time = started.elapsed();
    let mut kept = bare.clone();
    kept.extensions =
        kept.extensions.with(Checkpoint { every: STEP, keep: Some(Arc::new(keep)), from: None });
    engine.run(&kept, &Control::default()).expect("an answer");
    let texts = std::mem::take(&mut *texts.lock().expect("no panic"));
    let letter = texts.iter().map(|text| text.len() as u64).max().unwrap_or(0);
    let (mut places, mut events) = (Vec::new(), vec![0]);
    for text in texts {
        let value: serde_json::Value = serde_json::from_slice(&text).expect("what was kept");
        let counted = value["whole"]["findings"]["counts"]["events"].as_u64().expect("a count");
        let choices = value["row"][0][0]["choices"].as_array();
        let number = |choice: &serde_json::Value| choice.as_u64().unwrap_or(0) as u32;
        let place = choices.map_or(vec![u32::MAX], |all| all.iter().map(number).collect());
        if Some(&counted) != events.last() {
            places.push(place);
            events.push(counted);
        }
    }
    let work: Vec<u64> = events.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let step = time.as_nanos() as f64 / work.iter().sum::<u64>().max(1) as f64;
    Run { name, places, work, step, letter }
}

/// Intervals that are left to explore.
type Task = (usize, usize);

impl Run {
    fn cost(&self, interval: usize) -> u64 {
        (self.work[interval] as f64 * self.step) as u64
    }

    /// The largest piece of what is left behind the first interval: what is left at the lowest choice that
    /// has something.
    fn piece(&self, (first, end): Task) -> Option<usize> {
        let here = &self.places[first];
        (0..here.len()).find_map(|level| {
            let is_below =
                |place: &Vec<u32>| place.len() > level && place[..=level] == here[..=level];
            let below = self.places[first..end].partition_point(is_below);
            Some(first + below).filter(|next| *next > first && *next < end)
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A letter comes to process 0.
    Idle(usize),
    Back(usize, Task),
    /// A letter comes to a process.
    Work(usize, Task),
    Share(usize),
    /// A process has explored an interval.
    Done(usize),
}

#[derive(Clone, Default)]
struct Process {
    task: Option<Task>,
    is_asked: bool,
    is_wanted_since: Option<u64>,
}

struct Simulation<'a> {
    run: &'a Run,
    latency: u64,
    service: u64,
    events: BinaryHeap<Reverse<(u64, u64, Event)>>,
    number: u64,
    processes: Vec<Process>,
    idle: VecDeque<usize>,
    tasks: VecDeque<Task>,
    /// When process 0 has answered all letters.
    free: u64,
    letters: u64,
    busy: u64,
}

impl Simulation<'_> {
    fn at(&mut self, time: u64, event: Event) {
        self.number += 1;
        self.events.push(Reverse((time, self.number, event)));
    }

    fn send(&mut self, time: u64, event: Event) {
        self.letters += 1;
        self.at(time + self.latency, event);
    }

    /// What process 0 does with what it knows.
    fn lead(&mut self, time: u64) {
        self.free = self.free.max(time) + self.service;
        while let (Some(to), Some(task)) = (self.idle.front().copied(), self.tasks.front().copied())
        {
            self.idle.pop_front();
            self.tasks.pop_front();
            self.free += self.service;
            self.send(self.free, Event::Work(to, task));
        }
        if !self.idle.is_empty() {
            for to in 0..self.processes.len() {
                if self.processes[to].task.is_some() && !self.processes[to].is_asked {
                    self.processes[to].is_asked = true;
                    self.free += self.service / 10;
                    self.send(self.free, Event::Share(to));
                }
            }
        }
    }

    fn go_on(&mut self, time: u64, process: usize) {
        if let Some((first, _)) = self.processes[process].task {
            let cost = self.run.cost(first);
            self.busy += cost;
            self.at(time + cost, Event::Done(process));
        }
    }

    fn step(&mut self, time: u64, event: Event) {
        match event {
            Event::Idle(from) => {
                self.processes[from].is_asked = false;
                self.idle.push_back(from);
                self.lead(time);
            }
            Event::Back(from, task) => {
                self.processes[from].is_asked = false;
                self.tasks.push_back(task);
                self.lead(time);
            }
            Event::Work(to, task) => {
                self.processes[to].task = Some(task);
                let depth = self.run.places[task.0].len() as f64;
                self.go_on(time + (2.0 * depth * self.run.step) as u64, to);
            }
            Event::Share(to) => self.processes[to].is_wanted_since = Some(time + LOOK / 2),
            Event::Done(process) => self.explored(time, process),
        }
    }

    fn explored(&mut self, time: u64, process: usize) {
        let Some((first, end)) = self.processes[process].task else {
            return;
        };
        let is_wanted = self.processes[process].is_wanted_since.is_some_and(|since| since <= time);
        let piece = self.run.piece((first, end)).filter(|_| is_wanted);
        if let Some(next) = piece {
            self.processes[process].is_wanted_since = None;
            self.send(time, Event::Back(process, (next, end)));
        }
        let left = (first + 1, piece.unwrap_or(end));
        self.processes[process].task = (left.0 < left.1).then_some(left);
        match self.processes[process].task {
            Some(_) => self.go_on(time, process),
            None => {
                self.processes[process].is_wanted_since = None;
                self.send(time, Event::Idle(process));
            }
        }
    }
}

/// How long so many processes take, and how many letters they write.
fn simulate(run: &Run, processes: usize, latency: u64, service: u64) -> (u64, u64) {
    let mut all = Simulation {
        run,
        latency,
        service,
        events: BinaryHeap::new(),
        number: 0,
        processes: vec![Process::default(); processes],
        idle: (1..processes).collect(),
        tasks: VecDeque::new(),
        free: 0,
        letters: 0,
        busy: 0,
    };
    all.processes[0].task = Some((0, run.work.len()));
    all.go_on(0, 0);
    all.lead(0);
    let mut last = 0;
    while let Some(Reverse((time, _, event))) = all.events.pop() {
        if matches!(event, Event::Done(_)) {
            last = time;
        }
        all.step(time, event);
    }
    (last, all.letters)
}

/// Nanoseconds that a few bytes take from one process to another, by way of the loopback.
fn latency() -> u64 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let echo = std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().expect("a call");
        socket.set_nodelay(true).expect("a socket");
        let mut bytes = [0; 256];
        while socket.read_exact(&mut bytes).is_ok() && socket.write_all(&bytes).is_ok() {}
    });
    let mut socket = TcpStream::connect(address).expect("a call");
    socket.set_nodelay(true).expect("a socket");
    let mut times: Vec<u64> = Vec::new();
    let mut bytes = [0; 256];
    for _ in 0..2_000 {
        let started = Instant::now();
        socket.write_all(&bytes).expect("sent");
        socket.read_exact(&mut bytes).expect("an answer");
        times.push(started.elapsed().as_nanos() as u64 / 2);
    }
    drop(socket);
    echo.join().expect("no panic");
    times.sort_unstable();
    times[times.len() / 2]
}

/// Nanoseconds to read a letter of a kilobyte.
fn service() -> u64 {
    let text = format!("[{}1]", "1234567,".repeat(128));
    let started = Instant::now();
    for _ in 0..1_000 {
        let value: serde_json::Value = serde_json::from_str(&text).expect("a letter");
        std::hint::black_box(value);
    }
    started.elapsed().as_nanos() as u64 / 1_000
}

fn main() {
    let folder = std::env::args().nth(1).expect("a folder of figures");
    let runs = [
        record("additions, n = 9", programs::additions(9)),
        record("last-zero, n = 13", programs::last_zero(13)),
        record("ring, n = 16", programs::ring(16)),
    ];
    let (latency, service) = (latency(), service());
    println!("latency {latency} ns, {service} ns for a letter at process 0");
    let (mut faster, mut traffic) = (Vec::new(), Vec::new());
    for run in &runs {
        let alone: u64 = (0..run.work.len()).map(|interval| run.cost(interval)).sum();
        let longest = (0..run.work.len()).map(|interval| run.cost(interval)).max().unwrap_or(0);
        println!(
            "{}: {:.2} s, {} intervals, the longest {:.2} ms, {:.0} ns a step, letters up to {} bytes",
            run.name,
            alone as f64 / 1e9,
            run.work.len(),
            longest as f64 / 1e6,
            run.step,
            run.letter
        );
        let (mut speeds, mut letters) = (Vec::new(), Vec::new());
        for processes in (0..=12).map(|power| 1_usize << power) {
            let (time, sent) = simulate(run, processes, latency, service);
            let speed = alone as f64 / time.max(1) as f64;
            println!("  {processes:5} processes: {speed:8.1} times, {sent:8} letters");
            speeds.push((processes as f64, speed));
            letters.push((processes as f64, sent.max(1) as f64));
        }
        faster.push(Curve { name: run.name.to_string(), points: speeds });
        traffic.push(Curve { name: run.name.to_string(), points: letters });
    }
    let x = Axis { label: "processes", is_log: true };
    let drawn = |title: &str, label, note: String, curves| Chart {
        title: title.to_string(),
        note,
        x,
        y: Axis { label, is_log: true },
        panels: vec![Panel { title: String::new(), curves }],
    };
    let note = format!(
        "simulated; latency {:.0} µs, {:.0} µs for each letter at process 0",
        latency as f64 / 1e3,
        service as f64 / 1e3
    );
    for (name, chart) in [
        ("cluster-speed", drawn("How much faster", "times faster", note.clone(), faster)),
        ("cluster-traffic", drawn("What is sent", "letters", note, traffic)),
    ] {
        std::fs::write(format!("{folder}/{name}.svg"), chart.svg()).expect("a figure");
    }
}
