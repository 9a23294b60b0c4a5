//! Executions with many events are rebuilt too.

use std::time::{Duration, Instant};

use crate::claims::{check, model, program};
use parallax_control::Control;
use parallax_program::{Program, Property};
use parallax_verdict::{
    Claim, Source, Step, StepId, Suspicion, ThreadClaim, ThreadEnding, confirm,
};

const COUNTING: &str = "\
global x: 4
fn f() {
  var i: 32, r: 32
  jump again
again:
  r = rmw.add.4 &x, 1:32 [A, ACQ_REL]
  i = i + 1:32
  branch i == ROUNDS:32, out, again join out
out:
  return
}
thread A = f()
thread B = f()
";

/// Two threads that count together, turn by turn.
fn counting(rounds: u32) -> (Program, Claim) {
    let program = program(&COUNTING.replace("ROUNDS", &rounds.to_string()));
    let mut threads =
        [0, 1].map(|_| ThreadClaim { steps: Vec::new(), ending: ThreadEnding::Ended });
    let (mut order, mut schedule) = (Vec::new(), Vec::new());
    for index in (0..rounds * 2).step_by(2) {
        for thread in [0, 1] {
            let source = order.last().map_or(Source::Initial, |write| Source::Step(*write));
            threads[thread as usize].steps.extend([Step::read(source), Step::write()]);
            order.push(StepId { thread, index: index + 1 });
            schedule.extend([thread, thread]);
        }
    }
    for thread in [0, 1] {
        threads[thread as usize].steps.push(Step::End);
        schedule.push(thread);
    }
    (program, Claim { threads: threads.into(), co: vec![order], schedule, ..Claim::default() })
}

fn check_counting(rounds: u32, models: &[&str]) {
    let (program, mut right) = counting(rounds);
    let mut wrong = right.clone();
    let order = &mut wrong.co[0];
    let last = order.len() - 1;
    order.swap(last, last - 1);
    for model in models {
        let execution = check(&program, &right, model).unwrap();
        assert_eq!(execution.events.len() as u32, 4 * rounds + 3);
        assert!(check(&program, &wrong, model).unwrap_err().contains("forbids it"), "{model}");
    }
    right.schedule.truncate(4);
    assert!(check(&program, &right, "sc").is_err());
}

#[test]
fn a_hundred_rounds() {
    check_counting(70, &["sc", "tso", "rc11", "imm"]);
    check_counting(100, &["sc", "tso", "rc11", "imm"]);
}

#[test]
#[ignore = "takes long"]
fn thousands_of_rounds() {
    check_counting(2_500, &["sc", "tso", "rc11"]);
}

/// What is said of an execution of many events in which two steps are claimed to race.
fn said_within(rounds: u32, control: &Control<'_>) -> String {
    let (program, claim) = counting(rounds);
    let involved = vec![StepId { thread: 0, index: 0 }, StepId { thread: 1, index: 0 }];
    let message = "far too large".to_string();
    let property = Property::Race;
    let suspicion = Suspicion { property, message, failed: None, claim, involved };
    confirm(&program, &model("rc11"), suspicion, control).expect_err("no race").message
}

#[test]
fn what_is_too_large_to_be_judged_is_refused_at_once() {
    let begun = Instant::now();
    let said = said_within(20_000, &Control::default());
    assert!(said.contains("80002 events are too many"), "{said}");
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}

#[test]
fn limits_hold_while_an_execution_is_judged() {
    let said = said_within(500, &Control::default());
    assert!(said.contains("do not race"), "{said}");
    let begun = Instant::now();
    let said = said_within(1_500, &Control::lasting(Duration::from_millis(100)));
    assert!(said.contains("out of time"), "{said}");
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
}
