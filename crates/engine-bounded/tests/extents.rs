//! Objects of which nobody knows how large they are: what is wrong with accesses to them is what
//! exploration finds, which tries each size.

mod common;

use common::{Random, cases};
use parallax_engine_bounded::{Options, verify};
use parallax_engine_explore::explore;
use parallax_memory::Model;
use parallax_program::{Property, parse_program};
use parallax_verdict::Conclusion;

fn random_program(random: &mut Random) -> String {
    let (low, high, bad) = (random.below(8), 4 + random.below(8), random.pick(&["7", "9"]));
    let mut accesses = String::new();
    for _ in 0..1 + random.below(3) {
        let bytes: u64 = random.pick(&["1", "2", "4"]).parse().expect("a number");
        let offset = random.below(6) / bytes * bytes;
        accesses += &match random.below(4) {
            0 => format!("store.{bytes} p + {offset}:64, {}:{} [A, RLX]\n", offset, bytes * 8),
            1 => "store.1 p + (n - 1:64), 1:8 [A, RLX]\n".to_string(),
            2 => "free.heap p\np = alloc.heap.zeroed n align 8\n".to_string(),
            _ => format!(
                "store.{bytes} p + {offset}:64, 0:{} [A, RLX]\nr = load.1 p + {offset}:64 [A, RLX]\n",
                bytes * 8
            ),
        };
    }
    format!(
        "program p pointers 64\nglobal x: 4\nfn other(q: 64) {{\nstore.1 q, 7:8 [A, RLX]\nreturn\n}}\n\
         fn main() {{\nvar n: 64, p: 64, r: 8, t: 32\nn = nondet\nassume {low}:64 <=u n\n\
         assume n <=u {high}:64\np = alloc.heap.zeroed n align 8\nt = spawn other(p)\n{accesses}\
         join t\nr = load.1 p [A, RLX]\nassert r != {bad}:8, \"seen\"\nreturn\n}}\nthread main = main()\n"
    )
}

#[test]
fn exploration_agrees() {
    let model = Model::builtin("sc").expect("a model").expect("a right model");
    let mut compared = [0, 0];
    for seed in 0..cases(60) {
        let text = random_program(&mut Random::new(seed));
        let program =
            parse_program("p", &text).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"));
        for property in [Property::Memory, Property::Assert] {
            let properties = vec![property];
            let options =
                Options { properties: properties.clone(), unroll: None, ..Options::default() };
            let fast = verify(&program, &model, &options).expect("a verdict").verdict;
            let nondet = Some((0, 16));
            let options =
                parallax_engine_explore::Options { properties, nondet, ..Default::default() };
            let slow = explore(&program, &model, &options).expect("a verdict");
            if slow.conclusion() == Conclusion::Unknown {
                continue;
            }
            let reason = fast.reason.as_ref().map_or("", |reason| reason.message.as_str());
            assert_eq!(fast.conclusion(), slow.conclusion(), "{seed} {property} {reason}:\n{text}");
            let messages = [&fast, &slow].map(|verdict| {
                verdict.violations.first().map(|violation| violation.message.clone())
            });
            if property == Property::Assert {
                assert_eq!(messages[0], messages[1], "{seed}:\n{text}");
            }
            compared[usize::from(fast.conclusion() == Conclusion::Safe)] += 1;
        }
    }
    println!("{compared:?}");
    assert!(compared.iter().all(|count| *count > 8), "{compared:?}");
}
