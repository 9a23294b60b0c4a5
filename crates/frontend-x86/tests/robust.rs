//! Files that are no programs are refused with a reason, and nothing that is in a file makes the
//! front end panic: a small program is damaged in many ways, and whatever still is a program is
//! well formed.

use std::path::PathBuf;
use std::process::Command;
use std::sync::LazyLock;

use parallax_frontend_x86::{Options, translate};
use proptest::prelude::*;

const SOURCE: &str = "
#include <pthread.h>
__thread int local = 3;
int table[] = {1, 2, 3};
int (*volatile pointer)(int);
static int twice(int n) { return 2 * n; }
__attribute__((constructor)) static void first(void) { pointer = twice; }
static void *work(void *arg) {
  switch (*(int *)arg) {
  case 0: return 0; case 1: local++; break; case 2: local--; break; case 3: return arg;
  case 4: local *= 2; break; case 5: local = pointer(7); break; default: local = 0;
  }
  return &table[local & 1];
}
int main(int argc, char **argv) {
  pthread_t thread;
  pthread_create(&thread, 0, work, &argc);
  return pthread_join(thread, 0);
}
";

/// A few ELF files, made once.
static FILES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let ways: [&[&str]; 4] =
        [&["-O2"], &["-O0", "-no-pie", "-fno-pie"], &["-O2", "-c", "-g"], &["-O1", "-fPIC", "-c"]];
    let folder = std::env::temp_dir();
    let name = |what: &str| folder.join(format!("parallax-robust-{}{what}", std::process::id()));
    let source: PathBuf = name(".c");
    std::fs::write(&source, SOURCE).expect("a file");
    let file = |flags: &&[&str]| {
        let binary = name(".o");
        let made = Command::new("gcc").args(*flags).arg(&source).arg("-o").arg(&binary).status();
        assert!(made.is_ok_and(|status| status.success()), "gcc {flags:?}");
        let bytes = std::fs::read(&binary).expect("a file");
        let _ = std::fs::remove_file(&binary);
        bytes
    };
    let files = ways.iter().map(file).collect();
    let _ = std::fs::remove_file(&source);
    files
});

fn refused(bytes: &[u8]) -> String {
    let errors = translate("a.out", bytes, &Options::default()).expect_err("no program");
    assert_eq!(errors.len(), 1);
    errors[0].message.clone()
}

#[test]
fn what_is_no_program_is_refused_with_a_reason() {
    let good = &FILES[0];
    let with = |place: usize, value: u8| {
        let mut bytes = good.clone();
        bytes[place] = value;
        bytes
    };
    let cases: Vec<(Vec<u8>, &str)> = vec![
        (Vec::new(), "a.out: not an ELF file"),
        (b"#!/bin/sh\n".to_vec(), "a.out: not an ELF file"),
        (with(4, 1), "a.out: an ELF file of 32 bits, not 64"),
        (with(5, 2), "a.out: a damaged ELF file"),
        (with(18, 183), "a.out: an ELF file for another machine (number 183), not x86-64"),
        (with(16, 4), "a.out: a core dump, not a program"),
        (with(16, 77), "a.out: an ELF file of unknown type 77"),
        (good[..40].to_vec(), "a.out: a damaged ELF file"),
        (good[..good.len() / 2].to_vec(), "a.out: a damaged ELF file"),
    ];
    for (bytes, message) in cases {
        let found = refused(&bytes);
        assert!(found.starts_with(message), "{found}, not {message}");
    }
}

#[test]
fn the_files_are_programs() {
    for bytes in FILES.iter() {
        let program = translate("a.out", bytes, &Options::default());
        assert!(program.is_ok_and(|program| program.check().is_ok()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Some bytes are changed.
    #[test]
    fn damaged_files(
        file in 0..4usize,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
    ) {
        let mut bytes = FILES[file].clone();
        for (place, value) in changes {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        if let Ok(program) = translate("a.out", &bytes, &Options::default()) {
            prop_assert!(program.check().is_ok());
        }
    }

    /// The tables at the start and the end matter most.
    #[test]
    fn damaged_tables(
        file in 0..4usize,
        changes in prop::collection::vec((0..2000usize, any::<bool>(), any::<u8>()), 1..8),
        kept in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut bytes = FILES[file].clone();
        let length = bytes.len();
        for (distance, at_end, value) in changes {
            let distance = distance.min(length - 1);
            bytes[if at_end { length - 1 - distance } else { distance }] = value;
        }
        if let Some(kept) = kept {
            bytes.truncate(kept.index(length));
        }
        if let Ok(program) = translate("a.out", &bytes, &Options::default()) {
            prop_assert!(program.check().is_ok());
        }
    }
}
