//! All ways to judge an execution against trying all orders of writes, each judged by the model's text.

use parallax_control::Control as Limits;
use parallax_memory::Model;
use parallax_program::Tags;

use super::view::View;
use super::{Consistency, Judgement, Order, orders};
use crate::declarative::execution::{Event, Execution, Id, Location, Source};
use crate::options::Judge;

/// Numbers that are as good as random (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound.max(1) as u64) as usize
    }

    fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }
}

fn tags(words: &str) -> Tags {
    Tags::new(words.split_whitespace())
}

/// Events of two or three threads; what reads read is any write to the location, also one of the future.
fn execution(random: &mut Random) -> Execution {
    let mut execution = Execution::default();
    let threads = 2 + random.below(2) as u32;
    let mut left = [6, 7][threads as usize - 2];
    for thread in 0..threads {
        execution.line(thread);
        let most = 1 + random.below(3);
        for _ in 0..most.min(left) {
            left -= 1;
            let location = Location::Memory(0x1000 * (1 + random.below(2) as u64));
            let read = tags(random.pick(&["NA", "A RLX", "A ACQ", "A SC"]));
            let write = tags(random.pick(&["NA", "A RLX", "A REL", "A SC"]));
            match random.below(10) {
                0 => drop(
                    execution.push(thread, Event::fence(tags(random.pick(&["SC", "ACQ_REL"])))),
                ),
                1..=4 => drop(execution.push(thread, Event::write(location, write))),
                5 => {
                    let read = Event::read(location, tags("A RLX"), Source::Initial).half();
                    execution.push(thread, read);
                    execution.push(thread, Event::write(location, tags("A REL")).half());
                }
                _ => drop(execution.push(thread, Event::read(location, read, Source::Initial))),
            }
        }
    }
    let ids: Vec<Id> = execution.ids().collect();
    for id in ids {
        let Some(location) = execution.event(id).and_then(|it| it.location) else { continue };
        let sources: Vec<Id> = execution.writes(location).collect();
        let event = &mut execution.threads[id.thread as usize].events[id.index as usize];
        if event.source.is_some() {
            let which = random.below(sources.len() + 1);
            event.source =
                Some(sources.get(which).map_or(Source::Initial, |id| Source::Write(*id)));
        }
    }
    if random.below(4) == 0 {
        let writes: Vec<Id> = execution.writes(Location::Memory(0x1000)).collect();
        if let [first, .., last] = writes[..] {
            execution.ordered.push((last, first));
        }
    }
    execution
}

/// Whether the model allows an execution with writes in this order.
fn is_allowed(model: &Model, execution: &Execution, order: &Order) -> bool {
    let view = View::new(execution);
    let mut inputs = orders::inputs(model, &view);
    orders::is_allowed(model, execution, &view, &mut inputs, order).expect("an evaluation")
}

fn permutations<T: Copy>(of: &[T]) -> Vec<Vec<T>> {
    let Some((first, rest)) = of.split_first() else { return vec![vec![]] };
    let mut all = Vec::new();
    for shorter in permutations(rest) {
        for place in 0..=shorter.len() {
            let mut longer = shorter.clone();
            longer.insert(place, *first);
            all.push(longer);
        }
    }
    all
}

/// Whether there is an order of writes, by trying all of them.
fn tried(model: &Model, execution: &Execution) -> bool {
    let mut orders: Vec<Order> = vec![Vec::new()];
    for address in execution.addresses() {
        let location = Location::Memory(address);
        let writes: Vec<Id> = execution.writes(location).collect();
        let lines = permutations(&writes);
        let longer = orders.iter().flat_map(|order| {
            lines.iter().map(move |line| {
                let mut order = order.clone();
                order.push((location, line.clone()));
                order
            })
        });
        orders = longer.collect();
    }
    orders.iter().any(|order| is_allowed(model, execution, order))
}

const OWN: [&str; 4] = [
    "acyclic rf & co",
    "acyclic po-loc | rf | co | fr",
    // What is computed by rounds.
    "let rec a = po | (b; po) and b = rf | (a; rf)\nacyclic a | b",
    "empty rmw & (fre; coe)\nirreflexive (po | rf); co\nempty [FW]; rf; [R & SC]; (co; co)",
];

fn models() -> Vec<Model> {
    let own = OWN
        .iter()
        .map(|text| Model::parse("mine", &format!("mine\n{text}\n"), &|_| None).expect("a model"));
    own.collect()
}

fn agree(model: &Model, seeds: std::ops::Range<u64>) -> [u32; 2] {
    let judges = [Judge::Saturation, Judge::Sat, Judge::Functions, Judge::Datalog];
    let names = judges.map(|judge| format!("{judge:?}")).into_iter().chain(["Orders".to_string()]);
    let names: Vec<String> = names.collect();
    let mut ways: Vec<Box<dyn Consistency + '_>> =
        judges.map(|judge| judge.of(model, Limits::default())).into_iter().collect();
    ways.push(Box::new(orders::Orders::new(model, Limits::default())));
    let mut counts = [0, 0];
    for seed in seeds {
        let execution = execution(&mut Random(seed * 7919 + 1));
        let expected = tried(model, &execution);
        counts[usize::from(expected)] += 1;
        for (judge, way) in names.iter().zip(&mut ways) {
            let shown = || format!("seed {seed}, {judge} under {}: {execution:#?}", model.name());
            match way.judge(&execution) {
                Judgement::Allowed(order) => {
                    assert!(expected, "{}", shown());
                    assert!(is_allowed(model, &execution, &order), "{order:?} of {}", shown());
                }
                Judgement::Forbidden => assert!(!expected, "{}", shown()),
                Judgement::Open => panic!("nothing said: {}", shown()),
            }
        }
    }
    counts
}

#[test]
fn all_ways_agree_with_trying_all_orders() {
    let count = std::env::var("PARALLAX_CASES").ok().and_then(|it| it.parse().ok()).unwrap_or(30);
    let names = ["sc", "tso", "pso", "ra", "rc11", "rc20"];
    for name in names {
        let model = Model::builtin(name).expect("a model").expect("a right model");
        let counts = agree(&model, 0..count);
        println!("{name}: {counts:?}");
        assert!(counts.iter().all(|it| *it as u64 > count / 20), "{name}: {counts:?}");
    }
    for model in models() {
        println!("{:?}", agree(&model, 0..count));
    }
}

/// A recursive definition over the order of writes.
#[test]
fn recursive_definitions_come_to_their_end_or_are_open() {
    let text = "mine\nlet rec a = co | (b; co) and b = fr | (a; rf)\nacyclic a | b\n";
    let model = Model::parse("mine", text, &|_| None).expect("a model");
    for judge in [Judge::Sat, Judge::Functions, Judge::Datalog] {
        let mut way = judge.of(&model, Limits::default());
        for seed in 0..10 {
            let execution = execution(&mut Random(seed * 7919 + 1));
            let expected = tried(&model, &execution);
            match way.judge(&execution) {
                Judgement::Allowed(order) => assert!(is_allowed(&model, &execution, &order)),
                Judgement::Forbidden => assert!(!expected),
                Judgement::Open => {}
            }
        }
    }
}
