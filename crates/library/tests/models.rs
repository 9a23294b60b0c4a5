//! The library under weak memory: what its functions promise holds in every execution that a
//! model allows, and what is wrong with their users is found.

use crate::world;

use parallax_engine_explore::{Options, Reductions, explore};
use parallax_memory::Model;
use parallax_program::Property;
use parallax_verdict::{Conclusion, Verdict};
use world::program;

const MODELS: [&str; 5] = ["sc", "tso", "pso", "ra", "rc11"];

fn verify(text: &str, model: &str) -> Verdict {
    let model = Model::builtin(model).expect("a model").expect("a right model");
    let reductions = Reductions::parse("spin-loops,waits").expect("reductions");
    let options = Options { reductions, ..Options::default() };
    explore(&program(text), &model, &options).expect("explored")
}

/// Safe under every model. Gives the number of executions under the last.
fn safe(text: &str) -> u64 {
    let mut executions = 0;
    for model in MODELS {
        let verdict = verify(text, model);
        let wrong: Vec<_> = verdict.violations.iter().map(|v| (v.property, &v.message)).collect();
        assert_eq!(
            verdict.conclusion(),
            Conclusion::Safe,
            "{model}: {wrong:?} {:?}",
            verdict.reason
        );
        assert_eq!(verdict.counts.redundant, 0, "{model}");
        executions = verdict.counts.executions;
    }
    executions
}

fn wrong(text: &str, property: Property) {
    for model in MODELS {
        let verdict = verify(text, model);
        let found: Vec<_> = verdict.violations.iter().map(|v| v.property).collect();
        assert_eq!(found, [property], "{model}: {:?}", verdict.reason);
    }
}

/// Threads that each add to a counter, reading and writing it between the two calls.
fn counter(threads: usize, enter: &str, leave: &str, globals: &str) -> String {
    let mut text = format!(
        "global n: 4\n{globals}\nfn add(a: 64) -> 64 {{\n  var k: 32\n  {enter}\n  \
         k = load.4 &n [NA]\n  store.4 &n, k + 1:32 [NA]\n  {leave}\n  return 0:64\n}}\n\
         global t: 64\nfn main() {{\n  var k: 32, p: 64\n"
    );
    for number in 0..threads {
        let place = format!("&t + {}:64", 8 * number);
        text += &format!("  call extern pthread_create({place}, 0:64, @add, 0:64)\n");
    }
    for number in 0..threads {
        text += &format!("  p = load.8 &t + {}:64 [NA]\n", 8 * number);
        text += "  call extern pthread_join(p, 0:64)\n";
    }
    text + &format!(
        "  k = load.4 &n [NA]\n  assert k == {threads}:32, \"all counted\"\n  return\n}}\n\
         thread main = main()\n"
    )
}

/// What initialising a spin lock leaves in it; see objects.program.
const FREE_SPIN_LOCK: &str = "global l: 4 = { 0: extract(&l, 0, 32) ^ 0x5ca1ab1e:32 }";

#[test]
fn locks_protect() {
    let cases = [
        ("pthread_mutex_lock", "pthread_mutex_unlock", "global l: 40"),
        ("pthread_mutex_lock", "pthread_mutex_unlock", "global l: 40 = { 16: 1:32 }"),
        ("mtx_lock", "mtx_unlock", "global l: 40"),
        ("pthread_spin_lock", "pthread_spin_unlock", FREE_SPIN_LOCK),
        ("pthread_rwlock_wrlock", "pthread_rwlock_unlock", "global l: 56"),
        ("sem_wait", "sem_post", "global l: 32 = { 0: 0x100001:32 }"),
        ("__VERIFIER_mutex_lock", "__VERIFIER_mutex_unlock", "global l: 4"),
    ];
    for (enter, leave, globals) in cases {
        let text = counter(
            3,
            &format!("call extern {enter}(&l)"),
            &format!("call extern {leave}(&l)"),
            globals,
        );
        assert_eq!(safe(&text), 6, "{enter}: one execution for each order of the threads");
    }
    let unlocked = counter(2, "", "", "");
    assert_eq!(verify(&unlocked, "rc11").violations[0].property, Property::Race);
}

#[test]
fn readers_do_not_protect() {
    let enter = "call extern pthread_rwlock_rdlock(&l)";
    let leave = "call extern pthread_rwlock_unlock(&l)";
    let text = counter(2, enter, leave, "global l: 56");
    assert_eq!(verify(&text, "rc11").violations[0].property, Property::Race);
}

#[test]
fn locks_used_wrongly_are_found() {
    let text = |lines: &str| {
        format!("global l: 40\nfn main() {{\n{lines}  return\n}}\nthread main = main()\n")
    };
    let call = |name: &str| format!("  call extern pthread_mutex_{name}(&l)\n");
    wrong(&text(&call("unlock")), Property::Lock);
    wrong(&text(&(call("lock") + &call("unlock") + &call("unlock"))), Property::Lock);
    wrong(&text(&(call("lock") + &call("destroy"))), Property::Lock);
    wrong(&text(&call("lock").repeat(2)), Property::Deadlock);
    safe(&text(&(call("lock") + &call("unlock") + &call("destroy"))));
    let stranger = "global l: 40\nfn other() {\n  call extern pthread_mutex_unlock(&l)\n  return\n}\n\
        fn main() {\n  var t: 32\n  call extern pthread_mutex_lock(&l)\n  t = spawn other()\n  \
        join t\n  return\n}\nthread main = main()\n";
    wrong(stranger, Property::Lock);
}

/// A consumer that waits until there is data, and a producer that wakes it.
fn hand_over(wake: &str) -> String {
    format!(
        "global m: 40\nglobal c: 48\nglobal full: 4\nglobal data: 4\n\
         fn produce() {{\n  store.4 &data, 7:32 [NA]\n  call extern pthread_mutex_lock(&m)\n  \
         store.4 &full, 1:32 [NA]\n  {wake}\n  return\n}}\n\
         fn main() {{\n  var k: 32, t: 32\n  t = spawn produce()\n  \
         call extern pthread_mutex_lock(&m)\ntest:\n  k = load.4 &full [NA]\n  \
         branch k == 0:32, sleep, go\nsleep:\n  call extern pthread_cond_wait(&c, &m)\n  \
         jump test\ngo:\n  call extern pthread_mutex_unlock(&m)\n  k = load.4 &data [NA]\n  \
         assert k == 7:32, \"data\"\n  join t\n  return\n}}\nthread main = main()\n"
    )
}

#[test]
fn condition_variables_hand_over() {
    let unlock = "call extern pthread_mutex_unlock(&m)";
    for wake in ["signal", "broadcast"] {
        let wake = format!("call extern pthread_cond_{wake}(&c)");
        safe(&hand_over(&format!("{wake}\n  {unlock}")));
        safe(&hand_over(&format!("{unlock}\n  {wake}")));
    }
    wrong(&hand_over(unlock), Property::Deadlock);
}

#[test]
fn barriers_order_what_is_before_and_after() {
    let text = |wait: &str| {
        format!(
            "global b: 32\nglobal x: 4\nglobal y: 4\n\
             fn meet(mine: 64, other: 64) {{\n  var k: 32\n  store.4 mine, 1:32 [NA]\n  {wait}\n  \
             k = load.4 other [NA]\n  assert k == 1:32, \"both are there\"\n  return\n}}\n\
             fn main() {{\n  var s: 32, t: 32\n  \
             call extern pthread_barrier_init(&b, 0:64, 2:32)\n  s = spawn meet(&x, &y)\n  \
             t = spawn meet(&y, &x)\n  join s\n  join t\n  \
             call extern pthread_barrier_destroy(&b)\n  return\n}}\nthread main = main()\n"
        )
    };
    safe(&text("call extern pthread_barrier_wait(&b)"));
    assert_eq!(verify(&text(""), "rc11").conclusion(), Conclusion::Unsafe);
    let short = text("call extern pthread_barrier_wait(&b)").replace("0:64, 2:32", "0:64, 3:32");
    wrong(&short, Property::Deadlock);
}

/// A place for one value, that threads put values into and take them from.
fn buffer(producers: usize, consumers: usize, wake: &str) -> String {
    let side = |name: &str, other: &str, full: u32| {
        format!(
            "fn {name}() {{\n  var k: 32\n  call extern pthread_mutex_lock(&m)\ntest:\n  \
             k = load.4 &full [NA]\n  branch k == {full}:32, sleep, go\nsleep:\n  \
             call extern pthread_cond_wait(&{name}_c, &m)\n  jump test\ngo:\n  \
             store.4 &full, {full}:32 [NA]\n  call extern pthread_cond_{wake}(&{other}_c)\n  \
             call extern pthread_mutex_unlock(&m)\n  return\n}}\n"
        )
    };
    let mut text =
        String::from("global m: 40\nglobal put_c: 48\nglobal take_c: 48\nglobal full: 4\n");
    text += &side("put", "take", 1);
    text += &side("take", "put", 0);
    text += "fn main() {\n";
    text += &"  spawn put()\n".repeat(producers);
    text += &"  spawn take()\n".repeat(consumers);
    text + "  return\n}\nthread main = main()\n"
}

#[test]
fn buffers_pass_values_on() {
    for wake in ["signal", "broadcast"] {
        safe(&buffer(2, 2, wake));
        wrong(&buffer(1, 2, wake), Property::Deadlock);
        wrong(&buffer(3, 1, wake), Property::Deadlock);
    }
}

#[test]
fn readers_and_writers() {
    let text = "global l: 56\nglobal x: 4\nglobal y: 4\n\
        fn read() {\n  var j: 32, k: 32\n  call extern pthread_rwlock_rdlock(&l)\n  \
        j = load.4 &x [NA]\n  k = load.4 &y [NA]\n  assert j == k, \"together\"\n  \
        call extern pthread_rwlock_unlock(&l)\n  return\n}\n\
        fn write() {\n  var k: 32\n  call extern pthread_rwlock_wrlock(&l)\n  \
        k = load.4 &x [NA]\n  store.4 &x, k + 1:32 [NA]\n  store.4 &y, k + 1:32 [NA]\n  \
        call extern pthread_rwlock_unlock(&l)\n  return\n}\n\
        fn main() {\n  spawn read()\n  spawn write()\n  spawn read()\n  spawn write()\n  return\n}\n\
        thread main = main()\n";
    safe(text);
    let twice = "global l: 56\nfn main() {\n  call extern pthread_rwlock_rdlock(&l)\n  \
        call extern pthread_rwlock_rdlock(&l)\n  call extern pthread_rwlock_unlock(&l)\n  \
        call extern pthread_rwlock_unlock(&l)\n  return\n}\nthread main = main()\n";
    assert_eq!(safe(twice), 1, "readers may come back");
    wrong(&twice.replacen("rdlock", "wrlock", 1), Property::Deadlock);
}

#[test]
fn initialisation_is_seen_by_all() {
    let text = "global control: 4\nglobal data: 4\n\
        fn init() {\n  store.4 &data, 7:32 [NA]\n  return\n}\n\
        fn user() {\n  var k: 32\n  call extern pthread_once(&control, @init)\n  \
        k = load.4 &data [NA]\n  assert k == 7:32, \"ready\"\n  return\n}\n\
        fn main() {\n  spawn user()\n  spawn user()\n  call user()\n  return\n}\n\
        thread main = main()\n";
    assert_eq!(safe(text), 3, "one for each that comes first");
}

#[test]
fn results_and_thread_specific_data() {
    let text = "global t: 8\nglobal result: 8\nglobal key: 4\n\
        fn drop(p: 64) {\n  call extern free(p)\n  return\n}\n\
        fn worker(a: 64) -> 64 {\n  var p: 64, k: 32\n  p = call extern malloc(8:64)\n  \
        store.8 p, a [NA]\n  k = load.4 &key [NA]\n  call extern pthread_setspecific(k, p)\n  \
        p = call extern pthread_getspecific(k)\n  p = load.8 p [NA]\n  return p + 1:64\n}\n\
        fn main() {\n  var p: 64\n  call extern pthread_key_create(&key, @drop)\n  \
        call extern pthread_create(&t, 0:64, @worker, 41:64)\n  p = load.8 &t [NA]\n  \
        call extern pthread_join(p, &result)\n  p = load.8 &result [NA]\n  \
        assert p == 42:64, \"result\"\n  return\n}\nthread main = main()\n";
    assert_eq!(safe(text), 1);
    for model in MODELS {
        let model = Model::builtin(model).expect("a model").expect("a right model");
        let options = Options { properties: Property::ALL.to_vec(), ..Options::default() };
        let verdict = explore(&program(text), &model, &options).expect("explored");
        assert_eq!(verdict.conclusion(), Conclusion::Safe, "nothing leaks");
    }
}
