//! Accesses that may come after the end of their object, where many others read the same.

use crate::claims::{claim, model, program};
use parallax_control::Control;
use parallax_verdict::{StepId, is_late};

/// One thread frees what two others read: the first reads it six times, signals the owner, and reads it
/// once more; the last reads it when it has heard of that.
const HANDED_OVER: &str = "\
global x: 4
global y: 4
fn user(p: 64) {
  var r: 32
  r = load.4 p [A, RLX]
  r = load.4 p [A, RLX]
  r = load.4 p [A, RLX]
  r = load.4 p [A, RLX]
  r = load.4 p [A, RLX]
  r = load.4 p [A, RLX]
  store.4 &x, 1:32 [A, REL]
  r = load.4 p [A, RLX]
  store.4 &y, 1:32 [A, REL]
}
fn other(p: 64) {
  var r: 32
  r = load.4 &y [A, ACQ]
  r = load.4 p [A, RLX]
  r = load.4 p [A, RLX]
}
fn main() {
  var p: 64, n: 32, r: 32
  p = alloc.heap.zeroed 4:64 align 4
  n = spawn user(p)
  n = spawn other(p)
  r = load.4 &x [A, ACQ]
  free.heap p
}
thread main = main()
";

#[test]
fn some_of_many_reads_come_after_the_end_and_some_before() {
    let program = program(HANDED_OVER);
    let threads = [
        "alloc:0x90000000 spawn:1 spawn:2 R=1.7 free end | ended",
        "begin:0.1 R=init R=init R=init R=init R=init R=init W R=init W end | ended",
        "begin:0.2 R=1.9 R=init R=init end | ended",
    ];
    let schedule = "0 0 0 1 1 1 1 1 1 1 1 0 1 1 1 2 2 2 2 2 0 0";
    let claim = claim(&threads, &["1.7", "1.9"], schedule);
    let end = StepId { thread: 0, index: 4 };
    for name in ["sc", "tso", "pso"] {
        let model = model(name);
        let late = |thread: u32, index: u32| {
            let access = StepId { thread, index };
            is_late(&program, &model, &claim, access, end, &Control::default())
        };
        for index in 1..=6 {
            assert_eq!(late(1, index), Ok(false), "{name}: read {index}, before the owner knows");
        }
        // Then the reads of the last thread come after the end too, and the first six do not.
        for (thread, index) in [(1, 8), (2, 2), (2, 3)] {
            assert_eq!(late(thread, index), Ok(true), "{name}: read {index} of thread {thread}");
        }
    }
}
