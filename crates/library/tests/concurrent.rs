//! Threads together, in all sequentially consistent interleavings.

use crate::world;

use parallax_library::Options;
use world::{End, all_ends, all_ends_with, all_values};

/// A counter that threads add to, reading and writing it between the two lines.
fn counter(threads: usize, enter: &str, leave: &str, globals: &str) -> String {
    let mut text = format!(
        "global n: 4\n{globals}\nfn add() {{\n  var k: 32\n  {enter}\n  k = load.4 &n\n  \
         store.4 &n, k + 1:32\n  {leave}\n  return\n}}\n"
    );
    (0..threads).for_each(|number| text += &format!("thread T{number} = add()\n"));
    text
}

#[test]
fn locks_exclude() {
    assert_eq!(all_values(&counter(2, "", "", ""), &["n"]), [[1], [2]]);
    let cases = [
        ("pthread_mutex_lock", "pthread_mutex_unlock", "global l: 40"),
        ("pthread_mutex_lock", "pthread_mutex_unlock", "global l: 40 = { 16: 1:32 }"),
        ("mtx_lock", "mtx_unlock", "global l: 40"),
        ("pthread_rwlock_wrlock", "pthread_rwlock_unlock", "global l: 56"),
        ("sem_wait", "sem_post", "global l: 32 = { 0: 0x100001:32 }"),
        ("__VERIFIER_mutex_lock", "__VERIFIER_mutex_unlock", "global l: 4"),
    ];
    for (enter, leave, globals) in cases {
        let (enter, leave) =
            (format!("call extern {enter}(&l)"), format!("call extern {leave}(&l)"));
        let text = counter(3, &enter, &leave, globals);
        assert_eq!(all_values(&text, &["n"]), [[3]], "{enter}");
        assert_eq!(all_ends(&text), [End::Done], "{enter}");
    }
    let atomic = counter(
        3,
        "call extern __VERIFIER_atomic_begin()",
        "call extern __VERIFIER_atomic_end()",
        "",
    );
    assert_eq!(all_values(&atomic, &["n"]), [[3]]);
}

#[test]
fn functions_are_atomic_by_their_names() {
    let text = "global n: 4\nfn __VERIFIER_atomic_add() {\n  var k: 32\n  k = load.4 &n\n  \
        store.4 &n, k + 1:32\n  return\n}\nfn add() {\n  call __VERIFIER_atomic_add()\n  return\n}\n\
        thread A = add()\nthread B = add()\nthread C = add()\n";
    assert_eq!(all_values(text, &["n"]), [[3]]);
    let plain = text.replace("__VERIFIER_atomic_add", "__VERIFIER_atom_add");
    assert_eq!(all_values(&plain, &["n"]), [[1], [2], [3]]);
}

#[test]
fn readers_do_not_exclude_one_another() {
    let enter = "call extern pthread_rwlock_rdlock(&l)";
    let leave = "call extern pthread_rwlock_unlock(&l)";
    let text = counter(2, enter, leave, "global l: 56");
    assert_eq!(all_values(&text, &["n"]), [[1], [2]]);
    let mixed = text.replace("thread T1 = add()", "")
        + "fn write() {\n  var k: 32\n  call extern pthread_rwlock_wrlock(&l)\n  \
           k = load.4 &n\n  store.4 &n, k + 1:32\n  call extern pthread_rwlock_unlock(&l)\n  \
           return\n}\nthread W = write()\n";
    assert_eq!(all_values(&mixed, &["n"]), [[2]]);
}

#[test]
fn locks_in_opposite_orders_can_get_stuck() {
    let text = "global a: 40\nglobal b: 40\n\
        fn both(x: 64, y: 64) {\n  call extern pthread_mutex_lock(x)\n  \
        call extern pthread_mutex_lock(y)\n  call extern pthread_mutex_unlock(y)\n  \
        call extern pthread_mutex_unlock(x)\n  return\n}\n\
        thread A = both(&a, &b)\nthread B = both(&b, &a)\n";
    assert_eq!(all_ends(text), [End::Done, End::Stuck]);
    assert_eq!(all_ends(&text.replace("both(&b, &a)", "both(&a, &b)")), [End::Done]);
}

/// One thread waits until `flag` is set, the other sets it and calls `wake`.
fn flag(wait: &str, wake: &str, repeat: bool) -> String {
    let again = if repeat { "test" } else { "go" };
    format!(
        "global m: 40\nglobal c: 48\nglobal flag: 4\n\
         fn waiter() {{\n  var k: 32\n  call extern pthread_mutex_lock(&m)\ntest:\n  \
         k = load.4 &flag\n  branch k == 0:32, sleep, go\nsleep:\n  {wait}\n  jump {again}\n\
         go:\n  k = load.4 &flag\n  assert k == 1:32, \"woken in time\"\n  \
         call extern pthread_mutex_unlock(&m)\n  return\n}}\n\
         fn waker() {{\n  call extern pthread_mutex_lock(&m)\n  store.4 &flag, 1:32\n  \
         {wake}\n  return\n}}\nthread A = waiter()\nthread B = waker()\n"
    )
}

const WAIT: &str = "call extern pthread_cond_wait(&c, &m)";

#[test]
fn condition_variables_wake() {
    let signal = "call extern pthread_cond_signal(&c)\n  call extern pthread_mutex_unlock(&m)";
    assert_eq!(all_ends(&flag(WAIT, signal, true)), [End::Done]);
    assert_eq!(all_ends(&flag(WAIT, signal, false)), [End::Done]);
    let after = "call extern pthread_mutex_unlock(&m)\n  call extern pthread_cond_broadcast(&c)";
    assert_eq!(all_ends(&flag(WAIT, after, true)), [End::Done]);
    let nobody = "call extern pthread_mutex_unlock(&m)";
    assert_eq!(all_ends(&flag(WAIT, nobody, true)), [End::Done, End::Stuck]);
}

#[test]
fn a_wake_up_before_the_wait_is_lost() {
    let signal = "call extern pthread_cond_signal(&c)\n  call extern pthread_mutex_unlock(&m)";
    let blind = flag(WAIT, signal, true).replace("branch k == 0:32, sleep, go", "jump sleep");
    assert!(all_ends(&blind).contains(&End::Stuck));
}

#[test]
fn spurious_wake_ups_are_an_option() {
    let signal = "call extern pthread_cond_signal(&c)\n  call extern pthread_mutex_unlock(&m)";
    let options = Options { spurious_wakeups: true, ..Options::default() };
    let careless = all_ends_with(&flag(WAIT, signal, false), &options);
    assert!(careless.iter().any(|end| matches!(end, End::Failed(..))), "{careless:?}");
    assert_eq!(all_ends_with(&flag(WAIT, signal, true), &options), [End::Done]);
    // Nothing promises one to who is not signalled.
    let nobody = "call extern pthread_mutex_unlock(&m)";
    let lonely = all_ends_with(&flag(WAIT, nobody, true), &options);
    assert_eq!(lonely, [End::Done, End::Stuck]);
}

#[test]
fn threads_wake_up_without_a_signal_any_number_of_times() {
    let thrice = "call extern pthread_cond_wait(&c, &m)\n  \
        call extern pthread_cond_wait(&c, &m)\n  call extern pthread_cond_wait(&c, &m)";
    let nobody = "call extern pthread_mutex_unlock(&m)";
    let options = Options { spurious_wakeups: true, ..Options::default() };
    let ends = all_ends_with(&flag(thrice, nobody, false), &options);
    assert!(ends.iter().any(|end| matches!(end, End::Failed(..))), "{ends:?}");
    assert!(ends.contains(&End::Stuck), "{ends:?}");
}

#[test]
fn timed_waits_end() {
    let nobody = "call extern pthread_mutex_unlock(&m)";
    let wait = "k = call extern pthread_cond_timedwait(&c, &m, 0:64)\n  \
        assert (k == 110:32) | (k == 0:32), \"code\"";
    let text = flag(wait, nobody, false).replace("assert k == 1:32", "assert k <u 2:32");
    assert_eq!(all_ends(&text), [End::Done]);
}

#[test]
fn a_signal_wakes_one_and_a_broadcast_all() {
    let text = |wake: &str| {
        format!(
            "global m: 40\nglobal c: 48\nglobal waiting: 4\n\
             fn waiter() {{\n  var k: 32\n  call extern pthread_mutex_lock(&m)\n  \
             k = load.4 &waiting\n  store.4 &waiting, k + 1:32\n  {WAIT}\n  \
             call extern pthread_mutex_unlock(&m)\n  return\n}}\n\
             fn waker() {{\n  var k: 32\n  call extern pthread_mutex_lock(&m)\n  \
             k = load.4 &waiting\n  assume k == 2:32\n  {wake}\n  \
             call extern pthread_mutex_unlock(&m)\n  return\n}}\n\
             thread A = waiter()\nthread B = waiter()\nthread C = waker()\n"
        )
    };
    let signal = "call extern pthread_cond_signal(&c)";
    assert_eq!(all_ends(&text(signal)), [End::Stuck]);
    assert_eq!(all_ends(&text(&format!("{signal}\n  {signal}"))), [End::Done]);
    assert_eq!(all_ends(&text("call extern pthread_cond_broadcast(&c)")), [End::Done]);
}

/// Threads that meet at a barrier of so many, so many times.
fn barrier(threads: usize, needed: usize, times: usize, family: &str, size: usize) -> String {
    let round = format!(
        "  k = call extern {family}_wait(&b)\n  \
         rmw.add.4 &serial, select(k == 0:32, 0:32, 1:32)\n"
    );
    let mut text = format!(
        "global b: {size}\nglobal serial: 4\nfn meet() {{\n  var k: 32\n{}  return\n}}\n\
         fn main() {{\n  call extern {family}_init(&b, 0:64, {needed}:32)\n",
        round.repeat(times)
    );
    (0..threads).for_each(|_| text += "  spawn meet()\n");
    text + "  return\n}\nthread main = main()\n"
}

#[test]
fn barriers_open_for_all_and_one_is_the_last() {
    for (family, size) in [("pthread_barrier", 32), ("__VERIFIER_barrier", 4)] {
        assert_eq!(all_values(&barrier(2, 2, 2, family, size), &["serial"]), [[2]], "{family}");
        assert_eq!(all_values(&barrier(3, 3, 1, family, size), &["serial"]), [[1]], "{family}");
        assert_eq!(all_ends(&barrier(2, 3, 1, family, size)), [End::Stuck], "{family}");
        assert_eq!(all_ends(&barrier(3, 2, 1, family, size)), [End::Stuck], "{family}");
        assert_eq!(all_values(&barrier(4, 2, 1, family, size), &["serial"]), [[2]], "{family}");
    }
}

#[test]
fn spin_locks_exclude_once_they_are_initialised() {
    let add = "fn add() {\n  var k: 32\n  call extern pthread_spin_lock(&l)\n  k = load.4 &n\n  \
               store.4 &n, k + 1:32\n  call extern pthread_spin_unlock(&l)\n  return\n}\n";
    let init = "  call extern pthread_spin_init(&l, 0:32)\n";
    let text = |first: &str| {
        format!(
            "global n: 4\nglobal l: 4\n{add}fn main() {{\n{first}  spawn add()\n  spawn add()\n  \
             return\n}}\nthread main = main()\n"
        )
    };
    assert_eq!(all_values(&text(init), &["n"]), [[2]]);
    assert_eq!(all_ends(&text(init)), [End::Done]);
    assert!(!all_ends(&text("")).contains(&End::Done));
}

#[test]
fn once_others_wait_for_the_first() {
    let text = "global control: 4\nglobal ready: 4\nglobal runs: 4\n\
        fn init() {\n  rmw.add.4 &runs, 1:32\n  store.4 &ready, 1:32\n  return\n}\n\
        fn user() {\n  var k: 32\n  call extern pthread_once(&control, @init)\n  \
        k = load.4 &ready\n  assert k == 1:32, \"ready\"\n  return\n}\n\
        thread A = user()\nthread B = user()\nthread C = user()\n";
    assert_eq!(all_ends(text), [End::Done]);
    assert_eq!(all_values(text, &["runs"]), [[1]]);
}

#[test]
fn semaphores_hand_over() {
    let text = "global s: 32 = { 0: 0x100000:32 }\nglobal data: 4\n\
        fn producer() {\n  store.4 &data, 7:32\n  call extern sem_post(&s)\n  return\n}\n\
        fn consumer() {\n  var k: 32\n  call extern sem_wait(&s)\n  k = load.4 &data\n  \
        assert k == 7:32, \"data\"\n  return\n}\n\
        thread P = producer()\nthread C = consumer()\n";
    assert_eq!(all_ends(text), [End::Done]);
    assert_eq!(all_ends(&format!("{text}thread D = consumer()\n")), [End::Stuck]);
}
