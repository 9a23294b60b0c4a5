//! The library as its users see it.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::thread;

use parallax::{Conclusion, Property, Scope, Verification};

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)
}

#[test]
fn an_answer_is_typed_data() {
    let report = Verification::of(example("store-buffering.litmus")).run().expect("a report");
    assert_eq!((report.conclusion(), report.engine()), (Conclusion::Unsafe, "enumerate"));
    assert_eq!(report.violations()[0].property, Property::Assert);
    assert!(report.text().starts_with("unsafe"));
    let report = Verification::of(example("store-buffering.litmus")).model("sc").run();
    let report = report.expect("a report");
    assert_eq!(report.verdict().scope, Some(Scope::Complete));
    assert!(report.svg().is_none());
}

#[test]
fn what_is_wrong_has_a_place() {
    let gone = Verification::of("gone.litmus").run().expect_err("no such file");
    assert!(gone.to_string().contains("gone.litmus"), "{gone}");
    let nobody = Verification::of(example("store-buffering.litmus")).engine("nobody").run();
    assert!(nobody.is_err_and(|error| error.to_string().contains("there is no engine 'nobody'")));
    let races = Verification::of(example("store-buffering.litmus")).properties([Property::Race]);
    assert!(races.run().is_err());
}

/// Nothing is shared between two of them, the end of one least of all.
#[test]
fn two_verifications_run_side_by_side() {
    let ask = |model: &'static str| {
        thread::spawn(move || {
            let verification = Verification::of(example("store-buffering.litmus")).model(model);
            let jobs = NonZeroUsize::new(2).expect("a thread");
            verification.jobs(jobs).run().map(|report| report.conclusion())
        })
    };
    let (sc, tso) = (ask("sc"), ask("tso"));
    let found = [sc, tso].map(|asked| asked.join().expect("an end").expect("a report"));
    assert_eq!(found, [Conclusion::Safe, Conclusion::Unsafe]);
}
