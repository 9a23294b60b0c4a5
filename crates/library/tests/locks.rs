//! Mutexes of all kinds, read-write locks, spin locks, semaphores and barriers, used by one
//! thread at a time.

use crate::world;

use parallax_program::Property;
use world::{End, ends};

fn lock_error(message: &str) -> End {
    End::Failed(Property::Lock, message.to_string())
}

#[test]
fn a_normal_mutex_waits_for_itself_and_is_busy() {
    let once = "  call extern pthread_mutex_lock(&m)\n";
    assert_eq!(ends("global m: 40", once), End::Done);
    assert_eq!(ends("global m: 40", &once.repeat(2)), End::Stuck);
    let busy = "  r = call extern pthread_mutex_trylock(&m)\n  assert r == 16:32, \"busy\"\n  \
        r = call extern pthread_mutex_timedlock(&m, 0:64)\n  assert r == 110:32, \"late\"\n  \
        call extern pthread_mutex_unlock(&m)\n  \
        r = call extern pthread_mutex_trylock(&m)\n  assert r == 0:32, \"free\"";
    assert_eq!(ends("global m: 40", &format!("{once}{busy}")), End::Done);
}

#[test]
fn glibc_initialisers_mean_what_they_mean() {
    let twice = "  r = call extern pthread_mutex_lock(&m)\n  assert r == 0:32, \"first\"\n  \
        r = call extern pthread_mutex_lock(&m)\n  assert r == CODE:32, \"second\"";
    let recursive = "global m: 40 = { 16: 1:32 }";
    assert_eq!(ends(recursive, &twice.replace("CODE", "0")), End::Done);
    let checking = "global m: 40 = { 16: 2:32 }";
    assert_eq!(ends(checking, &twice.replace("CODE", "35")), End::Done);
    let inside_others = "global m: 96 = { 56: 2:32 }";
    let lines = twice.replace("CODE", "35").replace("&m", "&m + 40:64");
    assert_eq!(ends(inside_others, &lines), End::Done);
    let adaptive = "global m: 40 = { 16: 3:32 }";
    assert_eq!(ends(adaptive, &twice.replace("CODE", "0")), End::Stuck);
}

#[test]
fn a_recursive_mutex_counts() {
    let lines = "  call extern pthread_mutexattr_init(&a)\n  \
        call extern pthread_mutexattr_settype(&a, 1:32)\n  \
        call extern pthread_mutex_init(&m, &a)\n  \
        call extern pthread_mutex_lock(&m)\n  \
        r = call extern pthread_mutex_trylock(&m)\n  assert r == 0:32, \"again\"\n  \
        call extern pthread_mutex_unlock(&m)\n  \
        r = load.4 &m\n  assert r == 1:32, \"still held\"\n  \
        call extern pthread_mutex_unlock(&m)\n  \
        r = load.4 &m\n  assert r == 0:32, \"free\"\n  \
        r = call extern pthread_mutex_unlock(&m)\n  assert r == 1:32, \"not held\"\n  \
        call extern pthread_mutex_destroy(&m)";
    assert_eq!(ends("global m: 40\nglobal a: 4", lines), End::Done);
}

#[test]
fn c11_mutexes_are_recursive_if_asked() {
    let lines = "  call extern mtx_init(&m, KIND:32)\n  call extern mtx_lock(&m)\n  \
        r = call extern mtx_trylock(&m)\n  assert r == CODE:32, \"try\"\n  \
        r = call extern mtx_unlock(&m)\n  assert r == 0:32, \"unlock\"";
    for (kind, code) in [("0", "1"), ("2", "1"), ("1", "0"), ("3", "0")] {
        let lines = lines.replace("KIND", kind).replace("CODE", code);
        assert_eq!(ends("global m: 40", &lines), End::Done, "{kind}");
    }
}

#[test]
fn locks_used_wrongly() {
    let cases = [
        ("lock destroy", "a mutex is destroyed that is held, or destroyed already"),
        ("destroy destroy", "a mutex is destroyed that is held, or destroyed already"),
        ("destroy lock", "a mutex is locked that was destroyed"),
        ("destroy trylock", "a mutex is locked that was destroyed"),
    ];
    for kinds in ["global m: 40", "global m: 40\nglobal n: 40 = { 16: 1:32 }"] {
        for (calls, message) in cases {
            let lines = calls.split(' ').map(|c| format!("  call extern pthread_mutex_{c}(&m)\n"));
            assert_eq!(ends(kinds, &lines.collect::<String>()), lock_error(message), "{calls}");
        }
    }
    let stranger = "  call extern pthread_mutex_unlock(&m)";
    let kinds = "global m: 40\nglobal n: 40 = { 16: 1:32 }";
    let message = "a mutex is unlocked by a thread that does not hold it";
    assert_eq!(ends(kinds, stranger), lock_error(message));
    let idle = "  call extern pthread_rwlock_unlock(&m)";
    let message = "a read-write lock is unlocked that is not held";
    assert_eq!(ends("global m: 56", idle), lock_error(message));
}

#[test]
fn a_destroyed_mutex_can_be_made_new() {
    let lines = "  call extern pthread_mutex_destroy(&m)\n  \
        call extern pthread_mutex_init(&m, 0:64)\n  call extern pthread_mutex_lock(&m)";
    assert_eq!(ends("global m: 40", lines), End::Done);
}

#[test]
fn readers_share_and_writers_do_not() {
    let lines = "  call extern pthread_rwlock_rdlock(&l)\n  \
        r = call extern pthread_rwlock_tryrdlock(&l)\n  assert r == 0:32, \"second reader\"\n  \
        r = call extern pthread_rwlock_trywrlock(&l)\n  assert r == 16:32, \"writer\"\n  \
        call extern pthread_rwlock_unlock(&l)\n  call extern pthread_rwlock_unlock(&l)\n  \
        call extern pthread_rwlock_wrlock(&l)\n  \
        r = call extern pthread_rwlock_tryrdlock(&l)\n  assert r == 16:32, \"reader\"\n  \
        r = call extern pthread_rwlock_timedwrlock(&l, 0:64)\n  assert r == 110:32, \"late\"\n  \
        call extern pthread_rwlock_unlock(&l)\n  call extern pthread_rwlock_destroy(&l)";
    assert_eq!(ends("global l: 56", lines), End::Done);
}

#[test]
fn spin_locks_are_free_or_taken() {
    let lines = "  call extern pthread_spin_init(&l, 0:32)\n  call extern pthread_spin_lock(&l)\n  \
        r = call extern pthread_spin_trylock(&l)\n  assert r == 16:32, \"busy\"\n  \
        call extern pthread_spin_unlock(&l)\n  call extern pthread_spin_destroy(&l)";
    assert_eq!(ends("global l: 4", lines), End::Done);
}

#[test]
fn semaphores_count() {
    let lines = "  call extern sem_init(&s, 0:32, 1:32)\n  call extern sem_wait(&s)\n  \
        r = call extern sem_trywait(&s)\n  assert r == -1:32, \"none\"\n  \
        p = call extern __errno_location()\n  r = load.4 p\n  assert r == 11:32, \"EAGAIN\"\n  \
        r = call extern sem_timedwait(&s, 0:64)\n  r = load.4 p\n  assert r == 110:32, \"late\"\n  \
        call extern sem_post(&s)\n  call extern sem_post(&s)\n  \
        call extern sem_getvalue(&s, &v)\n  r = load.4 &v\n  assert r == 2:32, \"two\"\n  store.4 &v, 0:32\n  \
        r = call extern sem_init(&v, 0:32, -1:32)\n  assert r == -1:32, \"too large\"\n  \
        r = load.4 p\n  assert r == 22:32, \"EINVAL\"";
    assert_eq!(ends("global s: 32\nglobal v: 32", lines), End::Done);
}

#[test]
fn a_barrier_of_one_opens_at_once() {
    let lines = "  r = call extern pthread_barrier_init(&b, 0:64, 0:32)\n  \
        assert r == 22:32, \"none\"\n  call extern pthread_barrier_init(&b, 0:64, 1:32)\n  \
        r = call extern pthread_barrier_wait(&b)\n  assert r == -1:32, \"serial\"\n  \
        r = call extern pthread_barrier_wait(&b)\n  assert r == -1:32, \"again\"\n  \
        call extern pthread_barrier_destroy(&b)";
    assert_eq!(ends("global b: 32", lines), End::Done);
}

#[test]
fn what_is_destroyed_is_not_used() {
    let sem = "  call extern sem_init(&s, 0:32, 1:32)\n  call extern sem_destroy(&s)\n  ";
    for call in ["sem_wait(&s)", "sem_trywait(&s)", "sem_post(&s)", "sem_getvalue(&s, &out)"] {
        let found = ends("global s: 32\nglobal out: 4", &format!("{sem}call extern {call}"));
        assert_eq!(found, lock_error("a semaphore is used that was destroyed"), "{call}");
    }
    let found = ends("global s: 32", &format!("{sem}call extern sem_destroy(&s)"));
    assert_eq!(found, lock_error("a semaphore is destroyed that was destroyed"));
    let barrier = "  call extern pthread_barrier_init(&b, 0:64, 1:32)\n  \
        call extern pthread_barrier_destroy(&b)\n  ";
    let found = ends("global b: 32", &format!("{barrier}call extern pthread_barrier_wait(&b)"));
    assert_eq!(found, lock_error("a barrier is used that was not initialised, or was destroyed"));
    let found = ends("global b: 32", &format!("{barrier}call extern pthread_barrier_destroy(&b)"));
    let message = "a barrier is destroyed that was not initialised, or destroyed already";
    assert_eq!(found, lock_error(message));
    let again = format!(
        "{barrier}call extern pthread_barrier_init(&b, 0:64, 1:32)\n  \
         call extern pthread_barrier_wait(&b)"
    );
    assert_eq!(ends("global b: 32", &again), End::Done);
}

#[test]
fn what_is_in_use_is_not_initialised() {
    let cases = [
        (
            "mutex",
            "a mutex is initialised again that was not destroyed",
            "pthread_mutex_lock(&m)",
            "0:64",
        ),
        (
            "rwlock",
            "a read-write lock is initialised again that was not destroyed",
            "pthread_rwlock_rdlock(&m)",
            "0:64",
        ),
        (
            "spin",
            "a spin lock is initialised again that was not destroyed",
            "pthread_spin_lock(&m)",
            "0:32",
        ),
    ];
    for (kind, message, lock, rest) in cases {
        let init = format!("  call extern pthread_{kind}_init(&m, {rest})\n");
        let held = format!("{init}  call extern {lock}\n{init}");
        assert_eq!(ends("global m: 64", &held), lock_error(message), "{kind}");
        let destroyed = format!("{init}  call extern pthread_{kind}_destroy(&m)\n{init}");
        assert_eq!(ends("global m: 64", &destroyed), End::Done, "{kind}");
    }
    let barrier = "  call extern pthread_barrier_init(&m, 0:64, 2:32)\n";
    let message = "a barrier is initialised again that was not destroyed";
    assert_eq!(ends("global m: 64", &barrier.repeat(2)), lock_error(message));
    let sem = "  call extern sem_init(&m, 0:32, 2:32)\n";
    let message = "a semaphore is initialised again that was not destroyed";
    assert_eq!(ends("global m: 64", &sem.repeat(2)), lock_error(message));
}

/// Wherever it is, and whether or not somebody uses it.
#[test]
fn what_exists_is_not_initialised_again() {
    let cases = [
        ("pthread_mutex", "a mutex", "0:64"),
        ("pthread_cond", "a condition variable", "0:64"),
        ("pthread_rwlock", "a read-write lock", "0:64"),
        ("pthread_spin", "a spin lock", "0:32"),
        ("sem", "a semaphore", "0:32, 1:32"),
        ("pthread_barrier", "a barrier", "0:64, 1:32"),
    ];
    for (kind, what, rest) in cases {
        let message = format!("{what} is initialised again that was not destroyed");
        let init = format!("  call extern {kind}_init(p, {rest})\n");
        let destroy = format!("  call extern {kind}_destroy(p)\n");
        for place in ["p = &m", "p = call extern malloc(64:64)"] {
            let ends =
                |lines: &[&str]| ends("global m: 64", &format!("  {place}\n{}", lines.concat()));
            assert_eq!(ends(&[&init, &init]), lock_error(&message), "{kind} {place}");
            assert_eq!(ends(&[&init, &destroy, &init, &destroy]), End::Done, "{kind} {place}");
        }
    }
    // An initialiser, or memory that was set to zero, comes before many a call of init.
    let used = "  call extern pthread_mutex_lock(&m)\n  call extern pthread_mutex_unlock(&m)\n";
    let lines = format!("  call extern pthread_mutex_init(&m, 0:64)\n{used}");
    assert_eq!(ends("global m: 40", &lines), End::Done);
    // A mutex that a program declares as one word has no room for more.
    let small = "  call extern pthread_mutex_init.small(&m, 0:64)\n  \
                 call extern pthread_mutex_destroy.small(&m)\n";
    assert_eq!(ends("global m: 4", small), End::Done);
}

/// What has an initialiser exists from its first use.
#[test]
fn what_was_used_is_not_initialised() {
    let cases = [
        ("pthread_mutex", "a mutex", "pthread_mutex_lock(p)", "pthread_mutex_unlock(p)"),
        ("pthread_mutex", "a mutex", "pthread_mutex_trylock(p)", "pthread_mutex_unlock(p)"),
        (
            "pthread_rwlock",
            "a read-write lock",
            "pthread_rwlock_rdlock(p)",
            "pthread_rwlock_unlock(p)",
        ),
        (
            "pthread_rwlock",
            "a read-write lock",
            "pthread_rwlock_wrlock(p)",
            "pthread_rwlock_unlock(p)",
        ),
        (
            "pthread_cond",
            "a condition variable",
            "pthread_cond_signal(p)",
            "pthread_cond_broadcast(p)",
        ),
    ];
    for (kind, what, first, second) in cases {
        let message = format!("{what} is initialised again that was not destroyed");
        let used = format!("  call extern {first}\n  call extern {second}\n");
        let init = format!("  call extern {kind}_init(p, 0:64)\n");
        let destroy = format!("  call extern {kind}_destroy(p)\n");
        let ends = |lines: &[&str]| ends("global m: 64", &format!("  p = &m\n{}", lines.concat()));
        assert_eq!(ends(&[&used, &init]), lock_error(&message), "{first}");
        assert_eq!(ends(&[&init, &used, &init]), lock_error(&message), "{first}");
        assert_eq!(ends(&[&used, &destroy, &init, &used]), End::Done, "{first}");
    }
}

/// What else is in memory, a copy of such an object among it, does not exist as one.
#[test]
fn copies_of_objects_may_be_initialised() {
    let cases = [
        ("pthread_mutex", "0:64"),
        ("pthread_cond", "0:64"),
        ("pthread_rwlock", "0:64"),
        ("pthread_spin", "0:32"),
        ("sem", "0:32, 1:32"),
        ("pthread_barrier", "0:64, 1:32"),
    ];
    for (kind, rest) in cases {
        let copy = "  call extern memcpy(&n, &m, 64:64)\n";
        let init = |object: &str| format!("  call extern {kind}_init({object}, {rest})\n");
        let lines = format!("{}{copy}{}", init("&m"), init("&n"));
        assert_eq!(ends("global m: 64\nglobal n: 64", &lines), End::Done, "{kind}");
        let ones = "  call extern memset(&m, 1:32, 64:64)\n";
        assert_eq!(ends("global m: 64", &format!("{ones}{}", init("&m"))), End::Done, "{kind}");
    }
}

#[test]
fn condition_variables_and_keys_are_not_used_after_their_end() {
    let cond =
        "  call extern pthread_cond_init(&c, 0:64)\n  call extern pthread_cond_destroy(&c)\n";
    for call in ["signal(&c)", "broadcast(&c)", "wait(&c, &m)", "timedwait(&c, &m, 0:64)"] {
        let lock = "  call extern pthread_mutex_lock(&m)\n";
        let lines = format!("{cond}{lock}  call extern pthread_cond_{call}");
        let message = "a condition variable is used that was destroyed";
        assert_eq!(ends("global c: 48\nglobal m: 40", &lines), lock_error(message), "{call}");
    }
    assert_eq!(ends("global c: 48", &cond.repeat(2)), End::Done);
    let key = "  call extern pthread_key_create(&k, 0:64)\n  r = load.4 &k\n  \
        call extern pthread_setspecific(r, 1:64)\n  call extern pthread_key_delete(r)\n";
    assert_eq!(ends("global k: 4", key), End::Done);
    for call in ["pthread_getspecific(r)", "pthread_setspecific(r, 2:64)"] {
        let lines = format!("{key}  call extern {call}");
        assert_eq!(ends("global k: 4", &lines), lock_error("a key is used that was deleted"));
    }
    let twice = format!("{key}  call extern pthread_key_delete(r)");
    assert_eq!(ends("global k: 4", &twice), lock_error("a key is deleted that was deleted"));
}
