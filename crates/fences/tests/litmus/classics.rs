//! The classic tests, and the answers that are known for them.

use crate::support::repaired;
use parallax_fences::Repair;

const MP: &str = "C MP\n{}\n
P0(atomic_int *x, atomic_int *y) {
  atomic_store_explicit(x, 1, memory_order_relaxed);
  atomic_store_explicit(y, 1, memory_order_relaxed);
}
P1(atomic_int *x, atomic_int *y) {
  int r0 = atomic_load_explicit(y, memory_order_relaxed);
  int r1 = atomic_load_explicit(x, memory_order_relaxed);
}
exists (1:r0=1 /\\ 1:r1=0)
";

const SB: &str = "C SB\n{}\n
P0(atomic_int *x, atomic_int *y) {
  atomic_store_explicit(x, 1, memory_order_relaxed);
  int r0 = atomic_load_explicit(y, memory_order_relaxed);
}
P1(atomic_int *x, atomic_int *y) {
  atomic_store_explicit(y, 1, memory_order_relaxed);
  int r0 = atomic_load_explicit(x, memory_order_relaxed);
}
exists (0:r0=0 /\\ 1:r0=0)
";

const LB: &str = "C LB\n{}\n
P0(atomic_int *x, atomic_int *y) {
  int r0 = atomic_load_explicit(x, memory_order_relaxed);
  atomic_store_explicit(y, 1, memory_order_relaxed);
}
P1(atomic_int *x, atomic_int *y) {
  int r0 = atomic_load_explicit(y, memory_order_acquire);
  atomic_store_explicit(x, 1, memory_order_relaxed);
}
exists (0:r0=1 /\\ 1:r0=1)
";

const IRIW: &str = "C IRIW\n{}\n
P0(atomic_int *x) {
  atomic_store_explicit(x, 1, memory_order_relaxed);
}
P1(atomic_int *x, atomic_int *y) {
  int r0 = atomic_load_explicit(x, memory_order_relaxed);
  int r1 = atomic_load_explicit(y, memory_order_relaxed);
}
P2(atomic_int *y) {
  atomic_store_explicit(y, 1, memory_order_relaxed);
}
P3(atomic_int *x, atomic_int *y) {
  int r0 = atomic_load_explicit(y, memory_order_relaxed);
  int r1 = atomic_load_explicit(x, memory_order_relaxed);
}
exists (1:r0=1 /\\ 1:r1=0 /\\ 3:r0=1 /\\ 3:r1=0)
";

const RWC: &str = "C RWC\n{}\n
P0(atomic_int *x) {
  atomic_store_explicit(x, 1, memory_order_relaxed);
}
P1(atomic_int *x, atomic_int *y) {
  int r0 = atomic_load_explicit(x, memory_order_relaxed);
  int r1 = atomic_load_explicit(y, memory_order_relaxed);
}
P2(atomic_int *x, atomic_int *y) {
  atomic_store_explicit(y, 1, memory_order_relaxed);
  int r0 = atomic_load_explicit(x, memory_order_relaxed);
}
exists (1:r0=1 /\\ 1:r1=0 /\\ 2:r0=0)
";

#[test]
fn message_passing_needs_a_release_and_an_acquire() {
    for model in ["rc11", "c11"] {
        let (changes, cost) = repaired(MP, model, Repair::Fences);
        assert_eq!(changes, ["6: none -> rel", "10: none -> acq"], "{model}");
        assert_eq!(cost, (2, 2));
    }
    let (changes, cost) = repaired(MP, "rc11", Repair::Orders);
    assert_eq!(changes, ["6: rlx -> rel", "9: rlx -> acq"]);
    assert_eq!(cost, (0, 2));
}

#[test]
fn store_buffering_needs_two_sequentially_consistent_fences() {
    for model in ["rc11", "c11", "tso"] {
        let (changes, cost) = repaired(SB, model, Repair::Fences);
        assert_eq!(changes, ["6: none -> sc", "10: none -> sc"], "{model}");
        assert_eq!(cost, (2, 6));
    }
    assert_eq!(repaired(SB, "rc11", Repair::Orders).1, (0, 12));
}

#[test]
fn load_buffering_with_an_acquire_needs_a_release() {
    let (changes, cost) = repaired(LB, "c11", Repair::Fences);
    assert_eq!(changes, ["6: none -> rel"]);
    assert_eq!(cost, (1, 1));
    assert_eq!(repaired(LB, "rc11", Repair::Fences).0, Vec::<String>::new());
}

#[test]
fn readers_that_disagree_cannot_be_helped_under_the_model_of_2011() {
    for (test, cost) in [(IRIW, (2, 6)), (RWC, (2, 6))] {
        assert_eq!(repaired(test, "rc11", Repair::Fences).1, cost);
        assert_eq!(repaired(test, "c11", Repair::Fences).0, ["hopeless"]);
    }
}

#[test]
fn fences_that_are_there_are_made_stronger() {
    let fence = "  atomic_thread_fence(memory_order_release);\n  atomic_store_explicit(y, 1";
    let text = MP.replacen("  atomic_store_explicit(y, 1", fence, 1);
    assert_eq!(repaired(&text, "rc11", Repair::Fences).0, ["11: none -> acq"]);
    let fence = "  atomic_thread_fence(memory_order_acquire);\n  int r0 = atomic_load_explicit(y";
    let text = SB.replacen("  int r0 = atomic_load_explicit(y", fence, 1);
    let (changes, cost) = repaired(&text, "rc11", Repair::Fences);
    assert_eq!(changes, ["6: acq -> sc", "11: none -> sc"]);
    assert_eq!(cost, (1, 5));
}

#[test]
fn what_is_too_strong_is_relaxed() {
    let text = MP.replace("relaxed", "seq_cst");
    let (changes, cost) = repaired(&text, "rc11", Repair::Relax);
    let expected = ["5: sc -> rlx", "6: sc -> rel", "9: sc -> acq", "10: sc -> rlx"];
    assert_eq!(changes, expected);
    assert_eq!(cost, (0, 2));
    let implicit = text.replace("_explicit", "").replace(", memory_order_seq_cst", "");
    assert_eq!(repaired(&implicit, "rc11", Repair::Relax).0, expected);
}
