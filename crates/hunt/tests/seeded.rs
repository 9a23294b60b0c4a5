//! A short hunt, always the same: engines agree.

use std::time::Duration;

use parallax_hunt::hunt::{Options, hunt};

/// Programs enough for half a minute of an unoptimised build.
const PROGRAMS: u64 = 20;

#[test]
fn engines_agree_on_some_programs() {
    let options = Options {
        seed: 2026,
        programs: Some(PROGRAMS),
        limit: Duration::from_secs(1),
        shrinking: Duration::ZERO,
        quiet: false,
        ..Options::default()
    };
    let figures = hunt(&options).expect("a folder for programs");
    assert_eq!(figures.get("programs"), PROGRAMS, "a search did not end");
    assert!(figures.is_clean(), "{}", figures.text(false));
    assert!(figures.get("comparisons") > 10 * PROGRAMS, "{}", figures.text(true));
}
