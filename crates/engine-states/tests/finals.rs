//! Final states of small programs, known beforehand.

mod common;

use std::collections::BTreeSet;

use common::{MACHINES, finals, globals, program, registers};
use parallax_engine_states::Reduction;
use parallax_machine::system::MemoryKind;
use parallax_program::Program;

/// The values of the globals in all final states, and how many paths the reduced search ended.
fn values(program: &Program, memory: MemoryKind) -> (BTreeSet<Vec<u128>>, u64) {
    let places = globals(program);
    let (all, _) = finals(program, memory, Reduction::None, &[], &places);
    let (reduced, counts) = finals(program, memory, Reduction::Order, &[], &places);
    assert_eq!(all.fingerprints, reduced.fingerprints);
    (reduced.values, counts.finals + counts.matched)
}

/// How many final states there are, with the variables of the threads.
fn outcomes(threads: &[&str], memory: MemoryKind) -> usize {
    let program = program(&["x", "y"], threads);
    let observed = registers(&program);
    let (all, _) = finals(&program, memory, Reduction::None, &observed, &[]);
    let (reduced, _) = finals(&program, memory, Reduction::Order, &observed, &[]);
    assert_eq!(all.fingerprints, reduced.fingerprints);
    assert_eq!(all.blocked, reduced.blocked);
    all.fingerprints.len()
}

fn digits(rows: &[&str]) -> BTreeSet<Vec<u128>> {
    let row = |row: &&str| row.chars().map(|digit| digit as u128 - '0' as u128).collect();
    rows.iter().map(row).collect()
}

#[test]
fn store_buffering() {
    let plain = ["store.4 &x, 1:32\nr0 = load.4 &y", "store.4 &y, 1:32\nr0 = load.4 &x"];
    let fenced = plain.map(|body| body.replace("\nr0", "\nfence [MFENCE]\nr0"));
    let fenced = [fenced[0].as_str(), fenced[1].as_str()];
    for (memory, count) in MACHINES.into_iter().zip([3, 4, 4]) {
        assert_eq!(outcomes(&plain, memory), count, "{memory:?}");
        assert_eq!(outcomes(&fenced, memory), 3, "{memory:?}");
    }
}

#[test]
fn message_passing() {
    let plain = ["store.4 &x, 1:32\nstore.4 &y, 1:32", "r0 = load.4 &y\nr1 = load.4 &x"];
    let barrier = ["store.4 &x, 1:32\nfence [SFENCE]\nstore.4 &y, 1:32", plain[1]];
    let release = ["store.4 &x, 1:32\nstore.4 &y, 1:32 [REL]", plain[1]];
    for (memory, count) in MACHINES.into_iter().zip([3, 3, 4]) {
        assert_eq!(outcomes(&plain, memory), count, "{memory:?}");
        assert_eq!(outcomes(&barrier, memory), 3, "{memory:?}");
        assert_eq!(outcomes(&release, memory), 3, "{memory:?}");
    }
}

/// A copy from one global to another in one step.
fn copy(to: &str, from: &str) -> String {
    format!("atomic begin\nr0 = load.4 &{from}\nstore.4 &{to}, r0\natomic end")
}

#[test]
fn chains_of_copies() {
    let (xy, yz, zw, zx) = (copy("x", "y"), copy("y", "z"), copy("z", "w"), copy("z", "x"));
    let one = |place: &str| format!("store.4 &{place}, 1:32");
    let four = ["w", "x", "y", "z"];
    let three = ["x", "y", "z"];
    let p2 = program(&four, &[&xy, &one("w"), &yz, &zw]);
    let (found, _) = values(&p2, MemoryKind::Sc);
    assert_eq!(found, digits(&["1000", "1001", "1011", "1111"]));
    let p3 = program(&three, &[&format!("{xy}\n{}", one("x")), &zx, &yz]);
    let (found, _) = values(&p3, MemoryKind::Sc);
    assert_eq!(found, digits(&["100", "101", "111"]));
    let p4 = program(&three, &[&format!("{}\n{xy}", one("y")), &zx, &yz]);
    let (found, _) = values(&p4, MemoryKind::Sc);
    assert_eq!(found, digits(&["000", "100", "101", "110", "111"]));
}

#[test]
fn locks() {
    let lock = "_, ok = cas.4 &x, 0:32, 1:32 [A, ACQ] [A, ACQ] [A, RLX]\nwait ok\n";
    let body = |value: u32| format!("{lock}store.4 &y, {value}:32\nstore.4 &x, 0:32 [A, REL]");
    let program = program(&["x", "y"], &[&body(1), &body(2), &body(3)]);
    for memory in MACHINES {
        let (found, _) = values(&program, memory);
        assert_eq!(found, digits(&["01", "02", "03"]), "{memory:?}");
    }
}

#[test]
fn threads_that_spin_wait() {
    let spin = "again:\nr0 = load.4 &x\nbranch r0 == 0:32, again, end\nend:\nr1 = load.4 &y";
    assert_eq!(outcomes(&[spin, "store.4 &y, 1:32\nstore.4 &x, 1:32"], MemoryKind::Tso), 1);
    assert_eq!(outcomes(&[spin, "store.4 &y, 1:32\nstore.4 &x, 1:32"], MemoryKind::Pso), 2);
    // Nobody sets it: the only final state is one in which a thread waits.
    assert_eq!(outcomes(&[spin, "store.4 &y, 1:32"], MemoryKind::Tso), 1);
}
