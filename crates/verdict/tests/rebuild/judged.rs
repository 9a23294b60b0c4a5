//! Claims that are right become executions; claims that are wrong in some way are refused.

use crate::claims::{check, claim, program, refusal};
use parallax_verdict::{EventKind, Life, StepId, ThreadEnding};

const STORE_BUFFERING: &str = "\
global x: 4
global y: 4
fn p() {
  var r: 32
  store.4 &x, 1:32 [A, RLX]
  r = load.4 &y [A, RLX]
}
fn q() {
  var r: 32
  store.4 &y, 1:32 [A, RLX]
  r = load.4 &x [A, RLX]
}
thread P = p()
thread Q = q()
";

const MESSAGE: &str = "\
global data: 4
global flag: 4
fn p() {
  store.4 &data, 42:32 [NA]
  store.4 &flag, 1:32 [ORDER]
}
fn q() {
  var f: 32, d: 32
  f = load.4 &flag [ORDER]
  wait f == 1:32
  d = load.4 &data [NA]
  assert d == 42:32, \"the message has come\"
}
thread P = p()
thread Q = q()
";

#[test]
fn store_buffering_is_allowed_by_all_but_sc() {
    let program = program(STORE_BUFFERING);
    let both_old = claim(&["W R=init end | ended", "W R=init end | ended"], &[], "");
    assert_eq!(check(&program, &both_old, "sc").unwrap_err(), "sc forbids it");
    for model in ["tso", "pso", "rc11", "imm"] {
        check(&program, &both_old, model).unwrap();
    }
    let one_new = claim(&["W R=init end | ended", "W R=0.0 end | ended"], &["0.0", "1.0"], "");
    let execution = check(&program, &one_new, "sc").unwrap();
    assert_eq!(execution.threads, ["P", "Q"]);
    let read = &execution.events[6];
    assert_eq!(read.place.as_ref().unwrap().line, 12);
    assert_eq!(read.text, "r = load.4 &x [A, RLX]");
    let EventKind::Read { location, shown, .. } = &read.kind else { panic!("{read:?}") };
    assert_eq!((location.as_str(), shown.as_str()), ("x", "1"));
    assert_eq!(execution.rf, [(1, 3), (2, 6)]);
    assert_eq!(execution.co, [(0, 2), (1, 5)]);
    assert_eq!(execution.po, [(2, 3), (2, 4), (3, 4), (5, 6), (5, 7), (6, 7)]);
    assert_eq!(execution.schedule, [2, 3, 4, 5, 6, 7]);
    assert_eq!(execution.events[4].kind.life(), Some(Life::End(0)));
    assert_eq!(execution.stacks[6][0].function, "q");
    let event = |thread, index| execution.event_of(StepId { thread, index });
    assert_eq!(
        [event(0, 0), event(1, 1), event(0, 3), event(2, 0)],
        [Some(2), Some(6), None, None]
    );
}

#[test]
fn messages_need_release_and_acquire() {
    let stale = claim(&["W W end | ended", "R=0.1 R=init | failed"], &[], "0 0 0 1 1");
    let fresh = claim(&["W W end | ended", "R=0.1 R=0.0 end | ended"], &[], "0 0 0 1 1 1");
    for (tags, model, allowed) in [
        (("A, REL", "A, ACQ"), "sc", false),
        (("A, REL", "A, ACQ"), "tso", false),
        (("A, REL", "A, ACQ"), "rc11", false),
        (("A, RLX", "A, RLX"), "tso", false),
        (("A, RLX", "A, RLX"), "rc11", true),
        (("A, RLX", "A, RLX"), "pso", true),
    ] {
        let text = MESSAGE.replacen("ORDER", tags.0, 1).replacen("ORDER", tags.1, 1);
        let program = program(&text);
        check(&program, &fresh, model).unwrap();
        let judged = check(&program, &stale, model);
        assert_eq!(judged.is_ok(), allowed, "{tags:?} {model}: {judged:?}");
        if let Ok(execution) = judged {
            let standing = &execution.standings[1];
            assert_eq!(standing.ending, ThreadEnding::Failed);
            assert_eq!(standing.place().unwrap().line, 13);
        }
    }
}

#[test]
fn what_a_step_claims_is_what_its_thread_does() {
    let program = program(MESSAGE.replace("ORDER", "A, RLX").as_str());
    for (threads, orders, schedule, message) in [
        (["W R=init | stopped", "| stopped"], &[][..], "", "a write of 4 bytes at"),
        (["W F | stopped", "| stopped"], &[], "", "a write of 4 bytes at"),
        (["W W W | stopped", "| stopped"], &[], "", "the thread is at its end"),
        (["W W end W | stopped", "| stopped"], &[], "", "the thread has ended"),
        (["W end | ended", "| stopped"], &[], "", "a write of 4 bytes"),
        (["W8 | stopped", "| stopped"], &[], "", "8 bytes of 4"),
        (["W0 | stopped", "| stopped"], &[], "", "0 bytes of 4"),
        (["| stopped", "R=0.0 | stopped"], &[], "", "there is no step 0 of thread 0"),
        (["| stopped", "R=7.0 | stopped"], &[], "", "there is no step 0 of thread 7"),
        (["W | stopped", "R=0.0 | stopped"], &[], "", "4 bytes at 0x4b1d5000 were written"),
        (["W W | stopped", "R=0.1 | stopped"], &[], "1 0 0", "comes only later"),
        (["| stopped", "R=init R=1.0 | stopped"], &[], "", "a false wait"),
        (["W W end | ended", "R=0.1 R=1.0 | stopped"], &[], "", "the source is no write"),
        (["choice:1/1 | stopped", "| stopped"], &[], "", "a write of 4 bytes"),
        (["spawn:1 | stopped", "| stopped"], &[], "", "a write of 4 bytes"),
        (["begin:1.0 | stopped", "| stopped"], &[], "", "not how the thread was spawned"),
        (["W | stopped", "| stopped"], &[], "1", "more steps than Q took"),
        (["W | stopped", "| stopped"], &[], "0 0", "more steps than P took"),
        (["W | stopped", "| stopped"], &[], "2", "thread 2, which there is not"),
        (["W W | stopped", "| stopped"], &[], "0", "step 1 of P is not in the schedule"),
        (["W | stopped", "| stopped"], &["0.0", "0.0"], "", "has two orders"),
        (["W | stopped", "| stopped"], &["0.0 0.0"], "", "twice in the order"),
        (["W W | stopped", "| stopped"], &["0.0 0.1"], "", "writes another location"),
        (["W W | stopped", "R=0.1 | stopped"], &["1.0"], "", "has an order, but no write"),
        (["W | stopped", "| stopped"], &["0.9"], "", "there is no step 9"),
    ] {
        let refused = refusal(&program, &threads, orders, schedule);
        assert!(refused.contains(message), "{threads:?} {orders:?}: {refused}");
    }
    let short = refusal(&program, &["| stopped"], &[], "");
    assert_eq!(short, "a thread of the program is missing");
}

#[test]
fn threads_are_where_they_are_claimed_to_be() {
    let program = program(MESSAGE.replace("ORDER", "A, RLX").as_str());
    let received = "R=0.1 R=0.0";
    for (threads, message) in [
        (["W W end | ended", "R=init | waiting"], "accepted"),
        (["W W end | stopped", "| stopped"], "P: the thread has ended"),
        (["W W | ended", "| stopped"], "P: the thread has not ended"),
        (["W | waiting", "| stopped"], "it does not wait, but is at a write"),
        (["W W | waiting", "| stopped"], "it does not wait, but is at its end"),
        (["W W end | ended", "R=init | failed"], "nothing fails at a false wait"),
        (["W W | failed", "| stopped"], "nothing fails at its end"),
        (["W | failed", "| stopped"], "accepted"),
        (["| stopped", "R=init | spins:0"], "it does not repeat itself"),
        (["W W end | ended", &format!("{received} | failed")], "nothing fails at its end"),
        (["W W end | ended", &format!("{received} | waiting")], "it does not wait"),
    ] {
        let refused = refusal(&program, &threads, &[], "");
        assert!(refused.contains(message), "{threads:?}: {refused}");
    }
}

#[test]
fn coherence_is_one_order_of_all_writes() {
    let program = program(
        "global x: 4\nfn f(v: 32) {\n  store.4 &x, v [A, RLX]\n}\n\
         thread A = f(1:32)\nthread B = f(2:32)\n",
    );
    let threads = ["W | stopped", "W | stopped"];
    for (orders, message) in [
        (&["0.0 1.0"][..], "accepted"),
        (&["1.0 0.0"], "accepted"),
        (&[], "the writes at 0x4b1d5000 have no order"),
        (&["0.0"], "a write at 0x4b1d5000 is missing in its order"),
        (&["0.0", "1.0"], "a write at 0x4b1d5000 is missing in its order"),
    ] {
        assert_eq!(refusal(&program, &threads, orders, ""), message, "{orders:?}");
    }
}

#[test]
fn loops_that_only_wait_are_known_by_their_rounds() {
    let program = program(
        "global x: 4\nglobal y: 4\nfn f() {\n  var r: 32, b: 1\n  r = load.4 &y\n  jump again\nagain:\n  r = threadid\n  \
         r = load.4 &x\n  r, b = cas.4 &y, 1:32, 2:32\n  branch b, out, again\nout:\n  return\n}\n\
         fn main() {\n  spawn f()\n  jump count\ncount:\n  rmw.add.4 &x, 1:32\n  jump count\n}\n\
         thread main = main()\n",
    );
    let main = "spawn:1 R=init W | stopped";
    for (thread, from) in [
        ("begin:0.0 R=init R=init R=init | spins:4", Some(2)),
        ("begin:0.0 R=init R=init R=init R=init R=init | spins:0", Some(4)),
        ("begin:0.0 R=init R=init | spins:2", None),
        ("begin:0.0 R=init | spins:1", None),
    ] {
        let execution = check(&program, &claim(&[main, thread], &[], ""), "tso");
        let found = execution.ok().map(|execution| execution.standings[1].ending);
        assert_eq!(found, from.map(|from| ThreadEnding::Spinning { from }), "{thread}");
    }
    let main = "spawn:1 R=init W R=0.2 W | spins:3";
    let refused = refusal(&program, &[main, "| stopped"], &["0.2 0.4"], "");
    assert_eq!(refused, "main: it does not repeat itself");
}
