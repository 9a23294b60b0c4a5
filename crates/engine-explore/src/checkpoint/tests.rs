//! A search that is broken off again and again, and goes on from what was written down, finds what an
//! unbroken one finds, with the same counts.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use parallax_control::{Cancel, Control, Progress};
use parallax_memory::Model;
use parallax_program::{Program, Property};
use parallax_verdict::Verdict;
use proptest::prelude::*;

use super::{Checkpoint, read};
use crate::crew::tests::{body, program};
use crate::symmetry::tests::cases;
use crate::{Options, explore};

fn model(name: &str) -> Model {
    let model = Model::builtin(name).expect("a model").expect("a right model");
    model.with_races_of_c().expect("a right model")
}

/// What is kept.
type Kept = Arc<Mutex<Vec<Vec<u8>>>>;

fn kept(every: Duration, from: Option<Vec<u8>>) -> (Checkpoint, Kept) {
    let all = Kept::default();
    let own = all.clone();
    let keep = move |text: &[u8]| {
        own.lock().expect("no panic").push(text.to_vec());
        Ok(())
    };
    (Checkpoint { every, keep: Some(Arc::new(keep)), from: from.map(Arc::from) }, all)
}

/// Explores from what was kept, up to so many looks at the clock. The last thing that was kept, and the
/// verdict if that was the end.
fn broken(
    program: &Program,
    model: &Model,
    options: &Options<'_>,
    from: Option<Vec<u8>>,
    looks: u32,
) -> (Vec<u8>, Option<Verdict>) {
    let (checkpoint, all) = kept(Duration::from_secs(100), from);
    let (cancel, seen) = (Cancel::default(), AtomicU32::new(0));
    let look = |_: &Progress| {
        if seen.fetch_add(1, Ordering::Relaxed) >= looks {
            cancel.cancel();
        }
    };
    let control = options.control.clone().until(cancel.clone());
    let control = Control { progress: Some(&look), ..control };
    let properties = options.properties.clone();
    let options =
        Options { control, properties, checkpoint: Some(&checkpoint), estimate: false, ..*options };
    let verdict = explore(program, model, &options).expect("explored");
    let last = all.lock().expect("no panic").pop().expect("something was kept");
    (last, (!cancel.is_cancelled()).then_some(verdict))
}

/// How often threads may be at work, and on what.
fn asked() -> impl Strategy<Value = (Vec<String>, bool, usize, bool, Option<Property>)> {
    let property = prop::sample::select(vec![Property::Assert, Property::Race]);
    (
        prop::collection::vec(body(), 2..4),
        any::<bool>(),
        1..4usize,
        any::<bool>(),
        prop::option::of(property),
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases() / 8, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn who_is_broken_off_goes_on(
        (mut bodies, is_twice, jobs, all, property) in asked(),
        looks in prop::collection::vec(0..6u32, 1..6),
    ) {
        if is_twice && bodies.len() == 2 {
            bodies.push(bodies[bodies.len() - 1].clone());
        }
        let program = program(&bodies);
        let properties = property.map_or(Property::ALL.to_vec(), |property| vec![property]);
        for name in ["sc", "rc11", "imm", "rc11-mca"] {
            let model = model(name);
            let jobs = NonZeroUsize::new(jobs).expect("a thread");
            let properties = properties.clone();
            let control = Control { jobs, ..Control::default() };
            let options = Options { properties, all, control, ..Options::default() };
            let whole = explore(&program, &model, &options).expect("explored");
            let (mut from, mut verdict, mut round) = (None, None, 0);
            while verdict.is_none() {
                // Every round comes further than the one before.
                let looks = looks[round % looks.len()] + round as u32 / 8;
                let (last, found) = broken(&program, &model, &options, from, looks);
                (from, verdict, round) = (Some(last), found, round + 1);
            }
            prop_assert_eq!(verdict.as_ref(), Some(&whole), "{} in {} rounds", name, round);
            // Who goes on from the end finds what was found.
            let (_, again) = broken(&program, &model, &options, from, u32::MAX);
            prop_assert_eq!(again.as_ref(), Some(&whole), "{} from the end", name);
        }
    }

    #[test]
    fn what_was_kept_at_any_time_will_do(
        (bodies, _, jobs, all, property) in asked(),
        chosen in any::<prop::sample::Index>(),
    ) {
        let program = program(&bodies);
        let properties = property.map_or(Property::ALL.to_vec(), |property| vec![property]);
        let model = model("rc11");
        let (checkpoint, kept) = kept(Duration::from_micros(50), None);
        let control = Control {
            jobs: NonZeroUsize::new(jobs).expect("a thread"),
            progress: Some(&|_| std::thread::sleep(Duration::from_micros(100))),
            ..Control::default()
        };
        let options = Options {
            properties, all, control, checkpoint: Some(&checkpoint), ..Options::default()
        };
        let whole = explore(&program, &model, &options).expect("explored");
        let text = {
            let kept = kept.lock().expect("no panic");
            kept[chosen.index(kept.len())].clone()
        };
        let (_, verdict) = broken(&program, &model, &options, Some(text), u32::MAX);
        prop_assert_eq!(verdict, Some(whole));
    }
}

#[test]
fn what_is_damaged_is_refused() {
    for text in ["", "{}", "[", "{\"mode\":7}", "null"] {
        assert!(read(text.as_bytes(), 1).is_err(), "{text}");
    }
}

/// Places that are not in the search, in a text that is one otherwise.
#[test]
fn what_leads_nowhere_is_unknown() {
    let program = program(&["r0 = rmw.add.4 &x, 1:32 [A, RLX]\n".into(), String::new()]);
    let (checkpoint, all) = kept(Duration::from_secs(100), None);
    let options = Options { checkpoint: Some(&checkpoint), ..Options::default() };
    explore(&program, &model("rc11"), &options).expect("explored");
    let first = String::from_utf8(all.lock().expect("no panic")[0].clone()).expect("a text");
    for place in ["[9]", "[0,0,0,0,0,0,0,0,0,0,0,0]", "[4294967295]"] {
        let text =
            first.replace("\"row\":[[{\"choices\":[]", &format!("\"row\":[[{{\"choices\":{place}"));
        assert_ne!(text, first);
        let (_, verdict) =
            broken(&program, &model("rc11"), &Options::default(), Some(text.into()), 9);
        let reason = verdict.and_then(|verdict| verdict.reason).expect("unknown");
        assert!(reason.message.contains("does not fit"), "{}", reason.message);
    }
}
