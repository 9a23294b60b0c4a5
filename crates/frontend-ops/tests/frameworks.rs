//! Random structures: the verdicts by sub-operations are those by cat files.

use parallax_engine_bounded::{Framework, Options, verify};
use parallax_frontend_ops::{Judging, lower, parse};
use parallax_memory::Model;
use parallax_program::{Program, Property};
use parallax_verdict::{Conclusion, Scope};

/// Xorshift: the same structures everywhere.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) % limit as u64) as usize
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}

/// One element, or several that belong together.
fn element(random: &mut Random, number: usize) -> String {
    let (x, t, u) =
        (random.pick(&["[x]", "[y]"]), random.pick(&["a", "b"]), random.pick(&["b", "c"]));
    let k = random.below(3);
    match random.below(13) {
        0 | 1 => format!("instr{{ {x} := {k} }}"),
        2 => format!("instr{{ {x} := {t} + 1 }}"),
        3..=5 => format!("instr{{ {t} := {x} }}"),
        6 => format!("instr{{ atom({t} := {x}); v := {t} + 1; atom({x} := v) }}"),
        7 => format!("instr{{ atom({t} := {x}); if({t} = {k}){{ atom({x} := 2) }} }}"),
        8 => format!("instr{{ ll({t}, {x}) }}; instr{{ sc(f, {x}, {k}) }}"),
        9 => format!("instr{{ {} }}", random.pick(&["membar", "stbar", "lwsync", "mfence"])),
        10 => "instr{ a := [x] || c := [y] }".to_string(),
        11 => format!("instr{{ if({t} = {k}){{ {x} := {u} }} }}"),
        _ => {
            format!("label(L{number}); instr{{ {t} := {x}; branch({t} = {k}, label(L{number})) }}")
        }
    }
}

fn structures(seed: u64) -> String {
    let mut random = Random::new(seed);
    let mut text = String::from("loc [x], [y] = 1;\n");
    for thread in 0..2 + random.below(2) {
        let mut elements = vec!["instr{ a := 3; b := 1; c := 3 }".to_string()];
        elements.extend((0..2 + random.below(3)).map(|number| element(&mut random, number)));
        if random.below(6) == 0 {
            elements.push(format!("assume(not(b = {}))", random.below(3)));
        }
        let (k, l) = (random.below(3), random.below(3));
        elements.push(format!("assert(not(a = {k} /\\ b = {l}))"));
        text += &format!("thread P{thread} {{\n  {}\n}}\n", elements.join(";\n  "));
    }
    text
}

fn verdict(program: &Program, name: &str, framework: Framework) -> (Conclusion, Option<Scope>) {
    let model = Model::builtin(name).expect("the model is there").expect("it is a model");
    let properties = vec![Property::Assert];
    let options = Options { properties, framework, ..Options::default() };
    let verdict = verify(program, &model, &options).expect("it runs").verdict;
    (verdict.conclusion(), verdict.scope)
}

#[test]
fn random_structures_have_the_verdicts_of_cat_files() {
    let mut compared = [0, 0];
    for seed in 0..200 {
        let text = structures(seed);
        let structures =
            parse("t.ops", &text).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"));
        let program = lower(&structures, Judging::of(&structures)).expect("it lowers").program;
        for name in ["sc", "tso", "pso"] {
            let [one, other] = [Framework::Gharachorloo, Framework::Cat]
                .map(|framework| verdict(&program, name, framework));
            assert_eq!(one, other, "seed {seed}, {name}:\n{text}");
            compared[usize::from(one.0 == Conclusion::Safe)] += 1;
        }
    }
    assert!(compared.iter().all(|count| *count > 50), "{compared:?}");
}
