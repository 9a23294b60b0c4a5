//! Bounded verification over rising sizes: events, variables and clauses of the question, and the
//! time to write it down and to answer it, apart. Litmus tests rise in threads; `counting` has a
//! loop that the bound cuts, and its size is the bound.
//!
//! `PARALLAX_FAMILY` names a part of the name of the families to run.

use std::time::Duration;

use parallax_bench::{ask, exclusives, iriw, message_chain, query, store_buffering, test, writers};
use parallax_control::Control;
use parallax_program::parse_program;
use parallax_query::{Query, Subject};
use parallax_verify::litmus;
use parallax_verify::models::usual_model;

/// Larger ones are left out.
const PATIENCE: Duration = Duration::from_secs(30);

type Family = (&'static str, fn(usize) -> String, &'static [usize]);

const FAMILIES: [Family; 5] = [
    ("store-buffering", store_buffering, &[2, 4, 8, 16, 32]),
    ("message-chain", message_chain, &[2, 4, 8, 16, 32]),
    ("iriw", iriw, &[2, 4, 8, 16]),
    ("writers", writers, &[2, 4, 8, 16, 32]),
    ("exclusives", exclusives, &[1, 2, 4, 8]),
];

const BOUNDS: [u32; 6] = [1, 2, 4, 8, 16, 32];

fn main() {
    let only = std::env::var("PARALLAX_FAMILY").unwrap_or_default();
    println!(
        "{:<15} {:>3} {:<7} {:>7} {:>10} {:>10} {:>9} {:>9}",
        "family", "n", "model", "events", "variables", "clauses", "encode s", "solve s"
    );
    for (name, family, sizes) in FAMILIES.iter().filter(|(name, ..)| name.contains(&only)) {
        let _ = sizes.iter().all(|size| reaches(name, *size, &family(*size)));
    }
    if "counting".contains(&only) {
        let _ = ["sc", "tso", "rc11"].iter().all(|name| BOUNDS.iter().all(|n| counts(name, *n)));
    }
}

/// False if it took too long.
fn reaches(name: &str, size: usize, text: &str) -> bool {
    let test = test(text);
    let usual = usual_model(test.arch);
    let subject = litmus::subject(name.to_string(), test);
    row(&format!("{name:<15} {size:>3} {usual:<7}"), &subject, usual, 2)
}

/// A thread that counts how often it looks at a flag which another one raises.
fn counts(name: &str, bound: u32) -> bool {
    let text = "program counting pointers 64\nglobal x: 4\nglobal y: 4\n\
                fn looks() {\nvar v: 32\nagain:\nv = load.4 &x [A, ACQ]\n\
                branch v == 0:32, more, end\nmore:\nrmw.add.4 &y, 1:32 [A, RLX]\njump again\nend:\n}\n\
                fn raises() {\nvar v: 32\nv = load.4 &y [A, RLX]\n\
                assert v <u 100:32, \"few\"\nstore.4 &x, v + 1:32 [A, REL]\n}\n\
                thread looks = looks()\nthread raises = raises()\n";
    let program = parse_program("counting", text).unwrap_or_else(|errors| panic!("{errors:?}"));
    row(&format!("{:<15} {bound:>3} {name:<7}", "counting"), &Subject::of(program), name, bound)
}

fn row(start: &str, subject: &Subject, model: &str, bound: u32) -> bool {
    let query = Query { unroll: Some(bound), ..query(subject, model) };
    let answer = ask("bounded", &query, &Control::lasting(PATIENCE));
    if let Some(why) = answer.verdict.reason {
        println!("{start} {}", why.message);
        return false;
    }
    let work = answer.solver.expect("the work of a solver");
    println!(
        "{start} {:>7} {:>10} {:>10} {:>9.3} {:>9.3}",
        answer.verdict.counts.events,
        work.variables,
        work.clauses,
        work.encoding.as_secs_f64(),
        work.solving.as_secs_f64(),
    );
    true
}
