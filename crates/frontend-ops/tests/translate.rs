//! Assembly code as people write it, translated and run.

use std::collections::BTreeSet;

use parallax_engine_bounded::{Options, verify};
use parallax_frontend_ops::{Judging, lower, parse, translate};
use parallax_memory::Model;
use parallax_program::Property;
use parallax_verdict::{Conclusion, Scope};

/// The names of the models under which the code is right, whatever the bound.
fn right_under(code: &str, models: &[&'static str]) -> BTreeSet<&'static str> {
    let text = translate("t.asm", code).unwrap_or_else(|errors| panic!("{errors:?}"));
    let structures = parse("t.ops", &text).expect("it reads");
    let lowered = lower(&structures, Judging::AtOnce).expect("it lowers");
    let is_right = |name: &&&str| {
        let model = Model::builtin(name).expect("a model").expect("a right model");
        let options =
            Options { properties: vec![Property::Assert], unroll: None, ..Options::default() };
        let verdict = verify(&lowered.program, &model, &options).expect("a verdict").verdict;
        assert_ne!(verdict.conclusion(), Conclusion::Unknown, "{name}: {:?}", verdict.reason);
        let is_safe = verdict.conclusion() == Conclusion::Safe;
        assert!(!is_safe || verdict.scope == Some(Scope::Complete), "{name}");
        is_safe
    };
    models.iter().filter(is_right).copied().collect()
}

/// Two threads that count under a lock; who comes second finds 1.
fn counting(header: &str, lock: &str, count: &str, unlock: &str) -> String {
    let one = format!("{lock}{count}{unlock}");
    format!("{header}loc [lock] = 0, [d] = 0, [n] = 0\nthread A:\n{one}thread B:\n{one}")
}

/// The lock of Linux for ARMv7, with numbers as labels.
#[test]
fn the_lock_of_linux_for_arm() {
    let lock = "mov r0, #1\n1: ldrex r1, [lock]\nteq r1, #0\nwfene\nstrexeq r1, r0, [lock]\n\
                teqeq r1, #0\nbne 1b\nFENCE\n";
    let count = "ldr r2, [d]\nldr r3, [n]\nassert r2 = r3\nadd r2, r2, #1\nstr r2, [d]\n\
                 str r2, [n]\n";
    let unlock = "FENCE\nmov r4, #0\nstr r4, [lock]\n";
    let code = counting("isa arm\n", lock, count, unlock);
    let models = ["sc", "tso", "pso", "arm", "aarch64"];
    let fenced = code.replace("FENCE", "dmb ish");
    assert_eq!(right_under(&fenced, &models), BTreeSet::from(models));
    let unfenced = code.replace("FENCE", "nop");
    assert_eq!(right_under(&unfenced, &models), BTreeSet::from(["sc", "tso"]));
}

/// A lock of Power, with hints at its branches.
#[test]
fn the_lock_of_linux_for_power() {
    let lock = "li r5, 1\n1: lwarx r6, 0, [lock]\ncmpwi r6, 0\nbne- 1b\nstwcx. r5, 0, [lock]\n\
                bne- 1b\nisync\n";
    let count = "lwz r7, [d]\nlwz r8, [n]\nassert r7 = r8\naddi r7, r7, 1\nstw r7, [d]\n\
                 stw r7, [n]\n";
    let unlock = "lwsync\nli r9, 0\nstw r9, [lock]\n";
    let code = counting("isa power\n", lock, count, unlock);
    assert_eq!(right_under(&code, &["tso", "power"]), BTreeSet::from(["tso", "power"]));
    let unfenced = code.replace("lwsync", "nop");
    assert_eq!(right_under(&unfenced, &["tso", "power"]), BTreeSet::from(["tso"]));
}

/// The same number twice, before and after, and operands with sizes.
#[test]
fn a_lock_of_x86_with_a_short_way_out() {
    let lock = "1: xor eax, eax\ninc eax\nxchg dword ptr [lock], eax\ntest eax, eax\njz 2f\n\
                1: cmp dword ptr [lock], 0\njne 1b\njmp 1f\n2: \n";
    let count = "mov ebx, [d]\nmov ecx, [n]\nassert ebx = ecx\ninc dword ptr [d]\nadd [n], 1\n";
    let unlock = "mov dword ptr [lock], 0\n1: nop\n";
    let code = counting("isa x86\n", lock, count, unlock);
    assert_eq!(right_under(&code, &["sc", "tso"]), BTreeSet::from(["sc", "tso"]));
    let unlocked = code.replace("xchg dword ptr [lock], eax", "mov eax, [lock]");
    assert!(right_under(&unlocked, &["sc", "tso"]).is_empty());
}
