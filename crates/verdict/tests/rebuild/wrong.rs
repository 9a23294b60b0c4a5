//! What is said to be wrong with an execution is wrong: for each kind of violation a claim that is
//! right, and the same execution with something wrong about what is claimed.

use crate::claims::{claim, model, program};
use parallax_control::Control;
use parallax_program::{Bits, Program, Property};
use parallax_verdict::{Claim, StepId, Suspicion, confirm, confirm_final};

fn suspicion(property: Property, claim: Claim, failed: Option<usize>, about: &str) -> Suspicion {
    let step = |text: &str| {
        let (thread, index) = text.split_once('.').expect("thread.step");
        let number = |text: &str| text.parse().expect("a number");
        StepId { thread: number(thread), index: number(index) }
    };
    let involved = about.split_whitespace().map(step).collect();
    Suspicion { property, message: "wrong".to_string(), failed, claim, involved }
}

/// Why it is refused, or `confirmed`.
fn said(program: &Program, name: &str, suspicion: Suspicion) -> String {
    match confirm(program, &model(name), suspicion, &Control::default()) {
        Ok(_) => "confirmed".to_string(),
        Err(reason) => reason.message,
    }
}

fn check(program: &Program, name: &str, suspicion: Suspicion, expected: &str) {
    let said = said(program, name, suspicion);
    assert!(said.contains(expected), "{said}, and not {expected}");
}

#[test]
fn assertions_are_false_and_of_the_property() {
    let program = program(
        "global x: 4\nfn f() {\n  var r: 32\n  r = load.4 &x\n  assert r == 1:32, \"one\"\n}\n\
         fn g() {\n  store.4 &x, 1:32\n}\nthread F = f()\nthread G = g()\n",
    );
    let fails = || claim(&["R=init | failed", "| stopped"], &[], "");
    check(&program, "sc", suspicion(Property::Assert, fails(), Some(0), ""), "confirmed");
    check(&program, "sc", suspicion(Property::Overflow, fails(), Some(0), ""), "nothing violates");
    check(&program, "sc", suspicion(Property::Memory, fails(), Some(0), ""), "nothing violates");
    check(&program, "sc", suspicion(Property::Assert, fails(), Some(1), ""), "nothing violates");
    // Nobody fails, and no question was asked.
    check(&program, "sc", suspicion(Property::Assert, fails(), None, "0.0"), "flags nothing");
    let holds = claim(&["R=1.0 | failed", "W | stopped"], &[], "1 0");
    check(&program, "sc", suspicion(Property::Assert, holds, Some(0), ""), "nothing fails");
}

const MESSAGE: &str = "\
global data: 4
global flag: 4
fn p() {
  store.4 &data, 1:32 [NA]
  store.4 &flag, 1:32 [A, REL]
}
fn q() {
  var f: 32, d: 32
  f = load.4 &flag [A, ACQ]
  d = load.4 &data [NA]
}
thread P = p()
thread Q = q()
";

#[test]
fn races_are_not_ordered_by_what_happens_before() {
    let program = program(MESSAGE);
    let unheard = || claim(&["W W end | ended", "R=init R=init end | ended"], &[], "1 1 1 0 0 0");
    let race = |claim, about| suspicion(Property::Race, claim, None, about);
    check(&program, "rc11", race(unheard(), "0.0 1.1"), "confirmed");
    check(&program, "rc11", race(unheard(), "1.1 0.0"), "confirmed");
    check(&program, "rc11", race(unheard(), "0.1 1.0"), "do not race");
    check(&program, "rc11", race(unheard(), "0.0 1.0"), "do not race");
    check(&program, "rc11", race(unheard(), "0.0 9.9"), "a step that there is not");
    check(&program, "rc11", race(unheard(), ""), "confirmed");
    let heard = || claim(&["W W end | ended", "R=0.1 R=0.0 end | ended"], &[], "0 0 0 1 1 1");
    check(&program, "rc11", race(heard(), "0.0 1.1"), "do not race");
    check(&program, "rc11", race(heard(), ""), "flags nothing");
}

const OBJECT: &str = "\
global x: 4
fn user(p: 64) {
  var r: 32
  r = load.4 &x [A, ACQ]
  store.4 p, 1:32 [A, RLX]
}
fn main() {
  var p: 64, o: 64, n: 32, r: 32
  p = alloc.heap.zeroed 4:64 align 4
  o = alloc.heap 4:64 align 4
  n = spawn user(p)
  free.heap p
  store.4 &x, 1:32 [A, REL]
  r = load.4 o
}
thread main = main()
";

#[test]
fn objects_are_gone_when_they_are_used() {
    let program = program(OBJECT);
    let main = "alloc:0x90000000 alloc:0x90010000 spawn:1 free W R=init end | ended";
    let late = || {
        let user = "begin:0.2 R=init W end | ended";
        claim(&[main, user], &["0.4", "1.2"], "0 0 0 0 1 1 1 1 0 0 0")
    };
    let memory = |claim, about| suspicion(Property::Memory, claim, None, about);
    check(&program, "sc", memory(late(), "1.2 0.3"), "confirmed");
    // The other way round, of another object, of what is no end, of a read that is elsewhere.
    check(&program, "sc", memory(late(), "0.3 1.2"), "comes before the end");
    check(&program, "sc", memory(late(), "0.5 0.3"), "comes before the end");
    check(&program, "sc", memory(late(), "1.2 0.0"), "comes before the end");
    check(&program, "sc", memory(late(), "1.1 0.3"), "comes before the end");
    check(&program, "sc", memory(late(), "1.2 0.3 0.0"), "no event shows it");
    let joined = OBJECT.replace("  free.heap p\n", "  join n\n  free.heap p\n");
    let joins = crate::claims::program(&joined);
    let main = "alloc:0x90000000 alloc:0x90010000 spawn:1 join:1.3 free W R=init end | ended";
    let user = "begin:0.2 R=init W end | ended";
    let early = || claim(&[main, user], &["0.5", "1.2"], "0 0 0 1 1 1 1 0 0 0 0 0");
    for name in ["sc", "tso", "rc11"] {
        check(&joins, name, memory(early(), "1.2 0.4"), "comes before the end");
    }
}

#[test]
fn nobody_has_written_what_is_read() {
    let program = program(OBJECT);
    let main = "alloc:0x90000000 alloc:0x90010000 spawn:1 free W R=init end | ended";
    let claimed = || claim(&[main, "begin:0.2 R=init | stopped"], &["0.4"], "0 0 0 1 1 0 0 0 0");
    let memory = |about| suspicion(Property::Memory, claimed(), None, about);
    check(&program, "sc", memory("0.5"), "confirmed");
    check(&program, "sc", memory("1.1"), "holds something from the start");
    check(&program, "sc", memory("0.4"), "no read");
    let heard = claim(&[main, "begin:0.2 R=0.4 | stopped"], &["0.4"], "0 0 0 0 0 1 1 0 0");
    let heard = suspicion(Property::Memory, heard, None, "1.1");
    check(&program, "sc", heard, "what was written to x");
    let copies = crate::claims::program(&OBJECT.replace("r = load.4 o", "r = load.4 o [COPY]"));
    check(&copies, "sc", memory("0.5"), "only copies");
}

#[test]
fn what_fails_is_a_bad_access_or_a_bad_end() {
    let lines = |text: &str| {
        program(&format!(
            "global x: 4\nglobal c: 4 constant\nfn f() {{\n  var p: 64, d: 64, r: 32\n  \
             p = alloc.heap 4:64 align 4\n  {text}\n}}\nthread T = f()\n"
        ))
    };
    for (text, steps, is_wrong) in [
        ("free.heap p\n  free.heap p", "free", true),
        ("free.heap p", "", false),
        ("free.stack p", "", true),
        ("free.heap p + 1:64", "", true),
        ("free.heap p\n  r = load.4 p", "free", true),
        ("store.4 p, 1:32\n  r = load.4 p", "W", false),
        ("store.4 p + 1:64, 1:32", "", true),
        ("store.4 &c, 1:32", "", true),
        ("r = load.4 &c", "", false),
        ("r = load.4 0:64", "", true),
        ("r = load.4 &x", "", false),
        ("free.heap p\n  d = heapsize p", "free", true),
        ("d = alloc.heap 4:64 align 4", "", false),
        ("fence [SC]", "", false),
        ("call (7:64)()", "", true),
        ("unsupported \"this\"", "", false),
    ] {
        let program = lines(text);
        let claim = claim(&[&format!("alloc:0x90000000 {steps} | failed")], &[], "");
        let said = said(&program, "sc", suspicion(Property::Memory, claim, Some(0), ""));
        assert_eq!(said == "confirmed", is_wrong, "{text}: {said}");
    }
}

const LOCK: &str = "\
global m: 4
fn f() {
  var r: 32, b: 1
  r, b = cas.4 &m, 0:32, 1:32 [A, ACQ] [A, LOCK_WRITE, ACQ] [A, RLX]
  store.4 &m, 0:32 [A, REL, UNLOCK]
  store.4 &m, 0:32 [A, REL]
  store.4 &m, 0:32 [A, REL, UNLOCK]
}
thread T = f()
";

#[test]
fn locks_are_given_back_by_others() {
    let program = program(LOCK);
    let claimed = || claim(&["R=init W W W W end | ended"], &["0.1 0.2 0.3 0.4"], "");
    let lock = |about| suspicion(Property::Lock, claimed(), None, about);
    check(&program, "sc", lock("0.4"), "confirmed");
    check(&program, "sc", lock("0.2"), "the lock is held");
    check(&program, "sc", lock("0.3"), "the lock is held");
    check(&program, "sc", lock("0.3 0.4"), "no event shows it");
    for (steps, orders, expected) in [
        ("R=init W W W | failed", "0.1 0.2 0.3", "confirmed"),
        ("R=init W | failed", "0.1", "nothing violates"),
        ("R=init W W | failed", "0.1 0.2", "nothing violates"),
    ] {
        let claimed = claim(&[steps], &[orders], "");
        check(&program, "sc", suspicion(Property::Lock, claimed, Some(0), ""), expected);
    }
}

#[test]
fn what_leaks_is_of_the_heap_and_left_at_the_end() {
    let program = program(
        "fn f() {\n  var p: 64, q: 64, s: 64\n  p = alloc.heap 4:64 align 4\n  \
         q = alloc.heap 4:64 align 4\n  s = alloc.stack 4:64 align 4\n  free.heap p\n}\n\
         thread T = f()\n",
    );
    let steps = "alloc:0x90000000 alloc:0x90010000 alloc:0x90020000 free";
    let ended = || claim(&[&format!("{steps} end | ended")], &[], "");
    let leak = |claim, about| suspicion(Property::Leak, claim, None, about);
    check(&program, "sc", leak(ended(), "0.1"), "confirmed");
    check(&program, "sc", leak(ended(), "0.0"), "freed, or not of the heap");
    check(&program, "sc", leak(ended(), "0.2"), "freed, or not of the heap");
    check(&program, "sc", leak(ended(), "0.3"), "no object");
    check(&program, "sc", leak(ended(), ""), "not said");
    let open = claim(&[&format!("{steps} | stopped")], &[], "");
    check(&program, "sc", leak(open, "0.1"), "not over");
}

#[test]
fn who_waits_for_ever_has_seen_the_last_values() {
    let program = program(
        "global x: 4\nfn f() {\n  var r: 32\n  r = load.4 &x [A, RLX]\n  wait r == 1:32\n}\n\
         fn g() {\n  store.4 &x, 1:32 [A, RLX]\n}\nthread F = f()\nthread G = g()\n",
    );
    let ended = || claim(&["R=init | waiting", "W end | ended"], &[], "");
    let deadlock = |claim, about| suspicion(Property::Deadlock, claim, None, about);
    check(&program, "sc", deadlock(ended(), "0.0"), "may yet see a newer value");
    let open = claim(&["R=init | waiting", "| stopped"], &[], "");
    check(&program, "sc", deadlock(open, "0.0"), "does not wait");
    let never = crate::claims::program(
        "global x: 4\nfn f() {\n  var r: 32\n  r = load.4 &x [A, RLX]\n  wait r == 1:32\n}\n\
         thread F = f()\n",
    );
    let waits = || claim(&["R=init | waiting"], &[], "");
    check(&never, "sc", deadlock(waits(), "0.0"), "confirmed");
    let liveness = suspicion(Property::Liveness, waits(), None, "0.0");
    check(&never, "sc", liveness, "no thread waits as");
}

#[test]
fn what_decides_is_given_by_nobody() {
    let text = |value: &str| {
        program(&format!(
            "fn f() {{\n  var p: 64, r: 32\n  p = alloc.heap 4:64 align 4\n  \
             {value}\n  r = load.4 p [COPY]\n  branch r == 0:32, a, b\na:\n  return\nb:\n  \
             return\n}}\nthread T = f()\n"
        ))
    };
    let open = text("r = 0:32");
    let claimed = || claim(&["alloc:0x90000000 R=init | failed"], &[], "");
    let memory = |claim| suspicion(Property::Memory, claim, Some(0), "");
    check(&open, "sc", memory(claimed()), "confirmed");
    check(&open, "sc", suspicion(Property::Assert, claimed(), Some(0), ""), "nothing violates");
    // Whoever says what is there cannot say that nothing is.
    let given = Claim { unwritten: vec![(0x9000_0000, Bits::new(32, 5))], ..claimed() };
    check(&open, "sc", memory(given), "nothing fails");
    let written = claim(&["alloc:0x90000000 W R=0.1 | failed"], &[], "");
    check(&text("store.4 p, 1:32"), "sc", memory(written), "nothing fails");
}

#[test]
fn who_asks_whether_something_was_written_finds_nothing() {
    let text = |tags: &str| {
        program(&format!(
            "fn f() {{\n  var p: 64, r: 32\n  p = alloc.heap 4:64 align 4\n  \
             r = load.4 p [{tags}]\n  assert r == 0:32, \"it is there\"\n}}\nthread T = f()\n"
        ))
    };
    let claimed = claim(&["alloc:0x90000000 R=init | failed"], &[], "");
    let given = Claim { unwritten: vec![(0x9000_0000, Bits::new(32, 5))], ..claimed };
    let fails = || suspicion(Property::Assert, given.clone(), Some(0), "");
    check(&text("COPY"), "sc", fails(), "confirmed");
    check(&text("COPY, FRESH"), "sc", fails(), "nothing fails");
}

#[test]
fn final_states_are_those_that_are_asked_for() {
    use parallax_program::{
        AccessSize, Expr, GlobalId, Observable, Operand, Place, Prop, Quantifier, Question, VarId,
    };
    let program = program(
        "global x: 4\nfn f() {\n  var r: 32\n  r = load.4 &x\n  store.4 &x, r + 1:32\n}\n\
         thread A = f()\nthread B = f()\n",
    );
    let both = || {
        let threads = ["R=init W end | ended", "R=init W end | ended"];
        claim(&threads, &["0.1 1.1"], "0 1 0 1 0 1")
    };
    let asks = |place: Place, value: u128| {
        let left = Observable { name: "it".to_string(), place, signed: true };
        let right = Operand::Value(Expr::Const(Bits::new(32, value)));
        let prop = Prop::Compare { left, equal: true, right };
        let (quantifier, locations) = (Quantifier::Exists, Vec::new());
        Question { quantifier, prop, text: String::new(), locations, filter: None }
    };
    let x = || Place::Memory { global: GlobalId(0), offset: 0, size: AccessSize::WORD };
    let register = || Place::Variable { thread: 1, var: VarId(0), width: 32 };
    for (place, value, is_it) in [(x(), 1, true), (x(), 2, false), (register(), 0, true)] {
        let asked = asks(place, value);
        let found = suspicion(Property::Assert, both(), None, "");
        let said = confirm_final(&program, &model("sc"), found, &asked, &Control::default());
        assert_eq!(said.is_ok(), is_it, "{asked:?}");
    }
    let cut = claim(&["R=init W end | ended", "| stopped"], &[], "");
    let found = suspicion(Property::Assert, cut, None, "");
    let said = confirm_final(&program, &model("sc"), found, &asks(x(), 1), &Control::default())
        .expect_err("not over");
    assert!(said.message.contains("no final state"), "{}", said.message);
}
