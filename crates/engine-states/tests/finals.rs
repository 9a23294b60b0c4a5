//! Final states of small programs, known beforehand.

mod common;

use std::collections::BTreeSet;

use common::{MACHINES, finals, globals, program, registers};
use parallax_engine_states::Reduction;
use parallax_machine::system::MemoryKind;
use parallax_program::Program;

/// The values of the globals in all final states, and how often the reduced search came to one.
fn values(program: &Program, memory: MemoryKind) -> (BTreeSet<Vec<u128>>, u64) {
    let places = globals(program);
    let (all, _) = finals(program, memory, Reduction::None, &[], &places);
    let (reduced, counts) = finals(program, memory, Reduction::Order, &[], &places);
    assert_eq!(all.fingerprints, reduced.fingerprints);
    (reduced.values, counts.traces)
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

/// How many paths a simple reversal of conflicting steps needs for the programs below.
const SIMPLE: [u64; 4] = [22, 13, 5, 7];

#[test]
fn chains_of_copies() {
    let (xy, yz, zw, zx) = (copy("x", "y"), copy("y", "z"), copy("z", "w"), copy("z", "x"));
    let one = |place: &str| format!("store.4 &{place}, 1:32");
    let (four, three) = (["w", "x", "y", "z"], ["x", "y", "z"]);
    let nothing = "r3 = load.4 &l";
    let skips = [&xy, &format!("{}\n{nothing}", one("w")), &format!("{nothing}\n{yz}"), &zw];
    let programs = [
        program(&["w", "x", "y", "z", "l"], &skips.map(String::as_str)),
        program(&four, &[&xy, &one("w"), &yz, &zw]),
        program(&three, &[&format!("{xy}\n{}", one("x")), &zx, &yz]),
        program(&three, &[&format!("{}\n{xy}", one("y")), &zx, &yz]),
    ];
    let expected = [
        digits(&["10000", "10010", "10110", "11110"]),
        digits(&["1000", "1001", "1011", "1111"]),
        digits(&["100", "101", "111"]),
        digits(&["000", "100", "101", "110", "111"]),
    ];
    for ((program, expected), simple) in programs.iter().zip(expected).zip(SIMPLE) {
        let (found, paths) = values(program, MemoryKind::Sc);
        assert_eq!(found, expected);
        assert!(paths <= simple, "{paths} paths, not {simple}");
    }
}

#[test]
fn writes_of_the_same_bytes() {
    // A string "zz"; both write "ab", and one then an 'a' to each character.
    let first = "store.2 &x, 0x6261:16";
    let second = "store.2 &x, 0x6261:16\nstore.1 &x, 0x61:8\nstore.1 &x + 1:64, 0x61:8";
    let program = program(&["x"], &[first, second]);
    let (found, paths) = values(&program, MemoryKind::Sc);
    assert_eq!(found, [vec![0x6161], vec![0x6261]].into());
    assert_eq!(paths, 2);
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
