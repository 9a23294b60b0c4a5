//! The lives of threads: results, thread-specific data, one-time initialisation, exits.

use crate::world;

use parallax_library::{Errors, Options};
use parallax_program::Property;
use world::{End, all_ends, all_ends_with, ends, with_main};

#[test]
fn a_thread_gives_its_result() {
    let before = "global t: 8\nglobal result: 8\n\
        fn worker(a: 64) -> 64 {\n  return a + 1:64\n}\n";
    let lines = "  r = call extern pthread_create(&t, 0:64, @worker, 41:64)\n  \
        p = load.8 &t\n  r = call extern pthread_join(p, &result)\n  \
        p = load.8 &result\n  assert p == 42:64, \"result\"";
    assert_eq!(all_ends(&with_main(before, lines)), [End::Done]);
    let exits = before.replace("return a + 1:64", "call extern pthread_exit(42:64)\n  return a");
    assert_eq!(all_ends(&with_main(&exits, lines)), [End::Done]);
}

#[test]
fn c11_threads_give_integers() {
    let before = "global t: 8\nglobal result: 4\n\
        fn worker(a: 64) -> 32 {\n  call extern thrd_exit(-7:32)\n  return 0:32\n}\n";
    let lines = "  r = call extern thrd_create(&t, @worker, 0:64)\n  p = load.8 &t\n  \
        call extern thrd_join(p, &result)\n  r = load.4 &result\n  assert r == -7:32, \"result\"";
    assert_eq!(all_ends(&with_main(before, lines)), [End::Done]);
    let direct = "global t: 8\nglobal result: 4\nfn worker(a: 64) -> 32 {\n  return -7:32\n}\n";
    assert_eq!(all_ends(&with_main(direct, lines)), [End::Done]);
}

#[test]
fn routines_of_other_types_are_called_as_they_are() {
    let lines = "  call extern pthread_create(&t, 0:64, @worker, 0x100000005:64)\n  p = load.8 &t\n  \
        call extern pthread_join(p, &result)\n  p = load.8 &result\n  \
        assert p == EXPECTED:64, \"result\"";
    for (worker, expected) in [
        ("fn worker() -> 64 {\n  return 7:64\n}\n", "7"),
        ("fn worker(a: 64) {\n  return\n}\n", "0"),
        ("fn worker(a: 32) -> 32 {\n  return a\n}\n", "5"),
    ] {
        let before = format!("global t: 8\nglobal result: 8\n{worker}");
        let text = with_main(&before, &lines.replace("EXPECTED", expected));
        assert_eq!(all_ends(&text), [End::Done], "{worker}");
    }
}

#[test]
fn threads_know_themselves() {
    let before = "global t: 8\nglobal self: 8\n\
        fn worker(a: 64) -> 64 {\n  var p: 64\n  p = call extern pthread_self()\n  \
        store.8 &self, p\n  return 0:64\n}\n";
    let lines = "  call extern pthread_create(&t, 0:64, @worker, 0:64)\n  p = load.8 &t\n  \
        call extern pthread_join(p, 0:64)\n  q = load.8 &self\n  \
        r = call extern pthread_equal(p, q)\n  assert r == 1:32, \"the same\"\n  \
        q = call extern pthread_self()\n  r = call extern pthread_equal(p, q)\n  \
        assert r == 0:32, \"another\"";
    assert_eq!(all_ends(&with_main(before, lines)), [End::Done]);
}

#[test]
fn destructors_run_at_the_end_of_a_thread() {
    let before = "global t: 8\nglobal key: 4\nglobal sum: 8\n\
        fn add(a: 64) {\n  var p: 64\n  p = load.8 &sum\n  store.8 &sum, p + a\n  return\n}\n\
        fn worker(a: 64) -> 64 {\n  var k: 32, p: 64\n  k = load.4 &key\n  \
        p = call extern pthread_getspecific(k)\n  assert p == 0:64, \"empty at first\"\n  \
        call extern pthread_setspecific(k, a)\n  p = call extern pthread_getspecific(k)\n  \
        assert p == a, \"what was set\"\n  return 0:64\n}\n";
    let lines = "  call extern pthread_key_create(&key, @add)\n  r = load.4 &key\n  \
        call extern pthread_setspecific(r, 100:64)\n  \
        call extern pthread_create(&t, 0:64, @worker, 5:64)\n  p = load.8 &t\n  \
        call extern pthread_join(p, 0:64)\n  p = load.8 &sum\n  assert p == EXPECTED:64, \"sum\"";
    let plain = with_main(before, &lines.replace("EXPECTED", "5"));
    assert_eq!(all_ends(&plain), [End::Done]);
    let deleted = lines.replace("EXPECTED", "0").replace(
        "  call extern pthread_create",
        "  call extern pthread_key_delete(r)\n  call extern pthread_create",
    );
    let late = End::Failed(Property::Lock, "a key is used that was deleted".into());
    assert_eq!(all_ends(&with_main(before, &deleted)), [late]);
}

#[test]
fn destructors_may_set_values_again_for_a_while() {
    let before = "global t: 8\nglobal key: 4\nglobal runs: 4\n\
        fn again(a: 64) {\n  var k: 32\n  k = load.4 &runs\n  store.4 &runs, k + 1:32\n  \
        k = load.4 &key\n  call extern pthread_setspecific(k, 1:64)\n  return\n}\n\
        fn worker(a: 64) -> 64 {\n  var k: 32\n  k = load.4 &key\n  \
        call extern pthread_setspecific(k, 1:64)\n  return 0:64\n}\n";
    let lines = "  call extern pthread_key_create(&key, @again)\n  \
        call extern pthread_create(&t, 0:64, @worker, 5:64)\n  p = load.8 &t\n  \
        call extern pthread_join(p, 0:64)\n  r = load.4 &runs\n  assert r == 4:32, \"rounds\"";
    assert_eq!(all_ends(&with_main(before, lines)), [End::Done]);
}

#[test]
fn once_is_once() {
    let before = "global control: 4\nglobal runs: 4\n\
        fn init() {\n  var k: 32\n  k = load.4 &runs\n  store.4 &runs, k + 1:32\n  return\n}\n";
    let lines = "  call extern pthread_once(&control, @init)\n  \
        call extern call_once(&control, @init)\n  r = load.4 &runs\n  assert r == 1:32, \"once\"";
    assert_eq!(ends(before, lines), End::Done);
    let itself =
        before.replace("  return\n", "  call extern pthread_once(&control, @init)\n  return\n");
    assert_eq!(ends(&itself, lines), End::Stuck);
}

#[test]
fn exit_runs_handlers_last_first() {
    let before = "global order: 4\n\
        fn note(digit: 32) {\n  var k: 32\n  k = load.4 &order\n  \
        store.4 &order, k * 10:32 + digit\n  return\n}\n\
        fn first() {\n  call note(1:32)\n  return\n}\n\
        fn second() {\n  call note(2:32)\n  return\n}\n\
        fn watch() {\n  var k: 32\n  k = load.4 &order\n  assert k == WANTED:32, \"order\"\n  \
        return\n}\n";
    let lines = "  call extern atexit(@watch)\n  call extern atexit(@first)\n  \
        call extern atexit(@second)\n  call extern EXIT(0:32)\n  assert 0:1, \"not reached\"";
    let exits = lines.replace("EXIT", "\"exit\"");
    assert_eq!(ends(&before.replace("WANTED", "21"), &exits), End::Done);
    assert_eq!(ends(&before.replace("WANTED", "99"), &lines.replace("EXIT", "_exit")), End::Done);
}

#[test]
fn aborting_is_an_error_unless_it_is_not_asked_for() {
    for (name, message) in [("abort", "abort is called"), ("__builtin_trap", "a trap is reached")] {
        let text = with_main("", &format!("  call extern {name}()\n  assert 0:1, \"not reached\""));
        assert_eq!(all_ends(&text), [End::Failed(Property::Assert, message.into())]);
        let options = Options { errors: Errors::none(), ..Options::default() };
        assert_eq!(all_ends_with(&text, &options), []);
    }
}

#[test]
fn a_thread_that_exits_takes_all_with_it() {
    for exit in ["\"exit\"", "_exit", "_Exit", "quick_exit"] {
        let before = format!(
            "global t: 8\nfn worker(a: 64) -> 64 {{\n  call extern {exit}(0:32)\n  \
             return 0:64\n}}\n"
        );
        let lines = "  call extern pthread_create(&t, 0:64, @worker, 0:64)\n  p = load.8 &t\n  \
            call extern pthread_join(p, 0:64)\n  assert 0:1, \"nobody gets here\"";
        assert_eq!(all_ends(&with_main(&before, lines)), [], "{exit}");
    }
}

#[test]
fn calls_that_are_errors() {
    let errors = Errors { functions: vec!["wrong".into(), "mine".into()], abort: false };
    let options = Options { errors, ..Options::default() };
    let before = "fn mine() {\n  return\n}\n";
    for (call, message) in [("call extern wrong(1:32)", "wrong"), ("call mine()", "mine")] {
        let text = with_main(before, &format!("  {call}"));
        let message = format!("{message} is called");
        assert_eq!(all_ends_with(&text, &options), [End::Failed(Property::Assert, message)]);
    }
    assert_eq!(all_ends(&with_main(before, "  call mine()")), [End::Done]);
}

#[test]
fn what_is_not_supported_is_named() {
    let lines = "  call extern pthread_cancel(1:64)";
    assert_eq!(ends("", lines), End::Unknown("pthread_cancel".into()));
    let robust = "  call extern pthread_mutexattr_setrobust(&a, 1:32)";
    assert_eq!(ends("global a: 4", robust), End::Unknown("robust mutexes".into()));
}

#[test]
fn a_thread_is_joined_or_detached_once() {
    let before = "global t: 8\nglobal a: 56\nfn worker(a: 64) -> 64 {\n  return a\n}\n";
    let create = "  call extern pthread_create(&t, 0:64, @worker, 0:64)\n  p = load.8 &t\n";
    let (join, detach) =
        ("  call extern pthread_join(p, 0:64)\n", "  call extern pthread_detach(p)\n");
    let message = "a thread is joined or detached that was joined or detached before";
    let wrong = || vec![End::Failed(Property::Lock, message.into())];
    for (first, second) in [(join, join), (detach, join), (detach, detach), (join, detach)] {
        let lines = format!("{create}{first}{second}");
        assert_eq!(all_ends(&with_main(before, &lines)), wrong(), "{first}{second}");
    }
    for once in [join, detach] {
        let lines = format!("{create}{once}{create}{once}");
        assert_eq!(all_ends(&with_main(before, &lines)), [End::Done], "{once}");
    }
    let detached = "  call extern pthread_attr_init(&a)\n  \
        call extern pthread_attr_setdetachstate(&a, 1:32)\n  \
        call extern pthread_create(&t, &a, @worker, 0:64)\n  p = load.8 &t\n";
    let lines = format!("{detached}{join}");
    assert_eq!(all_ends(&with_main(before, &lines)), wrong());
}
