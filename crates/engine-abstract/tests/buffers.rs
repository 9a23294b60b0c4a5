//! Stores that others do not see at once: what fails by them, what does not, and loops that store without end.

use std::time::Duration;

use parallax_control::Control;
use parallax_engine_abstract::proof::{Checked, check};
use parallax_engine_abstract::{Options, Tuning, prove};
use parallax_memory::Model;
use parallax_program::{Property, parse_program};

const MODELS: [&str; 3] = ["sc", "tso", "pso"];

/// The answers under `sc`, `tso` and `pso` for threads with these bodies. Proofs are checked.
fn answers(bodies: &[&str]) -> [String; 3] {
    let mut text = String::from(
        "program p pointers 64\nglobal x: 4\nglobal y: 4\nglobal a: 16\nglobal b: 4\n",
    );
    for (number, body) in bodies.iter().enumerate() {
        let vars = "r: 32, s: 32, i: 32, ok: 1";
        text += &format!("fn P{number}() {{\nvar {vars}\n{body}\nreturn\n}}\n");
    }
    (0..bodies.len()).for_each(|number| text += &format!("thread P{number} = P{number}()\n"));
    let program = parse_program("p", &text).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"));
    MODELS.map(|name| {
        let model = Model::builtin(name).expect("a model").expect("a good model");
        let options = Options {
            properties: vec![Property::Assert],
            control: Control::lasting(Duration::from_secs(20)),
            tuning: Tuning { proves: true, ..Tuning::default() },
            ..Options::default()
        };
        let (verdict, proof) = prove(&program, &model, &options);
        if let Some(proof) = proof {
            let found = check(&program, "a.proof", &proof, &Control::default());
            assert!(matches!(found, Ok(Checked::Confirmed { .. })), "{name}: {found:?}\n{proof}");
        }
        let reason = verdict.reason.as_ref().map(|reason| reason.message.clone());
        println!("{name}: {:?} {reason:?} {:?}", verdict.conclusion(), verdict.notes);
        verdict.conclusion().name().to_string()
    })
}

/// Both threads store, then look at what the other has stored; a third one sees what both have found.
fn store_buffering(fence: &str) -> [String; 3] {
    let one = format!("store.4 &x, 1:32\n{fence}r = load.4 &y\nstore.4 &a, r + 1:32");
    let two = format!("store.4 &y, 1:32\n{fence}r = load.4 &x\nstore.4 &b, r + 1:32");
    let both = "r = load.4 &a\ns = load.4 &b\nassert (r != 1:32) | (s != 1:32), \"both\"";
    answers(&[&one, &two, both])
}

#[test]
fn loads_overtake_stores() {
    assert_eq!(store_buffering(""), ["safe", "unsafe", "unsafe"]);
    assert_eq!(store_buffering("fence [SFENCE]\n"), ["safe", "unsafe", "unsafe"]);
    assert_eq!(store_buffering("fence [MFENCE]\n"), ["safe", "safe", "safe"]);
    assert_eq!(
        store_buffering("s = rmw.add.4 &a + 8:64, 1:32 [X] [X]\n"),
        ["safe", "safe", "safe"]
    );
}

#[test]
fn stores_overtake_stores_under_pso() {
    let receiver = "r = load.4 &y\ns = load.4 &x\nassert (r == 0:32) | (s == 1:32), \"late\"";
    for (between, expected) in
        [("", "unsafe"), ("fence [SFENCE]\n", "safe"), ("fence [MFENCE]\n", "safe")]
    {
        let sender = format!("store.4 &x, 1:32\n{between}store.4 &y, 1:32");
        assert_eq!(answers(&[&sender, receiver]), ["safe", "safe", expected], "{between}");
    }
    let releases = "store.4 &x, 1:32\nstore.4 &y, 1:32 [A, REL]";
    assert_eq!(answers(&[releases, receiver]), ["safe", "safe", "safe"]);
}

/// A thread sees its own stores, whatever their sizes.
#[test]
fn threads_see_their_own_stores() {
    let own = "store.4 &x, 258:32\nstore.1 &x + 1:64, 7:8\nr = load.4 &x\n\
               assert r == 1794:32, \"own\"";
    assert_eq!(answers(&[own, "r = load.4 &x"]), ["safe", "safe", "safe"]);
    let other = "i = nondet\nassume i <u 4:32\nstore.4 &a + zext(i, 64) * 4:64, 5:32\n\
                 r = load.4 &a + zext(i, 64) * 4:64\nassert r == 5:32, \"own\"";
    assert_eq!(answers(&[other, "r = load.4 &a"]), ["safe", "safe", "safe"]);
}

/// Threads that were started after a store see it.
#[test]
fn threads_start_behind_stores() {
    let text = "program p pointers 64\nglobal x: 4\nfn child(c: 32) {\nvar r: 32\nr = load.4 &x\n\
                assert r == c, \"seen\"\n}\nfn main() {\nvar n: 32, r: 32\nn = spawn child(0:32)\n\
                store.4 &x, 1:32\nn = spawn child(1:32)\nr = load.4 &x\n}\nthread main = main()\n";
    let program = parse_program("p", text).expect("a program");
    for name in MODELS {
        let model = Model::builtin(name).expect("a model").expect("a good model");
        // The first child may see either.
        let (verdict, _) = prove(&program, &model, &Options::default());
        assert_eq!(verdict.conclusion().name(), "unsafe", "{name}");
    }
    let program =
        parse_program("p", &text.replace("n = spawn child(0:32)\n", "")).expect("a program");
    for name in MODELS {
        let model = Model::builtin(name).expect("a model").expect("a good model");
        let (verdict, _) = prove(&program, &model, &Options::default());
        assert_eq!(verdict.conclusion().name(), "safe", "{name}");
    }
}

/// As often as an input wants, without a fence.
fn forever(body: &str) -> String {
    format!("loop:\ni = nondet\nbranch i == 0:32, end, body\nbody:\n{body}\njump loop\nend:\n")
}

#[test]
fn buffers_grow_without_end() {
    // What is stored there does not matter.
    let writer = forever("store.4 &x, i\nr = load.4 &y\nassert r == 0:32, \"other\"");
    let reader = "r = load.4 &x\nstore.4 &a, r";
    assert_eq!(answers(&[&writer, reader]), ["safe", "safe", "safe"]);
    // A fence comes after all of them.
    let writer = forever("store.4 &x, i") + "store.4 &x, 1:32\nfence [MFENCE]\nstore.4 &y, 1:32";
    let reader = "r = load.4 &y\nbranch r == 1:32, seen, over\nseen:\ns = load.4 &x\n\
                  assert s == 1:32, \"last\"\nover:";
    assert_eq!(answers(&[&writer, reader]), ["safe", "safe", "safe"]);
    // One of them fails, after five others.
    let writer = "store.4 &x, 1:32\nstore.4 &x, 2:32\nstore.4 &x, 3:32\nstore.4 &x, 4:32\n\
                  store.4 &x, 5:32\nstore.4 &x, 6:32\nr = load.4 &y\nassert r == 0:32, \"seen\"";
    let reader = "r = load.4 &x\nassert r != 6:32, \"last\"\nstore.4 &y, r";
    assert_eq!(answers(&[writer, reader]), ["unsafe", "unsafe", "unsafe"]);
}
