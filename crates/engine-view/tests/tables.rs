//! The families in `examples/views`, written from the descriptions of S. Singh, tables 4.1, 4.3 and 4.4: as many views as are
//! published, where the published program can be made out.

use std::path::Path;
use std::time::{Duration, Instant};

use parallax_control::Control;
use parallax_engine_view::View;
use parallax_frontend_c::{Options, load};
use parallax_memory::Model;
use parallax_program::Property;
use parallax_query::{Engine, Extensions, Query, Subject, Wanted};
use parallax_verdict::{Conclusion, Verdict};

fn verdict(name: &str, defined: &[(&str, u64)], patience: Duration) -> Verdict {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/views").join(name);
    let clang_args = defined.iter().map(|(name, value)| format!("-D{name}={value}")).collect();
    let options = Options { clang_args, ..Options::default() };
    let program = load(&[file], &options).unwrap_or_else(|errors| panic!("{name}: {}", errors[0]));
    let subject = Subject { program: Some(program), ..Subject::default() };
    let query = Query {
        subject: &subject,
        model: Model::builtin("sc").expect("a model").expect("a right model"),
        is_compiled: false,
        properties: vec![Property::Assert],
        unroll: None,
        nondet: None,
        wanted: Wanted::First,
        extensions: Extensions::default(),
    };
    View.run(&query, &Control::lasting(patience)).expect("an answer").verdict
}

/// A family, its parameters, and the number of views that it has.
type Row = (&'static str, &'static [(&'static str, u64)], u64);

const ROWS: [Row; 15] = [
    ("repeated.c", &[("N", 10)], 40),
    ("same-value.c", &[("N", 20)], 1),
    ("tickets.c", &[("N", 5)], 14_400),
    ("two-writers.c", &[("N", 20)], 7),
    ("last-writer.c", &[("N", 7)], 7),
    ("two-looks.c", &[("N", 6)], 43),
    ("hand-on.c", &[("N", 5), ("LOOKS", 5)], 781),
    ("hand-on.c", &[("N", 7), ("LOOKS", 6)], 55_987),
    ("dekker-attempts.c", &[("N", 10)], 21),
    ("two-writers.c", &[("N", 1000)], 7),
    ("last-writer.c", &[("N", 100)], 100),
    ("two-looks.c", &[("N", 20)], 421),
    ("peterson-entries.c", &[("N", 5)], 31),
    ("burns-entries.c", &[("N", 5)], 36),
    ("three-looks.c", &[("N", 8)], 400),
];

/// The rows of the tables with their parameters, which take longer.
const LARGE: [Row; 19] = [
    ("repeated.c", &[("N", 100)], 400),
    ("repeated.c", &[("N", 200)], 800),
    ("same-value.c", &[("N", 100)], 1),
    ("same-value.c", &[("N", 500)], 1),
    ("tickets.c", &[("N", 6)], 518_400),
    ("two-writers.c", &[("N", 50)], 7),
    ("hand-on.c", &[("N", 7), ("LOOKS", 7)], 137_257),
    ("dekker-attempts.c", &[("N", 100)], 201),
    ("dekker-attempts.c", &[("N", 200)], 401),
    ("last-writer.c", &[("N", 250)], 250),
    ("two-looks.c", &[("N", 100)], 10_101),
    ("two-looks.c", &[("N", 150)], 22_651),
    ("peterson-entries.c", &[("N", 50)], 301),
    ("peterson-entries.c", &[("N", 120)], 721),
    ("burns-entries.c", &[("N", 10)], 121),
    ("burns-entries.c", &[("N", 60)], 3_721),
    ("three-looks.c", &[("N", 20)], 7_240),
    ("three-looks.c", &[("N", 50)], 120_100),
    ("three-looks.c", &[("N", 60)], 208_920),
];

fn check(rows: &[Row], patience: Duration) {
    for (name, defined, views) in rows {
        let start = Instant::now();
        let verdict = verdict(name, defined, patience);
        println!("{name} {defined:?}: {:.2} s", start.elapsed().as_secs_f64());
        assert_eq!(
            verdict.conclusion(),
            Conclusion::Safe,
            "{name} {defined:?} {:?}",
            verdict.reason
        );
        assert_eq!(verdict.counts.executions, *views, "{name} {defined:?}");
        // By the search through states, not by a solver.
        assert!(verdict.counts.states > 0, "{name} {defined:?}");
    }
}

#[test]
fn families_have_as_many_views_as_are_published() {
    check(&ROWS, Duration::from_secs(60));
}

#[test]
#[ignore = "for `make long`"]
fn large_members_of_the_families() {
    check(&LARGE, Duration::from_secs(600));
}

#[test]
fn what_fails_in_one_view_fails() {
    let verdict = verdict("triangular.c", &[("N", 5)], Duration::from_secs(60));
    assert_eq!(verdict.conclusion(), Conclusion::Unsafe);
}

#[test]
fn a_number_that_does_not_fit_is_not_given_as_one() {
    let verdict = verdict("peterson-attempts.c", &[("N", 50)], Duration::from_secs(300));
    assert_eq!(verdict.conclusion(), Conclusion::Safe);
    assert!(verdict.notes.iter().any(|note| note.contains("more of them")), "{:?}", verdict.notes);
}
